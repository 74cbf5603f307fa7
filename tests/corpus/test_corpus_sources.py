"""Test the files, their order and their names for a path, a folder, a pattern or standard input."""

from __future__ import annotations

import hashlib
import io
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lexshift
from lexshift.corpus.sources import Source, Tally, find_sources
from lexshift.errors import UserError


def make(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a mouse\n")
    return folder


def refused(corpus: str | Path, *parts: str) -> None:
    """Check that a corpus is refused with one line that contains these parts."""
    with pytest.raises(UserError) as caught:
        find_sources(corpus)
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.txt", "text"),
        ("a", "text"),
        ("a.txt.gz", "text"),
        ("a.gz", "text"),
        ("a.zst", "text"),
        ("a.jsonl", "jsonl"),
        ("a.ndjson", "jsonl"),
        ("a.JSONL.GZ", "jsonl"),
        ("a.csv", "csv"),
        ("a.csv.zst", "csv"),
        ("a.1990.tsv", "tsv"),
        ("A.TSV.gz", "tsv"),
        ("a.parquet", "parquet"),
        ("a.csv.txt", "text"),
        ("a.csv.old", "text"),
    ],
)
def test_file_format_is_taken_from_the_name_without_the_compression(tmp_path: Path, name: str, kind: str) -> None:
    make(tmp_path, name)
    assert [(s.path, s.name, s.kind) for s in find_sources(tmp_path / name)] == [(str(tmp_path / name), name, kind)]
    assert find_sources(str(tmp_path / name)) == find_sources(tmp_path / name) == find_sources(tmp_path)


def test_folder_contains_all_files_by_name_except_hidden_ones(tmp_path: Path) -> None:
    make(tmp_path, "b.txt", "a/z.txt", "a/b/c.csv", "a.txt", ".hidden", ".git/config", "a/.cache/x.txt", "B.txt")
    names = ["B.txt", "a.txt", "a/b/c.csv", "a/z.txt", "b.txt"]
    found = find_sources(tmp_path)
    assert [source.name for source in found] == names
    assert [source.path for source in found] == [str(tmp_path / name) for name in names]


def test_names_do_not_depend_on_the_corpus_location(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = (make(tmp_path / where, "1.txt", "sub/2.txt") for where in ("here", "far/away/there"))
    names = [source.name for source in find_sources(here)]
    assert names == ["1.txt", "sub/2.txt"]
    assert [source.name for source in find_sources(there)] == names
    monkeypatch.chdir(there)
    assert [source.name for source in find_sources(".")] == names
    assert [source.name for source in find_sources("**/*.txt")] == names
    assert [source.name for source in find_sources(f"{here}/**/*.txt")] == names


def test_pattern_matches_files_only_in_name_order(tmp_path: Path) -> None:
    make(tmp_path, "x2.txt", "x1.txt", "x10.csv", "y.txt", "x_folder/in.txt")
    found = find_sources(tmp_path / "x*")
    assert [(source.name, source.kind) for source in found] == [
        ("x1.txt", "text"),
        ("x10.csv", "csv"),
        ("x2.txt", "text"),
    ]
    assert [source.name for source in find_sources(tmp_path / "x[12].txt")] == ["x1.txt", "x2.txt"]


def test_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    make(tmp_path, "a[1].txt", "a1.txt")
    assert [source.name for source in find_sources(tmp_path / "a[1].txt")] == ["a[1].txt"]


def test_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"a mouse"), isatty=lambda: False))
    assert find_sources("-") == [Source("-", "-", "text")]


@pytest.mark.parametrize("stdin", [None, SimpleNamespace(isatty=lambda: True)], ids=["none", "a terminal"])
def test_standard_input_without_piped_data_is_refused(monkeypatch: pytest.MonkeyPatch, stdin: Any) -> None:
    monkeypatch.setattr(sys, "stdin", stdin)
    refused("-", "'-'", "standard input", "nothing is piped")


def test_missing_corpus_is_named_with_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused("missing.txt", "no such file or folder", "'missing.txt'", str(tmp_path))
    refused("*.txt", "no file matches the pattern", "'*.txt'", str(tmp_path))
    (tmp_path / "folder").mkdir()
    refused("fold*", "no file matches the pattern", "'fold*'")


@pytest.mark.parametrize("names", [(), (".hidden", ".git/config")])
def test_folder_without_files_is_refused(tmp_path: Path, names: tuple[str, ...]) -> None:
    make(tmp_path / "empty", *names).mkdir(exist_ok=True)
    refused(tmp_path / "empty", f"{str(tmp_path / 'empty')!r}", "holds no files")


def test_unreadable_folder_is_a_faulty_source_at_any_depth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.txt", "sub/secret/b.txt")
    secret, scandir = str(tmp_path / "sub" / "secret"), os.scandir

    def guarded(path: Any) -> Any:
        if os.fspath(path) == secret:
            raise PermissionError(13, "Permission denied", secret)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    good, bad = find_sources(tmp_path)
    assert (good.name, good.fault) == ("a.txt", "")
    assert (bad.name, bad.optional) == ("sub/secret", True)
    assert bad.fault == f"the folder {secret!r} cannot be read: Permission denied"
    refused(secret, f"the folder {secret!r} cannot be read", "Permission denied")


def test_path_inside_an_unsearchable_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make(tmp_path, "secret/a.txt") / "secret" / "a.txt"

    def denied(self: Path, **_: Any) -> Any:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "stat", denied)
    refused(path, f"{str(path)!r} cannot be read", "Permission denied")


def test_path_too_long_for_the_system_is_refused() -> None:
    with pytest.raises(UserError, match=re.escape("x" * 300)):
        find_sources("x" * 300)


@pytest.mark.parametrize("corpus", [3, None])
def test_invalid_path_is_refused_with_the_accepted_corpora(tmp_path: Path, corpus: Any) -> None:
    other = make(tmp_path, "new.txt") / "new.txt"
    calls: list[Callable[[], object]] = [
        lambda: find_sources(corpus),
        lambda: lexshift.compare(corpus, other, words=["mouse"]),
        lambda: lexshift.compare(
            other, corpus or cast(Any, 3), words=["mouse"]
        ),  # without a second corpus it may be divided
        lambda: lexshift.discover(corpus, other),
        lambda: lexshift.embed(corpus, words=["mouse"]),
        lambda: lexshift.trace(other, corpus, words=["mouse"]),
    ]
    for call in calls:
        with pytest.raises(
            UserError, match=r"^a corpus is a file, a folder, a pattern such as 'texts/\*.txt', .*; got "
        ):
            call()


@given(
    st.dictionaries(st.text(), st.text("0123abcd")), st.dictionaries(st.text(), st.sampled_from(["cp1252", "utf-16"]))
)
def test_content_is_the_checksum_of_sorted_pairs(hashes: dict[str, str], encodings: dict[str, str]) -> None:
    facts = [sorted(hashes.items()), *([sorted(encodings.items())] if encodings else [])]
    expected = hashlib.sha256(", ".join(map(repr, facts)).encode()).hexdigest()
    assert Tally(hashes=hashes, encodings=encodings).content == expected
