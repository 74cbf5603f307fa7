"""Shares of the senses of a word in each period: intervals, tests, and the name of each sense's change.

A sense k has c_kt of the n_t usages of period t, and the share s_kt = c_kt / n_t.

**Intervals.** The interval of a share is that of Jeffreys: the quantiles of a Beta(c + 1/2, n - c + 1/2) distribution,
with the limit 0 for c = 0 and 1 for c = n. Usages of the same document resemble each other, so with known documents
both counts are divided by the design effect 1 + rho (m - 1), where m is the mean size of a usage's document and rho the
correlation of usages of the same document (analysis of variance within periods, from 0 to 1; Rao and Scott 1992).

**Tests** are described in :mod:`lexshift.senses.share_permutation`.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from lexshift.scoring.significance import benjamini_hochberg, decide
from lexshift.senses.share_permutation import permute_documents, permute_usages
from lexshift.utils import checks
from lexshift.utils.arrays import Array, Floats, Indices
from lexshift.utils.seeds import generator

_Key = TypeVar("_Key", bound=Hashable)
GAINED, LOST, GREW, SHRANK, KEPT = "gained", "lost", "grew", "shrank", "kept"
MIN_TESTED = 5
"""Minimum number of usages of a sense, in all periods together, for its test to count in the control of errors."""
MIN_PERIOD = 10
"""Minimum number of usages of the first and of the last periods that :func:`name_changes` compares."""
ABSENT = (1, 0.02)
"""A sense is nearly absent from a period with at most 1 usage, or with at most this share of the usages."""
PRESENT = (5, 0.05)
"""A sense is present in a period with at least 5 usages that are at least this share of the usages."""


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of K senses in T periods.

    Attributes
    ----------
    counts : ndarray of shape (K, T), int
        Usages of each sense in each period.
    shares : ndarray of shape (K, T)
        Counts divided by the usages of the period; NaN for a period without usages.
    low, high : ndarray of shape (K, T)
        Interval of each share; 0 and 1 for a period without usages.
    p : ndarray of shape (K,)
        Probability of differences between periods at least as large, if the share did not change.
    effects : ndarray of shape (K, T)
        Design effects: factors by which the variance of each share exceeds that of independent usages.
    """

    counts: Indices
    shares: Floats
    low: Floats
    high: Floats
    p: Floats
    effects: Floats


def sense_shares(
    labels: npt.ArrayLike,
    periods: npt.ArrayLike,
    n_periods: int,
    documents: npt.ArrayLike | None = None,
    permutations: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Shares:
    """Count the senses of a word in each period, with an interval of each share and a test of each sense.

    Parameters
    ----------
    labels : array-like of shape (n,), int
        Sense of each usage, from 0.
    periods : array-like of shape (n,), int
        Period of each usage, from 0.
    n_periods : int
        Number of periods.
    documents : array-like of shape (n,), optional
        Document of each usage, any values. Usages of a document in different periods count as different documents. Only
        useful if the periods consist of many documents: with one document in each period, every p is 1.
    permutations : int
        Number of permutations, where p has no closed form.
    confidence : float
        Confidence of the intervals.
    seed : int
        Seed of the permutations.

    Returns
    -------
    Shares

    Examples
    --------
    >>> shares = sense_shares([0] * 20 + [1] * 10, [0] * 15 + [1] * 15, 2)
    >>> shares.counts.tolist()
    [[15, 5], [0, 10]]
    >>> shares.shares.round(2).tolist(), shares.low.round(2).tolist()
    ([[1.0, 0.33], [0.0, 0.67]], [[0.85, 0.14], [0.0, 0.42]])
    >>> name_changes(shares, benjamini_hochberg(shares.p))
    ['shrank', 'gained']
    """
    sense, period = _numbers(labels, "labels"), _numbers(periods, "periods")
    if len(sense) != len(period) or period.max(initial=0) >= checks.positive(n_periods, "n_periods"):
        raise ValueError(f"every usage needs a label and a period below {n_periods}")
    confidence = checks.between_0_and_1(confidence, "confidence")
    permutations = checks.positive(permutations, "permutations")
    counts = np.zeros((int(sense.max(initial=-1)) + 1, n_periods), np.intp)  # (K, T)
    np.add.at(counts, (sense, period), 1)
    rng = generator(seed, "permutation")
    if documents is None:
        effects = np.ones(counts.shape)
        p = permute_usages(counts, permutations, rng)
    else:
        table, document_periods = _count_documents(sense, period, np.asarray(documents), len(counts))
        effects = _design_effects(table, document_periods, counts)
        p = permute_documents(table, document_periods, n_periods, permutations, rng)
    totals = counts.sum(axis=0)  # (T,)
    shares = np.divide(counts, totals, out=np.full(counts.shape, np.nan), where=totals > 0)
    return Shares(counts, shares, *_jeffreys(counts / effects, totals / effects, confidence), p, effects)


def _numbers(values: npt.ArrayLike, name: str) -> Indices:
    """Return numbers from 0 as indices, or raise an error."""
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and (array.dtype.kind not in "iu" or array.min() < 0)):
        raise ValueError(f"{name} must be a sequence of whole numbers from 0; got {values!r}")
    return array.astype(np.intp)


def _jeffreys(counts: Floats, totals: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return the limits of the shares counts / totals, with 0 and 1 for a total of 0: (K, T), (K, T)."""
    from scipy.special import betaincinv  # imported here because it is slow

    a, b = counts + 0.5, totals - counts + 0.5
    low, high = (betaincinv(a, b, 0.5 + side * confidence / 2) for side in (-1, 1))
    return np.where(counts > 0, low, 0.0), np.where(counts < totals, high, 1.0)


def _count_documents(sense: Indices, period: Indices, documents: Array, n_senses: int) -> tuple[Floats, Indices]:
    """Return the counts of the senses in each document, (D, K), and the period of each document, (D,)."""
    if documents.shape != period.shape:
        raise ValueError(f"documents must have one value for each usage; got shape {documents.shape}")
    names = np.unique(documents, return_inverse=True)[1]
    pairs, number = np.unique(np.column_stack([names, period]), axis=0, return_inverse=True)
    table = np.zeros((len(pairs), n_senses))
    np.add.at(table, (number.ravel(), sense), 1)
    return table, pairs[:, 1]


def _design_effects(table: Floats, document_periods: Indices, counts: Indices) -> Floats:
    """Return the factor by which the variance of each share exceeds that of independent usages: (K, T).

    table : (D, K); document_periods : (D,); counts : (K, T). The correlation within documents is estimated by an
    analysis of variance within periods. It is 1 if there is nothing to estimate it from.
    """
    sizes = table.sum(axis=1)  # (D,)
    totals = counts.sum(axis=0)  # (T,)
    squares = np.bincount(document_periods, sizes**2, len(totals))  # (T,)
    expected = (counts / np.maximum(totals, 1)).T[document_periods]  # (D, K)
    shares = table / sizes[:, None]
    n_between = len(table) - np.count_nonzero(totals)
    n_within = table.sum() - len(table)
    between = (sizes[:, None] * (shares - expected) ** 2).sum(axis=0) / max(n_between, 1)  # (K,)
    within = (table * (1 - shares)).sum(axis=0) / max(n_within, 1)  # (K,)
    size = (table.sum() - (squares / np.maximum(totals, 1)).sum()) / max(n_between, 1)
    variance = between + (size - 1) * within
    rho = np.divide(between - within, variance, out=np.ones(len(counts)), where=variance > 0).clip(0, 1)
    return 1 + rho[:, None] * (squares / np.maximum(totals, 1) - 1).clip(0)


def adjust_p(
    words: Mapping[_Key, Shares], chosen: Mapping[_Key, Array] | None = None, selected_share: float = 1.0
) -> dict[_Key, Floats]:
    """Return the q-values of the senses of all words, after Benjamini and Hochberg, by word: arrays of shape (K,).

    A sense with fewer than ``MIN_TESTED`` usages in all periods together is not tested and has q = 1, so that many tiny
    clusters do not hide the change of others. The number of a sense's usages does not depend on how they are
    distributed over the periods, so this selection does not affect the control of errors.

    Parameters
    ----------
    words : mapping of words or other keys to Shares
    chosen : mapping of the same keys to ndarray of shape (K,), bool, optional
        The senses to test, chosen without regard to the periods; all of them by default. The others have q = 1.
    selected_share : float
        If the words were selected because they changed, their share of all words that could have been selected. q is
        divided by it, which is to test the selected words at a rate that is smaller by this factor (Benjamini and
        Bogomolov 2014).
    """
    is_tested = {word: shares.counts.sum(axis=1) >= MIN_TESTED for word, shares in words.items()}
    if chosen is not None:
        is_tested = {word: enough & chosen[word] for word, enough in is_tested.items()}
    tested = np.concatenate([words[word].p[which] for word, which in is_tested.items()] or [np.zeros(0)])
    q = iter(np.minimum(benjamini_hochberg(tested) / selected_share, 1) if len(tested) else ())
    return {word: np.array([next(q) if one else 1.0 for one in which]) for word, which in is_tested.items()}


def name_changes(shares: Shares, q: npt.ArrayLike, alpha: float = 0.05) -> list[str]:
    """Name the change of each sense: "gained", "lost", "grew", "shrank" or "kept".

    The beginning and the end are compared: the first and the last period, or as many of the first and of the last
    periods as have at least ``MIN_PERIOD`` usages together (:func:`find_ends`). A sense changed if its q is at most
    ``alpha`` and the interval of the difference between the two shares, computed from their 95 % intervals (Newcombe
    1998), does not contain 0; q alone can be due to the periods in between. It is gained if it was nearly absent from
    the beginning (``ABSENT``) and is present at the end (``PRESENT``), and lost in the reverse case; otherwise it grew
    or shrank. All other senses are kept, which means that no change is shown.

    The limits are those of DWUG's binary change (at most 2 usages, at least 5) for samples of 100 usages; as shares,
    they also apply to periods of other and unequal sizes.

    Parameters
    ----------
    shares : Shares
    q : array-like of shape (K,)
        The q-values of the senses, from :func:`adjust_p`.
    alpha : float
        Accepted false discovery rate.

    Returns
    -------
    list of str, of length K
    """
    totals = shares.counts.sum(axis=0)  # (T,)
    is_changed = decide(q, alpha)
    if is_changed.shape != shares.p.shape:
        raise ValueError(f"q must have one value for each of the {len(shares.p)} senses; got shape {is_changed.shape}")
    ends = find_ends(totals)
    if ends is None:
        return [KEPT] * len(shares.p)
    belongs = np.zeros((len(totals), 2))  # (T, 2): periods of the beginning and of the end
    belongs[: ends[0], 0] = belongs[ends[1] :, 1] = 1
    counts, sizes = shares.counts @ belongs, totals @ belongs  # (K, 2), (2,)
    low, high = _jeffreys((shares.counts / shares.effects) @ belongs, (totals / shares.effects) @ belongs, 0.95)
    (s, t), (low_s, low_t), (high_s, high_t) = (counts / sizes).T, low.T, high.T
    grows = t - s > np.hypot(t - low_t, high_s - s)
    shrinks = s - t > np.hypot(s - low_s, high_t - t)
    is_absent = counts <= np.maximum(ABSENT[0], ABSENT[1] * sizes)  # (K, 2)
    is_present = counts >= np.maximum(PRESENT[0], PRESENT[1] * sizes)
    names = np.select(
        [
            is_changed & grows & is_absent[:, 0] & is_present[:, 1],
            is_changed & shrinks & is_absent[:, 1] & is_present[:, 0],
            is_changed & grows,
            is_changed & shrinks,
        ],
        [GAINED, LOST, GREW, SHRANK],
        KEPT,
    )
    return names.tolist()


def find_ends(totals: npt.ArrayLike, min_usages: int = MIN_PERIOD) -> tuple[int, int] | None:
    """Return the ends of a word's history: the number of periods at the beginning, and the first period of the end.

    Each end has as few periods as have enough usages together. There are none if they would overlap.

    Parameters
    ----------
    totals : array-like of shape (T,), int
        Number of usages of the word in each period.
    min_usages : int
        Minimum number of usages of each end.

    Examples
    --------
    >>> find_ends([20, 5, 30]), find_ends([4, 7, 3, 6, 5]), find_ends([3, 50, 4])
    ((1, 2), (2, 3), None)
    """
    counts = np.asarray(totals)
    if counts.sum() < min_usages:
        return None
    begin = int((counts.cumsum() < min_usages).sum()) + 1
    end = len(counts) - int((counts[::-1].cumsum() < min_usages).sum()) - 1
    return (begin, end) if begin <= end else None


def jensen_shannon(a: npt.ArrayLike, b: npt.ArrayLike) -> float:
    """Return the Jensen-Shannon distance of two vectors of shares or counts: square root, base 2, from 0 to 1.

    It is NaN if a vector is all zeros. Shares that are estimated from few usages differ by chance: without any change,
    the expected square is about (K - 1) (1 / n_old + 1 / n_new) / (8 ln 2) for K senses.

    >>> jensen_shannon([1, 0], [0, 1]), jensen_shannon([3, 1], [0.75, 0.25])
    (1.0, 0.0)
    """
    from scipy.special import rel_entr

    with np.errstate(invalid="ignore"):
        p, q = (np.asarray(values, float) / np.sum(values, dtype=float) for values in (a, b))
    middle = (p + q) / 2
    divergence = (rel_entr(p, middle).sum() + rel_entr(q, middle).sum()) / (2 * np.log(2))
    return float(np.sqrt(np.clip(divergence, 0, 1)))  # rounding can put it below 0, for which scipy returns NaN
