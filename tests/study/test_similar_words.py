"""A word against words like it, and scores of very many words."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from scipy.stats import rankdata

from lexshift.engine.cache import Kept
from lexshift.scoring.permutation import fine_enough
from lexshift.scoring.scores import Scores, score, score_word
from lexshift.scoring.significance import benjamini_hochberg
from lexshift.scoring.sscd import SSCD
from lexshift.study import scored
from lexshift.study.scored import as_table, from_table, score_all
from lexshift.study.similar_words import against_similar, spread
from lexshift.utils.arrays import Floats, Matrix
from lexshift.utils.monitor import Silent

Pair = tuple[Matrix, Matrix]


@given(st.integers(2, 12), st.integers(2, 12), st.integers(1, 6), st.integers(0, 99))
def test_spread_is_the_mean_distance_of_two_usages_in_a_corpus(n_old: int, n_new: int, d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    old, new = rng.normal(size=(n_old, d)).astype(np.float32), rng.normal(size=(n_new, d)).astype(np.float32)
    expected = (pdist(old.astype(float), "cosine").mean() + pdist(new.astype(float), "cosine").mean()) / 2
    assert spread(old, new) == pytest.approx(expected, abs=1e-6)


def slow_control(scores: Floats, frequencies: Floats, spreads: Floats, like: int) -> list[tuple[float, float, float]]:
    f, s = rankdata(frequencies), rankdata(spreads)
    found = []
    for i in range(len(scores)):
        others = sorted(
            (j for j in range(len(scores)) if j != i), key=lambda j: (f[i] - f[j]) ** 2 + (s[i] - s[j]) ** 2
        )
        near = np.array([scores[j] for j in others[:like]])
        median = float(np.median(near))
        off = 1.4826 * float(np.median(np.abs(near - median)))
        found.append((median, (scores[i] - median) / off if off else 0.0, float((near < scores[i]).mean())))
    return found


@given(st.integers(2, 40), st.integers(1, 50), st.integers(0, 99))
def test_each_word_is_set_against_its_nearest_by_frequency_and_spread(n: int, like: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=n)
    # Irrational steps: no two distances in rank are equal but by symmetry, which the test leaves out.
    frequencies, spreads = rng.permutation(n).astype(float), rng.normal(size=n)
    f, s = rankdata(frequencies), rankdata(spreads)
    distances = (f[:, None] - f) ** 2 + (s[:, None] - s) ** 2
    control = against_similar(scores, frequencies, spreads, like)
    for i, (expected, excess, above) in enumerate(slow_control(scores, frequencies, spreads, like)):
        ordered = np.sort(np.delete(distances[i], i))
        if like < n - 1 and ordered[like - 1] == ordered[like]:
            continue  # two words at one distance, of which either may be taken
        assert control.expected[i] == pytest.approx(expected)
        assert control.excess[i] == pytest.approx(excess)
        assert control.above[i] == pytest.approx(above)


def test_frequency_explains_a_score_that_is_high_for_all_rare_words() -> None:
    """Scores fall with frequency; one word in the middle is far above its like, though below all rare words."""
    rng = np.random.default_rng(0)
    frequencies = np.linspace(1, 100, 400)
    scores = 0.5 - 0.004 * frequencies + rng.normal(0, 0.01, 400)
    scores[200] += 0.15
    control = against_similar(scores, frequencies, rng.normal(size=400), 50)
    assert np.argmax(control.excess) == 200
    assert np.argmax(scores) != 200
    assert control.above[200] == 1


def test_a_word_alone_has_nothing_to_be_set_against() -> None:
    control = against_similar(np.array([0.4]), np.array([1.0]), np.array([0.5]))
    assert (control.expected.tolist(), control.excess.tolist(), control.above.tolist()) == ([0.4], [0.0], [0.0])


def test_words_that_are_alike_in_all_have_no_excess() -> None:
    control = against_similar(np.full(300, 0.2), np.full(300, 1.0), np.full(300, 0.5))
    assert control.excess.tolist() == [0.0] * 300
    assert control.above.tolist() == [0.0] * 300


def pairs(n: int, moved: int, seed: int = 0) -> dict[str, Pair]:
    rng = np.random.default_rng(seed)
    made = {}
    for i in range(n):
        shift = 1.5 if i < moved else 0.0
        made[f"w{i}"] = (
            rng.normal(0, 1, (12, 5)).astype(np.float32),
            rng.normal(shift, 1, (11, 5)).astype(np.float32),
        )
    return made


def all_scores(
    words: dict[str, Pair], kept: Kept, permutations: int | Literal["auto"] = "auto", identity: str = "x"
) -> Scores:
    return score_all(
        words,
        SSCD("cosine", rate=0.3),
        0.3,
        permutations,
        20,
        0.95,
        0.05,
        kept,
        identity,
        Silent(),
    )


def test_scores_are_those_of_a_comparison(tmp_path: Path) -> None:
    words = pairs(5, 2)
    ours = score_all(words, SSCD("cosine", rate=0.3), "auto", 2_000, 20, 0.95, 0.05, Kept(tmp_path), "x", Silent())
    theirs = score(words, SSCD("cosine", rate=0.3), "auto", 2_000, 20, 0.95, Silent())
    assert ours.sscd == theirs.sscd
    assert as_table(ours.words) == as_table(theirs.words)


def test_scores_survive_being_kept(tmp_path: Path) -> None:
    words = pairs(3, 1)
    made = {word: score_word(word, *pair, SSCD("cosine"), 100, 20, 0.95) for word, pair in words.items()}
    kept = Kept(tmp_path)
    kept.put("k", as_table(made))
    table = kept.get("k")
    assert table is not None
    back = from_table(table)
    assert list(back) == list(made)
    for word, scored_word in made.items():
        assert back[word].interval == scored_word.interval
        assert back[word].test == scored_word.test
        assert back[word].change.e_swap.tolist() == scored_word.change.e_swap.tolist()
        assert back[word].change.score == scored_word.change.score


def test_what_was_scored_is_not_scored_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words, kept = pairs(6, 2), Kept(tmp_path)
    monkeypatch.setattr(scored, "_TOGETHER", 2)
    calls: list[str] = []

    def counting(word: str, *given: object) -> object:
        calls.append(word)
        if len(calls) == 5 and stops:
            raise KeyboardInterrupt
        return score_word(word, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(scored, "score_word", counting)
    stops = True
    with pytest.raises(KeyboardInterrupt):
        all_scores(words, kept, 500)
    stops = False
    calls.clear()
    first = all_scores(words, kept, 500)
    assert sorted(calls) == ["w4", "w5"]
    calls.clear()
    again = all_scores(words, kept, 500)
    assert calls == []
    assert as_table(first.words) == as_table(again.words)
    all_scores(words, kept, 500, "other vectors")
    assert len(calls) == 6


def test_few_changed_words_among_many_get_more_permutations(tmp_path: Path) -> None:
    words = pairs(40, 1)
    found = all_scores(words, Kept(tmp_path)).words
    assert found["w0"].test.permutations == 10_000
    assert found["w0"].test.p < 1e-3
    assert {s.test.permutations for s in found.values()} >= {1_000}
    q = benjamini_hochberg([s.test.p for s in found.values()])
    assert q[0] <= 0.05


def test_many_changed_words_need_no_more(tmp_path: Path) -> None:
    words = pairs(12, 12)
    found = all_scores(words, Kept(tmp_path)).words
    assert {s.test.permutations for s in found.values()} == {1_000}


@settings(deadline=None)
@given(st.integers(1, 3_000), st.integers(0, 3_000), st.sampled_from([1_000, 10_000, 100_000]))
def test_permutations_are_enough_if_the_threshold_is_ten_times_the_least_p(m: int, k: int, n: int) -> None:
    k = min(k, m)
    p = np.full(m, 0.9)
    p[:k] = 1 / (n + 1)
    called = k if k and (m / k) / (n + 1) <= 0.05 else 1
    assert fine_enough(p, n, 0.05) == (0.05 * called / m >= 10 / (n + 1))


def test_no_words_have_no_scores(tmp_path: Path) -> None:
    found = score_all({}, SSCD("cosine"), 0.3, "auto", 20, 0.95, 0.05, Kept(tmp_path), "x", Silent())
    assert found.words == {}
    assert found.curve is None
