"""The difference of differences: how much more a word changed in one group of texts than in another.

With gap(g) the gap between the two periods among the usages of group g (see :mod:`lexshift.scoring.gap`)::

    difference  =  gap(first group)  -  gap(second group)

The test exchanges the groups of the documents of each period at random, so that every period keeps its number of
documents of each group; p is the share of these assignments whose difference is, in absolute value, at least the
observed one. Without at least six documents in each period and group, the groups of usages are exchanged. The null
hypothesis is that the usage of the word in a period does not depend on the group. If the groups differ, but in the same
way in both periods, the exchanged groups are more diverse than the original ones, which makes the test conservative.

The interval is estimated from half-samples of the documents of each period and group, as for the gap itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lexshift.scoring.gap import MIN_HALVED, RESAMPLES, draw_halves, gaps
from lexshift.scoring.permutation import DOCUMENTS, MIN_DOCUMENTS, USAGES
from lexshift.utils.arrays import Array, Floats, Indices
from lexshift.utils.seeds import generator

STAGES = ((1_000, 0.05), (10_000, 0.0))
"""Total number of permutations of each stage, and the p above which no more are drawn."""
_BATCH = 500  # permutations at a time


@dataclass(frozen=True)
class GroupDifference:
    """The difference between the gaps of two groups.

    Attributes
    ----------
    value : float
        Gap of the first group minus that of the second one.
    low, high : float
        Limits of its 95 % interval.
    p : float
        p-value of the permutation test, two-sided.
    permutations : int
        Number of permutations that were drawn.
    unit : "documents" or "usages"
        What was exchanged between the groups.
    """

    value: float
    low: float
    high: float
    p: float
    permutations: int
    unit: str


def group_differences(values: Floats, sides: Array, groups: Array) -> Floats:
    """Compute the difference of the gaps of two groups, for several assignments of usages to periods and groups.

    Parameters
    ----------
    values : ndarray of shape (n, n)
        Similarities of the usages, with 0 on the diagonal.
    sides : ndarray of shape (b, n)
        1 for usages of the old period, -1 for those of the new one, 0 for usages that are left out.
    groups : ndarray of shape (b, n), bool
        True for usages of the first group. Each group has at least two usages in each period.

    Returns
    -------
    ndarray of shape (b,)
    """
    return gaps(values, sides * groups) - gaps(values, sides * ~groups)


def estimate_difference(
    values: Floats,
    is_new: Array,
    is_first: Array,
    documents: Indices | None = None,
    seed: int = 0,
    word: str = "",
) -> GroupDifference:
    """Compute the difference between the gaps of two groups, its interval, and its p-value.

    Parameters
    ----------
    values : ndarray of shape (n, n)
        Similarities of the usages, with 0 on the diagonal; see :func:`lexshift.scoring.gap.similarities`.
    is_new, is_first : ndarray of shape (n,), bool
        Whether a usage belongs to the new period, and to the first group. Each group has at least four usages in each
        period.
    documents : ndarray of shape (n,), int, optional
        The document of each usage. Usages of a document, a period and a group stay together.
    seed, word
        As for :class:`lexshift.SSCD`.
    """
    sides = np.where(is_new, -1, 1).astype(np.int8)
    cells = 2 * is_new.astype(int) + is_first  # the four combinations of period and group
    if np.bincount(cells, minlength=4).min() < MIN_HALVED:
        raise ValueError(f"each group must have at least {MIN_HALVED} usages in each period")
    value = float(group_differences(values, sides[None], is_first[None])[0])
    unit, units = _number_units(cells, documents)
    rng = generator(seed, "groups", word)
    exceeding = drawn = 0
    for total, p_above in STAGES:
        while drawn < total:
            exchanged = exchange_groups(units, is_new, is_first, min(_BATCH, total - drawn), rng)
            differences = np.abs(group_differences(values, np.broadcast_to(sides, exchanged.shape), exchanged))
            exceeding += int((differences >= abs(value) * (1 - 1e-9)).sum())
            drawn += len(exchanged)
        p = (1 + exceeding) / (1 + drawn)
        if p > p_above:
            break
    low, high = _interval(values, sides, is_first, cells, units, value, rng)
    return GroupDifference(value, low, high, p, drawn, unit)


def _number_units(cells: Indices, documents: Indices | None) -> tuple[str, Indices]:
    """Return what is exchanged, and the number of the unit of each usage; no unit is in two cells."""
    if documents is not None:
        named = np.unique(np.stack([cells, documents]), axis=1, return_inverse=True)[1].reshape(-1)
        counts = [len(np.unique(named[cells == cell])) for cell in range(4)]
        if min(counts) >= MIN_DOCUMENTS:
            return DOCUMENTS, named
    return USAGES, np.arange(len(cells))


def exchange_groups(units: Indices, is_new: Array, is_first: Array, size: int, rng: np.random.Generator) -> Array:
    """Exchange the groups of the units of each period at random, again and again.

    Parameters
    ----------
    units : ndarray of shape (n,), int
        The unit of each usage; the usages of a unit are of the same period and group.
    is_new, is_first : ndarray of shape (n,), bool
    size : int
        Number of random assignments.
    rng : Generator

    Returns
    -------
    ndarray of shape (size, n), bool
        Whether each usage belongs to the first group.
    """
    groups = np.empty((size, len(units)), bool)
    for period in (~is_new, is_new):
        _, first_usages, of_usages = np.unique(units[period], return_index=True, return_inverse=True)
        of_units = is_first[period][first_usages]  # (n_units,)
        groups[:, period] = rng.permuted(np.broadcast_to(of_units, (size, len(of_units))), axis=1)[:, of_usages]
    return groups


def _interval(
    values: Floats,
    sides: Array,
    is_first: Array,
    cells: Indices,
    units: Indices,
    value: float,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Return the limits of the 95 % interval."""
    chosen = np.zeros((RESAMPLES, len(sides)), np.int8)
    for cell in range(4):
        members = cells == cell
        chosen[:, members] = draw_halves(np.unique(units[members], return_inverse=True)[1], RESAMPLES, rng)
    sampled = group_differences(values, chosen * sides, np.broadcast_to(is_first, chosen.shape))
    low, high = 2 * value - np.quantile(sampled, [0.975, 0.025])
    return float(min(low, value)), float(max(high, value))
