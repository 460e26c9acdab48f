"""Truncation: within the limit, on character and JSON boundaries, with a marker."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turngate.gateway.policy import effective_policy
from turngate.gateway.shape import cut_json, cut_text, shape_output
from turngate.tools import CallPolicy, CallStats, ImageContent, TextContent, ToolOutput, ToolSpec

MODES = ["head", "tail", "middle"]


@given(st.text(), st.integers(0, 200), st.sampled_from(MODES))
def test_a_cut_text_never_exceeds_its_limit_and_stays_valid(text: str, limit: int, mode: Any) -> None:
    cut = cut_text(text, limit, mode)
    assert len(cut.encode()) <= limit or cut == text.encode("utf-8", "replace").decode()
    cut.encode()


@pytest.mark.parametrize(
    ("mode", "start", "end"), [("head", "aaaa", "…]\n"), ("tail", "\n[…", "zzzz"), ("middle", "aa", "zz")]
)
def test_each_mode_keeps_the_part_that_it_is_named_after(mode: Any, start: str, end: str) -> None:
    cut = cut_text("a" * 500 + "z" * 500, 100, mode)
    assert cut.startswith(start)
    assert cut.endswith(end)
    assert "bytes cut" in cut


def test_a_text_within_the_limit_is_left_alone() -> None:
    assert cut_text("héllo", 6, "middle") == "héllo"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=60),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=5), inner, max_size=8),
)


@given(JSON, st.integers(0, 300))
def test_cut_json_is_json_and_stays_near_the_limit(value: Any, limit: int) -> None:
    text = json.dumps(cut_json(value, limit), ensure_ascii=False)
    assert len(text.encode()) <= limit + 40 * (1 + text.count("cut")) + 60


def shaped(output: ToolOutput, limit: int, typed: bool = False) -> tuple[ToolOutput, CallStats]:
    stats = CallStats()
    policy = effective_policy(ToolSpec(name="t"), CallPolicy(), CallPolicy(max_output_bytes=limit))
    return shape_output(output, policy, stats, typed=typed), stats


def test_text_blocks_share_the_limit_and_other_blocks_pass() -> None:
    image = ImageContent(data="AAAA", mime_type="image/png")
    output, stats = shaped(ToolOutput([TextContent(text="a" * 90), image, TextContent(text="b" * 90)]), 100)
    assert output.content[1] == image
    assert sum(len(block.text) for block in output.content if isinstance(block, TextContent)) <= 100
    assert (stats.bytes, stats.truncated) == (180, True)


def test_structured_output_of_a_typed_tool_is_whole_or_absent() -> None:
    output, stats = shaped(ToolOutput(structured={"rows": ["x"] * 1000}), 100, typed=True)
    assert output.structured is None
    assert stats.truncated


def test_lone_surrogates_do_not_leave_the_gateway() -> None:
    output, _ = shaped(ToolOutput([TextContent.model_construct(type="text", text="a\ud800b")]), 100)
    output.content[0].text.encode()  # type: ignore[union-attr]
