"""Test the shards of a run: their contents, their reuse, and the detection of damage."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from stores import WORDS, Toy, build_store, contents

from lexshift import Siblings, UserError, embed, embed_usages
from lexshift.store.format import read_plan
from lexshift.store.writer import finish_interrupted_write
from lexshift.utils.monitor import Silent

# ------------------------------------------------------------------------------------------------------ shards on disk


@pytest.fixture
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, bytes], int]:
    """Return the store of an uninterrupted run and its number of shards."""
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 20)
    toy = Toy()
    return contents(build_store(tmp_path, "whole", toy).path), len(toy.calls)


def begin(folder: Path, shards: int) -> Path:
    """Create unfinished work with the given number of finished shards."""
    with pytest.raises(KeyboardInterrupt):
        build_store(folder, model=Toy(stop_at=shards + 1))
    unfinished = folder / "store" / "unfinished"
    assert sorted(path.name for path in unfinished.iterdir()) == [
        *(f"{i:06d}.shard" for i in range(shards)),
        "plan.json",
    ]
    return unfinished


def test_run_resumes_after_the_last_shard_wherever_it_was_stopped(
    tmp_path: Path, whole: tuple[dict[str, bytes], int]
) -> None:
    store, shards = whole
    assert shards >= 6
    for stopped in range(shards):
        begin(tmp_path, stopped)
        toy = Toy()
        build_store(tmp_path, model=toy)
        assert len(toy.calls) == shards - stopped
        assert contents(tmp_path / "store") == store
        shutil.rmtree(tmp_path / "store")


def test_shard_contains_vectors_truncation_flags_and_a_checksum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 20)
    toy = Toy()
    store = build_store(tmp_path, "other", toy)
    unfinished = begin(tmp_path, 2)
    for number in range(2):
        data = (unfinished / f"{number:06d}.shard").read_bytes()
        vectors = [toy.vector(sentence, *span) for sentence, span in toy.calls[number]]
        end = -32 - len(vectors)
        np.testing.assert_array_equal(np.frombuffer(data[:end], np.float32).reshape(-1, toy.size), vectors)
        assert data[end:-32] == bytes(len(vectors))
    plan = json.loads((unfinished / "plan.json").read_bytes())
    assert plan["fingerprint"] == store.fingerprint
    assert read_plan(unfinished) == plan


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "first byte": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "middle byte": lambda data: data[:20] + bytes([data[20] ^ 0x80]) + data[21:],
    "last byte": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    "cut by one": lambda data: data[:-1],
    "cut by a row": lambda data: data[24:],
    "cut to the checksum": lambda data: data[-32:],
    "emptied": lambda _: b"",
    "longer by one": lambda data: data + b"\0",
    "longer by a row": lambda data: data[:24] + data,
    "zeros": lambda data: bytes(len(data)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_shard_is_named_and_encoded_again_once_deleted(
    tmp_path: Path, whole: tuple[dict[str, bytes], int], damage: str
) -> None:
    store, shards = whole
    unfinished = begin(tmp_path, 4)
    path = unfinished / "000002.shard"
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    before, toy = contents(unfinished), Toy()
    with pytest.raises(UserError, match=r"the shard '.*000002\.shard' is damaged: delete it and run the same command"):
        build_store(tmp_path, model=toy)
    assert (toy.calls, contents(unfinished)) == ([], before)
    path.unlink()
    build_store(tmp_path, model=toy)
    assert len(toy.calls) == shards - 3
    assert contents(tmp_path / "store") == store


@pytest.mark.parametrize("number", [0, 2])
def test_missing_shard_is_encoded_again(tmp_path: Path, whole: tuple[dict[str, bytes], int], number: int) -> None:
    store, shards = whole
    (begin(tmp_path, 4) / f"{number:06d}.shard").unlink()
    toy = Toy()
    build_store(tmp_path, model=toy)
    assert len(toy.calls) == shards - 3
    assert contents(tmp_path / "store") == store


def test_exchanged_shard_is_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 1)
    unfinished = begin(tmp_path, 3)
    shutil.copy(unfinished / "000000.shard", unfinished / "000001.shard")
    with pytest.raises(UserError, match=r"000001\.shard' is damaged"):
        build_store(tmp_path)


def test_shard_of_another_plan_is_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 20)
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(KeyboardInterrupt):
        build_store(other, model=Toy(stop_at=3), labels=["old", "now"])
    unfinished = begin(tmp_path, 2)
    shutil.copy(other / "store" / "unfinished" / "000001.shard", unfinished / "000001.shard")
    with pytest.raises(UserError, match=r"000001\.shard' is damaged"):
        build_store(tmp_path)


def other_boundaries(text: str, _: str) -> list[int]:
    """Split sentences also at a semicolon."""
    return [0, *(i + 1 for i, c in enumerate(text) if c in ".;")]


def test_shards_of_other_sentences_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of 30 sentences is split differently, with the same numbers of rows and shards."""
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 70)
    sentences = [f"The mouse {10 + i} sat here{';' if i == 23 else ','} there." for i in range(30)]
    (tmp_path / "a.txt").write_text(" ".join(sentences))

    def run(name: str, toy: Toy) -> Siblings:
        return embed(tmp_path / "a.txt", words=["mouse"], model=toy, out=tmp_path / name, split="prose")

    with pytest.raises(KeyboardInterrupt):
        run("store", Toy(stop_at=5))
    before = contents(tmp_path / "store")
    assert len(before) == 5
    with monkeypatch.context() as patch:
        patch.setattr("lexshift.corpus.sentences._boundaries", other_boundaries)
        toy = Toy()
        with pytest.raises(
            UserError, match=r"unfinished' holds the unfinished work of a run that cut these corpora into"
        ):
            run("store", toy)
        assert (toy.calls, contents(tmp_path / "store")) == ([], before)
        other = run("other", Toy())
        # A shard with the same number of rows from a plan of other sentences is refused as well.
        with pytest.raises(KeyboardInterrupt):
            run("third", Toy(stop_at=2))
        shutil.copy(
            tmp_path / "store" / "unfinished" / "000000.shard", tmp_path / "third" / "unfinished" / "000000.shard"
        )
        with pytest.raises(UserError, match=r"000000\.shard' is damaged"):
            run("third", Toy())
    assert len(run("store", Toy()).vectors) == len(other.vectors) == 30
    assert contents(tmp_path / "store") == contents(run("whole", Toy()).path) != contents(other.path)


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda data: data[: len(data) // 2],
        lambda data: b"\xff" + data,
        lambda _: b"null",
        lambda _: b"[]",
        lambda _: b"{}",
        lambda _: b'"text"',
        lambda data: data.replace(b'"fingerprint"', b'"fingerprinu"'),
        lambda data: data.replace(b'"added to"', b'"added tn"'),
    ],
    ids=["emptied", "cut", "no text", "null", "a list", "no keys", "a string", "another key", "a key less"],
)
def test_damaged_plan_is_named_and_the_shards_are_preserved(
    tmp_path: Path, whole: tuple[dict[str, bytes], int], damage: Callable[[bytes], bytes]
) -> None:
    unfinished = begin(tmp_path, 2)
    plan = unfinished / "plan.json"
    plan.write_bytes(damage(plan.read_bytes()))
    before = contents(unfinished)
    sentence = f"{str(plan)!r} is damaged, or not from lexshift: move {str(unfinished)!r} away or delete it, and run"
    with pytest.raises(UserError, match=re.escape(sentence)):
        build_store(tmp_path)
    assert contents(unfinished) == before
    shutil.rmtree(unfinished)
    build_store(tmp_path)
    assert contents(tmp_path / "store") == whole[0]


@pytest.mark.parametrize("damage", [b"", b"{}", b"[]", b"null"])
def test_damaged_plan_beside_a_store_does_not_prevent_reading_the_store(tmp_path: Path, damage: bytes) -> None:
    store = build_store(tmp_path, words=WORDS[:1])
    with pytest.raises(KeyboardInterrupt):
        build_store(tmp_path, model=Toy(stop_at=1))
    plan = tmp_path / "store" / "unfinished" / "plan.json"
    plan.write_bytes(damage)
    assert Siblings(store.path).fingerprint == store.fingerprint
    with pytest.raises(UserError, match=r"plan\.json' is damaged"):
        build_store(tmp_path)
    assert plan.read_bytes() == damage


@pytest.mark.parametrize("theirs", [[], ["notes.txt"], ["1.shard", "vectors.npy", "sub/000000.shard", ".DS_Store"]])
def test_only_the_files_of_a_run_are_removed_with_its_work(tmp_path: Path, theirs: list[str]) -> None:
    store = build_store(tmp_path)
    whole, folder = contents(store.path), store.path / "unfinished"
    (folder / "sub").mkdir(parents=True)
    ours = ["000000.shard", "1234567.shard", ".000001.shard.lexshift.tmp", ".plan.json.lexshift.tmp"]
    ours += [f"vectors.npy.{'a1' * 8}", f"occurrences.parquet.{'0' * 16}", f".vectors.npy.{'a1' * 8}.lexshift.tmp"]
    for name in [*ours, *theirs]:
        (folder / name).write_bytes(name.encode())
    hashes = {"fingerprint": store.fingerprint, "words": "1" * 64, "work": "2" * 64, "added to": None}
    plan = {**hashes, "settings": store.settings, "corpora": {}}
    (folder / "plan.json").write_text(json.dumps(plan))
    if not any("/" in name for name in theirs):
        (folder / "sub").rmdir()
    finish_interrupted_write(store.path)
    assert contents(store.path) == whole | {f"unfinished/{name}": name.encode() for name in theirs}
    assert folder.exists() == bool(theirs)


def test_folder_without_a_plan_is_not_treated_as_our_work(tmp_path: Path) -> None:
    assert read_plan(tmp_path / "unfinished") is None
    assert read_plan(tmp_path) is None
    (tmp_path / "notes.txt").write_text("mine")
    assert read_plan(tmp_path) is None
    (tmp_path / "000000.shard").write_text("whose?")
    with pytest.raises(UserError, match=r"holds shards without their plan\.json: move it away or delete it"):
        read_plan(tmp_path)
    (tmp_path / "plan.json").write_text("no json")
    with pytest.raises(UserError, match=r"plan\.json' is damaged, or not from lexshift"):
        read_plan(tmp_path)
    with pytest.raises(UserError, match=r"notes\.txt' would be a folder of lexshift, but is something else"):
        read_plan(tmp_path / "notes.txt")


class _Timed:
    """Encoder that counts its calls."""

    def __init__(self) -> None:
        self.calls = 0

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> Any:
        assert len(sentences) == len(spans)
        self.calls += 1
        return np.array([[len(sentence), start] for sentence, (start, _) in zip(sentences, spans, strict=True)], float)


class _Notes(Silent):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.mark.parametrize("long", [20, 21])
def test_long_run_announces_its_expected_duration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, long: int) -> None:
    monkeypatch.setattr("lexshift.store.writer.LONG_RUN", long)
    rows = [("mouse", "old" if i % 2 else "new", f"a mouse {i}", 2, 7) for i in range(20)]
    usages = pd.DataFrame(rows, columns=["word", "corpus", "sentence", "start", "end"])
    encoder, recorder = _Timed(), _Notes()
    store = embed_usages(usages, encoder, tmp_path / "store", ["old", "new"], monitor=recorder)
    notes = [note for note in recorder.notes if "to encode" in note]
    assert len(store["mouse"].old) == 10
    assert encoder.calls == (3 if long == 20 else 1)
    assert len(notes) == (long == 20)
    if notes:
        assert re.fullmatch(r"20 sentences to encode, in about \d+ seconds", notes[0])
