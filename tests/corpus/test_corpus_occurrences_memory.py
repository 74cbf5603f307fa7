"""Test the memory for occurrences, and that freed memory is returned to the operating system."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import numpy as np
import pytest

from lexshift.corpus.occurrences import OccurrenceCollector, collect_occurrences, give_back_memory
from lexshift.corpus.passages import Block
from lexshift.corpus.sources import Tally
from lexshift.corpus.targets import read_targets


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


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="reads the memory of the process")
def test_an_occurrence_in_a_file_of_its_own_takes_little_memory() -> None:
    targets, n = read_targets(["mouse"]), 5_000
    blocks = [Block(f"The mouse ran {i} times.\n".encode(), "lines", file=f"{i:06}.txt") for i in range(n)]
    warm, collector = (OccurrenceCollector(targets, None, 0) for _ in range(2))
    collect_occurrences(blocks[:200], targets, "en", {"": warm}, {"": Tally()})
    give_back_memory()
    before = resident()
    collect_occurrences(blocks, targets, "en", {"": collector}, {"": Tally()})
    assert resident() - before < 2_000 * n
    rows = collector.rows().select(["file", "line", "sentence", "start", "end"]).to_pylist()
    assert [tuple(row.values()) for row in rows] == [
        (f"{i:06}.txt", 1, f"The mouse ran {i} times.", 4, 9) for i in range(n)
    ]


def test_other_platforms_do_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("ctypes.CDLL", lambda _: pytest.fail("another system has another C library"))
    give_back_memory()
