"""Sets of usages with a planted change, drawn from vectors, and how surely the change is seen in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lexshift.scoring.distance.metric import Metric
from lexshift.scoring.permutation import permutation_test
from lexshift.scoring.scores import tested_metric
from lexshift.utils.arrays import Matrix
from lexshift.utils.seeds import generator


@dataclass(frozen=True)
class Drawing:
    """Draws sets from vectors, and tests them.

    Attributes
    ----------
    vectors : for each name those of its first and second source word, (n, d) each
    level : the p up to which a change is seen
    """

    vectors: Mapping[str, tuple[Matrix, Matrix]]
    metric: str | Metric
    permutations: int
    seed: int
    level: float

    def seen(self, size: int, change: float, trial: int) -> bool:
        """Whether the change is seen in one draw, which depends on the vectors and its own number, on no other draw."""
        name = list(self.vectors)[trial % len(self.vectors)]
        key = f"{name} {size} {change} {trial}"
        old, new = draw(*self.vectors[name], size, change, generator(self.seed, "power", key))
        tested = tested_metric(self.metric, old, new)
        test = permutation_test(old, new, tested, self.permutations, self.seed, key, self.level)
        return test.p <= self.level


def draw(first: Matrix, second: Matrix, size: int, change: float, rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    """An old and a new set with a planted change, (size, d) each, no row twice.

    Each usage is of the second word with a chance of (1 - change) / 2 in the old set and (1 + change) / 2 in the new
    one, as in a sample of a corpus. Sets with exactly these shares would be more alike than samples are, and at change
    0 the test would hardly ever err.
    """
    while True:
        old, new = rng.binomial(size, [(1 - change) / 2, (1 + change) / 2]).tolist()
        if old + new <= len(second) and 2 * size - old - new <= len(first):
            break
    a, b = first[rng.permutation(len(first))], second[rng.permutation(len(second))]
    kept = size - old  # of the first word in the old set
    return np.concatenate([a[:kept], b[:old]]), np.concatenate([a[kept : kept + size - new], b[old : old + new]])
