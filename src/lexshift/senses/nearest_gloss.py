"""Describe a sense by the nearest sense of a dictionary, if one is near enough.

A sense of a dictionary is as near as the mean cosine of its gloss and examples with the usages of the sense; the
calibration of the encoder turns it into a probability. Senses that the dictionary lacks should get no gloss, so a
dictionary's sense is returned only if its probability is high enough.
"""

from __future__ import annotations

import numpy as np

from lexshift.corpus.dictionaries import Dictionary
from lexshift.senses.description import SenseUsages
from lexshift.senses.gloss_encoder import GlossEncoder, find_entries, index_entries
from lexshift.senses.similarity import unit_rows
from lexshift.utils.arrays import Floats

_EXAMPLES = 10  # examples of a sense that are encoded


class NearestGloss:
    """Find the gloss of a dictionary that fits each sense best.

    Parameters
    ----------
    dictionary : Dictionary
    encoder : GlossEncoder
        Encoder with a calibration; without one no gloss is near enough.
    min_probability : float
        Probability of a shared sense from which a gloss is returned. The default was chosen on lemmas of WordNet that
        the encoder minilm-senses was not trained on.
    """

    name = "gloss"

    def __init__(self, dictionary: Dictionary, encoder: GlossEncoder, min_probability: float = 0.6) -> None:
        self._entries = index_entries(dictionary)
        self.encoder, self.min_probability = encoder, min_probability

    def describe(self, usages: SenseUsages) -> list[list[str]]:
        """Return the nearest gloss of each sense, in a list, or an empty list if none is near enough."""
        return [[gloss for gloss, p in ranking[:1] if p >= self.min_probability] for ranking in self.rank(usages)]

    def rank(self, usages: SenseUsages) -> list[list[tuple[str, float]]]:
        """Return all glosses with their probabilities for each sense, the nearest first."""
        n_senses = int(np.max(usages.labels, initial=-1)) + 1
        glosses, vectors = self._encode_senses(usages.word)
        if not glosses or self.encoder.calibration is None:
            return [[] for _ in range(n_senses)]
        unit = unit_rows(usages.vectors)
        ranked = []
        for sense in range(n_senses):
            cosines = vectors @ unit[usages.labels == sense].mean(axis=0)  # (glosses,)
            probabilities = self.encoder.calibration.probability(cosines)
            ranked.append([(glosses[i], float(probabilities[i])) for i in np.argsort(-cosines, kind="stable")])
        return ranked

    def _encode_senses(self, word: str) -> tuple[list[str], Floats]:
        """Return the glosses of a word, and the mean of the vectors of each gloss and its examples."""
        senses = [s for entry in find_entries(self._entries, word) for s in entry.senses if s.gloss]
        if not senses:
            return [], np.zeros((0, 0))
        glosses = [str(sense.gloss) for sense in senses]
        sums = self.encoder.encode_glosses(word, glosses)
        for number, sense in enumerate(senses):
            if sense.usages:
                examples = self.encoder.encode_usages(sense.usages[:_EXAMPLES])
                sums[number] = (sums[number] + examples.sum(axis=0)) / (1 + len(examples))
        return glosses, sums
