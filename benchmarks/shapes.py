"""Print how often drifts are called gradual and steps are called steps, among words whose change is significant.

Run it with ``python benchmarks/shapes.py``. Usages are normal vectors of ten dimensions, 10 to 40 in a period; the
level of one dimension moves by the given number of standard deviations from the first period to the last.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from lexshift.scoring.changepoints import GRADUAL, STEP, change_points
from lexshift.utils.arrays import Array

DIMENSIONS, SIZES = 10, (1.0, 1.5, 2.5)
Levels = Callable[[np.random.Generator, int], Array]  # of so many periods, from 0 to 1

ROWS: dict[str, tuple[str, Levels]] = {
    "steady drift": (GRADUAL, lambda rng, n: np.linspace(0, 1, n)),  # noqa: ARG005
    "uneven drift": (GRADUAL, lambda rng, n: np.cumsum([0, *rng.dirichlet(np.full(n - 1, 4.0))])),
    "step in any period": (STEP, lambda rng, n: 1.0 * (np.arange(n) >= rng.integers(1, n))),
    "step in the middle": (STEP, lambda rng, n: 1.0 * (np.arange(n) >= n // 2)),  # noqa: ARG005
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--periods", type=int, nargs="+", default=[3, 4, 5, 10])
    options = parser.parse_args()
    print("| planted | size | " + " | ".join(f"{n} periods" for n in options.periods) + " |")
    print("| --- " * (2 + len(options.periods)) + "|")
    for name, (expected, levels) in ROWS.items():
        for size in SIZES:
            cells = []
            for periods in options.periods:
                shapes = []
                for run in range(options.runs):
                    rng = np.random.default_rng(run)
                    usages = [
                        rng.normal(level * size * np.eye(DIMENSIONS)[0], size=(rng.integers(10, 41), DIMENSIONS))
                        for level in levels(rng, periods)
                    ]
                    found = change_points(usages, shuffles=199, seed=run)
                    shapes += [found.shape] if found.at else []
                cells.append(f"{shapes.count(expected) / max(len(shapes), 1):.2f} of {len(shapes)}")
            print(f"| {name} | {size:g} | " + " | ".join(cells) + " |", flush=True)
