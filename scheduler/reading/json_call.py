"""The JSON of one call: read strictly, explained where it is wrong."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from turngate.scheduler.reading.calls import MalformedCall, ReadCall, WrittenCall

__all__ = ["call_from_object", "scan_json", "skip_blank"]

_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_KEYS: Final = frozenset({"name", "arguments", "parameters", "id", "type", "index"})

_BLANK: Final = frozenset(" \t\r\n\ufeff\u200b\u200c\u200d\u2060\u00a0")
"""Spaces, and the invisible characters that models copy along with them."""


class _NotJson(ValueError):
    """A number that Python reads and JSON does not have."""


def _constant(name: str) -> float:
    raise _NotJson(f"{name} is not a JSON value")


def _number(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise _NotJson(f"{text} is too large a number")
    return value


# Not strict about raw line breaks inside strings: models write them, and they mean what they say.
_DECODER = json.JSONDecoder(strict=False, parse_constant=_constant, parse_float=_number)


def skip_blank(text: str, position: int) -> int:
    """The first position from `position` on that holds a visible character."""
    while position < len(text) and text[position] in _BLANK:
        position += 1
    return position


def scan_json(text: str, position: int) -> tuple[Any, int] | MalformedCall:
    """Read the JSON value that starts at `position` (after blanks); also returns where it ends.

    A string that contains the closing marker of a call format does not end the value.
    """
    position = skip_blank(text, position)
    try:
        value, end = _DECODER.raw_decode(text, position)
    except json.JSONDecodeError as error:
        near = text[max(position, error.pos - 20) : error.pos + 20]
        return MalformedCall("json", f"The call is not valid JSON ({error.msg} near {near!r}).")
    except RecursionError:
        return MalformedCall("too_deep", "The call's JSON is nested too deeply. Send a flatter object.")
    except ValueError as error:  # NaN and friends, and integers with more digits than Python converts
        return MalformedCall("json", f"The call is not valid JSON ({error}).")
    if _SURROGATE.search(text, position, end) and not _is_unicode(value):
        return MalformedCall("json", "The call contains half of a surrogate pair (\\ud800 to \\udfff), no character.")
    return value, end


def _is_unicode(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def call_from_object(value: Any) -> WrittenCall:
    """Make a call of a decoded JSON value ``{"name": ..., "arguments": {...}}``.

    What models write and plainly mean is read as they mean it: ``parameters`` for ``arguments`` (Llama's
    key), a string that holds the JSON object (the OpenAI API's form), and nothing at all for a
    tool without arguments.
    """
    if not isinstance(value, dict):
        return MalformedCall("not_an_object", "The call is not a JSON object.")
    name = value.get("name")
    if not isinstance(name, str) or not name.strip():
        return MalformedCall("name", 'The call names no tool: "name" must be a non-empty string.')
    name = name.strip()
    given = [value[key] for key in ("arguments", "parameters") if value.get(key) not in (None, "", {})]
    if len(given) > 1:
        return MalformedCall("arguments", 'Both "arguments" and "parameters" are given; send "arguments" only.', name)
    if not given and (unknown := [key for key in value if key not in _KEYS]):
        return MalformedCall("arguments", f'"arguments" is missing; {unknown[0]!r} is not read. Put it inside.', name)
    arguments = given[0] if given else {}
    if isinstance(arguments, str):
        scanned = scan_json(arguments, 0)
        if isinstance(scanned, MalformedCall) or arguments[scanned[1] :].strip():
            return MalformedCall("arguments", '"arguments" is a string that does not hold a JSON object.', name)
        arguments = scanned[0]
    if not isinstance(arguments, dict):
        return MalformedCall("arguments", '"arguments" must be a JSON object of names and values.', name)
    return ReadCall(name, arguments)
