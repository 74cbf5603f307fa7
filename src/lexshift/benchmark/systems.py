"""Systems to compare: SSCD with any metric and strategy, its variant, the plain distance, and those of the paper.

Each is a function from the words' vectors to a score of each word in each repetition; a higher score is more change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from lexshift.scoring import swap
from lexshift.scoring.distance import PAPER
from lexshift.scoring.distance.metric import evaluate, get, original_sides, side_distances
from lexshift.scoring.gaussian import fit
from lexshift.scoring.permutation import permutation_test
from lexshift.scoring.significance import benjamini_hochberg
from lexshift.scoring.sscd import RATES, SSCD, Sweep, combine, for_words, sweep
from lexshift.utils import checks
from lexshift.utils.arrays import Floats, Pairs
from lexshift.utils.seeds import generator

LIU_P = 0.005
"""p-value below which Liu et al. (2021) keep a word."""


@dataclass(frozen=True, eq=False)
class SystemScores:
    """Scores that a system gives to some words.

    Attributes
    ----------
    method : str
        Name of the system.
    words : tuple of str
        The words that have a score.
    scores : ndarray of shape (words, repetitions)
    changed : ndarray of bool of shape (words,), optional
        Whether each word changed, for systems that decide.
    overall : ndarray of shape (words,), optional
        Scores of all repetitions together, if they are not the mean over the repetitions.
    """

    method: str
    words: tuple[str, ...]
    scores: Floats
    changed: npt.NDArray[np.bool_] | None = None
    overall: Floats | None = None

    @property
    def mean(self) -> Floats:
        """Scores of all repetitions together, by default their mean: (words,)."""
        return self.scores.mean(axis=1) if self.overall is None else self.overall


def compared_systems(pairs: Pairs, settings: SSCD, alpha: float) -> list[SystemScores]:
    """Score words with the settings, with SSCD, with its distance alone, and with the other systems of the paper."""
    variant = [score_sscd(pairs, settings)]
    if settings.distance_weight:
        variant.append(score_sscd(pairs, replace(settings, distance_weight=0.0)))
    return [
        *variant,
        score_distance(pairs, get(settings.metric).name, seed=settings.seed),
        score_distance(pairs, "cosine", "Cosine of means"),
        score_distance(pairs, "apd", "APD"),
        score_distance(pairs, "dscd-cosine", "DSCD, cosine"),
        score_liu(pairs, alpha, settings.seed),
    ]


def score_sscd(pairs: Pairs, settings: SSCD) -> SystemScores:
    """Score words by SSCD or its variant.

    In each repetition, the score of a word is the weighted geometric mean of |e_original - e_swap| and the average
    pairwise distance. The score of all repetitions together is that of ``compare``, which averages |e_original -
    e_swap| first.
    """
    weight = float(settings.distance_weight)
    changes = settings.score_words(pairs).values()
    scores = np.stack(
        [combine(np.abs(change.e_original - change.e_swap), change.distance, weight) for change in changes]
    )
    overall = np.array([change.score for change in changes])
    normalised = ", normalised" if settings.corpus_sizes else ""
    name = f"SSCD {get(settings.metric).name}, {settings.strategy}{normalised}, rate {settings.rate:g}"
    if weight:
        name = f"variant of {name}, distance weight {weight:g}"
    return SystemScores(name, tuple(pairs), scores, overall=overall)


def score_distance(pairs: Pairs, metric: str, name: str | None = None, seed: int = 0) -> SystemScores:
    """Score words by the distance between the two sets without swapping; metrics that draw samples use the seed."""
    chosen = get(metric)
    distances = []
    for word, sides in pairs.items():
        old, new = checks.pair(*sides)
        if chosen.usages:
            distances.append(side_distances(chosen, old, new)(original_sides(len(old), len(new))))
            continue
        D1, D2 = fit(old, "old", chosen.unit_rows), fit(new, "new", chosen.unit_rows)
        distances.append(evaluate([chosen], D1, D2, generator(seed, "samples", word)))
    return SystemScores(name or f"e_original {metric}", tuple(pairs), np.stack(distances))


def score_liu(pairs: Pairs, alpha: float = 0.05, seed: int = 0) -> SystemScores:
    """Score words as Liu et al. (2021): by the cosine distance of means if it is significant.

    Words with p of 0.005 or more are dropped. The others count as changed if p stays significant after the correction
    of Benjamini and Hochberg for the number of words.
    """
    p = for_words(pairs, None, lambda old, new, word: permutation_test(old, new, "cosine", seed=seed, word=word).p)
    q = dict(zip(pairs, benjamini_hochberg(list(p.values())).tolist(), strict=True))
    significant = {word: pairs[word] for word in pairs if p[word] < LIU_P}
    changed = np.array([q[word] <= alpha for word in significant], bool)
    scores = score_distance(significant, "cosine").scores if significant else np.zeros((0, 1))
    return SystemScores("Liu et al.", tuple(significant), scores, changed)


@dataclass(frozen=True, eq=False)
class Grid:
    """Scores of SSCD for many metrics, strategies and rates.

    Attributes
    ----------
    words, metrics, strategies : tuple of str
        Strategies are "random" and "distance", each also with ", normalised".
    rates : ndarray of shape (rates,)
    e_original : ndarray of shape (words, metrics)
    e_swap : dict of a strategy to an ndarray of shape (words, metrics, rates, repetitions)
    """

    words: tuple[str, ...]
    metrics: tuple[str, ...]
    strategies: tuple[str, ...]
    rates: Floats
    e_original: Floats
    e_swap: dict[str, Floats]

    def scores(self, strategy: str) -> Floats:
        """Return |e_original - e_swap|: (words, metrics, rates, repetitions)."""
        return np.abs(self.e_original[:, :, None, None] - self.e_swap[strategy])


def sweep_grid(
    pairs: Pairs,
    corpus_sizes: tuple[int, int],
    metrics: Sequence[str] = PAPER,
    rates: Sequence[float] = RATES,
    repeats: int = 20,
    seed: int = 0,
    strategies: Sequence[swap.Strategy] = swap.STRATEGIES,
) -> Grid:
    """Score words with every metric and strategy at every rate, with and without normalisation by corpus size."""
    e_swap: dict[str, Floats] = {}
    for strategy in strategies:

        def sweep_word(old: Floats, new: Floats, word: str, strategy: swap.Strategy = strategy) -> Sweep:
            # Normalised rates become plain rates with the same swap counts, so that equal counts are swapped once.
            counts = [swap.swap_count(len(old), len(new), rate, corpus_sizes) for rate in checks.fractions(rates)]
            normalised = [Fraction(count, min(len(old), len(new))) for count in counts]
            return sweep(old, new, metrics, [*rates, *normalised], repeats, seed, strategy, word=word)

        sweeps = list(for_words(pairs, None, sweep_word).values())
        swapped = np.stack([s.e_swap for s in sweeps])  # (words, metrics, 2 * rates, repetitions)
        e_swap[strategy], e_swap[f"{strategy}, normalised"] = swapped[:, :, : len(rates)], swapped[:, :, len(rates) :]
        e_original = np.stack([s.e_original for s in sweeps])
    return Grid(tuple(pairs), tuple(metrics), tuple(e_swap), np.asarray(rates, float), e_original, e_swap)
