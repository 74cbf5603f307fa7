"""Test DSCD without sampling against integrals over the plane, known distributions, and random vectors.

The references are: the definition of each distance integrated over R^2, for up to two variables; chi, noncentral chi
and projected normal distributions in any number of dimensions; and Monte Carlo for the rest.
"""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import integrate, special, stats
from scipy.spatial import distance as scipy_distance
from scipy.spatial.distance import cdist

from lexshift import Gaussian
from lexshift.scoring.distance import DISTANCES, dscd, expectations
from lexshift.utils.arrays import Array, Floats

SEEDS = st.integers(0, 2**32 - 1)
Fields = tuple[Floats, Floats, Floats, Floats]  # means and standard deviations: a, p, b, q

# The distances by definition, between the rows of two arrays.
BY_DEFINITION: dict[str, Callable[[Array, Array], Array]] = {
    "braycurtis": lambda x, y: np.abs(x - y).sum(-1) / np.abs(x + y).sum(-1),
    "canberra": lambda x, y: (np.abs(x - y) / np.maximum(np.abs(x) + np.abs(y), 1e-300)).sum(-1),
    "chebyshev": lambda x, y: np.abs(x - y).max(-1),
    "cityblock": lambda x, y: np.abs(x - y).sum(-1),
    "correlation": lambda x, y: _cosine(x - x.mean(-1, keepdims=True), y - y.mean(-1, keepdims=True)),
    "cosine": lambda x, y: _cosine(x, y),
    "euclidean": lambda x, y: np.sqrt(((x - y) ** 2).sum(-1)),
}


def _cosine(x: Array, y: Array) -> Array:
    return 0.5 * ((x / np.linalg.norm(x, axis=-1)[..., None] - y / np.linalg.norm(y, axis=-1)[..., None]) ** 2).sum(-1)


def value(name: str, a: Array, p: Array, b: Array, q: Array) -> float:
    """Return the expected distance of one pair of Gaussians."""
    old, new = (
        Gaussian(np.atleast_2d(m).astype(float), np.atleast_2d(s).astype(float) ** 2, 9) for m, s in ((a, p), (b, q))
    )
    values: Floats = expectations.for_batches(getattr(expectations, name))(old, new)
    assert values.shape == (1,)
    return float(values[0])


def fields(d: int, mean: float, larger: float, seed: int) -> Fields:
    """Return random Gaussians around a common mean in units of the spread, with five larger dimensions."""
    rng = np.random.default_rng(seed)
    size = np.where(np.arange(d) < 5, larger, 1.0)
    common = mean * rng.normal(size=d)
    a, b = ((common + rng.normal(size=d)) * size for _ in range(2))
    p, q = (10.0 ** rng.uniform(-0.5, 0.5, d) * size for _ in range(2))
    return a, p, b, q


def panels(edges: Array, nodes: int = 15) -> tuple[Floats, Floats]:
    """Return Gauss-Legendre nodes and weights on every panel between the edges."""
    x, w = np.polynomial.legendre.leggauss(nodes)
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    return (middle[:, None] + half[:, None] * x).ravel(), (half[:, None] * w).ravel()


def over_the_plane(f: Callable[[Array, Array], Array], a: float, p: float, b: float, q: float) -> Array:
    """Integrate E f(x, y) of x ~ N(a, p^2), y ~ N(b, q^2) in polar coordinates, split at the axes and |x| = |y|."""
    distance, direction = math.hypot(a / p, b / q), math.atan2(b / q, a / p)
    reach = math.asin(9 / distance) if distance > 9 else math.pi
    axes = np.arange(-8, 9) * np.pi / 2
    corners = np.concatenate([axes, axes[::2] - math.atan2(p, q), axes[::2] + math.atan2(p, q)])
    corners = corners[np.abs(corners - direction) < reach]
    angle, angle_weight = panels(np.unique([*np.linspace(direction - reach, direction + reach, 33), *corners]))
    radius, radius_weight = panels(np.linspace(max(0.0, distance - 9), distance + 9, 7))
    x, y = p * np.outer(np.cos(angle), radius), q * np.outer(np.sin(angle), radius)
    density = np.exp(-0.5 * (((x - a) / p) ** 2 + ((y - b) / q) ** 2)) / (2 * np.pi) * radius
    return np.einsum("...ij,i,j->...", f(x, y) * density, angle_weight, radius_weight)


def folded(mean: float, sd: float) -> float:
    """Return E|z| of z ~ N(mean, sd^2) by integration."""
    z, weight = panels(np.unique(np.append(np.linspace(mean - 12 * sd, mean + 12 * sd, 25), 0.0)))
    return float(weight @ (np.abs(z) * stats.norm.pdf(z, mean, sd)))


# One or two variables: integrals over all of their values.


@given(d=st.integers(1, 6), mean=st.sampled_from([0.0, 1.0, 50.0]), seed=SEEDS)
def test_cityblock_sums_the_mean_absolute_difference_of_each_dimension(d: int, mean: float, seed: int) -> None:
    a, p, b, q = fields(d, mean, 100.0, seed)
    want = sum(folded(a[j] - b[j], math.hypot(p[j], q[j])) for j in range(d))
    assert value("cityblock", a, p, b, q) == pytest.approx(want, rel=1e-11)


@pytest.mark.parametrize("name", ["euclidean", "chebyshev"])
@given(mean=st.sampled_from([0.0, 1.0, 50.0]), seed=SEEDS)
def test_euclidean_and_chebyshev_in_one_dimension_are_the_mean_absolute_difference(
    name: str, mean: float, seed: int
) -> None:
    a, p, b, q = fields(1, 1.0, 1.0, seed)
    want = folded(mean + a[0] - b[0], math.hypot(p[0], q[0]))
    assert value(name, mean + a, p, b, q) == pytest.approx(want, rel=1e-9)


@given(d=st.integers(1, 3), mean=st.sampled_from([0.0, 1.0, 20.0]), larger=st.sampled_from([1e-3, 1.0]), seed=SEEDS)
def test_canberra_sums_integrals_over_the_plane(d: int, mean: float, larger: float, seed: int) -> None:
    a, p, b, q = fields(d, mean, larger, seed)
    want = sum(
        over_the_plane(lambda x, y: np.abs(x - y) / (np.abs(x) + np.abs(y)), *at) for at in zip(a, p, b, q, strict=True)
    )
    assert value("canberra", a, p, b, q) == pytest.approx(float(want), rel=1e-9)


@pytest.mark.parametrize("signs", [(1, 1), (1, -1), (-1, 1), (-1, -1)])
def test_canberra_is_as_exact_for_means_of_opposite_signs_as_of_equal_signs(signs: tuple[int, int]) -> None:
    a, p, b, q = 0.0126 * signs[0], 0.21, 0.0132 * signs[1], 2.745
    want = over_the_plane(lambda x, y: np.abs(x - y) / (np.abs(x) + np.abs(y)), a, p, b, q)
    got = value("canberra", *(np.array([field]) for field in (a, p, b, q)))
    assert got == pytest.approx(float(want), rel=1e-9)


@pytest.mark.parametrize("name", ["euclidean", "chebyshev"])
@given(mean=st.sampled_from([0.0, 1.0, 10.0]), larger=st.sampled_from([1e-3, 1.0]), seed=SEEDS)
def test_euclidean_and_chebyshev_in_two_dimensions_are_integrals_over_the_plane(
    name: str, mean: float, larger: float, seed: int
) -> None:
    a, p, b, q = fields(2, 1.0, larger, seed)
    a += mean * larger
    (u, v), (s, t) = a - b, np.hypot(p, q)
    want = over_the_plane(
        np.hypot if name == "euclidean" else lambda x, y: np.maximum(np.abs(x), np.abs(y)), u, s, v, t
    )
    assert value(name, a, p, b, q) == pytest.approx(float(want), rel=2e-9)


@given(mean=st.sampled_from([0.0, 1.0, 10.0]), larger=st.sampled_from([1e-3, 1.0]), seed=SEEDS)
def test_cosine_in_two_dimensions_is_one_integral_over_the_plane_per_vector(
    mean: float, larger: float, seed: int
) -> None:
    a, p, b, q = fields(2, mean, larger, seed)
    x, y = (
        over_the_plane(lambda x, y: np.array([x, y]) / np.hypot(x, y), m[0], s[0], m[1], s[1])
        for m, s in ((a, p), (b, q))
    )
    assert value("cosine", a, p, b, q) == pytest.approx(float(1 - x @ y), rel=1e-9)


@given(mean=st.sampled_from([0.0, 1.0, 10.0]), seed=SEEDS)
def test_correlation_in_two_dimensions_compares_which_coordinate_is_larger(mean: float, seed: int) -> None:
    a, p, b, q = fields(2, mean, 1.0, seed)
    x, y = (1 - 2 * stats.norm.cdf(m[1] - m[0], scale=math.hypot(*s)) for m, s in ((a, p), (b, q)))  # E sign(x0 - x1)
    assert value("correlation", a, p, b, q) == pytest.approx(1 - x * y, rel=1e-9, abs=1e-14)


@given(d=st.integers(1, 5), mean=st.sampled_from([0.0, 1.0, 10.0]), alike=st.booleans(), seed=SEEDS)
def test_braycurtis_equals_its_documented_expansion(d: int, mean: float, alike: bool, seed: int) -> None:
    a, p, b, q = fields(d, mean, 1.0, seed)
    if alike:
        q = p
    of_each: Callable[[Array, Array], Array] = lambda x, y: np.array(  # noqa: E731
        [np.abs(x - y), np.abs(x + y), (x + y) ** 2, np.abs((x - y) * (x + y))]
    )
    moments = np.array([over_the_plane(of_each, *at) for at in zip(a, p, b, q, strict=True)])  # (d, 4)
    N, D = moments[:, 0].sum(), moments[:, 1].sum()
    variance = np.sum(moments[:, 2] - moments[:, 1] ** 2)
    covariance = np.sum(moments[:, 3] - moments[:, 0] * moments[:, 1])
    want = N / D * (1 + variance / D**2) - covariance / D**2
    assert value("braycurtis", a, p, b, q) == pytest.approx(want, rel=1e-7)


# Any number of dimensions, where the distribution has a name.


@pytest.mark.parametrize("d", [1, 2, 3, 10, 100, 768])
def test_euclidean_between_equal_gaussians_is_the_mean_of_a_chi_distribution(d: int) -> None:
    p, q = np.full(d, 1.2), np.full(d, 0.5)
    chi = math.sqrt(2) * math.exp(special.gammaln((d + 1) / 2) - special.gammaln(d / 2))
    assert value("euclidean", np.ones(d), p, np.ones(d), q) == pytest.approx(1.3 * chi, rel=1e-11)


@given(d=st.integers(1, 60), mean=st.sampled_from([0.1, 1.0, 3.0]), seed=SEEDS)
def test_euclidean_of_equal_variances_is_the_mean_of_a_noncentral_chi(d: int, mean: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b, (s, t) = mean * rng.normal(size=d), rng.normal(size=d), rng.uniform(0.3, 2, 2)
    spread = math.hypot(s, t)
    noncentral = stats.ncx2(d, ((a - b) ** 2).sum() / spread**2)
    z, weight = panels(np.linspace(0, math.sqrt(noncentral.mean() + 15 * noncentral.std() + 100), 60))
    want = spread * float(weight @ (z * noncentral.pdf(z**2) * 2 * z))
    assert value("euclidean", a, np.full(d, s), b, np.full(d, t)) == pytest.approx(want, rel=1e-9)


@pytest.mark.parametrize("d", [1, 2, 16, 128, 768])
def test_chebyshev_of_zero_means_is_the_mean_maximum_of_half_normals(d: int) -> None:
    z, weight = panels(np.linspace(0, 12, 200))
    survival = -np.expm1(d * np.log1p(-2 * stats.norm.sf(z)))  # 1 - P(|z| <= t)^d
    got = value("chebyshev", np.ones(d), np.full(d, 0.6), np.ones(d), np.full(d, 0.8))
    assert got == pytest.approx(float(weight @ survival), rel=1e-8)


@given(d=st.integers(2, 30), mean=st.sampled_from([0.0, 1.0, 50.0]), seed=SEEDS)
def test_chebyshev_is_the_integral_of_the_tail_probability(d: int, mean: float, seed: int) -> None:
    a, p, b, q = fields(d, 1.0, 100.0, seed)
    a += mean
    centre, spread = np.abs(a - b), np.hypot(p, q)
    t, weight = panels(np.unique(np.append(np.linspace(0, (centre + 12 * spread).max(), 300), centre)))
    within = [stats.norm.cdf(t, m, s) - stats.norm.cdf(-t, m, s) for m, s in zip(centre, spread, strict=True)]
    assert value("chebyshev", a, p, b, q) == pytest.approx(float(weight @ (1 - np.prod(within, axis=0))), rel=1e-8)


def mean_direction(mean: Floats, sd: float) -> Floats:
    """Return E[x / |x|] of x ~ N(mean, sd^2 I), the projected normal distribution."""
    d = len(mean)
    at_zero = math.exp(special.gammaln((d + 1) / 2) - special.gammaln(d / 2 + 1)) / (math.sqrt(2) * sd)
    direction: Floats = mean * at_zero * special.hyp1f1(0.5, d / 2 + 1, -(mean @ mean) / (2 * sd**2))
    return direction


@pytest.mark.parametrize("name", ["cosine", "correlation"])
@given(
    d=st.integers(3, 200), mean=st.sampled_from([0.01, 1.0, 5.0]), scale=st.sampled_from([1e-4, 1.0, 1e4]), seed=SEEDS
)
def test_cosine_and_correlation_of_equal_variances_are_those_of_projected_normals(
    name: str, d: int, mean: float, scale: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    a, b, (p, q) = mean * scale * rng.normal(size=d), scale * rng.normal(size=d), scale * 10.0 ** rng.uniform(-1, 1, 2)
    x, y = a, b
    if name == "correlation":  # an isotropic Gaussian in the d - 1 dimensions orthogonal to (1, ..., 1)
        across = np.linalg.svd(np.ones((1, d)))[2][1:]
        x, y = across @ a, across @ b
    want = 1 - mean_direction(x, p) @ mean_direction(y, q)
    assert value(name, a, np.full(d, p), b, np.full(d, q)) == pytest.approx(want, rel=1e-9)


@pytest.mark.parametrize("name", ["cosine", "correlation"])
@given(d=st.integers(2, 100), larger=st.sampled_from([1.0, 100.0]), seed=SEEDS)
def test_vectors_without_a_mean_direction_have_a_distance_of_exactly_1(
    name: str, d: int, larger: float, seed: int
) -> None:
    _, p, b, q = fields(d, 1.0, larger, seed)
    common = 3.0 if name == "correlation" else 0.0  # an average shared by all dimensions has no direction for it
    assert value(name, np.full(d, common), p, b, q) == pytest.approx(1, abs=1e-14)


# Everything else: vectors drawn from the two Gaussians.


def effective(p: Floats, q: Floats, a: Floats, b: Floats) -> float:
    """Return the effective number of dimensions, relative to the largest ones."""
    size = np.sqrt(p**2 + q**2 + (a + b) ** 2)
    return float(size.sum() ** 2 / (size**2).sum())


@pytest.mark.parametrize("name", [name for name in DISTANCES if name != "braycurtis"])
@pytest.mark.parametrize(
    ("d", "mean", "larger", "constant"),
    [(3, 0.3, 1.0, 0), (16, 1.0, 1.0, 4), (16, 50.0, 1.0, 0), (40, 0.5, 100.0, 0), (100, 0.0, 1.0, 30)],
)
def test_expected_distance_equals_the_mean_over_drawn_vectors(
    name: str, d: int, mean: float, larger: float, constant: int
) -> None:
    a, p, b, q = fields(d, mean, larger, seed=d)
    p[d - constant :] = 0.0
    q[d - constant + constant // 2 :] = 0.0
    rng = np.random.default_rng(0)
    n = 1_500_000 // d
    distances = BY_DEFINITION[name](rng.normal(a, p, (n, d)), rng.normal(b, q, (n, d)))  # of n independent pairs
    error = distances.std() / math.sqrt(n)
    assert error < 0.01 * distances.mean()
    assert abs(value(name, a, p, b, q) - distances.mean()) <= 4.5 * error


@pytest.mark.parametrize("d", [4, 16, 64, 256, 768])
@pytest.mark.parametrize("kind", ["alike", "unlike", "spread", "far", "larger"])
def test_braycurtis_error_is_at_most_one_over_the_squared_number_of_dimensions(d: int, kind: str) -> None:
    a, p, b, q = fields(d, 10.0 if kind == "far" else 0.3, 100.0 if kind == "larger" and d > 5 else 1.0, seed=d)
    if kind in ("alike", "unlike"):
        a, p, b, q = 0 * a, 1 + 0 * p, 0 * b, (1.0 if kind == "alike" else 3.0) + 0 * q
    sd = np.hypot(p, q)
    N, D = (sum(map(folded, m.tolist(), sd.tolist())) for m in (a - b, a + b))
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(128 // d + 1):
        x, y = rng.normal(a, p, (4000, d)), rng.normal(b, q, (4000, d))
        apart, together = np.abs(x - y).sum(axis=1), np.abs(x + y).sum(axis=1)
        # Control variates: subtracting the deviations keeps the mean and reduces the error.
        ratios.append(apart / together - (apart - N) / D + N * (together - D) / D**2)
    error = np.std(ratios) / math.sqrt(np.size(ratios))
    bound = 1 / effective(p, q, a, b) ** 2  # d^2 if the dimensions are of one size
    assert abs(value("braycurtis", a, p, b, q) / np.mean(ratios) - 1) <= bound + 5 * error / np.mean(ratios)


@pytest.mark.slow
@pytest.mark.parametrize("name", DISTANCES)
@pytest.mark.parametrize(("d", "larger"), [(12, 1.0), (60, 10.0)])
def test_sampled_mode_converges_to_the_expected_one(name: str, d: int, larger: float) -> None:
    a, p, b, q = fields(d, 0.5, larger, seed=1)
    old, new = Gaussian(a, p**2, 9), Gaussian(b, q**2, 9)
    rng = np.random.default_rng(0)
    pairs = cdist(rng.normal(a, p, (600, d)), rng.normal(b, q, (600, d)), name)
    by_row, by_column = pairs.mean(axis=1).var(), pairs.mean(axis=0).var()  # pairs that share a vector are grouped
    want = dscd(name)(old, new)
    approximation = want / effective(p, q, a, b) ** 2 if name == "braycurtis" else 0.0
    for samples in (100, 4000):
        error = math.sqrt((by_row + by_column) / samples)
        assert abs(dscd(name, "sampled", samples)(old, new) - want) <= 4.5 * error + approximation


# Edge cases.


@pytest.mark.parametrize("name", DISTANCES)
@given(b=st.integers(1, 4), d=st.integers(2, 40), mean=st.sampled_from([0.0, 1.0, 50.0]), seed=SEEDS)
def test_without_variance_it_is_the_distance_between_the_means(
    name: str, b: int, d: int, mean: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    x, y = mean + rng.normal(size=(b, d)), mean + rng.normal(size=(b, d))
    x[:, 0] = y[:, 0] = 0.0
    got = expectations.for_batches(getattr(expectations, name))(
        Gaussian(x, np.zeros((b, d)), 9), Gaussian(y, np.zeros((b, d)), 9)
    )
    with np.errstate(invalid="ignore"):  # scipy divides 0 by 0 in a canberra distance, and then counts 0
        want = [getattr(scipy_distance, name)(u, v) for u, v in zip(x, y, strict=True)]
    assert_allclose(got, want, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("name", DISTANCES)
@given(d=st.integers(4, 20), seed=SEEDS)
def test_vanishing_variance_and_zero_variance_give_the_same_value(name: str, d: int, seed: int) -> None:
    a, p, b, q = fields(d, 0.5, 1.0, seed)
    p[: d // 2] = q[1 : d // 2] = 0.0
    p_tiny, q_tiny = np.where(p > 0, p, 1e-9), np.where(q > 0, q, 1e-9)
    assert value(name, a, p, b, q) == pytest.approx(value(name, a, p_tiny, b, q_tiny), rel=1e-6)


@pytest.mark.parametrize("mean", [0.0, 1e-3, 0.1, 1.0, -3.0])
@pytest.mark.parametrize("other", [0.0, 0.5, 4.0])
def test_canberra_to_a_constant_dimension_is_one_integral(mean: float, other: float) -> None:
    def density_times_ratio(y: float) -> float:
        return abs(mean - y) / (abs(mean) + abs(y)) * math.exp(-0.5 * (y - other) ** 2) / math.sqrt(2 * math.pi)

    edges = sorted({other - 10, -0.1, -1e-3, 0.0, 1e-3, 0.1, mean, other + 10})
    want = sum(integrate.quad(density_times_ratio, *pair, epsabs=1e-12)[0] for pair in pairwise(edges))
    constant, varying = np.array([mean]), np.array([other])
    assert value("canberra", constant, np.zeros(1), varying, np.ones(1)) == pytest.approx(want, rel=1e-7)
    assert value("canberra", varying, np.ones(1), constant, np.zeros(1)) == pytest.approx(want, rel=1e-7)


def test_vectors_with_only_two_possible_directions_differ_by_their_signs() -> None:
    # Use a separate process, because an endless loop cannot be stopped from within.
    code = """
import numpy as np
from lexshift import Gaussian
from lexshift.scoring.distance.expectations import correlation, cosine, for_batches
only = [1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]
for distance, one in zip((cosine, cosine, correlation), map(np.atleast_2d, only)):
    print(for_batches(distance)(Gaussian(0.5 * one, one, 9), Gaussian(0.3 * one, 4 * one, 9))[0])
"""
    try:
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    except subprocess.TimeoutExpired:
        pytest.fail("the integral has no end")
    sign, other_sign = (special.erf(m / (s * math.sqrt(2))) for m, s in ((0.5, 1.0), (0.3, 2.0)))  # E sign(x)
    assert_allclose([float(line) for line in ran.stdout.split()], [1 - sign * other_sign] * 3, rtol=1e-9)


@pytest.mark.parametrize("name", DISTANCES)
@given(d=st.integers(3, 40), power=st.integers(-40, 40), seed=SEEDS)
def test_unit_of_the_vectors_does_not_matter(name: str, d: int, power: int, seed: int) -> None:
    a, p, b, q = fields(d, 1.0, 10.0, seed)
    unit = 2.0**power
    scale = unit if name in ("chebyshev", "cityblock", "euclidean") else 1.0
    scaled = value(name, a * unit, p * unit, b * unit, q * unit)
    assert scaled == pytest.approx(scale * value(name, a, p, b, q), rel=1e-7 if name == "braycurtis" else 1e-9)


@pytest.mark.parametrize("name", DISTANCES)
@given(b=st.integers(2, 5), d=st.integers(2, 30), seed=SEEDS)
def test_batch_equals_its_pairs_and_is_symmetric(name: str, b: int, d: int, seed: int) -> None:
    each = [fields(d, 1.0, 10.0, seed + i) for i in range(b)]
    m1, s1, m2, s2 = (np.array(field) for field in zip(*each, strict=True))
    old, new = Gaussian(m1, s1**2, 9), Gaussian(m2, s2**2, 9)
    together = expectations.for_batches(getattr(expectations, name))(old, new)
    assert_array_equal(together, [value(name, *one) for one in each])
    assert_allclose(expectations.for_batches(getattr(expectations, name))(new, old), together, rtol=1e-9)
