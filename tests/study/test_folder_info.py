"""Test the description of folders: results of every kind, stores, and what interrupted runs leave."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from shell import Terminal, Toy, only_sentence

from lexshift import Siblings, UserError, compare, demo_corpora, discover, embed, find_senses, load, trace
from lexshift.demo import ExampleEncoder
from lexshift.store.format import digest
from lexshift.study.folder_info import COMPLETE, INCOMPLETE, INTERRUPTED, FolderInfo, describe_results, describe_store

FAST: dict[str, Any] = {"permutations": 20, "resamples": 10, "repeats": 2, "monitor": None}
LINES = "".join(f"the {word} was near {i}\n" for i in range(30) for word in ("mouse", "bread"))


class Stopping(Toy):
    """Encoder that is interrupted at its third call."""

    def encode(self, *arguments: Any) -> Any:
        if self.calls == 2:
            raise KeyboardInterrupt
        return super().encode(*arguments)


@pytest.fixture
def corpora(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "1950.txt", tmp_path / "2010.txt"
    paths[0].write_text(LINES)
    paths[1].write_text(LINES.replace("near", "far"))
    return paths


def described(folder: Path) -> FolderInfo:
    info = describe_results(folder)
    assert info is not None
    return info


def test_results_of_every_question_are_described(corpora: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    words: dict[str, Any] = {"words": ["mouse", "bread"]}
    made: dict[str, Any] = {
        "comparison": compare(*corpora, ["mouse", "bread"], out=out / "c", model=Toy(), **FAST),
        "discovery": discover(*corpora, out=out / "d", model=Toy(), **FAST),
        "trace": trace(*corpora, out=out / "t", model=Toy(), **words, **FAST),
        "senses": find_senses(*corpora, out=out / "s", model=Toy(), permutations=20, monitor=None, **words),
    }
    for name, result in made.items():
        folder = out / name[0]
        info = described(folder)
        assert info.kind == ("comparison" if name == "senses" else name)
        assert (info.state, info.missing) == (COMPLETE, [])
        assert info.words == list(result.words)
        assert info.verdicts == dict(Counter(result.table["verdict"]).most_common())
        assert (info.encoder, info.lexshift) == ("toy", result.run["lexshift"])
        assert [corpus["words"] for corpus in info.corpora] == [entry["words"] for entry in result.run["corpora"]]
        assert info.bytes == sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        assert info.command is None  # the encoder is an object


def test_missing_files_are_named(corpora: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    compare(*corpora, ["mouse"], out=out, model=Toy(), **FAST)
    (out / "report.html").unlink()
    (out / "store" / "store.json").unlink()
    info = described(out)
    assert info.state == INCOMPLETE
    assert info.missing == ["report.html", "store, the vectors of the words"]


def test_interrupted_run_is_described(
    corpora: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 100)
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        compare(*corpora, ["mouse"], out=out, model=Stopping(), **FAST)
    info = described(out)
    assert (info.kind, info.state, info.encoder) == ("results", INTERRUPTED, "toy")
    assert info.missing == ["vectors of the words: vectors, of which 2 shards are encoded", "scores and report"]
    store = describe_store(out / "store")
    assert store is not None
    assert (store.state, [corpus["name"] for corpus in store.corpora]) == (INTERRUPTED, ["old", "new"])


def test_later_run_that_was_interrupted_is_noticed(
    corpora: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    compare(*corpora, ["mouse"], out=out, model=Toy(), **FAST)
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 100)
    with pytest.raises(KeyboardInterrupt):
        compare(*corpora, ["bread"], out=out, model=Stopping(), **FAST)
    info = described(out)
    assert info.state == INCOMPLETE
    assert info.missing == ["the end of a later run, which was stopped while it encoded (store)"]
    store = describe_store(out / "store")
    assert store is not None
    assert store.state == INCOMPLETE


def test_store_is_described(corpora: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "store"
    embed(*corpora, words=["mouse", "bread"], model=Toy("minilm"), out=out, max_per_word=9, seed=2)
    info = describe_store(out)
    assert info is not None
    assert (info.kind, info.state, info.words) == ("store", COMPLETE, ["mouse", "bread"])
    assert info.facts["vectors"] == Siblings(out).index["rows"]
    expected = f"lexshift embed OLD NEW --words mouse,bread --model minilm --max-per-word 9 --seed 2 --out {out}"
    assert info.command == expected


def test_folder_of_something_else_is_none(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"kind": "comparison of apples"}')
    assert describe_results(tmp_path) is None
    assert describe_store(tmp_path) is None


def write_record(folder: Path, record: dict[str, Any]) -> None:
    (folder / "run.json").write_text(json.dumps(record | {"sha256": digest(record)}))


def test_record_of_another_version_is_described_or_refused(corpora: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    compare(*corpora, ["mouse"], out=out, model=Toy(), **FAST)
    record = json.loads((out / "run.json").read_bytes())
    write_record(out, {name: value for name, value in record.items() if name not in ("arguments", "warnings")})
    assert described(out).command is None
    write_record(out, {name: value for name, value in record.items() if name != "corpora"})
    with pytest.raises(UserError, match=r"run.json' is damaged or from another version of lexshift"):
        describe_results(out)


# The command


@pytest.fixture
def terminal(
    corpora: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Terminal:
    return Terminal(corpora[0].parent, monkeypatch, capsys, "lexshift.study.pipeline")


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "--words", "mouse,bread", "--metric", "cosine", "--rate", "auto", "--labels", "then,now"],
        ["compare", "--preset", "paper", "--max-per-word", "0", "--min-count", "10"],
        ["discover", "--top-words", "1"],
        ["trace", "--words", "mouse", "--alpha", "0.1"],
        ["senses", "--words", "mouse", "--clustering", "agglomerative"],
    ],
    ids=" ".join,
)
def test_described_command_makes_the_same_results(terminal: Terminal, arguments: list[str]) -> None:
    command, *options = arguments
    fast = ["--permutations", "20", *(["--resamples", "10"] if command != "senses" else [])]
    terminal.succeed(command, "1950.txt", "2010.txt", *options, *fast, "--out", "first")
    again = described(Path("first")).command
    assert again is not None
    words = shlex.split(again)
    assert words[:4] == ["lexshift", command, "1950.txt", "2010.txt"]
    terminal.succeed(*words[1:-1], "second")
    first, second = load("first"), load("second")
    assert first.table.equals(second.table)
    assert first.run["settings"] == second.run["settings"]
    assert first.run["arguments"] == second.run["arguments"]


def test_description_is_printed(terminal: Terminal) -> None:
    terminal.succeed("compare", "1950.txt", "2010.txt", "-w", "mouse", "--permutations", "20", "--out", "results")
    out, _ = terminal.succeed("info", "results")
    assert out.startswith("comparison   results (lexshift ")
    assert "lexshift compare 1950.txt 2010.txt --words mouse --permutations 20 --out results" in out
    assert "state        complete" in out
    json_text, _ = terminal.succeed("info", "results", "--format", "json")
    assert '"verdicts"' in json_text


def test_description_of_results_imports_no_heavy_library(terminal: Terminal) -> None:
    terminal.succeed("compare", "1950.txt", "2010.txt", "-w", "mouse", "--permutations", "20", "--out", "results")
    code = (
        "import sys\n"
        "from lexshift.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    assert not {'torch', 'transformers', 'numba', 'pandas', 'pyarrow', 'scipy'} & set(sys.modules)\n"
    )
    command = [sys.executable, "-c", code, "info", "results"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "AssertionError" not in done.stderr
    assert done.returncode == 0


def test_other_folders_are_refused_in_one_sentence(terminal: Terminal) -> None:
    Path("empty").mkdir()
    sentence = only_sentence(terminal.run("info", "empty"))
    assert sentence == "'empty' holds no results, no store and no tuned model of lexshift"
    sentence = only_sentence(terminal.run("info", "nowhere"))
    assert sentence == "the folder 'nowhere' is not there; give the folder of results, a store or a tuned model"
    assert "is a file" in only_sentence(terminal.run("info", "1950.txt"))
    assert "json, table" in only_sentence(terminal.run("info", "empty", "--format", "csv"))


def test_results_of_python_objects_are_described(tmp_path: Path) -> None:
    old, new = (corpus.read_text("utf-8").splitlines() for corpus in demo_corpora())
    compare(old, new, words=["mouse"], model=ExampleEncoder(), resamples=50, control=None, out=tmp_path / "results")
    info = describe_results(tmp_path / "results")
    assert info is not None
    assert [(corpus["object"], corpus["records"]) for corpus in info.corpora] == [
        ("list", len(old)),
        ("list", len(new)),
    ]
