"""The folder of a tuned model: checkpoints during training, then the model and the record of the run.

Only files that lexshift wrote are replaced or removed. During training, each folder of files in ``unfinished`` holds a
list of the files that were written into it; at the end these are removed, and the model's files are moved to their
places, where nothing may be in their way.
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

RUN, UNFINISHED, _PLAN, _MODEL = "run.json", "unfinished", "plan.json", "model"
MARK = "written-by-lexshift.json"
"""The list of the files in a folder that lexshift wrote."""
STATE = "trainer_state.json"
"""The last file that the trainer writes of a checkpoint."""
_ARCHIVES = ("optimizer.pt", "scheduler.pt", "rng_state.pth")  # what training is resumed from, besides the weights
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
    """Make the folder of a tuned model or open one, as its only writer; refuse one that holds something else."""
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise UserError(f"the tuned model {str(folder)!r} would be a folder, but there is a file of that name")
    if folder.is_dir():
        names = {name for name in os.listdir(folder) if not name.startswith(".")}
        if names and RUN not in names and not _is_work(folder / UNFINISHED):
            raise UserError(f"the folder {str(folder)!r} holds other files; choose an empty or a new one (--out)")
    with disk_faults(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with one_writer(folder):
        yield folder


def _is_work(folder: Path) -> bool:
    """Return whether a folder holds a plan of ours, or nothing, as when a run is stopped before it writes its plan."""
    if not folder.is_dir() or folder.is_symlink():
        return False
    return (folder / _PLAN).is_file() or all(name.startswith(".") for name in os.listdir(folder))


def find_finished(folder: Path, plan: dict[str, Any]) -> TunedModel | None:
    """Return the model that the same plan made before, or None after recording the plan of a new run.

    A folder with the model or the unfinished work of another plan is refused.
    """
    plan = json.loads(json.dumps(plan))  # as it comes back from a file
    path, work = folder / RUN, folder / UNFINISHED
    begun = work / _PLAN
    if path.exists():
        try:
            run = json.loads(path.read_bytes())
            difference = first_difference(run["plan"], plan)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UserError(f"{str(path)!r} is damaged; choose another folder (--out)") from None
        if difference is not None:
            raise UserError(f"{str(folder)!r} holds a model tuned with {difference}; choose another folder (--out)")
        if begun.exists():  # a run that was stopped after its end
            _remove_work(work)
        return TunedModel(folder, run)
    if begun.exists():
        try:
            difference = first_difference(json.loads(begun.read_bytes()), plan)
        except (ValueError, TypeError, AttributeError):
            raise UserError(f"{str(begun)!r} is damaged: delete {str(work)!r} and run again") from None
        if difference is not None:
            raise UserError(
                f"{str(work)!r} holds the unfinished work of a run with {difference}: finish that run with its own "
                f"command, or delete that folder"
            )
        return None
    if work.exists() and not _is_work(work):
        raise UserError(f"{str(work)!r} holds other files; move it away or choose another folder (--out)")
    with disk_faults(folder):
        work.mkdir(exist_ok=True)
        write_whole(begun, json.dumps(plan, indent=1).encode())
    return None


def last_checkpoint(folder: Path) -> str | None:
    """Return the latest complete checkpoint; training writes those that are incomplete once more."""
    found = {step: path for step, path in _checkpoints(folder / UNFINISHED).items() if _is_complete(path)}
    return str(found[max(found)]) if found else None


def remove_old_checkpoints(work: Path, best: str | None) -> None:
    """Remove all checkpoints but the last and the best one, or the last two if they are the same."""
    last_first = [path for _, path in sorted(_checkpoints(work).items(), reverse=True)]
    kept = {*last_first[:1], *([Path(best)] if best else [])}
    for path in last_first:
        if path not in kept and len(kept) < 2:
            kept.add(path)
        elif path not in kept:
            remove_marked(path)


def _checkpoints(work: Path) -> dict[int, Path]:
    """Return the checkpoints that are marked as complete, by step."""
    named = ((_CHECKPOINT.fullmatch(path.name), path) for path in work.glob("checkpoint-*"))
    return {int(name[1]): path for name, path in named if name and (path / MARK).is_file()}


def _is_complete(checkpoint: Path) -> bool:
    """Return whether all files of a checkpoint are there to their ends."""
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
    """Put the model in its place, write the record of the run, which makes it finished, and remove the checkpoints."""
    made = folder / UNFINISHED / _MODEL
    with disk_faults(folder):
        remove_marked(made)  # of an end that was interrupted
        made.mkdir(exist_ok=True)
        save(made)
        moves = {path: folder / path.relative_to(made) for path in _files(made)}
        mark_files(made)
        for path, target in (*moves.items(), (None, folder / RUN)):
            if os.path.lexists(target) and not (path and _is_same_file(path, target)):
                raise UserError(
                    f"{str(target)!r} was not written by lexshift: move it away and run the same command again, which "
                    f"does not repeat the training"
                )
        for path in sorted(moves, key=lambda path: path == made / "config.json"):  # without it there is no model
            moves[path].parent.mkdir(exist_ok=True)
            os.replace(path, moves[path])
        tuned = save_run(folder, run)
        _remove_work(made.parent)
    return tuned


def _is_same_file(ours: Path, theirs: Path) -> bool:
    """Return whether a file in our way is the very file that we are about to move there, as after an interruption."""
    return theirs.is_file() and not theirs.is_symlink() and filecmp.cmp(ours, theirs, shallow=False)


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
    with suppress(OSError):  # something else is in it
        for path in sorted((path for path in folder.rglob("*") if path.is_dir()), reverse=True):
            path.rmdir()
    with suppress(OSError):
        folder.rmdir()


def _remove_work(work: Path) -> None:
    """Remove what lexshift wrote of the unfinished work."""
    for path in work.iterdir():
        if path.is_dir() and not path.is_symlink():
            remove_marked(path)
    (work / _PLAN).unlink(missing_ok=True)
    with suppress(OSError):  # something else is in it
        work.rmdir()


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()]
