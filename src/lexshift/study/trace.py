"""The way from corpora of several periods to how words moved: embed once, score pairs of periods, look for changes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, Literal

from lexshift.corpus.language import corpus_languages, language_warnings, rules_of
from lexshift.corpus.targets import Words, read_targets
from lexshift.encode import as_encoder
from lexshift.errors import UserError
from lexshift.scoring import swap
from lexshift.scoring.changepoints import COMPONENTS
from lexshift.scoring.distance.metric import Metric
from lexshift.scoring.permutation import Permutations
from lexshift.scoring.scores import Scoring
from lexshift.scoring.space import fit_space
from lexshift.store.embedding import corpus_names, embed
from lexshift.study.folder import check_results, open_results
from lexshift.study.periods import Place
from lexshift.study.settings import METRIC, RATE, SPACE, STORE, checked_settings, corpus_sizes, split_options
from lexshift.study.steps import KINDS, score_pairs, steps
from lexshift.study.trace_periods import TRACE, check_corpora, out_of_order, period_labels
from lexshift.study.trace_result import Trace
from lexshift.study.trace_work import Vectors, chosen_words, find_changes, find_seasons, run_of
from lexshift.utils import checks
from lexshift.utils.arrays import Matrix
from lexshift.utils.monitor import Monitor
from lexshift.utils.progress import watching


def trace(
    *corpora: Place,
    words: Words | None = None,
    by: str | None = None,
    model: Any = "minilm",
    metric: str | Metric = METRIC,
    strategy: swap.Strategy = "random",
    normalised: bool = False,
    rate: float | Literal["auto"] = RATE,
    keep: float | None = None,
    space: str = SPACE,
    repeats: int = 20,
    alpha: float = 0.05,
    seed: int = 0,
    sample_seed: int = 0,
    max_per_word: int | None = 200,
    min_usages: int = 10,
    min_count: int = 20,
    top_words: int = 100,
    permutations: Permutations = "auto",
    resamples: int = 1_000,
    out: Place | None = None,
    labels: Sequence[str] | None = None,
    match: str = "word",
    monitor: Monitor | bool | None = True,
    **options: Any,
) -> Trace:
    r"""Find how words moved over several periods: how much, when, and whether it returns every year.

    Each period is compared with the one before it and with the first one, as :func:`lexshift.compare` does; with two
    periods the numbers are the same.

    Parameters
    ----------
    *corpora : str or path
        The periods, the earliest first: text files, tables, folders or patterns. Or one corpus, and ``by``.
    words : path, list, or mapping of words to their forms, optional
        See :func:`lexshift.corpus.read_targets`. Without it, those frequent in the first and the last period, or with
        ``by`` in the corpus.
    by : "year", "decade" or "month", optional
        Of one corpus: its periods, by the dates of its records (``date_column``) or the years in its files' names.
    model, metric, strategy, normalised, rate, keep, space, repeats, seed, sample_seed, match
        As for :func:`lexshift.compare`. The space is fitted to all periods, and the rate "auto" is that of all pairs.
    alpha : float
        The false discovery rate at which a step or a word counts as changed, or a word as seasonal.
    max_per_word : int, optional
        At most this many usages of a word in a period, an unbiased sample; None for all.
    min_usages : int
        A period with fewer usages of a word is skipped for this word.
    min_count, top_words : int
        Without ``words``: how often a word must occur, and how many words are taken at most.
    permutations : int or "auto"
        As for :func:`lexshift.compare`, of the tests of steps, change points and seasons.
    resamples : int
        Number of random half-samples for the 95 % intervals.
    out : path, optional
        A folder for the store of vectors, the tables and the page, as for :func:`lexshift.compare`.
    labels : list of str, optional
        What the periods are called; by default by their files.
    monitor : bool or Monitor
        As for :func:`lexshift.compare`.
    **options
        How text is read and encoded, as for :func:`lexshift.embed`.

    Returns
    -------
    Trace
        ``trace.table`` has a row for each step of each word, ``trace.words`` one for each word.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from lexshift.study.trace import trace
    >>> class Lengths:  # in place of model="minilm"
    ...     def encode(self, sentences, spans):
    ...         return np.array([[len(s), start] for s, (start, end) in zip(sentences, spans)], np.float32)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = Path(folder, "news.jsonl")
    ...     said = {1995: "a mouse ran off {}\n", 2005: "a mouse hid, {}\n", 2015: "on the screen the mouse {}\n"}
    ...     rows = [{"text": text.format("x" * (i % 3)), "date": f"{year}"} for year, text in said.items()
    ...             for i in range(12)]
    ...     _ = table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ...     found = trace(table, words=["mouse"], by="decade", date_column="date", model=Lengths(), resamples=50)
    >>> found.table[["kind", "from", "to", "verdict"]].to_numpy().tolist()  # doctest: +NORMALIZE_WHITESPACE
    [['neighbours', '1990s', '2000s', 'changed'], ['neighbours', '2000s', '2010s', 'changed'],
     ['first', '1990s', '2000s', 'changed'], ['first', '1990s', '2010s', 'changed']]
    """
    reading, encoding = split_options(trace, options)
    sscd, settings = checked_settings(
        metric=metric,
        strategy=strategy,
        normalised=normalised,
        rate=rate,
        keep=keep,
        space=space,
        repeats=repeats,
        alpha=alpha,
        seed=seed,
        sample_seed=sample_seed,
        max_per_word=max_per_word,
        min_usages=min_usages,
        permutations=permutations,
        resamples=resamples,
        match=match,
    )
    settings |= {"by": by, "components": COMPONENTS}
    choice = (checks.positive(min_count, "min_count"), checks.positive(top_words, "top_words"))
    if out is not None:
        check_results(out, TRACE)
    check_corpora(corpora, by, labels)
    names = None if by is not None else period_labels(corpora, labels)
    languages = corpus_languages(dict(zip(corpus_names(corpora, names), corpora, strict=True)), options)
    language = list(languages.values())[-1]
    asked = None if words is None else read_targets(words, match, rules_of(language))
    with watching(monitor or False) as heard, ExitStack() as opened:
        turned = None if names is None else out_of_order(corpora, names)
        if turned:
            heard.note(f"by its name {turned[0]} is later than {turned[1]}: were the periods meant to be in order?")
        encoder = as_encoder(model, **encoding)
        results = None if out is None else opened.enter_context(open_results(out, TRACE))
        if asked is None:
            frequent, chosen = chosen_words(corpora, by, match, choice, reading, heard)
            settings |= {"min_count": choice[0], "top_words": choice[1], **chosen}
            asked = read_targets(frequent, match, rules_of(language))
        siblings = embed(
            *corpora,
            words=asked.forms,
            model=encoder,
            out=None if results is None else results.path / STORE,
            labels=names,
            by=by,
            match=match,
            max_per_word=max_per_word,
            seed=settings["sample_seed"],
            missing="skip",
            monitor=heard,
            **reading,
        )
        periods = siblings.corpora
        if len(periods) < 2:
            raise UserError(f"all of the corpus is of one period, {periods[0]}: cut it by something shorter (--by)")
        stored = dict(zip(siblings.words, siblings.counts.to_numpy().tolist(), strict=True))
        counts = {word: stored.get(word, [0] * len(periods)) for word in asked.words}
        walked = [step for word in asked.words for step in steps(word, counts[word], min_usages)]
        scored = list(dict.fromkeys(step.word for step in walked))
        enough = {word: [i for i, n in enumerate(counts[word]) if n >= min_usages] for word in scored}
        fitted = fit_space(Vectors(siblings, enough), space) if scored else None

        def usages(word: str, period: int) -> Matrix:
            rows = siblings.group(word, periods[period])
            return rows if fitted is None else fitted.apply(rows)

        sizes = None
        if normalised:
            sizes, settings["normalised_by"] = corpus_sizes(siblings)
        pairs = {kind: [step.pair for step in walked if step.kind == kind] for kind in KINDS}
        scoring = Scoring(sscd, settings["rate"], permutations, resamples, settings["confidence"], settings["alpha"])
        found = score_pairs(list(pairs.values()), usages, scoring, sizes, heard)
        scores = found.words
        seasons = find_seasons(scored, periods, usages, settings, heard)
        changes = find_changes(scored, enough, periods, usages, seasons, settings, heard)
        run = run_of(settings, asked, found.sscd.rate, siblings, corpora, scores.values())
        run["warnings"] = language_warnings(languages, encoder)
        result = Trace(siblings, tuple(asked.words), walked, scores, changes, seasons, run, fitted)
        if results is not None:
            heard.stage("report", 1, "pages")
            results.save(result.run, result.contents)
            heard.advance(1, 1)
    return result
