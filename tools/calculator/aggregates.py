"""Functions of several numbers, and rounding."""

from __future__ import annotations

from fractions import Fraction
from functools import cmp_to_key

from turngate.tools.calculator.arithmetic import add, compare, divide, floor, multiply, negate, subtract
from turngate.tools.calculator.budget import Work
from turngate.tools.calculator.errors import fail
from turngate.tools.calculator.integers import whole
from turngate.tools.calculator.powers import root
from turngate.tools.calculator.values import Value, rational

__all__ = [
    "absolute",
    "ceiling",
    "hypotenuse",
    "largest",
    "mean",
    "median",
    "product",
    "rounded",
    "sign",
    "smallest",
    "spread",
    "total",
    "truncate",
]

_MAX_PLACES = 300
_HALF = Fraction(1, 2)


def absolute(x: Value, work: Work) -> Value:
    """Return |x|."""
    return negate(x) if compare(x, 0, work) < 0 else x


def sign(x: Value, work: Work) -> Value:
    """Return -1, 0 or 1."""
    return compare(x, 0, work)


def ceiling(x: Value, work: Work) -> Value:
    """Return the least integer that is not below x."""
    return -floor(negate(x), work)


def truncate(x: Value, work: Work) -> Value:
    """Return x without its decimals."""
    return ceiling(x, work) if compare(x, 0, work) < 0 else floor(x, work)


def rounded(arguments: list[Value], work: Work) -> Value:
    """Return round(x) or round(x, places); a half is rounded away from zero, as people do."""
    x = arguments[0]
    places = whole(arguments[1], "The number of decimals") if len(arguments) > 1 else 0
    if abs(places) > _MAX_PLACES:
        raise fail("too_large", f"round(x, n) takes n from -{_MAX_PLACES} to {_MAX_PLACES}.")
    scale = Fraction(10) ** places
    steps = floor(add(multiply(absolute(x, work), rational(scale), work), _HALF, work), work)
    result = rational(steps / scale)
    return negate(result) if compare(x, 0, work) < 0 else result


def total(arguments: list[Value], work: Work) -> Value:
    """Return the sum."""
    result: Value = 0
    for argument in arguments:
        result = add(result, argument, work)
    return result


def product(arguments: list[Value], work: Work) -> Value:
    """Return the product."""
    result: Value = 1
    for argument in arguments:
        result = multiply(result, argument, work)
    return result


def mean(arguments: list[Value], work: Work) -> Value:
    """Return the arithmetic mean."""
    return divide(total(arguments, work), len(arguments), work)


def median(arguments: list[Value], work: Work) -> Value:
    """Return the middle value, or the mean of the two middle ones."""
    work.spend(len(arguments) * 10_000)

    def order(a: Value, b: Value) -> int:
        return compare(a, b, work)

    ordered = sorted(arguments, key=cmp_to_key(order))
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return mean(ordered[middle - 1 : middle + 1], work)


def largest(arguments: list[Value], work: Work) -> Value:
    """Return the maximum."""
    result = arguments[0]
    for argument in arguments[1:]:
        if compare(argument, result, work) > 0:
            result = argument
    return result


def smallest(arguments: list[Value], work: Work) -> Value:
    """Return the minimum."""
    result = arguments[0]
    for argument in arguments[1:]:
        if compare(argument, result, work) < 0:
            result = argument
    return result


def hypotenuse(arguments: list[Value], work: Work) -> Value:
    """Return the root of the sum of squares."""
    return root(total([multiply(x, x, work) for x in arguments], work), 2, work)


def spread(arguments: list[Value], work: Work, *, sample: bool, deviation: bool) -> Value:
    """Return the variance or standard deviation, of a sample (n - 1) or of a population (n)."""
    count = len(arguments) - 1 if sample else len(arguments)
    if count == 0:
        raise fail("domain", "A sample's variance needs at least two numbers. For a population write pvariance.")
    centre = mean(arguments, work)
    distances = [subtract(x, centre, work) for x in arguments]
    variance = divide(total([multiply(x, x, work) for x in distances], work), count, work)
    return root(variance, 2, work) if deviation else variance
