"""Test control words: which words are chosen, how their usages are embedded, and the space that is fitted to them."""

from __future__ import annotations

import hashlib
import io
import json
import random
import re
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lexshift
from lexshift import Siblings, UserError, compare, discover, find_senses, load, trace
from lexshift.corpus import segmentation
from lexshift.report.methods import methods
from lexshift.scoring.space import fit_space
from lexshift.study import control_usages
from lexshift.study.control_usages import MAX_USAGES
from lexshift.study.control_words import smallest_hashes
from lexshift.study.settings import Settings

Paths: TypeAlias = tuple[Path, Path]

SYLLABLES = ("ba", "ke", "li", "mo", "nu", "ra", "se", "ti")
ORDINARY = [a + b + "n" for a in SYLLABLES for b in SYLLABLES]  # 64 content words
RARE = ORDINARY[:10]  # rare in one corpus
COMMON = [*ORDINARY[10:], "mouse"]
FAST: dict[str, Any] = {"permutations": 50, "resamples": 20, "monitor": False}
NOTHING = "there is no comparison with ordinary words, because "


class Toy:
    """Encoder whose vector is a sum of hashes of the surrounding words; it counts the sentences that it encodes."""

    settings: ClassVar[dict[str, str]] = {"model": "toy"}

    def __init__(self, most: int | None = None) -> None:
        self.encoded: list[str] = []
        self._most = most

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        self.encoded += sentences
        if self._most is not None and len(self.encoded) > self._most:
            raise RuntimeError("stopped")
        around = [(s[:start] + s[end:]).split() for s, (start, end) in zip(sentences, spans, strict=True)]
        keys = [[hashlib.blake2b(word.encode(), digest_size=6).digest() for word in words] for words in around]
        sums = [np.sum([np.frombuffer(key, np.int8) / 64 for key in of_one], axis=0) for of_one in keys]
        return np.array((np.array(sums) + 3) * [1, 1, 1, 2, 5, 20], np.float32)


class Recorder:
    """A monitor that records notes and stages."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.stages: list[str] = []

    def stage(self, name: str, total: int, unit: str) -> None:  # noqa: ARG002
        self.stages.append(name)

    def advance(self, done: int, items: int = 0, status: str = "") -> None:
        pass

    def note(self, text: str) -> None:
        self.notes.append(text)


def lines_of(period: int, n_words: int = len(ORDINARY)) -> list[str]:
    """Return sentences with ordinary words, function words, a number, a name, and mouse with changing neighbours."""
    rng = random.Random(period)
    lines = []
    for i in range(600):
        words = rng.sample(ORDINARY[:n_words], 6)
        if i % 5 == 0:
            words[2:3] = ["mouse", ("cheese", "screen")[period]]
        if period:
            words = [word for word in words if word not in RARE or rng.random() < 0.1]
        lines.append(f"The {' and the '.join(words)} with Paris in 1950.")
    return lines


def write_corpora(folder: Path, n_words: int = len(ORDINARY), n_files: int = 3) -> Paths:
    """Write two folders of files."""
    for period, name in enumerate(("1850s", "1990s")):
        (folder / name).mkdir(parents=True)
        lines = lines_of(period, n_words)
        for number in range(n_files):
            (folder / name / f"{number}.txt").write_text("\n".join(lines[number::n_files]) + "\n", "utf-8")
    return folder / "1850s", folder / "1990s"


def text_of(path: Path) -> str:
    return "".join(file.read_text("utf-8") for file in sorted(path.iterdir()))


def run(paths: Paths, words: Any = ("mouse",), **options: Any) -> lexshift.Result:
    return compare(*paths, words, **{"model": Toy(), "split": "lines", "language": "en", **FAST, **options})


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk in tests."""
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> Paths:
    return write_corpora(tmp_path_factory.mktemp("corpora"))


@pytest.fixture(scope="module")
def saved(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> tuple[lexshift.Result, Path]:
    """Return a comparison and its folder; do not write to it."""
    out = tmp_path_factory.mktemp("saved") / "out"
    return run(paths, out=out), out


@pytest.fixture
def folder(saved: tuple[lexshift.Result, Path], tmp_path: Path) -> Path:
    """Return a copy of the folder of a comparison."""
    return Path(shutil.copytree(saved[1], tmp_path / "copy"))


# ---------------------------------------------------------------------------------------------------------- the choice


def slow_hash(word: str) -> bytes:
    return hashlib.blake2b(word.encode(), key=b"lexshift control words", digest_size=8).digest()


def expected_words(paths: Paths, n_words: int = 150) -> list[str]:
    """Return the control words by their definition."""
    counts = [Counter(re.findall(r"\w+", text_of(path).lower())) for path in paths]
    frequent = [word for word in counts[0] if min(count[word] for count in counts) >= 20]
    content = [word for word in frequent if word not in ("the", "and", "with", "in", "1950", "paris")]
    return sorted(content, key=slow_hash)[:n_words]


def test_control_words_are_frequent_content_words_with_the_smallest_hashes(
    paths: Paths, saved: tuple[lexshift.Result, Path]
) -> None:
    result, out = saved
    assert result.controls is not None
    assert list(result.controls.words) == expected_words(paths)
    assert sorted(result.controls.words) == sorted(COMMON)
    assert json.loads((out / "run.json").read_text("utf-8"))["control"]["words"] == expected_words(paths)


def test_number_of_control_words(paths: Paths) -> None:
    controls = run(paths, control=40).controls
    assert controls is not None
    assert list(controls.words) == expected_words(paths, 40)


@given(st.lists(st.text(min_size=1), unique=True), st.integers(0, 5), st.randoms())
def test_choice_does_not_depend_on_the_order_and_is_nested(words: list[str], n: int, rng: random.Random) -> None:
    chosen = smallest_hashes(words, n)
    mixed = list(words)
    rng.shuffle(mixed)
    assert chosen == smallest_hashes(mixed, n) == smallest_hashes(mixed, n + 1)[:n]
    assert len(chosen) == min(n, len(words))


@pytest.mark.parametrize("how", ["list", "file", "mapping"])
def test_named_control_words_are_used_if_they_are_frequent(paths: Paths, tmp_path: Path, how: str) -> None:
    words = [*COMMON[:35], RARE[0], "neverland"]
    (tmp_path / "controls.txt").write_text("\n".join(words), "utf-8")
    control: Any = {"list": words, "file": str(tmp_path / "controls.txt"), "mapping": {word: [word] for word in words}}
    controls = run(paths, control=control[how]).controls
    assert controls is not None
    assert sorted(controls.words) == sorted(COMMON[:35])


def test_named_words_that_are_too_few_are_reported(paths: Paths) -> None:
    recorder = Recorder()
    result = run(paths, control=[*COMMON[:20], *RARE], monitor=recorder)
    note = f"{NOTHING}only 20 of the 30 control words occur 20 times or more in both corpora"
    assert recorder.notes == [note]
    assert result.run["control"] == {"words": [], "source": None, "note": note}


def test_missing_file_of_control_words_is_refused_before_anything_is_encoded(paths: Paths, tmp_path: Path) -> None:
    encoder = Toy()
    with pytest.raises(
        UserError, match=r"^the control words cannot be used: no such file of target words: '.*none\.txt'"
    ):
        run(paths, control=tmp_path / "none.txt", model=encoder, out=tmp_path / "out")
    assert encoder.encoded == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("control", [None, "none"])
def test_run_without_control_words(paths: Paths, tmp_path: Path, control: str | None) -> None:
    recorder = Recorder()
    result = run(paths, control=control, out=tmp_path / "out", monitor=recorder)
    assert result.settings["control"] == "none"
    assert result.run["control"] == {"words": [], "source": None, "note": None}
    assert not result.controls
    assert not (tmp_path / "out" / "control").exists()
    assert (recorder.notes, "counting old" in recorder.stages) == ([], False)


def test_fewer_than_30_control_words_are_not_used(tmp_path: Path) -> None:
    paths = write_corpora(tmp_path / "corpora", n_words=10 + 28)
    recorder = Recorder()
    result = run(paths, out=tmp_path / "out", monitor=recorder)
    note = f"{NOTHING}only 29 words occur 20 times or more in both corpora"
    assert recorder.notes == [note]
    assert result.run["control"]["note"] == note
    assert result.run["control"]["words"] == []
    assert not (tmp_path / "out" / "control").exists()
    loaded = load(tmp_path / "out").controls
    assert loaded is not None
    assert (loaded.note, loaded.words) == (note, ())


def test_thirty_control_words_are_used(tmp_path: Path) -> None:
    controls = run(write_corpora(tmp_path / "corpora", n_words=10 + 29)).controls
    assert controls is not None
    assert len(controls) == 30


def test_words_are_compared_with_thirty_control_words_also_if_one_of_them_is_studied(paths: Paths) -> None:
    controls = run(paths, control=30).controls
    assert controls is not None
    other = next(word for word in COMMON if word not in controls.words)
    studied = controls.words[0]
    assert [run(paths, [word], control=30).backdrop.control_words for word in (other, studied)] == [30, 30]


def test_standard_input_is_read_only_once(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    class Piped(io.TextIOWrapper):
        def isatty(self) -> bool:
            return False

    monkeypatch.setattr("sys.stdin", Piped(io.BytesIO(text_of(paths[1]).encode())))
    recorder = Recorder()
    result = run((paths[0], Path("-")), monitor=recorder)
    assert recorder.notes == [f"{NOTHING}a corpus from standard input can be read only once"]
    assert result.table["n_new"].tolist() == [120]


def test_text_that_is_not_segmented_has_no_control_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segmentation, "segmenter_version", lambda: None)
    for n, name in enumerate(("old", "new")):
        (tmp_path / f"{name}.txt").write_text("我喜欢苹果很多年了\n他有苹果在家里面\n" * (20 + n), "utf-8")
    recorder = Recorder()
    options = {**FAST, "monitor": recorder, "model": Toy(), "language": "zh", "split": "lines"}
    compare(tmp_path / "old.txt", tmp_path / "new.txt", ["苹果"], **options)
    assert f"{NOTHING}the text is not segmented into words" in recorder.notes


def test_senses_have_no_control_words(paths: Paths) -> None:
    options: dict[str, Any] = {"model": Toy(), "split": "lines", "language": "en", "permutations": 50, "monitor": False}
    assert not find_senses(*paths, words=["mouse"], **options).controls


# ---------------------------------------------------------------------------------------------------------- the usages


def test_usages_are_sampled_from_the_corpora(paths: Paths, saved: tuple[lexshift.Result, Path]) -> None:
    controls, encoder = saved[0].controls, Toy()
    assert controls is not None
    for word in controls.words[:5]:
        for period in (0, 1):
            sentences, documents = controls.sentences(word, period), controls.documents(word, period)
            count = sum(word in line.split() for line in text_of(paths[period]).splitlines())
            assert len(sentences) == len(documents) == len(controls.vectors(word, period)) == min(count, MAX_USAGES)
            spans = [(text.index(f" {word} ") + 1, text.index(f" {word} ") + 1 + len(word)) for text in sentences]
            np.testing.assert_array_equal(controls.vectors(word, period), encoder.encode(list(sentences), spans))
            for sentence, document in zip(sentences, documents, strict=True):
                assert sentence in (paths[period] / document).read_text("utf-8").splitlines()
    assert {str(name) for name in controls.documents("mouse", 0)} == {"0.txt", "1.txt", "2.txt"}


def test_usages_share_sentences(saved: tuple[lexshift.Result, Path]) -> None:
    """About as many sentences are needed as for one word that occurs in each of them."""
    controls = saved[0].controls
    assert controls is not None
    usages = sum(len(controls.vectors(word, 0)) for word in controls)
    sentences = {text for word in controls for text in controls.sentences(word, 0)}
    assert usages > 1.4 * len(sentences)


def test_usages_are_recorded(saved: tuple[lexshift.Result, Path]) -> None:
    result, out = saved
    controls = result.controls
    assert controls is not None
    record = json.loads((out / "run.json").read_text("utf-8"))["control"]
    store = Siblings(out / "control")
    assert record == controls.record() == result.run["control"]
    assert (record["source"], record["note"], record["fingerprint"]) == ("control", None, store.fingerprint)
    for column, label in enumerate(("old", "new")):
        assert record["usages"][label] == sum(len(controls.vectors(word, column)) for word in controls)
        texts = {text for word in controls for text in controls.sentences(word, column)}
        assert record["sentences"][label] == len(texts)
    assert store.settings["sampling"] == {"max_per_word": 40, "seed": 0, "shared": True}


def test_cost_is_announced_before_control_words_are_encoded(paths: Paths) -> None:
    recorder, encoder = Recorder(), Toy()
    controls = run(paths, monitor=recorder, model=encoder).controls
    assert controls is not None
    usages = sum(len(rows) for word in controls for rows in controls[word])
    sentences = {text for word in controls for period in (0, 1) for text in controls.sentences(word, period)}
    assert recorder.notes == [
        "comparing with 55 ordinary words of both corpora",
        f"control words: {usages:,} usages, {len(sentences):,} sentences to encode; --control none leaves them out",
    ]
    assert recorder.stages.index("encoding") < recorder.stages.index("control words: reading old")
    assert recorder.stages.index("control words: encoding") < recorder.stages.index("scoring")


def test_sentences_that_are_repeated_count_once(tmp_path: Path) -> None:
    old, new = write_corpora(tmp_path, n_files=1)
    file = next(path for path in [old, *old.rglob("*.txt")] if path.is_file())
    file.write_text(2 * file.read_text("utf-8"), "utf-8")
    controls = run((old, new), space="raw").controls
    assert controls is not None
    for word in controls.words:
        sentences = controls.sentences(word, 0).tolist()
        assert len(sentences) == len(set(sentences)) == len(controls.vectors(word, 0))


def test_mapping_has_the_arrays_of_each_word(saved: tuple[lexshift.Result, Path]) -> None:
    controls = saved[0].controls
    assert controls is not None
    assert list(controls) == list(controls.words)
    for word, arrays in controls.items():
        assert len(arrays) == 2
        np.testing.assert_array_equal(arrays[1], controls.vectors(word, 1))
    with pytest.raises(KeyError, match="'cheese' is not a control word"):
        controls["cheese"]


def test_word_can_be_left_out(saved: tuple[lexshift.Result, Path]) -> None:
    controls = saved[0].controls
    assert controls is not None
    others = controls.without("Mouse", "cheese")
    assert set(controls.words) - set(others.words) == {"mouse"}
    assert "mouse" not in others
    word = others.words[0]
    np.testing.assert_array_equal(others.vectors(word, 0), controls.vectors(word, 0))


def test_vectors_in_a_space(saved: tuple[lexshift.Result, Path]) -> None:
    result = saved[0]
    assert result.controls is not None
    assert result.space is not None
    moved = result.controls.in_space(result.space).vectors("mouse", 1)
    np.testing.assert_array_equal(moved, result.space.apply(result.controls.vectors("mouse", 1)))


# ------------------------------------------------------------------------------------------------------------ the store


def test_second_run_encodes_nothing(folder: Path, paths: Paths) -> None:
    before, encoder, recorder = files_of(folder / "control"), Toy(), Recorder()
    run(paths, out=folder, model=encoder, monitor=recorder)
    assert encoder.encoded == []
    assert files_of(folder / "control") == before
    complete = "the store is complete already; nothing is encoded"
    note = "comparing with 55 ordinary words of both corpora"
    assert recorder.notes == [complete, note, f"control words: {complete}"]


def test_other_words_do_not_change_the_control_words(folder: Path, paths: Paths, tmp_path: Path) -> None:
    before, encoder = files_of(folder / "control"), Toy()
    run(paths, ["cheese", "screen", RARE[0]], out=folder, model=encoder)
    assert set(encoder.encoded) <= {
        line for path in paths for line in text_of(path).splitlines() if re.search(f"cheese|screen|{RARE[0]}", line)
    }
    assert files_of(folder / "control") == before
    run(paths, [ORDINARY[20]], out=tmp_path / "other")
    assert files_of(tmp_path / "other" / "control") == before


def test_more_control_words_are_added_to_those_that_are_there(folder: Path, paths: Paths) -> None:
    run(paths, out=folder, control=30)
    encoder = Toy()
    controls = run(paths, out=folder, control=33, model=encoder).controls
    assert controls is not None
    assert len(controls) == 33
    added = controls.words[30:]
    assert encoder.encoded
    assert all(any(word in text.split() for word in added) for text in encoder.encoded)


def test_interrupted_run_resumes(
    paths: Paths, saved: tuple[lexshift.Result, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 1 << 12)
    whole = Toy()
    run(paths, model=whole)
    n_words = len(set(whole.encoded[:240]))
    with pytest.raises(RuntimeError, match="stopped"):
        run(paths, out=tmp_path / "out", model=Toy(most=n_words + 300))
    encoder = Toy()
    run(paths, out=tmp_path / "out", model=encoder)
    assert 0 < len(encoder.encoded) < len(whole.encoded) - n_words
    assert files_of(tmp_path / "out" / "control") == files_of(saved[1] / "control")


def test_changed_corpus_is_refused(folder: Path, tmp_path: Path) -> None:
    paths = write_corpora(tmp_path / "corpora")
    with (paths[1] / "1.txt").open("a") as file:
        file.write("Another mouse.\n")
    before = files_of(folder / "control")
    with pytest.raises(UserError, match="the new corpus is not the one that the store"):
        run(paths, out=folder)
    assert files_of(folder / "control") == before


def test_folder_of_somebody_else_is_refused_before_anything_is_encoded(paths: Paths, tmp_path: Path) -> None:
    (tmp_path / "out" / "control").mkdir(parents=True)
    (tmp_path / "out" / "control" / "notes.txt").write_text("mine")
    encoder = Toy()
    with pytest.raises(UserError, match=r"the folder '.*control' holds other files"):
        run(paths, out=tmp_path / "out", model=encoder)
    assert encoder.encoded == []
    assert files_of(tmp_path / "out" / "control") == {"notes.txt": b"mine"}


def test_store_of_other_corpora_is_refused(paths: Paths, folder: Path) -> None:
    shutil.rmtree(folder / "store")
    shutil.rmtree(folder / "control")
    lexshift.embed(*paths, words=["mouse"], model=Toy(), out=folder / "control", labels=["a", "b"])
    with pytest.raises(UserError, match=r"the store '.*control' holds the corpora 'a', 'b' and was made for something"):
        run(paths, out=folder)


def test_loaded_result_has_its_control_words(saved: tuple[lexshift.Result, Path]) -> None:
    result, out = saved
    loaded = load(out).controls
    assert result.controls is not None
    assert loaded is not None
    assert loaded.record() == result.controls.record()
    np.testing.assert_array_equal(loaded.vectors("mouse", 1), result.controls.vectors("mouse", 1))


def test_results_can_be_loaded_without_their_control_words(folder: Path, saved: tuple[lexshift.Result, Path]) -> None:
    shutil.rmtree(folder / "control")
    loaded = load(folder)
    assert loaded.controls is None
    assert loaded.table.equals(saved[0].table)


def test_saved_result_has_a_copy_of_the_control_words(
    paths: Paths, saved: tuple[lexshift.Result, Path], tmp_path: Path
) -> None:
    run(paths).save(tmp_path / "out")
    assert files_of(tmp_path / "out" / "control") == files_of(saved[1] / "control")
    encoder = Toy()
    run(paths, out=tmp_path / "out", model=encoder)
    assert encoder.encoded == []
    with pytest.raises(UserError, match=r"the store '.*control' belongs to other results"):
        run(paths, control=30).save(tmp_path / "out")


# ------------------------------------------------------------------------------------------------------------ the space


@pytest.mark.parametrize("space", ["auto", "centred", "standardised"])
def test_score_does_not_depend_on_the_other_words(paths: Paths, space: str) -> None:
    several = [["mouse"], ["mouse", RARE[1]], ["cheese", *ORDINARY[10:20], "mouse"]]
    scores = [run(paths, words, space=space).table.set_index("word")["score"]["mouse"] for words in several]
    assert scores[0] == scores[1] == scores[2]
    without = [run(paths, words, space=space, control=None).table.set_index("word") for words in several]
    assert without[0]["score"]["mouse"] != without[2]["score"]["mouse"]


def test_space_is_fitted_to_the_control_words(saved: tuple[lexshift.Result, Path]) -> None:
    result = saved[0]
    assert result.controls is not None
    assert result.space is not None
    pairs = {word: [result.controls.vectors(word, period) for period in (0, 1)] for word in result.controls.words}
    expected = fit_space(pairs, "standardised")
    np.testing.assert_array_equal(result.space.mean, expected.mean)
    np.testing.assert_array_equal(result.space.scale, expected.scale)


def test_methods_name_the_words_to_which_the_space_is_fitted(paths: Paths, saved: tuple[lexshift.Result, Path]) -> None:
    text = " ".join(methods(saved[0]))
    assert "were computed over the usages of 55 control words, ordinary words of both corpora, with the same" in text
    assert "it was computed over the usages of all words, with" in " ".join(
        methods(run(paths, space="centred", control=None))
    )


# ------------------------------------------------------------------------------------------------- discovery and traces


def test_discovery_takes_control_words_from_its_vocabulary(paths: Paths, tmp_path: Path) -> None:
    options: dict[str, Any] = {"split": "lines", "language": "en", **FAST}
    encoders, recorder = (Toy(), Toy()), Recorder()
    result = discover(*paths, model=encoders[0], out=tmp_path / "out", **options | {"monitor": recorder})
    discover(*paths, model=encoders[1], control=None, **options)
    assert encoders[0].encoded == encoders[1].encoded
    controls = result.controls
    assert controls is not None
    assert list(controls.words) == expected_words(paths)
    assert (controls.source, (tmp_path / "out" / "control").exists()) == ("store", False)
    assert "comparing with 55 of these words, chosen at random, as ordinary words" in recorder.notes
    word = "mouse"
    stored = result.siblings.group(word, "new")
    rows = controls.vectors(word, 1)
    assert len(rows) == MAX_USAGES < len(stored)
    places = [np.flatnonzero((stored == row).all(axis=1)) for row in rows]
    assert all(len(place) for place in places)
    loaded = load(tmp_path / "out").controls
    assert loaded is not None
    np.testing.assert_array_equal(loaded.vectors(word, 1), rows)
    texts = result.siblings[word].occurrences("new")
    positions = [texts["sentence"].tolist().index(text) for text in controls.sentences(word, 1)]
    np.testing.assert_array_equal(np.sort(stored[positions], axis=0), np.sort(rows, axis=0))
    assert positions == sorted(positions)


def test_discovery_of_few_words_has_no_control_words(paths: Paths) -> None:
    recorder = Recorder()
    options: dict[str, Any] = {"split": "lines", "language": "en", **FAST, "monitor": recorder}
    result = discover(*paths, model=Toy(), top_words=20, **options)
    note = f"{NOTHING}only 20 of the words studied occur 20 times or more in both corpora"
    assert note in recorder.notes
    assert result.run["control"]["note"] == note


def test_scores_of_a_discovery_are_not_reused_with_another_space(paths: Paths, tmp_path: Path) -> None:
    options: dict[str, Any] = {"split": "lines", "language": "en", **FAST, "out": tmp_path / "out", "model": Toy()}
    scores = [
        discover(*paths, control=control, **options).table.set_index("word")["score"]["mouse"]
        for control in ("auto", 30, None, "auto")
    ]
    assert len(set(scores)) == 3
    assert scores[0] == scores[3]


def test_trace_has_control_words_of_all_periods(paths: Paths, tmp_path: Path) -> None:
    (tmp_path / "between").mkdir()
    (tmp_path / "between" / "0.txt").write_text("\n".join(lines_of(0)[:100]) + "\n", "utf-8")
    options: dict[str, Any] = {"split": "lines", "language": "en", **FAST, "words": ["mouse"]}
    result = trace(paths[0], tmp_path / "between", paths[1], model=Toy(), out=tmp_path / "out", **options)
    controls = result.controls
    assert controls is not None
    assert list(controls.words) == expected_words(paths)
    assert set(controls.record()["usages"]) == {"1850s", "between", "1990s"}
    assert 0 < len(controls.vectors(controls.words[0], 1)) < MAX_USAGES
    encoder = Toy()
    trace(paths[0], tmp_path / "between", paths[1], model=encoder, out=tmp_path / "out", **options)
    assert encoder.encoded == []


def test_trace_of_one_corpus_has_control_words_of_its_first_and_last_period(paths: Paths, tmp_path: Path) -> None:
    table = tmp_path / "news.jsonl"
    rows = [
        {"text": line, "date": str(year)}
        for year, path in ((1985, paths[0]), (2005, paths[1]))
        for line in text_of(path).splitlines()
    ]
    rows += [{"text": line, "date": "1995"} for line in lines_of(0)[:50]]
    rows += [{"text": f"A {word} of {word}.", "date": "1995"} for word in RARE for _ in range(40)]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    options: dict[str, Any] = {"split": "lines", "language": "en", **FAST, "words": ["mouse"]}
    result = trace(table, by="decade", date_column="date", model=Toy(), **options)
    controls = result.controls
    assert controls is not None
    assert list(controls.words) == expected_words(paths)
    assert list(controls.record()["usages"]) == ["1980s", "1990s", "2000s"]
    few = trace(table, by="decade", date_column="date", model=Toy(), control=[*RARE, *COMMON[:25]], **options)
    assert few.run["control"]["note"] == (
        f"{NOTHING}only 25 of the 35 control words occur 20 times or more in the first and the last period"
    )


def test_control_words_of_lemmas(paths: Paths) -> None:
    pytest.importorskip("simplemma")
    controls = run(paths, match="lemma").controls
    assert controls is not None
    assert "mouse" in controls
    assert len(controls) >= 30


# -------------------------------------------------------------------------------------------------------- the settings


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("auto", "auto"),
        (None, "none"),
        ("none", "none"),
        ("40", 40),
        (40, 40),
        (np.int64(40), 40),
        ("words.txt", "words.txt"),
        (Path("words"), "./words"),
        (Path("a/words"), "a/words"),
        (("a", "b"), ["a", "b"]),
        ({"a": ("a", "b"), "c": "c"}, {"a": ["a", "b"], "c": ["c"]}),
    ],
)
def test_control_has_one_form_for_each_meaning(value: Any, expected: Any) -> None:
    found = Settings(control=value).control
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize("value", [29, "29", 0, -5, "-5", "", 40.5, True, b"auto"])
def test_invalid_control_is_refused(value: Any) -> None:
    with pytest.raises(UserError, match=r"^control must be auto, none, a file with words, or a number of words of at "):
        Settings(control=value)


def test_prefix_of_notes_keeps_warnings_recognisable() -> None:
    recorder = Recorder()
    prefixed = control_usages.PrefixedMonitor(recorder)
    prefixed.note("warning: odd")
    prefixed.note("even")
    assert recorder.notes == ["warning: control words: odd", "control words: even"]
