"""Test the tables of the paper against slow computations, and the published figures shown beside them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from lexshift import permutation_test, search_rate
from lexshift.benchmark.datasets import load_dataset
from lexshift.benchmark.datasets.dataset import PERIODS, SCHEMA, Dataset, TextSize
from lexshift.benchmark.measures import spearman
from lexshift.benchmark.paper import (
    DIVERGENCES,
    Cell,
    Exhibit,
    Measurements,
    best_row,
    format_number,
    format_scaled,
    format_spread,
    make_exhibits,
    published_figures,
    published_name,
    tabulate_ablation,
    tabulate_comparison,
    tabulate_curve,
    tabulate_divergences,
    tabulate_effectiveness,
    tabulate_rates,
    tabulate_statistics,
    tabulate_summary,
)
from lexshift.benchmark.systems import SystemScores, score_distance, score_liu, sweep_grid
from lexshift.scoring.distance import DISTANCES, PAPER
from lexshift.scoring.sscd import RATES
from lexshift.utils.arrays import Floats, Pairs

WORDS = ("plane_nn", "tip_vb", "risk_nn", *(f"w{i}" for i in range(17)))
REPEATS, SIZES = 3, (100, 140)
ENGLISH = "semeval2020_ulscd_eng"
NAMES = ["statistics", "effectiveness", "comparison", "summary", "curve", "ablation", "rates-random", "rates-distance"]
NAMES += ["divergences", "rates-random-normalised", "rates-distance-normalised"]
DSCD = tuple(f"dscd-{distance}" for distance in DISTANCES)


def dataset(name: str = "made", binary: bool = True) -> Dataset:
    """Return a data set of twenty words; the last has no gold, and words above 0.5 are changed."""
    graded = {word: round(1 - i / 20, 2) for i, word in enumerate(WORDS[:-1])}
    graded["risk_nn"] = 0.01
    row = {"word": "w0", "corpus": PERIODS[0], "file": "made", "line": 1, "sentence": "w0", "start": 0, "end": 2}
    return Dataset(
        name=name,
        kind="made",
        language="",
        periods=("1900s", "2000s"),
        words=WORDS,
        usages=pa.Table.from_pylist([row, row | {"corpus": PERIODS[1]}, row | {"corpus": PERIODS[1]}], SCHEMA),
        graded=graded,
        gold="graded",
        binary={word: value > 0.5 for word, value in graded.items()} if binary else {},
        texts=(TextSize(1000, 20_000, 300), TextSize(1200, 30_000, 400)),
    )


@pytest.fixture(scope="module")
def measured() -> Measurements:
    rng = np.random.default_rng(1)
    data = dataset()
    pairs = {}
    for i, word in enumerate(WORDS):
        shift = data.graded.get(word, 0.0) * rng.normal(0, 1.2, 5)
        pairs[word] = (rng.normal(1, 1, (12 + i, 5)), rng.normal(1 + shift, 1.3, (30 - i, 5)))
    return measured_of(data, pairs)


def measured_of(data: Dataset, pairs: Pairs) -> Measurements:
    return Measurements(
        data,
        pairs,
        sweep_grid(pairs, SIZES, repeats=REPEATS),
        sweep_grid(pairs, SIZES, ["kl"], [1.0], REPEATS, 0, ["random"]),
        score_distance(pairs, "apd"),
        score_liu(pairs),
    )


@pytest.fixture(scope="module")
def english(measured: Measurements) -> Measurements:
    return replace(measured, data=dataset(ENGLISH))


def rho(scores: Any, gold: Any) -> float:
    return float(stats.spearmanr(scores, gold).statistic)


def scores_of(measured: Measurements, strategy: str, metric: str, rate: float) -> Floats:
    """Return the scores in the grid, of shape (words with gold, repetitions)."""
    grid = measured.grid
    m, r = grid.metrics.index(metric), list(grid.rates).index(rate)
    e_swap = grid.e_swap[strategy]
    rows = [i for i, word in enumerate(grid.words) if word in measured.data.graded]
    return np.array([[abs(grid.e_original[i, m] - e_swap[i, m, r, n]) for n in range(e_swap.shape[3])] for i in rows])


def each(measured: Measurements, strategy: str, metric: str, rate: float) -> list[float]:
    gold = list(measured.data.graded.values())
    return [rho(column, gold) for column in scores_of(measured, strategy, metric, rate).T]


def slow_best(measured: Measurements, strategy: str, metrics: Any) -> tuple[float, str, float]:
    found = [(float(np.mean(each(measured, strategy, m, r))), m, r) for m in metrics for r in RATES]
    return max(found, key=lambda one: one[0])


def cells(exhibit: Exhibit) -> dict[str, tuple[Cell, ...]]:
    return {row[0].text: row[1:] for row in exhibit.rows}


# -------------------------------------------------------------------------------------------------------- all exhibits


def test_every_table_and_figure_is_produced_once_and_shown_completely(measured: Measurements) -> None:
    exhibits = make_exhibits(measured)
    assert [exhibit.name for exhibit in exhibits] == NAMES
    for exhibit in exhibits:
        assert exhibit.title
        assert exhibit.note.endswith(".")
        assert exhibit.rows
        assert {len(row) for row in exhibit.rows} == {len(exhibit.columns)}
        assert 1 <= exhibit.texts < len(exhibit.columns)


def test_data_sets_outside_of_the_paper_have_no_published_figures(measured: Measurements) -> None:
    for exhibit in make_exhibits(measured):
        published = exhibit.table.drop(columns="paper_encoder", errors="ignore").filter(like="paper")
        assert published.isna().all(axis=None)
        assert not any(cell.published for row in exhibit.rows for cell in row)


# -------------------------------------------------------------------------------------------- exhibits from the grid


def test_statistics_table_matches_the_data(measured: Measurements) -> None:
    found = tabulate_statistics(measured.data)
    assert found.columns == ("period", "targets", "sentences", "tokens", "types", "usages")
    shown = [[cell.text for cell in row] for row in found.rows]
    assert shown == [["1900s", "20", "1,000", "20,000", "300", "1"], ["2000s", "20", "1,200", "30,000", "400", "2"]]
    assert found.table["tokens"].tolist() == [20_000, 30_000]


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


# ------------------------------------------------------------------------------------------ exhibits from the systems


def test_effectiveness_compares_liu_on_fewer_words_with_the_best_sscd(english: Measurements) -> None:
    found = tabulate_effectiveness(english)
    table = found.table.set_index("system")
    gold = english.data.graded
    cosine = dict(zip(english.words, english.original("cosine"), strict=True))
    assert table.loc["Liu et al., cosine", "spearman"] == pytest.approx(rho(list(cosine.values()), english.gold))
    p = {word: permutation_test(*english.pairs[word], "cosine", word=word).p for word in english.pairs}
    kept = [word for word in english.words if p[word] < 0.005]
    q = dict(zip(p, stats.false_discovery_control(list(p.values())), strict=True))
    controlled = [word for word in kept if q[word] <= 0.05]
    assert 3 <= len(kept) < len(english.words)
    for name, words in (("permutation test", kept), ("false discovery rate", controlled)):
        row = table.loc[f"Liu et al., {name}"]
        assert row["words"] == len(words)
        assert row["spearman"] == pytest.approx(rho([cosine[w] for w in words], [gold[w] for w in words]))
    for name, metrics in (("divergence", DIVERGENCES), ("distance of means", DISTANCES), ("DSCD", DSCD)):
        value, metric, rate = slow_best(english, "random", metrics)
        row = table.loc[f"SSCD, {name}"]
        assert row["spearman"] == pytest.approx(value)
        assert row["setting"] == f"{metric}, rate {rate:g}"
    assert table["paper"].tolist() == [0.331, 0.341, 0.339, 0.209, 0.383, 0.364, 0.757]
    assert table["paper_encoder"].tolist() == ["MLM_tuned"] * 3 + ["mBERT"] * 3 + ["XL-LEXEME (supervised)"]
    assert [cell.text for cell in cells(found)["XL-LEXEME"]] == [
        "published only",
        "–",
        "–",
        "0.757 (XL-LEXEME (supervised))",
    ]
    assert "optimistic" in found.note


def test_effectiveness_is_produced_when_the_test_drops_all_words(measured: Measurements) -> None:
    dropped = SystemScores("Liu et al.", (), np.zeros((0, 1)), np.zeros(0, bool))
    found = tabulate_effectiveness(replace(measured, liu=dropped))
    assert [cell.text for cell in cells(found)["Liu et al., permutation test"]] == ["", "–", "0", "–"]


def test_comparison_has_an_interval_for_each_of_our_systems(english: Measurements) -> None:
    found = tabulate_comparison(english)
    gold = english.gold
    by_setting = found.table.set_index(["system", "setting"])
    value, _, rate = slow_best(english, "random", ["kl"])
    best = by_setting.loc[("SSCD random", f"best: kl, rate {rate:g}")]
    wanted = spearman(scores_of(english, "random", "kl", rate).mean(axis=1), gold)
    assert best[["spearman", "low", "high"]].tolist() == pytest.approx([wanted.rho, wanted.low, wanted.high])
    assert best["spearman_each"] == pytest.approx(value)
    estimated = search_rate(english.pairs, "kl", repeats=REPEATS).rate
    there = by_setting.loc[("SSCD random", f"estimated: kl, rate {estimated:g}")]
    assert there["spearman_each"] == pytest.approx(np.mean(each(english, "random", "kl", estimated)))
    value, metric, rate = slow_best(english, "distance", DSCD)
    assert by_setting.loc[("SSCD distance", f"best: {metric}, rate {rate:g}"), "spearman_each"] == pytest.approx(value)
    plain = {name: rho(english.original(f"dscd-{name}"), gold) for name in DISTANCES}
    chosen = max(plain, key=lambda name: plain[name])
    assert by_setting.loc[("DSCD", f"best distance: {chosen}"), "spearman"] == pytest.approx(plain[chosen])
    apd = dict(zip(english.apd.words, english.apd.mean, strict=True))
    assert by_setting.loc[("APD", ""), "spearman"] == pytest.approx(rho([apd[w] for w in english.words], gold))


def test_comparison_lists_the_published_systems_in_the_order_of_the_paper(english: Measurements) -> None:
    table = tabulate_comparison(english).table
    systems = ["Cosine of means", "APD", "DSCD", "Temporal attention", "SSCD random", "SSCD random", "SSCD distance"]
    assert table["system"].tolist() == [*systems, "XL-LEXEME"]
    assert table["paper"].fillna(-1).tolist() == [0.467, 0.479, 0.529, 0.548, 0.552, -1, 0.563, 0.757]
    assert table["spearman"].isna().tolist() == [False] * 3 + [True] + [False] * 3 + [True]


def test_published_only_systems_are_omitted_for_other_data(measured: Measurements) -> None:
    german = replace(measured, data=dataset("semeval2020_ulscd_ger"))
    assert tabulate_comparison(german).table["system"].tolist()[-2:] == ["SSCD distance", "XL-LEXEME"]
    assert "Temporal attention" not in tabulate_comparison(german).table["system"].tolist()
    assert len(tabulate_comparison(measured).rows) == len(tabulate_effectiveness(measured).rows) == 6


# -------------------------------------------------------------------------------------------------- exhibits of words


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
    found = tabulate_ablation(measured_of(loaded, pairs)).table.iloc[:-1]
    published = published_figures("ablation", ENGLISH)
    assert [word.partition("_")[0] for word in found["word"]] == published["word"].tolist()
    gold = np.array(list(loaded.graded.values()))
    last = [int((gold >= loaded.graded[word]).sum()) for word in found["word"]]
    assert (found["gold"] <= published["gold"]).all()
    assert (published["gold"] <= last).all()  # the paper prints words with equal gold one after the other
    assert found["paper_rate_best"].tolist() == published["rate_best"].tolist()


# ------------------------------------------------------------------------------------------------------------- numbers


def test_undefined_correlation_is_a_dash_and_never_the_best(measured: Measurements) -> None:
    e_swap = {name: values.copy() for name, values in measured.grid.e_swap.items()}
    for values in e_swap.values():
        values[:, :, 0] = measured.grid.e_original[:, :, None]  # nothing is swapped at the first rate
        values[:, 1] = measured.grid.e_original[:, 1, None, None]  # and never for the second metric
    found = make_exhibits(replace(measured, grid=replace(measured.grid, e_swap=e_swap)))
    shown = cells(next(exhibit for exhibit in found if exhibit.name == "rates-random"))
    assert all(row[0].text == "–" for row in shown.values())
    assert not shown["kl"][0].best
    assert {cell.text for cell in shown["kl-reverse"]} == {"–"}


def test_numbers_are_printed_with_significant_digits_only() -> None:
    assert (format_number(0.12345), format_number(3.0, 0), format_number(float("nan"))) == ("0.123", "3", "–")
    assert (format_spread(float("nan"), 0.1), format_spread(-0.5, 0.25)) == ("–", "-0.500 ± 0.250")
    assert (format_scaled(467.1, 0), format_scaled(1.2345, 0.5)) == ("467 ± 0", "1.23 ± 0.50")


def test_best_row_is_the_first_of_the_highest(measured: Measurements) -> None:
    frame = measured.spearman.assign(spearman_each=[np.nan, 0.2, 0.7, 0.7] + [-1.0] * (len(measured.spearman) - 4))
    assert best_row(frame).name == 2


# ------------------------------------------------------------------------------------------------- published figures


RELEASES = {
    "semeval2020_ulscd_eng": "semeval-english",
    "SemEval2020_ULSCD_ENG": "semeval-english",
    "semeval2020_ulscd_ger": "semeval-german",
    "semeval2020_ulscd_swe": "semeval-swedish",
    "semeval2020_ulscd_lat": "semeval-latin",
    "liverpoolfc": "liverpool",
}
GERMAN, LIVERPOOL = "semeval2020_ulscd_ger", "liverpoolfc"


@pytest.mark.parametrize(("name", "data"), RELEASES.items())
def test_release_is_recognised_by_its_name(name: str, data: str) -> None:
    assert published_name(name) == data


@pytest.mark.parametrize("name", ["dwug_en", "usages.csv", "semeval", "semeval2020_ulscd_ita", "my_liverpool", ""])
def test_other_data_has_no_published_figures(name: str) -> None:
    assert published_name(name) is None
    for table in ("grid", "systems", "summary", "ablation"):
        assert len(published_figures(table, name)) == 0


def test_published_grids_are_complete() -> None:
    names = [name for name in RELEASES if name == name.lower()]
    assert sum(len(published_figures("grid", name)) for name in names) == 1224
    for name in names:
        for _, part in published_figures("grid", name).groupby(["encoder", "strategy"]):
            assert list(dict.fromkeys(part["metric"])) == list(PAPER)
            assert part["rate"].tolist() == list(RATES) * len(PAPER)
            assert part["spearman"].between(0, 1).all()


@pytest.mark.parametrize(
    ("name", "encoder", "strategy", "metric", "rate", "spearman"),
    [
        (ENGLISH, "mBERT", "random", "kl", 0.1, 0.209),
        (ENGLISH, "mBERT", "random", "dscd-euclidean", 0.9, 0.216),
        (ENGLISH, "MLM_temp", "random", "kl", 0.4, 0.552),
        (ENGLISH, "MLM_temp", "distance, normalised", "chebyshev", 0.3, 0.499),
        (ENGLISH, "MLM_temp", "distance, normalised", "dscd-correlation", 0.8, 0.480),
        (GERMAN, "mBERT", "random", "braycurtis", 0.6, 0.597),
        (GERMAN, "mBERT", "random", "dscd-chebyshev", 0.1, 0.006),
    ],
)
def test_published_figures_match_the_printed_tables(
    name: str, encoder: str, strategy: str, metric: str, rate: float, spearman: float
) -> None:
    frame = published_figures("grid", name).set_index(["encoder", "strategy", "metric", "rate"])
    assert frame.loc[(encoder, strategy, metric, rate), "spearman"] == spearman


def test_best_published_cells_match_the_first_table() -> None:
    for name in (ENGLISH, GERMAN, "semeval2020_ulscd_swe", LIVERPOOL):
        frame = published_figures("grid", name)
        best = frame[frame["encoder"] == "mBERT"].groupby("metric")["spearman"].max()
        printed = published_figures("systems", name).set_index("system")["spearman"]
        assert best[["kl", "kl-reverse", "jeffreys"]].max() == printed["SSCD, divergence"]
        assert best[list(PAPER[10:])].max() == printed["SSCD, DSCD"]


def test_published_summary_matches_the_best_of_its_grid() -> None:
    frame = published_figures("grid", ENGLISH)
    random = frame[(frame["encoder"] == "MLM_temp") & (frame["strategy"] == "random")]
    best = random.groupby("metric")["spearman"].max()
    summary = published_figures("summary", ENGLISH).set_index("metric")
    assert len(summary) == 10
    assert summary["spearman"].to_dict() == best[summary.index].to_dict()


def test_published_ablation_has_eight_words_of_each_kind() -> None:
    frame = published_figures("ablation", ENGLISH).set_index("word")
    assert frame["changed"].value_counts().to_dict() == {1: 8, 0: 8}
    assert frame.loc["tip", ["gold", "rate_0", "rate_0.1", "rate_best", "rate_1"]].tolist() == [2, 25, 7, 2, 2]
    assert len(published_figures("ablation", GERMAN)) == 0
