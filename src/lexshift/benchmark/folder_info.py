"""Describe the folder of an evaluation: the data set, the encoder, and which tables are there."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from lexshift.study.folder_info import (
    COMPLETE,
    INCOMPLETE,
    INTERRUPTED,
    FolderInfo,
    describe_store,
    encoder_name,
    folder_size,
    read_object,
)
from lexshift.study.result_files import STORE

TABLES = {"evaluation.json": "evaluation.csv", "sense-evaluation.json": "sense-evaluation.csv"}
"""The table that is written with each record."""


def describe_evaluation(folder: Path) -> FolderInfo | None:
    """Return what the folder of an evaluation holds, also that of an interrupted one; None if it is something else.

    Parameters
    ----------
    folder : Path
    """
    records = {name: read_object(folder / name) for name in TABLES}
    records = {name: record for name, record in records.items() if {"data", "embedding"} <= record.keys()}
    store = describe_store(folder / STORE)
    if not records:
        if store is None or store.facts["settings"].get("usages") != "given":
            return None
        missing = [*(f"vectors: {text}" for text in store.missing), "the tables of the evaluation"]
        return FolderInfo(
            path=str(folder),
            kind="evaluation",
            state=INTERRUPTED,
            missing=missing,
            encoder=store.encoder,
            words=store.words,
            bytes=folder_size(folder),
        )
    record: dict[str, Any] = next(iter(records.values()))
    missing = [TABLES[name] for name in records if not (folder / TABLES[name]).is_file()]
    if store is None or store.state != COMPLETE:
        missing.append(f"{STORE}, the vectors of the usages")
    encoder, name = encoder_name(record["embedding"]), str(record["data"].get("name", "DATA"))
    senses = ["--senses"] if "evaluation.json" not in records else []
    parts = ["lexshift", "eval", name, *senses, "--model", encoder, "--out", str(folder)]
    return FolderInfo(
        path=str(folder),
        kind="evaluation",
        state=INCOMPLETE if missing else COMPLETE,
        missing=missing,
        command=shlex.join(parts),
        lexshift=record.get("lexshift"),
        encoder=encoder,
        corpora=[] if store is None else store.corpora,
        words=[] if store is None else store.words,
        facts={"data": record["data"], "settings": record["settings"], "records": list(records)},
        bytes=folder_size(folder),
    )
