"""Batches of sequences of similar length."""

from __future__ import annotations

from collections.abc import Sequence


def batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Return the indices of sequences, shortest first, in batches that stay within a budget of tokens when padded.

    A sequence longer than the budget is a batch of its own.

    >>> batches([5, 3, 4, 9], budget=10)
    [[1, 2], [0], [3]]
    """
    found: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if found and lengths[index] * (len(found[-1]) + 1) <= budget:
            found[-1].append(index)
        else:
            found.append([index])
    return found
