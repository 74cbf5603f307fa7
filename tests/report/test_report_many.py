"""Test the page of three thousand words in a browser: few rows at a time and all functions of a small page."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

import lexshift
from lexshift import Result
from lexshift.report.comparison import render
from lexshift.report.page import decimal
from lexshift.scoring.bootstrap import Interval
from lexshift.scoring.gap import Gap
from lexshift.scoring.permutation import PermutationTest
from lexshift.scoring.scores import Scores, WordScore
from lexshift.scoring.sscd import Change
from lexshift.study.verdict import Backdrop, Evidence, points

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

sync_api = pytest.importorskip("playwright.sync_api", reason="the page is tested in a browser, which needs playwright")
expect = sync_api.expect
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="the page is tested in a browser, and there is no chromium"),
]

N = 3_000
HOSTILE = ["<script>window.hacked=1</script>", "\"'><img/src=x/onerror=window.hacked=1>", "‮reversed", "__proto__"]
WORDS = [f"word{i:04d}" for i in range(N - len(HOSTILE))] + HOSTILE
FEW = {f"word{i:04d}" for i in range(0, 400, 40)}  # words without a score
PERMUTATIONS = 9_999
LATE = "word0800"


class Lengths:
    """Encoder without a model."""

    settings = {"model": "toy"}  # noqa: RUF012

    def encode(self, sentences: Any, spans: Any) -> npt.NDArray[np.float32]:
        return np.array([[len(s), s.count("a"), at] for s, (at, _) in zip(sentences, spans, strict=True)], np.float32)


def usages() -> pd.DataFrame:
    rows = [
        (
            word,
            corpus,
            f"{'a' * (k + shift)} {word} </script><script>window.hacked=1</script> {corpus} {k}",
            k + shift + 1,
        )
        for word in WORDS
        for corpus, shift in (("old", 1), ("new", 2))
        for k in range(2)
    ]
    frame = pd.DataFrame(rows, columns=["word", "corpus", "sentence", "start"])
    return frame.assign(end=frame["start"] + frame["word"].str.len())


def scored(word: str, rng: np.random.Generator) -> WordScore:
    score = round(float(rng.gamma(2, 0.02)), 3)  # with ties
    exceeding = int(min(PERMUTATIONS, (PERMUTATIONS + 1) * 10 ** (-40 * score) * rng.uniform(0.5, 2)))
    p = (1 + exceeding) / (1 + PERMUTATIONS)
    assert word
    return WordScore(
        Change(score, score, 0.5, 0.01, 0.4 + score, rng.normal(0.4, 0.01, 5), 0.3, 1, 2, 2),
        Interval(max(0.0, score - 0.02), score + 0.02, 0.95, 0.0),
        PermutationTest(p, 0.4 + score, exceeding, PERMUTATIONS, False),
        "apd",
    )


def weighed(score: float, rng: np.random.Generator, compared: bool) -> Evidence:
    """Return evidence that agrees with a score, more or less."""
    gap = float(rng.normal(2 * score - 0.05, 0.02))
    found = Gap(gap, gap - 0.03, gap + 0.03, 0.05)
    if not compared:
        return Evidence(found)
    excess = gap / 0.03
    return Evidence(found, excess, float(min(1.0, np.exp(-excess))))


def with_evidence(result: Result, control_words: int) -> Result:
    """Return the same result with a comparison with some number of control words, or without one."""
    rng, compared = np.random.default_rng(1), control_words > 0
    evidence = {word: weighed(s.change.score, rng, compared) for word, s in result.scores.words.items()}
    known = {"common_shift": 0.2 if compared else None, "ordinary_gap": 0.01 if compared else None}
    backdrop = Backdrop(floor=0.02, control_words=control_words, is_calibrated=compared, **known)
    return replace(result, evidence=evidence, backdrop=backdrop)


@pytest.fixture(scope="module")
def plain_result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Return a result of very many words with random scores, without control words."""
    folder = tmp_path_factory.mktemp("many")
    for name in ("old", "new"):
        (folder / name).write_text("".join(f"{'a' * i} bank {name}\n" for i in range(4)))
    options: dict[str, Any] = {"permutations": PERMUTATIONS, "resamples": 2, "repeats": 2, "min_usages": 2}
    base = lexshift.compare(folder / "old", folder / "new", ["bank"], model=Lengths(), monitor=False, **options)
    store = lexshift.embed_usages(usages(), Lengths(), out=folder / "store", labels=["old", "new"])
    for entry, known in zip(store.index["corpora"], base.siblings.index["corpora"], strict=True):
        entry.update({key: value for key, value in known.items() if not entry.get(key)})
    rng = np.random.default_rng(0)
    words = {word: scored(word, rng) for word in WORDS if word not in FEW}
    scores = Scores(words, base.scores.curve, base.scores.sscd)
    result = Result(
        store, WORDS, base.run, None, scores, ("1900s", "2000s"), evidence=base.evidence, backdrop=base.backdrop
    )
    return with_evidence(result, 0)


@pytest.fixture(scope="module")
def result(plain_result: Result) -> Result:
    return with_evidence(plain_result, 150)


@pytest.fixture(scope="module")
def file(result: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return result.report(tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def problems() -> list[str]:
    """Collect unexpected events of a page."""
    return []


@pytest.fixture
def page(browser: Browser, file: Path, problems: list[str]) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "request", lambda request: None if request.url.startswith(("file:", "blob:")) else problems.append(request.url)
    )
    page.goto(file.as_uri())
    expect(page.locator("#word h2")).to_be_visible()
    yield page
    assert page.evaluate("window.hacked") is None
    page.close()
    assert problems == []


def rows(page: Page) -> Locator:
    return page.locator("#ranking tbody tr")


def in_document(page: Page) -> list[tuple[int, str]]:
    """Return the number, from 0, and the word of each row in the document."""
    read = "rows => rows.map((row) => [Number(row.getAttribute('aria-rowindex')) - 2, row.cells[0].textContent])"
    return [(place, word) for place, word in rows(page).evaluate_all(read)]


def scroll(page: Page, share: float) -> None:
    """Scroll the table to a share of its height, and wait until it has drawn its rows."""
    page.locator("#words .scroll").evaluate("(node, share) => { node.scrollTop = share * node.scrollHeight; }", share)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def seen(page: Page) -> list[str]:
    """Return the words whose rows are in view."""
    read = """frame => {
      const box = frame.getBoundingClientRect();
      const top = frame.querySelector("thead").getBoundingClientRect().bottom;
      return [...frame.querySelectorAll("tbody tr")].filter((row) => {
        const at = row.getBoundingClientRect();
        return at.top >= top - 1 && at.bottom <= box.bottom + 1;
      }).map((row) => row.cells[0].textContent);
    }"""
    return list(page.locator("#words .scroll").evaluate(read))


def ordered(result: Result, key: str, down: bool) -> list[str]:
    """Return the words in the expected order of the sorted table; those without a number come last."""
    values = dict(zip(result.table["word"], result.table[key], strict=True))
    known = [word for word, value in values.items() if value == value]
    return sorted(known, key=values.__getitem__, reverse=down) + [w for w, value in values.items() if value != value]


def rate(local_fdr: float) -> str:
    return "less than 0.001" if local_fdr < 0.001 else f"{local_fdr:.2g}"


def holds(page: Page, expected: list[str]) -> None:
    """Check that the table has the right rows at every scroll position."""
    expect(page.locator("#ranking")).to_have_attribute("aria-rowcount", str(len(expected) + 1))
    for share in (0.0, 0.37, 1.0):
        scroll(page, share)
        found = in_document(page)
        assert found == [(i, expected[i]) for i in range(found[0][0], found[0][0] + len(found))]
        assert len(found) < 100
        visible = seen(page)
        assert len(visible) >= min(len(expected), 10)
        assert set(visible) <= {word for _, word in found}
    assert seen(page)[-1] == expected[-1]


def test_page_has_far_fewer_rows_than_words_and_shows_every_part(page: Page, result: Result) -> None:
    expect(page.locator("#shown")).to_have_text("3,000 of 3,000")
    assert page.locator("*").count() < 3_000
    holds(page, result.table["word"].tolist())


def test_all_rows_have_the_same_height(page: Page) -> None:
    page.get_by_label("Show").select_option("too few")
    few = rows(page).evaluate_all("rows => rows.map((row) => row.getBoundingClientRect().height)")
    page.get_by_label("Show").select_option("all")
    all_rows = rows(page).evaluate_all("rows => rows.map((row) => row.getBoundingClientRect().height)")
    assert len(few) == len(FEW)
    assert max(few + all_rows) - min(few + all_rows) < 0.02


@pytest.mark.parametrize(("key", "down"), [("score", False), ("q", False), ("gap", True), ("excess", True)])
def test_sorting_equals_that_of_the_table(page: Page, result: Result, key: str, down: bool) -> None:
    page.locator(f"#ranking thead [data-key={key}] button").click()
    holds(page, ordered(result, key, down))


def test_filter_and_verdict_select_among_all_words(page: Page, result: Result) -> None:
    scroll(page, 1.0)
    page.get_by_label("Filter").fill("WORD1")
    table = result.table
    wanted = table["word"].str.startswith("word1")
    assert [word for _, word in in_document(page)] == table["word"][wanted].tolist()[: rows(page).count()]
    holds(page, table["word"][wanted].tolist())
    page.get_by_label("Show").select_option("changed")
    holds(page, table["word"][wanted & (table["verdict"] == "changed")].tolist())


def test_arrow_keys_continue_beyond_the_visible_rows(page: Page, result: Result) -> None:
    words = result.table["word"].tolist()
    rows(page).first.locator("a").focus()
    for _ in range(70):
        page.keyboard.press("ArrowDown")
    expect(rows(page).get_by_role("link", name=words[70], exact=True)).to_be_focused()
    assert words[70] in seen(page)
    scroll(page, 1.0)  # the row with the focus is no longer in the document
    page.keyboard.press("ArrowUp")
    expect(rows(page).get_by_role("link", name=words[69], exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#word h2")).to_have_text(words[69])


@pytest.mark.parametrize("word", [LATE, *HOSTILE])
def test_address_opens_its_word_with_its_sentences_and_its_row(page: Page, file: Path, word: str) -> None:
    page.goto("about:blank")
    page.goto(f"{file.as_uri()}#word={quote(word, safe='')}")
    expect(page.locator("#word h2")).to_be_visible()
    assert page.locator("#word h2").text_content() == word
    for period, shift in (("old", 1), ("new", 2)):
        items = page.locator(f"#word .evidence .{period} li").all_text_contents()
        tail = f"{word} </script><script>window.hacked=1</script> {period}"
        assert sorted(items) == sorted(f"{'a' * (k + shift)} {tail} {k}" for k in range(2))
    assert page.locator("#ranking tr.chosen th").text_content() == word
    assert word in seen(page)
    assert page.locator("#overview a.chosen").get_attribute("data-word") == word


def test_selecting_words_in_quick_succession_ends_with_the_last(page: Page, result: Result) -> None:
    words = result.table["word"].tolist()
    page.evaluate(
        "words => { for (const word of words) location.hash = `word=${word}`; }", [words[5], words[1500], words[9]]
    )
    expect(page.locator("#word h2")).to_have_text(words[9])
    expect(page.locator("#word .evidence li").first).to_contain_text(words[9])
    expect(page.locator("#overview a.chosen")).to_have_count(1)


def test_dot_among_thousands_is_found_by_hovering_and_clicking(page: Page, result: Result) -> None:
    assert page.locator("#overview a").count() <= 201
    at = page.locator("#overview svg").evaluate(
        """(svg) => { // the lowest dot that is no link, in the window
          const dots = [...svg.querySelector("path.many.stable").getAttribute("d").matchAll(/M([\\d.-]+),([\\d.-]+)/g)];
          const [, x, y] = dots.reduce((best, dot) => (Number(dot[2]) > Number(best[2]) ? dot : best));
          const frame = svg.getBoundingClientRect();
          return [frame.left + Number(x) + 3, frame.top + Number(y)];
        }"""
    )
    page.mouse.move(*at)
    expect(page.locator("#tip")).to_contain_text(": stable, change ")
    name = page.locator("#tip b").text_content()
    assert name in set(result.table["word"])
    page.mouse.click(*at)
    expect(page.locator("#word h2")).to_have_text(name or "")
    expect(page.locator("#overview a.chosen")).to_have_attribute("data-word", name or "")
    page.mouse.move(1, 1)
    expect(page.locator("#tip")).to_be_hidden()


def test_chart_of_thousands_can_be_saved_with_all_its_dots(page: Page, result: Result) -> None:
    with page.expect_download() as waiting:
        page.locator("#overview").get_by_role("button", name="Save SVG").click()
    text = Path(waiting.value.path()).read_text("utf-8")
    dots = sum(shape.count("M") for shape in re.findall(r'class="dot many[^"]*" d="([^"]*)"', text))
    assert dots + text.count("<circle") == len(result.scores.words)


def test_words_are_compared_with_ordinary_words(page: Page, result: Result) -> None:
    expect(page.locator(".background")).to_have_text(
        "Ordinary words (150 control words) moved by a gap of 1.0 points between the corpora; 20 % of their shift is "
        "common to all words and was removed; the noise floor is 2.0 points."
    )
    for record in result.table.head(5).to_dict("records"):
        row = rows(page).nth(result.table.index[result.table["word"] == record["word"]][0])
        expect(row.locator(".gap")).to_have_text(points(record["gap"]))
        expect(row.locator(".excess")).to_have_text(decimal(record["excess"]))
        expect(row.locator(".excess")).to_have_attribute("title", f"local fdr {rate(record['local_fdr'])}")
    first = result.table.iloc[0]
    expect(page.locator("#word .saying").nth(0)).to_have_text(f"{first['verdict']} {first['reason']}.")
    expect(page.locator("#word .saying").nth(2)).to_have_text(
        f"It exceeds the gap of ordinary words by {decimal(first['excess'])} of their standard deviations (excess); a "
        f"word with this excess is an ordinary one with a probability of {rate(first['local_fdr'])} (local fdr)."
    )


def test_chart_separates_words_that_stand_out_from_ordinary_words(page: Page, result: Result) -> None:
    expect(page.locator("#overview h2")).to_have_text("Change compared with ordinary words")
    at = page.locator("#overview a").evaluate_all(
        """all => Object.fromEntries(all.map((a) => [a.dataset.word, ["cx", "cy"].map((name) =>
          Number(a.querySelector("circle").getAttribute(name)))]))"""
    )
    table = result.table[result.table["score"].notna()].set_index("word")
    known = table.loc[list(at)]
    places = np.array(list(at.values()))
    assert set(known["verdict"]) >= {"changed"}
    assert np.corrcoef(places[:, 0], known["score"])[0, 1] == pytest.approx(1, abs=1e-6)
    assert np.corrcoef(places[:, 1], known["excess"])[0, 1] == pytest.approx(-1, abs=1e-6)
    edge = page.locator("#overview .region").evaluate(
        "(e) => Number(e.getAttribute('y')) + Number(e.getAttribute('height'))"
    )
    slope, offset = np.polyfit(known["excess"], places[:, 1], 1)
    inside = table["local_fdr"] <= 0.2
    limit = (edge - offset) / slope
    assert table["excess"][~inside].max() < limit < table["excess"][inside].min()
    expect(page.locator("#overview")).to_contain_text("stands out: local fdr ≤ 0.2")


def test_legend_counts_the_words_of_each_verdict(page: Page, result: Result) -> None:
    found = result.table.loc[result.table["score"].notna(), "verdict"].value_counts()
    shown = [
        f"{verdict} ({found[verdict]:,})" for verdict in ("changed", "differs", "unclear", "stable") if verdict in found
    ]
    expect(page.locator("#overview .legend li")).to_have_text(shown)


def test_only_changed_words_are_labelled_among_many(page: Page, result: Result) -> None:
    labels = page.locator("#overview a .label:not(.crowded)").all_text_contents()
    changed = result.table.loc[result.table["verdict"] == "changed", "word"]
    assert len(labels) > 10
    assert set(labels) <= set(changed)


@pytest.mark.parametrize("width", [1024, 1100, 1280, 1366, 1400, 1440, 1920])
def test_cells_do_not_overlap(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.locator("#filter").fill("word00")
    sticking_out = """() => [...document.querySelectorAll("#ranking tr > *")].filter((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      const [inner, outer] = [range.getBoundingClientRect(), cell.getBoundingClientRect()];
      return inner.left < outer.left - 0.5 || inner.right > outer.right + 0.5;
    }).map((cell) => cell.innerText)"""
    assert page.evaluate(sticking_out) == []
    whole = "all => all.every((e) => e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight)"
    assert page.locator("#ranking .said").evaluate_all(whole)


def test_selected_word_is_labelled_in_a_crowded_chart(page: Page, file: Path) -> None:
    page.goto(f"{file.as_uri()}#word={LATE}")
    chosen = page.locator("#overview a.chosen text")
    expect(chosen).to_have_text(LATE)
    expect(chosen).to_be_visible()
    assert page.locator("#overview a:not(.chosen) .crowded").count() > 0
    expect(page.locator("#overview .crowded:visible")).to_have_count(page.locator("#overview .chosen .crowded").count())


def test_without_control_words_the_chart_shows_the_gap_and_the_noise_floor(
    browser: Browser, plain_result: Result, tmp_path: Path, problems: list[str]
) -> None:
    page = browser.new_page(viewport={"width": 1440, "height": 900})
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(plain_result.report(tmp_path / "report.html").as_uri())
    expect(page.locator("#overview h2")).to_have_text("Change score and gap")
    expect(page.locator("#overview")).to_contain_text("noise floor: 0.02")
    expect(page.locator(".background")).to_have_count(0)
    expect(page.locator("#word .saying").nth(1)).to_contain_text("lower than between two usages of one corpus.")
    page.close()
    assert problems == []


def test_without_control_words_the_table_has_no_excess(plain_result: Result) -> None:
    page = render(plain_result).split("<main")[1].split('<section class="methods"')[0]
    assert "excess" not in page


def test_without_javascript_the_first_words_and_the_number_of_others_are_shown(
    browser: Browser, file: Path, result: Result
) -> None:
    page = browser.new_page(java_script_enabled=False)
    page.goto(file.as_uri())
    assert rows(page).locator("th").all_text_contents() == result.table["word"].head(200).tolist()
    expect(page.locator("#rest")).to_have_text("scores.csv lists 2,800 more words.")
    expect(page.locator("#rest")).to_be_visible()
    expect(rows(page).first.locator(".excess")).to_have_text(decimal(result.table["excess"][0]))
    expect(rows(page).first.locator(".gap")).to_have_text(points(result.table["gap"][0]))
    page.close()


def test_printed_page_has_the_first_words_and_the_number_of_others(page: Page, result: Result) -> None:
    scroll(page, 0.5)
    page.emulate_media(media="print")
    expect(rows(page)).to_have_count(200)
    assert in_document(page) == list(enumerate(result.table["word"].head(200)))
    expect(page.locator("#rest")).to_have_text("scores.csv lists 2,800 more words.")
    page.emulate_media(media="screen")
    expect(page.locator("#rest")).to_be_hidden()
    scroll(page, 0.0)
    assert len(in_document(page)) < 100


def test_browser_without_decompression_shows_a_message(browser: Browser, file: Path, result: Result) -> None:
    page = browser.new_page()
    page.add_init_script("delete window.DecompressionStream")
    page.goto(file.as_uri())
    expect(page.locator("#word h2")).to_have_text(result.table["word"][0])
    expect(page.locator("#word .caution")).to_contain_text("This browser cannot open the packed sentences")
    assert len(in_document(page)) > 20
    page.close()


def test_page_with_damaged_sentences_shows_a_message(browser: Browser, file: Path, tmp_path: Path) -> None:
    text = file.read_text("utf-8")
    damaged = tmp_path / "damaged.html"
    damaged.write_text(re.sub(r'(id="group-0">.{40})....', r"\1AAAA", text), "utf-8")
    page = browser.new_page()
    page.goto(damaged.as_uri())
    expect(page.locator("#word .caution")).to_contain_text("the page is damaged")
    page.close()
