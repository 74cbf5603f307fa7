"""Test occurrences by the lemmas and parts of speech of files, against a search in lists of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from annotated import tokens_of
from hypothesis import given
from hypothesis import strategies as st

from lexshift.corpus import find_occurrences, read_targets
from lexshift.corpus import passages as passages_module
from lexshift.corpus.annotation import Annotation, annotate_texts, is_tag
from lexshift.corpus.counting import count_words
from lexshift.corpus.lemmas import dictionary_language, find_annotation
from lexshift.corpus.occurrences import OccurrenceCollector
from lexshift.corpus.passages import Block
from lexshift.corpus.periods import find_in_periods
from lexshift.corpus.records import Record, Token
from lexshift.corpus.resolution import UNLEMMATISED, UNTAGGED, BlockResolver
from lexshift.corpus.scanner import scan_block
from lexshift.corpus.sources import Reading, Source, Tally
from lexshift.corpus.targets import Targets, split_tag
from lexshift.corpus.vocabulary import select_vocabulary
from lexshift.corpus.word_rule import rule
from lexshift.errors import UserError

WORDS = ["plane", "plane/NOUN", "plane/V*", "mouse", "cell phone", "鼠", "o'clock/ADV"]
LEMMAS = ["plane", "Plane", "mouse", "mouse|louse", "cell", "phone", "鼠", "mouse-trap", "o'clock", ""]
TAGS = ["NOUN", "noun-sg", "VERB", "VVZ", "ADV", "", "NOUNS"]


class Found(NamedTuple):
    """An occurrence: the word, the number of the sentence and the span."""

    word: str
    sentence: int
    start: int
    end: int


class Given(NamedTuple):
    """A token of a test."""

    form: str
    lemma: str
    tag: str
    is_glued: bool


TOKENS = st.builds(
    Given,
    st.sampled_from(["planes", "Mäuse", "cell", "phones", "鼠", ".", "o'clock"]),
    st.sampled_from(LEMMAS),
    st.sampled_from(TAGS),
    st.booleans(),
)
SENTENCES = st.lists(st.lists(TOKENS, min_size=1, max_size=6), min_size=1, max_size=5)


def annotate_records(records: Sequence[Record]) -> Annotation | None:
    return annotate_texts((record.text, record.tokens) for record in records)


def record(tokens: list[Given], row: int = 1) -> Record:
    """Return the record of a sentence."""
    text, spans = "", []
    for token in tokens:
        text += "" if not text or token.is_glued else " "
        spans.append(Token(len(text), len(text) + len(token.form), token.lemma, token.tag))
        text += token.form
    return Record(row, text, tokens=spans)


def search(sentences: list[list[Given]]) -> list[Found]:
    """Find the words among the lemmas of tokens; a target of two words is two lemmas in a row."""
    found = []
    for number, tokens in enumerate(sentences):
        spans = record(tokens).tokens or ()
        for word in WORDS:
            name, tag = split_tag(word)
            wanted, after = name.lower().split(), 0
            for i, token in enumerate(tokens):
                lemmas = [set((each.lemma or each.form).lower().split("|")) for each in tokens[i : i + len(wanted)]]
                same = len(lemmas) == len(wanted) and all(w in some for w, some in zip(wanted, lemmas, strict=True))
                if same and (tag is None or is_tag(token.tag, tag)) and i >= after:
                    found.append(Found(word, number, spans[i].start, spans[i + len(wanted) - 1].end))
                    after = i + len(wanted)
    return sorted(found)


def resolve(block: Block, targets: Targets) -> list[Found]:
    """Return the occurrences in a block."""
    by_lemma = targets.match == "lemma" and block.lemmas is not None
    hits, _ = scan_block(block.lemmas or b"", targets.lemmas) if by_lemma else scan_block(block.data, targets)
    lines = block.data.split(b"\n")
    found = []
    for target, line, line_start, line_end, start, end in BlockResolver(targets).resolve(block, hits, Tally()).tolist():
        assert block.data[line_start:line_end] == lines[line]
        a, b = (len(lines[line][: at - line_start].decode()) for at in (start, end))
        found.append(Found(targets.words[target], line, a, b))
    return sorted(found)


@given(SENTENCES)
def test_lemmas_and_tags_of_records_are_found(sentences: list[list[Given]]) -> None:
    records = [record(tokens) for tokens in sentences]
    annotation = annotate_records(records)
    block = Block("\n".join(each.text for each in records).encode(), "lines", annotation=annotation)
    if annotation is None or annotation.lemmas is None:
        assert not any(token.lemma for tokens in sentences for token in tokens)
        return
    assert resolve(block, read_targets(WORDS, "lemma", None)) == search(sentences)


@given(SENTENCES, st.data())
def test_lines_of_an_annotation_are_selected(sentences: list[list[Given]], data: st.DataObject) -> None:
    records = [record(tokens) for tokens in sentences]
    numbers = list(range(len(records)))
    chosen = data.draw(st.lists(st.sampled_from(numbers), min_size=1, unique=True).map(sorted))
    annotation = annotate_records(records)
    if annotation is None:
        return
    text = "\n".join(each.text for each in records).encode()
    part, whole = annotation.select_lines(chosen, text), annotate_records([records[i] for i in chosen])
    if whole is None or whole.lemmas is None or annotation.lemmas is None:
        return
    assert part.lemmas == whole.lemmas
    assert tokens_of(part) == tokens_of(whole)


@given(SENTENCES)
def test_tags_are_also_compared_without_lemmas(sentences: list[list[Given]]) -> None:
    words = ["planes", "planes/NOUN", "planes/V*"]
    records = [record([token._replace(lemma="", is_glued=False) for token in tokens]) for tokens in sentences]
    block = Block("\n".join(each.text for each in records).encode(), "lines", annotation=annotate_records(records))
    expected = [
        Found(word, number, token.start, token.end)
        for number, each in enumerate(records)
        for token in each.tokens or ()
        for word in words
        if each.text[token.start : token.end] == "planes"
        and (split_tag(word)[1] is None or is_tag(token.tag, split_tag(word)[1] or ""))
    ]
    assert resolve(block, read_targets(words)) == sorted(expected)


def test_text_outside_tokens_is_its_own_lemma() -> None:
    tokens = [Token(4, 8, "mouse", "NOUN"), Token(9, 12, "run", "VERB")]
    text = "The mice ran: the mouse hid."
    block = Block(text.encode(), "lines", annotation=annotate_records([Record(1, text, tokens=tokens)]))
    found = resolve(block, read_targets(["mouse", "the", "run", "hid"], "lemma", None))
    mice, runs, others = [(4, 8), (18, 23)], [(9, 12)], [(0, 3), (14, 17)]
    expected = [Found(word, 0, *at) for word, some in (("mouse", mice), ("run", runs), ("the", others)) for at in some]
    assert found == [Found("hid", 0, 24, 27), *expected]


OLD = "<text year='1850'>\n<s>\nThe\tDT\tthe\nplanes\tNNS\tplane\nplane\tVVP\tplane\n</s>\n</text>\n"
NEW = "<text year='1950'>\n<s>\nA\tDT\ta\nplane\tNN\tplane\nSaw\tNN\tsaw\nsaw\tVVD\tsee\n</s>\n</text>\n"


def vertical(tmp_path: Path, text: str = OLD + NEW) -> Path:
    path = tmp_path / "corpus.vert"
    path.write_text(text, "utf-8")
    return path


def spans(path: Path, words: list[str], match: str = "word", reading: Reading | None = None) -> list[tuple[str, str]]:
    """Return the words that are found, and the text of each occurrence."""
    targets = read_targets(words, match, None)
    rows = find_occurrences(path, targets, reading or Reading(language="en")).table.to_pylist()
    return [(words[row["target"]], row["sentence"][row["start"] : row["end"]]) for row in rows]


def test_lemmas_of_a_file_decide(tmp_path: Path) -> None:
    path = vertical(tmp_path)
    found = spans(path, ["see", "saw", "plane/NN*", "plane/NN"], "lemma")
    assert found == [
        ("see", "saw"),
        ("saw", "Saw"),
        *[("plane/NN*", form) for form in ("planes", "plane")],
        ("plane/NN", "plane"),
    ]
    assert spans(path, ["plane", "plane/VV*", "saw/NN"]) == [
        *[("plane", "plane")] * 2,
        ("plane/VV*", "plane"),
        ("saw/NN", "Saw"),
    ]


def test_words_of_a_token_of_several_words_are_found_in_it(tmp_path: Path) -> None:
    rest = "\t_" * 5
    lines = [
        f"1-2\tdu\t_\t_\t_{rest}",
        f"1\tde\tde\tADP\t_{rest}",
        f"2\tle\tle\tDET\t_{rest}",
        f"3\tpain\tpain\tNOUN\t_{rest}",
    ]
    path = tmp_path / "a.conllu"
    path.write_text("\n".join(lines) + "\n\n", "utf-8")
    assert spans(path, ["le", "de/ADP", "le/ADP", "pain"], "lemma") == [
        ("le", "du"),
        ("de/ADP", "du"),
        ("pain", "pain"),
    ]
    assert spans(path, ["du/DET", "du/NOUN"]) == [("du/DET", "du")]


def test_periods_divide_annotated_text(tmp_path: Path) -> None:
    found = find_in_periods(
        vertical(tmp_path), read_targets(["plane/NN*"], "lemma", None), "year", Reading(language="en")
    )
    assert {label: each.found.tolist() for label, each in found.items()} == {"1850": [1], "1950": [1]}
    assert found["1950"].table["sentence"].to_pylist() == ["A plane Saw saw"]


def test_tags_need_a_corpus_with_tags(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A plane.\n", "utf-8")
    with pytest.raises(
        UserError, match=r"'plane/NOUN' has a part of speech, but the corpus .*a.txt' has none.*\.conllu"
    ):
        find_occurrences(tmp_path / "a.txt", read_targets("plane/NOUN"))
    with pytest.raises(UserError, match="has none"):
        find_occurrences(vertical(tmp_path, "<s>\nA\nplane\n</s>\n"), read_targets("plane/NOUN"))


def test_text_without_tags_or_lemmas_in_a_file_with_them_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passages_module, "BLOCK", 1)
    rows = [Record(1, "A plane", tokens=[Token(2, 7, "plane", "NN")]), Record(2, "Planes"), Record(3, "plane")]
    blocks = list(passages_module._table_blocks(rows, Source("a.xml", "a.xml", "xml"), Reading(split="lines"), Tally()))
    assert [block.annotation is not None for block in blocks] == [True, False, False]
    for words, match, reason, found in ((["plane/NN"], "word", UNTAGGED, 1), (["plane"], "lemma", UNLEMMATISED, 2)):
        targets, tally = read_targets(words, match, None), Tally()
        collector = OccurrenceCollector(targets, None, 0)
        for block in blocks:
            lemmas = block.lemmas if match == "lemma" else None
            hits = scan_block(block.data, targets) if lemmas is None else scan_block(lemmas, targets.lemmas)
            collector.add(block, hits[0], "en", tally)
        assert collector.found.tolist() == [found]
        assert tally.skipped[reason] == (1 if match == "word" else 2)


def test_a_dictionary_is_needed_unless_every_file_has_lemmas(tmp_path: Path) -> None:
    path, reading = vertical(tmp_path), Reading(language="xx")
    assert find_annotation(path, reading) == (True, True)
    assert dictionary_language({"old": path}, {"old": reading}, "lemma") is None
    assert dictionary_language({"old": path}, {"old": reading}, "word") == "xx"
    assert dictionary_language({"old": path}, {"old": Reading(language="de", columns="word,tag")}, "lemma") == "de"
    (tmp_path / "b.txt").write_text("Mice.\n", "utf-8")
    assert dictionary_language({"old": tmp_path}, {"old": reading}, "lemma") == "xx"


def test_lemmas_of_files_are_counted_and_not_looked_up_again(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("He saw planes.\n", "utf-8")
    vertical(tmp_path)
    counts = count_words(tmp_path, rule("lemma"), by_lemma=True)
    assert {word: counts.counts[word] for word in ("plane", "planes", "saw", "see")} == {
        "plane": 3,
        "planes": 1,
        "saw": 2,
        "see": 1,
    }
    found = select_vocabulary([counts], 1, lemmas={"saw": "see", "planes": "plane"}, language=None)
    assert {entry.word: entry.counts for entry in found.entries if entry.word in ("saw", "see", "plane")} == {
        "saw": (1,),
        "see": (2,),
        "plane": (4,),
    }


@given(st.lists(st.lists(TOKENS, min_size=1, max_size=5), min_size=1, max_size=5), st.booleans())
def test_a_file_gives_the_occurrences_of_its_tokens(sentences: list[list[Given]], is_conllu: bool) -> None:
    lines = []
    for tokens in sentences:
        lines += [] if is_conllu else ["<s>"]
        for number, (token, after) in enumerate(zip(tokens, [*tokens[1:], token_without_glue()], strict=True), 1):
            fields = [token.form, token.lemma or "_", token.tag or "_"]
            if is_conllu:
                misc = "SpaceAfter=No" if after.is_glued else "_"
                lines.append("\t".join([str(number), *fields, *"_____", misc]))
            else:
                lines.append("\t".join([fields[0], fields[2], fields[1]]))
                lines += ["<g/>"] if after.is_glued else []
        lines.append("" if is_conllu else "</s>")
    with TemporaryDirectory() as folder:
        path = Path(folder, "a.conllu" if is_conllu else "a.vert")
        path.write_text("\n".join(lines) + "\n", "utf-8")
        targets = read_targets(WORDS, "lemma", None)
        (block,) = passages_module.read_blocks(
            Source(str(path), path.name, "conllu" if is_conllu else "vertical"),
            Reading(),
            Tally(),
            True,
        )
        if block.annotation is not None:
            assert resolve(block, targets) == search(sentences)
    assert block.data.decode().split("\n") == [record(tokens).text for tokens in sentences]


def token_without_glue() -> Given:
    return Given("", "", "", False)
