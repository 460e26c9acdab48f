"""One question's trajectory, taken apart for people: turns, calls, observations, answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from typing import Any

from examples.rollout_demo.validity import flat, problems
from examples.tiny_model.chat import TURN_END, read_answer
from examples.tiny_model.tasks import Task

Decode = Callable[[Sequence[int]], str]
"""Token ids to text, control tokens included."""

_CALL = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|$)", re.DOTALL)
_OBSERVATION = re.compile(r"<tool_response>\n?(.*?)\n?</tool_response>", re.DOTALL)


@dataclass(frozen=True)
class Segment:
    """A run of tokens that are all sampled by the model, or all put in by the scheduler."""

    ids: tuple[int, ...]
    sampled: bool
    text: str


@dataclass(frozen=True)
class ShownCall:
    """A call as the model wrote it and as it was answered."""

    text: str
    observation: str | None
    """None: it was not run, because nobody could have read the result."""
    status: str | None


@dataclass(frozen=True)
class Trajectory:
    """A task and the output that the rollout server returned for it."""

    task: Task
    output: Mapping[str, Any]
    segments: tuple[Segment, ...]
    problems: tuple[str, ...]

    @classmethod
    def of_output(cls, task: Task, output: Mapping[str, Any], decode: Decode) -> Trajectory:
        """Check the output and cut it into segments."""
        found = problems(output)
        asked = [message["content"] for message in output.get("messages") or () if message.get("role") == "user"]
        if task.question not in asked:
            found.append("the output belongs to another question")
        return cls(task, output, _segments(output, decode), tuple(found))

    @property
    def valid(self) -> bool:
        """Whether nothing is wrong with the output; says nothing about the answer."""
        return not self.problems

    @property
    def infos(self) -> Mapping[str, Any]:
        """The output's `rollout_infos`."""
        infos: Mapping[str, Any] = self.output.get("rollout_infos") or {}
        return infos

    @property
    def stop_reason(self) -> str:
        """Why it ended."""
        return str(self.infos.get("stop_reason", "unknown"))

    @property
    def answer(self) -> int | None:
        """N, if the last turn is `The answer is N.`"""
        last = next((segment.text for segment in reversed(self.segments) if segment.sampled), "")
        return read_answer(last.removesuffix(TURN_END))

    @property
    def right(self) -> bool:
        """Whether the answer is the task's."""
        return self.answer == self.task.answer

    @property
    def generated_tokens(self) -> int:
        """Tokens that the model sampled."""
        return sum(len(segment.ids) for segment in self.segments if segment.sampled)

    @property
    def masked_tokens(self) -> int:
        """Tokens that the trainer must not train on."""
        return sum(len(segment.ids) for segment in self.segments if not segment.sampled)

    @property
    def calls(self) -> list[ShownCall]:
        """Every call in the text, in order."""
        shown: list[ShownCall] = []
        turns = self.infos.get("tool_turns", ())
        places = [place for place, segment in enumerate(self.segments) if segment.sampled]
        for turn, place in enumerate(places):
            written = [_shown(call) for call in _CALL.findall(self.segments[place].text)]
            after = self.segments[place + 1].text if place + 1 < len(self.segments) else ""
            answered = _OBSERVATION.findall(after)[: len(written)]
            recorded = turns[turn].get("calls", ()) if turn < len(turns) else ()
            statuses = [call.get("status") for call in recorded][: len(written)]
            shown += [ShownCall(*parts) for parts in zip_longest(written, answered, statuses)]
        return shown


def _segments(output: Mapping[str, Any], decode: Decode) -> tuple[Segment, ...]:
    pairs = zip(flat(output.get("response_token_ids")), flat(output.get("response_loss_mask")), strict=False)
    runs = [(sampled, tuple(token for token, _ in run)) for sampled, run in groupby(pairs, key=lambda pair: pair[1])]
    return tuple(Segment(ids, bool(sampled), decode(ids)) for sampled, ids in runs)


def _shown(body: str) -> str:
    """`name(argument)` for a well-formed call, else the raw text."""
    try:
        match json.loads(body):
            case {"name": str(name), "arguments": dict(arguments)}:
                return f"{name}({', '.join(str(value) for value in arguments.values())})"
    except ValueError:
        pass
    return body
