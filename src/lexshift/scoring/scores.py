"""From sibling embeddings to scores: each word's change, how sure it is, and the curve over the swap rate."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from lexshift.errors import UserError
from lexshift.scoring.bootstrap import Interval, bootstrap
from lexshift.scoring.distance.metric import Metric, compared_once, get
from lexshift.scoring.permutation import (
    Permutations,
    PermutationTest,
    add_permutations,
    first_permutations,
    permutation_test,
)
from lexshift.scoring.rates import RateCurve, search_rate
from lexshift.scoring.sscd import SSCD, Change
from lexshift.utils.arrays import Matrix, Pairs
from lexshift.utils.monitor import Monitor
from lexshift.utils.threads import for_each

K = TypeVar("K")


@dataclass(frozen=True, eq=False)
class WordScore:
    """What is known of one word: its change score, the bootstrap interval of it, and the permutation test.

    ``tested_metric`` is the name of the metric whose distance was tested, which may be another than that of the score.
    """

    change: Change
    interval: Interval
    test: PermutationTest
    tested_metric: str


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
    permutations: Permutations,
    resamples: int,
    confidence: float,
    monitor: Monitor,
    alpha: float = 0.05,
) -> Scores:
    """Score and test every word, several at a time.

    The rate "auto" is the one at which the mean e_swap over all words is least. With ``permutations`` "auto", their
    number depends on the tests of all words. Otherwise no word's result depends on the others at a given rate.
    """
    if not words:
        return Scores({}, None, sscd)
    curve = rate_curve(words, sscd)
    sscd = replace(sscd, rate=curve.rate if rate == "auto" else rate)

    def one(word: str) -> WordScore:
        return score_word(word, *words[word], sscd, first_permutations(permutations), resamples, confidence)

    monitor.stage("scoring", len(words), "words")
    found = for_each(words, one, lambda done: monitor.advance(done, done))
    if permutations == "auto":
        found = retest(found, words.__getitem__, sscd, alpha, monitor)
    return Scores(found, curve, sscd)


def retest(
    found: Mapping[K, WordScore],
    vectors: Callable[[K], tuple[Matrix, Matrix]],
    sscd: SSCD,
    alpha: float,
    monitor: Monitor,
    name: Callable[[K], str] = str,
    families: Collection[Collection[K]] | None = None,
) -> dict[K, WordScore]:
    """Return the same scores, tested with as many permutations as the number of tests requires.

    Parameters
    ----------
    found : mapping of a key to its score
    vectors : callable
        Takes a key and returns its vectors, (n_old, d) and (n_new, d).
    sscd, alpha, monitor
    name : callable
        Takes a key and returns its word, which names the random stream.
    families : collection of collections of keys, optional
        The tests over which the false discovery rate is controlled together; by default all of them.
    """

    def again(key: K, permutations: int) -> PermutationTest:
        old, new = vectors(key)
        try:
            metric = tested_metric(sscd.metric, old, new)
            return permutation_test(old, new, metric, permutations, sscd.seed, name(key))
        except ValueError as error:
            raise UserError(f"{name(key)!r}: {error}") from error

    tests = {key: scored.test for key, scored in found.items()}
    tests = add_permutations(tests, again, alpha, monitor, families=families)
    return {key: replace(scored, test=tests[key]) for key, scored in found.items()}


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
        metric = tested_metric(sscd.metric, old, new)
        return WordScore(
            change=change,
            interval=bootstrap(old, new, once, resamples, confidence, word, change.score),
            test=permutation_test(old, new, metric, permutations, sscd.seed, word),
            tested_metric=get(metric).name,
        )
    except ValueError as error:
        raise UserError(f"{word!r}: {error}") from error


def tested_metric(metric: str | Metric, old: Matrix, new: Matrix) -> str | Metric:
    """The metric of the permutation test. A vector of zeros, a usage that is the mean of all, has no APD."""
    stands_in = get(metric).tested_by
    return stands_in if stands_in and all(rows.any(axis=1).all() for rows in (old, new)) else metric
