"""Annotate text of files with one token per line, with compiled kernels, as far as lemmas and tags are needed.

The lemmas are written when they are first asked for, which is in the thread that searches them, and only the tags of
tokens that are found are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexshift.corpus.annotation import Annotation, line_shifts, line_spans
from lexshift.corpus.token_fields import (
    END,
    HAS_ENTITIES,
    HAS_LEMPOS,
    HYPHEN,
    LEMMA,
    LINE_FEED,
    MISSING,
    SEPARATOR,
    SPACE,
    START,
    TAG,
    WORD,
    copy_decoded,
    field_at,
    hash_field,
    is_missing,
)
from lexshift.corpus.word_rule import Bytes, Keys
from lexshift.utils.arrays import Array
from lexshift.utils.kernels import inlined_kernel, kernel


@inlined_kernel
def choose_lemma(data: Bytes, first: int, last: int, start: int, end: int, has_lempos: bool) -> tuple[int, int]:
    """Return the span of the lemma, without a part of speech, or that of the form if it is missing."""
    if not is_missing(data, start, end):
        first, last = start, end
        if has_lempos and end - start > 2 and data[end - 2] == HYPHEN:
            last -= 2
    return first, last


@kernel
def write_lemmas(
    data: Bytes, separators: Array, layout: Array, text: Bytes, places: Array, lemmas: Bytes, starts: Array
) -> int:
    """Write the lemmas of tokens, with the lines of the text and single spaces, and return their number of bytes.

    Parameters
    ----------
    data, separators, layout, places
        See :func:`lexshift.corpus.vertical_lines.parse_vertical`.
    text : ndarray of shape (m,), uint8
        The text of the tokens.
    lemmas : ndarray of shape (n + PADDING,), uint8
        Filled with the lemmas.
    starts : ndarray of shape (n_tokens + 1,), int32
        Filled with the start of each lemma, and at the end with that of another one.
    """
    at, n_tokens = 0, places.shape[1]
    word, lemma = layout[WORD], layout[LEMMA]
    has_lempos, has_entities = layout[HAS_LEMPOS] != 0, layout[HAS_ENTITIES] != 0
    for number in range(n_tokens):
        k, start = places[SEPARATOR, number], places[START, number]
        if number > 0:
            is_new_line = text[start - 1] == LINE_FEED and start > places[START, number - 1]
            lemmas[at] = LINE_FEED if is_new_line else SPACE
            at += 1
        starts[number] = at
        first, last = field_at(separators, k, word)
        a, b = field_at(separators, k, lemma)
        first, last = choose_lemma(data, first, last, a, b, has_lempos)
        at = copy_decoded(data, first, last, lemmas, at, has_entities)
    starts[n_tokens] = at + 1
    return at


@kernel
def hash_fields(data: Bytes, separators: Array, places: Array, column: int, numbers: Array, keys: Keys) -> None:
    """Compute the hashes of a field of some tokens.

    Parameters
    ----------
    data, separators, places
        See :func:`write_lemmas`.
    column : int
        The position of the field in its line.
    numbers : ndarray of shape (m,), int64
        Numbers of the tokens.
    keys : ndarray of shape (m,), uint64
        Filled with the hashes.
    """
    for i in range(len(numbers)):
        start, end = field_at(separators, places[SEPARATOR, numbers[i]], column)
        keys[i] = hash_field(data, start, end)


@dataclass(frozen=True)
class ParsedLines:
    """Lines with one token each, as a kernel parsed them.

    Attributes
    ----------
    data : ndarray of shape (n + PADDING,), uint8
        The lines.
    separators : ndarray of shape (n_separators,), int32
        See :func:`lexshift.corpus.token_fields.find_separators`.
    layout : ndarray of shape (10,), int64
        The layout of the file; see :mod:`lexshift.corpus.token_fields`.
    """

    data: Bytes
    separators: Array
    layout: Array


class TokenAnnotation(Annotation):
    """The annotation of tokens that have a line each.

    Parameters
    ----------
    lines : ParsedLines
        The lines of the tokens.
    places : ndarray of shape (3, n), int32
        The places of the tokens, which are all of the text.
    text : bytes
        The text.
    """

    def __init__(self, lines: ParsedLines, places: Array, text: bytes) -> None:
        self._lines, self._places, self._text = lines, places, text
        self._written: tuple[bytes, Array] | None = None
        self.text_starts, self.text_ends = places[START], places[END]
        self.has_lemmas, self.has_tags = bool(lines.layout[LEMMA] >= 0), bool(lines.layout[TAG] >= 0)

    @property
    def lemmas(self) -> bytes | None:
        """The text with lemmas in place of words."""
        return self._write()[0] if self.has_lemmas else None

    @property
    def lemma_spans(self) -> tuple[Array, Array]:
        """Start and end of each token in the lemmas."""
        starts = self._write()[1]
        return starts[:-1], starts[1:] - np.int32(1)

    def _write(self) -> tuple[bytes, Array]:
        """Return the lemmas and their starts; they are written only once."""
        if self._written is None:
            parsed = self._lines
            lemmas = np.empty(len(parsed.data), np.uint8)
            starts = np.empty(self._places.shape[1] + 1, np.int32)
            text = np.frombuffer(self._text, np.uint8)
            size = write_lemmas(parsed.data, parsed.separators, parsed.layout, text, self._places, lemmas, starts)
            self._written = lemmas[:size].tobytes(), starts
        return self._written

    def distinct_tags(self, numbers: Array) -> tuple[list[str], Array]:
        """Return the tags of some tokens without repetition, and the index of the tag of each."""
        data, separators, column = self._lines.data, self._lines.separators, int(self._lines.layout[TAG])
        keys = np.empty(len(numbers), np.uint64)
        hash_fields(data, separators, self._places, column, numbers, keys)
        _, firsts, indices = np.unique(keys, return_index=True, return_inverse=True)
        tags = []
        for k in self._places[SEPARATOR, numbers[firsts]].tolist():
            start = (int(separators[k + column - 1]) >> 1) + 1 if k + column else 0
            tag = data[start : int(separators[k + column]) >> 1].tobytes()
            tags.append("" if tag in MISSING else tag.decode())
        return tags, indices

    def select_lines(self, lines: Sequence[int], data: bytes) -> TokenAnnotation:
        """Return the annotation of some lines of the text, which are joined in ascending order."""
        chosen = np.asarray(lines, np.int64)
        line_of = np.searchsorted(line_spans(data)[0], self.text_starts, "right") - 1
        is_chosen = np.isin(line_of, chosen)
        places = self._places[:, is_chosen]
        places[[START, END]] += line_shifts(data, chosen)[line_of[is_chosen]].astype(np.int32)
        texts = data.split(b"\n")
        return TokenAnnotation(self._lines, places, b"\n".join([texts[line] for line in lines]))
