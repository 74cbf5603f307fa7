"""Test that the table, the files and the page name the metric of p and q."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lexshift import SSCD, Result, compare, permutation_test
from lexshift.report.comparison import content
from lexshift.report.methods import methods
from lexshift.scoring.scores import Comparisons, Scoring, score_words
from lexshift.study.discover import discover
from lexshift.study.trace import trace
from lexshift.utils.arrays import Floats
from lexshift.utils.monitor import Silent

FAST: dict[str, Any] = {
    "duplicates": "keep",
    "permutations": 99,
    "resamples": 5,
    "repeats": 2,
    "monitor": False,
    "split": "lines",
}


class Lines:
    """Encoder with one vector per sentence length, and zeros for a sentence with a zero."""

    def encode(self, sentences: list[str], spans: list[tuple[int, int]]) -> Floats:
        rows = [[len(s), start + 1.0, len(s) % 3] for s, (start, _) in zip(sentences, spans, strict=True)]
        return np.array(rows, np.float32) * np.array([["0" not in s] for s in sentences])


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("corpora")
    paths = []
    for name, begin in (("1950s", "the"), ("2010s", "a very")):
        lines = [f"{begin} mouse {'x' * (i % 5)} and {begin} bread" for i in range(30)]
        lines += [f"{begin} bread 0"]
        paths.append(folder / f"{name}.txt")
        paths[-1].write_text("\n".join(lines) + "\n")
    return paths


@pytest.fixture(scope="module")
def saved(corpora: list[Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    folder = tmp_path_factory.mktemp("out") / "results"
    return compare(corpora[0], corpora[1], ["mouse", "bread"], model=Lines(), space="raw", out=folder, **FAST), folder


def test_word_with_a_zero_vector_is_tested_by_the_metric_of_its_score() -> None:
    rng = np.random.default_rng(0)
    words = {word: (rng.normal(size=(12, 4)), rng.normal(size=(12, 4))) for word in ("mouse", "bread")}
    words["bread"][0][3] = 0
    scoring = Scoring(SSCD("nearest"), 0.3, 200, 5)
    found = score_words(Comparisons(list(words), words.__getitem__), scoring, Silent()).words
    assert {word: scored.tested_metric for word, scored in found.items()} == {"mouse": "energy", "bread": "nearest"}
    for word, scored in found.items():
        assert scored.test == permutation_test(*words[word], scored.tested_metric, 200, 0, word)


def test_metric_without_a_substitute_is_tested_itself() -> None:
    rng = np.random.default_rng(0)
    words = {"mouse": (rng.normal(size=(9, 3)), rng.normal(size=(9, 3)))}
    found = score_words(Comparisons(["mouse"], words.__getitem__), Scoring(SSCD("kl"), 0.3, 20, 5), Silent())
    assert found.words["mouse"].tested_metric == "kl"


def test_table_and_files_name_the_tested_metric(saved: tuple[Result, Path]) -> None:
    result, folder = saved
    expected = {"mouse": "energy", "bread": "nearest"}
    for table in (result.table, pd.read_csv(folder / "scores.csv"), pd.read_parquet(folder / "scores.parquet")):
        assert dict(zip(table["word"], table["tested_metric"], strict=True)) == expected
    run = json.loads((folder / "run.json").read_text())
    assert run["tested_metrics"] == {"energy": 1, "nearest": 1}
    assert run["permutations"] == 99
    assert run["settings"]["permutations"] == 99


def test_page_names_the_tested_metric(saved: tuple[Result, Path]) -> None:
    result, folder = saved
    description = (
        "the energy distance of the unit vectors (U-statistic) (for 1 word, the mean cosine distance of a vector to the"
    )
    assert description in methods(result)[-2]
    page = (folder / "report.html").read_text()
    assert f"(Benjamini-Hochberg). Tested distance: {description}" in page
    assert f"The tested distance is {description}" in page


def test_trace_names_the_tested_metric(corpora: list[Path], tmp_path: Path) -> None:
    found = trace(*corpora, words=["mouse", "bread"], model=Lines(), space="raw", out=tmp_path / "t", **FAST)
    table = pd.read_csv(tmp_path / "t" / "steps.csv")
    assert set(zip(table["word"], table["tested_metric"], strict=True)) == {("mouse", "energy"), ("bread", "nearest")}
    assert found.run["tested_metrics"] == {"energy": 1, "nearest": 1}


def test_resumed_discovery_names_the_tested_metric(corpora: list[Path], tmp_path: Path) -> None:
    for _ in range(2):
        found = discover(*corpora, model=Lines(), space="raw", out=tmp_path / "d", **FAST)
        tested = dict(zip(found.table["word"], found.table["tested_metric"], strict=True))
        assert (tested["mouse"], tested["bread"]) == ("energy", "nearest")


@pytest.mark.parametrize("metric", ["energy", "amd", "samd"])
def test_metrics_between_usages_are_tested_by_the_energy_distance(corpora: list[Path], metric: str) -> None:
    result = compare(corpora[0], corpora[1], ["mouse"], model=Lines(), space="raw", metric=metric, **FAST)
    row = result.table.iloc[0]
    assert (row["tested_metric"], result.scores.sscd.metric) == ("energy", metric)
    assert row["low"] <= row["score"] <= row["high"]
    assert "the energy distance of the unit vectors (U-statistic)" in methods(result)[-2]


def test_word_with_too_few_usages_has_no_tested_metric(corpora: list[Path]) -> None:
    result = compare(corpora[0], corpora[1], ["mouse", "ghost"], model=Lines(), **FAST)
    assert result.table["tested_metric"].tolist() == ["energy", ""]


def test_too_few_permutations_give_a_caution(corpora: list[Path]) -> None:
    few = FAST | {"permutations": 9}
    result = compare(corpora[0], corpora[1], ["mouse", "bread"], model=Lines(), space="raw", **few)
    caution = result.caution()
    assert caution is not None
    assert "smallest p that 9 permutations can give" in caution
    assert "permutations auto" in caution
    traced = trace(*corpora, words=["mouse", "bread"], model=Lines(), space="raw", **few)
    assert traced.caution() is not None
    enough = compare(
        corpora[0], corpora[1], ["mouse", "bread"], model=Lines(), space="raw", **FAST | {"permutations": "auto"}
    )
    assert "permutations" not in str(enough.caution())
    assert enough.run["settings"]["permutations"] == "auto"
    assert enough.run["permutations"] >= 1_000


def test_approximated_p_is_marked(saved: tuple[Result, Path]) -> None:
    result, _ = saved
    words = dict(result.scores.words)
    words["mouse"] = replace(words["mouse"], test=replace(words["mouse"].test, p=1e-8, tail=1e-8))
    marked = replace(result, scores=replace(result.scores, words=words))
    assert {row["word"]: row.get("approximate", False) for row in content(marked)["words"]} == {
        "mouse": True,
        "bread": False,
    }
    assert "generalised Pareto" in methods(marked)[-2]
    assert "generalised Pareto" not in methods(result)[-2]
