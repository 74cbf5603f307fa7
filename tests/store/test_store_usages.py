"""Test embedding given usages into a store: its contents, the encoded sentences, and refused input."""

from __future__ import annotations

import gc
import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift import Siblings, UserError, embed_usages
from lexshift.utils.arrays import Matrix

Usage: TypeAlias = tuple[str, str, str, int, int]
Work: TypeAlias = list[tuple[str, tuple[int, int]]]

USAGES: list[Usage] = [
    ("mouse", "new", "click the mouse", 10, 15),
    ("plane", "old", "a plane on the plain", 2, 7),
    ("mouse", "old", "the mouse and the mouse", 4, 9),
    ("mouse", "old", "the mouse and the mouse", 18, 23),
    ("plane", "new", "a plane", 2, 7),
    ("mouse", "old", "a mouse", 2, 7),
    ("plane", "old", "a plane", 2, 7),
    ("mouse", "new", "mice", 0, 4),
    ("plane", "new", "a plane", 2, 7),
]
NAMES = ["word", "corpus", "sentence", "start", "end"]
COLUMNS = ["word", "corpus", "file", "line", "date", "sentence", "start", "end"]


class Toy:
    """Encoder whose vectors are hashes of the sentence and the span; it records its requests."""

    def __init__(self, name: str = "toy", *, stop_at: int | None = None) -> None:
        self.settings = {"model": name}
        self.calls: list[Work] = []
        self.stop_at = stop_at

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        work = list(zip(sentences, spans, strict=True))
        self.calls.append(work)
        if len(self.calls) == self.stop_at:
            raise KeyboardInterrupt
        return np.array([vector(sentence, *span) for sentence, span in work], np.float32)

    @property
    def requests(self) -> Work:
        return [item for call in self.calls for item in call]


class RecordingMonitor:
    """Monitor that records its events."""

    def __init__(self) -> None:
        self.stages: list[str] = []
        self.notes: list[str] = []

    def stage(self, name: str, total: int, unit: str) -> None:
        self.stages.append(f"{name} {total} {unit}")

    def advance(self, done: int, items: int = 0, status: str = "") -> None:
        pass

    def note(self, text: str) -> None:
        self.notes.append(text)


def vector(sentence: str, start: int, end: int) -> Matrix:
    """Return numbers that float16 represents exactly."""
    key = hashlib.blake2b(f"{start} {end} {sentence}".encode(), digest_size=5).digest()
    return np.frombuffer(key, np.int8).astype(np.float32) / 16


def frame(usages: Sequence[Usage] = USAGES, **more: Any) -> pd.DataFrame:
    return pd.DataFrame(list(usages), columns=NAMES).assign(**more)


def ordered(usages: Sequence[Usage], labels: Sequence[str] | None = None) -> list[Usage]:
    """Sort usages by first appearance of the word, then by corpus, then by position."""
    words = list(dict.fromkeys(usage[0] for usage in usages))
    corpora = list(labels or dict.fromkeys(usage[1] for usage in usages))
    return [usage for word in words for label in corpora for usage in usages if usage[:2] == (word, label)]


def rows_of(store: Siblings) -> list[Usage]:
    assert store.occurrences.column_names == COLUMNS
    return [tuple(row.values()) for row in store.occurrences.select(NAMES).to_pylist()]


def assert_holds(store: Siblings, usages: Sequence[Usage]) -> None:
    """Check that a store has exactly these usages in order with their vectors, and that its index locates them."""
    assert rows_of(store) == list(usages)
    wanted = np.array([vector(*usage[2:]) for usage in usages], store.vectors.dtype)
    np.testing.assert_array_equal(store.vectors, wanted)
    for word in store.words:
        for label in store.corpora:
            begin, end = store.rows(word, label)
            assert list(range(begin, end)) == [i for i, usage in enumerate(usages) if usage[:2] == (word, label)]
            np.testing.assert_array_equal(store[word][label], wanted[begin:end])
    store.check()


def files_in(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder, except the lock."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(files)}


# ------------------------------------------------------------------------------------------------------------ contents


@pytest.mark.parametrize("kind", ["frame", "table", "chunks", "categories"])
def test_store_holds_the_usages_by_word_and_corpus_in_their_order(tmp_path: Path, kind: str) -> None:
    usages: Any = frame()
    if kind == "categories":
        usages = usages.astype({"word": "category", "corpus": "category", "sentence": "category"})
    if kind in ("table", "chunks"):
        usages = pa.Table.from_pandas(usages, preserve_index=False)
    if kind == "chunks":
        usages = pa.concat_tables([usages.slice(0, 4), usages.slice(4)])
    store = embed_usages(usages, Toy(), tmp_path / "store")
    assert (store.words, store.corpora) == (["mouse", "plane"], ["new", "old"])
    assert_holds(store, ordered(USAGES))
    assert_holds(Siblings(tmp_path / "store"), ordered(USAGES))
    assert store.counts.to_dict() == {"new": {"mouse": 2, "plane": 2}, "old": {"mouse": 3, "plane": 2}}
    assert [entry["forms"] for entry in store.index["words"]] == [["mouse"], ["plane"]]
    assert [entry["found"] for entry in store.index["words"]] == [[2, 3], [2, 2]]


def test_frame_and_table_give_the_same_store(tmp_path: Path) -> None:
    index = pd.Index(range(90, 99), name="word of its own")
    embed_usages(frame().set_index(index), Toy(), tmp_path / "a")
    embed_usages(pa.Table.from_pandas(frame(), preserve_index=False), Toy(), tmp_path / "b")
    assert files_in(tmp_path / "a") == files_in(tmp_path / "b")


def test_labels_set_the_order_of_corpora(tmp_path: Path) -> None:
    store = embed_usages(frame(), Toy(), tmp_path / "store", labels=["old", "new"])
    assert store.corpora == ["old", "new"]
    assert_holds(store, ordered(USAGES, ["old", "new"]))
    np.testing.assert_array_equal(store["mouse"].old, store["mouse"]["old"])
    np.testing.assert_array_equal(store["mouse"].new, [vector("click the mouse", 10, 15), vector("mice", 0, 4)])


def test_label_may_have_no_usages(tmp_path: Path) -> None:
    store = embed_usages(frame(), Toy(), tmp_path / "store", labels=["old", "between", "new"])
    assert store.corpora == ["old", "between", "new"]
    assert_holds(store, ordered(USAGES, ["old", "new"]))
    assert store["plane"]["between"].shape == (0, 5)


def test_corpora_may_be_numbers(tmp_path: Path) -> None:
    years = frame().assign(corpus=[2010 if corpus == "new" else 1950 for corpus in frame()["corpus"]])
    store = embed_usages(years, Toy(), tmp_path / "store", labels=[1950, 2010])  # type: ignore[list-item]
    assert store.corpora == ["1950", "2010"]
    assert store.counts["1950"].tolist() == [3, 2]


def test_word_may_occur_in_one_corpus_only(tmp_path: Path) -> None:
    lonely: list[Usage] = [*USAGES, ("barn", "old", "in the barn", 7, 11)]
    store = embed_usages(frame(lonely), Toy(), tmp_path / "store", labels=["old", "new"])
    assert_holds(store, ordered(lonely, ["old", "new"]))
    assert (store["barn"].old.shape, store["barn"].new.shape) == ((1, 5), (0, 5))


words = st.sampled_from(["mouse", "plane", "мышь", "ℵ𝔸"])
sentences = st.sampled_from(["a b c", "мышь  и кот", "ℵ𝔸 is no word", "x y"])
random_usages = st.lists(
    st.tuples(words, st.sampled_from(["old", "new"]), sentences, st.integers(0, 1), st.integers(2, 3)),
    min_size=1,
    max_size=15,
)


@given(random_usages, st.sampled_from(["float32", "float16"]), st.integers(1, 30))
def test_store_of_random_usages_holds_the_usages_in_their_order(
    usages: list[Usage], precision: str, characters: int
) -> None:
    toy = Toy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lexshift.store.plan.SHARD_CHARACTERS", characters)
        patch.setattr("os.fsync", lambda _: None)
        store = embed_usages(frame(usages), toy, precision=precision)
    assert store.vectors.dtype == precision
    assert_holds(store, ordered(usages))
    wanted = {(sentence, (start, end)) for _, _, sentence, start, end in usages}
    assert len(toy.requests) == len(wanted)
    assert set(toy.requests) == wanted


def test_files_lines_and_dates_are_stored(tmp_path: Path) -> None:
    more: dict[str, Any] = {
        "file": [f"{i}.txt" for i in range(9)],
        "line": range(9),
        "date": [f"19{i}0" for i in range(9)],
    }
    store = embed_usages(frame(USAGES, **more), Toy(), tmp_path / "store")
    for row, usage in zip(store.occurrences.to_pylist(), ordered(USAGES), strict=True):
        at = int(row["line"])
        assert (row["file"], row["date"], USAGES[at]) == (f"{at}.txt", f"19{at}0", usage)
    assert store["plane"].occurrences("old")["line"].tolist() == [1, 6]
    assert [entry["files"] for entry in store.index["corpora"]] == [4, 5]


def test_missing_columns_are_empty_and_others_are_ignored(tmp_path: Path) -> None:
    store = embed_usages(frame(grouping=1, context="x"), Toy(), tmp_path / "store")
    for row in store.occurrences.to_pylist():
        assert (row["file"], row["line"], row["date"]) == ("", 0, None)


def test_dates_files_and_lines_may_be_missing_in_some_rows(tmp_path: Path) -> None:
    some: dict[str, Any] = {
        "file": ["a.txt", *[None] * 8],
        "line": [7.0, *[np.nan] * 8],
        "date": [None, "1950", *[None] * 7],
    }
    store = embed_usages(frame(USAGES, **some), Toy(), tmp_path / "store")
    rows = store.occurrences.select(["file", "line", "date"]).to_pylist()
    values = [tuple(row.values()) for row in rows]
    at = ordered(USAGES).index(USAGES[1])
    assert values[0] == ("a.txt", 7, None)
    assert values[at] == ("", 0, "1950")
    assert set(values) - {values[0], values[at]} == {("", 0, None)}


def test_corpus_metadata_counts_distinct_sentences(tmp_path: Path) -> None:
    store = embed_usages(frame(), Toy(), tmp_path / "store", labels=["old", "new"])
    for entry in store.index["corpora"]:
        distinct = {usage[2] for usage in USAGES if usage[1] == entry["label"]}
        assert entry["passages"] == len(distinct)
        assert entry["words"] == sum(len(sentence.split()) for sentence in distinct)
        assert entry["bytes"] == sum(len(sentence.encode()) for sentence in distinct)
        assert (entry["files"], entry["splits"], entry["skipped"]) == (1, {}, {})
    assert [entry["passages"] for entry in store.index["corpora"]] == [4, 3]
    assert [entry["words"] for entry in store.index["corpora"]] == [14, 6]
    assert store.settings == {"encoder": {"model": "toy"}, "usages": "given", "precision": "float32"}


# --------------------------------------------------------------------------------------------------- encoded sentences


def test_word_in_a_sentence_is_encoded_once_however_often_it_is_given(tmp_path: Path) -> None:
    toy = Toy()
    embed_usages(frame(), toy, tmp_path / "store")
    assert len(toy.requests) == len(set(toy.requests)) == 7 < len(USAGES)
    assert set(toy.requests) == {(sentence, (start, end)) for _, _, sentence, start, end in USAGES}


def test_complete_store_is_unchanged(tmp_path: Path) -> None:
    embed_usages(frame(), Toy(), tmp_path / "store")
    before, toy, recorder = files_in(tmp_path / "store"), Toy(), RecordingMonitor()
    store = embed_usages(frame(), toy, tmp_path / "store", monitor=recorder)
    assert toy.calls == []
    assert files_in(tmp_path / "store") == before
    assert recorder.notes == ["the store is complete already; nothing is encoded"]
    assert_holds(store, ordered(USAGES))


def test_interleaved_usages_of_words_give_the_same_store(tmp_path: Path) -> None:
    embed_usages(frame(), Toy(), tmp_path / "store")
    toy = Toy()
    embed_usages(frame(ordered(USAGES)), toy, tmp_path / "store")
    assert toy.calls == []


@pytest.mark.parametrize("stop_at", [1, 2, 4])
def test_resumed_run_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_at: int) -> None:
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 1)
    whole = Toy()
    embed_usages(frame(), whole, tmp_path / "whole")
    assert len(whole.calls) == 6  # one shard per sentence
    stopped, rest = Toy(stop_at=stop_at), Toy()
    with pytest.raises(KeyboardInterrupt):
        embed_usages(frame(), stopped, tmp_path / "store")
    assert (tmp_path / "store" / "unfinished" / "plan.json").exists()
    store = embed_usages(frame(), rest, tmp_path / "store")
    assert stopped.calls[:-1] + rest.calls == whole.calls
    assert files_in(tmp_path / "store") == files_in(tmp_path / "whole")
    assert_holds(store, ordered(USAGES))


def test_progress_is_reported_in_sentences(tmp_path: Path) -> None:
    recorder = RecordingMonitor()
    embed_usages(frame(), Toy(), tmp_path / "store", monitor=recorder)
    assert (
        recorder.stages[0] == f"encoding {sum(len(sentence) for sentence in {usage[2] for usage in USAGES})} sentences"
    )


def test_encoder_is_chosen_by_the_language_of_the_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def load(model: str, *, languages: list[str | None]) -> Toy:
        calls.append((model, languages))
        return Toy(model)

    monkeypatch.setattr("lexshift.store.embedding.as_encoder", load)
    sentence, recorder = "It was the mouse that was in the house of the cat.", RecordingMonitor()
    rows = [("mouse", corpus, sentence, 11, 16) for corpus in ("old", "new")]
    store = embed_usages(pd.DataFrame(rows, columns=NAMES), monitor=recorder)
    assert calls == [("minilm-senses", ["en"])]
    assert store.settings["encoder"] == {"model": "minilm-senses"}
    assert recorder.notes[0] == "the encoder is minilm-senses, because the text is in English (--model auto)"


def test_temporary_store_is_deleted_with_the_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    store = embed_usages(frame(), Toy())
    path = store.path
    assert path.parent == tmp_path
    assert_holds(store, ordered(USAGES))
    del store
    gc.collect()
    assert not path.exists()


def test_temporary_store_is_deleted_if_its_run_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        embed_usages(frame(), Toy(stop_at=1))
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------------------------------ refused input


@pytest.mark.parametrize(
    "usages",
    [
        frame([*USAGES, ("mouse", "old", "one more mouse", 9, 14)]),
        frame(USAGES[:-1]),
        frame([*USAGES[:-1], ("plane", "new", "a plane", 0, 1)]),
        frame(date=["1950"] * 9),
        frame(file=["other.txt"] * 9),
        frame().assign(corpus=["old" if corpus == "new" else "new" for corpus in frame()["corpus"]]),
        frame().replace({"word": {"plane": "plain"}}),
    ],
    ids=["more", "fewer", "another span", "dates", "files", "the corpora changed places", "another word"],
)
def test_other_usages_in_the_same_folder_are_refused(tmp_path: Path, usages: pd.DataFrame) -> None:
    folder = tmp_path / "store"
    embed_usages(frame(), Toy(), folder)
    before, toy = files_in(folder), Toy()
    with pytest.raises(UserError) as caught:
        embed_usages(usages, toy, folder)
    assert str(caught.value) == (f"the store {str(folder)!r} was made from other usages; choose another folder (--out)")
    assert toy.calls == []
    assert files_in(folder) == before


def test_another_model_or_precision_in_the_same_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    embed_usages(frame(), Toy(), folder)
    for model, options in ((Toy("other"), {}), (Toy(), {"precision": "float16"})):
        with pytest.raises(UserError, match=r"was made with .*; choose another folder \(--out\)$"):
            embed_usages(frame(), model, folder, **options)  # type: ignore[arg-type]
        assert model.calls == []


@pytest.mark.parametrize("name", NAMES)
def test_missing_column_is_named(name: str) -> None:
    others = ", ".join(column for column in NAMES if column != name)
    with pytest.raises(UserError) as caught:
        embed_usages(frame().drop(columns=name), Toy())
    assert str(caught.value) == f"usages have no column {name!r}; they have {others}"


@pytest.mark.parametrize(("start", "end"), [(-1, 3), (3, 3), (5, 4), (0, 8), (7, 8)])
def test_span_outside_of_its_sentence_is_reported_with_the_usage(start: int, end: int) -> None:
    usages: list[Usage] = [*USAGES[:4], ("plane", "new", "a plane", start, end)]
    with pytest.raises(UserError) as caught:
        embed_usages(frame(usages), Toy())
    assert str(caught.value) == f"usage 4 of 'plane': {start} to {end} is not within its sentence"


def test_spans_are_in_characters_and_may_reach_the_end_of_the_sentence() -> None:
    usages: list[Usage] = [("мышь", "old", "𝔸 мышь", 2, 6)]
    assert_holds(embed_usages(frame(usages), Toy()), usages)


@pytest.mark.parametrize("name", ["word", "sentence", "start", "end"])
def test_incomplete_usage_is_reported(name: str) -> None:
    usages = frame().astype(object)
    usages.loc[3, name] = None
    with pytest.raises(UserError, match=r"^usage 3 lacks a word, a sentence or a span$"):
        embed_usages(usages, Toy())


def test_usage_without_a_corpus_is_refused() -> None:
    usages = frame()
    usages.loc[3, "corpus"] = None
    with pytest.raises(UserError):
        embed_usages(usages, Toy())


@pytest.mark.parametrize("labels", [["old"], ["old", "new", "old"], ["old", "newer"]])
def test_labels_must_name_each_corpus_once(labels: list[str]) -> None:
    message = f"labels must name each corpus of the usages once; got {', '.join(labels)}"
    with pytest.raises(UserError) as caught:
        embed_usages(frame(), Toy(), labels=labels)
    assert str(caught.value) == message


@pytest.mark.parametrize("start", ["two", 2.5])
def test_non_integer_span_is_refused_in_one_sentence(start: Any) -> None:
    usages = frame().astype({"start": object})
    usages["start"] = [start] * len(usages)
    with pytest.raises(UserError, match="start"):
        embed_usages(usages, Toy())


def test_store_of_no_usages_is_empty_and_can_be_opened(tmp_path: Path) -> None:
    toy = Toy()
    store = embed_usages(frame([]), toy, tmp_path / "store", labels=["old", "new"])
    assert (store.words, store.corpora, len(store.vectors), toy.calls) == ([], ["old", "new"], 0, [])
    assert Siblings(tmp_path / "store").words == []
    store.check()


def test_unknown_precision_is_refused_before_anything_is_encoded() -> None:
    toy = Toy()
    with pytest.raises(UserError, match=r"^precision must be one of float16, float32; got 'float64'"):
        embed_usages(frame(), toy, precision="float64")
    assert toy.calls == []
