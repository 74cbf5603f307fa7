"""The folder of a tuned model: checkpoints while it is tuned, the model and what was done when it is."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexshift.errors import UserError
from lexshift.store.format import first_difference
from lexshift.utils.files import disk_faults, one_writer, write_bytes

if TYPE_CHECKING:
    import pandas as pd

RUN, UNFINISHED, _PLAN, _MODEL = "run.json", "unfinished", "plan.json", "model"
STATE = "trainer_state.json"
"""The last file that the trainer writes of a checkpoint."""
_PICKED_UP = ("optimizer.pt", "scheduler.pt", "rng_state.pth")  # archives that a run goes on from


@dataclass(frozen=True, eq=False)
class Tuned:
    """A tuned model.

    Attributes
    ----------
    folder : Path
        To be given as a model to ``embed``, ``compare`` and ``eval``.
    run : dict
        What was done and what was measured, as in ``run.json``.
    """

    folder: Path
    run: dict[str, Any]

    @property
    def history(self) -> pd.DataFrame:
        """What was measured on the way, a row for each look at the held-out examples."""
        import pandas as pd

        return pd.DataFrame(self.run["history"])


@contextmanager
def tuning_folder(out: str | os.PathLike[str]) -> Iterator[Path]:
    """The folder, to be written by this process alone."""
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


def finished(folder: Path, plan: dict[str, Any]) -> Tuned | None:
    """The model that the same plan made before; one that another plan made is not touched."""
    path = folder / RUN
    if path.exists():
        try:
            run = json.loads(path.read_bytes())
            difference = first_difference(run["plan"], _plain(plan))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UserError(f"{str(path)!r} is damaged; choose another folder (--out)") from None
        if difference is not None:
            raise UserError(f"{str(folder)!r} holds a model tuned with {difference}; choose another folder (--out)")
        return Tuned(folder, run)
    begun = folder / UNFINISHED / _PLAN
    if begun.exists():
        try:
            difference = first_difference(json.loads(begun.read_bytes()), _plain(plan))
        except (ValueError, TypeError, AttributeError):
            raise UserError(f"{str(begun)!r} is damaged: delete {str(begun.parent)!r} and run again") from None
        if difference is not None:
            raise UserError(
                f"{str(begun.parent)!r} holds the unfinished work of a run with {difference}: finish that run with its "
                f"own command, or delete that folder"
            )
        return None
    if begun.parent.exists() and not _is_work(begun.parent):
        raise UserError(f"{str(begun.parent)!r} holds other files; move it away or choose another folder (--out)")
    with disk_faults(folder):
        begun.parent.mkdir(exist_ok=True)
        write_bytes(begun, json.dumps(_plain(plan), indent=1).encode())
    return None


def _plain(plan: dict[str, Any]) -> dict[str, Any]:
    """A plan as it comes back from a file."""
    return json.loads(json.dumps(plan))


def last_checkpoint(folder: Path) -> str | None:
    """The latest checkpoint that is whole; those that are not are removed."""
    found = []
    for path in (folder / UNFINISHED).glob("checkpoint-*"):
        if _is_whole(path):
            found.append(path)
        else:
            shutil.rmtree(path, ignore_errors=True)
    return str(max(found, key=lambda path: int(path.name.split("-")[1]))) if found else None


def _is_whole(checkpoint: Path) -> bool:
    """Whether all files of a checkpoint are there to their ends."""
    from safetensors import SafetensorError, safe_open

    weights = list(checkpoint.glob("*.safetensors"))
    try:
        json.loads((checkpoint / STATE).read_bytes())
        for path in weights:
            with safe_open(path, "np"):
                pass
    except (OSError, ValueError, SafetensorError):
        return False
    return bool(weights) and all(zipfile.is_zipfile(checkpoint / name) for name in _PICKED_UP)


def finish(folder: Path, save: Callable[[Path], None], run: dict[str, Any]) -> Tuned:
    """Put the model in its place, then say what was done, which makes it finished, and remove the checkpoints."""
    work = folder / UNFINISHED
    made = work / _MODEL
    with disk_faults(folder):
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir()
        save(made)
        for path in sorted(made.iterdir(), key=lambda path: path.name == "config.json"):  # without it there is no model
            target = folder / path.name
            if target.is_dir():
                shutil.rmtree(target)
            os.replace(path, target)
        tuned = save_run(folder, run)
        shutil.rmtree(work)
    return tuned


def save_run(folder: Path, run: dict[str, Any]) -> Tuned:
    """Write what was done and measured."""
    text = json.dumps(run, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    with disk_faults(folder):
        write_bytes(folder / RUN, text.encode())
    return Tuned(folder, json.loads(text))
