"""Test the comparisons with other systems against slow computations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from paper_measurements import ENGLISH, REPEATS, cells, dataset, each, measure_words, rho, scores_of, slow_best
from scipy import stats

from lexshift import permutation_test, search_rate
from lexshift.benchmark.measures import spearman
from lexshift.benchmark.paper.measurements import DIVERGENCES, DSCD, Measurements
from lexshift.benchmark.paper.systems import tabulate_comparison, tabulate_effectiveness
from lexshift.benchmark.systems import SystemScores
from lexshift.scoring.distance import DISTANCES


@pytest.fixture(scope="module")
def measured() -> Measurements:
    return measure_words()


@pytest.fixture(scope="module")
def english() -> Measurements:
    return replace(measure_words(), data=dataset(ENGLISH))


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
