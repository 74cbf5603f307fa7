"""Test the sample of distinct sentences against a slow reference, for any text order and too short sentences."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.corpus import Reading, sentences
from lexshift.corpus.sentences import Passage
from lexshift.errors import UserError
from lexshift.tune.sentence_sample import Sample, sample_sentences

LINES = Reading(split="lines")
SHORT = "sentences of fewer than 3 words"


def write_file(folder: str | Path, text: str | bytes, name: str = "x.txt") -> Path:
    path = Path(folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def number(sentence: str, seed: int) -> int:
    return int.from_bytes(hashlib.blake2b(f"{seed}\0{sentence}".encode(), digest_size=8).digest(), "little")


def words_in(line: str) -> int:
    """Split at spaces and return each letter of a script without spaces."""
    spaced = "".join(f" {letter} " if letter in "日本" else letter for letter in line)
    return len(spaced.split())


def plain(lines: list[str], most: int | None, seed: int) -> tuple[list[str], int, int, int]:
    """Return the sample, the number of sentences, their words, and the number of too short ones."""
    found = [line.strip() for line in lines if line.strip()]
    long = [line for line in found if words_in(line) >= 3]
    kept = sorted(set(long), key=lambda line: number(line, seed))
    return kept[:most], len(long), sum(map(words_in, long)), len(found) - len(long)


def counts(sample: Sample) -> tuple[list[str], int, int, int]:
    return sample.sentences, sample.total, sample.tally.words, sample.tally.skipped[SHORT]


WORD = st.sampled_from(["a", "mouse", "Käse", "日本", "ran", "1914"])
LINE = st.lists(WORD, max_size=5).map(" ".join)


@given(
    lines=st.lists(LINE, max_size=30), most=st.none() | st.integers(1, 12), seed=st.integers(0, 50), order=st.randoms()
)
def test_sample_has_the_sentences_of_smallest_hash_in_any_order(
    lines: list[str], most: int | None, seed: int, order: random.Random
) -> None:
    lines = [*lines, "one mouse ran home"]
    expected = plain(lines, most, seed)
    with TemporaryDirectory() as folder:
        assert counts(sample_sentences(write_file(folder, "\n".join(lines)), LINES, most, seed)) == expected
        order.shuffle(lines)
        assert counts(sample_sentences(write_file(folder, "\n".join(lines)), LINES, most, seed)) == expected


@pytest.mark.parametrize("line", ["a  mouse", "the\tmouse", "one   mouse  ", "Käse \t 日"])
def test_words_separated_by_many_spaces_are_two_words(line: str, tmp_path: Path) -> None:
    sample = sample_sentences(write_file(tmp_path, f"{line}\nthe mouse ran\n"), LINES)
    assert counts(sample) == plain([line, "the mouse ran"], None, 0)


@pytest.mark.parametrize("line", ["the\tmouse\tran", "the\u00a0mouse\u00a0ran\u00a0off"])
def test_words_are_separated_by_any_whitespace(line: str, tmp_path: Path) -> None:
    sample = sample_sentences(write_file(tmp_path, f"{line}\nthe mouse ran\n"), LINES)
    assert counts(sample) == plain([line, "the mouse ran"], None, 0)


def test_smaller_sample_is_the_beginning_of_a_larger_one(tmp_path: Path) -> None:
    path = write_file(tmp_path, "".join(f"the mouse number {i} ran\n" for i in range(300)))
    whole = sample_sentences(path, LINES).sentences
    assert len(whole) == 300
    for most in (1, 2, 57, 299, 300, 1000):
        assert sample_sentences(path, LINES, most).sentences == whole[:most]


def test_another_seed_selects_other_sentences(tmp_path: Path) -> None:
    path = write_file(tmp_path, "".join(f"the mouse number {i} ran\n" for i in range(300)))
    taken = [sample_sentences(path, LINES, 100, seed).sentences for seed in range(20)]
    assert len({tuple(found) for found in taken}) == 20
    times = [sum(f"the mouse number {i} ran" in found for found in taken) for i in range(300)]
    assert abs(sum(i * n for i, n in enumerate(times)) / sum(times) - 149.5) < 4 * 300 / 12**0.5 / 2000**0.5
    assert max(times) <= 16  # of 20 samples, each with probability one third
    assert sum(n == 0 for n in times) <= 4


def test_repeated_sentence_is_sampled_once_and_counted_each_time(tmp_path: Path) -> None:
    sample = sample_sentences(write_file(tmp_path, "the mouse ran\n" * 7 + "a cat sat still\n"), LINES, 5)
    assert sorted(sample.sentences) == ["a cat sat still", "the mouse ran"]
    assert (sample.total, sample.tally.words) == (8, 25)


def test_sentences_of_prose_are_found_and_too_short_ones_are_reported(tmp_path: Path) -> None:
    text = "The mouse ran home. It hid. Dr. Smith saw it again!\n\nNobody else did so. No.\n"
    sample = sample_sentences(write_file(tmp_path, text), Reading(split="prose"))
    assert sorted(sample.sentences) == ["Dr. Smith saw it again!", "Nobody else did so.", "The mouse ran home."]
    assert sample.total == 3
    assert dict(sample.tally.skipped) == {SHORT: 2}


def test_lines_of_a_wrapped_paragraph_are_one_text(tmp_path: Path) -> None:
    text = "The mouse ran\nhome. Nobody saw\nit there.\n\nThe end was\nnear.\n"
    sample = sample_sentences(write_file(tmp_path, text), Reading(split="wrapped"))
    assert sorted(sample.sentences) == ["Nobody saw it there.", "The end was near.", "The mouse ran home."]


def test_all_files_of_a_corpus_are_read_in_any_format(tmp_path: Path) -> None:
    write_file(tmp_path, "the mouse ran\n", "in/a.txt")
    write_file(tmp_path, gzip.compress("die mouse läuft weg\n".encode("latin-1"), mtime=0), "in/b.txt.gz")
    write_file(tmp_path, json.dumps({"body": "she moved the mouse"}) + "\n", "in/c.jsonl")
    reading = Reading(split="lines", encoding="latin-1", text_column="body")
    sample = sample_sentences(tmp_path / "in", reading)
    assert sorted(sample.sentences) == ["die mouse läuft weg", "she moved the mouse", "the mouse ran"]
    assert sample.tally.files == 3


def test_content_digest_is_that_of_the_files(tmp_path: Path) -> None:
    def content(text: str, name: str = "x.txt") -> str:
        return sample_sentences(write_file(tmp_path, text, name), LINES, 1).content

    first = content("the mouse ran\nthe cat sat still\n")
    assert content("the mouse ran\nthe cat sat still\n") == first
    assert content("the mouse ran\nthe cat sat stiff\n") != first
    assert sample_sentences(tmp_path / "x.txt", LINES, 2, seed=5).content == content((tmp_path / "x.txt").read_text())


def test_progress_is_reported_in_bytes(tmp_path: Path) -> None:
    updates: list[tuple[int, int]] = []
    for name in ("in/a.txt", "in/b.txt"):
        write_file(tmp_path, "the mouse ran home\n" * 2000, name)
    sample_sentences(tmp_path / "in", LINES, progress=lambda done, total: updates.append((done, total)))
    total = 2 * 19 * 2000
    assert {whole for _, whole in updates} == {total}
    assert [done for done, _ in updates] == sorted(done for done, _ in updates)
    assert updates[-1] == (total, total)


@pytest.mark.parametrize("text", ["", "\n\n", "mouse\nthe mouse\n"])
def test_corpus_without_a_sentence_is_refused(text: str, tmp_path: Path) -> None:
    path = write_file(tmp_path, text)
    with pytest.raises(UserError, match=rf"^the corpus '{path}' .*$"):
        sample_sentences(path, LINES)


def test_corpus_in_another_encoding_is_refused_with_its_line(tmp_path: Path) -> None:
    path = write_file(tmp_path, "the mouse ran\nun été très chaud\n".encode("latin-1"))
    with pytest.raises(UserError, match=r"x\.txt' is not UTF-8 at line 2 \(byte 0xe9\)"):
        sample_sentences(path, replace(LINES, encoding="utf-8"))


# ----------------------------------------------------------------------------------------------- sentences of a passage

PIECES = st.sampled_from(["mouse", "Käse", "日本", "🐁", " ", "  ", ". ", "! ", "? ", "。", "“", "(", "\t", "Dr. "])


@given(
    st.lists(PIECES, max_size=60).map("".join), st.sampled_from(["lines", "prose"]), st.sampled_from(["en", "de", "ja"])
)
def test_sentences_of_a_passage_cover_all_of_its_text_in_order(text: str, split: str, language: str) -> None:
    passage = Passage(text, split, language)
    found = list(passage.sentences())
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(found)
    assert [sentence.strip() for sentence in found] == found
    assert all(sentence in text for sentence in found)
    if split == "lines":
        assert len(found) == bool(text.strip())
    at = 0
    for sentence in found:  # each sentence is found from its position
        at = text.index(sentence, at)
        assert passage.sentence(at, at + 1)[0] == sentence
        at += len(sentence)


def test_prose_is_split_into_the_expected_sentences() -> None:
    text = "  Dr. Smith saw a mouse in the U.S. Army. It ran!  Where to? "
    assert list(Passage(text, "prose", "en").sentences()) == [
        "Dr. Smith saw a mouse in the U.S. Army.",
        "It ran!",
        "Where to?",
    ]
    assert list(Passage(text, "lines", "en").sentences()) == [text.strip()]
    assert list(Passage("  ", "prose", "en").sentences()) == []


@pytest.mark.parametrize("split", ["lines", "prose"])
def test_overlong_sentence_is_cut(split: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentences, "LONGEST", 30)
    text = "word " * 20
    assert [len(found) for found in Passage(text, split, "en").sentences()] in ([29], [30])
    assert text.startswith(next(Passage(text, split, "en").sentences()))
    assert list(Passage("a" * 30, split, "en").sentences()) == ["a" * 30]


def test_sentence_of_a_script_without_spaces_is_kept(tmp_path: Path) -> None:
    sample = sample_sentences(write_file(tmp_path, "昨日は雨が降った。\n雨。\nเมื่อวานฝนตก\n"), LINES)
    assert set(sample.sentences) == {"昨日は雨が降った。", "เมื่อวานฝนตก"}
