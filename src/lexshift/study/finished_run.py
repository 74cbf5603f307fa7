"""Recognise the results of a finished run, so that the same command can print them again at once.

After a run, the command line saves what it printed in a hidden file of the results folder, together with a checksum of
the request: the question, all options, the versions of the program and its libraries, and the identity of every file
that the run reads (corpora, lists of words, dictionaries and models). The identity of a file is its size, its inode
and the times of its last changes; nothing but the names and the results is read to check a request.

A file could be changed twice within one tick of the clock of its file system, and then have the same identity with
another content. So the request of a run is not known, and nothing is saved, if one of its files was changed less than
:data:`MARGIN` before the run began. Whenever something is not known, the command runs in full.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lexshift.corpus.sources import STANDARD_INPUT, find_sources
from lexshift.encode.adaptation import read_base
from lexshift.encode.built_in import AUTO, BUILT_IN, model_packages
from lexshift.errors import UserError
from lexshift.store.format import digest
from lexshift.study.folder import RUN
from lexshift.study.result_files import CONTROL, STORE
from lexshift.study.versions import package_versions
from lexshift.utils.files import open_plain, write_whole

FINISHED = ".finished"
"""Name of the file in a results folder: a line with the checksums, and a line with what the command printed."""
MARGIN = 2_000_000_000
"""Nanoseconds by which files must be older than a run; some file systems count time in steps of two seconds."""
_KIND = "finished run of lexshift"
_FILES = ("words", "control")  # options that may name a file
_DICTIONARIES = ("inventory", "dictionary")
_PACKAGE = Path(__file__).parent.parent
_DAMAGE = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)


class _UnknownError(Exception):
    """The identity of something that a run reads is not known."""


def describe_request(question: str, corpora: Sequence[str], arguments: Mapping[str, Any]) -> str | None:
    """Return the SHA-256 of everything that determines the results of a command, or None if it is not known.

    It is not known for text from standard input, for installed wordnets, for a model that is not on this machine, and
    for files that were changed just now.

    Parameters
    ----------
    question : str
        Name of the command.
    corpora : sequence of str
        Files, folders or patterns.
    arguments : mapping of str to value
        All options of the command with their values; ``out`` is the results folder.
    """
    identity = _Identity(time.time_ns())
    try:
        request = {
            "question": question,
            "corpora": [[os.path.abspath(corpus), identity.corpus(corpus)] for corpus in corpora],
            "arguments": {**arguments, "out": os.path.abspath(arguments["out"])},
            "files": {name: identity.optional_file(arguments.get(name)) for name in _FILES},
            "dictionaries": {name: identity.dictionary(arguments.get(name)) for name in _DICTIONARIES},
            "model": identity.model(arguments.get("model"), arguments.get("revision")),
            "substitutes": identity.model(arguments.get("substitutes"), None),
            "program": identity.tree(_PACKAGE),
            "versions": package_versions(),
        }
        return digest(request)
    except (_UnknownError, UserError, *_DAMAGE):  # a full run reports what is wrong
        return None


def read_finished(folder: str | os.PathLike[str], request: str | None) -> tuple[Any, dict[str, bytes]] | None:
    """Return what a finished run of the same request printed, and the files of its results; None if there is none.

    The files of the results must be as they were written, and those of the stores must not have been changed.

    Parameters
    ----------
    folder : str or path
        The results folder.
    request : str, optional
        The checksum that :func:`describe_request` returns.
    """
    path = Path(folder)
    if request is None:
        return None
    try:
        header, body = _read(path / FINISHED)
        if header["request"] != request or header["stores"] != _stores(path):
            return None
        record = _read_results(path)
        if record["sha256"] != header["results"]:
            return None
        files = {}
        for name, checksum in record["files"].items():
            with open_plain(path / name) as file:
                files[name] = file.read()
            if hashlib.sha256(files[name]).hexdigest() != checksum:
                return None
        if any(os.path.lexists(path / name) for name in header["names"] if name not in files):  # of somebody else
            return None
        return json.loads(body), files
    except _DAMAGE:
        return None


def write_finished(
    folder: str | os.PathLike[str], request: str | None, run: Mapping[str, Any], names: Iterable[str], output: Any
) -> None:
    """Save what a run printed next to its results; a folder that cannot be written is no error.

    Parameters
    ----------
    folder : str or path
        The results folder.
    request : str, optional
        The checksum that :func:`describe_request` returned before the run; without it nothing is saved.
    run : mapping
        The provenance record of the run, which must be the one in the folder.
    names : iterable of str
        Names of all files that results of this kind may have.
    output : plain values
        What the command printed.
    """
    path = Path(folder)
    if request is None:
        return
    with contextlib.suppress(UserError, *_DAMAGE):
        record = _read_results(path)
        if any(digest([record[name]]) != digest([value]) for name, value in run.items()):
            return  # another process wrote other results meanwhile
        if os.path.lexists(path / FINISHED):
            _read(path / FINISHED)  # raises an error if the file is not ours
        body = json.dumps(output).encode()
        header = {"kind": _KIND, "request": request, "results": record["sha256"], "stores": _stores(path)}
        header |= {"names": list(names), "body": hashlib.sha256(body).hexdigest()}
        header["sha256"] = digest(header)
        write_whole(path / FINISHED, json.dumps(header).encode() + b"\n" + body)


def _read(path: Path) -> tuple[dict[str, Any], bytes]:
    """Return the checksums in a file, and what the command printed; raises ValueError if the file is not ours."""
    with open_plain(path) as file:
        first, _, body = file.read().partition(b"\n")
    header = json.loads(first)
    is_ours = header["kind"] == _KIND and header["sha256"] == digest(header)
    if not is_ours or hashlib.sha256(body).hexdigest() != header["body"]:
        raise ValueError("not written by lexshift")
    return header, body


def _read_results(folder: Path) -> dict[str, Any]:
    """Return the record of the results; raises ValueError if it is damaged."""
    with open_plain(folder / RUN) as file:
        record: dict[str, Any] = json.load(file)
    if record["sha256"] != digest(record):
        raise ValueError("damaged")
    return record


def _stores(folder: Path) -> list[list[Any]]:
    """Return the identities of the files of the stores, which only lexshift writes."""
    identities = []
    for store in (STORE, CONTROL):
        with contextlib.suppress(FileNotFoundError):
            entries = sorted(os.scandir(folder / store), key=lambda entry: entry.name)
            files = [entry for entry in entries if entry.name != ".lock"]
            identities += [[f"{store}/{entry.name}", *_values(entry.stat())] for entry in files]
    return identities


def _values(status: os.stat_result) -> list[int]:
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


class _Identity:
    """Describes the files that a run reads, without reading them; raises _UnknownError if that is not possible.

    Parameters
    ----------
    began : int
        Time at which the run began, in nanoseconds.
    """

    def __init__(self, began: int) -> None:
        self._began = began

    def file(self, path: str | os.PathLike[str]) -> list[int]:
        values = _values(os.stat(path))
        if max(values[1:3]) > self._began - MARGIN:
            raise _UnknownError
        return values

    def tree(self, folder: str | os.PathLike[str]) -> list[list[Any]]:
        """Return the identities of all files in a folder and its subfolders, except for compiled Python."""
        identities = []
        for parent, folders, names in os.walk(folder):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            paths = [os.path.join(parent, name) for name in sorted(names)]
            identities += [[path, *self.file(path)] for path in paths]
        return identities

    def corpus(self, corpus: str) -> str:
        """Return a checksum of the identities of the files of a corpus, of which there may be very many."""
        sha256 = hashlib.sha256()
        for source in find_sources(corpus):
            if source.path == STANDARD_INPUT:
                raise _UnknownError
            sha256.update(json.dumps([source.name, *self.file(source.path)]).encode() + b"\n")
        return sha256.hexdigest()

    def optional_file(self, text: Any) -> list[int] | None:
        """Return the identity of a file if a text names one; it may also be a list of words, or a number."""
        try:
            is_file = isinstance(text, str) and os.path.exists(text)
        except ValueError:  # it cannot be a path
            is_file = False
        return self.file(text) if is_file else None

    def dictionary(self, name: str | None) -> list[Any] | None:
        if name is None:
            return None
        if not os.path.exists(name):  # the name of an installed wordnet
            raise _UnknownError
        return self.tree(name) if os.path.isdir(name) else self.file(name)

    def model(self, name: str | None, revision: str | None) -> list[Any] | None:
        if name is None:
            return None
        folder = os.path.expanduser(name)
        if name == AUTO or name in BUILT_IN:
            if os.path.isdir(folder):  # a full run prints a note that says which of the two it uses
                raise _UnknownError
            specs = {package: find_spec(package) for package in model_packages()}
            places = {name: [] if spec is None else spec.submodule_search_locations for name, spec in specs.items()}
            return [[name, *map(self.tree, folders or ())] for name, folders in places.items()]
        if not os.path.isdir(folder):
            from huggingface_hub import constants

            folder = os.path.join(constants.HF_HUB_CACHE, f"models--{name.replace('/', '--')}")
            if not os.path.isdir(folder):
                raise _UnknownError
            return [revision, self.tree(folder)]
        base = read_base(Path(folder))
        return [self.tree(folder), None if base is None else self.model(base.model, base.revision)]
