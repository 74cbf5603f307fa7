"""Segment text of scripts that are written without spaces, with the dictionaries of ICU (extra ``segment``).

Given target words are found inside runs of letters without segmentation. To count words, and so to select a vocabulary,
Chinese, Japanese, Thai, Lao, Khmer and Burmese text must first be segmented into words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from lexshift.corpus.word_rule import script_kinds
from lexshift.errors import UserError

# Runs of the scripts that script_kinds knows, with the punctuation of their blocks.
_RUN = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u31f0-\u31ff\u3400-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f"
    "\uf900-\ufaff\uff66-\uff9f\U000116d0-\U000116ff\U0001aff0-\U0001b16f\U00020000-\U0003347f]+"
)
_MOST = 0.5  # share of the running words above which a corpus is mostly in such scripts
_SCRIPTS = (
    (range(0x3040, 0x3100), "Japanese"),  # kana; before Han, which Japanese has too
    (range(0x0E00, 0x0E80), "Thai"),
    (range(0x0E80, 0x0F00), "Lao"),
    (range(0x1000, 0x10A0), "Burmese"),
    (range(0x1780, 0x1800), "Khmer"),
)


@cache
def segmenter_version() -> str | None:
    """Return the version of ICU that text is segmented with; None if it is not installed."""
    try:
        from icu4py import icu_version
    except ImportError:
        return None
    return f"ICU {icu_version}"


def segment(text: str) -> str:
    """Return a text with spaces between the words of scripts that are written without them, if ICU is installed."""
    if segmenter_version() is None:
        return text
    from icu4py.breakers import WordBreaker

    return _RUN.sub(lambda run: " ".join(WordBreaker(run[0], "en")), text)


def is_unspaced(word: str) -> bool:
    """Return whether a word begins with a letter of a script that is written without spaces.

    >>> is_unspaced("電話"), is_unspaced("phone")
    (True, False)
    """
    return bool(script_kinds()[ord(word[0])] == 1)


def advice(absent: Sequence[str], match: str) -> str:
    """Return advice about words that do not occur."""
    if not any(is_unspaced(word) for word in absent):
        if any(" " in word.strip() for word in absent):
            return "check the spelling, and separate words by commas: words with spaces between them are a phrase"
        return "check the spelling"
    if match == "token":
        return "check the spelling, and match text that has no spaces between words by --match word"
    return "check the spelling, and whether the text is in simplified or traditional characters, kanji or kana"


def is_unsegmented(several: Sequence[dict[str, int]]) -> bool:
    """Return whether the counts of words of one of several corpora are from mostly unsegmented text."""
    return _unsegmented_runs(several) is not None


def refuse_unsegmented(several: Sequence[dict[str, int]]) -> None:
    """Raise an error if the counts are from mostly unsegmented text."""
    runs = _unsegmented_runs(several)
    if runs is not None:
        raise UserError(
            f"the text is mostly {_language(runs)}, which is written without spaces, so its words cannot be "
            f"counted: install the segmenter (pip install 'lexshift[segment]'), give the words (compare --words), "
            f"or, if the text is segmented, match tokens (--match token)"
        )


def _unsegmented_runs(several: Sequence[dict[str, int]]) -> dict[str, int] | None:
    """Return the counts of runs of letters in the first corpus that is mostly unsegmented, or None."""
    for counts in several if segmenter_version() is None else ():
        runs = {word: n for word, n in counts.items() if is_unspaced(word)}
        if sum(runs.values()) > _MOST * sum(counts.values()):
            return runs
    return None


def _language(runs: dict[str, int]) -> str:
    """Name the language of runs of letters by their script."""
    letters = {ord(letter) for word in runs for letter in word}
    return next((name for script, name in _SCRIPTS if not letters.isdisjoint(script)), "Chinese")
