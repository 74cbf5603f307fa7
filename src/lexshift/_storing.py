"""How a store comes to stand in a folder: one writer at a time, what is there already, the encoding, the writing."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from lexshift._contents import Contents
from lexshift._files import disk_faults, one_writer
from lexshift._settings import digest, first_difference, identity
from lexshift._shards import Encode, Shards, Work, encode_with
from lexshift._writing import settle, write_store
from lexshift.encode import Encoder
from lexshift.encode.adaptation import period_numbers
from lexshift.errors import UserError
from lexshift.monitor import Monitor, duration
from lexshift.siblings import INDEX, OCCURRENCES, UNFINISHED, VECTORS, Siblings

_SAMPLE = 64  # sentences on which an approximate encoder is compared with the exact one
_LONG = 10_000  # sentences from which on it is said beforehand how long they will take
_TIMED, _WARM = 256, 16  # sentences that are timed, and those before them


def in_folder(out: str | os.PathLike[str] | None, run: Callable[[Path, Siblings | None], Siblings]) -> Siblings:
    """Run in a folder, as its only writer, with the store that is there; or in one that is gone with the result."""
    if out is not None:
        return _as_writer(Path(out), run)
    folder = tempfile.mkdtemp(prefix="lexshift-")
    try:
        siblings = _as_writer(Path(folder), run)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(siblings, shutil.rmtree, folder, ignore_errors=True)
    return siblings


def _as_writer(folder: Path, run: Callable[[Path, Siblings | None], Siblings]) -> Siblings:
    with disk_faults(folder):
        _make_folder(folder)
    with one_writer(folder):
        with disk_faults(folder):
            settle(folder)
        return run(folder, Siblings(folder) if (folder / INDEX).exists() else None)


def complete(
    folder: Path,
    contents: Contents,
    store: Siblings | None,
    encoder: Encoder,
    settings: dict[str, Any],
    monitor: Monitor,
    encode: Encode | None = None,
) -> Siblings:
    """Encode what the store lacks, and write it; ``encode`` does it elsewhere than in this process."""
    fingerprint = digest(identity(settings, contents.forms, contents.corpora))
    if store is not None and store.fingerprint == fingerprint:
        monitor.note("the store has all of this already")
        return store
    labels = [entry["label"] for entry in contents.corpora]
    work = Work.plan(contents.table, store, _periods(encoder, labels, monitor))
    plan = {
        "fingerprint": fingerprint,
        "added to": store.fingerprint if store is not None else None,
        "settings": settings,
        "words": digest(list(contents.forms.items())),
        "corpora": {entry["label"]: entry["content"] for entry in contents.corpora},
    }
    shards = Shards(folder / UNFINISHED, work, settings["precision"], plan)
    shards.begin()
    _tell_deviation(encoder, work, monitor)
    if encode is None:
        _tell_time(encoder, shards, monitor)
    shards.encode(encode or encode_with(encoder), monitor)
    with disk_faults(folder):
        write_store(folder, contents, shards, fingerprint, settings, monitor)
    return Siblings(folder)


def check_periods(encoder: Encoder, labels: list[str]) -> None:
    """Refuse corpora that are not of the periods that an encoder tells apart."""
    if getattr(encoder, "periods", ()):
        period_numbers(encoder.periods, labels)  # type: ignore[attr-defined]


def _periods(encoder: Encoder, labels: list[str], monitor: Monitor) -> dict[str, int] | None:
    """The number of each corpus's period, for an encoder that tells periods apart."""
    periods = getattr(encoder, "periods", ())
    if not periods:
        return None
    numbers = period_numbers(periods, labels)
    if [periods[number] for number in numbers] != labels:
        monitor.note(f"{', '.join(labels)} are taken for the model's periods {', '.join(periods)}, in this order")
    return dict(zip(labels, numbers, strict=True))


def _tell_deviation(encoder: Encoder, work: Work, monitor: Monitor) -> None:
    """Say on a sample how far an approximate encoder is from the exact one."""
    deviation = getattr(encoder, "deviation", None)
    if deviation is None or getattr(encoder, "dtype", "fp32") != "int8" or not len(work):
        return
    sample = np.linspace(0, len(work) - 1, min(_SAMPLE, len(work))).astype(int)
    off = deviation(*work.rows(sample), **work.told(sample))
    off = off[np.isfinite(off)]  # not of words that the tokenizer drops
    if not len(off):
        return
    monitor.note(
        f"int8 is approximate: on {len(off)} occurrences the cosine with full precision is {1 - off.mean():.4f} on "
        f"average and {1 - off.max():.4f} at worst"
    )


def _tell_time(encoder: Encoder, shards: Shards, monitor: Monitor) -> None:
    """Say how long a long run will take, from a sample of sentences of all lengths."""
    (characters, sentences), work = shards.left(), shards.work
    if sentences < _LONG:
        return
    sample = np.linspace(0, len(work) - 1, _TIMED).astype(int)
    texts, spans = work.rows(sample)
    encoder.encode(texts[:_WARM], spans[:_WARM], **work.told(sample[:_WARM]))
    begun = time.perf_counter()
    encoder.encode(texts, spans, **work.told(sample))
    spent = time.perf_counter() - begun
    monitor.note(f"{sentences:,} sentences to encode, in about {duration(spent * characters / sum(map(len, texts)))}")


def _make_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise UserError(f"the store {str(folder)!r} would be a folder, but there is a file of that name")
    if folder.is_dir():
        names = {name for name in os.listdir(folder) if not name.startswith(".")}
        ours = {name for name in names if name.startswith((INDEX, UNFINISHED, f"{VECTORS}.", f"{OCCURRENCES}."))}
        if names and not ours:
            raise UserError(f"the folder {str(folder)!r} holds other files; choose an empty or a new one for the store")
    folder.mkdir(parents=True, exist_ok=True)


def refuse_other(store: Siblings, settings: dict[str, Any]) -> None:
    """A store is made with one model and one set of rules."""
    difference = first_difference(store.settings, settings)
    if difference:
        raise UserError(f"the store {str(store.path)!r} was made with {difference}; choose another folder (--out)")
