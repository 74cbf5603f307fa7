"""Operations on divisions of usages into groups: number the groups, merge similar ones, dissolve small ones."""

from __future__ import annotations

import numpy as np

from lexshift.utils.arrays import Array, Floats, Indices


def number_by_size(labels: Array) -> Indices:
    """Return groups numbered from 0 without gaps, the largest first; of equal ones that which occurs first.

    Examples
    --------
    >>> number_by_size(np.array([7, 3, 3, 9, 7, 3])).tolist()
    [1, 0, 0, 2, 1, 0]
    """
    _, first, groups, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    order = np.lexsort((first, -sizes))
    return np.argsort(order)[groups]


def members(labels: Indices) -> Floats:
    """Return a matrix with 1 where a usage belongs to a group and 0 elsewhere, (n, k)."""
    return np.eye(int(labels.max()) + 1)[labels]


def mean_between(similarity: Floats, labels: Indices) -> Floats:
    """Return the mean similarity of the usages of each group with those of each other group, (k, k)."""
    order, sizes = np.argsort(labels, kind="stable"), np.bincount(labels)
    first = np.cumsum(sizes) - sizes  # of each group in this order
    sums = np.add.reduceat(similarity[order], first, axis=0)  # (k, n)
    return np.add.reduceat(sums[:, order], first, axis=1) / np.outer(sizes, sizes)


def merge_similar(weights: Floats, labels: Indices) -> Indices:
    """Merge the two groups with the largest mean weight between them, as long as it is positive.

    Parameters
    ----------
    weights : ndarray of shape (n, n)
        Positive for usages that belong together.
    labels : ndarray of shape (n,), int
        Group of each usage, from 0 without gaps.

    Returns
    -------
    ndarray of shape (n,), int
        Groups from 0 without gaps.
    """
    while labels.max() > 0:
        means = mean_between(weights, labels)
        np.fill_diagonal(means, -np.inf)
        a, b = np.unravel_index(means.argmax(), means.shape)
        if means[a, b] <= 0:
            break
        labels = np.unique(np.where(labels == b, a, labels), return_inverse=True)[1]
    return labels


def dissolve(similarity: Floats, labels: Indices, is_dissolved: Array) -> Indices:
    """Give the usages of some groups to the most similar of the other groups; to one group if there are no others.

    Parameters
    ----------
    similarity : ndarray of shape (n, n)
    labels : ndarray of shape (n,), int
        Group of each usage, from 0 without gaps.
    is_dissolved : ndarray of shape (k,), bool
        The groups to be dissolved. Each goes as a whole to the group with the largest mean similarity.

    Returns
    -------
    ndarray of shape (n,), int
        Groups numbered by size.
    """
    if is_dissolved.all():
        return np.zeros(len(labels), np.intp)
    if not is_dissolved.any():
        return number_by_size(labels)
    means = mean_between(similarity, labels)
    means[:, is_dissolved] = -np.inf
    target = np.where(is_dissolved, means.argmax(axis=1), np.arange(len(means)))
    return number_by_size(target[labels])


def dissolve_small(similarity: Floats, labels: Array, min_size: int) -> Indices:
    """Dissolve the groups with fewer than ``min_size`` usages; return groups numbered by size."""
    numbered = number_by_size(labels)
    return dissolve(similarity, numbered, np.bincount(numbered) < min_size)
