"""SemEval-2020 Task 1: two lemmatised corpora, a list of targets, and the truth of both subtasks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from lexshift.benchmark.dataset import PERIODS, Dataset, Rows, Text, keep_one
from lexshift.corpus.counting import count_words
from lexshift.corpus.occurrences import find_occurrences
from lexshift.corpus.sources import Reading
from lexshift.corpus.tables import parse_number, read_lines
from lexshift.corpus.targets import read_targets
from lexshift.corpus.word_rule import token_table
from lexshift.errors import UserError

_SUFFIX = re.compile(r"(_(nn|vb)|#[a-z])$")  # English plane_nn, Latin acerbus#a
_LANGUAGES = {"eng": "en", "ger": "de", "swe": "sv", "lat": "la", "ita": "it"}


def is_semeval(folder: Path) -> bool:
    """Whether a folder looks like the release."""
    return (folder / "targets.txt").is_file() and (folder / "corpus1").is_dir()


def load_semeval(folder: Path, suffix: str = "strip", text: str = "lemma") -> Dataset:
    """Read the release.

    ``suffix`` says whether the part of speech that is written at the end of English and Latin targets stays in what the
    model sees ("keep", as published) or not ("strip"). ``text`` is the folder of the corpora, "lemma" or "token".
    """
    path = folder / "targets.txt"
    words = tuple(dict.fromkeys(word.strip() for word in read_lines(path) if word.strip()))
    if not words:
        raise UserError(f"{str(path)!r} is empty; it must have a target a line")
    targets = read_targets(list(words), "token")
    reading = Reading(split="lines")
    rows, texts = Rows(), []
    for period in range(2):
        corpus = folder / f"corpus{period + 1}" / text
        found = find_occurrences(corpus, targets, reading)
        counted = count_words(corpus, token_table(), reading)
        texts.append(Text(found.tally.passages, counted.total, len(counted.counts)))
        for reason, n in found.tally.skipped.items():
            rows.skipped[f"{PERIODS[period]}: {reason}"] = n
        columns = (found.table[name].to_pylist() for name in ("target", "file", "line", "sentence", "start", "end"))
        for target, file, line, sentence, start, end in zip(*columns, strict=True):
            word = words[target]
            shown = _SUFFIX.sub("", word) if suffix == "strip" else word
            bare = sentence[:start] + shown + sentence[end:]
            if suffix == "strip":
                bare, start = _strip_others(bare, start, len(shown), words)
            rows.add(word, period, bare, start, start + len(shown), file, line)
    graded, binary = _truth(folder / "truth", words)
    return Dataset(
        name=folder.name,
        kind="SemEval-2020 Task 1",
        language=next((code for part, code in _LANGUAGES.items() if folder.name.endswith(part)), ""),
        periods=("corpus1", "corpus2"),
        words=words,
        usages=rows.table(words),
        graded=graded,
        gold="graded change (SemEval-2020 Task 1, subtask 2)",
        binary=binary,
        texts=(texts[0], texts[1]),
        skipped=rows.skipped,
    )


def _strip_others(sentence: str, start: int, length: int, words: tuple[str, ...]) -> tuple[str, int]:
    """A sentence with the suffixes of all targets in it taken off, and where the target begins then."""
    known = {word: _SUFFIX.sub("", word) for word in words}
    before, after = (
        re.sub(r"\S+", lambda token: known.get(token[0], token[0]), part)
        for part in (sentence[:start], sentence[start + length :])
    )
    return before + sentence[start : start + length] + after, len(before)


def _truth(folder: Path, words: tuple[str, ...]) -> tuple[dict[str, float], dict[str, bool]]:
    """Graded and binary truth, where the release has them."""
    graded: dict[str, float] = {}
    binary: dict[str, bool] = {}
    truths: tuple[tuple[str, dict[str, Any]], ...] = (("graded.txt", graded), ("binary.txt", binary))
    for name, kept in truths:
        path = folder / name
        if not path.is_file():
            continue
        for number, line in enumerate(read_lines(path), 1):
            if not line.strip():
                continue
            word, tab, value = line.rstrip("\r").partition("\t")
            if not tab:
                raise UserError(f"{str(path)!r}, line {number}: no tab between a word and its value")
            if word not in words:
                raise UserError(f"{str(path)!r}, line {number}: {word!r} is not among the targets")
            amount = parse_number({"value": value}, "value", path, number)
            keep_one(kept, word, amount > 0 if kept is binary else amount, path, number)
    return graded, binary
