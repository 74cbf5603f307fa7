"""One corpus as several periods: which period a date or the name of a file is of, and the occurrences of each.

Tables are cut by the dates of their records, text files go by the year or the date in their names. Each period is then
as good as a corpus of its own: it has its own sample of each word's occurrences, by the same rule, and its own counts.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal, get_args

from lexshift.corpus.language import resolve_language
from lexshift.corpus.occurrences import SLACK, Keeper, Occurrences
from lexshift.corpus.passages import Block, read_blocks
from lexshift.corpus.scanner import scanned
from lexshift.corpus.sources import STANDARD_INPUT, Reading, Source, Tally, find_sources, size_of
from lexshift.corpus.targets import Targets
from lexshift.errors import UserError
from lexshift.utils import checks
from lexshift.utils.seeds import check_seed

By = Literal["year", "decade", "month"]
BY: tuple[str, ...] = get_args(By)
_DATE = re.compile(r"(\d{4})(?:\.0+)?(?:([-/.]?)(\d{2})(?:\2(\d{2})(?:[T ].*)?)?)?", re.DOTALL)
_IN_NAME = re.compile(
    r"(?<!\d)(1\d{3}|20\d{2})(?:([-_.]?)(0[1-9]|1[0-2])(?:\2(0[1-9]|[12]\d|3[01]))?)?(?!\d)"  # a year, or a date
)
_MONTH = re.compile(r"(\d{4})-(\d{2})")


@dataclass(frozen=True)
class _PeriodBlock(Block):
    """A block whose lines are all of one period."""

    period: str = ""


def period_of(date: str | None, by: str) -> str | None:
    """The period that a date is of; None if there is no date in the text, or not enough of one.

    Dates begin with the year: 1999, 1999-07, 1999-07-31, 19990731, with any time after the day.

    >>> [period_of("1999-07-31T12:00:00Z", by) for by in ("decade", "year", "month")]
    ['1990s', '1999', '1999-07']
    >>> [period_of(date, "month") for date in ("1999", "31.7.1999", None)]
    [None, None, None]
    """
    found = None if date is None else _DATE.fullmatch(date.strip())
    return None if found is None else _label(found[1], found[3], found[4], by)


_remembered = lru_cache(1 << 14)(period_of)  # there are mostly fewer dates than records


def period_of_file(name: str, by: str) -> str | None:
    """The period of a file by the first year, 1000 to 2099, or date in its name, else in those of its folders.

    >>> period_of_file("letters/1850s.txt", "decade"), period_of_file("2001/07.txt", "year")
    ('1850s', '2001')
    >>> period_of_file("news_2001-07-31.txt", "month"), period_of_file("news.txt", "year")
    ('2001-07', None)
    """
    for part in reversed(PurePosixPath(name).parts):
        found = _IN_NAME.search(part)
        if found:
            return _label(found[1], found[3], found[4], by)
    return None


def month_of(label: str) -> tuple[int, int] | None:
    """The year and the month of a period; None if it is not a month.

    >>> month_of("2001-07"), month_of("2001")
    ((2001, 7), None)
    """
    found = _MONTH.fullmatch(label)
    return (int(found[1]), int(found[2])) if found and 1 <= int(found[2]) <= 12 else None


def _label(year: str, month: str | None, day: str | None, by: str) -> str | None:
    """Return the period of a date; digits of any script count, and the label is in those of ASCII."""
    try:
        date = datetime.date(int(year), int(month or 1), int(day or 1))
    except ValueError:
        return None
    if by == "month":
        return f"{date.year:04}-{date.month:02}" if month else None
    return f"{date.year:04}" if by == "year" else f"{date.year // 10:03}0s"


def find_in_periods(
    corpus: str | os.PathLike[str],
    targets: Targets,
    by: str,
    reading: Reading | None = None,
    max_per_word: int | None = None,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, Occurrences]:
    """Read a corpus once, and keep the occurrences of each of its periods, the earliest first.

    ``by`` is "year", "decade" or "month". Of each period and word every occurrence is kept, or a sample of
    ``max_per_word``. A period's content is the whole corpus's, with the way it was cut and its label. What is of no
    period is counted among what the first one skipped, as is all that concerns whole files.
    """
    checks.choice(by, "by", BY)
    targets.candidates  # noqa: B018  forms that cannot be found are refused before anything is read
    seed, sources = check_seed(seed), find_sources(corpus)
    if any(source.path == STANDARD_INPUT for source in sources):
        raise UserError("a corpus from standard input has no dates: give a table with dates, or files with years")
    how = resolve_language(reading or Reading(), corpus)
    total = sum(map(size_of, sources))
    whole, hashes = Tally(), dict[str, str]()
    keepers: defaultdict[str, Keeper] = defaultdict(lambda: Keeper(targets, max_per_word, seed))
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    cutter, kept = _Cutter(by, whole), 0
    for source in sources:
        entered: set[str] = set()
        blocks = cutter.cut(source, read_blocks(source, how, whole, hashes), how)
        counted = Tally()  # of the block that comes out, as they come out in order
        for block, hits in scanned(blocks, targets, counted):
            assert isinstance(block, _PeriodBlock)
            keeper, tally = keepers[block.period], tallies[block.period]
            if block.period not in entered:
                entered.add(block.period)
                keeper.enter_file(source.name)
                tally.files += 1
                tally.splits[block.split] += 1
            tally.words += counted.words
            tally.passages += counted.passages
            tally.size += len(block.data)
            counted.words = counted.passages = 0
            before = keeper.held
            keeper.add(block, hits, how.language, tally)
            kept += keeper.held - before
            if max_per_word is not None and kept > 1.25 * max_per_word * len(targets.words) * len(keepers) + SLACK:
                kept = _cut_all(keepers.values())
            if progress is not None:
                progress(whole.size, total)
    if progress is not None:
        progress(whole.size, total)
    labels = sorted(label for label in keepers if tallies[label].words)
    if not labels:
        raise cutter.nothing(os.fspath(corpus), how)
    tallies[labels[0]].skipped += whole.skipped
    content = hashlib.sha256(repr(sorted(hashes.items())).encode()).hexdigest()
    return {
        label: Occurrences(
            keepers[label].finish(tallies[label]),
            keepers[label].found,
            tallies[label],
            hashlib.sha256(f"{content}\0{by}\0{label}".encode()).hexdigest(),
        )
        for label in labels
    }


def _cut_all(keepers: Collection[Keeper]) -> int:
    """Bring every sample down to its size, and say how many rows that leaves: many periods share what may be beyond."""
    for keeper in keepers:
        keeper.cut()
    return sum(keeper.held for keeper in keepers)


class _Cutter:
    """Cuts blocks into blocks of one period each, and counts what is of none."""

    def __init__(self, by: str, tally: Tally) -> None:
        self._by, self._tally = by, tally
        self._example: str | None = None  # a date that was not understood

    def cut(self, source: Source, blocks: Iterator[Block], reading: Reading) -> Iterator[Block]:
        """The blocks of a file; what is left out is read all the same, as its bytes count for the content."""
        if source.kind != "text" and reading.date_column is not None:
            for block in blocks:
                yield from self._by_dates(block)
            return
        period = period_of_file(source.name, self._by)
        if period is None:
            what = "a month" if self._by == "month" else "a year"
            self._tally.skipped[f"files without {what} in their names, of all periods"] += 1
        for block in blocks:
            if period is not None:
                yield _PeriodBlock(block.data, block.split, block.line, block.wrapped, block.rows, block.dates, period)

    def _by_dates(self, block: Block) -> Iterator[Block]:
        assert block.rows is not None
        assert block.dates is not None
        lines: defaultdict[str, list[int]] = defaultdict(list)
        for index, date in enumerate(block.dates):
            period = self._period(date)
            if period is not None:
                lines[period].append(index)
        texts = block.data.split(b"\n")
        for period, chosen in lines.items():
            yield _PeriodBlock(
                data=b"\n".join([texts[i] for i in chosen]),
                split=block.split,
                rows=[block.rows[i] for i in chosen],
                dates=[block.dates[i] for i in chosen],
                period=period,
            )

    def _period(self, date: str | None) -> str | None:
        period = _remembered(date, self._by)
        if period is None:
            what = "without a date" if date is None else f"with a date that tells no {self._by}"
            self._tally.skipped[f"records {what}, of all periods"] += 1
            self._example = self._example or date
        return period

    def nothing(self, corpus: str, reading: Reading) -> UserError:
        """Why there is no period at all."""
        if self._example is not None:
            return UserError(
                f"no date of {corpus!r} tells its {self._by}, such as {self._example!r}: dates begin with the year, "
                f"1999, 1999-07 or 1999-07-31"
            )
        if self._tally.skipped and reading.date_column is not None:
            return UserError(f"no record of {corpus!r} has a date in the column {reading.date_column!r}")
        if self._tally.skipped:
            return UserError(
                f"no file of {corpus!r} has a year or a date in its name: name the column of a table that has the "
                f"dates (--date-column), or the files after their years"
            )
        return UserError(f"the corpus {corpus!r} is empty: there is no word in it")
