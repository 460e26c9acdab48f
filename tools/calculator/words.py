"""Words and LaTeX commands, and the operator or name that each stands for."""

from __future__ import annotations

from typing import Final

__all__ = ["GREEK", "LATEX_NAMES", "LATEX_OPERATORS", "LATEX_SILENT", "PHRASES"]

PHRASES: Final = {
    "plus": "+",
    "minus": "-",
    "times": "*",
    "multiplied by": "*",
    "divided by": "/",
    "mod": "mod",
    "modulo": "mod",
    "of": "of",
    "percent": "percent",
    "squared": "squared",
    "cubed": "cubed",
    "to the power": "^",
    "to the power of": "^",
    "raised to the power": "^",
    "raised to the power of": "^",
    "square root of": "square root of",
    "the square root of": "square root of",
    "cube root of": "cube root of",
    "the cube root of": "cube root of",
}
"""`percent` differs from `%`, which may also mean a remainder."""

GREEK: Final = {"π": "pi", "τ": "tau", "φ": "phi", "∞": "infinity"}

LATEX_OPERATORS: Final = {
    "times": "*",
    "cdot": "*",
    "ast": "*",
    "div": "/",
    "le": "<=",
    "leq": "<=",
    "ge": ">=",
    "geq": ">=",
    "ne": "!=",
    "neq": "!=",
    "lt": "<",
    "gt": ">",
    "bmod": "mod",
    "mod": "mod",
    "%": "percent",
    "{": "(",
    "}": ")",
    "lvert": "|",
    "rvert": "|",
    "vert": "|",
    "|": "|",
    "lfloor": "⌊",
    "rfloor": "⌋",
    "lceil": "⌈",
    "rceil": "⌉",
    "circ": "°",
    "degree": "°",
}

LATEX_NAMES: Final = {
    "arccos": "acos",
    "arcsin": "asin",
    "arctan": "atan",
    "cos": "cos",
    "cosh": "cosh",
    "exp": "exp",
    "gcd": "gcd",
    "infty": "infinity",
    "ln": "ln",
    "log": "log",
    "max": "max",
    "min": "min",
    "phi": "phi",
    "pi": "pi",
    "sin": "sin",
    "sinh": "sinh",
    "tan": "tan",
    "tanh": "tanh",
    "tau": "tau",
    "varphi": "phi",
}

LATEX_SILENT: Final = frozenset(
    [
        "left",
        "right",
        "big",
        "Big",
        "bigl",
        "bigr",
        "Bigl",
        "Bigr",
        "displaystyle",
        "quad",
        "limits",
        ",",
        ";",
        ":",
        "!",
        " ",
        "$",
    ]
)
