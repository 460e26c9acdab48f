"""Stopping work whose client has gone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from starlette.types import Receive

__all__ = ["until_disconnect"]

T = TypeVar("T")


async def until_disconnect(receive: Receive, work: Callable[[], Awaitable[T]]) -> T | None:
    """The result of `work`, or None if the client went away, which cancels `work`.

    The request's body must have been read: whatever else arrives on `receive` is dropped.
    """
    result: T | None = None
    async with anyio.create_task_group() as group:
        group.start_soon(_cancel_on_disconnect, receive, group.cancel_scope)
        result = await work()
        group.cancel_scope.cancel()
    return result


async def _cancel_on_disconnect(receive: Receive, scope: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()
