"""The common shift: the part of the difference between two corpora that all words share.

Texts of two periods differ as wholes, in register, topic, spelling or errors of digitisation, and this moves the
vectors of all words in a similar direction. The common shift is estimated from ordinary words. With the mean unit
vectors u_w of the old and v_w of the new usages of W ordinary words::

    s_w  =  v_w - u_w                                     the shift of a word
    s    =  mean of s_w over the words                    the common shift

Half of it is added to the old usages and half is subtracted from the new ones. Its size is reported as a share of the
mean squared shift. Both have a part that is due to the random choice of usages, n_w, which is subtracted::

    share  =  (|s|^2 - mean(n_w) / W)  /  (mean |s_w|^2 - mean(n_w))
    n_w    =  (1 - |u_w|^2) / (n_old - 1)  +  (1 - |v_w|^2) / (n_new - 1)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from lexshift.scoring.distance.nearest import unit_rows
from lexshift.utils.arrays import Floats, Matrix


@dataclass(frozen=True, eq=False)
class CommonShift:
    """The difference between two corpora that all words share.

    Attributes
    ----------
    vector : ndarray of shape (d,)
        Mean shift of the unit vectors of ordinary words, from the old to the new corpus.
    share : float
        Share of the mean squared shift of an ordinary word that is common to all words, from 0 to 1.
    """

    vector: Floats
    share: float

    def remove(self, old: Matrix, new: Matrix) -> tuple[Matrix, Matrix]:
        """Return unit vectors without the common shift, (n_old, d) and (n_new, d) of float32, not of unit length."""
        half = self.vector / 2
        first, second = unit_rows(old, "old", True) + half, unit_rows(new, "new", True) - half
        return first.astype(np.float32), second.astype(np.float32)


def estimate_common_shift(pairs: Iterable[tuple[Matrix, Matrix]]) -> CommonShift:
    """Estimate the common shift from the usages of ordinary words.

    Parameters
    ----------
    pairs : iterable of (ndarray of shape (n_old, d), ndarray of shape (n_new, d))
        The vectors of each word, at least two in either corpus.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> words = [(rng.normal(size=(30, 8)), rng.normal(size=(30, 8)) + [2, 0, 0, 0, 0, 0, 0, 0]) for _ in range(50)]
    >>> shift = estimate_common_shift(words)
    >>> shift.vector.argmax(), shift.share > 0.9
    (np.int64(0), True)
    """
    shifts, noise = [], []
    for old, new in pairs:
        means = [unit_rows(rows, name, True).mean(axis=0) for rows, name in ((old, "old"), (new, "new"))]
        shifts.append(means[1] - means[0])
        noise.append(sum((1 - mean @ mean) / (len(rows) - 1) for mean, rows in zip(means, (old, new), strict=True)))
    if not shifts:
        raise ValueError("pairs must have at least one word")
    all_shifts, chance = np.array(shifts, float), float(np.mean(noise))
    vector = all_shifts.mean(axis=0)
    total = float((all_shifts**2).sum(axis=1).mean()) - chance
    common = float(vector @ vector) - chance / len(shifts)
    return CommonShift(vector, min(max(common / total, 0.0), 1.0) if total > 0 else 0.0)
