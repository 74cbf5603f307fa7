"""Reproduce the published SSCD code digit for digit, for comparisons with its results only.

Its results depend on details in which it differs from :mod:`lexshift.scoring.sscd`:

* the swap count is rounded in floating point, ``round(min(n_old, n_new) * rate)``, and with corpus sizes
  ``round(min(n_old, n_new * size_old / size_new) * rate)``;
* a repetition is one of 20 seeds, from which both Python's and numpy's generators start, Python's drawing the swapped
  occurrences of the old set and then those of the new one;
* variances have no floor;
* DSCD draws 1,000 vectors from each Gaussian and averages the distances of the **paired** rows, not of all pairs,
  drawing new vectors for each distance in the order of ``DSCD_ORDER``, so each value depends on those before it.

A ValueError is raised where the published code fails: for a normalised swap count larger than a set.

=====================  =====================
published name         metric here
=====================  =====================
``kl_c1_c2``           ``kl``
``kl_c2_c1``           ``kl-reverse``
``jeff``               ``jeffreys``
``l2_mean``            ``euclidean``
``<distance>_mean``    ``<distance>``
``l2_mean_cov``        ``dscd-euclidean``
``<distance>_mean_cov``  ``dscd-<distance>``
=====================  =====================

>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> old, new = rng.normal(size=(30, 8)), rng.normal(size=(40, 8)) + 1
>>> scores = [abs(e_original(old, new, "kl") - e_swap(old, new, "kl", 0.4, seed)) for seed in SEEDS]
>>> len(scores)
20
"""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt

from lexshift.utils import checks
from lexshift.utils.arrays import Floats, Indices

SEEDS = (
    *(1, 19, 304, 1527, 12345, 121467, 293011, 1036694, 3977767, 7634694, 4101133, 11447289, 28233559, 40732683),
    *(89869379, 234990455, 460513751, 674181274, 1965657259, 3383725953),
)
"""The seeds of the 20 repetitions."""

DSCD_ORDER = ("euclidean", "braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine")
_DIVERGENCES = ("kl", "kl-reverse", "jeffreys")
METRICS = (*_DIVERGENCES, *DSCD_ORDER, *(f"dscd-{distance}" for distance in DSCD_ORDER))
DSCD_SAMPLES = 1000


def e_original(old: npt.ArrayLike, new: npt.ArrayLike, metric: str, seed: int = 7) -> float:
    """Compute the distance before swapping.

    ``seed`` is the seed of numpy's generator just before the first DSCD distance is drawn.
    """
    D1, D2 = _check_pair(old, new)
    return _compute_distance(D1, D2, metric, np.random.RandomState(_check_seed(seed)))


def e_swap(
    old: npt.ArrayLike,
    new: npt.ArrayLike,
    metric: str,
    rate: float,
    seed: int,
    strategy: str = "random",
    corpus_sizes: tuple[int, int] | None = None,
) -> float:
    """Compute the distance after swapping, in the repetition with this seed.

    With the distance strategy, the seed affects DSCD only.
    """
    D1, D2 = _check_pair(old, new)
    checks.fraction(rate)
    checks.sizes(corpus_sizes)
    _check_seed(seed)
    n = swap_count(len(D1), len(D2), rate, corpus_sizes)
    if n > min(len(D1), len(D2)):
        raise ValueError(
            f"the published code fails here: corpus_sizes {corpus_sizes} and rate {rate} ask to swap {n} occurrences, "
            f"and there are {len(D1)} and {len(D2)}; lexshift.SSCD swaps no more than there are"
        )
    if checks.choice(strategy, "strategy", ("random", "distance")) == "random":
        draw = random.Random(seed)
        s1, s2 = np.array(draw.sample(range(len(D1)), n), int), np.array(draw.sample(range(len(D2)), n), int)
    else:
        s1, s2 = _farthest_rows(D1, D2, n), _farthest_rows(D2, D1, n)
    D1_swap = np.concatenate([np.delete(D1, s1, axis=0), D2[s2]])
    D2_swap = np.concatenate([np.delete(D2, s2, axis=0), D1[s1]])
    return _compute_distance(D1_swap, D2_swap, metric, np.random.RandomState(seed))


def swap_count(n_old: int, n_new: int, rate: float, corpus_sizes: tuple[int, int] | None = None) -> int:
    """Compute the number of occurrences to swap, rounded in floating point."""
    if corpus_sizes is None:
        return round(min(n_old, n_new) * rate)
    size_old, size_new = corpus_sizes
    return round(min(n_old, n_new * size_old / size_new) * rate)


def _check_seed(seed: int) -> int:
    if checks.seed(seed) >= 2**32:
        raise ValueError(f"seed must be below 2**32, the limit of numpy's generator; got {seed!r}")
    return seed


def _farthest_rows(rows: Floats, opposite: Floats, n: int) -> Indices:
    distances = np.linalg.norm(rows - opposite.mean(axis=0), axis=1)
    return np.argsort(-distances, kind="stable")[:n]


def _check_pair(old: npt.ArrayLike, new: npt.ArrayLike) -> tuple[Floats, Floats]:
    D1, D2 = checks.pair(old, new)
    for rows, name in ((D1, "old"), (D2, "new")):
        if not np.isfinite(rows).all():
            checks.finite(rows, name)
    return D1.astype(float), D2.astype(float)


def _compute_distance(D1: Floats, D2: Floats, metric: str, rng: np.random.RandomState) -> float:
    checks.choice(metric, "metric", METRICS)
    m1, m2, v1, v2 = D1.mean(axis=0), D2.mean(axis=0), D1.var(axis=0, ddof=1), D2.var(axis=0, ddof=1)
    if metric == "kl":
        value = _kl_divergence(m1, v1, m2, v2)
    elif metric == "kl-reverse":
        value = _kl_divergence(m2, v2, m1, v1)
    elif metric == "jeffreys":
        value = 0.5 * (_kl_divergence(m1, v1, m2, v2) + _kl_divergence(m2, v2, m1, v1))
    elif metric in DSCD_ORDER:
        value = float(_row_distances(m1[None], m2[None], metric)[0])
    else:
        value = _compute_dscd(m1, v1, m2, v2, metric.removeprefix("dscd-"), rng)
    if not np.isfinite(value):
        raise ValueError(
            f"the published code fails here: {metric} is {value}, because a dimension has zero variance or a mean is "
            f"zero; lexshift.SSCD has a variance floor"
        )
    return float(value)


def _kl_divergence(m1: Floats, v1: Floats, m2: Floats, v2: Floats) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(0.5 * np.sum(v1 / v2 - 1 - np.log(v1 / v2) + (m2 - m1) ** 2 / v2))


def _compute_dscd(m1: Floats, v1: Floats, m2: Floats, v2: Floats, distance: str, rng: np.random.RandomState) -> float:
    for name in DSCD_ORDER:  # every earlier distance has advanced the random stream
        x, y = _draw_normal(m1, v1, rng), _draw_normal(m2, v2, rng)
        if name == distance:
            break
    return float(_row_distances(x, y, distance).mean())


def _draw_normal(mean: Floats, variance: Floats, rng: np.random.RandomState) -> Floats:
    """Draw as ``rng.multivariate_normal(mean, diag(variance), n)`` does: its SVD only sorts variances that differ."""
    if len(np.unique(variance)) < len(variance):
        return rng.multivariate_normal(mean, np.diag(variance), DSCD_SAMPLES)
    z = rng.standard_normal((DSCD_SAMPLES, len(mean)))
    order = np.argsort(-variance, kind="stable")
    x = np.empty_like(z)
    x[:, order] = z * np.sqrt(variance[order])
    return x + mean


def _row_distances(x: Floats, y: Floats, distance: str) -> Floats:
    """Compute the distance between row i of x and row i of y as scipy defines it: (n,)."""
    difference = np.abs(x - y)
    with np.errstate(divide="ignore", invalid="ignore"):
        if distance == "braycurtis":
            return difference.sum(axis=1) / np.abs(x + y).sum(axis=1)
        if distance == "canberra":
            return np.nan_to_num(difference / (np.abs(x) + np.abs(y))).sum(axis=1)
        if distance == "chebyshev":
            return difference.max(axis=1)
        if distance == "cityblock":
            return difference.sum(axis=1)
        if distance == "euclidean":
            return np.linalg.norm(x - y, axis=1)
        if distance == "correlation":
            x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
        cos = np.einsum("ij,ij->i", x, y) / (np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1))
        return 1.0 - cos
