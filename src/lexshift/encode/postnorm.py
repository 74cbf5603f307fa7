"""BERT and the models built like it, run with nothing computed that is not used.

Each layer of these models is attention, add and normalise, feed forward, add and normalise. What the library's own
forward pass does in separate steps is done here in few: one product for queries, keys and values; additions and the
activation in place; and of the last layer that is needed, only the rows of the words asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lexshift.encode.layers import Layers
from lexshift.encode.temporal import PADDING, temporal_queries, time_matrix

_BERT_LIKE = ("bert", "roberta", "xlm-roberta", "camembert", "electra")
Parts = tuple[nn.Linear, nn.Linear, nn.Linear, nn.Linear, nn.LayerNorm, nn.Linear, Any, nn.Linear, nn.LayerNorm]
Times = tuple[Tensor, Tensor]  # embeddings of the times of tokens, (batch, n, h), and which tokens are none of padding


@dataclass(frozen=True)
class _Layer:
    """The weights of one layer; h is the hidden size, f the feed-forward size."""

    attention_in: Tensor  # (3h, h): query, key, value
    attention_in_bias: Tensor  # (3h,)
    attention_out: nn.Linear
    attention_norm: nn.LayerNorm
    up: nn.Linear  # h to f
    activation: Callable[[Tensor], Tensor]
    down: nn.Linear  # f to h
    norm: nn.LayerNorm
    heads: int
    time: nn.Linear | None  # of temporal attention

    def __call__(self, x: Tensor, batch: int, mask: Tensor | None, times: Times | None) -> Tensor:
        """All rows: (batch * length, h) to the same."""
        h = x.shape[1]
        qkv = F.linear(x, self.attention_in, self.attention_in_bias)
        q, k, v = qkv.view(batch, -1, 3, self.heads, h // self.heads).permute(2, 0, 3, 1, 4)  # (b, heads, n, h/heads)
        mixed = F.scaled_dot_product_attention(self._timed(q, times), k, v, attn_mask=mask)
        return self._after_attention(mixed.transpose(1, 2).reshape(-1, h), x)

    def at(self, x: Tensor, batch: int, mask: Tensor | None, times: Times | None, where: Tensor) -> Tensor:
        """The rows at positions ``where``, (batch, words), of each sequence: (batch * words, h)."""
        h = x.shape[1]
        kv = F.linear(x, self.attention_in[h:], self.attention_in_bias[h:])
        k, v = kv.view(batch, -1, 2, self.heads, h // self.heads).permute(2, 0, 3, 1, 4)
        length = k.shape[2]
        rows = (where + length * torch.arange(batch, device=x.device)[:, None]).view(-1)
        x = x[rows]
        q = F.linear(x, self.attention_in[:h], self.attention_in_bias[:h])
        q = q.view(batch, -1, self.heads, h // self.heads).transpose(1, 2)  # (b, heads, words, h/heads)
        if mask is not None and mask.shape[2] > 1:  # it depends on the position that asks
            mask = mask.expand(batch, -1, -1, -1).gather(
                2, where[:, None, :, None].expand(-1, mask.shape[1], -1, mask.shape[3])
            )
        mixed = F.scaled_dot_product_attention(self._timed(q, times), k, v, attn_mask=mask)
        return self._after_attention(mixed.transpose(1, 2).reshape(-1, h), x)

    def _timed(self, q: Tensor, times: Times | None) -> Tensor:
        if self.time is None or times is None:
            return q
        return temporal_queries(q, time_matrix(self.time, *times, self.heads))

    def _after_attention(self, mixed: Tensor, x: Tensor) -> Tensor:
        x = self.attention_norm(self.attention_out(mixed).add_(x))
        return self.norm(self.down(self.activation(self.up(x))).add_(x))


class PostNorm:
    """The layers of a model of this kind; :meth:`of` makes one where it can."""

    def __init__(self, model: Any, parts: list[Parts], heads: int) -> None:
        self._embeddings = model.embeddings
        self._project = getattr(model, "embeddings_project", None)
        self._position_bias = getattr(getattr(model, "encoder", None), "compute_position_bias", None)
        self._times = getattr(model, "time_embeddings", None)
        self._layers = [_layer(part, time, heads) for part, time in zip(parts, _times(model, len(parts)), strict=True)]

    @classmethod
    def of(cls, model: Any) -> PostNorm | None:
        """The fast form of a model, or None if the model is not of this kind, or is but computes something else."""
        kind = getattr(model.config, "model_type", "")
        if kind in _BERT_LIKE and not getattr(model.config, "is_decoder", False):
            parts = [_bert_parts(layer) for layer in model.encoder.layer]
            heads = model.config.num_attention_heads
        elif kind == "mpnet":
            parts = [_mpnet_parts(layer) for layer in model.encoder.layer]
            heads = model.config.num_attention_heads
        elif kind == "distilbert":
            parts = [_distilbert_parts(layer) for layer in model.transformer.layer]
            heads = model.config.n_heads
        else:
            return None
        return cls(model, parts, heads)

    def states(
        self, ids: Tensor, lengths: Tensor, where: Tensor, layers: Layers, times: Tensor | None = None
    ) -> list[Tensor]:
        """The hidden states of the layers at the positions ``where``, each (batch, words, h).

        ids : (batch, length), padded; lengths : (batch,); where : (batch, words); times : (batch, length), of
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
        found = [x[rows]] if layers.numbers[0] == 0 else []
        for number, layer in enumerate(self._layers[: layers.deepest], 1):
            if number == layers.deepest:
                found.append(layer.at(x, batch, mask, timed, where))
                break
            x = layer(x, batch, mask, timed)
            if number in layers.numbers:
                found.append(x[rows])
        return [state.view(batch, -1, h) for state in found]

    def _mask(self, x: Tensor, lengths: Tensor) -> Tensor | None:
        """What attention may see: (batch or 1, heads or 1, length or 1, length), True or to be added; None for all."""
        length = x.shape[1]
        seen = None
        if int(lengths.min()) < length:
            seen = (torch.arange(length, device=x.device) < lengths[:, None])[:, None, None, :]
        if self._position_bias is None:
            return seen
        bias = self._position_bias(x)[:1].to(x.dtype)  # (1, heads, length, length)
        return bias if seen is None else bias.masked_fill(~seen, float("-inf"))


def _times(model: Any, depth: int) -> list[nn.Linear] | list[None]:
    """The projections of temporal attention, one for each layer."""
    found = [module.time for module in model.modules() if isinstance(getattr(module, "time", None), nn.Linear)]
    return found or [None] * depth


def _layer(parts: Parts, time: nn.Linear | None, heads: int) -> _Layer:
    q, k, v, attention_out, attention_norm, up, activation, down, norm = parts
    weight = torch.cat([q.weight, k.weight, v.weight]).detach()
    bias = torch.cat([q.bias, k.bias, v.bias]).detach()
    if _is_exact_gelu(activation):
        activation = torch.ops.aten.gelu_
    return _Layer(weight, bias, attention_out, attention_norm, up, activation, down, norm, heads, time)


def _is_exact_gelu(activation: Callable[[Tensor], Tensor]) -> bool:
    x = torch.linspace(-4, 4, 33)
    return bool(torch.equal(activation(x), F.gelu(x)))


def _bert_parts(layer: Any) -> Parts:
    inner, outer = layer.attention.self, layer.attention.output
    return (
        inner.query,
        inner.key,
        inner.value,
        outer.dense,
        outer.LayerNorm,
        layer.intermediate.dense,
        layer.intermediate.intermediate_act_fn,
        layer.output.dense,
        layer.output.LayerNorm,
    )


def _mpnet_parts(layer: Any) -> Parts:
    inner = layer.attention.attn
    return (
        inner.q,
        inner.k,
        inner.v,
        inner.o,
        layer.attention.LayerNorm,
        layer.intermediate.dense,
        layer.intermediate.intermediate_act_fn,
        layer.output.dense,
        layer.output.LayerNorm,
    )


def _distilbert_parts(layer: Any) -> Parts:
    inner = layer.attention
    return (
        inner.q_lin,
        inner.k_lin,
        inner.v_lin,
        inner.out_lin,
        layer.sa_layer_norm,
        layer.ffn.lin1,
        layer.ffn.activation,
        layer.ffn.lin2,
        layer.output_layer_norm,
    )
