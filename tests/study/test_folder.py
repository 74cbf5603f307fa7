"""Test results folders: other kinds and foreign files are refused, and a save is atomic at any interruption."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from context_encoder import ContextEncoder

from lexshift import UserError, compare, discover, embed, simulate
from lexshift.simulation.corpora import SEPARATE_SIMULATION, SIMULATION
from lexshift.study import folder as _results
from lexshift.study.discovery import DISCOVERY
from lexshift.study.folder import Kind, check_results, open_results
from lexshift.study.result import COMPARISON
from lexshift.study.result_files import SENSE_FILES
from lexshift.study.trace import trace
from lexshift.study.trace_result import TRACE
from lexshift.utils import files as _files

KINDS = {kind.name: kind for kind in (COMPARISON, DISCOVERY, TRACE)}
FAST: dict[str, Any] = {"permutations": 49, "resamples": 5, "repeats": 2, "monitor": False, "split": "lines"}
posix = pytest.mark.skipif(os.name != "posix", reason="files of POSIX")


class Toy(ContextEncoder):
    """Encoder that counts its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        self.calls += 1
        return super().encode(sentences, spans)


class Killed(BaseException):
    """Exception that represents the end of the process."""


class Disk:
    """Count the file operations of a save, and make all of them fail from a given one on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done, self.last = 0, sys.maxsize
        for name in ("replace", "fsync", "unlink", "mkdir", "rmdir"):
            monkeypatch.setattr(os, name, self._counted(getattr(os, name)))
        monkeypatch.setattr(_files, "open", self._counted(open), raising=False)

    def _counted(self, operation: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **options: Any) -> Any:
            if self.done >= self.last:
                raise Killed
            self.done += 1
            return operation(*given, **options)

        return run


@pytest.fixture
def disk() -> Iterator[Disk]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda _: None)
        yield Disk(patch)


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder, made = tmp_path_factory.mktemp("corpora"), []
    for number, label in enumerate(("1950s", "2010s")):
        rng, lines = random.Random(number), []
        for word in ("mouse", "bread", "river"):
            use = "new" if word == "mouse" and number else "old"
            for _ in range(12 + number):
                a, b, c = rng.sample([f"{word}{use}{letter}" for letter in "abcdefgh"], 3)
                lines.append(f"the {a} and the {word} of the {b} was {c}")
        made.append(folder / f"{label}.txt")
        made[-1].write_text("\n".join(lines) + "\n")
    return made


def run(kind: str, paths: Sequence[Path], out: Any, toy: Toy | None = None, **options: Any) -> Any:
    """Run the command whose results have the given kind."""
    given = {"model": toy or Toy(), "out": out, **FAST, **options}
    if kind == "simulation":
        return simulate(*paths, out=out, pseudowords=1, usages=2, monitor=False)
    if kind == "discovery":
        return discover(*paths[:2], min_count=10, **given)
    command: Callable[..., Any] = trace if kind == "trace" else compare
    return command(*paths[:2], words=["mouse", "bread"], **given)


def contents(number: int, kind: Kind) -> dict[str, bytes]:
    """Return the files of results; those with an odd number lack the first file and have others in subfolders."""
    inner = [f"{folder}/{name}.txt" for folder in kind.folders for name in ("both", f"only {number}")]
    return {name: f"{name} of {number}".encode() for name in (*kind.files[number % 2 :], *inner)}


def save(folder: Path, kind: Kind, number: int) -> None:
    with open_results(folder, kind) as results:
        results.save({"number": number}, lambda: contents(number, kind))


def files_in(folder: Path) -> dict[str, bytes | None]:
    """Return all files below a folder, including hidden ones."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    return {name: path.read_bytes() if path.is_file() else None for name, path in found.items()}


def results_in(folder: Path) -> dict[str, bytes | None]:
    """Return the files without the store, the lock and the time in the record."""
    found = {name: data for name, data in files_in(folder).items() if not name.startswith(("store", "parts", ".lock"))}
    if "run.json" in found:
        record = json.loads(found["run.json"] or b"")
        record = {name: value for name, value in record.items() if name not in ("finished", "sha256", "files")}
        found["run.json"] = json.dumps(record).encode()
    return {name: data for name, data in found.items() if name != "report.html"} | (
        {"report.html": None} if "report.html" in found else {}  # the record contains the time
    )


def consistent(folder: Path, kind: Kind) -> int | None:
    """Return the number of the results if the record is valid and all files belong together."""
    if not (folder / kind.record).exists():
        return None
    record = json.loads((folder / kind.record).read_bytes())
    inner = [f"{path.parent.name}/{path.name}" for name in kind.folders for path in (folder / name).glob("*")]
    for name in {*kind.files, *inner, *record["files"]}:
        data = (folder / name).read_bytes() if (folder / name).exists() else None
        found = None if data is None else hashlib.sha256(data).hexdigest()
        if found != record["files"].get(name):
            return None
    return int(record["number"])


# ---------------------------------------------------------------------------------------------------------- other kinds


@pytest.mark.parametrize("there", KINDS)
@pytest.mark.parametrize("wanted", KINDS)
def test_folder_of_another_kind_is_refused_and_unchanged(
    paths: list[Path], tmp_path: Path, there: str, wanted: str
) -> None:
    save(tmp_path / "out", KINDS[there], 2)
    (tmp_path / "out/.lock").unlink()
    before, toy = files_in(tmp_path), Toy()
    if there == wanted:
        run(wanted, paths, tmp_path / "out", toy)
        assert json.loads((tmp_path / "out/run.json").read_bytes())["kind"] == wanted
        return
    with pytest.raises(UserError, match=rf"holds a {there}; choose another one for the {wanted} \(--out\)"):
        run(wanted, [tmp_path / "nowhere.txt", paths[1]], tmp_path / "out", toy)
    assert (files_in(tmp_path), toy.calls) == (before, 0)


@pytest.mark.parametrize("kind", ["comparison", "discovery"])
def test_store_of_other_corpora_is_refused_and_unchanged(paths: list[Path], tmp_path: Path, kind: str) -> None:
    embed(*paths, words=["mouse"], model=Toy(), labels=["a", "b"], out=tmp_path / "out/store", max_per_word=200)
    before, toy = files_in(tmp_path), Toy()
    with pytest.raises(UserError, match=r"holds the corpora 'a', 'b' and was made for something else; choose another"):
        run(kind, paths, tmp_path / "out", toy)
    assert (files_in(tmp_path), toy.calls) == (before, 0)


# ------------------------------------------------------------------------------------------------------- foreign files


FOREIGN = {
    "not JSON": b"{",
    "not UTF-8": b"\xff\xfe{}",
    "empty": b"",
    "a list": b"[]",
    "of another program": b'{"name": "build", "files": {}}',
    "deep": b"[" * 100_000,
    "an older record": b'{"lexshift": "0.1", "settings": {}}',
    "forged": json.dumps({"kind": "comparison", "files": {}, "sha256": "0" * 64}).encode(),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("record", FOREIGN)
def test_record_of_another_program_is_refused(paths: list[Path], tmp_path: Path, kind: str, record: str) -> None:
    (tmp_path / "run.json").write_bytes(FOREIGN[record])
    (tmp_path / KINDS[kind].files[0]).write_bytes(b"mine")
    before = files_in(tmp_path)
    with pytest.raises(UserError, match=r"run.json' was not written by lexshift, or was changed since; move it or"):
        run(kind, paths, tmp_path)
    assert files_in(tmp_path) == before


@pytest.mark.parametrize(("kind", "name"), [(kind.name, name) for kind in KINDS.values() for name in kind.files])
@pytest.mark.parametrize("change", ["edited", "beside nothing", "a folder", "a link"])
def test_foreign_file_is_refused(paths: list[Path], tmp_path: Path, kind: str, name: str, change: str) -> None:
    out = tmp_path / "out"
    if change != "beside nothing":
        save(out, KINDS[kind], 2)
    out.mkdir(exist_ok=True)
    if change in ("a folder", "a link"):
        (out / name).unlink()
        (out / name).mkdir() if change == "a folder" else (out / name).symlink_to("nowhere")
    else:
        (out / name).write_bytes(b"mine")
    before = files_in(tmp_path)
    with pytest.raises(
        UserError, match=rf"{name}' was not written by lexshift, or was changed since; move it or choose"
    ):
        run(kind, paths, out)
    assert files_in(tmp_path) == before


def test_file_added_beside_results_that_lack_it_is_refused(tmp_path: Path) -> None:
    save(tmp_path, COMPARISON, 3)  # without the first file
    (tmp_path / COMPARISON.files[0]).write_text("mine")
    with pytest.raises(UserError, match="was not written by lexshift, or was changed since"):
        check_results(tmp_path, COMPARISON)


def test_record_with_a_note_of_its_reader_is_refused(tmp_path: Path) -> None:
    save(tmp_path / "out", TRACE, 2)
    record = json.loads((tmp_path / "out/run.json").read_bytes())
    (tmp_path / "out/run.json").write_text(json.dumps(record))  # another layout gives the same record
    check_results(tmp_path / "out", TRACE)
    (tmp_path / "out/run.json").write_text(json.dumps({**record, "note": "for the thesis"}))
    with pytest.raises(UserError, match="was changed since"):
        check_results(tmp_path / "out", TRACE)


@pytest.mark.parametrize("kind", KINDS)
def test_other_files_are_unchanged(paths: list[Path], tmp_path: Path, kind: str) -> None:
    names = ["notes.txt", ".DS_Store", "scores.csv.bak", ".saving-notes", "store.txt"]
    for name in names:
        (tmp_path / name).write_text("mine")
    for _ in range(2):
        run(kind, paths, tmp_path)
        assert all((tmp_path / name).read_text() == "mine" for name in names)


def test_file_edited_during_the_run_is_not_replaced(tmp_path: Path) -> None:
    save(tmp_path, TRACE, 2)
    with open_results(tmp_path, TRACE) as results:
        (tmp_path / "steps.csv").write_text("mine")
        with pytest.raises(UserError, match=r"steps\.csv' was not written by lexshift, or was changed since"):
            results.save({"number": 4}, lambda: contents(4, TRACE))
    assert (tmp_path / "steps.csv").read_text() == "mine"


def test_file_absent_from_the_new_results_is_removed(tmp_path: Path) -> None:
    save(tmp_path, COMPARISON, 2)
    assert (tmp_path / "scores.csv").exists()
    save(tmp_path, COMPARISON, 3)
    assert not (tmp_path / "scores.csv").exists()


@pytest.mark.parametrize(
    "change", ["edited", "added", "a folder", "a link", "in place of the subfolder", "a link to it"]
)
def test_foreign_file_in_a_subfolder_is_refused(tmp_path: Path, change: str) -> None:
    out, mine = tmp_path / "out", tmp_path / "mine"
    save(out, SEPARATE_SIMULATION, 2)
    mine.mkdir()
    name = {"added": "old/mine.txt", "in place of the subfolder": "old", "a link to it": "old"}.get(
        change, "old/both.txt"
    )
    if name == "old":
        shutil.rmtree(out / name)
    else:
        (out / name).unlink(missing_ok=True)
    if change == "a folder":
        (out / name).mkdir()
    elif change.startswith("a link"):
        (out / name).symlink_to(mine)
    else:
        (out / name).write_text("mine")
    before = files_in(tmp_path)
    with pytest.raises(UserError, match=rf"{name}' was not written by lexshift.*; move it or choose another folder"):
        save(out, SEPARATE_SIMULATION, 4)
    assert files_in(tmp_path) == before


def test_hidden_files_in_a_subfolder_are_unchanged(tmp_path: Path) -> None:
    save(tmp_path, SEPARATE_SIMULATION, 2)
    (tmp_path / "old/.DS_Store").write_text("mine")
    save(tmp_path, SEPARATE_SIMULATION, 4)
    assert sorted(os.listdir(tmp_path / "old")) == [".DS_Store", "both.txt", "only 4.txt"]


def test_files_outside_the_subfolders_are_not_removed_for_a_forged_record(tmp_path: Path) -> None:
    out = tmp_path / "out"
    save(out, SEPARATE_SIMULATION, 2)
    names = ["../mine.txt", "old/../mine.txt", "old/inner/mine.txt", "old//mine.txt", "old/..", "notes.txt"]
    (out / "old/inner").mkdir()
    for path in (tmp_path / "mine.txt", out / "mine.txt", out / "old/inner/mine.txt", out / "notes.txt"):
        path.write_text("mine")
    saving = out / _results._SAVING.format(json.loads((out / "simulate.json").read_bytes())["sha256"])
    saving.mkdir()
    checksum = hashlib.sha256(b"mine").hexdigest()
    (saving / _results._REPLACED).write_text(json.dumps(dict.fromkeys(names, checksum)))
    _results.ResultsFolder(out, SEPARATE_SIMULATION).finish_interrupted_save()
    assert not saving.exists()
    for path in (tmp_path / "mine.txt", out / "mine.txt", out / "old/inner/mine.txt", out / "notes.txt"):
        assert path.read_text() == "mine"


# ------------------------------------------------------------------------------------------------------- atomic saving


def operations(folder: Path, kind: Kind, disk: Disk, first: bool) -> int:
    """Return the number of file operations of a save."""
    if not first:
        save(folder, kind, 2)
    disk.done = 0
    save(folder, kind, 3)
    return disk.done


@pytest.mark.slow
@pytest.mark.parametrize("first", [True, False], ids=["into a new folder", "over older results"])
@pytest.mark.parametrize("kind", [*KINDS.values(), SIMULATION, SEPARATE_SIMULATION], ids=lambda kind: kind.name)
def test_save_killed_at_any_moment_is_finished_or_undone(tmp_path: Path, disk: Disk, kind: Kind, first: bool) -> None:
    n = operations(tmp_path / "whole", kind, disk, first)
    expected = files_in(tmp_path / "whole")
    assert n > 3 * len(kind.files)
    seen = set()
    for last in range(n):
        folder = tmp_path / str(last)
        disk.last = sys.maxsize
        if not first:
            save(folder, kind, 2)
        disk.done, disk.last = 0, last
        with pytest.raises(Killed):
            save(folder, kind, 3)
        disk.last = sys.maxsize
        assert consistent(folder, kind) in (None, 2, 3)
        if folder.exists():
            with open_results(folder, kind):
                seen.add(consistent(folder, kind))
                assert not list(folder.glob(".saving-*"))
        save(folder, kind, 3)
        assert files_in(folder) == expected
    assert seen == {None if first else 2, 3}


def test_second_process_is_refused(tmp_path: Path) -> None:
    with open_results(tmp_path / "out", TRACE):
        before = files_in(tmp_path)
        with pytest.raises(UserError, match="another process is writing"):
            save(tmp_path / "out", TRACE, 2)
        assert files_in(tmp_path) == before
    save(tmp_path / "out", TRACE, 2)


@pytest.mark.parametrize("kind", KINDS)
def test_run_locks_its_folder_until_its_end(paths: list[Path], tmp_path: Path, kind: str) -> None:
    """While the encoder of one run works, another run is refused."""
    messages: list[str] = []

    class Other(Toy):
        def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
            if not messages:
                try:
                    run(kind, paths, tmp_path / "out")
                except UserError as error:
                    messages.append(str(error))
            return super().encode(sentences, spans)

    run(kind, paths, tmp_path / "out", Other())
    assert messages == [
        f"another process is writing {str(tmp_path / 'out')!r}; wait for it to end, or choose another folder"
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_command_killed_while_saving_can_be_run_again(paths: list[Path], tmp_path: Path, kind: str) -> None:
    run(kind, paths, tmp_path / "whole", seed=1)
    run(kind, paths, tmp_path / "first", seed=0)
    with pytest.MonkeyPatch.context() as patch:
        saving, counted = _results.ResultsFolder.save, []

        def killed(last: int) -> Callable[..., None]:
            def save(*given: Any) -> None:
                with pytest.MonkeyPatch.context() as inner:
                    disk = Disk(inner)
                    disk.last = last
                    try:
                        saving(*given)
                    finally:
                        counted.append(disk.done)

            return save

        patch.setattr(_results.ResultsFolder, "save", killed(sys.maxsize))
        shutil.copytree(tmp_path / "first", tmp_path / "counted")
        run(kind, paths, tmp_path / "counted", seed=1)
        n = counted[0]
        for last in (0, n // 2, n - 8, n - 4, n - 1):
            folder = tmp_path / str(last)
            shutil.copytree(tmp_path / "first", folder)
            patch.setattr(_results.ResultsFolder, "save", killed(last))
            with pytest.raises(Killed):
                run(kind, paths, folder, seed=1)
            patch.setattr(_results.ResultsFolder, "save", saving)
            run(kind, paths, folder, toy := Toy(), seed=1)
            assert toy.calls == 0
            assert results_in(folder) == results_in(tmp_path / "whole")


# ------------------------------------------------------------------------------------------------------ unusual folders


ODD = [
    *("a file", "inside a file", "a link to nothing", "inside a link to nothing", "a circle of links", "a long name"),
    *("a long path", "almost a long path", "empty", "with a NUL"),
]


def odd_folders(folder: Path) -> dict[str, tuple[Any, str]]:
    (folder / "file").write_text("mine")
    (folder / "dangling").symlink_to(folder / "nowhere")
    (folder / "circle").symlink_to(folder / "circle")
    return {
        "a file": (folder / "file", "would be a folder, but there is a file of that name; choose another"),
        "inside a file": (folder / "file/a/b", "there can be no folder .* is a file; choose another"),
        "a link to nothing": (folder / "dangling", "is a link to a place that is not there; choose another"),
        "inside a link to nothing": (folder / "dangling/a", "is a link to a place that is not there; choose another"),
        "a circle of links": (folder / "circle", "choose another"),
        "a long name": (folder / ("x" * 300), "cannot be '.*': File name too long; choose another one"),
        "a long path": (folder / "/".join(["x" * 100] * 50), "cannot be '.*': File name too long; choose another one"),
        "almost a long path": (f"{folder}/{'a/' * 2000}"[:4060], "cannot be '.*': File name too long; choose another"),
        "empty": ("", "the folder for the results cannot be called ''; choose another name"),
        "with a NUL": ("a\0b", "the folder for the results cannot be called"),
    }


@posix
@pytest.mark.parametrize("kind", [*KINDS, "simulation"])
@pytest.mark.parametrize("case", ODD)
def test_impossible_folder_is_reported_in_one_sentence_before_any_work(
    paths: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, case: str
) -> None:
    monkeypatch.chdir(tmp_path)
    out, message = odd_folders(tmp_path)[case]
    before, toy = sorted(os.listdir(tmp_path)), Toy()
    with pytest.raises(UserError, match=message) as caught:
        run(kind, paths, out, toy)
    assert len(str(caught.value)) < 600
    assert (sorted(os.listdir(tmp_path)), toy.calls) == (before, 0)


@posix
@pytest.mark.parametrize("kind", KINDS)
def test_unusual_but_valid_folders_are_accepted(
    paths: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "here").mkdir()
    (tmp_path / "here/notes.txt").write_text("mine")
    monkeypatch.chdir(tmp_path / "here")
    for out in (tmp_path / "link", f"{tmp_path}/slash//", ".", tmp_path / os.fsdecode(b"\xff\xfe")):
        run(kind, paths, out)
        assert (Path(out) / "run.json").is_file()
    assert (tmp_path / "here/notes.txt").read_text() == "mine"
    assert (tmp_path / "real/run.json").is_file()


@pytest.mark.parametrize("kind", KINDS)
def test_unwritable_folder_is_reported_before_any_work(
    paths: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) != tmp_path)
    toy = Toy()
    for out in (tmp_path, tmp_path / "a", tmp_path / "a/b"):
        with pytest.raises(UserError, match=r"cannot be written: Permission denied; choose another folder \(--out\)"):
            run(kind, paths, out, toy)
    assert (list(tmp_path.iterdir()), toy.calls) == ([], 0)


@posix
def test_endless_record_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.json")
    refused = threading.Event()

    def check() -> None:
        with pytest.raises(UserError, match="was not written by lexshift"):
            check_results(tmp_path, TRACE)
        refused.set()

    thread = threading.Thread(target=check, daemon=True)
    thread.start()
    thread.join(20)
    assert refused.is_set()


@pytest.mark.parametrize("kind", [COMPARISON, DISCOVERY, TRACE])
def test_results_of_each_kind_have_tables_of_senses(kind: Kind) -> None:
    assert set(SENSE_FILES) <= set(kind.files)
