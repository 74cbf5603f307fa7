"""Test temporal attention against loops over sequences and heads, its gradients, and saved models."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from tiny_models import (
    DEPTH,
    HIDDEN,
    TEXT,
    assert_same,
    encoder,
    loaded,
    make_config,
    make_model,
    make_tokenizer,
    span_of,
    transformers,
)
from torch import Tensor, nn

from lexshift.encode import as_encoder
from lexshift.encode.adaptation import Adaptation
from lexshift.encode.forward import GenericForward, PostNormForward
from lexshift.encode.huggingface import HuggingFaceEncoder
from lexshift.encode.layers import Layers, parse_layers
from lexshift.encode.loading import load_model
from lexshift.encode.temporal import (
    FIRST,
    KINDS,
    PADDING,
    SPECIAL,
    add_temporal_attention,
    load_temporal_attention,
    temporal_queries,
    temporal_weights,
    time_matrix,
    token_times,
)
from lexshift.errors import UserError

FAMILIES = ("bert", "roberta", "xlm-roberta", "electra", "electra-projected", "distilbert")
TIMED = Adaptation(periods=("old", "new"), attention=True)
EVERY = Layers(tuple(range(DEPTH + 1)))
SENTENCES = [*TEXT, *TEXT]
SPANS = [span_of(sentence, sentence.split()[1].strip(",")) for sentence in SENTENCES]
PERIODS = [0] * len(TEXT) + [1] * len(TEXT)


def give_time(model: Any, periods: int = 2, seed: int = 7) -> Any:
    """Add temporal attention with random weights in every parameter."""
    torch.manual_seed(seed)
    add_temporal_attention(model, periods)
    with torch.no_grad():
        for weight in temporal_weights(model.base_model).values():
            weight.normal_(0, 0.5 if weight.ndim == 2 else 0.2)
    return model.eval()


@cache
def timed(family: str) -> Any:
    """Return a shared model with temporal attention; do not modify it."""
    if family != "camembert":
        return give_time(make_model(family))
    config = make_config("roberta").to_dict()
    model = transformers.CamembertModel(transformers.CamembertConfig(**{**config, "model_type": "camembert"}))
    model.load_state_dict(make_model("roberta").state_dict())
    return give_time(model)


def timed_encoder(family: str, **options: Any) -> HuggingFaceEncoder:
    return HuggingFaceEncoder(timed(family), loaded(family)[1], adaptation=TIMED, **options)


def padded(
    family: str, lengths: Sequence[int], periods: Sequence[int], seed: int = 0
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return random token ids, the lengths of the sequences, the mask and the times."""
    tokenizer = loaded("roberta" if family == "camembert" else family)[1]
    generator = torch.Generator().manual_seed(seed)
    ids = torch.full((len(lengths), max(lengths)), tokenizer.pad_token_id)
    times = torch.full_like(ids, PADDING)
    for i, (length, period) in enumerate(zip(lengths, periods, strict=True)):
        ids[i, :length] = torch.randint(5, len(tokenizer), (length,), generator=generator)
        times[i, :length] = torch.tensor(plain_times(length, period))
    return ids, torch.tensor(lengths), (times != PADDING).long(), times


# -------------------------------------------------------------------------------------------------- slow reference


def plain_times(length: int, period: int) -> list[int]:
    """Return the times of one special token at each end and of the text."""
    return [SPECIAL if i in (0, length - 1) else FIRST + period for i in range(length)]


def plain_attention(Q: Tensor, K: Tensor, V: Tensor, T: Tensor, heads: int) -> Tensor:
    """Compute attention for one sequence without padding, one head at a time; arrays have shape (n, h)."""
    d = Q.shape[1] // heads
    norm = (T * T).sum().sqrt()
    mixed = []
    for head in range(heads):
        q, k, v, t = (X[:, head * d : (head + 1) * d] for X in (Q, K, V, T))
        scores = (q @ t.T) @ (t / norm) @ k.T / d**0.5
        weights = torch.exp(scores - scores.max(1, keepdim=True).values)
        mixed.append(weights / weights.sum(1, keepdim=True) @ v)
    return torch.cat(mixed, 1)


def plain_states(model: Any, ids: Tensor, times: Tensor) -> list[Tensor]:
    """Return the hidden states of one sequence without padding, (n, h) after each layer."""
    x = model.embeddings(input_ids=ids[None])[0]
    if hasattr(model, "embeddings_project"):
        x = model.embeddings_project(x)
    states = [x]
    if model.config.model_type == "distilbert":
        for layer in model.transformer.layer:
            a = layer.attention
            T = a.time(model.time_embeddings(times))
            mixed = plain_attention(a.q_lin(x), a.k_lin(x), a.v_lin(x), T, model.config.n_heads)
            x = layer.sa_layer_norm(a.out_lin(mixed) + x)
            x = layer.output_layer_norm(layer.ffn.lin2(F.gelu(layer.ffn.lin1(x))) + x)
            states.append(x)
        return states
    for layer in model.encoder.layer:
        a, out = layer.attention.self, layer.attention.output
        T = a.time(model.time_embeddings(times))
        mixed = plain_attention(a.query(x), a.key(x), a.value(x), T, model.config.num_attention_heads)
        x = out.LayerNorm(out.dense(mixed) + x)
        x = layer.output.LayerNorm(layer.output.dense(F.gelu(layer.intermediate.dense(x))) + x)
        states.append(x)
    return states


def assert_close(ours: Tensor, theirs: Tensor, atol: float = 1e-5) -> None:
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), rtol=0, atol=atol)


# ------------------------------------------------------------------------------------------------- attention layer


@given(
    lengths=st.lists(st.integers(1, 7), min_size=1, max_size=4),
    heads=st.integers(1, 3),
    d=st.integers(1, 5),
    words=st.integers(1, 4),
    width=st.integers(1, 6),
    seed=st.integers(0, 1000),
)
def test_attention_equals_a_loop_over_sequences_and_heads(
    lengths: list[int], heads: int, d: int, words: int, width: int, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)
    batch, n, h = len(lengths), max(lengths), heads * d
    real = torch.arange(n) < torch.tensor(lengths)[:, None]
    Q, K, V, states = (
        torch.randn(batch, rows, columns, generator=generator, dtype=torch.float64)
        for rows, columns in ((words, h), (n, h), (n, h), (n, width))
    )
    projection = nn.Linear(width, h, dtype=torch.float64)
    with torch.no_grad():
        for weight in projection.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator, dtype=torch.float64))
        T = time_matrix(projection, states, real, heads)
        q, k, v = (X.view(batch, -1, heads, d).transpose(1, 2) for X in (Q, K, V))
        queries = temporal_queries(q, T)
        mixed = F.scaled_dot_product_attention(queries, k, v, attn_mask=real[:, None, None, :])
        assert T.shape == (batch, heads, n, d)
        assert queries.shape == q.shape
        for i, length in enumerate(lengths):
            plain = states[i, :length] @ projection.weight.T + projection.bias
            for head in range(heads):
                part = plain[:, head * d : (head + 1) * d]
                assert_close(T[i, head, :length], part, 1e-12)
                expected = q[i, head] @ part.T @ part / (plain**2).sum().sqrt()
                assert_close(queries[i, head], expected, 1e-10)
            expected = plain_attention(Q[i], K[i, :length], V[i, :length], plain, heads)
            assert_close(mixed[i].transpose(0, 1).reshape(words, h), expected, 1e-10)
        assert (T.transpose(1, 2)[~real] == 0).all()


@pytest.mark.parametrize(
    ("periods", "lengths", "ends", "expected"),
    [
        ([0, 1], [5, 4], (1, 1), [[1, 2, 2, 2, 1], [1, 3, 3, 1, 0]]),
        ([2], [3], (1, 1), [[1, 4, 1]]),
        ([1, 0, 1], [2, 4, 3], (1, 1), [[1, 1, 0, 0], [1, 2, 2, 1], [1, 3, 1, 0]]),
        ([0, 1], [3, 2], (0, 0), [[2, 2, 2], [3, 3, 0]]),
        ([0, 1], [3, 4], (2, 0), [[1, 1, 2, 0], [1, 1, 3, 3]]),
        ([1, 0], [4, 2], (0, 1), [[3, 3, 3, 1], [2, 1, 0, 0]]),
    ],
)
def test_times_cover_the_text_special_tokens_and_padding(
    periods: list[int], lengths: list[int], ends: tuple[int, int], expected: list[list[int]]
) -> None:
    times = token_times(periods, np.array(lengths), ends)
    assert times.dtype == np.int64
    assert times.tolist() == expected


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(2, 9)), min_size=1, max_size=6))
def test_times_of_any_sequences_equal_the_reference(sequences: list[tuple[int, int]]) -> None:
    periods, lengths = (list(part) for part in zip(*sequences, strict=True))
    times = token_times(periods, np.array(lengths), (1, 1)).tolist()
    for row, (period, length) in zip(times, sequences, strict=True):
        assert row == plain_times(length, period) + [PADDING] * (max(lengths) - length)


# ------------------------------------------------------------------------------------------------------- gradients


@pytest.mark.parametrize("lengths", [[4, 2, 1], [3, 3]], ids=["padded", "even"])
def test_gradients_of_the_queries_equal_finite_differences(lengths: list[int]) -> None:
    torch.manual_seed(0)
    heads, d, n, words, width = 2, 3, max(lengths), 2, 4
    real = torch.arange(n) < torch.tensor(lengths)[:, None]

    def queries(q: Tensor, states: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        projection = nn.Linear(width, heads * d, dtype=torch.float64)
        del projection.weight, projection.bias
        projection.weight, projection.bias = weight, bias  # type: ignore[assignment]
        return temporal_queries(q, time_matrix(projection, states, real, heads))

    shapes = ((len(lengths), heads, words, d), (len(lengths), n, width), (heads * d, width), (heads * d,))
    inputs = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    assert torch.autograd.gradcheck(queries, inputs)


@pytest.mark.parametrize("family", ["bert", "distilbert"])
def test_gradients_of_the_loss_equal_the_reference_and_finite_differences(family: str) -> None:
    model = copy.deepcopy(timed(family)).double()
    lengths, periods = [6, 9, 4], [0, 1, 1]
    ids, _, mask, times = padded(family, lengths, periods)
    torch.manual_seed(1)
    targets = torch.randn(len(lengths), max(lengths), HIDDEN, dtype=torch.float64)

    def plain_loss() -> Tensor:
        total = torch.zeros((), dtype=torch.float64)
        for i, length in enumerate(lengths):
            total = total + (plain_states(model, ids[i, :length], times[i, :length])[-1] * targets[i, :length]).sum()
        return total

    hidden = model(input_ids=ids, attention_mask=mask, times=times).last_hidden_state
    loss = (hidden * targets)[mask.bool()].sum()
    assert_close(loss, plain_loss(), 1e-8)
    query = next(name for name, _ in model.named_parameters() if name.endswith(("query.weight", "q_lin.weight")))
    wanted = {**temporal_weights(model), query: model.get_parameter(query)}
    assert len(wanted) == 2 + 2 * DEPTH
    gradients = torch.autograd.grad(loss, list(wanted.values()))
    plain = torch.autograd.grad(plain_loss(), list(wanted.values()))
    step, chosen = 1e-5, torch.Generator().manual_seed(2)
    for (name, weight), ours, theirs in zip(wanted.items(), gradients, plain, strict=True):
        assert_close(ours, theirs, 1e-7)
        assert ours.abs().max() > 1e-3, name
        used = (ours.abs() > 0).flatten().nonzero().flatten()
        for at in used[torch.randperm(len(used), generator=chosen)[:2]].tolist():
            values = []
            for sign in (1, -1):
                with torch.no_grad():
                    weight.view(-1)[at] += sign * step
                    values.append(float(plain_loss()))
                    weight.view(-1)[at] -= sign * step
            assert (values[0] - values[1]) / (2 * step) == pytest.approx(float(ours.view(-1)[at]), rel=1e-4, abs=1e-6)


def test_padding_embedding_has_no_gradient_and_no_influence() -> None:
    model = copy.deepcopy(timed("bert"))
    ids, _, mask, times = padded("bert", [5, 9], [0, 1])
    before = model(input_ids=ids, attention_mask=mask, times=times).last_hidden_state
    before[mask.bool()].square().sum().backward()
    gradient = model.time_embeddings.weight.grad
    assert (gradient[PADDING] == 0).all()
    assert (gradient[SPECIAL:].abs().amax(1) > 0).all()
    with torch.no_grad():
        model.time_embeddings.weight[PADDING] += 100
        after = model(input_ids=ids, attention_mask=mask, times=times).last_hidden_state
    assert_close(after[mask.bool()], before[mask.bool()])


def test_gradients_at_a_time_of_zero_are_finite() -> None:
    q = torch.randn(1, 2, 3, 4, requires_grad=True)
    T = torch.zeros(1, 2, 5, 4, requires_grad=True)
    queries = temporal_queries(q, T)
    assert (queries == 0).all()
    assert all(torch.isfinite(gradient).all() for gradient in torch.autograd.grad(queries.sum(), (q, T)))


# ---------------------------------------------------------------------------------------------------- whole models


@pytest.mark.parametrize("family", [*FAMILIES, "camembert"])
@settings(max_examples=6)
@given(
    sequences=st.lists(st.tuples(st.integers(2, 20), st.integers(0, 1)), min_size=1, max_size=4),
    seed=st.integers(0, 1000),
)
def test_every_layer_of_both_paths_equals_the_reference(
    family: str, sequences: list[tuple[int, int]], seed: int
) -> None:
    model = timed(family)
    lengths, periods = (list(part) for part in zip(*sequences, strict=True))
    ids, sizes, _, times = padded(family, lengths, periods, seed)
    where = torch.stack([torch.tensor([0, length // 2, length - 1, length // 3]) for length in lengths])
    with torch.inference_mode():
        fast = PostNormForward.from_model(model)
        assert fast is not None
        found = [path.states(EVERY, ids, sizes, where, times) for path in (fast, GenericForward(model, DEPTH))]
        for i, length in enumerate(lengths):
            expected = plain_states(model, ids[i, :length], times[i, :length])
            for states in found:
                for ours, theirs in zip(states, expected, strict=True):
                    assert_close(ours[i], theirs[where[i]])


@settings(max_examples=10)
@given(heads=st.sampled_from([1, 2, 3]), d=st.integers(1, 6), periods=st.integers(1, 4), data=st.data())
def test_models_of_any_shape_equal_the_reference(heads: int, d: int, periods: int, data: st.DataObject) -> None:
    config = make_config("bert", depth=2)
    config.hidden_size, config.num_attention_heads = heads * d, heads
    torch.manual_seed(d)
    model = give_time(transformers.BertModel(config), periods)
    lengths = data.draw(st.lists(st.integers(2, 9), min_size=1, max_size=3))
    chosen = data.draw(st.lists(st.integers(0, periods - 1), min_size=len(lengths), max_size=len(lengths)))
    ids, _, mask, times = padded("bert", lengths, chosen)
    with torch.inference_mode():
        hidden = model(input_ids=ids, attention_mask=mask, times=times).last_hidden_state
        for i, length in enumerate(lengths):
            assert_close(hidden[i, :length], plain_states(model, ids[i, :length], times[i, :length])[-1])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("layers", ["mean:4", 2, "concat:2"])
def test_vectors_equal_the_reference_in_any_batch_and_on_the_fast_path(family: str, layers: str | int) -> None:
    model, tokenizer = timed(family), loaded(family)[1]
    many = timed_encoder(family, layers=layers, batch_tokens=100_000)
    assert isinstance(many._forward, PostNormForward)
    vectors = many.encode(SENTENCES, SPANS, periods=PERIODS)
    assert_same(vectors, timed_encoder(family, layers=layers, batch_tokens=1).encode(SENTENCES, SPANS, periods=PERIODS))
    chosen = parse_layers(layers, DEPTH)
    rows = []
    for sentence, (start, end), period in zip(SENTENCES, SPANS, PERIODS, strict=True):
        made = tokenizer(sentence, return_offsets_mapping=True)
        ids = torch.tensor(made["input_ids"])
        with torch.inference_mode():
            states = plain_states(model, ids, torch.tensor(plain_times(len(ids), period)))
        taken = [states[number] for number in chosen.numbers]
        combined = torch.cat(taken, 1) if chosen.how == "concat" else torch.stack(taken).mean(0)
        pieces = [i for i, (a, b) in enumerate(made["offset_mapping"]) if set(range(a, b)) & set(range(start, end))]
        rows.append(combined[pieces].mean(0).numpy())
    assert_same(vectors, np.array(rows))


@pytest.mark.parametrize("family", FAMILIES)
def test_periods_give_different_vectors_and_order_does_not_matter(family: str) -> None:
    ours = timed_encoder(family)
    vectors = ours.encode(SENTENCES, SPANS, periods=PERIODS)
    old, new = vectors[: len(TEXT)], vectors[len(TEXT) :]
    assert (np.abs(old - new).max(1) > 1e-2).all()
    swapped = ours.encode(SENTENCES, SPANS, periods=[1 - period for period in PERIODS])
    assert_same(swapped, np.concatenate([new, old]))
    order = np.random.default_rng(0).permutation(len(SENTENCES))
    shuffled = ours.encode(
        [SENTENCES[i] for i in order], [SPANS[i] for i in order], periods=[PERIODS[i] for i in order]
    )
    assert_same(shuffled, vectors[order])


@pytest.mark.parametrize("family", FAMILIES)
def test_model_with_a_head_and_its_body_have_the_same_hidden_states(family: str) -> None:
    head = with_head(family)
    ids, sizes, mask, times = padded(family, [7, 4], [0, 1])
    with torch.inference_mode():
        output = head(input_ids=ids, attention_mask=mask, times=times, output_hidden_states=True)
        for i, length in enumerate(sizes.tolist()):
            expected = plain_states(timed(family), ids[i, :length], times[i, :length])
            for ours, theirs in zip(output.hidden_states, expected, strict=True):
                assert_close(ours[i, :length], theirs)


# ------------------------------------------------------------------------------------------------- times of zero


@pytest.mark.parametrize("family", FAMILIES)
def test_with_times_of_zero_attention_is_uniform_and_differs_from_the_untimed_model(family: str) -> None:
    zero, even = copy.deepcopy(timed(family)), make_model(family)
    with torch.no_grad():
        for name, weight in zero.named_parameters():
            if name.endswith((".time.weight", ".time.bias")):
                weight.zero_()
        for name, weight in even.named_parameters():
            if ".query." in name or ".q_lin." in name:
                weight.zero_()
    tokenizer = loaded(family)[1]
    ours = HuggingFaceEncoder(zero, tokenizer, adaptation=TIMED).encode(SENTENCES, SPANS, periods=PERIODS)
    assert_same(ours, HuggingFaceEncoder(even, tokenizer).encode(SENTENCES, SPANS))
    plain = encoder(family).encode(SENTENCES, SPANS)
    assert (np.abs(ours - plain).max(1) > 1e-2).all()
    ids, _, mask, times = padded(family, [6, 9], [0, 1])
    with torch.inference_mode():
        hidden = zero(input_ids=ids, attention_mask=mask, times=times).last_hidden_state
        expected = even(input_ids=ids, attention_mask=mask).last_hidden_state
    assert_close(hidden[mask.bool()], expected[mask.bool()])


# -------------------------------------------------------------------------------------------------- saved models


def with_head(family: str) -> Any:
    """Return the model with a head that predicts words."""
    head = transformers.AutoModelForMaskedLM.from_config(make_config(family))
    setattr(head, head.base_model_prefix, copy.deepcopy(timed(family)))
    head.tie_weights()
    return head.eval()


def save(model: Any, family: str, folder: Path, adaptation: Adaptation = TIMED) -> Path:
    model.save_pretrained(folder)
    make_tokenizer(family).save_pretrained(folder)
    adaptation.save(folder)
    return folder


@pytest.mark.parametrize("head", [False, True], ids=["body", "with a head"])
@pytest.mark.parametrize("family", FAMILIES)
def test_saved_model_gives_the_same_vectors(family: str, head: bool, tmp_path: Path) -> None:
    save(with_head(family) if head else copy.deepcopy(timed(family)), family, tmp_path)
    kept = load_file(tmp_path / "model.safetensors")
    assert sum("time_embeddings.weight" in key for key in kept) == 1
    assert any(key == "time_embeddings.weight" for key in kept) != head
    model, _, adaptation = load_model(tmp_path)
    assert adaptation == TIMED
    ours, theirs = temporal_weights(model), temporal_weights(timed(family))
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[name], theirs[name]) for name in theirs)
    again = as_encoder(tmp_path)
    assert isinstance(again, HuggingFaceEncoder)
    assert again.periods == ("old", "new")
    assert isinstance(again._forward, PostNormForward)
    expected = timed_encoder(family).encode(SENTENCES, SPANS, periods=PERIODS)
    assert_same(again.encode(SENTENCES, SPANS, periods=PERIODS), expected)
    other = as_encoder(tmp_path)
    assert isinstance(other, HuggingFaceEncoder)
    assert other.settings == again.settings
    assert again.settings["periods"] == ["old", "new"]
    assert again.settings["time"] == ["attention"]


def test_sharded_weights_are_found(tmp_path: Path) -> None:
    model = copy.deepcopy(timed("bert"))
    model.save_pretrained(tmp_path, max_shard_size="50KB")
    make_tokenizer("bert").save_pretrained(tmp_path)
    TIMED.save(tmp_path)
    assert len(list(tmp_path.glob("*.safetensors"))) > 2
    again = as_encoder(tmp_path)
    assert isinstance(again, HuggingFaceEncoder)
    expected = timed_encoder("bert").encode(SENTENCES, SPANS, periods=PERIODS)
    assert_same(again.encode(SENTENCES, SPANS, periods=PERIODS), expected)


def test_changed_time_embedding_changes_the_settings() -> None:
    changed = copy.deepcopy(timed("bert"))
    with torch.no_grad():
        changed.time_embeddings.weight[FIRST, 0] += 1e-6
    base = timed_encoder("bert")
    other = HuggingFaceEncoder(changed, loaded("bert")[1], adaptation=TIMED)
    assert other.settings == base.settings | {"weights": other.weights}
    assert other.weights != base.weights


@pytest.mark.parametrize("lacking", ["time_embeddings.weight", "layer.2.attention.self.time.bias", "time"])
def test_folder_without_temporal_weights_is_refused(lacking: str, tmp_path: Path) -> None:
    save(copy.deepcopy(timed("bert")), "bert", tmp_path)
    file = tmp_path / "model.safetensors"
    weights = load_file(file)
    save_file({key: value for key, value in weights.items() if lacking not in key}, file, metadata={"format": "pt"})
    with pytest.raises(UserError, match=rf"{tmp_path}.* lacks weights of its temporal attention \(.*time.*\)$"):
        load_model(tmp_path)


def test_model_without_temporal_attention_is_refused(tmp_path: Path) -> None:
    save(make_model("bert"), "bert", tmp_path)
    with pytest.raises(UserError, match=r"lacks weights of its temporal attention \(.*time.*weight\)"):
        as_encoder(tmp_path)


def test_weights_for_another_number_of_periods_are_refused(tmp_path: Path) -> None:
    three = Adaptation(periods=("a", "b", "c"), attention=True)
    save(copy.deepcopy(timed("bert")), "bert", tmp_path, three)
    with pytest.raises(UserError, match=r"lacks weights of its temporal attention \(time_embeddings.weight\)"):
        load_model(tmp_path)


def test_weights_are_loaded_into_an_existing_model(tmp_path: Path) -> None:
    save(copy.deepcopy(timed("bert")), "bert", tmp_path)
    model = make_model("bert")
    load_temporal_attention(model, tmp_path, 2)
    ours = HuggingFaceEncoder(model, loaded("bert")[1], adaptation=TIMED)
    expected = timed_encoder("bert").encode(SENTENCES, SPANS, periods=PERIODS)
    assert_same(ours.encode(SENTENCES, SPANS, periods=PERIODS), expected)


@pytest.mark.parametrize("family", ["mpnet", "deberta", "deberta-v2", "modernbert"])
def test_unsupported_families_are_refused_with_the_supported_ones(family: str, tmp_path: Path) -> None:
    kinds = ", ".join(KINDS)
    with pytest.raises(
        UserError, match=f"temporal attention supports models of the types {kinds}; this one is {family}"
    ):
        add_temporal_attention(make_model(family), 2)
    save(make_model(family), family, tmp_path)
    with pytest.raises(
        UserError, match=f"temporal attention supports models of the types {kinds}; this one is {family}"
    ):
        as_encoder(tmp_path)
