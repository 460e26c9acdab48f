"""Stopping work whose client has gone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from starlette.types import Receive

__all__ = ["until_disconnect"]

T = TypeVar("T")

_PATIENCE_S = 0.05
"""Work that ends sooner is not watched: a watching task costs as much as a quick call."""


async def until_disconnect(receive: Receive, work: Callable[[], Awaitable[T]]) -> T | None:
    """The result of `work`, or None if the client went away, which cancels `work`.

    The request's body must have been read: whatever else arrives on `receive` is dropped.
    """
    loop = asyncio.get_running_loop()
    watcher: asyncio.Task[None] | None = None

    def watch() -> None:
        nonlocal watcher
        watcher = loop.create_task(_cancel_on_disconnect(receive, scope))

    with anyio.CancelScope() as scope:
        timer = loop.call_later(_PATIENCE_S, watch)
        try:
            return await work()
        finally:
            timer.cancel()
            if watcher is not None:
                watcher.cancel()
    return None


async def _cancel_on_disconnect(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
