"""The one call path: every face and the scheduler go through `Gateway.call`."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Protocol, Self

import anyio

from turngate.gateway.attempts import run_attempts
from turngate.gateway.catalogue import Catalogue, CatalogueEntry
from turngate.gateway.deadline import Deadline
from turngate.gateway.errors import CallFailure, cancelled, failure_of
from turngate.gateway.shape import shape_output
from turngate.tools import (
    CallError,
    CallPolicy,
    CallStats,
    Status,
    Tool,
    ToolCall,
    ToolContext,
    ToolOutput,
    ToolResult,
    ToolSpec,
)

__all__ = ["Gateway", "ToolGateway"]

_log = logging.getLogger("turngate.gateway")


class ToolGateway(Protocol):
    """What callers need of a gateway: an embedded `Gateway` and a `RemoteGateway` both offer it."""

    async def list_tools(self) -> list[ToolSpec]:
        """Every tool, in a stable order."""
        ...

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one call. Never raises for what a tool, an upstream or a model can cause."""
        ...

    async def call_many(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Run the calls of one model turn at the same time; results in the order of the calls."""
        ...

    async def end_session(self, session: str) -> None:
        """Free what a trajectory holds and stop what it still runs."""
        ...

    async def aclose(self) -> None:
        """Stop everything; calls in flight end as `cancelled`."""
        ...


class Gateway:
    """Tools behind one call path with one policy, in this process.

    Belongs to the event loop that it is first used on. Usable as an async context manager.
    """

    def __init__(
        self,
        tools: Iterable[Tool] = (),
        *,
        defaults: CallPolicy | None = None,
        overrides: dict[str, CallPolicy] | None = None,
    ) -> None:
        """Build a gateway of tools; `overrides` holds policies by tool name.

        Raises SchemaError if a tool's input schema cannot be compiled.
        """
        self.catalogue = Catalogue(defaults)
        for tool in tools:
            self.catalogue.add(tool, (overrides or {}).get(tool.spec.name))
        self._in_flight: dict[str | None, set[anyio.CancelScope]] = defaultdict(set)
        self._closed = False

    async def list_tools(self) -> list[ToolSpec]:
        """Every tool, in the order in which they were added."""
        return [entry.spec for entry in self.catalogue]

    @property
    def calls_in_flight(self) -> int:
        """Calls that run or wait now."""
        return sum(len(scopes) for scopes in self._in_flight.values())

    async def call(self, call: ToolCall) -> ToolResult:
        """Run one call and say how it ended.

        resolve → validate → admission → attempts → shape → record. Raises nothing but the
        cancellation of its caller, which stops the tool first.
        """
        stats = CallStats()
        try:
            result = _result_of(await self._run(call, stats), stats)
        except Exception as raised:  # the outermost handler: a fault of ours costs the caller this call, no more
            failure = failure_of(raised, call.name)
            result = ToolResult(status=failure.status, error=failure.error, stats=stats)
        result.call_id, result.name = call.call_id, call.name
        _record(call, result)
        return result

    async def call_many(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Run calls at the same time; results in the order of the calls."""
        if len(calls) == 1:
            return [await self.call(calls[0])]
        results: list[ToolResult | None] = [None] * len(calls)

        async def fill(index: int) -> None:
            results[index] = await self.call(calls[index])

        async with anyio.create_task_group() as group:
            for index in range(len(calls)):
                group.start_soon(fill, index)
        return [result for result in results if result is not None]

    async def end_session(self, session: str) -> None:
        """Stop a trajectory's calls (they end as `cancelled`) and let every tool forget it."""
        for scope in list(self._in_flight.get(session, ())):
            scope.cancel()
        for entry in self.catalogue:
            try:
                await entry.tool.end_session(session)
            except Exception:  # one tool's fault must not keep the others from letting go
                _log.exception("tool '%s' failed to end session '%s'", entry.spec.name, session)

    async def aclose(self) -> None:
        """Refuse new calls and stop those in flight."""
        self._closed = True
        for scopes in list(self._in_flight.values()):
            for scope in list(scopes):
                scope.cancel()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _run(self, call: ToolCall, stats: CallStats) -> ToolOutput:
        if self._closed:
            raise CallFailure(Status.UNAVAILABLE, "closed", "The tool gateway is shutting down.", never_sent=True)
        entry = self.catalogue.get(call.name)
        if entry is None:
            raise CallFailure(Status.UNKNOWN_TOOL, "unknown_tool", self.catalogue.unknown_message(call.name))
        problem = entry.validator.problem(call.arguments)
        if problem is not None:
            raise CallFailure(
                Status.INVALID_ARGUMENTS, "schema", f"Invalid arguments for the tool '{call.name}'. {problem}"
            )
        scope = anyio.CancelScope()
        scopes = self._in_flight[call.session]
        scopes.add(scope)
        try:
            with scope:
                return await self._admitted(entry, call, stats)
        finally:
            scopes.discard(scope)
            if not scopes:
                self._in_flight.pop(call.session, None)
        raise cancelled(call.name)

    async def _admitted(self, entry: CatalogueEntry, call: ToolCall, stats: CallStats) -> ToolOutput:
        asked_s = call.deadline_s if call.deadline_s is not None else entry.policy.deadline_s
        deadline = Deadline.after(min(asked_s, entry.policy.deadline_s))

        async def attempt(timeout_s: float) -> ToolOutput:
            context = ToolContext(call_id=call.call_id, session=call.session, timeout_s=timeout_s)
            return await entry.tool.run(call.arguments, context)

        async with entry.admission.place(deadline, stats):
            output = await run_attempts(
                attempt, tool_name=entry.spec.name, policy=entry.policy, deadline=deadline, stats=stats
            )
        return shape_output(output, entry.policy, stats, typed=entry.spec.output_schema is not None)


def _result_of(output: ToolOutput, stats: CallStats) -> ToolResult:
    if not output.is_error:
        return ToolResult(status=Status.OK, content=output.content, structured=output.structured, stats=stats)
    error = CallError(type="tool_error", message="The tool ran and reported an error; see its output.")
    return ToolResult(
        status=Status.TOOL_ERROR, content=output.content, structured=output.structured, error=error, stats=stats
    )


def _record(call: ToolCall, result: ToolResult) -> None:
    """One log line per call; arguments and results stay out of it."""
    level = logging.DEBUG if result.ok else logging.INFO
    if _log.isEnabledFor(level):
        _log.log(
            level,
            "call name=%r id=%r session=%r status=%s attempts=%d queue_s=%.4f run_s=%.4f bytes=%d truncated=%s",
            call.name[:80],
            call.call_id,
            call.session,
            result.status.value,
            result.stats.attempts,
            result.stats.queue_s,
            result.stats.run_s,
            result.stats.bytes,
            result.stats.truncated,
        )
