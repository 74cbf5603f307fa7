"""Supervised tuning on Word-in-Context pairs, as in XL-LEXEME (Cassotti et al. 2023).

The word is put between markers, the vector of a usage is the mean over the tokens of its sentence, and a contrastive
loss on the cosine draws two usages together if they have the same meaning and pushes them apart if not. The light form
trains only a projection of the model's vectors.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from lexshift import __version__
from lexshift.corpus.sources import Place
from lexshift.encode import as_encoder
from lexshift.encode.adaptation import MARKERS, Adaptation
from lexshift.encode.loading import digest_weights
from lexshift.errors import UserError
from lexshift.tune.evaluation import (
    describe_figures,
    describe_results,
    evaluate,
    pair_labels,
    read_figures,
    usage_vectors,
)
from lexshift.tune.folder import UNFINISHED, TunedModel, find_finished, finish, save_run, tuning_folder
from lexshift.tune.pairs import Pair, hold_out, read_pairs
from lexshift.tune.settings import PairSettings
from lexshift.tune.training import check_libraries, eager_attention, save_model, train, training_arguments
from lexshift.utils.monitor import Monitor, Silent


def tune_wic(
    *pairs: Place,
    out: Place,
    model: Place = "minilm",
    dev: Sequence[Place] = (),
    settings: PairSettings | None = None,
    revision: str | None = None,
    monitor: Monitor | None = None,
) -> TunedModel:
    """Tune an encoder on pairs of usages of a word that have the same meaning or not.

    Parameters
    ----------
    *pairs : str or path
        Pairs to train on: see :func:`lexshift.tune.pairs.read_pairs`.
    out : path
        Folder of the tuned model. An interrupted run resumes where it stopped.
    model : str or path
        The model to begin with: "minilm", a folder, or a name on the hub.
    dev : list of paths
        Further pairs to evaluate the model on; they do not affect the training.
    settings : PairSettings, optional
        Settings of the training. The best model and the threshold are chosen on the held-out
        pairs, which are all pairs of some words.
    revision : str, optional
        Revision of a model on the hub.
    monitor : Monitor, optional
        Receives progress events.

    Returns
    -------
    TunedModel
        Its ``run`` has the AUC and the accuracy on the held-out and on the dev pairs, before and after.
    """
    check_libraries()
    settings = settings or PairSettings()
    training, held_out = hold_out(read_pairs(*pairs), settings.held_out, settings.seed)
    for side, name in ((training, "trained on"), (held_out, "held out")):
        if len({pair.same for pair in side}) < 2:
            raise UserError(f"the pairs that are {name} must include both labels, same and different; give more pairs")
    task = _Task(model, revision, settings, training, held_out, read_pairs(*dev) if dev else [])
    with tuning_folder(out) as folder:
        return task.with_dev(task.run(folder, monitor or Silent()))


@dataclass(frozen=True)
class _Task:
    """A model, pairs of usages and settings; :meth:`run` tunes the model."""

    model: Place
    revision: str | None
    settings: PairSettings
    training: list[Pair]
    held_out: list[Pair]
    dev: list[Pair]

    def run(self, folder: Path, monitor: Monitor) -> TunedModel:
        """Tune the model, or return it if the folder already has it."""
        from transformers import set_seed

        from lexshift.encode.huggingface import HuggingFaceEncoder
        from lexshift.encode.loading import load_model

        settings = self.settings
        set_seed(settings.seed)
        body, tokenizer, previous = load_model(self.model, self.revision)
        if previous.periods or previous.projection is not None:
            raise UserError(
                f"the model {os.fspath(self.model)!r} is tuned on periods or has a projection; start from one "
                f"without either"
            )
        plan = self._plan(body, tokenizer)
        done = find_finished(folder, plan)
        if done is not None:
            monitor.note("the folder already has this tuned model")
            return done
        if settings.light:
            untuned: Any = HuggingFaceEncoder(body, tokenizer, device=settings.device, adaptation=previous)
        else:  # a separate model, because training changes the weights
            untuned = as_encoder(self.model, revision=self.revision, device=settings.device)
        before = evaluate(untuned, self.held_out, self.dev)
        monitor.note(f"untuned: {describe_results(before)}")
        if settings.light:
            adaptation, result = self._train_projection(untuned, folder, monitor)
        else:
            body, adaptation, result = self._train_whole(body, tokenizer, plan["window"], folder, monitor)
        tuned = HuggingFaceEncoder(body, tokenizer, device=settings.device, adaptation=adaptation)
        after = evaluate(tuned, self.held_out, self.dev)
        monitor.note(f"tuned: {describe_results(after)}")
        counts = {"trained on": len(self.training), "held out": len(self.held_out), "dev": len(self.dev)}
        run = {"lexshift": __version__, "plan": plan, "pairs": counts, "dev": digest_pairs(self.dev), **result}
        save = partial(save_model, model=body, tokenizer=tokenizer, adaptation=adaptation)
        return finish(folder, save, {**run, "untuned": before, "tuned": after})

    def _plan(self, body: Any, tokenizer: Any) -> dict[str, Any]:
        """Return everything that affects the tuned model."""
        from lexshift.encode.huggingface import longest_sequence

        plan = {
            "kind": "wic",
            "model": os.fspath(self.model),
            "weights": digest_weights(body),
            "pairs": [digest_pairs(self.training), digest_pairs(self.held_out)],
            **self.settings.record(),
        }
        if self.settings.light:
            return plan
        window = min(self.settings.window, longest_sequence(body, tokenizer))
        special = tokenizer.num_special_tokens_to_add() + len(MARKERS)
        if window <= special:
            raise UserError(
                f"window must leave room for a word beside {special} special tokens and markers; got {window}"
            )
        return {**plan, "window": window}

    def _train(self, make: Any, folder: Path, monitor: Monitor, kind: Any = None) -> dict[str, Any]:
        """Train with the trainer that ``make`` returns for its arguments, the number of examples and callbacks."""
        settings = self.settings
        total = settings.total(len(self.training))
        arguments = training_arguments(settings, total, folder, "eval_auc", True, kind, not settings.light)
        make = partial(make, arguments, total * settings.batch)
        return train(make, settings, folder, read_figures, describe_figures, monitor)

    def _train_whole(
        self, body: Any, tokenizer: Any, window: int, folder: Path, monitor: Monitor
    ) -> tuple[Any, Adaptation, dict[str, Any]]:
        """Train all weights of a model; return it, its adaptation and the results."""
        from lexshift.tune.siamese import ARGUMENTS, make_siamese, siamese_trainer

        pooling = self.settings.pooling
        network = make_siamese(body, tokenizer, pooling, window, folder / UNFINISHED)
        make = partial(siamese_trainer, network, self.training, self.held_out, self.settings.margin)
        with eager_attention(network.body, self.settings):
            result = self._train(make, folder, monitor, ARGUMENTS)
        return network.body, Adaptation(markers=MARKERS, pooling=pooling, layers="last"), result

    def _train_projection(self, encoder: Any, folder: Path, monitor: Monitor) -> tuple[Adaptation, dict[str, Any]]:
        """Train a projection of the vectors of an encoder; return its adaptation and the results."""
        from lexshift.tune.projection import make_projection, projection_trainer

        training, held_out = (
            (*usage_vectors(encoder, pairs), pair_labels(pairs)) for pairs in (self.training, self.held_out)
        )
        projection = make_projection(training[:2])
        make = partial(projection_trainer, projection, training, held_out)
        result = self._train(make, folder, monitor)
        weight = projection.weight.detach().cpu().numpy()
        adaptation = encoder.adaptation
        return replace(adaptation, layers=encoder.layers, pooling=encoder.pooling, projection=weight), result

    def with_dev(self, tuned: TunedModel) -> TunedModel:
        """Return a model with its results on the dev pairs, even if it was tuned without them before."""
        if not self.dev or tuned.run.get("dev") == digest_pairs(self.dev):
            return tuned
        device = self.settings.device
        encoders = (
            as_encoder(self.model, revision=self.revision, device=device),
            as_encoder(tuned.folder, device=device),
        )
        before, after = (evaluate(encoder, self.held_out, self.dev) for encoder in encoders)
        counts = {**tuned.run["pairs"], "dev": len(self.dev)}
        run = {**tuned.run, "pairs": counts, "dev": digest_pairs(self.dev), "untuned": before, "tuned": after}
        return save_run(tuned.folder, run)


def digest_pairs(pairs: Sequence[Pair]) -> str:
    """Return the SHA-256 of pairs."""
    return hashlib.sha256(repr(list(pairs)).encode()).hexdigest()
