"""Forecast a store: how many usages it will hold, how many of them must be encoded, and its size on disk."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import parquet

from lexshift.encode import Encoder
from lexshift.store.format import SHARD, UNFINISHED, read_plan, store_fingerprint
from lexshift.store.plan import EncodingPlan, StoreContents, plan_encoding
from lexshift.store.siblings import Siblings
from lexshift.store.writer import number_periods

_INDEX_BYTES, _CORPUS_BYTES = 400, 60  # bytes that a word takes in store.json, and that each corpus adds


@dataclass(frozen=True, eq=False)
class StoreForecast:
    """The contents and the size of a store that a run will write.

    Attributes
    ----------
    contents : StoreContents
        The usages of the store.
    plan : EncodingPlan
        The words in sentences that the store lacks.
    held : int
        Number of usages whose vectors are in the store or in finished shards of an interrupted run.
    sentences, characters : int
        Number of the distinct sentences that must be encoded, and of their characters.
    precision : str
        Precision of the vectors.
    """

    contents: StoreContents
    plan: EncodingPlan
    held: int
    sentences: int
    characters: int
    precision: str

    @property
    def usages(self) -> int:
        """Number of usages of the store."""
        return len(self.contents.table)

    def vectors_bytes(self, dimensions: int) -> int:
        """Return the size of the file of vectors, unless the encoder drops some words."""
        header = io.BytesIO()
        shape = {"descr": np.dtype(self.precision).str, "fortran_order": False, "shape": (self.usages, dimensions)}
        np.lib.format.write_array_header_1_0(header, shape)
        return header.tell() + self.usages * dimensions * np.dtype(self.precision).itemsize

    def work_bytes(self, dimensions: int) -> int:
        """Return the size of what is on the disk only while the store is written: the shards and an older version."""
        if not self.sentences:
            return 0
        old = 0 if self.plan.store is None else sum(file["size"] for file in self.plan.store.index["files"].values())
        return len(self.plan) * dimensions * np.dtype(self.precision).itemsize + old

    def other_bytes(self) -> int:
        """Return the size of the table of usages, and about that of the index."""
        table = io.BytesIO()
        parquet.write_table(self.contents.table, table, compression="zstd")
        n_words, n_corpora = self.contents.counts.shape
        return table.tell() + n_words * (_INDEX_BYTES + n_corpora * _CORPUS_BYTES)


def forecast_store(
    folder: Path | None,
    store: Siblings | None,
    contents: StoreContents,
    settings: Mapping[str, Any],
    encoder: Encoder,
) -> StoreForecast:
    """Return what a run will write into a store; nothing is written.

    Parameters
    ----------
    folder : Path, optional
        The folder of the store; None for a temporary one.
    store : Siblings, optional
        The store that is in the folder.
    contents : StoreContents
        The usages of the new store.
    settings : mapping
        The settings of the store with those of its encoder.
    encoder : Encoder
    """
    fingerprint = store_fingerprint(settings, contents.forms, contents.corpora)
    plan = plan_encoding(contents.table, store, number_periods(encoder, [entry["label"] for entry in contents.corpora]))
    is_finished = np.zeros(len(plan.sizes), bool)
    begun = None if folder is None else read_plan(folder / UNFINISHED)
    added_to = None if store is None else store.fingerprint
    if (
        folder is not None
        and begun is not None
        and (begun["fingerprint"], begun["added to"]) == (fingerprint, added_to)
    ):
        numbers = range(len(is_finished))
        is_finished = np.array([(folder / UNFINISHED / SHARD.format(n)).exists() for n in numbers], bool)
    shard_of_row = np.repeat(np.arange(len(is_finished)), np.diff(plan.bounds))
    is_encoded = np.concatenate([np.ones(plan.reused, bool), is_finished[shard_of_row]])
    characters, sentences = plan.sizes[~is_finished].sum(axis=0).tolist()
    held = len(contents.table) if fingerprint == added_to else int(is_encoded[plan.positions].sum())
    return StoreForecast(contents, plan, held, sentences, characters, settings["precision"])
