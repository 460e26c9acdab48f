"""The tokens of one trajectory as they will be trained on: ids, loss mask, logprobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["TokenLedger"]


@dataclass
class TokenLedger:
    """Everything after the prompt, in order.

    `ids` and `mask` are list[int] of the same length T; mask 1 marks what the model sampled, 0 what was
    appended (observations, response prefixes) and must not be trained on. `logprobs` is
    list[float] with one entry for each mask-1 token, in order.
    """

    ids: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    logprobs_complete: bool = True
    """False once a sampled token came without its logprob; then none may be used."""

    def add_sampled(self, ids: Sequence[int], logprobs: Sequence[float]) -> None:
        """Append what the model sampled."""
        self.ids.extend(ids)
        self.mask.extend([1] * len(ids))
        if len(logprobs) == len(ids):
            self.logprobs.extend(logprobs)
        else:
            self.logprobs_complete = False

    def add_masked(self, ids: Sequence[int]) -> None:
        """Append tokens that the loss ignores."""
        self.ids.extend(ids)
        self.mask.extend([0] * len(ids))

    @property
    def sampled_tokens(self) -> int:
        """How many tokens the model sampled."""
        return sum(self.mask)

    @property
    def masked_tokens(self) -> int:
        """How many tokens the loss ignores."""
        return len(self.mask) - self.sampled_tokens

    def complete_logprobs(self) -> list[float]:
        """One logprob for each sampled token, or an empty list if any is missing."""
        return list(self.logprobs) if self.logprobs_complete else []
