"""Test source words: the selection of pairs and of their sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.corpus.sources import Reading
from lexshift.errors import UserError
from lexshift.simulation.sources import (
    SourceText,
    begin_alike,
    choose_pairs,
    count_folded_words,
    find_pairs,
    fold_word,
    read_pairs,
    separate_usages,
)
from lexshift.utils.monitor import Silent

NOUNS = ["mouse", "bread", "river", "winter", "garden", "doctor", "letter", "silver"]


def corpus(folder: Path, lines: Sequence[str], name: str = "corpus.txt") -> SourceText:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return SourceText([path], Reading(split="lines"), Silent())


def lines_of(words: Sequence[str], each: int) -> list[str]:
    return [f"The {word} of day {i} is here." for i in range(each) for word in words]


@given(st.text(st.sampled_from("abcAÉéβ .,-'\n7_"), max_size=40))
def test_words_are_runs_of_letters_digits_and_underscores_in_any_case(text: str) -> None:
    assert sorted(count_folded_words(text).elements()) == sorted(word.lower() for word in re.findall(r"\w+", text))


@pytest.mark.parametrize("word", ["two words", "", "it's", "..."], ids=["two", "none", "apostrophe", "signs"])
def test_source_word_is_a_single_word(word: str) -> None:
    with pytest.raises(UserError, match="must be a single word"):
        fold_word(word)


def test_sentences_with_the_word_twice_and_repeated_sentences_are_not_used(tmp_path: Path) -> None:
    text = corpus(tmp_path, ["A mouse.", "A mouse.", "A  mouse.", "Mouse and mouse.", "The MOUSE ran.", "No mice."])
    found = text.usages(["mouse"], 100)["mouse"]
    assert sorted(" ".join(usage.sentence.split()) for usage in found) == ["A mouse.", "The MOUSE ran."]
    assert all(usage.sentence[usage.start : usage.end].lower() == "mouse" for usage in found)


def test_sample_never_contains_a_sentence_with_the_word_twice(tmp_path: Path) -> None:
    text = corpus(tmp_path, [f"Mouse {i} met mouse {i + 1}." for i in range(50)])
    assert text.usages(["mouse"], 20) == {"mouse": []}


def test_sentences_with_both_words_of_a_pair_are_not_used(tmp_path: Path) -> None:
    text = corpus(tmp_path, ["A mouse ate bread.", "A mouse.", "Some Bread."])
    first, second = separate_usages(text.usages(["mouse", "bread"], 100), ("mouse", "bread"))
    assert [usage.sentence for usage in first] == ["A mouse."]
    assert [usage.sentence for usage in second] == ["Some Bread."]


@given(st.integers(1, 4), st.integers(0, 1000))
def test_selected_pairs_are_different_content_words_with_enough_sentences(
    tmp_path_factory: pytest.TempPathFactory, wanted: int, seed: int
) -> None:
    text = corpus(tmp_path_factory.getbasetemp(), [*lines_of(NOUNS, 12), *lines_of(["rare", "seldom"], 5)])
    pairs = choose_pairs(text, text.counts(), wanted, 12, seed)
    words = [word for pair in pairs for word in pair]
    assert len(pairs) == wanted
    assert len(set(words)) == 2 * wanted
    # "day" is in every sentence, so it has no sentence without any partner
    assert set(words) <= set(NOUNS)
    for pair, sides in pairs.items():
        for word, usages in zip(pair, sides, strict=True):
            assert len({usage.sentence for usage in usages}) == len(usages) >= 12
            assert all(usage.sentence[usage.start : usage.end] == word for usage in usages)


def test_pairs_depend_on_the_seed_and_not_on_the_order_of_corpora(tmp_path: Path) -> None:
    one, two = (corpus(tmp_path, lines_of(half, 30), f"{half[0]}.txt") for half in (NOUNS[:4], NOUNS[4:]))
    both = [SourceText([*a.corpora, *b.corpora], a.reading, Silent()) for a, b in ((one, two), (two, one))]
    chosen = [choose_pairs(text, text.counts(), 3, 20, 5) for text in both]
    assert list(chosen[0].items()) == list(chosen[1].items())
    assert len({tuple(choose_pairs(both[0], both[0].counts(), 3, 20, seed)) for seed in range(5)}) > 1


@pytest.mark.parametrize(
    ("a", "b", "alike"),
    [
        ("nation", "national", True),
        ("tax", "taxes", True),
        ("nation", "nature", False),
        ("mouse", "bread", False),
        ("river", "rivet", True),
    ],
)
def test_words_with_the_same_beginning_are_not_paired(a: str, b: str, alike: bool) -> None:
    assert begin_alike(a, b) is begin_alike(b, a) is alike


def test_forms_of_a_word_are_not_paired_with_each_other(tmp_path: Path) -> None:
    text = corpus(tmp_path, lines_of(["nation", "nations", "garden", "gardens"], 10))
    for seed in range(5):
        for first, second in choose_pairs(text, text.counts(), 2, 10, seed):
            assert first[:4] != second[:4]


def test_too_few_words_are_reported_with_the_available_number(tmp_path: Path) -> None:
    text = corpus(tmp_path, lines_of(NOUNS[:4], 10))
    with pytest.raises(UserError, match=r"5 pairs .* with 10 sentences .* only 2 can be made: there are 5 words that"):
        choose_pairs(text, text.counts(), 5, 10, 0)
    with pytest.raises(
        UserError, match=r"only 0 can be made: number 4 of the words by frequency, '\w+', occurs 10 times"
    ):
        choose_pairs(text, text.counts(), 2, 11, 0)
    numbers = corpus(tmp_path, ["1 2 3"], "numbers.txt")
    with pytest.raises(UserError, match="there are 0 words"):
        choose_pairs(numbers, numbers.counts(), 1, 1, 0)


def test_given_pairs_with_too_few_usages_are_reported_together(tmp_path: Path) -> None:
    text = corpus(tmp_path, [*lines_of(["mouse", "bread"], 10), *lines_of(["river"], 3)])
    pairs = [("mouse", "bread"), ("river", "winter")]
    assert [len(rows) for rows in find_pairs(text, text.counts(), pairs[:1], [(10, 10)], 0)[pairs[0]]] == [10, 10]
    with pytest.raises(
        UserError, match=r"'bread' has 10 of 11, 'river' has 3 of 4, 'winter' has 0 of 4; request fewer"
    ):
        find_pairs(text, text.counts(), pairs, [(10, 11), (4, 4)], 0)


def test_pairs_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("mouse\tbread\n\nriver \t winter\r\n", "utf-8")
    assert read_pairs(path) == read_pairs([["mouse", "bread"], ("river", "winter")])


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([("mouse", "Mouse")], "two different words"),
        ([("mouse",)], "two different words"),
        ([("a", "b", "c")], "two different words"),
        ([], "no pairs of source words"),
        ([("mouse", "bread")] * 2, "occurs twice"),
        ([("cell phone", "bread")], "must be a single word; got 'cell phone'"),
    ],
    ids=["the same", "one", "three", "none", "twice", "two words"],
)
def test_invalid_pair_is_refused(pairs: list[tuple[str, ...]], message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_pairs(pairs)


def test_missing_pairs_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is missing"):
        read_pairs(tmp_path / "none.tsv")


@pytest.mark.parametrize(("corpora", "message"), [([], "no corpus"), (["-"], "read only once")], ids=["none", "stdin"])
def test_corpora_must_exist_and_be_readable_twice(corpora: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        SourceText(corpora, Reading(), Silent())
