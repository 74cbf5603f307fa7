"""Test leanings against a double loop over pairs of usages, and the plane against a singular value decomposition.

The shift is compared with a general optimiser in ``test_usage_shift.py``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from numpy.testing import assert_allclose, assert_array_equal

from lexshift.senses.evidence import Plane, leanings, plane, shift
from lexshift.utils.arrays import Floats, Matrix

VALUES = st.sampled_from([0.0, 0.0, 1.0, -1.0]) | st.floats(-100, 100, width=32)
SHAPES = st.tuples(st.integers(1, 7), st.integers(1, 7), st.integers(1, 5))
DTYPES = st.sampled_from(["float32", "float64"])


@st.composite
def two_sets(draw: st.DrawFn) -> tuple[Matrix, Matrix]:
    """Draw two sets of usages, some of them zero vectors or equal."""
    n_old, n_new, d = draw(SHAPES)
    dtype: Any = draw(DTYPES)
    old, new = (draw(npst.arrays(dtype, (n, d), elements=VALUES)) for n in (n_old, n_new))
    return old, new


def random_sets(n_old: int, n_new: int, d: int, seed: int = 0, shift: float = 1.0) -> tuple[Matrix, Matrix]:
    """Return two sets that vary ten times less in each dimension than in the one before and differ in all of them."""
    rng = np.random.default_rng(seed)
    spread = 10.0 ** -np.arange(d)
    mean = rng.normal(5, 1, d)
    return mean + spread * rng.normal(size=(n_old, d)), mean + spread * (rng.normal(size=(n_new, d)) + shift)


# Leanings


def cosine(a: Matrix, b: Matrix) -> float:
    """Return the cosine similarity of two vectors, which is 0 for a zero vector."""
    x, y = [float(v) for v in a], [float(v) for v in b]
    lengths = math.hypot(*x) * math.hypot(*y)
    return math.fsum(p * q for p, q in zip(x, y, strict=True)) / lengths if lengths else 0.0


def mean_similarity(usage: Matrix, others: list[Matrix]) -> float:
    return math.fsum(cosine(usage, other) for other in others) / len(others) if others else 0.0


def slow_leanings(old: Matrix, new: Matrix) -> tuple[list[float], list[float]]:
    def others(rows: Matrix, i: int) -> list[Matrix]:
        return [row for k, row in enumerate(rows) if k != i]

    return (
        [mean_similarity(u, list(new)) - mean_similarity(u, others(old, i)) for i, u in enumerate(old)],
        [mean_similarity(u, others(new, i)) - mean_similarity(u, list(old)) for i, u in enumerate(new)],
    )


@settings(max_examples=150)
@given(two_sets())
def test_leanings_equal_a_double_loop_over_usages(sets: tuple[Matrix, Matrix]) -> None:
    for fast, slow in zip(leanings(*sets), slow_leanings(*sets), strict=True):
        assert fast.dtype == np.float64
        assert_allclose(fast, slow, rtol=0, atol=1e-12)
        assert (np.abs(fast) <= 2 + 1e-12).all()


@given(two_sets())
def test_leanings_change_their_sign_if_the_corpora_are_exchanged(sets: tuple[Matrix, Matrix]) -> None:
    old, new = sets
    lean_old, lean_new = leanings(old, new)
    as_new, as_old = leanings(new, old)  # the same usages in the other direction
    assert_allclose(as_old, -lean_old, rtol=0, atol=1e-12)
    assert_allclose(as_new, -lean_new, rtol=0, atol=1e-12)


@given(two_sets(), st.integers(1, 1000))
def test_leanings_do_not_depend_on_the_length_of_vectors(sets: tuple[Matrix, Matrix], factor: int) -> None:
    old, new = (rows.astype(float) for rows in sets)
    for plain, scaled in zip(leanings(old, new), leanings(old * factor, new / factor), strict=True):
        assert_allclose(plain, scaled, rtol=0, atol=1e-12)


def test_zero_vector_has_a_leaning_of_zero() -> None:
    old, new = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 0.0]])
    lean_old, lean_new = leanings(old, new)
    assert (lean_old[0], lean_new[1]) == (0, 0)
    assert_array_equal(leanings(np.zeros((3, 2)), np.zeros((2, 2)))[0], np.zeros(3))


def test_only_usage_of_a_corpus_is_compared_with_the_other_corpus_only() -> None:
    lean_old, lean_new = leanings(np.array([[2.0, 0.0]]), np.array([[3.0, 0.0]]))
    assert_allclose(lean_old, [1.0])
    assert_allclose(lean_new, [-1.0])


def test_usages_of_a_new_meaning_lean_most_to_the_new_corpus() -> None:
    rng = np.random.default_rng(0)
    old_sense, new_sense = np.eye(6)[0], np.eye(6)[1]
    old = old_sense + rng.normal(0, 0.1, (20, 6))
    new = np.concatenate([old_sense + rng.normal(0, 0.1, (5, 6)), new_sense + rng.normal(0, 0.1, (15, 6))])
    lean_old, lean_new = leanings(old, new)
    assert (lean_old < 0).all()
    assert (lean_new[:5] < 0).all()
    assert (lean_new[5:] > 0).all()


# The shift


@given(two_sets())
def test_shifts_change_their_sign_if_the_corpora_are_exchanged(sets: tuple[Matrix, Matrix]) -> None:
    old, new = sets
    shift_old, shift_new = shift(old, new)
    as_new, as_old = shift(new, old)  # the same usages in the other direction
    assert_allclose(as_old, -shift_old, rtol=0, atol=1e-9)
    assert_allclose(as_new, -shift_new, rtol=0, atol=1e-9)


@given(two_sets(), st.sampled_from([0.25, 1.0, 64.0]))
def test_shifts_do_not_depend_on_the_length_of_vectors(sets: tuple[Matrix, Matrix], factor: float) -> None:
    old, new = (rows.astype(float) for rows in sets)
    for plain, scaled in zip(shift(old, new), shift(old * factor, new / factor), strict=True):
        assert_allclose(plain, scaled, rtol=0, atol=1e-9)


def test_usages_of_a_corpus_have_no_shift_if_the_other_one_is_empty() -> None:
    for old, new in ((np.ones((3, 2)), np.ones((0, 2))), (np.ones((0, 2)), np.ones((3, 2)))):
        shift_old, shift_new = shift(old, new)
        assert (shift_old.tolist(), shift_new.tolist()) == ([0.0] * len(old), [0.0] * len(new))


def test_same_usages_in_both_corpora_have_no_shift() -> None:
    shift_old, shift_new = shift(np.ones((4, 3)), np.ones((6, 3)))
    assert_allclose(shift_old, 0, atol=1e-6)
    assert_allclose(shift_new, 0, atol=1e-6)


def test_usages_of_a_new_meaning_have_the_largest_shift() -> None:
    rng = np.random.default_rng(0)
    old_sense, new_sense = np.eye(6)[0], np.eye(6)[1]
    old = old_sense + rng.normal(0, 0.1, (20, 6))
    new = np.concatenate([old_sense + rng.normal(0, 0.1, (5, 6)), new_sense + rng.normal(0, 0.1, (15, 6))])
    shift_old, shift_new = shift(old, new)
    assert shift_new[:5].max() < 0.1 < shift_new[5:].min()
    assert (shift_old < 0).all()


# The plane


def slow_plane(old: Matrix, new: Matrix) -> tuple[Floats, Floats, Floats]:
    """Return projections on the first two right singular vectors of weighted rows, and the shares of variance."""
    old, new = old.astype(float), new.astype(float)
    middle = np.mean([old.mean(axis=0), new.mean(axis=0)], axis=0)
    a, b = old - middle, new - middle
    rows = np.concatenate([a / np.sqrt(len(a)), b / np.sqrt(len(b)), np.zeros((2, a.shape[1]))])
    rows = np.pad(rows, ((0, 0), (0, 2)))  # ensures at least two directions
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    axes = directions[:2, : a.shape[1]].T
    total = (sizes**2).sum()
    return a @ axes, b @ axes, sizes[:2] ** 2 / total if total else np.zeros(2)


def assert_same_but_for_signs(found: Plane, old: Floats, new: Floats, atol: float) -> None:
    ours, theirs = np.concatenate([found.old, found.new]), np.concatenate([old, new])
    for axis in range(2):
        sign = -1 if ours[:, axis] @ theirs[:, axis] < 0 else 1
        assert_allclose(ours[:, axis], sign * theirs[:, axis], rtol=0, atol=atol)


@settings(max_examples=100)
@given(SHAPES, DTYPES, st.sampled_from([0.0, 1.0, -3.0]), st.integers(0, 99))
def test_plane_equals_that_of_a_singular_value_decomposition(
    shape: tuple[int, int, int], dtype: Any, shift: float, seed: int
) -> None:
    old, new = (rows.astype(dtype) for rows in random_sets(*shape, seed, shift))
    found, (slow_old, slow_new, shares) = plane(old, new), slow_plane(old, new)
    assert found.old.shape == (len(old), 2)
    assert found.new.shape == (len(new), 2)
    assert_same_but_for_signs(found, slow_old, slow_new, atol=1e-8)
    assert_allclose(found.explained, shares, rtol=0, atol=1e-9)


@given(two_sets())
def test_axes_show_the_largest_shares_and_point_to_the_new_usages(sets: tuple[Matrix, Matrix]) -> None:
    old, new = sets
    found, (slow_old, slow_new, shares) = plane(old, new), slow_plane(old, new)
    scale = max(1.0, float(np.abs(np.concatenate([old, new])).max()))
    assert_allclose(found.explained, shares, rtol=0, atol=1e-9)
    assert found.explained[0] >= found.explained[1] >= 0
    assert found.explained.sum() <= 1 + 1e-9
    assert (found.new.mean(axis=0) - found.old.mean(axis=0) >= -1e-9 * scale).all()
    # If the axes are not unique, only quantities of both axes together are determined.
    for ours, theirs in ((found.old, slow_old), (found.new, slow_new)):
        assert np.isfinite(ours).all()
        assert ours.shape == theirs.shape
    spread, expected = (
        (a**2).sum(axis=1).mean() + (b**2).sum(axis=1).mean() for a, b in ((found.old, found.new), (slow_old, slow_new))
    )
    assert spread == pytest.approx(expected, rel=1e-9, abs=1e-9 * scale**2)


@given(SHAPES, st.integers(0, 99))
def test_both_axes_point_from_the_old_corpus_to_the_new_one(shape: tuple[int, int, int], seed: int) -> None:
    old, new = random_sets(*shape, seed)
    there, back = plane(old, new), plane(new, old)
    assert (there.new.mean(axis=0) >= there.old.mean(axis=0) - 1e-12).all()
    for axis in range(2):  # so that exchanged corpora give the mirrored picture
        assert_allclose(there.old[:, axis], -back.new[:, axis], rtol=0, atol=1e-8)
        assert_allclose(there.new[:, axis], -back.old[:, axis], rtol=0, atol=1e-8)


@given(two_sets(), st.integers(2, 4))
def test_corpora_have_equal_weight_however_often_usages_are_repeated(sets: tuple[Matrix, Matrix], times: int) -> None:
    old, new = sets
    once, often = plane(old, new), plane(np.repeat(old, times, axis=0), new)
    assert_allclose(once.explained, often.explained, rtol=0, atol=1e-9)


@given(st.integers(1, 9), st.integers(1, 6), DTYPES, st.integers(0, 99))
def test_same_usages_in_both_corpora_have_the_same_points(n: int, d: int, dtype: Any, seed: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(n, d)).astype(dtype)
    found = plane(rows, rows.copy())
    assert_array_equal(found.old, found.new)
    assert_allclose(found.old.mean(axis=0), 0, atol=1e-9)
    lean_old, lean_new = leanings(rows, rows.copy())
    assert_allclose(lean_old, -lean_new, rtol=0, atol=1e-12)


@given(st.integers(1, 9), st.integers(1, 9), DTYPES, st.integers(0, 99))
def test_usages_of_one_dimension_lie_on_the_first_axis(n_old: int, n_new: int, dtype: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    old, new = rng.normal(0, 1, (n_old, 1)).astype(dtype), rng.normal(1, 1, (n_new, 1)).astype(dtype)
    found = plane(old, new)
    middle = (old.mean(dtype=float) + new.mean(dtype=float)) / 2
    sign = 1 if new.mean(dtype=float) >= old.mean(dtype=float) else -1
    assert_allclose(found.old, np.column_stack([sign * (old[:, 0] - middle), np.zeros(n_old)]), atol=1e-12)
    assert_allclose(found.new, np.column_stack([sign * (new[:, 0] - middle), np.zeros(n_new)]), atol=1e-12)
    assert_allclose(found.explained, [1, 0], atol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_identical_usages_are_at_one_point_with_zero_shares(d: int) -> None:
    found = plane(np.full((3, d), 0.5), np.full((4, d), 0.5))
    assert not found.old.any()
    assert not found.new.any()
    assert_array_equal(found.explained, [0, 0])


def test_one_usage_of_each_corpus_is_on_the_first_axis_at_its_distance() -> None:
    found = plane(np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 5.0, 7.0]]))
    assert_allclose(found.old, [[-2.5, 0]], atol=1e-12)
    assert_allclose(found.new, [[2.5, 0]], atol=1e-12)
    assert_allclose(found.explained, [1, 0], atol=1e-12)


@given(st.integers(2, 9), st.integers(2, 9), st.integers(0, 99))
def test_usages_of_two_dimensions_keep_their_distances(n_old: int, n_new: int, seed: int) -> None:
    old, new = random_sets(n_old, n_new, 2, seed)
    found = plane(old, new)
    rows, points = np.concatenate([old, new]), np.concatenate([found.old, found.new])
    distances, on_plane = (np.linalg.norm(x[:, None] - x[None], axis=2) for x in (rows, points))
    assert_allclose(on_plane, distances, rtol=0, atol=1e-12)
    assert found.explained.sum() == pytest.approx(1)


@pytest.mark.parametrize("shape", [(60, 70, 384), (300, 200, 150), (700, 30, 130), (2, 3, 768)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_plane_of_many_usages_equals_that_of_a_singular_value_decomposition(
    shape: tuple[int, int, int], dtype: str
) -> None:
    n_old, n_new, d = shape
    rng = np.random.default_rng(d)
    spread = 1.05 ** -np.arange(d)  # the axes have similar sizes
    old, new = ((rng.normal(size=(n, d)) * spread + shift).astype(dtype) for n, shift in ((n_old, 0.0), (n_new, 0.1)))
    found, (slow_old, slow_new, shares) = plane(old, new), slow_plane(old, new)
    assert_same_but_for_signs(found, slow_old, slow_new, atol=1e-7)
    assert_allclose(found.explained, shares, rtol=0, atol=1e-9)


def test_many_identical_usages_are_at_one_point() -> None:
    found = plane(np.full((300, 200), 0.5), np.full((400, 200), 0.5))
    assert not found.old.any()
    assert not found.new.any()
    assert_array_equal(found.explained, [0, 0])


def test_many_usages_of_one_direction_are_on_the_first_axis() -> None:
    along, direction = np.random.default_rng(0).normal(size=(300, 1)), np.ones((1, 150))
    found = plane(along[:200] * direction, along[200:] * direction + 1)
    assert_allclose(found.explained, [1, 0], atol=1e-9)
    assert_allclose(np.concatenate([found.old, found.new])[:, 1], 0, atol=1e-6)
