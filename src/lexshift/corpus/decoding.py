"""Decode the bytes of a file: decompress and hash them, and refuse anything but plain text.

The result is a stream of blocks, each of complete lines of UTF-8.
"""

from __future__ import annotations

import codecs
import hashlib
import io
import os
import sys
import unicodedata
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from typing import IO, Any

from lexshift.corpus.encodings import UTF_8, detect_encoding, detect_wide, find_mark
from lexshift.corpus.markup import MARKUP_SAMPLE, detect_markup
from lexshift.corpus.sources import AUTO, STANDARD_INPUT, Reading, Source, Tally
from lexshift.errors import UserError
from lexshift.utils.kernels import FEW_BYTES, is_numba_loaded, kernel

BLOCK = 1 << 20  # bytes read at a time: large enough to be fast, small enough for its memory to be reused
LONGEST = 1 << 26  # bytes; a longer line is divided
_LINE_FEED = 10
_HEAD = 1 << 13  # bytes that are searched for signs of binary data
_DECISIVE = 1 << 20  # bytes from which the encoding is detected, the first of which are not all ASCII
_GZIP, _ZSTANDARD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BYTE_ORDERS = {
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
}
_PDF, _BINARY = b"%PDF-", (b"PK\x03\x04", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf")
_SPECIAL = (_GZIP, _ZSTANDARD, codecs.BOM_UTF8, _PDF, *_BINARY)


class HashedFile(io.RawIOBase):
    """A file opened for reading that computes the SHA-256 and the size of the bytes that were read."""

    def __init__(self, raw: IO[bytes], tally: Tally) -> None:
        self._raw = raw
        self._tally = tally
        self.sha256 = hashlib.sha256()

    def readable(self) -> bool:
        """Return True; a buffered reader requires this method."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, and return the number of bytes; 0 at the end."""
        n: int = self._raw.readinto(buffer) or 0  # type: ignore[attr-defined]
        self.sha256.update(memoryview(buffer)[:n])
        self._tally.size += n
        return n


@contextmanager
def open_source(source: Source, tally: Tally) -> Iterator[IO[bytes]]:
    """Open the content of a file, decompressed if its bytes are gzip or zstandard, whatever the name of the file.

    Damaged files raise a UserError. At the end, ``tally.hashes`` holds the SHA-256 of all bytes of the file on disk.
    """
    try:
        raw = sys.stdin.buffer if source.path == STANDARD_INPUT else open(source.path, "rb", buffering=0)  # noqa: SIM115
    except OSError as error:
        raise UserError(f"the file {source.path!r} cannot be read: {error.strerror}") from None
    with raw, HashedFile(raw, tally) as file:
        try:
            buffered = io.BufferedReader(file, BLOCK)
            head = buffered.peek(4)
            if head.startswith(_GZIP):
                from isal import igzip, igzip_lib

                try:
                    yield io.BufferedReader(igzip.IGzipFile(fileobj=buffered, mode="rb"), BLOCK)
                except igzip_lib.IsalError as error:  # type: ignore[misc]
                    raise OSError(str(error)) from None
            elif head.startswith(_ZSTANDARD):
                import pyarrow as pa

                # The reader holds one block at a time, reads frame after frame, and refuses incomplete frames.
                yield pa.CompressedInputStream(pa.PythonFile(buffered, mode="r"), "zstd")
            else:
                yield buffered
            while buffered.read(BLOCK):  # the hash covers the rest of the file as well
                continue
        except (EOFError, zlib.error, OSError) as error:  # isal raises zlib.error and OSError for bad gzip data
            raise UserError(
                f"the file {source.path!r} is damaged or cannot be read to its end; copy or compress it again: {error}"
            ) from None
        tally.hashes[source.name] = file.sha256.hexdigest()
        tally.files += 1


def read_small_text(source: Source, reading: Reading, tally: Tally) -> list[bytes] | None:
    """Return what :func:`utf8_lines` yields for a small file in UTF-8, which is read at once; None for any other file.

    A file that has a byte order mark, is compressed, cannot be read, or may be refused is left to :func:`utf8_lines`.
    Otherwise ``tally.hashes`` has the SHA-256 of the bytes of the file.
    """
    if source.kind != "text" or not 0 < source.size < BLOCK or reading.codec not in (AUTO, UTF_8):
        return None
    try:
        file = os.open(source.path, os.O_RDONLY | getattr(os, "O_BINARY", 0))  # a file object takes longer
        try:
            data = os.read(file, source.size + 1)
        finally:
            os.close(file)
        if len(data) != source.size or data.startswith(_SPECIAL) or b"\0" in data:
            return None
        if data.lstrip(b" \t\r\n").startswith((b"<", b"{", codecs.BOM_UTF8)):  # it may be markup
            return None
        if not data.isascii():
            data.decode()
    except (OSError, UnicodeDecodeError):
        return None
    tally.hashes[source.name] = hashlib.sha256(data).hexdigest()
    tally.size += len(data)
    tally.files += 1
    end = data.rfind(b"\n") + 1
    pieces = [data] if end in (0, len(data)) else [data[:end], data[end:]]
    return [piece.replace(b"\r\n", b"\n") for piece in pieces] if b"\r" in data else pieces


def utf8_lines(stream: IO[bytes], source: Source, reading: Reading, tally: Tally) -> Iterator[bytes]:
    """Yield valid UTF-8 in blocks of complete lines, without a byte order mark and carriage returns at line ends.

    Only the last line may lack its line feed. A line longer than LONGEST is divided at a space, or if it has none
    between two characters. A line of a table cannot be divided, so a longer one is refused. Binary data and markup are
    refused as well. If the encoding was detected and is not UTF-8, ``tally.encodings`` has its name.
    """
    chunks = iter(lambda: stream.read(BLOCK) or b"", b"")
    head, codec = next(chunks, b""), reading.codec
    mark = find_mark(head)
    if codec == AUTO and (encoding := mark or detect_wide(head)):
        reading, codec = replace(reading, encoding=encoding), encoding
        if encoding != UTF_8:
            tally.encodings[source.name] = encoding
    wide = codec.startswith(("utf-16", "utf-32"))
    if mark not in (None, UTF_8) and not wide:
        raise UserError(f"the file {source.path!r} is in {mark.upper()}; pass --encoding {mark}, or auto")
    if head.startswith(_PDF):
        raise UserError(
            f"the file {source.path!r} is a PDF, which is not text: extract its text first, for example with pdftotext"
        )
    if (b"\0" in head[:_HEAD] and not wide) or head.startswith(_BINARY):
        raise UserError(
            f"the file {source.path!r} is not text but binary data; lexshift reads plain text, tables (csv, tsv, "
            f"jsonl, json, parquet), documents (xml, html, docx), annotated text (vert, conllu), and .gz and .zst of "
            f"them"
        )
    if codec in (AUTO, UTF_8, "utf-8-sig"):
        data: Iterator[bytes] = chain([head.removeprefix(codecs.BOM_UTF8)], chunks)
        if codec == AUTO:
            data = _detect_and_recode(data, source, reading, tally)
        lines = _whole_lines(data, source, tally)
        blocks = _validate(lines, source, reading, tally)
    else:
        blocks = _whole_lines(_recode(chain([head], chunks), source, reading, tally), source, tally)
    if source.kind == "text":
        first, size = list[bytes](), 0
        while size < min(MARKUP_SAMPLE, BLOCK) and (block := next(blocks, None)) is not None:
            first.append(block)
            size += len(block)
        markup = detect_markup(b"".join(first))
        if markup:
            advice = "rename it to end in .xml or .html, so that it is read as markup"
            if markup == "RTF":
                advice = "save it as .docx or as plain text"
            raise UserError(
                f"the file {source.path!r} is {markup}, whose tags and attributes would count as words: {advice}"
            )
        blocks = chain(first, blocks)
    for block in blocks:
        yield block.replace(b"\r\n", b"\n") if b"\r" in block else block


def _detect_and_recode(chunks: Iterator[bytes], source: Source, reading: Reading, tally: Tally) -> Iterator[bytes]:
    """Yield the data unchanged if it is UTF-8, and else in UTF-8, after its encoding is detected.

    The first bytes outside ASCII and those that follow decide. All encodings that can be detected here agree on ASCII,
    so the data is read once, and a file with its first umlaut after a gigabyte is decoded as well. UTF-8 is validated
    later.
    """
    for chunk in chunks:
        if not chunk.isascii():
            break
        yield chunk
    else:
        return
    sample, is_end = [chunk], False
    while sum(map(len, sample)) < _DECISIVE and not is_end:
        following = next(chunks, None)
        is_end = following is None
        sample += [] if following is None else [following]
    encoding = detect_encoding(b"".join(sample), is_end)
    if encoding is None and reading.errors == "strict":
        raise UserError(
            f"the file {source.path!r} is not UTF-8, and is in no other encoding that can be detected, or is not text: "
            f"name its encoding with --encoding, or pass --errors replace"
        )
    rest = chain(sample, chunks)
    if encoding is None or encoding == UTF_8:
        yield from rest
    else:
        tally.encodings[source.name] = encoding
        yield from _recode(rest, source, replace(reading, encoding=encoding), tally)


def _whole_lines(chunks: Iterator[bytes], source: Source, tally: Tally) -> Iterator[bytes]:
    pieces: list[bytes] = []  # parts of a line that continues in the next chunk
    size, line, is_table = 0, 1, source.kind != "text"
    for chunk in chunks:
        end = chunk.rfind(b"\n") + 1
        if end:
            yield b"".join([*pieces, memoryview(chunk)[:end]])
            pieces, size = [], 0
            line += count_lines(chunk) if is_table else 0
        pieces.append(chunk[end:])
        size += len(chunk) - end
        if size >= LONGEST:
            if is_table:
                raise UserError(
                    f"the file {source.path!r} has a line of over {LONGEST >> 20} MB, line {line}: tables are read "
                    f"line by line, so break its text into several records"
                )
            data = b"".join(pieces)
            end = _find_cut(data)
            tally.skipped[f"lines of over {LONGEST >> 20} MB, cut"] += 1
            yield data[:end]
            pieces, size = [data[end:]], len(data) - end
    if size:
        yield b"".join(pieces)


def count_lines(data: bytes) -> int:
    """Return the number of line feeds."""
    return data.count(b"\n") if len(data) < FEW_BYTES and not is_numba_loaded() else _count_lines(data)


@kernel
def _count_lines(data: bytes) -> int:
    """Return the number of line feeds; several times faster than ``bytes.count``, but it must be loaded first."""
    n = 0
    for i in range(len(data)):
        n += data[i] == _LINE_FEED
    return n


def _find_cut(data: bytes) -> int:
    """Return the position at which to divide a line that is too long: after a space, or else between two letters."""
    space = data.rfind(b" ", len(data) // 2)
    if space >= 0:
        return space + 1
    for end in range(len(data) - 1, 0, -1):
        text = data[end : end + 4].decode(errors="ignore")  # empty within a character
        if data[end] & 0xC0 != 0x80 and text and unicodedata.category(text[0])[0] != "M":
            return end
    return len(data)


def _validate(blocks: Iterator[bytes], source: Source, reading: Reading, tally: Tally) -> Iterator[bytes]:
    line = 1
    for block in blocks:
        try:
            if not block.isascii():
                block.decode()
            valid = block
        except UnicodeDecodeError as error:
            if reading.errors == "strict":
                raise _undecodable(source, line + block.count(b"\n", 0, error.start), "UTF-8", error) from None
            text = block.decode(errors="replace")
            replaced = text.count("\ufffd") - block.count("\ufffd".encode())
            tally.skipped["sequences of bytes that are not UTF-8, replaced"] += replaced
            valid = text.encode()
        yield valid
        line += count_lines(block)


def _recode(chunks: Iterator[bytes], source: Source, reading: Reading, tally: Tally) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(reading.encoding)(reading.errors)
    line, first, marks = 1, True, _BYTE_ORDERS.get(reading.codec)
    for data in chain(chunks, [b""]):
        if marks and data and not data.startswith(marks):
            raise UserError(
                f"the file {source.path!r} is not in {reading.codec.upper()}, as it has no byte order mark: save it as "
                f"{reading.codec}, pass --encoding {reading.codec}-le if it lacks the mark only, or --encoding auto if "
                f"the files are in different encodings"
            )
        marks = None  # only the first bytes have a byte order mark
        before = decoder.getstate()
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeError as error:
            raise _undecodable_chunk(data, before, line, source, reading, error) from None
        if first and text:
            text, first = text.removeprefix("\ufeff"), False
        if reading.errors == "replace" and "\ufffd" in text:
            tally.skipped[f"sequences of bytes that are not {reading.encoding}, replaced"] += text.count("\ufffd")
        line += text.count("\n")
        yield text.encode("utf-8", "replace")


def _undecodable_chunk(
    data: bytes, before: tuple[bytes, int], line: int, source: Source, reading: Reading, error: UnicodeError
) -> UserError:
    """Return the error for data that a decoder in the state ``before`` could not decode, with its line."""
    try:
        assert isinstance(error, UnicodeDecodeError)
        lenient = codecs.getincrementaldecoder(reading.encoding)("replace")
        lenient.setstate(before)
        good = lenient.decode(data[: max(error.start - len(before[0]), 0)])
    except (AssertionError, UnicodeError):  # the codec does not report the position, or has no replacement
        return UserError(
            f"the file {source.path!r} is not {reading.encoding} at line {line} or later: name its encoding with "
            f"--encoding ({error})"
        )
    return _undecodable(source, line + good.count("\n"), reading.encoding, error)


def _undecodable(source: Source, line: int, encoding: str, error: UnicodeDecodeError) -> UserError:
    bad = error.object[error.start : error.start + 1].hex()
    return UserError(
        f"the file {source.path!r} is not {encoding} at line {line} (byte 0x{bad}): name its encoding, for example "
        f"--encoding cp1252, or pass --errors replace"
    )
