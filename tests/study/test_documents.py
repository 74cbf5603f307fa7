"""Documents that the tests of compare, discover and trace permute, and repeated sentences."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from lexshift import Result, Siblings, UserError, compare, discover, embed, load, permutation_test, trace
from lexshift.report.methods import methods
from lexshift.utils.monitor import Silent

FAST: dict[str, Any] = {"permutations": 199, "resamples": 5, "repeats": 2, "split": "lines", "space": "raw"}
QUIET: dict[str, Any] = {**FAST, "monitor": False}


class Toy:
    """Encoder whose vector is the sum of hashes of the words of the sentence."""

    def encode(self, sentences: Sequence[str], _spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        return np.array([np.sum([self.vector(word) for word in s.split()], axis=0) for s in sentences], np.float32)

    def vector(self, word: str) -> npt.NDArray[np.float64]:
        return np.frombuffer(hashlib.blake2b(word.encode(), digest_size=16).digest(), np.int8) / 64


EMBED: dict[str, Any] = {"words": ["mouse"], "model": Toy()}


class Notes(Silent):
    """Monitor that records the notes."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def records(period: str, documents: int, each: int, seed: int) -> list[tuple[str, str, str]]:
    """Return sentences of some documents as (document, text, date); those of a document share a topic."""
    rng = np.random.default_rng(seed)
    rows = []
    for document in range(documents):
        topic = f"topic{seed}x{document} " * 3
        texts = [f"the mouse {topic}{rng.integers(9**6)} and bread{i}" for i in range(each)]
        rows += [(f"book {document}", text, period) for text in texts]
    return rows


def write_files(folder: Path, rows: Sequence[tuple[str, str, str]]) -> Path:
    folder.mkdir()
    for name in dict.fromkeys(document for document, *_ in rows):
        lines = [text for document, text, _ in rows if document == name]
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    return folder


def write_table(path: Path, rows: Sequence[tuple[str, str, str]]) -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("book", "text", "date"), *rows])
    return path


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("corpora")
    old, new = (write_files(folder / name, records(name, 10, 8, i)) for i, name in enumerate(("1850", "1950")))
    return old, new


def test_whole_files_are_permuted(folders: tuple[Path, Path], tmp_path: Path) -> None:
    notes = Notes()
    result = compare(*folders, ["mouse"], model=Toy(), out=tmp_path / "r", monitor=notes, **FAST)
    test = result.scores.words["mouse"].test
    documents = [result.siblings["mouse"].occurrences(corpus)["file"].tolist() for corpus in result.siblings.corpora]
    vectors = result.word("mouse").vectors
    assert test == permutation_test(*vectors, "energy", 199, 0, "mouse", documents=(documents[0], documents[1]))
    assert test.unit == "documents"
    assert test.p > 0.05
    assert permutation_test(*vectors, "energy", 199, 0, "mouse").p < 0.01
    run = json.loads((tmp_path / "r" / "run.json").read_text())
    assert run["permuted_units"] == {"documents": 1}
    assert "in which whole documents with all their occurrences of a word were reassigned" in methods(result)[3]
    assert not any("permuted usages" in note for note in notes.notes)
    loaded = load(tmp_path / "r")
    assert isinstance(loaded, Result)
    assert loaded.scores.words["mouse"].test == test


def test_word_in_few_documents_is_tested_by_usages_and_the_run_says_so(tmp_path: Path) -> None:
    corpora = []
    for seed, name in enumerate(("1850", "1950")):
        rows = records(name, 10, 4, seed)
        rows += [("book 0", f"a rare bird {i} {name}", name) for i in range(12)]
        corpora.append(write_files(tmp_path / name, rows))
    notes = Notes()
    result = compare(corpora[0], corpora[1], ["mouse", "bird"], model=Toy(), monitor=notes, **FAST)
    assert {word: scored.test.unit for word, scored in result.scores.words.items()} == {
        "mouse": "documents",
        "bird": "usages",
    }
    assert result.run["permuted_units"] == {"documents": 1, "usages": 1}
    assert "(for 1 of 2 words, found in few documents, single occurrences)" in methods(result)[3]
    assert any(note.startswith("1 of 2 tests permuted usages instead of documents") for note in notes.notes)
    assert result.run["notes"] == [note for note in notes.notes if note in result.run["notes"]] != []


def test_single_file_is_not_a_document_and_there_is_no_note(tmp_path: Path) -> None:
    for seed, name in enumerate(("1850", "1950")):
        (tmp_path / f"{name}.txt").write_text("".join(f"{text}\n" for _, text, _ in records(name, 10, 4, seed)))
    result = compare(tmp_path / "1850.txt", tmp_path / "1950.txt", ["mouse"], model=Toy(), **QUIET)
    assert result.run["permuted_units"] == {"usages": 1}
    assert result.run["notes"] == []
    assert "in which the occurrences of a word were reassigned" in methods(result)[3]


def test_column_of_a_table_names_the_documents(folders: tuple[Path, Path], tmp_path: Path) -> None:
    old = write_table(tmp_path / "1850.csv", records("1850", 10, 8, 0))
    new = write_table(tmp_path / "1950.csv", records("1950", 10, 8, 1))
    result = compare(old, new, ["mouse"], model=Toy(), document_column="book", **QUIET)
    by_file = compare(*folders, ["mouse"], model=Toy(), **QUIET)
    assert result.scores.words["mouse"].test == by_file.scores.words["mouse"].test
    assert result.run["permuted_units"] == {"documents": 1}
    assert set(result.siblings["mouse"].occurrences("old")["document"]) == {f"book {i}" for i in range(10)}
    assert result.run["embedding"]["reading"]["document_column"] == "book"
    assert compare(old, new, ["mouse"], model=Toy(), **QUIET).run["permuted_units"] == {"usages": 1}


@pytest.mark.parametrize("question", [discover, trace])
def test_discover_and_trace_permute_documents(folders: tuple[Path, Path], tmp_path: Path, question: Any) -> None:
    words = {} if question is discover else {"words": ["mouse"]}
    result = question(*folders, model=Toy(), out=tmp_path / "r", **words, **QUIET)
    assert set(result.run["permuted_units"]) == {"documents"}
    again = question(*folders, model=Toy(), out=tmp_path / "r", **words, **QUIET)
    assert again.table.equals(result.table)


def test_records_of_a_corpus_that_is_cut_into_periods_have_documents(tmp_path: Path) -> None:
    rows = [row for i, year in enumerate(("1850", "1950")) for row in records(year, 8, 4, i)]
    table = write_table(tmp_path / "all.csv", rows)
    options: dict[str, Any] = {"date_column": "date", "document_column": "book", "by": "decade"}
    result = trace(table, words=["mouse"], model=Toy(), **options, **QUIET)
    assert result.run["permuted_units"] == {"documents": 1}


def test_record_without_a_document_is_a_document_of_its_own(tmp_path: Path) -> None:
    rows = [("", text, date) for _, text, date in records("1850", 4, 3, 0)]
    store = embed(write_table(tmp_path / "a.csv", rows), document_column="book", **EMBED)
    assert len(set(store.documents)) == 12
    assert store["mouse"].occurrences("a")["document"][0] == "a.csv, record 1"


def test_store_with_other_documents_is_refused(tmp_path: Path) -> None:
    table = write_table(tmp_path / "a.csv", records("1850", 4, 3, 0))
    embed(table, out=tmp_path / "store", **EMBED)
    with pytest.raises(UserError, match="document_column"):
        embed(table, out=tmp_path / "store", document_column="book", **EMBED)


def test_corpus_with_documents_is_added_to_a_store_that_has_them(tmp_path: Path) -> None:
    options: dict[str, Any] = {"out": tmp_path / "store", "document_column": "book", **EMBED}
    for name in ("a", "b"):
        embed(write_table(tmp_path / f"{name}.csv", records(name, 3, 3, 0)), **options)
    table = Siblings(tmp_path / "store").occurrences
    assert set(table["corpus"].to_pylist()) == {"a", "b"}
    assert set(table["document"].to_pylist()) == {"book 0", "book 1", "book 2"}


# Repeated sentences


def repeated(folder: Path, times: int) -> tuple[Path, Path]:
    """Return two corpora of 40 lines without a change, each line of which is repeated."""
    paths = []
    for seed, name in enumerate(("1850", "1950")):
        rng = np.random.default_rng(seed)
        lines = [f"the mouse {rng.integers(9)} {rng.integers(9)} {rng.integers(9**6)} bread" for _ in range(40)]
        paths.append(folder / f"{name}.txt")
        paths[-1].write_text("".join(f"{line}\n" for line in lines * times))
    return paths[0], paths[1]


def test_repeated_lines_do_not_change_a_word(tmp_path: Path) -> None:
    old, new = repeated(tmp_path, 20)
    options = {**FAST, "max_per_word": None, "permutations": 999}
    notes = Notes()
    once = compare(old, new, ["mouse"], model=Toy(), out=tmp_path / "r", monitor=notes, **options)
    keep = compare(old, new, ["mouse"], model=Toy(), duplicates="keep", monitor=False, **options)
    assert once.table["verdict"].tolist() == ["unclear"]
    assert keep.table["verdict"].tolist() == ["changed"]
    assert once.table[["n_old", "n_new"]].to_numpy().tolist() == [[40, 40]]
    assert keep.table[["n_old", "n_new"]].to_numpy().tolist() == [[800, 800]]
    assert [corpus["duplicates"] for corpus in once.run["corpora"]] == [760, 760]
    assert [corpus["duplicates"] for corpus in keep.run["corpora"]] == [0, 0]
    assert "1,520 usages repeat the sentence of another usage" in " ".join(notes.notes)
    assert "Identical sentences of a corpus counted once." in methods(once)[0]
    assert "Identical sentences" not in methods(keep)[0]
    loaded = load(tmp_path / "r")
    assert loaded.table.equals(once.table)
    assert len(Siblings(tmp_path / "r" / "store").group("mouse", "old")) == 800


def test_result_without_repeated_lines_equals_that_of_distinct_lines(tmp_path: Path) -> None:
    for name in ("once", "often"):
        (tmp_path / name).mkdir()
    options = {**QUIET, "max_per_word": None, "senses": True}
    once, often = (
        compare(*repeated(tmp_path / name, times), ["mouse", "bread"], model=Toy(), **options)
        for name, times in (("once", 1), ("often", 3))
    )
    columns = [name for name in once.table if not name.startswith("per_million")]
    assert often.table[columns].equals(once.table[columns])
    for word in ("mouse", "bread"):
        for period in ("old", "new"):
            usages = [result.word(word).usages(period) for result in (once, often)]
            assert usages[1]["sentence"].tolist() == usages[0]["sentence"].tolist()
            assert len(usages[1]["sentence"].unique()) == 40
    assert often.usage_table["sentence"].tolist() == once.usage_table["sentence"].tolist()
    assert often.sense_table.equals(once.sense_table)


def test_repeated_sentences_are_those_of_the_same_word_corpus_and_position(tmp_path: Path) -> None:
    lines = {
        "a": ["a mouse saw a mouse", "a mouse saw a mouse", "A mouse saw a mouse", "bread", "bread"],
        "b": ["a mouse saw a mouse", "bread"],
    }
    for name, text in lines.items():
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in text))
    store = embed(tmp_path / "a.txt", tmp_path / "b.txt", words=["mouse", "bread"], model=Toy(), split="lines")
    distinct = store.without_duplicates()
    for word in store.words:
        for corpus in store.corpora:
            frame = store[word].occurrences(corpus)
            expected = frame.drop_duplicates(["sentence", "start", "end"])
            assert distinct[word].occurrences(corpus).equals(expected.reset_index(drop=True))
            assert np.array_equal(distinct.group(word, corpus), store.group(word, corpus)[expected.index])
            assert distinct.count_usages(word, corpus) == distinct.counts.loc[word, corpus] == len(expected)
            assert distinct.count_repeated([word], corpus) == len(frame) - len(expected)
    assert distinct.counts.to_dict() == {"old": {"mouse": 4, "bread": 1}, "new": {"mouse": 2, "bread": 1}}
    assert store.counts.to_dict() == {"old": {"mouse": 6, "bread": 2}, "new": {"mouse": 2, "bread": 1}}
    assert distinct.count_repeated(["ghost"], "old") == distinct.count_usages("ghost", "old") == 0


def test_word_with_too_few_distinct_sentences_is_not_scored(tmp_path: Path) -> None:
    for name in ("1850", "1950"):
        (tmp_path / f"{name}.txt").write_text(f"a mouse in {name}\n" * 30)
    result = compare(tmp_path / "1850.txt", tmp_path / "1950.txt", ["mouse"], model=Toy(), **QUIET)
    assert result.table["verdict"].tolist() == ["too few"]
    assert result.table["reason"][0].startswith("1 usage in 1850 and 1 usage in 1950")


def test_unknown_treatment_of_duplicates_is_refused() -> None:
    with pytest.raises(UserError, match=r"^duplicates must be one of keep, once; got 'twice'"):
        compare("a.txt", "b.txt", duplicates="twice")
