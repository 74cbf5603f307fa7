"""Test that every target of the real SemEval corpora is found where a loop over whitespace tokens finds it."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import pytest

from lexshift.corpus import Reading, find_occurrences, read_targets

CORPORA = [
    ("semeval2020_ulscd_eng", "corpus1/lemma/ccoha1.txt.gz"),
    ("semeval2020_ulscd_eng", "corpus2/lemma/ccoha2.txt.gz"),
    ("semeval2020_ulscd_swe", "corpus1/lemma/kubhist2a.txt.gz"),
    ("semeval2020_ulscd_swe", "corpus2/lemma/kubhist2b.txt.gz"),
]


@pytest.mark.parametrize(("name", "file"), CORPORA)
def test_targets_are_found_where_a_loop_over_tokens_finds_them(data: Path, name: str, file: str) -> None:
    folder = data / "benchmark" / name
    words = (folder / "targets.txt").read_text("utf-8").split()
    expected: Counter[tuple[str, int, str]] = Counter()
    with gzip.open(folder / file, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            for token in line.split():
                if token in words:
                    expected[token, number, line.strip()] += 1
    found = find_occurrences(folder / file, read_targets(folder / "targets.txt", "token"), Reading(split="lines"))
    rows = found.table.select(["target", "line", "sentence", "start", "end"]).to_pylist()
    assert Counter((words[row["target"]], row["line"], row["sentence"]) for row in rows) == expected
    assert all(row["sentence"][row["start"] : row["end"]] == words[row["target"]] for row in rows)
    assert found.found.sum() == len(rows) > 10_000


@pytest.mark.parametrize(("name", "file"), CORPORA)
def test_lemmatised_corpus_is_recognised_as_one_sentence_per_line(data: Path, name: str, file: str) -> None:
    folder = data / "benchmark" / name
    found = find_occurrences(folder / file, read_targets(folder / "targets.txt", "token"), max_per_word=3)
    assert dict(found.tally.splits) == {"lines": 1}


def test_presidential_addresses_are_recognised_as_prose(data: Path) -> None:
    found = find_occurrences(data / "corpora/sotu/[12]*.txt", read_targets(["nuclear", "united states"]))
    assert dict(found.tally.splits) == {"prose": 233}
    sentences = found.table["sentence"].to_pylist()
    assert max(map(len, sentences)) < 4_000
    assert not found.tally.skipped
