"""Test the choice of sentences against a comparison of all pairs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lexshift.senses.variety import MAX_OVERLAP, choose_varied

SENTENCES = st.lists(st.lists(st.sampled_from("abcdef"), max_size=5).map(" ".join), max_size=12)


def overlap(one: str, other: str) -> float:
    """Return the Jaccard index of the sets of words; 0 if both are empty."""
    a, b = set(one.lower().split()), set(other.lower().split())
    return len(a & b) / len(a | b) if a | b else 0.0


@given(SENTENCES, st.randoms(use_true_random=False), st.integers(0, 12))
def test_sentence_is_chosen_unless_it_repeats_a_chosen_one(sentences: list[str], random: object, count: int) -> None:
    order = list(range(len(sentences)))
    random.shuffle(order)  # type: ignore[attr-defined]
    chosen: list[int] = []
    for i in order:
        if len(chosen) < count and all(overlap(sentences[i], sentences[k]) <= MAX_OVERLAP for k in chosen):
            chosen.append(i)
    assert choose_varied(sentences, order, count).tolist() == chosen


def test_case_and_punctuation_do_not_make_a_sentence_different() -> None:
    sentences = ["The mouse ran away.", "«THE MOUSE ran away!»", "Click with the mouse."]
    assert choose_varied(sentences, [1, 0, 2], 3).tolist() == [1, 2]


def test_no_sentences_give_an_empty_choice() -> None:
    assert choose_varied([], [], 5).tolist() == []
