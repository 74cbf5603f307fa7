"""Test the comparison of groups with planted cases: time, one group, who is talking, and nothing."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import chi2_contingency, false_discovery_control

from lexshift import Result, UserError, compare, discover, embed, find_senses, load, trace
from lexshift.cli.results import print_result, print_summary
from lexshift.report import render
from lexshift.report.groups import group_columns, group_rows
from lexshift.report.methods import methods
from lexshift.scoring.gap import Gap, gap
from lexshift.scoring.group_difference import GroupDifference
from lexshift.scoring.permutation import PermutationTest
from lexshift.study.groups import (
    BOTH,
    COMPOSITION,
    DIFFERENT,
    FEW,
    NO_CHANGE,
    ONE,
    UNCLEAR_GROUP,
    GroupChange,
    GroupComparison,
    GroupPair,
)
from lexshift.study.verdict import Evidence

FAST: dict[str, Any] = {"resamples": 5, "repeats": 2, "split": "lines", "space": "raw", "control": None}
QUIET: dict[str, Any] = {**FAST, "monitor": False}
TOPICS = {"sky": (1.0, 0.0, 0.0), "disk": (0.0, 1.0, 0.0), "neck": (0.0, 0.0, 1.0)}
CELLS = {
    # word: the topic and the number of usages of left and right in the old, then in the new corpus
    "time": (("sky", 40), ("sky", 40), ("disk", 40), ("disk", 40)),
    "single": (("sky", 40), ("sky", 40), ("disk", 40), ("sky", 40)),
    "mixed": (("sky", 60), ("disk", 15), ("sky", 15), ("disk", 60)),
    "still": (("sky", 40), ("sky", 40), ("sky", 40), ("sky", 40)),
    "rare": (("sky", 30), ("sky", 4), ("sky", 30), ("sky", 30)),
}
EXPECTED = {
    "time": "changed in left and in right; no difference shown",
    "single": "changed more in left than in right",
    "mixed": "who is talking: the corpora differ, but within no group a difference was shown",
    "still": "no change shown: stable in left and stable in right",
    "rare": "too few usages in right",
}


class Topics:
    """Encoder whose vector is the topic of the sentence with noise that depends on the sentence."""

    def encode(self, sentences: Sequence[str], _spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        rows = []
        for sentence in sentences:
            _, topic, number = sentence.split()
            rows.append(np.array(TOPICS[topic]) + 0.4 * np.random.default_rng(int(number)).normal(size=3))
        return np.array(rows, np.float32)


def planted(cells: dict[str, Any] = CELLS) -> tuple[list[list[str]], list[list[str]]]:
    """Return the records of both corpora: text and party."""
    corpora: tuple[list[list[str]], list[list[str]]] = ([], [])
    number = 5000
    for word, of_word in cells.items():
        for cell, (topic, n) in enumerate(of_word):
            for _ in range(n):
                number += 1
                corpora[cell // 2].append([f"{word} {topic} {number}", ("left", "right")[cell % 2]])
    return corpora


def write_tables(folder: Path, corpora: Sequence[Sequence[Sequence[str]]]) -> tuple[Path, Path]:
    folder.mkdir(exist_ok=True)
    paths = folder / "old.csv", folder / "new.csv"
    for path, rows in zip(paths, corpora, strict=True):
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([("text", "party"), *rows])
    return paths


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    folder = tmp_path_factory.mktemp("groups")
    paths = write_tables(folder, planted())
    return compare(*paths, list(CELLS), model=Topics(), groups="party", out=folder / "out", **QUIET)


def test_planted_cases_are_read_as_they_were_planted(result: Result) -> None:
    assert dict(zip(result.group_differences["word"], result.group_differences["reading"], strict=True)) == EXPECTED
    assert result.group_differences["word"].iloc[0] == "single"
    assert result.group_differences["word"].iloc[-1] == "rare"
    assert result.group_headline() == (
        "By party (left, right), of 5 words: 1 changed more in one group than in another, 1 changed in several groups "
        "without a difference shown, 1 differs by who is talking, 1 shows no change, 1 has too few usages in the groups"
    )


def test_table_of_groups_has_the_gaps_of_the_definition(result: Result) -> None:
    table = result.groups
    assert list(table.columns) == ["word", "group", "n_old", "n_new", "gap", "gap_low", "gap_high", "p", "q", "verdict"]
    counts = {
        (word, side): (cells[i][1], cells[i + 2][1])
        for word, cells in CELLS.items()
        for i, side in enumerate(("left", "right"))
    }
    found = {(row.word, row.group): (row.n_old, row.n_new) for row in table.itertuples()}
    assert found == counts
    store = result.siblings
    for row in table[table["word"] != "rare"].itertuples():
        old, new = (
            store[row.word][corpus][(store[row.word].occurrences(corpus)["group"] == row.group).to_numpy()]
            for corpus in store.corpora
        )
        assert row.gap == pytest.approx(gap(old, new), abs=1e-6)
        assert row.gap_low <= row.gap <= row.gap_high
    tested = table.dropna()
    assert set(table["word"]) - set(tested["word"]) == set()
    assert len(tested) == len(table) - 1
    assert tested["q"].tolist() == pytest.approx(false_discovery_control(tested["p"]).tolist())


def test_differences_are_those_of_the_table_of_groups(result: Result) -> None:
    gaps = result.groups.set_index(["word", "group"])["gap"]
    rows = result.group_differences.dropna()
    assert len(rows) == 4
    for row in rows.itertuples():
        assert row.difference == pytest.approx(gaps[row.word, row.first] - gaps[row.word, row.second], abs=1e-6)
        assert row.low <= row.difference <= row.high
    assert rows["q"].tolist() == pytest.approx(false_discovery_control(rows["p"]).tolist())


def test_result_with_groups_is_saved_and_restored(result: Result, tmp_path: Path) -> None:
    folder = result.save(tmp_path / "saved")
    loaded = load(folder)
    assert isinstance(loaded, Result)
    assert loaded.groups.equals(result.groups)
    assert loaded.group_differences.equals(result.group_differences)
    assert loaded.group_headline() == result.group_headline()
    assert json.loads((folder / "run.json").read_text())["settings"]["groups"] == "party"
    header, first, *_ = (folder / "group_differences.csv").read_text().splitlines()
    assert header == "word,first,second,difference,low,high,p,q,reading"
    assert first.startswith("single,left,right,")
    assert len((folder / "groups.csv").read_text().splitlines()) == 1 + 2 * len(CELLS)


def test_results_do_not_depend_on_the_other_words_or_on_the_run(result: Result, tmp_path: Path) -> None:
    paths = write_tables(tmp_path, planted())
    again = compare(*paths, ["still", "single"], model=Topics(), groups="party=left,right", **QUIET)
    columns = ["n_old", "n_new", "gap", "gap_low", "gap_high"]
    both = (some.groups.set_index(["word", "group"]).loc[["single", "still"], columns] for some in (result, again))
    assert next(both).equals(next(both))


def test_run_without_groups_has_empty_tables_and_no_files(tmp_path: Path) -> None:
    paths = write_tables(tmp_path, planted())
    options: dict[str, Any] = {"model": Topics(), "out": tmp_path / "out", **QUIET}
    plain = compare(*paths, ["still"], **options)
    assert plain.groups.empty
    assert plain.group_differences.empty
    assert plain.group_headline() is None
    assert not (tmp_path / "out" / "groups.csv").exists()
    assert "groups" not in plain.run["settings"]


def test_order_of_the_named_groups_gives_the_sign(result: Result, tmp_path: Path) -> None:
    paths = write_tables(tmp_path, planted())
    turned = compare(*paths, list(CELLS), model=Topics(), groups="party=right,left", **QUIET)
    value = dict(zip(turned.group_differences["word"], turned.group_differences["difference"], strict=True))
    before = dict(zip(result.group_differences["word"], result.group_differences["difference"], strict=True))
    assert value["single"] == pytest.approx(-before["single"], abs=1e-6)
    assert turned.group_differences["reading"][0] == EXPECTED["single"]


# ---------------------------------------------------------------------------------------------- where groups come from


def test_folders_are_groups(tmp_path: Path) -> None:
    for name, rows in zip(("old", "new"), planted(), strict=True):
        for party in ("left", "right"):
            (tmp_path / name / party / "deeper").mkdir(parents=True)
            lines = [text for text, of_party in rows if of_party == party]
            (tmp_path / name / party / "deeper" / "a.txt").write_text("\n".join(lines) + "\n")
        (tmp_path / name / "none.txt").write_text("still sky 9999\n")
    options: dict[str, Any] = {"model": Topics(), "out": tmp_path / "out", **QUIET}
    found = compare(tmp_path / "old", tmp_path / "new", ["time", "single", "still"], groups="folder", **options)
    readings = dict(zip(found.group_differences["word"], found.group_differences["reading"], strict=True))
    assert readings == {word: EXPECTED[word] for word in ("time", "single", "still")}
    assert found.group_comparison is not None
    assert found.group_comparison.without == {"still": 2}
    note = "2 usages belong to none of the groups left, right, and count only for the corpora as wholes"
    assert note in found.run["notes"]
    plain = compare(tmp_path / "old", tmp_path / "new", ["time", "single", "still"], **options)
    assert plain.siblings.fingerprint == found.siblings.fingerprint  # the same store serves both
    assert not (tmp_path / "out" / "groups.csv").exists()


def test_three_groups_are_compared_in_pairs_and_usages_of_other_groups_are_reported(tmp_path: Path) -> None:
    old, new = planted({"single": CELLS["single"]})
    for rows, topic in ((old, "sky"), (new, "neck")):
        rows += [[f"single {topic} {50_000 + 50 * (topic == 'neck') + i}", "centre"] for i in range(40)]
    paths = write_tables(tmp_path, (old, new))
    found = compare(*paths, ["single"], model=Topics(), groups="party", **QUIET)
    pairs = {(row.first, row.second): row.reading for row in found.group_differences.itertuples()}
    assert pairs == {
        ("centre", "left"): "changed in centre and in left; no difference shown",
        ("centre", "right"): "changed more in centre than in right",
        ("left", "right"): "changed more in left than in right",
    }
    named = compare(*paths, ["single"], model=Topics(), groups="party=left,right", **QUIET)
    assert named.group_comparison is not None
    assert named.group_comparison.names == ["left", "right"]
    assert named.group_comparison.without == {"single": 80}


# --------------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (
            "party=left,rigt",
            "no usage of the words belongs to the group 'rigt' in the column 'party', which has the "
            "groups 'left', 'right'; did you mean 'right'?",
        ),
        ("partei", "--groups"),
        ("folder", "no usage of the words has a group in the folders of the corpora; put the files of each group"),
        ("party=left", "groups must be a column"),
        ("", "groups must be a column"),
        ("=left,right", "groups must be a column"),
    ],
)
def test_errors_name_what_is_wrong(tmp_path: Path, groups: str, message: str) -> None:
    paths = write_tables(tmp_path, planted({"still": CELLS["still"]}))
    with pytest.raises(UserError) as raised:
        compare(*paths, ["still"], model=Topics(), groups=groups, **QUIET)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("parties", "message"),
    [
        (
            "abcdef",
            "the column 'party' has 6 groups, but at most 5 can be compared; name some of them, for example "
            "--groups party=b,c",
        ),
        ("a", "the column 'party' has only the group 'a'"),
    ],
)
def test_number_of_groups_is_limited(tmp_path: Path, parties: str, message: str) -> None:
    rows = [[f"still sky {i}", parties[i % len(parties)]] for i in range(40)]
    with pytest.raises(UserError) as raised:
        compare(*write_tables(tmp_path, (rows, rows[1:])), ["still"], model=Topics(), groups="party", **QUIET)
    assert message in str(raised.value)


def test_plain_text_has_no_column_of_groups(tmp_path: Path) -> None:
    paths = tmp_path / "a.txt", tmp_path / "b.txt"
    for i, path in enumerate(paths):
        path.write_text("".join(f"still sky {20 * i + k}\n" for k in range(20)))
    with pytest.raises(UserError, match="--groups folder takes the folders"):
        compare(*paths, ["still"], model=Topics(), groups="party", **QUIET)


@pytest.mark.parametrize("function", [trace, find_senses, discover])
def test_other_questions_refuse_groups(function: Any) -> None:
    with pytest.raises(UserError, match=f"{function.__name__} does not compare groups; use compare"):
        function("a.csv", "b.csv", groups="party")


def test_embed_stores_the_groups(tmp_path: Path) -> None:
    old, _ = write_tables(tmp_path, planted({"still": CELLS["still"]}))
    store = embed(old, words=["still"], model=Topics(), groups="party")
    assert store.groups == ["left"] * 40 + ["right"] * 40
    assert store.settings["reading"]["groups"] == "party"
    assert embed(old, words=["still"], model=Topics()).groups is None


# ------------------------------------------------------------------------------------------------------------- readings


def comparison(
    p_left: float | None,
    p_right: float | None,
    p_difference: float | None,
    *,
    old: tuple[int, int] = (40, 40),
    new: tuple[int, int] = (40, 40),
    without: int = 0,
    value: float = 0.2,
) -> GroupComparison:
    """Return the comparison of one word in two groups with these p-values; None with too few usages."""

    def change(group: str, n_old: int, n_new: int, p: float | None) -> GroupChange:
        if p is None:
            return GroupChange("w", group, n_old, n_new, None, None)
        evidence, test = Evidence(Gap(0.1, 0, 0.2, 0.1)), PermutationTest(p, 0.1, 1, 999, False)
        return GroupChange("w", group, n_old, n_new, evidence, test)

    changes = [change("left", old[0], new[0], p_left), change("right", old[1], new[1], p_right)]
    found = None if p_difference is None else GroupDifference(value, -1, 1, p_difference, 1000, "usages")
    pairs = [GroupPair("w", "left", "right", found)]
    return GroupComparison("party", ["left", "right"], {"w": without} if without else {}, changes, pairs, 0.05, 0.02)


SHIFTED: dict[str, Any] = {"old": (60, 15), "new": (15, 60)}
WHO = "who is talking: the corpora differ, but within no group a difference was shown"
WHERE = "changed, but it is unclear in which group"


@pytest.mark.parametrize(
    ("p", "options", "overall", "kind", "text"),
    [
        ((0.001, 0.5, 0.01), {}, "differs", DIFFERENT, "changed more in left than in right"),
        ((0.5, 0.001, 0.01), {"value": -0.2}, "unclear", DIFFERENT, "changed more in right than in left"),
        ((0.001, 0.001, 0.001), {}, "changed", DIFFERENT, "changed more in left than in right"),
        ((0.5, 0.5, 0.001), {}, "unclear", NO_CHANGE, "no change shown: unclear in left and unclear in right"),
        ((0.5, 0.001, 0.001), {}, "changed", ONE, "changed in right, unclear in left"),
        ((0.001, 0.001, 0.5), {}, "changed", BOTH, "changed in left and in right; no difference shown"),
        ((0.9, 0.001, 0.5), {}, "unclear", ONE, "changed in right, unclear in left; no difference shown"),
        ((0.5, 0.5, 0.5), SHIFTED, "changed", COMPOSITION, WHO),
        ((0.5, 0.5, 0.5), SHIFTED, "differs", COMPOSITION, WHO),
        ((0.5, 0.5, 0.5), SHIFTED, "stable", NO_CHANGE, "no change shown: unclear in left and unclear in right"),
        ((0.5, 0.5, 0.5), {"old": (40, 41), "new": (41, 40)}, "changed", UNCLEAR_GROUP, WHERE),
        ((0.5, 0.5, 0.5), {**SHIFTED, "without": 1}, "changed", UNCLEAR_GROUP, WHERE),
        ((0.06, 0.06, 0.5), SHIFTED, "changed", UNCLEAR_GROUP, WHERE),  # together they differ
        ((0.06, 0.06, 0.5), SHIFTED, "differs", NO_CHANGE, "no change shown: unclear in left and unclear in right"),
        ((None, 0.001, None), {}, "changed", FEW, "too few usages in left"),
        ((None, None, None), {}, "too few", FEW, "too few usages in left, right"),
    ],
)
def test_reading_follows_its_definition(
    p: tuple[Any, ...], options: dict[str, Any], overall: str, kind: str, text: str
) -> None:
    (reading,) = comparison(*p, **options).read({"w": overall})
    assert (reading.kind, reading.text) == (kind, text)


def test_change_within_a_group_must_exceed_the_noise_floor() -> None:
    found = replace(comparison(0.001, 0.001, 0.5), floor=0.15)
    assert found.table()["verdict"].tolist() == ["differs", "differs"]
    assert [reading.kind for reading in found.read({"w": "differs"})] == [NO_CHANGE]


def test_gaps_within_groups_are_compared_with_ordinary_words(tmp_path: Path) -> None:
    """All words move in the same way, so a word that moves as much as they do is not called changed."""
    controls = [f"control{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(40)]
    paths = write_tables(tmp_path, planted(dict.fromkeys(["time", *controls], CELLS["time"])))
    options: dict[str, Any] = {**QUIET, "control": controls, "permutations": 99}
    found = compare(*paths, ["time"], model=Topics(), groups="party", **options)
    assert found.group_comparison is not None
    for change in found.group_comparison.changes:
        assert change.evidence is not None
        assert change.evidence.local_fdr is not None
        assert change.evidence.local_fdr > 0.2
    assert "changed" not in set(found.groups["verdict"])


def test_shares_of_the_cases_differ_as_the_test_says() -> None:
    assert chi2_contingency([(60, 15), (15, 60)]).pvalue < 0.05 < chi2_contingency([(40, 41), (41, 40)]).pvalue


# ---------------------------------------------------------------------------------------------------------------- views


def test_terminal_shows_the_groups_after_the_ranking(result: Result, capsys: pytest.CaptureFixture[str]) -> None:
    print_result(result, "table")
    print_summary(result, "out")
    out, err = capsys.readouterr()
    ranking, table = out.split("\n\n")
    assert ranking.split()[0] == table.split()[0] == "word"
    assert [line.split()[0] for line in table.splitlines()[1:] if not line.startswith(" ")] == [
        "single",
        "time",
        "mixed",
        "still",
        "rare",
    ]
    assert " ".join(err.split()).count(str(result.group_headline())) == 1


def test_other_formats_are_the_table_of_words(result: Result, capsys: pytest.CaptureFixture[str]) -> None:
    print_result(result, "json")
    rows = json.loads(capsys.readouterr().out)
    assert [row["word"] for row in rows] == result.table["word"].tolist()
    assert set(rows[0]) == set(result.table.columns)


def test_page_notebook_and_methods_describe_the_groups(result: Result) -> None:
    page = render(result)
    section = page.split('aria-labelledby="groups"')[1].split("</section>")[0]
    for text in (*EXPECTED.values(), "gap in left", str(result.group_headline())):
        assert text in section
    assert str(result.group_headline()) in result._repr_html_()
    assert "(party: left and right)" in methods(result)[-1]
    assert "9 words and groups, and over the 4 words and pairs of groups" in methods(result)[-1]


def test_long_table_is_shortened_and_says_so(result: Result, capsys: pytest.CaptureFixture[str]) -> None:
    found = result.group_comparison
    assert found is not None
    (pair,) = (pair for pair in found.pairs if pair.word == "still")
    many = replace(found, pairs=[pair] * 121)
    long = replace(result, group_comparison=many)
    assert len(group_rows(long, 20)) == 20
    print_result(long, "table")
    print_summary(long, "results")
    assert "group_differences.csv has 101 more rows" in capsys.readouterr().err
    assert "group_differences.csv lists 21 more rows" in render(long)


def test_names_of_groups_are_escaped_on_the_page_and_in_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = {"left": "<script>alert(1)</script>", "right": "=1+1\x1b[31m"}
    corpora = [[[text, hostile[party]] for text, party in rows] for rows in planted({"single": CELLS["single"]})]
    paths = write_tables(tmp_path, corpora)
    found = compare(*paths, ["single"], model=Topics(), groups="party", out=tmp_path / "out", **QUIET)
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "<script>alert" not in page
    assert "gap in &lt;script&gt;alert(1)&lt;/script&gt;" in page
    print_result(found, "table")
    assert "\x1b" not in capsys.readouterr().out
    assert "\n=1+1" not in (tmp_path / "out" / "groups.csv").read_text("utf-8").replace(",", "\n")


def test_table_of_three_groups_names_the_pair(tmp_path: Path) -> None:
    rows = [[f"still sky {i}", "abc"[i % 3]] for i in range(90)]
    found = compare(*write_tables(tmp_path, (rows[:45], rows[45:])), ["still"], model=Topics(), groups="party", **QUIET)
    assert group_columns(found) == ["word", "groups", "gaps", "difference", "95 % interval", "q", "reading"]
    assert {row[1] for row in group_rows(found, 9)} == {"a, b", "a, c", "b, c"}
