"""Test that word counts equal a split by the rule and a Counter, in every file format."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from scripts import is_unspaced, word_runs

from lexshift.corpus import Reading, counting, decoding, find_occurrences, passages, read_targets
from lexshift.corpus.counting import Counter as WordCounter
from lexshift.corpus.counting import WordCounts, count, count_words, insert_keys
from lexshift.corpus.word_rule import (
    FoldTable,
    capitals,
    cased_table,
    find_scripts,
    fold,
    hash_word,
    token_table,
    word_table,
)
from lexshift.errors import UserError
from lexshift.utils.arrays import Array

TABLES = [word_table, cased_table, token_table]
NOISE = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
PIECES = ["mouse", "MOUSE", "Maus", "mäuse", "ma\u0308use", "é", "ß", "ẞ", "日本", "語", "𝕏", "🐁", "ſ", "σας", "ΣΑΣ"]
PIECES += ["a", "_", "1", "²", " ", "  ", "\n", "\n\n", "\t", "\u00a0", "\u2028", "\r", "\r\n", "-", ".", "'", "\u200d"]
PIECES += ["\u0301", "\ufeff", "\U000e0100", "\U0010fffd"]
TEXT = st.lists(st.sampled_from(PIECES) | NOISE, max_size=60).map("".join)
TEXT_OF_LETTERS = st.text(st.sampled_from("abc \n"), max_size=200)  # many different words with many repetitions
RULES = st.sampled_from(TABLES)
Rule = Callable[[], FoldTable]


@pytest.fixture(scope="module", autouse=True)
def _not_segmented() -> Iterator[None]:
    """Count runs of letters as a whole, whether or not the segmenter is installed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "segmenter_version", lambda: None)
        yield


def words_of(text: str, table: FoldTable) -> list[str]:
    """Split a text where the table folds a character to nothing, and, except for tokens, where the script changes."""
    folded = "".join(chr(table[ord(c)]) for c in text)
    if table is not token_table():
        return [folded[start:end] for start, end in word_runs(text)]
    return [word for word in folded.split("\0") if word]


def slow_counts(texts: Iterable[str], table: FoldTable) -> WordCounts:
    counter = Counter(unicodedata.normalize("NFC", word) for text in texts for word in words_of(text, table))
    return WordCounts(dict(sorted(counter.items())), counter.total())


def counted(texts: Iterable[str], table: FoldTable, slots: int = counting._SLOTS) -> WordCounts:
    """Count the words of several blocks with a table of the given initial number of slots."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_SLOTS", slots)
        counter = WordCounter(table)
        for text in texts:
            counter.add(text.encode())
        found = counting.sum_counts(counter.words())
        return WordCounts({word: n for word, (n, _, _) in sorted(found.items())}, counter.total)


def as_csv(texts: Iterable[str]) -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file).writerows([("id", "text"), *((f"word{i}", text) for i, text in enumerate(texts))])
    return file.getvalue().encode()


def as_jsonl(texts: Iterable[str]) -> bytes:
    return "".join(json.dumps({"id": "word", "text": text}) + "\n" for text in texts).encode()


def as_parquet(texts: Iterable[str]) -> bytes:
    file = io.BytesIO()
    parquet.write_table(pa.table({"id": ["word" for _ in texts], "text": pa.array(texts, pa.string())}), file)
    return file.getvalue()


def result_of(corpus: Path, table: FoldTable, reading: Reading | None = None) -> WordCounts | None:
    """Return the counts, or None if there is no word."""
    try:
        return count_words(corpus, table, reading)
    except UserError as error:
        if "there is no word in it" not in str(error):
            raise
        return None


def expected_of(texts: Iterable[str], table: FoldTable) -> WordCounts | None:
    counts = slow_counts(texts, table)
    return counts if counts.total else None


# ----------------------------------------------------------------------------------------------------- hash table


@settings(max_examples=200)
@given(st.lists(TEXT | TEXT_OF_LETTERS, max_size=4), RULES, st.sampled_from([1, 2, 4, 8, 64, 1 << 16]))
@example([""], word_table, 1)
@example(["a b c d e f g h i j k l m n o p q r s t u v w x y z"] * 2, word_table, 1)
@example(["é 日 𝕏 🐁", "é"], token_table, 2)
def test_word_counts_equal_those_of_split_and_counter(texts: list[str], rule: Rule, slots: int) -> None:
    assert counted(texts, rule(), slots=slots) == slow_counts(texts, rule())


@pytest.mark.slow
@pytest.mark.parametrize("slots", [1, 2, 16, 1 << 16])
def test_table_grows_with_the_words_and_loses_none(slots: int) -> None:
    words = [f"w{i % 40_000}" for i in range(60_000)]
    blocks_of_words = [" ".join(words[i : i + 7_000]) for i in range(0, len(words), 7_000)]
    found = counted(blocks_of_words, word_table(), slots=slots)
    assert found.counts == dict(sorted(Counter(words).items()))
    assert found.total == 60_000


@given(st.lists(st.sampled_from("abcdefg"), max_size=30))
def test_word_does_not_continue_in_the_next_block(letters: list[str]) -> None:
    assert counted(letters, word_table()).counts == dict(sorted(Counter(letters).items()))


def test_words_are_returned_in_sorted_order() -> None:
    assert list(counted(["b ä a 日 z B 𝕏 Z"], word_table()).counts) == ["a", "b", "z", "ä", "日", "𝕏"]


@given(TEXT | TEXT_OF_LETTERS, RULES, st.integers(0, 5))
def test_kernel_stops_before_a_word_that_does_not_fit_and_resumes_there(text: str, rule: Rule, room: int) -> None:
    table, data = rule(), np.frombuffer(text.encode(), np.uint8)
    keys, counts = np.zeros(256, np.uint64), np.zeros((256, 3), np.int64)
    fresh: Array = np.full((room, 3), -1, np.int64)
    scripts = find_scripts(data, table)
    at, _, words, found = count(data, 0, -1, table, capitals(), counting._ENDS, keys, counts, fresh, scripts)
    before = words_of(text.encode()[:at].decode(), table)
    everything = words_of(text, table)
    assert before == everything[:words]
    assert found == len(set(before)) <= room
    if at < len(data):  # the first new word for which there is no room
        assert found == room
        assert everything[words] not in before
        assert words_of(text.encode()[at:].decode(), table) == everything[words:]
    else:
        assert words == len(everything)
    spelt = [text.encode()[start:end].decode() for _, start, end in fresh[:found].tolist()]
    assert ["".join(map(chr, fold(word, table))) for word in spelt] == list(dict.fromkeys(before))
    tallied = Counter(before)
    for word, slot in zip(dict.fromkeys(before), fresh[:found, 0].tolist(), strict=True):
        assert int(keys[slot]) == hash_word(map(ord, word))
        assert counts[slot, 0] == tallied[word]
    assert counts[:, 0].sum() == words
    assert np.count_nonzero(keys) == found


@given(st.sets(st.integers(1, 2**64 - 1) | st.integers(0, 30).map(lambda i: 5 + (i << 40)), max_size=60))
def test_inserted_keys_are_found_by_probing_from_their_own_slot(keys: set[int]) -> None:
    fresh, slots = np.array(sorted(keys), np.uint64), np.zeros(64, np.uint64)
    at = np.full(len(keys), -1, np.int64)
    insert_keys(fresh, slots, at)
    expected: dict[int, int] = {}  # slot to key
    for key in sorted(keys):
        slot = key % 64
        while slot in expected:
            slot = (slot + 1) % 64
        expected[slot] = key
    assert {slot: int(key) for slot, key in enumerate(slots) if key} == expected
    assert [int(slots[slot]) for slot in at] == sorted(keys)


@pytest.mark.parametrize("rule", TABLES)
def test_folding_is_idempotent(rule: Rule) -> None:
    table = rule()
    folded = table[table > 0]
    wrong = [chr(code) for code in np.unique(folded[table[folded] != folded])]
    assert wrong == []


# ------------------------------------------------------------------------------------------------- files


@settings(max_examples=60)
@given(TEXT | TEXT_OF_LETTERS, RULES, st.sampled_from(["", ".gz", ".zst"]), st.integers(4, 40))
@example("\ufeffmouse\r\nmouse", token_table, "", 4)
@example("mouse 日本 " * 10 + "\n" + "𝕏 é\n" * 10, word_table, ".gz", 4)
@example("", word_table, ".gz", 4)
@example(" \n.\n", word_table, "", 4)
def test_file_is_counted_in_blocks_of_any_size(text: str, rule: Rule, packed: str, size: int) -> None:
    data = text.encode()
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "BLOCK", size)
        path = Path(folder, f"x.txt{packed}")
        path.write_bytes({"": data, ".gz": gzip.compress(data, mtime=0), ".zst": zstandard.compress(data)}[packed])
        assert result_of(path, rule()) == expected_of([text.removeprefix("\ufeff")], rule())


@settings(max_examples=60)
@given(
    st.lists(TEXT | TEXT_OF_LETTERS, max_size=6),
    RULES,
    st.sampled_from([("csv", as_csv), ("jsonl", as_jsonl), ("parquet", as_parquet)]),
    st.booleans(),
    st.integers(4, 40),
)
def test_text_column_of_a_table_is_counted(
    texts: list[str], rule: Rule, kind: tuple[str, Callable[[Iterable[str]], bytes]], packed: bool, size: int
) -> None:
    ending, write = kind
    packed = packed and ending != "parquet"
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoding, "BLOCK", size)
        patch.setattr(passages, "BLOCK", size)
        path = Path(folder, f"x.{ending}{'.gz' if packed else ''}")
        path.write_bytes(gzip.compress(write(texts), mtime=0) if packed else write(texts))
        assert result_of(path, rule()) == expected_of(texts, rule())


def test_another_column_and_encoding_may_be_requested(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes("body,text\nMüsli müsli,no\nTür,no\n".encode("latin-1"))
    found = count_words(path, word_table(), Reading(encoding="latin-1", text_column="body"))
    assert found == WordCounts({"müsli": 2, "tür": 1}, 3)


@settings(max_examples=20)
@given(st.lists(TEXT_OF_LETTERS | TEXT, min_size=1, max_size=4))
def test_counts_of_a_folder_are_the_sum_of_its_files(texts: list[str]) -> None:
    with TemporaryDirectory() as folder:
        for i, text in enumerate(texts):
            path = Path(folder, f"part{i % 2}", f"{i}.txt.gz" if i % 2 else f"{i}.txt")
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(gzip.compress(text.encode(), mtime=0) if i % 2 else text.encode())
        Path(folder, "table.csv").write_bytes(as_csv(texts))
        plain = [text.removeprefix("\ufeff") for text in texts]
        assert result_of(Path(folder), word_table()) == expected_of([*plain, *texts], word_table())


def test_word_does_not_continue_in_the_next_file(tmp_path: Path) -> None:
    (tmp_path / "1.txt").write_text("a mou", "utf-8")
    (tmp_path / "2.txt").write_text("se", "utf-8")
    assert count_words(tmp_path, word_table()).counts == {"a": 1, "mou": 1, "se": 1}


@settings(max_examples=20)
@given(st.lists(st.sampled_from(["mouse", "日本", "𝕏", "é", "tail"]), min_size=1, max_size=120), st.integers(16, 64))
def test_overlong_line_is_cut_between_words(words: list[str], longest: int) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        for module in (decoding, passages):
            patch.setattr(module, "BLOCK", 8)
            patch.setattr(module, "LONGEST", longest)
        path = Path(folder, "x.txt")
        path.write_text(" ".join(words), "utf-8")
        assert count_words(path, word_table()).counts == dict(sorted(Counter(words).items()))


@pytest.mark.parametrize("split", ["auto", "lines", "prose", "wrapped"])
def test_line_layout_does_not_change_the_counts(split: str, tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    text = "The mouse ran and the cat ran after it, over\nthe hill and through the wood.\n\nThen it rained.\n" * 3
    path.write_text(text, "utf-8")
    assert count_words(path, word_table(), Reading(split=split)) == slow_counts([text], word_table())


def test_words_of_all_files_are_counted_together(tmp_path: Path) -> None:
    for i in range(3):
        (tmp_path / f"{i}.txt").write_text(f"mouse {'twice ' * (i < 2)}\n", "utf-8")
    assert count_words(tmp_path, word_table()) == WordCounts({"mouse": 3, "twice": 2}, 5)


@pytest.mark.parametrize("data", [b"", b"\n\n", b" .,;!\n", "…\u2028".encode()])
def test_corpus_without_words_is_refused(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(data)
    with pytest.raises(UserError, match=r"the corpus '.*x\.txt' is empty: there is no word in it"):
        count_words(path, word_table())


@pytest.mark.parametrize("packed", [False, True])
def test_progress_is_reported_in_bytes_on_disk(packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "BLOCK", 64)
    data = "".join(f"mouse{i} ran\n" for i in range(200)).encode()
    paths = [tmp_path / name for name in ("1.txt", "2.txt")]
    for path in paths:
        path.write_bytes(gzip.compress(data, mtime=0) if packed else data)
    updates: list[tuple[int, int]] = []
    count_words(tmp_path, word_table(), progress=lambda done, size: updates.append((done, size)))
    size = sum(path.stat().st_size for path in paths)
    assert len(updates) > 10
    assert updates == sorted(updates)
    assert updates[-1] == (size, size)
    assert {of for _, of in updates} == {size}


# ------------------------------------------------------------------------------------- comparison with the search


@settings(max_examples=40)
@given(TEXT | TEXT_OF_LETTERS, st.sampled_from(["word", "token"]))
@example("mouse Mouse MOUSE mice\nΣΑΣ σας 日本 é É", "word")
@example("\u09dc \u09a1\u09bc \u1e96 h\u0331 H\u0331 e\u0301 \u2126 \uf900", "word")
@example("\u09dc \u09a1\u09bc \u1e96 h\u0331 H\u0331 e\u0301 \u2126 \uf900", "token")
def test_search_finds_every_word_as_often_as_it_was_counted(text: str, match: str) -> None:
    table = token_table() if match == "token" else word_table()
    with TemporaryDirectory() as folder:
        path = Path(folder, "x.txt")
        path.write_bytes(f"mouse\n{text}".encode())
        counts = count_words(path, table)
        # Tokens with control characters are counted, but refused as targets.
        words = [word for word in counts.counts if not any(unicodedata.category(c) == "Cc" for c in word)]
        found = find_occurrences(path, read_targets(words, match), Reading(split="lines"))
    for word, n in zip(words, found.found.tolist(), strict=True):
        if match == "word" and is_unspaced(word[0]):  # these are also found inside other runs
            assert n >= 1
        else:
            assert n == counts.counts[word]
    assert found.tally.words == counts.total


SENTENCES = st.lists(
    st.sampled_from(
        ["Paris", "paris", "Émile", "émile", "was", "A", "ǅ", " ", " ", " ", ", ", ". ", ".", "\n", "- ", "? "]
    ),
    max_size=40,
).map("".join)


def slow_cases(text: str, table: FoldTable) -> dict[str, tuple[int, int]]:
    """Count small and capital first letters of words that follow another word after a space or comma and space."""
    if table is token_table():
        spans = [match.span() for match in re.finditer("[^\0]+", "".join(chr(table[ord(c)]) for c in text))]
    else:
        spans = word_runs(text)
    found: dict[str, tuple[int, int]] = {}
    ended = None
    for start, end in spans:
        word = unicodedata.normalize("NFC", "".join(chr(table[ord(c)]) for c in text[start:end]))
        small, capital = found.get(word, (0, 0))
        if ended is not None and text[ended:start] in (" ", ", ") and text[ended - 1] not in '.!?:;"()[]':
            first = text[start]
            capital += first.isupper() or first.istitle()
            small += not (first.isupper() or first.istitle())
        found[word] = (small, capital)
        ended = end
    return found


@given(SENTENCES | TEXT, RULES, st.sampled_from([1, 4, 1 << 16]))
def test_case_of_words_inside_sentences_is_counted(text: str, rule: Rule, slots: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "_SLOTS", slots)
        counter = WordCounter(rule())
        counter.add(text.encode())
    assert {word: cases[1:] for word, cases in counting.sum_counts(counter.words()).items()} == slow_cases(text, rule())
