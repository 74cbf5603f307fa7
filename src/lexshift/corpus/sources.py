"""Find the files of a corpus, and define the options for reading them and the counts of what was read."""

from __future__ import annotations

import codecs
import errno
import glob
import hashlib
import os
import re
import stat
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from lexshift.corpus.columns import parse_columns
from lexshift.corpus.dates import ORDERS
from lexshift.corpus.encodings import UTF_8
from lexshift.errors import UserError
from lexshift.utils import checks
from lexshift.utils.quantities import with_unit

STANDARD_INPUT = "-"
FOLDER = "folder"
"""Value of ``groups`` for which the first folder of a file's name is its group."""
Place: TypeAlias = str | os.PathLike[str]
"""The path of a file or folder, a pattern, or "-" for standard input."""
Kind = Literal[
    "text",
    "jsonl",
    "csv",
    "tsv",
    "parquet",
    "json",
    "xml",
    "html",
    "docx",
    "vertical",
    "conllu",
    "strings",
    "records",
]
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
    ".vert": "vertical",
    ".vrt": "vertical",
    ".conllu": "conllu",
    ".conll": "conllu",
}
_REFUSED = {
    ".pdf": "a PDF, which is not text: extract its text first, for example with pdftotext",
    **dict.fromkeys((".doc", ".odt", ".rtf"), "a document of a word processor: save it as .docx or as plain text"),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "a spreadsheet: save it as .csv"),
    ".epub": "an electronic book: convert it to HTML or plain text",
    ".sgml": "SGML, which cannot be read: convert it to XML",
}
_LIKE_TEXT = re.compile(r"\n|\s\S+\s")  # three words or more, or several lines


@dataclass(frozen=True, slots=True)
class Source:
    """One file of a corpus.

    Attributes
    ----------
    path : str
        Path of the file; "-" for standard input.
    name : str
        Name within the corpus, which does not depend on the location of the corpus.
    kind : str
        Format of the file: plain text, a table, a document with markup, or annotated text; "strings" or "records" for
        the temporary file of a Python object.
    size : int
        Number of bytes on disk; 0 for standard input.
    missing : int
        Number of empty lines in place of missing texts, for "strings".
    optional : bool
        Whether the file is one of several, so that it is skipped if it cannot be read.
    fault : str
        Why the file cannot be read, if that is known before it is opened.
    """

    path: str
    name: str
    kind: Kind
    size: int = 0
    missing: int = 0
    optional: bool = False
    fault: str = ""


@dataclass(frozen=True)
class ObjectFile(os.PathLike[str]):
    """A temporary file with the texts of a Python object, which :mod:`lexshift.corpus.objects` writes.

    Attributes
    ----------
    source : Source
    type : str
        Name of the type of the object.
    records : int
        Number of texts, missing ones included.
    """

    source: Source
    type: str
    records: int

    def __fspath__(self) -> str:
        return self.source.path


def refuse_output_inside(out: str | os.PathLike[str], corpora: Sequence[Place]) -> None:
    """Raise an error if a folder for results lies in the folder of a corpus, whose next run would read it as text."""
    results = Path(os.path.realpath(out))
    for corpus in corpora:
        if isinstance(corpus, ObjectFile) or not os.path.isdir(corpus):
            continue
        folder = Path(os.path.realpath(corpus))
        if results.is_relative_to(folder) and not any(
            part.startswith(".") for part in results.relative_to(folder).parts
        ):
            raise UserError(
                f"the folder {os.fspath(out)!r} for results lies in the folder of the corpus {place_of(corpus)!r}, so "
                f"the next run would read them as text: choose a folder elsewhere (--out)"
            )


def name_object(corpus: Place, label: str) -> Place:
    """Name the file of a Python object after its corpus; return any other corpus as it is."""
    if not isinstance(corpus, ObjectFile):
        return corpus
    name = label + os.path.splitext(corpus.source.name)[1]
    return replace(corpus, source=replace(corpus.source, name=name))


def corpus_text(corpus: Place) -> str:
    """Return a short description of the origin of a corpus, unique among the corpora of a call."""
    if isinstance(corpus, ObjectFile):
        return f"{os.path.splitext(corpus.source.name)[0]} ({corpus.type} of {with_unit(corpus.records, 'records')})"
    return as_text(os.fspath(corpus))


def corpus_record(corpus: Place) -> dict[str, Any]:
    """Return what a provenance record says about the origin of a corpus: its path, or the type of the object."""
    if isinstance(corpus, ObjectFile):
        return {"object": corpus.type, "records": corpus.records}
    return {"path": as_text(os.fspath(corpus))}


def place_of(corpus: object) -> str:
    """Return the path or pattern of a corpus.

    >>> place_of(Path("texts"))
    'texts'
    """
    if not isinstance(corpus, (str, os.PathLike)):
        raise UserError(
            f"a corpus is a file, a folder, a pattern such as 'texts/*.txt', a table or a list of texts; got {corpus!r}"
        )
    return os.fsdecode(corpus)


def find_sources(corpus: Place) -> list[Source]:
    """Return the files of a path, a folder, a glob pattern or "-", in the order of their names.

    Of several files, those that cannot be read are returned as well, with the reason, unless there are no others.
    """
    if isinstance(corpus, ObjectFile):
        return [corpus.source]
    text = place_of(corpus)
    if text == STANDARD_INPUT:
        if sys.stdin is None or sys.stdin.isatty():
            raise UserError("the corpus is '-', standard input, but nothing is piped into it")
        return [Source(STANDARD_INPUT, STANDARD_INPUT, "text")]
    if not text:
        raise UserError("the name of a corpus is empty; give a file, a folder or a pattern")
    path = Path(text)
    hint = "; a string is a path: in Python, give a text as a list of strings" if _LIKE_TEXT.search(text) else ""
    try:
        if path.is_dir():
            return _in_folder(path)
        if path.exists():
            return [_source(str(path), path.name)]
    except OSError as error:
        raise UserError(
            f"the corpus {text[: 100 if hint else None]!r} cannot be read: {error.strerror}{hint}"
        ) from None
    paths = sorted(p for p in _matches(text) if not os.path.isdir(p))
    if paths:
        root = os.path.commonpath([os.path.dirname(p) or "." for p in paths])
        return _sources(text, [(Path(os.path.relpath(p, root)).as_posix(), str(Path(p))) for p in paths], {})
    what = "file matches the pattern" if glob.has_magic(text) else "such file or folder:"
    raise UserError(f"no {what} {text!r} (looked from {os.getcwd()}){hint}")


def as_text(name: str) -> str:
    """Return the name of a file as text; bytes that are not text are replaced."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _in_folder(folder: Path) -> list[Source]:
    paths, faults, root = list[str](), dict[str, str](), str(folder)

    def record(error: OSError) -> None:
        path = str(Path(error.filename))
        paths.append(path)
        faults[path] = f"the folder {path!r} cannot be read: {error.strerror}"

    for parent, folders, files in os.walk(root, onerror=record):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        inside = str(Path(parent))
        paths += [name if inside == "." else os.path.join(inside, name) for name in files if not name.startswith(".")]
    if not paths:
        raise UserError(f"the folder {root!r} holds no files")
    start = 0 if root == "." else len(os.path.join(root, ""))
    return _sources(root, sorted((path[start:].replace(os.sep, "/"), path) for path in paths), faults)


def _sources(corpus: str, files: list[tuple[str, str]], faults: dict[str, str]) -> list[Source]:
    """Return the files of a corpus; of several, those that cannot be read have the reason as their fault."""

    def make_source(name: str, path: str, optional: bool) -> Source:
        if path in faults:
            raise UserError(faults[path])
        return _source(path, name, optional)

    if len(files) == 1:
        return [make_source(*files[0], False)]
    sources = []
    for name, path in files:
        try:
            sources.append(make_source(name, path, True))
        except UserError as error:
            sources.append(Source(path, as_text(name), "text", optional=True, fault=str(error)))
    if all(source.fault for source in sources):
        raise UserError(f"no file of {corpus!r} can be read; the first: {sources[0].fault}")
    return sources


def _matches(pattern: str) -> list[str]:
    """Return the paths that match a glob pattern; an empty list if the text is not a pattern."""
    try:
        return glob.glob(pattern, recursive=True) if glob.has_magic(pattern) else []
    except (OSError, ValueError):  # too long for the system, or with a zero byte
        return []


def _source(path: str, name: str, optional: bool = False) -> Source:
    """Return a file of a corpus; refuse names of other formats, and pipes, which cannot be read several times."""
    try:
        status = os.stat(path)
    except OSError as error:
        broken = os.path.islink(path) and not os.path.exists(path)
        reason = f"it is a link to {os.readlink(path)!r}, which is not there" if broken else str(error.strerror)
        raise UserError(f"the file {path!r} cannot be read: {reason}") from None
    if not stat.S_ISREG(status.st_mode):
        kinds = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISDIR, "a folder"))
        kind = next((kind for is_kind, kind in kinds if is_kind(status.st_mode)), "a device")
        raise UserError(
            f"{path!r} is {kind}, not a file that can be read several times: write its text to a file, or for a "
            f"single corpus of a run use '-', standard input"
        )
    if not os.access(path, os.R_OK):
        raise UserError(f"the file {path!r} cannot be read: {os.strerror(errno.EACCES)}")
    stem, suffix = os.path.splitext(path.lower())
    if suffix in COMPRESSED:
        suffix = os.path.splitext(stem)[1]
    if suffix in _REFUSED:
        raise UserError(f"the file {path!r} is {_REFUSED[suffix]}")
    return Source(str(path), as_text(name), _KINDS.get(suffix, "text"), status.st_size, optional=optional)


AUTO = "auto"
UNREADABLE = "files that cannot be read"
"""What the tally calls the files that were skipped."""
EXAMPLES = 3
"""Number of files that are named as examples."""
Split = Literal["auto", "lines", "prose", "wrapped"]
_LANGUAGE = re.compile(r"auto|[A-Za-z]{2,3}([-_]\w+)*")


@dataclass(frozen=True)
class Reading:
    """Options for reading text.

    Attributes
    ----------
    encoding : str
        Character encoding of the files; it does not apply to Parquet. "auto" detects the encoding of each file that is
        not UTF-8; see :mod:`lexshift.corpus.encodings`.
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
    date_order : "auto", "DMY", "MDY" or "YMD"
        Order of day, month and year in dates such as 03/04/2020. "auto" refuses dates that have several readings.
    document_column : str, optional
        Column of tables that names the document of each record, such as a book or an author. A record without a name is
        a document of its own. By default a file is a document.
    groups : str, optional
        Column of tables that names the group of each record, such as "party", and optionally the groups to compare:
        "party=left,right". "folder" stands for the first folder of a file's name within its corpus.
    xpath : str, optional
        XPath expression that selects the elements of XML and HTML files to read, in which element names have no
        namespace. By default paragraphs, sentences and lines of verse of XML, and the main text of HTML.
    strict : bool
        Whether to stop at a file that cannot be read. By default such a file is skipped if the corpus has others.
    since, before : str, optional
        The first day, and the day after the last one, as 2020-03-01: records and files of other dates are left out.
    columns : str, optional
        Comma-separated names of the columns of files with one token per line; see
        :func:`lexshift.corpus.columns.parse_columns`. The default depends on the format.
    """

    encoding: str = AUTO
    errors: str = "strict"
    split: str = "auto"
    language: str = AUTO
    text_column: str = "text"
    date_column: str | None = None
    document_column: str | None = None
    xpath: str | None = None
    strict: bool = False
    date_order: str = AUTO
    since: str | None = None
    before: str | None = None
    columns: str | None = None
    groups: str | None = None

    def __post_init__(self) -> None:
        try:
            # It raises LookupError for codecs that do not encode text, such as hex.
            "".encode(UTF_8 if self.encoding == AUTO else self.encoding)
        except (LookupError, TypeError, ValueError):
            raise UserError(
                f"encoding {self.encoding!r} is not known; use for example utf-8, utf-16, latin-1 or cp1252, or auto"
            ) from None
        checks.choice(self.errors, "errors", ("strict", "replace"))
        checks.choice(self.split, "split", get_args(Split))
        checks.choice(self.date_order, "date_order", (AUTO, *ORDERS))
        if not isinstance(self.language, str) or not _LANGUAGE.fullmatch(self.language):
            raise UserError(f"language must be auto or an ISO code such as de; got {self.language!r}")
        if self.columns is not None:
            parse_columns(self.columns)
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
        """The canonical name of the encoding, or "auto"."""
        return AUTO if self.encoding == AUTO else codecs.lookup(self.encoding).name


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
    encodings: dict[str, str] = field(default_factory=dict)  # detected encoding of each file that is not UTF-8
    unreadable: dict[str, str] = field(default_factory=dict)  # why a file was skipped, by its name

    @property
    def content(self) -> str:
        """The SHA-256 of all files that were read, and of the encodings that were detected."""
        sha256 = hashlib.sha256()
        facts = [self.hashes, *([self.encodings] if self.encodings else [])]
        for i, values in enumerate(facts):  # the text of the sorted lists of pairs, which may be long
            sha256.update(b", [" if i else b"[")
            for j, name in enumerate(sorted(values)):
                sha256.update(f"{', ' if j else ''}{(name, values[name])!r}".encode())
            sha256.update(b"]")
        return sha256.hexdigest()

    def add(self, other: Tally) -> None:
        """Add the counts of other files."""
        for name in (each.name for each in fields(Tally)):
            mine, theirs = getattr(self, name), getattr(other, name)
            if isinstance(mine, dict):
                mine.update(theirs)  # which adds the counts of a Counter
            else:
                setattr(self, name, mine + theirs)

    def skip_file(self, source: Source, reason: str) -> None:
        """Count a file that cannot be read."""
        self.skipped[UNREADABLE] += 1
        self.unreadable[source.name] = reason

    def nothing_read(self, corpus: str) -> UserError:
        """Return the error for a corpus without a word."""
        if self.unreadable and not self.files:
            first = next(iter(self.unreadable.values()))
            return UserError(f"no file of {corpus!r} can be read; the first: {first}")
        return UserError(f"the corpus {corpus!r} is empty: there is no word in it")

    def record_files(self) -> dict[str, Any]:
        """Return the encodings and the files that cannot be read, with a few examples of each, as plain values."""
        encodings: dict[str, Any] = {}
        for name, encoding in sorted(self.encodings.items()):
            entry = encodings.setdefault(encoding, {"files": 0, "examples": []})
            entry["files"] += 1
            entry["examples"] += [name] if entry["files"] <= EXAMPLES else []
        return {"encodings": encodings, "unreadable": dict(sorted(self.unreadable.items())[:EXAMPLES])}


def describe_files(corpus: Mapping[str, Any]) -> list[str]:
    """Return sentences on the files of a corpus that are not UTF-8 or cannot be read.

    Parameters
    ----------
    corpus : mapping
        The record of a corpus in a store or in ``run.json``, with the values of :meth:`Tally.record_files`.

    >>> describe_files({"encodings": {"cp1252": {"files": 1, "examples": ["a.txt"]}}, "skipped": {}})
    ['1 file is not UTF-8: a.txt (cp1252)']
    """
    notes = []
    encodings = corpus.get("encodings") or {}
    n = sum(entry["files"] for entry in encodings.values())
    if n:
        names = [f"{name} ({encoding})" for encoding, entry in encodings.items() for name in entry["examples"]]
        shown = names[:EXAMPLES] + ([f"{n - EXAMPLES:,} more"] if n > EXAMPLES else [])
        notes.append(f"{with_unit(n, 'files')} {'is' if n == 1 else 'are'} not UTF-8: {', '.join(shown)}")
    notes += [f"skipped: {reason}" for reason in (corpus.get("unreadable") or {}).values()]
    return notes
