"""Read SemEval-2020 Task 1: two lemmatised corpora, a list of targets, and the truth of both subtasks."""

from __future__ import annotations

import re
from pathlib import Path

from lexshift.benchmark.datasets.dataset import PERIODS, Dataset, TextSize, UsageCollector, read_gold, set_gold
from lexshift.corpus.counting import count_words
from lexshift.corpus.occurrences import find_occurrences
from lexshift.corpus.sources import Reading
from lexshift.corpus.tables import read_lines
from lexshift.corpus.targets import read_targets
from lexshift.corpus.word_rule import token_table
from lexshift.errors import UserError

_SUFFIX = re.compile(r"(_(nn|vb)|#[a-z])$")  # English plane_nn, Latin acerbus#a
_LANGUAGES = {"eng": "en", "ger": "de", "swe": "sv", "lat": "la", "ita": "it"}


def is_semeval(folder: Path) -> bool:
    """Return whether a folder looks like the release."""
    return (folder / "targets.txt").is_file() and (folder / "corpus1").is_dir()


def load_semeval(folder: Path, suffix: str = "strip", text: str = "lemma") -> Dataset:
    """Read the release.

    English and Latin targets end in their part of speech, as in plane_nn. ``suffix`` says whether the model sees it
    ("keep", as published) or not ("strip"). ``text`` is the subfolder of the corpora to read, "lemma" or "token".
    """
    path = folder / "targets.txt"
    words = tuple(dict.fromkeys(word.strip() for word in read_lines(path) if word.strip()))
    if not words:
        raise UserError(f"{str(path)!r} is empty; it must list one target per line")
    targets = read_targets(list(words), "token")
    reading = Reading(encoding="utf-8", split="lines")
    collector, texts = UsageCollector(), []
    for period in range(2):
        corpus = folder / f"corpus{period + 1}" / text
        occurrences = find_occurrences(corpus, targets, reading)
        counts = count_words(corpus, token_table(), reading)
        texts.append(TextSize(occurrences.tally.passages, counts.total, len(counts.counts)))
        for reason, n in occurrences.tally.skipped.items():
            collector.skipped[f"{PERIODS[period]}: {reason}"] = n
        columns = (
            occurrences.table[name].to_pylist() for name in ("target", "file", "line", "sentence", "start", "end")
        )
        for target, file, line, sentence, start, end in zip(*columns, strict=True):
            word = words[target]
            shown = _SUFFIX.sub("", word) if suffix == "strip" else word
            bare = sentence[:start] + shown + sentence[end:]
            if suffix == "strip":
                bare, start = _strip_suffixes(bare, start, len(shown), words)
            collector.add(word, period, bare, start, start + len(shown), file, line)
    graded, binary = _truth(folder / "truth", words)
    return collector.dataset(
        words,
        texts,
        name=folder.name,
        kind="SemEval-2020 Task 1",
        language=next((code for part, code in _LANGUAGES.items() if folder.name.endswith(part)), ""),
        periods=("corpus1", "corpus2"),
        graded=graded,
        gold="graded change (SemEval-2020 Task 1, subtask 2)",
        binary=binary,
    )


def _strip_suffixes(sentence: str, start: int, length: int, words: tuple[str, ...]) -> tuple[str, int]:
    """Return a sentence without the suffixes of all targets in it, and the new start of the target."""
    stripped = {word: _SUFFIX.sub("", word) for word in words}
    before, after = (
        re.sub(r"\S+", lambda token: stripped.get(token[0], token[0]), part)
        for part in (sentence[:start], sentence[start + length :])
    )
    return before + sentence[start : start + length] + after, len(before)


def _truth(folder: Path, words: tuple[str, ...]) -> tuple[dict[str, float], dict[str, bool]]:
    """Read the graded and the binary truth; either is empty if the release does not have it."""
    graded: dict[str, float] = {}
    binary: dict[str, bool] = {}
    for path in (folder / "graded.txt", folder / "binary.txt"):
        for line, word, value in read_gold(path) if path.is_file() else ():
            if word not in words:
                raise UserError(f"{str(path)!r}, line {line}: {word!r} is not among the targets")
            if path.name == "graded.txt":
                set_gold(graded, word, value, path, line)
            else:
                set_gold(binary, word, value > 0, path, line)
    return graded, binary
