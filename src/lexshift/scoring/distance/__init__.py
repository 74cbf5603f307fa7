"""The metrics, by name: three divergences, seven distances between means, DSCD with the seven, and two of usages.

====================  ==============================================================================================
``kl``                KL(C1 || C2) of the two Gaussians; ``kl-reverse`` is KL(C2 || C1), ``jeffreys`` their mean
``braycurtis`` ...    ``canberra``, ``chebyshev``, ``cityblock``, ``correlation``, ``cosine``, ``euclidean``: between
                      the two mean vectors
``dscd-<distance>``   the distance between a vector drawn from the one Gaussian and a vector drawn from the other, on
                      average; ``dscd-<distance>:expected`` is the same
``dscd-<distance>:sampled``
                      the same estimated from 1,000 vectors of each, over all pairs of them
``apd``               mean cosine distance over all pairs of an old and a new row
``nearest``           mean cosine distance of a row to the nearest of 20 rows drawn from the other set
====================  ==============================================================================================
"""

from __future__ import annotations

from dataclasses import replace

from lexshift.scoring.distance import divergences, expected, means, pairwise
from lexshift.scoring.distance.metric import Metric, get, metrics, register
from lexshift.scoring.distance.nearest import Neighbours
from lexshift.utils import checks

__all__ = ["CLOSED_FORM", "DISTANCES", "PAPER", "Metric", "dscd", "get", "metrics", "register"]

DISTANCES = ("braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "euclidean")
CLOSED_FORM = ("kl", "kl-reverse", "jeffreys", *DISTANCES)
PAPER = (*CLOSED_FORM, *(f"dscd-{distance}" for distance in DISTANCES))
"""The 17 metrics of the paper."""


def dscd(distance: str, mode: str = "expected", samples: int = 1000) -> Metric:
    """The DSCD metric with a distance, in one of its two modes.

    Parameters
    ----------
    distance : one of DISTANCES
    mode : "expected" or "sampled"
        Expected: no sampling; closed form for city block, quadrature for the others, an approximation for Bray-Curtis
        (see :mod:`lexshift.scoring.distance.expected`). Sampled: the average over all pairs of ``samples`` vectors
        drawn from each Gaussian.
    samples : int
        How many vectors are drawn from each Gaussian in the sampled mode.
    """
    checks.choice(distance, "distance", DISTANCES)
    samples = checks.positive(samples, "samples")
    if checks.choice(mode, "mode", ("expected", "sampled")) == "expected":
        return Metric(f"dscd-{distance}:expected", expected.between(getattr(expected, distance)), needs_variance=True)
    return Metric(f"dscd-{distance}:sampled", pairwise.AVERAGES[distance], needs_variance=True, samples=samples)


def _on_means(distance: str) -> Metric:
    kind = getattr(means, distance.upper())
    return Metric(distance, lambda old, new: means.distances(kind, old.mean, new.mean))


def _register_all() -> None:
    register(Metric("kl", divergences.kl, needs_variance=True))
    register(Metric("kl-reverse", divergences.kl_reverse, needs_variance=True))
    register(Metric("jeffreys", divergences.jeffreys, needs_variance=True))
    for distance in DISTANCES:
        register(_on_means(distance))
    for distance in DISTANCES:
        register(replace(dscd(distance), name=f"dscd-{distance}"))
    for distance in DISTANCES:
        register(dscd(distance, "expected"))
        register(dscd(distance, "sampled"))
    register(Metric("apd", pairwise.apd, unit_rows=True))
    register(Metric("nearest", Neighbours, usages=True, tested_by="apd"))


_register_all()
