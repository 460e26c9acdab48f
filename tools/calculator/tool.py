"""The calculator as a tool."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import anyio.to_thread

from turngate.tools.calculator.answer import Answer, calculate
from turngate.tools.calculator.budget import FULL_WORK, INLINE_WORK, Work
from turngate.tools.calculator.errors import TooMuchWork
from turngate.tools.nouns import CallPolicy, TextContent, ToolAnnotations, ToolSpec
from turngate.tools.tool import ToolContext, ToolOutput

__all__ = ["Calculator", "calculator"]

_INLINE_CHARACTERS = 300
"""Longer expressions are read in a thread, since reading takes microseconds per character."""

DESCRIPTION: Final = (
    "Evaluates one arithmetic expression exactly: + - * / // ^ ! mod, percent, comparisons, big integers, fractions, "
    "roots, logarithms, trigonometry (radians; write 30° for degrees), gcd, comb, mean and similar functions. "
    "No variables, no algebra. Examples: (1,234.5 + 6) * 2^10; 15% of 80; sqrt(2) * sin(30°)."
)


class Calculator:
    """Evaluates expressions; keeps no state.

    A cheap expression is answered on the event loop, in tens of microseconds. One that uses up
    `INLINE_WORK` is started anew in a thread, where it may take `FULL_WORK`.
    """

    def __init__(self) -> None:
        self._spec = ToolSpec(
            name="calculator",
            description=DESCRIPTION,
            input_schema={
                "type": "object",
                "properties": {"expression": {"type": "string", "description": "The expression to evaluate."}},
                "required": ["expression"],
                "additionalProperties": False,
            },
            annotations=ToolAnnotations(
                title="Calculator", read_only=True, destructive=False, idempotent=True, open_world=False
            ),
            policy=CallPolicy(timeout_s=2, max_concurrency=64),
        )

    @property
    def spec(self) -> ToolSpec:
        """The tool's description."""
        return self._spec

    async def run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
        """Return the answer as text, with its exact form in `structured`. Raises ToolFailed."""
        expression: str = arguments["expression"]
        if len(expression) <= _INLINE_CHARACTERS:
            try:
                return _output(calculate(expression, Work(INLINE_WORK)))
            except TooMuchWork:
                pass
        return _output(await anyio.to_thread.run_sync(partial(calculate, expression, Work(FULL_WORK))))

    async def end_session(self, session: str) -> None:
        """Nothing to forget."""


def _output(answer: Answer) -> ToolOutput:
    structured = {"value": answer.text, "exact": answer.exact, "approximate": answer.approximate}
    return ToolOutput([TextContent(text=answer.text)], structured=structured)


def calculator() -> Calculator:
    """Return the calculator tool."""
    return Calculator()
