"""Write a store: lock the folder, check its contents, encode missing usages, and publish the files atomically.

New files are written to the folder of unfinished work. The store changes at the moment when ``store.json`` is replaced;
then the new files replace the old ones. A reader finds a complete store at every moment.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from lexshift.encode import Encoder
from lexshift.encode.adaptation import period_numbers
from lexshift.encode.protocol import optional_attribute
from lexshift.errors import UserError
from lexshift.store.format import (
    FORMAT,
    INDEX,
    MAX_INDEX_BYTES,
    OCCURRENCES,
    PENDING,
    PLAN,
    UNFINISHED,
    VECTORS,
    WORK_FILES,
    digest,
    first_difference,
    max_words_bytes,
    read_plan,
    seal,
    store_fingerprint,
)
from lexshift.store.plan import Shard, StoreContents, plan_encoding
from lexshift.store.shards import EncodeShards, ShardFolder, encode_shard, encode_shards
from lexshift.store.siblings import Siblings
from lexshift.store.speed import measure_speed
from lexshift.utils.arrays import Array, Indices, Matrix
from lexshift.utils.files import disk_faults, final_name, one_writer, sync_folder, write_whole
from lexshift.utils.monitor import Monitor, duration
from lexshift.utils.quantities import with_unit

LONG_RUN = 10_000
"""Number of sentences from which on a run begins with an estimate of its duration."""
COPIED_BYTES = 1 << 26
"""Size of the vectors that are gathered at a time; a shard is opened once for each such part."""
_COMPARED = 64  # sentences on which an approximate encoder is compared with the exact one
_PROBES = 3  # vectors that are encoded again to recognise an encoder without settings
_TOLERANCE = 1e-2  # of the length of a vector: half precision and other batches change it by less
_LOST = "occurrences whose word the tokenizer drops"
_TRUNCATED = "occurrences in sentences longer than the model's window, cut around the word"


@dataclass(frozen=True)
class StoreFolder:
    """The folder of a store of which this process is the only writer; made by :func:`open_store`.

    Attributes
    ----------
    path : Path
    settings : dict
        The settings that determine the vectors.
    store : Siblings, optional
        The store that is in the folder.
    is_temporary : bool
        Whether the folder is removed with the last object that reads it.
    """

    path: Path
    settings: dict[str, Any]
    store: Siblings | None
    is_temporary: bool

    def write(
        self, contents: StoreContents, encoder: Encoder, monitor: Monitor, encode: EncodeShards | None = None
    ) -> Siblings:
        """Encode the usages that the store lacks, and publish the new store.

        Parameters
        ----------
        contents : StoreContents
            The usages of the new store.
        encoder : Encoder
        monitor : Monitor
        encode : callable, optional
            Encodes shards elsewhere than in this process.
        """
        n_words, n_corpora = contents.counts.shape
        if max_words_bytes(contents.forms, n_corpora) > MAX_INDEX_BYTES:  # the index could not be read again
            raise UserError(f"{n_words:,} words in {n_corpora:,} corpora are too many for one store; use fewer words")
        store, fingerprint = self.store, store_fingerprint(self.settings, contents.forms, contents.corpora)
        labels = [entry["label"] for entry in contents.corpora]
        periods = list(optional_attribute(encoder, "periods") or ())
        is_anonymous = not isinstance(optional_attribute(encoder, "settings"), Mapping)
        if store is not None and is_anonymous:
            n_rows = store.index["rows"]
            rows = np.unique(np.linspace(0, n_rows - 1, min(_PROBES, n_rows)).astype(int))
            sample = plan_encoding(store.occurrences.take(rows), periods=number_periods(encoder, store.corpora))
            source = f"the store {str(store.path)!r}"
            _check_encoder(encoder, sample.select(sample.positions), store.vectors[rows], source)
        if store is not None and store.fingerprint == fingerprint:
            monitor.note("the store is complete already; nothing is encoded")
            return store
        numbers = number_periods(encoder, labels)
        if numbers is not None and [periods[number] for number in numbers.values()] != labels:
            monitor.note(f"{', '.join(labels)} are used as the model's periods {', '.join(periods)}, in this order")
        plan = plan_encoding(contents.table, store, numbers)
        record = {
            "fingerprint": fingerprint,
            "added to": store.fingerprint if store is not None else None,
            "settings": self.settings,
            "words": digest(list(contents.forms.items())),
            "corpora": {entry["label"]: entry["content"] for entry in contents.corpora},
            "work": hashlib.sha256(b"".join(plan.digests)).hexdigest(),
        }
        shards = ShardFolder(self.path / UNFINISHED, plan, np.dtype(self.settings["precision"]), record)
        shards.begin()
        if is_anonymous:
            positions, vectors = shards.sample(_PROBES)
            _check_encoder(encoder, plan.select(positions), vectors, f"the work in {str(shards.folder)!r}")
        _report_run(encoder, shards, encode is None, monitor)
        shards.encode(encode or partial(encode_shards, encoder), monitor)
        with disk_faults(self.path):
            _publish(self.path, contents, shards, self.settings, monitor)
        siblings = Siblings(self.path)
        if self.is_temporary:  # selections of the store share its vectors
            weakref.finalize(siblings.vectors, shutil.rmtree, self.path, ignore_errors=True)
        return siblings


@contextmanager
def open_store(out: str | os.PathLike[str] | None, settings: dict[str, Any], encoder: Encoder) -> Iterator[StoreFolder]:
    """Make the folder of a store or open one, as its only writer.

    Parameters
    ----------
    out : path, optional
        The folder; by default a temporary one.
    settings : dict
        The settings that determine the vectors, without those of the encoder; a store with other settings is refused.
    encoder : Encoder
    """
    settings = with_encoder(settings, encoder)
    folder = Path(tempfile.mkdtemp(prefix="lexshift-") if out is None else out)
    try:
        with disk_faults(folder):
            check_store_folder(folder)
            folder.mkdir(parents=True, exist_ok=True)
        with one_writer(folder):
            with disk_faults(folder):
                finish_interrupted_write(folder)
            yield StoreFolder(folder, settings, find_store(folder, settings), out is None)
    except BaseException:
        if out is None:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def number_periods(encoder: Encoder, labels: Sequence[str]) -> dict[str, int] | None:
    """Return the number of the period of each corpus; None for an encoder that does not distinguish periods."""
    periods = list(optional_attribute(encoder, "periods") or ())
    return dict(zip(labels, period_numbers(periods, labels), strict=True)) if periods else None


def with_encoder(settings: Mapping[str, Any], encoder: Encoder) -> dict[str, Any]:
    """Return the settings of a store with those of its encoder."""
    described = optional_attribute(encoder, "settings")
    if not isinstance(described, Mapping):
        described = {"model": f"{type(encoder).__module__}.{type(encoder).__qualname__}"}
    return {**settings, "encoder": json.loads(json.dumps(dict(described), default=str))}


def find_store(folder: Path, settings: Mapping[str, Any]) -> Siblings | None:
    """Return the store in a folder, or None if there is none; a store with other settings is refused."""
    store = Siblings(folder) if os.path.lexists(folder / INDEX) else None
    if store is not None:
        _refuse_other_settings(folder, store.settings, settings)
    return store


def check_store_settings(folder: Path, settings: Mapping[str, Any]) -> None:
    """Refuse a store that was made with other settings than these, which do not describe its encoder."""
    if os.path.lexists(folder / INDEX):
        stored = Siblings(folder).settings
        _refuse_other_settings(folder, {key: value for key, value in stored.items() if key != "encoder"}, settings)


def _refuse_other_settings(folder: Path, stored_settings: dict[str, Any], settings: Mapping[str, Any]) -> None:
    if difference := first_difference(stored_settings, dict(settings)):
        raise UserError(f"the store {str(folder)!r} was made with {difference}; choose another folder (--out)")


def check_store_folder(folder: Path) -> None:
    """Refuse a folder for a store that has files but neither a store nor the plan of one; nothing is written."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"the store {str(folder)!r} would be a folder, but there is a file of that name")
    if folder.is_symlink() and not folder.exists():
        raise UserError(f"the store {str(folder)!r} is a link to a folder that is not there")
    if folder.is_dir() and not os.path.lexists(folder / INDEX):
        work = folder / UNFINISHED
        names = {name for name in os.listdir(folder) if not name.startswith(".")}
        if work.is_dir() and not work.is_symlink() and all(name.startswith(".") for name in os.listdir(work)):
            names.remove(UNFINISHED)  # a run was stopped before it wrote its plan
        if names and (UNFINISHED not in names or read_plan(work) is None):
            raise UserError(f"the folder {str(folder)!r} holds other files; choose an empty or a new one for the store")
        _refuse_foreign_files(folder)


def _refuse_foreign_files(folder: Path) -> None:
    """Refuse a folder for a new store in which there are files with the names of those of a store."""
    for name in (INDEX, OCCURRENCES, VECTORS):
        if os.path.lexists(folder / name):
            raise UserError(
                f"{str(folder / name)!r} is not part of a store of lexshift; move it away or choose another folder"
            )


def finish_interrupted_write(folder: Path) -> None:
    """Complete an interrupted write: move the files of the store to their places, and remove finished work."""
    work = folder / UNFINISHED
    fingerprint = Siblings(folder).fingerprint if os.path.lexists(folder / INDEX) else None
    if fingerprint is not None:
        for name in (OCCURRENCES, VECTORS):
            pending = work / PENDING.format(name, fingerprint)
            if pending.exists():
                os.replace(pending, folder / name)
        sync_folder(folder)
    plan = read_plan(work)
    if plan is not None and plan["fingerprint"] == fingerprint:
        for name in os.listdir(work):
            final = final_name(name)
            if WORK_FILES.fullmatch(final) or (final == PLAN != name):
                os.unlink(work / name)
        sync_folder(work)
        os.unlink(work / PLAN)  # the plan is deleted last, because it shows that the other files belong to a run
    if fingerprint is not None and (plan is None or plan["fingerprint"] == fingerprint):
        with suppress(OSError):  # the folder may hold other files, or not exist
            work.rmdir()


def _check_encoder(encoder: Encoder, shard: Shard, vectors: Matrix, source: str) -> None:
    """Raise an error if an encoder does not reproduce vectors, (n, d), that an encoder of its class computed."""
    if not shard.sentences:
        return
    first = encode_shard(encoder, shard).vectors
    if _are_close(first, vectors):
        return
    name = f"{type(encoder).__module__}.{type(encoder).__qualname__}"
    if not _are_close(first, encode_shard(encoder, shard).vectors):
        raise UserError(
            f"the encoder {name} gives other vectors each time for the same sentence, so it cannot be compared with "
            f"the one that {source} was made with; make it repeatable, give it 'settings', or choose another folder "
            f"(--out)"
        )
    raise UserError(
        f"{source} was made with another encoder: this {name} gives other vectors for the same sentences; choose "
        f"another folder (--out)"
    )


def _are_close(vectors: Matrix, reference: Matrix) -> bool:
    """Return whether two sets of vectors, (n, d), differ by no more than another batch or rounding would explain."""
    if vectors.shape != reference.shape or (np.isnan(vectors) != np.isnan(reference)).any():
        return False
    a, b = np.nan_to_num(vectors).astype(np.float64), np.nan_to_num(reference).astype(np.float64)
    return bool((np.linalg.norm(a - b, axis=1) <= _TOLERANCE * np.linalg.norm(b, axis=1)).all())


def _report_run(encoder: Encoder, shards: ShardFolder, is_local: bool, monitor: Monitor) -> None:
    """Report the deviation of an approximate encoder and the expected duration of a long run, from samples."""
    plan = shards.plan
    if optional_attribute(encoder, "is_approximate") and len(plan):
        shard = plan.select(np.linspace(0, len(plan) - 1, min(_COMPARED, len(plan))).astype(int))
        deviation = encoder.deviation(shard.sentences, shard.spans, **shard.keywords)  # type: ignore[attr-defined]
        deviation = deviation[np.isfinite(deviation)]  # without words that the tokenizer drops
        if len(deviation):
            monitor.note(
                f"int8 is approximate: on {with_unit(len(deviation), 'occurrences')} the cosine with full precision is "
                f"{1 - deviation.mean():.4f} on average and {1 - deviation.max():.4f} at worst"
            )
    characters, sentences = plan.sizes[~shards.find_finished()].sum(axis=0).tolist()
    if is_local and sentences >= LONG_RUN:
        seconds = measure_speed(encoder, plan).seconds_per_character * characters
        monitor.note(f"{with_unit(sentences, 'sentences')} to encode, in about {duration(seconds)}")


def _publish(
    folder: Path, contents: StoreContents, shards: ShardFolder, settings: dict[str, Any], monitor: Monitor
) -> None:
    """Write the files of a store from the shards of its vectors, and put them in place."""
    is_new = shards.plan.store is None
    if is_new:
        _refuse_foreign_files(folder)
    fingerprint: str = shards.record["fingerprint"]
    summary = shards.check()
    kept = ~summary.lost[shards.plan.positions]
    positions = shards.plan.positions[kept]
    truncated = summary.truncated[positions]
    n_corpora = len(contents.corpora)
    group = np.repeat(np.arange(contents.counts.size), contents.counts.reshape(-1))[kept]
    counts = np.bincount(group, minlength=contents.counts.size).reshape(contents.counts.shape)
    n_truncated = np.bincount(group[truncated] % n_corpora, minlength=n_corpora)
    corpora = _describe_losses(contents, counts, n_truncated, monitor)
    ends = np.cumsum(counts).reshape(counts.shape)
    bounds = np.stack([ends - counts, ends], axis=2)  # (words, corpora, 2)
    vectors = shards.folder / PENDING.format(VECTORS, fingerprint)
    vectors_record, checksums = _write_vectors(vectors, shards, positions, summary.dimensions, ends, monitor)

    occurrences = contents.table.filter(pa.array(kept))
    if truncated.any():
        occurrences = occurrences.append_column("truncated", pa.array(truncated))
    table = io.BytesIO()
    parquet.write_table(occurrences, table, compression="zstd")
    write_whole(shards.folder / PENDING.format(OCCURRENCES, fingerprint), table.getvalue())
    table_record = {"size": table.tell(), "sha256": hashlib.sha256(table.getvalue()).hexdigest()}

    index = {
        "format": FORMAT,
        "fingerprint": fingerprint,
        "settings": settings,
        "corpora": corpora,
        "words": [
            {"word": word, "forms": list(forms), "found": found, "rows": rows, "checksums": sums}
            for (word, forms), found, rows, sums in zip(
                contents.forms.items(), contents.found.tolist(), bounds.tolist(), checksums.tolist(), strict=True
            )
        ],
        "rows": len(positions),
        "dimensions": summary.dimensions,
        "dtype": shards.dtype.name,
        "files": {VECTORS: vectors_record, OCCURRENCES: table_record},
    }
    if is_new:  # check again, because writing takes time
        _refuse_foreign_files(folder)
    write_whole(folder / INDEX, seal(index))
    finish_interrupted_write(folder)


def _describe_losses(
    contents: StoreContents, counts: Array, n_truncated: Array, monitor: Monitor
) -> list[dict[str, Any]]:
    """Report words that the encoder did not see and sentences that it truncated; return the records of the corpora.

    ``counts`` are the vectors of each word in each corpus, (words, corpora), and ``n_truncated`` those in each corpus
    whose sentence was truncated, (corpora,).
    """
    lost = (contents.counts - counts).sum(axis=0)
    if lost.any() and not counts.any():
        monitor.note(
            f"the encoder gave only NaN, which means that it does not see the word, for every occurrence "
            f"({lost.sum():,} in total): its tokenizer drops these words, or its weights hold NaN"
        )
    if n_truncated.any():
        monitor.note(
            f"the model's window is shorter than the sentences of {n_truncated.sum():,} of "
            f"{with_unit(counts.sum(), 'occurrences')}: only the part around the word was encoded (--window)"
        )
    losses = {_LOST: lost.tolist(), _TRUNCATED: n_truncated.tolist()}
    return [
        {**entry, "skipped": entry["skipped"] | {reason: ns[i] for reason, ns in losses.items() if ns[i]}}
        for i, entry in enumerate(contents.corpora)
    ]


def _write_vectors(
    path: Path, shards: ShardFolder, positions: Indices, dimensions: int, ends: Array, monitor: Monitor
) -> tuple[dict[str, Any], Array]:
    """Write the vectors at some positions; return the record of the file, and the checksum of each group of rows.

    The groups are the rows of each word in each corpus; ``ends`` and the checksums are (words, corpora).
    """
    header = io.BytesIO()
    shape = {
        "descr": np.lib.format.dtype_to_descr(shards.dtype),
        "fortran_order": False,
        "shape": (len(positions), dimensions),
    }
    np.lib.format.write_array_header_1_0(header, shape)
    step = max(1, COPIED_BYTES // max(1, dimensions * shards.dtype.itemsize))
    checksums = np.zeros(ends.size, np.int64)
    monitor.stage("writing", len(positions), "rows")

    def write(file: IO[bytes]) -> None:
        file.write(header.getvalue())
        buffer = np.empty((min(step, len(positions)), dimensions), shards.dtype)
        for begin in range(0, len(positions), step):
            end = min(begin + step, len(positions))
            rows = buffer[: end - begin]
            shards.gather(positions[begin:end], rows)
            file.write(rows.data)
            first, last = np.searchsorted(ends.reshape(-1), (begin, end), "right")
            cuts = np.clip(ends.reshape(-1)[first : last + 1], begin, end)
            for group, (top, bottom) in enumerate(pairwise([begin, *cuts.tolist()]), first):
                checksums[group] = zlib.crc32(rows[top - begin : bottom - begin].data, int(checksums[group]))
            monitor.advance(end)

    write_whole(path, write)
    record = {
        "size": path.stat().st_size,
        "head": header.tell(),
        "sha256": hashlib.sha256(header.getvalue()).hexdigest(),
    }
    return record, checksums.reshape(ends.shape)
