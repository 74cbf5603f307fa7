"""Test whether words have different frequencies in two corpora.

Given how often a word occurs in both corpora together, each occurrence falls into the first corpus with a probability
that is the corpus's share of all running words, if the frequencies are equal. This is the exact test of two Poisson
rates by Przyborowski and Wilenski (1940), which holds for small counts as well.
"""

from __future__ import annotations

import numpy as np

from lexshift.utils.arrays import Array, Floats


def compare_frequencies(counts: Array, total: int, other_counts: Array, other_total: int) -> Floats:
    """Compute the p-value of equal frequencies in two corpora, for each word.

    Parameters
    ----------
    counts : ndarray of shape (words,), int
        Number of occurrences of each word in the first corpus.
    total : int
        Number of running words of the first corpus.
    other_counts : ndarray of shape (words,), int
        Number of occurrences of each word in the second corpus.
    other_total : int
        Number of running words of the second corpus.

    Returns
    -------
    ndarray of shape (words,), float64
        Twice the smaller tail of the binomial distribution, at most 1.

    Examples
    --------
    >>> compare_frequencies(np.array([10, 5]), 1_000, np.array([0, 5]), 1_000).round(4).tolist()
    [0.002, 1.0]
    """
    from scipy.stats import binom  # imported here because it is slow

    both, share = counts + other_counts, total / (total + other_total)
    at_most, at_least = binom.cdf(counts, both, share), binom.sf(counts - 1, both, share)
    return np.asarray(np.minimum(2 * np.minimum(at_most, at_least), 1.0), float)
