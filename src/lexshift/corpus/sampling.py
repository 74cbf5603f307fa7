"""Sample the occurrences of a word without bias: those whose positions have the smallest keyed hashes.

The hash depends only on the word, the name of the file within the corpus, the line, and the position in the line. The
sample is therefore the same however the work is divided and in whatever order it is done, and the samples of parts can
be merged.

If all words of a vocabulary are studied, independent samples would need nearly as many sentences as there are usages.
Shared samples prefer the same stretches of text for all words: the first occurrence of a word in a stretch has the hash
of the stretch, whatever the word. For each single word this is still a random sample, but one encoded sentence serves
several words.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

from lexshift.utils.arrays import Array
from lexshift.utils.kernels import kernel

Priorities = npt.NDArray[np.uint64]
_STRETCH = 9  # bits: a stretch has 512 bytes, a few sentences


def place_key(seed: int, file: str, word: str) -> int:
    """Return the key of a word in a file."""
    digest = hashlib.blake2b(f"{seed}\0{file}\0{word}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def priorities(keys: Priorities, lines: Array, positions: Array) -> Priorities:
    """Return the hash of each position; the smallest are sampled. All arrays have the shape (n,)."""
    return _mix(_mix(keys ^ _mix(lines.astype(np.uint64))) ^ positions.astype(np.uint64))


def word_keys(seed: int, words: list[str]) -> Priorities:
    """Return the key of each word for shared samples, (words,), which does not depend on the file."""
    return np.array([place_key(seed, "", word) for word in words], np.uint64)


def file_keys(file_key: int, keys: Priorities) -> Priorities:
    """Return the key of each word in a file, (words,), from the key of the file and the keys of the words."""
    return _mix(keys ^ np.uint64(file_key))


def shared_priorities(file_key: int, keys: Priorities, targets: Array, lines: Array, positions: Array) -> Priorities:
    """Return the hash of each position for shared samples, (n,).

    An occurrence that is not the first of its word in a stretch has its own hash. Otherwise, all occurrences of a word
    in one sentence would be sampled together.

    Parameters
    ----------
    file_key : int
    keys, targets, lines, positions : ndarray of shape (n,)
        In the order of the text; ``keys`` as for :func:`priorities`.
    """
    stretches = positions >> _STRETCH
    hashes = priorities(keys, lines, positions)
    first = np.empty(len(targets), np.bool_)
    first_of_stretch(targets, lines, stretches, np.full((max(targets, default=0) + 1, 2), -1, np.int64), first)
    of_file = np.full(int(first.sum()), file_key, np.uint64)
    hashes[first] = priorities(of_file, lines[first], stretches[first])
    return hashes


@kernel
def first_of_stretch(targets: Array, lines: Array, stretches: Array, last: Array, first: npt.NDArray[np.bool_]) -> None:
    """Mark the occurrences that are the first of their target in a stretch.

    Parameters
    ----------
    targets, lines, stretches : ndarray of shape (n,)
    last : ndarray of shape (targets, 2)
        Line and stretch of the last occurrence of each target; -1 at the beginning.
    first : ndarray of shape (n,), bool
        Filled with the result.
    """
    for i in range(len(targets)):
        target = targets[i]
        first[i] = last[target, 0] != lines[i] or last[target, 1] != stretches[i]
        last[target, 0], last[target, 1] = lines[i], stretches[i]


def smallest(targets: Array, hashes: Priorities, most: int) -> Array:
    """Return the ascending indices of the rows with the ``most`` smallest hashes of each target; inputs : (n,)."""
    order = np.lexsort((hashes, targets))
    ordered = targets[order]
    begins = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(order) else np.empty(0, np.intp)
    rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.r_[begins, len(order)]))
    return np.sort(order[rank < most])


def _mix(x: Priorities) -> Priorities:
    """Apply the finaliser of SplitMix64, a bijection: every bit of the input moves about half of the output's."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
