"""Read JSON files as streams of records, with the library ijson."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import IO, Any

from lexshift.corpus.records import Record
from lexshift.corpus.sources import Reading, Source
from lexshift.corpus.tables import json_record
from lexshift.errors import UserError, join_names

_SPACE = b" \t\r\n\xef\xbb\xbf"


def json_records(stream: IO[bytes], source: Source, reading: Reading) -> Iterator[Record]:
    """Yield the records of a list of objects or strings, of several objects, or of an object with one list."""
    import ijson

    try:
        for row, value in enumerate(_values(stream, source, reading), 1):
            if isinstance(value, str):
                yield Record(row, value)
            else:
                yield json_record(value, row, f"in record {row}", source, reading)
    except UserError:
        raise
    except (ijson.JSONError, ValueError) as error:
        raise UserError(f"the file {source.path!r} is not valid JSON: {error}") from None


def field_names(stream: IO[bytes], source: Source, reading: Reading) -> list[str]:
    """Return the fields of the first record."""
    first = next(_values(stream, source, reading), None)
    return list(first) if isinstance(first, dict) else []


def _values(stream: IO[bytes], source: Source, reading: Reading) -> Iterator[Any]:
    import ijson

    head = stream.read(1)
    while head and head in _SPACE:
        head = stream.read(1)
    if not head:
        return iter(())
    content = _PrefixedStream(head, stream)
    if head == b"[":
        return ijson.items(content, "item", use_float=True)
    values = ijson.items(content, "", multiple_values=True, use_float=True)
    first = next(values, None)
    if not isinstance(first, dict) or reading.text_column in first:
        return values if first is None else chain([first], values)
    lists = [name for name, value in first.items() if isinstance(value, list)]
    if len(lists) != 1:
        raise UserError(
            f"the file {source.path!r} is a JSON object with the keys {join_names(list(first))}, not a list of "
            f"records: it must be a list, an object with one list, or one object per line"
        )
    return iter(first[lists[0]])


class _PrefixedStream:
    """A stream with a byte that was read before."""

    def __init__(self, head: bytes, stream: IO[bytes]) -> None:
        self._head, self._stream = head, stream

    def read(self, n: int = -1) -> bytes:
        """Read up to n bytes."""
        if n == 0:
            return b""
        head, self._head = self._head, b""
        return head or self._stream.read(n)
