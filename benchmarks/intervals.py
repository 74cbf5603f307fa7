"""Measure the width and coverage of the 95 % intervals of change scores on synthetic data.

For each kind of data, many independent pairs of sets are drawn. The true spread of the score is 2 * 1.96 times its
standard deviation over these pairs, and the expected score is its mean. Prints, for each kind, the mean width of the
intervals over the true spread, and the share of the intervals that hold the expected score.

    python benchmarks/intervals.py [--sets 400] [--resamples 100] [--metrics nearest,cosine] [--sizes 20x20,60x60]

"none" is no change: both sets come from one centred distribution. "shift" moves a quarter of the dimensions of the new
set by one standard deviation, "mixture" moves four tenths of its rows by three.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

from lexshift import SSCD, bootstrap
from lexshift.scoring.distance.metric import get, precompute_distances
from lexshift.utils.arrays import Matrix

WEIGHTS = {"nearest": (0.0, 0.8)}


def draw_sets(
    change: str, shape: str, n_old: int, n_new: int, d: int, rng: np.random.Generator
) -> tuple[Matrix, Matrix]:
    spread = np.ones(d) if shape == "isotropic" else 1 / np.sqrt(1 + np.arange(d))
    old, new = rng.normal(size=(n_old, d)) * spread, rng.normal(size=(n_new, d)) * spread
    some = slice(0, None, 4)
    if change == "shift":
        new[:, some] += spread[some]
    elif change == "mixture":
        new[:, some] += 3 * spread[some] * (rng.random(n_new) < 0.4)[:, None]
    return old, new


def measure_intervals(
    sets: int, resamples: int, sscd: SSCD, kind: tuple[str, str, int, int, int]
) -> tuple[float, float]:
    """Return the mean width of the intervals over the true spread of the score, and their coverage."""
    rng = np.random.default_rng(0)
    values = np.empty((sets, 3))
    for i in range(sets):
        old, new = draw_sets(*kind, rng)
        scorer = SSCD(
            precompute_distances(get(sscd.metric), old, new),
            sscd.strategy,
            sscd.rate,
            sscd.repeats,
            i,
            distance_weight=sscd.distance_weight,
        )
        change = scorer.score(old, new)
        interval = bootstrap(old, new, scorer, resamples, change=change)
        values[i] = change.score, interval.low, interval.high
    scores, low, high = values.T
    covered = (low <= scores.mean()) & (scores.mean() <= high)
    return float((high - low).mean() / (2 * 1.96 * scores.std(ddof=1))), float(covered.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--resamples", type=int, default=100)
    parser.add_argument("--metrics", default="nearest")
    parser.add_argument("--sizes", default="20x20,60x60,200x200,30x120")
    parser.add_argument("--dims", default="16,64")
    parser.add_argument("--changes", default="none,shift,mixture")
    options = parser.parse_args()
    sizes = [tuple(map(int, size.split("x"))) for size in options.sizes.split(",")]
    dims = list(map(int, options.dims.split(",")))
    print(
        "| change | data | old x new | d | metric | distance weight | width / truth | coverage |\n" + "| --- " * 8 + "|"
    )
    for change, shape in product(options.changes.split(","), ("isotropic", "anisotropic")):
        for (n_old, n_new), d, metric in product(sizes, dims, options.metrics.split(",")):
            for weight in WEIGHTS.get(metric, (0.0,)):
                sscd = SSCD(metric, rate=0.5, distance_weight=weight)
                width, coverage = measure_intervals(
                    options.sets, options.resamples, sscd, (change, shape, n_old, n_new, d)
                )
                name = f"{change} | {shape} | {n_old} x {n_new} | {d} | {metric} | {weight}"
                print(f"| {name} | {width:.2f} | {coverage:.3f} |", flush=True)


if __name__ == "__main__":
    main()
