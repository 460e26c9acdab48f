"""Names that every provider accepts."""

import re

from hypothesis import given
from hypothesis import strategies as st

from turngate.gateway.names import safe_name


@given(st.text(), st.sets(st.text()))
def test_any_name_becomes_a_valid_free_name(name: str, taken: set[str]) -> None:
    made = safe_name(name, taken)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", made)
    assert made not in taken


def test_a_valid_free_name_is_kept() -> None:
    assert safe_name("get-weather_2") == "get-weather_2"


def test_long_and_foreign_names_are_told_apart_the_same_way_in_every_run() -> None:
    assert safe_name("x" * 65) != safe_name("x" * 66)
    assert safe_name("查询天气") == safe_name("查询天气")
    assert safe_name("search", {"search"}) == safe_name("search", {"search"})
