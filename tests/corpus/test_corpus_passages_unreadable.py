"""Test that a file which cannot be read is skipped and counted among others, and contributes nothing."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from lexshift.corpus import Reading, Tally, decoding, find_occurrences, passages, read_targets
from lexshift.corpus.counting import count_words
from lexshift.corpus.dated_corpus import check_first_dates, split_readings
from lexshift.corpus.language import detect_languages
from lexshift.corpus.lemmas import find_annotation
from lexshift.corpus.passages import read_corpus
from lexshift.corpus.periods import find_in_periods
from lexshift.corpus.preview import may_occur
from lexshift.corpus.sources import UNREADABLE, Source, describe_files, find_sources
from lexshift.corpus.word_rule import rule
from lexshift.engine.cache import Cache
from lexshift.engine.local import Local, map_parts
from lexshift.engine.parts import Counting, Sampling, combine_counts, combine_samples, split_corpus
from lexshift.errors import UserError
from lexshift.simulation.documents import read_sentences
from lexshift.tune.sentence_sample import sample_sentences
from lexshift.utils.monitor import Silent

LONG = b"a mouse ran over the hill\n" * 400
FAULTS: dict[str, tuple[str, bytes, str]] = {
    "a PDF": ("2000.pdf", b"%PDF-1.7\n1 0 obj", "is a PDF, which is not text: extract its text first"),
    "an image": ("2000.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "binary data"),
    "a photo": ("2000.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF\0", "binary data"),
    "thumbnails": ("Thumbs.db", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(64), "binary data"),
    "an archive": ("2000.zip", b"PK\x03\x04mouse", "binary data"),
    "gzip without its end": ("2000.gz", gzip.compress(LONG)[:-9], "damaged"),
    "zstandard without its end": ("2000.zst", zstandard.ZstdCompressor().compress(LONG)[:-3], "damaged"),
    "utf-8 with an error at its end": (
        "2000.txt",
        "Mäuse, mouse\n".encode() * 400 + b"\xff\n",
        "not UTF-8 at line 401",
    ),
    "a table with an error at its end": ("2000.jsonl", b'{"text": "a mouse"}\n' * 400 + b"{", "no valid JSON"),
    "a table without the column": ("2000.csv", b"body\na mouse\n", "no column 'text'"),
    "a damaged parquet file": ("2000.parquet", b"PAR1mouse", "not a parquet file"),
}


def make(folder: Path, **files: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / f"{name}.txt").write_bytes(data)
    return folder


def in_parts(corpus: Path, folder: Path, size: int, reading: Reading) -> list[int]:
    """Return the numbers of mice by counting and by sampling, in parts of some size."""
    parts, cache = split_corpus(corpus, size), Cache(folder)
    counts = combine_counts(map_parts(Counting("word", reading), parts, Local(), cache, lambda *_: None), str(corpus))
    job = Sampling({"mouse": ("mouse",)}, "word", reading, None, 0, False)
    sample = combine_samples(map_parts(job, parts, Local(), cache, lambda *_: None), str(corpus), None)
    return [counts.counts["mouse"], int(sample.found[0]), len(sample.tally.unreadable)]


@pytest.mark.parametrize("held", [1 << 23, 100])
@pytest.mark.parametrize("fault", FAULTS)
def test_unreadable_file_contributes_nothing_and_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, held: int
) -> None:
    monkeypatch.setattr(passages, "_HELD", held)
    monkeypatch.setattr(decoding, "BLOCK", 512)
    name, data, reason = FAULTS[fault]
    corpus = make(tmp_path / "c", **{"1999": LONG, "2001": LONG})
    expected = find_occurrences(corpus, read_targets(["mouse"]))
    (corpus / name).write_bytes(data)
    found = find_occurrences(corpus, read_targets(["mouse"]))
    assert found.table == expected.table
    assert found.content == expected.content
    assert found.found.tolist() == [800]
    assert list(found.tally.unreadable) == [name]
    assert reason in found.tally.unreadable[name]
    assert found.tally.skipped == {UNREADABLE: 1}
    assert (found.tally.files, found.tally.size, found.tally.splits) == (2, 2 * len(LONG), expected.tally.splits)
    assert count_words(corpus, rule("word")).counts["mouse"] == 800
    for size in (1, 1 << 30):
        assert in_parts(corpus, tmp_path / f"cache{size}", size, Reading()) == [800, 800, 1]
    with pytest.raises(UserError, match=reason):
        find_occurrences(corpus, read_targets(["mouse"]), Reading(strict=True))
    with pytest.raises(UserError, match=reason):
        find_occurrences(corpus / name, read_targets(["mouse"]))


READERS: dict[str, Callable[[Path], object]] = {
    "count": lambda path: count_words(path, rule("word")),
    "find": lambda path: find_occurrences(path, read_targets(["mouse"])),
    "periods": lambda path: find_in_periods(path, read_targets(["mouse"]), "year"),
    "parts": lambda path: in_parts(path, path.parent / "cache", 1, Reading()),
    "sentences": sample_sentences,
    "documents": lambda path: read_sentences(path, Reading(language="en"), 10, 0, Silent(), "it"),
}


@pytest.mark.parametrize("reader", READERS)
def test_corpus_without_a_readable_file_is_refused_with_the_first_reason(tmp_path: Path, reader: str) -> None:
    corpus = make(tmp_path / "c", **{"1998": b"%PDF-1.4", "1999": b"\0\1\2"})
    with pytest.raises(UserError, match=r"no file of '.*c' can be read; the first: .*1998\.txt' is a PDF"):
        READERS[reader](corpus)


def test_corpus_whose_files_are_all_refused_by_name_is_refused_before_reading(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).symlink_to("gone")
    with pytest.raises(UserError, match=r"no file of .* can be read; the first: .*a\.txt' cannot be read: .*a link"):
        find_sources(tmp_path)


@pytest.mark.parametrize("make_fault", [lambda path: path.symlink_to("gone"), os.mkfifo], ids=["link", "pipe"])
@pytest.mark.parametrize("pattern", ["", "*.txt"])
def test_links_and_pipes_in_a_folder_are_skipped(
    tmp_path: Path, make_fault: Callable[[Path], None], pattern: str
) -> None:
    corpus = make(tmp_path / "c", **{"1999": LONG})
    make_fault(corpus / "2000.txt")
    found = find_occurrences(corpus / pattern, read_targets(["mouse"]))
    assert found.found.tolist() == [400]
    assert list(found.tally.unreadable) == ["2000.txt"]


def test_file_without_permission_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = make(tmp_path / "c", a=LONG, b=LONG)
    monkeypatch.setattr(os, "access", lambda path, _: Path(path).name != "b.txt")
    found = find_occurrences(corpus, read_targets(["mouse"]))
    assert found.found.tolist() == [400]
    assert found.tally.unreadable == {"b.txt": f"the file {str(corpus / 'b.txt')!r} cannot be read: Permission denied"}
    with pytest.raises(UserError, match="Permission denied"):
        find_sources(corpus / "b.txt")


def test_file_that_disappears_is_an_error(tmp_path: Path) -> None:
    corpus = make(tmp_path / "c", a=LONG, b=LONG)
    sources = find_sources(corpus)
    (corpus / "b.txt").unlink()
    with pytest.raises(UserError, match=r"b\.txt' cannot be read: No such file"):
        list(read_corpus(sources, Reading(), Tally()))


def test_file_that_becomes_readable_changes_the_content_and_the_cached_parts(tmp_path: Path) -> None:
    corpus = make(tmp_path / "c", a=LONG, b=gzip.compress(LONG)[:-9])
    before = find_occurrences(corpus, read_targets(["mouse"])).content
    assert in_parts(corpus, tmp_path / "cache", 1 << 30, Reading()) == [400, 400, 1]
    (corpus / "b.txt").write_bytes(gzip.compress(LONG))
    assert find_occurrences(corpus, read_targets(["mouse"])).content != before
    assert in_parts(corpus, tmp_path / "cache", 1 << 30, Reading()) == [800, 800, 0]


def test_periods_report_unreadable_files_and_encodings_with_the_first_period(tmp_path: Path) -> None:
    corpus = make(tmp_path / "c", **{"1999": LONG, "2000": b"\0\1", "2001": LONG + "für Mäuse\n".encode("cp1252")})
    found = find_in_periods(corpus, read_targets(["mouse"]), "year")
    assert {label: period.found.tolist() for label, period in found.items()} == {"1999": [400], "2001": [400]}
    assert found["1999"].tally.skipped == {UNREADABLE: 1}
    assert list(found["1999"].tally.unreadable) == ["2000.txt"]
    assert found["1999"].tally.encodings == {"2001.txt": "cp1252"}


def test_language_is_detected_from_the_readable_files(tmp_path: Path) -> None:
    german = "Die Maus ist nicht in dem Haus, und sie war auch nicht auf der Straße.\n".encode("cp1252") * 20
    corpus = make(tmp_path / "c", a=b"%PDF-1.4", b=german, c=b"\0\1")
    languages, _ = detect_languages({"x": corpus}, Reading())
    assert languages == {"x": "de"}
    with pytest.raises(UserError, match="is a PDF"):
        detect_languages({"x": corpus}, Reading(strict=True))


def test_large_file_is_verified_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passages, "_HELD", 100)
    monkeypatch.setattr(passages, "_READABLE", set())
    opened: list[str] = []
    whole = decoding.open_source

    def recorded(source: Source, tally: Tally) -> object:
        opened.append(source.name)
        return whole(source, tally)

    monkeypatch.setattr(passages, "open_source", recorded)
    monkeypatch.setattr(passages, "read_small_text", lambda *_: None)
    sources = find_sources(make(tmp_path / "c", a=LONG, b=b"a mouse\n"))
    for _ in range(2):
        assert sum(block.data.count(b"mouse") for block in read_corpus(sources, Reading(), Tally())) == 401
    assert opened == ["a.txt", "a.txt", "b.txt", "a.txt", "b.txt"]


def test_progress_ends_at_the_total_although_a_file_is_skipped(tmp_path: Path) -> None:
    sources = find_sources(make(tmp_path / "c", a=LONG, b=b"\0\1\2", c=LONG))
    calls: list[tuple[int, int]] = []
    list(read_corpus(sources, Reading(), Tally(), lambda done, total: calls.append((done, total))))
    assert calls[-1] == (2 * len(LONG) + 3, 2 * len(LONG) + 3)
    assert calls == sorted(calls)


def test_record_names_a_few_files() -> None:
    tally = Tally()
    for i in range(9):
        tally.encodings[f"{i}.txt"] = "cp1252" if i else "utf-16"
        tally.skip_file(Source(f"x/{i}.pdf", f"{i}.pdf", "text"), f"the file 'x/{i}.pdf' is a PDF")
    record = tally.record_files() | {"skipped": dict(tally.skipped)}
    assert record["encodings"]["cp1252"] == {"files": 8, "examples": ["1.txt", "2.txt", "3.txt"]}
    assert record["encodings"]["utf-16"] == {"files": 1, "examples": ["0.txt"]}
    assert len(record["unreadable"]) == 3
    encodings, *skipped = describe_files(record)
    assert encodings == "9 files are not UTF-8: 0.txt (utf-16), 1.txt (cp1252), 2.txt (cp1252), 6 more"
    assert skipped == [f"skipped: the file 'x/{i}.pdf' is a PDF" for i in range(3)]
    assert describe_files({"skipped": {}}) == []


def test_checks_before_a_run_skip_the_files_that_the_run_skips(tmp_path: Path) -> None:
    text, tables, tagged = (tmp_path / name for name in ("text", "tables", "tagged"))
    for folder in (text, tables, tagged):
        folder.mkdir()
        (folder / "0.pdf").write_bytes(b"%PDF-1.7")
    (text / "0.txt").write_bytes(gzip.compress(b"a mouse ran\n" * 9)[:-9])
    (text / "1.txt").write_text("a mouse ran\n" * 9, "utf-8")
    targets = read_targets(["mouse"])
    assert may_occur({"": text}, {"": Reading()}, "word", targets)
    with pytest.raises(UserError, match=r"'.*0\.pdf' is a PDF"):
        may_occur({"": text}, {"": Reading(strict=True)}, "word", targets)
    (tables / "0.csv").write_text("body\nno text\n", "utf-8")
    (tables / "1.csv").write_text("text,date\na mouse,2019-01-01\na mouse,2021-01-01\n", "utf-8")
    check_first_dates(tables, "year", Reading(date_column="date"))
    before, since = split_readings(tables, "2020-01-01", Reading(date_column="date"))
    assert (before.before, since.since) == ("2020-01-01", "2020-01-01")
    (tagged / "0.conllu").write_text("1\tmice\n", "utf-8")
    (tagged / "1.conllu").write_text("1\tmice\tmouse\tNOUN" + "\t_" * 6 + "\n\n", "utf-8")
    assert find_annotation(tagged, Reading()) == (True, True)
