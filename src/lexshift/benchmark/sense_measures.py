"""Measure agreement of sense labels with human labels: B-cubed, adjusted Rand index, purity, and change of shares.

B-cubed follows Bagga and Baldwin (1998), with several labels for a usage as Amigó et al. (2009) extend it. The adjusted
Rand index follows Hubert and Arabie (1985).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lexshift.benchmark.measures import RESAMPLES
from lexshift.senses.shares import jensen_shannon
from lexshift.utils.arrays import Floats, Indices

LabelSets = Sequence[Collection[Hashable]]
"""The labels of each usage, at least one."""


@dataclass(frozen=True)
class BCubed:
    """B-cubed precision, recall and their harmonic mean."""

    precision: float
    recall: float
    f: float


def b_cubed(prediction: LabelSets, gold: LabelSets) -> BCubed:
    """Compute B-cubed of usages that have one or several labels each.

    For two usages that share p predicted and g gold labels, the precision is min(p, g) / p, and the recall is
    min(p, g) / g. Both are averaged over all usages with which a usage shares a label, itself included, and then over
    the usages.

    Parameters
    ----------
    prediction, gold : sequence of collections of labels, of length n
        Only equality of labels within each of the two matters. No collection is empty.

    Returns
    -------
    BCubed
        All values are NaN without usages.

    Examples
    --------
    >>> b_cubed([{0}, {0}, {1}], [{"a"}, {"b"}, {"b"}])
    BCubed(precision=0.6666666666666666, recall=0.6666666666666666, f=0.6666666666666666)
    """
    from scipy.sparse import csr_array

    # Usages with the same labels have the same precision and recall, so that each combination is computed once.
    pairs = Counter(zip(map(frozenset, prediction), map(frozenset, gold), strict=True))
    if not pairs:
        return BCubed(float("nan"), float("nan"), float("nan"))
    counts = np.array(list(pairs.values()), float)  # (m,)
    shared = []
    for sets in zip(*pairs, strict=True):
        columns = {label: column for column, label in enumerate(dict.fromkeys(label for s in sets for label in s))}
        indices = [columns[label] for s in sets for label in s]
        bounds = np.cumsum([0, *map(len, sets)])
        has_label = csr_array((np.ones(len(indices)), indices, bounds), shape=(len(sets), len(columns)))
        shared.append((has_label @ has_label.T).tocsr())  # (m, m): number of common labels
    both = shared[0].minimum(shared[1])
    precision, recall = (float(_mean_ratio(both, total, counts) @ counts / counts.sum()) for total in shared)
    return BCubed(precision, recall, 2 * precision * recall / (precision + recall))


def _mean_ratio(part: Any, total: Any, counts: Floats) -> Floats:
    """Return the mean of part / total over the columns where the total is not 0, row by row.

    ``part`` and ``total`` are sparse, of shape (m, m); ``counts`` weights the columns.
    """
    ratios: Floats = (part.multiply(total.power(-1)) @ counts) / (total.sign() @ counts)
    return ratios


def adjusted_rand_index(prediction: Sequence[Hashable], gold: Sequence[Hashable]) -> float:
    """Compute the adjusted Rand index of two partitions: 1 if they are the same, 0 on average for random labels.

    As in scikit-learn, two identical partitions have the index 1, even if all usages have the same label, or all have
    different ones.

    Examples
    --------
    >>> adjusted_rand_index([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    >>> adjusted_rand_index([0, 0, 0, 0], ["a", "a", "b", "b"])
    0.0
    """
    table = _contingency(prediction, gold)
    n = int(table.sum())
    same_both = int((table**2).sum()) - n  # ordered pairs of usages with the same label in both
    same_gold = int((table.sum(axis=0) ** 2).sum()) - n
    same_predicted = int((table.sum(axis=1) ** 2).sum()) - n
    only_gold, only_predicted = same_gold - same_both, same_predicted - same_both
    if only_gold == only_predicted == 0:
        return 1.0
    same_neither = n * (n - 1) - same_both - only_gold - only_predicted
    numerator = 2 * (same_both * same_neither - only_gold * only_predicted)
    return numerator / (same_gold * (only_gold + same_neither) + same_predicted * (only_predicted + same_neither))


def purity(prediction: Sequence[Hashable], gold: Sequence[Hashable]) -> float:
    """Compute purity: the share of usages whose gold label is the most frequent one of their cluster.

    Examples
    --------
    >>> purity([0, 0, 0, 1], ["a", "a", "b", "b"])
    0.75
    """
    table = _contingency(prediction, gold)
    return float(table.max(axis=1).sum() / table.sum()) if table.size else float("nan")


def _contingency(prediction: Sequence[Hashable], gold: Sequence[Hashable]) -> Indices:
    """Return the number of usages with each predicted and each gold label: (predictions, gold labels)."""
    rows, columns = ({label: i for i, label in enumerate(dict.fromkeys(labels))} for labels in (prediction, gold))
    table = np.zeros((len(rows), len(columns)), np.intp)
    for a, b in zip(prediction, gold, strict=True):
        table[rows[a], columns[b]] += 1
    return table


def label_share_distance(old: LabelSets, new: LabelSets) -> float:
    """Compute the Jensen-Shannon distance (square root, base 2) of the shares of senses in two periods.

    A usage with k labels counts 1 / k for each. The result is 0 for equal shares, and 1 if no sense is in both periods.

    Parameters
    ----------
    old, new : sequence of collections of labels
        The labels of the usages in each period, which has at least one usage.

    Examples
    --------
    >>> label_share_distance([{0}, {0}], [{1}])
    1.0
    """
    labels = {label: i for i, label in enumerate(dict.fromkeys(x for period in (old, new) for s in period for x in s))}
    weights = np.zeros((2, len(labels)))
    for row, period in enumerate((old, new)):
        for usage_labels in period:
            for label in usage_labels:
                weights[row, labels[label]] += 1 / len(usage_labels)
    return round(jensen_shannon(*weights), 12)  # so that equal distances are ties


def gained_and_lost(
    old: Sequence[Hashable], new: Sequence[Hashable], at_most: int = 1, at_least: int = 5
) -> tuple[bool, bool]:
    """Return whether a word gained a sense and whether it lost one, by the rule of DWUG for its binary gold.

    A sense is gained if it has at most ``at_most`` usages in the old period and at least ``at_least`` in the new one;
    it is lost if these are exchanged.

    Examples
    --------
    >>> gained_and_lost([0] * 9, [0] * 4 + [1] * 5)
    (True, False)
    """
    counts = Counter(old), Counter(new)
    senses = set(old) | set(new)
    gained = any(counts[0][sense] <= at_most and counts[1][sense] >= at_least for sense in senses)
    lost = any(counts[1][sense] <= at_most and counts[0][sense] >= at_least for sense in senses)
    return gained, lost


def macro_f1(prediction: Sequence[Hashable], gold: Sequence[Hashable]) -> float:
    """Compute the mean of F1 over the labels that occur in either sequence.

    Examples
    --------
    >>> macro_f1(["a", "b", "c"], ["a", "b", "b"])  # F1 of a is 1, of b 2 / 3, of c 0
    0.5555555555555555
    """
    hits = Counter(a for a, b in zip(prediction, gold, strict=True) if a == b)
    counts = Counter(prediction) + Counter(gold)
    return float(np.mean([2 * hits[label] / n for label, n in counts.items()])) if counts else float("nan")


@dataclass(frozen=True)
class MeanDifference:
    """The mean over words of the difference between two systems, with its percentile bootstrap interval."""

    mean: float
    low: float
    high: float


def mean_difference(
    values: npt.ArrayLike, baseline: npt.ArrayLike, confidence: float = 0.95, seed: int = 0
) -> MeanDifference:
    """Compute the mean difference of a measure between two systems, and its bootstrap interval over the words.

    Parameters
    ----------
    values, baseline : array-like of shape (words,)
        The measure of each word for the system and for the baseline.
    confidence : float
    seed : int
        Seed of the resamples.

    Examples
    --------
    >>> mean_difference([0.5, 0.75], [0.25, 0.5])
    MeanDifference(mean=0.25, low=0.25, high=0.25)
    """
    differences = np.asarray(values, float) - np.asarray(baseline, float)
    if not len(differences):
        return MeanDifference(float("nan"), float("nan"), float("nan"))
    draws = np.random.default_rng(seed).integers(0, len(differences), (RESAMPLES, len(differences)))
    resampled = differences[draws].mean(axis=1)
    low, high = np.quantile(resampled, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return MeanDifference(float(differences.mean()), float(low), float(high))
