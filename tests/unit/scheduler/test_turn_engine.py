"""One turn: what is run, what the model is shown, what is recorded."""

from collections.abc import Sequence
from typing import Any

import anyio
import pytest

from turngate.gateway import Gateway, Status, ToolCall, ToolResult, ToolSpec
from turngate.scheduler import RolloutSettings, TrajectoryRecord, TurnEngine, TurnOutcome
from turngate.scheduler.reading import HermesReader
from turngate.tools import tool

pytestmark = pytest.mark.anyio

ADD = '<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 2}}\n</tool_call>'


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Counted:
    """A gateway with an `add` tool that counts its runs."""

    def __init__(self) -> None:
        self.runs = 0

        async def add(a: int, b: int) -> str:
            self.runs += 1
            return str(a + b)

        self.gateway = Gateway([tool(add)])


async def take(text: str, gateway: Any = None, **options: Any) -> TurnOutcome:
    settings = options.pop("settings", RolloutSettings())
    arguments = {"turn": 1, "finish_reason": "stop", "gen_tokens": 9, "session": "s", "last_turn": False} | options
    engine = TurnEngine(gateway or Counted().gateway, HermesReader(), settings)
    with anyio.fail_after(5):
        return await engine.take(text, **arguments)


async def test_a_turn_without_calls_is_an_answer() -> None:
    outcome = await take("The answer is 3.")
    assert (outcome.stop_reason, outcome.observations, outcome.record.format_ok) == ("answered", [], True)


async def test_calls_are_run_and_shown_in_order() -> None:
    outcome = await take(f"{ADD}{ADD.replace('2', '40')}")
    assert outcome.stop_reason is None
    assert outcome.observations == ["3", "41"]
    assert [(call.name, call.call_id, call.status) for call in outcome.record.calls] == [
        ("add", "call_1_0", "ok"),
        ("add", "call_1_1", "ok"),
    ]


@pytest.mark.parametrize(
    ("options", "stop"), [({"finish_reason": "length"}, "length"), ({"last_turn": True}, "max_turns")]
)
async def test_truncated_and_last_turns_run_nothing(options: dict[str, Any], stop: str) -> None:
    counted = Counted()
    outcome = await take(ADD, counted.gateway, **options)
    assert outcome.stop_reason == stop
    assert counted.runs == 0
    assert outcome.record.calls == []


async def test_a_malformed_call_is_answered_counted_and_does_not_stop_the_others() -> None:
    outcome = await take(f"<tool_call>\n{{oops}}\n</tool_call>{ADD}")
    assert outcome.observations[0].startswith("Error: Malformed call.")
    assert outcome.observations[1] == "3"
    assert not outcome.record.format_ok
    stats = TrajectoryRecord(turns=[outcome.record]).stats()
    assert (stats["calls"], stats["ok"], stats["failed"], stats["malformed"], stats["invalid_arguments"]) == (
        2,
        1,
        1,
        1,
        0,
    )


async def test_calls_over_the_limit_are_answered_and_not_run() -> None:
    counted = Counted()
    outcome = await take(ADD * 3, counted.gateway, settings=RolloutSettings(max_calls_per_turn=2))
    assert counted.runs == 2
    assert outcome.record.calls[2].status == "denied"
    assert "at most 2 calls" in outcome.observations[2]


class BrokenGateway:
    """A gateway that breaks the promise never to raise, or never answers."""

    def __init__(self, hang: bool) -> None:
        self.hang = hang

    async def call_many(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        if self.hang:
            await anyio.sleep_forever()
        raise RuntimeError("lost")

    async def call(self, call: ToolCall) -> ToolResult:
        raise NotImplementedError

    async def list_tools(self) -> list[ToolSpec]:
        raise NotImplementedError

    async def end_session(self, session: str) -> None:
        raise NotImplementedError

    async def aclose(self) -> None:
        raise NotImplementedError


async def test_a_gateway_that_breaks_costs_its_calls_and_no_more() -> None:
    outcome = await take(ADD, BrokenGateway(hang=False))
    assert outcome.record.calls[0].status == Status.INTERNAL
    assert outcome.observations[0].startswith("Error: The tool gateway failed")


async def test_a_gateway_that_never_answers_is_left_at_the_turns_deadline() -> None:
    outcome = await take(ADD, BrokenGateway(hang=True), settings=RolloutSettings(turn_deadline_s=0.05))
    assert outcome.record.calls[0].status == Status.TIMEOUT
    assert TrajectoryRecord(turns=[outcome.record]).stats()["timeouts"] == 1
