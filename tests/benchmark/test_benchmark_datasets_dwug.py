"""Test the reader of DWUG and DURel releases: usages of two periods, and gold from clusters or judged pairs."""

from __future__ import annotations

from pathlib import Path

import pytest
from loaded_data import usage_rows

from lexshift.benchmark.datasets.dataset import Dataset, TextSize
from lexshift.benchmark.datasets.dwug import is_dwug, load_dwug
from lexshift.errors import UserError

HEADER = "lemma\tpos\tdate\tgrouping\tidentifier\tdescription\tcontext\tindexes_target_token\tindexes_target_sentence"
CLUSTERED = "lemma\tgrouping\tnodes\tchange_binary\tchange_graded\tCOMPARE"
COMPARED = "lemma\tgrouping\tnodes\tEARLIER\tLATER\tCOMPARE"
Usage = tuple[str, str, str]  # grouping, context, span


def spanned(grouping: str, context: str) -> Usage:
    """Return a usage whose word is given in brackets."""
    start, end = context.index("["), context.index("]") - 1
    return grouping, context.replace("[", "").replace("]", ""), f"{start}:{end}"


def write_uses(folder: Path, lemma: str, usages: list[Usage], end: str = "\n") -> Path:
    path = folder / "data" / lemma / "uses.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        f"{lemma}\tnn\t{1800 + i}\t{grouping}\tid-{i}\t\t{context}\t{span}\t0:{len(context)}"
        for i, (grouping, context, span) in enumerate(usages)
    ]
    path.write_bytes("".join(line + end for line in [HEADER, *rows]).encode())
    return path


def write_stats(folder: Path, header: str, *rows: str, opt: bool = False, end: str = "\n") -> Path:
    path = folder / "stats" / ("opt" if opt else ".") / "stats_groupings.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(line + end for line in [header, *rows]).encode())
    return path


def release(folder: Path, groups: tuple[str, ...] = ("1", "2")) -> Path:
    """Write a release of two lemmas without gold."""
    for lemma in ("plane_nn", "tree_nn"):
        word = lemma[:-3]
        write_uses(folder, lemma, [spanned(group, f"The [{word}s] of {group}, a {word}.") for group in groups])
    return folder


def complaint(folder: Path) -> str:
    """Return the error message about an unreadable release."""
    with pytest.raises(UserError) as error:
        load_dwug(folder)
    assert "\n" not in str(error.value)
    return str(error.value)


def load_or_error(folder: Path) -> Dataset | str:
    """Return the loaded data, or the error message if it cannot be read."""
    try:
        return load_dwug(folder)
    except UserError as error:
        return str(error)


# ------------------------------------------------------------------------------------------------- usages


def test_release_with_clusters_is_read(tmp_path: Path) -> None:
    folder = tmp_path / "dwug_en"
    write_uses(folder, "tree_nn", [spanned("2", "Two [trees]."), spanned("1", "[Tree] by tree.")])
    write_uses(
        folder, "plane_nn", [spanned("1", "A [plane]."), spanned("2", "By [plane]."), spanned("1", "The [plane]")]
    )
    write_stats(folder, COMPARED, "plane_nn\t1_2\t3\tnan\tnan\t2.5", "tree_nn\t1_2\t2\tnan\tnan\t3.5")
    write_stats(folder, CLUSTERED, "plane_nn\t1_2\t3\t1\t0.75\t2.5", "tree_nn\t1_2\t2\t0\t0.0\t3.5", opt=True)
    assert is_dwug(folder)
    data = load_dwug(folder)
    assert (data.name, data.kind, data.language, data.periods) == ("dwug_en", "DWUG or DURel release", "en", ("1", "2"))
    assert data.words == ("plane_nn", "tree_nn")
    assert usage_rows(data) == [
        ("plane_nn", "old", "A plane.", "plane"),
        ("plane_nn", "old", "The plane", "plane"),
        ("plane_nn", "new", "By plane.", "plane"),
        ("tree_nn", "old", "Tree by tree.", "Tree"),
        ("tree_nn", "new", "Two trees.", "trees"),
    ]
    assert data.usages["line"].to_pylist() == [2, 4, 3, 3, 2]
    assert data.usages["date"].to_pylist() == ["1800", "1802", "1801", "1801", "1800"]
    assert data.usages["file"].to_pylist() == ["plane_nn/uses.csv"] * 3 + ["tree_nn/uses.csv"] * 2
    assert data.graded == {"plane_nn": 0.75, "tree_nn": 0.0}
    assert data.binary == {"plane_nn": True, "tree_nn": False}
    assert "cluster" in data.gold
    assert data.texts == (TextSize(3, 7, 7), TextSize(2, 4, 4))
    assert data.counts().to_numpy().tolist() == [[2, 1], [1, 1]]
    assert data.skipped == {}


def test_without_clusters_higher_relatedness_means_less_change(tmp_path: Path) -> None:
    folder = release(tmp_path, ("1700-1916", "1918-1990"))
    pair = "1700-1916_1918-1990"
    write_stats(folder, COMPARED, f"plane_nn\t{pair}\t2\tnan\tnan\t1.25", f"tree_nn\t{pair}\t2\t2\t2\t3.75")
    data = load_dwug(folder)
    assert data.graded == {"plane_nn": -1.25, "tree_nn": -3.75}
    assert data.binary == {}
    assert "relatedness" in data.gold
    assert data.periods == ("1700-1916", "1918-1990")


def test_clusters_outside_of_the_opt_folder_are_read(tmp_path: Path) -> None:
    folder = release(tmp_path)
    write_stats(folder, CLUSTERED, "plane_nn\t1_2\t3\t1\t0.5\t2.5")
    data = load_dwug(folder)
    assert (data.graded, data.binary) == ({"plane_nn": 0.5}, {"plane_nn": True})


def test_release_without_statistics_has_no_gold(tmp_path: Path) -> None:
    data = load_dwug(release(tmp_path))
    assert (data.graded, data.binary) == ({}, {})
    assert len(data.usages) == 4


def test_statistics_without_rows_give_no_gold(tmp_path: Path) -> None:
    folder = release(tmp_path)
    write_stats(folder, CLUSTERED, opt=True)
    assert load_dwug(folder).graded == {}


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (("2", "1"), ("1", "2")),
        (("10", "9"), ("9", "10")),
        (("1950-1990", "1700-1916"), ("1700-1916", "1950-1990")),
        (("1990", "1800"), ("1800", "1990")),
        (("2", "10", "1"), ("1", "10")),
    ],
)
def test_earlier_period_is_the_one_that_sorts_first(
    tmp_path: Path, groups: tuple[str, ...], expected: tuple[str, str]
) -> None:
    data = load_dwug(release(tmp_path, groups))
    assert data.periods == expected
    sentences = {row[2] for row in usage_rows(data) if row[1] == "old"}
    assert sentences == {f"The {word}s of {expected[0]}, a {word}." for word in ("plane", "tree")}
    assert data.counts().to_numpy().tolist() == [[1, 1], [1, 1]]


def test_first_and_last_of_more_than_two_periods_are_used_and_the_others_counted(tmp_path: Path) -> None:
    data = load_dwug(release(tmp_path, ("3", "1", "2", "2")))
    assert data.periods == ("1", "3")
    assert data.skipped == {"usages of other periods": 4}
    assert len(data.usages) == 4
    assert data.texts[0].sentences == data.texts[1].sentences == 2


def test_periods_named_in_the_statistics_are_used_when_there_are_more_than_two(tmp_path: Path) -> None:
    folder = release(tmp_path, ("1", "2", "3"))
    write_stats(folder, COMPARED, "plane_nn\t2_3\t2\tnan\tnan\t2", "tree_nn\t2_3\t2\tnan\tnan\t3")
    data = load_dwug(folder)
    assert data.periods == ("2", "3")
    assert data.skipped == {"usages of other periods": 2}
    assert data.graded == {"plane_nn": -2, "tree_nn": -3}


def test_gold_is_taken_from_the_statistics_of_the_selected_periods(tmp_path: Path) -> None:
    folder = release(tmp_path, ("1", "2", "3"))
    write_stats(
        folder,
        COMPARED,
        *(
            f"{word}\t{pair}\t2\tnan\tnan\t{v}"
            for word in ("plane_nn", "tree_nn")
            for pair, v in (("1_2", 1), ("2_3", 4))
        ),
    )
    data = load_dwug(folder)
    assert data.periods == ("1", "2")
    assert data.graded == {"plane_nn": -1, "tree_nn": -1}


def test_words_without_judgements_have_no_gold(tmp_path: Path) -> None:
    folder = release(tmp_path)
    write_stats(folder, COMPARED, "plane_nn\t1_2\t2\tnan\tnan\tnan", "tree_nn\t1_2\t2\tnan\tnan\t3.5")
    assert load_dwug(folder).graded == {"tree_nn": -3.5}
    write_stats(folder, CLUSTERED, "plane_nn\t1_2\t2\t0\tNaN\t2", "tree_nn\t1_2\t2\t1\t0.5\t3", opt=True)
    assert load_dwug(folder).graded == {"tree_nn": 0.5}


def test_words_without_binary_judgements_have_no_binary_gold(tmp_path: Path) -> None:
    folder = release(tmp_path)
    write_stats(folder, CLUSTERED, "plane_nn\t1_2\t2\tnan\tnan\tnan", "tree_nn\t1_2\t2\t1\t0.5\t3")
    data = load_dwug(folder)
    assert data.graded == {"tree_nn": 0.5}
    assert data.binary == {"tree_nn": True}


def test_windows_line_ends_and_byte_order_marks_are_ignored(tmp_path: Path) -> None:
    usages = [spanned("1", "A [plane]"), spanned("2", "The [plane]")]
    for name, end in (("unix", "\n"), ("windows", "\r\n")):
        path = write_uses(tmp_path / name, "plane_nn", usages, end)
        write_stats(tmp_path / name, COMPARED, "plane_nn\t1_2\t2\tnan\tnan\t2", end=end)
        if name == "windows":
            path.write_bytes("\ufeff".encode() + path.read_bytes())
    unix, windows = load_dwug(tmp_path / "unix"), load_dwug(tmp_path / "windows")
    assert unix.usages.equals(windows.usages)
    assert unix.graded == windows.graded == {"plane_nn": -2}


@pytest.mark.parametrize(
    "context",
    [
        'He said "the [plane]',
        '"A [plane]", she said, "flies."',
        '"[plane]"',
        "It's a ''[plane]'', \\t or so",
        "  A [plane] with spaces around ",
        "\u00a0\u3000[Planes]\u2028and\x0btheir\x85pilots",
        "año 😀 [plane]",
        "[plane]",
        "plane, plane, [plane], plane",
        "the bio[plane]s",
    ],
)
def test_context_is_unchanged_except_for_outer_whitespace(tmp_path: Path, context: str) -> None:
    write_uses(tmp_path, "plane_nn", [spanned("1", context), spanned("2", "A [plane].")])
    row = load_dwug(tmp_path).usages.to_pylist()[0]
    assert row["sentence"] == context.replace("[", "").replace("]", "").strip()
    assert row["sentence"][row["start"] : row["end"]].lower() in ("plane", "planes")
    assert row["sentence"][: row["start"]] == context[: context.index("[")].lstrip()


@pytest.mark.parametrize("span", ["0:7", "0:2", "1:7", "2:8", "7:8"])
def test_span_that_includes_outer_whitespace_is_shifted_or_reported(tmp_path: Path, span: str) -> None:
    path = write_uses(tmp_path, "plane_nn", [spanned("2", "A [plane]."), ("1", "  plane ", span)])
    data = load_or_error(tmp_path)
    if isinstance(data, str):  # refusing the row is also valid
        assert f"{str(path)!r}, line 3: " in data
    else:
        row = data.usages.to_pylist()[0]
        assert row["sentence"] == "plane"
        assert (row["start"], row["end"]) == (0, 5)


def test_columns_may_be_reordered_added_or_omitted(tmp_path: Path) -> None:
    path = tmp_path / "data/plane_nn/uses.csv"
    path.parent.mkdir(parents=True)
    path.write_text(
        "extra\tindexes_target_token\tcontext\tgrouping\tlemma\n"
        "x\t2:7\tA plane\t1\tplane_nn\n"
        "\t0:5\tplane\t2\tplane_nn\n"
    )
    data = load_dwug(tmp_path)
    assert usage_rows(data) == [("plane_nn", "old", "A plane", "plane"), ("plane_nn", "new", "plane", "plane")]
    assert data.usages["date"].null_count == 2


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("dwug_en", "en"),
        ("dwug_de", "de"),
        ("dwug_sv", "sv"),
        ("DWUG_ES", "es"),
        ("rushifteval1_ru", "ru"),
        ("durel", ""),
    ],
)
def test_language_is_taken_from_the_folder_name(tmp_path: Path, name: str, language: str) -> None:
    assert load_dwug(release(tmp_path / name)).language == language


def test_sentence_with_several_words_is_counted_once_in_the_text_size(tmp_path: Path) -> None:
    for lemma in ("plane_nn", "tree_nn"):
        word = lemma[:-3]
        shared = "A plane by a tree .".replace(word, f"[{word}]")
        write_uses(tmp_path, lemma, [spanned("1", shared), spanned("1", shared), spanned("2", f"My [{word}]")])
    data = load_dwug(tmp_path)
    for period, size in zip(("old", "new"), data.texts, strict=True):
        sentences = {row[2] for row in usage_rows(data) if row[1] == period}
        tokens = [token for sentence in sentences for token in sentence.split()]
        assert size == TextSize(len(sentences), len(tokens), len(set(tokens)))
    assert data.texts == (TextSize(1, 6, 6), TextSize(2, 4, 3))
    assert data.counts().to_numpy().tolist() == [[2, 1], [2, 1]]


# ------------------------------------------------------------------------------------------- error messages


@pytest.mark.parametrize("column", ["lemma", "grouping", "context", "indexes_target_token"])
def test_missing_usage_column_is_reported(tmp_path: Path, column: str) -> None:
    path = release(tmp_path) / "data/tree_nn/uses.csv"
    path.write_text(path.read_text().replace(column, "x" + column, 1))
    assert complaint(tmp_path).startswith(f"{str(path)!r}, line 1: no column {column!r}; it must have lemma, grouping")


@pytest.mark.parametrize("column", ["lemma", "grouping", "COMPARE"])
def test_missing_statistics_column_is_reported(tmp_path: Path, column: str) -> None:
    path = write_stats(release(tmp_path), COMPARED.replace(column, "x"), "plane_nn\t1_2\t2\tnan\tnan\t3")
    assert complaint(tmp_path).startswith(f"{str(path)!r}, line 1: no column {column!r}")


def test_tab_inside_a_context_is_reported_with_its_line(tmp_path: Path) -> None:
    path = write_uses(tmp_path, "plane_nn", [spanned("1", "A [plane]"), spanned("2", "A\t[plane]")])
    assert complaint(tmp_path) == f"{str(path)!r}, line 3: 10 fields instead of 9"


@pytest.mark.parametrize("span", ["0:99", "5:5", "6:5", "-1:3", "2", "", "a:b", "2:7,9:10"])
def test_span_outside_of_its_context_is_reported_with_its_line(tmp_path: Path, span: str) -> None:
    path = write_uses(tmp_path, "plane_nn", [spanned("1", "A [plane]"), ("2", "A plane", span)])
    assert complaint(tmp_path) == f"{str(path)!r}, line 3: the span {span!r} is not within the context"


@pytest.mark.parametrize(
    ("column", "value"), [("change_graded", "high"), ("change_binary", ""), ("change_graded", "NA")]
)
def test_non_numeric_gold_is_reported_with_its_line(tmp_path: Path, column: str, value: str) -> None:
    path = write_stats(
        release(tmp_path),
        f"lemma\tgrouping\tchange_graded\t{'x' if column == 'change_graded' else column}",
        "plane_nn\t1_2\t1\t1",
        f"tree_nn\t1_2\t{value}\t1" if column == "change_graded" else f"tree_nn\t1_2\t1\t{value}",
        opt=True,
    )
    assert complaint(tmp_path) == f"{str(path)!r}, line 3: {column} is {value!r}, not a number"


def test_non_numeric_relatedness_is_reported_with_its_line(tmp_path: Path) -> None:
    path = write_stats(release(tmp_path), COMPARED, "plane_nn\t1_2\t2\tnan\tnan\t?")
    assert complaint(tmp_path) == f"{str(path)!r}, line 2: COMPARE is '?', not a number"


def test_word_in_the_statistics_without_usages_is_reported_with_its_line(tmp_path: Path) -> None:
    path = write_stats(release(tmp_path), COMPARED, "tree_nn\t1_2\t2\t1\t1\t2", "boat_nn\t1_2\t2\t1\t1\t2")
    assert complaint(tmp_path) == f"{str(path)!r}, line 3: 'boat_nn' has no usages"


def test_conflicting_values_of_a_word_are_reported_with_their_line(tmp_path: Path) -> None:
    path = write_stats(release(tmp_path), COMPARED, "tree_nn\t1_2\t2\t1\t1\t2", "tree_nn\t1_2\t2\t1\t1\t3")
    message = complaint(tmp_path)
    assert message.startswith(f"{str(path)!r}, line 3: ")
    assert "tree_nn" in message


def test_wrong_number_of_statistics_fields_is_reported_with_its_line(tmp_path: Path) -> None:
    path = write_stats(release(tmp_path), COMPARED, "tree_nn\t1_2\t2\t1\t1\t2", "plane_nn\t1_2\t2")
    assert complaint(tmp_path) == f"{str(path)!r}, line 3: 3 fields instead of 6"


def test_usages_of_only_one_period_are_reported(tmp_path: Path) -> None:
    message = complaint(release(tmp_path, ("1800-1850",)))
    assert repr(str(tmp_path)) in message
    assert "'1800-1850'" in message
    assert "two periods are needed" in message


def test_lemma_without_usages_is_reported(tmp_path: Path) -> None:
    path = write_uses(release(tmp_path), "boat_nn", [])
    assert complaint(tmp_path) == f"{str(path)!r} has no usages"


def test_empty_usage_file_is_reported(tmp_path: Path) -> None:
    path = release(tmp_path) / "data/plane_nn/uses.csv"
    path.write_text("")
    assert complaint(tmp_path).startswith(f"{str(path)!r}, line 1: ")


def test_usages_that_are_not_utf8_are_reported_with_their_line(tmp_path: Path) -> None:
    path = release(tmp_path) / "data/plane_nn/uses.csv"
    path.write_bytes(path.read_bytes().replace(b"of 2", b"f\xfcr 2"))
    assert complaint(tmp_path) == f"{str(path)!r}, line 3: not UTF-8"


def test_statistics_that_are_not_utf8_are_reported_with_their_line(tmp_path: Path) -> None:
    path = write_stats(release(tmp_path), COMPARED, "tree_nn\t1_2\t2\t1\t1\t2")
    path.write_bytes(path.read_bytes().replace(b"tree", b"tr\xe9e"))
    assert complaint(tmp_path) == f"{str(path)!r}, line 2: not UTF-8"


def test_folder_in_place_of_the_usage_file_is_reported(tmp_path: Path) -> None:
    (release(tmp_path) / "data/boat_nn/uses.csv").mkdir(parents=True)
    message = complaint(tmp_path)
    assert repr(str(tmp_path / "data/boat_nn/uses.csv")) in message
    assert "cannot be read" in message


@pytest.mark.parametrize("folder", ["clusters/opt", "clusters"])
def test_senses_are_the_clusters_of_the_usages(tmp_path: Path, folder: str) -> None:
    write_uses(tmp_path, "plane_nn", [spanned(group, f"A [plane] {group} {i}.") for i, group in enumerate("2112")])
    write_uses(tmp_path, "tree_nn", [spanned(group, f"A [tree] {group}.") for group in "12"])
    path = tmp_path / folder / "plane_nn.csv"
    path.parent.mkdir(parents=True)
    path.write_text("identifier\tcluster\nid-0\t1\nid-1\t0\nid-3\t-1\n", "utf-8")  # id-2 is missing
    data = load_dwug(tmp_path)
    assert [row[1] for row in usage_rows(data)] == ["old", "old", "new", "new", "old", "new"]
    assert data.senses == ("0", None, "1", None, None, None)


def test_release_without_clusters_has_no_senses(tmp_path: Path) -> None:
    assert load_dwug(release(tmp_path)).senses == ()


def test_words_that_gained_or_lost_a_sense_are_read(tmp_path: Path) -> None:
    release(tmp_path)
    header = "lemma\tgrouping\tchange_binary\tchange_binary_gain\tchange_binary_loss\tchange_graded"
    write_stats(tmp_path, header, "plane_nn\t1_2\t1\t1\t0\t0.5", "tree_nn\t1_2\t1\t0\t1\t0.4", opt=True)
    data = load_dwug(tmp_path)
    assert data.gained == {"plane_nn": True, "tree_nn": False}
    assert data.lost == {"plane_nn": False, "tree_nn": True}


def test_unrelated_folders_are_not_recognised_as_a_release(tmp_path: Path) -> None:
    assert not is_dwug(tmp_path)
    assert not is_dwug(tmp_path / "none")
    (tmp_path / "data/plane").mkdir(parents=True)
    assert not is_dwug(tmp_path)
    (tmp_path / "data/uses.csv").write_text("")
    assert not is_dwug(tmp_path)
    (tmp_path / "data/plane/uses.csv").write_text("")
    assert is_dwug(tmp_path)
