"""How long and how fast a model is tuned."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lexshift.errors import UserError
from lexshift.tune.folder import UNFINISHED, last_checkpoint
from lexshift.utils import checks
from lexshift.utils.seeds import check_seed

_EVALUATIONS = 10  # of a run, unless it is said how often
_WARMUP = 0.1  # of the steps, in which the learning rate rises


@dataclass(frozen=True)
class Schedule:
    """How long and how fast a model is tuned.

    Attributes
    ----------
    epochs : float
        How often each example is seen.
    steps : int, optional
        At most so many; ``epochs`` then says no more than that.
    batch : int
        Examples of a step.
    accumulate : int
        Parts that the examples of a step are worked on in, to save memory.
    rate : float
        The learning rate; it rises in the first tenth of the steps and falls to 0 after them.
    every : int, optional
        Steps between two looks at the held-out examples, with a checkpoint each; by default a tenth of the run.
    patience : int
        Looks without a better figure after which the run ends; 0 for never.
    seed : int
    device : "auto", "cpu", "cuda" or "mps"
    """

    epochs: float = 1.0
    steps: int | None = None
    batch: int = 32
    accumulate: int = 1
    rate: float = 5e-5
    every: int | None = None
    patience: int = 3
    seed: int = 0
    device: str = "auto"

    def __post_init__(self) -> None:
        for name in ("batch", "accumulate", "steps", "every"):
            if getattr(self, name) is not None or name in ("batch", "accumulate"):
                object.__setattr__(self, name, checks.positive(getattr(self, name), name))
        for name in ("epochs", "rate"):
            value: Any = getattr(self, name)
            if (
                isinstance(value, bool)
                or not isinstance(value, (int, float, np.number))
                or not 0 < value < float("inf")
            ):
                raise UserError(f"{name} must be a number above 0; got {value!r}")
            object.__setattr__(self, name, float(value))
        patience: Any = self.patience
        if isinstance(patience, bool) or not isinstance(patience, (int, np.integer)) or patience < 0:
            raise UserError(f"patience must be a whole number, 0 or more; got {patience!r}")
        object.__setattr__(self, "patience", int(patience))
        if self.batch % self.accumulate:
            raise UserError(f"accumulate must divide the batch of {self.batch}; got {self.accumulate}")
        object.__setattr__(self, "seed", check_seed(self.seed))

    def total(self, examples: int) -> int:
        """Steps of a run over so many examples.

        >>> Schedule(epochs=2, batch=10).total(95), Schedule(steps=7, batch=10).total(95)
        (20, 7)
        """
        batches = -(-examples // self.batch)
        wanted = max(1, round(self.epochs * batches))
        return wanted if self.steps is None else min(self.steps, wanted)

    def between(self, total: int) -> int:
        """Steps between two looks at the held-out examples."""
        return min(total, self.every or max(1, -(-total // _EVALUATIONS)))

    def settings(self) -> dict[str, Any]:
        """What shapes the model that comes out: all but the device."""
        return {name: value for name, value in asdict(self).items() if name != "device"}


WHOLE = Schedule(epochs=2, batch=16, rate=5e-5)
"""For pairs of usages."""
LIGHT = Schedule(epochs=20, batch=64, rate=1e-3)
"""For a projection on pairs of usages."""


def training_arguments(schedule: Schedule, total: int, folder: Path, best: str, largest: bool, kind: Any = None) -> Any:
    """The arguments of the library's trainer; ``best`` is the figure that the best model has the least or most of."""
    import torch
    from transformers import TrainingArguments

    from lexshift.encode.huggingface import pick_device

    device = pick_device(schedule.device)
    every = schedule.between(total)
    wide = device.type == "cuda"
    return (kind or TrainingArguments)(
        output_dir=str(folder / UNFINISHED),
        max_steps=total,
        per_device_train_batch_size=schedule.batch // schedule.accumulate,
        per_device_eval_batch_size=64,
        gradient_accumulation_steps=schedule.accumulate,
        learning_rate=schedule.rate,
        warmup_steps=round(_WARMUP * total),
        weight_decay=0.01,
        seed=schedule.seed,
        data_seed=schedule.seed,
        train_sampling_strategy="sequential",
        use_cpu=device.type == "cpu",
        bf16=wide and torch.cuda.is_bf16_supported(),
        fp16=wide and not torch.cuda.is_bf16_supported(),
        eval_strategy="steps",
        eval_steps=every,
        eval_on_start=last_checkpoint(folder) is None,
        save_strategy="steps",
        save_steps=every,
        load_best_model_at_end=True,
        metric_for_best_model=best,
        greater_is_better=largest,
        restore_callback_states_from_checkpoint=True,
        logging_steps=next(n for n in range(max(1, every // 10), 0, -1) if every % n == 0),
        logging_nan_inf_filter=False,
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
        dataloader_pin_memory=wide,
        label_names=["labels"],
    )
