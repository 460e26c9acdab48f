"""`rollout_infos`: accumulated, consistent, JSON-safe."""

import json

from turngate.scheduler import CallRecord, TrajectoryRecord, TurnRecord


def trajectory() -> TrajectoryRecord:
    first = TurnRecord(turn=1, finish_reason="stop", gen_tokens=10, obs_tokens=7)
    first.calls = [
        CallRecord("add", "call_1_0", "ok", attempts=3, run_s=0.5),
        CallRecord("add", "call_1_1", "timeout", "timeout", attempts=1, run_s=1.5),
        CallRecord("nope", "call_1_2", "unknown_tool", "unknown_tool"),
    ]
    last = TurnRecord(turn=2, finish_reason="stop", gen_tokens=4)
    return TrajectoryRecord(turns=[first, last], stop_reason="answered")


def test_the_keys_are_those_of_the_contract() -> None:
    infos = json.loads(json.dumps(trajectory().infos()))
    assert set(infos) == {"num_turns", "stop_reason", "tool_turns", "tool_stats"}
    assert set(infos["tool_turns"][0]) == {
        "turn", "finish_reason", "gen_tokens", "obs_tokens", "wall_s", "format_ok", "calls"
    }  # fmt: skip
    assert set(infos["tool_turns"][0]["calls"][0]) == {
        "name", "call_id", "status", "error_type", "attempts", "queue_s", "run_s", "cached", "truncated", "obs_tokens"
    }  # fmt: skip
    assert set(infos["tool_stats"]) == {
        "turns_with_calls", "calls", "ok", "failed", "malformed", "invalid_arguments", "unknown_tool", "timeouts",
        "retries", "cached", "queue_s", "run_s", "obs_tokens", "by_tool"
    }  # fmt: skip


def test_totals_add_up() -> None:
    stats = trajectory().stats()
    assert (stats["calls"], stats["ok"], stats["failed"]) == (3, 1, 2)
    assert (stats["timeouts"], stats["unknown_tool"], stats["retries"], stats["obs_tokens"]) == (1, 1, 2, 7)
    assert stats["by_tool"]["add"] == {
        "calls": 2, "ok": 1, "failed": 1, "timeouts": 1, "mean_run_s": 1.0, "max_run_s": 1.5
    }  # fmt: skip


def test_a_trajectory_without_calls_has_zeros() -> None:
    assert TrajectoryRecord().infos()["tool_stats"]["by_tool"] == {}
