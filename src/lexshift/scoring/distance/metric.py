"""The Metric class, and the registry of all metrics."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexshift.scoring.gaussian import Gaussian
from lexshift.scoring.moments import CACHE_ENTRIES, TwoSets
from lexshift.utils import checks
from lexshift.utils.arrays import Array, Floats, Matrix
from lexshift.utils.seeds import generator

SideDistances = Callable[..., Floats]
"""The type of the functions that :func:`side_distances` returns."""


@dataclass(frozen=True)
class Metric:
    """A distance between two sets of sibling embeddings, computed from their Gaussians or from the usages themselves.

    Parameters
    ----------
    name : str
    between : callable
        Takes the old and the new :class:`Gaussian`, whose ``mean`` and ``variance`` have shape (b, d) for a batch of
        b pairs of sets, and returns the b distances. If ``samples`` is not 0 it takes two float32 arrays of shape
        (samples, d) instead, vectors drawn from a pair of Gaussians, and returns one number.
    needs_variance : bool
        Whether ``between`` uses the variances. If not, they may be omitted (shape (b, 0)), which halves the time.
    unit_rows : bool
        Whether to scale every row to unit length before the Gaussians are fitted.
    samples : int
        Number of vectors to draw from each Gaussian; 0 for a metric that does not sample.
    usages : bool
        Whether the metric compares the rows themselves. ``between`` then takes the old and the new rows, (n_old, d) and
        (n_new, d), and returns a function of *sides*, an array of shape (b, n_old + n_new) that holds the multiplicity
        of each row: positive in the old set, negative in the new one. That function returns the b distances.
    tested_by : str
        Name of the metric to use in the permutation test instead of this one, if it is faster and more sensitive.

    Examples
    --------
    Define your own metric, and use it by name or as an object:

    >>> import numpy as np
    >>> from lexshift import Metric, SSCD, register
    >>> wasserstein = Metric(
    ...     "wasserstein",
    ...     lambda old, new: np.sqrt(
    ...         ((old.mean - new.mean) ** 2 + (np.sqrt(old.variance) - np.sqrt(new.variance)) ** 2).sum(axis=-1)
    ...     ),
    ...     needs_variance=True,
    ... )
    >>> register(wasserstein)
    >>> rng = np.random.default_rng(0)
    >>> change = SSCD(metric="wasserstein").score(rng.normal(size=(40, 8)), rng.normal(size=(50, 8)) + 1)
    >>> bool(change.score > 0)
    True
    """

    name: str
    between: Callable[..., Any]
    needs_variance: bool = False
    unit_rows: bool = False
    samples: int = 0
    usages: bool = False
    tested_by: str = ""

    def __call__(self, old: Gaussian, new: Gaussian, rng: np.random.Generator | None = None) -> Floats:
        """Compute the distance between two Gaussians, or between two batches of them: (..., d) to (...)."""
        return evaluate([self], old, new, rng if rng is not None else np.random.default_rng(0))[0]


def evaluate(metrics: Sequence[Metric], old: Gaussian, new: Gaussian, rng: np.random.Generator) -> Floats:
    """Compute several metrics for the same batch of pairs of Gaussians: (..., d) to (metrics, ...).

    All metrics that sample, and all pairs of the batch, use the same standard normal numbers. Two values therefore
    differ because the Gaussians differ, not because of the random draw.
    """
    shape, d = old.mean.shape[:-1], old.mean.shape[-1]
    if old.mean.shape != new.mean.shape:
        raise ValueError(
            f"the two Gaussians must have the same number of dimensions; got {d} and {new.mean.shape[-1]} "
            f"(shapes {old.mean.shape} and {new.mean.shape})"
        )
    flat_old, flat_new = _flatten(old), _flatten(new)
    pairs = len(flat_old.mean)
    out = np.empty((len(metrics), pairs))
    for i, metric in enumerate(metrics):
        if metric.usages:
            raise ValueError(
                f"metric {metric.name!r} compares usages and cannot be computed from Gaussians; "
                f"pass the usages, for instance to SSCD.score"
            )
        if not metric.samples:
            values = np.asarray(metric.between(flat_old, flat_new), dtype=float)
            if values.shape != (pairs,):
                raise ValueError(
                    f"metric {metric.name!r} returned shape {values.shape} for {pairs} pairs of Gaussians "
                    f"of {d} dimensions; it must reduce the last axis and keep the first"
                )
            out[i] = values
    start = rng.bit_generator.state
    for n in sorted({metric.samples for metric in metrics} - {0}):
        rng.bit_generator.state = start  # so that the samples of a metric do not depend on the other metrics
        z_old, z_new = (rng.standard_normal((n, d), dtype=np.float32) for _ in range(2))
        for b in range(pairs):
            x, y = _draw_vectors(z_old, flat_old, b), _draw_vectors(z_new, flat_new, b)
            for i, metric in enumerate(metrics):
                if metric.samples == n:
                    value = np.asarray(metric.between(x, y), dtype=float)
                    if value.shape != ():
                        raise ValueError(
                            f"metric {metric.name!r} returned shape {value.shape}; it must return a number"
                        )
                    out[i, b] = value
    for metric, values in zip(metrics, out, strict=True):
        check_defined(metric, values)
    return out.reshape(len(metrics), *shape)


def side_distances(
    metric: Metric, old: Matrix, new: Matrix, seed: int = 0, word: str = "", equal_sizes: bool = True
) -> SideDistances:
    """Return a function that computes a metric for many ways to divide the same rows into two sets.

    The function takes ``sides``, an array of shape (b, n_old + n_new) that assigns each row to a set (1 for the old
    one, -1 for the new one, 0 for neither), and ``repeats``, the number of consecutive assignments that use the same
    rows. It returns the b distances.

    Parameters
    ----------
    metric : Metric
    old, new : ndarray of shape (n_old, d) and (n_new, d)
    seed, word
        Seed and name of the random stream of a metric that samples.
    equal_sizes : bool
        Whether all assignments leave the two sets as large as they are. If not, each of them must use all rows.
    """
    if not metric.usages:
        sets = TwoSets(old, new, metric.needs_variance, metric.unit_rows)

        def between_gaussians(sides: Array, repeats: int = 1) -> Floats:
            # Sums of this number of assignments fit in the cache.
            step = max(1, CACHE_ENTRIES // (old.shape[1] * repeats)) * repeats
            batches = (sides[start : start + step] for start in range(0, len(sides), step))
            parts = (sets.gaussians_for_sides(batch, repeats) for batch in batches)
            return np.concatenate([evaluate([metric], *part, generator(seed, "samples", word))[0] for part in parts])

        def between_any_gaussians(sides: Array, _repeats: int = 1) -> Floats:
            values, sizes = np.empty(len(sides)), (sides > 0).sum(axis=1)
            for size in np.unique(sizes):
                batch = np.flatnonzero(sizes == size)
                part = sets.gaussians_for_any_sides(sides[batch])
                values[batch] = evaluate([metric], *part, generator(seed, "samples", word))[0]
            return values

        return between_gaussians if equal_sizes else between_any_gaussians
    distances = metric.between(old, new)
    if not callable(distances):
        raise ValueError(
            f"metric {metric.name!r} compares usages, so its `between` must return a function of sides; "
            f"got {distances!r}"
        )

    def between(sides: Array, _repeats: int = 1) -> Floats:
        values = np.asarray(distances(sides), dtype=float)
        if values.shape != (len(sides),):
            raise ValueError(f"metric {metric.name!r} returned shape {values.shape} for {len(sides)} pairs of sets")
        check_defined(metric, values)
        return values

    return between


def precompute_distances(metric: Metric, old: Matrix, new: Matrix) -> Metric:
    """Return a metric for these two sets of rows only, with the distances between their usages computed in advance.

    A metric of Gaussians is returned unchanged.
    """
    if not metric.usages:
        return metric
    distances = metric.between(old, new)
    return dataclasses.replace(metric, between=lambda _old, _new: distances)


def original_sides(n_old: int, n_new: int) -> Array:
    """Return the sides of the original sets: 1 for old rows and -1 for new rows, (1, n_old + n_new)."""
    return np.repeat(np.array([[1, -1]], np.int8), [n_old, n_new], axis=1)


def check_defined(metric: Metric, values: Floats) -> None:
    """Raise a ValueError if a distance is NaN or infinite."""
    if not np.isfinite(values).all():
        raise ValueError(
            f"metric {metric.name!r} is undefined for these sets: its value is "
            f"{values[~np.isfinite(values)][0]} (a vector of zeros, or one whose dimensions are all equal, has no "
            f"direction to compare)"
        )


def _draw_vectors(z: Matrix, g: Gaussian, b: int) -> Matrix:
    """Transform standard normal vectors into vectors of the b-th Gaussian of a batch: (n, d) to (n, d)."""
    x: Matrix = z * np.sqrt(g.variance[b]).astype(np.float32)
    x += g.mean[b].astype(np.float32)
    return x


def _flatten(g: Gaussian) -> Gaussian:
    """Return the same Gaussians as one batch: (..., d) to (b, d)."""
    mean = np.ascontiguousarray(g.mean.reshape(-1, g.mean.shape[-1]))
    variance = np.ascontiguousarray(g.variance.reshape(len(mean), -1))
    return Gaussian(mean, variance, g.count)


_registry: dict[str, Metric] = {}


def register(metric: Metric, replace: bool = False) -> None:
    """Register a metric under its name.

    Parameters
    ----------
    metric : Metric
    replace : bool
        Whether to replace a registered metric of the same name; by default that is an error.

    Examples
    --------
    >>> from lexshift import Metric, metrics, register
    >>> register(Metric("first-dimension", lambda old, new: abs(old.mean - new.mean)[:, 0]))
    >>> "first-dimension" in metrics()
    True
    """
    if not isinstance(metric, Metric):
        raise ValueError(f"metric must be a lexshift.Metric; got {metric!r}")
    if not replace and metric.name in _registry:
        raise ValueError(f"a metric named {metric.name!r} is already registered; pass replace=True to replace it")
    _registry[metric.name] = metric


def get(metric: str | Metric) -> Metric:
    """Return the metric of a name; a Metric is returned unchanged."""
    if isinstance(metric, Metric):
        return metric
    return _registry[checks.choice(metric, "metric", _registry)]


def metrics() -> tuple[str, ...]:
    """Return the names of all registered metrics: the 17 of the paper and those beyond it.

    Examples
    --------
    >>> from lexshift import metrics
    >>> metrics()[:4]
    ('kl', 'kl-reverse', 'jeffreys', 'braycurtis')
    """
    return tuple(_registry)
