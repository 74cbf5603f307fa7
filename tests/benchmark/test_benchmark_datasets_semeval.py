"""Test the reader of SemEval-2020 Task 1 releases: targets, corpora, truth files and parts of speech."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loaded_data import usage_rows

from lexshift.benchmark.datasets.dataset import Dataset, TextSize
from lexshift.benchmark.datasets.semeval import is_semeval, load_semeval
from lexshift.corpus.sentences import LONGEST
from lexshift.errors import UserError

ENGLISH = ("plane_nn", "tree_nn", "circle_vb")


def release(
    folder: Path,
    targets: tuple[str, ...] = ENGLISH,
    old: str | bytes = "a plane_nn\n",
    new: str | bytes = "a tree_nn\n",
    text: str = "lemma",
    truth: dict[str, str] | None = None,
) -> Path:
    """Write a release in its official layout."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "targets.txt").write_text("".join(f"{word}\n" for word in targets), "utf-8")
    for name, content in (("corpus1", old), ("corpus2", new)):
        (folder / name / text).mkdir(parents=True)
        raw = content if isinstance(content, bytes) else content.encode()
        (folder / name / text / f"{name}.txt.gz").write_bytes(gzip.compress(raw, mtime=0))
    if truth:
        (folder / "truth").mkdir()
    for name, content in (truth or {}).items():
        (folder / "truth" / f"{name}.txt").write_text(content, "utf-8")
    return folder


def complaint(folder: Path) -> str:
    """Return the error message about an unreadable release."""
    with pytest.raises(UserError) as error:
        load_semeval(folder)
    assert "\n" not in str(error.value)
    return str(error.value)


def load_or_error(folder: Path) -> Dataset | str:
    """Return the loaded data, or the error message if it cannot be read."""
    try:
        return load_semeval(folder)
    except UserError as error:
        return str(error)


# ------------------------------------------------------------------------------------------------------ reading


def test_english_release_is_read(tmp_path: Path) -> None:
    folder = release(
        tmp_path / "semeval2020_ulscd_eng",
        old="the plane_nn of a circle\na tree_nn by a plane_nn\n",
        new="no target here\nhe circle_vb the tree_nn\n",
        truth={
            "graded": "plane_nn\t0.88\ntree_nn\t0.07\ncircle_vb\t0.17\n",
            "binary": "plane_nn\t1\ntree_nn\t0\ncircle_vb\t0\n",
        },
    )
    assert is_semeval(folder)
    data = load_semeval(folder)
    assert (data.name, data.language, data.periods) == ("semeval2020_ulscd_eng", "en", ("corpus1", "corpus2"))
    assert data.kind == "SemEval-2020 Task 1"
    assert data.words == ENGLISH
    assert usage_rows(data) == [
        ("plane_nn", "old", "the plane of a circle", "plane"),
        ("plane_nn", "old", "a tree by a plane", "plane"),
        ("tree_nn", "old", "a tree by a plane", "tree"),
        ("tree_nn", "new", "he circle the tree", "tree"),
        ("circle_vb", "new", "he circle the tree", "circle"),
    ]
    assert data.usages["line"].to_pylist() == [1, 2, 2, 2, 2]
    assert set(data.usages["file"].to_pylist()) == {"corpus1.txt.gz", "corpus2.txt.gz"}
    assert data.usages["date"].null_count == 5
    assert data.counts().to_numpy().tolist() == [[2, 0], [1, 1], [0, 1]]
    assert data.graded == {"plane_nn": 0.88, "tree_nn": 0.07, "circle_vb": 0.17}
    assert data.binary == {"plane_nn": True, "tree_nn": False, "circle_vb": False}
    assert "graded change" in data.gold
    assert data.texts == (TextSize(2, 10, 7), TextSize(2, 7, 7))
    assert data.skipped == {}


def test_latin_targets_have_their_part_of_speech_after_a_hash(tmp_path: Path) -> None:
    folder = release(
        tmp_path / "semeval2020_ulscd_lat",
        ("acerbus#a", "virtus#n"),
        "sum acerbus#a qui virtus#n\n",
        "virtus virtus#n virtus#v\n",
    )
    data = load_semeval(folder)
    assert data.language == "la"
    assert usage_rows(data) == [
        ("acerbus#a", "old", "sum acerbus qui virtus", "acerbus"),
        ("virtus#n", "old", "sum acerbus qui virtus", "virtus"),
        ("virtus#n", "new", "virtus virtus virtus#v", "virtus"),
    ]
    assert data.usages["start"].to_pylist() == [4, 16, 7]


@pytest.mark.parametrize("suffix", ["strip", "keep"])
def test_targets_without_a_part_of_speech_are_unchanged(tmp_path: Path, suffix: str) -> None:
    folder = release(
        tmp_path / "semeval2020_ulscd_ger", ("Ohrwurm", "überspannen"), "ein Ohrwurm\n", "wir überspannen\n"
    )
    data = load_semeval(folder, suffix)
    assert data.language == "de"
    assert usage_rows(data) == [
        ("Ohrwurm", "old", "ein Ohrwurm", "Ohrwurm"),
        ("überspannen", "new", "wir überspannen", "überspannen"),
    ]


@pytest.mark.parametrize(
    ("name", "language"),
    [("semeval2020_ulscd_swe", "sv"), ("diacrita_ita", "it"), ("test_data", ""), ("english", "")],
)
def test_language_is_taken_from_the_folder_name(tmp_path: Path, name: str, language: str) -> None:
    assert load_semeval(release(tmp_path / name)).language == language


def test_parts_of_speech_can_be_kept(tmp_path: Path) -> None:
    folder = release(tmp_path, old="tree_nn plane_nn , plane_nn\n")
    assert usage_rows(load_semeval(folder, "keep")) == [
        ("plane_nn", "old", "tree_nn plane_nn , plane_nn", "plane_nn"),
        ("plane_nn", "old", "tree_nn plane_nn , plane_nn", "plane_nn"),
        ("tree_nn", "old", "tree_nn plane_nn , plane_nn", "tree_nn"),
        ("tree_nn", "new", "a tree_nn", "tree_nn"),
    ]
    assert load_semeval(folder, "keep").usages["start"].to_pylist() == [8, 19, 0, 2]


def test_parts_of_speech_are_stripped_from_targets_only(tmp_path: Path) -> None:
    folder = release(tmp_path, ("plane_nn", "tree_nn"), "boat_nn tree_vb xtree_nn plane_nn tree_nnn tree_nn .\n")
    sentence = "boat_nn tree_vb xtree_nn plane tree_nnn tree ."
    assert usage_rows(load_semeval(folder))[:2] == [
        ("plane_nn", "old", sentence, "plane"),
        ("tree_nn", "old", sentence, "tree"),
    ]


@pytest.mark.parametrize(
    ("line", "sentence", "starts"),
    [
        ("plane_nn", "plane", [0]),
        ("plane_nn flies", "plane flies", [0]),
        ("a plane_nn", "a plane", [2]),
        ("plane_nn plane_nn", "plane plane", [0, 6]),
        ("plane_nn to plane_nn to plane_nn", "plane to plane to plane", [0, 9, 18]),
        ("tree_nn tree_nn plane_nn circle_vb", "tree tree plane circle", [10]),
        ("circle_vb plane_nn plane", "circle plane plane", [7]),
        ("  the   plane_nn  tree_nn  ", "the   plane  tree", [6]),
        ("año plane_nn 😀 tree_nn plane_nn", "año plane 😀 tree plane", [4, 17]),
    ],
)
def test_spans_cover_the_word_at_any_position(tmp_path: Path, line: str, sentence: str, starts: list[int]) -> None:
    data = load_semeval(release(tmp_path, old=line + "\n"))
    found = [row for row in data.usages.to_pylist() if (row["word"], row["corpus"]) == ("plane_nn", "old")]
    assert [row["start"] for row in found] == starts
    assert {row["sentence"] for row in found} == {sentence}
    assert {row["sentence"][row["start"] : row["end"]] for row in found} == {"plane"}


@pytest.mark.parametrize("space", ["\t", "\u00a0", "\u3000", " \t "])
def test_other_targets_are_stripped_next_to_any_whitespace(tmp_path: Path, space: str) -> None:
    data = load_semeval(release(tmp_path, old=space.join(["tree_nn", "plane_nn", "circle_vb"]) + "\n"))
    assert usage_rows(data)[0] == ("plane_nn", "old", space.join(["tree", "plane", "circle"]), "plane")


TOKENS = st.sampled_from(
    ["plane_nn", "tree_nn", "circle_vb", "plane", "boat_nn", "plane_nn.", "#n", "_nn", "a", "ñandú", "😀", "plane_vb"]
)
LINES = st.lists(
    st.lists(st.tuples(TOKENS, st.sampled_from([" ", "  "])), min_size=1, max_size=8), min_size=1, max_size=4
)


@given(LINES, LINES, st.booleans())
def test_stripping_changes_only_the_parts_of_speech_of_targets(
    tmp_path_factory: pytest.TempPathFactory,
    old: list[list[tuple[str, str]]],
    new: list[list[tuple[str, str]]],
    strip: bool,
) -> None:
    corpora = [["".join(token + space for token, space in line) for line in lines] for lines in (old, new)]
    folder = release(tmp_path_factory.mktemp("release"), old="\n".join(corpora[0]), new="\n".join(corpora[1]))
    data = load_semeval(folder, "strip" if strip else "keep")
    bare = {word: word[:-3] if strip else word for word in ENGLISH}
    expected = []
    for word in ENGLISH:
        for period, lines in zip(("old", "new"), corpora, strict=True):
            for number, line in enumerate(lines, 1):
                parts = [bare.get(token, token) for token in re.split(r"( +)", line.strip())]
                for i, token in enumerate(re.split(r"( +)", line.strip())):
                    if token == word:
                        start = len("".join(parts[:i]))
                        expected.append((word, period, number, "".join(parts), start, start + len(bare[word])))
    names = ("word", "corpus", "line", "sentence", "start", "end")
    assert list(zip(*(data.usages[name].to_pylist() for name in names), strict=True)) == expected
    assert all(what == bare[word] for word, _, _, what in usage_rows(data))
    for size, lines in zip(data.texts, corpora, strict=True):
        tokens = " ".join(lines).split()
        assert size == TextSize(len(lines), len(tokens), len(set(tokens)))


def test_corpus_may_have_several_files_and_windows_line_ends(tmp_path: Path) -> None:
    folder = release(tmp_path, old="a plane_nn\r\n\r\nthe plane_nn\r\n")
    (folder / "corpus1/lemma/more.txt").write_text("my plane_nn\n")
    data = load_semeval(folder)
    old = [row for row in data.usages.to_pylist() if row["corpus"] == "old"]
    assert [(row["file"], row["line"], row["sentence"]) for row in old] == [
        ("corpus1.txt.gz", 1, "a plane"),
        ("corpus1.txt.gz", 3, "the plane"),
        ("more.txt", 1, "my plane"),
    ]
    assert data.texts[0] == TextSize(3, 6, 4)


def test_tokens_can_be_read_instead_of_lemmas(tmp_path: Path) -> None:
    folder = release(tmp_path, ("Ohrwurm",), "ein Ohrwurm\n", "der Ohrwurm\n")
    release(tmp_path / "other", ("Ohrwurm",), "eines Ohrwurm\n", "des Ohrwurm\n", "token")
    for name in ("corpus1", "corpus2"):
        (tmp_path / "other" / name / "token").rename(folder / name / "token")
    assert [row[2] for row in usage_rows(load_semeval(folder))] == ["ein Ohrwurm", "der Ohrwurm"]
    assert [row[2] for row in usage_rows(load_semeval(folder, text="token"))] == ["eines Ohrwurm", "des Ohrwurm"]


def test_targets_may_have_empty_lines_whitespace_and_windows_line_ends(tmp_path: Path) -> None:
    folder = release(tmp_path)
    (folder / "targets.txt").write_bytes(b"\xef\xbb\xbf plane_nn\r\n\r\ntree_nn \r\n")
    data = load_semeval(folder)
    assert data.words == ("plane_nn", "tree_nn")
    assert data.counts().to_numpy().tolist() == [[1, 0], [0, 1]]


def test_duplicate_target_is_one_target(tmp_path: Path) -> None:
    folder = release(tmp_path, ("plane_nn", "plane_nn", "tree_nn"), "a plane_nn\n", "a tree_nn\n")
    data = load_or_error(folder)
    if isinstance(data, str):  # refusing the row is also valid
        assert "line 2" in data
    else:
        assert usage_rows(data) == [("plane_nn", "old", "a plane", "plane"), ("tree_nn", "new", "a tree", "tree")]
        assert data.words == ("plane_nn", "tree_nn")


def test_very_long_line_is_cut_around_the_word_and_reported(tmp_path: Path) -> None:
    line = "tree_nn " * LONGEST + "plane_nn" + " tree_nn" * LONGEST
    folder = release(tmp_path, ("plane_nn", "tree_vb"), line + "\n", "a plane_nn\n")
    data = load_semeval(folder)
    assert list(data.skipped.values()) == [1]
    assert next(iter(data.skipped)).startswith("old: sentences of over ")
    row = data.usages.to_pylist()[0]
    assert row["sentence"][row["start"] : row["end"]] == "plane"
    assert len(row["sentence"]) < len(line) / 2
    assert data.texts[0] == TextSize(1, 2 * LONGEST + 1, 2)


# ----------------------------------------------------------------------------------------------- truth files


def test_release_without_truth_files_has_no_gold(tmp_path: Path) -> None:
    data = load_semeval(release(tmp_path))
    assert (data.graded, data.binary) == ({}, {})


def test_release_may_have_one_truth_file_for_some_of_its_targets(tmp_path: Path) -> None:
    graded = load_semeval(release(tmp_path / "a", truth={"graded": "\ntree_nn\t0.25\r\n\n"}))
    assert (graded.graded, graded.binary) == ({"tree_nn": 0.25}, {})
    binary = load_semeval(release(tmp_path / "b", truth={"binary": "tree_nn\t1\nplane_nn\t0"}))
    assert (binary.graded, binary.binary) == ({}, {"tree_nn": True, "plane_nn": False})


@pytest.mark.parametrize("name", ["graded", "binary"])
@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("tree_nn 0.1", "no tab between the word and its value"),
        ("tree\t0.1", "'tree' is not among the targets"),
        ("boat_nn\t0.1", "'boat_nn' is not among the targets"),
        ("tree_nn\tNA", "value is 'NA', not a number"),
        ("tree_nn\t", "value is '', not a number"),
        ("tree_nn\t0.1\t0.2", "value is '0.1\\t0.2', not a number"),
    ],
)
def test_unreadable_truth_file_is_reported_with_its_line(tmp_path: Path, name: str, row: str, message: str) -> None:
    folder = release(tmp_path, truth={name: f"plane_nn\t1\n\n{row}\n"})
    assert complaint(folder) == f"{str(folder / 'truth' / f'{name}.txt')!r}, line 3: {message}"


@pytest.mark.parametrize("name", ["graded", "binary"])
def test_conflicting_values_of_a_word_are_reported_with_their_line(tmp_path: Path, name: str) -> None:
    folder = release(tmp_path, truth={name: "plane_nn\t1\ntree_nn\t0\nplane_nn\t0\n"})
    message = complaint(folder)
    assert message.startswith(f"{str(folder / 'truth' / f'{name}.txt')!r}, line 3: ")
    assert "plane_nn" in message


@pytest.mark.parametrize("name", ["graded", "binary"])
@pytest.mark.parametrize("value", ["nan", "inf"])
def test_non_finite_value_is_reported_with_its_line(tmp_path: Path, name: str, value: str) -> None:
    folder = release(tmp_path, truth={name: f"plane_nn\t1\ntree_nn\t{value}\n"})
    assert f"{str(folder / 'truth' / f'{name}.txt')!r}, line 2: " in complaint(folder)


def test_truth_file_that_is_not_utf8_is_reported_with_its_line(tmp_path: Path) -> None:
    folder = release(tmp_path, truth={"graded": ""})
    (folder / "truth/graded.txt").write_bytes(b"plane_nn\t1\nn\xe4hen\t0\n")
    assert complaint(folder) == f"{str(folder / 'truth/graded.txt')!r}, line 2: not UTF-8"


# ------------------------------------------------------------------------------------------- other error messages


@pytest.mark.parametrize("content", ["", "\n\n", " \r\n"])
def test_empty_targets_are_reported(tmp_path: Path, content: str) -> None:
    folder = release(tmp_path)
    (folder / "targets.txt").write_bytes(content.encode())
    assert complaint(folder) == f"{str(folder / 'targets.txt')!r} is empty; it must list one target per line"


def test_targets_that_are_not_utf8_are_reported_with_their_line(tmp_path: Path) -> None:
    folder = release(tmp_path)
    (folder / "targets.txt").write_bytes(b"plane_nn\ntree_nn\nb\xe4r_nn\n")
    assert complaint(folder) == f"{str(folder / 'targets.txt')!r}, line 3: not UTF-8"


@pytest.mark.parametrize("content", ["", "\n \n"])
def test_empty_corpus_is_reported(tmp_path: Path, content: str) -> None:
    folder = release(tmp_path, new=content)
    message = complaint(folder)
    assert repr(str(folder / "corpus2/lemma")) in message
    assert "empty" in message


def test_missing_corpus_is_reported(tmp_path: Path) -> None:
    folder = release(tmp_path)
    (folder / "corpus2/lemma/corpus2.txt.gz").unlink()
    assert repr(str(folder / "corpus2/lemma")) in complaint(folder)
    (folder / "corpus2/lemma").rmdir()
    assert repr(str(folder / "corpus2/lemma")) in complaint(folder)


def test_corpus_that_is_not_utf8_is_reported_with_its_line(tmp_path: Path) -> None:
    folder = release(tmp_path, new=b"a tree_nn\nthe tree_nn\nsch\xf6n tree_nn\n")
    message = complaint(folder)
    assert repr(str(folder / "corpus2/lemma/corpus2.txt.gz")) in message
    assert "line 3" in message
    assert "not UTF-8" in message


def test_unrelated_folders_are_not_recognised_as_a_release(tmp_path: Path) -> None:
    assert not is_semeval(tmp_path)
    assert not is_semeval(tmp_path / "none")
    (tmp_path / "targets.txt").write_text("plane\n")
    assert not is_semeval(tmp_path)
    assert not is_semeval(tmp_path / "targets.txt")
    (tmp_path / "corpus1").mkdir()
    assert is_semeval(tmp_path)
