"""The tool gateway: one call path with one policy, and the faces that serve it."""

from turngate.gateway.build import build_gateway
from turngate.gateway.config import GatewayConfig, ServerConfig, ToolConfig, load_config
from turngate.gateway.errors import ConfigError
from turngate.gateway.gateway import Gateway, ToolGateway
from turngate.gateway.thread import GatewayThread
from turngate.tools import (
    CallError,
    CallPolicy,
    CallStats,
    Status,
    ToolCall,
    ToolResult,
    ToolSpec,
)

__all__ = [
    "CallError",
    "CallPolicy",
    "CallStats",
    "ConfigError",
    "Gateway",
    "GatewayConfig",
    "GatewayThread",
    "ServerConfig",
    "Status",
    "ToolCall",
    "ToolConfig",
    "ToolGateway",
    "ToolResult",
    "ToolSpec",
    "build_gateway",
    "load_config",
]
