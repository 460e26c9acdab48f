"""Dialogues to imitate: clean ones, ones that meet a tool error, and (only on request) flawed ones."""

import random

from examples.tiny_model import sentences
from examples.tiny_model.arithmetic import answer_call
from examples.tiny_model.chat import CANNOT_ANSWER, SYSTEM, ToolSchema, Turn, call_text
from examples.tiny_model.tasks import KINDS, Kind, Task, ToolCall
from examples.tiny_model.tool_lists import fill, random_tools

ERROR_FRACTION = 0.06
OTHER_SYSTEM_FRACTION = 0.25


def random_prompt(rng: random.Random, with_tools: bool) -> tuple[str, list[ToolSchema] | None, tuple[Kind, ...]]:
    """Return a system text, a tool list (None: the short prompt) and the families that fit the list."""
    system = rng.choice(sentences.SYSTEMS) if rng.random() < OTHER_SYSTEM_FRACTION else SYSTEM
    if not with_tools:
        return system, None, KINDS
    return system, *random_tools(rng)


def demonstration(rng: random.Random, task: Task, flawed_fraction: float = 0.0) -> list[Turn]:
    """Return the turns of one dialogue about `task`, from the question to the last assistant turn."""
    if rng.random() < flawed_fraction:
        return _flawed(rng, task)
    turns = [Turn("user", task.question)]
    failing = rng.randrange(len(task.calls)) if rng.random() < ERROR_FRACTION else None
    for index, (call, observation) in enumerate(zip(task.calls, task.observations, strict=True)):
        turns.append(Turn("assistant", call_text(call)))
        if index == failing:
            error = fill(rng, rng.choice(sentences.ERRORS))
            return [*turns, Turn("tool", error), Turn("assistant", CANNOT_ANSWER)]
        turns.append(Turn("tool", observation + _line_end(rng, call)))
    return [*turns, Turn("assistant", task.final_text)]


def _line_end(rng: random.Random, call: ToolCall) -> str:
    # A tool that runs code may or may not keep the line end that `print` writes.
    return "\n" if call.name == "python" and rng.random() < 0.3 else ""


def _flawed(rng: random.Random, task: Task) -> list[Turn]:
    """One dialogue with a deliberate flaw, for a half-trained checkpoint that leaves RL something to remove."""
    turns = [Turn("user", task.question)]
    flaw = rng.choice(["guess", "unknown tool", "slip", "misread"])
    if flaw == "guess":
        guess = rng.randint(1, 10 ** rng.randint(1, 4) - 1)
        return [*turns, Turn("assistant", f"The answer is {guess}.")]
    if flaw == "unknown tool":
        wrong = {"calculator": "calc", "python": "run"}[task.calls[0].name]
        call = ToolCall(wrong, task.calls[0].arguments)
        error = Turn("tool", answer_call(call.name, call.arguments))
        return [*turns, Turn("assistant", call_text(call)), error, Turn("assistant", CANNOT_ANSWER)]
    observation = ""
    for index, call in enumerate(task.calls):
        if index == 1 and flaw == "slip":
            factor = call.arguments["expression"].rpartition("*")[2]
            call = ToolCall(call.name, {"expression": f"{observation}*{factor}"})
        elif flaw == "slip":
            call = ToolCall(call.name, {key: _change_digit(rng, text) for key, text in call.arguments.items()})
        observation = answer_call(call.name, call.arguments)
        turns += [Turn("assistant", call_text(call)), Turn("tool", observation)]
    answer = _change_digit(rng, observation) if flaw == "misread" else observation
    return [*turns, Turn("assistant", f"The answer is {answer}.")]


def _change_digit(rng: random.Random, text: str) -> str:
    position = rng.choice([index for index, character in enumerate(text) if character.isdigit()])
    return text[:position] + str(rng.randint(1, 9)) + text[position + 1 :]
