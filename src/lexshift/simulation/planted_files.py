"""Make the files of a simulation: the corpora with the pseudowords, the gold and the table of usages."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from lexshift.simulation.documents import CorpusSentences
from lexshift.simulation.planting import PERIODS, PlacedUsage
from lexshift.simulation.pseudowords import Plan, U, planted_change, rename_usage
from lexshift.simulation.sources import Pair, Usage
from lexshift.utils.seeds import generator

_FIRST_YEAR = 2000  # of the invented months
_DAYS = 28  # per month, so that every month has the same number


@dataclass(frozen=True)
class PlantedWord(Generic[U]):
    """A pseudoword, its source words, and their usages in each period (0 for the first word, 1 for the second)."""

    name: str
    pair: Pair
    plan: Plan
    usages: Sequence[Sequence[tuple[int, U]]]

    def renamed_usages(self) -> list[list[Usage]]:
        """Return the usages of the pseudoword in each period."""
        return [[rename_usage(usage, self.name) for _, usage in period] for period in self.usages]

    def change(self, pattern: str) -> float:
        """Return the planted change: 0 if none was planted, although the periods may differ by chance."""
        return planted_change(self.plan) if pattern == "change" else 0.0

    def record(self, pattern: str) -> dict[str, Any]:
        """Return the entry about the pseudoword in the record of the simulation."""
        record: dict[str, Any] = {"word": self.name, "first": self.pair[0], "second": self.pair[1]}
        if has_two_corpora(pattern):
            record["change"] = self.change(pattern)
        if pattern == "step":
            record["month"] = _month_name(sum(second == 0 for _, second in self.plan))
        return {**record, "counts": [list(counts) for counts in self.plan]}


def has_two_corpora(pattern: str) -> bool:
    """Return whether a pattern has an old and a new corpus, not one with dates."""
    return pattern in ("change", "none")


def _month_name(index: int) -> str:
    return f"{_FIRST_YEAR + index // 12}-{index % 12 + 1:02}"


def make_two_corpora(pseudowords: Sequence[PlantedWord[Usage]], pattern: str, seed: int) -> dict[str, str]:
    """Return both corpora with one sentence per line in random order, the gold, and a table of usages for ``eval``."""
    files = {}
    for number, period in enumerate(PERIODS):
        lines = [usage.sentence for word in pseudowords for usage in word.renamed_usages()[number]]
        order = generator(seed, "simulate", f"order {period}").permutation(len(lines))
        files[f"{period}.txt"] = "".join(f"{lines[i]}\n" for i in order)
    return {**files, **make_gold(pseudowords, pattern)}


def make_gold(
    pseudowords: Sequence[PlantedWord[U]], pattern: str, find_place: Callable[[str, U], tuple[str, int]] | None = None
) -> dict[str, str]:
    """Return the gold and a table of usages; ``find_place`` returns the document and line of a usage in a period."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    gold = pattern == "change"
    header = ["word", "period", "sentence", "start", "end"]
    writer.writerow([*header, *(["graded", "binary"] if gold else []), *(["document", "line"] if find_place else [])])
    for word in pseudowords:
        values = [word.change(pattern), int(word.change(pattern) > 0)] if gold else []
        for period, usages, renamed in zip(PERIODS, word.usages, word.renamed_usages(), strict=True):
            for (_, usage), u in zip(usages, renamed, strict=True):
                place = find_place(period, usage) if find_place else ()
                writer.writerow([word.name, period, u.sentence, u.start, u.end, *values, *place])
    gold_lines = [f"{word.name}\t{word.change(pattern)}\n" for word in pseudowords]
    return {"planted.tsv": "".join(gold_lines), "usages.csv": table.getvalue()}


def make_separate_corpora(
    pseudowords: Sequence[PlantedWord[PlacedUsage]], corpora: Sequence[CorpusSentences], pattern: str
) -> dict[str, str]:
    """Return both corpora by document with one sentence per line in the order of the text, and the gold."""
    files: dict[str, list[str]] = {}
    places: dict[tuple[str, int], tuple[str, int]] = {}
    for number, (period, corpus) in enumerate(zip(PERIODS, corpora, strict=True)):
        planted = {usage.position: (usage, word.name) for word in pseudowords for _, usage in word.usages[number]}
        documents = corpus.documents()
        for position, sentence in enumerate(corpus.sentences):
            name = f"{period}/{documents[sentence.file]}"
            lines = files.setdefault(name, [])
            lines.append(rename_usage(*planted[position]).sentence if position in planted else sentence.text)
            places[period, position] = name, len(lines)
    gold = make_gold(pseudowords, pattern, lambda period, usage: places[period, usage.position])
    return {**{name: "".join(f"{line}\n" for line in lines) for name, lines in files.items()}, **gold}


def make_dated_corpus(pseudowords: Sequence[PlantedWord[Usage]], pattern: str, seed: int) -> dict[str, str]:
    """Return a table of sentences with their dates, ordered by date, and the gold."""
    rows = []
    for word in pseudowords:
        rng = generator(seed, "simulate", f"days {word.name}")
        for index, usages in enumerate(word.renamed_usages()):
            days = rng.integers(1, _DAYS + 1, len(usages))
            rows += [(f"{_month_name(index)}-{day:02}", u.sentence) for day, u in zip(days, usages, strict=True)]
    lines = [json.dumps({"text": text, "date": date}, ensure_ascii=False) for date, text in sorted(rows)]
    records = [word.record(pattern) for word in pseudowords]
    head = "word\tpattern\tmonth\n"
    return {
        "corpus.jsonl": "".join(f"{line}\n" for line in lines),
        "planted.tsv": head + "".join(f"{row['word']}\t{pattern}\t{row.get('month', '')}\n" for row in records),
    }
