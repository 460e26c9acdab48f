"""A gateway on its own thread: the caller's loop is never blocked and may change."""

import asyncio
import threading

import anyio
import pytest

from turngate.gateway import ConfigError, Gateway, GatewayThread, Status, ToolCall
from turngate.tools import tool


def where() -> str:
    return threading.current_thread().name


async def run_there() -> str:
    return where()


def test_tools_run_on_the_gateways_thread_for_any_number_of_event_loops() -> None:
    thread = GatewayThread(lambda: Gateway([tool(run_there)]))
    try:
        for _ in range(2):
            result = asyncio.run(thread.call(ToolCall(name="run_there")))
            assert result.text == "turngate-gateway"
            assert where() == "MainThread"
    finally:
        thread.close()


def test_a_caller_that_gives_up_stops_the_call_on_the_other_thread() -> None:
    entered, stopped = threading.Event(), threading.Event()

    async def hang() -> str:
        entered.set()
        try:
            await anyio.sleep_forever()
        finally:
            stopped.set()
        raise AssertionError

    thread = GatewayThread(lambda: Gateway([tool(hang)]))

    async def give_up() -> None:
        task = asyncio.ensure_future(thread.call_many([ToolCall(name="hang")]))
        await asyncio.to_thread(entered.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    try:
        asyncio.run(give_up())
        assert stopped.wait(5)
    finally:
        thread.close()


def test_a_forgotten_session_ends_its_calls() -> None:
    entered = threading.Event()

    async def hang() -> str:
        entered.set()
        await anyio.sleep_forever()
        raise AssertionError

    thread = GatewayThread(lambda: Gateway([tool(hang)]))

    async def forget() -> Status:
        task = asyncio.ensure_future(thread.call(ToolCall(name="hang", session="s")))
        await asyncio.to_thread(entered.wait, 5)
        thread.forget_session("s")
        return (await asyncio.wait_for(task, 5)).status

    try:
        assert asyncio.run(forget()) is Status.CANCELLED
    finally:
        thread.close()


def test_a_gateway_that_cannot_be_built_raises_where_it_was_asked_for() -> None:
    def fail() -> Gateway:
        raise ConfigError("tools.x: no")

    before = threading.active_count()
    with pytest.raises(ConfigError, match=r"tools\.x"):
        GatewayThread(fail)
    assert threading.active_count() == before


def test_a_task_that_ends_the_loop_does_not_end_the_gateway(caplog: pytest.LogCaptureFixture) -> None:
    async def leave_behind() -> str:
        async def quit_everything() -> None:
            raise SystemExit(1)

        await asyncio.wait({asyncio.ensure_future(quit_everything())})
        return "still here"

    thread = GatewayThread(lambda: Gateway([tool(leave_behind)]))
    try:
        for _ in range(2):
            assert asyncio.run(thread.call(ToolCall(name="leave_behind"))).text == "still here"
    finally:
        thread.close()
    thread.close()
    thread.forget_session("after the end")
