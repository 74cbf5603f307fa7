"""Liverpool FC (Del Tredici et al. 2019): words of a football forum, judged by its members.

Two ways in: the contexts that the judges saw, and dumps of the forum itself.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sentencex import segment

from lexshift.benchmark.dataset import Dataset, Rows, Text, keep_one
from lexshift.corpus.tables import parse_number, read_lines, read_table
from lexshift.errors import UserError

WORDS, CONTEXTS = "annotated_words.csv", "contexts.txt"
_PERIODS = ("2011-13", "2017")


def is_liverpool(folder: Path) -> bool:
    """Whether a folder looks like the release."""
    return (folder / WORDS).is_file() and ((folder / CONTEXTS).is_file() or bool(_dumps(folder)))


def load_liverpool(folder: Path) -> Dataset:
    """Read the judged words, and their usages in the dumps where there are some, else in the contexts."""
    graded = _gold(folder / WORDS)
    words = tuple(graded)
    dumps = _dumps(folder)
    collected, texts = _from_dumps(dumps, words) if dumps else _from_contexts(folder / CONTEXTS, graded)
    return Dataset(
        name=folder.name,
        kind="Liverpool FC",
        language="en",
        periods=_PERIODS,
        words=words,
        usages=collected.table(words),
        graded=graded,
        gold="share of judges who saw a change (shift index)",
        binary={},
        texts=texts,
        skipped=collected.skipped,
    )


def _from_contexts(path: Path, graded: dict[str, float]) -> tuple[Rows, tuple[Text, Text]]:
    """The contexts that the judges saw, under their words and periods."""
    collected = Rows()
    word, period, seen = "", -1, [0, 0]
    for number, line in enumerate(read_lines(path), 1):
        text = line.strip()
        if text.startswith("TARGET WORD:"):
            word, period = text.partition(":")[2].strip(), -1
        elif text.strip("*") in _PERIODS and text.startswith("*"):
            period = _PERIODS.index(text.strip("*"))
        elif text and text.strip("*") and word in graded:
            if period < 0:
                raise UserError(f"{str(path)!r}, line {number}: a context before its period (*{_PERIODS[0]}*)")
            seen[period] += 1
            _add_occurrences(collected, word, period, text, number)
        elif text and text.strip("*") and word:
            collected.skip("contexts of words without a judgement")
    for label, n in zip(_PERIODS, seen, strict=True):
        if not n:
            raise UserError(f"{str(path)!r} has no contexts of {label}")
    return collected, collected.texts()


def _dumps(folder: Path) -> dict[int, list[Path]]:
    """Files of the forum's posts by period, which their names end with: LiverpoolFC_13.txt, LiverpoolFC_17.txt."""
    found: dict[int, list[Path]] = {}
    for path in sorted(folder.iterdir()):
        match = re.search(r"(11|12|13|17)(?:\.\w+)+$", path.name)
        if match and path.is_file():
            found.setdefault(1 if match[1] == "17" else 0, []).append(path)
    return found if len(found) == 2 else {}


def _from_dumps(dumps: dict[int, list[Path]], words: tuple[str, ...]) -> tuple[Rows, tuple[Text, Text]]:
    """Sentences of the posts' bodies: other fields (names, times) are not text."""
    collected, texts = Rows(), []
    known = {word.lower(): word for word in words}
    any_word = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    finder = re.compile(rf"(?<!\w)(?:{any_word})(?!\w)", re.IGNORECASE)
    for period in range(2):
        sentences, tokens, types = 0, 0, set[str]()
        for path in dumps[period]:
            for number, body in _bodies(path):
                for sentence in segment("en", body):
                    text = " ".join(str(sentence).split())
                    spoken = text.split()
                    sentences, tokens = sentences + bool(spoken), tokens + len(spoken)
                    types.update(spoken)
                    for match in finder.finditer(text):
                        collected.add(known[match[0].lower()], period, text, *match.span(), path.name, number)
        if not sentences:
            raise UserError(f"{str(dumps[period][0])!r} has no posts")
        texts.append(Text(sentences, tokens, len(types)))
    return collected, (texts[0], texts[1])


def _bodies(path: Path) -> Iterator[tuple[int, str]]:
    """The bodies of posts: a JSON object a line, or a Python dictionary written out, as the dumps have it."""
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        try:
            post = _parsed(line)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise UserError(f"{str(path)!r}, line {number}: not a post in JSON") from None
        if not isinstance(post, dict) or not isinstance(post.get("body"), str):
            raise UserError(f"{str(path)!r}, line {number}: a post without a body")
        if post["body"] not in ("[deleted]", "[removed]"):
            yield number, post["body"]


def _parsed(line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return ast.literal_eval(line)


def _add_occurrences(collected: Rows, word: str, period: int, text: str, number: int) -> None:
    """Every occurrence of the word as a whole word, whatever its case; with an ending if it does not stand alone."""
    whole = [match.span() for match in re.finditer(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE)]
    found = whole or [match.span() for match in re.finditer(rf"(?<!\w){re.escape(word)}\w*", text, re.IGNORECASE)]
    if not found:
        collected.skip("contexts without the word")
    for start, end in found:
        collected.add(word, period, text, start, end, CONTEXTS, number)


def _gold(path: Path) -> dict[str, float]:
    graded: dict[str, float] = {}
    for number, row in read_table(path, ("word", "shift_index"), ","):
        word = row["word"].strip()
        if not word:
            raise UserError(f"{str(path)!r}, line {number}: no word")
        keep_one(graded, word, parse_number(row, "shift_index", path, number), path, number)
    if not graded:
        raise UserError(f"{str(path)!r} has no words")
    return graded
