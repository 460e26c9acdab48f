"""Operands with a name or a bracket: function calls, roots, LaTeX commands, lists."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

from turngate.tools.calculator.cursor import Cursor
from turngate.tools.calculator.errors import clip, fail
from turngate.tools.calculator.functions import Function, find_constant, find_function, unknown_name
from turngate.tools.calculator.lexer import Token
from turngate.tools.calculator.literals import read_number
from turngate.tools.calculator.readings import two_readings
from turngate.tools.calculator.syntax import Chain, Invoke, Items, Negate, Node, Number, Power

__all__ = ["Calls"]

_POWERED: Final = frozenset({"sin", "cos", "tan", "sinh", "cosh", "tanh", "ln", "log2", "log10"})
"""Functions that are written as in sin²(x)."""
_ENDS: Final = frozenset({"", ")", "]", ",", "+", "-", "=", "!=", "<", "<=", ">", ">=", "|", "⌋", "⌉"})
"""What may follow an argument without brackets."""


class Calls(Cursor, ABC):
    """Reads the operands that are more than a number."""

    @abstractmethod
    def expression(self, rank: int) -> Node:
        """Return the expression that starts here, down to a rank."""

    @abstractmethod
    def operand(self, rank: int) -> Node:
        """Return the operand that starts here."""

    def bracket(self, opening: str) -> Node:
        """Return the expression in a bracket that has just been opened."""
        bars, self.bars = self.bars, 0
        node = self.expression(0)
        self.bars = bars
        if self.current.text == "," and opening == "[":
            raise fail(
                "unsupported", "A list may only be the argument of sum, max, mean and their kind: sum([1, 2, 3])."
            )
        self.expect(")" if opening == "(" else "]", opening)
        node.grouped = True
        return node

    def call(self, token: Token) -> Node:
        """Return the call of a function whose name has just been read."""
        name = token.text
        base: Node | None = None
        if name.lower().startswith("log_") or (name == "log" and self.current.text == "_"):
            base = self._base(name)
            name = "log"
        function = find_function(name)
        if function is None:
            raise unknown_name(name)
        exponent = self._function_exponent(function)
        if self.current.text == "(":
            self.position += 1
            arguments = self._arguments(function)
        else:
            arguments = [self._bare_argument(self.text[token.start : token.end])]
        if base is not None:
            arguments.append(base)
        if not function.takes(sum(len(a.items) if isinstance(a, Items) else 1 for a in arguments)):
            raise fail("syntax", f"`{clip(name)}` takes {function.arity}, not {len(arguments)}.")
        call = Invoke(function.name, arguments)
        return call if exponent is None else Power(call, exponent, caret=False)

    def _base(self, name: str) -> Node:
        """Return the base of `log_2` or `log_{10}`."""
        if len(name) > 4:
            if not name[4:].isdecimal():
                raise unknown_name(name)
            return Number(read_number(name[4:]))
        if self.current.text == "_":
            self.position += 1
        if self.current.kind == "number":
            self.position += 1
            return Number(self.tokens[self.position - 1].value)
        if self.current.text != "(":
            raise fail("syntax", "The base of the logarithm is missing. Write log(x, base).")
        return self.operand(0)

    def _function_exponent(self, function: Function) -> Node | None:
        """Return the 2 of `sin²(x)` or `sin^2(x)`, or None."""
        token = self.current
        if token.kind != "superscript" and token.text != "^":
            return None
        name = function.name
        if token.kind == "superscript":
            exponent: Node = Number(token.value)
            self.position += 1
        else:
            self.position += 1
            exponent = self.operand(59)
        value = exponent.value if isinstance(exponent, Number) else -1
        if name not in _POWERED or value < 1:
            raise fail(
                "ambiguous",
                f"A power between `{name}` and its argument may be misread. Write `{name}(x)^n` for a power, "
                "or use the inverse function by its name, as in asin(x).",
            )
        return exponent

    def _arguments(self, function: Function) -> list[Node]:
        """Return the arguments in a bracket that has just been opened."""
        bars, self.bars = self.bars, 0
        arguments: list[Node] = []
        if self.current.text != ")":
            arguments.append(self._argument(function))
            while self.current.text == ",":
                self.position += 1
                arguments.append(self._argument(function))
        self.expect(")", "(")
        self.bars = bars
        return arguments

    def _argument(self, function: Function) -> Node:
        """Return one argument; a list, where the function takes any number of arguments."""
        if function.most is not None or self.current.text != "[":
            return self.expression(0)
        mark = self.position
        self.position += 1
        items: list[Node] = []
        if self.current.text != "]":
            items.append(self.expression(0))
            while self.current.text == ",":
                self.position += 1
                items.append(self.expression(0))
        self.expect("]", "[")
        if self.current.text in (",", ")"):
            return Items(items)
        self.position = mark
        return self.expression(0)

    def _bare_argument(self, name: str) -> Node:
        """Return the argument of `sqrt 16` or `sin 30°`: one number, with nothing tight after it."""
        token = self.current
        constant = find_constant(token.text) if token.kind == "name" else None
        if token.kind != "number" and constant is None and token.kind != "command":
            raise fail("syntax", f"`{clip(name)}` needs its argument in brackets, as in {clip(name)}(2).")
        start = self.position
        node = self.operand(0)
        if self.current.text in ("°", "deg", "degrees"):
            self.position += 1
            node = Invoke("radians", [node])
        if self.current.text not in _ENDS:
            shown = self.slice(start, self.position)
            raise fail(
                "ambiguous",
                f"Where does the argument of `{clip(name)}` end? Write `{clip(name)}({shown})`, "
                "or put more in the brackets.",
            )
        return node

    def radical(self, degree: int, *, words: bool) -> Node:
        """Return the root of the operand that starts here; the root sign has been read."""
        token = self.current
        self.deepen()
        if words and token.text != "(":
            node = self._bare_argument("square root of" if degree == 2 else "cube root of")
            if self.current.text in ("+", "-"):
                shown = self.slice(self.position - 1, self.position)
                raise two_readings(f"root of {shown} {self.current.text} …", f"sqrt({shown}) + …", f"sqrt({shown} + …)")
        elif token.text == "-":
            self.position += 1
            node = Negate(self.operand(70))
        else:
            node = self.operand(70)
            self._check_radical(token)
        self.depth -= 1
        if degree in (2, 3):
            return Invoke("sqrt" if degree == 2 else "cbrt", [node])
        return Invoke("root", [node, Number(degree)])

    def _check_radical(self, token: Token) -> None:
        """Refuse `√16^2`, `√2π` and their like."""
        following = self.current
        if token.text in ("(", "√", "∛", "∜"):
            return
        tight = following.kind in ("superscript", "name", "command") or following.text in ("^", "!", "%", "(")
        if tight and following.text not in ("x", "X") and not (following.text == "%" and following.spaced):
            shown = self.slice(self.position - 1, self.position)
            raise fail(
                "ambiguous",
                f"Where does the root end? Write `sqrt({shown})` or put more in the brackets.",
            )

    def command(self, name: str) -> Node:
        """Return what a LaTeX command with arguments in braces stands for."""
        if name == "sqrt":
            degree: Node = Number(2)
            if self.current.text == "[":
                self.position += 1
                degree = self.bracket("[")
            return Invoke("root", [self._braced(name), degree])
        first, second = self._braced(name), self._braced(name)
        if name == "binom":
            return Invoke("comb", [first, second])
        return Chain(first, [("/", second)], grouped=True)

    def _braced(self, name: str) -> Node:
        if self.current.text == "(":
            self.position += 1
            return self.bracket("(")
        if self.current.kind == "number" and len(self.current.text) == 1:
            return self.operand(0)
        shown = "\\frac{1}{2}" if name == "frac" else f"\\{name}{{2}}"
        raise fail("syntax", f"`\\{name}` needs braces, as in {shown}.")
