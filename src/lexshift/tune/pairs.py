"""Pairs of usages of a word, each judged to have the same meaning or not, as Word-in-Context data sets hold them.

Three formats are read: WiC's own (tokens are counted), that of MCL-WiC and XL-LEXEME (JSON, characters are counted),
and a plain table of your own.
"""

from __future__ import annotations

import json
import math
import os
import re
import reprlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from lexshift.corpus.sampling import place_key
from lexshift.corpus.tables import is_span, is_table, read_lines, read_table
from lexshift.errors import UserError
from lexshift.utils import checks

COLUMNS = ("word", "sentence1", "start1", "end1", "sentence2", "start2", "end2", "same")
_ENTRY = ("id", "lemma", *COLUMNS[1:-1])  # of the JSON that holds the usages
_TAG = ("id", "tag")  # of the JSON that holds the gold
_LINE = ("word", "part of speech", "i-j", "sentence 1", "sentence 2")  # of WiC's own format

_DATA = re.compile(r"(?P<name>.+)\.data(?P<ending>|\.txt|\.json)")
_INDICES = re.compile(r"([0-9]{1,9})-([0-9]{1,9})")
_WHOLE = re.compile(r"([0-9]{1,9})(?:\.0+)?")  # 2.0 is how pandas writes a 2 in a column with gaps
_LIST = re.compile(r"\s*\[\s*[{\]]")  # how a JSON list of objects begins, and no line of WiC's own format does
_GOLD = {"T": True, "F": False}
_SAME = {"1": True, "t": True, "true": True, "yes": True, "0": False, "f": False, "false": False, "no": False}


class Usage(NamedTuple):
    """A sentence, and the character offsets of the word in it: ``sentence[start:end]``.

    Examples
    --------
    >>> usage = Usage("Sound carries well .", 6, 13)
    >>> usage.sentence[usage.start : usage.end]
    'carries'
    """

    sentence: str
    start: int
    end: int


@dataclass(frozen=True)
class Pair:
    """Two usages of a word, and whether they have the same meaning.

    Attributes
    ----------
    word : str
        As the data set gives it, usually the lemma.
    first, second : Usage
    same : bool

    Examples
    --------
    >>> pair = Pair("carry", Usage("Carry the gear .", 0, 5), Usage("Sound carries well .", 6, 13), same=False)
    >>> pair.first.sentence
    'Carry the gear .'
    """

    word: str
    first: Usage
    second: Usage
    same: bool


def read_pairs(*paths: str | os.PathLike[str]) -> list[Pair]:
    r"""Read pairs of usages, of one or several data sets, in the order given.

    Parameters
    ----------
    *paths : str or path
        Each one of

        - a file ``*.data.txt`` of WiC, beside its ``*.gold.txt``;
        - a file ``*.data`` (or ``*.data.json``) of MCL-WiC or XL-LEXEME, beside its ``*.gold`` (``*.gold.json``);
        - a folder with such files, all of which are read, by name;
        - a table, csv with quoting or tsv without, with the columns word, sentence1, start1, end1, sentence2, start2,
          end2 and same; same is 1 or 0, true or false, T or F, yes or no.

    Returns
    -------
    list of Pair

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, line in (("data", "carry\tV\t0-1\tCarry the gear .\tSound carries well ."), ("gold", "F")):
    ...         _ = Path(folder, f"mine.{name}.txt").write_text(line)
    ...     pairs = read_pairs(folder)
    >>> pairs[0].word, pairs[0].second, pairs[0].same
    ('carry', Usage(sentence='Sound carries well .', start=6, end=13), False)
    """
    if not paths:
        raise UserError("no pairs to read; give at least one file or folder")
    return [pair for path in paths for file in _files(Path(path)) for pair in _read(file)]


def hold_out(pairs: Sequence[Pair], share: float, seed: int) -> tuple[list[Pair], list[Pair]]:
    """Split pairs by their words, so that no word, ignoring case, is on both sides.

    Which words are held out depends on the seed and the pairs, but not on the order of the pairs.

    Parameters
    ----------
    pairs : sequence of Pair
    share : float
        From 0 to 1: words are held out until they have at least this share of the pairs; 0 holds out nothing.
    seed : int
        Another seed holds out other words.

    Returns
    -------
    training, held_out : list of Pair
        Each in the order given.

    Examples
    --------
    >>> usage = Usage("a b c d", 0, 1)
    >>> pairs = [Pair(word, usage, usage, same=True) for word in ("bank", "cell", "Bank", "tip")]
    >>> training, held_out = hold_out(pairs, share=0.25, seed=0)
    >>> [pair.word for pair in training], [pair.word for pair in held_out]
    (['bank', 'cell', 'Bank'], ['tip'])
    """
    exact, seed = checks.fraction(share, "share"), checks.seed(seed)
    if not share:
        return list(pairs), []
    counts = Counter(pair.word.casefold() for pair in pairs)
    minimum = max(1, math.ceil(exact * len(pairs)))
    held_words: set[str] = set()
    size = 0
    for word in sorted(counts, key=lambda word: (place_key(seed, "", word), word)):
        if size >= minimum:
            break
        held_words.add(word)
        size += counts[word]
    if len(held_words) == len(counts):
        raise UserError(
            f"share {share} of {_count(len(pairs), 'pair')} of {_count(len(counts), 'word')} cannot be held out, as "
            f"no word would be left; give a smaller share, or pairs of more words"
        )
    training = [pair for pair in pairs if pair.word.casefold() not in held_words]
    return training, [pair for pair in pairs if pair.word.casefold() in held_words]


# ------------------------------------------------------------------------------------------------- which files


def _files(path: Path) -> list[Path]:
    """Return the files with usages in a folder, or the file itself."""
    if not os.path.exists(path):  # unlike Path.exists, it accepts every string
        raise UserError(f"no such file or folder: {str(path)!r} (looked from {os.getcwd()})")
    if not path.is_dir():
        return [path]
    try:
        files = sorted(file for file in path.iterdir() if _is_data(file))
    except OSError as error:
        raise UserError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    if not files:
        inner = sorted({file.parent.name for file in path.glob("*/*") if _is_data(file)})
        hint = (
            f"give the folders in it that do ({', '.join(inner)})" if inner else "give a folder that does, or a table"
        )
        raise UserError(f"{str(path)!r} holds no pairs, that is, no file *.data.txt or *.data; {hint}")
    return files


def _is_data(path: Path) -> bool:
    """Return whether a file holds usages, by its name; macOS leaves binary files such as ._train.data.txt."""
    return bool(_DATA.fullmatch(path.name)) and not path.name.startswith(".") and os.path.isfile(path)


def _read(path: Path) -> list[Pair]:
    """Read the pairs of a file; raise if it has none."""
    if is_table(path):
        pairs = _from_table(path)
    else:
        named = _DATA.fullmatch(path.name)
        if named is None:
            raise UserError(
                f"{str(path)!r} must be a file *.data.txt or *.data beside its gold, a folder with such files, "
                f"or a table *.csv or *.tsv"
            )
        gold = path.with_name(f"{named['name']}.gold{named['ending']}")
        if not gold.is_file():
            raise UserError(
                f"{str(path)!r} has no gold: {str(gold)!r} is missing, which must have T or F for each pair"
            )
        lines, answers = _strip_empty_end(read_lines(path)), _strip_empty_end(read_lines(gold))
        is_json = _LIST.match("\n".join(lines))
        pairs = (_from_json if is_json else _from_lines)(path, lines, gold, answers)
    if not pairs:
        raise UserError(f"{str(path)!r} is empty; it must hold at least one pair")
    return pairs


def _strip_empty_end(lines: list[str]) -> list[str]:
    """Return lines without the empty ones at the end."""
    size = max((number for number, line in enumerate(lines, 1) if line.strip()), default=0)
    return lines[:size]


# ------------------------------------------------------------------------------------------------- the formats


def _from_lines(path: Path, lines: list[str], gold: Path, answers: list[str]) -> list[Pair]:
    """Read WiC's own format."""
    if len(lines) != len(answers):
        raise UserError(
            f"{str(path)!r} has {_count(len(lines), 'line')} and {str(gold)!r} {len(answers)}; "
            f"each pair must have a line in both"
        )
    pairs = []
    for number, (line, answer) in enumerate(zip(lines, answers, strict=True), 1):
        where = _line(path, number)
        values = line.split("\t")
        if len(values) != len(_LINE):
            raise UserError(f"{where}: {len(values)} fields instead of {len(_LINE)}, {', '.join(_LINE)}, between tabs")
        word, _, indices, *sentences = values
        places = _INDICES.fullmatch(indices.strip())
        if places is None:
            raise UserError(
                f"{where}: {_quote(indices)} must be two whole numbers such as 2-1, the token numbers of the word"
            )
        first, second = (
            _token(sentence, int(place), f"{where}, sentence {which}")
            for which, sentence, place in zip((1, 2), sentences, places.groups(), strict=True)
        )
        pairs.append(Pair(_word(word, "word", where), first, second, _read_judgement(answer, _line(gold, number))))
    return pairs


def _token(sentence: str, index: int, where: str) -> Usage:
    """Return the usage of the token with an index, from 0."""
    tokens = list(re.finditer(r"\S+", sentence))
    if index >= len(tokens):
        has = f"has {_count(len(tokens), 'token')}, numbered from 0" if tokens else "is empty"
        raise UserError(f"{where}: there is no token {index}, as the sentence {has}")
    return Usage(sentence, *tokens[index].span())


def _from_json(path: Path, lines: list[str], gold: Path, answers: list[str]) -> list[Pair]:
    """Read the format of MCL-WiC and XL-LEXEME."""
    entries, tags = _by_id(path, lines, _ENTRY), _by_id(gold, answers, _TAG)
    for one, there, other in ((path, entries, tags), (gold, tags, entries)):
        lone = next((name for name in there if name not in other), None)
        if lone is not None:
            without = gold if one is path else path
            raise UserError(
                f"{there[lone][0]}: the id {_quote(lone)} is not in {str(without)!r}; each pair must be in both"
            )
    pairs = []
    for name, (where, entry) in entries.items():
        place, tag = tags[name]
        word = _word(entry["lemma"], "lemma", where)
        pairs.append(Pair(word, _usage(entry, 1, where), _usage(entry, 2, where), _read_judgement(tag["tag"], place)))
    return pairs


def _by_id(path: Path, lines: list[str], fields: tuple[str, ...]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return the objects of a JSON list by their id, and where they are; each has the fields."""
    try:
        values = json.loads("\n".join(lines))
    except json.JSONDecodeError as error:
        raise UserError(f"{_line(path, error.lineno)}: not JSON ({error.msg}, column {error.colno})") from None
    except (ValueError, RecursionError):  # a number with thousands of digits, or deeply nested lists
        raise UserError(f"{str(path)!r} is not JSON that can be read") from None
    if not isinstance(values, list):
        raise UserError(f"{_line(path, 1)}: must be a JSON list of objects with {', '.join(fields)}")
    entries: dict[str, tuple[str, dict[str, Any]]] = {}
    for number, value in enumerate(values, 1):
        where = f"{str(path)!r}, entry {number}"  # an entry number, because JSON may have any line breaks
        if not isinstance(value, dict):
            raise UserError(f"{where}: must be an object with {', '.join(fields)}")
        missing = [name for name in fields if name not in value]
        if missing:
            raise UserError(f"{where}: no {missing[0]!r}; it must have {', '.join(fields)}")
        name = value["id"]
        if not isinstance(name, (str, int)):
            raise UserError(f"{where}: the id {_quote(name)} must be text or a whole number")
        if str(name) in entries:
            raise UserError(f"{where}: the id {_quote(name)} occurs twice; each pair must have its own")
        entries[str(name)] = where, value
    return entries


def _from_table(path: Path) -> list[Pair]:
    pairs = []
    for number, row in read_table(path, COLUMNS, "\t" if path.suffix.lower() == ".tsv" else ","):
        where = _line(path, number)
        same = _SAME.get(row["same"].strip().casefold())
        if same is None:
            raise UserError(
                f"{where}: same is {_quote(row['same'])}; it must be 1 or 0, true or false, T or F, yes or no"
            )
        pairs.append(Pair(_word(row["word"], "word", where), _usage(row, 1, where), _usage(row, 2, where), same))
    return pairs


# ------------------------------------------------------------------------------------------------- their values


def _usage(row: Mapping[str, Any], which: int, where: str) -> Usage:
    """Return the first or second usage of a row, by characters."""
    sentence = _text(row[f"sentence{which}"], f"sentence{which}", where)
    start, end = (_whole_number(row[name], name, where) for name in (f"start{which}", f"end{which}"))
    if not is_span(start, end, sentence):
        raise UserError(
            f"{where}: start{which} {start} and end{which} {end} must mark the word within sentence{which}, "
            f"which has {_count(len(sentence), 'character')}"
        )
    return Usage(sentence, start, end)


def _whole_number(value: Any, name: str, where: str) -> int:
    """Return a whole number, which JSON may hold as text."""
    digits = _WHOLE.fullmatch(str(value).strip())
    if digits is None:
        raise UserError(f"{where}: {name} is {_quote(value)}; it must be a whole number, 0 or more")
    return int(digits[1])


def _word(value: Any, name: str, where: str) -> str:
    word = _text(value, name, where)
    if not word.strip():
        raise UserError(f"{where}: {name} is empty; it must be the word of the pair")
    return word


def _text(value: Any, name: str, where: str) -> str:
    if not isinstance(value, str):
        raise UserError(f"{where}: {name} is {_quote(value)}; it must be text")
    try:
        value.encode()
    except UnicodeEncodeError:  # JSON can name half of a character
        raise UserError(f"{where}: {name} is {_quote(value)}, which is not valid Unicode text") from None
    return value


def _read_judgement(value: Any, where: str) -> bool:
    """Return whether WiC's gold is T or F."""
    same = _GOLD.get(value.strip()) if isinstance(value, str) else None
    if same is None:
        raise UserError(f"{where}: {_quote(value)} must be T, the same meaning, or F")
    return same


def _line(path: Path, number: int) -> str:
    return f"{str(path)!r}, line {number}"


def _quote(value: Any) -> str:
    """Return a value for a message, on one line and not too long."""
    return reprlib.repr(value)


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
