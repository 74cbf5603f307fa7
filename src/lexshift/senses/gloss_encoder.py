"""Encode the glosses and examples of a dictionary so that they can be compared with usages of a word.

A gloss becomes the sentence "word: gloss", and its vector is that of the word. Sense encoders are trained with glosses
in this form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lexshift.corpus.dictionaries import Dictionary, Entry, SenseUsage
from lexshift.corpus.targets import split_tag
from lexshift.encode.protocol import Encoder, optional_attribute
from lexshift.scoring.space import Space, calibration_space
from lexshift.senses.similarity import unit_rows
from lexshift.utils.arrays import Floats


class GlossEncoder:
    """Encode glosses and examples as unit vectors.

    Parameters
    ----------
    encoder : Encoder
        The encoder of the usages.
    space : Space, optional
        The space in which the usages are; by default the fixed space of the encoder, or that of its raw vectors.
    """

    def __init__(self, encoder: Encoder, space: Space | None = None) -> None:
        self.calibration = optional_attribute(encoder, "calibration")
        self._encoder, self._space = encoder, space or calibration_space(encoder)

    def encode_glosses(self, word: str, glosses: Sequence[str]) -> Floats:
        """Return the vector of the word in "word: gloss" for each gloss, (n, d)."""
        bare, _ = split_tag(word)
        return self._encode([f"{bare}: {gloss}" for gloss in glosses], [(0, len(bare))] * len(glosses))

    def encode_usages(self, usages: Sequence[SenseUsage]) -> Floats:
        """Return the vector of each example, (n, d)."""
        return self._encode([u.sentence for u in usages], [(u.start, u.end) for u in usages])

    def _encode(self, sentences: list[str], spans: list[tuple[int, int]]) -> Floats:
        options: dict[str, Any] = {}
        periods = optional_attribute(self._encoder, "periods")
        if periods:
            options["periods"] = [len(periods) - 1] * len(sentences)
        rows = np.nan_to_num(self._encoder.encode(sentences, spans, **options))
        return unit_rows(self._space.apply(rows))


def index_entries(dictionary: Dictionary) -> dict[str, list[Entry]]:
    """Return the entries of each word, one for each part of speech; the keys are case-folded."""
    index: dict[str, list[Entry]] = {}
    for entry in dictionary.entries:
        index.setdefault(entry.lemma.casefold(), []).append(entry)
    return index


def find_entries(index: dict[str, list[Entry]], word: str) -> list[Entry]:
    """Return the entries of a word in an index of entries; a target such as "plane/NOUN" has those of "plane"."""
    return index.get(word.casefold()) or index.get(split_tag(word)[0].casefold(), [])
