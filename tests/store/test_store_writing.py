"""Test publishing a store: a run stopped at any step, and a reader at any moment."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from stores import BOTH, WORDS, Toy, assert_holds, build_store, contents, corpora_in, expected

import lexshift.store.writer
from lexshift import Siblings, UserError, embed
from lexshift.store import siblings
from lexshift.store.writer import finish_interrupted_write

FILES = ["occurrences.parquet", "store.json", "vectors.npy"]


class Stopped(BaseException):
    """Exception that represents the end of the process."""


class StopAt:
    """Replacement of a function that raises at its k-th call, before or after calling it."""

    def __init__(self, function: Callable[..., Any], k: int, after: bool, error: BaseException) -> None:
        self.function, self.k, self.after, self.error = function, k, after, error
        self.calls = 0

    def __call__(self, *args: Any, **options: Any) -> Any:
        self.calls += 1
        if self.calls == self.k and not self.after:
            raise self.error
        result = self.function(*args, **options)
        if self.calls == self.k:
            raise self.error
        return result


def nothing(*args: Any, **options: Any) -> None:
    """Replace a slow function, or one that a killed process does not reach."""


STEPS = [
    "os.replace",
    "os.fsync",
    "os.unlink",
    "lexshift.store.shards.write_whole",
    "lexshift.store.writer.finish_interrupted_write",
]


@pytest.mark.slow
@pytest.mark.parametrize("adding", [False, True], ids=["making", "adding"])
@pytest.mark.parametrize(
    ("step", "when"),
    [(step, when) for step in STEPS for when in ("before", "after", "fault")],
)
def test_run_stopped_at_any_step_ends_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, when: str, adding: bool
) -> None:
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 30)
    monkeypatch.setattr("os.fsync", nothing)
    whole = build_store(tmp_path, "whole")
    base = build_store(tmp_path, "base", words=WORDS[:1])
    bytes_of_whole, bytes_of_base = contents(whole.path), contents(base.path)
    encoded = Toy()
    if adding:
        shutil.copytree(base.path, tmp_path / "count")
    build_store(tmp_path, "count", encoded)
    shards = len(encoded.calls)
    assert shards >= 3

    k = 0
    while True:
        k += 1
        out = tmp_path / str(k)
        if adding:
            shutil.copytree(base.path, out)
        with monkeypatch.context() as patch:
            error = OSError(errno.EIO, "Input/output error") if when == "fault" else Stopped()
            function: Any = nothing if step == "os.fsync" else attribute(step)
            stop = StopAt(function, k, when == "after", error)
            patch.setattr(step, stop)
            if when != "fault":  # a killed process does not clean up
                patch.setattr(Path, "unlink", nothing)
            try:
                build_store(tmp_path, str(k))
            except (Stopped, UserError):
                stopped = True
            else:
                stopped = False
        if stop.calls < k:
            assert not stopped
            break
        assert stopped
        now = contents(out)
        if "store.json" in now:  # a reader finds a complete store, either the old or the new one
            store = Siblings(out)
            store.check()
            old = adding and now["store.json"] == bytes_of_base["store.json"]
            assert_holds(store, expected(WORDS[:1] if old else WORDS, BOTH))
            finished = not old
        else:
            assert not adding
            finished = False
        done = sum(name.endswith(".shard") for name in now)
        toy = Toy()
        assert_holds(build_store(tmp_path, str(k), toy), expected(WORDS, BOTH))
        assert len(toy.calls) == (0 if finished else shards - done)
        assert contents(out) == bytes_of_whole
        assert sorted(os.listdir(out)) == [".lock", *FILES]
        shutil.rmtree(out)
    assert k > 1


def attribute(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr({"os": os, "shutil": shutil}.get(module) or __import__(module, fromlist=[name]), name)


def test_store_stopped_before_its_files_were_renamed_is_complete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = contents(build_store(tmp_path, "whole").path)
    build_store(tmp_path, words=WORDS[:1])
    with monkeypatch.context() as patch:
        patch.setattr(
            lexshift.store.writer, "finish_interrupted_write", StopAt(finish_interrupted_write, 2, False, Stopped())
        )
        with pytest.raises(Stopped):
            build_store(tmp_path)
    folder = tmp_path / "store"
    store = Siblings(folder)
    pending = [f"{name}.{store.fingerprint[:16]}" for name in FILES if name != "store.json"]
    assert sorted(os.listdir(folder)) == sorted([".lock", "unfinished", *FILES])
    assert set(pending) <= set(os.listdir(folder / "unfinished"))
    assert_holds(store, expected(WORDS, BOTH))
    toy = Toy()
    assert_holds(build_store(tmp_path, model=toy), expected(WORDS, BOTH))
    assert toy.calls == []
    assert contents(folder) == whole


@pytest.mark.parametrize("damaged", ["vectors.npy", "occurrences.parquet"])
def test_damage_to_a_file_before_renaming_is_detected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damaged: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(
            lexshift.store.writer, "finish_interrupted_write", StopAt(finish_interrupted_write, 2, False, Stopped())
        )
        with pytest.raises(Stopped):
            build_store(tmp_path)
    (path,) = (tmp_path / "store" / "unfinished").glob(f"{damaged}.*")
    path.write_bytes(path.read_bytes()[:-1])
    before = contents(tmp_path / "store")
    for attempt in (Siblings, lambda _: build_store(tmp_path)):
        with pytest.raises(UserError, match=f"{path.name}' has .* bytes instead of"):
            attempt(tmp_path / "store")
    assert contents(tmp_path / "store") == before


def test_complete_store_has_no_interrupted_write_to_finish(tmp_path: Path) -> None:
    folder = build_store(tmp_path).path
    before = contents(folder)
    finish_interrupted_write(folder)
    assert contents(folder) == before
    (tmp_path / "empty").mkdir()
    finish_interrupted_write(tmp_path / "empty")
    assert os.listdir(tmp_path / "empty") == []


def test_work_of_an_unfinished_run_is_left_alone(tmp_path: Path) -> None:
    build_store(tmp_path, words=WORDS[:1])
    with pytest.raises(KeyboardInterrupt):
        build_store(tmp_path, model=Toy(stop_at=1))
    before = contents(tmp_path / "store")
    finish_interrupted_write(tmp_path / "store")
    assert contents(tmp_path / "store") == before
    assert "unfinished/plan.json" in before


def test_store_can_be_read_while_a_run_extends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 20)
    folder = build_store(tmp_path, words=WORDS[:1]).path
    seen = []

    class Reading(Toy):
        def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
            assert_holds(Siblings(folder), expected(WORDS[:1], BOTH))
            seen.append(len(sentences))
            return super().encode(sentences, spans)

    Reading.__module__, Reading.__qualname__ = Toy.__module__, Toy.__qualname__  # the same encoder for the store
    assert_holds(build_store(tmp_path, model=Reading()), expected(WORDS, BOTH))
    assert len(seen) > 2


def test_reader_during_replacement_finds_the_old_or_the_new_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = corpora_in(tmp_path)
    embed(b, words=WORDS, model=Toy(), out=tmp_path / "store", labels=["new"])
    map_file = siblings._map_file

    def after_the_writer(*file: Any) -> Any:  # the index is read, the other files are not
        monkeypatch.setattr(siblings, "_map_file", map_file)
        embed(a, words=WORDS, model=Toy(), out=tmp_path / "store", labels=["old"])
        return map_file(*file)

    monkeypatch.setattr(siblings, "_map_file", after_the_writer)
    store = Siblings(tmp_path / "store")
    files = {"new": BOTH["new"]} if store.corpora == ["new"] else {"new": BOTH["new"], "old": BOTH["old"]}
    assert_holds(store, expected(WORDS, files))


@pytest.mark.parametrize("adding", [False, True], ids=["making", "adding"])
def test_files_of_an_abandoned_run_are_ignored_and_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, adding: bool
) -> None:
    if adding:
        build_store(tmp_path, words=WORDS[:1])
    with monkeypatch.context() as patch:
        patch.setattr(lexshift.store.writer, "seal", StopAt(nothing, 1, False, Stopped()))
        with pytest.raises(Stopped):
            build_store(tmp_path, words=["ran"])
    folder = tmp_path / "store"
    assert len(list(folder.rglob("vectors.npy.*"))) == 1
    with pytest.raises(UserError, match="finish that run with its own command, or delete that folder"):
        build_store(tmp_path)
    shutil.rmtree(folder / "unfinished")
    assert_holds(build_store(tmp_path), expected(WORDS, BOTH))
    assert sorted(os.listdir(folder)) == [".lock", *FILES]


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_vectors_are_written_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    whole = contents(build_store(tmp_path, "whole").path)
    monkeypatch.setattr(lexshift.store.writer, "COPIED_BYTES", rows * 6 * 4 + 1)
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 20)
    assert contents(build_store(tmp_path).path) == whole


def test_shard_size_does_not_change_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = contents(build_store(tmp_path, "whole", Toy(lost="phone")).path)
    shards = []
    for characters in (1, 30, 60, 120):
        monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", characters)
        toy = Toy(lost="phone")
        assert contents(build_store(tmp_path, str(characters), toy).path) == whole
        shards.append(len(toy.calls))
    assert len(set(shards)) == 4
    assert shards == sorted(shards, reverse=True)
