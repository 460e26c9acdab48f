"""Attacks: every one is answered or refused within the work budget, which is counted and not timed."""

from __future__ import annotations

import math
import sys

import pytest

from turngate.tools import ToolFailed
from turngate.tools.calculator import calculate
from turngate.tools.calculator.budget import FULL_WORK, INLINE_WORK, MAX_CHARACTERS, MAX_DIGITS, Work

REFUSED_AT_ONCE = [
    ("9**9**9", "too_large"),
    ("9**3999999", "too_large"),
    ("9^(9^(9^9))", "too_large"),
    ("2^(10^30)", "too_large"),
    ("factorial(10**9)", "too_large"),
    ("(10^300)!", "too_large"),
    ("100000!", "too_large"),
    ("comb(10^9000, 3)", "too_large"),
    ("comb(10^6, 500000)", "too_large"),
    ("perm(10^15, 10^14)", "too_large"),
    ("sin(10^1000000)", "too_large"),
    ("sin(10^1300)", "too_large"),
    ("exp(exp(exp(10)))", "too_large"),
    ("exp(-10^13)", "too_large"),
    ("pi^(10^30)", "too_large"),
    ("10^10^10^10", "too_large"),
    ("1e999999999999", "too_large"),
    ("1e-999999999999", "too_large"),
    ("gamma(10^9)", "too_large"),
    ("round(pi, 10^9)", "too_large"),
    ("1<<10**10", "unsupported"),
    ("'a'*10**10", "unsupported"),
    ("(" * 10**6 + ")" * 10**6, "too_long"),
    ("1+" * 10**6 + "1", "too_long"),
    ("2" + "π" * 9_000, "too_long"),
    ("(" * 5_000, "too_deep"),
    ("(" * 101 + "1" + ")" * 101, "too_deep"),
    ("[" * 101 + "1" + "]" * 101, "too_deep"),
    ("sqrt(" * 500 + "1" + ")" * 500, "too_deep"),
    (r"\frac{1}{" * 500 + "1" + "}" * 500, "too_deep"),
    ("-" * 4_000 + "1", "too_deep"),
    ("^".join(["2"] * 2_000), "too_deep"),
    ("√" * 4_000 + "2", "too_deep"),
    ("|" * 4_000 + "1", "too_deep"),
    ("5" + "%" * 4_000, "too_deep"),
    ("2" + "² " * 2_000, "too_deep"),
]

EXPENSIVE = [
    "*".join(["3^20000"] * 1_000),
    "-".join(["3^20000*3^20000"] * 600),
    "+".join(["5000!"] * 1_600),
    "+".join(["comb(9999,4999)"] * 600),
    "+".join(["gcd(3^40000,2^60000+1)"] * 400),
    "lcm(" + ", ".join(str(n) for n in range(1, 1_500)) + ")",
    "+".join(["(7^(2^60000) mod 1000000007)"] * 300),
    "7^(10^9000) mod (10^9000+1)",
    "+".join(f"1/{n}" for n in range(10**40, 10**40 + 220)),
    "+".join(f"1/{n}" for n in range(1_000, 2_400)),
    "+".join(["1/3^3000"] * 1_000),
    "+".join(["sin(1)"] * 1_000),
    "+".join(["sin(10^1200)"] * 700),
    "+".join(f"gamma({n}.3)" for n in range(600)),
    "+".join(["(sqrt(2)+sqrt(3)-sqrt(5+2*sqrt(6)))"] * 200),
    "+".join(["root(7^20000,3)"] * 600),
    "+".join(["log(3^20000,9)"] * 650),
    "+".join(["ln(1+1/10^2900)"] * 600),
    "*".join(["√999999937"] * 900),
    "*".join(["1.0001^99999"] * 700),
    "median(" + ", ".join(f"√{n}" for n in range(1_400)) + ")",
    "stdev(" + ", ".join(f"{n}/7" for n in range(1_200)) + ")",
    "+".join(["is_prime(2305843009213693951)"] * 300),
    "+".join(["floor(exp(100))"] * 500),
    "9" * 9_900,
    "9" * 4_900 + "*" + "9" * 4_900,
    "0." + "9" * 9_900,
    "1," * 2_000 + "1",
    "111," * 2_000 + "1",
    "max(" * 90 + "1,234" + ")" * 90,
    "cos(" * 95 + "1" + ")" * 95,
    "½" * 4_000,
    "a" * 9_999,
]


@pytest.mark.parametrize(("text", "type"), REFUSED_AT_ONCE, ids=[text[:24] for text, _ in REFUSED_AT_ONCE])
def test_an_attack_is_refused_before_anything_expensive_is_computed(text: str, type: str) -> None:
    work = Work()
    with pytest.raises(ToolFailed) as caught:
        calculate(text, work)
    assert caught.value.type == type
    assert len(caught.value.message) < 300
    assert FULL_WORK - work.left < INLINE_WORK


@pytest.mark.parametrize("text", EXPENSIVE, ids=[text[:24] for text in EXPENSIVE])
def test_an_expensive_expression_is_answered_or_refused_within_the_budget(text: str) -> None:
    outcome = _outcome(text)
    assert outcome
    assert len(outcome) < 300 or outcome.isdecimal()


def _outcome(text: str) -> str:
    """Return the answer, or the message of the refusal."""
    try:
        return calculate(text).text
    except ToolFailed as error:
        return error.message


def test_a_small_budget_refuses_what_a_large_one_answers() -> None:
    text = "+".join(["(2000! mod 10007)"] * 50)
    with pytest.raises(ToolFailed) as caught:
        calculate(text, Work(100_000))
    assert caught.value.type == "too_large"
    assert calculate(text).text == "239000"


def test_the_budget_is_spent_identically_on_every_run() -> None:
    left = []
    for _ in range(3):
        work = Work()
        calculate("sin(1) + 500! / 498! + ln(3)", work)
        left.append(work.left)
    assert len(set(left)) == 1


def test_a_hundred_brackets_and_sums_of_thousands_of_terms_are_read() -> None:
    assert calculate("(" * 100 + "1" + ")" * 100).text == "1"
    assert calculate("+".join(["1"] * 2_400)).text == "2400"
    assert calculate("-".join(["1"] * 2_400)).text == "-2398"
    assert calculate("*".join(["1"] * 2_400)).text == "1"


def test_integers_up_to_the_limit_are_computed_and_only_their_display_is_bounded() -> None:
    assert calculate(f"(10^{MAX_DIGITS - 1} + 7) mod 10").text == "7"
    with pytest.raises(ToolFailed, match="6021 digits") as caught:
        calculate("2^20000")
    assert caught.value.type == "too_large"
    assert "3.98" in caught.value.message


def test_long_integers_do_not_depend_on_the_interpreters_limit_of_digits() -> None:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        assert calculate("10^3000 - 1").text == "9" * 3_000
        assert calculate("9" * 3_000 + " + 1 - 10^3000").text == "0"
    finally:
        sys.set_int_max_str_digits(before)


def test_a_text_of_the_greatest_length_is_read() -> None:
    text = "1" + " " * (MAX_CHARACTERS - 2) + "+"
    with pytest.raises(ToolFailed) as caught:
        calculate(text)
    assert caught.value.type == "syntax"


def test_a_deep_caller_gets_an_answer_or_a_clear_refusal() -> None:
    def descend(levels: int) -> str:
        if levels:
            return descend(levels - 1)
        try:
            return calculate("(1+" * 60 + "1" + ")" * 60).text
        except ToolFailed as error:
            return error.type

    assert descend(600) in ("61", "too_deep")


@pytest.mark.parametrize("text", ["7^(2^60000) mod (10^150 + 1)", "7^(10^9000) mod (10^9000 + 1)"])
def test_no_single_step_may_hold_the_interpreter_for_long(text: str) -> None:
    with pytest.raises(ToolFailed) as caught:
        calculate(text)
    assert caught.value.type == "too_large"


def test_large_factorials_are_exact() -> None:
    assert calculate("1400!").text == _digits(math.factorial(1400))


def _digits(value: int) -> str:
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return str(value)
    finally:
        sys.set_int_max_str_digits(before)
