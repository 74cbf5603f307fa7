"""Read a corpus as blocks of passages: UTF-8 text with one passage per line, and the line numbers in its file."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TypeVar

from lexshift.corpus.decoding import (
    BLOCK,
    LONGEST,
    SOFT_HYPHEN,
    count_lines,
    normalise_utf8,
    open_source,
    utf8_lines,
)
from lexshift.corpus.formats import DOCUMENTS, document_records
from lexshift.corpus.records import Record
from lexshift.corpus.sources import STANDARD_INPUT, Reading, Source, Tally
from lexshift.corpus.tables import parquet_records, records
from lexshift.errors import UserError
from lexshift.utils.threads import available_cores

T = TypeVar("T")

_PARAGRAPH_END = re.compile(rb"\n[ \t]*\n")
_INNER_NEWLINE = re.compile(rb"([^\s][ \t]*)\n(?=[ \t]*[^\s])")
_SOFT_BREAK = f"{SOFT_HYPHEN}\n".encode()
_DIVIDED = re.compile(_SOFT_BREAK + rb"[ \t]*([^\s]+)[ \t]*")
_HYPHENATED = re.compile(rb"[A-Za-z\x80-\xff](?:-|\xe2\x80\x90)\n[ \t]*(?=[A-Za-z\x80-\xff])")
_AHEAD = 4  # blocks read ahead for each worker
_AHEAD_BYTES = 1 << 26  # bytes of all blocks read ahead, a limit that protects the memory from very long lines
_NEWLINES = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")


@dataclass(frozen=True)
class Block:
    """Some passages of a file.

    Attributes
    ----------
    data : bytes
        UTF-8 in normal form, one passage per line.
    split : "lines" or "prose"
        "lines" if a passage is one sentence, "prose" if it may hold several.
    line : int
        The number of the first line in the file, from 1.
    wrapped : bytes, optional
        The data before the lines of a paragraph were joined, of the same length.
    rows : list of int, optional
        The record number of each line of a table, from 1.
    dates : list of str, optional
        The date of each line of a table or a document with dates.
    documents : list of str, optional
        The document of each line, if a column or the format of the file names it.
    groups : list of str, optional
        The group of each line, if a column names it.
    file : str
        The name of the file within its corpus.
    period : str
        The period of all lines, if the corpus is divided into periods.
    """

    data: bytes
    split: str
    line: int = 1
    wrapped: bytes | None = None
    rows: list[int] | None = None
    dates: list[str | None] | None = None
    documents: list[str] | None = None
    groups: list[str | None] | None = None
    file: str = ""
    period: str = ""

    def line_of(self, index: int, position: int) -> int:
        """Return the number in the file of the line with this index and byte position in the block."""
        if self.rows is not None:
            return self.rows[index]
        if self.wrapped is not None:
            return self.line + self.wrapped.count(b"\n", 0, position)
        return self.line + index


def read_corpus(
    sources: Sequence[Source], reading: Reading, tally: Tally, progress: Callable[[int, int], None] | None = None
) -> Iterator[Block]:
    """Yield the blocks of the files of a corpus, and add the amount of text that was read to ``tally``.

    ``progress`` is called with the bytes read so far and the size of all files (0 for standard input).
    """
    total = sum(source.size for source in sources)
    for source in sources:
        for block in read_blocks(source, reading, tally):
            yield block
            if progress is not None:
                progress(tally.size, total)
    if progress is not None:
        progress(tally.size, total)


def process_blocks(blocks: Iterable[Block], function: Callable[[bytes], T]) -> Iterator[tuple[Block, T]]:
    """Yield each block with the result of a function for its data, in order; up to four are processed in parallel."""
    ahead: deque[tuple[Block, Future[T]]] = deque()
    workers = min(4, available_cores())
    with ThreadPoolExecutor(workers) as pool:
        for block in chain(blocks, [None]):
            if block is not None:
                ahead.append((block, pool.submit(function, block.data)))
            while ahead and (
                block is None
                or len(ahead) > _AHEAD * workers
                or sum(len(waiting.data) for waiting, _ in ahead) > _AHEAD_BYTES
                or ahead[0][1].done()
            ):
                oldest, future = ahead.popleft()
                yield oldest, future.result()


def read_blocks(source: Source, reading: Reading, tally: Tally) -> Generator[Block]:
    """Yield the blocks of a file. Once it is read to its end, ``tally.hashes`` has the SHA-256 of its bytes."""
    with open_source(source, tally) as stream:
        if source.kind == "parquet":
            if source.path == STANDARD_INPUT:
                raise UserError("parquet cannot be read from standard input; write it to a file")
            with open(source.path, "rb") as seekable:
                yield from _table_blocks(parquet_records(seekable, source, reading), source.name, reading, tally)
        elif source.kind == "text":
            chunks = map(normalise_utf8, utf8_lines(stream, source, reading, tally))
            yield from _text_blocks(chunks, source.name, reading, tally)
        elif source.kind in DOCUMENTS:
            yield from _table_blocks(document_records(stream, source, reading, tally), source.name, reading, tally)
        else:
            yield from _table_blocks(records(stream, source, reading, tally), source.name, reading, tally)


def _text_blocks(chunks: Iterator[bytes], file: str, reading: Reading, tally: Tally) -> Iterator[Block]:
    head = next(chunks, b"")
    split = layout(head) if reading.split == "auto" else reading.split
    if not head:
        return
    tally.splits[split] += 1
    if split == "wrapped":
        yield from _paragraphs(chain([head], chunks), file, tally)
        return
    line = 1
    for data in chain([head], chunks):
        yield Block(data, split, line, file=file)
        line += count_lines(data)


def _paragraphs(chunks: Iterable[bytes], file: str, tally: Tally) -> Iterator[Block]:
    carry, line = b"", 1
    for chunk in chunks:
        data = carry + chunk
        ends = [match.end() for match in _PARAGRAPH_END.finditer(data)]
        end = ends[-1] if ends else len(data) if len(data) > LONGEST else 0
        if end:
            yield _paragraph_block(data[:end], line, file, tally)
            line += data.count(b"\n", 0, end)
        carry = data[end:]
    if carry:
        yield _paragraph_block(carry, line, file, tally)


def _paragraph_block(data: bytes, line: int, file: str, tally: Tally) -> Block:
    """Join the lines of paragraphs.

    If a soft hyphen divides a word, its second part is moved to the end of the previous line. A hard hyphen may be part
    of the word, so such lines are only counted.
    """
    if _SOFT_BREAK in data:
        data = _DIVIDED.sub(rb"\1\n", data)
    divided = len(_HYPHENATED.findall(data))
    if divided:
        tally.skipped["lines with a hyphen at the end: a word that is divided there is not found"] += divided
    return Block(_INNER_NEWLINE.sub(rb"\1 ", data), "prose", line, wrapped=data, file=file)


def _table_blocks(rows: Iterable[Record], file: str, reading: Reading, tally: Tally) -> Iterator[Block]:
    """Yield blocks of records, each of which becomes one line."""
    split, batch, size = "", list[Record](), 0
    for record in rows:
        if not isinstance(record.text, str):
            tally.skipped["records without a text"] += 1
            continue
        batch.append(record)
        size += len(record.text)
        if size >= BLOCK:
            split = split or _table_split(batch, reading, tally)
            yield _table_block(batch, split, file, reading)
            batch, size = [], 0
    if batch:
        split = split or _table_split(batch, reading, tally)
        yield _table_block(batch, split, file, reading)


def _table_block(records: Sequence[Record], split: str, file: str, reading: Reading) -> Block:
    """Return the block of some records, with the dates and documents that a column or the format gives."""
    dates = [_field_text(record.date) for record in records]
    documents = [_field_text(record.document) for record in records]
    has_dates = reading.date_column is not None or any(dates)
    has_documents = reading.document_column is not None or any(documents)
    return Block(
        normalise_utf8(b"\n".join(_one_line(record.text) for record in records)),
        split,
        rows=[record.row for record in records],
        dates=dates if has_dates else None,
        documents=[name or f"{file}, record {record.row}" for name, record in zip(documents, records, strict=True)]
        if has_documents
        else None,
        groups=[_field_text(record.group) for record in records] if reading.group_column else None,
        file=file,
    )


def _one_line(text: str) -> bytes:
    """Return a text in UTF-8 without line breaks."""
    return _NEWLINES.sub(" ", text).encode("utf-8", "replace")


def _field_text(value: object) -> str | None:
    """Return a field of a table as text, or None if it is empty."""
    return None if value is None or value == "" else str(value).encode("utf-8", "replace").decode()


def _table_split(records: Sequence[Record], reading: Reading, tally: Tally) -> str:
    split = reading.split
    if split == "auto":
        split = layout(b"\n".join(_one_line(record.text) for record in records))
    split = "lines" if split == "lines" else "prose"  # a record is never a part of a paragraph
    tally.splits[split] += 1
    return split


_SAMPLE = 1 << 18  # bytes that are examined
_WIDEST = 150  # characters of a line in text that was wrapped for a page or a screen
_FULL = 0.75  # a wrapped line reaches this share of the common width
_SENTENCE_END = re.compile(r"[.!?…]['\")\]»”’]*\s+['\"(\[«“‘¿¡]*[^\W\d_a-zß-öø-ÿ]|[。！？]\s*(?=\w)|[।۔؟]\s+(?=\w)")
_LAST = (".", "!", "?", "…", ":", '"', "”", "»", "'", "’", "。", "！", "？", "।", "۔", "؟")


def layout(head: bytes) -> str:
    r"""Return the layout of a text, "lines", "prose" or "wrapped", judged by its first block.

    >>> layout(b"The mouse ran.\nThe cloud rained.\nBread is bread.\n")
    'lines'
    >>> layout(b"The mouse ran. It hid. The cat sat.\nThe cloud rained. We left. Nobody came.\n")
    'prose'
    >>> layout(b"The mouse ran and the cat ran after it, over\nthe hill and through the wood until they saw\n"
    ...        b"the house at the end of the lane and hid.\n\nThen it rained.\n")
    'wrapped'
    """
    lines = [line.strip() for line in head[:_SAMPLE].decode(errors="ignore").split("\n")]
    if len(head) > _SAMPLE and len(lines) > 1:
        lines.pop()  # it is incomplete
    # Lines directly followed by another line: in wrapped text, all of them are full and few end a sentence.
    followed = [a for a, b in pairwise(lines) if a and b]
    if followed:
        width = sorted(map(len, followed))[int(0.95 * (len(followed) - 1))]
        full = sum(len(line) >= _FULL * width for line in followed) / len(followed)
        ending = sum(line.endswith(_LAST) for line in followed) / len(followed)
        if width <= _WIDEST and full >= 0.75 and ending < 0.4 and any(not line for line in lines[:-1]):
            return "wrapped"
    texts = [line for line in lines if line]
    inside = sum(len(_SENTENCE_END.findall(line)) for line in texts)
    return "prose" if inside > 0.5 * len(texts) else "lines"
