"""Fixtures of all tests: the data folder, and a registry of metrics that each test leaves unchanged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from lexshift.scoring.distance import metric

# Kernels compile on their first call, and CI machines are noisy: no deadline for an example.
settings.register_profile("lexshift", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("lexshift")


LONG = ("ray", "tune", "model", "browser", "slow")
"""Markers of tests that take long. Their files run first, so that all test processes end at about the same time."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put long tests first."""
    rank = {name: i for i, name in enumerate(LONG)}
    items.sort(
        key=lambda item: min((rank.get(mark.name, len(LONG)) for mark in item.iter_markers()), default=len(LONG))
    )


@pytest.fixture(scope="session")
def data() -> Path:
    """Return the folder with reference answers and real data, named by LEXSHIFT_DATA."""
    folder = os.environ.get("LEXSHIFT_DATA")
    if not folder:
        pytest.skip("LEXSHIFT_DATA is not set: no reference data here")
    return Path(folder)


@pytest.fixture(autouse=True)
def _registry() -> Iterator[None]:
    """Remove the metrics that a test registered."""
    known = dict(metric._registry)
    yield
    metric._registry.clear()
    metric._registry.update(known)
