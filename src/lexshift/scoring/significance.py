"""Convert p-values to q-values, and decide which words changed at a false discovery rate."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lexshift.utils import checks
from lexshift.utils.arrays import Floats


def benjamini_hochberg(p: npt.ArrayLike) -> Floats:
    """Compute q-values: the smallest false discovery rate at which each word would be called changed.

    Parameters
    ----------
    p : sequence of float
        The p-values of all words that were tested.

    Returns
    -------
    ndarray of shape (words,)

    Examples
    --------
    >>> from lexshift import benjamini_hochberg
    >>> benjamini_hochberg([0.01, 0.02, 0.9]).round(3).tolist()
    [0.03, 0.03, 0.9]
    """
    from scipy.stats import false_discovery_control  # imported here because it is slow

    values = np.asarray(p, dtype=float)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError(f"p must be a sequence of at least one p-value; got shape {values.shape}")
    checks.from_0_to_1(values, "every p")
    return np.asarray(false_discovery_control(values, method="bh"), dtype=float)


def decide(q: npt.ArrayLike, alpha: float = 0.05) -> npt.NDArray[np.bool_]:
    """Decide which words changed (the binary task of SemEval-2020): those whose q is at most ``alpha``.

    If the usages of a word are independent of each other, at most a share of ``alpha`` of the words called changed are
    expected to be false discoveries. Usages from the same document are not independent, which leads to more false
    discoveries.

    Parameters
    ----------
    q : sequence of float
        The q-values of the words, from :func:`benjamini_hochberg`.
    alpha : float
        The accepted false discovery rate.

    Returns
    -------
    ndarray of bool of shape (words,)

    Examples
    --------
    >>> from lexshift import benjamini_hochberg, decide
    >>> decide(benjamini_hochberg([0.01, 0.02, 0.9])).tolist()
    [True, True, False]
    """
    values = np.asarray(q, dtype=float)
    checks.from_0_to_1(values, "every q")
    return values <= checks.between_0_and_1(alpha, "alpha")
