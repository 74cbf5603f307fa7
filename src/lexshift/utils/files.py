"""Atomic writes, one writer at a time per folder, bounded reads of JSON, and disk errors in one sentence."""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from lexshift.errors import UserError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_TEMPORARY = ".lexshift.tmp"
_HELD = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)  # errors of a lock that another process holds


def write_whole(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Write a file beside its place, make sure that it is on the disk, and move it to its place."""
    temporary = temporary_path(path)
    with _create(temporary, path) as file:
        try:
            write(file)
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


def temporary_path(path: Path) -> Path:
    """Return the path under which a file is written before it is moved to its place."""
    return path.with_name(f".{path.name}{_TEMPORARY}")


def final_name(name: str) -> str:
    """Return the name that a temporary file will have in its place; any other name is returned as it is."""
    is_temporary = name.startswith(".") and name.endswith(_TEMPORARY)
    return name[1 : -len(_TEMPORARY)] if is_temporary else name


def _create(temporary: Path, path: Path) -> IO[bytes]:
    """Create a temporary file, locked while it is open; one that a killed process left is replaced."""
    while True:
        try:
            file = open(temporary, "xb")  # noqa: SIM115  "x" never follows a link
        except FileExistsError:
            _remove_leftover(temporary, path)
            continue
        if _try_lock(file) and _is_at(file, temporary):
            return file
        file.close()  # another process took it for a leftover before it was locked


def _remove_leftover(temporary: Path, path: Path) -> None:
    """Delete the temporary file of a killed process; refuse if its writer is alive or the file is not ours."""
    if temporary.is_symlink() or (temporary.exists() and not temporary.is_file()):
        raise UserError(f"{str(temporary)!r} is not a file that lexshift wrote; move it away and run again")
    try:
        file = open(temporary, "rb+", opener=partial(_open_at_once, follow_links=False))  # noqa: SIM115
    except FileNotFoundError:
        return
    with file:
        if not _try_lock(file):
            raise UserError(f"another process is writing {str(path)!r}; wait for it to end, or choose another folder")
        if _is_at(file, temporary):
            temporary.unlink()


def _open_at_once(path: str, flags: int, follow_links: bool = True) -> int:
    """Open a file without waiting for the other end of a pipe."""
    flags |= getattr(os, "O_NONBLOCK", 0) | (0 if follow_links else getattr(os, "O_NOFOLLOW", 0))
    return os.open(path, flags, 0o666)


def _is_at(file: IO[bytes], path: Path) -> bool:
    """Return whether an open file still has its name."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.lstat(path))
    except FileNotFoundError:
        return False


def _try_lock(file: IO[bytes]) -> bool:
    """Lock a file; return False if another process holds the lock, True also where there are no locks."""
    try:
        _lock(file)
    except OSError as error:
        return error.errno not in _HELD
    return True


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file atomically."""
    write_whole(path, lambda file: file.write(data))


def open_plain(path: Path) -> IO[bytes]:
    """Open a file for reading; raises ValueError for anything else, such as a pipe, without waiting for it."""
    file = open(path, "rb", opener=_open_at_once)  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise ValueError("not a plain file")
    return file


def read_json(path: Path, max_bytes: int) -> Any:
    """Read a JSON file of at most ``max_bytes`` bytes.

    Raises
    ------
    ValueError
        If it is larger, not a plain file, nested too deeply, or not JSON.
    """
    with open_plain(path) as file:
        if os.fstat(file.fileno()).st_size > max_bytes:
            raise ValueError("too large")
        data = file.read(max_bytes)
    try:
        return json.loads(data, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


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
                f"the disk is full while writing {str(folder)!r}: make room and run the same command again, it goes on "
                f"where it stopped"
            ) from None
        raise UserError(f"{str(folder)!r} cannot be written: {error.strerror or error}") from None


@contextmanager
def one_writer(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which is released when the process ends, however it ends."""
    with disk_faults(folder):
        file = open(folder / ".lock", "ab", opener=partial(_open_at_once, follow_links=False))  # noqa: SIM115
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
