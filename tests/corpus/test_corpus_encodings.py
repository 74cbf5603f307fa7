"""Test the detection of encodings with real text in many languages, and of text that is in no known encoding."""

from __future__ import annotations

import codecs
import gzip
import io
import random
import sys
import unicodedata
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_corpus_language import TEXTS

from lexshift.corpus import Reading, Tally, decoding, find_occurrences, read_targets
from lexshift.corpus.decoding import utf8_lines
from lexshift.corpus.encodings import detect_encoding, detect_wide
from lexshift.corpus.language import detect_languages
from lexshift.corpus.sources import Source
from lexshift.errors import UserError

WESTERN = ("af", "ca", "da", "de", "es", "fi", "fr", "gl", "is", "it", "nb", "nl", "pt", "sq", "sv")
ENCODINGS = {
    **dict.fromkeys(WESTERN, ("cp1252", "latin-1")),
    **dict.fromkeys(("cs", "hr", "hu", "pl", "sk", "sl"), ("cp1250", "iso-8859-2")),
    **dict.fromkeys(("bg", "ru"), ("cp1251", "iso-8859-5")),
    "uk": ("cp1251", "koi8-u"),
    "el": ("cp1253", "iso-8859-7"),
    "tr": ("cp1254", "iso-8859-9"),
    "lt": ("cp1257", "iso-8859-13"),
    "lv": ("cp1257",),
    "he": ("cp1255",),
    "ar": ("cp1256",),
    "th": ("cp874",),
    "ja": ("shift_jis",),
    "ko": ("euc_kr",),
    "zh": ("gb18030", "gb2312"),
}
CASES = [
    (language, encoding)
    for language, encodings in ENCODINGS.items()
    for encoding in encodings
    if not TEXTS[language].isascii()
]


def decode(data: bytes, reading: Reading | None = None, tally: Tally | None = None) -> str:
    """Return a text as it is read from a file."""
    source = Source("folder/x.txt", "x.txt", "text")
    return b"".join(utf8_lines(io.BytesIO(data), source, reading or Reading(), tally or Tally())).decode()


def test_there_are_texts_in_many_encodings() -> None:
    assert len({encoding for _, encoding in CASES}) >= 18
    assert len({language for language, _ in CASES}) >= 25


@pytest.mark.parametrize(("language", "encoding"), CASES)
def test_text_in_its_language_and_encoding_is_decoded(language: str, encoding: str) -> None:
    text, tally = TEXTS[language], Tally()
    assert decode(text.encode(encoding), tally=tally) == text
    assert list(tally.encodings) == ["x.txt"]


@pytest.mark.parametrize(
    "text",
    [
        "It’s “all” that we can’t do – for £5.",
        "the naïve café",
        "Take 3½ cups of flour, or ½ a cup.",
        "10 µm of Ångström",
        "Bücher",
        "Der Käse ist für die Mäuse.",
        "»Spaß« ist, wenn man trotzdem lacht.",
        "Où est le cœur ? À côté.",
        "El niño comió más piñas.",
    ],
)
@pytest.mark.parametrize("encoding", ["cp1252", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_short_text_is_decoded(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == text


def test_bytes_that_are_control_characters_in_latin_1_are_those_of_cp1252() -> None:
    data = "Das ist „ein Anfang“ – für die Mäuse.".encode("cp1252")
    assert detect_encoding(data) == "cp1252"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("language", ["en", "de", "ru", "ar", "hi", "ko", "vi"])
def test_wide_text_without_a_mark_is_recognised(language: str, encoding: str) -> None:
    tally = Tally()
    assert decode(TEXTS[language].encode(encoding), tally=tally) == TEXTS[language]
    assert tally.encodings == {"x.txt": encoding}


@pytest.mark.parametrize("language", ["ja", "zh"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_wide_text_without_spaces_is_recognised_by_its_line_ends(language: str, encoding: str) -> None:
    text = TEXTS[language][:40] + "\r\n" + TEXTS[language][:40] + "\r\n"
    assert detect_wide(text.encode(encoding)) == encoding


@given(st.text(max_size=200), st.booleans())
def test_valid_utf_8_is_utf_8(text: str, has_mark: bool) -> None:
    if not text.startswith("\ufeff"):
        assert detect_encoding((codecs.BOM_UTF8 if has_mark else b"") + text.encode()) == "utf-8"


@pytest.mark.parametrize("cut", [1, 2])
def test_character_at_the_end_may_be_incomplete_if_the_text_goes_on(cut: int) -> None:
    data = ("a mouse 日本" * 3).encode()[:-cut]
    assert detect_encoding(data, is_complete=False) == "utf-8"
    assert detect_encoding("une cité".encode("cp1252")) == "cp1252"  # whose last byte could begin a character of UTF-8


@pytest.mark.parametrize("size", [16, 64, 1 << 20])
@pytest.mark.parametrize(("language", "encoding"), [("de", "cp1252"), ("ru", "koi8-r"), ("ja", "shift_jis")])
def test_first_letter_outside_ascii_may_come_late(
    monkeypatch: pytest.MonkeyPatch, size: int, language: str, encoding: str
) -> None:
    monkeypatch.setattr(decoding, "BLOCK", size)
    text = "the mouse ran\n" * 200_000 * (size == 1 << 20) + "a mouse\n" * 50 + TEXTS[language] + "\n"
    assert decode(text.encode(encoding)) == text


def test_result_does_not_depend_on_the_size_of_blocks_or_the_compression(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = ("a mouse\n" * 500 + TEXTS["cs"] + "\n").encode("cp1250") * 20
    expected = decode(data)
    (tmp_path / "x.txt.gz").write_bytes(gzip.compress(data))
    for size in (7, 100, 4096, 1 << 20):
        monkeypatch.setattr(decoding, "BLOCK", size)
        assert decode(data) == expected
        found = find_occurrences(tmp_path / "x.txt.gz", read_targets(["práva"]))
        assert found.found.tolist() == [20]
        assert found.tally.encodings == {"x.txt.gz": "cp1250"}


def test_damaged_utf_8_is_not_taken_for_another_encoding() -> None:
    data = (TEXTS["de"] + "\n").encode() * 5 + b"M\xe4use\n"
    with pytest.raises(UserError, match=r"x\.txt' is not UTF-8 at line 6 \(byte 0xe4\)"):
        decode(data)
    assert decode(data, Reading(errors="replace")).endswith("M\ufffduse\n")


def test_bytes_that_are_no_text_are_refused_or_replaced() -> None:
    data = random.Random(0).randbytes(3000).replace(b"\0", b"\1")
    with pytest.raises(UserError, match=r"is in no other encoding .*--encoding.*--errors replace"):
        decode(data)
    assert "\ufffd" in decode(data, Reading(errors="replace"))


def test_ascii_with_zero_bytes_is_not_wide() -> None:
    assert detect_wide(b"a\0mouse\n") is None
    assert detect_wide(b"mouse\0\x01\x02") is None
    assert detect_wide(b"text\n" * 99 + b"\0") is None
    assert detect_wide(bytes(100)) is None


def test_explicit_encoding_applies_to_all_files() -> None:
    tally = Tally()
    assert decode("é".encode(), Reading(encoding="latin-1"), tally) == "Ã©"
    assert tally.encodings == {}


@pytest.mark.parametrize(("name", "head"), [("x.csv", "text\n"), ("x.tsv", "text\n"), ("x.txt", "")])
def test_tables_are_decoded_too(tmp_path: Path, name: str, head: str) -> None:
    (tmp_path / name).write_bytes((head + "Der Käse ist für die Mäuse\n").encode("cp1252"))
    assert find_occurrences(tmp_path / name, read_targets(["mäuse"])).found.tolist() == [1]


def test_standard_input_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.BufferedReader(io.BytesIO((TEXTS["de"] + "\n").encode("cp1252") * 9))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=data, isatty=lambda: False))
    languages, readings = detect_languages({"": "-"}, Reading())
    assert languages == {"": "de"}
    assert find_occurrences("-", read_targets(["würde"]), readings[""]).found.tolist() == [9]


def test_encoding_is_part_of_the_checksum_of_a_corpus() -> None:
    plain, other = Tally(hashes={"a": "1"}), Tally(hashes={"a": "1"}, encodings={"a": "cp1252"})
    assert plain.content != other.content


def test_detected_text_is_normalised_as_any_other(tmp_path: Path) -> None:
    text = unicodedata.normalize("NFD", "Tất cả mọi người sinh ra đều được tự do và bình đẳng.").encode("utf-16")
    (tmp_path / "x.txt").write_bytes(text)
    assert find_occurrences(tmp_path / "x.txt", read_targets(["người"])).found.tolist() == [1]
