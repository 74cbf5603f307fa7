"""Read a corpus as blocks of passages: UTF-8 text with one passage per line, and the line numbers in its file."""

from __future__ import annotations

import os
import re
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

from lexshift.corpus.annotation import Annotation, annotate_texts
from lexshift.corpus.date_range import DATED_DOCUMENTS, LineFilter, is_file_in_range
from lexshift.corpus.dates import date_in_name, date_text
from lexshift.corpus.decoding import (
    BLOCK,
    LONGEST,
    count_lines,
    open_source,
    read_small_text,
    utf8_lines,
)
from lexshift.corpus.formats import DOCUMENTS, document_records
from lexshift.corpus.layout import layout
from lexshift.corpus.normal_form import SOFT_HYPHEN, normalise_utf8
from lexshift.corpus.records import Columns, Record
from lexshift.corpus.sources import AUTO, STANDARD_INPUT, Reading, Source, Tally
from lexshift.corpus.tables import object_records, parquet_columns, records
from lexshift.corpus.token_files import read_tokens
from lexshift.errors import UserError
from lexshift.utils.threads import available_cores

T = TypeVar("T")
V = TypeVar("V")

_PARAGRAPH_END = re.compile(rb"\n[ \t]*\n")
_INNER_NEWLINE = re.compile(rb"([^\s][ \t]*)\n(?=[ \t]*[^\s])")
_SOFT_BREAK = f"{SOFT_HYPHEN}\n".encode()
_DIVIDED = re.compile(_SOFT_BREAK + rb"[ \t]*([^\s]+)[ \t]*")
_HYPHENATED = re.compile(rb"[A-Za-z\x80-\xff](?:-|\xe2\x80\x90)\n[ \t]*(?=[A-Za-z\x80-\xff])")
_AHEAD = 4  # blocks read ahead for each worker
_GROUP = 1 << 18  # bytes of small blocks that are processed together
_AHEAD_BYTES = 1 << 26  # bytes of all blocks read ahead, a limit that protects the memory from very long lines
_HELD = 1 << 23  # bytes of the text of a file that are held in memory until the file was read to its end
_READABLE: set[tuple[str, int, int, Reading]] = set()  # larger files that were read to their ends before
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
    annotation : Annotation, optional
        Lemmas and parts of speech of the tokens, if the file has them and they are needed.
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
    annotation: Annotation | None = None

    @property
    def lemmas(self) -> bytes | None:
        """The lines with lemmas in place of words, or None if there are none."""
        return None if self.annotation is None else self.annotation.lemmas

    def select(self, lines: Sequence[int]) -> Block:
        """Return a block with some lines of a table or a document, in which every line has a row."""
        return self._select(self.data.split(b"\n"), lines, "")

    def divide(self, lines: Mapping[str, Sequence[int]]) -> list[Block]:
        """Return a block for each period, given its lines, of a table or a document in which every line has a row."""
        texts = self.data.split(b"\n")
        return [self._select(texts, chosen, period) for period, chosen in lines.items()]

    def _select(self, texts: Sequence[bytes], lines: Sequence[int], period: str) -> Block:
        if self.rows is None:
            raise ValueError("only a block with rows can be divided")

        def choose(values: list[V] | None) -> list[V] | None:
            return None if values is None else [values[i] for i in lines]

        return replace(
            self,
            data=b"\n".join([texts[i] for i in lines]),
            rows=choose(self.rows),
            dates=choose(self.dates),
            documents=choose(self.documents),
            groups=choose(self.groups),
            period=period,
            annotation=None if self.annotation is None else self.annotation.select_lines(lines, self.data),
        )

    def line_of(self, index: int, position: int) -> int:
        """Return the number in the file of the line with this index and byte position in the block."""
        if self.rows is not None:
            return self.rows[index]
        if self.wrapped is not None:
            return self.line + self.wrapped.count(b"\n", 0, position)
        return self.line + index


def read_corpus(
    sources: Sequence[Source],
    reading: Reading,
    tally: Tally,
    progress: Callable[[int, int], None] | None = None,
    annotate: bool = False,
) -> Iterator[Block]:
    """Yield the blocks of the files of a corpus, and add the amount of text that was read to ``tally``.

    A file that cannot be read is skipped if it is optional, and counted in the tally. Nothing of it is yielded, even if
    only its end is damaged. With ``reading.strict`` it raises an error.

    ``progress`` is called with the bytes read so far and the size of all files (0 for standard input). With
    ``annotate``, blocks have the lemmas and parts of speech that the files give.
    """
    total, skipped = sum(source.size for source in sources), 0
    for source in sources:
        is_optional = source.optional and not reading.strict
        blocks = (_whole_file if is_optional else read_blocks)(source, reading, tally, annotate)
        for block in _blocks_in_range(blocks, source.name, reading, tally):
            yield block
            if progress is not None:
                progress(skipped + tally.size, total)
        skipped += source.size if source.name in tally.unreadable else 0
    if progress is not None:
        progress(skipped + tally.size, total)


def join_blocks(blocks: Iterable[Block], size: int) -> Iterator[Block]:
    """Yield the blocks of tables and documents joined to blocks of at least ``size`` bytes, and others as they are.

    A corpus with many periods would otherwise be divided into a great number of very small blocks.
    """
    held, held_size = list[Block](), 0
    for block in chain(blocks, [None]):
        is_other = block is None or block.annotation is not None or (block.file, block.split) != _file_and_split(held)
        if held and (is_other or held_size >= size):
            yield _join(held)
            held, held_size = [], 0
        if block is not None and block.rows is not None and block.annotation is None:
            held.append(block)
            held_size += len(block.data)
        elif block is not None:
            yield block


def _file_and_split(blocks: Sequence[Block]) -> tuple[str, str] | None:
    return (blocks[0].file, blocks[0].split) if blocks else None


def _join(blocks: Sequence[Block]) -> Block:
    def join_columns(columns: Sequence[list[V] | None]) -> list[V] | None:
        present = [column for column in columns if column is not None]
        return list(chain.from_iterable(present)) if len(present) == len(columns) else None

    if len(blocks) == 1:
        return blocks[0]
    return replace(
        blocks[0],
        data=b"\n".join([block.data for block in blocks]),
        rows=join_columns([block.rows for block in blocks]),
        dates=join_columns([block.dates for block in blocks]),
        documents=join_columns([block.documents for block in blocks]),
        groups=join_columns([block.groups for block in blocks]),
    )


def _blocks_in_range(blocks: Iterable[Block], file: str, reading: Reading, tally: Tally) -> Iterator[Block]:
    """Yield blocks with the lines that are dated between ``since`` and ``before``; all lines if both are None."""
    if reading.since is None and reading.before is None:
        yield from blocks
        return
    lines = LineFilter(file, reading, tally)
    for block in blocks:
        if block.dates is None or block.rows is None:
            yield block  # the name of the file has the date
        elif chosen := lines.choose(block.dates, block.rows):
            yield block.select(chosen)


def _whole_file(source: Source, reading: Reading, tally: Tally, annotate: bool) -> Generator[Block]:
    """Yield the blocks of a file after it was read to its end, or count it as a file that cannot be read.

    The blocks of a large file are not held in memory: the file is read once to see that it can be read, and then again.
    """
    if source.fault:
        tally.skip_file(source, source.fault)
        return
    if (pieces := read_small_text(source, reading, tally)) is not None:
        if is_file_in_range(source, reading, tally):
            yield from _text_blocks(map(normalise_utf8, pieces), source.name, reading, tally)
        else:
            tally.files -= 1  # only its checksum is computed
        return
    try:
        # If the file is gone, this run or this machine is at fault, not the file: the result must not depend on it.
        modified = os.stat(source.path).st_mtime_ns
    except OSError as error:
        raise UserError(f"the file {source.path!r} cannot be read: {error.strerror}") from None
    key = (source.path, source.size, modified, replace(reading, language=AUTO))
    if key in _READABLE:
        yield from read_blocks(source, reading, tally, annotate)
        return
    file_tally, held, size = Tally(), list[Block](), 0
    try:
        for block in read_blocks(source, reading, file_tally, annotate):
            size += len(block.data)
            if size <= _HELD:
                held.append(block)
            else:
                held.clear()
    except UserError as error:
        tally.skip_file(source, str(error))
        return
    if size > _HELD:
        _READABLE.add(key)
        yield from read_blocks(source, reading, tally, annotate)
    else:
        tally.add(file_tally)
        yield from held


def process_blocks(blocks: Iterable[Block], function: Callable[[Block], T]) -> Iterator[tuple[Block, T]]:
    """Yield each block with the result of a function for it, in order; up to four are processed in parallel."""
    ahead: deque[tuple[list[Block], int, Future[list[T]]]] = deque()
    workers = min(4, available_cores())

    def process(group: list[Block]) -> list[T]:
        return [function(block) for block in group]

    with ThreadPoolExecutor(workers) as pool:
        for group in chain(_groups(blocks), [None]):
            if group is not None:
                ahead.append((group, sum(len(block.data) for block in group), pool.submit(process, group)))
            while ahead and (
                group is None
                or len(ahead) > _AHEAD * workers
                or sum(size for _, size, _ in ahead) > _AHEAD_BYTES
                or ahead[0][2].done()
            ):
                oldest, _, future = ahead.popleft()
                yield from zip(oldest, future.result(), strict=True)


def _groups(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """Yield blocks in groups, so that many small ones are passed to a thread at once, which takes time."""
    group, size = list[Block](), 0
    for block in blocks:
        group.append(block)
        size += len(block.data)
        if size >= _GROUP:
            yield group
            group, size = [], 0
    if group:
        yield group


def read_blocks(source: Source, reading: Reading, tally: Tally, annotate: bool = False) -> Generator[Block]:
    """Yield the blocks of a file. Once it is read to its end, ``tally.hashes`` has the SHA-256 of its bytes.

    With ``annotate``, blocks have the lemmas and parts of speech that the file gives.
    """
    if source.fault:
        raise UserError(source.fault)
    with open_source(source, tally) as stream:
        if not is_file_in_range(source, reading, tally):
            tally.files -= 1  # only its checksum is computed
            return
        if source.kind == "parquet":
            if source.path == STANDARD_INPUT:
                raise UserError("parquet cannot be read from standard input; write it to a file")
            with open(source.path, "rb") as seekable:
                yield from _column_blocks(parquet_columns(seekable, source, reading, tally), source, reading, tally)
        elif source.kind == "text":
            chunks = map(normalise_utf8, utf8_lines(stream, source, reading, tally))
            yield from _text_blocks(chunks, source.name, reading, tally)
        elif source.kind in DOCUMENTS:
            yield from _table_blocks(document_records(stream, source, reading, tally), source, reading, tally)
        elif source.kind in ("vertical", "conllu"):
            for part in read_tokens(utf8_lines(stream, source, reading, tally), source, reading, tally, annotate):
                block = Block(**part._asdict(), file=source.name)
                yield replace(block, dates=with_date_of_file(block.dates, len(block.rows or ()), source.name))
        elif source.kind == "strings":
            chunks = map(normalise_utf8, iter(lambda: b"".join(stream.readlines(BLOCK)), b""))
            yield from _text_blocks(chunks, source.name, reading, tally)
            if source.missing:
                tally.skipped["records without a text"] += source.missing
        elif source.kind == "records":
            yield from _table_blocks(object_records(stream), source, reading, tally)
        else:
            yield from _table_blocks(records(stream, source, reading, tally), source, reading, tally)


def _text_blocks(chunks: Iterator[bytes], file: str, reading: Reading, tally: Tally) -> Iterator[Block]:
    head = next(chunks, b"")
    split = layout(head) if reading.split == "auto" else reading.split
    if not head:
        return
    tally.splits[split] += 1
    if split == "wrapped":
        yield from _paragraphs(chain([head], chunks), file, tally)
        return
    line, previous = 1, b""
    for data in chain([head], chunks):
        line += count_lines(previous) if previous else 0
        yield Block(data, split, line, file=file)
        previous = data


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


def _table_blocks(rows: Iterable[Record], source: Source, reading: Reading, tally: Tally) -> Iterator[Block]:
    """Yield blocks of records, each of which becomes one line."""
    return _column_blocks(_record_columns(rows, tally), source, reading, tally)


def _record_columns(records: Iterable[Record], tally: Tally) -> Iterator[Columns]:
    """Yield the columns of records with about BLOCK characters of text; records without a text are skipped."""
    batch, size = list[Record](), 0
    for record in records:
        text = record.text
        if not isinstance(text, str):
            tally.skipped["records without a text"] += 1
            continue
        if batch and bool(batch[-1].tokens) != bool(record.tokens):  # a block is annotated or not
            yield _columns_of(batch)
            batch, size = [], 0
        batch.append(record)
        size += len(text)
        if size >= BLOCK:
            yield _columns_of(batch)
            batch, size = [], 0
    if batch:
        yield _columns_of(batch)


def _columns_of(records: Sequence[Record]) -> Columns:
    return Columns(*map(list, zip(*records, strict=True)))


def _column_blocks(batches: Iterable[Columns], source: Source, reading: Reading, tally: Tally) -> Iterator[Block]:
    """Yield blocks of at least BLOCK characters, except where annotation begins or ends; each text becomes one line."""
    split, held, size = "", Columns.empty(), 0
    for batch in chain(batches, [None]):
        is_other = batch is not None and batch.texts and held.texts and batch.is_annotated != held.is_annotated
        if held.texts and (batch is None or size >= BLOCK or is_other):
            data = _join_lines(held.texts)
            split = split or _table_split(data, reading, tally)
            yield _column_block(held, data, split, source, reading)
            held, size = Columns.empty(), 0
        if batch is not None:
            held.extend(batch)
            size += sum(map(len, batch.texts))


def _column_block(columns: Columns, data: bytes, split: str, source: Source, reading: Reading) -> Block:
    """Return the block of some records, with the dates and documents that a column or the format gives."""
    file, rows, documents = source.name, columns.rows, columns.documents
    dates: list[str | None] | None = None
    if source.kind in DATED_DOCUMENTS or reading.date_column is not None:
        dates = [date_text(date) for date in columns.dates]
    if source.kind in DATED_DOCUMENTS:
        dates = with_date_of_file(dates, len(rows), file)
    has_documents = reading.document_column is not None or any(documents)
    data = data.replace(_SOFT_BREAK, b"\n")  # records are not continued, unlike lines of wrapped text
    return Block(
        normalise_utf8(data),
        split,
        rows=rows,
        dates=dates,
        documents=[_field_text(name) or f"{file}, record {row}" for name, row in zip(documents, rows, strict=True)]
        if has_documents
        else None,
        groups=[_field_text(group) for group in columns.groups] if reading.group_column else None,
        file=file,
        annotation=annotate_texts(zip(columns.texts, columns.tokens, strict=True)) if columns.is_annotated else None,
    )


def with_date_of_file(dates: Sequence[str | None] | None, n: int, file: str) -> list[str | None]:
    """Return the dates of n lines of a document; those without one have the date in the name of the file, if any."""
    of_file = date_in_name(file)
    return [date or of_file for date in ([None] * n if dates is None else dates)]


def _join_lines(texts: Sequence[str]) -> bytes:
    """Return texts in UTF-8, each on a line of its own, without the line breaks that they contain."""
    joined = "\n".join(texts)
    # A text that ends with a carriage return would not add a line.
    if "\r" in joined or len(f"{joined}\n".splitlines()) != len(texts):
        joined = "\n".join([_NEWLINES.sub(" ", text) for text in texts])
    return joined.encode("utf-8", "replace")


def _field_text(value: object) -> str | None:
    """Return a field of a table as text, or None if it is empty."""
    return None if value is None or value == "" else str(value).encode("utf-8", "replace").decode()


def _table_split(data: bytes, reading: Reading, tally: Tally) -> str:
    split = layout(data) if reading.split == "auto" else reading.split
    split = "lines" if split == "lines" else "prose"  # a record is never a part of a paragraph
    tally.splits[split] += 1
    return split
