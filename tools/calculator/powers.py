"""Powers, roots and logarithms: exact where the result is rational or a square root."""

from __future__ import annotations

import math
from fractions import Fraction

from mpmath import libmp

from turngate.tools.calculator.arithmetic import compare, divide, negate
from turngate.tools.calculator.budget import FRACTION_BITS, MAX_BITS, MAX_EXPONENT_BITS, Work, require_bits
from turngate.tools.calculator.errors import Unsettled, fail
from turngate.tools.calculator.literals import write_integer
from turngate.tools.calculator.values import (
    Approx,
    Closed,
    Rational,
    Value,
    approximate,
    closed,
    magnitude,
    ratio,
    rational,
    raw_of,
)

__all__ = ["exponential", "logarithm", "natural_logarithm", "power", "power_modulo", "root"]

_E = Closed(1, e=1)
_POWER_HINT = " For a remainder write (a^b) mod m; for the size of a power write b * log10(a)."
_MAX_CLOSED_EXPONENT = 1_000
_MAX_CLOSED_ROOT = 10**9
_MAX_LOGARITHM_DENOMINATOR = 64


def power(a: Value, b: Value, work: Work) -> Value:
    """Return a^b. Raises ToolFailed where that is not a real number."""
    if b == 0:
        if a == 0:
            raise fail("domain", "0^0 is undefined. If you mean the convention of combinatorics, it is 1.")
        return 1
    if b == 1 or a == 1:
        return a
    if a == 0:
        if _sign(b, work) < 0:
            raise fail("division_by_zero", "Zero to a negative power divides by zero.")
        return 0
    if type(b) is int:
        return _integer_power(a, b, work)
    if a == _E:
        return exponential(b, work)
    if _sign(a, work) < 0:
        if isinstance(b, Fraction) and b.denominator % 2:
            raise fail(
                "domain",
                "A negative number to a fractional power has no single real value. "
                f"For a real root write root(x, {b.denominator}), for example cbrt(-8).",
            )
        raise fail("domain", "A negative number to this power is not a real number.")
    if isinstance(b, Fraction) and isinstance(a, int | Fraction):
        exact = _exact_root(a, b.denominator, work)
        if exact is not None:
            return _integer_power(exact, b.numerator, work)
        if b.denominator == 2:
            half = _square_root(a, work)
            if half is not None:
                return _integer_power(half, b.numerator, work)
    return _rounded_power(a, b, work)


def _sign(a: Value, work: Work) -> int:
    if isinstance(a, Approx):
        return -1 if a.raw[0] else 1
    return compare(a.coefficient if isinstance(a, Closed) else a, 0, work)


def _integer_power(a: Value, n: int, work: Work) -> Value:
    if isinstance(a, Approx) or (isinstance(a, Closed) and abs(n) > _MAX_CLOSED_EXPONENT):
        return _rounded_power(a, n, work)
    if isinstance(a, Closed):
        coefficient = _integer_power(a.coefficient, n, work)
        if not isinstance(coefficient, int | Fraction) or coefficient.numerator.bit_length() > FRACTION_BITS:
            return _rounded_power(a, n, work)
        pairs, odd = divmod(n, 2)
        scale = rational(Fraction(coefficient) * Fraction(a.root) ** pairs)
        return closed(scale, a.root if odd else 1, a.pi * n, a.e * n)
    if abs(a) == 1:
        return 1 if a == 1 or n % 2 == 0 else -1
    numerator, denominator = a.numerator, a.denominator
    if n.bit_length() > 64:
        if denominator != 1 or n < 0:
            return _rounded_power(a, n, work)
        raise fail("too_large", "The power has an astronomical number of digits. For a remainder write (a^b) mod m.")
    if denominator == 1 and n > 0:
        bits = math.log2(abs(numerator)) * n if numerator.bit_length() < 1000 else (numerator.bit_length() - 1) * n
        require_bits(bits, f"The power {_short(numerator)}^{n}" if n < 10**9 else "The power", _POWER_HINT)
        if bits > 1000:
            work.spend_multiplication(int(bits), int(bits))
        return int(numerator**n)
    bits = max(numerator.bit_length(), denominator.bit_length()) * abs(n)
    if bits > FRACTION_BITS:
        return _rounded_power(a, n, work)
    work.spend_multiplication(bits, bits)
    return rational(Fraction(a) ** n)


def _short(number: int) -> str:
    return write_integer(number) if number.bit_length() < 64 else "…"


def _rounded_power(a: Value, b: Value, work: Work) -> Value:
    """Return |a|^b with a's sign where b is odd, as e^(b ln |a|)."""
    work.spend_approximation()
    work.spend_approximation()
    size = b.bit_length() if isinstance(b, int) else max(0, magnitude(raw_of(b, work)))
    if size > 1000:
        raise fail("too_large", "The exponent is too large.")
    bits = work.precision + size + 64
    base = libmp.mpf_abs(raw_of(a, work, size + 64))
    exponent = libmp.mpf_mul(raw_of(b, work, 64), libmp.mpf_log(base, bits, "n"), bits, "n")
    negative = isinstance(b, int) and b % 2 == 1 and _sign(a, work) < 0
    result = _exponential_of_raw(exponent, work)
    return negate(result) if negative else result


def _exponential_of_raw(raw: tuple[int, int, int, int], work: Work) -> Value:
    if magnitude(raw) > MAX_EXPONENT_BITS:
        size = "close to zero" if raw[0] else "large"
        raise fail("too_large", f"The result is too {size} for the calculator, even as an approximation.")
    return approximate(libmp.mpf_exp(raw, work.precision, "n"), work)


def exponential(x: Value, work: Work) -> Value:
    """Return e^x."""
    if x == 0:
        return 1
    if isinstance(x, int) and abs(x) <= _MAX_CLOSED_EXPONENT:
        return Closed(1, e=x)
    work.spend_approximation()
    return _exponential_of_raw(raw_of(x, work, 64), work)


def power_modulo(a: int, n: int, modulus: int, work: Work) -> int:
    """Return (a^n) mod modulus without computing the power."""
    if modulus == 0:
        raise fail("division_by_zero", "Remainder of a division by zero.")
    if n < 0 and math.gcd(a, modulus) != 1:
        raise fail("domain", "The base has no inverse for this modulus.")
    limbs = modulus.bit_length() // 30 + 1
    work.spend(n.bit_length() * (60 + 3 * limbs * limbs))
    return pow(a, n, modulus)


def root(x: Value, n: Value, work: Work) -> Value:
    """Return the real n-th root of x. Raises ToolFailed (domain) where there is none."""
    if not isinstance(n, int) or n == 0:
        raise fail("domain", "The degree of a root must be a whole number other than 0.")
    if _sign(x, work) < 0:
        if n % 2 == 0:
            name = "square root" if n == 2 else "root of even degree"
            raise fail("domain", f"The {name} of a negative number is not a real number.")
        return negate(root(negate(x), n, work))
    return power(x, ratio(1, n), work)


def _exact_root(a: Rational, degree: int, work: Work) -> Rational | None:
    """Return the degree-th root of a positive rational, or None when it is irrational."""
    numerator = _integer_root(a.numerator, degree, work)
    if numerator is None:
        return None
    denominator = _integer_root(a.denominator, degree, work)
    return None if denominator is None else ratio(numerator, denominator)


def _integer_root(n: int, degree: int, work: Work) -> int | None:
    bits = n.bit_length()
    if n == 1:
        return 1
    if degree >= bits:
        return None
    work.spend_quadratic(bits, bits)
    if degree == 2:
        candidate = math.isqrt(n)
    else:
        precision = bits // degree + 30
        candidate = int(libmp.to_int(libmp.mpf_nthroot(libmp.from_int(n), degree, precision, "n"), "n"))
    return candidate if candidate**degree == n else None


def _square_root(a: Rational, work: Work) -> Value | None:
    """Return the square root of a positive rational in closed form, or None when it is too long."""
    radicand = a.numerator * a.denominator
    if radicand > _MAX_CLOSED_ROOT:
        return None
    outside, inside, rest, divisor = 1, 1, radicand, 2
    # Once no prime up to its cube root divides the rest, it is a square or free of squares.
    while divisor * divisor * divisor <= rest:
        while rest % divisor == 0:
            rest //= divisor
            if inside % divisor:
                inside *= divisor
            else:
                inside //= divisor
                outside *= divisor
        divisor += 1
    work.spend(divisor * 150)
    whole = math.isqrt(rest)
    if whole * whole == rest:
        outside *= whole
    else:
        shared = math.gcd(inside, rest)
        outside *= shared
        inside = (inside // shared) * (rest // shared)
    return closed(ratio(outside, a.denominator), inside)


def natural_logarithm(x: Value, work: Work) -> Value:
    """Return ln x."""
    if _sign(x, work) <= 0:
        raise fail("domain", "The logarithm is defined for positive numbers only.")
    if x == 1:
        return 0
    if isinstance(x, Closed) and x == Closed(1, e=x.e):
        return x.e
    work.spend_approximation()
    raw = raw_of(x, work)
    # Near 1 the logarithm keeps only the digits in which x differs from 1.
    if magnitude(raw) in (0, 1):
        if isinstance(x, Approx):
            distance = libmp.mpf_abs(libmp.mpf_sub(raw, libmp.fone, work.precision, "n"))
            if distance[1] == 0 or magnitude(distance) < -work.precision + 80:
                if not work.last:
                    raise Unsettled
                work.snapped = True
                return 0
        else:
            raw = raw_of(x, work, x.denominator.bit_length() if isinstance(x, Fraction) else 0)
    return approximate(libmp.mpf_log(raw, work.precision, "n"), work)


def logarithm(x: Value, base: Value, work: Work) -> Value:
    """Return the logarithm of x to a base, exact where it is rational."""
    if base == 1:
        raise fail("domain", "The base of a logarithm cannot be 1.")
    top = natural_logarithm(x, work)
    if base == _E or x == 1:
        return top
    bottom = natural_logarithm(base, work)
    if isinstance(x, int | Fraction) and isinstance(base, int | Fraction):
        exact = _exact_logarithm(x, base, top, bottom, work)
        if exact is not None:
            return exact
    return divide(top, bottom, work)


def _exact_logarithm(x: Rational, base: Rational, top: Value, bottom: Value, work: Work) -> Rational | None:
    """Return p/q where x^q = base^p, or None when there are no such small numbers."""
    quotient = libmp.mpf_div(raw_of(top, work), raw_of(bottom, work), 80, "n")
    if not -30 < magnitude(quotient) < 20:
        return None
    numerator, denominator = libmp.to_rational(quotient)
    guess = Fraction(int(numerator), int(denominator)).limit_denominator(_MAX_LOGARITHM_DENOMINATOR)
    if guess == 0 or abs(guess - Fraction(int(numerator), int(denominator))) > Fraction(1, 2**50):
        return None
    p, q = guess.numerator, guess.denominator
    bits = max(
        max(x.numerator.bit_length(), x.denominator.bit_length()) * q,
        max(base.numerator.bit_length(), base.denominator.bit_length()) * abs(p),
    )
    if bits > MAX_BITS:
        return None
    work.spend_multiplication(bits, bits)
    work.spend_multiplication(bits, bits)
    return rational(guess) if Fraction(x) ** q == Fraction(base) ** p else None
