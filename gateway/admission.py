"""Who may run now: a tool's concurrency limit with a bounded queue in front."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from turngate.gateway.deadline import Deadline
from turngate.gateway.errors import CallFailure
from turngate.tools import CallStats, Status

__all__ = ["Admission"]


class Admission:
    """The places of one tool. First come, first served."""

    def __init__(self, tool_name: str, max_concurrency: int, max_queue: int) -> None:
        self.tool_name = tool_name
        self.max_queue = max_queue
        self.running = 0
        self.waiting = 0
        self._limiter = anyio.CapacityLimiter(max_concurrency)

    @asynccontextmanager
    async def place(self, deadline: Deadline, stats: CallStats) -> AsyncIterator[None]:
        """Hold a place for the block; the wait is written to `stats.queue_s`.

        Raises CallFailure: `overloaded` at once if the queue is full, `timeout` if the deadline
        passes while the call waits. In both cases the tool has not seen the call.
        """
        borrower = object()
        try:
            self._limiter.acquire_on_behalf_of_nowait(borrower)
        except anyio.WouldBlock:
            await self._wait(borrower, deadline, stats)
        self.running += 1
        try:
            yield
        finally:
            self.running -= 1
            self._limiter.release_on_behalf_of(borrower)

    async def _wait(self, borrower: object, deadline: Deadline, stats: CallStats) -> None:
        if self.waiting >= self.max_queue:
            raise CallFailure(
                Status.OVERLOADED,
                "queue_full",
                f"The tool '{self.tool_name}' is busy and {self.waiting} calls are waiting for it already. "
                "Try again later.",
                retryable=True,
                never_sent=True,
            )
        started_s = anyio.current_time()
        self.waiting += 1
        try:
            with anyio.move_on_after(deadline.remaining_s()) as scope:
                await self._limiter.acquire_on_behalf_of(borrower)
        finally:
            self.waiting -= 1
            stats.queue_s = anyio.current_time() - started_s
        if scope.cancelled_caught:
            raise CallFailure(
                Status.TIMEOUT,
                "queue_timeout",
                f"The tool '{self.tool_name}' is busy: the call waited {stats.queue_s:.1f} s for its turn, "
                "reached its deadline and was not run. Try again later.",
                retryable=True,
                never_sent=True,
            )
