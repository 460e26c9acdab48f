"""Training batches: a few system turns, each shared by several dialogues.

A tool list is several times longer than the dialogue that follows it. The model therefore reads each system turn once
and all its dialogues attend to the same keys and values.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

import torch

from examples.tiny_model.chat import system_segment, turn_segments
from examples.tiny_model.demonstrations import demonstration, random_prompt
from examples.tiny_model.tasks import Kind, sample_task

IGNORED = -100

Encode = Callable[[str], list[int]]


@dataclass(frozen=True)
class Batch:
    """P prompts with D dialogues each: row `p * D + d` of the dialogue tensors belongs to prompt `p`.

    prompt_ids, prompt_mask: int64 (P, Lp), right-padded, mask 1 = real token.
    dialogue_ids, labels: int64 (P * D, Ld), right-padded; labels are IGNORED where the model is not trained.
    """

    prompt_ids: torch.Tensor
    prompt_mask: torch.Tensor
    dialogue_ids: torch.Tensor
    labels: torch.Tensor

    @property
    def dialogues_per_prompt(self) -> int:
        """D."""
        return len(self.dialogue_ids) // len(self.prompt_ids)


@dataclass(frozen=True)
class BatchMaker:
    """Draws batches of fresh training dialogues."""

    encode: Encode
    padding_id: int
    flawed_fraction: float = 0.0

    def draw(
        self, rng: random.Random, prompts: int, dialogues: int, kinds: tuple[Kind, ...], with_tools: bool
    ) -> Batch:
        """Return `prompts` random system turns with `dialogues` dialogues each, of those `kinds` the tools allow."""
        prompt_rows, dialogue_rows, label_rows = [], [], []
        for _ in range(prompts):
            system, tools, possible_kinds = random_prompt(rng, with_tools)
            fitting_kinds = tuple(kind for kind in kinds if kind in possible_kinds)
            prompt_rows.append(self.encode(system_segment(system, tools).text))
            for _ in range(dialogues):
                ids: list[int] = []
                labels: list[int] = []
                turns = demonstration(rng, sample_task(rng, "train", fitting_kinds), self.flawed_fraction)
                for segment in turn_segments(turns):
                    piece = self.encode(segment.text)
                    ids += piece
                    labels += piece if segment.trained else [IGNORED] * len(piece)
                dialogue_rows.append(ids)
                label_rows.append(labels)
        return Batch(
            prompt_ids=_padded(prompt_rows, self.padding_id),
            prompt_mask=_padded([[1] * len(row) for row in prompt_rows], 0),
            dialogue_ids=_padded(dialogue_rows, self.padding_id),
            labels=_padded(label_rows, IGNORED),
        )


def token_losses(model: torch.nn.Module, batch: Batch) -> torch.Tensor:
    """Return the cross-entropy of every trained token, float32 (T,), in nats."""
    prompt_lengths = batch.prompt_mask.sum(1)
    cache = model.model(input_ids=batch.prompt_ids, attention_mask=batch.prompt_mask, use_cache=True).past_key_values
    cache.batch_repeat_interleave(batch.dialogues_per_prompt)
    rows, length = batch.dialogue_ids.shape
    mask = batch.prompt_mask.repeat_interleave(batch.dialogues_per_prompt, 0)
    positions = prompt_lengths.repeat_interleave(batch.dialogues_per_prompt)[:, None] + torch.arange(length)
    hidden = model.model(
        input_ids=batch.dialogue_ids,
        attention_mask=torch.cat([mask, torch.ones(rows, length, dtype=torch.long)], 1),
        position_ids=positions,
        past_key_values=cache,
        use_cache=True,
    ).last_hidden_state[:, :-1]
    targets = batch.labels[:, 1:]
    trained = targets != IGNORED
    return torch.nn.functional.cross_entropy(model.lm_head(hidden[trained]), targets[trained], reduction="none")


def _padded(rows: list[list[int]], padding: int) -> torch.Tensor:
    width = max(len(row) for row in rows)
    return torch.tensor([row + [padding] * (width - len(row)) for row in rows])
