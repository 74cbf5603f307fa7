"""Test ``lexshift reproduce`` on small data: files, output, vectors shared with ``eval``, and error messages."""

from __future__ import annotations

import gzip
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from shell import Terminal, Toy, last_sentence

from lexshift import UserError, __version__
from lexshift.benchmark.datasets import load_dataset
from lexshift.benchmark.paper import Reproduction, reproduce
from lexshift.scoring.distance import PAPER
from lexshift.scoring.sscd import RATES

GRADED = {"mouse": 1.0, "tablet": 0.75, "web": 0.5, "bread": 0.1, "stone": 0.0}
FAST = ["--repeats", "2"]
FILES = ["ablation", "comparison", "curve", "divergences", "effectiveness", "rates-distance"]
FILES += ["rates-distance-normalised", "rates-random", "rates-random-normalised", "statistics", "summary"]
ENGLISH = "semeval2020_ulscd_eng"


def sentences(word: str, period: int) -> list[str]:
    """Return ten usages, of which the second period has as many new ones as the gold of the word says."""
    old, new = ["barn", "field", "ship", "mill", "lane"], ["screen", "cable", "click", "plug", "wire"]
    moved = GRADED[word.partition("_")[0]] * 10 if period else 0
    return [f"the {word} of a {(new if i < moved else old)[i % 5]} number {i} {period}" for i in range(10)]


def usages(**columns: Any) -> pd.DataFrame:
    rows = [
        {"word": word, "period": ("1900s", "2000s")[period], "sentence": sentence, "start": 4, "end": 4 + len(word)}
        | {"graded": value, "binary": int(value >= 0.5)}
        for word, value in GRADED.items()
        for period in range(2)
        for sentence in sentences(word, period)
    ]
    return pd.DataFrame(rows).assign(**columns)


def release(folder: Path) -> Path:
    """Write the same usages as a SemEval release."""
    words = [f"{word}_nn" for word in GRADED]
    (folder / "truth").mkdir(parents=True)
    (folder / "targets.txt").write_text("".join(f"{word}\n" for word in words))
    gold = "".join(f"{word}_nn\t{value}\n" for word, value in GRADED.items())
    (folder / "truth" / "graded.txt").write_text(gold)
    for period in range(2):
        corpus = folder / f"corpus{period + 1}" / "lemma"
        corpus.mkdir(parents=True)
        lines = "".join(f"{line}\n" for word in words for line in sentences(word, period))
        (corpus / "corpus.txt.gz").write_bytes(gzip.compress(lines.encode(), mtime=0))
    return folder


class Shell(Terminal):
    """Table of usages and the command that reproduces the paper with it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        super().__init__(folder, monkeypatch, capsys, "lexshift.benchmark.evaluation", Toy(centre=0.5))
        usages().to_csv(folder / "usages.csv", index=False)

    def reproduce(self, *arguments: str) -> tuple[str, str]:
        """Return output and errors of a successful run."""
        code, out, err = self.run("reproduce", *arguments, *FAST)
        assert code == 0, err
        return out, err

    def refused(self, *arguments: str) -> str:
        """Return the single sentence with which a run is refused."""
        code, out, err = self.run("reproduce", *arguments)
        assert (code, out) == (2, ""), err
        return last_sentence(err)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


def reproduced(path: Path, **options: Any) -> Reproduction:
    return reproduce(load_dataset(path), model=Toy(centre=0.5), out=path.parent / "out", repeats=2, **options)


def csv(name: str, folder: str = "out") -> pd.DataFrame:
    return pd.read_csv(Path(folder, "reproduction", f"{name}.csv"))


# ------------------------------------------------------------------------------------------------------------- results


def test_one_file_per_exhibit_and_a_page_are_written(shell: Shell) -> None:
    out, err = shell.reproduce("usages.csv", "--out", "out")
    assert sorted(os.listdir("out")) == ["reproduction", "reproduction.html", "store"]
    assert sorted(os.listdir("out/reproduction")) == sorted([*(f"{name}.csv" for name in FILES), "run.json"])
    assert f"report: {Path('out', 'reproduction.html')}" in err
    rates = csv("rates-random")
    assert rates.columns.tolist() == [
        "metric",
        "rate",
        "spearman_each",
        "spearman_each_sd",
        "spearman",
        "paper_mBERT",
        "paper_MLM_temp",
    ]
    assert len(rates) == len(PAPER) * len(RATES)
    for title in (
        "The data",
        "Effectiveness of swapping",
        "Ranks of words at several swap rates",
        "The search for the swap rate",
    ):
        assert title in out
    printed = re.search(r"Swap rates: random swapping *\nmetric.*\n(kl .*)\n", out)
    assert printed is not None
    ours = rates.loc[rates["metric"] == "kl", "spearman_each"]
    assert printed[1].split()[1:] == ["–" if np.isnan(value) else f"{value:.3f}" for value in ours]


def test_run_record_is_saved(shell: Shell) -> None:
    shell.reproduce("usages.csv", "--out", "out", "--space", "centred", "--seed", "3")
    record = json.loads(Path("out/reproduction/run.json").read_text("utf-8"))
    assert record["lexshift"] == __version__
    assert record["data"]["name"] == "usages.csv"
    assert record["embedding"]["encoder"]["model"] == "toy"
    assert (record["space"], record["repeats"], record["seed"], record["data"]["suffix"]) == ("centred", 2, 3, "strip")


def test_vectors_and_folder_are_shared_with_eval(shell: Shell) -> None:
    code, _, err = shell.run("eval", "usages.csv", "--grid", "--space", "raw", *FAST)
    assert code == 0, err
    calls = shell.toy.calls
    assert calls > 0
    shell.reproduce("usages.csv")
    assert shell.toy.calls == calls
    folder = "lexshift-eval-usages.csv-minilm_senses"
    assert Path(folder, "reproduction.html").is_file()
    grid = pd.read_csv(Path(folder, "grid.csv"))
    for strategy in grid["strategy"].unique():
        ours = csv("rates-" + strategy.replace(", ", "-"), folder)
        wanted = grid[grid["strategy"] == strategy].reset_index(drop=True)
        for name in ("metric", "rate", "spearman_each", "spearman_each_sd", "spearman"):
            pd.testing.assert_series_equal(ours[name], wanted[name])


@pytest.mark.slow
def test_second_run_prints_the_same(shell: Shell) -> None:
    first, _ = shell.reproduce("usages.csv", "--out", "out")
    page = Path("out/reproduction.html").read_bytes()
    assert shell.reproduce("usages.csv", "--out", "out", "--quiet") == (first, "")
    assert Path("out/reproduction.html").read_bytes() == page


def test_encoder_options_reach_the_encoder(shell: Shell) -> None:
    shell.reproduce("usages.csv", "--model", "some/bert", "--layers", "last", "--pooling", "first", "--window", "64")
    wanted = {"model": "some/bert", "layers": "last", "pooling": "first", "window": 64}
    assert wanted.items() <= shell.options.items()
    assert Path("lexshift-eval-usages.csv-bert", "reproduction.html").is_file()


def test_space_changes_the_scores(tmp_path: Path) -> None:
    usages().to_csv(tmp_path / "usages.csv", index=False)
    found = {}
    for space in ("raw", "centred"):
        tables = {e.name: e.table for e in reproduced(tmp_path / "usages.csv", space=space).exhibits}
        found[space] = tables
    raw, centred = (found[space]["curve"]["e_swap_mean"] for space in found)
    np.testing.assert_allclose(raw, centred, rtol=1e-4)  # divergences do not depend on the origin
    alone = [found[space]["summary"].set_index("metric")["spearman_e_original"] for space in found]
    assert alone[0]["cosine"] != alone[1]["cosine"]
    assert alone[0]["euclidean"] == alone[1]["euclidean"]


def test_published_figures_are_shown_for_a_release_of_the_paper(shell: Shell) -> None:
    release(Path(ENGLISH))
    out, _ = shell.reproduce(ENGLISH, "--out", "out")
    rates = csv("rates-random").set_index(["metric", "rate"])
    assert rates.loc[("kl", 0.4), ["paper_mBERT", "paper_MLM_temp"]].tolist() == [0.176, 0.552]
    page = Path("out/reproduction.html").read_text("utf-8")
    assert page.count("<small>0.552</small>") == 1
    assert "0.563 (MLM_temp)" in page
    assert "0.563 (MLM_temp)" in out
    assert "MLM_temp: best rate" in page


def test_no_published_figures_are_shown_for_other_data(shell: Shell) -> None:
    release(Path("semeval_of_mine"))
    shell.reproduce("semeval_of_mine", "--out", "out")
    page = Path("out/reproduction.html").read_text("utf-8")
    assert "<small>" not in page
    assert "(MLM_temp)" not in page.split("</header>")[1]
    assert csv("rates-random").filter(like="paper").isna().all(axis=None)


# ------------------------------------------------------------------------------------------------------ error messages


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--space", "center"], r"space must be one of auto, centred, raw, standardised; got 'center'"),
        (["--suffix", "cut"], r"suffix must be one of keep, strip; got 'cut'"),
        (["--repeats", "0"], r"repeats must be a whole number of at least 1; got 0"),
        (["--seed", "-1"], r"seed "),
        (["--precision", "double"], r"precision must be one of float16, float32; got 'double'"),
    ],
)
def test_invalid_setting_is_reported_before_anything_is_encoded(
    shell: Shell, arguments: list[str], message: str
) -> None:
    sentence = shell.refused("usages.csv", "--out", "out", *arguments)
    assert re.match(message, sentence), sentence
    assert shell.toy.calls == 0
    assert not Path("out").exists()


def test_data_without_graded_gold_is_refused(shell: Shell) -> None:
    usages().drop(columns="graded").to_csv("binary.csv", index=False)
    assert shell.refused("binary.csv") == "'binary.csv' has no graded gold to compare with"
    assert shell.toy.calls == 0


def test_fewer_than_three_words_are_refused(shell: Shell) -> None:
    frame = usages()
    frame[frame["word"].isin(["mouse", "web"])].to_csv("few.csv", index=False)
    message = "'few.csv' has 2 words with graded gold and at least 2 usages in each period; a correlation needs 3"
    assert shell.refused("few.csv") == message


def test_constant_gold_is_refused(shell: Shell) -> None:
    usages(graded=0.5).to_csv("alike.csv", index=False)
    message = "the graded gold of 'alike.csv' is the same for all words, so they cannot be ranked"
    assert shell.refused("alike.csv") == message
    assert not Path("lexshift-eval-alike.csv-minilm_senses", "reproduction.html").exists()


def test_missing_path_is_reported(shell: Shell) -> None:
    assert shell.refused("missing.csv").startswith("no such file or folder: 'missing.csv' (looked from ")


def test_unwritable_folder_is_reported(shell: Shell) -> None:
    shell.reproduce("usages.csv", "--out", "out")
    for file in Path("out/reproduction").iterdir():
        file.unlink()
    Path("out/reproduction").rmdir()
    Path("out/reproduction").write_text("in the way")
    with pytest.raises(UserError, match=r"^'out' cannot be written: "):
        reproduce(load_dataset("usages.csv"), model=shell.toy, out="out", repeats=2)
