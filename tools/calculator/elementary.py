"""Trigonometric and hyperbolic functions, exact at the angles that people know by heart."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from mpmath import libmp

from turngate.tools.calculator.arithmetic import add, compare, divide, multiply, negate, subtract
from turngate.tools.calculator.budget import MAX_EXPONENT_BITS, Work
from turngate.tools.calculator.errors import Unsettled, fail
from turngate.tools.calculator.powers import root
from turngate.tools.calculator.values import (
    Approx,
    Closed,
    Raw,
    Value,
    approximate,
    closed,
    magnitude,
    ratio,
    raw_of,
)

__all__ = [
    "arc_cosine",
    "arc_sine",
    "arc_tangent",
    "arc_tangent_of_two",
    "cosine",
    "gamma",
    "hyperbolic",
    "sine",
    "tangent",
    "to_degrees",
    "to_radians",
]

_MAX_ANGLE_BITS = 4_000
_MAX_GAMMA = 1_000_000
_HALF: Final = Fraction(1, 2)

_SINES: Final[dict[Fraction, Value]] = {
    Fraction(0): 0,
    Fraction(1, 6): _HALF,
    Fraction(1, 4): Closed(_HALF, 2),
    Fraction(1, 3): Closed(_HALF, 3),
    _HALF: 1,
}
"""sin(tπ) by t, for 0 <= t <= 1/2."""
_ARC_SINES: Final[dict[Value, Fraction]] = {sine: turn for turn, sine in _SINES.items()}
_ARC_TANGENTS: Final[dict[Value, Fraction]] = {
    0: Fraction(0),
    Closed(Fraction(1, 3), 3): Fraction(1, 6),
    1: Fraction(1, 4),
    Closed(1, 3): Fraction(1, 3),
}


def _half_turns(x: Value) -> Fraction | None:
    """Return t where x = tπ, or None."""
    if x == 0:
        return Fraction(0)
    if isinstance(x, Closed) and x.basis == (1, 1, 0):
        return Fraction(x.coefficient)
    return None


def _angle(x: Value, work: Work) -> Raw:
    """Return an angle with enough digits to be reduced by multiples of 2π."""
    work.spend_approximation()
    if isinstance(x, Approx):
        if magnitude(x.raw) > work.precision - 80:
            if not work.last:
                raise Unsettled
            raise _angle_too_large()
        return x.raw
    size = max(0, magnitude(raw_of(x, work)))
    if size > _MAX_ANGLE_BITS:
        raise _angle_too_large()
    work.spend(size * 200)
    return raw_of(x, work, size + 20)


def _angle_too_large() -> Exception:
    return fail("too_large", "The angle is too large for its sine or cosine to be known.")


def _sine_of_turns(turns: Fraction, work: Work) -> Value:
    """Return sin(turns·π)."""
    turns %= 2
    negative = turns >= 1
    if negative:
        turns -= 1
    if turns > _HALF:
        turns = 1 - turns
    exact = _SINES.get(turns)
    if exact is None:
        work.spend_approximation()
        value = approximate(libmp.mpf_sin(raw_of(Closed(turns, pi=1), work, 20), work.precision, "n"), work)
    else:
        value = exact
    return negate(value) if negative else value


def sine(x: Value, work: Work) -> Value:
    """Return sin x, x in radians."""
    turns = _half_turns(x)
    if turns is not None:
        return _sine_of_turns(turns, work)
    return _settled(libmp.mpf_sin(_angle(x, work), work.precision, "n"), x, work)


def cosine(x: Value, work: Work) -> Value:
    """Return cos x, x in radians."""
    turns = _half_turns(x)
    if turns is not None:
        return _sine_of_turns(turns + _HALF, work)
    return _settled(libmp.mpf_cos(_angle(x, work), work.precision, "n"), x, work)


def tangent(x: Value, work: Work) -> Value:
    """Return tan x, x in radians. Raises ToolFailed (domain) at its poles."""
    turns = _half_turns(x)
    if turns is not None:
        bottom = _sine_of_turns(turns + _HALF, work)
        if bottom == 0:
            raise fail("domain", "The tangent is undefined at this angle.")
        return divide(_sine_of_turns(turns, work), bottom, work)
    return _settled(libmp.mpf_tan(_angle(x, work), work.precision, "n"), x, work)


def _settled(raw: Raw, x: Value, work: Work) -> Value:
    """Return a sine or its like. One that is zero to the last digits of its angle is zero."""
    if isinstance(x, Approx) and magnitude(raw) < magnitude(x.raw) - work.precision + 80:
        if not work.last:
            raise Unsettled
        work.snapped = True
        return 0
    return approximate(raw, work)


def arc_sine(x: Value, work: Work) -> Value:
    """Return asin x in radians."""
    if isinstance(x, Approx):
        _require_unit(x, "asin", work)
    elif (exact := _ARC_SINES.get(x)) is not None:
        return _turns(exact)
    elif (exact := _ARC_SINES.get(negate(x))) is not None:
        return _turns(-exact)
    else:
        _require_unit(x, "asin", work)
    work.spend_approximation()
    work.spend_approximation()
    other, leg = _legs(x, work)
    return approximate(libmp.mpf_atan2(leg, other, work.precision, "n"), work)


def arc_cosine(x: Value, work: Work) -> Value:
    """Return acos x in radians."""
    if isinstance(x, Approx):
        _require_unit(x, "acos", work)
    elif (exact := _ARC_SINES.get(x)) is not None:
        return _turns(_HALF - exact)
    elif (exact := _ARC_SINES.get(negate(x))) is not None:
        return _turns(_HALF + exact)
    else:
        _require_unit(x, "acos", work)
    work.spend_approximation()
    work.spend_approximation()
    other, leg = _legs(x, work)
    return approximate(libmp.mpf_atan2(other, leg, work.precision, "n"), work)


def _turns(turns: Fraction) -> Value:
    return closed(ratio(turns.numerator, turns.denominator), pi=1)


def _require_unit(x: Value, name: str, work: Work) -> None:
    if compare(x, 1, work) > 0 or compare(x, -1, work) < 0:
        raise fail("domain", f"{name}(x) is defined for x from -1 to 1.")


def _legs(x: Value, work: Work) -> tuple[Raw, Raw]:
    """Return √(1 - x²) and x. Near 1 and -1 only the product of 1 - x and 1 + x keeps the digits."""
    square = multiply(subtract(1, x, work), add(1, x, work), work)
    return libmp.mpf_sqrt(raw_of(square, work, 20), work.precision + 20, "n"), raw_of(x, work, 20)


def arc_tangent(x: Value, work: Work) -> Value:
    """Return atan x in radians."""
    if not isinstance(x, Approx):
        if (exact := _ARC_TANGENTS.get(x)) is not None:
            return _turns(exact)
        if (exact := _ARC_TANGENTS.get(negate(x))) is not None:
            return _turns(-exact)
    work.spend_approximation()
    return approximate(libmp.mpf_atan(raw_of(x, work), work.precision, "n"), work)


def arc_tangent_of_two(y: Value, x: Value, work: Work) -> Value:
    """Return the angle of the point (x, y), from -π to π."""
    across, up = compare(x, 0, work), compare(y, 0, work)
    if across == 0:
        if up == 0:
            raise fail("domain", "atan2(0, 0) is undefined.")
        return Closed(Fraction(up, 2), pi=1)
    angle = arc_tangent(divide(y, x, work), work)
    if across > 0:
        return angle
    return add(angle, Closed(1 if up >= 0 else -1, pi=1), work)


def to_degrees(x: Value, work: Work) -> Value:
    """Return an angle in degrees, given radians."""
    return multiply(x, Closed(180, pi=-1), work)


def to_radians(x: Value, work: Work) -> Value:
    """Return an angle in radians, given degrees."""
    return multiply(x, Closed(Fraction(1, 180), pi=1), work)


def hyperbolic(name: str) -> Callable[[Value, Work], Value]:
    """Return sinh, cosh, tanh or an inverse of them."""
    inverse_sine = hyperbolic("asinh") if name == "acosh" else None
    raw_function: Callable[[Raw, int, str], Raw] = getattr(libmp, f"mpf_{name}")

    def apply(x: Value, work: Work) -> Value:
        if x == 0 and name != "acosh":
            return 1 if name == "cosh" else 0
        if inverse_sine is not None:
            distance = compare(x, 1, work)
            if distance < 0:
                raise fail("domain", "acosh(x) is defined for x >= 1.")
            if distance == 0:
                return 0
            # Near 1 only this form keeps the digits.
            return inverse_sine(root(multiply(subtract(x, 1, work), add(x, 1, work), work), 2, work), work)
        if name == "atanh" and (compare(x, 1, work) >= 0 or compare(x, -1, work) <= 0):
            raise fail("domain", "atanh(x) is defined for -1 < x < 1.")
        work.spend_approximation()
        raw = raw_of(x, work, 64 + (x.denominator.bit_length() if isinstance(x, Fraction) else 0))
        if magnitude(raw) > MAX_EXPONENT_BITS and name in ("sinh", "cosh"):
            raise fail("too_large", "The result is too large for the calculator, even as an approximation.")
        return approximate(raw_function(raw, work.precision, "n"), work)

    return apply


def gamma(x: Value, work: Work) -> Value:
    """Return the gamma function of x, which is (x - 1)! for whole numbers."""
    if compare(x, _MAX_GAMMA, work) > 0 or compare(x, -_MAX_GAMMA, work) < 0:
        raise fail("too_large", f"gamma(x) is computed for x from -{_MAX_GAMMA} to {_MAX_GAMMA}.")
    if isinstance(x, int) and x <= 0:
        raise _gamma_at_pole()
    extra = 40
    if isinstance(x, Fraction) and x < 0:
        # Digits enough to tell x from the pole next to it.
        extra += max(0, x.denominator.bit_length() - abs(x - round(x)).numerator.bit_length() + 1)
    bits = work.precision + extra
    work.spend_approximation()
    work.spend(bits * bits * 3)
    raw = raw_of(x, work, extra)
    if raw[0] and not isinstance(x, Fraction):
        pole = libmp.mpf_nint(raw, work.precision, "n")
        distance = libmp.mpf_sub(raw, pole, work.precision, "n")
        if pole[1] and (distance[1] == 0 or magnitude(distance) < magnitude(raw) - work.precision + 80):
            if not work.last:
                raise Unsettled
            raise _gamma_at_pole()
    return approximate(libmp.mpf_gamma(raw, work.precision, "n"), work)


def _gamma_at_pole() -> Exception:
    return fail("domain", "gamma(x) is undefined for 0 and negative whole numbers.")
