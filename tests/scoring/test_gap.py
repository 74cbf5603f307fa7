"""The gap and its interval, against loops over all pairs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexshift.encode.adaptation import Calibration
from lexshift.scoring.gap import draw_halves, estimate_gap, gap, gaps, similarities
from lexshift.utils.arrays import Matrix

CALIBRATION = Calibration(slope=5.0, intercept=-2.5)


def slow_gap(old: Matrix, new: Matrix, calibration: Calibration | None) -> float:
    def similarity(x: Matrix, y: Matrix) -> float:
        cosine = float(x @ y / (np.linalg.norm(x) * np.linalg.norm(y)))
        return (
            cosine if calibration is None else 1 / (1 + np.exp(-(calibration.slope * cosine + calibration.intercept)))
        )

    within = [np.mean([similarity(x, y) for x, y in itertools.combinations(rows, 2)]) for rows in (old, new)]
    return float(np.mean(within) - np.mean([similarity(x, y) for x in old for y in new]))


@settings(max_examples=30)
@given(
    n_old=st.integers(2, 7),
    n_new=st.integers(2, 7),
    d=st.integers(1, 5),
    calibrated=st.booleans(),
    seed=st.integers(0, 99),
)
def test_gap_is_the_mean_over_pairs(n_old: int, n_new: int, d: int, calibrated: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    old, new = rng.normal(size=(n_old, d)) + 0.5, rng.normal(size=(n_new, d))
    calibration = CALIBRATION if calibrated else None
    assert gap(old, new, calibration) == pytest.approx(slow_gap(old, new, calibration), abs=1e-9)


@settings(max_examples=20)
@given(n=st.integers(6, 12), seed=st.integers(0, 99))
def test_gaps_of_divisions_are_those_of_the_chosen_rows(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, 4))
    sides = np.array([[1, 1, -1, -1, 0, 0] + [0] * (n - 6), [1, -1, 1, -1, 1, -1] + [1] * (n - 6)])
    found = gaps(similarities(rows[:3], rows[3:], CALIBRATION), sides)
    expected = [slow_gap(rows[side > 0], rows[side < 0], CALIBRATION) for side in sides]
    assert found == pytest.approx(expected, abs=1e-9)


def test_expected_gap_of_equal_distributions_is_zero() -> None:
    rng = np.random.default_rng(0)
    found = [gap(rng.normal(size=(8, 6)), rng.normal(size=(12, 6)), CALIBRATION) for _ in range(400)]
    assert abs(np.mean(found)) < 3 * np.std(found) / 20


def test_interval_contains_the_true_gap_in_most_samples() -> None:
    rng = np.random.default_rng(1)
    draw = [lambda n, shift=shift: rng.normal(size=(n, 6)) + shift for shift in (0.5, [0.5, 0.5, 0.5, -0.5, 0.0, 0.0])]
    truth = gap(draw[0](2_000), draw[1](2_000), CALIBRATION)
    hits = 0
    for i in range(100):
        found = estimate_gap(draw[0](40), draw[1](30), CALIBRATION, word=str(i))
        assert found.low <= found.value <= found.high
        hits += found.low <= truth <= found.high
    assert 85 <= hits <= 100


def test_interval_is_wider_if_the_usages_of_a_document_resemble_each_other() -> None:
    rng = np.random.default_rng(2)
    first, second = ([f"{side}{i // 5}" for i in range(50)] for side in "ab")
    old, new = (np.repeat(rng.normal(size=(10, 6)), 5, axis=0) + 0.1 * rng.normal(size=(50, 6)) for _ in range(2))
    by_usage, by_document = estimate_gap(old, new, CALIBRATION), estimate_gap(old, new, CALIBRATION, (first, second))
    assert by_document.value == by_usage.value
    assert by_document.high - by_document.low > 1.5 * (by_usage.high - by_usage.low)


def test_detectable_gap_falls_with_the_number_of_usages() -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(200, 6))
    few = estimate_gap(rows[:10], rows[10:20], CALIBRATION).detectable
    many = estimate_gap(rows[:100], rows[100:], CALIBRATION).detectable
    assert 0 < many < few / 3


def test_same_word_and_seed_give_the_same_interval() -> None:
    rows = np.random.default_rng(4).normal(size=(40, 4))
    first, again = (estimate_gap(rows[:20], rows[20:], word="mouse") for _ in range(2))
    assert first == again != estimate_gap(rows[:20], rows[20:], word="mouse", seed=1)


@given(units=st.lists(st.integers(0, 4), min_size=6, max_size=20))
def test_halves_keep_documents_together(units: list[int]) -> None:
    numbers = np.unique(units, return_inverse=True)[1]
    halves = draw_halves(numbers, 5, np.random.default_rng(0))
    assert halves.shape == (5, len(units))
    assert (halves.sum(axis=1) >= 2).all()
    assert (halves.sum(axis=1) <= len(units) - 2).all()
    if np.bincount(numbers).max() < 3 and numbers.max() >= 3:
        for half in halves:
            assert all(len(set(half[numbers == unit])) == 1 for unit in set(numbers.tolist()))
