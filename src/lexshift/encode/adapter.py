"""Adapters: small files that change some weights of a base model.

An adapter changes a weight matrix W, (out, in), to W + U D with U of shape (out, rank) and D of shape (rank, in), and
adds a vector to some biases and normalisation weights (LoRA, Hu et al. 2022). It is merged into the weights when the
model is loaded, so that encoding takes the same time as with the base model.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexshift.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor

FILE = "adapter.safetensors"
_UP, _DOWN, _ADDED = ".up", ".down", ".added"


def make_adapter(matrices: Mapping[str, tuple[Tensor, Tensor]], vectors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors of an adapter, in half precision.

    Parameters
    ----------
    matrices : mapping of str to (Tensor of shape (out, rank), Tensor of shape (rank, in))
        For each changed weight matrix, the two factors whose product is added to it.
    vectors : mapping of str to Tensor of shape (n,)
        For each changed vector of weights, the vector that is added to it.
    """
    import torch

    tensors = {f"{name}{_ADDED}": vector for name, vector in vectors.items()}
    for name, (up, down) in matrices.items():
        tensors |= {f"{name}{_UP}": up, f"{name}{_DOWN}": down}
    return {name: tensor.detach().cpu().to(torch.float16).contiguous() for name, tensor in sorted(tensors.items())}


def read_adapter(path: Path) -> dict[str, Tensor]:
    """Read the tensors of an adapter file."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (OSError, SafetensorError):
        raise _damage_error(path) from None


def merge_adapter(model: Any, adapter: Mapping[str, Tensor], path: Path) -> None:
    """Add the changes of an adapter to the weights of its base model, in place; ``path`` is named in errors."""
    import torch

    tensors = {name: tensor.float() for name, tensor in adapter.items()}
    weights = dict(model.named_parameters())
    try:
        with torch.no_grad():
            for name, tensor in tensors.items():
                if name.endswith(_ADDED):
                    _add(weights[name.removesuffix(_ADDED)], tensor)
                elif name.endswith(_UP):
                    weight = name.removesuffix(_UP)
                    _add(weights[weight], tensor @ tensors[f"{weight}{_DOWN}"])
                elif f"{name.removesuffix(_DOWN)}{_UP}" not in tensors:
                    raise KeyError(name)
    except (KeyError, RuntimeError):  # RuntimeError: factors whose shapes do not fit
        raise _damage_error(path) from None


def _add(weight: Tensor, change: Tensor) -> None:
    """Add a change to a weight of the same shape; never broadcast it."""
    if weight.shape != change.shape:
        raise KeyError(change.shape)
    weight.add_(change.to(weight.dtype))


def _damage_error(path: Path) -> UserError:
    return UserError(f"{str(path)!r} is missing or damaged, or does not belong to its base model")
