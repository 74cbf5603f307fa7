"""Test that the number of threads follows the cores that the process may use."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from lexshift.utils.threads import available_cores, for_each


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder for control groups, on a machine whose process may use 16 of 64 cores."""
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8, 24)), raising=False)
    monkeypatch.setattr(os, "process_cpu_count", lambda: 16, raising=False)
    monkeypatch.setattr("lexshift.utils.threads.CONTROL_GROUPS", tmp_path)
    monkeypatch.setattr("lexshift.utils.threads.MEMBERSHIP", tmp_path / "membership")
    return tmp_path


def put(groups: Path, membership: str, files: dict[str, str]) -> None:
    (groups / "membership").write_text(membership)
    for name, text in files.items():
        (groups / name).parent.mkdir(parents=True, exist_ok=True)
        (groups / name).write_text(text)


@pytest.mark.usefixtures("groups")
def test_cores_outside_of_the_affinity_do_not_count() -> None:
    assert available_cores() == 16


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="the standard library answers")
@pytest.mark.usefixtures("groups")
def test_without_affinity_all_cores_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    assert available_cores() == 64
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_cores() == 1


@pytest.mark.parametrize(
    ("limit", "cores"),
    [("300000 100000", 3), ("150000 100000", 2), ("50000 100000", 1), ("9900000 100000", 16), ("max 100000", 16)],
)
def test_cpu_limit_of_a_container_is_rounded_up(groups: Path, limit: str, cores: int) -> None:
    put(groups, "0::/\n", {"cpu.max": f"{limit}\n"})
    assert available_cores() == cores


def test_lowest_limit_of_the_enclosing_groups_counts(groups: Path) -> None:
    files = {"user/cpu.max": "400000 100000", "user/job/cpu.max": "max 100000", "other/cpu.max": "100000 100000"}
    put(groups, "0::/user/job\n", files)
    assert available_cores() == 4


@pytest.mark.parametrize("folder", ["cpu,cpuacct", "cpu,cpuacct/docker/1a2b"])  # inside and outside a container
@pytest.mark.parametrize(("quota", "cores"), [("250000", 3), ("-1", 16)])
def test_limits_of_cgroup_version_1_count(groups: Path, folder: str, quota: str, cores: int) -> None:
    files = {f"{folder}/cpu.cfs_quota_us": quota, f"{folder}/cpu.cfs_period_us": "100000\n"}
    put(groups, "4:cpuset:/\n3:cpu,cpuacct:/docker/1a2b\n1:memory:/docker/1a2b\n", files)
    assert available_cores() == cores


@pytest.mark.parametrize("text", ["", "x", "0 0", "100000 0", "1 2 3"])
def test_invalid_limit_is_ignored(groups: Path, text: str) -> None:
    put(groups, "0::/\n\nnonsense\n", {"cpu.max": text})
    assert available_cores() == 16


def test_one_core_runs_one_word_at_a_time(groups: Path) -> None:
    put(groups, "0::/\n", {"cpu.max": "100000 100000"})
    both = threading.Barrier(2)

    def meet(_: int) -> bool:
        try:
            both.wait(0.2)
        except threading.BrokenBarrierError:
            return False
        return True

    assert for_each(range(2), meet) == {0: False, 1: False}
