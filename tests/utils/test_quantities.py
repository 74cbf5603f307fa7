"""Test numbers with their units."""

from __future__ import annotations

import pytest

from lexshift.utils.quantities import with_unit


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("words", "word"),
        ("pairs of periods", "pair of periods"),
        ("occurrences beyond 2 for a word", "occurrence beyond 2 for a word"),
        ("old: sentences of over 4000 characters, cut", "old: sentence of over 4000 characters, cut"),
        ("entries without a lemma", "entry without a lemma"),
        ("damaged lines", "damaged line"),
    ],
)
def test_unit_is_singular_for_one_only(plural: str, singular: str) -> None:
    assert with_unit(1, plural) == f"1 {singular}"
    assert with_unit(0, plural) == f"0 {plural}"
    assert with_unit(12_345, plural) == f"12,345 {plural}"
