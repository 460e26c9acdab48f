"""Tokens to a tree: a Pratt parser that refuses where two readings would differ.

Ranks, loosest first: comparison; `+ -`; `* / // % mod of`; the sign; a product without a sign, `2π`;
`^` (from the right); postfix `! % °` and superscripts.
"""

from __future__ import annotations

from typing import Final

from turngate.tools.calculator.calls import Calls
from turngate.tools.calculator.errors import fail
from turngate.tools.calculator.functions import find_constant, find_function, unknown_name
from turngate.tools.calculator.grouping import settle_commas
from turngate.tools.calculator.lexer import Token, tokenize
from turngate.tools.calculator.readings import check_of, check_product, check_sum, is_remainder, two_readings
from turngate.tools.calculator.syntax import Chain, Compare, Constant, Invoke, Negate, Node, Number, Percent, Power

__all__ = ["parse"]

_COMPARISON, _SUM, _PRODUCT, _SIGN, _IMPLICIT, _POWER, _POSTFIX = 10, 20, 30, 40, 50, 60, 70
_RANKS: Final = {
    **dict.fromkeys(("=", "!=", "<", "<=", ">", ">="), _COMPARISON),
    **dict.fromkeys(("+", "-"), _SUM),
    **dict.fromkeys(("*", "/", "//", "rem", "mod", "of"), _PRODUCT),
    "": -1,
    " ": _IMPLICIT,
    "^": _POWER,
    **dict.fromkeys(("!", "percent", "°", "squared", "cubed", "²"), _POSTFIX),
}
_ROOTS: Final = {"√": 2, "∛": 3, "∜": 4, "square root of": 2, "cube root of": 3}
_CODE: Final = {
    "&": "bitand(a, b)",
    "|": "bitor(a, b), or abs(x) for an absolute value",
    "<<": "a * 2^n",
    ">>": "a // 2^n",
    "~": "-a - 1",
    "&&": "one comparison per call",
}
_MAX_POSTFIX = 10


def parse(text: str) -> Node:
    """Return the tree of an expression. Raises ToolFailed."""
    tokens = tokenize(text)
    if any(token.kind == "grouped" for token in tokens):
        tokens = settle_commas(tokens, text)
    parser = Parser(_without_question(tokens), text)
    if parser.current.kind == "end":
        raise fail("syntax", "The expression is empty. Write something like 2 * (3 + 4).")
    node = parser.expression(0)
    if parser.current.kind != "end":
        raise parser.unexpected(parser.current)
    return node


def _without_question(tokens: list[Token]) -> list[Token]:
    """Drop what asks for the answer: the `=` of `2+2=`, `2+2=?`, `=2+2`."""
    end = tokens.pop()
    while tokens and tokens[-1].text == "?":
        tokens.pop()
    if len(tokens) > 1 and tokens[-1].text == "=":
        tokens.pop()
    elif len(tokens) > 1 and tokens[-1].text == "!=":
        tokens[-1] = tokens[-1]._replace(text="!")
    if len(tokens) > 1 and tokens[0].text == "=":
        del tokens[0]
    tokens.append(end)
    return tokens


class Parser(Calls):
    """One pass over the tokens of an expression."""

    def expression(self, rank: int) -> Node:
        """Return the operand that starts here with every operator that binds tighter than `rank`."""
        self.deepen()
        start = self.position
        left = self.operand(rank)
        chain: Chain | Compare | None = None
        postfixes = 0
        while True:
            operator = self._operator(rank)
            level = _RANKS[operator]
            if level <= rank:
                break
            middle = self.position
            if level < _SIGN:
                self.position += 1
                right = self.expression(level)
                if level == _COMPARISON:
                    if not isinstance(chain, Compare):
                        left = chain = Compare(left, [])
                elif level == _SUM:
                    check_sum(self, operator, left, right, start, middle)
                    if not isinstance(chain, Chain) or chain.rest[0][0] not in "+-":
                        left = chain = Chain(left, [])
                else:
                    check_product(self, operator, left, right, start, middle)
                    if operator == "of":
                        check_of(self, left, start, middle)
                    if not isinstance(chain, Chain) or chain.rest[0][0] in "+-":
                        left = chain = Chain(left, [])
                assert chain is not None
                chain.rest.append((operator, right))
                continue
            if level == _IMPLICIT:
                left = self._implicit(left, start)
            elif level == _POWER:
                self.position += 1
                left = self._power(left)
            else:
                postfixes += 1
                if postfixes > _MAX_POSTFIX:
                    raise fail("too_deep", "Too many signs follow one number. Use brackets.")
                self.position += 1
                left = self._postfix(operator, left, rank)
        self.depth -= 1
        return left

    def operand(self, rank: int) -> Node:
        """Return the operand that starts here, without what follows it."""
        token = self.current
        kind, text = token.kind, token.text
        self.position += 1
        if kind == "number":
            if self.current.kind == "number":
                raise self.unexpected(self.current)
            return Number(token.value)
        if kind == "name":
            constant = find_constant(text)
            if constant is not None:
                return Constant(constant)
            return self.call(token)
        if kind == "command":
            return self.command(text)
        if text == "(" or text == "[":
            return self.bracket(text)
        if text == "-" or text == "+":
            inner = self.expression(max(_SIGN, rank))
            return Negate(inner) if text == "-" else inner
        if text in _ROOTS:
            return self.radical(_ROOTS[text], words=len(text) > 1)
        if kind == "superscript" and self.current.text == "√":
            self.position += 1
            return self.radical(int(token.value), words=False)
        if text == "|":
            self.bars += 1
            inner = self.expression(0)
            self.expect("|", "|")
            self.bars -= 1
            return Invoke("abs", [inner], grouped=True)
        if text == "⌊" or text == "⌈":
            inner = self.expression(0)
            self.expect("⌋" if text == "⌊" else "⌉", text)
            return Invoke("floor" if text == "⌊" else "ceil", [inner], grouped=True)
        self.position -= 1
        raise self.unexpected(token)

    def _operator(self, rank: int) -> str:
        """Return the operator after an operand: "" for none, " " for a product without a sign."""
        token = self.current
        kind, text = token.kind, token.text
        if kind == "operator":
            if text == "%":
                return "rem" if is_remainder(self, token) else "percent"
            if text == "!=" and not token.spaced and not self.ahead().spaced:
                raise fail(
                    "ambiguous", "`!=` may be a factorial and `=`, or `not equal`. Write `5! = 120` or `5 != 3`."
                )
            if text in _RANKS:
                return text
            if text in ("(", "[", "√", "∛", "∜", "⌊", "⌈"):
                return " "
            if text in _CODE and not (text == "|" and self.bars):
                raise fail("unsupported", f"The calculator has no operator `{text}`. Write {_CODE[text]}.")
            return ""
        if kind == "name":
            return self._name_as_operator(token)
        if kind == "superscript":
            if self.ahead().text == "√":
                shown = self.slice(max(0, self.position - 1), self.position + 2)
                base = self.slice(max(0, self.position - 1), self.position)
                n = token.text
                raise two_readings(shown, f"{base}^{n} * sqrt(…)", f"{base} * root(…, {n})")
            return "²"
        return " " if kind == "command" else ""

    def _name_as_operator(self, token: Token) -> str:
        text = token.text
        following = self.ahead()
        if text in ("x", "X") and self.begins_operand(following):
            return "*"
        if text in ("deg", "degree", "degrees") and following.text != "(":
            return "°"
        if find_constant(text) is None and find_function(text) is None and not text.startswith("log_"):
            raise unknown_name(text)
        return " "

    def _postfix(self, operator: str, operand: Node, rank: int) -> Node:
        """Return the operand with a postfix operator, which is already read."""
        if operator == "!":
            if self.current.text == "!":
                raise fail("ambiguous", "`!!` may be a double factorial or the factorial of one. Write `(3!)!`.")
            return Invoke("factorial", [operand])
        if operator == "percent":
            if rank == _POWER - 1:
                raise fail(
                    "ambiguous", "A percent sign after a power can be read in two ways. Write `(2^3)%` or `2^(3%)`."
                )
            return Percent(operand)
        if operator == "°":
            if isinstance(operand, Invoke) and not operand.grouped:
                raise fail("ambiguous", "A degree sign after a function can be read in two ways. Write `sin(30°)`.")
            return Invoke("radians", [operand])
        if operator == "²":
            return Power(operand, Number(self.tokens[self.position - 1].value), caret=False)
        return Power(operand, Number(2 if operator == "squared" else 3), caret=False)

    def _power(self, base: Node) -> Node:
        """Return base^exponent, with `^` already read. `30^∘` is an angle in degrees."""
        if self.current.text == "°":
            self.position += 1
            return Invoke("radians", [base])
        if self.current.text == "(" and self.ahead().text == "°" and self.ahead(2).text == ")":
            self.position += 3
            return Invoke("radians", [base])
        return Power(base, self.expression(_POWER - 1))

    def _implicit(self, left: Node, start: int) -> Node:
        """Return the product of two operands with no sign between, as in `2π` or `(1+2)(3+4)`."""
        middle = self.position
        if isinstance(left, Power) and left.caret and not left.grouped:
            before = self.slice(start, middle)
            raise fail(
                "ambiguous",
                f"After `{before}` a sign is missing: the exponent may end there or go on. "
                f"Write `({before}) * …`, or put the whole exponent in brackets.",
            )
        if isinstance(left, Constant) and left.name == "e" and not left.grouped and self.current.text == "(":
            raise fail("ambiguous", "`e(…)` may be a product or the exponential function. Write `e * (…)` or `exp(…)`.")
        mixed = isinstance(left, Number) and not left.grouped and self.current.text == "frac"
        right = self.expression(_IMPLICIT)
        if mixed:
            whole, part = self.slice(start, middle), self.slice(middle, self.position)
            raise two_readings(self.slice(start, self.position), f"({whole} + {part})", f"{whole} * {part}")
        if isinstance(left, Chain) and left.split and not left.grouped:
            left.rest.append(("*", right))
            return left
        return Chain(left, [("*", right)], split=middle)
