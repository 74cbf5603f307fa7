"""Test the divergences against the formulas of the paper with full covariance matrices, including the floor."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lexshift.scoring.distance import get
from lexshift.scoring.distance.divergences import jeffreys, kl, kl_reverse
from lexshift.scoring.gaussian import VARIANCE_FLOOR, Gaussian
from lexshift.utils.arrays import Floats

SEEDS = st.integers(0, 2**32 - 1)
COUNTS = st.sampled_from([(2, 2), (3, 20), (40, 7), (300, 2), (25, 25)])


def textbook_kl(m1: Floats, v1: Floats, m2: Floats, v2: Floats) -> float:
    """Compute KL(N1 || N2) of appendix A with covariance matrices, their inverses and determinants."""
    S1, S2 = np.diag(v1), np.diag(v2)
    inverse, shift = np.linalg.inv(S2), m2 - m1
    log_ratio = np.linalg.slogdet(S1)[1] - np.linalg.slogdet(S2)[1]
    return float(0.5 * (np.trace(inverse @ S1) - len(m1) - log_ratio + shift @ inverse @ shift))


def described(sets: list[Floats]) -> Gaussian:
    """Return the Gaussians of a batch of sets of rows, with moments by numpy."""
    mean, variance = [rows.mean(axis=0) for rows in sets], [rows.var(axis=0, ddof=1) for rows in sets]
    return Gaussian(np.array(mean), np.array(variance), len(sets[0]))


def check(old: list[Floats], new: list[Floats], floored: bool, rtol: float = 1e-9) -> None:
    """Check that all three divergences of a batch equal the textbook formulas over the dimensions that vary."""
    forward, backward = [], []
    for x, y in zip(old, new, strict=True):
        together = np.concatenate([x, y]).var(axis=0, ddof=1)
        keep = together > 0
        v1, v2 = x.var(axis=0, ddof=1), y.var(axis=0, ddof=1)
        assert ((v1 < VARIANCE_FLOOR * together) | (v2 < VARIANCE_FLOOR * together)).any() == floored
        v1, v2 = (np.maximum(v, VARIANCE_FLOOR * together)[keep] for v in (v1, v2))
        m1, m2 = x.mean(axis=0)[keep], y.mean(axis=0)[keep]
        forward.append(textbook_kl(m1, v1, m2, v2))
        backward.append(textbook_kl(m2, v2, m1, v1))
    g_old, g_new = described(old), described(new)
    assert_allclose(kl(g_old, g_new), forward, rtol=rtol)
    assert_allclose(kl_reverse(g_old, g_new), backward, rtol=rtol)
    assert_allclose(jeffreys(g_old, g_new), np.mean([forward, backward], axis=0), rtol=rtol)
    for name, divergence in (("kl", kl), ("kl-reverse", kl_reverse), ("jeffreys", jeffreys)):
        assert_array_equal(get(name)(g_old, g_new), divergence(g_old, g_new))


def sets(b: int, n: int, d: int, mean: float, rng: np.random.Generator) -> list[Floats]:
    """Return sets of rows around different means with standard deviations from 1/2 to 2."""
    spread = 2.0 ** rng.uniform(-1, 1, size=(b, 1, d))
    return list(mean + spread * (rng.normal(size=(b, 1, d)) + rng.normal(size=(b, n, d))))


@given(b=st.integers(1, 4), d=st.integers(1, 40), mean=st.sampled_from([0.0, 1e3]), seed=SEEDS)
def test_without_a_floor_divergences_equal_the_textbook_formulas(b: int, d: int, mean: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    check(sets(b, 12, d, mean, rng), sets(b, 17, d, mean, rng), floored=False)


@given(counts=COUNTS, d=st.integers(4, 40), b=st.integers(1, 3), seed=SEEDS)
def test_variance_is_raised_to_its_share_of_the_pooled_variance(
    counts: tuple[int, int], d: int, b: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    old, new = sets(b, counts[0], d, 0.0, rng), sets(b, counts[1], d, 0.0, rng)
    kind = rng.permutation(np.arange(d) % 5)
    for x, y in zip(old, new, strict=True):
        x[:, kind == 0] = 2.5  # no variance in the old set
        y[:, kind == 1] = -1.5  # no variance in the new set
        x[:, kind == 2], y[:, kind == 2] = 1.0, 4.0  # no variance in either set, and different means
        x[:, kind == 3] = y[:, kind == 3] = 7.0  # constant over both sets, counts zero
    check(old, new, floored=True)


def test_dimension_that_is_constant_over_both_sets_counts_zero() -> None:
    rng = np.random.default_rng(0)
    old, new = rng.normal(size=(10, 3)), rng.normal(size=(14, 3))
    with_constant = [np.insert(rows, [0, 2, 3], 7.0, axis=1) for rows in (old, new)]
    for divergence in (kl, kl_reverse, jeffreys):
        without = divergence(described([old]), described([new]))
        assert_allclose(divergence(*(described([rows]) for rows in with_constant)), without, rtol=1e-14)
        constant = Gaussian(np.full((1, 5), 7.0), np.zeros((1, 5)), 10)
        assert_array_equal(divergence(constant, constant), [0.0])


def test_variance_above_the_floor_is_unchanged_and_below_it_is_raised() -> None:
    rng = np.random.default_rng(1)
    flat = rng.normal(size=(50, 1))
    new = rng.normal(size=(50, 1))
    edge = np.sqrt(VARIANCE_FLOOR * new.var() / flat.var() / 2)  # half of the rows vary, so half of the variance
    check([flat * edge * 1.1], [new - new.mean() + edge * flat.mean()], floored=False)
    check([flat * edge * 0.9], [new - new.mean() + edge * flat.mean()], floored=True)


@given(d=st.integers(1, 60), apart=st.sampled_from([0.0, 1e-16, 1e-12, 1e-8, 1e-4, 1.0]), seed=SEEDS)
def test_divergences_of_similar_gaussians_are_never_negative(d: int, apart: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    mean, variance = rng.normal(size=(20, d)), 10.0 ** rng.uniform(-3, 3, size=(20, d))
    old, new = Gaussian(mean, variance, 10), Gaussian(mean, variance * np.exp(apart * rng.normal(size=(20, d))), 10)
    for divergence in (kl, kl_reverse, jeffreys):
        assert divergence(old, new).min() >= 0


@given(b=st.integers(1, 4), d=st.integers(1, 100), seed=SEEDS)
def test_divergence_of_equal_gaussians_is_zero(b: int, d: int, seed: int) -> None:
    g = described(sets(b, 9, d, 5.0, np.random.default_rng(seed)))
    for divergence in (kl, kl_reverse, jeffreys):
        assert_allclose(divergence(g, g), np.zeros(b), rtol=0, atol=1e-16 * d)


@pytest.mark.parametrize(("n_old", "n_new"), [(2, 2), (1000, 3), (3, 1_000_000)])
@pytest.mark.parametrize("lonely", ["old", "new"])
def test_5000_dimensions_at_the_floor_do_not_overflow(n_old: int, n_new: int, lonely: str) -> None:
    rng = np.random.default_rng(2)
    mean = rng.normal(size=5000)
    varying, constant = 10.0 ** rng.uniform(-9, 9, size=(1, 5000)), np.zeros((1, 5000))
    v1, v2 = (constant, varying) if lonely == "old" else (varying, constant)
    old, new = Gaussian(mean[None], v1, n_old), Gaussian(mean[None], v2, n_new)
    floor = VARIANCE_FLOOR * ((n_old - 1) * v1 + (n_new - 1) * v2) / (n_old + n_new - 1)  # the means are equal
    ratio = np.maximum(v1, floor)[0] / np.maximum(v2, floor)[0]
    assert_allclose(kl(old, new), 0.5 * np.sum(ratio - 1 - np.log(ratio)), rtol=1e-11)
    assert_allclose(kl_reverse(old, new), 0.5 * np.sum(1 / ratio - 1 + np.log(ratio)), rtol=1e-11)
    assert_allclose(jeffreys(old, new), 0.25 * np.sum(ratio + 1 / ratio - 2), rtol=1e-11)


@given(d=st.integers(1, 30), scale=st.sampled_from([1e-6, 1e-3, 1e3, 1e6]), seed=SEEDS)
def test_divergences_do_not_depend_on_the_unit_of_a_dimension(d: int, scale: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    old, new = sets(2, 8, d, 0.0, rng), sets(2, 5, d, 0.0, rng)
    unit = np.where(rng.random(d) < 0.5, scale, 1.0)
    for divergence in (kl, kl_reverse, jeffreys):
        measured = divergence(described([rows * unit for rows in old]), described([rows * unit for rows in new]))
        assert_allclose(measured, divergence(described(old), described(new)), rtol=1e-9)
