"""Atomic writes, one writer at a time per folder, reads that never wait, and disk errors in one sentence."""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from lexshift.errors import UserError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_TEMPORARY = ".lexshift.tmp"
_WAIT = 0.1  # seconds between two attempts to lock
_HELD = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)  # errors of a lock that another process holds


def write_whole(path: Path, content: bytes | Callable[[IO[bytes]], Any]) -> None:
    """Write a file atomically: write a temporary file, flush it to the disk, and rename it.

    Parameters
    ----------
    path : Path
    content : bytes or callable
        The content, or a function that writes it to an open file.
    """
    temporary = path.with_name(f".{path.name}{_TEMPORARY}")
    with _create(temporary, path) as file:
        try:
            if callable(content):
                content(file)
            else:
                file.write(content)
            file.flush()
            os.fsync(file.fileno())
            if os.name != "posix":  # where an open file cannot be renamed
                file.close()
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                file.close()
            temporary.unlink(missing_ok=True)
            raise
    sync_folder(path.parent)


def final_name(name: str) -> str:
    """Return the name that a temporary file will have in its place; any other name is returned as it is."""
    is_temporary = name.startswith(".") and name.endswith(_TEMPORARY)
    return name[1 : -len(_TEMPORARY)] if is_temporary else name


def _create(temporary: Path, path: Path) -> IO[bytes]:
    """Create a temporary file, locked while it is open; one that a killed process left is deleted first.

    If its writer is alive, or it is something else than a file, it is refused.
    """
    while True:
        is_new = not os.path.lexists(temporary)
        if temporary.is_symlink() or (temporary.exists() and not temporary.is_file()):
            raise UserError(f"{str(temporary)!r} is not a file that lexshift wrote; move it away and run again")
        try:  # "x" never follows a link
            file = open(temporary, "xb" if is_new else "rb+", opener=partial(_open_at_once, follow_links=False))  # noqa: SIM115
        except FileExistsError:  # another process created it since
            continue
        except FileNotFoundError:
            if is_new:  # there is no such folder
                raise
            continue
        is_held = _lock(file) in _HELD
        try:
            is_at_place = os.path.samestat(os.fstat(file.fileno()), os.lstat(temporary))
        except FileNotFoundError:
            is_at_place = False
        if is_new and is_at_place and not is_held:
            return file
        with file:
            if is_held and not is_new:
                raise UserError(
                    f"another process is writing {str(path)!r}; wait for it to end, or choose another folder"
                )
            if is_at_place and not is_held:
                temporary.unlink()


def _open_at_once(path: str, flags: int, follow_links: bool = True) -> int:
    """Open a file without waiting for the other end of a pipe."""
    flags |= getattr(os, "O_NONBLOCK", 0) | (0 if follow_links else getattr(os, "O_NOFOLLOW", 0))
    return os.open(path, flags, 0o666)


def _lock(file: IO[bytes]) -> int:
    """Lock a file while it is open; return 0 or the number of the error, one of ``_HELD`` if another process has it."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno or errno.ENOLCK
    return 0


def open_plain(path: Path) -> IO[bytes]:
    """Open a file for reading; raises ValueError for anything else, such as a pipe, without waiting for it."""
    file = open(path, "rb", opener=_open_at_once)  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise ValueError("not a plain file")
    return file


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
    """Turn a full disk or a folder that is not writable into an error of one sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise UserError(
                f"the disk is full while writing {str(folder)!r}: make room and run the same command again; it resumes "
                f"where it stopped"
            ) from None
        raise UserError(f"{str(folder)!r} cannot be written: {error.strerror or error}") from None


@contextmanager
def one_writer(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which is released when the process ends, however it ends."""
    with disk_faults(folder):
        file = open(folder / ".lock", "ab", opener=partial(_open_at_once, follow_links=False))  # noqa: SIM115
    with file:
        if _lock(file):
            raise UserError(f"another process is writing {str(folder)!r}; wait for it to end, or choose another folder")
        yield


@contextmanager
def writer_in_turn(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, after waiting for the processes that hold it before."""
    with open(folder / ".lock", "ab", opener=partial(_open_at_once, follow_links=False)) as file:
        while _lock(file) in _HELD:
            time.sleep(_WAIT)
        yield
