"""Memory that is no longer used."""

from __future__ import annotations

import ctypes
import sys


def give_back() -> None:
    """Give memory that is free back to the system; the C library of Linux keeps more and more of it otherwise."""
    if sys.platform.startswith("linux"):
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # there is none in other C libraries
        if trim is not None:
            trim(0)
