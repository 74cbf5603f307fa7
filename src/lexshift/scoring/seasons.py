"""Test whether a word's meaning varies with the season of the year.

The local level is subtracted from the mean of a word's usages in each month, so that drifts and single changes do not
look like seasons. The residuals are then compared between years. If the word has a season, the same months of different
years are similar.

- The level is a centred moving average over twelve months (two by twelve: half of the months at both ends). Where
  months are missing it is the line fitted with the same weights, which for a complete window is the same. The first and
  the last half year have no complete window and are excluded.
- The statistic is the power of these residuals at the yearly frequencies: one cycle a year and its multiples, up to six
  cycles a year. A pattern that returns every year has all of its power there.
- The frequencies between the yearly ones are the reference. Neighbouring months are often similar, because topics last
  for months, so power falls with the frequency; but without a season it falls smoothly, without a peak at the yearly
  frequencies. Frequencies are therefore compared within three bands, about one cycle a year, about two and three, and
  about four to six. Within a band, the coefficients of a word without a season are draws from one normal distribution,
  which does not change if they are rotated among each other. The null distribution is that of the power at the yearly
  frequencies after random rotations of each band (a rotation test, Langsrud 2005, Statistics and Computing 15).
- Two corrections make the coefficients of a band comparable: they are divided by the share of their amplitude that
  remains after the moving average is subtracted, and the slope of the power over the band is removed.
- A single step or burst has a smooth spectrum, so it does not look like a season.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexshift.scoring.changepoints import project_on_components
from lexshift.scoring.permutation_tail import approximate_p, largest_values
from lexshift.utils import checks
from lexshift.utils.arrays import Array, Floats, Matrix
from lexshift.utils.seeds import generator

YEARS = 3
"""Minimum number of years."""
_MONTHS = 12
_WEIGHTS = np.array([0.5, *[1.0] * 11, 0.5])  # months from half a year before to half a year after
_MIN_WEIGHT = 6  # total weight of the months in a window that have usages
_MIN_MONTHS = 6  # months of the year that have usages in two years or more
_BATCH = 500  # rotations per batch
_ROUNDING = 1e-9
_MIN_UNEXPLAINED = 0.5  # share of a sinusoid that other frequencies must not explain if months are missing


@dataclass(frozen=True, eq=False)
class Season:
    """The seasonal variation of one word.

    Attributes
    ----------
    p : float
        Probability that a word without a season has as much power at the yearly frequencies.
    strength : float
        Similarity of the same months of different years after the level is subtracted: 1 if they are equal, about 0
        without a season.
    profile : ndarray of shape (12,)
        The seasonal effect of each month, January first, on the axis on which months differ most; NaN for months
        without data.
    effect : ndarray of shape (12, components)
        The seasonal effect on all principal components; 0 for months without data.
    permutations : int
        Number of random rotations.
    tail : float or None
        An approximation of p if it is too small for the number of rotations, as in
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
    """Test for a yearly pattern in a word's meaning; None with fewer than three years, or too few months.

    Parameters
    ----------
    usages : sequence of arrays of shape (n, d)
        The word's usages in each period; some may be empty.
    months : sequence of (year, month)
        Year and month of each period, the earliest first.
    draws : int
        Number of random rotations; the smallest possible p is 1 / (draws + 1).
    seed, word
        As for :class:`lexshift.SSCD`.

    Returns
    -------
    Season or None

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> months = [(year, month) for year in range(2001, 2006) for month in range(1, 13)]
    >>> usages = [rng.normal(month == 12, 1, size=(20, 3)) for _, month in months]
    >>> result = season(usages, months, draws=999)
    >>> result.p < 0.01, int(np.argmax(np.abs(result.profile))) + 1
    (True, 12)
    """
    draws = checks.positive(draws, "draws")
    rng = generator(checks.seed(seed), "season", word)
    sizes = np.array([len(rows) for rows in usages])
    if not sizes.any():
        return None
    numbers = np.array([year * _MONTHS + month - 1 for year, month in months])  # months counted from year 0
    if numbers[-1] - numbers[0] + 1 < YEARS * _MONTHS:
        return None
    means, counts = month_means(project_on_components(np.concatenate(usages)), sizes, numbers)  # (months, c), (months,)
    deviations = residuals(means, counts > 0)  # (months, c), NaN where undefined
    cells = np.flatnonzero(~np.isnan(deviations[:, 0]))
    month = (cells + numbers[0]) % _MONTHS
    if (np.bincount(month, minlength=_MONTHS) >= 2).sum() < _MIN_MONTHS:
        return None
    # These weights equalise the noise of months with different numbers of usages.
    weighted = deviations[cells] * np.sqrt(counts[cells])[:, None]  # (cells, c)
    bands = frequency_bands(weighted, np.sqrt(counts[cells]), cells + numbers[0])
    if not bands:
        return None
    power = sum(float((rows[:yearly] ** 2).sum()) for rows, yearly in bands)
    null = rotated_power(bands, draws, rng)
    rounding = _ROUNDING * (weighted**2).sum()
    reached = int((null >= power - rounding).sum())
    p = (1 + reached) / (1 + draws)
    tail = approximate_p(largest_values(np.empty(0), null), power, reached, draws)
    effect, n_cells = month_effects(deviations[cells], counts[cells], month)
    return Season(p, _strength(weighted, month), _profile(effect, n_cells), effect, draws, tail)


def month_means(rows: Floats, sizes: Array, numbers: Array) -> tuple[Floats, Array]:
    """Compute means, (months, c), and numbers of usages, (months,), of all months from the first to the last.

    Parameters
    ----------
    rows : ndarray of shape (n, c), float64
        Usages, ordered by period.
    sizes : ndarray of shape (periods,), int64
        Number of usages in each period.
    numbers : ndarray of shape (periods,), int64
        Month of each period, counted from year 0.
    """
    month_of_row = np.repeat(numbers - numbers[0], sizes)
    counts = np.bincount(month_of_row, minlength=numbers[-1] - numbers[0] + 1)
    sums = np.zeros((len(counts), rows.shape[1]))
    np.add.at(sums, month_of_row, rows)
    return sums / np.maximum(counts, 1)[:, None], counts


def residuals(means: Floats, has_usages: npt.NDArray[np.bool_]) -> Floats:
    """Subtract the local level from monthly means: (months, c), NaN for months without usages or without a level.

    Parameters
    ----------
    means : ndarray of shape (months, c), float64
    has_usages : ndarray of shape (months,), bool
    """
    half = len(_WEIGHTS) // 2
    out = np.full(means.shape, np.nan)
    offsets = np.arange(-half, half + 1)
    for t in range(half, len(means) - half):
        window = slice(t - half, t + half + 1)
        weights = _WEIGHTS * has_usages[window]
        before, after = weights[:half].any(), weights[half + 1 :].any()
        if not (has_usages[t] and before and after and weights.sum() >= _MIN_WEIGHT):
            continue
        w, wk, wkk = weights.sum(), weights @ offsets, weights @ offsets**2
        line = (wkk - wk * offsets) * weights / (w * wkk - wk**2)  # weights of the fitted value in the middle
        out[t] = means[t] - line @ means[window]
    return out


def same_month_products(cells: Floats, month: Array) -> float:
    """Sum the inner products of all ordered pairs of different cells, (n, c), of the same month, (n,)."""
    sums = np.zeros((_MONTHS, cells.shape[1]))
    np.add.at(sums, month, cells)
    return float((sums**2).sum() - (cells**2).sum())


def month_effects(cells: Floats, counts: Array, month: Array) -> tuple[Floats, Array]:
    """Compute the weighted mean of the cells of each month, (12, c), and the number of cells, (12,)."""
    sums, weights = np.zeros((_MONTHS, cells.shape[1])), np.zeros(_MONTHS)
    np.add.at(sums, month, cells * counts[:, None])
    np.add.at(weights, month, counts)
    return sums / np.where(weights > 0, weights, 1)[:, None], np.bincount(month, minlength=_MONTHS)


def frequency_bands(cells: Floats, weights: Floats, times: Array) -> list[tuple[Floats, int]]:
    """Compute the Fourier coefficients of each band, and how many of the first ones are yearly.

    The coefficients of a word without a season have the same distribution within a band. Bands without a reference
    frequency are omitted.

    Parameters
    ----------
    cells : ndarray of shape (n, c)
        Monthly residuals times their weights.
    weights : ndarray of shape (n,)
    times : ndarray of shape (n,)
        Numbers of the months, ascending.

    Returns
    -------
    list of (ndarray of shape (coefficients, c), int)
    """
    years = max(2, int(times[-1] - times[0] + 1) // _MONTHS)
    yearly = np.arange(1.0, 7.0)  # cycles a year
    others = np.array([i / years for i in range(1, 6 * years) if i % years and 2 * i >= years])
    # Yearly frequencies come first, so that they contain all of a season even if months are missing.
    basis, cycles = _sinusoids(np.concatenate([yearly, others]), times, weights)  # (n, k), (k,)
    is_yearly = cycles == np.round(cycles)
    coefficients = (basis.T @ cells) / np.where(is_yearly, 1.0, remaining_amplitude(cycles))[:, None]  # (k, c)
    band = (cycles > 1.5).astype(int) + (cycles >= 3.5)  # of 1, of 2 and 3, and of 4 to 6 cycles a year
    bands = []
    for number in range(3):
        first, reference = (band == number) & is_yearly, (band == number) & ~is_yearly
        if first.any() and reference.any():
            level = _without_slope(coefficients[reference], cycles[reference], cycles[first].mean())
            bands.append((np.concatenate([coefficients[first], level]), int(first.sum())))
    return bands


def _sinusoids(cycles: Floats, times: Array, weights: Floats) -> tuple[Floats, Floats]:
    """Return orthonormal cosines and sines, (n, k), and their frequencies, (k,).

    Each column is made orthogonal to those before it. A yearly frequency is omitted if nothing remains of it, any other
    one if less than half remains. Without missing months, over whole years, none is omitted.
    """
    basis: Floats = np.zeros((len(times), 2 * len(cycles)))
    frequencies: list[float] = []
    for cycle in cycles:
        angle = 2 * np.pi * cycle * times / _MONTHS
        for column in (np.cos(angle), np.sin(angle)):
            column = column * weights
            size, earlier = np.linalg.norm(column), basis[:, : len(frequencies)]
            for _ in range(2):  # twice, because of rounding errors
                column = column - earlier @ (earlier.T @ column)
            remainder = np.linalg.norm(column)
            if remainder > size * (1e-6 if cycle == round(cycle) else _MIN_UNEXPLAINED) and remainder > 1e-6:
                basis[:, len(frequencies)] = column / remainder
                frequencies.append(cycle)
    return basis[:, : len(frequencies)], np.array(frequencies)


def remaining_amplitude(cycles: Floats) -> Floats:
    """Return the share of a sinusoid's amplitude that remains after its two-by-twelve moving average is subtracted."""
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


def rotated_power(bands: Sequence[tuple[Floats, int]], draws: int, rng: np.random.Generator) -> Floats:
    """Compute the power at the yearly frequencies after random rotations of each band's coefficients: (draws,)."""
    power = np.zeros(draws)
    for begin in range(0, draws, _BATCH):
        size = min(_BATCH, draws - begin)
        for rows, yearly in bands:
            axes, _ = np.linalg.qr(rng.normal(size=(size, len(rows), yearly)))  # orthonormal columns
            power[begin : begin + size] += ((axes.transpose(0, 2, 1) @ rows) ** 2).sum(axis=(1, 2))
    return power


def _strength(cells: Floats, month: Array) -> float:
    """Return the mean inner product of two cells of the same month, relative to that of a cell with itself."""
    counts = np.bincount(month)
    pairs, square = (counts * (counts - 1)).sum(), (cells**2).sum() / len(cells)
    return float(same_month_products(cells, month) / pairs / square) if square > 0 else 0.0


def _profile(effect: Floats, n_cells: Array) -> Floats:
    """Project the months on the axis on which they differ most, (12,), with a positive sign for the largest value."""
    _, _, axes = np.linalg.svd(effect, full_matrices=False)
    values = effect @ axes[0]
    values = values if values[np.argmax(np.abs(values))] >= 0 else -values
    return np.where(n_cells > 0, values, np.nan)


def remove_season(usages: Sequence[Matrix], months: Sequence[tuple[int, int]], pattern: Season) -> list[Floats]:
    """Project the usages of each period on principal components, and subtract the seasonal effect of their month."""
    sizes = [len(rows) for rows in usages]
    rows = project_on_components(np.concatenate(usages))  # (n, c)
    rows = rows - np.repeat(pattern.effect[[month - 1 for _, month in months]], sizes, axis=0)
    return np.split(rows, np.cumsum(sizes)[:-1])
