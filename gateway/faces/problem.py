"""What a client is told when its request could not be turned into a call: small JSON, never a traceback."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.responses import JSONResponse

__all__ = ["CLIENT_GONE", "problem"]

CLIENT_GONE: Final = 499
"""What the log says of a request whose client left; nginx's number, since HTTP has none."""


def problem(
    status_code: int, type: str, message: str, *, retryable: bool = False, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """An HTTP answer with the body `{"error": {"type", "message", "retryable"}}`."""
    body = {"error": {"type": type, "message": message, "retryable": retryable}}
    return JSONResponse(body, status_code, headers=headers)
