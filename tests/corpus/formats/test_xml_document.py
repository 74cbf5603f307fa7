"""Test that XML is read as its text: against a walk over the tree, with dates, titles and words, and under attack."""

from __future__ import annotations

import gzip
import io
import re
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.corpus.formats import running_text
from lexshift.corpus.formats.xml_document import xml_records
from lexshift.corpus.passages import read_blocks
from lexshift.corpus.records import Record, Token
from lexshift.corpus.sources import Reading, Source, Tally, find_sources
from lexshift.errors import UserError

HEADER = """<teiHeader><fileDesc><titleStmt><title>Letters &amp; Notes</title></titleStmt>
<publicationStmt><date>2015</date></publicationStmt>
<sourceDesc><bibl><title>Another</title><date when="1851-03-02">2 March 1851</date></bibl></sourceDesc>
</fileDesc></teiHeader>"""


def read(text: str | bytes, reading: Reading | None = None, tally: Tally | None = None) -> list[Record]:
    data = text.encode() if isinstance(text, str) else text
    return list(xml_records(io.BytesIO(data), Source("a.xml", "a.xml", "xml"), reading or Reading(), tally or Tally()))


def texts(text: str | bytes, reading: Reading | None = None) -> list[str]:
    return [record.text for record in read(text, reading)]


def tei(body: str, header: str = "") -> str:
    return f'<TEI xmlns="http://www.tei-c.org/ns/1.0">{header}<text><body>{body}</body></text></TEI>'


def walk(element: ElementTree.Element, lines: list[str], is_read: bool = False) -> None:
    """Add the text of an element to the last of some lines, from the definition: units begin and end a line."""
    name = element.tag.rpartition("}")[2]
    if name in ("teiHeader", "note"):
        return
    is_unit = name in running_text.UNITS
    if is_unit:
        lines.append("")
    if name == "lb":
        lines[-1] += " "
    inside = is_read or is_unit
    lines[-1] += (element.text or "") if inside else ""
    for child in element:
        walk(child, lines, inside)
        lines[-1] += (child.tail or "") if inside else ""
    if is_unit:
        lines.append("")


TEXT = st.text(st.sampled_from("ab é&<'\n ]"), max_size=6).map(escape)
INLINE = st.recursive(
    TEXT,
    lambda inner: st.builds(
        lambda name, parts: f"<{name}>{''.join(parts)}</{name}>",
        st.sampled_from(["hi", "s", "l", "p", "note", "q", "lb"]),
        st.lists(inner, max_size=3),
    ),
    max_leaves=12,
)


@given(st.lists(INLINE, min_size=1, max_size=6))
def test_text_is_that_of_a_walk_over_the_tree(parts: list[str]) -> None:
    document = tei("".join(parts) + "<p>end</p>")
    lines = [""]
    walk(ElementTree.fromstring(document), lines)
    assert texts(document) == [text for line in lines if (text := re.sub(r"[ \n]+", " ", line).strip())]


@given(st.lists(INLINE, min_size=1, max_size=6))
def test_xpath_selects_the_same_text(parts: list[str]) -> None:
    document = tei("".join(parts) + "<p>end</p>")
    assert texts(document, Reading(xpath="//p|//s|//l")) == texts(document)


def test_parts_that_are_no_text_are_left_out() -> None:
    tally = Tally()
    document = tei(
        "<head>Title</head><p>A <choice><orig>vniuersal</orig><reg>universal</reg></choice> <fw>42</fw>mouse"
        "<note>An editor.</note><del>!</del>, di<lb break='no'/>vided<lb/>here<pb/>too.</p>"
    )
    assert [record.text for record in read(document, tally=tally)] == ["A universal mouse, divided here too."]
    assert tally.skipped == {"notes in XML files, left out": 1}


def test_header_gives_the_title_and_the_date_of_the_text() -> None:
    (record,) = read(tei("<p>A mouse.</p>", HEADER))
    assert record == Record(1, "A mouse.", "1851-03-02", "Letters & Notes (a.xml)")


def test_creation_is_the_preferred_date() -> None:
    header = HEADER.replace(
        "</teiHeader>", "<profileDesc><creation><date>May 1840</date></creation></profileDesc></teiHeader>"
    )
    assert read(tei("<p>A mouse.</p>", header))[0].date == "May 1840"


def test_texts_of_a_collection_are_documents() -> None:
    second = tei("<p>B</p>", HEADER.replace("1851-03-02", "1862").replace("Letters", "Plays"))
    document = f"<teiCorpus>{tei('<p>A</p>', HEADER)}{second}{tei('<p>C</p>', '<teiHeader/>')}</teiCorpus>"
    assert [(record.text, record.date, record.document) for record in read(document)] == [
        ("A", "1851-03-02", "Letters & Notes (a.xml, text 1)"),
        ("B", "1862", "Plays & Notes (a.xml, text 2)"),
        ("C", None, "a.xml, text 3"),
    ]


def test_words_have_lemmas_and_tags() -> None:
    document = tei("""<s><w lemma="the" pos="DET">The</w>
      <w lemma="mouse" pos="NOUN">mice</w>
      <pc join="right">(</pc><w msd="UPosTag=VERB|Tense=Past" lemma="run">ran</w><pc>)</pc>
      <pc>!</pc> tail</s>""")
    (record,) = read(document)
    assert record.text == "The mice (ran)! tail"
    assert record.tokens == [
        Token(0, 3, "the", "DET"),
        Token(4, 8, "mouse", "NOUN"),
        Token(9, 10),
        Token(10, 13, "run", "VERB"),
        Token(13, 14),
        Token(14, 15),
    ]


WORD = st.tuples(st.text(st.sampled_from("abé1"), min_size=1, max_size=4), st.sampled_from(["", " ", "\n  ", "-"]))


@given(st.lists(WORD, min_size=1, max_size=8))
def test_spans_of_words_are_their_forms(words: list[tuple[str, str]]) -> None:
    document = tei("<s>" + "".join(f'<w lemma="{form.upper()}">{form}</w>{gap}' for form, gap in words) + "</s>")
    (record,) = read(document)
    assert record.text == re.sub(r"\s+", " ", "".join(form + gap for form, gap in words)).strip()
    assert [(record.text[t.start : t.end], t.lemma) for t in record.tokens or ()] == [
        (form, form.upper()) for form, _ in words
    ]


def test_trailing_space_inside_a_word_is_not_part_of_it() -> None:
    (record,) = read(tei('<s><w hw="do">Do</w><w hw="not">n\'t </w><w hw="go">go </w><pc>.</pc></s>'))
    assert record.text == "Don't go ."
    assert [record.text[t.start : t.end] for t in record.tokens or ()] == ["Do", "n't", "go", "."]


@pytest.mark.parametrize("codec", ["utf-8", "utf-16", "iso-8859-1", "gb18030"])
def test_encoding_is_declared(codec: str) -> None:
    document = f'<?xml version="1.0" encoding="{codec}"?><p>mouse né</p>'.encode(codec)
    assert texts(document) == ["mouse né"]


def test_option_overrides_the_declaration() -> None:
    document = '<?xml version="1.0" encoding="utf-8"?><p>мышь</p>'.encode("koi8-r")
    assert texts(document, Reading(encoding="koi8-r")) == ["мышь"]
    with pytest.raises(UserError, match=r"'a.xml' is not valid UTF-8: .*--errors replace"):
        read(document)
    assert texts(document, Reading(errors="replace")) == ["\ufffd" * 4]


def test_entities_of_html_and_declared_ones_are_text() -> None:
    tally = Tally()
    document = '<!DOCTYPE p SYSTEM "x.dtd" [<!ENTITY who "Alice">]><p>&who;&mdash;&eacute;&amp;&#65;&other;</p>'
    assert [record.text for record in read(document, tally=tally)] == ["Alice—é&A"]
    assert tally.skipped == {"references to entities that are not declared in the file, left out": 1}
    assert texts("<p>a&mdash;b</p>") == ["a—b"]


LAUGHS = "<!DOCTYPE p [<!ENTITY a 'ha'>{}]><p>&e9;</p>".format(
    "".join(f"<!ENTITY e{i} '{('&a;' if i == 0 else f'&e{i - 1};') * 10}'>" for i in range(10))
)
LONG = f"<!DOCTYPE p [<!ENTITY a '{'ha' * 100_000}'>]><p>{'&a;' * 1000}</p>"


@pytest.mark.parametrize("attack", [LAUGHS, LONG, LAUGHS.replace("<p>&e9;", '<p x="&e9;">'), LONG.replace("&a;", "")])
@pytest.mark.parametrize("xpath", [None, "//p"])
def test_entities_that_grow_are_refused(attack: str, xpath: str | None) -> None:
    with pytest.raises(UserError, match=r"'a.xml' declares the entity .* grow without limit"):
        read(attack, Reading(xpath=xpath))


@pytest.mark.parametrize("xpath", [None, "//p"])
@pytest.mark.parametrize("kind", ["ENTITY x SYSTEM", "ENTITY % x SYSTEM"])
def test_other_files_are_not_read(tmp_path: Path, kind: str, xpath: str | None) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("<!ENTITY y 'secret'>")
    use = "%x;" if "%" in kind else ""
    document = f'<!DOCTYPE p [<!{kind} "{secret.as_uri()}">{use}]><p>open &x; &y;</p>'
    assert texts(document, Reading(xpath=xpath)) == ["open"]
    document = f'<!DOCTYPE p SYSTEM "{secret.as_uri()}"><p>open &y;</p>'
    assert texts(document, Reading(xpath=xpath)) == ["open"]
    document = f'<p xmlns:xi="http://www.w3.org/2001/XInclude">open <xi:include href="{secret.as_uri()}"/></p>'
    assert texts(document, Reading(xpath=xpath)) == ["open"]


@pytest.mark.parametrize("xpath", [None, "//p"])
def test_deep_nesting_is_refused(xpath: str | None) -> None:
    with pytest.raises(UserError, match=r"more than 1,000 nested elements"):
        read("<p>" * 100_000 + "a" + "</p>" * 100_000, Reading(xpath=xpath))


def test_long_text_is_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running_text, "_LONGEST", 10)
    parts = texts("<p>" + "".join(f"<hi>word{i} </hi>" for i in range(9)) + "</p>")
    assert " ".join(parts).split() == [f"word{i}" for i in range(9)]
    assert max(map(len, parts)) <= 20
    words = read("<s>" + "".join(f"<w lemma='l{i}'>word{i}</w> " for i in range(9)) + "</s>")
    assert [t.lemma for record in words for t in record.tokens or ()] == [f"l{i}" for i in range(9)]


def test_damaged_xml_has_a_line() -> None:
    with pytest.raises(UserError, match=r"'a.xml' is not well-formed XML at line 2: mismatched tag"):
        read("<p>\n<b></p>")


def test_text_elsewhere_is_explained() -> None:
    with pytest.raises(UserError, match=r"no text in <ab>, .*; its text is in <body>: .* --xpath //body"):
        read("<article><body>A mouse.</body></article>")
    assert texts("<article><body>A <b>mouse</b>.</body></article>", Reading(xpath="//body")) == ["A mouse."]
    assert texts('<a><b t="A mouse."/></a>', Reading(xpath="//b/@t")) == ["A mouse."]
    with pytest.raises(UserError, match=r"'//x' selects no text in 'a.xml'"):
        read("<a>b</a>", Reading(xpath="//x"))
    with pytest.raises(UserError, match=r"'//\[' is not a valid XPath expression"):
        read("<a>b</a>", Reading(xpath="//["))


def test_compressed_tei_is_a_corpus(tmp_path: Path) -> None:
    path = tmp_path / "a.tei.gz"
    path.write_bytes(gzip.compress(tei("<p>One mouse. Two mice.</p><p>Bread.</p>", HEADER).encode()))
    (block,) = read_blocks(find_sources(path)[0], Reading(), Tally())
    assert block.data == b"One mouse. Two mice.\nBread."
    assert block.rows == [1, 2]
    assert block.dates == ["1851-03-02"] * 2
    assert block.documents == ["Letters & Notes (a.tei.gz)"] * 2
