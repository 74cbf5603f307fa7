"""What a method scores on a data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lexshift.benchmark import methods
from lexshift.benchmark.dataset import Dataset
from lexshift.benchmark.measures import Correlation, Decision, average_precision, decision, spearman, spearman_each
from lexshift.benchmark.methods import Grid, Scored
from lexshift.scoring.sscd import SSCD
from lexshift.store.siblings import Siblings
from lexshift.utils.arrays import Pairs

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Evaluation:
    """A method on a data set.

    Attributes
    ----------
    method : str
    averaged : Correlation
        Spearman of the scores averaged over repetitions.
    each_mean, each_sd : float
        Mean and standard deviation (ddof = 0) over the repetitions of the Spearman of each, as the paper has it.
    decision : Decision, optional
        The binary task, for methods that decide.
    precision : float
        Average precision of the words that changed; NaN without binary gold.
    dropped : int
        Words with gold that the method says nothing of.
    """

    method: str
    averaged: Correlation
    each_mean: float
    each_sd: float
    decision: Decision | None
    precision: float
    dropped: int


def pairs_of(data: Dataset, siblings: Siblings, least: int = 2) -> Pairs:
    """The vectors of the words with enough usages in both periods."""
    pairs = {word: (siblings[word].old, siblings[word].new) for word in data.words if word in siblings}
    return {word: pair for word, pair in pairs.items() if min(map(len, pair)) >= least}


def judge(data: Dataset, scored: Scored) -> Evaluation:
    """Compare a method's scores with the gold. Signs are kept: a negative correlation is negative."""
    place = {word: i for i, word in enumerate(scored.words)}
    graded = [word for word in data.graded if word in place]
    at = [place[word] for word in graded]
    gold = [data.graded[word] for word in graded]
    each = spearman_each(scored.scores[at], gold) if graded else np.array([np.nan])
    binary = [word for word in data.binary if word in place]
    truth = [data.binary[word] for word in binary]
    rows = [place[word] for word in binary]
    decided = None
    if scored.changed is not None and data.binary:
        # A word that the method dropped is one that it does not call changed.
        said = [word in place and bool(scored.changed[place[word]]) for word in data.binary]
        decided = decision(said, list(data.binary.values()))
    return Evaluation(
        method=scored.method,
        averaged=spearman(scored.mean[at], gold),
        each_mean=float(each.mean()),
        each_sd=float(each.std()),
        decision=decided,
        precision=average_precision(scored.mean[rows], truth) if binary else float("nan"),
        dropped=len(set(data.graded or data.binary) - set(scored.words)),
    )


def systems(pairs: Pairs, settings: SSCD, alpha: float) -> list[Scored]:
    """SSCD as asked for, its distance alone, and the other systems of the paper."""
    metric = settings.metric if isinstance(settings.metric, str) else settings.metric.name
    return [
        methods.sscd(pairs, settings, alpha),
        methods.original(pairs, metric, seed=settings.seed),
        methods.original(pairs, "cosine", "Cosine of means"),
        methods.original(pairs, "apd", "APD"),
        methods.original(pairs, "dscd-cosine", "DSCD, cosine"),
        methods.liu(pairs, alpha, settings.seed),
    ]


def table(evaluations: Sequence[Evaluation]) -> pd.DataFrame:
    """Evaluations as a frame."""
    import pandas as pd

    return pd.DataFrame([_row(evaluation) for evaluation in evaluations])


def _row(e: Evaluation) -> dict[str, Any]:
    return {
        "method": e.method,
        "spearman": e.averaged.rho,
        "low": e.averaged.low,
        "high": e.averaged.high,
        "spearman_each": e.each_mean,
        "spearman_each_sd": e.each_sd,
        "accuracy": e.decision.accuracy if e.decision else np.nan,
        "f1": e.decision.f1 if e.decision else np.nan,
        "average_precision": e.precision,
        "words": e.averaged.words,
        "dropped": e.dropped,
    }


def grid_table(data: Dataset, grid: Grid) -> pd.DataFrame:
    """Spearman of every metric, strategy and rate, in both senses, and of the distance alone."""
    import pandas as pd

    words = [word for word in data.graded if word in grid.words]
    at = [grid.words.index(word) for word in words]
    gold = [data.graded[word] for word in words]
    plain = spearman_each(grid.e_original[at], gold)  # (metrics,)
    rows = []
    for strategy in grid.strategies:
        scores = grid.scores(strategy)[at]  # (words, metrics, rates, repetitions)
        for m, metric in enumerate(grid.metrics):
            averaged = spearman_each(scores[:, m].mean(axis=2), gold)  # (rates,)
            for r, rate in enumerate(grid.rates):
                each = spearman_each(scores[:, m, r], gold)
                rows.append(
                    {
                        "metric": metric,
                        "strategy": strategy,
                        "rate": float(rate),
                        "spearman_each": float(each.mean()),
                        "spearman_each_sd": float(each.std()),
                        "spearman": float(averaged[r]),
                        "e_original": float(plain[m]),
                        "e_swap_mean": float(grid.e_swap[strategy][:, m, r].mean()),
                    }
                )
    return pd.DataFrame(rows)
