"""Test that the scores of many words equal those of each word alone."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from lexshift import SSCD, Metric, UserError, benjamini_hochberg, bootstrap, permutation_test, search_rate
from lexshift.engine.cache import Cache
from lexshift.scoring import scores as scoring
from lexshift.scoring.bootstrap import SWAPS, Interval
from lexshift.scoring.distance.metric import get
from lexshift.scoring.scores import (
    Comparisons,
    Scores,
    Scoring,
    WordScore,
    score_word,
    score_words,
    scores_from_table,
    scores_to_table,
)
from lexshift.scoring.sscd import Change
from lexshift.scoring.swap import Strategy
from lexshift.utils.arrays import Floats, Matrix, Pairs
from lexshift.utils.monitor import Monitor, Silent

PERMUTATIONS, RESAMPLES, CONFIDENCE = 60, 25, 0.9
Rate = float | Literal["auto"]


class RecordingMonitor:
    """Monitor that records its events and their threads."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []
        self.threads: set[int] = set()

    def stage(self, name: str, total: int, unit: str) -> None:
        self._record("stage", name, total, unit)

    def advance(self, done: int, items: int = 0, status: str = "") -> None:
        assert not status
        self._record("advance", done, items)

    def note(self, text: str) -> None:
        self._record("note", text)

    def _record(self, *what: Any) -> None:
        self.events.append(what)
        self.threads.add(threading.get_ident())


def some_words(n: int, seed: int = 0, d: int = 4) -> dict[str, tuple[Matrix, Matrix]]:
    """Return words with 6 to 19 usages in each corpus, the second half of them changed."""
    rng = np.random.default_rng(seed)
    found: dict[str, tuple[Matrix, Matrix]] = {}
    for i in range(n):
        n_old, n_new = rng.integers(6, 20, 2)
        shift = 2.0 * (2 * i >= n) * (-1.0) ** np.arange(d)
        found[f"word{i}"] = rng.normal(1, 1, (n_old, d)), rng.normal(1, 1, (n_new, d)) + shift
    return found


def scored(
    words: Pairs,
    sscd: SSCD,
    rate: Rate = 0.4,
    permutations: int | Literal["auto"] = PERMUTATIONS,
    monitor: Monitor | None = None,
    cache: Cache | None = None,
    identity: str = "vectors",
) -> Scores[str]:
    scoring = Scoring(sscd, rate, permutations, RESAMPLES, CONFIDENCE)
    comparisons = Comparisons(list(words), words.__getitem__)
    return score_words(comparisons, scoring, monitor or Silent(), cache=cache, identity=identity)


def by_itself(words: Pairs, word: str, sscd: SSCD) -> WordScore:
    old, new = words[word]
    return WordScore(
        sscd.score(old, new, word),
        bootstrap(old, new, sscd, RESAMPLES, CONFIDENCE, word),
        permutation_test(old, new, scoring.tested_metric(sscd.metric, old, new), PERMUTATIONS, sscd.seed, word),
        get(scoring.tested_metric(sscd.metric, old, new)).name,
    )


def as_values(change: Change) -> dict[str, Any]:
    return {name: getattr(value, "tolist", lambda value=value: value)() for name, value in vars(change).items()}


def assert_same(a: WordScore, b: WordScore) -> None:
    assert as_values(a.change) == as_values(b.change)
    assert a.interval == b.interval
    assert a.test == b.test
    assert a.tested_metric == b.tested_metric


# The scores


@settings(max_examples=25)
@given(
    st.integers(1, 5),
    st.sampled_from(["kl", "cosine", "euclidean", "apd", "nearest", "energy", "amd", "samd"]),
    st.sampled_from(["random", "distance"]),
    st.sampled_from([0.0, 0.3, 0.4, 1.0, "auto"]),
    st.sampled_from([None, (300, 100)]),
    st.integers(0, 99),
)
def test_scores_equal_those_of_the_individual_functions(
    n: int, metric: str, strategy: Strategy, rate: Rate, corpus_sizes: tuple[int, int] | None, seed: int
) -> None:
    words = some_words(n, seed)
    sscd = SSCD(metric, strategy, 0.4, repeats=3, seed=seed, corpus_sizes=corpus_sizes)
    found = scored(words, sscd, rate)
    curve = search_rate(words, metric, repeats=3, seed=seed, strategy=strategy, corpus_sizes=corpus_sizes)
    assert found.curve is not None
    for name in ("rates", "e_original", "e_swap", "closed_forms"):
        assert_array_equal(getattr(found.curve, name), getattr(curve, name))
    assert found.curve.words == tuple(words)
    assert found.sscd == replace(sscd, rate=curve.rate if rate == "auto" else rate)
    assert list(found.words) == list(words)
    for word, ours in found.words.items():
        assert_same(ours, by_itself(words, word, found.sscd))
        assert ours.change.rate == found.sscd.rate
        assert ours.interval.confidence == CONFIDENCE


@settings(max_examples=15)
@given(st.permutations([f"word{i}" for i in range(6)]), st.integers(1, 6), st.integers(0, 9))
def test_order_and_number_of_words_do_not_change_a_score(order: list[str], n: int, seed: int) -> None:
    words, sscd = some_words(6, seed), SSCD("cosine", repeats=3, seed=seed)
    everything, some = scored(words, sscd), scored({word: words[word] for word in order[:n]}, sscd)
    assert list(some.words) == order[:n]
    for word in order[:n]:
        assert_same(some.words[word], everything.words[word])


@settings(max_examples=15)
@given(st.permutations([f"word{i}" for i in range(5)]), st.sampled_from(["kl", "euclidean"]), st.integers(0, 9))
def test_rate_is_the_estimated_one_if_auto_is_requested(order: list[str], metric: str, seed: int) -> None:
    words = some_words(5, seed)
    sscd = SSCD(metric, rate=0.4, repeats=4, seed=seed)
    expected = search_rate(words, metric, repeats=4, seed=seed)
    found = scored({word: words[word] for word in order}, sscd, "auto", permutations=1)
    assert found.sscd.rate == expected.rate == expected.rates[np.argmin(expected.e_swap.mean(axis=(0, 2)))]
    assert {ours.change.rate for ours in found.words.values()} == {expected.rate}
    assert sscd.rate == 0.4


def test_requested_rate_overrides_that_of_the_sscd() -> None:
    words = some_words(2)
    found = scored(words, SSCD("cosine", rate=0.9, repeats=3), 0.2)
    assert found.sscd.rate == 0.2
    for word in words:
        assert_same(found.words[word], by_itself(words, word, SSCD("cosine", rate=0.2, repeats=3)))


def test_concurrently_scored_words_are_not_mixed_up() -> None:
    words = some_words(40, d=2)
    sscd = SSCD("euclidean", repeats=2)
    found = scored(words, sscd, 0.5, 30)
    assert list(found.words) == list(words)
    for word, (old, new) in words.items():
        change = found.words[word].change
        assert (change.n_old, change.n_new) == (len(old), len(new))
        assert change.e_original == pytest.approx(np.linalg.norm(old.mean(axis=0) - new.mean(axis=0)))


def test_without_words_there_are_no_scores_and_no_curve(tmp_path: Path) -> None:
    sscd, recorder = SSCD("cosine", rate=0.3), RecordingMonitor()
    rates: list[Rate] = [0.4, "auto"]
    for rate in rates:
        found = scored({}, sscd, rate, "auto", recorder, Cache(tmp_path))
        assert (found.words, found.curve, found.sscd) == ({}, None, sscd)
    assert recorder.events == []


# Errors


def test_unscorable_usages_are_reported_with_their_word() -> None:
    words = some_words(3)
    words["word1"][1][2, 3] = np.nan
    with pytest.raises(UserError, match=r"^'word1': new holds nan at row 2, dimension 3"):
        scored(words, SSCD("cosine", repeats=2))


def test_word_with_one_usage_is_named() -> None:
    words = some_words(3)
    words["word2"] = words["word2"][0][:1], words["word2"][1]
    with pytest.raises(ValueError, match=r"^'word2': old has 1 row; .* at least 2 occurrences"):
        scored(words, SSCD("cosine", repeats=2))


def test_metric_error_during_the_tests_names_the_word_and_ends_the_run() -> None:
    calls = 0

    def between(old: Any, new: Any) -> Floats:
        nonlocal calls
        calls += 1
        if len(new.mean) == (RESAMPLES + 1) * (SWAPS + 1):  # a batch of the bootstrap: half-samples come in pairs
            raise ValueError("no more of this")
        return np.ones(np.shape(old.mean)[:-1])

    words, recorder = some_words(30), RecordingMonitor()
    sscd = SSCD(Metric("moody", between), repeats=2)
    with pytest.raises(UserError, match=r"^'word\d+': no more of this$"):
        scored(words, sscd, monitor=recorder)
    assert calls > 0
    assert recorder.events == [("stage", "scoring", 30, "words")]


# Progress


@pytest.mark.parametrize("n", [1, 7])
def test_monitor_receives_progress_for_every_word(n: int) -> None:
    recorder = RecordingMonitor()
    scored(some_words(n), SSCD("cosine", repeats=2), "auto", 20, recorder)
    assert recorder.events[0] == ("stage", "scoring", n, "words")
    assert recorder.events[1:] == [("advance", done, done) for done in range(1, n + 1)]
    assert recorder.threads == {threading.get_ident()}


# Keys, corpus sizes and the curve


@pytest.mark.parametrize("rate", [0.3, "auto"])
def test_keys_of_several_pairs_of_periods_are_scored_like_their_words(rate: Rate) -> None:
    rng = np.random.default_rng(3)
    usages = {word: [rng.normal(i, 1, (n, 3)) for i, n in enumerate((9, 14, 11))] for word in ("a", "b")}
    sizes = (300, 100, 200)
    keys = [("a", 0, 1), ("a", 1, 2), ("b", 0, 2)]
    comparisons = Comparisons(
        keys,
        vectors=lambda key: (usages[key[0]][key[1]], usages[key[0]][key[2]]),
        name=lambda key: key[0],
        corpus_sizes=lambda key: (sizes[key[1]], sizes[key[2]]),
        unit="pairs of periods",
    )
    recorder = RecordingMonitor()
    found = score_words(comparisons, Scoring(SSCD("euclidean", repeats=3), rate, 60, RESAMPLES, CONFIDENCE), recorder)
    assert list(found.words) == keys
    assert recorder.events[0] == ("stage", "scoring", 3, "pairs of periods")
    assert found.curve is not None
    curves = []
    for word, i, j in keys:
        pair = {word: (usages[word][i], usages[word][j])}
        sscd = replace(found.sscd, corpus_sizes=(sizes[i], sizes[j]))
        assert_same(found.words[word, i, j], by_itself(pair, word, sscd))
        curves.append(search_rate(pair, "euclidean", repeats=3, corpus_sizes=(sizes[i], sizes[j])))
    assert found.curve.words == ("a", "a", "b")
    assert_array_equal(found.curve.e_swap, np.concatenate([curve.e_swap for curve in curves]))
    assert_array_equal(found.curve.closed_forms, np.concatenate([curve.closed_forms for curve in curves]))
    assert found.sscd.rate == (found.curve.rate if rate == "auto" else rate)


@pytest.mark.parametrize(("most", "expected"), [(1, [0]), (3, [0, 4, 8]), (9, range(9)), (100, range(9)), (0, [])])
def test_curve_uses_an_even_selection_of_words(most: int, expected: Sequence[int]) -> None:
    words = some_words(9)
    comparisons = Comparisons(list(words), words.__getitem__)
    found = score_words(comparisons, Scoring(SSCD("cosine", repeats=2), 0.4, 20, 5), Silent(), most)
    assert (() if found.curve is None else found.curve.words) == tuple(f"word{i}" for i in expected)
    assert len(found.words) == 9


def test_rate_cannot_be_estimated_without_a_curve() -> None:
    words = some_words(2)
    with pytest.raises(ValueError, match="auto"):
        score_words(Comparisons(list(words), words.__getitem__), Scoring(SSCD("cosine"), "auto", 20, 5), Silent(), 0)


# The cache


@pytest.mark.parametrize("rate", [0.3, "auto"])
def test_cached_scores_equal_those_without_a_cache(tmp_path: Path, rate: Rate) -> None:
    words, sscd = some_words(5), SSCD("cosine", repeats=3)
    expected = scored(words, sscd, rate)
    for _ in range(2):
        found = scored(words, sscd, rate, cache=Cache(tmp_path))
        assert found.sscd == expected.sscd
        assert list(found.words) == list(words)
        for word in words:
            assert_same(found.words[word], expected.words[word])


def test_scores_are_unchanged_by_storing(tmp_path: Path) -> None:
    words, sscd = some_words(3), SSCD("cosine")
    made = [score_word(*pair, word, sscd, Scoring(sscd, 0.4, 100, 20)) for word, pair in words.items()]
    cache = Cache(tmp_path)
    cache.write("k", scores_to_table(made).append_column("word", [list(words)]))
    table = cache.get("k")
    assert table is not None
    for ours, back in zip(made, scores_from_table(table), strict=True):
        assert_same(ours, back)
    assert scores_from_table(scores_to_table([])) == []


def test_cached_words_are_not_scored_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words, cache, sscd = some_words(6), Cache(tmp_path), SSCD("cosine", repeats=2)
    monkeypatch.setattr(scoring, "_BATCH", 2)
    calls: list[str] = []

    def counting(old: Matrix, new: Matrix, word: str, *rest: Any, **more: Any) -> WordScore:
        calls.append(word)
        if len(calls) == 5 and stops:
            raise KeyboardInterrupt
        return score_word(old, new, word, *rest, **more)

    monkeypatch.setattr(scoring, "score_word", counting)
    stops = True
    with pytest.raises(KeyboardInterrupt):
        scored(words, sscd, cache=cache)
    stops = False
    calls.clear()
    first = scored(words, sscd, cache=cache)
    assert sorted(calls) == ["word4", "word5"]
    calls.clear()
    recorder = RecordingMonitor()
    again = scored(words, sscd, monitor=recorder, cache=cache)
    assert calls == []
    assert recorder.events == [("stage", "scoring", 6, "words"), *(("advance", done, done) for done in (2, 4, 6))]
    for word in words:
        assert_same(first.words[word], again.words[word])
    scored(words, sscd, cache=cache, identity="other vectors")
    assert len(calls) == 6


@pytest.mark.parametrize(
    "other", [{"metric": "kl"}, {"repeats": 3}, {"seed": 1}, {"distance_weight": 0.5}, {"corpus_sizes": (300, 100)}]
)
def test_scores_of_other_settings_are_not_reused(tmp_path: Path, other: dict[str, Any]) -> None:
    words, sscd, cache = some_words(3), SSCD("cosine", repeats=2), Cache(tmp_path)
    scored(words, sscd, cache=cache)
    changed = replace(sscd, **other)
    expected = scored(words, changed)
    for word, found in scored(words, changed, cache=cache).words.items():
        assert_same(found, expected.words[word])


def test_scores_of_an_earlier_method_are_not_reused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words, sscd, cache = some_words(3), SSCD("cosine", repeats=2), Cache(tmp_path)
    fresh = scored(words, sscd)
    with monkeypatch.context() as patch:
        patch.setattr(scoring, "_METHOD", "scores")
        patch.setattr(scoring, "bootstrap", lambda *_: Interval(8, 9, 0.95, 0))
        assert scored(words, sscd, cache=cache).words["word0"].interval.low == 8
    for word, found in scored(words, sscd, cache=cache).words.items():
        assert_same(found, fresh.words[word])


@pytest.mark.parametrize(("changed", "permutations"), [(1, {1_000, 10_000}), (12, {1_000})])
def test_few_changed_words_among_many_get_more_permutations(changed: int, permutations: set[int]) -> None:
    rng = np.random.default_rng(0)
    words = {
        f"w{i}": (rng.normal(0, 1, (12, 5)), rng.normal(1.5 * (i < changed), 1, (11, 5)))
        for i in range(40 if changed == 1 else 12)
    }
    found = scored(words, SSCD("cosine"), 0.3, "auto").words
    assert {ours.test.permutations for ours in found.values()} == permutations
    assert benjamini_hochberg([ours.test.p for ours in found.values()])[0] <= 0.05
    assert found["w0"].test.p < 2e-3
