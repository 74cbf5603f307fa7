"""Test that freed memory is returned to the operating system."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import numpy as np
import pytest

from lexshift.corpus.occurrences import give_back_memory


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc keeps it")
def test_freed_memory_below_a_live_block_is_returned_to_the_system() -> None:
    arrays = [np.ones(10_000) for _ in range(2_000)]  # 160 MB in blocks too small for separate mappings
    last = arrays[-1]
    before = resident()
    del arrays
    give_back_memory()
    assert resident() < before - 100_000_000
    assert last.sum() == 10_000


def test_other_platforms_do_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("ctypes.CDLL", lambda _: pytest.fail("another system has another C library"))
    give_back_memory()
