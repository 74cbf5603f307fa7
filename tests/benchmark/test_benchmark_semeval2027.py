"""Test SemEval-2027 Task 3 on a small data set of its form, with scores worked out by hand."""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hint_encoder import AverageLinkage, HintEncoder

from lexshift.benchmark.datasets.semeval2027 import (
    PeriodsDataset,
    PeriodUsage,
    UsageKey,
    language_folders,
    load_semeval2027,
    read_answers,
    read_labels,
    sort_by_year,
    write_labels,
)
from lexshift.benchmark.semeval2027 import (
    evaluate_periods,
    evaluate_release,
    period_changes,
    score_answers,
    score_predictions,
    score_senses,
)
from lexshift.errors import UserError

Row = dict[str, Any]
SENTENCES = {0: "A {} is an animal.", 1: "The {} by the screen.", 2: "One {} in the sky."}
PERIODS = ("1900-1949", "1950-1999", "2000-2020")
COUNTS = {
    "mouse": ((10, 0, 0), (10, 0, 0), (0, 10, 0)),  # usages of each sense in each period
    "cloud": ((0, 0, 10), (0, 0, 10), (5, 0, 5)),
}


def write_lines(path: Path, rows: Sequence[Row]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def write_language(folder: Path) -> Path:
    """Write a language: ten usages of two words in three periods, and questions about the last sense of each."""
    usages: list[Row] = []
    labelled, defined = [], []
    for word, periods in COUNTS.items():
        for period, counts in zip(PERIODS, periods, strict=True):
            for sense, n in enumerate(counts):
                for _ in range(n):
                    key = {"word": word, "sentence_id": f"s{len(usages)}"}
                    text = f"{SENTENCES[sense].format(word)} {len(usages)}"
                    start = text.index(word)
                    usages.append({**key, "text": text, "start": start, "end": start + len(word), "pos": "NOUN"})
                    label = 10 * (word == "cloud") + sense
                    labelled.append({**key, "period_label": period, "label": [label]})
                    defined.append({**key, "label": int(sense == (1 if word == "mouse" else 0))})
    definitions = [
        {"word": "mouse", "definition": "a device for the screen"},
        {"word": "cloud", "definition": "an animal"},
    ]
    write_lines(folder / "usages.jsonl", usages)
    write_lines(folder / "definitions.jsonl", definitions)
    write_lines(folder / "subtask1.jsonl", labelled)
    write_lines(folder / "subtask2.jsonl", defined)
    return folder


def usage(word: str, number: int, period: str, *labels: object) -> PeriodUsage:
    return PeriodUsage(word, number, period, labels, f"{word} {number}", 0, len(word))


# ------------------------------------------------------------------------------------------------------------- scoring


def test_periods_are_sorted_by_their_first_year() -> None:
    names = ["before 2000", "1950s", "late", "1850-1900", "around 1950", "early"]
    assert sort_by_year(names) == ["1850-1900", "1950s", "around 1950", "before 2000", "early", "late"]


def test_changes_by_hand() -> None:
    """The word has four usages in each of three periods, which are not in the order of time.

    In 1900 all have sense 1; in 1950 two have sense 1, one has sense 2, and one has both: 1 counts 2.5 and 2 counts
    1.5; in 2000 all have sense 3. The shares (1, 0) and (5/8, 3/8) have the mean (13/16, 3/16), and the divergence is
    (log2(16/13) + 5/8 log2(10/13) + 3/8 log2(2)) / 2 = 0.218995, its square root 0.467969. The periods 1950 and 2000
    have no common sense: 1.
    """
    usages = [
        *(usage("w", i, "2000-2020", 3) for i in range(4)),
        *(usage("w", i, "1900-1920", 1) for i in range(4, 8)),
        usage("w", 8, "1950-1960", 1),
        usage("w", 9, "1950-1960", 1),
        usage("w", 10, "1950-1960", 2),
        usage("w", 11, "1950-1960", 1, 2),
    ]
    changes = period_changes(usages, {one.key: one.labels for one in usages}, min_usages=4)
    assert changes == {
        ("w", "1900-1920", "1950-1960"): pytest.approx(0.467969, abs=1e-6),
        ("w", "1950-1960", "2000-2020"): 1,
    }
    assert period_changes(usages, {one.key: one.labels for one in usages}) == {}  # fewer than 10 usages in a period


def test_scores_of_senses_by_hand() -> None:
    """Gold of the word a: ten usages of sense 1 in 1900, ten of sense 2 in 1950, and ten of sense 2 in 2000.

    The prediction has one label for the first five usages, and another for all others. Their pairs with gold are x1:
    5, y1: 5, y2: 20.

    B-cubed precision: 5 usages with 1, 5 with 5/25, 20 with 20/25: (5 + 1 + 16) / 30 = 22/30. Recall: 10 usages with
    1/2, 20 with 1: 25/30. F is 2 * 22 * 25 / (22 + 25) / 30 = 1100 / 1410.

    The gold changes of a are 1 and 0. Those predicted are that of (1/2, 1/2) to (0, 1), 0.557923, and 0. The word b is
    the same with one sense throughout: gold 0 and 0, predicted 0 and 0. The ranks of gold are 4, 2, 2, 2, and those of
    the prediction the same: Spearman's correlation is 1.
    """
    usages: list[PeriodUsage] = []
    labels: dict[UsageKey, list[str]] = {}
    for i in range(30):
        period = PERIODS[i // 10]
        usages += [usage("a", i, period, "1" if i < 10 else "2")]
        labels["a", i] = ["x" if i < 5 else "y"]
    found = score_senses(usages, labels)
    assert (found["b_cubed_precision"], found["b_cubed_recall"]) == pytest.approx((22 / 30, 25 / 30))
    assert found["b_cubed_f"] == pytest.approx(1100 / 1410)
    assert math.isnan(found["spearman"])  # two changes are too few
    usages += [usage("b", i, PERIODS[i // 10], "3") for i in range(30)]
    labels |= {("b", i): ["z"] for i in range(30)}
    found = score_senses(usages, labels)
    assert (found["spearman"], found["changes"]) == (1, 4)
    assert found["b_cubed_precision"] == pytest.approx((22 + 30) / 60)


def test_same_label_at_two_words_is_the_same_sense() -> None:
    """Two words with one usage each and the same label, of different senses: each precision is 1/2."""
    usages = [usage("a", 1, "1900", "p"), usage("b", 1, "1900", "q")]
    assert score_senses(usages, {("a", 1): [0], ("b", 1): [0]})["b_cubed_precision"] == 0.5
    assert score_senses(usages, {("a", 1): [0], ("b", 1): [1]})["b_cubed_precision"] == 1


def test_f1_of_answers_by_hand(tmp_path: Path) -> None:
    """Of 15 usages with the sense, 10 are found, with 5 others: precision and recall are 10/15, and so is F1."""
    data = load_semeval2027(write_language(tmp_path / "EN"))
    right = [one.key for one in data.defined if one.label]
    wrong = [one.key for one in data.defined if not one.label]
    assert (len(right), len(wrong)) == (15, 45)
    answers = dict.fromkeys([one.key for one in data.defined], 0)
    assert score_answers(data.defined, answers) == 0
    answers |= dict.fromkeys([*right[:10], *wrong[:5]], 1)
    assert score_answers(data.defined, answers) == pytest.approx(2 / 3)


# ------------------------------------------------------------------------------------------------------------- reading


def test_language_is_read_with_its_sentences_and_definitions(tmp_path: Path) -> None:
    data = load_semeval2027(write_language(tmp_path / "EN"))
    assert (data.name, len(data.labelled), len(data.defined)) == ("EN", 60, 60)
    assert data.labelled[0] == ("mouse", "s0", "1900-1949", (0,), "A mouse is an animal. 0", 2, 7)
    assert data.defined[-1] == ("cloud", "s59", 0, "an animal", "One cloud in the sky. 59", 4, 9)


def test_rows_may_have_their_sentences_and_words_without_a_span_are_found(tmp_path: Path) -> None:
    rows = [
        {"word": "mouse", "sentence_id": 1, "period_label": "1900", "sentence": "Two mice ran."},
        {"word": "mouse", "sentence_id": 2, "period_label": "1900", "sentence": "Nothing at all."},
    ]
    question = {"word": "mouse", "sentence_id": 1, "sentence": "A mouse.", "target_sense_definition": "a rodent"}
    write_lines(tmp_path / "EN" / "subtask1.jsonl", rows)
    write_lines(tmp_path / "EN" / "subtask2.jsonl", [question])
    data = load_semeval2027(tmp_path / "EN")
    assert [one.sentence[one.start : one.end] for one in data.labelled] == ["mice", "Nothing at all."]
    assert [one.labels for one in data.labelled] == [(), ()]
    assert data.defined[0] == ("mouse", 1, None, "a rodent", "A mouse.", 2, 7)


def test_release_has_a_folder_for_each_language(tmp_path: Path) -> None:
    write_language(tmp_path / "EN")
    write_language(tmp_path / "SV")
    (tmp_path / "notes").mkdir()
    assert [folder.name for folder in language_folders(tmp_path)] == ["EN", "SV"]
    assert language_folders(tmp_path / "EN") == [tmp_path / "EN"]
    assert language_folders(tmp_path / "notes") == []
    assert language_folders(tmp_path / "EN" / "usages.jsonl") == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1]", "line 2: each line must be a JSON object"),
        ("{", "line 2: each line must be a JSON object"),
        ('{"word": "a", "sentence_id": 1}', "line 2: no 'period_label'"),
        ('{"word": "", "sentence_id": 1, "period_label": "1900"}', "line 2: word is ''"),
        ('{"word": "a", "sentence_id": [], "period_label": "1900"}', "line 2: the sentence_id must be"),
        ('{"word": "a", "sentence_id": 1, "period_label": "1900"}', "line 2: no sentence for 1"),
        ('{"word": "a", "sentence_id": 1, "period_label": "1", "text": "a", "label": []}', "it must be a list of one"),
        ('{"word": "a", "sentence_id": 1, "period_label": "1", "text": "a", "label": 3}', "it must be a list of one"),
        (
            '{"word": "a", "sentence_id": 1, "period_label": "1", "text": "a", "start": 1, "end": 9}',
            "line 2: 1 to 9 is not within",
        ),
        ('{"word": "a", "sentence_id": 0, "period_label": "1900", "text": "a"}', "two lines for 0 of 'a'"),
    ],
)
def test_damaged_lines_are_refused_with_their_number(tmp_path: Path, line: str, message: str) -> None:
    first = '{"word": "a", "sentence_id": 0, "period_label": "1900", "text": "a"}'
    (tmp_path / "subtask1.jsonl").write_text(f"{first}\n{line}\n", "utf-8")
    with pytest.raises(UserError) as caught:
        load_semeval2027(tmp_path)
    assert message in str(caught.value)


@pytest.mark.parametrize("label", [2, "1", True, [1]])
def test_answer_other_than_0_or_1_is_refused(tmp_path: Path, label: object) -> None:
    row = {"word": "a", "sentence_id": 0, "text": "a", "label": label}
    write_lines(tmp_path / "subtask2.jsonl", [row])
    with pytest.raises(UserError, match=r"line 1: the label is .*; it must be 0 or 1"):
        load_semeval2027(tmp_path)


def test_predictions_are_read_back_and_must_be_complete(tmp_path: Path) -> None:
    data = load_semeval2027(write_language(tmp_path / "EN"))
    labels = {one.key: [1, "b"] for one in data.labelled}
    write_labels(tmp_path / "EN_subtask1.jsonl", labels)
    first = (tmp_path / "EN_subtask1.jsonl").read_text("utf-8").splitlines()[0]
    assert json.loads(first) == {"word": "mouse", "sentence_id": "s0", "label": [1, "b"]}
    assert read_labels(tmp_path / "EN_subtask1.jsonl", data.labelled) == dict.fromkeys(labels, (1, "b"))
    write_labels(tmp_path / "EN_subtask2.jsonl", {data.defined[0].key: 1})
    assert read_answers(tmp_path / "EN_subtask2.jsonl", data.defined[:1]) == {data.defined[0].key: 1}
    with pytest.raises(UserError, match="no label for 's1' of 'mouse'"):
        read_answers(tmp_path / "EN_subtask2.jsonl", data.defined)


# --------------------------------------------------------------------------------------------------------------- a run


def test_run_finds_the_senses_and_is_scored_next_to_baselines(tmp_path: Path) -> None:
    """The encoder tells all senses apart, so that B-cubed and the correlation are 1.

    With one sense per word, precision is that of 20 + 10 usages of mouse, (20 * 20 + 10 * 10) / 30 = 50/3 of 30, and of
    5 + 25 usages of cloud, (5 * 5 + 25 * 25) / 30 = 65/3 of 30: together 115/180. In subtask 2, 15 of 60 usages have
    the sense, so that always yes has an F1 of 2 * 15 / (60 + 15) = 0.4.
    """
    data = load_semeval2027(write_language(tmp_path / "EN"))
    found = evaluate_periods(data, AverageLinkage(), model=HintEncoder(), out=tmp_path / "out")
    table = found.table.set_index(["subtask", "method"])
    clustered, one = table.loc["1", "average-linkage"], table.loc["1", "one sense"]
    assert (clustered["b_cubed_f"], clustered["spearman"], clustered["changes"]) == (1, 1, 4)
    assert (one["b_cubed_precision"], one["b_cubed_recall"]) == pytest.approx((115 / 180, 1))
    assert table.loc[("1", "every usage its own"), "b_cubed_precision"] == 1
    assert table.loc[("2", "calibration"), "f1"] == 1
    assert table.loc[("2", "always yes"), "f1"] == pytest.approx(0.4)
    labels = read_labels(found.files[0], data.labelled)
    words = {label: {key[0] for key, (own,) in labels.items() if own == label} for (label,) in labels.values()}
    assert all(len(users) == 1 for users in words.values())  # no two words share a label


def test_release_is_evaluated_by_language_and_its_submission_is_scored_alike(tmp_path: Path) -> None:
    for language in ("EN", "SV"):
        write_language(tmp_path / "data" / language)
    table, submission = evaluate_release(
        tmp_path / "data", AverageLinkage(), model=HintEncoder(), out=str(tmp_path / "out")
    )
    assert table["language"].tolist() == ["EN"] * 5 + ["SV"] * 5
    with zipfile.ZipFile(submission) as archive:
        names = archive.namelist()
        archive.extractall(tmp_path / "sent")
    assert names == [f"{language}_subtask{n}.jsonl" for language in ("EN", "SV") for n in (1, 2)]
    for name, method in (("EN_subtask1.jsonl", "average-linkage"), ("SV_subtask2.jsonl", "calibration")):
        scored = score_predictions(tmp_path / "data", tmp_path / "sent" / name)
        row = table[(table["language"] == name[:2]) & (table["method"] == method)]
        assert scored["method"].tolist() == [name]
        pd.testing.assert_frame_equal(
            scored.drop(columns="method"), row.drop(columns="method").reset_index(drop=True), check_dtype=False
        )


def test_file_whose_name_does_not_say_language_and_subtask_is_refused(tmp_path: Path) -> None:
    write_language(tmp_path / "EN")
    with pytest.raises(UserError, match=r"EN_subtask1\.jsonl or EN_subtask2\.jsonl"):
        score_predictions(tmp_path, tmp_path / "mine.jsonl")


def test_data_without_gold_are_labelled_but_not_scored(tmp_path: Path) -> None:
    data = load_semeval2027(write_language(tmp_path / "EN"))
    blind = PeriodsDataset(
        "EN",
        tuple(one._replace(labels=()) for one in data.labelled),
        tuple(one._replace(label=None) for one in data.defined),
    )
    found = evaluate_periods(blind, AverageLinkage(), model=HintEncoder(), out=tmp_path / "out")
    assert found.table.drop(columns=["language", "subtask", "method"]).isna().all(axis=None)
    assert [file.name for file in found.files] == ["EN_subtask1.jsonl", "EN_subtask2.jsonl"]
    assert len(found.files[0].read_text("utf-8").splitlines()) == 60
