"""Test the arguments of the trainer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from lexshift.errors import UserError
from lexshift.tune.folder import mark_files
from lexshift.tune.settings import TrainingSettings
from lexshift.tune.training import training_arguments

pytestmark = pytest.mark.tune


def test_trainer_receives_the_schedule(tmp_path: Path) -> None:
    settings = TrainingSettings(batch=24, accumulate=3, learning_rate=2e-3, every=20, seed=11, device="cpu")
    arguments = training_arguments(settings, 95, tmp_path, "eval_nll", False)
    assert Path(arguments.output_dir) == tmp_path / "unfinished"
    assert arguments.max_steps == 95
    assert (arguments.per_device_train_batch_size, arguments.gradient_accumulation_steps) == (8, 3)
    assert (arguments.learning_rate, arguments.get_warmup_steps(95)) == (2e-3, round(9.5))
    assert (arguments.seed, arguments.data_seed) == (11, 11)
    assert (arguments.eval_steps, arguments.save_steps, arguments.logging_steps) == (20, 20, 2)
    assert (arguments.metric_for_best_model, arguments.greater_is_better, arguments.load_best_model_at_end) == (
        "eval_nll",
        False,
        True,
    )
    assert arguments.use_cpu
    assert arguments.device.type == "cpu"
    assert not arguments.bf16
    assert not arguments.fp16
    assert arguments.report_to == []
    assert arguments.eval_on_start


def test_resumed_run_does_not_evaluate_at_its_start(tmp_path: Path) -> None:
    checkpoint = tmp_path / "unfinished" / "checkpoint-5"
    checkpoint.mkdir(parents=True)
    (checkpoint / "trainer_state.json").write_text("{}")
    save_file({"weight": np.zeros(1)}, checkpoint / "model.safetensors")
    for name in ("optimizer.pt", "scheduler.pt", "rng_state.pth"):
        torch.save({}, checkpoint / name)
    mark_files(checkpoint)
    assert not training_arguments(TrainingSettings(device="cpu"), 9, tmp_path, "eval_nll", False).eval_on_start


def test_unknown_device_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="abacus"):
        training_arguments(TrainingSettings(device="abacus"), 9, tmp_path, "eval_nll", False)
