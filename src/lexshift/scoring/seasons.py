"""Which words mean something else at some time of every year.

The mean of a word's usages in each month is taken off the level about it, so that drifts and single changes do not look
like seasons; what is left is compared between years. If the word has a season, the same months of different years are
alike.

- The level is a centred moving average over twelve months (two by twelve: half of the months at both ends). Where
  months are missing it is the line fitted with the same weights, which for a complete window is the same. The first and
  the last half year have no complete window and are left out.
- The statistic is the power of these residuals at the yearly frequencies: one cycle a year and its multiples, up to six
  cycles a year. A pattern that returns every year has all of its power there.
- The frequencies between the yearly ones are the reference. Neighbouring months are often alike, because topics last
  for months, so power falls with the frequency; but without a season it does so smoothly, and has no peak at the yearly
  frequencies. Frequencies are therefore compared within three bands, about one cycle a year, about two and three, and
  about four to six. Within a band, the coefficients of a word without a season are draws from one normal distribution,
  which does not change if they are rotated among each other. The null distribution is that of the power at the yearly
  frequencies after random rotations of each band (a rotation test, Langsrud 2005, Statistics and Computing 15).
- Two corrections make the coefficients of a band alike: they are divided by what the moving average leaves of their
  frequency, and the slope of the power over the band is taken off.
- A single step or burst has a smooth spectrum, so it does not look like a season.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexshift.scoring.changepoints import leading
from lexshift.scoring.permutation import approximate_p, largest_values
from lexshift.utils import checks
from lexshift.utils.arrays import Array, Floats, Matrix
from lexshift.utils.seeds import generator

YEARS = 3
"""The least number of years."""
_MONTHS = 12
_WEIGHTS = np.array([0.5, *[1.0] * 11, 0.5])  # of the months from half a year before to half a year after
_LEAST_WEIGHT = 6  # of the months of a window that are not missing
_LEAST_MONTHS = 6  # of a year, that are there in two years or more
_BATCH = 500  # rotations at a time
_ROUNDING = 1e-9
_NEW = 0.5  # the least share of a sinusoid that other frequencies must not explain where months are missing


@dataclass(frozen=True, eq=False)
class Season:
    """Whether a word's meaning returns every year.

    Attributes
    ----------
    p : float
        How likely a word without a season has as much power at the yearly frequencies.
    strength : float
        How alike the same months of different years are, once the level is taken off: 1 if they are the same, about 0
        without a season.
    profile : (12,)
        What is special about each month, January first, on the axis on which months differ most; NaN for months
        without data.
    effect : (12, components)
        The same on all axes that were looked at; 0 for months without data.
    permutations : int
        Number of random rotations.
    tail : float or None
        An approximation of p where it is too small to be counted, as in
        :class:`lexshift.scoring.permutation.PermutationTest`.
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
    draws: int = 10_000,
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
    draws : int
        Number of random rotations; the smallest possible p is 1 / (draws + 1).
    seed, word
        As for :class:`lexshift.SSCD`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> months = [(year, month) for year in range(2001, 2006) for month in range(1, 13)]
    >>> usages = [rng.normal(month == 12, 1, size=(20, 3)) for _, month in months]
    >>> found = season(usages, months, draws=999)
    >>> found.p < 0.01, int(np.argmax(np.abs(found.profile))) + 1
    (True, 12)
    """
    draws = checks.positive(draws, "draws")
    rng = generator(checks.seed(seed), "season", word)
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
    bands = frequency_bands(weighted, np.sqrt(counts[there]), there + numbers[0])
    if not bands:
        return None
    power = sum(float((rows[:yearly] ** 2).sum()) for rows, yearly in bands)
    null = rotated(bands, draws, rng)
    rounding = _ROUNDING * (weighted**2).sum()
    reached = int((null >= power - rounding).sum())
    p = (1 + reached) / (1 + draws)
    tail = approximate_p(largest_values(np.empty(0), null), power, reached, draws)
    alike = same_months(weighted, month)
    effect, seen = month_effects(marks[there], counts[there], month)
    return Season(p, _strength(alike, weighted, month), _profile(effect, seen), effect, draws, tail)


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


def frequency_bands(cells: Floats, weights: Floats, times: Array) -> list[tuple[Floats, int]]:
    """Compute the Fourier coefficients of each band, and how many of them, the first ones, are of yearly frequencies.

    The coefficients of a word without a season have the same distribution within a band. Bands without a frequency to
    compare with are left out.

    Parameters
    ----------
    cells : ndarray of shape (n, c)
        Monthly residuals times their weights.
    weights : ndarray of shape (n,)
    times : ndarray of shape (n,)
        The months' numbers, ascending.

    Returns
    -------
    list of (ndarray of shape (coefficients, c), int)
    """
    years = max(2, int(times[-1] - times[0] + 1) // _MONTHS)
    yearly = np.arange(1.0, 7.0)  # cycles a year
    others = np.array([i / years for i in range(1, 6 * years) if i % years and 2 * i >= years])
    # Yearly frequencies first, so that they hold all of a season, also where months are missing.
    basis, cycles = _sinusoids(np.concatenate([yearly, others]), times, weights)  # (n, k), (k,)
    is_yearly = cycles == np.round(cycles)
    coefficients = (basis.T @ cells) / np.where(is_yearly, 1.0, passed(cycles))[:, None]  # (k, c)
    band = (cycles > 1.5).astype(int) + (cycles >= 3.5)  # of 1, of 2 and 3, and of 4 to 6 cycles a year
    bands = []
    for number in range(3):
        first, reference = (band == number) & is_yearly, (band == number) & ~is_yearly
        if first.any() and reference.any():
            level = _without_slope(coefficients[reference], cycles[reference], cycles[first].mean())
            bands.append((np.concatenate([coefficients[first], level]), int(first.sum())))
    return bands


def _sinusoids(cycles: Floats, times: Array, weights: Floats) -> tuple[Floats, Floats]:
    """Orthonormal cosines and sines, one after the other, (n, k), and their frequencies, (k,).

    What earlier columns explain is taken off the later ones. Yearly frequencies are kept if anything is left of them,
    the others if half is left: with all months of whole years, everything is.
    """
    basis: Floats = np.zeros((len(times), 2 * len(cycles)))
    kept: list[float] = []
    for cycle in cycles:
        angle = 2 * np.pi * cycle * times / _MONTHS
        for column in (np.cos(angle), np.sin(angle)):
            column = column * weights
            size, done = np.linalg.norm(column), basis[:, : len(kept)]
            for _ in range(2):  # twice, for the sake of rounding
                column = column - done @ (done.T @ column)
            left = np.linalg.norm(column)
            if left > size * (1e-6 if cycle == round(cycle) else _NEW) and left > 1e-6:
                basis[:, len(kept)] = column / left
                kept.append(cycle)
    return basis[:, : len(kept)], np.array(kept)


def passed(cycles: Floats) -> Floats:
    """The share of a sinusoid's amplitude that is left when the moving average of two by twelve is taken off."""
    angle = 2 * np.pi * cycles / _MONTHS
    return 1 - np.sin(6 * angle) / np.tan(angle / 2) / _MONTHS


def _without_slope(rows: Floats, cycles: Floats, centre: float) -> Floats:
    """Scale the coefficients below and above the centre of a band to the geometric mean of their power."""
    below = cycles < centre
    if below.all() or not below.any():
        return rows
    low, high = ((rows[side] ** 2).sum() / side.sum() for side in (below, ~below))
    if low == 0 or high == 0:
        return rows
    factor = (high / low) ** 0.25
    return rows * np.where(below, factor, 1 / factor)[:, None]


def rotated(bands: Sequence[tuple[Floats, int]], draws: int, rng: np.random.Generator) -> Floats:
    """The power at the yearly frequencies after random rotations of the coefficients of each band: (draws,)."""
    found = np.zeros(draws)
    for begin in range(0, draws, _BATCH):
        size = min(_BATCH, draws - begin)
        for rows, yearly in bands:
            axes, _ = np.linalg.qr(rng.normal(size=(size, len(rows), yearly)))  # orthonormal columns
            found[begin : begin + size] += ((axes.transpose(0, 2, 1) @ rows) ** 2).sum(axis=(1, 2))
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
