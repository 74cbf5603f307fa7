"""Test an opened store: its words and vectors, and the detection of damage."""

from __future__ import annotations

import hashlib
import json
import mmap
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stores import BOTH, WORDS, Toy, build_store, contents, expected, rows_of

from lexshift import SSCD, Siblings, UserError, embed
from lexshift.store.format import seal

FILES = ("store.json", "occurrences.parquet", "vectors.npy")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return build_store(tmp_path).path


# ------------------------------------------------------------------------------------------------------------- reading


def test_vectors_of_a_word_are_read_only_views_of_the_file(folder: Path) -> None:
    store = Siblings(folder)
    for word in WORDS:
        for view in (store[word].old, store[word].new, store[word]["old"], store[word]["new"]):
            assert np.shares_memory(view, store.vectors)
            assert not view.flags.owndata
            assert not view.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                view[0] = 0
    base: Any = store.vectors
    while isinstance(base, np.ndarray):
        assert not base.flags.writeable
        base = base.base
    while isinstance(base, memoryview):
        assert base.readonly
        base = base.obj
    assert isinstance(base, mmap.mmap)


def test_rows_of_a_word_are_contiguous_by_corpus(folder: Path) -> None:
    store = Siblings(folder)
    bounds = [store.rows(word, label) for word in WORDS for label in ("old", "new")]
    assert [begin for begin, _ in bounds] == [0, *(end for _, end in bounds[:-1])]
    assert bounds[-1][1] == len(store.vectors) == store.index["rows"] == 18


def test_word_can_be_scored_directly(folder: Path) -> None:
    word = Siblings(folder)["mouse"]
    ours = SSCD(metric="cosine").score(word.old, word.new)
    theirs = SSCD(metric="cosine").score(np.array(word.old), np.array(word.new))
    assert ours.score == theirs.score
    assert np.isfinite(ours.score)


def test_occurrences_of_a_word_in_a_corpus_are_a_frame(folder: Path) -> None:
    store = Siblings(folder)
    frame = store["plane"].occurrences("new")
    assert list(frame.columns) == ["file", "line", "date", "sentence", "start", "end"]
    wanted = [row for row in expected(WORDS, BOTH) if row[:2] == ("plane", "new")]
    assert len(frame) == len(store["plane"].new) == len(wanted) == 3
    for (_, row), place in zip(frame.iterrows(), wanted, strict=True):
        assert (row["file"], row["line"], row["sentence"], row["start"], row["end"]) == (*place[2:4], *place[5:])
        assert row["sentence"][row["start"] : row["end"]].lower() == "plane"


def test_store_is_a_mapping_of_words(folder: Path) -> None:
    store = Siblings(str(folder))
    assert list(store.keys()) == WORDS
    assert ("mouse" in store, "unicorn" in store) == (True, False)
    assert [word.word for word in store.values()] == WORDS
    with pytest.raises(KeyError, match="has no word 'unicorn'"):
        store["unicorn"]
    with pytest.raises(KeyError, match="has no corpus 'third'; it has old, new"):
        store["mouse"]["third"]
    assert repr(store) == f"Siblings({str(folder)!r}: 3 words, 18 vectors of 6 dimensions)"
    assert repr(store["plane"]) == "WordSiblings('plane': 4 in old, 3 in new)"
    assert store.counts.index.name == "word"


def test_opening_a_store_does_not_import_the_encoder_libraries(folder: Path) -> None:
    code = (
        "import sys, lexshift\n"
        "store = lexshift.Siblings(sys.argv[1])\n"
        "store.check()\n"
        "store['mouse'].occurrences('old')\n"
        "assert not {'torch', 'transformers', 'numba'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, str(folder)], check=True, timeout=60)


# -------------------------------------------------------------------------------------------------------- other folders


def test_folder_that_is_not_a_store_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"the store .*nothing' is not there"):
        Siblings(tmp_path / "nothing")
    with pytest.raises(UserError, match="is not a store of sibling embeddings"):
        Siblings(tmp_path)
    (tmp_path / "file").write_text("text")
    with pytest.raises(UserError, match="cannot be read: Not a directory"):
        Siblings(tmp_path / "file")


def test_unfinished_store_is_reported_as_unfinished(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        build_store(tmp_path, model=Toy(stop_at=1))
    with pytest.raises(UserError, match="It holds unfinished work: run the same command again to finish it"):
        Siblings(tmp_path / "store")


@pytest.mark.parametrize("version", [0, 2, "1", None, [1]])
def test_store_of_another_format_is_refused_with_its_version(folder: Path, version: Any) -> None:
    index = json.loads((folder / "store.json").read_bytes())
    (folder / "store.json").write_bytes(seal({**index, "format": version}))
    before = contents(folder)
    sentence = f"the store {str(folder)!r} has format {version}; this version of lexshift reads 1"
    with pytest.raises(UserError, match=re.escape(sentence)):
        Siblings(folder)
    with pytest.raises(UserError, match=re.escape(sentence)):
        build_store(folder.parent)
    assert contents(folder) == before


# -------------------------------------------------------------------------------------------------------------- damage


def flip(path: Path, position: int, bits: int = 1) -> None:
    data = bytearray(path.read_bytes())
    data[position] ^= bits
    path.write_bytes(data)


@pytest.mark.slow
@pytest.mark.parametrize("bits", [0x01, 0x80])
def test_flipped_byte_of_the_index_is_detected_anywhere(folder: Path, bits: int) -> None:
    path = folder / "store.json"
    good = path.read_bytes()
    for position in range(len(good)):
        flip(path, position, bits)
        with pytest.raises(UserError) as caught:
            Siblings(folder)
        assert str(folder) in str(caught.value)
        path.write_bytes(good)
    assert rows_of(Siblings(folder)) == expected(WORDS, BOTH)


def test_flipped_byte_that_breaks_a_character_is_detected(tmp_path: Path) -> None:
    folder = build_store(tmp_path, labels=["Xud800", "new"]).path
    position = (folder / "store.json").read_bytes().index(b"Xud800")
    flip(folder / "store.json", position, ord("X") ^ ord("\\"))
    with pytest.raises(UserError, match="is damaged"):
        Siblings(folder)


def test_flipped_byte_of_the_occurrences_is_detected_on_opening(folder: Path) -> None:
    path = folder / "occurrences.parquet"
    good = path.read_bytes()
    for position in [*range(0, len(good), 37), len(good) - 1]:
        flip(path, position, 0x10)
        with pytest.raises(
            UserError,
            match=r"occurrences.parquet' is not what lexshift wrote: the file is damaged",
        ):
            Siblings(folder)
        path.write_bytes(good)
    Siblings(folder)


def test_flipped_byte_of_the_vectors_is_detected_for_its_word_only(folder: Path) -> None:
    path = folder / "vectors.npy"
    good = path.read_bytes()
    begin = len(good) - 18 * 6 * 4
    for position in range(0, begin, 5):
        flip(path, position)
        with pytest.raises(UserError, match=r"vectors.npy' is not what lexshift wrote: the file is damaged"):
            Siblings(folder)
        path.write_bytes(good)
    rows = expected(WORDS, BOTH)
    for position in [*range(begin, len(good), 13), len(good) - 1]:
        hit = rows[(position - begin) // 24][:2]
        flip(path, position)
        store = Siblings(folder)
        sentence = f"the vectors of {hit[0]!r} in {hit[1]!r} .* differ from their checksum: the file is damaged"
        for word in WORDS:
            for label in ("old", "new"):
                if (word, label) == hit:
                    for _ in range(2):  # the damage is still reported
                        with pytest.raises(UserError, match=sentence):
                            store[word][label]
                else:
                    vectors = [Toy().vector(*row[5:]) for row in rows if row[:2] == (word, label)]
                    np.testing.assert_array_equal(store[word][label], vectors)
        with pytest.raises(UserError, match=sentence):
            store.check()
        path.write_bytes(good)
    Siblings(folder).check()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "damage",
    [lambda data: data[:-1], lambda data: data[: len(data) // 2], lambda _: b"", lambda data: data + b"}"],
    ids=["cut by one", "cut by half", "emptied", "longer by one"],
)
def test_file_of_another_length_is_detected_on_opening(
    folder: Path, name: str, damage: Callable[[bytes], bytes]
) -> None:
    path = folder / name
    data = path.read_bytes()
    path.write_bytes(damage(data.rstrip() if name == "store.json" else data))
    with pytest.raises(UserError, match=rf"{name}' .*the file is damaged, make the store again"):
        Siblings(folder)
    before = contents(folder)
    toy = Toy()
    with pytest.raises(UserError, match=name):
        build_store(folder.parent, model=toy, words=["ran"])
    assert (toy.calls, contents(folder)) == ([], before)


@pytest.mark.parametrize("name", FILES[1:])
def test_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(UserError, match=f"{name}' cannot be read: No such file or directory"):
        Siblings(folder)


def test_store_without_its_index_is_not_overwritten(folder: Path) -> None:
    (folder / "store.json").unlink()
    before = contents(folder)
    with pytest.raises(UserError, match="is not a store"):
        Siblings(folder)
    with pytest.raises(UserError, match="holds other files; choose an empty or a new one"):
        build_store(folder.parent)
    assert contents(folder) == before


@pytest.mark.parametrize("name", FILES[1:])
def test_check_reads_every_byte_of_an_open_store(folder: Path, name: str) -> None:
    store = Siblings(folder)
    store.check()
    with (folder / name).open("r+b") as file:  # in place, like a failing disk
        file.seek(-5, 2)
        byte = file.read(1)
        file.seek(-5, 2)
        file.write(bytes([byte[0] ^ 1]))
    with pytest.raises(UserError, match=name):
        store.check()


def test_store_with_damaged_vectors_is_not_extended(folder: Path) -> None:
    flip(folder / "vectors.npy", -1)
    before = contents(folder)
    with pytest.raises(UserError, match=r"the vectors of 'cell phone' in 'new' .* differ from their checksum"):
        build_store(folder.parent, words=["ran"])
    assert {name: data for name, data in contents(folder).items() if "unfinished" not in name} == before


def test_files_of_two_stores_are_not_accepted_as_one(tmp_path: Path) -> None:
    ours, theirs = build_store(tmp_path, "ours").path, build_store(tmp_path, "theirs", labels=["old", "now"]).path
    assert (ours / "vectors.npy").read_bytes() == (theirs / "vectors.npy").read_bytes()
    (ours / "occurrences.parquet").write_bytes((theirs / "occurrences.parquet").read_bytes())
    with pytest.raises(UserError, match=r"occurrences.parquet' "):
        Siblings(ours)


def test_index_has_its_own_checksum() -> None:
    index = {"format": 1, "words": ["мышь"], "rows": 3}
    sealed = json.loads(seal(index))
    assert sealed.pop("sha256") == hashlib.sha256(json.dumps(index, sort_keys=True).encode()).hexdigest()
    assert sealed == index
    assert seal({**index, "sha256": "other"}) == seal(index)
    assert "мышь".encode() in seal(index)


def test_store_can_be_moved(folder: Path, tmp_path: Path) -> None:
    moved = folder.rename(tmp_path / "elsewhere")
    Siblings(moved).check()
    toy = Toy()
    assert embed(tmp_path / "a.txt", tmp_path / "b.txt", words=WORDS, model=toy, out=moved).path == moved
    assert toy.calls == []
