"""Test the senses on the pages: their data, and in a browser the cards, the marks, the stream and the filter."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from planted_senses import PLANTED, PlantedEncoder, UncalibratedEncoder, write_corpora

from lexshift import Result, Trace, find_senses
from lexshift.report.comparison import details
from lexshift.report.methods import methods
from lexshift.report.senses import sense_values
from lexshift.report.trace import content

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

HOSTILE = '</script><img src=x onerror="window.hurt = 1">'
WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.effectiveDirective));
"""
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def found(folder: Path, periods: int, **options: Any) -> Result | Trace:
    files = write_corpora(folder, periods)
    lines = files[0].read_text("utf-8").splitlines()
    lines[0] = f"{HOSTILE} cheese mouse tail"
    files[0].write_text("\n".join(lines) + "\n", "utf-8")
    planted: dict[str, Any] = {"words": list(PLANTED), "model": PlantedEncoder(), "monitor": False, "split": "lines"}
    return find_senses(*files, **(planted | options))


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return found(tmp_path_factory.mktemp("two"), 2)


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return found(tmp_path_factory.mktemp("three"), 3)


# ----------------------------------------------------------------------------------------------------------------- data


def test_senses_of_a_word_are_plain_values(result: Result) -> None:
    animal, device = sense_values(result, "mouse")
    assert (animal["number"], animal["change"], device["change"]) == (1, "shrank", "gained")
    assert device["shares"][0][:2] == [0, 0.0]
    n, share, low, high = device["shares"][1]
    assert (n, share) == (20, 0.667)
    assert low < share < high
    assert dict(device["description"])["Distinctive words"]
    assert all(period == 1 and word == "mouse" for _, word, _, _, period in device["examples"])
    assert "known" not in device  # there is no inventory
    assert sense_values(result, "rare") == []


def test_usages_on_the_page_have_their_sense(result: Result) -> None:
    words = dict(zip(result.table["word"], details(result), strict=True))
    senses = [[usage[7] for usage in side] for side in words["mouse"]["usages"]]
    assert [side.count(2) for side in senses] == [0, 20]
    assert "senses" not in words["rare"]
    assert all(len(usage) == 7 for side in words["rare"]["usages"] for usage in side)


def test_examples_of_senses_are_on_a_page_that_holds_few_usages(
    result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lexshift.report.comparison._MAX_USAGES", 6)
    words = dict(zip(result.table["word"], details(result), strict=True))
    shown = {usage[6] for side in words["mouse"]["usages"] for usage in side}
    assert len(words["mouse"]["usages"][0]) < 30
    assert {example[3] for sense in sense_values(result, "mouse") for example in sense["examples"]} <= shown


def test_trace_page_has_sentences_of_every_sense_and_period(traced: Trace) -> None:
    mouse = next(word for word in content(traced)["words"] if word["word"] == "mouse")
    senses = [{sentence[4] for sentence in period} for period in mouse["sentences"]]
    assert senses == [{1}, {1, 2}, {1, 2}]
    assert [len(period) for period in mouse["sentences"]] == [30, 30, 30]  # all, so that each can be shown by its sense
    bread = next(word for word in content(traced)["words"] if word["word"] == "bread")
    assert [len(period) for period in bread["sentences"]] == [12, 12, 12]
    assert [[row[0] for row in sense["shares"]] for sense in mouse["senses"]] == [[30, 20, 10], [0, 10, 20]]


def test_methods_describe_how_senses_were_found(result: Result, tmp_path: Path) -> None:
    paragraph = methods(result)[-1]
    assert "divided into senses by correlation clustering of the graph of occurrences" in paragraph
    assert "calibrated for the encoder" in paragraph
    assert "senses with q ≤ 0.05 are reported as changed" in paragraph
    (tmp_path / "known.csv").write_text("lemma,sense,example\nmouse,rodent,mouse with cheese and tail in a trap\n")
    other = found(tmp_path, 2, words=["mouse"], inventory=tmp_path / "known.csv", clustering="agglomerative")
    assert isinstance(other, Result)
    paragraph = methods(other)[-1]
    assert "to new senses that were found by agglomerative clustering with average linkage" in paragraph


def test_methods_say_that_a_calibration_was_estimated(tmp_path: Path) -> None:
    other = found(tmp_path, 2, model=UncalibratedEncoder())
    assert isinstance(other, Result)
    assert "estimated from the cosines between occurrences" in methods(other)[-1]


def test_trace_page_with_many_words_has_some_sentences_of_every_sense(
    traced: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lexshift.report.trace._SENTENCES", 60)
    data = content(traced)
    mouse = next(word for word in data["words"] if word["word"] == "mouse")
    assert data["first"] == 5
    assert all(5 <= len(period) <= 9 for period in mouse["sentences"])
    assert [{sentence[4] for sentence in period} for period in mouse["sentences"]] == [{1}, {1, 2}, {1, 2}]


def test_names_of_an_inventory_are_on_the_page(tmp_path: Path) -> None:
    (tmp_path / "known.csv").write_text("lemma,sense,example\nmouse,rodent,mouse with cheese and tail in a trap\n")
    page = found(tmp_path / "corpora", 2, words=["mouse"], inventory=tmp_path / "known.csv")
    assert [sense["known"] for sense in sense_values(page, "mouse")] == ["rodent", ""]


# -------------------------------------------------------------------------------------------------------------- browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="the page is tested in a browser")
    if CHROMIUM is None:
        pytest.skip("the page is tested in a browser, and there is no chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(browser: Browser, found: Any, folder: Path, width: int = 1280) -> Page:
    """Open the page of a result at the word mouse; errors and violations of the policy are collected."""
    page = browser.new_page(viewport={"width": width, "height": 900}, reduced_motion="reduce")
    page.add_init_script(WATCH)
    page.on("pageerror", lambda error: pytest.fail(f"error: {error}"))
    page.goto(found.report(folder / "report.html").as_uri() + "#word=mouse")
    page.locator("#word .sense").first.wait_for()
    return page


def check(page: Page) -> None:
    """Check that no text became code and nothing violated the policy, and close the page."""
    assert page.evaluate("window.violations") == []
    assert page.evaluate("window.hurt") is None
    page.close()


@pytest.mark.browser
def test_cards_name_shares_changes_and_words(browser: Browser, result: Any, tmp_path: Path) -> None:
    page = opened(browser, result, tmp_path)
    cards = page.locator("#word .sense").all_inner_texts()
    assert len(cards) == 2
    assert "shrank: less frequent" in cards[0]
    assert "gained: new sense" in cards[1]
    assert re.search(r"0 % \(0 to \d+ %\)", cards[1])
    assert re.search(r"67 % \(\d+ to \d+ %\)", cards[1])
    assert page.locator("#word .sense").nth(1).locator("mark").all_inner_texts() == ["mouse"] * 3
    assert result.sense_headline() in page.locator("header").inner_text()
    check(page)


@pytest.mark.browser
def test_marks_of_senses_differ_in_colour_and_number(browser: Browser, result: Any, tmp_path: Path) -> None:
    page = opened(browser, result, tmp_path)
    marks = page.locator("#word .chart g:has(> .usage)")
    texts = marks.all_text_contents()
    assert (texts.count("1"), texts.count("2")) == (40, 20)
    fills = {
        (text, colour)
        for text, colour in zip(
            texts, marks.locator("path").evaluate_all("all => all.map((p) => getComputedStyle(p).fill)"), strict=True
        )
    }
    assert len(fills) == 2
    assert len({colour for _, colour in fills}) == 2
    check(page)


@pytest.mark.browser
def test_click_on_a_share_shows_its_sentences(browser: Browser, result: Any, tmp_path: Path) -> None:
    page = opened(browser, result, tmp_path)
    visible = page.locator("#word .evidence .new li:visible")
    assert visible.count() == 6
    page.locator("#word .sense").nth(1).get_by_role("button", name=re.compile("67 %")).click()
    assert visible.count() == 20
    assert set(visible.locator(".badge").all_inner_texts()) == {"2"}
    assert page.locator("#word .evidence .old li:visible").count() == 0
    assert "No usage of this sense in this corpus." in page.locator("#word .evidence > .old").inner_text()
    assert page.evaluate("document.activeElement.textContent") == "Usages most typical of 2010s"
    page.keyboard.press("Tab")
    page.locator("#word .evidence .new").get_by_role("button", name="Show all senses").click()
    assert visible.count() == 6
    check(page)


@pytest.mark.browser
def test_arrow_keys_move_between_the_sentences_of_a_sense(browser: Browser, result: Any, tmp_path: Path) -> None:
    page = opened(browser, result, tmp_path)
    page.locator("#word .sense").nth(0).get_by_role("button", name=re.compile("33 %")).click()
    items = page.locator("#word .evidence .new li:visible")
    assert items.count() == 10
    items.first.focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.textContent") == items.nth(1).text_content()
    check(page)


@pytest.mark.browser
def test_word_with_one_sense_says_so(browser: Browser, result: Any, tmp_path: Path) -> None:
    page = opened(browser, result, tmp_path)
    page.locator("#ranking").get_by_role("link", name="bread").click()
    page.locator("#word h2", has_text="bread").wait_for()
    assert "One sense was found" in page.locator("#word").inner_text()
    assert page.locator("#word .sense").count() == 0
    check(page)


@pytest.mark.browser
def test_only_sense_has_its_name_and_gloss(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "known.csv").write_text(
        "lemma,sense,gloss,example\nmouse,rodent,a tail,mouse with cheese and tail in a trap\n"
        "bread,loaf,from the oven,bread with butter and flour from the oven\n"
    )
    known = found(tmp_path / "corpora", 2, words=["mouse", "bread"], inventory=tmp_path / "known.csv")
    page = opened(browser, known, tmp_path)
    page.locator("#ranking").get_by_role("link", name="bread").click()
    page.locator("#word h2", has_text="bread").wait_for()
    text = page.locator("#word").inner_text()
    assert "All usages have the sense loaf of the inventory." in text
    assert "Dictionary: from the oven" in text
    check(page)


@pytest.mark.browser
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("name", ["result", "traced"])
def test_page_with_senses_fits_its_window(
    browser: Browser, name: str, width: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    page = opened(browser, request.getfixturevalue(name), tmp_path, width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    check(page)


@pytest.mark.browser
def test_stream_shows_shares_and_opens_sentences(browser: Browser, traced: Any, tmp_path: Path) -> None:
    page = opened(browser, traced, tmp_path)
    assert page.locator("#word .area").count() == 2
    assert page.locator("#word .digit").all_text_contents() == ["1", "2"]
    page.locator("#word .area").nth(1).scroll_into_view_if_needed()
    box = page.locator("#word .area").nth(1).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] - 5, box["y"] + 20)  # the upper right corner: sense 2 in the last period
    assert "67 %" in page.locator("#tip").inner_text()
    page.mouse.click(box["x"] + box["width"] - 5, box["y"] + 20)
    assert page.locator("#word .periods details[open] summary bdi").all_inner_texts() == ["2010s"]
    assert page.locator("#word .periods li:visible .badge").all_inner_texts() == ["2"] * 20
    page.get_by_role("button", name="Show all senses").click()
    assert page.locator("#word .periods li:visible").count() == 12  # the most typical ones of the period
    check(page)
