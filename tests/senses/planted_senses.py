"""Corpora with planted senses, and an encoder that tells them apart, for the tests of senses."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lexshift.encode.adaptation import Calibration

CONTEXTS = {
    "animal": ["cheese", "tail", "trap", "cat", "barn"],
    "device": ["click", "screen", "cable", "keyboard", "button"],
    "food": ["flour", "oven", "butter", "crust", "loaf"],
}
# Number of usages of each word and sense in each of three periods.
PLANTED: dict[str, dict[str, tuple[int, int, int]]] = {
    "mouse": {"animal": (30, 20, 10), "device": (0, 10, 20)},
    "rat": {"animal": (20, 20, 20)},
    "bread": {"food": (24, 20, 24)},
    "rare": {"animal": (12, 2, 3)},
}


class PlantedEncoder:
    """Encoder whose vector of a word points in the direction of the sense that its neighbours belong to."""

    settings = {"model": "planted"}  # noqa: RUF012
    calibration: Calibration | None = Calibration(slope=20.0, intercept=-10.0)
    space = "raw"

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        assert len(sentences) == len(spans)
        return np.array([self.vector(sentence) for sentence in sentences], np.float32)

    def vector(self, sentence: str) -> npt.NDArray[np.float64]:
        words = sentence.replace(":", " ").split()
        direction = [sum(word in words for word in context) for context in CONTEXTS.values()]
        seed = hashlib.blake2b(sentence.encode(), digest_size=4).digest()
        noise = np.random.default_rng(int.from_bytes(seed, "big")).normal(size=8) * 0.2
        return np.pad(np.array(direction, float), (0, 5)) + noise


class UncalibratedEncoder(PlantedEncoder):
    """The same encoder without a calibration."""

    settings = {"model": "uncalibrated"}  # noqa: RUF012
    calibration = None


class CloseEncoder(PlantedEncoder):
    """The same encoder, for whose calibration usages of different senses share one with a probability of about 0.42."""

    settings = {"model": "close"}  # noqa: RUF012
    calibration = Calibration(slope=5.0, intercept=-0.32)


def sentences(word: str, sense: str, n: int, rng: np.random.Generator) -> list[str]:
    """Return different sentences with a word in a sense."""
    fillers = ["one", "another", "some", "old", "new", "every", "quiet", "early"]
    made = []
    for i in range(n):
        before, after = rng.choice(CONTEXTS[sense], 2, replace=False)
        made.append(f"{rng.choice(fillers)} {before} {word} {rng.choice(fillers)} {after} item{rng.integers(1000)}x{i}")
    return made


def write_corpora(folder: Path, periods: int = 2, words: Mapping[str, Mapping[str, Any]] = PLANTED) -> list[Path]:
    """Write a file with the planted usages of each of the first periods, or of the first and the last one."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    files = []
    for t in (0, 2) if periods == 2 else range(periods):
        lines = [
            line for word, senses in words.items() for s, n in senses.items() for line in sentences(word, s, n[t], rng)
        ]
        files.append(folder / f"{1950 + 30 * t}s.txt")
        files[-1].write_text("\n".join(lines) + "\n", "utf-8")
    return files
