"""Test ``lexshift discover``: its printed output, its files, and its error messages."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shell import typed

from lexshift import demo_corpora

Run = Callable[..., tuple[int, str, str]]


class Letters:
    """Encoder that counts each letter of a sentence."""

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> Any:
        assert len(sentences) == len(spans)
        return np.array([[s.count(c) for c in "abcdefghijklmnopqrstuvwxyz"] for s in sentences], np.float32)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("lexshift.study.pipeline.as_encoder", lambda *_, **__: Letters())
    for source, name in zip(demo_corpora(), ("1950s.txt", "2010s.txt"), strict=True):
        Path(name).write_bytes(source.read_bytes())

    return partial(typed, monkeypatch, capsys, "discover")


def table(path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(Path(path).read_text("utf-8"))))


QUICK = ("1950s.txt", "2010s.txt", "--resamples", "20", "--permutations", "200", "--repeats", "2")


def test_top_of_the_ranking_is_printed_and_all_of_it_is_written(run: Run) -> None:
    code, out, err = run(*QUICK, "--show", "3", "--out", "found")
    assert code == 0
    lines = out.strip().splitlines()
    assert lines[0].split()[:4] == ["word", "1950s", "2010s", "change"]
    assert re.split(r"\s{2,}", lines[0].strip())[4:8] == ["95 % interval", "gap", "q", "verdict"]
    assert len(lines) == 4
    scores = table("found/scores.csv")
    assert len(scores) == 25
    assert [line.split()[0] for line in lines[1:]] == [row["word"] for row in scores[:3]]
    assert (
        "studying all 25 words that occur 20 times or more in both corpora, without function words, numbers and names"
        in err
    )
    assert "report: found/report.html" in err
    reasons = {row["word"]: row["left out as"] for row in table("found/vocabulary.csv")}
    assert reasons["the"] == "function word"
    assert reasons["mouse"] == ""


def test_fail_on_ends_the_command_with_status_3_if_a_word_has_the_verdict(run: Run) -> None:
    code, _, _ = run(*QUICK, "--show", "3", "--out", "found")
    assert code == 0
    verdicts = {row["verdict"] for row in table("found/scores.csv")}
    for verdict in ("changed", "differs", "unclear", "stable"):
        code, out, _ = run(*QUICK, "--show", "3", "--out", "found", "--fail-on", verdict)
        assert code == (3 if verdict in verdicts else 0)
        assert len(out.strip().splitlines()) == 4


@pytest.mark.parametrize("form", ["csv", "json"])
def test_other_formats_print_all_words_and_nothing_else(run: Run, form: str) -> None:
    code, out, err = run(*QUICK, "--format", form, "--quiet", "--top-words", "4")
    rows = json.loads(out) if form == "json" else list(csv.DictReader(io.StringIO(out)))
    assert code == 0
    assert len(rows) == 4
    assert {"word", "score", "q", "gap", "excess", "local_fdr", "verdict", "reason"} <= rows[0].keys()
    assert err == ""
    assert Path("lexshift-discover-1950s-2010s/report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere.txt", "2010s.txt"], "no such file or folder: 'nowhere.txt'"),
        (["1950s.txt", "1950s.txt"], "both corpora are '1950s.txt'"),
        ([*QUICK, "--min-count", "5000"], "no word except function words and numbers occurs at least 5000 times"),
        ([*QUICK, "--engine", "spark"], "engine must be one of local, ray; got 'spark'"),
        ([*QUICK, "--rate", "half"], "rate must be a number from 0 to 1, or auto; got 'half'"),
        ([*QUICK[:2], "--permutations", "many"], "permutations must be a whole number, or auto; got 'many'"),
        ([*QUICK, "--top-words", "-1"], "top_words must be a whole number, or 0 for all; got -1"),
        ([*QUICK, "--max-per-word", "-1"], "max_per_word must be a whole number, or 0 for all; got -1"),
        ([*QUICK, "--format", "xml"], "format must be one of csv, json, table; got 'xml'"),
        (["empty.txt", "2010s.txt"], "the corpus 'empty.txt' is empty"),
        (["latin.txt", "2010s.txt"], "is not UTF-8 at line 2"),
    ],
    ids=str,
)
def test_mistakes_are_reported_in_one_sentence(run: Run, arguments: list[str], sentence: str) -> None:
    Path("empty.txt").write_text("")
    Path("latin.txt").write_bytes("un café, un été\n".encode() + "Café mouse\n".encode("latin-1"))
    code, out, err = run(*arguments)
    assert code == 2
    assert out == ""
    assert sentence in err.replace("\n", " ")
    assert "Traceback" not in err
