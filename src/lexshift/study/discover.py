"""Of all words, which changed? Count, choose, sample, encode, score, test and rank, at any size of the corpora."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from lexshift.corpus.language import NAMES, corpus_languages, language_warnings, with_language
from lexshift.corpus.occurrences import Occurrences
from lexshift.corpus.sources import Reading
from lexshift.corpus.targets import Targets, folded_lemmas, read_targets
from lexshift.corpus.vocabulary import Vocabulary, select_vocabulary
from lexshift.encode import Encoder, as_encoder
from lexshift.engine.cache import Kept
from lexshift.engine.local import Engine, Local, as_engine, results
from lexshift.engine.parts import Counting, Part, Sampling, counted, parts_of, sampled
from lexshift.errors import UserError
from lexshift.scoring import swap
from lexshift.scoring.distance.metric import Metric
from lexshift.scoring.permutation import Permutations
from lexshift.scoring.scores import CURVE_WORDS, Comparisons, Scoring, score_words
from lexshift.scoring.space import fit_space
from lexshift.store.embedding import PRECISIONS, make_store, store_settings
from lexshift.store.format import digest
from lexshift.store.plan import number_periods
from lexshift.store.siblings import Siblings
from lexshift.study.discovery import DISCOVERY, Discovery
from lexshift.study.folder import ResultsFolder, check_results, check_store, open_results
from lexshift.study.periods import Place, corpus_labels, later_first, refuse_same
from lexshift.study.result import PERIODS
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
from lexshift.study.similar_words import spread
from lexshift.utils import checks
from lexshift.utils.monitor import Monitor, reading_stage
from lexshift.utils.progress import watching
from lexshift.utils.threads import for_each

PARTS = "parts"
"""The folder of what is kept of a run: counts, samples and scores."""


def discover(
    old: Place,
    new: Place,
    *,
    model: Any = "minilm",
    min_count: int = 20,
    top_words: int | None = None,
    names: bool = False,
    max_per_word: int | None = 200,
    metric: str | Metric = METRIC,
    strategy: swap.Strategy = "random",
    normalised: bool = False,
    rate: float | Literal["auto"] = RATE,
    keep: float = 0.0,
    space: str = SPACE,
    repeats: int = 20,
    alpha: float = 0.05,
    seed: int = 0,
    sample_seed: int = 0,
    min_usages: int = 10,
    permutations: Permutations = "auto",
    resamples: int = 100,
    out: Place | None = None,
    labels: Sequence[str] | None = None,
    match: str = "word",
    engine: str | Engine = "local",
    address: str | None = None,
    workers: int | None = None,
    monitor: Monitor | bool | None = True,
    **options: Any,
) -> Discovery:
    """Find which of all words changed their meaning between two corpora.

    Parameters
    ----------
    old, new : str or path
        The two corpora: text files, tables, folders or patterns. Each is read twice.
    model : str, path, (model, tokenizer) or Encoder
        What embeds the usages; see :func:`lexshift.encode.as_encoder`.
    min_count : int
        How often a word must occur in each corpus.
    top_words : int, optional
        How many words are taken at most, the most frequent; all by default.
    names : bool
        Whether names are taken too: words that mostly have a capital letter inside sentences.
    max_per_word : int, optional
        At most this many usages of a word in a corpus, an unbiased sample; None for all. Samples of different words
        share sentences.
    metric, strategy, normalised, rate, space, repeats, alpha, seed, sample_seed, min_usages, labels, match
        As for :func:`lexshift.compare`.
    keep : float
        The share of e_original that is added to what swapping takes off. None by default: it grows with a word's
        ambiguity, by which words of all kinds would be ranked.
    permutations : int or "auto"
        As for :func:`lexshift.compare`.
    resamples : int
        Number of random half-samples for the 95 % intervals.
    out : path, optional
        A folder for the store of vectors, the scores and the page. A run that was stopped goes on where it was.
    engine : "local" or "ray"
        Where the work is done.
    address : str, optional
        Of a Ray cluster, "auto" for the one that this machine belongs to; by default one is started on this machine.
    workers : int, optional
        How many encoders a cluster runs; by default one for each GPU, or for its cores.
    monitor : bool or Monitor
        Whether to show progress where somebody watches, in a terminal or a notebook; or what hears of it.
    **options
        How text is read and encoded, as for :func:`lexshift.embed`.

    Returns
    -------
    Discovery
        As :func:`lexshift.compare` answers, with each word set against words of similar frequency and ambiguity.

    Examples
    --------
    >>> import numpy as np
    >>> import lexshift
    >>> class Lengths:  # in place of model="minilm"
    ...     def encode(self, sentences, spans):
    ...         return np.array([[len(s), start] for s, (start, end) in zip(sentences, spans)], np.float32)
    >>> old, new = lexshift.demo_corpora()
    >>> found = lexshift.discover(old, new, model=Lengths(), min_count=25, resamples=20, monitor=False)
    >>> "mouse" in found.words, "the" in found.words
    (True, False)
    """
    if "words" in options:
        raise UserError("discover takes no words, as it looks at all of them; compare and trace take words")
    embedded, encoding = split_options(discover, options)
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
    settings["min_count"] = checks.positive(min_count, "min_count")
    settings["top_words"] = None if top_words is None else checks.positive(top_words, "top_words")
    precision = embedded.pop("precision", PRECISIONS[0])
    reading = Reading(**embedded)
    if out is not None:
        check_store(check_results(out, DISCOVERY) / STORE, PERIODS)
    refuse_same(old, new)
    labelled = corpus_labels(old, new, labels)
    languages = corpus_languages(dict(zip(PERIODS, (old, new), strict=True)), options)
    readings = {label: with_language(reading, code) for label, code in languages.items()}
    parts = {label: parts_of(corpus) for label, corpus in zip(PERIODS, (old, new), strict=True)}
    with watching(monitor or False) as heard, _folder(out) as (folder, saved):
        if later_first(old, new):
            heard.note(
                f"by its name {labelled[0]} is later than {labelled[1]}: was the old corpus meant to come first?"
            )
        encoder = as_encoder(model, **encoding)
        number_periods(encoder, PERIODS)
        warnings = language_warnings(languages, encoder)
        for warning in warnings:
            heard.note(f"warning: {warning}")
        works = as_engine(engine, address, workers)
        try:
            job = _Job(dict(zip(PERIODS, (old, new), strict=True)), parts, readings, works, Kept(folder / PARTS), heard)
            vocabulary = job.vocabulary(match, settings["min_count"], settings["top_words"], names, languages["new"])
            asked = read_targets(vocabulary.words, match, readings["new"].language)
            seed = 0 if max_per_word is None else settings["sample_seed"]
            sampling = {"max_per_word": settings["max_per_word"], "seed": seed, "shared": True}
            embedding = store_settings(reading, languages, match, sampling, precision)
            siblings = job.store(None if out is None else folder / STORE, asked, embedding, encoder, (model, encoding))
        finally:
            works.close()
        pairs = enough(siblings, asked.words, settings["min_usages"])
        fitted = fit_space(pairs, space) if pairs else None
        if fitted is not None:
            pairs = fitted.of(pairs)
        if normalised:
            (size_old, size_new), settings["normalised_by"] = corpus_sizes(siblings)
            sscd = replace(sscd, corpus_sizes=(size_old, size_new))
        scores = score_words(
            Comparisons(list(pairs), pairs.__getitem__),
            Scoring(
                sscd,
                settings["rate"],
                settings["permutations"],
                resamples,
                settings["confidence"],
                settings["alpha"],
            ),
            heard,
            CURVE_WORDS,
            job.kept,
            digest([siblings.fingerprint, space]),
        )
        settings["function_words"] = vocabulary.language
        settings["names"] = vocabulary.names
        settings["candidates"] = len(vocabulary.words)
        run = run_record(settings, asked, scores.sscd.rate, siblings, (old, new), labelled, scores.words.values())
        run["warnings"] = warnings
        spreads = for_each(pairs, lambda word: spread(*pairs[word]))
        found = Discovery(siblings, asked.words, scores, labelled, run, fitted, vocabulary, spreads)
        if saved is not None:
            heard.stage("report", 1, "pages")
            saved.save(found.run, found.contents)
            heard.advance(1, 1)
    return found


@contextmanager
def _folder(out: Place | None) -> Iterator[tuple[Path, ResultsFolder | None]]:
    """Open the folder of the run and its results; without one, make a folder that is removed after the run."""
    if out is None:
        with tempfile.TemporaryDirectory(prefix="lexshift-") as temporary:
            yield Path(temporary), None
        return
    with open_results(out, DISCOVERY) as saved:
        yield saved.path, saved


@dataclass
class _Job:
    """The two passes over the corpora, and the store."""

    corpora: dict[str, Place]
    parts: dict[str, list[Part]]
    readings: dict[str, Reading]
    engine: Engine
    kept: Kept
    monitor: Monitor

    def vocabulary(
        self, match: str, min_count: int, top_words: int | None, names: bool, language: str | None
    ) -> Vocabulary:
        """Count the words of both corpora, and choose; ``language`` is that of the new one."""
        counts = [
            counted(
                results(
                    Counting(match, self.readings[label]),
                    parts,
                    self.engine,
                    self.kept,
                    reading_stage(self.monitor, f"counting {label}"),
                ),
                os.fspath(self.corpora[label]),
            )
            for label, parts in self.parts.items()
        ]
        lemmas = folded_lemmas(self.readings["new"].language) if match == "lemma" else None
        found = select_vocabulary(counts, min_count, top_words, names, lemmas, language, match)
        left = ", ".join(f"{n:,} {reason}" for reason, n in found.reasons().items())
        self.monitor.note(f"{len(found.words):,} words to look at; left out: {left}")
        if not found.language:
            why = "there is no list of those of its language" if language in NAMES else "its language is not known"
            self.monitor.note(f"no function words of the new corpus are left out, as {why}")
        if found.names.startswith("kept, "):
            self.monitor.note(f"names are {found.names}")
        return found

    def store(
        self,
        out: Path | None,
        asked: Targets,
        settings: dict[str, Any],
        encoder: Encoder,
        recipe: tuple[Any, dict[str, Any]],
    ) -> Siblings:
        """Sample the occurrences of the words, and encode them."""
        sampling = settings["sampling"]

        def scan(targets: Targets) -> dict[str, Occurrences]:
            return {
                label: self._sampled(
                    label, Sampling(targets.forms, targets.match, how, sampling["max_per_word"], sampling["seed"])
                )
                for label, how in self.readings.items()
            }

        encode = None if isinstance(self.engine, Local) else self.engine.encode(encoder, *recipe)
        return make_store(
            out,
            asked,
            settings,
            encoder,
            scan,
            self.monitor,
            labels=list(self.parts),
            missing="skip",
            extend=False,
            encode=encode,
        )

    def _sampled(self, label: str, job: Sampling) -> Occurrences:
        progress = reading_stage(self.monitor, f"sampling {label}")
        found = results(job, self.parts[label], self.engine, self.kept, progress)
        return sampled(found, os.fspath(self.corpora[label]), job.max_per_word)
