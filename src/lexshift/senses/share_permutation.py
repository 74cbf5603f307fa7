"""Tests of the shares of senses: p of each sense if its usages are assigned to periods at random.

The statistic of a sense is Pearson's for "this sense or another": sum_t n_t (s_t - s)^2, up to a constant factor, for
the shares s_t of the sense in each period t of n_t usages and its share s in all of them. Two periods without documents
have an exact p (Fisher's test, two-sided: all tables that are at most as probable as the observed one). Otherwise
permutations are drawn, of usages or of whole documents, and p = (1 + permutations at least as extreme) / (1 +
permutations), in which ties count as extreme. So p is never 0, and a sense with few usages, or in few documents, cannot
have a small p.
"""

from __future__ import annotations

import numpy as np

from lexshift.utils.arrays import Array, Floats, Indices

_TIES = 1e-9  # relative tolerance within which two statistics are equal
_MAX_CELLS = 2**22  # numbers of one batch of permutations


def permute_usages(counts: Indices, permutations: int, rng: np.random.Generator) -> Floats:
    """Return the p of each sense for permutations of usages: exact for two periods, otherwise drawn.

    Parameters
    ----------
    counts : ndarray of shape (K, T), int
        Usages of each sense in each period. Periods without usages are ignored.
    permutations : int
        Number of permutations for more than two periods.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (K,)
    """
    from scipy.stats import fisher_exact  # imported here because it is slow

    totals = counts.sum(axis=0)
    has_usages = totals > 0
    counts, totals = counts[:, has_usages], totals[has_usages]
    if len(totals) < 2:
        return np.ones(len(counts))
    if len(totals) == 2:
        return np.array([fisher_exact([row, totals - row]).pvalue for row in counts]).clip(0, 1)
    p = np.ones(len(counts))
    for k, row in enumerate(counts):  # a random assignment gives the sense multivariate hypergeometric counts
        drawn = rng.multivariate_hypergeometric(totals, row.sum(), permutations, method="marginals")  # (B, T)
        is_extreme = _statistic(drawn, totals) >= _statistic(row, totals) * (1 - _TIES)
        p[k] = (1 + is_extreme.sum()) / (1 + permutations)
    return p


def permute_documents(
    table: Floats, document_periods: Indices, n_periods: int, permutations: int, rng: np.random.Generator
) -> Floats:
    """Return the p of each sense for permutations of whole documents.

    Parameters
    ----------
    table : ndarray of shape (D, K)
        Usages of each sense in each document; no document is empty.
    document_periods : ndarray of shape (D,), int
        Period of each document.
    n_periods, permutations : int
        Numbers of periods and of permutations.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (K,)
    """
    if table.shape[1] < 2:  # the only sense has the share 1 in every period
        return np.ones(table.shape[1])
    extended = np.column_stack([table, table.sum(axis=1)]).astype(np.float32)  # (D, K + 1), exact for whole numbers
    totals = extended.sum(axis=0)  # (K + 1,)

    def statistics(periods: Array) -> Floats:
        """Compute the statistics from the periods of documents, (B, D): (B, K)."""
        counts = np.empty((len(periods), len(totals), n_periods), np.float32)  # (B, K + 1, T)
        counts[:, :, -1] = totals
        for number in range(n_periods - 1):
            counts[:, :, number] = (periods == number).astype(np.float32) @ extended
            counts[:, :, -1] -= counts[:, :, number]
        return _statistic(counts[:, :-1], counts[:, -1:])

    observed = statistics(document_periods[None])  # (1, K)
    batch = max(1, _MAX_CELLS // max(1, n_periods * len(table)))
    exceeding = np.zeros(table.shape[1])
    for begin in range(0, permutations, batch):
        size = min(batch, permutations - begin)
        drawn = rng.permuted(np.broadcast_to(document_periods, (size, len(table))), axis=1)  # (B, D)
        exceeding += (statistics(drawn) >= observed * (1 - _TIES)).sum(axis=0)
    return (1 + exceeding) / (1 + permutations)


def _statistic(counts: Array, totals: Array) -> Floats:
    """Return sum_t c_t^2 / n_t, which differs from Pearson's statistic by constants: (..., T) -> (...)."""
    return (np.asarray(counts, float) ** 2 / np.maximum(totals, 1)).sum(axis=-1)
