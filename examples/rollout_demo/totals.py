"""The figures under the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from examples.rollout_demo.trajectory import Trajectory


@dataclass(frozen=True)
class Totals:
    """Sums over a batch. Times in seconds."""

    trajectories: int
    valid: int
    right: int
    turns: int
    calls: int
    failed_calls: int
    generated_tokens: int
    masked_tokens: int
    start_s: float
    """Until gateway and rollout server were up."""
    batch_s: float
    """From posting the batch to its answer."""

    @classmethod
    def of(cls, trajectories: Sequence[Trajectory], *, start_s: float, batch_s: float) -> Totals:
        """Sum up."""
        stats = [one.infos.get("tool_stats", {}) for one in trajectories]
        return cls(
            trajectories=len(trajectories),
            valid=sum(one.valid for one in trajectories),
            right=sum(one.right for one in trajectories),
            turns=sum(one.infos.get("num_turns", 0) for one in trajectories),
            calls=sum(one.get("calls", 0) for one in stats),
            failed_calls=sum(one.get("failed", 0) for one in stats),
            generated_tokens=sum(one.generated_tokens for one in trajectories),
            masked_tokens=sum(one.masked_tokens for one in trajectories),
            start_s=round(start_s, 3),
            batch_s=round(batch_s, 3),
        )
