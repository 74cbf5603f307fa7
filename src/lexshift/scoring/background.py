"""The background of a comparison: what two corpora do to ordinary words.

From the usages of ordinary words in both corpora follow the common shift, which is removed from all vectors, the noise
floor, and the null distributions with which the gap of a word is compared.

**Noise floor.** The usages of each ordinary word in one corpus are divided at random into two halves, by documents
where these are known. Nothing changed between the halves, so their gap is noise: of sampling, and of the topics of
documents. The floor is the value that 5 % of these gaps exceed. Halves of few usages have large gaps by chance alone,
so words with fewer than 20 usages in a corpus count only if no word has more.

**Equal numbers.** A gap varies more if there are few usages. The null distribution of a word is therefore fitted to
ordinary words that are reduced to a number of usages in each corpus that is not larger than the word's own. The usages
are drawn several times, and the null distribution is fitted to all draws together, because a single draw of few usages
would move it noticeably.

**Noise.** Gaps that are much smaller than half of the noise floor count as noise in the null distribution (see
:mod:`lexshift.scoring.empirical_null`). Half of the floor is about a standard deviation of the gaps between halves.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lexshift.encode.adaptation import Calibration
from lexshift.scoring.common_shift import CommonShift, estimate_common_shift
from lexshift.scoring.empirical_null import EmpiricalNull, fit_null
from lexshift.scoring.gap import MIN_HALVED, draw_halves, gaps, similarities
from lexshift.scoring.permutation import Documents
from lexshift.utils.arrays import Array, Floats, Matrix
from lexshift.utils.seeds import generator

USAGES = 40
"""Maximum number of usages of an ordinary word in each corpus."""
FLOOR = 0.95
"""Share of the gaps between halves of the same corpus that are below the noise floor."""
DRAWS = 8
"""Number of random draws of the usages of an ordinary word."""
_NOISE = 0.5  # share of the noise floor within which square roots of gaps are made linear
_SIZES = np.array([2, 3, 5, 7, 10, 14, 20, 28, USAGES])  # numbers of usages to which ordinary words are reduced
_ENOUGH, _MIN_HALVED = 20, 8  # number of usages that are divided into halves: wanted, and needed


class Background:
    """The gaps of ordinary words between two corpora.

    Parameters
    ----------
    pairs : mapping of str to (ndarray of shape (n_old, d), ndarray of shape (n_new, d))
        The vectors of the ordinary words, at least two in either corpus.
    calibration : Calibration, optional
        Probability of a shared sense; without it, gaps are differences of cosines.
    documents : mapping of str to (sequence, sequence), optional
        The document of each usage.
    seed : int

    Attributes
    ----------
    shift : CommonShift
    floor : float
        The noise floor.
    words : list of str
    """

    def __init__(
        self,
        pairs: Mapping[str, tuple[Matrix, Matrix]],
        calibration: Calibration | None,
        documents: Mapping[str, tuple[Documents, Documents]] | None = None,
        seed: int = 0,
    ) -> None:
        self.words = list(pairs)
        self.shift: CommonShift = estimate_common_shift(pairs.values())
        self._seed, self._gaps = seed, dict[tuple[int, int], Floats]()
        shifted = {word: self.shift.remove(old, new) for word, (old, new) in pairs.items()}
        self._similarities = [similarities(old, new, calibration) for old, new in shifted.values()]
        self._sizes = [(len(old), len(new)) for old, new in pairs.values()]
        self.floor = noise_floor(shifted, calibration, documents, seed)

    def gaps(self, n_old: int, n_new: int) -> Floats:
        """Return the gaps of ordinary words with at most this number of usages in each corpus, (DRAWS, words)."""
        limits = _reduced_size(n_old), _reduced_size(n_new)
        if limits not in self._gaps:
            drawn = np.empty((DRAWS, len(self.words)))
            for i, (word, values, sizes) in enumerate(zip(self.words, self._similarities, self._sizes, strict=True)):
                rng = generator(self._seed, "gap", word)
                sides = np.zeros((DRAWS, sum(sizes)), np.int8)
                for row in sides:
                    chosen = [rng.permutation(n)[:limit] for n, limit in zip(sizes, limits, strict=True)]
                    row[chosen[0]], row[sizes[0] + chosen[1]] = 1, -1
                drawn[:, i] = gaps(values, sides)
            self._gaps[limits] = drawn
        return self._gaps[limits]

    def null(self, n_old: int, n_new: int, without: str = "") -> tuple[EmpiricalNull, Floats]:
        """Return the null distribution for a word with this number of usages, and the excess of the ordinary words.

        Parameters
        ----------
        n_old, n_new : int
        without : str
            A word that is left out, because it is the one that is compared.

        Returns
        -------
        EmpiricalNull, ndarray of shape (DRAWS, words)
        """
        drawn = self.gaps(n_old, n_new)
        if without in self.words:
            drawn = np.delete(drawn, self.words.index(without), axis=1)
        null = fit_null(drawn, noise=_NOISE * max(self.floor, 0.0))
        return null, null.excess(drawn)


def _reduced_size(n: int) -> int:
    """Return the number of usages to which ordinary words are reduced for a word with n usages."""
    return int(_SIZES[n >= _SIZES].max(initial=_SIZES[0]))


def noise_floor(
    pairs: Mapping[str, tuple[Matrix, Matrix]],
    calibration: Calibration | None,
    documents: Mapping[str, tuple[Documents, Documents]] | None = None,
    seed: int = 0,
) -> float:
    """Return the value that 5 % of the gaps between random halves of the usages of the same corpus exceed.

    Parameters
    ----------
    pairs, calibration, documents, seed
        As for :class:`Background`. At least one word must have 8 usages in a corpus.
    """
    most = max((len(rows) for pair in pairs.values() for rows in pair), default=0)
    least = _ENOUGH if most >= _ENOUGH else _MIN_HALVED
    found = []
    for word, (old, new) in pairs.items():
        rng = generator(seed, "halves", word)
        for side, rows in enumerate((old, new)):
            if len(rows) < least:
                continue
            units: Array = np.arange(len(rows))
            if documents is not None:
                numbered = np.unique(np.asarray(documents[word][side], object).astype(str), return_inverse=True)[1]
                units = numbered if numbered.max() >= MIN_HALVED - 1 else units
            sides = 2 * draw_halves(units, 1, rng) - 1  # (1, n)
            found.append(float(gaps(similarities(rows[:1], rows[1:], calibration), sides)[0]))
    if not found:
        raise ValueError(f"no word has {_MIN_HALVED} usages in a corpus")
    return float(np.quantile(found, FLOOR))
