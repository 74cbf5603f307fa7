"""Test simulated corpora: the files, the planted changes, and the folder."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift import compare
from lexshift.benchmark.datasets import load_dataset, replace_gold
from lexshift.errors import UserError
from lexshift.simulation.corpora import FILES, simulate
from lexshift.study import folder as _results
from lexshift.utils import files as _files

NOUNS = ["mouse", "bread", "river", "winter", "garden", "doctor", "letter", "silver", "pencil", "candle"]
PAIRS = [("mouse", "bread"), ("river", "winter"), ("garden", "doctor")]
ENOUGH = 60
TWO = {"old.txt", "new.txt", "usages.csv", "planted.tsv", "words.txt", "simulate.json"}
DATED = {"corpus.jsonl", "planted.tsv", "words.txt", "simulate.json"}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write sentences that identify their source word."""
    path = tmp_path_factory.mktemp("source") / "source.txt"
    path.write_text("".join(f"The {noun}, of {noun[:2]}{i}, is here.\n" for i in range(ENOUGH) for noun in NOUNS))
    return path


def simulated_files(source: Path, out: Path, **options: Any) -> dict[str, str]:
    """Return the files of a simulation."""
    simulate(source, out=out, monitor=False, **options)
    return {path.name: path.read_text("utf-8") for path in out.iterdir() if path.name != ".lock"}


def origins(lines: Sequence[str], name: str, pair: tuple[str, str]) -> Counter[str]:
    """Count the source words behind a pseudoword; every line must be a source sentence with the word replaced."""
    found = [match for line in lines if (match := re.fullmatch(rf"The {name}, of (..)(\d+), is here\.", line))]
    beginnings = {word[:2]: word for word in pair}
    assert len({match[0] for match in found}) == len(found)
    return Counter(beginnings[match[1]] for match in found)


@pytest.mark.slow
@given(st.integers(2, 5), st.integers(2, 30), st.integers(0, 1000))
def test_corpora_contain_the_planted_changes(
    source: Path, tmp_path_factory: pytest.TempPathFactory, words: int, usages: int, seed: int
) -> None:
    files = simulated_files(source, tmp_path_factory.mktemp("made"), pseudowords=words, usages=usages, seed=seed)
    assert set(files) == TWO
    old, new = (files[f"{period}.txt"].splitlines() for period in ("old", "new"))
    assert len(old) == len(new) == words * usages
    planted = [line.split("\t") for line in files["planted.tsv"].splitlines()]
    entries = json.loads(files["simulate.json"])["names"]
    assert [entry["word"] for entry in entries] == [name for name, _ in planted] == files["words.txt"].split()
    for k, ((name, value), entry) in enumerate(zip(planted, entries, strict=True)):
        pair = (entry["first"], entry["second"])
        counts = [origins(lines, name, pair) for lines in (old, new)]
        assert [[c[word] for word in pair] for c in counts] == entry["counts"]
        assert [sum(c.values()) for c in counts] == [usages, usages]
        assert float(value) == entry["change"] == (counts[1][pair[1]] - counts[0][pair[1]]) / usages
        assert abs(float(value) - (words - 1 - k) / (words - 1)) <= 0.5 / usages + 1e-12
        used = [line.replace(name, "") for line in (*old, *new) if name in line]
        assert len(set(used)) == len(used)


def test_same_seed_gives_the_same_files_and_another_seed_others(source: Path, tmp_path: Path) -> None:
    one, same, other = (
        simulated_files(source, tmp_path / name, pseudowords=3, usages=10, seed=seed)
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert one == same
    assert all(one[name] != other[name] for name in TWO)


def test_usages_of_a_pseudoword_do_not_depend_on_other_pseudowords(source: Path, tmp_path: Path) -> None:
    one = simulated_files(source, tmp_path / "one", pairs=PAIRS[:1], usages=10)
    three = simulated_files(source, tmp_path / "three", pairs=PAIRS, usages=10)
    name = one["words.txt"].strip()
    assert set(one["old.txt"].splitlines()) == {line for line in three["old.txt"].splitlines() if name in line}


def test_lines_are_shuffled(source: Path, tmp_path: Path) -> None:
    files = simulated_files(source, tmp_path / "out", pairs=PAIRS, usages=20)
    names = [next(n for n in files["words.txt"].split() if n in line) for line in files["old.txt"].splitlines()]
    assert names != sorted(names, key=files["words.txt"].split().index)


def test_without_planted_change_the_share_differs_by_pseudoword(source: Path, tmp_path: Path) -> None:
    files = simulated_files(source, tmp_path / "out", pattern="none", pairs=PAIRS, usages=10)
    assert set(files) == TWO
    entries = json.loads(files["simulate.json"])["names"]
    assert [np.sum(entry["counts"], axis=0).tolist() for entry in entries] == [[0, 20], [10, 10], [20, 0]]
    assert [line.split("\t")[1] for line in files["planted.tsv"].splitlines()] == ["0.0"] * 3
    for entry in entries:
        pair = (entry["first"], entry["second"])
        for period, counts in zip(("old", "new"), entry["counts"], strict=True):
            found = origins(files[f"{period}.txt"].splitlines(), entry["word"], pair)
            assert [found[word] for word in pair] == counts
            assert sum(counts) == 10
    assert "graded" not in files["usages.csv"].splitlines()[0]


@pytest.mark.parametrize("pattern", ["step", "season"])
def test_dated_sentences_contain_the_word_of_their_month(source: Path, tmp_path: Path, pattern: str) -> None:
    files = simulated_files(source, tmp_path / "out", pattern=pattern, pairs=PAIRS, usages=2, years=2)
    assert set(files) == DATED
    rows = [json.loads(line) for line in files["corpus.jsonl"].splitlines()]
    assert [row["date"] for row in rows] == sorted(row["date"] for row in rows)
    months = [f"{2000 + i // 12}-{i % 12 + 1:02}" for i in range(24)]
    header, *planted = (line.split("\t") for line in files["planted.tsv"].splitlines())
    assert header == ["word", "pattern", "month"]
    for (name, named, step), pair in zip(planted, PAIRS, strict=True):
        assert named == pattern
        assert (step in months[8:16]) if pattern == "step" else (step == "")
        for i, month in enumerate(months):
            second = month >= step if pattern == "step" else i % 2 == 1
            lines = [row["text"] for row in rows if row["date"].startswith(month)]
            assert origins(lines, name, pair) == {pair[second]: 2}


def test_yearly_season_moves_smoothly_between_the_two_words(source: Path, tmp_path: Path) -> None:
    files = simulated_files(source, tmp_path / "out", pattern="yearly", pairs=PAIRS, usages=4, years=1)
    assert set(files) == DATED
    rows = [json.loads(line) for line in files["corpus.jsonl"].splitlines()]
    for line, pair in zip(files["planted.tsv"].splitlines()[1:], PAIRS, strict=True):
        name, pattern, month = line.split("\t")
        assert (pattern, month) == ("yearly", "")
        seconds = []
        for i in range(1, 13):
            found = origins([row["text"] for row in rows if row["date"].startswith(f"2000-{i:02}")], name, pair)
            assert sum(found.values()) == 4
            seconds.append(found.get(pair[1], 0))
        assert seconds == [0, 0, 1, 2, 3, 4, 4, 4, 3, 2, 1, 0]


def test_steps_are_not_all_in_one_month(source: Path, tmp_path: Path) -> None:
    frame = simulate(source, out=tmp_path / "out", pattern="step", pseudowords=4, usages=1, years=2, monitor=False)
    assert len(set(frame["month"])) > 1


def test_usage_table_is_a_data_set_with_gold(source: Path, tmp_path: Path) -> None:
    files = simulated_files(source, tmp_path / "out", pairs=PAIRS, usages=10)
    data = load_dataset(tmp_path / "out" / "usages.csv")
    gold = {name: float(value) for name, value in (line.split("\t") for line in files["planted.tsv"].splitlines())}
    assert data.graded == gold == replace_gold(data, tmp_path / "out" / "planted.tsv").graded
    assert data.binary == {name: value > 0 for name, value in gold.items()}
    assert list(data.words) == files["words.txt"].split()
    for row in data.usages.to_pylist():
        assert row["sentence"][row["start"] : row["end"]] == row["word"]
        assert row["sentence"] in files[f"{row['corpus']}.txt"].splitlines()


class Origin:
    """Encoder whose vectors depend mostly on the source word of a sentence."""

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        rows = []
        for sentence, (start, end) in zip(sentences, spans, strict=True):
            beginning, number = re.findall(r"of (..)(\d+)", sentence)[0]
            noise = np.random.default_rng(int(number)).normal(size=len(NOUNS)) / 3
            rows.append(np.eye(len(NOUNS))[[noun[:2] for noun in NOUNS].index(beginning)] + noise + (end > start))
        return np.array(rows, np.float32)


def test_compare_finds_every_usage_and_ranks_by_the_planted_change(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    frame = simulate(source, out=out, pairs=PAIRS, usages=20, monitor=False)
    options: dict[str, Any] = {"permutations": 200, "resamples": 50, "monitor": False}
    table = compare(out / "old.txt", out / "new.txt", out / "words.txt", model=Origin(), **options).table
    assert set(table["n_old"]) == set(table["n_new"]) == {20}
    assert list(table["word"]) == list(frame["word"])


# -------------------------------------------------------------------------------------------------------- output folder


def test_simulation_replaces_an_earlier_one(source: Path, tmp_path: Path) -> None:
    assert set(simulated_files(source, tmp_path / "out", pairs=PAIRS, usages=5)) == TWO
    assert set(simulated_files(source, tmp_path / "out", pairs=PAIRS, usages=2, years=2, pattern="step")) == DATED


@pytest.mark.parametrize("there", [["old.txt"], ["simulate.json"], [*FILES, "notes.md"]], ids=["old", "record", "more"])
def test_folder_with_other_files_is_refused_and_unchanged(source: Path, tmp_path: Path, there: list[str]) -> None:
    for name in there:
        (tmp_path / name).write_text("mine")
    with pytest.raises(
        UserError, match=r"was not written by lexshift, or was changed since; move it or choose another"
    ):
        simulate(source, out=tmp_path, pairs=PAIRS, usages=5, monitor=False)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(there, "mine")


def test_file_in_place_of_the_folder_is_refused(source: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(UserError, match="there is a file of that name"):
        simulate(source, out=tmp_path / "out", pairs=PAIRS, usages=5, monitor=False)


@pytest.mark.parametrize("at", range(len(TWO)))
def test_failed_write_leaves_no_files(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    written: list[Path] = []

    def full(path: Path, data: bytes) -> None:
        if len(written) == at:
            raise OSError(28, "No space left on device")
        written.append(path)
        _files.write_whole(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(_results, "write_whole", full)
        with pytest.raises(UserError, match="the disk is full"):
            simulate(source, out=tmp_path / "out", pairs=PAIRS, usages=5, monitor=False)
    assert [path.name for path in (tmp_path / "out").iterdir()] == [".lock"]
    assert set(simulated_files(source, tmp_path / "out", pairs=PAIRS, usages=5)) == TWO


# ------------------------------------------------------------------------------------------------------- error messages


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pattern": "steps"}, "did you mean 'step'?"),
        ({"pseudowords": 0}, "pseudowords must be a whole number of at least 1"),
        ({"usages": 1}, "usages must be a whole number of at least 2"),
        ({"years": 0, "pattern": "step"}, "years must be a whole number of at least 1"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"pseudowords": 6}, "6 pairs of words with 100 sentences each were requested, but only 0 can be made"),
        ({"pairs": [("mouse", "tiger")], "usages": 10}, "'tiger' has 0 of 10"),
        ({"encoding": "latin-17"}, "encoding 'latin-17' is not known"),
    ],
    ids=["pattern", "pseudowords", "usages", "years", "seed", "supply", "pair", "encoding"],
)
def test_mistakes_are_reported_and_nothing_is_written(
    source: Path, tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        simulate(source, out=tmp_path / "out", monitor=False, **options)
    assert not (tmp_path / "out").exists()


def test_missing_corpus_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file or folder"):
        simulate(tmp_path / "none.txt", out=tmp_path / "out", monitor=False)


@pytest.mark.parametrize("separate", [False, True])
def test_sentences_of_objects_are_those_of_files(source: Path, tmp_path: Path, separate: bool) -> None:
    texts = source.read_text().splitlines()
    halves = texts[::2], texts[1::2]
    for name, half in zip(("corpus 1", "corpus 2"), halves, strict=True):
        (tmp_path / f"{name}.txt").write_text("".join(f"{text}\n" for text in half))
    options: dict[str, Any] = {"pairs": PAIRS[:1], "usages": 10, "separate": separate, "monitor": False}
    simulate(*halves, out=tmp_path / "ours", **options)
    simulate(tmp_path / "corpus 1.txt", tmp_path / "corpus 2.txt", out=tmp_path / "theirs", **options)
    ours, theirs = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for folder in (tmp_path / "ours", tmp_path / "theirs")
    )
    record = json.loads(ours.pop(Path("simulate.json")))
    assert record["corpora"] == ["corpus 1 (list of 300 records)", "corpus 2 (list of 300 records)"]
    del theirs[Path("simulate.json")]
    assert ours == theirs
