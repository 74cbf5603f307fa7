"""Parse verticalised corpora: a compiled kernel reads complete lines and writes the text, one sentence per line."""

from __future__ import annotations

import numpy as np

from lexshift.corpus.token_fields import (
    CONSUMED,
    END,
    EVENTS,
    HARD,
    HAS_ENTITIES,
    HAS_SENTENCES,
    INSIDE,
    IS_LAST,
    LINE_FEED,
    LINES,
    N_COLUMNS,
    NEXT,
    PADDING,
    SEPARATOR,
    SPACE,
    START,
    TEXT,
    TOKENS,
    WIDTH,
    WORD,
    WRONG,
    copy_decoded,
    field_at,
    is_among,
    line_at,
    name_at,
)
from lexshift.corpus.word_rule import Bytes, Keys
from lexshift.utils.arrays import Array
from lexshift.utils.kernels import inlined_kernel, kernel

SOFT = 1 << 14
"""Bytes after which a line of text ends at the next full stop if the file has no sentences."""
# Kinds of lines.
_TOKEN, _OTHER, _JOINT, _SENTENCE, _PASSAGE, _ELEMENT = range(6)
_DOT, _SLASH, _LESS, _GREATER, _EXCLAMATION, _QUESTION = b"./<>!?"
_GLUE, _PARAGRAPH = b"gp"


@inlined_kernel
def classify_line(data: Bytes, begin: int, end: int, sentences: Keys, passages: Keys) -> tuple[int, bool, bool]:
    """Return the kind of a line of one field, whether it is a closing tag, and whether it may have attributes.

    The names of elements that are sentences, and of others that end a line, are given.
    """
    kind, closes, has_attributes = _TOKEN, False, False
    following, last = data[begin + 1], end - 1
    while data[last] == SPACE:
        last -= 1
    letter = following | 32
    if data[last] == _GREATER and last > begin + 1:
        if 97 <= letter <= 122 or following == _SLASH:
            closes = following == _SLASH
            name = name_at(data, begin + 1 + closes)
            kind = _ELEMENT
            if name == np.uint64(_GLUE):
                kind = _JOINT
            elif is_among(name, sentences):
                kind = _SENTENCE
            elif is_among(name, passages):
                kind = _PASSAGE
            has_attributes = kind >= _PASSAGE and name != np.uint64(_PARAGRAPH)
        elif following in (_EXCLAMATION, _QUESTION):
            kind = _OTHER
    return kind, closes, has_attributes


@kernel
def parse_vertical(
    data: Bytes,
    separators: Array,
    layout: Array,
    sentences: Keys,
    passages: Keys,
    text: Bytes,
    rows: Array,
    events: Array,
    places: Array,
    counts: Array,
) -> None:
    """Parse lines of a verticalised corpus.

    Parameters
    ----------
    data : ndarray of shape (n + PADDING,), uint8
        Complete lines.
    separators : ndarray of shape (n_separators,), int32
        See :func:`find_separators`.
    layout : ndarray of shape (10,), int64
        The layout of the file, by the constants above. In a file without sentences, a line of text is a paragraph.
    sentences, passages : ndarray of shape (m,), uint64
        Names, as :func:`pack_name` returns them, of the elements that are sentences, and of others that end a line.
    text : ndarray of shape (n + PADDING,), uint8
        Filled with the text.
    rows : ndarray of shape (max_lines,), int64
        Filled with the line of the file at which each line of the text begins.
    events : ndarray of shape (max_lines, 3), int64
        Filled with the tags that may have attributes: the line of the text that follows, and the span of the tag.
    places : ndarray of shape (3, max_lines), int32
        Filled with the places of the tokens; empty if they are not needed.
    counts : ndarray of shape (9,), int64
        Filled with the numbers of what was parsed, by the constants above.
    """
    n, i, k, at, start = len(data) - PADDING, 0, 0, 0, 0
    n_tokens = n_lines = n_events = 0
    line, inside, glue = counts[NEXT], counts[INSIDE] != 0, True
    word, width = layout[WORD], layout[WIDTH]
    has_sentences, has_entities = layout[HAS_SENTENCES] != 0, layout[HAS_ENTITIES] != 0
    while i < n:
        n_fields, end = line_at(separators, k)
        kind, closes, has_attributes, ends_line, first, last = _TOKEN, False, False, False, i, i
        if data[i] == _LESS and n_fields == 1:
            if end - i == 4 and data[i + 1] == _GLUE and data[i + 2] == _SLASH:  # the most frequent tag
                kind = _JOINT
            else:
                kind, closes, has_attributes = classify_line(data, i, end, sentences, passages)
        if kind == _TOKEN:
            if end == i:
                ends_line = not has_sentences
            elif n_fields < width:
                counts[WRONG], counts[N_COLUMNS] = line, n_fields
                break
            else:
                first, last = field_at(separators, k, word)
        elif kind >= _SENTENCE:
            ends_line = kind <= _PASSAGE or (has_sentences and not inside)
            inside = not closes if kind == _SENTENCE else inside and kind != _PASSAGE
            if has_attributes and not inside:
                events[n_events, 0], events[n_events, 1], events[n_events, 2] = n_lines + (at > start), i, end
                n_events += 1
        else:
            glue |= kind == _JOINT
        if last > first:
            if at == start:
                rows[n_lines] = line
            elif not glue:
                text[at] = SPACE
                at += 1
            glue, begin = False, at
            at = copy_decoded(data, first, last, text, at, has_entities)
            if places.shape[1] > 0:
                places[SEPARATOR, n_tokens], places[START, n_tokens], places[END, n_tokens] = k, begin, at
                n_tokens += 1
            if at - start > SOFT:
                mark = text[begin]
                stops = at - begin == 1 and (mark in (_DOT, _EXCLAMATION, _QUESTION))
                ends_line = at - start > HARD or (stops and not has_sentences)
        i, k, line = end + 1, k + n_fields, line + 1
        if ends_line or (i == n and layout[IS_LAST]):
            if at > start:
                text[at] = LINE_FEED
                at, start, n_lines = at + 1, at + 1, n_lines + 1
            glue = True
            counts[CONSUMED], counts[TEXT], counts[TOKENS], counts[LINES] = i, at, n_tokens, n_lines
            counts[EVENTS], counts[NEXT], counts[INSIDE] = n_events, line, inside
