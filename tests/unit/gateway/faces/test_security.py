"""The guard in front of every route."""

import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import anyio
import httpx
import pytest
import uvicorn
from starlette.types import Message

from turngate.gateway import ConfigError, Gateway, GatewayConfig, ServerConfig, Status, ToolCall
from turngate.gateway.client import RemoteGateway
from turngate.gateway.faces.app import build_app
from turngate.gateway.faces.security import check_bind, read_token
from turngate.tools import tool

pytestmark = pytest.mark.anyio
LIMIT_S = 10


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@tool
async def echo(text: str) -> str:
    """Return the text."""
    return text


def client_of(**server: Any) -> httpx.AsyncClient:
    app = build_app(Gateway([echo]), GatewayConfig(server=ServerConfig(**server)))
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1:8900")


async def status_of(headers: dict[str, str], path: str = "/v1/tools", **server: Any) -> int:
    async with client_of(**server) as client:
        response = await client.get(path, headers=headers)
    if response.status_code >= 400:
        assert set(response.json()["error"]) == {"type", "message", "retryable"}
    return response.status_code


@pytest.mark.parametrize("path", ["/v1/tools", "/mcp", "/health", "/nope"])
async def test_a_foreign_host_name_reaches_no_route(path: str) -> None:
    assert await status_of({"host": "evil.example:8900"}, path) == 421


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:1", "localhost:8900", "LOCALHOST", "[::1]:8900", "127.8.8.8"])
async def test_loopback_names_are_always_accepted(host: str) -> None:
    assert await status_of({"host": host}) == 200


@pytest.mark.parametrize(
    "host",
    [
        "",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "10.0.0.7:8900",
        "[",
        "[]",
        "evil:127.0.0.1",
        "2130706433",
        "[::1]evil.example",
        "[::1].evil.example:8900",
        "[::1]:8900.evil.example",
        "[::1",
        "[[::1]]",
        "[::1]:80\n",
        "::1",
        "localhost:evil.example",
        "127.0.0.1:80@evil.example",
    ],
)
async def test_names_that_merely_look_like_loopback_are_refused(host: str) -> None:
    assert await status_of({"host": host}) == 421


@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("gate.example:8900", 200),
        ("gate.example", 200),
        ("GATE.example:1", 200),
        ("one.example:80", 200),
        ("one.example:81", 421),
        ("one.example", 421),
        ("sub.gate.example", 421),
    ],
)
async def test_configured_host_names_are_accepted_with_or_without_a_port(host: str, code: int) -> None:
    assert await status_of({"host": host}, allowed_hosts=["gate.example", "one.example:80"]) == code


async def test_a_gateway_for_other_machines_answers_to_addresses_but_not_to_any_name() -> None:
    assert await status_of({"host": "10.0.0.7:8900"}, host="0.0.0.0") == 200
    assert await status_of({"host": "evil.example"}, host="0.0.0.0") == 421
    assert await status_of({"host": "node7:8900"}, host="node7") == 200


@pytest.mark.parametrize(
    ("origin", "code"),
    [
        ("http://localhost:3000", 200),
        ("https://127.0.0.1", 200),
        ("http://[::1]:5", 200),
        ("https://ui.example", 200),
        ("http://gate.example:8900", 200),
        ("https://evil.example", 403),
        ("http://ui.example", 403),
        ("null", 403),
        ("", 403),
        ("http://[", 403),
        ("file://localhost", 403),
        ("http://localhost.evil.example", 403),
        ("http://gate.example", 403),
        ("http://[::1]evil.example", 403),
        ("http://localhost:80@evil.example", 403),
    ],
)
async def test_only_pages_from_loopback_from_the_gateway_itself_or_from_the_list_may_ask(
    origin: str, code: int
) -> None:
    headers = {"host": "gate.example:8900", "origin": origin}
    got = await status_of(headers, allowed_hosts=["gate.example"], allowed_origins=["https://UI.example/"])
    assert got == code


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("Bearer s3cret", 200),
        ("bearer s3cret", 200),
        ("Bearer wrong", 401),
        ("s3cret", 401),
        ("Bearer", 401),
        ("Basic s3cret", 401),
        ("Bearer s3cret ", 401),
        ("Bearer é", 401),
        (None, 401),
    ],
)
async def test_every_route_asks_for_the_token(header: str | None, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATE_TOKEN", "s3cret")
    headers = {} if header is None else [(b"authorization", header.encode("latin-1"))]
    async with client_of(token_env="GATE_TOKEN") as client:
        response = await client.get("/v1/tools", headers=headers)
        assert response.status_code == code
        if code == 401:
            assert response.headers["www-authenticate"] == "Bearer"
            assert "s3cret" not in response.text
            assert (await client.post("/mcp", headers=headers, json={})).status_code == 401


async def test_health_answers_without_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATE_TOKEN", "s3cret")
    assert await status_of({}, "/health", token_env="GATE_TOKEN") == 200


@dataclass
class Sender:
    """A client, as the app sees it, that declares too much and sends `chunks` of 64 KiB (None: for ever, slowly)."""

    chunks: int | None = 3
    sent: list[Message] = field(default_factory=list)
    taken: int = 0
    answered_before_the_body: bool = False

    async def receive(self) -> Message:
        self.answered_before_the_body = any(message.get("body") for message in self.sent)
        if self.chunks is None:
            await anyio.sleep_forever()
        self.taken += 1
        return {"type": "http.request", "body": b"x" * 65536, "more_body": self.taken != self.chunks}

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    async def post(self, *headers: tuple[bytes, bytes]) -> None:
        app = build_app(Gateway([echo]), GatewayConfig(server=ServerConfig(max_request_bytes=1024)))
        scope: dict[str, Any] = {
            "type": "http",
            "http_version": "1.1",
            "method": "POST",
            "path": "/v1/call",
            "query_string": b"",
            "headers": [(b"host", b"127.0.0.1"), (b"content-length", b"1025"), *headers],
        }
        with anyio.fail_after(LIMIT_S):
            await app(scope, self.receive, self.send)
        assert self.sent[0]["status"] == 413
        assert b"too_large" in self.sent[1]["body"]
        assert not self.sent[-1].get("more_body")


async def test_a_request_that_declares_too_much_is_refused_before_it_is_read_and_then_read_to_its_end() -> None:
    sender = Sender(chunks=3)
    await sender.post()
    assert (sender.taken, sender.answered_before_the_body) == (3, True)


async def test_a_client_that_asks_before_it_sends_too_much_is_not_waited_for() -> None:
    sender = Sender(chunks=None)
    await sender.post((b"expect", b"100-continue"))
    assert len(sender.sent) == 2


async def test_reading_what_is_too_large_ends_at_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turngate.gateway.faces.security._MAX_DRAINED_BYTES", 10 * 65536)
    sender = Sender(chunks=1000)
    await sender.post()
    assert sender.taken == 11


async def test_reading_what_is_too_large_ends_after_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turngate.gateway.faces.security._MAX_DRAIN_S", 0.05)
    await Sender(chunks=None).post()


@pytest.mark.parametrize("streamed", [False, True])
async def test_a_client_that_sends_too_much_to_a_real_server_sees_the_answer(streamed: bool) -> None:
    app = build_app(Gateway([echo]), GatewayConfig())
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="off", ws="none"))

    async def body() -> AsyncIterator[bytes]:
        for _ in range(20):
            yield b"x" * 1_000_000

    with socket.create_server(("127.0.0.1", 0)) as listener, anyio.fail_after(LIMIT_S):
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with anyio.create_task_group() as group:
            group.start_soon(server.serve, [listener])
            async with httpx.AsyncClient(trust_env=False) as client:
                content = body() if streamed else b"x" * 20_000_000
                response = await client.post(f"{url}/v1/call", content=content)
            gateway = RemoteGateway(url)
            result = await gateway.call(ToolCall(name="echo", arguments={"text": "x" * 9_000_000}))
            await gateway.aclose()
            server.should_exit = True
    assert response.status_code == 413
    assert result.status is Status.INVALID_ARGUMENTS
    assert result.error is not None
    assert (result.error.type, result.error.retryable) == ("too_large", False)


@pytest.mark.parametrize("path", ["/v1/call", "/v1/calls"])
@pytest.mark.parametrize(("chunks", "code"), [(100, 413), (1, 422)])
async def test_a_request_that_grows_too_large_is_refused_although_it_declared_nothing(
    path: str, chunks: int, code: int
) -> None:
    async def body() -> AsyncIterator[bytes]:
        yield b'{"name": "'
        for _ in range(chunks):
            yield b"x" * 64
        yield b'", "other": 1}'

    async with client_of(max_request_bytes=1024) as client:
        response = await client.post(path, content=body())
    assert response.status_code == code
    assert response.json()["error"]["retryable"] is False


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.9"])
def test_loopback_needs_no_token(host: str) -> None:
    check_bind(ServerConfig(host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.1.2.3", "node7", ""])
def test_any_other_address_needs_a_token_or_a_word(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"server\.host: .*--insecure"):
        check_bind(ServerConfig(host=host))
    check_bind(ServerConfig(host=host), insecure=True)
    monkeypatch.setenv("GATE_TOKEN", "s3cret")
    check_bind(ServerConfig(host=host, token_env="GATE_TOKEN"))


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_token_variable_that_holds_nothing_is_a_configuration_error(
    value: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GATE_TOKEN", raising=False)
    if value is not None:
        monkeypatch.setenv("GATE_TOKEN", value)
    with pytest.raises(ConfigError, match=r"server\.token_env: .*'GATE_TOKEN'"):
        read_token(ServerConfig(token_env="GATE_TOKEN"))
    with pytest.raises(ConfigError, match=r"server\.token_env"):
        check_bind(ServerConfig(token_env="GATE_TOKEN"), insecure=True)
