"""A value to the text that a model reads, and to its exact form."""

from __future__ import annotations

from fractions import Fraction

from mpmath import libmp

from turngate.tools.calculator.budget import MAX_SHOWN_DIGITS, Work
from turngate.tools.calculator.errors import fail
from turngate.tools.calculator.literals import write_integer
from turngate.tools.calculator.values import Approx, Closed, Value, raw_of

__all__ = ["exact_text", "text_of"]

_DIGITS = 16
"""Significant digits of an approximation."""
_EXACT_DIGITS = 40
"""Significant digits up to which a terminating decimal is written in full."""
_MAX_PLACES = 1_000
_MAX_EXACT_LENGTH = 200
_MAX_SHOWN_BITS = int(MAX_SHOWN_DIGITS / 0.30102) + 4


def text_of(value: Value | bool, work: Work, *, full: bool = False) -> tuple[str, bool]:
    """Return the answer as text, and whether the text is rounded.

    `full`: a decimal was asked for with so many places; all of them are shown.
    """
    if isinstance(value, bool):
        return ("true" if value else "false"), False
    if isinstance(value, int):
        return _integer(value, work), False
    if isinstance(value, Fraction):
        decimal = _terminating(value, _MAX_PLACES if full else _EXACT_DIGITS)
        if decimal is not None:
            return decimal, False
    return _rounded(value, work), True


def exact_text(value: Value | bool, text: str) -> str | None:
    """Return the exact value in a form that the calculator reads, or None where it has none or is long."""
    if isinstance(value, bool | int):
        return text
    if isinstance(value, Approx):
        return None
    if isinstance(value, Fraction):
        if max(value.numerator.bit_length(), value.denominator.bit_length()) > 3 * _MAX_EXACT_LENGTH:
            return None
        exact = f"{value.numerator}/{value.denominator}"
    else:
        exact = _closed(value)
    return exact if len(exact) <= _MAX_EXACT_LENGTH else None


def _integer(value: int, work: Work) -> str:
    bits = value.bit_length()
    if bits < 12_000:
        return write_integer(value)
    work.spend_quadratic(bits, bits)
    digits = len(write_integer(abs(value))) if bits < _MAX_SHOWN_BITS else int((bits - 1) * 0.30103) + 1
    if digits <= MAX_SHOWN_DIGITS:
        return write_integer(value)
    raise fail(
        "too_large",
        f"The answer is an integer of about {digits} digits, roughly {_rounded(value, work)}; the calculator shows "
        f"integers of up to {MAX_SHOWN_DIGITS} digits. "
        f"Ask for a part of it, such as x mod 10^20 or x // 10^{digits - 20}.",
    )


def _terminating(value: Fraction, most: int) -> str | None:
    """Return a fraction as a complete decimal, or None when it has too many digits or no end."""
    numerator, denominator = value.numerator, value.denominator
    if denominator.bit_length() > 4 * most:
        return None
    twos = (denominator & -denominator).bit_length() - 1
    rest, fives = denominator >> twos, 0
    while rest % 5 == 0:
        rest //= 5
        fives += 1
    if rest != 1:
        return None
    places = max(twos, fives)
    digits = write_integer(abs(numerator) * 2 ** (places - twos) * 5 ** (places - fives))
    if len(digits) > most:
        return None
    sign = "-" if numerator < 0 else ""
    if len(digits) > places:
        return f"{sign}{digits[:-places]}.{digits[-places:]}"
    if places - len(digits) < 6:
        return f"{sign}0.{digits.zfill(places)}"
    point = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{point}e-{places - len(digits) + 1}"


def _rounded(value: Value, work: Work) -> str:
    """Return 16 significant digits, with an exponent outside of 1e-6 to 1e15."""
    text = str(libmp.to_str(raw_of(value, work), _DIGITS, min_fixed=-7, max_fixed=_DIGITS - 1))
    mantissa, mark, exponent = text.partition("e")
    if mantissa.endswith(".0"):
        mantissa = mantissa[:-2]
    return mantissa + mark + exponent


def _closed(value: Closed) -> str:
    """Return `sqrt(3)*pi/6` and its like."""
    coefficient = Fraction(value.coefficient)
    above = [] if abs(coefficient.numerator) == 1 else [str(abs(coefficient.numerator))]
    below = [] if coefficient.denominator == 1 else [str(coefficient.denominator)]
    if value.root != 1:
        above.append(f"sqrt({value.root})")
    for name, exponent in (("pi", value.pi), ("e", value.e)):
        if exponent:
            factor = name if abs(exponent) == 1 else f"{name}^{abs(exponent)}"
            (above if exponent > 0 else below).append(factor)
    sign = "-" if coefficient < 0 else ""
    quotient = "*".join(above) or "1"
    if below:
        quotient += f"/({'*'.join(below)})" if len(below) > 1 else f"/{below[0]}"
    return sign + quotient
