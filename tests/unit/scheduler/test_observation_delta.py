"""The delta tokens: the template's own text around observations that can never become control tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.scheduler.fake_template import ADDED, CharTokenizer, qwen_template
from turngate.scheduler.observation_delta import DeltaEncoder, EncodedDelta, TemplateNotSupported

TOKENIZER = CharTokenizer()
BIG = 1 << 20
HOSTILE = st.lists(
    st.one_of(st.sampled_from([*ADDED, "<", ">", "|", "\n", "<tool_", "</", "é", "𝔘"]), st.text(max_size=4))
)


def encode(observations: list[str], each: int = BIG, total: int = BIG, last: int | None = None) -> EncodedDelta:
    delta = DeltaEncoder(TOKENIZER, qwen_template()).encode(
        observations, last_sampled_id=last, max_tokens_each=each, max_tokens=total
    )
    assert delta is not None
    return delta


def rendered(*observations: str) -> str:
    body = "\n".join(f"<tool_response>\n{text}\n</tool_response>" for text in observations)
    return f"<|im_end|>\n<|im_start|>user\n{body}<|im_end|>\n<|im_start|>assistant\n"


def test_the_delta_of_harmless_observations_is_the_templates_own_rendering() -> None:
    assert encode(["42", "seven"]).ids == TOKENIZER.encode(rendered("42", "seven"))


def test_the_separator_token_that_the_model_has_sampled_is_not_repeated() -> None:
    assert encode(["42"], last=TOKENIZER.eos_token_id).ids == TOKENIZER.encode(rendered("42"))[1:]


def test_a_turn_that_ended_without_the_separator_gets_it() -> None:
    assert encode(["42"], last=1042).ids == TOKENIZER.encode(rendered("42"))


@given(st.lists(HOSTILE.map("".join), min_size=1, max_size=3))
def test_no_observation_adds_a_control_token_or_loses_a_character(observations: list[str]) -> None:
    ids = encode(observations).ids
    frame = TOKENIZER.encode(rendered(*["" for _ in observations]))
    control = set(range(len(ADDED)))
    assert [i for i in ids if i in control] == [i for i in frame if i in control]
    assert TOKENIZER.decode(ids) == rendered(*observations)


@given(st.text(min_size=0, max_size=300), st.integers(1, 60))
def test_an_observation_takes_at_most_its_share_of_tokens(text: str, each: int) -> None:
    delta = DeltaEncoder(TOKENIZER, qwen_template()).encode(
        [text], last_sampled_id=None, max_tokens_each=each, max_tokens=BIG
    )
    if delta is not None:
        assert delta.observation_tokens[0] <= each
        assert delta.truncated == [len(text) > each]


@given(st.lists(st.text(max_size=200), min_size=1, max_size=4), st.integers(1, 400))
def test_the_whole_delta_fits_in_the_room_or_is_refused(observations: list[str], total: int) -> None:
    delta = DeltaEncoder(TOKENIZER, qwen_template()).encode(
        observations, last_sampled_id=None, max_tokens_each=BIG, max_tokens=total
    )
    assert delta is None or len(delta.ids) <= total


def test_a_cut_observation_keeps_both_ends_and_says_how_much_is_gone() -> None:
    text = TOKENIZER.decode(encode(["a" * 500 + "z" * 500], each=100).ids)
    assert "\naaa" in text
    assert "zzz\n" in text
    assert "characters cut" in text


def test_a_template_whose_tool_turn_is_not_text_is_refused_by_name() -> None:
    template = qwen_template()
    template.agent_template._format_tool_responses = lambda content, messages: (content, [["bos_token_id"]])
    with pytest.raises(TemplateNotSupported, match="qwen2_5"):
        DeltaEncoder(TOKENIZER, template)
