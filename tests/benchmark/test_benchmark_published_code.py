"""Test ``lexshift.benchmark.published_code`` against recorded answers of the published code and against lexshift."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.spatial import distance as sp

from lexshift import SSCD, Gaussian
from lexshift.benchmark import published_code
from lexshift.scoring.distance import CLOSED_FORM, DISTANCES, get
from lexshift.scoring.swap import STRATEGIES, Strategy, swap_count
from lexshift.study.settings import Settings
from lexshift.utils.arrays import Array, Floats

WORDS = ["w0", "w1", "w2", "w3"]
# Answers for a word: ten metrics for 2 corpus sizes x 9 rates, with 20 seeds of the random strategy and 1
# of the distance strategy; DSCD for the first two random seeds only; and 17 metrics before swapping.
COMPARISONS = {"closed": 10 * 2 * 9 * (20 + 1), "dscd": 7 * 2 * 9 * 2, "original": 17}


def published_name(metric: str) -> str:
    """Return the name of a metric in the published code, from the table in its docstring."""
    rows = re.findall(r"^``(\S+)`` +``(\S+)``$", published_code.__doc__ or "", re.M)
    table = {here: there for there, here in rows}
    distance = metric.removeprefix("dscd-")
    return table.get(metric) or table[metric.replace(distance, "<distance>")].replace("<distance>", distance)


def sets(n_old: int, n_new: int, d: int, seed: int = 0) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.normal(1, 1, (n_old, d)), rng.normal(2, 1.5, (n_new, d))


def swapped_rows(old: Floats, new: Floats, count: int, seed: int) -> tuple[Floats, Floats]:
    """Swap rows at random as the published code does, one row after the other."""
    draw = random.Random(seed)
    s1, s2 = draw.sample(range(len(old)), count), draw.sample(range(len(new)), count)
    kept = [old[i] for i in range(len(old)) if i not in s1], [new[i] for i in range(len(new)) if i not in s2]
    return np.array(kept[0] + [new[i] for i in s2]), np.array(kept[1] + [old[i] for i in s1])


def metric_of_rows(metric: str, old: Floats, new: Floats) -> float:
    """Compute a metric of lexshift on two sets of rows."""
    return float(get(metric)(Gaussian.fit(old), Gaussian.fit(new)))


SHAPES = st.tuples(st.integers(3, 25), st.integers(3, 25), st.integers(3, 9), st.integers(0, 10**6))
RATES = st.sampled_from([0.0, 0.1, 0.3, 0.4, 0.5, 0.9, 1.0])


@pytest.fixture(scope="module")
def answers(data: Path) -> dict[str, Any]:
    """Return the two arrays of each word and the recorded answers of the published code."""
    folder = data / "reference" / "swap"
    recorded = json.loads((folder / "answers.json").read_text())
    assert tuple(recorded["seeds"]) == published_code.SEEDS
    with np.load(folder / "embeddings.npz") as arrays:
        return {w["word"]: (arrays[f"{w['word']}_c1"], arrays[f"{w['word']}_c2"], w) for w in recorded["words"]}


@pytest.mark.slow
@pytest.mark.parametrize("word", WORDS)
def test_every_recorded_answer_is_reproduced(answers: dict[str, Any], word: str) -> None:
    old, new, recorded = answers[word]
    assert (old.shape, new.shape) == ((recorded["n1"], recorded["d"]), (recorded["n2"], recorded["d"]))
    theirs, ours = [], []
    made, settings = dict.fromkeys(COMPARISONS, 0), set()
    for case in recorded["swap"]:
        sizes = tuple(case["corpus_sizes"]) if case["corpus_sizes"] else None
        settings.add((case["strategy"], sizes, case["rate"]))
        compared = [metric for metric in published_code.METRICS if published_name(metric) in case["e_swap"]]
        assert {published_name(metric) for metric in compared} == set(case["e_swap"])  # no name lacks a metric
        for metric in compared:
            theirs.append(case["e_swap"][published_name(metric)])
            ours.append(published_code.e_swap(old, new, metric, case["rate"], case["seed"], case["strategy"], sizes))
            made["dscd" if metric.startswith("dscd-") else "closed"] += 1
    for metric in published_code.METRICS:
        theirs.append(recorded["original_after_np_seed_7"][published_name(metric)])
        ours.append(published_code.e_original(old, new, metric, seed=7))
        made["original"] += 1
    assert (made, len(settings)) == (COMPARISONS, 4 * 9)
    assert_allclose(ours, theirs, rtol=1e-9, atol=0)


def test_all_four_recorded_words_are_compared(answers: dict[str, Any]) -> None:
    assert list(answers) == WORDS


def test_documented_names_match_the_published_code() -> None:
    on_means = ["l2", "braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine"]
    names = ["kl_c1_c2", "kl_c2_c1", "jeff", *(f"{d}_mean" for d in on_means), *(f"{d}_mean_cov" for d in on_means)]
    assert [published_name(metric) for metric in published_code.METRICS] == names


@given(st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_normal_draws_equal_those_of_numpy_with_its_svd(d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    mean, variance = rng.normal(size=d), rng.uniform(0.01, 5, d)
    assert len(set(variance)) == d
    drawn = np.random.RandomState(seed).multivariate_normal(mean, np.diag(variance), published_code.DSCD_SAMPLES)
    assert_allclose(published_code._draw_normal(mean, variance, np.random.RandomState(seed)), drawn, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "variance",
    [
        [2.0] * 5,
        [3.0, 3.0],
        [2.0, 1.0, 1.0],
        [1.0, 1.0, 2.0],
        [3.0, 1.0, 3.0, 2.0, 1.0],
        [2.0, 0.0, 0.0],
        [0.5] * 30 + [1.0],
    ],
)
def test_normal_draws_equal_those_of_numpy_for_equal_variances(variance: list[float]) -> None:
    mean = np.arange(len(variance), dtype=float)
    drawn = np.random.RandomState(3).multivariate_normal(mean, np.diag(variance), published_code.DSCD_SAMPLES)
    assert_allclose(
        published_code._draw_normal(mean, np.array(variance), np.random.RandomState(3)), drawn, rtol=0, atol=1e-9
    )


@given(SHAPES, st.sampled_from(DISTANCES))
def test_dscd_draws_again_for_each_distance_and_pairs_the_rows(shape: tuple[int, int, int, int], distance: str) -> None:
    old, new = sets(*shape)
    seed, rng = shape[3], np.random.RandomState(shape[3])

    def draw(rows: Array) -> Floats:
        return rng.multivariate_normal(rows.mean(axis=0), np.diag(rows.var(axis=0, ddof=1)), 1000)

    order = ["euclidean", "braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine"]
    for drawn in order[: order.index(distance) + 1]:
        x, y = draw(old), draw(new)
        value = np.mean([getattr(sp, drawn)(u, v) for u, v in zip(x, y, strict=True)])
    assert published_code.e_original(old, new, f"dscd-{distance}", seed) == pytest.approx(value, rel=1e-9)


@given(SHAPES, RATES, st.sampled_from(CLOSED_FORM), st.sampled_from(published_code.SEEDS))
def test_lexshift_agrees_on_the_same_swapped_rows(
    shape: tuple[int, int, int, int], rate: float, metric: str, seed: int
) -> None:
    old, new = sets(*shape)
    rows = swapped_rows(old, new, round(min(len(old), len(new)) * rate), seed)
    floor = 2e-4 * np.concatenate(rows).var(axis=0, ddof=1)  # the published code has no such metric
    assume(metric in DISTANCES or all((r.var(axis=0, ddof=1) > floor).all() for r in rows))
    assert published_code.e_swap(old, new, metric, rate, seed) == pytest.approx(metric_of_rows(metric, *rows), rel=1e-9)
    assert published_code.e_swap(old, new, metric, 0.0, seed) == published_code.e_original(old, new, metric)


@given(SHAPES, RATES, st.sampled_from(DISTANCES), st.none() | st.just((254, 354)))
def test_lexshift_agrees_with_the_distance_strategy(
    shape: tuple[int, int, int, int], rate: float, metric: str, sizes: tuple[int, int] | None
) -> None:
    old, new = sets(*shape)
    change = SSCD(metric, "distance", rate, corpus_sizes=sizes).score(old, new)
    assume(change.swap_count == published_code.swap_count(len(old), len(new), rate, sizes))
    value = published_code.e_swap(old, new, metric, rate, 1, "distance", sizes)
    assert_allclose(change.e_swap, [value], rtol=1e-9, atol=1e-12)
    assert change.e_original == pytest.approx(published_code.e_original(old, new, metric), rel=1e-9)


@pytest.mark.parametrize("distance", DISTANCES)
def test_paired_draws_estimate_the_expected_distance(distance: str) -> None:
    old, new = sets(200, 150, 24)
    rng = np.random.default_rng(0)
    x, y = (rng.normal(rows.mean(axis=0), rows.std(axis=0, ddof=1), (1000, 24)) for rows in (old, new))
    error = np.std([getattr(sp, distance)(u, v) for u, v in zip(x, y, strict=True)]) / np.sqrt(1000)
    value = SSCD(f"dscd-{distance}").score(old, new).e_original
    assert abs(published_code.e_original(old, new, f"dscd-{distance}") - value) < 5 * error


def test_swap_count_is_rounded_in_floating_point_and_differs_where_that_errs() -> None:
    assert 45 * 0.7 < 31.5  # the published code rounds down, lexshift rounds to even
    assert (published_code.swap_count(45, 45, 0.7), swap_count(45, 45, 0.7)) == (31, 32)
    old, new = sets(45, 45, 3)
    expected = metric_of_rows("cosine", *swapped_rows(old, new, 31, 1))
    assert published_code.e_swap(old, new, "cosine", 0.7, 1) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("metric", ["kl", "cosine", "dscd-cosine"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_global_random_generators_are_not_modified(metric: str, strategy: Strategy) -> None:
    old, new = sets(8, 9, 4)
    before = random.getstate(), str(np.random.get_state(legacy=False))  # noqa: NPY002
    first = published_code.e_swap(old, new, metric, 0.4, 19, strategy), published_code.e_original(old, new, metric)
    assert (random.getstate(), str(np.random.get_state(legacy=False))) == before  # noqa: NPY002
    random.seed(5)
    np.random.seed(5)  # noqa: NPY002
    assert (
        published_code.e_swap(old, new, metric, 0.4, 19, strategy),
        published_code.e_original(old, new, metric),
    ) == first


def test_seed_of_a_repetition_determines_the_swaps_and_draws() -> None:
    old, new = sets(20, 20, 4)
    for metric in ("kl", "dscd-cosine"):
        assert len({published_code.e_swap(old, new, metric, 0.4, seed) for seed in published_code.SEEDS}) == 20
    farthest = {published_code.e_swap(old, new, "kl", 0.4, seed, "distance") for seed in published_code.SEEDS}
    assert len(farthest) == 1


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_normalised_count_above_the_set_size_is_an_error(strategy: Strategy) -> None:
    old, new, sizes = *sets(30, 10, 3), (400, 100)
    assert published_code.swap_count(30, 10, 0.9, sizes) == 27
    with pytest.raises(ValueError, match=r"published code fails here.*\(400, 100\).*0\.9.*swap 27.*30 and 10"):
        published_code.e_swap(old, new, "kl", 0.9, 1, strategy, sizes)
    assert published_code.e_swap(old, new, "kl", 0.3, 1, strategy, sizes) > 0
    assert SSCD("kl", strategy, 0.9, corpus_sizes=sizes).score(old, new).swap_count == 10  # lexshift caps the count


@pytest.mark.parametrize("metric", ["kl", "kl-reverse", "jeffreys"])
@pytest.mark.parametrize("constant", [(True, False), (False, True), (True, True)])
def test_dimension_without_variance_is_an_error(metric: str, constant: tuple[bool, bool]) -> None:
    old, new = sets(8, 9, 4)
    for rows, flat in zip((old, new), constant, strict=True):
        if flat:
            rows[:, 2] = 1.5
    with pytest.raises(ValueError, match=f"{metric} is (inf|nan).*zero variance"):
        published_code.e_original(old, new, metric)
    with pytest.raises(ValueError, match=f"{metric} is (inf|nan).*zero variance"):
        published_code.e_swap(old, new, metric, 0.0, 1)
    assert SSCD(metric).score(old, new).e_original < np.inf  # lexshift has a variance floor


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "metric beyond the paper": ({"metric": "apd"}, r"metric must be one of .*; got 'apd'"),
    "near miss": ({"metric": "dscd-cosin"}, r"did you mean 'dscd-cosine'\?"),
    "strategy": (
        {"strategy": "rand"},
        r"strategy must be one of distance, random; got 'rand'; did you mean 'random'\?",
    ),
    "rate": ({"rate": 1.5}, r"rate must be a number from 0 to 1; got 1\.5"),
    "no seed": ({"seed": None}, r"seed.*got None"),
    "negative seed": ({"seed": -1}, r"seed.*-1"),
    "half a seed": ({"seed": 1.5}, r"seed.*1\.5"),
    "seed beyond 32 bits": ({"seed": 2**32}, r"seed.*4294967296"),
    "no corpus": ({"corpus_sizes": (1, 0)}, r"corpus_sizes.*got 0"),
    "negative corpus": ({"corpus_sizes": (-5, 3)}, r"corpus_sizes.*got -5"),
    "one corpus": ({"corpus_sizes": 5}, r"corpus_sizes.*got 5"),
    "corpora by name": ({"corpus_sizes": ("a", "b")}, r"corpus_sizes.*got 'a'"),
    "rows": ({"old": [1.0, 2.0]}, r"old must be a 2-D array"),
    "not finite": ({"new": [[1.0, np.nan, 1.0]] * 3}, r"new holds nan at row 0, dimension 1"),
}


@pytest.mark.parametrize("case", BAD)
def test_invalid_arguments_raise_value_errors_that_name_them(case: str) -> None:
    old, new = sets(8, 9, 3)
    arguments: dict[str, Any] = {"old": old, "new": new, "metric": "kl", "rate": 0.4, "seed": 1}
    changes, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        published_code.e_swap(**(arguments | changes))


@pytest.mark.parametrize("word", WORDS)
def test_preset_paper_has_the_score_of_the_published_code(answers: dict[str, Any], word: str) -> None:
    old, new, recorded = answers[word]
    sscd = Settings(preset="paper").sscd()
    metric = published_name(str(sscd.metric))
    e_original = recorded["original_after_np_seed_7"][metric]
    e_swap = [
        case["e_swap"][metric]
        for case in recorded["swap"]
        if (case["strategy"], case["corpus_sizes"], case["rate"]) == (sscd.strategy, None, sscd.rate)
    ]
    assert len(e_swap) == sscd.repeats
    change = sscd.score(old, new, word)
    assert change.e_original == pytest.approx(e_original, rel=1e-6)
    # The swaps are other random ones, so the means of 20 of them differ by their standard error.
    theirs = np.abs(e_original - np.array(e_swap))
    error = np.sqrt((theirs.var(ddof=1) + change.spread**2 * 20 / 19) / 20)
    assert abs(change.score - theirs.mean()) < 4 * error
    assert change.score == change.sscd
    # With the swaps of the published code, the score is the same.
    count = swap_count(len(old), len(new), sscd.rate)
    again = [metric_of_rows(str(sscd.metric), *swapped_rows(old, new, count, seed)) for seed in published_code.SEEDS]
    assert np.abs(change.e_original - np.array(again)).mean() == pytest.approx(theirs.mean(), rel=1e-6)
