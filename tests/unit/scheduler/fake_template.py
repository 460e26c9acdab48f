"""Stand-ins for a Hugging Face tokenizer and ms-swift's Qwen template, small enough for unit tests."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

ADDED = ["<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]


class CharTokenizer:
    """One token for each character, and one for each added token, matched greedily as the real ones are."""

    eos_token_id = ADDED.index("<|im_end|>")

    def __init__(self) -> None:
        self._added = {text: index for index, text in enumerate(ADDED)}
        self._pattern = re.compile("|".join(re.escape(text) for text in ADDED) + "|.", re.DOTALL)

    def encode(self, text: str, *, add_special_tokens: bool = False) -> list[int]:
        return [self._added.get(part, 1000 + ord(part[0])) for part in self._pattern.findall(text)]

    def decode(self, ids: list[int], **_: Any) -> str:
        return "".join(ADDED[i] if i < 1000 else chr(i - 1000) for i in ids)

    def get_added_vocab(self) -> dict[str, int]:
        return dict(self._added)


class _Hermes:
    template_meta: Any = None

    def _format_tool_responses(self, content: str, messages: list[dict[str, str]]) -> tuple[str, list[str]]:
        body = "\n".join(f"<tool_response>\n{message['content']}\n</tool_response>" for message in messages)
        return content, ["<|im_end|>\n", f"<|im_start|>user\n{body}<|im_end|>\n<|im_start|>assistant\n"]


def qwen_template() -> Any:
    return SimpleNamespace(
        agent_template=_Hermes(),
        _agent_template="hermes",
        template_meta=SimpleNamespace(template_type="qwen2_5"),
        tokenizer=CharTokenizer(),
    )
