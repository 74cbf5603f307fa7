"""Test false discovery control and the decision against the definition of the step-up procedure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lexshift import benjamini_hochberg, decide

p_values = st.lists(
    st.one_of(st.floats(0, 1), st.integers(0, 20).map(lambda i: i / 20), st.floats(0, 0.01)), min_size=1, max_size=40
)


@settings(max_examples=100)
@given(p_values)
def test_q_is_the_smallest_rate_at_which_the_step_up_procedure_accepts_the_word(p: list[float]) -> None:
    ranked = sorted(p)
    slow = [min(1, *(len(p) * r / k for k, r in enumerate(ranked, 1) if r >= value)) for value in p]
    np.testing.assert_allclose(benjamini_hochberg(p), slow, rtol=1e-12)


@settings(max_examples=100)
@given(p_values, st.sampled_from([0.01, 0.05, 0.2]))
def test_decision_equals_that_of_the_step_up_procedure(p: list[float], alpha: float) -> None:
    limits = [alpha * k / len(p) for k in range(1, len(p) + 1)]
    assume(all(abs(value - limit) > 1e-12 for value in p for limit in limits))
    passing = [value for value, limit in zip(sorted(p), limits, strict=True) if value <= limit]
    slow = [bool(passing) and value <= max(passing) for value in p]
    assert decide(benjamini_hochberg(p), alpha).tolist() == slow


def test_q_equal_to_alpha_is_a_change() -> None:
    assert decide([0.0, 0.05, np.nextafter(0.05, 1), 1.0]).tolist() == [True, True, False, False]
    assert decide([0.0, 0.05, 0.1, 1.0], alpha=0.1).tolist() == [True, True, True, False]


def test_false_discovery_rate_is_controlled() -> None:
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(400):
        p = np.concatenate([rng.random(40), rng.random(20) ** 8])
        changed = decide(benjamini_hochberg(p), alpha=0.2)
        shares.append(changed[:40].sum() / max(1, changed.sum()))
    assert 0.10 < np.mean(shares) < 0.2  # BH keeps it at 0.2 * 40 / 60


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([], r"at least one p-value; got shape \(0,\)"),
        ([[0.1], [0.2]], r"got shape \(2, 1\)"),
        (0.5, r"got shape \(\)"),
        ([0.1, float("nan")], "from 0 to 1; got nan"),
        ([0.1, 1.5], "from 0 to 1; got 1.5"),
        ([-0.1], "from 0 to 1; got -0.1"),
        (["x"], "x"),
    ],
)
def test_invalid_p_values_are_refused(p: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        benjamini_hochberg(p)


@pytest.mark.parametrize("alpha", [0, 1, 0.0, 1.0, -0.1, 5, "x", "0.05", float("nan"), None, True])
def test_alpha_outside_0_and_1_is_refused(alpha: Any) -> None:
    with pytest.raises(ValueError, match="alpha must be a number between 0 and 1"):
        decide([0.01], alpha)


def test_non_numeric_q_is_refused() -> None:
    with pytest.raises(ValueError, match="every q must be from 0 to 1; got nan"):
        decide([0.01, float("nan")])
