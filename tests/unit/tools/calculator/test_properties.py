"""Properties: agreement with Python's fractions in every notation, and no surprise for any text."""

from __future__ import annotations

from fractions import Fraction

import mpmath
from hypothesis import given, settings
from hypothesis import strategies as st

from turngate.tools import ToolFailed
from turngate.tools.calculator import calculate

Written = tuple[str, Fraction]

_TYPES = {
    "syntax",
    "ambiguous",
    "division_by_zero",
    "domain",
    "too_large",
    "too_long",
    "too_deep",
    "unknown_name",
    "unsupported",
}
_SIGNS = {
    "+": ["+", " + ", " plus ", "＋"],
    "-": [" - ", " − ", " – ", " minus "],
    "*": ["*", " × ", " · ", " times ", r" \cdot ", " x "],
    "/": ["/", " ÷ ", " / ", " divided by "],
}


@st.composite
def _numbers(draw: st.DrawFn) -> Written:
    kind = draw(st.sampled_from(["integer", "grouped", "decimal", "scientific", "underscored"]))
    n = draw(st.integers(0, 10**9))
    if kind == "integer":
        return str(n), Fraction(n)
    if kind == "grouped":
        return f"{n:,}", Fraction(n)
    if kind == "underscored":
        return f"{n:_}", Fraction(n)
    places = draw(st.integers(1, 6))
    if kind == "decimal":
        digits = str(n).zfill(places + 1)
        return f"{digits[:-places]}.{digits[-places:]}", Fraction(n, 10**places)
    return f"{n}e-{places}", Fraction(n, 10**places)


@st.composite
def _operations(draw: st.DrawFn, operands: st.SearchStrategy[Written]) -> Written:
    """Return an operation in brackets, so that it may stand anywhere."""
    (left, a), (right, b) = draw(operands), draw(operands)
    sign = draw(st.sampled_from("+-*/^n"))
    opening, closing = draw(st.sampled_from([("(", ")"), ("[", "]"), (r"\left(", r"\right)"), ("（", "）")]))
    if sign == "n":
        return f"{opening}-{left}{closing}", -a
    if sign == "^":
        n = draw(st.integers(0 if a else 1, 3))
        power = draw(st.sampled_from([f"^{n}", f"**{n}", f"^{{{n}}}", "⁰¹²³"[n]]))
        base = left if left.isdecimal() else f"({left})"
        return f"({base}{power})", a**n
    if sign == "/" and b == 0:
        sign = "+"
    value = {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else a}[sign]
    return f"{opening}{left}{draw(st.sampled_from(_SIGNS[sign]))}{right}{closing}", value


_expressions = st.recursive(_numbers(), lambda children: _operations(children), max_leaves=12)


@given(_expressions)
@settings(max_examples=300, deadline=None)
def test_every_notation_of_an_expression_gives_the_value_that_fractions_give(written: Written) -> None:
    text, value = written
    answer = calculate(text)
    if value.denominator == 1:
        assert answer.text == str(value.numerator)
        assert not answer.approximate
    elif answer.exact is not None:
        assert Fraction(answer.exact) == value
    if not answer.approximate:
        assert Fraction(answer.text) == value
    else:
        assert abs(Fraction(answer.text) - value) <= abs(value) * Fraction(1, 10**15)


@given(st.lists(st.tuples(st.sampled_from("+-*/"), st.integers(1, 99)), min_size=1, max_size=12), st.integers(0, 99))
@settings(max_examples=200, deadline=None)
def test_a_chain_without_brackets_has_the_precedence_of_school(rest: list[tuple[str, int]], first: int) -> None:
    text = f"{first}" + "".join(f" {sign} {n}" for sign, n in rest)
    value = eval(f"Fraction({first})" + "".join(f" {sign} Fraction({n})" for sign, n in rest))
    answer = calculate(text)
    assert Fraction(answer.exact or answer.text) == value


@given(st.text(max_size=60))
@settings(max_examples=400, deadline=None)
def test_any_text_is_answered_or_refused_in_words(text: str) -> None:
    _answered_or_refused(text)


_PIECES = (
    "1 2.5 10 1,234 ½ ² ⁻³ + - * / ^ ** // % ! != = == < <= ( ) [ ] { } | , ? : ° √ ∛ π e x of mod plus sin sqrt( log "
    r"log( max( sum([ gcd( \frac \sqrt \left( \right) \pi $ € % 1e3 0xff 100! factorial( round( . ' ; _ deg ⌊ ⌋ "
)


@given(st.lists(st.sampled_from([*_PIECES.split(" "), " "]), max_size=25))
@settings(max_examples=600, deadline=None)
def test_any_sequence_of_tokens_is_answered_or_refused_in_words(pieces: list[str]) -> None:
    _answered_or_refused("".join(pieces))
    _answered_or_refused(" ".join(pieces))


def _refusal(text: str) -> ToolFailed | None:
    """Return the refusal of an expression, or None when it is answered."""
    try:
        assert calculate(text).text
    except ToolFailed as error:
        return error
    return None


def _answered_or_refused(text: str) -> None:
    refusal = _refusal(text)
    if refusal is not None:
        assert refusal.type in _TYPES
        assert 0 < len(refusal.message) < 400


_IRRATIONAL = ["sin(3)", "cos(pi/7)", "sqrt(2)", "sqrt(3)", "ln(5)", "exp(1/3)", "pi", "e", "atan(2)", "2^(1/3)", "3/7"]


@st.composite
def _irrational(draw: st.DrawFn) -> str:
    terms = draw(st.lists(st.sampled_from(_IRRATIONAL), min_size=1, max_size=6))
    text = terms[0]
    for term in terms[1:]:
        text = f"({text} {draw(st.sampled_from('+-*/'))} {term})"
    return text


@given(_irrational())
@settings(max_examples=200, deadline=None)
def test_every_digit_of_an_approximation_is_right(text: str) -> None:
    names = {name: getattr(mpmath, name) for name in ("sin", "cos", "sqrt", "exp", "pi", "e", "atan")}
    names["ln"] = mpmath.log
    with mpmath.workdps(400):
        python = text.replace("^", "**").replace("1/3", "mpf(1)/3").replace("3/7", "mpf(3)/7")
        try:
            value = mpmath.mpf(1) * eval(python, {"mpf": mpmath.mpf}, names)
        except ZeroDivisionError:
            return
        refusal = _refusal(text)
        if refusal is not None:
            assert refusal.type == "division_by_zero"
            return
        answer = calculate(text)
        if abs(value) < mpmath.mpf(10) ** -300:
            assert answer.text == "0"
        else:
            assert abs(mpmath.mpf(answer.text) - value) <= abs(value) * mpmath.mpf(10) ** -15


@given(_irrational())
@settings(max_examples=100, deadline=None)
def test_the_exact_form_is_read_back_to_the_same_answer(text: str) -> None:
    try:
        answer = calculate(text)
    except ToolFailed:
        return
    if answer.exact is not None:
        assert calculate(answer.exact) == answer
