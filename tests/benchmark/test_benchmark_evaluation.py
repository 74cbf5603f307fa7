"""Test the evaluation of a method on a data set, with handmade scores and gold."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pytest
from scipy import stats

from lexshift import SSCD, embed_usages
from lexshift.benchmark.datasets.dataset import PERIODS, SCHEMA, Dataset, TextSize
from lexshift.benchmark.evaluation import evaluate_system, grid_table, select_pairs
from lexshift.benchmark.measures import average_precision, spearman
from lexshift.benchmark.systems import Grid, SystemScores, compared_systems, score_distance, score_liu, score_sscd
from lexshift.utils.arrays import Matrix

WORDS = ("a", "b", "c", "d", "e", "f")
GRADED = {"a": 0.1, "b": 0.9, "c": 0.3, "d": 0.6, "e": 0.2}
BINARY = {"a": False, "b": True, "c": False, "d": True, "e": False}


def dataset(
    graded: Mapping[str, float] | None = None,
    binary: Mapping[str, bool] | None = None,
    words: tuple[str, ...] = WORDS,
    usages: Sequence[tuple[str, int, str]] = (),
) -> Dataset:
    ordered = sorted(usages, key=lambda usage: (words.index(usage[0]), usage[1]))
    rows = [
        {"word": word, "corpus": PERIODS[period], "file": "made", "line": line, "sentence": sentence}
        | {"start": sentence.index(word), "end": sentence.index(word) + len(word)}
        for line, (word, period, sentence) in enumerate(ordered, 1)
    ]
    return Dataset(
        name="made",
        kind="made",
        language="",
        periods=("1", "2"),
        words=words,
        usages=pa.Table.from_pylist(rows, SCHEMA),
        graded=dict(graded or {}),
        gold="graded",
        binary=dict(binary or {}),
        texts=(TextSize(1, 1, 1), TextSize(1, 1, 1)),
    )


def scored_of(
    words: Sequence[str], repetitions: int = 3, seed: int = 0, changed: Sequence[bool] | None = None
) -> SystemScores:
    scores = np.random.default_rng(seed).uniform(0, 1, (len(words), repetitions))
    return SystemScores("made", tuple(words), scores, None if changed is None else np.array(changed, bool))


def rho(scores: npt.ArrayLike, gold: Sequence[float]) -> float:
    return float(stats.spearmanr(scores, gold).statistic)


# ----------------------------------------------------------------------------------------------------------- evaluation


def test_mean_scores_and_each_repetition_are_correlated_with_gold() -> None:
    scored = scored_of(list(GRADED))
    found = evaluate_system(dataset(GRADED), scored)
    gold = list(GRADED.values())
    each = [rho(column, gold) for column in scored.scores.T]
    assert found.method == "made"
    averaged = spearman(scored.scores.mean(axis=1), gold)
    assert (found.spearman, found.low, found.high) == (averaged.rho, averaged.low, averaged.high)
    assert found.spearman == pytest.approx(rho(scored.scores.mean(axis=1), gold))
    assert found.spearman_each == pytest.approx(np.mean(each))
    assert found.spearman_each_sd == pytest.approx(np.std(each))
    assert (found.words, found.dropped) == (5, 0)


def test_sign_of_a_correlation_is_preserved() -> None:
    scores = np.array([[-value] for value in GRADED.values()])
    found = evaluate_system(dataset(GRADED), SystemScores("upside down", tuple(GRADED), scores))
    assert (found.spearman, found.spearman_each, found.spearman_each_sd) == (-1, -1, 0)


def test_words_are_matched_by_name_and_not_by_position() -> None:
    words = ("e", "c", "a", "b", "d")
    scores = np.array([[GRADED[word]] for word in words])
    changed = np.array([BINARY[word] for word in words])
    found = evaluate_system(dataset(GRADED, BINARY), SystemScores("right", words, scores, changed))
    assert (found.spearman, found.spearman_each, found.average_precision) == (1, 1, 1)
    assert (found.accuracy, found.f1) == (1, 1)


def test_words_without_gold_are_ignored() -> None:
    scored = scored_of(["a", "b", "f", "c", "d", "x", "e"], changed=[False, True, True, False, False, True, False])
    at = [0, 1, 3, 4, 6]
    assert scored.changed is not None
    without = SystemScores("made", tuple(GRADED), scored.scores[at], scored.changed[at])
    data = dataset(GRADED, BINARY)
    assert evaluate_system(data, scored) == evaluate_system(data, without)
    assert evaluate_system(data, scored).words == 5


def test_words_without_a_score_are_counted_and_excluded_from_the_correlation() -> None:
    scored = scored_of(["a", "b", "c"])
    found = evaluate_system(dataset(GRADED, BINARY), scored)
    assert (found.dropped, found.words) == (2, 3)
    assert found.spearman == pytest.approx(rho(scored.mean, [0.1, 0.9, 0.3]))
    assert found.average_precision == average_precision(scored.mean, [False, True, False])


def test_dropped_word_counts_as_stable() -> None:
    found = evaluate_system(dataset(GRADED, BINARY), scored_of(["a", "b"], changed=[True, True]))
    # The method calls a and b changed; the gold has b and d.
    assert found.accuracy == pytest.approx(3 / 5)  # b, c, e
    assert found.f1 == pytest.approx(2 * 1 / (2 + 2))
    assert (found.precision, found.called) == (1 / 2, 2)


def test_method_that_drops_every_word_calls_all_stable_and_has_no_correlation() -> None:
    nothing = SystemScores("none", (), np.zeros((0, 1)), np.zeros(0, bool))
    found = evaluate_system(dataset(GRADED, BINARY), nothing)
    assert (found.accuracy, found.f1, found.called) == (3 / 5, 0, 0)
    assert math.isnan(found.precision)
    undefined = (found.spearman, found.low, found.high, found.spearman_each, found.spearman_each_sd)
    assert all(map(math.isnan, (*undefined, found.average_precision)))
    assert (found.dropped, found.words) == (5, 0)


def test_method_without_decisions_has_average_precision_only() -> None:
    scored = scored_of(list(BINARY))
    found = evaluate_system(dataset(GRADED, BINARY), scored)
    assert all(map(math.isnan, (found.accuracy, found.f1, found.precision, found.called)))
    assert found.average_precision == average_precision(scored.mean, list(BINARY.values()))


def test_without_binary_gold_there_is_no_decision_and_no_precision() -> None:
    found = evaluate_system(dataset(GRADED), scored_of(list(GRADED), changed=[True] * 5))
    decided = (found.accuracy, found.f1, found.precision, found.called)
    assert all(map(math.isnan, (*decided, found.average_precision)))


def test_dropped_words_with_binary_gold_only_are_counted() -> None:
    found = evaluate_system(dataset(binary=BINARY), scored_of(["a", "b", "d", "f"], changed=[False, True, True, True]))
    assert found.dropped == 2
    assert math.isnan(found.spearman)
    assert found.words == 0
    assert (found.accuracy, found.f1) == (1, 1)


def test_graded_and_binary_gold_may_cover_different_words() -> None:
    found = evaluate_system(
        dataset({"a": 1, "b": 2, "c": 3}, {"d": True, "e": False}), scored_of(WORDS, changed=[True] * 6)
    )
    assert found.words == 3
    assert found.accuracy == 0.5


# --------------------------------------------------------------------------------------------------------------- tables


def test_table_has_one_row_per_evaluation() -> None:
    data = dataset(GRADED, BINARY)
    evaluations = [
        evaluate_system(data, scored_of(list(GRADED), seed=1)),
        evaluate_system(data, scored_of(["a", "b", "c", "d"], seed=2, changed=[False, True, True, False])),
    ]
    frame = pd.DataFrame(evaluations)
    assert list(frame.columns) == [
        "method", "spearman", "low", "high", "spearman_each", "spearman_each_sd", "accuracy", "f1", "precision",
        "called", "average_precision", "words", "dropped",
    ]  # fmt: skip
    for row, found in zip(frame.to_dict("records"), evaluations, strict=True):
        assert row["method"] == found.method
        assert (row["spearman"], row["low"], row["high"]) == (
            found.spearman,
            found.low,
            found.high,
        )
        assert (row["spearman_each"], row["spearman_each_sd"]) == (found.spearman_each, found.spearman_each_sd)
        assert (row["average_precision"], row["words"], row["dropped"]) == (
            found.average_precision,
            found.words,
            found.dropped,
        )
    assert frame[["accuracy", "f1", "precision", "called"]].iloc[0].isna().all()
    assert frame["accuracy"][1] == evaluations[1].accuracy
    assert frame["f1"][1] == evaluations[1].f1
    assert frame[["precision", "called"]].iloc[1].tolist() == [0.5, 2]


def grid_of(words: tuple[str, ...], seed: int = 0) -> Grid:
    """Return a grid of two metrics, two strategies with four repetitions and one, and three rates."""
    rng = np.random.default_rng(seed)
    e_swap = {name: rng.uniform(0, 1, (len(words), 2, 3, n)) for name, n in (("random", 4), ("distance", 1))}
    e_original = rng.uniform(0, 1, (len(words), 2))
    return Grid(words, ("kl", "cosine"), ("random", "distance"), np.array([0.1, 0.4, 0.9]), e_original, e_swap)


def test_grid_table_has_one_row_per_metric_strategy_and_rate() -> None:
    grid = grid_of(("c", "x", "a", "e", "b"))  # x has no gold, d is dropped
    words, at = ["c", "a", "e", "b"], [0, 2, 3, 4]
    gold = [GRADED[word] for word in words]
    frame = grid_table(dataset(GRADED, BINARY), grid)
    keys = list(zip(frame["metric"], frame["strategy"], frame["rate"], strict=True))
    assert sorted(keys) == sorted(
        (metric, strategy, rate)
        for metric in grid.metrics
        for strategy in grid.strategies
        for rate in grid.rates.tolist()
    )
    for row in frame.to_dict("records"):
        m, r = grid.metrics.index(row["metric"]), grid.rates.tolist().index(row["rate"])
        e_swap = grid.e_swap[row["strategy"]][at, m, r]
        scores = np.abs(grid.e_original[at, m][:, None] - e_swap)
        each = [rho(column, gold) for column in scores.T]
        assert row["spearman_each"] == pytest.approx(np.mean(each))
        assert row["spearman_each_sd"] == pytest.approx(np.std(each))
        assert row["spearman"] == pytest.approx(rho(scores.mean(axis=1), gold))
        assert row["e_original"] == pytest.approx(rho(grid.e_original[at, m], gold))
        assert row["e_swap_mean"] == pytest.approx(grid.e_swap[row["strategy"]][:, m, r].mean())


def test_grid_table_without_graded_gold_has_no_correlations() -> None:
    frame = grid_table(dataset(binary=BINARY), grid_of(WORDS))
    assert len(frame) == 12
    assert frame[["spearman", "spearman_each", "spearman_each_sd", "e_original"]].isna().all(axis=None)
    assert frame["e_swap_mean"].notna().all()


# --------------------------------------------------------------------------------------- selection of words and systems


class Toy:
    """Encoder whose vectors are hashes of the sentence."""

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        assert len(sentences) == len(spans)
        return np.array([self.vector(sentence) for sentence in sentences], np.float32)

    def vector(self, sentence: str) -> Matrix:
        return np.frombuffer(hashlib.blake2b(sentence.encode(), digest_size=4).digest(), np.int8) / np.float32(16)


def test_words_with_too_few_usages_are_dropped(tmp_path: Path) -> None:
    counts = {"plane": (3, 2), "tree": (1, 4), "cell": (2, 1), "gas": (2, 3), "stab": (0, 5)}
    usages = [
        (word, period, f"{n} {word} of {period}")
        for word, sizes in counts.items()
        for period in (0, 1)
        for n in range(sizes[period])
    ]
    words = ("gas", "never", "plane", "tree", "cell", "stab")  # one word has no usages
    data = dataset(words=words, usages=usages)
    siblings = embed_usages(data.usages, Toy(), tmp_path / "store", PERIODS)
    pairs = select_pairs(data, siblings)
    assert list(pairs) == ["gas", "plane"]
    for word, sides in pairs.items():
        for period, rows in enumerate(sides):
            wanted = [Toy().vector(f"{n} {word} of {period}") for n in range(counts[word][period])]
            np.testing.assert_array_equal(rows, np.array(wanted))
    assert list(select_pairs(data, siblings, min_usages=1)) == ["gas", "plane", "tree", "cell"]
    assert list(select_pairs(data, siblings, min_usages=3)) == []


def test_systems_are_sscd_its_distance_and_those_of_the_paper() -> None:
    rng = np.random.default_rng(3)
    pairs = {
        word: (rng.normal(1, 1, (10, 4)), rng.normal(1, 1, (12, 4)) + shift)
        for word, shift in {"a": 0.0, "b": 3.0}.items()
    }
    settings = SSCD("euclidean", repeats=4, seed=7)
    found = compared_systems(pairs, settings, alpha=0.01)
    wanted = [
        score_sscd(pairs, settings),
        score_distance(pairs, "euclidean"),
        score_distance(pairs, "cosine", "Cosine of means"),
        score_distance(pairs, "apd", "APD"),
        score_distance(pairs, "dscd-cosine", "DSCD, cosine"),
        score_liu(pairs, 0.01, 7),
    ]
    for ours, theirs in zip(found, wanted, strict=True):
        assert (ours.method, ours.words) == (theirs.method, theirs.words)
        np.testing.assert_array_equal(ours.scores, theirs.scores)
    assert [scored.changed is not None for scored in found] == [False] * 5 + [True]
