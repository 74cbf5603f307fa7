"""How long and how fast: steps, looks, and what the library's trainer is told."""

from __future__ import annotations

import math
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import save_file

from lexshift.errors import UserError
from lexshift.tune.folder import mark_files
from lexshift.tune.schedule import LIGHT, WHOLE, Schedule, training_arguments

pytestmark = pytest.mark.tune


@given(
    examples=st.integers(1, 3000),
    batch=st.integers(1, 64),
    epochs=st.floats(0.01, 20),
    steps=st.none() | st.integers(1, 500),
    every=st.none() | st.integers(1, 500),
)
def test_steps_are_those_of_the_epochs_and_looks_a_tenth_of_them(
    examples: int, batch: int, epochs: float, steps: int | None, every: int | None
) -> None:
    schedule = Schedule(epochs=epochs, batch=batch, steps=steps, every=every)
    total = schedule.total(examples)
    batches = math.ceil(examples / batch)
    assert total >= 1
    if steps is None:
        assert total == max(1, round(epochs * batches))
    else:
        assert total == min(steps, Schedule(epochs=epochs, batch=batch).total(examples))
    between = schedule.between(total)
    assert 1 <= between <= total
    if every is None:
        assert between == math.ceil(total / 10)
        assert math.ceil(total / between) <= 10
    else:
        assert between == min(every, total)


@pytest.mark.parametrize("name", ["batch", "accumulate", "steps", "every"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True, "3"])
def test_numbers_of_things_are_whole_and_at_least_1(name: str, value: Any) -> None:
    with pytest.raises(UserError, match=f"^{name} must be a whole number of at least 1; got "):
        Schedule(**{name: value})


@pytest.mark.parametrize("name", ["epochs", "rate"])
@pytest.mark.parametrize("value", [0, -1.0, True, "3", None, math.nan, math.inf])
def test_amounts_are_numbers_above_0(name: str, value: Any) -> None:
    with pytest.raises(UserError, match=f"^{name} must be a number above 0; got "):
        Schedule(**{name: value})


@pytest.mark.parametrize("value", [-1, 1.0, True, None])
def test_patience_is_a_whole_number(value: Any) -> None:
    with pytest.raises(UserError, match=r"^patience must be a whole number, 0 or more; got "):
        Schedule(patience=value)
    assert Schedule(patience=0).patience == 0


@pytest.mark.parametrize("value", [-1, 1.0, True, None])
def test_a_seed_is_a_whole_number(value: Any) -> None:
    with pytest.raises(UserError, match=r"^seed must be a whole number, 0 or more; got "):
        Schedule(seed=value)


def test_the_parts_of_a_batch_are_alike() -> None:
    with pytest.raises(UserError, match=r"^accumulate must divide the batch of 32; got 5$"):
        Schedule(accumulate=5)
    assert Schedule(batch=30, accumulate=5).accumulate == 5


def test_all_but_the_device_shapes_a_model() -> None:
    names = {field.name for field in fields(Schedule)}
    changed = Schedule(2.5, 7, 8, 2, 1e-3, 3, 1, 9, "cpu")
    assert changed.settings() == {name: getattr(changed, name) for name in names - {"device"}}
    assert Schedule(device="cpu").settings() == Schedule().settings()


def test_usual_schedules_are_as_they_are_told() -> None:
    assert (WHOLE.epochs, WHOLE.batch, WHOLE.rate) == (2, 16, 5e-5)
    assert (LIGHT.epochs, LIGHT.batch, LIGHT.rate) == (20, 64, 1e-3)


def test_the_trainer_is_told_what_the_schedule_says(tmp_path: Path) -> None:
    schedule = Schedule(batch=24, accumulate=3, rate=2e-3, every=20, seed=11, device="cpu")
    told = training_arguments(schedule, 95, tmp_path, "eval_nll", False)
    assert Path(told.output_dir) == tmp_path / "unfinished"
    assert (told.max_steps, told.per_device_train_batch_size, told.gradient_accumulation_steps) == (95, 8, 3)
    assert (told.learning_rate, told.get_warmup_steps(95)) == (2e-3, round(9.5))
    assert (told.seed, told.data_seed) == (11, 11)
    assert (told.eval_steps, told.save_steps, told.logging_steps) == (20, 20, 2)
    assert (told.metric_for_best_model, told.greater_is_better, told.load_best_model_at_end) == (
        "eval_nll",
        False,
        True,
    )
    assert told.use_cpu
    assert told.device.type == "cpu"
    assert not told.bf16
    assert not told.fp16
    assert told.report_to == []
    assert told.eval_on_start


def test_a_run_that_goes_on_does_not_look_at_its_start(tmp_path: Path) -> None:
    checkpoint = tmp_path / "unfinished" / "checkpoint-5"
    checkpoint.mkdir(parents=True)
    (checkpoint / "trainer_state.json").write_text("{}")
    save_file({"weight": np.zeros(1)}, checkpoint / "model.safetensors")
    for name in ("optimizer.pt", "scheduler.pt", "rng_state.pth"):
        torch.save({}, checkpoint / name)
    mark_files(checkpoint)
    assert not training_arguments(Schedule(device="cpu"), 9, tmp_path, "eval_nll", False).eval_on_start


def test_a_device_that_is_not_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="abacus"):
        training_arguments(Schedule(device="abacus"), 9, tmp_path, "eval_nll", False)
