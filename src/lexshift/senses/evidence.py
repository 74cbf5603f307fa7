"""Rank usages by how typical they are of a corpus or of its change, and project all of them on a plane."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lexshift.scoring.space import principal_axes
from lexshift.senses.similarity import unit_rows
from lexshift.senses.usage_shift import usage_shift
from lexshift.utils.arrays import Floats, Matrix


@dataclass(frozen=True, eq=False)
class Plane:
    """Usages in two dimensions: the principal components of both corpora together.

    Attributes
    ----------
    old, new : ndarray of shape (n_old, 2) and (n_new, 2)
    explained : ndarray of shape (2,)
        The share of the total variance that each axis explains.
    """

    old: Floats
    new: Floats
    explained: Floats


def leanings(old: Matrix, new: Matrix) -> tuple[Floats, Floats]:
    """Compute how much nearer each usage is to the other usages of the new corpus than to those of the old one.

    The value is the mean cosine similarity with the usages of the new corpus minus that with the usages of the old
    corpus, without the usage itself. Positive values are closer to the new use, negative ones to the old use.

    Parameters
    ----------
    old, new : ndarray of shape (n_old, d) and (n_new, d), any float dtype
        Vectors of the usages in each corpus.

    Returns
    -------
    leaning_old, leaning_new : ndarray of shape (n_old,) and (n_new,), float64
        Differences of mean cosine similarities, from -2 to 2.
    """
    unit_old, unit_new = unit_rows(old), unit_rows(new)  # (n, d)
    sum_old, sum_new = unit_old.sum(axis=0), unit_new.sum(axis=0)  # (d,)
    own_old, own_new = ((unit**2).sum(axis=1) for unit in (unit_old, unit_new))  # 1, or 0 for a zero vector
    others_old, others_new = max(len(old) - 1, 1), max(len(new) - 1, 1)
    return (
        unit_old @ sum_new / len(new) - (unit_old @ sum_old - own_old) / others_old,
        (unit_new @ sum_new - own_new) / others_new - unit_new @ sum_old / len(old),
    )


def shift(old: Matrix, new: Matrix) -> tuple[Floats, Floats]:
    """Compute how strongly each usage belongs to what is leaving or arriving.

    This is the sense usage shift by unbalanced optimal transport with cosine distances: the share of a usage that finds
    no partner in the other corpus, negative in the old and positive in the new corpus. Compare values within a corpus
    only: a usage without counterparts is extreme in either corpus.

    Parameters
    ----------
    old, new : ndarray of shape (n_old, d) and (n_new, d), any float dtype
        Vectors of the usages in each corpus.

    Returns
    -------
    shift_old, shift_new : ndarray of shape (n_old,) and (n_new,), float64
        At least -1 in the old and at most 1 in the new corpus; 0 if a corpus has no usages.

    See Also
    --------
    lexshift.senses.usage_shift : The definition and the solver.

    Notes
    -----
    Reports order usages by :func:`leanings`. Within a period, the shift orders the human-judged usages of DWUG English
    better than leanings, but usages with planted changes of sense-labelled text not better or less well
    (``benchmarks/usage_evidence.py``).
    """
    if not len(old) or not len(new):
        return np.zeros(len(old)), np.zeros(len(new))
    return usage_shift(np.maximum(1 - unit_rows(old) @ unit_rows(new).T, 0))  # rounding can make a distance negative


def typicality(rows: Matrix) -> Floats:
    """Return the mean cosine similarity of each usage with the other usages of its period; 0 for a single one.

    Parameters
    ----------
    rows : ndarray of shape (n, d), any float dtype
        Vectors of the usages of one period.

    Returns
    -------
    ndarray of shape (n,), float64
    """
    unit = unit_rows(rows)
    return (unit @ unit.sum(axis=0) - (unit**2).sum(axis=1)) / max(len(rows) - 1, 1)


def plane(old: Matrix, new: Matrix) -> Plane:
    """Project the usages of both corpora on their first two principal components, with equal weight for each corpus.

    Both axes point from the old corpus to the new one.

    Parameters
    ----------
    old, new : ndarray of shape (n_old, d) and (n_new, d), any float dtype
        Vectors of the usages in each corpus; neither is empty.

    Returns
    -------
    Plane
        Coordinates of shape (n_old, 2) and (n_new, 2), float64, and the explained share of variance of each axis.
    """
    middle = (old.mean(axis=0, dtype=float) + new.mean(axis=0, dtype=float)) / 2  # (d,)
    a, b = old - middle, new - middle
    rows = np.concatenate([side / np.sqrt(2 * len(side)) for side in (a, b)])  # (n, d): rows.T @ rows is the covariance
    values, axes = principal_axes(rows, 2)
    values, vectors = np.pad(values, (0, 2 - len(values))), np.pad(axes, ((0, 0), (0, 2 - len(values))))
    towards_new = (b.mean(axis=0) - a.mean(axis=0)) @ vectors
    vectors = vectors * np.where(towards_new < 0, -1.0, 1.0)
    total = (rows**2).sum()
    shares = values / total if total > 0 else np.zeros(2)
    return Plane(a @ vectors, b @ vectors, shares)
