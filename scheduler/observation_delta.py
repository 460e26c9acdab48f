"""From observations to the exact tokens that continue a trajectory.

The delta after a model turn that calls tools is what the chat template itself would put there:
separator, tool turn, generation prompt. Its literal parts come from ms-swift's template and agent
template; the observations are encoded so that no text in them becomes a control token.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

__all__ = ["DeltaEncoder", "EncodedDelta", "TemplateNotSupported", "Tokenizer", "literal_parts"]

_SENTINEL: Final = "\x02observation-{}\x03"
_MAX_CHARS_PER_TOKEN: Final = 16
_QUICK_CHARS: Final = 2000
_CACHED_CHARS: Final = 32
_CACHE_SIZE: Final = 4096
_MARKER: Final = "\n[… {} characters cut …]\n"


class TemplateNotSupported(Exception):
    """The loaded chat template cannot be continued token by token. Raised at start-up; the person's choice of model."""


class Tokenizer(Protocol):
    """What is needed of a Hugging Face tokenizer."""

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        """Token ids of the text."""
        ...

    def get_added_vocab(self) -> dict[str, int]:
        """Tokens that are matched in the text before the vocabulary is: control tokens among them."""
        ...


@dataclass(frozen=True)
class EncodedDelta:
    """The tokens to append, and what each observation took of them."""

    ids: list[int]
    observation_tokens: list[int]
    """Tokens of each observation's own text, in order."""
    truncated: list[bool]


class DeltaEncoder:
    """Encodes the delta for one tokenizer and one template."""

    def __init__(self, tokenizer: Tokenizer, template: Any) -> None:
        """Check that the template's tool turn has literal text around each observation.

        Raises TemplateNotSupported if it has not.
        """
        self._tokenizer = tokenizer
        self._template = template
        added = tokenizer.get_added_vocab()
        self._control_texts = sorted(text for text in added if len(text) > 1)
        # A hostile observation falls into thousands of pieces, most of them alike.
        self._cache: dict[str, list[int]] = {}
        self._parts_by_count: dict[int, list[str]] = {}
        self._parts(1)

    def encode(
        self, observations: Sequence[str], *, last_sampled_id: int | None, max_tokens_each: int, max_tokens: int
    ) -> EncodedDelta | None:
        """The delta for one tool turn.

        `last_sampled_id`: the model's last token; where it is the separator's first token already
        (Qwen's ``<|im_end|>``), the separator starts after it. Each observation gets at most
        `max_tokens_each` tokens, and less (equal shares) where the whole would exceed `max_tokens`.
        Returns None if not even the empty tool turn fits in `max_tokens`.
        """
        parts = self._parts(len(observations))
        frame = sum(len(self._plain(part)) for part in parts)
        room = max_tokens - frame
        if room < len(observations):
            return None
        share = min(max_tokens_each, room // len(observations))
        while share > 0:
            delta = self._encode(parts, observations, share)
            if delta is not None and len(delta.ids) <= max_tokens:
                if last_sampled_id is not None and delta.ids and delta.ids[0] == last_sampled_id:
                    return EncodedDelta(delta.ids[1:], delta.observation_tokens, delta.truncated)
                return delta
            share = share * 3 // 4
        return None

    def is_quick(self, observations: Sequence[str]) -> bool:
        """Whether encoding takes well under a millisecond, so that it may run on the engine's event loop."""
        total = sum(map(len, observations))
        return total <= _QUICK_CHARS and not any(
            control in text for text in observations for control in self._control_texts
        )

    def _encode(self, parts: Sequence[str], observations: Sequence[str], share: int) -> EncodedDelta | None:
        """Encode the tool turn whose observations take at most `share` tokens each."""
        kept: list[str] = []
        sizes: list[int] = []
        for observation in observations:
            text = self._fit(observation, share)
            if text is None:
                return None
            kept.append(text)
            sizes.append(len(self._guarded(text, 0, len(text))))
        # Encoded as one text, so that tokens form across the edges as they do in a full render.
        whole = parts[0]
        bodies: list[tuple[int, int]] = []
        for text, part in zip(kept, parts[1:], strict=True):
            bodies.append((len(whole), len(whole) + len(text)))
            whole += text + part
        ids: list[int] = []
        position = 0
        for cut in [*self._cuts(whole, bodies), len(whole)]:
            ids.extend(self._plain(whole[position:cut]))
            position = cut
        return EncodedDelta(ids, sizes, [text != raw for text, raw in zip(kept, observations, strict=True)])

    def _fit(self, text: str, max_tokens: int) -> str | None:
        """The text, its middle cut out until it has at most `max_tokens` tokens; None if nothing can be kept."""
        limit = max_tokens * _MAX_CHARS_PER_TOKEN
        shown = text if len(text) <= limit else _cut_middle(text, limit)
        while True:
            size = len(self._guarded(shown, 0, len(shown)))
            if size <= max_tokens:
                return shown
            limit = min(len(shown), limit) * max_tokens * 9 // (size * 10)
            if limit <= 0:
                return None
            shown = _cut_middle(text, limit)

    def _guarded(self, text: str, start: int, end: int) -> list[int]:
        """Ids of the text with every control token between `start` and `end` broken up."""
        ids: list[int] = []
        position = 0
        for cut in [*self._cuts(text, [(start, end)]), len(text)]:
            ids.extend(self._plain(text[position:cut]))
            position = cut
        return ids

    def _cuts(self, text: str, bodies: Sequence[tuple[int, int]]) -> list[int]:
        """Where to cut the text so that no control token's text that touches a body stays whole."""
        spans: list[tuple[int, int]] = []
        for start, end in bodies:
            for control in self._control_texts:
                found = text.find(control, max(0, start - len(control) + 1))
                while found != -1 and found < end:
                    spans.append((found, found + len(control)))
                    found = text.find(control, found + 1)
        cuts: list[int] = []
        for start, _ in sorted(spans, key=lambda span: span[1]):
            if not cuts or cuts[-1] <= start:
                cuts.append(start + 1)
        return cuts

    def _plain(self, text: str) -> list[int]:
        if len(text) > _CACHED_CHARS:
            return self._tokenizer.encode(text, add_special_tokens=False)
        ids = self._cache.get(text)
        if ids is None:
            ids = self._tokenizer.encode(text, add_special_tokens=False) if text else []
            if len(self._cache) >= _CACHE_SIZE:
                self._cache.clear()
            self._cache[text] = ids
        return ids

    def _parts(self, count: int) -> list[str]:
        if count not in self._parts_by_count:
            self._parts_by_count[count] = literal_parts(self._template, count)
        return self._parts_by_count[count]


def literal_parts(template: Any, count: int) -> list[str]:
    """The template's own text before, between and after `count` observations: `count + 1` parts.

    `template` is ms-swift's `Template` (or anything with `agent_template` and `template_meta`).
    Raises TemplateNotSupported if the tool turn is not plain text around its observations.
    """
    agent_template = template.agent_template
    agent_template.template_meta = template.template_meta
    sentinels = [_SENTINEL.format(index) for index in range(count)]
    messages = [{"role": "tool", "content": sentinel} for sentinel in sentinels]
    content, contexts = agent_template._format_tool_responses("", messages)
    kind = template.template_meta.template_type
    if content or not all(isinstance(context, str) for context in contexts):
        raise TemplateNotSupported(f"template '{kind}': its tool turn is not plain text")
    rest = "".join(contexts)
    parts: list[str] = []
    for sentinel in sentinels:
        part, found, rest = rest.partition(sentinel)
        if not found:
            raise TemplateNotSupported(f"template '{kind}': its tool turn does not show a tool's result as it is")
        parts.append(part)
    return [*parts, rest]


def _cut_middle(text: str, keep: int) -> str:
    """The first and last characters of the text, `keep` in all, with a marker between them."""
    tail = keep // 2
    return text[: keep - tail] + _MARKER.format(len(text) - keep) + (text[len(text) - tail :] if tail else "")
