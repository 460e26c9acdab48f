"""The guard in front of every route."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from turngate.gateway import ConfigError, Gateway, GatewayConfig, ServerConfig
from turngate.gateway.faces.app import build_app
from turngate.gateway.faces.security import check_bind, read_token
from turngate.tools import tool

pytestmark = pytest.mark.anyio


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
    ["", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.7:8900", "[", "evil:127.0.0.1", "2130706433"],
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


async def test_a_request_that_declares_too_much_is_refused_before_it_is_read() -> None:
    async def body() -> AsyncIterator[bytes]:
        raise AssertionError("the body was read")
        yield b""

    async with client_of(max_request_bytes=1024) as client:
        response = await client.post("/v1/call", content=body(), headers={"content-length": "1025"})
    assert (response.status_code, response.json()["error"]["type"]) == (413, "too_large")


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
