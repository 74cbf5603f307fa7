"""SSCD on a mixture: the distance between two periods as mixtures of the same senses, before and after swapping.

The paper describes the usages of each period by one Gaussian, and suggests mixtures for future work. Here both periods
share K components, one for each sense, fitted to the usages of both periods; a period t has the weights w_t of its
usages, so that its mixture is::

    f_t = sum_k w_tk N(mean_k, variance_k)                               variances are diagonal

The mean of two such mixtures has the mean of their weights, m = (w_1 + w_2) / 2. The distance is the Jensen-Shannon
divergence in bits, with the variational approximation of the divergence of mixtures by Hershey and Olsen (2007)::

    Z_kl        =  exp(-KL(N_k || N_l))                                  1 on the diagonal
    D(u || v)   =  sum_k u_k log2( (Z u)_k / (Z v)_k )
    e           =  D(w_1 || m) / 2 + D(w_2 || m) / 2

If all components are far apart, Z is the identity and e is the square of ``sense-jsd``; overlapping components count as
partly the same sense. The score is the mean of |e_original - e_swap| over random swaps (Algorithms 1 and 2). Swapping
moves usages, and with them only the weights: the components are those of both periods together.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lexshift.scoring import swap
from lexshift.scoring.distance.metric import original_sides
from lexshift.scoring.distance.pairwise import average_distance
from lexshift.scoring.sscd import Change
from lexshift.utils import checks
from lexshift.utils.arrays import Floats, Indices, Matrix
from lexshift.utils.seeds import generator

PRIOR_USAGES = 5.0
"""Number of usages that the mean variance within senses counts in the variance of each sense."""
_FLOOR = 1e-4  # minimum variance of a component, as a share of the variance of all usages


def component_overlaps(vectors: Matrix, labels: Indices) -> Floats:
    """Return exp(-KL(N_k || N_l)) for all pairs of senses, (K, K).

    The variance of a sense of n usages is (n v + a v_within) / (n + a): v is its own variance, v_within the mean
    variance within senses and a is ``PRIOR_USAGES``. So a sense of one usage has the variance of the others.

    Parameters
    ----------
    vectors : ndarray of shape (n, d)
        Vectors of the usages of both periods.
    labels : ndarray of shape (n,), int
        Sense of each usage, from 0 without gaps.
    """
    rows = vectors.astype(float)
    is_member = np.eye(labels.max() + 1)[:, labels]  # (K, n)
    sizes = is_member.sum(axis=1, keepdims=True)  # (K, 1)
    means = is_member @ rows / sizes  # (K, d)
    squares = is_member @ (rows - means[labels]) ** 2  # (K, d)
    variance = rows.var(axis=0)
    varies = variance > 0  # a dimension that is constant over all usages carries no information
    within = np.maximum(squares.sum(axis=0) / len(rows), _FLOOR * variance)
    means, v = means[:, varies], ((squares + PRIOR_USAGES * within) / (sizes + PRIOR_USAGES))[:, varies]
    logs = np.log(v).sum(axis=1)  # (K,)
    inverse = 1 / v
    shifts = np.stack([((means - mean) ** 2 * inverse).sum(axis=1) for mean in means])  # (K, K): from k, in units of l
    kl = (v @ inverse.T - v.shape[1] + shifts + logs - logs[:, None]) / 2
    return np.exp(-np.maximum(kl, 0))


def mixture_divergence(overlaps: Floats, old: Floats, new: Floats) -> Floats:
    """Return the Jensen-Shannon divergence of mixtures of the same components, in bits.

    Parameters
    ----------
    overlaps : ndarray of shape (K, K)
        From :func:`component_overlaps`.
    old, new : ndarray of shape (b, K)
        Weights of the components in the old and the new period, of b pairs of mixtures.

    Returns
    -------
    ndarray of shape (b,)
    """
    middle = (old + new) / 2
    at_middle = middle @ overlaps.T  # (b, K): (Z m)_k
    divergence = np.zeros(len(old))
    for weights in (old, new):
        with np.errstate(divide="ignore", invalid="ignore"):  # components without weight in both periods
            terms = weights * np.log2(weights @ overlaps.T / at_middle)
        divergence += np.where(weights > 0, terms, 0).sum(axis=1) / 2
    return divergence


def mixture_change(
    old: npt.ArrayLike,
    new: npt.ArrayLike,
    labels_old: npt.ArrayLike,
    labels_new: npt.ArrayLike,
    rate: float = 0.4,
    repeats: int = 20,
    seed: int = 0,
    word: str = "",
) -> Change:
    """Compute the change score ``sense-sscd``: SSCD with the divergence of two mixtures of senses.

    Parameters
    ----------
    old, new : array-like of shape (n_old, d) and (n_new, d)
        Vectors of the usages in each period.
    labels_old, labels_new : array-like of shape (n_old,) and (n_new,), int
        Sense of each usage, from 0 without gaps over both periods.
    rate, repeats, seed, word
        As for :class:`~lexshift.SSCD`; the swaps are the same.

    Returns
    -------
    Change

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> senses = rng.normal(size=(2, 8))
    >>> labels_old, labels_new = np.repeat([0, 1], [40, 0]), np.repeat([0, 1], [10, 30])
    >>> old, new = (senses[labels] + rng.normal(0, 0.1, (40, 8)) for labels in (labels_old, labels_new))
    >>> change = mixture_change(old, new, labels_old, labels_new)
    >>> round(change.e_original, 3), round(change.score, 2)
    (0.549, 0.53)
    """
    rows_old, rows_new = checks.pair(old, new)
    labels = np.concatenate([np.asarray(labels_old), np.asarray(labels_new)]).astype(np.intp)
    n_old, n_new = len(rows_old), len(rows_new)
    if len(labels) != n_old + n_new or len(np.asarray(labels_old)) != n_old:
        raise ValueError("every usage needs a label")
    overlaps = component_overlaps(np.concatenate([rows_old, rows_new]), labels)
    is_member = np.eye(len(overlaps))[labels]  # (n, K)
    count = swap.swap_count(n_old, n_new, rate)
    rng = generator(seed, "swap", word)
    row_orders = swap.orders(rows_old, rows_new, "random", checks.positive(repeats, "repeats"), rng)
    swapped = swap.swapped_sides(n_old, n_new, row_orders, [count])
    sides = np.concatenate([original_sides(n_old, n_new), swapped])  # (1 + repeats, n)
    e = mixture_divergence(overlaps, (sides == 1) @ is_member / n_old, (sides == -1) @ is_member / n_new)
    effects = np.abs(e[0] - e[1:])
    return Change(
        score=float(effects.mean()),
        sscd=float(effects.mean()),
        distance=average_distance(rows_old, rows_new),
        spread=float(effects.std()),
        e_original=float(e[0]),
        e_swap=e[1:],
        rate=float(rate),
        swap_count=count,
        n_old=n_old,
        n_new=n_new,
    )
