"""Estimate a calibration for encoders that have none, from the vectors of the words of a run.

Usages of different words never share a sense; most usages of one word do. So the scale of the cosines is that between
the mean cosine of usages of different words and the mean cosine of usages of the same word. On this scale the estimate
has the calibration of the built-in encoder minilm-senses, which was fitted to sense-labelled usages. An encoder that
hardly separates senses then finds one sense for nearly every word.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexshift.encode.adaptation import Calibration
from lexshift.senses.similarity import unit_rows
from lexshift.utils.arrays import Matrix

_EVEN = 0.83  # place on the scale at which a shared sense has the probability 1/2: 0 other words, 1 the same word
_SLOPE = 2.4  # increase of the log odds from 0 to 1 on the scale
_SMALLEST_GAP = 0.01


def estimate_calibration(groups: Sequence[Matrix]) -> Calibration:
    """Return a calibration without sense-labelled usages.

    Parameters
    ----------
    groups : sequence of ndarray of shape (n_i, d)
        Vectors of the usages of each word, of all periods, in the space in which they are compared. The more words,
        the better; the mean cosine of other words is taken as 0 if there is only one.

    Returns
    -------
    Calibration

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> words = [rng.normal(size=8) + 0.5 * rng.normal(size=(30, 8)) for _ in range(20)]
    >>> found = estimate_calibration(words)
    >>> found.probability(np.array([0.0, 0.9])).round(1).tolist()
    [0.1, 0.7]
    """
    means = np.array([unit_rows(rows).mean(axis=0) for rows in groups if len(rows)])  # (words, d)
    squares = (means**2).sum(axis=1)
    sizes = np.array([len(rows) for rows in groups if len(rows)])
    is_repeated = sizes > 1
    if not is_repeated.any():
        same = 1.0
    else:  # without the cosine of each usage with itself
        same = float(np.mean((sizes * squares - 1)[is_repeated] / (sizes - 1)[is_repeated]))
    count = len(means)
    other = float(((means.sum(axis=0) ** 2).sum() - squares.sum()) / (count * (count - 1))) if count > 1 else 0.0
    gap = max(same - other, _SMALLEST_GAP)
    slope = _SLOPE / gap
    return Calibration(slope=slope, intercept=-slope * (other + _EVEN * gap))
