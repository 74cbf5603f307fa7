"""Test words of scripts without spaces, found inside runs of letters and counted with the segmenter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripts import is_unspaced

from lexshift import compare, discover
from lexshift.corpus import Reading, find_occurrences, read_targets, segmentation, vocabulary
from lexshift.corpus.counting import WordCounts, count_words
from lexshift.corpus.vocabulary import SELECTED, UNSEGMENTED, select_vocabulary
from lexshift.corpus.word_rule import token_table, word_table
from lexshift.engine import parts
from lexshift.errors import UserError

SENTENCES = {
    "Chinese": ("我喜欢苹果，不喜欢电话。", "苹果"),
    "Japanese": ("私は電話で話しました。", "電話"),
    "Thai": ("ฉันเห็นหนูวิ่งในบ้าน", "หนู"),
    "Lao": ("ຂ້ອຍຮັກເຈົ້າ", "ຮັກ"),
    "Khmer": ("ខ្ញុំស្រលាញ់ភាសាខ្មែរ", "ស្រលាញ់"),
    "Burmese": ("မြန်မာနိုင်ငံသည်ကြီးသည်", "ကြီး"),
}


class Lengths:
    def encode(self, sentences: list[str], spans: list[tuple[int, int]]) -> Any:
        return np.array([[len(s), start] for s, (start, _) in zip(sentences, spans, strict=True)], np.float32)


@pytest.fixture
def without_segmenter(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (segmentation, vocabulary, parts):
        monkeypatch.setattr(module, "segmenter_version", lambda: None)
    monkeypatch.setattr("lexshift.corpus.counting.segmenter_version", lambda: None)


@pytest.fixture
def segmenter() -> None:
    pytest.importorskip("icu4py")


def write_file(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(("text", "word"), SENTENCES.values(), ids=SENTENCES)
@pytest.mark.parametrize("match", ["word", "cased"])
def test_given_words_are_found_inside_runs_of_letters(tmp_path: Path, text: str, word: str, match: str) -> None:
    path = write_file(tmp_path / "x.txt", f"{text}\nNothing here.\n{text}\n")
    rows = find_occurrences(path, read_targets([word], match), Reading(split="lines")).table.to_pylist()
    assert [(row["line"], row["sentence"]) for row in rows] == [(1, text), (3, text)]
    assert {row["sentence"][row["start"] : row["end"]] for row in rows} == {word}


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("苹果树和苹果", ["苹果", "苹果树"], [2, 1]),  # each target is searched independently
        ("人人人人人", ["人人"], [2]),  # occurrences of one target do not overlap
        ("我用iPhone手机", ["iphone", "手机"], [1, 1]),  # a word ends where the script changes
        ("iPhones手机 myiPhone手机", ["iphone"], [0]),
        ("2024年の電話", ["2024", "電話"], [1, 1]),
        ("大學은 좋다", ["大學", "은", "좋다"], [1, 1, 1]),
        ("ที่นี่ ที", ["ที", "ที่"], [1, 1]),  # a mark belongs to its letter
        ("ខ្មែរ", ["ម"], [0]),  # a subscript consonant is not a separate letter
        ("卡拉OK 卡拉OKs", ["卡拉OK"], [1]),
        ("か\u3099く か", ["がく", "か"], [1, 1]),
    ],
)
def test_words_start_and_end_anywhere_in_scripts_without_spaces(
    tmp_path: Path, text: str, words: list[str], found: list[int]
) -> None:
    path = write_file(tmp_path / "x.txt", text)
    assert find_occurrences(path, read_targets(words), Reading(split="lines")).found.tolist() == found


def test_first_and_longest_of_overlapping_forms_is_the_occurrence(tmp_path: Path) -> None:
    path = write_file(tmp_path / "x.txt", "電話番号と番号表")
    targets = read_targets({"it": ["電話", "電話番号", "番号表", "番号"]})
    rows = find_occurrences(path, targets, Reading(split="lines")).table.to_pylist()
    assert [row["sentence"][row["start"] : row["end"]] for row in rows] == ["電話番号", "番号表"]


def test_tokens_in_scripts_without_spaces_are_separated_by_whitespace(tmp_path: Path) -> None:
    path = write_file(tmp_path / "x.txt", "我 喜欢 苹果 苹果树")
    assert find_occurrences(path, read_targets(["苹果"], "token"), Reading(split="lines")).found.tolist() == [1]
    assert count_words(path, token_table()).counts == {"我": 1, "喜欢": 1, "苹果": 1, "苹果树": 1}


# ------------------------------------------------------------------------------------------ selection of words


@pytest.mark.usefixtures("without_segmenter")
@pytest.mark.parametrize("language", SENTENCES)
def test_words_of_unsegmented_text_are_not_selected_without_a_segmenter(tmp_path: Path, language: str) -> None:
    text = f"{SENTENCES[language][0]}\n"
    old, new = write_file(tmp_path / "old.txt", text * 9), write_file(tmp_path / "new.txt", text * 8)
    message = rf"mostly {language}, which is written without spaces.*pip install 'lexshift\[segment\]'.*--words"
    with pytest.raises(UserError, match=message):
        compare(old, new, model=Lengths(), min_count=2)
    with pytest.raises(UserError, match=message):
        discover(old, new, model=Lengths(), min_count=2)


@pytest.mark.usefixtures("without_segmenter")
def test_runs_of_letters_among_other_words_are_omitted_without_a_segmenter() -> None:
    counts = WordCounts({"mouse": 5, "cloud": 4, "我喜欢苹果": 3}, 12)
    assert select_vocabulary([counts, counts], 2).words == ["mouse", "cloud"]
    assert select_vocabulary([counts, counts], 2, match="token").words == ["mouse", "cloud", "我喜欢苹果"]
    entries = select_vocabulary([counts, counts], 2, names=False, match="word").entries
    assert {entry.word: entry.reason for entry in entries}["我喜欢苹果"] == UNSEGMENTED
    entries = select_vocabulary([counts, counts], 2, names=False, match="token").entries
    assert {entry.word: entry.reason for entry in entries}["我喜欢苹果"] == SELECTED


@pytest.mark.usefixtures("segmenter")
@pytest.mark.parametrize(("text", "word"), SENTENCES.values(), ids=SENTENCES)
def test_with_a_segmenter_words_are_counted_selected_and_found(tmp_path: Path, text: str, word: str) -> None:
    path = write_file(tmp_path / "x.txt", f"{text}\n" * 3)
    counts = count_words(path, word_table())
    assert counts.counts[word] == 3
    assert word in select_vocabulary([counts, counts], 3).words
    assert word in select_vocabulary([counts, counts], 3, names=False).words
    chosen = read_targets(select_vocabulary([counts, counts], 3).words)
    assert find_occurrences(path, chosen, Reading(split="lines")).found.min() >= 3


@pytest.mark.usefixtures("segmenter")
def test_single_characters_are_not_selected_because_they_are_parts_of_words(tmp_path: Path) -> None:
    path = write_file(tmp_path / "x.txt", "我喜欢苹果。我喜欢电话。\n" * 3)
    counts = count_words(path, word_table())
    assert counts.counts["我"] == 6
    assert set(select_vocabulary([counts], 1).words) == {"喜欢", "苹果", "电话"}


@pytest.mark.usefixtures("segmenter")
def test_segmenter_leaves_other_scripts_and_lines_unchanged() -> None:
    text = "The mouse's e-mail ran.\nहिन्दी का पाठ\nשלום עולם\n"
    assert segmentation.segment(text) == text
    assert segmentation.segment("用iPhone手机\n苹果树").split() != []
    assert segmentation.segment("用iPhone手机\n苹果树").count("\n") == 1


def test_segmenter_receives_every_letter_of_scripts_without_spaces() -> None:
    missed = [c for c in map(chr, range(0x33480)) if is_unspaced(c) and not segmentation._RUN.fullmatch(c)]
    assert missed == []


# -------------------------------------------------------------------------------------------------- absent words


@pytest.mark.parametrize(
    ("words", "options", "hint"),
    [
        (["mose"], {}, "check the spelling"),
        (["蘋果"], {}, "simplified or traditional"),
        (["苹果"], {"match": "token"}, "--match word"),
    ],
)
def test_absent_word_is_reported_with_the_likely_cause(
    tmp_path: Path, words: list[str], options: dict[str, Any], hint: str
) -> None:
    old, new = (write_file(tmp_path / f"{n}.txt", "我喜欢苹果。 mouse\n" * n) for n in (8, 9))
    with pytest.raises(UserError, match=hint):
        compare(old, new, words=words, model=Lengths(), **options)
