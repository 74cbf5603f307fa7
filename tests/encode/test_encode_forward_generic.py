"""Test the generic path: the hidden states of the model, without running unnecessary layers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_models import DEPTH, FAMILIES, HIDDEN, SLOW, TEXT, encoder, loaded, make_model, span_of, transformers
from torch import Tensor, nn

from lexshift.encode.forward import GenericForward
from lexshift.encode.huggingface import HuggingFaceEncoder
from lexshift.encode.layers import Layers, parse_layers


def stack(model: Any, depth: int = DEPTH) -> nn.ModuleList:
    (layers,) = [m for m in model.modules() if isinstance(m, nn.ModuleList) and len(m) == depth]
    return layers


@contextmanager
def counted(layers: nn.ModuleList) -> Iterator[list[int]]:
    """Count how often each layer is run."""
    counts = [0] * len(layers)

    def count(number: int) -> Any:
        def hook(*_: Any) -> None:
            counts[number] += 1

        return hook

    hooks = [layer.register_forward_hook(count(number)) for number, layer in enumerate(layers)]
    yield counts
    for hook in hooks:
        hook.remove()


def batch_of(family: str, lengths: list[int], seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    tokenizer = loaded(family)[1]
    generator = torch.Generator().manual_seed(seed)
    ids = torch.full((len(lengths), max(lengths)), tokenizer.pad_token_id)
    for i, length in enumerate(lengths):
        ids[i, :length] = torch.randint(5, len(tokenizer), (length,), generator=generator)
    where = torch.stack([torch.tensor([0, length // 2, length - 1]) for length in lengths])
    return ids, torch.tensor(lengths), where


def hidden_states(model: Any, ids: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
    mask = torch.zeros_like(ids)
    for i, length in enumerate(lengths.tolist()):
        mask[i, :length] = 1
    return tuple(model(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("number", range(DEPTH + 1))
def test_layer_equals_the_hidden_state_of_the_model_and_later_layers_are_not_run(family: str, number: int) -> None:
    model = loaded(family)[0]
    ids, lengths, where = batch_of(family, [12, 7, 9], seed=number)
    with torch.inference_mode():
        expected = hidden_states(model, ids, lengths)
        with counted(stack(model)) as counts:
            (state,) = GenericForward(model, DEPTH).states(Layers((number,)), ids, lengths, where)
    assert counts == [1] * number + [0] * (DEPTH - number)
    assert state.shape == (3, 3, HIDDEN)
    for i in range(3):
        np.testing.assert_allclose(state[i].numpy(), expected[number][i, where[i]].numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
@given(lengths=st.lists(st.integers(1, 40), min_size=1, max_size=4), spec=st.sampled_from(["sum:3", "2", "concat:4"]))
@settings(max_examples=10)
def test_states_of_a_padded_batch_equal_those_of_each_sequence_alone(
    family: str, lengths: list[int], spec: str
) -> None:
    model = loaded(family)[0]
    ids, sizes, where = batch_of(family, lengths)
    layers = parse_layers(spec, DEPTH)
    with torch.inference_mode():
        states = GenericForward(model, DEPTH).states(layers, ids, sizes, where)
        for i, length in enumerate(lengths):
            alone = model(input_ids=ids[i : i + 1, :length], output_hidden_states=True).hidden_states
            for state, number in zip(states, layers.numbers, strict=True):
                expected = alone[number][0, where[i]].numpy()
                np.testing.assert_allclose(state[i].numpy(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_no_hook_is_left_on_the_model(family: str) -> None:
    model = loaded(family)[0]
    generic = GenericForward(model, DEPTH)
    batch = batch_of(family, [5])
    with torch.inference_mode():
        generic.states(Layers((1, 2)), *batch)
        with counted(stack(model)) as counts:
            model(input_ids=batch[0])
    assert counts == [1] * DEPTH
    assert not any(layer._forward_pre_hooks for layer in stack(model))


def test_error_of_the_model_is_raised_and_leaves_no_hook() -> None:
    model = make_model("bert")
    ids, lengths, where = batch_of("bert", [5])
    ids[0, 2] = 10_000  # the tokenizer has no such token
    with pytest.raises(IndexError):
        GenericForward(model, DEPTH).states(Layers((1,)), ids, lengths, where)
    assert not any(layer._forward_pre_hooks for layer in stack(model))


def test_only_the_last_layer_of_modernbert_has_passed_the_final_normalisation() -> None:
    model = loaded("modernbert")[0]
    ids, lengths, where = batch_of("modernbert", [14])
    with torch.inference_mode():
        output = model(input_ids=ids, output_hidden_states=True)
        (last,) = GenericForward(model, DEPTH).states(Layers((DEPTH,)), ids, lengths, where)
        (middle,) = GenericForward(model, DEPTH).states(Layers((2,)), ids, lengths, where)
        normalised = model.final_norm(output.hidden_states[2])[0, where[0]]
    torch.testing.assert_close(last[0], output.last_hidden_state[0, where[0]], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(middle[0], output.hidden_states[2][0, where[0]], rtol=1e-5, atol=1e-5)
    assert (middle[0] - normalised).abs().max() > 1e-2


def test_model_with_two_stacks_of_the_same_depth_is_run_to_its_end() -> None:
    model = make_model("bert")
    model.more = nn.ModuleList([nn.Identity() for _ in range(DEPTH)])
    ids, lengths, where = batch_of("bert", [6, 4])
    with torch.inference_mode():
        (state,) = GenericForward(model, DEPTH).states(Layers((1,)), ids, lengths, where)
        expected = hidden_states(model, ids, lengths)[1]
    torch.testing.assert_close(state, torch.stack([expected[i, where[i]] for i in range(2)]))


@pytest.mark.parametrize("family", SLOW)
def test_encoder_of_a_middle_layer_runs_only_the_layers_below_it(family: str) -> None:
    ours = encoder(family, layers=1)
    assert isinstance(ours._forward, GenericForward)
    with counted(stack(ours._forward._model)) as counts:
        ours.encode(TEXT[:1], [span_of(TEXT[0], "plane")])
    assert counts == [1, 0, 0, 0]


@pytest.mark.parametrize("family", ["deberta-v2", "modernbert"])
@pytest.mark.parametrize("depth", [1, 2])
def test_shallow_models_work(family: str, depth: int) -> None:
    model = make_model(family, depth)
    vectors = HuggingFaceEncoder(model, loaded(family)[1], layers=f"concat:{depth}").encode([TEXT[0]], [(4, 9)])
    assert vectors.shape == (1, depth * HIDDEN)
    assert np.isfinite(vectors).all()


@pytest.mark.parametrize("number", range(DEPTH + 1))
@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("albert", {"embedding_size": 16}),  # one layer that is run repeatedly
        ("camembert", {}),
        ("roformer", {"embedding_size": HIDDEN}),
        ("xlm-roberta-xl", {}),  # normalised before attention
        ("squeezebert", {"embedding_size": HIDDEN}),  # the forward methods of its layers are called directly
    ],
)
def test_models_of_other_kinds_return_their_hidden_states(kind: str, more: dict[str, Any], number: int) -> None:
    config = transformers.AutoConfig.for_model(
        kind,
        vocab_size=len(loaded("bert")[1]),
        hidden_size=HIDDEN,
        num_hidden_layers=DEPTH,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=66,
        pad_token_id=0,
        **more,
    )
    torch.manual_seed(1)
    model = transformers.AutoModel.from_config(config).eval()
    ids, lengths, where = batch_of("bert", [11, 6])
    with torch.inference_mode():
        expected = hidden_states(model, ids, lengths)[number]
        (state,) = GenericForward(model, DEPTH).states(Layers((number,)), ids, lengths, where)
    torch.testing.assert_close(state, torch.stack([expected[i, where[i]] for i in range(2)]), rtol=1e-5, atol=1e-5)
