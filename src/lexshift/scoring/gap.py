"""The gap: how much less likely two usages are to share a sense if they come from different periods.

With P(x, y) the probability that two usages share a sense, which an encoder's calibration gives for the cosine of their
vectors, and all pairs of different usages::

    gap  =  1/2 (mean P within the old usages  +  mean P within the new usages)  -  mean P across

It is half of an energy distance with the distance 1 - P. A gap of 0.34 means that a usage of the old and one of the new
period are 34 percentage points less likely to share a sense than two usages of one period. The expected gap is 0 if
the two periods do not differ; an estimate may be negative. For an encoder without a calibration the cosine takes the
place of P, and the gap has no unit.

The interval is estimated from half-samples: half of the documents of each period (half of its usages, if documents are
not known) is drawn at random without replacement. The gap of half the sample varies about the gap of the whole sample
as the latter does about the true value.

The smallest change that the usages could have shown is estimated from random divisions of all usages into two periods:
with c the value that is exceeded by a share of alpha of them and s their standard deviation, a gap of c + 0.84 s is
found in 80 of 100 samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lexshift.encode.adaptation import Calibration
from lexshift.scoring.distance.nearest import unit_rows
from lexshift.scoring.permutation import Documents
from lexshift.utils.arrays import Array, Floats, Matrix
from lexshift.utils.seeds import generator

RESAMPLES = 200
"""Number of half-samples, and of random divisions, of each word."""
MIN_HALVED = 4
"""Minimum number of usages, or of documents, of which halves are drawn."""
_POWER = 0.8416  # quantile of the normal distribution at 0.8


@dataclass(frozen=True)
class Gap:
    """The gap of a word.

    Attributes
    ----------
    value : float
    low, high : float
        Limits of its 95 % interval.
    detectable : float
        The smallest gap that would have been found with a probability of 0.8.
    """

    value: float
    low: float
    high: float
    detectable: float


def similarities(old: Matrix, new: Matrix, calibration: Calibration | None) -> Floats:
    """Return the probability that two usages share a sense, or without a calibration their cosine.

    Parameters
    ----------
    old, new : ndarray of shape (n_old, d) and (n_new, d)
    calibration : Calibration, optional

    Returns
    -------
    ndarray of shape (n_old + n_new, n_old + n_new)
        The diagonal is 0.
    """
    unit = np.concatenate([unit_rows(old, "old", True), unit_rows(new, "new", True)])
    values = np.asarray(unit @ unit.T, float)
    if calibration is not None:
        values = calibration.probability(values)
    np.fill_diagonal(values, 0)
    return values


def gaps(values: Floats, sides: Array) -> Floats:
    """Compute the gap for several divisions of usages into two periods.

    Parameters
    ----------
    values : ndarray of shape (n, n)
        Similarities of the usages, with 0 on the diagonal.
    sides : ndarray of shape (b, n)
        1 for usages of the old period, -1 for those of the new one, 0 for usages that are left out. Both periods have
        at least two usages.

    Returns
    -------
    ndarray of shape (b,)
    """
    old, new = (sides > 0).astype(float), (sides < 0).astype(float)  # (b, n)
    n_old, n_new = old.sum(axis=1), new.sum(axis=1)
    from_old = old @ values  # (b, n)
    within_old = (from_old * old).sum(axis=1) / (n_old * (n_old - 1))
    across = (from_old * new).sum(axis=1) / (n_old * n_new)
    within_new = ((new @ values) * new).sum(axis=1) / (n_new * (n_new - 1))
    result: Floats = (within_old + within_new) / 2 - across
    return result


def gap(old: Matrix, new: Matrix, calibration: Calibration | None = None) -> float:
    """Compute the gap between two sets of usages.

    Parameters
    ----------
    old, new : ndarray of shape (n_old, d) and (n_new, d)
        At least two rows each.
    calibration : Calibration, optional

    Examples
    --------
    >>> import numpy as np
    >>> gap(np.array([[1.0, 0.0]] * 3), np.array([[0.0, 1.0]] * 2))
    1.0
    """
    sides = np.repeat([1, -1], [len(old), len(new)])[None]
    return float(gaps(similarities(old, new, calibration), sides)[0])


def estimate_gap(
    old: Matrix,
    new: Matrix,
    calibration: Calibration | None = None,
    documents: tuple[Documents, Documents] | None = None,
    alpha: float = 0.05,
    resamples: int = RESAMPLES,
    seed: int = 0,
    word: str = "",
) -> Gap:
    """Compute the gap between two sets of usages, its interval, and the smallest gap that they could have shown.

    Parameters
    ----------
    old, new : ndarray of shape (n_old, d) and (n_new, d)
        At least two rows each; with fewer than four the interval has the limits -1 and 1.
    calibration : Calibration, optional
        Without it, cosines are used in place of probabilities.
    documents : (sequence, sequence), optional
        The document of each usage. Usages of one document stay together when samples are drawn, unless a period has
        fewer than four documents.
    alpha : float
        Significance level of the smallest gap.
    resamples : int
    seed, word
        As for :class:`lexshift.SSCD`.
    """
    values = similarities(old, new, calibration)
    n_old, n_new = len(old), len(new)
    sides = np.repeat(np.array([1, -1], np.int8), [n_old, n_new])
    value = float(gaps(values, sides[None])[0])
    if min(n_old, n_new) < MIN_HALVED:
        return Gap(value, -1.0, 1.0, 1.0)
    rng = generator(seed, "gap", word)
    units = [np.arange(n_old), np.arange(n_new)]
    if documents is not None:
        numbered = [np.unique(np.asarray(names, object).astype(str), return_inverse=True)[1] for names in documents]
        if all(number.max() >= MIN_HALVED - 1 for number in numbered):
            units = numbered
    halves = np.concatenate([draw_halves(unit, resamples, rng) for unit in units], axis=1) * sides
    sampled = gaps(values, halves)
    low, high = 2 * value - np.quantile(sampled, [0.975, 0.025])
    divided = gaps(values, rng.permuted(np.broadcast_to(sides, (resamples, n_old + n_new)), axis=1))
    detectable = float(np.quantile(divided, 1 - alpha) + _POWER * divided.std())
    return Gap(value, float(min(low, value)), float(max(high, value)), detectable)


def draw_halves(units: Array, size: int, rng: np.random.Generator) -> Array:
    """Draw half of the units at random, again and again.

    Parameters
    ----------
    units : ndarray of shape (n,), int
        The unit of each usage, from 0, such as its document; at least four usages.
    size : int
    rng : Generator

    Returns
    -------
    ndarray of shape (size, n) of int8
        1 for the usages of the half. Every half has at least two usages and leaves out at least two, so that it can be
        compared with the other half.
    """
    n, count = len(units), int(units.max()) + 1
    chosen = np.zeros((size, n), np.int8)
    for row in chosen:
        order = rng.permutation(count)
        while True:
            row[:] = np.isin(units, order[: count // 2])
            if 2 <= row.sum() <= n - 2:
                break
            units, count = np.arange(n), n  # one document has nearly all usages: halves of the usages are drawn
            order = rng.permutation(count)
    return chosen
