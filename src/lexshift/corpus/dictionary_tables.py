"""Read dictionaries from tables (csv, tsv, jsonl) and from sentences whose words are labelled with senses (jsonl)."""

from __future__ import annotations

import csv
import io
import json
import re
import reprlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from lexshift.corpus.decoding import LONGEST, open_source, utf8_lines
from lexshift.corpus.dictionaries import LONGEST_SENTENCE, DictionaryBuilder, SenseUsage
from lexshift.corpus.normal_form import normalise
from lexshift.corpus.sources import Reading, Source
from lexshift.corpus.tables import is_span
from lexshift.errors import UserError, join_names

_NAMES = {
    "lemma": ("lemma", "word"),
    "pos": ("pos",),
    "sense": ("sense", "sense_id"),
    "gloss": ("gloss",),
    "example": ("example",),
    "start": ("start",),
    "end": ("end",),
    "ranges": ("indices_target_token",),
    "form": ("orth",),
    "language": ("language",),
}
"""The columns of a table: the project's own names, then those of AXOLOTL-24."""
_EXPECTED = "a table has the columns lemma and sense, and at least one of gloss and example"
_LABEL = "[start, end, lemma, pos, sense]"
_WHOLE = re.compile(r"([0-9]{1,9})(?:\.0+)?")  # 2.0 is how pandas writes a 2 in a column with gaps
_RANGE = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}([-_]\w+)*")
_LONGEST_NAME = 1_000  # characters of a lemma and the like
_MOST_STEPS = 32  # characters by which the end of a span may be moved to the end of a composed character


class _Row(NamedTuple):
    """A row of a table, or a sentence with its labels, and where it is."""

    where: str
    values: Mapping[str, Any]


def read_table_file(source: Source, reading: Reading, builder: DictionaryBuilder) -> None:
    """Read a table, or labelled sentences if the first record has the fields sentence and words."""
    with open_source(source, builder.tally) as stream:
        blocks = utf8_lines(stream, source, reading, builder.tally)
        rows = {"jsonl": _json_rows, "tsv": _tab_rows, "csv": _comma_rows}[source.kind](blocks, source.path)
        builder.read(rows, _RecordAdder(builder))


class _RecordAdder:
    """Add records to a dictionary; the first one that is not damaged shows which kind of file it is."""

    def __init__(self, builder: DictionaryBuilder) -> None:
        self._builder = builder
        self._columns = _Columns()
        self._has_labels: bool | None = None

    def __call__(self, row: _Row) -> None:
        """Add a row of a table, or a sentence with its labels."""
        if self._has_labels is None:
            self._has_labels = {"sentence", "words"} <= set(row.values)
        if self._has_labels:
            _add_sentence(row, self._builder)
        else:
            _add_row(row, self._columns, self._builder)


# ------------------------------------------------------------------------------------------------- rows of a file


def _json_rows(blocks: Iterable[bytes], path: str) -> Iterator[_Row | UserError]:
    """Yield the JSON objects of a file, and an error for each line that has none."""
    number = 0
    for block in blocks:
        for line in block.removesuffix(b"\n").split(b"\n"):
            number += 1
            if not line.strip():
                continue
            where = f"{path!r}, line {number}"
            try:
                record = json.loads(line)
            except (ValueError, RecursionError) as error:
                yield UserError(f"{where}: not JSON ({error}); each line must be a JSON object")
                continue
            if isinstance(record, dict):
                yield _Row(where, record)
            else:
                yield UserError(f'{where}: {_quote(record)} must be a JSON object such as {{"lemma": "bank", ...}}')


def _tab_rows(blocks: Iterable[bytes], path: str) -> Iterator[_Row | UserError]:
    """Yield the rows of a table whose fields are between tabs."""
    lines = (line for block in blocks for line in block.decode().removesuffix("\n").split("\n"))
    return _named_rows(((n, [unquote(field) for field in line.split("\t")]) for n, line in enumerate(lines, 1)), path)


def unquote(field: str) -> str:
    """Return a field of a tsv file without the marks by which pandas and spreadsheets quote it.

    They quote fields with quotation marks and double those, so that offsets count from the text within. All other
    quotation marks are part of the text.
    """
    inner = field[1:-1]
    if field[:1] == field[-1:] == '"' and '"' in inner and '"' not in inner.replace('""', ""):
        return inner.replace('""', '"')
    return field


def _comma_rows(blocks: Iterable[bytes], path: str) -> Iterator[_Row | UserError]:
    csv.field_size_limit(LONGEST)  # a quotation mark that is never closed makes the rest of the file a field
    lines = (line for block in blocks for line in io.StringIO(block.decode(), newline=""))
    reader = csv.reader(lines, strict=True)

    def number_rows() -> Iterator[tuple[int, list[str] | csv.Error]]:
        while True:
            try:
                fields: list[str] | csv.Error = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                fields = error
            yield reader.line_num, fields

    return _named_rows(number_rows(), path)


def _named_rows(rows: Iterator[tuple[int, list[str] | csv.Error]], path: str) -> Iterator[_Row | UserError]:
    """Yield the rows after the header with the names of the columns; empty rows are left out."""
    header: list[str] | None = None
    for number, fields in rows:
        where = f"{path!r}, line {number}"
        if isinstance(fields, csv.Error):
            damage = UserError(f"{where}: not valid csv ({fields}); quote fields as in RFC 4180")
            if header is None:
                raise damage
            yield damage
        elif not any(field.strip() for field in fields):
            continue
        elif header is None:
            header = [name.strip() for name in fields]
            _refuse_double(header, where)
        elif len(fields) != len(header):
            yield UserError(f"{where}: {len(fields)} fields instead of {len(header)}, one for each column")
        else:
            yield _Row(where, dict(zip(header, fields, strict=True)))


def _refuse_double(header: list[str], where: str) -> None:
    for name in header:
        if name and header.count(name) > 1:
            raise UserError(f"{where}: {header.count(name)} columns {name!r}; give each a name of its own")


# ------------------------------------------------------------------------------------------------- rows of a table


class _Columns:
    """A cache of the names that the columns of a file have, with an entry for each set of names."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], dict[str, str]] = {}

    def __call__(self, row: _Row) -> dict[str, str]:
        """Return the names of the columns in a row, by the names that lexshift gives to these columns."""
        key = tuple(row.values)
        if key not in self._known:
            columns: dict[str, str] = {}
            for column, names in _NAMES.items():
                candidates = [name for name in names if name in row.values]
                if len(candidates) > 1:
                    raise UserError(
                        f"{row.where}: the columns {join_names(candidates)} are the same; leave one of them out"
                    )
                if candidates:
                    columns[column] = candidates[0]
            missing = next((name for name in ("lemma", "sense") if name not in columns), None)
            if missing is None and not ("gloss" in columns or "example" in columns):
                missing = "example"
            if missing is not None:
                raise UserError(f"{row.where}: no column {missing!r}; {_EXPECTED}; it has {join_names(key)}")
            if ("start" in columns) != ("end" in columns):
                raise UserError(f"{row.where}: start and end must both be there, or neither; it has {join_names(key)}")
            if len(self._known) > _LONGEST_NAME:  # each record of a jsonl file may have fields of its own
                self._known.clear()
            self._known[key] = columns
        return self._known[key]


def _add_row(row: _Row, columns: _Columns, builder: DictionaryBuilder) -> None:
    """Add a sense, and a usage of it if the row has an example."""
    names = columns(row)
    values = {column: row.values[name] for column, name in names.items()}
    lemma = _name(values, "lemma", row.where)
    if not lemma:
        raise UserError(f"{row.where}: the {names['lemma']} is empty; it must be the word that the row is about")
    pos, sense = _name(values, "pos", row.where), _name(values, "sense", row.where)
    gloss = normalise(_text(values.get("gloss"), "gloss", row.where).strip())
    language = _name(values, "language", row.where)
    if language and not _LANGUAGE.fullmatch(language):
        raise UserError(f"{row.where}: language is {_quote(language)}; it must be an ISO code such as de")
    example = _text(values.get("example"), "example", row.where)
    form = normalise(" ".join(_text(values.get("form"), "orth", row.where).split()))
    span = _read_span(values, row.where)
    usage = None if span is None or not example.strip() else _usage(example, normalise(example), *span, row.where)
    if not (sense or gloss):
        return builder.skip("rows without a sense")
    if not (gloss or example.strip()):
        return builder.skip("rows without a gloss or an example")
    entry = builder.entry(lemma, pos, language or None)
    known_sense = builder.sense(entry, sense or gloss, gloss or None)
    if gloss and gloss != known_sense.gloss:
        builder.skip("rows with another gloss of a sense, of which the first was used")
    if usage is not None:
        known_sense.usages.append(usage)
    elif example.strip():
        sentence = normalise(" ".join(example.split()))
        builder.add_example(sentence, [(entry, known_sense, (form,) if form else ())])
    return None


def _read_span(values: Mapping[str, Any], where: str) -> tuple[int, int] | None:
    """Return where the word is in its example, or None if the row does not say so.

    A word that is divided has several ranges, 12:17;35:44; the first is used.
    """
    ranges = _text(values.get("ranges"), "indices_target_token", where).strip()
    if ranges:
        parts = [_RANGE.fullmatch(part.strip()) for part in ranges.split(";")]
        if parts[0] is None or None in parts:
            raise UserError(
                f"{where}: indices_target_token is {_quote(ranges)}; it must be ranges of characters such as 12:17"
            )
        return int(parts[0][1]), int(parts[0][2])
    start, end = (_whole_number(values.get(name), name, where) for name in ("start", "end"))
    if start is None and end is None:
        return None
    if start is None or end is None:
        raise UserError(f"{where}: {'start' if start is None else 'end'} is empty; give both start and end, or neither")
    return start, end


def _whole_number(value: Any, name: str, where: str) -> int | None:
    """Return a whole number, which may be given as text; None if it is empty."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    digits = None if isinstance(value, bool) else _WHOLE.fullmatch(str(value).strip())
    if digits is None:
        raise UserError(f"{where}: {name} is {_quote(value)}; it must be a whole number, 0 or more")
    return int(digits[1])


# ------------------------------------------------------------------------------------------------- labelled sentences


def _add_sentence(row: _Row, builder: DictionaryBuilder) -> None:
    """Add the usages of a sentence whose words are labelled."""
    if not {"sentence", "words"} <= set(row.values):
        raise UserError(f"{row.where}: no 'sentence' or no 'words'; each line must have both, as the first one has")
    sentence, labels = _text(row.values["sentence"], "sentence", row.where), row.values["words"]
    if not isinstance(labels, list):
        raise UserError(f"{row.where}: words is {_quote(labels)}; it must be a list of {_LABEL}")
    normal = normalise(sentence)
    labelled = []
    for number, label in enumerate(labels, 1):
        where = f"{row.where}, word {number}"
        if not isinstance(label, list) or len(label) != 5:
            raise UserError(f"{where}: {_quote(label)} must be a list {_LABEL}")
        start, end, *names = label
        if type(start) is not int or type(end) is not int:
            raise UserError(f"{where}: start {_quote(start)} and end {_quote(end)} must be whole numbers")
        values = dict(zip(("lemma", "pos", "sense"), names, strict=True))
        lemma, pos, sense = (_name(values, name, where) for name in values)
        if not (lemma and sense):
            raise UserError(f"{where}: lemma {_quote(lemma)} and sense {_quote(sense)} must not be empty")
        labelled.append((lemma, pos, sense, _usage(sentence, normal, start, end, where)))
    if not labelled:
        builder.skip("sentences without labelled words")
    for lemma, pos, sense, usage in labelled:
        builder.sense(builder.entry(lemma, pos), sense).usages.append(usage)


# ------------------------------------------------------------------------------------------------- values


def _usage(sentence: str, normal: str, start: int, end: int, where: str) -> SenseUsage:
    """Return the usage of a span of a sentence, both brought into normal form; ``normal`` is that of the sentence."""
    if not is_span(start, end, sentence):
        raise UserError(
            f"{where}: start {_quote(start)} and end {_quote(end)} must mark the word within its sentence, which has "
            f"{len(sentence):,} characters"
        )
    if normal != sentence:
        first = _normal_offset(sentence, start, -1, normal)
        last = _normal_offset(sentence, end, 1, normal)
        if first is None or last is None or not is_span(first, last, normal):
            raise UserError(
                f"{where}: start {start} and end {end} are inside a character or mark no letter of their sentence"
            )
        start, end = first, last
    return SenseUsage(normal, start, end)


def _normal_offset(text: str, offset: int, step: int, normal: str) -> int | None:
    """Return where an offset is in the normal form of a text; None if no character ends near it.

    An offset between a letter and its mark is moved by ``step`` until it is between two characters.
    """
    for _ in range(_MOST_STEPS):
        before = normalise(text[:offset])
        if before + normalise(text[offset:]) == normal:
            return len(before)
        offset += step
        if not 0 <= offset <= len(text):
            break
    return None


def _name(values: Mapping[str, Any], column: str, where: str) -> str:
    """Return a lemma, a part of speech or an identifier, which may be a whole number, in normal form."""
    value = values.get(column)
    if type(value) is int:
        value = str(value) if abs(value) < 1 << 64 else value
    name = " ".join(_text(value, column, where).split())
    if len(name) > _LONGEST_NAME:
        raise UserError(f"{where}: {column} has {len(name):,} characters; it must have at most {_LONGEST_NAME:,}")
    return normalise(name)


def _text(value: Any, name: str, where: str) -> str:
    """Return a field as text, empty if it is missing."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise UserError(f"{where}: {name} is {_quote(value)}; it must be text")
    if len(value) > LONGEST_SENTENCE:
        raise UserError(f"{where}: {name} has {len(value):,} characters; it must have at most {LONGEST_SENTENCE:,}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:  # JSON can name half of a character
            raise UserError(f"{where}: {name} is {_quote(value)}, which is not valid Unicode text") from None
    return value


def _quote(value: Any) -> str:
    """Return a value for a message, on one line and not too long."""
    return reprlib.repr(value)
