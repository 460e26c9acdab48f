"""Reading the Hermes format."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turngate.scheduler.reading import HermesReader, MalformedCall, ReadCall


def read(text: str, **options: Any) -> list[Any]:
    return HermesReader().read(text, **options)


def block(value: object) -> str:
    return f"<tool_call>\n{value if isinstance(value, str) else json.dumps(value)}\n</tool_call>"


ADD = {"name": "add", "arguments": {"a": 1}}
CALL = ReadCall("add", {"a": 1})


def test_a_turn_without_a_block_calls_nothing() -> None:
    assert read("The answer is 4.<|im_end|>") == []


def test_several_blocks_are_read_in_order() -> None:
    text = f"First.\n{block(ADD)}\n{block({'name': 'sub', 'arguments': {}})}<|im_end|>"
    assert read(text) == [CALL, ReadCall("sub", {})]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "add", "arguments": "{\\"a\\": 1}"}',
        '{"name": "add", "parameters": {"a": 1}}',
        '```json\n{"name": "add", "arguments": {"a": 1}}\n```',
        '\ufeff\u200b{"name": " add ", "arguments": {"a": 1}}\u200b',
    ],
    ids=["arguments as a string", "parameters", "fenced", "invisible characters"],
)
def test_what_a_model_plainly_means_is_read_as_it_means_it(text: str) -> None:
    assert read(block(text)) == [CALL]


@pytest.mark.parametrize("arguments", [None, "", {}])
def test_a_call_without_arguments_is_a_call(arguments: object) -> None:
    assert read(block({"name": "now", "arguments": arguments})) == [ReadCall("now", {})]
    assert read(block({"name": "now"})) == [ReadCall("now", {})]


def test_markers_inside_a_string_are_part_of_the_string() -> None:
    text = "</tool_call> <tool_call> <think>x</think> <|im_end|>"
    assert read(block({"name": "echo", "arguments": {"text": text}})) == [ReadCall("echo", {"text": text})]


def test_a_missing_closing_tag_after_whole_json_is_forgiven() -> None:
    opened = f"<tool_call>\n{json.dumps(ADD)}"
    assert read(opened) == [CALL]
    assert read(f"{opened}\n{block(ADD)}") == [CALL, CALL]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"name": "add", "arguments": {"a": 1}', "json"),
        ('{"name": "add" "arguments": {}}', "json"),
        ("add(1)", "json"),
        ('{"name": "add", "arguments": {"a": NaN}}', "json"),
        ('{"name": "add", "arguments": {"a": 1e999}}', "json"),
        ('{"name": "add", "arguments": {}} and more', "json"),
        ('[{"name": "add"}]', "not_an_object"),
        ('{"arguments": {}}', "name"),
        ('{"name": "add", "args": {"a": 1}}', "arguments"),
        ('{"name": "add", "a": 1}', "arguments"),
        ('{"name": "add", "arguments": {"a": 1}, "parameters": {"b": 1}}', "arguments"),
        ('{"name": "add", "arguments": []}', "arguments"),
        ('{"name": "\\ud83d", "arguments": {}}', "json"),
        ('{"name": 7, "arguments": {}}', "name"),
        ('{"name": "add", "arguments": [1]}', "arguments"),
        ('{"name": "add", "arguments": "one"}', "arguments"),
        ("[" * 100_000, "too_deep"),
        ("", "json"),
    ],
)
def test_a_broken_call_is_reported_with_how_to_write_one(text: str, kind: str) -> None:
    (call,) = read(block(text))
    assert isinstance(call, MalformedCall)
    assert call.error_type == kind
    assert '{"name": "<function-name>"' in call.message


def test_a_closing_tag_without_an_opening_one_is_a_broken_call() -> None:
    (call,) = read(f"{json.dumps(ADD)}\n</tool_call>")
    assert isinstance(call, MalformedCall)
    assert call.error_type == "unopened"


def test_a_broken_call_does_not_hide_the_next_one() -> None:
    first, second = read(f"{block('{oops')}\n{block(ADD)}")
    assert isinstance(first, MalformedCall)
    assert second == CALL


def test_calls_inside_thinking_are_not_calls() -> None:
    assert read(f"<think>maybe {block(ADD)}</think>{block({'name': 'sub'})}") == [ReadCall("sub", {})]
    assert read(f"maybe {block(ADD)}</think>{block({'name': 'sub'})}", think_prefilled=True) == [ReadCall("sub", {})]
    assert read("<think>never ends") == []


def test_a_call_inside_thinking_that_never_ends_is_not_run_and_not_lost_in_silence() -> None:
    (call,) = read(f"<think>never ends {block(ADD)}")
    assert isinstance(call, MalformedCall)
    assert call.error_type == "in_thinking"


def test_a_call_that_may_be_quoted_in_a_broken_one_is_not_run() -> None:
    text = f"""<tool_call>{{"name": "write", "arguments": {{"text": 'a</tool_call>{block(ADD)}'}}}}</tool_call>"""
    assert not [call for call in read(text) if isinstance(call, ReadCall)]


@given(st.dictionaries(st.text(), st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists)))
def test_any_arguments_come_back_as_they_were_written(arguments: dict[str, Any]) -> None:
    for ascii_only in (True, False):
        text = json.dumps({"name": "f", "arguments": arguments}, ensure_ascii=ascii_only)
        assert read(block(text)) == [ReadCall("f", arguments)]


PIECES = [
    "<tool_call>",
    "</tool_call>",
    "<think>",
    "</think>",
    "{",
    "}",
    '"name"',
    ":",
    '"',
    "```json\n",
    "\x00",
    "\ud800",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=5)).map("".join), st.booleans())
def test_any_text_can_be_read(text: str, prefilled: bool) -> None:
    read(text, think_prefilled=prefilled)


def test_a_turn_full_of_broken_blocks_is_given_up_early() -> None:
    calls = read("<tool_call>{" * 100_000)
    assert len(calls) == 33
    assert "not read" in calls[-1].message


def test_five_hundred_calls_in_a_turn_are_all_read() -> None:
    assert read(block(ADD) * 500) == [CALL] * 500
