"""A position in the tokens, and the errors about what stands there."""

from __future__ import annotations

from typing import Final

from turngate.tools.calculator.budget import MAX_DEPTH
from turngate.tools.calculator.errors import clip, fail
from turngate.tools.calculator.lexer import Token

__all__ = ["Cursor"]

_OPENERS: Final = frozenset({"(", "[", "√", "∛", "∜", "⌊", "⌈"})
"""Operators that begin an operand and cannot continue one."""


class Cursor:
    """Tokens, and how far they have been read."""

    def __init__(self, tokens: list[Token], text: str) -> None:
        self.tokens = tokens
        self.text = text
        self.position = 0
        self.depth = 0
        self.bars = 0
        """Open `|` since the last bracket."""

    @property
    def current(self) -> Token:
        """The next token to be read."""
        return self.tokens[self.position]

    def ahead(self, count: int = 1) -> Token:
        """Return the token so many places ahead; the last one is `end`."""
        return self.tokens[min(self.position + count, len(self.tokens) - 1)]

    def slice(self, start: int, end: int) -> str:
        """Return the text of the tokens from `start` up to `end`, short enough for a message."""
        return clip(self.text[self.tokens[start].start : self.tokens[end - 1].end]) if end > start else ""

    def deepen(self) -> None:
        """Count one level of nesting. Raises ToolFailed (too_deep)."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise fail("too_deep", "The expression is nested too deeply. Simplify it.")

    def begins_operand(self, token: Token) -> bool:
        """Tell whether a token can only begin an operand."""
        return token.kind in ("number", "name", "command") or token.text in _OPENERS

    def expect(self, closing: str, opening: str) -> None:
        """Read a closing bracket. Raises ToolFailed (syntax) when something else stands there."""
        token = self.current
        if token.text != closing:
            if token.kind == "end":
                raise fail("syntax", f"A `{opening}` is never closed; a `{closing}` is missing.")
            raise self.unexpected(token)
        self.position += 1

    def unexpected(self, token: Token) -> Exception:
        """Return the error for a token that cannot stand here."""
        before = self.slice(max(0, self.position - 4), self.position)
        after = f" after `{before}`" if before else ""
        shown = clip(self.text[token.start : token.end])
        if token.kind == "end":
            return fail("syntax", f"The expression ends{after} where a number is expected.")
        if token.kind == "number":
            return self._two_numbers(token)
        if token.text == ",":
            return self._comma()
        if token.text == ":":
            return fail("ambiguous", "`:` may be a ratio or a division. Write `/` for a division.")
        if token.text in (")", "]", "⌋", "⌉"):
            if before and self.tokens[self.position - 1].text in ("(", "["):
                return fail("syntax", "The brackets are empty. Put a number between them.")
            return fail("syntax", f"Unexpected `{shown}`{after}: no bracket is open there, or a number is missing.")
        if token.text == "?":
            return fail("syntax", "A `?` may only stand at the end, as in `2 + 2 = ?`.")
        return fail("syntax", f"Unexpected `{shown}`{after or ' at the start'}. Check the expression there.")

    def _comma(self) -> Exception:
        start = max(0, self.position - 1)
        shown = self.slice(start, min(self.position + 2, len(self.tokens) - 1))
        left, right = self.tokens[start], self.ahead()
        if left.kind == right.kind == "number" and not self.current.spaced and not right.spaced:
            return fail(
                "ambiguous",
                f"`{shown}` is no well-formed number: thousands are grouped by three digits (1,234), and decimals "
                "take a point (1.23).",
            )
        return fail("syntax", f"Unexpected `,` in `{shown}`. Commas separate the arguments of a function.")

    def _two_numbers(self, token: Token) -> Exception:
        """Return the error for two numbers in a row."""
        first = clip(self.slice(self.position - 1, self.position))
        second = clip(token.text)
        third, fourth = self.ahead(1), self.ahead(2)
        if token.text.isdecimal() and first.isdecimal() and third.text == "/" and fourth.kind == "number":
            return fail(
                "ambiguous",
                f"`{first} {second}/{clip(fourth.text)}` may be a mixed number. "
                f"Write ({first} + {second}/{clip(fourth.text)}), or put an operator between.",
            )
        if token.spaced and first.isdecimal() and len(token.text) == 3 and len(first) <= 3:
            return fail(
                "ambiguous",
                f"`{first} {second}` may be one number. Write {first}{second} for it, or put an operator between.",
            )
        return fail("syntax", f"An operator is missing between `{first}` and `{second}`.")
