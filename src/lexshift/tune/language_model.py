"""Tune a masked language model on corpora: without time, with time tokens, or with temporal attention.

Continued training on both corpora is the MLM_tuned of Liu et al. (2021); time tokens are those of Rosin et al. (2022),
the paper's MLM_temp; temporal attention is that of Rosin and Radinsky (2022).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lexshift import __version__
from lexshift.corpus import Corpus, Reading
from lexshift.corpus.language import record_readings
from lexshift.corpus.objects import as_files
from lexshift.corpus.sources import Place
from lexshift.encode.adaptation import Adaptation, missing_tokens, read_adaptation
from lexshift.errors import UserError
from lexshift.store.embedding import READING, corpus_names
from lexshift.study.periods import refuse_same
from lexshift.tune.folder import TunedModel, find_finished, finish, tuning_folder
from lexshift.tune.sentence_sample import Sample, sample_sentences
from lexshift.tune.settings import LanguageSettings, TimeSettings
from lexshift.tune.training import check_libraries, save_model, train, training_arguments
from lexshift.utils import checks
from lexshift.utils.arrays import Array
from lexshift.utils.monitor import Monitor, Silent, reading_stage

if TYPE_CHECKING:
    from lexshift.encode.windows import Ids, WindowTokenizer

MAX_HELD_OUT = 500
"""Maximum number of held-out sentences of a corpus: enough for two digits, and fast to evaluate."""


def tune_mlm(
    *corpora: Corpus,
    out: Place,
    model: Place = "minilm",
    settings: LanguageSettings | None = None,
    revision: str | None = None,
    monitor: Monitor | None = None,
    **reading: Any,
) -> TunedModel:
    """Continue the training of a masked language model on corpora.

    Parameters
    ----------
    *corpora : Corpus
        Text files, tables, folders, patterns, or Python objects with texts; see :data:`lexshift.corpus.Corpus`.
    out : path
        Folder of the tuned model. An interrupted run resumes where it stopped.
    model : str or path
        The model to begin with: "minilm", a folder, or a name on the hub.
    settings : LanguageSettings, optional
        Settings of the training.
    revision : str, optional
        Revision of a model on the hub.
    monitor : Monitor, optional
        Receives progress events.
    **reading
        Options for reading text: see :class:`lexshift.corpus.Reading`.

    Returns
    -------
    TunedModel
    """
    checks.keywords(reading, READING, tune_mlm)
    if not corpora:
        raise UserError("no corpus to train on; give at least one")
    with as_files(corpora, Reading(**reading)) as (files, how):
        task = _Task(files, corpus_names(files, None), model, revision, settings or LanguageSettings(), how)
        return task.run(out, monitor or Silent())


def tune_time(
    *corpora: Corpus,
    out: Place,
    model: Place = "minilm",
    labels: Sequence[str] | None = None,
    settings: TimeSettings | None = None,
    revision: str | None = None,
    monitor: Monitor | None = None,
    **reading: Any,
) -> TunedModel:
    """Train a masked language model on the time of a text, with time tokens or with temporal attention.

    Parameters
    ----------
    *corpora : Corpus
        One corpus for each period, the oldest first.
    labels : list of str, optional
        Names of the periods; by default "old" and "new" for two, else the names of the files.
    settings : TimeSettings, optional
        Settings of the training.
    out, model, revision, monitor, **reading
        As for :func:`tune_mlm`.

    Returns
    -------
    TunedModel
        Its ``run`` holds the share of held-out sentences whose period is predicted, if it has time tokens alone.
    """
    checks.keywords(reading, READING, tune_time)
    if len(corpora) < 2:
        raise UserError("tuning on time needs at least two corpora, the oldest first")
    with as_files(corpora, Reading(**reading)) as (files, how):
        names = corpus_names(files, labels)
        for earlier, later in combinations(files, 2):
            refuse_same(earlier, later)
        task = _Task(files, names, model, revision, settings or TimeSettings(), how)
        return task.run(out, monitor or Silent())


@dataclass(frozen=True)
class _Start:
    """The model at the start of training, with its tokenizer."""

    model: Any
    tokenizer: Any
    windows: WindowTokenizer
    window: int
    has_new_head: bool


@dataclass(frozen=True)
class Split:
    """Training or held-out sentences as token ids, each with the number of its period."""

    sequences: list[Ids]
    periods: Array


@dataclass(frozen=True)
class _Task:
    """A model, corpora and settings; :meth:`run` tunes the model."""

    corpora: Sequence[Place]
    names: list[str]
    model: Place
    revision: str | None
    settings: LanguageSettings
    reading: Reading

    @property
    def adaptation(self) -> Adaptation:
        """The settings with which the tuned model is used."""
        if not isinstance(self.settings, TimeSettings):
            return Adaptation()
        numbers = range(1, len(self.names) + 1) if self.settings.tokens else ()
        return Adaptation(tuple(self.names), tuple(f"<{number}>" for number in numbers), self.settings.attention)

    @property
    def predicts_period(self) -> bool:
        """True if the model predicts the period of a sentence; temporal attention has the period as input."""
        return bool(self.adaptation.time_tokens) and not self.adaptation.attention

    def run(self, out: Place, monitor: Monitor) -> TunedModel:
        """Tune the model, or return it if the folder already has it."""
        check_libraries()
        from transformers import set_seed

        settings = self.settings
        with tuning_folder(out) as folder:
            samples = []
            for corpus, name in zip(self.corpora, self.names, strict=True):
                progress = reading_stage(monitor, f"reading {name}")
                samples.append(sample_sentences(corpus, self.reading, settings.max_sentences, settings.seed, progress))
            set_seed(settings.seed)
            start = self._start(monitor)
            paths = [os.fspath(corpus) for corpus in self.corpora]
            training, held_out, truncated = split_samples(
                samples, paths, settings.held_out, start.windows.tokenize_whole
            )
            plan = self._plan(start, samples)
            done = find_finished(folder, plan)
            if done is not None:
                monitor.note("the folder already has this tuned model")
                return done
            result = self._train(folder, start, training, held_out, monitor)
            run = {
                "lexshift": __version__,
                "plan": plan,
                "new head": start.has_new_head,
                "corpora": [_counts(*named) for named in zip(self.names, samples, strict=True)],
                "trained on": len(training.sequences),
                "held out": len(held_out.sequences),
                "sentences cut": truncated,
                "chance": float(np.bincount(held_out.periods).max() / len(held_out.periods))
                if self.predicts_period
                else None,
                **result,
            }
            save = partial(save_model, model=start.model, tokenizer=start.tokenizer, adaptation=self.adaptation)
            return finish(folder, save, run)

    def _start(self, monitor: Monitor) -> _Start:
        """Load the model and add time tokens or temporal attention as the settings require."""
        from lexshift.encode.huggingface import longest_sequence
        from lexshift.encode.temporal import add_temporal_attention
        from lexshift.encode.windows import WindowTokenizer
        from lexshift.tune.heads import add_tokens, load_with_head

        name, tokens = os.fspath(self.model), self.adaptation.time_tokens
        model, tokenizer, source, has_new_head = load_with_head(self.model, self.revision)
        if read_adaptation(source, tokenizer).periods or len(missing_tokens(tokenizer, tokens)) < len(tokens):
            raise UserError(f"the model {name!r} is already tuned on periods; start from one that is not")
        if has_new_head:
            monitor.note(f"the model {name!r} has no head that predicts masked words; a new one is trained")
        if tokens:
            add_tokens(model, tokenizer, list(tokens))
        if self.adaptation.attention:
            add_temporal_attention(model, len(self.names))
        window = min(self.settings.window, longest_sequence(model.base_model, tokenizer))
        return _Start(model, tokenizer, WindowTokenizer(tokenizer, window, tokens), window, has_new_head)

    def _plan(self, start: _Start, samples: list[Sample]) -> dict[str, Any]:
        """Return everything that affects the tuned model."""
        from lexshift.encode.loading import digest_weights

        adaptation, labelled = self.adaptation, zip(self.names, samples, strict=True)
        return {
            "kind": "time" if adaptation.periods else "mlm",
            "model": os.fspath(self.model),
            "weights": digest_weights(start.model),
            "periods": self.names if adaptation.periods else None,
            "time tokens": list(adaptation.time_tokens),
            "corpora": [sample.content for sample in samples],
            "reading": record_readings({n: replace(self.reading, language=s.language) for n, s in labelled}),
            **self.settings.record(),
            "window": start.window,
        }

    def _train(self, folder: Path, start: _Start, training: Split, held_out: Split, monitor: Monitor) -> dict[str, Any]:
        from lexshift.tune import masking

        settings, times = self.settings, self.adaptation.time_tokens
        total = settings.total(len(training.sequences))
        vocabulary = masking.Vocabulary.from_tokenizer(start.tokenizer, times, start.windows.ends)
        shares = masking.Masking(settings.mask, getattr(settings, "time_mask", 0.0))
        examples = masking.TrainingExamples(
            training.sequences,
            training.periods,
            vocabulary,
            shares,
            settings.batch,
            total * settings.batch,
            settings.seed,
        )
        evaluated = masking.HeldOutExamples(
            held_out.sequences, held_out.periods, vocabulary, shares, settings.seed, self.predicts_period
        )
        make = partial(
            masking.MaskedTrainer,
            masking.add_loss(start.model, vocabulary.times),
            training_arguments(settings, total, folder, "eval_nll", False),
            partial(masking.collate, vocabulary=vocabulary, attention=self.adaptation.attention),
            examples,
            evaluated,
        )
        return train(make, settings, folder, _figures, _describe, monitor)


def split_samples(
    samples: Sequence[Sample],
    paths: Sequence[str],
    share: float,
    tokenize: Callable[[list[str], list[int]], tuple[list[Ids], int]],
    max_held_out: int = MAX_HELD_OUT,
) -> tuple[Split, Split, int]:
    """Split the sentences of corpora into training and held-out ones; a held-out sentence is trained on in no corpus.

    Parameters
    ----------
    samples : sequence of Sample
        The sentences of each corpus.
    places : sequence of str
        Names of the corpora, for error messages.
    share : float
        Share of held-out sentences.
    tokenize : callable
        Returns the sequences of sentences of given periods, and how many it had to truncate.
    max_held_out : int
        Maximum number of held-out sentences of a corpus.

    Returns
    -------
    training, held_out : Split
    truncated : int
    """
    counts = [min(max_held_out, round(share * len(sample.sentences))) for sample in samples]
    excluded = {s for n, sample in zip(counts, samples, strict=True) for s in sample.sentences[:n]}
    sequences: tuple[list[Ids], list[Ids]] = ([], [])  # to train on, held out
    periods: tuple[list[int], list[int]] = ([], [])
    truncated = 0
    for period, (n, sample, path) in enumerate(zip(counts, samples, paths, strict=True)):
        if not 0 < n < len(sample.sentences):
            raise UserError(
                f"{len(sample.sentences)} sentences in {path!r} are too few to train on and to hold out "
                f"{share:g} of them; give a larger corpus"
            )
        rest = [sentence for sentence in sample.sentences[n:] if sentence not in excluded]
        for part, sentences in enumerate((rest, sample.sentences[:n])):
            numbers = [period] * len(sentences)
            token_ids, shortened = tokenize(sentences, numbers)
            sequences[part].extend(token_ids)
            periods[part].extend(numbers)
            truncated += shortened
    if not sequences[0]:
        raise UserError("no sentence is left to train on, because the corpora have the same sentences")
    training, held_out = (Split(*part) for part in zip(sequences, map(np.array, periods), strict=True))
    return training, held_out, truncated


def _counts(name: str, sample: Sample) -> dict[str, Any]:
    sentences = len(sample.sentences)
    return {"label": name, "sentences": sample.total, "kept": sentences, "skipped": dict(sample.tally.skipped)}


def _figures(entry: dict[str, Any]) -> dict[str, float]:
    """Return the held-out loss and perplexity of an evaluation, and the share of periods that are predicted."""
    if "eval_nll" not in entry:
        return {}
    results = {"held_out_loss": float(entry["eval_nll"]), "perplexity": math.exp(min(float(entry["eval_nll"]), 700.0))}
    return results | ({"period": float(entry["eval_period"])} if "eval_period" in entry else {})


def _describe(figures: dict[str, float]) -> str:
    period = f", period {figures['period']:.0%}" if "period" in figures else ""
    return f"perplexity {figures['perplexity']:,.1f}{period}"
