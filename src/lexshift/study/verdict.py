"""The verdict on a word, and the comparison of its change with that of similar words.

Change scores are higher for words with many meanings, whose usages are far apart in any corpus, and may be higher for
rare words, whose few usages differ by chance. Neither is change. Each word is therefore compared with the words most
similar in frequency (in the corpus where the word is rarer) and in spread (the average distance between two usages in
the same corpus). Both are replaced by ranks, so that their units do not matter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree
from scipy.stats import rankdata

from lexshift.utils.arrays import Floats, Matrix

CHANGED, STABLE, TOO_FEW = "changed", "stable", "too few"
VERDICTS = (CHANGED, STABLE, TOO_FEW)
SIMILAR = 100
"""Number of similar words that a word is compared with."""
_ROBUST = 1.4826  # ratio of the standard deviation to the median absolute deviation of a normal distribution


class SimilarWords(NamedTuple):
    """The comparison of the score of each word with the scores of similar words; arrays of shape (n,).

    Attributes
    ----------
    expected : array
        Median score of the similar words.
    excess : array
        Difference of the score from that median, in units of 1.4826 median absolute deviations.
    above : array
        Share of the similar words with a lower score.
    """

    expected: Floats
    excess: Floats
    above: Floats


def spread(old: Matrix, new: Matrix) -> float:
    """Return the average cosine distance between two usages in the same corpus; both corpora have the same weight.

    Parameters
    ----------
    old, new : arrays of shape (n_old, d) and (n_new, d)

    >>> spread(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [2.0, 0.0]]))
    0.5
    """
    return float(np.mean([_within(rows) for rows in (old, new)]))


def _within(rows: Matrix) -> float:
    """Return the mean cosine distance of two different rows of shape (n, d), from the sum of unit rows."""
    lengths = np.linalg.norm(rows.astype(float), axis=1, keepdims=True)
    unit = rows / np.where(lengths > 0, lengths, 1)
    total = unit.sum(axis=0)
    n = len(rows)
    return float(1 - (total @ total - (unit**2).sum()) / (n * (n - 1)))


def compare_with_similar(scores: Floats, frequencies: Floats, spreads: Floats, similar: int = SIMILAR) -> SimilarWords:
    """Compare each word with the ``similar`` words nearest to it in frequency and spread.

    ``excess`` is 0 if there are no similar words. It is not a z-score, because scores have a long upper tail.

    Parameters
    ----------
    scores, frequencies, spreads : arrays of shape (n,)
    similar : int
    """
    n = len(scores)
    if n < 2:
        return SimilarWords(scores.copy(), np.zeros(n), np.zeros(n))
    points = np.stack([rankdata(frequencies), rankdata(spreads)], axis=1)  # (n, 2)
    _, nearest = cKDTree(points).query(points, min(similar + 1, n))  # (n, similar + 1), with the word itself
    is_self = nearest == np.arange(n)[:, None]
    is_self[~is_self.any(axis=1), -1] = True  # another word at the same point is left out instead
    others = scores[nearest[~is_self].reshape(n, -1)]  # (n, similar)
    expected = np.median(others, axis=1)
    deviation = _ROBUST * np.median(np.abs(others - expected[:, None]), axis=1)
    excess = np.divide(scores - expected, deviation, out=np.zeros(n), where=deviation > 0)
    return SimilarWords(expected, excess, (others < scores[:, None]).mean(axis=1))
