"""Readers of documents: XML, HTML, Word and JSON files become records.

In: the bytes of a file. Out: :class:`lexshift.corpus.records.Record`, one for each paragraph, sentence, line of verse
or JSON object. Nothing in a file makes a reader open another file, run code, or use memory without a limit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from lexshift.corpus.records import Record
from lexshift.corpus.sources import Reading, Source, Tally

DOCUMENTS = ("xml", "html", "docx", "json")
"""The kinds of files that this folder reads."""


def document_records(stream: IO[bytes], source: Source, reading: Reading, tally: Tally) -> Iterator[Record]:
    """Yield the records of a document, in their order; the libraries of its format are imported here."""
    if source.kind == "xml":
        from lexshift.corpus.formats.xml_document import xml_records

        return xml_records(stream, source, reading, tally)
    if source.kind == "html":
        from lexshift.corpus.formats.web_page import html_records

        return html_records(stream, source, reading, tally)
    if source.kind == "docx":
        from lexshift.corpus.formats.word_document import docx_records

        return docx_records(stream, source)
    from lexshift.corpus.formats.json_document import json_records

    return json_records(stream, source, reading)
