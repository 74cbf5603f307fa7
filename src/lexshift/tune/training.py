"""Train with the trainer of transformers: report progress, resume exactly, and stop without improvement."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lexshift.encode.adaptation import Adaptation
from lexshift.encode.loading import quiet
from lexshift.errors import UserError
from lexshift.tune.folder import STATE, UNFINISHED, last_checkpoint, mark_files, remove_old_checkpoints
from lexshift.tune.settings import TrainingSettings
from lexshift.utils.files import disk_faults
from lexshift.utils.monitor import Monitor

_NEEDED = ("torch", "transformers", "accelerate", "datasets", "sentence_transformers")
_WARMUP = 0.1  # share of the steps in which the learning rate rises


def check_libraries() -> None:
    """Raise if a library that tuning needs is missing."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise UserError(f"tuning needs {', '.join(missing)}: pip install 'lexshift[tune]'")


def save_model(folder: Path, model: Any, tokenizer: Any, adaptation: Adaptation | None = None) -> None:
    """Write a model, its tokenizer and its adaptation, if it has one."""
    with quiet():
        model.save_pretrained(str(folder))
    tokenizer.save_pretrained(str(folder))
    if adaptation is not None:
        adaptation.save(folder)


def training_arguments(
    settings: TrainingSettings,
    total: int,
    folder: Path,
    best: str,
    largest: bool,
    kind: Any = None,
    is_mixed_on_cpu: bool = False,
) -> Any:
    """Return the trainer's arguments; the best model has the smallest or ``largest`` value of the metric ``best``.

    With ``is_mixed_on_cpu``, a CPU that has instructions for it multiplies matrices in bfloat16.
    """
    import torch
    from transformers import TrainingArguments

    from lexshift.encode.huggingface import pick_device

    device = pick_device(settings.device)
    every = settings.between(total)
    is_cuda = device.type == "cuda"
    return (kind or TrainingArguments)(
        output_dir=str(folder / UNFINISHED),
        max_steps=total,
        per_device_train_batch_size=settings.batch // settings.accumulate,
        per_device_eval_batch_size=64,
        gradient_accumulation_steps=settings.accumulate,
        learning_rate=settings.learning_rate,
        warmup_steps=round(_WARMUP * total),
        weight_decay=0.01,
        seed=settings.seed,
        data_seed=settings.seed,
        train_sampling_strategy="sequential",
        use_cpu=device.type == "cpu",
        bf16=torch.cuda.is_bf16_supported() if is_cuda else is_mixed_on_cpu and has_bfloat16(device),
        fp16=is_cuda and not torch.cuda.is_bf16_supported(),
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
        dataloader_pin_memory=is_cuda,
        label_names=["labels"],
    )


@contextmanager
def eager_attention(body: Any, settings: TrainingSettings) -> Iterator[None]:
    """Train a model with PyTorch's plain operations for attention on a CPU, where they are faster in bfloat16."""
    from lexshift.encode.huggingface import pick_device

    usual = body.config._attn_implementation
    if pick_device(settings.device).type == "cpu":
        body.set_attn_implementation("eager")
    yield
    body.set_attn_implementation(usual)


def has_bfloat16(device: Any) -> bool:
    """Return whether a CPU has instructions that multiply matrices of bfloat16."""
    import torch

    capabilities: dict[str, Any] = getattr(
        torch.cpu, "get_capabilities", dict
    )()  # older versions of torch do not report them
    return device.type == "cpu" and bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


def train(
    make: Callable[[list[Any]], Any],
    settings: TrainingSettings,
    folder: Path,
    figures: Callable[[dict[str, Any]], dict[str, float]],
    describe: Callable[[dict[str, float]], str],
    monitor: Monitor,
) -> dict[str, Any]:
    """Run a trainer, from its last checkpoint if it has one, and leave it with the best model.

    Parameters
    ----------
    make : callable
        Returns a trainer with the given callbacks.
    settings : TrainingSettings
    folder : Path
        The folder of the tuned model.
    figures : callable
        Returns the results in an entry of the trainer's log; empty if it is not an evaluation.
    describe : callable
        Returns a description of these results.
    monitor : Monitor

    Returns
    -------
    dict
        The number of steps, the best step, and the results before, after and during the training.
    """
    from transformers import EarlyStoppingCallback, PrinterCallback, TrainerState

    reporter = _make_reporter(figures, describe, monitor)
    trainer = make([reporter, *([EarlyStoppingCallback(settings.patience)] if settings.patience else [])])
    trainer.remove_callback(PrinterCallback)
    total, checkpoint, start_time = int(trainer.args.max_steps), last_checkpoint(folder), time.monotonic()
    if checkpoint is not None:
        monitor.note(f"resuming after step {checkpoint.rsplit('-', 1)[1]}")
    monitor.stage("tuning", total, "steps")
    with quiet(), disk_faults(Path(trainer.args.output_dir)):
        if checkpoint is not None and _is_finished(Path(checkpoint), total, settings.patience):
            trainer.state = TrainerState.load_from_json(str(Path(checkpoint, STATE)))
            trainer._load_best_model()
        else:
            trainer.train(resume_from_checkpoint=checkpoint)
    history = _history(trainer.state.log_history, figures)
    done = int(trainer.state.global_step)
    if done < total:
        monitor.note(f"stopped after step {done}, because the held-out result did not improve")
    best = int(trainer.state.best_global_step or done)
    return {
        "steps": done,
        "best step": best,
        "seconds": round(time.monotonic() - start_time, 1),
        "before": next((row for row in history if row["step"] == 0), None),
        "after": next((row for row in history if row["step"] == best), None),
        "history": history,
    }


def _is_finished(checkpoint: Path, total: int, patience: int) -> bool:
    """Return whether a run had finished all its steps at a checkpoint, or had stopped improving."""
    state = json.loads((checkpoint / STATE).read_bytes())
    stopping = state.get("stateful_callbacks", {}).get("EarlyStoppingCallback", {}).get("attributes", {})
    stopped_early = bool(patience) and int(stopping.get("early_stopping_patience_counter", 0)) >= patience
    return stopped_early or int(state["global_step"]) >= total


def _history(logs: list[dict[str, Any]], figures: Callable[[dict[str, Any]], dict[str, float]]) -> list[dict[str, Any]]:
    """Return a row for each evaluation, with the mean training loss since the previous one."""
    rows: list[dict[str, Any]] = []
    losses: list[float] = []
    for entry in logs:
        if "loss" in entry:
            losses.append(float(entry["loss"]))
        results = figures(entry)
        if results:
            mean = sum(losses) / len(losses) if losses else None
            rows.append({"step": int(entry["step"]), "loss": mean, **results})
            losses = []
    return rows


def _make_reporter(
    figures: Callable[[dict[str, Any]], dict[str, float]], describe: Callable[[dict[str, float]], str], monitor: Monitor
) -> Any:
    """Return a callback that reports every step to a monitor and marks checkpoints as written by lexshift."""
    from transformers import TrainerCallback

    class Reporter(TrainerCallback):
        loss = results = ""

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
            control.should_log = control.should_log or state.global_step == args.max_steps
            monitor.advance(state.global_step, state.global_step, self._latest())
            return control

        def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:  # noqa: ARG002
            if logs and "loss" in logs:
                self.loss = f"loss {float(logs['loss']):.3f}"

        def on_evaluate(self, args: Any, state: Any, control: Any, metrics: Any = None, **_: Any) -> None:  # noqa: ARG002
            results = figures(metrics or {})
            if results:
                self.results = describe(results)
                monitor.note(f"step {state.global_step} of {args.max_steps}: {self._latest()}")

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
            work_folder = Path(args.output_dir)
            mark_files(work_folder / f"checkpoint-{state.global_step}")
            remove_old_checkpoints(work_folder, state.best_model_checkpoint)

        def _latest(self) -> str:
            return " ".join(filter(None, (self.loss, self.results)))

    return Reporter()
