"""The protocol of encoders: one method, and optional attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from lexshift.encode.adaptation import Calibration, FixedSpace

Span = tuple[int, int]


@runtime_checkable
class Encoder(Protocol):
    """An object that turns words in their sentences into vectors, with one method, ``encode``.

    An encoder may have any of the attributes of :class:`BaseEncoder`, whether it is derived from it or not.

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
        """Return one vector for each sentence and span in it, (n, d): the word at sentence[start:end] in its context.

        A row of NaN means that the encoder cannot represent the word.
        """
        ...


class BaseEncoder:
    """The optional attributes of an encoder, with their default values.

    Attributes
    ----------
    settings : mapping of plain values, optional
        Everything that affects the vectors. It is recorded in stores, and a store made with other settings is refused.
        Without it, a few vectors are recomputed and compared before a store or unfinished work is reused.
    weights : str, optional
        Checksum of the weights, which must be the same on all machines of a cluster.
    languages : tuple of str, optional
        ISO codes of the languages that the encoder knows. Text in another language causes a warning.
    periods : tuple of str
        Names of the periods that the encoder distinguishes. If there are any, ``encode`` also takes
        ``periods``: the number, from 0, of each sentence's period.
    reports_progress : bool
        Whether ``encode`` takes ``advance``, a function that it calls with the finished share of its work.
    marks_truncated : bool
        Whether ``encode`` takes ``truncated``, a boolean array of shape (n,) in which it sets True for each sentence
        of which it encodes only a part.
    is_approximate : bool
        Whether the vectors approximate those of an exact encoder. If so, the method ``deviation`` takes the same
        arguments as ``encode`` and returns 1 - cosine between the approximate and the exact vectors, (n,).
    space : FixedSpace, "raw", "centred" or "standardised", optional
        The space in which the vectors are compared unless the user chooses another: a fixed one, or one that is fitted
        to the usages of each run. Without it, vectors are standardised.
    calibration : Calibration, optional
        The probability that two usages share a sense, given the cosine of their vectors in that space.
    """

    settings: Mapping[str, Any] | None = None
    weights: str | None = None
    languages: tuple[str, ...] | None = None
    periods: tuple[str, ...] = ()
    reports_progress: bool = False
    marks_truncated: bool = False
    is_approximate: bool = False
    space: FixedSpace | str | None = None
    calibration: Calibration | None = None


def optional_attribute(encoder: Any, name: str) -> Any:
    """Return an attribute of :class:`BaseEncoder`, or its default for an encoder that does not have it.

    >>> optional_attribute(object(), "periods")
    ()
    """
    return getattr(encoder, name, getattr(BaseEncoder, name))
