"""Test distinctive words on planted text, and the log-likelihood ratio against its definition."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from planted_usages import make_usages

from lexshift.corpus.segmentation import segmenter_version
from lexshift.corpus.vocabulary import load_function_words
from lexshift.senses.distinctive_words import DistinctiveWords, log_likelihood_ratios
from lexshift.senses.gloss_encoder import GlossEncoder
from lexshift.utils.arrays import Matrix

ANIMAL = ["The cat ate a mouse in the barn.", "A mouse hid from the cat.", "That cat saw the mouse and the cheese."] * 3
DEVICE = ["Click the mouse on the screen.", "The mouse and the screen are new.", "Click with the mouse."] * 3
BOTH, LABELS = ANIMAL + DEVICE, [0] * 9 + [1] * 9


def slow_ratio(a: int, n: int, c: int, m: int) -> float:
    """Return 2 * sum(observed * log(observed / expected)) over the four cells, negative if a / n < c / m."""
    total, ratio = n + m, 0.0
    for observed, row, column in (
        (a, n, a + c),
        (n - a, n, total - a - c),
        (c, m, a + c),
        (m - c, m, total - a - c),
    ):
        if observed:
            ratio += 2 * observed * math.log(observed / (row * column / total))
    return -ratio if a / n < c / m else ratio


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_ratios_follow_the_definition(n: int, m: int, data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.tuples(st.integers(0, n), st.integers(0, m)), max_size=6))
    own, others = (np.array([pair[i] for pair in counts], int) for i in (0, 1))
    expected = [slow_ratio(a, n, c, m) for a, c in counts]
    np.testing.assert_allclose(log_likelihood_ratios(own, n, others, m), expected, atol=1e-9)


def test_planted_words_describe_their_sense() -> None:
    animal, device = DistinctiveWords().describe(make_usages("mouse", BOTH, LABELS, language="en"))
    assert animal[0] == "cat"
    assert set(device[:2]) == {"click", "screen"}


def test_function_words_and_the_target_are_left_out() -> None:
    sentences = [f"{text} Mouse or mice?" for text in BOTH]
    found = DistinctiveWords().describe(make_usages("mouse", sentences, LABELS, language="en"))
    assert not {word for words in found for word in words} & {*load_function_words("en"), "mouse"}


def test_a_single_sense_has_its_most_frequent_words() -> None:
    assert DistinctiveWords().describe(make_usages("mouse", ANIMAL, [0] * 9, language="en"))[0][0] == "cat"


def test_words_outside_the_window_are_not_considered() -> None:
    far = [f"Screen {'very ' * 12}mouse." for _ in DEVICE]
    found = DistinctiveWords(window=5).describe(make_usages("mouse", ANIMAL + far, LABELS, language="en"))
    assert "screen" not in found[1]


@pytest.mark.parametrize("n", [0, 1])
def test_no_usage_and_one_usage(n: int) -> None:
    assert DistinctiveWords().describe(make_usages("mouse", ANIMAL[:n], [0] * n, language="en")) == [[]] * n


@pytest.mark.parametrize(
    ("word", "first", "second", "expected"),
    [
        ("мышь", "Кошка и мышь на полу.", "Экран и мышь на столе.", ("кошка", "экран")),
        ("ποντίκι", "Η γάτα και το ποντίκι.", "Η οθόνη και το ποντίκι.", ("γάτα", "οθόνη")),
    ],
)
def test_other_scripts(word: str, first: str, second: str, expected: tuple[str, str]) -> None:
    found = DistinctiveWords().describe(make_usages(word, [first] * 6 + [second] * 6, [0] * 6 + [1] * 6))
    assert expected[0] in found[0]
    assert expected[1] in found[1]
    assert not {*found[0]} & {*found[1]}


@pytest.mark.skipif(segmenter_version() is None, reason="ICU is not installed")
def test_chinese_text_is_segmented() -> None:
    sentences = ["这只老猫喜欢捉鼠标"] * 6 + ["电脑的鼠标"] * 6
    assert "电脑" in DistinctiveWords().describe(make_usages("鼠标", sentences, [0] * 6 + [1] * 6, language="zh"))[1]


def test_frequent_words_of_an_unknown_language_are_left_out() -> None:
    sentences = ["qua zib mouse tok"] * 5 + ["qua zib mouse rel"] * 5
    found = DistinctiveWords().describe(make_usages("mouse", sentences, [0] * 5 + [1] * 5, language="xx"))
    assert found == [["tok"], ["rel"]]


class Topics:
    """Encode "mouse: word" in the direction of the sense to which the word belongs."""

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> Matrix:
        assert all(text[slice(*span)] == "mouse" for text, span in zip(sentences, spans, strict=True))
        is_device = [text.split(": ")[1] in ("trackpad", "cursor") for text in sentences]
        return np.array([[0.0, 1.0] if device else [1.0, 0.0] for device in is_device], np.float32)


def test_an_encoder_finds_words_that_occur_once() -> None:
    sentences = [
        "A trackpad, no mouse.",
        "Cursor of the mouse.",
        "My uncle has a mouse.",
        "A mouse ran.",
        "A mouse sat.",
    ]
    usages = make_usages("mouse", sentences, [1, 1, 1, 0, 0], language="en")
    assert DistinctiveWords().describe(usages)[1] == []
    assert DistinctiveWords(encoder=GlossEncoder(Topics())).describe(usages)[1] == ["cursor", "trackpad"]
