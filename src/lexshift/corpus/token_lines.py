"""Parse files with one token per line, with compiled kernels: verticalised corpora and CoNLL-U.

A kernel for each format reads complete lines of UTF-8 and writes the text, one sentence per line. It stops after the
last complete sentence; the rest is parsed again with the next lines. If they are needed, another kernel then writes the
lemmas, one sentence per line as well, and the spans and the parts of speech of the tokens.

The functions that are copied into the kernels return only at their end. With several returns, numba would count
references to arrays in the loops, which makes them five times slower.
"""

from __future__ import annotations

import numpy as np

from lexshift.corpus.word_rule import MULTIPLIER, Bytes, Keys
from lexshift.utils.arrays import Array
from lexshift.utils.kernels import inlined_kernel, kernel

TAG_SLOTS = 1 << 16
"""Number of slots of the hash table of tags, of which at most half are used."""
SOFT, HARD = 1 << 14, 1 << 16
"""Bytes after which a line of text ends at the next full stop if the file has no sentences, or in any case."""
PADDING = 16
"""Number of bytes after the lines that are parsed, and after the text and lemmas, that a kernel may read or write."""
# Indices of the layout of a file: its columns, the number of columns that a line must have, whether these are the last
# lines, whether they have ampersands, and whether the file has sentences.
WORD, LEMMA, TAG, ID, MISC, HAS_LEMPOS, WIDTH, IS_LAST, HAS_ENTITIES, HAS_SENTENCES = range(10)
# Indices of the numbers that a kernel counts: bytes that were parsed, bytes of text, tokens, lines and events; the
# number of the next line in the file, and whether it is inside a sentence, which are also input; the line that has too
# few columns, and their number.
CONSUMED, TEXT, TOKENS, LINES, EVENTS, NEXT, INSIDE, WRONG, N_COLUMNS = range(9)
# Indices of the places of tokens: start of the line, number of its first separator, start and end in the text.
_BEGIN, _SEPARATOR, _START, _END = range(4)
# Kinds of lines.
_TOKEN, _OTHER, _JOINT, _SENTENCE, _PASSAGE, _ELEMENT = range(6)
_TAB, _LINE_FEED, _SPACE, _HASH, _AMPERSAND, _HYPHEN, _DOT, _SLASH = b"\t\n #&-./"
_LESS, _EQUALS, _GREATER, _UNDERSCORE, _EXCLAMATION, _QUESTION, _QUOTE, _APOSTROPHE = b"<=>_!?\"'"
_GLUE, _PARAGRAPH = b"gp"
_MASK = 0xFFFFFFFFFFFFFFFF


def pack_name(name: str) -> int:
    """Return the first eight bytes of a name as a number, as the kernels compute it.

    >>> pack_name("p") == ord("p"), pack_name("sentence") == pack_name("sentences")
    (True, True)
    """
    return int.from_bytes(name.lower().encode()[:8], "big")


@kernel
def find_separators(data: Bytes, separators: Array) -> tuple[int, int]:
    """Find the tabs and line feeds of some lines, in a loop without branches.

    Parameters
    ----------
    data : ndarray of shape (n,), uint8
    separators : ndarray of shape (n + 1,), int32
        Filled with twice the position of each of them, plus 1 for a line feed.

    Returns
    -------
    n_separators, n_lines : int
    """
    found = lines = 0
    for i in range(len(data)):
        is_end = data[i] == _LINE_FEED
        separators[found] = 2 * i + is_end
        found += is_end | (data[i] == _TAB)
        lines += is_end
    return found, lines


@inlined_kernel
def line_at(separators: Array, k: int) -> tuple[int, int]:
    """Return the number of fields of a line whose first separator has the number k, and the position of its end."""
    n = 1
    while separators[k] & 1 == 0:
        n += 1
        k += 1
    return n, separators[k] >> 1


@inlined_kernel
def field_at(separators: Array, k: int, begin: int, column: int) -> tuple[int, int]:
    """Return the span of a field of the line that begins at ``begin`` and whose first separator has the number k."""
    start = begin if column == 0 else (separators[k + column - 1] >> 1) + 1
    return start, separators[k + column] >> 1


@kernel
def is_text(data: Bytes, start: int, end: int, text: Bytes) -> bool:
    """Return whether a span of the data is a text."""
    same = end - start == len(text)
    if same:
        for k in range(len(text)):
            same &= data[start + k] == text[k]
    return same


_AMP, _LT, _GT, _QUOT, _APOS = (
    np.frombuffer(name, np.uint8) for name in (b"&amp;", b"&lt;", b"&gt;", b"&quot;", b"&apos;")
)
_SPACE_AFTER = np.frombuffer(b"SpaceAfter=No", np.uint8)


def hash_text(text: bytes) -> int:
    """Return the hash of a field; 0 if it is empty."""
    h = int.from_bytes(text[:8], "little") * MULTIPLIER & _MASK
    for byte in text[8:]:
        h = (h + byte) * MULTIPLIER & _MASK
    return h ^ (h >> 32)


MISSING = (b"_", b"<unknown>", b"&lt;unknown&gt;", b"__UNDEF__")
"""Signs that a token has no lemma or tag."""
_MISSING_HASHES = np.array([hash_text(sign) for sign in MISSING], np.uint64)


def make_tag_table() -> tuple[Keys, Array]:
    """Return a hash table of tags, (slots,) and (slots + 1,), with the number -1 for the signs for a missing tag."""
    keys, values = np.zeros(TAG_SLOTS, np.uint64), np.zeros(TAG_SLOTS + 1, np.int64)
    for sign in MISSING:
        slot = hash_text(sign) & (TAG_SLOTS - 1)
        while keys[slot]:
            slot = (slot + 1) & (TAG_SLOTS - 1)
        keys[slot], values[slot] = hash_text(sign), -1
    return keys, values


@inlined_kernel
def copy_plain(data: Bytes, start: int, end: int, out: Bytes, at: int) -> int:
    """Copy a span of the data to ``out`` from byte ``at`` on, and return the byte after it.

    A short span is copied together with what follows it, because a loop of a fixed length is several times faster; the
    next span overwrites the rest.
    """
    for k in range(PADDING):
        out[np.uint64(at + k)] = data[np.uint64(start + k)]
    for k in range(PADDING, end - start):
        out[at + k] = data[start + k]
    return at + end - start


@inlined_kernel
def copy_decoded(data: Bytes, start: int, end: int, out: Bytes, at: int, has_entities: bool) -> int:
    """Copy a span as :func:`copy_plain` does, with the five entities of XML replaced by their characters."""
    stop = at
    if has_entities:
        i = start
        while i < end:
            byte = data[i]
            if byte == _AMPERSAND:
                if is_text(data, i, min(i + 5, end), _AMP):
                    i += 4
                elif is_text(data, i, min(i + 4, end), _LT):
                    byte = np.uint8(_LESS)
                    i += 3
                elif is_text(data, i, min(i + 4, end), _GT):
                    byte = np.uint8(_GREATER)
                    i += 3
                elif is_text(data, i, min(i + 6, end), _QUOT):
                    byte = np.uint8(_QUOTE)
                    i += 5
                elif is_text(data, i, min(i + 6, end), _APOS):
                    byte = np.uint8(_APOSTROPHE)
                    i += 5
            out[stop] = byte
            stop += 1
            i += 1
    else:
        stop = copy_plain(data, start, end, out, at)
    return stop


@inlined_kernel
def hash_field(data: Bytes, start: int, end: int) -> np.uint64:
    """Return the hash of a field, as :func:`hash_text` does. Its first eight bytes are read at once."""
    h, size = np.uint64(0), end - start
    for k in range(8):
        h |= np.uint64(data[np.uint64(start + k)]) << np.uint64(8 * k)
    if size < 8:
        h &= (np.uint64(1) << np.uint64(8 * size)) - np.uint64(1)
    h *= np.uint64(MULTIPLIER)
    for i in range(start + 8, end):
        h = (h + np.uint64(data[i])) * np.uint64(MULTIPLIER)
    return h ^ (h >> np.uint64(32))


@inlined_kernel
def is_missing(data: Bytes, start: int, end: int) -> bool:
    """Return whether a lemma is a sign that there is none."""
    byte, missing = data[start], end <= start
    if (byte == _UNDERSCORE) | (byte == _LESS) | (byte == _AMPERSAND):
        key = hash_field(data, start, end)
        for k in range(len(_MISSING_HASHES)):
            missing |= key == _MISSING_HASHES[k]
    return missing


@inlined_kernel
def is_among(name: np.uint64, names: Keys) -> bool:
    """Return whether a name is among some names."""
    found = False
    for other in names:
        found |= name == other
    return found


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
def comment_name(data: Bytes, begin: int) -> np.uint64:
    """Return the name at the beginning of a comment, after spaces."""
    while data[begin] == _SPACE:
        begin += 1
    return name_at(data, begin)


@inlined_kernel
def choose_lemma(data: Bytes, first: int, last: int, start: int, end: int, has_lempos: bool) -> tuple[int, int]:
    """Return the span of the lemma, without a part of speech, or that of the form if it is missing."""
    if not is_missing(data, start, end):
        first, last = start, end
        if has_lempos and end - start > 2 and data[end - 2] == _HYPHEN:
            last -= 2
    return first, last


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
    found = False
    for i in range(start, end - len(text) + 1):
        found |= is_text(data, i, i + len(text), text)
    return found


@inlined_kernel
def classify_line(data: Bytes, begin: int, end: int, sentences: Keys, passages: Keys) -> tuple[int, bool, bool]:
    """Return the kind of a line of one field, whether it is a closing tag, and whether it may have attributes.

    The names of elements that are sentences, and of others that end a line, are given.
    """
    kind, closes, has_attributes = _TOKEN, False, False
    following, last = data[begin + 1], end - 1
    while data[last] == _SPACE:
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
    places : ndarray of shape (max_lines, 4), int32
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
                first, last = field_at(separators, k, i, word)
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
                text[at] = _SPACE
                at += 1
            glue, begin = False, at
            at = copy_decoded(data, first, last, text, at, has_entities)
            if len(places) > 0:
                places[n_tokens, _BEGIN], places[n_tokens, _SEPARATOR] = i, k
                places[n_tokens, _START], places[n_tokens, _END] = begin, at
                n_tokens += 1
            if at - start > SOFT:
                mark = text[begin]
                stops = at - begin == 1 and (mark in (_DOT, _EXCLAMATION, _QUESTION))
                ends_line = at - start > HARD or (stops and not has_sentences)
        i, k, line = end + 1, k + n_fields, line + 1
        if ends_line or (i == n and layout[IS_LAST]):
            if at > start:
                text[at] = _LINE_FEED
                at, start, n_lines = at + 1, at + 1, n_lines + 1
            glue = True
            counts[CONSUMED], counts[TEXT], counts[TOKENS], counts[LINES] = i, at, n_tokens, n_lines
            counts[EVENTS], counts[NEXT], counts[INSIDE] = n_events, line, inside


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
            first, last = field_at(separators, k, i, word)
            if number_at >= 0:
                a, b = field_at(separators, k, i, number_at)
                number, last_number, is_empty_node = parse_number(data, a, b)
        if last > first and not is_empty_node:
            if not 0 < number <= last_word:  # it is not a part of the last token
                if at == start:
                    rows[n_lines] = line
                elif not glue:
                    text[at] = _SPACE
                    at += 1
                begin = at
                at = copy_plain(data, first, last, text, at)
                glue, last_word = False, last_number
                if 0 <= misc < n_fields:
                    a, b = field_at(separators, k, i, misc)
                    glue = contains(data, a, b, _SPACE_AFTER)
            if len(places) > 0 and last_number == 0:
                places[n_tokens, _BEGIN], places[n_tokens, _SEPARATOR] = i, k
                places[n_tokens, _START], places[n_tokens, _END] = begin, at
                n_tokens += 1
            ends_line = at - start > HARD and number >= last_word
        i, k, line = end + 1, k + n_fields, line + 1
        if ends_line or (i == n and layout[IS_LAST]):
            if at > start:
                text[at] = _LINE_FEED
                at, start, n_lines = at + 1, at + 1, n_lines + 1
            glue, last_word = True, 0
            counts[CONSUMED], counts[TEXT], counts[TOKENS], counts[LINES] = i, at, n_tokens, n_lines
            counts[EVENTS], counts[NEXT] = n_events, line


@kernel
def annotate_tokens(
    data: Bytes,
    separators: Array,
    layout: Array,
    text: Bytes,
    places: Array,
    lemmas: Bytes,
    tokens: Array,
    keys: Keys,
    values: Array,
    fresh: Array,
) -> tuple[int, int]:
    """Write the lemmas of tokens, their spans and the numbers of their tags.

    Parameters
    ----------
    data, separators, layout, text
        See :func:`parse_vertical`.
    places : ndarray of shape (n_tokens, 4), int32
        The places of the tokens.
    lemmas : ndarray of shape (n + PADDING,), uint8
        Filled with the lemmas of the tokens, with the lines of the text and single spaces.
    tokens : ndarray of shape (n_tokens, 5), int32
        Filled with the span of each token in the text and in the lemmas, and the number of its tag, -1 for none.
    keys, values : ndarray of shape (slots,) and (slots + 1,)
        Hash table of the tags, to which new ones are added; the last value is their number.
    fresh : ndarray of shape (max_tags, 2), int64
        Filled with the spans of new tags at their numbers. There is no number for further tags.

    Returns
    -------
    size, n_tags : int
        Number of bytes of the lemmas, and number of tags.
    """
    at, n_tags = 0, values[len(values) - 1]
    word, lemma, tag, has_lempos = layout[WORD], layout[LEMMA], layout[TAG], layout[HAS_LEMPOS] != 0
    has_entities, last_slot = layout[HAS_ENTITIES] != 0, np.uint64(len(keys) - 1)
    for number in range(len(places)):
        i, k, start = places[number, _BEGIN], places[number, _SEPARATOR], places[number, _START]
        if number > 0:
            is_new_line = text[start - 1] == _LINE_FEED and start > places[number - 1, _START]
            lemmas[at] = _LINE_FEED if is_new_line else _SPACE
            at += 1
        first, last = field_at(separators, k, i, word)
        if lemma >= 0:
            a, b = field_at(separators, k, i, lemma)
            first, last = choose_lemma(data, first, last, a, b, has_lempos)
        tokens[number, 0], tokens[number, 1], tokens[number, 2] = start, places[number, _END], at
        at = copy_decoded(data, first, last, lemmas, at, has_entities)
        tag_number = -1
        if tag >= 0:
            a, b = field_at(separators, k, i, tag)
            key = hash_field(data, a, b)
            slot = key & last_slot
            while keys[slot] != np.uint64(0) and keys[slot] != key:
                slot = (slot + np.uint64(1)) & last_slot
            if key != np.uint64(0):
                if keys[slot] == np.uint64(0) and n_tags < len(fresh):
                    keys[slot], values[slot] = key, n_tags
                    fresh[n_tags, 0], fresh[n_tags, 1] = a, b
                    n_tags += 1
                if keys[slot] != np.uint64(0):
                    tag_number = values[slot]
        tokens[number, 3], tokens[number, 4] = at, tag_number
    return at, n_tags
