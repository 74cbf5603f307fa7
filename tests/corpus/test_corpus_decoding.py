"""Test decoding into blocks of whole UTF-8 lines, for every encoding, compression and size."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from lexshift.corpus import decoding, normal_form
from lexshift.corpus.decoding import open_source, utf8_lines
from lexshift.corpus.sources import Reading, Source, Tally
from lexshift.errors import UserError
from lexshift.utils.kernels import FEW_BYTES

LINES = st.text(st.sampled_from("ab é\u0301日🐁\n\r\t\u00a0"), max_size=80)
BLOCKS = st.integers(7, 64)


def blocks_of(data: bytes, reading: Reading | None = None, tally: Tally | None = None) -> list[bytes]:
    source = Source("folder/x.txt", "x.txt", "text")
    return list(utf8_lines(io.BytesIO(data), source, reading or Reading(), tally or Tally()))


def read(path: Path) -> tuple[bytes, str, int]:
    """Return the decompressed content of a file, its hash and its size."""
    tally = Tally()
    with open_source(Source(str(path), path.name, "text"), tally) as stream:
        data = b"".join(iter(lambda: stream.read(1000), b""))
    return data, tally.hashes[path.name], tally.size


def write_file(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def zstd(data: bytes, checksum: bool = False) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=checksum).compress(data)


def incompressible(size: int) -> bytes:
    """Return text that cannot be truncated after compression without loss."""
    rng = random.Random(0)
    return b"".join(b"%d\n" % rng.randrange(10**9) for _ in range(size // 10))


# ------------------------------------------------------------------------------------------------------ lines


@given(LINES, BLOCKS, st.booleans())
@example("\r\n" * 20, 7, False)
@example("", 7, True)
def test_blocks_are_whole_lines_without_byte_order_mark_and_carriage_returns(text: str, size: int, mark: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "BLOCK", size)
        blocks = blocks_of(codecs.BOM_UTF8 * mark + text.encode())
    assert b"".join(blocks) == text.replace("\r\n", "\n").encode()
    assert all(block.endswith(b"\n") for block in blocks[:-1] if block)


@given(LINES, BLOCKS, st.sampled_from(["utf-16", "utf-16-le", "utf-16-be", "utf-32", "gb18030", "utf-7"]))
def test_other_encodings_give_the_same_blocks_of_whole_lines(text: str, size: int, encoding: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "BLOCK", size)
        blocks = blocks_of(text.encode(encoding), Reading(encoding=encoding))
    assert b"".join(blocks) == text.replace("\r\n", "\n").encode()
    assert all(block.endswith(b"\n") for block in blocks[:-1] if block)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "iso-8859-15"])
def test_single_byte_encodings_are_read(encoding: str) -> None:
    text = "Die Mäuse für 5 £\r\nà côté\n"
    assert b"".join(blocks_of(text.encode(encoding), Reading(encoding=encoding))).decode() == text.replace("\r", "")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_byte_order_mark_is_removed_if_the_order_is_given(encoding: str) -> None:
    data = "\ufeffthe mouse\n".encode(encoding)
    assert b"".join(blocks_of(data, Reading(encoding=encoding))) == b"the mouse\n"


@given(st.text(st.sampled_from("abé日🐁 \n"), max_size=300), st.sampled_from([16, 24, 40]), st.sampled_from([7, 8, 13]))
def test_overlong_line_is_cut_between_characters_and_counted(text: str, longest: int, size: int) -> None:
    tally = Tally()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "BLOCK", size)
        patch.setattr(decoding, "LONGEST", longest)
        blocks = blocks_of(text.encode(), tally=tally)
    assert b"".join(blocks) == text.encode()
    assert all(block.decode() or not block for block in blocks)  # each of them is valid alone
    assert max(map(len, b"\n".join(blocks).split(b"\n"))) <= longest + size
    cuts = sum(not block.endswith(b"\n") for block in blocks[:-1] if block)
    assert sum(tally.skipped.values()) == cuts
    if all(len(line) < longest for line in text.encode().split(b"\n")):
        assert cuts == 0
    if any(len(line) > longest + size for line in text.encode().split(b"\n")):
        assert cuts > 0


def test_line_is_cut_at_a_space_if_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "BLOCK", 10)
    monkeypatch.setattr(decoding, "LONGEST", 30)
    tally = Tally()
    blocks = blocks_of(b"mouse " * 20, tally=tally)
    assert b"".join(blocks) == b"mouse " * 20
    assert {word for block in blocks for word in block.split()} == {b"mouse"}
    assert len(blocks) > 2
    assert list(tally.skipped) == ["lines of over 0 MB, cut"]


# ------------------------------------------------------------------------------------------- invalid encodings


@pytest.mark.parametrize("size", [7, 10, 64, 1 << 22])
@pytest.mark.parametrize("line", [1, 2, 5])
def test_invalid_utf_8_is_reported_with_file_line_and_remedy(
    monkeypatch: pytest.MonkeyPatch, size: int, line: int
) -> None:
    monkeypatch.setattr(decoding, "BLOCK", size)
    lines = ["Mäuse und Käse".encode()] * 6
    lines[line - 1] = "Mäuse und Käse".encode("latin-1")
    with pytest.raises(UserError) as caught:
        blocks_of(b"\n".join(lines))
    message = str(caught.value)
    assert f"'folder/x.txt' is not UTF-8 at line {line} (byte 0xe4)" in message
    assert "--encoding cp1252" in message
    assert "--errors replace" in message


@given(
    st.lists(st.sampled_from([b"a", b"\xc3\xa9", b"\xe9", b"\xff", b"\xe6\x97", b"\xef\xbf\xbd", b" ", b"\n"])), BLOCKS
)
def test_invalid_utf_8_can_be_replaced_and_is_counted(pieces: list[bytes], size: int) -> None:
    data, tally = b"x" + b"".join(pieces), Tally()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "BLOCK", size)
        blocks = blocks_of(data, Reading(encoding="utf-8", errors="replace"), tally)
    text = data.decode(errors="replace")
    assert b"".join(blocks).decode() == text
    assert sum(tally.skipped.values()) == text.count("\ufffd") - data.count("\ufffd".encode())


def test_invalid_bytes_of_another_encoding_are_reported_with_the_line() -> None:
    with pytest.raises(UserError, match=r"'folder/x\.txt' is not cp1252 at line 3 \(byte 0x81\).*--errors replace"):
        blocks_of(b"a\nb\nc \x81\nd", Reading(encoding="cp1252"))


@pytest.mark.parametrize(
    ("encoding", "order"),
    [("utf-16", "utf-16-le"), ("utf-16", "utf-16-be"), ("utf-16-le", "utf-16-le"), ("utf-16-be", "utf-16-be")],
)
def test_line_number_is_correct_in_utf_16_of_either_byte_order(
    monkeypatch: pytest.MonkeyPatch, encoding: str, order: str
) -> None:
    monkeypatch.setattr(decoding, "BLOCK", 32)
    lone = "\ud83d".encode(order, "surrogatepass")
    data = (
        ("\ufeff" if encoding == "utf-16" else "").encode(order) + "ab\n".encode(order) * 20 + lone + "ab".encode(order)
    )
    with pytest.raises(UserError, match=f"is not {encoding} at line 21 "):
        blocks_of(data, Reading(encoding=encoding))


def test_invalid_bytes_of_another_encoding_can_be_replaced_and_are_counted() -> None:
    tally = Tally()
    blocks = blocks_of(b"a \x81\nb \x8d\x8f\n", Reading(encoding="cp1252", errors="replace"), tally)
    assert b"".join(blocks).decode() == "a \ufffd\nb \ufffd\ufffd\n"
    assert sum(tally.skipped.values()) == 3


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_recognised_and_the_option_named(order: str) -> None:
    with pytest.raises(UserError, match=r"'folder/x\.txt' is in UTF-16; pass --encoding utf-16"):
        blocks_of("\ufeffthe mouse".encode(order), Reading(encoding="utf-8"))


def test_utf_32_is_not_mistaken_for_utf_16() -> None:
    with pytest.raises(UserError, match=r"'folder/x\.txt' is in UTF-32; pass --encoding utf-32"):
        blocks_of("\ufeffthe mouse".encode("utf-32-le"), Reading(encoding="cp1252"))


@pytest.mark.parametrize(
    "data",
    [
        b"BZh91AY&SY",
        b"PK\x03\x04docx",
        b"\x7fELF\x02\x01\x01\0\0",
        b"\x89PNG\r\n\x1a\n\0",
        b"text\n" * 99 + b"\0",
    ],
    ids=["bz2", "zip", "elf", "png", "nul"],
)
def test_binary_file_is_refused_with_the_readable_formats(data: bytes) -> None:
    with pytest.raises(
        UserError, match=r"'folder/x\.txt' is not text but binary data; lexshift reads plain text, tables"
    ):
        blocks_of(data)


# ------------------------------------------------------------------------------------------------- compression

PACKED: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "gzip in members": lambda data: b"".join(
        gzip.compress(data[i : i + 999], mtime=0) for i in range(0, len(data), 999)
    ),
    "gzip with zeros after it": lambda data: gzip.compress(data, mtime=0) + bytes(64),
    "zstandard": zstd,
    "zstandard in frames": lambda data: b"".join(zstd(data[i : i + 999]) for i in range(0, len(data), 999)),
    "zstandard with a frame to skip": lambda data: zstd(data) + b"\x50\x2a\x4d\x18\x04\0\0\0skip" + zstd(b""),
}


@pytest.mark.parametrize("name", ["x.txt", "x", "x.gz", "x.zst"])
@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("size", [0, 10, 5000])
def test_compression_is_detected_by_content_and_the_hash_is_that_of_the_file(
    tmp_path: Path, packed: str, name: str, size: int
) -> None:
    data = incompressible(size)
    on_disk = PACKED[packed](data)
    path = write_file(tmp_path / name, on_disk)
    assert read(path) == (data, hashlib.sha256(on_disk).hexdigest(), len(on_disk))


@pytest.mark.parametrize("keep", [5, 1000, -9, -1])
@pytest.mark.parametrize("pack", [gzip.compress, zstd], ids=["gzip", "zstandard"])
def test_truncated_file_is_reported_by_name(tmp_path: Path, pack: Callable[[bytes], bytes], keep: int) -> None:
    path = write_file(tmp_path / "x.txt", pack(incompressible(20_000))[:keep])
    with pytest.raises(UserError, match=f"{path}' is damaged or cannot be read to its end"):
        read(path)


def test_truncated_second_zstandard_frame_is_reported(tmp_path: Path) -> None:
    path = write_file(tmp_path / "x.zst", zstd(incompressible(2000)) + zstd(incompressible(20_000))[:-50])
    with pytest.raises(UserError, match="is damaged or cannot be read to its end"):
        read(path)


@pytest.mark.parametrize(
    "pack", [gzip.compress, lambda data: zstd(data, checksum=True)], ids=["gzip", "zstandard with checksum"]
)
def test_flipped_byte_in_a_compressed_file_is_reported_by_name(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    data = bytearray(pack(incompressible(20_000)))
    data[len(data) // 2] ^= 0xFF
    path = write_file(tmp_path / "x.txt", bytes(data))
    with pytest.raises(UserError, match=f"{path}' is damaged or cannot be read to its end"):
        read(path)


@pytest.mark.parametrize("pack", [gzip.compress, zstd], ids=["gzip", "zstandard"])
def test_trailing_data_after_compressed_data_is_reported(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = write_file(tmp_path / "x.txt", pack(b"a mouse") + b"and more")
    with pytest.raises(UserError, match="is damaged or cannot be read to its end"):
        read(path)


def test_unreadable_file_is_reported_by_name(tmp_path: Path) -> None:
    with (
        pytest.raises(UserError, match=r"gone\.txt' cannot be read: No such file"),
        open_source(Source(str(tmp_path / "gone.txt"), "gone.txt", "text"), Tally()),
    ):
        pass


def test_standard_input_is_decompressed(monkeypatch: pytest.MonkeyPatch) -> None:
    data = gzip.compress(b"a mouse\n", mtime=0)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert read(Path("-")) == (b"a mouse\n", hashlib.sha256(data).hexdigest(), len(data))


@pytest.mark.parametrize("is_loaded", [False, True])
@given(text=st.text("aé\u0301ﬁ\u00ad\n\r", max_size=50))
def test_small_text_is_read_in_the_same_way_without_compiled_code(is_loaded: bool, text: str) -> None:
    data = text.encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "is_numba_loaded", lambda: is_loaded)
        patch.setattr(normal_form, "is_numba_loaded", lambda: is_loaded)
        assert decoding.count_lines(data) == text.count("\n")
        assert normal_form.normalise_utf8(data).decode() == normal_form.normalise(text)


def test_large_text_is_always_read_with_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "is_numba_loaded", lambda: False)
    monkeypatch.setattr(decoding, "_count_lines", lambda data: -len(data))
    data = b"a\n" * (FEW_BYTES // 2)
    assert decoding.count_lines(data) == -len(data)
    assert decoding.count_lines(data[:-2]) == len(data) // 2 - 1
