"""Define words by the names and categories of Unicode characters, independently of the package."""

from __future__ import annotations

import unicodedata

APOSTROPHE = "\u02bc"  # Unicode calls it a letter, but it is the o'clock sign
KANA = ("HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "HENTAIGANA", "COMBINING KATAKANA-HIRAGANA")
UNSPACED = (*KANA, "CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH", "THAI ", "LAO ", "MYANMAR ", "KHMER ")


def is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M")


def is_word(character: str) -> bool:
    """Return whether a character is part of a word: a letter, digit, mark or underscore, and no apostrophe."""
    return (character.isalnum() or character == "_" or is_mark(character)) and character != APOSTROPHE


def is_unspaced(character: str) -> bool:
    """Return whether a character belongs to a script without spaces, including its iteration marks."""
    name = unicodedata.name(character, "")
    return is_word(character) and (name.startswith(UNSPACED) or "\u3005" <= character <= "\u303c")


def is_common_mark(character: str) -> bool:
    """Return whether a character is a mark that any script may use."""
    block = (range(0x300, 0x370), range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0))
    return any(ord(character) in codes for codes in block)


def word_runs(text: str) -> list[tuple[int, int]]:
    """Return start and end of the words of a text; a run of letters of scripts without spaces is one word."""
    found: list[tuple[int, int]] = []
    start, kind = None, False
    for i, character in enumerate([*text, " "]):
        goes_on = is_word(character) and (is_unspaced(character) == kind or is_common_mark(character))
        if start is not None and not goes_on:
            found.append((start, i))
            start = None
        if start is None and is_word(character):
            start, kind = i, is_unspaced(character)
    return found
