"""Read DWUG and DURel releases, including RuShiftEval: a folder of usages for each lemma, and statistics."""

from __future__ import annotations

from pathlib import Path

from lexshift.benchmark.datasets.dataset import Dataset, UsageCollector, set_gold, sort_periods
from lexshift.corpus.tables import parse_optional_number, parse_span, read_table
from lexshift.errors import UserError

_GRADED, _COMPARE, _BINARY = "change_graded", "COMPARE", "change_binary"
_LANGUAGES = ("de", "en", "es", "fr", "it", "la", "no", "ru", "sv")


def is_dwug(folder: Path) -> bool:
    """Return whether a folder looks like such a release."""
    return (folder / "data").is_dir() and any((folder / "data").glob("*/uses.csv"))


def load_dwug(folder: Path) -> Dataset:
    """Read a release: ``data/<lemma>/uses.csv``, and the gold in ``stats``.

    The gold is the graded change of the word's clusters of senses where there is one, else the judged
    relatedness of usages from different periods (COMPARE, with its sign reversed: higher is more change).
    """
    tables = {}
    for path in sorted((folder / "data").glob("*/uses.csv")):
        tables[path] = read_table(path, ("lemma", "grouping", "context", "indexes_target_token"))
        if not tables[path]:
            raise UserError(f"{str(path)!r} has no usages")
    words = [path.parent.name for path in tables]
    periods = sort_periods({row["grouping"] for rows in tables.values() for _, row in rows})
    gold_path, gold_rows = _gold(folder)
    if gold_rows and len(periods) > 2:
        first = gold_rows[0][1]["grouping"].split("_")
        periods = first if len(first) == 2 else periods
    if len(periods) < 2:
        raise UserError(f"{str(folder)!r}: all usages are from one period, {periods[0]!r}; two periods are needed")
    order = {periods[0]: 0, periods[-1]: 1}
    collector = UsageCollector()
    for word, (path, rows) in zip(words, tables.items(), strict=True):
        for number, row in rows:
            period, context = order.get(row["grouping"]), row["context"]
            if period is None:
                collector.skip("usages of other periods")
                continue
            start, end = parse_span(row["indexes_target_token"], context, path, number)
            date = row.get("date") or None
            collector.add(word, period, context, start, end, f"{word}/{path.name}", number, date)
    graded, binary, name = _judgements(gold_path, gold_rows, set(words), f"{periods[0]}_{periods[-1]}")
    ending = folder.name.lower().rstrip("0123456789")
    return collector.dataset(
        words,
        name=folder.name,
        kind="DWUG or DURel release",
        language=next((code for code in _LANGUAGES if ending.endswith(f"_{code}")), ""),
        periods=(periods[0], periods[-1]),
        graded=graded,
        gold=name,
        binary=binary,
    )


def _gold(folder: Path) -> tuple[Path, list[tuple[int, dict[str, str]]]]:
    """Read the statistics that compare periods, those of the optimised clustering if there is one."""
    for path in (folder / "stats/opt/stats_groupings.csv", folder / "stats/stats_groupings.csv"):
        if path.is_file():
            return path, read_table(path, ("lemma", "grouping"))
    return folder / "stats/stats_groupings.csv", []


def _judgements(
    path: Path, rows: list[tuple[int, dict[str, str]]], words: set[str], grouping: str
) -> tuple[dict[str, float], dict[str, bool], str]:
    """Return the graded and the binary gold of the two periods, and a description of the graded one."""
    graded: dict[str, float] = {}
    binary: dict[str, bool] = {}
    if not rows:
        return graded, binary, ""
    column = next((name for name in (_GRADED, _COMPARE) if name in rows[0][1]), None)
    if column is None:
        raise UserError(f"{str(path)!r}, line 1: no column {_COMPARE!r}, nor {_GRADED!r}")
    has_several = len({row["grouping"] for _, row in rows}) > 1
    for number, row in rows:
        word = row["lemma"]
        if word not in words:
            raise UserError(f"{str(path)!r}, line {number}: {word!r} has no usages")
        if has_several and row["grouping"] != grouping:
            continue
        value = parse_optional_number(row, column, path, number)
        if value is not None:
            set_gold(graded, word, value if column == _GRADED else -value, path, number)
        changed = parse_optional_number(row, _BINARY, path, number) if _BINARY in row else None
        if changed is not None:
            set_gold(binary, word, changed > 0, path, number)
    clustered = "graded change of its clusters (DWUG)"
    return graded, binary, clustered if column == _GRADED else "mean relatedness of usages across periods, turned"
