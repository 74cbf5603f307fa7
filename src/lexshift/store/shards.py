"""Checkpointed encoding: vectors are written in shards, each an atomically renamed file, so that a run can resume."""

from __future__ import annotations

import hashlib
import json
import mmap
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from lexshift.encode import Encoder
from lexshift.encode.protocol import optional_attribute
from lexshift.errors import UserError
from lexshift.store.format import PLAN, SHARD, first_difference, read_plan
from lexshift.store.plan import EncodingPlan, Shard
from lexshift.utils.arrays import Array, Indices, Matrix
from lexshift.utils.files import disk_faults, open_plain, write_whole
from lexshift.utils.monitor import Monitor

_DIGEST = hashlib.sha256().digest_size


class EncodedShard(NamedTuple):
    """The vectors of a shard, (rows, d), and for each row whether its sentence was truncated, (rows,)."""

    vectors: Matrix
    truncated: Array


class VectorSummary(NamedTuple):
    """Properties of all vectors of a new store.

    Attributes
    ----------
    lost, truncated : ndarray of shape (positions,)
        Whether the encoder does not see the word, and whether its sentence was truncated; in the order of the rows of
        the old store, then of the words that were encoded.
    dimensions : int
        0 if there are no vectors.
    """

    lost: Array
    truncated: Array
    dimensions: int


EncodeShards: TypeAlias = Callable[[Iterable[Shard], Callable[[int, float], None]], Iterator[tuple[int, EncodedShard]]]
"""Encodes shards and yields them with their numbers, in any order; calls back with a number and the share done."""


@dataclass(frozen=True)
class ShardFolder:
    """The shards of a run that is not finished.

    Attributes
    ----------
    folder : Path
    plan : EncodingPlan
    dtype : dtype
        The precision of the vectors on disk.
    record : dict
        The record of the run, written to ``plan.json``.
    """

    folder: Path
    plan: EncodingPlan
    dtype: np.dtype[Any]
    record: dict[str, Any]

    def begin(self) -> None:
        """Write the plan, or check that the unfinished work in the folder belongs to the same run."""
        begun = read_plan(self.folder)
        if begun is None:
            with disk_faults(self.folder.parent):
                self.folder.mkdir(exist_ok=True)
                write_whole(self.folder / PLAN, json.dumps(self.record, indent=1).encode())
            return
        if any(begun[key] != self.record[key] for key in ("fingerprint", "added to")):
            why = first_difference(begun["settings"], self.record["settings"]) or (
                "other words" if begun["words"] != self.record["words"] else "other corpora"
            )
            raise UserError(
                f"{str(self.folder)!r} holds the unfinished work of a run with {why}: finish that run with its own "
                f"command, or delete that folder"
            )
        if begun["work"] != self.record["work"]:
            raise UserError(
                f"{str(self.folder)!r} holds the unfinished work of a run that cut these corpora into other sentences, "
                f"as another version of lexshift or of its sentence splitter does: finish it with that version, or "
                f"delete that folder and run again"
            )

    def find_finished(self) -> Array:
        """Return a boolean array of shape (shards,), True for finished shards."""
        numbers = range(len(self.plan.bounds) - 1)
        return np.array([(self.folder / SHARD.format(number)).exists() for number in numbers], bool)

    def encode(self, encode: EncodeShards, monitor: Monitor) -> None:
        """Encode every missing shard, and verify the finished ones."""
        sizes = self.plan.sizes
        monitor.stage("encoding", int(sizes[:, 0].sum()), "sentences")
        is_finished = self.find_finished()
        done = np.zeros(2, np.int64)

        def advance(number: int, share: float) -> None:
            characters, sentences = (done + (share * sizes[number]).astype(np.int64)).tolist()
            monitor.advance(characters, sentences)

        finished = ((number, self.read(number)) for number in np.flatnonzero(is_finished).tolist())
        bounds = self.plan.bounds
        missing = (self.plan.select(range(bounds[n], bounds[n + 1]), n) for n in np.flatnonzero(~is_finished).tolist())
        dimensions = self.plan.store.index["dimensions"] if self.plan.store is not None else None
        for number, shard in chain(finished, encode(missing, advance)):
            width = shard.vectors.shape[1]
            if dimensions is not None and width != dimensions:
                raise UserError(f"the encoder gives vectors of {width} dimensions, but gave {dimensions} before")
            dimensions = width
            if not is_finished[number]:
                self._write(number, shard)
            done += sizes[number]
            monitor.advance(int(done[0]), int(done[1]))

    def _write(self, number: int, shard: EncodedShard) -> None:
        """Write a shard in the precision of the store."""
        with np.errstate(over="ignore"):
            vectors = np.ascontiguousarray(shard.vectors, self.dtype)
        if np.isinf(vectors).any():
            raise UserError(
                f"the encoder gives values too large for {self.dtype.name}; store them as float32 (--precision)"
            )
        data = (vectors.reshape(-1).data, shard.truncated.data)
        parts = (*data, self._digest(number, *data))
        with disk_faults(self.folder):
            write_whole(self.folder / SHARD.format(number), lambda file: file.writelines(parts))

    def _digest(self, number: int, *data: memoryview) -> bytes:
        """Return the SHA-256 of the content of a shard, the identity of the run, and its input."""
        made_for = f"{self.record['fingerprint']} {self.record['added to']} {number}\n"
        digest = hashlib.sha256(made_for.encode() + self.plan.digests[number])
        for part in data:
            digest.update(part)
        return digest.digest()

    def read(self, number: int, verify: bool = True) -> EncodedShard:
        """Return a shard, mapped into memory; its file is closed again when the result is gone."""
        rows = self.plan.bounds[number + 1] - self.plan.bounds[number]
        path, data = self.folder / SHARD.format(number), memoryview(b"")
        try:
            with open_plain(path) as file:
                size = os.fstat(file.fileno()).st_size - _DIGEST - rows
                if size > 0 and size % (rows * self.dtype.itemsize) == 0:
                    data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except ValueError:  # not a plain file
            pass
        if not data or (verify and self._digest(number, data[:-_DIGEST]) != data[-_DIGEST:]):
            raise UserError(
                f"the shard {str(path)!r} is damaged: delete it and run the same command again to make it anew"
            )
        end = len(data) - _DIGEST - rows
        vectors = np.frombuffer(data[:end], self.dtype).reshape(rows, -1)
        return EncodedShard(vectors, np.frombuffer(data[end:-_DIGEST], bool))

    def sample(self, n: int) -> tuple[Indices, Matrix]:
        """Return the first row of up to ``n`` finished shards: its place in the plan, and its vector."""
        done = np.flatnonzero(self.find_finished())
        chosen = done[np.unique(np.linspace(0, len(done) - 1, n).astype(int))].tolist() if len(done) else []
        vectors = [self.read(number).vectors[0] for number in chosen]
        return np.array([self.plan.bounds[number] for number in chosen], np.int64), np.array(vectors)

    def check(self) -> VectorSummary:
        """Compare all vectors with their checksums: those of the old store, then those of the shards."""
        lost, truncated = [np.empty(0, bool)], [np.empty(0, bool)]
        dimensions, store = 0, self.plan.store
        if store is not None:
            store.check()
            lost.append(np.zeros(self.plan.reused, bool))
            truncated.append(store.is_truncated)
            dimensions = store.index["dimensions"]
        for number in range(len(self.plan.bounds) - 1):
            shard = self.read(number)
            lost.append(np.isnan(shard.vectors[:, 0]))  # a row is all NaN or has none
            truncated.append(np.array(shard.truncated))
            dimensions = shard.vectors.shape[1]
        return VectorSummary(np.concatenate(lost), np.concatenate(truncated), dimensions)

    def gather(self, positions: Indices, into: Matrix) -> None:
        """Copy vectors into an array, with one shard open at a time; the shards must have been checked.

        Parameters
        ----------
        positions : ndarray of shape (n,), int64
            Positions in the plan.
        into : ndarray of shape (n, d)
            Filled with the vectors.
        """
        order = np.argsort(positions, kind="stable")
        wanted = positions[order]
        edges = np.concatenate([[0], self.plan.reused + np.array(self.plan.bounds, np.int64)])  # old store, then shards
        splits = np.searchsorted(wanted, edges)
        for part in np.flatnonzero(np.diff(splits)).tolist():
            here = slice(splits[part], splits[part + 1])
            if part == 0:
                assert self.plan.store is not None
                vectors = self.plan.store.vectors
            else:
                vectors = self.read(part - 1, verify=False).vectors
            into[order[here]] = vectors[wanted[here] - edges[part]]


def encode_shards(
    encoder: Encoder, shards: Iterable[Shard], advance: Callable[[int, float], None]
) -> Iterator[tuple[int, EncodedShard]]:
    """Encode one shard after another in this process."""
    for shard in shards:
        yield shard.number, encode_shard(encoder, shard, partial(advance, shard.number))


def encode_shard(encoder: Encoder, shard: Shard, advance: Callable[[float], None] = lambda _: None) -> EncodedShard:
    """Encode a shard, and refuse vectors that cannot be stored."""
    keywords: dict[str, Any] = dict(shard.keywords)
    truncated = np.zeros(len(shard.sentences), bool)
    if optional_attribute(encoder, "reports_progress"):
        keywords["advance"] = advance
    if optional_attribute(encoder, "marks_truncated"):
        keywords["truncated"] = truncated
    vectors = np.asarray(encoder.encode(shard.sentences, shard.spans, **keywords))
    if vectors.ndim != 2 or len(vectors) != len(shard.sentences) or vectors.dtype.kind != "f":
        raise UserError(
            f"the encoder gave an array of {vectors.dtype} of shape {vectors.shape} for {len(shard.sentences)} words; "
            f"it must give one row of floats for each"
        )
    if not vectors.shape[1]:
        raise UserError("the encoder gave vectors of zero dimensions; it must give at least one number for each word")
    if np.isinf(vectors).any():
        raise UserError("the encoder gave infinite values; use a wider dtype, such as fp32 (--dtype)")
    missing = np.isnan(vectors)
    partly = np.flatnonzero(missing.any(1) & ~missing.all(1))
    if len(partly):
        start, end = shard.spans[partly[0]]
        word = shard.sentences[partly[0]][start:end]
        raise UserError(
            f"the encoder gave NaN among the values of {len(partly)} of {len(vectors)} vectors, first for "
            f"{word!r}; check its weights, or use a wider dtype, such as fp32 (--dtype)"
        )
    return EncodedShard(vectors, truncated)
