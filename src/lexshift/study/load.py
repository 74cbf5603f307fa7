"""load: read the results of an earlier run."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile

from lexshift.errors import UserError
from lexshift.scoring.space import Space
from lexshift.store.siblings import Siblings
from lexshift.study.control_usages import read_controls
from lexshift.study.discovery import Discovery
from lexshift.study.folder import read_results
from lexshift.study.result import Result
from lexshift.study.result_files import DETAILS, SPACE, STORE
from lexshift.study.settings import ONCE
from lexshift.study.trace_result import Trace

_CLASSES = {kind.kind.name: kind for kind in (Result, Discovery, Trace)}


def load(folder: str | os.PathLike[str]) -> Result | Discovery | Trace:
    """Read the results that :func:`lexshift.compare`, :func:`lexshift.discover` or :func:`lexshift.trace` saved.

    Neither the model nor the corpora are needed.

    Parameters
    ----------
    folder : str or path
        The results folder.

    Returns
    -------
    Result, Discovery or Trace
        Equal to the result that was saved.

    Raises
    ------
    UserError
        If the folder holds no results, or a file in it is damaged.

    Examples
    --------
    >>> import tempfile
    >>> import lexshift
    >>> from lexshift.demo import ExampleEncoder  # in place of a built-in model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     saved = lexshift.compare(
    ...         *lexshift.demo_corpora(), words=["mouse"], model=ExampleEncoder(), resamples=50, out=folder)
    ...     loaded = lexshift.load(folder)
    >>> loaded.table.equals(saved.table)
    True
    """
    path = Path(folder)
    run, files = read_results(path, {name: kind.kind for name, kind in _CLASSES.items()})
    siblings = Siblings(path / STORE)
    try:
        restore, details = _CLASSES[run.pop("kind")].restore, json.loads(files[DETAILS])
        contents = {entry["key"]: entry["content"] for entry in run["corpora"]}
        stored = {entry["label"]: entry["content"] for entry in siblings.index["corpora"]}
        scored = {key if isinstance(key, str) else key[0] for key in details["scores"]}
        if siblings.settings != run["embedding"] or not (
            contents.items() <= stored.items() and scored <= set(siblings)
        ):
            raise UserError(f"the store {str(siblings.path)!r} is not the one that the results were computed from")
        space = Space.read(BytesIO(files[SPACE])) if SPACE in files else None
        chosen = siblings.select(list(contents))
        if run["settings"]["duplicates"] == ONCE:
            chosen = chosen.without_duplicates()
        result = replace(restore(chosen, run, space, details), controls=read_controls(path, run, siblings))
        result.headline()  # computes the whole table, which finds damage now, not later
    except UserError:
        raise
    except (AttributeError, BadZipFile, EOFError, LookupError, RecursionError, TypeError, ValueError):
        raise UserError(f"the results in {str(path)!r} are damaged; run the command that wrote them again") from None
    return result
