"""Test the corpora of the package: enough sentences for every word, and no repetition."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from lexshift import demo_corpora
from lexshift.corpus import find_occurrences, read_targets
from lexshift.demo import gold

LEAST_SENTENCES = 24
PERIODS = [0, 1]


def lines_of(path: Path) -> list[str]:
    return path.read_text("utf-8").split("\n")[:-1]


def words_of(line: str) -> list[str]:
    return re.findall(r"\w+(?:['’]\w+)*", line.lower())


def all_lines() -> list[str]:
    return [line for path in demo_corpora() for line in lines_of(path)]


# Word list


def test_there_are_two_files_the_old_one_first() -> None:
    old, new = demo_corpora()
    assert old.is_file()
    assert new.is_file()
    assert (old.name, new.name) == ("1950s.txt", "2010s.txt")


def test_at_least_ten_words_changed_and_ten_did_not() -> None:
    known = gold()
    changed = [word for word, is_changed in known.items() if is_changed]
    assert len(changed) >= 10
    assert len(known) - len(changed) >= 10
    assert all(word == word.strip().lower() and word.isalpha() for word in known)


def test_every_row_of_the_list_is_a_unique_word_with_its_label() -> None:
    path = demo_corpora()[0].parent / "gold.tsv"
    header, *rows = path.read_text("utf-8").splitlines()
    assert header == "word\tchanged"
    fields = [row.split("\t") for row in rows]
    assert {changed for _, changed in fields} == {"0", "1"}
    assert [word for word, _ in fields] == list(gold())
    assert len({word for word, _ in fields}) == len(fields)


# The text


@pytest.mark.parametrize("period", PERIODS)
def test_every_word_has_enough_sentences_in_each_period(period: int) -> None:
    path, words = demo_corpora()[period], list(gold())
    found = find_occurrences(path, read_targets(words))
    lines: dict[str, set[int]] = {word: set() for word in words}
    for row in found.table.select(["target", "line"]).to_pylist():
        lines[words[row["target"]]].add(row["line"])
    assert {word: len(where) for word, where in lines.items() if len(where) < LEAST_SENTENCES} == {}


@pytest.mark.parametrize("period", PERIODS)
def test_every_line_is_one_sentence_with_a_target_word(period: int) -> None:
    path = demo_corpora()[period]
    found = find_occurrences(path, read_targets(list(gold())))
    rows = found.table.select(["line", "sentence", "start", "end"]).to_pylist()
    lines = lines_of(path)
    assert dict(found.tally.splits) == {"lines": 1}
    assert not found.tally.skipped
    assert {row["line"] for row in rows} == set(range(1, len(lines) + 1))
    assert all(row["sentence"] == lines[row["line"] - 1] for row in rows)


def test_no_line_is_repeated_within_or_across_periods() -> None:
    as_words = Counter(" ".join(words_of(line)) for line in all_lines())
    assert [line for line, n in as_words.items() if n > 1] == []


def test_no_six_consecutive_words_are_shared_by_more_than_three_lines() -> None:
    shared: Counter[tuple[str, ...]] = Counter()
    for line in all_lines():
        words = words_of(line)
        shared.update({tuple(words[i : i + 6]) for i in range(len(words) - 5)})
    assert shared
    assert {" ".join(words): n for words, n in shared.items() if n > 3} == {}


def test_no_more_than_five_lines_start_with_the_same_three_words() -> None:
    beginnings = Counter(tuple(words_of(line)[:3]) for line in all_lines())
    assert {" ".join(words): n for words, n in beginnings.items() if n > 5} == {}


@pytest.mark.parametrize("period", PERIODS)
def test_files_are_plain_text_with_a_line_feed_after_every_line(period: int) -> None:
    data = demo_corpora()[period].read_bytes()
    text = data.decode("utf-8")
    assert data.endswith(b"\n")
    assert not data.startswith(b"\xef\xbb\xbf")
    assert [c for c in set(text) - {"\n"} if not c.isprintable()] == []
    lines = text.split("\n")[:-1]
    assert [line for line in lines if not line or line != " ".join(line.split())] == []
    assert len(lines) == len(text.splitlines())


@pytest.mark.parametrize("period", PERIODS)
def test_every_line_starts_and_ends_like_a_sentence(period: int) -> None:
    lines = lines_of(demo_corpora()[period])
    assert [line for line in lines if not re.match(r"[\"'“‘]?[A-Z0-9]", line)] == []
    assert [line for line in lines if not re.search(r"[.!?][\"'”’]?$", line)] == []
    assert [line for line in lines if len(words_of(line)) < 4] == []
