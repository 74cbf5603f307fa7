"""Adapting a masked language model to corpora: as it is, with time tokens, or with temporal attention.

Continued training on both corpora is the MLM_tuned of Liu et al. (2021); time tokens are those of Rosin et al. (2022),
the paper's MLM_temp; temporal attention is that of Rosin and Radinsky (2022).
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lexshift import __version__
from lexshift.corpus import Reading
from lexshift.corpus.language import recorded_language
from lexshift.encode.adaptation import Adaptation, missing_tokens, read_adaptation
from lexshift.encode.loading import quiet
from lexshift.errors import UserError
from lexshift.store.embedding import READING, corpus_names
from lexshift.study.periods import refuse_same
from lexshift.tune.folder import TunedModel, finish, finished, last_checkpoint, tuning_folder
from lexshift.tune.schedule import Schedule, training_arguments
from lexshift.tune.sentence_sample import Sample, sample_sentences
from lexshift.tune.training import need_libraries, run_trainer, seed_everything
from lexshift.utils import checks
from lexshift.utils.arrays import Array
from lexshift.utils.monitor import Monitor, Silent, reading_stage

if TYPE_CHECKING:
    from lexshift.encode.windows import Ids

Place = str | os.PathLike[str]
MOST = 100_000
"""Sentences of a corpus, unless more are asked for."""
_HELD_OUT_MOST = 500  # held-out sentences of a corpus: enough for two digits, and soon looked at
_WINDOW = 128  # pieces of a sentence; few have more, and they cost the most


def tune_mlm(
    *corpora: Place,
    out: Place,
    model: Place = "minilm",
    schedule: Schedule | None = None,
    mask: float = 0.15,
    max_sentences: int = MOST,
    held_out: float = 0.05,
    window: int = _WINDOW,
    revision: str | None = None,
    monitor: Monitor | None = None,
    **reading: Any,
) -> TunedModel:
    """Go on training a masked language model on corpora.

    Parameters
    ----------
    *corpora : str or path
        Text files, tables, folders or patterns.
    out : path
        The folder of the tuned model. A run that was stopped goes on where it was.
    model : str or path
        The model to begin with: "minilm", a folder, or a name on the hub.
    schedule : Schedule, optional
        How long and how fast.
    mask : float
        The share of words that are masked.
    max_sentences : int
        At most so many of a corpus, a random sample.
    held_out : float
        The share of sentences that is not trained on but looked at, at most 500 of a corpus.
    window : int
        The most pieces of a sentence.
    revision : str, optional
        Of a model on the hub.
    monitor : Monitor, optional
        Hears how far the run is.
    **reading
        How text is read: see :class:`lexshift.corpus.Reading`.

    Returns
    -------
    TunedModel
    """
    request = _Request(
        corpora,
        corpus_names(corpora, None),
        model,
        revision,
        schedule or Schedule(),
        _reading(reading),
        mask,
        max_sentences=max_sentences,
        held_out=held_out,
        window=window,
    )
    return request.run(out, monitor or Silent())


def tune_time(
    *corpora: Place,
    out: Place,
    model: Place = "minilm",
    labels: Sequence[str] | None = None,
    tokens: bool | None = None,
    attention: bool = False,
    schedule: Schedule | None = None,
    mask: float = 0.15,
    time_mask: float = 0.5,
    max_sentences: int = MOST,
    held_out: float = 0.05,
    window: int = _WINDOW,
    revision: str | None = None,
    monitor: Monitor | None = None,
    **reading: Any,
) -> TunedModel:
    """Train a masked language model to know the time of a text, by a token before each sentence or by its attention.

    Parameters
    ----------
    *corpora : str or path
        One for each period, the oldest first.
    out, model, schedule, mask, max_sentences, held_out, window, revision, monitor, **reading
        As for :func:`tune_mlm`.
    labels : list of str, optional
        Names of the periods; by default "old" and "new" for two, else the names of the files.
    tokens : bool, optional
        Whether there are time tokens; by default if there is no temporal attention.
    attention : bool
        Whether there is temporal attention in every layer.
    time_mask : float
        How often the time token is masked, to be predicted.

    Returns
    -------
    TunedModel
        Its ``run`` has the share of held-out sentences whose period the model predicts, if it has time tokens alone.
    """
    if len(corpora) < 2:
        raise UserError("to know the time of a text, a model needs two corpora or more, the oldest first")
    periods = corpus_names(corpora, labels)
    for earlier, later in combinations(corpora, 2):
        refuse_same(earlier, later)
    with_tokens = (not attention) if tokens is None else tokens
    if not with_tokens and not attention:
        raise UserError("a model knows the time by tokens or by attention; this asks for neither")
    time_tokens = tuple(f"<{number}>" for number in range(1, len(periods) + 1)) if with_tokens else ()
    request = _Request(
        corpora,
        periods,
        model,
        revision,
        schedule or Schedule(),
        _reading(reading),
        mask,
        time_mask,
        time_tokens,
        attention,
        max_sentences,
        held_out,
        window,
    )
    return request.run(out, monitor or Silent())


def _reading(options: dict[str, Any]) -> Reading:
    unknown = sorted(set(options) - set(READING))
    if unknown:
        raise UserError(f"{', '.join(unknown)} is no way to read text; there are {', '.join(READING)}")
    return Reading(**options)


@dataclass(frozen=True)
class _Data:
    """Sequences to train on and held-out ones, each with its period."""

    training: list[Ids]
    training_periods: Array
    held_out: list[Ids]
    held_out_periods: Array
    cut: int


@dataclass(frozen=True)
class _Request:
    """What is asked of :func:`tune_mlm` or :func:`tune_time`."""

    corpora: Sequence[Place]
    names: list[str]
    model: Place
    revision: str | None
    schedule: Schedule
    reading: Reading
    mask: float
    time_mask: float = 0.0
    time_tokens: tuple[str, ...] = ()
    attention: bool = False
    max_sentences: int = MOST
    held_out: float = 0.05
    window: int = _WINDOW

    def __post_init__(self) -> None:
        if not self.corpora:
            raise UserError("there is no corpus to train on; give at least one")
        for value, name in ((self.mask, "mask"), (self.held_out, "held_out")):
            if not 0 < checks.between_0_and_1(value, name) < 1:
                raise UserError(f"{name} must be above 0 and below 1; got {value!r}")
        if not 0 <= self.time_mask <= 1:
            raise UserError(f"time_mask must be between 0 and 1; got {self.time_mask!r}")
        for name in ("max_sentences", "window"):
            object.__setattr__(self, name, checks.positive(getattr(self, name), name))
        for name in ("mask", "time_mask", "held_out"):
            object.__setattr__(self, name, float(getattr(self, name)))

    @property
    def knows_time(self) -> bool:
        return bool(self.time_tokens) or self.attention

    @property
    def asks_period(self) -> bool:
        """Whether the model can be asked for the period of a sentence; attention has been told it."""
        return bool(self.time_tokens) and not self.attention

    def run(self, out: Place, monitor: Monitor) -> TunedModel:
        need_libraries()
        with tuning_folder(out) as folder:
            samples = [self._sample(*named, monitor) for named in zip(self.corpora, self.names, strict=True)]
            seed_everything(self.schedule.seed)
            start = self._start(monitor)
            data = self._data(samples, start.tokens)
            plan = self._plan(start, samples)
            done = finished(folder, plan)
            if done is not None:
                monitor.note("this model is tuned already")
                return done
            result = self._train(folder, start, data, monitor)
            run = {
                "lexshift": __version__,
                "plan": plan,
                "new head": start.new_head,
                "corpora": [_counted(name, sample) for name, sample in zip(self.names, samples, strict=True)],
                "trained on": len(data.training),
                "held out": len(data.held_out),
                "sentences cut": data.cut,
                "chance": _chance(data.held_out_periods) if self.asks_period else None,
                **result,
            }
            return finish(folder, partial(self._save, start), run)

    def _sample(self, corpus: Place, name: str, monitor: Monitor) -> Sample:
        progress = reading_stage(monitor, f"reading {name}")
        return sample_sentences(corpus, self.reading, self.max_sentences, self.schedule.seed, progress)

    def _start(self, monitor: Monitor) -> _Start:
        """The model that training begins with."""
        from lexshift.encode.huggingface import longest_sequence
        from lexshift.encode.temporal import add_temporal_attention
        from lexshift.encode.windows import WindowTokenizer
        from lexshift.tune.heads import add_tokens, load_with_head

        model, tokenizer, source, new_head = load_with_head(self.model, self.revision)
        if read_adaptation(source, tokenizer).periods or len(missing_tokens(tokenizer, self.time_tokens)) < len(
            self.time_tokens
        ):
            raise UserError(
                f"the model {os.fspath(self.model)!r} has been tuned to periods already; begin with one that has not"
            )
        if new_head:
            monitor.note(
                f"the model {os.fspath(self.model)!r} has no head that predicts masked words: a new one is trained, on "
                f"its word embeddings"
            )
        if self.time_tokens:
            add_tokens(model, tokenizer, list(self.time_tokens))
        if self.attention:
            add_temporal_attention(model, len(self.names))
        window = min(self.window, longest_sequence(model.base_model, tokenizer))
        return _Start(model, tokenizer, WindowTokenizer(tokenizer, window, self.time_tokens), window, new_head)

    def _plan(self, start: _Start, samples: list[Sample]) -> dict[str, Any]:
        """All that shapes the tuned model."""
        from lexshift.tune.heads import digest_weights

        languages = {name: sample.language for name, sample in zip(self.names, samples, strict=True)}
        return {
            "kind": "time" if self.knows_time else "mlm",
            "model": os.fspath(self.model),
            "weights": digest_weights(start.model),
            "periods": self.names if self.knows_time else None,
            "time tokens": list(self.time_tokens),
            "attention": self.attention,
            "corpora": [sample.content for sample in samples],
            "reading": {**asdict(self.reading), "language": recorded_language(languages)},
            "mask": self.mask,
            "time_mask": self.time_mask if self.time_tokens else None,
            "max_sentences": self.max_sentences,
            "held_out": self.held_out,
            "window": start.window,
            **self.schedule.settings(),
        }

    def _data(self, samples: list[Sample], tokens: Any) -> _Data:
        parts: dict[bool, list[Ids]] = {True: [], False: []}
        periods: dict[bool, list[int]] = {True: [], False: []}
        cut = 0
        counts = [min(_HELD_OUT_MOST, round(self.held_out * len(sample.sentences))) for sample in samples]
        kept_out = {
            s for n, sample in zip(counts, samples, strict=True) for s in sample.sentences[:n]
        }  # of all corpora
        for period, (held, sample) in enumerate(zip(counts, samples, strict=True)):
            if not 0 < held < len(sample.sentences):
                raise UserError(
                    f"{len(sample.sentences)} sentences in {os.fspath(self.corpora[period])!r} are too few: none would "
                    f"be left to train on or to hold out ({self.held_out:g} of them)"
                )
            rest = [sentence for sentence in sample.sentences[held:] if sentence not in kept_out]
            for held_out, some in ((True, sample.sentences[:held]), (False, rest)):
                sequences, shortened = tokens.whole(some, [period] * len(some))
                parts[held_out] += sequences
                periods[held_out] += [period] * len(some)
                cut += shortened
        if not parts[False]:
            raise UserError("no sentence is left to train on: those of the corpora are the same")
        return _Data(parts[False], np.array(periods[False]), parts[True], np.array(periods[True]), cut)

    def _train(self, folder: Path, start: _Start, data: _Data, monitor: Monitor) -> dict[str, Any]:
        from lexshift.tune.masked import MaskedTrainer, with_loss
        from lexshift.tune.masking import HeldOut, Masking, Training, Vocabulary, collate

        schedule = self.schedule
        total = schedule.total(len(data.training))
        vocabulary = Vocabulary.of(start.tokenizer, self.time_tokens, start.tokens.ends)
        masking = Masking(self.mask, self.time_mask)
        options = {
            "model": with_loss(start.model, vocabulary.times),
            "args": training_arguments(schedule, total, folder, "eval_nll", False),
            "train_dataset": Training(
                data.training,
                data.training_periods,
                vocabulary,
                masking,
                schedule.batch,
                total * schedule.batch,
                schedule.seed,
            ),
            "eval_dataset": HeldOut(
                data.held_out, data.held_out_periods, vocabulary, masking, schedule.seed, self.asks_period
            ),
            "data_collator": partial(collate, vocabulary=vocabulary, attention=self.attention),
        }
        return run_trainer(
            lambda callbacks: MaskedTrainer(**options, callbacks=callbacks),
            total,
            schedule.patience,
            last_checkpoint(folder),
            _figures,
            _told,
            monitor,
        )

    def _save(self, start: _Start, folder: Path) -> None:
        with quiet():
            start.model.save_pretrained(str(folder))
        start.tokenizer.save_pretrained(str(folder))
        periods = tuple(self.names) if self.knows_time else ()
        Adaptation(periods=periods, time_tokens=self.time_tokens, attention=self.attention).save(folder)


@dataclass(frozen=True)
class _Start:
    """A model as training begins with it."""

    model: Any
    tokenizer: Any
    tokens: Any
    window: int
    new_head: bool


def _counted(name: str, sample: Sample) -> dict[str, Any]:
    kept = len(sample.sentences)
    return {"label": name, "sentences": sample.found, "kept": kept, "skipped": dict(sample.tally.skipped)}


def _chance(periods: Array) -> float:
    """How often one is right who always says the most frequent period."""
    return float(np.bincount(periods).max() / len(periods))


def _figures(entry: dict[str, Any]) -> dict[str, float]:
    """Of an evaluation: the held-out loss and perplexity, and how often the period is predicted."""
    if "eval_nll" not in entry:
        return {}
    found = {"held_out_loss": float(entry["eval_nll"]), "perplexity": math.exp(min(float(entry["eval_nll"]), 700.0))}
    if "eval_period" in entry:
        found["period"] = float(entry["eval_period"])
    return found


def _told(figures: dict[str, float]) -> str:
    told = f"perplexity {figures['perplexity']:,.1f}"
    return told + (f", period {figures['period']:.0%}" if "period" in figures else "")
