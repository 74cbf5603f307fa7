"""The folder of a simulation: what may be written over, and that it is written whole."""

from __future__ import annotations

from pathlib import Path

from lexshift._files import disk_faults, write_bytes
from lexshift.errors import UserError

SETTINGS = "simulate.json"
FILES = ("old.txt", "new.txt", "usages.csv", "corpus.jsonl", "planted.tsv", "words.txt", SETTINGS)


def refuse_other_files(folder: Path) -> None:
    """A simulation takes the place of an earlier one, never of anything else."""
    with disk_faults(folder):
        if folder.exists() and not folder.is_dir():
            raise UserError(f"the simulation {str(folder)!r} would be a folder, but there is a file of that name")
        there = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    others = [name for name in there if name not in FILES or SETTINGS not in there]
    if others:
        raise UserError(
            f"{str(folder / others[0])!r} is not from a simulation that was finished; choose another folder (--out)"
        )


def write(folder: Path, files: dict[str, str]) -> None:
    """Write all files, the settings last; if one cannot be written, none is left."""
    with disk_faults(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name in reversed(FILES):
            (folder / name).unlink(missing_ok=True)
        try:
            for name, content in files.items():
                write_bytes(folder / name, content.encode())
        except BaseException:
            for name in files:
                (folder / name).unlink(missing_ok=True)
            raise
