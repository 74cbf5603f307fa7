"""Choose sentences that show a sense: typical of it, and different from each other.

A usage is typical of its sense if it is similar to the other usages of that sense and not to those of other senses. Of
the typical usages, those are chosen one by one that are least similar to the ones chosen before (maximal marginal
relevance, Carbonell and Goldstein 1998), and near-duplicates of a chosen sentence are skipped.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexshift.senses.description import SenseUsages
from lexshift.senses.similarity import unit_rows
from lexshift.senses.variety import are_near_duplicates, word_set
from lexshift.utils.arrays import Floats, Indices, Matrix

_RELEVANCE = 0.7  # weight of the typicality; the rest is that of the variety


class TypicalSentences:
    """Choose the sentences of each sense that show it best.

    Parameters
    ----------
    n_sentences : int
        Maximum number of sentences of a sense.
    """

    name = "typical_sentences"

    def __init__(self, n_sentences: int = 5) -> None:
        self.n_sentences = n_sentences

    def describe(self, usages: SenseUsages) -> list[list[str]]:
        """Return the sentences of each sense, the most typical one first."""
        return [[usages.sentences[i] for i in rows] for rows in self.choose(usages)]

    def choose(self, usages: SenseUsages) -> list[list[int]]:
        """Return the rows of the usages that are chosen for each sense."""
        n_senses = int(np.max(usages.labels, initial=-1)) + 1
        typicality = sense_typicality(usages.vectors, usages.labels)
        unit = unit_rows(usages.vectors)
        return [
            self._choose(np.flatnonzero(usages.labels == sense), typicality, unit, usages.sentences)
            for sense in range(n_senses)
        ]

    def _choose(self, rows: Indices, typicality: Floats, unit: Floats, sentences: Sequence[str]) -> list[int]:
        """Return some of the given rows. A sentence is split into words only when it is the next to be chosen."""
        relevance, own = _RELEVANCE * typicality[rows], unit[rows]
        nearest = np.zeros(len(rows))  # the highest cosine with a chosen usage
        is_left = np.ones(len(rows), bool)
        chosen: dict[int, frozenset[str]] = {}
        while is_left.any() and len(chosen) < self.n_sentences:
            best = int(np.where(is_left, relevance - (1 - _RELEVANCE) * nearest, -np.inf).argmax())
            is_left[best] = False
            words = word_set(sentences[rows[best]])
            if not any(are_near_duplicates(words, other) for other in chosen.values()):
                chosen[int(rows[best])] = words
                nearest = np.maximum(nearest, own @ own[best])
        return list(chosen)


def sense_typicality(vectors: Matrix, labels: Indices) -> Floats:
    """Compute the mean cosine of each usage with the others of its sense, minus that with the usages of other senses.

    Parameters
    ----------
    vectors : ndarray of shape (n, d), any float dtype
    labels : ndarray of shape (n,), int
        The sense of each usage, from 0.

    Returns
    -------
    ndarray of shape (n,), float64
        A mean over no usages is 0.
    """
    unit = unit_rows(vectors)
    membership = labels == np.arange(int(np.max(labels, initial=-1)) + 1)[:, None]  # (senses, n)
    sums = membership.astype(float) @ unit  # (senses, d)
    sizes = membership.sum(axis=1)[labels]  # (n,)
    own_sums, own_squares = (unit * sums[labels]).sum(axis=1), (unit**2).sum(axis=1)
    own = (own_sums - own_squares) / np.maximum(sizes - 1, 1)
    other = (unit @ sums.sum(axis=0) - own_sums) / np.maximum(len(labels) - sizes, 1)
    return own - other
