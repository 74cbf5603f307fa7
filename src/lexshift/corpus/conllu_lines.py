"""Parse CoNLL-U: a compiled kernel reads complete lines and writes the text, one sentence per line."""

from __future__ import annotations

import numpy as np

from lexshift.corpus.token_fields import (
    CONSUMED,
    END,
    EVENTS,
    HARD,
    HYPHEN,
    ID,
    IS_LAST,
    LINE_FEED,
    LINES,
    MISC,
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
    copy_plain,
    field_at,
    is_among,
    is_text,
    line_at,
    name_at,
)
from lexshift.corpus.word_rule import Bytes, Keys
from lexshift.utils.arrays import Array
from lexshift.utils.kernels import inlined_kernel, kernel

_HASH, _DOT = b"#."
_SPACE_AFTER = np.frombuffer(b"SpaceAfter=No", np.uint8)


@inlined_kernel
def comment_name(data: Bytes, begin: int) -> np.uint64:
    """Return the name at the beginning of a comment, after spaces."""
    while data[begin] == SPACE:
        begin += 1
    return name_at(data, begin)


@inlined_kernel
def parse_number(data: Bytes, start: int, end: int) -> tuple[int, int, bool]:
    """Parse the number of a word: return its first and last number, 0 if it has no last one, and if it is empty."""
    first = second = 0
    has_second = is_empty = False
    for i in range(start, end):
        byte = data[i]
        if byte == HYPHEN:
            has_second = True
        elif byte == _DOT:
            is_empty = True
        elif 48 <= byte <= 57:
            if has_second:
                second = 10 * second + byte - 48
            else:
                first = 10 * first + byte - 48
    return first, second, is_empty


@inlined_kernel
def contains(data: Bytes, start: int, end: int, text: Bytes) -> bool:
    """Return whether a span of the data contains a text."""
    found = False
    for i in range(start, end - len(text) + 1):
        found |= is_text(data, i, i + len(text), text)
    return found


@kernel
def parse_conllu(
    data: Bytes,
    separators: Array,
    layout: Array,
    names: Keys,
    text: Bytes,
    rows: Array,
    events: Array,
    places: Array,
    counts: Array,
) -> None:
    """Parse lines of CoNLL-U.

    The text has a token that consists of several words, such as French "du", as it is written; each of its words has
    the place of the token in the text. Empty nodes are left out.

    Parameters
    ----------
    data, separators, layout, text, rows, events, places, counts
        See :func:`parse_vertical`. The events are comments.
    names : ndarray of shape (m,), uint64
        The beginnings, as :func:`pack_name` returns them, of the comments that are events.
    """
    n, i, k, at, start = len(data) - PADDING, 0, 0, 0, 0
    n_tokens = n_lines = n_events = begin = last_word = 0
    line, glue = counts[NEXT], True
    word, width, number_at, misc = layout[WORD], layout[WIDTH], layout[ID], layout[MISC]
    while i < n:
        n_fields, end = line_at(separators, k)
        ends_line, first, last = end == i, i, i
        number = last_number = 0
        is_empty_node = False
        if end > i and data[i] == _HASH and (n_fields == 1 or number_at >= 0):
            if is_among(comment_name(data, i + 1), names):
                events[n_events, 0], events[n_events, 1], events[n_events, 2] = n_lines + (at > start), i, end
                n_events += 1
        elif end > i:
            if n_fields < width:
                counts[WRONG], counts[N_COLUMNS] = line, n_fields
                break
            first, last = field_at(separators, k, word)
            if number_at >= 0:
                a, b = field_at(separators, k, number_at)
                number, last_number, is_empty_node = parse_number(data, a, b)
        if last > first and not is_empty_node:
            if not 0 < number <= last_word:  # it is not a part of the last token
                if at == start:
                    rows[n_lines] = line
                elif not glue:
                    text[at] = SPACE
                    at += 1
                begin = at
                at = copy_plain(data, first, last, text, at)
                glue, last_word = False, last_number
                if 0 <= misc < n_fields:
                    a, b = field_at(separators, k, misc)
                    glue = contains(data, a, b, _SPACE_AFTER)
            if places.shape[1] > 0 and last_number == 0:
                places[SEPARATOR, n_tokens], places[START, n_tokens], places[END, n_tokens] = k, begin, at
                n_tokens += 1
            ends_line = at - start > HARD and number >= last_word
        i, k, line = end + 1, k + n_fields, line + 1
        if ends_line or (i == n and layout[IS_LAST]):
            if at > start:
                text[at] = LINE_FEED
                at, start, n_lines = at + 1, at + 1, n_lines + 1
            glue, last_word = True, 0
            counts[CONSUMED], counts[TEXT], counts[TOKENS], counts[LINES] = i, at, n_tokens, n_lines
            counts[EVENTS], counts[NEXT] = n_events, line
