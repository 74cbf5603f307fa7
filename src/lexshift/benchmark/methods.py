"""The systems that are compared: SSCD with any metric and strategy, the plain distance, and those of the paper.

Each is a function of the words' vectors; each gives a score for every word and repetition, more being more change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from lexshift.scoring import swap
from lexshift.scoring.distance import PAPER
from lexshift.scoring.distance.metric import as_given, between_usages, evaluate, get
from lexshift.scoring.gaussian import fit
from lexshift.scoring.permutation import PermutationTest, add_permutations, first_permutations, permutation_test
from lexshift.scoring.scores import tested_metric
from lexshift.scoring.significance import benjamini_hochberg, decide
from lexshift.scoring.sscd import RATES, SSCD, Sweep, for_words, sweep
from lexshift.utils import checks
from lexshift.utils.arrays import Floats, Pairs
from lexshift.utils.monitor import Silent
from lexshift.utils.seeds import generator

LIU_P = 0.005
"""Liu et al. (2021) drop the words whose p is not below it."""


@dataclass(frozen=True, eq=False)
class Scored:
    """What a method says of some words.

    Attributes
    ----------
    method : str
    words : tuple of str
        Those it says something of.
    scores : (words, repetitions)
    changed : (words,) of bool, optional
        Its own decision, if it makes one.
    """

    method: str
    words: tuple[str, ...]
    scores: Floats
    changed: npt.NDArray[np.bool_] | None = None

    @property
    def mean(self) -> Floats:
        """Scores averaged over the repetitions: (words,)."""
        return self.scores.mean(axis=1)


def sscd(pairs: Pairs, settings: SSCD, alpha: float | None = None) -> Scored:
    """SSCD: |e_original - e_swap|, and what is kept of e_original; with ``alpha`` also the verdicts of ``compare``."""
    metric = settings.metric if isinstance(settings.metric, str) else settings.metric.name
    changes = settings.score_words(pairs)
    keep = float(settings.keep)
    scores = np.stack([np.abs(c.e_original - c.e_swap) + keep * c.e_original for c in changes.values()])
    normalised = ", normalised" if settings.corpus_sizes else ""
    kept = f", keep {keep:g}" if keep else ""
    name = f"SSCD {metric}, {settings.strategy}{normalised}, rate {settings.rate:g}{kept}"
    return Scored(name, tuple(pairs), scores, None if alpha is None else verdicts(pairs, settings, alpha))


def verdicts(pairs: Pairs, settings: SSCD, alpha: float) -> npt.NDArray[np.bool_]:
    """Return whether each word is called changed by the test of ``compare`` at a false discovery rate of ``alpha``."""

    def test(word: str, permutations: int) -> PermutationTest:
        old, new = checks.pair(*pairs[word])
        metric = tested_metric(settings.metric, old, new)
        return permutation_test(old, new, metric, permutations, settings.seed, word)

    first = for_words(pairs, None, lambda _old, _new, word: test(word, first_permutations("auto")))
    tests = add_permutations(first, test, alpha, Silent())
    return decide(benjamini_hochberg([found.p for found in tests.values()]), alpha)


def original(pairs: Pairs, metric: str, name: str | None = None, seed: int = 0) -> Scored:
    """The distance between the two sets as they are; the seed is for metrics that draw samples."""
    chosen = get(metric)
    distances = []
    for word, sides in pairs.items():
        old, new = checks.pair(*sides)
        if chosen.usages:
            distances.append(between_usages(chosen, old, new)(as_given(len(old), len(new))))
            continue
        D1, D2 = fit(old, "old", chosen.unit_rows), fit(new, "new", chosen.unit_rows)
        distances.append(evaluate([chosen], D1, D2, generator(seed, "samples", word)))
    return Scored(name or f"e_original {metric}", tuple(pairs), np.stack(distances))


def liu(pairs: Pairs, alpha: float = 0.05, seed: int = 0) -> Scored:
    """Liu et al. (2021): cosine distance of means, of the words that a permutation test finds significant.

    A word's test is controlled for the number of words (Benjamini-Hochberg); words with p of 0.005 or more are dropped.
    """

    def one(old: Floats, new: Floats, word: str) -> float:
        return permutation_test(old, new, "cosine", seed=seed, word=word).p

    p = for_words(pairs, None, one)
    q = dict(zip(pairs, benjamini_hochberg(list(p.values())).tolist(), strict=True))
    kept = {word: pairs[word] for word in pairs if p[word] < LIU_P}
    changed = np.array([q[word] <= alpha for word in kept], bool)
    if not kept:
        return Scored("Liu et al.", (), np.zeros((0, 1)), changed)
    return Scored("Liu et al.", tuple(kept), original(kept, "cosine").scores, changed)


@dataclass(frozen=True, eq=False)
class Grid:
    """Scores of SSCD for many metrics, strategies and rates.

    Attributes
    ----------
    words, metrics, strategies : tuple of str
        Strategies are "random" and "distance", each also with ", normalised".
    rates : (rates,)
    e_original : (words, metrics)
    e_swap : dict of a strategy to (words, metrics, rates, repetitions)
    """

    words: tuple[str, ...]
    metrics: tuple[str, ...]
    strategies: tuple[str, ...]
    rates: Floats
    e_original: Floats
    e_swap: dict[str, Floats]

    def scores(self, strategy: str) -> Floats:
        """|e_original - e_swap|: (words, metrics, rates, repetitions)."""
        return np.abs(self.e_original[:, :, None, None] - self.e_swap[strategy])


def grid(
    pairs: Pairs,
    corpus_sizes: tuple[int, int],
    metrics: Sequence[str] = PAPER,
    rates: Sequence[float] = RATES,
    repeats: int = 20,
    seed: int = 0,
    strategies: Sequence[swap.Strategy] = swap.STRATEGIES,
) -> Grid:
    """Every metric with every strategy, with and without normalisation, at every rate."""
    e_swap: dict[str, Floats] = {}
    for strategy in strategies:
        one = partial(_both, corpus_sizes, metrics, rates, repeats=repeats, seed=seed, strategy=strategy)
        sweeps = list(for_words(pairs, None, one).values())
        swapped = np.stack([s.e_swap for s in sweeps])  # (words, metrics, 2 * rates, repetitions)
        e_swap[strategy], e_swap[f"{strategy}, normalised"] = swapped[:, :, : len(rates)], swapped[:, :, len(rates) :]
        e_original = np.stack([s.e_original for s in sweeps])
    return Grid(tuple(pairs), tuple(metrics), tuple(e_swap), np.asarray(rates, float), e_original, e_swap)


def _both(
    sizes: tuple[int, int],
    metrics: Sequence[str],
    rates: Sequence[float],
    old: Floats,
    new: Floats,
    word: str,
    **options: Any,
) -> Sweep:
    """A sweep over the rates, and over those that swap as many as the normalised ones: equal counts are done once."""
    n_old, n_new = len(old), len(new)
    counts = [swap.swap_count(n_old, n_new, rate, sizes) for rate in checks.fractions(rates)]
    normalised = [Fraction(count, min(n_old, n_new)) for count in counts]
    return sweep(old, new, metrics=metrics, rates=[*rates, *normalised], word=word, **options)
