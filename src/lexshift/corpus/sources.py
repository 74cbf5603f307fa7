"""Find the files of a corpus, and define the options for reading them and the counts of what was read."""

from __future__ import annotations

import codecs
import glob
import hashlib
import os
import re
import stat
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from lexshift.errors import UserError
from lexshift.utils import checks

STANDARD_INPUT = "-"
FOLDER = "folder"
"""Value of ``groups`` for which the first folder of a file's name is its group."""
Kind = Literal["text", "jsonl", "csv", "tsv", "parquet", "json", "xml", "html", "docx", "vertical", "conllu"]
COMPRESSED = (".gz", ".zst")
_KINDS: dict[str, Kind] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".json": "json",
    ".xml": "xml",
    ".tei": "xml",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".docx": "docx",
}
_REFUSED = {
    ".pdf": "PDF, which describes pages and not text: extract its text first, for example with pdftotext, and use that",
    **dict.fromkeys((".doc", ".odt", ".rtf"), "a document of a word processor: save it as .docx or as plain text"),
    ".epub": "an electronic book: convert it to HTML or plain text",
    ".sgml": "SGML, which cannot be read: convert it to XML",
}


@dataclass(frozen=True)
class Source:
    """One file of a corpus.

    Attributes
    ----------
    path : str
        Path of the file; "-" for standard input.
    name : str
        Name within the corpus, which does not depend on the location of the corpus.
    kind : str
        Format of the file: plain text, a table, a document with markup, or annotated text.
    size : int
        Number of bytes on disk; 0 for standard input.
    """

    path: str
    name: str
    kind: Kind
    size: int = 0


def place_of(corpus: object) -> str:
    """Return the path or pattern of a corpus.

    >>> place_of(Path("texts"))
    'texts'
    """
    if not isinstance(corpus, (str, os.PathLike)):
        raise UserError(f"a corpus is a file, a folder or a pattern such as 'texts/*.txt'; got {corpus!r}")
    return os.fsdecode(corpus)


def find_sources(corpus: str | os.PathLike[str]) -> list[Source]:
    """Return the files of a path, a folder, a glob pattern or "-", in the order of their names."""
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
    found = sorted(p for p in _matches(text) if not os.path.isdir(p))
    if found:
        root = os.path.commonpath([os.path.dirname(p) or "." for p in found])
        return [_source(Path(p), Path(os.path.relpath(p, root)).as_posix()) for p in found]
    what = "file matches the pattern" if glob.has_magic(text) else "such file or folder:"
    raise UserError(f"no {what} {text!r} (looked from {os.getcwd()})")


def as_text(name: str) -> str:
    """Return the name of a file as text; bytes that are not text are replaced."""
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


def _matches(pattern: str) -> list[str]:
    """Return the paths that match a glob pattern; an empty list if the text is not a pattern."""
    try:
        return glob.glob(pattern, recursive=True) if glob.has_magic(pattern) else []
    except (OSError, ValueError):  # too long for the system, or with a zero byte
        return []


def _source(path: Path, name: str) -> Source:
    """Return a file of a corpus; refuse names of other formats, and pipes, which cannot be read several times."""
    try:
        status = os.stat(path)
    except OSError as error:
        broken = os.path.islink(path) and not os.path.exists(path)
        reason = f"it is a link to {os.readlink(path)!r}, which is not there" if broken else str(error.strerror)
        raise UserError(f"the file {str(path)!r} cannot be read: {reason}") from None
    if not stat.S_ISREG(status.st_mode):
        kinds = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISDIR, "a folder"))
        kind = next((kind for is_kind, kind in kinds if is_kind(status.st_mode)), "a device")
        raise UserError(
            f"{str(path)!r} is {kind}, not a file that can be read several times: write its text to a file, or for a "
            f"single corpus of a run use '-', standard input"
        )
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    if suffix in _REFUSED:
        raise UserError(f"the file {str(path)!r} is by its name {_REFUSED[suffix]}")
    return Source(str(path), as_text(name), _KINDS.get(suffix, "text"), status.st_size)


AUTO = "auto"
Split = Literal["auto", "lines", "prose", "wrapped"]
_LANGUAGE = re.compile(r"auto|[A-Za-z]{2,3}([-_]\w+)*")


@dataclass(frozen=True)
class Reading:
    """Options for reading text.

    Attributes
    ----------
    encoding : str
        Character encoding of the files; it does not apply to Parquet.
    errors : "strict" or "replace"
        Treatment of bytes that are invalid in that encoding: stop, or replace them by U+FFFD.
    split : "auto", "lines", "prose" or "wrapped"
        Contents of a line: a sentence, a paragraph of running prose, or a part of a paragraph that ends at an empty
        line. "auto" decides by the beginning of each file.
    language : str
        ISO code, used for splitting prose into sentences, for lemmas and for function words. "auto" detects the
        language of each corpus from a sample of its text.
    text_column, date_column : str
        Columns of tables (jsonl, csv, tsv, parquet) that hold the text and the date.
    document_column : str, optional
        Column of tables that names the document of each record, such as a book or an author. A record without a name is
        a document of its own. By default a file is a document.
    groups : str, optional
        Column of tables that names the group of each record, such as "party", and optionally the groups to compare:
        "party=left,right". "folder" stands for the first folder of a file's name within its corpus.
    xpath : str, optional
        XPath expression that selects the elements of XML and HTML files to read, in which element names have no
        namespace. By default paragraphs, sentences and lines of verse of XML, and the main text of HTML.
    """

    encoding: str = "utf-8"
    errors: str = "strict"
    split: str = "auto"
    language: str = AUTO
    text_column: str = "text"
    date_column: str | None = None
    document_column: str | None = None
    xpath: str | None = None
    groups: str | None = None

    def __post_init__(self) -> None:
        try:
            "".encode(self.encoding)  # raises LookupError for codecs that do not encode text, such as hex
        except (LookupError, TypeError, ValueError):
            raise UserError(
                f"encoding {self.encoding!r} is not known; use for example utf-8, utf-16, latin-1 or cp1252"
            ) from None
        checks.choice(self.errors, "errors", ("strict", "replace"))
        checks.choice(self.split, "split", get_args(Split))
        if not isinstance(self.language, str) or not _LANGUAGE.fullmatch(self.language):
            raise UserError(f"language must be auto or an ISO code such as de; got {self.language!r}")
        if self.groups is not None:
            names = self.group_names
            if (
                not self.groups.partition("=")[0].strip()
                or len(set(names)) != len(names)
                or len(names) == 1
                or not all(names)
            ):
                raise UserError(
                    f"groups must be a column, such as party, or a column with two or more different groups, such as "
                    f"party=left,right; got {self.groups!r}"
                )

    @property
    def group_column(self) -> str | None:
        """The column that names the group of each record; None without groups, and for groups by folder."""
        return None if self.groups is None or self.by_folder else self.groups.partition("=")[0].strip()

    @property
    def by_folder(self) -> bool:
        """True if the folder of a file is its group."""
        return self.groups is not None and self.groups.partition("=")[0].strip() == FOLDER

    @property
    def group_names(self) -> tuple[str, ...]:
        """The groups to compare; empty for all groups."""
        names = (self.groups or "").partition("=")[2]
        return tuple(name.strip() for name in names.split(",")) if names else ()

    @property
    def codec(self) -> str:
        """The canonical name of the encoding."""
        return codecs.lookup(self.encoding).name


@dataclass
class Tally:
    """Counts of the text that was read, and of text that was skipped or altered, by reason."""

    files: int = 0
    size: int = 0  # number of bytes read so far
    passages: int = 0  # number of lines or records that contain a word
    words: int = 0
    splits: Counter[str] = field(default_factory=Counter)  # number of files by the layout of their lines
    skipped: Counter[str] = field(default_factory=Counter)
    hashes: dict[str, str] = field(default_factory=dict)  # SHA-256 of each file that was read to its end, by its name

    @property
    def content(self) -> str:
        """The SHA-256 of all files that were read."""
        return hashlib.sha256(repr(sorted(self.hashes.items())).encode()).hexdigest()
