"""Graded change by senses: the Jensen-Shannon distance between the shares of senses in two periods.

The number of senses depends on a threshold, and so does the distance. The score is the mean over several thresholds,
from coarse senses to fine ones.
"""

from __future__ import annotations

import numpy as np

from lexshift.encode.adaptation import Calibration
from lexshift.senses.agglomerative import RESOLUTIONS, Agglomerative
from lexshift.senses.shares import jensen_shannon
from lexshift.utils.arrays import Indices, Matrix


def share_distance(old: Indices, new: Indices) -> float:
    """Return the Jensen-Shannon distance (square root, base 2) of the shares of senses in two periods, from 0 to 1.

    Parameters
    ----------
    old, new : ndarray of shape (n_old,) and (n_new,), int
        Number of the sense of each usage, from 0. Neither is empty.

    Examples
    --------
    >>> share_distance(np.array([0, 0, 1]), np.array([1, 0, 0])), share_distance(np.array([0, 0]), np.array([1]))
    (0.0, 1.0)
    """
    count = int(max(old.max(), new.max())) + 1
    return jensen_shannon(np.bincount(old, minlength=count), np.bincount(new, minlength=count))


def graded_change(
    old: Matrix, new: Matrix, calibration: Calibration, thresholds: tuple[float, ...] = RESOLUTIONS
) -> float:
    """Return the mean over thresholds of the distance between the shares of senses, from 0 to 1.

    Parameters
    ----------
    old, new : ndarray of shape (n_old, d) and (n_new, d)
        Vectors of the usages in each period, in the space of the calibration; neither is empty.
    calibration : Calibration
    thresholds : tuple of float
        Probabilities of a shared sense at which the tree of usages is cut.
    """
    labels = Agglomerative().cluster_at(np.concatenate([old, new]), calibration, thresholds)
    return float(np.mean([share_distance(row[: len(old)], row[len(old) :]) for row in labels]))


def change_over_periods(vectors: Matrix, periods: Indices, calibration: Calibration, min_usages: int = 1) -> float:
    """Return the graded change between the first and the last period that have enough usages.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        Vectors of the usages in all periods, in the space of the calibration.
    periods : ndarray of shape (n,), int
        The period of each usage, from 0.
    calibration : Calibration
    min_usages : int
        Least number of usages of the periods that are compared.

    Returns
    -------
    float
        From 0 to 1; NaN if fewer than two periods have enough usages.
    """
    enough = np.flatnonzero(np.bincount(periods) >= max(min_usages, 1))
    if len(enough) < 2:
        return float("nan")
    return graded_change(vectors[periods == enough[0]], vectors[periods == enough[-1]], calibration)
