"""Compare the project's rendering with ms-swift, token by token: `python -m examples.tiny_model.check_template`.

Needs ms-swift 4.6. For random dialogues with and without tools it compares the ids and the trained positions of
`chat.py` with those of template `qwen2_5` + agent template `hermes`, and the text with the saved chat template.
One difference is known and allowed for: ms-swift also trains the line end that follows an assistant's `<|im_end|>`.
"""

import argparse
import json
import random
from pathlib import Path
from typing import Any

from examples.tiny_model.chat import Segment, ToolSchema, Turn, observation_text, system_segment, turn_segments
from examples.tiny_model.checkpoint import MODEL_DIR
from examples.tiny_model.demonstrations import demonstration, random_prompt
from examples.tiny_model.tasks import sample_task


def messages_of(system: str, turns: list[Turn]) -> list[dict[str, str]]:
    """The dialogue as chat messages; an observation is a user turn that holds a `<tool_response>`."""
    messages = [{"role": "system", "content": system}]
    for turn in turns:
        if turn.role == "tool":
            messages.append({"role": "user", "content": observation_text(turn.text)})
        else:
            messages.append({"role": turn.role, "content": turn.text})
    return messages


class TemplateCheck:
    """Holds ms-swift's template for one model folder."""

    def __init__(self, folder: Path) -> None:
        from swift.model import get_model_processor
        from swift.template import get_template

        _, self._tokenizer = get_model_processor(str(folder), model_type="qwen2", load_model=False)
        self._template = get_template(self._tokenizer, template_type="qwen2_5", agent_template="hermes")
        self._template.set_mode("train")

    def compare(self, system: str, tools: list[ToolSchema] | None, turns: list[Turn]) -> None:
        """Raise AssertionError where ids, trained positions or the chat template's text differ."""
        segments = [system_segment(system, tools), *turn_segments(turns), Segment("\n", trained=False)]
        messages = messages_of(system, turns)
        sample: dict[str, Any] = {"messages": messages}
        if tools:
            sample["tools"] = json.dumps(tools, ensure_ascii=False)
        encoded = self._template.encode(sample)
        ids, labels = self._encode(segments)
        assert encoded["input_ids"] == ids, self._tokenizer.decode(encoded["input_ids"])
        assert self._without_line_ends(encoded) == labels, "trained positions differ"
        text = self._tokenizer.apply_chat_template(messages, tools=tools, tokenize=False)
        assert text == "".join(segment.text for segment in segments), text

    def _without_line_ends(self, encoded: dict[str, Any]) -> list[int]:
        """ms-swift's labels without the line end after an assistant turn, which a model never generates."""
        end = self._tokenizer.eos_token_id
        before = [None, *encoded["input_ids"]]
        return [-100 if previous == end else label for previous, label in zip(before, encoded["labels"], strict=False)]

    def _encode(self, segments: list[Segment]) -> tuple[list[int], list[int]]:
        ids: list[int] = []
        labels: list[int] = []
        for segment in segments:
            piece = self._tokenizer(segment.text, add_special_tokens=False)["input_ids"]
            ids += piece
            labels += piece if segment.trained else [-100] * len(piece)
        return ids, labels


def main() -> None:
    """Compare and print how many dialogues agreed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=MODEL_DIR)
    parser.add_argument("--count", type=int, default=200)
    options = parser.parse_args()
    check = TemplateCheck(options.model)
    rng = random.Random(0)
    for index in range(options.count):
        system, tools, kinds = random_prompt(rng, with_tools=index % 2 == 0)
        check.compare(system, tools, demonstration(rng, sample_task(rng, "train", kinds)))
    print(f"{options.count} dialogues: ids, trained positions and chat template agree")


if __name__ == "__main__":
    main()
