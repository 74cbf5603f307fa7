"""Find and copy the fields of files with one token per line: helpers of the compiled kernels that parse them.

The functions that are copied into the kernels return only at their end. With several returns, numba would count
references to arrays in the loops, which makes them five times slower. Their indices are unsigned where it matters,
because numba checks for a signed one whether it counts from the end.
"""

from __future__ import annotations

import numpy as np

from lexshift.corpus.word_rule import MULTIPLIER, Bytes, Keys
from lexshift.utils.arrays import Array
from lexshift.utils.kernels import inlined_kernel, kernel

PADDING = 16
"""Number of bytes after the lines that are parsed, and after the text and lemmas, that a kernel may read or write."""
# Indices of the layout of a file: its columns, the number of columns that a line must have, whether these are the last
# lines, whether they have ampersands, and whether the file has sentences.
WORD, LEMMA, TAG, ID, MISC, HAS_LEMPOS, WIDTH, IS_LAST, HAS_ENTITIES, HAS_SENTENCES = range(10)
# Indices of the numbers that a kernel counts: bytes that were parsed, bytes of text, tokens, lines and events; the
# number of the next line in the file, and whether it is inside a sentence, which are also input; the line that has too
# few columns, and their number.
CONSUMED, TEXT, TOKENS, LINES, EVENTS, NEXT, INSIDE, WRONG, N_COLUMNS = range(9)
# Indices of the places of tokens: number of the first separator of the line, start and end in the text.
SEPARATOR, START, END = range(3)
HARD = 1 << 16
"""Bytes after which a line of text ends in any case."""
TAB, LINE_FEED, SPACE, AMPERSAND, HYPHEN = b"\t\n &-"
_LESS, _EQUALS, _GREATER, _SLASH, _UNDERSCORE, _QUOTE, _APOSTROPHE = b"<=>/_\"'"
_MASK = 0xFFFFFFFFFFFFFFFF


def pack_name(name: str) -> int:
    """Return the first eight bytes of a name as a number, as the kernels compute it.

    >>> pack_name("p") == ord("p"), pack_name("sentence") == pack_name("sentences")
    (True, True)
    """
    return int.from_bytes(name.lower().encode()[:8], "big")


@kernel
def find_separators(data: Bytes, separators: Array) -> int:
    """Find the tabs and line feeds of some lines, in a loop without branches, and return their number.

    Parameters
    ----------
    data : ndarray of shape (n,), uint8
    separators : ndarray of shape (n + 1,), int32
        Filled with twice the position of each of them, plus 1 for a line feed.
    """
    n_separators = np.uint64(0)
    for i in range(len(data)):
        byte = data[np.uint64(i)]
        is_end = byte == LINE_FEED
        separators[n_separators] = 2 * i + is_end
        n_separators += np.uint64(is_end | (byte == TAB))
    return int(n_separators)


@inlined_kernel
def line_at(separators: Array, k: int) -> tuple[int, int]:
    """Return the number of fields of a line whose first separator has the number k, and the position of its end."""
    n = 1
    while separators[np.uint64(k)] & 1 == 0:
        n += 1
        k += 1
    return n, separators[np.uint64(k)] >> 1


@inlined_kernel
def field_at(separators: Array, k: int, column: int) -> tuple[int, int]:
    """Return the span of a field of the line whose first separator has the number k."""
    start = (separators[np.uint64(k + column - 1)] >> 1) + 1 if k + column > 0 else 0
    return start, separators[np.uint64(k + column)] >> 1


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


def hash_text(text: bytes) -> int:
    """Return the hash of a field; 0 if it is empty."""
    h = int.from_bytes(text[:8], "little") * MULTIPLIER & _MASK
    for byte in text[8:]:
        h = (h + byte) * MULTIPLIER & _MASK
    return h ^ (h >> 32)


MISSING = (b"_", b"<unknown>", b"&lt;unknown&gt;", b"__UNDEF__")
"""Signs that a token has no lemma or tag."""
_MISSING_HASHES = np.array([hash_text(sign) for sign in MISSING], np.uint64)


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
            if byte == AMPERSAND:
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
    if (byte == _UNDERSCORE) | (byte == _LESS) | (byte == AMPERSAND):
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
        if byte <= SPACE or byte in (_EQUALS, _GREATER, _SLASH):
            break
        if 65 <= byte <= 90:
            byte |= np.uint8(32)
        name = (name << np.uint64(8)) | np.uint64(byte)
        length += 1
        i += 1
    return name
