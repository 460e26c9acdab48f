"""The MCP face: all tools over streamable HTTP, for clients of protocol 2026-07-28 and of the handshake era.

* Every failure of a call, an unknown tool included, is a result with `isError` and a text for the model
  (as the SDK's own `MCPServer` does it): a JSON-RPC error ends in the client's exception handler, where no
  model reads that there is a tool with nearly that name.
* Answers are JSON: half the cost of an event stream, and the SDK's client refuses events over 1 MiB. In this
  mode the SDK lets a tool run on when a client of protocol 2026-07-28 disconnects, which is that protocol's
  way to cancel; so the face itself watches for it. In the handshake era `notifications/cancelled` cancels.
* `_meta` of a call: `turngate/session` names the trajectory, else the MCP session is it (2026-07-28 has none);
  `turngate/deadline_s` is the call's deadline. `_meta` of a failed result: `turngate/status`, `turngate/error`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolRequestParams, ListToolsResult, PaginatedRequestParams
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from pydantic import ValidationError
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from turngate.gateway.faces.disconnect import until_disconnect
from turngate.gateway.faces.formats import tool_list
from turngate.gateway.gateway import Gateway
from turngate.tools import Status, ToolCall, ToolResult

__all__ = ["DEADLINE_META", "SESSION_META", "McpFace"]

SESSION_META: Final = "turngate/session"
"""Key in a call's `_meta`: the trajectory that the call belongs to."""

DEADLINE_META: Final = "turngate/deadline_s"
"""Key in a call's `_meta`: seconds for the whole call."""

_SESSION_HEADER = "mcp-session-id"
_HANDSHAKE_VERSIONS = frozenset(version.encode() for version in HANDSHAKE_PROTOCOL_VERSIONS)
_OLD_VERSION = HANDSHAKE_PROTOCOL_VERSIONS[0].encode()
_INSTRUCTIONS = "Tools of a turngate gateway. A failed call says in its text what was wrong and what to do next."


class McpFace:
    """One gateway as an MCP server; an ASGI app for the route `/mcp`."""

    def __init__(self, gateway: Gateway, *, version: str, max_request_bytes: int) -> None:
        self._gateway = gateway
        self.server: Server[Any] = Server(
            "turngate",
            version=version,
            instructions=_INSTRUCTIONS,
            on_list_tools=self._list_tools,
            # Without it the SDK lists every tool for each call.
            get_tool_input_schema=self._input_schema,
        )
        self.server.add_request_handler("tools/call", CallToolRequestParams, self._call_tool)
        # Host and Origin are checked for all routes by `Security`.
        self._manager = StreamableHTTPSessionManager(
            self.server, json_response=True, max_request_body_size=max_request_bytes
        )

    def run(self) -> AbstractAsyncContextManager[None]:
        """Serve while the context is open; once per instance."""
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if headers.get(b"mcp-protocol-version", _OLD_VERSION) not in _HANDSHAKE_VERSIONS:
            await self._serve_modern(scope, receive, send)
        elif scope["method"] == "DELETE":
            await self._serve_delete(headers.get(_SESSION_HEADER.encode(), b"").decode("latin-1"), scope, receive, send)
        else:
            await self._manager.handle_request(scope, receive, send)

    async def _serve_modern(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A request that stands alone; the client cancels it by closing its connection."""
        body_read = asyncio.Event()

        async def noted() -> Message:
            message = await receive()
            if not message.get("more_body"):
                body_read.set()
            return message

        async def after_body() -> Message:
            await body_read.wait()
            return await receive()

        await until_disconnect(after_body, lambda: self._manager.handle_request(scope, noted, send))

    async def _serve_delete(self, session: str, scope: Scope, receive: Receive, send: Send) -> None:
        """A client ends its MCP session, and with it that trajectory."""
        status = 0

        async def noted(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        await self._manager.handle_request(scope, receive, noted)
        if 200 <= status < 300:
            await self._gateway.end_session(session)

    def _input_schema(self, name: str) -> Mapping[str, Any] | None:
        entry = self._gateway.catalogue.get(name)
        return None if entry is None else entry.spec.input_schema

    async def _list_tools(
        self, context: ServerRequestContext[Any], params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        tools = tool_list(await self._gateway.list_tools(), "mcp")
        if context.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS:
            # The handshake era knows structured output only as an object.
            for tool in tools:
                if tool.get("outputSchema", {}).get("type") != "object":
                    tool.pop("outputSchema", None)
        return ListToolsResult.model_validate({"tools": tools})

    async def _call_tool(self, context: ServerRequestContext[Any], params: CallToolRequestParams) -> dict[str, Any]:
        meta: Mapping[str, Any] = context.meta or {}
        try:
            call = ToolCall(
                name=params.name,
                arguments=params.arguments or {},
                call_id=str(context.request_id),
                session=meta.get(SESSION_META) or _mcp_session(context),
                deadline_s=meta.get(DEADLINE_META),
            )
        except ValidationError as error:
            keys = {"session": SESSION_META, "deadline_s": DEADLINE_META}
            found = error.errors()[0]
            place = keys.get(str(found["loc"][0]), "call")
            raise MCPError(INVALID_PARAMS, f"_meta.{place}: {found['msg']}") from None
        result = await self._gateway.call(call)
        entry = self._gateway.catalogue.get(call.name)
        typed = entry is not None and entry.spec.output_schema is not None
        return _wire_result(result, typed, context.protocol_version in HANDSHAKE_PROTOCOL_VERSIONS)


def _mcp_session(context: ServerRequestContext[Any]) -> str | None:
    """The MCP session id; None in protocol 2026-07-28 and where there is no HTTP request."""
    request = context.request
    return request.headers.get(_SESSION_HEADER) if isinstance(request, Request) else None


def _wire_result(result: ToolResult, typed: bool, handshake: bool) -> dict[str, Any]:
    """A `ToolResult` as a `CallToolResult`.

    Structured content that is no object is left out in the handshake era, which has no place for it; the text
    says the same. A tool with an output schema must send structured content: where it was cut away, the
    result is an error, since a client would reject it as a success.
    """
    plain = result.model_dump(mode="json", by_alias=True, include={"content", "structured", "error"})
    content: list[dict[str, Any]] = plain["content"]
    wire: dict[str, Any] = {"content": content, "isError": not result.ok, "resultType": "complete"}
    structured = plain["structured"]
    if structured is not None and (isinstance(structured, dict) or not handshake):
        wire["structuredContent"] = structured
    if result.ok and typed and structured is None:
        text = "The tool's structured output is missing or was too large to send; only its text is here."
        content.append({"type": "text", "text": text})
        wire["isError"] = True
    if not result.ok:
        if result.error is not None and not any(block["type"] == "text" for block in content):
            content.append({"type": "text", "text": result.error.message})
        wire["_meta"] = {"turngate/status": Status(result.status).value, "turngate/error": plain["error"]}
    return wire
