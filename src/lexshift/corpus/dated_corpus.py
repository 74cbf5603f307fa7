"""Prepare a corpus that is divided by its dates: find the column of dates, and divide it in two at a day."""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice

from lexshift.corpus.date_range import TABLES, is_dated_by_name
from lexshift.corpus.dates import OF_YEARS, Date, DateReader, date_of_file
from lexshift.corpus.passages import read_corpus
from lexshift.corpus.sources import STANDARD_INPUT, Reading, Source, Tally, find_sources
from lexshift.corpus.tables import column_names
from lexshift.errors import UserError, join_names

DATE_COLUMNS = (
    *("date", "dates", "datetime", "date_time", "time", "timestamp", "year", "created", "created_at", "created_on"),
    *("created_utc", "createdat", "date_created", "published", "published_at", "publishedat", "published_on"),
    *("publication_date", "publish_date", "pub_date", "pubdate", "posted", "posted_at", "post_date"),
)
"""Names of columns that may hold the dates of a table, in any case."""
_BEFORE, _FROM = "before", "from"
_BLOCKS = 16  # number of blocks in which two periods are sought before a run


def split_labels(day: str) -> tuple[str, str]:
    """Return the names of the two parts of a corpus that is divided at a day.

    >>> split_labels("2020-03-01")
    ('before 2020-03-01', 'from 2020-03-01')
    """
    return f"{_BEFORE} {day}", f"{_FROM} {day}"


def side_of(date: Date, day: str) -> str | None:
    """Return whether a date is "before" a day or "from" that day on; None if it is not precise enough.

    >>> from lexshift.corpus.dates import read_date
    >>> [side_of(read_date(text)[0], "2020-03-01") for text in ("2020-02-29", "2020-03", "2020")]
    ['before', 'from', None]
    """
    split = datetime.date.fromisoformat(day)
    return _BEFORE if date.last < split else _FROM if date.first >= split else None


def find_date_column(
    corpus: str | os.PathLike[str], reading: Reading, unit: str | None, split_at: str | None
) -> tuple[Reading, str | None]:
    """Return reading options that name the column of dates, and a note if the column was found by its name.

    A column is sought if none is named and the names of the files do not divide the corpus.

    Parameters
    ----------
    corpus : str or path
        A corpus that is divided by its dates.
    reading : Reading
    unit : str, optional
        Length of the periods.
    split_at : str, optional
        Day at which the corpus is divided, instead of into periods.
    """
    sources = _find_files(corpus)
    tables = [source for source in sources if source.kind in TABLES]
    if reading.date_column is not None or not tables:
        return reading, None
    period_of: Callable[[Date], str | None] = (
        partial(side_of, day=split_at) if split_at else lambda d: d.period(str(unit))
    )
    dates = {source.name: date_of_file(source.name) for source in sources}
    periods = {name: None if date is None else period_of(date) for name, date in dates.items()}
    if len(set(periods.values())) > 1 and all(periods[source.name] is not None for source in tables):
        return reading, None
    columns = column_names(tables[0], reading)
    used = (reading.text_column, reading.document_column)
    candidates = [name for name in columns if name.strip().casefold() in DATE_COLUMNS and name not in used]
    if len(candidates) == 1:
        note = f"dates are read from the column {candidates[0]!r}; name another one with --date-column if this is wrong"
        return replace(reading, date_column=candidates[0]), note
    if len(candidates) > 1:
        raise UserError(
            f"several columns of {tables[0].path!r} may hold the dates: {join_names(candidates)}; choose one with "
            f"--date-column"
        )
    if columns and not any(dates.values()):
        raise UserError(
            f"neither the columns nor the name of {tables[0].path!r} show where its dates are: name one of "
            f"{join_names(columns)} with --date-column"
        )
    return reading, None


def split_readings(corpus: str | os.PathLike[str], day: str, reading: Reading) -> tuple[Reading, Reading]:
    """Return the reading options of the two parts of a corpus: the text before a day, and that from the day on.

    The corpus is read until both parts have text. A part without any is refused.
    """
    sides: set[str | None] = set()
    bounds: list[datetime.date] = []

    def find_side(date: Date) -> str | None:
        bounds[:] = [min(*bounds[:1], date.first, date.last), max(*bounds[1:], date.first, date.last)]
        return side_of(date, day)

    example = None
    for block in _date_blocks(_find_files(corpus), reading, find_side):
        sides.update(block.values())
        example = example or next((text for text, side in block.items() if side is None), None)
        if {_BEFORE, _FROM} <= sides:
            return replace(reading, before=day), replace(reading, since=day)
    name = os.fspath(corpus)
    if not bounds:
        column = reading.date_column
        where = "no file has a date in its name" if column is None else f"there is none in the column {column!r}"
        reason = where if example is None else f"{example!r} is none"
        raise UserError(
            f"the corpus {name!r} cannot be divided at {day}, because it has no dates ({reason}): name the column of a "
            f"table that holds the dates (--date-column)"
        )
    parts = zip((_BEFORE, _FROM), split_labels(day), strict=True)
    missing = " or ".join(label for side, label in parts if side not in sides)
    raise UserError(
        f"no text of {name!r} is dated {missing}: its dates are from {bounds[0]} to {bounds[1]}; choose another day "
        f"(--split-at), or give dates that are precise enough"
    )


def check_first_dates(corpus: str | os.PathLike[str], unit: str, reading: Reading) -> str | None:
    """Refuse ambiguous dates at the beginning of a corpus, so that most errors are found before it is read.

    Blocks are read until there are two periods, at most 16 of them.

    Returns
    -------
    str or None
        The only period, if the whole corpus was read and has one.
    """
    periods: set[str] = set()
    blocks = _date_blocks(_find_files(corpus), reading, lambda date: date.period(unit), unit in OF_YEARS)
    for block in islice(blocks, _BLOCKS):
        periods.update(period for period in block.values() if period is not None)
        if len(periods) > 1:
            return None
    is_read = next(blocks, None) is None
    return periods.pop() if periods and is_read else None


def _find_files(corpus: str | os.PathLike[str]) -> list[Source]:
    sources = find_sources(corpus)
    if any(source.path == STANDARD_INPUT for source in sources):
        raise UserError(
            "a corpus from standard input has no dates: give a table with dates, or files with years in their names"
        )
    return sources


def _date_blocks(
    sources: list[Source], reading: Reading, period_of: Callable[[Date], str | None], of_years: bool = False
) -> Iterator[dict[str, str | None]]:
    """Yield the dates of each file and of each block of records, with their periods."""
    for source in sources:
        if is_dated_by_name(source, reading):
            date = date_of_file(source.name)
            yield {} if date is None else {source.name: period_of(date)}
            continue
        dates = DateReader(period_of, reading.date_order, of_years)
        for block in read_corpus([source], reading, Tally()):
            rows = zip(block.dates or (), block.rows or (), strict=True)
            yield {text: dates.period(text, source.name, row) for text, row in rows if text is not None}
