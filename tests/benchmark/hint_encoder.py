"""An encoder for tests in which the sense of a usage is plain to see, and a simple clustering."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import fcluster, linkage

from lexshift.encode.adaptation import Calibration, FixedSpace
from lexshift.utils.arrays import Indices, Matrix

HINTS = ("animal", "screen", "sky", "server", "metal")


class HintEncoder:
    """Encoder whose vector of a word is decided by a hint in its sentence; two usages share a sense at a cosine of 0.5.

    A sentence without a hint has a vector of its own direction.
    """

    def __init__(self, space: FixedSpace | None = None, has_calibration: bool = True) -> None:
        self.settings = {"model": "hints"}
        self.calls = 0
        self.space = space
        self.calibration = Calibration(20.0, -10.0) if has_calibration else None

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        self.calls += 1
        assert len(sentences) == len(spans)
        vectors = np.full((len(sentences), len(HINTS) + 1), 0.01, np.float32)
        for row, sentence in enumerate(sentences):
            vectors[row, next((i for i, hint in enumerate(HINTS) if hint in sentence), len(HINTS))] = 1
        return vectors


class AverageLinkage:
    """Average linkage, cut at the cosine of 0.5 at which the calibration of the encoder has a probability of 0.5."""

    name = "average-linkage"

    def cluster(self, vectors: Matrix, calibration: Calibration, seed: int = 0) -> Indices:  # noqa: ARG002
        assert calibration.probability(np.array(0.5)) == 0.5
        labels = fcluster(linkage(vectors, "average", "cosine"), 0.5, "distance")
        return np.unique(labels, return_inverse=True)[1]
