"""Corpora with planted change, written to a folder together with what was planted."""

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
_FIRST_YEAR = 2000  # of the months, which are as invented as the pseudowords
_DAYS = 28  # every month has them


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
    r"""Make corpora in which it is known how much each word changed.

    Parameters
    ----------
    *corpora : str or path
        Where sentences are taken from: text files, tables, folders or patterns, read as one.
    out : path
        The folder for the result; new, empty, or with an earlier simulation, which is replaced.
    pseudowords : int
        Number of pseudowords; ignored with ``pairs``, each of which makes one.
    usages : int, optional
        Number of usages of each pseudoword in each period (default: 100 in a corpus, 5 in a month).
    pairs : path or list of (str, str), optional
        The source words, as a file of ``word<TAB>word`` lines or a list; by default content words with enough
        sentences, paired at random.
    pattern : "change", "none", "step", "season" or "yearly"
        "change": two corpora, and pseudowords whose change goes from all of their usages to none in even steps; "none":
        two corpora in which nothing changed; "step", "season" and "yearly": one table with dates, where the meaning of
        each pseudoword changes in a month once and for all, from month to month and back, or smoothly from January to
        July and back.
    years : int
        Number of years of twelve months, for "step", "season" and "yearly".
    seed : int
        Seed for all random choices.
    monitor : bool or Monitor
        As for :func:`lexshift.compare`.
    **options
        How text is read, as for :func:`lexshift.embed`.

    Returns
    -------
    DataFrame
        A row for each pseudoword: word, first and second (its source words), and change, or the month of the step.

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
    two = _has_two_corpora(pattern)
    if usages is None:
        usages = _CORPUS_USAGES if two else _MONTH_USAGES
    checks.positive(usages, "usages", checks.MIN_ROWS if two else 1)
    checks.seed(seed)
    listed = None if pairs is None else read_pairs(pairs)
    count = checks.positive(pseudowords, "pseudowords") if listed is None else len(listed)
    plans = make_plans(pattern, count, usages, 12 * checks.positive(years, "years"), seed)
    check_results(out, SIMULATION)
    for corpus in corpora:
        find_sources(corpus)
    with watching(monitor or False) as watcher:
        text = SourceText(corpora, Reading(**options), watcher)
        counts = text.counts()
        sources = find_pairs(text, counts, listed, [required_usages(plan) for plan in plans], seed)
    names = invent_pseudowords(count, counts.counts, seed)
    planted = [
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
        **({} if two else {"years": years}),
        "seed": seed,
        "pairs": "chosen" if listed is None else "given",
    }
    records = [one.record(pattern) for one in planted]
    files = _two_corpora(planted, pattern, seed) if two else _dated_corpus(planted, pattern, seed)
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

    def renamed(self) -> list[list[Usage]]:
        """Return the usages of the pseudoword in each period."""
        return [[rename_usage(usage, self.name) for _, usage in period] for period in self.usages]

    def change(self, pattern: str) -> float:
        """Return the planted change; where none was planted, the periods may still differ by chance."""
        return planted_change(self.plan) if pattern == "change" else 0.0

    def record(self, pattern: str) -> dict[str, Any]:
        """Return what is known about the pseudoword."""
        about: dict[str, Any] = {"word": self.name, "first": self.pair[0], "second": self.pair[1]}
        if _has_two_corpora(pattern):
            about["change"] = self.change(pattern)
        if pattern == "step":
            about["month"] = _month(sum(second == 0 for _, second in self.plan))
        return {**about, "counts": [list(counts) for counts in self.plan]}


def _has_two_corpora(pattern: str) -> bool:
    return pattern in ("change", "none")


def _month(index: int) -> str:
    return f"{_FIRST_YEAR + index // 12}-{index % 12 + 1:02}"


def _two_corpora(planted: Sequence[_Pseudoword], pattern: str, seed: int) -> dict[str, str]:
    """Return both corpora, a sentence a line in random order, the gold, and a table of usages that ``eval`` reads."""
    files = {}
    for number, period in enumerate(PERIODS):
        lines = [usage.sentence for one in planted for usage in one.renamed()[number]]
        order = generator(seed, "simulate", f"order {period}").permutation(len(lines))
        files[f"{period}.txt"] = "".join(f"{lines[i]}\n" for i in order)
    files["planted.tsv"] = "".join(f"{one.name}\t{one.change(pattern)}\n" for one in planted)
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    gold = pattern == "change"
    writer.writerow(["word", "period", "sentence", "start", "end", *(["graded", "binary"] if gold else [])])
    for one in planted:
        values = [one.change(pattern), int(one.change(pattern) > 0)] if gold else []
        for period, usages in zip(PERIODS, one.renamed(), strict=True):
            writer.writerows([one.name, period, u.sentence, u.start, u.end, *values] for u in usages)
    files["usages.csv"] = table.getvalue()
    return files


def _dated_corpus(planted: Sequence[_Pseudoword], pattern: str, seed: int) -> dict[str, str]:
    """Return one table of sentences with their dates, in the order of the dates, and the gold."""
    rows = []
    for one in planted:
        rng = generator(seed, "simulate", f"days {one.name}")
        for index, usages in enumerate(one.renamed()):
            days = rng.integers(1, _DAYS + 1, len(usages))
            rows += [(f"{_month(index)}-{day:02}", u.sentence) for day, u in zip(days, usages, strict=True)]
    lines = [json.dumps({"text": text, "date": date}, ensure_ascii=False) for date, text in sorted(rows)]
    records = [one.record(pattern) for one in planted]
    head = "word\tpattern\tmonth\n"
    return {
        "corpus.jsonl": "".join(f"{line}\n" for line in lines),
        "planted.tsv": head + "".join(f"{row['word']}\t{pattern}\t{row.get('month', '')}\n" for row in records),
    }
