"""Test power: draws against a plain loop, and known values for an encoder that detects all or nothing."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from lexshift import permutation_test
from lexshift.errors import UserError
from lexshift.simulation.power import Trial, _choose_permutations, draw_sets, interval_over_pairs, minimum_usages, power
from lexshift.utils.arrays import Floats
from lexshift.utils.seeds import generator

NOUNS = ["mouse", "bread", "river", "winter", "garden", "doctor", "letter", "silver"]
PAIRS = [("mouse", "bread"), ("river", "winter")]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source") / "source.txt"
    path.write_text("".join(f"The {noun}, of {noun[:2]}{i}, is here.\n" for i in range(60) for noun in NOUNS))
    return path


class Planted:
    """Encoder with Gaussian noise around means that are ``apart`` for the two source words."""

    def __init__(self, apart: float) -> None:
        self.apart, self.calls = apart, 0
        self.settings = {"model": "planted", "apart": apart}

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        assert all(sentence[start:end].isalpha() for sentence, (start, end) in zip(sentences, spans, strict=True))
        self.calls += 1
        rows = []
        for sentence in sentences:
            origin = re.findall(r"of ((..)\d+)", sentence)[0]
            seed = int.from_bytes(hashlib.sha256(origin[0].encode()).digest()[:8], "little")
            second = origin[1] in ("br", "wi", "do")
            rows.append(np.random.default_rng(seed).normal(size=4) + self.apart * second + 2)
        return np.array(rows, np.float32)


def power_table(source: Path | list[str], apart: float = 10, **options: Any) -> pd.DataFrame:
    return power(source, model=Planted(apart), monitor=False, **{"pairs": PAIRS, "trials": 60, **options})


@given(st.integers(2, 20), st.fractions(0, 1, max_denominator=50).map(float), st.integers(0, 1000))
def test_draw_has_no_row_twice_and_gives_two_sets_of_the_size(size: int, change: float, seed: int) -> None:
    first, second = np.arange(25.0)[:, None], 100 + np.arange(25.0)[:, None]
    sets = draw_sets(first, second, size, change, np.random.default_rng(seed))
    assert [side.shape for side in sets] == [(size, 1)] * 2
    rows = np.concatenate(sets)[:, 0].tolist()
    assert len(set(rows)) == 2 * size
    assert set(rows) <= {*first[:, 0], *second[:, 0]}


@pytest.mark.parametrize("change", [0.0, 0.3, 1.0])
def test_shares_of_draws_equal_those_of_usages_drawn_one_by_one(change: float) -> None:
    rng = np.random.default_rng(0)
    first, second = np.zeros((60, 1)), np.ones((60, 1))
    drawn = np.array([[side.sum() for side in draw_sets(first, second, 20, change, rng)] for _ in range(3_000)])
    chances = [(1 - change) / 2, (1 + change) / 2]
    obvious = np.array([[(rng.random(20) < chance).sum() for chance in chances] for _ in range(3_000)])
    assert drawn.mean(axis=0) == pytest.approx(obvious.mean(axis=0), abs=0.3)
    assert drawn.std(axis=0) == pytest.approx(obvious.std(axis=0), abs=0.2)


def test_every_row_is_drawn_equally_often() -> None:
    rng, counts = np.random.default_rng(0), np.zeros(24)
    for _ in range(3_000):
        old, _ = draw_sets(np.arange(12.0)[:, None], np.arange(12.0, 24)[:, None], 5, 0, rng)
        counts[old[:, 0].astype(int)] += 1
    assert counts / 3_000 == pytest.approx(np.full(24, 5 / 24), abs=0.04)


def test_change_is_detected_if_the_permutation_test_of_the_draw_is_significant() -> None:
    rng = np.random.default_rng(0)
    vectors = {name: (rng.normal(size=(12, 3)), rng.normal(size=(12, 3)) + 1) for name in ("a", "b")}
    drawing = Trial(vectors, "nearest", 300, 7, 0.2)
    seen = set()
    for trial in range(20):
        key = f"{'ab'[trial % 2]} 10 0.3 {trial}"
        old, new = draw_sets(*vectors["ab"[trial % 2]], 10, 0.3, generator(7, "power", key))
        expected = permutation_test(old, new, "apd", 300, 7, key).p <= 0.2
        assert drawing.detects_change(10, 0.3, trial) == expected
        seen.add(expected)
    assert seen == {True, False}


def test_power_from_objects_is_that_from_files(source: Path) -> None:
    texts = source.read_text().splitlines()
    options: dict[str, Any] = {"usages": [10], "changes": [0.5], "apart": 1}
    pd.testing.assert_frame_equal(power_table(texts, **options), power_table(source, **options))


def test_distant_words_give_full_power_and_few_false_alarms(source: Path) -> None:
    table = power_table(source, usages=[10, 40], changes=[0.1, 1], trials=200)
    assert list(zip(table["usages"], table["change"], strict=True)) == [
        (10, 0.0), (10, 0.1), (10, 1.0), (40, 0.0), (40, 0.1), (40, 1.0)
    ]  # fmt: skip
    by = table.set_index(["usages", "change"])
    assert by.loc[(10, 1.0), "power"] == by.loc[(40, 1.0), "power"] == 1
    for size in (10, 40):
        # Fewer than 2 or more than 22 of 200 trials at a level of 0.05 have a probability of one in a thousand.
        assert 2 <= by.loc[(size, 0.0), "seen"] <= 22
    assert by.loc[(40, 0.1), "power"] >= by.loc[(10, 0.1), "power"] - 0.1


def test_equal_words_give_no_more_detections_than_chance(source: Path) -> None:
    table = power_table(source, apart=0, usages=[20], changes=[0.5, 1], trials=200)
    # Usages that differ by chance are drawn repeatedly, so there may be some power at change 1.
    assert table.set_index("change").loc[0.0, "seen"] < 23
    assert table.set_index("change").loc[0.5, "power"] < 0.4


def test_shares_and_intervals_follow_from_the_detections(source: Path) -> None:
    table = power_table(source, apart=1, usages=[10, 15], changes=[0.25, 0.5])
    assert (table["power"] == table["seen"] / table["trials"]).all()
    for row in table.itertuples():
        assert 0 <= row.low < row.power < row.high <= 1 or row.power in (0, 1)


def test_cell_depends_on_the_seed_and_not_on_other_changes(source: Path) -> None:
    options: dict[str, Any] = {"apart": 0.8, "usages": [12]}
    many = power_table(source, changes=[0.25, 0.5, 1], **options)
    alone = power_table(source, changes=[0.5], **options)
    assert many[many["change"] == 0.5].to_dict("list") == alone[alone["change"] == 0.5].to_dict("list")
    others = [power_table(source, changes=[0.5], seed=seed, **options)["seen"].tolist() for seed in range(3)]
    assert len({tuple(seen) for seen in others}) > 1


def test_testing_many_words_lowers_the_power(source: Path) -> None:
    options: dict[str, Any] = {"apart": 1.0, "usages": [12], "changes": [0.75]}
    one, hundred = (power_table(source, words_tested=m, **options).set_index("change") for m in (1, 100))
    assert hundred.loc[0.75, "seen"] < one.loc[0.75, "seen"]
    assert hundred.loc[0.0, "seen"] <= 1


def test_store_is_reused(source: Path, tmp_path: Path) -> None:
    encoder = Planted(10)
    options: dict[str, Any] = {"usages": [10], "trials": 5, "pairs": PAIRS, "monitor": False, "out": tmp_path / "store"}
    one = power(source, model=encoder, changes=[1], **options)
    calls = encoder.calls
    two = power(source, model=encoder, changes=[1], **options)
    assert encoder.calls == calls > 0
    assert one.equals(two)


def test_model_with_periods_is_refused(source: Path) -> None:
    encoder = Planted(1)
    encoder.periods = ("1950s", "2010s")  # type: ignore[attr-defined]
    with pytest.raises(UserError, match="distinguishes periods"):
        power(source, model=encoder, pairs=PAIRS, usages=[10], monitor=False)


def test_pairs_may_be_chosen_at_random(source: Path) -> None:
    table = power_table(source, pairs=None, pseudowords=3, usages=[10], changes=[1], trials=6)
    assert list(table["trials"]) == [6, 6]


Powers = Callable[[np.random.Generator, tuple[int, int]], Floats]


def weak_one_in_ten(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return np.where(rng.random(shape) < 0.1, 0.5, 1.0)


def alike(power: float) -> Powers:
    return lambda _rng, shape: np.full(shape, power)


def beta(power: float, spread: float) -> Powers:
    """Draw pairs whose powers have a beta distribution, with a correlation of ``spread`` between trials of a pair."""
    size = 1 / spread - 1
    return lambda rng, shape: rng.beta(power * size, (1 - power) * size, shape)


@pytest.mark.parametrize(("pairs", "each"), [(20, 10), (5, 40)])
@pytest.mark.parametrize(
    ("mean", "powers"),
    [
        (0.05, alike(0.05)),
        (0.5, alike(0.5)),
        (0.5, beta(0.5, 0.1)),
        (0.5, beta(0.5, 0.7)),
        (0.8, beta(0.8, 0.4)),
        (0.95, beta(0.95, 0.4)),
        (0.95, weak_one_in_ten),
        (1.0, alike(1.0)),
    ],
)
def test_nine_of_ten_intervals_contain_the_mean_power_over_pairs(
    mean: float, powers: Powers, pairs: int, each: int
) -> None:
    rng = np.random.default_rng(5)
    seen = rng.binomial(each, powers(rng, (400, pairs)))
    intervals = np.array([interval_over_pairs(row, [each] * pairs)[:2] for row in seen.tolist()])
    held = (intervals[:, 0] <= mean) & (mean <= intervals[:, 1])
    assert held.mean() >= 0.9 - 3 * np.sqrt(0.09 / 400)


def test_interval_of_independent_trials_is_slightly_wider_than_clopper_pearson() -> None:
    rng = np.random.default_rng(5)
    widths = []
    for _ in range(100):
        seen = rng.binomial(10, 0.5, 20)
        low, high, _ = interval_over_pairs(seen.tolist(), [10] * 20)
        expected = binomtest(int(seen.sum()), 200).proportion_ci(method="exact")
        widths.append((high - low) / (expected.high - expected.low))
    assert min(widths) >= 1
    assert np.median(widths) < 1.3


@given(st.integers(1, 30), st.integers(1, 300), st.booleans())
def test_interval_has_positive_width(pairs: int, trials: int, seen: bool) -> None:
    tries = np.bincount(np.arange(trials) % pairs).tolist()
    low, high, spread = interval_over_pairs([n * seen for n in tries], tries)
    assert (low, high)[seen] == seen
    assert high - low > 0.05
    assert spread == 0 or np.isnan(spread)


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 12)), min_size=1, max_size=20))
def test_interval_contains_the_share_itself(counts: list[tuple[int, int]]) -> None:
    seen, trials = [min(a, b) for a, b in counts], [b for _, b in counts]
    low, high, _ = interval_over_pairs(seen, trials)
    assert 0 <= low <= sum(seen) / sum(trials) <= high <= 1


def test_spread_is_that_of_the_pairs_and_not_of_the_trials() -> None:
    rng = np.random.default_rng(5)
    for powers, expected in ((alike(0.5), 0.0), (beta(0.5, 0.36), 0.3)):
        seen = rng.binomial(10, powers(rng, (1, 3_000))[0])
        assert interval_over_pairs(seen.tolist(), [10] * 3_000)[2] == pytest.approx(expected, abs=0.06)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6), st.floats(0.1, 0.9))
def test_sufficient_size_is_the_first_from_which_all_sizes_reach_the_power(powers: list[float], wanted: float) -> None:
    sizes = [10 * (i + 1) for i in range(len(powers))]
    table = pd.DataFrame({"usages": sizes, "change": 0.5, "power": powers})
    obvious = [size for i, size in enumerate(sizes) if all(value >= wanted for value in powers[i:])]
    assert minimum_usages(table, wanted) == {0.5: min(obvious, default=None)}


@pytest.mark.parametrize(("level", "most"), [(0.05, 1_000), (0.005, 1_000), (0.0005, 10_000), (5e-5, 100_000)])
def test_number_of_permutations_follows_from_the_level(level: float, most: int) -> None:
    assert _choose_permutations("auto", level) == most
    assert math.isclose(_choose_permutations(25, 0.05), 25)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"usages": []}, "usages must be a list"),
        ({"usages": [1]}, "every number of usages must be a whole number of at least 2"),
        ({"changes": [1.5]}, "every change must be a number from 0 to 1"),
        ({"changes": []}, "changes must be a list"),
        ({"trials": 0}, "trials must be a whole number"),
        ({"alpha": 1.0}, "alpha must be a number between 0 and 1"),
        ({"words_tested": 0}, "words_tested must be a whole number"),
        ({"permutations": 10}, "use 20 permutations"),
        ({"words_tested": 10**6}, "the smallest p is 1/100,001"),
        ({"metric": "cosin"}, "did you mean 'cosine'?"),
        ({"space": "flat"}, "space must be one of"),
        ({"pairs": None, "pseudowords": 0}, "pseudowords must be a whole number"),
        ({"metrics": "kl"}, "power has no argument 'metrics'; did you mean 'metric'?"),
        ({"pairs": PAIRS, "usages": [60]}, "'mouse' has 60 of 82"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_mistakes_are_reported(source: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        power_table(source, **options)
