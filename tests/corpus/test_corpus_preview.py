"""Test the preview of a corpus: a word that the scan finds is never taken for absent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lexshift.corpus.counting import count_words
from lexshift.corpus.occurrences import find_occurrences
from lexshift.corpus.preview import count_quickly, may_occur
from lexshift.corpus.sources import Reading
from lexshift.corpus.targets import read_targets
from lexshift.corpus.word_rule import rule
from lexshift.errors import UserError

LETTERS = "aAbé\u0301ßẞİıǅ\u00adﬁ猫ねﾈ_1-'’ .\n"
TEXTS = st.text(LETTERS, max_size=30)
WORDS = st.text("aAbéßİıǅfi猫ね", min_size=1, max_size=3)
MATCHES = st.sampled_from(["word", "cased", "token"])


def preview(folder: Path, texts: list[str], match: str, words: list[str] | None) -> bool:
    """Return whether a word may occur in corpora with these texts."""
    corpora = {}
    for i, text in enumerate(texts):
        corpora[str(i)] = folder / f"{i}.txt"
        corpora[str(i)].write_text(text, "utf-8", newline="")
    targets = None if words is None else read_targets(words, match)
    return may_occur(corpora, dict.fromkeys(corpora, Reading(language="en")), match, targets)


def answer(question: Callable[[], Any]) -> bool | str:
    """Return a result, or the message of an error."""
    try:
        return bool(question())
    except UserError as error:
        return str(error)


@given(TEXTS, st.lists(WORDS, min_size=1, max_size=3), MATCHES)
@example("in a\u00adb\n", ["ab"], "word")
@example("a\u0301", ["á"], "word")
@example("a ’b", ["a 'b"], "word")
def test_word_that_is_found_may_occur_and_a_corpus_without_words_is_refused(
    text: str, words: list[str], match: str
) -> None:
    with TemporaryDirectory() as folder:
        path, targets = Path(folder, "0.txt"), read_targets(words, match)
        path.write_text(text, "utf-8", newline="")
        found = answer(lambda: find_occurrences(path, targets, Reading(language="en")).found.any())
        previewed = answer(lambda: preview(Path(folder), [text], match, words))
        assert previewed == found or (previewed, found) == (True, False)


@pytest.mark.parametrize(
    ("word", "match", "expected"),
    [
        ("mouse", "word", True),
        ("mouse", "cased", False),
        ("Mouse", "cased", True),
        ("moose", "word", False),
        ("ous", "word", True),  # a part of a word: the scan must decide
        ("mouse pad", "word", True),
        ("pad mouse", "word", False),
    ],
)
def test_word_that_is_no_part_of_the_text_does_not_occur(tmp_path: Path, word: str, match: str, expected: bool) -> None:
    assert preview(tmp_path, ["A cat.\n", "Here the Mouse ran.\n"], match, [word]) == expected


def test_all_corpora_are_checked_for_words(tmp_path: Path) -> None:
    assert preview(tmp_path, ["a mouse\n", "a cat\n"], "word", None)
    with pytest.raises(UserError, match=r"1\.txt' is empty: there is no word in it"):
        preview(tmp_path, ["a mouse\n", " . \n"], "word", ["mouse"])


@given(TEXTS)
def test_words_are_counted_as_with_compiled_code(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("counted") / "a.txt"
    path.write_text(f"A mouse, another Mouse.\n{text}\n", "utf-8")
    reading = Reading(language="en")
    quick, counts = count_quickly(path, reading), count_words(path, rule("word"), reading)
    assert (quick.counts, quick.total) == (counts.counts, counts.total)
