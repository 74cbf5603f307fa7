"""From the p of every word to its q, and to the decision whether it changed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lexshift.utils import checks
from lexshift.utils.arrays import Floats


def benjamini_hochberg(p: npt.ArrayLike) -> Floats:
    """The q of every word from its p: the least false discovery rate at which it would count as changed.

    Parameters
    ----------
    p : sequence of float
        The p of every word that was tested.

    Examples
    --------
    >>> from lexshift import benjamini_hochberg
    >>> benjamini_hochberg([0.01, 0.02, 0.9]).round(3).tolist()
    [0.03, 0.03, 0.9]
    """
    from scipy.stats import false_discovery_control  # a slow import, needed nowhere else

    values = np.asarray(p, dtype=float)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"p must be a sequence of at least one p-value; got shape {values.shape}")
    checks.from_0_to_1(values, "every p")
    return np.asarray(false_discovery_control(values, method="bh"), dtype=float)


def decide(q: npt.ArrayLike, alpha: float = 0.05) -> npt.NDArray[np.bool_]:
    """Changed or stable: the binary task of SemEval-2020. A word has changed if its q is at most ``alpha``.

    If the usages of a word are independent of each other, at most a share of ``alpha`` of the words called changed is
    expected to have been called so by chance. Usages from the same document are not independent, and more words are
    then called changed by chance.

    Parameters
    ----------
    q : sequence of float
        As :func:`benjamini_hochberg` gives them.
    alpha : float
        The false discovery rate that is accepted.

    Examples
    --------
    >>> from lexshift import benjamini_hochberg, decide
    >>> decide(benjamini_hochberg([0.01, 0.02, 0.9])).tolist()
    [True, True, False]
    """
    values = np.asarray(q, dtype=float)
    checks.from_0_to_1(values, "every q")
    return values <= checks.between_0_and_1(alpha, "alpha")
