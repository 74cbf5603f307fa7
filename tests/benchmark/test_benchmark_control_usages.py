"""Test control words that are found in the sentences of a data set."""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter

import pyarrow as pa
import pytest

from lexshift import embed_usages
from lexshift.benchmark.control_usages import find_control_usages
from lexshift.benchmark.datasets.dataset import PERIODS, SCHEMA, Dataset, UsageCollector
from lexshift.demo import ExampleEncoder

SYLLABLES = ("ba", "ke", "li", "mo", "nu", "ra", "se", "ti")
ORDINARY = [a + b + "n" for a in SYLLABLES for b in SYLLABLES]


def made(n_words: int = len(ORDINARY), n_sentences: int = 500, language: str = "en") -> Dataset:
    """Return a data set whose sentences have content words, function words and a number; some are there twice."""
    rng, collector = random.Random(0), UsageCollector()
    for period in (0, 1):
        for line in range(1, n_sentences + 1):
            target, spelt = rng.choice([("plane_nn", "plane"), ("tree", "Trees")])
            words = rng.sample(ORDINARY[:n_words], 6)
            words[3:3] = [words[0], spelt]  # a word that is there twice, and the target
            sentence = f"The {' and the '.join(words)}  in 1950."
            start = sentence.index(f" {spelt} ") + 1
            for _ in range(1 + line % 2):
                collector.add(target, period, sentence, start, start + len(spelt), f"{line % 7}.txt", line, str(line))
    return collector.dataset(
        ("plane_nn", "tree"),
        name="made",
        kind="made",
        language=language,
        periods=("1", "2"),
        graded={},
        gold="",
        binary={},
    )


def slow_sentences(data: Dataset, period: str) -> list[str]:
    pairs = zip(data.usages["sentence"].to_pylist(), data.usages["corpus"].to_pylist(), strict=True)
    return list(dict.fromkeys(" ".join(text.split()) for text, corpus in pairs if corpus == period))


def slow_words(data: Dataset, n_words: int) -> list[str]:
    """Return the control words by their definition."""
    counts = [
        Counter(w for text in slow_sentences(data, p) for w in set(re.findall(r"\w+", text.lower()))) for p in PERIODS
    ]
    frequent = [word for word in counts[0] if min(count[word] for count in counts) >= 20]
    content = [word for word in frequent if word not in ("the", "and", "in", "1950", "plane", "trees", "tree")]

    def key(word: str) -> bytes:
        return hashlib.blake2b(word.encode(), key=b"lexshift control words", digest_size=8).digest()

    return sorted(content, key=key)[:n_words]


@pytest.mark.parametrize("n_words", [150, 40])
def test_control_words_are_frequent_content_words_other_than_the_targets(n_words: int) -> None:
    data = made()
    usages = find_control_usages(data, n_words)
    assert sorted(set(usages["word"].to_pylist())) == sorted(slow_words(data, n_words))


def test_usages_are_in_distinct_sentences_of_their_period() -> None:
    data = made()
    usages = find_control_usages(data)
    assert usages.schema == SCHEMA
    known = {period: slow_sentences(data, period) for period in PERIODS}
    places = {
        (row["corpus"], row["file"], row["line"], row["date"]): " ".join(row["sentence"].split())
        for row in data.usages.to_pylist()
    }
    for row in usages.to_pylist():
        assert row["sentence"] in known[row["corpus"]]
        assert row["sentence"][row["start"] : row["end"]] == row["word"]
        assert places[row["corpus"], row["file"], row["line"], row["date"]] == row["sentence"]
    counts = Counter(zip(usages["word"].to_pylist(), usages["corpus"].to_pylist(), strict=True))
    distinct = set(zip(*(usages[name].to_pylist() for name in ("word", "corpus", "sentence")), strict=True))
    assert len(distinct) == len(usages)
    for (word, period), n in counts.items():
        assert n == min(40, sum(word in text.split() for text in known[period]))
    assert len(usages) > 1.5 * len(set(usages["sentence"].to_pylist()))  # sentences are shared


def test_usages_can_be_embedded() -> None:
    usages = find_control_usages(made())
    siblings = embed_usages(usages, ExampleEncoder(), labels=PERIODS)
    assert siblings.counts.to_numpy().sum() == len(usages)
    assert siblings.corpora == list(PERIODS)


def test_words_in_too_few_sentences_are_not_used() -> None:
    """A word with 20 occurrences in fewer sentences is not frequent enough."""
    data = made(n_words=40, n_sentences=165)
    frequent = slow_words(data, 150)
    assert 30 <= len(frequent) < 40
    assert sorted(set(find_control_usages(data)["word"].to_pylist())) == sorted(frequent)


@pytest.mark.parametrize(("n_words", "is_empty"), [(29, True), (30, False)])
def test_fewer_than_30_words_are_none(n_words: int, is_empty: bool) -> None:
    usages = find_control_usages(made(n_words))
    assert (len(usages) == 0) == is_empty
    assert usages.schema == SCHEMA


def test_function_words_are_recognised_without_a_language() -> None:
    data = made(language="")
    assert set(find_control_usages(data)["word"].to_pylist()) == set(slow_words(data, 150))


def test_period_without_usages_has_no_control_words() -> None:
    data = made()
    old = data.usages.filter(pa.compute.equal(data.usages["corpus"], "old"))
    only_old = Dataset(**{**vars(data), "usages": old})
    assert len(find_control_usages(only_old)) == 0
