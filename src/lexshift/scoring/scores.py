"""From sibling embeddings to scores: the change, interval and test of every word, and the curve over the swap rate."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Generic, Literal, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from lexshift.errors import UserError
from lexshift.scoring.bootstrap import Interval, bootstrap
from lexshift.scoring.distance.metric import Metric, get, precompute_distances
from lexshift.scoring.permutation import (
    Permutations,
    PermutationTest,
    add_permutations,
    first_permutations,
    permutation_test,
)
from lexshift.scoring.rates import RateCurve, curve_of
from lexshift.scoring.sscd import RATES, SSCD, Change, sweep
from lexshift.utils.arrays import Matrix
from lexshift.utils.monitor import Monitor
from lexshift.utils.threads import for_each

K = TypeVar("K")
T = TypeVar("T")
CURVE_WORDS = 100
"""Number of words that the curve over the swap rate is computed from where there are very many words."""
_BATCH = 64  # words whose scores are stored in one table of a cache
_METHOD = "tested scores with intervals from half-samples"  # in every cache key: scores of another method do not match
_PARTS = {"change": Change, "interval": Interval, "test": PermutationTest}  # of a WordScore, and of its row in a table


@dataclass(frozen=True)
class Scoring:
    """How words are scored and tested.

    Attributes
    ----------
    sscd : SSCD
        What computes the change scores; ``rate`` takes the place of its rate.
    rate : float or "auto"
        The swap rate; "auto" takes the one at which the mean e_swap is least.
    permutations : int or "auto"
        Maximum number of permutations per word; "auto" draws as many as the number of tests requires.
    resamples : int
        Number of half-samples for the intervals.
    confidence : float
        Confidence level of the intervals.
    alpha : float
        The false discovery rate that "auto" draws permutations for.
    """

    sscd: SSCD
    rate: float | Literal["auto"]
    permutations: Permutations = "auto"
    resamples: int = 1_000
    confidence: float = 0.95
    alpha: float = 0.05


@dataclass(frozen=True, eq=False)
class Comparisons(Generic[K]):
    """Pairs of sets of usages to be scored, each with a key: a word, or for instance a word and two periods.

    Attributes
    ----------
    keys : sequence
        Hashable values, and for a cache plain ones: strings, numbers and tuples of them.
    vectors : callable
        Takes a key and returns the vectors of its two sets, (n_old, d) and (n_new, d).
    name : callable
        Takes a key and returns its word, which names the random streams and is named in errors.
    corpus_sizes : callable, optional
        Takes a key and returns the sizes of its two corpora, by which swap counts are normalised; by default they are
        those of the SSCD.
    families : collection of collections of keys, optional
        The tests over which the false discovery rate is controlled together; by default all of them. A key may be in
        several families.
    unit : str
        What the keys are called in progress reports.
    """

    keys: Sequence[K]
    vectors: Callable[[K], tuple[Matrix, Matrix]]
    name: Callable[[K], str] = str
    corpus_sizes: Callable[[K], tuple[int, int]] | None = None
    families: Collection[Collection[K]] | None = None
    unit: str = "words"

    def apply(self, function: Callable[[Matrix, Matrix, str, SSCD], T], sscd: SSCD, key: K) -> T:
        """Call a function with the vectors, the word and the SSCD of a key; an error names the word."""
        old, new = self.vectors(key)
        if self.corpus_sizes is not None:
            sscd = replace(sscd, corpus_sizes=self.corpus_sizes(key))
        try:
            return function(old, new, self.name(key), sscd)
        except ValueError as error:
            raise UserError(f"{self.name(key)!r}: {error}") from error


class TableCache(Protocol):
    """Tables of finished work, each with a key."""

    def get(self, key: str) -> pa.Table | None:
        """Return the table of a key, or None."""

    def put(self, key: str, table: pa.Table) -> None:
        """Store a table."""


@dataclass(frozen=True, eq=False)
class WordScore:
    """The change score of one word, its interval, and the permutation test.

    ``tested_metric`` is the name of the metric whose distance was tested, which may be another than that of the score.
    """

    change: Change
    interval: Interval
    test: PermutationTest
    tested_metric: str


@dataclass(frozen=True, eq=False)
class Scores(Generic[K]):
    """The scores of all words.

    Attributes
    ----------
    words : dict of a key to its WordScore
    curve : RateCurve or None
        Mean e_swap against the swap rate; None if there are no words, or if it was not computed.
    sscd : SSCD
        What computed the scores, with the rate that was used.
    """

    words: dict[K, WordScore]
    curve: RateCurve | None
    sscd: SSCD


def score_words(
    comparisons: Comparisons[K],
    scoring: Scoring,
    monitor: Monitor,
    curve_words: int | None = None,
    cache: TableCache | None = None,
    identity: str = "",
) -> Scores[K]:
    """Score and test every word, several at a time.

    With ``permutations`` "auto", their number depends on the tests of all words. Otherwise no word's result depends on
    the others at a given rate.

    Parameters
    ----------
    comparisons : Comparisons
    scoring : Scoring
    monitor : Monitor
    curve_words : int, optional
        Maximum number of words, spread evenly over all, that the curve over the swap rate is computed from; by default
        all words. With 0 there is no curve, and ``scoring.rate`` must be a number.
    cache : TableCache, optional
        Where finished scores are stored, and looked up.
    identity : str
        Stands for the vectors in the keys of the cache.
    """
    keys, sscd = list(comparisons.keys), scoring.sscd
    if not keys:
        return Scores({}, None, sscd)
    curve = _rate_curve(comparisons, sscd, len(keys) if curve_words is None else curve_words)
    sscd = replace(sscd, rate=curve.rate if curve is not None and scoring.rate == "auto" else float(scoring.rate))

    scoring = replace(scoring, sscd=sscd)

    def score(key: K) -> WordScore:
        return comparisons.apply(partial(score_word, scoring=scoring), sscd, key)

    def test_again(key: K, permutations: int) -> PermutationTest:
        return comparisons.apply(partial(_test, permutations=permutations), sscd, key)

    monitor.stage("scoring", len(keys), comparisons.unit)
    found: dict[K, WordScore] = {}
    size = len(keys) if cache is None else _BATCH
    for batch in (keys[begin : begin + size] for begin in range(0, len(keys), size)):
        cache_key = _cache_key(identity, scoring, comparisons, batch)
        table = None if cache is None else cache.get(cache_key)
        if table is None:
            found |= for_each(batch, score, partial(_advance, monitor, len(found)))
            if cache is not None:
                cache.put(cache_key, scores_to_table([found[key] for key in batch]))
        else:
            found |= zip(batch, scores_from_table(table), strict=True)
            _advance(monitor, len(found))
    if scoring.permutations == "auto":
        tests = {key: scored.test for key, scored in found.items()}
        tests = add_permutations(tests, test_again, scoring.alpha, monitor, families=comparisons.families)
        found = {key: replace(scored, test=tests[key]) for key, scored in found.items()}
    return Scores(found, curve, sscd)


def _rate_curve(comparisons: Comparisons[K], sscd: SSCD, most: int) -> RateCurve | None:
    """Return the curve over the swap rate of at most so many words, spread evenly over all; None of no words."""
    at = np.linspace(0, len(comparisons.keys) - 1, min(most, len(comparisons.keys))).round().astype(int)
    keys = [comparisons.keys[i] for i in at]
    if not keys:
        return None

    def one(old: Matrix, new: Matrix, word: str, sscd: SSCD) -> Any:
        found = sweep(old, new, [sscd.metric], RATES, sscd.repeats, sscd.seed, sscd.strategy, sscd.corpus_sizes, word)
        return found, sscd.corpus_sizes

    swept = for_each(keys, lambda key: comparisons.apply(one, sscd, key)).values()
    return curve_of([comparisons.name(key) for key in keys], *zip(*swept, strict=True))


def _advance(monitor: Monitor, before: int, done: int = 0) -> None:
    monitor.advance(before + done, before + done)


def score_word(old: Matrix, new: Matrix, word: str, sscd: SSCD, scoring: Scoring) -> WordScore:
    """Score and test one word, with as many permutations as every test draws first.

    Parameters
    ----------
    old, new : ndarray of shape (n_old, d) and (n_new, d)
    word : str
    sscd : SSCD
        With the rate that is used, and the sizes of the word's corpora.
    scoring : Scoring
        How the score is tested.
    """
    once = replace(sscd, metric=precompute_distances(get(sscd.metric), old, new))
    change = once.score(old, new, word)
    return WordScore(
        change=change,
        interval=bootstrap(old, new, once, scoring.resamples, scoring.confidence, word, change.score),
        test=_test(old, new, word, sscd, first_permutations(scoring.permutations)),
        tested_metric=get(tested_metric(sscd.metric, old, new)).name,
    )


def _test(old: Matrix, new: Matrix, word: str, sscd: SSCD, permutations: int) -> PermutationTest:
    return permutation_test(old, new, tested_metric(sscd.metric, old, new), permutations, sscd.seed, word)


def tested_metric(metric: str | Metric, old: Matrix, new: Matrix) -> str | Metric:
    """Return the metric of the permutation test. A vector of zeros, a usage that is the mean of all, has no APD."""
    stands_in = get(metric).tested_by
    return stands_in if stands_in and all(rows.any(axis=1).all() for rows in (old, new)) else metric


def _cache_key(identity: str, scoring: Scoring, comparisons: Comparisons[K], keys: Sequence[K]) -> str:
    """Return a digest of all that the scores of some words depend on."""
    sscd, sizes = scoring.sscd, comparisons.corpus_sizes
    parts = [
        _METHOD,
        identity,
        [get(sscd.metric).name, sscd.strategy, float(sscd.rate), sscd.repeats, sscd.seed, sscd.corpus_sizes, sscd.keep],
        [first_permutations(scoring.permutations), scoring.resamples, scoring.confidence],
        [[key, None if sizes is None else sizes(key)] for key in keys],
    ]
    return hashlib.sha256(json.dumps(parts, default=float).encode()).hexdigest()


def scores_to_table(scores: Sequence[WordScore]) -> pa.Table:
    """Return scores as a table, a row for each; :func:`scores_from_table` reads them back without loss."""
    rows = []
    for scored in scores:
        row = {f"{part} {name}": value for part in _PARTS for name, value in asdict(getattr(scored, part)).items()}
        plain = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in row.items()}
        rows.append({**plain, "tested_metric": scored.tested_metric})
    return pa.Table.from_pylist(rows)


def scores_from_table(table: pa.Table) -> list[WordScore]:
    """Return the scores that :func:`scores_to_table` made a table of; other columns may be beside them."""
    found = []
    for row in table.to_pylist():
        row["change e_swap"] = np.array(row["change e_swap"], float)
        parts = {
            part: kind(**{name.removeprefix(f"{part} "): row[name] for name in row if name.startswith(f"{part} ")})
            for part, kind in _PARTS.items()
        }
        found.append(WordScore(**parts, tested_metric=row["tested_metric"]))
    return found
