"""Read a corpus as blocks of passages: UTF-8 text with one passage per line, and the line numbers in its file."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TypeVar

from lexshift.corpus.date_range import is_file_in_range, records_in_range
from lexshift.corpus.dates import date_text
from lexshift.corpus.decoding import (
    BLOCK,
    LONGEST,
    SOFT_HYPHEN,
    count_lines,
    normalise_utf8,
    open_source,
    utf8_lines,
)
from lexshift.corpus.sources import STANDARD_INPUT, Reading, Source, Tally
from lexshift.corpus.tables import Record, parquet_records, records
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
        The date of each line of a table.
    documents : list of str, optional
        The document of each line of a table, if a column names it.
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
        if not is_file_in_range(source, reading, tally):
            tally.files -= 1  # only its checksum is computed
            return
        if source.kind == "parquet":
            if source.path == STANDARD_INPUT:
                raise UserError("parquet cannot be read from standard input; write it to a file")
            with open(source.path, "rb") as seekable:
                yield from _table_blocks(parquet_records(seekable, source, reading), source.name, reading, tally)
        elif source.kind == "text":
            chunks = map(normalise_utf8, utf8_lines(stream, source, reading, tally))
            yield from _text_blocks(chunks, source.name, reading, tally)
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


def _table_blocks(rows: Iterator[Record], file: str, reading: Reading, tally: Tally) -> Iterator[Block]:
    split, texts, numbers, dates, documents, size = "", list[bytes](), list[int](), list[str | None](), list[str](), 0

    def block() -> Block:
        named = documents if reading.document_column else None
        return Block(normalise_utf8(b"\n".join(texts)), split, rows=numbers, dates=dates, documents=named, file=file)

    for row, text, date, document in records_in_range(rows, file, reading, tally):
        if not isinstance(text, str):
            tally.skipped["records without a text"] += 1
            continue
        texts.append(_NEWLINES.sub(" ", text).encode("utf-8", "replace"))
        numbers.append(row)
        dates.append(date_text(date))
        if reading.document_column:
            documents.append(_field_text(document) or f"{file}, record {row}")
        size += len(texts[-1])
        if size >= BLOCK:
            split = split or _table_split(texts, reading, tally)
            yield block()
            texts, numbers, dates, documents, size = [], [], [], [], 0
    if texts:
        split = split or _table_split(texts, reading, tally)
        yield block()


def _field_text(value: object) -> str | None:
    """Return a field of a table as text, or None if it is empty."""
    return None if value is None or value == "" else str(value).encode("utf-8", "replace").decode()


def _table_split(texts: list[bytes], reading: Reading, tally: Tally) -> str:
    split = layout(b"\n".join(texts)) if reading.split == "auto" else reading.split
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
