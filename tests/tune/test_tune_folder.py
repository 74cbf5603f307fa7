"""Test the folder of a tuned model: ownership, resuming, and atomic publishing."""

from __future__ import annotations

import errno
import io
import json
import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors import numpy as safetensors

from lexshift.errors import UserError
from lexshift.tune.folder import (
    MARK,
    RUN,
    UNFINISHED,
    TunedModel,
    find_finished,
    finish,
    last_checkpoint,
    mark_files,
    remove_old_checkpoints,
    tuning_folder,
)

pytestmark = pytest.mark.tune

PLAN: dict[str, Any] = {
    "kind": "mlm",
    "model": "m",
    "weights": "ab",
    "learning_rate": 1e-3,
    "time tokens": [],
    "periods": None,
}
WEIGHTS = safetensors.save({"weight": np.zeros(8)})
_archive = io.BytesIO()
torch.save({"step": 3}, _archive)
ARCHIVE = _archive.getvalue()
HISTORY = [{"step": 0, "loss": None, "held_out_loss": 3.0}, {"step": 2, "loss": 2.5, "held_out_loss": 2.0}]


def begun(folder: Path, plan: dict[str, Any] = PLAN) -> Path:
    assert find_finished(folder, plan) is None
    return folder / UNFINISHED


def begun_in(folder: Path) -> Path:
    folder.mkdir()
    return begun(folder)


def make_checkpoint(path: Path, step: int) -> None:
    """Write a checkpoint like the trainer does, marked as ours."""
    path.mkdir(parents=True)
    (path / "model.safetensors").write_bytes(WEIGHTS)
    for name in ("optimizer.pt", "scheduler.pt", "rng_state.pth"):
        (path / name).write_bytes(ARCHIVE)
    (path / "trainer_state.json").write_text(json.dumps({"global_step": step}))
    mark_files(path)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def save(made: Path) -> None:
    for name in ("config.json", "a.safetensors", "z.json"):
        (made / name).write_text(f"new {name}")
    (made / "1_Pooling").mkdir()
    (made / "1_Pooling" / "config.json").write_text("new pooling")


def end(folder: Path) -> TunedModel:
    return finish(folder, save, {"plan": PLAN, "history": HISTORY, "corpus": "Käse"})


# ------------------------------------------------------------------------------------------------------------ ownership


def test_folder_is_created_with_its_parents(tmp_path: Path) -> None:
    with tuning_folder(tmp_path / "a" / "b") as folder:
        assert folder == tmp_path / "a" / "b"
        assert folder.is_dir()
    with tuning_folder(str(tmp_path / "a" / "b")) as folder:  # its remains do not interfere
        begun(folder)
    with tuning_folder(folder):
        pass


def test_file_in_place_of_the_folder_is_refused_and_unchanged(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with (
        pytest.raises(UserError, match=r"the tuned model '.*out' would be a folder, but there is a file of that name"),
        tuning_folder(tmp_path / "out"),
    ):
        raise AssertionError
    assert (tmp_path / "out").read_text() == "mine"


@pytest.mark.parametrize("name", ["config.json", "notes.txt", "store.json"])
def test_folder_with_other_files_is_refused_and_unchanged(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("mine")
    sentence = f"the folder {str(tmp_path)!r} holds other files; choose an empty or a new one (--out)"
    with pytest.raises(UserError, match=re.escape(sentence)), tuning_folder(tmp_path):
        raise AssertionError
    assert names(tmp_path) == {name}


def test_folder_has_one_writer_at_a_time(tmp_path: Path) -> None:
    with (
        tuning_folder(tmp_path / "out"),
        pytest.raises(UserError, match=r"another process is writing '.*out'"),
        tuning_folder(tmp_path / "out"),
    ):
        raise AssertionError
    with tuning_folder(tmp_path / "out"):
        pass


# ------------------------------------------------------------------------------------------------------------- resuming


def test_plan_is_saved_when_a_run_starts_and_found_again(tmp_path: Path) -> None:
    work = begun(tmp_path)
    assert json.loads((work / "plan.json").read_bytes()) == PLAN
    assert find_finished(tmp_path, {**PLAN, "time tokens": ()}) is None  # as it is read back from a file


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"learning_rate": 2e-3}, "learning_rate 0.001, not 0.002"),
        ({"kind": "time"}, "kind 'mlm', not 'time'"),
        ({"time tokens": ["<1>"]}, "time tokens [], not ['<1>']"),
        ({"weights": "cd"}, "another model (m, not m, or other weights of that name)"),
        ({"weights": "cd", "model": "n"}, "model 'm', not 'n'"),
    ],
    ids=str,
)
def test_another_plan_is_refused_with_the_difference(change: dict[str, Any], difference: str, tmp_path: Path) -> None:
    work = begun(tmp_path)
    sentence = (
        f"{str(work)!r} holds the unfinished work of a run with {difference}: finish that run with its own command, or "
        f"delete that folder"
    )
    with pytest.raises(UserError, match=f"^{re.escape(sentence)}$"):
        find_finished(tmp_path, PLAN | change)
    assert json.loads((work / "plan.json").read_bytes()) == PLAN
    end(tmp_path)
    sentence = f"{str(tmp_path)!r} holds a model tuned with {difference}; choose another folder (--out)"
    with pytest.raises(UserError, match=f"^{re.escape(sentence)}$"):
        find_finished(tmp_path, PLAN | change)


def test_another_name_of_the_same_weights_is_the_same_plan(tmp_path: Path) -> None:
    begun(tmp_path)
    assert find_finished(tmp_path, {**PLAN, "model": "elsewhere"}) is None
    end(tmp_path)
    assert find_finished(tmp_path, {**PLAN, "model": "elsewhere"}) is not None


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3", '{"lexshift": "0.1"}', '{"plan": 3}'])
def test_unreadable_run_record_is_damaged(text: str, tmp_path: Path) -> None:
    (tmp_path / RUN).write_text(text)
    with tuning_folder(tmp_path) as folder, pytest.raises(UserError, match=r"run\.json' is damaged; choose another"):
        find_finished(folder, PLAN)
    assert (tmp_path / RUN).read_text() == text


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "3"])
def test_unreadable_plan_is_damaged(text: str, tmp_path: Path) -> None:
    plan = begun(tmp_path) / "plan.json"
    plan.write_text(text)
    with pytest.raises(UserError, match=r"plan\.json' is damaged: delete '.*unfinished' and run again"):
        find_finished(tmp_path, PLAN)
    assert plan.read_text() == text


MISSING = {"no state": "trainer_state.json", "no weights": "model.safetensors", "no archive": "scheduler.pt"}
FAULTS = ["whole", "cut", "empty", "no text", "cut weights", "cut archive", "no mark", *MISSING]


@given(st.dictionaries(st.integers(1, 2000), st.sampled_from(FAULTS), max_size=6))
def test_last_checkpoint_is_the_latest_complete_one_and_others_are_unchanged(checkpoints: dict[int, str]) -> None:
    with TemporaryDirectory() as place:
        folder = Path(place)
        for step, kind in checkpoints.items():
            path = folder / UNFINISHED / f"checkpoint-{step}"
            make_checkpoint(path, step)
            text = json.dumps({"global_step": step}).encode()
            damaged = {
                "cut": ("trainer_state.json", text[:-3]),
                "empty": ("trainer_state.json", b""),
                "no text": ("trainer_state.json", b"\xff\xfe\0"),
                "cut weights": ("model.safetensors", WEIGHTS[:-1]),
                "cut archive": ("scheduler.pt", ARCHIVE[: len(ARCHIVE) // 2]),
            }
            if kind in damaged:
                name, data = damaged[kind]
                (path / name).write_bytes(data)
            if kind in MISSING:
                (path / MISSING[kind]).unlink()
            if kind == "no mark":
                (path / MARK).unlink()
        whole = [step for step, kind in checkpoints.items() if kind == "whole"]
        found = last_checkpoint(folder)
        if whole:
            assert found == str(folder / UNFINISHED / f"checkpoint-{max(whole)}")
        else:
            assert found is None
        assert {path.name for path in folder.glob(f"{UNFINISHED}/*")} == {f"checkpoint-{step}" for step in checkpoints}


def test_without_work_there_is_no_checkpoint(tmp_path: Path) -> None:
    assert last_checkpoint(tmp_path) is None
    begun(tmp_path)
    assert last_checkpoint(tmp_path) is None
    assert (tmp_path / UNFINISHED / "plan.json").exists()


# ----------------------------------------------------------------------------------------------------------- publishing


def test_finished_model_is_published_with_its_record_and_nothing_else(tmp_path: Path) -> None:
    work = begun(tmp_path)
    (work / "checkpoint-5").mkdir()
    tuned = end(tmp_path)
    assert names(tmp_path) == {"config.json", "a.safetensors", "z.json", "1_Pooling", RUN}
    assert (tmp_path / "config.json").read_text() == "new config.json"
    assert (tmp_path / "1_Pooling" / "config.json").read_text() == "new pooling"
    assert json.loads((tmp_path / RUN).read_bytes()) == tuned.run
    assert "Käse" in (tmp_path / RUN).read_text("utf-8")
    assert (tuned.folder, tuned.run["plan"]) == (tmp_path, PLAN)
    again = find_finished(tmp_path, PLAN)
    assert again is not None
    assert (again.folder, again.run) == (tuned.folder, tuned.run)


def test_history_is_a_table_with_one_row_per_evaluation(tmp_path: Path) -> None:
    begun(tmp_path)
    table = end(tmp_path).history
    assert list(table.columns) == ["step", "loss", "held_out_loss"]
    assert table["step"].tolist() == [0, 2]
    assert table["held_out_loss"].tolist() == [3.0, 2.0]


@pytest.mark.parametrize("stop", ["config.json", "a.safetensors", "1_Pooling/config.json", RUN])
def test_interrupted_publishing_leaves_no_model_and_can_be_repeated(
    stop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(tmp_path)
    replace = os.replace

    def stopped(source: Any, target: Any) -> None:
        if Path(target) == tmp_path / stop:
            raise KeyboardInterrupt
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", stopped)
        with pytest.raises(KeyboardInterrupt):
            end(tmp_path)
    assert (tmp_path / UNFINISHED / "plan.json").exists()
    assert not (tmp_path / RUN).exists()
    if stop != RUN:
        assert not (tmp_path / "config.json").exists()
    with tuning_folder(tmp_path) as folder:
        assert find_finished(folder, PLAN) is None
        end(folder)
    assert names(tmp_path) == {"config.json", "a.safetensors", "z.json", "1_Pooling", RUN, ".lock"}


def test_full_disk_at_the_end_is_reported_and_the_work_is_preserved(tmp_path: Path) -> None:
    work = begun(tmp_path)

    def full(made: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(made))

    with pytest.raises(UserError, match=rf"the disk is full while writing '{tmp_path}': make room and run the same"):
        finish(tmp_path, full, {"plan": PLAN})
    assert (work / "plan.json").exists()


@pytest.mark.parametrize("name", ["unfinished/chapter.txt", "unfinished/checkpoint-1/chapter.txt", "unfinished"])
def test_folder_of_the_user_is_not_treated_as_unfinished_work(tmp_path: Path, name: str) -> None:
    (tmp_path / "project" / name).parent.mkdir(parents=True)
    (tmp_path / "project" / name).write_text("mine")
    with (
        pytest.raises(UserError, match=r"project' holds other files; choose an empty or a new one"),
        tuning_folder(tmp_path / "project"),
    ):
        pytest.fail("it is not ours")
    with pytest.raises(UserError, match=r"unfinished' holds other files; move it away"):
        find_finished(tmp_path / "project", PLAN)
    assert (tmp_path / "project" / name).read_text() == "mine"


# ------------------------------------------------------------------------------------------ foreign files in the folder


@pytest.mark.parametrize("name", ["config.json", "z.json", "1_Pooling/config.json", RUN])
def test_file_added_to_the_folder_meanwhile_is_not_replaced(name: str, tmp_path: Path) -> None:
    work = begun(tmp_path)
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    sentence = f"{str(tmp_path / name)!r} was not written by lexshift: move it away and run the same command again"
    with pytest.raises(UserError, match=re.escape(sentence)):
        end(tmp_path)
    assert (tmp_path / name).read_text() == "mine"
    assert names(tmp_path) == {UNFINISHED, Path(name).parts[0]}  # no file of the model exists
    assert (work / "plan.json").exists()
    (tmp_path / name).rename(tmp_path / "mine.txt")
    assert end(tmp_path).run["plan"] == PLAN
    assert names(tmp_path) == {"config.json", "a.safetensors", "z.json", "1_Pooling", RUN, "mine.txt"}
    assert (tmp_path / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("kind", ["folder", "link", "link to nothing"])
def test_non_file_in_place_of_an_output_is_not_replaced(kind: str, tmp_path: Path) -> None:
    out, mine = tmp_path / "out", tmp_path / "mine"
    begun_in(out)
    if kind == "folder":
        (out / "config.json").mkdir()
        (out / "config.json" / "note.txt").write_text("mine")
    else:
        if kind == "link":
            mine.write_text("mine")
        (out / "config.json").symlink_to(mine)
    with pytest.raises(UserError, match=r"config\.json' was not written by lexshift: move it away"):
        end(out)
    if kind == "folder":
        assert (out / "config.json" / "note.txt").read_text() == "mine"
    else:
        assert (out / "config.json").is_symlink()
        assert mine.exists() == (kind == "link")


def test_notes_in_the_unfinished_work_are_preserved(tmp_path: Path) -> None:
    work = begun(tmp_path)
    notes = [work / "note.txt", work / "checkpoint-5" / "note.txt", work / "checkpoint-notes" / "a" / "note.txt"]
    for step in (5, 10):
        make_checkpoint(work / f"checkpoint-{step}", step)
    for note in notes:
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text("mine")
    assert last_checkpoint(tmp_path) == str(work / "checkpoint-10")
    end(tmp_path)
    assert sorted(path for path in work.rglob("*") if path.is_file()) == sorted(notes)
    again = find_finished(tmp_path, PLAN)
    assert again is not None
    with tuning_folder(tmp_path):
        pass
    assert all(note.read_text() == "mine" for note in notes)


def test_work_left_by_a_run_stopped_at_its_end_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = begun(tmp_path)
    make_checkpoint(work / "checkpoint-5", 5)

    def stopped(_: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("lexshift.tune.folder._remove_work_folder", stopped)
        with pytest.raises(KeyboardInterrupt):
            end(tmp_path)
    assert (work / "checkpoint-5").exists()
    assert find_finished(tmp_path, PLAN) is not None
    assert not work.exists()


@pytest.mark.parametrize(("best", "kept"), [(None, {4, 5}), (5, {4, 5}), (4, {4, 5}), (1, {1, 5})])
def test_last_and_best_checkpoints_and_notes_in_the_others_are_preserved(
    best: int | None, kept: set[int], tmp_path: Path
) -> None:
    for step in range(1, 6):
        make_checkpoint(tmp_path / f"checkpoint-{step}", step)
    (tmp_path / "checkpoint-2" / "note.txt").write_text("mine")
    remove_old_checkpoints(tmp_path, None if best is None else str(tmp_path / f"checkpoint-{best}"))
    assert names(tmp_path) == {f"checkpoint-{step}" for step in (*kept, 2)}
    assert names(tmp_path / "checkpoint-2") == {"note.txt"}
