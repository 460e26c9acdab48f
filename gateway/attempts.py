"""Running a tool: a timeout for each attempt, and another attempt where a replay is safe."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_random_exponential

from turngate.gateway.deadline import Deadline
from turngate.gateway.errors import CallFailure, failure_of
from turngate.gateway.policy import EffectivePolicy
from turngate.tools import CallStats, Status, ToolOutput

__all__ = ["run_attempts"]

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
    """Run one attempt; whatever it raises leaves as a CallFailure, cancellation as itself."""
    allowed_s = min(timeout_s, deadline.remaining_s())
    with anyio.move_on_after(allowed_s) as scope:
        try:
            return await attempt(allowed_s)
        except (Exception, SystemExit) as raised:
            # SystemExit: a tool's code may call sys.exit(); it must not end the gateway.
            raise failure_of(raised, tool_name) from raised
    assert scope.cancelled_caught
    raise CallFailure(
        Status.TIMEOUT,
        "timeout",
        f"The tool '{tool_name}' did not answer within {allowed_s:.3g} s and was stopped. "
        "Ask for less work in one call, or try another way.",
        retryable=True,
    )


def _failure(state: RetryCallState) -> CallFailure | None:
    raised = state.outcome.exception() if state.outcome is not None else None
    return raised if isinstance(raised, CallFailure) else None


def _may_replay(raised: BaseException, policy: EffectivePolicy) -> bool:
    if not isinstance(raised, CallFailure):
        return False
    transient = raised.error.retryable and (raised.status in _TRANSIENT or raised.status is Status.TOOL_ERROR)
    return transient and (policy.replay_safe or raised.never_sent)
