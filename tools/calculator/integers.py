"""Functions of whole numbers. Each estimates the size of its result before it computes it."""

from __future__ import annotations

import math
from typing import Final

from turngate.tools.calculator.budget import MAX_BITS, Work, require_bits
from turngate.tools.calculator.errors import fail
from turngate.tools.calculator.powers import power_modulo
from turngate.tools.calculator.values import Value

__all__ = [
    "bit_and",
    "bit_or",
    "bit_xor",
    "combinations",
    "common_divisor",
    "common_multiple",
    "factorial",
    "integer_square_root",
    "is_prime",
    "permutations",
    "power_of",
    "whole",
]

_MAX_COMBINATION_BITS = 33_000
_WITNESSES: Final = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
_MAX_PRIME: Final = 3_317_044_064_679_887_385_961_981
"""Below this the witnesses prove primality (Sorenson and Webster, 2015)."""


def whole(x: Value, name: str, *, least: int | None = None) -> int:
    """Return x as an int. Raises ToolFailed (domain) when it is none, or below `least`."""
    if not isinstance(x, int):
        raise fail("domain", f"{name} takes whole numbers only.")
    if least is not None and x < least:
        raise fail("domain", f"{name} takes whole numbers from {least} on.")
    return x


def factorial(x: Value, work: Work) -> Value:
    """Return x!."""
    if not isinstance(x, int):
        raise fail("domain", "A factorial takes a whole number. For other numbers write gamma(x + 1).")
    n = whole(x, "A factorial", least=0)
    if n > 10**15:
        raise fail("too_large", "The factorial has an astronomical number of digits.")
    require_bits(math.lgamma(n + 1) / math.log(2), f"{n}!")
    work.spend(n * n // 16)
    return math.factorial(n)


def _falling_bits(n: int, k: int) -> float:
    """Return about log2(n·(n-1)···(n-k+1)), never less than it."""
    if n < 10**15:
        return (math.lgamma(n + 1) - math.lgamma(n - k + 1)) / math.log(2) + 1
    return k * (math.log2(n) if n.bit_length() < 1000 else n.bit_length())


def combinations(a: Value, b: Value, work: Work) -> Value:
    """Return the number of ways to choose b out of a things."""
    n, k = whole(a, "comb(n, k)", least=0), whole(b, "comb(n, k)", least=0)
    if k > n:
        return 0
    k = min(k, n - k)
    if k > MAX_BITS:
        raise fail("too_large", "comb(n, k) would have far too many digits.")
    bits = _falling_bits(n, k) - math.lgamma(k + 1) / math.log(2) + 1
    require_bits(bits * MAX_BITS / _MAX_COMBINATION_BITS, f"comb({_short(n)}, {k})")
    work.spend(bits * bits * 0.02 + k * 200)
    return math.comb(n, k)


def permutations(a: Value, b: Value, work: Work) -> Value:
    """Return the number of ordered selections of b out of a things."""
    n, k = whole(a, "perm(n, k)", least=0), whole(b, "perm(n, k)", least=0)
    if k > n:
        return 0
    if k > MAX_BITS:
        raise fail("too_large", "perm(n, k) would have far too many digits.")
    bits = _falling_bits(n, k)
    require_bits(bits, f"perm({_short(n)}, {k})")
    work.spend(bits * k * 0.03 + k * 100)
    return math.perm(n, k)


def _short(n: int) -> str:
    return str(n) if n < 10**18 else "n"


def common_divisor(arguments: list[Value], work: Work) -> Value:
    """Return the greatest common divisor."""
    result = 0
    for argument in arguments:
        n = whole(argument, "gcd")
        work.spend_quadratic(result.bit_length(), n.bit_length())
        result = math.gcd(result, n)
    return result


def common_multiple(arguments: list[Value], work: Work) -> Value:
    """Return the least common multiple."""
    result = 1
    for argument in arguments:
        n = whole(argument, "lcm")
        work.spend_quadratic(result.bit_length(), n.bit_length())
        work.spend_multiplication(result.bit_length(), n.bit_length())
        result = math.lcm(result, n)
        require_bits(result.bit_length(), "The least common multiple")
    return result


def integer_square_root(x: Value, work: Work) -> Value:
    """Return the floor of the square root."""
    n = whole(x, "isqrt", least=0)
    work.spend_quadratic(n.bit_length(), n.bit_length())
    return math.isqrt(n)


def is_prime(x: Value, work: Work) -> bool:
    """Tell whether a whole number is prime (proved, not probable)."""
    n = whole(x, "is_prime")
    if n < 2:
        return False
    for prime in _WITNESSES:
        if n % prime == 0:
            return n == prime
    if n >= _MAX_PRIME:
        raise fail("too_large", f"is_prime(n) answers for n below {_MAX_PRIME}.")
    odd = n - 1
    twos = (odd & -odd).bit_length() - 1
    odd >>= twos
    work.spend(len(_WITNESSES) * 20_000)
    for witness in _WITNESSES:
        value = pow(witness, odd, n)
        if value in (1, n - 1):
            continue
        for _ in range(twos - 1):
            value = value * value % n
            if value == n - 1:
                break
        else:
            return False
    return True


def bit_and(a: Value, b: Value) -> Value:
    """Return the bitwise and."""
    return whole(a, "bitand") & whole(b, "bitand")


def bit_or(a: Value, b: Value) -> Value:
    """Return the bitwise or."""
    return whole(a, "bitor") | whole(b, "bitor")


def bit_xor(a: Value, b: Value) -> Value:
    """Return the bitwise exclusive or."""
    return whole(a, "bitxor") ^ whole(b, "bitxor")


def power_of(arguments: list[Value], work: Work) -> Value:
    """Return pow(a, n, m): a^n mod m for whole numbers."""
    a, n, modulus = (whole(argument, "pow(a, n, m)") for argument in arguments)
    return power_modulo(a, n, modulus, work)
