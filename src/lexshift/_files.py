"""Files that appear whole or not at all, one writer at a time, and faults of the disk told in one sentence."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from lexshift.errors import UserError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_whole(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Write a file beside its place, make sure that it is on the disk, and put it there."""
    temporary = path.with_name(path.name + ".tmp")
    try:
        with open(temporary, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file that appears whole or not at all."""
    write_whole(path, lambda file: file.write(data))


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder are on the disk."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def disk_faults(folder: Path) -> Iterator[None]:
    """A full disk, a folder that is not writable: one sentence, which says that nothing is lost."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise UserError(
                f"the disk is full while writing {str(folder)!r}: make room and run the same command again, it goes on "
                f"where it stopped"
            ) from None
        raise UserError(f"{str(folder)!r} cannot be written: {error.strerror or error}") from None


@contextmanager
def one_writer(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; it is free again when the process ends, however it ends."""
    with disk_faults(folder):
        file = open(folder / ".lock", "ab")  # noqa: SIM115
    with file:
        try:
            _lock(file)
        except OSError:
            raise UserError(
                f"another process is writing {str(folder)!r}; wait for it to end, or choose another folder"
            ) from None
        yield


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
