"""Process many words at a time: one thread for each core, and one core for the matrix products of each thread.

A matrix product takes all cores by default, and several of them at once wait for each other, which makes scoring take
half as long again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")
K = TypeVar("K")
CONTROL_GROUPS = Path("/sys/fs/cgroup")
"""The folder of all control groups (Linux), in which a container's CPU limit is looked up."""
MEMBERSHIP = Path("/proc/self/cgroup")
"""The file that names the control groups of this process."""


def available_cores() -> int:
    """Return the number of cores this process may use, at least 1.

    The machine may have more: the process may be bound to some of its cores (``taskset``, a batch system), or a
    container may limit its CPU time. A limit of one and a half cores counts as two.
    """
    cores: int | None
    if sys.version_info >= (3, 13):
        cores = os.process_cpu_count()
    elif hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count()
    return max(1, min([cores or 1, *_cpu_limits()]))


def _cpu_limits() -> Iterator[int]:
    """Yield the CPU limits, in cores rounded up, of the control groups (Linux) that this process is in."""
    try:
        lines = MEMBERSHIP.read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return
    for line in lines:  # number:controllers:path, without controllers in version 2
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and "cpu" not in controllers.split(","):
            continue
        # A container often sees the path that its group has outside, but its own group as the root: look at both.
        group = Path(path.lstrip("/"))
        files = ("cpu.cfs_quota_us", "cpu.cfs_period_us") if controllers else ("cpu.max",)  # versions 1 and 2
        for folder in (group, *group.parents):
            try:
                texts = [(CONTROL_GROUPS / controllers / folder / name).read_text() for name in files]
                quota, period = map(int, " ".join(texts).split())
            except (OSError, ValueError):  # no such file, or "max" for no limit
                continue
            if quota > 0 and period > 0:
                yield -(-quota // period)


def for_each(
    items: Collection[K],
    function: Callable[[K], T],
    advance: Callable[[int], None] = lambda _: None,
    workers: int | None = None,
) -> dict[K, T]:
    """Call a function for every item, several at a time, and return the results in the order of the items.

    Parameters
    ----------
    items : collection
    function : callable
    advance : callable, optional
        Is called with the number of items that are done.
    workers : int, optional
        Number of items at a time; by default the number of available cores.

    Examples
    --------
    >>> for_each(["a", "bc"], len)
    {'a': 1, 'bc': 2}
    """
    found: dict[K, T] = {}
    with single_products(), ThreadPoolExecutor(workers or available_cores()) as pool:
        futures = {pool.submit(function, item): item for item in items}
        try:
            for done, future in enumerate(as_completed(futures), 1):
                found[futures[future]] = future.result()
                advance(done)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return {item: found[item] for item in items}


def single_products() -> AbstractContextManager[object]:
    """Return a context in which products of matrices take one core each."""
    from threadpoolctl import threadpool_limits  # it looks through all libraries that are loaded

    limits: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return limits
