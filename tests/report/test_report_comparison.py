"""Test the content of the page: its numbers, its bounded selection of usages, and escaped text."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lexshift
from lexshift import Result
from lexshift.report.comparison import SCRIPTS, allot_usages, content, details, notebook_view, render
from lexshift.report.page import environment, pack_groups, write_page
from lexshift.senses.variety import choose_varied

OLD = ["oak", "elm", "ash", "fir", "yew", "fig"]
NEW = ["tin", "zinc", "lead", "iron", "gold", "brass"]
MANY = 170  # usages of "river", above the maximum on the page
MOST, LEAST, FIRST, USAGES = 150, 6, 100, 60_000
VERDICTS = st.lists(st.sampled_from(["changed", "appeared", "disappeared", "stable", "too few"]), max_size=60)
PERIODS = ("old", "new")


class Contexts:
    """Encoder whose vector of a word is the mean of the hashes of the surrounding words."""

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        return np.array([self.vector(s, *span) for s, span in zip(sentences, spans, strict=True)], np.float32)

    def vector(self, sentence: str, start: int, end: int) -> npt.NDArray[np.float64]:
        around = [*sentence[:start].split()[-8:], *sentence[end:].split()[:8], str(len(sentence) % 7)]
        keys = [hashlib.blake2b(word.encode(), digest_size=6).digest() for word in around]
        mean: npt.NDArray[np.float64] = np.array([np.frombuffer(key, np.int8) for key in keys]).mean(axis=0) / 32
        return mean


def compared(folder: Path, old: Sequence[str], new: Sequence[str], words: Any, **options: Any) -> Result:
    """Compare two lists of sentences."""
    folder.mkdir(exist_ok=True)
    for name, lines in (("old.txt", old), ("new.txt", new)):
        (folder / name).write_bytes(("\n".join(lines) + "\n").encode())
    quick = {"permutations": 99, "resamples": 20, "repeats": 5, "rate": 0.4, "alpha": 0.05, "min_usages": 10}
    usual = {"labels": ("then", "now"), "max_per_word": 500, "split": "lines", "monitor": False}
    return lexshift.compare(
        folder / "old.txt", folder / "new.txt", words, model=Contexts(), **{**quick, **usual, **options}
    )


def sentences(word: str, contexts: Sequence[str], n: int, seed: int) -> list[str]:
    """Return different sentences with a word among some others."""
    rng = np.random.default_rng(seed)
    return [f"{' '.join(rng.choice(contexts, 3))} {word} {' '.join(rng.choice(contexts, 3))} {i}" for i in range(n)]


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Return a result with a changed word, a stable one, one with many usages, and three with too few."""
    old = [*sentences("plane", OLD, 20, 1), *sentences("bread", OLD, 15, 2), *sentences("river", OLD, MANY, 3)]
    new = [*sentences("plane", NEW, 25, 4), *sentences("bread", OLD, 16, 5), *sentences("river", OLD, 30, 6)]
    old += [*sentences("rare", OLD, 12, 7), *sentences("gone", OLD, 11, 8)]
    new += sentences("rare", NEW, 3, 9)
    words = ["bread", "plane", "river", "rare", "gone", "nowhere"]
    return compared(tmp_path_factory.mktemp("content"), old, new, words)


def whole(result: Result) -> dict[str, Any]:
    """Return the whole content of the page, each word with its details."""
    data = content(result)
    word_details = zip(data["words"], details(result), strict=True)
    return data | {"words": [word | more for word, more in word_details]}


@pytest.fixture(scope="module")
def held(result: Result) -> dict[str, Any]:
    return whole(result)


def word_data(data: dict[str, Any], word: str) -> dict[str, Any]:
    """Return the content of the page for a word."""
    (found,) = [entry for entry in data["words"] if entry["word"] == word]
    return found


def varied_first(usages: pd.DataFrame) -> pd.DataFrame:
    """Return usages with those behind the others that nearly repeat one before them."""
    chosen = choose_varied(usages["sentence"].tolist(), range(len(usages)), MOST // 2).tolist()
    return usages.iloc[chosen + [i for i in range(len(usages)) if i not in chosen]]


def leaves(value: Any) -> Iterator[Any]:
    """Return all values in lists and dictionaries, including keys."""
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from leaves(part)
    else:
        yield value


def test_content_is_plain_json_without_nan(held: dict[str, Any]) -> None:
    assert json.loads(json.dumps(held, allow_nan=False)) == held
    kinds = {type(leaf) for leaf in leaves(held)}
    assert kinds <= {str, int, float, bool, type(None)}
    assert all(math.isfinite(leaf) for leaf in leaves(held) if isinstance(leaf, float))


def test_words_are_in_the_order_of_the_table(result: Result, held: dict[str, Any]) -> None:
    assert [entry["word"] for entry in held["words"]] == result.table["word"].tolist()
    assert held["labels"] == ["then", "now"]
    assert held["alpha"] == 0.05
    assert held["metric"] == "nearest"
    assert held["weights"] == "the weighted geometric mean of SSCD (weight 0.2) and the average pairwise distance (0.8)"
    assert held["background"] == {
        "floor": result.backdrop.floor,
        "control_words": 0,
        "common_shift": None,
        "ordinary_gap": None,
        "is_calibrated": False,
    }
    assert held["max_local_fdr"] == 0.2


def test_numbers_equal_those_of_the_table(result: Result, held: dict[str, Any]) -> None:
    for row in result.table.to_dict("records"):
        entry = word_data(held, row["word"])
        assert entry["n"] == [row["n_old"], row["n_new"]]
        assert (entry["verdict"], entry["reason"]) == (row["verdict"], row["reason"])
        assert entry["rate"] == pytest.approx([row["per_million_old"], row["per_million_new"]], abs=0.005)
        if row["verdict"] == "too few":
            assert not {"score", "low", "high", "p", "q", "gap", "eOriginal", "eSwap"} & entry.keys()
            continue
        assert "excess" not in entry  # there are no control words
        for name in ("score", "low", "high", "p", "q", "gap", "gap_low", "gap_high"):
            assert entry[name] == pytest.approx(row[name], rel=1e-4, abs=0)
        assert entry["eOriginal"] == pytest.approx(row["e_original"], rel=1e-4)
        assert np.mean(entry["eSwap"]) == pytest.approx(row["e_swap"], rel=1e-4)
        assert len(entry["eSwap"]) == 5


def test_number_of_occurrences_is_reported_if_only_a_sample_was_embedded(tmp_path: Path) -> None:
    old, new = sentences("plane", OLD, 40, 1), sentences("plane", NEW, 12, 2)
    entry = word_data(whole(compared(tmp_path, old, new, ["plane"], max_per_word=20)), "plane")
    assert entry["n"] == [20, 12]
    assert entry["found"] == [40, 12]


def test_curve_matches_the_rate_search(result: Result, held: dict[str, Any]) -> None:
    curve = result.scores.curve
    assert curve is not None
    assert held["curve"]["rates"] == pytest.approx(curve.rates.tolist())
    assert held["curve"]["mean"] == pytest.approx(curve.mean.tolist(), rel=1e-4)
    assert held["curve"]["std"] == pytest.approx(curve.std.tolist(), rel=1e-4, abs=1e-12)
    assert held["curve"]["original"] == pytest.approx(curve.e_original.mean(), rel=1e-4)
    assert held["curve"]["least"] == curve.rate
    assert held["curve"]["chosen"] == 0.4


def test_estimated_rate_is_the_minimum_of_the_curve(tmp_path: Path) -> None:
    old, new = sentences("plane", OLD, 20, 1), sentences("plane", NEW, 20, 2)
    curve = content(compared(tmp_path, old, new, ["plane"], rate="auto"))["curve"]
    assert curve["chosen"] == curve["least"] == curve["rates"][int(np.argmin(curve["mean"]))]


def test_without_a_scored_word_there_is_no_curve(tmp_path: Path) -> None:
    found = whole(compared(tmp_path, ["one bank"], ["the bank", "a bank"], ["bank", "nowhere"]))
    assert found["curve"] is None
    assert [entry["verdict"] for entry in found["words"]] == ["too few", "too few"]


def test_word_in_one_corpus_only_has_its_usages_and_no_plane(held: dict[str, Any]) -> None:
    gone = word_data(held, "gone")
    assert [len(usages) for usages in gone["usages"]] == [11, 0]
    assert "explained" not in gone
    assert {tuple(usage[3:6]) for usage in gone["usages"][0]} == {(0.0, 0.0, 0.0)}


def test_word_in_no_corpus_has_no_usages(held: dict[str, Any]) -> None:
    nowhere = word_data(held, "nowhere")
    assert nowhere["usages"] == [[], []]
    assert nowhere["n"] == nowhere["found"] == [0, 0]
    assert "explained" not in nowhere


@pytest.mark.parametrize("word", ["plane", "bread", "rare"])
def test_word_with_few_usages_shows_all_of_them_near_duplicates_last(
    result: Result, held: dict[str, Any], word: str
) -> None:
    for period, usages in zip(PERIODS, word_data(held, word)["usages"], strict=True):
        frame = varied_first(result.word(word).usages(period))
        assert [usage[6] for usage in usages] == [f"{f}:{n}" for f, n in zip(frame["file"], frame["line"], strict=True)]
        assert ["".join(usage[:3]) for usage in usages] == frame["sentence"].tolist()
        assert all(usage[1] == word for usage in usages)


def test_usages_are_ordered_by_decreasing_leaning_near_duplicates_last(held: dict[str, Any], result: Result) -> None:
    for period, usages in zip(PERIODS, word_data(held, "plane")["usages"], strict=True):
        leaning = varied_first(result.word("plane").usages(period))["leaning"].to_numpy()
        assert np.corrcoef(leaning, [usage[3] for usage in usages])[0, 1] == pytest.approx(1, abs=1e-3)
        strongest = max((usage[3] for usage in usages), key=abs)
        assert usages[0][3] == strongest
        assert strongest < 0 if period == "old" else strongest > 0


def test_positions_on_the_plane_are_those_of_the_usages(result: Result, held: dict[str, Any]) -> None:
    word = result.word("plane")
    assert word.plane is not None
    for points, usages in zip((word.plane.old, word.plane.new), word_data(held, "plane")["usages"], strict=True):
        assert sorted(usage[4] for usage in usages) == pytest.approx(sorted(points[:, 0]), rel=1e-4, abs=1e-12)
        assert sorted(usage[5] for usage in usages) == pytest.approx(sorted(points[:, 1]), rel=1e-4, abs=1e-12)
    assert word_data(held, "plane")["explained"] == pytest.approx(word.plane.explained.tolist(), abs=5e-4)


def test_many_usages_are_reduced_to_the_most_typical_and_an_even_selection(
    result: Result, held: dict[str, Any]
) -> None:
    usages, others = word_data(held, "river")["usages"]
    assert (len(usages), len(others)) == (MOST, 30)
    frame = varied_first(result.word("river").usages("old"))
    places = [f"{file}:{line}" for file, line in zip(frame["file"], frame["line"], strict=True)]
    ranks = [places.index(usage[6]) for usage in usages]
    n_varied = len(choose_varied(frame["sentence"].tolist(), range(MANY), MOST // 2))
    assert 1 < n_varied < MOST // 2, "the sentences have no near-duplicates"
    assert ranks[:n_varied] == list(range(n_varied))
    assert ranks[-1] == MANY - 1
    steps = set(np.diff(ranks[n_varied - 1 :]).tolist())
    assert steps <= {1, 2}, "they are not evenly taken"
    assert len(set(ranks)) == MOST


@pytest.mark.parametrize("n", [0, 1, 80, 200])
def test_few_words_have_the_maximum_number_of_usages(n: int) -> None:
    assert allot_usages(["stable"] * n) == [MOST] * n


@pytest.mark.parametrize(("n", "even", "first"), [(201, 74, 199), (1_000, 15, 111), (5_000, LEAST, FIRST)])
def test_among_many_words_all_have_some_usages_and_the_first_the_most(n: int, even: int, first: int) -> None:
    given = allot_usages(["stable"] * n)
    assert given == [MOST] * first + [even] * (n - first)


def test_changed_words_precede_those_that_only_rank_high() -> None:
    verdicts = ["stable"] * 60 + ["changed"] * 70 + ["stable"] * 4_870
    given = allot_usages(verdicts)
    assert given[60:130] == [MOST] * 70
    assert given[:30] == [MOST] * 30
    assert set(given[30:60]) == set(given[130:]) == {LEAST}


@pytest.mark.parametrize("n", [1, 150, 201, 500, 2_000, 5_000, 10_000])
@pytest.mark.parametrize("verdict", ["changed", "stable"])
def test_number_of_usages_on_a_page_is_bounded(n: int, verdict: str) -> None:
    total = 2 * sum(allot_usages([verdict] * n))
    assert total <= max(USAGES, 2 * LEAST * n) + 2 * MOST * FIRST


@given(VERDICTS, st.integers(1, 5_000))
def test_every_word_has_between_the_minimum_and_maximum_number_of_usages(verdicts: Sequence[str], usages: int) -> None:
    given = allot_usages(verdicts, usages, first_words=3)
    assert len(given) == len(verdicts)
    assert all(LEAST <= n <= MOST for n in given)
    ranked = sorted(range(len(verdicts)), key=lambda i: (verdicts[i] not in ("changed", "appeared", "disappeared"), i))
    assert [given[i] for i in ranked] == sorted(given, reverse=True)


def window(folder: Path, line: str, word: str = "bank", **options: Any) -> tuple[str, str, str]:
    """Return the text that the page shows of one sentence."""
    found = whole(compared(folder, [line], [f"some other {word} here"], [word], **options))
    before, shown, after = word_data(found, word)["usages"][0][0][:3]
    return before, shown, after


def test_short_sentence_is_shown_completely(tmp_path: Path) -> None:
    assert window(tmp_path, "The Bank of the river") == ("The ", "Bank", " of the river")


def test_long_sentence_is_cut_to_whole_words_with_an_ellipsis(tmp_path: Path) -> None:
    left, right = " ".join(f"left{i}" for i in range(100)), " ".join(f"right{i}" for i in range(100))
    before, word, after = window(tmp_path, f"{left} bank {right}")
    assert word == "bank"
    assert before.startswith("…left")
    assert after.endswith("…")
    assert f"{left} ".endswith(before[1:])
    assert f" {right} ".startswith(after[:-1] + " ")
    assert 100 < len(before) <= 161
    assert 100 < len(after) <= 201


def test_text_without_spaces_keeps_some_context_around_the_word(tmp_path: Path) -> None:
    before, word, after = window(tmp_path, f"{'前' * 300}，银行，{'后' * 300}", "银行")
    assert word == "银行"
    assert before.startswith("…")
    assert before.endswith("前，")
    assert after.startswith("，后")
    assert after.endswith("…")
    assert len(before) + len(after) <= 370


def test_very_long_word_is_cut(tmp_path: Path) -> None:
    long = "a" + "x" * 900
    before, word, after = window(tmp_path, f"the {long} here", long)
    assert (before, after) == ("the ", " here")
    assert word == long[:80] + "…"


class Elements(HTMLParser):
    """Collect the text of every style and script element, and the attributes of all elements."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {"style": [], "script": []}
        self._inside = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._inside = tag
        if tag in self.texts:
            self.texts[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        assert tag
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in self.texts:
            self.texts[self._inside][-1] += data

    def policy(self) -> dict[str, list[str]]:
        """Return the directives of the Content-Security-Policy."""
        (text,) = [a["content"] or "" for tag, a in self.found if a.get("http-equiv") == "Content-Security-Policy"]
        return {name: values for name, *values in (directive.split() for directive in text.split(";"))}


def sha256(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_policy_allows_only_the_one_script_and_the_one_style_by_hash(result: Result) -> None:
    page = Elements(render(result))
    (style,), (data, *groups, script) = page.texts["style"], page.texts["script"]
    assert page.policy() == {
        "default-src": ["'none'"],
        "script-src": [sha256(script)],
        "style-src": [sha256(style)],
        "img-src": ["data:"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
        "require-trusted-types-for": ["'script'"],
        "trusted-types": ["'none'"],
    }
    starts, expected = pack_groups(details(result))
    assert json.loads(data) == content(result) | {"groups": starts}
    assert groups == expected
    kinds = [a.get("type") for tag, a in page.found if tag == "script"]
    assert kinds == ["application/json", *["application/octet-stream"] * len(groups), None]


def test_policy_precedes_all_content_that_it_restricts(result: Result) -> None:
    tags = [tag for tag, _ in Elements(render(result)).found]
    assert tags[:4] == ["html", "head", "meta", "meta"]
    assert "Content-Security-Policy" in render(result).split("<meta", 3)[2]


def test_page_contains_no_external_addresses(result: Result) -> None:
    found = Elements(render(result)).found
    addresses = [a[name] or "" for _, a in found for name in ("href", "src", "action", "srcset", "data") if name in a]
    assert len(addresses) > 6
    assert all(address.startswith("#") or address == "data:," for address in addresses)
    assert not [a for _, a in found if any(name.startswith("on") or name == "style" for name in a)]


def test_templates_mark_only_the_style_the_script_and_the_data_as_safe() -> None:
    trusted = set()
    for template in files("lexshift.report").joinpath("templates").iterdir():
        source = template.read_text("utf-8")
        trusted |= set(re.findall(r"(\w+)\s*\|\s*safe\b", source))
        assert source.count("safe") == len(re.findall(r"\{\{ \w+\|safe \}\}", source))
        assert "autoescape" not in source
        assert "Markup" not in source
    assert trusted == {"style", "script", "data"}
    assert environment().autoescape is True


def test_script_never_turns_text_into_markup_or_code() -> None:
    scripts = [f for f in files("lexshift.report").joinpath("assets").iterdir() if f.name.endswith(".js")]
    assert {script.name for script in scripts} >= set(SCRIPTS)
    for script in scripts:
        forbidden = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|DOMParser|srcdoc"
        assert not re.search(forbidden, script.read_text("utf-8")), script.name
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|\bfetch\(|XMLHttpRequest", script.read_text("utf-8"))


def test_page_is_written_into_new_folders(result: Result, tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "page.html"
    assert write_page(render(result), path) == path == result.report(str(path))
    assert path.read_text("utf-8") == render(result)
    assert [entry.name for entry in path.parent.iterdir()] == ["page.html"]


def test_page_of_a_result_is_deterministic(result: Result) -> None:
    assert render(result) == render(result)


def test_notebook_shows_the_headline_and_the_table(result: Result) -> None:
    view = notebook_view(result)
    assert result.headline() in view
    words = re.findall(r"<bdi>(\w+)</bdi>", view)
    assert words == [*result.table["word"], *result.appeared["word"]]
    assert str(result.appeared_headline()) in view
    assert sorted(result.appeared["word"]) == sorted(NEW)
    assert view.count("10 are needed in each corpus") == 3
    assert "more in" not in view


def test_notebook_shows_twenty_words_and_the_number_of_the_others(tmp_path: Path) -> None:
    view = notebook_view(compared(tmp_path, ["w0 here"], ["w0 there"], [f"w{i}" for i in range(27)]))
    assert view.count("<bdi>") == 20
    assert "<code>.table</code> has 7 more rows." in view


def test_notebook_shows_markup_as_text(tmp_path: Path) -> None:
    word, label = "<img/src=x/onerror=alert(1)>", "<script>alert(1)</script>"
    result = compared(tmp_path, [f"a {word}"], [f"a {word} c"], [word], match="token", labels=(label, "&amp;"))
    view = result._repr_html_()
    assert "<img" not in view
    assert "<script" not in view
    assert "&lt;img/src=x/onerror=alert(1)&gt;" in view
    assert "&amp;amp;" in view
