"""Divide one corpus into periods, and collect the occurrences of target words in each period.

The records of tables are assigned to periods by their dates, text files by the year or date in their names. Each period
is then treated like a corpus: it has its own counts and its own sample of the occurrences of each word.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal, get_args

from lexshift.corpus.language import detect_languages
from lexshift.corpus.occurrences import OccurrenceCollector, Occurrences, collect_occurrences, make_occurrences
from lexshift.corpus.passages import Block, read_corpus
from lexshift.corpus.sources import STANDARD_INPUT, Reading, Source, Tally, find_sources
from lexshift.corpus.targets import Targets
from lexshift.errors import UserError
from lexshift.utils import checks

By = Literal["year", "decade", "month"]
BY: tuple[str, ...] = get_args(By)
_DATE = re.compile(r"(\d{4})(?:\.0+)?(?:([-/.]?)(\d{2})(?:\2(\d{2})(?:[T ].*)?)?)?", re.DOTALL)
_IN_NAME = re.compile(
    r"(?<!\d)(1\d{3}|20\d{2})(?:([-_.]?)(0[1-9]|1[0-2])(?:\2(0[1-9]|[12]\d|3[01]))?)?(?!\d)"  # a year, or a date
)
_MONTH = re.compile(r"(\d{4})-(\d{2})")


def period_of(date: str | None, unit: str) -> str | None:
    """Return the period of a date; None if the text is not a date, or the date is not precise enough.

    Dates begin with the year: 1999, 1999-07, 1999-07-31, 19990731, with any time after the day.

    >>> [period_of("1999-07-31T12:00:00Z", unit) for unit in ("decade", "year", "month")]
    ['1990s', '1999', '1999-07']
    >>> [period_of(date, "month") for date in ("1999", "31.7.1999", None)]
    [None, None, None]
    """
    found = None if date is None else _DATE.fullmatch(date.strip())
    return None if found is None else _label(found[1], found[3], found[4], unit)


_cached_period_of = lru_cache(1 << 14)(period_of)  # usually there are fewer different dates than records


def period_of_file(name: str, unit: str) -> str | None:
    """Return the period of the first year (1000 to 2099) or date in the name of a file, or else of its folders.

    >>> period_of_file("letters/1850s.txt", "decade"), period_of_file("2001/07.txt", "year")
    ('1850s', '2001')
    >>> period_of_file("news_2001-07-31.txt", "month"), period_of_file("news.txt", "year")
    ('2001-07', None)
    """
    for part in reversed(PurePosixPath(name).parts):
        found = _IN_NAME.search(part)
        if found:
            return _label(found[1], found[3], found[4], unit)
    return None


def month_of(label: str) -> tuple[int, int] | None:
    """Return the year and the month of a period; None if it is not a month.

    >>> month_of("2001-07"), month_of("2001")
    ((2001, 7), None)
    """
    found = _MONTH.fullmatch(label)
    return (int(found[1]), int(found[2])) if found and 1 <= int(found[2]) <= 12 else None


def _label(year: str, month: str | None, day: str | None, unit: str) -> str | None:
    """Return the label of a period in ASCII digits; the date may have digits of any script."""
    try:
        date = datetime.date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return None
    if unit == "month":
        return f"{date.year:04}-{date.month:02}" if month else None
    return f"{date.year:04}" if unit == "year" else f"{date.year // 10:03}0s"


def find_in_periods(
    corpus: str | os.PathLike[str],
    targets: Targets,
    unit: str,
    reading: Reading | None = None,
    max_per_word: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    shared: bool = False,
) -> dict[str, Occurrences]:
    """Read a corpus once, and collect the occurrences of each of its periods, the earliest first.

    ``unit`` is "year", "decade" or "month". The result has all occurrences of each word and period, or a sample of
    ``max_per_word``; with ``shared``, the samples of different words share sentences as far as possible. The checksum
    of a period is made from that of the corpus, the unit and the label of the period. Text without a period, and
    everything that concerns complete files, is counted among the skipped text of the first period.
    """
    checks.choice(unit, "by", BY)
    targets.first_words  # noqa: B018  refuses forms that cannot be found before the corpus is read
    seed, sources = checks.seed(seed), find_sources(corpus)
    if any(source.path == STANDARD_INPUT for source in sources):
        raise UserError(
            "a corpus from standard input has no dates: give a table with dates, or files with years in their names"
        )
    _, readings = detect_languages({"": corpus}, reading or Reading())
    reading_options, corpus_tally = readings[""], Tally()
    collectors: defaultdict[str, OccurrenceCollector] = defaultdict(
        lambda: OccurrenceCollector(targets, max_per_word, seed, shared)
    )
    cutter = _Cutter(unit, reading_options, sources, corpus_tally.skipped)
    blocks = (
        part for block in read_corpus(sources, reading_options, corpus_tally, progress) for part in cutter.cut(block)
    )
    collect_occurrences(blocks, targets, reading_options.language, collectors, cutter.tallies)
    labels = sorted(label for label in collectors if cutter.tallies[label].words)
    if not labels:
        raise cutter.nothing_found(os.fspath(corpus))
    cutter.tallies[labels[0]].skipped += corpus_tally.skipped
    return {
        label: make_occurrences(
            collectors[label].rows(),
            collectors[label].found,
            cutter.tallies[label],
            os.fspath(corpus),
            max_per_word,
            hashlib.sha256(f"{corpus_tally.content}\0{unit}\0{label}".encode()).hexdigest(),
        )
        for label in labels
    }


class _Cutter:
    """Divide blocks into blocks of one period each, and count text without a period as skipped.

    Attributes
    ----------
    tallies : dict
        Counts of the text that was read in each period, except for its words and passages.
    """

    def __init__(self, unit: str, reading: Reading, sources: Sequence[Source], skip_counts: Counter[str]) -> None:
        self.tallies: defaultdict[str, Tally] = defaultdict(Tally)
        self._unit, self._date_column, self._skip_counts = unit, reading.date_column, skip_counts
        self._example: str | None = None  # a date that was not understood
        self._file, self._periods = "", set[str]()  # the current file, and the periods that were found in it
        for source in sources:
            if (source.kind == "text" or self._date_column is None) and period_of_file(source.name, unit) is None:
                what = "a month" if unit == "month" else "a year"
                skip_counts[f"files without {what} in their names, of all periods"] += 1

    def cut(self, block: Block) -> Iterator[Block]:
        """Yield the parts of a block by period, according to the dates of its records or the name of its file."""
        if block.dates is None or block.rows is None:
            period = period_of_file(block.file, self._unit)
            parts = [] if period is None else [replace(block, period=period)]
        else:
            lines: defaultdict[str, list[int]] = defaultdict(list)
            for index, date in enumerate(block.dates):
                period = _cached_period_of(date, self._unit)
                if period is not None:
                    lines[period].append(index)
                    continue
                what = "without a date" if date is None else f"with a date without a valid {self._unit}"
                self._skip_counts[f"records {what}, of all periods"] += 1
                self._example = self._example or date
            texts, rows, dates, documents = block.data.split(b"\n"), block.rows, block.dates, block.documents
            groups = block.groups
            parts = [
                replace(
                    block,
                    data=b"\n".join([texts[i] for i in chosen]),
                    rows=[rows[i] for i in chosen],
                    dates=[dates[i] for i in chosen],
                    documents=None if documents is None else [documents[i] for i in chosen],
                    groups=None if groups is None else [groups[i] for i in chosen],
                    period=period,
                )
                for period, chosen in lines.items()
            ]
        if block.file != self._file:
            self._file, self._periods = block.file, set()
        for part in parts:
            tally = self.tallies[part.period]
            tally.size += len(part.data)
            if part.period not in self._periods:
                self._periods.add(part.period)
                tally.files += 1
                tally.splits[part.split] += 1
            yield part

    def nothing_found(self, corpus: str) -> UserError:
        """Return the error for a corpus without any period, with the reason."""
        if self._example is not None:
            return UserError(
                f"no date of {corpus!r} has a valid {self._unit}, for example {self._example!r}: write dates as 1999, "
                f"1999-07 or 1999-07-31"
            )
        if self._skip_counts and self._date_column is not None:
            return UserError(
                f"no record of {corpus!r} has a date in the column {self._date_column!r}; choose another --date-column"
            )
        if self._skip_counts:
            return UserError(
                f"no file of {corpus!r} has a year or a date in its name: give the column of a table that holds the "
                f"dates (--date-column), or rename the files"
            )
        return UserError(f"the corpus {corpus!r} is empty: there is no word in it")
