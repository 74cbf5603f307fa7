"""Read files with one token per line as blocks of text: verticalised corpora and CoNLL-U.

A verticalised corpus, as of CWB and Sketch Engine, has tags of XML on lines of their own. ``<text>`` or ``<doc>`` is a
document, ``<s>`` a sentence, and ``<g/>`` says that there is no space between two tokens. In CoNLL-U an empty line ends
a sentence, and comments begin with a number sign.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lexshift.corpus.annotation import Annotation
from lexshift.corpus.columns import CONLLU, VERTICAL, parse_columns
from lexshift.corpus.conllu_lines import parse_conllu
from lexshift.corpus.normal_form import normalise_utf8
from lexshift.corpus.sources import Reading, Source, Tally
from lexshift.corpus.token_annotation import ParsedLines, TokenAnnotation
from lexshift.corpus.token_fields import (
    CONSUMED,
    EVENTS,
    LINES,
    N_COLUMNS,
    NEXT,
    PADDING,
    TEXT,
    TOKENS,
    WRONG,
    find_separators,
    pack_name,
)
from lexshift.corpus.vertical_lines import parse_vertical
from lexshift.corpus.word_rule import Keys
from lexshift.errors import UserError, join_names
from lexshift.utils.arrays import Array
from lexshift.utils.kernels import Kernel

_HEAD = 1 << 16  # bytes from which the layout of a file is concluded
_SIZE = 5 << 19  # bytes of lines that are parsed together, whose text is about as large as a block of plain text
_SENTENCES = ("s", "sent", "sentence")
_DOCUMENTS = ("text", "doc", "document", "article")
_PASSAGES = ("p", "head", "div", "l", "u", *_DOCUMENTS)
_DATES = ("date", "year")
_NAMES = ("id", "title")
_HAS_SENTENCES = re.compile(rb"^<(?:s|sent|sentence)[ >]", re.MULTILINE | re.IGNORECASE)
_TOKEN = re.compile(rb"^(?!<[A-Za-z/!?][^\t\n]*>[ ]*$)[^\n]+", re.MULTILINE)
_ATTRIBUTE = re.compile(r"""([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_REFERENCE = re.compile(rb"&#(?:(\d{1,7})|[xX]([0-9A-Fa-f]{1,6}));")
_ENTITIES = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&"))
_COMMENT = re.compile(r"#\s*(newdoc\b)?\s*(?:([^=]*?)\s*=\s*(.*))?", re.DOTALL)


class TokenBlock(NamedTuple):
    """Some sentences of a file with one token per line; the fields are those of a block."""

    data: bytes
    split: str
    rows: list[int]
    dates: list[str | None] | None
    documents: list[str] | None
    annotation: Annotation | None


def read_tokens(
    chunks: Iterable[bytes], source: Source, reading: Reading, tally: Tally, annotate: bool
) -> Iterator[TokenBlock]:
    """Yield the sentences of a file with one token per line.

    Parameters
    ----------
    chunks : iterable of bytes
        Complete lines of UTF-8.
    source, reading, tally
        The file, the options for reading it, and the counts of what was read.
    annotate : bool
        Whether lemmas and parts of speech are needed.
    """
    reader = _VerticalReader if source.kind == "vertical" else _ConlluReader
    return reader(source, reading, annotate).read(chunks, tally)


class _Lines(NamedTuple):
    """Complete lines of a file, followed by PADDING zeros, and their separators; see :func:`find_separators`."""

    data: bytes
    separators: Array

    @property
    def size(self) -> int:
        """Number of bytes of the lines."""
        return len(self.data) - PADDING

    def extend(self, other: _Lines) -> _Lines:
        """Return these lines followed by others."""
        if not self.size:
            return other
        n = len(self.separators)
        separators = np.empty(n + len(other.separators), np.int32)
        separators[:n] = self.separators
        np.add(other.separators, np.int32(2 * self.size), out=separators[n:])
        return _Lines(self.data[:-PADDING] + other.data, separators)

    def cut(self, end: int) -> _Lines:
        """Return the lines after a byte."""
        first = np.searchsorted(self.separators, np.int32(2 * end))
        return _Lines(self.data[end:], self.separators[first:] - np.int32(2 * end))


class _Reader(ABC):
    """Read a file with one token per line, and remember what is known about the document at the current line."""

    columns = VERTICAL
    _kernel: Kernel[..., None] = parse_vertical
    _names: tuple[Keys, ...]
    _has_entities = True
    _has_sentences = False

    def __init__(self, source: Source, reading: Reading, annotate: bool) -> None:
        self._source, self._reading, self._annotate = source, reading, annotate
        self._counts = np.zeros(9, np.int64)
        self._counts[NEXT] = 1
        self._date: str | None = None
        self._document: str | None = None
        self._n_documents = 0
        self._dated_line = -1  # line after the last comment with a date
        self._seen: dict[str, None] = {}  # names of attributes or comments
        self._date_names = _DATES if reading.date_column is None else (reading.date_column,)
        self._split = "lines"
        self._arrays: dict[str, Array] = {}
        self._columns = parse_columns(reading.columns or self.columns)

    def read(self, chunks: Iterable[bytes], tally: Tally) -> Iterator[TokenBlock]:
        """Yield blocks of complete sentences."""
        carry, is_first = _Lines(bytes(PADDING), np.empty(0, np.int32)), True
        for lines in chain(_read_ahead(map(self._prepare, _join_chunks(chunks))), [None]):
            lines_so_far = carry if lines is None else carry.extend(lines)
            if is_first and lines is not None and lines_so_far.size < _HEAD:
                carry = lines_so_far
                continue
            if not lines_so_far.size:
                continue
            if is_first:
                is_first = False
                self._examine(lines_so_far.data)
                tally.splits[self._split] += 1
            block, end = self._parse(lines_so_far, lines is None)
            carry = lines_so_far.cut(end)
            if block is not None:
                yield block
        self._check_names()

    def _prepare(self, chunk: bytes) -> _Lines:
        """Return lines in normal form with their separators; the lines are followed by PADDING zeros."""
        data = self._decode(chunk)
        separators = self._scratch("separators", len(data) + 1, np.int32)
        n_separators = find_separators(np.frombuffer(data, np.uint8), separators)
        return _Lines(data, separators[:n_separators].copy())

    def _decode(self, chunk: bytes) -> bytes:
        return normalise_utf8(chunk)

    def _examine(self, data: bytes) -> None:  # noqa: B027  a format without variants has nothing to decide
        """Decide from the beginning of the file how to read it."""

    def _parse(self, lines: _Lines, is_last: bool) -> tuple[TokenBlock | None, int]:
        """Return the block of the complete sentences of some lines, and the byte after them."""
        data, separators = lines
        parsed, n_lines = np.frombuffer(data, np.uint8), len(separators)
        annotate = self._annotate and (self._columns.lemma >= 0 or self._columns.tag >= 0)
        text, rows = self._scratch("text", len(data), np.uint8), self._scratch("rows", n_lines, np.int64)
        events = self._scratch("events", 3 * n_lines, np.int64).reshape(-1, 3)
        places = self._scratch("places", 3 * n_lines if annotate else 0, np.int32).reshape(3, -1)
        has_entities = self._has_entities and b"&" in data
        counts, flags = self._counts, (self._columns.width, is_last, has_entities, self._has_sentences)
        counts[:NEXT] = 0
        layout = np.array([*self._columns, *flags], np.int64)
        self._kernel(parsed, separators, layout, *self._names, text, rows, events, places, counts)
        if counts[WRONG]:
            raise self._wrong_width(int(counts[WRONG]), int(counts[N_COLUMNS]))
        n_text_lines = int(counts[LINES])
        dates, documents = self._describe(data, events[: counts[EVENTS]].tolist(), n_text_lines)
        if not n_text_lines:
            return None, int(counts[CONSUMED])
        content, annotation = text[: counts[TEXT] - 1].tobytes(), None
        if annotate:
            lines_parsed = ParsedLines(parsed, separators, layout)
            annotation = TokenAnnotation(lines_parsed, places[:, : counts[TOKENS]].copy(), content)
        block = TokenBlock(content, self._split, rows[:n_text_lines].tolist(), dates, documents, annotation)
        return block, int(counts[CONSUMED])

    def _scratch(self, name: str, size: int, dtype: npt.DTypeLike) -> Array:
        """Return an array that the next call may overwrite; arrays are used again, because allocation is slow."""
        array = self._arrays.get(name)
        if array is None or len(array) < size:
            array = self._arrays[name] = np.empty(size, dtype)
        return array[:size]

    def _describe(
        self, data: bytes, events: list[list[int]], n_lines: int
    ) -> tuple[list[str | None] | None, list[str] | None]:
        """Return the date and the document of each of some lines, or None if the file has none so far."""
        self._dated_line = -1
        dates: list[str | None] = []
        documents: list[str | None] = []
        for line, start, end in events:
            dates += [self._date] * (line - len(dates))
            documents += [self._document] * (line - len(documents))
            self._note(data[start:end].decode(), line)
        dates += [self._date] * (n_lines - len(dates))
        documents += [self._document] * (n_lines - len(documents))
        has_dates = self._reading.date_column is not None or any(dates)
        names = [name or self._source.name for name in documents] if any(documents) else None
        return dates[:n_lines] if has_dates else None, None if names is None else names[:n_lines]

    @abstractmethod
    def _note(self, text: str, line: int) -> None:
        """Update the date and the document after a tag or a comment that stands before a line of the text."""

    def _name_document(self, attributes: dict[str, str]) -> str | None:
        """Return the name of a document with these attributes, or None if an option names another attribute."""
        column = self._reading.document_column
        if column is not None:
            return attributes.get(column)
        name = next((attributes[name] for name in _NAMES if attributes.get(name)), str(self._n_documents))
        return f"{self._source.name}, {name}"

    def _wrong_width(self, line: int, width: int) -> UserError:
        needed = self._columns.width
        return UserError(
            f"the file {self._source.path!r} has {width} column{'s' * (width != 1)} instead of {needed} or more at "
            f"line {line}; columns are separated by tabs, and --columns names them in their order"
        )

    def _check_names(self) -> None:
        """Raise an error if an attribute that an option names does not occur in the file."""
        options = {"--date-column": self._reading.date_column, "--document-column": self._reading.document_column}
        for option, name in options.items():
            if name is not None and name not in self._seen and self._counts[NEXT] > 1:
                raise UserError(
                    f"the file {self._source.path!r} has no {self._what} {name!r}: name one of "
                    f"{join_names(self._seen)} with {option}"
                )

    _what = "attribute"


class _VerticalReader(_Reader):
    def __init__(self, source: Source, reading: Reading, annotate: bool) -> None:
        super().__init__(source, reading, annotate)
        self._open: dict[str, tuple[str | None, str | None]] = {}  # date and document of the open elements
        self._names = tuple(
            np.array([pack_name(name) for name in names], np.uint64) for names in (_SENTENCES, _PASSAGES)
        )

    def _decode(self, chunk: bytes) -> bytes:
        has_references = b"&" in chunk and b"&#" in chunk  # the search for one byte is much faster
        return normalise_utf8(_REFERENCE.sub(_resolve, chunk) if has_references else chunk)

    def _examine(self, data: bytes) -> None:
        self._has_sentences = _HAS_SENTENCES.search(data) is not None
        self._split = "lines" if self._has_sentences or self._reading.split == "lines" else "prose"
        if self._reading.columns is None:  # a file may lack the last ones
            first = _TOKEN.search(data)
            self._columns = self._columns.limit(first[0].count(b"\t") + 1 if first else 1)

    def _note(self, text: str, line: int) -> None:  # noqa: ARG002
        if text.startswith("</"):
            name = text[2:-1].strip().lower()
            if self._open.pop(name, None) is None:
                return
        else:
            name = re.split(r"[\s/>]", text[1:], maxsplit=1)[0].lower()
            attributes = {}
            for key, double, single in _ATTRIBUTE.findall(text):
                attributes[key] = _decode_entities(double or single)
            is_document = name in _DOCUMENTS
            self._n_documents += is_document
            if text.endswith("/>") or not (attributes or is_document):
                return
            self._seen.update(dict.fromkeys(attributes))
            self._open.pop(name, None)
            date = next((attributes[key] for key in self._date_names if attributes.get(key)), None)
            names_document = is_document or self._reading.document_column is not None
            self._open[name] = date, self._name_document(attributes) if names_document else None
        self._date = next((date for date, _ in reversed(self._open.values()) if date), None)
        self._document = next((document for _, document in reversed(self._open.values()) if document), None)


class _ConlluReader(_Reader):
    columns = CONLLU
    _kernel = parse_conllu
    _has_entities = False
    _what = "comment"

    def __init__(self, source: Source, reading: Reading, annotate: bool) -> None:
        super().__init__(source, reading, annotate)
        wanted = ("newdoc", *self._date_names, *filter(None, [reading.document_column]))
        names = {pack_name(name.split()[0]) for name in wanted if name.split()}
        self._names = (np.array(sorted(names), np.uint64),)

    def _note(self, text: str, line: int) -> None:
        match = _COMMENT.fullmatch(text)
        if match is None:
            return
        new, key, value = bool(match[1]), (match[2] or "").strip(), (match[3] or "").strip()
        if new:
            self._n_documents += 1
            if line != self._dated_line:
                self._date = None
            self._document = self._name_document({key: value} if key else {})
        if key:
            self._seen[key] = None
        if value and key in self._date_names:
            self._date, self._dated_line = value, line
        if value and key == self._reading.document_column:
            self._document = value


def _join_chunks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines of about _SIZE bytes, which end in a line feed and are followed by PADDING zeros."""
    joined, size = list[bytes](), 0
    for chunk in chain(chunks, [None]):
        if chunk is not None:
            joined.append(chunk)
            size += len(chunk)
        if joined and (chunk is None or size >= _SIZE):
            end = b"" if joined[-1].endswith(b"\n") else b"\n"
            yield b"".join([*joined, end, bytes(PADDING)])
            joined, size = [], 0


def _read_ahead(parts: Iterable[_Lines]) -> Iterator[_Lines]:
    """Yield parts of a file, the next of which a thread reads in the meantime."""
    iterator = iter(parts)
    with ThreadPoolExecutor(1) as pool:
        following = pool.submit(next, iterator, None)
        while (part := following.result()) is not None:
            following = pool.submit(next, iterator, None)
            yield part


def _resolve(reference: re.Match[bytes]) -> bytes:
    """Return the character of a numeric reference; white space and control characters become a space."""
    code = int(reference[1]) if reference[1] else int(reference[2], 16)
    if code in (0x26, 0x3C):
        return b"&amp;" if code == 0x26 else b"&lt;"
    if code < 0x21 or 0x7F <= code <= 0xA0 or code in (0x2028, 0x2029) or 0xD800 <= code < 0xE000 or code > 0x10FFFF:
        return b" "
    return chr(code).encode()


def _decode_entities(text: str) -> str:
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    return text
