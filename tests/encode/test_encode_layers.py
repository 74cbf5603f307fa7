"""Test the parsing of layer specifications."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.encode.layers import Layers, parse_layers
from lexshift.errors import UserError


@pytest.mark.parametrize(
    ("spec", "numbers", "how"),
    [
        ("last", (6,), "mean"),
        (0, (0,), "mean"),
        ("0", (0,), "mean"),
        (6, (6,), "mean"),
        ("3", (3,), "mean"),
        (-1, (6,), "mean"),
        ("-2", (5,), "mean"),
        (-7, (0,), "mean"),
        ("mean:4", (3, 4, 5, 6), "mean"),
        ("sum:1", (6,), "sum"),
        ("sum:2", (5, 6), "sum"),
        ("concat:6", (1, 2, 3, 4, 5, 6), "concat"),
    ],
)
def test_specification_names_layers_from_the_embeddings_upwards(spec: Any, numbers: tuple[int, ...], how: str) -> None:
    assert parse_layers(spec, 6) == Layers(numbers, how)


@given(st.integers(1, 30), st.data())
def test_every_layer_has_two_numbers_and_the_last_n_end_with_the_last(depth: int, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, depth))
    assert parse_layers(number, depth) == parse_layers(number - depth - 1, depth) == Layers((number,))
    count, how = data.draw(st.integers(1, depth)), data.draw(st.sampled_from(["mean", "sum", "concat"]))
    layers = parse_layers(f"{how}:{count}", depth)
    assert layers.numbers == tuple(range(depth + 1))[-count:]
    assert layers.deepest == depth
    assert layers.width(10) == (10 * count if how == "concat" else 10)


@pytest.mark.parametrize(
    "spec", ["", "first", "mean", "mean:", "mean:x", "mean:-1", "max:2", "1.5", 1.5, None, "last "]
)
def test_invalid_specification_is_refused_with_the_valid_ones(spec: Any) -> None:
    with pytest.raises(UserError, match=r"layers must be 'last', the number of a layer, or mean:N") as caught:
        parse_layers(spec, 6)
    assert str(caught.value).endswith(f"got {spec!r}")


@pytest.mark.parametrize("spec", [7, "12", -8, "-100"])
def test_layer_beyond_the_model_is_refused(spec: Any) -> None:
    with pytest.raises(UserError, match=rf"layers is {spec}, but the model has layers 0 \(embeddings\) to 6"):
        parse_layers(spec, 6)


@pytest.mark.parametrize("spec", ["mean:0", "mean:7", "sum:100", "concat:7"])
def test_too_many_layers_or_none_are_refused(spec: str) -> None:
    with pytest.raises(UserError, match=rf"the last {spec.split(':')[1]}, but the model has 6 layers"):
        parse_layers(spec, 6)
