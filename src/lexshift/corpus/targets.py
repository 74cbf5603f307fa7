"""Define target words: their forms, and the rules by which text matches them."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from lexshift.corpus.normal_form import normalise
from lexshift.corpus.word_rule import APOSTROPHES, HYPHENS, FoldTable, WordTable, fold, rule, script_kinds, word_table
from lexshift.errors import UserError
from lexshift.utils import checks

Match = Literal["word", "cased", "token", "lemma"]
Words: TypeAlias = str | os.PathLike[str] | Iterable[str] | Mapping[str, Iterable[str]]


@dataclass(frozen=True)
class Candidate:
    """A target that the scan may have found, with the form to compare if it has more than one word."""

    target: int
    form: str | None


@dataclass(frozen=True)
class Targets:
    """Target words with their forms.

    Attributes
    ----------
    forms : dict
        The forms of each target word.
    match : "word", "cased", "token" or "lemma"
        "word" matches complete words in any case, where a word is a run of letters, digits, marks and underscores.
        "cased" is like "word", but the case must agree. "token" matches the exact text between white space. "lemma" is
        like "word", and matches every form whose lemma is the word. In files with lemmas, it matches these.

    A target such as "plane/NOUN" matches only where the file gives this part of speech; see :func:`split_tag`.
    """

    forms: dict[str, tuple[str, ...]]
    match: str = "word"

    @property
    def words(self) -> list[str]:
        """The target words, in their order."""
        return list(self.forms)

    @cached_property
    def tags(self) -> dict[int, str]:
        """The part of speech of each target that has one, by the number of the target."""
        tags = {number: split_tag(word, self.match)[1] for number, word in enumerate(self.forms)}
        return {number: tag for number, tag in tags.items() if tag is not None}

    @cached_property
    def lemmas(self) -> Targets:
        """The targets to find in the lemmas of a file: the words themselves."""
        return Targets({word: (split_tag(word, self.match)[0],) for word in self.forms})

    @property
    def needs_annotation(self) -> bool:
        """True if the lemmas or the parts of speech of files are needed."""
        return self.match == "lemma" or bool(self.tags)

    @cached_property
    def word_table(self) -> WordTable:
        """The first word of every form, for the scan."""
        numbers = {word: number for number, word in enumerate(self.first_words) if word not in self.unspaced_words}
        return WordTable(numbers, rule(self.match))

    @cached_property
    def unspaced_table(self) -> WordTable:
        """The first words in scripts written without spaces, which are found inside runs of letters."""
        return WordTable(self.unspaced_words, rule(self.match))

    @cached_property
    def unspaced_words(self) -> dict[tuple[int, ...], int]:
        """The first words in scripts written without spaces, with their numbers."""
        numbers = enumerate(self.first_words)
        return {w: i for i, w in numbers if self.match != "token" and script_kinds()[w[0]] == 1}

    @cached_property
    def first_words(self) -> dict[tuple[int, ...], list[Candidate]]:
        """The folded first word of every form, with the targets that it may belong to; its number is its position."""
        candidates: dict[tuple[int, ...], list[Candidate]] = {}
        table = rule(self.match)
        for target, (word, forms) in enumerate(self.forms.items()):
            for form, spelling in [(each, text) for each in forms for text in _spellings(each, table)]:
                folded = fold(spelling, table)
                if not any(folded[:1]):
                    raise UserError(
                        f"the target {word!r} has the form {form!r}, which does not begin with a letter "
                        f"or digit; use --match token for such forms"
                    )
                kinds = [0 if self.match == "token" else int(script_kinds()[code]) for code in folded]
                ends = (i for i, code in enumerate(folded) if not code or kinds[i] not in (kinds[0] & 1, 2))
                length = next(ends, len(folded))  # length of the first word, as the scan finds it
                if length < len(folded) > LONGEST_FORM:
                    raise UserError(
                        f"the target {word[:40]!r} has a form of {len(form):,} characters; a form of several "
                        f"words may have at most {LONGEST_FORM}"
                    )
                candidate = Candidate(target, None if length == len(folded) else spelling)
                entries = candidates.setdefault(folded[:length], [])
                if candidate not in entries:
                    entries.append(candidate)
        return candidates

    def extent(self, form: str, text: str) -> int | None:
        """Return the number of characters with which a text matches the form at its beginning, or None if it does not.

        White space in the form matches any amount of white space, and the last word must end where the form ends. All
        apostrophes are equivalent, and so are all hyphens, except in tokens.
        """
        table, at = rule(self.match), 0
        for character in form:
            if character.isspace():
                rest = text[at:].lstrip()
                if len(rest) == len(text) - at:
                    return None
                at = len(text) - len(rest)
                continue
            if at == len(text) or not (
                character == text[at] or (self.match != "token" and _is_same_letter(character, text[at], table))
            ):
                return None
            at += 1
        if at == len(text) or not table[ord(text[at])]:
            return at
        if self.match == "token":
            return None
        if script_kinds()[ord(form[-1])] == 1:
            continues = unicodedata.category(text[at])[0] == "M"
        else:
            continues = bool(table[ord(form[-1])]) and script_kinds()[ord(text[at])] != 1
        return None if continues else at


_TAG = re.compile(r"[A-Z$][^\s/]*")
_FILES = (".txt", ".tsv", ".csv", ".tab", ".lst", ".list", ".dat", ".words", ".text", ".md")
LONGEST_FORM = 200  # characters; maximum length of a form of several words
_SIGNS = {sign: signs[0] for signs in (APOSTROPHES, HYPHENS) for sign in signs}


def _as_folded(form: str, table: FoldTable) -> str:
    """Return a form with folded letters, so that spellings that match the same text are equal."""
    codes = fold(form, table)
    return "".join(chr(code) if code else _SIGNS.get(c, c) for c, code in zip(form, codes, strict=True))


def _is_same_letter(a: str, b: str, table: FoldTable) -> bool:
    """Return whether two characters are the same letter, whatever its case, or the same sign."""
    return bool(table[ord(a)] and table[ord(a)] == table[ord(b)]) or _SIGNS.get(a, a) == _SIGNS.get(b, b)


def _spellings(form: str, table: FoldTable) -> Iterable[str]:
    """Return the folded spellings of a form in normal form and of equivalent text in another case.

    They differ if Unicode has a single character for one case only: "ẖ" is one character, its capital is a letter and a
    mark.
    """
    if table[ord("A")] == ord("A"):  # case matters
        return [form]
    folded = _as_folded(form, table)
    if folded.isascii():
        return [folded]
    composed = unicodedata.normalize("NFC", folded)
    return dict.fromkeys([folded, composed, "".join(map(_as_capital, composed))])


def _as_capital(character: str) -> str:
    """Return the folded capital of a small letter if it has several characters, else the letter itself."""
    small = character.upper().lower()
    return small if unicodedata.normalize("NFC", small) == character else character


def split_tag(word: str, match: str = "word") -> tuple[str, str | None]:
    """Return a target word without its part of speech, and the part of speech, or None if it has none.

    A part of speech is in capital letters, after a slash. There are none in tokens.

    >>> split_tag("plane/NOUN"), split_tag("and/or"), split_tag("plane/NN", "token")
    (('plane', 'NOUN'), ('and/or', None), ('plane/NN', None))
    """
    name, _, tag = word.rpartition("/")
    if match == "token" or "/" in name or not name.strip() or not _TAG.fullmatch(tag) or tag != tag.upper():
        return word, None
    return name, tag


def read_targets(words: Words, match: str = "word", language: str | None = "en") -> Targets:
    """Read targets from a file, a list, or a mapping of words to their forms.

    Parameters
    ----------
    words : path, str, iterable of str, or mapping
        A file has one word, or ``word<TAB>form1,form2,...``, per line. A string is the path of a file if it contains a
        slash or ends like the name of a text file (``words.txt``); otherwise it is a comma-separated list. The part of
        speech of a word follows a slash, in capital letters: ``plane/NOUN``.
    match : "word", "cased", "token" or "lemma"
    language : str, optional
        ISO code of the language whose dictionary adds the forms of a lemma; None if the corpora have lemmas.

    >>> read_targets(["mouse", "cell phone"]).forms
    {'mouse': ('mouse',), 'cell phone': ('cell phone',)}
    >>> read_targets({"mouse": ["mouse", "mice"]}).forms
    {'mouse': ('mouse', 'mice')}
    """
    checks.choice(match, "match", get_args(Match))
    if isinstance(words, (str, os.PathLike)):
        forms = _from_string(words)
    elif isinstance(words, Mapping):
        forms = {word: [values] if isinstance(values, str) else list(values) for word, values in words.items()}
    else:
        forms = {word: [word] for word in words}
    clean: dict[str, tuple[str, ...]] = {}
    for word, values in forms.items():
        if not isinstance(word, str) or not all(isinstance(form, str) for form in values):
            raise UserError(f"a target and its forms must be words; got {word!r} with {values!r}")
        for text in (word, *values):
            _refuse_unusual(text, "a target word")
        name = normalise(" ".join(word.split()))
        if name:
            spelt = [normalise(" ".join(form.split())) for form in values if form.strip()]
            named = [split_tag(name, match)[0] if form == name else form for form in spelt or [name]]
            clean[name] = tuple(dict.fromkeys([*clean.get(name, ()), *named]))
    if not clean:
        raise UserError("there is no target word; give a file with one word per line, or a list of words")
    if match == "lemma" and language is not None:
        clean = _with_lemma(clean, language)
    targets = Targets(clean, match)
    targets.first_words  # noqa: B018  forms that cannot be found are refused here
    return targets


def _from_string(words: str | os.PathLike[str]) -> dict[str, list[str]]:
    """Read a file of target words, or a comma-separated list."""
    text = os.fspath(words)
    if isinstance(words, str) and (not _looks_like_a_path(text) or _has_tags(text)):
        if _is_true(Path(text).is_file):
            raise UserError(
                f"{text!r} may be a word, but there is a file of this name in {os.getcwd()}: write "
                f"{os.path.join('.', text)!r} for the file, or {text + ','!r} for the word"
            )
        return {word: [word] for word in text.split(",")}
    path = Path(text)
    if not _is_true(path.exists) or _is_true(path.is_dir):
        advice = "" if "." in text else "; a part of speech is in capital letters, as in plane/NOUN"
        raise UserError(f"no such file of target words: {text!r} (looked from {os.getcwd()}){advice}")
    if not _is_true(path.is_file):
        raise UserError(f"the list of target words {str(path)!r} is a pipe or a device, not a file; write it to a file")
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        bad = error.object.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"the file of target words {str(path)!r} is not UTF-8 at line {bad}; save it as UTF-8"
        ) from None
    except OSError as error:
        raise UserError(f"the file of target words {str(path)!r} cannot be read: {error.strerror}") from None
    if any("\0" in line for line in lines[:10]):
        raise UserError(
            f"the file of target words {str(path)!r} is binary data; give a text file with one word per line"
        )
    forms: dict[str, list[str]] = {}
    for number, line in enumerate(lines, 1):
        word, _, listed = line.partition("\t")
        _refuse_unusual(line, f"line {number} of the file of target words {str(path)!r}")
        forms.setdefault(word, []).extend(listed.split(",") if listed.strip() else [word])
    if not any(word.strip() for word in forms):
        raise UserError(f"the file of target words {str(path)!r} is empty; it must have one word per line")
    return forms


def _looks_like_a_path(text: str) -> bool:
    """Return whether a string is a path: it contains a slash or ends like the name of a text file."""
    separators = {"/", os.sep, os.altsep or "/"}
    return any(s in text for s in separators) or text in (".", "..") or text.lower().endswith(_FILES)


def _has_tags(text: str) -> bool:
    """Return whether a string with slashes is a list of words in which every slash is followed by a part of speech."""
    if text.lower().endswith(_FILES) or text.startswith((".", os.sep)):
        return False
    return all("/" not in word or split_tag(word.strip())[1] is not None for word in text.split(","))


def _is_true(test: Callable[[], bool]) -> bool:
    """Call a test of a path; return False for text that cannot be a path, such as a long list of words."""
    try:
        return test()
    except (OSError, ValueError):
        return False


def _refuse_unusual(text: str, where: str) -> None:
    """Refuse text that is not Unicode, and control characters other than white space."""
    if text.isprintable():
        return
    for character in text:
        kind = unicodedata.category(character)
        if kind == "Cs":
            raise UserError(f"{where} is not valid UTF-8: {text!r}; write the words in UTF-8")
        if kind == "Cc" and not character.isspace():
            raise UserError(f"{where} has the control character U+{ord(character):04X}: {text!r}; remove it")


def lemma_dictionary(language: str) -> Mapping[str, str]:
    """Return the lemma of every form in simplemma's dictionary of the language."""
    try:
        from simplemma.strategies import DefaultDictionaryFactory
    except ImportError:
        raise UserError("matching by lemma needs simplemma: pip install 'lexshift[lemma]'") from None
    try:
        return DefaultDictionaryFactory().get_dictionary(language)
    except ValueError:
        raise UserError(
            f"simplemma has no lemmas for the language {language!r}; match by word and list the forms"
        ) from None


@lru_cache(1)  # several parts of a run need it, and making it takes seconds for some languages
def folded_lemmas(language: str) -> dict[str, str]:
    """Return the lemma of every form, both folded as in counting.

    If a form has two lemmas after folding, the lemma that equals the form is used: German "haus" is a form of
    "hausen", but "Haus" is its own lemma.
    """
    table, lemmas = word_table(), dict[str, str]()
    for form, lemma in lemma_dictionary(language).items():
        a, b = (unicodedata.normalize("NFC", _as_folded(text, table)) for text in (form, lemma))
        if a not in lemmas or a == b:
            lemmas[a] = b
    return lemmas


def _with_lemma(forms: dict[str, tuple[str, ...]], language: str) -> dict[str, tuple[str, ...]]:
    """Add to each target all forms of which it is the lemma, by the dictionary of the language."""
    extended = {word: list(values) for word, values in forms.items()}
    lowered: dict[str, list[str]] = {}
    for word in forms:
        lowered.setdefault(split_tag(word)[0].lower(), []).append(word)
    for form, lemma in lemma_dictionary(language).items():
        words = lowered.get(lemma.lower())
        if words and fold(form[:1], word_table())[0]:  # excludes clitics such as 'm
            for word in words:
                extended[word].append(form)
    return {word: tuple(dict.fromkeys(values)) for word, values in extended.items()}
