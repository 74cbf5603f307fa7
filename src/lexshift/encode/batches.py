"""Group sequences of similar length into batches."""

from __future__ import annotations

from collections.abc import Sequence


def make_batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Group the indices of sequences, shortest first, into batches of at most ``budget`` tokens after padding.

    A sequence longer than the budget is a batch of its own.

    >>> make_batches([5, 3, 4, 9], budget=10)
    [[1, 2], [0], [3]]
    """
    groups: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if groups and lengths[index] * (len(groups[-1]) + 1) <= budget:
            groups[-1].append(index)
        else:
            groups.append([index])
    return groups
