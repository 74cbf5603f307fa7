"""From sentences and spans to sequences of token ids and the positions of the words in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lexshift.encode.protocol import Span
from lexshift.errors import UserError

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Pieces:
    """Sequences to run through a model, each once, and where each row's word is.

    Attributes
    ----------
    sequences : list of (length,) token ids, special ones included
    sequence : list of int
        The sequence of each row; -1 for a word the tokenizer has no piece of.
    positions : list of (first, last + 1)
        The word's pieces in that sequence.
    """

    sequences: list[Ids]
    sequence: list[int]
    positions: list[Span]


class Tokens:
    """A fast tokenizer, the special tokens it puts around a sequence, and how many pieces fit."""

    def __init__(self, tokenizer: Any, window: int) -> None:
        self._tokenizer = tokenizer
        whole, bare = (tokenizer("a", add_special_tokens=special)["input_ids"] for special in (True, False))
        starts = [i for i in range(len(whole) - len(bare) + 1) if whole[i : i + len(bare)] == bare]
        if not bare or not starts:
            raise UserError("the model's tokenizer does not tokenize plain text")
        self._before = np.array(whole[: starts[0]], np.int64)
        self._after = np.array(whole[starts[0] + len(bare) :], np.int64)
        self._room = window - len(whole) + len(bare)
        if self._room < 1:
            raise UserError(f"window must leave room for a word beside {len(whole) - len(bare)} special tokens")

    def cut(self, sentences: Sequence[str], spans: Sequence[Span], markers: tuple[str, str] | None) -> Pieces:
        """Tokenize every distinct sentence once, and cut windows around the words where it is too long.

        Words of one sentence share its sequence if it fits; windows that are alike are one sequence.
        """
        if markers is not None:
            sentences, spans = _marked(sentences, spans, markers)
        if not sentences:
            return Pieces([], [], [])
        distinct = {sentence: i for i, sentence in enumerate(dict.fromkeys(sentences))}
        tokenized = self._tokenizer(
            list(distinct),
            add_special_tokens=False,
            return_offsets_mapping=True,
            return_attention_mask=False,
            return_token_type_ids=False,
            verbose=False,
        )
        all_ids = [np.array(ids, np.int64) for ids in tokenized["input_ids"]]
        offsets = tokenized["offset_mapping"]

        numbers: dict[bytes, int] = {}
        sequences: list[Ids] = []
        sequence: list[int] = []
        positions: list[Span] = []
        for sentence, span in zip(sentences, spans, strict=True):
            number = distinct[sentence]
            ids = all_ids[number]
            first, last = _pieces_of(offsets[number], span)
            if first == last:
                sequence.append(-1)
                positions.append((0, 0))
                continue
            left = 0
            if len(ids) > self._room:
                left = self._left(len(ids), first, last)
                ids, last = ids[left : left + self._room], min(last, left + self._room)
            key = ids.tobytes()
            if key not in numbers:
                numbers[key] = len(sequences)
                sequences.append(np.concatenate([self._before, ids, self._after]))
            sequence.append(numbers[key])
            shift = len(self._before) - left
            positions.append((first + shift, last + shift))
        return Pieces(sequences, sequence, positions)

    def _left(self, length: int, first: int, last: int) -> int:
        """Where a window of the room there is begins, with the word in its middle."""
        if last - first >= self._room:
            return first
        return min(max(first - (self._room - (last - first)) // 2, 0), length - self._room)


def _pieces_of(offsets: list[Span], span: Span) -> Span:
    """The pieces that share a character with the span: first and last + 1; equal if there are none."""
    start, end = span
    inside = [i for i, (a, b) in enumerate(offsets) if a < end and b > start]
    return (inside[0], inside[-1] + 1) if inside else (0, 0)


def _marked(sentences: Sequence[str], spans: Sequence[Span], markers: tuple[str, str]) -> tuple[list[str], list[Span]]:
    """Each sentence with markers around its word, and the word's span in it."""
    before, after = markers
    marked = [s[:a] + before + s[a:b] + after + s[b:] for s, (a, b) in zip(sentences, spans, strict=True)]
    return marked, [(a + len(before), b + len(before)) for a, b in spans]
