"""The built-in tools, and the nouns and seams that every tool shares."""

from turngate.tools.errors import ToolDenied, ToolError, ToolFailed, ToolUnavailable
from turngate.tools.nouns import (
    AudioContent,
    CallError,
    CallPolicy,
    CallStats,
    Content,
    ImageContent,
    ResourceContent,
    Status,
    TextContent,
    ToolAnnotations,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from turngate.tools.tool import FunctionTool, Tool, ToolContext, ToolOutput, tool

__all__ = [
    "AudioContent",
    "CallError",
    "CallPolicy",
    "CallStats",
    "Content",
    "FunctionTool",
    "ImageContent",
    "ResourceContent",
    "Status",
    "TextContent",
    "Tool",
    "ToolAnnotations",
    "ToolCall",
    "ToolContext",
    "ToolDenied",
    "ToolError",
    "ToolFailed",
    "ToolOutput",
    "ToolResult",
    "ToolSpec",
    "ToolUnavailable",
    "tool",
]
