"""Compare a word with words of similar frequency and spread: is its change large for a word of its kind?

Change scores are higher for words with many meanings, whose usages are far apart in any corpus, and may be higher for
rare words, whose few usages differ by chance. Neither is change. So each word is compared with the words nearest to it
in both respects: its frequency in the corpus where it is rarer, and its spread, the average distance between two usages
in the same corpus. Both are taken by rank, so that no unit matters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree
from scipy.stats import rankdata

from lexshift.utils.arrays import Floats, Matrix

LIKE = 100
"""How many words a word is set against."""
_ROBUST = 1.4826  # the standard deviation of a normal distribution over its median absolute deviation


class Control(NamedTuple):
    """Of each word, (n,): the median score of the words like it, how far above it is, and above which share of them."""

    expected: Floats
    excess: Floats
    above: Floats


def spread(old: Matrix, new: Matrix) -> float:
    """The average cosine distance between two usages in the same corpus; the two corpora weigh the same.

    >>> spread(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [2.0, 0.0]]))
    0.5
    """
    return float(np.mean([_within(rows) for rows in (old, new)]))


def _within(rows: Matrix) -> float:
    """1 - the mean cosine of two different rows, from the length of the sum of unit rows. rows : (n, d)"""
    lengths = np.linalg.norm(rows.astype(float), axis=1, keepdims=True)
    unit = rows / np.where(lengths > 0, lengths, 1)
    total = unit.sum(axis=0)
    n = len(rows)
    return float(1 - (total @ total - (unit**2).sum()) / (n * (n - 1)))


def against_similar(scores: Floats, frequencies: Floats, spreads: Floats, like: int = LIKE) -> Control:
    """Set each word against the ``like`` words most similar to it in frequency and spread. All : (n,)

    ``excess`` is the score minus the median of those words' scores, divided by 1.4826 times their median absolute
    deviation; it is 0 for a word that has no others. Scores have a long upper tail, so it is not a z-score.
    """
    n = len(scores)
    if n < 2:
        return Control(scores.copy(), np.zeros(n), np.zeros(n))
    place = np.stack([rankdata(frequencies), rankdata(spreads)], axis=1)  # (n, 2)
    _, near = cKDTree(place).query(place, min(like + 1, n))  # (n, like + 1), the word itself among them
    own = near == np.arange(n)[:, None]
    own[~own.any(axis=1), -1] = True  # of more than that many at one place, another is left out in its stead
    others = scores[near[~own].reshape(n, -1)]  # (n, like)
    expected = np.median(others, axis=1)
    off = _ROBUST * np.median(np.abs(others - expected[:, None]), axis=1)
    excess = np.divide(scores - expected, off, out=np.zeros(n), where=off > 0)
    return Control(expected, excess, (others < scores[:, None]).mean(axis=1))
