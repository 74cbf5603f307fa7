"""Test that HTML pages are read as their main text, with their dates."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from lexshift.corpus.formats import web_page
from lexshift.corpus.formats.web_page import html_records
from lexshift.corpus.passages import read_blocks
from lexshift.corpus.records import Record
from lexshift.corpus.sources import Reading, Source, Tally, find_sources
from lexshift.errors import UserError

PAGE = """<!DOCTYPE html><html><head><title>News</title>
<meta property="article:published_time" content="2020-03-04T10:00:00Z"><style>p {color: red}</style></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/about">About the editors</a></li></ul></nav>
<main><article><h1>A mouse in the barn</h1>
<p>The mouse was found in the barn on Tuesday, and the farmer, who had looked for it for weeks, was pleased.</p>
<p>It ran away again after a few minutes, which <b>nobody</b> had expected at all, caf&eacute; or not.</p>
</article></main><script>track("mouse")</script><footer>Copyright, cookies, imprint</footer></body></html>"""


def read(text: str | bytes, reading: Reading | None = None, tally: Tally | None = None) -> list[Record]:
    data = text.encode() if isinstance(text, str) else text
    source = Source("a.html", "a.html", "html")
    return list(html_records(io.BytesIO(data), source, reading or Reading(), tally or Tally()))


def test_main_text_without_navigation() -> None:
    records = read(PAGE)
    text = "\n".join(record.text for record in records)
    assert "The mouse was found in the barn on Tuesday" in text
    assert "which nobody had expected at all, café or not." in text
    for other in ("Home", "About", "Copyright", "track", "color"):
        assert other not in text
    assert {record.date for record in records} == {"2020-03-04"}
    assert [record.row for record in records] == list(range(1, len(records) + 1))


def test_xpath_selects_elements() -> None:
    assert [record.text for record in read(PAGE, Reading(xpath="//h1"))] == ["A mouse in the barn"]
    assert [record.text for record in read(PAGE, Reading(xpath="//nav//a"))] == ["Home", "About the editors"]


def test_page_without_a_main_text_is_read_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trafilatura.bare_extraction", lambda *_, **__: None)
    tally = Tally()
    assert [record.text for record in read("<html><body>A mouse.</body></html>", tally=tally)] == ["A mouse."]
    assert tally.skipped == {"HTML pages without a main text, read as a whole": 1}


def test_encoding_is_declared_or_given() -> None:
    page = PAGE.replace("<head>", '<head><meta charset="windows-1252">').replace("caf&eacute;", "café")
    assert any("café" in record.text for record in read(page.encode("cp1252")))
    cyrillic = PAGE.replace("mouse", "мышь").encode("koi8-r")
    assert any("The мышь was" in record.text for record in read(cyrillic, Reading(encoding="koi8-r")))


def test_large_page_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_page, "_LARGEST", 1_000_000)
    with pytest.raises(UserError, match=r"'a.html' has more than 1 MB, the limit for a page: .* --xpath //p"):
        read("<p>" + "a" * 1_000_001)


@pytest.mark.parametrize("data", [b"", b"   "])
def test_file_without_markup_is_refused(data: bytes) -> None:
    with pytest.raises(UserError, match=r"'a.html' is not an HTML page"):
        read(data)


def test_page_is_a_corpus(tmp_path: Path) -> None:
    (tmp_path / "page.htm").write_text(PAGE)
    (block,) = read_blocks(find_sources(tmp_path)[0], Reading(), Tally())
    assert b"The mouse was found" in block.data
    assert block.dates is not None
    assert set(block.dates) == {"2020-03-04"}
