"""Test the description of the folder of a tuned model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lexshift.study.folder_info import COMPLETE, INTERRUPTED
from lexshift.tune.folder import UNFINISHED, find_finished, finish
from lexshift.tune.folder_info import KINDS, describe_model


def plan_of(kind: str, **settings: Any) -> dict[str, Any]:
    return {"kind": kind, "model": "minilm", "weights": "ab"} | KINDS[kind](**settings).record()


def test_tuned_model_is_described(tmp_path: Path) -> None:
    plan = plan_of("wic", epochs=3.0, seed=7)
    assert find_finished(tmp_path, plan) is None
    (tmp_path / UNFINISHED / "checkpoint-10").mkdir()
    begun = describe_model(tmp_path)
    assert begun is not None
    assert (begun.kind, begun.state) == ("tuned model", INTERRUPTED)
    assert begun.missing == ["the model; its folder has 1 checkpoint"]
    (tmp_path / UNFINISHED / "checkpoint-10").rmdir()

    def save(folder: Path) -> None:
        (folder / "config.json").write_text("{}")

    finish(tmp_path, save, {"lexshift": "1", "plan": plan})
    info = describe_model(tmp_path)
    assert info is not None
    assert (info.state, info.missing, info.encoder, info.lexshift) == (COMPLETE, [], "minilm", "1")
    assert info.command == f"lexshift tune wic PAIRS --model minilm --epochs 3.0 --seed 7 --out {tmp_path}"


@pytest.mark.parametrize("kind", list(KINDS))
def test_command_of_default_settings_has_no_options(kind: str, tmp_path: Path) -> None:
    find_finished(tmp_path, plan_of(kind))
    info = describe_model(tmp_path)
    assert info is not None
    assert info.command is not None
    assert [word for word in info.command.split() if word.startswith("--")] == ["--model", "--out"]


def test_flags_are_in_the_command(tmp_path: Path) -> None:
    find_finished(tmp_path, plan_of("wic", light=True, batch=8))
    info = describe_model(tmp_path)
    assert info is not None
    assert info.command == f"lexshift tune wic PAIRS --model minilm --batch 8 --light --out {tmp_path}"


def test_other_folder_is_no_tuned_model(tmp_path: Path) -> None:
    assert describe_model(tmp_path) is None
    (tmp_path / "run.json").write_text('{"plan": {"kind": "dinner"}}')
    assert describe_model(tmp_path) is None
