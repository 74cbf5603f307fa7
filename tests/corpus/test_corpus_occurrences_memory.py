"""Memory that is free is the system's again."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import numpy as np
import pytest

from lexshift.corpus.occurrences import give_back_memory


def resident() -> int:
    """Bytes of memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps it")
def test_what_was_freed_below_something_that_is_in_use_is_given_back() -> None:
    arrays = [np.ones(10_000) for _ in range(2_000)]  # 160 MB, each too small for a mapping of its own
    last = arrays[-1]
    before = resident()
    del arrays
    give_back_memory()
    assert resident() < before - 100_000_000
    assert last.sum() == 10_000


def test_elsewhere_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("ctypes.CDLL", lambda _: pytest.fail("another system has another C library"))
    give_back_memory()
