"""The REST face, in process: what goes over the wire, what is refused, and who stops what."""

import json
from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx
import pytest
from starlette.types import Message

from turngate.gateway import Gateway, GatewayConfig, ToolCall
from turngate.gateway.faces.app import build_app
from turngate.gateway.faces.rest import result_json
from turngate.tools import ImageContent, ResourceContent, Status, ToolAnnotations, ToolOutput, ToolResult, tool

pytestmark = pytest.mark.anyio
LIMIT_S = 5


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@tool(annotations=ToolAnnotations(read_only=True))
async def add(a: int, b: int = 0) -> str:
    """Add two numbers."""
    return str(a + b)


@tool
async def picture() -> ToolOutput:
    """Return an image and a resource."""
    resource = ResourceContent.model_validate(
        {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "x"}}
    )
    return ToolOutput([ImageContent(data="aGk=", mime_type="image/png"), resource], structured=[1, None])


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


def client_of(*tools: Any, config: GatewayConfig | None = None) -> httpx.AsyncClient:
    gateway = Gateway([item if hasattr(item, "spec") else tool(item) for item in tools])
    app = build_app(gateway, config or GatewayConfig())
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8900")


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(add, picture) as client:
        yield client


async def test_a_call_is_answered_by_its_result(client: httpx.AsyncClient) -> None:
    response = await client.post("/v1/call", json={"name": "add", "arguments": {"a": 1, "b": 2}, "call_id": "c7"})
    assert response.status_code == 200
    assert response.headers["content-type"] == "application/json"
    result = ToolResult.model_validate_json(response.content)
    assert (result.call_id, result.name, result.status, result.text) == ("c7", "add", Status.OK, "3")


@pytest.mark.parametrize(
    ("call", "status"),
    [
        ({"name": "nope"}, "unknown_tool"),
        ({"name": "add", "arguments": {"a": "x"}}, "invalid_arguments"),
    ],
)
async def test_http_200_says_only_that_there_is_a_result(
    client: httpx.AsyncClient, call: dict[str, Any], status: str
) -> None:
    response = await client.post("/v1/call", json=call)
    assert (response.status_code, response.json()["status"]) == (200, status)


async def test_content_blocks_have_mcps_names_on_the_wire_and_read_back_as_they_were(
    client: httpx.AsyncClient,
) -> None:
    response = await client.post("/v1/call", json={"name": "picture"})
    image, resource = response.json()["content"]
    assert image == {"type": "image", "data": "aGk=", "mimeType": "image/png"}
    assert resource["resource"]["mimeType"] == "text/plain"
    assert response.json()["structured"] == [1, None]
    result = ToolResult.model_validate_json(response.content)
    assert result_json(result) == response.content


@pytest.mark.parametrize("bare", [False, True])
async def test_a_batch_is_answered_in_the_order_of_its_calls(client: httpx.AsyncClient, bare: bool) -> None:
    calls = [{"name": "add", "arguments": {"a": n}, "call_id": f"c{n}"} for n in range(3)]
    calls.insert(1, {"name": "nope", "call_id": "bad"})
    response = await client.post("/v1/calls", json=calls if bare else {"calls": calls})
    answers = [(result["call_id"], result["status"]) for result in response.json()["results"]]
    assert answers == [("c0", "ok"), ("bad", "unknown_tool"), ("c1", "ok"), ("c2", "ok")]


async def test_an_empty_batch_has_no_results(client: httpx.AsyncClient) -> None:
    assert (await client.post("/v1/calls", json=[])).json() == {"results": []}


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize(("count", "status_code"), [(1000, 200), (1001, 422)])
async def test_a_batch_has_a_largest_size_and_the_refusal_names_it(
    client: httpx.AsyncClient, bare: bool, count: int, status_code: int
) -> None:
    calls = [{"name": "nope"}] * count
    response = await client.post("/v1/calls", json=calls if bare else {"calls": calls})
    assert response.status_code == status_code
    if status_code == 422:
        assert response.json()["error"]["message"].startswith("calls: more than 1000 calls in one batch")


@pytest.mark.parametrize(
    ("path", "body", "status_code", "named"),
    [
        ("/v1/call", b"{", 400, "not JSON"),
        ("/v1/call", b"", 400, "not JSON"),
        ("/v1/call", b'"\xff"', 400, "not JSON"),
        ("/v1/call", b"{}", 422, "name: Field required"),
        ("/v1/call", b"[]", 422, "body: "),
        ("/v1/call", b'{"name": "add", "arguments": "{}"}', 422, "arguments: "),
        ("/v1/call", b'{"name": "add", "argumnets": {}}', 422, "argumnets: unknown field"),
        ("/v1/call", b'{"name": "add", "deadline_s": 0}', 422, "deadline_s: "),
        ("/v1/call", b'{"name": "add", "arguments": ' + b'{"a":' * 5000 + b"1" + b"}" * 5001, 400, "not JSON"),
        ("/v1/calls", b'{"calls": [{"name": "add"}, {}]}', 422, "calls.1.name: Field required"),
        ("/v1/calls", b'[{"name": "add"}, 3]', 422, "1: "),
    ],
)
async def test_a_body_that_is_no_call_is_refused_and_the_field_named(
    client: httpx.AsyncClient, path: str, body: bytes, status_code: int, named: str
) -> None:
    response = await client.post(path, content=body)
    assert response.status_code == status_code
    error = response.json()["error"]
    assert named in error["message"]
    assert error["retryable"] is False


async def test_unknown_routes_and_methods_answer_in_the_same_shape(client: httpx.AsyncClient) -> None:
    for response, code in ((await client.get("/nope"), 404), (await client.get("/v1/call"), 405)):
        assert response.status_code == code
        assert set(response.json()["error"]) == {"type", "message", "retryable"}


async def test_a_fault_of_the_gateway_is_told_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(self: Gateway, call: ToolCall) -> ToolResult:
        raise RuntimeError("secret place")

    monkeypatch.setattr(Gateway, "call", broken)
    async with client_of(add) as client:
        response = await client.post("/v1/call", json={"name": "add"})
    assert response.status_code == 500
    assert response.json()["error"]["type"] == "internal"
    assert "secret" not in response.text
    assert "Traceback" not in response.text


async def test_output_that_json_cannot_hold_becomes_an_internal_result(caplog: pytest.LogCaptureFixture) -> None:
    async def deep() -> ToolOutput:
        value: list[Any] = []
        for _ in range(400):
            value = [value]
        return ToolOutput(structured=value)

    async with client_of(deep) as client:
        response = await client.post("/v1/call", json={"name": "deep", "call_id": "c1"})
    answer = response.json()
    assert (response.status_code, answer["status"], answer["name"], answer["call_id"]) == (
        200,
        "internal",
        "deep",
        "c1",
    )
    assert "Traceback" not in response.text


async def test_the_catalogue_comes_in_every_format(client: httpx.AsyncClient) -> None:
    own = (await client.get("/v1/tools")).json()["tools"][0]
    assert (own["name"], own["source"], own["annotations"]["readOnlyHint"]) == ("add", "function", True)
    schema = own["input_schema"]
    openai = (await client.get("/v1/tools?format=openai")).json()["tools"][0]
    assert openai == {
        "type": "function",
        "function": {"name": "add", "description": "Add two numbers.", "parameters": schema},
    }
    anthropic = (await client.get("/v1/tools?format=anthropic")).json()["tools"][0]
    assert anthropic == {"name": "add", "description": "Add two numbers.", "input_schema": schema}
    mcp = (await client.get("/v1/tools?format=mcp")).json()["tools"][0]
    assert mcp == {
        "name": "add",
        "description": "Add two numbers.",
        "inputSchema": schema,
        "annotations": {"readOnlyHint": True},
    }


async def test_an_unknown_format_is_refused_with_the_known_ones(client: httpx.AsyncClient) -> None:
    response = await client.get("/v1/tools?format=xml")
    assert response.status_code == 422
    assert "openai, mcp, anthropic" in response.json()["error"]["message"]


async def test_ending_a_session_stops_its_calls_whatever_characters_its_name_has() -> None:
    gate = Gate()
    async with client_of(gate.wait) as client, anyio.create_task_group() as group:
        answers: list[httpx.Response] = []

        async def ask() -> None:
            answers.append(await client.post("/v1/call", json={"name": "wait", "session": "a/b c"}))

        with anyio.fail_after(LIMIT_S):
            group.start_soon(ask)
            await gate.started.wait()
            response = await client.delete("/v1/sessions/a%2Fb%20c")
            await gate.cancelled.wait()
    assert (response.status_code, response.content) == (204, b"")
    assert answers[0].json()["status"] == "cancelled"


async def test_health_counts_tools_and_calls_in_flight() -> None:
    gate = Gate()
    async with client_of(gate.wait, add) as client, anyio.create_task_group() as group:
        with anyio.fail_after(LIMIT_S):
            group.start_soon(lambda: client.post("/v1/call", json={"name": "wait"}))
            await gate.started.wait()
            health = (await client.get("/health")).json()
        group.cancel_scope.cancel()
    assert (health["status"], health["tools"], health["calls_in_flight"]) == ("ok", 2, 1)
    assert health["uptime_s"] >= 0
    assert health["version"]


@pytest.mark.parametrize(
    ("path", "body"),
    [("/v1/call", {"name": "wait"}), ("/v1/calls", {"calls": [{"name": "wait"}, {"name": "wait"}]})],
)
async def test_a_client_that_disconnects_cancels_its_call(path: str, body: dict[str, Any]) -> None:
    gate = Gate()
    app = build_app(Gateway([tool(gate.wait)]), GatewayConfig())
    messages: list[Message] = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]

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
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "scheme": "http",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1:8900")],
    }
    with anyio.fail_after(LIMIT_S):
        await app(scope, receive, send)
    assert gate.cancelled.is_set()
