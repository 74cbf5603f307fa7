"""A table or figure of the paper made again, and what all of them are made from."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lexshift.benchmark.dataset import Dataset
from lexshift.benchmark.evaluation import grid_table
from lexshift.benchmark.methods import Grid, Scored
from lexshift.scoring.rates import RateCurve, closed_form_rate
from lexshift.utils.arrays import Floats, Indices, Pairs

if TYPE_CHECKING:
    import pandas as pd

DIVERGENCES = ("kl", "kl-reverse", "jeffreys")
NOTHING = "–"


@dataclass(frozen=True)
class Cell:
    """What a cell shows: ours, the published figures below it, and whether ours is the best of its row."""

    text: str
    published: tuple[str, ...] = ()
    best: bool = False


@dataclass(frozen=True, eq=False)
class Exhibit:
    """A table or figure.

    Attributes
    ----------
    name : str
        Of its file, without the ending.
    title, note : str
        What it is and how to read it.
    table : DataFrame
        Everything, for a csv.
    columns : tuple of str
        Headings of what is shown.
    rows : tuple of tuples of Cell
        What is shown; the first cell is the heading of its row.
    texts : int
        How many of the first columns hold words rather than numbers.
    """

    name: str
    title: str
    note: str
    table: pd.DataFrame
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    texts: int = 1


@dataclass(frozen=True, eq=False)
class Measured:
    """A data set with the scores of its words, of which exhibits are made.

    Attributes
    ----------
    data : Dataset
    pairs : dict of a word to its (old, new) arrays
    grid : Grid
        The paper's metrics, strategies and rates.
    full : Grid
        KL at the swap rate 1, random.
    apd, liu : Scored
    """

    data: Dataset
    pairs: Pairs
    grid: Grid
    full: Grid
    apd: Scored
    liu: Scored

    @cached_property
    def spearman(self) -> pd.DataFrame:
        """A row for each metric, strategy and rate, as :func:`lexshift.benchmark.evaluation.grid_table` has it."""
        return grid_table(self.data, self.grid)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words with graded gold and scores."""
        return tuple(word for word in self.data.graded if word in self.pairs)

    @cached_property
    def at(self) -> Indices:
        """Where they are in the grid: (words,)."""
        return np.array([self.grid.words.index(word) for word in self.words], np.intp)

    @cached_property
    def gold(self) -> Floats:
        """Their gold: (words,)."""
        return np.array([self.data.graded[word] for word in self.words])

    def original(self, metric: str) -> Floats:
        """e_original of the words with gold: (words,)."""
        return self.grid.e_original[self.at, self.grid.metrics.index(metric)]

    def scores(self, strategy: str, metric: str, rate: float) -> Floats:
        """Scores of the words with gold: (words, repetitions)."""
        m, r = self.grid.metrics.index(metric), int(np.argmin(np.abs(self.grid.rates - rate)))
        return self.grid.scores(strategy)[self.at, m, r]

    def curve(self, metric: str) -> RateCurve:
        """e_swap of random swapping against the rate, of all words that have scores: no label is used."""
        m = self.grid.metrics.index(metric)
        closed = np.array([closed_form_rate(len(old), len(new)) for old, new in self.pairs.values()])
        e_swap = self.grid.e_swap["random"][:, m]  # (words, rates, repetitions)
        return RateCurve(self.grid.words, self.grid.rates, self.grid.e_original[:, m], e_swap, closed)


def best_of(frame: pd.DataFrame, column: str = "spearman_each") -> pd.Series:
    """The row with the highest value; one that is not defined is below all others."""
    return frame.loc[frame[column].fillna(-math.inf).idxmax()]


def figure(value: float, digits: int = 3) -> str:
    """A number, or a dash where there is none.

    >>> figure(-0.0561), figure(float("nan"))
    ('-0.056', '–')
    """
    return NOTHING if math.isnan(value) else f"{value:.{digits}f}"


def spread(mean: float, sd: float) -> str:
    """A mean with its standard deviation.

    >>> spread(0.552, 0.037), spread(0.552, float("nan"))
    ('0.552 ± 0.037', '0.552')
    """
    return figure(mean) if math.isnan(mean) or math.isnan(sd) else f"{figure(mean)} ± {figure(sd)}"


def scaled(mean: float, sd: float) -> str:
    """The same of a quantity of any size: the mean with three digits, the deviation with as many decimals.

    >>> scaled(3002.4, 431.3), scaled(0.01234, 0.0021), scaled(0.0, 0.0)
    ('3002 ± 431', '0.0123 ± 0.0021', '0 ± 0')
    """
    decimals = max(0, 2 - math.floor(math.log10(abs(mean)))) if mean else 0
    return f"{mean:.{decimals}f} ± {sd:.{decimals}f}"
