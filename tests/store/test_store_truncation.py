"""Test sentences longer than the window of a model: counted by corpus, reported, and recorded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from stores import RecordingMonitor, Toy, contents, write

from lexshift import Siblings, embed

REASON = "occurrences in sentences longer than the model's window, cut around the word"
OLD = ["a mouse", "the mouse and the plane " + "flew " * 9, "one mouse " + "ran " * 8 + "after a mouse", "plane"]
NEW = ["the plane", "mouse " * 12]


class Narrow(Toy):
    """Encoder with a maximum number of words per sentence that flags longer ones."""

    marks_truncated = True
    window = 10

    def encode(
        self,
        sentences: Sequence[str],
        spans: Sequence[tuple[int, int]],
        truncated: npt.NDArray[np.bool_] | None = None,
    ) -> npt.NDArray[np.float32]:
        vectors = super().encode(sentences, spans)
        assert truncated is not None
        truncated[:] = [len(s.split()) > self.window for s in sentences]
        return vectors


def run(folder: Path, name: str, toy: Toy, words: Sequence[str] = ("mouse", "plane"), recorder: Any = None) -> Siblings:
    paths = write(folder / "a.txt", OLD), write(folder / "b.txt", NEW)
    return embed(*paths, words=list(words), model=toy, out=folder / name, monitor=recorder, split="lines")


def test_truncated_occurrences_are_counted_by_corpus_and_reported(tmp_path: Path) -> None:
    recorder = RecordingMonitor()
    store = run(tmp_path, "store", Narrow(), recorder=recorder)
    assert store.skipped == {"old": {REASON: 4}, "new": {REASON: 12}}
    assert [note for note in recorder.notes if "window" in note] == [
        "the model's window is shorter than the sentences of 16 of 19 occurrences: only the part around the word was "
        "encoded (--window)"
    ]
    marked = [len(sentence.split()) > 10 for sentence in store.occurrences["sentence"].to_pylist()]
    assert store.is_truncated.tolist() == marked
    assert Siblings(store.path).skipped == store.skipped
    assert store["mouse"].occurrences("old")["truncated"].tolist() == [False, True, True, True]


def test_nothing_is_reported_if_all_fits_or_the_encoder_does_not_know(tmp_path: Path) -> None:
    recorder = RecordingMonitor()
    wide = Narrow()
    wide.window = 100
    for name, toy in (("wide", wide), ("toy", Toy())):
        store = run(tmp_path, name, toy, recorder=recorder)
        assert store.skipped == {"old": {}, "new": {}}
        assert not store.is_truncated.any()
        assert "truncated" not in store.occurrences.column_names
    assert not [note for note in recorder.notes if "window" in note]
    assert contents(tmp_path / "wide") == contents(tmp_path / "toy")


def test_truncation_count_survives_a_kill_and_added_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = contents(run(tmp_path, "whole", Narrow()).path)
    monkeypatch.setattr("lexshift.store.plan.SHARD_CHARACTERS", 1)
    calls = Narrow()
    run(tmp_path, "counted", calls)
    for stop_at in range(2, len(calls.calls) + 1):
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, str(stop_at), Narrow(stop_at=stop_at))
        run(tmp_path, str(stop_at), Narrow())
        assert contents(tmp_path / str(stop_at)) == whole
    run(tmp_path, "added to", Narrow(), ["mouse"])
    run(tmp_path, "added to", Narrow())
    assert contents(tmp_path / "added to") == whole


def test_corpus_can_be_added_to_a_store_with_truncated_sentences(tmp_path: Path) -> None:
    run(tmp_path, "store", Narrow())
    path = write(tmp_path / "c.txt", ["plane " * 11, "a mouse"])
    store = embed(path, words=["mouse", "plane"], model=Narrow(), out=tmp_path / "store", labels=["c"], split="lines")
    assert store.skipped == {"c": {REASON: 11}}
    assert Siblings(store.path).skipped == {"old": {REASON: 4}, "new": {REASON: 12}, "c": {REASON: 11}}
    marked = [len(sentence.split()) > 10 for sentence in store.occurrences["sentence"].to_pylist()]
    assert store.is_truncated.tolist() == marked


def test_words_dropped_by_the_encoder_are_not_counted_twice(tmp_path: Path) -> None:
    store = run(tmp_path, "store", Narrow(lost="plane"))
    lost = "occurrences whose word the tokenizer drops"
    assert store.skipped == {"old": {lost: 2, REASON: 3}, "new": {lost: 1, REASON: 12}}


def test_model_counts_the_sentences_that_its_window_cuts(tmp_path: Path) -> None:
    tiny_models = pytest.importorskip("tiny_models", reason="needs torch and transformers", exc_type=ImportError)
    tokenizer = tiny_models.loaded("bert")[1]
    path = write(tmp_path / "a.txt", ["a mouse", "the mouse ran " + "after the plane " * 6, "mouse"])
    room = max(len(tokenizer(text)["input_ids"]) for text in ("a mouse", "mouse"))
    model = str(tiny_models.folder("bert"))
    cut = embed(path, words=["mouse"], model=model, device="cpu", window=room, split="lines")
    assert cut.skipped == {"a": {REASON: 1}}
    assert embed(path, words=["mouse"], model=model, device="cpu", split="lines").skipped == {"a": {}}


def test_model_with_nan_weights_is_reported(tmp_path: Path) -> None:
    tiny_models = pytest.importorskip("tiny_models", reason="needs torch and transformers", exc_type=ImportError)
    import torch

    from lexshift import UserError

    model, tokenizer = tiny_models.make_model("bert"), tiny_models.loaded("bert")[1]
    with torch.no_grad():
        model.embeddings.word_embeddings.weight.fill_(float("nan"))
    path = write(tmp_path / "a.txt", ["a mouse", "the \u200b mouse"])
    with pytest.raises(UserError, match=r"gives NaN values: its weights hold NaN$"):
        embed(path, words=["mouse"], model=(model, tokenizer), device="cpu")
