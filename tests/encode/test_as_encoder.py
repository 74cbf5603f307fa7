"""Test the conversion of names, folders, models and objects into encoders."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from huggingface_hub import constants
from tiny_models import (
    HIDDEN,
    TEXT,
    assert_same,
    cosines,
    encoder,
    folder,
    loaded,
    make_config,
    make_model,
    make_tokenizer,
    span_of,
    transformers,
    twin,
)

import lexshift.encode
from lexshift.encode import Encoder, as_encoder
from lexshift.encode.adaptation import MARKERS
from lexshift.encode.built_in import PackagedFile
from lexshift.encode.huggingface import HuggingFaceEncoder
from lexshift.encode.protocol import Span
from lexshift.errors import UserError

SPANS = [span_of(sentence, sentence.split()[1]) for sentence in TEXT]


class Lengths:
    """Custom encoder whose vectors are lengths."""

    def encode(self, sentences: Sequence[str], spans: Sequence[Span]) -> npt.NDArray[np.float32]:
        rows = [(len(s), end - start) for s, (start, end) in zip(sentences, spans, strict=True)]
        return np.array(rows, np.float32)


@pytest.mark.parametrize("kind", [str, Path])
def test_folder_is_an_encoder_with_its_name(kind: Any) -> None:
    ours = as_encoder(kind(folder("roberta")), layers="sum:2", pooling="first")
    assert isinstance(ours, HuggingFaceEncoder)
    assert ours.name == str(folder("roberta"))
    assert_same(ours.encode(TEXT, SPANS), twin("roberta", TEXT, SPANS, "sum:2", "first"))


@pytest.mark.parametrize("family", ["bert", "modernbert"])
def test_loaded_model_and_its_tokenizer_are_an_encoder(family: str) -> None:
    ours = as_encoder(loaded(family), window=20, layers=1)
    assert isinstance(ours, HuggingFaceEncoder)
    assert ours.window == 20
    assert_same(ours.encode(TEXT[:1], SPANS[:1]), encoder(family, window=20, layers=1).encode(TEXT[:1], SPANS[:1]))


def test_built_in_model_for_the_languages_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(PackagedFile, "is_installed", True)

    def find(name: str, revision: str | None) -> Path:
        calls.append((name, revision))
        return folder("bert")

    monkeypatch.setattr("lexshift.encode.loading.find_model", find)
    ours = as_encoder()
    assert isinstance(ours, HuggingFaceEncoder)
    assert ours.name == "multilingual-senses"
    as_encoder(languages=["en", "en-GB"])
    as_encoder("org/model", revision="v1")
    assert calls == [("multilingual-senses", None), ("minilm-senses", None), ("org/model", "v1")]


@pytest.mark.parametrize(
    ("languages", "built_in"),
    [
        (["en"], "(for text in this language, the built-in model 'minilm-senses' needs no network)"),
        (["de", "de"], "(for text in this language, the built-in model 'multilingual-senses' needs no network)"),
        (
            [None, "unknown"],
            "(the built-in models need no network: 'minilm-senses' for English text, 'multilingual-senses' for "
            "about 100 languages)",
        ),
    ],
)
def test_hub_name_without_a_network_names_the_built_in_model_for_the_language(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, languages: list[str | None], built_in: str
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(UserError) as caught:
        as_encoder("org/model", languages=languages)
    message = str(caught.value)
    assert "copy the folder model here and give it as --model ./model" in message
    assert message.endswith(built_in)


def sentence_transformer(path: Path) -> Any:
    library = pytest.importorskip("sentence_transformers")
    return library.SentenceTransformer(str(path), device="cpu")


@pytest.mark.parametrize("family", ["bert", "mpnet", "xlm-roberta"])
def test_sentence_transformers_model_is_used_as_its_transformer(family: str) -> None:
    ours = as_encoder(sentence_transformer(folder(family)), pooling="sum")
    assert isinstance(ours, HuggingFaceEncoder)
    assert ours.pooling == "sum"
    assert_same(ours.encode(TEXT, SPANS), twin(family, TEXT, SPANS, pooling="sum"))


# ------------------------------------------------------------------------------------------ XL-LEXEME and XL-DURel


LONG = " ".join(TEXT)  # more tokens than the published models take


def published_folder(
    place: Path, *, added: bool = True, modules: Sequence[str] = ("Pooling",), mode: str = "mean"
) -> Path:
    """Save a model in the layout of XL-LEXEME: old names of files and classes, and markers in added_tokens.json."""
    model, tokenizer = make_model("xlm-roberta"), make_tokenizer("xlm-roberta")
    if added:
        tokenizer.add_tokens(list(MARKERS))
        model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
        (place / "added_tokens.json").write_text(json.dumps(tokenizer.get_added_vocab()))
    model.save_pretrained(place)
    tokenizer.save_pretrained(place)
    (place / "sentence_bert_config.json").write_text('{"max_seq_length": 40, "do_lower_case": false}')
    entries = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
    for i, kind in enumerate(modules, 1):
        path = f"{i}_{kind}"
        entries.append({"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"})
        (place / path).mkdir()
    (place / "modules.json").write_text(json.dumps(entries))
    flags = {
        f"pooling_mode_{name}": False for name in ("cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens")
    }
    flags[next(name for name in flags if name.removeprefix("pooling_mode_").rsplit("_", 1)[0] == mode)] = True
    (place / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": HIDDEN} | flags))
    return place


def three_forms(path: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> list[HuggingFaceEncoder]:
    """Return the encoders of a folder, of a name on the hub, and of a model of sentence-transformers."""
    found: list[Any] = [as_encoder(path, **options), as_encoder(sentence_transformer(path), **options)]
    monkeypatch.setattr("lexshift.encode.loading.find_model", lambda *_: path)
    return [*found, as_encoder(f"org/{path.name}", **options)]


@pytest.mark.parametrize("added", [True, False])
@pytest.mark.parametrize("modules", [("Pooling",), ("Pooling", "Normalize")])
@pytest.mark.parametrize("mode", ["mean", "mean_sqrt_len"])
def test_published_model_gives_the_same_vectors_in_all_forms(
    added: bool, modules: Sequence[str], mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / ("renamed" if added else "XL-DURel")
    path.mkdir()
    published_folder(path, added=added, modules=modules, mode=mode)
    sentences = [*TEXT, LONG]
    spans = [*SPANS, span_of(LONG, "strangers")]
    vectors = []
    for ours in three_forms(path, monkeypatch):
        assert (ours.markers, ours.pooling, ours.layers, ours.window) == (MARKERS, "sentence", "last", 40)
        vectors.append(ours.encode(sentences, spans))
    assert np.array_equal(vectors[0], vectors[1])
    assert np.array_equal(vectors[0], vectors[2])
    short = [i for i, s in enumerate(TEXT) if len(loaded("xlm-roberta")[1](s)["input_ids"]) < 30]
    assert short
    marked = [f"{TEXT[i][:a]}<t>{TEXT[i][a:b]}</t>{TEXT[i][b:]}" for i in short for a, b in [SPANS[i]]]
    theirs = sentence_transformer(path).encode(marked, show_progress_bar=False)
    assert (cosines(vectors[0][short], theirs) > 0.99999).all()


@pytest.mark.parametrize(
    ("modules", "mode", "named"), [(("Pooling",), "cls", "cls"), (("Pooling", "LayerNorm"), "max", "max, LayerNorm")]
)
def test_other_pooling_of_a_published_model_is_refused_unless_one_is_chosen(
    modules: Sequence[str], mode: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published_folder(tmp_path, modules=modules, mode=mode)
    (tmp_path / f"{len(modules)}_{modules[-1]}" / "config.json").touch(exist_ok=True)
    message = f"was trained with the pooling '{named}', which lexshift does not have"
    with pytest.raises(UserError, match=message):
        as_encoder(tmp_path)
    if modules == ("Pooling",):
        with pytest.raises(UserError, match=message):
            as_encoder(sentence_transformer(tmp_path))
        for ours in three_forms(tmp_path, monkeypatch, pooling="first"):
            assert (ours.markers, ours.pooling) == (MARKERS, "first")


@pytest.mark.parametrize("content", ["[", "{}", '[1, {"type": 3}]', '[{}, {"type": "a.Pooling", "path": "../other"}]'])
def test_damaged_list_of_modules_is_an_error_of_a_published_model_only(content: str, tmp_path: Path) -> None:
    published_folder(tmp_path)
    (tmp_path / "modules.json").write_text(content)
    with pytest.raises(UserError, match="is damaged; download the model again"):
        as_encoder(tmp_path)
    for source in folder("bert").iterdir():
        shutil.copy(source, tmp_path)
    (tmp_path / "added_tokens.json").unlink()
    assert isinstance(as_encoder(tmp_path), HuggingFaceEncoder)


def test_damaged_length_of_a_published_model_is_an_error(tmp_path: Path) -> None:
    published_folder(tmp_path)
    (tmp_path / "sentence_bert_config.json").write_text("[")
    with pytest.raises(UserError, match=r"sentence_bert_config\.json' is damaged"):
        as_encoder(tmp_path)


@pytest.mark.parametrize("mode", ["cls", "max"])
def test_pooling_of_other_models_of_sentence_transformers_is_not_used(mode: str, tmp_path: Path) -> None:
    published_folder(tmp_path, added=False, mode=mode)
    for model in (tmp_path, sentence_transformer(tmp_path)):
        ours = as_encoder(model)
        assert isinstance(ours, HuggingFaceEncoder)
        assert (ours.markers, ours.pooling, ours.layers) == (None, "mean", "mean:4")


def training_flags(model: Any) -> list[bool]:
    return [module.training for module in model.modules()]


@pytest.mark.parametrize("family", ["bert", "deberta", "modernbert"])
@pytest.mark.parametrize("dtype", ["fp32", "int8"])
def test_model_in_training_mode_is_used_without_dropout_and_restored(family: str, dtype: str) -> None:
    expected = encoder(family, dtype=dtype).encode(TEXT, SPANS)
    model = make_model(family).train()
    next(model.children()).eval()  # some modules are frozen by the owner
    flags = training_flags(model)
    ours = as_encoder((model, loaded(family)[1]), dtype=dtype)
    assert training_flags(model) == flags
    assert np.array_equal(ours.encode(TEXT, SPANS), ours.encode(TEXT, SPANS))
    np.testing.assert_allclose(ours.encode(TEXT, SPANS), expected, rtol=1e-5, atol=1e-5)
    assert training_flags(model) == flags
    model.train()  # set by the owner between two calls
    np.testing.assert_allclose(ours.encode(TEXT, SPANS), expected, rtol=1e-5, atol=1e-5)
    assert all(training_flags(model))


def test_training_mode_of_a_model_with_a_head_is_restored_when_encoding_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    model = transformers.BertForMaskedLM(make_config("bert")).train()
    ours = as_encoder((model, loaded("bert")[1]))
    monkeypatch.setattr(type(ours), "_encode_batch", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        ours.encode(TEXT, SPANS)
    assert all(training_flags(model))


def test_sentence_transformers_model_without_a_transformer_is_refused() -> None:
    library = pytest.importorskip("sentence_transformers")
    static = pytest.importorskip("sentence_transformers.models").StaticEmbedding
    model = library.SentenceTransformer(
        modules=[static(loaded("bert")[1].backend_tokenizer, embedding_dim=8)], device="cpu"
    )
    with pytest.raises(UserError):
        as_encoder(model)


def test_custom_encoder_is_used_unchanged() -> None:
    own = Lengths()
    assert as_encoder(own) is own
    assert isinstance(own, Encoder)
    ready = encoder("bert")
    assert as_encoder(ready) is ready


@pytest.mark.parametrize("options", [{"layers": "last"}, {"pooling": "sum", "window": 9}, {"device": "cpu"}], ids=str)
def test_options_for_an_existing_encoder_are_refused(options: dict[str, Any]) -> None:
    for ready in (Lengths(), encoder("bert")):
        with pytest.raises(UserError, match=f"{', '.join(options)} cannot be set for an encoder that is already made"):
            as_encoder(ready, **options)


def test_loaded_model_without_its_tokenizer_is_refused() -> None:
    with pytest.raises(UserError, match=r"a loaded model needs its tokenizer: pass \(model, tokenizer\)"):
        as_encoder(loaded("bert")[0])


@pytest.mark.parametrize("model", [None, 3, b"minilm", object(), ["minilm"], (), ("a", "b", "c"), {"model": "minilm"}])
def test_object_that_is_no_encoder_is_refused_by_its_type(model: Any) -> None:
    with pytest.raises(UserError, match=f"must be a name, a folder, .* or an encoder; got {type(model).__name__}"):
        as_encoder(model)


def test_class_is_not_an_encoder_but_its_instances_are() -> None:
    with pytest.raises(UserError, match="got type"):
        as_encoder(Lengths)


@pytest.mark.parametrize("swapped", [(1, 2), ("minilm", "minilm"), "tokenizer first"])
def test_pair_that_is_no_model_and_tokenizer_is_refused(swapped: Any) -> None:
    pair = loaded("bert")[::-1] if isinstance(swapped, str) else swapped
    with pytest.raises(UserError, match="tokenizer"):
        as_encoder(pair)


def test_class_is_exported_and_other_names_are_not() -> None:
    assert lexshift.encode.HuggingFaceEncoder is HuggingFaceEncoder
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        lexshift.encode.Nothing  # noqa: B018


def test_package_is_imported_without_torch() -> None:
    code = "import sys, lexshift.encode; assert not {'torch', 'transformers'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
