"""Train all weights of a model on pairs of usages with sentence-transformers (a Siamese network)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.base.evaluation import BaseEvaluator
from sentence_transformers.base.modules import Module, Transformer
from sentence_transformers.sentence_transformer.losses import ContrastiveLoss
from sentence_transformers.sentence_transformer.modules import Pooling
from torch import Tensor
from torch.utils.data import BatchSampler, SequentialSampler

from lexshift.encode.adaptation import MARKERS, missing_tokens
from lexshift.encode.loading import quiet
from lexshift.encode.special_tokens import SpecialTokens
from lexshift.tune.evaluation import figures, pair_labels
from lexshift.tune.folder import mark_files
from lexshift.tune.heads import add_tokens
from lexshift.tune.masking import batch_order
from lexshift.tune.pairs import Pair, Usage
from lexshift.tune.training import save_model

ARGUMENTS = SentenceTransformerTrainingArguments
_START = "start"  # folder of the model at the start of training


class WordPooling(Module):
    """The mean over the tokens between the markers."""

    config_keys = ["dimension", "before", "after"]  # noqa: RUF012  # as the library requires

    def __init__(self, dimension: int, before: int, after: int) -> None:
        super().__init__()
        self.dimension = dimension
        self.before = before
        self.after = after

    def forward(self, features: dict[str, Tensor], **_: Any) -> dict[str, Tensor]:
        """Add sentence_embedding to the features."""
        ids = features["input_ids"]
        inside = ((ids == self.before).cumsum(1) > (ids == self.after).cumsum(1)) & (ids != self.before)
        weight = inside[:, :, None].to(features["token_embeddings"].dtype)
        summed = (features["token_embeddings"] * weight).sum(1)
        features["sentence_embedding"] = summed / weight.sum(1).clamp_min(1)
        return features

    def get_embedding_dimension(self) -> int:
        """Return the dimension of the vectors."""
        return self.dimension

    def save(self, output_path: str, *args: Any, **kwargs: Any) -> None:  # noqa: ARG002
        """Write the settings."""
        self.save_config(output_path)


@dataclass(frozen=True)
class Siamese:
    """A model of sentence-transformers, its tokenizer and the maximum number of pieces of a sentence."""

    network: Any
    tokenizer: Any
    window: int

    @property
    def body(self) -> Any:
        """The transformer of the network."""
        return self.network[0].auto_model

    def texts(self, usages: Sequence[Usage]) -> list[str]:
        """Return sentences with markers, cut around the word where they are too long."""
        special = SpecialTokens(self.tokenizer)
        plain = (usage._replace(sentence=special.break_up(usage.sentence)) for usage in usages)
        return [mark_word(_cut(usage, self.tokenizer, self.window)) for usage in plain]


def add_markers(body: Any, tokenizer: Any) -> None:
    """Add the missing markers to the vocabulary of a model."""
    missing = missing_tokens(tokenizer, MARKERS)
    if missing:
        add_tokens(body, tokenizer, missing)


def mark_word(usage: Usage) -> str:
    """Return a sentence with markers around its word."""
    sentence, start, end = usage
    return sentence[:start] + MARKERS[0] + sentence[start:end] + MARKERS[1] + sentence[end:]


def make_siamese(body: Any, tokenizer: Any, pooling: str, window: int, work_folder: Path) -> Siamese:
    """Return a model with markers in its vocabulary and the given pooling; ``work_folder`` is for its files."""
    add_markers(body, tokenizer)
    start_folder = work_folder / _START
    save_model(start_folder, body, tokenizer)
    mark_files(start_folder)
    with quiet():
        first = Transformer(str(start_folder), max_seq_length=window)
    dimension = int(body.config.hidden_size)
    second = (
        Pooling(dimension, "mean")
        if pooling == "sentence"
        else WordPooling(dimension, *tokenizer.convert_tokens_to_ids(list(MARKERS)))
    )
    return Siamese(SentenceTransformer(modules=[first, second], device="cpu"), tokenizer, window)


def siamese_trainer(
    network: Siamese,
    training: list[Pair],
    held_out: list[Pair],
    margin: float,
    arguments: Any,
    examples: int,
    callbacks: list[Any],
) -> Any:
    """Return the trainer of sentence-transformers, with pairs of similar length in each batch."""
    from datasets import Dataset

    first, second = (network.texts([getattr(pair, side) for pair in training]) for side in ("first", "second"))
    lengths = np.array([max(len(a), len(b)) for a, b in zip(first, second, strict=True)])
    batch = arguments.per_device_train_batch_size * arguments.gradient_accumulation_steps
    order = batch_order(lengths, batch, examples, arguments.seed).tolist()
    dataset = Dataset.from_dict(
        {
            "first": [first[i] for i in order],
            "second": [second[i] for i in order],
            "label": [int(training[i].same) for i in order],
        }
    )
    arguments.batch_sampler = _sequential_batches
    return _Trainer(
        model=network.network,
        args=arguments,
        train_dataset=dataset,
        loss=ContrastiveLoss(network.network, margin=margin),
        evaluator=_Evaluator(network, held_out),
        callbacks=callbacks,
    )


class _Trainer(SentenceTransformerTrainer):
    """The trainer of sentence-transformers without its model card for the hub."""

    def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
        """Add no callback for a model card."""


def _sequential_batches(dataset: Any, batch_size: int, drop_last: bool, **_: Any) -> BatchSampler:
    return BatchSampler(SequentialSampler(dataset), batch_size, drop_last)


class _Evaluator(BaseEvaluator):
    """Evaluate the model on held-out pairs."""

    def __init__(self, network: Siamese, pairs: list[Pair]) -> None:
        super().__init__()
        self._network = network
        self._texts = network.texts([usage for pair in pairs for usage in (pair.first, pair.second)])
        self._same = pair_labels(pairs)

    def __call__(self, model: Any, *_: Any, **__: Any) -> dict[str, float]:
        with torch.no_grad():
            vectors = model.encode(self._texts, batch_size=64, show_progress_bar=False, normalize_embeddings=True)
        values = (vectors[::2].astype(np.float64) * vectors[1::2]).sum(1)
        return figures(values, self._same)


def _cut(usage: Usage, tokenizer: Any, window: int) -> Usage:
    """Return a usage that fits into a window of pieces, including markers and special tokens, around the word."""
    room = window - tokenizer.num_special_tokens_to_add() - len(MARKERS)
    encoding = tokenizer(usage.sentence, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    offsets = encoding["offset_mapping"]
    if not offsets or _pieces(usage, tokenizer) <= window:
        return usage
    inside = [i for i, (a, b) in enumerate(offsets) if a < usage.end and b > usage.start] or [0]
    cut = usage
    while room > 0:  # a cut or a marker may split a word into more pieces
        cut = _within(usage, offsets, inside, room)
        excess = _pieces(cut, tokenizer) - window
        if excess <= 0:
            return cut
        room -= excess
    return Usage(cut.sentence[cut.start : cut.start + 1], 0, 1)


def _within(usage: Usage, offsets: list[tuple[int, int]], inside: list[int], room: int) -> Usage:
    """Return the pieces around the word that fit, or the first pieces of a word that does not fit."""
    sentence, start, end = usage
    if len(inside) >= room:
        last = max(offsets[inside[0] + room - 1][1], start + 1)
        return Usage(sentence[start:last], 0, last - start)
    left = min(max(inside[0] - (room - len(inside)) // 2, 0), max(len(offsets) - room, 0))
    first = min(offsets[left][0], start)
    last = max(offsets[min(left + room, len(offsets)) - 1][1], end)
    if first > 0 and sentence[first - 1] != " ":  # not in the middle of a word
        first = min(max(sentence.find(" ", first, start) + 1, first), start)
    if last < len(sentence) and sentence[last] != " ":
        space = sentence.rfind(" ", end, last)
        last = space if space >= 0 else last
    return Usage(sentence[first:last], start - first, end - first)


def _pieces(usage: Usage, tokenizer: Any) -> int:
    return len(tokenizer(mark_word(usage), verbose=False)["input_ids"])
