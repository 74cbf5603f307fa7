"""Write corpora with planted change to a folder, together with the gold."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lexshift import __version__
from lexshift.corpus.language import detect_languages, record_readings
from lexshift.corpus.sources import Reading, as_text, find_sources
from lexshift.simulation.pseudowords import (
    PATTERNS,
    Plan,
    deal_usages,
    invent_pseudowords,
    make_plans,
    planted_change,
    rename_usage,
    required_usages,
)
from lexshift.simulation.sources import Pair, Place, SourceText, Usage, find_pairs, read_pairs
from lexshift.store.embedding import READING
from lexshift.study.folder import Kind, check_results, open_results
from lexshift.utils import checks
from lexshift.utils.monitor import Monitor, watching
from lexshift.utils.seeds import generator

if TYPE_CHECKING:
    import pandas as pd

PERIODS = ("old", "new")
FILES = ("old.txt", "new.txt", "usages.csv", "corpus.jsonl", "planted.tsv", "words.txt")
SIMULATION = Kind("simulation", FILES, "simulate.json")
_CORPUS_USAGES, _MONTH_USAGES = 100, 5  # default numbers of usages of a pseudoword
_FIRST_YEAR = 2000  # of the invented months
_DAYS = 28  # per month, so that every month has the same number


def simulate(
    *corpora: Place,
    out: Place,
    pseudowords: int = 30,
    usages: int | None = None,
    pairs: Place | Iterable[Sequence[str]] | None = None,
    pattern: str = "change",
    years: int = 6,
    seed: int = 0,
    monitor: Monitor | bool | None = True,
    **options: Any,
) -> pd.DataFrame:
    r"""Make corpora in which the change of each word is known.

    Parameters
    ----------
    *corpora : str or path
        Source of the sentences: text files, tables, folders or patterns, read as one corpus.
    out : path
        Folder of the result. It must be new or empty, or hold an earlier simulation, which is replaced.
    pseudowords : int
        Number of pseudowords; ignored with ``pairs``, since each pair makes one.
    usages : int, optional
        Number of usages of each pseudoword in each period (default: 100 in a corpus, 5 in a month).
    pairs : path or list of (str, str), optional
        Pairs of source words, as a file of ``word<TAB>word`` lines or a list (default: random pairs of content words
        with enough sentences).
    pattern : "change", "none", "step", "season" or "yearly"
        "change": two corpora, and pseudowords whose change falls from 1 to 0 in even steps; "none": two corpora
        without change; "step", "season" and "yearly": one table with dates, where the meaning of each pseudoword
        changes once in some month, alternates from month to month, or moves smoothly from January to July and back.
    years : int
        Number of years of twelve months, for "step", "season" and "yearly".
    seed : int
        Seed for all random choices.
    monitor : bool or Monitor
        As for :func:`lexshift.compare`.
    **options
        Options for reading text, as for :func:`lexshift.embed`.

    Returns
    -------
    DataFrame
        A row for each pseudoword: word, first and second (its source words), and change or the month of the step.

    Examples
    --------
    >>> import tempfile
    >>> import lexshift
    >>> pairs = [("mouse", "bread"), ("river", "winter"), ("cloud", "garden")]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     planted = lexshift.simulate(*lexshift.demo_corpora(), out=folder, pairs=pairs, usages=20)
    >>> planted[["first", "second", "change"]]
       first  second  change
    0  mouse   bread     1.0
    1  river  winter     0.5
    2  cloud  garden     0.0
    """
    import pandas as pd

    checks.keywords(options, READING, simulate)
    checks.choice(pattern, "pattern", PATTERNS)
    has_two = _has_two_corpora(pattern)
    if usages is None:
        usages = _CORPUS_USAGES if has_two else _MONTH_USAGES
    checks.positive(usages, "usages", checks.MIN_ROWS if has_two else 1)
    checks.seed(seed)
    source_pairs = None if pairs is None else read_pairs(pairs)
    count = checks.positive(pseudowords, "pseudowords") if source_pairs is None else len(source_pairs)
    plans = make_plans(pattern, count, usages, 12 * checks.positive(years, "years"), seed)
    check_results(out, SIMULATION)
    for corpus in corpora:
        find_sources(corpus)
    with watching(monitor or False) as watcher:
        text = SourceText(corpora, Reading(**options), watcher)
        counts = text.counts()
        sources = find_pairs(text, counts, source_pairs, [required_usages(plan) for plan in plans], seed)
    names = invent_pseudowords(count, counts.counts, seed)
    planted_words = [
        _Pseudoword(name, pair, plan, deal_usages(*rows, plan, generator(seed, "simulate", f"deal {name}")))
        for name, (pair, rows), plan in zip(names, sources.items(), plans, strict=True)
    ]
    _, readings = detect_languages({as_text(os.fspath(corpus)): corpus for corpus in corpora}, text.reading)
    settings = {
        "lexshift": __version__,
        "corpora": [as_text(os.fspath(corpus)) for corpus in corpora],
        "reading": record_readings(readings),
        "pattern": pattern,
        "pseudowords": count,
        "usages": usages,
        **({} if has_two else {"years": years}),
        "seed": seed,
        "pairs": "chosen" if source_pairs is None else "given",
    }
    records = [word.record(pattern) for word in planted_words]
    files = (
        _make_two_corpora(planted_words, pattern, seed) if has_two else _make_dated_corpus(planted_words, pattern, seed)
    )
    files["words.txt"] = "".join(f"{name}\n" for name in names)
    with open_results(out, SIMULATION) as results:
        contents = {name: content.encode() for name, content in files.items()}
        results.save({**settings, "names": records}, lambda: contents)
    columns = ["word", "first", "second", "month" if pattern == "step" else "change"]
    return pd.DataFrame(records, columns=columns[:3] if pattern in ("season", "yearly") else columns)


@dataclass(frozen=True)
class _Pseudoword:
    """A pseudoword, its source words, and their usages in each period."""

    name: str
    pair: Pair
    plan: Plan
    usages: list[list[tuple[int, Usage]]]

    def renamed_usages(self) -> list[list[Usage]]:
        """Return the usages of the pseudoword in each period."""
        return [[rename_usage(usage, self.name) for _, usage in period] for period in self.usages]

    def change(self, pattern: str) -> float:
        """Return the planted change: 0 if none was planted, although the periods may differ by chance."""
        return planted_change(self.plan) if pattern == "change" else 0.0

    def record(self, pattern: str) -> dict[str, Any]:
        """Return the entry about the pseudoword in the record of the simulation."""
        record: dict[str, Any] = {"word": self.name, "first": self.pair[0], "second": self.pair[1]}
        if _has_two_corpora(pattern):
            record["change"] = self.change(pattern)
        if pattern == "step":
            record["month"] = _month_name(sum(second == 0 for _, second in self.plan))
        return {**record, "counts": [list(counts) for counts in self.plan]}


def _has_two_corpora(pattern: str) -> bool:
    return pattern in ("change", "none")


def _month_name(index: int) -> str:
    return f"{_FIRST_YEAR + index // 12}-{index % 12 + 1:02}"


def _make_two_corpora(pseudowords: Sequence[_Pseudoword], pattern: str, seed: int) -> dict[str, str]:
    """Return both corpora with one sentence per line in random order, the gold, and a table of usages for ``eval``."""
    files = {}
    for number, period in enumerate(PERIODS):
        lines = [usage.sentence for word in pseudowords for usage in word.renamed_usages()[number]]
        order = generator(seed, "simulate", f"order {period}").permutation(len(lines))
        files[f"{period}.txt"] = "".join(f"{lines[i]}\n" for i in order)
    files["planted.tsv"] = "".join(f"{word.name}\t{word.change(pattern)}\n" for word in pseudowords)
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    gold = pattern == "change"
    writer.writerow(["word", "period", "sentence", "start", "end", *(["graded", "binary"] if gold else [])])
    for word in pseudowords:
        values = [word.change(pattern), int(word.change(pattern) > 0)] if gold else []
        for period, usages in zip(PERIODS, word.renamed_usages(), strict=True):
            writer.writerows([word.name, period, u.sentence, u.start, u.end, *values] for u in usages)
    files["usages.csv"] = table.getvalue()
    return files


def _make_dated_corpus(pseudowords: Sequence[_Pseudoword], pattern: str, seed: int) -> dict[str, str]:
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
