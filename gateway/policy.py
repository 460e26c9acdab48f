"""The limits that one call runs under, and how they are found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast

from turngate.tools import CallPolicy, ToolSpec
from turngate.tools.nouns import TruncateMode

__all__ = ["DEFAULT_POLICY", "EffectivePolicy", "effective_policy", "merge_policy"]

DEFAULT_POLICY: Final = CallPolicy(
    timeout_s=30.0,
    deadline_s=60.0,
    max_attempts=3,
    max_concurrency=64,
    max_queue=10_000,
    max_output_bytes=64 * 1024,
    truncate="middle",
)
"""What holds where neither the tool nor the configuration says otherwise."""


@dataclass(frozen=True)
class EffectivePolicy:
    """A policy with every question answered; the fields are `CallPolicy`'s."""

    timeout_s: float
    deadline_s: float
    max_attempts: int
    max_concurrency: int
    max_queue: int
    max_output_bytes: int
    truncate: TruncateMode
    replay_safe: bool
    """A failed attempt may be repeated although it may have had an effect."""


def merge_policy(*policies: CallPolicy) -> CallPolicy:
    """Merge field by field; of two policies that set a field, the later one wins."""
    merged: dict[str, object] = {}
    for policy in policies:
        merged.update(policy.model_dump(exclude_none=True))
    return CallPolicy.model_validate(merged)


def effective_policy(spec: ToolSpec, defaults: CallPolicy, override: CallPolicy) -> EffectivePolicy:
    """The limits for one tool: built-in defaults < configured defaults < the tool's own < its configuration.

    A tool is replay-safe if its configuration says `idempotent`, or else if its annotations say
    that it is read-only or idempotent. A tool that says nothing is not.
    """
    merged = merge_policy(DEFAULT_POLICY, defaults, spec.policy, override)
    hints = spec.annotations
    replay_safe = bool(hints.read_only or hints.idempotent) if merged.idempotent is None else merged.idempotent
    return EffectivePolicy(
        timeout_s=cast("float", merged.timeout_s),
        deadline_s=cast("float", merged.deadline_s),
        max_attempts=cast("int", merged.max_attempts),
        max_concurrency=cast("int", merged.max_concurrency),
        max_queue=cast("int", merged.max_queue),
        max_output_bytes=cast("int", merged.max_output_bytes),
        truncate=cast("TruncateMode", merged.truncate),
        replay_safe=replay_safe,
    )
