"""A point on the monotonic clock that a whole call must not pass."""

from __future__ import annotations

from dataclasses import dataclass

import anyio

__all__ = ["Deadline"]


@dataclass(frozen=True)
class Deadline:
    """`at_s` is in the event loop's clock (`anyio.current_time`), which never jumps."""

    at_s: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """The deadline that lies `seconds` from now."""
        return cls(anyio.current_time() + seconds)

    def remaining_s(self) -> float:
        """Seconds left; 0 when it has passed."""
        return max(0.0, self.at_s - anyio.current_time())
