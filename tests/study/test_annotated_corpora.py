"""Test studies of files with lemmas and parts of speech: the same sentences give the same scores in every format."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from lexshift import Result, compare, demo_corpora, discover, embed, load, trace
from lexshift.demo import ExampleEncoder
from lexshift.errors import UserError

FAST: dict[str, Any] = {"model": ExampleEncoder(), "permutations": 99, "resamples": 5, "repeats": 2, "monitor": False}
WORDS = ["mouse", "cloud", "bread"]
TOKEN = re.compile(r"\w+|[^\w\s]")


def tokens(sentence: str) -> list[tuple[str, bool]]:
    """Return the tokens of a sentence, and whether a space follows."""
    found = list(TOKEN.finditer(sentence))
    return [(match[0], sentence[match.end() : match.end() + 1] == " ") for match in found]


def tag(form: str) -> str:
    return "NOUN" if form.lower() in WORDS else "PUNCT" if not form.isalnum() else "X"


def lemma(form: str) -> str:
    """Return a lemma that no dictionary has, except for some words."""
    return form.lower() if form.lower() in WORDS else form.lower() + "x"


def write_vertical(path: Path, sentences: list[str]) -> Path:
    lines = ['<text id="demo">']
    for sentence in sentences:
        lines.append("<s>")
        for form, has_space in tokens(sentence):
            lines.append(f"{form.replace('&', '&amp;')}\t{tag(form)}\t{lemma(form)}")
            lines += [] if has_space else ["<g/>"]
        lines.append("</s>")
    path.write_text("\n".join([*lines, "</text>"]) + "\n", "utf-8")
    return path


def write_conllu(path: Path, sentences: list[str]) -> Path:
    lines = ["# newdoc id = demo"]
    for sentence in sentences:
        lines.append(f"# text = {sentence}")
        for number, (form, has_space) in enumerate(tokens(sentence), 1):
            fields = [str(number), form, lemma(form), tag(form), *"_____", "_" if has_space else "SpaceAfter=No"]
            lines.append("\t".join(fields))
        lines.append("")
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.fixture
def corpora(tmp_path: Path) -> dict[str, list[Path]]:
    """Return the demo corpora as text, as verticalised corpora and as CoNLL-U."""
    found: dict[str, list[Path]] = {"text": [], "vertical": [], "conllu": []}
    for name, source in zip(("old", "new"), demo_corpora(), strict=True):
        sentences = [" ".join(line.split()) for line in source.read_text("utf-8").splitlines()]
        sentences = [line for line in sentences if " " not in TOKEN.sub("", line).replace(" ", "")]
        text = tmp_path / f"{name}.txt"
        text.write_text("\n".join(sentences) + "\n", "utf-8")
        found["text"].append(text)
        found["vertical"].append(write_vertical(tmp_path / f"{name}.vert", sentences))
        found["conllu"].append(write_conllu(tmp_path / f"{name}.conllu", sentences))
    return found


def scores(result: Result) -> list[dict[str, Any]]:
    columns = ["word", "n_old", "n_new", "score", "p", "verdict"]
    return [dict(row) for row in result.table[columns].to_dict("records")]


@pytest.mark.parametrize("kind", ["vertical", "conllu"])
def test_annotated_files_and_the_same_text_have_identical_scores(corpora: dict[str, list[Path]], kind: str) -> None:
    options = {**FAST, "control": "none", "max_per_word": 0, "language": "en"}
    (old, new), (old_file, new_file) = corpora["text"], corpora[kind]
    plain = compare(old, new, words=WORDS, **options)
    assert scores(compare(old_file, new_file, words=WORDS, **options)) == scores(plain)
    by_lemma = compare(old_file, new_file, words=WORDS, match="lemma", **options)
    assert scores(by_lemma) == scores(plain)
    tagged = compare(old_file, new_file, words=[f"{word}/NOUN" for word in WORDS], match="lemma", **options)
    numbers = ["n_old", "n_new", "distance"]  # those that do not depend on random numbers, which are drawn for a name
    found = tagged.table.set_index("word")[numbers].rename(lambda word: word.removesuffix("/NOUN"))
    assert found.to_dict("index") == plain.table.set_index("word")[numbers].to_dict("index")


def test_lemmas_of_files_need_no_dictionary(corpora: dict[str, list[Path]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "simplemma.strategies", None)
    options = {**FAST, "match": "lemma", "language": "xx", "min_count": 5}
    result = compare(*corpora["vertical"], control="auto", top_words=20, **options)
    assert result.run["settings"]["match"] == "lemma"
    assert all(word in WORDS or word.endswith("x") for word in result.run["words"])
    assert all(forms == [word] for word, forms in result.run["forms"].items())
    with pytest.raises(UserError, match="matching by lemma needs simplemma"):
        compare(corpora["vertical"][0], corpora["text"][1], WORDS, **options)


def test_discover_counts_the_lemmas_of_files_in_parts(corpora: dict[str, list[Path]], tmp_path: Path) -> None:
    options = {**FAST, "match": "lemma", "min_count": 20, "max_per_word": 30, "language": "en"}
    found = discover(*corpora["conllu"], out=tmp_path / "out", **options)
    assert {"mouse", "cloud"} <= set(found.run["words"])
    assert all(word in WORDS or word.endswith("x") for word in found.run["words"])


def test_a_dated_vertical_file_is_traced(tmp_path: Path) -> None:
    texts = [
        f"<text year='{year}'>\n" + f"<s>\nThe\tDT\tthe\nmice\tNN\tmouse\nran{n}\tV\trun\n</s>\n" * 1 + "</text>\n"
        for year in (1950, 1960, 1970)
        for n in range(12)
    ]
    path = tmp_path / "dated.vert"
    path.write_text("".join(texts), "utf-8")
    result = trace(path, words=["mouse/NN"], by="decade", match="lemma", control="none", **FAST)
    assert result.run["words"] == ["mouse/NN"]
    assert [corpus["key"] for corpus in result.run["corpora"]] == ["1950s", "1960s", "1970s"]


def test_words_with_tags_are_saved_and_loaded(corpora: dict[str, list[Path]], tmp_path: Path) -> None:
    out = tmp_path / "out"
    old, new = corpora["vertical"]
    compare(old, new, words=["mouse/NOUN", "bread"], out=out, control="none", language="en", **FAST)
    result = load(out)
    assert isinstance(result, Result)
    assert sorted(result.scores.words) == ["bread", "mouse/NOUN"]
    assert "mouse/NOUN" in (out / "scores.csv").read_text("utf-8")
    assert json.loads((out / "run.json").read_text("utf-8"))["forms"] == {"mouse/NOUN": ["mouse"], "bread": ["bread"]}
    assert (out / "report.html").exists()


def test_a_store_is_extended_by_words_with_tags(corpora: dict[str, list[Path]], tmp_path: Path) -> None:
    options: dict[str, Any] = {"model": ExampleEncoder(), "out": tmp_path / "store", "match": "lemma", "language": "en"}
    embed(*corpora["vertical"], words=["mouse"], **options)
    both = embed(*corpora["vertical"], words=["mouse", "cloud/NOUN"], **options)
    assert sorted(both.words) == ["cloud/NOUN", "mouse"]


def test_an_absent_part_of_speech_is_reported_with_those_of_the_corpora(corpora: dict[str, list[Path]]) -> None:
    for kind in ("vertical", "conllu"):
        old, new = corpora[kind]
        with pytest.raises(UserError) as caught:
            compare(old, new, words=["mouse/NUON"], language="en", **FAST)
        assert str(caught.value) == (
            "none of the words occurs in the corpora (match: word): 'mouse/NUON'; check the spelling, and the part of "
            "speech: the most frequent ones in the corpora are 'X', 'PUNCT', 'NOUN' (if these are something else, name "
            "the columns of .vert files with --columns)"
        )
    old, new = corpora["vertical"]
    with pytest.raises(UserError, match=r"check the spelling$"):
        compare(old, new, words=["mouses"], language="en", **FAST)


def test_columns_that_were_named_wrongly_are_reported(corpora: dict[str, list[Path]]) -> None:
    old, new = corpora["vertical"]
    with pytest.raises(UserError, match=r"most frequent ones in the corpora are ('\S+', ){9}'\S+' \(") as caught:
        compare(old, new, words=["mouse/NOUN"], columns="word,lemma,tag", **FAST, match="lemma")
    assert "'thex'" in str(caught.value)
    options: dict[str, Any] = {"words": ["cloud/NOUN", "mouse/NUON"], "model": ExampleEncoder()}
    with pytest.raises(UserError) as caught:
        embed(old, new, **options)
    assert str(caught.value) == (
        "'mouse/NUON' never occurs in the corpora (match: word): check the spelling, and the part of speech: the most "
        "frequent ones in the corpora are 'X', 'PUNCT', 'NOUN' (if these are something else, name the columns of .vert "
        "files with --columns), or skip missing words (--missing skip)"
    )
