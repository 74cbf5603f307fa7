"""Test AXOLOTL-24: reading its tables, predictors, scores as its scorer defines them, and files of predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hint_encoder import HintEncoder
from hypothesis import given, settings
from hypothesis import strategies as st

from lexshift.benchmark.axolotl import (
    NOVEL,
    EmbeddedUsages,
    evaluate_axolotl,
    labels_table,
    predict_most_frequent,
    predict_nearest,
    score_labels,
)
from lexshift.benchmark.datasets.axolotl import (
    COLUMNS,
    AxolotlDataset,
    SenseExample,
    is_axolotl,
    load_axolotl,
    read_predictions,
    write_predictions,
)
from lexshift.errors import UserError

ROWS = [
    "u1\tmouse\tmice\tm_animal\ta small animal\tThe mice ran from the animal.\t4:8\t1800\told",
    "u2\tmouse\tmouse\tm_animal\ta small animal\tThis animal is a mouse.\t17:22\t1810\told",
    "u3\tmouse\tmouse\tm_metal\ta piece of metal\t\t\t1810\told",
    "u4\tmouse\tmouse\tm_animal\ta small animal\tIt is an animal, the mouse.\t21:26;3:5\t2000\tnew",
    "u5\tmouse\tmouse\tm_metal\ta piece of metal\tA mouse of metal.\t2:7\t2000\tnew",
    "u6\tmouse\tmouse\tm_screen\ta device\tClick on the screen, mice.\t\t2000\tnew",
    'u7\tcloud\tclouds\tc_server\tcomputers\t"The ""clouds"" of the server."\t5:11\t2000\tnew',
    "u8\tcloud\tcloud\tc_server\tcomputers\tNothing to find at the server.\t\t2000\tnew",
]
GOLD = {"u4": "m_animal", "u5": "m_metal", "u6": "m_screen", "u7": "c_server", "u8": "c_server"}


def write_table(folder: Path, rows: Sequence[str] = ROWS) -> Path:
    path = folder / "axolotl.dev.en.tsv"
    path.write_text("\n".join(["\t".join(COLUMNS), *rows]) + "\n", "utf-8")
    return path


def complaint(folder: Path, *rows: str) -> str:
    with pytest.raises(UserError) as caught:
        load_axolotl(write_table(folder, rows))
    return str(caught.value)


# ------------------------------------------------------------------------------------------------------------- reading


def test_table_is_read_with_the_place_of_each_word(tmp_path: Path) -> None:
    path = write_table(tmp_path)
    assert is_axolotl(path)
    data = load_axolotl(path)
    assert data.words == ["mouse", "cloud"]
    places = {example.id: example.sentence[example.start : example.end] for example in data.examples}
    assert places == {
        "u1": "mice",
        "u2": "mouse",
        "u3": "",
        "u4": "mouse",  # the first of two ranges
        "u5": "mouse",
        "u6": "mice",  # found as a form of the lemma
        "u7": "clouds",  # the offsets count within the quoted text
        "u8": "Nothing to find at the server.",
    }
    assert data.examples[0][:6] == ("u1", "mouse", "old", "m_animal", "a small animal", "The mice ran from the animal.")


def test_other_files_are_not_recognised(tmp_path: Path) -> None:
    other = tmp_path / "usages.tsv"
    other.write_text("word\tperiod\tsentence\tstart\tend\n", "utf-8")
    assert not is_axolotl(other)
    assert not is_axolotl(tmp_path)
    assert not is_axolotl(tmp_path / "none.tsv")


def test_damaged_rows_are_refused_with_their_line(tmp_path: Path) -> None:
    assert "line 2: the period is 'later'" in complaint(tmp_path, ROWS[0][:-3] + "later")
    assert "line 3: no word" in complaint(tmp_path, ROWS[0], ROWS[1].replace("\tmouse\t", "\t \t", 1))
    assert "line 2: the span '4:800'" in complaint(tmp_path, ROWS[0].replace("4:8", "4:800"))
    assert "two rows have the same usage_id" in complaint(tmp_path, ROWS[0], ROWS[0])
    assert "line 2: 8 fields instead of 9" in complaint(tmp_path, ROWS[0].removesuffix("\told"))


def test_predictions_are_the_table_with_other_senses_and_are_read_back(tmp_path: Path) -> None:
    path = write_table(tmp_path)
    data = load_axolotl(path)
    write_predictions(data, GOLD, tmp_path / "same.tsv")
    assert (tmp_path / "same.tsv").read_bytes() == path.read_bytes()
    other = dict.fromkeys(GOLD, "x")
    write_predictions(data, other, tmp_path / "a" / "other.tsv")
    assert read_predictions(tmp_path / "a" / "other.tsv", data) == other
    written = (tmp_path / "a" / "other.tsv").read_text("utf-8").splitlines()
    assert written[1:4] == ROWS[:3]
    assert written[7] == ROWS[6].replace("c_server", "x")


def test_predictions_that_lack_a_usage_are_refused(tmp_path: Path) -> None:
    data = load_axolotl(write_table(tmp_path))
    (tmp_path / "some.tsv").write_text("usage_id\tsense_id\nu4\ta\nu5\t\n", "utf-8")
    with pytest.raises(UserError, match="no sense for 4 of 5 new usages: 'u5'"):
        read_predictions(tmp_path / "some.tsv", data)


# ------------------------------------------------------------------------------------------------------------- scoring


def test_scores_by_hand(tmp_path: Path) -> None:
    """The new usages of mouse are animal, metal and screen, the last of which is new; all are called animal.

    Their adjusted Rand index is 0. Over the usages of known senses, animal has the F1 2 * 1 / (1 + 2) = 2/3 and metal
    0, so that macro-F1 is 1/3. The word cloud has no old senses, therefore no F1; its two usages agree: 1.
    """
    data = load_axolotl(write_table(tmp_path))
    senses = {"u4": "m_animal", "u5": "m_animal", "u6": "m_animal", "u7": "z", "u8": "z"}
    words = score_labels(data, senses).set_index("word")
    assert words.loc["mouse", "ari"] == 0
    assert words.loc["mouse", "macro_f1"] == pytest.approx(1 / 3)
    assert words.loc["cloud", "ari"] == 1
    assert math.isnan(words.loc["cloud", "macro_f1"])
    table = labels_table(data, {"mine": senses})
    assert table.to_dict("records") == [
        {"method": "mine", "ari": 0.5, "macro_f1": pytest.approx(1 / 3), "words": 2},
    ]


def test_new_sense_for_a_usage_of_a_known_one_lowers_macro_f1(tmp_path: Path) -> None:
    """Animal is right, and metal is called x: F1 is 1 for animal, 0 for metal and 0 for the new sense."""
    data = load_axolotl(write_table(tmp_path))
    senses = {"u4": "m_animal", "u5": "x", "u6": "y", "u7": "z", "u8": "z"}
    assert score_labels(data, senses)["macro_f1"][0] == pytest.approx(1 / 3)


@pytest.mark.parametrize(("sense", "f1"), [("x", 1.0), ("m_animal", 0.0)])
def test_word_whose_new_usages_all_have_new_senses(tmp_path: Path, sense: str, f1: float) -> None:
    data = load_axolotl(write_table(tmp_path, [ROWS[0], ROWS[5]]))
    assert score_labels(data, {"u6": sense})["macro_f1"].tolist() == [f1]


sense = st.sampled_from(["a", "b", "c", "d"])
word_rows = st.lists(st.tuples(st.booleans(), sense, sense), min_size=1, max_size=10)  # is new, gold, predicted


@settings(max_examples=80)
@given(st.lists(word_rows, min_size=1, max_size=3))
def test_scores_equal_the_measures_of_scikit_learn_on_a_table(words: list[list[tuple[bool, str, str]]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    flat = [(f"w{w}", *usage) for w, usages in enumerate(words) for usage in usages]
    examples = tuple(
        SenseExample(str(i), word, "new" if is_new else "old", gold, "", "s", 0, 1)
        for i, (word, is_new, gold, _) in enumerate(flat)
    )
    predicted = {str(i): found for i, (_, is_new, _, found) in enumerate(flat) if is_new}
    data = AxolotlDataset("made", Path("made.tsv"), examples)
    frame = pd.DataFrame(flat, columns=["word", "new", "gold", "predicted"])
    aris, f1s = [], []
    for _, one in frame.groupby("word", sort=False):
        new, old = one[one["new"]], set(one[~one["new"]]["gold"])
        aris.append(metrics.adjusted_rand_score(new["gold"], new["predicted"]))
        if not old:
            continue
        kept = new[new["gold"].isin(old)]
        answers = kept["predicted"].where(kept["predicted"].isin(old), "other")
        if len(kept):
            f1s.append(metrics.f1_score(kept["gold"], answers, average="macro", zero_division=0.0))
        else:
            f1s.append(0.0 if new["predicted"].isin(old).any() else 1.0)
    (found,) = labels_table(data, {"made": predicted}).to_dict("records")
    assert found["ari"] == pytest.approx(np.mean(aris))
    assert found["macro_f1"] == pytest.approx(np.mean(f1s) if f1s else math.nan, nan_ok=True)


# ------------------------------------------------------------------------------------------------ predictors, and a run


def embedded(vectors: Any, senses: Sequence[str] = ()) -> EmbeddedUsages:
    array = np.array(vectors, np.float32).reshape(-1, 2)
    return EmbeddedUsages(("s",) * len(array), ((0, 1),) * len(array), array, tuple(senses))


def test_baselines_choose_the_most_frequent_and_the_nearest_sense() -> None:
    old = embedded([[1, 0], [1, 0.1], [0, 1]], ["a", "a", "b"])
    glosses = embedded([[1, 0], [0, 1], [-1, 0]], ["a", "b", "c"])
    new = embedded([[2, 0.1], [0.1, 9], [-3, 1]])
    assert predict_most_frequent("w", old, glosses, new) == ["a", "a", "a"]
    assert predict_nearest("w", old, glosses, new) == ["a", "b", "c"]


def test_baselines_name_a_new_sense_if_none_is_known() -> None:
    nothing, new = embedded([]), embedded([[1, 0], [0, 1]])
    assert predict_most_frequent("w", nothing, nothing, new) == [NOVEL] * 2
    assert predict_nearest("w", nothing, nothing, new) == [NOVEL] * 2


def test_run_gives_a_predictor_usages_and_glosses_and_writes_its_answers(tmp_path: Path) -> None:
    data = load_axolotl(write_table(tmp_path))
    given: dict[str, tuple[EmbeddedUsages, EmbeddedUsages, EmbeddedUsages]] = {}

    def predict(word: str, old: EmbeddedUsages, glosses: EmbeddedUsages, new: EmbeddedUsages) -> list[str]:
        given[word] = old, glosses, new
        return [f"{word}-{i}" for i in range(len(new.sentences))]

    found = evaluate_axolotl(data, {"numbers": predict}, model=HintEncoder(), out=tmp_path / "out")
    old, glosses, new = given["mouse"]
    assert old.senses == ("m_animal", "m_animal")  # the third one has no example
    assert glosses.senses == ("m_animal", "m_metal")
    assert glosses.sentences == ("mouse: a small animal", "mouse: a piece of metal")
    assert glosses.spans == ((0, 5), (0, 5))
    assert new.senses == ()
    assert [vectors.argmax(axis=1).tolist() for vectors in (old.vectors, glosses.vectors, new.vectors)] == [
        [0, 0],
        [0, 4],
        [0, 4, 1],
    ]
    assert (len(given["cloud"][0].sentences), given["cloud"][0].vectors.shape[0]) == (0, 0)
    assert found.predictions["numbers"]["u6"] == "mouse-2"
    assert read_predictions(tmp_path / "out" / "predictions" / "numbers.tsv", data) == found.predictions["numbers"]


def test_nearest_sense_finds_the_known_senses(tmp_path: Path) -> None:
    found = evaluate_axolotl(load_axolotl(write_table(tmp_path)), model=HintEncoder(), out=tmp_path / "out")
    assert found.predictions["nearest"]["u4"] == "m_animal"
    assert found.predictions["nearest"]["u5"] == "m_metal"
    table = found.table.set_index("method")
    assert table.loc["nearest", "macro_f1"] == 1
    assert table.loc["most-frequent", "macro_f1"] == pytest.approx(1 / 3)


def test_inventory_finds_known_and_new_senses(tmp_path: Path) -> None:
    found = evaluate_axolotl(load_axolotl(write_table(tmp_path)), model=HintEncoder(), out=tmp_path / "out")
    assert found.predictions["inventory"]["u4"] == "m_animal"
    assert found.predictions["inventory"]["u5"] == "m_metal"
    assert found.predictions["inventory"]["u6"] == "new-1"
    assert found.table.set_index("method").loc["inventory", "ari"] == 1


def test_data_without_gold_are_labelled_but_not_scored(tmp_path: Path) -> None:
    blind = [row.replace("\tm_screen\ta device\t", "\t\t\t") for row in ROWS]
    found = evaluate_axolotl(load_axolotl(write_table(tmp_path, blind)), model=HintEncoder(), out=tmp_path / "out")
    assert found.table[["ari", "macro_f1"]].isna().all(axis=None)
    assert set(found.predictions["nearest"]) == set(GOLD)


def test_most_frequent_sense_of_the_finnish_data(data: Path, tmp_path: Path) -> None:
    """Most words have one sense, so that the most frequent old sense is often right; the file is written as it was."""
    finnish = load_axolotl(data / "benchmark" / "axolotl24" / "axolotl.dev.fi.tsv")
    senses: dict[str, str] = {}
    for word in finnish.words:
        old, new = (finnish.select(word, period) for period in ("old", "new"))
        labelled = embedded(np.zeros((len(old), 2)), [example.sense for example in old])
        glosses = embedded(np.zeros((len(set(labelled.senses)), 2)), list(dict.fromkeys(labelled.senses)))
        found = predict_most_frequent(word, labelled, glosses, embedded(np.zeros((len(new), 2))))
        senses |= dict(zip([example.id for example in new], found, strict=True))
    (scores,) = labels_table(finnish, {"most-frequent": senses}).to_dict("records")
    assert (scores["ari"], scores["macro_f1"], scores["words"]) == pytest.approx((0.614, 0.680, 254), abs=5e-4)
    gold = {example.id: example.sense for example in finnish.examples if example.period == "new"}
    write_predictions(finnish, gold, tmp_path / "gold.tsv")
    assert (tmp_path / "gold.tsv").read_bytes() == finnish.path.read_bytes()
    assert labels_table(finnish, {"gold": gold}).to_dict("records")[0]["macro_f1"] == 1
