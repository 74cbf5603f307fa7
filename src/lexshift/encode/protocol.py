"""What an encoder is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

Span = tuple[int, int]


@runtime_checkable
class Encoder(Protocol):
    """Anything that turns words in their sentences into vectors: it has one method, ``encode``.

    A mapping ``settings`` of plain values, if it has one, is kept in stores made with it, and a store made with other
    settings is refused. If it has none, a few vectors are made again before a store or unfinished work is used, and it
    is refused if they differ. One that has ``periods``, the names of the periods that it tells apart, is told the
    number of each sentence's period: ``encode(sentences, spans, periods=...)``. One whose ``marks_truncated`` is true
    is given a boolean array, ``encode(sentences, spans, truncated=...)``, and sets it to True for each sentence of
    which it encodes only a part. If it has ``languages``, the ISO codes of those that it knows, text
    in another language calls for a warning.

    Examples
    --------
    >>> import numpy as np
    >>> from lexshift import Encoder
    >>> class Lengths:
    ...     def encode(self, sentences, spans):
    ...         return np.array([[len(s), end - start] for s, (start, end) in zip(sentences, spans)], np.float32)
    >>> isinstance(Lengths(), Encoder)
    True
    """

    def encode(self, sentences: Sequence[str], spans: Sequence[Span]) -> npt.NDArray[np.float32]:
        """One vector for each sentence and span in it, (n, d): the word at sentence[start:end] in its context.

        A row of NaN says that the encoder does not see the word.
        """
        ...
