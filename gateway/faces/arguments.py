"""A call's arguments as a person types them: `{"json": "object"}` or `key=value`, read by the tool's schema."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["parse_arguments"]

_MAX_REFERENCES = 16


def parse_arguments(words: Sequence[str], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the words from left to right.

    The value of `key=value` is text if the schema lets that key be a string (`expression=2+2`); otherwise it is
    read as JSON, and left as text if it is none, so that the tool's own validation explains it.

    Raises ValueError for a word that is neither: the person's fault.
    """
    arguments: dict[str, Any] = {}
    for word in words:
        if word.lstrip().startswith("{"):
            arguments.update(_object(word))
            continue
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise ValueError(f"'{word}': expected key=value or a JSON object")
        arguments[key] = _value(value, schema.get("properties", {}).get(key), schema)
    return arguments


def _object(word: str) -> dict[str, Any]:
    try:
        value = json.loads(word)
    except ValueError as error:
        raise ValueError(f"not a JSON object: {error}") from None
    assert isinstance(value, dict)
    return value


def _value(text: str, member: Any, root: Mapping[str, Any]) -> Any:
    if member is not None and _may_be_string(member, root, _MAX_REFERENCES):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _may_be_string(member: Any, root: Mapping[str, Any], references_left: int) -> bool:
    """Whether a schema accepts some string; follows `$ref` inside the document, a few times."""
    if not isinstance(member, Mapping):
        return False
    kinds = member.get("type")
    if kinds is not None:
        return "string" in kinds if isinstance(kinds, list) else kinds == "string"
    if "enum" in member or "const" in member:
        return any(isinstance(item, str) for item in [*member.get("enum", ()), member.get("const")])
    reference = member.get("$ref")
    if isinstance(reference, str):
        return references_left > 0 and _may_be_string(_at(reference, root), root, references_left - 1)
    choices = [*member.get("anyOf", ()), *member.get("oneOf", ()), *member.get("allOf", ())]
    return any(_may_be_string(choice, root, references_left - 1) for choice in choices) if references_left else False


def _at(reference: str, root: Mapping[str, Any]) -> Any:
    """What a local JSON pointer (`#/$defs/Name`) points at, or None."""
    found: Any = root
    if not reference.startswith("#"):
        return None
    for part in reference[1:].split("/")[1:]:
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found
