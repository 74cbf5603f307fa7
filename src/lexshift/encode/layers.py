"""Select the layers of a model whose hidden states make the vectors."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from lexshift.errors import UserError

_SPEC = re.compile(r"(mean|sum|concat):(\d+)|(last)|(-?\d+)")


@dataclass(frozen=True)
class Layers:
    """The hidden states that are combined into a vector.

    Attributes
    ----------
    numbers : tuple of int
        Layer numbers in ascending order; 0 is the embedding layer, 1 the first layer.
    how : "mean", "sum" or "concat"
        Rule for combining the hidden states.
    """

    numbers: tuple[int, ...]
    how: str = "mean"

    @property
    def deepest(self) -> int:
        """The number of the last layer that must be computed."""
        return self.numbers[-1]

    def width(self, hidden: int) -> int:
        """Return the dimension of the vectors, given that of the hidden states."""
        return hidden * len(self.numbers) if self.how == "concat" else hidden


def parse_layers(spec: Any, depth: int) -> Layers:
    """Return the layers that a specification selects in a model of ``depth`` layers.

    >>> parse_layers("mean:4", 12)
    Layers(numbers=(9, 10, 11, 12), how='mean')
    >>> parse_layers("last", 12), parse_layers(-2, 12)
    (Layers(numbers=(12,), how='mean'), Layers(numbers=(11,), how='mean'))
    """
    match = _SPEC.fullmatch(str(spec))
    if match is None:
        raise UserError(
            f"layers must be 'last', the number of a layer, or mean:N, sum:N or concat:N of the last N; got {spec!r}"
        )
    how, count, last, number = match.groups()
    if last:
        return Layers((depth,))
    if number:
        layer = int(number) if int(number) >= 0 else depth + 1 + int(number)
        if not 0 <= layer <= depth:
            raise UserError(f"layers is {number}, but the model has layers 0 (embeddings) to {depth}")
        return Layers((layer,))
    if not 1 <= int(count) <= depth:
        raise UserError(f"layers requests the last {count}, but the model has {depth} layers")
    return Layers(tuple(range(depth - int(count) + 1, depth + 1)), how)
