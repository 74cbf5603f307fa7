"""Manage results folders: check the kind of their results, protect files of others, and save atomically.

The record of a results folder (``run.json``) names the kind of the results and the SHA-256 of every file written with
it. Only a file that still has its recorded SHA-256 is ever replaced; all other files in the folder are left alone.

A save writes the new files into a hidden folder named after the new record. Replacing the record is the moment at which
the folder holds the new results; then the files are moved to their places. If a save is interrupted, the next run
finishes it if the record was replaced, and undoes it if not. Until then at least one file differs from its SHA-256 in
the record, so old and new files are never taken for results that belong together.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexshift.errors import UserError, join_names
from lexshift.store.format import INDEX, digest, read_index
from lexshift.utils.files import disk_faults, final_name, one_writer, sync_folder, write_whole

RUN = "run.json"
_REPLACED = "replaced.json"
_SAVING = ".saving-{:.16}"  # the folder of a save, by the checksum of its record
_SAVING_NAME = re.compile(r"\.saving-[0-9a-f]{16}")
_LONGEST_NAME = 100  # characters of the path of any file below a results folder


@dataclass(frozen=True)
class Kind:
    """A kind of results.

    Attributes
    ----------
    name : str
        Name of the kind, such as "comparison".
    files : tuple of str
        Names of all files that a save may write, without the record.
    record : str
        Name of the record.
    folders : tuple of str
        Names of subfolders in which a save may write files of any name, as "old/1790.txt". Nobody else may have files
        in them, except hidden ones.
    """

    name: str
    files: tuple[str, ...]
    record: str = RUN
    folders: tuple[str, ...] = ()


@dataclass(frozen=True)
class ResultsFolder:
    """A results folder of which this process is the only writer; made by :func:`open_results`.

    Attributes
    ----------
    path : Path
    kind : Kind
    """

    path: Path
    kind: Kind

    def save(self, run: Mapping[str, Any], contents: Callable[[], Mapping[str, bytes]]) -> None:
        """Replace the results in the folder, all of them or none.

        Parameters
        ----------
        run : mapping
            The record, to which the kind and the checksums are added.
        contents : callable
            Returns the content of each file by its name.
        """
        with disk_faults(self.path):
            files = contents()
            replaced = _checked_files(self.path, self.kind)
            checksums = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
            record = {"kind": self.kind.name, **run, "files": checksums}
            record["sha256"] = digest(record)
            saving = self.path / _SAVING.format(record["sha256"])
            try:
                saving.mkdir(exist_ok=True)
                sync_folder(self.path)
                for folder in self.kind.folders:
                    (saving / folder).mkdir(exist_ok=True)
                for name, data in files.items():
                    write_whole(saving / name, data)
                write_whole(saving / _REPLACED, json.dumps(replaced).encode())
                text = json.dumps(record, indent=1, ensure_ascii=False) + "\n"
                write_whole(saving / self.kind.record, text.encode())
                os.replace(saving / self.kind.record, self.path / self.kind.record)
            except BaseException:
                with contextlib.suppress(OSError):
                    self.finish_interrupted_save()
                raise
            sync_folder(self.path)
            self.finish_interrupted_save()

    def finish_interrupted_save(self) -> None:
        """Complete a save whose record is in place, and remove the remains of an interrupted one."""
        record = read_record(self.path, self.kind)
        for saving in [path for path in self.path.iterdir() if _SAVING_NAME.fullmatch(path.name)]:
            if not saving.is_dir() or saving.is_symlink():
                continue
            if record is not None and saving.name == _SAVING.format(record["sha256"]):
                replaced = _replaced_files(self.path, record)
                for folder in self.kind.folders:
                    (self.path / folder).mkdir(exist_ok=True)
                for name in (*self.kind.files, *_names_in_folders(self.kind, [*record["files"], *replaced])):
                    if (saving / name).exists():
                        os.replace(saving / name, self.path / name)
                    elif name in replaced and name not in record["files"]:  # the new results have no such file
                        (self.path / name).unlink(missing_ok=True)
                for folder in ("", *self.kind.folders):
                    sync_folder(self.path / folder)
            for folder in self.kind.folders:
                _remove_folder(saving / folder)
            for name in os.listdir(saving):
                if final_name(name) in (*self.kind.files, self.kind.record, _REPLACED):
                    (saving / name).unlink()
            with contextlib.suppress(OSError):  # something else is in it
                saving.rmdir()


@contextmanager
def open_results(out: str | os.PathLike[str], kind: Kind) -> Iterator[ResultsFolder]:
    """Make a results folder or open one of the same kind, as its only writer.

    Parameters
    ----------
    out : str or path
    kind : Kind
    """
    path = check_results(out, kind)
    with disk_faults(path):
        path.mkdir(parents=True, exist_ok=True)
    with one_writer(path):
        folder = ResultsFolder(check_results(path, kind), kind)
        with disk_faults(path):
            folder.finish_interrupted_save()
        yield folder


def check_results(out: str | os.PathLike[str], kind: Kind) -> Path:
    """Refuse a folder in which results of a kind cannot be saved; nothing is written.

    Parameters
    ----------
    out : str or path
    kind : Kind

    Returns
    -------
    Path
        The folder.
    """
    name = os.fspath(out)
    path = Path(name)
    if not name or "\0" in name:
        raise UserError(f"the folder for the results cannot be called {name!r}; choose another name (--out)")
    try:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.lstat(path / ("x" * _LONGEST_NAME))
            os.lstat(path)
        there = path
        while not os.path.lexists(there) and there != there.parent:
            there = there.parent
        link_to_nothing = there.is_symlink() and not there.exists()
    except OSError as error:
        shown = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."
        raise UserError(
            f"the folder for the results cannot be {shown!r}: {error.strerror}; choose another one (--out)"
        ) from None
    if link_to_nothing:
        raise UserError(f"{str(there)!r} is a link to a place that is not there; choose another folder (--out)")
    if not there.is_dir():
        what = f"the results {name!r} would be a folder, but there is a file of that name"
        inside = f"there can be no folder {name!r}, as {str(there)!r} is a file"
        raise UserError(f"{what if there == path else inside}; choose another folder (--out)")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UserError(f"{str(there)!r} cannot be written: Permission denied; choose another folder (--out)")
    with disk_faults(path):
        _checked_files(path, kind)
    return path


def read_results(folder: Path, kinds: Mapping[str, Kind]) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Read the record of a results folder and the files that were written with it.

    Parameters
    ----------
    folder : Path
    kinds : mapping of str to Kind
        The kinds of results that can be read, by name.

    Returns
    -------
    run : dict
        The record as it was given to :meth:`ResultsFolder.save`, with the kind.
    files : dict of str to bytes
        The content of each file by its name.
    """
    with disk_faults(folder):
        record = read_record(folder)
        if record is None or str(record.get("kind")) not in kinds:
            raise UserError(f"{str(folder)!r} holds no results of lexshift: there is no {RUN} in it")
        files = {}
        for name, checksum in record.pop("files").items():
            is_ours = name in kinds[record["kind"]].files and (folder / name).is_file()
            data = (folder / name).read_bytes() if is_ours else b""
            if not is_ours or hashlib.sha256(data).hexdigest() != checksum:
                shown = join_names([name])
                raise UserError(f"{shown} in {str(folder)!r} is not as it was written; run the command again")
            files[name] = data
    del record["sha256"]
    return record, files


def find_saving(folder: Path) -> list[str]:
    """Return the names of the folders of interrupted saves in a results folder."""
    return [name for name in os.listdir(folder) if _SAVING_NAME.fullmatch(name)]


def check_store(store: Path, labels: Sequence[str]) -> None:
    """Refuse a store that holds other corpora than those with these labels.

    Parameters
    ----------
    store : Path
        Its folder, which need not be there.
    labels : sequence of str
    """
    with disk_faults(store):
        there = (store / INDEX).exists()
    stored = [entry["label"] for entry in read_index(store)["corpora"]] if there else []
    if not set(stored) <= set(labels):
        raise UserError(
            f"the store {str(store)!r} holds the corpora {', '.join(map(repr, stored))} and was made for something "
            f"else; choose another folder (--out)"
        )


def read_record(folder: Path, kind: Kind | None = None) -> dict[str, Any] | None:
    """Return the record of a folder, or None if there is none; one of another kind or program is refused."""
    path = folder / (RUN if kind is None else kind.record)
    if not os.path.lexists(path):
        return None
    try:
        record: Any = json.loads(path.read_bytes()) if path.is_file() else None
    except (ValueError, RecursionError):
        record = None
    ours = isinstance(record, dict) and isinstance(record.get("files"), dict)
    if not ours or digest(record) != record.get("sha256"):
        raise UserError(
            f"{str(path)!r} was not written by lexshift, or was changed since; move it or choose another folder (--out)"
        )
    if kind is not None and record.get("kind") != kind.name:
        raise UserError(
            f"the folder {str(folder)!r} holds a {record.get('kind')}; choose another one for the {kind.name} (--out)"
        )
    return record


def _checked_files(folder: Path, kind: Kind) -> dict[str, str]:
    """Return the SHA-256 of the files that may be replaced; a file that was not written with the record is refused."""
    record = read_record(folder, kind)
    recorded = [{} if record is None else record["files"], _replaced_files(folder, record)]
    digests = {}
    there = [f"{inner}/{name}" for inner in kind.folders for name in _visible_files(folder / inner)]
    for name in (*kind.files, *there):
        path = folder / name
        if not os.path.lexists(path):
            continue
        marks = [files[name] for files in recorded if name in files]
        if marks and path.is_file():
            with path.open("rb") as file:
                digests[name] = hashlib.file_digest(file, "sha256").hexdigest()
        if digests.get(name) not in marks:
            raise UserError(
                f"{str(path)!r} was not written by lexshift, or was changed since; move it or choose another folder "
                f"(--out)"
            )
    return digests


def _visible_files(folder: Path) -> list[str]:
    """Return the names in a subfolder that are not hidden; anything else in its place is refused."""
    if not os.path.lexists(folder):
        return []
    if folder.is_symlink() or not folder.is_dir():
        raise UserError(f"{str(folder)!r} was not written by lexshift; move it or choose another folder (--out)")
    return sorted(name for name in os.listdir(folder) if not name.startswith("."))


def _names_in_folders(kind: Kind, names: Sequence[str]) -> list[str]:
    """Return the names of files that are directly in a subfolder of the kind, each once."""
    return [name for name in dict.fromkeys(names) if _is_in_folder(kind, *name.split("/"))]


def _is_in_folder(kind: Kind, folder: str, *names: str) -> bool:
    return folder in kind.folders and len(names) == 1 and os.path.basename(names[0]) not in ("", ".", "..")


def _remove_folder(folder: Path) -> None:
    """Remove a subfolder of an interrupted or finished save with its files, if it is there."""
    if folder.is_dir() and not folder.is_symlink():
        for name in os.listdir(folder):
            (folder / name).unlink()
        folder.rmdir()


def _replaced_files(folder: Path, record: dict[str, Any] | None) -> dict[str, str]:
    """Return the SHA-256 of the files that an unfinished save of a record replaces, by their names."""
    if record is None:
        return {}
    try:
        return dict(json.loads((folder / _SAVING.format(record["sha256"]) / _REPLACED).read_bytes()))
    except (OSError, ValueError, TypeError):
        return {}
