"""Test the processing of many words at a time: ordered results, and one core per matrix product."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from lexshift.utils.threads import for_each, single_products


def product_threads() -> set[int]:
    np.ones((2, 2)) @ np.ones((2, 2))
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    with threadpool_limits(2, "blas"):
        if product_threads() != {2}:
            pytest.skip("products of matrices cannot be told to take two cores here")
        yield


@pytest.mark.parametrize("workers", [None, 1, 3])
def test_results_are_in_the_order_of_the_items(workers: int | None) -> None:
    rest = threading.Event()

    def one(i: int) -> int:
        if i == 0 and workers == 3:
            assert rest.wait(30)
        if i == 4:
            rest.set()
        return i * i

    recorder: list[int] = []
    found = for_each(range(5), one, recorder.append, workers)
    assert list(found.items()) == [(i, i * i) for i in range(5)]
    assert recorder == [1, 2, 3, 4, 5]


def test_no_items_give_no_results() -> None:
    assert for_each([], len) == {}


def test_first_error_is_raised_and_pending_items_are_skipped() -> None:
    begun: list[int] = []

    def one(i: int) -> None:
        begun.append(i)
        if i == 0:
            raise ValueError("no")
        time.sleep(0.01)

    with pytest.raises(ValueError, match=r"^no$"):
        for_each(range(1_000), one, workers=1)
    assert len(begun) < 1_000
    assert product_threads() == {2}


def test_matrix_products_use_one_core_per_thread_and_are_restored_afterwards() -> None:
    found = for_each(range(3), lambda _: product_threads())
    assert list(found.values()) == [{1}] * 3
    assert product_threads() == {2}


def test_nested_call_does_not_affect_the_outer_one() -> None:
    with single_products():
        for_each(range(2), lambda i: i)
        assert product_threads() == {1}
    assert product_threads() == {2}
