"""The folder of a tuned model: checkpoints during training, then the model and the record of the run.

Only files that lexshift wrote are replaced or removed. During training, each folder of files in ``unfinished`` holds a
list of the files that were written into it; at the end these are removed, and the model's files are moved into
the folder, where no other file may have their names.
"""

from __future__ import annotations

import filecmp
import json
import os
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexshift.errors import UserError
from lexshift.store.format import first_difference
from lexshift.utils.files import disk_faults, one_writer, write_whole

if TYPE_CHECKING:
    import pandas as pd

RUN, UNFINISHED, PLAN, _MODEL = "run.json", "unfinished", "plan.json", "model"
MARK = "written-by-lexshift.json"
"""The list of the files in a folder that lexshift wrote."""
STATE = "trainer_state.json"
"""File that the trainer writes last in a checkpoint."""
_ARCHIVES = (
    "optimizer.pt",
    "scheduler.pt",
    "rng_state.pth",
)  # state that training resumes from, in addition to the weights
_CHECKPOINT = re.compile(r"checkpoint-([0-9]+)")


@dataclass(frozen=True, eq=False)
class TunedModel:
    """A tuned model.

    Attributes
    ----------
    folder : Path
        Its folder, which is a ``model`` for ``embed``, ``compare`` and ``eval``.
    run : dict
        The settings and the results of the run, as in ``run.json``.
    """

    folder: Path
    run: dict[str, Any]

    @property
    def history(self) -> pd.DataFrame:
        """The results on the held-out examples, one row for each evaluation."""
        import pandas as pd

        return pd.DataFrame(self.run["history"])


@contextmanager
def tuning_folder(out: str | os.PathLike[str]) -> Iterator[Path]:
    """Create or open the folder of a tuned model as its only writer; raise if it holds something else."""
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise UserError(f"the tuned model {str(folder)!r} would be a folder, but there is a file of that name")
    if folder.is_dir():
        names = {name for name in os.listdir(folder) if not name.startswith(".")}
        if names and RUN not in names and not _is_work_folder(folder / UNFINISHED):
            raise UserError(f"the folder {str(folder)!r} holds other files; choose an empty or a new one (--out)")
    with disk_faults(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with one_writer(folder):
        yield folder


def _is_work_folder(folder: Path) -> bool:
    """Return whether a folder holds a plan, or nothing because a run was stopped before it wrote its plan."""
    if not folder.is_dir() or folder.is_symlink():
        return False
    return (folder / PLAN).is_file() or all(name.startswith(".") for name in os.listdir(folder))


def find_finished(folder: Path, plan: dict[str, Any]) -> TunedModel | None:
    """Return the model that the same plan made before, or None after recording the plan of a new run.

    A folder with the model or the unfinished work of another plan is refused.
    """
    plan = json.loads(json.dumps(plan))  # as it is read from a file
    path, work_folder = folder / RUN, folder / UNFINISHED
    plan_path = work_folder / PLAN
    if path.exists():
        try:
            run = json.loads(path.read_bytes())
            difference = first_difference(run["plan"], plan)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UserError(f"{str(path)!r} is damaged; choose another folder (--out)") from None
        if difference is not None:
            raise UserError(f"{str(folder)!r} holds a model tuned with {difference}; choose another folder (--out)")
        if plan_path.exists():  # a run that was stopped after it finished
            _remove_work_folder(work_folder)
        return TunedModel(folder, run)
    if plan_path.exists():
        try:
            difference = first_difference(json.loads(plan_path.read_bytes()), plan)
        except (ValueError, TypeError, AttributeError):
            raise UserError(f"{str(plan_path)!r} is damaged: delete {str(work_folder)!r} and run again") from None
        if difference is not None:
            raise UserError(
                f"{str(work_folder)!r} holds the unfinished work of a run with {difference}: finish that run with its "
                f"own command, or delete that folder"
            )
        return None
    if work_folder.exists() and not _is_work_folder(work_folder):
        raise UserError(f"{str(work_folder)!r} holds other files; move it away or choose another folder (--out)")
    with disk_faults(folder):
        work_folder.mkdir(exist_ok=True)
        write_whole(plan_path, json.dumps(plan, indent=1).encode())
    return None


def last_checkpoint(folder: Path) -> str | None:
    """Return the latest complete checkpoint; training writes incomplete ones again."""
    complete = {step: path for step, path in _checkpoints(folder / UNFINISHED).items() if _is_complete(path)}
    return str(complete[max(complete)]) if complete else None


def remove_old_checkpoints(work_folder: Path, best: str | None) -> None:
    """Remove all checkpoints except the last and the best one, or the last two if these are the same."""
    last_first = [path for _, path in sorted(_checkpoints(work_folder).items(), reverse=True)]
    to_keep = {*last_first[:1], *([Path(best)] if best else [])}
    for path in last_first:
        if path not in to_keep and len(to_keep) < 2:
            to_keep.add(path)
        elif path not in to_keep:
            remove_marked(path)


def _checkpoints(work_folder: Path) -> dict[int, Path]:
    """Return the checkpoints that are marked as complete, by step."""
    named = ((_CHECKPOINT.fullmatch(path.name), path) for path in work_folder.glob("checkpoint-*"))
    return {int(name[1]): path for name, path in named if name and (path / MARK).is_file()}


def _is_complete(checkpoint: Path) -> bool:
    """Return whether all files of a checkpoint exist and are complete."""
    from safetensors import SafetensorError, safe_open

    weights = list(checkpoint.glob("*.safetensors"))
    try:
        json.loads((checkpoint / STATE).read_bytes())
        for path in weights:
            with safe_open(path, "np"):
                pass
    except (OSError, ValueError, SafetensorError):
        return False
    return bool(weights) and all(zipfile.is_zipfile(checkpoint / name) for name in _ARCHIVES)


def finish(folder: Path, save: Callable[[Path], None], run: dict[str, Any]) -> TunedModel:
    """Move the model into its folder, write the record that marks the run as finished, and remove the checkpoints."""
    model_folder = folder / UNFINISHED / _MODEL
    with disk_faults(folder):
        remove_marked(model_folder)  # files of an interrupted attempt to finish
        model_folder.mkdir(exist_ok=True)
        save(model_folder)
        moves = {path: folder / path.relative_to(model_folder) for path in _files(model_folder)}
        mark_files(model_folder)
        for path, target in (*moves.items(), (None, folder / RUN)):
            if os.path.lexists(target) and not (path and _is_same_file(path, target)):
                raise UserError(
                    f"{str(target)!r} was not written by lexshift: move it away and run the same command again, which "
                    f"does not repeat the training"
                )
        for path in sorted(
            moves, key=lambda path: path == model_folder / "config.json"
        ):  # last, because a folder without it is not a model
            moves[path].parent.mkdir(exist_ok=True)
            os.replace(path, moves[path])
        tuned = save_run(folder, run)
        _remove_work_folder(model_folder.parent)
    return tuned


def _is_same_file(source: Path, target: Path) -> bool:
    """Return whether the target already is a copy of the source, as after an interruption."""
    return target.is_file() and not target.is_symlink() and filecmp.cmp(source, target, shallow=False)


def save_run(folder: Path, run: dict[str, Any]) -> TunedModel:
    """Write the record of a run."""
    text = json.dumps(run, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    with disk_faults(folder):
        write_whole(folder / RUN, text.encode())
    return TunedModel(folder, json.loads(text))


def mark_files(folder: Path) -> None:
    """Record that the files in a folder were written by lexshift."""
    names = sorted(path.relative_to(folder).as_posix() for path in _files(folder))
    write_whole(folder / MARK, json.dumps(names).encode())


def remove_marked(folder: Path) -> None:
    """Remove the files of a folder that were written by lexshift, and the folder if it is then empty."""
    try:
        names = set(json.loads((folder / MARK).read_bytes()))
    except (OSError, ValueError, TypeError):
        names = set()
    for path in _files(folder):
        if path.name == MARK or path.relative_to(folder).as_posix() in names:
            path.unlink()
    with suppress(OSError):  # the folder holds other files
        for path in sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True):
            path.rmdir()
    with suppress(OSError):
        folder.rmdir()


def _remove_work_folder(work_folder: Path) -> None:
    """Remove the files of unfinished work that lexshift wrote."""
    for path in work_folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            remove_marked(path)
    (work_folder / PLAN).unlink(missing_ok=True)
    with suppress(OSError):  # the folder holds other files
        work_folder.rmdir()


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()]
