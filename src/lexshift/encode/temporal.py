"""Temporal attention (Rosin and Radinsky 2022), which depends on the time of a text.

Each token has a time: that of its text, or a separate time for the special tokens at either end. A layer projects
the embeddings of these times to T, (n, d) for each head, and scores become

    (Q T^T) (T / |T|) K^T / sqrt(d),

|T| being the norm over all heads and tokens of one sequence, so that a sequence has the same vectors in every batch.
With T = 0 all scores are 0: attention is then uniform, not that of the model without time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor, nn

from lexshift.errors import UserError

NAME = "lexshift_temporal"
PADDING, SPECIAL, FIRST = 0, 1, 2
"""Time indices of padding, of special tokens and of the first period."""
KINDS = ("bert", "roberta", "xlm-roberta", "camembert", "electra", "distilbert")
_EMBEDDINGS, _PROJECTION = "time_embeddings", "time"
_SMALL = 1e-12


def temporal_queries(q: Tensor, T: Tensor) -> Tensor:
    """Return the matrix that replaces Q in attention: (Q T^T) (T / |T|).

    q : (batch, heads, words, d); T : (batch, heads, n, d), rows of padding being 0
    """
    norm = T.flatten(1).norm(dim=1).clamp_min(_SMALL)[:, None, None, None]
    return (q @ T.transpose(2, 3)) @ (T / norm)


def time_matrix(projection: nn.Linear, states: Tensor, real: Tensor, heads: int) -> Tensor:
    """Return T of a layer, (batch, heads, n, d).

    states : (batch, n, h), embeddings of the times; real : (batch, n), False for padding
    """
    batch, n, _ = states.shape
    T = projection(states) * real[:, :, None]
    return T.view(batch, n, heads, -1).transpose(1, 2)


def token_times(periods: Sequence[int], lengths: npt.NDArray[np.int64], ends: tuple[int, int]) -> npt.NDArray[np.int64]:
    """Return the time of each token of padded sequences, (batch, length), with ``ends`` special tokens at each end.

    >>> token_times([0, 1], np.array([5, 4]), (1, 1))
    array([[1, 2, 2, 2, 1],
           [1, 3, 3, 1, 0]])
    """
    times = np.full((len(periods), lengths.max()), PADDING)
    for row, period, length in zip(times, periods, lengths.tolist(), strict=True):
        row[:length] = SPECIAL
        row[ends[0] : length - ends[1]] = FIRST + period
    return times


def add_temporal_attention(model: Any, periods: int) -> None:
    """Add temporal attention with new weights to every layer of a model, which then also takes ``times``, (b, n)."""
    base = model.base_model
    config = base.config
    if config.model_type not in KINDS:
        raise UserError(
            f"temporal attention supports models of the types {', '.join(KINDS)}; this one is {config.model_type}"
        )
    h = int(config.hidden_size)
    embeddings = nn.Embedding(FIRST + periods, h)
    nn.init.normal_(embeddings.weight, std=0.02)
    base.add_module(_EMBEDDINGS, embeddings)
    for _, attention in _attentions(base):
        projection = nn.Linear(h, h)
        nn.init.normal_(projection.weight, std=h**-0.5)
        nn.init.zeros_(projection.bias)
        attention.add_module(_PROJECTION, projection)
    _register()
    base.config._attn_implementation = NAME
    base.register_forward_pre_hook(_embed_times, with_kwargs=True)


def load_temporal_attention(model: Any, folder: Path, periods: int) -> None:
    """Add temporal attention to a loaded model, with the weights in its folder."""
    from safetensors import safe_open

    add_temporal_attention(model, periods)
    weights = temporal_weights(model.base_model)
    loaded: set[str] = set()
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, "pt") as file:
            for key in file.keys():  # noqa: SIM118  # it is not a mapping
                name = key.removeprefix(f"{model.base_model.base_model_prefix}.")
                if name in weights and file.get_slice(key).get_shape() == list(weights[name].shape):
                    weights[name].data.copy_(file.get_tensor(key))
                    loaded.add(name)
    if len(loaded) < len(weights):
        missing = next(name for name in weights if name not in loaded)
        raise UserError(f"the model folder {str(folder)!r} lacks weights of its temporal attention ({missing})")


def temporal_weights(base: Any) -> dict[str, nn.Parameter]:
    """Return the weights that temporal attention adds to a model, by name."""
    prefixes = [f"{_EMBEDDINGS}."] + [f"{name}.{_PROJECTION}." for name, _ in _attentions(base)]
    return {name: weight for name, weight in base.named_parameters() if name.startswith(tuple(prefixes))}


def _attentions(base: Any) -> list[tuple[str, nn.Module]]:
    return [
        (name, module)
        for name, module in base.named_modules()
        if all(hasattr(module, part) for part in ("query", "key", "value"))
        or all(hasattr(module, part) for part in ("q_lin", "k_lin", "v_lin"))
    ]


def _embed_times(base: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Compute the embeddings of the times before the forward pass, for all layers."""
    times = kwargs.pop("times")
    return args, {**kwargs, "time_states": base.time_embeddings(times), "time_real": times != PADDING}


def _attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    time_states: Tensor,
    time_real: Tensor,
    **kwargs: Any,
) -> tuple[Tensor, Tensor | None]:
    from transformers.integrations.sdpa_attention import sdpa_attention_forward

    T = time_matrix(module.time, time_states, time_real, query.shape[1])
    return sdpa_attention_forward(module, temporal_queries(query, T), key, value, attention_mask, **kwargs)


def _register() -> None:
    from transformers import AttentionInterface
    from transformers.masking_utils import AttentionMaskInterface, sdpa_mask

    AttentionInterface.register(NAME, _attend)
    AttentionMaskInterface.register(NAME, sdpa_mask)
