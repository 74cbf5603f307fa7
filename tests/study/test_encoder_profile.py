"""Test the record of the speed of an encoder, which spares a plan from loading it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest

from lexshift.store.plan import EncodingPlan, plan_encoding
from lexshift.study import encoder_profile
from lexshift.study.encoder_profile import MAX_AGE, PlannedEncoder


class Tiny:
    settings = {"model": "tiny", "weights": "abc"}  # noqa: RUF012
    periods = ("1900", "2000")

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]], **_: Any) -> npt.NDArray[np.float32]:
        assert len(sentences) == len(spans)
        return np.ones((len(sentences), 3), np.float32)


class Loader:
    """Return an encoder, and count how often."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> Tiny:
        self.calls += 1
        return Tiny()


@pytest.fixture
def loader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Loader:
    monkeypatch.setattr(encoder_profile, "cache_folder", lambda: tmp_path / "cache" / "models")
    return Loader()


def sentences() -> EncodingPlan:
    rows = {"sentence": ["a mouse", "the mouse ran"], "start": [2, 4], "end": [7, 9], "corpus": ["1900", "2000"]}
    return plan_encoding(pa.table(rows), periods={"1900": 0, "2000": 1})


def planned(model: Any, load: Callable[[], Any], **options: Any) -> PlannedEncoder:
    return PlannedEncoder(model, options, "en", load)


def test_second_plan_does_not_load_the_encoder(loader: Loader) -> None:
    first = planned("minilm", loader)
    profile = first.profile(sentences())
    second = planned("minilm", loader)
    assert second.profile(sentences()) == profile
    assert second.settings == Tiny.settings
    assert second.periods == Tiny.periods
    assert second.languages == ("en",)
    assert profile.dimensions == 3
    assert loader.calls == 1
    assert second.encode(["a mouse"], [(2, 7)]).shape == (1, 3)
    assert loader.calls == 2


def test_waiting_for_the_disk_is_not_recorded_because_the_next_loading_need_not_wait(loader: Loader) -> None:
    def load_slowly() -> Tiny:
        time.sleep(0.5)
        return loader()

    encoder = planned("minilm", load_slowly)
    assert encoder.profile(sentences()).seconds_to_load < 0.25
    assert encoder.seconds_to_load >= 0.5  # which a plan subtracts from the time of its own reading


@pytest.mark.parametrize("change", [{"model": "minilm-senses"}, {"window": 64}, {"language": "de"}], ids=str)
def test_other_encoder_is_measured_anew(loader: Loader, change: dict[str, Any]) -> None:
    planned("minilm", loader).profile(sentences())
    options = {"model": "minilm", "language": "en", "window": None} | change
    other = PlannedEncoder(options["model"], {"window": options["window"]}, options["language"], loader)
    other.profile(sentences())
    assert loader.calls == 2


def test_changed_folder_is_measured_anew(loader: Loader, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    planned(folder, loader).profile(sentences())
    planned(folder, loader).profile(sentences())
    assert loader.calls == 1
    (folder / "config.json").write_text('{"hidden_size": 3}')
    planned(folder, loader).profile(sentences())
    assert loader.calls == 2


@pytest.mark.parametrize("content", ["old", "{}", "[", '{"seconds_per_character": "x"}'])
def test_old_or_damaged_record_is_ignored(loader: Loader, tmp_path: Path, content: str) -> None:
    planned("minilm", loader).profile(sentences())
    (record,) = (tmp_path / "cache" / "speeds").iterdir()
    if content == "old":
        content = json.dumps(json.loads(record.read_bytes()) | {"measured": time.time() - MAX_AGE - 1})
    record.write_text(content)
    planned("minilm", loader).profile(sentences())
    assert loader.calls == 2


def test_loaded_model_and_encoder_without_settings_have_no_record(loader: Loader, tmp_path: Path) -> None:
    class Anonymous(Tiny):
        settings = None  # type: ignore[assignment]

    planned(Tiny(), loader).profile(sentences())
    assert planned("minilm", Anonymous).profile(sentences()).settings == {}
    assert not (tmp_path / "cache").exists()
