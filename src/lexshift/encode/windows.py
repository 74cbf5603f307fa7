"""Cut windows of token ids around words from their sentences."""

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
    """Distinct sequences to run through a model, and the position of each row's word.

    Attributes
    ----------
    sequences : list of (length,) token ids, special ones included
    sequence : list of int
        Index of each row's sequence; -1 if the tokenizer drops the word.
    positions : list of (first, last + 1)
        Positions of the word's pieces in that sequence.
    periods : list of int
        Period of each sequence; 0 if the model does not distinguish periods.
    truncated : list of bool
        Whether each row's sentence was too long, and cut to a window around the word.
    """

    sequences: list[Ids]
    sequence: list[int]
    positions: list[Span]
    periods: list[int]
    truncated: list[bool]


class WindowTokenizer:
    """Tokenize sentences with a fast tokenizer and cut them to a maximum number of pieces.

    If there are time tokens, the one of a sentence's period is put before its pieces.
    """

    def __init__(self, tokenizer: Any, window: int, time_tokens: Sequence[str] = ()) -> None:
        self._tokenizer = tokenizer
        self._special = SpecialTokens(tokenizer)
        self._times = np.array(tokenizer.convert_tokens_to_ids(list(time_tokens)), np.int64)
        whole, bare = (tokenizer("a", add_special_tokens=special)["input_ids"] for special in (True, False))
        starts = [i for i in range(len(whole) - len(bare) + 1) if whole[i : i + len(bare)] == bare]
        if not bare or not starts:
            raise UserError("the model's tokenizer cannot tokenize plain text; choose another model")
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
        windows = self.cut(["a"], [(0, 1)], markers, [0] if len(self._times) else None)
        return max(self._special.highest_text_id(), *self._times.tolist(), *np.concatenate(windows.sequences).tolist())

    def cut(
        self,
        sentences: Sequence[str],
        spans: Sequence[Span],
        markers: tuple[str, str] | None,
        periods: Sequence[int] | None = None,
    ) -> Windows:
        """Tokenize every distinct sentence once, and cut windows around the words of long sentences.

        Words of one sentence share its sequence if it fits; equal windows of one period are one sequence.
        """
        if markers is not None:
            before, after = map(self._special.disguise, markers)
            sentences, spans = _add_markers(list(map(self._special.clean, sentences)), spans, (before, after))
        if not sentences:
            return Windows([], [], [], [], [])
        distinct = {sentence: i for i, sentence in enumerate(dict.fromkeys(sentences))}
        all_ids, offsets = self._tokenize(list(distinct), has_markers=markers is not None)
        numbers: dict[tuple[bytes, int], int] = {}
        sequences: list[Ids] = []
        sequence: list[int] = []
        positions: list[Span] = []
        period_of: list[int] = []
        truncated: list[bool] = []
        sentence_periods = repeat(0, len(sentences)) if periods is None else map(int, periods)
        for sentence, span, period in zip(sentences, spans, sentence_periods, strict=True):
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

    def _tokenize(self, sentences: Sequence[str], has_markers: bool = False) -> tuple[list[Ids], list[list[Span]]]:
        """Return the ids and the offsets of sentences; their markers, if any, are disguised."""
        revealed, marker_counts = (
            self._special.reveal(sentences) if has_markers else (sentences, np.zeros(len(sentences), np.int64))
        )
        encoding = self._tokenizer(
            list(revealed),
            add_special_tokens=False,
            return_offsets_mapping=True,
            return_attention_mask=False,
            return_token_type_ids=False,
            split_special_tokens=False,
            verbose=False,
        )
        all_ids, offsets = [np.array(ids, np.int64) for ids in encoding["input_ids"]], encoding["offset_mapping"]
        for i in self._special.find_wrong(revealed, all_ids, marker_counts):
            sentence = sentences[i] if has_markers else self._special.clean(sentences[i])
            all_ids[i], offsets[i] = self._special.tokenize(sentence)
        return all_ids, offsets

    def _add_special_tokens(self, ids: Ids, period: int) -> Ids:
        time = self._times[period : period + 1]
        return np.concatenate([self._before, time, ids, self._after])

    def _window_start(self, length: int, first: int, last: int) -> int:
        """Return the start of a window with the word in its middle."""
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
