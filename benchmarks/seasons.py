"""Print how often the season test rejects, for months with and without a season.

Run it with ``python benchmarks/seasons.py``. Usages are normal vectors about the level of their month. Without a
season, the share with p <= 0.05 should be 0.05 at most, whatever the levels do.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from lexshift.scoring.seasons import season
from lexshift.utils.arrays import Array

DIMENSIONS, USAGES = 10, 10
Levels = Callable[[np.random.Generator, int], Array]  # of so many months: (months, DIMENSIONS)


def white(rng: np.random.Generator, months: int) -> Array:  # noqa: ARG001
    return np.zeros((months, DIMENSIONS))


def autoregressive(phi: float, size: float) -> Levels:
    def levels(rng: np.random.Generator, months: int) -> Array:
        values = np.zeros((months + 100, DIMENSIONS))
        for t in range(1, len(values)):
            values[t] = phi * values[t - 1] + rng.normal(size=DIMENSIONS) * np.sqrt(1 - phi**2)
        return size * values[100:]

    return levels


def bursts(rng: np.random.Generator, months: int) -> Array:
    values = np.zeros((months, DIMENSIONS))
    for start in rng.choice(months - 3, 4, replace=False):
        values[start : start + 3] += rng.normal(size=DIMENSIONS)
    return values


def walk(rng: np.random.Generator, months: int) -> Array:
    return np.cumsum(0.3 * rng.normal(size=(months, DIMENSIONS)), axis=0)


def along_one_axis(shape: Callable[[Array], Array], noise: Levels = white) -> Levels:
    def levels(rng: np.random.Generator, months: int) -> Array:
        return noise(rng, months) + shape(np.arange(float(months)))[:, None] * np.eye(DIMENSIONS)[0]

    return levels


ROWS: dict[str, Levels] = {
    "white noise": white,
    "AR(1) 0.5": autoregressive(0.5, 0.5),
    "AR(1) 0.8": autoregressive(0.8, 1.0),
    "AR(1) 0.95": autoregressive(0.95, 2.0),
    "four bursts of three months": bursts,
    "random walk": walk,
    "steady drift": along_one_axis(lambda t: 0.1 * t),
    "one step in the middle": along_one_axis(lambda t: 3.0 * (t >= len(t) // 2)),
    "season: cosine 0.5": along_one_axis(lambda t: 0.5 * np.cos(np.pi * t / 6)),
    "season: cosine 1": along_one_axis(lambda t: np.cos(np.pi * t / 6)),
    "season: cosine 1 in AR(1) 0.5": along_one_axis(lambda t: np.cos(np.pi * t / 6), autoregressive(0.5, 0.5)),
    "season: cosine 2 in AR(1) 0.8": along_one_axis(lambda t: 2 * np.cos(np.pi * t / 6), autoregressive(0.8, 1.0)),
    "season: every December 1": along_one_axis(lambda t: 1.0 * (t % 12 == 11)),
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--years", type=int, nargs="+", default=[3, 4, 6, 10])
    options = parser.parse_args()
    print("| levels | " + " | ".join(f"{years} years" for years in options.years) + " |\n" + "| --- " * 5 + "|")
    for name, levels in ROWS.items():
        cells = []
        for years in options.years:
            months, p = [(2000 + i // 12, i % 12 + 1) for i in range(12 * years)], []
            for run in range(options.runs):
                rng = np.random.default_rng(run)
                usages = [rng.normal(level, size=(USAGES, DIMENSIONS)) for level in levels(rng, len(months))]
                found = season(usages, months, 499, seed=run)
                p.append(1.0 if found is None else found.p)
            cells.append(" / ".join(f"{np.mean(np.array(p) <= limit):.3f}" for limit in (0.05, 0.01)))
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
