"""Test that Word documents are read as their paragraphs, and that hostile ones are refused."""

from __future__ import annotations

import io
import zipfile

import docx
import pytest

from lexshift.corpus.formats import word_document
from lexshift.corpus.formats.word_document import docx_records
from lexshift.corpus.sources import Source
from lexshift.errors import UserError

SOURCE = Source("a.docx", "a.docx", "docx")


def write(texts: list[str], table: list[str] | None = None) -> bytes:
    document = docx.Document()
    for text in texts:
        document.add_paragraph(text)
    if table:
        for cell, text in zip(document.add_table(1, len(table)).rows[0].cells, table, strict=True):
            cell.text = text
    document.add_paragraph("The end.")
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def replace_part(data: bytes, name: str, old: bytes, new: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target:
        for part in source.infolist():
            content = source.read(part)
            target.writestr(part.filename, content.replace(old, new) if part.filename == name else content)
    return file.getvalue()


def test_paragraphs_and_tables_are_in_order() -> None:
    data = write(["A mouse ran.", "", "Ein Käse, 日本."], ["left", "right"])
    assert [(record.row, record.text) for record in docx_records(io.BytesIO(data), SOURCE)] == [
        (1, "A mouse ran."),
        (3, "Ein Käse, 日本."),
        (4, "left"),
        (5, "right"),
        (6, "The end."),
    ]


def test_entities_of_a_document_are_not_expanded() -> None:
    bomb = b"<!DOCTYPE x [<!ENTITY a 'haha'><!ENTITY b '&a;&a;&a;'>]><w:document"
    data = replace_part(write(["A mouse."]), "word/document.xml", b"<w:document", bomb)
    data = replace_part(data, "word/document.xml", b"A mouse.", b"A mouse&b;.")
    assert "haha" not in "".join(record.text for record in docx_records(io.BytesIO(data), SOURCE))


def test_large_parts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_document, "_LARGEST", 1 << 20)
    data = replace_part(write(["A mouse."]), "word/document.xml", b"A mouse.", b"A" * (2 << 20))
    assert len(data) < 1 << 20
    with pytest.raises(UserError, match=r"'a.docx' has more than 1 MB when it is decompressed"):
        list(docx_records(io.BytesIO(data), SOURCE))


@pytest.mark.parametrize("data", [b"", b"text", write(["A mouse."])[:500]])
def test_other_files_are_refused(data: bytes) -> None:
    with pytest.raises(UserError, match=r"'a.docx' is not a Word document, or it is damaged"):
        list(docx_records(io.BytesIO(data), SOURCE))
