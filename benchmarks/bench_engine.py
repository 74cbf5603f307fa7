"""Measure the speed of scoring relative to a naive implementation, on one thread.

The naive implementation concatenates the rows of each swap, takes numpy's mean and var in float64 and calls scipy.
Both are timed alternately, several times, and the medians compared. Where a full naive run would take minutes, one
repetition of it is timed and multiplied; the column "timed" says so. Usage: python benchmarks/bench_engine.py
"""

from __future__ import annotations

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import statistics  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402
from scipy.optimize import linear_sum_assignment  # noqa: E402
from scipy.spatial import distance as scipy_distance  # noqa: E402

from lexshift import permutation_test, sweep  # noqa: E402
from lexshift.scoring.distance import CLOSED_FORM, DISTANCES, dscd  # noqa: E402
from lexshift.scoring.distance.metric import evaluate  # noqa: E402
from lexshift.scoring.gaussian import Gaussian  # noqa: E402

D = 768
RATES = tuple(k / 10 for k in range(1, 10))
REPEATS = 20
ROUNDS = 5

Array = np.ndarray[Any, Any]


def embeddings(n: int, rng: np.random.Generator, shift: float = 0.0) -> Array:
    """Return rows as difficult as real ones: a large common mean, and a few dimensions far larger than the rest."""
    spread = np.ones(D)
    spread[:5] = 100
    return (np.linspace(-10, 10, D) + shift + spread * rng.normal(size=(n, D))).astype(np.float32)


def naive_swap(old: Array, new: Array, order_old: Array, order_new: Array, count: int) -> list[float]:
    swapped_old = np.concatenate([old[order_old[count:]], new[order_new[:count]]]).astype(float)
    swapped_new = np.concatenate([new[order_new[count:]], old[order_old[:count]]]).astype(float)
    m1, v1 = swapped_old.mean(axis=0), swapped_old.var(axis=0, ddof=1)
    m2, v2 = swapped_new.mean(axis=0), swapped_new.var(axis=0, ddof=1)
    kl = 0.5 * float(np.sum(v1 / v2 - 1 - np.log(v1 / v2) + (m2 - m1) ** 2 / v2))
    reverse = 0.5 * float(np.sum(v2 / v1 - 1 - np.log(v2 / v1) + (m2 - m1) ** 2 / v1))
    return [kl, reverse, 0.5 * (kl + reverse), *(getattr(scipy_distance, name)(m1, m2) for name in DISTANCES)]


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def race(fast: Callable[[], object], naive: Callable[[], object], rounds: int = ROUNDS) -> tuple[float, float]:
    """Return the median seconds of both functions, timed alternately."""
    fast()  # compile, warm the caches
    times = [(seconds(fast), seconds(naive)) for _ in range(rounds)]
    return statistics.median(t for t, _ in times), statistics.median(t for _, t in times)


def report(work: str, fast: float, naive: float, least: float, timed: str) -> None:
    print(f"{work:58} {fast * 1e3:9.1f} ms {naive:9.2f} s {naive / fast:8.0f}x {least:6.0f}x   {timed}", flush=True)


def bench_sweep(n: int, least: float, rng: np.random.Generator) -> None:
    old, new = embeddings(n, rng), embeddings(n, rng, 0.1)
    order_old, order_new = rng.permutation(n), rng.permutation(n)
    counts = [round(rate * n) for rate in RATES]

    def fast() -> None:
        sweep(old, new, metrics=CLOSED_FORM, rates=RATES, repeats=REPEATS)

    def naive() -> None:
        for count in counts:
            naive_swap(old, new, order_old, order_new, count)

    ours, theirs = race(fast, naive, ROUNDS if n < 20_000 else 3)
    report(
        f"9 rates x 20 repetitions x 10 metrics, N = {n:,}", ours, theirs * REPEATS, least, "naive: 1 of 20 repetitions"
    )


def bench_permutation(rng: np.random.Generator) -> None:
    n = 2000
    old, new = embeddings(n, rng), embeddings(n, rng)
    rows = np.concatenate([old, new])

    def naive() -> None:
        for _ in range(50):
            order = rng.permutation(2 * n)
            scipy_distance.cosine(
                rows[order[:n]].astype(float).mean(axis=0), rows[order[n:]].astype(float).mean(axis=0)
            )

    ours, theirs = race(lambda: permutation_test(old, new, "cosine", permutations=1000), naive)
    report("permutation test, 1,000 x cosine, N = 2,000", ours, theirs * 20, 15, "naive: 50 of 1,000 permutations")


def naive_usage_metric(metric: str, old: Array, new: Array) -> float:
    if metric == "energy":
        old, new = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (old, new))
        within = sum(scipy_distance.pdist(rows).mean() for rows in (old, new))
        return float(2 * scipy_distance.cdist(old, new).mean() - within)
    pairs = scipy_distance.cdist(old, new, "cosine")
    if metric == "amd":
        return float(pairs.min(axis=0).mean() + pairs.min(axis=1).mean()) / 2
    return float(pairs[linear_sum_assignment(pairs)].mean())


def bench_usage_metrics(rng: np.random.Generator) -> None:
    n = 200
    old, new = embeddings(n, rng), embeddings(n, rng, 0.1)
    for metric, least in (("energy", 20), ("amd", 12), ("samd", 4)):
        ours, theirs = race(
            lambda metric=metric: sweep(old, new, metrics=[metric], rates=[0.3], repeats=REPEATS),  # type: ignore[misc]
            lambda metric=metric: naive_usage_metric(metric, old, new),  # type: ignore[misc]
        )
        work = f"1 rate x 20 repetitions x {metric}, N = {n:,}"
        report(work, ours, theirs * REPEATS, least, "naive: 1 of 20 repetitions")


def gaussians(batch: int, rng: np.random.Generator) -> tuple[Gaussian, Gaussian]:
    spread = np.exp(0.3 * rng.normal(size=(2, batch, D)))
    spread[:, :, :5] *= 100
    means = rng.normal(size=(2, batch, D))
    return Gaussian(means[0], spread[0] ** 2, 100), Gaussian(means[1], spread[1] ** 2, 100)


def bench_dscd(rng: np.random.Generator) -> None:
    old, new = gaussians(1, rng)
    many_old, many_new = gaussians(len(RATES) * REPEATS, rng)
    sampled = [dscd(name, "sampled") for name in DISTANCES]
    expected = [dscd(name, "expected") for name in DISTANCES]
    generator = np.random.default_rng(0)

    def by_cdist() -> None:
        x = old.mean + np.sqrt(old.variance) * generator.standard_normal((1000, D))
        y = new.mean + np.sqrt(new.variance) * generator.standard_normal((1000, D))
        for name in DISTANCES:
            scipy_distance.cdist(x, y, name).mean()

    ours, theirs = race(lambda: evaluate(sampled, old, new, generator), by_cdist)
    report("DSCD sampled, all 7, n = 1,000", ours, theirs, 9, "all, sampling included on both sides")
    ours, theirs = race(lambda: evaluate(expected, many_old, many_new, generator), by_cdist, 3)
    settings = len(RATES) * REPEATS
    report(
        f"DSCD expected, {settings} settings x 7",
        ours,
        theirs * settings,
        150,
        f"sampled by cdist: 1 of {settings} settings",
    )


def main() -> None:
    rng = np.random.default_rng(0)
    print(f"one thread, d = {D}, float32 rows\n")
    print(f"{'work':58} {'lexshift':>12} {'naive':>11} {'ratio':>9} {'at least':>7}   timed")
    bench_sweep(200, 20, rng)
    bench_sweep(2_000, 120, rng)
    bench_sweep(20_000, 300, rng)
    bench_permutation(rng)
    bench_usage_metrics(rng)
    bench_dscd(rng)


if __name__ == "__main__":
    main()
