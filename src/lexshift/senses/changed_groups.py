"""Divide the senses whose composition changed: what arrives or leaves within a sense becomes a sense of its own.

Stable senses are coarse: a new meaning that resembles an old one belongs to the same sense. The usages of each sense
are therefore divided again, into groups at a higher threshold. Many of these groups are only parts of a meaning, so the
periods decide. The share of each group within its sense is tested if the group is stable, that is, found again in
samples of the usages. Neither the groups nor their stability depend on the periods, so that the test is valid. The
groups whose share rose are one part of the sense, and those whose share fell are the other one. Each group without a
change, which may be unstable, belongs to the more similar part. If all changes have the same direction, the groups
without a change are the other part. A sense without changed groups stays whole, and so does one of whose two parts
one has no stable group: in samples, that part is not found again, and a group with most of the usages is stable merely
because of its size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lexshift.encode.adaptation import Calibration
from lexshift.senses.clustering import Clustering
from lexshift.senses.partition import dissolve, number_by_size
from lexshift.senses.shares import GAINED, GREW, KEPT, Shares, adjust_p, name_changes, sense_shares
from lexshift.senses.similarity import cosines
from lexshift.senses.stability import find_stable
from lexshift.utils.arrays import Array, Floats, Indices, Matrix


@dataclass(frozen=True, eq=False)
class SenseGroups:
    """The groups of the usages of a sense.

    Attributes
    ----------
    rows : ndarray of shape (m,), int
        The usages of the sense: positions among the usages of the word.
    groups : ndarray of shape (m,), int
        The group of each of them, from 0.
    shares : Shares
        Shares of the groups among the usages of the sense, with the test of each group.
    stability : ndarray of shape (k,)
        How well each group is found again in random samples of the usages of the sense, from 0 to 1, or NaN.
    is_stable : ndarray of shape (k,), bool
        The groups that are tested, unless they have too few usages.
    """

    rows: Indices
    groups: Indices
    shares: Shares
    stability: Floats
    is_stable: Array


@dataclass(frozen=True, eq=False)
class DividedSenses:
    """The senses of a word after those with changed groups have been divided.

    Attributes
    ----------
    labels : ndarray of shape (n,), int
        The sense of each usage, from 0 for the one with the most usages.
    origin : ndarray of shape (K,), int
        The sense before the division to which each sense belonged.
    q : ndarray of shape (K,)
        The largest q of the changed groups because of which a sense was divided; 0 for senses that were not divided.
    stability : ndarray of shape (K,)
        The smallest stability of the stable groups in a part of a divided sense; NaN for senses that were not divided.
    """

    labels: Indices
    origin: Indices
    q: Floats
    stability: Floats

    @property
    def is_part(self) -> Array:
        """True for each sense that is part of a divided one, (K,)."""
        return np.bincount(self.origin)[self.origin] > 1


def find_groups(
    vectors: Matrix,
    labels: Indices,
    periods: Indices,
    n_periods: int,
    clustering: Clustering,
    calibration: Calibration,
    documents: Array | None = None,
    permutations: int = 10_000,
    seed: int = 0,
) -> list[SenseGroups]:
    """Divide the usages of each sense of a word into groups, and test the share of each group within its sense.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        Vectors of the usages of the word, in the space of the calibration.
    labels, periods : ndarray of shape (n,), int
        The sense and the period of each usage, from 0.
    n_periods : int
    clustering : Clustering
        The rule that divides a sense; its threshold is higher than the one with which senses are found. If it is a
        :class:`~lexshift.senses.stability.StableClustering`, only stable groups are tested, otherwise all of them.
    calibration : Calibration
    documents : ndarray of shape (n,), optional
        The document of each usage.
    permutations, seed : int
        Number of permutations of the tests, and the seed; see :func:`~lexshift.senses.shares.sense_shares`.

    Returns
    -------
    list of SenseGroups
        Without the senses that are a single group.
    """
    sense_groups = []
    for sense in range(int(labels.max()) + 1):
        rows = np.flatnonzero(labels == sense)
        groups, stability, is_stable = find_stable(clustering, vectors[rows], calibration, seed)
        if groups.max() > 0:
            own = None if documents is None else documents[rows]
            shares = sense_shares(groups, periods[rows], n_periods, own, permutations, seed=seed)
            sense_groups.append(SenseGroups(rows, groups, shares, stability, is_stable))
    return sense_groups


def divide_changed_senses(
    labels: Mapping[str, Indices],
    groups: Mapping[str, Sequence[SenseGroups]],
    vectors: Callable[[str], Matrix],
    alpha: float = 0.05,
    selected_share: float = 1.0,
) -> dict[str, DividedSenses]:
    """Divide the senses that have changed groups; the false discovery rate is controlled over the groups of all words.

    Parameters
    ----------
    labels : mapping of str to ndarray of shape (n,), int
        The sense of each usage of each word, from 0.
    groups : mapping of str to sequence of SenseGroups
        From :func:`find_groups`, for each word.
    vectors : callable
        Returns the vectors of a word, (n, d). It is called for words with changed groups only.
    alpha : float
        False discovery rate.
    selected_share : float
        See :func:`~lexshift.senses.shares.adjust_p`.

    Returns
    -------
    dict of str to DividedSenses
    """
    by_sense = {(word, i): sense for word, senses in groups.items() for i, sense in enumerate(senses)}
    q = adjust_p(
        {key: sense.shares for key, sense in by_sense.items()},
        {key: sense.is_stable for key, sense in by_sense.items()},
        selected_share,
    )
    divided = {}
    for word, before in labels.items():
        parts, part_q, origin = before.copy(), np.zeros(before.max() + 1).tolist(), list(range(before.max() + 1))
        stability = [np.nan] * len(origin)
        for i, sense in enumerate(groups[word]):
            changes = np.array(name_changes(sense.shares, q[word, i], alpha))
            if (changes == KEPT).all():
                continue
            is_second = join_groups(vectors(word)[sense.rows], sense.groups, changes) == 1
            stable = [np.unique(sense.groups[part & sense.is_stable[sense.groups]]) for part in (~is_second, is_second)]
            if all(map(len, stable)):
                first = before[sense.rows[0]]
                parts[sense.rows[is_second]] = len(origin)
                part_q[first] = q[word, i][changes != KEPT].max()
                part_q.append(part_q[first])
                stability[first], second = (sense.stability[groups].min() for groups in stable)
                stability.append(second)
                origin.append(first)
        numbered = number_by_size(parts)
        old_numbers = parts[np.unique(numbered, return_index=True)[1]]  # (K,)
        divided[word] = DividedSenses(
            numbered, *(np.array(values)[old_numbers] for values in (origin, part_q, stability))
        )
    return divided


def join_groups(vectors: Matrix, groups: Indices, changes: Array) -> Indices:
    """Return the part of the sense to which each usage belongs, (m,): 0 for the larger part, 1 for the other one.

    Parameters
    ----------
    vectors : ndarray of shape (m, d)
        Vectors of the usages of a sense.
    groups : ndarray of shape (m,), int
        The group of each usage, from 0.
    changes : ndarray of shape (k,), str
        The change of each group. At least one is not "kept".
    """
    is_rising, is_kept = np.isin(changes, (GAINED, GREW)), changes == KEPT
    if (is_rising | is_kept).all() or not is_rising.any():
        return number_by_size(is_kept[groups])
    side = np.where(is_kept, 2 + np.arange(len(changes)), is_rising)  # 1 rises, 0 falls, 2 and more are kept
    values, labels = np.unique(side[groups], return_inverse=True)
    return dissolve(cosines(vectors), labels, values > 1)
