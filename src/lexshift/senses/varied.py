"""Choose sentences to show: in a given order, but none that nearly repeats another one."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from lexshift.utils.arrays import Indices

MAX_OVERLAP = 0.5
"""Largest share of the words of two sentences that both may contain (Jaccard index of their sets of words)."""
_WORD = re.compile(r"\w+")


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
    chosen_words: list[set[str]] = []
    for i in order:
        if len(chosen) >= count:
            break
        words = set(_WORD.findall(sentences[i].casefold()))
        if any(len(words & other) > MAX_OVERLAP * len(words | other) for other in chosen_words):
            continue
        chosen.append(int(i))
        chosen_words.append(words)
    return np.array(chosen, np.intp)
