"""Read tables.

The records of a corpus in jsonl, csv, tsv and parquet files are read as a stream; each record is a text, optionally
with a date and the name of its document. Small tables and lists are read at once, and error messages name the file and
the line.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Generator, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any

from lexshift.corpus.dates import arrow_dates
from lexshift.corpus.decoding import BLOCK, LONGEST, open_source, utf8_lines
from lexshift.corpus.records import Columns, Record
from lexshift.corpus.sources import Reading, Source, Tally
from lexshift.errors import UserError, join_names

_ROWS = 4096  # maximum number of rows of a parquet file that are read at a time
_BYTES = 1 << 20  # approximate bytes of text in the rows of a parquet file that are read at a time
_SEPARATORS = {"comma": ",", "tab": "\t"}
_LONGEST_FIELD = 1 << 24  # characters of a field of a small table


def records(stream: IO[bytes], source: Source, reading: Reading, tally: Tally) -> Iterator[Record]:
    """Yield the records of a table, in order."""
    read = _read_jsonl if source.kind == "jsonl" else _read_delimited
    return read(utf8_lines(stream, source, reading, tally), source, reading)


def object_records(stream: IO[bytes]) -> Iterator[Record]:
    """Yield the records of the temporary file of a Python object; see :mod:`lexshift.corpus.objects`."""
    for row, line in enumerate(stream, 1):
        text, date, document, group = json.loads(line)
        yield Record(row, text, date, document, group)


def parquet_columns(file: IO[bytes], source: Source, reading: Reading, tally: Tally) -> Iterator[Columns]:
    """Yield the rows of a parquet file, in order, some at a time; rows without a text are counted as skipped.

    There is no Python object for a row, only for each text and each different date, because tables may be large.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        table = parquet.ParquetFile(file, buffer_size=BLOCK)
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"the file {source.path!r} is damaged, or not a parquet file: {error}") from None
    columns = _columns(table.schema_arrow.names, source, reading)
    kind = table.schema_arrow.field(reading.text_column).type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        raise UserError(f"the column {reading.text_column!r} of {source.path!r} holds {kind}, not text (--text-column)")
    row = 0
    try:
        for group in range(table.num_row_groups):
            rows = _rows_at_a_time(table, file, group, reading.text_column)
            for batch in table.iter_batches(rows, row_groups=[group], columns=columns):
                n = len(batch)
                numbers, texts = list(range(row + 1, row + 1 + n)), batch.column(reading.text_column)
                if texts.null_count:
                    tally.skipped["records without a text"] += texts.null_count
                    chosen = texts.is_valid()
                    numbers = [
                        number for number, is_chosen in zip(numbers, chosen.to_pylist(), strict=True) if is_chosen
                    ]
                    batch, texts = batch.filter(chosen), texts.filter(chosen)
                dates, documents, groups = (
                    arrow_dates(batch.column(column)) if column else [None] * len(batch)
                    for column in (reading.date_column, reading.document_column, reading.group_column)
                )
                tokens = [None] * len(batch)
                yield Columns(numbers, _texts(texts, numbers, source, reading), dates, documents, groups, tokens)
                row += n
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"the parquet file {source.path!r} is damaged after row {row}: {error}") from None


def _texts(column: Any, rows: list[int], source: Source, reading: Reading) -> list[str]:
    """Return the texts of an Arrow column; raise an error or replace what is not UTF-8, which Arrow does not check."""
    import pyarrow as pa

    try:
        texts: list[str] = column.to_pylist()
        return texts
    except UnicodeDecodeError:
        texts = []
    for row, data in zip(rows, column.cast(pa.large_binary()).to_pylist(), strict=True):
        try:
            texts.append(data.decode(errors=reading.errors))
        except UnicodeDecodeError:
            raise UserError(f"the file {source.path!r} is not UTF-8 at row {row}; pass --errors replace") from None
    return texts


def _rows_at_a_time(table: Any, file: IO[bytes], group: int, column: str) -> int:
    """Return the number of rows of a row group that hold about _BYTES bytes of text."""
    import pyarrow.compute as pc
    from pyarrow import parquet

    about = table.metadata.row_group(group)
    chunks = [about.column(i) for i in range(about.num_columns) if about.column(i).path_in_schema == column]
    if not about.num_rows or not chunks:
        return _ROWS
    longest = (
        chunks[0].total_uncompressed_size // about.num_rows
    )  # the mean length, because the file does not record the longest
    if chunks[0].has_dictionary_page:
        # A long text that the dictionary holds once may occur in every row.
        reader = parquet.ParquetFile(file, metadata=table.metadata, read_dictionary=[column], buffer_size=BLOCK)
        first = next(reader.iter_batches(1, row_groups=[group], columns=[column])).column(0)
        if hasattr(first, "dictionary"):
            longest = max(longest, pc.max(pc.binary_length(first.dictionary)).as_py() or 0)
    return max(1, min(_ROWS, _BYTES // max(longest, 1)))


def _read_jsonl(blocks: Iterable[bytes], source: Source, reading: Reading) -> Iterator[Record]:
    line = 0
    for block in blocks:
        for text in block.decode().removesuffix("\n").split("\n"):
            line += 1
            if not text or text.isspace():
                continue
            try:
                record = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise UserError(f"the file {source.path!r} has no valid JSON at line {line}: {error}") from None
            yield json_record(record, line, f"at line {line}", source, reading)


def json_record(value: Any, row: int, where: str, source: Source, reading: Reading) -> Record:
    """Return the record of a JSON object; raise an error that says ``where`` it is if it is none."""
    if not isinstance(value, dict):
        shown = "" if isinstance(value, list) else f" {str(value)[:40]!r}"  # nested lists may be very long
        raise UserError(
            f"the file {source.path!r} has {type(value).__name__}{shown} {where}, not a JSON object such as "
            f'{{"{reading.text_column}": "..."}}'
        )
    if reading.text_column not in value:
        _columns(value, source, reading, where)
    columns = (reading.date_column, reading.document_column, reading.group_column)
    fields = [None if isinstance(field, (dict, list)) else field for field in map(value.get, columns)]
    return Record(row, value[reading.text_column], *fields)


def _read_delimited(blocks: Iterable[bytes], source: Source, reading: Reading) -> Iterator[Record]:
    lines = (line for block in blocks for line in io.StringIO(block.decode(), newline=""))
    csv.field_size_limit(LONGEST)  # an unclosed quotation mark makes the rest of the file one field
    table = _read_rows(lines, source)
    try:
        header = next(table, None)
        if header is None:
            return
        where = {name: header.index(name) for name in _columns(header, source, reading)}
        text = where[reading.text_column]
        others = [
            where[name] if name else None
            for name in (reading.date_column, reading.document_column, reading.group_column)
        ]
        for row, fields in enumerate(table, 1):
            if fields:
                if len(fields) <= max(where.values()):
                    raise UserError(
                        f"the file {source.path!r} has {len(fields)} fields instead of {len(header)} at line "
                        f"{table.line_num}"
                    )
                date, document, group = (None if at is None else fields[at] for at in others)
                yield Record(row, fields[text], date, document, group)
    except csv.Error as error:
        raise UserError(
            f"the file {source.path!r} is not valid {source.kind} at line {table.line_num}: {error}"
        ) from None


def _read_rows(lines: Iterator[str], source: Source) -> Any:
    """Return a reader of the rows of a csv or tsv file.

    Spreadsheets write csv with semicolons in countries where numbers have decimal commas. Such a file is recognised by
    its first line, which has a semicolon and no comma.
    """
    if source.kind == "tsv":
        # Fields of a tsv cannot contain a tab, so quotation marks have no special meaning there.
        return csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    first = next(lines, "")
    delimiter = ";" if ";" in first and "," not in first else ","
    return csv.reader(chain([first] if first else [], lines), delimiter=delimiter, strict=True)


def _columns(names: Iterable[str], source: Source, reading: Reading, where: str = "") -> list[str]:
    """Return the columns to read; raise an error if one is missing or ambiguous."""
    options: dict[str, str | None] = {
        "--text-column": reading.text_column,
        "--date-column": reading.date_column,
        "--document-column": reading.document_column,
        "--groups": reading.group_column,
    }
    wanted = {option: column for option, column in options.items() if column}
    available = list(names)
    for option, column in wanted.items():
        if column not in available:
            place = f" {where}" if where else ""
            separator, ending = ("comma", ".csv") if source.kind == "tsv" else ("tab", ".tsv")
            if source.kind in ("csv", "tsv") and len(available) == 1 and _SEPARATORS[separator] in available[0]:
                raise UserError(
                    f"the file {source.path!r} has no column {column!r}, because its columns are separated by "
                    f"{separator}s: rename it to end in {ending}"
                )
            raise UserError(
                f"the file {source.path!r} has no column {column!r}{place}: name one of {join_names(available)} with "
                f"{option}"
            )
        if available.count(column) > 1:
            raise UserError(
                f"the file {source.path!r} has {available.count(column)} columns {column!r}: rename them, so that "
                f"each name is unique"
            )
    return list(dict.fromkeys(wanted.values()))


def column_names(source: Source, reading: Reading) -> list[str]:
    """Return the names of the columns of a table; those of a jsonl file are the fields of its first record.

    Without names, the list is empty; what is wrong with the file is reported when it is read.
    """
    try:
        if source.kind == "parquet":
            from pyarrow import parquet

            return list(parquet.read_schema(source.path).names)
        if source.kind == "json":
            from lexshift.corpus.formats.json_document import field_names

            with open_source(source, Tally()) as stream:
                return field_names(stream, source, reading)
        if source.kind not in ("jsonl", "csv", "tsv"):
            return []
        blocks = _first_block(source, reading)
        text = next(blocks, b"").decode().lstrip("\n")
        blocks.close()  # without reading the rest of the file
        if source.kind == "jsonl":
            record = json.loads(text.partition("\n")[0])
            return list(record) if isinstance(record, dict) else []
        return next(_read_rows(iter(io.StringIO(text, newline="")), source), [])
    except (ValueError, RecursionError, OSError, csv.Error):  # errors of Arrow are ValueError or OSError
        return []


def _first_block(source: Source, reading: Reading) -> Generator[bytes]:
    with open_source(source, Tally()) as stream:
        yield from utf8_lines(stream, source, reading, Tally())


def read_lines(path: Path) -> list[str]:
    """Return the lines of a small text file, without line ends."""
    try:
        return path.read_text("utf-8-sig").split("\n")
    except FileNotFoundError:
        raise UserError(f"{str(path)!r} is missing") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise UserError(f"{str(path)!r}, line {line}: not UTF-8") from None
    except OSError as error:
        raise UserError(f"{str(path)!r} cannot be read: {error.strerror}") from None


def is_table(path: Path) -> bool:
    """Return whether a file is a csv or tsv table, judged by its ending."""
    return path.is_file() and path.suffix.lower() in (".csv", ".tsv")


def read_table(path: Path, columns: tuple[str, ...], delimiter: str = "\t") -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a small table with the number of their last line; empty rows are left out.

    Parameters
    ----------
    path : Path
    columns : tuple of str
        Columns that the table must have.
    delimiter : str
        A comma for csv, whose fields may be quoted; fields between tabs are not unquoted.
    """
    lines, rows = read_lines(path), []
    reader = csv.reader((line + "\n" for line in lines), delimiter=delimiter)
    numbered = (
        ((reader.line_num, fields) for fields in reader)
        if delimiter == ","
        else enumerate((line.rstrip("\r").split(delimiter) for line in lines), 1)
    )
    limit = csv.field_size_limit(_LONGEST_FIELD)
    try:
        header = [name.strip() for name in next(numbered, (1, []))[1]]
        missing = [name for name in columns if name not in header]
        if missing:
            available = ", ".join(name for name in header if name) or "none"
            must = ", ".join(columns)
            raise UserError(f"{str(path)!r}, line 1: no column {missing[0]!r}; it must have {must}; it has {available}")
        for line, fields in numbered:
            if not any(field.strip() for field in fields):
                continue
            if len(fields) != len(header):
                raise UserError(f"{str(path)!r}, line {line}: {len(fields)} fields instead of {len(header)}")
            rows.append((line, dict(zip(header, fields, strict=True))))
    except csv.Error as error:
        raise UserError(f"{str(path)!r}, line {reader.line_num}: {error}") from None
    finally:
        csv.field_size_limit(limit)
    return rows


def parse_number(row: dict[str, str], column: str, path: Path, line: int) -> float:
    """Return a field of a table as a finite number."""
    value = parse_optional_number(row, column, path, line)
    if value is None:
        raise UserError(f"{str(path)!r}, line {line}: {column} is {row[column]!r}, not a number")
    return value


def parse_optional_number(row: dict[str, str], column: str, path: Path, line: int) -> float | None:
    """Return a field of a table as a finite number, or None for nan."""
    try:
        value = float(row[column])
    except ValueError:
        value = math.inf
    if math.isinf(value):
        raise UserError(f"{str(path)!r}, line {line}: {column} is {row[column]!r}, not a number")
    return None if math.isnan(value) else value


def parse_span(text: str, sentence: str, path: Path, line: int) -> tuple[int, int]:
    """Return a field such as 95:100 as a span of characters of a sentence."""
    start, _, end = text.partition(":")
    if not (start.isdecimal() and end.isdecimal() and is_span(int(start), int(end), sentence)):
        raise UserError(f"{str(path)!r}, line {line}: the span {text!r} is not within the context")
    return int(start), int(end)


def is_span(start: int, end: int, sentence: str) -> bool:
    """Return whether a span is within a sentence and holds more than white space."""
    return 0 <= start < end <= len(sentence) and bool(sentence[start:end].strip())
