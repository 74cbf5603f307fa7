"""The scores of a data set from which the tables and figures of the paper are made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lexshift.benchmark.datasets.dataset import Dataset
from lexshift.benchmark.evaluation import EmbeddedDataset, grid_table
from lexshift.benchmark.systems import Grid, SystemScores, score_distance, score_liu, sweep_grid
from lexshift.scoring.distance import DISTANCES
from lexshift.scoring.rates import RateCurve, closed_form_rate
from lexshift.utils.arrays import Floats, Indices, Pairs
from lexshift.utils.monitor import Monitor

if TYPE_CHECKING:
    import pandas as pd

DIVERGENCES = ("kl", "kl-reverse", "jeffreys")
DSCD = tuple(f"dscd-{distance}" for distance in DISTANCES)


@dataclass(frozen=True, eq=False)
class Measurements:
    """The scores of a data set from which the exhibits are made.

    Attributes
    ----------
    data : Dataset
    pairs : dict of a word to its (old, new) arrays
    grid : Grid
        The paper's metrics, strategies and rates.
    full : Grid
        KL with random swapping at the swap rate 1.
    apd, liu : SystemScores
    """

    data: Dataset
    pairs: Pairs
    grid: Grid
    full: Grid
    apd: SystemScores
    liu: SystemScores

    @cached_property
    def spearman(self) -> pd.DataFrame:
        """The table of :func:`lexshift.benchmark.evaluation.grid_table`: a row for each metric, strategy and rate."""
        return grid_table(self.data, self.grid)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words with graded gold and scores."""
        return tuple(word for word in self.data.graded if word in self.pairs)

    @cached_property
    def rows(self) -> Indices:
        """The rows of these words in the grid: (words,)."""
        return np.array([self.grid.words.index(word) for word in self.words], np.intp)

    @cached_property
    def gold(self) -> Floats:
        """The graded gold of these words: (words,)."""
        return np.array([self.data.graded[word] for word in self.words])

    def original(self, metric: str) -> Floats:
        """Return e_original of the words with gold: (words,)."""
        return self.grid.e_original[self.rows, self.grid.metrics.index(metric)]

    def scores(self, strategy: str, metric: str, rate: float) -> Floats:
        """Return the scores of the words with gold: (words, repetitions)."""
        m, r = self.grid.metrics.index(metric), int(np.argmin(np.abs(self.grid.rates - rate)))
        return self.grid.scores(strategy)[self.rows, m, r]

    def curve(self, metric: str) -> RateCurve:
        """Return e_swap of random swapping against the rate, for all words that have scores, without using the gold."""
        m = self.grid.metrics.index(metric)
        closed = np.array([closed_form_rate(len(old), len(new)) for old, new in self.pairs.values()])
        e_swap = self.grid.e_swap["random"][:, m]  # (words, rates, repetitions)
        return RateCurve(self.grid.words, self.grid.rates, self.grid.e_original[:, m], e_swap, closed)

    def best(self, strategy: str, metrics: Sequence[str]) -> pd.Series:
        """Return the row of ``spearman`` of the best metric and rate."""
        frame = self.spearman
        return best_row(frame[(frame["strategy"] == strategy) & frame["metric"].isin(metrics)])


def measure(embedded_data: EmbeddedDataset, repeats: int, seed: int, monitor: Monitor) -> Measurements:
    """Score the words with all systems that the paper compares."""
    pairs, sizes = embedded_data.pairs, embedded_data.data.sizes
    monitor.stage("scoring", 3, "steps")
    grid = sweep_grid(pairs, sizes, repeats=repeats, seed=seed)
    monitor.advance(1, 1)
    full = sweep_grid(pairs, sizes, ["kl"], [1.0], repeats, seed, ["random"])
    apd = score_distance(pairs, "apd", seed=seed)
    monitor.advance(2, 2)
    liu = score_liu(pairs, seed=seed)
    monitor.advance(3, 3)
    return Measurements(embedded_data.data, pairs, grid, full, apd, liu)


def best_row(frame: pd.DataFrame, column: str = "spearman_each") -> pd.Series:
    """Return the first row with the highest value; NaN is below all other values."""
    return frame.loc[frame[column].fillna(-math.inf).idxmax()]
