"""Test ``lexshift eval`` on data with senses: which data are recognised, what is printed, and what is written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from shell import Terminal, Toy, only_sentence, rows

from lexshift.encode.adaptation import Calibration

AXOLOTL = """\
usage_id\tword\torth\tsense_id\tgloss\texample\tindices_target_token\tdate\tperiod
u1\tmouse\tmouse\tm1\tan animal\tThe animal mouse.\t11:16\t1800\told
u2\tmouse\tmouse\tm1\tan animal\tAnother animal mouse.\t15:20\t2000\tnew
u3\tmouse\tmouse\tm2\ta device\tThe screen mouse.\t11:16\t2000\tnew
"""
BASELINES = ["one sense", "every usage its own"]


class Calibrated(Toy):
    """Encoder with a calibration that sees an animal, a screen, or neither."""

    calibration = Calibration(20.0, -10.0)

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        assert len(sentences) == len(spans)
        return np.array([["animal" in text, "screen" in text, 0.1] for text in sentences], np.float32)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(tmp_path, monkeypatch, capsys, "lexshift.benchmark.sense_vectors", Calibrated())


def write_usages(path: Path) -> None:
    usages = [
        {"word": word, "period": period, "sentence": f"The {word} and {text} {i}.", "sense": text}
        | {"start": 4, "end": 4 + len(word), "graded": graded}
        for word, graded in (("mouse", 0.9), ("stone", 0.1), ("cloud", 0.3))
        for period in ("1900s", "2000s")
        for text in ("an animal", *(["a screen"] if word == "mouse" and period == "2000s" else []))
        for i in range(6)
    ]
    pd.DataFrame(usages).to_csv(path, index=False)


def write_periods(folder: Path) -> None:
    folder.mkdir(parents=True)
    labelled = [
        {"word": "mouse", "sentence_id": f"{period}-{i}", "period_label": period, "label": [number]}
        | {"text": f"A mouse, {text} {i}.", "start": 2, "end": 7}
        for period, number, text in (("1900", 0, "animal"), ("1950", 0, "animal"), ("2000", 1, "screen"))
        for i in range(10)
    ]
    (folder / "subtask1.jsonl").write_text("".join(json.dumps(row) + "\n" for row in labelled), "utf-8")


def test_clusters_are_evaluated_next_to_the_baselines(shell: Terminal) -> None:
    write_usages(shell.folder / "usages.csv")
    out, err = shell.succeed("eval", "usages.csv", "--senses", "--out", "out")
    found = rows(out)
    assert list(found)[1:] == BASELINES
    assert "results in out" in err
    table = pd.read_csv(shell.folder / "out" / "sense-evaluation.csv").set_index("method")
    assert found["one sense"][:2] == [f"{table.loc['one sense', name]:.3f}" for name in ("ari", "b_cubed_f")]
    printed, err = shell.succeed("eval", "usages.csv", "--senses", "--out", "out", "--format", "csv", "--quiet")
    pd.testing.assert_frame_equal(pd.read_csv(StringIO(printed)), table.reset_index())
    assert err == ""


def test_other_clustering_is_chosen_by_name(shell: Terminal) -> None:
    write_usages(shell.folder / "usages.csv")
    message = only_sentence(shell.run("eval", "usages.csv", "--senses", "--clustering", "none", "--out", "out", "-q"))
    assert "clustering" in message


def test_axolotl_is_recognised_and_its_predictions_are_scored(shell: Terminal) -> None:
    (shell.folder / "axolotl.tsv").write_text(AXOLOTL, "utf-8")
    out, err = shell.succeed("eval", "axolotl.tsv", "--out", "out")
    assert rows(out)["most-frequent"] == ["0.000", "1.000", "1"]
    assert "predictions in out/predictions" in err
    file = "out/predictions/most-frequent.tsv"
    scored, err = shell.succeed("eval", "axolotl.tsv", "--predictions", file)
    assert rows(scored) == {"most-frequent.tsv": ["0.000", "1.000", "1"]}
    assert err == ""


def test_semeval_2027_is_recognised_and_its_submission_is_scored(shell: Terminal) -> None:
    write_periods(shell.folder / "data" / "EN")
    out, err = shell.succeed("eval", "data", "--out", "out", "--format", "json")
    table = pd.DataFrame(json.loads(out)).set_index("method")
    assert table.loc["one sense", "b_cubed_precision"] == pytest.approx(5 / 9)
    assert "submission: out/submission.zip" in err
    scored, _ = shell.succeed("eval", "data", "--predictions", "out/EN/EN_subtask1.jsonl", "--format", "json")
    assert json.loads(scored)[0]["b_cubed_f"] == table.iloc[0]["b_cubed_f"]


def test_other_commands_name_the_one_for_these_data(shell: Terminal) -> None:
    (shell.folder / "axolotl.tsv").write_text(AXOLOTL, "utf-8")
    write_periods(shell.folder / "data" / "EN")
    for path in ("axolotl.tsv", "data"):
        assert "evaluate on it with lexshift eval" in only_sentence(shell.run("data", path))


def test_options_that_do_not_fit_are_refused(shell: Terminal) -> None:
    write_usages(shell.folder / "usages.csv")
    assert "--predictions is for data of AXOLOTL-24" in only_sentence(
        shell.run("eval", "usages.csv", "--predictions", "usages.csv")
    )
    assert "--grid is about scores of change" in only_sentence(shell.run("eval", "usages.csv", "--senses", "--grid"))


@pytest.mark.parametrize("lines", [1, 2])
def test_axolotl_without_new_usages_is_refused(shell: Terminal, lines: int) -> None:
    (shell.folder / "axolotl.tsv").write_text("\n".join(AXOLOTL.splitlines()[:lines]) + "\n", "utf-8")
    sentence = only_sentence(shell.run("eval", "axolotl.tsv", "--out", "out"))
    assert sentence == "'axolotl.tsv' has no usages of the period new, whose senses are to be found"


@pytest.mark.parametrize("option", ["clustering", "gold"])
def test_options_that_would_be_ignored_are_refused(shell: Terminal, option: str) -> None:
    (shell.folder / "axolotl.tsv").write_text(AXOLOTL, "utf-8")
    done = shell.run("eval", "axolotl.tsv", f"--{option}", "graph")
    assert only_sentence(done) == f"--{option} is not used for AXOLOTL-24; leave it out"
    write_periods(shell.folder / "data" / "english")
    done = shell.run("eval", "data", "--gold", "gold.tsv")
    assert only_sentence(done) == "--gold is not used for SemEval-2027 Task 3; leave it out"


def test_clustering_without_senses_is_refused(shell: Terminal) -> None:
    write_usages(shell.folder / "usages.csv")
    sentence = only_sentence(shell.run("eval", "usages.csv", "--clustering", "graph"))
    assert sentence == "--clustering is about senses; add --senses to evaluate them"
