"""The answers of the published SSCD code, number for number: to compare with its results, not for use.

It differs from :mod:`lexshift.scoring.sscd` in ways that its results depend on. Here as there:

* the swap count is rounded in floating point, ``round(min(n_old, n_new) * rate)``, and with corpus sizes
  ``round(min(n_old, n_new * size_old / size_new) * rate)``;
* a repetition is one of 20 seeds, from which both Python's and numpy's generators start, Python's drawing the swapped
  occurrences of the old set and then those of the new one;
* variances have no floor;
* DSCD draws 1,000 vectors from each Gaussian and averages the distances of the **paired** rows, not of all pairs,
  drawing anew for each distance in the order of ``DSCD_ORDER``; so the value of one depends on those before it.

Where the published code fails (a normalised swap count beyond what a set holds) a ValueError says so.

=====================  =====================
name there             metric here
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

    ``seed`` is what numpy starts from just before the first DSCD distance is drawn.
    """
    D1, D2 = _pair(old, new)
    return _distance(D1, D2, metric, np.random.RandomState(_seed(seed)))


def e_swap(
    old: npt.ArrayLike,
    new: npt.ArrayLike,
    metric: str,
    rate: float,
    seed: int,
    strategy: str = "random",
    corpus_sizes: tuple[int, int] | None = None,
) -> float:
    """Compute the distance after swapping, in the repetition that starts from ``seed``.

    With the distance strategy the seed matters to DSCD only.
    """
    D1, D2 = _pair(old, new)
    checks.fraction(rate)
    checks.sizes(corpus_sizes)
    _seed(seed)
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
        s1, s2 = _farthest(D1, D2, n), _farthest(D2, D1, n)
    D1_swap = np.concatenate([np.delete(D1, s1, axis=0), D2[s2]])
    D2_swap = np.concatenate([np.delete(D2, s2, axis=0), D1[s1]])
    return _distance(D1_swap, D2_swap, metric, np.random.RandomState(seed))


def swap_count(n_old: int, n_new: int, rate: float, corpus_sizes: tuple[int, int] | None = None) -> int:
    """Compute the number of occurrences that are swapped, in floating point."""
    if corpus_sizes is None:
        return round(min(n_old, n_new) * rate)
    size_old, size_new = corpus_sizes
    return round(min(n_old, n_new * size_old / size_new) * rate)


def _seed(seed: int) -> int:
    if checks.seed(seed) >= 2**32:
        raise ValueError(f"seed must be below 2**32, as numpy's was; got {seed!r}")
    return seed


def _farthest(rows: Floats, others: Floats, n: int) -> Indices:
    distances = np.linalg.norm(rows - others.mean(axis=0), axis=1)
    return np.argsort(-distances, kind="stable")[:n]


def _pair(old: npt.ArrayLike, new: npt.ArrayLike) -> tuple[Floats, Floats]:
    D1, D2 = checks.pair(old, new)
    for rows, name in ((D1, "old"), (D2, "new")):
        if not np.isfinite(rows).all():
            checks.finite(rows, name)
    return D1.astype(float), D2.astype(float)


def _distance(D1: Floats, D2: Floats, metric: str, rng: np.random.RandomState) -> float:
    checks.choice(metric, "metric", METRICS)
    m1, m2, v1, v2 = D1.mean(axis=0), D2.mean(axis=0), D1.var(axis=0, ddof=1), D2.var(axis=0, ddof=1)
    if metric == "kl":
        value = _kl(m1, v1, m2, v2)
    elif metric == "kl-reverse":
        value = _kl(m2, v2, m1, v1)
    elif metric == "jeffreys":
        value = 0.5 * (_kl(m1, v1, m2, v2) + _kl(m2, v2, m1, v1))
    elif metric in DSCD_ORDER:
        value = float(_paired(m1[None], m2[None], metric)[0])
    else:
        value = _dscd(m1, v1, m2, v2, metric.removeprefix("dscd-"), rng)
    if not np.isfinite(value):
        raise ValueError(
            f"the published code has no answer here: {metric} came out as {value}, because a dimension has no variance "
            f"or a mean no direction; lexshift.SSCD has a variance floor"
        )
    return float(value)


def _kl(m1: Floats, v1: Floats, m2: Floats, v2: Floats) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(0.5 * np.sum(v1 / v2 - 1 - np.log(v1 / v2) + (m2 - m1) ** 2 / v2))


def _dscd(m1: Floats, v1: Floats, m2: Floats, v2: Floats, distance: str, rng: np.random.RandomState) -> float:
    for drawn in DSCD_ORDER:  # every distance before this one has used up its share of the stream
        x, y = _normal(m1, v1, rng), _normal(m2, v2, rng)
        if drawn == distance:
            break
    return float(_paired(x, y, distance).mean())


def _normal(mean: Floats, variance: Floats, rng: np.random.RandomState) -> Floats:
    """Draw as ``rng.multivariate_normal(mean, diag(variance), n)`` does: its SVD only sorts variances that differ."""
    if len(np.unique(variance)) < len(variance):
        return rng.multivariate_normal(mean, np.diag(variance), DSCD_SAMPLES)
    z = rng.standard_normal((DSCD_SAMPLES, len(mean)))
    order = np.argsort(-variance, kind="stable")
    x = np.empty_like(z)
    x[:, order] = z * np.sqrt(variance[order])
    return x + mean


def _paired(x: Floats, y: Floats, distance: str) -> Floats:
    """Compute the distance between row i of x and row i of y, in scipy's definition: (n,)."""
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
