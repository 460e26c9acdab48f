"""Random tool lists in the OpenAI format: same tools, ever different texts and optional extras.

The model must find out from the list which tools exist, and must not depend on how they are described.
"""

import random
from typing import Any

from examples.tiny_model import sentences
from examples.tiny_model.chat import ToolSchema
from examples.tiny_model.tasks import CALCULATOR_KINDS, KINDS, PYTHON_KINDS, Kind

# (weight, names): what a list may hold before shuffling; "other" stands for a tool no question needs.
_CONTENTS: tuple[tuple[float, tuple[str, ...]], ...] = (
    (0.35, ("calculator",)),
    (0.40, ("calculator", "python")),
    (0.05, ("python",)),
    (0.05, ("calculator", "other")),
    (0.15, ("calculator", "python", "other")),
)
_OTHER_TOOLS = (
    ("search", "query"), ("weather", "city"), ("clock", "time_zone"), ("translate", "text"), ("read_file", "path"),
    ("fetch", "url"), ("lookup", "key"), ("convert", "amount"), ("sql", "statement"), ("retrieve", "question"),
)  # fmt: skip
_OPTIONAL_PROPERTIES = (
    ("precision", "integer"), ("timeout_s", "number"), ("digits", "integer"), ("format", "string"),
    ("verbose", "boolean"), ("session", "string"), ("limit", "integer"), ("comment", "string"),
)  # fmt: skip


def fill(rng: random.Random, sentence: str) -> str:
    """Put random numbers into the `{n}` places of a sentence."""
    while "{n}" in sentence:
        sentence = sentence.replace("{n}", str(rng.randint(1, 10 ** rng.randint(1, 4) - 1)), 1)
    return sentence.replace("{{", "{").replace("}}", "}")


def description(rng: random.Random, pool: tuple[str, ...], max_words: int = 90) -> str:
    """Draw a description of one to `max_words` words; short ones are as frequent as long ones."""
    wanted_words = rng.choice([1, 1, 10, rng.randint(15, 40), rng.randint(15, max_words)])
    chosen = [rng.choice(pool)]
    spare = [*rng.sample(pool, k=len(pool)), *rng.sample(sentences.ANY_TOOL, k=len(sentences.ANY_TOOL))]
    if rng.random() < 0.5:
        rng.shuffle(spare)
    for sentence in spare:
        words = sum(len(part.split()) for part in chosen)
        if words >= wanted_words:
            break
        if sentence not in chosen and words + len(sentence.split()) <= max_words:
            chosen.append(sentence)
    return fill(rng, " ".join(chosen))


def random_tools(rng: random.Random) -> tuple[list[ToolSchema], tuple[Kind, ...]]:
    """Return a tool list and the task families that can be solved with it."""
    names = rng.choices([names for _, names in _CONTENTS], weights=[weight for weight, _ in _CONTENTS])[0]
    tools = [_tool(rng, name) for name in rng.sample(names, k=len(names))]
    if "python" not in names:
        return tools, CALCULATOR_KINDS
    return tools, KINDS if "calculator" in names else PYTHON_KINDS


def _tool(rng: random.Random, name: str) -> ToolSchema:
    if name == "calculator":
        argument, pool = "expression", sentences.CALCULATOR
    elif name == "python":
        argument, pool = "code", sentences.PYTHON
    else:
        name, argument = rng.choice(_OTHER_TOOLS)
        pool = sentences.OTHER_TOOL
    function = {"name": name, "description": description(rng, pool), "parameters": _parameters(rng, argument)}
    if rng.random() < 0.1:
        function["strict"] = True
    return {"type": "function", "function": function}


def _parameters(rng: random.Random, argument: str) -> dict[str, Any]:
    properties = {argument: _property(rng, argument, "string")}
    if rng.random() < 0.3:
        for extra, kind in rng.sample(_OPTIONAL_PROPERTIES, k=rng.randint(1, 2)):
            properties[extra] = _property(rng, extra, kind)
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": [argument]}
    if rng.random() < 0.4:
        schema["additionalProperties"] = False
    if rng.random() < 0.15:
        schema["title"] = f"{argument.title()}Arguments"
    if rng.random() < 0.2:
        keys = list(schema)
        rng.shuffle(keys)
        schema = {key: schema[key] for key in keys}
    return schema


def _property(rng: random.Random, name: str, kind: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": kind}
    if rng.random() < 0.6:
        schema["description"] = fill(rng, rng.choice(sentences.PARAMETER))
    if kind == "string" and rng.random() < 0.3:
        schema["minLength"] = 1
    if kind == "string" and rng.random() < 0.3:
        schema["maxLength"] = rng.randint(100, 9999)
    if kind in ("integer", "number") and rng.random() < 0.5:
        schema["default"] = rng.randint(1, 99)
    if rng.random() < 0.15:
        schema["title"] = name.replace("_", " ").title()
    return schema
