"""Any model of the library, run by its own forward pass, stopped after the last layer that is needed."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from lexshift.encode.layers import Layers


class _EnoughError(Exception):
    """Raised by a hook to leave the forward pass: the layers after this one are not needed."""


class Generic:
    """The hidden states of a model, one forward pass a batch."""

    def __init__(self, model: Any, depth: int) -> None:
        self._model = model
        stacks = [m for m in model.modules() if isinstance(m, nn.ModuleList) and len(m) == depth]
        self._layers = stacks[0] if len(stacks) == 1 else None

    def states(
        self, ids: Tensor, lengths: Tensor, where: Tensor, layers: Layers, times: Tensor | None = None
    ) -> list[Tensor]:
        """The hidden states of the layers at the positions ``where``, each (batch, words, h).

        ids : (batch, length), padded; lengths : (batch,); where : (batch, words); times : (batch, length), of
        temporal attention
        """
        mask = (torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]).long()
        inputs = {"input_ids": ids, "attention_mask": mask}
        hidden = self._run(layers, inputs if times is None else {**inputs, "times": times})
        batch = torch.arange(len(ids), device=ids.device)[:, None]
        return [hidden[number][batch, where] for number in layers.numbers]

    def _run(self, layers: Layers, inputs: dict[str, Tensor]) -> dict[int, Tensor]:
        if self._layers is None or layers.deepest == len(self._layers):
            # The last hidden state may have passed one more normalisation: the model's own list has it as it is.
            output = self._model(**inputs, output_hidden_states=True)
            return dict(enumerate(output.hidden_states))
        found: dict[int, Tensor] = {}
        hooks = []
        output = None
        for number, layer in enumerate(self._layers):
            if number in layers.numbers or number == layers.deepest:  # the state before this layer
                keep = _keep(found, number, number == layers.deepest)
                hooks.append(layer.register_forward_pre_hook(keep, with_kwargs=True))
        try:
            output = self._model(**inputs, output_hidden_states=True)
        except _EnoughError:
            pass
        finally:
            for hook in hooks:
                hook.remove()
        # A model may run its layers by a way that hooks do not see; then it has run to its end.
        return found if output is None else dict(enumerate(output.hidden_states))


def _keep(found: dict[int, Tensor], number: int, last: bool) -> Any:
    def hook(_module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        found[number] = args[0] if args else kwargs["hidden_states"]
        if last:
            raise _EnoughError

    return hook
