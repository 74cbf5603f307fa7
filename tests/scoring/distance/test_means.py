"""Test the seven distances between mean vectors against scipy, and against exact arithmetic beyond its precision."""

from __future__ import annotations

from decimal import Decimal, localcontext
from operator import mul

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import distance as scipy_distance

from lexshift.scoring.distance import DISTANCES, means
from lexshift.utils.arrays import Floats

SEEDS = st.integers(0, 2**32 - 1)
AWKWARD = st.sampled_from([0.0, 1.0, 50.0])


def between(name: str, old: Floats, new: Floats) -> Floats:
    values: Floats = means.distances(getattr(means, name.upper()), old, new)
    return values


def by_scipy(name: str, old: Floats, new: Floats) -> Floats:
    return np.array([getattr(scipy_distance, name)(u, v) for u, v in zip(old, new, strict=True)])


def pairs(b: int, d: int, mean: float, seed: int) -> tuple[Floats, Floats]:
    """Return two batches around a common mean in units of the spread, with five dimensions 100 times larger."""
    rng = np.random.default_rng(seed)
    size = np.where(np.arange(d) < 5, 100.0, 1.0)
    common = mean * rng.normal(size=d)
    return (common + rng.normal(size=(b, d))) * size, (common + rng.normal(size=(b, d))) * size


def exact_cosine(u: Floats, v: Floats, centred: bool) -> float:
    """Compute 1 - u.v / sqrt(u.u v.v) in 60 decimal digits; every float is a decimal number exactly."""
    with localcontext() as context:
        context.prec = 60
        x, y = ([Decimal(float(value)) for value in vector] for vector in (u, v))
        if centred:
            x, y = ([value - sum(vector, Decimal(0)) / len(vector) for value in vector] for vector in (x, y))
        xy, xx, yy = (sum(map(mul, *vectors), Decimal(0)) for vectors in ((x, y), (x, x), (y, y)))
        return float(1 - xy / (xx * yy).sqrt())


@pytest.mark.parametrize("name", DISTANCES)
@given(b=st.integers(1, 9), d=st.integers(2, 100), mean=AWKWARD, seed=SEEDS)
def test_every_distance_equals_scipy_for_each_pair_of_the_batch(
    name: str, b: int, d: int, mean: float, seed: int
) -> None:
    old, new = pairs(b, d, mean, seed)
    got = between(name, old, new)
    assert got.shape == (b,)
    assert got.dtype == np.float64
    # scipy subtracts a small cosine distance from 1; the exact references below do not.
    lost = 1e-14 if name in ("cosine", "correlation") else 0.0
    assert_allclose(got, by_scipy(name, old, new), rtol=1e-12, atol=lost)


@pytest.mark.parametrize("name", [name for name in DISTANCES if name != "correlation"])
@given(b=st.integers(1, 9), mean=AWKWARD, seed=SEEDS)
def test_one_dimension_is_enough_where_the_distance_is_defined_for_it(
    name: str, b: int, mean: float, seed: int
) -> None:
    old, new = pairs(b, 1, mean, seed)
    assert_allclose(between(name, old, new), by_scipy(name, old, new), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("name", "centred"), [("cosine", False), ("correlation", True)])
@given(b=st.integers(1, 3), d=st.integers(3, 40), apart=st.sampled_from([1.0, 1e-2, 1e-4, 1e-6]), seed=SEEDS)
def test_angles_are_accurate_when_the_common_mean_dominates_the_difference(
    name: str, centred: bool, b: int, d: int, apart: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(b, d)) + 10 * rng.normal()
    old, new = common + apart * rng.normal(size=(b, d)), common + apart * rng.normal(size=(b, d))
    exact = np.array([exact_cosine(u, v, centred) for u, v in zip(old, new, strict=True)])
    # The error is the rounding divided by the angle; 1 - cos would divide it by the squared angle.
    angle = np.sqrt(2 * exact)
    assert (np.abs(between(name, old, new) / exact - 1) <= 1e-12 + 1e-15 / angle).all()


@pytest.mark.parametrize("name", ["braycurtis", "canberra", "chebyshev", "cityblock", "euclidean"])
@given(b=st.integers(1, 9), d=st.integers(1, 60), seed=SEEDS)
def test_differences_are_accurate_when_the_common_mean_dominates_them(name: str, b: int, d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    common = 1e8 * rng.normal(size=(b, d))
    old, new = common + rng.normal(size=(b, d)), common + rng.normal(size=(b, d))
    assert_allclose(between(name, old, new), by_scipy(name, old, new), rtol=1e-12)


@pytest.mark.parametrize("name", DISTANCES)
@given(b=st.integers(1, 9), d=st.integers(4, 60), seed=SEEDS)
def test_zero_dimensions_on_one_or_both_sides_count_as_in_scipy(name: str, b: int, d: int, seed: int) -> None:
    old, new = pairs(b, d, 1.0, seed)
    kind = np.random.default_rng(seed).permutation(np.arange(d) % 4)
    old[:, (kind == 0) | (kind == 2)] = 0.0
    new[:, (kind == 1) | (kind == 2)] = 0.0
    with np.errstate(invalid="ignore"):  # scipy divides 0 by 0 in a canberra distance, and then counts 0
        want = by_scipy(name, old, new)
    assert_allclose(between(name, old, new), want, rtol=1e-12, atol=1e-15)


def test_canberra_dimension_of_two_zeros_counts_0_and_of_one_zero_counts_1() -> None:
    assert_array_equal(between("canberra", np.array([[0.0, 0.0, 3.0]]), np.array([[0.0, 5.0, 1.0]])), [0 + 1 + 0.5])
    assert_array_equal(between("canberra", np.zeros((2, 4)), np.zeros((2, 4))), [0.0, 0.0])


@pytest.mark.parametrize("name", DISTANCES)
@given(b=st.integers(1, 9), d=st.integers(2, 60), mean=AWKWARD, seed=SEEDS)
@example(2, 768, 50.0, 0)
def test_distance_to_itself_is_zero_and_distance_is_symmetric(
    name: str, b: int, d: int, mean: float, seed: int
) -> None:
    old, new = pairs(b, d, mean, seed)
    assert_allclose(between(name, old, old.copy()), np.zeros(b), rtol=0, atol=1e-30)
    assert_allclose(between(name, old, new), between(name, new, old), rtol=1e-12, atol=1e-30)


@pytest.mark.parametrize(
    ("name", "old"),
    [("braycurtis", [0.0, 0.0]), ("cosine", [0.0, 0.0]), ("correlation", [0.0, 0.0]), ("correlation", [0.5, 0.5])],
)
def test_undefined_distance_is_nan_for_that_pair_only(name: str, old: list[float]) -> None:
    batch = np.array([old, [3.0, 1.0]])
    other = np.array([[0.0, 0.0] if name == "braycurtis" else [1.0, 2.0], [1.0, 2.0]])
    got = between(name, batch, other)
    assert np.isnan(got[0])
    assert got[1] == pytest.approx(getattr(scipy_distance, name)(batch[1], other[1]), rel=1e-14)
