"""Test the methods of a result: words, their usages, short views, and the page."""

from __future__ import annotations

import base64
import gc
import gzip
import hashlib
import html
import json
import random
import re
import weakref
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy.spatial import distance

from lexshift import Result, UserError, compare
from lexshift.study.verdict import Backdrop
from lexshift.utils.arrays import Floats, Matrix

COUNTS = {"mouse": (24, 20), "bread": (16, 18), "river": (15, 14), "comet": (3, 20), "ghost": (12, 0)}
WORDS = [*COUNTS, "nowhere"]
COLUMNS = ["sentence", "start", "end", "leaning", "file", "line", "date"]
HOSTILE = "</script><script>alert('x')</script>&\"<img src=x onerror=alert(1)>"
FAST: dict[str, Any] = {"duplicates": "keep", "permutations": 200, "resamples": 50, "monitor": False}


class Toy:
    """Encoder whose vector is the sum of hashes of the surrounding words."""

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        around = [(s[:start] + s[end:]).split() for s, (start, end) in zip(sentences, spans, strict=True)]
        return np.array([np.sum([self.vector(word) for word in words], axis=0) for words in around], np.float32)

    def vector(self, word: str) -> Floats:
        return np.frombuffer(hashlib.blake2b(word.encode(), digest_size=8).digest(), np.int8) / 64


class Line(Toy):
    """Encoder of one dimension."""

    def vector(self, word: str) -> Floats:
        return super().vector(word)[:1]


def lines_of(period: int) -> list[str]:
    """Return a corpus in which mouse has another meaning than in the other corpus."""
    rng, lines = random.Random(period), []
    for word, counts in COUNTS.items():
        use = "new" if period and word == "mouse" else "old"
        around = [f"{word}{use}{letter}" for letter in "abcdefgh"]
        for n in range(counts[period]):
            a, b, c = rng.sample(around, 3)
            lines.append(f"The {a} and the {word.upper() if n % 3 else word} of the {b} was {c}.")
    rng.shuffle(lines)
    return lines


def corpora_in(folder: Path) -> tuple[Path, Path]:
    old, new = folder / "1850.txt", folder / "1999.txt"
    for period, path in enumerate((old, new)):
        path.write_text("".join(line + "\n" for line in lines_of(period)), "utf-8")
    return old, new


def made(folder: Path, words: Any = WORDS, **options: Any) -> Result:
    return compare(*corpora_in(folder), words, **{"model": Toy(), **FAST, **options})


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Return a result with a temporary store."""
    return made(tmp_path_factory.mktemp("corpora"))


def leaning(i: int, own: Matrix, other: Matrix) -> float:
    """Return how much more similar a usage is to its own corpus than to the other one, by definition."""
    others = np.delete(own.astype(float), i, axis=0)
    row = own[i : i + 1].astype(float)
    return float((1 - distance.cdist(row, others, "cosine")).mean() - (1 - distance.cdist(row, other, "cosine")).mean())


# -------------------------------------------------------------------------------------------------------------- result


def test_result_summarises_the_outcome_in_one_sentence(result: Result) -> None:
    headline = result.headline()
    assert headline.startswith("1 of 3 words changed between 1850 and 1999 (")
    assert headline.endswith(", 3 too few)")
    assert repr(result) == f"Result({headline})"


@pytest.mark.parametrize(
    ("words", "options", "expected"),
    [
        (["bread"], {}, "0 of 1 word changed between 1850 and 1999 (1 stable)"),
        (
            ["mouse"],
            {"alpha": 0.1, "labels": ("then", "now")},
            "1 of 1 word changed between then and now",
        ),
        (
            ["ghost"],
            {},
            "No word can be tested: 1 too few",
        ),
    ],
)
def test_summary_sentence_handles_one_word_and_no_words(
    tmp_path: Path, words: Any, options: dict[str, Any], expected: str
) -> None:
    assert made(tmp_path, words, **options).headline() == expected


def compared_with_controls(result: Result) -> Result:
    """Return a result as if its words had been compared with control words."""
    evidence = {word: replace(found, excess=4.0, local_fdr=0.3) for word, found in result.evidence.items()}
    return replace(result, evidence=evidence, backdrop=Backdrop(0.015, 150, 0.2, 0.016, is_calibrated=True))


def test_caution_is_given_without_a_comparison_with_ordinary_words(result: Result, tmp_path: Path) -> None:
    caution = result.caution()
    assert caution is not None
    assert caution.startswith("The words were not compared with ordinary words")
    assert caution in html.unescape(result.report(tmp_path / "page.html").read_text("utf-8"))
    assert result.background_note() is None
    assert compared_with_controls(result).caution() is None


def test_change_of_the_corpora_as_wholes_is_reported_in_one_sentence(result: Result, tmp_path: Path) -> None:
    compared = compared_with_controls(result)
    note = (
        "Ordinary words (150 control words) moved by a gap of 1.6 points between the corpora; 20 % of their shift is "
        "common to all words and was removed; the noise floor is 1.5 points"
    )
    assert compared.background_note() == note
    assert f"{note}." in compared.report(tmp_path / "page.html").read_text("utf-8")
    assert f"<p>{note}.</p>" in compared._repr_html_()


def test_word_that_does_not_stand_out_from_ordinary_words_differs(result: Result) -> None:
    assert result.table["verdict"][0] == "changed"
    compared = compared_with_controls(result)
    assert compared.table["verdict"][0] == "differs"
    assert compared.headline().startswith(
        "0 of 3 words changed between 1850 and 1999, beyond what the corpora do to ordinary words (1 differs, "
    )


def test_words_without_a_score_are_in_the_order_of_their_verdicts(tmp_path: Path) -> None:
    paths = tmp_path / "a.txt", tmp_path / "b.txt"
    counts = {"zebra": (0, 30), "apple": (2, 3), "moth": (40, 0), "acorn": (0, 25)}
    for side, path in enumerate(paths):
        text = "".join(f"One {word} near {i}.\n" for word, n in counts.items() for i in range(n[side]))
        path.write_text(text, "utf-8")
    table = compare(*paths, list(counts), model=Toy(), **FAST).table
    assert table["word"].tolist() == ["acorn", "zebra", "moth", "apple"]
    assert table["verdict"].tolist() == ["appeared", "appeared", "disappeared", "too few"]


def test_result_has_its_corpora_and_counts(result: Result) -> None:
    for side, period in enumerate(("old", "new")):
        assert result.corpus(period)["passages"] == len(lines_of(side))
        assert result.corpus(period)["words"] == sum(len(re.findall(r"\w+", line)) for line in lines_of(side))
        for word in WORDS:
            assert (
                result.count_usages(word, period)
                == result.count_occurrences(word, period)
                == COUNTS.get(word, (0, 0))[side]
            )
    assert [result.count(verdict) for verdict in ("changed", "unclear", "too few", "no verdict")] == [1, 2, 3, 0]
    with pytest.raises(UserError, match=r"period must be one of 1850, 1999, new, old; got '1900'"):
        result.corpus("1900")


def test_result_without_a_folder_is_usable_while_it_exists(tmp_path: Path) -> None:
    result = made(tmp_path, ["mouse"])
    store = result.siblings.path
    word = result.word("mouse")
    gone = weakref.ref(result)
    del result
    gc.collect()
    assert store.is_dir()  # the word keeps the store open
    assert len(word.usages("new")) == 20
    assert word.result.report(tmp_path / "late.html").stat().st_size > 1000
    del word
    gc.collect()
    assert gone() is None
    assert not store.exists()


def test_result_can_be_saved_anywhere(result: Result, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "there"
    assert result.save(folder) == folder
    assert {path.name for path in folder.iterdir()} == {
        "appeared.csv",
        "scores.csv",
        "scores.parquet",
        "run.json",
        "report.html",
        "space.npz",
        "details.json",
        "store",
        ".lock",
    }
    pd.testing.assert_frame_equal(pd.read_parquet(folder / "scores.parquet"), result.table, check_exact=True)
    run = json.loads((folder / "run.json").read_text("utf-8"))
    assert {name: run[name] for name in result.run} == result.run
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    result.save(str(folder))
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_result_is_not_saved_over_a_file(result: Result, tmp_path: Path) -> None:
    file = tmp_path / "mine"
    file.write_text("mine", "utf-8")
    with pytest.raises(UserError, match=r"the results '.*mine' would be a folder, but there is a file of that name"):
        result.save(file)
    assert file.read_text("utf-8") == "mine"


# --------------------------------------------------------------------------------------------------------------- words


@pytest.mark.parametrize("word", ["mouse", "bread", "comet"])
def test_usages_have_their_positions_and_are_ordered_by_leaning(result: Result, word: str) -> None:
    for side, (period, file) in enumerate((("old", "1850.txt"), ("new", "1999.txt"))):
        usages = result.word(word).usages(period)
        lines = lines_of(side)
        assert list(usages.columns) == COLUMNS
        assert len(usages) == COUNTS[word][side]
        for usage in usages.itertuples():
            assert usage.sentence == lines[usage.line - 1]
            assert usage.sentence[usage.start : usage.end].lower() == word
        assert sorted(usages["line"]) == [n for n, line in enumerate(lines, 1) if f" {word} " in line.lower()]
        assert set(usages["file"]) == {file}
        assert usages["date"].isna().all()
        belongs = usages["leaning"] * (1 if period == "new" else -1)
        assert belongs.is_monotonic_decreasing


@pytest.mark.parametrize("word", ["mouse", "bread", "comet"])
def test_usage_leans_to_the_corpus_with_the_more_similar_usages(result: Result, word: str) -> None:
    siblings, (old, new) = result.siblings[word], result.word(word).vectors
    for period, own, other in (("old", old, new), ("new", new, old)):
        sign = 1 if period == "new" else -1
        sentences = siblings.occurrences(period)["sentence"].tolist()
        expected = {sentence: sign * leaning(i, own, other) for i, sentence in enumerate(sentences)}
        usages = result.word(word).usages(period)
        np.testing.assert_allclose(usages["leaning"], [expected[s] for s in usages["sentence"]], atol=1e-6)


def test_usages_of_a_changed_word_lean_apart(result: Result) -> None:
    mouse = result.word("mouse")
    assert mouse.usages("old")["leaning"].mean() < 0 < mouse.usages("new")["leaning"].mean()


def test_corpus_may_be_selected_by_its_label(result: Result) -> None:
    mouse = result.word("mouse")
    for label, period in zip(("1850", "1999"), ("old", "new"), strict=True):
        pd.testing.assert_frame_equal(mouse.usages(label), mouse.usages(period))


def test_names_old_and_new_take_precedence_over_labels(tmp_path: Path) -> None:
    mouse = made(tmp_path, ["mouse"], labels=("new", "newest")).word("mouse")
    assert len(mouse.usages("old")) == 24
    assert len(mouse.usages("newest")) == len(mouse.usages("new")) == 20


def test_usages_of_a_word_in_one_corpus_only_have_no_leaning(result: Result) -> None:
    ghost = result.word("ghost")
    assert ghost.usages("old")["leaning"].tolist() == [0.0] * 12
    assert ghost.usages("new").empty
    assert list(ghost.usages("new").columns) == COLUMNS
    assert ghost.plane is None


def test_usages_of_a_word_that_never_occurs_are_refused(result: Result) -> None:
    with pytest.raises(UserError, match=r"'nowhere' does not occur in the corpora"):
        result.word("nowhere").usages("old")
    assert result.word("nowhere").plane is None
    assert result.word("nowhere").score is None


def test_unknown_word_or_period_is_answered_with_the_known_ones(result: Result) -> None:
    with pytest.raises(UserError, match=r"word must be one of .*mouse.*; got 'mose'; did you mean 'mouse'\?"):
        result.word("mose")
    with pytest.raises(UserError, match=r"period must be one of .*new.*old.*; got '1900'"):
        result.word("mouse").usages("1900")


def test_word_has_its_row_and_its_scores(result: Result) -> None:
    mouse, comet = result.word("mouse"), result.word("comet")
    pd.testing.assert_series_equal(mouse.row, result.table.iloc[0])
    assert mouse.score is result.scores.words["mouse"]
    assert mouse.score.change.score == mouse.row["score"]
    assert mouse.score.test.p == mouse.row["p"]
    assert (mouse.score.interval.low, mouse.score.interval.high) == (mouse.row["low"], mouse.row["high"])
    assert comet.score is None
    assert (comet.row["verdict"], comet.row["n_old"]) == ("too few", 3)


def test_word_summarises_its_outcome(result: Result) -> None:
    row = result.table.iloc[0]
    numbers = f"{row['score']:.4g} [{row['low']:.4g}, {row['high']:.4g}]"
    assert repr(result.word("mouse")) == f"WordResult('mouse': changed, score {numbers})"
    assert repr(result.word("bread")).startswith("WordResult('bread': unclear, score ")
    assert repr(result.word("nowhere")) == "WordResult('nowhere': too few)"


def test_plane_is_centred_on_both_corpora_and_points_to_the_new_one(result: Result) -> None:
    plane, (rows_old, rows_new) = result.word("mouse").plane, result.word("mouse").vectors
    assert plane is not None
    assert (plane.old.shape, plane.new.shape) == ((24, 2), (20, 2))
    old, new = plane.old.mean(axis=0), plane.new.mean(axis=0)
    np.testing.assert_allclose(old + new, 0, atol=1e-5)
    assert (new >= old - 1e-9).all()
    middle = (rows_old.mean(axis=0, dtype=float) + rows_new.mean(axis=0, dtype=float)) / 2
    rows = [rows_old - middle, rows_new - middle]
    total = sum((part**2).sum() / (2 * len(part)) for part in rows)
    shown = sum((part**2).sum(axis=0) / (2 * len(part)) for part in (plane.old, plane.new))
    np.testing.assert_allclose(plane.explained, shown / total, rtol=1e-5)
    weighted = np.concatenate([part / np.sqrt(2 * len(part)) for part in rows])
    largest = np.linalg.svd(weighted, compute_uv=False)[:2] ** 2
    np.testing.assert_allclose(plane.explained, largest / total, rtol=1e-4)


def test_vectors_of_one_dimension_have_a_plane_and_a_page(tmp_path: Path) -> None:
    result = made(tmp_path, ["mouse", "bread"], model=Line())
    plane = result.word("mouse").plane
    assert plane is not None
    np.testing.assert_allclose(plane.explained, [1, 0])
    assert not plane.old[:, 1].any()
    assert result.report(tmp_path / "page.html").stat().st_size > 1000


# --------------------------------------------------------------------------------------------------------- short views


def test_notebook_shows_the_sentence_and_the_words(result: Result) -> None:
    shown = result._repr_html_()
    assert f"<b>{result.headline()}.</b>" in shown
    assert re.findall(r"<bdi>(.*?)</bdi>", shown) == result.table["word"].tolist()
    assert "3 usages in 1850; 10 are needed in each corpus" in shown
    assert "nan" not in shown.lower()
    assert " more row" not in shown


@pytest.mark.parametrize("n", [19, 20, 21, 33])
def test_notebook_shows_twenty_words_and_the_number_of_the_others(tmp_path: Path, n: int) -> None:
    words = ["mouse", *(f"none{i:02}" for i in range(n - 1))]
    shown = made(tmp_path, words)._repr_html_()
    assert shown.count("<tr><th><bdi>") == min(n, 20)
    assert re.findall(r"<code>.table</code> has (\d+) more rows?\.", shown) == ([] if n <= 20 else [str(n - 20)])


def test_notebook_shows_hostile_words_and_labels_as_text(tmp_path: Path) -> None:
    labels = ("<b>then</b>", "<img src=x onerror=alert(2)> & now")
    result = made(tmp_path, {HOSTILE: ["mouse"], "<i>rare</i>": ["ghost"]}, labels=labels)
    shown = result._repr_html_()
    tags = set(re.findall(r"<\s*/?\s*(\w+)", shown))
    assert tags == {"div", "p", "b", "table", "thead", "tr", "th", "tbody", "bdi", "td"}
    assert shown.count("<b>") == 1
    text = html.unescape(shown)
    assert all(name in text for name in (HOSTILE, "<i>rare</i>", *labels))
    assert "onerror=alert(1)>" not in shown
    assert repr(result.word(HOSTILE)).startswith(f"WordResult({HOSTILE!r}: changed")


# ---------------------------------------------------------------------------------------------------------------- page


def data_of(page: str) -> dict[str, Any]:
    """Return the data that the script of the page reads."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    loaded: dict[str, Any] = json.loads(found[1])
    return loaded


def details_of(page: str) -> list[dict[str, Any]]:
    """Return the details of all words that the script opens when a word is selected."""
    groups = re.findall(r'<script type="application/octet-stream" id="group-\d+">(.*?)</script>', page, re.DOTALL)
    return [word for group in groups for word in json.loads(gzip.decompress(base64.b64decode(group)))]


def facts_of(page: str) -> dict[str, str]:
    """Return the table of settings of the page."""
    rows = re.findall(r'<tr><th scope="row">(.*?)</th><td><bdi>(.*?)</bdi></td></tr>', page)
    return {html.unescape(name): html.unescape(value) for name, value in rows}


def test_page_is_written_to_the_requested_path_and_folders_are_created(result: Result, tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "page.html"
    assert result.report(path) == path
    page = path.read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert result.report(str(tmp_path / "page.html")).read_text("utf-8") == page
    assert {found.name for found in tmp_path.iterdir()} == {"a", "page.html"}
    assert [found.name for found in path.parent.iterdir()] == ["page.html"]


def test_page_has_every_word_with_its_numbers_and_usages(result: Result, tmp_path: Path) -> None:
    page = result.report(tmp_path / "page.html").read_text("utf-8")
    words = {word["word"]: word | more for word, more in zip(data_of(page)["words"], details_of(page), strict=True)}
    assert list(words) == result.table["word"].tolist()
    for word, counts in COUNTS.items():
        assert [len(usages) for usages in words[word]["usages"]] == list(counts)
    assert words["nowhere"]["usages"] == [[], []]
    assert words["mouse"]["score"] == result.table["score"][0]
    before, at, after, *_ = words["mouse"]["usages"][1][0]
    assert before + at + after == result.word("mouse").usages("new")["sentence"][0]


def test_page_shows_the_settings(result: Result, tmp_path: Path) -> None:
    facts = facts_of(result.report(tmp_path / "page.html").read_text("utf-8"))
    settings = {name.replace("_", " "): value for name, value in result.settings.items()}
    assert facts.keys() >= settings.keys()
    assert {name: facts[name] for name in settings} == {
        name: {True: "yes", False: "no", None: "none"}[value]
        if value is None or isinstance(value, bool)
        else str(value)
        for name, value in settings.items()
    }
    assert facts["seed"] == "0"


def test_hostile_words_and_labels_open_no_tag_on_the_page(tmp_path: Path) -> None:
    labels = (HOSTILE, "now")
    result = made(tmp_path, {HOSTILE: ["mouse"], "bread": ["bread"]}, labels=labels)
    page = result.report(tmp_path / "page.html").read_text("utf-8")
    assert page.count("<script") == page.count("</script>") == 3
    assert "<img" not in page
    data = data_of(page)
    assert data["labels"] == list(labels)
    assert data["words"][0]["word"] == HOSTILE


def test_page_cannot_replace_a_folder_and_leaves_nothing_behind(result: Result, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(UserError, match=r"folder' cannot be written: "):
        result.report(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    assert list(folder.iterdir()) == []
