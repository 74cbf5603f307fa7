"""Read wordnets: folders in Princeton's format, and through the library wn any wordnet in the format WN-LMF.

A synset is a sense of each of its words. Its examples are usages of those words that occur in them.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from lexshift.corpus.decoding import BLOCK, open_source, utf8_lines
from lexshift.corpus.dictionaries import LONGEST_SENTENCE, DictionaryBuilder, Entry, Sense
from lexshift.corpus.normal_form import normalise
from lexshift.corpus.sources import Reading, Source
from lexshift.errors import UserError

INSTALLED = "wn:"
"""What the name of a lexicon that is installed with the library wn begins with."""
PARTS = ("noun", "verb", "adj", "adv")
"""The parts of speech of WordNet, as its files are named."""
EXTERNAL = "elements of another lexicon"

_EXAMPLE = re.compile(r'"([^"]*)(?:"|$)')
_FIRST_EXAMPLE = re.compile(r';\s*"')
_OTHER_EXAMPLE = re.compile(r'[:,]?\s*"(?=[^"]+")')  # some definitions end with another sign, or none
_MARKER = re.compile(r"\((?:a|p|ip)\)$")  # where an adjective may stand: galore(ip)
_COUNT = re.compile(r"[1-9][0-9]{0,3}")
_KINDS = ("n", "v", "a", "s", "r")
_HEADER = "  "  # what the lines of the licence begin with
_MAX_WORDS = 1_000  # of a synset
_EXPECTED = "it must be a synset as in WordNet's data files, such as '00001740 03 n 01 entity 0 000 | a gloss'"


class _Synset(NamedTuple):
    """A synset of WordNet: where it is in its file, its words, its definition and examples."""

    name: str
    words: list[str]
    gloss: str | None
    examples: list[str]


def is_wordnet_folder(path: str) -> bool:
    """Tell whether a folder holds a data file in Princeton's format."""
    return any(os.path.isfile(os.path.join(path, f"data.{part}")) for part in PARTS)


def read_wordnet_folder(folder: str, reading: Reading, builder: DictionaryBuilder) -> None:
    """Read the synsets of a folder with data.noun and so on; index.* and *.exc are used if they are there."""
    for part in PARTS:
        if not os.path.isfile(os.path.join(folder, f"data.{part}")):
            continue
        irregular: dict[str, tuple[str, ...]] = {}
        for _, line in _lines(folder, f"{part}.exc", reading, builder):
            form, *lemmas = (word.replace("_", " ") for word in normalise(line).split())
            for lemma in lemmas:
                irregular[lemma] = (*irregular.get(lemma, ()), form)
        entries: dict[int, Entry] = {}
        builder.read(
            _synsets(os.path.join(folder, f"data.{part}"), _lines(folder, f"data.{part}", reading, builder)),
            partial(_add_synset, builder=builder, pos=part, irregular=irregular, entries=entries),
        )
        _order_senses(entries.values(), _lines(folder, f"index.{part}", reading, builder))


def _lines(folder: str, name: str, reading: Reading, builder: DictionaryBuilder) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that are not part of the licence, with their numbers; none if there is no file."""
    path = os.path.join(folder, name)
    if not os.path.isfile(path):
        return
    source, number = Source(path, name, "tsv"), 0
    with open_source(source, builder.tally) as stream:
        for block in utf8_lines(stream, source, reading, builder.tally):
            for line in block.decode().removesuffix("\n").split("\n"):
                number += 1
                if line.strip() and not line.startswith(_HEADER):
                    yield number, line


def _synsets(path: str, lines: Iterator[tuple[int, str]]) -> Iterator[_Synset | UserError]:
    for number, line in lines:
        try:
            yield _parse_synset(normalise(line))
        except ValueError:
            yield UserError(f"{path!r}, line {number}: not a synset; {_EXPECTED}")


def _parse_synset(line: str) -> _Synset:
    """Return the synset of a line of a data file; raise ValueError if it is none."""
    head, bar, text = line.partition(" | ")
    offset, _, kind, n, rest = head.split(" ", 4)
    count = int(n, 16)
    if not (bar and offset.isdecimal() and kind in _KINDS and 0 < count <= _MAX_WORDS):
        raise ValueError
    fields = rest.split(" ", 2 * count)
    words = [_MARKER.sub("", word).replace("_", " ").strip() for word in fields[0 : 2 * count : 2]]
    if len(fields) <= 2 * count or not all(words) or len(text) > LONGEST_SENTENCE:
        raise ValueError
    begin = _FIRST_EXAMPLE.search(text) or _OTHER_EXAMPLE.search(text)
    gloss = text if begin is None else text[: begin.start()]
    examples = [] if begin is None else _EXAMPLE.findall(text, begin.start())
    return _Synset(f"{offset}-{kind}", words, gloss.strip().rstrip(";").rstrip() or None, examples)


def _add_synset(
    synset: _Synset,
    builder: DictionaryBuilder,
    pos: str,
    irregular: dict[str, tuple[str, ...]],
    entries: dict[int, Entry],
) -> None:
    senses = []
    for word in dict.fromkeys(synset.words):
        entry = builder.entry(word, pos)
        senses.append((entry, builder.sense(entry, synset.name, synset.gloss), irregular.get(word.lower(), ())))
        entries[id(entry)] = entry
    for example in synset.examples:
        sentence = " ".join(example.split())
        if sentence:
            builder.add_example(sentence, senses)
        else:
            builder.skip("empty examples")


def _order_senses(entries: Iterable[Entry], index: Iterator[tuple[int, str]]) -> None:
    """Put the senses of each entry in the order of the index, that of their frequency; those not in it come last."""
    ranks: dict[str, dict[str, int]] = {}
    for _, line in index:
        fields = line.split()
        if len(fields) > 2 and fields[2] != "1" and _COUNT.fullmatch(fields[2]):
            offsets = fields[-int(fields[2]) :]
            ranks[fields[0].replace("_", " ")] = {offset: rank for rank, offset in enumerate(offsets)}
    for entry in entries:
        ranks_of_lemma = ranks.get(entry.lemma.lower())
        if ranks_of_lemma and len(entry.senses) > 1:
            entry.senses.sort(key=lambda sense: ranks_of_lemma.get(sense.sense[:-2], len(ranks_of_lemma)))


# ------------------------------------------------------------------------------------------------- through wn


def read_installed_lexicon(name: str, builder: DictionaryBuilder) -> None:
    """Read a lexicon that is installed with the library wn, such as oewn:2024."""
    wn = _import_wn()
    try:
        lexicons = wn.lexicons(lexicon=name)
    except wn.Error as error:
        raise UserError(f"the lexicon {name!r} cannot be read with the library wn: {error}") from None
    if not lexicons:
        raise UserError(f"no lexicon {name!r} is installed; install it with 'python -m wn download {name}'")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "lexicon.xml")
        wn.export(lexicons, path)
        _read_lmf(path, f"{INSTALLED}{name}", builder)


def read_lmf_file(source: Source, builder: DictionaryBuilder) -> None:
    """Read a WN-LMF file, which may be compressed; no database of the library wn is used or changed."""
    _import_wn()
    with tempfile.TemporaryDirectory() as folder, open_source(source, builder.tally) as stream:
        path = Path(folder, "lexicon.xml")
        with path.open("wb") as file:
            while block := stream.read(BLOCK):
                file.write(block)
        _read_lmf(str(path), source.path, builder)


def _import_wn() -> ModuleType:
    try:
        import wn
    except ImportError:
        raise UserError("reading a wordnet in LMF needs the library wn: pip install 'lexshift[senses]'") from None
    return wn


def _read_lmf(path: str, name: str, builder: DictionaryBuilder) -> None:
    """Read all lexicons of a WN-LMF file; ``name`` is for messages."""
    import wn.lmf

    damage = wn.Error, AssertionError, AttributeError, KeyError, RecursionError, TypeError, ValueError
    try:
        resource: Any = wn.lmf.load(path, progress_handler=None)
    except damage as error:
        raise UserError(f"{name!r} is not a wordnet in the format WN-LMF 1.0 to 1.4: {error}") from None
    for lexicon in resource["lexicons"]:
        try:
            _add_lexicon(lexicon, builder)
        except (AttributeError, KeyError, TypeError) as error:
            raise UserError(
                f"{name!r} lacks an attribute or element that WN-LMF requires: {error}; validate it with "
                f"'python -m wn validate'"
            ) from None


def _add_lexicon(lexicon: Any, builder: DictionaryBuilder) -> None:
    """Add the words of a lexicon with their senses, then the examples of its synsets."""
    synsets = {synset["id"]: synset for synset in lexicon.get("synsets") or ()}
    members: dict[str, dict[int, tuple[Entry, Sense, tuple[str, ...]]]] = {}
    for item in lexicon.get("entries") or ():
        if item.get("external"):
            builder.skip(EXTERNAL)
            continue
        lemma = normalise(" ".join(item["lemma"]["writtenForm"].split()))
        if not lemma:
            builder.skip("entries without a lemma")
            continue
        forms = tuple(normalise(form["writtenForm"]) for form in item.get("forms") or () if "writtenForm" in form)
        entry = builder.entry(lemma, item["lemma"]["partOfSpeech"], lexicon["language"])
        for label in item.get("senses") or ():
            if label.get("external"):
                builder.skip(EXTERNAL)
                continue
            synset = synsets.get(label["synset"], {})
            glosses = (normalise(text["text"].strip()) for text in synset.get("definitions") or ())
            sense = builder.sense(entry, label["synset"], next(filter(None, glosses), None))
            members.setdefault(label["synset"], {})[id(sense)] = entry, sense, forms
            _add_examples(label, [(entry, sense, forms)], builder)
    for name, synset in synsets.items():
        builder.records += 1
        _add_examples(synset, list(members.get(name, {}).values()), builder)


def _add_examples(item: Any, senses: list[tuple[Entry, Sense, tuple[str, ...]]], builder: DictionaryBuilder) -> None:
    for example in item.get("examples") or ():
        sentence = normalise(" ".join(example["text"].split()))
        if not sentence or len(sentence) > LONGEST_SENTENCE:
            builder.skip(f"examples of over {LONGEST_SENTENCE:,} characters" if sentence else "empty examples")
        elif senses:
            builder.add_example(sentence, senses)
        else:
            builder.skip("examples of synsets without words")
