"""Read your own data set from a table: word, period, sentence, start, end and, with gold, graded and binary."""

from __future__ import annotations

from pathlib import Path

from lexshift.benchmark.datasets.dataset import Dataset, UsageCollector, set_gold, sort_periods
from lexshift.corpus.tables import is_span, parse_number, read_table
from lexshift.errors import UserError

COLUMNS = ("word", "period", "sentence", "start", "end")


def load_table(path: Path) -> Dataset:
    """Read a table of usages, csv with quoting or tsv without.

    The earlier period is the one whose name has the smaller numbers, or is "old".

    ``start`` and ``end`` are the character offsets of the word in the sentence. The optional columns ``graded`` and
    ``binary`` hold a word's gold, which is the same in each of its rows; ``date`` is the date of the usage, and
    ``sense`` its sense.
    """
    rows = read_table(path, COLUMNS, "\t" if path.suffix.lower() == ".tsv" else ",")
    periods = sort_periods({row["period"] for _, row in rows})
    if len(periods) != 2:
        names = ", ".join(periods) or "none"
        raise UserError(f"{str(path)!r} must have two periods; it has {len(periods)} ({names})")
    words = tuple(dict.fromkeys(row["word"] for _, row in rows))
    collector, graded, binary = UsageCollector(), dict[str, float](), dict[str, float]()
    for number, row in rows:
        if not row["word"].strip():
            raise UserError(f"{str(path)!r}, line {number}: no word")
        start, end = (_parse_whole_number(row, name, path, number) for name in ("start", "end"))
        if not is_span(start, end, row["sentence"]):
            raise UserError(f"{str(path)!r}, line {number}: {start} to {end} is not within the sentence")
        period = periods.index(row["period"])
        date, sense = (row.get(name, "").strip() or None for name in ("date", "sense"))
        collector.add(row["word"], period, row["sentence"], start, end, path.name, number, date, sense)
        for name, gold in (("graded", graded), ("binary", binary)):
            if row.get(name, "").strip():
                set_gold(gold, row["word"], parse_number(row, name, path, number), path, number)
    return collector.dataset(
        words,
        name=path.name,
        kind="table of usages",
        language="",
        periods=(periods[0], periods[1]),
        graded=graded,
        gold="graded" if graded else "",
        binary={word: value > 0 for word, value in binary.items()},
    )


def _parse_whole_number(row: dict[str, str], column: str, path: Path, line: int) -> int:
    value = parse_number(row, column, path, line)
    if value != int(value):
        raise UserError(f"{str(path)!r}, line {line}: {column} is {row[column]!r}, not a whole number")
    return int(value)
