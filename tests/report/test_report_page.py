"""Test the base of the pages: deterministic packing of values, and numbers as text."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lexshift.report.page import chance, digits, embedded_json, pack_groups

JSON = st.recursive(
    st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


def opened(starts: list[int], groups: list[str]) -> list[Any]:
    """Return the values of all groups at their positions."""
    values: list[Any] = []
    for start, group in zip(starts, groups, strict=True):
        assert start == len(values)
        values += json.loads(gzip.decompress(base64.b64decode(group)))
    return values


@given(st.lists(JSON, max_size=12), st.integers(1, 60))
def test_packed_values_are_unpacked_unchanged(values: list[Any], size: int) -> None:
    starts, groups = pack_groups(values, size)
    assert json.dumps(opened(starts, groups)) == json.dumps(values)
    assert pack_groups(values, size) == (starts, groups)
    assert not set("".join(groups)) & set("<>&\"'")


def test_groups_have_the_requested_size_and_no_value_is_divided() -> None:
    starts, groups = pack_groups(["x" * 10] * 25, size=60)  # twelve bytes each, with their quotes
    assert starts == [0, 5, 10, 15, 20]
    assert len(groups) == 5


def test_lone_surrogate_is_packed_as_a_question_mark() -> None:
    assert opened(*pack_groups(["a\udcffb"])) == ["a?b"]


TEXT = st.text() | st.sampled_from(["</script>", "<!--", "]]>", "&amp;", "\u2028", "\u2029", "\\", '"', "\x00", "‮"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner),
)


@given(VALUES)
@example({"</script><script>": ["<!--", "&lt;", "\u2028\u2029", '\\"']})
def test_embedded_json_has_the_same_values_and_cannot_open_a_tag(values: Any) -> None:
    text = embedded_json(values)
    assert json.loads(text) == values
    assert not set(text) & set("<>&\u2028\u2029")


def test_embedded_json_refuses_values_that_json_cannot_represent() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        embedded_json([math.nan])


@given(st.floats(1e-4, 1e8))
def test_digits_prints_three_correct_digits(value: float) -> None:
    shown = digits(value)
    assert "e" not in shown
    assert float(shown) == pytest.approx(value, rel=0.00501)
    assert float(digits(-value)) == -float(shown)


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0, "0"), (1.0, "1.00"), (0.5, "0.500"), (1234567.0, "1234567"), (0.00001, "1e-05")]
)
def test_digits_handles_zero_and_large_and_small_numbers(value: float, shown: str) -> None:
    assert digits(value) == shown


@given(st.floats(1e-4, 1))
def test_probability_is_shown_to_three_places_or_as_a_small_number(value: float) -> None:
    shown = chance(value)
    assert re.fullmatch(r"[01]\.\d{1,5}", shown)
    assert float(shown) == pytest.approx(value, abs=0.00051 if value >= 0.001 else 0.0000051)


@pytest.mark.parametrize("value", [1e-5, 4e-6, 1e-6, 1e-9])
def test_very_small_probability_is_not_shown_as_zero(value: float) -> None:
    shown = chance(value)
    assert not shown.endswith(".")
    assert float(shown.removeprefix("<").strip()) > 0
