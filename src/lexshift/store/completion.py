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

from lexshift.encode import Encoder
from lexshift.encode.adaptation import period_numbers
from lexshift.encode.protocol import Span, optional_attribute
from lexshift.errors import UserError
from lexshift.store.contents import Contents
from lexshift.store.format import digest, first_difference, has_settings, identity
from lexshift.store.shards import Encode, Piece, Shards, Work, encode_with, encoded, read_plan
from lexshift.store.siblings import INDEX, UNFINISHED, Siblings
from lexshift.store.validation import MOST_BYTES, words_size
from lexshift.store.writer import refuse_foreign_files, settle, write_store
from lexshift.utils.arrays import Matrix
from lexshift.utils.files import disk_faults, one_writer
from lexshift.utils.monitor import Monitor, Silent, duration

_SAMPLE = 64  # sentences on which an approximate encoder is compared with the exact one
_PROBES = 3  # vectors that are made again to see whether an encoder without settings is the one of before
_TOLERANCE = 1e-2  # of the length of a vector: half precision and other batches change it by less
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
        return run(folder, Siblings(folder) if os.path.lexists(folder / INDEX) else None)


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
    words, corpora = contents.counts.shape
    if words_size(contents.forms, corpora) > MOST_BYTES:
        raise UserError(f"{words:,} words in {corpora:,} corpora are too many for one store; take fewer words")
    fingerprint = digest(identity(settings, contents.forms, contents.corpora))
    if store is not None and not has_settings(encoder):
        _check_encoder_of_store(encoder, store)
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
        "work": work.digest,
    }
    shards = Shards(folder / UNFINISHED, work, settings["precision"], plan)
    shards.begin()
    if not has_settings(encoder):
        sample, vectors = shards.sample(_PROBES)
        _check_encoder(encoder, *work.rows(sample), work.told(sample), vectors, f"the work in {str(shards.folder)!r}")
    _tell_deviation(encoder, work, monitor)
    if encode is None:
        _tell_time(encoder, shards, monitor)
    shards.encode(encode or encode_with(encoder), monitor)
    with disk_faults(folder):
        write_store(folder, contents, shards, fingerprint, settings, monitor)
    return Siblings(folder)


def _check_encoder_of_store(encoder: Encoder, store: Siblings) -> None:
    """Refuse an encoder without settings that gives other vectors than those of a store."""
    n = store.index["rows"]
    sample = np.unique(np.linspace(0, n - 1, min(_PROBES, n)).astype(int))
    rows = store.occurrences.take(sample).to_pydict()
    numbers = _periods(encoder, store.corpora, Silent())
    told = {} if numbers is None else {"periods": [numbers[label] for label in rows["corpus"]]}
    spans = list(zip(rows["start"], rows["end"], strict=True))
    _check_encoder(encoder, rows["sentence"], spans, told, store.vectors[sample], f"the store {str(store.path)!r}")


def _check_encoder(
    encoder: Encoder, sentences: list[str], spans: list[Span], told: dict[str, list[int]], vectors: Matrix, what: str
) -> None:
    """Refuse an encoder that does not give the vectors which an encoder of its class gave before."""
    if not sentences:
        return
    piece = Piece(0, sentences, spans, told)
    now = encoded(encoder, piece, lambda _: None).vectors
    if _are_close(now, vectors):
        return
    name = f"{type(encoder).__module__}.{type(encoder).__qualname__}"
    if not _are_close(now, encoded(encoder, piece, lambda _: None).vectors):
        raise UserError(
            f"the encoder {name} gives other vectors each time for the same sentence, so it cannot be compared with "
            f"the one that {what} was made with; make it repeatable, give it 'settings', or choose another folder "
            f"(--out)"
        )
    raise UserError(
        f"{what} was made with another encoder: this {name} gives other vectors for the same sentences; choose another "
        f"folder (--out)"
    )


def _are_close(ours: Matrix, theirs: Matrix) -> bool:
    """Return whether two sets of vectors, (n, d), differ by no more than another batch or rounding would explain."""
    if ours.shape != theirs.shape or (np.isnan(ours) != np.isnan(theirs)).any():
        return False
    a, b = np.nan_to_num(ours).astype(np.float64), np.nan_to_num(theirs).astype(np.float64)
    return bool((np.linalg.norm(a - b, axis=1) <= _TOLERANCE * np.linalg.norm(b, axis=1)).all())


def check_periods(encoder: Encoder, labels: list[str]) -> None:
    """Refuse corpora that are not of the periods that an encoder tells apart."""
    if optional_attribute(encoder, "periods"):
        period_numbers(optional_attribute(encoder, "periods"), labels)


def _periods(encoder: Encoder, labels: list[str], monitor: Monitor) -> dict[str, int] | None:
    """The number of each corpus's period, for an encoder that tells periods apart."""
    periods = optional_attribute(encoder, "periods")
    if not periods:
        return None
    numbers = period_numbers(periods, labels)
    if [periods[number] for number in numbers] != labels:
        monitor.note(f"{', '.join(labels)} are taken for the model's periods {', '.join(periods)}, in this order")
    return dict(zip(labels, numbers, strict=True))


def _tell_deviation(encoder: Encoder, work: Work, monitor: Monitor) -> None:
    """Say on a sample how far an approximate encoder is from the exact one."""
    if not optional_attribute(encoder, "is_approximate") or not len(work):
        return
    sample = np.linspace(0, len(work) - 1, min(_SAMPLE, len(work))).astype(int)
    off = encoder.deviation(*work.rows(sample), **work.told(sample))  # type: ignore[attr-defined]
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
    """Make the folder of a store, or refuse one with files in it but neither a store nor the plan of one."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"the store {str(folder)!r} would be a folder, but there is a file of that name")
    if folder.is_symlink() and not folder.exists():
        raise UserError(f"the store {str(folder)!r} is a link to a folder that is not there")
    if folder.is_dir() and not os.path.lexists(folder / INDEX):
        names = _visible(folder)
        if UNFINISHED in names and not (folder / UNFINISHED).is_symlink() and not _visible(folder / UNFINISHED):
            names.remove(UNFINISHED)  # a run was stopped before it wrote its plan
        if names and (UNFINISHED not in names or read_plan(folder / UNFINISHED) is None):
            raise UserError(f"the folder {str(folder)!r} holds other files; choose an empty or a new one for the store")
        refuse_foreign_files(folder)
    folder.mkdir(parents=True, exist_ok=True)


def _visible(folder: Path) -> set[str]:
    """Return the names in a folder that are not hidden, or what is no folder as its only name."""
    if not folder.is_dir():
        return {folder.name}
    return {name for name in os.listdir(folder) if not name.startswith(".")}


def refuse_other(store: Siblings, settings: dict[str, Any]) -> None:
    """A store is made with one model and one set of rules."""
    difference = first_difference(store.settings, settings)
    if difference:
        raise UserError(f"the store {str(store.path)!r} was made with {difference}; choose another folder (--out)")
