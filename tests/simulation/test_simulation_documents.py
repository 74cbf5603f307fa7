"""Test the sentences of corpora by document: reading, samples, and the names of written documents."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.corpus.sources import Reading
from lexshift.errors import UserError
from lexshift.simulation.documents import Sentence, document_names, read_sentences
from lexshift.utils.monitor import Silent

ENGLISH = Reading(language="en")


def read(corpus: Path, most: int = 1000, seed: int = 0) -> list[Sentence]:
    return read_sentences(corpus, ENGLISH, most, seed, Silent(), "old").sentences


def test_sentences_of_every_layout_are_read_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    (folder / "inner").mkdir(parents=True)
    (folder / "a.txt").write_text("The mouse ran.  It hid. The cat sat.\nThe cloud rained. We left. Nobody came.\n")
    (folder / "b.txt").write_text("one  line\n\nanother line\n")
    rows = [{"text": "A first\nrow."}, {"text": "A second row."}]
    with gzip.open(folder / "inner/c.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    assert [(sentence.file, sentence.text) for sentence in read(folder)] == [
        ("a.txt", "The mouse ran."),
        ("a.txt", "It hid."),
        ("a.txt", "The cat sat."),
        ("a.txt", "The cloud rained."),
        ("a.txt", "We left."),
        ("a.txt", "Nobody came."),
        ("b.txt", "one line"),
        ("b.txt", "another line"),
        ("inner/c.jsonl.gz", "A first row."),
        ("inner/c.jsonl.gz", "A second row."),
    ]


def test_sentences_that_were_cut_are_counted(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("word " * 1000 + "\n" + "word " * 10 + "\n")
    corpus = read_sentences(tmp_path / "long.txt", Reading(language="en", split="lines"), 10, 0, Silent(), "old")
    assert [len(sentence.text.split()) for sentence in corpus.sentences] == [800, 10]
    assert corpus.skipped == {"sentences of 4,000 characters or more, cut to this length": 1}


def test_corpus_without_a_sentence_is_reported(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n \n")
    with pytest.raises(UserError, match="is empty: there is no sentence in it"):
        read(tmp_path / "empty.txt")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    for name in "abc":
        (folder / f"{name}.txt").write_text("".join(f"line {i} of {name}\n" for i in range(40)))
    return folder


def test_sample_is_a_part_in_the_same_order_and_depends_on_the_seed(files: Path) -> None:
    everything = read(files)
    one, same, other = (read(files, 30, seed) for seed in (1, 1, 2))
    assert len(everything) == 120
    assert len(one) == 30
    assert one == same != other
    assert one == [sentence for sentence in everything if sentence in one]
    assert read_sentences(files, ENGLISH, 30, 1, Silent(), "old").n_sentences == 120


def test_larger_sample_contains_the_smaller_one(files: Path) -> None:
    assert set(read(files, 10)) < set(read(files, 50)) < set(read(files, 119)) < set(read(files))


def test_every_sentence_is_sampled_equally_often(files: Path) -> None:
    counts = Counter(sentence for seed in range(200) for sentence in read(files, 12, seed))
    assert len(counts) == 120
    assert max(counts.values()) <= 40  # 20 are expected, with a standard deviation of 4.2


@given(st.lists(st.text(st.sampled_from("aAbB./- é\n~"), min_size=1, max_size=70), max_size=20, unique=True))
def test_written_documents_have_distinct_names_that_are_found_again(files: list[str]) -> None:
    names = document_names(files)
    assert list(names) == files
    assert len({name.casefold() for name in names.values()}) == len(files)
    for name in names.values():
        assert name.endswith(".txt")
        assert not name.startswith(".")
        assert not set(name) & set("/ \n~")
        assert len(name) < 60
