"""Test ``lexshift compare``: its options, repeated runs, and every mistake in one sentence."""

from __future__ import annotations

import errno
import inspect
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from shell import Stopped, Terminal, only_sentence, rows

from lexshift import Siblings, compare

posix = pytest.mark.skipif(os.name != "posix", reason="signals and limits of POSIX")

SHAPES, THINGS = ["red", "blue", "round", "heavy"], ["box", "door", "lamp", "coat", "ring"]
FILLERS = [f"{shape} {thing}" for shape in SHAPES for thing in THINGS]
SAME = ["the bread lay near the {} on a shelf", "they ate bread before the {} was sold"]
OLD = ["a mouse hid under the {} in the barn", "the cat chased a mouse past the {} at night", *SAME]
NEW = ["click the mouse to move the {} across the screen", "plug the mouse and the {} into the computer", *SAME]
DEFAULT_USAGES: int = inspect.signature(compare).parameters["max_per_word"].default  # as in the Python call
FEW = ["--permutations", "200", "--resamples", "50"]


def text_of(patterns: Sequence[str], fillers: Sequence[str] = FILLERS) -> str:
    """Return one sentence per line: 40 with mouse and 40 with bread."""
    return "".join(f"{pattern.format(filler)}\n" for pattern in patterns for filler in fillers)


class Shell(Terminal):
    """Two corpora and the command that compares them."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        super().__init__(folder, monkeypatch, capsys, "lexshift.study.pipeline")
        (folder / "1950s.txt").write_text(text_of(OLD))
        (folder / "2010s.txt").write_text(text_of(NEW))

    def compare(self, *arguments: str) -> tuple[str, str]:
        """Return output and errors of a successful comparison; the corpora are added unless the arguments name some."""
        return self.succeed("compare", *self._corpora(arguments), *arguments, *FEW)

    def refused(self, *arguments: str) -> str:
        """Return the single sentence with which a comparison is refused."""
        return only_sentence(self.run("compare", *self._corpora(arguments), *arguments, *FEW))

    def _corpora(self, arguments: Sequence[str]) -> list[str]:
        named = bool(arguments) and (arguments[0] == "-" or not arguments[0].startswith("-"))
        return [] if named else ["1950s.txt", "2010s.txt"]


def child(*arguments: str, before: str = "") -> list[str]:
    """Return a command that runs in a separate process with the same encoder."""
    code = f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        import lexshift.study.pipeline
        from shell import Toy
        lexshift.study.pipeline.as_encoder = lambda *_, **__: Toy()
        {before}
        from lexshift.cli import main
        main()
    """
    return [sys.executable, "-c", "\n".join(line.strip() for line in code.splitlines()), *arguments]


def vectors_in(folder: Path) -> tuple[bytes, int]:
    """Return the vectors of a store and the time at which they were written."""
    path = folder / "store" / "vectors.npy"
    return path.read_bytes(), path.stat().st_mtime_ns


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


# --------------------------------------------------------------------------------------------------- selection of words


def test_without_words_the_frequent_ones_are_compared_with_a_note(shell: Shell) -> None:
    out, err = shell.compare("--min-count", "40")
    assert set(rows(out)) == {"mouse", "bread"}
    note = "note: studying all 2 words that occur 40 times or more in both corpora, without function words and numbers"
    assert note in err
    for stage in ("counting old", "counting new", "reading old", "encoding", "scoring"):
        assert stage in err


def test_top_words_selects_the_most_frequent_and_prints_the_total(shell: Shell) -> None:
    out, err = shell.compare("--top-words", "2", "--out", "two")
    assert set(rows(out)) == {"mouse", "bread"}
    found = re.search(
        r"note: studying the 2 most frequent of (\d+) words that occur 20 times or more in both corpora", err
    )
    assert found is not None
    out, _ = shell.compare("--top-words", "1000", "--out", "all")
    assert len(rows(out)) == int(found[1]) > 2
    assert not {"the", "a", "in", "was"} & set(rows(out))


def test_words_may_be_a_list_or_a_file_with_one_word_per_line(shell: Shell) -> None:
    listed, _ = shell.compare("--words", "mouse, bread", "--out", "list")
    (shell.folder / "words.txt").write_text("mouse\n\nbread\n")
    from_file, err = shell.compare("-w", "words.txt", "--out", "file")
    assert set(rows(listed)) == {"mouse", "bread"}
    assert from_file == listed
    assert "studying" not in err


def test_form_table_counts_every_form_under_its_word(shell: Shell) -> None:
    (shell.folder / "words.tsv").write_text("animal\tmouse,cat\nbread\n")
    out, _ = shell.compare("--words", "words.tsv")
    assert rows(out)["animal"][:2] == ["60", "40"]  # 20 sentences of the old corpus contain both words
    assert rows(out)["bread"][:2] == ["40", "40"]


def test_folder_named_like_a_word_does_not_hide_the_word(shell: Shell) -> None:
    (shell.folder / "mouse").mkdir()
    out, _ = shell.compare("--words", "mouse")
    assert rows(out)["mouse"][:2] == ["40", "40"]


@pytest.mark.parametrize(("most", "kept"), [("15", ["15", "15"]), ("0", ["40", "40"])])
def test_max_per_word_limits_the_sample_and_0_means_all(shell: Shell, most: str, kept: list[str]) -> None:
    out, _ = shell.compare("--words", "mouse", "--max-per-word", most)
    assert rows(out)["mouse"][:2] == kept
    settings = json.loads((shell.folder / "lexshift-1950s-2010s" / "run.json").read_text())["settings"]
    assert settings["max_per_word"] == (int(most) or None)


def test_usages_are_sampled_by_default_and_all_used_with_0(shell: Shell) -> None:
    most = DEFAULT_USAGES
    many = text_of(["a mouse hid under the {} in the barn"], [f"box {n}" for n in range(most + 10)])
    (shell.folder / "1950s.txt").write_text(many)
    out, _ = shell.compare("--words", "mouse", "--out", "sample")
    assert rows(out)["mouse"][:2] == [str(most), "40"]
    out, _ = shell.compare("--words", "mouse", "--max-per-word", "0", "--out", "all")
    assert rows(out)["mouse"][:2] == [str(most + 10), "40"]


def test_word_in_one_corpus_only_is_listed_and_not_scored(shell: Shell) -> None:
    out, err = shell.compare("--words", "mouse,barn,screen")
    table = rows(out)
    assert table["barn"] == ["20", "0", "disappeared", "20 occurrences in 1950s and no occurrences in 2010s"]
    assert table["screen"] == ["0", "20", "appeared", "no occurrences in 1950s and 20 occurrences in 2010s"]
    assert table["mouse"][-1] == "changed"
    assert "1 of 1 word changed between 1950s and 2010s (1 appeared, 1 disappeared)." in err


def test_word_that_never_occurs_is_listed(shell: Shell) -> None:
    out, err = shell.compare("--words", "mouse,unicorn")
    unicorn = ["0", "0", "too few", "no usages in 1950s and no usages in 2010s; 10 are needed in each corpus"]
    assert rows(out)["unicorn"] == unicorn
    assert "note: left out, because they never occur: 'unicorn'" in err


def test_min_usages_sets_the_threshold_for_scoring(shell: Shell) -> None:
    out, _ = shell.compare("--words", "mouse", "--min-usages", "41")
    assert rows(out)["mouse"][-2:] == [
        "too few",
        "40 usages in 1950s and 40 usages in 2010s; 41 are needed in each corpus",
    ]


# ----------------------------------------------------------------------------------------------------- results folder


def test_results_folder_is_named_after_the_corpora(shell: Shell) -> None:
    elsewhere = shell.folder / "corpora"
    elsewhere.mkdir()
    for name in ("1950s.txt", "2010s.txt"):
        (shell.folder / name).rename(elsewhere / name)
    before = set(os.listdir())
    shell.compare("corpora/1950s.txt", "corpora/2010s.txt", "--words", "mouse")
    assert set(os.listdir()) - before == {"lexshift-1950s-2010s"}
    files = {path.name for path in Path("lexshift-1950s-2010s").iterdir()}
    written = {"appeared.csv", "scores.csv", "scores.parquet", "details.json", "run.json", "report.html", "space.npz"}
    assert files == written | {"store", ".lock"}


def test_out_sets_the_folder_and_creates_its_parents(shell: Shell) -> None:
    _, err = shell.compare("--words", "mouse", "--out", "deep/down")
    assert err.rstrip().splitlines()[-1] == f"report: {Path('deep/down/report.html')}"
    assert Path("deep/down/report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    Siblings("deep/down/store").check()
    assert not Path("lexshift-1950s-2010s").exists()


def test_labels_name_the_corpora_in_the_table_and_in_the_summary(shell: Shell) -> None:
    out, err = shell.compare("--words", "mouse,barn", "--labels", "then, now")
    assert out.split()[:3] == ["word", "then", "now"]
    assert "no occurrences in now" in out
    assert "1 of 1 word changed between then and now (1 disappeared)." in err


def test_corpora_of_the_same_name_are_called_old_and_new(shell: Shell) -> None:
    for period in ("1950s", "2010s"):
        (shell.folder / period).mkdir()
        (shell.folder / f"{period}.txt").rename(shell.folder / period / "corpus.txt")
    out, _ = shell.compare("1950s/corpus.txt", "2010s/corpus.txt", "--words", "mouse")
    assert out.split()[:3] == ["word", "old", "new"]
    assert Path("lexshift-old-new/report.html").is_file()


# ------------------------------------------------------------------------------------------------------ scoring options


def settings_of(folder: str = "lexshift-1950s-2010s") -> dict[str, Any]:
    return json.loads(Path(folder, "run.json").read_text(encoding="utf-8"))["settings"]


def test_rate_auto_is_estimated_and_recorded_as_auto(shell: Shell) -> None:
    shell.compare("--words", "mouse,bread", "--rate", "auto")
    run = json.loads(Path("lexshift-1950s-2010s/run.json").read_text(encoding="utf-8"))
    assert run["settings"]["rate"] == "auto"
    assert 0 < run["rate"] < 1


@pytest.mark.parametrize(
    ("arguments", "setting", "value"),
    [
        (["--strategy", "distance"], "strategy", "distance"),
        (["--metric", "cosine"], "metric", "cosine"),
        (["--rate", "0.2"], "rate", 0.2),
        (["--repeats", "3"], "repeats", 3),
        (["--strategy", "distance", "--normalised"], "normalised", True),
    ],
    ids=str,
)
def test_other_scoring_options_reuse_the_store_and_change_the_result(
    shell: Shell, arguments: list[str], setting: str, value: Any
) -> None:
    with (shell.folder / "2010s.txt").open("a") as file:
        file.write(text_of(["nothing at all of the {} is here"]))  # corpora of two sizes, for --normalised
    base = arguments[:2] if "--normalised" in arguments else []
    shell.compare("--words", "mouse,bread", *base)
    folder = shell.folder / "lexshift-1950s-2010s"
    before, calls, scores = vectors_in(folder), shell.toy.calls, pd.read_csv(folder / "scores.csv")
    _, err = shell.compare("--words", "mouse,bread", *arguments)
    assert vectors_in(folder) == before
    assert shell.toy.calls == calls
    assert "note: the store is complete already; nothing is encoded" in err
    assert settings_of()[setting] == value
    again = pd.read_csv(folder / "scores.csv").set_index("word")
    assert again.loc["mouse", "score"] != scores.set_index("word").loc["mouse", "score"]


def test_seed_and_alpha_are_the_requested_ones(shell: Shell) -> None:
    out, err = shell.compare("--words", "mouse,bread", "--seed", "7", "--sample-seed", "5", "--alpha", "0.001")
    assert (settings_of()["seed"], settings_of()["sample_seed"], settings_of()["alpha"]) == (7, 5, 0.001)
    assert "0 of 2 words changed between 1950s and 2010s (1 unclear, 1 stable)." in err  # p is 1 / 201
    *_, verdict, could_show = rows(out)["mouse"]
    assert verdict == "unclear"
    assert 0 < float(could_show) < 1


def test_same_command_twice_prints_the_same(shell: Shell) -> None:
    first = shell.compare("--words", "mouse,bread", "--out", "one")[0]
    assert shell.compare("--words", "mouse,bread", "--out", "one")[0] == first
    assert shell.compare("--words", "mouse,bread", "--out", "two")[0] == first


def test_added_words_extend_the_store_and_fewer_words_are_shown_alone(shell: Shell) -> None:
    shell.compare("--words", "mouse")
    both, _ = shell.compare("--words", "mouse,bread")
    assert set(rows(both)) == {"mouse", "bread"}
    one, _ = shell.compare("--words", "bread")
    assert set(rows(one)) == {"bread"}
    assert Siblings("lexshift-1950s-2010s/store").words == ["mouse", "bread"]


def test_every_option_of_the_reader_and_the_encoder_reaches_it(shell: Shell) -> None:
    (shell.folder / "some" / "model").mkdir(parents=True)  # a name on the hub would be looked up there
    reading = {"split": "lines", "language": "de", "encoding": "cp1252", "errors": "replace", "text_column": "t"}
    encoding = {"layers": "last", "pooling": "sum", "device": "cpu", "dtype": "int8", "revision": "v1"}
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in {**reading, **encoding}.items()]
    arguments += ["--markers", "<t>", "</t>", "--window", "64", "--date-column", "d", "--model", "some/model"]
    shell.compare("--words", "mouse", *arguments, "--match", "token", "--precision", "float16")
    store = Siblings("lexshift-1950s-2010s/store")
    assert shell.options == {"model": "some/model", **encoding, "markers": ("<t>", "</t>"), "window": 64}
    assert store.settings["reading"] == {**reading, "date_column": "d"}
    assert (store.settings["match"], store.settings["precision"]) == ("token", "float16")


def test_help_lists_the_options(shell: Shell) -> None:
    code, out, _ = shell.run("compare", "--help")
    assert code == 0
    names = (
        "words min-count top-words model layers metric strategy rate repeats alpha seed max-per-word out format quiet"
    )
    listed = set(re.findall(r"--[a-z-]+", out))
    assert {f"--{name}" for name in names.split()} - listed == set()
    assert "OLD" in out
    assert "NEW" in out


# ------------------------------------------------------------------------------------------------------- error messages


def test_wrong_path_is_named(shell: Shell) -> None:
    (shell.folder / "empty").mkdir()
    assert "no such file or folder: 'nothing.txt' (looked from " in shell.refused("nothing.txt", "2010s.txt")
    assert "no such file or folder: 'nothing.txt' (looked from " in shell.refused("1950s.txt", "nothing.txt")
    assert "no file matches the pattern '*.md'" in shell.refused("1950s.txt", "*.md")
    assert "the folder 'empty' holds no files" in shell.refused("1950s.txt", "empty")
    assert sorted(os.listdir()) == ["1950s.txt", "2010s.txt", "empty"]


@pytest.mark.parametrize("second", ["1950s.txt", "./1950s.txt", "link.txt"])
def test_same_file_twice_is_refused(shell: Shell, second: str) -> None:
    if second == "link.txt":
        (shell.folder / second).symlink_to("1950s.txt")
    message = shell.refused("1950s.txt", second, "--words", "mouse")
    assert message == "both corpora are '1950s.txt'; give two different ones, the old one first"


def test_two_names_of_the_same_text_are_refused(shell: Shell) -> None:
    (shell.folder / "copy.txt").write_text(text_of(OLD))
    message = shell.refused("1950s.txt", "copy.txt", "--words", "mouse")
    assert message == "'1950s.txt' and 'copy.txt' hold the same text; give two different corpora"


def test_same_pattern_twice_is_refused(shell: Shell) -> None:
    assert "give two different" in shell.refused("1950*.txt", "1950*.txt", "--words", "mouse")
    assert shell.toy.calls == 0


@pytest.mark.parametrize("words", [[], ["--words", "mouse"]], ids=["without words", "with words"])
@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "the corpus 'bad.txt' is empty: there is no word in it"),
        (b"\n \n", "the corpus 'bad.txt' is empty: there is no word in it"),
        (b"mouse\0\x01\x02", "the file 'bad.txt' is not text but binary data"),
        (b"%PDF-1.7 mouse", "the file 'bad.txt' is a PDF"),
        ("a café, un été\n".encode() + b"un caf\xe9\n", "the file 'bad.txt' is not UTF-8 at line 2 (byte 0xe9)"),
    ],
    ids=["empty", "blank", "binary", "PDF", "two encodings"],
)
def test_corpus_that_is_not_text_is_named(shell: Shell, data: bytes, sentence: str, words: list[str]) -> None:
    (shell.folder / "bad.txt").write_bytes(data)
    assert sentence in shell.refused("1950s.txt", "bad.txt", *words)
    assert sentence in shell.refused("bad.txt", "2010s.txt", *words)
    assert shell.toy.calls == 0


def test_latin_1_text_is_detected_or_read_if_its_encoding_is_given(shell: Shell) -> None:
    for name, patterns in {"1950s.txt": OLD, "2010s.txt": NEW}.items():
        text = text_of(patterns).replace("mouse", "café")
        (shell.folder / name).write_bytes(text.encode("latin-1"))
    assert "--encoding" in shell.refused("--words", "café", "--encoding", "utf-8")
    out, _ = shell.compare("--words", "café", "--encoding", "latin-1")
    assert rows(out)["café"][:2] == ["40", "40"]
    out, err = shell.compare("--words", "café", "--out", "detected")
    assert rows(out)["café"][:2] == ["40", "40"]
    assert "1950s: 1 file is not UTF-8: 1950s.txt (cp1252)" in err


def test_unreadable_file_in_a_folder_is_skipped_and_named_unless_strict(shell: Shell) -> None:
    for folder, name in (("old", "1950s.txt"), ("new", "2010s.txt")):
        (shell.folder / folder).mkdir()
        (shell.folder / name).rename(shell.folder / folder / name)
    (shell.folder / "old" / "scan.pdf").write_bytes(b"%PDF-1.7")
    message = "the file 'old/scan.pdf' is a PDF"
    assert message in shell.refused("old", "new", "--words", "mouse", "--strict")
    out, err = shell.compare("old", "new", "--words", "mouse")
    assert rows(out)["mouse"][:2] == ["40", "40"]
    assert "skipped or altered in old: 1 file that cannot be read" in err
    assert f"old: skipped: {message}" in err
    record = json.loads((shell.folder / "lexshift-old-new" / "run.json").read_text())["corpora"][0]
    assert record["skipped"] == {"files that cannot be read": 1}
    assert list(record["unreadable"]) == ["scan.pdf"]
    assert "is a PDF" in (shell.folder / "lexshift-old-new" / "report.html").read_text()
    assert message in " ".join(shell.run("info", "lexshift-old-new")[1].split())


@pytest.mark.parametrize(("corpus", "out"), [("old", "old/results"), ("old", "old"), (".", "results"), (".", None)])
def test_results_inside_a_corpus_are_refused_because_the_next_run_would_read_them(
    shell: Shell, corpus: str, out: str | None
) -> None:
    (shell.folder / "old").mkdir()
    (shell.folder / "1950s.txt").rename(shell.folder / "old" / "1950s.txt")
    options = [] if out is None else ["--out", out]
    message = shell.refused(corpus, "2010s.txt", "--words", "mouse", *options)
    assert f"lies in the folder of the corpus '{corpus}'" in message
    assert message.endswith("choose a folder elsewhere (--out)")
    assert not list(shell.folder.rglob("run.json"))
    shell.compare("old", "2010s.txt", "--words", "mouse", "--out", "old/.results")  # hidden folders are not read


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("nothing.txt", "no such file of target words: 'nothing.txt' (looked from "),
        ("blank.txt", "the file of target words 'blank.txt' is empty; it must have one word per line"),
        ("binary.txt", "the file of target words 'binary.txt' is binary data"),
        (",", "there is no target word; give a file with one word per line, or a list of words"),
        ("", "there is no target word; give a file with one word per line, or a list of words"),
        ("unicorn,dragon", "none of the words occurs in the corpora"),
        ("(mouse", "the form '(mouse', which does not begin with a letter or digit"),
    ],
)
def test_invalid_word_lists_are_refused(shell: Shell, words: str, sentence: str) -> None:
    (shell.folder / "blank.txt").write_text("\n \n")
    (shell.folder / "binary.txt").write_bytes(b"\0\1\2")
    assert sentence in shell.refused("--words", words)
    assert shell.toy.calls == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--metric", "cosin"], "got 'cosin'; did you mean 'cosine'?"),
        (["--metric", "wibble"], "metric must be one of amd, apd, braycurtis"),
        (["--strategy", "farthest"], "strategy must be one of distance, random; got 'farthest'"),
        (["--rate", "1.5"], "rate must be a number from 0 to 1"),
        (["--rate", "-0.1"], "rate must be a number from 0 to 1"),
        (["--rate", "nan"], "rate must be a number from 0 to 1"),
        (["--rate", "half"], "rate must be a number from 0 to 1, or auto; got 'half'"),
        (["--rate", ""], "rate must be a number from 0 to 1, or auto; got ''"),
        (["--format", "xml"], "format must be one of csv, json, table; got 'xml'"),
        (["--format", "jsn"], "did you mean 'json'?"),
        (["--labels", "one"], "labels must be 2 different names, one for each corpus; got ["),
        (["--labels", "a,a"], "labels must be 2 different names, one for each corpus; got ["),
        (["--labels", "a,b,c"], "labels must be 2 different names, one for each corpus; got ["),
        (["--labels", ",b"], "labels must be 2 different names, one for each corpus; got ["),
        (["--alpha", "2"], "alpha must be a number between 0 and 1; got 2.0"),
        (["--repeats", "0"], "repeats must be a whole number of at least 1; got 0"),
        (["--seed", "-1"], "seed must be a whole number, 0 or more; got -1"),
        (["--max-per-word", "-1"], "max_per_word must be a whole number, or 0 for all; got -1"),
        (["--min-usages", "1"], "min_usages must be a whole number of at least 2; got 1"),
        (["--min-count", "0"], "min_count must be a whole number of at least 1; got 0"),
        (["--top-words", "-1"], "top_words must be a whole number, or 0 for all; got -1"),
        (["--min-count", "1000"], "give the words (--words of compare and trace), or lower --min-count"),
        (["--match", "stem"], "match must be one of cased, lemma, token, word; got 'stem'"),
        (["--encoding", "klingon"], "encoding 'klingon' is not known"),
        (["--precision", "float64"], "precision must be one of float16, float32"),
    ],
    ids=" ".join,
)
def test_invalid_values_are_refused(shell: Shell, arguments: Any, sentence: str) -> None:
    assert sentence in shell.refused(*arguments)
    assert shell.toy.calls == 0


def test_0_usages_means_all_and_the_error_message_says_so(shell: Shell) -> None:
    assert re.search(r"\b0\b.*\ball\b", shell.refused("--words", "mouse", "--max-per-word", "-1"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare"], "Missing argument 'OLD'"),
        (["compare", "1950s.txt"], "give the later one as well (NEW), or divide it by date (--split-at 2020-03-01)"),
        (
            ["compare", "1950s.txt", "2010s.txt", "mouse"],
            "extra argument(s) (mouse). Give words with --words, and three or more corpora to lexshift trace.",
        ),
        (["compare", "1950s.txt", "2010s.txt", "--wrods", "mouse"], "No such option: --wrods"),
        (["compare", "1950s.txt", "2010s.txt", "--top-words", "many"], "Invalid value for '--top-words'"),
        (["compre", "1950s.txt", "2010s.txt"], "No such command 'compre'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_incomplete_commands_have_exit_status_2(shell: Shell, arguments: list[str], message: str) -> None:
    code, out, err = shell.run(*arguments)
    assert code == 2
    assert message in " ".join(err.replace("│", " ").split())
    assert out == ""
    assert "Traceback" not in err
    assert sorted(os.listdir()) == ["1950s.txt", "2010s.txt"]


def test_corpus_on_standard_input_needs_words(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text_of(OLD).encode())))
    message = shell.refused("-", "2010s.txt")
    assert message == "a corpus from standard input can be read only once: name the words to compare (--words)"


def test_corpus_on_standard_input_is_compared_for_given_words(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text_of(OLD).encode())))
    out, _ = shell.compare("-", "2010s.txt", "--words", "mouse")
    assert out.split()[:3] == ["word", "old", "new"]
    assert rows(out)["mouse"][:2] == ["40", "40"]


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (
            "minilmm",
            "the model 'minilmm' is not on this machine and the model hub cannot be reached; on a machine with",
        ),
        ("./models/mine", "no such model folder: './models/mine' (looked from "),
        ("1950s.txt", "the model '1950s.txt' is a file; give the folder that it is in"),
    ],
)
def test_missing_model_is_named(shell: Shell, monkeypatch: pytest.MonkeyPatch, model: str, sentence: str) -> None:
    pytest.importorskip("transformers")
    from lexshift.encode import as_encoder

    monkeypatch.setattr("lexshift.study.pipeline.as_encoder", as_encoder)
    monkeypatch.setattr("lexshift.encode.loading._hub_answers", lambda: False)
    assert sentence in shell.refused("--words", "mouse", "--model", model)


def test_file_in_place_of_the_results_folder_is_named_and_unchanged(shell: Shell) -> None:
    (shell.folder / "mine").write_text("mine")
    message = shell.refused("--words", "mouse", "--out", "mine")
    assert "'mine' would be a folder, but there is a file of that name" in message
    assert (shell.folder / "mine").read_text() == "mine"
    assert shell.toy.calls == 0


def test_folder_with_other_files_in_place_of_the_store_is_refused(shell: Shell) -> None:
    (shell.folder / "mine" / "store").mkdir(parents=True)
    (shell.folder / "mine" / "store" / "thesis.doc").write_text("mine")
    message = shell.refused("--words", "mouse", "--out", "mine")
    assert f"the folder {str(Path('mine/store'))!r} holds other files; choose an empty or a new one" in message
    assert set(os.listdir("mine")) == {"store", ".lock"}
    assert shell.toy.calls == 0


def test_other_files_in_the_results_folder_are_preserved(shell: Shell) -> None:
    (shell.folder / "mine").mkdir()
    (shell.folder / "mine" / "thesis.doc").write_text("mine")
    shell.compare("--words", "mouse", "--out", "mine")
    assert (shell.folder / "mine" / "thesis.doc").read_text() == "mine"
    assert (shell.folder / "mine" / "report.html").is_file()


def test_unwritable_folder_is_named(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "mkdir", refuse)
        message = shell.refused("--words", "mouse", "--out", "locked")
    assert message == "'locked' cannot be written: Permission denied"
    assert shell.toy.calls == 0


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_folder_is_named(shell: Shell) -> None:
    (shell.folder / "locked").mkdir(mode=0o555)
    for out in ("locked", "locked/results"):
        assert "cannot be written: Permission denied" in shell.refused("--words", "mouse", "--out", out)


def test_corpora_in_the_wrong_order_by_year_are_compared_with_a_note(shell: Shell) -> None:
    _, err = shell.compare("2010s.txt", "1950s.txt", "--words", "mouse")
    assert "note: by its name, 2010s is later than 1950s; if so, swap the two corpora" in err
    _, err = shell.compare("1950s.txt", "2010s.txt", "--words", "mouse")
    assert "swap the two corpora" not in err


def test_other_corpora_in_the_folder_of_a_comparison_are_refused_with_advice(shell: Shell) -> None:
    shell.compare("--words", "mouse")
    before = vectors_in(shell.folder / "lexshift-1950s-2010s")
    with (shell.folder / "1950s.txt").open("a") as file:
        file.write("one more mouse\n")
    message = shell.refused("--words", "mouse")
    assert "is not the one that the store" in message
    assert "--out" in message
    assert "--labels" not in message  # labels of a comparison do not change the labels in the store
    assert vectors_in(shell.folder / "lexshift-1950s-2010s") == before


@pytest.mark.parametrize(
    ("arguments", "differs"),
    [
        (["--max-per-word", "20"], f"max_per_word {DEFAULT_USAGES}, not 20"),
        (["--max-per-word", "0"], f"at most {DEFAULT_USAGES} of a word, not all occurrences of a word"),
        (["--encoding", "cp1252"], "encoding 'auto', not 'cp1252'"),
        (["--match", "token"], "match 'word', not 'token'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_other_embedding_options_need_another_folder(shell: Shell, arguments: list[str], differs: str) -> None:
    shell.compare("--words", "mouse")
    message = shell.refused("--words", "mouse", *arguments)
    assert differs in message
    assert "{" not in message  # the message contains no Python repr
    assert "None" not in message
    assert "choose another folder (--out)" in message


# ---------------------------------------------------------------------------------------------------------- full disks


@pytest.mark.slow
@posix
@pytest.mark.parametrize(
    ("limit", "reached"), [(1_000, "store"), (25_000, "'results'")], ids=["for the store", "for the page"]
)
def test_full_disk_is_reported_and_the_same_command_resumes(shell: Shell, limit: int, reached: str) -> None:
    import resource

    whole, _ = shell.compare("--words", "mouse,bread", "--out", "whole")

    def small_files() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    arguments = ["compare", "1950s.txt", "2010s.txt", "--words", "mouse,bread", "--out", "results", *FEW]
    done = subprocess.run(
        child(*arguments), capture_output=True, text=True, timeout=120, check=False, preexec_fn=small_files
    )
    message = only_sentence((done.returncode, done.stdout, done.stderr))
    assert re.match(r"the disk is full while writing 'results.*': make room and run the same command again", message)
    assert reached in message
    assert not list(Path("results").rglob("*.tmp"))
    assert not Path("results/report.html").exists()
    again, _ = shell.compare("--words", "mouse,bread", "--out", "results")
    assert again.replace("results", "whole") == whole


# --------------------------------------------------------------------------------------------------------------- Ctrl-C


def test_ctrl_c_is_reported_and_the_same_command_resumes(shell: Shell) -> None:
    toy, shell.toy = shell.toy, Stopped()
    code, out, err = shell.run("compare", "1950s.txt", "2010s.txt", "--words", "mouse")
    assert (code, out) == (130, "")
    assert err.rstrip().splitlines()[-1] == "error: interrupted; run the same command again to resume"
    assert "Traceback" not in err
    shell.toy = toy
    out, _ = shell.compare("--words", "mouse")
    assert rows(out)["mouse"][:2] == ["40", "40"]


@pytest.fixture
def tiny_model(tmp_path: Path) -> Iterator[tuple[str, Callable[[], int]]]:
    """Return the folder of a model with random weights and the number of sentences encoded in this process."""
    transformers = pytest.importorskip("transformers")
    import torch

    from lexshift.encode.huggingface import HuggingFaceEncoder

    words = {word for pattern in (*OLD, *NEW, *FILLERS) for word in pattern.split() if word != "{}"}
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted(words)]
    tokenizer = transformers.BertTokenizerFast(vocab={piece: i for i, piece in enumerate(pieces)}, model_max_length=128)
    shape = {"hidden_size": 32, "num_hidden_layers": 4, "num_attention_heads": 2, "intermediate_size": 48}
    config = transformers.BertConfig(vocab_size=len(pieces), max_position_embeddings=128, **shape)
    torch.manual_seed(0)
    model = transformers.BertModel(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0, 0.2)
    folder = tmp_path / "tiny"
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder, safe_serialization=True)
    encode, encoded = HuggingFaceEncoder.encode, [0]

    def counted(self: HuggingFaceEncoder, sentences: Sequence[str], *rest: Any, **named: Any) -> Any:
        encoded[0] += len(sentences)
        return encode(self, sentences, *rest, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HuggingFaceEncoder, "encode", counted)
        yield "tiny", lambda: encoded[0]


@pytest.mark.slow
@posix
def test_run_resumed_after_ctrl_c_gives_the_same_result(
    shell: Shell, tiny_model: tuple[str, Callable[[], int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from lexshift.encode import as_encoder

    monkeypatch.setattr("lexshift.study.pipeline.as_encoder", as_encoder)
    model, encoded = tiny_model
    random = np.random.default_rng(0)
    for name, patterns in {"1950s.txt": OLD, "2010s.txt": NEW}.items():
        fillers = [" ".join(random.choice(FILLERS, 20)) for _ in range(400)]  # long sentences give many shards
        (shell.folder / name).write_text(text_of(patterns, fillers))
    arguments = ["--words", "mouse,bread", "--model", model, "--max-per-word", "0", "--device", "cpu"]
    command = ["compare", "1950s.txt", "2010s.txt", *arguments, "--out", "stopped", *FEW]
    code = "from lexshift.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # a shell may ignore the signal
    )
    try:
        first = shell.folder / "stopped" / "store" / "unfinished" / "000000.shard"
        while process.poll() is None and not first.exists():
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, err
    assert out == ""
    assert err.rstrip().splitlines()[-1] == "error: interrupted; run the same command again to resume"
    assert "Traceback" not in err
    assert not Path("stopped/report.html").exists()
    assert first.exists()

    resumed, _ = shell.compare(*arguments, "--out", "stopped")
    rest = encoded()
    whole, _ = shell.compare(*arguments, "--out", "whole")
    assert 0 < rest < encoded() - rest
    assert resumed == whole
    assert rows(whole)["mouse"][:2] == ["800", "800"]
    assert rows(whole)["mouse"][-1] == "changed"
    assert not first.parent.exists()


@pytest.mark.parametrize(
    "out", ["", "1950s.txt", "1950s.txt/out", "x" * 300], ids=["empty", "a file", "inside", "long"]
)
@pytest.mark.parametrize("command", ["compare", "discover", "trace"])
def test_impossible_folder_has_exit_status_2(shell: Shell, command: str, out: str) -> None:
    message = only_sentence(shell.run(command, "1950s.txt", "2010s.txt", "--out", out))
    assert "choose another" in message
    assert sorted(os.listdir()) == ["1950s.txt", "2010s.txt"]


@posix
def test_folder_whose_name_is_not_text_is_accepted(shell: Shell) -> None:
    shell.compare("--words", "mouse", "--out", os.fsdecode(b"\xff"))
    assert Path(os.fsdecode(b"\xff"), "report.html").is_file()


# ---------------------------------------------------------------------------------------------------------------- dates


def write_dated(shell: Shell, old: str, new: str) -> None:
    """Write both corpora into one table, with a date for each of them."""
    texts = [(old, text_of(OLD)), (new, text_of(NEW))]
    records = [{"text": line, "when": date} for date, text in texts for line in text.splitlines()]
    (shell.folder / "posts.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))


def test_one_dated_corpus_is_divided_at_a_day(shell: Shell) -> None:
    write_dated(shell, "Feb 29, 2020", "1 March 2020")
    dated = ["posts.jsonl", "--split-at", "2020-03-01", "--date-column", "when", "-w", "mouse,bread"]
    out, err = shell.compare(*dated, "--format", "csv")
    assert out == shell.compare("-w", "mouse,bread", "--format", "csv")[0]
    assert "lexshift-posts-2020_03_01" in err


def test_ambiguous_dates_have_exit_status_2_and_name_the_option(shell: Shell) -> None:
    write_dated(shell, "03/02/2020", "12/25/2020")
    dated = ["posts.jsonl", "--split-at", "2020-03-01", "--date-column", "when", "-w", "mouse"]
    assert "'03/02/2020' in record 1 of 'posts.jsonl' may be" in (message := shell.refused(*dated))
    assert "--date-order DMY, MDY or YMD" in message
    assert "'12/25/2020' in record 81 of 'posts.jsonl' is not in the order DMY" in shell.refused(
        *dated, "--date-order", "DMY"
    )
    assert "no text of 'posts.jsonl' is dated before 2020-03-01" in shell.refused(*dated, "--date-order", "MDY")
