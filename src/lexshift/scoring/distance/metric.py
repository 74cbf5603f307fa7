"""What a metric is, and the one registry that all of them are in."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lexshift.scoring.gaussian import Gaussian
from lexshift.scoring.moments import FEW, TwoSets
from lexshift.utils import checks
from lexshift.utils.arrays import Array, Floats, Matrix
from lexshift.utils.seeds import generator

SideDistances = Callable[..., Floats]
"""A function of sides, and of how many ways after each other have the same rows in any set; see side_distances."""


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
        Whether ``between`` looks at the variances. If not, they may be left out (shape (b, 0)), which takes half the
        time.
    unit_rows : bool
        Whether the Gaussians are to be those of the rows scaled to unit length.
    samples : int
        How many vectors to draw from each Gaussian; 0 for a metric that needs none.
    usages : bool
        Whether the metric looks at the rows themselves. ``between`` then takes the old and the new rows, (n_old, d) and
        (n_new, d), and returns a function of sides: an array (b, n_old + n_new) of how many times each row counts,
        positive in the old set and negative in the new one. That function returns the b distances.
    tested_by : str
        The name of the metric whose permutation test stands for this one's, if another is faster and sees more.

    Examples
    --------
    A metric of one's own, usable by name or as it is:

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
        """The distance between two Gaussians, or between two batches of them: (..., d) to (...)."""
        return evaluate([self], old, new, rng if rng is not None else np.random.default_rng(0))[0]


def evaluate(metrics: Sequence[Metric], old: Gaussian, new: Gaussian, rng: np.random.Generator) -> Floats:
    """Several metrics of the same batch of pairs of Gaussians: (..., d) to (metrics, ...).

    Metrics that sample share what is drawn, and so do the pairs of the batch: all of them see the same standard
    normal numbers, so that two values differ by what the Gaussians differ in and not by the luck of the draw.
    """
    shape, d = old.mean.shape[:-1], old.mean.shape[-1]
    if old.mean.shape != new.mean.shape:
        raise ValueError(
            f"the two Gaussians must have the same number of dimensions; got {d} and {new.mean.shape[-1]} "
            f"(shapes {old.mean.shape} and {new.mean.shape})"
        )
    flat_old, flat_new = _flat(old), _flat(new)
    pairs = len(flat_old.mean)
    out = np.empty((len(metrics), pairs))
    for i, metric in enumerate(metrics):
        if metric.usages:
            raise ValueError(f"metric {metric.name!r} is a distance between usages; it cannot be had from Gaussians")
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
        rng.bit_generator.state = start  # what one metric draws does not depend on the others
        z_old, z_new = (rng.standard_normal((n, d), dtype=np.float32) for _ in range(2))
        for b in range(pairs):
            x, y = _draw(z_old, flat_old, b), _draw(z_new, flat_new, b)
            for i, metric in enumerate(metrics):
                if metric.samples == n:
                    value = np.asarray(metric.between(x, y), dtype=float)
                    if value.shape != ():
                        raise ValueError(
                            f"metric {metric.name!r} returned shape {value.shape}; it must return a number"
                        )
                    out[i, b] = value
    for metric, values in zip(metrics, out, strict=True):
        refuse_undefined(metric, values)
    return out.reshape(len(metrics), *shape)


def side_distances(metric: Metric, old: Matrix, new: Matrix, seed: int = 0, word: str = "") -> SideDistances:
    """Return the function of sides that a metric gives for two sets of rows.

    The function takes sides, an array of shape (b, n_old + n_new) that says in which set each row is (1 for the old
    one, -1 for the new one, 0 for neither), and the number of ways after each other that have the same rows in any set;
    it returns the b distances.

    Parameters
    ----------
    metric : Metric
    old, new : ndarray of shape (n_old, d) and (n_new, d)
    seed, word
        They determine what a metric that samples draws.
    """
    if not metric.usages:
        sets = TwoSets(old, new, metric.needs_variance, metric.unit_rows)

        def between_gaussians(sides: Array, repeats: int = 1) -> Floats:
            step = max(1, FEW // (old.shape[1] * repeats)) * repeats  # ways at a time whose sums stay in the cache
            parts = (sets.after(sides[start : start + step], repeats) for start in range(0, len(sides), step))
            return np.concatenate([evaluate([metric], *part, generator(seed, "samples", word))[0] for part in parts])

        return between_gaussians
    distances = metric.between(old, new)
    if not callable(distances):
        raise ValueError(f"metric {metric.name!r} must return a function of sides for two sets of rows")

    def between(sides: Array, _repeats: int = 1) -> Floats:
        values = np.asarray(distances(sides), dtype=float)
        if values.shape != (len(sides),):
            raise ValueError(f"metric {metric.name!r} returned shape {values.shape} for {len(sides)} pairs of sets")
        refuse_undefined(metric, values)
        return values

    return between


def compared_once(metric: Metric, old: Matrix, new: Matrix) -> Metric:
    """A metric for these two sets of rows only, whose usages are compared with each other here and not again."""
    if not metric.usages:
        return metric
    distances = metric.between(old, new)
    return dataclasses.replace(metric, between=lambda _old, _new: distances)


def as_given(n_old: int, n_new: int) -> Array:
    """The rows on the sides where they are: (1, n_old + n_new)."""
    return np.repeat(np.array([[1, -1]], np.int8), [n_old, n_new], axis=1)


def refuse_undefined(metric: Metric, values: Floats) -> None:
    """Raise if a distance is not a number."""
    if not np.isfinite(values).all():
        raise ValueError(
            f"metric {metric.name!r} is undefined for these sets: it came out as "
            f"{values[~np.isfinite(values)][0]} (a vector of zeros, or one whose dimensions are all equal, has no "
            f"direction to compare)"
        )


def _draw(z: Matrix, g: Gaussian, b: int) -> Matrix:
    """Vectors of the b-th Gaussian of a batch, from standard normal ones. (n, d)"""
    x: Matrix = z * np.sqrt(g.variance[b]).astype(np.float32)
    x += g.mean[b].astype(np.float32)
    return x


def _flat(g: Gaussian) -> Gaussian:
    """The same Gaussians in one batch: (..., d) to (b, d)."""
    mean = np.ascontiguousarray(g.mean.reshape(-1, g.mean.shape[-1]))
    variance = np.ascontiguousarray(g.variance.reshape(len(mean), -1))
    return Gaussian(mean, variance, g.count)


_registry: dict[str, Metric] = {}


def register(metric: Metric, replace: bool = False) -> None:
    """Add a metric to those known by name.

    Parameters
    ----------
    metric : Metric
    replace : bool
        Whether a metric of the same name may be replaced; otherwise that is an error.

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
        raise ValueError(f"a metric named {metric.name!r} is registered already; give replace=True to replace it")
    _registry[metric.name] = metric


def get(metric: str | Metric) -> Metric:
    """The metric of a name; a metric is taken as it is."""
    if isinstance(metric, Metric):
        return metric
    return _registry[checks.choice(metric, "metric", _registry)]


def metrics() -> tuple[str, ...]:
    """The names of all metrics known: the paper's 17 and those beyond it.

    Examples
    --------
    >>> from lexshift import metrics
    >>> metrics()[:4]
    ('kl', 'kl-reverse', 'jeffreys', 'braycurtis')
    """
    return tuple(_registry)
