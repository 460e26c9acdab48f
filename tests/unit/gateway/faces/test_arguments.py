"""Arguments typed by a person, read by the tool's schema."""

from typing import Any

import pytest

from turngate.gateway.faces.arguments import parse_arguments

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "many": {"type": ["array", "string"]},
        "count": {"type": "integer"},
        "flag": {"type": "boolean"},
        "list": {"type": "array"},
        "named": {"$ref": "#/$defs/Name"},
        "loop": {"$ref": "#/$defs/Loop"},
        "lost": {"$ref": "#/$defs/Nowhere"},
        "remote": {"$ref": "https://example.com/x"},
        "choice": {"enum": ["1", "2"]},
        "level": {"enum": [1, 2]},
        "open": {},
        "always": True,
    },
    "$defs": {"Name": {"type": "string"}, "Loop": {"anyOf": [{"$ref": "#/$defs/Loop"}]}},
}


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("text=2+2", "2+2"),
        ("text=4", "4"),
        ("text=", ""),
        ("text=a=b", "a=b"),
        ("text=null", "null"),
        ("maybe=null", None),
        ("maybe=4", 4),
        ("either=4", "4"),
        ("many=[1]", "[1]"),
        ("count=4", 4),
        ("count=four", "four"),
        ("flag=true", True),
        ("list=[1, 2]", [1, 2]),
        ("named=4", "4"),
        ("loop=4", 4),
        ("lost=4", 4),
        ("remote=4", 4),
        ("choice=1", "1"),
        ("level=1", 1),
        ("open=4", 4),
        ("open=x y", "x y"),
        ("always=4", 4),
        ("unknown=4", 4),
    ],
)
def test_a_value_stays_text_where_the_schema_allows_text_and_is_json_elsewhere(word: str, value: Any) -> None:
    key = word.partition("=")[0]
    assert parse_arguments([word], SCHEMA) == {key: value}


def test_words_are_merged_from_left_to_right() -> None:
    assert parse_arguments(['{"text": "a", "count": 1}', "count=2"], SCHEMA) == {"text": "a", "count": 2}
    assert parse_arguments([], SCHEMA) == {}


@pytest.mark.parametrize("word", ["text", "=4", "{", '{"a": 1', "[1]"])
def test_a_word_that_is_neither_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match=r"expected key=value|not a JSON object"):
        parse_arguments([word], SCHEMA)
