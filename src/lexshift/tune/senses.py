"""Tune an encoder on dictionaries and sense-labelled text, so that its vectors tell the senses of a word apart.

Usages of one sense, and the gloss of that sense, are drawn together; other senses of the same lemma are pushed apart
(see :mod:`lexshift.tune.sense_network`). The tuned model has the last layer as its default, a fixed space, or raw
vectors if these predict held-out senses better, and the calibration of its cosines.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lexshift import __version__
from lexshift.corpus.dictionaries import Dictionary, Entry
from lexshift.corpus.dictionary_reader import read_dictionary
from lexshift.corpus.sources import Place
from lexshift.encode import as_encoder
from lexshift.encode.adaptation import RAW, Adaptation, Base, Calibration, FixedSpace
from lexshift.encode.adapter import FILE as ADAPTER
from lexshift.encode.adapter import make_adapter, merge_adapter
from lexshift.encode.loading import digest_weights, load_model
from lexshift.errors import UserError
from lexshift.scoring.space import fit_space
from lexshift.tune.evaluation import (
    auc,
    cosines,
    describe_figures,
    describe_results,
    evaluate,
    pair_labels,
    read_figures,
    usage_vectors,
)
from lexshift.tune.folder import TunedModel, find_finished, finish, tuning_folder
from lexshift.tune.pairs import Pair, read_pairs
from lexshift.tune.sense_blocks import SenseBlocks, can_be_contrasted, draw_pairs, is_held_out
from lexshift.tune.settings import SenseSettings
from lexshift.tune.training import check_libraries, eager_attention, save_model, train, training_arguments
from lexshift.utils.arrays import Floats
from lexshift.utils.files import write_whole
from lexshift.utils.monitor import Monitor, Silent
from lexshift.utils.quantities import with_unit

_HELD_OUT_PAIRS = 3_000
_SPACE_WORDS, _SPACE_USAGES = 300, 20  # to which the fixed space is fitted


def tune_senses(
    *dictionaries: Place | Dictionary,
    out: Place,
    model: Place = "minilm",
    weights: Sequence[float] | None = None,
    language: str = "auto",
    exclude: Collection[int] = (),
    dev: Sequence[Place] = (),
    settings: SenseSettings | None = None,
    revision: str | None = None,
    monitor: Monitor | None = None,
) -> TunedModel:
    """Tune an encoder to tell the senses of words apart.

    Parameters
    ----------
    *dictionaries : str, path or Dictionary
        Dictionaries and sense-labelled text: see :func:`lexshift.corpus.read_dictionary`.
    out : path
        Folder of the tuned model. An interrupted run resumes where it stopped.
    model : str or path
        The model to begin with: a built-in one, a folder, or a name on the hub.
    weights : sequence of float, optional
        Relative share of the training examples for each dictionary; equal by default.
    language : str
        Language of dictionaries that do not name it.
    exclude : set of int
        Hashes of sentences that must not be trained on, by :func:`lexshift.corpus.dictionaries.sentence_hash`.
    dev : list of paths
        Pairs of usages to evaluate the model on; they do not affect the training, and their sentences are excluded
        from it.
    settings : SenseSettings, optional
        Settings of the training. The best model, the space and the calibration are chosen on held-out lemmas.
    revision : str, optional
        Revision of a model on the hub.
    monitor : Monitor, optional
        Receives progress events.

    Returns
    -------
    TunedModel
        Its ``run`` has the AUC on held-out lemmas and on the dev pairs, before and after.
    """
    from lexshift.corpus.dictionaries import sentence_hash

    check_libraries()
    if not dictionaries:
        raise UserError("tuning on senses needs a dictionary or sense-labelled text; got none")
    shares = list(weights) if weights is not None else [1.0] * len(dictionaries)
    if len(shares) != len(dictionaries) or min(shares) <= 0:
        raise UserError(
            f"weights must be a number above 0 for each of the {len(dictionaries)} dictionaries; got {shares}"
        )
    settings, monitor = settings or SenseSettings(), monitor or Silent()
    dev_pairs = read_pairs(*dev) if dev else []
    hidden = {*exclude, *(sentence_hash(usage.sentence) for pair in dev_pairs for usage in (pair.first, pair.second))}
    sources = []
    for place in dictionaries:
        dictionary = place if isinstance(place, Dictionary) else read_dictionary(place, language)
        dictionary = dictionary.without(hidden)
        name = "dictionary" if isinstance(place, Dictionary) else os.fspath(place)
        skipped = "".join(f"; {with_unit(count, reason)}" for reason, count in dictionary.tally.skipped.items())
        n_words = with_unit(len(dictionary.entries), "words")
        monitor.note(f"{name}: {with_unit(dictionary.n_usages, 'usages')} of {n_words}{skipped}")
        sources.append([entry for entry in dictionary.entries if can_be_contrasted(entry)])
        if not sources[-1]:
            raise UserError(f"{name!r} has no word with two senses of which one has a usage")
    task = _Task(model, revision, settings, sources, shares, dev_pairs)
    with tuning_folder(out) as folder:
        return task.run(folder, monitor)


@dataclass
class _Task:
    """A model, dictionaries and settings; :meth:`run` tunes the model."""

    model: Place
    revision: str | None
    settings: SenseSettings
    sources: list[list[Entry]]
    weights: list[float]
    dev: list[Pair]

    def __post_init__(self) -> None:
        share, seed = self.settings.held_out, self.settings.seed
        self.training = [[e for e in source if not is_held_out(e.lemma, share, seed)] for source in self.sources]
        left_out = [[e for e in source if is_held_out(e.lemma, share, seed)] for source in self.sources]
        total = sum(self.weights)
        self.held_out = [
            pair
            for entries, weight in zip(left_out, self.weights, strict=True)
            for pair in draw_pairs(entries, round(_HELD_OUT_PAIRS * weight / total), seed)
        ]
        if not self.held_out or not all(self.training):
            raise UserError("the dictionaries have too few words with usages of two senses; give more of them")

    def run(self, folder: Path, monitor: Monitor) -> TunedModel:
        """Tune the model, or return it if the folder already has it."""
        from transformers import set_seed

        from lexshift.encode.huggingface import HuggingFaceEncoder

        settings = self.settings
        set_seed(settings.seed)
        body, tokenizer, previous = load_model(self.model, self.revision)
        if previous != Adaptation():
            raise UserError(f"the model {os.fspath(self.model)!r} is tuned already; start from one that is not")
        base = Base(os.fspath(self.model), self.revision, digest_weights(body))
        plan = {
            "kind": "senses",
            "model": base.model,
            "weights": base.weights,
            "dictionaries": [_digest_entries(source) for source in self.sources],
            "shares": self.weights,
            **settings.record(),
        }
        done = find_finished(folder, plan)
        if done is not None:
            monitor.note("the folder already has this tuned model")
            return done
        untuned = as_encoder(self.model, revision=self.revision, device=settings.device)
        before = evaluate(untuned, self.held_out, self.dev)
        monitor.note(f"untuned: {describe_results(before)}")
        body, adapter, result = self._train(body, tokenizer, folder, monitor)
        draft = HuggingFaceEncoder(
            body, tokenizer, device=settings.device, adaptation=Adaptation(layers="last", pooling="mean")
        )
        space, calibration, facts = self._fit(draft)
        adaptation = Adaptation(
            layers="last",
            pooling="mean",
            space=space,
            calibration=calibration,
            base=base if settings.adapter else None,
        )
        tuned = HuggingFaceEncoder(body, tokenizer, device=settings.device, adaptation=adaptation)
        after = evaluate(tuned, self.held_out, self.dev)
        monitor.note(f"tuned: {describe_results(after)}")
        counts = {
            "lemmas": [len(source) for source in self.training],
            "held-out pairs": len(self.held_out),
            "dev": len(self.dev),
        }
        run = {"lexshift": __version__, "plan": plan, "counts": counts, **facts, **result}
        if adapter is not None:
            save: Any = partial(_save_adapter, adapter=adapter, adaptation=adaptation)
        else:
            save = partial(save_model, model=body, tokenizer=tokenizer, adaptation=adaptation)
        return finish(folder, save, {**run, "untuned": before, "tuned": after})

    def _train(
        self, body: Any, tokenizer: Any, folder: Path, monitor: Monitor
    ) -> tuple[Any, dict[str, Any] | None, dict[str, Any]]:
        """Train the model; return it as it will be loaded, its adapter if it has one, and the results."""
        from lexshift.encode.windows import WindowTokenizer
        from lexshift.tune.sense_network import (
            SenseNetwork,
            SenseTrainer,
            low_rank_changes,
            make_trainable,
            trained_vectors,
        )

        settings = self.settings
        vectors_before = {name: weight.clone() for name, weight in body.named_parameters() if weight.ndim == 1}
        make_trainable(body, settings.tuned_layers, settings.rank if settings.adapter else None)
        total = settings.total(sum(map(len, self.training)))
        blocks = SenseBlocks(
            self.training, self.weights, total * settings.batch, settings.max_senses, settings.max_usages, settings.seed
        )
        arguments = training_arguments(settings, total, folder, "eval_auc", True, is_mixed_on_cpu=True)
        network, windows = SenseNetwork(body), WindowTokenizer(tokenizer, settings.window)
        pad = int(tokenizer.pad_token_id or 0)
        make = partial(SenseTrainer, network, blocks, self.held_out, windows, pad, arguments)
        with eager_attention(body, settings):
            result = train(make, settings, folder, read_figures, describe_figures, monitor)
        if not settings.adapter:
            return body, None, result
        matrices = {name: (up, down) for name, up, down in low_rank_changes(body)}
        vectors = {name: weight - vectors_before[name] for name, weight in trained_vectors(body)}
        adapter = make_adapter(matrices, vectors)
        merged, _, _ = load_model(self.model, self.revision)
        merge_adapter(merged, adapter, folder / ADAPTER)
        return merged, adapter, result

    def _fit(self, encoder: Any) -> tuple[FixedSpace | str, Calibration, dict[str, Any]]:
        """Fit the fixed space to words that were trained on, and the calibration to held-out pairs.

        If raw vectors predict the held-out pairs better, they are the space. A score then depends on nothing but the
        usages of the word in either case.
        """
        rng = np.random.default_rng([self.settings.seed, 2])
        words = [e for source in self.training for e in source if sum(len(s.usages) for s in e.senses) > 1]
        chosen = [words[int(i)] for i in rng.permutation(len(words))[:_SPACE_WORDS]]
        usages = [[u for sense in entry.senses for u in sense.usages] for entry in chosen]
        samples = [[all_of[int(i)] for i in rng.permutation(len(all_of))[:_SPACE_USAGES]] for all_of in usages]
        flat = [usage for sample in samples for usage in sample]
        vectors = encoder.encode([u.sentence for u in flat], [(u.start, u.end) for u in flat])
        ends = np.cumsum([len(sample) for sample in samples])
        groups = {str(i): (np.nan_to_num(rows),) for i, rows in enumerate(np.split(vectors, ends[:-1]))}
        fitted = fit_space(groups, "standardised")
        space = FixedSpace(fitted.mean, fitted.scale)
        first, second = usage_vectors(encoder, self.held_out)
        same = pair_labels(self.held_out)
        raw = cosines(first, second)
        moved = cosines((first - space.mean) / space.scale, (second - space.mean) / space.scale)
        facts = {"auc in raw space": auc(raw, same), "auc in fixed space": auc(moved, same)}
        is_better = facts["auc in fixed space"] >= facts["auc in raw space"]
        return (space if is_better else RAW), fit_calibration(moved if is_better else raw, same), facts


def fit_calibration(cosine: Floats, same: Any) -> Calibration:
    """Return the logistic regression of a shared sense on the cosine, fitted by maximum likelihood.

    Parameters
    ----------
    cosine : ndarray of shape (pairs,)
    same : ndarray of bool of shape (pairs,)
    """
    from scipy.optimize import minimize

    def loss(parameters: Floats) -> float:
        logit = parameters[0] * cosine + parameters[1]
        return float(np.logaddexp(0, np.where(same, -logit, logit)).mean() + 1e-6 * parameters @ parameters)

    slope, intercept = minimize(loss, np.array([1.0, 0.0]), method="BFGS").x
    return Calibration(float(slope), float(intercept))


def _save_adapter(folder: Path, adapter: dict[str, Any], adaptation: Adaptation) -> None:
    """Write an adapter and its adaptation into the folder of a tuned model."""
    from safetensors.torch import save

    write_whole(folder / ADAPTER, save(adapter))
    adaptation.save(folder)


def _digest_entries(entries: Sequence[Entry]) -> str:
    """Return the SHA-256 of the entries of a dictionary."""
    digest = hashlib.sha256()
    for entry in entries:
        digest.update(repr(entry).encode())
    return digest.hexdigest()
