"""The permutation test of two sets of usages.

**The test.** The p-value is the share of random splits of all usages into two sets of the same sizes whose distance is
at least e_original. The distances of a thousand splits are one matrix product: (splits, rows) times (rows, columns).

**Documents.** Usages from the same document resemble each other, so they are not exchangeable one by one: halves of one
corpus that were divided by document would differ too often. Where documents are known, whole documents are assigned to
the two sets at random, with as many documents in each as there were, so the usages of a document stay together, and the
numbers of usages vary. If documents are independent and nothing changed, all assignments are equally likely, so the
test is valid. A document with usages in both sets, such as an author in two periods, is two units, one in each set.
These two resemble each other, so the original sets differ less than random ones, which makes the test conservative.
With fewer than ``MIN_DOCUMENTS`` documents in one of the sets p could hardly be small, and usages are permuted.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lexshift.scoring.distance.metric import Metric, get, original_sides, side_distances
from lexshift.scoring.moments import CACHE_ENTRIES, batch_sizes
from lexshift.scoring.permutation_stages import LAST_STAGE, stages
from lexshift.scoring.permutation_tail import approximate_p, largest_values
from lexshift.utils import checks
from lexshift.utils.arrays import Array, Floats, Indices
from lexshift.utils.kernels import kernel
from lexshift.utils.seeds import generator

EXACT_BELOW = 1_000
"""All splits are tried if there are fewer than this."""
MIN_DOCUMENTS = 6
"""Minimum number of documents in each set for documents to be permuted: with 6 and 6 the smallest p is 2 / 924."""
DOCUMENTS, USAGES = "documents", "usages"
"""The units that are permuted."""
Documents = Sequence[Hashable]
"""The document of each usage of a set."""
_USAGE_ENTRIES = 1_000_000  # numbers of a batch of splits for a metric that compares usages


@dataclass(frozen=True)
class PermutationTest:
    """The result of a permutation test.

    Attributes
    ----------
    p : float
        (1 + exceeding) / (1 + permutations). If all splits were tried, this is the exact p-value.
    e_original : float
    exceeding : int
        Number of permutations with a distance of at least e_original.
    permutations : int
        Number of permutations tried, without the original split.
    exact : bool
        Whether all possible splits were tried.
    tail : float or None
        An approximation of p by a generalised Pareto distribution fitted to the largest distances, for a p too
        small for the number of permutations; None if 100,000 permutations were not drawn, if at least 10 of them
        exceeded e_original, or if the fit is poor.
    unit : "documents" or "usages"
        What was assigned to the two sets at random.
    """

    p: float
    e_original: float
    exceeding: int
    permutations: int
    exact: bool
    tail: float | None = None
    unit: str = USAGES


def permutation_test(
    old: npt.ArrayLike,
    new: npt.ArrayLike,
    metric: str | Metric = "cosine",
    permutations: int = LAST_STAGE,
    seed: int = 0,
    word: str = "",
    level: float = 1.0,
    documents: tuple[Documents, Documents] | None = None,
) -> PermutationTest:
    """Test whether the two sets differ more than a random split of their rows, or of their documents, would.

    1,000 permutations are drawn; if p is then at most 0.05, 10,000 in all; if at most 0.005, 100,000; if at most
    0.0005, as many as ``permutations`` allows. All splits are tried if there are fewer than 1,000.

    Parameters
    ----------
    old, new : array-like of shape (n_old, d) and (n_new, d)
    metric : str or Metric
    permutations : int
        Maximum number of random permutations.
    seed, word
        As for :class:`lexshift.SSCD`.
    level : float
        Significance level; drawing stops as soon as p cannot be at most this level any more.
    documents : (sequence, sequence), optional
        The document of each old and of each new row. If both sets have at least 6 documents, documents are split at
        random, and their rows stay together; otherwise rows are. By default each row is a document of its own.

    Returns
    -------
    PermutationTest

    Examples
    --------
    >>> import numpy as np
    >>> from lexshift import permutation_test
    >>> rng = np.random.default_rng(0)
    >>> old, same, moved = (rng.normal(loc, 1, size=(40, 8)) for loc in (1, 1, 2))
    >>> permutation_test(old, same, "euclidean", permutations=1000).p > 0.05
    True
    >>> permutation_test(old, moved, "euclidean", permutations=1000).p
    0.000999000999000999
    """
    rows_old, rows_new = checks.pair(old, new)
    chosen = get(metric)
    permutations = checks.positive(permutations, "permutations")
    seed = checks.seed(seed)
    checks.from_0_to_1(np.array([level], float), "level")

    n_old, n_new = len(rows_old), len(rows_new)
    unit, units_old, units_new, unit_of_row = number_units(documents, n_old, n_new)
    # Either set has at least two units, and 46 units have more than 1,000 pairs.
    all_splits = math.comb(units_old + units_new, units_old)
    exact = units_old + units_new < 46 and all_splits < EXACT_BELOW
    if exact:  # ties are likely among few rows, so that distances must be precise
        rows_old, rows_new = rows_old.astype(float), rows_new.astype(float)
    distances = side_distances(chosen, rows_old, rows_new, seed, word, equal_sizes=unit_of_row is None)
    e_original = float(distances(original_sides(n_old, n_new))[0])
    # Numbers that one split needs, and numbers of a batch: the distances between usages are read once for each batch.
    cells, max_cells = max(n_old + n_new, rows_old.shape[1]), _USAGE_ENTRIES if chosen.usages else CACHE_ENTRIES
    largest = np.empty(0)

    def count_exceeding(sides: Array) -> int:
        """Count the splits, (b, units), whose distance is at least e_original, up to rounding errors."""
        nonlocal largest
        e = distances(sides if unit_of_row is None else sides[:, unit_of_row])
        if permutations >= LAST_STAGE:
            largest = largest_values(largest, e)
        rounding = np.ptp(np.append(e, e_original)) * (1e-9 if rows_old.dtype == np.float64 else 1e-6)
        return int((e >= e_original - rounding - 1e-12 * abs(e_original)).sum())

    if exact:
        others = other_splits(units_old, units_new)
        edges = np.cumsum([0, *batch_sizes(len(others), cells, max_cells)])
        exceeding = sum(count_exceeding(others[start:stop]) for start, stop in itertools.pairwise(edges))
        p = (1 + exceeding) / (1 + len(others))
        return PermutationTest(p, e_original, exceeding, len(others), exact=True, unit=unit)

    rng = generator(seed, "permutation", word)
    exceeding = done = 0
    for stage, p_above in stages(permutations):
        for size in batch_sizes(stage - done, cells, max_cells):
            exceeding += count_exceeding(random_splits(units_old, units_new, size, rng))
            done += size
            if is_above := 1 + exceeding > level * (1 + permutations):
                break
        p = (1 + exceeding) / (1 + done)
        if is_above or p > p_above:
            break
    tail = approximate_p(largest, e_original, exceeding, done, 1 / all_splits)
    return PermutationTest(p, e_original, exceeding, done, exact=False, tail=tail, unit=unit)


def number_units(
    documents: tuple[Documents, Documents] | None, n_old: int, n_new: int
) -> tuple[str, int, int, Indices | None]:
    """Return what to permute, how many there are in either set, and for documents the number of that of each row.

    Returns
    -------
    unit : "documents" or "usages"
    units_old, units_new : int
        Number of units in the old and in the new set.
    numbers : ndarray of shape (n_old + n_new,) or None
        The document of each row, the old rows first, from 0; None if usages are permuted.

    Examples
    --------
    >>> number_units((list("aabcdef"), list("azyxwvw")), 7, 7)
    ('documents', 6, 6, array([ 0,  0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 10]))
    >>> number_units((list("aabc"), list("vwxyz")), 4, 5)
    ('usages', 4, 5, None)
    """
    if documents is None:
        return USAGES, n_old, n_new, None
    numbers = []
    for of_rows, n, name in zip(documents, (n_old, n_new), ("old", "new"), strict=True):
        if len(of_rows) != n:
            raise ValueError(f"documents must name the document of each row; got {len(of_rows)} for {n} {name} rows")
        first = {document: number for number, document in enumerate(dict.fromkeys(of_rows))}
        numbers.append(np.array([first[document] for document in of_rows], np.intp))
    units_old, units_new = (int(of_rows.max()) + 1 for of_rows in numbers)
    if min(units_old, units_new) < MIN_DOCUMENTS:
        return USAGES, n_old, n_new, None
    return DOCUMENTS, units_old, units_new, np.concatenate([numbers[0], units_old + numbers[1]])


def random_splits(n_old: int, n_new: int, size: int, rng: np.random.Generator) -> Array:
    """Return random splits of all rows into sets of these sizes, as sides: (size, n_old + n_new) of 1 and -1."""
    small = 1 if n_old <= n_new else -1
    sides = np.full((size, n_old + n_new), -small, np.int8)
    choose_members(rng.random((size, min(n_old, n_new))), small, sides)
    return sides


def other_splits(n_old: int, n_new: int) -> Array:
    """Return every split but the original one, as sides: (splits, n_old + n_new) of 1 and -1."""
    n, small = n_old + n_new, 1 if n_old <= n_new else -1
    first = 0 if small == 1 else n_old
    original = tuple(range(first, first + min(n_old, n_new)))
    splits = [list(s) for s in itertools.combinations(range(n), min(n_old, n_new)) if s != original]
    sides = np.full((len(splits), n), -small, np.int8)
    np.put_along_axis(sides, np.array(splits), small, axis=1)
    return sides


@kernel
def choose_members(uniforms: Floats, side: int, sides: Array) -> None:
    """Assign m random rows to one side in each split; every choice is equally likely.

    uniforms : (b, m), in [0, 1); sides : (b, n), filled with the other side before

    This is a shuffle that stops after m positions: the row at position i is one of the n - i remaining ones.
    """
    splits, n = sides.shape
    for b in range(splits):
        order = np.arange(n)
        for i in range(uniforms.shape[1]):
            k = i + int(uniforms[b, i] * (n - i))
            order[i], order[k] = order[k], order[i]
            sides[b, order[i]] = side
