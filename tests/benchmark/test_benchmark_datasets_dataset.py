"""Test the collected usages of a data set: their order, counts and spans."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lexshift.benchmark.datasets.dataset import PERIODS, SCHEMA, Dataset, TextSize, UsageCollector

WORDS = ("plane", "tree", "cell")
SPACES = st.text(" \t\u00a0\u3000", max_size=3)
USAGES = st.lists(
    st.tuples(
        st.sampled_from(WORDS),
        st.integers(0, 1),
        st.sampled_from(["a plane", "the tree  fell", "cell by cell", "a a a", "Tree tree"]),
    ),
    max_size=20,
)


def dataset(collector: UsageCollector) -> Dataset:
    about: dict[str, Any] = {"name": "made", "kind": "made", "language": "en", "periods": ("1", "2")}
    return collector.dataset(WORDS, **about, graded={}, gold="", binary={})


def collected(usages: list[tuple[str, int, str]]) -> UsageCollector:
    rows = UsageCollector()
    for number, (word, period, sentence) in enumerate(usages, 1):
        rows.add(word, period, sentence, 0, 1, "file", number)
    return rows


# ------------------------------------------------------------------------------------------------- usages


@given(USAGES)
def test_usages_are_counted_by_word_and_period(usages: list[tuple[str, int, str]]) -> None:
    counts = dataset(collected(usages)).counts()
    slow = Counter((word, PERIODS[period]) for word, period, _ in usages)
    assert list(counts.index) == list(WORDS)
    assert list(counts.columns) == ["old", "new"]
    assert {(word, corpus): counts.loc[word, corpus] for word in WORDS for corpus in PERIODS} == {
        (word, corpus): slow[word, corpus] for word in WORDS for corpus in PERIODS
    }


def test_words_without_usages_have_a_count_of_zero() -> None:
    counts = dataset(UsageCollector()).counts()
    assert counts.shape == (3, 2)
    assert counts.to_numpy().sum() == 0
    counts = dataset(collected([("tree", 1, "a tree")])).counts()
    assert counts.to_numpy().tolist() == [[0, 0], [0, 1], [0, 0]]
    assert {str(kind) for kind in counts.dtypes} == {"int64"}


@given(USAGES)
def test_usages_are_ordered_by_word_and_period_then_by_insertion(usages: list[tuple[str, int, str]]) -> None:
    table = dataset(collected(usages)).usages
    assert table.schema.equals(SCHEMA)
    expected = [
        (word, PERIODS[period], number, sentence)
        for name in WORDS
        for when in (0, 1)
        for number, (word, period, sentence) in enumerate(usages, 1)
        if (word, period) == (name, when)
    ]
    columns = (table[name].to_pylist() for name in ("word", "corpus", "line", "sentence"))
    assert list(zip(*columns, strict=True)) == expected


@given(USAGES)
def test_text_size_counts_each_sentence_once(usages: list[tuple[str, int, str]]) -> None:
    sizes = dataset(collected(usages)).texts
    for period, size in enumerate(sizes):
        sentences = []
        for _, when, sentence in usages:
            if when == period and sentence not in sentences:
                sentences.append(sentence)
        tokens = " ".join(sentences).split()
        assert size == TextSize(len(sentences), len(tokens), len(set(tokens)))


@given(SPACES, st.text("ab \t", max_size=6), st.text("xyzñ😀", min_size=1, max_size=5), st.text("ab \t"), SPACES)
def test_outer_whitespace_is_stripped_and_spans_are_shifted(
    left: str, before: str, word: str, after: str, right: str
) -> None:
    sentence = left + before + word + after + right
    rows = UsageCollector()
    start = len(left + before)
    rows.add("plane", 0, sentence, start, start + len(word), "file", 7, "1900")
    (row,) = dataset(rows).usages.to_pylist()
    assert row["sentence"] == sentence.strip()
    assert row["sentence"][row["start"] : row["end"]] == word
    assert 0 <= row["start"] < row["end"] <= len(row["sentence"])
    assert (row["word"], row["corpus"], row["file"], row["line"], row["date"]) == ("plane", "old", "file", 7, "1900")


def test_skipped_usages_are_counted_by_reason() -> None:
    rows = UsageCollector()
    for reason in ("too long", "too short", "too long"):
        rows.skip(reason)
    assert dataset(rows).skipped == {"too long": 2, "too short": 1}
