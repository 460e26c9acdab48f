"""The MCP face, with the SDK's own client where it can show it and raw requests where it cannot."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from starlette.types import Message

from turngate.gateway import CallPolicy, Gateway, GatewayConfig
from turngate.gateway.faces.app import build_app
from turngate.gateway.faces.mcp import McpFace
from turngate.tools import (
    ImageContent,
    ResourceContent,
    TextContent,
    ToolAnnotations,
    ToolContext,
    ToolFailed,
    ToolOutput,
    ToolSpec,
    tool,
)

pytestmark = pytest.mark.anyio
LIMIT_S = 10
ERAS = pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Recorder:
    """A tool with any schema that remembers how it was called."""

    def __init__(self, output: ToolOutput | None = None, **spec: Any) -> None:
        self.spec = ToolSpec(**{"name": "recorder", **spec})
        self.output = output or ToolOutput([TextContent(text="done")])
        self.contexts: list[ToolContext] = []
        self.arguments: list[Mapping[str, Any]] = []
        self.ended: list[str] = []

    async def run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        self.contexts.append(context)
        self.arguments.append(arguments)
        return self.output

    async def end_session(self, session: str) -> None:
        self.ended.append(session)


class Gate:
    """A tool that tells when it runs and when it is cancelled, and never ends by itself."""

    def __init__(self) -> None:
        self.started = anyio.Event()
        self.cancelled = anyio.Event()

    async def wait(self) -> str:
        """Wait for ever."""
        self.started.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.cancelled.set()
        return "never"


@tool(annotations=ToolAnnotations(title="Sum", read_only=True))
async def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


@asynccontextmanager
async def connected(mode: str, *tools: Any, **policy: Any) -> AsyncIterator[Client]:
    gateway = Gateway(tools, defaults=CallPolicy(**policy))
    face = McpFace(gateway, version="1", max_request_bytes=1024 * 1024)
    with anyio.fail_after(LIMIT_S):
        async with Client(face.server, mode=mode) as client:  # type: ignore[arg-type]
            yield client


@ERAS
async def test_tools_are_listed_with_their_schemas_verbatim_and_called(mode: str) -> None:
    schema = {
        "type": "object",
        "properties": {"node": {"$ref": "#/$defs/Node"}},
        "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
    }
    async with connected(mode, add, Recorder(input_schema=schema)) as client:
        first, second = (await client.list_tools()).tools
        assert (first.name, first.description) == ("add", "Add two numbers.")
        assert first.annotations is not None
        assert (first.annotations.title, first.annotations.read_only_hint) == ("Sum", True)
        assert second.input_schema == schema
        result = await client.call_tool("add", {"a": 1, "b": 2})
    assert not result.is_error
    assert [block.model_dump(exclude_none=True) for block in result.content] == [{"type": "text", "text": "3"}]


@ERAS
async def test_a_schema_without_a_type_is_listed_as_an_object(mode: str) -> None:
    async with connected(mode, Recorder(input_schema={"properties": {"a": {}}})) as client:
        (listed,) = (await client.list_tools()).tools
    assert listed.input_schema == {"type": "object", "properties": {"a": {}}}


@ERAS
@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("ad", {}, "Did you mean 'add'?"),
        ("add", {"a": "x", "b": 1}, "In 'a'"),
        ("fail", {}, "no luck"),
        ("boom", {}, "fault"),
    ],
)
async def test_every_failure_is_a_result_with_a_text_for_the_model(
    mode: str, name: str, arguments: dict[str, Any], text: str
) -> None:
    @tool
    async def fail() -> str:
        """Fail."""
        raise ToolFailed("no luck")

    @tool
    async def boom() -> str:
        """Break."""
        raise RuntimeError("secret")

    async with connected(mode, add, fail, boom) as client:
        result = await client.call_tool(name, arguments)
    assert result.is_error
    (block,) = result.content
    assert block.type == "text"
    assert text in block.text
    assert "secret" not in block.text
    assert result.meta is not None
    assert result.meta["turngate/status"] in ("unknown_tool", "invalid_arguments", "tool_error", "internal")


@ERAS
async def test_content_blocks_arrive_as_the_tool_sent_them(mode: str) -> None:
    link = {"type": "resource_link", "uri": "file:///a", "name": "a", "mimeType": "text/plain"}
    blocks = [
        ImageContent(data="aGk=", mime_type="image/png"),
        ResourceContent.model_validate(link),
        TextContent(text="t"),
    ]
    async with connected(mode, Recorder(ToolOutput(blocks, is_error=True))) as client:
        result = await client.call_tool("recorder", {})
    sent = [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]
    assert sent == [{"type": "image", "data": "aGk=", "mimeType": "image/png"}, link, {"type": "text", "text": "t"}]
    assert result.is_error


@pytest.mark.parametrize("value", [{"a": None, "b": [1]}, [1, None], "text", 0, False])
async def test_structured_content_is_any_json_today_and_an_object_in_the_handshake_era(value: Any) -> None:
    output = ToolOutput([TextContent(text="t")], structured=value)
    async with connected("2026-07-28", Recorder(output)) as client:
        assert (await client.call_tool("recorder", {})).structured_content == value
    async with connected("legacy", Recorder(output)) as client:
        old = await client.call_tool("recorder", {})
    assert old.structured_content == (value if isinstance(value, dict) else None)
    assert not old.is_error


async def test_an_output_schema_that_is_no_object_is_not_shown_to_the_handshake_era() -> None:
    recorder = Recorder(ToolOutput(structured=[1]), output_schema={"type": "array"})
    async with connected("2026-07-28", recorder) as client:
        assert (await client.list_tools()).tools[0].output_schema == {"type": "array"}
        assert (await client.call_tool("recorder", {})).structured_content == [1]
    async with connected("legacy", recorder) as client:
        assert (await client.list_tools()).tools[0].output_schema is None
        assert not (await client.call_tool("recorder", {})).is_error


@ERAS
async def test_a_typed_tool_whose_structured_output_was_cut_away_is_an_error_and_says_so(mode: str) -> None:
    output = ToolOutput([TextContent(text="short")], structured={"a": "x" * 1000})
    recorder = Recorder(output, output_schema={"type": "object"})
    async with connected(mode, recorder, max_output_bytes=100) as client:
        result = await client.call_tool("recorder", {})
    assert result.is_error
    assert next(block.text for block in result.content if block.type == "text") == "short"
    assert "too large" in str(result.content[-1])


@ERAS
async def test_numbers_that_json_does_not_know_arrive_as_null(mode: str) -> None:
    async with connected(mode, Recorder(ToolOutput(structured={"a": float("nan")}))) as client:
        assert (await client.call_tool("recorder", {})).structured_content == {"a": None}


@ERAS
async def test_meta_names_the_session_and_the_deadline(mode: str) -> None:
    recorder = Recorder()
    async with connected(mode, recorder) as client:
        await client.call_tool("recorder", {}, meta={"turngate/session": "t1", "turngate/deadline_s": 0.5})
        await client.call_tool("recorder", {})
    named, anonymous = recorder.contexts
    assert named.session == "t1"
    assert named.timeout_s is not None
    assert named.timeout_s <= 0.5
    assert anonymous.session is None


@ERAS
@pytest.mark.parametrize(
    "meta", [{"turngate/deadline_s": -1}, {"turngate/deadline_s": "soon"}, {"turngate/session": 3}]
)
async def test_meta_that_makes_no_sense_is_refused_by_name(mode: str, meta: dict[str, Any]) -> None:
    async with connected(mode, Recorder()) as client:
        with pytest.raises(MCPError, match=next(iter(meta))) as raised:
            await client.call_tool("recorder", {}, meta=meta)  # type: ignore[arg-type]
    assert raised.value.code == -32602


@ERAS
async def test_a_caller_that_gives_up_stops_the_tool(mode: str) -> None:
    gate = Gate()
    async with connected(mode, tool(gate.wait)) as client, anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "wait", {})
        await gate.started.wait()
        group.cancel_scope.cancel()
        with anyio.CancelScope(shield=True), anyio.fail_after(LIMIT_S):
            await gate.cancelled.wait()


@ERAS
async def test_text_that_is_not_valid_unicode_does_not_break_the_answer(mode: str) -> None:
    async with connected(mode, add) as client:
        result = await client.call_tool("add", {"a": "\ud800"})
    assert result.is_error


@asynccontextmanager
async def over_http(*tools: Any, **server: Any) -> AsyncIterator[httpx.AsyncClient]:
    app = build_app(Gateway(tools), GatewayConfig.model_validate({"server": server}))
    with anyio.fail_after(LIMIT_S):
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8900") as client,
        ):
            yield client


ACCEPT = {"accept": "application/json, text/event-stream"}


async def handshake(client: httpx.AsyncClient) -> dict[str, str]:
    """Open an MCP session of the handshake era; the headers of its later requests."""
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    response = await client.post("/mcp", json=body, headers=ACCEPT)
    assert response.status_code == 200
    headers = {
        **ACCEPT,
        "mcp-session-id": response.headers["mcp-session-id"],
        "mcp-protocol-version": "2025-11-25",
    }
    await client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=headers)
    return headers


def tool_call(name: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": name, "arguments": {}, **params}}


async def test_the_mcp_session_is_the_trajectory_until_meta_names_another_and_its_end_is_passed_on() -> None:
    recorder = Recorder()
    async with over_http(recorder) as client:
        headers = await handshake(client)
        session = headers["mcp-session-id"]
        await client.post("/mcp", json=tool_call("recorder"), headers=headers)
        await client.post("/mcp", json=tool_call("recorder", _meta={"turngate/session": "t1"}), headers=headers)
        assert [context.session for context in recorder.contexts] == [session, "t1"]
        assert recorder.ended == []
        assert (await client.delete("/mcp", headers=headers)).status_code == 200
        assert recorder.ended == [session]
        assert (await client.delete("/mcp", headers=headers)).status_code == 404
    assert recorder.ended == [session]


MODERN_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def modern_headers(name: str) -> dict[str, str]:
    return {
        **ACCEPT,
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": name,
    }


async def test_one_route_serves_a_request_of_the_modern_era_without_a_session() -> None:
    async with over_http(add) as client:
        body = tool_call("add", arguments={"a": 20, "b": 22}, _meta=MODERN_META)
        response = await client.post("/mcp", json=body, headers=modern_headers("add"))
    assert response.headers["content-type"] == "application/json"
    assert "mcp-session-id" not in response.headers
    assert response.json()["result"]["content"] == [{"type": "text", "text": "42"}]


async def test_requests_up_to_the_configured_size_pass_and_larger_ones_do_not() -> None:
    recorder = Recorder(input_schema={"type": "object"})
    async with over_http(recorder, max_request_bytes=6_000_000) as client:
        for size, code in ((5_000_000, 200), (7_000_000, 413)):
            body = tool_call("recorder", arguments={"a": "x" * size}, _meta=MODERN_META)
            response = await client.post("/mcp", json=body, headers=modern_headers("recorder"))
            assert response.status_code == code
    assert len(recorder.arguments) == 1


async def test_a_client_of_the_modern_era_that_disconnects_cancels_its_call() -> None:
    gate = Gate()
    app = build_app(Gateway([tool(gate.wait)]), GatewayConfig())
    body = json.dumps(tool_call("wait", _meta=MODERN_META)).encode()
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
    headers = {"host": "127.0.0.1:8900", **modern_headers("wait")}

    async def receive() -> Message:
        if messages:
            return messages.pop()
        await gate.started.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        pass

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "root_path": "",
        "scheme": "http",
        "query_string": b"",
        "headers": [(key.encode(), value.encode()) for key, value in headers.items()],
    }
    with anyio.fail_after(LIMIT_S):
        async with app.router.lifespan_context(app):
            await app(scope, receive, send)
            assert gate.cancelled.is_set()


async def test_stopping_the_app_closes_the_gateway() -> None:
    gateway = Gateway([add])
    app = build_app(gateway, GatewayConfig())
    async with app.router.lifespan_context(app):
        pass
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        answer = (await client.post("/v1/call", json={"name": "add", "arguments": {"a": 1, "b": 2}})).json()
    assert (answer["status"], answer["error"]["type"]) == ("unavailable", "closed")
