"""Test that the adapters of the built-in encoders are not trained on sentences of the evaluations."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from lexshift.corpus import sentence_hash
from lexshift.encode.built_in import BUILT_IN

TRAINING = Path(__file__).parent.parent / "training"
ADAPTERS = [name for name in BUILT_IN if name.endswith("-senses")]


@pytest.fixture(scope="module")
def trained_sentences() -> ModuleType:
    spec = importlib.util.spec_from_file_location("trained_sentences", TRAINING / "trained_sentences.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def evaluated() -> np.ndarray:
    return np.load(TRAINING / "evaluation-sentences.npy")


@pytest.mark.parametrize("name", ADAPTERS)
def test_no_evaluation_sentence_was_trained_on(name: str, trained_sentences: ModuleType, evaluated: np.ndarray) -> None:
    trained = trained_sentences.read_trained(name)
    assert len(trained) > 80_000
    assert len(np.unique(trained)) == len(trained)
    assert not np.isin(trained_sentences.shorten(evaluated), trained).any()


def test_shortened_hashes_find_a_sentence_again(trained_sentences: ModuleType) -> None:
    texts = ["A mouse ran.", "The plane landed.", "Bread is baked."]
    hashes = np.array([sentence_hash(text) for text in texts], np.uint64)
    shortened = trained_sentences.shorten(hashes)
    assert len(shortened) == 3
    assert np.isin(trained_sentences.shorten(hashes[:1]), shortened).all()
    other = np.array([sentence_hash("A cat ran.")], np.uint64)
    assert not np.isin(trained_sentences.shorten(other), shortened).any()


@pytest.mark.skipif("LEXSHIFT_DATA" not in os.environ, reason="LEXSHIFT_DATA does not name the folder of the data sets")
def test_evaluation_hashes_include_the_data_sets(evaluated: np.ndarray) -> None:
    known = set(evaluated.tolist())
    folder = Path(os.environ["LEXSHIFT_DATA"], "benchmark")
    for name in ("dwug_en", "rushifteval1"):
        files = sorted(folder.joinpath(name).rglob("uses.csv"))[:3] or sorted(folder.joinpath(name).rglob("*.csv"))[:3]
        lines = [line.split("\t") for file in files for line in file.read_text("utf-8").splitlines()[1:]]
        contexts = {max(cells, key=len) for cells in lines if len(cells) > 3}
        assert contexts
        assert all(sentence_hash(context) in known for context in contexts)
    pairs = Path(os.environ["LEXSHIFT_DATA"], "wic", "dev", "dev.data.txt").read_text("utf-8").splitlines()
    sentences = [cell for line in pairs for cell in line.split("\t")[3:5] if len(cell) > 15]
    assert sentences
    assert all(sentence_hash(sentence) in known for sentence in sentences)
