"""What an expression may be worth: a rational, a closed form, an approximation, or a truth value.

int, Fraction    exact rationals; a Fraction is never whole
Closed           exact: c·√n·π^k·e^m, so that sin(π/6), √2·√2 and ln(e^3) come out exact
Approx           rounded to the bits of the pass, as mpmath's raw tuple
bool             the answer of a comparison; never an operand
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from mpmath import libmp

from turngate.tools.calculator.budget import FRACTION_BITS, MAX_EXPONENT_BITS, Work
from turngate.tools.calculator.errors import fail

__all__ = [
    "Approx",
    "Closed",
    "Rational",
    "Raw",
    "Value",
    "approximate",
    "closed",
    "fraction",
    "magnitude",
    "ratio",
    "rational",
    "raw_of",
]

Rational: TypeAlias = int | Fraction
Raw: TypeAlias = Any
"""mpmath's (sign, mantissa, exponent, bits)."""


@dataclass(frozen=True, slots=True)
class Closed:
    """`coefficient * sqrt(root) * pi**pi * e**e`; at least one factor is irrational."""

    coefficient: Rational
    root: int = 1
    pi: int = 0
    e: int = 0

    @property
    def basis(self) -> tuple[int, int, int]:
        """The irrational factor; values of one basis add up exactly."""
        return (self.root, self.pi, self.e)


class Approx:
    """A number rounded to the bits of the pass; never zero."""

    __slots__ = ("raw",)

    def __init__(self, raw: Raw) -> None:
        self.raw = raw


Value: TypeAlias = int | Fraction | Closed | Approx


def rational(value: Fraction) -> Rational:
    """Return a fraction, as an int when it is whole."""
    return value.numerator if value.denominator == 1 else value


def fraction(value: Fraction, work: Work) -> Value:
    """Return a fraction as a value: whole, exact, or rounded when it is too long to go on exactly."""
    if value.denominator == 1:
        return value.numerator
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > FRACTION_BITS:
        return approximate(raw_of(value, work), work)
    return value


def closed(coefficient: Rational, root: int = 1, pi: int = 0, e: int = 0) -> Rational | Closed:
    """Return a closed form in its simplest type."""
    if coefficient == 0 or (root == 1 and pi == 0 and e == 0):
        return coefficient
    return Closed(coefficient, root, pi, e)


def ratio(numerator: int, denominator: int) -> Rational:
    """Return the quotient of two small integers."""
    return rational(Fraction(numerator, denominator))


def raw_of(value: Value, work: Work, extra: int = 0) -> Raw:
    """Return a value rounded to the bits of the pass plus `extra`."""
    work.approximated = True
    bits = work.precision + extra
    if type(value) is int:
        return libmp.from_int(value, bits, "n")
    if isinstance(value, Approx):
        return value.raw
    if isinstance(value, Closed):
        work.spend(bits * 60)
        return _raw_of_closed(value, bits + 20, bits)
    assert isinstance(value, Fraction)
    return libmp.from_rational(value.numerator, value.denominator, bits, "n")


def _raw_of_closed(value: Closed, bits: int, result_bits: int) -> Raw:
    coefficient = value.coefficient
    raw = libmp.from_rational(coefficient.numerator, coefficient.denominator, bits, "n")
    if value.root != 1:
        raw = libmp.mpf_mul(raw, libmp.mpf_sqrt(libmp.from_int(value.root), bits, "n"), bits, "n")
    if value.pi:
        raw = libmp.mpf_mul(raw, libmp.mpf_pow_int(libmp.mpf_pi(bits + 20), value.pi, bits, "n"), bits, "n")
    if value.e:
        raw = libmp.mpf_mul(raw, libmp.mpf_exp(libmp.from_int(value.e), bits, "n"), bits, "n")
    return libmp.mpf_pos(raw, result_bits, "n")


def magnitude(raw: Raw) -> int:
    """Return n with 2**(n-1) <= |raw| < 2**n."""
    return int(raw[2] + raw[3])


def approximate(raw: Raw, work: Work) -> Value:
    """Return a rounded result as a value. Raises ToolFailed when it is beyond all limits."""
    work.approximated = True
    if raw[1] == 0:
        if raw == libmp.fzero:
            return 0
        raise fail("domain", "The result is not a finite real number.")
    if abs(magnitude(raw)).bit_length() > MAX_EXPONENT_BITS:
        size = "large" if magnitude(raw) > 0 else "close to zero"
        raise fail("too_large", f"The result is too {size} for the calculator, even as an approximation.")
    return Approx(raw)
