"""One run of the library's trainer: told as it goes, resumed as if it had not stopped, ended when it gets no better."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lexshift.encode.loading import quiet
from lexshift.errors import UserError
from lexshift.tune.folder import STATE, mark_files, remove_old_checkpoints
from lexshift.utils.files import disk_faults
from lexshift.utils.monitor import Monitor

_NEEDED = ("torch", "transformers", "accelerate", "datasets", "sentence_transformers")


def need_libraries() -> None:
    """Tuning needs more than encoding does."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise UserError(f"tuning needs {', '.join(missing)}: pip install 'lexshift[tune]'")


def seed_everything(seed: int) -> None:
    """What new weights and dropout are drawn from."""
    from transformers import set_seed

    set_seed(seed)


def run_trainer(
    make: Callable[[list[Any]], Any],
    total: int,
    patience: int,
    checkpoint: str | None,
    figures: Callable[[dict[str, Any]], dict[str, float]],
    tell: Callable[[dict[str, float]], str],
    monitor: Monitor,
) -> dict[str, Any]:
    """Make a trainer with our callbacks, run it, and leave it with the best model.

    ``figures`` picks what is kept of an evaluation, ``tell`` puts it in words.
    """
    from transformers import EarlyStoppingCallback, PrinterCallback, TrainerState

    callbacks: list[Any] = [_teller(total, figures, tell, monitor)]
    if patience:
        callbacks.append(EarlyStoppingCallback(patience))
    trainer = make(callbacks)
    trainer.remove_callback(PrinterCallback)
    begun = time.monotonic()
    if checkpoint is not None:
        monitor.note(f"goes on after step {checkpoint.rsplit('-', 1)[1]}")
    monitor.stage("tuning", total, "steps")
    with quiet(), disk_faults(Path(trainer.args.output_dir)):
        if checkpoint is not None and _had_ended(Path(checkpoint), total, patience):
            trainer.state = TrainerState.load_from_json(str(Path(checkpoint, STATE)))
            trainer._load_best_model()
        else:
            trainer.train(resume_from_checkpoint=checkpoint)
    history = _history(trainer.state.log_history, figures)
    done = int(trainer.state.global_step)
    if done < total:
        monitor.note(f"ended after step {done}, as the held-out figure got no better")
    best = int(trainer.state.best_global_step or done)
    return {
        "steps": done,
        "best step": best,
        "seconds": round(time.monotonic() - begun, 1),
        "before": next((row for row in history if row["step"] == 0), None),
        "after": next((row for row in history if row["step"] == best), None),
        "history": history,
    }


def _had_ended(checkpoint: Path, total: int, patience: int) -> bool:
    """Whether a run had done all its steps at a checkpoint, or found that it got no better."""
    state = json.loads((checkpoint / STATE).read_bytes())
    callbacks = state.get("stateful_callbacks", {})
    stopping = callbacks.get("EarlyStoppingCallback", {}).get("attributes", {})
    ended = bool(patience) and int(stopping.get("early_stopping_patience_counter", 0)) >= patience
    return ended or int(state["global_step"]) >= total


def _history(logs: list[dict[str, Any]], figures: Callable[[dict[str, Any]], dict[str, float]]) -> list[dict[str, Any]]:
    """A row for each evaluation, with the training loss since the one before."""
    rows: list[dict[str, Any]] = []
    losses: list[float] = []
    for entry in logs:
        if "loss" in entry:
            losses.append(float(entry["loss"]))
        found = figures(entry)
        if found:
            mean = sum(losses) / len(losses) if losses else None
            rows.append({"step": int(entry["step"]), "loss": mean, **found})
            losses = []
    return rows


def _teller(
    total: int,
    figures: Callable[[dict[str, Any]], dict[str, float]],
    tell: Callable[[dict[str, float]], str],
    monitor: Monitor,
) -> Any:
    """A callback that tells a monitor of every step."""
    from transformers import TrainerCallback

    class Teller(TrainerCallback):
        told = ""
        loss = ""

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:  # noqa: ARG002
            control.should_log = control.should_log or state.global_step == total
            monitor.advance(state.global_step, state.global_step, " ".join(filter(None, (self.loss, self.told))))
            return control

        def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_: Any) -> None:  # noqa: ARG002
            if logs and "loss" in logs:
                self.loss = f"loss {float(logs['loss']):.3f}"

        def on_evaluate(
            self,
            args: Any,  # noqa: ARG002
            state: Any,
            control: Any,  # noqa: ARG002
            metrics: dict[str, Any] | None = None,
            **_: Any,
        ) -> None:
            found = figures(metrics or {})
            if found:
                self.told = tell(found)
                monitor.note(f"step {state.global_step} of {total}: {' '.join(filter(None, (self.loss, self.told)))}")

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002
            work = Path(args.output_dir)
            mark_files(work / f"checkpoint-{state.global_step}")
            remove_old_checkpoints(work, state.best_model_checkpoint)

    return Teller()
