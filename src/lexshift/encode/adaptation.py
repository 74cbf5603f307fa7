"""The adaptation of a tuned model: the settings with which it is used as an encoder.

A folder written by :mod:`lexshift.tune` holds it in ``lexshift.json``. XL-LEXEME and XL-DURel are recognised by the
markers in their tokenizers, or by their names.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lexshift.encode.sentence_modules import folder_pooling
from lexshift.errors import UserError
from lexshift.utils.arrays import Floats, Matrix
from lexshift.utils.files import write_whole

FILE, PROJECTION, SPACE = "lexshift.json", "projection.safetensors", "space.safetensors"
MARKERS = ("<t>", "</t>")
"""The tokens around the word, as in XL-LEXEME."""
_PUBLISHED = ("xl-lexeme", "xl-durel", "xl-durel2")  # published models that were trained with these markers
RAW = "raw"
"""The space of vectors as they are."""
_FORMAT = 2


@dataclass(frozen=True)
class Base:
    """The model that an adapter changes.

    Attributes
    ----------
    model : str
        A built-in name, a folder, or a name on the hub.
    revision : str, optional
        Revision of a model on the hub.
    weights : str, optional
        SHA-256 of its weights. The files of built-in models are checked without it.
    """

    model: str
    revision: str | None = None
    weights: str | None = None


@dataclass(frozen=True)
class Calibration:
    """The probability that two usages of a word share a sense, given the cosine of their vectors.

    It is logistic in the cosine: 1 / (1 + exp(-(slope * cosine + intercept))). The cosine is taken in the space of the
    encoder, if it has one, and between raw vectors otherwise.

    Examples
    --------
    >>> Calibration(slope=10.0, intercept=-5.0).probability(np.array([0.5, 0.9])).round(3).tolist()
    [0.5, 0.982]
    """

    slope: float
    intercept: float

    def probability(self, cosine: Floats) -> Floats:
        """Return the probability of a shared sense for each cosine; the result has the shape of ``cosine``."""
        return 1 / (1 + np.exp(-(self.slope * np.asarray(cosine, float) + self.intercept)))


@dataclass(frozen=True)
class FixedSpace:
    """A transformation of vectors that belongs to an encoder.

    Attributes
    ----------
    mean, scale : ndarray of shape (d,)
        The mean is subtracted first, then the result is divided by the scale.
    """

    mean: Floats
    scale: Floats


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
    space : FixedSpace or "raw", optional
        Space in which vectors are compared unless the user chooses another. A fixed one was fitted once to usages with
        sense labels.
    calibration : Calibration, optional
        Probability that two usages share a sense, given their cosine.
    base : Base, optional
        The model that the adapter in this folder changes; None for a model with weights of its own.
    """

    periods: tuple[str, ...] = ()
    time_tokens: tuple[str, ...] = ()
    attention: bool = False
    markers: tuple[str, str] | None = None
    pooling: str | None = None
    layers: str | None = None
    projection: Matrix | None = field(default=None, compare=False)
    space: FixedSpace | str | None = field(default=None, compare=False)
    calibration: Calibration | None = None
    base: Base | None = None

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
            "space": isinstance(self.space, FixedSpace) or self.space or False,
            "calibration": None if self.calibration is None else asdict(self.calibration),
            "base": None if self.base is None else asdict(self.base),
        }
        if self.projection is not None:
            _write_arrays(folder / PROJECTION, projection=self.projection)
        if isinstance(self.space, FixedSpace):
            _write_arrays(folder / SPACE, mean=self.space.mean, scale=self.space.scale)
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


def read_base(folder: Path) -> Base | None:
    """Return the model that the adapter in a folder changes, or None if the folder has no adapter."""
    return None if not (folder / FILE).is_file() else _read_base(_read_record(folder / FILE)["base"], folder / FILE)


def read_adaptation(folder: Path, tokenizer: Any, name: str | None = None) -> Adaptation:
    """Return the adaptation of the model in a folder; the default one for a model that was not tuned.

    ``name`` is the name of the model, if it is not that of the folder.
    """
    path = folder / FILE
    if not path.is_file():
        return known_adaptation(tokenizer, folder.name if name is None else name, partial(folder_pooling, folder))
    values = _read_record(path)
    periods, time_tokens, markers = values["periods"], values["time_tokens"], values["markers"]
    pooling, layers, calibration = values["pooling"], values["layers"], values["calibration"]
    attention, has_projection, space = (values[name] for name in ("attention", "projection", "space"))
    is_valid = all(isinstance(flag, bool) for flag in (attention, has_projection))
    is_valid = is_valid and (isinstance(space, bool) or space == RAW)
    for texts in (periods, time_tokens, [] if markers is None else markers):
        is_valid = is_valid and isinstance(texts, list) and all(isinstance(text, str) for text in texts)
    is_valid = is_valid and all(text is None or isinstance(text, str) for text in (pooling, layers))
    is_valid = is_valid and len(time_tokens) in (0, len(periods)) and (markers is None or len(markers) == 2)
    is_valid = is_valid and (calibration is None or _is_calibration(calibration))
    if not is_valid or missing_tokens(tokenizer, [*time_tokens, *(markers or ())]):
        raise _damage_error(path)
    if isinstance(space, bool):
        space = FixedSpace(*_read_arrays(folder / SPACE, ("mean", "scale"), 1)) if space else None
    return Adaptation(
        periods=tuple(periods),
        time_tokens=tuple(time_tokens),
        attention=attention,
        markers=(markers[0], markers[1]) if markers else None,
        pooling=pooling,
        layers=layers,
        projection=_read_arrays(folder / PROJECTION, ("projection",), 2)[0] if has_projection else None,
        space=space,
        calibration=None if calibration is None else Calibration(**calibration),
        base=_read_base(values["base"], path),
    )


def _read_record(path: Path) -> dict[str, Any]:
    """Return the values in a record; raise if some are missing."""
    try:
        values = json.loads(path.read_bytes())
        names = ("periods", "time_tokens", "attention", "markers", "pooling", "layers", "projection")
        record = {name: values[name] for name in (*names, "space", "calibration", "base")}
        is_valid = values["format"] == _FORMAT
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        is_valid = False
    if not is_valid:
        raise _damage_error(path)
    return record


def _read_base(value: Any, path: Path) -> Base | None:
    if value is None:
        return None
    is_valid = isinstance(value, dict) and value.keys() == {"model", "revision", "weights"}
    if not is_valid or not isinstance(value["model"], str):
        raise _damage_error(path)
    if not all(text is None or isinstance(text, str) for text in value.values()):
        raise _damage_error(path)
    return Base(**value)


def _is_calibration(value: Any) -> bool:
    is_named = isinstance(value, dict) and value.keys() == {"slope", "intercept"}
    return is_named and all(isinstance(number, float) and math.isfinite(number) for number in value.values())


def _damage_error(path: Path) -> UserError:
    return UserError(f"{str(path)!r} is damaged; tune the model again, or restore the folder")


def known_adaptation(tokenizer: Any, name: str = "", pooling: Callable[[], str] | None = None) -> Adaptation:
    """Return the adaptation of a model without a record.

    XL-LEXEME and XL-DURel are recognised by the markers in the tokenizer, or by the last part of the name if the
    markers are plain text for the tokenizer. For them ``pooling`` returns the pooling of their training, by default the
    mean over the sentence.
    """
    added = {token.content for token in tokenizer.added_tokens_decoder.values()}
    if not added.issuperset(MARKERS) and os.path.basename(os.path.normpath(name)).lower() not in _PUBLISHED:
        return Adaptation()
    return Adaptation(markers=MARKERS, pooling="sentence" if pooling is None else pooling(), layers="last")


def missing_tokens(tokenizer: Any, tokens: Sequence[str]) -> list[str]:
    """Return the tokens that are not in the vocabulary of the tokenizer, which would split them."""
    vocabulary = tokenizer.get_vocab()
    return [token for token in tokens if token not in vocabulary]


def _write_arrays(path: Path, **arrays: Matrix) -> None:
    from safetensors.numpy import save

    write_whole(path, save({name: np.ascontiguousarray(array, np.float32) for name, array in arrays.items()}))


def _read_arrays(path: Path, names: Sequence[str], dimensions: int) -> list[Matrix]:
    """Return arrays of a safetensors file; raise unless they are finite and have the given number of dimensions."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        stored = load_file(path)
        arrays = [stored[name] for name in names]
    except (OSError, KeyError, SafetensorError):
        arrays = []
    is_valid = bool(arrays) and len({array.shape for array in arrays}) == 1
    if not is_valid or any(array.ndim != dimensions or not np.isfinite(array).all() for array in arrays):
        raise UserError(f"{str(path)!r} is missing or damaged; tune the model again")
    return arrays
