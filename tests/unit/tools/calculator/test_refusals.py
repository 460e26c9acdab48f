"""What the calculator refuses, with which type, and what the message tells the model to write."""

from __future__ import annotations

import pytest

from turngate.tools import ToolFailed
from turngate.tools.calculator import calculate

AMBIGUOUS = [
    ("80 + 10%", "80 * (1 + 10%)"),
    ("80 - 10%", "80 * (1 - 10%)"),
    ("2 * 40 + 10%", "(2 * 40) * (1 + 10%)"),
    ("50% 8", "of x"),
    ("50%-8", "mod"),
    ("50%(80)", "mod"),
    ("10%pi", "mod"),
    ("6/2(1+2)", "(6 / 2) * (1+2)"),
    ("6/2(1+2)", "6 / (2 * (1+2))"),
    ("1/2π", "(1 / 2) * π"),
    ("1 / 2 sqrt(2)", "1 / (2 * sqrt(2))"),
    ("8 mod 2(3)", "2 * (3)"),
    ("2 + 5 mod 3", "2 + (5 mod 3)"),
    ("7 mod 3 * 2", "(7 mod 3) * 2"),
    ("max(1,234)", "`1, 234`"),
    ("sum([1,234])", "`1234`"),
    ("round(1,234)", "`1, 234`"),
    ("log(100)", "log10(x)"),
    ("1,23", "1.23"),
    ("0,5", "point"),
    ("1,234,56", "three"),
    ("1.234,5", "three"),
    ("1 000", "1000"),
    ("3 1/2", "(3 + 1/2)"),
    (r"3\frac{1}{2}", r"(3 + \frac{1}{2})"),
    (r"5\tfrac{1}{2}", r"5 * \tfrac{1}{2}"),
    (r"10 * 2\frac{1}{2}", r"(2 + \frac{1}{2})"),
    ("10 / 50% of 4", "(10 / 50%) * 4"),
    ("10 / 50% of 4", "… / (… of 4)"),
    ("100 / 20% of 50", "(100 / 20%) * 50"),
    ("12 / ½ of 6", "(12 / ½) * 6"),
    ("12 // 1/2 of 6", "… // (… of 6)"),
    ("10 / -50% of 4", "(10 / -50%) * 4"),
    ("5!!", "(3!)!"),
    ("5!=120", "5 != 3"),
    ("2^3(4)", "(2^3) *"),
    ("e^2π", "(e^2) *"),
    ("2^3%", "(2^3)%"),
    ("e(2)", "exp("),
    ("sin^-1(0.5)", "asin"),
    ("sin⁻¹(0.5)", "asin"),
    ("sin(30)°", "sin(30°)"),
    ("sin 30 * 2", "sin(30)"),
    ("√16^2", "sqrt(16)"),
    ("√2π", "sqrt(2)"),
    ("2³√27", "root("),
    ("square root of 16 + 9", "sqrt(16)"),
    ("1:2", "/"),
    ("3 ± 1", "+"),
]

SYNTAX = [
    ("", "empty"),
    ("   ", "empty"),
    ("2 +", "`2 +`"),
    ("* 3", "start"),
    ("2 * / 3", "`/`"),
    ("(2", "closed"),
    ("2)", "bracket"),
    ("()", "empty"),
    ("3 4", "operator is missing"),
    ("(1+2)3", "operator is missing"),
    ("1.2.3", "operator is missing"),
    ("5 of 3", "50% of 80"),
    ("comb(5)", "2 arguments"),
    ("sqrt(1, 2)", "1 argument"),
    ("max()", "at least 1"),
    ("sqrt + 1", "brackets"),
    ("2 ? 3", "`?`"),
    ("5 $", "`$`"),
    ("2 @ 3", "`@`"),
    (r"\frac12 3", "brace"),
    ("|2|3|", "operator is missing"),
]

NAMES = [
    ("x + 1", "unknown_name", "no variables"),
    ("2x + 3", "unknown_name", "no variables"),
    ("x = 5", "unknown_name", "no variables"),
    ("f(2)", "unknown_name", "no variables"),
    ("srt(4)", "unknown_name", "`sqrt`"),
    ("5 choose 2", "unknown_name", "comb"),
    ("what is 2+2", "unknown_name", "what"),
    ("solve(x^2 = 4)", "unsupported", "code tool"),
    ("integrate(x)", "unsupported", "code tool"),
    ("i^2", "unsupported", "complex"),
    ("∞ + 1", "unsupported", "infinity"),
    ("print(2+2)", "unsupported", "code tool"),
    ("1 if 2 else 3", "unsupported", "programs"),
    ("lambda: 0", "unsupported", "programs"),
    ("[1, 2, 3]", "unsupported", "sum([1, 2, 3])"),
    ("1 << 3", "unsupported", "2^n"),
    ("5 & 3", "unsupported", "bitand"),
    ("5 | 3", "unsupported", "bitor"),
    ("(1 < 2) + 1", "unsupported", "true or false"),
    ("2; 3", "unsupported", "one expression"),
    ("2\n3", "unsupported", "one expression"),
    ("$5 + €3", "unsupported", "currencies"),
    ("∑ 3", "unsupported", "code tool"),
    (r"\alpha", "unsupported", "LaTeX"),
    ("__import__('os').system('id')", "unsupported", "calculator"),
    ("().__class__", "unsupported", "attributes"),
    ("(5).real", "unsupported", "attributes"),
    ("5.real", "unsupported", "attributes"),
    ("x.__class__.__mro__", "unsupported", "attributes"),
    ("__builtins__", "unsupported", "attributes"),
    ("np.linalg.det(3)", "unsupported", "attributes"),
    ('"{0.__class__}".format(1)', "unsupported", "quotes"),
]

DOMAIN = [
    ("sqrt(-4)", "square root of a negative"),
    ("√-4", "square root of a negative"),
    ("(-8)^(1/3)", "root(x, 3)"),
    ("(-1)^0.5", "not a real number"),
    ("0^0", "undefined"),
    ("ln(0)", "positive"),
    ("log(2, 1)", "base"),
    ("asin(2)", "-1 to 1"),
    ("acosh(0.5)", ">= 1"),
    ("atanh(1)", "< 1"),
    ("tan(90°)", "undefined"),
    ("atan2(0, 0)", "undefined"),
    ("3.5!", "gamma"),
    ("(-3)!", "from 0"),
    ("gcd(1.5, 2)", "whole"),
    ("root(8, 0)", "whole number"),
    ("gamma(-1)", "undefined"),
    ("gamma(tanh(-400))", "undefined"),
    ("gamma(-(sin(1)^2 + cos(1)^2))", "undefined"),
    ("variance(1)", "two numbers"),
    ("pow(2, -1, 4)", "inverse"),
]


def _refusal(text: str) -> ToolFailed:
    with pytest.raises(ToolFailed) as caught:
        calculate(text)
    return caught.value


@pytest.mark.parametrize(("text", "advice"), AMBIGUOUS)
def test_an_ambiguous_expression_is_refused_with_the_spellings_that_are_not(text: str, advice: str) -> None:
    error = _refusal(text)
    assert error.type == "ambiguous"
    assert advice in error.message


@pytest.mark.parametrize(("text", "part"), SYNTAX)
def test_a_malformed_expression_is_refused_and_the_place_is_shown(text: str, part: str) -> None:
    error = _refusal(text)
    assert error.type == "syntax"
    assert part in error.message


@pytest.mark.parametrize(("text", "type", "part"), NAMES)
def test_what_is_no_arithmetic_is_refused_and_the_message_says_what_to_use(text: str, type: str, part: str) -> None:
    error = _refusal(text)
    assert error.type == type
    assert part in error.message


@pytest.mark.parametrize(("text", "part"), DOMAIN)
def test_an_operation_without_a_real_answer_is_refused(text: str, part: str) -> None:
    error = _refusal(text)
    assert error.type == "domain"
    assert part in error.message


@pytest.mark.parametrize(
    "text", ["1/0", "1/0.0", "5 % 0", "5 mod 0", "5 // 0", "0^-1", "1/(sqrt(2)-sqrt(2))", "2^3 mod 0"]
)
def test_division_by_zero_has_its_own_type(text: str) -> None:
    assert _refusal(text).type == "division_by_zero"


@pytest.mark.parametrize("text", [row[0] for row in AMBIGUOUS + SYNTAX] + [row[0] for row in NAMES])
def test_no_message_is_longer_than_a_model_should_read(text: str) -> None:
    assert len(_refusal(text).message) < 250


@pytest.mark.parametrize("text", ["a" * 9_000, "1 " * 4_000, "max(" + "1,234," * 1_000, "@" * 9_000, "'" * 9_000])
def test_a_message_shows_only_a_part_of_a_long_expression(text: str) -> None:
    assert len(_refusal(text).message) < 300
