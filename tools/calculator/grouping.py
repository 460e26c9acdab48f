"""Commas inside brackets: `max(1,234)` holds one number or two.

Outside of a function `1,234` is a number. Inside, the comma may also separate two arguments. Where
only one of the readings gives the function a number of arguments that it takes, that one is meant:
`sqrt(1,234)` is the root of 1234 and `gcd(48,180)` has two arguments. Otherwise it is ambiguous.
"""

from __future__ import annotations

from turngate.tools.calculator.errors import clip, fail
from turngate.tools.calculator.functions import Function, find_function
from turngate.tools.calculator.lexer import Token
from turngate.tools.calculator.literals import read_number

__all__ = ["settle_commas"]


class _Bracket:
    """A bracket that is open, with the commas directly inside it."""

    def __init__(self, tokens: list[Token], opening: int, outer: _Bracket | None) -> None:
        self.opening = opening
        self.commas = 0
        self.grouped: list[int] = []
        self.is_list = tokens[opening].text == "["
        self.function: Function | None = None
        """The function whose arguments stand in it."""
        before = tokens[opening - 1] if opening else None
        if before is None:
            return
        if not self.is_list:
            self.function = find_function(before.text) if before.kind == "name" else None
        elif before.text in ("(", ",") and outer is not None and outer.function and outer.function.most is None:
            self.function = outer.function


def settle_commas(tokens: list[Token], text: str) -> list[Token]:
    """Return the tokens with every grouped number decided: one number, or several arguments.

    Raises ToolFailed (ambiguous) where both readings are possible.
    """
    split: set[int] = set()
    open_brackets: list[_Bracket] = []
    for index, token in enumerate(tokens):
        if token.kind == "grouped":
            if open_brackets and "," in token.text and "{" not in token.text:
                open_brackets[-1].grouped.append(index)
        elif token.kind == "operator":
            if token.text in ("(", "["):
                open_brackets.append(_Bracket(tokens, index, open_brackets[-1] if open_brackets else None))
            elif token.text == "," and open_brackets:
                open_brackets[-1].commas += 1
            elif token.text in (")", "]") and open_brackets:
                bracket = open_brackets.pop()
                if bracket.grouped and _separates(tokens, bracket, index, text):
                    split.update(bracket.grouped)
    settled: list[Token] = []
    for index, token in enumerate(tokens):
        if token.kind != "grouped":
            settled.append(token)
        elif index in split:
            settled.extend(_parts(token))
        else:
            settled.append(token._replace(kind="number"))
    return settled


def _separates(tokens: list[Token], bracket: _Bracket, closing: int, text: str) -> bool:
    """Tell whether the commas in the bracket's grouped numbers separate arguments."""
    function = bracket.function
    if function is None:
        return False
    if not bracket.is_list:
        as_numbers = bracket.commas + 1
        as_arguments = as_numbers + sum(tokens[index].text.count(",") for index in bracket.grouped)
        if not function.takes(as_arguments):
            return False
        if not function.takes(as_numbers):
            return True
    elif tokens[closing + 1].text not in (",", ")"):
        return False
    token = tokens[bracket.grouped[0]]
    shown = clip(token.text)
    raise fail(
        "ambiguous",
        f"In `{clip(text[tokens[bracket.opening].start : tokens[closing].end])}` the comma may separate thousands "
        f"or arguments. Write `{clip(token.text.replace(',', ''))}` for one number "
        f"or `{shown.replace(',', ', ')}` for several.",
    )


def _parts(token: Token) -> list[Token]:
    """Split `1,234` into its numbers and commas."""
    parts: list[Token] = []
    position = token.start
    for piece in token.text.split(","):
        if parts:
            parts.append(Token("operator", ",", position - 1, position, False))
        parts.append(
            Token("number", piece, position, position + len(piece), token.spaced and not parts, read_number(piece))
        )
        position += len(piece) + 1
    return parts
