"""Test that text and target words are compared in one Unicode normal form."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import unicodedata
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from lexshift import embed_usages
from lexshift.corpus import Reading, Tally, decoding, find_occurrences, read_targets
from lexshift.corpus.counting import count_words
from lexshift.corpus.normal_form import normalise, normalise_utf8
from lexshift.corpus.periods import find_in_periods
from lexshift.corpus.sources import Source
from lexshift.corpus.word_rule import word_table
from lexshift.tune.sentence_sample import sample_sentences

# Each of these has a canonically equivalent spelling that NFC takes in its place.
REPLACED = {
    "Bengali": "বা\u09dcি",
    "Hindi": "\u095bमीन",
    "Hebrew": "\ufb2aיר",
    "Punjabi": "ਪੰ\u0a59ਾ",
    "Oriya": "ବ\u0b5c",
    "ohm": "\u2126hm",
    "kelvin": "\u212aelvin",
    "CJK": "\uf900\uf901",
    "Greek": "\u1f71λφα",
    "Korean": "\u1112\u1161\u11ab\u1100\u116e\u11a8",
}
MARKS = "\u0300\u0301\u0308\u0323\u0327\u0345\u05bc\u05c1\u093c\u094d\u09be\u0e38\u0e48\u3099\u0fb5\u1161\u11a8\u00ad"
LETTERS = "aAeo \nשבनरজে\u09c7\u09dc\u095bกか한\u1100\u212b\u2126ﬁﬀ日\uf900é\u1e96🐁"
TEXT = st.text(st.sampled_from(MARKS) | st.sampled_from(LETTERS) | st.characters(exclude_categories=["Cs"]))


def by_definition(text: str) -> str:
    """Drop soft hyphens inside lines, expand Latin ligatures, and normalise to NFC."""
    bare = re.sub("\u00ad(?!\n)", "", text)
    return unicodedata.normalize("NFC", re.sub("[\ufb00-\ufb06]", lambda m: unicodedata.normalize("NFKC", m[0]), bare))


@given(TEXT)
@example("\u09c7\u09be")
@example("a\u0323\u0301")
@example("a\u0301\u0323")
@example("a\u0327\u0301")
@example("e\u00ad\u0301")
@example("ﬁ\u0301")
@example("\u0301")
@settings(max_examples=500)
def test_text_is_normalised_to_nfc(text: str) -> None:
    assert normalise(text) == by_definition(text)
    assert normalise_utf8(text.encode()) == by_definition(text).encode()
    assert normalise(normalise(text)) == normalise(text)


def test_every_character_next_to_a_letter_is_normalised() -> None:
    for codes in (range(0xD800), range(0xE000, 0x33480), range(0xE0000, 0xE0200)):
        wrong = [c for c in map(chr, codes) if normalise_utf8(f"a{c}".encode()) != by_definition(f"a{c}").encode()]
        assert wrong == []


def table(rows: list[tuple[str, str]], kind: str) -> bytes:
    if kind == "jsonl":
        return "".join(json.dumps({"date": date, "text": text}) + "\n" for date, text in rows).encode()
    if kind == "parquet":
        binary = io.BytesIO()
        columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
        parquet.write_table(pa.table(columns, names=["date", "text"]), binary)
        return binary.getvalue()
    file = io.StringIO(newline="")
    csv.writer(file, delimiter="\t" if kind == "tsv" else ",", lineterminator="\n").writerows([("date", "text"), *rows])
    return file.getvalue().encode()


def written_as(folder: Path, kind: str, lines: list[str]) -> tuple[Path, Reading]:
    """Write a corpus in a file format, and return how it is read."""
    plain = "".join(line + "\n" for line in lines)
    contents = {
        "1999.txt": plain.encode(),
        "1999.txt.gz": gzip.compress(plain.encode()),
        "1999.txt.zst": zstandard.compress(plain.encode()),
        "1999.utf16": plain.encode("utf-16"),
    }
    name, data = kind, contents.get(kind)
    if data is None:
        name, data = f"1999.{kind}", table([("1999", line) for line in lines], kind)
    path = folder / name
    path.write_bytes(data)
    reading = Reading(
        split="lines",
        encoding="utf-16" if kind == "1999.utf16" else "utf-8",
        date_column=None if kind in contents else "date",
    )
    return path, reading


KINDS = ["1999.txt", "1999.txt.gz", "1999.txt.zst", "1999.utf16", "jsonl", "csv", "tsv", "parquet"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_reader_finds_every_spelling_of_a_word(tmp_path: Path, kind: str) -> None:
    word = REPLACED["Bengali"]
    spellings = [word, unicodedata.normalize("NFC", word), unicodedata.normalize("NFD", word)]
    path, reading = written_as(tmp_path, kind, [f"x {spelling} y" for spelling in spellings])
    for spelling in spellings:
        found = find_occurrences(path, read_targets([spelling]), reading)
        assert found.found.tolist() == [3]
        sentences = set(found.table["sentence"].to_pylist())
        assert sentences == {f"x {unicodedata.normalize('NFC', word)} y"}
        periods = find_in_periods(path, read_targets([spelling]), "year", reading)
        assert {label: part.found.tolist() for label, part in periods.items()} == {"1999": [3]}
    assert count_words(path, word_table(), reading).counts == {"x": 3, "y": 3, unicodedata.normalize("NFC", word): 3}
    assert sample_sentences(path, reading).sentences == [f"x {unicodedata.normalize('NFC', word)} y"]


@pytest.mark.parametrize("word", REPLACED.values(), ids=REPLACED)
@pytest.mark.parametrize("match", ["word", "cased", "token"])
def test_words_with_characters_that_unicode_replaces_are_found(tmp_path: Path, word: str, match: str) -> None:
    path = tmp_path / "x.txt"
    spellings = [word, unicodedata.normalize("NFC", word), unicodedata.normalize("NFD", word)]
    path.write_text("\n".join(spellings), "utf-8")
    for spelling in spellings:
        targets = read_targets([spelling], match)
        assert targets.words == [unicodedata.normalize("NFC", word)]
        assert find_occurrences(path, targets, Reading(split="lines")).found.tolist() == [3]


def test_two_spellings_of_a_target_are_one_target(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("cafe\u0301\ncaf\u00e9\n", "utf-8")
    assert read_targets(words).forms == {"café": ("café",)}


def test_line_is_not_cut_between_a_letter_and_its_combining_mark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoding, "BLOCK", 32)
    for longest in range(40, 50):
        monkeypatch.setattr(decoding, "LONGEST", longest)
        path = tmp_path / "x.txt"
        path.write_text("e\u0323\u0301" * 60, "utf-8")
        with path.open("rb") as stream:
            source = Source(str(path), "x.txt", "text")
            blocks = list(decoding.utf8_lines(stream, source, Reading(), Tally()))
        assert len(blocks) > 2
        assert {block.decode()[0] for block in blocks} == {"e"}


def test_usages_with_given_spans_keep_their_text_and_spans() -> None:
    seen: list[tuple[str, tuple[int, int]]] = []

    class Recorder:
        def encode(self, sentences: list[str], spans: list[tuple[int, int]]) -> np.ndarray:
            seen.extend(zip(sentences, spans, strict=True))
            return np.ones((len(sentences), 2), np.float32)

    sentence = "Le cafe\u0301 noir, un the\u0301."
    usages = pd.DataFrame({"word": "thé", "corpus": ["old", "new"], "sentence": sentence, "start": 18, "end": 22})
    siblings = embed_usages(usages, model=Recorder())
    assert {(text, tuple(span)) for text, span in seen} == {(sentence, (18, 22))}
    assert sentence[18:22] == "the\u0301"
    assert siblings["thé"].old.shape == (1, 2)
