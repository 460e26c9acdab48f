"""The one call path, end to end with in-process tools."""

import asyncio
import contextlib
import json
from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from turngate.gateway import CallPolicy, Gateway, Status, ToolCall
from turngate.tools import ToolAnnotations, ToolContext, ToolFailed, ToolOutput, ToolSpec, ToolUnavailable, tool

pytestmark = pytest.mark.anyio
LIMIT_S = 5


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@tool
async def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)


def gateway_of(*functions: Any, **policy: Any) -> Gateway:
    tools = [function if hasattr(function, "spec") else tool(function) for function in functions]
    return Gateway(tools, defaults=CallPolicy(**policy))


async def call(gateway: Gateway, name: str, **arguments: Any) -> Any:
    with anyio.fail_after(LIMIT_S):
        return await gateway.call(ToolCall(name=name, arguments=arguments, call_id="c1"))


async def test_a_good_call_returns_the_tools_text_with_its_id_and_what_it_cost() -> None:
    result = await call(gateway_of(add), "add", a=1, b=2)
    assert (result.status, result.text, result.call_id, result.name) == (Status.OK, "3", "c1", "add")
    assert result.stats.attempts == 1
    assert result.stats.bytes == 1
    assert result.error is None


async def test_wrong_arguments_name_the_field_and_the_expected_schema() -> None:
    result = await call(gateway_of(add), "add", a="one", c=3)
    assert result.status is Status.INVALID_ARGUMENTS
    for part in ("'a'", '"one" is not of type "integer"', "'c' was unexpected", '"b" is a required', "required"):
        assert part in result.text
    assert result.stats.attempts == 0


async def test_an_unknown_tool_is_answered_with_the_names_that_exist_and_the_nearest_one() -> None:
    result = await call(gateway_of(add), "ad")
    assert result.status is Status.UNKNOWN_TOOL
    assert "Did you mean 'add'?" in result.text
    assert "Available tools: add." in result.text


async def test_a_tool_that_raises_is_internal_and_its_traceback_stays_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def boom() -> str:
        raise KeyError("secret detail")

    result = await call(gateway_of(boom), "boom")
    assert result.status is Status.INTERNAL
    assert "secret" not in result.model_dump_json()
    assert "Traceback" in caplog.text


class Panic(BaseException):
    """As native extensions raise it."""


RAISED = [
    Panic(),
    SystemExit(3),
    KeyboardInterrupt(),
    GeneratorExit(),
    BaseExceptionGroup("both", [Panic(), ValueError()]),
    RecursionError(),
    MemoryError(),
    StopIteration(),
    StopAsyncIteration(),
]


@pytest.mark.parametrize("raised", RAISED)
@pytest.mark.parametrize("threaded", [False, True])
async def test_no_exception_of_a_tool_reaches_the_caller(raised: BaseException, threaded: bool) -> None:
    async def in_loop() -> str:
        raise raised

    def in_thread() -> str:
        raise raised

    result = await call(gateway_of(tool(in_thread if threaded else in_loop, name="bad")), "bad")
    assert result.status is Status.INTERNAL


async def test_what_a_tool_says_of_its_failure_is_shown_to_the_model() -> None:
    async def picky() -> str:
        raise ToolFailed("division by zero; use another divisor", type="division_by_zero")

    result = await call(gateway_of(picky), "picky")
    assert result.status is Status.TOOL_ERROR
    assert result.error.type == "division_by_zero"
    assert result.text == "division by zero; use another divisor"


async def test_a_run_that_failed_keeps_its_output() -> None:
    async def runner() -> ToolOutput:
        return ToolOutput(ToolOutput.of("NameError: x").content, is_error=True)

    result = await call(gateway_of(runner), "runner")
    assert (result.status, result.text) == (Status.TOOL_ERROR, "NameError: x")


async def test_a_hanging_tool_is_stopped_at_its_timeout() -> None:
    stopped = anyio.Event()

    async def hang() -> str:
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()
        raise AssertionError

    result = await call(gateway_of(hang, timeout_s=0.05), "hang")
    assert result.status is Status.TIMEOUT
    assert stopped.is_set()
    assert "0.05 s" in result.text


async def test_a_hanging_thread_keeps_its_place_and_the_caller_does_not_wait_for_it() -> None:
    import threading

    release = threading.Event()

    def hang() -> str:
        release.wait()
        return "late"

    try:
        result = await call(gateway_of(hang, timeout_s=0.05), "hang")
        assert result.status is Status.TIMEOUT
    finally:
        release.set()


async def test_the_wait_in_the_queue_counts_against_the_deadline_and_is_reported_apart() -> None:
    entered, release = anyio.Event(), anyio.Event()

    async def slow() -> str:
        entered.set()
        await release.wait()
        return "done"

    gateway = gateway_of(slow, max_concurrency=1)
    results: dict[str, Any] = {}

    async def run(name: str, deadline_s: float | None) -> None:
        results[name] = await gateway.call(ToolCall(name="slow", deadline_s=deadline_s))

    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as group:
            group.start_soon(run, "first", None)
            await entered.wait()
            await run("second", 0.05)
            release.set()
    assert results["first"].status is Status.OK
    second = results["second"]
    assert (second.status, second.error.type) == (Status.TIMEOUT, "queue_timeout")
    assert second.stats.queue_s >= 0.05
    assert second.stats.attempts == 0


async def test_a_full_queue_answers_overloaded_at_once() -> None:
    entered, release = anyio.Event(), anyio.Event()

    async def slow() -> str:
        entered.set()
        await release.wait()
        return "done"

    gateway = gateway_of(slow, max_concurrency=1, max_queue=0)
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as group:
            group.start_soon(gateway.call, ToolCall(name="slow"))
            await entered.wait()
            result = await call(gateway, "slow")
            release.set()
    assert result.status is Status.OVERLOADED
    assert result.error.retryable


def flaky(failures: int, raised: Exception, annotations: ToolAnnotations) -> tuple[Any, list[int]]:
    attempts: list[int] = []

    async def flaky_tool() -> str:
        attempts.append(1)
        if len(attempts) <= failures:
            raise raised
        return "done"

    return tool(flaky_tool, name="flaky", annotations=annotations), attempts


IDEMPOTENT = ToolAnnotations(idempotent=True)


async def test_a_transient_failure_of_an_idempotent_tool_is_tried_again() -> None:
    made, attempts = flaky(2, ToolUnavailable("down", retry_after_s=0.0), IDEMPOTENT)
    result = await call(gateway_of(made, max_attempts=3), "flaky")
    assert (result.status, result.stats.attempts, len(attempts)) == (Status.OK, 3, 3)


async def test_a_tool_that_may_have_had_an_effect_is_never_replayed() -> None:
    made, attempts = flaky(1, ToolUnavailable("reset"), ToolAnnotations())
    result = await call(gateway_of(made), "flaky")
    assert (result.status, len(attempts)) == (Status.UNAVAILABLE, 1)


async def test_a_request_that_never_left_is_replayed_for_any_tool() -> None:
    made, attempts = flaky(1, ToolUnavailable("refused", never_sent=True), ToolAnnotations())
    result = await call(gateway_of(made), "flaky")
    assert (result.status, len(attempts)) == (Status.OK, 2)


async def test_a_lasting_failure_is_not_tried_again() -> None:
    made, attempts = flaky(1, ToolFailed("no"), IDEMPOTENT)
    result = await call(gateway_of(made), "flaky")
    assert (result.status, len(attempts)) == (Status.TOOL_ERROR, 1)


async def test_a_wait_longer_than_the_deadline_is_not_begun() -> None:
    made, attempts = flaky(5, ToolUnavailable("down", retry_after_s=3600), IDEMPOTENT)
    result = await call(gateway_of(made), "flaky")
    assert (result.status, len(attempts)) == (Status.UNAVAILABLE, 1)


async def test_fifty_megabytes_are_cut_to_the_limit_and_counted() -> None:
    async def flood() -> str:
        return "é" * 25_000_000

    result = await call(gateway_of(flood, max_output_bytes=1000), "flood")
    assert result.status is Status.OK
    assert result.stats.truncated
    assert result.stats.bytes == 50_000_000
    assert len(result.text.encode()) <= 1000
    assert "bytes cut" in result.text


async def test_structured_output_that_is_too_big_stays_valid_json_and_says_what_was_cut() -> None:
    async def listing() -> dict[str, Any]:
        return {"rows": [{"id": index, "text": "x" * 50} for index in range(10_000)]}

    result = await call(gateway_of(listing, max_output_bytes=2000), "listing")
    text = json.dumps(result.structured, ensure_ascii=False)
    assert len(text.encode()) < 2400
    assert "items cut" in text


async def test_a_caller_that_gives_up_stops_the_tool() -> None:
    entered, stopped = anyio.Event(), anyio.Event()

    async def hang() -> str:
        entered.set()
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()
        raise AssertionError

    gateway = gateway_of(hang)
    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as group:
            group.start_soon(gateway.call, ToolCall(name="hang"))
            await entered.wait()
            group.cancel_scope.cancel()
    assert stopped.is_set()
    assert gateway.calls_in_flight == 0


@pytest.mark.parametrize("end", ["session", "gateway"])
async def test_ending_a_session_or_the_gateway_answers_its_calls_as_cancelled(end: str) -> None:
    entered = anyio.Event()

    async def hang() -> str:
        entered.set()
        await anyio.sleep_forever()
        raise AssertionError

    gateway = gateway_of(hang)
    results: list[Any] = []

    async def run() -> None:
        results.append(await gateway.call(ToolCall(name="hang", session="s1")))

    with anyio.fail_after(LIMIT_S):
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await entered.wait()
            await (gateway.end_session("s1") if end == "session" else gateway.aclose())
    assert results[0].status is Status.CANCELLED


async def test_a_tool_that_cancels_itself_does_not_cancel_its_caller() -> None:
    async def broken() -> str:
        raise asyncio.CancelledError

    result = await call(gateway_of(broken), "broken")
    assert result.status is Status.CANCELLED


async def test_the_calls_of_a_turn_run_at_the_same_time_and_come_back_in_order() -> None:
    count = 16
    arrived = 0
    everybody = anyio.Event()

    async def barrier(index: int) -> str:
        nonlocal arrived
        arrived += 1
        if arrived == count:
            everybody.set()
        await everybody.wait()
        return str(index)

    gateway = gateway_of(barrier)
    with anyio.fail_after(LIMIT_S):
        results = await gateway.call_many(
            [ToolCall(name="barrier", arguments={"index": index}) for index in range(count)]
        )
    assert [result.text for result in results] == [str(index) for index in range(count)]


async def test_the_configured_policy_wins_over_the_tools_own_which_wins_over_the_defaults() -> None:
    own = tool(add.function, name="add", policy=CallPolicy(timeout_s=2, max_attempts=7))
    gateway = Gateway([own], defaults=CallPolicy(timeout_s=9, max_queue=5), overrides={"add": CallPolicy(timeout_s=1)})
    entry = gateway.catalogue.get("add")
    assert entry is not None
    assert (entry.policy.timeout_s, entry.policy.max_attempts, entry.policy.max_queue) == (1, 7, 5)


async def test_every_tool_is_told_that_a_session_ended_even_if_one_of_them_fails() -> None:
    ended: list[str] = []

    class Stateful:
        def __init__(self, name: str, fails: bool) -> None:
            self.spec = ToolSpec(name=name)
            self.fails = fails

        async def run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolOutput:
            return ToolOutput()

        async def end_session(self, session: str) -> None:
            ended.append(self.spec.name)
            if self.fails:
                raise RuntimeError

    await Gateway([Stateful("one", True), Stateful("two", False)]).end_session("s")
    assert ended == ["one", "two"]


async def test_a_tool_that_cancels_its_own_task_does_not_cancel_its_caller() -> None:
    async def broken() -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await anyio.sleep_forever()
        raise AssertionError

    assert (await call(gateway_of(broken), "broken")).status is Status.CANCELLED


async def test_a_tool_that_ignores_its_cancellation_is_left_behind() -> None:
    release = anyio.Event()

    async def stubborn() -> str:
        while not release.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await release.wait()
        return "late"

    result = await call(gateway_of(stubborn, timeout_s=0.05), "stubborn")
    assert result.status is Status.TIMEOUT
    release.set()


async def test_an_output_that_is_no_content_is_internal() -> None:
    async def odd() -> ToolOutput:
        return ToolOutput(["no block"])  # type: ignore[list-item]

    assert (await call(gateway_of(odd), "odd")).status is Status.INTERNAL
