"""Test the words of short texts in several scripts."""

from __future__ import annotations

import pytest

from lexshift.corpus.segmentation import segmenter_version
from lexshift.corpus.tokens import split_words


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
