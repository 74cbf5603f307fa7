"""Parse files with one token per line, with compiled kernels: verticalised corpora and CoNLL-U.

A kernel reads complete lines of UTF-8 once. It writes the text, one sentence per line, and if they are needed the
lemmas, one sentence per line as well, and the spans and the part of speech of every token. It stops after the last
complete sentence; the rest is parsed again with the next lines.
"""

from __future__ import annotations

import numpy as np

from lexshift.corpus.word_rule import MULTIPLIER, Bytes, Keys, find_slot, finish_hash
from lexshift.utils.arrays import Array
from lexshift.utils.kernels import inlined_kernel, kernel

TAG_SLOTS = 1 << 16
"""Number of slots of the hash table of tags, of which at most half are used."""
SOFT, HARD = 1 << 14, 1 << 16
"""Bytes after which a line of text ends at the next full stop if the file has no sentences, or in any case."""
# Indices of the numbers that a kernel returns.
CONSUMED, TEXT, LEMMAS, TOKENS, LINES, EVENTS, TAGS, WRONG, WIDTH = range(9)
# Indices of the state that a kernel carries from one call to the next.
LINE, INSIDE = range(2)
_TAB, _LINE_FEED, _SPACE, _HASH, _AMPERSAND, _HYPHEN, _DOT, _SLASH = b"\t\n #&-./"
_LESS, _EQUALS, _GREATER, _UNDERSCORE, _EXCLAMATION, _QUESTION = b"<=>_!?"
_GLUE = ord("g")
_PARAGRAPH = ord("p")


def pack_name(name: str) -> int:
    """Return the first eight bytes of a name as a number, as the kernels compute it.

    >>> pack_name("p") == ord("p"), pack_name("sentence") == pack_name("sentences")
    (True, True)
    """
    return int.from_bytes(name.lower().encode()[:8], "big")


@inlined_kernel
def split_line(data: Bytes, begin: int, fields: Array) -> tuple[int, int]:
    """Fill ``fields`` with the byte at which each field of a line begins, and the byte after the line feed.

    Returns
    -------
    n_fields, end : int
        Number of fields, and the position of the line feed.
    """
    i, n = begin, 1
    fields[0] = begin
    while data[i] != _LINE_FEED:
        if data[i] == _TAB:
            if n < len(fields) - 1:
                fields[n] = i + 1
            n += 1
        i += 1
    if n < len(fields):
        fields[n] = i + 1
    return n, i


@inlined_kernel
def is_text(data: Bytes, start: int, end: int, text: Bytes) -> bool:
    """Return whether a span of the data is a text."""
    if end - start != len(text):
        return False
    for k in range(len(text)):  # noqa: SIM110  numba does not compile all()
        if data[start + k] != text[k]:
            return False
    return True


_AMP, _LT, _GT, _QUOT, _APOS = (
    np.frombuffer(name, np.uint8) for name in (b"&amp;", b"&lt;", b"&gt;", b"&quot;", b"&apos;")
)
_UNKNOWN, _UNKNOWN_ENTITY, _UNDEFINED = (
    np.frombuffer(name, np.uint8) for name in (b"<unknown>", b"&lt;unknown&gt;", b"__UNDEF__")
)
_SPACE_AFTER = np.frombuffer(b"SpaceAfter=No", np.uint8)


@inlined_kernel
def copy_plain(data: Bytes, start: int, end: int, out: Bytes, at: int) -> int:
    """Copy a span of the data to ``out`` from byte ``at`` on, and return the byte after it."""
    for i in range(start, end):
        out[at + i - start] = data[i]
    return at + end - start


@inlined_kernel
def copy_decoded(data: Bytes, start: int, end: int, out: Bytes, at: int) -> int:
    """Copy a span as :func:`copy_plain` does, with the five entities of XML replaced by their characters."""
    i = start
    while i < end:
        byte = data[i]
        if byte == _AMPERSAND:
            if i + 5 <= end and is_text(data, i, i + 5, _AMP):
                i += 4
            elif i + 4 <= end and is_text(data, i, i + 4, _LT):
                byte = np.uint8(_LESS)
                i += 3
            elif i + 4 <= end and is_text(data, i, i + 4, _GT):
                byte = np.uint8(_GREATER)
                i += 3
            elif i + 6 <= end and is_text(data, i, i + 6, _QUOT):
                byte = np.uint8(0x22)
                i += 5
            elif i + 6 <= end and is_text(data, i, i + 6, _APOS):
                byte = np.uint8(0x27)
                i += 5
        out[at] = byte
        at += 1
        i += 1
    return at


@inlined_kernel
def is_missing(data: Bytes, start: int, end: int) -> bool:
    """Return whether a lemma or tag is a sign that there is none: nothing, ``_``, ``<unknown>`` or ``__UNDEF__``."""
    if end <= start:
        return True
    first = data[start]
    if first == _UNDERSCORE:
        return end - start == 1 or is_text(data, start, end, _UNDEFINED)
    if first == _LESS:
        return is_text(data, start, end, _UNKNOWN)
    return first == _AMPERSAND and is_text(data, start, end, _UNKNOWN_ENTITY)


@kernel
def number_tag(data: Bytes, start: int, end: int, keys: Keys, values: Array, fresh: Array, known: int) -> int:
    """Return the number of a tag, which is ``known`` if the hash table does not contain it and it is inserted.

    ``fresh`` is filled with the span of a tag that is inserted. A table that is half full takes no more; the number of
    further tags is -1.
    """
    if is_missing(data, start, end):
        return -1
    h = np.uint64(0)
    for i in range(start, end):
        h = (h + np.uint64(data[i])) * np.uint64(MULTIPLIER)
    key = finish_hash(h)
    slot = find_slot(keys, key)
    if keys[slot] == np.uint64(0):
        if known >= len(fresh):
            return -1
        keys[slot], values[slot] = key, known
        fresh[known, 0], fresh[known, 1] = start, end
    return values[slot]


@inlined_kernel
def is_among(name: np.uint64, names: Keys) -> bool:
    """Return whether a name is among some names."""
    for other in names:  # noqa: SIM110
        if name == other:
            return True
    return False


@inlined_kernel
def name_at(data: Bytes, begin: int) -> np.uint64:
    """Return the name at a position, which ends at a space, ``=``, ``>`` or ``/``; see :func:`pack_name`."""
    i, length, name = begin, 0, np.uint64(0)
    while length < 8:
        byte = data[i]
        if byte <= _SPACE or byte in (_EQUALS, _GREATER, _SLASH):
            break
        if 65 <= byte <= 90:
            byte |= np.uint8(32)
        name = (name << np.uint64(8)) | np.uint64(byte)
        length += 1
        i += 1
    return name


@inlined_kernel
def choose_lemma(data: Bytes, first: int, last: int, start: int, end: int, has_lempos: bool) -> tuple[int, int]:
    """Return the span of the lemma, without a part of speech, or that of the form if it is missing."""
    if is_missing(data, start, end):
        return first, last
    if has_lempos and end - start > 2 and data[end - 2] == _HYPHEN:
        end -= 2
    return start, end


@inlined_kernel
def parse_number(data: Bytes, start: int, end: int) -> tuple[int, int, bool]:
    """Parse the number of a word: return its first and last number, 0 if it has no last one, and if it is empty."""
    first = second = 0
    has_second = is_empty = False
    for i in range(start, end):
        byte = data[i]
        if byte == _HYPHEN:
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
    for i in range(start, end - len(text) + 1):  # noqa: SIM110
        if is_text(data, i, i + len(text), text):
            return True
    return False


@kernel
def parse_vertical(
    data: Bytes,
    is_last: bool,
    columns: Array,
    has_sentences: bool,
    sentences: Keys,
    passages: Keys,
    state: Array,
    text: Bytes,
    rows: Array,
    events: Array,
    lemmas: Bytes,
    tokens: Array,
    keys: Keys,
    values: Array,
    fresh: Array,
    counts: Array,
) -> None:
    """Parse lines of a verticalised corpus.

    Parameters
    ----------
    data : ndarray of shape (n,), uint8
        Complete lines.
    is_last : bool
        Whether the file ends here, so that its last sentence is complete.
    columns : ndarray of shape (7,), int64
        Fields of :class:`lexshift.corpus.columns.Columns`, and the number of columns that a line must have.
    has_sentences : bool
        Whether a line of the text is a sentence of the file; otherwise it is a paragraph.
    sentences, passages : ndarray of uint64
        Names, as :func:`pack_name` returns them, of the elements that are sentences, and of others that end a line.
    state : ndarray of shape (2,), int64
        Number of the first line in the file, and whether it is inside a sentence; updated.
    text, lemmas : ndarray of shape (n + 1,), uint8
        Filled with the text and the lemmas; ``lemmas`` is empty if they are not needed.
    rows : ndarray of shape (max_lines,), int64
        Filled with the line of the file at which each line of the text begins.
    events : ndarray of shape (max_lines, 3), int64
        Filled with the tags that may have attributes: the line of the text that follows, and the span of the tag.
    tokens : ndarray of shape (max_lines, 5), int32
        Filled with the span of each token in the text and in the lemmas, and the number of its tag, -1 for none; empty
        if they are not needed.
    keys, values : ndarray of shape (slots,)
        Hash table of the tags, to which new ones are added.
    fresh : ndarray of shape (max_tags, 2), int64
        Filled with the spans of new tags at their numbers.
    counts : ndarray of shape (9,), int64
        Filled with the numbers of bytes that were parsed, of text and of lemmas, of tokens, lines, events and tags, and
        if a line has too few columns with its number and the number of its columns. The number of tags is also input.
    """
    annotate, n = len(tokens) > 0, len(data)
    word, lemma, tag, width = columns[0], columns[1], columns[2], columns[6]
    has_lempos = columns[5] != 0
    fields = np.empty(66, np.int64)
    i = at = lemma_at = n_tokens = n_lines = n_events = 0
    start = lemma_start = 0  # of the current line of the text
    n_tags, line, inside, glue = counts[TAGS], state[LINE], state[INSIDE] != 0, True
    counts[:TAGS] = 0
    while i < n:
        n_fields, end = split_line(data, i, fields)
        ends_line, name = False, np.uint64(0)
        if data[i] == _LESS and n_fields == 1:
            following, last = data[i + 1], end - 1
            while data[last] == _SPACE:
                last -= 1
            letter = following | 32
            is_tag = 97 <= letter <= 122 or following == _SLASH
            if data[last] == _GREATER and (is_tag or following in (_EXCLAMATION, _QUESTION)):
                closes = following == _SLASH
                if is_tag:
                    name = name_at(data, i + 1 + closes)
                if name == np.uint64(_GLUE):
                    glue = True
                elif is_tag:
                    is_sentence, is_passage = is_among(name, sentences), is_among(name, passages)
                    ends_line = is_sentence or is_passage or (has_sentences and not inside)
                    if is_sentence:
                        inside = not closes
                    elif is_passage:
                        inside = False
                    if not (is_sentence or inside or name == np.uint64(_PARAGRAPH)):
                        events[n_events, 0] = n_lines + (at > start)
                        events[n_events, 1], events[n_events, 2] = i, last + 1
                        n_events += 1
                if not ends_line:
                    i = end + 1
                    line += 1
                    continue
        if ends_line:
            pass
        elif end == i:
            ends_line = not has_sentences
        elif n_fields < width:
            counts[WRONG], counts[WIDTH] = line, n_fields
            return
        elif fields[word + 1] - 1 > fields[word]:
            if at == start:
                rows[n_lines] = line
            elif not glue:
                text[at] = _SPACE
                at += 1
            glue = False
            first, last = fields[word], fields[word + 1] - 1
            begin = at
            at = copy_decoded(data, first, last, text, at)
            if annotate:
                if lemma_at > lemma_start:
                    lemmas[lemma_at] = _SPACE
                    lemma_at += 1
                tokens[n_tokens, 0], tokens[n_tokens, 1], tokens[n_tokens, 2] = begin, at, lemma_at
                if lemma >= 0:
                    first, last = choose_lemma(data, first, last, fields[lemma], fields[lemma + 1] - 1, has_lempos)
                lemma_at = copy_decoded(data, first, last, lemmas, lemma_at)
                number = -1
                if tag >= 0:
                    number = number_tag(data, fields[tag], fields[tag + 1] - 1, keys, values, fresh, n_tags)
                    n_tags += number == n_tags
                tokens[n_tokens, 3], tokens[n_tokens, 4] = lemma_at, number
                n_tokens += 1
            if at - start > SOFT:
                mark = text[begin]
                stops = at - begin == 1 and (mark in (_DOT, _EXCLAMATION, _QUESTION))
                ends_line = at - start > HARD or (stops and not has_sentences)
        i = end + 1
        line += 1
        if ends_line:
            if at > start:
                text[at] = _LINE_FEED
                at += 1
                n_lines += 1
                if annotate:
                    lemmas[lemma_at] = _LINE_FEED
                    lemma_at += 1
                start, lemma_start = at, lemma_at
            glue = True
            counts[CONSUMED], counts[TEXT], counts[LEMMAS], counts[TOKENS] = i, at, lemma_at, n_tokens
            counts[LINES], counts[EVENTS], state[LINE], state[INSIDE] = n_lines, n_events, line, inside
    if is_last:
        if at > start:
            text[at] = _LINE_FEED
            at += 1
            n_lines += 1
            if annotate:
                lemmas[lemma_at] = _LINE_FEED
                lemma_at += 1
        counts[CONSUMED], counts[TEXT], counts[LEMMAS], counts[TOKENS] = n, at, lemma_at, n_tokens
        counts[LINES], counts[EVENTS] = n_lines, n_events
    counts[TAGS] = n_tags


@kernel
def parse_conllu(
    data: Bytes,
    is_last: bool,
    columns: Array,
    names: Keys,
    state: Array,
    text: Bytes,
    rows: Array,
    events: Array,
    lemmas: Bytes,
    tokens: Array,
    keys: Keys,
    values: Array,
    fresh: Array,
    counts: Array,
) -> None:
    """Parse lines of CoNLL-U.

    The text has a token that consists of several words, such as French "du", as it is written; the lemmas have those of
    its words, each with the span of the token. Empty nodes are left out.

    Parameters
    ----------
    data, is_last, columns, state, text, rows, events, lemmas, tokens, keys, values, fresh, counts
        See :func:`parse_vertical`. The events are comments.
    names : ndarray of uint64
        The beginnings, as :func:`pack_name` returns them, of the comments that are events.
    """
    annotate, n = len(tokens) > 0, len(data)
    word, lemma, tag, number_at, misc, width = columns[0], columns[1], columns[2], columns[3], columns[4], columns[6]
    has_lempos = columns[5] != 0
    fields = np.empty(66, np.int64)
    i = at = lemma_at = n_tokens = n_lines = n_events = 0
    start = lemma_start = 0  # of the current line of the text
    begin = last_word = 0  # start in the text and last number of the token that consists of several words
    n_tags, line, glue = counts[TAGS], state[LINE], True
    counts[:TAGS] = 0
    while i < n:
        n_fields, end = split_line(data, i, fields)
        ends_line = end == i
        if ends_line:
            pass
        elif data[i] == _HASH and (n_fields == 1 or number_at >= 0):
            j = i + 1
            while data[j] == _SPACE:
                j += 1
            if is_among(name_at(data, j), names):
                events[n_events, 0], events[n_events, 1], events[n_events, 2] = n_lines + (at > start), i, end
                n_events += 1
        elif n_fields < width:
            counts[WRONG], counts[WIDTH] = line, n_fields
            return
        elif fields[word + 1] - 1 > fields[word]:
            number = span_end = 0
            is_empty_node = False
            if number_at >= 0:
                number, span_end, is_empty_node = parse_number(data, fields[number_at], fields[number_at + 1] - 1)
            is_span, is_part = span_end > 0, 0 < number <= last_word
            first, last = fields[word], fields[word + 1] - 1
            if not is_empty_node and not is_part:
                if at == start:
                    rows[n_lines] = line
                elif not glue:
                    text[at] = _SPACE
                    at += 1
                begin = at
                at = copy_plain(data, first, last, text, at)
                glue = (
                    misc >= 0 and n_fields > misc and contains(data, fields[misc], fields[misc + 1] - 1, _SPACE_AFTER)
                )
                last_word = span_end
            if annotate and not is_empty_node and not is_span:
                if lemma_at > lemma_start:
                    lemmas[lemma_at] = _SPACE
                    lemma_at += 1
                tokens[n_tokens, 0], tokens[n_tokens, 1], tokens[n_tokens, 2] = begin, at, lemma_at
                if lemma >= 0:
                    first, last = choose_lemma(data, first, last, fields[lemma], fields[lemma + 1] - 1, has_lempos)
                lemma_at = copy_plain(data, first, last, lemmas, lemma_at)
                tag_number = -1
                if tag >= 0:
                    tag_number = number_tag(data, fields[tag], fields[tag + 1] - 1, keys, values, fresh, n_tags)
                    n_tags += tag_number == n_tags
                tokens[n_tokens, 3], tokens[n_tokens, 4] = lemma_at, tag_number
                n_tokens += 1
            ends_line = at - start > HARD and not is_span and number >= last_word
        i = end + 1
        line += 1
        if ends_line or (is_last and i == n):
            if at > start:
                text[at] = _LINE_FEED
                at += 1
                n_lines += 1
                if annotate:
                    lemmas[lemma_at] = _LINE_FEED
                    lemma_at += 1
                start, lemma_start = at, lemma_at
            glue, last_word = True, 0
            counts[CONSUMED], counts[TEXT], counts[LEMMAS], counts[TOKENS] = i, at, lemma_at, n_tokens
            counts[LINES], counts[EVENTS], state[LINE] = n_lines, n_events, line
    counts[TAGS] = n_tags
