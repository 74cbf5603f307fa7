"""An encoder for tests whose vectors depend on the words around a usage, without a model."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt


class ContextEncoder:
    """Encoder whose vector is the sum of hashes of the surrounding words, with ``size`` dimensions."""

    settings: ClassVar[dict[str, str]] = {"model": "contexts"}

    def __init__(self, size: int = 6) -> None:
        self.size = size

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        """Return the vectors of the words at some spans of sentences, of shape (n, size)."""
        around = [(s[:start] + s[end:]).split() for s, (start, end) in zip(sentences, spans, strict=True)]
        return np.array([np.sum([self.vector(word) for word in words], axis=0) for words in around], np.float32)

    def vector(self, word: str) -> npt.NDArray[np.float64]:
        """Return the hash of a word, of shape (size,)."""
        return np.frombuffer(hashlib.blake2b(word.encode(), digest_size=self.size).digest(), np.int8) / 64
