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
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lexshift import __version__, _checks
from lexshift._typing import Array
from lexshift.corpus import Reading
from lexshift.corpus.sampled import Sample, sample_sentences
from lexshift.embedding import READING, corpus_names
from lexshift.encode.adaptation import Adaptation, missing_tokens, read_adaptation
from lexshift.encode.models import quiet
from lexshift.errors import UserError
from lexshift.monitor import Monitor, Silent, reading_stage
from lexshift.tune.folder import Tuned, finish, finished, last_checkpoint, tuning_folder
from lexshift.tune.schedule import Schedule, training_arguments
from lexshift.tune.training import need_libraries, run_trainer, seed_everything

if TYPE_CHECKING:
    from lexshift.encode.pieces import Ids

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
) -> Tuned:
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
    Tuned
    """
    job = _Job(
        "mlm", corpora, None, out, model, schedule, mask, 0.0, max_sentences, held_out, window, revision, monitor
    )
    return job.run((), False, reading)


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
) -> Tuned:
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
    Tuned
        Its ``run`` has the share of held-out sentences whose period the model predicts, if it has time tokens alone.
    """
    if len(corpora) < 2:
        raise UserError("to know the time of a text, a model needs two corpora or more, the oldest first")
    periods = corpus_names(corpora, labels)
    with_tokens = (not attention) if tokens is None else tokens
    if not with_tokens and not attention:
        raise UserError("a model knows the time by tokens or by attention; this asks for neither")
    time_tokens = tuple(f"<{number}>" for number in range(1, len(periods) + 1)) if with_tokens else ()
    job = _Job(
        "time",
        corpora,
        periods,
        out,
        model,
        schedule,
        mask,
        time_mask,
        max_sentences,
        held_out,
        window,
        revision,
        monitor,
    )
    return job.run(time_tokens, attention, reading)


@dataclass(frozen=True)
class _Data:
    """Sequences to train on and held-out ones, each with its period."""

    training: list[Ids]
    training_periods: Array
    held_out: list[Ids]
    held_out_periods: Array
    cut: int


@dataclass
class _Job:
    """One call of :func:`tune_mlm` or :func:`tune_time`."""

    kind: str
    corpora: Sequence[Place]
    periods: list[str] | None
    out: Place
    model: Place
    schedule: Schedule | None
    mask: float
    time_mask: float
    max_sentences: int
    held_out: float
    window: int
    revision: str | None
    monitor: Monitor | None

    def run(self, time_tokens: tuple[str, ...], attention: bool, reading: dict[str, Any]) -> Tuned:
        need_libraries()
        unknown = sorted(set(reading) - set(READING))
        if unknown:
            raise UserError(f"{', '.join(unknown)} is no way to read text; there are {', '.join(READING)}")
        if not self.corpora:
            raise UserError("there is no corpus to train on; give at least one")
        for value, name in ((self.mask, "mask"), (self.held_out, "held_out")):
            if not 0 < _checks.between_0_and_1(value, name) < 1:
                raise UserError(f"{name} must be above 0 and below 1; got {value!r}")
        if not 0 <= self.time_mask <= 1:
            raise UserError(f"time_mask must be between 0 and 1; got {self.time_mask!r}")
        _checks.positive(self.max_sentences, "max_sentences")
        _checks.positive(self.window, "window")
        how = Reading(**reading)
        schedule = self.schedule or Schedule()
        monitor = self.monitor or Silent()
        with tuning_folder(self.out) as folder:
            names = self.periods or corpus_names(self.corpora, None)
            samples = [
                self._sample(corpus, name, how, monitor) for corpus, name in zip(self.corpora, names, strict=True)
            ]
            return self._tune(folder, samples, names, schedule, time_tokens, attention, how, monitor)

    def _sample(self, corpus: Place, name: str, how: Reading, monitor: Monitor) -> Sample:
        seed = (self.schedule or Schedule()).seed
        return sample_sentences(corpus, how, self.max_sentences, seed, reading_stage(monitor, f"reading {name}"))

    def _tune(
        self,
        folder: Path,
        samples: list[Sample],
        names: list[str],
        schedule: Schedule,
        time_tokens: tuple[str, ...],
        attention: bool,
        how: Reading,
        monitor: Monitor,
    ) -> Tuned:
        from lexshift.encode.huggingface import longest_sequence
        from lexshift.encode.pieces import Tokens
        from lexshift.encode.temporal import add_temporal_attention
        from lexshift.tune.heads import add_tokens, digest_weights, load_with_head
        from lexshift.tune.masked import MaskedTrainer, with_loss
        from lexshift.tune.masking import HeldOut, Masking, Training, Vocabulary, collate

        seed_everything(schedule.seed)
        model, tokenizer, source, new_head = load_with_head(self.model, self.revision)
        self._refuse(source, tokenizer, time_tokens)
        if new_head:
            monitor.note(
                f"the model {os.fspath(self.model)!r} has no head that predicts masked words: a new one is trained, on "
                f"its word embeddings"
            )
        if time_tokens:
            add_tokens(model, tokenizer, list(time_tokens))
        if attention:
            add_temporal_attention(model, len(names))
        window = min(self.window, longest_sequence(model.base_model, tokenizer))
        tokens = Tokens(tokenizer, window, time_tokens)
        data = self._data(samples, tokens)
        total = schedule.total(len(data.training))
        plan = {
            "kind": self.kind,
            "model": os.fspath(self.model),
            "weights": digest_weights(model),
            "periods": list(names) if self.kind == "time" else None,
            "time tokens": list(time_tokens),
            "attention": attention,
            "corpora": [sample.content for sample in samples],
            "reading": asdict(how),
            "mask": self.mask,
            "time_mask": self.time_mask if time_tokens else None,
            "max_sentences": self.max_sentences,
            "held_out": self.held_out,
            "window": window,
            **schedule.settings(),
        }
        done = finished(folder, plan)
        if done is not None:
            monitor.note("this model is tuned already")
            return done
        vocabulary = Vocabulary.of(tokenizer, time_tokens, tokens.ends)
        masking = Masking(self.mask, self.time_mask)
        ask = bool(time_tokens) and not attention  # attention knows the answer
        training = Training(
            data.training,
            data.training_periods,
            vocabulary,
            masking,
            schedule.batch,
            total * schedule.batch,
            schedule.seed,
        )
        watched = HeldOut(data.held_out, data.held_out_periods, vocabulary, masking, schedule.seed, ask)
        arguments = training_arguments(schedule, total, folder, "eval_nll", False)
        trainers: list[Any] = []

        def make(callbacks: list[Any]) -> Any:
            trainers.append(
                MaskedTrainer(
                    model=with_loss(model, vocabulary.times),
                    args=arguments,
                    train_dataset=training,
                    eval_dataset=watched,
                    data_collator=partial(collate, vocabulary=vocabulary, attention=attention),
                    callbacks=callbacks,
                )
            )
            return trainers[0]

        result = run_trainer(make, total, schedule.patience, last_checkpoint(folder), _figures, _told, monitor)
        run = {
            "lexshift": __version__,
            "plan": plan,
            "new head": new_head,
            "corpora": [
                {
                    "label": name,
                    "sentences": sample.found,
                    "kept": len(sample.sentences),
                    "skipped": dict(sample.tally.skipped),
                }
                for name, sample in zip(names, samples, strict=True)
            ],
            "trained on": len(data.training),
            "held out": len(data.held_out),
            "sentences cut": data.cut,
            "chance": _chance(data.held_out_periods) if ask else None,
            **result,
        }
        adaptation = Adaptation(
            periods=tuple(names) if self.kind == "time" else (), time_tokens=time_tokens, attention=attention
        )

        def save(made: Path) -> None:
            with quiet():
                model.save_pretrained(str(made))
            tokenizer.save_pretrained(str(made))
            adaptation.save(made)

        return finish(folder, save, run)

    def _refuse(self, source: Path, tokenizer: Any, time_tokens: tuple[str, ...]) -> None:
        """A model that knows the time of its texts cannot be told another one."""
        known = read_adaptation(source, tokenizer)
        clash = [token for token in time_tokens if token not in missing_tokens(tokenizer, time_tokens)]
        if known.periods or clash:
            raise UserError(
                f"the model {os.fspath(self.model)!r} has been tuned to periods already; begin with one that has not"
            )

    def _data(self, samples: list[Sample], tokens: Any) -> _Data:
        parts: dict[bool, list[Ids]] = {True: [], False: []}
        periods: dict[bool, list[int]] = {True: [], False: []}
        cut = 0
        for period, sample in enumerate(samples):
            held = min(_HELD_OUT_MOST, round(self.held_out * len(sample.sentences)))
            if not 0 < held < len(sample.sentences):
                raise UserError(
                    f"{len(sample.sentences)} sentences in {os.fspath(self.corpora[period])!r} are too few: none would "
                    f"be left to train on or to hold out ({self.held_out:g} of them)"
                )
            sequences, shortened = tokens.whole(sample.sentences, [period] * len(sample.sentences))
            cut += shortened
            for held_out, some in ((True, sequences[:held]), (False, sequences[held:])):
                parts[held_out] += some
                periods[held_out] += [period] * len(some)
        return _Data(parts[False], np.array(periods[False]), parts[True], np.array(periods[True]), cut)


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
    told = f"held-out perplexity {figures['perplexity']:,.1f}"
    return told + (f", period {figures['period']:.0%} right" if "period" in figures else "")
