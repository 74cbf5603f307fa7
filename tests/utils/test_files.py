"""Test atomic writes, one writer at a time, and disk faults in one sentence."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import IO, Any

import pytest

from lexshift import UserError
from lexshift.utils.files import disk_faults, one_writer, write_whole


def test_file_is_synced_before_it_is_renamed_and_its_folder_after(
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
        assert [steps[0][1], steps[2][1]] == [tmp_path / ".file.lexshift.tmp", tmp_path]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt(), ValueError("no")], ids=repr)
@pytest.mark.parametrize("before", [None, b"what was there"])
def test_failed_write_leaves_the_previous_file(tmp_path: Path, error: BaseException, before: bytes | None) -> None:
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


def test_leftover_of_a_killed_writer_is_replaced(tmp_path: Path) -> None:
    (tmp_path / ".file.lexshift.tmp").write_bytes(b"a long rest of an earlier run")
    write_whole(tmp_path / "file", lambda file: file.write(b"short"))
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == {"file": b"short"}


@pytest.mark.parametrize("name", ["file.tmp", "file.bak", ".file.tmp", "file~"])
def test_files_of_the_user_beside_a_file_are_unchanged(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"mine")
    write_whole(tmp_path / "file", lambda file: file.write(b"short"))
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == {"file": b"short", name: b"mine"}


@pytest.mark.skipif(os.name != "posix", reason="symbolic links and pipes of POSIX")
@pytest.mark.parametrize("name", ["file.tmp", ".file.lexshift.tmp"])
@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe", "folder"])
def test_nothing_is_written_through_a_link_in_place_of_a_temporary_file(tmp_path: Path, name: str, kind: str) -> None:
    victim, place = tmp_path / "victim", tmp_path / name
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to(victim)
        if kind == "link":
            victim.write_bytes(b"mine")
    before = sorted(os.listdir(tmp_path))
    if name == "file.tmp":
        write_whole(tmp_path / "file", lambda file: file.write(b"short"))
        assert sorted(os.listdir(tmp_path)) == sorted(["file", *before])
    else:
        with pytest.raises(UserError, match=r"\.file\.lexshift\.tmp' is not a file that lexshift wrote; move it away"):
            write_whole(tmp_path / "file", lambda file: file.write(b"short"))
        assert sorted(os.listdir(tmp_path)) == before
    assert victim.exists() == (kind == "link")
    assert kind != "link" or victim.read_bytes() == b"mine"


def test_two_writers_of_a_file_do_not_mix(tmp_path: Path) -> None:
    def write(file: IO[bytes]) -> None:
        file.write(b"first")
        with pytest.raises(UserError, match=r"another process is writing .*file'; wait for it to end"):
            write_whole(tmp_path / "file", lambda other: other.write(b"second"))

    write_whole(tmp_path / "file", write)
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == {"file": b"first"}


@pytest.mark.skipif(os.name != "posix", reason="symbolic links of POSIX")
def test_lock_is_not_created_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / ".lock").symlink_to(tmp_path / "victim")
    with pytest.raises(UserError, match="folder' cannot be written"), one_writer(tmp_path / "folder"):
        pytest.fail("the lock is elsewhere")
    assert not (tmp_path / "victim").exists()


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
def test_disk_faults_are_one_sentence_that_names_the_folder(error: OSError, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence) as caught, disk_faults(Path("some", "store")):
        raise error
    assert repr(str(Path("some", "store"))) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("error", [UserError("a sentence"), KeyError("word"), KeyboardInterrupt()], ids=repr)
def test_other_faults_are_not_reported_as_disk_faults(error: BaseException) -> None:
    with pytest.raises(type(error)) as caught, disk_faults(Path("store")):
        raise error
    assert caught.value is error


def test_folder_has_one_writer_and_then_the_next(tmp_path: Path) -> None:
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


def test_lock_whose_file_was_left_is_free(tmp_path: Path) -> None:
    (tmp_path / ".lock").write_bytes(b"left")
    with one_writer(tmp_path):
        assert (tmp_path / ".lock").read_bytes() == b"left"
