"""Divide one corpus into periods, and collect the occurrences of target words in each period.

The records of tables are assigned to periods by their dates, text files by the year or date in their names. Each period
is then treated like a corpus: it has its own counts and its own sample of the occurrences of each word.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial

from lexshift.corpus import counting
from lexshift.corpus.date_range import is_dated_by_name
from lexshift.corpus.dates import AUTO, OF_YEARS, UNITS, DateReader, date_of_file, read_date
from lexshift.corpus.language import detect_languages
from lexshift.corpus.occurrences import OccurrenceCollector, Occurrences, collect_occurrences, make_occurrences
from lexshift.corpus.passages import Block, join_blocks, read_corpus
from lexshift.corpus.sources import STANDARD_INPUT, Reading, Source, Tally, find_sources
from lexshift.corpus.targets import Targets
from lexshift.corpus.word_rule import FoldTable
from lexshift.errors import UserError
from lexshift.utils import checks

_DIVIDED = 1 << 24  # bytes of a table that are divided into periods at a time
_MONTH = re.compile(r"(\d{4})-(\d{2})")


def period_of(date: str | None, unit: str, order: str = AUTO) -> str | None:
    """Return the period of a date; None if the text is not a date, or not precise enough, or ambiguous.

    >>> [period_of("1999-07-31T12:00:00Z", unit) for unit in ("decade", "year", "quarter", "month", "week")]
    ['1990s', '1999', '1999-Q3', '1999-07', '1999-W30']
    >>> [period_of(date, "month") for date in ("31.7.1999", "July 31, 1999", "1999", "7.8.1999", None)]
    ['1999-07', '1999-07', None, None, None]
    """
    periods = {reading.period(unit) for reading in read_date(date or "", order)}
    return periods.pop() if len(periods) == 1 else None


def period_of_file(name: str, unit: str) -> str | None:
    """Return the period of the first year (1000 to 2099) or date in the name of a file, or else of its folders.

    >>> period_of_file("letters/1850s.txt", "decade"), period_of_file("2001/07.txt", "year")
    ('1850s', '2001')
    >>> period_of_file("news_2001-07-31.txt", "month"), period_of_file("news.txt", "year")
    ('2001-07', None)
    """
    date = date_of_file(name)
    return None if date is None else date.period(unit)


def month_of(label: str) -> tuple[int, int] | None:
    """Return the year and the month of a period; None if it is not a month.

    >>> month_of("2001-07"), month_of("2001")
    ((2001, 7), None)
    """
    match = _MONTH.fullmatch(label)
    return (int(match[1]), int(match[2])) if match and 1 <= int(match[2]) <= 12 else None


def find_in_periods(
    corpus: str | os.PathLike[str],
    targets: Targets,
    unit: str,
    reading: Reading | None = None,
    max_per_word: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    shared: bool = False,
    only: Collection[str] | None = None,
) -> dict[str, Occurrences]:
    """Read a corpus once, and collect the occurrences of each of its periods, the earliest first.

    ``unit`` is "week", "month", "quarter", "year" or "decade". The result has all occurrences of each word and period,
    or a sample of ``max_per_word``; with ``shared``, the samples of different words share sentences as far as possible.
    The checksum of a period is made from that of the corpus, the unit and the label of the period. Text without a
    period, and everything that concerns complete files, is counted among the skipped text of the first period. ``only``
    names the periods that are searched, all of them by default.
    """
    checks.choice(unit, "by", UNITS)
    targets.first_words  # noqa: B018  refuses forms that cannot be found before the corpus is read
    seed, sources = checks.seed(seed), find_sources(corpus)
    if any(source.path == STANDARD_INPUT for source in sources):
        raise UserError(
            "a corpus from standard input has no dates: give a table with dates, or files with years in their names"
        )
    if any(source.kind == "strings" for source in sources):
        raise UserError("texts without dates have no periods: give (date, text) pairs, or a table with date_column")
    _, readings = detect_languages({"": corpus}, reading or Reading())
    reading_options, corpus_tally = readings[""], Tally()
    collectors: defaultdict[str, OccurrenceCollector] = defaultdict(
        lambda: OccurrenceCollector(targets, max_per_word, seed, shared)
    )
    cutter = _Cutter(unit, reading_options, sources, corpus_tally.skipped)
    blocks = (
        part
        for block in join_blocks(
            read_corpus(sources, reading_options, corpus_tally, progress, targets.needs_annotation), _DIVIDED
        )
        for part in cutter.cut(block)
        if only is None or part.period in only
    )
    collect_occurrences(blocks, targets, reading_options.language, collectors, cutter.tallies)
    labels = sorted(label for label in collectors if cutter.tallies[label].words)
    if not labels:
        if corpus_tally.unreadable and not corpus_tally.files:
            raise corpus_tally.nothing_read(os.fspath(corpus))
        raise cutter.nothing_found(os.fspath(corpus))
    first = cutter.tallies[labels[0]]
    first.skipped += corpus_tally.skipped
    first.encodings, first.unreadable = corpus_tally.encodings, corpus_tally.unreadable
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


def count_end_periods(
    corpus: str | os.PathLike[str],
    table: FoldTable,
    unit: str,
    reading: Reading,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, counting.WordCounts]:
    """Read a corpus once, and count the words of its first and of its last period, which are not known beforehand.

    Parameters
    ----------
    corpus : str or path
    table : FoldTable
        The rule by which words are counted.
    unit : str
        Length of the periods.
    reading : Reading
    progress : callable, optional
        Called with the number of bytes read so far and of all bytes.

    Returns
    -------
    dict of str to WordCounts
        The first period, and the last one if there are several.
    """
    sources = find_sources(corpus)
    cutter = _Cutter(unit, reading, sources, Counter())
    ends: dict[str, counting.Counter] = {}
    for block in read_corpus(sources, reading, Tally(), progress):
        for part in cutter.cut(block):
            # A period between two others is not an end, and a period that is an end was one from its first word on.
            if len(ends) == 2 and min(ends) < part.period < max(ends):
                continue
            counter = ends.get(part.period) or counting.Counter(table)
            counter.add(part.data)
            if counter.total:
                ends[part.period] = counter
                ends = {period: ends[period] for period in sorted({min(ends), max(ends)})}
    return {
        period: counting.make_word_counts(counting.sum_counts(counter.words()), os.fspath(corpus))
        for period, counter in ends.items()
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
        self._dates = DateReader(lambda date: date.period(unit), reading.date_order, unit in OF_YEARS)
        self._example: str | None = None  # a date that was not understood
        self._file, self._periods = "", set[str]()  # the current file, and the periods that were found in it
        self._period_of_file = lru_cache(1)(partial(period_of_file, unit=unit))  # the blocks of a file are neighbours
        for source in (source for source in sources if not source.fault):
            if is_dated_by_name(source, reading) and period_of_file(source.name, unit) is None:
                what = "a year" if unit == "decade" else f"a {unit}"
                skip_counts[f"files without {what} in their names, of all periods"] += 1

    def cut(self, block: Block) -> Iterator[Block]:
        """Yield the parts of a block by period, according to the dates of its records or the name of its file."""
        if block.dates is None or block.rows is None:
            period = self._period_of_file(block.file)
            parts = [] if period is None else [replace(block, period=period)]
        else:
            lines: defaultdict[str, list[int]] = defaultdict(list)
            periods = self._dates.periods(block.dates, block.file, block.rows)
            for index, (date, period) in enumerate(zip(block.dates, periods, strict=True)):
                if period is not None:
                    lines[period].append(index)
                    continue
                what = "without a date" if date is None else f"with a date without a valid {self._unit}"
                self._skip_counts[f"records {what}, of all periods"] += 1
                self._example = self._example or date
            parts = block.divide(lines)
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
                f"no date of {corpus!r} has a valid {self._unit}, for example {self._example!r}: write dates for "
                f"example as 1999-07-31, or for longer periods as 1999-07 or 1999"
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
