"""Text to tokens: numbers, names, operators, in every spelling that the calculator reads."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, NamedTuple

from turngate.tools.calculator.budget import MAX_CHARACTERS, MAX_NESTING, MAX_SHOWN_DIGITS, MAX_TOKENS
from turngate.tools.calculator.characters import SUBSCRIPTS, SUPERSCRIPTS, VULGAR_FRACTIONS, plain
from turngate.tools.calculator.errors import clip, fail
from turngate.tools.calculator.literals import read_number
from turngate.tools.calculator.words import GREEK, LATEX_NAMES, LATEX_OPERATORS, LATEX_SILENT, PHRASES

__all__ = ["Token", "tokenize"]


class Token(NamedTuple):
    """One token. `kind` is number, grouped, name, operator, superscript, command or end."""

    kind: str
    text: str
    start: int
    end: int
    spaced: bool
    """There is a blank before it."""
    value: int | Fraction = 0


_PATTERN: Final = re.compile(
    r"""
    [ \u2009\n]*(?:
    (?P<grouped>[1-9][0-9]{0,2}(?:(?:,[0-9]{3}){1,40}+(?![0-9]|,[0-9])|(?:\{,\}[0-9]{3}){1,40}+(?![0-9])
        |(?:'[0-9]{3}){1,40}+(?![0-9'])|(?:\u2009[0-9]{3}){1,40}+(?!\u2009?[0-9]))(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
  | (?P<number>0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+
        |(?:[0-9]+(?:_[0-9]+)*(?:\.(?![A-Za-z_])(?:[0-9]+(?:_[0-9]+)*)?)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
  | (?P<times>(?<=[0-9)])[xX](?=[0-9.(]))
  | (?P<phrase>(?i:divided[ ]+by|multiplied[ ]+by|(?:raised[ ]+)?to[ ]+the[ ]+power(?:[ ]+of)?
        |(?:the[ ]+)?(?:square|cube)[ ]+root[ ]+of)(?![A-Za-z0-9_]))
  | (?P<name>(?:[A-Za-z]|_(?=[A-Za-z_]))[A-Za-z0-9_]*[₀-₉]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*|[πτφ∞])
  | (?P<operator>\*\*|//|<<|>>|<=|>=|=>|=<|==|!=|<>|&&|[-+*/^%(){}\[\],=<>!|?:°√∛∜&~≤≥≠⌊⌋⌈⌉_])
  | (?P<superscript>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)
  | (?P<latex>\\text[ ]*\{[^{}]*\}|\\(?:[A-Za-z]+|.))
  | (?P<vulgar>[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒])
  | (?P<currency>[$€£¥]))
    """,
    re.VERBOSE | re.DOTALL,
)
_SAME: Final = {
    "**": "^",
    "≤": "<=",
    "≥": ">=",
    "=<": "<=",
    "=>": ">=",
    "≠": "!=",
    "<>": "!=",
    "==": "=",
    "{": "(",
    "}": ")",
}
_OPENING: Final = frozenset("([{⌊⌈")
_CLOSING: Final = frozenset(")]}⌋⌉")


def tokenize(original: str) -> list[Token]:
    """Return the tokens of an expression, closed by an `end` token. Raises ToolFailed."""
    if len(original) > MAX_CHARACTERS:
        raise fail(
            "too_long",
            f"The expression has {len(original)} characters; the calculator reads up to {MAX_CHARACTERS}. "
            "Split it, or use a code tool.",
        )
    text = plain(original).rstrip(" \u2009\n")
    tokens: list[Token] = []
    currency = ""
    position, length, depth, silent = 0, len(text), 0, False
    match_at = _PATTERN.match
    while position < length:
        if len(tokens) > MAX_TOKENS:
            raise fail(
                "too_long",
                f"The expression has more than {MAX_TOKENS} numbers and signs. Split it, or use a code tool.",
            )
        match = match_at(text, position)
        if match is None:
            raise _unreadable(original, text, position)
        kind = match.lastgroup or ""
        word = match[kind]
        start = match.start(kind)
        spaced = start > position or silent
        if start > position and depth == 0 and tokens and "\n" in match[0]:
            raise fail("unsupported", "The calculator reads one expression per call; this text has several lines.")
        position = match.end()
        silent = False
        if kind == "operator":
            if word in _OPENING:
                depth += 1
                if depth > MAX_NESTING:
                    raise fail(
                        "too_deep", f"More than {MAX_NESTING} brackets are open at once. Simplify the expression."
                    )
            elif word in _CLOSING:
                depth -= 1
            tokens.append(Token("operator", _SAME.get(word, word), start, position, spaced))
        elif kind == "number" or kind == "grouped":
            tokens.append(Token(kind, word, start, position, spaced, read_number(word)))
        elif kind == "name":
            if not word.isascii():
                word = _without_subscripts(word)
            operator = PHRASES.get(word.lower())
            if operator is None or (operator == "mod" and not _ends_operand(tokens)):
                tokens.append(Token("name", word, start, position, spaced))
            else:
                tokens.append(Token("operator", operator, start, position, spaced))
        elif kind == "phrase":
            tokens.append(Token("operator", PHRASES[" ".join(word.lower().split())], start, position, spaced))
        elif kind == "times":
            tokens.append(Token("operator", "*", start, position, spaced))
        elif kind == "superscript":
            digits = word.translate(SUPERSCRIPTS)
            if len(digits) > MAX_SHOWN_DIGITS:
                raise fail("too_large", "The exponent is too large.")
            tokens.append(Token("superscript", digits, start, position, spaced, read_number(digits)))
        elif kind == "latex":
            token = _latex(word, start, position, spaced)
            if token is None:
                silent = True
            else:
                tokens.append(token)
        elif kind == "vulgar":
            _append_vulgar(tokens, Token("number", word, start, position, spaced, VULGAR_FRACTIONS[word]))
        else:
            currency = _currency(word, currency, text, position, tokens)
            silent = spaced
    tokens.append(Token("end", "", length, length, False))
    return tokens


def _ends_operand(tokens: list[Token]) -> bool:
    """Tell whether an operand has just ended, so that `mod` stands between two and is no function."""
    return bool(tokens) and (tokens[-1].kind != "operator" or tokens[-1].text in (")", "]", "|", "!", "⌋", "⌉"))


def _without_subscripts(name: str) -> str:
    """Return `log_2` for `log₂`; a Greek letter by its name."""
    return GREEK.get(name) or re.sub("[₀-₉]+", lambda match: "_" + match[0].translate(SUBSCRIPTS), name)


def _latex(word: str, start: int, end: int, spaced: bool) -> Token | None:
    """Return the token of a LaTeX command, or None for one that only sets the type."""
    name = word[1:]
    if name.startswith("text"):
        name = name[4:].strip(" {}")
        if name in PHRASES:
            return Token("operator", PHRASES[name], start, end, spaced)
    if name == "" or name in LATEX_SILENT:
        return None
    if name in LATEX_OPERATORS:
        return Token("operator", LATEX_OPERATORS[name], start, end, spaced)
    if name in LATEX_NAMES:
        return Token("name", LATEX_NAMES[name], start, end, spaced)
    if name in ("frac", "dfrac", "tfrac", "cfrac", "sqrt", "binom", "dbinom", "tbinom"):
        return Token("command", name.lstrip("dtc"), start, end, spaced)
    raise fail("unsupported", f"The calculator does not read the LaTeX command `{clip(word)}`. Write plain arithmetic.")


def _append_vulgar(tokens: list[Token], token: Token) -> None:
    """Append `½`; after a whole number it makes a mixed number, `3½`."""
    whole = tokens[-1] if tokens else None
    if whole is not None and whole.kind == "number" and whole.text.isdecimal():
        tokens[-1] = whole._replace(text=whole.text + token.text, end=token.end, value=whole.value + token.value)
    else:
        tokens.append(token)


def _currency(word: str, seen: str, text: str, position: int, tokens: list[Token]) -> str:
    """Check a currency sign, which is read as nothing; return it."""
    following = text[position:].lstrip(" ")[:1]
    before = bool(following) and (following.isdigit() or following in ".(-")
    after = bool(tokens) and tokens[-1].kind in ("number", "grouped")
    if not (before or (after and word != "$")):
        raise fail("syntax", f"`{word}` stands before an amount, as in `{word}1,200 * 3`.")
    if seen and seen != word:
        raise fail("unsupported", f"The expression mixes `{seen}` and `{word}`; the calculator converts no currencies.")
    return word


def _unreadable(original: str, text: str, position: int) -> Exception:
    """Return the error for a character that starts no token."""
    while text[position] in " \u2009\n":
        position += 1
    character = original[position]
    near = f"`{clip(original[max(0, position - 12) : position + 12])}`"
    if character in "\"'`“”‘’":
        return fail("unsupported", f"The calculator reads no text in quotes, near {near}. Write numbers and operators.")
    if character == ";":
        return fail("unsupported", "The calculator reads one expression per call; `;` separates several.")
    if character == ".":
        return fail(
            "unsupported",
            f"A `.` stands outside a number, near {near}. The calculator has no attributes or methods; "
            "use a code tool.",
        )
    if character in "∑∏∫∂∇":
        return fail(
            "unsupported", f"The calculator does not read `{character}`. Use a code tool for sums and calculus."
        )
    if character in "≈≅≡":
        return fail("unsupported", f"The calculator does not read `{character}`. Compare with =, !=, <, <=, > or >=.")
    if character == "±":
        return fail("ambiguous", "`±` has two values. Ask for `+` and `-` separately.")
    return fail("syntax", f"The calculator does not read the character `{clip(character)}`, near {near}.")
