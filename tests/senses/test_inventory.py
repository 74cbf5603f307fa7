"""Test the assignment of known and new senses on planted vectors, one sense of which is withheld."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.corpus.dictionaries import Entry, Sense, SenseUsage
from lexshift.encode.adaptation import Calibration
from lexshift.errors import UserError
from lexshift.senses.gloss_encoder import GlossEncoder
from lexshift.senses.inventory import (
    Inventory,
    Novelty,
    assign_senses,
    encode_inventory,
    fit_novelty,
    leave_one_out,
    sense_similarities,
)
from lexshift.study.senses import number_senses
from lexshift.utils.arrays import Floats, Indices, Matrix

CALIBRATION = Calibration(10.0, -5.0)


class BySign:
    """Divide usages by the sign of their last dimension."""

    name = "sign"

    def cluster(self, vectors: Matrix, calibration: Calibration, seed: int = 0) -> Indices:
        assert calibration == CALIBRATION
        assert seed == 0
        return (vectors[:, -1] < 0).astype(np.intp)


def planted(rng: np.random.Generator, sense: int, n: int, d: int = 6) -> Floats:
    """Return usages around the axis of a sense."""
    return np.eye(d)[sense] + 0.1 * rng.normal(size=(n, d))


def inventory_of(rng: np.random.Generator, senses: tuple[int, ...], n: int = 6) -> Inventory:
    examples = np.concatenate([planted(rng, sense, n) for sense in senses])
    glosses = np.eye(6)[list(senses)]
    owners = np.concatenate([np.arange(len(senses)), np.repeat(np.arange(len(senses)), n)])
    names = [str(sense) for sense in senses]
    return Inventory(names, np.concatenate([glosses, examples]), owners, np.arange(len(owners)) < len(senses))


@given(st.integers(1, 4), st.integers(1, 9), st.integers(1, 3), st.integers(0, 99))
def test_similarity_is_the_mean_of_the_three_highest_cosines(n: int, m: int, senses: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    cosines, owners = rng.random((n, m)), rng.integers(0, senses, m)
    cosines[rng.random((n, m)) < 0.2] = -np.inf
    found = sense_similarities(cosines, owners, senses)
    for i in range(n):
        for sense in range(senses):
            left = sorted((c for c, o in zip(cosines[i], owners, strict=True) if o == sense and c > -2), reverse=True)
            expected = sum(left[:3]) / len(left[:3]) if left else -np.inf
            assert found[i, sense] == pytest.approx(expected)


def test_usages_of_a_withheld_sense_are_new_and_clustered() -> None:
    rng = np.random.default_rng(0)
    inventory = inventory_of(rng, (0, 1))
    novelty = fit_novelty([inventory, *(inventory_of(rng, (2, 3, 4)) for _ in range(3))], None)
    assert novelty.source == "inventory"
    usages = np.concatenate([planted(rng, 0, 5), planted(rng, 1, 5), planted(rng, 5, 5), -planted(rng, 5, 5)])
    found = assign_senses(usages, inventory, novelty, BySign(), CALIBRATION)
    assert found.senses == ["0"] * 5 + ["1"] * 5 + ["new-1"] * 5 + ["new-2"] * 5
    assert ((found.probability >= 0.5) & (found.probability <= 1)).all()
    bare = assign_senses(usages, inventory, novelty, BySign(), None)
    assert bare.senses[10:] == ["new-1"] * 10


def test_new_senses_have_other_names_than_known_ones() -> None:
    rng = np.random.default_rng(0)
    inventory = replace(inventory_of(rng, (0, 1)), senses=["new-1", "new-york"])
    usages = np.concatenate([planted(rng, 0, 2), planted(rng, 1, 2), planted(rng, 5, 2), -planted(rng, 5, 2)])
    found = assign_senses(usages, inventory, Novelty(20.0, -10.0, 0.5, "encoder"), BySign(), CALIBRATION)
    assert found.senses == ["new-1"] * 2 + ["new-york"] * 2 + ["new-2"] * 2 + ["new-3"] * 2
    assert number_senses(found.senses, inventory.senses)[1] == ["new-1", "new-york", "", ""]


def test_leaving_one_out_does_not_compare_an_example_with_itself() -> None:
    inventory = Inventory(
        ["a", "b"], np.array([[1.0, 0], [0, 1.0], [0.6, 0.8]]), np.array([0, 1, 1]), np.zeros(3, bool)
    )
    known, withheld = leave_one_out(inventory)
    assert known == pytest.approx([0.8, 0.8])  # the only example of the first sense has no known sense
    assert withheld == pytest.approx([0.3, 0, 0.6])


def test_the_share_of_new_senses_is_that_of_single_examples() -> None:
    rng = np.random.default_rng(1)
    inventories = [inventory_of(rng, (0, 1, 2)) for _ in range(3)]  # no sense has a single example
    assert fit_novelty(inventories).new_share == pytest.approx(1 / 55)
    many = [inventory_of(rng, (0, 1, 2), n=1) for _ in range(10)]
    assert fit_novelty(many).new_share == 0.1  # such examples are no sample


def test_similarities_without_information_leave_the_decision_to_the_share_of_new_senses() -> None:
    novelty = Novelty(0.0, 0.0, 0.1, "inventory")
    assert novelty.known_probability(np.array([-1.0, 1.0])) == pytest.approx([0.9, 0.9])


def test_without_any_evidence_senses_are_known() -> None:
    # Examples are near the other sense, or far from the only one, so that known senses are less similar than others.
    two = Inventory(["a", "b"], np.eye(2)[[0, 1, 1]], np.array([0, 1, 0]), np.array([True, True, False]))
    one = Inventory(["a"], np.array([[1.0, 0], [-1.0, 0]]), np.array([0, 0]), np.array([True, False]))
    novelty = fit_novelty([two, one] * 30)
    assert (novelty.slope, novelty.intercept, novelty.new_share) == (0.0, 0.0, 0.1)
    assert assign_senses(np.array([[-1.0, -2.0]]), two, novelty, BySign(), CALIBRATION).senses == ["a"]


def test_glosses_alone_need_the_calibration_of_the_encoder() -> None:
    glosses = Inventory(["a", "b"], np.eye(2), np.array([0, 1]), np.ones(2, bool))
    assert fit_novelty([glosses], CALIBRATION) == Novelty(10.0, -5.0, 0.1, "encoder")
    with pytest.raises(UserError, match="too few examples"):
        fit_novelty([glosses])


def test_a_word_without_entries_has_new_senses_only() -> None:
    class Lengths:
        def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> Matrix:
            return np.array([[len(s), a + 1] for s, (a, _) in zip(sentences, spans, strict=True)], np.float32)

    encoder, novelty = GlossEncoder(Lengths()), Novelty(1.0, 0.0, 0.5, "encoder")
    empty = encode_inventory("mouse", [], encoder)
    assert assign_senses(np.eye(2), empty, novelty, BySign(), None).senses == ["new-1", "new-1"]
    assert assign_senses(np.zeros((0, 2)), empty, novelty, BySign(), None).senses == []
    senses = [Sense("1", "a rodent", [SenseUsage("a mouse", 2, 7)]), Sense("2")]
    entries = [Entry("mouse", "NOUN", "en", senses), Entry("mouse", "VERB", "en", [Sense("1", "to hunt")])]
    found = encode_inventory("mouse", entries, encoder)
    assert found.senses == ["NOUN 1", "VERB 1"]
    assert found.owners.tolist() == [0, 1, 0]
    assert found.is_gloss.tolist() == [True, True, False]
