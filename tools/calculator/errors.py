"""What the calculator refuses: one `ToolFailed`, told apart by `type`.

syntax            not an expression that the calculator reads
ambiguous         two readings with different answers; the message shows both spellings
division_by_zero
domain            no real answer (`sqrt(-1)`, `asin(2)`), or an argument of the wrong kind
too_large         a number, or the work to find it, is beyond the limits
too_long          too many characters
too_deep          too many nested brackets
unknown_name      a name that is no function or constant; there are no variables
unsupported       algebra, programs, text, units: what a calculator is not
"""

from __future__ import annotations

from typing import Literal

from turngate.tools.errors import ToolFailed

__all__ = ["Problem", "TooMuchWork", "Unsettled", "clip", "fail"]

Problem = Literal[
    "syntax",
    "ambiguous",
    "division_by_zero",
    "domain",
    "too_large",
    "too_long",
    "too_deep",
    "unknown_name",
    "unsupported",
]


class TooMuchWork(ToolFailed):
    """The expression costs more than its budget; with a larger budget it may still be answered."""

    default_type = "too_large"


class Unsettled(Exception):
    """A step needs more digits than this pass carries; the next pass carries more."""


def fail(type: Problem, message: str) -> ToolFailed:
    """Return the error that tells the model what is wrong and what to write instead."""
    return ToolFailed(message, type=type)


def clip(text: str, length: int = 40) -> str:
    """Return `text` short enough to be shown inside a message."""
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length // 2] + " … " + text[-(length // 2 - 3) :]
