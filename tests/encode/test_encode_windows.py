"""Test the pieces of a word and the windows around it."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import FAMILIES, KINDS, TEXT, WORDS, loaded, make_tokenizer, span_of, transformers

from lexshift.encode.protocol import Span
from lexshift.encode.windows import Windows, WindowTokenizer
from lexshift.errors import UserError

LONG = " ".join(TEXT)


def tokens(family: str, window: int = 512) -> WindowTokenizer:
    return WindowTokenizer(loaded(family)[1], window)


def text_of(family: str, pieces: Windows, row: int) -> str:
    """Return the pieces of the word of a row as text without subword marks."""
    first, last = pieces.positions[row]
    ids = pieces.sequences[pieces.sequence[row]][first:last]
    return str(loaded(family)[1].decode(ids, clean_up_tokenization_spaces=False)).strip()


# ------------------------------------------------------------------------------------------- from character offsets


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("sentence", "word", "occurrence"),
    [
        ("plane", "plane", 0),  # the whole sentence
        ("plane on the runway", "plane", 0),
        ("the plane.", "plane", 0),
        ("on the plane", "plane", 0),
        ("the mouse ran after the mouse", "mouse", 1),
        ("the strangers remembers nobody", "strangers", 0),  # several pieces
        ("the attack_nn of the plane_nn be", "plane_nn", 0),
        ("(plane)", "plane", 0),
        ("a  plane   on", "plane", 0),
        ("on the\tplane\nthe", "plane", 0),
    ],
)
def test_pieces_of_a_span_spell_the_word(family: str, sentence: str, word: str, occurrence: int) -> None:
    pieces = tokens(family).cut([sentence], [span_of(sentence, word, occurrence)], None)
    assert text_of(family, pieces, 0).replace(" ", "") == word


@pytest.mark.parametrize("family", ["roberta", "modernbert", "deberta"])
@pytest.mark.parametrize("word", ["🙂", "👩‍🚀", "Naïve", "ÉTÉ", "Straßen", "日本", "e\u0301te\u0301"])
def test_bytes_of_any_characters_are_pieces_of_their_word(family: str, word: str) -> None:
    sentence = f"the {word} {word}s, {word}"
    spans = [span_of(sentence, word, i) for i in range(3)]
    pieces = tokens(family).cut([sentence] * 3, spans, None)
    assert [text_of(family, pieces, i) for i in range(3)] == [word] * 3
    assert all(last - first > 1 for first, last in pieces.positions)


@pytest.mark.parametrize(
    ("family", "word", "expected"),
    [
        ("bert", "Café", "cafe"),  # lower case, no accents
        ("bert", "PLANE", "plane"),
        ("bert", "🙂", "[UNK]"),
        ("distilbert", "Café", "Café"),
        ("bert", "plane_nn", "plane_nn"),
        ("roberta", "plane_nn", "Ġplane_nn"),
        ("xlm-roberta", "plane_nn", "▁plane_nn"),
        ("deberta-v2", "plane", "▁plane"),
    ],
)
def test_pieces_of_a_word_inside_a_sentence_are_the_expected_ones(family: str, word: str, expected: str) -> None:
    sentence = f"the {word} and {word}"
    pieces = tokens(family).cut([sentence], [span_of(sentence, word, 1)], None)
    first, last = pieces.positions[0]
    # Which pieces a trained vocabulary has may vary; what they spell together does not.
    found = loaded(family)[1].convert_ids_to_tokens(pieces.sequences[0][first:last])
    assert "".join(piece.removeprefix("##") for piece in found) == expected


@pytest.mark.parametrize("family", KINDS.values(), ids=KINDS)
def test_word_inside_another_has_the_pieces_that_overlap_it(family: str) -> None:
    tokenizer = loaded(family)[1]
    sentence = "regained the gainers"
    for start in range(len("regained")):
        for end in range(start + 1, len("regained") + 1):
            pieces = WindowTokenizer(tokenizer, 64).cut([sentence], [(start, end)], None)
            offsets = tokenizer(sentence, return_offsets_mapping=True)["offset_mapping"]
            shared = [i for i, (a, b) in enumerate(offsets) if set(range(a, b)) & set(range(start, end))]
            assert list(range(*pieces.positions[0])) == shared


@pytest.mark.parametrize("family", FAMILIES)
def test_sequence_equals_that_of_the_tokenizer_itself(family: str) -> None:
    tokenizer = loaded(family)[1]
    pieces = tokens(family).cut(TEXT, [(0, 1)] * len(TEXT), None)
    assert pieces.sequence == list(range(len(TEXT)))
    assert [sequence.tolist() for sequence in pieces.sequences] == [
        tokenizer(sentence)["input_ids"] for sentence in TEXT
    ]


@pytest.mark.parametrize("family", KINDS.values(), ids=KINDS)
def test_identical_sentences_and_windows_are_one_sequence(family: str) -> None:
    sentence, other = "the mouse ran after the mouse", "a plane"
    spans = [
        span_of(sentence, "mouse"),
        span_of(other, "plane"),
        span_of(sentence, "mouse", 1),
        span_of(other, "plane"),
    ]
    pieces = tokens(family).cut([sentence, other, sentence, other], spans, None)
    assert pieces.sequence == [0, 1, 0, 1]
    assert len(pieces.sequences) == 2
    assert pieces.positions[0] != pieces.positions[2]
    assert pieces.positions[1] == pieces.positions[3]


@pytest.mark.parametrize("family", ["bert", "mpnet"])
@pytest.mark.parametrize("dropped", ["\u200b", "\u00ad\u200d", "  ", "\x07"])
def test_dropped_characters_have_no_pieces_and_others_keep_theirs(family: str, dropped: str) -> None:
    sentence = f"the {dropped} plane"
    spans = [span_of(sentence, "the"), span_of(sentence, dropped), span_of(sentence, "plane")]
    pieces = tokens(family).cut([sentence] * 3, spans, None)
    assert pieces.sequence == [0, -1, 0]
    assert pieces.positions[1] == (0, 0)
    assert [text_of(family, pieces, row) for row in (0, 2)] == ["the", "plane"]
    assert tokens(family).cut([sentence], spans[1:2], None).sequences == []  # no sequence is needed for it


def test_no_sentences_give_no_sequences() -> None:
    assert tokens("bert").cut([], [], None) == Windows([], [], [], [], [])


def test_empty_text_does_not_affect_other_sentences() -> None:
    pieces = tokens("bert").cut(["   ", "a plane"], [(0, 2), (2, 7)], None)
    assert pieces.sequence == [-1, 0]


@pytest.mark.parametrize("family", FAMILIES)
def test_truncation_and_padding_saved_with_a_tokenizer_lose_nothing(family: str) -> None:
    tokenizer = make_tokenizer(family)
    tokenizer.backend_tokenizer.enable_truncation(5)
    tokenizer.backend_tokenizer.enable_padding(length=50)
    sentence = TEXT[0]
    span = span_of(sentence, "hills")
    assert_alike(
        WindowTokenizer(tokenizer, 64).cut([sentence], [span], None), tokens(family).cut([sentence], [span], None)
    )


def assert_alike(ours: Windows, theirs: Windows) -> None:
    assert [s.tolist() for s in ours.sequences] == [s.tolist() for s in theirs.sequences]
    assert ours.sequence == theirs.sequence
    assert ours.positions == theirs.positions
    assert ours.truncated == theirs.truncated


# ----------------------------------------------------------------------------------------------------------- windows


@pytest.mark.parametrize("family", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("window", [3, 4, 9, 16, 33])
def test_long_sentence_is_cut_to_the_window_with_the_word_in_its_middle_or_at_an_end(family: str, window: int) -> None:
    tokenizer = loaded(family)[1]
    whole = tokenizer(LONG, add_special_tokens=False, verbose=False)["input_ids"]
    before, after = tokenizer("a")["input_ids"][0], tokenizer("a")["input_ids"][-1]
    spans = [m.span() for m in re.finditer(r"\w+", LONG)]
    full = tokens(family, 10_000).cut([LONG] * len(spans), spans, None)
    cut = tokens(family, window).cut([LONG] * len(spans), spans, None)
    for row in range(len(spans)):
        sequence = cut.sequences[cut.sequence[row]].tolist()
        assert len(sequence) == window
        assert (sequence[0], sequence[-1]) == (before, after)
        first, last = cut.positions[row]
        whole_first, whole_last = full.positions[row]
        if whole_last - whole_first > window - 2:  # a word longer than the window: its beginning
            assert (first, last) == (1, window - 1)
        else:
            assert last - first == whole_last - whole_first
        left = whole_first - first  # positions of both count the special token
        assert sequence[1:-1] == whole[left : left + window - 2]
        if 0 < left < len(whole) - (window - 2):
            room_left, room_right = first - 1, window - 1 - last
            assert abs(room_left - room_right) <= 1, "not in the middle"


@pytest.mark.parametrize("family", KINDS.values(), ids=KINDS)
def test_words_far_apart_in_a_long_sentence_have_separate_windows(family: str) -> None:
    spans = [span_of(LONG, "runway"), span_of(LONG, "gainers"), span_of(LONG, "runway")]
    pieces = tokens(family, 12).cut([LONG] * 3, spans, None)
    assert pieces.sequence == [0, 1, 0]
    assert [text_of(family, pieces, row).replace(" ", "") for row in range(3)] == ["runway", "gainers", "runway"]


def test_sentence_of_exactly_the_window_length_is_not_cut() -> None:
    sentence = TEXT[2]
    length = len(loaded("bert")[1](sentence)["input_ids"])
    span = span_of(sentence, "mouse", 1)
    for window in (length, length + 1, 500):
        assert len(tokens("bert", window).cut([sentence], [span], None).sequences[0]) == length
    assert len(tokens("bert", length - 1).cut([sentence], [span], None).sequences[0]) == length - 1


@pytest.mark.parametrize("window", [1, 2])
def test_window_without_room_beside_the_special_tokens_is_refused(window: int) -> None:
    with pytest.raises(UserError, match="window must leave room for a word beside 2 special tokens"):
        tokens("bert", window)


def test_tokenizer_that_produces_no_tokens_for_plain_text_is_refused() -> None:
    empty = tokenizers.Tokenizer(tokenizers.models.BPE({"[CLS]": 0}, []))
    with pytest.raises(UserError, match="cannot tokenize plain text"):
        WindowTokenizer(transformers.PreTrainedTokenizerFast(tokenizer_object=empty), 64)


def naive(tokenizer: Any, window: int, sentences: list[str], spans: list[Span]) -> list[tuple[list[int], list[int]]]:
    """Return the sequence of each row and the positions of its pieces, from the most central of all windows."""
    rows = []
    for sentence, (start, end) in zip(sentences, spans, strict=True):
        made = tokenizer(sentence, return_offsets_mapping=True, return_special_tokens_mask=True, verbose=False)
        bare = [i for i, special in enumerate(made["special_tokens_mask"]) if not special]
        opening, closing = made["input_ids"][: bare[0]], made["input_ids"][bare[-1] + 1 :]
        ids = [made["input_ids"][i] for i in bare]
        offsets = [made["offset_mapping"][i] for i in bare]
        word = [i for i, (a, b) in enumerate(offsets) if set(range(a, b)) & set(range(start, end))]
        word = list(range(word[0], word[-1] + 1))
        room = window - len(opening) - len(closing)
        if len(ids) <= room:
            left = 0
        elif len(word) >= room:
            left = word[0]
        else:
            possible = [n for n in range(len(ids) - room + 1) if n <= word[0] and word[-1] < n + room]
            # equally many pieces before and after the word, or one more after it
            left = min(possible, key=lambda n: abs((n + room - 1 - word[-1]) - (word[0] - n) - 0.5))
        kept = ids[left : left + room]
        rows.append((opening + kept + closing, [len(opening) + i - left for i in word if i < left + room]))
    return rows


@given(
    st.sampled_from(FAMILIES),
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=25), min_size=1, max_size=6),
    st.integers(3, 40),
    st.data(),
)
def test_cut_gives_the_windows_of_a_naive_implementation(
    family: str, texts: list[list[str]], window: int, data: st.DataObject
) -> None:
    sentences, spans = [], []
    for words in texts:
        for _ in range(data.draw(st.integers(1, 3))):
            index = data.draw(st.integers(0, len(words) - 1))
            start = len(" ".join([*words[:index], ""]))
            sentences.append(" ".join(words))
            spans.append((start, start + len(words[index])))
    pieces = tokens(family, window).cut(sentences, spans, None)
    expected = naive(loaded(family)[1], window, sentences, spans)
    ours = [
        (pieces.sequences[pieces.sequence[row]].tolist(), list(range(*pieces.positions[row])))
        for row in range(len(spans))
    ]
    assert ours == expected
    assert len(pieces.sequences) == len({tuple(sequence) for sequence, _ in expected})
    assert all(sequence.dtype == np.int64 for sequence in pieces.sequences)


# ----------------------------------------------------------------------------------------------------------- markers


@pytest.mark.parametrize("family", FAMILIES)
def test_markers_surround_the_word_and_each_word_has_its_own_sequence(family: str) -> None:
    sentence = "the mouse ran after the mouse"
    spans = [span_of(sentence, "mouse"), span_of(sentence, "mouse", 1)]
    pieces = tokens(family).cut([sentence] * 2, spans, ("<t> ", " </t>"))
    marked = ["the <t> mouse </t> ran after the mouse", "the mouse ran after the <t> mouse </t>"]
    assert [sequence.tolist() for sequence in pieces.sequences] == [loaded(family)[1](s)["input_ids"] for s in marked]
    assert pieces.sequence == [0, 1]
    assert [text_of(family, pieces, row) for row in range(2)] == ["mouse"] * 2


def test_markers_without_spaces_touch_the_word() -> None:
    pieces = tokens("bert").cut(["the plane."], [(4, 9)], (":", ";"))
    assert loaded("bert")[1].decode(pieces.sequences[0][1:-1]).replace(" ", "") == "the:plane;."
    assert text_of("bert", pieces, 0) == "plane"
