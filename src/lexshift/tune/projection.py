"""The light form: the encoder stays as it is, and a projection of its vectors is trained on pairs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import Dataset
from transformers import Trainer

from lexshift.encode.huggingface import HuggingFaceEncoder
from lexshift.encode.loading import quiet
from lexshift.tune.folder import TunedModel, finish, finished, last_checkpoint
from lexshift.tune.judging import figures_of, gold, judge, look, tell, told, usage_vectors
from lexshift.tune.masking import in_batches
from lexshift.tune.schedule import Schedule, training_arguments
from lexshift.tune.training import run_trainer, seed_everything
from lexshift.tune.wic import Task
from lexshift.utils.arrays import Array, Floats
from lexshift.utils.monitor import Monitor

_SHARPNESS = 5.0  # of the decision by the cosine, at the beginning


class Projection(nn.Module):
    """Vectors, projected; the probability that two have one meaning is a logistic function of their cosine.

    It begins by dividing each dimension by its standard deviation.
    """

    def __init__(self, spread: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.diag(1 / spread))  # (d, d)
        self.sharpness = nn.Parameter(torch.tensor(_SHARPNESS))
        self.middle = nn.Parameter(torch.tensor(0.0))

    def forward(self, first: Tensor, second: Tensor, labels: Tensor) -> dict[str, Tensor]:
        """The loss, and the cosines as logits: (batch,). first, second : (batch, d); labels : (batch,)"""
        cosines = F.cosine_similarity(first @ self.weight.T, second @ self.weight.T)
        loss = F.binary_cross_entropy_with_logits(self.sharpness * (cosines - self.middle), labels)
        return {"loss": loss, "logits": cosines}


class _Vectors(Dataset[dict[str, Any]]):
    """Pairs of vectors, in an order."""

    def __init__(self, first: Floats, second: Floats, same: Array, order: Array | None = None) -> None:
        self._sides = [torch.from_numpy(side.astype(np.float32)) for side in (first, second)]
        self._same = torch.from_numpy(same.astype(np.float32))
        self._order = np.arange(len(same)) if order is None else order

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, index: int) -> dict[str, Any]:
        number = int(self._order[index])
        return {"first": self._sides[0][number], "second": self._sides[1][number], "labels": self._same[number]}


def tune_projection(folder: Path, task: Task, schedule: Schedule, monitor: Monitor) -> TunedModel:
    """Train a projection on the vectors of a model."""
    seed_everything(schedule.seed)
    body, tokenizer, known = task.load()
    plan = task.plan(body, schedule, form="light")
    done = finished(folder, plan)
    if done is not None:
        monitor.note("this model is tuned already")
        return done
    encoder = HuggingFaceEncoder(body, tokenizer, device=schedule.device, adaptation=known)
    before = judge(encoder, task.held_out, task.dev)
    monitor.note(f"untuned: {told(before)}")
    first, second = usage_vectors(encoder, task.training)
    spread = np.concatenate([first, second]).std(0)
    projection = Projection(torch.from_numpy(np.maximum(spread, 1e-6).astype(np.float32)))
    total = schedule.total(len(task.training))
    examples = total * schedule.batch
    order = in_batches(np.zeros(len(first)), schedule.batch, examples, schedule.seed)
    arguments = training_arguments(schedule, total, folder, "eval_auc", True)

    def make(callbacks: list[Any]) -> Any:
        return Trainer(
            model=projection,
            args=arguments,
            train_dataset=_Vectors(first, second, gold(task.training), order),
            eval_dataset=_Vectors(*usage_vectors(encoder, task.held_out), gold(task.held_out)),
            compute_metrics=lambda found: look(np.asarray(found.predictions, float), np.asarray(found.label_ids) > 0.5),
            callbacks=callbacks,
        )

    result = run_trainer(make, total, schedule.patience, last_checkpoint(folder), figures_of, tell, monitor)
    weight = projection.weight.detach().cpu().numpy()
    adaptation = replace(known, layers=encoder.layers, pooling=encoder.pooling, projection=weight)
    tuned = HuggingFaceEncoder(body, tokenizer, device=schedule.device, adaptation=adaptation)
    after = judge(tuned, task.held_out, task.dev)
    monitor.note(f"tuned: {told(after)}")

    def save(made: Path) -> None:
        with quiet():
            body.save_pretrained(str(made))
        tokenizer.save_pretrained(str(made))
        adaptation.save(made)

    return finish(folder, save, task.run(plan, result, before, after))
