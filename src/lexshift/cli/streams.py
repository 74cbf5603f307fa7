"""Standard streams that were closed, cannot encode all characters, or are read by nobody."""

from __future__ import annotations

import contextlib
import io
import os
import sys


def open_streams() -> None:
    """Make all standard streams usable: those that were closed lead nowhere, and every character can be written.

    A descriptor that is left closed would be taken by the next file that is opened, and whatever a library prints would
    then be written into that file.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:  # the lowest number that is free, which is this one, is taken
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # letters that the terminal's encoding does not have


def discard_output() -> None:
    """Discard what cannot be written to standard output; otherwise Python would report an error at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
