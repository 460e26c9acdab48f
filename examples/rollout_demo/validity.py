"""What must hold of every `RolloutOutput`, as far as the output alone can tell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, get_args

from turngate.scheduler.turn_records import MALFORMED, StopReason
from turngate.tools import Status

STOP_REASONS = frozenset(get_args(StopReason))
CALL_STATUSES = frozenset({MALFORMED, *Status})

_TURN_KEYS = frozenset(
    {"turn", "finish_reason", "gen_tokens", "obs_tokens", "wall_s", "format_ok", "calls"}
)  # fmt: skip
_CALL_KEYS = frozenset(
    {"name", "call_id", "status", "error_type", "attempts", "queue_s", "run_s", "cached", "truncated", "obs_tokens"}
)
_STATS_KEYS = frozenset(
    {
        "turns_with_calls", "calls", "ok", "failed", "malformed", "invalid_arguments", "unknown_tool", "timeouts",
        "retries", "cached", "queue_s", "run_s", "obs_tokens", "by_tool",
    }
)  # fmt: skip


def problems(output: Mapping[str, Any]) -> list[str]:
    """Everything that is wrong with one output (a RolloutOutput as JSON); empty if it is valid.

    A trajectory that ended by an error counts as wrong, even where its tokens and records agree.
    """
    infos = output.get("rollout_infos") or {}
    found = [*_token_problems(output, infos.get("stop_reason")), *_infos_problems(infos)]
    if not found:
        found += _count_problems(output, infos)
    last = (output.get("messages") or [{}])[-1]
    if last.get("role") != "assistant" or not isinstance(last.get("content"), str):
        found.append("the last message is not the assistant's text")
    return found


def flat(lists: Sequence[Sequence[Any]] | None) -> list[Any]:
    """The token lists of an output as one list."""
    return list(chain.from_iterable(lists or ()))


def _token_problems(output: Mapping[str, Any], stop_reason: str | None) -> list[str]:
    ids, mask = flat(output.get("response_token_ids")), flat(output.get("response_loss_mask"))
    logprobs = flat(output.get("rollout_logprobs"))
    found = []
    if len(mask) != len(ids):
        found.append(f"{len(ids)} token ids but {len(mask)} mask entries")
    if not set(mask) <= {0, 1}:
        found.append(f"mask entries other than 0 and 1: {sorted(set(mask) - {0, 1})}")
    if 1 not in mask:
        return [*found, "no token was sampled"]
    if len(logprobs) != mask.count(1):
        found.append(f"{mask.count(1)} sampled tokens but {len(logprobs)} logprobs")
    if not all(isinstance(value, int | float) and math.isfinite(value) and value <= 0 for value in logprobs):
        found.append("a logprob that is no number up to 0")
    if stop_reason == "context":
        # Observations were appended, but the engine never took them in.
        ids = ids[: len(mask) - mask[::-1].index(1)]
    seen = _engine_tokens(output)
    if seen[-len(ids) :] != ids:
        found.append("the tokens returned are not the ones that the engine's last turn ended with")
    return found


def _engine_tokens(output: Mapping[str, Any]) -> list[int]:
    """What the engine held at the end of its last turn: its prompt, and what it sampled."""
    response = output.get("response") or {}
    choices = response.get("choices") or [{}]
    return [*(response.get("prompt_token_ids") or ()), *(choices[0].get("token_ids") or ())]


def _infos_problems(infos: Mapping[str, Any]) -> list[str]:
    """What is missing, or of the wrong kind, in `rollout_infos`."""
    missing = {"num_turns", "stop_reason", "tool_turns", "tool_stats"} - infos.keys()
    if missing:
        return [f"rollout_infos lacks {_listed(missing)}"]
    found = []
    if infos["stop_reason"] not in STOP_REASONS:
        found.append(f"unknown stop_reason {infos['stop_reason']!r}")
    elif infos["stop_reason"] == "error":
        found.append("the trajectory ended by an error; the server's log says more")
    if missing := _STATS_KEYS - infos["tool_stats"].keys():
        found.append(f"tool_stats lacks {_listed(missing)}")
    for number, turn in enumerate(infos["tool_turns"], start=1):
        if missing := _TURN_KEYS - turn.keys():
            found.append(f"turn {number} lacks {_listed(missing)}")
            continue
        if turn["turn"] != number:
            found.append(f"turn {number} is numbered {turn['turn']}")
        for call in turn["calls"]:
            if missing := _CALL_KEYS - call.keys():
                found.append(f"a call of turn {number} lacks {_listed(missing)}")
            elif call["status"] not in CALL_STATUSES:
                found.append(f"a call of turn {number} has the unknown status {call['status']!r}")
    return found


def _count_problems(output: Mapping[str, Any], infos: Mapping[str, Any]) -> list[str]:
    """Where the figures of complete `rollout_infos` contradict each other or the tokens."""
    turns, stats = infos["tool_turns"], infos["tool_stats"]
    calls = [call for turn in turns for call in turn["calls"]]
    ok = sum(call["status"] == Status.OK for call in calls)
    mask = flat(output["response_loss_mask"])
    pairs = {
        "num_turns and the turns recorded": (infos["num_turns"], len(turns)),
        "tool_stats.calls and the calls recorded": (stats["calls"], len(calls)),
        "tool_stats.calls and ok + failed": (stats["calls"], stats["ok"] + stats["failed"]),
        "tool_stats.ok and the calls recorded as ok": (stats["ok"], ok),
        "turns_with_calls and the turns recorded": (stats["turns_with_calls"], sum(bool(t["calls"]) for t in turns)),
        "sampled tokens in the mask and in the turns": (mask.count(1), sum(t["gen_tokens"] for t in turns)),
        "tool_stats.obs_tokens and the turns'": (stats["obs_tokens"], sum(t["obs_tokens"] for t in turns)),
        "by_tool's calls and the named calls": (
            sum(tool["calls"] for tool in stats["by_tool"].values()),
            sum(bool(call["name"]) for call in calls),
        ),
    }
    found = [f"{what} differ: {one} and {other}" for what, (one, other) in pairs.items() if one != other]
    if stats["obs_tokens"] > mask.count(0):
        found.append(f"{stats['obs_tokens']} observation tokens but only {mask.count(0)} masked ones")
    if infos["stop_reason"] == "answered" and turns and turns[-1]["calls"]:
        found.append("stop_reason is 'answered' although the last turn made calls")
    return found


def _listed(names: set[str] | frozenset[str]) -> str:
    return ", ".join(sorted(names))
