"""The limits, and the budget that every expensive step asks before it computes.

Costs are estimated nanoseconds on a 2020s server core. They are computed from operand sizes, never
measured, so that an expression is answered or refused identically on every machine.
"""

from __future__ import annotations

from turngate.tools.calculator.errors import TooMuchWork, fail

__all__ = [
    "FRACTION_BITS",
    "FULL_WORK",
    "INLINE_WORK",
    "MAX_BITS",
    "MAX_CHARACTERS",
    "MAX_DEPTH",
    "MAX_DIGITS",
    "MAX_EXPONENT_BITS",
    "MAX_NESTING",
    "MAX_SHOWN_DIGITS",
    "MAX_STEP",
    "MAX_TOKENS",
    "PRECISIONS",
    "Work",
    "digits_of_bits",
    "require_bits",
]

MAX_CHARACTERS = 10_000
MAX_TOKENS = 5_000
MAX_NESTING = 100
"""Brackets open at the same time."""
MAX_DEPTH = 200
"""Operands open at the same time; bounds the recursion of the parser and the evaluator."""
MAX_DIGITS = 20_000
"""Digits of any integer on the way to the answer."""
MAX_BITS = 66_439
MAX_SHOWN_DIGITS = 4_000
"""Digits of an integer that is the answer."""
FRACTION_BITS = 10_000
"""A fraction with a longer numerator or denominator goes on as an approximation."""
MAX_EXPONENT_BITS = 40
"""Approximations lie between 2**-(2**40) and 2**(2**40)."""
PRECISIONS = (170, 256, 600, 1200)
"""Bits carried in successive passes, until two of them agree. 170 bits are 51 digits."""

INLINE_WORK = 2_000_000
FULL_WORK = 100_000_000
MAX_STEP = 25_000_000
"""The most that a single step may cost, since it holds the interpreter."""


class Work:
    """One evaluation: what it may still cost, and how many bits approximations carry."""

    __slots__ = ("approximated", "last", "left", "precision", "snapped", "tiny")

    def __init__(self, left: int = FULL_WORK) -> None:
        self.left = left
        self.precision = PRECISIONS[0]
        self.last = False
        """No pass with more bits will follow."""
        self.approximated = False
        """A step of this pass was rounded."""
        self.snapped = False
        """A difference was taken for zero because nothing else was left in 300 digits."""
        self.tiny: list[tuple[int, int, int, int]] = []
        """Numbers next to zero that a pass was to round down, and could not tell from noise."""

    def spend(self, cost: float) -> None:
        """Take `cost` from the budget. Raises TooMuchWork when it is used up, or the step is too long."""
        self.left -= int(cost)
        if self.left < 0 or cost > MAX_STEP:
            raise TooMuchWork(
                "This expression takes too much work for the calculator. Use smaller numbers or fewer operations, "
                "or use a code tool."
            )

    def spend_multiplication(self, a_bits: int, b_bits: int) -> None:
        """Pay for the product of two integers (Karatsuba)."""
        small, large = (a_bits, b_bits) if a_bits < b_bits else (b_bits, a_bits)
        small, large = small // 30 + 1, large // 30 + 1
        self.spend(13 * large * small**0.585)

    def spend_quadratic(self, a_bits: int, b_bits: int) -> None:
        """Pay for a division, a greatest common divisor or a conversion to decimal digits."""
        self.spend(2 * (a_bits // 30 + 1) * (b_bits // 30 + 1))

    def spend_approximation(self) -> None:
        """Pay for one elementary function at the current precision."""
        self.spend(self.precision * 160)


def digits_of_bits(bits: float) -> int:
    """Return about how many decimal digits an integer of so many bits has."""
    return int(bits * 0.30103) + 1


def require_bits(bits: float, what: str, hint: str = "") -> None:
    """Refuse an integer that would have more than `MAX_BITS` bits. Raises ToolFailed (too_large)."""
    if bits > MAX_BITS:
        size = f"about {digits_of_bits(bits)} digits" if bits < 1e15 else "an astronomical number of digits"
        raise fail(
            "too_large",
            f"{what} has {size}; the calculator works with integers of up to {MAX_DIGITS} digits.{hint}",
        )
