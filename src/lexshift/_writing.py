"""Putting a finished store in place.

The new files are written beside the old ones under names of their own; replacing ``store.json`` is the moment at which
the store becomes the new one; then they take their names. A reader finds a whole store at every moment.
"""

from __future__ import annotations

import hashlib
import io
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from lexshift._contents import Contents
from lexshift._files import sync_folder, write_whole
from lexshift._settings import FORMAT
from lexshift._shards import Shards, begun_for, remove_work
from lexshift._typing import Array, Indices, Matrix
from lexshift.monitor import Monitor
from lexshift.siblings import INDEX, OCCURRENCES, UNFINISHED, VECTORS, Siblings, pending, raw, seal

_ROWS = 1 << 14  # written at a time
_LOST = "occurrences whose word the tokenizer drops"


def write_store(
    folder: Path, contents: Contents, shards: Shards, fingerprint: str, settings: dict[str, Any], monitor: Monitor
) -> None:
    """Write the files of a store from the shards of its vectors, and put them in place."""
    parts = shards.parts()
    place = shards.work.row_of
    kept = ~_lost(parts)[place] if len(place) else np.empty(0, bool)
    group = np.repeat(np.arange(contents.counts.size), contents.counts.reshape(-1))
    sizes = np.bincount(group[kept], minlength=contents.counts.size)
    lost = (contents.counts.reshape(-1) - sizes).reshape(contents.counts.shape)
    place, ends = place[kept], np.cumsum(sizes)
    bounds = np.stack([ends - sizes, ends], axis=1)  # (groups, 2)
    dimensions = parts[-1].shape[1] if parts else 0

    monitor.stage("writing", len(place), "rows")
    checksums: list[int] = []
    vectors = pending(folder, VECTORS, fingerprint)

    def write_vectors(file: IO[bytes]) -> None:
        header = {"descr": np.lib.format.dtype_to_descr(shards.dtype), "fortran_order": False}
        np.lib.format.write_array_header_1_0(file, {**header, "shape": (len(place), dimensions)})
        for begin, end in bounds.tolist():
            checksum = 0
            for rows in _gathered(parts, place[begin:end]):
                checksum = zlib.crc32(raw(rows), checksum)
                file.write(raw(rows))
            checksums.append(checksum)
            monitor.advance(end)

    write_whole(vectors, write_vectors)
    table = _parquet(contents.table.filter(pa.array(kept)))
    write_whole(pending(folder, OCCURRENCES, fingerprint), lambda file: file.write(table))

    corpora = [dict(entry) for entry in contents.corpora]
    for entry, n in zip(corpora, lost.sum(0).tolist(), strict=True):
        if n:
            entry["skipped"] = {**entry["skipped"], _LOST: n}
    wide = contents.counts.shape[1]
    words = [
        {
            "word": word,
            "forms": list(forms),
            "found": contents.found[i].tolist(),
            "rows": bounds[i * wide : (i + 1) * wide].tolist(),
            "checksums": checksums[i * wide : (i + 1) * wide],
        }
        for i, (word, forms) in enumerate(contents.forms.items())
    ]
    size = vectors.stat().st_size
    head = size - len(place) * dimensions * shards.dtype.itemsize
    with vectors.open("rb") as file:
        header = file.read(head)
    index = {
        "format": FORMAT,
        "fingerprint": fingerprint,
        "settings": settings,
        "corpora": corpora,
        "words": words,
        "rows": len(place),
        "dimensions": dimensions,
        "dtype": shards.dtype.name,
        "files": {
            VECTORS: {"size": size, "head": head, "sha256": hashlib.sha256(header).hexdigest()},
            OCCURRENCES: {"size": len(table), "sha256": hashlib.sha256(table).hexdigest()},
        },
    }
    write_whole(folder / INDEX, lambda file: file.write(seal(index)))
    settle(folder)


def settle(folder: Path) -> None:
    """Finish what a writer that was stopped could not: give files their names, remove the work and what is nobody's."""
    work = folder / UNFINISHED
    fingerprint = Siblings(folder).fingerprint if (folder / INDEX).exists() else None
    for name in (OCCURRENCES, VECTORS):
        if fingerprint is not None and pending(folder, name, fingerprint).exists():
            os.replace(pending(folder, name, fingerprint), folder / name)
        kept = begun_for(work)
        for path in folder.glob(f"{name}.*"):
            if kept is None or path != pending(folder, name, kept):
                path.unlink()
    sync_folder(folder)
    if not work.exists() or (fingerprint is not None and begun_for(work) == fingerprint):
        remove_work(work)


def _parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _lost(parts: list[Matrix]) -> Array:
    """Which vectors are not there, the encoder not having seen the word: (all vectors,)."""
    return np.concatenate([np.isnan(part[:, 0]) for part in parts]) if parts else np.empty(0, bool)


def _gathered(parts: list[Matrix], place: Indices) -> Iterator[Matrix]:
    """The vectors at some places, a piece at a time."""
    ends = np.cumsum([len(part) for part in parts])
    for begin in range(0, len(place), _ROWS):
        wanted = place[begin : begin + _ROWS]
        rows = np.empty((len(wanted), parts[0].shape[1]), parts[0].dtype)
        source = np.searchsorted(ends, wanted, side="right")
        for number in np.unique(source):
            here = source == number
            rows[here] = parts[number][wanted[here] - (ends[number] - len(parts[number]))]
        yield rows
