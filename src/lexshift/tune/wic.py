"""Supervised adaptation on Word-in-Context pairs, as XL-LEXEME does it (Cassotti et al. 2023).

The word is put between markers, the vector of a usage is the mean over the tokens of its sentence, and two usages are
drawn together if they have the same meaning and pushed apart if not: the contrastive loss on their cosine.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lexshift import __version__
from lexshift.encode.adaptation import MARKERS, Adaptation, missing_tokens
from lexshift.errors import UserError
from lexshift.tune.folder import UNFINISHED, TunedModel, finish, finished, last_checkpoint, save_run, tuning_folder
from lexshift.tune.heads import add_tokens, digest_weights
from lexshift.tune.judging import figures_of, judge, tell, told
from lexshift.tune.pairs import Pair, Usage, hold_out, read_pairs
from lexshift.tune.schedule import LIGHT, WHOLE, Schedule, training_arguments
from lexshift.tune.training import need_libraries, run_trainer, seed_everything
from lexshift.utils import checks
from lexshift.utils.monitor import Monitor, Silent

Place = str | os.PathLike[str]
_WINDOW = 128  # pieces of a sentence
POOLINGS = ("sentence", "word")
"""What the vector of a usage is the mean of: all tokens of its sentence, as in XL-LEXEME, or the pieces of the word."""


def tune_wic(
    *pairs: Place,
    out: Place,
    model: Place = "minilm",
    dev: Sequence[Place] = (),
    light: bool = False,
    pooling: str = "sentence",
    schedule: Schedule | None = None,
    margin: float = 0.5,
    held_out: float = 0.1,
    window: int = _WINDOW,
    revision: str | None = None,
    monitor: Monitor | None = None,
) -> TunedModel:
    """Tune an encoder on pairs of usages of a word that have the same meaning or not.

    Parameters
    ----------
    *pairs : str or path
        Pairs to train on: see :func:`lexshift.tune.pairs.read_pairs`.
    out : path
        The folder of the tuned model. A run that was stopped goes on where it was.
    model : str or path
        The model to begin with: "minilm", a folder, or a name on the hub.
    dev : list of paths
        Pairs to report figures on. They choose nothing.
    light : bool
        Train only a projection of the vectors of the model as it is, which takes minutes; ``pooling``, ``margin`` and
        ``window`` are then those of the model.
    pooling : "sentence" or "word"
        What the vector of a usage is the mean of: all tokens of its sentence, or the pieces of the word.
    schedule : Schedule, optional
        How long and how fast.
    margin : float
        The cosine distance from which on usages of different meaning are far enough apart.
    held_out : float
        The share of pairs that is not trained on, all pairs of some words; they choose the best model and threshold.
    window : int
        The most pieces of a sentence; a longer one is cut around the word.
    revision : str, optional
        Of a model on the hub.
    monitor : Monitor, optional
        Hears how far the run is.

    Returns
    -------
    TunedModel
        Its ``run`` has the AUC and the accuracy on the held-out and on the dev pairs, before and after.
    """
    need_libraries()
    checks.choice(pooling, "pooling", POOLINGS)
    checks.between_0_and_1(held_out, "held_out")
    checks.positive(window, "window")
    if isinstance(margin, bool) or not isinstance(margin, (int, float)) or not 0 < margin <= 2:
        raise UserError(f"margin must be above 0 and at most 2, the largest cosine distance; got {margin!r}")
    training, watched = hold_out(read_pairs(*pairs), held_out, (schedule or Schedule()).seed)
    for side, name in ((training, "trained on"), (watched, "held out")):
        if len({pair.same for pair in side}) < 2:
            raise UserError(f"the pairs that are {name} must be some of one meaning and some of two; give more pairs")
    task = Task(model, revision, training, watched, read_pairs(*dev) if dev else [])
    heard = monitor or Silent()
    with tuning_folder(out) as folder:
        if light:
            from lexshift.tune.projection import tune_projection

            tuned = tune_projection(folder, task, schedule or LIGHT, heard)
        else:
            tuned = _tune(folder, task, schedule or WHOLE, pooling, margin, window, heard)
        return task.with_dev(tuned, (schedule or WHOLE).device)


@dataclass(frozen=True)
class Task:
    """What a model is tuned on.

    Attributes
    ----------
    model, revision
        The model to begin with.
    training, held_out, dev : lists of Pair
    """

    model: Place
    revision: str | None
    training: list[Pair]
    held_out: list[Pair]
    dev: list[Pair]

    def load(self) -> tuple[Any, Any, Adaptation]:
        """The model, its tokenizer and its use, if it was not tuned for something that pairs of usages do not have."""
        from lexshift.encode.loading import load_model

        body, tokenizer, adaptation = load_model(self.model, self.revision)
        if adaptation.periods or adaptation.projection is not None:
            raise UserError(
                f"the model {os.fspath(self.model)!r} has been tuned to periods or has a projection; begin with one "
                f"that has not"
            )
        return body, tokenizer, adaptation

    def plan(self, body: Any, schedule: Schedule, **more: Any) -> dict[str, Any]:
        """All that shapes the tuned model."""
        return {
            "kind": "wic",
            "model": os.fspath(self.model),
            "weights": digest_weights(body),
            "pairs": [digest_of(self.training), digest_of(self.held_out)],
            **more,
            **schedule.settings(),
        }

    def run(self, plan: dict[str, Any], result: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> Any:
        """What was done and measured."""
        counts = {"trained on": len(self.training), "held out": len(self.held_out), "dev": len(self.dev)}
        run = {"lexshift": __version__, "plan": plan, "pairs": counts, "dev": digest_of(self.dev), **result}
        return {**run, "untuned": before, "tuned": after}

    def with_dev(self, tuned: TunedModel, device: str) -> TunedModel:
        """A model with its accuracy on the dev pairs, also if it was tuned before these were asked for."""
        from lexshift.encode import as_encoder

        if not self.dev or tuned.run.get("dev") == digest_of(self.dev):
            return tuned
        encoders = (
            as_encoder(self.model, revision=self.revision, device=device),
            as_encoder(tuned.folder, device=device),
        )
        before, after = (judge(encoder, self.held_out, self.dev) for encoder in encoders)
        counts = {**tuned.run["pairs"], "dev": len(self.dev)}
        run = {**tuned.run, "pairs": counts, "dev": digest_of(self.dev), "untuned": before, "tuned": after}
        return save_run(tuned.folder, run)


def _tune(
    folder: Path, task: Task, schedule: Schedule, pooling: str, margin: float, window: int, monitor: Monitor
) -> TunedModel:
    from lexshift.encode import as_encoder
    from lexshift.encode.huggingface import HuggingFaceEncoder, longest_sequence
    from lexshift.tune.siamese import siamese, siamese_trainer

    seed_everything(schedule.seed)
    body, tokenizer, _ = task.load()
    window = min(window, longest_sequence(body, tokenizer))
    beside = tokenizer.num_special_tokens_to_add() + len(MARKERS)
    if window <= beside:
        raise UserError(f"window must leave room for a word beside {beside} special tokens and markers; got {window}")
    plan = task.plan(body, schedule, form="whole", pooling=pooling, margin=margin, window=window)
    done = finished(folder, plan)
    if done is not None:
        monitor.note("this model is tuned already")
        return done
    before = judge(as_encoder(task.model, revision=task.revision, device=schedule.device), task.held_out, task.dev)
    monitor.note(f"untuned: {told(before)}")
    network = siamese(body, tokenizer, pooling, window, folder / UNFINISHED)
    total = schedule.total(len(task.training))
    arguments = training_arguments(schedule, total, folder, "eval_auc", True, network.arguments)
    make = partial(siamese_trainer, network, arguments, task.training, task.held_out, margin, total * schedule.batch)
    result = run_trainer(make, total, schedule.patience, last_checkpoint(folder), figures_of, tell, monitor)
    adaptation = Adaptation(markers=MARKERS, pooling=pooling if pooling == "sentence" else "mean", layers="last")
    tuned = HuggingFaceEncoder(network.body, tokenizer, device=schedule.device, adaptation=adaptation)
    after = judge(tuned, task.held_out, task.dev)
    monitor.note(f"tuned: {told(after)}")

    def save(made: Path) -> None:
        network.save(made)
        adaptation.save(made)

    return finish(folder, save, task.run(plan, result, before, after))


def digest_of(pairs: Sequence[Pair]) -> str:
    """SHA-256 of pairs."""
    return hashlib.sha256(repr(list(pairs)).encode()).hexdigest()


def add_markers(body: Any, tokenizer: Any) -> None:
    """Give a model the markers that it lacks."""
    missing = missing_tokens(tokenizer, MARKERS)
    if missing:
        add_tokens(body, tokenizer, missing)


def marked(usage: Usage) -> str:
    """A sentence with markers around its word."""
    sentence, start, end = usage
    return sentence[:start] + MARKERS[0] + sentence[start:end] + MARKERS[1] + sentence[end:]
