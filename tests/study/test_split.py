"""Test studies of one dated corpus: divided at a day, the result is that of two corpora; weeks and quarters."""

from __future__ import annotations

import csv
import datetime
import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lexshift import Result, UserError, compare, discover, find_senses, load, trace
from lexshift.corpus.dates import UNITS
from lexshift.report import render
from lexshift.report.methods import methods

NOISE = [
    f"{a}{b}" for a in ("ka", "lo", "mi", "ru", "se", "to", "vu") for b in ("den", "gar", "lin", "mos", "pel", "rak")
]
SPLIT = "2020-03-01"
FAST: dict[str, Any] = {"resamples": 20, "permutations": 200, "split": "lines", "language": "en", "monitor": False}


class Bag:
    """Encoder that sums a random direction for each word of a sentence."""

    def __init__(self) -> None:
        self.settings = {"model": "bag"}

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> Any:
        del spans
        return np.array([np.sum([direction(word) for word in sentence.split()], axis=0) for sentence in sentences])


def direction(word: str) -> Any:
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "little")
    return np.random.default_rng(seed).normal(size=12).astype(np.float32)


def write(path: Path, rows: Sequence[tuple[str, str]]) -> Path:
    path.parent.mkdir(exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("date", "text"), *rows])
    return path


def make_rows(form: str) -> list[tuple[str, str]]:
    """Return dated sentences about words of which "mouse" gets another context on the day of the split."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(900):
        date = datetime.date(2020, 1, 1) + datetime.timedelta(int(rng.integers(0, 120)))
        topic = "screen" if str(date) >= SPLIT else "barn"
        word = ("mouse", "bread", "river")[i % 3]
        context = topic if word == "mouse" else str(rng.choice(["barn", "screen"]))
        rows.append((date.strftime(form), " ".join([*rng.choice(NOISE, 6).tolist(), word, context, str(i)])))
    return rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table, and with the table divided by hand into one of either side."""
    place = tmp_path_factory.mktemp("posts")
    rows, days = make_rows("%d %B %Y"), [date for date, _ in make_rows("%Y-%m-%d")]
    write(place / "posts.csv", rows)
    for name, is_old in (("old", True), ("new", False)):
        side = [row for row, day in zip(rows, days, strict=True) if (day < SPLIT) is is_old]
        write(place / f"{name}.csv", side)
        # The records of the other side are empty, so that the others are at the same lines of a file of the same name.
        blank = [(row[0], row[1] if (day < SPLIT) is is_old else "") for row, day in zip(rows, days, strict=True)]
        write(place / name / "posts.csv", blank)
    return place


def same_scores(ours: Result, theirs: Result) -> bool:
    """Return whether two results have equal tables, and equal vectors of all usages."""
    vectors = [result.siblings.vectors.tobytes() for result in (ours, theirs)]
    return ours.table.equals(theirs.table) and vectors[0] == vectors[1]


# ------------------------------------------------------------------------------------------------------------ split_at


@pytest.mark.parametrize("words", [["mouse", "bread"], None], ids=["words", "frequent words"])
def test_divided_corpus_equals_two_tables(folder: Path, words: list[str] | None) -> None:
    options: dict[str, Any] = {**FAST, "words": words, "model": Bag(), "control": None, "max_per_word": 0}
    ours = compare(folder / "posts.csv", split_at=SPLIT, **options)
    theirs = compare(folder / "old.csv", folder / "new.csv", **options)
    assert same_scores(ours, theirs)
    assert ours.labels == ("before 2020-03-01", "from 2020-03-01")
    assert ours.table.set_index("word").loc["mouse", "verdict"] == "changed"


def test_samples_and_control_words_equal_those_of_tables_with_the_same_lines(folder: Path) -> None:
    options: dict[str, Any] = {**FAST, "words": ["mouse", "bread"], "model": Bag(), "max_per_word": 50, "control": 30}
    ours = compare(folder / "posts.csv", split_at=SPLIT, **options)
    theirs = compare(folder / "old" / "posts.csv", folder / "new" / "posts.csv", **options)
    assert ours.run["control"]["words"] == theirs.run["control"]["words"]
    assert len(ours.run["control"]["words"]) == 30
    assert same_scores(ours, theirs)


def test_whole_vocabulary_of_a_divided_corpus_equals_that_of_two_tables(folder: Path) -> None:
    options: dict[str, Any] = {**FAST, "model": Bag(), "max_per_word": 0, "min_count": 15}
    ours = discover(folder / "posts.csv", split_at="March 2020", date_column="date", **options)
    theirs = discover(folder / "old.csv", folder / "new.csv", **options)
    assert ours.words == theirs.words
    assert ours.run["control"]["words"] == theirs.run["control"]["words"] != []
    assert same_scores(ours, theirs)


def test_senses_of_a_divided_corpus_are_those_of_two_tables(folder: Path) -> None:
    options: dict[str, Any] = {**FAST, "words": ["mouse"], "model": Bag(), "max_per_word": 0}
    del options["resamples"]
    ours = find_senses(folder / "posts.csv", split_at=datetime.date(2020, 3, 1), **options)
    theirs = find_senses(folder / "old.csv", folder / "new.csv", **options)
    assert isinstance(ours, Result)
    assert ours.sense_table.equals(theirs.sense_table)


def test_split_is_recorded_saved_and_kept_apart(folder: Path, tmp_path: Path) -> None:
    options: dict[str, Any] = {**FAST, "words": ["mouse"], "model": Bag(), "control": None, "out": tmp_path / "out"}
    made = compare(folder / "posts.csv", split_at=SPLIT, **options)
    run = json.loads((tmp_path / "out" / "run.json").read_text("utf-8"))
    assert run["settings"]["split_at"] == SPLIT
    assert [corpus["name"] for corpus in run["corpora"]] == ["before 2020-03-01", "from 2020-03-01"]
    assert (run["embedding"]["reading"]["before"], run["embedding"]["reading"]["date_column"]) == (SPLIT, "date")
    loaded = load(tmp_path / "out")
    assert loaded.table.equals(made.table)
    assert "before 2020-03-01" in render(loaded)
    headline = "1 of 1 word changed between the text before 2020-03-01 and the text from 2020-03-01"
    assert loaded.headline() == made.headline() == headline
    assert "We compared two corpora, the text before 2020-03-01 (" in methods(made)[0]
    with pytest.raises(UserError, match="choose another folder"):
        compare(folder / "posts.csv", split_at="2020-03-02", **options)
    named = compare(folder / "posts.csv", split_at=SPLIT, labels=["then", "now"], **options)
    assert named.labels == ("then", "now")
    assert named.headline() == "1 of 1 word changed between then and now"


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (
            ["posts.csv", "old.csv"],
            {"split_at": SPLIT},
            "divides one corpus in two: give one corpus, .*; got 2 corpora",
        ),
        (
            ["posts.csv"],
            {},
            r"there is only one corpus, '.*posts\.csv': give the later one as well.*--split-at 2020-03-01",
        ),
        (["posts.csv"], {"split_at": "2021"}, "no text .* is dated from 2021-01-01: its dates are from 2020-01-01 to"),
        (["posts.csv"], {"split_at": "soon"}, "split_at must be a date such as 2020-03-01; got 'soon'"),
        (["posts.csv"], {"split_at": SPLIT, "date_order": "YDM"}, "date_order must be one of DMY, MDY, YMD, auto"),
        (["posts.csv"], {"split_at": SPLIT, "labels": ["then"]}, "labels must be 2 different names"),
        (["missing.csv"], {"split_at": SPLIT}, "no such file or folder"),
        (["-"], {"split_at": SPLIT}, "standard input has no dates|nothing is piped into it"),
    ],
)
def test_mistakes_are_reported_in_one_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], options: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(folder)
    questions: list[Callable[..., Any]] = [compare, discover]
    for question in questions:
        with pytest.raises(UserError, match=message):
            question(*arguments, model=Bag(), **FAST, **options)


def test_periods_and_a_split_exclude_each_other(folder: Path) -> None:
    with pytest.raises(UserError, match=r"divides one corpus in two: .*got by 'year'"):
        find_senses(folder / "posts.csv", split_at=SPLIT, by="year", words=["mouse"], model=Bag())


# -------------------------------------------------------------------------------------------------------------- periods


@pytest.mark.parametrize("unit", UNITS)
def test_every_length_of_periods_is_traced_in_order_of_time(tmp_path: Path, unit: str) -> None:
    first = datetime.date(1999, 12, 20)
    days = {"week": 7, "month": 31, "quarter": 92, "year": 366, "decade": 3653}[unit]
    dates = [first + datetime.timedelta(days * i) for i in range(4)]
    rows = [(date.strftime("%b %d, %Y"), f"a mouse {i} {NOISE[i % 40]}") for i in range(12) for date in reversed(dates)]
    result = trace(write(tmp_path / "posts.csv", rows), by=unit, words=["mouse"], model=Bag(), **FAST)
    expected = {
        "week": ["1999-W51", "1999-W52", "2000-W01", "2000-W02"],
        "month": ["1999-12", "2000-01", "2000-02", "2000-03"],
        "quarter": ["1999-Q4", "2000-Q1", "2000-Q2", "2000-Q3"],
        "year": ["1999", "2000", "2001", "2002"],
        "decade": ["1990s", "2000s", "2010s", "2020s"],
    }
    assert result.periods == expected[unit]
    assert result.table["periods"].tolist() == [4]
    assert result.table["season"].tolist() == [""]
    assert all(period in render(result) for period in expected[unit])


def test_names_of_files_hold_weeks_and_quarters(tmp_path: Path) -> None:
    for name in ("2020-Q2", "2020-Q1", "2019-Q4"):
        (tmp_path / f"{name}.txt").write_text("".join(f"a mouse {i}\n" for i in range(12)))
    result = trace(tmp_path, by="quarter", words=["mouse"], model=Bag(), **FAST)
    assert result.periods == ["2019-Q4", "2020-Q1", "2020-Q2"]
