"""The functions and constants that an expression may name."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from turngate.tools.calculator import aggregates, elementary, integers, powers
from turngate.tools.calculator.arithmetic import floor, modulo, subtract
from turngate.tools.calculator.budget import Work
from turngate.tools.calculator.errors import clip, fail
from turngate.tools.calculator.values import Value

__all__ = ["CONSTANTS", "Function", "find_constant", "find_function", "unknown_name"]

CONSTANTS: Final = frozenset({"pi", "e", "tau", "phi"})
Apply: TypeAlias = Callable[[list[Value], Work], "Value | bool"]


@dataclass(frozen=True, slots=True)
class Function:
    """A function with the number of arguments that it takes."""

    name: str
    apply: Apply
    least: int = 1
    most: int | None = 1
    """None: any number; the function then takes a list as well, `sum([1, 2])`."""

    def takes(self, count: int) -> bool:
        """Tell whether the function takes so many arguments."""
        return self.least <= count and (self.most is None or count <= self.most)

    @property
    def arity(self) -> str:
        """The number of arguments in words."""
        if self.most is None:
            return f"at least {self.least} argument{'s' * (self.least > 1)}"
        if self.least == self.most:
            return f"{self.least} argument{'s' * (self.least > 1)}"
        return f"{self.least} to {self.most} arguments"


def _one(function: Callable[[Value, Work], Value | bool]) -> Apply:
    return lambda arguments, work: function(arguments[0], work)


def _two(function: Callable[[Value, Value, Work], Value]) -> Apply:
    return lambda arguments, work: function(arguments[0], arguments[1], work)


def _log(arguments: list[Value], work: Work) -> Value:
    if len(arguments) == 1:
        raise fail(
            "ambiguous",
            "log(x) may mean base 10 or base e. Write log10(x) or ln(x); for another base write log(x, base).",
        )
    return powers.logarithm(arguments[0], arguments[1], work)


def _pow(arguments: list[Value], work: Work) -> Value:
    return powers.power(arguments[0], arguments[1], work) if len(arguments) == 2 else integers.power_of(arguments, work)


def _fraction_part(x: Value, work: Work) -> Value:
    return subtract(x, floor(x, work), work)


_FUNCTIONS: Final = (
    Function("sqrt", lambda a, w: powers.root(a[0], 2, w)),
    Function("cbrt", lambda a, w: powers.root(a[0], 3, w)),
    Function("root", _two(powers.root), 2, 2),
    Function("isqrt", _one(integers.integer_square_root)),
    Function("pow", _pow, 2, 3),
    Function("exp", _one(powers.exponential)),
    Function("ln", _one(powers.natural_logarithm)),
    Function("log", _log, 1, 2),
    Function("log2", lambda a, w: powers.logarithm(a[0], 2, w)),
    Function("log10", lambda a, w: powers.logarithm(a[0], 10, w)),
    Function("sin", _one(elementary.sine)),
    Function("cos", _one(elementary.cosine)),
    Function("tan", _one(elementary.tangent)),
    Function("asin", _one(elementary.arc_sine)),
    Function("acos", _one(elementary.arc_cosine)),
    Function("atan", _one(elementary.arc_tangent)),
    Function("atan2", _two(elementary.arc_tangent_of_two), 2, 2),
    *(Function(n, _one(elementary.hyperbolic(n))) for n in ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh")),
    Function("degrees", _one(elementary.to_degrees)),
    Function("radians", _one(elementary.to_radians)),
    Function("gamma", _one(elementary.gamma)),
    Function("abs", _one(aggregates.absolute)),
    Function("sign", _one(aggregates.sign)),
    Function("floor", _one(floor)),
    Function("ceil", _one(aggregates.ceiling)),
    Function("trunc", _one(aggregates.truncate)),
    Function("round", aggregates.rounded, 1, 2),
    Function("frac", _one(_fraction_part)),
    Function("mod", _two(modulo), 2, 2),
    Function("factorial", _one(integers.factorial)),
    Function("comb", _two(integers.combinations), 2, 2),
    Function("perm", _two(integers.permutations), 2, 2),
    Function("is_prime", _one(integers.is_prime)),
    Function("gcd", integers.common_divisor, 2, None),
    Function("lcm", integers.common_multiple, 2, None),
    Function("bitand", lambda a, w: integers.bit_and(a[0], a[1]), 2, 2),
    Function("bitor", lambda a, w: integers.bit_or(a[0], a[1]), 2, 2),
    Function("bitxor", lambda a, w: integers.bit_xor(a[0], a[1]), 2, 2),
    Function("min", aggregates.smallest, 1, None),
    Function("max", aggregates.largest, 1, None),
    Function("sum", aggregates.total, 1, None),
    Function("prod", aggregates.product, 1, None),
    Function("mean", aggregates.mean, 1, None),
    Function("median", aggregates.median, 1, None),
    Function("hypot", aggregates.hypotenuse, 1, None),
    Function("stdev", partial(aggregates.spread, sample=True, deviation=True), 1, None),
    Function("pstdev", partial(aggregates.spread, sample=False, deviation=True), 1, None),
    Function("variance", partial(aggregates.spread, sample=True, deviation=False), 1, None),
    Function("pvariance", partial(aggregates.spread, sample=False, deviation=False), 1, None),
)
_ALIASES: Final = {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arctan2": "atan2",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "average": "mean",
    "avg": "mean",
    "binom": "comb",
    "binomial": "comb",
    "C": "comb",
    "ncr": "comb",
    "P": "perm",
    "npr": "perm",
    "ceiling": "ceil",
    "fabs": "abs",
    "fact": "factorial",
    "int": "trunc",
    "isprime": "is_prime",
    "lb": "log2",
    "lg2": "log2",
    "maximum": "max",
    "minimum": "min",
    "nthroot": "root",
    "power": "pow",
    "powmod": "pow",
    "product": "prod",
    "sgn": "sign",
    "deg2rad": "radians",
    "rad2deg": "degrees",
}
_BY_NAME: Final = {function.name: function for function in _FUNCTIONS}
_BY_NAME.update({alias: _BY_NAME[name] for alias, name in _ALIASES.items()})
_MODULES: Final = frozenset({"math", "np", "numpy", "mpmath", "statistics"})

_ALGEBRA: Final = (
    "solve simplify expand factor factors diff derivative differentiate integrate integral limit lim series "
    "nsolve roots equation sympy symbols subs d dx matrix det"
)
_PROGRAM: Final = (
    "lambda for if else and or not in is def return print import while class eval exec range len list map filter "
    "open str float complex input none true false"
)
_HINTS: Final = {
    "choose": "Write comb(n, k).",
    "off": "For 20% off 50 write 50 * (1 - 20%).",
    "i": "The calculator has no complex numbers; use a code tool.",
    "j": "The calculator has no complex numbers; use a code tool.",
    "infinity": "The calculator has no infinity.",
    "inf": "The calculator has no infinity.",
    "nan": "The calculator has no NaN.",
    "ans": "The calculator remembers no earlier result; write the number.",
    "lg": "Write log10(x) or log2(x).",
    "xor": "Write bitxor(a, b).",
    "quotient": "Write a // b.",
    "cot": "Write 1 / tan(x).",
    "sec": "Write 1 / cos(x).",
    "csc": "Write 1 / sin(x).",
}


def _key(name: str) -> str:
    """Return a name without its module and in lower case; `math.sqrt` and `SQRT` are `sqrt`."""
    module, dot, rest = name.partition(".")
    if dot and module.lower() in _MODULES:
        name = rest
    return name.lower()


def find_function(name: str) -> Function | None:
    """Return the function of that name, or None."""
    return _BY_NAME.get(name) or _BY_NAME.get(_key(name))


def find_constant(name: str) -> str | None:
    """Return the constant's canonical name, or None. A capital E is no constant."""
    if name in CONSTANTS:
        return name
    key = _key(name)
    return key if key in CONSTANTS and not name.endswith("E") else None


def unknown_name(name: str) -> Exception:
    """Return the error for a name that is neither function nor constant."""
    shown, key = clip(name), name.lower()
    if key in _HINTS:
        return fail(
            "unsupported" if key in ("i", "j", "infinity", "inf", "nan") else "unknown_name",
            f"`{shown}`: {_HINTS[key]}",
        )
    if key in _ALGEBRA.split():
        return fail(
            "unsupported",
            f"`{shown}`: the calculator evaluates numbers; it does no algebra or calculus. Use a code tool for that.",
        )
    if "." in name or name.startswith("_"):
        return fail(
            "unsupported",
            f"`{shown}`: the calculator has no attributes, methods or modules. Write a plain name such as sqrt(2), "
            "or use a code tool.",
        )
    if key in _PROGRAM.split():
        return fail("unsupported", f"`{shown}`: the calculator reads arithmetic, not programs. Use a code tool.")
    if len(name) == 1:
        return fail(
            "unknown_name",
            f"`{shown}` has no value: the calculator has no variables and solves no equations. "
            "Put in the number, or use a code tool.",
        )
    close = difflib.get_close_matches(key, _BY_NAME.keys() | CONSTANTS, n=1) if len(key) <= 20 else []
    hint = f" Did you mean `{close[0]}`?" if close else " Write numbers, operators and functions such as sqrt(2)."
    return fail("unknown_name", f"The calculator does not know `{shown}`.{hint}")
