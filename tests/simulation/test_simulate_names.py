"""Invented names: pronounceable, free, all different, and the same for the same seed."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from lexshift.simulation.names import invent_names

SPOKEN = re.compile(r"([bdfgklmnprstvz]{1,2}[aeiou]){2,}[klmnprst]?")


@given(st.integers(1, 60), st.integers(0, 10**6))
def test_names_can_be_spoken_and_none_begins_as_an_earlier_one(count: int, seed: int) -> None:
    names = invent_names(count, set(), seed)
    assert len(names) == count
    assert all(SPOKEN.fullmatch(name) for name in names)
    assert not any(b.startswith(a) for i, a in enumerate(names) for b in names[i + 1 :])


@given(st.integers(1, 20), st.integers(0, 10**6), st.data())
def test_a_taken_name_is_not_used_and_the_names_before_it_stay(count: int, seed: int, data: st.DataObject) -> None:
    names = invent_names(count, set(), seed)
    at = data.draw(st.integers(0, count - 1))
    others = invent_names(count, {names[at]}, seed)
    assert names[at] not in others
    assert others[:at] == names[:at]


def test_more_names_begin_with_the_same_ones_and_another_seed_gives_others() -> None:
    assert invent_names(20, set(), 3)[:5] == invent_names(5, set(), 3)
    assert not set(invent_names(20, set(), 3)) & set(invent_names(20, set(), 4))


def test_when_all_short_names_are_taken_longer_ones_are_invented() -> None:
    class Short:
        def __contains__(self, name: object) -> bool:
            return len(str(name)) < 8

    assert all(len(name) >= 8 for name in invent_names(5, Short(), 0))
