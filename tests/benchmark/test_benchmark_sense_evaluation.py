"""Test the evaluation of clusters on a small release of DWUG, with agreement worked out by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hint_encoder import AverageLinkage, HintEncoder

from lexshift.benchmark.datasets import load_dataset
from lexshift.benchmark.sense_evaluation import ONE_SENSE, OWN_SENSES, evaluate_senses
from lexshift.benchmark.sense_measures import b_cubed
from lexshift.encode.adaptation import Calibration, FixedSpace
from lexshift.errors import UserError
from lexshift.senses.agglomerative import Agglomerative
from lexshift.senses.graded_change import graded_change
from lexshift.senses.graph import GraphClustering
from lexshift.senses.stability import StableClustering
from lexshift.utils.arrays import Indices, Matrix

ANIMAL, SCREEN, OTHER = "The {} is an animal.", "The {} is near the screen.", "The {} is here."
USAGES = {
    "mouse": [(ANIMAL, "1", 6, "0"), (ANIMAL, "2", 2, "0"), (SCREEN, "2", 6, "1")],  # sentence, period, times, cluster
    "stone": [(ANIMAL, "1", 5, "0"), (ANIMAL, "2", 5, "0")],
    "cloud": [(ANIMAL, "1", 3, "0"), (SCREEN, "1", 3, "0"), (ANIMAL, "2", 5, "0"), (OTHER, "2", 1, "-1")],
}
STATS = "lemma\tgrouping\tchange_binary\tchange_binary_gain\tchange_binary_loss\tchange_graded\n"


def write_release(folder: Path) -> Path:
    """Write usages, clusters and statistics as DWUG has them."""
    for word, groups in USAGES.items():
        uses = ["lemma\tgrouping\tidentifier\tcontext\tindexes_target_token\n"]
        clusters = ["identifier\tcluster\n"]
        for sentence, period, times, cluster in groups:
            for _ in range(times):
                number = len(uses)
                span = f"4:{4 + len(word)}"
                context = f"{sentence.format(word)} {number}"
                uses.append(f"{word}\t{period}\t{word}-{number}\t{context}\t{span}\n")
                clusters.append(f"{word}-{number}\t{cluster}\n")
        (folder / "data" / word).mkdir(parents=True)
        (folder / "data" / word / "uses.csv").write_text("".join(uses), "utf-8")
        (folder / "clusters" / "opt").mkdir(parents=True, exist_ok=True)
        (folder / "clusters" / "opt" / f"{word}.csv").write_text("".join(clusters), "utf-8")
    (folder / "stats" / "opt").mkdir(parents=True)
    rows = "mouse\t1_2\t1\t1\t0\t0.7\nstone\t1_2\t0\t0\t0\t0.0\ncloud\t1_2\t0\t0\t0\t0.1\n"
    (folder / "stats" / "opt" / "stats_groupings.csv").write_text(STATS + rows, "utf-8")
    return folder


def row(table: pd.DataFrame, **values: str) -> pd.Series:
    for name, value in values.items():
        table = table[table[name] == value]
    assert len(table) == 1
    return table.iloc[0]


def test_clusters_are_compared_with_the_gold_of_each_word(tmp_path: Path) -> None:
    """Clusters of mouse and stone are the gold's; those of cloud have 8, 3 and 1 usages, of which 11 have one sense.

    For cloud, precision is 1 and recall (8 * 8 + 3 * 3) / (11 * 11) = 73/121.
    """
    data = load_dataset(write_release(tmp_path / "dwug_en"))
    found = evaluate_senses(data, AverageLinkage(), model=HintEncoder(), out=tmp_path / "out")
    mouse = row(found.words, method="average-linkage", word="mouse")
    assert (mouse["usages"], mouse["labelled"], mouse["gold_senses"], mouse["senses"]) == (14, 14, 2, 2)
    assert (mouse["ari"], mouse["b_cubed_f"], mouse["purity"]) == (1, 1, 1)
    assert (mouse["gained"], mouse["lost"]) == (True, False)
    cloud = row(found.words, method="average-linkage", word="cloud")
    assert (cloud["usages"], cloud["labelled"], cloud["gold_senses"], cloud["senses"]) == (12, 11, 1, 3)
    assert (cloud["b_cubed_precision"], cloud["b_cubed_recall"]) == pytest.approx((1, 73 / 121))
    assert cloud["ari"] == 0
    total = row(found.table, method="average-linkage")
    f = 2 * (73 / 121) / (1 + 73 / 121)
    assert total["ari"] == pytest.approx(2 / 3)
    assert total["b_cubed_f"] == pytest.approx((2 + f) / 3)
    assert total["senses"] == pytest.approx(2)
    assert total["spearman"] == pytest.approx(1)
    assert (total["gained_accuracy"], total["gained_f1"]) == (1, 1)
    assert total["lost_accuracy"] == 1
    assert math.isnan(total["lost_f1"])  # no word lost a sense, and none was said to
    assert total["words"] == 3


def test_baselines_are_between_one_sense_and_own_senses(tmp_path: Path) -> None:
    """With one sense, mouse has precision (8 * 8 + 6 * 6) / (14 * 14) = 25/49 and recall 1; the other words have 1."""
    data = load_dataset(write_release(tmp_path / "dwug_en"))
    found = evaluate_senses(data, AverageLinkage(), model=HintEncoder(), out=tmp_path / "out")
    one, own = row(found.table, method=ONE_SENSE), row(found.table, method=OWN_SENSES)
    assert one["b_cubed_precision"] == pytest.approx((25 / 49 + 2) / 3)
    assert (one["b_cubed_recall"], one["senses"], one["above_one_sense"]) == (1, 1, 0)
    assert (own["b_cubed_precision"], own["purity"]) == (1, 1)
    assert own["senses"] == pytest.approx((14 + 10 + 12) / 3)
    assert math.isnan(one["spearman"])
    assert math.isnan(own["spearman"])  # all distances are 1
    clustered = row(found.table, method="average-linkage")
    assert clustered["above_one_sense"] == pytest.approx(clustered["b_cubed_f"] - one["b_cubed_f"])
    assert clustered["above_low"] <= clustered["above_one_sense"] <= clustered["above_high"]


def test_results_are_written_and_the_store_is_used_again(tmp_path: Path) -> None:
    data = load_dataset(write_release(tmp_path / "dwug_en"))
    encoder = HintEncoder()
    first = evaluate_senses(data, AverageLinkage(), model=encoder, out=tmp_path / "out")
    calls = encoder.calls
    second = evaluate_senses(data, AverageLinkage(), model=encoder, out=tmp_path / "out")
    assert encoder.calls == calls
    pd.testing.assert_frame_equal(first.table, second.table)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out" / "sense-evaluation.csv"), first.table)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out" / "sense-evaluation-words.csv"), first.words)
    record = json.loads((tmp_path / "out" / "sense-evaluation.json").read_text("utf-8"))
    assert record["settings"] == {"min_usages": 2, "seed": 0, "clustering": "average-linkage"}
    assert record["calibration"] == {"slope": 20.0, "intercept": -10.0}
    assert record["space"] == ["raw"]


class Recorder:
    """Clustering that remembers what it was given, and finds one sense."""

    name = "recorder"

    def __init__(self) -> None:
        self.given: list[tuple[Matrix, Calibration, int]] = []

    def cluster(self, vectors: Matrix, calibration: Calibration, seed: int = 0) -> Indices:
        self.given.append((vectors, calibration, seed))
        return np.zeros(len(vectors), np.intp)


def test_clustering_gets_the_usages_of_both_periods_in_the_fixed_space_of_the_encoder(tmp_path: Path) -> None:
    data = load_dataset(write_release(tmp_path / "dwug_en"))
    space = FixedSpace(np.full(6, 0.01), np.full(6, 2.0))
    rule = Recorder()
    evaluate_senses(data, rule, model=HintEncoder(space), out=tmp_path / "out", seed=7)
    clouds = {vectors.shape[0]: vectors for vectors, _, _ in rule.given}[12]
    assert [given[1:] for given in rule.given] == [(Calibration(20.0, -10.0), 7)] * 3
    np.testing.assert_allclose(clouds[0], [0.495, 0, 0, 0, 0, 0], atol=1e-6)
    assert clouds.argmax(axis=1).tolist() == [0] * 3 + [1] * 3 + [0] * 5 + [5]


def test_data_without_senses_are_compared_with_graded_change_only(tmp_path: Path) -> None:
    rows = [
        {"word": word, "period": period, "sentence": sentence.format(word), "graded": graded, "start": 4, "end": 9}
        for word, graded in (("mouse", 0.9), ("stone", 0.1), ("cloud", 0.5))
        for period in ("1900", "2000")
        for sentence in [ANIMAL] * 3 + [SCREEN if (word, period) == ("mouse", "2000") else ANIMAL] * 3
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "usages.csv", index=False)
    found = evaluate_senses(
        load_dataset(tmp_path / "usages.csv"), AverageLinkage(), model=HintEncoder(), out=tmp_path / "out"
    )
    first = found.table.iloc[0]
    assert math.isnan(first["ari"])
    assert math.isnan(first["b_cubed_f"])
    assert math.isnan(first["above_one_sense"])
    assert first["spearman"] == pytest.approx(math.sqrt(3) / 2)  # the ranks 3, 1.5 and 1.5 with 3, 1 and 2


def test_senses_of_a_table_are_read(tmp_path: Path) -> None:
    rows = [
        {"word": "mouse", "period": p, "sentence": s.format("mouse"), "start": 4, "end": 9, "sense": sense}
        for p, s, sense in (("2000", SCREEN, "b"), ("1900", ANIMAL, "a"), ("1900", OTHER, None), ("2000", ANIMAL, "a"))
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "usages.csv", index=False)
    data = load_dataset(tmp_path / "usages.csv")
    assert data.senses == ("a", None, "b", "a")
    found = evaluate_senses(data, AverageLinkage(), model=HintEncoder(), out=tmp_path / "out")
    assert found.table.iloc[0]["ari"] == 1


def test_sense_whose_composition_changed_is_divided(tmp_path: Path) -> None:
    """The probability that the two senses of mouse are one is between the thresholds, and only one of them is old."""
    chosen = [("1900", ANIMAL, 14), ("2000", ANIMAL, 3), ("2000", SCREEN, 12)]
    rows = [
        {"word": "mouse", "period": p, "sentence": s.format("mouse"), "start": 4, "end": 9, "sense": s}
        for p, s, times in chosen
        for _ in range(times)
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "usages.csv", index=False)
    data, encoder = load_dataset(tmp_path / "usages.csv"), HintEncoder()
    encoder.calibration = Calibration(5.0, -0.4)
    found = evaluate_senses(data, model=encoder, out=tmp_path / "out").words.iloc[0]
    assert (found["senses"], found["ari"], found["gained"], found["lost"]) == (2, 1, True, False)
    vectors = encoder.encode([str(row["sentence"]) for row in rows], [(4, 9)] * len(rows))
    assert found["sense_jsd"] == pytest.approx(graded_change(vectors[:14], vectors[14:], encoder.calibration))
    own_rule = StableClustering(
        GraphClustering(), resamples=11
    )  # it has no finer clustering, so that nothing is divided
    assert evaluate_senses(data, own_rule, model=encoder, out=tmp_path / "out").words.iloc[0]["senses"] == 1


def test_encoder_without_a_calibration_gets_an_estimated_one(tmp_path: Path) -> None:
    data = load_dataset(write_release(tmp_path / "dwug_en"))
    rule = Agglomerative(min_size=1)
    found = evaluate_senses(data, rule, model=HintEncoder(has_calibration=False), out=tmp_path / "out")
    record = json.loads((tmp_path / "out" / "sense-evaluation.json").read_text())
    assert record["calibration"]["slope"] > 0
    assert found.table.iloc[0]["ari"] > 0.5


def test_data_without_gold_and_words_without_usages_are_refused(tmp_path: Path) -> None:
    data = load_dataset(write_release(tmp_path / "dwug_en"))
    with pytest.raises(UserError, match="has 50 usages in each period"):
        evaluate_senses(data, AverageLinkage(), model=HintEncoder(), out=tmp_path / "out", min_usages=50)
    bare = pd.DataFrame(
        [{"word": "a", "period": p, "sentence": "a b", "start": 0, "end": 1} for p in ("1900", "2000") for _ in "12"]
    )
    bare.to_csv(tmp_path / "usages.csv", index=False)
    with pytest.raises(UserError, match="neither senses nor graded change"):
        evaluate_senses(
            load_dataset(tmp_path / "usages.csv"), AverageLinkage(), model=HintEncoder(), out=tmp_path / "out"
        )


def test_clustering_is_chosen_by_name(tmp_path: Path) -> None:
    data = load_dataset(write_release(tmp_path / "dwug_en"))
    with pytest.raises(UserError, match="clustering"):
        evaluate_senses(data, "agglomeration", model=HintEncoder(), out=tmp_path / "out")
    default = evaluate_senses(data, model=HintEncoder(), out=tmp_path / "out")
    named = evaluate_senses(data, default.table["method"][0], model=HintEncoder(), out=tmp_path / "out")
    pd.testing.assert_frame_equal(named.table, default.table)


def test_one_sense_on_dwug(data: Path) -> None:
    """Most usages of most words have the most frequent sense, so that one sense per word is hard to beat."""
    dwug = load_dataset(data / "benchmark" / "dwug_en")
    by_word: dict[str, list[str]] = {}
    for word, sense in zip(dwug.usages["word"].to_pylist(), dwug.senses, strict=True):
        if sense is not None:
            by_word.setdefault(word, []).append(sense)
    assert (len(by_word), sum(map(len, by_word.values()))) == (46, 8835)
    scores = [b_cubed([[0]] * len(senses), [[sense] for sense in senses]).f for senses in by_word.values()]
    assert np.mean(scores) == pytest.approx(0.814, abs=5e-4)
    assert (sum(dwug.gained.values()), sum(dwug.lost.values())) == (15, 11)
