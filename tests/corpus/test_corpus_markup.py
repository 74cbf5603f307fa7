"""Test that markup is refused under any name and compression, and that prose with angle brackets is read."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from lexshift.corpus import Reading, find_occurrences, read_targets
from lexshift.corpus.markup import detect_markup
from lexshift.errors import UserError

PROSE = "The mouse ran over the hill, and the cat ran after it until they saw the house. "
MARKUP = {
    "tei": '<?xml version="1.0" encoding="UTF-8"?>\n<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body>'
    + "".join(f"<p>{PROSE * 9}</p>\n" for _ in range(20)),
    "tei without a declaration": f'<TEI xmlns="http://www.tei-c.org/ns/1.0">\n<text>{PROSE * 90}',
    "old tei": f"<TEI.2><text>{PROSE * 90}</text></TEI.2>",
    "html": f"<!DOCTYPE html>\n<html><head><title>A mouse</title></head><body>{PROSE * 90}</body></html>",
    "capital html": f"\n\n <HTML>\n<BODY>\n{PROSE * 90}<P>{PROSE * 90}",
    "a comment first": f"<!-- saved today -->\n<!-- twice -->\n<html><body>{PROSE}</body></html>",
    "a mark first": f"\ufeff\n<?xml version='1.0'?><a>{PROSE}</a>",
    "paragraphs": "".join(f"<p>{PROSE * 9}</p>\n" for _ in range(20)),
    "paragraphs of one line each and their parts": "".join(f"<p>{PROSE}\n{PROSE}\n</p>\n" for _ in range(20)),
    "a vendor's records": "".join(
        f'<record id="{i}"><title>A mouse</title><body lang="en">{PROSE}</body></record>' for i in range(20)
    ),
    "rtf": "{\\rtf1\\ansi\\deff0 {\\fonttbl {\\f0 Times;}}\\f0 The mouse ran.\\par}",
}
PLAIN = {
    "prose": PROSE * 20,
    "prose with some tags": f"{PROSE * 20}Write <b>bold</b>, <i>italic</i> and <u>underlined</u> words. {PROSE * 20}",
    "prose that begins with a tag": f"<b>Note</b>: {PROSE * 20}\n{PROSE * 20}",
    "prose that begins with tags and has some more": "<p>A tag</p> begins a paragraph, <b>b</b> is <i>bold</i>.\n"
    + f"{PROSE * 20}\n" * 9,
    "a chat": "".join(f"<{who}> {PROSE}\n" for who in ("alice", "bob", "carol") * 20),
    "a chat of few words": "<alice> hi\n<bob> hi\n<alice> lol\n<bob> brb\n" * 50,
    "a chat about tags": "<alice> use <b> here\n<bob> and close it with </b>\n" + f"<alice> {PROSE}\n<bob> yes\n" * 50,
    "less than": "<3 this song\n<3 you\n" * 50,
    "an arrow": "<- back\n<-- further back\n" * 50,
    "documents with a line around each": f'<doc id="12" title="Mouse">\n{(PROSE + chr(10)) * 30}</doc>\n' * 9,
    "an address": "<someone@example.org> wrote:\n" + f"> {PROSE}\n" * 50,
    "a link": "<https://example.org/mouse> " + PROSE * 20,
    "paragraph marks without an end": f"<P> {PROSE * 9}\n" * 20,
    "mathematics": "a < b and c > d, so <x, y> is positive\n" * 50,
    "nothing": "",
}


def refusal(path: Path, reading: Reading | None = None) -> str:
    with pytest.raises(UserError) as caught:
        find_occurrences(path, read_targets(["mouse"]), reading)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", MARKUP)
def test_markup_is_recognised(name: str) -> None:
    assert detect_markup(MARKUP[name].encode()) == ("RTF" if name == "rtf" else "XML or HTML")


@pytest.mark.parametrize("name", PLAIN)
def test_plain_text_is_not_mistaken_for_markup(name: str) -> None:
    assert detect_markup(PLAIN[name].encode()) is None


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.ZstdCompressor().compress], ids=["no", "gz", "zst"])
@pytest.mark.parametrize("name", MARKUP)
def test_markup_is_refused_in_any_compression(tmp_path: Path, name: str, pack: Callable[[bytes], bytes]) -> None:
    (tmp_path / "a.txt").write_text(PROSE)
    (tmp_path / "b").write_bytes(pack(MARKUP[name].encode()))
    for place in (tmp_path / "b", tmp_path, tmp_path / "*"):
        message = refusal(place, Reading(strict=True))
        assert f"{str(tmp_path / 'b')!r} is " in message
        advice = "save it as .docx or as plain text" if name == "rtf" else "rename it to end in .xml or .html"
        assert advice in message


def test_markup_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_bytes(MARKUP["html"].encode("utf-16"))
    assert "is XML or HTML" in refusal(tmp_path / "x.txt", Reading(encoding="utf-16"))


@pytest.mark.parametrize("ending", [".xml", ".html", ".htm", ".xhtml", ".tei", ".HTML"])
def test_markup_is_read_as_markup_by_its_extension(tmp_path: Path, ending: str) -> None:
    (tmp_path / f"x{ending}").write_text(f'<html><body><p class="mouse">{PROSE * 3}</p></body></html>')
    assert find_occurrences(tmp_path / f"x{ending}", read_targets(["mouse", "class"])).found.tolist() == [3, 0]


@pytest.mark.parametrize(
    ("ending", "advice"),
    [(".pdf", "pdftotext"), (".PDF.gz", "pdftotext"), (".rtf", ".docx"), (".epub", "HTML"), (".sgml", "XML")],
)
def test_other_documents_are_refused_unread_with_advice(tmp_path: Path, ending: str, advice: str) -> None:
    (tmp_path / f"x{ending}").write_text(PROSE)
    for place in (tmp_path / f"x{ending}", tmp_path):
        message = refusal(place)
        assert f"x{ending}' is " in message
        assert advice in message


def test_tables_may_contain_text_that_looks_like_markup(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text("<p>id</p>\ttext\n" + "<p>1</p>\t<b>mouse</b>\n" * 20)
    assert find_occurrences(tmp_path / "x.tsv", read_targets(["mouse"])).found.tolist() == [20]


@pytest.mark.parametrize("ending", [".json", ".JSON", ".json.gz"])
@pytest.mark.parametrize("text", ['[{"text": "a mouse"}]', '{"text": "a mouse"}\n{"text": "a mouse"}\n'])
def test_json_is_read_in_every_form(tmp_path: Path, ending: str, text: str) -> None:
    content = gzip.compress(text.encode()) if ending.endswith(".gz") else text.encode()
    (tmp_path / f"x{ending}").write_bytes(content)
    found = find_occurrences(tmp_path / f"x{ending}", read_targets(["mouse"])).found
    assert found.tolist() == [text.count("mouse")]
