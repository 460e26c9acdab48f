"""The tree of an expression. Chains are flat, so that a sum of thousands of terms is not deep."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

__all__ = ["Chain", "Compare", "Constant", "Invoke", "Items", "Negate", "Node", "Number", "Percent", "Power"]


@dataclass(slots=True)
class Node:
    """Any part of an expression."""

    grouped: bool = field(default=False, kw_only=True)
    """It stands in brackets, so that nothing about its extent is in doubt."""


@dataclass(slots=True)
class Number(Node):
    """A literal number."""

    value: int | Fraction


@dataclass(slots=True)
class Constant(Node):
    """`pi`, `e`, `tau`, `phi`."""

    name: str


@dataclass(slots=True)
class Negate(Node):
    """`-a`."""

    operand: Node


@dataclass(slots=True)
class Percent(Node):
    """`a%`, a hundredth of `a`."""

    operand: Node


@dataclass(slots=True)
class Power(Node):
    """`a^b`."""

    base: Node
    exponent: Node
    caret: bool = True
    """Written with an operator, so that the exponent's end may be in doubt."""


@dataclass(slots=True)
class Chain(Node):
    """Operators of one rank from left to right: `a + b - c`, or `a * b / c`."""

    first: Node
    rest: list[tuple[str, Node]]
    split: int = 0
    """For a product without signs, `2π`: the position of its second factor's first token; otherwise 0."""


@dataclass(slots=True)
class Compare(Node):
    """`a < b <= c`: true when every neighbouring pair compares so."""

    first: Node
    rest: list[tuple[str, Node]]


@dataclass(slots=True)
class Items(Node):
    """`[a, b, c]`, the argument of `sum`, `max` and their kind."""

    items: list[Node]


@dataclass(slots=True)
class Invoke(Node):
    """`name(a, b)`, with the function's canonical name. Postfix `!` and `|a|` are calls as well."""

    name: str
    arguments: list[Node]
