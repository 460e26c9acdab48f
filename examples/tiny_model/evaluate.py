"""Measure the model on held-out tasks: `python -m examples.tiny_model.evaluate`.

Batched multi-turn sampling with transformers; the tools are the demonstrations' own evaluator.
"""

import argparse
import itertools
import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from examples.tiny_model.arithmetic import answer_call
from examples.tiny_model.chat import (
    CANNOT_ANSWER,
    SYSTEM,
    TURN_END,
    Turn,
    read_answer,
    read_call,
    system_segment,
    turn_segments,
)
from examples.tiny_model.checkpoint import MODEL_DIR, load
from examples.tiny_model.tasks import CALCULATOR_KINDS, KINDS, Kind, Task, tasks
from examples.tiny_model.tool_lists import random_tools
from examples.tiny_model.unseen import UNSEEN_ERRORS, UNSEEN_TOOLS

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerFast, Qwen2ForCausalLM

PromptKind = Literal["short", "schema", "unseen", "unseen-calculator"]
PROMPT_KINDS: tuple[PromptKind, ...] = ("short", "schema", "unseen", "unseen-calculator")

MAX_TURNS = 4
MAX_TURN_TOKENS = 64


@dataclass
class _Rollout:
    task: Task
    ids: list[int]
    texts: list[str] = field(default_factory=list)
    calls: int = 0
    valid_calls: int = 0


class Evaluator:
    """Plays tasks with one model; the same seed gives the same tasks and the same samples."""

    def __init__(self, model: "Qwen2ForCausalLM", tokenizer: "PreTrainedTokenizerFast", seed: int = 777) -> None:
        self._model = model.eval()
        self._tokenizer = tokenizer
        self._seed = seed

    def success(self, count: int, prompt: PromptKind, temperature: float) -> dict[str, Any]:
        """Return the share of right final answers, overall and per family, and of rollouts with only valid calls."""
        rollouts = self._play(self._start(count, prompt), temperature)
        right = [bool(r.texts) and read_answer(r.texts[-1]) == r.task.answer for r in rollouts]
        figures: dict[str, Any] = {"prompt": prompt, "temperature": temperature, "n": count}
        figures["success"] = _share(right)
        for kind in KINDS:
            chosen = [ok for ok, rollout in zip(right, rollouts, strict=True) if rollout.task.kind == kind]
            if chosen:
                figures[kind] = f"{_share(chosen)} of {len(chosen)}"
        figures["valid_calls_only"] = _share([0 < r.calls == r.valid_calls for r in rollouts])
        return figures

    def errors(self, count: int, prompt: PromptKind, temperature: float) -> dict[str, Any]:
        """Answer every call with an error text that training never showed; return the share of honest last turns."""
        rollouts = self._play(self._start(count, prompt), temperature, observations=UNSEEN_ERRORS)
        honest = [bool(r.texts) and r.texts[-1] == CANNOT_ANSWER for r in rollouts]
        return {"prompt": prompt, "temperature": temperature, "n": count, "says_it_cannot": _share(honest)}

    def _start(self, count: int, prompt: PromptKind) -> list[_Rollout]:
        rng = random.Random(self._seed)
        rollouts = []
        for index in range(count):
            tools, kinds = {
                "short": lambda: (None, KINDS),
                "schema": lambda: random_tools(rng),
                "unseen": lambda: (UNSEEN_TOOLS, KINDS),
                "unseen-calculator": lambda: (UNSEEN_TOOLS[:1], CALCULATOR_KINDS),
            }[prompt]()
            task = _held_out_task(self._seed * 1_000_000 + index, kinds)
            segments = [system_segment(SYSTEM, tools), *turn_segments([Turn("user", task.question)])]
            rollouts.append(_Rollout(task, [i for segment in segments for i in self._encode(segment.text)]))
        return rollouts

    def _play(
        self, rollouts: list[_Rollout], temperature: float, observations: tuple[str, ...] | None = None
    ) -> list[_Rollout]:
        import torch

        generator = torch.Generator().manual_seed(self._seed)
        canned = itertools.cycle(observations or ())
        live = rollouts
        for _ in range(MAX_TURNS):
            # Similar lengths together: padding costs as much as text.
            live = sorted(live, key=lambda rollout: len(rollout.ids))
            still_live = []
            for chunk in _chunks(live, 64):
                outputs = self._generate([rollout.ids for rollout in chunk], temperature, generator)
                for rollout, output in zip(chunk, outputs, strict=True):
                    text = self._tokenizer.decode(output)
                    finished = text.endswith(TURN_END)
                    rollout.texts.append(text.removesuffix(TURN_END))
                    call = read_call(rollout.texts[-1]) if finished else None
                    if call is None:
                        continue
                    observation = next(canned) if observations else answer_call(call.name, call.arguments)
                    rollout.calls += 1
                    rollout.valid_calls += not observation.startswith("Error")
                    segments = turn_segments([Turn("tool", observation)])
                    rollout.ids += output + self._encode("\n")
                    rollout.ids += [i for segment in segments for i in self._encode(segment.text)]
                    still_live.append(rollout)
            live = still_live
        return rollouts

    def _generate(self, prompts: list[list[int]], temperature: float, generator: "torch.Generator") -> list[list[int]]:
        """Return the new ids of each prompt up to and including the turn's end, sampled from the full vocabulary."""
        import torch

        width = max(len(prompt) for prompt in prompts)
        ids = torch.full((len(prompts), width), self._tokenizer.pad_token_id)
        mask = torch.zeros_like(ids)
        for row, prompt in enumerate(prompts):
            ids[row, width - len(prompt) :] = torch.tensor(prompt)
            mask[row, width - len(prompt) :] = 1
        positions = (mask.cumsum(1) - 1).clamp(min=0)
        outputs: list[list[int]] = [[] for _ in prompts]
        done = torch.zeros(len(prompts), dtype=torch.bool)
        cache = None
        with torch.inference_mode():
            for _ in range(MAX_TURN_TOKENS):
                result = self._model(
                    input_ids=ids,
                    attention_mask=mask,
                    position_ids=positions,
                    past_key_values=cache,
                    use_cache=True,
                    logits_to_keep=1,
                )
                cache = result.past_key_values
                logits = result.logits[:, -1].float()
                if temperature == 0:
                    chosen = logits.argmax(-1)
                else:
                    chosen = torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)[:, 0]
                for row, token in enumerate(chosen.tolist()):
                    if not done[row]:
                        outputs[row].append(token)
                done |= chosen == self._tokenizer.eos_token_id
                if done.all():
                    break
                ids = chosen[:, None]
                positions = positions[:, -1:] + 1
                mask = torch.cat([mask, torch.ones_like(ids)], 1)
        return outputs

    def _encode(self, text: str) -> list[int]:
        return self._tokenizer(text, add_special_tokens=False)["input_ids"]


def _held_out_task(seed: int, kinds: tuple[Kind, ...]) -> Task:
    return next(tasks(seed, "held-out", kinds))


def _chunks(items: list[_Rollout], size: int) -> list[list[_Rollout]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def _share(flags: list[bool]) -> float:
    return round(sum(flags) / len(flags), 3)


def main() -> None:
    """Print one JSON line per prompt kind and temperature."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=MODEL_DIR)
    parser.add_argument("--count", type=int, default=512, help="tasks per line")
    parser.add_argument("--prompts", nargs="+", choices=PROMPT_KINDS, default=PROMPT_KINDS)
    parser.add_argument("--temperatures", nargs="+", type=float, default=[0.0, 1.0])
    parser.add_argument("--seed", type=int, default=777)
    options = parser.parse_args()
    torch.set_num_threads(1)
    evaluator = Evaluator(*load(options.model), seed=options.seed)
    for prompt in options.prompts:
        for temperature in options.temperatures:
            print(json.dumps(evaluator.success(options.count, prompt, temperature)), flush=True)
            print(json.dumps(evaluator.errors(options.count // 4, prompt, temperature)), flush=True)


if __name__ == "__main__":
    main()
