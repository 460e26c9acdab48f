"""Train the model from scratch: `python -m examples.tiny_model.train`.

Supervised fine-tuning of fresh, never repeated dialogues on one CPU thread. Weight matrices are trained with Muon,
everything else with AdamW. `--flawed-fraction` and `--steps` make a deliberately half-trained checkpoint.
"""

import argparse
import math
import random
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from examples.tiny_model.checkpoint import MODEL_DIR, load, new_model, save
from examples.tiny_model.evaluate import Evaluator
from examples.tiny_model.tasks import Kind
from examples.tiny_model.tokenizer import build_tokenizer

if TYPE_CHECKING:
    import torch

WARMUP_STEPS = 20


@dataclass(frozen=True)
class Part:
    """A batch that every `every`-th step learns from; dialogues of similar length together waste little padding."""

    prompts: int
    dialogues: int
    kinds: tuple[Kind, ...]
    with_tools: bool = False
    every: int = 1


def step_parts(single_call_kinds: tuple[Kind, ...]) -> tuple[Part, ...]:
    """What the steps learn from; a family that is named twice comes twice as often."""
    return (
        Part(prompts=2, dialogues=15, kinds=single_call_kinds),
        Part(prompts=1, dialogues=10, kinds=("chain",)),
        Part(prompts=2, dialogues=8, kinds=(*single_call_kinds, "chain"), with_tools=True, every=2),
    )


def learning_rate_scale(step: int, steps: int, decay_share: float) -> float:
    """Linear warm-up, plateau, and a cosine fall to zero over the last `decay_share` of the steps."""
    left = (steps - step) / max(1.0, decay_share * steps)
    return min(1.0, (step + 1) / WARMUP_STEPS) * (1.0 if left >= 1 else 0.5 - 0.5 * math.cos(math.pi * left))


def optimizers(model: "torch.nn.Module", learning_rate: float) -> "list[torch.optim.Optimizer]":
    """Muon for the matrices inside the layers, AdamW for embeddings, norms and biases."""
    import torch

    from examples.tiny_model.muon import Muon

    inner = [p for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name]
    outer = [p for name, p in model.named_parameters() if p.ndim != 2 or "embed" in name]
    return [
        Muon(inner, lr=learning_rate, weight_decay=0.05),
        torch.optim.AdamW(outer, lr=learning_rate, betas=(0.9, 0.95), weight_decay=0.01),
    ]


def main() -> None:
    """Train, report, save."""
    import torch

    from examples.tiny_model.batches import BatchMaker, token_losses

    options = _options()
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    rng = random.Random(options.seed)
    if options.start_from:
        model, tokenizer = load(options.start_from)
        model.train()
    else:
        tokenizer = build_tokenizer()
        model = new_model(len(tokenizer), tokenizer.eos_token_id, tokenizer.pad_token_id)
    print(f"{sum(p.numel() for p in model.parameters())} parameters, {len(tokenizer)} tokens", flush=True)

    encode = lru_cache(maxsize=100_000)(lambda text: tokenizer(text, add_special_tokens=False)["input_ids"])
    maker = BatchMaker(encode, tokenizer.pad_token_id, options.flawed_fraction)
    all_parts = step_parts(tuple(options.single_call_kinds))
    optimizer_list = optimizers(model, options.learning_rate)
    base_rates = [optimizer.param_groups[0]["lr"] for optimizer in optimizer_list]
    start_s, average = time.monotonic(), math.nan
    for step in range(options.steps):
        scale = learning_rate_scale(step, options.steps, options.decay_share)
        for optimizer, rate in zip(optimizer_list, base_rates, strict=True):
            optimizer.param_groups[0]["lr"] = rate * scale
        total = 0.0
        parts = [part for part in all_parts if step % part.every == 0]
        for part in parts:
            batch = maker.draw(rng, part.prompts, part.dialogues, part.kinds, part.with_tools)
            loss = token_losses(model, batch).mean() / len(parts)
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for optimizer in optimizer_list:
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        average = total if math.isnan(average) else 0.95 * average + 0.05 * total
        done = step + 1
        if done % 25 == 0:
            print(f"step {done} loss {average:.4f} after {time.monotonic() - start_s:.0f} s", flush=True)
        if done % options.evaluate_every == 0 or done == options.steps:
            model.eval()
            save(model, tokenizer, options.out)
            evaluator = Evaluator(model, tokenizer, seed=123)
            for prompt in ("short", "unseen"):
                print(evaluator.success(128, prompt, temperature=0.0), flush=True)
            model.train()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=MODEL_DIR)
    parser.add_argument("--start-from", type=Path, help="checkpoint folder to continue from; default: from scratch")
    parser.add_argument("--steps", type=int, default=700)
    parser.add_argument("--decay-share", type=float, default=0.4, help="last part of the steps, with a falling rate")
    parser.add_argument("--learning-rate", type=float, default=4e-3)
    parser.add_argument(
        "--single-call-kinds",
        nargs="+",
        choices=("calc", "range", "list"),
        default=("calc", "calc", "range", "list"),
        help="families beside chain; repeat one to see it more often",
    )
    parser.add_argument("--flawed-fraction", type=float, default=0.0, help="share of deliberately wrong dialogues")
    parser.add_argument("--evaluate-every", type=int, default=250, help="steps between two saves with a small test")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
