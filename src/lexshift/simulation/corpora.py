"""Write corpora with planted change to a folder, together with the gold."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from lexshift import __version__
from lexshift.corpus import Corpus
from lexshift.corpus.language import detect_languages, record_readings
from lexshift.corpus.objects import as_files
from lexshift.corpus.sources import STANDARD_INPUT, Place, Reading, corpus_text, find_sources
from lexshift.errors import UserError
from lexshift.simulation.documents import read_sentences
from lexshift.simulation.planted_files import (
    PlantedWord,
    has_two_corpora,
    make_dated_corpus,
    make_separate_corpora,
    make_two_corpora,
)
from lexshift.simulation.planting import PERIODS, PeriodText, plant_pairs
from lexshift.simulation.pseudowords import PATTERNS, Plan, deal_usages, invent_pseudowords, make_plans, required_usages
from lexshift.simulation.sources import Pair, SourceText, find_pairs, read_pairs
from lexshift.store.embedding import READING
from lexshift.study.folder import Kind, check_results, open_results
from lexshift.utils import checks
from lexshift.utils.monitor import Monitor, watching
from lexshift.utils.quantities import with_unit
from lexshift.utils.seeds import generator

if TYPE_CHECKING:
    import pandas as pd

FILES = ("old.txt", "new.txt", "usages.csv", "corpus.jsonl", "planted.tsv", "words.txt")
SEPARATE_FILES = ("usages.csv", "planted.tsv", "words.txt")
SIMULATION = Kind("simulation", FILES, "simulate.json")
SEPARATE_SIMULATION = Kind("simulation in separate corpora", SEPARATE_FILES, "simulate.json", PERIODS)
_CORPUS_USAGES, _MONTH_USAGES = 100, 5  # default numbers of usages of a pseudoword


def simulate(
    *corpora: Corpus,
    out: Place,
    pseudowords: int = 30,
    usages: int | None = None,
    pairs: Place | Iterable[Sequence[str]] | None = None,
    pattern: str = "change",
    years: int = 6,
    separate: bool = False,
    max_sentences: int = 100_000,
    seed: int = 0,
    monitor: Monitor | bool | None = True,
    **options: Any,
) -> pd.DataFrame:
    r"""Make corpora in which the change of each word is known.

    Parameters
    ----------
    *corpora : Corpus
        Source of the sentences: text files, tables, folders, patterns or Python objects, read as one corpus, or with
        ``separate`` the old and the new corpus.
    out : path
        Folder of the result. It must be new or empty, or hold an earlier simulation, which is replaced. A simulation
        with ``separate`` and one without it do not replace each other.
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
    separate : bool
        Whether the usages of each period are sentences of its own corpus, for "change" and "none". Both corpora are
        written as a folder with all of their text, one file for each of their files and one line for each sentence. So
        they differ as wholes, and source words that changed themselves add to the planted change.
    max_sentences : int
        Maximum number of sentences of each corpus with ``separate``; of a larger corpus, a random sample is used.
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
    has_two = has_two_corpora(pattern)
    if usages is None:
        usages = _CORPUS_USAGES if has_two else _MONTH_USAGES
    checks.positive(usages, "usages", checks.MIN_ROWS if has_two else 1)
    checks.seed(seed)
    source_pairs = None if pairs is None else read_pairs(pairs)
    count = checks.positive(pseudowords, "pseudowords") if source_pairs is None else len(source_pairs)
    plans = make_plans(pattern, count, usages, 12 * checks.positive(years, "years"), seed)
    kind = SEPARATE_SIMULATION if separate else SIMULATION
    if separate:
        _check_separate(corpora, pattern)
        checks.positive(max_sentences, "max_sentences")
    check_results(out, kind)
    with as_files(corpora, Reading(**options)) as (places, reading):
        for place in places:
            find_sources(place)
        settings = {
            "lexshift": __version__,
            "corpora": [corpus_text(place) for place in places],
            "pattern": pattern,
            "pseudowords": count,
            "usages": usages,
            **({} if has_two else {"years": years}),
            "separate": separate,
            "seed": seed,
            "pairs": "chosen" if source_pairs is None else "given",
        }
        needs = source_pairs, plans, seed
        with watching(monitor or False) as watcher:
            if separate:
                files, records, about = _plant_separately(places, pattern, needs, reading, max_sentences, watcher)
            else:
                files, records, about = _plant_in_pool(places, pattern, needs, reading, watcher)
    files["words.txt"] = "".join(f"{record['word']}\n" for record in records)
    with open_results(out, kind) as results:
        contents = {name: content.encode() for name, content in files.items()}
        results.save({**settings, **about, "names": records}, lambda: contents)
    columns = ["word", "first", "second", "month" if pattern == "step" else "change"]
    return pd.DataFrame(records, columns=columns[:3] if pattern in ("season", "yearly") else columns)


def _check_separate(corpora: Sequence[Corpus], pattern: str) -> None:
    """Refuse corpora or a pattern that cannot be planted separately."""
    if len(corpora) != 2:
        raise UserError(f"separate corpora are an old and a new one; got {len(corpora)} of them (--separate)")
    if STANDARD_INPUT in [os.fspath(corpus) for corpus in corpora if isinstance(corpus, (str, os.PathLike))]:
        raise UserError("separate corpora cannot be taken from standard input; give files or folders")
    if not has_two_corpora(pattern):
        raise UserError(f"the pattern {pattern!r} has dated sentences of one corpus; use change or none (--separate)")


_Needs: TypeAlias = tuple[Sequence[Pair] | None, Sequence[Plan], int]  # pairs of source words if given, plans, seed
_Made: TypeAlias = tuple[dict[str, str], list[dict[str, Any]], dict[str, Any]]  # files, records of words, other records


def _plant_in_pool(corpora: Sequence[Place], pattern: str, needs: _Needs, reading: Reading, monitor: Monitor) -> _Made:
    """Plant pseudowords in sentences of all corpora, which are dealt to the periods at random."""
    pairs, plans, seed = needs
    text = SourceText(corpora, reading, monitor)
    counts = text.counts()
    sources = find_pairs(text, counts, pairs, [required_usages(plan) for plan in plans], seed)
    names = invent_pseudowords(len(plans), counts.counts, seed)
    words = [
        PlantedWord(name, pair, plan, deal_usages(*rows, plan, generator(seed, "simulate", f"deal {name}")))
        for name, (pair, rows), plan in zip(names, sources.items(), plans, strict=True)
    ]
    _, readings = detect_languages({corpus_text(corpus): corpus for corpus in corpora}, reading)
    make_files = make_two_corpora if has_two_corpora(pattern) else make_dated_corpus
    about = {"reading": record_readings(readings)}
    return make_files(words, pattern, seed), [word.record(pattern) for word in words], about


def _plant_separately(
    corpora: Sequence[Place], pattern: str, needs: _Needs, reading: Reading, max_sentences: int, monitor: Monitor
) -> _Made:
    """Plant pseudowords in the sentences of an old and a new corpus, each of which keeps its text."""
    pairs, plans, seed = needs
    _, readings = detect_languages(dict(zip(PERIODS, corpora, strict=True)), reading)
    read = {
        period: read_sentences(corpus, readings[period], max_sentences, seed, monitor, period)
        for period, corpus in zip(PERIODS, corpora, strict=True)
    }
    for period, sample in read.items():
        if sample.n_sentences > max_sentences:
            monitor.note(f"{period}: {max_sentences:,} of {sample.n_sentences:,} sentences are used (max_sentences)")
        for reason, n in sample.skipped.items():
            monitor.note(f"{period}: {with_unit(n, reason)}")
    periods = [
        PeriodText.count([sentence.text for sentence in read[period].sentences], corpus_text(corpus))
        for period, corpus in zip(PERIODS, corpora, strict=True)
    ]
    planted = plant_pairs(periods, pairs, plans, seed)
    taken = {word for period in periods for word in period.counts.counts}
    words = [
        PlantedWord(name, one.pair, plan, one.usages)
        for name, one, plan in zip(invent_pseudowords(len(plans), taken, seed), planted, plans, strict=True)
    ]
    about = {
        "reading": record_readings(readings),
        "max_sentences": max_sentences,
        "sentences": {period: [len(sample.sentences), sample.n_sentences] for period, sample in read.items()},
        "skipped": {period: sample.skipped for period, sample in read.items()},
        "documents": {
            period: {name: file for file, name in sample.documents().items()} for period, sample in read.items()
        },
    }
    files = make_separate_corpora(words, list(read.values()), pattern)
    return files, [word.record(pattern) for word in words], about
