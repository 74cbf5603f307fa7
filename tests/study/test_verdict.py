"""The verdict on a word, from its evidence."""

from __future__ import annotations

import numpy as np
import pytest

from lexshift.encode.adaptation import Calibration
from lexshift.scoring.background import Background
from lexshift.scoring.empirical_null import local_fdr
from lexshift.scoring.gap import Gap, estimate_gap
from lexshift.study.verdict import (
    Backdrop,
    Evidence,
    count_verdicts,
    decide_verdict,
    explain_verdict,
    presence,
    weigh_gaps,
)
from lexshift.utils.arrays import Matrix

BACKDROP = Backdrop(floor=0.02, control_words=150, common_shift=0.2, ordinary_gap=0.015, is_calibrated=True)


@pytest.mark.parametrize(
    ("gap", "fdr", "q", "verdict"),
    [
        (Gap(0.30, 0.20, 0.40, 0.1), 0.01, 0.001, "changed"),
        (Gap(0.30, 0.20, 0.40, 0.1), None, 0.001, "changed"),  # without control words
        (Gap(0.30, 0.20, 0.40, 0.1), 0.21, 0.001, "differs"),
        (Gap(0.30, 0.20, 0.40, 0.1), 0.01, 0.051, "unclear"),
        (Gap(0.019, 0.001, 0.04, 0.1), 0.01, 0.001, "differs"),  # below the noise floor
        (Gap(0.010, 0.001, 0.019, 0.1), 1.0, 0.5, "stable"),
        (Gap(0.010, 0.001, 0.019, 0.1), 1.0, 0.001, "stable"),  # beyond chance, but too small to matter
        (Gap(0.010, 0.001, 0.030, 0.1), 1.0, 0.5, "unclear"),
    ],
)
def test_each_verdict_follows_from_its_statements(gap: Gap, fdr: float | None, q: float, verdict: str) -> None:
    evidence = Evidence(gap, None if fdr is None else 3.0, fdr)
    assert decide_verdict(evidence, q, alpha=0.05, floor=BACKDROP.floor) == verdict


@pytest.mark.parametrize(
    ("verdict", "evidence", "reason"),
    [
        (
            "changed",
            Evidence(Gap(0.344, 0.2, 0.4, 0.1), 6.0, 0.004),
            "gap of 34 points, against 1.5 points of ordinary words (local fdr 0.004)",
        ),
        (
            "changed",
            Evidence(Gap(0.344, 0.2, 0.4, 0.1)),
            "gap of 34 points; beyond chance and the noise floor, not compared with ordinary words",
        ),
        (
            "changed",
            Evidence(Gap(0.344, 0.2, 0.4, 0.1), 9.0, 1e-17),
            "gap of 34 points, against 1.5 points of ordinary words (local fdr below 0.001)",
        ),
        (
            "differs",
            Evidence(Gap(0.05, 0.03, 0.07, 0.1), 1.0, 0.9),
            "gap of 5.0 points, beyond chance, but no more than ordinary words (local fdr 0.9)",
        ),
        (
            "differs",
            Evidence(Gap(0.01, 0.0, 0.03, 0.1), 1.0, 0.9),
            "gap of 1.0 points, beyond chance, but not above the noise floor of 2.0 points",
        ),
        (
            "stable",
            Evidence(Gap(0.01, 0.0, 0.015, 0.1), -1.0, 1.0),
            "gap of 1.0 points, at most 1.5 points, below the noise floor of 2.0 points",
        ),
        (
            "unclear",
            Evidence(Gap(0.01, -0.03, 0.05, 0.12), 0.0, 1.0),
            "gap of 1.0 points, not beyond chance; these usages could have shown a gap of 12 points",
        ),
    ],
)
def test_reason_names_the_decisive_numbers(verdict: str, evidence: Evidence, reason: str) -> None:
    assert explain_verdict(verdict, evidence, BACKDROP) == reason


@pytest.mark.parametrize(
    ("gap", "text"), [(0.344, "34 points"), (0.0951, "10 points"), (0.0949, "9.5 points"), (-0.0004, "0.0 points")]
)
def test_gap_in_points_has_a_decimal_if_it_is_small(gap: float, text: str) -> None:
    assert Backdrop(0.02, 150, 0.2, 0.015, is_calibrated=True).format_gap(gap) == text


def test_very_small_local_fdr_is_not_written_with_an_exponent() -> None:
    backdrop = Backdrop(0.02, 150, 0.2, 0.015, is_calibrated=True)
    reason = explain_verdict("changed", Evidence(Gap(0.344, 0.2, 0.4, 0.1), 9.0, 1.5e-9), backdrop)
    assert reason == "gap of 34 points, against 1.5 points of ordinary words (local fdr below 0.001)"


def test_reason_of_an_encoder_without_calibration_has_no_unit() -> None:
    backdrop = Backdrop(0.02, 150, 0.2, 0.015, is_calibrated=False)
    evidence = Evidence(Gap(0.344, 0.2, 0.4, 0.1), 6.0, 0.004)
    assert explain_verdict("changed", evidence, backdrop).startswith("gap of 0.344, against 0.015 of ordinary words")


@pytest.mark.parametrize(
    ("occurrences", "sizes", "expected"),
    [
        ((109, 2), (790_000, 760_000), "disappeared"),
        ((0, 20), (1_000, 1_000), "appeared"),
        ((0, 19), (1_000, 1_000), None),
        ((3, 25), (1_000, 1_000), None),  # rarer by a factor of 8
        ((3, 25), (10_000, 1_000), "appeared"),  # relative to the size of the corpora
        ((0, 0), (0, 0), None),
    ],
)
def test_presence_depends_on_relative_frequency(
    occurrences: tuple[int, int], sizes: tuple[int, int], expected: str | None
) -> None:
    assert presence(occurrences, sizes) == expected


def draw_ordinary(count: int, rng: np.random.Generator) -> dict[str, tuple[Matrix, Matrix]]:
    """Return the usages of words that all move a little."""
    pairs = {}
    for i in range(count):
        centre = 2 * rng.normal(size=16)
        new = centre + 0.3 * rng.normal(size=16) + rng.normal(size=(40, 16))
        pairs[f"ordinary{i}"] = (centre + rng.normal(size=(40, 16)), new)
    return pairs


def test_moved_words_stand_out_from_ordinary_ones_with_ten_usages_against_sixty() -> None:
    rng = np.random.default_rng(0)
    ordinary = draw_ordinary(150, rng)
    calibration = Calibration(slope=5.0, intercept=-2.5)
    background = Background(ordinary, calibration)
    gaps, sizes = {}, {}
    for name, is_moved in [*((f"moved{i}", True) for i in range(20)), *((f"same{i}", False) for i in range(20))]:
        centre = 2 * rng.normal(size=16)
        end = 2 * rng.normal(size=16) if is_moved else centre
        old, new = centre + rng.normal(size=(10, 16)), end + rng.normal(size=(60, 16))
        gaps[name] = estimate_gap(*background.shift.remove(old, new), calibration, word=name)
        sizes[name] = (10, 60)
    found = weigh_gaps(gaps, sizes, background)
    assert sum(found[f"moved{i}"].local_fdr <= 0.2 for i in range(20)) >= 19  # type: ignore[operator]
    assert sum(found[f"same{i}"].local_fdr <= 0.2 for i in range(20)) == 0  # type: ignore[operator]


def test_moved_words_stand_out_from_ordinary_words_that_did_not_move() -> None:
    """The gaps of the ordinary words lie around 0, where a square root is infinitely steep."""
    rng = np.random.default_rng(0)

    def draw(angle: float, count: int) -> tuple[Matrix, Matrix]:
        old, new = (rng.normal(size=(count, 16)) / 3 for _ in range(2))
        old[:, 0] += 1
        new[:, 0] += np.cos(angle)
        new[:, 1] += np.sin(angle)
        return old, new

    background = Background({f"ordinary{i}": draw(0, 12) for i in range(150)}, None)
    gaps, sizes = {}, {}
    for name, angle in [*((f"moved{i}", 0.8) for i in range(20)), *((f"same{i}", 0.0) for i in range(20))]:
        gaps[name] = estimate_gap(*background.shift.remove(*draw(angle, 12)), word=name)
        sizes[name] = (12, 12)
    found = weigh_gaps(gaps, sizes, background)
    called = {name: (evidence.local_fdr or 0.0) <= 0.2 for name, evidence in found.items()}
    assert sum(called[f"moved{i}"] for i in range(20)) >= 15
    assert sum(called[f"same{i}"] for i in range(20)) == 0


def test_control_word_that_is_requested_is_left_out_of_its_own_null() -> None:
    rng = np.random.default_rng(1)
    ordinary = draw_ordinary(60, rng)
    background = Background(ordinary, None)
    word, pair = next(iter(ordinary.items()))
    gap = estimate_gap(*background.shift.remove(*pair))
    null, _ = background.null(40, 40, without=word)
    found = weigh_gaps({word: gap}, {word: (40, 40)}, background)[word]
    assert found.excess == pytest.approx(float(null.excess(gap.value)))


def test_requested_words_count_once_among_all_words() -> None:
    ordinary = draw_ordinary(60, np.random.default_rng(3))
    background = Background(ordinary, None)
    old, new = next(iter(ordinary.values()))
    shifted = background.shift.remove(old, new)
    gaps = {"ordinary0": estimate_gap(*shifted), "far": estimate_gap(shifted[0], -shifted[1])}
    found = weigh_gaps(gaps, dict.fromkeys(gaps, (40, 40)), background)
    others = background.null(40, 40)[1][:, 1:]  # ordinary0 is requested
    excess = np.array([found[word].excess for word in gaps], float)
    assert [found[word].local_fdr for word in gaps] == pytest.approx(local_fdr(excess, others).tolist())


def test_no_words_need_no_evidence() -> None:
    background = Background(draw_ordinary(40, np.random.default_rng(2)), None)
    assert weigh_gaps({}, {}, background) == {}


def test_verdicts_are_counted_in_one_order() -> None:
    assert count_verdicts({"stable": 3, "differs": 1, "changed": 2, "too few": 0}) == "2 changed, 1 differs, 3 stable"
