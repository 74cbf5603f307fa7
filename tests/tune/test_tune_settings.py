"""Test the training settings: their checks, their defaults, and the resulting steps."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.errors import UserError
from lexshift.tune.settings import LanguageSettings, PairSettings, TimeSettings, TrainingSettings

pytestmark = pytest.mark.tune


@given(
    examples=st.integers(1, 3000),
    batch=st.integers(1, 64),
    epochs=st.floats(0.01, 20),
    steps=st.none() | st.integers(1, 500),
    every=st.none() | st.integers(1, 500),
)
def test_steps_follow_from_the_epochs_and_evaluations_are_a_tenth_of_them(
    examples: int, batch: int, epochs: float, steps: int | None, every: int | None
) -> None:
    settings = TrainingSettings(epochs=epochs, batch=batch, steps=steps, every=every)
    total = settings.total(examples)
    batches = math.ceil(examples / batch)
    assert total >= 1
    if steps is None:
        assert total == max(1, round(epochs * batches))
    else:
        assert total == min(steps, TrainingSettings(epochs=epochs, batch=batch).total(examples))
    between = settings.between(total)
    assert 1 <= between <= total
    if every is None:
        assert between == math.ceil(total / 10)
        assert math.ceil(total / between) <= 10
    else:
        assert between == min(every, total)


@pytest.mark.parametrize("name", ["batch", "accumulate", "steps", "every"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True, "3"])
def test_counts_must_be_integers_of_at_least_1(name: str, value: Any) -> None:
    with pytest.raises(UserError, match=f"^{name} must be a whole number of at least 1; got "):
        TrainingSettings(**{name: value})


@pytest.mark.parametrize("name", ["epochs", "learning_rate"])
@pytest.mark.parametrize("value", [0, -1.0, True, "3", None, math.nan, math.inf])
def test_amounts_must_be_numbers_above_0(name: str, value: Any) -> None:
    with pytest.raises(UserError, match=f"^{name} must be a number above 0; got "):
        TrainingSettings(**{name: value})


@pytest.mark.parametrize("value", [-1, 1.0, True, None])
def test_patience_must_be_an_integer(value: Any) -> None:
    with pytest.raises(UserError, match=r"^patience must be a whole number of at least 0; got "):
        TrainingSettings(patience=value)
    assert TrainingSettings(patience=0).patience == 0


@pytest.mark.parametrize("value", [-1, 1.0, True, None])
def test_seed_must_be_an_integer(value: Any) -> None:
    with pytest.raises(UserError, match=r"^seed must be a whole number, 0 or more; got "):
        TrainingSettings(seed=value)


def test_accumulate_must_divide_the_batch() -> None:
    with pytest.raises(UserError, match=r"^accumulate must divide the batch of 32; got 5$"):
        TrainingSettings(accumulate=5)
    assert TrainingSettings(batch=30, accumulate=5).accumulate == 5


@pytest.mark.parametrize("kind", [TrainingSettings, LanguageSettings, TimeSettings, PairSettings])
def test_all_settings_except_the_device_shape_a_model(kind: type[TrainingSettings]) -> None:
    names = {field.name for field in fields(kind)}
    changed = kind(epochs=2.5, steps=7, batch=8, accumulate=2, learning_rate=1e-3, every=3, seed=9, device="cpu")
    assert changed.record() == {name: getattr(changed, name) for name in names - {"device"}}
    assert kind(device="cpu").record() == kind().record()


def test_projection_does_not_depend_on_full_training_settings() -> None:
    light = [PairSettings(light=True), PairSettings(light=True, pooling="mean", margin=1.0, window=9)]
    assert light[0].record() == light[1].record()


@pytest.mark.parametrize(("light", "usual"), [(False, (2, 16, 5e-5)), (True, (20, 64, 1e-3))])
def test_each_form_of_training_on_pairs_has_its_own_defaults(light: bool, usual: tuple[float, int, float]) -> None:
    settings = PairSettings(light=light)
    assert (settings.epochs, settings.batch, settings.learning_rate) == usual
    settings = PairSettings(light=light, epochs=3)
    assert (settings.epochs, settings.batch, settings.learning_rate) == (3, *usual[1:])


@pytest.mark.parametrize("kind", [TrainingSettings, LanguageSettings, TimeSettings, PairSettings])
def test_every_setting_has_a_help_text(kind: type[TrainingSettings]) -> None:
    assert all(field.metadata["help"].endswith(".") for field in fields(kind))
