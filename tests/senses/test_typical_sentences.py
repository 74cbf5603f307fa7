"""Test typicality against a double loop over usages, and the choice of sentences on planted vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted_usages import make_usages

from lexshift.senses.typical_sentences import TypicalSentences, sense_typicality
from lexshift.senses.variety import are_near_duplicates, word_set
from lexshift.utils.arrays import Floats, Indices


def slow_typicality(vectors: Floats, labels: Indices) -> list[float]:
    """Return mean cosines with usages of the same sense, minus those with usages of other senses."""

    def cosine(i: int, j: int) -> float:
        lengths = float(np.linalg.norm(vectors[i]) * np.linalg.norm(vectors[j]))
        return float(vectors[i] @ vectors[j]) / lengths if lengths else 0.0

    values = []
    for i in range(len(labels)):
        own = [cosine(i, j) for j in range(len(labels)) if j != i and labels[j] == labels[i]]
        other = [cosine(i, j) for j in range(len(labels)) if labels[j] != labels[i]]
        values.append((sum(own) / len(own) if own else 0) - (sum(other) / len(other) if other else 0))
    return values


@given(st.integers(1, 8), st.integers(1, 4), st.integers(1, 3), st.integers(0, 99))
def test_typicality_follows_the_definition(n: int, d: int, senses: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    vectors, labels = rng.integers(-1, 2, (n, d)).astype(float), rng.integers(0, senses, n)
    np.testing.assert_allclose(sense_typicality(vectors, labels), slow_typicality(vectors, labels), atol=1e-9)


def slow_choice(sentences: list[str], unit: Floats, typicality: Floats, count: int) -> list[int]:
    """Choose one sentence after the other, and drop all near-duplicates of each."""
    left, chosen = list(range(len(sentences))), list[int]()
    while left and len(chosen) < count:
        scores = [
            0.7 * typicality[row] - 0.3 * max([0.0, *(float(unit[row] @ unit[other]) for other in chosen)])
            for row in left
        ]
        best = left[int(np.argmax(np.round(scores, 9)))]
        chosen.append(best)
        words = word_set(sentences[best])
        left = [row for row in left if row != best and not are_near_duplicates(word_set(sentences[row]), words)]
    return chosen


@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4), min_size=1, max_size=9), st.integers(0, 99))
def test_sentences_are_chosen_as_if_near_duplicates_were_dropped_at_once(words: list[list[str]], seed: int) -> None:
    sentences = [" ".join(["mouse", *part]) for part in words]
    vectors = np.random.default_rng(seed).normal(size=(len(words), 3))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = slow_choice(sentences, unit, sense_typicality(vectors, np.zeros(len(words), int)), 4)
    assert TypicalSentences(4).choose(make_usages("mouse", sentences, [0] * len(words), vectors)) == [expected]


def test_near_duplicates_are_skipped() -> None:
    sentences = [
        "The grey mouse ran over the hill.",
        "The grey mouse ran over the hill!",
        "Buy a mouse for the laptop.",
    ]
    usages = make_usages("mouse", sentences, [0, 0, 0])
    assert len(TypicalSentences(3).choose(usages)[0]) == 2


def test_the_most_typical_sentence_is_first_and_the_next_one_differs() -> None:
    vectors = np.array([[1, 0.1, 0], [1, 0, 0], [1, -0.1, 0], [0.7, 0, 0.7], [-1, 0, 0]])
    words = ("red", "blue", "green", "white", "black")
    sentences = [f"{word} mouse {word}ish {word}ly" for word in words]
    usages = make_usages("mouse", sentences, [0, 0, 0, 0, 1], vectors)
    chosen = TypicalSentences(2).choose(usages)
    assert chosen[0][0] == 1
    assert chosen[1] == [4]


@pytest.mark.parametrize("n", [0, 1])
def test_no_usage_and_one_usage(n: int) -> None:
    assert TypicalSentences().describe(make_usages("mouse", ["A mouse."][:n], [0] * n)) == [["A mouse."]] * n
