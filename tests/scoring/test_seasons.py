"""Test seasons: level and statistic against their definitions, planted seasons, and patterns that are no seasons."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_usages import MadeUsages
from scipy.stats import beta, binom

from lexshift.scoring.seasons import (
    frequency_bands,
    month_means,
    remaining_amplitude,
    remove_season,
    residuals,
    rotated_power,
    same_month_products,
    season,
)
from lexshift.scoring.significance import benjamini_hochberg
from lexshift.study.history import find_history
from lexshift.study.settings import Settings
from lexshift.utils.arrays import Floats, Matrix
from lexshift.utils.monitor import Silent

MONTHS = [(year, month) for year in range(2001, 2007) for month in range(1, 13)]
Level = Callable[[int, int], float]  # arguments: number of the month from 0, and month of the year
ALPHA = 0.05


def usages(level: Level, seed: int, n: int = 10, missing: Callable[[int, int], bool] | None = None) -> list[Matrix]:
    """Return usages around a level in all months except the missing ones."""
    rng = np.random.default_rng(seed)
    direction = np.array([1, 1, 0, 0])
    return [
        rng.normal(size=(0 if missing is not None and missing(i, month) else n, 4)) + level(i, month) * direction
        for i, (_, month) in enumerate(MONTHS)
    ]


def called(level: Level, runs: int, missing: Callable[[int, int], bool] | None = None) -> int:
    """Return how often a season is found."""
    found = 0
    for seed in range(runs):
        answer = season(usages(level, seed, missing=missing), MONTHS, 99, seed)
        assert answer is not None
        found += answer.p <= ALPHA
    return found


def slow_residuals(means: Floats, there: npt.NDArray[np.bool_]) -> Floats:
    """Subtract a line fitted to the year around each month, with half weight for the months half a year away."""
    left = np.full(means.shape, np.nan)
    for t in range(6, len(means) - 6):
        near = [s for s in range(t - 6, t + 7) if there[s]]
        weight = [0.5 if abs(s - t) == 6 else 1.0 for s in near]
        if not there[t] or not any(s < t for s in near) or not any(s > t for s in near) or sum(weight) < 6:
            continue
        for k in range(means.shape[1]):
            line = np.polyfit([s - t for s in near], [means[s, k] for s in near], 1, w=np.sqrt(weight))
            left[t, k] = means[t, k] - line[1]
    return left


@given(st.integers(1, 40), st.integers(1, 3), st.floats(0, 0.6), st.integers(0, 10**6))
def test_level_is_a_line_fitted_to_the_surrounding_year(months: int, d: int, gaps: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    means, there = rng.normal(size=(months, d)), rng.random(months) >= gaps
    assert residuals(means, there) == pytest.approx(slow_residuals(means, there), abs=1e-9, nan_ok=True)


def test_level_of_complete_months_is_the_two_by_twelve_moving_average() -> None:
    means = np.random.default_rng(0).normal(size=(40, 2))
    weights = np.array([1, *[2] * 11, 1]) / 24
    smooth = np.stack([np.convolve(column, weights, "valid") for column in means.T], axis=1)
    assert residuals(means, np.ones(40, bool))[6:-6] == pytest.approx(means[6:-6] - smooth, abs=1e-12)


@given(st.integers(0, 60), st.floats(0, 0.4), st.floats(-2, 2), st.integers(0, 10**6))
def test_drift_leaves_no_residual_with_any_missing_months(months: int, gaps: float, slope: float, seed: int) -> None:
    there = np.random.default_rng(seed).random(months) >= gaps
    left = residuals(slope * np.arange(months, dtype=np.float64)[:, None] + 3.0, there)
    assert np.nan_to_num(left) == pytest.approx(np.zeros((months, 1)), abs=1e-9)


@given(st.lists(st.integers(0, 11), min_size=1, max_size=30), st.integers(1, 3), st.integers(0, 10**6))
def test_statistic_is_the_inner_product_of_equal_months(months: list[int], d: int, seed: int) -> None:
    cells = np.random.default_rng(seed).normal(size=(len(months), d))
    slow = sum(
        float(cells[i] @ cells[j])
        for i in range(len(months))
        for j in range(len(months))
        if i != j and months[i] == months[j]
    )
    assert same_month_products(cells, np.array(months)) == pytest.approx(slow, abs=1e-9)


@given(st.integers(0, 10**6))
def test_months_are_averaged_with_gaps_between_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes, numbers = rng.integers(0, 4, 5), np.cumsum(rng.integers(1, 4, 5)) + 100
    rows = rng.normal(size=(int(sizes.sum()), 2))
    means, counts = month_means(rows, sizes, numbers)
    begin = 0
    expected, n_expected = np.zeros((numbers[-1] - numbers[0] + 1, 2)), np.zeros(numbers[-1] - numbers[0] + 1, int)
    for size, number in zip(sizes, numbers, strict=True):
        if size:
            expected[number - numbers[0]] = rows[begin : begin + size].mean(axis=0)
        n_expected[number - numbers[0]] = size
        begin += size
    assert means == pytest.approx(expected)
    assert counts.tolist() == n_expected.tolist()


@pytest.mark.parametrize(
    "level",
    [
        lambda i, month: 0.8 * (month <= 6),  # noqa: ARG005
        lambda i, month: 1.2 * (month == 12),  # noqa: ARG005
        lambda i, month: 0.8 * (month % 2),  # noqa: ARG005
        lambda i, month: 0.6 * float(np.cos(np.pi * month / 6)),  # noqa: ARG005
        lambda i, month: 0.8 * (month in (6, 7, 8)) + 0.05 * i,
        lambda i, month: 0.8 * (month <= 6) + 3 * (i >= 36),
    ],
    ids=["half a year", "december", "every other month", "a cosine", "summer in a drift", "half a year and a step"],
)
def test_planted_season_is_found(level: Level) -> None:
    assert called(level, 15) >= 14
    assert called(level, 15, missing=lambda i, month: month == 8 or i % 7 == 0) >= 13


@pytest.mark.parametrize(
    "level",
    [
        lambda i, month: 0.0,  # noqa: ARG005
        lambda i, month: 0.1 * i,  # noqa: ARG005
        lambda i, month: 3.0 * (i >= 36),  # noqa: ARG005
        lambda i, month: 3.0 * (i >= 39),  # noqa: ARG005
        lambda i, month: 3.0 * (i >= 42),  # noqa: ARG005
    ],
    ids=["noise", "a drift", "a step at new year", "a step in april", "a step in july"],
)
@pytest.mark.parametrize(
    "missing", [None, lambda i, month: month == 8 or i % 11 == 0], ids=["all months", "some missing"]
)
def test_patterns_that_do_not_recur_are_not_called_a_season(
    level: Level, missing: Callable[[int, int], bool] | None
) -> None:
    runs = 100
    assert called(level, runs, missing) <= binom.ppf(1 - 1e-3, runs, ALPHA)


def autoregressive(rng: np.random.Generator) -> Floats:
    """Return levels of shape (months, 4) with a correlation of 0.8 between neighbouring months."""
    values = np.zeros((100 + len(MONTHS), 4))
    for t in range(1, len(values)):
        values[t] = 0.8 * values[t - 1] + 0.6 * rng.normal(size=4)
    return values[100:]


def test_topics_that_last_for_months_are_not_called_a_season() -> None:
    runs, found = 250, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        answer = season([rng.normal(level, size=(10, 4)) for level in autoregressive(rng)], MONTHS, 99, seed)
        assert answer is not None
        found += answer.p <= ALPHA
    assert found <= binom.ppf(1 - 1e-2, runs, ALPHA)


@given(st.integers(2, 6), st.integers(0, 11), st.integers(0, 10**6))
def test_power_at_yearly_frequencies_equals_the_fourier_transform(years: int, begin: int, seed: int) -> None:
    n = 12 * years
    cells = np.random.default_rng(seed).normal(size=(n, 2))
    power = (np.abs(np.fft.rfft(cells, axis=0)) ** 2).sum(axis=1) * 2 / n  # power at 0, 1 / years, ... cycles a year
    power[-1] /= 2
    bands = frequency_bands(cells, np.ones(n), np.arange(begin, begin + n))
    yearly = [float((rows[:first] ** 2).sum()) for rows, first in bands]
    expected = [power[years], power[2 * years] + power[3 * years], power[4 * years :: years].sum()]
    assert yearly == pytest.approx(expected)
    for (rows, first), (low, high) in zip(bands, ((0.5, 1.5), (1.5, 3.5), (3.5, 6)), strict=True):
        between = [i for i in range(1, n // 2) if i % years and low <= i / years <= high]
        between = [i for i in between if not (low == 1.5 and i / years in (low, high))]
        assert len(rows) - first == 2 * len(between)
        corrected = power[between] / remaining_amplitude(np.array(between) / years) ** 2
        below = np.array(between) / years < {0.5: 1.0, 1.5: 2.5, 3.5: 4.8}[low]
        sides = [corrected[side].mean() for side in (below, ~below) if side.any()]
        level = np.prod(sides) ** (1 / len(sides))
        assert (rows[first:] ** 2).sum() == pytest.approx(level * len(between))


@given(st.integers(24, 80), st.floats(0, 0.3), st.integers(0, 10**6))
def test_yearly_pattern_has_all_its_power_at_yearly_frequencies(n: int, gaps: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    times = np.flatnonzero(rng.random(n) >= gaps)
    weights, pattern = rng.uniform(1, 3, len(times)), rng.normal(size=(12, 2))
    pattern -= pattern.mean(axis=0)
    for rows, first in frequency_bands(pattern[times % 12] * weights[:, None], weights, times):
        assert rows[first:] == pytest.approx(np.zeros(rows[first:].shape), abs=1e-6)


@pytest.mark.parametrize("cycles", [0.5, 0.8, 1, 1.2, 3.5, 4])
def test_moving_average_residual_has_the_expected_frequency_response(cycles: float) -> None:
    wave = np.cos(2 * np.pi * cycles * np.arange(80) / 12)[:, None]
    left = residuals(wave, np.ones(80, bool))[6:-6]
    assert left == pytest.approx(wave[6:-6] * remaining_amplitude(np.array([cycles])), abs=1e-9)


def test_rotations_give_a_beta_distribution_to_the_share_of_one_axis() -> None:
    rows = np.arange(1.0, 9.0)[:, None]
    shares = rotated_power([(rows, 2)], 4000, np.random.default_rng(0)) / (rows**2).sum()
    for level in (0.5, 0.9, 0.99):
        above = (shares > beta.ppf(level, 1, 3)).sum()
        assert binom.ppf(1e-4, 4000, 1 - level) <= above <= binom.ppf(1 - 1e-4, 4000, 1 - level)


def test_one_seasonal_word_among_many_can_be_called_seasonal() -> None:
    def rows(word: int, period: int) -> Matrix:
        rng = np.random.default_rng([word, period])
        return rng.normal(size=(4, 2)) + (3 * np.cos(np.pi * period / 6) if word == 7 else 0)

    labels = [f"{year}-{month:02}" for year, month in MONTHS]
    words = MadeUsages({f"w{i}": [rows(i, period) for period in range(len(MONTHS))] for i in range(40)}, labels)
    changes, found = find_history(words, Settings(), Silent())
    q = benjamini_hochberg([season.p for season in found.values()])
    assert [word for word, value in zip(found, q, strict=True) if value <= ALPHA] == ["w7"]
    assert changes["w7"].p > ALPHA  # a yearly pattern is no change


def test_profile_names_the_months() -> None:
    found = season(usages(lambda _, month: 2.0 * (month == 12), 0), MONTHS, 99)
    assert found is not None
    assert int(np.argmax(found.profile)) == 11
    assert found.strength > 0.5
    never = season(usages(lambda _, month: 2.0 * (month == 12), 0, missing=lambda _, m: m == 8), MONTHS, 99)
    assert never is not None
    assert np.flatnonzero(np.isnan(never.profile)).tolist() == [7]


def test_season_can_be_removed() -> None:
    rows = usages(lambda i, month: 2.0 * (month == 12) + 3.0 * (i >= 36), 0)
    found = season(rows, MONTHS, 99)
    assert found is not None
    flat = remove_season(rows, MONTHS, found)
    assert [len(part) for part in flat] == [len(part) for part in rows]
    again = season([*flat], MONTHS, 99)
    assert again is not None
    assert again.strength < 0 < 0.2 < found.strength
    assert again.p > 0.5
    step = np.concatenate(flat[36:]).mean(axis=0) - np.concatenate(flat[:36]).mean(axis=0)
    assert np.linalg.norm(step) == pytest.approx(3 * np.sqrt(2), rel=0.1)  # a single change is preserved


@pytest.mark.parametrize(
    "months",
    [MONTHS[:35], [(2001, 1), (2004, 1)], [(year, month) for year, month in MONTHS if month < 5]],
    ids=["less than three years", "two months", "a third of the months"],
)
def test_too_few_months_are_not_tested(months: list[tuple[int, int]]) -> None:
    rng = np.random.default_rng(0)
    assert season([rng.normal(size=(5, 2)) for _ in months], months, 9) is None


def test_word_without_usages_is_not_tested() -> None:
    assert season([np.zeros((0, 2))] * len(MONTHS), MONTHS, 9) is None


def test_answer_depends_only_on_seed_and_word() -> None:
    rows = usages(lambda *_: 0.0, 5)
    first, second, other = (season(rows, MONTHS, 999, 0, word) for word in ("mouse", "mouse", "cell"))
    assert first is not None
    assert second is not None
    assert other is not None
    assert first.p == second.p != other.p
    assert first.strength == other.strength
