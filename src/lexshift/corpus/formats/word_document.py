"""Read the paragraphs of Word documents (.docx) with the library python-docx."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import IO, Any

from lexshift.corpus.records import Record
from lexshift.corpus.sources import Source
from lexshift.errors import UserError

_LARGEST = 1 << 28  # bytes of the file, and of its parts after decompression


def docx_records(stream: IO[bytes], source: Source) -> Iterator[Record]:
    """Yield the paragraphs of the body of a document, with those in its tables, in their order."""
    import docx

    content = stream.read(_LARGEST + 1)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(part.file_size for part in archive.infolist())
        if max(size, len(content)) > _LARGEST:
            raise UserError(
                f"the document {source.path!r} has more than {_LARGEST >> 20} MB when it is decompressed: save its "
                f"text as a .txt file"
            )
        document = docx.Document(io.BytesIO(content))
    except UserError:
        raise
    except Exception as error:  # the library raises errors of several kinds for files that are not documents
        raise UserError(f"the file {source.path!r} is not a Word document, or it is damaged: {error}") from None
    for row, paragraph in enumerate(_paragraphs(document), 1):
        if paragraph.text.strip():
            yield Record(row, paragraph.text)


def _paragraphs(container: Any) -> Iterator[Any]:
    """Yield the paragraphs of a document or a cell, and those of its tables."""
    for block in container.iter_inner_content():
        if hasattr(block, "rows"):
            for table_row in block.rows:
                for cell in table_row.cells:
                    yield from _paragraphs(cell)
        else:
            yield block
