"""Windows of token ids around words, cut from their sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from lexshift.encode.protocol import Span
from lexshift.encode.special_tokens import SpecialTokens
from lexshift.errors import UserError

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Windows:
    """Sequences to run through a model, each once, and where each row's word is.

    Attributes
    ----------
    sequences : list of (length,) token ids, special ones included
    sequence : list of int
        The sequence of each row; -1 for a word the tokenizer has no piece of.
    positions : list of (first, last + 1)
        The word's pieces in that sequence.
    periods : list of int
        The period of each sequence; 0 where periods do not matter.
    truncated : list of bool
        Whether each row's sentence was too long, and cut to a window around the word.
    """

    sequences: list[Ids]
    sequence: list[int]
    positions: list[Span]
    periods: list[int]
    truncated: list[bool]


class WindowTokenizer:
    """Tokenizes sentences with a fast tokenizer and cuts them to a maximum number of pieces.

    If there are time tokens, that of a sentence's period is put before its pieces.
    """

    def __init__(self, tokenizer: Any, window: int, time_tokens: Sequence[str] = ()) -> None:
        self._tokenizer = tokenizer
        self._special = SpecialTokens(tokenizer)
        self._times = np.array(tokenizer.convert_tokens_to_ids(list(time_tokens)), np.int64)
        whole, bare = (tokenizer("a", add_special_tokens=special)["input_ids"] for special in (True, False))
        starts = [i for i in range(len(whole) - len(bare) + 1) if whole[i : i + len(bare)] == bare]
        if not bare or not starts:
            raise UserError("the model's tokenizer does not tokenize plain text")
        self._before = np.array(whole[: starts[0]], np.int64)
        self._after = np.array(whole[starts[0] + len(bare) :], np.int64)
        special = len(whole) - len(bare) + bool(len(self._times))
        self._room = window - special
        if self._room < 1:
            raise UserError(f"window must leave room for a word beside {special} special tokens")

    @property
    def ends(self) -> tuple[int, int]:
        """The numbers of special tokens before and after a sequence, without a time token."""
        return len(self._before), len(self._after)

    def highest_id(self, markers: tuple[str, str] | None) -> int:
        """Return the highest id that a sequence may have."""
        marked = self.cut(["a"], [(0, 1)], markers, [0] if len(self._times) else None)
        return max(self._special.highest_of_text(), *self._times.tolist(), *np.concatenate(marked.sequences).tolist())

    def cut(
        self,
        sentences: Sequence[str],
        spans: Sequence[Span],
        markers: tuple[str, str] | None,
        periods: Sequence[int] | None = None,
    ) -> Windows:
        """Tokenize every distinct sentence once, and cut windows around the words where it is too long.

        Words of one sentence share its sequence if it fits; windows that are alike, and of one period, are one
        sequence.
        """
        if markers is not None:
            before, after = map(self._special.disguise, markers)
            sentences, spans = _add_markers(list(map(self._special.clean, sentences)), spans, (before, after))
        if not sentences:
            return Windows([], [], [], [], [])
        distinct = {sentence: i for i, sentence in enumerate(dict.fromkeys(sentences))}
        all_ids, offsets = self._tokenize(list(distinct), marked=markers is not None)
        numbers: dict[tuple[bytes, int], int] = {}
        sequences: list[Ids] = []
        sequence: list[int] = []
        positions: list[Span] = []
        period_of: list[int] = []
        truncated: list[bool] = []
        each = repeat(0, len(sentences)) if periods is None else map(int, periods)
        for sentence, span, period in zip(sentences, spans, each, strict=True):
            number = distinct[sentence]
            ids = all_ids[number]
            first, last = _pieces_of(offsets[number], span)
            if first == last:
                sequence.append(-1)
                positions.append((0, 0))
                truncated.append(False)
                continue
            left = 0
            truncated.append(len(ids) > self._room)
            if truncated[-1]:
                left = self._window_start(len(ids), first, last)
                ids, last = ids[left : left + self._room], min(last, left + self._room)
            key = (ids.tobytes(), period)
            if key not in numbers:
                numbers[key] = len(sequences)
                sequences.append(self._add_special_tokens(ids, period))
                period_of.append(period)
            sequence.append(numbers[key])
            shift = len(self._before) + bool(len(self._times)) - left
            positions.append((first + shift, last + shift))
        return Windows(sequences, sequence, positions, period_of, truncated)

    def tokenize_whole(self, sentences: Sequence[str], periods: Sequence[int]) -> tuple[list[Ids], int]:
        """Return the sequence of each sentence, cut at its end if it is too long, and how many were cut."""
        if not sentences:
            return [], 0
        all_ids, _ = self._tokenize(sentences)
        cut = sum(len(ids) > self._room for ids in all_ids)
        return [self._add_special_tokens(ids[: self._room], p) for ids, p in zip(all_ids, periods, strict=True)], cut

    def _tokenize(self, sentences: Sequence[str], marked: bool = False) -> tuple[list[Ids], list[list[Span]]]:
        """Return the ids and the offsets of sentences, whose markers, if they have any, are disguised."""
        shown, ours = self._special.reveal(sentences) if marked else (sentences, np.zeros(len(sentences), np.int64))
        made = self._tokenizer(
            list(shown),
            add_special_tokens=False,
            return_offsets_mapping=True,
            return_attention_mask=False,
            return_token_type_ids=False,
            split_special_tokens=False,
            verbose=False,
        )
        all_ids, offsets = [np.array(ids, np.int64) for ids in made["input_ids"]], made["offset_mapping"]
        for i in self._special.mistaken(shown, all_ids, ours):
            sentence = sentences[i] if marked else self._special.clean(sentences[i])
            all_ids[i], offsets[i] = self._special.tokenize(sentence)
        return all_ids, offsets

    def _add_special_tokens(self, ids: Ids, period: int) -> Ids:
        time = self._times[period : period + 1]
        return np.concatenate([self._before, time, ids, self._after])

    def _window_start(self, length: int, first: int, last: int) -> int:
        """Return where a window with the word in its middle begins."""
        if last - first >= self._room:
            return first
        return min(max(first - (self._room - (last - first)) // 2, 0), length - self._room)


def _pieces_of(offsets: list[Span], span: Span) -> Span:
    """Return the pieces that share a character with the span: first and last + 1; equal if there are none."""
    start, end = span
    inside = [i for i, (a, b) in enumerate(offsets) if a < end and b > start]
    return (inside[0], inside[-1] + 1) if inside else (0, 0)


def _add_markers(
    sentences: Sequence[str], spans: Sequence[Span], markers: tuple[str, str]
) -> tuple[list[str], list[Span]]:
    """Return each sentence with markers around its word, and the word's span in it."""
    before, after = markers
    marked = [s[:a] + before + s[a:b] + after + s[b:] for s, (a, b) in zip(sentences, spans, strict=True)]
    return marked, [(a + len(before), b + len(before)) for a, b in spans]
