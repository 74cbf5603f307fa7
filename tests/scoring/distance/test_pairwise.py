"""Test averages over all pairs against the matrix of all pairs of scipy in float64."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from lexshift import Gaussian, sweep
from lexshift.scoring.distance import DISTANCES, get
from lexshift.scoring.distance.pairwise import AVERAGES
from lexshift.scoring.swap import Strategy, orders, swap, swap_count
from lexshift.utils.arrays import Matrix
from lexshift.utils.seeds import generator

SEEDS = st.integers(0, 2**32 - 1)
SIZES = st.one_of(st.integers(1, 9), st.integers(30, 41))  # below, on and between multiples of four


def samples(n: int, m: int, d: int, mean: float, larger: float, seed: int) -> tuple[Matrix, Matrix]:
    """Return float32 vectors around a common mean in units of the spread, with five larger dimensions."""
    rng = np.random.default_rng(seed)
    size = np.where(np.arange(d) < 5, larger, 1.0)
    centre = mean * rng.normal(size=d)
    x, y = rng.normal(size=(n, d)), 0.5 * rng.normal(size=d) + rng.normal(size=(m, d))
    return ((centre + x) * size).astype(np.float32), ((centre + y) * size).astype(np.float32)


def over_all_pairs(name: str, x: Matrix, y: Matrix) -> float:
    return float(cdist(x.astype(float), y.astype(float), name).mean())


def tolerance(name: str, d: int) -> float:
    """Return the tolerance for float32 samples; in one dimension a close pair loses digits in x^2 + y^2 - 2xy."""
    return 2e-5 if name == "euclidean" and d == 1 else 1e-6


def test_every_distance_has_a_pairwise_average() -> None:
    assert tuple(sorted(AVERAGES)) == DISTANCES


@pytest.mark.parametrize("name", DISTANCES)
@given(
    n=SIZES,
    m=SIZES,
    d=st.integers(2, 120),
    mean=st.sampled_from([0.0, 1.0, 50.0]),
    larger=st.sampled_from([1.0, 100.0]),
    seed=SEEDS,
)
@example(n=7, m=5, d=768, mean=50.0, larger=100.0, seed=0)
@example(n=102, m=99, d=768, mean=0.0, larger=1.0, seed=0)
@example(n=1, m=1, d=16, mean=0.0, larger=1.0, seed=0)
def test_average_is_the_mean_of_scipys_matrix_of_all_pairs(
    name: str, n: int, m: int, d: int, mean: float, larger: float, seed: int
) -> None:
    x, y = samples(n, m, d, mean, larger, seed)
    lost = 1e-13 if name in ("cosine", "correlation") else 0.0  # small angles lose digits in scipy too
    assert AVERAGES[name](x, y) == pytest.approx(over_all_pairs(name, x, y), rel=tolerance(name, d), abs=lost)


@pytest.mark.parametrize("name", [name for name in DISTANCES if name != "correlation"])
@given(n=SIZES, m=SIZES, mean=st.sampled_from([0.0, 50.0]), seed=SEEDS)
def test_one_dimension_is_enough_where_the_distance_is_defined_for_it(
    n: int, m: int, mean: float, seed: int, name: str
) -> None:
    x, y = samples(n, m, 1, mean, 1.0, seed)
    assert AVERAGES[name](x, y) == pytest.approx(over_all_pairs(name, x, y), rel=tolerance(name, 1), abs=1e-13)


@pytest.mark.parametrize("name", DISTANCES)
@given(n=st.integers(2, 12), m=st.integers(2, 12), d=st.integers(6, 40), seed=SEEDS)
def test_constant_and_zero_dimensions_count_as_in_scipy(name: str, n: int, m: int, d: int, seed: int) -> None:
    x, y = samples(n, m, d, 1.0, 1.0, seed)
    x[:, 0] = y[:, 0] = 0.0  # 0/0 in a canberra distance
    x[:, 1], y[:, 1] = 0.0, 2.0
    x[:, 2] = y[:, 2] = 3.0
    with np.errstate(invalid="ignore"):
        want = over_all_pairs(name, x, y)
    assert AVERAGES[name](x, y) == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize("name", DISTANCES)
@given(n=SIZES, m=SIZES, d=st.integers(4, 60), mean=st.sampled_from([0.0, 50.0]), seed=SEEDS)
def test_average_does_not_modify_its_samples_and_is_symmetric(
    name: str, n: int, m: int, d: int, mean: float, seed: int
) -> None:
    x, y = samples(n, m, d, mean, 100.0, seed)
    x_before, y_before = x.copy(), y.copy()
    assert AVERAGES[name](x, y) == pytest.approx(AVERAGES[name](y, x), rel=1e-6)
    assert (x == x_before).all()
    assert (y == y_before).all()


def apd(x: Matrix, y: Matrix) -> float:
    return over_all_pairs("cosine", x, y)


@given(
    n=st.integers(2, 40),
    m=st.integers(2, 40),
    d=st.integers(1, 80),
    mean=st.sampled_from([0.0, 50.0]),
    larger=st.sampled_from([1.0, 100.0]),
    double=st.booleans(),
    seed=SEEDS,
)
def test_apd_of_gaussians_of_unit_rows_is_the_mean_cosine_distance_of_all_pairs(
    n: int, m: int, d: int, mean: float, larger: float, double: bool, seed: int
) -> None:
    old, new = (rows.astype(float if double else np.float32) for rows in samples(n, m, d, mean, larger, seed))
    units = [rows.astype(float) / np.linalg.norm(rows.astype(float), axis=1, keepdims=True) for rows in (old, new)]
    want = pytest.approx(apd(old, new), rel=1e-9, abs=1e-13)
    assert get("apd")(Gaussian.fit(units[0]), Gaussian.fit(units[1])) == want
    assert sweep(old, new, ["apd"], [0.5], repeats=1).e_original[0] == want


@pytest.mark.parametrize("strategy", ["random", "distance"])
@given(
    n=st.integers(2, 30),
    m=st.integers(2, 30),
    d=st.integers(2, 40),
    mean=st.sampled_from([0.0, 50.0]),
    double=st.booleans(),
    seed=st.integers(0, 2**20),
)
def test_apd_after_swaps_equals_that_of_the_swapped_rows(
    strategy: Strategy, n: int, m: int, d: int, mean: float, double: bool, seed: int
) -> None:
    old, new = (rows.astype(float if double else np.float32) for rows in samples(n, m, d, mean, 100.0, seed))
    rates, repeats = [0.0, 0.3, 0.8, 1.0], 1 if strategy == "distance" else 3
    got = sweep(old, new, ["apd"], rates, repeats, seed, strategy, word="plane").e_swap[0]
    rng = generator(seed, "swap", "plane")
    in_turn = orders(old, new, strategy, repeats, rng)
    want = np.array(
        [[apd(*swap(old, new, *order, swap_count(n, m, rate))) for rate in rates] for order in in_turn]
    )  # (repeats, rates)
    assert got.shape == (len(rates), repeats)
    # The sums have the precision of the rows around the mean, so the error scales with the spread.
    rows = np.concatenate([old, new]).astype(float)
    spread = float(np.linalg.norm((rows / np.linalg.norm(rows, axis=1, keepdims=True)).std(axis=0)))
    assert_allclose(got, want.T, rtol=1e-12, atol=1e-13 if double else 2e-7 * spread)


def test_apd_is_undefined_for_a_row_of_zeros() -> None:
    rows = np.ones((3, 4))
    with pytest.raises(ValueError, match=r"new has a row of zeros \(row 1\)"):
        sweep(rows, rows * [[1.0], [0.0], [2.0]], ["apd"])
