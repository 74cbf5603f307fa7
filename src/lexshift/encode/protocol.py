"""What an encoder is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

Span = tuple[int, int]


@runtime_checkable
class Encoder(Protocol):
    """Anything that turns words in their sentences into vectors."""

    def encode(self, sentences: Sequence[str], spans: Sequence[Span]) -> npt.NDArray[np.float32]:
        """One vector for each sentence and span in it, (n, d): the word at sentence[start:end] in its context.

        A row of NaN says that the encoder does not see the word.
        """
        ...
