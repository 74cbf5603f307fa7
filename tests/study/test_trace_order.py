"""Test that periods are in the given order, whatever the order in which their vectors were stored."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from context_encoder import ContextEncoder

from lexshift import Siblings, UserError, compare, embed
from lexshift.study.trace import trace

FAST: dict[str, Any] = {"permutations": 99, "resamples": 10, "repeats": 3, "monitor": False, "split": "lines"}
WORDS = ["mouse", "bread"]
TABLES = ("scores.csv", "steps.csv", "details.json", "report.html")


class Timed(ContextEncoder):
    """Encoder that distinguishes two periods."""

    periods = ("1", "2")

    def encode(  # type: ignore[override]
        self, sentences: Sequence[str], spans: Sequence[tuple[int, int]], periods: Sequence[int]
    ) -> npt.NDArray[np.float32]:
        return super().encode(sentences, spans) + 1000 * np.array(periods, np.float32)[:, None]


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write corpora of different sizes in which mouse changes in the 1980s."""
    folder, made = tmp_path_factory.mktemp("periods"), {}
    for number, label in enumerate(("1950s", "1980s", "2010s")):
        rng, lines = random.Random(number), []
        for word in WORDS:
            use = "new" if word == "mouse" and number else "old"
            for _ in range(12 + 3 * number):
                a, b, c = rng.sample([f"{word}{use}{letter}" for letter in "abcdefgh"], 3)
                lines.append(f"The {a} and the {word} of the {b} was {c}.")
        made[label] = folder / f"{label}.txt"
        made[label].write_text("\n".join(lines) + "\n")
    return made


def run_of(folder: Path) -> dict[str, Any]:
    """Return the record of a run without the time and without the fingerprint of the store."""
    run = json.loads((folder / "run.json").read_text())
    del run["finished"], run["store"]["fingerprint"], run["files"], run["sha256"]
    return run


@pytest.mark.parametrize(
    "before",
    [["1950s", "2010s"], ["2010s", "1950s"], ["1980s", "2010s"], ["2010s", "1980s", "1950s"]],
    ids="-".join,
)
@pytest.mark.parametrize("normalised", [False, True], ids=["plain", "normalised"])
def test_periods_added_later_are_in_the_given_order(
    paths: dict[str, Path], tmp_path: Path, before: list[str], normalised: bool
) -> None:
    grown, fresh = tmp_path / "grown", tmp_path / "fresh"
    options: dict[str, Any] = {"words": WORDS, "model": ContextEncoder(), "normalised": normalised, **FAST}
    trace(*(paths[label] for label in before), out=grown, **options)
    found = trace(*paths.values(), out=grown, **options)
    assert found.periods == ["1950s", "1980s", "2010s"]
    assert found.table.set_index("word").loc["mouse", "change_points"] == "1980s"
    trace(*paths.values(), out=fresh, **options)
    for name in TABLES:
        assert (grown / name).read_bytes() == (fresh / name).read_bytes(), name
    assert run_of(grown) == run_of(fresh)
    assert [Path(entry["path"]).stem for entry in run_of(grown)["corpora"]] == found.periods
    assert [entry["name"] for entry in run_of(grown)["corpora"]] == found.periods


@pytest.mark.parametrize("labels", [["1950s", "1980s"], ["2010s", "1950s"], ["1980s", "2010s"]], ids="-".join)
def test_only_the_requested_periods_are_used(paths: dict[str, Path], tmp_path: Path, labels: list[str]) -> None:
    grown, fresh = tmp_path / "grown", tmp_path / "fresh"
    options: dict[str, Any] = {"words": WORDS, "model": ContextEncoder(), **FAST}
    trace(*paths.values(), out=grown, **options)
    chosen = [paths[label] for label in labels]
    assert trace(*chosen, out=grown, **options).periods == labels
    trace(*chosen, out=fresh, **options)
    for name in TABLES:
        assert (grown / name).read_bytes() == (fresh / name).read_bytes(), name
    assert run_of(grown) == run_of(fresh)
    assert Siblings(grown / "store").corpora == ["1950s", "1980s", "2010s"]


def test_periods_of_another_corpus_in_the_store_are_not_used(tmp_path: Path) -> None:
    def table(name: str, years: range) -> Path:
        rng = random.Random(years[0])
        rows = [
            {"text": f"the {rng.choice('abcdefgh')} mouse {rng.choice('abcdefgh')}", "date": str(year)}
            for year in years
            for _ in range(12)
        ]
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return tmp_path / name

    late, early = table("late.jsonl", range(2001, 2003)), table("early.jsonl", range(1991, 1994))
    options: dict[str, Any] = {
        "words": ["mouse"],
        "by": "year",
        "date_column": "date",
        "model": ContextEncoder(),
        **FAST,
    }
    trace(late, out=tmp_path / "out", **options)
    found = trace(early, out=tmp_path / "out", **options)
    assert found.periods == ["1991", "1992", "1993"]
    assert [entry["name"] for entry in found.run["corpora"]] == found.periods
    trace(early, out=tmp_path / "fresh", **options)
    assert (tmp_path / "out/steps.csv").read_bytes() == (tmp_path / "fresh/steps.csv").read_bytes()


def test_vectors_of_a_call_are_in_the_order_of_its_corpora(paths: dict[str, Path], tmp_path: Path) -> None:
    options: dict[str, Any] = {"words": WORDS, "model": ContextEncoder(), "split": "lines"}
    embed(paths["1980s"], paths["1950s"], labels=["1980s", "1950s"], out=tmp_path / "store", **options)
    again = embed(paths["1950s"], paths["2010s"], labels=["1950s", "2010s"], out=tmp_path / "store", **options)
    fresh = embed(paths["1950s"], paths["2010s"], labels=["1950s", "2010s"], **options)
    assert (again.corpora, list(again.skipped)) == (["1950s", "2010s"], ["1950s", "2010s"])
    assert again.counts.equals(fresh.counts)
    for word in WORDS:
        assert np.array_equal(again[word].old, fresh[word].old)
        assert np.array_equal(again[word].new, fresh[word].new)
    again.check()
    assert Siblings(tmp_path / "store").corpora == ["1980s", "1950s", "2010s"]


def test_comparison_identifies_the_old_corpus_by_its_name(paths: dict[str, Path], tmp_path: Path) -> None:
    old, new = paths["1950s"], paths["1980s"]
    options: dict[str, Any] = {"words": WORDS, "model": ContextEncoder(), "max_per_word": 200}
    embed(new, old, labels=["new", "old"], out=tmp_path / "out/store", **options, split="lines")
    options |= FAST
    found = compare(old, new, **options, out=tmp_path / "out")
    fresh = compare(old, new, **options, out=tmp_path / "fresh")
    assert found.table.equals(fresh.table)
    assert run_of(tmp_path / "out") == run_of(tmp_path / "fresh")


def test_encoder_with_ordered_periods_refuses_another_order(paths: dict[str, Path], tmp_path: Path) -> None:
    options: dict[str, Any] = {"words": WORDS, "model": Timed(), "out": tmp_path / "out", **FAST}
    trace(paths["1950s"], paths["1980s"], **options)
    with pytest.raises(UserError, match="the store has them in the order 1950s, 1980s, not 1980s, 1950s"):
        trace(paths["1980s"], paths["1950s"], **options)
