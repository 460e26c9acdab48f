"""What happened in a trajectory, turn by turn: the JSON of `rollout_infos` (design §6).

ms-swift keeps only the last value that a key of `rollout_infos` had, so everything is accumulated
here and the whole is handed over each time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from turngate.tools import Status, ToolResult

__all__ = ["MALFORMED", "CallRecord", "StopReason", "TrajectoryRecord", "TurnRecord"]

StopReason = Literal["answered", "max_turns", "length", "context", "deadline", "budget", "stop_tool", "error"]

MALFORMED = "malformed"
"""Status of a call that could not be read; all other statuses are the gateway's."""


@dataclass
class CallRecord:
    """One call of a turn. Times in seconds; `obs_tokens` are the tokens of its observation's text."""

    name: str
    call_id: str
    status: str
    error_type: str | None = None
    attempts: int = 0
    queue_s: float = 0.0
    run_s: float = 0.0
    cached: bool = False
    truncated: bool = False
    obs_tokens: int = 0

    @classmethod
    def of_result(cls, result: ToolResult) -> CallRecord:
        """The record of a call that the gateway answered."""
        stats = result.stats
        return cls(
            name=result.name[:64].encode("utf-8", "replace").decode(),
            call_id=result.call_id,
            status=result.status.value,
            error_type=result.error.type if result.error is not None else None,
            attempts=stats.attempts,
            queue_s=round(stats.queue_s, 6),
            run_s=round(stats.run_s, 6),
            cached=stats.cached,
            truncated=stats.truncated,
        )


@dataclass
class TurnRecord:
    """One turn of the model, and the calls that it made."""

    turn: int
    """Counted from 1."""
    finish_reason: str
    gen_tokens: int
    obs_tokens: int = 0
    """Tokens appended after the turn, template text included; all have loss mask 0."""
    wall_s: float = 0.0
    """Seconds from the end of sampling until the observations were ready."""
    format_ok: bool = True
    """Whether every call in the turn could be read."""
    calls: list[CallRecord] = field(default_factory=list)


@dataclass
class TrajectoryRecord:
    """All turns of a trajectory, and why it ended."""

    turns: list[TurnRecord] = field(default_factory=list)
    stop_reason: StopReason = "error"

    @property
    def calls(self) -> list[CallRecord]:
        """Every call of the trajectory, in order."""
        return [call for turn in self.turns for call in turn.calls]

    def infos(self) -> dict[str, Any]:
        """The JSON-safe `rollout_infos`."""
        return {
            "num_turns": len(self.turns),
            "stop_reason": self.stop_reason,
            "tool_turns": [asdict(turn) for turn in self.turns],
            "tool_stats": self.stats(),
        }

    def stats(self) -> dict[str, Any]:
        """Totals. `ok + failed == calls`; `malformed` to `timeouts` say why calls failed."""
        calls = self.calls
        by_status = [call.status for call in calls]
        return {
            "turns_with_calls": sum(1 for turn in self.turns if turn.calls),
            "calls": len(calls),
            "ok": by_status.count(Status.OK),
            "failed": len(calls) - by_status.count(Status.OK),
            "malformed": by_status.count(MALFORMED),
            "invalid_arguments": by_status.count(Status.INVALID_ARGUMENTS),
            "unknown_tool": by_status.count(Status.UNKNOWN_TOOL),
            "timeouts": by_status.count(Status.TIMEOUT),
            "retries": sum(max(0, call.attempts - 1) for call in calls),
            "cached": sum(call.cached for call in calls),
            "queue_s": round(sum(call.queue_s for call in calls), 6),
            "run_s": round(sum(call.run_s for call in calls), 6),
            "obs_tokens": sum(turn.obs_tokens for turn in self.turns),
            "by_tool": {
                name: _tool_stats(call for call in calls if call.name == name)
                for name in dict.fromkeys(call.name for call in calls if call.name)
            },
        }


def _tool_stats(calls: Iterable[CallRecord]) -> dict[str, Any]:
    mine = list(calls)
    ok = sum(call.status == Status.OK for call in mine)
    return {
        "calls": len(mine),
        "ok": ok,
        "failed": len(mine) - ok,
        "timeouts": sum(call.status == Status.TIMEOUT for call in mine),
        "mean_run_s": round(sum(call.run_s for call in mine) / len(mine), 6),
        "max_run_s": max(call.run_s for call in mine),
    }
