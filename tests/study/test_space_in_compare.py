"""Test the space of a comparison, its distance weight, its tested metric and its methods text."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

from lexshift import SSCD, Metric, Result, UserError, bootstrap, compare, permutation_test
from lexshift.report.methods import methods
from lexshift.scoring.space import KINDS, Space, fit_space
from lexshift.senses.evidence import leanings
from lexshift.study.settings import default_distance_weight
from lexshift.utils.arrays import Pairs

Paths: TypeAlias = tuple[Path, Path]

COUNTS = {"mouse": (24, 20), "bread": (20, 22), "river": (18, 16), "comet": (3, 20)}
SCORED = ["mouse", "bread", "river"]  # comet has too few usages
FAST: dict[str, Any] = {"permutations": 200, "resamples": 30, "monitor": False}


class Toy:
    """Encoder whose vector is a sum of hashes of the surrounding words, with unequal dimensions and a nonzero mean."""

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        around = [(s[:start] + s[end:]).split() for s, (start, end) in zip(sentences, spans, strict=True)]
        keys = [[hashlib.blake2b(word.encode(), digest_size=6).digest() for word in words] for words in around]
        sums = [np.sum([np.frombuffer(key, np.int8) / 64 for key in of_one], axis=0) for of_one in keys]
        return np.array((np.array(sums) + 3) * [1, 1, 1, 2, 5, 20], np.float32)


def lines_of(period: int) -> list[str]:
    """Return a corpus in which mouse has other neighbours than in the other corpus."""
    rng, lines = random.Random(period), []
    for word, counts in COUNTS.items():
        use = "new" if period and word == "mouse" else "old"
        around = [f"{word}{use}{letter}" for letter in "abcdefgh"]
        for _ in range(counts[period]):
            a, b, c = rng.sample(around, 3)
            lines.append(f"The {a} and the {word} of the {b} was {c}.")
    rng.shuffle(lines)
    return lines


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk in tests."""
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> Paths:
    folder = tmp_path_factory.mktemp("corpora")
    for period, name in enumerate(("1850.txt", "1999.txt")):
        (folder / name).write_text("\n".join(lines_of(period)) + "\n", "utf-8")
    return folder / "1850.txt", folder / "1999.txt"


@pytest.fixture(scope="module", params=KINDS)
def saved(
    request: pytest.FixtureRequest, paths: Paths, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Result, Path]:
    """Return a comparison in each of the spaces and its folder."""
    out = tmp_path_factory.mktemp(request.param) / "out"
    return made(paths, space=request.param, out=out), out


@pytest.fixture(scope="module")
def default_result(paths: Paths) -> Result:
    """Return a comparison with default settings."""
    return made(paths)


def made(paths: Paths, words: Any = tuple(COUNTS), **options: Any) -> Result:
    return compare(*paths, words, **{"model": Toy(), **FAST, **options})


def select_pairs(result: Result) -> Pairs:
    """Return the stored vectors of the words that have enough of them."""
    return {word: (result.siblings[word].old, result.siblings[word].new) for word in SCORED}


def assert_scored(result: Result, pairs: Pairs, sscd: SSCD, tested: str) -> None:
    """Check the table against the individual functions applied to these vectors."""
    table = result.table.set_index("word")
    assert sorted(result.scores.words) == sorted(pairs)
    for word, (old, new) in pairs.items():
        row, change = table.loc[word], sscd.score(old, new, word)
        interval = bootstrap(old, new, sscd, FAST["resamples"], 0.95, word)
        p = permutation_test(old, new, tested, FAST["permutations"], sscd.seed, word).p
        assert (row["score"], row["e_original"]) == (change.score, change.e_original)
        assert (row["low"], row["high"], row["p"]) == (interval.low, interval.high, p)


# The space of a comparison


def test_scores_use_the_vectors_in_the_requested_space(saved: tuple[Result, Path]) -> None:
    result = saved[0]
    pairs = select_pairs(result)
    moved = fit_space(pairs, result.settings["space"]).apply_to_words(pairs)
    assert_scored(result, moved, SSCD("nearest", rate=0.5, distance_weight=0.8), "energy")


@pytest.mark.parametrize("metric", ["kl", "cosine", "apd"])
@pytest.mark.parametrize("space", KINDS)
def test_every_metric_uses_the_vectors_in_the_space(paths: Paths, metric: str, space: str) -> None:
    result = made(paths, metric=metric, space=space, rate=0.5, repeats=3)
    pairs = select_pairs(result)
    assert_scored(result, fit_space(pairs, space).apply_to_words(pairs), SSCD(metric, rate=0.5, repeats=3), metric)


def test_space_changes_the_scores(paths: Paths) -> None:
    scores = [made(paths, space=space).table.set_index("word")["score"]["mouse"] for space in KINDS]
    assert len(set(scores)) == 3


def test_words_with_too_few_usages_do_not_change_the_space(saved: tuple[Result, Path]) -> None:
    result = saved[0]
    assert result.space is not None
    wanted = fit_space(select_pairs(result), result.settings["space"])
    np.testing.assert_array_equal(result.space.mean, wanted.mean)
    np.testing.assert_array_equal(result.space.scale, wanted.scale)
    comet = (result.siblings["comet"].old, result.siblings["comet"].new)
    with_it = fit_space({**select_pairs(result), "comet": comet}, "centred")
    assert not np.allclose(with_it.mean, wanted.mean)


def test_space_is_written_and_read_back(saved: tuple[Result, Path]) -> None:
    result, out = saved
    read = Space.read(out / "space.npz")
    assert result.space is not None
    assert read.kind == result.space.kind == result.settings["space"]
    np.testing.assert_array_equal(read.mean, result.space.mean)
    np.testing.assert_array_equal(read.scale, result.space.scale)
    old = result.siblings["mouse"].old
    np.testing.assert_array_equal(read.apply(old), result.word("mouse").vectors[0])


def test_vectors_of_a_word_are_those_that_were_scored(saved: tuple[Result, Path]) -> None:
    result = saved[0]
    pairs = select_pairs(result)
    for word, sides in fit_space(pairs, result.settings["space"]).apply_to_words(pairs).items():
        for ours, wanted in zip(result.word(word).vectors, sides, strict=True):
            np.testing.assert_array_equal(ours, wanted)
    if result.settings["space"] == "raw":
        np.testing.assert_array_equal(result.word("mouse").vectors[1], result.siblings["mouse"].new)
    else:
        assert np.abs(np.mean(np.concatenate(result.word("mouse").vectors))) < 2 < result.siblings["mouse"].new.mean()


def test_vectors_of_a_word_with_too_few_usages_are_in_the_same_space(saved: tuple[Result, Path]) -> None:
    result = saved[0]
    assert result.space is not None
    old, new = result.word("comet").vectors
    assert (len(old), len(new)) == COUNTS["comet"]
    np.testing.assert_array_equal(old, result.space.apply(result.siblings["comet"].old))


def test_leanings_of_usages_use_the_vectors_in_the_space(saved: tuple[Result, Path]) -> None:
    word = saved[0].word("mouse")
    for ours, wanted in zip(word.leanings, leanings(*word.vectors), strict=True):
        np.testing.assert_array_equal(ours, wanted)


def test_without_scored_words_there_is_no_space_and_vectors_are_raw(paths: Paths, tmp_path: Path) -> None:
    result = made(paths, min_usages=1000, out=tmp_path / "out")
    assert result.space is None
    assert not (tmp_path / "out" / "space.npz").exists()
    np.testing.assert_array_equal(result.word("mouse").vectors[0], result.siblings["mouse"].old)


def test_space_of_an_earlier_run_is_removed_by_a_run_without_one(paths: Paths, tmp_path: Path) -> None:
    made(paths, out=tmp_path / "out")
    assert (tmp_path / "out" / "space.npz").exists()
    made(paths, min_usages=1000, out=tmp_path / "out")
    assert not (tmp_path / "out" / "space.npz").exists()


@pytest.mark.parametrize(("space", "hint"), [("centered", "did you mean 'centred'"), ("", ""), (None, ""), (3, "")])
def test_unknown_space_is_refused_before_anything_is_read(space: Any, hint: str, tmp_path: Path) -> None:
    wanted = rf"^space must be one of auto, centred, raw, standardised; got .*{hint}"
    with pytest.raises(UserError, match=wanted):
        made((tmp_path / "none.txt", tmp_path / "neither.txt"), space=space)


# Record of the run


def test_run_records_the_space_and_the_distance_weight(saved: tuple[Result, Path]) -> None:
    result, out = saved
    settings = json.loads((out / "run.json").read_text("utf-8"))["settings"]
    assert settings == result.settings
    assert result.space is not None
    assert (settings["space"], settings["distance_weight"], settings["metric"], settings["rate"]) == (
        result.space.kind,
        0.8,
        "nearest",
        0.5,
    )


def test_vectors_are_standardised_with_a_distance_weight_of_four_fifths_by_default(default_result: Result) -> None:
    settings = {
        name: default_result.settings[name] for name in ("metric", "rate", "distance_weight", "space", "strategy")
    }
    assert settings == {
        "metric": "nearest",
        "rate": 0.5,
        "distance_weight": 0.8,
        "space": "standardised",
        "strategy": "random",
    }


@pytest.mark.parametrize(("metric", "share"), [("nearest", 0.8), ("kl", 0.0), ("apd", 0.0), ("dscd-cosine", 0.0)])
def test_default_distance_weight_is_positive_for_nearest_only(metric: str, share: float) -> None:
    assert default_distance_weight(metric) == share


def test_default_distance_weight_of_a_custom_metric_is_0() -> None:
    assert default_distance_weight(Metric("mine", lambda old, new: abs(old.mean - new.mean)[:, 0])) == 0


@pytest.mark.parametrize(
    ("metric", "distance_weight"), [("nearest", 0), ("nearest", 0.6), ("cosine", 0.6), ("cosine", None)]
)
def test_requested_distance_weight_is_used_and_recorded(
    paths: Paths, metric: str, distance_weight: float | None
) -> None:
    result = made(paths, metric=metric, distance_weight=distance_weight)
    share = distance_weight or 0.0
    assert result.settings["distance_weight"] == result.scores.sscd.distance_weight == share
    for word in result.scores.words.values():
        sscd = np.abs(word.change.e_original - word.change.e_swap).mean()
        assert word.change.score == pytest.approx(sscd ** (1 - share) * word.change.distance**share, rel=1e-12)


@pytest.mark.parametrize("distance_weight", [-0.1, 1.5, "x", True])
def test_invalid_distance_weight_is_refused_before_anything_is_read(tmp_path: Path, distance_weight: Any) -> None:
    with pytest.raises(UserError, match=r"^distance_weight must be a number from 0 to 1; got "):
        made((tmp_path / "none.txt", tmp_path / "neither.txt"), distance_weight=distance_weight)


# The test


def test_word_scored_by_nearest_is_tested_by_energy(default_result: Result) -> None:
    ours, by_nearest = [], []
    for name in SCORED:
        old, new = default_result.word(name).vectors
        scored = default_result.scores.words[name]
        assert scored.test == permutation_test(old, new, "energy", 200, 0, name)
        ours.append(scored.test.e_original)
        by_nearest.append(permutation_test(old, new, "nearest", 200, 0, name).e_original)
        assert scored.change.e_original == by_nearest[-1]
    assert ours != by_nearest


@pytest.mark.parametrize("metric", ["kl", "apd", "euclidean"])
def test_word_scored_by_another_metric_is_tested_by_it(paths: Paths, metric: str) -> None:
    result = made(paths, metric=metric)
    for name, scored in result.scores.words.items():
        assert scored.test == permutation_test(*result.word(name).vectors, metric, 200, 0, name)


def test_custom_metric_is_tested_by_the_one_that_it_names(paths: Paths) -> None:
    def between(old: Any, new: Any) -> Any:
        return abs(old.mean - new.mean).max(axis=-1)

    result = made(paths, metric=Metric("largest", between, tested_by="cosine"))
    for name, scored in result.scores.words.items():
        assert scored.test == permutation_test(*result.word(name).vectors, "cosine", 200, 0, name)


# Methods text


def test_methods_name_the_space(saved: tuple[Result, Path]) -> None:
    embedding = methods(saved[0])[1]
    claims = {
        "raw": (False, False),
        "centred": (True, False),
        "standardised": (True, True),
    }[saved[0].settings["space"]]
    assert ("mean vector" in embedding, "divided by its standard deviation" in embedding) == claims
    assert ("same weight" in embedding) == claims[0]


@pytest.mark.parametrize(
    ("distance_weight", "phrase"),
    [(None, "SSCD (weight 0.2) and the average pairwise distance (0.8)."), (0.125, "SSCD (weight 0.875) and ")],
)
def test_methods_name_the_distance_weight(paths: Paths, distance_weight: float | None, phrase: str) -> None:
    text = methods(made(paths, distance_weight=distance_weight))[2]
    assert "by a variant of SSCD (" in text
    assert f": the weighted geometric mean of {phrase}" in text
    assert "SSCD is the mean of |e_original - e_swap|" in text


def test_methods_do_not_mention_a_distance_weight_of_0(paths: Paths) -> None:
    for options in ({"distance_weight": 0}, {"metric": "kl"}):
        text = methods(made(paths, **options))[2]
        assert "geometric mean" not in text
        assert "The change score is the mean of |e_original - e_swap|" in text


def test_methods_name_the_metric_and_that_of_the_test(default_result: Result, paths: Paths) -> None:
    _, _, scores, significance, _ = methods(default_result)
    assert "measured as the mean cosine distance of a vector to the nearest of 20 vectors drawn from the" in scores
    assert "The test statistic was the energy distance of the unit vectors (U-statistic)." in significance
    for metric, phrase in {"apd": "the average pairwise cosine distance", "kl": "the Kullback-Leibler"}.items():
        assert f"The test statistic was {phrase}" in methods(made(paths, metric=metric))[3]


# Presets


def test_preset_paper_scores_and_tests_the_raw_vectors_with_kl(paths: Paths) -> None:
    result = made(paths, preset="paper")
    assert_scored(result, select_pairs(result), SSCD("kl", rate=0.4), "kl")
    assert result.run["tested_metrics"] == {"kl": len(result.scores.words)}
    assert (result.settings["preset"], result.settings["distance_weight"]) == ("paper", 0.0)
    assert "by SSCD (" in methods(result)[2]


def test_metric_given_with_the_preset_is_tested_by_itself(paths: Paths) -> None:
    result = made(paths, preset="paper", metric="amd")
    for name, scored in result.scores.words.items():
        assert scored.tested_metric == "amd"
        assert scored.test == permutation_test(*result.word(name).vectors, "amd", 200, 0, name)
    assert "by a variant of SSCD (" in methods(result)[2]
