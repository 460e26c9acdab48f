"""The Hermes format of Qwen 2.5/3 and others: ``<tool_call>{"name": ..., "arguments": {...}}</tool_call>``."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from turngate.scheduler.reading.calls import THINK_CLOSE, THINK_OPEN, MalformedCall, ReadCall, WrittenCall
from turngate.scheduler.reading.json_call import call_from_object, scan_json, skip_blank

__all__ = ["HermesReader"]

_OPEN: Final = "<tool_call>"
_CLOSE: Final = "</tool_call>"
_TURN_END: Final = "<|im_end|>"
_MARK: Final = re.compile("|".join(map(re.escape, (THINK_OPEN, _OPEN, _CLOSE))))
_BLOCK_END: Final = re.compile(f"{re.escape(_CLOSE)}|{re.escape(_OPEN)}")
_FENCE: Final = re.compile(r"```(?:json)?[ \t]*\n")
_MAX_BROKEN: Final = 32
"""Broken blocks after which the rest of the turn is not read: explaining each costs time, and helps nobody."""
_UNOPENED: Final = MalformedCall("unopened", f"There is a {_CLOSE} without a {_OPEN} before it.")
_IN_THINKING: Final = MalformedCall(
    "in_thinking", f"A call stands inside thinking that never ends. Close it with {THINK_CLOSE} before you call."
)
_DOUBTFUL: Final = MalformedCall("doubtful", "Not run: it follows a broken call and may be part of its text.")
_TOO_MANY: Final = MalformedCall("too_many", "Too many broken calls; the rest of your turn was not read.")
_HOW: Final = (
    "Write a call as <tool_call>\n"
    '{"name": "<function-name>", "arguments": {<argument names and values>}}\n</tool_call>.'
)


class HermesReader:
    """Reads every ``<tool_call>`` block outside thinking.

    A block whose JSON is complete but whose closing tag the model left out, at the end of the
    turn or before the next block, counts as a call.
    """

    def read(self, text: str, *, think_prefilled: bool = False) -> list[WrittenCall]:
        """Every call of the turn, in order."""
        text = text.rstrip().removesuffix(_TURN_END)
        calls: list[WrittenCall] = []
        broken: list[int] = []
        position = _after(text, THINK_CLOSE, 0) if think_prefilled else 0
        while mark := _MARK.search(text, position):
            if len(broken) == _MAX_BROKEN:
                calls.append(self._explained(_TOO_MANY))
                break
            if mark.group() == THINK_OPEN:
                position = _after(text, THINK_CLOSE, mark.end())
                if not text.endswith(THINK_CLOSE) and position == len(text) and text.find(_OPEN, mark.end()) != -1:
                    calls.append(self._explained(_IN_THINKING))
                continue
            if mark.group() == _OPEN:
                call, position = self._block(text, mark.end())
            else:
                call, position = self._explained(_UNOPENED), mark.end()
            if isinstance(call, MalformedCall):
                broken.append(len(calls))
            calls.append(call)
        if broken and text.count(_CLOSE) > text.count(_OPEN):
            return self._without_quoted(calls, broken[0])
        return calls

    def _without_quoted(self, calls: list[WrittenCall], first_broken: int) -> list[WrittenCall]:
        """Take back the calls after a broken one whose tags do not pair up: they may be part of its text."""
        return [
            self._explained(_DOUBTFUL) if index > first_broken and isinstance(call, ReadCall) else call
            for index, call in enumerate(calls)
        ]

    def _block(self, text: str, start: int) -> tuple[WrittenCall, int]:
        """Read the block whose content starts at `start`; also returns where to go on."""
        start = skip_blank(text, start)
        fence = _FENCE.match(text, start)
        scanned = scan_json(text, fence.end() if fence else start)
        if isinstance(scanned, MalformedCall):
            return self._explained(scanned), self._after_broken(text, start)
        value, end = scanned
        end = skip_blank(text, end)
        if fence and text.startswith("```", end):
            end = skip_blank(text, end + 3)
        if text.startswith(_CLOSE, end):
            end += len(_CLOSE)
        elif end < len(text) and not text.startswith(_OPEN, end):
            extra = MalformedCall("json", "There is text after the call's JSON object, inside the block.")
            return self._explained(extra), self._after_broken(text, end)
        call = call_from_object(value)
        return (self._explained(call) if isinstance(call, MalformedCall) else call), end

    @staticmethod
    def _after_broken(text: str, start: int) -> int:
        """Where a block ends whose JSON cannot be read: behind its closing tag, or at the next opening one."""
        end = _BLOCK_END.search(text, start)
        if end is None:
            return len(text)
        return end.end() if end.group() == _CLOSE else end.start()

    @staticmethod
    def _explained(call: MalformedCall) -> MalformedCall:
        return replace(call, message=f"{call.message} {_HOW}")


def _after(text: str, marker: str, start: int) -> int:
    """The position behind the next marker, or the end of the text if there is none."""
    found = text.find(marker, start)
    return len(text) if found == -1 else found + len(marker)
