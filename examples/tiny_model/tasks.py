"""Synthetic questions with their tool calls and answers, the same for the same seed.

Four families: `calc` (one expression) and `chain` (two dependent expressions) need the tool `calculator`;
`range` (sum of consecutive integers) and `list` (largest or smallest number) need the tool `python`.
A hash of the calls puts every task into exactly one split, so a held-out computation never occurs in training,
not even in other words.
"""

import hashlib
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from examples.tiny_model.arithmetic import answer_call

Kind = Literal["calc", "chain", "range", "list"]
Split = Literal["train", "held-out"]

CALCULATOR_KINDS: tuple[Kind, ...] = ("calc", "chain")
PYTHON_KINDS: tuple[Kind, ...] = ("range", "list")
KINDS: tuple[Kind, ...] = CALCULATOR_KINDS + PYTHON_KINDS

HELD_OUT_SHARE = 0.1


@dataclass(frozen=True)
class ToolCall:
    """One call: the tool's name and its arguments."""

    name: str
    arguments: dict[str, str]


@dataclass(frozen=True)
class Task:
    """A question, the calls that solve it with one observation each, and the integer answer."""

    kind: Kind
    question: str
    calls: tuple[ToolCall, ...]
    observations: tuple[str, ...]
    answer: int

    @property
    def split(self) -> Split:
        """`held-out` for about a tenth of all computations, decided by a hash of the calls alone."""
        text = json.dumps([[call.name, call.arguments] for call in self.calls], sort_keys=True)
        share = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) / 2**32
        return "held-out" if share < HELD_OUT_SHARE else "train"

    @property
    def final_text(self) -> str:
        """The assistant's last turn."""
        return f"The answer is {self.answer}."


def sample_task(rng: random.Random, split: Split, kinds: tuple[Kind, ...] = KINDS) -> Task:
    """Draw one task of `split`, its family uniform over `kinds`."""
    kind = rng.choice(kinds)
    while True:
        task = _MAKERS[kind](rng)
        if task.split == split:
            return task


def tasks(seed: int, split: Split, kinds: tuple[Kind, ...] = KINDS) -> Iterator[Task]:
    """Yield tasks without end; the same arguments give the same tasks."""
    rng = random.Random(seed)
    while True:
        yield sample_task(rng, split, kinds)


def _number(rng: random.Random, max_digits: int) -> int:
    return rng.randint(1, 10 ** rng.randint(1, max_digits) - 1)


def _task(kind: Kind, question: str, *calls: ToolCall) -> Task:
    observations = tuple(answer_call(call.name, call.arguments) for call in calls)
    return Task(kind, question, calls, observations, int(observations[-1]))


def _calc(rng: random.Random) -> Task:
    expression = str(_number(rng, 3))
    operators = "+-*"
    for _ in range(rng.choice([1, 1, 2])):
        sign = rng.choice(operators)
        if sign == "*":
            operators = "+-"
        expression += sign + str(_number(rng, 3))
    wording = rng.choice(["What is {}?", "Compute {}.", "Calculate {}.", "How much is {}?"])
    return _task("calc", wording.format(expression), ToolCall("calculator", {"expression": expression}))


def _chain(rng: random.Random) -> Task:
    first, second, factor = _number(rng, 2), _number(rng, 2), _number(rng, 1)
    sign, wording = rng.choice([("+", "Add {} and {}"), ("-", "From {} take away {}")])
    between = first + second if sign == "+" else first - second
    return _task(
        "chain",
        f"{wording.format(first, second)}, then multiply the result by {factor}.",
        ToolCall("calculator", {"expression": f"{first}{sign}{second}"}),
        ToolCall("calculator", {"expression": f"{between}*{factor}"}),
    )


def _range(rng: random.Random) -> Task:
    first = _number(rng, 2)
    last = first + _number(rng, 2)
    wording = rng.choice(["Add up the integers from {} to {}.", "What is the sum of all integers from {} to {}?"])
    code = f"print(sum(range({first}, {last}+1)))"
    return _task("range", wording.format(first, last), ToolCall("python", {"code": code}))


def _list(rng: random.Random) -> Task:
    numbers = ", ".join(str(_number(rng, 3)) for _ in range(rng.randint(3, 4)))
    function, adjective = rng.choice([("max", "largest"), ("min", "smallest")])
    wording = rng.choice(["What is the {} of {}?", "Find the {} number of {}."])
    code = f"print({function}([{numbers}]))"
    return _task("list", wording.format(adjective, numbers), ToolCall("python", {"code": code}))


_MAKERS = {"calc": _calc, "chain": _chain, "range": _range, "list": _list}
