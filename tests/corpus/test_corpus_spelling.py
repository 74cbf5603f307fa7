"""Test the suggestions for target words that do not occur."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexshift import compare, trace
from lexshift.corpus.counting import WordCounts
from lexshift.corpus.spelling import describe_suggestions, suggest_spellings
from lexshift.corpus.targets import Targets
from lexshift.demo import ExampleEncoder
from lexshift.errors import UserError
from lexshift.store.embedding import embed
from lexshift.utils.monitor import Silent

COUNTS = [WordCounts({"people": 9, "mouse": 4, "moose": 2, "house": 8}, 100), WordCounts({"people": 1}, 10)]


@pytest.mark.parametrize(
    ("word", "suggestion"),
    [
        ("peple", "people"),
        ("Peple", "people"),
        ("mose", "mouse"),  # "moose" is as near, but occurs twice only
        ("people", None),
        ("xyzzy", None),
        ("hse", None),  # too short
        ("the peple", None),  # several words
    ],
)
def test_suggestions_are_frequent_and_similar(word: str, suggestion: str | None) -> None:
    suggestions = suggest_spellings(Targets({word: (word,)}), COUNTS)
    assert suggestions == ({word: suggestion} if suggestion else {})


def test_words_with_forms_of_their_own_or_lemmas_get_no_suggestion() -> None:
    assert not suggest_spellings(Targets({"peple": ("peple", "peples")}), COUNTS)
    assert not suggest_spellings(Targets({"peple": ("peple",)}, "token"), COUNTS)


def test_at_most_three_suggestions_are_named() -> None:
    question = describe_suggestions({f"w{i}": f"word{i}" for i in range(5)})
    assert question == "did you mean 'word0' for 'w0', 'word1' for 'w1', 'word2' for 'w2'?"


def test_error_suggests_a_spelling_before_a_model_is_loaded(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / f"{name}.txt").write_text(f"The people saw a mouse, {name}.\n" * 4)
    corpora = tmp_path / "old.txt", tmp_path / "new.txt"
    with pytest.raises(UserError, match=r"never occurs .* \(did you mean 'people' for 'peple'\?\), or skip"):
        embed(*corpora, words=["peple", "mouse"], model="minilm")
    with pytest.raises(UserError, match=r"none of the words .* \(did you mean 'people' for 'peple'\?\)"):
        compare(*corpora, words=["peple"], model="minilm", monitor=False)


def test_words_that_are_not_separated_by_commas_are_called_a_phrase(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / f"{name}.txt").write_text(f"The people saw a mouse, {name}.\n" * 4)
    with pytest.raises(UserError, match="separate words by commas: words with spaces between them are a phrase"):
        compare(tmp_path / "old.txt", tmp_path / "new.txt", words="people mouse", model="minilm", monitor=False)


def test_word_that_occurs_in_other_letters_is_not_absent() -> None:
    counts = [WordCounts({"straße": 9, "strasse": 9, "istanbul": 9}, 100)]
    assert not suggest_spellings(Targets({"STRASSE": ("STRASSE",), "Straße": ("Straße",)}), counts)


class Notes(Silent):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def test_note_suggests_a_spelling_if_other_words_occur(tmp_path: Path) -> None:
    for name in ("old", "new"):
        (tmp_path / f"{name}.txt").write_text("".join(f"The {name} people saw mouse {i}.\n" for i in range(12)))
    notes = Notes()
    words = ["peple", "mouse"]
    compare(tmp_path / "old.txt", tmp_path / "new.txt", words=words, model=ExampleEncoder(), monitor=notes)
    assert "did you mean 'people' for 'peple'?" in notes.notes


def test_no_spelling_is_suggested_for_a_word_in_the_middle_of_a_trace(tmp_path: Path) -> None:
    """Only the first and the last period are counted, so other periods may have the word."""
    for name, word in (("1900", "mouse"), ("1950", "mouses"), ("2000", "mouse")):
        (tmp_path / f"{name}.txt").write_text("".join(f"In {name} a {word} ran {i}.\n" for i in range(40)))
    notes = Notes()
    corpora = [tmp_path / f"{name}.txt" for name in ("1900", "1950", "2000")]
    trace(*corpora, words=["mouse", "mouses"], model=ExampleEncoder(), monitor=notes)
    assert not [note for note in notes.notes if "did you mean" in note]
