"""A converted model is in the cache completely or not at all, whatever happens while it is written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lexshift.encode import model_cache
from lexshift.encode.model_cache import cached_model, is_complete
from lexshift.errors import UserError

FILES = {"config.json": b"{}", "model.safetensors": b"weights" * 1000}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of converted models, which does not exist yet."""
    root = tmp_path / "cache" / "models"
    monkeypatch.setattr(model_cache, "cache_folder", lambda: root)
    return root


class Conversion:
    """Writes the files of a model, and counts how often."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, folder: Path) -> None:
        self.count += 1
        for name, content in FILES.items():
            (folder / name).write_bytes(content)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name in FILES}


def names(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir() if path.name != ".lock")


def test_model_is_written_once(root: Path) -> None:
    write = Conversion()
    for _ in range(3):
        assert cached_model("model-1", write) == root / "model-1"
    assert contents(root / "model-1") == FILES
    assert write.count == 1
    assert names(root) == ["model-1"]


def test_model_of_another_name_is_another_folder(root: Path) -> None:
    write = Conversion()
    cached_model("model-1", write)
    cached_model("model-2", write)
    assert (write.count, names(root)) == (2, ["model-1", "model-2"])


@pytest.mark.parametrize(
    "damage", ["changed", "shorter", "missing", "added", "no checksums", "damaged checksums", "file"]
)
def test_damaged_model_is_written_again(damage: str, root: Path) -> None:
    write = Conversion()
    folder = cached_model("model-1", write)
    weights, checksums = folder / "model.safetensors", folder / "checksums.json"
    if damage == "changed":
        weights.write_bytes(FILES[weights.name].replace(b"w", b"W", 1))
    elif damage == "shorter":
        os.truncate(weights, 100)
    elif damage == "missing":
        weights.unlink()
    elif damage == "added":
        (folder / "lexshift.json").write_text("{}")
    elif damage == "no checksums":
        checksums.unlink()
    elif damage == "damaged checksums":
        checksums.write_bytes(checksums.read_bytes()[:-5])
    else:
        folder.rename(root / "aside")
        folder.write_text("a file")
    assert not is_complete(folder)
    assert cached_model("model-1", write) == folder
    assert is_complete(folder)
    assert contents(folder) == FILES
    assert write.count == 2
    assert [name for name in names(root) if name != "aside"] == ["model-1"]


def test_error_while_writing_leaves_nothing(root: Path) -> None:
    def fail(folder: Path) -> None:
        Conversion()(folder)
        raise UserError("the file is damaged")

    with pytest.raises(UserError, match="the file is damaged"):
        cached_model("model-1", fail)
    assert names(root) == []
    assert contents(cached_model("model-1", Conversion())) == FILES


KILLED = """
import os, sys
from pathlib import Path
from lexshift.encode import model_cache
model_cache.cache_folder = lambda: Path(sys.argv[1])
def write(folder):
    (folder / "config.json").write_bytes(b"{}")
    os._exit(9)
model_cache.cached_model("model-1", write)
"""


def test_killed_process_leaves_nothing_that_is_used(root: Path) -> None:
    assert subprocess.run([sys.executable, "-c", KILLED, str(root)], timeout=60).returncode == 9
    assert [name.startswith(".model-1-") for name in names(root)] == [True]
    assert contents(cached_model("model-1", Conversion())) == FILES
    assert names(root) == ["model-1"]


SLOW = """
import sys, time
from pathlib import Path
from lexshift.encode import model_cache
model_cache.cache_folder = lambda: Path(sys.argv[1])
def write(folder):
    print("written", flush=True)
    (folder / "config.json").write_bytes(b"{}")
    time.sleep(0.5)
    (folder / "model.safetensors").write_bytes(b"weights" * 1000)
print(model_cache.is_complete(model_cache.cached_model("model-1", write)))
"""


def test_of_several_processes_one_writes_and_the_others_wait(root: Path) -> None:
    command = [sys.executable, "-c", SLOW, str(root)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    outputs = [process.communicate(timeout=60)[0].split() for process in running]
    assert sorted(outputs) == [["True"], ["True"], ["written", "True"]]
    assert contents(root / "model-1") == FILES
    assert names(root) == ["model-1"]


def test_cache_that_cannot_be_written_is_reported_in_one_sentence(root: Path) -> None:
    root.parent.mkdir()
    root.write_text("a file")
    with pytest.raises(UserError, match=r"models' cannot be written: "):
        cached_model("model-1", Conversion())


def test_cache_is_in_the_cache_folder_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platformdirs.user_cache_path", lambda name, appauthor: tmp_path / name / str(appauthor))
    assert model_cache.cache_folder() == tmp_path / "lexshift" / "False" / "models"
