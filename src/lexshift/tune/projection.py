"""Train a projection of an encoder's vectors on pairs, the light form of tuning; the encoder is not changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import Dataset
from transformers import Trainer

from lexshift.tune.evaluation import figures
from lexshift.tune.masking import batch_order
from lexshift.utils.arrays import Array, Floats

_SHARPNESS = 5.0  # initial slope of the logistic function


class Projection(nn.Module):
    """A projection of vectors; the probability that two have one meaning is a logistic function of their cosine.

    Initially, it divides each dimension by its standard deviation.
    """

    def __init__(self, spread: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.diag(1 / spread))  # (d, d)
        self.sharpness = nn.Parameter(torch.tensor(_SHARPNESS))
        self.middle = nn.Parameter(torch.tensor(0.0))

    def forward(self, first: Tensor, second: Tensor, labels: Tensor) -> dict[str, Tensor]:
        """Return the loss, and the cosines as logits, (batch,).

        first, second : (batch, d); labels : (batch,)
        """
        cosines = F.cosine_similarity(first @ self.weight.T, second @ self.weight.T)
        loss = F.binary_cross_entropy_with_logits(self.sharpness * (cosines - self.middle), labels)
        return {"loss": loss, "logits": cosines}


class _Vectors(Dataset[dict[str, Any]]):
    """Pairs of vectors in a given order."""

    def __init__(self, first: Floats, second: Floats, same: Array, order: Array | None = None) -> None:
        self._sides = [torch.from_numpy(side.astype(np.float32)) for side in (first, second)]
        self._same = torch.from_numpy(same.astype(np.float32))
        self._order = np.arange(len(same)) if order is None else order

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, index: int) -> dict[str, Any]:
        number = int(self._order[index])
        return {"first": self._sides[0][number], "second": self._sides[1][number], "labels": self._same[number]}


def make_projection(vectors: tuple[Floats, Floats]) -> Projection:
    """Return the projection that training begins with, for the vectors of the two usages of each pair."""
    spread = np.concatenate(vectors).std(0)
    return Projection(torch.from_numpy(np.maximum(spread, 1e-6).astype(np.float32)))


def projection_trainer(
    projection: Projection,
    training: tuple[Floats, Floats, Array],
    held_out: tuple[Floats, Floats, Array],
    arguments: Any,
    examples: int,
    callbacks: list[Any],
) -> Trainer:
    """Return the trainer of a projection.

    Parameters
    ----------
    projection : Projection
    training, held_out : (first, second, same)
        The vectors of the two usages of each pair, each (pairs, d), and whether they have the same meaning, (pairs,).
    arguments : TrainingArguments
    examples : int
        Number of examples of the run.
    callbacks : list
    """
    batch = arguments.per_device_train_batch_size * arguments.gradient_accumulation_steps
    order = batch_order(np.zeros(len(training[0])), batch, examples, arguments.seed)
    return Trainer(
        model=projection,
        args=arguments,
        train_dataset=_Vectors(*training, order),
        eval_dataset=_Vectors(*held_out),
        compute_metrics=lambda output: figures(
            np.asarray(output.predictions, float), np.asarray(output.label_ids) > 0.5
        ),
        callbacks=callbacks,
    )
