"""Which characters mean the same: one character in, one character out, so that positions stay."""

from __future__ import annotations

import unicodedata
from fractions import Fraction
from typing import Final

__all__ = ["SUBSCRIPTS", "SUPERSCRIPTS", "VULGAR_FRACTIONS", "plain", "unwrap"]

SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
SUBSCRIPTS: Final = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
VULGAR_FRACTIONS: Final = {
    "½": Fraction(1, 2),
    "⅓": Fraction(1, 3),
    "⅔": Fraction(2, 3),
    "¼": Fraction(1, 4),
    "¾": Fraction(3, 4),
    "⅕": Fraction(1, 5),
    "⅖": Fraction(2, 5),
    "⅗": Fraction(3, 5),
    "⅘": Fraction(4, 5),
    "⅙": Fraction(1, 6),
    "⅚": Fraction(5, 6),
    "⅐": Fraction(1, 7),
    "⅛": Fraction(1, 8),
    "⅜": Fraction(3, 8),
    "⅝": Fraction(5, 8),
    "⅞": Fraction(7, 8),
    "⅑": Fraction(1, 9),
    "⅒": Fraction(1, 10),
}

_SAME: Final = {
    "*": "×⋅·∙∗•✕✖⨯⨉\u2062",
    "/": "÷∕⁄➗",
    "-": "−–—‐‑‒﹣➖",
    "+": "➕﹢",
    "~": "∼",
    "|": "∣ǀ❘",
    "'": "’‘`´",
    '"': "“”„",
    "(": "❨⁽",
    ")": "❩⁾",
    "≤": "⩽≦",
    "≥": "⩾≧",
    "°": "º˚",
    ":": "∶",
    "φ": "ϕ",
    " ": "\t\r\f\v\u2061\u200b\u200c\u200d\u2060\ufeff",
    "\u2009": "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u200a\u202f\u3000",
}
_TABLE: Final = {ord(other): one for one, others in _SAME.items() for other in others} | {
    code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)
}
_WRAPPERS: Final = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"), ("```", "```"), ("`", "`"))


def plain(text: str) -> str:
    """Return `text`, as long as before, with look-alikes and foreign digits replaced by ASCII."""
    if text.isascii():
        return text.translate(_TABLE) if "`" in text or "\t" in text or "\r" in text else text
    text = text.translate(_TABLE)
    if any(character.isdecimal() and not character.isascii() for character in text):
        text = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)
    return text


def unwrap(text: str) -> str:
    """Return the formula without what models put around it: blanks, `$...$`, backticks."""
    text = text.strip(" \t\r\n\u00a0\ufeff\u200b")
    for opening, closing in _WRAPPERS:
        if len(text) > len(opening) + len(closing) and text.startswith(opening) and text.endswith(closing):
            inner = text[len(opening) : -len(closing)]
            if opening not in inner and closing not in inner:
                return inner.strip()
    return text
