"""Create the random generators of the package: one seed, and an independent stream per word and purpose."""

from __future__ import annotations

import hashlib
from typing import Literal

import numpy as np

Purpose = Literal[
    "swap", "samples", "permutation", "bootstrap", "simulate", "power", "shuffle", "season", "gap", "halves", "groups"
]


def generator(seed: int, purpose: Purpose, word: str = "") -> np.random.Generator:
    """Return the random stream of a word for a purpose.

    It depends on the three arguments alone. So results do not depend on the other words, their order or the number of
    workers, and the swaps are the same whether or not a permutation test is run.

    >>> a, b = generator(0, "swap", "plane"), generator(0, "swap", "plane")
    >>> bool(a.random() == b.random())
    True
    >>> bool(generator(0, "swap", "tree").random() == generator(0, "swap", "plane").random())
    False
    """
    digest = hashlib.blake2b(f"{purpose}\0{word}".encode(), digest_size=16).digest()
    key = tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))
