"""Making a tool's output fit: truncation with a marker, on character and JSON boundaries."""

from __future__ import annotations

import json
from typing import Any

from turngate.gateway.policy import EffectivePolicy
from turngate.tools import CallStats, Content, TextContent, ToolOutput
from turngate.tools.nouns import TruncateMode

__all__ = ["cut_json", "cut_text", "shape_output"]


def shape_output(output: ToolOutput, policy: EffectivePolicy, stats: CallStats, *, typed: bool) -> ToolOutput:
    """Cut text blocks (together) and structured content to `max_output_bytes` each.

    Writes `stats.bytes` (UTF-8 bytes of text before the cut) and `stats.truncated`. With `typed` (the
    tool declares an output schema) structured content that is too big becomes null, since a
    part of it would not satisfy the schema. Text that is not valid Unicode is made so.
    """
    content: list[Content] = []
    left = policy.max_output_bytes
    for block in output.content:
        if not isinstance(block, TextContent):
            content.append(block)
            continue
        raw = block.text.encode("utf-8", "replace")
        stats.bytes += len(raw)
        if len(raw) <= left:
            left -= len(raw)
            content.append(TextContent(text=raw.decode()))
            continue
        stats.truncated = True
        if left > 0:
            content.append(TextContent(text=_cut_bytes(raw, left, policy.truncate)))
        left = 0
    structured = output.structured
    if structured is not None and not _fits(structured, policy.max_output_bytes):
        stats.truncated = True
        structured = None if typed else cut_json(structured, policy.max_output_bytes)
    return ToolOutput(content, structured, output.is_error)


def cut_text(text: str, max_bytes: int, mode: TruncateMode) -> str:
    """The text in at most `max_bytes` UTF-8 bytes, marker included where there is room for one."""
    raw = text.encode("utf-8", "replace")
    return raw.decode() if len(raw) <= max_bytes else _cut_bytes(raw, max_bytes, mode)


def _cut_bytes(raw: bytes, max_bytes: int, mode: TruncateMode) -> str:
    marker = f"\n[… {len(raw) - max_bytes} bytes cut …]\n".encode()
    room = max_bytes - len(marker)
    if room <= 0:
        marker, room = b"", max_bytes
    if mode == "head":
        return _clean(raw[:room]) + marker.decode()
    if mode == "tail":
        return marker.decode() + _clean(raw[len(raw) - room :])
    tail = room // 2
    return _clean(raw[: room - tail]) + marker.decode() + _clean(raw[len(raw) - tail :] if tail else b"")


def _clean(part: bytes) -> str:
    """Drop the halves of characters that a cut left at either end."""
    return part.decode("utf-8", "ignore")


def _fits(value: Any, max_bytes: int) -> bool:
    """Whether the JSON text is short enough; stops encoding as soon as it is known not to be."""
    size = 0
    for chunk in json.JSONEncoder(ensure_ascii=False).iterencode(value):
        size += len(chunk.encode("utf-8", "replace"))
        if size > max_bytes:
            return False
    return True


def cut_json(value: Any, max_bytes: int) -> Any:
    """A valid JSON value of about `max_bytes`: long strings cut, later items and keys left out.

    What was left out is counted in a marker where it stood.
    """
    return _cut_value(value, max_bytes)[0]


def _cut_value(value: Any, left: int) -> tuple[Any, int]:
    """The value cut to `left` bytes, and the bytes that remain."""
    if isinstance(value, str):
        text = cut_text(value, max(left - 2, 0), "head")
        return text, left - len(text.encode()) - 2
    if isinstance(value, list):
        items: list[Any] = []
        for index, item in enumerate(value):
            if left <= 0:
                items.append(f"[… {len(value) - index} items cut …]")
                break
            kept, left = _cut_value(item, left - 2)
            items.append(kept)
        return items, left
    if isinstance(value, dict):
        members: dict[str, Any] = {}
        for index, (key, item) in enumerate(value.items()):
            if left <= 0:
                members["…"] = f"[… {len(value) - index} keys cut …]"
                break
            kept, left = _cut_value(item, left - len(str(key).encode("utf-8", "replace")) - 6)
            members[key] = kept
        return members, left
    return value, left - len(json.dumps(value))
