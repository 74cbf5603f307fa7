"""Test ``--plan``: what it prints, and that it starts nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import Terminal, only_sentence, rows

LINES = "".join(f"the {word} was near {i}\n" for i in range(30) for word in ("mouse", "bread"))


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Terminal:
    (tmp_path / "1950s.txt").write_text(LINES)
    (tmp_path / "2010s.txt").write_text(LINES.replace("near", "far"))
    monkeypatch.setattr("lexshift.study.encoder_profile.cache_folder", lambda: tmp_path / ".cache" / "models")
    return Terminal(tmp_path, monkeypatch, capsys, "lexshift.study.plan")


@pytest.mark.parametrize("command", ["compare", "trace", "senses", "embed"])
def test_plan_is_printed_and_nothing_is_started(terminal: Terminal, command: str) -> None:
    before = sorted(terminal.folder.iterdir())
    folder = ["--out", "new"] if command == "embed" else []
    out, _ = terminal.succeed(command, "1950s.txt", "2010s.txt", "--words", "mouse", "--plan", *folder)
    printed = rows(out)
    labels = ["old", "new"] if command == "embed" else ["1950s", "2010s"]
    assert printed[labels[0]] == ["1 file, 300 running words, 1 kB, English"]
    assert printed["words"] == ["1 word, named by the user: mouse"]
    assert printed["encoder"] == ["minilm-senses, because the text is in English (--model auto)"]
    assert printed["usages"] == ["60 usages of 1 word, 60 distinct sentences to encode"]
    assert printed["time"][0].startswith("about ")
    assert "are vectors" in printed["disk"][0]
    assert [path for path in sorted(terminal.folder.iterdir()) if path.name != ".cache"] == before


def test_plan_of_a_discovery_says_how_words_are_chosen(terminal: Terminal) -> None:
    out, err = terminal.succeed("discover", "1950s.txt", "2010s.txt", "--plan", "--quiet")
    assert rows(out)["words"][0].startswith("all 2 words that occur 20 times or more in both corpora, without ")
    assert err == ""


def test_plan_as_json_has_all_numbers(terminal: Terminal) -> None:
    arguments = ["compare", "1950s.txt", "2010s.txt", "--words", "mouse,bread", "--plan", "--format", "json"]
    out, _ = terminal.succeed(*arguments, "--model", "minilm")
    plan = json.loads(out)
    assert (plan["command"], plan["out"], plan["encoder_choice"]) == ("compare", "lexshift-1950s-2010s", None)
    assert plan["targets"]["usages"] == 120
    assert plan["words"] == ["mouse", "bread"]
    assert set(plan["seconds"]) == {"reading", "encoding", "scoring", "total"}
    assert len(plan["seconds"]["total"]) == 2


def test_mistakes_in_a_plan_are_one_sentence(terminal: Terminal) -> None:
    sentence = only_sentence(terminal.run("compare", "1950s.txt", "2010s.txt", "--plan", "--format", "csv"))
    assert sentence == "format must be one of json, table; got 'csv'"
    assert "nowhere.txt" in only_sentence(terminal.run("compare", "nowhere.txt", "2010s.txt", "--plan"))
    sentence = only_sentence(terminal.run("compare", "1950s.txt", "2010s.txt", "--plan", "-w", "unicorn"))
    assert sentence.startswith("none of the words occurs in the corpora (match: word): 'unicorn'")


@pytest.mark.parametrize("command", ["compare", "embed"])
def test_plan_names_files_that_cannot_be_read_or_are_not_utf_8(terminal: Terminal, command: str) -> None:
    (terminal.folder / "old").mkdir()
    (terminal.folder / "old" / "scan.pdf").write_bytes(b"%PDF-1.7")
    (terminal.folder / "old" / "letters.txt").write_bytes(LINES.replace("near", "near the café").encode("cp1252"))
    folder = ["--out", "new"] if command == "embed" else []
    out, _ = terminal.succeed(command, "old", "2010s.txt", "--words", "mouse", "--plan", *folder)
    printed = " ".join(out.split())
    assert "old: 1 file is not UTF-8: letters.txt (cp1252)" in printed
    assert "old: skipped: the file 'old/scan.pdf' is a PDF, which is not text" in printed
