"""What a tool may raise, and what the gateway makes of it.

    ToolError
    ├── ToolFailed        the tool ran and failed: status `tool_error`, the model reads the message
    ├── ToolUnavailable   what the tool needs is down: status `unavailable`, retryable
    └── ToolDenied        policy forbids it: status `denied`

Any other exception is a fault in the tool's code: status `internal`, the log gets the traceback
and the model a plain sentence.
"""

from __future__ import annotations

__all__ = ["ToolDenied", "ToolError", "ToolFailed", "ToolUnavailable"]


class ToolError(Exception):
    """A failure that the tool explains itself; `message` is shown to the model."""

    default_type = "tool_error"
    default_retryable = False

    def __init__(self, message: str, *, type: str | None = None, retryable: bool | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.type = type or self.default_type
        self.retryable = self.default_retryable if retryable is None else retryable


class ToolFailed(ToolError):
    """The tool ran and failed; the same call would fail again unless `retryable` says otherwise."""

    default_type = "tool_error"


class ToolUnavailable(ToolError):
    """Something that the tool depends on cannot be reached now."""

    default_type = "unavailable"
    default_retryable = True

    def __init__(
        self,
        message: str,
        *,
        type: str | None = None,
        retryable: bool | None = None,
        never_sent: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message, type=type, retryable=retryable)
        self.never_sent = never_sent
        """The request provably never left, so that a replay is safe for any tool."""
        self.retry_after_s = retry_after_s
        """Seconds that the upstream asked to wait, or None."""


class ToolDenied(ToolError):
    """A policy forbids this call."""

    default_type = "denied"
