"""Detect the language of a corpus from a sample of its text.

If only one language commonly uses the script of the text, the script decides. Otherwise each language is scored by its
most frequent function words; a word that several languages share has less weight. A text with too few function words is
in no known language.
"""

from __future__ import annotations

import math
import os
import sys
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from lexshift.corpus.encodings import UTF_8, detect_encoding, detect_wide, find_mark
from lexshift.corpus.passages import read_blocks
from lexshift.corpus.sources import AUTO, STANDARD_INPUT, Reading, Tally, find_sources
from lexshift.errors import UserError

if TYPE_CHECKING:
    import pyarrow as pa

UNKNOWN = "unknown"
"""Code for a text that is long enough for detection, but in no known language."""
FALLBACK = "en"
"""The language whose rules for sentences and lemmas apply if the language is not known."""
_LANGUAGES = [
    line.split("\t") for line in files("lexshift.corpus").joinpath("languages.tsv").read_text("utf-8").splitlines()[1:]
]
NAMES = {code: name for code, name, _, _ in _LANGUAGES}
"""The languages that can be detected."""
_SCRIPTS = {script: code for code, _, scripts, words in _LANGUAGES if not words for script in scripts.split()}
"""The only language that commonly uses a script, by the first word of the Unicode names of its letters."""
_FILES = 16  # number of files of a corpus that are sampled, evenly spaced
_BYTES = 1 << 16  # bytes of text in the sample of a file
_BLOCK = 1 << 20  # bytes at the beginning of a file from which the sample is drawn
_SENTENCES = 500  # sentences in a sample of usages
_LETTERS = 5_000  # characters whose script is examined
_LEAST_SHARE = 0.08  # minimum share of function words among the running words of a text in a language
_LEAST_WORDS = 4  # minimum number of function words; at least 2 must be different
_LEAST_LEAD = 1.05  # minimum ratio of the best score to the second best
_ENOUGH = 100  # words of a text that normally suffice to detect its language
_PUNCTUATION = ".,;:!?\"'()[]{}<>«»‹›“”„‟‘’‚‛…—–-*_/\\|#@&+=~`।॥،؛؟۔·¿¡־"


def detect_language(text: str) -> str | None:
    """Return the ISO code of the language of a text; None if it is not known.

    Parameters
    ----------
    text : str
        A few sentences or more.

    >>> detect_language("Die Maus lief über den Hügel, und die Katze lief ihr nach, bis sie das Haus sah.")
    'de'
    >>> detect_language("Мышь побежала по холму, и она не знала, что кошка была уже там.")
    'ru'
    >>> detect_language("xyzzy plugh foo bar")
    """
    scripts = Counter(
        unicodedata.name(letter, "").split(" ")[0].split("-")[0] for letter in text[:_LETTERS] if letter.isalpha()
    )
    if not scripts:
        return None
    kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
    scripts["CJK"] += kana  # Japanese is written in both
    script, n = scripts.most_common(1)[0]
    if 2 * n <= scripts.total() - kana:
        return None
    if script in _SCRIPTS:
        return "ja" if script == "CJK" and kana > 0.05 * n else _SCRIPTS[script]
    weights = _weights(script)
    if not weights:
        return None
    bare = (word.strip(_PUNCTUATION) for word in unicodedata.normalize("NFC", text).lower().split())
    words = Counter(word.replace("’", "'") for word in bare if word)
    scores = {
        language: sum(words[word] * weight for word, weight in word_weights.items())
        for language, word_weights in weights.items()
    }
    ranked = sorted(scores, key=lambda language: -scores[language])
    best, second = ranked[0], ranked[1]
    hits = [words[word] for word in weights[best] if words[word]]
    clear = scores[best] >= _LEAST_LEAD * scores[second]
    often = sum(hits) >= max(_LEAST_WORDS, _LEAST_SHARE * words.total())
    return best if clear and often and len(hits) > 1 else None


def detect_languages(
    corpora: Mapping[str, str | os.PathLike[str]], reading: Reading
) -> tuple[dict[str, str | None], dict[str, Reading]]:
    """Return the language of each corpus as an ISO code, and its reading options with the rules of that language.

    The language is that of ``reading``. With "auto" it is detected from a sample: lines from the beginnings of some
    files, or the part of standard input that is available without waiting. It is :data:`UNKNOWN` if the text is in no
    known language. If a corpus is too short for detection, it gets the language of the others, or None if they differ.
    If the language is not known, the rules of :data:`FALLBACK` apply.
    """
    detected: dict[str, str | None] = dict.fromkeys(corpora, reading.language)
    for label, corpus in corpora.items() if reading.language == AUTO else ():
        sources, texts = find_sources(corpus), []
        if sources[0].path == STANDARD_INPUT:
            peek = getattr(sys.stdin.buffer, "peek", None)
            data = b"" if peek is None else peek(_BYTES)
            texts.append(data.decode(_encoding(data) if reading.encoding == AUTO else reading.encoding, "ignore"))
            sources = []
        sources = [source for source in sources if reading.strict or not source.fault]
        for source in sources[:: max(1, -(-len(sources) // _FILES))]:
            blocks = read_blocks(source, reading, Tally())
            try:
                block = next(blocks, None)
            except UserError:
                if reading.strict or not source.optional:
                    raise
                continue  # the file is skipped
            finally:
                blocks.close()
            if block is not None:
                lines = block.data[:_BLOCK].decode(errors="ignore").split("\n")
                some = lines[:: max(1, min(len(block.data), _BLOCK) // _BYTES)]
                texts.append("\n".join(some)[:_BYTES])
        text = "\n".join(texts)
        detected[label] = detect_language(text) or (UNKNOWN if len(text.split()) >= _ENOUGH else None)
    codes = set(detected.values()) - {None}
    common = next(iter(codes)) if len(codes) == 1 else None
    languages = {label: code or common for label, code in detected.items()}
    rules = {label: FALLBACK if code in (None, UNKNOWN) else code for label, code in languages.items()}
    return languages, {label: replace(reading, language=code) for label, code in rules.items()}


def _encoding(data: bytes) -> str:
    return find_mark(data) or detect_wide(data) or detect_encoding(data, is_complete=False) or UTF_8


def language_of_sentences(sentences: pa.ChunkedArray) -> str | None:
    """Return the ISO code of the language of a column of sentences, detected from an evenly spaced sample, or None."""
    step = max(1, len(sentences) // _SENTENCES)
    return detect_language("\n".join(sentences[i].as_py() for i in range(0, len(sentences), step)))


def record_readings(readings: Mapping[str, Reading]) -> dict[str, Any]:
    """Return the reading options that a store records; the language is one code, or a code for each corpus."""
    codes = {label: reading.language for label, reading in readings.items()}
    language = next(iter(codes.values())) if len(set(codes.values())) == 1 else codes
    options = {**asdict(next(iter(readings.values()))), "language": language}
    del options["strict"]  # which affects only whether a run stops
    options["groups"] = next(iter(readings.values())).group_column  # usages of all groups are stored
    names = ("document_column", "since", "before", "xpath", "columns", "groups")
    unused = dict.fromkeys(names) | {"date_order": AUTO}
    # A store that does not use an option is not affected by it.
    return {name: value for name, value in options.items() if name not in unused or value != unused[name]}


def language_warnings(languages: Mapping[str, str | None], encoder: Any) -> list[str]:
    """Return warnings about the languages of the corpora; ``languages`` maps the labels of corpora to ISO codes."""
    messages = []
    codes = {label: code for label, code in languages.items() if code not in (None, UNKNOWN)}
    ours = getattr(encoder, "languages", None)
    foreign = {label: code for label, code in codes.items() if ours is not None and base_code(code) not in ours}
    if foreign:
        model = getattr(encoder, "settings", {}).get("model", "that was chosen")
        option = "--model" if str(model).startswith("multilingual") else "--model auto selects a built-in one"
        messages.append(
            f"the text of {_and(foreign)} is {_and(dict.fromkeys(map(language_name, foreign.values())))}, but the "
            f"model {model} knows only {_and(map(language_name, ours or ()))}, so its scores mean little: choose a "
            f"model for the language of the text ({option}), or name the language if this is wrong (--language)"
        )
    if len({base_code(code) for code in codes.values()}) > 1:
        each = ", ".join(f"{label} {language_name(code)}" for label, code in codes.items())
        messages.append(
            f"the corpora are in different languages ({each}), so a word may differ for that reason alone; name the "
            f"language if this is wrong (--language)"
        )
    unknown = [label for label, code in languages.items() if code == UNKNOWN]
    if unknown:
        messages.append(
            f"the language of {_and(unknown)} is not recognised: sentences are split by the rules of English, and no "
            f"function words are left out; name the language (--language)"
        )
    return messages


def language_name(code: str | None) -> str:
    """Return the English name of a language, or its code.

    >>> language_name("de"), language_name("xx")
    ('German', 'xx')
    """
    return NAMES.get(base_code(code), str(code))


def base_code(code: str | None) -> str:
    """Return a code without its region: pt for pt-BR."""
    return str(code).lower().replace("_", "-").split("-")[0]


def _and(names: Any) -> str:
    *first, last = list(names)
    shown = first[:5] + ([f"{len(first) - 5} more"] if len(first) > 5 else [])
    return f"{', '.join(shown)} and {last}" if shown else last


@cache
def _weights(script: str) -> dict[str, dict[str, float]]:
    """Return the weight of each function word for each language of a script that several languages share."""
    words = {code: set(listed.split()) for code, _, scripts, listed in _LANGUAGES if listed and scripts == script}
    of_languages = Counter(word for function_words in words.values() for word in function_words)
    return {
        language: {word: 1 + math.log(len(words) / of_languages[word]) for word in sorted(function_words)}
        for language, function_words in words.items()
    }
