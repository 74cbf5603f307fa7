"""Embed usages for the evaluation of senses.

Senses are compared in the space of the encoder's calibration: its fixed space, or raw vectors if it has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa

from lexshift.benchmark.evaluation import STORE, default_folder
from lexshift.corpus.language import language_of_sentences
from lexshift.encode import as_encoder
from lexshift.encode.adaptation import Calibration
from lexshift.encode.built_in import resolve_model
from lexshift.encode.protocol import optional_attribute
from lexshift.scoring.space import Space, calibration_space
from lexshift.senses.fallback_calibration import estimate_calibration
from lexshift.store.embedding import embed_usages
from lexshift.store.siblings import Siblings
from lexshift.study.senses import sense_vectors
from lexshift.study.settings import Settings
from lexshift.utils.arrays import Matrix
from lexshift.utils.monitor import Monitor


@dataclass(frozen=True, eq=False)
class SenseVectors:
    """The vectors of usages in the space in which senses are compared.

    Attributes
    ----------
    siblings : Siblings
    space : Space
    folder : Path
        Folder of the store and the results.
    """

    siblings: Siblings
    space: Space
    folder: Path
    _calibration: Calibration | None

    @cached_property
    def calibration(self) -> Calibration:
        """The calibration of the encoder, or an estimate from the usages if it has none."""
        if self._calibration is not None:
            return self._calibration
        return estimate_calibration([self.all_periods(word) for word in self.siblings])

    def all_periods(self, word: str) -> Matrix:
        """Return the vectors of a word in all corpora, one after the other: (n, d)."""
        return sense_vectors(self.siblings, word, self.space)

    def group(self, word: str, corpus: str) -> Matrix:
        """Return the vectors of a word in a corpus: (n, d); empty if it has no usages there."""
        if word not in self.siblings:
            return np.zeros((0, self.siblings.vectors.shape[1]), np.float32)
        return self.space.apply(self.siblings.group(word, corpus))


def embed_for_senses(
    usages: pa.Table, labels: Sequence[str], name: str, settings: Settings, monitor: Monitor
) -> SenseVectors:
    """Embed usages, unless the store in the folder of the results has them.

    Parameters
    ----------
    usages : pyarrow.Table
    labels : sequence of str
        The values of the column ``corpus``, in their order.
    name : str
        Name of the data set, after which the folder is named if ``settings.out`` is None.
    settings : Settings
    monitor : Monitor
    """
    languages = [language_of_sentences(usages["sentence"])]
    model, _ = resolve_model(settings.model, languages, monitor)
    folder = Path(default_folder(name, model) if settings.out is None else settings.out)
    encoder = as_encoder(model, languages=languages, **settings.encoder_options())
    siblings = embed_usages(usages, encoder, folder / STORE, labels, settings.precision, monitor)
    return SenseVectors(siblings, calibration_space(encoder), folder, optional_attribute(encoder, "calibration"))
