"""Test foreign files in the folder of a store: never replaced or deleted, and refused if they are in the way."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from stores import BOTH, WORDS, Toy, assert_holds, build_store, contents, expected

from lexshift import Siblings, UserError

FILES = ["occurrences.parquet", "store.json", "vectors.npy"]
THEIRS = [
    "finished/draft.txt",
    "notes.txt",
    ".DS_Store",
    "store.json.bak",
    "vectors.npy.bak",
    "vectors.npy.backup",
    "vectors.npy.0123456789abcdef",
    "occurrences.parquet.bak",
    "occurrences.parquet.tmp",
]


def put(folder: Path, names: Sequence[str]) -> dict[str, bytes]:
    """Write files of the user, and return their contents."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(f"mine: {name}".encode())
    return {name: f"mine: {name}".encode() for name in names}


def theirs_in(folder: Path, names: Sequence[str]) -> dict[str, bytes]:
    return {name: data for name, data in contents(folder).items() if name in names}


@pytest.mark.parametrize(
    "names",
    [
        ["unfinished/chapter.txt"],
        ["finished/chapter.txt"],
        ["unfinished/chapter.txt", "finished/chapter.txt"],
        ["unfinished_business.txt"],
        ["vectors.npy.bak"],
        ["occurrences.parquet"],
        ["vectors.npy"],
        ["store.json.bak"],
        ["thesis.doc"],
        ["run.json", "scores.csv", "report.html"],
    ],
    ids=str,
)
def test_folder_of_the_user_is_refused_and_unchanged(tmp_path: Path, names: list[str]) -> None:
    before, toy = put(tmp_path / "project", names), Toy()
    with pytest.raises(UserError, match=r"project' holds other files; choose an empty or a new one for the store"):
        build_store(tmp_path, "project", toy)
    assert (contents(tmp_path / "project"), toy.calls) == (before, [])
    assert not (tmp_path / "project" / ".lock").exists()


@pytest.mark.parametrize("text", ['{"chapters": 12}', "not even JSON", "[" * 100_000, ""], ids=lambda text: text[:16])
@pytest.mark.parametrize("store", [False, True], ids=["alone", "in a store"])
def test_plan_file_of_the_user_is_not_treated_as_ours(tmp_path: Path, text: str, store: bool) -> None:
    project = tmp_path / "project"
    if store:
        build_store(tmp_path, "project", words=WORDS[:1])
    put(project, ["unfinished/000001.shard", "finished/draft.txt"])
    (project / "unfinished" / "plan.json").write_text(text)
    before, toy = contents(project), Toy()
    with pytest.raises(UserError, match=r"plan\.json' is damaged, or not from lexshift: move '.*unfinished' away or"):
        build_store(tmp_path, "project", toy)
    assert (contents(project), toy.calls) == (before, [])


def test_files_of_the_user_in_a_store_survive_all_operations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 20)
    build_store(tmp_path, "store", words=WORDS[:1])
    names = [*THEIRS, "unfinished/notes.txt"]
    before = put(tmp_path / "store", names)
    build_store(tmp_path, "store", words=WORDS[:1])
    assert theirs_in(tmp_path / "store", names) == before
    with pytest.raises(KeyboardInterrupt):
        build_store(tmp_path, model=Toy(stop_at=3))
    assert theirs_in(tmp_path / "store", names) == before
    build_store(tmp_path)
    assert_holds(build_store(tmp_path), expected(WORDS, BOTH))
    assert contents(tmp_path / "store") == before | contents(build_store(tmp_path, "alone").path)


@pytest.mark.parametrize("name", ["vectors.npy", "occurrences.parquet"])
def test_file_of_the_user_that_would_be_replaced_is_refused_at_start_and_end(tmp_path: Path, name: str) -> None:
    class Meanwhile(Toy):
        def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
            put(tmp_path / "store", [name])
            return super().encode(sentences, spans)

    sentence = f"{name}' is not part of a store of lexshift; move it away or choose another folder"
    with pytest.raises(UserError, match=sentence):
        build_store(tmp_path, model=Meanwhile())
    toy = Toy()
    with pytest.raises(UserError, match=sentence):
        build_store(tmp_path, model=toy)
    assert theirs_in(tmp_path / "store", [name]) == {name: f"mine: {name}".encode()}
    (tmp_path / "store" / name).unlink()
    assert_holds(build_store(tmp_path, model=toy), expected(WORDS, BOTH))
    assert toy.calls == []  # earlier vectors are used


def test_index_of_the_user_that_appears_during_a_run_is_not_replaced(tmp_path: Path) -> None:
    class Meanwhile(Toy):
        def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
            put(tmp_path / "store", ["store.json"])
            return super().encode(sentences, spans)

    with pytest.raises(UserError, match=r"store\.json' is not part of a store of lexshift; move it away or choose"):
        build_store(tmp_path, model=Meanwhile())
    assert theirs_in(tmp_path / "store", ["store.json"]) == {"store.json": b"mine: store.json"}
    (tmp_path / "store" / "store.json").unlink()
    assert_holds(build_store(tmp_path), expected(WORDS, BOTH))


# ------------------------------------------------------------------------------------------------------ links and pipes

posix = pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")


@posix
def test_store_may_be_a_link_to_a_folder(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "store").symlink_to(tmp_path / "disk", target_is_directory=True)
    assert_holds(build_store(tmp_path), expected(WORDS, BOTH))
    assert sorted(os.listdir(tmp_path / "disk")) == [".lock", *FILES]
    assert (tmp_path / "store").is_symlink()
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    with pytest.raises(UserError, match="nowhere' is a link to a folder that is not there"):
        build_store(tmp_path, "nowhere")
    assert not (tmp_path / "gone").exists()


@posix
def test_extending_links_to_the_files_of_a_store_leaves_that_store_unchanged(tmp_path: Path) -> None:
    shared = build_store(tmp_path, "shared", words=WORDS[:1]).path
    before = contents(shared)
    (tmp_path / "store").mkdir()
    for name in FILES:
        (tmp_path / "store" / name).symlink_to(shared / name)
    assert_holds(Siblings(tmp_path / "store"), expected(WORDS[:1], BOTH))
    assert_holds(build_store(tmp_path), expected(WORDS, BOTH))
    assert contents(shared) == before
    assert not any((tmp_path / "store" / name).is_symlink() for name in FILES)


@posix
@pytest.mark.parametrize("store", [False, True], ids=["alone", "in a store"])
def test_unfinished_work_is_not_written_into_a_linked_folder(tmp_path: Path, store: bool) -> None:
    if store:
        build_store(tmp_path, words=WORDS[:1])
    (tmp_path / "elsewhere").mkdir()
    put(tmp_path / "elsewhere", ["chapter.txt"])
    (tmp_path / "store").mkdir(exist_ok=True)
    (tmp_path / "store" / "unfinished").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="unfinished' would be a folder of lexshift, but is something else"):
        build_store(tmp_path)
    assert contents(tmp_path / "elsewhere") == {"chapter.txt": b"mine: chapter.txt"}


@posix
@pytest.mark.parametrize("name", [*FILES, "unfinished/plan.json", "unfinished/000000.shard"])
def test_pipe_in_place_of_a_file_is_refused_without_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 20)
    build_store(tmp_path, words=WORDS[:1])
    with pytest.raises(KeyboardInterrupt):
        build_store(tmp_path, model=Toy(stop_at=3))
    (tmp_path / "store" / name).unlink()
    os.mkfifo(tmp_path / "store" / name)
    with pytest.raises(UserError, match="damaged"):
        build_store(tmp_path)


@posix
@pytest.mark.parametrize("name", FILES)
def test_dangling_link_in_place_of_a_file_is_not_written_through(tmp_path: Path, name: str) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / name).symlink_to(tmp_path / "victim")
    with pytest.raises(UserError):
        build_store(tmp_path)
    assert not (tmp_path / "victim").exists()
    assert (tmp_path / "store" / name).is_symlink()


# ----------------------------------------------------------------------------------------- unfinished work of the store


def test_interrupted_removal_of_finished_work_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 20)
    whole = contents(build_store(tmp_path, "whole").path)
    unlink, left = os.unlink, [2]

    def stopping(path: Any, **options: Any) -> None:
        if str(path).endswith(".shard"):
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt
        unlink(path, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", stopping)
        with pytest.raises(KeyboardInterrupt):
            build_store(tmp_path)
    assert "unfinished/plan.json" in contents(tmp_path / "store")
    assert_holds(Siblings(tmp_path / "store"), expected(WORDS, BOTH))
    toy = Toy()
    build_store(tmp_path, model=toy)
    assert toy.calls == []
    assert contents(tmp_path / "store") == whole
    assert not (tmp_path / "store" / "unfinished").exists()


def test_damaged_plan_beside_finished_files_is_harmless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("lexshift.store.writer.finish_interrupted_write", lambda _: None)
        build_store(tmp_path)
    folder = tmp_path / "store"
    assert not (folder / "vectors.npy").exists()
    (folder / "unfinished" / "plan.json").write_text("damaged")
    with pytest.raises(UserError, match=r"plan\.json' is damaged"):
        build_store(tmp_path)
    shutil.rmtree(folder / "unfinished")  # as the message advises
    assert_holds(build_store(tmp_path), expected(WORDS, BOTH))


def test_folder_of_a_run_stopped_before_its_plan_was_written_can_be_used(tmp_path: Path) -> None:
    (tmp_path / "store" / "unfinished").mkdir(parents=True)
    (tmp_path / "store" / "unfinished" / ".plan.json.lexshift.tmp").write_text(json.dumps({"half": 1}))
    assert_holds(build_store(tmp_path), expected(WORDS, BOTH))
    assert sorted(os.listdir(tmp_path / "store")) == [".lock", *FILES]


def test_unfinished_work_is_reported_only_if_it_is_ours(tmp_path: Path) -> None:
    put(tmp_path / "project", ["unfinished/chapter.txt"])
    with pytest.raises(UserError, match="is not a store of sibling embeddings") as caught:
        Siblings(tmp_path / "project")
    assert "unfinished work" not in str(caught.value)
