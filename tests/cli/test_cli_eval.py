"""Test ``lexshift eval`` and ``lexshift data`` on a small table: files, output, and every mistake in one sentence."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from shell import Stopped, Terminal, Toy, only_sentence, rows

from lexshift import SSCD, Siblings, UserError
from lexshift.benchmark.datasets import load_dataset
from lexshift.benchmark.datasets.dataset import PERIODS
from lexshift.benchmark.evaluation import (
    Evaluation,
    default_folder,
    evaluate,
    evaluate_rules,
    evaluate_system,
    grid_table,
    select_pairs,
)
from lexshift.benchmark.systems import compared_systems, sweep_grid
from lexshift.benchmark.verdicts import judge_words
from lexshift.cli import terminal
from lexshift.cli.evaluate import _methods_table
from lexshift.scoring.distance import PAPER
from lexshift.scoring.rates import search_rate
from lexshift.scoring.space import fit_space
from lexshift.scoring.sscd import RATES
from lexshift.study.control_usages import ControlUsages
from lexshift.study.settings import Settings
from lexshift.utils.monitor import Silent

PLACES = ["barn", "house", "field", "ship", "street", "shop", "garden", "office"]
LATER = ["mill", "bridge", "valley", "boat", "square", "store", "park", "room"]
OLD = ["a {} was in the {}", "they saw the {} near a {}"]
NEW = ["click on the {} of the {} screen", "plug the {} into the {} computer"]
SHARE = {"mouse": 1.0, "tablet": 0.75, "web": 0.5, "bread": 0.0, "stone": 0.0, "rare": 0.0}  # share of new usages
BINARY = {"mouse": 1, "tablet": 1, "web": 1, "bread": 0, "stone": 0, "rare": 0}
FAST = ["--repeats", "3"]
DEFAULT = SSCD("nearest", rate=0.5, repeats=3, distance_weight=0.8)
SYSTEMS = ["Cosine of means", "APD", "DSCD, cosine", "Liu et al."]
VARIANT, SSCD_ALONE = "variant of SSCD nearest, random, rate 0.5, distance weight 0.8", "SSCD nearest, random, rate 0.5"
SCORED = [VARIANT, SSCD_ALONE, "e_original nearest", *SYSTEMS]
RULES = ["verdict changed or differs", "always changed", "always stable"]
METHODS = [*SCORED, *RULES]
FILES = ["evaluation.csv", "evaluation.json", "store", "verdicts.csv"]
TOO_FEW_CONTROLS = (
    "there is no comparison with ordinary words, because fewer than 30 other words of the sentences occur in 20 "
    "sentences or more of each period"
)


def usages(gold: Sequence[str] = ("graded", "binary")) -> pd.DataFrame:
    """Return usages of words with a known share of new usages in the second period; one word has one too few."""
    rows: list[dict[str, Any]] = []
    for word, share in SHARE.items():
        for period in ("1900s", "2000s"):
            for i, place in enumerate(PLACES if period == "1900s" else LATER):
                if word == "rare" and period == "2000s" and i:
                    continue
                moved = period == "2000s" and i < share * len(PLACES)
                sentence = (NEW if moved else OLD)[i % 2].format(word, place)
                start = sentence.index(word)
                row = {"word": word, "period": period, "sentence": sentence, "start": start, "end": start + len(word)}
                rows.append(row | {"graded": share, "binary": BINARY[word]})
    return pd.DataFrame(rows).drop(columns=[name for name in ("graded", "binary") if name not in gold])


class Shell(Terminal):
    """Table of usages and the command that evaluates with it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        super().__init__(folder, monkeypatch, capsys, "lexshift.benchmark.evaluation", Toy(centre=0.5))
        usages().to_csv(folder / "usages.csv", index=False)

    def eval(self, *arguments: str) -> tuple[str, str]:
        """Return output and errors of a successful evaluation, into "out" unless the arguments name a folder."""
        where = [] if "--out" in arguments or "-o" in arguments else ["--out", "out"]
        return self.succeed("eval", "usages.csv", *arguments, *where, *FAST)

    def refused(self, *arguments: str) -> str:
        """Return the single sentence with which an evaluation is refused."""
        return only_sentence(self.run("eval", *arguments))

    @property
    def table(self) -> pd.DataFrame:
        return pd.read_csv(self.folder / "out" / "evaluation.csv")

    @property
    def record(self) -> Mapping[str, Any]:
        return json.loads((self.folder / "out" / "evaluation.json").read_text("utf-8"))


def direct(folder: Path, settings: SSCD, space: str = "standardised", alpha: float = 0.05) -> pd.DataFrame:
    """Evaluate the vectors of a store directly; there are no control words."""
    data, siblings = load_dataset(folder / "usages.csv"), Siblings(folder / "out" / "store")
    pairs = select_pairs(data, siblings)
    fitted = fit_space(pairs, space)
    systems = compared_systems(fitted.apply_to_words(pairs), settings, alpha)
    chosen = Settings(metric=settings.metric, min_usages=2, alpha=alpha, seed=settings.seed)
    verdicts = judge_words(siblings, list(pairs), ControlUsages(), Toy(), fitted, chosen, Silent())
    systems[0] = replace(systems[0], changed=np.array(verdicts.is_changed(systems[0].words)))
    return pd.DataFrame([*(evaluate_system(data, scored) for scored in systems), *evaluate_rules(data, verdicts)])


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


# ------------------------------------------------------------------------------------------------- Python interface


def evaluated(folder: Path, toy: Toy | None = None, **options: Any) -> Evaluation:
    path = folder / "usages.csv"
    if not path.exists():
        usages().to_csv(path, index=False)
    return evaluate(load_dataset(path), repeats=3, model=toy or Toy(centre=0.5), out=folder / "out", **options)


def test_evaluation_scores_every_system_on_the_words_with_enough_usages(tmp_path: Path) -> None:
    found = evaluated(tmp_path)
    assert found.table["method"].tolist() == METHODS
    pd.testing.assert_frame_equal(found.table, direct(tmp_path, DEFAULT))
    assert found.grid is None
    assert found.folder == tmp_path / "out"
    assert found.siblings.corpora == list(PERIODS)
    assert found.siblings.words == list(SHARE)
    assert found.data.graded == SHARE
    scored = found.table.set_index("method")
    assert scored.loc["Cosine of means", ["words", "dropped"]].tolist() == [5, 1]
    assert scored.loc["Cosine of means", "spearman"] > 0.5
    decides = [True] + [False] * 5 + [True] * 4
    assert [scored[name].notna().tolist() for name in ("accuracy", "f1", "called")] == [decides] * 3
    assert scored.loc[RULES, ["words", "dropped"]].to_numpy().tolist() == [[6, 0]] * 3


def test_results_are_saved_with_their_settings(tmp_path: Path) -> None:
    found = evaluated(tmp_path, space="centred", alpha=0.1, normalised=True)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out" / "evaluation.csv"), found.table)
    record = json.loads((tmp_path / "out" / "evaluation.json").read_text("utf-8"))
    assert record["data"] == {
        "name": "usages.csv",
        "kind": "table of usages",
        "words": 6,
        "gold": "graded",
        "suffix": "strip",
    }
    assert record["embedding"] == found.siblings.settings
    assert record["store"] == found.siblings.fingerprint
    assert record["rate"] == 0.5
    assert record["settings"] == {
        "space": "centred",
        "min_usages": 2,
        "preset": None,
        "control": "auto",
        "metric": "nearest",
        "strategy": "random",
        "normalised": True,
        "rate": 0.5,
        "distance_weight": 0.8,
        "repeats": 3,
        "alpha": 0.1,
        "seed": 0,
    }
    assert record["control"] == {"words": [], "source": None, "note": TOO_FEW_CONTROLS}
    background = record["background"]
    assert background.pop("floor") >= 0
    wanted = {"control_words": 0, "common_shift": None, "ordinary_gap": None, "is_calibrated": False}
    assert background == wanted
    assert sorted(os.listdir(tmp_path / "out")) == FILES


def test_grid_has_every_metric_strategy_and_rate_of_the_paper(tmp_path: Path) -> None:
    found = evaluated(tmp_path, with_grid=True)
    assert found.grid is not None
    assert len(found.grid) == len(PAPER) * 4 * len(RATES)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out" / "grid.csv"), found.grid)
    raw = select_pairs(found.data, found.siblings)
    pairs = fit_space(raw, "standardised").apply_to_words(raw)
    sizes = found.data.sizes
    pd.testing.assert_frame_equal(found.grid, grid_table(found.data, sweep_grid(pairs, sizes, repeats=3)))


def test_word_scores_do_not_depend_on_the_names_of_the_periods(tmp_path: Path) -> None:
    found = evaluated(tmp_path)
    (tmp_path / "other").mkdir()
    usages().replace({"1900s": "a", "2000s": "b"}).to_csv(tmp_path / "other" / "usages.csv", index=False)
    pd.testing.assert_frame_equal(evaluated(tmp_path / "other").table, found.table)


def test_evaluation_may_have_binary_gold_only(tmp_path: Path) -> None:
    usages(["binary"]).to_csv(tmp_path / "usages.csv", index=False)
    found = evaluated(tmp_path).table.set_index("method")
    assert found["spearman"].isna().all()
    assert found["average_precision"].iloc[:5].notna().all()
    assert 0 <= found.loc["Liu et al.", "accuracy"] <= 1


@pytest.mark.parametrize(
    ("name", "model", "folder"),
    [
        ("usages.csv", "minilm", "lexshift-eval-usages.csv-minilm"),
        ("my usages (2).csv", "bert-base/multi lingual", "lexshift-eval-my_usages_2_.csv-multi_lingual"),
        ("usages.csv", Toy(), "lexshift-eval-usages.csv-Toy"),
    ],
)
def test_folder_is_named_after_the_data_set_and_the_model(tmp_path: Path, name: str, model: Any, folder: str) -> None:
    usages().to_csv(tmp_path / name, index=False)
    assert default_folder(load_dataset(tmp_path / name).name, model) == folder


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"space": "centre"}, "space must be one of"),
        ({"alpha": 0.0}, "alpha must be a number between 0 and 1; got 0.0"),
        ({"precision": "double"}, "precision must be one of"),
        ({"metrics": "kl"}, "evaluate has no argument 'metrics'; did you mean 'metric'?"),
        ({"resamples": 3}, "evaluate has no argument 'resamples'"),
    ],
)
def test_invalid_setting_is_reported_before_anything_is_encoded(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    toy = Toy(centre=0.5)
    with pytest.raises(UserError, match=f"^{re.escape(message)}"):
        evaluated(tmp_path, toy, **options)
    assert toy.calls == 0
    assert not (tmp_path / "out").exists()


# ------------------------------------------------------------------------------------------------ command line: results


def test_folder_of_an_evaluation_is_described(shell: Shell) -> None:
    shell.eval()
    info = json.loads(shell.succeed("info", "out", "--format", "json")[0])
    assert (info["kind"], info["state"], info["encoder"]) == ("evaluation", "complete", "toy")
    assert info["command"] == "lexshift eval usages.csv --model toy --out out"
    assert info["words"] == list(SHARE)
    (shell.folder / "out" / "evaluation.csv").unlink()
    assert "incomplete: without evaluation.csv" in shell.succeed("info", "out")[0]
    (shell.folder / "out" / "evaluation.json").unlink()
    assert "interrupted: without the tables of the evaluation" in shell.succeed("info", "out")[0]


def test_table_has_one_row_per_method(shell: Shell) -> None:
    out, err = shell.eval()
    printed = rows(out)
    assert list(printed) == METHODS
    assert out.splitlines()[0].split()[:2] == ["method", "Spearman"]
    wanted = direct(shell.folder, DEFAULT)
    for row, cells in zip(wanted.to_dict("records"), printed.values(), strict=True):
        if not np.isnan(row["spearman"]):
            assert cells[0] == f"{row['spearman']:.3f}"
            assert cells[1] == f"{row['low']:.3f} to {row['high']:.3f}"
        assert cells[-2:] == [str(row["words"]), str(row["dropped"])]
    assert "6 words, gold: graded; results in out" in err
    assert f"note: {TOO_FEW_CONTROLS}" in " ".join(err.split())
    pd.testing.assert_frame_equal(shell.table, wanted)


def test_files_hold_the_table_and_its_settings(shell: Shell) -> None:
    shell.eval()
    assert sorted(os.listdir("out")) == FILES
    assert shell.table["method"].tolist() == METHODS
    assert shell.record["data"]["name"] == "usages.csv"
    assert Siblings("out/store").fingerprint == shell.record["store"]


def test_results_folder_is_named_after_the_data_set_and_the_model(shell: Shell) -> None:
    code, _, err = shell.run("eval", "usages.csv", *FAST)
    assert code == 0
    assert "note: the encoder is minilm-senses, because the text is in English (--model auto)" in err
    assert "results in lexshift-eval-usages.csv-minilm_senses" in err
    assert set(os.listdir()) == {"usages.csv", "lexshift-eval-usages.csv-minilm_senses"}
    assert (shell.options["model"], shell.languages) == ("minilm-senses", ["en"])
    shell.run("eval", "usages.csv", "--model", "some/bert", *FAST)
    assert Path("lexshift-eval-usages.csv-bert", "evaluation.csv").exists()


def test_second_run_encodes_nothing_and_prints_the_same(shell: Shell) -> None:
    first, _ = shell.eval()
    calls = shell.toy.calls
    assert calls > 0
    before = {name: Path("out", name).read_bytes() for name in FILES if name != "store"}
    second, err = shell.eval()
    assert (shell.toy.calls, second) == (calls, first)
    assert "the store is complete already; nothing is encoded" in err
    assert {name: Path("out", name).read_bytes() for name in before} == before


def test_other_score_settings_use_the_same_vectors(shell: Shell) -> None:
    shell.eval()
    calls = shell.toy.calls
    shell.eval("--metric", "cosine", "--strategy", "distance", "--rate", "0.2", "--seed", "4")
    assert shell.toy.calls == calls
    assert shell.table["method"][0] == "SSCD cosine, distance, rate 0.2"
    pd.testing.assert_frame_equal(shell.table, direct(shell.folder, SSCD("cosine", "distance", 0.2, 3, 4)))


def test_csv_output_can_be_parsed(shell: Shell) -> None:
    out, _ = shell.eval("--format", "csv")
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(out)), shell.table)


def test_json_output_can_be_parsed(shell: Shell) -> None:
    out, _ = shell.eval("--format", "json")
    found = json.loads(out)
    assert [row["method"] for row in found] == METHODS
    for row, wanted in zip(found, shell.table.to_dict("records"), strict=True):
        assert row.keys() == wanted.keys()
        for name, value in wanted.items():
            if isinstance(value, float) and np.isnan(value):
                assert row[name] is None
            else:
                assert row[name] == (pytest.approx(value, abs=1e-12) if isinstance(value, float) else value)


def test_grid_is_saved_and_printed_by_metric_and_rate(shell: Shell) -> None:
    out, _ = shell.eval("--grid")
    kept = pd.read_csv("out/grid.csv")
    assert len(kept) == len(PAPER) * 4 * len(RATES)
    parts = out.split("\n\n")
    assert len(parts) == 5
    assert list(rows(parts[0])) == METHODS
    for part, strategy in zip(parts[1:], kept["strategy"].unique(), strict=True):
        title, _, printed = part.lstrip("\n").partition("\n")
        assert title.strip() == strategy
        assert printed.splitlines()[0].split() == ["metric", *(f"{rate:g}" for rate in RATES)]
        cells = rows(printed)
        assert list(cells) == list(PAPER)
        for metric, values in cells.items():
            chosen = kept[(kept["metric"] == metric) & (kept["strategy"] == strategy)].sort_values("rate")
            assert values == [f"{value:.3f}" for value in chosen["spearman_each"]]


def test_without_a_grid_no_grid_file_is_written(shell: Shell) -> None:
    shell.eval()
    assert not Path("out", "grid.csv").exists()


def test_grid_is_a_separate_list_in_json(shell: Shell) -> None:
    out, _ = shell.eval("--grid", "--format", "json")
    found = json.loads(out)
    assert [row["method"] for row in found["methods"]] == METHODS
    pd.testing.assert_frame_equal(pd.DataFrame(found["grid"]), pd.read_csv("out/grid.csv"))


def test_csv_has_the_methods_only_and_the_grid_is_in_its_file(shell: Shell) -> None:
    out, err = shell.eval("--grid", "--format", "csv")
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(out)), shell.table)
    assert f"results in out, the grid in {Path('out', 'grid.csv')}" in err
    quiet, err = shell.eval("--grid", "--format", "csv", "--quiet")
    assert (quiet, err) == (out, "")


def test_method_with_too_few_words_has_empty_cells(capsys: pytest.CaptureFixture[str]) -> None:
    numbers = ("spearman", "low", "high", "spearman_each", "spearman_each_sd", "average_precision")
    decisions = ("accuracy", "f1", "precision", "called")
    row = {"method": "Liu et al.", **dict.fromkeys((*numbers, *decisions), np.nan), "words": 1, "dropped": 5}
    decided = {"accuracy": 0.75, "f1": 0.5, "precision": 0.25, "called": 4.0}
    frame = pd.DataFrame([row, row | {"spearman": 0.5, "low": 0.1, "high": 0.9}, row | decided])
    terminal.out.print(_methods_table(frame))
    _, first, second, third = capsys.readouterr().out.splitlines()
    assert first.split() == ["Liu", "et", "al.", "1", "5"]
    assert second.split() == ["Liu", "et", "al.", "0.500", "0.100", "to", "0.900", "1", "5"]
    assert third.split() == ["Liu", "et", "al.", "0.750", "0.500", "0.250", "4", "1", "5"]


@pytest.mark.parametrize("space", ["raw", "centred", "standardised"])
def test_vectors_are_scored_in_the_requested_space(shell: Shell, space: str) -> None:
    shell.eval("--space", space)
    pd.testing.assert_frame_equal(shell.table, direct(shell.folder, DEFAULT, space))
    assert shell.record["settings"]["space"] == space


def test_swap_counts_may_be_normalised_by_the_sentences_of_each_period(shell: Shell) -> None:
    shell.eval("--normalised")
    data = load_dataset("usages.csv")
    sizes = (data.texts[0].sentences, data.texts[1].sentences)
    assert shell.table["method"][0] == "variant of SSCD nearest, random, normalised, rate 0.5, distance weight 0.8"
    pd.testing.assert_frame_equal(shell.table, direct(shell.folder, replace(DEFAULT, corpus_sizes=sizes)))
    assert shell.record["settings"]["normalised"] is True


def test_rate_can_be_estimated_without_labels(shell: Shell) -> None:
    shell.eval("--rate", "auto", "--metric", "kl")
    pairs = select_pairs(load_dataset("usages.csv"), Siblings("out/store"))
    rate = search_rate(fit_space(pairs, "standardised").apply_to_words(pairs), "kl", repeats=3).rate
    assert (shell.record["settings"]["rate"], shell.record["rate"]) == ("auto", rate)
    pd.testing.assert_frame_equal(shell.table, direct(shell.folder, SSCD("kl", rate=rate, repeats=3)))


def test_words_with_too_few_usages_are_dropped(shell: Shell) -> None:
    shell.eval("--min-usages", "8")
    assert shell.table.loc[1, ["words", "dropped"]].tolist() == [5, 1]
    message = shell.refused("usages.csv", "--out", "out", "--min-usages", "9")
    assert message == "no word of 'usages.csv' has 9 usages in each period"


def test_alpha_is_the_false_discovery_rate(shell: Shell) -> None:
    shell.eval("--alpha", "0.2")
    pd.testing.assert_frame_equal(shell.table, direct(shell.folder, DEFAULT, alpha=0.2))
    assert shell.record["settings"]["alpha"] == 0.2


def test_part_of_speech_can_be_kept(shell: Shell) -> None:
    shell.eval("--suffix", "keep")
    assert shell.record["data"]["suffix"] == "keep"


def test_encoder_options_reach_the_encoder(shell: Shell) -> None:
    shell.eval("--layers", "last", "--pooling", "first", "--window", "64", "--dtype", "bf16")
    wanted = {"layers": "last", "pooling": "first", "window": 64, "dtype": "bf16"}
    assert wanted.items() <= shell.options.items()


def test_vectors_can_be_stored_in_half_precision(shell: Shell) -> None:
    shell.eval("--out", "whole")
    whole = pd.read_csv("whole/evaluation.csv")
    shell.eval("--precision", "float16")
    assert Siblings("out/store").vectors.dtype == np.float16
    assert shell.table["method"].tolist() == METHODS
    np.testing.assert_allclose(shell.table["spearman"][:5], whole["spearman"][:5], atol=0.3)


def test_quiet_prints_only_the_results(shell: Shell) -> None:
    loud, progress = shell.eval()
    quiet, err = shell.eval("--quiet")
    assert progress != ""
    assert (quiet, err) == (loud, "")


def test_interrupted_run_resumes(shell: Shell) -> None:
    shell.toy = Stopped()
    code, out, err = shell.run("eval", "usages.csv", "--out", "out", *FAST)
    assert (code, out) == (130, "")
    assert "error: interrupted; run the same command again to resume" in err
    assert not Path("out", "evaluation.csv").exists()
    shell.toy = Toy(centre=0.5)
    shell.eval()
    assert shell.table["method"].tolist() == METHODS


# ----------------------------------------------------------------------------------------- command line: error messages


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--space", "center"], r"space must be one of auto, centred, raw, standardised; got 'center'"),
        (["--metric", "cosin"], r"(?s).*did you mean 'cosine'\?"),
        (["--strategy", "randm"], r"strategy must be one of distance, random; got 'randm'"),
        (["--alpha", "0"], r"alpha must be a number between 0 and 1; got 0\.0"),
        (["--alpha", "1.5"], r"alpha must be a number between 0 and 1; got 1\.5"),
        (["--rate", "2"], r"rate must be a number from 0 to 1, or auto; got 2\.0"),
        (["--rate", "often"], r"rate must be a number from 0 to 1, or auto; got 'often'"),
        (["--min-usages", "1"], r"min_usages must be a whole number of at least 2"),
        (["--repeats", "0"], r"repeats must be a whole number of at least 1; got 0"),
        (["--format", "xml"], r"format must be one of csv, json, table; got 'xml'"),
        (["--suffix", "cut"], r"suffix must be one of keep, strip; got 'cut'"),
        (["--precision", "double"], r"precision must be one of float16, float32; got 'double'"),
        (["--seed", "-1"], r"seed "),
        (["--control", "29"], r"control must be auto, none, a file with words, or a number of words of at least 30"),
        (["--control", "words.txt"], r"the control words of an evaluation come from the sentences of the data set; "),
    ],
)
def test_invalid_setting_is_reported_in_one_sentence(shell: Shell, arguments: list[str], message: str) -> None:
    sentence = shell.refused("usages.csv", "--out", "out", *arguments)
    assert re.match(message, sentence), sentence
    assert shell.toy.calls == 0
    assert not Path("out").exists()


def test_missing_path_is_reported(shell: Shell) -> None:
    assert shell.refused("missing.csv").startswith("no such file or folder: 'missing.csv' (looked from ")


def test_path_without_a_data_set_is_reported(shell: Shell) -> None:
    (shell.folder / "folder").mkdir()
    (shell.folder / "notes.txt").write_text("a line\n")
    for path in ("folder", "notes.txt"):
        assert shell.refused(path).startswith(f"'{path}' is in no known format: ")


def test_data_set_without_gold_is_refused(shell: Shell) -> None:
    usages([]).to_csv("plain.csv", index=False)
    assert shell.refused("plain.csv") == "'plain.csv' has no gold to compare with; give one with --gold"
    assert shell.toy.calls == 0


def test_data_set_with_only_rare_words_is_refused(shell: Shell) -> None:
    frame = usages()
    frame.groupby(["word", "period"]).head(1).to_csv("rare.csv", index=False)
    assert shell.refused("rare.csv") == "no word of 'rare.csv' has 2 usages in each period"


def test_other_usages_in_the_same_folder_are_refused(shell: Shell) -> None:
    shell.eval()
    usages().iloc[1:].to_csv("usages.csv", index=False)
    store = str(Path("out", "store"))
    message = f"the store {store!r} was made from other usages; choose another folder (--out)"
    assert shell.refused("usages.csv", "--out", "out") == message


def test_table_with_an_invalid_line_is_reported_with_the_line(shell: Shell) -> None:
    frame = usages()
    frame.loc[3, "end"] = 999
    frame.to_csv("bad.csv", index=False)
    sentence = shell.refused("bad.csv")
    assert sentence.startswith("'bad.csv', line 5: ")
    assert "999" in sentence


# ---------------------------------------------------------------------------------------------------------------- data


def test_data_describes_a_data_set(shell: Shell) -> None:
    code, out, err = shell.run("data", "usages.csv")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "usages.csv: table of usages, 6 words"
    header = re.split(r"\s{2,}", out.splitlines()[1].strip())
    assert header == ["period", "sentences", "tokens", "types", "usages", "usages of a word"]
    data, counts = load_dataset("usages.csv"), usages().groupby("period").size()
    for label, text, least in zip(("1900s", "2000s"), data.texts, (8, 1), strict=True):
        line = next(line for line in out.splitlines() if line.startswith(label))
        assert re.split(r"\s{2,}", line.strip()) == [
            label,
            *(f"{n:,}" for n in (text.sentences, text.tokens, text.types, counts[label])),
            f"{least} to 8",
        ]
    assert "gold for 6 words: graded" in out
    assert "changed or not for 6 words: 3 changed" in out
    assert "mouse" not in out


def test_data_lists_the_words_on_request(shell: Shell) -> None:
    code, out, _ = shell.run("data", "usages.csv", "--list-words")
    assert code == 0
    listed = rows(out)
    assert listed["mouse"] == ["8", "8", "1.000", "yes"]
    assert listed["rare"] == ["8", "1", "0.000", "no"]


def test_data_reports_missing_gold(shell: Shell) -> None:
    usages([]).to_csv("plain.csv", index=False)
    code, out, _ = shell.run("data", "plain.csv")
    assert code == 0
    assert out.splitlines()[-1] == "no gold"


def test_missing_data_is_reported_in_one_sentence(shell: Shell) -> None:
    sentence = only_sentence(shell.run("data", "missing"))
    assert sentence.startswith("no such file or folder: 'missing' (looked from ")


def test_data_writes_the_sentences_of_each_period_on_request(shell: Shell) -> None:
    code, out, _ = shell.run("data", "usages.csv", "--out", "texts")
    assert code == 0
    for period, label in (("old", "1900s"), ("new", "2000s")):
        assert f"written: {Path('texts', period)}.txt" in out
        frame = usages()
        wanted = frame.loc[frame["period"] == label, "sentence"].drop_duplicates().tolist()
        assert Path("texts", f"{period}.txt").read_text("utf-8").splitlines() == wanted
