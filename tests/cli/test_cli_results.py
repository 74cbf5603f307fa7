"""Test the output of ``compare``: results on standard output, everything else on standard error."""

from __future__ import annotations

import io
import json
import math
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from shell import rows
from test_cli_compare import FEW, NEW, OLD, Shell, child, text_of

from lexshift import SSCD, Result
from lexshift.cli.results import print_result, print_summary
from lexshift.scoring.gap import Gap
from lexshift.scoring.scores import Scores
from lexshift.study.verdict import Backdrop, Evidence

posix = pytest.mark.skipif(os.name != "posix", reason="terminals and pipes of POSIX")

ESCAPE = "\x1b"
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3\d|4\d|9\d|10\d)(?:;\d+)*m")
COMMAND = ["compare", "1950s.txt", "2010s.txt", "--words", "mouse,bread,barn", *FEW]


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


# ---------------------------------------------------------------------------------------------------------------- table


def test_table_has_a_row_for_each_word_with_its_counts_and_scores(shell: Shell) -> None:
    out, _ = shell.compare("--words", "bread,mouse,barn")
    lines = out.splitlines()
    header = re.split(r"\s{2,}", lines[0].strip())
    assert header == ["word", "1950s", "2010s", "change", "95 % interval", "gap", "q", "verdict"]
    assert [line.split()[0] for line in lines[1:] if line] == ["mouse", "bread", "word", "barn"]
    scores = pd.read_csv("lexshift-1950s-2010s/scores.csv").set_index("word")
    for word, expected in {"mouse": "changed", "bread": "stable"}.items():
        n_old, n_new, change, interval, gap, q, verdict = rows(out)[word]
        row = scores.loc[word]
        assert (n_old, n_new, verdict, row["verdict"]) == ("40", "40", expected, expected)
        assert float(change) == pytest.approx(row["score"], rel=0.01)
        low, high = map(float, interval.split(" to "))
        assert low == pytest.approx(row["low"], rel=0.01)
        assert high == pytest.approx(row["high"], rel=0.01)
        assert float(gap) == pytest.approx(row["gap"], rel=0.01)
        assert float(q) == pytest.approx(row["q"], abs=0.0005)
    assert float(rows(out)["mouse"][5]) < 0.02


def test_words_with_too_few_usages_come_last_with_the_reason(shell: Shell) -> None:
    (shell.folder / "1950s.txt").write_text(text_of(OLD) + "".join(f"a rare word {i}\n" for i in range(3)))
    (shell.folder / "2010s.txt").write_text(text_of(NEW) + "".join(f"a rare word {i}\n" for i in range(9)))
    out, _ = shell.compare("--words", "rare,mouse")
    assert out.splitlines()[-1].split()[0] == "rare"
    assert rows(out)["rare"] == [
        "3",
        "9",
        "too few",
        "3 usages in 1950s and 9 usages in 2010s; 10 are needed in each corpus",
    ]


def test_message_is_printed_if_no_word_can_be_tested(shell: Shell) -> None:
    out, err = shell.compare("--words", "barn")
    assert rows(out)["barn"] == ["20", "0", "disappeared", "20 occurrences in 1950s and no occurrences in 2010s"]
    assert "0 of 0 words changed" not in err
    assert "No word can be tested: 1 disappeared." in err


def test_row_is_one_line_however_long_the_names_are(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    from lexshift.cli import terminal

    monkeypatch.setattr(terminal.out, "_width", terminal._WIDE)
    long = ["a_corpus_of_newspapers_and_magazines_from_the_nineteen_fifties", "a_crawl_of_the_web_of_the_twenty_tens"]
    for before, name in zip(["1950s", "2010s"], long, strict=True):
        (shell.folder / f"{before}.txt").rename(shell.folder / f"{name}.txt")
    out, _ = shell.compare(f"{long[0]}.txt", f"{long[1]}.txt", "--words", "mouse,unicorn,barn")
    assert [line.split()[0] for line in out.splitlines() if line] == ["word", "mouse", "word", "barn", "unicorn"]


@pytest.mark.parametrize("label", ["[red]", "[/]", ":mouse:", "50%"])
def test_names_that_look_like_markup_are_shown_literally(shell: Shell, label: str) -> None:
    out, err = shell.compare("--words", "mouse,barn", "--labels", f"old,{label}")
    assert out.split()[:3] == ["word", "old", label]
    assert f"no occurrences in {label}" in out
    assert f"between old and {label} (" in err


# --------------------------------------------------------------------------------------------------------- two streams


def test_everything_except_the_results_goes_to_standard_error(shell: Shell) -> None:
    with (shell.folder / "2010s.txt").open("ab") as file:
        file.write(b"one mouse with a byte \xe9 that is not in the encoding\n")
    out, err = shell.compare("--encoding", "utf-8", "--errors", "replace", "--min-count", "40")
    assert len(out.splitlines()) == 3
    for phrase in ("note", "counting", "reading", "encoding", "scoring", "writing", "skipped", "report", "━"):
        assert phrase not in out
    lines = err.rstrip().splitlines()
    assert lines[-1] == f"report: {Path('lexshift-1950s-2010s/report.html')}"
    assert lines[-2].startswith("The words were not compared with ordinary words")
    found = next(i for i, line in enumerate(lines) if line.startswith("Of all words in the corpora, "))
    assert " appeared: " in lines[found]
    assert lines[found - 1].startswith("1 of 2 words changed between 1950s and 2010s (1 ")
    assert lines[found - 2].startswith("skipped or altered in 2010s: 1 ")
    for stage in ("counting old", "counting new", "reading old", "reading new", "encoding", "scoring", "writing"):
        assert any(line.startswith(stage) for line in lines)
    assert any(line.startswith("note: ") for line in lines)


@pytest.mark.parametrize("form", ["table", "csv", "json"])
@pytest.mark.parametrize("flag", ["--quiet", "-q"])
def test_quiet_prints_only_the_results(shell: Shell, form: str, flag: str) -> None:
    loud, progress = shell.compare("--min-count", "40", "--format", form, "--out", "loud")
    quiet, nothing = shell.compare("--min-count", "40", "--format", form, "--out", "quiet", flag)
    assert quiet == loud != ""
    assert progress != nothing == ""
    assert Path("quiet/report.html").is_file()


def test_quiet_does_not_hide_an_error(shell: Shell) -> None:
    assert shell.refused("--words", "unicorn", "--quiet").startswith("none of the words occurs")


# --------------------------------------------------------------------------------------------------------- csv and json


def test_csv_output_equals_the_scores_file(shell: Shell) -> None:
    out, _ = shell.compare("--words", "mouse,bread,barn", "--format", "csv")
    assert out.encode() == Path("lexshift-1950s-2010s/scores.csv").read_bytes()
    frame = pd.read_csv(io.StringIO(out))
    assert frame["word"].tolist() == ["mouse", "bread", "barn"]
    assert frame["verdict"].tolist() == ["changed", "stable", "disappeared"]
    assert frame[["n_old", "n_new"]].to_numpy().tolist() == [[40, 40], [40, 40], [20, 0]]
    assert frame["score"].isna().tolist() == [False, False, True]
    pd.testing.assert_frame_equal(frame, pd.read_csv("lexshift-1950s-2010s/scores.csv"))
    kept = pd.read_parquet("lexshift-1950s-2010s/scores.parquet")
    assert kept["score"].tolist()[:2] == pytest.approx(frame["score"].tolist()[:2], rel=1e-14)


def strict(text: str) -> Any:
    """Parse JSON and refuse NaN and infinity."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_json_has_null_for_missing_numbers_and_unescaped_letters(shell: Shell) -> None:
    for name, patterns in {"1950s.txt": OLD, "2010s.txt": NEW}.items():
        (shell.folder / name).write_text(text_of(patterns).replace("mouse", "мышь"), encoding="utf-8")
    out, _ = shell.compare("--words", "мышь,bread,école", "--format", "json")
    assert "мышь" in out
    assert "école" in out
    found = {row["word"]: row for row in strict(out)}
    assert list(found) == ["мышь", "bread", "école"]
    for column in ("score", "low", "high", "gap", "gap_low", "gap_high", "p", "q", "e_original", "e_swap"):
        assert found["école"][column] is None
        assert math.isfinite(found["мышь"][column])
    assert (found["мышь"]["verdict"], found["мышь"]["n_old"], found["école"]["n_new"]) == ("changed", 40, 0)
    assert "no usages in 1950s" in found["école"]["reason"]


def test_json_and_csv_have_the_same_numbers(shell: Shell) -> None:
    out, _ = shell.compare("--words", "mouse,bread,barn", "--format", "json")
    scores = pd.read_csv("lexshift-1950s-2010s/scores.csv")
    found = strict(out)
    assert list(found[0]) == scores.columns.tolist()
    for row, (_, line) in zip(found, scores.iterrows(), strict=True):
        for column in (
            "score",
            "low",
            "high",
            "gap",
            "gap_low",
            "gap_high",
            "p",
            "q",
            "per_million_old",
            "per_million_new",
        ):
            if row[column] is None:
                assert math.isnan(line[column])
            else:
                assert row[column] == pytest.approx(line[column], rel=1e-9, abs=1e-9)


# -------------------------------------------------------------------------------------------------- terminals and pipes


def test_no_escape_codes_are_printed_without_a_terminal(shell: Shell) -> None:
    out, err = shell.compare("--words", "mouse,bread,barn", "--out", "results")
    assert ESCAPE not in out + err
    code, _, message = shell.run("compare", "1950s.txt", "nothing.txt")
    assert code == 2
    assert ESCAPE not in message


def on_a_terminal(command: list[str], piped: bool, **environment: str) -> tuple[str, str]:
    """Return the output written to a pipe, if standard output is one, and the output to the terminal."""
    import pty

    leader, follower = pty.openpty()
    fresh = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLORTERM")}
    process = subprocess.Popen(
        command,
        stdin=follower,
        stdout=subprocess.PIPE if piped else follower,
        stderr=follower,
        env={**fresh, "TERM": "xterm-256color", "COLUMNS": "120", **environment},
    )
    os.close(follower)
    shown = bytearray()
    while True:
        try:
            data = os.read(leader, 1 << 16)
        except OSError:  # the reading end is closed
            break
        if not data:
            break
        shown += data
    os.close(leader)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, shown.decode()
    return (out or b"").decode(), shown.decode()


@pytest.mark.slow
@posix
def test_terminal_output_has_colours_and_piped_output_has_none(shell: Shell) -> None:
    assert shell.folder.is_dir()
    out, shown = on_a_terminal(child(*COMMAND), piped=True)
    assert ESCAPE not in out
    assert rows(out)["mouse"][-1] == "changed"
    assert COLOUR.search(shown)
    assert "encoding" in shown


@pytest.mark.slow
@posix
def test_no_color_is_respected_on_a_terminal(shell: Shell) -> None:
    assert shell.folder.is_dir()
    _, shown = on_a_terminal(child(*COMMAND), piped=False, NO_COLOR="1")
    assert "changed" in shown
    assert "report: " in shown
    assert not COLOUR.search(shown)


@pytest.mark.slow
@posix
@pytest.mark.parametrize("form", ["table", "csv"])
def test_closed_output_pipe_causes_no_traceback(shell: Shell, form: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        child(*COMMAND, "--format", form),
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        cwd=shell.folder,
        timeout=120,
        check=False,
    )
    os.close(writer)
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr
    assert Path("lexshift-1950s-2010s/report.html").is_file()


@pytest.mark.slow
def test_unencodable_letters_cause_no_traceback(shell: Shell) -> None:
    """Redirected output on Windows uses the code page of the machine."""
    for name, patterns in {"1950s.txt": OLD, "2010s.txt": NEW}.items():
        (shell.folder / name).write_text(text_of(patterns).replace("mouse", "мышь"), encoding="utf-8")
    done = subprocess.run(
        child("compare", "1950s.txt", "2010s.txt", "--words", "мышь,bread", *FEW),
        capture_output=True,
        cwd=shell.folder,
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
        timeout=120,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode == 0
    assert b"bread" in done.stdout


# ------------------------------------------------------------------------------------------- control words and verdicts

BACKDROP = Backdrop(0.015, 150, 0.2, 0.016, is_calibrated=True)
ROW: dict[str, Any] = {"n_old": 20, "n_new": 21, "score": 0.1, "low": 0.1, "high": 0.2, "p": 0.01, "q": 0.01}


def compared_with_controls() -> Result:
    """Return a result of words with each verdict, without a store."""
    gaps = {"changed": 0.344, "differs": 0.021, "unclear": 0.0312, "stable": -0.0004}
    rows = [
        ROW | {"word": name[0], "verdict": name, "reason": "", "gap": gap, "excess": 40 * gap}
        for name, gap in gaps.items()
    ]
    nothing = dict.fromkeys(["score", "low", "high", "p", "q", "gap", "excess"], math.nan)
    rows += [
        ROW | nothing | {"word": f"w-{name[0]}", "verdict": name, "reason": f"why it {name}"}
        for name in ("appeared", "disappeared", "too few")
    ]
    found = object.__new__(Result)
    evidence = {name[0]: Evidence(Gap(gap, gap - 0.01, gap + 0.01, 0.1234)) for name, gap in gaps.items()}
    values = {
        "table": pd.DataFrame(rows),
        "labels": ("1950s", "2010s"),
        "run": {"settings": {"alpha": 0.05}, "corpora": []},
    }
    found.__dict__.update(values, evidence=evidence, backdrop=BACKDROP, senses={}, scores=Scores({}, None, SSCD()))
    return found


def test_gap_is_in_points_and_excess_has_one_decimal(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.folder.is_dir()
    print_result(compared_with_controls(), "table")
    out = capsys.readouterr().out
    assert re.split(r"\s{2,}", out.splitlines()[0].strip())[5:] == ["gap", "excess", "q", "verdict", "could show"]
    found = rows(out)
    assert found["c"][4:] == ["34 points", "13.8", "0.010", "changed"]
    assert found["d"][4:] == ["2.1 points", "0.8", "0.010", "differs"]
    assert found["u"][4:] == ["3.1 points", "1.2", "0.010", "unclear", "12 points"]
    assert found["s"][4:] == ["0.0 points", "0.0", "0.010", "stable"]
    assert found["w-a"] == ["20", "21", "appeared", "why it appeared"]
    assert found["w-d"] == ["20", "21", "disappeared", "why it disappeared"]
    assert found["w-t"] == ["20", "21", "too few", "why it too few"]


def test_table_with_every_column_fits_into_a_hundred_columns(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from lexshift.cli import terminal

    assert shell.folder.is_dir()
    monkeypatch.setattr(terminal.out, "_width", 100)
    print_result(compared_with_controls(), "table")
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 100
    assert "…" not in "".join(lines)
    assert len([line for line in lines if line.strip()]) == 9  # two headers and a line for each word


def test_summary_says_what_the_corpora_do_to_ordinary_words(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.folder.is_dir()
    print_summary(compared_with_controls(), "results")
    err = " ".join(capsys.readouterr().err.split())
    assert "Ordinary words (150 control words) moved by a gap of 1.6 points between the corpora; 20 %" in err


@pytest.mark.parametrize(
    ("verdicts", "code"), [("changed", 3), ("disappeared", 3), ("stable, too few", 3), ("too few,differs", 0)]
)
def test_fail_on_ends_the_command_with_status_3_if_a_word_has_the_verdict(
    shell: Shell, verdicts: str, code: int
) -> None:
    done, out, err = shell.run(*COMMAND, "--fail-on", verdicts)
    assert done == code, err
    assert rows(out)["mouse"][-1] == "changed"
    assert "error" not in err
    assert Path("lexshift-1950s-2010s/report.html").is_file()


def test_fail_on_works_for_other_formats_without_messages(shell: Shell) -> None:
    done, out, err = shell.run(*COMMAND, "--fail-on", "changed", "--format", "json", "--quiet")
    assert (done, err) == (3, "")
    assert [row["word"] for row in strict(out)] == ["mouse", "bread", "barn"]


@pytest.mark.parametrize("name", ["change", "", "changed,", "gone"])
def test_unknown_verdict_is_refused_before_the_run(shell: Shell, name: str) -> None:
    code, out, err = shell.run(*COMMAND, "--fail-on", name)
    assert (code, out) == (2, "")
    assert (
        "error: fail-on must be one of appeared, changed, differs, disappeared, stable, too few, unclear; got " in err
    )
    assert not Path("lexshift-1950s-2010s").exists()
