"""Liverpool FC (Del Tredici et al. 2019): words of a football forum, judged by its members.

Usages are read from the contexts that the judges saw, or from dumps of the forum itself.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

from sentencex import segment

from lexshift.benchmark.datasets.dataset import Dataset, TextSize, UsageCollector, set_gold
from lexshift.corpus.tables import parse_number, read_lines, read_table
from lexshift.errors import UserError

WORDS, CONTEXTS = "annotated_words.csv", "contexts.txt"
_PERIODS = ("2011-13", "2017")


def is_liverpool(folder: Path) -> bool:
    """Return whether a folder looks like the release."""
    return (folder / WORDS).is_file() and ((folder / CONTEXTS).is_file() or bool(_dumps(folder)))


def load_liverpool(folder: Path) -> Dataset:
    """Read the judged words, with their usages in the dumps if there are some, else in the contexts."""
    graded = _gold(folder / WORDS)
    dumps = _dumps(folder)
    collector, texts = UsageCollector(), []
    if dumps:
        texts = [_add_posts(collector, period, dumps[period], graded) for period in range(2)]
    else:
        _add_contexts(collector, folder / CONTEXTS, graded)
    return collector.dataset(
        graded,
        texts,
        name=folder.name,
        kind="Liverpool FC",
        language="en",
        periods=_PERIODS,
        graded=graded,
        gold="share of judges who saw a change (shift index)",
        binary={},
    )


def _add_contexts(collector: UsageCollector, path: Path, words: Container[str]) -> None:
    """Add the contexts that the judges saw, which the file groups by word and period."""
    word, period, counts = "", -1, [0, 0]
    for number, line in enumerate(read_lines(path), 1):
        text = line.strip()
        if text.startswith("TARGET WORD:"):
            word, period = text.partition(":")[2].strip(), -1
        elif text.strip("*") in _PERIODS and text.startswith("*"):
            period = _PERIODS.index(text.strip("*"))
        elif text and text.strip("*") and word in words:
            if period < 0:
                raise UserError(f"{str(path)!r}, line {number}: the context has no period (*{_PERIODS[0]}*) before it")
            counts[period] += 1
            _add_occurrences(collector, word, period, text, number)
        elif text and text.strip("*") and word:
            collector.skip("contexts of words without a judgement")
    for label, n in zip(_PERIODS, counts, strict=True):
        if not n:
            raise UserError(f"{str(path)!r} has no contexts of {label}")


def _dumps(folder: Path) -> dict[int, list[Path]]:
    """Return the files of posts by period, which their names end with, as in LiverpoolFC_13.txt, LiverpoolFC_17.txt."""
    dumps: dict[int, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        match = re.search(r"(11|12|13|17)(?:\.\w+)+$", path.name)
        if match and path.is_file():
            dumps.setdefault(1 if match[1] == "17" else 0, []).append(path)
    return dumps if len(dumps) == 2 else {}


def _add_posts(collector: UsageCollector, period: int, paths: list[Path], words: Iterable[str]) -> TextSize:
    """Add the usages in sentences of the posts' bodies, and return the size of the text.

    Other fields of a post (names, times) are not text.
    """
    spellings = {word.lower(): word for word in words}
    any_word = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    finder = re.compile(rf"(?<!\w)(?:{any_word})(?!\w)", re.IGNORECASE)
    sentences, tokens = 0, Counter[str]()
    for path in paths:
        for number, body in _bodies(path):
            for sentence in segment("en", body):
                text = " ".join(str(sentence).split())
                sentences += bool(text)
                tokens.update(text.split())
                for match in finder.finditer(text):
                    collector.add(spellings[match[0].lower()], period, text, *match.span(), path.name, number)
    if not sentences:
        raise UserError(f"{str(paths[0])!r} has no posts")
    return TextSize(sentences, tokens.total(), len(tokens))


def _bodies(path: Path) -> Iterator[tuple[int, str]]:
    """Read the bodies of posts: each line is a JSON object or, as in the dumps, a Python dictionary literal."""
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        try:
            try:
                post = json.loads(line)
            except ValueError:
                post = ast.literal_eval(line)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise UserError(f"{str(path)!r}, line {number}: this is not a post (a JSON object)") from None
        if not isinstance(post, dict) or not isinstance(post.get("body"), str):
            raise UserError(f"{str(path)!r}, line {number}: the post has no body")
        if post["body"] not in ("[deleted]", "[removed]"):
            yield number, post["body"]


def _add_occurrences(collector: UsageCollector, word: str, period: int, text: str, number: int) -> None:
    """Add every occurrence of a word, in any case; if it is never a whole word, add words that begin with it."""
    spans = [match.span() for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE)]
    if not spans:
        spans = [match.span() for match in re.finditer(rf"(?<!\w){re.escape(word)}\w*", text, re.IGNORECASE)]
    if not spans:
        collector.skip("contexts without the word")
    for start, end in spans:
        collector.add(word, period, text, start, end, CONTEXTS, number)


def _gold(path: Path) -> dict[str, float]:
    """Read the share of judges who saw a change, by word."""
    graded: dict[str, float] = {}
    for number, row in read_table(path, ("word", "shift_index"), ","):
        word = row["word"].strip()
        if not word:
            raise UserError(f"{str(path)!r}, line {number}: no word")
        set_gold(graded, word, parse_number(row, "shift_index", path, number), path, number)
    if not graded:
        raise UserError(f"{str(path)!r} has no words")
    return graded
