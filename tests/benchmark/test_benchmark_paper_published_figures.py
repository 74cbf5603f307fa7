"""Test the published figures against each other and against numbers that the paper prints."""

from __future__ import annotations

import pytest

from lexshift.benchmark.paper.published_figures import published_figures, published_name
from lexshift.scoring.distance import PAPER
from lexshift.scoring.sscd import RATES

RELEASES = {
    "semeval2020_ulscd_eng": "semeval-english",
    "SemEval2020_ULSCD_ENG": "semeval-english",
    "semeval2020_ulscd_ger": "semeval-german",
    "semeval2020_ulscd_swe": "semeval-swedish",
    "semeval2020_ulscd_lat": "semeval-latin",
    "liverpoolfc": "liverpool",
}
ENGLISH, GERMAN, LIVERPOOL = "semeval2020_ulscd_eng", "semeval2020_ulscd_ger", "liverpoolfc"


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
