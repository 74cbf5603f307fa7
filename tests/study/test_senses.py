"""Test the senses of words in a study: planted senses, files, saved results, inventories and dictionaries."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from planted_senses import PLANTED, CloseEncoder, PlantedEncoder, UncalibratedEncoder, write_corpora

from lexshift import Discovery, Result, Trace, UserError, compare, discover, find_senses, load, trace
from lexshift.report import render
from lexshift.senses import clusterings
from lexshift.senses.description import SenseUsages
from lexshift.study import settings
from lexshift.study.sense_notes import selection_note
from lexshift.study.sense_tables import SEPARATOR, concordance
from lexshift.study.senses import number_senses, usage_documents

FAST: dict[str, Any] = {"monitor": False, "split": "lines"}
WORDS = list(PLANTED)
FILES = ["senses.csv", "usages.csv", "kwic.csv"]


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Return the senses of planted words in two periods, saved in a folder."""
    folder = tmp_path_factory.mktemp("two")
    found = find_senses(*write_corpora(folder), words=WORDS, model=PlantedEncoder(), out=folder / "results", **FAST)
    assert isinstance(found, Result)
    return found


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """Return the senses of planted words in three periods, saved in a folder."""
    folder = tmp_path_factory.mktemp("three")
    found = find_senses(*write_corpora(folder, 3), words=WORDS, model=PlantedEncoder(), out=folder / "out", **FAST)
    assert isinstance(found, Trace)
    return found


def sense_sets(result: Any, word: str) -> list[set[str]]:
    """Return the sentences of each sense of a word."""
    usages = result.usage_table
    usages = usages[usages["word"] == word]
    return [set(group["sentence"]) for _, group in usages.groupby("sense")]


# ---------------------------------------------------------------------------------------------------------------- words


def test_gained_sense_is_found_and_named(result: Result) -> None:
    senses = result.word("mouse").senses
    assert senses is not None
    animal, device = senses.senses
    assert (animal.change, animal.counts) == ("shrank", (30, 10))
    assert (device.change, device.counts) == ("gained", (0, 20))
    assert set(device.description["distinctive_words"]) >= {"screen", "click"}
    assert senses.jsd > 0.5


@pytest.mark.parametrize("word", ["rat", "bread"])
def test_stable_word_has_one_sense(result: Result, word: str) -> None:
    senses = result.word(word).senses
    assert senses is not None
    assert [sense.change for sense in senses.senses] == ["kept"]
    assert senses.jsd == 0
    assert "distinctive_words" not in senses.descriptions  # there is no other sense


@pytest.mark.parametrize("periods", [2, 3])
def test_new_meaning_that_resembles_an_old_one_is_found_by_its_share(periods: int, tmp_path: Path) -> None:
    """The encoder does not separate the senses clearly: without the periods every word has one sense."""
    found = find_senses(*write_corpora(tmp_path, periods), words=WORDS, model=CloseEncoder(), **FAST)
    animal, device = found.senses["mouse"].senses
    assert (animal.change, device.change) == ("shrank", "gained")
    assert (animal.counts[0], animal.counts[-1], device.counts[0], device.counts[-1]) == (30, 10, 0, 20)
    assert animal.stability >= 0.6
    assert animal.q >= found.senses["mouse"].division_q[0] > 0
    assert len(found.senses["rat"]) == len(found.senses["bread"]) == 1
    files = write_corpora(tmp_path / "same", periods, {"mouse": {"animal": (30, 30, 30), "device": (15, 15, 15)}})
    same = find_senses(*files, words=["mouse"], model=CloseEncoder(), **FAST)
    assert same.senses["mouse"].changes == ["kept"]


def test_word_with_too_few_usages_has_no_senses(result: Result) -> None:
    assert result.word("rare").senses is None
    assert "rare" not in set(result.sense_table["word"])


def test_usages_have_the_planted_senses(result: Result) -> None:
    animal, device = sense_sets(result, "mouse")
    assert all(any(word in sentence for word in ("cheese", "tail", "trap", "cat", "barn")) for sentence in animal)
    assert all(
        any(word in sentence for word in ("click", "screen", "cable", "keyboard", "button")) for sentence in device
    )


def test_shares_of_three_periods_are_traced(traced: Trace) -> None:
    senses = traced.word("mouse").senses
    assert senses is not None
    assert [sense.counts for sense in senses.senses] == [(30, 20, 10), (0, 10, 20)]
    assert senses.changes == ["shrank", "gained"]
    assert senses.senses[1].shares == pytest.approx((0, 1 / 3, 2 / 3))


def test_usages_of_a_word_have_its_senses(result: Result, traced: Trace) -> None:
    new = result.word("mouse").usages("new")
    assert new["sense"].value_counts().to_dict() == {1: 10, 2: 20}
    table = result.usage_table
    expected = dict(zip(table["sentence"], table["sense"], strict=True))
    assert [expected[sentence] for sentence in new["sentence"]] == new["sense"].tolist()
    assert set(traced.word("mouse").usages("1950s")["sense"]) == {1}


def test_headline_counts_senses_and_changes(result: Result) -> None:
    assert result.sense_headline() == (
        "2 senses of 1 word: 1 gained, 1 shrank at a false discovery rate of 0.05; 2 other words have one sense"
    )


# -------------------------------------------------------------------------------------------------- the same everywhere


def test_compare_and_trace_find_the_same_senses(result: Result, traced: Trace, tmp_path: Path) -> None:
    quick: dict[str, Any] = {"words": WORDS, "model": PlantedEncoder(), "senses": True, "resamples": 10, **FAST}
    old, new = write_corpora(tmp_path)
    compared = compare(old, new, **quick)
    pd.testing.assert_frame_equal(compared.sense_table, result.sense_table)
    again = trace(*write_corpora(tmp_path, 3), **quick)
    pd.testing.assert_frame_equal(again.sense_table, traced.sense_table)


def test_one_corpus_is_cut_into_periods(tmp_path: Path) -> None:
    files = write_corpora(tmp_path)
    rows = [
        json.dumps({"text": line, "date": "1950" if file is files[0] else "2010"})
        for file in files
        for line in file.read_text("utf-8").splitlines()
    ]
    (tmp_path / "dated.jsonl").write_text("\n".join(rows) + "\n")
    found = find_senses(
        tmp_path / "dated.jsonl", words=["mouse"], by="decade", date_column="date", model=PlantedEncoder(), **FAST
    )
    assert isinstance(found, Trace)
    assert found.senses["mouse"].changes == ["shrank", "gained"]
    assert list(found.sense_table.columns[3:5]) == ["n_1950s", "share_1950s"]
    assert set(found.usage_table["date"]) == {"1950", "2010"}


def test_senses_do_not_depend_on_the_other_words(result: Result, tmp_path: Path) -> None:
    """Vectors are compared in the fixed space of the encoder, not in one that is fitted to the words of the run."""
    alone = find_senses(*write_corpora(tmp_path), words=["mouse"], model=PlantedEncoder(), **FAST)
    assert alone.senses["mouse"].labels == result.senses["mouse"].labels


# ---------------------------------------------------------------------------------------------------------------- files


def read(result: Any, name: str) -> list[dict[str, str]]:
    """Return the rows of a file in the results folder."""
    return list(csv.DictReader(StringIO((result.siblings.path.parent / name).read_text("utf-8"))))


def test_table_of_senses_is_written(result: Result) -> None:
    rows = read(result, "senses.csv")
    assert [(row["word"], row["sense"], row["change"]) for row in rows] == [
        ("mouse", "1", "shrank"),
        ("mouse", "2", "gained"),
        ("rat", "1", "kept"),
        ("bread", "1", "kept"),
    ]
    gained = rows[1]
    assert (gained["n_old"], gained["n_new"]) == ("0", "20")
    assert float(gained["share_new"]) == pytest.approx(2 / 3)
    assert float(gained["low_new"]) < 2 / 3 < float(gained["high_new"])
    assert float(gained["q"]) <= 0.05
    assert float(gained["sense_jsd"]) == result.senses["mouse"].jsd
    assert float(gained["stability"]) > 0.9
    assert rows[2]["q"] == rows[2]["stability"] == ""
    _, device = sense_sets(result, "mouse")
    assert set(gained["examples"].split(SEPARATOR)) <= device


def test_table_of_usages_is_written(result: Result) -> None:
    rows = read(result, "usages.csv")
    assert len(rows) == 60 + 40 + 48
    for row in rows:
        lines = (result.siblings.path.parents[1] / row["file"]).read_text("utf-8").splitlines()
        assert lines[int(row["line"]) - 1] == row["sentence"]
        assert row["sentence"][int(row["start"]) : int(row["end"])] == row["word"]
        assert row["period"] == Path(row["file"]).stem


def test_concordance_is_written(result: Result) -> None:
    rows = read(result, "kwic.csv")
    usages = read(result, "usages.csv")
    assert sorted(row["left"] + row["keyword"] + row["right"] for row in rows) == sorted(u["sentence"] for u in usages)
    assert [row["word"] for row in rows] == [row["word"] for row in usages]  # in the order of the words
    senses = [int(row["sense"]) for row in rows if row["word"] == "mouse"]
    assert senses == sorted(senses)
    assert {row["keyword"] for row in rows} == {"mouse", "rat", "bread"}


def test_formulas_in_sentences_are_escaped(tmp_path: Path) -> None:
    planted = {"mouse": {"animal": (12, 12, 12)}}
    files = write_corpora(tmp_path, words=planted)
    for file in files:
        file.write_text(file.read_text("utf-8").replace("\n", "\n=").removesuffix("="), "utf-8")
    find_senses(*files, words=["mouse"], model=PlantedEncoder(), out=tmp_path / "out", **FAST)
    for name in FILES:
        cells = [cell for row in csv.reader(StringIO((tmp_path / "out" / name).read_text())) for cell in row]
        assert any(cell.startswith("'=") for cell in cells)
        assert not any(cell.startswith("=") for cell in cells)


def test_concordance_of_no_usages_is_empty() -> None:
    columns = ["word", "period", "file", "line", "date", "sentence", "start", "end", "sense", "shift"]
    assert concordance(pd.DataFrame(columns=columns)).empty


@pytest.mark.parametrize("name", ["result", "traced"])
def test_saved_results_load_again_with_senses(name: str, request: pytest.FixtureRequest) -> None:
    saved = request.getfixturevalue(name)
    loaded = load(saved.siblings.path.parent)
    pd.testing.assert_frame_equal(loaded.sense_table, saved.sense_table)
    pd.testing.assert_frame_equal(loaded.usage_table, saved.usage_table)
    assert loaded.sense_headline() == saved.sense_headline()
    assert repr(loaded.word("mouse").senses) == repr(saved.word("mouse").senses)


def test_run_without_senses_writes_no_files_of_senses(tmp_path: Path) -> None:
    old, new = write_corpora(tmp_path)
    quick: dict[str, Any] = {"model": PlantedEncoder(), "out": tmp_path / "out", "resamples": 10, **FAST}
    plain = compare(old, new, ["mouse"], **quick)
    assert not plain.has_senses
    assert plain.word("mouse").senses is None
    assert not any((tmp_path / "out" / name).exists() for name in FILES)
    compare(old, new, ["mouse"], senses=True, **quick)
    assert all((tmp_path / "out" / name).exists() for name in FILES)
    compare(old, new, ["mouse"], **quick)
    assert not any((tmp_path / "out" / name).exists() for name in FILES)


def test_nothing_about_senses_is_imported_for_a_comparison_without_them() -> None:
    code = "import sys, lexshift.study.compare as _; print({'lexshift.study.senses', 'sklearn'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# -------------------------------------------------------------------------------------------- dictionaries, calibration


def test_inventory_gives_known_senses_and_new_ones(tmp_path: Path) -> None:
    rows = [
        ("mouse", "rodent", f"a mouse near the {a} and the {b}")
        for a, b in (("cheese", "trap"), ("tail", "barn"), ("cat", "trap"), ("barn", "cheese"))
    ]
    rows += [("bread", "loaf", f"bread with {a} and {b}") for a, b in (("flour", "oven"), ("butter", "crust"))]
    with (tmp_path / "known.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("lemma", "sense", "example"), *rows])
    files = write_corpora(tmp_path)
    found = find_senses(
        *files, words=["mouse", "bread"], model=PlantedEncoder(), inventory=tmp_path / "known.csv", **FAST
    )
    mouse = found.word("mouse").senses
    assert mouse is not None
    assert [(sense.known, sense.change) for sense in mouse.senses] == [("rodent", "shrank"), ("", "gained")]
    assert found.sense_table["known"].tolist() == ["rodent", "", "loaf"]
    assert found.settings["inventory"] == str(tmp_path / "known.csv")
    assert len(found.run["senses"]["inventory"]) == 64


def test_notes_say_what_a_dictionary_lacks(tmp_path: Path) -> None:
    (tmp_path / "known.csv").write_text(
        "lemma,sense,gloss\nmouse,1,a tail\nmouse,1,a click on a screen\nmouse,,\nMouse,2,a cable\n"
    )
    found = find_senses(
        *write_corpora(tmp_path),
        words=["mouse", "bread"],
        model=PlantedEncoder(),
        inventory=tmp_path / "known.csv",
        dictionary=tmp_path / "known.csv",
        **FAST,
    )
    assert found.run["senses"]["notes"] == [
        "Skipped or altered in the inventory: 1 row with another gloss of a sense, of which the first was used",
        "Skipped or altered in the inventory: 1 row without a sense",
        "The inventory does not have this word: bread",
        "The dictionary does not have this word: bread",
    ]
    page = render(found)
    assert "The inventory does not have this word: bread." in page
    assert "estimated from the cosines" not in page


def test_dictionary_without_a_similar_gloss_is_noted(tmp_path: Path) -> None:
    (tmp_path / "far.csv").write_text("lemma,sense,gloss\nmouse,1,nothing of the kind\n")
    found = find_senses(
        *write_corpora(tmp_path), words=["mouse"], model=PlantedEncoder(), dictionary=tmp_path / "far.csv", **FAST
    )
    note = "No gloss of the dictionary is similar enough to any of the senses to describe it"
    assert found.run["senses"]["notes"] == [note]


def test_dictionary_without_a_calibration_is_noted_as_unused(tmp_path: Path) -> None:
    (tmp_path / "glosses.csv").write_text("lemma,sense,gloss\nmouse,1,an animal with a tail that likes cheese\n")
    found = find_senses(
        *write_corpora(tmp_path),
        words=["mouse"],
        model=UncalibratedEncoder(),
        dictionary=tmp_path / "glosses.csv",
        **FAST,
    )
    estimated, unused = found.run["senses"]["notes"]
    assert estimated.startswith("The encoder has no calibration")
    assert unused.startswith("The dictionary was not used, because the encoder has no calibration")


def test_dictionary_describes_senses_by_glosses(tmp_path: Path) -> None:
    text = "lemma,sense,gloss\nmouse,1,an animal with a tail that likes cheese\nmouse,2,a button on a cable to click\n"
    (tmp_path / "glosses.csv").write_text(text)
    found = find_senses(
        *write_corpora(tmp_path), words=["mouse"], model=PlantedEncoder(), dictionary=tmp_path / "glosses.csv", **FAST
    )
    senses = found.senses["mouse"].senses
    assert [sense.description["gloss"] for sense in senses] == [
        ["an animal with a tail that likes cheese"],
        ["a button on a cable to click"],
    ]


def test_substitutes_describe_senses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Fixed:
        name = "substitutes"

        def describe(self, usages: SenseUsages) -> list[list[str]]:
            return [[f"filler{k}"] for k in range(int(usages.labels.max()) + 1)]

    monkeypatch.setattr("lexshift.study.senses.load_masked_model", lambda name: (name, "tokenizer"))
    monkeypatch.setattr("lexshift.study.senses.Substitutes", lambda *_: Fixed())
    found = find_senses(*write_corpora(tmp_path), words=["mouse"], model=PlantedEncoder(), substitutes="m", **FAST)
    assert found.sense_table["substitutes"].tolist() == ["filler0", "filler1"]


def test_model_without_substitutes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lexshift.study.senses.load_masked_model", lambda _: None)
    with pytest.raises(UserError, match="'m' is not a masked language model; choose one"):
        find_senses(*write_corpora(tmp_path), words=["mouse"], model=PlantedEncoder(), substitutes="m", **FAST)


def test_encoder_without_calibration_gets_an_estimated_one_and_the_result_says_so(
    result: Result, tmp_path: Path
) -> None:
    found = find_senses(*write_corpora(tmp_path), words=WORDS, model=UncalibratedEncoder(), **FAST)
    (note,) = found.run["senses"]["notes"]
    assert note.startswith("The encoder has no calibration")
    assert note in render(found)
    assert found.senses["mouse"].changes == ["shrank", "gained"]
    assert result.run["senses"]["notes"] == []
    assert result.run["senses"]["calibration"] == {"slope": 20.0, "intercept": -10.0}


@pytest.mark.parametrize(
    ("words", "headline"),
    [(["bread"], "The word has one sense"), (["bread", "rat"], "Each of the 2 words has one sense")],
)
def test_headline_of_words_with_one_sense_names_no_change(tmp_path: Path, words: list[str], headline: str) -> None:
    found = find_senses(*write_corpora(tmp_path), words=words, model=PlantedEncoder(), **FAST)
    assert found.sense_headline() == headline


def test_headline_names_senses_that_are_too_rare_to_test(tmp_path: Path) -> None:
    files = write_corpora(tmp_path, 2, {"mouse": {"animal": (30, 0, 30), "device": (0, 0, 4)}})
    inventory = tmp_path / "known.csv"
    inventory.write_text("lemma,sense,example\nmouse,1,a mouse near the cheese and the trap\n")
    found = find_senses(*files, words=["mouse"], model=PlantedEncoder(), inventory=inventory, **FAST)
    assert found.senses["mouse"].is_tested.tolist() == [True, False]
    assert found.sense_headline() == (
        "2 senses of 1 word: 1 kept at a false discovery rate of 0.05; 1 with too few usages to test"
    )


def test_change_over_short_periods_is_named(tmp_path: Path) -> None:
    """No period has ten usages."""
    senses = {"animal": (8, 8, 8, 6, 3, 1, 0), "device": (0, 0, 0, 2, 5, 7, 8)}
    files = write_corpora(tmp_path, 7, {"mouse": senses})
    found = find_senses(*files, words=["mouse"], model=PlantedEncoder(), min_usages=5, **FAST)
    assert sorted(found.senses["mouse"].changes) == ["gained", "lost"]


def test_headline_names_senses_that_came_and_went(tmp_path: Path) -> None:
    files = write_corpora(tmp_path, 3, {"mouse": {"animal": (30, 10, 30), "device": (0, 20, 0)}})
    found = find_senses(*files, words=["mouse"], model=PlantedEncoder(), **FAST)
    assert found.sense_headline() == (
        "2 senses of 1 word: 2 kept at a false discovery rate of 0.05; of those kept, 2 differ between periods, but "
        "not between the first and the last ones"
    )


@pytest.fixture(scope="module")
def discovered(tmp_path_factory: pytest.TempPathFactory) -> Discovery:
    """Return a discovery with the senses of its changed word, saved in a folder."""
    folder = tmp_path_factory.mktemp("discovered")
    options: dict[str, Any] = {"min_count": 10, "resamples": 20, "senses": True, **FAST}
    old, new = write_corpora(folder)
    return discover(old, new, model=PlantedEncoder(), out=folder / "out", **options)


def test_discovery_finds_the_senses_of_changed_words(discovered: Discovery) -> None:
    changed = discovered.table.loc[discovered.table["verdict"] == "changed", "word"].tolist()
    assert list(discovered.senses) == changed == ["mouse"]
    tested = len(discovered.scores.words)
    note = f"Senses were sought for the changed word; q of a sense is adjusted for the choice of 1 of {tested} words"
    assert discovered.run["senses"]["notes"] == [note]
    assert (discovered.run["senses"]["words"], discovered.run["senses"]["selected_share"]) == (1, 1 / tested)
    mouse = discovered.senses["mouse"]
    assert mouse.changes == ["shrank", "gained"]
    assert mouse.q == pytest.approx(mouse.shares.p * tested)  # both senses of the word have the same p
    page = render(discovered)
    assert f"{note}." in page
    assert "The occurrences of the changed word in both corpora together were divided into senses" in page


def test_saved_discovery_has_its_senses(discovered: Discovery) -> None:
    folder = discovered.siblings.path.parent
    saved = load(folder)
    assert saved.senses["mouse"].labels == discovered.senses["mouse"].labels
    assert set(pd.read_csv(folder / "senses.csv")["word"]) == {"mouse"}
    assert {"senses.csv", "usages.csv", "kwic.csv", "vocabulary.csv"} <= {path.name for path in folder.iterdir()}


def test_discovery_without_a_change_seeks_no_senses(tmp_path: Path) -> None:
    old, new = write_corpora(tmp_path, 2, {"mouse": {"animal": (30, 0, 30)}, "bread": {"food": (24, 0, 24)}})
    options: dict[str, Any] = {"min_count": 10, "resamples": 20, "senses": True, **FAST}
    found = discover(old, new, model=PlantedEncoder(), alpha=0.001, **options)
    assert found.senses == {}
    assert found.sense_headline() == "No senses were sought, because no word is called changed"
    assert found.run["senses"]["notes"] == ["Senses were not sought, because no word is called changed"]
    assert "divided into senses" not in render(found)


def test_senses_of_a_discovery_are_limited_to_the_highest_scores(
    discovered: Discovery, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = discovered.table.assign(verdict="changed")
    several = replace(discovered, senses={})
    several.__dict__["table"] = table
    assert several.sense_words == table["word"].tolist()
    monkeypatch.setattr("lexshift.study.discovery.MAX_SENSE_WORDS", 3)
    assert several.sense_words == table["word"].tolist()[:3]
    assert selection_note(3, 9, 20) == (
        "Senses were sought for the 3 changed words with the highest scores, of 9; q of a sense is adjusted for the "
        "choice of 3 of 20 words"
    )


def test_notebook_shows_the_senses(result: Result, traced: Trace) -> None:
    for found, shares in ((result, "100 % →  33 %"), (traced, "100 % →  67 % →  33 %")):
        view = found._repr_html_()
        assert f"<b>{found.sense_headline()}.</b>" in view
        senses = view.split(found.sense_headline())[1]
        rows = [re.findall(r"<t[hd]>(?:<bdi>)?([^<]*)", row) for row in re.findall(r"<tr>.*?</tr>", senses, re.S)]
        assert rows[0][:3] == ["word", "sense", "description"]
        assert rows[1][:2] == ["mouse", "1"]
        assert rows[1][3:5] == [shares, "shrank"]
        assert rows[2][4] == "gained"
        assert rows[3][4:] == ["one sense", ""]
        assert len(rows) == 1 + len(found.sense_table)


def test_notebook_has_no_senses_unless_they_were_sought(tmp_path: Path) -> None:
    old, new = write_corpora(tmp_path)
    found = compare(old, new, words=["mouse"], model=PlantedEncoder(), **FAST)
    assert found._repr_html_().count("<table>") == 1


def test_rare_words_need_no_calibration(tmp_path: Path) -> None:
    found = find_senses(*write_corpora(tmp_path), words=["rare"], model=UncalibratedEncoder(), **FAST)
    assert found.senses == {}
    assert found.run["senses"] == {"calibration": None, "notes": []}
    assert "No senses were sought: no word has 10 usages in two periods." in render(found)


def test_clusterings_of_the_settings_are_those_of_the_senses() -> None:
    assert set(settings.CLUSTERINGS) == set(clusterings.CLUSTERINGS)
    assert settings.DEFAULTS["clustering"] == clusterings.DEFAULT


def test_unknown_clustering_is_refused() -> None:
    with pytest.raises(UserError, match="clustering must be one of"):
        find_senses("a.txt", "b.txt", clustering="magic", monitor=False)


def test_senses_are_numbered_by_frequency() -> None:
    labels, names = number_senses(["new-2", "shore", "money", "money", "new-2", "money"], ["money", "shore"])
    assert labels.tolist() == [1, 2, 0, 0, 1, 0]
    assert names == ["money", "", "shore"]


@pytest.mark.parametrize(
    ("files", "lines", "documents"),
    [
        ([["a"] * 3, ["b"] * 2], [[1, 2, 3], [1, 2]], None),
        ([["a"] * 3, ["b"] * 2], [[1, 1, 3], [1, 2]], [0, 0, 1, 2, 3]),
        ([["a", "b"], ["c", "d", "d"]], [[1, 2], [1, 2, 3]], None),
        ([list("aabcdefghijk"), list("lmnopqrstuvv")], [range(12), range(12)], [0, *range(22), 21]),
    ],
)
def test_documents_are_files_if_there_are_many_and_lines_otherwise(
    files: list[list[str]], lines: list[list[int]], documents: list[int] | None
) -> None:
    frames = [pd.DataFrame({"file": f, "line": list(n)}) for f, n in zip(files, lines, strict=True)]
    found = usage_documents(frames)
    assert (None if found is None else found.tolist()) == documents
    named = [frame.assign(document=[None, *frame["file"][1:]], file=frame["file"][0]) for frame in frames]
    found = usage_documents(named)  # a usage without a document belongs to its file
    assert (None if found is None else found.tolist()) == documents
