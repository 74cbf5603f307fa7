"""Dictionaries in each format: their senses, glosses and usages, and counts of everything that is skipped."""

from __future__ import annotations

import csv
import gzip
import json
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from lexshift.corpus.dictionaries import (
    Dictionary,
    Entry,
    Sense,
    SenseUsage,
    normalise_sentence,
    sentence_hash,
)
from lexshift.corpus.dictionary_reader import read_dictionary
from lexshift.corpus.example_targets import WordForms, find_in_examples
from lexshift.errors import UserError

Write = Callable[[str, Any], Path]

WORDNET = {
    "data.noun": (
        "  1 A licence, which is not a synset.  \n"
        '00000100 05 n 02 mouse 0 computer_mouse 0 000 | a device that moves a pointer; "two mice, one keyboard"; '
        '"the computer mouse is broken"  \n'
        '00000200 05 n 01 mouse 1 000 | a small rodent; also a pet; "a mouse ran past" \n'
        "00000300 05 n 01 cat 0 001 @ 00000200 n 0000 | an animal without an example  \n"
    ),
    "index.noun": "  1 A licence.  \nmouse n 2 1 @ 2 2 00000200 00000100  \ncat n 1 1 @ 1 0 00000300  \n",
    "noun.exc": "mice mouse\n",
    "data.verb": (
        '00000100 30 v 02 take_part 0 join 0 000 01 + 02 00 | do with others; "she took part in it"; "go home"; ""\n'
    ),
    "verb.exc": "took take\ntook_part take_part\n",
    "data.adj": '00000100 00 s 01 galore(ip) 0 000 | in great numbers; "cakes galore"\n',
}
LMF = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE LexicalResource SYSTEM "http://globalwordnet.github.io/schemas/WN-LMF-1.0.dtd">
<LexicalResource xmlns:dc="http://purl.org/dc/elements/1.1/">
  <Lexicon id="tiny" label="Tiny" language="de" email="a@example.org" license="none" version="1">
    <LexicalEntry id="tiny-maus">
      <Lemma writtenForm="Maus" partOfSpeech="n"/>
      <Form writtenForm="Mäuse"/>
      <Sense id="tiny-maus-1" synset="tiny-1"><Example>Die Maus lief weg.</Example></Sense>
      <Sense id="tiny-maus-2" synset="tiny-2"/>
    </LexicalEntry>
    <LexicalEntry id="tiny-nager">
      <Lemma writtenForm="Nager" partOfSpeech="n"/>
      <Sense id="tiny-nager-1" synset="tiny-1"/>
    </LexicalEntry>
    <Synset id="tiny-1" ili="" partOfSpeech="n">
      <Definition>kleines Tier</Definition>
      <Example>Zwei Mäuse sahen den Nager.</Example>
      <Example>Ohne das Wort.</Example>
    </Synset>
    <Synset id="tiny-2" ili="" partOfSpeech="n"><Definition>Gerät</Definition></Synset>
  </Lexicon>
</LexicalResource>
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file of text, or of a JSON object per line."""

    def write_file(name: str, content: Any) -> Path:
        path = tmp_path / name
        text = content if isinstance(content, str) else "".join(json.dumps(record) + "\n" for record in content)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8", newline="")
        return path

    return write_file


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Path]:
    """Let the library wn keep its lexicons in a folder of the test."""
    wn = pytest.importorskip("wn")
    folder, users = tmp_path / "database", wn.config.database_path.parent
    wn.config.data_directory = folder
    yield folder
    wn.config.data_directory = users


@pytest.fixture
def wordnet(write: Write) -> Path:
    for name, text in WORDNET.items():
        folder = write(f"wordnet/{name}", text).parent
    return folder


def words(sense: Sense) -> list[str]:
    """The target words of the usages of a sense, as they are written."""
    return [usage.sentence[usage.start : usage.end] for usage in sense.usages]


def only(dictionary: Dictionary, lemma: str) -> Entry:
    found = [entry for entry in dictionary.entries if entry.lemma == lemma]
    assert len(found) == 1
    return found[0]


# ------------------------------------------------------------------------------------------------- wordnets


def test_wordnet_folder_has_glosses_and_examples_in_the_order_of_its_index(wordnet: Path) -> None:
    dictionary = read_dictionary(wordnet)
    mouse = only(dictionary, "mouse")
    assert (mouse.pos, mouse.language) == ("NOUN", "en")
    assert [sense.sense for sense in mouse.senses] == ["00000200-n", "00000100-n"]
    assert [sense.gloss for sense in mouse.senses] == [
        "a small rodent; also a pet",
        "a device that moves a pointer",
    ]
    assert mouse.senses[0].usages == [SenseUsage("a mouse ran past", 2, 7)]
    assert words(mouse.senses[1]) == ["mice", "mouse"]
    assert words(only(dictionary, "computer mouse").senses[0]) == ["computer mouse"]
    assert words(only(dictionary, "take part").senses[0]) == ["took part"]
    assert only(dictionary, "cat").senses == [Sense("00000300-n", "an animal without an example")]
    galore = only(dictionary, "galore")
    assert (galore.pos, words(galore.senses[0])) == ("ADJ", ["galore"])
    assert (dictionary.records, dictionary.n_senses, dictionary.n_usages) == (5, 7, 6)
    assert dictionary.tally.skipped == {"empty examples": 1, "examples in which the word was not found": 1}
    assert dictionary.tally.files == len(WORDNET) == len(dictionary.tally.hashes)


@pytest.mark.parametrize(
    ("text", "gloss", "examples"),
    [
        ('a slope; "the bank"; "a bank"', "a slope", ["the bank", "a bank"]),
        ('a slope: "the bank"', "a slope", ["the bank"]),
        ('a slope "the bank"', "a slope", ["the bank"]),
        ('called a "slope" by some; "the bank', 'called a "slope" by some', ["the bank"]),
        ('a slope; the bank"', 'a slope; the bank"', []),
        ('"the bank"', None, ["the bank"]),
        ("a slope;  ", "a slope", []),
    ],
)
def test_gloss_ends_where_the_examples_begin(write: Write, text: str, gloss: str | None, examples: list[str]) -> None:
    path = write("glosses/data.noun", f"00000100 05 n 01 bank 0 000 | {text}\n")
    sense = read_dictionary(path.parent).entries[0].senses[0]
    assert (sense.gloss, [usage.sentence for usage in sense.usages]) == (gloss, examples)


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "00000100 05 n 02 mouse 0 000 | a gloss",
        "00000100 05 x 01 mouse 0 000 | a gloss",
        "00000100 05 n 00 000 | a gloss",
        "00000100 05 n zz mouse 0 000 | a gloss",
        "00000100 05 n 01 mouse 0 000",
        "00000100 05 n 01 (a) 0 000 | a gloss",
        "x 05 n 01 mouse 0 000 | a gloss",
        "00000100 05 n ffffffff mouse 0 000 | a gloss",
        "00000100 05 n " + "f" * 5_000 + " mouse 0 000 | a gloss",
        "00000100 05 n -1 mouse 0 000 | a gloss",
        "00000100 05 n 01 mouse 0 000 | " + "x" * 20_001,
    ],
)
def test_damaged_synset_is_refused_with_its_line(write: Write, line: str) -> None:
    good = "00000001 05 n 01 cat 0 000 | an animal\n"
    path = write("damaged/data.noun", f"  1 A licence.\n{good}{line}\n{good}")
    with pytest.raises(UserError, match=r"data\.noun', line 3: not a synset; it must be"):
        read_dictionary(path.parent)
    dictionary = read_dictionary(path.parent, max_damaged=1)
    assert dictionary.tally.skipped == {"damaged lines": 1}
    assert [entry.lemma for entry in dictionary.entries] == ["cat"]


@pytest.mark.parametrize(
    "index", ["mouse", "mouse n x", "mouse n 99999999999999", "mouse n 9" + "9" * 5000, "mouse n 2"]
)
def test_damaged_index_leaves_the_order_of_the_data(wordnet: Path, index: str) -> None:
    (wordnet / "index.noun").write_text(index + "\n")
    senses = only(read_dictionary(wordnet), "mouse").senses
    assert [sense.sense for sense in senses] == ["00000100-n", "00000200-n"]


def test_folder_that_is_no_wordnet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds no data\.noun, data\.verb"):
        read_dictionary(tmp_path)


@pytest.mark.parametrize("compress", [None, gzip.compress, zstandard.compress])
def test_lmf_file_is_read_in_its_own_language(
    write: Write, compress: Callable[[bytes], bytes] | None, tmp_path: Path, database: Path
) -> None:
    path = write("tiny.xml", LMF)
    if compress is not None:
        path = tmp_path / "tiny.xml.gz"
        path.write_bytes(compress(LMF.encode()))
    dictionary = read_dictionary(path)
    maus, nager = only(dictionary, "Maus"), only(dictionary, "Nager")
    assert (maus.pos, maus.language) == ("NOUN", "de")
    assert [(sense.sense, sense.gloss, words(sense)) for sense in maus.senses] == [
        ("tiny-1", "kleines Tier", ["Maus", "Mäuse"]),
        ("tiny-2", "Gerät", []),
    ]
    assert words(nager.senses[0]) == ["Nager"]
    assert dictionary.records == 2
    assert sum(dictionary.tally.skipped.values()) == 1
    assert not database.exists()  # the user's lexicons are left alone


@pytest.mark.slow
@pytest.mark.usefixtures("database")
def test_installed_lexicon_is_read_by_its_name(write: Write) -> None:
    wn = pytest.importorskip("wn")
    path = write("tiny.xml", LMF)
    wn.add(path, progress_handler=None)
    assert read_dictionary("wn:tiny:1").entries == read_dictionary(path).entries
    with pytest.raises(UserError, match="no lexicon 'none:1' is installed; install it with"):
        read_dictionary("wn:none:1")


def test_missing_library_is_named_with_its_extra(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wn", None)
    for source in (write("tiny.xml", LMF), "wn:oewn:2024"):
        with pytest.raises(UserError, match=r"pip install 'lexshift\[senses\]'"):
            read_dictionary(source)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<a/>",
        LMF[: LMF.index("<LexicalEntry")],
        LMF.replace("LexicalResource", "Other"),
        LMF.replace(' version="1">', ">"),
        LMF.replace(' writtenForm="Maus"', ""),
        LMF.replace(' synset="tiny-1"', ""),
        LMF[: LMF.index("  <Lexicon")] + "</LexicalResource>",
    ],
)
def test_damaged_lmf_file_is_refused(write: Write, text: str) -> None:
    pytest.importorskip("wn")
    with pytest.raises(UserError, match=r"tiny\.xml' (is not a wordnet|lacks|is empty)"):
        read_dictionary(write("tiny.xml", text))


# ------------------------------------------------------------------------------------------------- tables

ROWS: list[dict[str, Any]] = [
    {"lemma": "bank", "pos": "noun", "sense": "1", "gloss": "a slope", "example": "The bank was steep."},
    {
        "lemma": "bank",
        "pos": "n",
        "sense": "2",
        "gloss": "a firm",
        "example": "A bank is a bank.",
        "start": 12,
        "end": 16,
    },
    {"lemma": "bank", "pos": "NOUN", "sense": "1", "gloss": "another text", "example": "Two banks of a river."},
    {"lemma": "bank", "pos": "VERB", "sense": "3", "gloss": "to tilt", "example": ""},
    {"lemma": "bank", "pos": "VERB", "sense": "", "gloss": "", "example": "They bank here."},
    {"lemma": "bank", "pos": "VERB", "sense": "4", "gloss": "", "example": ""},
    {"lemma": "bank", "pos": "VERB", "sense": "", "gloss": "to rely", "example": "No such word here."},
    {"lemma": "Bank", "pos": "", "sense": 7, "gloss": "ein Möbel", "example": "Eine Bank im Park.", "language": "xx"},
]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".jsonl.gz", ".csv.zst"])
def test_table_has_senses_with_glosses_and_usages(ending: str, tmp_path: Path) -> None:
    pytest.importorskip("simplemma")
    path = tmp_path / f"table{ending}"
    columns = ("lemma", "pos", "sense", "gloss", "example", "start", "end", "language")
    if ending.startswith(".jsonl"):
        text = "".join(json.dumps(row) + "\n\n" for row in ROWS)
    else:
        mark = "," if ending.startswith(".csv") else "\t"
        rows = [columns, *([str(row.get(name, "")) for name in columns] for row in ROWS)]
        text = "".join(mark.join(row) + "\r\n" for row in rows)
    compressions: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".zst": zstandard.compress}
    compress = compressions.get(path.suffix, bytes)
    path.write_bytes(compress(text.encode()))
    dictionary = read_dictionary(path)
    noun, verb, other = dictionary.entries
    assert noun == Entry(
        "bank",
        "NOUN",
        "en",
        [
            Sense("1", "a slope", [SenseUsage("The bank was steep.", 4, 8), SenseUsage("Two banks of a river.", 4, 9)]),
            Sense("2", "a firm", [SenseUsage("A bank is a bank.", 12, 16)]),
        ],
    )
    assert verb == Entry("bank", "VERB", "en", [Sense("3", "to tilt"), Sense("to rely", "to rely")])
    assert other == Entry("Bank", "", "xx", [Sense("7", "ein Möbel", [SenseUsage("Eine Bank im Park.", 5, 9)])])
    assert dictionary.records == len(ROWS)
    assert dictionary.tally.skipped == {
        "rows without a sense": 1,
        "rows without a gloss or an example": 1,
        "rows with another gloss of a sense, of which the first was used": 1,
        "examples in which the word was not found": 1,
    }


def test_columns_of_axolotl_are_known(write: Write) -> None:
    names = "usage_id\tword\torth\tsense_id\tgloss\texample\tindices_target_token\tdate\tperiod"
    path = write(
        "axolotl.dev.fi.tsv",
        f"{names}\n"
        "d1\thiiri\thijri,\th_1\teläin\tSuuri hijri, juoxi\t6:12\t1700\tnew\n"
        "d2\tmaan-laki\tmaan- ... laki\tm_1\tsääntö\tmaan- ja meren laki\t0:5;15:19\t1700\tnew\n"
        "d3\thiiri\thijri\th_1\teläin\tIso hijri ja hiiri\t\t1700\tnew\n"
        "d4\thiiri\thijri\th_2\tlaite\t\t\t1700\tnew\n"
        'd5\thiiri\thijri\th_2\tlaite\t"[""Uusi""] hijri"\t9:14\t1700\tnew\n'
        "d6\thiiri\thijri\t\t\tUusi hiiri\t5:10\t1700\tnew\n",
    )
    dictionary = read_dictionary(path, "xx")
    hiiri, laki = dictionary.entries
    assert [(sense.sense, words(sense)) for sense in hiiri.senses] == [("h_1", ["hijri,", "hijri"]), ("h_2", ["hijri"])]
    assert words(laki.senses[0]) == ["maan-"]
    assert dictionary.tally.skipped == {"rows without a sense": 1}


TEXT = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"), exclude_characters="\u00ad\ufb00\ufb01\ufb02"),
    max_size=30,
)


@given(
    st.lists(st.tuples(TEXT.filter(str.strip), TEXT, TEXT.filter(str.strip), TEXT, TEXT, TEXT, TEXT), min_size=1),
    st.sampled_from(["csv", "tsv", "jsonl"]),
)
def test_table_that_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, ...]], kind: str
) -> None:
    path = tmp_path_factory.mktemp("tables") / f"table.{kind}"
    columns = ("lemma", "pos", "sense", "gloss", "example", "start", "end")
    records = []
    for lemma, pos, sense, gloss, before, word, after in rows:
        target = f"x{word.strip()}x"
        values = (lemma, pos, sense, gloss, before + target + after, len(before), len(before + target))
        records.append(dict(zip(columns, values, strict=True)))
    with path.open("w", encoding="utf-8", newline="") as file:
        if kind == "jsonl":
            file.writelines(json.dumps(record) + "\n" for record in records)
        else:
            table = csv.DictWriter(file, columns, dialect="excel-tab" if kind == "tsv" else "excel")
            table.writeheader()
            table.writerows(records)
    dictionary = read_dictionary(path)
    assert dictionary.n_usages == dictionary.records == len(rows)
    expected: dict[tuple[str, str], list[str]] = {}
    for lemma, _, sense, _, _, word, _ in rows:
        names = (unicodedata.normalize("NFC", " ".join(name.split())) for name in (lemma, sense))
        first, second = names
        expected.setdefault((first, second), []).append(unicodedata.normalize("NFC", f"x{word.strip()}x"))
    found: dict[tuple[str, str], list[str]] = {}
    for entry in dictionary.entries:
        for each in entry.senses:
            found.setdefault((entry.lemma, each.sense), []).extend(words(each))
            assert all(unicodedata.is_normalized("NFC", usage.sentence) for usage in each.usages)
    # A mark at the edge of the word belongs to the letter before it, so that the span may be longer.
    assert found.keys() == expected.keys()
    for key, spans in found.items():
        assert len(spans) == len(expected[key])
        for span in spans:
            assert any(span.startswith(target[:-1]) for target in expected[key])


def test_offsets_stay_valid_where_text_is_brought_into_normal_form(write: Write) -> None:
    sentence = "Das Cafe\u0301 von Rene\u0301 ist o\ufb00en."
    start = sentence.index("Rene")
    rows = [
        {"lemma": "René", "sense": "1", "example": sentence, "start": start, "end": start + 5},
        {"lemma": "René", "sense": "1", "example": sentence, "start": start, "end": start + 4},  # before the mark
        {
            "lemma": "offen",
            "sense": "1",
            "example": sentence,
            "start": sentence.index("o\ufb00"),
            "end": len(sentence) - 1,
        },
    ]
    dictionary = read_dictionary(write("table.jsonl", rows))
    assert words(dictionary.entries[0].senses[0]) == ["René", "René"]
    assert words(dictionary.entries[1].senses[0]) == ["offen"]
    labelled = [{"sentence": sentence, "words": [[start, start + 5, "René", "PROPN", "1"]]}]
    usage = read_dictionary(write("labels.jsonl", labelled)).entries[0].senses[0].usages[0]
    assert usage == SenseUsage("Das Café von René ist offen.", 13, 17)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            '{"lemma": "a", "sense": "1", "example": "a b", "start": 0, "end": 9}',
            "start 0 and end 9 must mark the word",
        ),
        ('{"lemma": "a", "sense": "1", "example": "a b", "start": 1, "end": 2}', "must mark the word"),
        ('{"lemma": "a", "sense": "1", "example": "a b", "start": -1, "end": 1}', "start is -1; it must be a whole"),
        ('{"lemma": "a", "sense": "1", "example": "a b", "start": NaN, "end": 1}', "start is nan; it must be a whole"),
        ('{"lemma": "a", "sense": "1", "example": "a b", "start": 0, "end": Infinity}', "end is inf; it must be"),
        ('{"lemma": "a", "sense": "1", "example": "a b", "start": true, "end": 1}', "start is True; it must be"),
        ('{"lemma": "a", "sense": "1", "example": "a b", "start": [0], "end": 1}', r"start is \[0\]; it must be"),
        ('{"lemma": "a", "sense": "1", "example": "a b", "start": 0, "end": null}', "end is empty; give both"),
        ('{"lemma": "a", "sense": "1", "example": "a b", "start": 0}', "start and end must both be there"),
        ('{"lemma": "a", "sense": "1", "example": 3}', "example is 3; it must be text"),
        ('{"lemma": "a", "sense": NaN, "example": "a"}', "sense is nan; it must be text"),
        ('{"lemma": "a", "sense": {}, "example": "a"}', r"sense is {}; it must be text"),
        ('{"lemma": "", "sense": "1", "example": "a"}', "the lemma is empty"),
        ('{"lemma": null, "sense": "1", "example": "a"}', "the lemma is empty"),
        ('{"lemma": "a", "word": "a", "sense": "1", "example": "a"}', "'lemma', 'word' are the same"),
        ('{"lemma": "\\ud800", "sense": "1", "example": "a"}', "not valid Unicode"),
        ('{"lemma": "a", "sense": "1", "gloss": "\\udfff"}', "not valid Unicode"),
        ('{"lemma": "a", "sense": "1", "gloss": "g", "language": "de; rm"}', "it must be an ISO code"),
        ('{"lemma": "a", "sense": "1", "example": "a", "indices_target_token": "0-1"}', "it must be ranges"),
        ('{"lemma": "a", "sense": "1", "example": "a", "indices_target_token": "0:1;x"}', "it must be ranges"),
        ('{"lemma": "a", "sense": "1", "example": "a", "indices_target_token": "0:9"}', "must mark the word"),
        ('{"lemma": "a", "example": "a"}', "no column 'sense'; a table has the columns lemma and sense"),
        ('{"lemma": "a", "sense": "1"}', "no column 'example'"),
        ('{"sentence": "a", "words": []}', "no column 'lemma'"),
        ("[1, 2]", r"\[1, 2\] must be a JSON object"),
        ("[" * 100_000, "not JSON"),
        ("9" * 5_000, "not JSON"),
        ("{", "not JSON"),
        ('{"lemma": "a", "sense": "1", "example": "' + "a " * 10_001 + '"}', "it must have at most 20,000"),
        ('{"lemma": "' + "a" * 1_001 + '", "sense": "1", "example": "a"}', "it must have at most 1,000"),
        (
            '{"lemma": "a", "sense": "1", "example": "e' + "\\u0301\\u0323" * 50 + '", "start": 50, "end": 51}',
            "inside a char",
        ),
    ],
)
def test_damaged_row_is_refused_with_its_line(write: Write, row: str, message: str) -> None:
    good = '{"lemma": "cat", "sense": "1", "gloss": "an animal"}\n'
    path = write("table.jsonl", f"{good}\n{row}\n{good}")
    with pytest.raises(UserError, match=rf"table\.jsonl', line 3: .*{message}") as caught:
        read_dictionary(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500
    dictionary = read_dictionary(path, max_damaged=1)
    assert dictionary.tally.skipped == {"damaged lines": 1}
    assert dictionary.entries == [Entry("cat", "", "en", [Sense("1", "an animal")])]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.tsv", "lemma\tsense\tgloss\na\t1\n", "line 2: 2 fields instead of 3"),
        ("a.csv", 'lemma,sense,gloss\na,1,"open\n', r"line 2: not valid csv"),
        ("a.csv", '"lemma,sense,gloss\na,1,b\n', r"line 2: not valid csv"),
        ("a.csv", "lemma,lemma,sense,gloss\na,a,1,b\n", "line 1: 2 columns 'lemma'"),
        ("a.csv", "lemma,sense\na,1\n", "line 2: no column 'example'"),
        ("a.csv", "lemma,sense,gloss\n", "is empty"),
        ("a.csv", "", "is empty"),
        ("a.jsonl", "\n\n", "is empty"),
        ("a.txt", "lemma\n", "has no known format"),
        ("a.parquet", "x", "has no known format"),
        ("a.json", "[]", "has no known format"),
        ("a.tsv", "lemma\0sense\n", "binary data"),
    ],
)
def test_damaged_table_is_refused(write: Write, name: str, text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_dictionary(write(name, text))


def test_bytes_that_are_not_utf8_are_refused_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    path.write_bytes(b"lemma\tsense\tgloss\na\t1\tb\n\xe4\t1\tb\n")
    with pytest.raises(UserError, match="is not UTF-8 at line 3"):
        read_dictionary(path)
    assert [entry.lemma for entry in read_dictionary(path, encoding="latin-1").entries] == ["a", "ä"]


def test_source_that_is_no_path_or_is_missing_is_refused(tmp_path: Path) -> None:
    for source in (None, 3, ["a.tsv"]):
        with pytest.raises(UserError, match="a dictionary is a WordNet folder"):
            read_dictionary(source)  # type: ignore[arg-type]
    for name in ("missing.tsv", "\0", "*", "-"):
        with pytest.raises(UserError, match="no such file or folder"):
            read_dictionary(str(tmp_path / name))
    with pytest.raises(UserError, match="language must be"):
        read_dictionary(tmp_path, "English")
    with pytest.raises(UserError, match="max_damaged"):
        read_dictionary(tmp_path, max_damaged=-1)


def test_language_can_be_detected(write: Write) -> None:
    text = "Die Maus lief über den Hügel, und die Katze lief ihr nach, bis sie das Haus sah."
    rows = [
        {"lemma": "Maus", "sense": "1", "example": text},
        {"lemma": "mouse", "sense": "1", "example": "A mouse.", "language": "en"},
    ]
    dictionary = read_dictionary(write("table.jsonl", rows), "auto")
    assert [entry.language for entry in dictionary.entries] == ["de", "en"]
    unknown = read_dictionary(write("short.jsonl", [{"lemma": "x", "sense": "1", "example": "x y"}]), "auto")
    assert [entry.language for entry in unknown.entries] == ["unknown"]
    assert unknown.n_usages == 1


# ------------------------------------------------------------------------------------------------- labelled sentences


def test_labelled_sentences_have_usages_without_glosses(write: Write) -> None:
    records = [
        {"sentence": "A bank on a bank.", "words": [[2, 6, "bank", "NOUN", "b1"], [12, 16, "bank", "NOUN", "b2"]]},
        {"sentence": "Nothing here.", "words": [], "doc": "x"},
        {"sentence": "They bank here.", "words": [[5, 9, "bank", "VERB", "b3"]]},
    ]
    dictionary = read_dictionary(write("labels.jsonl", records))
    assert dictionary.entries == [
        Entry(
            "bank",
            "NOUN",
            "en",
            [
                Sense("b1", None, [SenseUsage("A bank on a bank.", 2, 6)]),
                Sense("b2", None, [SenseUsage("A bank on a bank.", 12, 16)]),
            ],
        ),
        Entry("bank", "VERB", "en", [Sense("b3", None, [SenseUsage("They bank here.", 5, 9)])]),
    ]
    assert dictionary.tally.skipped == {"sentences without labelled words": 1}
    assert dictionary.records == 3


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ('{"sentence": "a b"}', "no 'sentence' or no 'words'"),
        ('{"sentence": "a b", "words": {}}', "words is {}; it must be a list"),
        ('{"sentence": null, "words": [[0, 1, "a", "NOUN", "1"]]}', "word 1: start 0 and end 1 must mark"),
        ('{"sentence": 3, "words": []}', "sentence is 3; it must be text"),
        (
            '{"sentence": "a b", "words": [[0, 1, "a", "NOUN", "1"], [2, 4, "b", "NOUN", "1"]]}',
            "word 2: start 2 and end 4",
        ),
        ('{"sentence": "a b", "words": [[1, 0, "a", "NOUN", "1"]]}', "word 1: start 1 and end 0 must mark"),
        ('{"sentence": "a b", "words": [[-2, 1, "a", "NOUN", "1"]]}', "word 1: start -2 and end 1 must mark"),
        ('{"sentence": "a b", "words": [[0, 1.0, "a", "NOUN", "1"]]}', "must be whole numbers"),
        ('{"sentence": "a b", "words": [[NaN, 1, "a", "NOUN", "1"]]}', "must be whole numbers"),
        ('{"sentence": "a b", "words": [[false, 1, "a", "NOUN", "1"]]}', "must be whole numbers"),
        ('{"sentence": "a b", "words": [[0, 1, "a", "NOUN"]]}', "must be a list"),
        ('{"sentence": "a b", "words": ["abcde"]}', "must be a list"),
        ('{"sentence": "a b", "words": [[0, 1, "", "NOUN", "1"]]}', "must not be empty"),
        ('{"sentence": "a b", "words": [[0, 1, "a", "NOUN", null]]}', "must not be empty"),
        ('{"sentence": "a b", "words": [[0, 1, "a", 1.5, "1"]]}', "pos is 1.5; it must be text"),
        ('{"sentence": "\\ud800", "words": []}', "not valid Unicode"),
    ],
)
def test_damaged_sentence_is_refused_with_its_line(write: Write, record: str, message: str) -> None:
    good = '{"sentence": "A cat.", "words": [[2, 5, "cat", "NOUN", "1"]]}\n'
    path = write("labels.jsonl", good + record + "\n" + good)
    with pytest.raises(UserError, match=rf"labels\.jsonl', line 2.*[:,] .*{message}"):
        read_dictionary(path)
    dictionary = read_dictionary(path, max_damaged=1)
    assert (dictionary.n_usages, dictionary.n_senses) == (2, 1)  # nothing of the damaged line is used


def test_first_line_may_be_damaged_too(write: Write) -> None:
    path = write("labels.jsonl", '{\n{"sentence": "A cat.", "words": [[2, 5, "cat", "NOUN", "1"]]}\n{\n')
    with pytest.raises(UserError, match="line 3"):
        read_dictionary(path, max_damaged=1)
    assert read_dictionary(path, max_damaged=2).n_usages == 1


# ------------------------------------------------------------------------------------------------- target words


@pytest.mark.parametrize(
    ("lemma", "pos", "sentence", "found"),
    [
        ("bus stop", "NOUN", "Both bus stops were closed", "bus stops"),
        ("take part", "VERB", "She TOOK PART in it", "TOOK PART"),
        ("look", "", "overlook, looked and look", "looked"),
        ("New York", "NOUN", "in New Yorkshire and New York", "New York"),
        ("'hood", "NOUN", "round the 'hood", "hood"),
        ("well-known", "ADJ", "a well\u2010known man", "well\u2010known"),
        ("东西", "NOUN", "这个东西很好", "东西"),
        ("...", "", "and so on ...", None),
        ("x" * 300, "", "x" * 300, None),
    ],
)
def test_word_is_found_in_its_forms(lemma: str, pos: str, sentence: str, found: str | None) -> None:
    pytest.importorskip("simplemma")
    forms = WordForms("en")
    forms.load([lemma])
    ((span,),) = find_in_examples([sentence], [[(lemma, pos, ())]], forms)
    assert (None if span is None else sentence[slice(*span)]) == found


def test_many_sentences_are_searched_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexshift.corpus.example_targets.BLOCK", 20)
    forms = WordForms("unknown")
    assert not forms.has_lemmas
    sentences = [f"{'é' * n} word{n} here" for n in range(30)]
    wanted = [[(f"word{n}", "", ()), ("here", "", ()), ("there", "", ())] for n in range(30)]
    found = find_in_examples(sentences, wanted, forms)
    assert found == [[(n + 1, n + 6 + (n > 9)), (n + 7 + (n > 9), n + 11 + (n > 9)), None] for n in range(30)]


def test_language_without_lemmas_is_named_where_words_are_not_found(write: Write) -> None:
    rows = [{"lemma": "hiiri", "sense": "1", "example": "Kaksi hiirtä", "language": "xx"}]
    dictionary = read_dictionary(write("table.jsonl", rows))
    assert dictionary.tally.skipped == {"examples in which the word was not found (no lemmas for the language xx)": 1}


# ------------------------------------------------------------------------------------------------- held-out sentences


def test_sentences_are_held_out_by_their_letters_and_digits() -> None:
    assert normalise_sentence("The Straße, No. 1_2!") == "thestrasseno12"
    assert sentence_hash("A b.") == sentence_hash("a  B")
    assert sentence_hash("A b.") != sentence_hash("A c.")
    assert sentence_hash("A b.") == 0x0E52B5F187DE1088  # b2sum --length 64 of "ab"


def test_dictionary_without_some_sentences_keeps_its_glosses(write: Write) -> None:
    rows = [
        {"lemma": "bank", "sense": "1", "gloss": "a slope", "example": "The bank was steep."},
        {"lemma": "bank", "sense": "2", "gloss": "", "example": "The bank was rich."},
        {"lemma": "bank", "sense": "2", "gloss": "", "example": "The bank was closed."},
        {"lemma": "steep", "sense": "3", "gloss": "", "example": "The bank was steep."},
    ]
    dictionary = read_dictionary(write("table.jsonl", rows))
    rest = dictionary.without({sentence_hash("the bank was STEEP"), sentence_hash("The bank was rich")})
    assert rest.entries == [
        Entry("bank", "", "en", [Sense("1", "a slope"), Sense("2", None, [SenseUsage("The bank was closed.", 4, 8)])])
    ]
    assert rest.tally.skipped == {"usages in sentences that are held out": 3}
    assert (dictionary.n_usages, dictionary.tally.skipped) == (4, {})  # unchanged
    assert dictionary.without(set()).entries == dictionary.entries


# ------------------------------------------------------------------------------------------------- real data


@pytest.mark.slow
def test_noad_is_read_completely(data: Path) -> None:
    dictionary = read_dictionary(data / "senses" / "noad.jsonl.gz")
    assert dictionary.n_usages == 248_546
    assert sum(len(entry.senses) > 1 for entry in dictionary.entries) == 2_686
    assert not dictionary.tally.skipped


@pytest.mark.slow
@pytest.mark.parametrize(("language", "records", "usages"), [("fi", 6_554, 6_554), ("ru", 2_026, 1_804)])
def test_axolotl_is_read_completely(data: Path, language: str, records: int, usages: int) -> None:
    pytest.importorskip("simplemma")
    path = data / "benchmark" / "axolotl24" / f"axolotl.dev.{language}.tsv"
    dictionary = read_dictionary(path, language)
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()[1:]]
    assert (dictionary.records, dictionary.n_usages) == (len(rows), usages) == (records, usages)
    not_found = dictionary.tally.skipped["examples in which the word was not found"]
    assert dictionary.n_usages + not_found == sum(bool(row[5].strip()) for row in rows)


@pytest.mark.slow
def test_offsets_of_axolotl_mark_the_word_as_it_is_written(data: Path) -> None:
    path = data / "benchmark" / "axolotl24" / "axolotl.dev.fi.tsv"
    rows = [line.split("\t") for line in path.read_text("utf-8").splitlines()[1:]]
    found = [words(sense) for entry in read_dictionary(path, "fi").entries for sense in entry.senses]
    written = Counter(unicodedata.normalize("NFC", row[2].split(" ... ")[0]) for row in rows)
    assert Counter(word for sense in found for word in sense) == written
