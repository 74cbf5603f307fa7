"""Sentences with some of their words masked, the same ones whenever a run is repeated or goes on.

What is masked in an example depends on the seed and on the number of the example in the run, not on what was drawn
before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from lexshift.encode.temporal import token_times
from lexshift.encode.windows import Ids
from lexshift.utils.arrays import Array

IGNORED = -100  # the label of a token that is not to be predicted
_MASKED, _REPLACED = 0.8, 0.1  # of the tokens to be predicted; the rest stay as they are
_TRAINING, _WORDS, _TIMES = 0, 1, 2  # streams of random numbers


@dataclass(frozen=True)
class Vocabulary:
    """What masking has to know of a tokenizer.

    Attributes
    ----------
    mask, pad : int
    words : (n,)
        Tokens that may stand in for another: none of the special ones.
    times : (periods,)
        Time tokens, if there are such.
    ends : (int, int)
        Special tokens before and after a sequence.
    """

    mask: int
    pad: int
    words: Array
    times: Array
    ends: tuple[int, int]

    @classmethod
    def of(cls, tokenizer: Any, times: Sequence[str], ends: tuple[int, int]) -> Vocabulary:
        """That of a tokenizer."""
        special = {*tokenizer.all_special_ids, *tokenizer.get_added_vocab().values()}
        words = np.array([number for number in range(len(tokenizer)) if number not in special])
        numbers = np.array(tokenizer.convert_tokens_to_ids(list(times)), np.int64)
        return cls(tokenizer.mask_token_id, tokenizer.pad_token_id, words, numbers, ends)


@dataclass(frozen=True)
class Masking:
    """How often tokens are masked: words, and time tokens."""

    words: float = 0.15
    time: float = 0.5

    def apply(self, ids: Ids, vocabulary: Vocabulary, rng: np.random.Generator) -> tuple[Ids, Ids]:
        """A sequence with some tokens masked, and the tokens to be predicted, IGNORED elsewhere: each (n,)."""
        first, last = vocabulary.ends
        begin = first + bool(len(vocabulary.times))
        masked, labels = ids.copy(), np.full_like(ids, IGNORED)
        places = np.arange(begin, len(ids) - last)
        chosen = places[rng.random(len(places)) < self.words]
        if not len(chosen) and len(places):
            chosen = rng.choice(places, 1)
        labels[chosen] = ids[chosen]
        masked[chosen] = _corrupted(ids[chosen], vocabulary.mask, vocabulary.words, rng)
        if len(vocabulary.times) and rng.random() < self.time:
            labels[first] = ids[first]
            others = vocabulary.times[vocabulary.times != ids[first]]
            masked[first] = _corrupted(ids[first : first + 1], vocabulary.mask, others, rng)[0]
        return masked, labels


def _corrupted(ids: Ids, mask: int, others: Array, rng: np.random.Generator) -> Ids:
    """Of ten tokens, eight masked, one replaced by another, one as it is."""
    draw = rng.random(len(ids))
    instead = rng.choice(others, len(ids)) if len(others) else ids
    return np.where(draw < _MASKED, mask, np.where(draw < _MASKED + _REPLACED, instead, ids))


Example = dict[str, Any]


class Training(Dataset[Example]):
    """The examples of a whole run in their order, batches of sequences of like length one after the other."""

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
        self._order = in_batches(np.array([len(ids) for ids in sequences]), batch, examples, seed)

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, index: int) -> Example:
        number = self._order[index]
        rng = _stream(self._seed, _TRAINING, index)
        masked, labels = self._masking.apply(self._sequences[number], self._vocabulary, rng)
        return {"ids": masked, "labels": labels, "period": int(self._periods[number])}


class HeldOut(Dataset[Example]):
    """Held-out sentences with words masked, always the same ones; then, if asked, all with their time token masked."""

    def __init__(
        self, sequences: list[Ids], periods: Array, vocabulary: Vocabulary, masking: Masking, seed: int, ask: bool
    ) -> None:
        order = sorted(range(len(sequences)), key=lambda i: len(sequences[i]))  # so that little of a batch is padding
        self._sequences = [sequences[i] for i in order]
        self._periods = periods[order]
        self._vocabulary = vocabulary
        self._masking = Masking(masking.words, 0.0)
        self._seed = seed
        self._ask = ask

    def __len__(self) -> int:
        return len(self._sequences) * (1 + self._ask)

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


def in_batches(lengths: Array, batch: int, examples: int, seed: int) -> Array:
    """Which sequence each example of a run is: every sequence once, then all again in another order, and so on.

    A hundred batches are drawn at a time and sorted by length, so that little of a batch is padding.
    """
    rng = np.random.default_rng([seed, 1])
    found: list[Array] = []
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
        found.append(np.concatenate(pieces))
        count += len(found[-1])
    return np.concatenate(found)[:examples]


def collate(examples: Sequence[Example], vocabulary: Vocabulary, attention: bool) -> dict[str, Tensor]:
    """A batch: input_ids, attention_mask and labels, (batch, n), and with temporal attention times."""
    lengths = np.array([len(example["ids"]) for example in examples])
    shape = (len(examples), int(lengths.max()))
    ids, labels = np.full(shape, vocabulary.pad), np.full(shape, IGNORED)
    for row, example in enumerate(examples):
        ids[row, : lengths[row]] = example["ids"]
        labels[row, : lengths[row]] = example["labels"]
    seen = np.arange(shape[1]) < lengths[:, None]
    batch = {"input_ids": ids, "attention_mask": seen.astype(np.int64), "labels": labels}
    if attention:
        batch["times"] = token_times([example["period"] for example in examples], lengths, vocabulary.ends)
    return {name: torch.from_numpy(array) for name, array in batch.items()}
