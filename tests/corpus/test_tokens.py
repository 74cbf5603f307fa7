"""Test the words of short texts in several scripts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.corpus.segmentation import segment, segmenter_version
from lexshift.corpus.tokens import split_texts, split_words
from lexshift.corpus.word_rule import script_kinds, word_table

LETTERS = "aÉ1 -'\n\ue000用ー々ไ́"


def slow_split(text: str) -> list[str]:
    """Read one letter after the other: a letter of another kind of script than the one before begins a word."""
    words, last = " ", None
    for letter in segment(text):
        folded = int(word_table()[np.uint32(ord(letter))])
        kind = int(script_kinds()[folded])
        if kind != 2:  # a shared mark belongs to the word around it
            words += " " if last not in (None, kind) else ""
            last = kind
        words += chr(folded) if folded else " "
    return words.split()


@given(st.lists(st.text(LETTERS, max_size=6), max_size=4))
def test_texts_are_split_as_if_each_was_alone(texts: list[str]) -> None:
    assert split_texts(texts) == [slow_split(text) for text in texts]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" ... ", []),
        ("A mouse's tail, the CAFÉ", ["a", "mouse", "s", "tail", "the", "café"]),
        ("Мышь бежит, МЫШЬ!", ["мышь", "бежит", "мышь"]),
        ("Το ποντίκι· ΤΡΕΧΕΙ", ["το", "ποντίκι", "τρεχει"]),
    ],
)
def test_words_are_folded_and_separated_by_signs(text: str, words: list[str]) -> None:
    assert split_words(text) == words


def test_a_word_ends_at_the_border_of_a_script_without_spaces() -> None:
    words = split_words("用USB鼠标")
    assert "usb" in words
    assert "".join(words) == "用usb鼠标"


@pytest.mark.skipif(segmenter_version() is None, reason="ICU is not installed")
def test_chinese_is_segmented() -> None:
    assert "电脑" in split_words("我买了一个电脑")
