"""Check that the libraries of encoders, which an extra of lexshift installs, are there."""

from __future__ import annotations

from importlib.util import find_spec

from lexshift.errors import UserError


def check_libraries(extra: str) -> None:
    """Raise an error that names an extra of lexshift if the libraries of encoders are not installed."""
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise UserError(
            f"encoding needs torch and transformers: pip install 'lexshift[{extra}]', or without installing it, pipx "
            f"run --spec 'lexshift[{extra}]' lexshift"
        )
