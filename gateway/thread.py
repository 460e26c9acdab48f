"""A gateway on a thread and event loop of its own, for callers whose loop must never wait.

An inference engine samples tokens on its event loop; a tool that ran there would stop every
trajectory. Here only the hand-over of a call and of its result touches the caller's loop. The
caller may come with a new loop each time (colocated training does).
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from turngate.gateway.gateway import ToolGateway
from turngate.tools import ToolCall, ToolResult, ToolSpec

__all__ = ["GatewayThread"]

_log = logging.getLogger("turngate.gateway")

T = TypeVar("T")

_CLOSE_TIMEOUT_S = 10.0


class GatewayThread:
    """Runs what `make` builds on a daemon thread; offers `ToolGateway` to any event loop."""

    def __init__(self, make: Callable[[], ToolGateway]) -> None:
        """Start the thread and build the gateway on it.

        Raises whatever `make` raises, for example ConfigError.
        """
        self._stopping = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="turngate-gateway", daemon=True)
        self._thread.start()
        try:
            self._gateway = self._submit(self._build(make)).result()
        except BaseException:
            self._stop()
            raise

    async def list_tools(self) -> list[ToolSpec]:
        """Every tool."""
        return await self._run(lambda: self._gateway.list_tools())

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one call on the gateway's thread."""
        return await self._run(lambda: self._gateway.call(call))

    async def call_many(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Run the calls of one turn on the gateway's thread."""
        return await self._run(lambda: self._gateway.call_many(calls))

    async def end_session(self, session: str) -> None:
        """Free a trajectory's state."""
        await self._run(lambda: self._gateway.end_session(session))

    def forget_session(self, session: str) -> None:
        """As `end_session`, without waiting for it: for a caller that is being cancelled itself."""
        if not self._stopping:
            self._submit(self._gateway.end_session(session))

    async def aclose(self) -> None:
        """Stop the gateway and its thread."""
        if self._stopping:
            return
        await self._run(lambda: self._gateway.aclose())
        self._stop()

    def close(self) -> None:
        """As `aclose`, for a caller without an event loop."""
        if self._stopping:
            return
        self._submit(self._gateway.aclose()).result(_CLOSE_TIMEOUT_S)
        self._stop()

    async def _run(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Await work on the gateway's loop; cancelling the awaiter cancels the work."""
        future: Awaitable[T] = asyncio.wrap_future(self._submit(work()))
        return await future

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    @staticmethod
    async def _build(make: Callable[[], ToolGateway]) -> ToolGateway:
        return make()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            while not self._stopping:
                try:
                    self._loop.run_forever()
                except BaseException:  # a task that a tool started can raise SystemExit through the loop
                    _log.exception("a tool tried to end the gateway's event loop; it goes on")
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    def _stop(self) -> None:
        self._stopping = True
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CLOSE_TIMEOUT_S)
