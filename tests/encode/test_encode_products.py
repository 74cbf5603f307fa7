"""Test products with packed weights against the plain definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lexshift.encode import forward
from lexshift.encode.forward import make_product

SIZES = st.integers(1, 70)


@given(SIZES, SIZES, SIZES, st.integers(0, 2**31))
def test_product_is_the_sum_over_the_columns_plus_the_bias(rows: int, inner: int, out: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, weight, bias = (rng.normal(size=size).astype(np.float32) for size in ((rows, inner), (out, inner), out))
    expected = np.array([[np.dot(a.astype(float), w.astype(float)) for w in weight] for a in x]) + bias
    found = make_product(torch.from_numpy(weight), torch.from_numpy(bias))(torch.from_numpy(x))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_other_precisions_are_not_packed(dtype: torch.dtype) -> None:
    weight, bias, x = torch.ones(3, 2, dtype=dtype), torch.ones(3, dtype=dtype), torch.ones(4, 2, dtype=dtype)
    assert torch.equal(make_product(weight, bias)(x), torch.full((4, 3), 3, dtype=dtype))


def test_build_without_packed_products_multiplies_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forward, "_has_packed_products", lambda: False)
    found = make_product(torch.eye(2) * 2, torch.ones(2))(torch.tensor([[1.0, 3.0]]))
    assert found.tolist() == [[3.0, 7.0]]
