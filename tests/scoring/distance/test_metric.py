"""Test the registry, the requirements of a metric, and DSCD in its two modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lexshift import SSCD, Gaussian, Metric, metrics, register, sweep
from lexshift.scoring.distance import CLOSED_FORM, DISTANCES, PAPER, dscd, expectations, get, means, pairwise
from lexshift.scoring.distance.metric import evaluate
from lexshift.scoring.swap import orders, swap, swap_count
from lexshift.utils.arrays import Floats, Matrix
from lexshift.utils.seeds import generator

SEEDS = st.integers(0, 2**20)


def sets(n: int, m: int, d: int, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + 1, 2 * rng.normal(size=(m, d)) + 0.5


def gaussians(*shape: int, seed: int = 0) -> tuple[Gaussian, Gaussian]:
    """Return a batch of pairs of random Gaussians of shape (..., d)."""
    rng = np.random.default_rng(seed)
    old, new = (Gaussian(1 + rng.normal(size=shape), rng.uniform(0.1, 3, shape), 12) for _ in range(2))
    return old, new


# The registry.


def test_all_17_metrics_of_the_paper_and_those_between_usages_exist() -> None:
    assert len(PAPER) == len(set(PAPER)) == 17
    assert set(PAPER) == {*CLOSED_FORM, *(f"dscd-{distance}" for distance in DISTANCES)}
    modes = {f"dscd-{distance}:{mode}" for distance in DISTANCES for mode in ("expected", "sampled")}
    assert set(metrics()) == {*PAPER, *modes, "apd", "energy", "nearest", "amd", "samd"}
    assert metrics()[:17] == PAPER
    for name in metrics():
        assert get(name).name == name


@pytest.mark.parametrize("name", DISTANCES)
def test_plain_name_is_the_distance_between_means_and_dscd_its_expectation(name: str) -> None:
    old, new = gaussians(3, 8)
    assert_array_equal(get(name)(old, new), means.distances(getattr(means, name.upper()), old.mean, new.mean))
    want = expectations.for_batches(getattr(expectations, name))(old, new)
    for metric in (get(f"dscd-{name}"), get(f"dscd-{name}:expected"), dscd(name), dscd(name, "expected", samples=5)):
        assert_array_equal(metric(old, new), want)
        assert metric.samples == 0


@pytest.mark.parametrize(
    ("wrong", "meant"), [("cosin", "cosine"), ("KL-reverse", "kl-reverse"), ("dscd-canbera", "dscd-canberra")]
)
def test_misspelt_name_is_answered_with_the_closest_one(wrong: str, meant: str) -> None:
    for ask in (get, SSCD):
        with pytest.raises(
            ValueError, match=rf"metric must be one of amd, apd, .*; got '{wrong}'; did you mean '{meant}'\?"
        ):
            ask(wrong)


@pytest.mark.parametrize("wrong", ["quite another", "", 3, None, ["kl"]])
def test_unknown_metric_is_refused_with_the_list_of_all(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"metric must be one of amd, apd, .*nearest.*; got "):
        get(wrong)


def test_name_can_be_registered_once_unless_replaced() -> None:
    first = Metric("mine", lambda old, new: (old.mean - new.mean)[:, 0])
    second = Metric("mine", lambda old, new: (new.mean - old.mean)[:, 0])
    register(first)
    with pytest.raises(ValueError, match="'mine' is already registered; pass replace=True to replace it"):
        register(second)
    assert get("mine") is first
    register(second, replace=True)
    assert get("mine") is second
    assert metrics().count("mine") == 1


def test_metric_of_the_paper_is_not_replaced_by_accident() -> None:
    kl = get("kl")
    with pytest.raises(ValueError, match="'kl' is already registered"):
        register(Metric("kl", lambda old, new: (old.mean - new.mean)[:, 0]))
    assert get("kl") is kl


@pytest.mark.parametrize("wrong", ["cosine", np.linalg.norm, None])
def test_only_a_metric_can_be_registered(wrong: Any) -> None:
    before = metrics()
    with pytest.raises(ValueError, match=r"metric must be a lexshift\.Metric; got "):
        register(wrong)
    assert metrics() == before


# Custom metrics.


def hellinger(old: Gaussian, new: Gaussian) -> Floats:
    """Compute the squared Hellinger distance of Gaussians with diagonal covariance."""
    both = old.variance + new.variance
    overlap = np.sqrt(2 * np.sqrt(old.variance * new.variance) / both) * np.exp(
        -((old.mean - new.mean) ** 2) / both / 4
    )
    values: Floats = 1 - overlap.prod(axis=-1)
    return values


def directly(
    old: Floats, new: Floats, between: Callable[[Gaussian, Gaussian], Floats], sscd: SSCD
) -> tuple[float, Floats]:
    """Compute e_original and e_swap of a metric of Gaussians one swap after the other, with moments by numpy."""

    def of(rows_old: Matrix, rows_new: Matrix) -> float:
        pair = (Gaussian(rows.mean(axis=0), rows.var(axis=0, ddof=1), len(rows)) for rows in (rows_old, rows_new))
        return float(between(*pair))

    count = swap_count(len(old), len(new), sscd.rate)
    rng = generator(sscd.seed, "swap", "plane")
    in_turn = orders(old, new, "random", sscd.repeats, rng)
    return of(old, new), np.array([of(*swap(old, new, *order, count)) for order in in_turn])


@given(n=st.integers(3, 30), m=st.integers(3, 30), d=st.integers(1, 12), seed=SEEDS)
def test_custom_metric_works_by_name_and_as_an_object(n: int, m: int, d: int, seed: int) -> None:
    old, new = sets(n, m, d, seed)
    mine = Metric("hellinger", hellinger, needs_variance=True)
    register(mine, replace=True)
    e_original, e_swap = directly(old, new, hellinger, SSCD(mine, rate=0.5, repeats=3, seed=seed))
    for metric in ("hellinger", mine):
        change = SSCD(metric, rate=0.5, repeats=3, seed=seed).score(old, new, word="plane")
        assert change.e_original == pytest.approx(e_original, rel=1e-9)
        assert_allclose(change.e_swap, e_swap, rtol=1e-9)
        assert change.score == pytest.approx(np.abs(e_original - e_swap).mean(), rel=1e-6, abs=1e-12)


def test_metric_of_means_only_receives_no_variances_after_swaps() -> None:
    seen = []

    def first(old: Gaussian, new: Gaussian) -> Floats:
        seen.append((old.mean.shape, old.variance.shape, new.count))
        return np.abs(old.mean - new.mean)[:, 0]

    old, new = sets(10, 14, 6)
    result = sweep(old, new, [Metric("first", first)], [0.2, 0.5], repeats=3)
    assert result.e_original[0] == pytest.approx(abs(old[:, 0].mean() - new[:, 0].mean()), rel=1e-12)
    assert seen == [((1, 6), (1, 6), 14), ((6, 6), (6, 0), 14)]


@pytest.mark.parametrize("shape", [(5,), (1, 5), (4, 5), (2, 3, 5)])
@pytest.mark.parametrize("name", ["kl", "cosine", "dscd-euclidean", "dscd-euclidean:sampled"])
def test_metric_reduces_the_last_axis_and_keeps_the_others(name: str, shape: tuple[int, ...]) -> None:
    old, new = gaussians(*shape)
    got = np.asarray(get(name)(old, new))
    assert got.shape == shape[:-1]
    for i in np.ndindex(shape[:-1]):
        one = get(name)(Gaussian(old.mean[i], old.variance[i], 12), Gaussian(new.mean[i], new.variance[i], 12))
        assert got[i] == pytest.approx(float(one), rel=1e-12)


@pytest.mark.parametrize(
    ("between", "shape"),
    [
        (lambda old, new: np.abs(old.mean - new.mean), r"\(4, 5\)"),
        (lambda old, new: np.abs(old.mean - new.mean).sum(axis=0), r"\(5,\)"),
        (lambda old, new: np.abs(old.mean - new.mean).sum(), r"\(\)"),
    ],
)
def test_values_of_a_wrong_shape_are_refused(between: Callable[..., Any], shape: str) -> None:
    message = rf"metric 'mine' returned shape {shape} for 4 pairs of Gaussians of 5 dimensions; it must reduce the last"
    with pytest.raises(ValueError, match=message):
        Metric("mine", between)(*gaussians(4, 5))


def test_sampled_metric_that_returns_more_than_a_number_is_refused_by_name() -> None:
    mine = Metric("mine", lambda x, y: np.abs(x - y).sum(axis=1), samples=7)
    with pytest.raises(ValueError, match="metric 'mine'"):
        mine(*gaussians(4, 5))


@pytest.mark.parametrize("name", ["cosine", "correlation", "braycurtis"])
def test_zero_mean_is_refused_with_the_name_of_the_metric(name: str) -> None:
    rows = np.array([[1.0, 1.0], [-1.0, -1.0]])
    with pytest.raises(ValueError, match=f"metric '{name}' is undefined for these sets: its value is nan"):
        SSCD(name).score(rows, rows)
    with pytest.raises(ValueError, match=f"'plane': metric '{name}' is undefined"):
        SSCD(name).score_words({"plane": (rows, rows)})


@pytest.mark.parametrize("name", ["dscd-cosine", "dscd-correlation", "dscd-correlation:sampled", "dscd-braycurtis"])
def test_vectors_without_a_direction_are_refused_with_the_name_of_the_metric(name: str) -> None:
    zeros = Gaussian(np.zeros(3), np.zeros(3), 4)
    with pytest.raises(ValueError, match=f"metric '{name}' is undefined for these sets: its value is nan"):
        get(name)(zeros, zeros)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_one_non_finite_value_among_finite_ones_is_refused_by_name(value: float) -> None:
    mine = Metric("mine", lambda old, new: np.where([False, False, True, False], value, (old.mean - new.mean)[:, 0]))
    with pytest.raises(ValueError, match=f"metric 'mine' is undefined for these sets: its value is {value}"):
        evaluate([get("kl"), mine], *gaussians(4, 5), np.random.default_rng(0))


# DSCD by sampling.


@pytest.mark.parametrize("name", DISTANCES)
@given(b=st.integers(1, 3), d=st.integers(2, 20), samples=st.integers(1, 30), seed=SEEDS)
def test_sampled_metric_averages_over_vectors_drawn_from_the_generator(
    name: str, b: int, d: int, samples: int, seed: int
) -> None:
    old, new = gaussians(b, d, seed=seed)
    got = dscd(name, "sampled", samples=samples)(old, new, np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    z, w = (rng.standard_normal((samples, d), dtype=np.float32) for _ in range(2))  # the same for all pairs
    want = [
        pairwise.AVERAGES[name](
            (old.mean[i] + z * np.sqrt(old.variance[i])).astype(np.float32),
            (new.mean[i] + w * np.sqrt(new.variance[i])).astype(np.float32),
        )
        for i in range(b)
    ]
    assert_allclose(got, want, rtol=1e-4, atol=1e-6)  # draws are rounded to float32 after each step


@given(first=st.sampled_from(DISTANCES), second=st.sampled_from(DISTANCES), seed=SEEDS)
def test_sampled_metrics_of_one_size_share_their_draws(first: str, second: str, seed: int) -> None:
    old, new = gaussians(3, 6, seed=seed)
    both = [dscd(first, "sampled", 20), get("cosine"), dscd(second, "sampled", 20)]
    together = evaluate(both, old, new, np.random.default_rng(seed))
    for metric, values in zip(both, together, strict=True):
        assert_array_equal(metric(old, new, np.random.default_rng(seed)), values)


def test_sampled_metric_is_not_affected_by_another_that_draws_fewer() -> None:
    old, new = gaussians(3, 6)
    few, many = dscd("cosine", "sampled", 10), dscd("euclidean", "sampled", 20)
    for together in ([few, many], [many, few]):
        values = evaluate(together, old, new, np.random.default_rng(1))
        for metric, value in zip(together, values, strict=True):
            assert_array_equal(metric(old, new, np.random.default_rng(1)), value)


def test_same_seed_gives_the_same_value_and_another_seed_another() -> None:
    old, new = sets(20, 30, 6)
    metric = dscd("euclidean", "sampled", samples=50)
    once, again, other = (SSCD(metric, repeats=3, seed=seed).score(old, new) for seed in (4, 4, 5))
    assert once.e_original == again.e_original != other.e_original
    assert_array_equal(once.e_swap, again.e_swap)
    old_gaussian, new_gaussian = Gaussian.fit(old), Gaussian.fit(new)
    assert metric(old_gaussian, new_gaussian) == metric(old_gaussian, new_gaussian)  # without a generator: seed 0
    assert metric(old_gaussian, new_gaussian) == metric(old_gaussian, new_gaussian, np.random.default_rng(0))
    assert metric(old_gaussian, new_gaussian) != metric(old_gaussian, new_gaussian, np.random.default_rng(1))


def test_original_and_swapped_sets_use_the_same_draws() -> None:
    rows = np.random.default_rng(0).normal(size=(12, 5))
    change = SSCD(dscd("euclidean", "sampled", samples=30), rate=1.0, repeats=2).score(rows, rows[::-1])
    assert_allclose(change.e_swap, change.e_original, rtol=1e-6)  # all rows are swapped with themselves


@pytest.mark.parametrize("name", DISTANCES)
def test_sampled_mode_draws_1000_vectors_by_default(name: str) -> None:
    assert get(f"dscd-{name}:sampled").samples == dscd(name, "sampled").samples == 1000
    metric = dscd(name, "sampled", samples=7)
    assert (metric.name, metric.samples, metric.needs_variance) == (f"dscd-{name}:sampled", 7, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cosin",), r"distance must be one of .*; got 'cosin'; did you mean 'cosine'\?"),
        (("folded", "sampled"), "distance must be one of .*; got 'folded'"),
        (("kl",), "distance must be one of .*; got 'kl'"),
        (("cosine", "smapled"), r"mode must be one of expected, sampled; got 'smapled'; did you mean 'sampled'\?"),
        (("cosine", None), "mode must be one of expected, sampled; got None"),
        (("cosine", "sampled", 0), "samples must be a whole number of at least 1; got 0"),
        (("cosine", "sampled", -3), "samples must be .*; got -3"),
        (("cosine", "sampled", 2.5), r"samples must be .*; got 2\.5"),
        (("cosine", "sampled", True), "samples must be .*; got True"),
        (("cosine", "sampled", "many"), "samples must be .*; got 'many'"),
    ],
)
def test_invalid_argument_of_dscd_is_refused_by_name(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dscd(*arguments)
