"""Digits to numbers and back, without CPython's limit on the length of integer strings."""

from __future__ import annotations

from fractions import Fraction

from turngate.tools.calculator.budget import MAX_DIGITS
from turngate.tools.calculator.errors import clip, fail

__all__ = ["read_integer", "read_number", "write_integer"]

# CPython allows the limit to be lowered to 640 digits, never below.
_CHUNK = 600
_MAX_NEGATIVE_EXPONENT = 3_000
_BASES = {"x": 16, "b": 2, "o": 8}


def read_integer(digits: str) -> int:
    """Return the integer that a string of decimal digits writes."""
    if len(digits) <= _CHUNK:
        return int(digits)
    middle = len(digits) // 2
    scale: int = 10 ** (len(digits) - middle)
    return read_integer(digits[:middle]) * scale + read_integer(digits[middle:])


def write_integer(value: int) -> str:
    """Return the decimal digits of an integer."""
    if value.bit_length() < 1900:
        return str(value)
    if value < 0:
        return "-" + write_integer(-value)
    middle = int(value.bit_length() * 0.30103) // 2
    high, low = divmod(value, 10**middle)
    return write_integer(high) + write_integer(low).zfill(middle)


def read_number(text: str) -> int | Fraction:
    """Return the exact value of a number as it is written: `1,234.50`, `1_000`, `1.5e3`, `0xff`."""
    if text.isdecimal():
        return read_integer(text)
    if len(text) > 2 and text[1] in "xXbBoO":
        base = _BASES[text[1].lower()]
        digits = text[2:].replace("_", "")
        if not digits:
            raise fail("syntax", f"`{clip(text)}` is not a number.")
        return int(digits, base)
    for separator in ("{,}", ",", "_", "'", "\u2009"):
        if separator in text:
            text = text.replace(separator, "")
    mantissa, _, exponent = text.replace("E", "e").partition("e")
    whole, _, decimals = mantissa.partition(".")
    sign = -1 if whole.startswith("-") else 1
    number = sign * read_integer(whole.lstrip("+-") + decimals or "0")
    if len(exponent.lstrip("+-0")) > 6 or (exponent and not -_MAX_NEGATIVE_EXPONENT <= int(exponent) <= MAX_DIGITS):
        raise fail(
            "too_large",
            f"The exponent of `{clip(text)}` is beyond the calculator's limits, "
            f"-{_MAX_NEGATIVE_EXPONENT} to {MAX_DIGITS}.",
        )
    shift = int(exponent or "0") - len(decimals)
    if shift >= 0:
        return int(number * 10**shift)
    value = Fraction(number, 10**-shift)
    return value.numerator if value.denominator == 1 else value
