"""Corpora with planted change, written to a folder together with what was planted."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexshift import __version__
from lexshift.corpus.language import corpus_languages, recorded_language
from lexshift.corpus.sources import Reading, as_text, find_sources
from lexshift.simulation.folder import SIMULATION, write
from lexshift.simulation.names import invent_names
from lexshift.simulation.planting import (
    Plan,
    Usage,
    change_plan,
    deal,
    mixed_plan,
    needed,
    realised,
    rename,
    season_plan,
    step_plan,
    yearly_plan,
)
from lexshift.simulation.sources import Pair, Place, Text, choose_pairs, given_pairs, read_pairs
from lexshift.store.embedding import READING
from lexshift.study.folder import check_results
from lexshift.utils import checks
from lexshift.utils.monitor import Monitor
from lexshift.utils.progress import watching
from lexshift.utils.seeds import check_seed, generator

if TYPE_CHECKING:
    import pandas as pd

PATTERNS = ("change", "none", "step", "season", "yearly")
USAGES = {"change": 100, "none": 100, "step": 5, "season": 5, "yearly": 5}
"""Of a name, in each corpus or in each month, if nobody says how many."""
PERIODS = ("old", "new")
FIRST_YEAR = 2000  # of the months, which are as invented as the names
_DAYS = 28  # every month has them


def simulate(
    *corpora: Place,
    out: Place,
    words: int = 30,
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
    words : int
        How many names are invented; with ``pairs``, one for each of them.
    usages : int, optional
        Of each name in each period: 100 in a corpus, 5 in a month.
    pairs : path or list of (str, str), optional
        The source words, as a file of ``word<TAB>word`` lines or a list; by default content words with enough
        sentences, paired at random.
    pattern : "change", "none", "step", "season" or "yearly"
        "change": two corpora, and names whose change goes from all of their usages to none in even steps; "none": two
        corpora in which nothing changed; "step", "season" and "yearly": one table with dates, where the meaning of
        each name changes in a month once and for all, from month to month and back, or smoothly from January to July
        and back.
    years : int
        Of twelve months each, for "step", "season" and "yearly".
    seed : int
        Of every random choice.
    monitor : bool or Monitor
        As for :func:`lexshift.compare`.
    **options
        How text is read, as for :func:`lexshift.embed`.

    Returns
    -------
    DataFrame
        A row for each name: word, first and second (its source words), and change, or the month of the step.

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
    least = checks.MIN_ROWS if _two_corpora(pattern) else 1
    size = checks.positive(USAGES[pattern] if usages is None else usages, "usages", least)
    seed, folder = check_seed(seed), Path(out)
    given = None if pairs is None else read_pairs(pairs)
    count = checks.positive(words, "words") if given is None else len(given)
    plans = _plans(pattern, count, size, 12 * checks.positive(years, "years"), seed)
    check_results(out, SIMULATION)
    for corpus in corpora:
        find_sources(corpus)
    with watching(monitor or False) as heard:
        text = Text(corpora, Reading(**options), heard)
        counts = text.counts()
        needs = [needed(plan) for plan in plans]
        if given is None:
            sources = choose_pairs(text, counts, count, max(map(max, needs)), seed)
        else:
            sources = given_pairs(text, given, needs)
    names = invent_names(count, counts.counts, seed)
    planted = [
        _Planted(name, pair, plan, deal(*rows, plan, generator(seed, "simulate", f"deal {name}")))
        for name, (pair, rows), plan in zip(names, sources.items(), plans, strict=True)
    ]
    languages = corpus_languages({as_text(os.fspath(corpus)): corpus for corpus in corpora}, options)
    settings = {
        "lexshift": __version__,
        "corpora": [as_text(os.fspath(corpus)) for corpus in corpora],
        "reading": {**asdict(text.reading), "language": recorded_language(languages)},
        "pattern": pattern,
        "words": count,
        "usages": size,
        **({} if _two_corpora(pattern) else {"years": years}),
        "seed": seed,
        "pairs": "given" if given is not None else "chosen",
    }
    told = [one.told(pattern) for one in planted]
    files = _two(planted, pattern, seed) if _two_corpora(pattern) else _dated(planted, pattern, seed)
    files["words.txt"] = "".join(f"{name}\n" for name in names)
    write(folder, {**settings, "names": told}, files)
    columns = ["word", "first", "second", "month" if pattern == "step" else "change"]
    return pd.DataFrame(told, columns=columns[:3] if pattern in ("season", "yearly") else columns)


@dataclass(frozen=True)
class _Planted:
    """A name, its source words, and their usages in each period."""

    name: str
    pair: Pair
    plan: Plan
    usages: list[list[tuple[int, Usage]]]

    def renamed(self) -> list[list[Usage]]:
        """The usages of the name in each period."""
        return [[rename(usage, self.name) for _, usage in period] for period in self.usages]

    def change(self, pattern: str) -> float:
        """What was planted; where nothing was, the periods may still differ by chance."""
        return realised(self.plan) if pattern == "change" else 0.0

    def told(self, pattern: str) -> dict[str, Any]:
        """What is known of it."""
        about: dict[str, Any] = {"word": self.name, "first": self.pair[0], "second": self.pair[1]}
        if _two_corpora(pattern):
            about["change"] = self.change(pattern)
        if pattern == "step":
            about["month"] = _month(sum(second == 0 for _, second in self.plan))
        return {**about, "counts": [list(counts) for counts in self.plan]}


def _two_corpora(pattern: str) -> bool:
    return pattern in ("change", "none")


def _plans(pattern: str, count: int, usages: int, months: int, seed: int) -> list[Plan]:
    """What each name gets in each period. Changes and shares go down in even steps from 1 to 0."""
    steps = [Fraction(count - 1 - k, count - 1) if count > 1 else Fraction(1) for k in range(count)]
    if pattern == "change":
        return [change_plan(usages, change) for change in steps]
    if pattern == "none":
        return [mixed_plan(usages, share, generator(seed, "simulate", f"mix {k}")) for k, share in enumerate(steps)]
    if pattern == "season":
        return [season_plan(usages, months)] * count
    if pattern == "yearly":
        return [yearly_plan(usages, months)] * count
    # In the middle third, so that there is something to see on both sides.
    draws = [generator(seed, "simulate", f"step {k}").integers(months // 3, months - months // 3) for k in range(count)]
    return [step_plan(usages, months, int(step)) for step in draws]


def _month(index: int) -> str:
    return f"{FIRST_YEAR + index // 12}-{index % 12 + 1:02}"


def _two(planted: Sequence[_Planted], pattern: str, seed: int) -> dict[str, str]:
    """Both corpora, a sentence a line in random order, the gold, and the usages as a table that ``eval`` reads."""
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


def _dated(planted: Sequence[_Planted], pattern: str, seed: int) -> dict[str, str]:
    """One table of sentences with their dates, in the order of the dates."""
    rows = []
    for one in planted:
        rng = generator(seed, "simulate", f"days {one.name}")
        for index, usages in enumerate(one.renamed()):
            days = rng.integers(1, _DAYS + 1, len(usages))
            rows += [(f"{_month(index)}-{day:02}", u.sentence) for day, u in zip(days, usages, strict=True)]
    lines = [json.dumps({"text": text, "date": date}, ensure_ascii=False) for date, text in sorted(rows)]
    told = [one.told(pattern) for one in planted]
    head = "word\tpattern\tmonth\n"
    return {
        "corpus.jsonl": "".join(f"{line}\n" for line in lines),
        "planted.tsv": head + "".join(f"{row['word']}\t{pattern}\t{row.get('month', '')}\n" for row in told),
    }
