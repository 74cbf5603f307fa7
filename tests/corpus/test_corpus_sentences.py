"""Test the sentence around a span and the position of the span in it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.corpus import sentences
from lexshift.corpus.sentences import Passage

PIECES = st.sampled_from(
    ["mouse", "Käse", "日本", "🐁", "e\u0301", " ", "  ", ". ", "! ", "? ", "。", "“", "”", "(", "\t", "Dr. "]
)


@given(
    st.lists(PIECES, max_size=60).map("".join), st.sampled_from(["lines", "prose"]), st.sampled_from(["en", "de", "ja"])
)
def test_span_in_the_sentence_equals_the_span_in_the_text(text: str, split: str, language: str) -> None:
    text += " mouse"
    passage = Passage(text, split, language)
    for match in re.finditer("mouse", text):
        sentence, start, end, cut = passage.sentence(*match.span())
        assert sentence[start:end] == "mouse"
        assert sentence == sentence.strip()
        assert text[match.start() - start :].startswith(sentence)
        assert not cut
        if split == "lines":
            assert sentence == text.strip()


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("The cat sat. A mouse ran. It hid.", "en", ["A mouse ran."]),
        ("A mouse! The mouse? No mouse.", "en", ["A mouse!", "The mouse?", "No mouse."]),
        ("Dr. Smith saw a mouse in the U.S. Army. It ran.", "en", ["Dr. Smith saw a mouse in the U.S. Army."]),
        ("  🐁🐁 Käse! Die mouse läuft.  Ende.", "de", ["Die mouse läuft."]),
        ("猫が寝た。その mouse が走った。雨だ。", "ja", ["その mouse が走った。"]),
        ("mouse", "en", ["mouse"]),
        ("a mouse without an end", "en", ["a mouse without an end"]),
        ("A mouse ran. It hid.", "xx", ["A mouse ran."]),
    ],
)
def test_sentences_of_prose_are_found(text: str, language: str, expected: list[str]) -> None:
    passage = Passage(text, "prose", language)
    assert [passage.sentence(*match.span())[0] for match in re.finditer("mouse", text)] == expected


def test_span_across_a_sentence_end_includes_the_next_sentence() -> None:
    text = "He sat. A mouse. Ran off. It rained."
    start, end = text.index("mouse"), text.index(" off")
    assert Passage(text, "prose", "en").sentence(start, end) == ("A mouse. Ran off.", 2, 12, False)


@pytest.mark.parametrize("split", ["lines", "prose"])
@pytest.mark.parametrize("word", [0, 1, 500, 998, 999])
@pytest.mark.parametrize("space", [" ", ""])
def test_overlong_sentence_is_cut_around_the_word(
    monkeypatch: pytest.MonkeyPatch, split: str, word: int, space: str
) -> None:
    monkeypatch.setattr(sentences, "LONGEST", 100)
    text = space.join(["wörd"] * word + ["MOUSE"] + ["wörd"] * (999 - word))
    at = text.index("MOUSE")
    sentence, start, end, cut = Passage(text, split, "en").sentence(at, at + 5)
    assert cut
    assert sentence[start:end] == "MOUSE"
    assert 80 <= len(sentence) <= 100
    assert sentence in text
    if space:
        assert set(sentence.split()) == {"wörd", "MOUSE"}  # whole words
    if word == 500:
        assert abs(start - (len(sentence) - end)) <= 10  # in the middle


@pytest.mark.parametrize("size", [99, 100, 101])
def test_only_overlong_sentences_are_cut(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(sentences, "LONGEST", 100)
    text = "mouse " + "x" * (size - 6)
    sentence, start, end, cut = Passage(text, "lines", "en").sentence(0, 5)
    assert (sentence[start:end], cut) == ("mouse", size > 100)
    assert (sentence == text) == (size <= 100)


def test_span_longer_than_the_maximum_sentence_is_kept_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "LONGEST", 10)
    text = "a cell" + " " * 20 + "phone b"
    sentence, start, end, cut = Passage(text, "lines", "en").sentence(2, 31)
    assert (sentence[start:end], cut) == (text[2:31], True)


def test_unpaired_quotation_mark_does_not_join_the_following_sentences() -> None:
    text = "“The cat sat. " + "A dog barked at the moon. " * 200 + "Then a mouse ran. " + "It rained again. " * 200
    at = text.index("mouse")
    assert Passage(text, "prose", "en").sentence(at, at + 5) == ("Then a mouse ran.", 7, 12, False)


@pytest.mark.parametrize("size", [50, 333, 1000])
def test_passage_split_in_parts_keeps_its_spans(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(sentences, "_PASSAGE", size)
    text = "Käse! A mouse ran. 🐁 It hid. " * 60
    passage = Passage(text, "prose", "en")
    found = [passage.sentence(*match.span()) for match in re.finditer("mouse", text)]
    assert all(sentence[start:end] == "mouse" for sentence, start, end, _ in found)
    whole = sum(sentence == "A mouse ran." for sentence, *_ in found)
    assert whole >= 60 - len(text) // (size - 30) - 1  # except at the end of a part


def test_passage_without_spaces_is_split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "_PASSAGE", 64)
    text = "x" * 200 + "mouse" + "y" * 200
    sentence, start, end, _ = Passage(text, "prose", "en").sentence(200, 205)
    assert sentence[start:end] == "mouse"
