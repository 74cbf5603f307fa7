"""The unsupervised search for the swap rate (section 4.2 of the paper), and its closed form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from lexshift.scoring import swap
from lexshift.scoring.distance.metric import Metric
from lexshift.scoring.sscd import RATES, Sweep, Words, for_words, sweep
from lexshift.utils import checks
from lexshift.utils.arrays import Floats


@dataclass(frozen=True, eq=False)
class RateCurve:
    """e_swap as a function of the swap rate.

    Swapping mixes the two sets, and the mixture is best where e_swap is smallest. For distances between means this rate
    is known in advance: swapping m rows multiplies the expected difference of the means by 1 - m/n_old - m/n_new, which
    is 0 at the rate max(n_old, n_new) / (n_old + n_new).

    Attributes
    ----------
    words : tuple of str
    rates : array of shape (rates,)
    e_original, e_swap : arrays of shape (words,) and (words, rates, repeats)
    closed_forms : array of shape (words,)
        The rate max(n_old, n_new) / (n_old + n_new) of each word.
    """

    words: tuple[str, ...]
    rates: Floats
    e_original: Floats
    e_swap: Floats
    closed_forms: Floats

    @property
    def mean(self) -> Floats:
        """e_swap averaged over words and repetitions: (rates,)."""
        return self.e_swap.mean(axis=(0, 2))

    @property
    def std(self) -> Floats:
        """Standard deviation over the repetitions of e_swap averaged over words (ddof = 0): (rates,)."""
        return self.e_swap.mean(axis=0).std(axis=1)

    @property
    def rate(self) -> float:
        """The rate with the smallest mean e_swap."""
        return float(self.rates[np.argmin(self.mean)])

    @property
    def closed_form(self) -> float:
        """The closed-form estimate of the rate, computed without swapping.

        For one word, its value r* in ``closed_forms``. For several words, the rate r that minimises the sum over words
        of e_original (1 - r/r*)^2. A word with a negative e_original has the weight 0.
        """
        weight = np.maximum(self.e_original, 0.0) / self.closed_forms
        if not weight.any():
            return float(self.closed_forms.mean())
        return float(weight.sum() / (weight / self.closed_forms).sum())

    def word(self, word: str) -> RateCurve:
        """Return the curve of a single word."""
        i = self.words.index(checks.choice(word, "word", self.words))
        row = slice(i, i + 1)
        return RateCurve((word,), self.rates, self.e_original[row], self.e_swap[row], self.closed_forms[row])


def search_rate(
    words: Words,
    metric: str | Metric = "kl",
    rates: Sequence[float] = RATES,
    repeats: int = 20,
    seed: int = 0,
    strategy: swap.Strategy = "random",
    corpus_sizes: tuple[int, int] | None = None,
    workers: int | None = None,
) -> RateCurve:
    """Search for the swap rate without labels: the one that minimises the mean e_swap over words.

    Parameters
    ----------
    words : mapping of a word to its (old, new) arrays
    metric, rates, repeats, seed, strategy, corpus_sizes
        As for :func:`sweep`.
    workers : int, optional
        Number of words to process in parallel (default: number of cores). Results do not depend on it.

    Returns
    -------
    RateCurve
        ``curve.rate`` is the rate for all words together, ``curve.word("plane").rate`` that for one word.

    Examples
    --------
    >>> import numpy as np
    >>> from lexshift import search_rate
    >>> rng = np.random.default_rng(0)
    >>> words = {"plane": (rng.normal(size=(100, 8)), rng.normal(size=(150, 8)) + 3)}
    >>> curve = search_rate(words, metric="euclidean")
    >>> curve.rate, curve.closed_form
    (0.6, 0.6)
    """
    fractions = checks.fractions(rates)
    if isinstance(words, Mapping) and not words:
        raise ValueError("words must contain at least one word with its (old, new) arrays; got none")

    def sweep_word(old: npt.ArrayLike, new: npt.ArrayLike, word: str) -> Sweep:
        return sweep(old, new, [metric], fractions, repeats, seed, strategy, corpus_sizes, word)

    sweeps = list(for_words(words, workers, sweep_word).values())
    return build_curve(list(words), sweeps, [checks.sizes(corpus_sizes)] * len(sweeps))


def build_curve(
    words: Sequence[str], sweeps: Sequence[Sweep], corpus_sizes: Sequence[tuple[int, int] | None]
) -> RateCurve:
    """Build the curve of several words from their sweeps, which have the same rates and one metric."""
    closed_forms = [closed_form_rate(s.n_old, s.n_new, sizes) for s, sizes in zip(sweeps, corpus_sizes, strict=True)]
    return RateCurve(
        words=tuple(words),
        rates=sweeps[0].rates,
        e_original=np.array([s.e_original[0] for s in sweeps]),
        e_swap=np.stack([s.e_swap[0] for s in sweeps]),
        closed_forms=np.array(closed_forms),
    )


def closed_form_rate(n_old: int, n_new: int, corpus_sizes: tuple[int, int] | None = None) -> float:
    """Return the rate at which the expected means of the swapped sets agree: max(n_old, n_new) / (n_old + n_new).

    With ``corpus_sizes`` it is the rate at which the normalised swap count has the same effect, at most 1.

    >>> closed_form_rate(100, 140)
    0.5833333333333334
    """
    n_old, n_new = checks.positive(n_old, "n_old"), checks.positive(n_new, "n_new")
    mixed = Fraction(n_old * n_new, n_old + n_new)  # the swap count at which the expected means agree
    return float(min(Fraction(1), mixed / swap.swap_base(n_old, n_new, checks.sizes(corpus_sizes))))
