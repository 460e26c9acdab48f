"""One expression to one answer."""

from __future__ import annotations

from dataclasses import dataclass

from turngate.tools.calculator.budget import MAX_CHARACTERS, Work
from turngate.tools.calculator.characters import unwrap
from turngate.tools.calculator.errors import fail
from turngate.tools.calculator.evaluate import evaluate
from turngate.tools.calculator.parser import parse
from turngate.tools.calculator.render import exact_text, text_of
from turngate.tools.calculator.syntax import Invoke

__all__ = ["Answer", "calculate"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What an expression comes to."""

    text: str
    """Digits without separators; `true` or `false` for a comparison."""
    exact: str | None
    """The exact value, `1/3` or `sqrt(2)/2`, or None where there is none that is short."""
    approximate: bool
    """The text is rounded to 16 significant digits, or rests on two numbers that agree in 300 digits."""


def calculate(expression: str, work: Work | None = None) -> Answer:
    """Return the answer to an expression as a model writes it.

    Takes no more than `work` allows, whatever the expression. Raises ToolFailed with one of the
    types in `turngate.tools.calculator.errors`.
    """
    if len(expression) > MAX_CHARACTERS:
        raise fail(
            "too_long",
            f"The expression has {len(expression)} characters; the calculator reads up to {MAX_CHARACTERS}. "
            "Split it, or use a code tool.",
        )
    work = work or Work()
    try:
        tree = parse(unwrap(expression))
        value = evaluate(tree, work)
        rounding = isinstance(tree, Invoke) and tree.name == "round"
        text, approximate = text_of(value, work, full=rounding)
    except RecursionError:
        raise fail("too_deep", "The expression is nested too deeply. Simplify it.") from None
    except (ValueError, ArithmeticError) as error:
        raise fail(
            "unsupported", "The calculator cannot compute this expression. Rewrite it, or use a code tool."
        ) from error
    if work.snapped:
        return Answer(text, None, True)
    return Answer(text, exact_text(value, text), approximate)
