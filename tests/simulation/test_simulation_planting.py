"""Test change that is planted in two corpora, each of which keeps its own text."""

from __future__ import annotations

import csv
import json
import random
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
from lexshift.benchmark.datasets import load_dataset
from lexshift.errors import UserError
from lexshift.simulation.corpora import simulate
from lexshift.simulation.planting import PeriodText, find_word

NOUNS = ["mouse", "bread", "river", "winter", "garden", "doctor", "letter", "silver", "pencil", "candle"]
PAIRS = [("mouse", "bread"), ("river", "winter"), ("garden", "doctor")]
PERIODS = ("old", "new")
FILES = {"usages.csv", "planted.tsv", "words.txt", "simulate.json"}
Text = dict[str, list[str]]  # the lines of each document


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Write two folders of documents whose sentences name their period; some have several nouns, or are repeated."""
    folder = tmp_path_factory.mktemp("corpora")
    for period in PERIODS:
        (folder / period).mkdir()
        rng, lines = random.Random(period), ["Nothing is here.", "Nothing is here."]
        for number in range(40):
            lines += [f"The {noun}, of {period} {number}, is here." for noun in NOUNS]
            lines += [f"The {a} and the {b}, of {period} {number}." for a, b in [rng.choices(NOUNS, k=2)]]
            lines.append(f"The {rng.choice(NOUNS)} was repeated.")
        rng.shuffle(lines)
        for document in range(12):
            text = "".join(f"{line}\n" for line in lines[document::12])
            (folder / period / f"{document + 1}.txt").write_text(text)
    return [folder / period for period in PERIODS]


def read_folder(folder: Path) -> Text:
    return {path.name: path.read_text().splitlines() for path in sorted(folder.iterdir())}


def simulated(corpora: Sequence[Path], out: Path, **options: Any) -> tuple[dict[str, Text], list[dict[str, str]], Any]:
    """Return the written corpora, the rows of the table of usages, and the record."""
    simulate(*corpora, out=out, separate=True, monitor=False, **options)
    assert {path.name for path in out.iterdir()} == {*FILES, *PERIODS, ".lock"}
    with (out / "usages.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {p: read_folder(out / p) for p in PERIODS}, rows, json.loads((out / "simulate.json").read_text())


def words_of(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower()))


@pytest.mark.slow
@given(st.sampled_from(["change", "none"]), st.integers(1, 4), st.integers(2, 20), st.integers(0, 1000))
def test_corpora_are_unchanged_except_for_the_planted_usages(
    corpora: list[Path], tmp_path_factory: pytest.TempPathFactory, pattern: str, words: int, usages: int, seed: int
) -> None:
    out = tmp_path_factory.mktemp("made")
    written, rows, record = simulated(corpora, out, pattern=pattern, pseudowords=words, usages=usages, seed=seed)
    assert len(rows) == 2 * words * usages
    sources = {period: read_folder(corpus) for period, corpus in zip(PERIODS, corpora, strict=True)}
    pairs = {entry["word"]: (entry["first"], entry["second"]) for entry in record["names"]}
    assert len({word for pair in pairs.values() for word in pair}) == 2 * words
    counts = {word: {period: [0, 0] for period in PERIODS} for word in pairs}
    originals: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        period, document = row["document"].split("/")
        assert period == row["period"]
        line = int(row["line"]) - 1
        sentence, source = written[period][document][line], sources[period][document][line]
        assert sentence == row["sentence"]
        start, end = int(row["start"]), int(row["end"])
        pair, pseudoword = pairs[row["word"]], row["word"]
        assert sentence[start:end] == pseudoword
        side = next(k for k, word in enumerate(pair) if words_of(source)[word])
        assert words_of(source)[pair[side]] == 1
        assert words_of(source)[pair[1 - side]] == 0
        assert sentence[:start] + pair[side] + sentence[end:] == source
        assert not set(pairs) - {pseudoword} & set(words_of(sentence))
        counts[pseudoword][period][side] += 1
        originals.setdefault((pseudoword, period), []).append(source)
        written[period][document][line] = source
    assert written == sources  # all other lines, in all documents
    assert all(len(set(lines)) == len(lines) for lines in originals.values())
    for entry in record["names"]:
        assert [counts[entry["word"]][period] for period in PERIODS] == entry["counts"]
        assert [sum(side) for side in entry["counts"]] == [usages, usages]
    planted = dict(line.split("\t") for line in (out / "planted.tsv").read_text().splitlines())
    assert list(planted) == list(pairs) == (out / "words.txt").read_text().split()
    for k, (word, value) in enumerate(planted.items()):
        seconds = [counts[word][period][1] for period in PERIODS]
        assert float(value) == (0 if pattern == "none" else (seconds[1] - seconds[0]) / usages)
        if pattern == "change":
            wanted = (words - 1 - k) / (words - 1) if words > 1 else 1
            assert abs(float(value) - wanted) <= 0.5 / usages + 1e-12


def test_same_seed_gives_the_same_corpora_and_another_seed_others(corpora: list[Path], tmp_path: Path) -> None:
    one, same, other = (
        simulated(corpora, tmp_path / name, pseudowords=3, usages=10, seed=seed)
        for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert one == same
    assert one[1] != other[1]


def test_given_pairs_are_planted_in_their_order(corpora: list[Path], tmp_path: Path) -> None:
    _, _, record = simulated(corpora, tmp_path / "out", pairs=PAIRS, usages=10)
    assert [(entry["first"], entry["second"], entry["change"]) for entry in record["names"]] == [
        (*pair, change) for pair, change in zip(PAIRS, (1.0, 0.5, 0.0), strict=True)
    ]
    assert record["pairs"] == "given"
    assert record["sentences"] == {"old": [482, 482], "new": [482, 482]}
    assert record["documents"]["old"]["1.txt"] == "1.txt"


def test_one_word_may_be_in_several_pairs_but_a_sentence_is_used_once(corpora: list[Path], tmp_path: Path) -> None:
    pairs = [("mouse", "bread"), ("mouse", "winter")]
    _, rows, _ = simulated(corpora, tmp_path / "out", pairs=pairs, usages=20)
    places = [(row["document"], row["line"]) for row in rows]
    assert len(set(places)) == len(places) == 80


def test_sentences_are_sampled_from_larger_corpora(corpora: list[Path], tmp_path: Path) -> None:
    notes: list[str] = []

    class Notes:
        def stage(self, name: str, total: int, unit: str) -> None: ...

        def advance(self, done: int, items: int = 0, status: str = "") -> None: ...

        def note(self, text: str) -> None:
            notes.append(text)

    simulate(*corpora, out=tmp_path, separate=True, pairs=PAIRS, usages=4, max_sentences=300, monitor=Notes())
    record = json.loads((tmp_path / "simulate.json").read_text())
    assert record["sentences"] == {"old": [300, 482], "new": [300, 482]}
    assert [sum(map(len, read_folder(tmp_path / period).values())) for period in PERIODS] == [300, 300]
    assert notes == [f"{period}: 300 of 482 sentences are used (max_sentences)" for period in PERIODS]


def test_skipped_text_is_reported(corpora: list[Path], tmp_path: Path) -> None:
    old = tmp_path / "old.txt"
    old.write_text("".join(path.read_text() for path in sorted(corpora[0].iterdir())) + "word " * 1000)
    record = simulated([old, corpora[1]], tmp_path / "out", pairs=PAIRS, usages=4)[2]
    assert record["skipped"] == {"old": {"sentences of 4,000 characters or more, cut to this length": 1}, "new": {}}


def test_files_of_one_corpus_are_documents_of_the_other(corpora: list[Path], tmp_path: Path) -> None:
    """A single file is a corpus of one document; names of nested files have no slash."""
    (tmp_path / "texts/inner").mkdir(parents=True)
    everything = "".join(path.read_text() for path in sorted(corpora[0].iterdir()))
    (tmp_path / "single.txt").write_text(everything)
    (tmp_path / "texts/inner/a.txt").write_text(everything)
    written, _, record = simulated(
        [tmp_path / "single.txt", tmp_path / "texts"], tmp_path / "out", pairs=PAIRS, usages=4
    )
    assert list(written["old"]) == ["single.txt"]
    assert list(written["new"]) == ["inner_a.txt"]
    assert record["documents"] == {"old": {"single.txt": "single.txt"}, "new": {"inner_a.txt": "inner/a.txt"}}


def test_usage_table_is_a_data_set_with_gold(corpora: list[Path], tmp_path: Path) -> None:
    _, rows, record = simulated(corpora, tmp_path, pairs=PAIRS, usages=10)
    data = load_dataset(tmp_path / "usages.csv")
    assert data.graded == {entry["word"]: entry["change"] for entry in record["names"]}
    assert len(data.usages) == len(rows) == 60


class Letters:
    """Encoder whose vector depends on the period and the number in a sentence."""

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        assert len(sentences) == len(spans)
        numbers = [int((re.findall(r"\d+", sentence) or ["0"])[0]) for sentence in sentences]
        periods = ["old" in sentence for sentence in sentences]
        return np.array([[n % 7, n % 5, 3 * p] for n, p in zip(numbers, periods, strict=True)], np.float32)


def test_compare_finds_every_usage_with_its_document(corpora: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    _, rows, _ = simulated(corpora, out, pairs=PAIRS, usages=20)
    options: dict[str, Any] = {"duplicates": "keep", "permutations": 50, "resamples": 10, "monitor": False}
    result = compare(out / "old", out / "new", out / "words.txt", model=Letters(), out=tmp_path / "results", **options)
    assert set(result.table["n_old"]) == set(result.table["n_new"]) == {20}
    for word in result.table["word"]:
        frames = [result.siblings[word].occurrences(period) for period in PERIODS]
        found = {
            (f"{period}/{file}", line)
            for period, frame in zip(PERIODS, frames, strict=True)
            for file, line in zip(frame["file"], frame["line"], strict=True)
        }
        assert found == {(row["document"], int(row["line"])) for row in rows if row["word"] == word}


# --------------------------------------------------------------------------------------------------------- source words


@given(st.text(st.sampled_from("abcAÉéẞ .,-'7_"), max_size=30))
def test_word_is_found_where_its_spelling_is(text: str) -> None:
    for match in re.finditer(r"\w+", text):
        first = next(m for m in re.finditer(r"\w+", text) if m[0].lower() == match[0].lower())
        assert find_word(text, match[0].lower()) == first.span()


@given(st.lists(st.lists(st.sampled_from(["mouse", "bread", "tea"]), min_size=1, max_size=3), min_size=1, max_size=12))
def test_available_sentences_have_one_word_once_and_not_the_other(rows: list[list[str]]) -> None:
    texts = [" ".join(row) for row in rows]
    period = PeriodText.count(texts, "old")
    period.index(["mouse", "bread"])
    period.used.add(0)
    assert period.counts.counts == Counter(word for row in rows for word in row)
    assert period.available("mouse", "bread") == [
        i
        for i, row in enumerate(rows)
        if i > 0 and row.count("mouse") == 1 and "bread" not in row and texts.index(texts[i]) == i
    ]


def test_names_and_words_that_are_rare_in_one_corpus_are_not_chosen(tmp_path: Path) -> None:
    old, new = (tmp_path / f"{period}.txt" for period in PERIODS)
    common = [f"on day {i} in Paris a {noun} was seen\n" for i in range(20) for noun in ("mouse", "bread")]
    old.write_text("".join([*common, *(f"on day {i} a river and a winter were seen\n" for i in range(5))]))
    new.write_text("".join([*common, *(f"on day {i} a river and a winter were seen\n" for i in range(50))]))
    pairs = ["Paris", "river", "winter", "mouse", "bread"]
    chosen = [
        simulate(old, new, out=tmp_path / str(seed), separate=True, pseudowords=1, usages=10, seed=seed, monitor=False)
        for seed in range(6)
    ]
    words = {word for frame in chosen for word in (*frame["first"], *frame["second"])}
    assert words <= {"mouse", "bread", "day", "seen"}
    assert words & set(pairs)


# -------------------------------------------------------------------------------------------- folder and error messages


def test_simulation_replaces_an_earlier_one_with_other_documents(corpora: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    simulated(corpora, out, pairs=PAIRS, usages=5)
    single = tmp_path / "single.txt"
    single.write_text("".join(path.read_text() for path in corpora[0].iterdir()))
    written, _, _ = simulated([single, corpora[1]], out, pairs=PAIRS, usages=4)
    assert list(written["old"]) == ["single.txt"]
    assert len(written["new"]) == 12


def test_simulations_of_different_kinds_do_not_replace_each_other(corpora: list[Path], tmp_path: Path) -> None:
    simulate(*corpora, out=tmp_path / "pool", pairs=PAIRS, usages=5, monitor=False)
    simulated(corpora, tmp_path / "separate", pairs=PAIRS, usages=5)
    with pytest.raises(
        UserError, match="holds a simulation; choose another one for the simulation in separate corpora"
    ):
        simulated(corpora, tmp_path / "pool", pairs=PAIRS, usages=5)
    with pytest.raises(UserError, match="holds a simulation in separate corpora; choose another one"):
        simulate(*corpora, out=tmp_path / "separate", pairs=PAIRS, usages=5, monitor=False)


def test_source_corpora_are_not_overwritten(corpora: list[Path]) -> None:
    before = [read_folder(corpus) for corpus in corpora]
    with pytest.raises(UserError, match=r"old/1\.txt' was not written by lexshift"):
        simulate(*corpora, out=corpora[0].parent, separate=True, pairs=PAIRS, usages=5, monitor=False)
    assert [read_folder(corpus) for corpus in corpora] == before


@pytest.mark.parametrize(
    ("n_corpora", "options", "message"),
    [
        (1, {}, "separate corpora are an old and a new one; got 1"),
        (2, {"pattern": "step"}, "the pattern 'step' has dated sentences of one corpus; use change or none"),
        (2, {"max_sentences": 0}, "max_sentences must be a whole number of at least 1"),
        (2, {"pseudowords": 6, "usages": 10}, "6 pairs of words with 10 sentences each in both corpora were requested"),
        (2, {"usages": 1000}, "but only 0 can be made: 0 words that are not function words"),
        (2, {"pairs": [("mouse", "tiger")], "usages": 10}, "'tiger' has 0 of 10 in new"),
    ],
    ids=["one corpus", "pattern", "max_sentences", "supply", "usages", "pair"],
)
def test_mistakes_are_reported_and_nothing_is_written(
    corpora: list[Path], tmp_path: Path, n_corpora: int, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        simulate(*corpora[:n_corpora], out=tmp_path / "out", separate=True, monitor=False, **options)
    assert not (tmp_path / "out").exists()


def test_standard_input_is_refused(corpora: list[Path], tmp_path: Path) -> None:
    with pytest.raises(UserError, match="separate corpora cannot be taken from standard input"):
        simulate("-", corpora[1], out=tmp_path / "out", separate=True, monitor=False)
