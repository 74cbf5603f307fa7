"""Test ``discover``: from two corpora to the changed words among all words."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import lexshift
from lexshift import Discovery, UserError, discover
from lexshift.engine.local import Local
from lexshift.engine.parts import split_corpus
from lexshift.store.siblings import Siblings
from lexshift.utils.files import write_whole

TOPICS = ("garden stone water tree", "screen click button wire")
NOISE = ("quiet", "early", "slow", "large", "green", "bright")


class Bag:
    """Encoder that sums one direction for each word of a sentence."""

    def __init__(self) -> None:
        self.seen = 0
        self.settings = {"model": "bag"}

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> Any:
        self.seen += len(set(sentences))
        rows = []
        for sentence, (start, end) in zip(sentences, spans, strict=True):
            row = np.zeros(24, np.float32)
            for word in (sentence[:start] + sentence[end:]).lower().split():
                seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "little")
                row += np.random.default_rng(seed).normal(size=24).astype(np.float32)
            rows.append(row)
        return np.array(rows)


def sentence(word: str, topic: int, rng: np.random.Generator) -> str:
    words = [str(rng.choice(NOISE)), *rng.choice(TOPICS[topic].split(), 2).tolist(), "the", "of", "and"]
    rng.shuffle(words)
    return " ".join([*words[:3], word, *words[3:]])


def corpora(folder: Path, files: int = 3) -> tuple[Path, Path]:
    """Write corpora in which "mouse" changes its topic, and "bread", "river" and "Paris" are stable."""
    rng = np.random.default_rng(0)
    made = []
    for period in range(2):
        place = folder / ("1900s" if period == 0 else "2000s")
        place.mkdir(parents=True)
        lines = [sentence("mouse", period, rng) for _ in range(40)]
        lines += [sentence(word, i % 2, rng) for i in range(40) for word in ("bread", "river", "Paris")]
        lines += [sentence("seldom", 0, rng) for _ in range(3)]
        rng.shuffle(lines)
        for i in range(files):
            (place / f"{i}.txt").write_text("".join(f"{line}\n" for line in lines[i::files]))
        made.append(place)
    return made[0], made[1]


def run(folder: Path, out: Path | None = None, **options: Any) -> Discovery:
    given = {"model": Bag(), "min_count": 10, "resamples": 20, "monitor": False, **options}
    return discover(folder / "1900s", folder / "2000s", out=out, **given)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("corpora")
    corpora(place)
    return place


@pytest.fixture(scope="module")
def found(folder: Path) -> Discovery:
    return run(folder)


def test_changed_word_is_on_top_and_called_changed(found: Discovery) -> None:
    table = found.table.set_index("word")
    assert found.table["word"][0] == "mouse"
    assert table.loc["mouse", "verdict"] == "changed"
    assert {table.loc["bread", "verdict"], table.loc["river", "verdict"]} <= {"stable", "unclear"}


def test_function_words_names_and_rare_words_are_excluded_with_a_reason(found: Discovery) -> None:
    assert not {"the", "of", "paris", "seldom"} & set(found.words)
    left = found.vocabulary_table().set_index("word")["left out as"]
    assert left["the"] == "function word"
    assert left["paris"] == "name"
    assert "seldom" not in left  # too rare in both
    assert left["mouse"] == ""
    assert set(left[left == ""].index) == set(found.words)


def test_results_are_files_and_a_page(folder: Path, tmp_path: Path) -> None:
    found = run(folder, tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"scores.csv", "scores.parquet", "run.json", "report.html", "vocabulary.csv", "store"} <= names
    scores = pd.read_csv(tmp_path / "out" / "scores.csv")
    assert scores["word"].tolist() == found.table["word"].tolist()
    assert np.allclose(scores["gap"], found.table["gap"])
    settings = json.loads((tmp_path / "out" / "run.json").read_text())["settings"]
    assert settings["names"] == "left out"
    assert settings["candidates"] == len(found.words)
    assert "names" in " ".join(lexshift.report.methods.methods(found))
    vocabulary = pd.read_csv(tmp_path / "out" / "vocabulary.csv", keep_default_na=False)
    assert vocabulary["word"].tolist() == found.vocabulary_table()["word"].tolist()


def same(a: Discovery, b: Discovery) -> bool:
    return a.table.equals(b.table) and a.siblings.vectors.tobytes() == b.siblings.vectors.tobytes()


def test_second_run_encodes_nothing_and_gives_the_same_result(folder: Path, tmp_path: Path) -> None:
    first, again = Bag(), Bag()
    a = run(folder, tmp_path / "out", model=first)
    b = run(folder, tmp_path / "out", model=again)
    assert first.seen > 0
    assert again.seen == 0
    assert same(a, b)


def test_another_metric_uses_the_existing_vectors(folder: Path, tmp_path: Path) -> None:
    run(folder, tmp_path / "out")
    again = Bag()
    other = run(folder, tmp_path / "out", model=again, metric="cosine")
    assert again.seen == 0
    assert other.table["score"].tolist() != run(folder, tmp_path / "out").table["score"].tolist()


def test_more_words_are_added_to_the_existing_store(folder: Path, tmp_path: Path) -> None:
    run(folder, tmp_path / "out", top_words=2)
    wider = run(folder, tmp_path / "out", top_words=4)
    assert same(wider, run(folder, top_words=4))


def test_partition_of_the_corpus_does_not_matter(
    folder: Path, found: Discovery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lexshift.engine.reader.split_corpus", lambda corpus: split_corpus(corpus, 1))
    assert same(run(folder), found)


@pytest.mark.parametrize("stage", ["counting", "sampling", "encoding", "scoring", "saving"])
def test_run_stopped_at_any_stage_resumes_and_gives_the_same_result(
    folder: Path, tmp_path: Path, found: Discovery, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 2_000)
    with monkeypatch.context() as patch:
        if stage == "encoding":
            patch.setattr("lexshift.store.shards.write_whole", stopping(write_whole, 3))  # the plan, and two shards
        elif stage == "scoring":
            patch.setattr("lexshift.scoring.scores.scores_to_table", stopping(lambda *_: None, 0))
        elif stage == "saving":
            patch.setattr("lexshift.study.folder.ResultsFolder.save", stopping(lambda *_: None, 0))
        else:
            patch.setattr(Local, "map", stopping(Local.map, 1 if stage == "counting" else 3))
        with pytest.raises(KeyboardInterrupt):
            run(folder, tmp_path / "out")
    assert same(run(folder, tmp_path / "out"), found)


def stopping(function: Any, after: int) -> Any:
    calls = 0

    def wrapped(*given: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls > after:
            raise KeyboardInterrupt
        return function(*given, **options)

    return wrapped


def test_shared_sample_encodes_fewer_sentences_than_separate_samples(tmp_path: Path) -> None:
    """Every line has three words, and fifty usages of each are requested."""
    rng = np.random.default_rng(0)
    for name in ("old", "new"):
        lines = [f"the mouse of bread and river {rng.integers(10**9)}" for _ in range(400)]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n")
    shared, apart = Bag(), Bag()
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    one = discover(old, new, model=shared, max_per_word=50, resamples=20, permutations=100, monitor=False)
    lexshift.embed(old, new, words=one.words, model=apart, max_per_word=50)
    assert (one.table[["n_old", "n_new"]] == 50).all(axis=None)
    assert shared.seen == 100
    assert apart.seen > 250


@pytest.mark.slow
def test_without_change_few_words_are_called_changed(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    words = [f"{a}{b}ling" for a in "bdfgk" for b in ("an", "or", "ip", "um")]
    for name in ("old", "new"):
        lines = [sentence(word, int(rng.integers(2)), rng) for word in words for _ in range(30)]
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n")
    found = discover(tmp_path / "old.txt", tmp_path / "new.txt", model=Bag(), resamples=20, min_count=25, monitor=False)
    assert set(words) <= set(found.words)
    ours = found.table[found.table["word"].isin(words)]
    assert (ours["verdict"] == "changed").sum() <= 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_count": 10_000}, "no word except function words.*--min-count"),
        ({"min_count": 0}, "min_count must be"),
        ({"top_words": -1}, "top_words must be a whole number, or 0 for all; got -1"),
        (
            {"words": ["mouse"]},
            "discover takes no words, because it tests all of them; use compare or trace to choose words",
        ),
        ({"metric": "cosin"}, "metric"),
        ({"engine": "spark"}, "engine must be"),
        ({"precision": "float8"}, "precision must be"),
        ({"encoding": "utf-99"}, "encoding"),
        ({"permutations": 0}, "permutations must be"),
    ],
)
def test_invalid_arguments_are_refused_in_one_sentence(folder: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises((UserError, ValueError), match=message):
        run(folder, **options)


def test_store_of_another_corpus_is_refused(folder: Path, tmp_path: Path) -> None:
    run(folder, tmp_path / "out")
    changed = tmp_path / "changed"
    corpora(changed)
    (changed / "1900s" / "0.txt").write_text((changed / "1900s" / "0.txt").read_text() + "one more mouse\n")
    with pytest.raises(UserError, match="not the one that the store"):
        run(changed, tmp_path / "out")


def test_corpus_edited_with_the_same_size_and_time_is_detected(tmp_path: Path) -> None:
    old, _ = corpora(tmp_path)
    run(tmp_path, tmp_path / "out")
    file = old / "0.txt"
    state = file.stat()
    file.write_text(file.read_text().replace("mouse", "house"))
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert file.stat().st_size == state.st_size
    with pytest.raises(UserError, match="not the one that the store"):
        run(tmp_path, tmp_path / "out")
    assert "house" not in run(tmp_path).words  # it is in one of the corpora only


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
def test_dangling_link_is_reported_in_the_same_sentence_by_all_commands(tmp_path: Path) -> None:
    old, new = corpora(tmp_path)
    (old / "2.txt").unlink()
    (old / "2.txt").symlink_to(tmp_path / "nowhere")
    message = re.escape(f"the file {str(old / '2.txt')!r} cannot be read: it is a link to")
    options: dict[str, Any] = {"model": Bag(), "monitor": False, "strict": True}
    with pytest.raises(UserError, match=message):
        discover(old, new, **options)
    with pytest.raises(UserError, match=message):
        lexshift.compare(old, new, ["mouse"], **options)
    with pytest.raises(UserError, match=message):
        lexshift.trace(old, by="year", words=["mouse"], **options)
    with pytest.raises(UserError, match=message):
        lexshift.trace(old, by="year", **options)


def test_store_of_a_comparison_is_refused(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    lexshift.compare(folder / "1900s", folder / "2000s", ["mouse"], model=Bag(), resamples=20, out=out, monitor=False)
    with pytest.raises(UserError, match="holds a comparison; choose another one for the discovery"):
        run(folder, out)
    for path in out.iterdir():
        if path.is_file():
            path.unlink()
    with pytest.raises(UserError, match="shared between words"):
        run(folder, out)


def test_same_corpus_twice_is_refused(folder: Path) -> None:
    with pytest.raises(UserError, match="give two different ones"):
        discover(folder / "1900s", folder / "1900s", model=Bag(), monitor=False)


def test_store_can_be_opened_like_any_other(folder: Path, tmp_path: Path) -> None:
    found = run(folder, tmp_path / "out")
    store = Siblings(tmp_path / "out" / "store")
    store.check()
    assert store.words == list(found.words)
    assert store.settings["sampling"] == {"max_per_word": 200, "seed": 0, "shared": True}


def test_repr_states_the_outcome(found: Discovery) -> None:
    assert repr(found).startswith("Result(") or repr(found).startswith("Discovery(")
    assert "changed between 1900s and 2000s" in repr(found)


class Notes:
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.stages: list[str] = []

    def stage(self, name: str, total: int, unit: str) -> None:  # noqa: ARG002
        self.stages.append(name)

    def advance(self, done: int, items: int = 0, status: str = "") -> None:
        pass

    def note(self, text: str) -> None:
        self.notes.append(text)


def test_every_stage_is_reported(folder: Path) -> None:
    recorder = Notes()
    found = run(folder, monitor=recorder)
    order = ["counting old", "counting new", "sampling old", "sampling new", "encoding", "writing", "scoring"]
    assert recorder.stages[:7] == order
    chosen = f"studying all {len(found.words)} words that occur 10 times or more in both corpora"
    reasons = Counter(entry.reason for entry in found.vocabulary.entries if entry.reason)
    left_out = ", ".join(f"{n:,} {reason}" for reason, n in reasons.most_common())
    control = "there is no comparison with ordinary words, because only 17 of the words studied occur 20 times or more"
    assert recorder.notes == [
        f"{chosen}, without function words, numbers and names",
        f"words left out: {left_out}",
        f"{control} in both corpora",
    ]
