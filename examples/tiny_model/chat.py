"""Dialogues as text, exactly as ms-swift renders them with template `qwen2_5` and agent template `hermes`.

`check_template.py` compares these texts with ms-swift, token by token.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from examples.tiny_model.tasks import ToolCall

SYSTEM = "You are a helpful assistant. Use the tools."
TURN_END = "<|im_end|>"
PADDING = "<|endoftext|>"
CANNOT_ANSWER = "I cannot answer."

ToolSchema = dict[str, Any]

_TOOLS_HEAD = (
    "\n\n# Tools\n\nYou may call one or more functions to assist with the user query.\n\n"
    "You are provided with function signatures within <tools></tools> XML tags:\n<tools>\n"
)
_TOOLS_TAIL = (
    "\n</tools>\n\nFor each function call, return a json object with function name and arguments "
    "within <tool_call></tool_call> XML tags:\n<tool_call>\n"
    '{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>'
)
_CALL = re.compile(r"\s*<tool_call>\s*(\{.*\})\s*</tool_call>\s*", re.DOTALL)
_FINAL = re.compile(r"The answer is (-?\d+)\.")


@dataclass(frozen=True)
class Turn:
    """One turn. `text` is the bare content, without role markers or `<tool_response>` tags."""

    role: Literal["user", "assistant", "tool"]
    text: str


@dataclass(frozen=True)
class Segment:
    """A piece of the rendered dialogue; `trained` marks text the model itself must produce."""

    text: str
    trained: bool


def system_segment(system: str, tools: list[ToolSchema] | None) -> Segment:
    """Render the system turn; with tools it carries one JSON line per tool."""
    if tools:
        system += _TOOLS_HEAD + "\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools) + _TOOLS_TAIL
    return Segment(f"<|im_start|>system\n{system}{TURN_END}\n", trained=False)


def turn_segments(turns: list[Turn]) -> list[Segment]:
    """Render everything after the system turn. Observations become user turns, the last turn gets no line end."""
    segments: list[Segment] = []
    for turn in turns:
        if turn.role == "assistant":
            segments += [Segment(turn.text + TURN_END, trained=True), Segment("\n", trained=False)]
        else:
            text = observation_text(turn.text) if turn.role == "tool" else turn.text
            segments.append(Segment(f"<|im_start|>user\n{text}{TURN_END}\n<|im_start|>assistant\n", trained=False))
    if segments and segments[-1].text == "\n":
        segments.pop()
    return segments


def observation_text(observation: str) -> str:
    """Wrap a tool's result as the model sees it inside a user turn."""
    return f"<tool_response>\n{observation}\n</tool_response>"


def call_text(call: ToolCall) -> str:
    """The assistant's text for one call."""
    body = json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False)
    return f"<tool_call>\n{body}\n</tool_call>"


def read_call(text: str) -> ToolCall | None:
    """Return the call in an assistant's text, None where the text is not exactly one well-formed call."""
    match = _CALL.fullmatch(text)
    if match is None:
        return None
    try:
        match json.loads(match[1]):
            case {"name": str(name), "arguments": dict(arguments), **rest} if not rest:
                return ToolCall(name, arguments)
    except json.JSONDecodeError:
        pass
    return None


def read_answer(text: str) -> int | None:
    """Return N of `The answer is N.`, None for any other text."""
    match = _FINAL.fullmatch(text.strip())
    return int(match[1]) if match else None
