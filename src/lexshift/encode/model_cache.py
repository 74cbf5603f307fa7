"""Keep converted models in the cache folder of the user.

A model is converted in a temporary folder, which is renamed when it is complete, by one process at a time. The file
``checksums.json`` in it has the size and the SHA-256 of every file; a folder that does not agree with it is replaced.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lexshift.utils.files import disk_faults, writer_in_turn

_CHECKSUMS = "checksums.json"


def cached_model(name: str, write: Callable[[Path], None]) -> Path:
    """Return the folder of a converted model; it is written first if it is missing or damaged.

    Parameters
    ----------
    name : str
        The name of the folder, which should change whenever its content does.
    write : callable
        Write the files of the model into an empty folder.
    """
    root = cache_folder()
    target = root / name
    if is_complete(target):
        return target
    with disk_faults(root):
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with writer_in_turn(root):
            if not is_complete(target):  # another process may have written it meanwhile
                _replace(target, write)
    return target


def is_cached(name: str) -> bool:
    """Return whether a converted model is in the cache and complete."""
    return is_complete(cache_folder() / name)


def cache_folder() -> Path:
    """Return the folder for converted models."""
    import platformdirs

    return platformdirs.user_cache_path("lexshift", appauthor=False) / "models"


def is_complete(folder: Path) -> bool:
    """Return whether the files of a folder are those that were written into it."""
    try:
        recorded = json.loads((folder / _CHECKSUMS).read_bytes())
        return bool(recorded == _checksums(folder))
    except (OSError, ValueError):
        return False


def _checksums(folder: Path) -> dict[str, Any]:
    """Return the size and the SHA-256 of each file in a folder."""
    checksums = {}
    for path in sorted(folder.iterdir()):
        if path.name != _CHECKSUMS:
            with path.open("rb") as file:
                checksums[path.name] = [
                    os.fstat(file.fileno()).st_size,
                    hashlib.file_digest(file, "sha256").hexdigest(),
                ]
    return checksums


def _replace(target: Path, write: Callable[[Path], None]) -> None:
    """Write a folder beside its place and rename it; the caller holds the lock."""
    prefix = f".{target.name}-"
    for left in target.parent.glob(f"{prefix}*"):  # a process that was killed left it
        shutil.rmtree(left)
    temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=prefix))
    try:
        write(temporary)
        (temporary / _CHECKSUMS).write_text(json.dumps(_checksums(temporary)), "utf-8")
        if target.exists():
            os.rename(target, Path(tempfile.mkdtemp(dir=target.parent, prefix=prefix), "damaged"))
        os.rename(temporary, target)
    finally:
        for left in target.parent.glob(f"{prefix}*"):
            shutil.rmtree(left)
