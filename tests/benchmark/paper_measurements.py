"""Measurements of made-up words for the tests of the paper's tables, and slow computations to compare them with."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import stats

from lexshift.benchmark.datasets.dataset import PERIODS, SCHEMA, Dataset, TextSize
from lexshift.benchmark.paper.exhibit import Cell, Exhibit
from lexshift.benchmark.paper.measurements import Measurements
from lexshift.benchmark.systems import score_distance, score_liu, sweep_grid
from lexshift.scoring.sscd import RATES
from lexshift.utils.arrays import Floats, Pairs

WORDS = ("plane_nn", "tip_vb", "risk_nn", *(f"w{i}" for i in range(17)))
REPEATS, SIZES = 3, (100, 140)
ENGLISH = "semeval2020_ulscd_eng"


def dataset(name: str = "made", binary: bool = True) -> Dataset:
    """Return a data set of twenty words; the last has no gold, and words above 0.5 are changed."""
    graded = {word: round(1 - i / 20, 2) for i, word in enumerate(WORDS[:-1])}
    graded["risk_nn"] = 0.01
    row = {"word": "w0", "corpus": PERIODS[0], "file": "made", "line": 1, "sentence": "w0", "start": 0, "end": 2}
    return Dataset(
        name=name,
        kind="made",
        language="",
        periods=("1900s", "2000s"),
        words=WORDS,
        usages=pa.Table.from_pylist([row, row | {"corpus": PERIODS[1]}, row | {"corpus": PERIODS[1]}], SCHEMA),
        graded=graded,
        gold="graded",
        binary={word: value > 0.5 for word, value in graded.items()} if binary else {},
        texts=(TextSize(1000, 20_000, 300), TextSize(1200, 30_000, 400)),
    )


@cache
def measure_words() -> Measurements:
    """Return the scores of twenty words that differ the more, the higher their gold."""
    rng = np.random.default_rng(1)
    data = dataset()
    pairs = {}
    for i, word in enumerate(WORDS):
        shift = data.graded.get(word, 0.0) * rng.normal(0, 1.2, 5)
        pairs[word] = (rng.normal(1, 1, (12 + i, 5)), rng.normal(1 + shift, 1.3, (30 - i, 5)))
    return score_pairs(data, pairs)


def score_pairs(data: Dataset, pairs: Pairs) -> Measurements:
    """Return the measurements of words with these vectors."""
    return Measurements(
        data,
        pairs,
        sweep_grid(pairs, SIZES, repeats=REPEATS),
        sweep_grid(pairs, SIZES, ["kl"], [1.0], REPEATS, 0, ["random"]),
        score_distance(pairs, "apd"),
        score_liu(pairs),
    )


def rho(scores: Any, gold: Any) -> float:
    """Return Spearman's rank correlation."""
    return float(stats.spearmanr(scores, gold).statistic)


def scores_of(measured: Measurements, strategy: str, metric: str, rate: float) -> Floats:
    """Return the scores in the grid, of shape (words with gold, repetitions)."""
    grid = measured.grid
    m, r = grid.metrics.index(metric), list(grid.rates).index(rate)
    e_swap = grid.e_swap[strategy]
    rows = [i for i, word in enumerate(grid.words) if word in measured.data.graded]
    return np.array([[abs(grid.e_original[i, m] - e_swap[i, m, r, n]) for n in range(e_swap.shape[3])] for i in rows])


def each(measured: Measurements, strategy: str, metric: str, rate: float) -> list[float]:
    """Return the correlation of the scores of each repetition with the gold."""
    gold = list(measured.data.graded.values())
    return [rho(column, gold) for column in scores_of(measured, strategy, metric, rate).T]


def slow_best(measured: Measurements, strategy: str, metrics: Any) -> tuple[float, str, float]:
    """Return the highest mean correlation of some metrics, with its metric and rate."""
    found = [(float(np.mean(each(measured, strategy, m, r))), m, r) for m in metrics for r in RATES]
    return max(found, key=lambda one: one[0])


def cells(exhibit: Exhibit) -> dict[str, tuple[Cell, ...]]:
    """Return the displayed cells of each row by its heading."""
    return {row[0].text: row[1:] for row in exhibit.rows}
