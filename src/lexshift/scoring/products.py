"""Sums of many selections of the same rows at once: one matrix product, (selections, rows) times (rows, d)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lexshift.scoring.distance.metric import Metric
from lexshift.scoring.gaussian import row_weights
from lexshift.utils.arrays import Array, Floats, Matrix

_CHUNK_ROWS = 1024  # rows in one product: its sums are in the precision of the rows only for so long
MANY, FEW = 4_000_000, 100_000
"""Entries of one batch of selections: as many as memory should hold, or as the cache of a processor does."""


class Products:
    """A set of rows made ready for products: about a centre, in units of the spread."""

    def __init__(
        self, rows: Matrix, name: str, centre: Floats, scale: Floats, variance: Floats, metric: Metric
    ) -> None:
        self.rows, self.variance = rows, metric.needs_variance
        self.dtype = np.dtype(np.float64) if metric.unit_rows else rows.dtype
        self.weights = row_weights(rows, name, metric.unit_rows).astype(self.dtype)
        self.centre, self.scale = centre.astype(self.dtype), scale.astype(self.dtype)
        self.square = (variance * scale**2).astype(self.dtype)  # what a square is on average: small sums round less

    def sums(self, times: Array) -> tuple[Floats, Floats]:
        """Sums and sums of squares of the rows, each taken so many times: (b, n) -> (b, d) and (b, d or 0)."""
        d = self.rows.shape[1]
        sums, squares = np.empty((len(times), d)), np.empty((len(times), d if self.variance else 0))
        for start in range(0, len(self.rows), _CHUNK_ROWS):
            chunk = slice(start, start + _CHUNK_ROWS)
            z = (self.rows[chunk] * self.weights[chunk, None] - self.centre) * self.scale
            factor = times[:, chunk].astype(self.dtype)
            _add(sums, factor @ z, start)
            if self.variance:
                _add(squares, factor @ (z * z - self.square), start)
        if self.variance:
            squares += times.sum(axis=1, keepdims=True) * self.square.astype(float)
        return sums, squares


def _add(total: Floats, part: Matrix, start: int) -> None:
    """The first part takes the place of what is in memory, the others are added."""
    if start:
        total += part
    else:
        total[:] = part


def batches(total: int, cells: int, most: int) -> Iterator[int]:
    """Sizes of batches that make up ``total``, each of at most so many cells."""
    size = max(1, most // cells)
    for start in range(0, total, size):
        yield min(size, total - start)
