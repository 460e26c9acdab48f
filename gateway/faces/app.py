"""One ASGI app with every face of one gateway."""

from __future__ import annotations

import importlib.metadata
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from turngate.gateway.config import GatewayConfig
from turngate.gateway.faces.mcp import McpFace
from turngate.gateway.faces.problem import CLIENT_GONE, problem
from turngate.gateway.faces.rest import RestFace
from turngate.gateway.faces.security import Security, read_token
from turngate.gateway.gateway import Gateway

__all__ = ["build_app"]


def build_app(gateway: Gateway, config: GatewayConfig) -> Starlette:
    """The app for one gateway; starting it opens the MCP face, stopping it closes the gateway.

    Raises ConfigError if the token that the configuration refers to cannot be read.
    """
    version = importlib.metadata.version("turngate")
    token = read_token(config.server)
    rest = RestFace(gateway, version)
    mcp = McpFace(gateway, version=version, max_request_bytes=config.server.max_request_bytes)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with mcp.run():
            try:
                yield
            finally:
                await gateway.aclose()

    return Starlette(
        routes=[*rest.routes(), Route("/mcp", mcp)],
        middleware=[Middleware(Security, config.server, token)],
        exception_handlers={HTTPException: _http_problem, ClientDisconnect: _gone, Exception: _fault},
        lifespan=lifespan,
    )


async def _http_problem(request: Request, raised: Exception) -> Response:
    """404 and 405, in the same shape as every other problem."""
    assert isinstance(raised, HTTPException)
    return problem(raised.status_code, "http", f"{raised.detail}.", headers=raised.headers)


async def _gone(request: Request, raised: Exception) -> Response:
    """The client left before it had sent its body; nobody reads this, and no log needs it."""
    return Response(status_code=CLIENT_GONE)


async def _fault(request: Request, raised: Exception) -> Response:
    """A fault of ours; the server's log gets the traceback."""
    return problem(500, "internal", "The gateway failed because of a fault of its own; its log says more.")
