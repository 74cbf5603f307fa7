"""Test target words from files, lists and mappings, their forms, and invalid targets."""

from __future__ import annotations

import os
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from lexshift.corpus import Reading, Targets, find_occurrences, read_targets
from lexshift.corpus.word_rule import fold, word_table
from lexshift.errors import UserError


def write_file(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def listed(words: Any, match: str = "word") -> dict[str, tuple[str, ...]]:
    return read_targets(words, match).forms


# ---------------------------------------------------------------------------------------- sources of targets


@pytest.mark.parametrize(
    ("content", "forms"),
    [
        ("mouse\nplane", {"mouse": ("mouse",), "plane": ("plane",)}),
        ("mouse\r\nplane\r\n", {"mouse": ("mouse",), "plane": ("plane",)}),
        ("\ufeffmouse\n\n  \nplane\n", {"mouse": ("mouse",), "plane": ("plane",)}),
        ("  cell   phone \n", {"cell phone": ("cell phone",)}),
        ("mouse\tmouse,mice\nplane\n", {"mouse": ("mouse", "mice"), "plane": ("plane",)}),
        ("mouse\t mouse , mice ,\n", {"mouse": ("mouse", "mice")}),
        ("mouse\t\n", {"mouse": ("mouse",)}),
        ("mouse\t,\n", {"mouse": ("mouse",)}),
        ("mouse\tmice\nmouse\tmouse,mice\n", {"mouse": ("mice", "mouse")}),
        ("mouse\tmice\nmouse \tmouses\n", {"mouse": ("mice", "mouses")}),
        ("Maus\tMaus,Mäuse\n", {"Maus": ("Maus", "Mäuse")}),
        ("e-mail\nC++\n", {"e-mail": ("e-mail",), "C++": ("C++",)}),
    ],
)
def test_file_has_one_word_per_line_and_its_forms_after_a_tab(
    tmp_path: Path, content: str, forms: dict[str, tuple[str, ...]]
) -> None:
    path = write_file(tmp_path / "words.txt", content)
    assert listed(path) == listed(str(path)) == forms


@pytest.mark.parametrize(
    ("words", "forms"),
    [
        ("mouse", {"mouse": ("mouse",)}),
        ("mouse, plane,cell  phone", {"mouse": ("mouse",), "plane": ("plane",), "cell phone": ("cell phone",)}),
        ("mouse,,mouse", {"mouse": ("mouse",)}),
        (["mouse", " mouse", "", "plane"], {"mouse": ("mouse",), "plane": ("plane",)}),
        (("mouse",), {"mouse": ("mouse",)}),
        (iter(["mouse"]), {"mouse": ("mouse",)}),
        ({"mouse": ["mouse", "mice", "mouse"]}, {"mouse": ("mouse", "mice")}),
        ({"mouse": "mice"}, {"mouse": ("mice",)}),
        ({"mouse": []}, {"mouse": ("mouse",)}),
    ],
)
def test_words_may_be_a_comma_separated_string_a_list_or_a_mapping(
    words: Any, forms: dict[str, tuple[str, ...]]
) -> None:
    assert listed(words) == forms
    assert read_targets(forms).words == list(forms)


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("St. Petersburg,mouse", ["St. Petersburg", "mouse"]),
        ("Amazon.com", ["Amazon.com"]),
        ("mouse,", ["mouse"]),
        ("node.js,U.S.", ["node.js", "U.S."]),
    ],
)
def test_word_list_may_contain_dots(words: str, names: list[str]) -> None:
    assert read_targets(words).words == names


def test_ambiguous_word_or_file_is_refused_with_how_to_write_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_file(tmp_path / "mouse", "cat\ndog\n")
    (tmp_path / "cloud").mkdir()
    with pytest.raises(UserError) as caught:
        read_targets("mouse")
    assert str(caught.value) == (
        f"'mouse' may be a word, but there is a file of this name in {tmp_path}: write "
        f"'./mouse' for the file, or 'mouse,' for the word"
    )
    assert read_targets("./mouse").words == read_targets(Path("mouse")).words == ["cat", "dog"]
    assert read_targets("mouse,").words == read_targets(["mouse"]).words == ["mouse"]
    assert read_targets("mouse,cloud").words == ["mouse", "cloud"]
    assert read_targets("cloud").words == ["cloud"]


@pytest.mark.parametrize("name", ["words.txt", "WORDS.TXT", "words.tsv", "words.csv", "my words.lst"])
def test_name_with_a_file_extension_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    write_file(tmp_path / name, "cat\n")
    assert read_targets(name).words == ["cat"]
    with pytest.raises(UserError, match="no such file of target words"):
        read_targets(f"other {name}")


def test_comma_separated_list_may_be_longer_than_a_file_name() -> None:
    words = [f"word{i}" for i in range(200)]
    assert read_targets(",".join(words)).words == words


# ------------------------------------------------------------------------------------------------ searched forms


def test_every_form_is_searched_by_its_first_word_in_normal_form() -> None:
    decomposed = unicodedata.normalize("NFD", "café")
    targets = read_targets({"mouse": ["mouse", "Mice"], "café": [decomposed], "phone": ["cell phone", "mouse"]})
    assert targets.match == "word"

    def found(first: str) -> list[tuple[int, bool]]:
        number = list(targets.first_words).index(fold(first, word_table()))
        return [(candidate.target, candidate.form is None) for candidate in list(targets.first_words.values())[number]]

    assert found("mouse") == [(0, True), (2, True)]
    assert found("MICE") == [(0, True)]
    assert found(unicodedata.normalize("NFC", "Café")) == [(1, True)]
    assert found("cell") == [(2, False)]
    assert len(targets.first_words) == 4


def test_letter_with_a_two_character_capital_is_searched_in_both_spellings() -> None:
    targets = read_targets(["ẖrd"])
    assert list(targets.first_words) == [fold("\u1e96rd", word_table()), fold("h\u0331rd", word_table())]
    assert len(read_targets(["ẖrd"], "cased").first_words) == 1


@pytest.mark.parametrize(
    ("form", "match", "text", "end"),
    [
        ("cell phone", "word", "cell phone", 10),
        ("cell phone", "word", "CELL \t Phone.", 12),
        ("cell phone", "word", "cell\u00a0phone", 10),
        ("cell phone", "word", "cell phones", None),
        ("cell phone", "word", "cell phone_", None),
        ("cell phone", "word", "cell phone\u0301", None),
        ("cell phone", "word", "cell phone\u05b0", None),  # a mark of another script
        ("मोबाइल फोन", "word", "मोबाइल फोन।", 10),
        ("मोबाइल फोन", "word", "मोबाइल फोनों", None),
        ("bir kız", "word", "Bir kız", 7),
        ("bir kız", "word", "bir kiz", None),  # a different letter, as in a single word
        ("cell phone", "word", "cell, phone", None),
        ("cell phone", "word", "cellphone", None),
        ("e-mail", "word", "E-Mail-list", 6),
        ("e-mail", "word", "e-mails", None),
        ("C++", "word", "c++11", 3),
        ("C++", "word", "C+", None),
        ("a.b", "word", "axb", None),
        ("cell phone", "token", "cell  phone x", 11),
        ("cell phone", "token", "cell phone.", None),
        ("cell phone", "token", "Cell phone", None),
        ("plane_nn fly_vb", "token", "plane_nn fly_vb", 15),
    ],
)
def test_multiword_form_is_searched_as_a_whole(form: str, match: str, text: str, end: int | None) -> None:
    targets = read_targets([form], match)
    ((candidate,),) = targets.first_words.values()
    assert candidate.form is not None
    assert targets.extent(candidate.form, text) == end


@pytest.mark.parametrize(
    ("forms", "match"),
    [
        (["cell phone", "Cell Phone", "CELL  PHONE"], "word"),
        (["e-mail", "E-mail", "E-Mail"], "word"),
        (["mouse", "Mouse", "MOUSE"], "word"),
        (["cell phone", "cell  phone"], "token"),
    ],
)
def test_forms_that_the_rule_treats_alike_are_one_form(forms: list[str], match: str) -> None:
    assert [len(candidates) for candidates in read_targets({"it": forms}, match).first_words.values()] == [1]


def test_tokens_may_start_with_any_character_and_are_case_sensitive() -> None:
    targets = read_targets(["plane_nn", "-", "'s", "C++", "Mouse", "mouse"], "token")
    assert len(targets.first_words) == 6
    assert all(candidate.form is None for candidates in targets.first_words.values() for candidate in candidates)


# ---------------------------------------------------------------------------------------------------- lemmas


def test_lemma_includes_all_its_forms() -> None:
    pytest.importorskip("simplemma")
    targets = read_targets(["mouse", "go"], "lemma")
    assert targets.match == "lemma"
    assert targets.forms["mouse"][0] == "mouse"
    assert {"mouse", "mice"} <= set(targets.forms["mouse"])
    assert {"go", "goes", "going", "went"} <= set(targets.forms["go"])
    assert not set(targets.forms["mouse"]) & set(targets.forms["go"])


def test_lemmas_follow_the_language_in_any_case() -> None:
    pytest.importorskip("simplemma")
    forms = read_targets({"Huis": ["woonhuis"]}, "lemma", "nl").forms["Huis"]
    assert forms[0] == "woonhuis"
    assert {"huis", "huizen", "huisje"} <= set(forms)


def test_lemma_with_a_form_that_is_not_one_word_can_be_searched() -> None:
    pytest.importorskip("simplemma")
    assert {"is", "was", "were"} <= set(read_targets(["be"], "lemma").forms["be"])  # includes the 'm of I'm


def test_language_without_lemmas_is_refused_with_advice() -> None:
    pytest.importorskip("simplemma")
    with pytest.raises(UserError, match="no lemmas for the language 'xx'; match by word and list the forms"):
        read_targets(["mouse"], "lemma", "xx")


def test_missing_lemma_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("simplemma", "simplemma.strategies"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UserError, match=r"needs simplemma: pip install 'lexshift\[lemma\]'"):
        read_targets(["mouse"], "lemma")


# --------------------------------------------------------------------------------------------- invalid targets


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; it must have one word per line"),
        (b"\n \n\t\n", "is empty; it must have one word per line"),
        (b"\xef\xbb\xbf", "is empty; it must have one word per line"),
        (b"mouse\nplane\nM\xe4use\n", "is not UTF-8 at line 3; save it as UTF-8"),
        ("\ufeffmouse".encode("utf-16-le"), "is not UTF-8 at line 1; save it as UTF-8"),
        (b"\x7fELF\0\0\x01mouse\n", "is binary data; give a text file with one word per line"),
    ],
)
def test_file_without_words_is_reported_by_name(tmp_path: Path, content: bytes, message: str) -> None:
    path = write_file(tmp_path / "words.txt", content)
    with pytest.raises(UserError, match=f"the file of target words '{path}' {message}"):
        read_targets(path)


@pytest.mark.parametrize("words", ["missing.txt", "folder/missing", Path("missing"), "."])
def test_missing_word_file_is_reported_with_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as caught:
        read_targets(words)
    assert f"no such file of target words: {os.fspath(words)!r} (looked from {tmp_path})" in str(caught.value)


def test_unreadable_word_file_is_reported_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_file(tmp_path / "words.txt", "mouse")

    def denied(*_: Any, **__: Any) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_text", denied)
    monkeypatch.setattr(Path, "read_bytes", denied)
    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(UserError, match=f"the file of target words '{path}' cannot be read: Permission denied"):
        read_targets(path)


@pytest.mark.parametrize("words", ["", " , ", [], ["", " "], {}, {" ": ["mouse"]}])
def test_empty_word_list_is_refused(words: Any) -> None:
    with pytest.raises(UserError):
        read_targets(words)


@pytest.mark.parametrize("words", [[1], [None], {"mouse": [1]}, {1: ["mouse"]}, [b"mouse"]])
def test_invalid_word_is_refused(words: Any) -> None:
    with pytest.raises(UserError, match="a target and its forms must be words; got"):
        read_targets(words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("caf\udce9", r"a target word is not valid UTF-8: 'caf\\udce9'"),
        (["mouse", "caf\udce9"], "a target word is not valid UTF-8"),
        ({"mouse": ["mouse", "mic\udce9"]}, "a target word is not valid UTF-8"),
        ("mouse\x1b[31m", r"a target word has the control character U\+001B"),
        ("mo\0use,cat", r"a target word has the control character U\+0000"),
        (
            ["cell " * 60 + "phone"],
            "'cell cell .* has a form of 305 characters; a form of several words may have at most 200",
        ),
    ],
)
def test_words_that_cannot_occur_in_text_are_refused_with_the_reason(words: Any, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_targets(words)


def test_control_character_in_a_file_is_reported_with_its_line(tmp_path: Path) -> None:
    path = write_file(tmp_path / "words.txt", "mouse\n\nca\x08t\n")
    with pytest.raises(UserError, match=r"line 3 of the file of target words '.*words.txt' has the control character"):
        read_targets(path)


def test_spellings_that_match_alike_are_separate_targets_with_the_same_occurrences(tmp_path: Path) -> None:
    path = write_file(tmp_path / "x.txt", "A mouse, the Mouse.\n")
    found = find_occurrences(path, read_targets(["mouse", "Mouse", "MOUSE"]), Reading(split="lines"))
    assert found.found.tolist() == [2, 2, 2]


def test_very_long_word_is_found(tmp_path: Path) -> None:
    word = "x" * 5_000
    path = write_file(tmp_path / "x.txt", f"a {word} b\n")
    assert find_occurrences(path, read_targets([word]), Reading(split="lines")).found.tolist() == [1]


@pytest.mark.parametrize("form", ["-", "++C", "'s", "🐁", "-mouse"])
def test_unmatchable_form_is_refused_with_a_rule_that_matches_it(form: str) -> None:
    with pytest.raises(UserError) as caught:
        read_targets({"it": ["its", form]})
    assert f"the target 'it' has the form {form!r}, which does not begin with a letter or digit" in str(caught.value)
    assert "--match token" in str(caught.value)


@pytest.mark.parametrize("match", ["words", "", None, "Word", 1])
def test_unknown_rule_is_refused_with_the_known_ones(match: Any) -> None:
    with pytest.raises(ValueError, match=f"match must be one of cased, lemma, token, word; got {match!r}"):
        read_targets(["mouse"], match)


def test_targets_are_equal_if_their_forms_and_rule_are() -> None:
    assert read_targets("mouse") == Targets({"mouse": ("mouse",)}) != read_targets("mouse", "token")


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("plane/NOUN", {"plane/NOUN": ("plane",)}),
        ("plane/NOUN,mouse", {"plane/NOUN": ("plane",), "mouse": ("mouse",)}),
        ("plane/NN*, cell phone/N", {"plane/NN*": ("plane",), "cell phone/N": ("cell phone",)}),
    ],
)
def test_a_list_may_have_parts_of_speech(text: str, forms: dict[str, tuple[str, ...]]) -> None:
    targets = read_targets(text)
    assert targets.forms == forms
    assert set(targets.tags) == {i for i, word in enumerate(forms) if "/" in word}


def test_a_slash_without_a_tag_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lists").mkdir()
    for name in ("words.txt", "WORDS.TXT", "words"):
        (tmp_path / "lists" / name).write_text("plane/NOUN\tplane,planes\nand/or\n", "utf-8")
        for text in (f"lists/{name}", f"./lists/{name}", str(tmp_path / "lists" / name)):
            assert read_targets(text).forms == {"plane/NOUN": ("plane", "planes"), "and/or": ("and/or",)}
    with pytest.raises(
        UserError, match=r"no such file of target words: 'plane/noun' .*capital letters, as in plane/NOUN"
    ):
        read_targets("plane/noun")
    (tmp_path / "lists" / "WORDS").write_text("plane\n", "utf-8")
    with pytest.raises(UserError, match="'lists/WORDS' may be a word, but there is a file of this name"):
        read_targets("lists/WORDS")
    assert read_targets("./lists/WORDS").words == ["plane"]


def test_tokens_have_no_tags() -> None:
    assert read_targets(["plane/NN"], "token").forms == {"plane/NN": ("plane/NN",)}
    assert not read_targets(["plane/NN"], "token").tags


def test_the_dictionary_adds_the_forms_of_a_word_with_a_tag() -> None:
    pytest.importorskip("simplemma")
    assert "mice" in read_targets(["mouse/NOUN"], "lemma").forms["mouse/NOUN"]
    assert read_targets({"mouse/NOUN": ["mouse"]}, "lemma", None).lemmas.forms == {"mouse/NOUN": ("mouse",)}
