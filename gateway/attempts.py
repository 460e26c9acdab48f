"""Running a tool: a timeout for each attempt, and another attempt where a replay is safe."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

import anyio
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_random_exponential

from turngate.gateway.deadline import Deadline
from turngate.gateway.errors import CallFailure, cancelled, failure_of
from turngate.gateway.policy import EffectivePolicy
from turngate.tools import CallStats, Status, ToolOutput

__all__ = ["run_attempts"]

_log = logging.getLogger("turngate.gateway")

_STOP_GRACE_S: Final = 1.0
"""Seconds that a cancelled tool has to clean up before the call goes on without it."""

_BACKOFF = wait_random_exponential(multiplier=0.1, max=5.0)
_TRANSIENT = frozenset({Status.UNAVAILABLE, Status.TIMEOUT})


async def run_attempts(
    attempt: Callable[[float], Awaitable[ToolOutput]],
    *,
    tool_name: str,
    policy: EffectivePolicy,
    deadline: Deadline,
    stats: CallStats,
) -> ToolOutput:
    """Run `attempt(timeout_s)` until it succeeds or must not be tried again.

    Another attempt follows only a transient failure (unavailable, timeout, or an error marked
    retryable), only if a replay is safe (the policy says so, or the request never left), and only
    if the wait before it ends within the deadline. `stats.attempts` and `stats.run_s` are written.

    Raises CallFailure with the last attempt's reason. Cancellation passes through.
    """
    started_s = anyio.current_time()
    first: list[CallFailure] = []

    async def once() -> ToolOutput:
        if first:
            raise first.pop()
        stats.attempts += 1
        return await _one_attempt(attempt, tool_name, policy.timeout_s, deadline)

    def wait_s(state: RetryCallState) -> float:
        failure = _failure(state)
        asked_s = failure.retry_after_s if failure and failure.retry_after_s is not None else 0.0
        return max(asked_s, _BACKOFF(state))

    def stop(state: RetryCallState) -> bool:
        return deadline.remaining_s() <= state.upcoming_sleep

    retrying = AsyncRetrying(
        retry=retry_if_exception(lambda raised: _may_replay(raised, policy)),
        stop=lambda state: stop_after_attempt(policy.max_attempts)(state) or stop(state),
        wait=wait_s,
        sleep=anyio.sleep,
        reraise=True,
    )
    try:
        # Nearly every call succeeds at once, and tenacity would double its cost: it comes in with the first failure.
        try:
            return await once()
        except CallFailure as failure:
            if policy.max_attempts == 1 or not _may_replay(failure, policy):
                raise
            first.append(failure)
        return await retrying(once)
    finally:
        stats.run_s = anyio.current_time() - started_s


async def _one_attempt(
    attempt: Callable[[float], Awaitable[ToolOutput]], tool_name: str, timeout_s: float, deadline: Deadline
) -> ToolOutput:
    """Run one attempt as a task of its own, so that nothing a tool does to its task reaches the caller's.

    Whatever the tool raises leaves as a CallFailure, the caller's cancellation as itself.
    """
    allowed_s = min(timeout_s, deadline.remaining_s())
    task = asyncio.create_task(_outcome(attempt, allowed_s, tool_name))
    try:
        done, _ = await asyncio.wait({task}, timeout=allowed_s)
    except asyncio.CancelledError:
        await _stop(task, tool_name)
        raise
    if not done:
        await _stop(task, tool_name)
        raise CallFailure(
            Status.TIMEOUT,
            "timeout",
            f"The tool '{tool_name}' did not answer within {allowed_s:.3g} s and was stopped. "
            "Ask for less work in one call, or try another way.",
            retryable=True,
        )
    if task.cancelled():  # by the tool itself, as a broken upstream connection can do
        raise cancelled(tool_name)
    outcome = task.result()
    if isinstance(outcome, CallFailure):
        raise outcome
    return outcome


async def _outcome(
    attempt: Callable[[float], Awaitable[ToolOutput]], allowed_s: float, tool_name: str
) -> ToolOutput | CallFailure:
    """Returned, not raised: SystemExit and its kind would end the event loop when they left a task."""
    try:
        return await attempt(allowed_s)
    except asyncio.CancelledError:
        raise
    except BaseException as raised:
        return failure_of(raised, tool_name)


async def _stop(task: asyncio.Task[ToolOutput | CallFailure], tool_name: str) -> None:
    """Cancel a tool and give it a moment to clean up; one that ignores it is left behind."""
    task.cancel()
    with anyio.CancelScope(shield=True):
        done, _ = await asyncio.wait({task}, timeout=_STOP_GRACE_S)
    if not done:
        _log.error("tool '%s' ignores its cancellation; it is left running", tool_name)


def _failure(state: RetryCallState) -> CallFailure | None:
    raised = state.outcome.exception() if state.outcome is not None else None
    return raised if isinstance(raised, CallFailure) else None


def _may_replay(raised: BaseException, policy: EffectivePolicy) -> bool:
    if not isinstance(raised, CallFailure):
        return False
    transient = raised.error.retryable and (raised.status in _TRANSIENT or raised.status is Status.TOOL_ERROR)
    return transient and (policy.replay_safe or raised.never_sent)
