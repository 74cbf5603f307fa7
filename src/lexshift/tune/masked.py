"""The loss of masked words, computed where words are masked, and the library's trainer with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import Trainer

from lexshift.tune.heads import predict
from lexshift.tune.masking import IGNORED
from lexshift.utils.arrays import Array


def with_loss(model: Any, times: Array) -> Any:
    """The model, its forward pass giving the loss, and what a look at held-out examples needs of each: (batch, 4).

    That is the summed loss and number of its masked words, and how many of its masked time tokens are right and how
    many there are.
    """
    known = torch.from_numpy(times)

    def forward(
        input_ids: Tensor, attention_mask: Tensor, labels: Tensor, times: Tensor | None = None
    ) -> dict[str, Tensor]:
        where = labels != IGNORED
        inputs = {"input_ids": input_ids, "attention_mask": attention_mask}
        scores = predict(model, inputs if times is None else {**inputs, "times": times}, where).float()
        wanted = labels[where]
        losses = F.cross_entropy(scores, wanted, reduction="none")  # (places,)
        if model.training:
            return {"loss": losses.mean(), "places": torch.tensor(len(losses))}
        periods = known.to(wanted.device)
        is_time = torch.isin(wanted, periods)
        right = torch.zeros_like(is_time)
        if len(periods):
            right = is_time & (periods[scores[:, periods].argmax(1)] == wanted)
        parts = torch.stack([losses * ~is_time, (~is_time).float(), right.float(), is_time.float()], 1)  # (places, 4)
        sums = torch.zeros(len(labels), 4, device=parts.device).index_add_(0, where.nonzero()[:, 0], parts)
        return {"loss": losses.mean(), "sums": sums}

    model.forward = forward
    return model


class MaskedTrainer(Trainer):
    """The library's trainer, taking examples in their order, with exact figures over all held-out words."""

    loss_is_scaled_for_ga = True

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, compute_metrics=_figures)
        self.model_accepts_loss_kwargs = True  # so that masked words are counted over all parts of a step

    def compute_loss(
        self,
        model: Any,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Any = None,
    ) -> Any:
        """The loss of a part of a step: each masked word of the step weighs the same."""
        output = model(**inputs)
        loss = output["loss"] * output["places"] / num_items_in_batch
        if self.args.average_tokens_across_devices:
            loss = loss * self.accelerator.num_processes
        return (loss, output) if return_outputs else loss

    def prediction_step(
        self,
        model: Any,
        inputs: dict[str, Any],
        prediction_loss_only: bool,  # noqa: ARG002
        ignore_keys: list[str] | None = None,  # noqa: ARG002
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The sums of each example stand for its predictions."""
        inputs = self._prepare_inputs(inputs)
        with torch.no_grad(), self.compute_loss_context_manager():
            output = model(**inputs)
        return output["loss"].detach(), output["sums"], output["sums"]


def _figures(found: Any) -> dict[str, float]:
    loss, words, right, times = np.asarray(found.predictions, np.float64).sum(0)
    figures = {"nll": float(loss / words)}
    return figures | ({"period": float(right / times)} if times else {})
