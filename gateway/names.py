"""Tool names that every model provider accepts: ``[A-Za-z0-9_-]{1,64}``, unique, the same in every run."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Container

__all__ = ["safe_name"]

_MAX_LENGTH = 64
_HASH_LENGTH = 8
_VALID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_INVALID_CHARACTERS = re.compile(r"[^A-Za-z0-9_-]+")


def safe_name(name: str, taken: Container[str] = ()) -> str:
    """The name itself if it may be used, else a readable part of it with a hash of the whole.

    The suffix depends on `name` (and, for a collision, on how often it was taken), never on the
    order of start-up. Source of the limit: the function-name rule of the OpenAI API.
    """
    if _VALID.fullmatch(name) and name not in taken:
        return name
    stem = _INVALID_CHARACTERS.sub("_", name).strip("_") or "tool"
    for salt in range(1_000_000):
        digest = hashlib.sha256(f"{name}\0{salt}".encode("utf-8", "replace")).hexdigest()[:_HASH_LENGTH]
        candidate = f"{stem[: _MAX_LENGTH - _HASH_LENGTH - 1]}_{digest}"
        if candidate not in taken:
            return candidate
    raise ValueError(f"no free name for tool '{name}'")
