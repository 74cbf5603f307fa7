"""Choose sentences to show: in a given order, but none that nearly repeats another one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexshift.corpus.tokens import split_words
from lexshift.utils.arrays import Indices

MAX_OVERLAP = 0.5
"""Largest share of the words of two sentences that both may contain (Jaccard index of their sets of words)."""


def word_set(sentence: str) -> frozenset[str]:
    """Return the different words of a sentence."""
    return frozenset(split_words(sentence))


def are_near_duplicates(first: frozenset[str], second: frozenset[str]) -> bool:
    """Return whether two sentences, given by their words, have more than ``MAX_OVERLAP`` of their words in common.

    >>> are_near_duplicates(word_set("A mouse ran."), word_set("a mouse ran away"))
    True
    """
    return len(first & second) > MAX_OVERLAP * len(first | second)


def choose_varied(sentences: Sequence[str], order: Sequence[int] | Indices, count: int) -> Indices:
    """Choose the first sentences of an order, and skip those that nearly repeat one that was chosen before.

    Two sentences nearly repeat each other if more than ``MAX_OVERLAP`` of the different words of both are in both.

    Parameters
    ----------
    sentences : sequence of str
    order : sequence of int
        Numbers of the sentences, the first to be shown first.
    count : int
        Maximum number of sentences to choose.

    Returns
    -------
    ndarray of shape (at most count,), int
        Numbers of the chosen sentences; fewer than ``count`` if there are not so many different ones.

    Examples
    --------
    >>> choose_varied(["A mouse ran.", "a mouse ran", "The cat ran."], [0, 1, 2], 2).tolist()
    [0, 2]
    """
    chosen: list[int] = []
    chosen_words: list[frozenset[str]] = []
    for i in order:
        if len(chosen) >= count:
            break
        words = word_set(sentences[i])
        if any(are_near_duplicates(words, other) for other in chosen_words):
            continue
        chosen.append(int(i))
        chosen_words.append(words)
    return np.array(chosen, np.intp)
