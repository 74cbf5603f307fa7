"""Describe what a folder holds: results, a store or the work of an interrupted run, without reading vectors."""

from __future__ import annotations

import csv
import json
import os
import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lexshift.errors import UserError
from lexshift.store.format import INDEX, PLAN, SHARD, UNFINISHED, read_index, read_plan
from lexshift.study.command_line import COMMANDS, command_line, format_option
from lexshift.study.folder import RUN, find_saving, read_record
from lexshift.study.result_files import CONTROL, REPORT, SCORES_CSV, STORE
from lexshift.utils.quantities import with_unit

COMPLETE, INTERRUPTED, INCOMPLETE = "complete", "interrupted", "incomplete"
"""States of a folder: all is there, a run was stopped, or files are missing."""
_CORPUS = (
    *("name", "path", "object", "records", "files", "words", "bytes", "skipped", "encodings"),
    "unreadable",
)  # what is said about a corpus
_SHARDS = f"*{Path(SHARD.format(0)).suffix}"


@dataclass(frozen=True, kw_only=True)
class FolderInfo:
    """A description of the contents of a folder.

    Attributes
    ----------
    path : str
    kind : str
        Such as "comparison", "store" or "tuned model".
    state : "complete", "interrupted" or "incomplete"
    missing : list of str
        What is missing, if it is not complete.
    command : str or None
        The command that makes the same; names in capitals stand for what is not recorded.
    lexshift, finished : str or None
        Version of lexshift, and when the run ended.
    encoder : str or None
        Name of the encoder.
    encoder_choice : str or None
        Why the encoder was chosen, if it was not named.
    corpora : list of dict
        Name, path, files, running words and bytes of each corpus, as far as they are recorded.
    words : list of str
    verdicts : dict of str to int
        Number of words with each verdict.
    facts : dict
        Further settings and numbers.
    bytes : int
        Size of all files on disk.
    """

    path: str
    kind: str
    state: str
    missing: list[str] = field(default_factory=list)
    command: str | None = None
    lexshift: str | None = None
    finished: str | None = None
    encoder: str | None = None
    encoder_choice: str | None = None
    corpora: list[dict[str, Any]] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    verdicts: dict[str, int] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    bytes: int

    def record(self) -> dict[str, Any]:
        """Return the description as plain values."""
        return asdict(self)


def describe_results(folder: Path) -> FolderInfo | None:
    """Return what a folder of results holds, also those of an interrupted run; None if there are none.

    Parameters
    ----------
    folder : Path
    """
    record = read_record(folder) if read_object(folder / RUN).get("kind") in COMMANDS else None
    if record is None:
        return _describe_interrupted(folder)
    try:
        return _describe_record(folder, record)
    except (LookupError, TypeError, AttributeError):
        raise UserError(
            f"the record {str(folder / RUN)!r} is damaged or from another version of lexshift; run the command that "
            f"wrote it again"
        ) from None


def _describe_record(folder: Path, record: Mapping[str, Any]) -> FolderInfo:
    """Return what a folder of results with this record holds."""
    missing = [name for name in record["files"] if not (folder / name).is_file()]
    if find_saving(folder):
        missing.append("files of the last save")
    if not (folder / STORE / INDEX).is_file():
        missing.append(f"{STORE}, the vectors of the words")
    if record["control"]["source"] == CONTROL and not (folder / CONTROL / INDEX).is_file():
        missing.append(f"{CONTROL}, the vectors of the control words")
    stopped = [name for name in (STORE, CONTROL) if (folder / name / UNFINISHED / PLAN).is_file()]
    if stopped:
        missing.append(f"the end of a later run, which was stopped while it encoded ({', '.join(stopped)})")
    corpora = [{name: entry[name] for name in _CORPUS if name in entry} for entry in record["corpora"]]
    return FolderInfo(
        path=str(folder),
        kind=record["kind"],
        state=INCOMPLETE if missing else COMPLETE,
        missing=missing,
        command=command_line(record, str(folder)),
        lexshift=record["lexshift"],
        finished=record["finished"],
        encoder=encoder_name(record["embedding"]),
        encoder_choice=record.get("encoder_choice"),
        corpora=corpora,
        words=record["words"],
        verdicts=_count_verdicts(folder / SCORES_CSV),
        facts={
            "settings": record["settings"],
            "control_words": len(record["control"]["words"]),
            "report": REPORT,
            "warnings": record.get("warnings", []),
        },
        bytes=folder_size(folder),
    )


def describe_store(folder: Path) -> FolderInfo | None:
    """Return what a store holds, also the unfinished work of one; None if the folder is no store.

    Parameters
    ----------
    folder : Path
    """
    work = folder / UNFINISHED
    begun = read_plan(work) if (work / PLAN).is_file() else None
    if not os.path.lexists(folder / INDEX):
        if begun is None:
            return None
        return FolderInfo(
            path=str(folder),
            kind="store",
            state=INTERRUPTED,
            missing=[f"vectors, of which {_count_shards(work)} are encoded"],
            encoder=encoder_name(begun["settings"]),
            corpora=[{"name": label} for label in begun["corpora"]],
            facts={"settings": begun["settings"]},
            bytes=folder_size(folder),
        )
    index = read_index(folder)
    settings, words = index["settings"], [entry["word"] for entry in index["words"]]
    names = ("files", "words", "bytes", "skipped")
    return FolderInfo(
        path=str(folder),
        kind="store",
        state=COMPLETE if begun is None else INCOMPLETE,
        missing=[] if begun is None else [f"vectors that a later run adds, of which {_count_shards(work)} are encoded"],
        command=_embed_command(index, str(folder)),
        encoder=encoder_name(settings),
        corpora=[{"name": entry["label"]} | {name: entry[name] for name in names} for entry in index["corpora"]],
        words=words,
        facts={"settings": settings, "vectors": index["rows"], "dimensions": index["dimensions"]},
        bytes=folder_size(folder),
    )


def encoder_name(settings: Mapping[str, Any]) -> str:
    """Return the name of the encoder in the settings of a store."""
    return str(settings["encoder"].get("model", "a custom encoder"))


def folder_size(folder: Path) -> int:
    """Return the number of bytes of all files in a folder."""
    return sum(os.lstat(os.path.join(parent, name)).st_size for parent, _, names in os.walk(folder) for name in names)


def read_object(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; an empty one if the file is not there, or holds something else."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _describe_interrupted(folder: Path) -> FolderInfo | None:
    """Return what a run left that was stopped before it saved its results; None if there is nothing of a run."""
    stores = {name: describe_store(folder / name) for name in (STORE, CONTROL)}
    has_parts = (folder / "parts").is_dir() and any((folder / "parts").glob("*.arrow"))
    store = stores[STORE] or stores[CONTROL]
    if store is None:
        if not has_parts:
            return None
        missing = ["vectors, scores and report; the corpora are partly read"]
        return FolderInfo(
            path=str(folder), kind="results", state=INTERRUPTED, missing=missing, bytes=folder_size(folder)
        )
    missing = []
    for name, what in ((STORE, "the words"), (CONTROL, "the control words")):
        info = stores[name]
        if info is not None and info.state != COMPLETE:
            missing.append(f"vectors of {what}: {info.missing[0]}")
        elif info is None and name == STORE:
            missing.append(f"vectors of {what}")
    return FolderInfo(
        path=str(folder),
        kind="results",
        state=INTERRUPTED,
        missing=[*missing, "scores and report"],
        encoder=store.encoder,
        corpora=store.corpora,
        words=store.words,
        facts=store.facts,
        bytes=folder_size(folder),
    )


def _count_shards(folder: Path) -> str:
    return with_unit(sum(1 for _ in folder.glob(_SHARDS)), "shards")


def _count_verdicts(table: Path) -> dict[str, int]:
    """Return the number of words with each verdict in a table of scores, the most frequent verdict first."""
    if not table.is_file():
        return {}
    with table.open(encoding="utf-8", newline="") as file:
        return dict(Counter(row["verdict"] for row in csv.DictReader(file)).most_common())


def _embed_command(index: Mapping[str, Any], out: str) -> str | None:
    """Return the command that makes a store, with the labels of its corpora in capitals for their paths."""
    settings = index["settings"]
    if "match" not in settings or "by" in settings:  # made from given usages, or by a trace
        return None
    sampling = settings["sampling"] or {}
    if sampling.get("shared"):  # made by discover, or of control words
        return None
    parts = ["lexshift", "embed", *(entry["label"].upper() for entry in index["corpora"])]
    parts += ["--words", ",".join(entry["word"] for entry in index["words"])]
    values = {
        "model": settings["encoder"].get("model"),
        "match": settings["match"],
        "max-per-word": sampling.get("max_per_word"),
        "seed": sampling.get("seed"),
        "precision": settings["precision"],
    }
    defaults = {"match": "word", "max-per-word": None, "seed": 0, "precision": "float32", "model": None}
    for name, value in values.items():
        if value not in (None, defaults[name]):
            parts += format_option(f"--{name}", value)
    return shlex.join([*parts, "--out", out])
