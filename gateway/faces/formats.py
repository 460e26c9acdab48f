"""Tool lists in the shapes that model providers and clients expect. Schemas are passed on verbatim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from turngate.tools import ToolSpec

__all__ = ["FORMATS", "ToolFormat", "tool_list"]

ToolFormat = Literal["openai", "mcp", "anthropic"]

FORMATS: tuple[ToolFormat, ...] = get_args(ToolFormat)


def tool_list(specs: Sequence[ToolSpec], format: ToolFormat | None = None) -> list[dict[str, Any]]:
    """The tools as JSON values.

    None: `ToolSpec` itself, with everything the gateway knows (what `RemoteGateway` reads).
    `openai`: the `tools` of a chat completion request. `anthropic`: the `tools` of a message
    request. `mcp`: the `tools` of a `tools/list` result.
    """
    if format == "openai":
        return [_openai(spec) for spec in specs]
    if format == "anthropic":
        return [_anthropic(spec) for spec in specs]
    if format == "mcp":
        return [_mcp(spec) for spec in specs]
    return [spec.model_dump(mode="json", by_alias=True) for spec in specs]


def _openai(spec: ToolSpec) -> dict[str, Any]:
    function = {"name": spec.name, "description": spec.description, "parameters": spec.input_schema}
    return {"type": "function", "function": function}


def _anthropic(spec: ToolSpec) -> dict[str, Any]:
    return {"name": spec.name, "description": spec.description, "input_schema": spec.input_schema}


def _mcp(spec: ToolSpec) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": spec.name,
        "description": spec.description,
        # MCP requires an object at the root; a schema that leaves the type out means it.
        "inputSchema": spec.input_schema if "type" in spec.input_schema else {"type": "object", **spec.input_schema},
    }
    if spec.output_schema is not None:
        entry["outputSchema"] = spec.output_schema
    annotations = spec.annotations.model_dump(mode="json", by_alias=True, exclude_none=True)
    if annotations:
        entry["annotations"] = annotations
    return entry
