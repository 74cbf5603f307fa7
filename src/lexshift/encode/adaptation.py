"""What a tuned model says of itself: how it is to be used as an encoder.

A folder that :mod:`lexshift.tune` wrote holds it in ``lexshift.json``. A checkpoint of XL-LEXEME is known by its
markers.
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
from lexshift.utils.files import write_bytes

FILE, PROJECTION = "lexshift.json", "projection.safetensors"
MARKERS = ("<t>", "</t>")
"""Around the word, as in XL-LEXEME."""
_TEXTS = ("periods", "time_tokens")
_MODULES = "modules.json"  # of sentence-transformers
_FORMAT = 1


@dataclass(frozen=True)
class Adaptation:
    """How a tuned model is to be used.

    Attributes
    ----------
    periods : tuple of str
        The periods that the model tells apart, by the labels of the corpora that it was tuned on.
    time_tokens : tuple of str
        The token of each period that is put before a sentence; none if the model has no such tokens.
    attention : bool
        Whether its attention depends on the period.
    markers : (str, str), optional
        Text put before and after the word.
    pooling, layers : str, optional
        What its vectors are made of, unless something else is asked for.
    projection : (k, d), optional
        What vectors are multiplied with.
    """

    periods: tuple[str, ...] = ()
    time_tokens: tuple[str, ...] = ()
    attention: bool = False
    markers: tuple[str, str] | None = None
    pooling: str | None = None
    layers: str | None = None
    projection: Matrix | None = field(default=None, compare=False)

    def save(self, folder: Path) -> None:
        """Write it into the folder of a model."""
        values: dict[str, Any] = {"format": _FORMAT}
        for name in _TEXTS:
            values[name] = list(getattr(self, name))
        values["attention"] = self.attention
        values["markers"] = list(self.markers) if self.markers else None
        values |= {"pooling": self.pooling, "layers": self.layers, "projection": self.projection is not None}
        if self.projection is not None:
            from safetensors.numpy import save_file

            save_file({"projection": np.ascontiguousarray(self.projection, np.float32)}, folder / PROJECTION)
        text = json.dumps(values, indent=1, ensure_ascii=False) + "\n"
        write_bytes(folder / FILE, text.encode())


def period_numbers(periods: Sequence[str], labels: Sequence[str]) -> list[int]:
    """The period of each of some corpora: by their labels if the model knows them, by their order if it knows none.

    >>> period_numbers(("1850", "2000"), ("2000", "1850")), period_numbers(("1850", "2000"), ("old", "new"))
    ([1, 0], [0, 1])
    """
    if all(label in periods for label in labels):
        return [list(periods).index(label) for label in labels]
    if len(labels) == len(periods) and not any(label in periods for label in labels):
        return list(range(len(labels)))
    raise UserError(
        f"the model tells the periods {', '.join(periods)} apart: give {len(periods)} corpora in that order, or "
        f"corpora with these labels; got {', '.join(labels)}"
    )


def read_adaptation(folder: Path, tokenizer: Any) -> Adaptation:
    """What the model of a folder says of itself; nothing, for one that was not tuned for this."""
    path = folder / FILE
    if path.is_file():
        return _read(path, tokenizer)
    return sentence_adaptation(tokenizer) if (folder / _MODULES).is_file() else Adaptation()


def sentence_adaptation(tokenizer: Any) -> Adaptation:
    """Return how a model of sentence-transformers is to be used; XL-LEXEME is known by its markers."""
    if missing_tokens(tokenizer, MARKERS):
        return Adaptation()
    return Adaptation(markers=MARKERS, pooling="sentence", layers="last")


def missing_tokens(tokenizer: Any, tokens: Sequence[str]) -> list[str]:
    """Those of some tokens that the tokenizer would take apart."""
    known = tokenizer.get_vocab()
    return [token for token in tokens if token not in known]


def _read(path: Path, tokenizer: Any) -> Adaptation:
    damaged = UserError(f"{str(path)!r} is damaged; tune the model again, or take the folder it was made from")
    try:
        values = json.loads(path.read_bytes())
        periods, time_tokens, markers = (values[name] for name in (*_TEXTS, "markers"))
        attention, pooling, layers, projected = (values[n] for n in ("attention", "pooling", "layers", "projection"))
        good = values["format"] == _FORMAT
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise damaged from None
    good = good and all(_are_texts(part) for part in (periods, time_tokens, [] if markers is None else markers))
    good = good and all(text is None or isinstance(text, str) for text in (pooling, layers))
    good = good and isinstance(attention, bool) and isinstance(projected, bool)
    good = good and len(time_tokens) in (0, len(periods)) and (markers is None or len(markers) == 2)
    if not good or missing_tokens(tokenizer, [*time_tokens, *(markers or ())]):
        raise damaged
    around = (markers[0], markers[1]) if markers else None
    projection = _read_projection(path.parent / PROJECTION) if projected else None
    return Adaptation(tuple(periods), tuple(time_tokens), attention, around, pooling, layers, projection)


def _are_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


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
