"""Score every word: its change score, interval and test, and the curve of e_swap over the swap rate."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, Literal, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from lexshift.errors import UserError
from lexshift.scoring.bootstrap import Interval, bootstrap
from lexshift.scoring.distance.metric import Metric, get, precompute_distances
from lexshift.scoring.permutation import Documents, PermutationTest, permutation_test
from lexshift.scoring.permutation_stages import Permutations, add_permutations, first_permutations
from lexshift.scoring.rates import RateCurve, build_curve
from lexshift.scoring.sscd import RATES, SSCD, Change, sweep
from lexshift.utils.arrays import Matrix
from lexshift.utils.monitor import Monitor
from lexshift.utils.plain import from_plain, to_plain
from lexshift.utils.threads import for_each

K = TypeVar("K")
T = TypeVar("T")
CURVE_WORDS = 100
"""Number of words used for the curve over the swap rate if the vocabulary is large."""
_BATCH = 64  # words per table of a cache
_METHOD = "geometric means tested by documents, intervals from half-samples"  # part of every cache key


@dataclass(frozen=True)
class Scoring:
    """Settings for scoring and testing words.

    Attributes
    ----------
    sscd : SSCD
        The scorer; its rate is replaced by ``rate``.
    rate : float or "auto"
        The swap rate; "auto" selects the one with the smallest mean e_swap.
    permutations : int or "auto"
        Maximum number of permutations per word; "auto" draws as many as the number of tests requires.
    resamples : int
        Number of half-samples for the intervals.
    confidence : float
        Confidence level of the intervals.
    alpha : float
        The false discovery rate for which "auto" determines the number of permutations.
    own_metric : bool
        Whether to test with the metric of the score even if another one is more sensitive.
    """

    sscd: SSCD
    rate: float | Literal["auto"]
    permutations: Permutations = "auto"
    resamples: int = 1_000
    confidence: float = 0.95
    alpha: float = 0.05
    own_metric: bool = False


@dataclass(frozen=True, eq=False)
class Comparisons(Generic[K]):
    """Pairs of sets of usages to score, each with a key: a word, or for instance a word and two periods.

    Attributes
    ----------
    keys : sequence
        Hashable values; if a cache is used, they must be strings, numbers or tuples of these.
    vectors : callable
        Takes a key and returns the vectors of its two sets, (n_old, d) and (n_new, d).
    name : callable
        Takes a key and returns its word, which names the random stream and appears in error messages.
    corpus_sizes : callable, optional
        Takes a key and returns the sizes of its two corpora, used to normalise swap counts (default: from the SSCD).
    families : collection of collections of keys, optional
        The tests over which the false discovery rate is controlled together; by default all of them. A key may be in
        several families.
    documents : callable, optional
        Takes a key and returns the documents of the usages of its two sets, which the test permutes as wholes.
    tested : callable, optional
        Takes a key and returns the vectors of its two sets for the test (default: those of ``vectors``).
    unit : str
        Unit of the keys in progress reports.
    """

    keys: Sequence[K]
    vectors: Callable[[K], tuple[Matrix, Matrix]]
    name: Callable[[K], str] = str
    corpus_sizes: Callable[[K], tuple[int, int]] | None = None
    families: Collection[Collection[K]] | None = None
    documents: Callable[[K], tuple[Documents, Documents]] | None = None
    tested: Callable[[K], tuple[Matrix, Matrix]] | None = None
    unit: str = "words"

    def tested_vectors(self, key: K) -> tuple[Matrix, Matrix] | None:
        """Return the vectors of a key for the test, or None if they are those of the score."""
        return None if self.tested is None else self.tested(key)

    def documents_of(self, key: K) -> tuple[Documents, Documents] | None:
        """Return the documents of the usages of a key, or None if they are not known."""
        return None if self.documents is None else self.documents(key)

    def apply(self, function: Callable[[Matrix, Matrix, str, SSCD], T], sscd: SSCD, key: K) -> T:
        """Call a function with the vectors, the word and the SSCD of a key; errors name the word."""
        old, new = self.vectors(key)
        if self.corpus_sizes is not None:
            sscd = replace(sscd, corpus_sizes=self.corpus_sizes(key))
        try:
            return function(old, new, self.name(key), sscd)
        except ValueError as error:
            raise UserError(f"{self.name(key)!r}: {error}") from error


class TableCache(Protocol):
    """A cache of tables."""

    def get(self, key: str) -> pa.Table | None:
        """Return the table stored under a key, or None."""

    def write(self, key: str, table: pa.Table) -> None:
        """Write a table under a key."""


@dataclass(frozen=True, eq=False)
class WordScore:
    """The change score of one word, its interval, and the permutation test.

    ``tested_metric`` is the name of the metric used in the permutation test, which may differ from that of the score.
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
        The scorer, with the rate that was used.
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
    """Score and test every word, in parallel.

    With ``permutations="auto"``, the number of permutations depends on the tests of all words. Otherwise the result of
    a word at a fixed rate does not depend on the other words.

    Parameters
    ----------
    comparisons : Comparisons
    scoring : Scoring
    monitor : Monitor
    curve_words : int, optional
        Maximum number of words, spread evenly over all of them, to compute the curve over the swap rate from (default:
        all words). With 0 there is no curve, and ``scoring.rate`` must be a number.
    cache : TableCache, optional
        Cache for finished scores.
    identity : str
        Identifier of the vectors, part of the cache keys.
    """
    keys, sscd = list(comparisons.keys), scoring.sscd
    if not keys:
        return Scores({}, None, sscd)
    curve = _rate_curve(comparisons, sscd, len(keys) if curve_words is None else curve_words)
    sscd = replace(sscd, rate=curve.rate if curve is not None and scoring.rate == "auto" else float(scoring.rate))

    scoring = replace(scoring, sscd=sscd)

    def score(key: K) -> WordScore:
        documents, test_vectors = comparisons.documents_of(key), comparisons.tested_vectors(key)
        return comparisons.apply(
            partial(score_word, scoring=scoring, documents=documents, test_vectors=test_vectors), sscd, key
        )

    def test_again(key: K, permutations: int) -> PermutationTest:
        documents, test_vectors = comparisons.documents_of(key), comparisons.tested_vectors(key)
        test = partial(
            _test, scoring=scoring, permutations=permutations, documents=documents, test_vectors=test_vectors
        )
        return comparisons.apply(test, sscd, key)

    monitor.stage("scoring", len(keys), comparisons.unit)
    scores: dict[K, WordScore] = {}
    size = len(keys) if cache is None else _BATCH
    for batch in (keys[begin : begin + size] for begin in range(0, len(keys), size)):
        cache_key = _cache_key(identity, scoring, comparisons, batch)
        table = None if cache is None else cache.get(cache_key)
        if table is None:
            scores |= for_each(batch, score, partial(_advance, monitor, len(scores)))
            if cache is not None:
                cache.write(cache_key, scores_to_table([scores[key] for key in batch]))
        else:
            scores |= zip(batch, scores_from_table(table), strict=True)
            _advance(monitor, len(scores))
    if scoring.permutations == "auto":
        tests = {key: scored.test for key, scored in scores.items()}
        tests = add_permutations(tests, test_again, scoring.alpha, monitor, families=comparisons.families)
        scores = {key: replace(scored, test=tests[key]) for key, scored in scores.items()}
    return Scores(scores, curve, sscd)


def _rate_curve(comparisons: Comparisons[K], sscd: SSCD, max_words: int) -> RateCurve | None:
    """Compute the curve over the swap rate of at most ``max_words`` words; None without words."""
    indices = np.linspace(0, len(comparisons.keys) - 1, min(max_words, len(comparisons.keys))).round().astype(int)
    keys = [comparisons.keys[i] for i in indices]
    if not keys:
        return None

    def sweep_word(old: Matrix, new: Matrix, word: str, sscd: SSCD) -> Any:
        result = sweep(old, new, [sscd.metric], RATES, sscd.repeats, sscd.seed, sscd.strategy, sscd.corpus_sizes, word)
        return result, sscd.corpus_sizes

    sweeps = for_each(keys, lambda key: comparisons.apply(sweep_word, sscd, key)).values()
    return build_curve([comparisons.name(key) for key in keys], *zip(*sweeps, strict=True))


def _advance(monitor: Monitor, before: int, done: int = 0) -> None:
    monitor.advance(before + done, before + done)


def score_word(
    old: Matrix,
    new: Matrix,
    word: str,
    sscd: SSCD,
    scoring: Scoring,
    documents: tuple[Documents, Documents] | None = None,
    test_vectors: tuple[Matrix, Matrix] | None = None,
) -> WordScore:
    """Score and test one word, with the initial number of permutations.

    Parameters
    ----------
    old, new : ndarray of shape (n_old, d) and (n_new, d)
    word : str
    sscd : SSCD
        The scorer, with the rate to use and the sizes of the word's corpora.
    scoring : Scoring
        Settings of the interval and the test.
    documents : (sequence, sequence), optional
        The document of each old and each new usage; see :func:`lexshift.permutation_test`.
    test_vectors : (ndarray of shape (n_old, d), ndarray of shape (n_new, d)), optional
        The vectors for the test (default: ``old`` and ``new``).
    """
    precomputed = replace(sscd, metric=precompute_distances(get(sscd.metric), old, new))
    change = precomputed.score(old, new, word)
    return WordScore(
        change=change,
        interval=bootstrap(old, new, precomputed, scoring.resamples, scoring.confidence, word, change),
        test=_test(old, new, word, sscd, scoring, first_permutations(scoring.permutations), documents, test_vectors),
        tested_metric=get(_choose_metric(sscd, scoring, test_vectors or (old, new))).name,
    )


def _test(
    old: Matrix,
    new: Matrix,
    word: str,
    sscd: SSCD,
    scoring: Scoring,
    permutations: int,
    documents: tuple[Documents, Documents] | None,
    test_vectors: tuple[Matrix, Matrix] | None,
) -> PermutationTest:
    pair = test_vectors or (old, new)
    metric = _choose_metric(sscd, scoring, pair)
    return permutation_test(*pair, metric, permutations, sscd.seed, word, documents=documents)


def _choose_metric(sscd: SSCD, scoring: Scoring, pair: tuple[Matrix, Matrix]) -> str | Metric:
    """Return the metric of the test: that of the score, or the one by which it is tested."""
    return sscd.metric if scoring.own_metric else tested_metric(sscd.metric, *pair)


def tested_metric(metric: str | Metric, old: Matrix, new: Matrix) -> str | Metric:
    """Return the metric to use in the permutation test: ``tested_by`` of the metric, if there is one.

    The metric itself is used if a vector is zero (a usage equal to the mean of all), for which
    the energy distance is undefined.
    """
    substitute = get(metric).tested_by
    return substitute if substitute and all(rows.any(axis=1).all() for rows in (old, new)) else metric


def _cache_key(identity: str, scoring: Scoring, comparisons: Comparisons[K], keys: Sequence[K]) -> str:
    """Return a digest of everything that the scores of these words depend on."""
    sscd, sizes = scoring.sscd, comparisons.corpus_sizes
    parts = [
        _METHOD,
        identity,
        [
            get(sscd.metric).name,
            sscd.strategy,
            float(sscd.rate),
            sscd.repeats,
            sscd.seed,
            sscd.corpus_sizes,
            sscd.distance_weight,
        ],
        [first_permutations(scoring.permutations), scoring.resamples, scoring.confidence, scoring.own_metric],
        [[key, None if sizes is None else sizes(key), _number(comparisons.documents_of(key))] for key in keys],
    ]
    return hashlib.sha256(json.dumps(parts, default=float).encode()).hexdigest()


def _number(documents: tuple[Documents, Documents] | None) -> list[list[int]] | None:
    """Return numbers in place of documents, which do not depend on how documents are named."""
    if documents is None:
        return None
    first = [{document: i for i, document in enumerate(dict.fromkeys(of_rows))} for of_rows in documents]
    return [[numbers[document] for document in of_rows] for numbers, of_rows in zip(first, documents, strict=True)]


def scores_to_table(scores: Sequence[WordScore]) -> pa.Table:
    """Convert scores to a table with a row for each; :func:`scores_from_table` restores them without loss."""
    return pa.table({"score": pa.array([json.dumps(to_plain(score)) for score in scores], pa.string())})


def scores_from_table(table: pa.Table) -> list[WordScore]:
    """Restore the scores from a table made by :func:`scores_to_table`; additional columns are ignored."""
    return [from_plain(WordScore, json.loads(text)) for text in table["score"].to_pylist()]
