"""Read DWUG and DURel releases, including RuShiftEval: a folder of usages for each lemma, and statistics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lexshift.benchmark.datasets.dataset import Dataset, UsageCollector, set_gold, sort_periods
from lexshift.corpus.tables import parse_optional_number, parse_span, read_table
from lexshift.errors import UserError

_GRADED, _COMPARE, _BINARY = "change_graded", "COMPARE", "change_binary"
_GAIN, _LOSS = "change_binary_gain", "change_binary_loss"
_NO_CLUSTER = "-1"  # usages that the annotators could not judge
_LANGUAGES = ("de", "en", "es", "fr", "it", "la", "no", "ru", "sv")


def is_dwug(folder: Path) -> bool:
    """Return whether a folder looks like such a release."""
    return (folder / "data").is_dir() and any((folder / "data").glob("*/uses.csv"))


def load_dwug(folder: Path) -> Dataset:
    """Read a release: ``data/<lemma>/uses.csv``, the gold in ``stats``, and the senses of usages in ``clusters``.

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
        clusters = _read_clusters(folder, word)
        for number, row in rows:
            period, context = order.get(row["grouping"]), row["context"]
            if period is None:
                collector.skip("usages of other periods")
                continue
            start, end = parse_span(row["indexes_target_token"], context, path, number)
            date = row.get("date") or None
            sense = clusters.get(row.get("identifier", ""))
            collector.add(word, period, context, start, end, f"{word}/{path.name}", number, date, sense)
    gold = _judgements(gold_path, gold_rows, set(words), f"{periods[0]}_{periods[-1]}")
    ending = folder.name.lower().rstrip("0123456789")
    return collector.dataset(
        words,
        name=folder.name,
        kind="DWUG or DURel release",
        language=next((code for code in _LANGUAGES if ending.endswith(f"_{code}")), ""),
        periods=(periods[0], periods[-1]),
        **gold,
    )


def _gold(folder: Path) -> tuple[Path, list[tuple[int, dict[str, str]]]]:
    """Read the statistics that compare periods, those of the optimised clustering if there is one."""
    for path in (folder / "stats/opt/stats_groupings.csv", folder / "stats/stats_groupings.csv"):
        if path.is_file():
            return path, read_table(path, ("lemma", "grouping"))
    return folder / "stats/stats_groupings.csv", []


def _read_clusters(folder: Path, word: str) -> dict[str, str]:
    """Return the cluster of each usage of a word by its identifier, from the optimised clustering if there is one."""
    for path in (folder / f"clusters/opt/{word}.csv", folder / f"clusters/{word}.csv"):
        if path.is_file():
            rows = read_table(path, ("identifier", "cluster"))
            return {row["identifier"]: row["cluster"] for _, row in rows if row["cluster"] != _NO_CLUSTER}
    return {}


def _judgements(path: Path, rows: list[tuple[int, dict[str, str]]], words: set[str], grouping: str) -> dict[str, Any]:
    """Return the gold of the two periods: the fields graded, gold, binary, gained and lost of a data set."""
    graded: dict[str, float] = {}
    decisions: dict[str, dict[str, bool]] = {_BINARY: {}, _GAIN: {}, _LOSS: {}}
    column = next((name for name in (_GRADED, _COMPARE) if rows and name in rows[0][1]), "")
    if rows and not column:
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
        for name, decided in decisions.items():
            changed = parse_optional_number(row, name, path, number) if name in row else None
            if changed is not None:
                set_gold(decided, word, changed > 0, path, number)
    described = {
        _GRADED: "graded change of its clusters (DWUG)",
        _COMPARE: "mean relatedness of usages across periods, with its sign reversed",
        "": "",
    }
    return {
        "graded": graded,
        "gold": described[column],
        "binary": decisions[_BINARY],
        "gained": decisions[_GAIN],
        "lost": decisions[_LOSS],
    }
