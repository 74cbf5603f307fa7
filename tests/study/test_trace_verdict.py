"""Test the verdicts of a trace: gaps between the ends of a word, compared with control words between the same ends."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from context_encoder import ContextEncoder
from hypothesis import given
from hypothesis import strategies as st

from lexshift import compare, load, trace
from lexshift.cli import terminal
from lexshift.cli.results import print_result
from lexshift.report.trace import content, notebook_view
from lexshift.scoring.background import Background
from lexshift.scoring.gap import Gap, estimate_gap
from lexshift.study.trace_result import TRACE_VERDICTS, Trace
from lexshift.study.verdict import (
    Backdrop,
    Evidence,
    decide_trace_verdict,
    decide_verdict,
    explain_trace_verdict,
    explain_verdict,
    weigh_gaps,
)

SYLLABLES = ("ba", "ke", "li", "mo", "nu", "ra", "se", "ti")
ORDINARY = [a + b + "n" for a in SYLLABLES for b in SYLLABLES]
PERIODS = ("1950s", "1970s", "1990s", "2010s")
USES = {"mouse": "aabb", "peak": "abba", "bread": "aaaa", "late": " aab", "ghost": "a   "}
"""The use of each studied word in each period; none if the word does not occur."""
USAGES = 24
BACKDROP = Backdrop(floor=0.02, control_words=150, common_shift=0.2, ordinary_gap=0.015, is_calibrated=True)
OPTIONS: dict[str, Any] = {
    "split": "lines",
    "language": "en",
    "monitor": False,
    "permutations": 199,
    "resamples": 10,
    "repeats": 3,
}


def sentences(period: int) -> list[str]:
    """Return sentences of ordinary words, whose company is the same in all periods, and of the studied words."""
    rng, lines = random.Random(period), []
    for word in ORDINARY:
        for _ in range(USAGES):
            a, b, c = rng.sample([f"{word}x{letter}" for letter in "abcdefgh"], 3)
            lines.append(f"The {a} and the {word} of the {b} was {c} {rng.randrange(10**6)}q.")
    for word, uses in USES.items():
        if uses[period] == " ":
            continue
        for _ in range(USAGES):
            a, b, c = rng.sample([f"{word}{uses[period]}{letter}" for letter in "abcdefgh"], 3)
            lines.append(f"The {a} and the {word} of the {b} was {c} {rng.randrange(10**6)}q.")
    rng.shuffle(lines)
    return lines


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("periods")
    for period, name in enumerate(PERIODS):
        (folder / f"{name}.txt").write_text("\n".join(sentences(period)) + "\n")
    return [folder / f"{name}.txt" for name in PERIODS]


@pytest.fixture(scope="module")
def saved(paths: list[Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Trace, Path]:
    """Return a trace with control words, and its folder."""
    out = tmp_path_factory.mktemp("saved") / "out"
    return trace(*paths, words=list(USES), model=ContextEncoder(8), control=ORDINARY, out=out, **OPTIONS), out


@pytest.fixture(scope="module")
def found(saved: tuple[Trace, Path]) -> Trace:
    return saved[0]


def test_words_that_changed_stand_out_from_ordinary_words(found: Trace) -> None:
    table = found.table.set_index("word")
    assert table["verdict"].drop("bread").to_dict() == {
        "mouse": "changed", "late": "changed", "peak": "differs", "ghost": "too few",
    }  # fmt: skip
    assert table.loc["bread", "verdict"] in ("stable", "unclear")
    assert found.table["verdict"].map(TRACE_VERDICTS.index).is_monotonic_increasing
    assert (table.loc[["mouse", "late"], "local_fdr"] <= 0.2).all()
    assert table.loc["mouse", "excess"] > table.loc["bread", "excess"]
    assert " from 1950s to 2010s, against " in table.loc["mouse", "reason"]
    assert " from 1970s to 2010s, against " in table.loc["late", "reason"]
    assert table.loc["ghost", ["gap", "gap_low", "gap_high", "excess", "local_fdr"]].isna().all()


def test_word_that_changed_only_in_between_differs(found: Trace) -> None:
    row = found.table.set_index("word").loc["peak"]
    assert row["change_q"] <= 0.05
    assert " from 1950s to 2010s, not beyond chance; " in row["reason"]
    assert row["reason"].endswith("all periods together differ, perhaps only in between")
    assert row["differing_periods"] == "1970s, 2010s"
    assert row["change_points"] == "1970s, 2010s"


def test_evidence_is_the_gap_between_the_ends_compared_with_control_words(found: Trace) -> None:
    """Compare with a computation from the definition, one pair of ends after the other."""
    controls = found.controls
    assert controls is not None
    assert found.space is not None
    assert list(found.backdrops) == [(0, 3), (1, 3)]
    for words, ends in ((["mouse", "peak", "bread"], (0, 3)), (["late"], (1, 3))):
        pairs, documents = {}, {}
        for word in controls.words:
            old, new = (found.space.apply(controls.vectors(word, period)) for period in ends)
            pairs[word] = (old, new)
            documents[word] = tuple(controls.documents(word, period).tolist() for period in ends)
        background = Background(pairs, None, documents)
        gaps, sizes = {}, {}
        for word in words:
            old, new = (found.vectors(word, PERIODS[period]) for period in ends)
            one_file = [0] * len(old), [0] * len(new)
            gaps[word] = estimate_gap(*background.shift.remove(old, new), None, one_file, 0.05, seed=0, word=word)
            sizes[word] = len(old), len(new)
        for word, expected in weigh_gaps(gaps, sizes, background).items():
            assert found.evidence[word] == expected, word
        backdrop = found.backdrops[ends]
        assert (backdrop.floor, backdrop.control_words) == (background.floor, len(ORDINARY))
        assert backdrop.common_shift == background.shift.share


def test_two_periods_have_the_evidence_of_a_comparison(paths: list[Path]) -> None:
    options = {"words": ["mouse", "bread"], "model": ContextEncoder(8), "control": ORDINARY, **OPTIONS}
    ours, theirs = trace(paths[0], paths[3], **options), compare(paths[0], paths[3], **options)
    assert ours.evidence == theirs.evidence
    assert ours.backdrop == theirs.backdrop
    assert ours.run["background"] == theirs.run["background"] | {"periods": ["1950s", "2010s"]}
    names = ["gap", "gap_low", "gap_high", "excess", "local_fdr", "verdict"]
    one, other = (result.table.set_index("word").sort_index()[names] for result in (ours, theirs))
    pd.testing.assert_frame_equal(one, other)


def test_pair_of_periods_with_few_control_words_is_not_compared(paths: list[Path], tmp_path: Path) -> None:
    sparse = tmp_path / "1970s.txt"  # most control words do not occur in this period
    lines = [line for line in paths[1].read_text().splitlines() if not any(f" {w} " in line for w in ORDINARY[29:])]
    sparse.write_text("\n".join(lines) + "\n")
    options = {"words": ["mouse", "bread", "late"], "model": ContextEncoder(8), "control": ORDINARY, **OPTIONS}
    result = trace(paths[0], sparse, *paths[2:], **options)
    assert [backdrop.control_words for backdrop in result.backdrops.values()] == [64, 0]
    table = result.table.set_index("word")
    assert table["excess"].notna().to_dict() == {"mouse": True, "bread": True, "late": False}
    assert table.loc["late", "reason"].endswith("not compared with ordinary words")
    assert table.loc["late", "verdict"] == "changed"


def test_sentences_name_the_periods_and_count_the_verdicts(found: Trace) -> None:
    others = found.table["verdict"].value_counts()
    assert found.headline().startswith(
        "2 of 4 words changed over 4 periods, 1950s to 2010s, beyond what the periods do to ordinary words (1 differs, "
    )
    assert found.headline().endswith("1 too few)")
    assert others["changed"] == 2
    note = found.background_note()
    assert note is not None
    assert note.startswith("Ordinary words (64 control words) moved by a gap of ")
    assert " between 1950s and 2010s; " in note
    assert found.caution() is None
    assert f"<p>{note}." in notebook_view(found).replace("\n", "")


def test_without_control_words_a_warning_says_so(paths: list[Path]) -> None:
    result = trace(*paths, words=["mouse", "ghost"], model=ContextEncoder(8), control=None, **OPTIONS)
    assert result.background_note() is None
    assert (result.caution() or "").startswith("The words were not compared with ordinary words")
    assert result.table["excess"].isna().all()
    none = trace(*paths, words=["ghost"], model=ContextEncoder(8), control=None, **OPTIONS)
    assert (none.caution(), list(none.backdrops), none.ends) == (None, [(0, 3)], ("1950s", "2010s"))


def test_saved_trace_has_its_evidence(saved: tuple[Trace, Path]) -> None:
    result, folder = saved
    loaded = load(folder)
    assert isinstance(loaded, Trace)
    assert loaded.evidence == result.evidence
    assert loaded.backdrops == result.backdrops
    pd.testing.assert_frame_equal(loaded.table, result.table, check_exact=True)
    background = json.loads((folder / "run.json").read_text())["background"]
    assert background["periods"] == ["1950s", "2010s"]
    assert background["floor"] == result.backdrop.floor
    assert background["control_words"] == 64


def test_table_and_page_show_gaps_and_reasons(
    found: Trace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(terminal.out, "_width", 200)
    print_result(found, "table")
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["word", "1950s", "…", "2010s", "change", "gap", "excess", "q", "verdict", "change", "points"]
    rows = {line[0]: line for line in lines[1:]}
    for row in found.table[found.table["verdict"] != "too few"].to_dict("records"):
        assert rows[row["word"]][3] == found.backdrop.format_gap(row["gap"])
        assert rows[row["word"]][6] == row["verdict"]
    assert " ".join(rows["ghost"][1:]) == "too few 10 usages are needed in two periods"
    page = {word["word"]: word for word in content(found)["words"]}
    assert {word: values["reason"] for word, values in page.items()} == dict(
        zip(found.table["word"], found.table["reason"], strict=True)
    )


@given(
    st.floats(-0.1, 0.4), st.floats(0, 0.1), st.none() | st.floats(0, 1), st.floats(0, 0.1), st.booleans(),
    st.booleans(),
)  # fmt: skip
def test_trace_verdict_is_that_of_a_comparison_unless_the_word_differs_in_between(
    value: float, width: float, fdr: float | None, q: float, has_middle: bool, only_between: bool
) -> None:
    evidence = Evidence(Gap(value, value - width, value + width, 0.1), None if fdr is None else 1.0, fdr)
    verdict = decide_trace_verdict(evidence, q, 0.05, 0.02, has_middle)
    between = decide_verdict(evidence, q, 0.05, 0.02)
    assert verdict == ("differs" if between == "stable" and has_middle and q <= 0.05 else between)
    reason = explain_trace_verdict(verdict, evidence, BACKDROP, "1950s to 2010s", only_between)
    assert " from 1950s to 2010s" in reason
    plain = explain_verdict(verdict, evidence, BACKDROP)
    if verdict == "differs" and only_between:
        assert reason.endswith("not beyond chance; all periods together differ, perhaps only in between")
    else:
        assert reason.replace(" from 1950s to 2010s", "", 1) == plain
