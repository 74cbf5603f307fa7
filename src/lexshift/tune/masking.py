"""Masked language modelling: examples with masked words, the loss of these words, and its trainer.

The masks of an example depend only on the seed and on the number of the example in the run, so that a repeated or
resumed run sees the same examples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset
from transformers import Trainer

from lexshift.encode.temporal import token_times
from lexshift.encode.windows import Ids
from lexshift.tune.heads import predict
from lexshift.utils.arrays import Array

IGNORED = -100  # the label of a token that is not to be predicted
_MASKED, _REPLACED = 0.8, 0.1  # shares of the tokens to be predicted; the rest are not changed
_TRAINING, _WORDS, _TIMES = 0, 1, 2  # streams of random numbers


@dataclass(frozen=True)
class Vocabulary:
    """The tokens that masking needs, by their ids.

    Attributes
    ----------
    mask, pad : int
    words : ndarray of shape (n,)
        Tokens that may replace another one: all but special tokens.
    times : ndarray of shape (periods,)
        Time tokens, if there are any.
    ends : (int, int)
        Number of special tokens before and after a sequence.
    """

    mask: int
    pad: int
    words: Array
    times: Array
    ends: tuple[int, int]

    @classmethod
    def from_tokenizer(cls, tokenizer: Any, times: Sequence[str], ends: tuple[int, int]) -> Vocabulary:
        """Return the vocabulary of a tokenizer."""
        special = {*tokenizer.all_special_ids, *tokenizer.get_added_vocab().values()}
        words = np.array([number for number in range(len(tokenizer)) if number not in special])
        numbers = np.array(tokenizer.convert_tokens_to_ids(list(times)), np.int64)
        return cls(tokenizer.mask_token_id, tokenizer.pad_token_id, words, numbers, ends)


@dataclass(frozen=True)
class Masking:
    """The shares of words and of time tokens that are masked."""

    words: float = 0.15
    time: float = 0.5

    def apply(self, ids: Ids, vocabulary: Vocabulary, rng: np.random.Generator) -> tuple[Ids, Ids]:
        """Return a sequence with some tokens masked, and the labels, which are IGNORED elsewhere: each (n,)."""
        first, last = vocabulary.ends
        begin = first + bool(len(vocabulary.times))
        masked, labels = ids.copy(), np.full_like(ids, IGNORED)
        positions = np.arange(begin, len(ids) - last)
        selected = positions[rng.random(len(positions)) < self.words]
        if not len(selected) and len(positions):
            selected = rng.choice(positions, 1)
        labels[selected] = ids[selected]
        masked[selected] = _corrupt(ids[selected], vocabulary.mask, vocabulary.words, rng)
        if len(vocabulary.times) and rng.random() < self.time:
            labels[first] = ids[first]
            other_times = vocabulary.times[vocabulary.times != ids[first]]
            masked[first] = _corrupt(ids[first : first + 1], vocabulary.mask, other_times, rng)[0]
        return masked, labels


def _corrupt(ids: Ids, mask: int, replacements: Array, rng: np.random.Generator) -> Ids:
    """Mask eight of ten tokens, replace one by another and leave one unchanged, on average."""
    draw = rng.random(len(ids))
    instead = rng.choice(replacements, len(ids)) if len(replacements) else ids
    return np.where(draw < _MASKED, mask, np.where(draw < _MASKED + _REPLACED, instead, ids))


Example = dict[str, Any]


class TrainingExamples(Dataset[Example]):
    """The examples of a whole run in their order: batches of sequences of similar length."""

    def __init__(
        self,
        sequences: list[Ids],
        periods: Array,
        vocabulary: Vocabulary,
        masking: Masking,
        batch: int,
        examples: int,
        seed: int,
    ) -> None:
        self._sequences = sequences
        self._periods = periods
        self._vocabulary = vocabulary
        self._masking = masking
        self._seed = seed
        self._order = batch_order(np.array([len(ids) for ids in sequences]), batch, examples, seed)

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, index: int) -> Example:
        number = self._order[index]
        rng = _stream(self._seed, _TRAINING, index)
        masked, labels = self._masking.apply(self._sequences[number], self._vocabulary, rng)
        return {"ids": masked, "labels": labels, "period": int(self._periods[number])}


class HeldOutExamples(Dataset[Example]):
    """Held-out sentences with fixed masked words; with ``times``, each again with its time token masked."""

    def __init__(
        self, sequences: list[Ids], periods: Array, vocabulary: Vocabulary, masking: Masking, seed: int, times: bool
    ) -> None:
        order = sorted(range(len(sequences)), key=lambda i: len(sequences[i]))  # so that little of a batch is padding
        self._sequences = [sequences[i] for i in order]
        self._periods = periods[order]
        self._vocabulary = vocabulary
        self._masking = Masking(masking.words, 0.0)
        self._seed = seed
        self._times = times

    def __len__(self) -> int:
        return len(self._sequences) * (1 + self._times)

    def __getitem__(self, index: int) -> Example:
        number = index % len(self._sequences)
        ids = self._sequences[number]
        period = int(self._periods[number])
        if index < len(self._sequences):
            rng = _stream(self._seed, _WORDS, number)
            masked, labels = self._masking.apply(ids, self._vocabulary, rng)
            return {"ids": masked, "labels": labels, "period": period}
        first = self._vocabulary.ends[0]
        masked, labels = ids.copy(), np.full_like(ids, IGNORED)
        masked[first], labels[first] = self._vocabulary.mask, ids[first]
        return {"ids": masked, "labels": labels, "period": period}


def _stream(seed: int, purpose: int, index: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(purpose, index))))


def batch_order(lengths: Array, batch: int, examples: int, seed: int) -> Array:
    """Return the index of the sequence of each example of a run: all of them, then all in another order, and so on.

    A hundred batches are drawn at a time and sorted by length, so that little of a batch is padding.
    """
    rng = np.random.default_rng([seed, 1])
    orders: list[Array] = []
    count = 0
    while count < examples:
        order = rng.permutation(len(lengths))
        pools = [order[i : i + 100 * batch] for i in range(0, len(order), 100 * batch)]
        pieces: list[Array] = []
        for pool in pools:
            pool = pool[np.argsort(lengths[pool], kind="stable")]
            cut = [pool[i : i + batch] for i in range(0, len(pool), batch)]
            pieces += [cut[i] for i in rng.permutation(len(cut))]
        pieces.sort(key=lambda piece: len(piece) < batch)  # an incomplete batch is the last, and is filled up
        pieces.append(rng.integers(len(lengths), size=-len(order) % batch))
        orders.append(np.concatenate(pieces))
        count += len(orders[-1])
    return np.concatenate(orders)[:examples]


def collate(examples: Sequence[Example], vocabulary: Vocabulary, attention: bool) -> dict[str, Tensor]:
    """Return a batch: input_ids, attention_mask and labels, (batch, n), and with temporal attention times."""
    ids, labels = ([torch.from_numpy(example[name]) for example in examples] for name in ("ids", "labels"))
    lengths = torch.tensor([len(row) for row in ids])
    batch = {
        "input_ids": pad_sequence(ids, batch_first=True, padding_value=vocabulary.pad),
        "attention_mask": (torch.arange(int(lengths.max())) < lengths[:, None]).long(),
        "labels": pad_sequence(labels, batch_first=True, padding_value=IGNORED),
    }
    if attention:
        times = token_times([example["period"] for example in examples], lengths.numpy(), vocabulary.ends)
        batch["times"] = torch.from_numpy(times)
    return batch


def add_loss(model: Any, times: Array) -> Any:
    """Return the model with a forward pass that computes the loss, and in evaluation sums for each example, (batch, 4).

    These are the summed loss and the number of its masked words, and the number of its masked time tokens that are
    predicted correctly and of all of them.
    """
    time_tokens = torch.from_numpy(times)

    def forward(
        input_ids: Tensor, attention_mask: Tensor, labels: Tensor, times: Tensor | None = None
    ) -> dict[str, Tensor]:
        where = labels != IGNORED
        inputs = {"input_ids": input_ids, "attention_mask": attention_mask}
        scores = predict(model, inputs if times is None else {**inputs, "times": times}, where).float()
        targets = labels[where]
        losses = F.cross_entropy(scores, targets, reduction="none")  # (places,)
        if model.training:
            return {"loss": losses.mean(), "places": torch.tensor(len(losses))}
        periods = time_tokens.to(targets.device)
        is_time = torch.isin(targets, periods)
        correct = torch.zeros_like(is_time)
        if len(periods):
            correct = is_time & (periods[scores[:, periods].argmax(1)] == targets)
        parts = torch.stack([losses * ~is_time, (~is_time).float(), correct.float(), is_time.float()], 1)  # (places, 4)
        sums = torch.zeros(len(labels), 4, device=parts.device).index_add_(0, where.nonzero()[:, 0], parts)
        return {"loss": losses.mean(), "sums": sums}

    model.forward = forward
    return model


class MaskedTrainer(Trainer):
    """The trainer of transformers with exact results over all held-out words."""

    loss_is_scaled_for_ga = True

    def __init__(
        self, model: Any, arguments: Any, collate: Any, examples: Any, held_out: Any, callbacks: list[Any]
    ) -> None:
        super().__init__(
            model=model,
            args=arguments,
            data_collator=collate,
            train_dataset=examples,
            eval_dataset=held_out,
            callbacks=callbacks,
            compute_metrics=_figures,
        )
        self.model_accepts_loss_kwargs = True  # so that masked words are counted over all parts of a step

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        """Compute the loss of a part of a step, in which each masked word of the whole step has the same weight."""
        output = model(**inputs)
        loss = output["loss"] * output["places"] / num_items_in_batch
        if self.args.average_tokens_across_devices:
            loss = loss * self.accelerator.num_processes
        return (loss, output) if return_outputs else loss

    def prediction_step(
        self,
        model: Any,
        inputs: dict[str, Any],
        prediction_loss_only: bool,  # noqa: ARG002
        ignore_keys: list[str] | None = None,  # noqa: ARG002
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the sums of each example as its predictions."""
        inputs = self._prepare_inputs(inputs)
        with torch.no_grad(), self.compute_loss_context_manager():
            output = model(**inputs)
        return output["loss"].detach(), output["sums"], output["sums"]


def _figures(output: Any) -> dict[str, float]:
    loss, words, correct, times = np.asarray(output.predictions, np.float64).sum(0)
    figures = {"nll": float(loss / words)}
    return figures | ({"period": float(correct / times)} if times else {})
