"""Distances between two sets of vectors from their definitions, to compare fast code with them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats
from scipy.spatial import distance

from lexshift.scoring.gaussian import VARIANCE_FLOOR
from lexshift.utils.arrays import Matrix


def slow_kl(x: Matrix, y: Matrix) -> float:
    """Compute the divergence of the Gaussians of two sets, whose variances have a lower limit."""
    floor = VARIANCE_FLOOR * np.concatenate([x, y]).var(axis=0, ddof=1)
    v1, v2 = np.maximum(x.var(axis=0, ddof=1), floor), np.maximum(y.var(axis=0, ddof=1), floor)
    shift = y.mean(axis=0) - x.mean(axis=0)
    return float(0.5 * (v1 / v2 - 1 - np.log(v1 / v2) + shift**2 / v2).sum())


def slow_cityblock(x: Matrix, y: Matrix) -> float:
    """Compute the expected city block distance between draws from the Gaussians of two sets."""
    spread = np.sqrt(x.var(axis=0, ddof=1) + y.var(axis=0, ddof=1))
    shift = abs(y.mean(axis=0) - x.mean(axis=0))
    return float(stats.foldnorm.mean(shift / spread, scale=spread).sum())


def slow_energy(x: Matrix, y: Matrix) -> float:
    """Compute the energy distance of vectors of length 1."""
    x, y = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (x, y))
    within = sum(distance.pdist(rows).mean() for rows in (x, y) if len(rows) > 1)
    return float(2 * distance.cdist(x, y).mean() - within)


SLOW: dict[str, Callable[[Matrix, Matrix], float]] = {
    "cosine": lambda x, y: float(distance.cosine(x.mean(axis=0), y.mean(axis=0))),
    "euclidean": lambda x, y: float(distance.euclidean(x.mean(axis=0), y.mean(axis=0))),
    "kl": slow_kl,
    "jeffreys": lambda x, y: (slow_kl(x, y) + slow_kl(y, x)) / 2,
    "apd": lambda x, y: float(distance.cdist(x, y, "cosine").mean()),
    "energy": slow_energy,
    "dscd-cityblock": slow_cityblock,
}
