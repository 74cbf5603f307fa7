"""Test ``trace``: equality with a comparison for two periods, skipped periods, dated corpora, and mistakes."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from context_encoder import ContextEncoder
from hypothesis import given
from hypothesis import strategies as st

from lexshift import UserError, benjamini_hochberg, compare
from lexshift.cli import terminal
from lexshift.cli.results import print_result
from lexshift.report.trace import content
from lexshift.scoring.changepoints import ChangePoints
from lexshift.senses.evidence import typicality
from lexshift.study.trace import trace
from lexshift.study.trace_result import Trace
from lexshift.study.usages import find_steps

FAST: dict[str, Any] = {
    "duplicates": "keep",
    "permutations": 199,
    "resamples": 30,
    "repeats": 5,
    "monitor": False,
    "split": "lines",
}
WORDS = ["mouse", "bread", "comet", "ghost", "nowhere"]
# Number of occurrences of each word in four periods, and the first period of its new usage.
COUNTS = {"mouse": (20, 18, 22, 20), "bread": (15, 20, 16, 18), "comet": (2, 14, 3, 15), "ghost": (12, 0, 1, 2)}
MOVED = {"mouse": 2}
NUMBERS = ["score", "low", "high", "p", "q"]


class Toy(ContextEncoder):
    """Encoder that counts the usages that it encodes."""

    def __init__(self) -> None:
        super().__init__()
        self.n_encoded = 0

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        self.n_encoded += len(sentences)
        return super().encode(sentences, spans)


class RecordingMonitor:
    """Monitor that records its events."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, int]] = []
        self.notes: list[str] = []
        self.done: dict[str, int] = {}

    def stage(self, name: str, total: int, unit: str) -> None:
        assert unit
        self.stages.append((name, total))

    def advance(self, done: int, items: int = 0, status: str = "") -> None:
        assert items >= 0
        assert not status
        self.done[self.stages[-1][0]] = done

    def note(self, text: str) -> None:
        self.notes.append(text)


def sentences(period: int) -> list[str]:
    rng, lines = random.Random(period), []
    for word, counts in COUNTS.items():
        use = "new" if period >= MOVED.get(word, 9) else "old"
        for _ in range(counts[period]):
            a, b, c = rng.sample([f"{word}{use}{letter}" for letter in "abcdefgh"], 3)
            lines.append(f"The {a} and the {word} of the {b} was {c}.")
    rng.shuffle(lines)
    return lines


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("periods")
    made = []
    for period, name in enumerate(("1960s.txt", "1980s.txt", "2000s.txt", "2010s.txt")):
        made.append(folder / name)
        made[-1].write_text("\n".join(sentences(period)) + "\n")
    return made


@pytest.fixture(scope="module")
def found(paths: list[Path]) -> Trace:
    return trace(*paths, words=WORDS, model=Toy(), **FAST)


@pytest.mark.parametrize(
    "options",
    [{}, {"rate": "auto", "metric": "cosine"}, {"normalised": True, "space": "raw", "seed": 3, "strategy": "distance"}],
    ids=["as usual", "at the best rate", "normalised"],
)
def test_trace_of_two_periods_equals_a_comparison(paths: list[Path], options: dict[str, Any]) -> None:
    ours = trace(*paths[1:3], words=WORDS, model=Toy(), **(FAST | options))
    theirs = compare(paths[1], paths[2], words=WORDS, model=Toy(), **(FAST | options))
    expected = theirs.table[theirs.table["verdict"] != "too few"].set_index("word").sort_index()
    assert len(expected) == 2
    for kind in ("neighbours", "first"):
        rows = ours.steps[ours.steps["kind"] == kind].set_index("word").sort_index()
        pd.testing.assert_frame_equal(rows[NUMBERS], expected[NUMBERS], check_exact=True)
        assert rows["n_from"].tolist() == expected["n_old"].tolist()
        assert rows["n_to"].tolist() == expected["n_new"].tolist()
    assert ours.run["rate"] == theirs.run["rate"]
    assert theirs.run["settings"].pop("split_at") is None
    assert ours.run["settings"].items() >= theirs.run["settings"].items()
    assert ours.periods == list(theirs.labels)
    assert ours.space is not None
    assert theirs.space is not None
    assert ours.space.mean.tolist() == theirs.space.mean.tolist()


def test_every_step_of_every_word_has_a_row(found: Trace) -> None:
    labels = ["1960s", "1980s", "2000s", "2010s"]
    assert found.periods == labels
    table = found.steps
    rows = [tuple(row) for row in table[["word", "kind", "from", "to", "skipped"]].to_numpy()]
    assert [row for row in rows if row[0] == "bread"] == [
        *[("bread", "neighbours", a, b, "") for a, b in itertools.pairwise(labels)],
        *[("bread", "first", labels[0], b, "") for b in labels[1:]],
    ]
    assert [row for row in rows if row[0] == "comet"] == [
        ("comet", "neighbours", "1980s", "2010s", "2000s"),
        ("comet", "first", "1980s", "2010s", "1960s"),
    ]
    assert set(table["word"]) == {"mouse", "bread", "comet"}
    for kind, part in table.groupby("kind"):
        assert part["q"].tolist() == benjamini_hochberg(part["p"]).tolist(), kind
    assert ((table["q"] <= 0.05) == table["differs"]).all()


def test_planted_change_is_found_at_its_position(found: Trace) -> None:
    words = found.table.set_index("word")
    assert words["verdict"].to_dict() == {
        "mouse": "changed", "bread": "unclear", "comet": "unclear", "ghost": "too few", "nowhere": "too few",
    }  # fmt: skip
    assert found.table["word"].iloc[0] == "mouse"
    assert words.loc["mouse", ["change_points", "differing_periods"]].tolist() == ["2000s", "2000s"]
    assert words.loc["mouse", ["periods", "usages"]].tolist() == [4, 80]
    assert words.loc["comet", ["periods", "usages"]].tolist() == [2, 34]
    assert words.loc["ghost", ["periods", "usages", "change_points", "season"]].tolist() == [0, 15, "", ""]
    assert words.loc["mouse", "score"] == found.word("mouse").steps("first")["score"].iloc[-1]
    assert "1 of 3 words changed over 4 periods, 1960s to 2010s" in repr(found)
    assert "(2 unclear, 2 too few)" in found.headline()
    assert words.loc["ghost", "reason"] == "10 usages are needed in two periods"


def printed(found: Trace, word: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the line of a word in the printed table."""
    monkeypatch.setattr(terminal.out, "_width", 200)
    print_result(found, "table")
    return next(line for line in capsys.readouterr().out.splitlines() if line.startswith(word)).rstrip()


def judged(found: Trace, **changes: ChangePoints) -> Trace:
    """Return the same trace with other change points."""
    return replace(found, changes={**found.changes, **changes})


def test_change_points_are_reported_if_the_word_changed_among_all_words(
    found: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    doubtful = ChangePoints((2,), 0.04, 1.0, 1.1, 999, shape="step")
    for other, verdict, listed in ((0.001, "differs", "2000s"), (0.5, "unclear", "")):
        changed = judged(
            found,
            bread=doubtful,
            mouse=ChangePoints((), other, 1.0, 1.1, 999),
            comet=ChangePoints((), other, 1, 1, 999),
        )
        words = changed.table.set_index("word")
        assert words.loc["bread", ["verdict", "change_points"]].tolist() == [verdict, listed]
        assert words.loc["bread", "shape"] == ("step" if listed else "")
        page = {word["word"]: word for word in content(changed)["words"]}
        assert page["bread"]["changes"] == ([2] if listed else [])
        assert printed(changed, "bread", monkeypatch, capsys).endswith("2000s") == bool(listed)
        saved = pd.read_csv(changed.save(tmp_path / verdict) / "scores.csv", keep_default_na=False).set_index("word")
        assert saved.loc["bread", "change_points"] == listed


def test_gradual_drift_has_no_change_points(
    found: Trace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drifted = judged(found, mouse=replace(found.changes["mouse"], at=(1, 2), shape="gradual"))
    row = drifted.table.set_index("word").loc["mouse"]
    assert row[["verdict", "shape", "change_points"]].tolist() == ["changed", "gradual", ""]
    entry = next(word for word in content(drifted)["words"] if word["word"] == "mouse")
    assert (entry["changes"], entry["shape"]) == ([], "gradual")
    assert "gradual drift" in printed(drifted, "mouse", monkeypatch, capsys)


def test_shape_of_a_planted_change_is_reported(found: Trace) -> None:
    assert found.table.set_index("word")["shape"].to_dict() == {
        "mouse": "step", "bread": "", "comet": "", "ghost": "", "nowhere": "",
    }  # fmt: skip


def test_result_of_a_word_does_not_depend_on_the_others(paths: list[Path], found: Trace) -> None:
    alone = trace(*paths, words=["mouse"], model=Toy(), space="raw", **FAST)
    both = trace(*paths, words=["bread", "mouse"], model=Toy(), space="raw", **FAST)
    columns = ["from", "to", "score", "low", "high", "p"]
    for kind in ("neighbours", "first"):
        one, other = (result.word("mouse").steps(kind)[columns] for result in (alone, both))
        pd.testing.assert_frame_equal(one, other)
    assert alone.changes["mouse"] == both.changes["mouse"]
    assert found.changes["mouse"].at == (2,)


def test_rows_of_all_words_are_found_in_one_pass(found: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    table, passes = found.steps, []
    again = replace(found)
    again.steps  # noqa: B018  it is computed once
    for name in ("groupby", "__getitem__"):
        whole = getattr(pd.DataFrame, name)

        def counted(self: pd.DataFrame, *given: Any, whole: Any = whole, **options: Any) -> Any:
            passes.append(len(self) == len(table))
            return whole(self, *given, **options)

        monkeypatch.setattr(pd.DataFrame, name, counted)
    rows = {(word, kind): again.word(word).steps(kind) for word in WORDS for kind in ("neighbours", "first")}
    monkeypatch.undo()
    assert sum(passes) < 5
    for (word, kind), part in rows.items():
        expected = table[(table["word"] == word) & (table["kind"] == kind)].reset_index(drop=True)
        pd.testing.assert_frame_equal(part, expected)
    with pytest.raises(UserError, match="word must be one of"):
        again.word("moose")
    with pytest.raises(UserError, match="kind must be one of first, neighbours; got 'last'"):
        again.word("mouse").steps("last")


def test_usages_are_ordered_by_typicality(found: Trace) -> None:
    frame = found.word("mouse").usages("2000s")
    assert len(frame) == 22
    assert frame["typical"].is_monotonic_decreasing
    assert all("mousenew" in sentence for sentence in frame["sentence"])
    assert [s[a:b] for s, a, b in zip(frame["sentence"], frame["start"], frame["end"], strict=True)] == ["mouse"] * 22
    with pytest.raises(UserError, match="'nowhere' does not occur"):
        found.word("nowhere").usages("2000s")
    with pytest.raises(UserError, match="period must be one of"):
        found.word("mouse").usages("1990s")


@given(st.integers(1, 8), st.integers(1, 4), st.integers(0, 10**6))
def test_typicality_is_the_mean_cosine_with_the_others(n: int, d: int, seed: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(n, d))
    rows[0] *= seed % 2  # a row of zeros has no similarity
    for i, value in enumerate(typicality(rows)):
        sizes = [np.linalg.norm(row) for row in rows]
        likes = [rows[i] @ rows[j] / ((sizes[i] * sizes[j]) or 1) for j in range(n) if j != i]
        assert value == pytest.approx(np.mean(likes) if likes else 0, abs=1e-9)


@given(st.lists(st.integers(0, 4), min_size=0, max_size=7))
def test_steps_connect_consecutive_periods_with_enough_usages(counts: list[int]) -> None:
    found = find_steps("mouse", counts, 2)
    enough = [i for i, n in enumerate(counts) if n >= 2]
    expected = set()
    for a in enough:
        for b in enough:
            if a < b and not any(a < c < b for c in enough):
                expected.add(("neighbours", a, b, tuple(c for c in range(len(counts)) if a < c < b)))
            if a == enough[0] < b:
                expected.add(("first", a, b, tuple(range(a))))
    assert {(step.kind, step.start, step.end, step.skipped) for step in found} == expected
    assert len(found) == len(expected)


def monthly(folder: Path) -> Path:
    """Write four years of months with a word that changes once, a seasonal word, and a stable one."""
    rng, rows = random.Random(0), []
    for year in range(2001, 2005):
        for month in range(1, 13):
            for word in ("mouse", "turkey", "bread"):
                moved = (word == "mouse" and (year, month) >= (2003, 3)) or (word == "turkey" and month in (11, 12))
                for _ in range(8):
                    a, b, c = rng.sample([f"{word}{moved}{letter}" for letter in "abcdefgh"], 3)
                    rows.append(
                        {"text": f"The {a} and the {word} of the {b} was {c}.", "date": f"{year}-{month:02}-03"}
                    )
    rng.shuffle(rows)
    path = folder / "news.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"text": "a mouse", "date": None}]))
    return path


@pytest.mark.slow
def test_months_distinguish_changes_from_seasons(tmp_path: Path) -> None:
    recorder = RecordingMonitor()
    quick = FAST | {"monitor": recorder, "permutations": 99, "resamples": 2, "repeats": 2, "min_usages": 5}
    found = trace(
        monthly(tmp_path),
        words=["mouse", "turkey", "bread"],
        by="month",
        date_column="date",
        model=Toy(),
        out=tmp_path / "out",
        **quick,
    )
    assert (len(found.periods), found.periods[0], found.periods[-1]) == (48, "2001-01", "2004-12")
    words = found.table.set_index("word")
    assert words["season"].to_dict() == {"turkey": "seasonal", "mouse": "none", "bread": "none"}
    assert words["change_points"].to_dict() == {"mouse": "2003-03", "turkey": "", "bread": ""}
    assert int(np.argmax(found.seasons["turkey"].profile)) in (10, 11)
    assert "1 of 3 are seasonal" in found.headline()
    assert found.run["corpora"][0]["skipped"] == {"records without a date, of all periods": 1}
    assert recorder.done["scoring"] == dict(recorder.stages)["scoring"] == 3 * (47 + 46)
    saved = pd.read_csv(tmp_path / "out/steps.csv", keep_default_na=False)
    pd.testing.assert_frame_equal(saved, found.steps, check_dtype=False)
    assert pd.read_csv(tmp_path / "out/scores.csv")["word"].tolist() == found.table["word"].tolist()
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out/steps.parquet"), found.steps)
    assert json.loads((tmp_path / "out/run.json").read_text())["settings"]["by"] == "month"
    assert (tmp_path / "out/report.html").stat().st_size > 10_000


def test_years_have_no_season(tmp_path: Path) -> None:
    found = trace(monthly(tmp_path), words=["mouse"], by="year", date_column="date", model=Toy(), **FAST)
    assert (found.periods, found.seasons) == (["2001", "2002", "2003", "2004"], {})
    assert found.table["season"].tolist() == [""]


def test_repeated_run_embeds_nothing(paths: list[Path], tmp_path: Path) -> None:
    toy = Toy()
    first = trace(*paths, words=WORDS, model=toy, out=tmp_path / "out", **FAST)
    n_encoded = toy.n_encoded
    again = trace(*paths, words=WORDS, model=toy, out=tmp_path / "out", **FAST | {"repeats": 4})
    assert toy.n_encoded == n_encoded
    assert again.siblings.fingerprint == first.siblings.fingerprint
    assert again.settings["repeats"] == 4


def test_without_words_the_frequent_ones_are_traced(paths: list[Path], tmp_path: Path) -> None:
    found = trace(*paths, model=Toy(), min_count=15, top_words=3, **FAST)
    assert set(found.words) >= {"mouse", "bread"}
    recorder = RecordingMonitor()
    quick = FAST | {"monitor": recorder, "permutations": 19, "resamples": 2}
    table = monthly(tmp_path)
    by_year = trace(table, by="year", date_column="date", model=Toy(), min_count=300, top_words=2, **quick)
    assert set(by_year.words) < {"mouse", "turkey", "bread"}
    assert any(
        note.startswith("studying the 2 most frequent of 3 words that occur 300 times or more in the corpus")
        for note in recorder.notes
    )


def test_corpora_out_of_order_are_noted(paths: list[Path]) -> None:
    recorder = RecordingMonitor()
    trace(paths[1], paths[0], paths[2], words=["mouse"], model=Toy(), **FAST | {"monitor": recorder})
    assert "by its name, 1980s is later than 1960s; if so, swap the two corpora" in recorder.notes


def test_periods_with_the_same_name_are_numbered(paths: list[Path], tmp_path: Path) -> None:
    for i, path in enumerate(paths[:3]):
        (tmp_path / str(i)).mkdir()
        (tmp_path / str(i) / "text.txt").write_text(path.read_text())
    made = [tmp_path / str(i) / "text.txt" for i in range(3)]
    assert trace(*made, words=["mouse"], model=Toy(), **FAST).periods == ["period 1", "period 2", "period 3"]
    named = trace(*made, words=["mouse"], labels=["a", "b", "c"], model=Toy(), **FAST)
    assert named.periods == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": ["a", "b"]}, "labels must be 4 different names"),
        ({"labels": "abcd"}, "labels must be 4 different names"),
        (
            {"by": "year"},
            "by 'year' divides one corpus into periods and names them: give one corpus without labels; got 4 corpora",
        ),
        ({"rate": 2}, "rate must be a number from 0 to 1, or auto"),
        ({"permutations": 0}, "permutations must be"),
        ({"min_usages": 1}, "min_usages must be a whole number of at least 2"),
        ({"alpha": 0}, "alpha must be"),
        ({"space": "bent"}, "space must be one of"),
        ({"words": ["nowhere"]}, "none of the words occurs"),
    ],
    ids=lambda value: "" if isinstance(value, str) else next(iter(value)),
)
def test_mistakes_are_reported_in_one_sentence(paths: list[Path], options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        trace(*paths, **{"words": WORDS, "model": Toy(), **FAST, **options})


def test_mistakes_about_corpora_are_reported(paths: list[Path], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="one corpus has no periods: give two or more"):
        trace(paths[0], words=WORDS, model=Toy(), **FAST)
    with pytest.raises(UserError, match="both corpora are"):
        trace(paths[0], paths[1], paths[0], words=WORDS, model=Toy(), **FAST)
    with pytest.raises(UserError, match="the whole corpus belongs to one period, 1960s"):
        trace(paths[0], by="decade", words=WORDS, model=Toy(), **FAST)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/scores.csv").write_text("my words")
    with pytest.raises(UserError, match="was not written by lexshift, or was changed since"):
        trace(*paths, words=WORDS, model=Toy(), out=tmp_path / "mine", **FAST)
    with pytest.raises(UserError, match="would be a folder, but there is a file"):
        trace(*paths, words=WORDS, model=Toy(), out=paths[0], **FAST)


def test_words_with_too_few_usages_are_listed(paths: list[Path], tmp_path: Path) -> None:
    found = trace(*paths, words=["ghost"], model=Toy(), **FAST)
    assert found.steps.empty
    assert found.table["verdict"].tolist() == ["too few"]
    assert found.headline().startswith("No word can be traced")
    assert (found.save(tmp_path / "out") / "report.html").is_file()
