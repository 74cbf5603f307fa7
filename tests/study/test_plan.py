"""Test plans of runs: their numbers are those of the run, and they write nothing."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lexshift import Result, Siblings, UserError, compare, demo_corpora, discover, embed, find_senses, trace
from lexshift.demo import gold
from lexshift.study.plan import NAMED, plan_embedding, plan_study
from lexshift.study.settings import NO_CONTROL, Settings
from lexshift.study.study_plan import StorePlan, StudyPlan
from lexshift.utils.monitor import Silent

FAST: dict[str, Any] = {"permutations": 20, "resamples": 10, "repeats": 2}
CONTENT = [f"{first}{second}" for first in ("bar", "sel", "mor", "tin", "gal", "wes") for second in "aeiouy"]
"""Words that are frequent enough to be control words."""


class Hashes:
    """Encoder whose vectors are hashes; it records its sentences, and can stop as if Ctrl-C was pressed."""

    settings = {"model": "hashes"}  # noqa: RUF012

    def __init__(self, stop_at: int | None = None) -> None:
        self.sentences: list[str] = []
        self._calls_left = stop_at

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        if self._calls_left is not None:
            self._calls_left -= 1
            if self._calls_left < 0:
                raise KeyboardInterrupt
        self.sentences += sentences
        digests = [
            hashlib.blake2b(f"{a} {b} {text}".encode(), digest_size=8).digest()
            for text, (a, b) in zip(sentences, spans, strict=True)
        ]
        return np.array([list(digest) for digest in digests], np.float32)


def run(corpora: Sequence[Path], words: list[str] | None, out: Path, encoder: Hashes, **options: Any) -> Result:
    return compare(corpora[0], corpora[1], words, out=out, model=encoder, monitor=None, **FAST, **options)


def plan_of(question: str, corpora: Sequence[Any], words: Any = None, **options: Any) -> StudyPlan:
    return plan_study(question, corpora, words, Settings(model=Hashes(), **FAST, **options), None)


def written(folder: Path) -> tuple[int, int, int]:
    """Return the words, the usages and the size of the vectors of a store."""
    siblings = Siblings(folder)
    return len(siblings), siblings.index["rows"], (folder / "vectors.npy").stat().st_size


def planned(plan: StorePlan | None) -> tuple[int, int, int]:
    assert plan is not None
    return plan.words, plan.usages, plan.vectors_bytes


def write_corpora(folder: Path, n: int = 40) -> list[Path]:
    """Write two corpora in which every content word occurs n times, and mouse and bread in 15 different sentences."""
    paths = [folder / name for name in ("1900.txt", "2000.txt")]
    for side, path in enumerate(paths):
        lines = [f"the {word} was {('near', 'far')[side]} {i}" for word in CONTENT for i in range(n)]
        lines += [f"a {word} and {('cheese', 'cable')[side]} {i % 15}" for word in ("mouse", "bread") for i in range(n)]
        path.write_text("\n".join(lines) + "\n")
    return paths


# The numbers of the run


@pytest.mark.parametrize(
    "options", [{}, {"max_per_word": 5}, {"precision": "float16"}, {"duplicates": "keep"}], ids=str
)
def test_plan_of_the_demo_is_what_the_run_writes(tmp_path: Path, options: dict[str, Any]) -> None:
    words, corpora = list(gold()), demo_corpora()
    plan = plan_of("compare", corpora, words, out=tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()
    encoder = Hashes()
    result = run(corpora, words, tmp_path / "out", encoder, **options)
    assert planned(plan.targets) == written(tmp_path / "out" / "store")
    assert plan.targets.held == 0
    assert plan.targets.sentences == len(set(encoder.sentences))
    assert plan.words == words == list(result.words)
    assert plan.choice == NAMED
    recorded = [(c["name"], c["files"], c["words"], c["bytes"], c["skipped"]) for c in result.run["corpora"]]
    assert [(c.name, c.files, c.words, c.bytes, c.skipped) for c in plan.corpora] == recorded


def test_plan_has_the_words_and_control_words_of_the_run(tmp_path: Path) -> None:
    corpora, out = write_corpora(tmp_path), tmp_path / "out"
    plan = plan_of("compare", corpora, out=out, top_words=7)
    result = run(corpora, None, out, Hashes(), top_words=7)
    assert plan.words == list(result.words)
    assert plan.choice.startswith("the 7 most frequent of 37 words that occur 20 times or more in both corpora")
    assert planned(plan.targets) == written(out / "store")
    assert planned(plan.control) == written(out / "control")


def test_plan_of_a_discovery_has_one_store(tmp_path: Path) -> None:
    corpora, out = write_corpora(tmp_path), tmp_path / "out"
    plan = plan_of("discover", corpora, out=out, top_words=0)
    result = discover(corpora[0], corpora[1], out=out, model=Hashes(), monitor=None, **FAST)
    assert plan.words == list(result.words)
    assert planned(plan.targets) == written(out / "store")
    assert plan.control is None


def test_plan_of_a_trace_of_one_corpus_has_its_periods(tmp_path: Path) -> None:
    folder, out = tmp_path / "text", tmp_path / "out"
    folder.mkdir()
    write_corpora(folder)
    plan = plan_of("trace", [folder], ["mouse"], by="decade", out=out)
    result = trace(folder, words=["mouse"], by="decade", out=out, model=Hashes(), monitor=None, **FAST)
    assert [corpus.name for corpus in plan.corpora] == list(result.periods) == ["1900s", "2000s"]
    assert planned(plan.targets) == written(out / "store")
    assert planned(plan.control) == written(out / "control")


def test_plan_of_senses_needs_more_disk_and_no_control_words(tmp_path: Path) -> None:
    corpora, out = write_corpora(tmp_path), tmp_path / "out"
    plan = plan_of("compare", corpora, ["mouse"], senses=True, control=NO_CONTROL, out=out)
    without = plan_of("compare", corpora, ["mouse"], control=NO_CONTROL, out=out)
    find_senses(*corpora, words=["mouse"], out=out, model=Hashes(), permutations=20, monitor=None)
    assert planned(plan.targets) == written(out / "store")
    assert plan.control is None
    assert plan.disk_bytes > without.disk_bytes


def test_plan_of_embedding_is_what_it_writes(tmp_path: Path) -> None:
    corpora, out = write_corpora(tmp_path), tmp_path / "store"
    chosen = Settings(model=Hashes(), out=out, max_per_word=9, sample_seed=3)
    plan = plan_embedding(corpora, ["mouse", "bread", "unicorn"], chosen, "skip", None)
    assert not out.exists()
    options: dict[str, Any] = {"model": Hashes(), "out": out, "max_per_word": 9, "seed": 3, "missing": "skip"}
    embed(*corpora, words=["mouse", "bread", "unicorn"], **options)
    assert planned(plan.targets) == written(out)
    assert any("unicorn" in note for note in plan.notes)
    with pytest.raises(UserError, match="'unicorn' never occurs"):
        plan_embedding(corpora, ["mouse", "unicorn"], chosen, "error", None)


lines = st.lists(
    st.lists(st.sampled_from(["mouse", "bread", "Mouse", "the", "a", "barn."]), min_size=1, max_size=6).map(" ".join),
    min_size=4,
    max_size=30,
)


@settings(max_examples=12)
@given(lines, lines, st.sampled_from([0, 1, 3]), st.sampled_from(["word", "cased", "token"]))
def test_plan_of_any_corpora_is_what_the_run_writes(old: list[str], new: list[str], limit: int, match: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        corpora = [Path(folder, name) for name in ("old.txt", "new.txt")]
        for path, text in zip(corpora, (["mouse", *old], ["one mouse", *new]), strict=True):
            path.write_text("\n".join(text) + "\n")
        options: dict[str, Any] = {"max_per_word": limit, "match": match, "min_usages": 2, "split": "lines"}
        plan = plan_of("compare", corpora, ["mouse", "bread"], out=Path(folder, "out"), **options)
        encoder = Hashes()
        run(corpora, ["mouse", "bread"], Path(folder, "out"), encoder, **options)
        assert planned(plan.targets) == written(Path(folder, "out", "store"))
        assert plan.targets.sentences == len(set(encoder.sentences))
        again = plan_of("compare", corpora, ["mouse", "bread"], out=Path(folder, "out"), **options)
        assert (again.targets.held, again.targets.sentences) == (again.targets.usages, 0)


# What is there already


def test_plan_of_more_words_counts_what_the_store_holds(tmp_path: Path) -> None:
    corpora, out = write_corpora(tmp_path), tmp_path / "out"
    first = run(corpora, ["mouse"], out, Hashes(), control=None)
    plan = plan_of("compare", corpora, ["bread"], out=out, control=NO_CONTROL)
    assert plan.targets.held == first.siblings.index["rows"]
    encoder = Hashes()
    run(corpora, ["bread"], out, encoder, control=None)
    assert planned(plan.targets) == written(out / "store")
    assert plan.targets.sentences == len(set(encoder.sentences))


def test_plan_of_an_interrupted_run_counts_its_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 100)
    corpora, out = write_corpora(tmp_path), tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        run(corpora, ["mouse"], out, Hashes(stop_at=3), control=None)
    plan = plan_of("compare", corpora, ["mouse"], out=out, control=NO_CONTROL)
    assert 0 < plan.targets.held < plan.targets.usages
    encoder = Hashes()
    run(corpora, ["mouse"], out, encoder, control=None)
    assert plan.targets.sentences == len(set(encoder.sentences))


def test_plan_refuses_what_the_run_refuses(tmp_path: Path) -> None:
    corpora, out = write_corpora(tmp_path), tmp_path / "out"
    run(corpora, ["mouse"], out, Hashes(), control=None)
    with pytest.raises(UserError, match="holds a comparison"):
        plan_of("trace", corpora, ["mouse"], out=out)
    with pytest.raises(UserError, match="was made with at most 200 of a word"):
        plan_of("compare", corpora, ["mouse"], out=out, max_per_word=0)
    corpora[0].write_text("another mouse\n" * 30)
    with pytest.raises(UserError, match="the old corpus is not the one that the store"):
        plan_of("compare", corpora, ["mouse"], out=out)
    with pytest.raises(UserError, match="belongs to one period"):
        plan_of("trace", corpora[:1], ["mouse"], by="decade")


def test_plan_of_a_run_that_is_there_changes_no_file(tmp_path: Path) -> None:
    corpora, out = write_corpora(tmp_path), tmp_path / "out"
    run(corpora, ["mouse"], out, Hashes())
    before = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in [tmp_path, *tmp_path.rglob("*")]}
    plan = plan_of("compare", corpora, ["mouse", "bread"], out=out)
    assert plan.targets.sentences > 0
    assert {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in [tmp_path, *tmp_path.rglob("*")]} == before


class Stages(Silent):
    """A monitor that records the names of the stages."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def stage(self, name: str, total: int, unit: str) -> None:  # noqa: ARG002
        self.names.append(name)


def test_plan_does_not_search_for_words_that_appeared(tmp_path: Path) -> None:
    corpora = write_corpora(tmp_path)
    with corpora[1].open("a") as file:
        file.writelines(f"a modem rang {i}\n" for i in range(60))
    stages, of_run = Stages(), Stages()
    plan_study("compare", corpora, None, Settings(model=Hashes(), **FAST), stages)
    result = compare(corpora[0], corpora[1], model=Hashes(), monitor=of_run, **FAST)
    assert result.appeared_words is not None
    assert "modem" in [word.word for word in result.appeared_words.words]
    assert [name for name in of_run.names if "appeared words" in name]
    assert [name for name in stages.names if "appeared words" in name] == []


def test_times_are_ranges_that_add_up(tmp_path: Path) -> None:
    plan = plan_of("compare", write_corpora(tmp_path))
    assert all(0 <= times.low <= times.high for times in plan.seconds.values())
    for bound in ("low", "high"):
        parts = [getattr(plan.seconds[name], bound) for name in ("reading", "encoding", "scoring")]
        assert getattr(plan.seconds["total"], bound) == pytest.approx(sum(parts))
    assert plan.peak_bytes > plan.disk_bytes > plan.targets.vectors_bytes
