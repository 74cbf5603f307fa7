"""Test the tables of metrics and swap rates, and the figure, against slow computations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from paper_measurements import ENGLISH, REPEATS, WORDS, cells, dataset, each, measure_words, rho, scores_of, slow_best

from lexshift import search_rate
from lexshift.benchmark.paper.measurements import DIVERGENCES, Measurements
from lexshift.benchmark.paper.rates import tabulate_curve, tabulate_divergences, tabulate_rates, tabulate_summary
from lexshift.scoring.distance import PAPER
from lexshift.scoring.sscd import RATES


@pytest.fixture(scope="module")
def measured() -> Measurements:
    return measure_words()


@pytest.fixture(scope="module")
def english() -> Measurements:
    return replace(measure_words(), data=dataset(ENGLISH))


@pytest.mark.parametrize("strategy", ["random", "distance", "random, normalised", "distance, normalised"])
def test_rate_table_averages_spearman_over_repetitions(measured: Measurements, strategy: str) -> None:
    found = tabulate_rates(measured, strategy)
    assert found.columns == ("metric", *(f"{rate:g}" for rate in RATES))
    assert list(cells(found)) == list(PAPER)
    table = found.table.set_index(["metric", "rate"])
    gold = list(measured.data.graded.values())
    for metric in ("kl", "cosine", "dscd-canberra"):
        slow = [each(measured, strategy, metric, rate) for rate in RATES]
        row = table.loc[metric]
        np.testing.assert_allclose(row["spearman_each"], np.mean(slow, axis=1), atol=1e-12)
        np.testing.assert_allclose(row["spearman_each_sd"], np.std(slow, axis=1), atol=1e-12)
        averaged = [rho(scores_of(measured, strategy, metric, rate).mean(axis=1), gold) for rate in RATES]
        np.testing.assert_allclose(row["spearman"], averaged, atol=1e-12)
        shown = cells(found)[metric]
        assert [cell.text for cell in shown] == [f"{np.mean(values):.3f}" for values in slow]
        assert [cell.best for cell in shown].index(True) == int(np.argmax(np.mean(slow, axis=1)))
        assert sum(cell.best for cell in shown) == 1


def test_published_rates_are_shown_below_ours(english: Measurements) -> None:
    found = tabulate_rates(english, "random")
    table = found.table.set_index(["metric", "rate"])
    assert table.loc[("kl", 0.1), ["paper_mBERT", "paper_MLM_temp"]].tolist() == [0.209, 0.461]
    assert table[["paper_mBERT", "paper_MLM_temp"]].notna().all(axis=None)
    row = next(row for row in found.rows if row[0].text == "kl")
    assert row[0].published == ("mBERT", "MLM_temp")
    assert row[4].published == ("0.176", "0.552")
    assert "without their signs" in found.note
    distance = tabulate_rates(english, "distance, normalised")
    assert distance.table["paper_mBERT"].isna().all()
    assert next(row for row in distance.rows if row[0].text == "chebyshev")[3].published == ("0.499",)


def test_divergence_table_includes_the_spread(english: Measurements) -> None:
    found = tabulate_divergences(english)
    assert found.columns == ("rate", *DIVERGENCES)
    assert list(cells(found)) == [f"{rate:g}" for rate in RATES]
    slow = each(english, "random", "jeffreys", 0.3)
    row = found.table.set_index(["metric", "rate"]).loc[("jeffreys", 0.3)]
    assert row["spearman_each"] == pytest.approx(np.mean(slow))
    assert row["spearman_each_sd"] == pytest.approx(np.std(slow))
    assert (row["paper_MLM_temp"], row["paper_MLM_temp_sd"]) == (0.528, 0.063)
    assert cells(found)["0.4"][0].published == ("0.552 ± 0.037",)
    assert cells(found)["0.3"][2].text == f"{np.mean(slow):.3f} ± {np.std(slow):.3f}"


def test_summary_has_the_best_rate_and_the_estimated_rate(english: Measurements) -> None:
    found = tabulate_summary(english).table.set_index("metric")
    assert list(found.index) == list(PAPER)
    gold = list(english.data.graded.values())
    for metric in ("kl", "euclidean", "dscd-cosine"):
        value, _, rate = slow_best(english, "random", [metric])
        row = found.loc[metric]
        assert (row["spearman_each"], row["best_rate"]) == (pytest.approx(value), rate)
        estimated = search_rate(english.pairs, metric, repeats=REPEATS).rate
        assert row["estimated_rate"] == pytest.approx(estimated)
        assert row["spearman_each_at_estimate"] == pytest.approx(np.mean(each(english, "random", metric, estimated)))
        alone = [
            english.grid.e_original[i, PAPER.index(metric)] for i in range(len(WORDS)) if WORDS[i] in english.words
        ]
        assert row["spearman_e_original"] == pytest.approx(rho(alone, gold))
    assert found.loc["kl"].filter(like="paper").tolist() == [0.552, 0.4, 0.6]
    assert found.loc["dscd-cosine"].filter(like="paper").isna().all()


def test_summary_without_published_figures_has_no_columns_for_them(
    measured: Measurements, english: Measurements
) -> None:
    assert len(tabulate_summary(measured).columns) == 6
    assert tabulate_summary(english).columns[-1] == "MLM_temp: estimated rate"


def test_curve_matches_the_rate_search(measured: Measurements) -> None:
    found = tabulate_curve(measured)
    for metric in DIVERGENCES:
        wanted = search_rate(measured.pairs, metric, repeats=REPEATS)
        part = found.table[found.table["metric"] == metric]
        assert part["rate"].tolist() == [0.0, *RATES]
        np.testing.assert_allclose(part["e_swap_mean"], [wanted.e_original.mean(), *wanted.mean])
        np.testing.assert_allclose(part["e_swap_sd"], [0.0, *wanted.std], atol=1e-12)
        assert part.loc[part["minimum"], "rate"].tolist() == [wanted.rate]
        column = found.columns.index(metric)
        assert [row[0].text for row in found.rows if row[column].best] == [f"{wanted.rate:g}"]
