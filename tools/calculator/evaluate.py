"""A tree to its value, in passes that carry more and more bits until two of them agree."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from mpmath import libmp

from turngate.tools.calculator.arithmetic import add, compare, divide, floor_divide, modulo, multiply, negate, subtract
from turngate.tools.calculator.budget import PRECISIONS, Work
from turngate.tools.calculator.errors import Unsettled, fail
from turngate.tools.calculator.functions import find_function
from turngate.tools.calculator.powers import power, power_modulo
from turngate.tools.calculator.syntax import (
    Chain,
    Compare,
    Constant,
    Invoke,
    Items,
    Negate,
    Node,
    Number,
    Percent,
    Power,
)
from turngate.tools.calculator.values import Approx, Closed, Value, fraction, magnitude

__all__ = ["evaluate"]

_AGREEMENT_BITS = 60
"""Leading bits in which two passes must agree: 18 digits."""
_OPERATIONS: Final[dict[str, Callable[[Value, Value, Work], Value]]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "of": multiply,
    "/": divide,
    "//": floor_divide,
    "rem": modulo,
    "mod": modulo,
}
_COMPARISONS: Final[dict[str, Callable[[int], bool]]] = {
    "=": lambda order: order == 0,
    "!=": lambda order: order != 0,
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
}
_CONSTANTS: Final = {"pi": Closed(1, pi=1), "tau": Closed(2, pi=1), "e": Closed(1, e=1)}


def evaluate(node: Node, work: Work) -> Value | bool:
    """Return the value of an expression. Raises ToolFailed.

    An expression of exact steps takes one pass. One with rounded steps takes at least two, so that
    every digit shown has been found twice, with different rounding errors.
    """
    previous: Value | bool | None = None
    for precision in PRECISIONS:
        work.precision = precision
        work.last = precision == PRECISIONS[-1]
        work.approximated = work.snapped = False
        try:
            value = _EVALUATORS[type(node)](node, work)
        except Unsettled:
            previous = None
            continue
        if not work.approximated or (previous is not None and _agree(previous, value)):
            return value
        if work.last and previous is None:
            return value
        previous = value
    raise fail(
        "too_large", "The answer needs more digits on the way than the calculator carries. Rewrite the expression."
    )


def _agree(a: Value | bool, b: Value | bool) -> bool:
    if isinstance(a, Approx) and isinstance(b, Approx):
        difference = libmp.mpf_sub(a.raw, b.raw, 64, "n")
        return bool(difference[1] == 0) or magnitude(difference) < magnitude(b.raw) - _AGREEMENT_BITS
    return type(a) is type(b) and a == b


def _value(node: Node, work: Work) -> Value:
    """Return an operand's value. Raises ToolFailed when it is a truth value."""
    work.spend(2_000)
    value = _EVALUATORS[type(node)](node, work)
    if value is True or value is False:
        raise fail("unsupported", "A comparison gives true or false; the calculator does not compute with that.")
    return value


def _number(node: Number, work: Work) -> Value:
    value = node.value
    return value if type(value) is int else fraction(Fraction(value), work)


def _constant(node: Constant, work: Work) -> Value:
    if node.name == "phi":
        return divide(add(1, Closed(1, 5), work), 2, work)
    return _CONSTANTS[node.name]


def _negate(node: Negate, work: Work) -> Value:
    return negate(_value(node.operand, work))


def _percent(node: Percent, work: Work) -> Value:
    return divide(_value(node.operand, work), 100, work)


def _power(node: Power, work: Work) -> Value:
    return power(_value(node.base, work), _value(node.exponent, work), work)


def _chain(node: Chain, work: Work) -> Value:
    first, rest = node.first, node.rest
    if rest[0][0] in ("rem", "mod") and isinstance(first, Power):
        value = _power_modulo(first, rest[0][1], work)
        rest = rest[1:]
    else:
        value = _value(first, work)
    for operator, operand in rest:
        value = _OPERATIONS[operator](value, _value(operand, work), work)
    return value


def _power_modulo(node: Power, modulus: Node, work: Work) -> Value:
    """Return a^n mod m; for whole numbers without computing a^n."""
    a, n, m = _value(node.base, work), _value(node.exponent, work), _value(modulus, work)
    if isinstance(a, int) and isinstance(n, int) and isinstance(m, int) and n > 0:
        return power_modulo(a, n, m, work)
    return modulo(power(a, n, work), m, work)


def _compare(node: Compare, work: Work) -> bool:
    left = _value(node.first, work)
    answer = True
    for operator, operand in node.rest:
        right = _value(operand, work)
        answer = answer and _COMPARISONS[operator](compare(left, right, work))
        left = right
    return answer


def _invoke(node: Invoke, work: Work) -> Value | bool:
    function = find_function(node.name)
    assert function is not None
    if node.name == "mod" and isinstance(node.arguments[0], Power):
        return _power_modulo(node.arguments[0], node.arguments[1], work)
    arguments: list[Value] = []
    for argument in node.arguments:
        if isinstance(argument, Items):
            arguments.extend(_value(item, work) for item in argument.items)
        else:
            arguments.append(_value(argument, work))
    return function.apply(arguments, work)


_EVALUATORS: Final[dict[type[Node], Callable[[Any, Work], Value | bool]]] = {
    Number: _number,
    Constant: _constant,
    Negate: _negate,
    Percent: _percent,
    Power: _power,
    Chain: _chain,
    Compare: _compare,
    Invoke: _invoke,
}
