"""Test the reader of the Liverpool FC release: judged words, their contexts, and dumps of the forum."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loaded_data import usage_rows

from lexshift.benchmark.datasets.dataset import TextSize
from lexshift.benchmark.datasets.liverpool import is_liverpool, load_liverpool
from lexshift.errors import UserError

JUDGED = "id,word,shift_index,subject1\n1,crew,0.091,NA\n2,Mata,0.5,change\n"
CONTEXTS = """**************

TARGET WORD: crew

*2011-13*
Now that my Columbus Crew keep signing, crew!
 the whole crew

*2017*
Crewless, crews and a crewed boat

**************

TARGET WORD: lemon

*2011-13*
a lemon
*2017*
two lemons

**************

TARGET WORD: Mata

*2011-13*
Nothing here
*2017*
mata MATA
"""
OLD, NEW = "LiverpoolFC_13.txt", "LiverpoolFC_17.txt"


def release(folder: Path, contexts: str | None = CONTEXTS, judged: str = JUDGED, **dumps: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "annotated_words.csv").write_text(judged, "utf-8")
    if contexts is not None:
        (folder / "contexts.txt").write_text(contexts, "utf-8")
    for name, content in dumps.items():
        (folder / {"old": OLD, "new": NEW}.get(name, name)).write_text(content, "utf-8")
    return folder


def posts(*bodies: str) -> str:
    return "".join(
        json.dumps({"author": "crew", "body": body, "score": 1}, ensure_ascii=False) + "\n" for body in bodies
    )


def complaint(folder: Path) -> str:
    """Return the error message about an unreadable release."""
    with pytest.raises(UserError) as error:
        load_liverpool(folder)
    assert "\n" not in str(error.value)
    return str(error.value)


# ------------------------------------------------------------------------------------------------- contexts


def test_contexts_are_assigned_to_their_words_and_periods(tmp_path: Path) -> None:
    folder = release(tmp_path / "liverpoolfc")
    assert is_liverpool(folder)
    data = load_liverpool(folder)
    assert (data.name, data.kind, data.language) == ("liverpoolfc", "Liverpool FC", "en")
    assert data.periods == ("2011-13", "2017")
    assert data.words == ("crew", "Mata")
    assert data.graded == {"crew": 0.091, "Mata": 0.5}
    assert "shift index" in data.gold
    assert data.binary == {}
    first = "Now that my Columbus Crew keep signing, crew!"
    last = "Crewless, crews and a crewed boat"
    assert usage_rows(data) == [
        ("crew", "old", first, "Crew"),
        ("crew", "old", first, "crew"),
        ("crew", "old", "the whole crew", "crew"),
        ("crew", "new", last, "Crewless"),
        ("crew", "new", last, "crews"),
        ("crew", "new", last, "crewed"),
        ("Mata", "new", "mata MATA", "mata"),
        ("Mata", "new", "mata MATA", "MATA"),
    ]
    assert data.usages["line"].to_pylist() == [6, 6, 7, 10, 10, 10, 28, 28]
    assert set(data.usages["file"].to_pylist()) == {"contexts.txt"}
    assert data.skipped == {"contexts of words without a judgement": 2, "contexts without the word": 1}
    assert data.texts == (TextSize(2, 11, 11), TextSize(2, 8, 8))


def test_inflected_forms_are_used_only_if_the_word_itself_is_absent(tmp_path: Path) -> None:
    contexts = "TARGET WORD: crew\n*2011-13*\nthe crews of a crew\n*2017*\nscrews, crews\n"
    assert usage_rows(load_liverpool(release(tmp_path, contexts))) == [
        ("crew", "old", "the crews of a crew", "crew"),
        ("crew", "new", "screws, crews", "crews"),
    ]


def test_windows_line_ends_are_ignored(tmp_path: Path) -> None:
    unix, windows = release(tmp_path / "a"), release(tmp_path / "b")
    for name in ("annotated_words.csv", "contexts.txt"):
        (windows / name).write_bytes(b"\xef\xbb\xbf" + (unix / name).read_bytes().replace(b"\n", b"\r\n"))
    assert load_liverpool(unix).usages.equals(load_liverpool(windows).usages)
    assert load_liverpool(unix).graded == load_liverpool(windows).graded


@given(
    st.lists(st.sampled_from(["crew", "Crew", "crews", "screw", "a", "crew,", "😀", "(crew)", "crew's"]), min_size=1)
)
def test_spans_cover_every_whole_word_or_else_every_inflected_form(
    tmp_path_factory: pytest.TempPathFactory, tokens: list[str]
) -> None:
    text = " ".join(tokens)
    folder = release(tmp_path_factory.mktemp("made"), f"TARGET WORD: crew\n*2011-13*\nx crew\n*2017*\n{text}\n")
    data = load_liverpool(folder)
    found = [(row["start"], row["end"]) for row in data.usages.to_pylist() if row["corpus"] == "new"]
    words = [(match.start(), match.end(), match[0].lower()) for match in re.finditer(r"\w+", text)]
    whole = [(start, end) for start, end, word in words if word == "crew"]
    assert found == (whole or [(start, end) for start, end, word in words if word.startswith("crew")])
    assert data.skipped == ({} if found else {"contexts without the word": 1})


def test_context_before_its_period_is_reported_with_its_line(tmp_path: Path) -> None:
    folder = release(tmp_path, "TARGET WORD: crew\n\nthe crew\n")
    message = complaint(folder)
    assert message == f"{str(folder / 'contexts.txt')!r}, line 3: the context has no period (*2011-13*) before it"


def test_period_heading_applies_to_its_own_word_only(tmp_path: Path) -> None:
    folder = release(tmp_path, "TARGET WORD: crew\n*2017*\na crew\nTARGET WORD: Mata\nMata\n")
    assert f"{str(folder / 'contexts.txt')!r}, line 5: " in complaint(folder)


def test_contexts_that_are_not_utf8_are_reported_with_their_line(tmp_path: Path) -> None:
    folder = release(tmp_path)
    (folder / "contexts.txt").write_bytes(b"TARGET WORD: crew\n*2017*\ncrew\ncrew caf\xe9\n")
    assert complaint(folder) == f"{str(folder / 'contexts.txt')!r}, line 4: not UTF-8"


@pytest.mark.parametrize("contexts", ["", "\n\n", "**************\n"])
def test_empty_contexts_are_reported(tmp_path: Path, contexts: str) -> None:
    folder = release(tmp_path, contexts)
    assert repr(str(folder / "contexts.txt")) in complaint(folder)


# ------------------------------------------------------------------------------------------------- judged words


def test_columns_of_judged_words_may_be_reordered_and_quoted(tmp_path: Path) -> None:
    data = load_liverpool(release(tmp_path, judged='shift_index,word\n"0.25"," crew "\n\n1,"Mata"\n'))
    assert data.graded == {"crew": 0.25, "Mata": 1.0}


@pytest.mark.parametrize(
    ("judged", "message"),
    [
        ("", "line 1: no column 'word'"),
        ("id,shift_index\n1,2\n", "line 1: no column 'word'; it must have word, shift_index"),
        ("word,shift\ncrew,2\n", "line 1: no column 'shift_index'; it must have word, shift_index"),
        ("word,shift_index\ncrew,1\nMata\n", "line 3: 1 fields instead of 2"),
        ("word,shift_index\ncrew,1\n ,2\n", "line 3: no word"),
        ("word,shift_index\n,2\n", "line 2: no word"),
        ("word,shift_index\ncrew,NA\n", "line 2: shift_index is 'NA', not a number"),
        ("word,shift_index\n\ncrew,\n", "line 3: shift_index is '', not a number"),
        ("word,shift_index\ncrew,1\nMata,0,5\n", "line 3: "),  # a decimal comma
        ("word,shift_index\ncrew,1\nMata,2\ncrew,0.5\n", "line 4: "),  # two values
        ("word,shift_index\ncrew,nan\n", "line 2: "),
    ],
)
def test_unreadable_judged_words_are_reported_with_their_line(tmp_path: Path, judged: str, message: str) -> None:
    folder = release(tmp_path, judged=judged)
    assert complaint(folder).startswith(f"{str(folder / 'annotated_words.csv')!r}, {message}")


def test_file_without_judged_words_is_reported(tmp_path: Path) -> None:
    folder = release(tmp_path, judged="word,shift_index\n")
    assert complaint(folder) == f"{str(folder / 'annotated_words.csv')!r} has no words"


def test_judged_words_that_are_not_utf8_are_reported_with_their_line(tmp_path: Path) -> None:
    folder = release(tmp_path)
    (folder / "annotated_words.csv").write_bytes(b"word,shift_index\ncrew,1\ncaf\xe9,1\n")
    assert complaint(folder) == f"{str(folder / 'annotated_words.csv')!r}, line 3: not UTF-8"


def test_unclosed_quote_is_reported(tmp_path: Path) -> None:
    folder = release(tmp_path, judged='word,shift_index\n"crew,1\n' + "Mata,2\n" * 30_000)
    assert repr(str(folder / "annotated_words.csv")) in complaint(folder)


# ------------------------------------------------------------------------------------------------- dumps


def test_dumps_are_read_by_sentence_and_replace_the_contexts(tmp_path: Path) -> None:
    folder = release(
        tmp_path,
        old=posts("Who is the Crew? The crew!\nNo one.", "[deleted]", "Screw this."),
        new=posts("[removed]", "Mata and his crew, with Mata."),
    )
    data = load_liverpool(folder)
    assert usage_rows(data) == [
        ("crew", "old", "Who is the Crew?", "Crew"),
        ("crew", "old", "The crew!", "crew"),
        ("crew", "new", "Mata and his crew, with Mata.", "crew"),
        ("Mata", "new", "Mata and his crew, with Mata.", "Mata"),
        ("Mata", "new", "Mata and his crew, with Mata.", "Mata"),
    ]
    assert data.usages["file"].to_pylist() == [OLD, OLD, NEW, NEW, NEW]
    assert data.usages["line"].to_pylist() == [1, 1, 2, 2, 2]
    assert data.texts == (TextSize(4, 10, 10), TextSize(1, 6, 6))
    assert data.skipped == {}
    assert data.graded == {"crew": 0.091, "Mata": 0.5}


def test_dumps_may_be_printed_python_dictionaries(tmp_path: Path) -> None:
    bodies = ['It\'s the crew, “mate”.\nThe "crew".', "[deleted]", "caf\u00e9 crew \\ ok\u2028ok", "crew 😀"]
    written = "".join(repr({"author": None, "gilded": True, "body": body}) + "\n" for body in bodies)
    python = release(tmp_path / "python", None, old=written, new=written + "\n\n")
    plain = release(tmp_path / "json", None, old=posts(*bodies), new=posts(*bodies))
    data = load_liverpool(python)
    assert len(data.usages) == 8
    assert data.usages.equals(load_liverpool(plain).usages)
    assert data.texts == load_liverpool(plain).texts


def test_dumps_may_have_several_files_and_need_no_contexts(tmp_path: Path) -> None:
    folder = release(
        tmp_path,
        None,
        **{
            "LiverpoolFC_11.json": posts("crew 11."),
            "LiverpoolFC_12.txt": posts("crew 12."),
            "LiverpoolFC_13.txt": posts("crew 13."),
            "LiverpoolFC_14.txt": posts("crew 14."),
            "LiverpoolFC_17.txt": posts("crew 17."),
        },
    )
    assert is_liverpool(folder)
    assert [row[1:3] for row in usage_rows(load_liverpool(folder))] == [
        ("old", "crew 11."),
        ("old", "crew 12."),
        ("old", "crew 13."),
        ("new", "crew 17."),
    ]


def test_dumps_of_only_one_period_are_not_used(tmp_path: Path) -> None:
    folder = release(tmp_path, old=posts("My crew."))
    assert set(load_liverpool(folder).usages["file"].to_pylist()) == {"contexts.txt"}


def test_whitespace_in_a_dump_is_collapsed_to_one_space(tmp_path: Path) -> None:
    folder = release(tmp_path, None, old=posts("  My \t  crew  "), new=posts("crew"))
    assert usage_rows(load_liverpool(folder))[0] == ("crew", "old", "My crew", "crew")


@pytest.mark.parametrize(
    "body",
    [
        "The crew's van",
        "A crew-van",
        "The “crew”",
        "crew/team",
        "crew…",
        "[crew](link)",
        "**crew**",
        "&gt;crew",
        "~crew~",
    ],
)
def test_words_in_a_dump_are_found_next_to_any_punctuation(tmp_path: Path, body: str) -> None:
    folder = release(tmp_path, None, old=posts(body), new=posts("A Crew!"))
    found = [row[1:] for row in usage_rows(load_liverpool(folder))]
    assert found == [("old", body, "crew"), ("new", "A Crew!", "Crew")]


SAID = st.lists(
    st.sampled_from(["crew", "Crew", "crews", "screw", "Mata,", "a", "crew,", "😀", "(crew)", "*"]), min_size=1
)


@given(st.lists(SAID, min_size=1, max_size=3))
def test_every_whole_word_of_a_dump_is_found_and_all_text_is_counted(
    tmp_path_factory: pytest.TempPathFactory, token_lists: list[list[str]]
) -> None:
    bodies = [" ".join(tokens) for tokens in token_lists]
    folder = release(tmp_path_factory.mktemp("made"), None, old=posts(*bodies), new=posts("crew"))
    data = load_liverpool(folder)
    expected = [
        (word, number, match.start(), match.end())
        for word in ("crew", "Mata")
        for number, body in enumerate(bodies, 1)
        for match in re.finditer(r"\w+", body)
        if match[0].lower() == word.lower()
    ]
    found = [row for row in data.usages.to_pylist() if row["corpus"] == "old"]
    assert [(row["word"], row["line"], row["start"], row["end"]) for row in found] == expected
    tokens = " ".join(bodies).split()
    assert data.texts == (TextSize(len(bodies), len(tokens), len(set(tokens))), TextSize(1, 1, 1))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("the crew", "this is not a post (a JSON object)"),
        ('{"body": "crew"', "this is not a post (a JSON object)"),
        ("{'body': crew}", "this is not a post (a JSON object)"),
        ("{[1]: 2}", "this is not a post (a JSON object)"),
        ("[" * 100_000, "this is not a post (a JSON object)"),
        ("[1]", "the post has no body"),
        ('"body"', "the post has no body"),
        ('{"text": "crew"}', "the post has no body"),
        ('{"body": null}', "the post has no body"),
        ("{'body': 3}", "the post has no body"),
    ],
)
def test_unreadable_post_is_reported_with_its_line(tmp_path: Path, line: str, message: str) -> None:
    folder = release(tmp_path, None, old=posts("crew"), new=posts("crew") + f"\n{line}\n")
    assert complaint(folder) == f"{str(folder / NEW)!r}, line 3: {message}"


def test_dump_that_is_not_utf8_is_reported_with_its_line(tmp_path: Path) -> None:
    folder = release(tmp_path, None, old=posts("crew"), new="")
    (folder / NEW).write_bytes(posts("crew").encode() + b'{"body": "caf\xe9"}\n')
    assert complaint(folder) == f"{str(folder / NEW)!r}, line 2: not UTF-8"


@pytest.mark.parametrize("content", ["", "\n", posts("[deleted]")])
def test_dump_without_posts_is_reported(tmp_path: Path, content: str) -> None:
    folder = release(tmp_path, None, old=posts("crew"), new=content)
    assert repr(str(folder / NEW)) in complaint(folder)


def test_unrelated_folders_are_not_recognised_as_the_release(tmp_path: Path) -> None:
    assert not is_liverpool(tmp_path)
    assert not is_liverpool(tmp_path / "none")
    (tmp_path / "annotated_words.csv").write_text(JUDGED)
    assert not is_liverpool(tmp_path)
    assert not is_liverpool(tmp_path / "annotated_words.csv")
    (tmp_path / "contexts.txt").write_text("")
    assert is_liverpool(tmp_path)
