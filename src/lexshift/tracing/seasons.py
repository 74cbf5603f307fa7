"""Which words mean something else at some time of every year.

The mean of a word's usages in each month is taken off the level about it, so that drifts and single changes do not look
like seasons; what is left is compared between years. If the word has a season, the same months of different years are
alike.

- The level is a centred moving average over twelve months (two by twelve: half of the months at both ends). Where
  months are missing it is the line fitted with the same weights, which for a complete window is the same. The first and
  the last half year have no complete window and are left out.
- The statistic is the sum of inner products between the same months of different years. A single change leaves a mark
  of twelve months at most, no two of which are the same month, so it adds nothing to the sum.
- The null: within each year, months change places, and the sign of the year's marks is random. Without the random sign
  a change at New Year, of which one mark falls in the old year and one of the other sign in the new year, would look
  like a season.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexshift import _checks
from lexshift._streams import check_seed, generator
from lexshift._tail import largest_values
from lexshift._typing import Array, Floats, Matrix
from lexshift.significance import approximate_p
from lexshift.tracing.changes import leading

YEARS = 3
"""The least number of years."""
_MONTHS = 12
_WEIGHTS = np.array([0.5, *[1.0] * 11, 0.5])  # of the months from half a year before to half a year after
_LEAST_WEIGHT = 6  # of the months of a window that are not missing
_LEAST_MONTHS = 6  # of a year, that are there in two years or more
_BATCH = 500  # permutations at a time
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Season:
    """Whether a word's meaning returns every year.

    Attributes
    ----------
    p : float
        How often months in random order are as much alike from year to year.
    strength : float
        How alike the same months of different years are, once the level is taken off: 1 if they are the same, about 0
        without a season.
    profile : (12,)
        What is special about each month, January first, on the axis on which months differ most; NaN for months
        without data.
    effect : (12, components)
        The same on all axes that were looked at; 0 for months without data.
    permutations : int
        Number of random orders.
    tail : float or None
        An approximation of p where it is too small to be counted, as in :class:`lexshift.significance.PermutationTest`.
    """

    p: float
    strength: float
    profile: Floats
    effect: Floats
    permutations: int
    tail: float | None = None


def season(
    usages: Sequence[Matrix],
    months: Sequence[tuple[int, int]],
    permutations: int = 10_000,
    seed: int = 0,
    word: str = "",
) -> Season | None:
    """Test whether a word's meaning returns every year; None if there are fewer than three years, or too few months.

    Parameters
    ----------
    usages : sequence of arrays of shape (n, d)
        The word's usages in each period; some may be empty.
    months : sequence of (year, month)
        When the periods were, the earliest first.
    permutations : int
    seed, word
        As for :class:`lexshift.SSCD`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> months = [(year, month) for year in range(2001, 2006) for month in range(1, 13)]
    >>> usages = [rng.normal(month == 12, 1, size=(20, 3)) for _, month in months]
    >>> found = season(usages, months, permutations=999)
    >>> found.p < 0.01, int(np.argmax(np.abs(found.profile))) + 1
    (True, 12)
    """
    permutations = _checks.positive(permutations, "permutations")
    rng = generator(check_seed(seed), "season", word)
    sizes = np.array([len(rows) for rows in usages])
    if not sizes.any():
        return None
    numbers = np.array([year * _MONTHS + month - 1 for year, month in months])  # of months, from year 0
    if numbers[-1] - numbers[0] + 1 < YEARS * _MONTHS:
        return None
    means, counts = month_means(leading(np.concatenate(usages)), sizes, numbers)  # (months, c), (months,)
    marks = residuals(means, counts > 0)  # (months, c), NaN where there is none
    there = np.flatnonzero(~np.isnan(marks[:, 0]))
    month = (there + numbers[0]) % _MONTHS
    if (np.bincount(month, minlength=_MONTHS) >= 2).sum() < _LEAST_MONTHS:
        return None
    # With these weights the noise of all months is alike, however many usages they have.
    weighted = marks[there] * np.sqrt(counts[there])[:, None]  # (cells, c)
    alike = same_months(weighted, month)
    null = _permuted(weighted, month, (there + numbers[0]) // _MONTHS, permutations, rng)
    rounding = _ROUNDING * (weighted**2).sum()
    reached = int((null >= alike - rounding).sum())
    p = (1 + reached) / (1 + permutations)
    tail = approximate_p(largest_values(np.empty(0), null), alike, reached, permutations)
    effect, seen = month_effects(marks[there], counts[there], month)
    return Season(p, _strength(alike, weighted, month), _profile(effect, seen), effect, permutations, tail)


def month_means(rows: Floats, sizes: Array, numbers: Array) -> tuple[Floats, Array]:
    """Means (months, c) and numbers of usages (months,) of all months from the first to the last, gaps included.

    rows : (n, c), period after period; sizes : (periods,); numbers : (periods,), months counted from year 0
    """
    at = np.repeat(numbers - numbers[0], sizes)
    counts = np.bincount(at, minlength=numbers[-1] - numbers[0] + 1)
    sums = np.zeros((len(counts), rows.shape[1]))
    np.add.at(sums, at, rows)
    return sums / np.maximum(counts, 1)[:, None], counts


def residuals(means: Floats, there: npt.NDArray[np.bool_]) -> Floats:
    """Monthly means less the level about them: (months, c), NaN where there is no month or no level.

    means : (months, c); there : (months,), whether there is such a month
    """
    half = len(_WEIGHTS) // 2
    left = np.full(means.shape, np.nan)
    offsets = np.arange(-half, half + 1)
    for t in range(half, len(means) - half):
        window = slice(t - half, t + half + 1)
        weights = _WEIGHTS * there[window]
        before, after = weights[:half].any(), weights[half + 1 :].any()
        if not (there[t] and before and after and weights.sum() >= _LEAST_WEIGHT):
            continue
        w, wk, wkk = weights.sum(), weights @ offsets, weights @ offsets**2
        line = (wkk - wk * offsets) * weights / (w * wkk - wk**2)  # what the fitted line has in the middle
        left[t] = means[t] - line @ means[window]
    return left


def same_months(cells: Floats, month: Array) -> float:
    """The sum of inner products between different cells of the same month. cells : (n, c); month : (n,)"""
    sums = np.zeros((_MONTHS, cells.shape[1]))
    np.add.at(sums, month, cells)
    return float((sums**2).sum() - (cells**2).sum())


def month_effects(cells: Floats, counts: Array, month: Array) -> tuple[Floats, Array]:
    """The weighted mean of the cells of each month, (12, c), and how many there are, (12,)."""
    sums, weights = np.zeros((_MONTHS, cells.shape[1])), np.zeros(_MONTHS)
    np.add.at(sums, month, cells * counts[:, None])
    np.add.at(weights, month, counts)
    return sums / np.where(weights > 0, weights, 1)[:, None], np.bincount(month, minlength=_MONTHS)


def _permuted(cells: Floats, month: Array, year: Array, permutations: int, rng: np.random.Generator) -> Floats:
    """The statistic with the cells of each year in random order and with a random sign: (permutations,)."""
    found = np.empty(permutations)
    squares = (cells**2).sum()
    groups = [np.flatnonzero(year == y) for y in np.unique(year)]
    for begin in range(0, permutations, _BATCH):
        size = min(_BATCH, permutations - begin)
        sums = np.zeros((size, _MONTHS, cells.shape[1]))
        for group in groups:
            order = rng.permuted(np.tile(group, (size, 1)), axis=1)  # (size, cells of the year)
            signs = rng.choice((-1.0, 1.0), size=(size, 1, 1))
            sums[:, month[group]] += signs * cells[order]
        found[begin : begin + size] = (sums**2).sum(axis=(1, 2)) - squares
    return found


def _strength(alike: float, cells: Floats, month: Array) -> float:
    """The mean inner product of two cells of the same month against that of a cell with itself."""
    counts = np.bincount(month)
    pairs, square = (counts * (counts - 1)).sum(), (cells**2).sum() / len(cells)
    return float(alike / pairs / square) if square > 0 else 0.0


def _profile(effect: Floats, seen: Array) -> Floats:
    """The months on the axis on which they differ most, (12,); the largest is positive."""
    _, _, axes = np.linalg.svd(effect, full_matrices=False)
    values = effect @ axes[0]
    values = values if values[np.argmax(np.abs(values))] >= 0 else -values
    return np.where(seen > 0, values, np.nan)


def without_season(usages: Sequence[Matrix], months: Sequence[tuple[int, int]], found: Season) -> list[Floats]:
    """The usages of each period on their first principal components, less what is special about their month."""
    sizes = [len(rows) for rows in usages]
    rows = leading(np.concatenate(usages))  # (n, c)
    rows = rows - np.repeat(found.effect[[month - 1 for _, month in months]], sizes, axis=0)
    return np.split(rows, np.cumsum(sizes)[:-1])
