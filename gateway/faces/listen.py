"""Serving the app on a port until the process is told to stop."""

from __future__ import annotations

import resource
import signal
import socket
import sys
from collections.abc import Callable
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from turngate.gateway.errors import ConfigError

__all__ = ["serve"]

_BACKLOG = 4096
_KEEPALIVE_S = 75
"""Idle seconds before the server closes a connection; longer than any client of ours keeps one."""
_GRACE_S = 10
"""Seconds that calls in flight get to end after a signal; then they are cancelled."""


def serve(app: ASGIApp, host: str, port: int, log_level: str, started: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT. `started(base_url)` is called when requests are answered.

    Raises ConfigError if the address cannot be taken. SystemExit(0) after a signal, SystemExit(3) if
    the app did not start.
    """
    _allow_many_files()
    listener = _bind(host, port)
    shown = f"[{host}]" if ":" in host else host
    base_url = f"http://{shown}:{listener.getsockname()[1]}"
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level=log_level,
        access_log=False,
        server_header=False,
        backlog=_BACKLOG,
        timeout_keep_alive=_KEEPALIVE_S,
        timeout_graceful_shutdown=_GRACE_S,
        ws="none",
        lifespan="on",
    )
    server = _Server(config, lambda: started(base_url))
    # uvicorn raises the signal again when it has shut down; a stop that was asked for is a success.
    signal.signal(signal.SIGTERM, _exit)
    signal.signal(signal.SIGINT, _exit)
    with listener:
        server.run(sockets=[listener])
    if not server.started:
        raise SystemExit(3)


class _Server(uvicorn.Server):
    """Says when it has started: uvicorn's own message goes to a log and names port 0."""

    def __init__(self, config: uvicorn.Config, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_started = on_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_started()


def _bind(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise ConfigError(f"server: cannot listen on {host}:{port}: {error.strerror or error}") from None


def _allow_many_files() -> None:
    """Each waiting call is a connection; the usual soft limit of 1,024 files would refuse the rest."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _exit(number: int, frame: FrameType | None) -> None:
    sys.exit(0)
