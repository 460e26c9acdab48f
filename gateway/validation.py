"""Checking a call's arguments against the tool's JSON Schema, in words that a model can act on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import jsonschema_rs

__all__ = ["ArgumentValidator", "SchemaError"]

_MAX_DEPTH = 128
_MAX_NODES = 10_000_000
_MAX_PROBLEMS = 5
_MAX_SHOWN = 120


class SchemaError(ValueError):
    """A tool's schema cannot be compiled. The tool's fault; raised when it is added."""


class ArgumentValidator:
    """One tool's schema, compiled once.

    A remote `$ref` is never fetched (a plugged-in schema could make the gateway call any URL),
    and patterns run on a linear-time engine, so that no schema can stall a call.
    """

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Compile the schema.

        Raises SchemaError if it is not valid JSON Schema or refers to anything outside itself.
        """
        self._schema = schema
        try:
            self._validator = jsonschema_rs.validator_for(
                dict(schema), offline=True, pattern_options=jsonschema_rs.RegexOptions()
            )
        except Exception as error:
            raise SchemaError(str(error).splitlines()[0]) from error

    def problem(self, arguments: Mapping[str, Any]) -> str | None:
        """What is wrong with the arguments and what is expected, or None if they are valid."""
        if depth_exceeds(arguments, _MAX_DEPTH):
            return f"The arguments are nested more than {_MAX_DEPTH} levels deep. Send a flatter object."
        try:
            if self._validator.is_valid(arguments):
                return None
            found = [_describe(error) for error in islice(self._validator.iter_errors(arguments), _MAX_PROBLEMS)]
        except (ValueError, TypeError, OverflowError) as error:
            return f"The arguments are not valid JSON: {_short(str(error))}."
        return f"{' '.join(found)} {self._expected()}"

    def _expected(self) -> str:
        """The schema in one line, if it is short enough to help."""
        text = json.dumps(self._schema.get("properties", {}), ensure_ascii=False)
        required = self._schema.get("required", [])
        if len(text) > 1500:
            text = json.dumps(sorted(self._schema.get("properties", {})), ensure_ascii=False)
        return f"Expected arguments: {text}, required: {json.dumps(required, ensure_ascii=False)}."


def depth_exceeds(value: object, limit: int) -> bool:
    """Whether objects and arrays are nested more than `limit` deep; never recurses."""
    level: list[object] = [value]
    for _ in range(limit):
        following: list[object] = []
        for item in level:
            if isinstance(item, Mapping):
                following.extend(item.values())
            elif isinstance(item, (list, tuple)):
                following.extend(item)
        if not following:
            return False
        if len(following) > _MAX_NODES:
            return True
        level = following
    return any(isinstance(item, (Mapping, list, tuple)) for item in level)


def _describe(error: jsonschema_rs.ValidationError) -> str:
    """One problem as a sentence that names the field."""
    return f"{_place(list(error.instance_path))}: {_short(error.message)}."


def _place(path: Sequence[str | int]) -> str:
    if not path:
        return "In the arguments"
    shown = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).removeprefix(".")
    return f"In '{_short(shown)}'"


def _short(text: str) -> str:
    return text if len(text) <= 2 * _MAX_SHOWN else f"{text[:_MAX_SHOWN]} … {text[-_MAX_SHOWN:]}"
