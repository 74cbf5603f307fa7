"""The words that appeared or disappeared on a page and in a notebook: studied ones, and those found by counting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lexshift.report.page import NOTEBOOK_ROWS, chance, decimal, excerpt, notebook_table
from lexshift.study.appeared_words import LISTED, AppearedWord
from lexshift.study.periods import OLD_NEW
from lexshift.study.study_result import StudyResult
from lexshift.study.verdict import APPEARED, DISAPPEARED, describe_presence

_NAMED = 300  # further words of which only the numbers of occurrences are shown


def presence_groups(result: StudyResult, studied_words: Sequence[dict[str, Any]] = ()) -> list[dict[str, Any]]:
    """Return the words to list for each verdict, as plain values.

    Parameters
    ----------
    result : StudyResult
    studied_words : sequence of dict
        Words of the study that have the verdict, which come first: word, verdict, reason, usages (rows of [before,
        word, after]).

    Returns
    -------
    list of dict
        verdict, side ("old" or "new"), words (as in ``studied_words``, with ``is_studied``), n_studied (number of words
        from ``studied_words``), rest (further words with their numbers of occurrences), more (number of words left
        out).
    """
    labels = result.run["corpora"][0]["name"], result.run["corpora"][-1]["name"]
    names, listed = {word.casefold() for word in result.words}, {entry["word"].casefold() for entry in studied_words}
    groups = []
    for verdict, side in ((APPEARED, OLD_NEW[1]), (DISAPPEARED, OLD_NEW[0])):
        words = [entry | {"is_studied": True} for entry in studied_words if entry["verdict"] == verdict]
        appeared = [] if result.appeared_words is None else result.appeared_words.select(verdict)
        appeared = [word for word in appeared if word.word.casefold() not in listed]
        words += [_entry(word, labels, word.word.casefold() in names) for word in appeared[:LISTED]]
        rest = [[word.word, *word.counts] for word in appeared[LISTED : LISTED + _NAMED]]
        if words:
            more = max(len(appeared) - LISTED - _NAMED, 0)
            groups.append({"verdict": verdict, "side": side, "words": words, "rest": rest, "more": more})
            groups[-1]["n_studied"] = sum(entry["verdict"] == verdict for entry in studied_words)
    return groups


def notebook_presence(result: StudyResult) -> str:
    """Return the first words that appeared or disappeared as a table in a notebook; nothing if there are none."""
    headline = result.appeared_headline()
    if headline is None:
        return ""
    labels = result.run["corpora"][0]["name"], result.run["corpora"][-1]["name"]
    rows = [
        [
            *(row["word"], f"{row['n_old']:,}", f"{row['n_new']:,}"),
            *(decimal(row["log_likelihood"]), chance(row["q"]), row["verdict"]),
        ]
        for row in result.appeared.head(NOTEBOOK_ROWS).to_dict("records")
    ]
    columns = ["word", *labels, "log-likelihood", "q", "verdict"]
    return notebook_table(headline, columns, rows, len(result.appeared), "appeared")


def _entry(word: AppearedWord, labels: tuple[str, str], is_studied: bool) -> dict[str, Any]:
    usages = [excerpt(example.sentence, example.start, example.end) for example in word.examples]
    reason = describe_presence(word.counts, labels)
    return {
        "word": word.word,
        "verdict": word.verdict,
        "reason": reason,
        "usages": usages,
        "is_studied": is_studied,
    }
