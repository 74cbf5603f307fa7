"""Test learning a projection of the vectors of a frozen encoder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file
from test_tune_wic import (
    USAGES,
    WORDS,
    Listener,
    StoppedError,
    encoded,
    loaded,
    planted,
    without_time,
    xl_lexeme,
)
from tiny_models import HIDDEN, folder, make_config, make_model, make_tokenizer
from tuning import arguments

from lexshift.encode import as_encoder
from lexshift.encode.adaptation import FILE, PROJECTION
from lexshift.encode.loading import load_model
from lexshift.errors import UserError
from lexshift.tune import PairSettings, TunedModel, tune_wic
from lexshift.tune.evaluation import BEST, CHOSEN, evaluate
from lexshift.tune.folder import RUN, UNFINISHED
from lexshift.tune.pairs import hold_out, read_pairs
from lexshift.tune.projection import Projection

pytestmark = pytest.mark.tune

QUICK: dict[str, Any] = {
    "steps": 9,
    "epochs": 9,
    "batch": 8,
    "learning_rate": 1e-2,
    "every": 3,
    "patience": 0,
    "device": "cpu",
}
THOROUGH: dict[str, Any] = {
    "steps": 150,
    "epochs": 9,
    "batch": 32,
    "learning_rate": 1e-2,
    "every": 50,
    "patience": 0,
    "device": "cpu",
}
LEARNED = ("bert", "xlm-roberta")
DETERMINED = "xlm-roberta"  # the pieces of the tiny BERT differ between processes, and so do its results


class Runs:
    """Pairs, and projections learned from them, each computed once."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.pairs = planted(place / "pairs", 800, fillers=0)
        self.dev = planted(place / "dev", 60, ["people", "points", "strangers"], seed=1, fillers=0)
        self.few = planted(place / "few", 48, WORDS[:8], seed=2)
        self._made: dict[str, TunedModel] = {}

    def learned(self, family: str) -> TunedModel:
        if family not in self._made:
            self._made[family] = tune_wic(
                self.pairs,
                out=self.place / family,
                model=folder(family),
                dev=[self.dev],
                settings=PairSettings(light=True, held_out=0.25, **THOROUGH),
            )
        return self._made[family]

    def quick(self) -> TunedModel:
        if "quick" not in self._made:
            self._made["quick"] = self.tune(self.place / "quick")
        return self._made["quick"]

    def tune(self, out: Path, **options: Any) -> TunedModel:
        settings: dict[str, Any] = {"model": folder("bert"), "held_out": 0.25, "training": QUICK}
        return tune_wic(self.few, out=out, **arguments(PairSettings, settings | options | {"light": True}))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    return Runs(tmp_path_factory.mktemp("light"))


def matrix(tuned: TunedModel) -> npt.NDArray[np.float32]:
    return load_file(tuned.folder / PROJECTION)["projection"]


def assert_same_model(one: Path, other: Path) -> None:
    for name in ("model.safetensors", "config.json", "tokenizer.json", FILE, PROJECTION):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


# ------------------------------------------------------------------------------------------------------------- learning


def test_unseen_words_are_disambiguated_better(runs: Runs) -> None:
    run = runs.learned(DETERMINED).run
    before, after = run["untuned"], run["tuned"]
    for figure in (f"held-out {BEST}", "held-out auc"):
        assert 1 - after[figure] < 0.7 * (1 - before[figure]), figure  # few of the mistakes remain
    assert after["dev auc"] > before["dev auc"]


@pytest.mark.parametrize("family", LEARNED)
def test_encoder_is_not_modified(runs: Runs, family: str) -> None:
    was, now = (load_model(path)[:2] for path in (folder(family), runs.learned(family).folder))
    before, after = was[0].state_dict(), now[0].state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(weight, after[name]) for name, weight in before.items())
    assert was[1].get_vocab() == now[1].get_vocab()
    assert not was[0].training


@pytest.mark.parametrize("family", LEARNED)
def test_vectors_are_those_of_the_encoder_multiplied_by_the_projection(runs: Runs, family: str) -> None:
    tuned = runs.learned(family)
    plain, ours = loaded(folder(family)), loaded(tuned.folder)
    P = matrix(tuned)
    assert P.shape == (HIDDEN, HIDDEN)
    assert (ours.markers, ours.pooling, ours.layers) == (None, plain.pooling, plain.layers)
    np.testing.assert_allclose(encoded(ours, USAGES), encoded(plain, USAGES) @ P.T, rtol=1e-4, atol=1e-4)
    off = P - np.diag(np.diag(P))
    assert np.abs(off).max() > 0.01  # more than a scale for each dimension


@pytest.mark.parametrize("family", LEARNED)
def test_figures_are_those_of_the_saved_model_and_of_the_original(runs: Runs, family: str) -> None:
    tuned = runs.learned(family)
    held_out, dev = hold_out(read_pairs(runs.pairs), 0.25, 0)[1], read_pairs(runs.dev)
    assert tuned.run["tuned"] == evaluate(as_encoder(tuned.folder), held_out, dev)
    assert tuned.run["untuned"] == evaluate(as_encoder(folder(family)), held_out, dev)
    assert tuned.run["after"]["auc"] == pytest.approx(tuned.run["tuned"]["held-out auc"], abs=1e-3)
    assert tuned.run["after"]["accuracy_at_best_threshold"] == pytest.approx(
        tuned.run["tuned"][f"held-out {BEST}"], abs=0.01
    )


def test_best_projection_is_saved(runs: Runs, tmp_path: Path) -> None:
    wild = {"steps": 40, "epochs": 99, "batch": 8, "learning_rate": 2.0, "every": 1, "patience": 0, "device": "cpu"}
    tuned = runs.tune(tmp_path / "out", model=folder(DETERMINED), training=wild)
    best = tuned.run["best step"]
    rows = tuned.history[tuned.history["step"] > 0]
    assert best < 40  # otherwise the last one would be saved by chance
    assert rows.set_index("step")["auc"].idxmax() == best
    assert tuned.run["tuned"]["held-out auc"] == pytest.approx(rows["auc"].max(), abs=0.01)


# ----------------------------------------------------------------------------------------------------------------- loss


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 50))
def test_loss_is_the_cross_entropy_of_a_logistic_function_of_the_cosine(n: int, d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(2, n, d))
    spread, labels = rng.uniform(0.5, 2, d), rng.integers(0, 2, n)
    projection = Projection(torch.tensor(spread)).double()
    with torch.no_grad():
        projection.middle.fill_(0.2)
        made = projection(torch.tensor(first), torch.tensor(second), torch.tensor(labels, dtype=torch.float64))
    losses = []
    for i in range(n):
        a, b = first[i] / spread, second[i] / spread
        cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
        assert made["logits"][i].item() == pytest.approx(cosine, abs=1e-6)
        same = 1 / (1 + np.exp(-5 * (cosine - 0.2)))
        losses.append(-np.log(same if labels[i] else 1 - same))
    assert made["loss"].item() == pytest.approx(np.mean(losses), rel=1e-5)


def test_initial_projection_divides_each_dimension_by_its_spread(runs: Runs, tmp_path: Path) -> None:
    still = {"steps": 1, "batch": 8, "learning_rate": 1e-12, "device": "cpu"}
    tuned = runs.tune(tmp_path / "out", training=still)
    training = hold_out(read_pairs(runs.few), 0.25, 0)[0]
    usages = [usage for pair in training for usage in (pair.first, pair.second)]
    spread = encoded(loaded(folder("bert")), usages).astype(float).std(0)
    np.testing.assert_allclose(matrix(tuned), np.diag(1 / spread), rtol=1e-4, atol=1e-6)


def test_constant_dimension_is_harmless(tmp_path: Path, runs: Runs) -> None:
    model, tokenizer = make_model("bert"), make_tokenizer("bert")
    with torch.no_grad():
        for layer in model.encoder.layer:
            layer.output.LayerNorm.weight[3] = 0
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    tuned = runs.tune(tmp_path / "out", model=tmp_path / "model")
    assert np.isfinite(matrix(tuned)).all()
    assert np.isfinite(encoded(loaded(tuned.folder), USAGES)).all()


# -------------------------------------------------------------------------------------------------------- written files


def test_run_record_is_written_beside_the_model(runs: Runs) -> None:
    tuned = runs.learned("bert")
    names = {path.name for path in tuned.folder.iterdir()}
    assert {FILE, PROJECTION, RUN, "config.json", "model.safetensors", "tokenizer.json"} <= names
    assert UNFINISHED not in names
    run = json.loads((tuned.folder / RUN).read_bytes())
    assert run == tuned.run
    shaping = {name: value for name, value in THOROUGH.items() if name != "device"}
    assert run["pairs"] == {"trained on": 600, "held out": 200, "dev": 60}
    assert run["plan"] | {"kind": "wic", "light": True} | shaping == run["plan"]
    assert tuned.history["step"].tolist() == [0, 50, 100, 150]
    assert run["steps"] == 150
    assert run["before"] == run["history"][0]
    assert all(row["loss"] > 0 for row in run["history"][1:])


def test_last_evaluation_has_a_loss_even_soon_after_the_previous_one(runs: Runs, tmp_path: Path) -> None:
    training = {"steps": 41, "epochs": 99, "batch": 8, "every": 20, "patience": 0, "device": "cpu"}
    history = runs.tune(tmp_path / "out", training=training).history
    assert history["step"].tolist() == [0, 20, 40, 41]
    assert history["loss"].notna().tolist() == [False, True, True, True]


def test_without_dev_pairs_there_are_no_dev_figures(runs: Runs) -> None:
    run = runs.quick().run
    assert run["tuned"].keys() == run["untuned"].keys() == {"threshold", f"held-out {BEST}", "held-out auc"}


def test_dev_pairs_do_not_affect_the_training(runs: Runs, tmp_path: Path) -> None:
    with_dev = runs.tune(tmp_path / "out", dev=[runs.dev])
    assert_same_model(with_dev.folder, runs.quick().folder)
    assert with_dev.run["history"] == runs.quick().run["history"]
    assert CHOSEN in with_dev.run["tuned"]


# -------------------------------------------------------------------------------------------- repeated and resumed runs


def test_same_seed_gives_the_same_projection_and_another_seed_another(runs: Runs, tmp_path: Path) -> None:
    again = runs.tune(tmp_path / "again")
    assert_same_model(again.folder, runs.quick().folder)
    assert without_time(again.run) == without_time(runs.quick().run)
    other = runs.tune(tmp_path / "other", training=QUICK | {"seed": 1})
    assert not np.array_equal(matrix(other), matrix(runs.quick()))


@pytest.mark.parametrize("stop", [2, 8, "tuned"])
def test_resumed_run_gives_the_same_result(runs: Runs, tmp_path: Path, stop: int | str) -> None:
    with pytest.raises(StoppedError):
        runs.tune(tmp_path / "out", monitor=Listener(stop))
    assert not (tmp_path / "out" / RUN).exists()
    recorder = Listener()
    again = runs.tune(tmp_path / "out", monitor=recorder)
    done = {2: 0, 8: 6, "tuned": 9}[stop]
    assert recorder.steps == list(range(done + 1, 10))
    assert_same_model(again.folder, runs.quick().folder)
    assert without_time(again.run) == without_time(runs.quick().run)
    assert not (again.folder / UNFINISHED).exists()


def test_finished_projection_is_not_learned_again(runs: Runs) -> None:
    recorder = Listener()
    again = runs.tune(runs.quick().folder, monitor=recorder)
    assert recorder.notes == ["the folder already has this tuned model"]
    assert again.run == runs.quick().run


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("learning_rate", {"training": QUICK | {"learning_rate": 0.02}}),
        ("model", {"model": "roberta"}),
        ("held_out", {"held_out": 0.4}),
    ],
)
def test_folder_of_other_settings_is_refused(runs: Runs, name: str, options: dict[str, Any]) -> None:
    options = options | ({"model": folder(options["model"])} if "model" in options else {})
    with pytest.raises(UserError, match=f"holds a model tuned with {name} .*choose another folder"):
        runs.tune(runs.quick().folder, **options)


def test_run_stops_early_without_improvement(runs: Runs, tmp_path: Path) -> None:
    idle = {"steps": 9, "epochs": 9, "batch": 8, "learning_rate": 1e-12, "every": 1, "patience": 2, "device": "cpu"}
    recorder = Listener()
    run = runs.tune(tmp_path / "out", training=idle, monitor=recorder).run
    assert (run["steps"], run["best step"]) == (3, 1)
    assert "stopped after step 3, because the held-out result did not improve" in recorder.notes


# ------------------------------------------------------------------------------------------------------- special models


def test_model_with_markers_is_used_with_its_settings(runs: Runs, tmp_path: Path) -> None:
    xl_lexeme("bert", tmp_path)
    plain = loaded(tmp_path / "saved")
    tuned = runs.tune(tmp_path / "out", model=tmp_path / "saved")
    held_out = hold_out(read_pairs(runs.few), 0.25, 0)[1]
    assert tuned.run["untuned"] == evaluate(plain, held_out, [])
    ours = loaded(tuned.folder)
    assert (ours.markers, ours.pooling, ours.layers) == (plain.markers, plain.pooling, plain.layers)
    np.testing.assert_allclose(encoded(ours, USAGES), encoded(plain, USAGES) @ matrix(tuned).T, rtol=1e-4, atol=1e-4)


def test_tuned_model_cannot_have_a_second_projection(runs: Runs, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has a projection; start from one without either"):
        runs.tune(tmp_path / "out", model=runs.quick().folder)


def test_projection_need_not_be_square(runs: Runs, tmp_path: Path) -> None:
    tuned = runs.tune(tmp_path / "out", model=folder("electra-projected"))
    assert make_config("electra-projected").embedding_size != HIDDEN
    assert matrix(tuned).shape == (HIDDEN, HIDDEN)
    assert loaded(tuned.folder).dimensions == HIDDEN
