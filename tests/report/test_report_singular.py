"""Test that messages and pages count one thing in the singular."""

from __future__ import annotations

from pathlib import Path

from lexshift import compare
from lexshift.corpus.vocabulary import Entry, Vocabulary
from lexshift.demo import ExampleEncoder
from lexshift.study.words import describe_choice


def test_one_skipped_occurrence_is_in_the_singular_on_the_page(tmp_path: Path) -> None:
    corpora = []
    for name, n in (("1900", 11), ("2000", 10)):
        path = tmp_path / f"{name}.txt"
        path.write_text("".join(f"A mouse ran {i}.\n" for i in range(n)))
        corpora.append(path)
    result = compare(
        corpora[0],
        corpora[1],
        words=["mouse"],
        model=ExampleEncoder(),
        max_per_word=10,
        permutations=20,
        resamples=10,
        monitor=False,
    )
    result.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "1 occurrence beyond 10 for a word" in page
    assert "1 occurrences" not in page


def test_one_word_is_chosen_in_the_singular() -> None:
    vocabulary = Vocabulary([Entry("mouse", (3, 4), None, "")], "en", "kept", 0, 1)
    assert describe_choice(vocabulary, 1, 2) == (
        "the only word that occurs 1 time or more in both corpora, without function words and numbers"
    )
