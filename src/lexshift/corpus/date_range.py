"""Read only the part of a corpus that is dated before a day, or from that day on."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from lexshift.corpus.dates import Date, DateReader, date_of_file, date_text
from lexshift.corpus.sources import Reading, Source, Tally
from lexshift.corpus.tables import Record

TABLES = ("jsonl", "csv", "tsv", "parquet")
"""Kinds of files whose records may have dates."""
_INSIDE, _OUTSIDE = "inside", "outside"


def is_dated_by_name(source: Source, reading: Reading) -> bool:
    """Return whether the date of a file is the one in its name: it is no table, or one without a column of dates."""
    return source.kind not in TABLES or reading.date_column is None


def is_file_in_range(source: Source, reading: Reading, tally: Tally) -> bool:
    """Return whether the text of a file may lie between ``since`` and ``before``, judged by its name.

    Files whose names do not tell it are left out and counted, once for both parts of a corpus: with the earlier one.
    """
    if (reading.since is None and reading.before is None) or not is_dated_by_name(source, reading):
        return True
    date = date_of_file(source.name)
    place = None if date is None else _place(date, reading)
    if place is None and reading.since is None:
        what = "without a date in their names" if date is None else f"with a date on both sides of {reading.before}"
        tally.skipped[f"files {what}, of both periods"] += 1
    return place == _INSIDE


def records_in_range(rows: Iterator[Record], file: str, reading: Reading, tally: Tally) -> Iterator[Record]:
    """Yield the records that are dated between ``since`` and ``before``; all of them if both are None.

    Records whose dates do not tell it are left out and counted, once for both parts of a corpus: with the earlier one.
    """
    if (reading.since is None and reading.before is None) or reading.date_column is None:
        yield from rows
        return
    dates = DateReader(lambda date: _place(date, reading), reading.date_order)
    for record in rows:
        text = date_text(record[2])
        place = None if text is None else dates.period(text, file, record[0])
        if place == _INSIDE:
            yield record
        elif place is None and reading.since is None:
            invalid = f"with a date that is not valid or on both sides of {reading.before}"
            what = "without a date" if text is None else invalid
            tally.skipped[f"records {what}, of both periods"] += 1


def _place(date: Date, reading: Reading) -> str | None:
    """Return whether all days of a date are inside or outside the range of days to read, or None if some are."""
    since = datetime.date.min if reading.since is None else datetime.date.fromisoformat(reading.since)
    before = None if reading.before is None else datetime.date.fromisoformat(reading.before)
    if date.first >= since and (before is None or date.last < before):
        return _INSIDE
    return _OUTSIDE if date.last < since or (before is not None and date.first >= before) else None
