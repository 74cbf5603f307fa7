"""Forward passes that return the hidden states of chosen layers at chosen positions.

:class:`GenericForward` runs the forward pass of any model, and stops it after the last layer that is needed.

:class:`PostNormForward` runs BERT and similar models, and computes only what is used. Each layer of these models is
attention, add and normalise, feed forward, add and normalise. Steps that the library performs separately are merged:
one product for queries, keys and values; additions and the activation in place; and in the last layer that is needed,
only the rows of the requested words. On a CPU, weights in single precision are packed once for the products of oneDNN.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from operator import attrgetter
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lexshift.encode.layers import Layers
from lexshift.encode.temporal import PADDING, temporal_queries, time_matrix

_BERT_LIKE = ("bert", "roberta", "xlm-roberta", "camembert", "electra")
Product = Callable[[Tensor], Tensor]  # multiply rows by a weight matrix and add a bias: (n, in) to (n, out)
Times = tuple[Tensor, Tensor]  # embeddings of the times of tokens, (batch, n, h), and which tokens are not padding

_FEED_FORWARD = ("intermediate.dense", "intermediate.intermediate_act_fn", "output.dense", "output.LayerNorm")
_PARTS = {  # of a layer: query, key, value, output and normalisation of attention; up, activation, down, normalisation
    "bert": attrgetter(
        *(f"attention.self.{name}" for name in ("query", "key", "value")),
        *("attention.output.dense", "attention.output.LayerNorm", *_FEED_FORWARD),
    ),
    "mpnet": attrgetter(*(f"attention.attn.{name}" for name in "qkvo"), "attention.LayerNorm", *_FEED_FORWARD),
    "distilbert": attrgetter(
        *(f"attention.{name}_lin" for name in ("q", "k", "v", "out")),
        *("sa_layer_norm", "ffn.lin1", "ffn.activation", "ffn.lin2", "output_layer_norm"),
    ),
}


@cache
def _has_packed_products() -> bool:
    """Return whether this build of torch multiplies by packed weights."""
    if not torch.backends.mkldnn.is_available():
        return False
    try:
        weight = torch.ops.mkldnn._reorder_linear_weight(torch.ones(2, 2))
        result = torch.ops.mkldnn._linear_pointwise(torch.ones(1, 2), weight, torch.ones(2), "none", [], "")
    except (AttributeError, NotImplementedError):  # these operators are not part of torch's public interface
        return False
    return bool((result == 3).all())


def make_product(weight: Tensor, bias: Tensor) -> Product:
    """Return the product with a weight matrix, (out, in), plus a bias, (out,).

    Packed weights are multiplied by oneDNN instead of the library that torch uses by default, which on some processors
    is half as fast (``benchmarks/bench_peers.py``).
    """
    if weight.device.type == "cpu" and weight.dtype == torch.float32 and _has_packed_products():
        packed = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous())
        return partial(_multiply_packed, packed, bias.contiguous())
    return partial(F.linear, weight=weight, bias=bias)


def _multiply_packed(weight: Tensor, bias: Tensor, x: Tensor) -> Tensor:
    product: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return product


@dataclass(frozen=True)
class _Layer:
    """The weights of one layer; h is the hidden size, f the feed-forward size."""

    attention_in: Tensor  # (3h, h): query, key, value
    attention_in_bias: Tensor  # (3h,)
    attention_out: Product
    attention_norm: nn.LayerNorm
    up: Product  # h to f
    activation: Callable[[Tensor], Tensor]
    down: Product  # f to h
    norm: nn.LayerNorm
    heads: int
    time: nn.Linear | None  # of temporal attention

    @cached_property
    def _queries_keys_values(self) -> Product:
        return make_product(self.attention_in, self.attention_in_bias)

    @cached_property
    def _queries(self) -> Product:
        h = self.attention_in.shape[1]
        return make_product(self.attention_in[:h], self.attention_in_bias[:h])

    @cached_property
    def _keys_values(self) -> Product:
        h = self.attention_in.shape[1]
        return make_product(self.attention_in[h:], self.attention_in_bias[h:])

    def __call__(self, x: Tensor, batch: int, mask: Tensor | None, times: Times | None) -> Tensor:
        """Compute all rows: (batch * length, h) to the same shape."""
        h = x.shape[1]
        qkv = self._queries_keys_values(x)
        q, k, v = qkv.view(batch, -1, 3, self.heads, h // self.heads).permute(2, 0, 3, 1, 4)  # (b, heads, n, h/heads)
        context = F.scaled_dot_product_attention(self._apply_times(q, times), k, v, attn_mask=mask)
        return self._apply_feed_forward(context.transpose(1, 2).reshape(-1, h), x)

    def rows_at(self, x: Tensor, batch: int, mask: Tensor | None, times: Times | None, where: Tensor) -> Tensor:
        """Compute the rows at the positions ``where``, (batch, words), of each sequence: (batch * words, h)."""
        h = x.shape[1]
        kv = self._keys_values(x)
        k, v = kv.view(batch, -1, 2, self.heads, h // self.heads).permute(2, 0, 3, 1, 4)
        length = k.shape[2]
        rows = (where + length * torch.arange(batch, device=x.device)[:, None]).view(-1)
        x = x[rows]
        q = self._queries(x)
        q = q.view(batch, -1, self.heads, h // self.heads).transpose(1, 2)  # (b, heads, words, h/heads)
        if mask is not None and mask.shape[2] > 1:  # the mask depends on the position of the query
            mask = mask.expand(batch, -1, -1, -1).gather(
                2, where[:, None, :, None].expand(-1, mask.shape[1], -1, mask.shape[3])
            )
        context = F.scaled_dot_product_attention(self._apply_times(q, times), k, v, attn_mask=mask)
        return self._apply_feed_forward(context.transpose(1, 2).reshape(-1, h), x)

    def _apply_times(self, q: Tensor, times: Times | None) -> Tensor:
        if self.time is None or times is None:
            return q
        return temporal_queries(q, time_matrix(self.time, *times, self.heads))

    def _apply_feed_forward(self, context: Tensor, x: Tensor) -> Tensor:
        x = self.attention_norm(self.attention_out(context).add_(x))
        return self.norm(self.down(self.activation(self.up(x))).add_(x))


class PostNormForward:
    """The layers of BERT or a similar model; :meth:`from_model` returns None for other models."""

    def __init__(self, model: Any, kind: str) -> None:
        self._embeddings = model.embeddings
        self._project = getattr(model, "embeddings_project", None)
        self._position_bias = getattr(getattr(model, "encoder", None), "compute_position_bias", None)
        self._times = getattr(model, "time_embeddings", None)
        stack = (model.transformer if kind == "distilbert" else model.encoder).layer
        times = [module.time for module in model.modules() if isinstance(getattr(module, "time", None), nn.Linear)]
        heads = int(model.config.num_attention_heads)
        self._layers = [
            _make_layer(_PARTS[kind](layer), time, heads)
            for layer, time in zip(stack, times or [None] * len(stack), strict=True)
        ]

    @classmethod
    def from_model(cls, model: Any) -> PostNormForward | None:
        """Return the fast forward pass of a model, or None if its architecture is not supported."""
        kind = getattr(model.config, "model_type", "")
        if kind in _BERT_LIKE:
            kind = "" if getattr(model.config, "is_decoder", False) else "bert"
        return cls(model, kind) if kind in _PARTS else None

    def states(
        self, layers: Layers, ids: Tensor, lengths: Tensor, where: Tensor, times: Tensor | None = None
    ) -> list[Tensor]:
        """Return the hidden states of the layers at the positions ``where``, each (batch, words, h).

        ids : (batch, length), padded; lengths : (batch,); where : (batch, words); times : (batch, length), for
        temporal attention
        """
        batch, length = ids.shape
        x = self._embeddings(input_ids=ids)
        if self._project is not None:
            x = self._project(x)
        mask = self._mask(x, lengths)
        timed = None if times is None or self._times is None else (self._times(times), times != PADDING)
        h = x.shape[-1]
        x = x.reshape(batch * length, h)
        rows = (where + length * torch.arange(batch, device=ids.device)[:, None]).view(-1)
        states = [x[rows]] if layers.numbers[0] == 0 else []
        for number, layer in enumerate(self._layers[: layers.deepest], 1):
            if number == layers.deepest:
                states.append(layer.rows_at(x, batch, mask, timed, where))
                break
            x = layer(x, batch, mask, timed)
            if number in layers.numbers:
                states.append(x[rows])
        return [state.view(batch, -1, h) for state in states]

    def _mask(self, x: Tensor, lengths: Tensor) -> Tensor | None:
        """Return the mask of attention, (batch or 1, heads or 1, length or 1, length), boolean or additive, or None."""
        length = x.shape[1]
        is_token = None
        if int(lengths.min()) < length:
            is_token = (torch.arange(length, device=x.device) < lengths[:, None])[:, None, None, :]
        if self._position_bias is None:
            return is_token
        bias = self._position_bias(x)[:1].to(x.dtype)  # (1, heads, length, length)
        return bias if is_token is None else bias.masked_fill(~is_token, float("-inf"))


def _make_layer(parts: tuple[Any, ...], time: nn.Linear | None, heads: int) -> _Layer:
    q, k, v, attention_out, attention_norm, up, activation, down, norm = parts
    weight = torch.cat([q.weight, k.weight, v.weight]).detach()
    bias = torch.cat([q.bias, k.bias, v.bias]).detach()
    x = torch.linspace(-4, 4, 33)
    if torch.equal(activation(x), F.gelu(x)):
        activation = torch.ops.aten.gelu_
    attention_out, up, down = (
        make_product(part.weight.detach(), part.bias.detach()) for part in (attention_out, up, down)
    )
    return _Layer(weight, bias, attention_out, attention_norm, up, activation, down, norm, heads, time)


class _ForwardStoppedError(Exception):
    """Raised by a hook to stop the forward pass when the remaining layers are not needed."""


class GenericForward:
    """The forward pass of any model, stopped after the last layer that is needed."""

    def __init__(self, model: Any, depth: int) -> None:
        self._model = model
        stacks = [m for m in model.modules() if isinstance(m, nn.ModuleList) and len(m) == depth]
        self._layers = stacks[0] if len(stacks) == 1 else None

    def states(
        self, layers: Layers, ids: Tensor, lengths: Tensor, where: Tensor, times: Tensor | None = None
    ) -> list[Tensor]:
        """Return the hidden states of the layers at the positions ``where``, each (batch, words, h).

        ids : (batch, length), padded; lengths : (batch,); where : (batch, words); times : (batch, length), for
        temporal attention
        """
        mask = (torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]).long()
        inputs = {"input_ids": ids, "attention_mask": mask}
        hidden = self._run(layers, inputs if times is None else {**inputs, "times": times})
        batch = torch.arange(len(ids), device=ids.device)[:, None]
        return [hidden[number][batch, where] for number in layers.numbers]

    def _run(self, layers: Layers, inputs: dict[str, Tensor]) -> dict[int, Tensor]:
        if self._layers is None or layers.deepest == len(self._layers):
            # The last hidden state may include a final normalisation, which only the model's own output has.
            output = self._model(**inputs, output_hidden_states=True)
            return dict(enumerate(output.hidden_states))
        states: dict[int, Tensor] = {}
        hooks = []
        output = None
        for number, layer in enumerate(self._layers):
            if number in layers.numbers or number == layers.deepest:  # the state before this layer
                save_state = _make_hook(states, number, number == layers.deepest)
                hooks.append(layer.register_forward_pre_hook(save_state, with_kwargs=True))
        try:
            output = self._model(**inputs, output_hidden_states=True)
        except _ForwardStoppedError:
            pass
        finally:
            for hook in hooks:
                hook.remove()
        # Some models run their layers in a way that bypasses hooks; then the forward pass was completed.
        return states if output is None else dict(enumerate(output.hidden_states))


def _make_hook(states: dict[int, Tensor], number: int, last: bool) -> Any:
    def hook(_module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        states[number] = args[0] if args else kwargs["hidden_states"]
        if last:
            raise _ForwardStoppedError

    return hook
