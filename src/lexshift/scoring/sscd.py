"""Algorithm 2 of the paper, SSCD: the change score of a word from its sibling embeddings in two corpora.

The algorithm line by line::

    1-4  D1, D2        <-  the sibling embeddings, as arrays
    5    e_original    <-  d(D1, D2)
    6-8  D1_swap, D2_swap  <-  Algorithm 1 (lexshift.scoring.swap)
    9    e_swap        <-  d(D1_swap, D2_swap)
    10   return |e_original - e_swap|

This is repeated with new random swaps, and the scores are averaged. :func:`sweep` does so for many metrics and swap
rates at once.

**A variant.** Swapping removes the difference that two sets of usages would have in any case, and with it the word's
variety of meaning. But people tend to judge that words with more variety changed more. The average pairwise distance
(APD) includes this variety, so an ambiguous word has a large one even if nothing changed. The variant of SSCD is the
weighted geometric mean of the two::

    score  =  sscd^(1 - w)  distance^w,     sscd = mean |e_original - e_swap|,     distance = APD

where w is ``distance_weight``: 0 for SSCD, 1 for APD. The ranking by a geometric mean does not depend on the units of
its factors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from lexshift.scoring import swap
from lexshift.scoring.distance.metric import Metric, evaluate, get, original_sides, side_distances
from lexshift.scoring.distance.pairwise import average_distance
from lexshift.scoring.gaussian import fit
from lexshift.scoring.moments import TwoSets
from lexshift.utils import checks
from lexshift.utils.arrays import Floats, Indices, Matrix
from lexshift.utils.seeds import generator
from lexshift.utils.threads import for_each

RATES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""The swap rates of the paper's tables."""

Words = Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]]


@dataclass(frozen=True, eq=False)
class Change:
    """The change score of one word, and the distances that it was computed from.

    Attributes
    ----------
    score : float
        The change score: ``sscd`` to the power of 1 - ``distance_weight``, times ``distance`` to the power of
        ``distance_weight``.
    sscd : float
        The score of the paper: mean of |e_original - e_swap| over the repetitions.
    distance : float
        Average pairwise distance (APD): 1 - mean cosine over all pairs of an old and a new usage. The cosine with a
        row of zeros, which has no direction, is 0.
    spread : float
        Standard deviation of |e_original - e_swap| over the repetitions (ddof = 0).
    e_original : float
        The distance between the two original sets.
    e_swap : array of shape (repeats,)
        The distance after swapping, in each repetition; one value for the distance strategy, which is deterministic.
    rate : float
    swap_count : int
        Number of occurrences swapped in each direction.
    n_old, n_new : int
    """

    score: float
    sscd: float
    distance: float
    spread: float
    e_original: float
    e_swap: Floats
    rate: float
    swap_count: int
    n_old: int
    n_new: int


@dataclass(frozen=True, eq=False)
class Sweep:
    """e_swap of one word for many metrics, swap rates and repetitions.

    Attributes
    ----------
    metrics : tuple of str
    rates : array of shape (rates,)
    e_original : array of shape (metrics,)
    e_swap : array of shape (metrics, rates, repeats)
    swap_counts : tuple of int, one for each rate
    n_old, n_new : int
    """

    metrics: tuple[str, ...]
    rates: Floats
    e_original: Floats
    e_swap: Floats
    swap_counts: tuple[int, ...]
    n_old: int
    n_new: int

    @property
    def scores(self) -> Floats:
        """|e_original - e_swap| of every metric, rate and repetition: (metrics, rates, repeats)."""
        return np.abs(self.e_original[:, None, None] - self.e_swap)


@dataclass(frozen=True)
class SSCD:
    """Swapping-based semantic change detection.

    Parameters
    ----------
    metric : str or Metric
        The distance between the two sets; :func:`lexshift.metrics` lists the names.
    strategy : "random" or "distance"
        Which occurrences to swap: random ones, or those farthest from the other corpus's centroid (one deterministic
        repetition).
    rate : float
        The swap rate, from 0 to 1: the share of the smaller set that is swapped.
    repeats : int
        Number of random swaps to average over.
    seed : int
        Seed of the random swaps. Together with the word's name, if there is one, it determines the result.
    corpus_sizes : (int, int), optional
        Numbers of sentences in the old and in the new corpus, used to normalise the swap count. Only their ratio
        matters, so the numbers of tokens may be used instead.
    distance_weight : float
        Weight of the average pairwise distance in the score, from 0 (SSCD) to 1 (the distance alone). With other
        weights the score is a variant of SSCD, a weighted geometric mean of both.

    Examples
    --------
    >>> import numpy as np
    >>> from lexshift import SSCD
    >>> rng = np.random.default_rng(0)
    >>> old, same, moved = (rng.normal(loc, 1, size=(100, 16)) for loc in (0, 0, 2))
    >>> sscd = SSCD(metric="cosine", rate=0.4)
    >>> bool(sscd.score(old, moved).score > sscd.score(old, same).score)
    True
    >>> change = sscd.score(old, moved)
    >>> change.e_swap.shape, change.swap_count
    ((20,), 40)
    """

    metric: str | Metric = "kl"
    strategy: swap.Strategy = "random"
    rate: float = 0.4
    repeats: int = 20
    seed: int = 0
    corpus_sizes: tuple[int, int] | None = None
    distance_weight: float = 0.0

    def __post_init__(self) -> None:
        get(self.metric)
        checks.choice(self.strategy, "strategy", swap.STRATEGIES)
        checks.fraction(self.rate)
        checks.positive(self.repeats, "repeats")
        checks.seed(self.seed)
        checks.sizes(self.corpus_sizes)
        checks.fraction(self.distance_weight, "distance_weight")

    def score(self, old: npt.ArrayLike, new: npt.ArrayLike, word: str = "") -> Change:
        """Compute the change score of one word.

        Parameters
        ----------
        old, new : array-like of shape (n_old, d) and (n_new, d)
            The sibling embeddings of the word in the two corpora, at least two of each.
        word : str
            The word's name. Each name has its own random stream.

        Returns
        -------
        Change
        """
        rows_old, rows_new = checks.pair(old, new)
        result = self._sweep(rows_old, rows_new, word)
        effects = result.scores[0, 0]
        sscd, distance = float(effects.mean()), average_distance(rows_old, rows_new)
        return Change(
            score=float(combine(sscd, distance, self.distance_weight)),
            sscd=sscd,
            distance=distance,
            spread=float(effects.std()),
            e_original=float(result.e_original[0]),
            e_swap=result.e_swap[0, 0],
            rate=float(self.rate),
            swap_count=result.swap_counts[0],
            n_old=result.n_old,
            n_new=result.n_new,
        )

    def score_words(self, words: Words, workers: int | None = None) -> dict[str, Change]:
        """Compute the change scores of many words in parallel.

        Parameters
        ----------
        words : mapping of a word to its (old, new) arrays
        workers : int, optional
            Number of words to process in parallel (default: number of cores). Results do not depend on it.

        Returns
        -------
        dict of a word to its Change

        Examples
        --------
        >>> import numpy as np
        >>> from lexshift import SSCD
        >>> rng = np.random.default_rng(0)
        >>> words = {w: (rng.normal(size=(50, 8)), rng.normal(size=(50, 8)) + shift)
        ...          for w, shift in {"mouse": 2, "bread": 0}.items()}
        >>> changes = SSCD().score_words(words)
        >>> max(changes, key=lambda w: changes[w].score)
        'mouse'
        """
        return for_words(words, workers, self.score)

    def _sweep(self, old: npt.ArrayLike, new: npt.ArrayLike, word: str) -> Sweep:
        return sweep(
            old,
            new,
            metrics=[self.metric],
            rates=[self.rate],
            repeats=self.repeats,
            seed=self.seed,
            strategy=self.strategy,
            corpus_sizes=self.corpus_sizes,
            word=word,
        )


def combine(sscd: npt.ArrayLike, distance: npt.ArrayLike, distance_weight: float) -> Floats:
    """Combine SSCD and the average pairwise distance into the change score: their weighted geometric mean.

    Parameters
    ----------
    sscd, distance : array-like of float, at least 0
        Arrays whose shapes can be broadcast.
    distance_weight : float
        The weight of the distance, from 0 to 1; that of SSCD is the rest.

    Examples
    --------
    >>> float(combine(0.25, 4.0, 0.5)), float(combine(0.25, 4.0, 0)), float(combine(0, 4.0, 0.8))
    (1.0, 0.25, 0.0)
    """
    weight = float(distance_weight)
    return np.asarray(np.asarray(sscd, float) ** (1 - weight) * np.asarray(distance, float) ** weight)


def sweep(
    old: npt.ArrayLike,
    new: npt.ArrayLike,
    metrics: Sequence[str | Metric] = ("kl",),
    rates: Sequence[float | Fraction] = RATES,
    repeats: int = 20,
    seed: int = 0,
    strategy: swap.Strategy = "random",
    corpus_sizes: tuple[int, int] | None = None,
    word: str = "",
) -> Sweep:
    """Compute e_swap for all metrics, rates and repetitions in one pass over the data.

    The swaps are those of :class:`SSCD` with the same seed, so ``sweep`` and ``SSCD.score`` agree at every rate.

    Parameters
    ----------
    old, new : array-like of shape (n_old, d) and (n_new, d)
    metrics : sequence of str or Metric
    rates : sequence of float
        Swap rates from 0 to 1, in any order.
    repeats, seed, strategy, corpus_sizes, word
        As for :class:`SSCD`.

    Returns
    -------
    Sweep

    Examples
    --------
    >>> import numpy as np
    >>> from lexshift import sweep
    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.normal(size=(60, 8)), rng.normal(size=(80, 8)) + 1
    >>> result = sweep(old, new, metrics=["kl", "cosine"], rates=[0.2, 0.5])
    >>> result.e_original.shape, result.e_swap.shape, result.swap_counts
    ((2,), (2, 2, 20), (12, 30))
    """
    rows_old, rows_new = checks.pair(old, new)
    fractions = checks.fractions(rates)
    chosen = _metrics(metrics)
    repeats = checks.positive(repeats, "repeats")
    checks.choice(strategy, "strategy", swap.STRATEGIES)
    sizes, seed = checks.sizes(corpus_sizes), checks.seed(seed)
    if strategy == "distance":
        repeats = 1

    counts = [swap.swap_count(len(rows_old), len(rows_new), rate, sizes) for rate in fractions]
    distinct, index = np.unique(counts, return_inverse=True)
    e_original = np.empty(len(chosen))
    e_swap = np.empty((len(chosen), len(fractions), repeats))
    for kind in {(metric.usages, metric.unit_rows) for metric in chosen}:
        group = [i for i, metric in enumerate(chosen) if (metric.usages, metric.unit_rows) == kind]
        row_orders = swap.orders(rows_old, rows_new, strategy, repeats, generator(seed, "swap", word))
        measure = _usage_distances if kind[0] else _gaussian_distances
        original, swapped = measure(
            [chosen[i] for i in group], rows_old, rows_new, row_orders, distinct.tolist(), seed, word
        )
        e_original[group] = original
        swapped = swapped.reshape(len(group), repeats, len(distinct))
        e_swap[group] = swapped[:, :, index].transpose(0, 2, 1)  # (metrics, rates, repeats)
    return Sweep(
        metrics=tuple(metric.name for metric in chosen),
        rates=np.array([float(rate) for rate in fractions]),
        e_original=e_original,
        e_swap=e_swap,
        swap_counts=tuple(counts),
        n_old=len(rows_old),
        n_new=len(rows_new),
    )


Orders = Iterable[tuple[Indices, Indices]]


def _gaussian_distances(
    metrics: list[Metric], old: Matrix, new: Matrix, row_orders: Orders, counts: list[int], seed: int, word: str
) -> tuple[Floats, Floats]:
    """Compute e_original, (metrics,), and e_swap, (metrics, repeats, counts), from the Gaussians of the sets.

    Either all metrics or none of them scale the rows to unit length.
    """
    sets = TwoSets(old, new, any(metric.needs_variance for metric in metrics), metrics[0].unit_rows)
    e_original = evaluate(metrics, *sets.gaussians, generator(seed, "samples", word))
    D1_swap, D2_swap = swap.swapped_gaussians(sets, row_orders, counts)
    return e_original, evaluate(metrics, D1_swap, D2_swap, generator(seed, "samples", word))


def _usage_distances(
    metrics: list[Metric], old: Matrix, new: Matrix, row_orders: Orders, counts: list[int], seed: int, word: str
) -> tuple[Floats, Floats]:
    """Compute e_original, (metrics,), and e_swap, (metrics, repeats * counts), from the rows themselves."""
    for rows, name in ((old, "old"), (new, "new")):
        fit(rows, name)  # raises if a row is not finite
    sides = np.concatenate(
        [original_sides(len(old), len(new)), swap.swapped_sides(len(old), len(new), row_orders, counts)]
    )
    e = np.stack([side_distances(metric, old, new, seed, word)(sides) for metric in metrics])
    return e[:, 0], e[:, 1:]


def _metrics(metrics: Sequence[str | Metric]) -> list[Metric]:
    if isinstance(metrics, (str, Metric)):
        metrics = [metrics]
    if not isinstance(metrics, Iterable):
        raise ValueError(f"metrics must be a sequence of names or Metrics; got {metrics!r}")
    chosen = [get(metric) for metric in metrics]
    if not chosen:
        raise ValueError("metrics must name at least one metric; got none")
    return chosen


def for_words(words: Words, workers: int | None, function: Any) -> dict[str, Any]:
    """Call a function of (old, new, word) for every word in parallel; errors name the word."""
    if not isinstance(words, Mapping):
        raise ValueError(f"words must be a mapping of a word to its (old, new) arrays; got {type(words).__name__}")

    def call(word: str) -> Any:
        try:
            old, new = words[word]
        except (TypeError, ValueError):
            raise ValueError(
                f"{word!r} must be mapped to its (old, new) arrays; got {type(words[word]).__name__}"
            ) from None
        try:
            return function(old, new, word=word)
        except ValueError as error:
            raise ValueError(f"{word!r}: {error}") from error

    return for_each(words, call, workers=None if workers is None else checks.positive(workers, "workers"))
