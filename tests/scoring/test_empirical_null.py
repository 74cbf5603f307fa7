"""The null distribution of ordinary words, and the local false discovery rate."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from lexshift.scoring.empirical_null import EmpiricalNull, fit_null, local_fdr, soft_root

GAPS = st.lists(st.floats(-1, 1), min_size=2, max_size=20).map(lambda values: np.array(sorted(values)))
NOISES = st.floats(1e-6, 1)


def test_null_is_fitted_to_the_lower_half() -> None:
    rng = np.random.default_rng(0)
    roots = rng.normal(0.1, 0.02, 3_000)
    with_changes = np.concatenate([roots, rng.uniform(0.3, 0.6, 150)])
    plain, robust = fit_null(roots**2), fit_null(with_changes**2)
    assert plain.centre == pytest.approx(0.1, abs=0.002)
    assert plain.scale == pytest.approx(0.02, abs=0.002)
    assert robust.scale == pytest.approx(plain.scale, rel=0.1)


def test_excess_is_measured_on_the_scale_of_square_roots() -> None:
    null = EmpiricalNull(centre=0.1, scale=0.05)
    assert null.excess(np.array([0.04, 0.01, -0.01])).tolist() == pytest.approx([2.0, 0.0, -4.0])
    assert soft_root(-0.25, noise=0.0) == -0.5


def test_noise_around_zero_does_not_widen_the_null() -> None:
    """A gap that is ten standard deviations away stands out, although the root of a gap near 0 is far from 0."""
    ordinary = np.random.default_rng(0).normal(0.005, 0.01, 150)
    plain, soft = fit_null(ordinary), fit_null(ordinary, noise=0.01)
    assert plain.excess(0.1) < 2.5
    assert soft.excess(0.1) > 4
    assert local_fdr(np.array([soft.excess(0.1)]), soft.excess(ordinary)) < 0.01


@given(GAPS, NOISES)
def test_root_is_odd_and_rises_like_the_formula(gaps: np.ndarray, noise: float) -> None:
    found = soft_root(gaps, noise)
    slow = [math.copysign(math.sqrt(abs(gap) + noise) - math.sqrt(noise), gap) for gap in gaps]
    assert found == pytest.approx(slow, abs=1e-12)
    assert (np.diff(found) >= 0).all()
    assert soft_root(-gaps, noise) == pytest.approx(-found, abs=1e-12)


@given(st.floats(-0.1, 0.1), NOISES)
def test_root_is_linear_within_the_noise(share: float, noise: float) -> None:
    linear = share * math.sqrt(noise) / 2
    assert soft_root(share * noise, noise) == pytest.approx(linear, rel=0.025, abs=1e-12)


@given(GAPS)
def test_root_without_noise_is_the_signed_square_root(gaps: np.ndarray) -> None:
    signed = np.sign(gaps) * np.sqrt(np.abs(gaps))
    assert soft_root(gaps, 0.0).tolist() == signed.tolist()
    assert soft_root(gaps, 1e-14) == pytest.approx(signed, abs=2e-7)


def test_too_few_ordinary_words_are_an_error() -> None:
    with pytest.raises(ValueError, match="at least 29 words; got 28"):
        fit_null(np.arange(28.0))


def test_ordinary_words_have_a_high_rate_and_changed_words_a_low_one() -> None:
    rng = np.random.default_rng(1)
    ordinary = rng.normal(size=400)
    rates = local_fdr(np.array([-2.0, 0.0, 1.0, 5.0, 8.0]), ordinary)
    assert rates[:2].tolist() == [1.0, 1.0]
    assert rates[2] > 0.7
    assert (rates[3:] < 0.01).all()


def test_rate_is_the_share_of_ordinary_words_among_words_of_the_same_excess() -> None:
    """In a mixture of known densities, the rate at z is the probability of the first component given z."""
    rng = np.random.default_rng(2)
    n, share = 60_000, 0.1
    pool = np.concatenate([rng.normal(size=int(n * (1 - share))), rng.normal(3, 1, int(n * share))])
    at = np.array([1.0, 2.0, 2.5, 3.0])
    expected = norm.pdf(at) / ((1 - share) * norm.pdf(at) + share * norm.pdf(at - 3))
    assert local_fdr(at, pool) == pytest.approx(np.minimum(expected, 1), abs=0.08)


def test_every_word_counts_once_in_the_rate() -> None:
    """Written from the definition: the density of all words, each with the mean of the kernels of its draws."""
    rng = np.random.default_rng(5)
    draws, requested = rng.normal(size=(3, 40)), np.array([1.5, 4.0, 4.5])
    width = 0.9 * 43**-0.2

    def rate(z: float) -> float:
        ordinary = sum(norm.pdf(z, draws[:, word], width).mean() for word in range(40))
        return float(norm.pdf(z) / ((ordinary + norm.pdf(z, requested, width).sum()) / 43))

    expected = [min(1.0, *(rate(z) for z in np.arange(0, one + 0.005, 0.01))) for one in requested]
    assert local_fdr(requested, draws) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("count", [150, 100_000])
def test_extreme_excess_has_the_rate_zero(count: int) -> None:
    """Between 3 and a million no word is near, so that the density is 0 there."""
    ordinary = np.linspace(-3, 3, count)
    assert local_fdr(np.array([0.5, 12.0, 1e6]), ordinary).round(9).tolist()[1:] == [0.0, 0.0]


def test_rate_does_not_rise_with_the_excess() -> None:
    rng = np.random.default_rng(3)
    excess = np.sort(rng.uniform(0, 8, 200))
    assert (np.diff(local_fdr(excess, rng.normal(size=150))) <= 1e-12).all()


def test_few_ordinary_words_are_called_changed_without_any_change() -> None:
    rng = np.random.default_rng(4)
    called = [np.mean(local_fdr(rng.normal(size=100), rng.normal(size=150)) <= 0.2) for _ in range(50)]
    assert np.mean(called) < 0.01
