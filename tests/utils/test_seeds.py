"""Test that one seed gives a separate stream for each word and each purpose."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lexshift.utils import checks
from lexshift.utils.seeds import Purpose, generator

Key = tuple[int, Purpose, str]
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
SOME_WORDS = ("", "plane", "Plane", "plane ", "naïve", "nai\u0308ve", "平面", "мышь", "🐭", "a\0b", "swap\0plane")
keys = st.tuples(
    st.integers(0, 2**130), st.sampled_from(PURPOSES), st.one_of(st.text(max_size=10), st.sampled_from(SOME_WORDS))
)


def numbers(key: Key, count: int = 4) -> list[int]:
    return generator(*key).integers(0, 2**63, count).tolist()


@given(keys)
def test_same_seed_purpose_and_word_give_the_same_numbers(key: Key) -> None:
    assert numbers(key) == numbers(key)


@given(keys, keys)
def test_different_seeds_purposes_or_words_give_different_numbers(one: Key, other: Key) -> None:
    assume(one != other)
    assert numbers(one) != numbers(other)


@given(keys, keys)
def test_changing_one_part_of_the_key_is_enough(key: Key, other: Key) -> None:
    for i in range(3):
        assume(key[i] != other[i])
        changed: Any = (*key[:i], other[i], *key[i + 1 :])
        assert numbers(key) != numbers(changed)


def test_every_word_and_purpose_has_its_own_stream() -> None:
    words = (*SOME_WORDS, *(f"word{i}" for i in range(1_000)))
    first = {tuple(numbers((seed, purpose, word), 1)) for seed in (0, 1) for purpose in PURPOSES for word in words}
    assert len(first) == 2 * len(PURPOSES) * len(words)


def test_all_digits_of_a_seed_count() -> None:
    assert len({generator(2**power, "swap").random() for power in range(200)}) == 200


def test_streams_of_neighbouring_seeds_are_uncorrelated() -> None:
    draws = np.array([generator(seed, "swap", "plane").random(2_000) for seed in range(30)])
    correlations = np.corrcoef(draws)[np.triu_indices(30, 1)]
    assert np.abs(correlations).max() < 5 / np.sqrt(2_000)


def test_numbers_do_not_depend_on_the_process_or_the_machine() -> None:
    assert generator(0, "swap", "plane").bit_generator.random_raw() == 17817599232500940925
    assert generator(7, "bootstrap", "naïve").bit_generator.random_raw() == 6475513699141784139


def test_word_is_empty_by_default() -> None:
    assert generator(3, "samples").random() == generator(3, "samples", "").random()


@pytest.mark.parametrize("seed", [0, 1, 2**200, np.int64(5), np.uint8(5)])
def test_nonnegative_integers_are_seeds(seed: Any) -> None:
    checked = checks.seed(seed)
    assert checked == seed
    assert type(checked) is int
    assert generator(checked, "swap").random() == generator(seed, "swap").random()


@pytest.mark.parametrize(
    "seed", [-1, 1.0, 1.5, float("nan"), "1", None, True, np.bool_(False), np.float64(1), [1], -(2**99)]
)
def test_other_values_are_refused_as_a_seed(seed: Any) -> None:
    with pytest.raises(ValueError, match=r"seed must be a whole number, 0 or more; got "):
        checks.seed(seed)
