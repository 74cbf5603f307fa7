"""Files that appear whole or not at all, one writer at a time, and faults of the disk in one sentence."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import IO, Any

import pytest

from lexshift import UserError
from lexshift._files import disk_faults, one_writer, write_whole


def test_a_file_is_on_the_disk_before_it_takes_its_place_and_its_name_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    steps: list[tuple[str, Any, bool]] = []
    fsync, replace = os.fsync, os.replace

    def note_fsync(descriptor: int) -> None:
        synced = Path(os.readlink(f"/proc/self/fd/{descriptor}")) if Path("/proc/self/fd").exists() else None
        steps.append(("fsync", synced, path.exists()))
        fsync(descriptor)

    def note_replace(source: Any, target: Any) -> None:
        steps.append(("replace", Path(source).read_bytes(), path.exists()))
        replace(source, target)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(os, "replace", note_replace)
    write_whole(path, lambda file: file.write(b"all of it"))
    assert path.read_bytes() == b"all of it"
    assert [(step[0], step[2]) for step in steps] == [("fsync", False), ("replace", False), ("fsync", True)]
    assert steps[1][1] == b"all of it"
    if steps[0][1] is not None:
        assert [steps[0][1], steps[2][1]] == [tmp_path / "file.tmp", tmp_path]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt(), ValueError("no")], ids=repr)
@pytest.mark.parametrize("before", [None, b"what was there"])
def test_a_file_that_cannot_be_written_whole_leaves_what_was_there(
    tmp_path: Path, error: BaseException, before: bytes | None
) -> None:
    path = tmp_path / "file"
    if before is not None:
        path.write_bytes(before)

    def fail(file: IO[bytes]) -> None:
        file.write(b"some of it")
        raise error

    with pytest.raises(type(error)):
        write_whole(path, fail)
    assert sorted(os.listdir(tmp_path)) == ([] if before is None else ["file"])
    if before is not None:
        assert path.read_bytes() == before


def test_what_an_earlier_writer_left_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "file.tmp").write_bytes(b"a long rest of an earlier run")
    write_whole(tmp_path / "file", lambda file: file.write(b"short"))
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == {"file": b"short"}


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "the disk is full while writing"),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), "the disk is full while writing"),
        (OSError(errno.EFBIG, "File too large"), "the disk is full while writing"),
        (PermissionError(errno.EACCES, "Permission denied"), "cannot be written: Permission denied"),
        (OSError(errno.EROFS, "Read-only file system"), "cannot be written: Read-only file system"),
        (OSError(errno.EIO, "Input/output error"), "cannot be written: Input/output error"),
        (OSError("no number"), "cannot be written: no number"),
    ],
    ids=repr,
)
def test_faults_of_the_disk_are_one_sentence_that_names_the_folder(error: OSError, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence) as caught, disk_faults(Path("some", "store")):
        raise error
    assert repr(str(Path("some", "store"))) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("error", [UserError("a sentence"), KeyError("word"), KeyboardInterrupt()], ids=repr)
def test_other_faults_are_not_those_of_the_disk(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, disk_faults(Path("store")):
        raise error
    assert caught.value is error


def test_a_folder_has_one_writer_and_then_the_next(tmp_path: Path) -> None:
    with one_writer(tmp_path):
        with pytest.raises(UserError, match="another process is writing"), one_writer(tmp_path):
            pytest.fail("two writers")
        with pytest.raises(UserError, match="another process"), one_writer(tmp_path):
            pytest.fail("two writers")
        (tmp_path / "other").mkdir()
        with one_writer(tmp_path / "other"):
            pass
    with pytest.raises(ZeroDivisionError), one_writer(tmp_path):
        raise ZeroDivisionError
    with one_writer(tmp_path):
        assert os.listdir(tmp_path / "other") == [".lock"]


def test_a_lock_whose_file_was_left_is_free(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_bytes(b"left")
    with one_writer(tmp_path):
        assert (tmp_path / ".lock").read_bytes() == b"left"
