"""The main job: two corpora in, and out comes which words changed, how much, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Literal

from lexshift.corpus.language import corpus_languages, language_warnings, rules_of
from lexshift.corpus.targets import Words, read_targets
from lexshift.encode import as_encoder
from lexshift.scoring import swap
from lexshift.scoring.distance.metric import Metric
from lexshift.scoring.permutation import Permutations
from lexshift.scoring.scores import Comparisons, Scoring, score_words
from lexshift.scoring.space import fit_space
from lexshift.store.embedding import embed
from lexshift.study.folder import check_results, check_store, open_results
from lexshift.study.periods import Place, corpus_labels, later_first, refuse_same
from lexshift.study.result import COMPARISON, PERIODS, Result
from lexshift.study.settings import (
    METRIC,
    RATE,
    SPACE,
    STORE,
    checked_settings,
    corpus_sizes,
    enough,
    run_record,
    split_options,
)
from lexshift.study.words import choose_words
from lexshift.utils import checks
from lexshift.utils.monitor import Monitor
from lexshift.utils.progress import watching


def compare(
    old: Place,
    new: Place,
    words: Words | None = None,
    *,
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
) -> Result:
    """Find which words changed their meaning between two corpora.

    Parameters
    ----------
    old, new : str or path
        The two corpora: text files, tables, folders or patterns.
    words : path, list, or mapping of words to their forms, optional
        The words to ask about; see :func:`lexshift.corpus.read_targets`. Without it, those frequent in both corpora.
    model : str, path, (model, tokenizer) or Encoder
        What embeds the usages; see :func:`lexshift.encode.as_encoder`.
    metric : str or Metric
        The distance between the two sets of usages; :func:`lexshift.metrics` lists the names.
    strategy : "random" or "distance"
        Which usages trade places.
    normalised : bool
        Whether the number of swaps is normalised by the sizes of the corpora: by their numbers of sentences if all
        files have a sentence a line, else by their running words.
    rate : float or "auto"
        The share of usages that trade places, from 0 to 1; "auto" takes the rate at which e_swap is least.
    keep : float, optional
        The share of e_original that is added to what swapping takes off; 0.25 for the metric "nearest", else 0.
    space : "raw", "centred" or "standardised"
        What is done to the vectors before scoring; it is fitted to the usages of all words that are compared.
    repeats : int
        How many times the random swap is repeated.
    alpha : float
        The false discovery rate at which a word counts as changed.
    seed : int
        Seed for swaps, permutations and bootstrap resamples.
    sample_seed : int
        Seed for the sample of usages (``max_per_word``). With another seed other usages are embedded, so it needs
        another ``out``.
    max_per_word : int, optional
        At most this many usages of a word in a corpus, an unbiased sample; None for all.
    min_usages : int
        A word with fewer usages in a corpus is listed but not scored.
    min_count, top_words : int
        Without ``words``: how often a word must occur in each corpus, and how many words are taken at most.
    permutations : int or "auto"
        Maximum number of permutations per word; no p is below 1 / (permutations + 1). "auto" draws as many as the
        number of words requires, up to 100,000, and approximates p where these are not enough.
    resamples : int
        Number of random half-samples for the 95 % intervals.
    out : path, optional
        A folder for the store of vectors, the scores and the page. Run again with it, and what was embedded is not
        embedded again. Without it nothing is kept once the result is gone.
    labels : (str, str), optional
        What the corpora are called; by default by their files.
    match : "word", "cased", "token" or "lemma"
        What counts as an occurrence.
    monitor : bool or Monitor
        Whether to show progress where somebody watches, in a terminal or a notebook; or what hears of it.
    **options
        How text is read and encoded, as for :func:`lexshift.embed`.

    Returns
    -------
    Result
        ``result.table`` is a pandas frame with the most changed word first, ``result.report(path)`` writes the page.

    Examples
    --------
    >>> import numpy as np
    >>> import lexshift
    >>> class Lengths:  # in place of model="minilm"
    ...     def encode(self, sentences, spans):
    ...         return np.array([[len(s), start] for s, (start, end) in zip(sentences, spans)], np.float32)
    >>> old, new = lexshift.demo_corpora()
    >>> result = lexshift.compare(old, new, words=["mouse", "bread"], model=Lengths(), resamples=100)
    >>> sorted(result.table["word"])
    ['bread', 'mouse']
    """
    reading, encoding = split_options(compare, options)
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
    choice = (checks.positive(min_count, "min_count"), checks.positive(top_words, "top_words"))
    if out is not None:
        check_store(check_results(out, COMPARISON) / STORE, PERIODS)
    refuse_same(old, new)
    names = corpus_labels(old, new, labels)
    languages = corpus_languages(dict(zip(PERIODS, (old, new), strict=True)), options)
    language = rules_of(languages["new"])
    asked = None if words is None else read_targets(words, match, language)
    with watching(monitor or False) as heard, ExitStack() as opened:
        if later_first(old, new):
            heard.note(f"by its name {names[0]} is later than {names[1]}: was the old corpus meant to come first?")
        encoder = as_encoder(model, **encoding)
        results = None if out is None else opened.enter_context(open_results(out, COMPARISON))
        if asked is None:
            frequent, chosen = choose_words(old, new, match, choice, reading, heard)
            settings |= {"min_count": choice[0], "top_words": choice[1], **chosen}
            asked = read_targets(frequent, match, language)
        siblings = embed(
            old,
            new,
            words=asked.forms,
            model=encoder,
            out=None if results is None else results.path / STORE,
            labels=PERIODS,
            match=match,
            max_per_word=max_per_word,
            seed=settings["sample_seed"],
            missing="skip",
            monitor=heard,
            **reading,
        )
        pairs = enough(siblings, asked.words, settings["min_usages"])
        fitted = fit_space(pairs, space) if pairs else None
        if fitted is not None:
            pairs = fitted.of(pairs)
        if normalised:
            (size_old, size_new), settings["normalised_by"] = corpus_sizes(siblings)
            sscd = replace(sscd, corpus_sizes=(size_old, size_new))
        scoring = Scoring(sscd, settings["rate"], permutations, resamples, settings["confidence"], settings["alpha"])
        scores = score_words(Comparisons(list(pairs), pairs.__getitem__), scoring, heard)
        run = run_record(settings, asked, scores.sscd.rate, siblings, (old, new), names, scores.words.values())
        run["warnings"] = language_warnings(languages, encoder)
        result = Result(siblings, asked.words, scores, names, run, fitted)
        if results is not None:
            heard.stage("report", 1, "pages")
            results.save(result.run, result.contents)
            heard.advance(1, 1)
    return result
