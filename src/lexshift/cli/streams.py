"""Handle standard streams that are closed, cannot encode all characters, or have lost their reader."""

from __future__ import annotations

import contextlib
import io
import os
import sys


def open_streams() -> None:
    """Make all standard streams usable: closed ones go to the null device, and every character can be written.

    The next file that is opened would get the number of a closed stream, and whatever a library prints would then be
    written into that file.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:  # os.open takes the lowest free number, which is this one
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for letters that the terminal's encoding lacks


def discard_output() -> None:
    """Discard what cannot be written to standard output; otherwise Python would report an error at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
