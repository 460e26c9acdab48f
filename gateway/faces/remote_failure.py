"""What can go wrong between a client and the REST face, told twice: to the model and to the person.

The counterpart of `rest.py` and `security.py`. `mapped_httpx_errors` is the one place where httpx's exceptions
become ours, `refused` the one place where an HTTP status does.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from pydantic import BaseModel, ValidationError

from turngate.gateway.errors import CallFailure
from turngate.tools import CallError, Status

__all__ = ["RemoteFailure", "mapped_httpx_errors", "no_answer_in", "not_understood", "refused"]

_MAX_DETAIL = 300
_UNAVAILABLE_STATUS = frozenset({429, 502, 503, 504})
_DENIED_STATUS = frozenset({401, 403, 421})


class RemoteFailure(CallFailure):
    """A call that brought no result; `detail` is for the log and for the person who runs the client."""

    def __init__(
        self,
        status: Status,
        type: str,
        message: str,
        detail: str,
        *,
        retryable: bool = False,
        never_sent: bool = False,
    ) -> None:
        super().__init__(status, type, message, retryable=retryable, never_sent=never_sent)
        self.detail = detail[:_MAX_DETAIL]

    def __str__(self) -> str:
        return self.detail


@contextmanager
def mapped_httpx_errors() -> Iterator[None]:
    """Let httpx's exceptions leave the block as RemoteFailure.

    `never_sent` only where no connection was there to send anything on.
    """
    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as raised:
        raise RemoteFailure(
            Status.UNAVAILABLE,
            "unreachable",
            "The tool gateway cannot be reached, so the tool did not run. Try again later, or go on without it.",
            f"no connection: {_text(raised)}",
            retryable=True,
            never_sent=True,
        ) from raised
    except httpx.TimeoutException as raised:
        raise no_answer_in(None, _text(raised)) from raised
    except httpx.TransportError as raised:
        raise RemoteFailure(
            Status.UNAVAILABLE,
            "connection_lost",
            "The connection to the tool gateway broke before the answer came; the tool may have run or not. "
            "Check before you repeat a call that changes something.",
            f"connection lost: {_text(raised)}",
            retryable=True,
        ) from raised
    except httpx.HTTPError as raised:
        raise not_understood(_text(raised)) from raised


def no_answer_in(seconds: float | None, detail: str = "") -> RemoteFailure:
    """The gateway holds a call beyond its deadline."""
    within = "in time" if seconds is None else f"within {seconds:.3g} s"
    return RemoteFailure(
        Status.TIMEOUT,
        "gateway_timeout",
        f"The tool gateway did not answer {within}; the tool may have run or not. Try again later, or another way.",
        f"no answer {within}" + (f": {detail}" if detail else ""),
        retryable=True,
    )


def not_understood(detail: str) -> RemoteFailure:
    """Something answered, but not as a gateway does."""
    return RemoteFailure(
        Status.INTERNAL,
        "protocol",
        "The tool gateway failed because of a fault of its own, not of your call. Go on without the tool.",
        f"not understood: {detail}",
    )


def refused(response: httpx.Response) -> RemoteFailure:
    """What an answer other than success means."""
    code = response.status_code
    told = _told(response)
    detail = f"HTTP {code}: {told}"
    if code in _DENIED_STATUS:
        message = "The tool gateway does not accept calls from here. No tool can be used; go on without tools."
        return RemoteFailure(Status.DENIED, "denied", message, detail)
    if code == 413:
        message = f"The call is too large to send. Send less in one call. {told}"
        return RemoteFailure(Status.INVALID_ARGUMENTS, "too_large", message, detail)
    if code in _UNAVAILABLE_STATUS:
        message = "The tool gateway is not available now. Try again later, or go on without the tool."
        return RemoteFailure(Status.UNAVAILABLE, "unavailable", message, detail, retryable=True)
    return not_understood(detail)


class _Problem(BaseModel):
    error: CallError


def _told(response: httpx.Response) -> str:
    """The message of `problem`, or what is there instead of one."""
    try:
        return _Problem.model_validate_json(response.content).error.message
    except ValidationError:
        return response.reason_phrase or "no reason given"


def _text(raised: Exception) -> str:
    return f"{type(raised).__name__}: {raised}" if str(raised) else type(raised).__name__
