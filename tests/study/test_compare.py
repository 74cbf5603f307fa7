"""Test ``compare``: its table against the individual functions, its inputs, and every mistake."""

from __future__ import annotations

import errno
import gc
import hashlib
import inspect
import io
import json
import os
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from lexshift import (
    SSCD,
    Metric,
    Result,
    UserError,
    benjamini_hochberg,
    bootstrap,
    compare,
    decide,
    discover,
    permutation_test,
    search_rate,
    trace,
)
from lexshift.corpus.vocabulary import load_function_words
from lexshift.scoring.space import fit_space
from lexshift.utils.arrays import Floats, Pairs

Paths: TypeAlias = tuple[Path, Path]

COUNTS = {
    "mouse": (44, 40),
    "cell": (30, 50),
    "bread": (40, 42),
    "river": (36, 34),
    "table": (26, 24),
    "comet": (3, 40),
    "ghost": (12, 0),
}
MOVED = ("mouse", "cell")
TESTED = ["mouse", "cell", "bread", "river", "table"]
WORDS = [*COUNTS, "nowhere"]
COLUMNS = [
    *("word", "n_old", "n_new", "score", "low", "high", "distance", "sscd", "verdict", "reason", "gap", "gap_low"),
    *("gap_high", "excess", "local_fdr", "p", "q", "tested_metric", "e_original", "e_swap", "per_million_old"),
    "per_million_new",
]
NUMBERS = ["score", "low", "high", "distance", "sscd", "gap", "gap_low", "gap_high", "p", "q", "e_original", "e_swap"]
COMPARED = ["excess", "local_fdr"]  # numbers that need control words
FAST: dict[str, Any] = {"duplicates": "keep", "permutations": 200, "resamples": 50, "monitor": False}
FILES = {
    *("appeared.csv", "scores.csv", "scores.parquet", "details.json", "run.json", "report.html", "space.npz", "store"),
    ".lock",
}
DEFAULT = SSCD("nearest", "random", 0.5, 20, 0, distance_weight=0.8)


class Toy:
    """Encoder whose vector is the sum of hashes of the surrounding words; it records its requests."""

    def __init__(self, settings: Mapping[str, Any] | None = None, *, stop_at: int | None = None) -> None:
        self.calls: list[list[str]] = []
        self.stop_at = stop_at
        self.settings = {"model": "test_compare.Toy"} if settings is None else settings

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        self.calls.append(list(sentences))
        if len(self.calls) == self.stop_at:
            raise KeyboardInterrupt
        around = [(s[:start] + s[end:]).split() for s, (start, end) in zip(sentences, spans, strict=True)]
        return np.array([np.sum([self.vector(word) for word in words], axis=0) for words in around], np.float32)

    def vector(self, word: str) -> Floats:
        return np.frombuffer(hashlib.blake2b(word.encode(), digest_size=8).digest(), np.int8) / 64


class Zeros(Toy):
    """Encoder whose vectors are zeros."""

    def vector(self, word: str) -> Floats:
        return 0 * super().vector(word)


class RecordingMonitor:
    """Monitor that records its events."""

    def __init__(self) -> None:
        self.stages: list[str] = []
        self.notes: list[str] = []

    def stage(self, name: str, total: int, unit: str) -> None:
        assert total >= 0
        assert unit
        self.stages.append(name)

    def advance(self, done: int, items: int = 0, status: str = "") -> None:
        assert not status
        assert done >= 0
        assert items >= 0

    def note(self, text: str) -> None:
        self.notes.append(text)


def lines_of(period: int) -> list[str]:
    """Return a corpus in which some words have other neighbours than in the other corpus."""
    rng, lines = random.Random(period), []
    for word, counts in COUNTS.items():
        use = "new" if period and word in MOVED else "old"
        around = [f"{word}{use}{letter}" for letter in "abcdefgh"]
        for _ in range(counts[period]):
            a, b, c = rng.sample(around, 3)
            lines.append(f"The {a} and the {word} of the {b} was {c}.")
    rng.shuffle(lines)
    return lines


def write(path: Path, lines: Sequence[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(line + "\n" for line in lines), "utf-8")
    return path


def corpora_in(folder: Path, old: str = "1850.txt", new: str = "1999.txt") -> Paths:
    return write(folder / old, lines_of(0)), write(folder / new, lines_of(1))


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk in tests."""
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> Paths:
    """Write the two corpora of most tests."""
    return corpora_in(tmp_path_factory.mktemp("corpora"))


@pytest.fixture(scope="module")
def saved(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """Return a result with default settings and its folder; do not write to it."""
    out = tmp_path_factory.mktemp("saved") / "deep" / "out"
    return made(paths, out=out), out


@pytest.fixture(scope="module")
def folder(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run for other runs to reuse."""
    out = tmp_path_factory.mktemp("folder") / "out"
    made(paths, out=out)
    return out


def made(paths: Paths, words: Any = WORDS, **options: Any) -> Result:
    return compare(*paths, words, **{"model": Toy(), **FAST, **options})


def quick(paths: Paths, words: Any = ("mouse",), **options: Any) -> Result:
    """Run a comparison that scores nothing."""
    return made(paths, words, **{"min_usages": 1000, **options})


def complaint(paths: tuple[Any, Any], words: Any = ("mouse",), **options: Any) -> str:
    """Return the error message of a mistake, which must be one line."""
    with pytest.raises(UserError) as caught:
        made(paths, words, **options)
    text = str(caught.value)
    assert "\n" not in text
    assert 20 < len(text) < 1000
    return text


def same(a: pd.DataFrame, b: pd.DataFrame) -> None:
    """Check that two tables are equal to the last digit."""
    pd.testing.assert_frame_equal(a, b, check_exact=True)


def pairs_of(result: Result) -> Pairs:
    """Return the vectors as they are scored, computed from those of the store."""
    stored = {word: (result.siblings[word].old, result.siblings[word].new) for word in result.scores.words}
    return fit_space(stored, result.settings["space"]).apply_to_words(stored)


def by_hand(result: Result, sscd: SSCD, permutations: int = 200, resamples: int = 50) -> pd.DataFrame:
    """Return the scored rows from the functions that define each column."""
    rows = []
    for word, (old, new) in pairs_of(result).items():
        change = sscd.score(old, new, word)
        interval = bootstrap(old, new, sscd, resamples, 0.95, word)
        metric = "energy" if sscd.metric == "nearest" else sscd.metric
        p = permutation_test(old, new, metric, permutations, sscd.seed, word).p
        rows.append([word, len(old), len(new), change.score, interval.low, interval.high, p])
        rows[-1] += [change.e_original, float(change.e_swap.mean())]
    columns = ["word", "n_old", "n_new", "score", "low", "high", "p", "e_original", "e_swap"]
    frame = pd.DataFrame(rows, columns=columns)
    frame["q"] = benjamini_hochberg(frame["p"])
    return frame.sort_values("score", ascending=False).reset_index(drop=True)


def assert_by_hand(result: Result, sscd: SSCD) -> None:
    expected = by_hand(result, sscd)
    assert len(expected) == len(TESTED)
    same(result.table.loc[: len(TESTED) - 1, expected.columns.tolist()], expected)


# ---------------------------------------------------------------------------------------------------------------- table


def test_table_has_a_row_for_each_word_and_the_documented_columns(saved: tuple[Result, Path]) -> None:
    table = saved[0].table
    assert list(table.columns) == COLUMNS
    assert sorted(table["word"]) == sorted(WORDS)
    assert table.index.tolist() == list(range(len(WORDS)))
    counts = {word: (old, new) for word, old, new in table[["word", "n_old", "n_new"]].itertuples(index=False)}
    assert counts == {**COUNTS, "nowhere": (0, 0)}


def test_most_changed_word_comes_first_and_words_without_a_score_last(saved: tuple[Result, Path]) -> None:
    table = saved[0].table
    scores = table["score"].tolist()[: len(TESTED)]
    assert scores == sorted(scores, reverse=True)
    assert table["word"].tolist()[len(TESTED) :] == ["comet", "ghost", "nowhere"]
    assert table[NUMBERS][len(TESTED) :].isna().all(axis=None)
    assert table[NUMBERS][: len(TESTED)].notna().all(axis=None)
    assert table[COMPARED].isna().all(axis=None)
    assert table["verdict"].tolist()[len(TESTED) :] == ["appeared", "too few", "too few"]


def test_every_word_has_the_reason_of_its_verdict(saved: tuple[Result, Path]) -> None:
    reasons = saved[0].table.set_index("word")["reason"].to_dict()
    assert all(reasons.pop(word).startswith("gap of ") for word in TESTED)
    assert reasons == {
        "comet": "3 occurrences in 1850 and 40 occurrences in 1999",
        "ghost": "no usages in 1999; 10 are needed in each corpus",
        "nowhere": "no usages in 1850 and no usages in 1999; 10 are needed in each corpus",
    }


def test_planted_change_is_found_and_no_other_word_is_called_changed(saved: tuple[Result, Path]) -> None:
    verdicts = saved[0].table.set_index("word")["verdict"].to_dict()
    assert {word for word, verdict in verdicts.items() if verdict == "changed"} == set(MOVED)
    assert {verdicts[word] for word in set(TESTED) - set(MOVED)} <= {"stable", "unclear"}
    assert set(saved[0].table["word"][:2]) == set(MOVED)
    assert [saved[0].count(verdict) for verdict in ("changed", "appeared", "too few")] == [2, 1, 2]


def test_every_number_equals_that_of_the_individual_functions(saved: tuple[Result, Path]) -> None:
    assert_by_hand(saved[0], DEFAULT)


@pytest.mark.parametrize("alpha", [0.012, 0.05, 0.6, 0.9])
def test_verdicts_control_false_discoveries_over_the_tested_words_only(
    folder: Path, paths: Paths, alpha: float
) -> None:
    result = made(paths, alpha=alpha, out=folder)
    table = result.table[: len(TESTED)]
    q = benjamini_hochberg(table["p"])
    assert table["q"].tolist() == q.tolist()
    above_noise = (table["gap"] > result.backdrop.floor).to_numpy()
    assert (table["verdict"] == "changed").tolist() == (decide(q, alpha) & above_noise).tolist()


def test_frequencies_are_per_million_running_words_of_each_corpus(saved: tuple[Result, Path], paths: Paths) -> None:
    table = saved[0].table.set_index("word")
    for period, path, side in zip(("old", "new"), paths, (0, 1), strict=True):
        words = re.findall(r"\w+", path.read_text("utf-8"))
        expected = {word: 1e6 * COUNTS.get(word, (0, 0))[side] / len(words) for word in WORDS}
        assert table[f"per_million_{period}"].to_dict() == expected


@pytest.mark.parametrize(
    ("options", "sscd"),
    [
        ({"metric": "cosine"}, SSCD("cosine", rate=0.5)),
        ({"metric": "kl", "rate": 0.4, "space": "raw"}, SSCD()),
        ({"distance_weight": 0.5, "space": "centred"}, replace(DEFAULT, distance_weight=0.5)),
        ({"metric": "apd", "rate": 0.7}, SSCD("apd", rate=0.7)),
        ({"strategy": "distance"}, replace(DEFAULT, strategy="distance")),
        ({"rate": 0.1, "repeats": 3}, replace(DEFAULT, rate=0.1, repeats=3)),
        ({"seed": 5, "max_per_word": None}, replace(DEFAULT, seed=5)),
    ],
    ids=["metric", "paper", "distance_weight", "unit rows", "strategy", "rate", "seed"],
)
def test_requested_settings_reach_the_scores(paths: Paths, options: dict[str, Any], sscd: SSCD) -> None:
    result = made(paths, TESTED, **options)
    assert_by_hand(result, sscd)
    expected = {name: value for name, value in options.items() if name in result.settings}
    assert {name: result.settings[name] for name in expected} == expected


def test_normalised_swaps_use_the_sizes_of_the_corpora(paths: Paths) -> None:
    plain, normalised = made(paths, TESTED), made(paths, TESTED, normalised=True)
    sizes = len(lines_of(0)), len(lines_of(1))
    assert_by_hand(normalised, replace(DEFAULT, corpus_sizes=sizes))
    assert normalised.settings["normalised"] is True
    swapped = [[result.scores.words[word].change.swap_count for word in TESTED] for result in (plain, normalised)]
    assert swapped[0] != swapped[1]


def test_rate_auto_is_the_result_of_the_search(paths: Paths) -> None:
    result = made(paths, TESTED, rate="auto")
    curve = search_rate(pairs_of(result), metric="nearest", repeats=20, seed=0)
    assert result.run["rate"] == result.scores.sscd.rate == curve.rate
    assert result.settings["rate"] == "auto"
    assert result.scores.curve is not None
    np.testing.assert_array_equal(result.scores.curve.mean, curve.mean)
    assert_by_hand(result, replace(DEFAULT, rate=curve.rate))


def test_custom_metric_is_used_and_recorded_by_its_name(paths: Paths, tmp_path: Path) -> None:
    largest = Metric("largest step", lambda old, new: abs(old.mean - new.mean).max(axis=-1))
    result = made(paths, TESTED, metric=largest, out=tmp_path / "out")
    assert_by_hand(result, SSCD(largest, rate=0.5))
    assert json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))["settings"]["metric"] == "largest step"
    assert "largest step" in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_metric_undefined_for_a_word_is_reported_with_that_word(paths: Paths) -> None:
    text = complaint(paths, model=Zeros(), metric="cosine")
    assert text.startswith("'mouse': metric 'cosine' is undefined")


@pytest.mark.parametrize("rate", [np.float32(0.4), np.float64(0.4), Fraction(2, 5), Decimal("0.4")], ids=repr)
def test_numbers_of_every_type_are_accepted_and_recorded_as_numbers(paths: Paths, tmp_path: Path, rate: Any) -> None:
    options: dict[str, Any] = {"seed": np.int64(0), "repeats": np.int32(20), "min_usages": np.int64(10)}
    options |= {"alpha": np.float64(0.05), "max_per_word": np.int64(500), "normalised": np.bool_(False)}
    result = made(paths, ["mouse"], rate=rate, out=tmp_path / "out", **options)
    expected = made(paths, ["mouse"], rate=0.4, max_per_word=500)
    pd.testing.assert_frame_equal(result.table, expected.table)
    run = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))
    assert [run["rate"], run["settings"]["rate"]] == pytest.approx([0.4, 0.4])
    assert {**run["settings"], "rate": 0.4} == expected.settings


def test_min_usages_can_be_lowered(paths: Paths) -> None:
    result = made(paths, min_usages=3)
    assert set(result.scores.words) == {*TESTED, "comet"}
    assert result.settings["min_usages"] == 3


# --------------------------------------------------------------------------------------------------- selection of words


def test_without_words_the_frequent_words_of_both_corpora_are_compared(paths: Paths) -> None:
    recorder = RecordingMonitor()
    result = made(paths, None, min_count=25, monitor=recorder)
    counts = [Counter(re.findall(r"\w+", path.read_text("utf-8").lower())) for path in paths]
    often = [
        word
        for word, n in counts[0].items()
        if min(n, counts[1][word]) >= 25 and word not in load_function_words("en") and not word.isnumeric()
    ]
    rarer = {word: min(count[word] / count.total() for count in counts) for word in often}
    assert list(result.words) == sorted(often, key=lambda word: -rarer[word])
    assert set(result.words) == {"mouse", "cell", "bread", "river"}
    assert recorder.notes[0] == (
        "studying all 4 words that occur 25 times or more in both corpora, without function words and numbers"
    )
    assert recorder.stages[:2] == ["counting old", "counting new"]
    remembered = {name: result.settings[name] for name in ("min_count", "top_words", "function_words", "candidates")}
    assert remembered == {"min_count": 25, "top_words": 100, "function_words": "en", "candidates": 4}
    assert result.run["words"] == list(result.words)


def test_without_words_at_most_the_requested_number_is_compared(paths: Paths) -> None:
    recorder = RecordingMonitor()
    result = made(paths, None, min_count=25, top_words=2, monitor=recorder)
    assert list(result.words) == ["bread", "mouse"]
    assert recorder.notes[0].startswith("studying the 2 most frequent of 4 words that occur 25 times or more")
    assert (result.settings["top_words"], result.settings["candidates"]) == (2, 4)
    same(result.table.drop(columns="q"), made(paths, ["bread", "mouse"]).table.drop(columns="q"))


def test_given_words_record_no_selection(saved: tuple[Result, Path]) -> None:
    assert saved[0].settings.keys().isdisjoint({"min_count", "top_words", "function_words", "candidates"})


def test_without_a_frequent_word_the_remedies_are_reported(paths: Paths) -> None:
    text = complaint(paths, None, min_count=1000)
    assert re.search(r"no word .* at least 1000 times in both corpora; give the words", text)


def test_words_may_be_a_list_mapping_file_string_or_iterator(paths: Paths, tmp_path: Path) -> None:
    expected = made(paths, ["mouse", "bread"])
    file = write(tmp_path / "words.txt", ["mouse", "bread"])
    tabs = write(tmp_path / "forms.tsv", ["mouse\tmouse", "bread\tbread"])
    ways: list[Any] = [
        ("mouse", "bread"),
        {"mouse": ["mouse"], "bread": "bread"},
        "mouse,bread",
        " mouse , bread ",
        file,
        str(file),
        tabs,
        iter(["mouse", "bread"]),
    ]
    for words in ways:
        result = made(paths, words)
        assert list(result.words) == result.run["words"] == ["mouse", "bread"]
        same(result.table, expected.table)


def test_all_forms_of_a_word_are_its_usages(paths: Paths) -> None:
    result = made(paths, {"animal": ["mouse", "comet"], "bread": ["bread"]})
    row = result.table.set_index("word").loc["animal"]
    assert (row["n_old"], row["n_new"]) == (44 + 3, 40 + 40)
    assert [result.count_occurrences("animal", period) for period in ("old", "new")] == [47, 80]


@pytest.mark.parametrize("word", ["ghost", "nowhere"])
def test_word_absent_from_a_corpus_is_listed_and_does_not_affect_others(
    paths: Paths, saved: tuple[Result, Path], word: str
) -> None:
    recorder = RecordingMonitor()
    result = made(paths, [word, *TESTED], monitor=recorder, control=None)
    assert result.table["word"].tolist()[-1] == word
    assert result.table["verdict"].tolist()[-1] == "too few"
    same(result.table[:-1], saved[0].table[: len(TESTED)])
    assert recorder.notes == (["left out, because they never occur: 'nowhere'"] if word == "nowhere" else [])


def test_words_that_never_occur_are_refused_in_one_sentence(paths: Paths, tmp_path: Path) -> None:
    text = complaint(paths, ["nowhere", "neverland"], out=tmp_path / "out")
    assert text == "none of the words occurs in the corpora (match: word): 'nowhere', 'neverland'; check the spelling"


def test_without_a_word_with_enough_usages_there_is_a_table_and_a_page(paths: Paths, tmp_path: Path) -> None:
    result = made(paths, ["comet", "ghost", "nowhere"], out=tmp_path / "out")
    assert result.table["verdict"].tolist() == ["appeared", "too few", "too few"]
    assert result.table[NUMBERS].isna().all(axis=None)
    assert result.scores.curve is None
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES - {"space.npz"}
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "3 occurrences in 1850 and 40 occurrences in 1999" in page
    assert "No word can be tested: 1 appeared, 2 too few" in page
    same(pd.read_parquet(tmp_path / "out" / "scores.parquet"), result.table)


def test_usages_are_limited_as_requested_and_all_are_counted(paths: Paths) -> None:
    result = made(paths, max_per_word=20)
    table = result.table.set_index("word")
    for word, counts in COUNTS.items():
        assert table.loc[word, ["n_old", "n_new"]].tolist() == [min(n, 20) for n in counts]
        assert [result.count_occurrences(word, period) for period in ("old", "new")] == list(counts)
    assert table["per_million_old"].to_dict() == made(paths).table.set_index("word")["per_million_old"].to_dict()
    assert result.settings["max_per_word"] == 20
    assert_by_hand(result, DEFAULT)


@pytest.mark.parametrize("every", [0, None])
def test_all_words_are_used_without_a_maximum(paths: Paths, every: int | None) -> None:
    result = made(paths, None, min_count=25, top_words=every)
    assert set(result.words) == {"mouse", "cell", "bread", "river"}
    assert result.settings["top_words"] is None


@pytest.mark.parametrize("every", [0, None])
def test_all_usages_are_used_without_a_maximum(paths: Paths, saved: tuple[Result, Path], every: int | None) -> None:
    result = made(paths, max_per_word=every)
    assert result.settings["max_per_word"] is None
    assert result.siblings.settings["sampling"] is None
    same(result.table, saved[0].table)


# --------------------------------------------------------------------------------------------------------------- labels


@pytest.mark.parametrize(
    ("old", "new", "labels"),
    [
        ("1850.txt", "1999.txt", ("1850", "1999")),
        ("then.v1.txt", "now.tar.txt", ("then", "now")),
        ("a/x.txt", "b/x.txt", ("old", "new")),
        ("x.txt", "x.text", ("old", "new")),
        (".hidden", "b.txt", ("old", "new")),
        ("früher & so", "später", ("früher & so", "später")),
    ],
)
def test_corpora_are_named_after_their_files(tmp_path: Path, old: str, new: str, labels: tuple[str, str]) -> None:
    result = quick(corpora_in(tmp_path, old, new))
    assert result.labels == labels
    assert [corpus["name"] for corpus in result.run["corpora"]] == list(labels)
    assert (
        result.table["reason"][0]
        == f"44 usages in {labels[0]} and 40 usages in {labels[1]}; 1000 are needed in each corpus"
    )


def test_folders_give_their_names_and_patterns_do_not(tmp_path: Path) -> None:
    corpora_in(tmp_path, "then/a.txt", "now/b.txt")
    assert quick((tmp_path / "then", tmp_path / "now")).labels == ("then", "now")
    patterns = str(tmp_path / "then" / "*.txt"), str(tmp_path / "now" / "?.txt")
    result = compare(*patterns, ["mouse"], model=Toy(), min_usages=1000, **FAST)
    assert result.labels == ("old", "new")
    assert result.table[["n_old", "n_new"]].to_numpy().tolist() == [[44, 40]]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [(("then", "now"), ("then", "now")), ([" then ", "now\n"], ("then", "now")), ([1850, 1999], ("1850", "1999"))],
)
def test_corpora_have_the_requested_labels(paths: Paths, labels: Any, expected: tuple[str, str]) -> None:
    result = quick(paths, labels=labels)
    assert result.labels == expected
    assert result.siblings.corpora == ["old", "new"]


@pytest.mark.parametrize("labels", [("a",), ("a", "b", "c"), ("a", "a"), ("a", " a "), ("a", ""), "ab", ()])
def test_labels_other_than_two_names_are_refused(paths: Paths, tmp_path: Path, labels: Any) -> None:
    toy = Toy()
    text = complaint(paths, model=toy, labels=labels, out=tmp_path / "out")
    assert text.startswith("labels must be 2 different names, one for each corpus; got ")
    assert (toy.calls, list(tmp_path.iterdir())) == ([], [])


def test_other_labels_need_no_other_store(paths: Paths, tmp_path: Path) -> None:
    quick(paths, out=tmp_path / "out")
    toy = Toy()
    result = quick(paths, model=toy, out=tmp_path / "out", labels=("then", "now"))
    assert (toy.calls, result.labels) == ([], ("then", "now"))


@pytest.mark.parametrize(
    ("old", "new"),
    [("1999.txt", "1850.txt"), ("news-2001.txt", "news 1900s.txt"), ("1950-1999.txt", "1850-1949.txt")],
)
def test_note_warns_about_an_old_corpus_that_is_later_by_its_name(tmp_path: Path, old: str, new: str) -> None:
    recorder = RecordingMonitor()
    first, second = quick(corpora_in(tmp_path, old, new), monitor=recorder).labels
    assert recorder.notes[0] == (f"by its name, {first} is later than {second}; if so, swap the two corpora")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("1850.txt", "1999.txt"),
        ("a.txt", "b.txt"),
        ("1999.txt", "b.txt"),
        ("b.txt", "1850.txt"),
        ("1850-1999.txt", "1900.txt"),
        ("19991.txt", "1850.txt"),
        ("1999/a.txt", "1850/b.txt"),
    ],
)
def test_no_note_without_a_contradicting_year_in_the_names(tmp_path: Path, old: str, new: str) -> None:
    recorder = RecordingMonitor()
    quick(corpora_in(tmp_path, old, new), monitor=recorder, control=None)
    assert recorder.notes == []


# ------------------------------------------------------------------------------------------------------- error messages


@pytest.mark.parametrize("which", [0, 1])
def test_missing_path_is_named(paths: Paths, tmp_path: Path, which: int) -> None:
    toy = Toy()
    given: list[Any] = list(paths)
    given[which] = tmp_path / "none.txt"
    text = complaint((given[0], given[1]), model=toy, out=tmp_path / "out")
    assert text.startswith(f"no such file or folder: {str(tmp_path / 'none.txt')!r}")
    assert (toy.calls, list(tmp_path.iterdir())) == ([], [])


def test_same_corpus_twice_is_refused(paths: Paths) -> None:
    assert complaint((paths[0], paths[0])) == (
        f"both corpora are {str(paths[0])!r}; give two different ones, the old one first"
    )
    assert complaint((paths[0].parent, f"{paths[0].parent}{os.sep}")).startswith("both corpora are")


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_same_corpus_under_another_name_is_refused(paths: Paths, tmp_path: Path) -> None:
    link = tmp_path / "link.txt"
    link.symlink_to(paths[0])
    assert complaint((paths[0], link)).startswith("both corpora are")


def test_two_files_with_the_same_text_are_refused(paths: Paths, tmp_path: Path) -> None:
    copy = tmp_path / "copy.txt"
    copy.write_bytes(paths[0].read_bytes())
    assert complaint((paths[0], copy)) == (
        f"{str(paths[0])!r} and {str(copy)!r} hold the same text; give two different corpora"
    )


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("words", [["mouse"], None], ids=["words", "no words"])
def test_corpus_without_words_is_named(paths: Paths, tmp_path: Path, which: int, words: Any) -> None:
    empty = write(tmp_path / "empty.txt", ["", "  ", "..."])
    given = (empty, paths[1]) if which == 0 else (paths[0], empty)
    assert complaint(given, words) == f"the corpus {str(empty)!r} is empty: there is no word in it"


@pytest.mark.parametrize("words", [[], {}, [" "], ","])
def test_empty_word_list_is_refused(paths: Paths, tmp_path: Path, words: Any) -> None:
    toy = Toy()
    text = complaint(paths, words, model=toy, out=tmp_path / "out")
    assert text == "there is no target word; give a file with one word per line, or a list of words"
    assert (toy.calls, list(tmp_path.iterdir())) == ([], [])


def test_empty_word_file_is_named(paths: Paths, tmp_path: Path) -> None:
    file = write(tmp_path / "words.txt", [""])
    assert complaint(paths, file) == f"the file of target words {str(file)!r} is empty; it must have one word per line"


BAD: list[tuple[dict[str, Any], str]] = [
    ({"min_usages": 1}, r"min_usages must be a whole number of at least 2; got 1"),
    ({"min_usages": 0}, r"min_usages must be a whole number of at least 2; got 0"),
    ({"metric": "cosin"}, r"metric must be one of .*; got 'cosin'; did you mean 'cosine'\?"),
    ({"strategy": "randm"}, r"strategy must be one of distance, random; got 'randm'; did you mean 'random'\?"),
    ({"rate": 1.5}, r"rate must be a number from 0 to 1, or auto; got 1\.5"),
    ({"rate": "automatic"}, r"rate must be a number from 0 to 1, or auto; got 'automatic'"),
    ({"rate": float("nan")}, r"rate must be a number from 0 to 1, or auto; got nan"),
    ({"alpha": 0}, r"alpha must be a number between 0 and 1; got 0"),
    ({"alpha": 5}, r"alpha must be a number between 0 and 1; got 5"),
    ({"alpha": "0.05"}, r"alpha must be a number between 0 and 1; got '0.05'"),
    ({"repeats": 0}, r"repeats must be a whole number of at least 1; got 0"),
    ({"repeats": 2.5}, r"repeats must be a whole number of at least 1; got 2\.5"),
    ({"match": "lema"}, r"match must be one of cased, lemma, token, word; got 'lema'; did you mean 'lemma'\?"),
    ({"seed": -1}, r"seed must be a whole number, 0 or more; got -1"),
    ({"seed": "one"}, r"seed must be a whole number, 0 or more; got 'one'"),
    ({"sample_seed": -1}, r"sample_seed must be a whole number, 0 or more; got -1"),
    ({"max_per_word": -1}, r"max_per_word must be a whole number, or 0 for all; got -1"),
    ({"max_per_word": 2.5}, r"max_per_word must be a whole number, or 0 for all; got 2\.5"),
    ({"permutations": 0}, r"permutations must be a whole number of at least 1, or auto; got 0"),
    ({"resamples": 0}, r"resamples must be a whole number of at least 1; got 0"),
    ({"min_count": 0}, r"min_count must be a whole number of at least 1; got 0"),
    ({"top_words": -1}, r"top_words must be a whole number, or 0 for all; got -1"),
    ({"split": "line"}, r"split must be one of auto, lines, prose, wrapped; got 'line'; did you mean 'lines'\?"),
]


@pytest.mark.parametrize("words", [["mouse"], None], ids=["words", "no words"])
@pytest.mark.parametrize(("options", "message"), BAD, ids=[f"{k}={v}" for bad, _ in BAD for k, v in bad.items()])
def test_invalid_settings_are_reported_before_anything_is_read_or_written(
    paths: Paths, tmp_path: Path, words: Any, options: dict[str, Any], message: str
) -> None:
    toy, recorder = Toy(), RecordingMonitor()
    text = complaint(paths, words, model=toy, monitor=recorder, out=tmp_path / "out", **options)
    assert re.fullmatch(message, text)
    assert (toy.calls, recorder.stages, recorder.notes, list(tmp_path.iterdir())) == ([], [], [], [])


def test_unsupported_encoder_options_are_refused(paths: Paths, tmp_path: Path) -> None:
    text = complaint(paths, out=tmp_path / "out", layers="last")
    assert text == "layers cannot be set for an encoder that is already made"
    assert list(tmp_path.iterdir()) == []


def piped(lines: Sequence[str]) -> SimpleNamespace:
    return SimpleNamespace(buffer=io.BytesIO("".join(f"{line}\n" for line in lines).encode()), isatty=lambda: False)


def test_standard_input_needs_words(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", piped(lines_of(1)))
    assert complaint((paths[0], "-"), None) == (
        "a corpus from standard input can be read only once: name the words to compare (--words)"
    )


def test_standard_input_can_be_a_corpus(
    paths: Paths, saved: tuple[Result, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", piped(lines_of(1)))
    result = compare(paths[0], "-", TESTED, model=Toy(), **FAST)
    assert result.labels == ("old", "new")
    same(result.table, saved[0].table[: len(TESTED)])


def test_standard_input_cannot_be_both_corpora(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", piped(lines_of(1)))
    assert "only one of the corpora" in complaint(("-", "-"))


@pytest.mark.parametrize("name", ["out", "out/store"])
def test_file_as_out_is_refused_and_unchanged(paths: Paths, tmp_path: Path, name: str) -> None:
    file, toy = write(tmp_path / name, ["mine"]), Toy()
    text = complaint(paths, model=toy, out=tmp_path / "out")
    assert str(tmp_path / "out") in text
    assert "a file of that name" in text or "Not a directory" in text
    assert file.read_text("utf-8") == "mine\n"
    assert toy.calls == []


def test_store_folder_with_other_files_is_refused_and_unchanged(paths: Paths, tmp_path: Path) -> None:
    mine, toy = write(tmp_path / "out" / "store" / "mine.txt", ["mine"]), Toy()
    text = complaint(paths, model=toy, out=tmp_path / "out")
    assert text.endswith("holds other files; choose an empty or a new one for the store")
    assert ([path.name for path in mine.parent.iterdir()], toy.calls) == (["mine.txt"], [])


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ({"model": Toy({"model": "x"})}, {"model": Toy({"model": "y"})}, "was made with model 'x', not 'y'"),
        ({"max_per_word": 20}, {"max_per_word": 30}, "was made with sampling max_per_word 20, not 30"),
        ({"split": "lines"}, {"split": "prose"}, "was made with split 'lines', not 'prose'"),
        ({"match": "word"}, {"match": "token"}, "was made with match 'word', not 'token'"),
        ({"words": {"mouse": ["mouse"]}}, {"words": {"mouse": ["comet"]}}, "'mouse' with the forms mouse, not comet"),
    ],
    ids=["encoder", "sample", "split", "match", "forms"],
)
def test_store_made_with_other_options_is_refused_and_unchanged(
    paths: Paths, tmp_path: Path, first: dict[str, Any], second: dict[str, Any], message: str
) -> None:
    quick(paths, out=tmp_path / "out", **first)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    text = complaint(paths, out=tmp_path / "out", **second)
    assert message in text
    assert "choose another folder" in text
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_folder_of_other_corpora_is_refused_with_useful_advice(paths: Paths, tmp_path: Path) -> None:
    quick(paths, out=tmp_path / "out")
    text = complaint((paths[1], paths[0]), out=tmp_path / "out")
    assert "is not the one that the store" in text
    assert "choose another folder" in text
    assert complaint((paths[1], paths[0]), out=tmp_path / "out", labels=("then", "now")) == text
    assert "label" not in text  # labels have no effect here


# ---------------------------------------------------------------------------------------------------------- saved files


def test_run_writes_its_scores_its_settings_its_page_and_its_store(saved: tuple[Result, Path]) -> None:
    result, out = saved
    assert {path.name for path in out.iterdir()} == FILES
    assert (out / "store").is_dir()
    same(pd.read_parquet(out / "scores.parquet"), result.table)
    listed = pd.read_csv(
        out / "scores.csv", keep_default_na=False, na_values={name: [""] for name in NUMBERS + COMPARED}
    )
    pd.testing.assert_frame_equal(listed, result.table, rtol=1e-12)
    page = (out / "report.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert all(word in page for word in WORDS)


def test_recorded_settings_include_all_that_shaped_the_result(saved: tuple[Result, Path], paths: Paths) -> None:
    result, out = saved
    run = json.loads((out / "run.json").read_text("utf-8"))
    assert run.pop("kind") == "comparison"
    assert set(run.pop("files")) == FILES - {"run.json", "store", ".lock"}
    assert re.fullmatch(r"[0-9a-f]{64}", run.pop("sha256"))
    assert run == result.run
    assert run["settings"] == result.settings
    defaults = {name: parameter.default for name, parameter in inspect.signature(compare).parameters.items()}
    defaults["space"] = "standardised"  # the space of an encoder that declares none
    names = [
        "split_at",
        "preset",
        "metric",
        "strategy",
        "normalised",
        "rate",
        "space",
        "control",
        "repeats",
        "alpha",
        "seed",
        "sample_seed",
        "max_per_word",
        "min_usages",
        "match",
    ]
    overrides = {"duplicates": "keep", "permutations": 200, "resamples": 50, "confidence": 0.95, "distance_weight": 0.8}
    assert run["settings"] == {name: defaults[name] for name in names} | overrides
    assert (run["words"], run["rate"]) == (WORDS, 0.5)
    assert [corpus["path"] for corpus in run["corpora"]] == [str(path) for path in paths]
    assert [corpus["name"] for corpus in run["corpora"]] == ["1850", "1999"]
    assert [corpus["bytes"] for corpus in run["corpora"]] == [path.stat().st_size for path in paths]
    assert [corpus["passages"] for corpus in run["corpora"]] == [len(lines_of(period)) for period in (0, 1)]
    contents = [corpus["content"] for corpus in run["corpora"]]
    assert all(re.fullmatch(r"[0-9a-f]{64}", content) for content in contents)
    assert contents[0] != contents[1]
    assert run["embedding"] == result.siblings.settings
    assert run["embedding"]["encoder"]["model"] == "test_compare.Toy"
    assert run["embedding"]["reading"]["encoding"] == "auto"
    assert run["store"] == {"fingerprint": result.siblings.fingerprint, "dimensions": 8}
    assert {"python", "numpy", "scipy", "pandas", "pyarrow", "numba"} <= run["versions"].keys()
    assert run["versions"]["numpy"] == np.__version__
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", run["finished"])


def test_corpus_digest_depends_on_the_text_and_not_on_its_location(paths: Paths, tmp_path: Path) -> None:
    moved = corpora_in(tmp_path)
    first, second = quick(paths).run, quick(moved).run
    assert [corpus["content"] for corpus in first["corpora"]] == [corpus["content"] for corpus in second["corpora"]]
    with moved[1].open("a", encoding="utf-8") as file:
        file.write("One more mouse.\n")
    third = quick(moved).run
    assert [a["content"] == b["content"] for a, b in zip(first["corpora"], third["corpora"], strict=True)] == [
        True,
        False,
    ]


def repeated(run: dict[str, Any], words: Any) -> Result:
    """Repeat a comparison with only the contents of run.json and the encoder."""
    known = set(inspect.signature(compare).parameters)
    settings = {name: value for name, value in run["settings"].items() if name in known}
    old, new = run["corpora"]
    return compare(
        old["path"],
        new["path"],
        words,
        model=Toy(),
        labels=[old["name"], new["name"]],
        precision=run["embedding"]["precision"],
        monitor=False,
        **settings,
        **run["embedding"]["reading"],
    )


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (WORDS, {}),
        (TESTED, {"rate": "auto", "metric": "cosine", "repeats": 4, "seed": 3, "max_per_word": 15, "alpha": 0.3}),
        (TESTED, {"strategy": "distance", "normalised": True, "min_usages": 2, "precision": "float16"}),
        (TESTED, {"match": "token", "split": "lines", "labels": ("then", "now"), "max_per_word": None}),
        (None, {"min_count": 25, "top_words": 3}),
    ],
    ids=["as it comes", "auto", "distance", "token", "no words"],
)
def test_run_can_be_repeated_from_its_record(paths: Paths, tmp_path: Path, words: Any, options: dict[str, Any]) -> None:
    result = made(paths, words, out=tmp_path / "out", **options)
    run = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))
    again = repeated(run, run["words"])
    same(again.table, result.table)
    assert again.labels == result.labels
    if words is None:
        same(repeated(run, None).table, result.table)


def test_forms_of_words_are_recorded_with_the_settings(paths: Paths, tmp_path: Path) -> None:
    made(paths, {"animal": ["mouse", "comet"]}, out=tmp_path / "out", min_usages=1000)
    run = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))
    assert '"mouse"' in json.dumps(run)
    assert '"comet"' in json.dumps(run)


def test_temporary_files_are_deleted_with_the_result(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    result = quick(paths)
    folder = result.siblings.path
    assert folder.parent == tmp_path
    gc.collect()
    assert folder.is_dir()
    assert len(result.word("mouse").usages("old")) == 44
    del result
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_failed_run_without_a_folder_leaves_nothing(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(KeyboardInterrupt):
        quick(paths, model=Toy(stop_at=1))
    assert complaint(paths, ["nowhere"])
    gc.collect()
    assert list(tmp_path.iterdir()) == []


# -------------------------------------------------------------------------------------------------------- repeated runs


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"metric": "cosine"},
        {"rate": 0.7},
        {"rate": "auto"},
        {"strategy": "distance"},
        {"normalised": True},
        {"repeats": 3, "alpha": 0.2, "min_usages": 3},
        {"words": TESTED[::-1]},
    ],
    ids=str,
)
def test_second_run_in_the_same_folder_embeds_nothing_and_gives_the_same_result(
    paths: Paths, folder: Path, options: dict[str, Any]
) -> None:
    toy, recorder = Toy(), RecordingMonitor()
    second = made(paths, **{"words": WORDS, **options}, model=toy, out=folder, monitor=recorder)
    assert toy.calls == []
    assert recorder.notes[-1] == "the store is complete already; nothing is encoded"
    assert "encoding" not in recorder.stages
    same(second.table, made(paths, **{"words": WORDS, **options}).table)
    same(pd.read_parquet(folder / "scores.parquet"), second.table)


def test_only_added_words_are_embedded_and_an_earlier_result_is_unchanged(paths: Paths, tmp_path: Path) -> None:
    first = made(paths, ["mouse"], out=tmp_path / "out")
    toy = Toy()
    second = made(paths, ["bread", "mouse"], model=toy, out=tmp_path / "out")
    assert {sentence for call in toy.calls for sentence in call} == {
        line for period in (0, 1) for line in lines_of(period) if " bread " in line
    }
    same(second.table, made(paths, ["bread", "mouse"]).table)
    third = made(paths, ["bread"], model=toy, out=tmp_path / "out")
    assert third.table["word"].tolist() == third.run["words"] == ["bread"]
    usages = first.word("mouse").usages("old")
    assert len(usages) == 44
    assert usages["sentence"].str.contains(" mouse ").all()


@pytest.mark.parametrize("words", [WORDS, None], ids=["words", "no words"])
def test_resumed_run_gives_the_same_result(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: Any
) -> None:
    whole = made(paths, words)
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 2000)
    stopped, resumed, unstopped = Toy(stop_at=4), Toy(), Toy()
    with pytest.raises(KeyboardInterrupt):
        made(paths, words, model=stopped, out=tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"store", ".lock"}
    result = made(paths, words, model=resumed, out=tmp_path / "out")
    made(paths, words, model=unstopped)
    assert len(stopped.calls) == 4
    assert stopped.calls[:3] + resumed.calls == unstopped.calls
    same(result.table, whole.table)
    same(pd.read_parquet(tmp_path / "out" / "scores.parquet"), whole.table)


def test_same_seed_gives_the_same_answer_and_another_seed_other_swaps(paths: Paths, saved: tuple[Result, Path]) -> None:
    same(made(paths).table, saved[0].table)
    table, other = (t.set_index("word").loc[TESTED] for t in (saved[0].table, made(paths, seed=1).table))
    assert (table["e_original"] == other["e_original"]).all()
    assert (table["e_swap"] != other["e_swap"]).all()
    assert (table["score"] != other["score"]).all()


def test_score_depends_on_other_words_only_through_the_space(paths: Paths, saved: tuple[Result, Path]) -> None:
    shared = ["q", "verdict", "reason"]  # without control words, the noise floor is that of the words themselves
    same(made(paths, WORDS[::-1]).table, saved[0].table)
    expected = made(paths, WORDS, space="raw").table.drop(columns=shared).set_index("word")
    for words in (["river"], ["bread", "ghost", "mouse"], ["nowhere", "table", "cell"]):
        table = made(paths, words, space="raw").table.drop(columns=shared).set_index("word")
        same(table.loc[words], expected.loc[words])


def test_sample_of_usages_does_not_depend_on_the_other_words(paths: Paths) -> None:
    alone, among = (made(paths, words, max_per_word=12, space="raw") for words in (["river"], WORDS))
    for period in ("old", "new"):
        pd.testing.assert_frame_equal(alone.word("river").usages(period), among.word("river").usages(period))


def test_another_seed_uses_the_same_usages_and_other_swaps(paths: Paths, tmp_path: Path) -> None:
    first, other = (
        made(paths, ["bread"], max_per_word=12, out=tmp_path / "out", seed=seed, repeats=3) for seed in (0, 1)
    )
    assert first.siblings.fingerprint == other.siblings.fingerprint
    score, another = (result.scores.words["bread"].change for result in (first, other))
    assert score.e_original == another.e_original
    assert score.e_swap.tolist() != another.e_swap.tolist()


@pytest.mark.parametrize("call", [compare, discover, trace], ids=lambda call: call.__name__)
def test_another_sample_seed_uses_other_usages_and_needs_another_folder(
    paths: Paths, tmp_path: Path, call: Callable[..., Any]
) -> None:
    words = {"min_count": 20} if call is discover else {"words": ["river"]}
    options: dict[str, Any] = {"model": Toy(), "max_per_word": 12, **words, **FAST}
    first, again, other = (call(*paths, sample_seed=seed, **options) for seed in (0, 0, 1))
    sentences = [sorted(found.siblings.occurrences["sentence"].to_pylist()) for found in (first, again, other)]
    assert sentences[0] == sentences[1] != sentences[2]
    assert [found.run["settings"]["sample_seed"] for found in (first, other)] == [0, 1]
    call(*paths, out=tmp_path / "out", **options)
    with pytest.raises(UserError, match="was made with sampling seed 0, not 1; choose another folder"):
        call(*paths, out=tmp_path / "out", sample_seed=1, **options)
    options |= {"max_per_word": None, "out": tmp_path / "all"}
    everything = [call(*paths, sample_seed=seed, **options).siblings.fingerprint for seed in (0, 1)]
    assert everything[0] == everything[1]


def test_stages_of_a_run_are_reported_in_order(paths: Paths, tmp_path: Path) -> None:
    recorder = RecordingMonitor()
    made(paths, TESTED, monitor=recorder, out=tmp_path / "out")
    counting = ["counting old", "counting new"]  # for control words
    embedding = ["reading old", "reading new", "encoding", "writing"]
    appeared = [f"appeared words: reading {corpus}" for corpus in ("old", "new")]
    assert recorder.stages == [*counting, *appeared, *embedding, "scoring", "measuring gaps", "report"]


# ----------------------------------------------------------------------------------------------------------- full disks


def full(*_args: Any, **_options: Any) -> NoReturn:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_full_disk_while_vectors_are_written_is_reported_in_one_sentence(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.fsync", full)
    text = complaint(paths, out=tmp_path / "out")
    assert text.startswith("the disk is full while writing ")
    assert str(tmp_path / "out") in text
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"store", ".lock"}


@pytest.mark.parametrize("method", ["to_csv", "to_parquet"])
def test_full_disk_while_scores_are_written_is_reported_and_the_run_resumes(
    paths: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(pd.DataFrame, method, full)
        text = complaint(paths, ["mouse"], out=tmp_path / "out")
    assert text.startswith(f"the disk is full while writing {str(tmp_path / 'out')!r}: make room")
    assert not list(tmp_path.rglob("*.tmp"))
    toy = Toy()
    result = made(paths, ["mouse"], model=toy, out=tmp_path / "out")
    assert toy.calls == []
    assert {path.name for path in (tmp_path / "out").iterdir()} == FILES
    same(pd.read_parquet(tmp_path / "out" / "scores.parquet"), result.table)


@pytest.mark.parametrize("save", [Result.save, Result.report], ids=["save", "report"])
def test_full_disk_while_a_result_is_saved_leaves_no_partial_file(
    saved: tuple[Result, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, save: Callable[[Result, Path], Path]
) -> None:
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(UserError, match=r"^the disk is full while writing .*: make room"):
        save(saved[0], tmp_path / "there")
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.name != ".lock"]
