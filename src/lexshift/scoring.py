"""From sibling embeddings to scores: each word's change, how sure it is, and the curve over the swap rate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from lexshift._threads import for_each
from lexshift._typing import Matrix, Pairs
from lexshift.distance.metric import Metric, compared_once, get
from lexshift.errors import UserError
from lexshift.monitor import Monitor
from lexshift.rates import RateCurve, search_rate
from lexshift.significance import Interval, PermutationTest, bootstrap, permutation_test
from lexshift.sscd import SSCD, Change


@dataclass(frozen=True, eq=False)
class WordScore:
    """What is known of one word: its change score, the bootstrap interval of it, and the permutation test."""

    change: Change
    interval: Interval
    test: PermutationTest


@dataclass(frozen=True, eq=False)
class Scores:
    """What is known of all words.

    Attributes
    ----------
    words : dict of str to WordScore
    curve : RateCurve or None
        Mean e_swap against the swap rate; None without words.
    sscd : SSCD
        What made the scores, with the rate that was used.
    """

    words: dict[str, WordScore]
    curve: RateCurve | None
    sscd: SSCD


def score(
    words: Pairs,
    sscd: SSCD,
    rate: float | Literal["auto"],
    permutations: int,
    resamples: int,
    confidence: float,
    monitor: Monitor,
) -> Scores:
    """Score and test every word, several at a time; at a given rate, no word's result depends on the others.

    The rate "auto" is the one at which the mean e_swap over all words is least.
    """
    if not words:
        return Scores({}, None, sscd)
    curve = rate_curve(words, sscd)
    sscd = replace(sscd, rate=curve.rate if rate == "auto" else rate)

    def one(word: str) -> WordScore:
        return score_word(word, *words[word], sscd, permutations, resamples, confidence)

    monitor.stage("scoring", len(words), "words")
    found = for_each(words, one, lambda done: monitor.advance(done, done))
    return Scores(found, curve, sscd)


def rate_curve(words: Pairs, sscd: SSCD) -> RateCurve:
    """Mean e_swap against the swap rate."""
    try:
        return search_rate(
            words,
            metric=sscd.metric,
            repeats=sscd.repeats,
            seed=sscd.seed,
            strategy=sscd.strategy,
            corpus_sizes=sscd.corpus_sizes,
        )
    except ValueError as error:  # it names the word
        raise UserError(str(error)) from error


def score_word(
    word: str, old: Matrix, new: Matrix, sscd: SSCD, permutations: int, resamples: int, confidence: float
) -> WordScore:
    """Score and test one word. old, new : (n_old, d), (n_new, d)"""
    try:
        once = replace(sscd, metric=compared_once(get(sscd.metric), old, new))
        change = once.score(old, new, word)
        return WordScore(
            change=change,
            interval=bootstrap(old, new, once, resamples, confidence, word, change.score),
            test=permutation_test(old, new, tested_metric(sscd.metric, old, new), permutations, sscd.seed, word),
        )
    except ValueError as error:
        raise UserError(f"{word!r}: {error}") from error


def tested_metric(metric: str | Metric, old: Matrix, new: Matrix) -> str | Metric:
    """The metric of the permutation test. A vector of zeros, a usage that is the mean of all, has no APD."""
    stands_in = get(metric).tested_by
    return stands_in if stands_in and all(rows.any(axis=1).all() for rows in (old, new)) else metric
