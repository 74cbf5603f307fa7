"""Which files a corpus is made of."""

from __future__ import annotations

import glob
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lexshift.errors import UserError

STANDARD_INPUT = "-"
Kind = Literal["text", "jsonl", "csv", "tsv", "parquet"]
_COMPRESSED = (".gz", ".zst")
_KINDS: dict[str, Kind] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
}


@dataclass(frozen=True)
class Source:
    """One file of a corpus.

    Attributes
    ----------
    path : str
        Where it is; "-" for standard input.
    name : str
        Its name within the corpus, the same wherever the corpus lies.
    kind : "text", "jsonl", "csv", "tsv" or "parquet"
    """

    path: str
    name: str
    kind: Kind


def place_of(corpus: object) -> str:
    """The path or pattern that a corpus is given by.

    >>> place_of(Path("texts"))
    'texts'
    """
    if not isinstance(corpus, (str, os.PathLike)):
        raise UserError(f"a corpus is a file, a folder or a pattern such as 'texts/*.txt'; got {corpus!r}")
    return os.fsdecode(corpus)


def find_sources(corpus: str | os.PathLike[str]) -> list[Source]:
    """The files that a path, a folder, a glob pattern or "-" stands for, in the order of their names."""
    text = place_of(corpus)
    if text == STANDARD_INPUT:
        if sys.stdin is None or sys.stdin.isatty():
            raise UserError("the corpus is '-', standard input, but nothing is piped into it")
        return [Source(STANDARD_INPUT, STANDARD_INPUT, "text")]
    if not text:
        raise UserError("the name of a corpus is empty; give a file, a folder or a pattern")
    path = Path(text)
    try:
        if path.is_dir():
            return _in_folder(path)
        if path.exists():
            return [_source(path, path.name)]
    except OSError as error:
        raise UserError(f"the corpus {text!r} cannot be read: {error.strerror}") from None
    found = sorted(p for p in glob.glob(text, recursive=True) if os.path.isfile(p)) if glob.has_magic(text) else []
    if found:
        root = os.path.commonpath([os.path.dirname(p) or "." for p in found])
        return [_source(Path(p), Path(os.path.relpath(p, root)).as_posix()) for p in found]
    what = "file matches the pattern" if glob.has_magic(text) else "such file or folder:"
    raise UserError(f"no {what} {text!r} (looked from {os.getcwd()})")


def size_of(source: Source) -> int:
    """Return the bytes of a file on disk; 0 for one that is not there or cannot be read, which reading it will tell."""
    try:
        return os.path.getsize(source.path)
    except OSError:
        return 0


def as_text(name: str) -> str:
    """The name of a file as text, which it need not be."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _in_folder(folder: Path) -> list[Source]:
    def refuse(error: OSError) -> None:
        raise UserError(f"the folder {os.fspath(error.filename)!r} cannot be read: {error.strerror}")

    found = []
    for parent, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(parent, name) for name in files if not name.startswith(".")]
    if not found:
        raise UserError(f"the folder {str(folder)!r} holds no files")
    named = sorted((path.relative_to(folder).as_posix(), path) for path in found)
    return [_source(path, name) for name, path in named]


def _source(path: Path, name: str) -> Source:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return Source(str(path), as_text(name), _KINDS.get(suffixes[-1], "text") if suffixes else "text")
