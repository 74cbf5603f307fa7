"""Putting a finished store in place.

The new files are written into the folder of unfinished work; replacing ``store.json`` is the moment at which the store
becomes the new one; then they take the place of the old ones. A reader finds a whole store at every moment.
"""

from __future__ import annotations

import hashlib
import io
import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from lexshift.errors import UserError
from lexshift.store.contents import Contents
from lexshift.store.format import FORMAT
from lexshift.store.shards import Shards, read_plan, remove_work
from lexshift.store.siblings import INDEX, OCCURRENCES, UNFINISHED, VECTORS, Siblings, pending, raw, seal
from lexshift.utils.files import sync_folder, write_whole
from lexshift.utils.monitor import Monitor

_BYTES = 1 << 26  # of the vectors that are gathered at a time; a shard is opened once for each such part
_LOST = "occurrences whose word the tokenizer drops"
_TRUNCATED = "occurrences in sentences longer than the model's window, cut around the word"


def write_store(
    folder: Path, contents: Contents, shards: Shards, fingerprint: str, settings: dict[str, Any], monitor: Monitor
) -> None:
    """Write the files of a store from the shards of its vectors, and put them in place."""
    refuse_foreign_files(folder)
    marks = shards.check()
    place = shards.work.row_of
    kept = ~marks.lost[place]
    if len(kept) and not kept.any():
        monitor.note(
            f"the encoder gave only NaN, which means that it does not see the word, for all of the {len(kept):,} "
            f"occurrences: its tokenizer drops these words, or its weights hold NaN"
        )
    group = np.repeat(np.arange(contents.counts.size), contents.counts.reshape(-1))
    sizes = np.bincount(group[kept], minlength=contents.counts.size)
    lost = (contents.counts.reshape(-1) - sizes).reshape(contents.counts.shape)
    place, ends = place[kept], np.cumsum(sizes)
    truncated = marks.truncated[place]
    cut = np.bincount(group[kept][truncated], minlength=contents.counts.size).reshape(contents.counts.shape)
    bounds = np.stack([ends - sizes, ends], axis=1)  # (groups, 2)
    dimensions = shards.dimensions

    monitor.stage("writing", len(place), "rows")
    checksums = [0] * len(bounds)
    vectors = pending(folder, VECTORS, fingerprint)

    def write_vectors(file: IO[bytes]) -> None:
        header = {"descr": np.lib.format.dtype_to_descr(shards.dtype), "fortran_order": False}
        np.lib.format.write_array_header_1_0(file, {**header, "shape": (len(place), dimensions)})
        step = max(1, _BYTES // max(1, dimensions * shards.dtype.itemsize))
        number, limits = 0, bounds.tolist()
        buffer = np.empty((min(step, len(place)), dimensions), shards.dtype)
        for begin in range(0, len(place), step):
            end = min(begin + step, len(place))
            rows = buffer[: end - begin]
            shards.gather(place[begin:end], rows)
            while number < len(limits) and limits[number][0] < end:
                first, last = max(limits[number][0], begin), min(limits[number][1], end)
                data = raw(rows[first - begin : last - begin])
                checksums[number] = zlib.crc32(data, checksums[number])
                file.write(data)
                if limits[number][1] > end:
                    break  # the rest of its rows is in the next part
                monitor.advance(last)
                number += 1
        monitor.advance(len(place))

    write_whole(vectors, write_vectors)
    occurrences = contents.table.filter(pa.array(kept))
    if truncated.any():
        occurrences = occurrences.append_column("truncated", pa.array(truncated))
    table = _parquet(occurrences)
    write_whole(pending(folder, OCCURRENCES, fingerprint), lambda file: file.write(table))

    corpora = [dict(entry) for entry in contents.corpora]
    for entry, *numbers in zip(corpora, lost.sum(0).tolist(), cut.sum(0).tolist(), strict=True):
        told = {reason: n for reason, n in zip((_LOST, _TRUNCATED), numbers, strict=True) if n}
        entry["skipped"] = {**entry["skipped"], **told}
    if truncated.any():
        monitor.note(
            f"{truncated.sum():,} of {len(truncated):,} occurrences are in sentences longer than the model's window: "
            f"only the part around the word was encoded (--window)"
        )
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
    refuse_foreign_files(folder)
    write_whole(folder / INDEX, lambda file: file.write(seal(index)))
    settle(folder)


def refuse_foreign_files(folder: Path) -> None:
    """Refuse a folder without a store in which there are files of the names of a store."""
    for name in (OCCURRENCES, VECTORS):
        if os.path.lexists(folder / name) and not os.path.lexists(folder / INDEX):
            raise UserError(
                f"{str(folder / name)!r} is not part of a store of lexshift; move it away or choose another folder"
            )


def settle(folder: Path) -> None:
    """Finish what a stopped writer could not: put the files of the store in their place, and remove finished work."""
    work = folder / UNFINISHED
    fingerprint = Siblings(folder).fingerprint if os.path.lexists(folder / INDEX) else None
    if fingerprint is not None:
        for name in (OCCURRENCES, VECTORS):
            if pending(folder, name, fingerprint).exists():
                os.replace(pending(folder, name, fingerprint), folder / name)
        sync_folder(folder)
    plan = read_plan(work)
    if plan is not None and plan["fingerprint"] == fingerprint:
        remove_work(work)
    elif plan is None and fingerprint is not None:
        with suppress(OSError):  # a writer may have been stopped before it removed the empty folder
            work.rmdir()


def _parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()
