"""What two corpora do to ordinary words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from lexshift.encode.adaptation import Calibration
from lexshift.scoring.background import DRAWS, Background, noise_floor
from lexshift.scoring.empirical_null import soft_root
from lexshift.scoring.gap import gap
from lexshift.utils.arrays import Matrix

CALIBRATION = Calibration(slope=5.0, intercept=-2.5)


def draw_pairs(
    count: int = 40, n_old: int = 30, n_new: int = 20, moved: float = 0.5
) -> dict[str, tuple[Matrix, Matrix]]:
    rng = np.random.default_rng(0)
    pairs = {}
    for i in range(count):
        centre = 2 * rng.normal(size=8)
        new = centre + moved * rng.normal(size=8) + rng.normal(size=(n_new, 8))
        pairs[f"word{i}"] = (centre + rng.normal(size=(n_old, 8)), new)
    return pairs


def test_gaps_of_all_usages_are_those_without_the_common_shift() -> None:
    pairs = draw_pairs()
    background = Background(pairs, CALIBRATION)
    expected = [gap(*background.shift.remove(old, new), CALIBRATION) for old, new in pairs.values()]
    assert background.gaps(40, 40) == pytest.approx(np.array([expected] * DRAWS), abs=1e-6)
    assert (background.gaps(200, 300) == background.gaps(40, 40)).all()


def test_usages_are_drawn_several_times_if_there_are_more_than_the_word_has() -> None:
    pairs = draw_pairs()
    background = Background(pairs, CALIBRATION)
    found = background.gaps(10, 20)
    assert found.shape == (DRAWS, 40)
    assert len(np.unique(found[:, 0])) == DRAWS
    null, excess = background.null(10, 20)
    roots = soft_root(found.ravel(), background.floor / 2)
    assert null.centre == pytest.approx(np.median(roots))
    assert null.scale == pytest.approx(np.median(roots) - np.quantile(roots, norm.cdf(-1)), rel=1e-3)
    assert excess == pytest.approx(((roots - null.centre) / null.scale).reshape(DRAWS, 40))


def test_ordinary_words_are_reduced_to_the_number_of_usages_of_the_word() -> None:
    background = Background(draw_pairs(), CALIBRATION)
    few, many = background.gaps(5, 5), background.gaps(30, 20)
    assert few.std() > 1.5 * many.std()
    assert background.gaps(6, 6).tolist() == few.tolist()  # 5 is the next lower size


def test_word_is_left_out_of_its_own_null() -> None:
    background = Background(draw_pairs(), CALIBRATION)
    null, excess = background.null(40, 40)
    other, others = background.null(40, 40, without="word3")
    assert (excess.shape, others.shape) == ((DRAWS, 40), (DRAWS, 39))
    assert null != other
    assert background.null(40, 40, without="absent")[0] == null


def test_null_is_linear_within_half_of_the_noise_floor() -> None:
    background = Background(draw_pairs(), CALIBRATION)
    assert background.null(40, 40)[0].noise == background.floor / 2 > 0


def test_noise_floor_is_low_without_documents_and_higher_if_documents_have_topics() -> None:
    rng = np.random.default_rng(1)
    names = [f"text{i // 5}" for i in range(30)]
    pairs, documents = {}, {}
    for i in range(40):
        old, new = (np.repeat(2 * rng.normal(size=(6, 8)), 5, axis=0) + rng.normal(size=(30, 8)) for _ in range(2))
        pairs[f"word{i}"], documents[f"word{i}"] = (old, new), (names, names)
    assert Background(pairs, CALIBRATION, documents).floor > 1.3 * Background(pairs, CALIBRATION).floor > 0


def test_few_usages_do_not_raise_the_noise_floor() -> None:
    rng = np.random.default_rng(2)
    centres = {f"word{i}": 2 * rng.normal(size=8) for i in range(40)}
    many = {
        word: (centre + rng.normal(size=(60, 8)), centre + rng.normal(size=(60, 8))) for word, centre in centres.items()
    }
    unequal = {word: (old[:10], new) for word, (old, new) in many.items()}
    few = {word: (old[:10], new[:10]) for word, (old, new) in many.items()}
    assert noise_floor(unequal, CALIBRATION) < 1.5 * noise_floor(many, CALIBRATION)
    assert noise_floor(few, CALIBRATION) > 3 * noise_floor(many, CALIBRATION)


def test_background_depends_on_the_seed_alone() -> None:
    pairs = draw_pairs()
    first, again = Background(pairs, None), Background(dict(reversed(pairs.items())), None)
    assert first.floor == again.floor
    assert (first.gaps(10, 10) == again.gaps(10, 10)[:, ::-1]).all()


def test_words_with_few_usages_cannot_give_a_floor() -> None:
    with pytest.raises(ValueError, match="no word has 8 usages"):
        Background(draw_pairs(n_old=4, n_new=3), CALIBRATION)
