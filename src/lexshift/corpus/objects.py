"""Accept Python objects as corpora: tables, lists, and iterators of texts.

An object is read once, record by record, into a temporary file, so that memory does not grow with the object, and
everything else reads files only. The file is deleted at the end.

Strings are the lines of a text, as in a text file. Records of tables, dicts and (date, text) pairs are the rows of a
table, as in a Parquet file; the temporary file has one JSON array (text, date, document, group) per line. The hash of
the file depends only on the texts, dates, documents and groups, so a store recognises equal objects in later runs.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from lexshift.corpus.decoding import BLOCK, LONGEST
from lexshift.corpus.sources import ObjectFile, Place, Reading, Source, find_sources, place_of
from lexshift.corpus.tables import _columns
from lexshift.errors import UserError
from lexshift.utils.files import disk_faults


class ArrowTable(Protocol):
    """A table that can be read through the Arrow stream interface: pandas, polars, pyarrow and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return a stream of record batches."""


Item: TypeAlias = str | tuple[Any, str | None] | Mapping[str, Any] | ArrowTable | None
"""A text, a pair (date, text), a record of a table, a part of a table, or a missing text."""
Corpus: TypeAlias = Place | Iterable[Item] | ArrowTable
"""A corpus: the path of a file or folder, a pattern, or a Python object with texts.

An object is a DataFrame, a Series, an Arrow table, a Dataset of Hugging Face, or a list, a tuple, a generator or
another iterable of strings, of (date, text) pairs, of dicts or of tables.
"""
Row: TypeAlias = tuple[Any, Any, Any, Any]  # text, date, document, group
_ROWS = 4096  # rows of a table that are converted at a time
_DATE_COLUMN = "date"  # name of the dates of pairs
_LINE_END = re.compile(r"\r?\n")
_FILE_NAME = re.compile(r"\S{1,1000}\.(txt|csv|tsv|jsonl?|ndjson|parquet|xml|html?|docx|pdf|vert|conllu|gz|zst)")
_KINDS = "strings, (date, text) pairs, dicts or tables"


def is_object(corpus: object) -> bool:
    """Return whether a corpus is a Python object with texts and not a path.

    >>> is_object("texts/*.txt"), is_object(["The mouse ran."])
    (False, True)
    """
    return not isinstance(corpus, (str, os.PathLike))


@contextmanager
def as_files(corpora: Sequence[Corpus], reading: Reading) -> Iterator[tuple[list[Place], Reading]]:
    """Write the Python objects among corpora to temporary files, which exist as long as the context.

    Parameters
    ----------
    corpora : sequence of Corpus
    reading : Reading
        Options for reading text; they name the columns of tables.

    Yields
    ------
    corpora : list of str or path
        Paths as they were given, and an :class:`~lexshift.corpus.sources.ObjectFile` in place of each object.
    reading : Reading
        With a column of dates, if all corpora are pairs of a date and a text.

    Examples
    --------
    >>> with as_files([["The mouse ran.", "A mouse hid."], (text for text in ["A mouse."])], Reading()) as (files, _):
    ...     [(file.type, file.records) for file in files]
    [('list', 2), ('generator', 1)]
    """
    objects = [i for i, corpus in enumerate(corpora) if is_object(corpus)]
    if not objects:
        yield list(corpora), reading  # type: ignore[arg-type]
        return
    titles = {
        i: f"corpus {i + 1} ({_kind(corpora[i])})" if len(corpora) > 1 else f"the {_kind(corpora[i])}" for i in objects
    }
    for i in objects:
        _check(corpora[i], titles[i])
        if any(corpora[i] is corpora[j] and isinstance(corpora[i], Iterator) for j in objects if j < i):
            raise UserError(f"{titles[i]} is also another corpus, but an iterator can be read only once: give a list")
    for corpus in corpora:  # a missing file is reported before a long iterator is read
        if isinstance(corpus, (str, os.PathLike)):
            find_sources(corpus)
    with disk_faults(Path(tempfile.gettempdir())):
        temporary = tempfile.TemporaryDirectory(prefix="lexshift-", ignore_cleanup_errors=True)
    with temporary as folder:
        paths = {i: os.path.join(folder, str(i + 1)) for i in objects}
        try:
            files: list[Any] = list(corpora)
            forms = dict.fromkeys(range(len(corpora)), "")
            for i in objects:
                files[i], forms[i] = _write(corpora[i], paths[i], i + 1, titles[i], reading)
            if reading.date_column is None and set(forms.values()) == {"pairs"}:
                reading = replace(reading, date_column=_DATE_COLUMN)
            yield files, reading
        except UserError as error:
            message = str(error)
            for i in objects:  # the user knows the object, not its file
                message = re.sub(rf"(the (file|corpus) )?{re.escape(repr(paths[i]))}", titles[i], message)
            if message == str(error):
                raise
            raise UserError(message) from None


def _kind(corpus: object) -> str:
    return type(corpus).__name__


def _check(corpus: object, title: str) -> None:
    """Refuse objects that are not a corpus."""
    if isinstance(corpus, (bytes, bytearray, memoryview)):
        raise UserError(f"{title} is not text: decode the bytes, and give a list of strings")
    if isinstance(corpus, Mapping):
        keys = ", ".join(repr(key) for key in list(corpus)[:3])
        raise UserError(
            f"{title} is a mapping with the keys {keys}, not a corpus: give one of its values, a list of dicts, or a "
            f"DataFrame"
        )
    if isinstance(corpus, Set) and not hasattr(corpus, "mapping"):  # the views of a dict have its order
        raise UserError(f"{title} has no order, so results could not be repeated: give a list")
    if not isinstance(corpus, Iterable) and not hasattr(corpus, "__arrow_c_stream__"):
        place_of(corpus)  # raises an error


def _write(corpus: Any, path: str, number: int, title: str, reading: Reading) -> tuple[ObjectFile, str]:
    """Write the records of an object to a file; return the file, and the form of the records."""
    form, rows = _find_rows(corpus, title, Source(path, "", "records"), reading)
    encode = _as_line if form == "strings" else json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    n_records = n_missing = waiting = 0
    lines: list[bytes] = []

    def flush() -> None:
        # Only here is an OSError a fault of the disk: an iterator may read files of its own.
        with disk_faults(Path(path).parent), open(path, "ab") as file:
            file.writelines(lines)
        lines.clear()

    for text, *fields in rows:
        n_records += 1
        if not isinstance(text, str):
            if not _is_missing(text):
                raise UserError(
                    f"record {n_records} of {title} has {_shown(text)} in place of a text: texts are strings"
                )
            text, n_missing = None, n_missing + 1
        elif n_records == 1 and form == "strings":
            text = text.removeprefix("\ufeff")  # of a file that was opened without noticing its byte order mark
        try:
            lines.append(encode((text, *map(_plain, fields))).encode() + b"\n")
        except UnicodeEncodeError as error:
            code = ord(error.object[error.start])
            raise UserError(
                f"record {n_records} of {title} has half of a surrogate pair, U+{code:04X}, which is no character: "
                f"decode the text again from its source, or remove it"
            ) from None
        if len(lines[-1]) > LONGEST:
            raise UserError(
                f"record {n_records} of {title} has over {LONGEST >> 20} MB: break its text into several records"
            )
        waiting += len(lines[-1])
        if waiting >= BLOCK:
            flush()
            waiting = 0
    if not n_records:
        raise UserError(f"{title} is empty: give at least one text")
    flush()
    size = os.path.getsize(path)
    source = (
        Source(path, f"corpus {number}.txt", "strings", size, n_missing)
        if form == "strings"
        else Source(path, f"corpus {number}.parquet", "records", size)
    )
    return ObjectFile(source, _kind(corpus), n_records), form


def _as_line(row: Row) -> str:
    """Return the text of a row as the line of a text file; line ends inside it become spaces."""
    text: str = row[0] or ""
    if "\n" in text or text.endswith("\r"):
        text = _LINE_END.sub(" ", text.removesuffix("\n").removesuffix("\r"))
    return text


def _find_rows(corpus: Any, title: str, source: Source, reading: Reading) -> tuple[str, Iterator[Row]]:
    """Return the form of the records of an object (strings, pairs, dicts or tables), and the records."""
    import pandas as pd

    if isinstance(corpus, (pd.Series, pd.Index)):
        return "tables", zip(corpus, repeat(None), repeat(None), repeat(None), strict=False)
    rows = _table_rows(corpus, source, reading)
    if rows is not None:
        return "tables", rows
    is_arrow = hasattr(corpus, "to_pylist")  # an array of pyarrow, whose items are not Python values
    items, n_missing = (item.as_py() for item in corpus) if is_arrow else iter(corpus), 0
    for first in items:
        if not _is_missing(first):
            break
        n_missing += 1
    else:
        return "strings", iter([(None, None, None, None)] * n_missing)
    form = _form(first)
    if form is None:
        where = f"record {n_missing + 1} of {title} is {_shown(first)} of type {_kind(first)}"
        hint = "for files give a folder or a pattern" if isinstance(first, os.PathLike) else f"give {_KINDS}"
        raise UserError(f"{where}, not a text: {hint}")
    if isinstance(first, str) and _is_file(first):
        raise UserError(
            f"{title} has the name of a file, {first!r}, in place of a text: for files give a folder or a pattern, or "
            f"a list of their texts"
        )
    every = chain(repeat(None, n_missing), [first], items)
    return form, _item_rows(every, form, title, source, reading)


def _form(item: Any) -> str | None:
    """Return the form of an item of an iterable; None if it is not a record."""
    if isinstance(item, str):
        return "strings"
    if isinstance(item, tuple) and len(item) == 2:
        return "pairs"
    if isinstance(item, Mapping):
        return "dicts"
    return "tables" if hasattr(item, "__arrow_c_stream__") else None


def _is_file(text: str) -> bool:
    """Return whether a text is the name of a file: of one that exists, or one word with a usual suffix."""
    try:
        return _FILE_NAME.fullmatch(text) is not None or (len(text) < 1_000 and os.path.isfile(text))
    except ValueError:  # it has a zero byte
        return False


def _item_rows(items: Iterable[Any], form: str, title: str, source: Source, reading: Reading) -> Iterator[Row]:
    """Yield the rows of the items of an iterable, which all have one form."""
    for number, item in enumerate(items, 1):
        if isinstance(item, str) and form == "strings":
            yield item, None, None, None
            continue
        if _is_missing(item):
            yield None, None, None, None
            continue
        if _form(item) != form:
            raise UserError(
                f"record {number} of {title} is {_shown(item)} of type {_kind(item)}, unlike the first one: give only "
                f"{_KINDS}"
            )
        if form == "pairs":
            date, text = item
            if not isinstance(text, str) and not _is_missing(text):
                raise UserError(f"record {number} of {title} is {_shown(item)}: a pair is (date, text)")
            yield text, date, None, None
        elif form == "dicts":
            if reading.text_column not in item:
                _columns(map(str, item), source, reading, f"in record {number}")
            columns = (reading.date_column, reading.document_column, reading.group_column)
            date, document, group = (None if column is None else item.get(column) for column in columns)
            yield item[reading.text_column], date, document, group
        else:
            yield from _table_rows(item, source, reading) or ()


def _table_rows(table: Any, source: Source, reading: Reading) -> Iterator[Row] | None:
    """Return the rows of a table; None if the object is not a table."""
    import pandas as pd
    import pyarrow as pa

    batches: Iterable[Mapping[str, Sequence[Any]]]
    if isinstance(table, pd.DataFrame):
        columns = _columns(map(str, table.columns), source, reading)
        parts = (table[i : i + _ROWS] for i in range(0, len(table), _ROWS))
        batches = ({name: part[name].tolist() for name in columns} for part in parts)
    elif hasattr(table, "select_columns") and getattr(table, "column_names", None):  # a Dataset of Hugging Face
        columns = _columns(table.column_names, source, reading)
        batches = table.select_columns(columns).with_format(None).iter(_ROWS)
    elif hasattr(table, "__arrow_c_stream__"):
        try:
            stream = pa.RecordBatchReader.from_stream(table)
        except (pa.ArrowException, TypeError, ValueError):  # a single column
            return None
        columns = _columns(stream.schema.names, source, reading)
        batches = (
            batch.slice(i, _ROWS).select(columns).to_pydict() for batch in stream for i in range(0, len(batch), _ROWS)
        )
    else:
        return None
    return _batch_rows(batches, reading)


def _batch_rows(batches: Iterable[Mapping[str, Sequence[Any]]], reading: Reading) -> Iterator[Row]:
    """Yield the rows of batches, which map columns to values."""
    for batch in batches:
        columns = (reading.date_column, reading.document_column, reading.group_column)
        dates, documents, groups = (batch[column] if column else repeat(None) for column in columns)
        yield from zip(batch[reading.text_column], dates, documents, groups, strict=False)


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or NA."""
    if value is None or isinstance(value, (str, tuple, Mapping)):
        return value is None
    import pandas as pd

    return bool(pd.api.types.is_scalar(value) and pd.isna(value))


def _plain(value: Any) -> str | float | None:
    """Return a date or the name of a document as text or as a number, as a file would have it.

    >>> import datetime, pandas as pd
    >>> [_plain(value) for value in (1999, datetime.date(1999, 7, 31), pd.Timestamp("1999-07-31 12:00"), pd.NaT)]
    [1999, '1999-07-31', '1999-07-31 12:00:00', None]
    >>> [_plain(pd.Period("1999-07", freq)) for freq in ("Y", "Q", "M", "D")]
    ['1999', '1999-07-01', '1999-07', '1999-07-01']
    """
    if value is None or isinstance(value, (str, int)):
        return value
    import numpy as np
    import pandas as pd

    if isinstance(value, (Mapping, list)) or _is_missing(value):
        return None
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64):
        value = value.item()
    if isinstance(value, (str, int, float)):
        return value
    if isinstance(value, pd.Period) and value.freqstr not in ("Y-DEC", "M", "D"):
        first = value.start_time
        value = first.date() if first == first.normalize() else first
    return str(value)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"
