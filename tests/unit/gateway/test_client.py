"""RemoteGateway: against the real REST face, and against everything that can go wrong before it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import anyio
import httpx
import pytest

from turngate.gateway import ConfigError, Gateway, GatewayConfig, Status, ToolCall
from turngate.gateway.client import GatewayUnreachable, RemoteGateway
from turngate.gateway.faces.app import build_app
from turngate.tools import ImageContent, ResourceContent, TextContent, ToolAnnotations, ToolOutput, tool

pytestmark = pytest.mark.anyio
LIMIT_S = 5
URL = "http://127.0.0.1:8900"
Handler = Callable[[httpx.Request], Awaitable[httpx.Response]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@tool(annotations=ToolAnnotations(idempotent=True))
async def add(a: int, b: int = 0) -> str:
    """Add two numbers."""
    return str(a + b)


@tool
async def media() -> ToolOutput:
    """Return one block of each kind."""
    resource = ResourceContent.model_validate({"type": "resource", "resource": {"uri": "file:///a", "text": "x"}})
    image = ImageContent(data="aGk=", mime_type="image/png")
    return ToolOutput([TextContent(text="é"), image, resource], structured={"a": [None, 1.5]})


def gateway_of(*tools: Any) -> RemoteGateway:
    app = build_app(Gateway(tools), GatewayConfig())
    return RemoteGateway(URL, transport=httpx.ASGITransport(app))


def answering(handler: Handler | Exception | httpx.Response, **options: Any) -> RemoteGateway:
    async def handle(request: httpx.Request) -> httpx.Response:
        if isinstance(handler, Exception):
            raise handler
        return handler if isinstance(handler, httpx.Response) else await handler(request)

    return RemoteGateway(URL, transport=httpx.MockTransport(handle), **{"connect_retry_s": 0.0, **options})


def calls(count: int, **fields: Any) -> list[ToolCall]:
    return [ToolCall(name=f"t{n}", call_id=f"c{n}", **fields) for n in range(count)]


async def test_what_the_embedded_gateway_says_arrives_unchanged() -> None:
    call = ToolCall(name="media", call_id="c1")
    embedded = await Gateway([media]).call(call)
    remote = await gateway_of(media).call(call)
    assert remote.model_dump(exclude={"stats"}) == embedded.model_dump(exclude={"stats"})
    assert remote.stats.attempts == 1


async def test_the_catalogue_arrives_unchanged() -> None:
    assert await gateway_of(add, media).list_tools() == await Gateway([add, media]).list_tools()


async def test_a_batch_comes_back_in_order_with_its_ids() -> None:
    batch = [ToolCall(name="add", arguments={"a": n}, call_id=f"c{n}") for n in range(5)]
    batch.append(ToolCall(name="nope", call_id="bad"))
    results = await gateway_of(add).call_many(batch)
    assert [(result.call_id, result.text) for result in results[:5]] == [(f"c{n}", str(n)) for n in range(5)]
    assert (results[5].call_id, results[5].status) == ("bad", Status.UNKNOWN_TOOL)


async def test_an_empty_batch_asks_nobody() -> None:
    assert await answering(AssertionError("asked")).call_many([]) == []


async def test_the_token_is_sent_and_kept_out_of_everything_else() -> None:
    seen: list[str] = []

    async def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["authorization"])
        return httpx.Response(401, json={"error": {"type": "token", "message": "A valid token", "retryable": False}})

    gateway = answering(handle, token="s3cret")
    result = await gateway.call(ToolCall(name="add"))
    assert seen == ["Bearer s3cret"]
    assert result.status is Status.DENIED
    assert "s3cret" not in result.model_dump_json()


@pytest.mark.parametrize(
    ("token", "sent"), [("abc\n", "Bearer abc"), (" a b ", "Bearer a b"), ("\n", None), ("", None), (None, None)]
)
async def test_white_space_around_a_token_is_dropped(token: str | None, sent: str | None) -> None:
    seen: list[str | None] = []

    async def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("authorization"))
        return httpx.Response(200, json={"status": "ok"})

    assert (await answering(handle, token=token).call(ToolCall(name="a"))).ok
    assert seen == [sent]


@pytest.mark.parametrize("token", ["s3crét", "s3cr\net", "s3cr\x00et", "s3cret\ud800"])
def test_a_token_that_no_header_can_hold_is_refused_at_once_and_not_told(token: str) -> None:
    with pytest.raises(ConfigError, match="TURNGATE_TOKEN") as raised:
        RemoteGateway(URL, token=token)
    assert "s3cr" not in str(raised.value)


async def test_a_batch_larger_than_a_request_may_be_goes_out_in_parts_and_comes_back_in_order() -> None:
    batch = [ToolCall(name="add", arguments={"a": n}, call_id=f"c{n}") for n in range(1100)]
    results = await gateway_of(add).call_many(batch)
    assert [(result.call_id, result.text) for result in results] == [(f"c{n}", str(n)) for n in range(1100)]


@pytest.mark.parametrize(("size", "status"), [(1000, Status.OK), (1001, Status.INTERNAL)])
@pytest.mark.parametrize("declared", [True, False])
async def test_an_answer_is_read_up_to_a_limit_and_asked_for_uncompressed(
    size: int, status: Status, declared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("turngate.gateway.client._MAX_ANSWER_BYTES", 1000)
    pulled = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal pulled
        answer = b'{"status":"ok"}'
        for part in [answer, *[b" "] * (size - len(answer)), *[b" "] * (100_000 if size > 1000 else 0)]:
            pulled += len(part)
            yield part

    async def handle(request: httpx.Request) -> httpx.Response:
        assert request.headers["accept-encoding"] == "identity"
        return httpx.Response(200, content=body(), headers={"content-length": str(size)} if declared else {})

    result = await answering(handle).call(ToolCall(name="a", call_id="c"))
    assert (result.call_id, result.status) == ("c", status)
    assert pulled == (0 if declared and size > 1000 else size)


REQUEST = httpx.Request("POST", URL)
OK_BUT_EMPTY = httpx.Response(200, json={"results": []})


@pytest.mark.parametrize(
    ("outcome", "status", "retryable"),
    [
        (httpx.ConnectError("refused"), Status.UNAVAILABLE, True),
        (httpx.ConnectTimeout("slow"), Status.UNAVAILABLE, True),
        (httpx.PoolTimeout("full"), Status.UNAVAILABLE, True),
        (httpx.ReadError("reset"), Status.UNAVAILABLE, True),
        (httpx.WriteError("reset"), Status.UNAVAILABLE, True),
        (httpx.RemoteProtocolError("Server disconnected"), Status.UNAVAILABLE, True),
        (httpx.ReadTimeout("slow"), Status.TIMEOUT, True),
        (httpx.WriteTimeout("slow"), Status.TIMEOUT, True),
        (httpx.DecodingError("gzip"), Status.INTERNAL, False),
        (httpx.Response(503), Status.UNAVAILABLE, True),
        (httpx.Response(502, text="<html>bad gateway</html>"), Status.UNAVAILABLE, True),
        (httpx.Response(504), Status.UNAVAILABLE, True),
        (httpx.Response(429), Status.UNAVAILABLE, True),
        (httpx.Response(500), Status.INTERNAL, False),
        (httpx.Response(404, text="nothing here"), Status.INTERNAL, False),
        (httpx.Response(422, json={"error": "odd"}), Status.INTERNAL, False),
        (httpx.Response(302, headers={"location": "http://elsewhere"}), Status.INTERNAL, False),
        (httpx.Response(401), Status.DENIED, False),
        (httpx.Response(403), Status.DENIED, False),
        (httpx.Response(421), Status.DENIED, False),
        (httpx.Response(413), Status.INVALID_ARGUMENTS, False),
        (httpx.Response(200, text="<html>hello</html>"), Status.INTERNAL, False),
        (httpx.Response(200, content=b"\xff\xfe"), Status.INTERNAL, False),
        (httpx.Response(200, json=[1]), Status.INTERNAL, False),
        (OK_BUT_EMPTY, Status.INTERNAL, False),
        (OSError("no more files"), Status.INTERNAL, False),
        (RuntimeError("odd"), Status.INTERNAL, False),
    ],
    ids=str,
)
@pytest.mark.parametrize("count", [1, 3])
async def test_whatever_the_network_or_the_server_does_becomes_a_result_for_each_call(
    outcome: Exception | httpx.Response, status: Status, retryable: bool, count: int
) -> None:
    results = await answering(outcome).call_many(calls(count))
    assert [(result.call_id, result.name) for result in results] == [(f"c{n}", f"t{n}") for n in range(count)]
    for result in results:
        assert result.status is status
        assert result.error is not None
        assert result.error.retryable is retryable
        assert result.text
        assert "Traceback" not in result.text


async def test_a_server_that_answers_under_other_names_is_read_under_ours() -> None:
    gateway = answering(httpx.Response(200, json={"status": "ok", "call_id": "theirs", "name": "other"}))
    result = await gateway.call(ToolCall(name="mine", call_id="ours"))
    assert (result.call_id, result.name, result.ok) == ("ours", "mine", True)


@pytest.mark.parametrize("count", [1, 2])
async def test_a_gateway_that_never_answers_cannot_hold_a_caller(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turngate.gateway.client._SLACK_S", 0.0)

    async def handle(request: httpx.Request) -> httpx.Response:
        await anyio.sleep_forever()
        raise AssertionError

    with anyio.fail_after(LIMIT_S):
        results = await answering(handle).call_many(calls(count, deadline_s=0.05))
    assert [result.status for result in results] == [Status.TIMEOUT] * count
    assert results[0].stats.run_s >= 0.05


async def test_the_wait_is_as_long_as_the_longest_deadline_of_the_batch() -> None:
    waits: list[dict[str, float]] = []

    async def handle(request: httpx.Request) -> httpx.Response:
        waits.append(request.extensions["timeout"])
        return httpx.Response(500)

    gateway = answering(handle, default_deadline_s=7.0)
    await gateway.call_many([ToolCall(name="a", deadline_s=1), ToolCall(name="b", deadline_s=30)])
    await gateway.call_many([ToolCall(name="a", deadline_s=1), ToolCall(name="b")])
    assert [wait["read"] for wait in waits] == [35.0, 12.0]


async def test_only_a_request_that_never_left_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turngate.gateway.client._BACKOFF", lambda state: 0.0)
    for error, expected in ((httpx.ConnectError("refused"), 3), (httpx.ReadError("reset"), 1)):
        attempts = 0

        async def handle(request: httpx.Request, error: Exception = error) -> httpx.Response:
            nonlocal attempts
            attempts += 1
            if attempts < 3:
                raise error
            return httpx.Response(200, json={"status": "ok"})

        with anyio.fail_after(LIMIT_S):
            result = await answering(handle, connect_retry_s=60.0).call(ToolCall(name="a"))
        assert attempts == expected
        assert result.ok is (expected == 3)


async def test_arguments_that_json_cannot_hold_fail_alone() -> None:
    batch = [ToolCall(name="add", arguments={"a": value}, call_id=str(n)) for n, value in enumerate([1, "\ud800", 3])]
    results = await gateway_of(add).call_many(batch)
    assert [result.status for result in results] == [Status.OK, Status.INVALID_ARGUMENTS, Status.OK]
    assert [result.call_id for result in results] == ["0", "1", "2"]


async def test_ending_a_session_names_it_safely_and_swallows_every_error(caplog: pytest.LogCaptureFixture) -> None:
    paths: list[bytes] = []

    async def handle(request: httpx.Request) -> httpx.Response:
        paths.append(request.url.raw_path)
        raise httpx.ReadError("reset")

    await answering(handle).end_session("a/b ?#é")
    assert paths == [b"/v1/sessions/a%2Fb%20%3F%23%C3%A9"]
    await answering(RuntimeError("odd")).end_session("\ud800")


async def test_a_session_ended_from_afar_stops_its_calls() -> None:
    started = anyio.Event()

    @tool
    async def wait() -> str:
        """Wait for ever."""
        started.set()
        await anyio.sleep_forever()
        return ""

    gateway = gateway_of(wait)
    statuses: list[Status] = []

    async def ask() -> None:
        statuses.append((await gateway.call(ToolCall(name="wait", session="t/1"))).status)

    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            await started.wait()
            await gateway.end_session("t/1")
    assert statuses == [Status.CANCELLED]


@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        (httpx.ConnectError("refused"), "no connection"),
        (
            httpx.Response(401, json={"error": {"type": "t", "message": "A token is needed", "retryable": False}}),
            "A token",
        ),
        (httpx.Response(404), "HTTP 404"),
        (httpx.Response(200, text="<html>"), "not a turngate gateway"),
    ],
)
async def test_a_catalogue_that_cannot_be_read_is_told_to_the_person(
    outcome: Exception | httpx.Response, told: str
) -> None:
    with pytest.raises(GatewayUnreachable, match=told) as raised:
        await answering(outcome).list_tools()
    assert URL in str(raised.value)


async def test_a_password_in_the_url_is_not_told() -> None:
    gateway = RemoteGateway(
        "http://me:pa55@127.0.0.1:8900/", transport=httpx.MockTransport(lambda request: httpx.Response(500))
    )
    with pytest.raises(GatewayUnreachable) as raised:
        await gateway.list_tools()
    assert "pa55" not in str(raised.value)


@pytest.mark.parametrize("url", ["", "127.0.0.1:8900", "ftp://host", "http://", "http://host:port", "/v1"])
def test_a_url_that_cannot_be_one_is_refused_at_once(url: str) -> None:
    with pytest.raises(ConfigError, match="gateway URL"):
        RemoteGateway(url)


@pytest.mark.parametrize("url", ["http://host/gate", "http://host/gate/", "http://host/gate//?x=1#y"])
async def test_a_gateway_below_a_path_is_found_there(url: str) -> None:
    asked: list[str] = []

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return httpx.Response(200, json={"tools": []})

    await RemoteGateway(url, transport=httpx.MockTransport(handle)).list_tools()
    assert asked == ["http://host/gate/v1/tools"]


async def test_a_closed_client_answers_that_it_is_closed() -> None:
    gateway = gateway_of(add)
    assert (await gateway.call(ToolCall(name="add", arguments={"a": 1}))).ok
    await gateway.aclose()
    assert (await gateway.call(ToolCall(name="add", arguments={"a": 1}))).status is Status.UNAVAILABLE
    await gateway.end_session("t")
    await gateway.aclose()


def test_each_event_loop_gets_connections_of_its_own() -> None:
    gateway = gateway_of(add)
    for n in range(2):
        assert asyncio.run(gateway.call(ToolCall(name="add", arguments={"a": n}))).text == str(n)


class Peer:
    """A server on a real socket that does one thing with each connection."""

    def __init__(self, treat: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]) -> None:
        self._treat = treat
        self.connections = 0

    async def __aenter__(self) -> "Peer":
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *raised: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            await self._treat(reader, writer)
        finally:
            writer.close()


async def read_request(reader: asyncio.StreamReader) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    await reader.readexactly(int(length.partition(b":")[2]))


async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await read_request(reader)


async def garbage(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await read_request(reader)
    writer.write(b"\x00\x01 not http\r\n\r\n")
    await writer.drain()


async def half_an_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await read_request(reader)
    writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"status"')
    await writer.drain()


@pytest.mark.parametrize("treat", [hang_up, garbage, half_an_answer], ids=lambda treat: treat.__name__)
async def test_a_connection_that_breaks_after_the_request_is_not_tried_again(treat: Any) -> None:
    with anyio.fail_after(LIMIT_S):
        async with Peer(treat) as peer:
            gateway = RemoteGateway(peer.url)
            result = await gateway.call(ToolCall(name="a", call_id="c"))
            await gateway.aclose()
    assert (result.call_id, result.status) == ("c", Status.UNAVAILABLE)
    assert result.error is not None
    assert result.error.type == "connection_lost"
    assert peer.connections == 1


async def test_an_idle_connection_that_the_server_closed_is_replaced_before_a_call_goes_out_on_it() -> None:
    closed = asyncio.Event()

    async def answer_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n{"status":"ok"}')
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        closed.set()

    with anyio.fail_after(LIMIT_S):
        async with Peer(answer_once) as peer:
            gateway = RemoteGateway(peer.url)
            for _ in range(3):
                closed.clear()
                assert (await gateway.call(ToolCall(name="a"))).ok
                await closed.wait()
            await gateway.aclose()
    assert peer.connections == 3


async def test_a_refused_connection_is_unavailable() -> None:
    async with Peer(hang_up) as peer:
        url = peer.url
    gateway = RemoteGateway(url, connect_retry_s=0.0)
    result = await gateway.call(ToolCall(name="a"))
    await gateway.aclose()
    assert result.status is Status.UNAVAILABLE
    assert result.error is not None
    assert result.error.type == "unreachable"
