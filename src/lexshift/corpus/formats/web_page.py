"""Read the main text of HTML pages, without navigation, with the library trafilatura."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any

from lexshift.corpus.formats.xml_document import xml_records
from lexshift.corpus.records import Record
from lexshift.corpus.sources import Reading, Source, Tally
from lexshift.errors import UserError

_LARGEST = 20_000_000  # bytes; the extractor ignores larger pages


def html_records(stream: IO[bytes], source: Source, reading: Reading, tally: Tally) -> Iterator[Record]:
    """Yield the paragraphs of the main text of a page, with its date, or what ``reading.xpath`` selects."""
    if reading.xpath:
        yield from xml_records(stream, source, reading, tally)
        return
    import trafilatura

    content = stream.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise UserError(
            f"the file {source.path!r} has more than {_LARGEST // 1_000_000} MB, the limit for a page: divide it, or "
            f"select its elements with --xpath, for example --xpath //p"
        )
    page: bytes | str = content
    if reading.encoding not in ("auto", "utf-8", "utf-8-sig"):
        page = content.decode(reading.encoding, reading.errors)
    tree = trafilatura.load_html(page)
    if tree is None:
        raise UserError(f"the file {source.path!r} is not an HTML page: its markup cannot be read")
    extracted: Any = trafilatura.bare_extraction(tree, include_comments=False, with_metadata=True, favor_recall=True)
    date = None if extracted is None else extracted.date
    text = "" if extracted is None else extracted.text or ""
    if not text.strip():
        text = trafilatura.html2txt(page)  # a page without paragraphs, such as a list of quotations
        tally.skipped["HTML pages without a main text, read as a whole"] += 1
    row = 0
    for line in text.split("\n"):
        if line.strip():
            row += 1
            yield Record(row, line.strip(), date)
