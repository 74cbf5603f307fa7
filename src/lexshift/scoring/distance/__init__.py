"""Metrics by name: three divergences, seven distances between means, DSCD with those seven, and five between usages.

====================  ==============================================================================================
``kl``                KL(C1 || C2) of the two Gaussians; ``kl-reverse`` is KL(C2 || C1), ``jeffreys`` their mean
``braycurtis`` ...    ``canberra``, ``chebyshev``, ``cityblock``, ``correlation``, ``cosine``, ``euclidean``: between
                      the two mean vectors
``dscd-<distance>``   the expected distance between a vector drawn from one Gaussian and a vector drawn from the
                      other; ``dscd-<distance>:expected`` is the same metric
``dscd-<distance>:sampled``
                      the same expectation, estimated as the mean over all pairs of 1,000 vectors from each Gaussian
``apd``               mean cosine distance over all pairs of an old and a new row
``energy``            energy distance: twice the mean chord distance between the sets, minus those within each set
``nearest``           mean cosine distance from a row to the nearest of 20 rows drawn from the other set
``amd``               mean cosine distance from a row to the nearest of all rows of the other set
``samd``              mean cosine distance of the pairs of the best one-to-one matching of the two sets
====================  ==============================================================================================
"""

from __future__ import annotations

from dataclasses import replace

from lexshift.scoring.distance import divergences, expectations, means, pairwise
from lexshift.scoring.distance.energy import EnergyDistances
from lexshift.scoring.distance.metric import Metric, get, metrics, register
from lexshift.scoring.distance.minimum_distances import MinimumDistances, OptimalMatching
from lexshift.scoring.distance.nearest import Neighbours
from lexshift.utils import checks

__all__ = ["CLOSED_FORM", "DISTANCES", "PAPER", "Metric", "dscd", "get", "metrics", "register"]

DISTANCES = ("braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "euclidean")
CLOSED_FORM = ("kl", "kl-reverse", "jeffreys", *DISTANCES)
PAPER = (*CLOSED_FORM, *(f"dscd-{distance}" for distance in DISTANCES))
"""The 17 metrics of the paper."""


def dscd(distance: str, mode: str = "expected", samples: int = 1000) -> Metric:
    """Return the DSCD metric for a distance, in one of its two modes.

    Parameters
    ----------
    distance : one of DISTANCES
    mode : "expected" or "sampled"
        "expected" does not sample: it uses a closed form for city block, an approximation for Bray-Curtis and
        quadrature for the others (see :mod:`lexshift.scoring.distance.expectations`). "sampled" averages over all pairs
        of ``samples`` vectors drawn from each Gaussian.
    samples : int
        Number of vectors drawn from each Gaussian in the sampled mode.
    """
    checks.choice(distance, "distance", DISTANCES)
    samples = checks.positive(samples, "samples")
    if checks.choice(mode, "mode", ("expected", "sampled")) == "expected":
        batch_distance = expectations.for_batches(getattr(expectations, distance))
        return Metric(f"dscd-{distance}:expected", batch_distance, needs_variance=True)
    return Metric(f"dscd-{distance}:sampled", pairwise.AVERAGES[distance], needs_variance=True, samples=samples)


def _mean_metric(distance: str) -> Metric:
    kind = getattr(means, distance.upper())
    return Metric(distance, lambda old, new: means.distances(kind, old.mean, new.mean))


def _register_all() -> None:
    register(Metric("kl", divergences.kl, needs_variance=True))
    register(Metric("kl-reverse", divergences.kl_reverse, needs_variance=True))
    register(Metric("jeffreys", divergences.jeffreys, needs_variance=True))
    for distance in DISTANCES:
        register(_mean_metric(distance))
    for distance in DISTANCES:
        register(replace(dscd(distance), name=f"dscd-{distance}"))
    for distance in DISTANCES:
        register(dscd(distance, "expected"))
        register(dscd(distance, "sampled"))
    register(Metric("apd", pairwise.apd, unit_rows=True))
    register(Metric("nearest", Neighbours, usages=True, tested_by="energy"))
    register(Metric("energy", EnergyDistances, usages=True))
    register(Metric("amd", MinimumDistances, usages=True, tested_by="energy"))
    register(Metric("samd", OptimalMatching, usages=True, tested_by="energy"))


_register_all()
