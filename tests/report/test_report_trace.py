"""Test the page of a trace in a browser: the course of a word, its sentences, and escaped corpus text."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from context_encoder import ContextEncoder

from lexshift.report.page import chance, digits
from lexshift.report.trace import content, render
from lexshift.scoring.changepoints import ChangePoints
from lexshift.senses.variety import choose_varied
from lexshift.study.trace import trace
from lexshift.study.trace_result import Trace

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

sync_api = pytest.importorskip("playwright.sync_api", reason="the page is tested in a browser, which needs playwright")
expect = sync_api.expect
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="the page is tested in a browser, and there is no chromium"),
]

HOSTILE = '</script><script>window.hurt = 1</script><img src=x onerror="window.hurt = 2">'
WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.effectiveDirective));
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """Return a trace in which mouse changes in the third of four periods and rare has few usages."""
    folder, rng = tmp_path_factory.mktemp("periods"), np.random.default_rng(0)
    paths = []
    for i in range(4):
        lines = []
        for word, moved in (("mouse", i >= 2), ("bread", False)):
            for _ in range(20):
                a, b, c = rng.choice([f"{word}{moved}{letter}" for letter in "abcdefgh"], 3, replace=False)
                lines.append(f"The {a} and the {word} of the {b} was {c} {HOSTILE}")
        paths.append(folder / f"{1950 + 20 * i}s.txt")
        paths[-1].write_text("\n".join([*lines, "one rare thing"]) + "\n")
    quick: dict[str, Any] = {"permutations": 199, "resamples": 20, "repeats": 4, "split": "lines", "monitor": False}
    return trace(*paths, words=["mouse", "bread", "rare"], model=ContextEncoder(), **quick)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def file(found: Trace, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return found.report(tmp_path_factory.mktemp("page") / "trace.html")


@pytest.fixture
def page(browser: Browser, file: Path) -> Iterator[Page]:
    page = browser.new_page()
    page.add_init_script(WATCH)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(file.as_uri())
    yield page
    assert errors == []
    assert page.evaluate("window.violations") == []
    assert page.evaluate("window.hurt") is None
    page.close()


def test_page_shows_the_changed_word(page: Page, found: Trace) -> None:
    expect(page.locator("h1")).to_have_text("Changes in meaning from 1950s to 2010s")
    expect(page.locator(".lede")).to_have_text(f"{found.headline()}.")
    expect(page.locator("#word h2")).to_have_text("mouse")
    expect(page.locator("#word .saying")).to_contain_text("A new use begins in 1990s.")
    expect(page.locator("#word .chart svg")).to_have_count(2)
    expect(page.locator("#word svg .changelabel")).to_have_text(["1990s"])
    expect(page.locator("#word svg circle.dot")).to_have_count(4)
    expect(page.locator("#word svg rect.bar")).to_have_count(3)
    expect(page.locator("#word svg rect.bar:not(.low)")).to_have_count(1)
    first = found.word("mouse").steps("first").iloc[0]
    assert (
        page.locator("#word svg circle title")
        .first.text_content()
        .startswith(  # type: ignore[union-attr]
            f"1950s to 1970s: {first['score']:.3g}"[:18]
        )
    )


def test_each_period_has_its_sentences(page: Page, found: Trace) -> None:
    periods = page.locator("#word .periods details")
    expect(periods).to_have_count(4)
    for i, period in enumerate(found.periods):
        block = periods.nth(i)
        expect(block.locator("summary bdi")).to_have_text(period)
        varied = choose_varied(found.word("mouse").usages(period)["sentence"].tolist(), range(12), 12)
        expect(block.locator("li")).to_have_count(len(varied))
        expect(block.locator("li").first).to_contain_text("<script>window.hurt = 1</script>")
        expect(block.locator("li mark").first).to_have_text("mouse")
    expect(periods.nth(2)).to_have_class("begins")


def test_words_are_selected_by_click_and_by_address(page: Page, file: Path, found: Trace) -> None:
    page.locator("#ranking tbody tr", has_text="bread").click()
    expect(page.locator("#word h2")).to_have_text("bread")
    row = found.table.set_index("word").loc["bread"]
    expect(page.locator("#word .saying .verdict")).to_have_text(row["verdict"])
    expect(page.locator("#word .saying")).to_contain_text(row["reason"])
    assert page.url.endswith("#word=bread")
    page.goto(f"{file.as_uri()}#word=rare")
    expect(page.locator("#word")).to_contain_text("Too few usages: 10 are needed in at least two periods.")
    expect(page.locator("#word .chart")).to_have_count(0)
    expect(page.locator("#ranking tr.chosen")).to_contain_text("rare")
    page.goto(f"{file.as_uri()}#word=%E0%A4%A")  # an invalid address keeps the word
    expect(page.locator("#word h2")).to_have_text("rare")
    page.goto("about:blank")
    page.goto(f"{file.as_uri()}#word=%E0%A4%A")
    expect(page.locator("#word h2")).to_have_text("mouse")


def test_link_within_the_page_keeps_the_word(page: Page) -> None:
    page.locator("#ranking tbody tr", has_text="bread").click()
    expect(page.locator("#word h2")).to_have_text("bread")
    page.locator("a.skip").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("location.hash === '#words'")
    page.evaluate("new Promise((done) => setTimeout(done))")  # hashchange is a separate task
    expect(page.locator("#word h2")).to_have_text("bread")
    expect(page.locator("#ranking tr.chosen")).to_contain_text("bread")
    page.go_back()
    page.go_back()
    expect(page.locator("#word h2")).to_have_text("mouse")


def test_gradual_drift_and_a_stable_word_have_no_change_points(browser: Browser, found: Trace, tmp_path: Path) -> None:
    changes = {
        "mouse": replace(found.changes["mouse"], at=(1, 2), shape="gradual"),
        "bread": ChangePoints((2,), 0.06, 1.0, 1.1, 999, shape="step"),
    }
    file = replace(found, changes=changes).report(tmp_path / "trace.html")
    page = browser.new_page()
    page.goto(f"{file.as_uri()}#word=mouse")
    expect(page.locator("#word .saying")).to_contain_text("The change is a gradual drift, so there is no change point.")
    expect(page.locator("#ranking tr", has_text="mouse")).to_contain_text("gradual drift")
    expect(page.locator("#word svg .change, #word .begins")).to_have_count(0)
    page.goto(f"{file.as_uri()}#word=bread")
    expect(page.locator("#word .saying")).to_have_text(re.compile("stable gap of .*There is no change point."))
    expect(page.locator("#word svg .change, #word .begins")).to_have_count(0)
    page.close()


def test_page_is_complete_and_its_policy_strict(found: Trace) -> None:
    text = render(found)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert "unsafe" not in policy[1]
    assert not re.search(r'(?:src|href)="(?!#|data:)', text.split("<script")[0])
    assert HOSTILE not in text
    assert [word["word"] for word in content(found)["words"]] == found.table["word"].tolist()


def test_narrow_page_does_not_scroll_sideways(browser: Browser, file: Path) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto(file.as_uri())
    expect(page.locator("#word .chart svg")).to_have_count(2)
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    whole = "all => all.every((e) => e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight)"
    assert page.locator("#ranking .said, #ranking thead th").evaluate_all(whole)
    page.close()


def test_words_can_be_filtered_and_sorted(page: Page, found: Trace) -> None:
    words = page.locator("#ranking tbody tr:visible th")
    listed = found.table["word"].tolist()
    expect(words).to_have_text(listed)
    expect(page.locator("#shown")).to_have_text("3 of 3")
    page.locator("#filter").fill(" Rea ")
    expect(words).to_have_text(["bread"])
    expect(page.locator("#shown")).to_have_text("1 of 3")
    page.locator("#filter").fill("")
    header = page.locator("#ranking thead th[data-key=word]")
    header.get_by_role("button").click()
    expect(words).to_have_text(sorted(listed))
    expect(header).to_have_attribute("aria-sort", "ascending")
    header.get_by_role("button").click()
    expect(words).to_have_text(sorted(listed, reverse=True))
    scores = found.table.set_index("word")["score"].sort_values(ascending=False)  # words without a score last
    page.locator("#ranking thead th[data-key=score]").get_by_role("button").click()
    expect(words).to_have_text(scores.index.tolist())
    page.locator("#ranking tbody tr", has_text="bread").click()
    expect(page.locator("#word h2")).to_have_text("bread")
    expect(page.locator("#ranking tr.chosen")).to_contain_text("bread")


def test_chart_can_be_saved_as_svg(page: Page) -> None:
    with page.expect_download() as saved:
        page.locator("#word .chart .save").first.click()
    assert saved.value.suggested_filename == "Change of mouse since the first period.svg"
    assert "<svg" in Path(saved.value.path()).read_text("utf-8")


def test_word_selected_on_a_narrow_page_scrolls_into_view(browser: Browser, file: Path) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 400}, reduced_motion="reduce")
    page.goto(file.as_uri())
    page.locator("#ranking tbody tr", has_text="bread").get_by_role("link").click()
    expect(page.locator("#word h2")).to_have_text("bread")
    expect(page.locator("#word h2")).to_be_in_viewport()
    page.close()


@pytest.mark.parametrize("width", [1024, 1100, 1280, 1366, 1400, 1440, 1920])
def test_cells_do_not_overlap_and_reasons_are_not_cut(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    sticking_out = """() => [...document.querySelectorAll("#ranking tr > *")].filter((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      const [inner, outer] = [range.getBoundingClientRect(), cell.getBoundingClientRect()];
      return inner.left < outer.left - 0.5 || inner.right > outer.right + 0.5;
    }).map((cell) => cell.innerText)"""
    assert page.evaluate(sticking_out) == []
    whole = "all => all.every((e) => e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight)"
    assert page.locator("#ranking .said").evaluate_all(whole)
    expect(page.locator("#ranking .too-few .reason")).to_have_text("10 are needed in two periods")


def test_numbers_of_the_charts_are_also_a_table(page: Page, found: Trace) -> None:
    numbers = page.locator("#word .numbers")
    expect(numbers.locator("table")).to_be_hidden()
    numbers.locator("summary").click()
    wanted = []
    for kind in ("first", "neighbours"):
        for step in found.word("mouse").steps(kind).to_dict("records"):
            interval = f"{digits(step['low'])} to {digits(step['high'])}"
            wanted.append(
                [step["from"], step["to"], digits(step["score"]), interval, chance(step["p"]), chance(step["q"])]
            )
    rows = numbers.locator("tbody tr:has(td)")
    expect(rows).to_have_count(len(wanted))
    assert [row.locator("th, td").all_inner_texts() for row in rows.all()] == wanted


def test_selection_is_announced_in_a_status_line(page: Page) -> None:
    page.locator("#ranking tbody tr", has_text="bread").click()
    expect(page.locator("p[role=status]")).to_have_text("Showing bread: stable.")
    expect(page.locator("[aria-live]")).to_have_count(0)


def test_words_of_one_verdict_can_be_shown_and_arrow_keys_move_between_words(page: Page) -> None:
    page.locator("#verdicts").select_option("too few")
    expect(page.locator("#ranking tbody tr th")).to_have_text(["rare"])
    page.locator("#verdicts").select_option("")
    links = page.locator("#ranking tbody a")
    links.first.focus()
    page.keyboard.press("ArrowDown")
    expect(links.nth(1)).to_be_focused()


def test_without_javascript_the_table_is_readable(browser: Browser, file: Path, found: Trace) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(file.as_uri())
    assert page.locator("#ranking tbody th").all_inner_texts() == found.table["word"].tolist()
    expect(page.locator("#ranking .reason")).to_have_text("10 are needed in two periods")
    expect(page.locator("noscript p")).to_be_visible()
    page.close()
