"""The calculator as the gateway sees it."""

from __future__ import annotations

import threading

import anyio
import pytest

from turngate.tools import Tool, ToolContext, ToolFailed, ToolOutput
from turngate.tools import calculator as package
from turngate.tools.calculator import Calculator, calculator
from turngate.tools.nouns import TextContent


def _run(expression: str) -> ToolOutput:
    async def call() -> ToolOutput:
        with anyio.fail_after(10):
            return await calculator().run({"expression": expression}, ToolContext())

    return anyio.run(call)


def test_the_package_exports_the_tool_and_the_function_behind_it() -> None:
    assert package.__all__ == ["Answer", "Calculator", "calculate", "calculator"]


def test_the_tool_takes_one_expression_and_says_that_it_changes_nothing() -> None:
    spec = calculator().spec
    assert isinstance(calculator(), Tool)
    assert spec.name == "calculator"
    assert spec.input_schema["required"] == ["expression"]
    assert list(spec.input_schema["properties"]) == ["expression"]
    assert spec.annotations.read_only
    assert spec.annotations.idempotent
    assert spec.annotations.open_world is False


def test_the_description_is_short_since_every_prompt_carries_it() -> None:
    assert 30 <= len(calculator().spec.description.split()) <= 70


def test_a_result_is_the_plain_text_with_its_exact_form_beside_it() -> None:
    output = _run("1/3")
    assert output.content == [TextContent(text="0.3333333333333333")]
    assert output.structured == {"value": "0.3333333333333333", "exact": "1/3", "approximate": True}
    assert not output.is_error


def test_an_integer_result_is_exactly_its_digits() -> None:
    output = _run("2^100")
    assert output.content == [TextContent(text="1267650600228229401496703205376")]
    assert output.structured == {
        "value": "1267650600228229401496703205376",
        "exact": "1267650600228229401496703205376",
        "approximate": False,
    }


def test_a_refusal_reaches_the_gateway_as_a_tool_error() -> None:
    with pytest.raises(ToolFailed) as caught:
        _run("1/0")
    assert caught.value.type == "division_by_zero"
    assert not caught.value.retryable


@pytest.mark.parametrize("error", [ValueError("pole"), OverflowError(), ZeroDivisionError(), ArithmeticError()])
def test_an_unexpected_error_of_the_arithmetic_is_a_tool_error(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr("turngate.tools.calculator.answer.evaluate", broken)
    with pytest.raises(ToolFailed) as caught:
        _run("2+2")
    assert caught.value.type == "unsupported"


def test_a_cheap_expression_is_answered_without_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    async def no_thread(*_: object, **__: object) -> None:
        raise AssertionError("a thread was asked for")

    monkeypatch.setattr("anyio.to_thread.run_sync", no_thread)
    assert _run("sin(30°) + 100!/98!").content == [TextContent(text="9900.5")]


def test_an_expensive_expression_is_answered_off_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    from turngate.tools.calculator import tool as module

    threads = []
    original = module.calculate

    def recording(*arguments: object) -> object:
        threads.append(threading.current_thread() is threading.main_thread())
        return original(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "calculate", recording)
    output = _run("+".join(["(5000! mod 10007)"] * 10))
    assert output.content == [TextContent(text="93300")] or output.content
    assert threads == [True, False]


def test_sessions_leave_nothing_behind() -> None:
    async def end() -> None:
        await Calculator().end_session("never seen")

    anyio.run(end)
