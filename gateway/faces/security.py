"""The guard in front of every route: who may ask, from where, and how much at once.

* Host and Origin: a web page that a person merely visits must not reach a gateway on that person's
  machine, neither by asking from its own origin nor by pointing its own name at 127.0.0.1 (DNS rebinding).
* Bearer token, compared in constant time. `/health` answers without one.
* Size of the request, declared or streamed. What is too large is answered at once and then read on for a
  while and dropped: a client that is still sending when the connection closes would never see the answer.

Not covered: TLS, rates, and what a caller with the token may do.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import re
from urllib.parse import urlsplit

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from turngate.gateway.config import ServerConfig
from turngate.gateway.errors import ConfigError
from turngate.gateway.faces.problem import problem

__all__ = ["Security", "check_bind", "read_token"]

_OPEN_PATHS = frozenset({"/health"})
_HOST = re.compile(r"(?:\[(?P<address>[^\[\]]+)\]|(?P<name>[^\[\]:]*))(?::[0-9]*)?", re.DOTALL)
_MAX_KNOWN = 256
_MAX_DRAINED_BYTES = 64 * 1024 * 1024
_MAX_DRAIN_S = 5.0


class Security:
    """ASGI middleware; the checks come before the app reads the body."""

    def __init__(self, app: ASGIApp, config: ServerConfig, token: str | None) -> None:
        self.app = app
        self._config = config
        self._authorization = None if token is None else f"Bearer {token}".encode()
        self._any_address = not is_loopback(config.host)
        self._allowed_hosts = {host.lower() for host in config.allowed_hosts} | ({config.host.lower()} - {""})
        self._allowed_origins = {origin.lower().rstrip("/") for origin in config.allowed_origins}
        self._known_hosts: set[bytes] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what may not pass; count the bytes of what may."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        refusal = self._refusal(scope["path"], headers)
        if refusal is not None:
            if refusal[0] == 413:
                # A client that asks first (`Expect: 100-continue`) has sent no body.
                await self._answer_too_large(scope, receive, send, more_comes=b"expect" not in headers)
            else:
                await problem(*refusal, headers=_refusal_headers(refusal[0]))(scope, receive, send)
            return
        await self._limited(scope, receive, send)

    def _refusal(self, path: str, headers: dict[bytes, bytes]) -> tuple[int, str, str] | None:
        """Status, type and message of why a request may not pass, or None."""
        host = headers.get(b"host", b"")
        if not self._host_allowed(host):
            shown = host.decode("latin-1")[:100] or "(none)"
            return (
                421,
                "host",
                f"The gateway does not answer to the host name '{shown}'. Add it to server.allowed_hosts.",
            )
        origin = headers.get(b"origin")
        if origin is not None and not self._origin_allowed(origin, host):
            shown = origin.decode("latin-1")[:100]
            return 403, "origin", f"Pages from '{shown}' may not use the gateway. Add it to server.allowed_origins."
        if self._authorization is not None and path not in _OPEN_PATHS:
            given = headers.get(b"authorization", b"")
            # The scheme is case-insensitive (RFC 9110); the token is not.
            given = b"Bearer" + given[6:] if given[:6].lower() == b"bearer" else given
            if not hmac.compare_digest(given, self._authorization):
                return 401, "token", "A valid bearer token is needed: 'Authorization: Bearer TOKEN'."
        declared = headers.get(b"content-length", b"")
        if declared.isdigit() and int(declared) > self._config.max_request_bytes:
            return self._too_large()
        return None

    def _too_large(self) -> tuple[int, str, str]:
        limit = self._config.max_request_bytes
        return 413, "too_large", f"The request is larger than {limit} bytes (server.max_request_bytes)."

    async def _limited(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; a body that grows past the limit ends it, whatever length it declared."""
        received = 0
        started = False
        more_comes = False

        async def counted() -> Message:
            nonlocal received, more_comes
            message = await receive()
            if message["type"] == "http.request":
                received += len(message.get("body", b""))
                more_comes = message.get("more_body", False)
                if received > self._config.max_request_bytes:
                    raise _BodyTooLarge
            return message

        async def noted(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, counted, noted)
        except _BodyTooLarge:
            if started:
                raise
            await self._answer_too_large(scope, receive, send, more_comes)

    async def _answer_too_large(self, scope: Scope, receive: Receive, send: Send, more_comes: bool) -> None:
        async def send_then_drain(message: Message) -> None:
            if message["type"] != "http.response.body" or not more_comes:
                await send(message)
                return
            # The server closes the connection when the answer ends, so it ends after the body.
            await send({**message, "more_body": True})
            await _drain(receive)
            await send({"type": "http.response.body", "body": b""})

        await problem(*self._too_large(), headers={"connection": "close"})(scope, receive, send_then_drain)

    def _host_allowed(self, header: bytes) -> bool:
        if header in self._known_hosts:
            return True
        host = header.decode("latin-1").lower()
        name = _host_name(host)
        allowed = (
            is_loopback(name)
            or name in self._allowed_hosts
            or host in self._allowed_hosts
            # A rebinding attack comes under a name; an address was typed by whoever knows it.
            or (self._any_address and _is_address(name))
        )
        if allowed and len(self._known_hosts) < _MAX_KNOWN:
            self._known_hosts.add(header)
        return allowed

    def _origin_allowed(self, header: bytes, host: bytes) -> bool:
        origin = header.decode("latin-1").lower().rstrip("/")
        if origin in self._allowed_origins:
            return True
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        if parts.scheme not in ("http", "https"):
            return False
        return is_loopback(_host_name(parts.netloc)) or parts.netloc == host.decode("latin-1").lower()


def read_token(config: ServerConfig) -> str | None:
    """The bearer token that `server.token_env` refers to, or None if the key is not set.

    Raises ConfigError if the variable is missing or empty: the gateway would be open by mistake.
    """
    if config.token_env is None:
        return None
    token = os.environ.get(config.token_env, "").strip()
    if not token:
        raise ConfigError(f"server.token_env: the environment variable '{config.token_env}' is not set or empty")
    return token


def check_bind(config: ServerConfig, insecure: bool = False) -> None:
    """Refuse to listen where other machines reach the gateway, unless it asks them for a token.

    Raises ConfigError, also for a token variable that is not set; `insecure` lifts the first rule only.
    """
    token = read_token(config)
    if token is None and not insecure and not is_loopback(config.host):
        raise ConfigError(
            f"server.host: '{config.host}' can be reached from other machines and anybody there could run tools; "
            "name a token variable in server.token_env, or pass --insecure if the network keeps strangers out"
        )


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine's own, reachable from nowhere else."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _host_name(host: str) -> str:
    """A Host header without its port, an IPv6 address without its brackets; empty if it is malformed."""
    matched = _HOST.fullmatch(host)
    return "" if matched is None else matched["address"] or matched["name"]


def _refusal_headers(status_code: int) -> dict[str, str]:
    if status_code == 401:
        return {"www-authenticate": "Bearer"}
    return {}


async def _drain(receive: Receive) -> None:
    """Drop what is left of a request's body, up to a size and a time."""
    drained = 0
    with anyio.move_on_after(_MAX_DRAIN_S):
        while drained <= _MAX_DRAINED_BYTES:
            message = await receive()
            if message["type"] != "http.request" or not message.get("more_body", False):
                return
            drained += len(message.get("body", b""))


class _BodyTooLarge(Exception):
    """A body grew past the limit; never leaves this module."""
