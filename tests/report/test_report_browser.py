"""Test the page of a comparison in a browser: mouse, keyboard, and that no text can act as code."""

from __future__ import annotations

import hashlib
import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

import numpy as np
import numpy.typing as npt
import pytest

import lexshift
from lexshift import Result
from lexshift.report.comparison import details
from lexshift.report.page import chance, digits
from lexshift.scoring.gap import Gap
from lexshift.senses.variety import choose_varied
from lexshift.study.verdict import VERDICTS, Backdrop, Evidence

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

sync_api = pytest.importorskip("playwright.sync_api", reason="the page is tested in a browser, which needs playwright")
expect = sync_api.expect
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="the page is tested in a browser, and there is no chromium"),
]

FARM = ["field", "cattle", "grain", "plough", "horse", "barn"]
WIRE = ["screen", "network", "signal", "battery", "keyboard", "phone"]
FILL = ["slow", "green", "quick", "morning", "long", "short", "young", "house", "garden", "street"]
REPEATS = 7
MOST = 150  # maximum usages of a word and corpus on the page
# Number of usages of each word in the old and the new corpus, and whether it changed.
PLANTED: dict[str, tuple[int, int, bool]] = {
    "plane": (25, 31, True),
    "bread": (18, 12, False),
    "naïveté": (14, 15, True),
    "cell tower": (13, 17, False),
    "50% off": (16, 11, False),
    "river": (170, 20, False),
    "stone": (12, 13, False),
    "rare": (14, 3, False),
    "gone": (11, 0, False),
    "absent": (0, 0, False),
}
TOO_FEW = {"rare", "gone", "absent"}
COLUMNS = ["word", "score", "n_old", "n_new", "gap", "q", "verdict"]
DOWN_FIRST = {"n_old", "n_new", "gap"}  # the table is sorted by score, so the first click reverses it
WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.effectiveDirective));
"""


class Contexts:
    """Encoder whose vector of a word is the mean of the hashes of the surrounding words."""

    settings = {"model": "toy"}  # noqa: RUF012

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        return np.array([self.vector(s, *span) for s, span in zip(sentences, spans, strict=True)], np.float32)

    def vector(self, sentence: str, start: int, end: int) -> npt.NDArray[np.float64]:
        around = [*sentence[:start].split()[-8:], *sentence[end:].split()[:8], str(len(sentence) % 7)]
        keys = [hashlib.blake2b(word.encode(), digest_size=8).digest() for word in around]
        mean: npt.NDArray[np.float64] = np.array([np.frombuffer(key, np.int8) for key in keys]).mean(axis=0) / 32
        return mean


def sentences(word: str, contexts: Sequence[str], n: int, rng: np.random.Generator) -> list[str]:
    """Return sentences with a word among some others."""
    made = []
    for i in range(n):
        around = rng.permutation([*rng.choice(FILL, 4), *rng.choice(contexts, 4)]).tolist()
        at = int(rng.integers(1, 8))
        made.append(" ".join([*around[:at], word, *around[at:], str(i)]))
    return made


def compared(folder: Path, old: Sequence[str], new: Sequence[str], words: Any, **options: Any) -> Result:
    """Compare two lists of sentences."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in (("old.txt", old), ("new.txt", new)):
        (folder / name).write_bytes(("\n".join(lines) + "\n").encode())
    return compared_files(folder / "old.txt", folder / "new.txt", words, **options)


def compared_files(old: Path, new: Path, words: Any, **options: Any) -> Result:
    quick = {"permutations": 199, "resamples": 30, "repeats": REPEATS, "rate": 0.4, "alpha": 0.05, "min_usages": 10}
    usual = {"labels": ("1900s", "2000s"), "max_per_word": 500, "split": "lines", "monitor": False}
    return lexshift.compare(old, new, words, model=Contexts(), **{"duplicates": "keep", **quick, **usual, **options})


def appeared_words(result: Result, verdict: str) -> list[str]:
    """Return the words with a verdict among all words of the corpora."""
    return list(result.appeared.loc[result.appeared["verdict"] == verdict, "word"])


def planted(folder: Path, words: dict[str, tuple[int, int, bool]], **options: Any) -> Result:
    """Run a comparison in which some words change."""
    rng = np.random.default_rng(0)
    old = [line for word, (n, _, _) in words.items() for line in sentences(word, FARM, n, rng)]
    new = [line for word, (_, n, to) in words.items() for line in sentences(word, WIRE if to else FARM, n, rng)]
    return compared(folder, old, new, list(words), **options)


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return planted(tmp_path_factory.mktemp("result"), PLANTED)


@pytest.fixture(scope="module")
def file(result: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return result.report(tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Window:
    """Open pages and record unexpected messages, errors, dialogs and requests."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.wrong: list[str] = []
        self.pages: dict[str, Page] = {}
        self.address = ""

    def open(self, file: Path, fragment: str = "", width: int = 1280, height: int = 900, **options: Any) -> Page:
        """Open a new page, optionally at an address within it."""
        page = self.pages.get(repr(options)) or self._new(options)
        page.goto("about:blank")
        page.set_viewport_size({"width": width, "height": height})
        self.address = file.as_uri()
        page.goto(self.address + fragment)
        return page

    def _new(self, options: dict[str, Any]) -> Page:
        context = self.browser.new_context(reduced_motion="reduce", **options)
        context.add_init_script(WATCH)
        page = self.pages[repr(options)] = context.new_page()
        page.on("console", lambda message: self.wrong.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        page.on("request", lambda request: self._requested(request.url))
        page.on("dialog", self._dialog)
        page.on("popup", lambda popup: self.wrong.append(f"popup: {popup.url}"))
        return page

    def close_others(self) -> None:
        """Keep only the ordinary page for the next test."""
        for options in self.pages.keys() - {repr({})}:
            self.pages.pop(options).context.close()

    def _requested(self, url: str) -> None:
        if url.partition("#")[0] != self.address and not url.startswith(("data:", "blob:", "about:")):
            self.wrong.append(f"request: {url}")

    def _dialog(self, dialog: Any) -> None:
        self.wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()


@pytest.fixture(scope="module")
def windows(browser: Browser) -> Window:
    return Window(browser)


@pytest.fixture
def window(windows: Window) -> Iterator[Window]:
    """Yield a window, and check at the end that nothing went wrong in any of its pages."""
    windows.wrong.clear()
    yield windows
    windows.close_others()
    assert windows.wrong == []


@pytest.fixture
def page(window: Window, file: Path) -> Page:
    return window.open(file)


def rows(page: Page) -> Locator:
    return page.locator("#ranking tbody tr:visible")


def ranking(page: Page) -> list[str]:
    """Return the words that the table shows, in order."""
    return page.locator("#ranking tbody tr:visible th").all_inner_texts()


def header(page: Page, key: str) -> Locator:
    return page.locator(f"#ranking thead th[data-key={key}]")


def link_of(page: Page, word: str) -> Locator:
    return page.locator("#ranking tbody").get_by_role("link", name=word, exact=True)


def heading(page: Page) -> Locator:
    return page.locator("#word h2")


def choose(page: Page, word: str) -> None:
    """Click a word and wait for it."""
    link_of(page, word).click()
    expect(heading(page)).to_have_text(word)


def hash_of(page: Page) -> str:
    return unquote(page.url.partition("#")[2])


def until(page: Page, condition: str) -> None:
    """Wait for a condition without the own waiting of playwright, which the policy of the page blocks."""
    page.evaluate(
        f"() => new Promise((done) => {{ const look = () => ({condition} ? done() : setTimeout(look, 5)); look(); }})"
    )


def ordered(result: Result, key: str, down: bool) -> list[str]:
    """Return the words in the expected order of the sorted table; those without a number come last."""
    records = result.table.to_dict("records")
    if key == "verdict":
        values = {r["word"]: VERDICTS.index(r["verdict"]) for r in records}
    else:
        values = {r["word"]: r[key] for r in records}
    known = [word for word, value in values.items() if value == value]
    unknown = [word for word, value in values.items() if value != value]
    return sorted(known, key=values.__getitem__, reverse=down) + unknown


def fits(page: Page) -> bool:
    """Return whether the document is not wider than the window."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))


# Opening the page.


def test_page_opens_without_a_message_an_error_or_a_request(window: Window, file: Path) -> None:
    page = window.open(file)
    page.wait_for_load_state("networkidle")
    expect(page.locator("#overview svg")).to_be_visible()
    expect(page.locator("#curve svg")).to_be_visible()
    assert page.evaluate("window.violations") == []
    assert window.wrong == []


def test_page_states_the_findings(page: Page, result: Result) -> None:
    expect(page).to_have_title("Changes in meaning between 1900s and 2000s")
    expect(page.get_by_role("heading", level=1)).to_have_text("Changes in meaning between 1900s and 2000s")
    expect(page.locator(".lede")).to_have_text(f"{result.headline()}.")
    assert result.count("changed") == 3
    expect(page.locator(".corpora li")).to_have_text(
        [
            re.compile(rf"{label}\s+{result.corpus(period)['words']:,} words in 1 file$")
            for label, period in (("1900s", "old"), ("2000s", "new"))
        ]
    )


def test_page_shows_the_first_word_of_the_ranking_first(page: Page, result: Result) -> None:
    first = result.table["word"][0]
    expect(heading(page)).to_have_text(first)
    expect(page.locator("#ranking tr.chosen th")).to_have_text(first)
    expect(page.locator("#overview a.chosen")).to_have_attribute("data-word", first)
    assert page.evaluate("scrollY") == 0


def test_table_has_the_words_and_the_numbers_of_the_result(page: Page, result: Result) -> None:
    assert ranking(page) == result.table["word"].tolist()
    for row, record in zip(rows(page).all(), result.table.to_dict("records"), strict=True):
        cells = row.locator("td")
        expect(cells.nth(1)).to_have_text(str(record["n_old"]))
        expect(cells.nth(2)).to_have_text(str(record["n_new"]))
        expect(cells.last).to_contain_text(record["verdict"])
        if record["word"] in TOO_FEW:
            assert cells.all_inner_texts()[0] == "–"
            expect(cells.last).to_contain_text("10 are needed in each corpus")
        else:
            expect(cells.nth(0)).to_contain_text(digits(record["score"]))
            expect(cells.nth(3)).to_have_text(f"{record['gap']:.3g}")
            expect(cells.nth(4)).to_have_text(chance(record["q"]))
    expect(page.locator("#ranking .forest svg")).to_have_count(len(PLANTED) - len(TOO_FEW))


def test_chart_has_a_dot_for_every_scored_word(page: Page, result: Result) -> None:
    words = page.locator("#overview a").evaluate_all("anchors => anchors.map((a) => a.dataset.word)")
    assert sorted(words) == sorted(result.scores.words)
    expect(page.locator("#overview circle.changed")).to_have_count(3)
    for verdict in ("differs", "unclear", "stable"):
        expect(page.locator(f"#overview circle.{verdict}")).to_have_count(result.count(verdict))


def test_curve_shows_the_rate_that_was_used(page: Page) -> None:
    expect(page.locator("#curve")).to_contain_text("rate used: 0.4")
    expect(page.locator("#curve path.line")).to_have_count(1)


def test_methods_and_settings_are_shown(page: Page) -> None:
    expect(page.locator("#text p")).to_have_count(6)
    expect(page.locator(".facts")).to_be_hidden()
    page.get_by_text("All settings").click()
    expect(page.locator(".facts")).to_be_visible()
    expect(page.locator(".facts tr", has=page.get_by_text("permutations", exact=True)).locator("td")).to_have_text(
        "199"
    )


# The table.


@pytest.mark.parametrize("key", COLUMNS)
def test_click_on_a_column_sorts_in_both_directions(page: Page, result: Result, key: str) -> None:
    button = header(page, key).get_by_role("button")
    down = key in DOWN_FIRST
    for turn in (down, not down):
        button.click()
        expect(header(page, key)).to_have_attribute("aria-sort", "descending" if turn else "ascending")
        expect(page.locator("#ranking thead [aria-sort]")).to_have_count(1)
        assert ranking(page) == ordered(result, key, turn)


def test_columns_sort_by_keyboard(page: Page, result: Result) -> None:
    for key, down in (("word", False), ("score", True), ("n_old", True), ("n_new", True), ("gap", True), ("q", False)):
        button = header(page, key).get_by_role("button")
        button.focus()
        page.keyboard.press("Enter")
        expect(header(page, key)).to_have_attribute("aria-sort", "descending" if down else "ascending")
        assert ranking(page) == ordered(result, key, down)
        page.keyboard.press("Space")
        expect(header(page, key)).to_have_attribute("aria-sort", "ascending" if down else "descending")
        assert ranking(page) == ordered(result, key, not down)
        expect(button).to_be_focused()


def test_words_with_too_few_usages_are_last_in_either_direction(page: Page) -> None:
    for key in ("gap", "q", "score"):
        for _ in range(2):
            header(page, key).get_by_role("button").click()
            assert set(ranking(page)[-3:]) == TOO_FEW


def test_filter_shows_the_matching_words_and_their_number(page: Page) -> None:
    box = page.get_by_label("Filter")
    expect(page.locator("#shown")).to_have_text("10 of 10")
    box.fill("AN")
    assert set(ranking(page)) == {"plane"}
    expect(page.locator("#shown")).to_have_text("1 of 10")
    box.fill(" naï ")
    assert ranking(page) == ["naïveté"]
    box.fill("no such word")
    assert ranking(page) == []
    expect(page.locator("#shown")).to_have_text("0 of 10")
    box.fill("")
    assert len(ranking(page)) == 10


def test_escape_clears_the_filter(page: Page) -> None:
    box = page.get_by_label("Filter")
    box.press_sequentially("pla")
    expect(page.locator("#shown")).to_have_text("1 of 10")
    box.press("Escape")
    expect(box).to_have_value("")
    expect(page.locator("#shown")).to_have_text("10 of 10")


def test_slash_focuses_the_filter_and_is_text_within_it(page: Page) -> None:
    box = page.get_by_label("Filter")
    page.keyboard.press("/")
    expect(box).to_be_focused()
    expect(box).to_have_value("")
    page.keyboard.press("/")
    expect(box).to_have_value("/")


def test_verdicts_can_be_chosen_with_their_numbers_of_words(page: Page, result: Result) -> None:
    shown = page.locator("#verdicts option").all_text_contents()
    assert shown == ["all", *(f"{v} ({result.count(v)})" for v in VERDICTS if result.count(v))]
    assert {"changed (3)", "too few (3)"} < set(shown)


@pytest.mark.parametrize("verdict", ["changed", "too few"])
def test_words_of_one_verdict_can_be_shown(page: Page, result: Result, verdict: str) -> None:
    page.get_by_label("Show").select_option(verdict)
    table = result.table
    wanted = table.loc[table["verdict"] == verdict, "word"].tolist()
    assert ranking(page) == wanted
    expect(page.locator("#shown")).to_have_text(f"{len(wanted)} of 10")
    page.get_by_label("Filter").fill(wanted[0])
    assert ranking(page) == wanted[:1]
    page.get_by_label("Show").select_option("all")
    page.get_by_label("Filter").fill("")
    assert len(ranking(page)) == 10


def test_filter_is_preserved_when_the_table_is_sorted(page: Page) -> None:
    page.get_by_label("Filter").fill("r")
    before = set(ranking(page))
    header(page, "word").get_by_role("button").click()
    assert ranking(page) == sorted(before)
    assert 0 < len(before) < 10


def test_arrow_keys_move_between_the_visible_words(page: Page) -> None:
    page.get_by_label("Show").select_option("too few")
    shown = ranking(page)
    link_of(page, shown[0]).focus()
    page.keyboard.press("ArrowDown")
    expect(link_of(page, shown[1])).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(link_of(page, shown[2])).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(link_of(page, shown[1])).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(link_of(page, shown[0])).to_be_focused()
    page.keyboard.press("Enter")
    expect(heading(page)).to_have_text(shown[0])


def test_click_anywhere_in_a_row_selects_its_word(page: Page) -> None:
    page.locator("#ranking tbody tr", has=page.get_by_text("bread", exact=True)).locator("td").nth(1).click()
    expect(heading(page)).to_have_text("bread")
    expect(page.locator("#ranking tr.chosen th")).to_have_text("bread")


# A word.


def shown_sentences(result: Result, word: str, period: str) -> list[str]:
    """Return the sentences in the order of the page: those that nearly repeat one before them come last."""
    sentences = result.word(word).usages(period)["sentence"].tolist()
    first = choose_varied(sentences, range(len(sentences)), 75).tolist()
    return [sentences[i] for i in first + [i for i in range(len(sentences)) if i not in first]]


@pytest.mark.parametrize("word", ["plane", "naïveté", "cell tower", "50% off"])
def test_clicked_word_shows_its_evidence(page: Page, result: Result, word: str) -> None:
    choose(page, word)
    assert hash_of(page) == f"word={word}"
    for side, period in enumerate(("old", "new")):
        items = page.locator(f"#word .evidence .{period} li")
        assert items.all_text_contents() == shown_sentences(result, word, period)
        assert items.locator("mark").all_text_contents() == [word] * PLANTED[word][side]
        expect(page.locator(f"#word svg path.usage.{period}")).to_have_count(PLANTED[word][side])
        expect(page.locator(f"#word .evidence .{period} li:visible")).to_have_count(6)
        expect(page.locator(f"#word .evidence .{period} h3")).to_contain_text(result.labels[side])
    expect(page.locator("#word svg circle.swap")).to_have_count(REPEATS)


def test_summary_of_a_word_has_the_numbers_of_the_table(page: Page, result: Result) -> None:
    for row in result.table.to_dict("records"):
        choose(page, row["word"])
        lines = page.locator("#word .saying").all_inner_texts()
        assert lines[0] == f"{row['verdict']} {row['reason']}."
        assert f"{row['n_old']} usage" in lines[-1]
        assert f" and {row['n_new']} usage" in lines[-1]
        if row["verdict"] == "too few":
            assert len(lines) == 2
            continue
        gap, low, high = (f"{row[name]:.3g}" for name in ("gap", "gap_low", "gap_high"))
        assert lines[1] == (
            f"On average, the cosine between a usage from 1900s and one from 2000s is {gap} (95 % interval {low} to "
            f"{high}) lower than between two usages of one corpus."
        )
        assert f"score {digits(row['score'])}, 95 % interval" in lines[2]
        p, q = (chance(row[name]) for name in "pq")
        assert re.search(rf"p [=≤] {p}, q = {q}\.", lines[2])


@pytest.fixture(scope="module")
def compared_page(result: Result, tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """Write the page of the result as if its words had been compared with control words."""
    gaps = dict(zip(result.scores.words, (0.344, 0.004, 0.0961, -0.0001, 0.02, 0.05, 0.01), strict=True))
    evidence = {
        word: Evidence(
            Gap(gap, gap - 0.1, gap + (0.06 if gap > 0 else 0.01), 0.1234), 40 * gap, max(0.0001, 1 - 4 * gap)
        )
        for word, gap in gaps.items()
    }
    backdrop = Backdrop(0.015, 150, 0.2, 0.016, is_calibrated=True)
    other = replace(result, evidence=evidence, backdrop=backdrop)
    return other, other.report(tmp_path_factory.mktemp("compared") / "report.html")


def test_gap_of_a_word_is_said_in_percentage_points(window: Window, compared_page: tuple[Result, Path]) -> None:
    result, file = compared_page
    page = window.open(file)
    words = list(result.scores.words)
    expect(page.locator(".background")).to_have_text(f"{result.background_note()}.")
    for word, size, interval, excess, rate in (
        (words[0], "34", "24 to 40", "13.8", "less than 0.001"),
        (words[1], "0.4", "-10 to 6.4", "0.2", "0.98"),
        (words[3], "0.0", "-10 to 1.0", "0.0", "1"),
    ):
        choose(page, word)
        lines = page.locator("#word .saying").all_inner_texts()
        assert lines[1] == (
            f"A usage from 1900s and one from 2000s are {size} percentage points (95 % interval {interval}) less "
            f"likely to share a sense than two usages of one corpus."
        )
        assert f"by {excess} of their standard deviations (excess)" in lines[2]
        assert f"with a probability of {rate} (local fdr)." in lines[2]
        row = rows(page).filter(has=page.get_by_role("link", name=word, exact=True))
        expect(row.locator(".gap")).to_have_text(f"{size} points")
        expect(row.locator(".excess")).to_have_text(excess)


def test_gaps_and_excess_are_the_same_with_and_without_a_script(
    window: Window, compared_page: tuple[Result, Path]
) -> None:
    _, file = compared_page
    texts = []
    variants: list[dict[str, Any]] = [{}, {"java_script_enabled": False}]
    for options in variants:
        page = window.open(file, **options)
        texts.append([page.locator(f"#ranking tbody .{kind}").all_inner_texts() for kind in ("gap", "excess", "q")])
    assert texts[0] == texts[1]
    assert len(texts[0][0]) == len(PLANTED) - len(TOO_FEW)


def test_words_that_appeared_or_disappeared_are_listed_with_a_sentence(window: Window, tmp_path: Path) -> None:
    words = {"plane": (25, 31, True), "telegraph": (24, 1, False), "wi-fi": (0, 28, True)}
    result = planted(tmp_path, words)
    page = window.open(result.report(tmp_path / "report.html"))
    listed = page.locator(".presence li")
    counted = listed.filter(has_not=page.get_by_role("link"))  # words that were not requested
    assert counted.locator("b").all_inner_texts() == [
        word for verdict in ("appeared", "disappeared") for word in appeared_words(result, verdict) if word not in words
    ]
    expect(counted).not_to_have_count(0)
    items = listed.filter(has=page.get_by_role("link"))
    expect(items).to_have_count(2)
    expect(items.nth(0)).to_contain_text("wi-fi appeared no occurrences in 1900s and 28 occurrences in 2000s")
    expect(items.nth(1)).to_contain_text("telegraph disappeared 24 occurrences in 1900s and 1 occurrence in 2000s")
    expect(items.locator("mark")).to_have_text(["wi-fi", "telegraph"])
    items.nth(0).get_by_role("link").click()
    expect(heading(page)).to_have_text("wi-fi")
    expect(page.locator("#word .saying").first).to_have_text(
        "appeared no occurrences in 1900s and 28 occurrences in 2000s."
    )
    expect(page.locator("#word .evidence .new li")).to_have_count(28)
    expect(page.locator("#ranking tr.appeared .said")).to_have_text("appeared frequent in one corpus only")
    expect(page.locator("#ranking tr.appeared .verdict")).to_have_attribute(
        "title", "no occurrences in 1900s and 28 occurrences in 2000s"
    )
    assert fits(page)


def test_page_reports_how_many_usages_of_a_frequent_word_it_contains(page: Page) -> None:
    choose(page, "river")
    expect(page.locator("#word path.usage.old")).to_have_count(MOST)
    expect(page.locator("#word .evidence .old li")).to_have_count(MOST)
    expect(page.locator("#word .evidence .old .hint")).to_have_text(f"This page shows {MOST} of 170 usages.")
    expect(page.locator("#word .evidence .new .hint")).to_have_count(0)


def test_arrow_starts_at_the_mean_of_all_usages_and_not_of_those_on_the_page(window: Window, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    old = [*sentences("mix", FARM, 150, rng), *sentences("mix", WIRE, 150, rng)]
    result = compared(tmp_path, old, sentences("mix", WIRE, 60, rng), ["mix"])
    page = window.open(result.report(tmp_path / "report.html"))
    marks = page.locator("#word path.usage.old")
    expect(marks).to_have_count(MOST)
    drawn = sorted(marks.evaluate_all("marks => marks.map((mark) => parseFloat(mark.getAttribute('d').slice(1)))"))
    held = sorted(usage[4] for usage in next(details(result))["usages"][0])
    slope, begin = np.polyfit(held, drawn, 1)
    plane = result.word("mix").plane
    assert plane is not None
    arrow = float(page.locator("#word line.shift").get_attribute("x1") or "nan")
    assert arrow == pytest.approx(begin + slope * plane.old[:, 0].mean(), abs=2)


def test_word_with_too_few_usages_shows_those_it_has(page: Page) -> None:
    choose(page, "rare")
    expect(page.locator("#word path.usage")).to_have_count(17)
    expect(page.locator("#word circle.swap")).to_have_count(0)
    choose(page, "gone")
    expect(page.locator("#word .evidence .old li")).to_have_count(11)
    expect(page.locator("#word .evidence > .new")).to_contain_text("No usage in this corpus.")
    expect(page.locator("#word svg")).to_have_count(0)
    choose(page, "absent")
    expect(page.locator("#word .evidence li")).to_have_count(0)


def test_show_all_shows_the_remaining_usages(page: Page) -> None:
    choose(page, "plane")
    page.locator("#word .evidence .old").get_by_role("button", name="Show all 25").click()
    expect(page.locator("#word .evidence .old li:visible")).to_have_count(25)
    expect(page.locator("#word .evidence .new li:visible")).to_have_count(6)
    expect(page.locator("#word .evidence .old").get_by_role("button")).to_have_count(0)


LONELIEST = """marks => {
  const at = marks.map((m) => { const b = m.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; });
  const lonely = at.map(([x, y], i) => Math.min(...at.map(([a, b], j) => (i === j ? 1e9 : Math.hypot(a - x, b - y)))));
  const best = lonely.indexOf(Math.max(...lonely));
  return { x: at[best][0], y: at[best][1], index: best };
}"""


@pytest.mark.parametrize("width", [1280, 390])
def test_hovered_point_shows_its_sentence(window: Window, file: Path, result: Result, width: int) -> None:
    page = window.open(file, "#word=plane", width)
    marks = page.locator("#word path.usage")
    page.locator("#word svg").first.scroll_into_view_if_needed()
    found = marks.evaluate_all(LONELIEST)
    page.mouse.move(found["x"], found["y"])
    tip = page.locator("#tip")
    expect(tip).to_be_visible()
    expect(marks.nth(found["index"])).to_have_class(re.compile(r"\bpointed\b"))
    expect(page.locator("#word path.pointed")).to_have_count(1)
    period = "old" if "old" in (marks.nth(found["index"]).get_attribute("class") or "") else "new"
    sentence = tip.locator("div").text_content()
    assert sentence in result.word("plane").usages(period)["sentence"].tolist()
    expect(tip.locator("mark")).to_have_text("plane")
    expect(tip.locator("small")).to_have_text(
        re.compile(rf"^{'1900s' if period == 'old' else '2000s'} {period}\.txt:\d+$")
    )
    assert page.locator("#word li.pointed").text_content() == sentence
    box = tip.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert fits(page)
    page.mouse.move(1, 1)
    expect(tip).to_be_hidden()
    expect(page.locator("#word .pointed")).to_have_count(0)


def test_hovered_dot_of_the_overview_shows_its_word(page: Page) -> None:
    page.locator('#overview a[data-word="plane"] circle').hover()
    expect(page.locator("#tip")).to_contain_text("plane: changed, change ")
    page.mouse.move(1, 1)
    expect(page.locator("#tip")).to_be_hidden()


def test_focused_sentence_marks_its_point(page: Page) -> None:
    choose(page, "plane")
    for period in ("old", "new"):
        page.locator(f"#word .evidence .{period} li").nth(2).focus()
        expect(page.locator("#word path.pointed")).to_have_count(1)
        expect(page.locator(f"#word path.{period}.pointed")).to_have_count(1)
    page.get_by_label("Filter").focus()
    expect(page.locator("#word path.pointed")).to_have_count(0)


def test_hovered_sentence_marks_its_point_and_the_next_one_another(page: Page) -> None:
    choose(page, "plane")
    places = []
    for i in range(3):
        page.locator("#word .evidence .new li").nth(i).hover()
        expect(page.locator("#word path.new.pointed")).to_have_count(1)
        places.append(page.locator("#word path.pointed").get_attribute("d"))
    assert len(set(places)) == 3


def test_sentences_of_a_corpus_are_one_tab_stop_with_arrow_keys(page: Page) -> None:
    choose(page, "plane")
    old, new = (page.locator(f"#word .evidence .{period} li") for period in ("old", "new"))
    old.first.focus()
    page.keyboard.press("ArrowDown")
    expect(old.nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(old.first).to_be_focused()
    for _ in range(8):
        page.keyboard.press("ArrowDown")
    expect(old.nth(5)).to_be_focused()  # the others are not shown
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Show all 25")).to_be_focused()
    page.keyboard.press("Tab")
    expect(new.first).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    expect(old.nth(5)).to_be_focused()


def test_selection_is_announced_in_a_status_line_and_not_by_the_whole_view(page: Page, result: Result) -> None:
    verdict = result.table.set_index("word")["verdict"]["bread"]
    expect(heading(page)).to_be_visible()
    expect(page.get_by_role("status").and_(page.locator("p"))).to_have_text("")
    choose(page, "bread")
    expect(page.get_by_role("status").and_(page.locator("p"))).to_have_text(f"Showing bread: {verdict}.")
    expect(page.locator("[aria-live]")).to_have_count(0)
    expect(page.locator("#ranking a[aria-current=true]")).to_have_text("bread")


def test_tooltip_describes_its_element(page: Page) -> None:
    link = page.locator('#overview a[data-word="plane"]')
    link.focus()
    expect(page.locator("#tip")).to_contain_text("plane: changed, change ")
    expect(link).to_have_attribute("aria-describedby", "tip")
    page.get_by_label("Filter").focus()
    expect(page.locator("#tip")).to_be_hidden()
    expect(page.locator("[aria-describedby]")).to_have_count(0)
    choose(page, "plane")
    cloud = page.locator("#word .chart svg").first
    cloud.scroll_into_view_if_needed()
    found = page.locator("#word path.usage").evaluate_all(LONELIEST)
    page.mouse.move(found["x"], found["y"])
    expect(page.locator("#word .chart svg").first).to_have_attribute("aria-describedby", "tip")


# Addresses.


@pytest.mark.parametrize("word", ["plane", "naïveté", "cell tower", "50% off", "absent"])
def test_link_to_a_word_opens_it(window: Window, file: Path, word: str) -> None:
    page = window.open(file, f"#word={quote(word, safe='')}")
    expect(heading(page)).to_have_text(word)
    expect(page.locator("#ranking tr.chosen th")).to_have_text(word)
    expect(heading(page)).to_be_in_viewport()


@pytest.mark.parametrize(
    "fragment", ["#word=unknown", "#word=%E0%A4%A", "#word=", "#nowhere", "#word=__proto__", "#word=Plane"]
)
def test_invalid_link_shows_the_first_word(window: Window, file: Path, result: Result, fragment: str) -> None:
    page = window.open(file, fragment)
    expect(heading(page)).to_have_text(result.table["word"][0])


def test_invalid_address_change_keeps_the_word(page: Page) -> None:
    choose(page, "bread")
    for fragment in ("word=unknown", "word=%E0%A4%A", "words"):
        page.evaluate("fragment => { location.hash = fragment; }", fragment)
        until(page, f"location.hash === '#{fragment}'")
        expect(heading(page)).to_have_text("bread")
    choose(page, "stone")


def test_back_button_returns_to_the_previous_word(page: Page) -> None:
    choose(page, "bread")
    choose(page, "50% off")
    choose(page, "naïveté")
    page.go_back()
    expect(heading(page)).to_have_text("50% off")
    page.go_back()
    expect(heading(page)).to_have_text("bread")
    expect(page.locator("#ranking tr.chosen th")).to_have_text("bread")
    page.go_forward()
    expect(heading(page)).to_have_text("50% off")


def test_back_button_returns_to_the_initial_page(page: Page, result: Result) -> None:
    choose(page, "bread")
    page.go_back()
    assert hash_of(page) == ""
    expect(heading(page)).to_have_text(result.table["word"][0])


def test_dot_of_the_overview_is_a_link(page: Page) -> None:
    page.locator('#overview a[data-word="plane"] circle').click()
    expect(heading(page)).to_have_text("plane")
    expect(page.locator("#overview a.chosen")).to_have_attribute("data-word", "plane")


def test_dots_of_the_overview_are_one_tab_stop_with_keyboard_navigation(page: Page) -> None:
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("#overview a").first).to_be_focused()
    page.keyboard.press("ArrowRight")
    second = page.locator("#overview a").nth(1)
    expect(second).to_be_focused()
    expect(second).to_have_attribute("aria-label", re.compile(r"^.+, (changed|differs|unclear|stable), change [\d.]+$"))
    page.keyboard.press("Enter")
    expect(heading(page)).to_have_text(second.get_attribute("data-word") or "")
    second.focus()
    page.keyboard.press("Tab")
    expect(page.locator("#overview .save")).to_be_focused()


def test_skip_link_goes_to_the_words(page: Page) -> None:
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("#words$"))
    expect(page.locator("#words")).to_be_in_viewport()


# Copying and saving.


def test_copy_button_copies_the_methods_or_selects_them(window: Window, file: Path) -> None:
    page = window.open(file, permissions=["clipboard-read", "clipboard-write"])
    button = page.get_by_role("button", name="Copy for a methods section")
    button.click()
    button = page.locator("button.copy")
    expect(button).to_have_text(re.compile("^(Copied|Selected)"))
    copied = "navigator.clipboard.readText()" if button.text_content() == "Copied" else "getSelection().toString()"
    text = page.evaluate(copied)
    assert text.split() == " ".join(page.locator("#text p").all_inner_texts()).split()


def test_without_a_clipboard_the_methods_are_selected_for_copying(window: Window, file: Path) -> None:
    page = window.open(file)
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.locator("button.copy").click()
    expect(page.locator("button.copy")).to_have_text("The text is selected: press Ctrl-C to copy it")
    assert "Semantic change was scored by a variant of SSCD" in page.evaluate("getSelection().toString()")


def saved(page: Page, frame: str) -> ET.Element:
    """Return a chart as the page saves it."""
    with page.expect_download() as waiting:
        page.locator(frame).get_by_role("button", name="Save SVG").click()
    assert waiting.value.suggested_filename.endswith(".svg")
    return ET.fromstring(Path(waiting.value.path()).read_bytes())


def test_chart_can_be_saved_as_a_self_contained_picture(page: Page) -> None:
    picture = saved(page, "#overview .chart")
    svg = "{http://www.w3.org/2000/svg}"
    assert picture.tag == f"{svg}svg"
    dots = list(picture.iter(f"{svg}circle"))
    assert len(dots) == 7
    assert all(dot.get("fill", "").startswith("rgb(") for dot in dots)
    assert "plane" in {text.text for text in picture.iter(f"{svg}text")}


@pytest.mark.parametrize(
    "frame", ["#curve .chart", "#word .pair > div:nth-child(1) .chart", "#word .pair > div:nth-child(2) .chart"]
)
def test_every_chart_can_be_saved(window: Window, file: Path, frame: str) -> None:
    page = window.open(file, "#word=50%25%20off")
    picture = saved(page, frame)
    assert len(list(picture.iter())) > 10


# Appearance.


def background(page: Page, selector: str) -> str:
    return str(page.locator(selector).first.evaluate("node => getComputedStyle(node).backgroundColor"))


def brightness(colour: str) -> float:
    return float(np.mean([int(part) for part in re.findall(r"\d+", colour)[:3]]))


def test_page_is_dark_if_the_system_prefers_dark(window: Window, file: Path) -> None:
    light, dark = (window.open(file, color_scheme=scheme) for scheme in ("light", "dark"))
    for selector in ("body", "#words", "#word", "figure", ".methods"):
        assert brightness(background(light, selector)) > 230
        assert brightness(background(dark, selector)) < 60
    ink = "node => getComputedStyle(node).color"
    assert brightness(light.locator("body").evaluate(ink)) < 60
    assert brightness(dark.locator("body").evaluate(ink)) > 200


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_printed_page_is_white_and_has_no_interactive_elements(window: Window, file: Path, scheme: str) -> None:
    page = window.open(file, color_scheme=scheme)
    page.emulate_media(media="print", color_scheme=scheme)  # type: ignore[arg-type]
    for hidden in ("#filter", "#verdicts", "#shown", ".copy", ".save"):
        expect(page.locator(hidden).first).to_be_hidden()
    for selector in ("body", "#words", "#word", "figure", ".methods", "#ranking tr.chosen"):
        assert background(page, selector) in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")
    assert background(page, "body") == "rgb(255, 255, 255)"
    assert brightness(page.locator("body").evaluate("node => getComputedStyle(node).color")) == 0
    inner = page.locator("#words .scroll")
    assert inner.evaluate("node => node.scrollHeight <= node.clientHeight + 1"), "rows are cut off"


@pytest.mark.parametrize("width", [1440, 1024, 390, 320])
def test_page_is_never_wider_than_the_window(window: Window, file: Path, width: int) -> None:
    page = window.open(file, "#word=plane", width)
    expect(page.locator("#word path.usage")).to_have_count(56)
    assert fits(page)
    page.get_by_text("All settings").click()
    assert fits(page)


@pytest.fixture(scope="module")
def long_names_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of corpora and words with very long unbreakable names."""
    words = {"x" * 200: (12, 12, True), "plane": (12, 14, True), "y" * 150: (3, 2, False)}
    labels = ("British_newspapers_" * 8, "Verkehrsinfrastrukturfinanzierungsgesellschaft" * 3)
    folder = tmp_path_factory.mktemp("lengthy")
    return planted(folder, words, labels=labels).report(folder / "report.html")


@pytest.mark.parametrize("width", [1440, 390, 320])
@pytest.mark.parametrize("word", ["plane", "x" * 200])
def test_very_long_names_do_not_widen_the_page(window: Window, long_names_page: Path, width: int, word: str) -> None:
    page = window.open(long_names_page, f"#word={word}", width)
    expect(heading(page)).to_have_text(word)
    page.get_by_text("All settings").click()
    assert fits(page)


@pytest.mark.parametrize("width", [1440, 390, 320])
def test_very_long_words_do_not_widen_the_page(window: Window, tmp_path: Path, width: int) -> None:
    words = {"x" * 200: (12, 12, True), "y" * 150: (3, 2, False)}
    page = window.open(planted(tmp_path, words, repeats=2).report(tmp_path / "report.html"), width=width)
    for word in words:
        choose(page, word)
        assert fits(page)


def test_long_corpus_names_do_not_push_the_verdicts_out_of_view(window: Window, tmp_path: Path) -> None:
    labels = ("British newspapers and magazines, 1890-1910 (cleaned)", "Web forum posts and comments, 2010 to 2019")
    result = planted(
        tmp_path, {"plane": (14, 14, True), "bread": (15, 15, False), "rare": (14, 3, False)}, labels=labels
    )
    page = window.open(result.report(tmp_path / "report.html"), width=1440)
    assert page.locator("#words .scroll").evaluate("node => node.scrollWidth <= node.clientWidth")


@pytest.mark.parametrize("width", [1440, 390])
def test_long_word_does_not_push_the_verdicts_out_of_view(window: Window, tmp_path: Path, width: int) -> None:
    words = {"donaudampfschifffahrtselektrizitätenhauptbetriebswerk": (12, 12, True), "rare": (14, 3, False)}
    page = window.open(planted(tmp_path, words, repeats=2).report(tmp_path / "report.html"), width=width)
    assert page.locator("#words .scroll").evaluate("node => node.scrollWidth <= node.clientWidth")


def test_phone_shows_the_whole_verdict(window: Window, file: Path) -> None:
    page = window.open(file, width=390)
    assert page.locator("#words .scroll").evaluate("node => node.scrollWidth <= node.clientWidth")


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("selector", "name"),
    [
        ("#overview .axis .grid", "stroke"),
        ("#overview .axis text", "fill"),
        ("#overview .dot.differs", "fill"),
        ("#overview .dot.unclear", "stroke"),
        ("#overview .dot.stable", "fill"),
        ("#overview .dot.changed", "fill"),
        ("#overview .save", "color"),
        ("#ranking thead button", "color"),
    ],
)
def test_lines_arrows_and_dots_have_enough_contrast(
    window: Window, compared_page: tuple[Result, Path], scheme: str, selector: str, name: str
) -> None:
    page = window.open(compared_page[1], color_scheme=scheme)
    colour = page.locator(selector).first.evaluate("(node, name) => getComputedStyle(node)[name]", name)
    levels = sorted(luminance(found) + 0.05 for found in (colour, background(page, "#words")))
    assert levels[1] / levels[0] >= 3


def test_save_buttons_of_charts_are_visible_without_hovering(page: Page) -> None:
    choose(page, "plane")
    saves = page.locator(".save")
    expect(saves).to_have_count(4)
    assert saves.evaluate_all("all => all.every((e) => e.checkVisibility({ opacityProperty: true }))")


def test_search_for_the_swap_rate_is_in_the_methods(page: Page) -> None:
    expect(page.locator(".methods #curve svg")).to_have_count(1)
    expect(page.locator("#curve svg")).not_to_be_in_viewport()


def test_charts_follow_the_width_of_the_window(page: Page) -> None:
    choose(page, "plane")
    before = page.locator("#overview svg").get_attribute("width")
    page.set_viewport_size({"width": 500, "height": 900})
    expect(page.locator("#overview svg")).not_to_have_attribute("width", before or "")
    expect(page.locator("#word path.usage")).to_have_count(56)
    page.locator("#word .evidence .old li").first.hover()
    expect(page.locator("#word path.pointed")).to_have_count(1)
    assert fits(page)


def test_selected_word_stays_marked_when_the_window_becomes_narrower(page: Page) -> None:
    choose(page, "plane")
    before = page.locator("#overview svg").get_attribute("width")
    page.set_viewport_size({"width": 500, "height": 900})
    expect(page.locator("#overview svg")).not_to_have_attribute("width", before or "")
    expect(page.locator("#overview a.chosen")).to_have_attribute("data-word", "plane")


def test_every_dot_of_the_swap_chart_is_inside_the_chart(window: Window, tmp_path: Path) -> None:
    same = ["the same bank here"] * 12
    result = compared(tmp_path, same, [*same, "more"], ["bank"], repeats=20)
    page = window.open(result.report(tmp_path / "report.html"))
    dots = page.locator("#word circle.swap")
    expect(dots).to_have_count(20)
    assert min(dots.evaluate_all("dots => dots.map((dot) => Number(dot.getAttribute('cy')))")) >= 0


# Without JavaScript, without words, with one word, and with many.


def test_without_javascript_the_table_and_the_methods_are_readable(window: Window, file: Path, result: Result) -> None:
    page = window.open(file, java_script_enabled=False)
    assert ranking(page) == result.table["word"].tolist()
    expect(rows(page).first.locator(".verdict")).to_be_visible()
    expect(page.locator("#text p")).to_have_count(6)
    expect(page.locator("#text p").first).to_be_visible()
    expect(page.locator("noscript p")).to_be_visible()


def test_without_javascript_the_intervals_are_readable(window: Window, file: Path, result: Result) -> None:
    page = window.open(file, java_script_enabled=False)
    first = result.table.iloc[0]
    interval = f"{digits(first['low'])} to {digits(first['high'])}"
    expect(rows(page).first.get_by_text(interval)).to_be_visible()


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of a comparison in which no word has enough usages."""
    folder = tmp_path_factory.mktemp("empty")
    result = planted(folder, {"plane": (3, 4, True), "gone": (2, 0, False)})
    assert result.count("too few") == 2
    return result.report(folder / "report.html")


def test_page_without_a_scored_word_says_so(window: Window, empty: Path) -> None:
    page = window.open(empty)
    assert sorted(ranking(page)) == ["gone", "plane"]
    expect(page.locator(".lede")).to_contain_text(re.compile("too (few|rarely)"))
    choose(page, "plane")
    expect(page.locator("#word .saying").first).to_contain_text("too few 3 usages in 1900s and 4 usages in 2000s")
    expect(page.locator("#word path.usage")).to_have_count(7)
    for key in COLUMNS:
        header(page, key).get_by_role("button").click()
    assert sorted(ranking(page)) == ["gone", "plane"]


def test_page_without_a_scored_word_has_no_empty_charts(window: Window, empty: Path) -> None:
    page = window.open(empty)
    expect(page.locator("#word h2")).to_be_visible()
    expect(page.locator(".overview")).to_be_hidden()


def test_page_with_one_word_works(window: Window, tmp_path: Path) -> None:
    result = planted(tmp_path, {"plane": (15, 15, True)})
    page = window.open(result.report(tmp_path / "report.html"))
    expect(page.locator(".lede")).to_have_text(f"{result.headline()}.")
    expect(heading(page)).to_have_text("plane")
    expect(page.locator("#overview a")).to_have_count(1)
    expect(page.locator("#shown")).to_have_text("1 of 1")
    link_of(page, "plane").focus()
    page.keyboard.press("ArrowDown")
    expect(link_of(page, "plane")).to_be_focused()


@pytest.mark.parametrize("other", ["the same bank here", "another odd bank there"])
def test_word_that_is_always_in_the_same_sentence_has_a_page(window: Window, tmp_path: Path, other: str) -> None:
    result = compared(tmp_path, ["the same bank here"] * 12, [other] * 11 + ["and"], ["bank"])
    page = window.open(result.report(tmp_path / "report.html"))
    expect(heading(page)).to_have_text("bank")
    expect(page.locator("#word path.usage")).to_have_count(23)
    assert "NaN" not in page.locator("body").evaluate("node => node.innerHTML.replace(/<script[^]*/, '')")


def test_page_with_two_hundred_words_loads_and_filters(window: Window, tmp_path: Path) -> None:
    words = {f"word{i:03d}": (10, 10, i % 4 == 0) for i in range(200)}
    result = planted(tmp_path, words, permutations=19, resamples=2, repeats=2)
    page = window.open(result.report(tmp_path / "report.html"))
    expect(page.locator("#shown")).to_have_text("200 of 200")
    expect(page.locator("#overview a")).to_have_count(200)
    page.get_by_label("Filter").fill("word19")
    assert sorted(ranking(page)) == [f"word{i}" for i in range(190, 200)]
    header(page, "word").get_by_role("button").click()
    choose(page, "word196")
    expect(page.locator("#word path.usage")).to_have_count(20)


def test_script_formats_numbers_like_the_table(browser: Browser) -> None:
    source = files("lexshift.report").joinpath("assets", "base.js").read_text("utf-8")
    values = [0.0, 0.000123, 0.00999, 0.0123456, 0.5, 0.99951, 1.0, 9.5757, 94.007, 173.1, 12345.6, 123456789.0]
    values += [0.00005, 1.2e-7, 1.5e9, 2.5e12, 0.3125, 6.125, 6.375, 100.5, 101.5, 1.005]  # ties among them
    chances = [1.0, 0.983, 0.0501, 0.05, 0.00151, 0.001, 0.00099, 0.00022, 0.0001, 0.0625, 0.1875, 0.9375, 0.0125]
    page = browser.new_page()
    page.set_content('<script type="application/json" id="data">{"labels": ["a", "b"]}</script><div id="tip"></div>')
    call = f"([values, chances]) => {{ {source}; return [values.map(digits), chances.map(chance)]; }}"
    written, chanced = page.evaluate(call, [values, chances])
    page.close()
    assert written == [digits(value) for value in values]
    assert chanced == [chance(value) for value in chances]


# Hostile text.

HOSTILE = [
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    "<svg/onload=window.hacked=1>",
    "<!--",
    "-->",
    "]]>",
    "&amp;",
    "&lt;b&gt;",
    "\"'`><b",
    "\\u003cscript\\u003e",
    "back\\slash\\",
    "javascript:window.hacked=1",
    "__proto__",
    "constructor",
    "toString",
    "{{7*7}}",
    "{%raw%}",
    "${7*7}",
    "%E0%A4%A",
    "a#word=b",
    "‮reversed",
    "مرحبا",
    "שלום",
    "zero\u200bwidth",
    "noncharacter\ufffe",
    "#",
    "=1+1",
]
NASTY = [
    *HOSTILE,
    "bell\x07",
    "escape\x1b[31m",
    "line\u2028separator",
    "paragraph\u2029separator",
    "‮ ⁦ ‭",
    "\x01\x02\x08",
    "\ufeff\ufffe",
    "a\x85b",
]
LABELS = ("<script>window.hacked=1</script>", "</title><img src=x onerror=window.hacked=1>&amp;\"'\\ ]]>")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Compare words, sentences, file names and corpus names that contain code."""
    rng = np.random.default_rng(1)
    folder = tmp_path_factory.mktemp("<b>hostile")
    places = []
    for period, contexts in (("old", FARM), ("new", WIRE)):
        place = folder / f"{period}<img src=x onerror=window.hacked=1>&amp;\"'" / "<"
        place.mkdir(parents=True)
        lines = [
            f"{rng.choice(contexts)} {NASTY[(i + n) % len(NASTY)]} {word} {NASTY[(2 * i + n) % len(NASTY)]} {n}"
            for i, word in enumerate(HOSTILE)
            for n in range(10)
        ]
        (place / "script><script>window.hacked=1 & ‮.txt").write_bytes(("\n".join(lines) + "\n").encode())
        places.append(place.parent)
    return compared_files(places[0], places[1], HOSTILE, match="token", labels=LABELS, max_per_word=None)


@pytest.fixture(scope="module")
def hostile_file(hostile: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile.report(tmp_path_factory.mktemp("hostile-page") / "report.html")


def harmless(page: Page) -> None:
    """Check that nothing foreign was inserted into the page."""
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("window.violations") == []
    kinds = page.evaluate("[...document.scripts].map((script) => script.type)")
    assert set(kinds[1:-1]) == {"application/octet-stream"}
    assert (kinds[0], kinds[-1]) == ("application/json", "")
    assert (
        page.evaluate("document.querySelectorAll('img, iframe, object, embed, video, audio, base, form').length") == 0
    )
    attributes = "[...document.querySelectorAll('*')].flatMap((node) => node.getAttributeNames())"
    assert not [name for name in set(page.evaluate(attributes)) if name.startswith("on")]
    links = "[...document.querySelectorAll('[href]')].map((node) => node.getAttribute('href'))"
    assert all(link.startswith("#") or link == "data:," for link in page.evaluate(links))


def test_hostile_words_and_names_are_shown_as_text(window: Window, hostile: Result, hostile_file: Path) -> None:
    page = window.open(hostile_file)
    assert page.locator("#ranking tbody th").all_text_contents() == hostile.table["word"].tolist()
    expect(page).to_have_title(f"Changes in meaning between {LABELS[0]} and {LABELS[1]}")
    assert page.locator("h1 bdi").all_text_contents() == list(LABELS)
    assert page.locator(".lede").text_content() == f"{hostile.headline()}."
    assert "49" not in page.locator("#ranking tbody").evaluate(
        "node => [...node.rows].map((r) => r.cells[0].textContent)"
    )
    harmless(page)


def test_hostile_words_can_be_selected_and_their_sentences_read(
    window: Window, hostile: Result, hostile_file: Path
) -> None:
    page = window.open(hostile_file)
    links = page.locator("#ranking tbody th a")
    for i, word in enumerate(hostile.table["word"]):
        links.nth(i).evaluate("link => link.click()")
        expect(page.locator("#ranking tr.chosen")).to_have_attribute("data-index", str(i))
        assert heading(page).text_content() == word
        for period in ("old", "new"):
            items = page.locator(f"#word .evidence .{period} li")
            assert items.all_text_contents() == shown_sentences(hostile, word, period)
            assert set(items.locator("mark").all_text_contents()) == {word}
            titles = items.evaluate_all("items => items.map((item) => item.title)")
            assert all(title.startswith("</script><script>window.hacked=1 & ‮.txt:") for title in titles)
    harmless(page)


@pytest.mark.parametrize("word", [HOSTILE[1], "__proto__", "constructor", "%E0%A4%A", "a#word=b", "‮reversed"])
def test_hostile_word_can_be_linked_to(window: Window, hostile_file: Path, word: str) -> None:
    page = window.open(hostile_file, f"#word={quote(word, safe='')}")
    assert heading(page).text_content() == word
    harmless(page)


def test_hostile_text_in_a_tooltip_is_text(window: Window, hostile_file: Path) -> None:
    page = window.open(hostile_file, f"#word={quote(HOSTILE[2], safe='')}")
    page.locator("#word svg").first.scroll_into_view_if_needed()
    found = page.locator("#word path.usage").evaluate_all(LONELIEST)
    page.mouse.move(found["x"], found["y"])
    expect(page.locator("#tip")).to_be_visible()
    assert page.locator("#tip mark").text_content() == HOSTILE[2]
    assert "</script><script>window.hacked=1 & ‮.txt:" in (page.locator("#tip small").text_content() or "")
    page.locator("#overview a circle").first.hover()
    harmless(page)


def test_hostile_text_can_be_used_as_a_filter(window: Window, hostile_file: Path) -> None:
    page = window.open(hostile_file)
    page.get_by_label("Filter").fill("<img src=x onerror=window.hacked=1>")
    assert page.locator("#ranking tbody tr:visible th").all_text_contents() == ["<img src=x onerror=window.hacked=1>"]
    harmless(page)


def test_charts_with_hostile_text_can_be_saved(window: Window, tmp_path: Path) -> None:
    words = [word for word in HOSTILE if word.isprintable() or "‮" in word]
    lines = {
        side: [f"{context} {word} {i}" for word in words for i in range(10) for context in contexts[i % 6 : i % 6 + 1]]
        for side, contexts in (("old", FARM), ("new", WIRE))
    }
    result = compared(tmp_path, lines["old"], lines["new"], words, match="token", labels=LABELS)
    page = window.open(result.report(tmp_path / "report.html"))
    picture = saved(page, "#overview .chart")
    anchors = [node for node in picture.iter() if node.tag.endswith("}a")]
    assert sorted(node.get("data-word") or "" for node in anchors) == sorted(words)
    harmless(page)


def test_charts_with_characters_that_xml_forbids_can_be_saved(window: Window, hostile_file: Path) -> None:
    page = window.open(hostile_file)
    picture = saved(page, "#overview .chart")
    assert len([node for node in picture.iter() if node.tag.endswith("}a")]) == len(HOSTILE)


READS_ON = """([selector, words]) => {
  const walker = document.createTreeWalker(document.querySelector(selector), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const at = walker.currentNode.data.indexOf(words);
    if (at < 0) continue;
    const [first, second] = [0, 1].map((i) => {
      const range = document.createRange();
      range.setStart(walker.currentNode, at + i);
      range.setEnd(walker.currentNode, at + i + 1);
      return range.getBoundingClientRect();
    });
    return first.left < second.left;
  }
  return null;
}"""


@pytest.fixture(scope="module")
def direction_override_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of corpora whose names contain direction overrides."""
    folder = tmp_path_factory.mktemp("turning")
    words = {"plane": (12, 12, True), "rare": (3, 2, False)}
    return planted(folder, words, labels=("‮old", "‮new")).report(folder / "report.html")


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        ("h1", "between"),
        (".lede", "too few"),
        (".corpora", "words in"),
        ("#text", "running words"),
        ("#ranking .reason", "needed"),
        ("#word .evidence .new h3", "typical of"),
        ("#word .saying + .saying", "lower than between"),
        ("#word .saying ~ .saying ~ .saying ~ .saying", "per million"),
    ],
)
def test_name_with_a_direction_override_affects_only_itself(
    window: Window, direction_override_page: Path, selector: str, words: str
) -> None:
    page = window.open(direction_override_page)
    expect(heading(page)).to_be_visible()
    assert page.evaluate(READS_ON, [selector, words]) is True


def test_very_long_sentence_does_not_break_the_page(window: Window, tmp_path: Path) -> None:
    solid, loose = "x" * 100_000, "lorem ipsum " * 8_500
    old = [f"{solid} the bank {solid} {i}" for i in range(12)]
    new = [f"{loose} the bank {loose} {i}" for i in range(12)]
    file = compared(tmp_path, old, new, ["bank"]).report(tmp_path / "report.html")
    assert file.stat().st_size < 100_000
    page = window.open(file)
    for period in ("old", "new"):
        lengths = [len(text) for text in page.locator(f"#word .evidence .{period} li").all_text_contents()]
        assert len(lengths) == 12
        assert max(lengths) < 400
    assert fits(page)


def test_file_name_without_a_valid_encoding_is_shown(window: Window, tmp_path: Path) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    try:
        path = Path(str(folder / "b") + "\udcff.txt")
        path.write_text("the bank of old\n" * 3)
    except (OSError, UnicodeEncodeError):
        pytest.skip("this file system has only names that are text")
    (tmp_path / "new.txt").write_text("the bank of new\n" * 3)
    result = compared_files(folder, tmp_path / "new.txt", ["bank"])
    page = window.open(result.report(tmp_path / "report.html"))
    expect(page.locator("#word .evidence .old li").first).to_have_attribute("title", "b\\xff.txt:1")


# The policy.


INJECTIONS = {
    "an inline script": (
        "const s = document.createElement('script'); s.textContent = 'window.hacked = 1'; document.body.append(s);",
        "script-src-elem",
    ),
    "an event handler": (
        "document.body.setAttribute('onclick', 'window.hacked = 1'); document.body.click();",
        "script-src-attr",
    ),
    "a javascript link": (
        "const a = document.createElement('a'); a.href = 'javascript:void(window.hacked=1)'; document.body.append(a);"
        " a.click();",
        "script-src-elem",
    ),
    "markup with a handler": (
        "document.body.insertAdjacentHTML('beforeend', '<img src=\"data:,\" onerror=\"window.hacked=1\">');",
        "script-src-attr",
    ),
    "an external script": (
        "const s = document.createElement('script'); s.src = 'https://example.invalid/x.js'; document.body.append(s);",
        "script-src-elem",
    ),
    "an external image": ("new Image().src = 'https://example.invalid/x.png';", "img-src"),
    "an external style": (
        "const l = document.createElement('link'); l.rel = 'stylesheet'; l.href = 'https://example.invalid/x.css';"
        " document.head.append(l);",
        "style-src-elem",
    ),
    "an inline style": ("document.body.setAttribute('style', 'color: red');", "style-src-attr"),
    "a fetch": ("fetch('https://example.invalid/x').catch(() => {});", "connect-src"),
    "a socket": ("try { new WebSocket('wss://example.invalid/x'); } catch {}", "connect-src"),
    "a frame": (
        "const f = document.createElement('iframe'); f.src = 'https://example.invalid/'; document.body.append(f);",
        "frame-src",
    ),
    "a form": (
        "const f = document.createElement('form'); f.action = 'https://example.invalid/'; document.body.append(f);"
        " f.submit();",
        "form-action",
    ),
    "a base": (
        "const b = document.createElement('base'); b.href = 'https://example.invalid/'; document.head.append(b);",
        "base-uri",
    ),
}


TRUSTED_TYPES = "require-trusted-types-for"


@pytest.fixture(scope="module")
def page_without_trusted_types(file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page without trusted types, which would block some attempts before the sources are checked."""
    other = tmp_path_factory.mktemp("untyped") / "report.html"
    typed = file.read_text("utf-8")
    text = typed.replace(f"; {TRUSTED_TYPES} &#39;script&#39;; trusted-types &#39;none&#39;", "", 1)
    assert text != typed
    other.write_text(text, "utf-8")
    return other


@pytest.mark.parametrize("kind", list(INJECTIONS))
@pytest.mark.parametrize("typed", [False, True])
def test_content_security_policy_blocks_injected_content(
    window: Window, file: Path, page_without_trusted_types: Path, kind: str, typed: bool
) -> None:
    code, directive = INJECTIONS[kind]
    if typed and kind in {"an inline script", "an event handler", "markup with a handler", "an external script"}:
        directive = TRUSTED_TYPES
    page = window.open(file if typed else page_without_trusted_types)
    expect(heading(page)).to_be_visible()
    assert page.evaluate("window.violations") == []
    page.evaluate(f"() => {{ try {{ {code} }} catch {{ }} }}")
    until(page, "window.violations.length > 0")
    assert page.evaluate("window.violations")[0] == directive
    assert page.evaluate("window.hacked") is None
    page.goto("about:blank")
    beyond = [wrong for wrong in window.wrong if "example.invalid" not in wrong and not wrong.startswith("console: ")]
    assert beyond == []
    window.wrong.clear()  # the browser reports blocked content on its console


@pytest.mark.parametrize("kind", ["an inline script", "an event handler", "a javascript link"])
def test_without_the_policy_the_injections_would_succeed(browser: Browser, kind: str) -> None:
    page = browser.new_page()
    page.evaluate(f"() => {{ {INJECTIONS[kind][0]} }}")
    until(page, "window.hacked === 1")
    assert page.evaluate("window.hacked") == 1
    page.close()


# Text of the ranking cells whose content is wider than the cell.
OVERFLOWING = """() => [...document.querySelectorAll("#ranking tr > *")].map((cell) => {
  if (!cell.getClientRects().length) return null;
  const range = document.createRange();
  range.selectNodeContents(cell);
  const [inner, outer] = [range.getBoundingClientRect(), cell.getBoundingClientRect()];
  return inner.left < outer.left - 0.5 || inner.right > outer.right + 0.5 ? cell.innerText : null;
}).filter((found) => found !== null)"""


# Words of some elements that are broken over two lines.
BROKEN_WORDS = """all => all.flatMap((node) => [...node.textContent.matchAll(/\\S+/g)].map((word) => {
  const range = document.createRange();
  range.setStart(node.firstChild, word.index);
  range.setEnd(node.firstChild, word.index + word[0].length);
  return new Set([...range.getClientRects()].map((box) => box.top)).size > 1 ? word[0] : null;
})).filter((word) => word !== null)"""


@pytest.fixture(scope="module")
def long_numbers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a page whose p and q have all the digits that the table shows."""
    folder = tmp_path_factory.mktemp("long")
    words = {"plane": (25, 31, True), "naïveté": (14, 15, True), "unquestionably": (18, 12, False)}
    result = planted(folder, words, permutations=40_000, resamples=10)
    assert result.table["q"].min() < 0.0001
    return result.report(folder / "report.html")


@pytest.fixture(scope="module")
def with_reasons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a page of words with too few usages, in corpora with long names."""
    folder = tmp_path_factory.mktemp("reasons")
    words = {"plane": (25, 31, True), "telecommunications": (3, 2, False), "rare": (14, 3, False)}
    labels = ("British newspapers 1950s", "Web forums 2010s")
    return planted(folder, words, labels=labels).report(folder / "report.html")


@pytest.mark.parametrize("width", [1024, 1100, 1280, 1366, 1400, 1440, 1920])
@pytest.mark.parametrize("which", ["long_numbers", "with_reasons"])
def test_cells_do_not_overlap_words_do_not_break_and_reasons_are_not_cut(
    request: pytest.FixtureRequest, which: str, window: Window, width: int
) -> None:
    page = window.open(request.getfixturevalue(which), width=width)
    assert page.evaluate(OVERFLOWING) == []
    whole = "all => all.every((e) => e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight)"
    assert page.locator("#ranking .said").evaluate_all(whole)
    assert page.locator("#ranking tbody th bdi").evaluate_all("all => Math.max(...all.map((e) => e.offsetHeight))") < 30
    assert page.locator("#ranking thead bdi").evaluate_all(BROKEN_WORDS) == []
    if which == "with_reasons":
        expect(page.locator("#ranking .too-few .reason")).to_have_text(["10 are needed in each corpus"] * 2)


@pytest.mark.parametrize("width", [1280, 1440])
@pytest.mark.parametrize("which", ["file", "long_numbers"])
def test_intervals_of_the_table_are_visible_and_have_the_same_scale(
    request: pytest.FixtureRequest, which: str, window: Window, width: int
) -> None:
    page = window.open(request.getfixturevalue(which), width=width)
    size = "all => all.map((e) => e.getBoundingClientRect()).map((b) => [Math.round(b.left), Math.round(b.width)])"
    places = page.locator("#ranking .forest svg").evaluate_all(size)
    assert len({tuple(place) for place in places}) == 1
    assert places[0][1] >= 65
    widths = "all => all.map((e) => e.getBoundingClientRect().width)"
    whiskers = page.locator("#ranking .whisker").evaluate_all(widths)
    dots = page.locator("#ranking .forest .dot").evaluate_all(widths)
    assert max(whiskers) > 1.5 * max(dots)


@pytest.mark.parametrize("width", [1280, 700])
def test_axis_names_of_the_scatter_plot_are_outside_the_points(file: Path, window: Window, width: int) -> None:
    page = window.open(file, "#word=river", width=width)
    expect(heading(page)).to_have_text("river")
    boxes = """all => all.map((e) => e.getBoundingClientRect()).map((b) => [b.left, b.top, b.right, b.bottom])"""
    names = page.locator("#word .chart .axis text").filter(has_text=re.compile("component")).evaluate_all(boxes)
    points = page.locator("#word .usage").evaluate_all(boxes)
    assert len(names) == 2
    for left, top, right, bottom in names:
        assert not [b for b in points if b[0] < right and left < b[2] and b[1] < bottom and top < b[3]]
