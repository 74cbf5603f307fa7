"""Convert text to a normal form, in which equal characters have equal representations.

Many characters have several representations in Unicode: "é" is one character or two, and the Bengali letter U+09DC is
equivalent to two others. Text and target words are therefore converted to the Unicode normal form NFC when they are
read. Two kinds of typesetting characters are also replaced: soft hyphens are removed, and the ligatures of Latin
letters, U+FB00 to U+FB06, are written as letters. A soft hyphen at the end of a line is preserved, because it divides a
word.

Most text is already in this form, which one pass over the bytes detects without decoding them.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import chain

import numpy as np
import numpy.typing as npt

from lexshift.corpus.word_rule import character_at
from lexshift.utils.kernels import FEW_BYTES, is_numba_loaded, kernel

SOFT_HYPHEN = "\u00ad"
_SOFT_HYPHENS = re.compile(f"{SOFT_HYPHEN}(?!\n)")
_LIGATURES = {chr(code): unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}
_CHARACTERS = 0x110000
_ASSIGNED = (range(0x80, 0x33480), range(0xE0100, 0xE01F0))  # no other character has a decomposition or a class
_HANGUL_VOWELS, _HANGUL_FINALS = range(0x1161, 0x1176), range(0x11A8, 0x11C3)
# Roles of a character: always replaced, first or second part of a composition, or a mark with a fixed position.
_REPLACED, _FIRST, _SECOND, _ORDERED = 1, 2, 4, 8
_NOT_ASCII = np.uint64(0x8080808080808080)  # the bits of eight bytes that are 0 in ASCII


def normalise(text: str) -> str:
    r"""Return a text in normal form.

    >>> normalise("cafe\u0301 \ufb01ne co\u00adoperate")
    'café fine cooperate'
    """
    if text.isascii():
        return text
    if SOFT_HYPHEN in text:
        text = _SOFT_HYPHENS.sub("", text)
    for ligature, letters in _LIGATURES.items():
        text = text.replace(ligature, letters)
    return unicodedata.normalize("NFC", text)


def normalise_utf8(data: bytes) -> bytes:
    """Return UTF-8 text in normal form; text that is already in normal form is not decoded."""
    if data.isascii():
        return data
    if len(data) < FEW_BYTES and not is_numba_loaded():
        return normalise(data.decode()).encode()
    words = np.frombuffer(data, np.uint64, len(data) // 8)
    if is_normal(np.frombuffer(data, np.uint8), words, *_tables()):
        return data
    return normalise(data.decode()).encode()


@cache
def _tables() -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Return the tables that :func:`is_normal` needs: one of shape (256,) and two of shape (characters,).

    The first table marks the bytes that begin a character to examine, the second holds the role of each character in
    compositions, and the third its canonical combining class, by which Unicode orders the marks of a letter.
    """
    roles, classes = np.zeros(_CHARACTERS, np.uint8), np.zeros(_CHARACTERS, np.uint8)
    for code in chain(*_ASSIGNED):
        character = chr(code)
        classes[code] = unicodedata.combining(character)
        decomposition = unicodedata.decomposition(character)
        if decomposition and decomposition[0] != "<":
            if unicodedata.is_normalized("NFC", character):
                first, second = (int(part, 16) for part in decomposition.split())
                roles[first] |= _FIRST
                roles[second] |= _SECOND
            else:
                roles[code] |= _REPLACED
    for code in (ord(SOFT_HYPHEN), *map(ord, _LIGATURES)):
        roles[code] |= _REPLACED
    for code in (*_HANGUL_VOWELS, *_HANGUL_FINALS):
        roles[code] |= _REPLACED  # these compose by a formula; text in single letters of Hangul is rare
    roles[classes > 0] |= _ORDERED
    looked_at = np.flatnonzero(roles & (_REPLACED | _SECOND | _ORDERED))
    leads = np.zeros(256, np.bool_)
    leads[[chr(code).encode()[0] for code in looked_at.tolist()]] = True
    return leads, roles, classes


@kernel
def is_normal(
    data: npt.NDArray[np.uint8],
    words: npt.NDArray[np.uint64],
    leads: npt.NDArray[np.bool_],
    roles: npt.NDArray[np.uint8],
    classes: npt.NDArray[np.uint8],
) -> bool:
    """Return True if UTF-8 text is in normal form, and False if it is not or if neighbouring characters cannot show it.

    Parameters
    ----------
    data : ndarray of shape (n,), uint8
    words : ndarray of shape (n // 8,), uint64
        The same bytes.
    leads, roles, classes : ndarray of shape (256,), (characters,) and (characters,)
        See :func:`_tables`.
    """
    i = 0
    while i < len(data):
        if i % 8 == 0 and i < 8 * len(words) and words[i // 8] & _NOT_ASCII == 0:
            i += 8
            continue
        at = i
        i += 1
        if not leads[data[at]]:
            continue
        code, _ = character_at(data, at)
        role = roles[code]
        if role & _REPLACED:
            return False
        if role & (_SECOND | _ORDERED) == 0 or at == 0:
            continue
        j = at - 1
        while data[j] & 0xC0 == 0x80 and j > 0:
            j -= 1
        before, _ = character_at(data, j)
        if role & _ORDERED and classes[before] > classes[code]:
            return False
        if role & _SECOND and (roles[before] & _FIRST or classes[before]):
            return False
    return True
