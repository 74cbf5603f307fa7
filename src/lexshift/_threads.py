"""Work for many words, several at a time: a thread for each core, and one core for each thread's products of matrices.

Left to itself a product of matrices takes all cores, and several of them at once wait for each other: scoring took
half as long again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager
from typing import TypeVar

T = TypeVar("T")
K = TypeVar("K")


def for_each(
    items: Collection[K], one: Callable[[K], T], told: Callable[[int], None] | None = None, workers: int | None = None
) -> dict[K, T]:
    """Call a function for every item, several at a time; ``told`` hears how many are done. In the items' order.

    >>> for_each(["a", "bc"], len)
    {'a': 1, 'bc': 2}
    """
    found: dict[K, T] = {}
    with single_products(), ThreadPoolExecutor(workers or os.cpu_count() or 1) as pool:
        futures = {pool.submit(one, item): item for item in items}
        try:
            for done, future in enumerate(as_completed(futures), 1):
                found[futures[future]] = future.result()
                if told is not None:
                    told(done)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return {item: found[item] for item in items}


def single_products() -> AbstractContextManager[object]:
    """While it lasts, products of matrices take one core each."""
    from threadpoolctl import threadpool_limits  # it looks through all libraries that are loaded

    limits: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return limits
