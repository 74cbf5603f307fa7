"""Test the ranks of words against slow computations, and the published ranks beside them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from paper_measurements import ENGLISH, cells, dataset, measure_words, rho, score_pairs, scores_of, slow_best

from lexshift.benchmark.datasets import load_dataset
from lexshift.benchmark.paper.ablation import tabulate_ablation
from lexshift.benchmark.paper.measurements import Measurements
from lexshift.benchmark.paper.published_figures import published_figures


@pytest.fixture(scope="module")
def measured() -> Measurements:
    return measure_words()


@pytest.fixture(scope="module")
def english() -> Measurements:
    return replace(measure_words(), data=dataset(ENGLISH))


def test_ablation_ranks_the_words_that_changed_most_and_least(english: Measurements) -> None:
    found = tabulate_ablation(english)
    graded = english.data.graded
    order = sorted(graded, key=lambda word: -graded[word])
    wanted = [w for w in order if graded[w] > 0.5][:8] + [w for w in order if graded[w] <= 0.5][-8:]
    table = found.table.set_index("word")
    assert table.index.tolist() == [*wanted, "Spearman"]
    _, _, rate = slow_best(english, "random", ["kl"])
    full = np.abs(english.full.e_original[:, :, None, None] - english.full.e_swap["random"])[: len(graded), 0, 0]
    columns = {
        "rate_0": english.original("kl"),
        "rate_0.1": scores_of(english, "random", "kl", 0.1).mean(axis=1),
        "rate_best": scores_of(english, "random", "kl", rate).mean(axis=1),
        "rate_1": full.mean(axis=1),
    }
    for name, scores in columns.items():
        for word in wanted:
            higher = sum(score > scores[english.words.index(word)] for score in scores)
            assert table.loc[word, name] == higher + 1
        assert table.loc["Spearman", name] == pytest.approx(rho(scores, english.gold))
    assert found.columns[5] == f"best rate ({rate:g})"
    assert table.loc[wanted, "changed"].tolist() == ["yes"] * 8 + ["no"] * 8
    assert table.loc["plane_nn", "gold"] == 1


def test_ablation_has_the_published_ranks_of_words_without_part_of_speech(english: Measurements) -> None:
    table = tabulate_ablation(english).table.set_index("word").filter(like="paper")
    assert table.loc["tip_vb"].tolist() == [25, 7, 2, 2]
    assert table.loc["risk_nn"].tolist() == [7, 16, 22, 14]
    assert table.loc["w0"].isna().all()
    assert table.loc["Spearman"].tolist() == [0.130, 0.596, 0.627, 0.164]
    shown = cells(tabulate_ablation(english))
    assert [cell.published for cell in shown["tip_vb"][2:]] == [("25",), ("7",), ("2",), ("2",)]
    assert shown["Spearman"][-1].published == ("0.164",)
    assert not any(cell.published for cell in shown["w0"])


def test_ablation_without_labels_has_the_highest_and_lowest_scores(measured: Measurements) -> None:
    found = tabulate_ablation(replace(measured, data=dataset(binary=False)))
    graded = measured.data.graded
    order = sorted(graded, key=lambda word: -graded[word])
    assert found.table["word"].tolist() == [*order[:8], *order[-8:], "Spearman"]
    assert "changed" not in found.columns
    assert "labelled" not in found.note


def test_ablation_of_few_words_lists_no_word_twice(measured: Measurements) -> None:
    data = dataset(binary=False)
    few = dict(list(data.graded.items())[:10])
    found = tabulate_ablation(replace(measured, data=replace(data, graded=few)))
    assert sorted(found.table["word"]) == sorted([*few, "Spearman"])


@pytest.mark.slow
def test_words_of_the_english_release_match_the_paper(data: Path) -> None:
    loaded = load_dataset(data / "benchmark" / ENGLISH)
    rng = np.random.default_rng(0)
    pairs = {word: (rng.normal(size=(4, 3)), rng.normal(size=(4, 3))) for word in loaded.words}
    found = tabulate_ablation(score_pairs(loaded, pairs)).table.iloc[:-1]
    published = published_figures("ablation", ENGLISH)
    assert [word.partition("_")[0] for word in found["word"]] == published["word"].tolist()
    gold = np.array(list(loaded.graded.values()))
    last = [int((gold >= loaded.graded[word]).sum()) for word in found["word"]]
    assert (found["gold"] <= published["gold"]).all()
    assert (published["gold"] <= last).all()  # the paper prints words with equal gold one after the other
    assert found["paper_rate_best"].tolist() == published["rate_best"].tolist()
