"""The adaptation of a tuned model: the settings with which it is used as an encoder.

A folder written by :mod:`lexshift.tune` holds it in ``lexshift.json``. XL-LEXEME is recognised by its markers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lexshift.errors import UserError
from lexshift.utils.arrays import Matrix
from lexshift.utils.files import write_whole

FILE, PROJECTION = "lexshift.json", "projection.safetensors"
MARKERS = ("<t>", "</t>")
"""The tokens around the word, as in XL-LEXEME."""
_FORMAT = 1


@dataclass(frozen=True)
class Adaptation:
    """Settings with which a tuned model is used as an encoder.

    Attributes
    ----------
    periods : tuple of str
        The periods that the model distinguishes, by the labels of the corpora that it was tuned on.
    time_tokens : tuple of str
        The token of each period, which is put before a sentence; empty if the model has no such tokens.
    attention : bool
        Whether its attention depends on the period.
    markers : (str, str), optional
        Text put before and after the word.
    pooling, layers : str, optional
        Default options of the encoder.
    projection : ndarray of shape (k, d), optional
        Matrix by which vectors are multiplied.
    """

    periods: tuple[str, ...] = ()
    time_tokens: tuple[str, ...] = ()
    attention: bool = False
    markers: tuple[str, str] | None = None
    pooling: str | None = None
    layers: str | None = None
    projection: Matrix | None = field(default=None, compare=False)

    def save(self, folder: Path) -> None:
        """Write the adaptation into the folder of a model."""
        values = {
            "format": _FORMAT,
            "periods": self.periods,
            "time_tokens": self.time_tokens,
            "attention": self.attention,
            "markers": self.markers,
            "pooling": self.pooling,
            "layers": self.layers,
            "projection": self.projection is not None,
        }
        if self.projection is not None:
            from safetensors.numpy import save_file

            save_file({"projection": np.ascontiguousarray(self.projection, np.float32)}, folder / PROJECTION)
        text = json.dumps(values, indent=1, ensure_ascii=False) + "\n"
        write_whole(folder / FILE, text.encode())


def period_numbers(periods: Sequence[str], labels: Sequence[str]) -> list[int]:
    """Return the period of each corpus: by label if the model knows all labels, by order if it knows none.

    >>> period_numbers(("1850", "2000"), ("2000", "1850")), period_numbers(("1850", "2000"), ("old", "new"))
    ([1, 0], [0, 1])
    """
    if all(label in periods for label in labels):
        return [list(periods).index(label) for label in labels]
    if len(labels) == len(periods) and not any(label in periods for label in labels):
        return list(range(len(labels)))
    raise UserError(
        f"the model distinguishes the periods {', '.join(periods)}: give {len(periods)} corpora in that order, or "
        f"corpora with these labels; got {', '.join(labels)}"
    )


def read_adaptation(folder: Path, tokenizer: Any) -> Adaptation:
    """Return the adaptation of the model in a folder; the default one for a model that was not tuned."""
    path = folder / FILE
    if not path.is_file():
        return known_adaptation(tokenizer)
    damaged = UserError(f"{str(path)!r} is damaged; tune the model again, or restore the folder")
    try:
        values = json.loads(path.read_bytes())
        names = ("periods", "time_tokens", "attention", "markers", "pooling", "layers", "projection")
        periods, time_tokens, attention, markers, pooling, layers, has_projection = (values[name] for name in names)
        is_valid = values["format"] == _FORMAT
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise damaged from None
    for texts in (periods, time_tokens, [] if markers is None else markers):
        is_valid = is_valid and isinstance(texts, list) and all(isinstance(text, str) for text in texts)
    is_valid = is_valid and all(text is None or isinstance(text, str) for text in (pooling, layers))
    is_valid = is_valid and isinstance(attention, bool) and isinstance(has_projection, bool)
    is_valid = is_valid and len(time_tokens) in (0, len(periods)) and (markers is None or len(markers) == 2)
    if not is_valid or missing_tokens(tokenizer, [*time_tokens, *(markers or ())]):
        raise damaged
    marker_pair = (markers[0], markers[1]) if markers else None
    projection = _read_projection(path.parent / PROJECTION) if has_projection else None
    return Adaptation(tuple(periods), tuple(time_tokens), attention, marker_pair, pooling, layers, projection)


def known_adaptation(tokenizer: Any) -> Adaptation:
    """Return the adaptation of a model without a record: XL-LEXEME is recognised by the markers in its tokenizer."""
    added = {token.content for token in tokenizer.added_tokens_decoder.values()}
    if not added.issuperset(MARKERS):
        return Adaptation()
    return Adaptation(markers=MARKERS, pooling="sentence", layers="last")


def missing_tokens(tokenizer: Any, tokens: Sequence[str]) -> list[str]:
    """Return the tokens that are not in the vocabulary of the tokenizer, which would split them."""
    vocabulary = tokenizer.get_vocab()
    return [token for token in tokens if token not in vocabulary]


def _read_projection(path: Path) -> Matrix:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        projection = load_file(path)["projection"]
    except (OSError, KeyError, SafetensorError):
        projection = np.empty(0)
    if projection.ndim != 2:
        raise UserError(f"{str(path)!r} is missing or damaged; tune the model again")
    return projection
