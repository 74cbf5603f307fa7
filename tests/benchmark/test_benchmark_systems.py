"""Test the compared systems against the functions that score one word, and on planted changes."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.spatial import distance

from lexshift import SSCD, Metric, benjamini_hochberg, permutation_test, sweep
from lexshift.benchmark import systems
from lexshift.benchmark.systems import SystemScores, score_distance, score_liu, score_sscd, sweep_grid
from lexshift.scoring.distance import PAPER
from lexshift.scoring.swap import STRATEGIES, Strategy
from lexshift.utils.arrays import Matrix

Sets = dict[str, tuple[Matrix, Matrix]]
SHIFTS = {"stable": 0.0, "drifted": 0.8, "changed": 2.5, "other": 0.0}


def planted(shifts: Mapping[str, float] = SHIFTS, noise: float = 1.0, seed: int = 0) -> Sets:
    """Return words whose usages move by a known amount in every other dimension, in sets of different sizes."""
    d = 5
    rng = np.random.default_rng(seed)
    direction = np.where(np.arange(d) % 2, 1.0, 0.0)
    return {
        word: (
            rng.normal(1, noise, (14 + 3 * i % 10, d)).astype(np.float32),
            (rng.normal(1, noise, (20 - 2 * i % 9, d)) + shift * direction).astype(np.float32),
        )
        for i, (word, shift) in enumerate(shifts.items())
    }


# ----------------------------------------------------------------------------------------------------------------- SSCD


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("sizes", [None, (30, 45)])
@pytest.mark.parametrize("metric", ["kl", "cosine", "dscd-euclidean"])
def test_sscd_system_scores_every_word(strategy: Strategy, sizes: tuple[int, int] | None, metric: str) -> None:
    pairs = planted()
    settings = SSCD(metric, strategy, 0.3, 6, seed=4, corpus_sizes=sizes)
    scored = score_sscd(pairs, settings)
    assert scored.words == tuple(pairs)
    assert scored.scores.shape == (4, 6 if strategy == "random" else 1)
    assert scored.changed is None
    for word, row, mean in zip(scored.words, scored.scores, scored.mean, strict=True):
        change = settings.score(*pairs[word], word=word)
        np.testing.assert_array_equal(row, np.abs(change.e_original - change.e_swap))
        assert mean == pytest.approx(change.score, rel=1e-12)


def test_name_of_the_sscd_system_describes_its_settings() -> None:
    pairs = planted()
    assert score_sscd(pairs, SSCD()).method == "SSCD kl, random, rate 0.4"
    normalised = SSCD("cosine", "distance", 0.25, corpus_sizes=(10, 20))
    assert score_sscd(pairs, normalised).method == "SSCD cosine, distance, normalised, rate 0.25"


def test_sscd_system_with_a_custom_metric_is_named_after_it() -> None:
    own = Metric("mine", lambda old, new: np.abs(old.mean - new.mean).sum(axis=-1))
    scored = score_sscd(planted(), SSCD(own, repeats=3))
    assert scored.method == "SSCD mine, random, rate 0.4"
    assert scored.scores.shape == (4, 3)


def test_mean_is_taken_over_repetitions() -> None:
    scored = SystemScores("m", ("a", "b"), np.array([[1.0, 2.0, 6.0], [0.0, 0.0, 3.0]]))
    assert scored.mean.tolist() == [3, 1]


# ------------------------------------------------------------------------------------------------------ distance system


@pytest.mark.parametrize("metric", [*PAPER, "apd"])
def test_distance_system_equals_e_original_of_sscd(metric: str) -> None:
    pairs = planted()
    scored = score_distance(pairs, metric)
    assert scored.method == f"e_original {metric}"
    assert (scored.words, scored.scores.shape, scored.changed) == (tuple(pairs), (4, 1), None)
    changes = SSCD(metric, repeats=1).score_words(pairs)
    np.testing.assert_allclose(scored.mean, [change.e_original for change in changes.values()], rtol=1e-12)


@pytest.mark.parametrize(
    "metric", ["braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "euclidean"]
)
def test_distance_of_means_equals_scipy(metric: str) -> None:
    pairs = planted()
    of_means = getattr(distance, metric)
    wanted = [of_means(*(rows.astype(float).mean(axis=0) for rows in sides)) for sides in pairs.values()]
    np.testing.assert_allclose(score_distance(pairs, metric).scores[:, 0], wanted, rtol=1e-6)


def test_average_pairwise_distance_equals_scipy() -> None:
    pairs = planted()
    wanted = [distance.cdist(old.astype(float), new.astype(float), "cosine").mean() for old, new in pairs.values()]
    np.testing.assert_allclose(score_distance(pairs, "apd").scores[:, 0], wanted, rtol=1e-5)


@pytest.mark.parametrize("metric", ["kl", "cosine", "apd", "dscd-cosine"])
def test_distance_of_half_precision_vectors_equals_that_of_the_same_numbers(metric: str) -> None:
    half = {word: (old.astype(np.float16), new.astype(np.float16)) for word, (old, new) in planted().items()}
    same = {word: (old.astype(np.float32), new.astype(np.float32)) for word, (old, new) in half.items()}
    np.testing.assert_array_equal(score_distance(half, metric).scores, score_distance(same, metric).scores)


def test_distance_system_may_have_another_name() -> None:
    assert score_distance(planted(), "cosine", "Cosine of means").method == "Cosine of means"


@pytest.mark.parametrize("metric", ["cosine", "kl", "apd", "dscd-cosine"])
def test_distance_system_finds_the_changed_word(metric: str) -> None:
    scored = score_distance(planted(noise=0.2), metric)
    assert scored.words[int(scored.mean.argmax())] == "changed"


# --------------------------------------------------------------------------------------------------------- Liu et al.


def given_p(monkeypatch: pytest.MonkeyPatch, p: Mapping[str, float]) -> list[dict[str, Any]]:
    """Replace the test by one that returns the given p-values, and record its arguments."""
    calls: list[dict[str, Any]] = []

    def test(old: Matrix, new: Matrix, metric: str, *, seed: int, word: str) -> SimpleNamespace:
        calls.append({"sizes": (len(old), len(new)), "metric": metric, "seed": seed, "word": word})
        return SimpleNamespace(p=p[word])

    monkeypatch.setattr(systems, "permutation_test", test)
    return calls


def test_liu_selects_the_words_with_p_below_0_005(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = planted()
    calls = given_p(monkeypatch, {"stable": 0.005, "drifted": 0.0049, "changed": 0.00001, "other": 0.9})
    scored = score_liu(pairs, seed=3)
    assert (scored.method, scored.words) == ("Liu et al.", ("drifted", "changed"))
    assert scored.changed is not None
    assert scored.changed.tolist() == [True, True]
    wanted = [distance.cosine(*(rows.astype(float).mean(axis=0) for rows in pairs[word])) for word in scored.words]
    np.testing.assert_allclose(scored.scores, np.array(wanted)[:, None], rtol=1e-6)
    assert {call["word"] for call in calls} == set(pairs)
    assert all((call["metric"], call["seed"]) == ("cosine", 3) for call in calls)


def test_q_values_of_liu_cover_all_words_and_not_only_the_selected_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"word {i}" for i in range(20)]
    p = dict.fromkeys(names, 0.9) | {"word 3": 0.004}
    given_p(monkeypatch, p)
    q = dict(zip(names, benjamini_hochberg([p[word] for word in names]), strict=True))
    assert q["word 3"] == pytest.approx(0.08)
    pairs = planted(dict.fromkeys(names, 0.0))
    for alpha, changed in ((0.05, False), (0.079, False), (0.081, True)):
        scored = score_liu(pairs, alpha)
        assert scored.words == ("word 3",)
        assert scored.changed is not None
        assert scored.changed.tolist() == [changed]


def test_liu_may_select_no_word(monkeypatch: pytest.MonkeyPatch) -> None:
    given_p(monkeypatch, dict.fromkeys(SHIFTS, 0.2))
    scored = score_liu(planted())
    assert (scored.words, scored.scores.shape, scored.mean.shape) == ((), (0, 1), (0,))
    assert scored.changed is not None
    assert scored.changed.tolist() == []


def test_liu_finds_the_changed_words() -> None:
    pairs = planted()
    p = {word: permutation_test(old, new, "cosine", seed=1, word=word).p for word, (old, new) in pairs.items()}
    scored = score_liu(pairs, seed=1)
    assert scored.words == tuple(word for word in pairs if p[word] < 0.005)
    assert "changed" in scored.words
    assert not {"stable", "other"} & set(scored.words)
    assert scored.changed is not None
    assert scored.changed.all()


# ---------------------------------------------------------------------------------------------------------------- grid


def test_grid_sweeps_every_word_for_every_strategy_and_both_normalisations() -> None:
    pairs, rates, sizes = planted(), [0.1, 0.4, 0.9], (30, 60)
    result = sweep_grid(pairs, sizes, rates=rates, repeats=3, seed=5)
    assert (result.words, result.metrics) == (tuple(pairs), PAPER)
    assert len(result.metrics) == 17
    assert result.strategies == ("random", "random, normalised", "distance", "distance, normalised")
    assert list(result.e_swap) == list(result.strategies)
    np.testing.assert_array_equal(result.rates, rates)
    for strategy in STRATEGIES:
        for name, corpus_sizes in ((strategy, None), (f"{strategy}, normalised", sizes)):
            repeats = 3 if strategy == "random" else 1
            assert result.e_swap[name].shape == (4, len(PAPER), 3, repeats)
            for i, (word, (old, new)) in enumerate(pairs.items()):
                one = sweep(old, new, PAPER, rates, 3, 5, strategy, corpus_sizes, word)
                np.testing.assert_array_equal(result.e_original[i], one.e_original)
                # float32 rows are summed in other pieces if other swap counts are requested as well
                near = 1e-5 * np.maximum(np.abs(one.e_original)[:, None, None], np.abs(one.e_swap))
                assert (np.abs(result.e_swap[name][i] - one.e_swap) <= near).all()
                assert (np.abs(result.scores(name)[i] - one.scores) <= near).all()


def test_normalising_by_corpora_of_different_sizes_changes_the_grid() -> None:
    result = sweep_grid(planted(), (30, 90), ["cosine"], [0.4], repeats=2)
    for strategy in STRATEGIES:
        assert not np.allclose(result.e_swap[strategy], result.e_swap[f"{strategy}, normalised"])


def test_grid_at_a_rate_equals_sscd_at_that_rate() -> None:
    pairs = planted()
    result = sweep_grid(pairs, (30, 45), ["kl", "cosine"], [0.2, 0.4], repeats=4, seed=2)
    for strategy in STRATEGIES:
        for name, sizes in ((strategy, None), (f"{strategy}, normalised", (30, 45))):
            for m, metric in enumerate(("kl", "cosine")):
                scored = score_sscd(pairs, SSCD(metric, strategy, 0.4, 4, 2, sizes))
                np.testing.assert_allclose(result.scores(name)[:, m, 1], scored.scores, rtol=1e-4, atol=1e-6)
    for m, metric in enumerate(("kl", "cosine")):
        np.testing.assert_allclose(result.e_original[:, m], score_distance(pairs, metric).scores[:, 0], rtol=1e-12)


def test_grid_may_have_one_strategy_only() -> None:
    result = sweep_grid(planted(), (30, 45), ["cosine"], [0.4], repeats=2, strategies=["distance"])
    assert result.strategies == ("distance", "distance, normalised")
    assert result.e_original.shape == (4, 1)


def test_changed_word_scores_highest_in_the_grid() -> None:
    result = sweep_grid(planted(), (30, 30), ["kl", "cosine", "euclidean"], [0.4], repeats=10)
    at = result.words.index("changed")
    for strategy in result.strategies:
        assert (result.scores(strategy)[:, :, 0].mean(axis=2).argmax(axis=0) == at).all()


# ------------------------------------------------------------------------------------------------------ distance weight


def shifted(seed: int) -> Sets:
    rng = np.random.default_rng(seed)
    return {f"word {i}": (rng.normal(1, 1, (20, 4)), rng.normal(1 + i, 1, (25, 4))) for i in range(3)}


@pytest.mark.parametrize("metric", ["nearest", "cosine"])
def test_system_names_its_distance_weight_and_scores_with_it(metric: str) -> None:
    pairs = shifted(0)
    kept, plain = (
        score_sscd(pairs, SSCD(metric, rate=0.3, repeats=4, distance_weight=weight)) for weight in (0.8, 0.0)
    )
    assert kept.method == f"variant of SSCD {metric}, random, rate 0.3, distance weight 0.8"
    assert plain.method == f"SSCD {metric}, random, rate 0.3"
    distances = score_distance(pairs, "apd").scores
    assert kept.scores.shape == (3, 4)
    np.testing.assert_allclose(kept.scores, plain.scores**0.2 * distances**0.8, rtol=1e-12)
    changes = SSCD(metric, rate=0.3, repeats=4, distance_weight=0.8).score_words(pairs)
    np.testing.assert_allclose(kept.mean, [change.score for change in changes.values()], rtol=1e-12)


def test_distance_system_may_use_nearest() -> None:
    pairs = shifted(1)
    found = score_distance(pairs, "nearest")
    wanted = [[SSCD("nearest").score(*sides).e_original] for sides in pairs.values()]
    np.testing.assert_array_equal(found.scores, wanted)
    assert found.method == "e_original nearest"
