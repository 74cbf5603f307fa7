"""Test files with one token per line against readers that are written from the definitions of the formats."""

from __future__ import annotations

import gzip
import html
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from annotated import tokens_of
from hypothesis import example, given
from hypothesis import strategies as st

from lexshift.corpus import decoding, token_files
from lexshift.corpus.columns import Columns, parse_columns
from lexshift.corpus.passages import Block, read_blocks
from lexshift.corpus.sources import Reading, Source, Tally, find_sources
from lexshift.corpus.token_fields import HARD, find_separators
from lexshift.corpus.token_files import TokenBlock, read_tokens
from lexshift.corpus.vertical_lines import SOFT
from lexshift.errors import UserError

MISSING = ("", "_", "<unknown>", "__UNDEF__")
FORMS = ["a", "mouse", "The", "Käse", "鼠", "&amp;", "&lt;b&gt;", "&", "AT&amp;T", "&quot;", ".", "<", "<b>", "#", "_"]
FORMS += ["incomprehensibilities", "exactlysixteenxx", "two words"]
LEMMAS = [
    "",
    "_",
    "<unknown>",
    "&lt;unknown&gt;",
    "__UNDEF__",
    "be",
    "mouse",
    "internationalisation",
    "lie|lay",
    "&amp;",
]
TAGS = ["NN", "NNS", "VVZ", "_", "", "$.", "a-very-long-tag|with=features"]


class Word(NamedTuple):
    """A token of a sentence: its span in the text, its lemma and its tag."""

    span: tuple[int, int]
    lemma: str
    tag: str


class Sentence(NamedTuple):
    """A line of text with its tokens."""

    row: int
    text: str
    words: list[Word]
    date: str | None
    document: str | None


def read(
    data: str, kind: str, sizes: Sequence[int] = (), reading: Reading | None = None, annotate: bool = True
) -> list[TokenBlock]:
    """Return the blocks of a file whose lines come in chunks of some sizes."""
    lines = data.encode().splitlines(keepends=True) if "\r" not in data else [data.encode()]
    chunks, at = [], 0
    for size in [*sizes, len(lines)]:
        chunks.append(b"".join(lines[at : at + size]))
        at += size
    source = Source("corpus.x", "corpus.x", kind)  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_files, "_HEAD", 20 if sizes else 1 << 16)
        patch.setattr(token_files, "_SIZE", 1)  # each chunk is parsed on its own
        return list(read_tokens(filter(None, chunks), source, reading or Reading(), Tally(), annotate))


def sentences(blocks: Sequence[TokenBlock]) -> list[Sentence]:
    """Return the sentences of blocks with their tokens in characters."""
    found = []
    for block in blocks:
        lines, lemma_lines = block.data.split(b"\n"), None
        words: list[list[Word]] = [[] for _ in lines]
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line) + 1)
        annotation = block.annotation
        if annotation is not None:
            assert annotation.lemmas is not None
            lemma_lines = annotation.lemmas.split(b"\n")
            assert len(lemma_lines) == len(lines)
            for a, b, c, d, tag in tokens_of(annotation):
                index = max(i for i, start in enumerate(starts) if start <= a)
                line = lines[index]
                span = tuple(len(line[: at - starts[index]].decode()) for at in (a, b))
                words[index].append(Word(span, annotation.lemmas[c:d].decode(), tag))  # type: ignore[arg-type]
            assert [" ".join(word.lemma for word in some) for some in words] == [b.decode() for b in lemma_lines]
        for i, line in enumerate(lines):
            date = None if block.dates is None else block.dates[i]
            document = None if block.documents is None else block.documents[i]
            found.append(Sentence(block.rows[i], line.decode(), words[i], date, document))
    return found


def plain_vertical(data: str) -> list[Sentence]:
    """Read a verticalised corpus with the columns word, tag and lemma and with sentences."""
    found: list[Sentence] = []
    row, text, words, glue, inside = 0, "", list[Word](), False, False
    document: tuple[str | None, str | None] = None, None
    n_documents = 0

    def end() -> None:
        nonlocal text, words, glue
        if words:
            found.append(Sentence(row, text, words, *document))
        text, words, glue = "", [], False

    for number, line in enumerate(data.split("\n"), 1):
        tag = re.fullmatch(r"<(/?)([A-Za-z]\w*)([^\t]*)>", line)
        if line.startswith("<!") or not line:
            continue
        if tag is None:
            form, part, lemma = (html.unescape(field) for field in line.split("\t"))
            if not words:
                row = number
            elif not glue:
                text += " "
            words.append(Word((len(text), len(text) + len(form)), form if lemma in MISSING else lemma, part))
            text += form
            glue = False
        elif tag[2] == "g":
            glue = True
        else:
            if tag[2] in ("s", "p", "text") or not inside:
                end()
            inside = not tag[1] if tag[2] == "s" else inside and tag[2] not in ("p", "text")
            if tag[2] == "text":
                n_documents += not tag[1]
                attributes = dict(re.findall(r'(\w+)="([^"]*)"', tag[3]))
                name = attributes.get("id", str(n_documents))
                document = (None, None) if tag[1] else (attributes.get("year"), f"corpus.x, {name}")
    end()
    return [
        each._replace(words=[w._replace(tag="" if w.tag in MISSING else w.tag) for w in each.words]) for each in found
    ]


TOKEN = st.builds("{}\t{}\t{}".format, st.sampled_from(FORMS), st.sampled_from(TAGS), st.sampled_from(LEMMAS))
STRUCTURE = [
    "<s>",
    "</s>",
    '<s id="3">',
    "<p>",
    "</p>",
    "<g/>",
    "<hi>",
    "</hi>",
    "<!-- note -->",
    "",
    "</text>",
    "<text>",
]
DOCUMENTS = ['<text id="b1" year="1850">', "<text year='1' id=\"b2\">", '<text title="x" year="1900">']
TAG = st.sampled_from([*STRUCTURE, *DOCUMENTS])
VERTICAL = st.lists(TOKEN | TAG, max_size=30).map(lambda lines: "<s>\nFirst\tJJ\tfirst\n" + "\n".join(lines) + "\n")


@given(VERTICAL, st.lists(st.integers(1, 9), max_size=6))
def test_vertical_equals_its_definition_however_it_is_divided(data: str, sizes: list[int]) -> None:
    data = data.replace("year='1'", 'year="1"').replace('title="x" ', "")
    found, expected = sentences(read(data, "vertical", sizes)), plain_vertical(data)
    assert [each._replace(date=None, document=None) for each in found] == [
        each._replace(date=None, document=None) for each in expected
    ]
    known = [(f.document, e.document, f.date, e.date) for f, e in zip(found, expected, strict=True)]
    assert all(a in (b, "corpus.x" if b is None else b, None if b is None else b) and c == d for a, b, c, d in known)


@given(VERTICAL, st.lists(st.integers(1, 9), max_size=6))
def test_text_does_not_depend_on_the_annotation(data: str, sizes: list[int]) -> None:
    bare = [each._replace(words=[]) for each in sentences(read(data, "vertical", sizes))]
    assert sentences(read(data, "vertical", sizes, annotate=False)) == bare


@given(VERTICAL, st.booleans(), st.data())
def test_selected_lines_have_the_annotation_of_a_file_with_these_lines(
    data: str, has_lemmas: bool, draw: st.DataObject
) -> None:
    reading = Reading(columns="word,tag,lemma" if has_lemmas else "word,tag")
    (block,) = read(data, "vertical", reading=reading)
    annotation, lines = block.annotation, block.data.split(b"\n")
    assert annotation is not None
    chosen = draw.draw(st.lists(st.sampled_from(range(len(lines))), min_size=1, unique=True).map(sorted))
    part = annotation.select_lines(chosen, block.data)
    starts = np.cumsum([0, *(len(line) + 1 for line in lines)])
    new = np.cumsum([0, *(len(lines[i]) + 1 for i in chosen)])
    line_of = (np.searchsorted(starts, annotation.text_starts, "right") - 1).tolist()
    expected = [
        (a - starts[line] + new[chosen.index(line)], b - starts[line] + new[chosen.index(line)], tag)
        for (a, b, _, _, tag), line in zip(tokens_of(annotation), line_of, strict=True)
        if line in chosen
    ]
    assert [(a, b, tag) for a, b, _, _, tag in tokens_of(part)] == expected
    if has_lemmas:
        assert annotation.lemmas is not None
        assert part.lemmas is not None
        lemmas = annotation.lemmas.split(b"\n")
        assert part.lemmas.split(b"\n") == [lemmas[i] for i in chosen]
        again = part.select_lines(range(len(chosen)), b"\n".join(lines[i] for i in chosen))
        assert tokens_of(again) == tokens_of(part)


@given(st.lists(st.sampled_from([b"\t", b"\n", b"a", b"\xc3\xa9"])).map(b"".join))
def test_separators_are_the_tabs_and_line_feeds(data: bytes) -> None:
    separators = np.empty(len(data) + 1, np.int32)
    n = find_separators(np.frombuffer(data, np.uint8), separators)
    assert separators[:n].tolist() == [2 * i + (byte == 10) for i, byte in enumerate(data) if byte in b"\t\n"]


def plain_conllu(data: str) -> list[Sentence]:
    """Read CoNLL-U."""
    found: list[Sentence] = []
    row, text, words, glue, last, span = 0, "", list[Word](), True, 0, (0, 0)
    date: str | None = None
    document: str | None = None
    n_documents = 0
    for number, line in enumerate([*data.split("\n"), ""], 1):
        fields = line.split("\t")
        if not line:
            if text:
                found.append(Sentence(row, text, words, date, document))
            text, words, glue, last = "", [], True, 0
        elif line.startswith("#"):
            if match := re.fullmatch(r"# newdoc(?: id = (.*))?", line):
                n_documents += 1
                date, document = None, f"corpus.x, {match[1] or n_documents}"
            elif match := re.fullmatch(r"# date = (.*)", line):
                date = match[1]
        elif "." not in fields[0]:
            first, _, end = fields[0].partition("-")
            if int(first) > last or end:
                row = row if text else number
                text += "" if glue else " "
                span = len(text), len(text) + len(fields[1])
                text += fields[1]
                glue, last = "SpaceAfter=No" in fields[9], int(end or 0)
            if not end:
                lemma = fields[1] if fields[2] in MISSING else fields[2]
                words.append(Word(span, lemma, "" if fields[3] in MISSING else fields[3]))
    return found


@st.composite
def conllu(draw: st.DrawFn) -> str:
    """Draw some sentences with tokens of several words, empty nodes and comments."""
    lines: list[str] = []
    rest = "_\t_\t_\t_\t_\t"
    misc = st.sampled_from(["_", "SpaceAfter=No", "Gloss=x|SpaceAfter=No", "SpaceAfter=Nx"])
    forms = st.sampled_from(["du", "mouse", "a b", "Käse", "incomprehensibilities", "&amp;", "#", "<s>"])
    comments = st.sampled_from(
        ["# newdoc id = d1", "# newdoc", "# newpar", "# sent_id = 4", "# text = A # b", "# date = 1990-01-01", "# date"]
    )
    for _ in range(draw(st.integers(0, 4))):
        lines += draw(st.lists(comments, max_size=3, unique=True).map(lambda c: sorted(c, key=lambda x: "date" in x)))
        number = 1
        for _ in range(draw(st.integers(0, 5))):
            length = draw(st.sampled_from([1, 1, 1, 2, 3]))
            if draw(st.integers(0, 4)) == 0:
                lines.append(f"{number - 1}.1\t{draw(forms)}\tbe\tVERB\t{rest}_")
            if length > 1:
                lines.append(f"{number}-{number + length - 1}\t{draw(forms)}\t_\t_\t{rest}{draw(misc)}")
            for _ in range(length):
                lemma = draw(st.sampled_from(["_", "de", "le", "internationalisation"]))
                lines.append(f"{number}\t{draw(forms)}\t{lemma}\t{draw(st.sampled_from(TAGS))}\t{rest}{draw(misc)}")
                number += 1
        lines.append("")
    return "\n".join(lines) + draw(st.sampled_from(["", "\n"]))


@given(conllu(), st.lists(st.integers(1, 9), max_size=6))
@example(
    "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\tde\tADP\t_\t_\t_\t_\t_\t_\n2\tle\tle\tDET\t_\t_\t_\t_\t_\t_\n", [1, 1]
)
def test_conllu_equals_its_definition_however_it_is_divided(data: str, sizes: list[int]) -> None:
    found = sentences(read(data, "conllu", sizes))
    expected = plain_conllu(data)
    assert [each._replace(document=None) for each in found] == [each._replace(document=None) for each in expected]
    known = [(f.document, e.document) for f, e in zip(found, expected, strict=True)]
    assert all(a in (b, "corpus.x" if b is None else b) for a, b in known)


CORPUS = """\
<corpus name="test">
<text id="t1" date="1850-01-02" year="1850" author="A &amp; B">
<p>
<s>
The\tDT\tthe
mice\tNNS\tmouse
ran\tVBD\trun
<g/>
.\tSENT\t.
</s>
</p>
</text>
<text title="Second" year="1900">
<head>
A\tDT\ta
title\tNN\ttitle
</head>
<s>
Caf&#xe9;\tNN\tcaf&#233;
</s>
</text>
</corpus>
"""


def test_documents_dates_and_rows_of_a_vertical_file(tmp_path: Path) -> None:
    (tmp_path / "c.vert.gz").write_bytes(gzip.compress(CORPUS.replace("\n", "\r\n").encode()))
    (block,) = blocks_of(tmp_path / "c.vert.gz")
    assert block.data.decode() == "The mice ran.\nA title\nCafé"
    assert block.lemmas is not None
    assert block.lemmas.decode() == "the mouse run .\na title\ncafé"
    assert (block.rows, block.dates) == ([5, 15, 19], ["1850-01-02", "1900", "1900"])
    assert block.documents == ["c.vert.gz, t1", "c.vert.gz, Second", "c.vert.gz, Second"]


def blocks_of(path: Path, reading: Reading | None = None, annotate: bool = True) -> list[Block]:
    (source,) = find_sources(path)
    return list(read_blocks(source, reading or Reading(), Tally(), annotate))


def test_attributes_that_options_name_give_dates_and_documents() -> None:
    found = sentences(read(CORPUS, "vertical", reading=Reading(date_column="year", document_column="author")))
    assert [each.date for each in found] == ["1850", "1900", "1900"]
    assert [each.document for each in found] == ["A & B", "corpus.x", "corpus.x"]
    with pytest.raises(UserError, match=r"no attribute 'published': name one of 'name', 'id', 'date'.*--date-column"):
        read(CORPUS, "vertical", reading=Reading(date_column="published"))
    with pytest.raises(UserError, match=r"no comment 'book'.*--document-column"):
        read("# newdoc id = a\n1\tA\ta\tX\n", "conllu", reading=Reading(document_column="book"))


def test_an_enclosing_element_dates_its_texts() -> None:
    data = '<issue date="1900">\n<text id="a">\n<s>\nA\n</s>\n</text>\n</issue>\n<text id="b">\n<s>\nB\n</s>\n</text>\n'
    assert [each.date for each in sentences(read(data, "vertical", annotate=False))] == ["1900", None]


def test_without_sentences_a_paragraph_is_a_line_of_prose() -> None:
    data = "<doc>\n<p>\nIt\nran\n<g/>\n.\nHe\n<b>\ncame\n</b>\n</p>\n<p>\nB\n</p>\n</doc>\nC\n\nD\n"
    (block,) = read(data, "vertical")
    assert (block.split, block.data) == ("prose", b"It ran. He came\nB\nC\nD")
    assert block.annotation is None
    (block,) = read(data, "vertical", reading=Reading(split="lines"))
    assert block.split == "lines"


@pytest.mark.parametrize("n_words", [2 * SOFT, 4 * HARD])
def test_text_without_any_structure_is_divided_into_lines(n_words: int) -> None:
    mark = "." if n_words == 2 * SOFT else "a"
    blocks = read(f"a\n{mark}\n" * (n_words // 2), "vertical", [n_words // 3])
    lines = [line for each in blocks for line in each.data.split(b"\n")]
    assert b" ".join(lines).split() == [b"a", mark.encode()] * (n_words // 2)
    assert max(map(len, lines)) <= (SOFT + 4 if mark == "." else HARD + 4)


def test_a_file_may_have_fewer_columns_but_no_line_may() -> None:
    (block,) = read("<s>\nThe\tDT\nmice\tNNS\n</s>\n", "vertical")
    assert block.annotation is not None
    assert block.annotation.lemmas is None
    assert block.annotation.distinct_tags(np.arange(2))[0] == ["DT", "NNS"]
    message = "'corpus.x' has 2 columns instead of 3 or more at line 4; .*--columns"
    with pytest.raises(UserError, match=message):
        read("<s>\nThe\tDT\tthe\nmice\tNNS\tmouse\nran\tVBD\n</s>\n", "vertical", [2, 1])
    with pytest.raises(UserError, match="has 1 column instead of 4 or more at line 2"):
        read("1\tA\ta\tDET\nB\n", "conllu")


def test_columns_are_named_in_their_order() -> None:
    reading = Reading(columns="lempos,x,word,pos")
    (found,) = sentences(read("<s>\nplane-n\t1\tplanes\tNNS\nin-i\t2\tin\tIN\n</s>\n", "vertical", reading=reading))
    assert found.text == "planes in"
    assert [(word.lemma, word.tag) for word in found.words] == [("plane", "NNS"), ("in", "IN")]
    (found,) = sentences(read("1\tsaw\tsee\tVERB\tVBD\n", "conllu", reading=Reading(columns="id,form,lemma,_,tag")))
    assert found.words == [Word((0, 3), "see", "VBD")]


def test_columns_must_have_one_word() -> None:
    assert parse_columns("Form, POS, lempos") == Columns(0, 2, 1, has_lempos=True)
    for wrong in ("", "tag,lemma", "word,word", "word,lemma,lempos", "word" + ",x" * 64):
        with pytest.raises(UserError, match="columns must name the columns"):
            Reading(columns=wrong)


def test_text_is_put_into_normal_form_before_it_is_parsed() -> None:
    (found,) = sentences(read("<s>\ncafe\u0301\tNN\tcafe\u0301\nna&#239;ve\tJJ\tx\ne&#769;\tX\ty\n</s>\n", "vertical"))
    assert found.text == "café naïve é"
    assert [word.span for word in found.words] == [(0, 4), (5, 10), (11, 12)]


def test_references_to_characters_never_make_lines_columns_or_tags() -> None:
    data = "<s>\na&#10;b&#9;c\tX\ty\n&#60;s&#62;\tX\ty\n&#38;amp;\tX\ty\n&#xD800;x&#1114112;\tX\ty\n</s>\n"
    (found,) = sentences(read(data, "vertical"))
    assert found.text == "a b c <s> &amp;  x "


@pytest.mark.parametrize("data", ["", "\n", "<s>\n</s>\n", "<text>\n", "<!-- -->"])
def test_files_without_tokens_are_empty(data: str) -> None:
    assert read(data, "vertical") == []
    assert read(data.replace("<", "#"), "conllu") == []


def test_a_small_block_size_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "c.vrt").write_text(CORPUS * 3, "utf-8")
    whole = [
        line
        for block in blocks_of(tmp_path / "c.vrt")
        for line in zip(block.data.split(b"\n"), block.rows or [], strict=True)
    ]
    monkeypatch.setattr(decoding, "BLOCK", 16)
    monkeypatch.setattr(token_files, "_HEAD", 16)
    monkeypatch.setattr(token_files, "_SIZE", 32)
    parts = blocks_of(tmp_path / "c.vrt")
    assert len(parts) > 3
    assert [line for block in parts for line in zip(block.data.split(b"\n"), block.rows or [], strict=True)] == whole
