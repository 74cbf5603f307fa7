"""Select the files and lines of a corpus that are dated before a day, or from that day on."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from lexshift.corpus.dates import Date, DateReader, date_of_file
from lexshift.corpus.sources import Reading, Source, Tally

TABLES = ("jsonl", "json", "csv", "tsv", "parquet", "records")
"""Kinds of files whose records have the dates of a column."""
DATED_DOCUMENTS = ("xml", "html", "vertical", "conllu")
"""Kinds of files that may give the dates of their texts themselves; otherwise the name of the file does."""
_INSIDE, _OUTSIDE = "inside", "outside"


def is_dated_by_name(source: Source, reading: Reading) -> bool:
    """Return whether the date of a file is the one in its name: it is plain text, or a table without dates."""
    return source.kind not in DATED_DOCUMENTS and (source.kind not in TABLES or reading.date_column is None)


def is_file_in_range(source: Source, reading: Reading, tally: Tally) -> bool:
    """Return whether the text of a file may lie between ``since`` and ``before``, judged by its name.

    Files whose names do not determine this are left out. They are counted once for both parts of a corpus: in the
    earlier part.
    """
    if (reading.since is None and reading.before is None) or not is_dated_by_name(source, reading):
        return True
    date = date_of_file(source.name)
    position = None if date is None else _locate(date, reading)
    if position is None and reading.since is None:
        what = "without a date in their names" if date is None else f"with a date on both sides of {reading.before}"
        tally.skipped[f"files {what}, of both periods"] += 1
    return position == _INSIDE


class LineFilter:
    """Choose the lines of a file that are dated between ``since`` and ``before``, by the dates of its records.

    Lines whose dates do not determine this are left out. They are counted once for both parts of a corpus: in the
    earlier part.
    """

    def __init__(self, file: str, reading: Reading, tally: Tally) -> None:
        self._file, self._reading, self._tally = file, reading, tally
        self._dates = DateReader(lambda date: _locate(date, reading), reading.date_order)

    def choose(self, dates: Sequence[str | None], rows: Sequence[int]) -> list[int]:
        """Return the indices of the lines to read; ``dates`` and ``rows`` have a value for each line."""
        chosen = []
        for index, (text, position) in enumerate(zip(dates, self._dates.periods(dates, self._file, rows), strict=True)):
            if position == _INSIDE:
                chosen.append(index)
            elif position is None and self._reading.since is None:
                invalid = f"with a date that is not valid or on both sides of {self._reading.before}"
                what = "without a date" if text is None else invalid
                self._tally.skipped[f"records {what}, of both periods"] += 1
        return chosen


def _locate(date: Date, reading: Reading) -> str | None:
    """Return whether all days of a date are inside or outside the range of days to read, or None if some are."""
    since = datetime.date.min if reading.since is None else datetime.date.fromisoformat(reading.since)
    before = None if reading.before is None else datetime.date.fromisoformat(reading.before)
    if date.first >= since and (before is None or date.last < before):
        return _INSIDE
    return _OUTSIDE if date.last < since or (before is not None and date.first >= before) else None
