"""Test batches of sequences of similar length."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lexshift.encode.batches import make_batches

lengths_of_sequences = st.lists(st.integers(1, 60), max_size=80)


@given(lengths_of_sequences, st.integers(1, 300))
def test_every_sequence_is_in_one_batch_within_the_budget_or_alone(lengths: list[int], budget: int) -> None:
    found = make_batches(lengths, budget)
    assert sorted(index for batch in found for index in batch) == list(range(len(lengths)))
    for batch in found:
        assert batch
        assert len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) <= budget


@given(lengths_of_sequences, st.integers(1, 300))
def test_sequences_are_sorted_by_length_with_ties_in_order(lengths: list[int], budget: int) -> None:
    in_turn = [index for batch in make_batches(lengths, budget) for index in batch]
    assert in_turn == sorted(range(len(lengths)), key=lambda i: (lengths[i], i))


@given(lengths_of_sequences, st.integers(1, 300))
def test_batch_ends_only_where_the_next_sequence_does_not_fit(lengths: list[int], budget: int) -> None:
    found = make_batches(lengths, budget)
    for batch, following in pairwise(found):
        assert lengths[following[0]] * (len(batch) + 1) > budget


def test_large_budget_gives_one_batch_and_a_small_one_single_sequences() -> None:
    assert make_batches([3, 1, 2], 9) == [[1, 2, 0]]
    assert make_batches([3, 1, 2], 1) == [[1], [2], [0]]
    assert make_batches([], 10) == []
