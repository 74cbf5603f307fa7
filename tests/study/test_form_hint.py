"""Test the hint at inflected forms of target words that were not requested."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lexshift import compare
from lexshift.corpus import targets as target_words
from lexshift.corpus.counting import WordCounts
from lexshift.corpus.targets import read_targets
from lexshift.demo import ExampleEncoder
from lexshift.errors import UserError
from lexshift.study.form_hint import find_form_hint

pytest.importorskip("simplemma")

COUNTS = [
    WordCounts({"mouse": 5, "mice": 9, "leaf": 9, "leaves": 40, "river": 50, "rivers": 4, "run": 9, "ran": 6}, 5_000),
    WordCounts({"mouse": 7, "mice": 6, "house": 90, "houses": 10, "running": 5, "runs": 2}, 5_000),
]
MICE = "the corpora also have other forms of mouse (12 occurrences): mice (15); --match lemma includes all forms"


def hint(words: Any, counts: Any = COUNTS, match: str = "word", language: str = "en") -> str | None:
    return find_form_hint(read_targets(words, match, language), counts, language)


def test_frequent_form_is_named_with_its_number() -> None:
    assert hint(["mouse"]) == MICE
    assert hint(["Mouse", "bread"]) == MICE


def test_forms_of_several_words_are_in_one_sentence() -> None:
    assert hint(["run", "mouse"]) == (
        "the corpora also have other forms of mouse (12 occurrences): mice (15); run (9 occurrences): ran (6), running "
        "(5); --match lemma includes all forms"
    )


@pytest.mark.parametrize(
    "words",
    [
        ["leaf"],  # "leaves" is a form of "leave" for the dictionary
        ["river"],  # "rivers" is too rare
        ["house"],  # "houses" is a small share
        ["mouse", "mice"],  # requested
        {"mouse": ["mouse", "mice"]},
        {"mouse": ["mouse", "mouses"]},  # the user chose the forms
        ["nowhere"],
    ],
)
def test_other_words_give_no_hint(words: Any) -> None:
    assert hint(words) is None


def test_there_is_no_hint_for_other_rules_and_without_counts() -> None:
    assert [hint(["mouse"], match=match) for match in ("cased", "token", "lemma")] == [None, None, None]
    assert hint(["mouse"], counts=None) is None
    assert hint(["mouse"], language="xx") is None


def test_many_words_are_shortened() -> None:
    names = ["dog", "cat", "horse", "tree", "stone"]
    counts = [WordCounts(dict.fromkeys(names, 10) | {f"{name}s": 10 for name in names}, 5_000)]
    assert hint(names, counts) == (
        "the corpora also have other forms of cat (10 occurrences): cats (10); dog (10 occurrences): dogs (10); horse "
        "(10 occurrences): horses (10); and of 2 more words; --match lemma includes all forms"
    )
    assert "; and of 1 more word;" in str(hint(names[:4], counts))


def test_capital_letters_decide_between_two_lemmas() -> None:
    """In simplemma's German dictionary, "Mäuse" has the lemma "Maus", and "maus" would be a form of "mausen"."""
    counts = [WordCounts({"maus": 9, "mäuse": 8}, 900, {"mäuse": (0, 8), "maus": (0, 9)})]
    assert "mäuse (8)" in str(hint(["Maus"], counts, language="de"))
    assert hint(["mausen"], counts, language="de") is None


def test_there_is_no_hint_without_simplemma(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: str) -> None:
        raise UserError("matching by lemma needs simplemma")

    monkeypatch.setattr("lexshift.study.form_hint.lemma_dictionary", missing)
    assert hint(["mouse"]) is None
    assert target_words.lemma_dictionary("en")["mice"] == "mouse"


def test_hint_is_a_note_of_the_run(tmp_path: Path) -> None:
    for name in ("old", "new"):
        lines = [f"The {name} mouse number {i} ran." for i in range(6)] + [
            f"The mice of house {i} ran." for i in range(8)
        ]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", "utf-8")
    notes: list[str] = []

    class Recorder:
        def stage(self, name: str, total: int, unit: str) -> None:
            pass

        def advance(self, done: int, items: int = 0, status: str = "") -> None:
            pass

        def note(self, text: str) -> None:
            notes.append(text)

    paths, out = (tmp_path / "old.txt", tmp_path / "new.txt"), tmp_path / "out"
    options: dict[str, Any] = {"model": ExampleEncoder(), "resamples": 20, "permutations": 20, "language": "en"}
    compare(*paths, ["mouse"], **options, monitor=Recorder(), out=out)
    expected = MICE.replace("(15)", "(16)")
    assert notes.count(expected) == 1
    assert expected in json.loads((out / "run.json").read_text("utf-8"))["notes"]
    assert not compare(*paths, ["mouse"], **options, match="lemma", monitor=False).run["notes"]
