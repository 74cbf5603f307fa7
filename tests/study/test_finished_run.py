"""Test the recognition of finished results: any difference between two requests or in the results is noticed."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lexshift.encode.adaptation import Base
from lexshift.encode.built_in import BUILT_IN
from lexshift.store.format import digest
from lexshift.study import finished_run
from lexshift.study.finished_run import FINISHED, describe_request, read_finished, write_finished

RUN = {"finished": "2026-01-01", "words": ["mouse"]}
NAMES = ["scores.csv", "senses.csv"]
TICK = 0.05  # seconds that exceed the steps in which a file system counts time


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with corpora, a list of words, a dictionary and a model, whose files count as old."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(finished_run, "MARGIN", 0)
    for name in ("old.txt", "texts/a.txt", "texts/b.txt", "words.txt", "senses.tsv", "model/config.json"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(f"the mouse of {name}\n")
    time.sleep(TICK)
    return tmp_path


def request(*corpora: str, question: str = "compare", **changes: Any) -> str | None:
    """Return the checksum of a request."""
    arguments: dict[str, Any] = {"out": "results", "words": "words.txt", "control": "auto", "model": "./model"}
    arguments |= {"dictionary": "senses.tsv", "labels": ["a", "b"], "markers": None, "seed": 0}
    return describe_request(question, corpora or ("old.txt", "texts"), arguments | changes)


def test_same_request_has_the_same_checksum() -> None:
    assert request() is not None
    assert request() == request()


@pytest.mark.parametrize("name", ["old.txt", "texts/b.txt", "words.txt", "senses.tsv", "model/config.json"])
def test_change_of_one_byte_of_any_file_is_noticed(name: str) -> None:
    before, path = request(), Path(name)
    status = path.stat()
    path.write_text(path.read_text().replace("mouse", "moose"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))  # which does not hide the change
    assert path.stat().st_size == status.st_size
    time.sleep(TICK)
    assert request() not in (before, None)


def test_file_that_was_just_changed_makes_a_request_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finished_run, "MARGIN", 3600 * 10**9)
    assert request() is None


def test_time_in_the_future_makes_a_request_unknown() -> None:
    later = time.time_ns() + 3600 * 10**9
    os.utime("texts/a.txt", ns=(later, later))
    assert request() is None


@pytest.mark.parametrize(
    "changes",
    [
        {"question": "trace"},
        {"seed": 1},
        {"words": "mouse"},
        {"words": "mouse,bread"},
        {"control": "none"},
        {"control": "./words.txt"},
        {"labels": ["a", "c"]},
        {"out": "other"},
        {"model": "auto"},
        {"model": next(iter(BUILT_IN))},
        {"markers": ("<t>", "</t>")},
        {"dictionary": None},
    ],
)
def test_any_other_option_is_noticed(changes: dict[str, Any]) -> None:
    assert request(**changes) not in (request(), None)


def test_new_renamed_and_missing_files_of_a_corpus_are_noticed() -> None:
    seen = [request()]
    Path("texts/c.txt").write_text("more\n")
    time.sleep(TICK)
    seen.append(request())
    Path("texts/c.txt").rename("texts/d.txt")
    time.sleep(TICK)
    seen.append(request())
    Path("texts/a.txt").unlink()
    seen.append(request())
    assert None not in seen
    assert len(set(seen)) == 4


def test_order_of_the_corpora_is_noticed() -> None:
    assert request("old.txt", "texts") != request("texts", "old.txt")


def test_other_version_of_a_library_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    before = request()
    monkeypatch.setattr(finished_run, "package_versions", lambda: {"numpy": "0"})
    assert request() not in (before, None)


def test_other_version_of_the_program_is_noticed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = request()
    monkeypatch.setattr(finished_run, "_PACKAGE", place / "texts")
    assert request() not in (before, None)


@pytest.mark.parametrize(
    "changes",
    [{"model": "nobody/no-such-model"}, {"dictionary": "wn:oewn:2024"}, {"model": object()}, {"seed": object()}],
)
def test_what_cannot_be_checked_makes_a_request_unknown(changes: dict[str, Any]) -> None:
    assert request(**changes) is None


def test_standard_input_and_missing_corpora_make_a_request_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    with open("old.txt") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert request("-", "texts") is None
    assert request("no such file", "texts") is None


def test_folder_with_the_name_of_a_built_in_model_makes_a_request_unknown() -> None:
    name = next(iter(BUILT_IN))
    Path(name).mkdir()
    assert request(model=name) is None


def test_base_of_an_adapter_belongs_to_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("base").mkdir()
    Path("base/config.json").write_text("{}")
    monkeypatch.setattr(finished_run, "read_base", lambda folder: Base("./base") if folder.name == "model" else None)
    time.sleep(TICK)
    before = request()
    assert before is not None
    Path("base/config.json").write_text("[]")
    time.sleep(TICK)
    assert request() not in (before, None)


def test_model_in_the_cache_of_the_hub_is_known(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    constants = pytest.importorskip("huggingface_hub").constants
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(place / "hub"))
    snapshot = place / "hub" / "models--some--model" / "snapshots" / "1"
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    time.sleep(TICK)
    before = request(model="some/model")
    assert before is not None
    assert request(model="some/model", revision="1") not in (before, None)
    (snapshot / "config.json").write_text("[]")
    time.sleep(TICK)
    assert request(model="some/model") not in (before, None)


# ------------------------------------------------------------------------------------------------------------- results


def save(folder: Path, run: dict[str, Any] = RUN) -> None:
    """Write results into a folder: a table, a store and their record."""
    (folder / "store").mkdir(parents=True, exist_ok=True)
    (folder / "store" / "vectors.npy").write_bytes(b"vectors")
    (folder / "scores.csv").write_bytes(b"word\nmouse\n")
    record: dict[str, Any] = {"kind": "comparison", **run}
    record["files"] = {"scores.csv": hashlib.sha256(b"word\nmouse\n").hexdigest()}
    (folder / "run.json").write_text(json.dumps(record | {"sha256": digest(record)}))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Return a folder with the results of the request "r"."""
    folder = tmp_path / "results"
    save(folder)
    write_finished(folder, "r", RUN, NAMES, {"notes": ["note"]})
    time.sleep(TICK)
    return folder


def test_finished_results_are_found(results: Path) -> None:
    assert read_finished(results, "r") == ({"notes": ["note"]}, {"scores.csv": b"word\nmouse\n"})


def test_results_of_another_or_an_unknown_request_are_not_found(results: Path) -> None:
    assert read_finished(results, "s") is None
    assert read_finished(results, None) is None


def test_nothing_is_found_where_nothing_is_saved(results: Path) -> None:
    (results / FINISHED).unlink()
    assert read_finished(results, "r") is None
    assert read_finished(results / "nowhere", "r") is None
    write_finished(results, None, RUN, NAMES, {})
    assert not (results / FINISHED).exists()


def _append(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b" ")


@pytest.mark.parametrize("name", ["run.json", "scores.csv", "store/vectors.npy", FINISHED])
@pytest.mark.parametrize("change", [Path.unlink, _append, lambda path: path.write_bytes(b"{}")])
def test_change_of_the_results_is_noticed(results: Path, name: str, change: Callable[[Path], Any]) -> None:
    change(results / name)
    assert read_finished(results, "r") is None or (name == "run.json" and change is _append)  # white space


def test_other_times_of_a_result_file_do_not_matter(results: Path) -> None:
    (results / "scores.csv").touch()
    assert read_finished(results, "r") is not None


def test_other_results_and_files_of_others_are_noticed(results: Path) -> None:
    (results / "senses.csv").write_text("mine")  # a run would refuse to replace it
    assert read_finished(results, "r") is None
    (results / "senses.csv").unlink()
    assert read_finished(results, "r") is not None
    save(results, RUN | {"finished": "2026-01-02"})
    assert read_finished(results, "r") is None


def test_nothing_is_saved_with_results_of_another_run(results: Path) -> None:
    before = (results / FINISHED).read_bytes()
    write_finished(results, "s", RUN | {"finished": "2026-01-02"}, NAMES, {})
    assert (results / FINISHED).read_bytes() == before


def test_file_of_somebody_else_is_left_alone(results: Path) -> None:
    (results / FINISHED).write_text("mine")
    write_finished(results, "r", RUN, NAMES, {})
    assert (results / FINISHED).read_text() == "mine"


def test_folder_that_cannot_be_written_is_no_error(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, content: bytes) -> None:
        raise PermissionError(path, content)

    monkeypatch.setattr(finished_run, "write_whole", refuse)
    before = (results / FINISHED).read_bytes()
    write_finished(results, "s", RUN, NAMES, {})
    assert (results / FINISHED).read_bytes() == before
