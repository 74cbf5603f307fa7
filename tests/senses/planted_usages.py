"""Usages of a word in planted senses, for the tests of descriptions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lexshift.senses.description import SenseUsages
from lexshift.utils.arrays import Matrix


def make_usages(
    word: str,
    sentences: Sequence[str],
    labels: Sequence[int],
    vectors: Matrix | None = None,
    language: str | None = None,
) -> SenseUsages:
    """Return usages of a word, which is in every sentence; without vectors, each sense has a direction of its own."""
    starts = [sentence.lower().index(word.lower()) for sentence in sentences]
    directions = np.eye(max(labels, default=0) + 1)[list(labels)] if vectors is None else vectors
    return SenseUsages(
        word,
        sentences,
        [(start, start + len(word)) for start in starts],
        np.array(labels, np.intp),
        np.zeros(len(sentences), np.intp),
        directions,
        language,
    )
