"""Argument validation: exact, bounded, and never a request to anywhere."""

from typing import Any

import pytest

from turngate.gateway.validation import ArgumentValidator, SchemaError


def problem(schema: dict[str, Any], arguments: Any) -> str | None:
    return ArgumentValidator(schema).problem(arguments)


SCHEMA = {
    "type": "object",
    "properties": {"items": {"type": "array", "items": {"$ref": "#/$defs/item"}}},
    "required": ["items"],
    "$defs": {"item": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}}},
}


def test_valid_arguments_have_no_problem() -> None:
    assert problem(SCHEMA, {"items": [{"n": 3}]}) is None


def test_the_message_names_the_path_the_fault_and_what_is_expected() -> None:
    message = problem(SCHEMA, {"items": [{"n": 3}, {"n": 0}]})
    assert message is not None
    assert "In 'items[1].n'" in message
    assert "minimum of 1" in message
    assert 'required: ["items"]' in message


def test_a_recursive_schema_is_followed() -> None:
    schema = {
        "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}, "v": {"type": "string"}}}},
        "$ref": "#/$defs/node",
    }
    assert problem(schema, {"next": {"next": {"v": "x"}}}) is None
    assert "next.next.v" in str(problem(schema, {"next": {"next": {"v": 1}}}))


def test_a_remote_reference_is_refused_when_the_tool_is_added_and_never_fetched() -> None:
    with pytest.raises(SchemaError):
        ArgumentValidator({"$ref": "http://127.0.0.1:9/schema.json"})


def test_a_schema_that_is_not_a_schema_is_refused() -> None:
    with pytest.raises(SchemaError):
        ArgumentValidator({"type": "nonsense"})


def test_a_pattern_cannot_stall_the_call() -> None:
    schema = {"properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    assert problem(schema, {"a": "a" * 50_000 + "!"}) is not None


def test_deep_nesting_is_answered_without_recursion() -> None:
    value: Any = {}
    for _ in range(50_000):
        value = {"a": value}
    assert "nested" in str(problem({}, value))


@pytest.mark.parametrize("text", ["\ud800", "\x00", "\U0001f600" * 100_000])
def test_any_string_can_be_checked(text: str) -> None:
    problem({"properties": {"a": {"type": "string"}}}, {"a": text})


def test_a_huge_argument_is_not_repeated_in_the_message() -> None:
    message = problem({"properties": {"a": {"type": "integer"}}}, {"a": "x" * 1_000_000})
    assert len(str(message)) < 2000
