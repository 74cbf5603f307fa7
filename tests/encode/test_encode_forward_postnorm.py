"""Test the fast path: where it is used, and that it equals the forward pass of the model."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import (
    DEPTH,
    FAST,
    HIDDEN,
    SLOW,
    TEXT,
    assert_same,
    encoder,
    loaded,
    make_config,
    make_model,
    span_of,
    transformers,
)
from torch import Tensor, nn

from lexshift.encode.forward import GenericForward, PostNormForward
from lexshift.encode.huggingface import HuggingFaceEncoder
from lexshift.encode.layers import Layers, parse_layers

SPECS = ["last", 0, 1, -2, "mean:4", "sum:2", "concat:3"]


def fast_of(model: Any) -> PostNormForward:
    fast = PostNormForward.from_model(model)
    assert fast is not None
    return fast


def random_batch(family: str, lengths: list[int], words: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    tokenizer = loaded(family)[1]
    generator = torch.Generator().manual_seed(seed)
    ids = torch.full((len(lengths), max(lengths)), tokenizer.pad_token_id)
    where = torch.zeros((len(lengths), words), dtype=torch.long)
    for i, length in enumerate(lengths):
        ids[i, :length] = torch.randint(5, len(tokenizer), (length,), generator=generator)
        where[i] = torch.randint(0, length, (words,), generator=generator)
    return ids, torch.tensor(lengths), where


def assert_states_agree(ours: list[Tensor], theirs: list[Tensor]) -> None:
    assert [a.shape for a in ours] == [b.shape for b in theirs]
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=0, atol=1e-5)
        assert (torch.cosine_similarity(a.double(), b.double(), dim=-1) > 0.99999).all()


# ------------------------------------------------------------------------------------------ equality with the model


@pytest.mark.parametrize("family", FAST)
@given(
    lengths=st.lists(st.integers(1, 40), min_size=1, max_size=5),
    words=st.integers(1, 6),
    spec=st.sampled_from(SPECS),
    seed=st.integers(0, 1000),
)
def test_states_equal_those_of_the_generic_path(
    family: str, lengths: list[int], words: int, spec: str | int, seed: int
) -> None:
    model = loaded(family)[0]
    batch, layers = random_batch(family, lengths, words, seed), parse_layers(spec, DEPTH)
    with torch.inference_mode():
        ours = fast_of(model).states(layers, *batch)
        theirs = GenericForward(model, DEPTH).states(layers, *batch)
    assert_states_agree(ours, theirs)
    assert len(ours) == len(layers.numbers)
    assert ours[0].shape == (len(lengths), words, HIDDEN)


@pytest.mark.parametrize("family", FAST)
def test_every_layer_equals_the_model_run_on_one_sequence_without_padding(family: str) -> None:
    model = loaded(family)[0]
    ids, lengths, where = random_batch(family, [9, 1, 23], 4, seed=5)
    with torch.inference_mode():
        ours = fast_of(model).states(Layers(tuple(range(DEPTH + 1))), ids, lengths, where)
        for i, length in enumerate(lengths.tolist()):
            hidden = model(input_ids=ids[i : i + 1, :length], output_hidden_states=True).hidden_states
            assert len(hidden) == DEPTH + 1
            assert_states_agree([state[i] for state in ours], [state[0][where[i]] for state in hidden])


@pytest.mark.parametrize("activation", ["gelu", "gelu_new", "relu", "silu", "gelu_pytorch_tanh"])
@pytest.mark.parametrize("family", ["bert", "distilbert", "mpnet"])
def test_activation_is_that_of_the_model(family: str, activation: str) -> None:
    config = make_config(family)
    setattr(config, "activation" if family == "distilbert" else "hidden_act", activation)
    torch.manual_seed(3)
    model = transformers.AutoModel.from_config(config).eval()
    batch, layers = random_batch(family, [8, 5], 3, seed=1), parse_layers("concat:4", DEPTH)
    with torch.inference_mode():
        ours, theirs = fast_of(model).states(layers, *batch), GenericForward(model, DEPTH).states(layers, *batch)
    assert_states_agree(ours, theirs)
    chosen = HuggingFaceEncoder(model, loaded(family)[1])
    assert isinstance(chosen._forward, PostNormForward)


@pytest.mark.parametrize("family", FAST)
def test_weights_of_a_model_are_not_modified(family: str) -> None:
    model = loaded(family)[0]
    before = {key: tensor.clone() for key, tensor in model.state_dict().items()}
    encoder(family).encode([TEXT[0]], [(0, 3)])
    after = model.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[key], after[key]) for key in before)


# ---------------------------------------------------------------------------------------------- use of the fast path


@pytest.mark.parametrize("family", FAST)
@pytest.mark.parametrize("depth", [1, 3, 5])
def test_fast_path_is_used_for_these_families_and_bypasses_their_layers(family: str, depth: int) -> None:
    model = make_model(family, depth, seed=depth)
    ours = HuggingFaceEncoder(model, loaded(family)[1], layers="last")
    assert isinstance(ours._forward, PostNormForward)
    layers = next(m for m in model.modules() if isinstance(m, nn.ModuleList) and len(m) == depth)
    for layer in layers:
        layer.register_forward_hook(_refuse)
    vectors = ours.encode([TEXT[0]], [(4, 9)])
    assert np.isfinite(vectors).all()


def _refuse(*_: Any) -> None:
    raise AssertionError("the model's own layer was run")


@pytest.mark.parametrize("family", SLOW)
def test_fast_path_is_not_used_for_other_families(family: str) -> None:
    assert PostNormForward.from_model(loaded(family)[0]) is None
    assert isinstance(encoder(family)._forward, GenericForward)


def _scaled(layer: Any) -> None:
    layer.register_forward_hook(lambda _module, _args, output: _times(output, 1.1))


def _times(output: Any, factor: float) -> Any:
    return (output[0] * factor, *output[1:]) if isinstance(output, tuple) else output * factor


def _more_attention(layer: Any) -> None:
    layer.attention.register_forward_hook(lambda _module, _args, output: _plus(output, torch.linspace(-1, 1, HIDDEN)))


def _plus(output: Any, more: Tensor) -> Any:
    return (output[0] + more, *output[1:]) if isinstance(output, tuple) else output + more


@pytest.mark.parametrize("change", [_scaled, _more_attention])
@pytest.mark.parametrize("family", FAST)
@pytest.mark.parametrize("number", [0, DEPTH - 1])
def test_model_with_modified_layers_is_run_by_its_own_forward_pass(family: str, change: Any, number: int) -> None:
    model, tokenizer = loaded(family)
    model = copy.deepcopy(model)
    plain = HuggingFaceEncoder(copy.deepcopy(model), tokenizer, layers="last")
    layers = next(m for m in model.modules() if isinstance(m, nn.ModuleList) and len(m) == DEPTH)
    change(layers[number])
    ours = HuggingFaceEncoder(model, tokenizer, layers="last")
    assert isinstance(plain._forward, PostNormForward)
    assert isinstance(ours._forward, GenericForward)

    span = span_of(TEXT[0], "runway")
    made = tokenizer(TEXT[0], return_offsets_mapping=True, return_tensors="pt")
    offsets = made["offset_mapping"][0].tolist()
    with torch.inference_mode():
        last = model(input_ids=made["input_ids"], attention_mask=made["attention_mask"]).last_hidden_state[0].numpy()
    rows = [last[i] for i, (a, b) in enumerate(offsets) if a < span[1] and b > span[0]]
    vector = ours.encode([TEXT[0]], [span])
    assert_same(vector, np.mean(rows, axis=0)[None])
    assert np.abs(vector - plain.encode([TEXT[0]], [span])).max() > 1e-2


def test_decoder_is_not_supported_by_the_fast_path() -> None:
    config = make_config("bert")
    config.is_decoder = True
    assert PostNormForward.from_model(transformers.BertModel(config)) is None


@pytest.mark.parametrize("head", [transformers.BertForMaskedLM, transformers.BertForSequenceClassification])
def test_loaded_model_with_a_head_is_encoded_like_its_body(head: Any) -> None:
    body, tokenizer = loaded("bert")
    model = head(make_config("bert")).eval()
    model.bert.load_state_dict(body.state_dict(), strict=False)
    ours = HuggingFaceEncoder(model, tokenizer, layers="mean:2")
    spans = [span_of(sentence, sentence.split()[1]) for sentence in TEXT]
    assert_same(ours.encode(TEXT, spans), encoder("bert", layers="mean:2").encode(TEXT, spans))


@pytest.mark.parametrize("size", [206, 207, 400, 497])
@pytest.mark.parametrize("family", ["bert", "distilbert"])
def test_padding_token_at_the_end_of_a_vocabulary_of_any_size_is_supported(family: str, size: int) -> None:
    model, tokenizer = copy.deepcopy(loaded(family))
    tokenizer.add_tokens([f"more{i}" for i in range(size - len(tokenizer) - 1)])
    tokenizer.add_special_tokens({"pad_token": "[LAST]"})
    assert tokenizer.pad_token_id == len(tokenizer) - 1 == size - 1
    model.resize_token_embeddings(size, mean_resizing=False)
    ours = HuggingFaceEncoder(model, tokenizer)
    assert isinstance(ours._forward, PostNormForward)
    spans = [span_of(sentence, sentence.split()[1]) for sentence in TEXT]
    assert_same(ours.encode(TEXT, spans), encoder(family).encode(TEXT, spans))
