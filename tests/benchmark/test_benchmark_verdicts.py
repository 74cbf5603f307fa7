"""Test the verdicts of ``lexshift eval`` on words with planted changes, next to control words of the same sentences."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from lexshift import UserError, compare
from lexshift.benchmark.control_usages import find_control_usages
from lexshift.benchmark.datasets.dataset import PERIODS, Dataset, UsageCollector
from lexshift.benchmark.evaluation import (
    EmbeddedDataset,
    Evaluation,
    embed_dataset,
    evaluate,
    evaluate_decisions,
    evaluate_rule,
    evaluate_rules,
    make_settings,
)
from lexshift.benchmark.verdicts import COLUMNS, WordVerdicts, judge_words
from lexshift.encode.adaptation import Calibration, FixedSpace
from lexshift.scoring.gap import Gap
from lexshift.store.siblings import Siblings
from lexshift.study.verdict import Backdrop, Evidence, decide_verdict
from lexshift.utils.arrays import Floats
from lexshift.utils.monitor import Silent

SYLLABLES = ("ba", "ke", "li", "mo", "nu", "ra", "se", "ti")
ORDINARY = [a + b + "n" for a in SYLLABLES for b in SYLLABLES][:40]
CHANGED = ("mouse", "tablet", "cloud")
UNCHANGED = ("bread", "stone", "river", "winter")
RARE = "thimble"
WORDS = (*CHANGED, *UNCHANGED, RARE)
BINARY = {word: word in (*CHANGED, RARE) for word in WORDS}
GRADED = {word: float(is_changed) for word, is_changed in BINARY.items()}
D = 12  # dimension of the vectors


def noise(text: str) -> Floats:
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
    return np.random.default_rng(seed).normal(size=D)


class PlantedEncoder:
    """Encoder of words: a direction for each word and for its sense, noise, and a shift of every word in new sentences.

    Parameters
    ----------
    calibration : Calibration, optional
    space : FixedSpace, optional
    shift : float
        Length of the shift that all words of the new period have in common.
    """

    def __init__(
        self, calibration: Calibration | None = None, space: FixedSpace | None = None, shift: float = 0.0
    ) -> None:
        self.settings = {"model": "planted"}
        self.calibration, self.space, self.encoded = calibration, space, 0
        self._shift = shift

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        self.encoded += len(sentences)
        rows = [self._vector(text, text[slice(*span)]) for text, span in zip(sentences, spans, strict=True)]
        return np.array(rows, np.float32)

    def _vector(self, sentence: str, word: str) -> Floats:
        # Words have vectors of one length, so that the same shift turns all of them by about the same angle.
        vector = D**0.5 * noise(word) / np.linalg.norm(noise(word)) + 0.5 * noise(f"{word} in {sentence}")
        if word in CHANGED and "screen" in sentence:
            vector += 1.5 * noise(f"{word} on a screen")
        if "modern" in sentence:
            vector += self._shift * noise("modern")
        return vector


def planted(n_ordinary: int = len(ORDINARY), binary: bool = True) -> Dataset:
    """Return a data set of 30 usages of each word and period, among 6 ordinary words per sentence."""
    collector, line = UsageCollector(), 0
    for period in (0, 1):
        for word in WORDS:
            for number in range(1 if word == RARE and period else 30):
                others = [ORDINARY[(6 * line + i) % n_ordinary] for i in range(6)]
                mark = "" if not period else "modern screen " if number % 3 else "modern "
                start = f"{mark}{' '.join(others[:3])} "
                sentence = f"{start}{word} {' '.join(others[3:])} {line}"
                line += 1
                collector.add(word, period, sentence, len(start), len(start) + len(word), "made.txt", line, "")
    return collector.dataset(
        WORDS,
        name="planted",
        kind="made",
        language="en",
        periods=("1", "2"),
        graded=GRADED,
        gold="graded",
        binary=BINARY if binary else {},
    )


def evaluated(folder: Path, encoder: PlantedEncoder, data: Dataset | None = None, **settings: Any) -> Evaluation:
    chosen: dict[str, Any] = {"repeats": 2, "out": folder / "out", "model": encoder} | settings
    return evaluate(data or planted(), **chosen)


def verdicts_of(folder: Path) -> pd.DataFrame:
    return pd.read_csv(folder / "out" / "verdicts.csv").set_index("word")


def record_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "out" / "evaluation.json").read_text("utf-8"))


# ------------------------------------------------------------------------------------------------------- planted change


@pytest.mark.parametrize("shift", [0.0, 0.4])
@pytest.mark.parametrize("calibration", [None, Calibration(10.0, -6.0)])
def test_only_words_with_a_planted_change_are_called_changed(
    tmp_path: Path, calibration: Calibration | None, shift: float
) -> None:
    found = evaluated(tmp_path, PlantedEncoder(calibration, shift=shift))
    table = verdicts_of(tmp_path)
    assert table.index[table["verdict"] == "changed"].tolist() == list(CHANGED)
    # The gold has the rare word as well, which has no verdict and counts as not changed.
    row = found.table.iloc[0]
    assert row[["accuracy", "f1", "precision", "called"]].tolist() == pytest.approx([7 / 8, 6 / 7, 1.0, 3])


def test_common_shift_makes_every_word_changed_without_control_words(tmp_path: Path) -> None:
    found = evaluated(tmp_path, PlantedEncoder(shift=0.4), control="none", space="raw")
    table = verdicts_of(tmp_path)
    assert table.loc[[*CHANGED, *UNCHANGED], "verdict"].unique().tolist() == ["changed"]
    row = found.table.iloc[0]
    assert row[["accuracy", "f1", "precision", "called"]].tolist() == pytest.approx([3 / 8, 6 / 11, 3 / 7, 7])


@pytest.mark.parametrize("control", ["none", "auto"])
@pytest.mark.parametrize("calibration", [None, Calibration(10.0, -6.0)])
@pytest.mark.parametrize("metric", ["nearest", "cosine"])
def test_verdicts_are_those_of_compare(
    tmp_path: Path, calibration: Calibration | None, control: str, metric: str
) -> None:
    """Compare the sentences as two corpora; the fixed space of the encoder is not that of the scores."""
    data = planted()
    encoder = PlantedEncoder(calibration, FixedSpace(np.full(D, 0.3), np.linspace(0.5, 2, D)), shift=0.3)
    evaluated(tmp_path, encoder, data, control=control, metric=metric, space="raw")
    table = verdicts_of(tmp_path).loc[[*CHANGED, *UNCHANGED]]
    words = record_of(tmp_path)["control"]["words"]
    assert len(words) == (0 if control == "none" else 40)
    sentences, periods = (data.usages[name].to_pylist() for name in ("sentence", "corpus"))
    for period in PERIODS:
        lines = [text for text, its in zip(sentences, periods, strict=True) if its == period]
        (tmp_path / f"{period}.txt").write_text("\n".join(lines) + "\n", "utf-8")
    result = compare(
        tmp_path / "old.txt",
        tmp_path / "new.txt",
        [*CHANGED, *UNCHANGED],
        model=encoder,
        control=words or "none",
        metric=metric,
        space="raw",
        repeats=2,
    )
    wanted = result.table.set_index("word").loc[table.index]
    assert table["verdict"].tolist() == wanted["verdict"].tolist()
    names = ["q", "gap", "gap_low", "gap_high", "excess", "local_fdr"]
    np.testing.assert_allclose(
        table[names].to_numpy(float), wanted[names].to_numpy(float), rtol=1e-5, atol=1e-6, equal_nan=True
    )
    background = record_of(tmp_path)["background"]
    assert background.keys() == result.run["background"].keys()
    for name, value in result.run["background"].items():
        assert background[name] == (pytest.approx(value, rel=1e-5) if isinstance(value, float) else value)


# ------------------------------------------------------------------------------------------------------- control words


def test_control_words_are_other_words_of_the_sentences(tmp_path: Path) -> None:
    found = evaluated(tmp_path, PlantedEncoder())
    record = record_of(tmp_path)
    assert sorted(record["control"]["words"]) == sorted(ORDINARY)
    assert (record["control"]["source"], record["control"]["note"]) == ("control", None)
    assert record["background"]["control_words"] == 40
    stored = Siblings(tmp_path / "out" / "control")
    assert stored.words == list(dict.fromkeys(find_control_usages(planted())["word"].to_pylist()))
    assert record["control"]["fingerprint"] == stored.fingerprint
    assert found.siblings.words == list(WORDS)


def test_space_is_fitted_to_control_words(tmp_path: Path) -> None:
    """The score of a word does not depend on the other words of the data set."""

    def embedded(out: str, data: Dataset) -> EmbeddedDataset:
        chosen = make_settings(
            evaluate, ("model", "out", "space"), {"model": PlantedEncoder(), "out": tmp_path / out, "space": "centred"}
        )
        return embed_dataset(data, chosen, Silent())

    data = planted()
    all_words = embedded("all", data)
    controls = [np.concatenate(all_words.controls[word]).mean(axis=0) for word in all_words.controls]
    np.testing.assert_allclose(all_words.space.mean, np.mean(controls, axis=0), rtol=1e-5, atol=1e-6)
    fewer = embedded("fewer", replace(data, words=("mouse", "bread")))
    for word in ("mouse", "bread"):
        for ours, theirs in zip(fewer.pairs[word], all_words.pairs[word], strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_number_of_control_words_can_be_chosen(tmp_path: Path) -> None:
    evaluated(tmp_path, PlantedEncoder(), control=35)
    chosen = record_of(tmp_path)
    assert len(chosen["control"]["words"]) == chosen["background"]["control_words"] == 35
    assert chosen["settings"]["control"] == 35


def test_without_control_words_nothing_else_is_encoded(tmp_path: Path) -> None:
    encoder = PlantedEncoder()
    evaluated(tmp_path, encoder, control="none")
    assert encoder.encoded == len(planted().usages)
    assert not (tmp_path / "out" / "control").exists()
    assert record_of(tmp_path)["control"] == {"words": [], "source": None, "note": None}
    table = verdicts_of(tmp_path)
    assert table[["excess", "local_fdr"]].isna().all(axis=None)
    assert table.loc["mouse", "verdict"] == "changed"
    assert table.loc["mouse", "reason"].endswith("not compared with ordinary words")


class Recorder(Silent):
    """Monitor that collects notes."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


def test_too_few_control_words_are_none_and_the_run_says_so(tmp_path: Path) -> None:
    monitor = Recorder()
    evaluated(tmp_path, PlantedEncoder(), planted(n_ordinary=29), monitor=monitor)
    note = (
        "there is no comparison with ordinary words, because fewer than 30 other words of the sentences occur in 20 "
        "sentences or more of each period"
    )
    assert monitor.notes == [note]
    record = record_of(tmp_path)
    assert record["control"] == {"words": [], "source": None, "note": note}
    assert record["background"]["control_words"] == 0
    assert not (tmp_path / "out" / "control").exists()


def test_number_of_control_words_is_announced(tmp_path: Path) -> None:
    monitor = Recorder()
    evaluated(tmp_path, PlantedEncoder(), monitor=monitor)
    usages = len(find_control_usages(planted()))
    assert monitor.notes == [f"comparing with 40 ordinary words of the sentences ({usages:,} usages)"]


@pytest.mark.parametrize("control", ["words.txt", ["bread", "stone"]])
def test_own_control_words_are_refused_before_anything_is_encoded(tmp_path: Path, control: Any) -> None:
    encoder = PlantedEncoder()
    with pytest.raises(UserError, match=r"control must be auto, none or a number of words; got "):
        evaluated(tmp_path, encoder, control=control)
    assert encoder.encoded == 0


def test_second_run_encodes_nothing_and_gives_the_same_files(tmp_path: Path) -> None:
    encoder = PlantedEncoder()
    evaluated(tmp_path, encoder)
    encoded = encoder.encoded
    files = ("verdicts.csv", "evaluation.csv", "evaluation.json")
    before = [(tmp_path / "out" / name).read_bytes() for name in files]
    evaluated(tmp_path, encoder)
    assert encoder.encoded == encoded > 0
    assert [(tmp_path / "out" / name).read_bytes() for name in files] == before


def test_evaluation_without_control_words_can_be_repeated_with_them(tmp_path: Path) -> None:
    encoder = PlantedEncoder()
    evaluated(tmp_path, encoder, control="none")
    encoded = encoder.encoded
    evaluated(tmp_path, encoder)
    assert encoder.encoded == encoded + len(find_control_usages(planted()))
    again = encoder.encoded
    evaluated(tmp_path, encoder, control="none")
    assert encoder.encoded == again
    assert verdicts_of(tmp_path)["local_fdr"].isna().all()


# --------------------------------------------------------------------------------------------------------------- files


def test_file_of_verdicts_has_the_gold_and_the_evidence(tmp_path: Path) -> None:
    evaluated(tmp_path, PlantedEncoder(), alpha=0.1)
    table = pd.read_csv(tmp_path / "out" / "verdicts.csv")
    assert tuple(table.columns) == COLUMNS
    assert table["word"].tolist() == list(WORDS)
    assert dict(zip(table["word"], table["binary"], strict=True)) == BINARY
    assert dict(zip(table["word"], table["graded"], strict=True)) == GRADED
    floor = record_of(tmp_path)["background"]["floor"]
    for row in table[table["word"] != RARE].to_dict("records"):
        gap = Gap(row["gap"], row["gap_low"], row["gap_high"], math.nan)
        verdict = decide_verdict(Evidence(gap, row["excess"], row["local_fdr"]), row["q"], 0.1, floor)
        assert row["verdict"] == verdict
        assert row["gap_low"] <= row["gap"] <= row["gap_high"]
        assert row["reason"].startswith("gap of ")
    rare = table.iloc[-1]
    assert rare[["word", "verdict", "reason"]].tolist() == [RARE, "too few", "too few usages in a period"]
    assert rare[["gap", "gap_low", "gap_high", "excess", "local_fdr", "q"]].isna().all()


def test_without_binary_gold_there_are_no_verdicts(tmp_path: Path) -> None:
    found = evaluated(tmp_path, PlantedEncoder(), planted(binary=False))
    assert not (tmp_path / "out" / "verdicts.csv").exists()
    assert found.table[["accuracy", "f1", "precision", "called"]].isna().all(axis=None)
    assert not found.table["method"].str.contains("always|verdict").any()
    assert record_of(tmp_path)["background"] is None


# --------------------------------------------------------------------------------------------------------- by hand


def made_verdicts(**verdicts: str) -> WordVerdicts:
    return WordVerdicts(verdicts, {}, {}, Backdrop(0.0, 0, None, None, is_calibrated=False))


def test_word_without_a_verdict_is_not_called_changed() -> None:
    verdicts = made_verdicts(mouse="changed", bread="differs", stone="stable")
    assert verdicts.is_changed(["stone", "mouse", "thimble", "bread"]) == [False, True, False, False]


def test_measures_of_decisions_by_hand() -> None:
    # The gold has mouse, tablet, cloud and thimble.
    decisions = [word in ("mouse", "tablet", "bread") for word in WORDS]
    found = evaluate_decisions(planted(), decisions)
    # Correct are mouse, tablet, stone, river and winter.
    assert found == pytest.approx({"accuracy": 5 / 8, "f1": 2 * 2 / (3 + 4), "precision": 2 / 3, "called": 3})


def test_measures_without_decisions_are_missing() -> None:
    for found in (evaluate_decisions(planted(), None), evaluate_decisions(planted(binary=False), [])):
        assert found.keys() == {"accuracy", "f1", "precision", "called"}
        assert all(map(math.isnan, found.values()))


def test_rules_count_words_that_differ_and_give_constant_answers() -> None:
    verdicts = made_verdicts(
        mouse="changed", tablet="differs", cloud="unclear", bread="differs", stone="stable", river="unclear"
    )
    differs, changed, stable = evaluate_rules(planted(), verdicts)
    assert [row.method for row in (differs, changed, stable)] == [
        "verdict changed or differs",
        "always changed",
        "always stable",
    ]
    # Called are mouse, tablet and bread.
    assert (differs.accuracy, differs.f1, differs.precision, differs.called) == (5 / 8, 4 / 7, 2 / 3, 3)
    assert (changed.accuracy, changed.f1, changed.precision, changed.called) == (4 / 8, 8 / 12, 4 / 8, 8)
    assert (stable.accuracy, stable.f1, stable.called) == (4 / 8, 0, 0)
    assert math.isnan(stable.precision)
    for row in (differs, changed, stable):
        assert (row.words, row.dropped) == (8, 0)
        undefined = (row.spearman, row.low, row.high, row.spearman_each, row.spearman_each_sd, row.average_precision)
        assert all(map(math.isnan, undefined))


def test_rule_that_is_always_right_has_perfect_measures() -> None:
    found = evaluate_rule(planted(), "gold", list(BINARY.values()))
    assert (found.method, found.accuracy, found.f1, found.precision, found.called) == ("gold", 1, 1, 1, 4)


def test_no_words_have_no_verdicts(tmp_path: Path) -> None:
    settings = make_settings(
        evaluate, ("model", "out", "control"), {"model": PlantedEncoder(), "out": tmp_path / "out", "control": "none"}
    )
    embedded = embed_dataset(planted(), settings, Silent())
    found = judge_words(embedded.siblings, [], embedded.controls, embedded.encoder, embedded.space, settings, Silent())
    assert (found.verdicts, found.q, found.evidence) == ({}, {}, {})
