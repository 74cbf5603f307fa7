"""Test accuracies and thresholds against loops over every threshold and every two pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tiny_models import encoder as tiny_encoder

from lexshift.tune.evaluation import (
    BEST,
    CHOSEN,
    auc,
    best_threshold,
    describe_figures,
    describe_results,
    evaluate,
    figures,
    pair_labels,
    read_figures,
    similarities,
    usage_vectors,
)
from lexshift.tune.pairs import Pair, Usage

pytestmark = pytest.mark.tune

Judged = list[tuple[float, bool]]
NEXT = float(np.nextafter(1.0, 0.0))  # the cosine of a vector with itself is this value or 1
FEW = st.sampled_from([-1.0, -0.5, 0.0, 0.25, 0.5, 0.9, 1.0])  # so that there are ties
JUDGED = st.lists(st.tuples(st.one_of(FEW, st.floats(-1, 1)), st.booleans()), min_size=1, max_size=12)


def apart(judged: Judged) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    return np.array([value for value, _ in judged]), np.array([same for _, same in judged])


def right_above(threshold: float, judged: Judged) -> int:
    """Return the number of correct pairs if those above a threshold are called the same."""
    return sum((value > threshold) == same for value, same in judged)


# ----------------------------------------------------------------------------------------------------- best threshold


@given(JUDGED)
@example([(0.5, True), (0.5, False), (0.5, True)])
@example([(0.9, False), (0.1, True)])
def test_best_threshold_is_optimal_with_the_reported_accuracy(judged: Judged) -> None:
    threshold, accuracy = best_threshold(*apart(judged))
    most = max(right_above(edge, judged) for edge in [-2.0, *(value for value, _ in judged)])
    assert accuracy == most / len(judged)
    assert right_above(threshold, judged) == most
    assert type(threshold) is type(accuracy) is float


def test_threshold_lies_between_two_values_even_for_adjacent_floats() -> None:
    judged = [(NEXT, False), (1.0, True)]
    threshold, accuracy = best_threshold(*apart(judged))
    assert accuracy == 1
    assert right_above(threshold, judged) == 2


@given(JUDGED, st.randoms(use_true_random=False))
def test_order_of_the_pairs_does_not_matter(judged: Judged, source: Any) -> None:
    shuffled = source.sample(judged, len(judged))
    assert best_threshold(*apart(judged)) == best_threshold(*apart(shuffled))


def test_threshold_is_the_midpoint_and_the_lowest_of_equally_good_ones() -> None:
    assert best_threshold(*apart([(0.25, False), (0.75, True)])) == (0.5, 1.0)
    assert best_threshold(*apart([(0.0, False), (0.25, True), (0.5, False), (1.0, True)])) == (0.125, 0.75)


@pytest.mark.parametrize("same", [True, False])
def test_pairs_of_one_kind_are_all_on_one_side_of_the_threshold(same: bool) -> None:
    threshold, accuracy = best_threshold(*apart([(0.2, same), (0.7, same)]))
    assert accuracy == 1
    assert (threshold < 0.2) if same else (threshold > 0.7)


# ---------------------------------------------------------------------------------------------------------------- auc


@given(JUDGED)
def test_auc_is_the_share_of_ordered_pairs_with_ties_counted_half(judged: Judged) -> None:
    ours = auc(*apart(judged))
    points = [
        1.0 if one > other else 0.5 if one == other else 0.0
        for one, same in judged
        if same
        for other, differ in judged
        if not differ
    ]
    if points:
        assert ours == pytest.approx(sum(points) / len(points), abs=1e-12)
    else:
        assert np.isnan(ours)


def test_auc_of_perfect_useless_and_opposite_values() -> None:
    values = np.array([0.1, 0.2, 0.8, 0.9])
    same = np.array([False, False, True, True])
    assert (auc(values, same), auc(values, ~same), auc(np.ones(4), same)) == (1.0, 0.0, 0.5)


def test_evaluation_has_the_best_accuracy_and_the_auc() -> None:
    values, same = apart([(0.1, False), (0.4, True), (0.3, True), (0.2, False), (0.9, False)])
    assert figures(values, same) == {"auc": pytest.approx(4 / 6), "accuracy_at_best_threshold": 0.8}


# ------------------------------------------------------------------------------------------------------- similarities


class Known:
    """Encoder with a fixed vector for each sentence that records the usages it encodes."""

    def __init__(self, vectors: dict[str, Sequence[float]]) -> None:
        self.vectors = vectors
        self.usages: list[tuple[str, tuple[int, int]]] = []

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        self.usages += zip(sentences, spans, strict=True)
        return np.array([self.vectors[sentence] for sentence in sentences], np.float32)


def pair(first: str, second: str, same: bool = True) -> Pair:
    return Pair("x", Usage(first, 0, 1), Usage(second, 0, len(second)), same)


def by_angle(*judged: tuple[float, bool]) -> tuple[Known, list[Pair]]:
    """Return pairs with known cosines."""
    vectors: dict[str, Sequence[float]] = {"o": (2.0, 0.0)}
    vectors |= {str(cosine): (3 * cosine, 3 * (1 - cosine**2) ** 0.5) for cosine, _ in judged}
    return Known(vectors), [pair("o", str(cosine), same) for cosine, same in judged]


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 100))
def test_similarities_are_cosines(n: int, d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(2 * n, d)).astype(np.float32)
    known = Known({f"s{i}": row.tolist() for i, row in enumerate(rows)})
    pairs = [pair(f"s{2 * i}", f"s{2 * i + 1}") for i in range(n)]
    ours = similarities(known, pairs)
    assert ours.shape == (n,)
    for i, value in enumerate(ours):
        a, b = rows[2 * i].astype(float), rows[2 * i + 1].astype(float)
        assert value == pytest.approx(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)), abs=1e-9)


def test_encoder_receives_the_spans_of_the_words() -> None:
    known = Known({"one": (1, 0), "three": (0, 1)})
    first, second = usage_vectors(known, [pair("one", "three"), pair("three", "one")])
    assert known.usages == [("one", (0, 1)), ("three", (0, 5)), ("three", (0, 1)), ("one", (0, 3))]
    assert first.tolist() == [[1, 0], [0, 1]]
    assert second.tolist() == [[0, 1], [1, 0]]
    assert first.dtype == second.dtype == np.float64


def test_word_dropped_by_the_tokenizer_has_a_similarity_of_0() -> None:
    pairs = [
        Pair("x", Usage("the \u200b plane", 4, 5), Usage("the plane", 4, 9), True),
        Pair("x", Usage("the plane", 4, 9), Usage("the plane", 4, 9), True),
        Pair("x", Usage("the \u200b plane", 4, 5), Usage("the \u200b plane", 4, 5), False),
    ]
    first, second = usage_vectors(tiny_encoder("bert"), pairs)
    assert not first[0].any()
    assert second[0].any()
    np.testing.assert_allclose(similarities(tiny_encoder("bert"), pairs), [0, 1, 0], atol=1e-12)
    figures = evaluate(tiny_encoder("bert"), pairs, pairs)
    assert np.isfinite(list(figures.values())).all()


# --------------------------------------------------------------------------------------------------------- evaluation


def test_dev_pairs_are_judged_by_the_threshold_of_the_held_out_pairs() -> None:
    known, held_out = by_angle((0.25, False), (0.75, True))
    more, dev = by_angle((0.4, True), (0.6, True), (0.1, False), (0.3, True))
    known.vectors |= more.vectors
    figures = evaluate(known, held_out, dev)
    assert figures == {
        "threshold": pytest.approx(0.5),
        f"held-out {BEST}": 1.0,
        "held-out auc": 1.0,
        CHOSEN: 0.5,
        f"dev {BEST}": 1.0,
        "dev auc": 1.0,
    }


def test_dev_pairs_do_not_change_the_held_out_figures() -> None:
    known, held_out = by_angle((0.2, False), (0.4, True), (0.6, False), (0.8, True), (0.9, True))
    more, dev = by_angle((0.95, False), (-0.5, True))
    known.vectors |= more.vectors
    alone, both = evaluate(known, held_out, []), evaluate(known, held_out, dev)
    assert alone == {name: both[name] for name in ("threshold", f"held-out {BEST}", "held-out auc")}
    assert both[CHOSEN] == 0.0
    assert both["dev auc"] == 0.0


@given(st.lists(st.tuples(FEW, st.booleans()), min_size=1, max_size=6), st.lists(st.tuples(FEW, st.booleans())))
def test_figures_equal_those_of_a_loop(held_out: Judged, dev: Judged) -> None:
    known, ours = by_angle(*held_out)
    more, theirs = by_angle(*dev)
    known.vectors |= more.vectors
    figures = evaluate(known, ours, theirs)

    def right(pairs: list[Pair]) -> float:
        judged = list(zip(similarities(known, pairs).tolist(), pair_labels(pairs).tolist(), strict=True))
        return right_above(figures["threshold"], judged) / len(pairs)

    assert figures[f"held-out {BEST}"] == right(ours)
    assert (CHOSEN in figures) == bool(dev)
    if dev:
        assert figures[CHOSEN] == right(theirs)
        assert figures[f"dev {BEST}"] >= figures[CHOSEN]


def test_gold_is_taken_from_the_pairs() -> None:
    assert pair_labels([pair("a", "b", True), pair("a", "b", False)]).tolist() == [True, False]
    assert pair_labels([]).dtype == bool


# -------------------------------------------------------------------------------------------------- described figures


def test_figures_are_described_in_words() -> None:
    figures = {"threshold": 0.5, f"held-out {BEST}": 0.7126, "held-out auc": 0.8}
    held_out = "AUC 0.800 on held-out pairs (0.713 accuracy at the best threshold of these pairs)"
    assert describe_results(figures) == held_out
    dev = "0.700 on dev pairs (0.600 accuracy at the threshold of the held-out pairs)"
    assert describe_results(figures | {"dev auc": 0.7, CHOSEN: 0.6}) == f"{held_out}, {dev}"
    assert (
        describe_results({"threshold": 0.5, "held-out accuracy": 0.7126, "held-out auc": 0.8})
        == "AUC 0.800 on held-out pairs"
    )


def test_auc_is_reported_first_because_it_needs_no_threshold() -> None:
    known, pairs = by_angle((0.25, False), (0.75, True))
    assert next(iter(evaluate(known, pairs, pairs))) == "held-out auc"
    assert not any(name.endswith("accuracy") for name in evaluate(known, pairs, pairs))


@pytest.mark.parametrize("number", [float, np.float64])
def test_accuracy_and_auc_of_an_evaluation_are_recorded(number: Callable[[float], float]) -> None:
    entry = {"eval_accuracy_at_best_threshold": number(0.75), "eval_auc": number(0.5), "eval_runtime": 1.0, "step": 4}
    figures = read_figures(entry)
    assert figures == {"accuracy_at_best_threshold": 0.75, "auc": 0.5}
    assert all(type(value) is float for value in figures.values())
    assert describe_figures(figures) == "held-out AUC 0.500"


def test_invalid_evaluation_has_no_figures() -> None:
    assert read_figures({"loss": 0.5, "step": 3}) == {}
