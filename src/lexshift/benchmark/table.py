"""One's own data as a plain table: word, period, sentence, start, end, and if there is gold, graded and binary."""

from __future__ import annotations

from pathlib import Path

from lexshift.benchmark.dataset import Dataset, Rows, in_order, keep_one
from lexshift.corpus.tables import is_span, parse_number, read_table
from lexshift.errors import UserError

COLUMNS = ("word", "period", "sentence", "start", "end")
_ENDINGS = (".csv", ".tsv")


def is_table(path: Path) -> bool:
    """Whether a file is such a table, by its ending."""
    return path.is_file() and path.suffix.lower() in _ENDINGS


def load_table(path: Path) -> Dataset:
    """Read a table of usages, csv with quoting or tsv without.

    The earlier period is the one whose name has the smaller numbers, or is "old".

    ``start`` and ``end`` are where the word is in the sentence, in characters. The optional columns ``graded`` and
    ``binary`` hold a word's gold, the same in each of its rows, and ``date`` when a usage is from.
    """
    rows = read_table(path, COLUMNS, "\t" if path.suffix.lower() == ".tsv" else ",")
    periods = in_order({row["period"] for _, row in rows})
    if len(periods) != 2:
        told = ", ".join(periods) or "none"
        raise UserError(f"{str(path)!r} must have two periods; it has {len(periods)} ({told})")
    words = tuple(dict.fromkeys(row["word"] for _, row in rows))
    collected, graded, binary = Rows(), dict[str, float](), dict[str, float]()
    for number, row in rows:
        if not row["word"].strip():
            raise UserError(f"{str(path)!r}, line {number}: no word")
        start, end = (_whole(row, name, path, number) for name in ("start", "end"))
        if not is_span(start, end, row["sentence"]):
            raise UserError(f"{str(path)!r}, line {number}: {start} to {end} is not within the sentence")
        period = periods.index(row["period"])
        collected.add(row["word"], period, row["sentence"], start, end, path.name, number, row.get("date") or None)
        for name, gold in (("graded", graded), ("binary", binary)):
            if row.get(name, "").strip():
                keep_one(gold, row["word"], parse_number(row, name, path, number), path, number)
    return Dataset(
        name=path.name,
        kind="table of usages",
        language="",
        periods=(periods[0], periods[1]),
        words=words,
        usages=collected.table(words),
        graded=graded,
        gold="graded" if graded else "",
        binary={word: value > 0 for word, value in binary.items()},
        texts=collected.texts(),
        skipped=collected.skipped,
    )


def _whole(row: dict[str, str], column: str, path: Path, line: int) -> int:
    value = parse_number(row, column, path, line)
    if value != int(value):
        raise UserError(f"{str(path)!r}, line {line}: {column} is {row[column]!r}, not a whole number")
    return int(value)
