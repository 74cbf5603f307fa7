"""Test stores of encoders that distinguish periods: the period of each corpus, and sentences encoded per period."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stores import (
    BOTH,
    NEW,
    OLD,
    WORDS,
    RecordingMonitor,
    Toy,
    assert_holds,
    build_store,
    contents,
    corpora_in,
    expected,
    rows_of,
    write,
)

import lexshift
from lexshift import Siblings, UserError, embed, embed_usages
from lexshift.encode.adaptation import Adaptation
from lexshift.utils.arrays import Matrix

SHARED = ["a cell phone and a mouse", "a plane"]  # sentences of both corpora


class Timed:
    """Custom encoder with periods whose vectors are hashes of all its arguments."""

    def __init__(self, periods: Sequence[str] = ("a", "b"), stop_at: int | None = None) -> None:
        self.periods = periods
        self.settings = {"model": "timed"}
        self.calls: list[list[tuple[str, tuple[int, int], int]]] = []
        self.stop_at = stop_at

    def encode(
        self, sentences: Sequence[str], spans: Sequence[tuple[int, int]], periods: Sequence[int]
    ) -> npt.NDArray[np.float32]:
        work = list(zip(sentences, spans, periods, strict=True))
        self.calls.append(work)
        if len(self.calls) == self.stop_at:
            raise KeyboardInterrupt
        return np.array([self.vector(*item) for item in work], np.float32)

    def vector(self, sentence: str, span: tuple[int, int], period: int) -> Matrix:
        key = hashlib.blake2b(f"{period} {span} {sentence}".encode(), digest_size=6).digest()
        return np.frombuffer(key, np.int8).astype(np.float32) / 16

    @property
    def requests(self) -> list[tuple[str, tuple[int, int], int]]:
        return [item for call in self.calls for item in call]


def wanted(store: Siblings, numbers: dict[str, int]) -> list[tuple[str, tuple[int, int], int]]:
    """Return the sentence, the span and the period of each row."""
    return [(row[5], (row[6], row[7]), numbers[row[1]]) for row in rows_of(store)]


def assert_timed(store: Siblings, numbers: dict[str, int]) -> None:
    vectors = [Timed().vector(*item) for item in wanted(store, numbers)]
    np.testing.assert_array_equal(store.vectors, np.array(vectors, np.float32))
    store.check()


# -------------------------------------------------------------------------------------------------- model folders


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a tiny model with a token for each of the periods old and new."""
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "mouse", "plane", "a", "ran", "cell", "phone", "."]
    tokenizer = transformers.BertTokenizerFast(vocab={piece: i for i, piece in enumerate(pieces)}, model_max_length=64)
    tokenizer.add_tokens(["<1>", "<2>"], special_tokens=True)
    torch.manual_seed(0)
    shape = {"hidden_size": 8, "num_hidden_layers": 4, "num_attention_heads": 2, "intermediate_size": 12}
    config = transformers.BertConfig(vocab_size=len(tokenizer), max_position_embeddings=64, **shape)
    body = transformers.BertModel(config)
    with torch.no_grad():
        for weight in body.parameters():
            weight.normal_(0, 0.4) if weight.ndim > 1 else weight.add_(0.1)
    folder = tmp_path_factory.mktemp("model")
    body.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    Adaptation(periods=("old", "new"), time_tokens=("<1>", "<2>")).save(folder)
    return folder


def model_vectors(model: Path, store: Siblings, numbers: dict[str, int]) -> npt.NDArray[np.float32]:
    """Return the vectors that the encoder itself gives for the rows of a store."""
    encoder: Any = lexshift.encode.as_encoder(model, device="cpu")
    sentences, spans, periods = zip(*wanted(store, numbers), strict=True)
    vectors: npt.NDArray[np.float32] = encoder.encode(sentences, spans, periods=list(periods))
    return vectors


def shared_rows(store: Siblings) -> list[tuple[int, int]]:
    """Return pairs of rows of the same word in the same sentence, one in each corpus."""
    rows = rows_of(store)
    old, new = store.corpora
    return [
        (i, j)
        for i, a in enumerate(rows)
        for j, b in enumerate(rows)
        if (a[0], a[5:]) == (b[0], b[5:]) and (a[1], b[1]) == (old, new)
    ]


def test_same_sentence_has_a_vector_of_the_model_in_each_period(model: Path, tmp_path: Path) -> None:
    recorder = RecordingMonitor()
    store = build_store(tmp_path, model=model, monitor=recorder, device="cpu")
    assert rows_of(store) == expected(WORDS, BOTH)
    np.testing.assert_allclose(store.vectors, model_vectors(model, store, {"old": 0, "new": 1}), atol=1e-5)
    pairs = shared_rows(store)
    assert {rows_of(store)[i][5] for i, _ in pairs} == set(SHARED)
    assert all(np.abs(store.vectors[i] - store.vectors[j]).max() > 1e-3 for i, j in pairs)
    assert recorder.notes == []
    assert store.settings["encoder"]["periods"] == ["old", "new"]
    assert store.settings["encoder"]["time"] == ["<1>", "<2>"]


def test_labels_known_to_the_model_are_matched_by_name(model: Path, tmp_path: Path) -> None:
    recorder = RecordingMonitor()
    store = build_store(tmp_path, model=model, labels=["new", "old"], monitor=recorder, device="cpu")
    assert store.corpora == ["new", "old"]
    np.testing.assert_allclose(store.vectors, model_vectors(model, store, {"new": 1, "old": 0}), atol=1e-5)
    assert np.abs(store.vectors - model_vectors(model, store, {"new": 0, "old": 1})).max() > 1e-3
    assert recorder.notes == []


def test_other_labels_are_matched_by_order_with_a_note(model: Path, tmp_path: Path) -> None:
    recorder = RecordingMonitor()
    store = build_store(tmp_path, model=model, labels=["1850", "2000"], monitor=recorder, device="cpu")
    np.testing.assert_allclose(store.vectors, model_vectors(model, store, {"1850": 0, "2000": 1}), atol=1e-5)
    assert recorder.notes == ["1850, 2000 are used as the model's periods old, new, in this order"]


def test_one_corpus_known_to_the_model_is_enough(model: Path, tmp_path: Path) -> None:
    store = embed(corpora_in(tmp_path)[1], words=WORDS, model=model, labels=["new"], device="cpu")
    np.testing.assert_allclose(store.vectors, model_vectors(model, store, {"new": 1}), atol=1e-5)


@pytest.mark.parametrize("labels", [["a", "b", "c"], ["old", "new", "newest"]])
def test_more_corpora_than_periods_are_refused(model: Path, tmp_path: Path, labels: list[str]) -> None:
    a, b = corpora_in(tmp_path)
    c = write(tmp_path / "c.txt", ["one more plane", "a mouse"])
    with pytest.raises(UserError, match=rf"the periods old, new: .*; got {', '.join(labels)}$"):
        embed(a, b, c, words=["plane"], model=model, labels=labels, out=tmp_path / "store", device="cpu")
    assert contents(tmp_path / "store") == {}


def test_words_added_to_the_store_of_a_model_are_encoded_and_nothing_else(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lexshift.encode.huggingface import HuggingFaceEncoder

    calls: list[tuple[str, tuple[int, int], int]] = []
    encode: Any = HuggingFaceEncoder.encode

    def recorded_encode(self: Any, sentences: Any, spans: Any, *, periods: Any = None, **options: Any) -> Any:
        calls.extend(zip(sentences, spans, periods, strict=True))
        return encode(self, sentences, spans, periods=periods, **options)

    lines = ["a mouse", "the mouse ran", "a plane", "the plane ran", "a mouse ran."]
    paths = write(tmp_path / "a.txt", lines), write(tmp_path / "b.txt", lines[1:])
    options: dict[str, Any] = {"model": model, "batch_tokens": 1, "device": "cpu"}
    once = embed(*paths, words=["mouse", "plane"], out=tmp_path / "at once", **options)
    first = embed(*paths, words=["mouse"], out=tmp_path / "store", **options)
    mice = first["mouse"].old.tobytes(), first["mouse"].new.tobytes()
    monkeypatch.setattr(HuggingFaceEncoder, "encode", recorded_encode)
    store = embed(*paths, words=["plane"], out=tmp_path / "store", **options)
    planes = {"a plane": (2, 7), "the plane ran": (4, 9)}
    assert sorted(calls) == sorted((sentence, span, period) for sentence, span in planes.items() for period in (0, 1))
    assert (store["mouse"].old.tobytes(), store["mouse"].new.tobytes()) == mice
    assert contents(store.path) == contents(once.path)


def test_store_of_other_periods_is_another_store(model: Path, tmp_path: Path) -> None:
    build_store(tmp_path, model=model, words=["mouse"], device="cpu")
    Adaptation(periods=("old", "new"), time_tokens=("<2>", "<1>")).save(model)
    try:
        with pytest.raises(UserError, match=r"was made with time .*; choose another folder \(--out\)"):
            build_store(tmp_path, model=model, words=["plane"], device="cpu")
    finally:
        Adaptation(periods=("old", "new"), time_tokens=("<1>", "<2>")).save(model)


def test_approximate_model_is_compared_with_full_precision_of_the_same_periods(model: Path, tmp_path: Path) -> None:
    recorder = RecordingMonitor()
    build_store(tmp_path, model=model, dtype="int8", device="cpu", monitor=recorder)
    (note,) = recorder.notes
    found = re.search(
        r"on (\d+) occurrences the cosine with full precision is (\S+) on average and (\S+) at worst", note
    )
    assert found is not None
    assert int(found[1]) == len({(row[1], *row[5:]) for row in rows_of(Siblings(tmp_path / "store"))})
    assert float(found[3]) > 0.99


# ----------------------------------------------------------------------------------------------- custom encoders


@pytest.mark.parametrize("periods", [("a", "b"), ["a", "b"]], ids=["tuple", "list"])
def test_encoder_with_periods_receives_them(tmp_path: Path, periods: Sequence[str]) -> None:
    timed, recorder = Timed(periods), RecordingMonitor()
    store = build_store(tmp_path, model=timed, monitor=recorder)
    assert rows_of(store) == expected(WORDS, BOTH)
    assert_timed(store, {"old": 0, "new": 1})
    assert recorder.notes == ["old, new are used as the model's periods a, b, in this order"]
    assert len(timed.requests) == len(set(timed.requests))
    assert set(timed.requests) == set(wanted(store, {"old": 0, "new": 1}))
    both = {(sentence, span) for sentence, span, _ in timed.requests}
    assert len(both) == len(timed.requests) - len({(s, span) for s, span, _ in timed.requests if s in SHARED})
    assert all(isinstance(period, int) for *_, period in timed.requests)


def test_encoder_without_periods_receives_none_and_encodes_shared_sentences_once(tmp_path: Path) -> None:
    class Strict(Toy):
        def encode(self, *args: Any, **options: Any) -> npt.NDArray[np.float32]:
            assert len(args) == 2
            assert options == {}
            return super().encode(*args)

    for name, periods in (("none", None), ("empty", ())):
        toy: Any = Strict()
        if periods is not None:
            toy.periods = periods
        recorder = RecordingMonitor()
        store = build_store(tmp_path, name, toy, monitor=recorder)
        assert_holds(store, expected(WORDS, BOTH))
        for sentence in SHARED:
            spans = {span for text, span in toy.requests if text == sentence}
            assert sum(text == sentence for text, _ in toy.requests) == len(spans)
        assert recorder.notes == []


def test_approximate_encoder_is_compared_on_a_sample_with_its_periods(tmp_path: Path) -> None:
    class Approximate(Timed):
        is_approximate = True

        def deviation(
            self, sentences: Sequence[str], spans: Sequence[tuple[int, int]], periods: Sequence[int]
        ) -> Matrix:
            self.sample = list(zip(sentences, spans, periods, strict=True))
            return np.zeros(len(sentences))

    timed, recorder = Approximate(("old", "new")), RecordingMonitor()
    build_store(tmp_path, model=timed, monitor=recorder)
    assert timed.sample == timed.requests
    assert len(recorder.notes) == 1


lines = st.lists(
    st.lists(st.sampled_from(["mouse", "plane", "a", "the"]), min_size=1, max_size=3).map(" ".join), max_size=7
)


@given(lines, lines, st.integers(1, 60), st.booleans())
def test_random_corpora_are_encoded_once_for_each_period(
    old: list[str], new: list[str], characters: int, known: bool
) -> None:
    old, new = [*old, "the mouse"], [*new, "the mouse"]
    timed = Timed(("new", "old") if known else ("a", "b"))
    numbers = {"old": 1, "new": 0} if known else {"old": 0, "new": 1}
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr("lexshift.store.plan.SHARD_CHARACTERS", characters)
        patch.setattr("os.fsync", lambda _: None)
        paths = write(Path(place, "a.txt"), old), write(Path(place, "b.txt"), new)
        store = embed(*paths, words=["mouse", "plane"], model=timed, missing="skip", split="lines")
        assert_timed(store, numbers)
        assert len(timed.requests) == len(set(timed.requests))
        assert set(timed.requests) == set(wanted(store, numbers))


# --------------------------------------------------------------------------------------------------------- adding


def test_added_words_are_encoded_for_each_period_and_nothing_else(tmp_path: Path) -> None:
    numbers = {"old": 0, "new": 1}
    known = set(wanted(build_store(tmp_path, model=Timed(), words=WORDS[:1]), numbers))
    timed = Timed()
    store = build_store(tmp_path, model=timed, words=WORDS[1:])
    assert_timed(store, numbers)
    assert len(timed.requests) == len(set(timed.requests))
    assert set(timed.requests) == set(wanted(store, numbers)) - known
    assert contents(store.path) == contents(build_store(tmp_path, "at once", Timed()).path)


@pytest.mark.parametrize("again", [False, True], ids=["the new corpus", "all corpora"])
def test_added_corpus_is_encoded_in_its_own_period(tmp_path: Path, again: bool) -> None:
    a, b = corpora_in(tmp_path)
    embed(a, words=WORDS, model=Timed(("old", "new")), out=tmp_path / "store", labels=["old"])
    timed = Timed(("old", "new"))
    corpora, labels = ((a, b), ["old", "new"]) if again else ((b,), ["new"])
    store = embed(*corpora, words=WORDS, model=timed, out=tmp_path / "store", labels=labels)
    assert_timed(store, {"old": 0, "new": 1})
    assert {period for *_, period in timed.requests} == {1}
    assert set(SHARED) <= {sentence for sentence, *_ in timed.requests}  # known, but in the other period
    assert contents(store.path) == contents(build_store(tmp_path, "at once", Timed(("old", "new"))).path)


def test_corpus_is_never_reused_in_a_period_other_than_its_own(tmp_path: Path) -> None:
    a, b = corpora_in(tmp_path)
    embed(b, words=WORDS, model=Timed(("old", "new")), out=tmp_path / "store", labels=["new"])  # the second period
    try:  # with an unknown label, corpora are matched by order, so "new" would be the first
        store = embed(a, words=WORDS, model=Timed(("old", "new")), out=tmp_path / "store", labels=["x"])
    except UserError:
        store = Siblings(tmp_path / "store")
        assert store.corpora == ["new"]
        assert_timed(store, {"new": 1})
        return
    once = embed(b, a, words=WORDS, model=Timed(("old", "new")), out=tmp_path / "at once", labels=["new", "x"])
    assert contents(store.path) == contents(once.path)


def test_complete_store_is_unchanged(tmp_path: Path) -> None:
    build_store(tmp_path, model=Timed())
    before, timed = contents(tmp_path / "store"), Timed()
    build_store(tmp_path, model=timed, words=WORDS[::-1])
    assert (timed.calls, contents(tmp_path / "store")) == ([], before)


@pytest.mark.parametrize("stop_at", [1, 2, 3, 5])
def test_interrupted_run_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_at: int) -> None:
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 20)
    stopped, timed = Timed(stop_at=stop_at), Timed()
    with pytest.raises(KeyboardInterrupt):
        build_store(tmp_path, model=stopped)
    store = build_store(tmp_path, model=timed)
    assert_timed(store, {"old": 0, "new": 1})
    done = [item for call in stopped.calls[:-1] for item in call]
    assert not set(done) & set(timed.requests)
    assert len(done) + len(timed.requests) == len(set(wanted(store, {"old": 0, "new": 1})))
    assert contents(store.path) == contents(build_store(tmp_path, "at once", Timed()).path)


def test_both_periods_of_a_sentence_are_in_one_shard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 1)
    timed = Timed()
    build_store(tmp_path, model=timed)
    assert all(len({sentence for sentence, *_ in call}) == 1 for call in timed.calls)
    assert len(timed.calls) == len({sentence for sentence, *_ in timed.requests})


# --------------------------------------------------------------------------------------------------------- usages


def test_usages_are_encoded_in_their_periods() -> None:
    usages = pd.DataFrame({"word": "mouse", "corpus": ["b", "a", "b"], "sentence": "A mouse.", "start": 2, "end": 7})
    for periods, labels, numbers in (
        (("a", "b"), None, {"a": 0, "b": 1}),
        (("x", "y"), None, {"b": 0, "a": 1}),
        (("x", "y"), ["a", "b"], {"a": 0, "b": 1}),
    ):
        timed = Timed(periods)
        store = embed_usages(usages, model=timed, labels=labels)
        assert_timed(store, numbers)
        assert sorted(period for *_, period in timed.requests) == [0, 1]


def test_shared_sentences_of_the_test_corpora_are_the_expected_ones() -> None:
    assert sorted(set(OLD) & set(NEW)) == SHARED


def test_vectors_of_an_encoder_without_settings_are_compared_in_their_periods(tmp_path: Path) -> None:
    def without_settings() -> Timed:
        timed = Timed()
        del timed.settings
        return timed

    store, again = build_store(tmp_path, model=without_settings()), without_settings()
    assert build_store(tmp_path, model=again).fingerprint == store.fingerprint
    assert len(again.requests) == 3
    assert {period for *_, period in again.requests} == {0, 1}
