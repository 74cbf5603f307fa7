"""Measure agreement of scores with human judgement: rank correlation, accuracy, F1, average precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexshift.utils.arrays import Array, Floats

RESAMPLES = 2_000


@dataclass(frozen=True)
class Correlation:
    """Spearman's rank correlation over words, with its bootstrap interval over the words.

    Attributes
    ----------
    rho : float
        NaN if undefined: with fewer than three words, or if all scores are equal.
    low, high : float
        Percentile bootstrap interval over the words.
    words : int
    """

    rho: float
    low: float
    high: float
    words: int


def spearman(scores: npt.ArrayLike, gold: npt.ArrayLike, confidence: float = 0.95, seed: int = 0) -> Correlation:
    """Compute Spearman's rank correlation of scores with gold, with mean ranks for ties, and its bootstrap interval.

    >>> spearman([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 4.0, 3.0]).rho
    0.8
    """
    a, b = np.asarray(scores, float), np.asarray(gold, float)
    rho = _rho(a[None], b[None])[0]
    rng = np.random.default_rng(seed)
    draws = rng.integers(0, len(a), (RESAMPLES, len(a))) if len(a) else np.zeros((0, 0), int)
    resampled = _rho(a[draws], b[draws])
    resampled = resampled[np.isfinite(resampled)]
    if not np.isfinite(rho) or not len(resampled):
        return Correlation(float("nan"), float("nan"), float("nan"), len(a))
    low, high = np.quantile(resampled, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return Correlation(round(float(rho), 12), float(low), float(high), len(a))


def spearman_each(scores: Floats, gold: npt.ArrayLike) -> Floats:
    """Compute Spearman's rank correlation of each column of scores, (words, repetitions) -> (repetitions,)."""
    b = np.broadcast_to(np.asarray(gold, float), scores.T.shape)
    return _rho(scores.T, b)


def _rho(a: Floats, b: Floats) -> Floats:
    """Compute Pearson's correlation of ranks, row by row: (n, words) -> (n,)."""
    if a.shape[1] < 3:
        return np.full(len(a), np.nan)
    from scipy.stats import rankdata  # imported here because it is slow

    ranks = [np.asarray(rankdata(x, axis=1), float) for x in (a, b)]
    centred = [r - r.mean(axis=1, keepdims=True) for r in ranks]
    with np.errstate(invalid="ignore", divide="ignore"):
        norms = np.sqrt((centred[0] ** 2).sum(axis=1) * (centred[1] ** 2).sum(axis=1))
        return np.where(norms > 0, (centred[0] * centred[1]).sum(axis=1) / norms, np.nan)


def accuracy_and_f1(decisions: npt.ArrayLike, gold: npt.ArrayLike) -> tuple[float, float]:
    """Compute the accuracy of decisions, and F1 of the changed class; F1 is 0 without a true positive.

    >>> accuracy_and_f1([True, True, False], [True, False, False])
    (0.6666666666666666, 0.6666666666666666)
    """
    a, b = np.asarray(decisions, bool), np.asarray(gold, bool)
    if not len(a):
        return float("nan"), float("nan")
    hits = int((a & b).sum())
    f1 = 2 * hits / (int(a.sum()) + int(b.sum())) if a.any() or b.any() else float("nan")
    return float((a == b).mean()), f1


def average_precision(scores: npt.ArrayLike, gold: npt.ArrayLike) -> float:
    """Compute average precision: the mean over changed words of the precision at their rank by score.

    Words with equal scores share a rank: precision is computed at the end of each group of ties.

    >>> average_precision([3.0, 2.0, 1.0], [True, False, True])
    0.8333333333333333
    """
    a, b = np.asarray(scores, float), np.asarray(gold, bool)
    if not b.any():
        return float("nan")
    order = np.argsort(-a, kind="stable")
    ordered, relevant = a[order], b[order]
    ends: Array = np.append(np.flatnonzero(np.diff(ordered)), len(a) - 1)  # last place of each group of ties
    hits = np.cumsum(relevant)[ends]
    gained = np.diff(hits, prepend=0)
    return float((gained * hits / (ends + 1)).sum() / relevant.sum())
