"""Test embedding corpora into a store: its contents, added words and corpora, and the encoded sentences."""

from __future__ import annotations

import gc
import inspect
import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stores import (
    BOTH,
    NEW,
    OLD,
    WORDS,
    RecordingMonitor,
    Toy,
    assert_holds,
    build_store,
    contents,
    corpora_in,
    expected,
    rows_of,
    write,
)

import lexshift
from lexshift import Siblings, UserError, embed
from lexshift.corpus import Occurrences, Reading, Tally, Targets
from lexshift.corpus.occurrences import SCHEMA
from lexshift.encode import as_encoder
from lexshift.store.embedding import ENCODING, READING, EmbedOptions, make_store
from lexshift.store.plan import gather_occurrences
from lexshift.utils.arrays import Matrix

# ------------------------------------------------------------------------------------------------------------ contents


def test_store_holds_every_occurrence_by_word_corpus_and_position_with_its_vector(tmp_path: Path) -> None:
    toy = Toy()
    store = build_store(tmp_path, model=toy)
    assert_holds(store, expected(WORDS, BOTH))
    assert (store.words, store.corpora, list(store), len(store)) == (WORDS, ["old", "new"], WORDS, 3)
    assert store.counts.to_dict() == {
        "old": {"mouse": 5, "plane": 4, "cell phone": 1},
        "new": {"mouse": 2, "plane": 3, "cell phone": 3},
    }
    assert_holds(Siblings(tmp_path / "store"), expected(WORDS, BOTH))


def test_word_in_a_sentence_is_encoded_once_however_often_the_sentence_occurs(tmp_path: Path) -> None:
    toy = Toy()
    store = build_store(tmp_path, model=toy)
    wanted = {(row[5], (row[6], row[7])) for row in rows_of(store)}
    assert len(toy.requests) == len(set(toy.requests)) == len(wanted) < len(rows_of(store))
    assert set(toy.requests) == wanted


tokens = st.sampled_from(
    [
        "mouse",
        "MOUSE",
        "mice",
        "plane",
        "Plane",
        "cell",
        "phone",
        "cell phone",
        "mousetrap",
        "émile",
        "ÉMILE",
        "мышь",
        "x",
    ]
)
sentences = st.lists(tokens, min_size=1, max_size=7).flatmap(
    lambda words: st.tuples(st.sampled_from([" ", ", ", "\u00a0 ", "-"]), st.sampled_from(["", " ", "\t"])).map(
        lambda parts: parts[1] + parts[0].join(words) + parts[1]
    )
)
texts = st.lists(st.one_of(sentences, st.just("")), max_size=9)


@given(texts, texts, st.integers(1, 200), st.sampled_from(["float32", "float16"]))
def test_store_of_random_corpora_matches_the_definition(
    old: list[str], new: list[str], characters: int, precision: str
) -> None:
    words = ["plane", "mouse", "cell", "cell phone", "émile"]
    old, new = [*old, "the mouse"], [*new, "one x"]
    toy = Toy()
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr("lexshift.store.plan.SHARD_CHARACTERS", characters)
        patch.setattr("os.fsync", lambda _: None)
        paths = write(Path(place, "a.txt"), old), write(Path(place, "b.txt"), new)
        store = embed(*paths, words=words, model=toy, missing="skip", split="lines", precision=precision)
        rows = expected(words, {"old": ("a.txt", old), "new": ("b.txt", new)})
        present = [word for word in words if any(row[0] == word for row in rows)]
        assert store.words == present
        assert_holds(store, rows)
        assert store.vectors.dtype == precision
    wanted = {(row[5], (row[6], row[7])) for row in rows}
    assert len(toy.requests) == len(wanted)
    assert set(toy.requests) == wanted


def test_words_dropped_by_the_encoder_are_omitted_and_counted(tmp_path: Path) -> None:
    toy = Toy(lost="phone")
    store = build_store(tmp_path, model=toy)
    kept = [row for row in expected(WORDS, BOTH) if row[0] != "cell phone"]
    assert_holds(store, kept)
    assert store.words == WORDS
    assert store.counts.loc["cell phone"].tolist() == [0, 0]
    assert store["cell phone"].old.shape == (0, 6)
    reason = "occurrences whose word the tokenizer drops"
    assert store.skipped == {"old": {reason: 1}, "new": {reason: 3}}
    assert [entry["found"] for entry in store.index["words"]] == [[5, 2], [4, 3], [1, 3]]


def test_store_whose_words_are_all_dropped_is_empty_and_can_be_extended(tmp_path: Path) -> None:
    store = build_store(tmp_path, model=Toy(lost="phone"), words=["cell phone"])
    assert_holds(store, [])
    assert store.vectors.shape == (0, 6)
    assert store["cell phone"].occurrences("old").empty
    more = build_store(tmp_path, model=Toy(lost="phone"), words=["mouse"])
    assert_holds(more, expected(["mouse"], BOTH))
    assert more.words == ["cell phone", "mouse"]


def test_half_precision_is_stored_in_half_the_bytes(tmp_path: Path) -> None:
    full, half = build_store(tmp_path, "full"), build_store(tmp_path, "half", precision="float16")
    assert [full.vectors.dtype.name, half.vectors.dtype.name] == ["float32", "float16"]
    np.testing.assert_array_equal(full.vectors, half.vectors.astype(np.float32))
    sizes = [(store.path / "vectors.npy").stat().st_size - 128 for store in (full, half)]
    assert sizes[0] == 2 * sizes[1] == 18 * 6 * 4


def test_numbers_too_large_for_half_precision_are_refused_and_not_stored_as_infinity(tmp_path: Path) -> None:
    class Large(Toy):
        def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
            return super().encode(sentences, spans) + np.float32(1e6)

    assert np.isfinite(build_store(tmp_path, "full", Large()).vectors).all()
    with pytest.raises(UserError, match=r"float16|float32|infinite"):
        build_store(tmp_path, "half", Large(), precision="float16")


def test_word_may_be_in_one_corpus_only(tmp_path: Path) -> None:
    store = build_store(tmp_path, words=["hid", "wing", "mouse"])
    assert store.counts.to_numpy().tolist() == [[1, 0], [0, 1], [5, 2]]
    assert store["hid"].new.shape == (0, 6)
    assert_holds(store, expected(["hid", "wing", "mouse"], BOTH))


def test_forms_dates_and_files_of_a_folder_are_stored(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    (folder / "sub").mkdir(parents=True)
    write(folder / "z.txt", ["two mice", "a mouse"])
    records = [{"text": "mice again", "when": "1914"}, {"text": "none", "when": "1915"}, {"text": "a mouse"}]
    write(folder / "sub" / "b.jsonl", [json.dumps(record) for record in records])
    store = embed(folder, words={"mouse": ["mouse", "mice"]}, model=Toy(), date_column="when")
    assert store.corpora == ["corpus"]
    assert rows_of(store) == [
        ("mouse", "corpus", "sub/b.jsonl", 1, "1914", "mice again", 0, 4),
        ("mouse", "corpus", "sub/b.jsonl", 3, None, "a mouse", 2, 7),
        ("mouse", "corpus", "z.txt", 1, None, "two mice", 4, 8),
        ("mouse", "corpus", "z.txt", 2, None, "a mouse", 2, 7),
    ]


def test_sample_stores_the_number_found_and_a_subset_of_the_rows(tmp_path: Path) -> None:
    full = rows_of(build_store(tmp_path, "full"))
    store = build_store(tmp_path, "sample", max_per_word=2)
    assert store.counts.to_numpy().tolist() == [[2, 2], [2, 2], [1, 2]]
    assert [entry["found"] for entry in store.index["words"]] == [[5, 2], [4, 3], [1, 3]]
    rows = rows_of(store)
    assert set(rows) < set(full)
    assert rows == [row for row in full if row in set(rows)]
    assert_holds(store, rows)
    assert store.skipped == {
        "old": {"occurrences beyond 2 for a word": 5},
        "new": {"occurrences beyond 2 for a word": 2},
    }
    samples = {tuple(rows_of(build_store(tmp_path, f"seed{seed}", max_per_word=2, seed=seed))) for seed in range(4)}
    assert len(samples) > 1


def test_no_limit_is_written_as_none_or_zero(tmp_path: Path) -> None:
    store = build_store(tmp_path, max_per_word=0)
    assert store.fingerprint == build_store(tmp_path, "other", max_per_word=None).fingerprint
    assert store.settings["sampling"] is None


@pytest.mark.parametrize("numbers", [{"max_per_word": np.int64(2)}, {"max_per_word": 2, "seed": np.int64(3)}], ids=str)
def test_numpy_numbers_are_accepted(tmp_path: Path, numbers: dict[str, Any]) -> None:
    plain = {name: int(value) for name, value in numbers.items()}
    assert build_store(tmp_path, "a", **numbers).fingerprint == build_store(tmp_path, "b", **plain).fingerprint


# ---------------------------------------------------------------------------------------------------- words and labels


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["mouse", "unicorn"], "'unicorn' never occurs in the corpora (match: word)"),
        (["mouse", "unicorn", "yeti"], "'unicorn', 'yeti' never occur in the corpora"),
        (["mouse", *(f"w{i}" for i in range(8))], "'w0', 'w1', 'w2', 'w3', 'w4' and 3 more never occur"),
    ],
)
def test_words_that_never_occur_are_an_error_that_names_them(tmp_path: Path, words: list[str], sentence: str) -> None:
    toy = Toy()
    with pytest.raises(UserError, match=re.escape(sentence)):
        build_store(tmp_path, model=toy, words=words)
    assert toy.calls == []


def test_words_that_never_occur_can_be_omitted(tmp_path: Path) -> None:
    recorder = RecordingMonitor()
    store = build_store(tmp_path, words=["unicorn", "plane", "yeti", "mouse"], missing="skip", monitor=recorder)
    assert recorder.notes == ["left out, because they never occur: 'unicorn', 'yeti'"]
    assert_holds(store, expected(["plane", "mouse"], BOTH))
    again = RecordingMonitor()
    build_store(tmp_path, words=["unicorn", "plane", "yeti", "mouse"], missing="skip", monitor=again)
    assert again.notes == [*recorder.notes, "the store is complete already; nothing is encoded"]
    with pytest.raises(UserError, match="none of the words occurs in the corpora"):
        build_store(tmp_path, "none", words=["unicorn", "yeti"], missing="skip")


def test_corpora_are_named_old_and_new_or_by_their_files_or_by_labels(tmp_path: Path) -> None:
    a, b = corpora_in(tmp_path)
    c = write(tmp_path / "c.en.txt", ["the mouse"])
    assert embed(a, words=["mouse"], model=Toy()).corpora == ["a"]
    assert embed(a, b, words=["mouse"], model=Toy()).corpora == ["old", "new"]
    three = embed(a, b, c, words=["mouse"], model=Toy())
    assert three.corpora == ["a", "b", "c"]
    assert_holds(
        three, expected(["mouse"], {"a": ("a.txt", OLD), "b": ("b.txt", NEW), "c": ("c.en.txt", ["the mouse"])})
    )
    np.testing.assert_array_equal(three["mouse"].old, three["mouse"]["a"])
    np.testing.assert_array_equal(three["mouse"].new, three["mouse"]["c"])
    named = embed(a, b, words=["mouse"], model=Toy(), labels=["1914", "[red]"])
    assert_holds(named, expected(["mouse"], {"1914": ("a.txt", OLD), "[red]": ("b.txt", NEW)}))


@pytest.mark.parametrize("labels", [["one"], ["a", "a"], ["a", ""], ["a", "b", "c"], []], ids=str)
def test_labels_must_name_each_corpus_differently(tmp_path: Path, labels: list[str]) -> None:
    with pytest.raises(UserError, match="labels must name each of the 2 corpora, each differently"):
        build_store(tmp_path, labels=labels)


def test_corpus_whose_file_name_is_not_text_can_be_embedded(tmp_path: Path) -> None:
    path = Path(os.fsdecode(bytes(tmp_path) + b"/caf\xe9.txt"))
    path.write_text("a mouse\n")
    store = embed(path, words=["mouse"], model=Toy(), out=tmp_path / "store")
    assert store.counts.to_numpy().tolist() == [[1]]
    assert rows_of(store)[0][2] == "caf\\xe9.txt"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"precision": "float64"}, "precision must be one of float16, float32; got 'float64'"),
        ({"missing": "warn"}, "missing must be one of error, skip"),
        ({"match": "stem"}, "match must be one of"),
        ({"split": "pages"}, "split must be one of"),
        ({"errors": "ignore"}, "errors must be one of"),
        ({"encoding": "klingon"}, "encoding 'klingon' is not known"),
        ({"max_per_word": -1}, "max_per_word must be a whole number of at least 0; got -1"),
        ({"max_per_word": True}, "max_per_word must be a whole number"),
        ({"max_per_word": 2, "seed": -1}, "seed must be a whole number, 0 or more; got -1"),
        ({"layers": "last"}, "layers cannot be set for an encoder that is already made"),
    ],
    ids=str,
)
def test_invalid_values_are_refused(tmp_path: Path, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=re.escape(sentence)):
        build_store(tmp_path, **options)


def test_options_are_those_of_reading_and_of_encoders() -> None:
    from lexshift.encode.huggingface import HuggingFaceEncoder

    of_parts = ("since", "before")  # which split_at sets
    assert tuple(field.name for field in fields(Reading) if field.name not in of_parts) == READING
    encoders = {*inspect.signature(HuggingFaceEncoder).parameters, *inspect.signature(as_encoder).parameters}
    assert set(ENCODING) == encoders - {"model", "tokenizer", "name", "adaptation", "languages", "options"}
    assert set(EmbedOptions.__annotations__) == {*READING, *ENCODING, "precision", "seed", "missing"}


def test_unknown_option_is_named_with_a_suggestion(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="embed has no argument 'precison'; did you mean 'precision'"):
        build_store(tmp_path, precison="float16")


def test_at_least_one_existing_corpus_is_required(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no corpus to read"):
        embed(words=["mouse"], model=Toy())
    with pytest.raises(UserError, match="no such file or folder"):
        embed(tmp_path / "nothing", words=["mouse"], model=Toy(), out=tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_one_corpus_may_be_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a, _ = corpora_in(tmp_path)
    stdin = SimpleNamespace(buffer=io.BytesIO("".join(f"{line}\n" for line in NEW).encode()), isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", stdin)
    store = embed(a, "-", words=WORDS, model=Toy())
    assert_holds(store, expected(WORDS, {"old": ("a.txt", OLD), "new": ("-", NEW)}))
    with pytest.raises(UserError, match=r"standard input .* can be only one"):
        embed("-", "-", words=WORDS, model=Toy())


# ------------------------------------------------------------------------------------------------------------ encoders


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (lambda v: v[:-1], "for 14 words; it must give one row of floats for each"),
        (lambda v: v[:, 0], "of shape (14,)"),
        (lambda v: v.astype(int), "an array of int64"),
        (lambda v: v + np.float32(np.inf), "the encoder gave infinite values"),
        (lambda v: v[:, :0], "the encoder gave vectors of zero dimensions; it must give at least one number"),
        (lambda v: with_nan(v, 5, slice(0, 1)), "the encoder gave NaN among the values of 1 of 14 vectors, first for"),
        (lambda v: with_nan(v, 0, slice(1, None)), "the encoder gave NaN among the values of 1 of 14 vectors"),
        (lambda v: with_nan(v, slice(2, None), slice(5, 6)), "the encoder gave NaN among the values of 12 of 14"),
    ],
)
def test_encoder_output_other_than_one_float_row_per_word_is_refused(
    tmp_path: Path, wrong: Callable[[Matrix], Matrix], sentence: str
) -> None:
    class Wrong(Toy):
        def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
            return wrong(super().encode(sentences, spans))

    with pytest.raises(UserError, match=re.escape(sentence)):
        build_store(tmp_path, model=Wrong())


def with_nan(vectors: Matrix, rows: Any, columns: Any) -> Matrix:
    vectors[rows, columns] = np.nan
    return vectors


def test_only_rows_of_all_nan_are_words_dropped_by_the_encoder(tmp_path: Path) -> None:
    class Nan(Toy):
        def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
            return with_nan(super().encode(sentences, spans), slice(None, None, 2), slice(None))

    store = build_store(tmp_path, model=Nan())
    assert 0 < len(store.vectors) < 18
    assert np.isfinite(store.vectors).all()
    lost = sum(n for corpus in store.skipped.values() for n in corpus.values())
    assert len(store.vectors) + lost == 18


def test_encoder_that_returns_only_nan_is_reported(tmp_path: Path) -> None:
    recorder = RecordingMonitor()
    build_store(tmp_path, model=Toy(lost=" "), words=["cell phone"], monitor=recorder)
    (note,) = [note for note in recorder.notes if "NaN" in note]
    assert re.match(
        r"the encoder gave only NaN, .* for every occurrence \(\d+ in total\): its tokenizer drops these", note
    )
    build_store(tmp_path, "other", monitor=recorder)
    assert len([note for note in recorder.notes if "NaN" in note]) == 1


def test_encoder_whose_vectors_change_their_size_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Growing(Toy):
        def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
            self.size += 1
            return super().encode(sentences, spans)

    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 60)
    with pytest.raises(UserError):
        build_store(tmp_path, model=Growing())


def test_other_float_types_are_converted_to_the_precision(tmp_path: Path) -> None:
    class Double(Toy):
        def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> Any:
            return super().encode(sentences, spans).astype(np.float64)[:, ::-1]

    ours, theirs = build_store(tmp_path, "a", Double()), build_store(tmp_path, "b")
    assert ours.vectors.dtype == np.float32
    np.testing.assert_array_equal(ours.vectors, theirs.vectors[:, ::-1])


def test_connection_failure_of_an_encoder_is_not_reported_as_a_disk_fault(tmp_path: Path) -> None:
    class Remote(Toy):
        def encode(self, *_: Any) -> npt.NDArray[np.float32]:
            raise ConnectionError("the server is gone")

    with pytest.raises((UserError, ConnectionError), match="the server is gone") as caught:
        build_store(tmp_path, model=Remote())
    assert "cannot be written" not in str(caught.value)


@pytest.mark.parametrize("off", [[0.25, 0.0], [0.25, np.nan, 0.0]])
def test_approximate_encoder_is_compared_on_a_sample(tmp_path: Path, off: list[float]) -> None:
    class Approximate(Toy):
        is_approximate = True

        def deviation(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> Matrix:
            assert len(sentences) == len(spans) == 14
            return np.array(off)

    recorder = RecordingMonitor()
    build_store(tmp_path, model=Approximate(), monitor=recorder)
    (note,) = recorder.notes
    assert "int8 is approximate" in note
    assert "0.8750 on average and 0.7500 at worst" in note


def test_stages_of_a_run_are_reported_with_their_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 20)
    recorder, toy = RecordingMonitor(), Toy()
    build_store(tmp_path, model=toy, monitor=recorder)
    sizes = [(tmp_path / name).stat().st_size for name in ("a.txt", "b.txt")]
    distinct = {sentence for sentence, _ in toy.requests}
    characters = sum(map(len, distinct))
    assert recorder.stages == [
        ("reading old", sizes[0], "bytes"),
        ("reading new", sizes[1], "bytes"),
        ("encoding", characters, "sentences"),
        ("writing", 18, "rows"),
    ]
    assert (sizes[0], 0) in recorder.steps
    assert (characters, len(distinct)) in recorder.steps
    assert recorder.steps[-1] == (18, 0)
    assert len(toy.calls) > 3


# ----------------------------------------------------------------------------------------------------- temporary stores


def test_temporary_store_is_deleted_with_its_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    store = embed(*corpora_in(tmp_path), words=WORDS, model=Toy())
    assert store.path.parent == tmp_path
    assert store.path.is_dir()
    path, word = store.path, store["mouse"]
    del store
    gc.collect()
    assert len(word.old) == 5  # the word keeps the store open
    del word
    gc.collect()
    assert not path.exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_temporary_store_is_deleted_if_its_run_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    class Failing(Toy):
        def encode(self, *_: Any) -> npt.NDArray[np.float32]:
            assert list(tmp_path.glob("lexshift-*/unfinished/plan.json"))
            raise error

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(error):
        embed(*corpora_in(tmp_path), words=WORDS, model=Failing())
    assert list(tmp_path.glob("lexshift-*")) == []


# --------------------------------------------------------------------------------------------------------------- adding


def by_row(store: Siblings) -> dict[tuple[Any, ...], bytes]:
    return {row: store.vectors[i].tobytes() for i, row in enumerate(rows_of(store))}


def test_complete_store_is_unchanged(tmp_path: Path) -> None:
    build_store(tmp_path)
    before, toy, recorder = contents(tmp_path / "store"), Toy(), RecordingMonitor()
    store = build_store(tmp_path, model=toy, monitor=recorder, words=[*reversed(WORDS)])
    assert recorder.notes == ["the store is complete already; nothing is encoded"]
    assert (toy.calls, contents(tmp_path / "store")) == ([], before)
    assert_holds(store, expected(WORDS, BOTH))


def test_added_words_are_encoded_and_nothing_else(tmp_path: Path) -> None:
    first = set(rows_of(build_store(tmp_path, words=WORDS[:1])))
    toy = Toy()
    store = build_store(tmp_path, model=toy, words=WORDS[1:])
    assert store.words == WORDS
    assert_holds(store, expected(WORDS, BOTH))
    new = {(row[5], (row[6], row[7])) for row in rows_of(store) if row not in first}
    assert len(toy.requests) == len(new)
    assert set(toy.requests) == new
    assert contents(tmp_path / "store") == contents(build_store(tmp_path, "at once").path)


@pytest.mark.parametrize("again", [False, True], ids=["the new corpus", "all corpora"])
def test_added_corpus_is_encoded_and_nothing_else(tmp_path: Path, again: bool) -> None:
    a, b = corpora_in(tmp_path)
    embed(a, words=WORDS, model=Toy(), out=tmp_path / "store", labels=["old"])
    toy = Toy()
    corpora, labels = ((a, b), ["old", "new"]) if again else ((b,), ["new"])
    store = embed(*corpora, words=WORDS, model=toy, out=tmp_path / "store", labels=labels)
    assert_holds(store, expected(WORDS, BOTH))
    known = {(row[5], (row[6], row[7])) for row in rows_of(store) if row[1] == "old"}
    new = {(row[5], (row[6], row[7])) for row in rows_of(store) if row[1] == "new"} - known
    assert len(toy.requests) == len(new)
    assert set(toy.requests) == new
    assert contents(tmp_path / "store") == contents(build_store(tmp_path, "at once").path)


def test_corpus_added_alone_keeps_the_metadata_of_the_others(tmp_path: Path) -> None:
    a, b = corpora_in(tmp_path)
    options: dict[str, Any] = {"words": WORDS, "max_per_word": 2}
    embed(a, **options, model=Toy(lost="phone"), out=tmp_path / "store", labels=["old"])
    store = embed(b, **options, model=Toy(lost="phone"), out=tmp_path / "store", labels=["new"])
    once = build_store(tmp_path, "at once", Toy(lost="phone"), max_per_word=2)
    assert store.index["corpora"] == once.index["corpora"]
    assert store.index["words"] == once.index["words"]
    assert contents(store.path) == contents(once.path)


def test_words_and_a_corpus_can_be_added_together(tmp_path: Path) -> None:
    a, b = corpora_in(tmp_path)
    c = write(tmp_path / "c.txt", ["a plane", "the cell phone of the mouse"])
    embed(a, c, words=["plane"], model=Toy(), out=tmp_path / "store", labels=["old", "third"])
    toy = Toy()
    store = embed(
        a,
        b,
        c,
        words=["mouse", "plane", "cell phone"],
        model=toy,
        out=tmp_path / "store",
        labels=["old", "new", "third"],
    )
    assert (store.words, store.corpora) == (["plane", "mouse", "cell phone"], ["old", "new", "third"])
    assert Siblings(store.path).corpora == ["old", "third", "new"]
    files = {
        "old": ("a.txt", OLD),
        "third": ("c.txt", ["a plane", "the cell phone of the mouse"]),
        "new": ("b.txt", NEW),
    }
    assert_holds(store, expected(["plane", "mouse", "cell phone"], files))
    once = embed(a, b, c, words=WORDS, model=Toy(), labels=["old", "new", "third"])
    assert by_row(store) == by_row(once)
    assert len(toy.requests) == len(set(toy.requests)) < len({row[5:] for row in rows_of(once)})
    assert not any(
        (row[5], (row[6], row[7])) in set(toy.requests) for row in rows_of(store) if row[:2] == ("plane", "old")
    )


def test_adding_known_words_encodes_nothing(tmp_path: Path) -> None:
    a, _ = corpora_in(tmp_path)
    copy = write(tmp_path / "copy.txt", OLD)
    embed(a, words=WORDS, model=Toy(), out=tmp_path / "store")
    toy = Toy()
    store = embed(copy, words=WORDS, model=toy, out=tmp_path / "store")
    assert toy.calls == []
    assert_holds(store, expected(WORDS, {"a": ("a.txt", OLD), "copy": ("copy.txt", OLD)}))


def test_words_are_added_to_all_corpora_or_to_none(tmp_path: Path) -> None:
    build_store(tmp_path, words=["mouse"])
    before = contents(tmp_path / "store")
    with pytest.raises(UserError, match=r"to add words to the store .* give all of its corpora: new is missing"):
        embed(tmp_path / "a.txt", words=WORDS, model=Toy(), out=tmp_path / "store", labels=["old"])
    assert contents(tmp_path / "store") == before


def test_word_with_other_forms_is_refused(tmp_path: Path) -> None:
    build_store(tmp_path, words={"mouse": ["mouse", "mice"]})
    with pytest.raises(UserError, match="has 'mouse' with the forms mouse, mice, not mouse; choose another folder"):
        build_store(tmp_path, words=["mouse"])


def test_store_open_while_a_corpus_is_added_never_returns_wrong_rows(tmp_path: Path) -> None:
    a, b = corpora_in(tmp_path)
    embed(b, words=WORDS, model=Toy(), out=tmp_path / "store", labels=["new"])
    opened, untouched = Siblings(tmp_path / "store"), Siblings(tmp_path / "store")
    rows, vectors = rows_of(opened), opened["plane"].new.copy()
    embed(a, words=WORDS, model=Toy(), out=tmp_path / "store", labels=["old"])
    assert rows_of(opened) == rows
    np.testing.assert_array_equal(opened["plane"].new, vectors)
    try:  # unread data may be missing, but it must not be wrong
        sentences_now = untouched["plane"].occurrences("new")["sentence"].tolist()
    except UserError:
        return
    assert sentences_now == [row[5] for row in rows if row[0] == "plane"]


def test_store_of_a_tiny_model_has_the_vectors_of_the_model(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "mouse", "plane", "a", "ran", "##s", "under", "."]
    tokenizer = transformers.BertTokenizerFast(
        vocab={piece: i for i, piece in enumerate(vocabulary)}, model_max_length=64
    )
    torch.manual_seed(0)
    shape = {"hidden_size": 8, "num_hidden_layers": 4, "num_attention_heads": 2, "intermediate_size": 12}
    model = transformers.BertModel(
        transformers.BertConfig(vocab_size=len(vocabulary), max_position_embeddings=64, **shape)
    )
    pair = (model.eval(), tokenizer)
    a, b = corpora_in(tmp_path)
    store = embed(a, b, words=["mouse", "plane"], model=pair, out=tmp_path / "store", layers="last", device="cpu")
    assert store.settings["encoder"]["layers"] == "last"
    encoder = lexshift.encode.as_encoder(pair, layers="last", device="cpu")
    rows = rows_of(store)
    assert rows == expected(["mouse", "plane"], BOTH)
    theirs = encoder.encode([row[5] for row in rows], [(row[6], row[7]) for row in rows])
    np.testing.assert_allclose(store.vectors, theirs, atol=1e-5)
    before = contents(store.path)
    again = embed(a, b, words=["plane"], model=pair, out=tmp_path / "store", layers="last", device="cpu")
    assert contents(again.path) == before
    with pytest.raises(UserError, match="was made with layers 'last', not 'mean:4'"):
        embed(a, b, words=["plane"], model=pair, out=tmp_path / "store", device="cpu")


# ----------------------------------------------------------------------------------------------------------- many words


class Counted(str):
    """Word that counts its comparisons with other words."""

    compared = 0
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_omitting_words_takes_time_linear_in_their_number() -> None:
    words = [Counted(f"word{i}") for i in range(2000)]
    targets = Targets({word: (word,) for word in words}, "word")
    nowhere = SCHEMA.empty_table()
    found = {"old": Occurrences(nowhere, (np.arange(2000) % 10 == 0).astype(int), Tally(), "0" * 64)}
    settings = {"precision": "float32"}
    Counted.compared = 0
    store = make_store(
        None, targets, settings, Toy(), lambda _: found, RecordingMonitor(), labels=["old"], missing="skip"
    )
    assert store.words == words[::10]
    assert Counted.compared < 10 * len(words)


def test_copying_words_of_a_store_takes_time_linear_in_their_number(tmp_path: Path) -> None:
    words = [f"word{i}" for i in range(300)]
    path = write(tmp_path / "a.txt", [f"the {word} is here" for word in words])
    store = embed(path, words=words, model=Toy(), out=tmp_path / "store")
    store.words = [Counted(word) for word in words]
    Counted.compared = 0
    contents = gather_occurrences({word: (word,) for word in words}, words, {}, store)
    assert contents.counts.tolist() == contents.found.tolist() == [[1]] * len(words)
    assert Counted.compared < 10 * len(words)


def test_store_inside_a_corpus_is_refused(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    for name in ("old/text.txt", "new.txt"):
        (tmp_path / name).write_text("The mouse ran.\n", "utf-8")
    with pytest.raises(UserError, match=r"lies in the folder of the corpus '.*old', so the next run would read them"):
        embed(tmp_path / "old", tmp_path / "new.txt", words=["mouse"], model=object(), out=tmp_path / "old" / "store")
