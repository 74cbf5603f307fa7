"""An unbiased sample of a word's occurrences: those whose places have the smallest keyed hashes.

The hash depends on the word, the file's name within the corpus, the line and the position in it, and on nothing else.
So the sample is the same however the work is cut up and in whatever order it is done, and samples of parts merge.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

from lexshift._typing import Array

Priorities = npt.NDArray[np.uint64]


def place_key(seed: int, file: str, word: str) -> int:
    """The key of a word in a file."""
    digest = hashlib.blake2b(f"{seed}\0{file}\0{word}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def priorities(keys: Priorities, lines: Array, positions: Array) -> Priorities:
    """The hash of each place, (n,): the smallest are taken. keys, lines, positions : (n,)"""
    return _mix(_mix(keys ^ _mix(lines.astype(np.uint64))) ^ positions.astype(np.uint64))


def smallest(targets: Array, hashes: Priorities, most: int) -> Array:
    """Indices, ascending, of the rows among the ``most`` smallest hashes of their target. targets, hashes : (n,)"""
    order = np.lexsort((hashes, targets))
    ordered = targets[order]
    begins = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(order) else np.empty(0, np.intp)
    rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.r_[begins, len(order)]))
    return np.sort(order[rank < most])


def _mix(x: Priorities) -> Priorities:
    """The finaliser of SplitMix64: a bijection in which every bit of the input moves about half of the output's."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
