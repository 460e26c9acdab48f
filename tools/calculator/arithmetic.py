"""The four operations, remainders and comparison, exact as long as both operands allow it."""

from __future__ import annotations

from fractions import Fraction

from mpmath import libmp

from turngate.tools.calculator.budget import FRACTION_BITS, Work, require_bits
from turngate.tools.calculator.errors import Unsettled, fail
from turngate.tools.calculator.values import (
    Approx,
    Closed,
    Value,
    approximate,
    closed,
    fraction,
    magnitude,
    rational,
    raw_of,
)

__all__ = ["add", "compare", "divide", "floor", "floor_divide", "modulo", "multiply", "negate", "subtract"]

_FREE_BITS = 1_000
"""Operands up to this size cost nothing worth counting."""
_SURE_BITS = 80
"""Bits that must be left after a difference, and beyond the point in a rounding."""
_SAME_BITS = 60
"""Leading bits in which two passes must find the same number next to zero."""


def negate(a: Value) -> Value:
    """Return -a."""
    if isinstance(a, Closed):
        return Closed(-a.coefficient, a.root, a.pi, a.e)
    if isinstance(a, Approx):
        return Approx(libmp.mpf_neg(a.raw))
    return -a


def add(a: Value, b: Value, work: Work) -> Value:
    """Return a + b."""
    if type(a) is int and type(b) is int:
        total = a + b
        require_bits(total.bit_length(), "The sum")
        return total
    if isinstance(a, int | Fraction) and isinstance(b, int | Fraction):
        _spend_fractions(a, b, work)
        return fraction(Fraction(a + b), work)
    if a == 0:
        return b
    if b == 0:
        return a
    if isinstance(a, Closed) and isinstance(b, Closed) and a.basis == b.basis:
        return closed(rational(Fraction(a.coefficient + b.coefficient)), *a.basis)
    return approximate(_sum(a, b, work), work)


def subtract(a: Value, b: Value, work: Work) -> Value:
    """Return a - b."""
    return add(a, negate(b), work)


def _sum(a: Value, b: Value, work: Work) -> tuple[int, int, int, int]:
    """Return the rounded sum. Raises Unsettled when its digits have cancelled."""
    x, y = raw_of(a, work), raw_of(b, work)
    work.spend(1_000)
    total: tuple[int, int, int, int] = libmp.mpf_add(x, y, work.precision, "n")
    largest = max(magnitude(x), magnitude(y))
    if total[1] == 0 or magnitude(total) < largest - work.precision + _SURE_BITS:
        if not work.last:
            raise Unsettled
        work.snapped = True
        return libmp.fzero  # type: ignore[no-any-return]
    return total


def multiply(a: Value, b: Value, work: Work) -> Value:
    """Return a * b."""
    if type(a) is int and type(b) is int:
        bits = a.bit_length() + b.bit_length()
        if bits > _FREE_BITS:
            require_bits(bits - 1, "The product")
            work.spend_multiplication(a.bit_length(), b.bit_length())
        return a * b
    if isinstance(a, int | Fraction) and isinstance(b, int | Fraction):
        _spend_fractions(a, b, work)
        return fraction(Fraction(a * b), work)
    if a == 0 or b == 0:
        return 0
    if isinstance(a, Approx) or isinstance(b, Approx):
        return _multiply_rounded(a, b, work)
    work.spend(8_000)
    if not isinstance(a, Closed):
        a = Closed(a)
    if not isinstance(b, Closed):
        b = Closed(b)
    shared = _common(a.root, b.root)
    coefficient = Fraction(a.coefficient) * Fraction(b.coefficient) * shared
    pi, e = a.pi + b.pi, a.e + b.e
    if (
        max(abs(pi), abs(e)) > 10_000
        or max(coefficient.numerator.bit_length(), coefficient.denominator.bit_length()) > 500
    ):
        return _multiply_rounded(a, b, work)
    return closed(rational(coefficient), (a.root // shared) * (b.root // shared), pi, e)


def _common(a: int, b: int) -> int:
    """Return the greatest common divisor of two roots."""
    while b:
        a, b = b, a % b
    return a


def _multiply_rounded(a: Value, b: Value, work: Work) -> Value:
    work.spend(1_000)
    return approximate(libmp.mpf_mul(raw_of(a, work), raw_of(b, work), work.precision, "n"), work)


def divide(a: Value, b: Value, work: Work) -> Value:
    """Return a / b. Raises ToolFailed (division_by_zero)."""
    if b == 0:
        raise fail("division_by_zero", "Division by zero.")
    if type(a) is int and type(b) is int:
        a_bits, b_bits = a.bit_length(), b.bit_length()
        if a_bits + b_bits > _FREE_BITS:
            work.spend_quadratic(max(a_bits - b_bits, 0), b_bits)
            quotient, remainder = divmod(a, b)
            if not remainder:
                return quotient
            if max(a_bits, b_bits) > FRACTION_BITS:
                return _divide_rounded(a, b, work)
            work.spend_quadratic(a_bits, b_bits)
        return rational(Fraction(a, b))
    if isinstance(a, int | Fraction) and isinstance(b, int | Fraction):
        _spend_fractions(a, b, work)
        return fraction(Fraction(a) / b, work)
    if isinstance(a, Approx) or isinstance(b, Approx):
        return _divide_rounded(a, b, work)
    if isinstance(b, Closed):
        b = Closed(1 / Fraction(b.coefficient * b.root), b.root, -b.pi, -b.e)
        return multiply(a, b, work)
    return multiply(a, rational(1 / Fraction(b)), work)


def _divide_rounded(a: Value, b: Value, work: Work) -> Value:
    work.spend(2_000)
    if a == 0:
        return 0
    return approximate(libmp.mpf_div(raw_of(a, work), raw_of(b, work), work.precision, "n"), work)


def _spend_fractions(a: int | Fraction, b: int | Fraction, work: Work) -> None:
    """Pay for an operation of two rationals; refuse what is too long to begin with."""
    bits = a.numerator.bit_length() + a.denominator.bit_length() + b.numerator.bit_length() + b.denominator.bit_length()
    work.spend(3_000)
    if bits > _FREE_BITS:
        work.spend_quadratic(bits, bits)


def floor(a: Value, work: Work) -> int:
    """Return the greatest integer that is not above a.

    An approximation within the noise of an integer counts as that integer, but one next to zero
    keeps its sign when two passes find the same number. Raises Unsettled when the pass carries too
    few digits to tell.
    """
    if isinstance(a, int):
        return a
    if isinstance(a, Fraction):
        return a.numerator // a.denominator
    raw = raw_of(a, work)
    size = magnitude(raw)
    require_bits(size, "The rounded number")
    if size > work.precision - _SURE_BITS:
        if not work.last:
            raise Unsettled
        raise fail("too_large", "The number is too large to be rounded to an integer exactly.")
    nearest = int(libmp.to_int(raw, "n"))
    noise = libmp.mpf_abs(libmp.mpf_sub(raw, libmp.from_int(nearest), work.precision, "n"))
    if nearest == 0 and isinstance(a, Closed):
        return -1 if raw[0] else 0
    if noise[1] == 0 or magnitude(noise) < max(size, 0) - work.precision + _SURE_BITS:
        if nearest == 0:
            if any(_same(raw, seen) for seen in work.tiny):
                return -1 if raw[0] else 0
            work.tiny.append(raw)
        if not work.last:
            raise Unsettled
        work.snapped = True
        return nearest
    return int(libmp.to_int(raw, "f"))


def _same(x: tuple[int, int, int, int], y: tuple[int, int, int, int]) -> bool:
    """Tell whether two numbers agree in the leading bits, as noise of two passes does not."""
    difference = libmp.mpf_sub(x, y, 64, "n")
    return bool(difference[1] == 0) or magnitude(difference) < magnitude(x) - _SAME_BITS


def floor_divide(a: Value, b: Value, work: Work) -> Value:
    """Return the floor of a / b."""
    if type(a) is int and type(b) is int and b:
        bits = b.bit_length()
        work.spend_quadratic(max(a.bit_length() - bits, 0), bits)
        return a // b
    return floor(divide(a, b, work), work)


def modulo(a: Value, b: Value, work: Work) -> Value:
    """Return the remainder of the floored division, which has the sign of b."""
    if b == 0:
        raise fail("division_by_zero", "Remainder of a division by zero.")
    if type(a) is int and type(b) is int:
        bits = b.bit_length()
        work.spend_quadratic(max(a.bit_length() - bits, 0), bits)
        return a % b
    return subtract(a, multiply(b, floor_divide(a, b, work), work), work)


def compare(a: Value, b: Value, work: Work) -> int:
    """Return -1, 0 or 1 for a < b, a = b, a > b.

    Approximations that agree in all the digits of the last pass count as equal.
    """
    if isinstance(a, int | Fraction) and isinstance(b, int | Fraction):
        if type(a) is not int or type(b) is not int:
            _spend_fractions(a, b, work)
        return (a > b) - (a < b)
    if isinstance(a, Closed) and isinstance(b, Closed) and a == b:
        return 0
    if a == 0 or b == 0:
        x, y = raw_of(a, work), raw_of(b, work)
        return int(libmp.mpf_cmp(x, y))
    total = _sum(a, negate(b), work)
    return 0 if total[1] == 0 else (-1 if total[0] else 1)
