"""Bootstrap intervals, against resamples built row by row."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial import distance

from lexshift import SSCD, Metric, _bootstrap, bootstrap
from lexshift._bootstrap import Resampler, _draw, _farthest_first, first_rows
from lexshift._streams import generator
from lexshift._typing import Array, Floats, Matrix
from lexshift.swap import Strategy, swap_count


def slow_kl(x: Matrix, y: Matrix) -> float:
    v1, v2 = x.var(axis=0, ddof=1), y.var(axis=0, ddof=1)
    shift = y.mean(axis=0) - x.mean(axis=0)
    return float(0.5 * (v1 / v2 - 1 - np.log(v1 / v2) + shift**2 / v2).sum())


SLOW: dict[str, Callable[[Matrix, Matrix], float]] = {
    "cosine": lambda x, y: float(distance.cosine(x.mean(axis=0), y.mean(axis=0))),
    "euclidean": lambda x, y: float(distance.euclidean(x.mean(axis=0), y.mean(axis=0))),
    "kl": slow_kl,
    "apd": lambda x, y: float(distance.cdist(x, y, "cosine").mean()),
}


def two_sets(n_old: int, n_new: int, d: int, seed: int = 0, shift: float = 0.5) -> tuple[Matrix, Matrix]:
    """Two sets of a mean of 1 that differ by ``shift``, every other dimension up and every other one down."""
    rng = np.random.default_rng(seed)
    return rng.normal(1, 1, (n_old, d)), rng.normal(1, 1, (n_new, d)) + shift * (-1.0) ** np.arange(d)


def movers(order: Array, drawn: Array, count: int) -> list[int]:
    """The rows that move, once for each copy: whole occurrences in turn, until there are count of them."""
    moved: list[int] = []
    for i in order[drawn[order] > 0]:
        if len(moved) >= count:
            break
        moved += [int(i)] * int(drawn[i])
    return moved


def slow_scores(old: Matrix, new: Matrix, sscd: SSCD, size: int, rng: np.random.Generator) -> tuple[Floats, float]:
    """Scores of resamples built row by row, from the same draws, and the largest distance among them."""
    n_old, n_new = len(old), len(new)
    count = swap_count(n_old, n_new, sscd.rate, sscd.corpus_sizes)
    drawn_old, drawn_new = (rng.multinomial(n, np.full(n, 1 / n), size) for n in (n_old, n_new))
    repeats = sscd.repeats if sscd.strategy == "random" else 1
    if sscd.strategy == "random":
        orders_old, orders_new = (
            rng.permuted(np.broadcast_to(np.arange(n), (size * repeats, n)), axis=1) for n in (n_old, n_new)
        )
    between = SLOW[str(sscd.metric)]
    old, new = old.astype(float), new.astype(float)
    scores, largest = np.zeros(size), 0.0
    for b in range(size):
        in_old, in_new = np.repeat(np.arange(n_old), drawn_old[b]), np.repeat(np.arange(n_new), drawn_new[b])
        e_original = between(old[in_old], new[in_new])
        for k in range(repeats):
            if sscd.strategy == "random":
                order_old, order_new = orders_old[b * repeats + k], orders_new[b * repeats + k]
            else:
                order_old = np.argsort(-distance.cdist(old, [new[in_new].mean(axis=0)])[:, 0], kind="stable")
                order_new = np.argsort(-distance.cdist(new, [old[in_old].mean(axis=0)])[:, 0], kind="stable")
            out_old, out_new = movers(order_old, drawn_old[b], count), movers(order_new, drawn_new[b], count)
            S1_swap = np.concatenate([old[in_old[~np.isin(in_old, out_old)]], new[out_new]])
            S2_swap = np.concatenate([new[in_new[~np.isin(in_new, out_new)]], old[out_old]])
            assert len(S1_swap) + len(S2_swap) == n_old + n_new
            e_swap = between(S1_swap, S2_swap)
            scores[b] += abs(e_original - e_swap) / repeats
            largest = max(largest, e_original, e_swap)
    return scores, largest


# The pieces


@given(
    st.tuples(st.integers(12, 40), st.integers(12, 40), st.integers(2, 6)),
    st.sampled_from(sorted(SLOW)),
    st.sampled_from(["random", "distance"]),
    st.sampled_from([0.0, 0.1, 0.4, 0.75, 1.0]),
    st.sampled_from([None, (300, 100), (100, 300)]),
    st.integers(0, 99),
)
def test_scores_are_those_of_the_resampled_rows(
    shape: tuple[int, int, int],
    metric: str,
    strategy: Strategy,
    rate: float,
    corpus_sizes: tuple[int, int] | None,
    seed: int,
) -> None:
    old, new = two_sets(*shape, seed)
    sscd = SSCD(metric, strategy, rate, repeats=3, corpus_sizes=corpus_sizes)
    fast = Resampler(old, new, sscd, "")(4, np.random.default_rng(seed))
    slow, largest = slow_scores(old, new, sscd, 4, np.random.default_rng(seed))
    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-9 * largest)


@pytest.mark.parametrize("metric", sorted(SLOW))
@pytest.mark.parametrize("strategy", ["random", "distance"])
def test_scores_of_awkward_float32_rows_are_exact_to_1e_6(metric: str, strategy: Strategy) -> None:
    spread = np.where(np.arange(24) % 8 == 0, 100.0, 1.0)  # three dimensions a hundred times larger, all 50 spreads off
    old, new = (((rows + 50) * spread).astype(np.float32) for rows in two_sets(150, 1_200, 24))
    sscd = SSCD(metric, strategy, repeats=2)
    fast = Resampler(old, new, sscd, "")(3, np.random.default_rng(0))
    slow, largest = slow_scores(old, new, sscd, 3, np.random.default_rng(0))
    np.testing.assert_allclose(fast, slow, rtol=0, atol=1e-6 * largest)


@given(st.integers(1, 30), st.integers(1, 5), st.integers(0, 30), st.integers(0, 99))
def test_copies_of_a_row_move_together(n: int, size: int, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(n, np.full(n, 1 / n), size)
    order = rng.permuted(np.broadcast_to(np.arange(n), (size, n)), axis=1)
    slow = [np.bincount(movers(o, times, count), minlength=n) for o, times in zip(order, drawn, strict=True)]
    moved = np.zeros_like(order)
    first_rows(drawn, order, count, moved)
    assert moved.tolist() == np.array(slow).tolist()


def test_as_many_rows_are_drawn_as_there_are_and_all_are_as_likely() -> None:
    drawn = _draw(20, 500, np.random.default_rng(0))
    assert drawn.shape == (500, 20)
    assert (drawn.sum(axis=1) == 20).all()
    assert stats.chisquare(drawn.sum(axis=0)).pvalue > 1e-3
    assert drawn.var() == pytest.approx(19 / 20, rel=0.05)  # of a binomial count: drawn with replacement


@given(st.integers(1, 20), st.integers(1, 20), st.sampled_from(["float32", "float64"]), st.integers(0, 99))
def test_rows_leave_from_the_farthest_to_the_resampled_centroid(n: int, m: int, dtype: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, other = rng.normal(size=(n, 4)).astype(dtype), rng.normal(size=(m, 4)).astype(dtype)
    drawn = _draw(m, 3, rng)
    for order, times in zip(_farthest_first(rows, drawn, other), drawn, strict=True):
        centroid = np.repeat(other.astype(float), times, axis=0).mean(axis=0)
        distances = np.linalg.norm(rows.astype(float) - centroid, axis=1)
        assert sorted(order.tolist()) == list(range(n))
        assert (np.diff(distances[order]) <= 1e-12).all()


# The interval


@settings(max_examples=20)
@given(
    st.tuples(st.integers(2, 20), st.integers(2, 20), st.integers(2, 5)),
    st.sampled_from(["cosine", "euclidean", "kl", "apd", "dscd-cityblock"]),
    st.sampled_from(["random", "distance"]),
    st.sampled_from([0.0, 0.3, 0.6]),
    st.integers(1, 40),
    st.floats(0.01, 0.99),
)
def test_the_interval_contains_the_score_and_nothing_below_0(
    shape: tuple[int, int, int], metric: str, strategy: Strategy, rate: float, resamples: int, confidence: float
) -> None:
    old, new = two_sets(*shape)
    sscd = SSCD(metric, strategy, rate, repeats=4)
    interval = bootstrap(old, new, sscd, resamples, confidence)
    assert 0 <= interval.low <= sscd.score(old, new).score <= interval.high
    assert interval.confidence == confidence


def test_the_interval_of_one_resample_contains_the_score() -> None:
    sscd = SSCD("cosine", repeats=2)
    for seed in range(50):
        old, new = two_sets(10, 10, 4, seed)
        interval = bootstrap(old, new, sscd, resamples=1)
        assert interval.low <= sscd.score(old, new).score <= interval.high


@pytest.mark.parametrize("strategy", ["random", "distance"])
@pytest.mark.parametrize("metric", ["cosine", "kl"])
def test_the_interval_is_the_percentiles_moved_to_have_the_score_as_their_median(
    metric: str, strategy: Strategy
) -> None:
    old, new = two_sets(30, 20, 5)
    sscd = SSCD(metric, strategy, repeats=5, seed=3)
    scores = np.sort(Resampler(old, new, sscd, "plane")(101, generator(3, "bootstrap", "plane")))
    interval = bootstrap(old, new, sscd, resamples=101, confidence=0.9, word="plane")
    score = sscd.score(old, new, "plane").score
    assert interval.bias == pytest.approx(scores[50] - score, rel=1e-9)
    assert interval.low == pytest.approx(max(scores[5] - interval.bias, 0), rel=1e-9)
    assert interval.high == pytest.approx(scores[95] - interval.bias, rel=1e-9)


def test_a_rate_of_0_has_a_score_of_0_without_doubt() -> None:
    interval = bootstrap(*two_sets(20, 30, 4), SSCD("kl", rate=0.0), resamples=50)
    assert (interval.low, interval.high, interval.bias) == (0, 0, 0)


def test_more_confidence_takes_a_wider_interval() -> None:
    intervals = [bootstrap(*two_sets(40, 40, 8), resamples=200, confidence=c) for c in (0.5, 0.8, 0.9, 0.95, 0.99)]
    assert all(a.low > b.low and a.high < b.high for a, b in itertools.pairwise(intervals))
    assert len({interval.bias for interval in intervals}) == 1


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "kl", "apd"])
def test_more_occurrences_make_a_narrower_interval(metric: str) -> None:
    few, many = (bootstrap(*two_sets(n, n, 8), SSCD(metric, repeats=5), resamples=60) for n in (40, 1_000))
    assert many.high - many.low < 0.5 * (few.high - few.low)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_the_interval_covers_the_mean_score_of_the_population(metric: str) -> None:
    sscd = SSCD(metric, repeats=10)
    data = [two_sets(60, 60, 20, seed) for seed in range(60)]
    scores = [sscd.score(old, new).score for old, new in data]
    intervals = [bootstrap(old, new, sscd, resamples=100) for old, new in data]
    covered = [interval.low <= np.mean(scores) <= interval.high for interval in intervals]
    assert np.mean(covered) >= 0.8
    widths = [interval.high - interval.low for interval in intervals]
    assert np.median(widths) < 2 * 2 * 1.96 * np.std(scores)  # and not by being wider than it has to be


def test_results_depend_on_the_rows_the_name_and_the_seed_only() -> None:
    old, new = two_sets(25, 20, 4)
    words, seeds = ("", "plane", "naïve"), (0, 1)
    first = {(w, s): bootstrap(old, new, SSCD(seed=s), resamples=30, word=w) for w in words for s in seeds}
    again = {(w, s): bootstrap(old, new, SSCD(seed=s), resamples=30, word=w) for s in seeds for w in reversed(words)}
    assert first == again
    assert len({(interval.low, interval.high) for interval in first.values()}) == len(first)


def test_kl_is_scored_if_nothing_else_is_asked_for() -> None:
    old, new = two_sets(25, 20, 4)
    assert bootstrap(old, new, resamples=30) == bootstrap(old, new, SSCD(), resamples=30)


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "kl"])
@pytest.mark.parametrize("sizes", [(2, 40), (3, 3), (5, 30), (30, 4)])
@pytest.mark.parametrize("rate", [0.4, 1.0])
def test_the_rarest_words_have_an_interval_at_any_rate(metric: str, sizes: tuple[int, int], rate: float) -> None:
    interval = bootstrap(*two_sets(*sizes, 4), SSCD(metric, rate=rate), resamples=500)
    assert 0 <= interval.low <= interval.high < np.inf


def test_resamples_of_wide_rows_take_no_more_memory_than_a_batch_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_bootstrap, "MANY", 50_000)
    sizes: list[int] = []

    def between(old: Any, new: Any) -> Floats:
        sizes.append(max(old.mean.size, new.mean.size))
        return np.zeros(len(old.mean))

    bootstrap(*two_sets(10, 10, 400), SSCD(Metric("size", between), repeats=5), resamples=50)
    assert max(sizes) <= 50_000


@pytest.mark.parametrize("resamples", [0, -1, 1.5, "many", None, True])
def test_a_number_of_resamples_that_is_none_is_refused(resamples: Any) -> None:
    with pytest.raises(ValueError, match="resamples must be a whole number of at least 1"):
        bootstrap(*two_sets(5, 5, 2), resamples=resamples)


@pytest.mark.parametrize("confidence", [0, 1, 0.0, 1.0, 95, -0.5, float("nan"), "x", None, True])
def test_a_confidence_that_is_not_between_0_and_1_is_refused(confidence: Any) -> None:
    with pytest.raises(ValueError, match="confidence must be a number between 0 and 1"):
        bootstrap(*two_sets(5, 5, 2), confidence=confidence)


@pytest.mark.parametrize("sscd", ["cosine", 3, {"metric": "kl"}, SSCD])
def test_what_is_no_sscd_is_refused(sscd: Any) -> None:
    with pytest.raises(ValueError, match=r"sscd must be a lexshift.SSCD; got "):
        bootstrap(*two_sets(5, 5, 2), sscd)


def test_sets_that_cannot_be_compared_are_refused() -> None:
    old, new = two_sets(5, 5, 2)
    with pytest.raises(ValueError, match="same number of dimensions"):
        bootstrap(old, new[:, :1])
    with pytest.raises(ValueError, match="at least 2 occurrences"):
        bootstrap(old[:1], new)
