"""What can go wrong inside the call path, and how it becomes a result.

    CallFailure               carries a status and a `CallError`; `Gateway.call` turns it into a result
    ConfigError               a person's mistake: names the file and the key (raised at start-up only)

`failure_of` is the one place that maps what a tool raised to a `CallFailure`.
"""

from __future__ import annotations

import logging

from turngate.tools import CallError, Status, ToolDenied, ToolError, ToolUnavailable

__all__ = ["CallFailure", "ConfigError", "failure_of"]

_log = logging.getLogger("turngate.gateway")


class ConfigError(Exception):
    """The configuration cannot be used; the message names file and key. The person's fault."""


class CallFailure(Exception):
    """A call that ends with a status other than `ok`, wherever in the call path that was decided."""

    def __init__(
        self,
        status: Status,
        type: str,
        message: str,
        *,
        retryable: bool = False,
        never_sent: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error = CallError(type=type, message=message, retryable=retryable)
        self.never_sent = never_sent
        self.retry_after_s = retry_after_s


def cancelled(tool_name: str) -> CallFailure:
    """The failure of a call that was stopped from outside."""
    return CallFailure(
        Status.CANCELLED, "cancelled", f"The call of '{tool_name}' was cancelled before it ended.", retryable=True
    )


def failure_of(raised: BaseException, tool_name: str) -> CallFailure:
    """Map what a tool raised. Only the log sees an unexpected exception's traceback."""
    if isinstance(raised, CallFailure):
        return raised
    if isinstance(raised, BaseExceptionGroup) and len(raised.exceptions) == 1:
        return failure_of(raised.exceptions[0], tool_name)
    if isinstance(raised, ToolUnavailable):
        return CallFailure(
            Status.UNAVAILABLE,
            raised.type,
            raised.message,
            retryable=raised.retryable,
            never_sent=raised.never_sent,
            retry_after_s=raised.retry_after_s,
        )
    if isinstance(raised, ToolError):
        status = Status.DENIED if isinstance(raised, ToolDenied) else Status.TOOL_ERROR
        return CallFailure(status, raised.type, raised.message, retryable=raised.retryable)
    _log.error("tool '%s' raised an unexpected error", tool_name, exc_info=raised)
    return CallFailure(
        Status.INTERNAL,
        "internal",
        f"The tool '{tool_name}' failed because of a fault in the tool itself, not in your call. "
        "Try another way, or go on without it.",
    )
