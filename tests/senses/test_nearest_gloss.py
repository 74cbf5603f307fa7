"""Test the nearest gloss with an encoder whose vectors are planted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from planted_usages import make_usages

from lexshift.corpus.dictionaries import Dictionary, Entry, Sense, SenseUsage
from lexshift.corpus.sources import Tally
from lexshift.encode.adaptation import Calibration, FixedSpace
from lexshift.encode.protocol import BaseEncoder
from lexshift.senses.gloss_encoder import GlossEncoder
from lexshift.senses.nearest_gloss import NearestGloss
from lexshift.utils.arrays import Matrix

SENSES = [Sense("1", "a rodent", [SenseUsage("a rodent mouse", 9, 14)]), Sense("2", "a device"), Sense("3")]
DICTIONARY = Dictionary([Entry("Mouse", "NOUN", "en", SENSES)], 1, Tally())


class Planted(BaseEncoder):
    """Encode text about rodents and devices in two directions."""

    calibration = Calibration(10.0, -5.0)

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> Matrix:
        assert all(text[slice(*span)].lower() == "mouse" for text, span in zip(sentences, spans, strict=True))
        return np.array([["rodent" in s, "device" in s, 0] for s in sentences], np.float32)


USAGES = make_usages("mouse", ["mouse"] * 3, [0, 1, 2], np.eye(3)[[1, 0, 2]])


def test_each_sense_gets_its_gloss_and_an_unknown_sense_none() -> None:
    found = NearestGloss(DICTIONARY, GlossEncoder(Planted())).describe(USAGES)
    assert found == [["a device"], ["a rodent"], []]


def test_an_unknown_word_and_an_encoder_without_calibration_have_no_gloss() -> None:
    bare = Planted()
    bare.calibration = None  # type: ignore[assignment]
    assert NearestGloss(DICTIONARY, GlossEncoder(bare)).describe(USAGES) == [[], [], []]
    other = replace(USAGES, word="rat")
    assert NearestGloss(DICTIONARY, GlossEncoder(Planted())).describe(other) == [[], [], []]


def test_glosses_are_moved_to_the_space_of_the_encoder() -> None:
    moved = Planted()
    moved.space = FixedSpace(np.array([1.0, 0, 0]), np.ones(3))
    assert GlossEncoder(moved).encode_glosses("mouse", ["a device"]).round(3).tolist() == [[-0.707, 0.707, 0.0]]
