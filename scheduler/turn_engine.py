"""One turn: read the calls, run them, say what the model shall see, record it.

The same engine serves training rollouts and the inference agent; it knows nothing of tokens or of
ms-swift.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from turngate.gateway import ToolGateway
from turngate.scheduler.reading import CallReader, MalformedCall, ReadCall, WrittenCall
from turngate.scheduler.rollout_settings import RolloutSettings
from turngate.scheduler.turn_records import MALFORMED, CallRecord, StopReason, TurnRecord
from turngate.tools import CallError, CallStats, Status, ToolCall, ToolResult

__all__ = ["TurnEngine", "TurnOutcome"]

_log = logging.getLogger("turngate.scheduler")


@dataclass
class TurnOutcome:
    """What a turn led to: observations to show (one for each call), or a reason to stop."""

    record: TurnRecord
    observations: list[str] = field(default_factory=list)
    stop_reason: StopReason | None = None


class TurnEngine:
    """Runs the turns of any number of trajectories; keeps no state of theirs."""

    def __init__(self, gateway: ToolGateway, reader: CallReader, settings: RolloutSettings) -> None:
        self._gateway = gateway
        self._reader = reader
        self._settings = settings

    async def take(
        self,
        text: str,
        *,
        turn: int,
        finish_reason: str,
        gen_tokens: int,
        session: str,
        last_turn: bool,
        think_prefilled: bool = False,
    ) -> TurnOutcome:
        """Handle what the model wrote in turn number `turn` (from 1).

        Nothing is run in a turn that was cut off by the token limit (half a call can look like a
        whole one), nor in the last turn (nobody could read the result). Raises only cancellation.
        """
        record = TurnRecord(turn=turn, finish_reason=finish_reason, gen_tokens=gen_tokens)
        if finish_reason == "length":
            return TurnOutcome(record, stop_reason="length")
        written = self._reader.read(text, think_prefilled=think_prefilled)
        record.format_ok = not any(isinstance(call, MalformedCall) for call in written)
        if not written:
            return TurnOutcome(record, stop_reason="answered")
        if last_turn:
            return TurnOutcome(record, stop_reason="max_turns")
        started_s = time.monotonic()
        results = await self._run(written, turn, session)
        record.wall_s = round(time.monotonic() - started_s, 6)
        observations: list[str] = []
        for call, result in zip(written, results, strict=True):
            record.calls.append(_record_of(call, result))
            observations.append(_observation(result))
        return TurnOutcome(record, observations)

    async def _run(self, written: Sequence[WrittenCall], turn: int, session: str) -> list[ToolResult]:
        """A result for each written call, in order: what can be run is run, at the same time."""
        results: dict[int, ToolResult] = {}
        calls: dict[int, ToolCall] = {}
        for index, call in enumerate(written):
            call_id = f"call_{turn}_{index}"
            if isinstance(call, MalformedCall):
                results[index] = _failed(
                    call_id, call.name, Status.INVALID_ARGUMENTS, call.error_type, f"Malformed call. {call.message}"
                )
            elif len(calls) >= self._settings.max_calls_per_turn:
                limit = self._settings.max_calls_per_turn
                message = f"Not run: at most {limit} calls are run in one turn. Send the others in your next turn."
                results[index] = _failed(call_id, call.name, Status.DENIED, "too_many_calls", message)
            else:
                calls[index] = _tool_call(call, call_id, session)
        if calls:
            answered = await self._call_many(list(calls.values()))
            results.update(zip(calls, answered, strict=True))
        return [results[index] for index in range(len(written))]

    async def _call_many(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """The gateway's results; whatever becomes of the gateway, there is one for each call."""
        limit_s = self._settings.turn_deadline_s
        try:
            async with asyncio.timeout(limit_s):
                results = await self._gateway.call_many(calls)
            if len(results) == len(calls):
                return results
            raise RuntimeError(f"{len(calls)} calls, {len(results)} results")
        except TimeoutError:
            status, kind = Status.TIMEOUT, "turn_deadline"
            message = f"The tools did not answer within {limit_s:.3g} s and were stopped. Ask for less work."
        except Exception:  # the outermost handler of a turn: a broken gateway costs these calls only
            _log.exception("the gateway failed; its %d calls are answered with an error", len(calls))
            status, kind = Status.INTERNAL, "gateway"
            message = "The tool gateway failed; your call was not at fault. Try again later, or go on without it."
        return [_failed(call.call_id, call.name, status, kind, message) for call in calls]


def _tool_call(call: ReadCall, call_id: str, session: str) -> ToolCall:
    return ToolCall.model_construct(
        name=call.name, arguments=call.arguments, call_id=call_id, session=session, deadline_s=None
    )


def _failed(call_id: str, name: str, status: Status, kind: str, message: str) -> ToolResult:
    error = CallError(type=kind, message=message)
    return ToolResult(call_id=call_id, name=name, status=status, error=error, stats=CallStats())


def _record_of(written: WrittenCall, result: ToolResult) -> CallRecord:
    record = CallRecord.of_result(result)
    if isinstance(written, MalformedCall):
        record.status = MALFORMED
    return record


def _observation(result: ToolResult) -> str:
    """What the model reads of a result."""
    text = result.text if result.ok or result.content else f"Error: {result.text}"
    # Half a surrogate pair, which JSON can carry, is no text that a tokenizer takes.
    return text.encode("utf-8", "replace").decode()
