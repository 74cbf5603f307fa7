"""Test the page of the paper's tables: complete, escaped, and with correctly drawn curves."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from lexshift.benchmark.paper.exhibit import Cell, Exhibit
from lexshift.report.reproduction import render

HOSTILE = '<script>alert("x")</script>&<img src=x onerror=alert(1)>'
METRICS = ("kl", "kl-reverse", "jeffreys")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def curves() -> pd.DataFrame:
    """Return three curves over four rates with their minimum at 0.6."""
    means = [4.0, 3.0, 2.0, 2.5]
    return pd.DataFrame(
        {"metric": metric, "rate": rate, "e_swap_mean": mean + i, "e_swap_sd": 0.5, "minimum": rate == 0.6}
        for i, metric in enumerate(METRICS)
        for rate, mean in zip((0.0, 0.3, 0.6, 0.9), means, strict=True)
    )


def made(name: str = "words", text: str = "plane", **options: Any) -> Exhibit:
    rows = ((Cell(text, ("mBERT",)), Cell("0.123", ("0.456",), best=True)), (Cell("tree"), Cell("–")))
    return Exhibit(
        name, f"Title of {name}", f"Note on {name}.", pd.DataFrame({"a": [1]}), (text, "0.1"), rows, **options
    )


def figure() -> Exhibit:
    table = curves()
    rows = tuple((Cell(f"{rate:g}"), Cell("1")) for rate in (0.0, 0.3))
    return Exhibit("curve", "The figure", "A note.", table, ("rate", "kl"), rows)


def run(**changes: Any) -> dict[str, Any]:
    encoder = {"model": "some/bert", "layers": "mean:4", "pooling": "mean"}
    record = {
        "lexshift": "1.2.3",
        "data": {"name": "my data", "kind": "table of usages", "gold": "graded", "words": 37},
        "embedding": {"encoder": encoder},
        "space": "centred",
        "repeats": 20,
        "seed": 7,
    }
    return record | changes


def policy_of(page: str) -> str:
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert found is not None
    return unescape(found[1])


def test_page_has_every_exhibit_with_its_note_and_a_link_to_it() -> None:
    page = render([made("first"), figure(), made("second")], run())
    for name, title in (("first", "Title of first"), ("curve", "The figure"), ("second", "Title of second")):
        assert page.count(f'id="{name}"') == 1
        assert f'<a href="#{name}">{title}</a>' in page
        assert f'<h2 id="{name}-title">{title}</h2>' in page
    assert "Note on first." in page
    assert page.count('<div class="chart" id="curves">') == 1
    assert page.startswith("<!doctype html>")


def test_page_header_describes_the_run() -> None:
    head = render([made()], run()).split("<header>")[1].split("</header>")[0]
    text = " ".join(unescape(re.sub(r"</?(?:dt|dd|div)>", " ", head)).split())
    text = re.sub(r"<[^>]*>", "", text)
    assert "my data" in text
    assert "table of usages, 37 words with gold: graded" in text
    assert "some/bert, layers mean:4, pooling mean" in text
    assert "vectors centred" in text
    assert "20 repetitions, seed 7" in text
    for phrase in ("data set, metric, strategy and rate are the same", "mBERT", "MLM_temp", "only the sentences with"):
        assert phrase in text


def test_custom_encoder_may_provide_few_details() -> None:
    page = render([made()], run(embedding={"encoder": {}}, repeats=1))
    assert "<bdi>a custom encoder</bdi></dd>" in page
    assert "layers" not in page.split("</header>")[0].split("<header>")[1]
    assert re.search(r"1 repetition,\s+seed", page)


def test_cells_show_our_figures_above_the_published_ones_and_mark_the_best() -> None:
    page = render([made(texts=1)], run())
    assert '<th scope="row" class="text"><bdi>plane</bdi><small>mBERT</small></th>' in page
    assert '<td class="number best"><bdi>0.123</bdi><small>0.456</small></td>' in page
    assert '<td class="number"><bdi>–</bdi></td>' in page


def test_words_and_names_are_text_and_never_markup() -> None:
    data = {"name": HOSTILE, "kind": HOSTILE, "gold": HOSTILE, "words": 3}
    record = run(data=data, embedding={"encoder": {"model": HOSTILE, "layers": HOSTILE, "pooling": HOSTILE}})
    page = render([made(text=HOSTILE)], record)
    assert "<script" not in page
    assert "<img" not in page
    assert page.count("&lt;script&gt;") == 9  # title, heading, two of the data, three of the encoder, column, cell


def test_policy_allows_the_one_style_sheet_and_the_one_script() -> None:
    page = render([made(), figure()], run())
    style = re.search(r"<style>(.*?)</style>", page, re.S)
    assert style is not None
    digest = base64.b64encode(hashlib.sha256(style[1].encode()).digest()).decode()
    policy = policy_of(page)
    script = re.search(r"<script>(.*?)</script>", page, re.S)
    assert script is not None
    run_only = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    allowed = [f"script-src 'sha256-{run_only}'", f"style-src 'sha256-{digest}'"]
    assert policy.split("; ")[:4] == ["default-src 'none'", *allowed, "img-src data:"]
    assert "unsafe" not in policy
    body = page.replace(style[0], "").replace(script[0], "")
    assert not re.search(r"\sstyle\s*=", body)
    assert not re.search(r"\son\w+\s*=", body)
    assert not re.search(r'(src|href)="(?!#|data:,)', body)
    assert "script-src" not in policy_of(render([made()], run()))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("the page is looked at in a browser, and there is no chromium")
    sync_api = pytest.importorskip("playwright.sync_api", reason="the page is looked at in a browser: playwright")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (360, "dark")])
def test_wide_tables_scroll_in_their_own_box(browser: Any, tmp_path: Path, width: int, scheme: str) -> None:
    wide = tuple(f"a column {i}" for i in range(30))
    exhibit = Exhibit("wide", "Wide", "A note.", pd.DataFrame(), wide, (tuple(Cell("0.123") for _ in wide),))
    (tmp_path / "page.html").write_text(render([exhibit, figure()], run()), "utf-8")
    page = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.goto((tmp_path / "page.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("(box => box.scrollWidth > box.clientWidth)(document.querySelector('#wide .scroll'))")
    assert page.evaluate("getComputedStyle(document.querySelector('#curves .curve1 path')).fill") == "none"
    page.close()
    assert messages == []  # the policy blocked nothing


def drawn(browser: Any, tmp_path: Path, table: pd.DataFrame) -> tuple[list[list[dict[str, Any]]], dict[float, float]]:
    """Return the circles of each curve with their error bars, and the positions of the vertical ticks."""
    (tmp_path / "page.html").write_text(render([replace(figure(), table=table)], run()), "utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    number = "(node, name) => Number(node.getAttribute(name))"
    curves = page.evaluate(f"""() => {{ const number = {number};
        return [1, 2, 3].map((i) => [...document.querySelectorAll(`#curves .curve${{i}} circle`)].map((dot) => ({{
            x: number(dot, "cx"), y: number(dot, "cy"), least: dot.classList.contains("least"),
            low: number(dot.previousSibling, "y1"), high: number(dot.previousSibling, "y2"),
            title: dot.textContent }}))); }}""")
    ticks = page.evaluate(f"""() => {{ const number = {number};
        return [...document.querySelectorAll("#curves line.grid")].map((line) =>
            [Number(line.nextSibling.textContent), number(line, "y1")]); }}""")
    page.close()
    return curves, dict(ticks)


@pytest.mark.browser
def test_curves_are_drawn_at_their_values(browser: Any, tmp_path: Path) -> None:
    found, ticks = drawn(browser, tmp_path, curves())
    assert found[0][0]["y"] == pytest.approx(ticks[4.0], abs=0.1)
    assert found[0][2]["y"] == pytest.approx(ticks[2.0], abs=0.1)
    assert found[0][2]["title"] == "kl, rate 0.6: 2.00 ± 0.500"
    for dots in found:
        assert [dot["least"] for dot in dots] == [False, False, True, False]
        assert all(dot["high"] < dot["y"] < dot["low"] for dot in dots)
        assert dots[2]["x"] - dots[1]["x"] == pytest.approx(dots[1]["x"] - dots[0]["x"], abs=0.2)
    assert len({dot["x"] for dots in found for dot in dots}) == 12  # no error bar hides another


@pytest.mark.browser
def test_curves_of_zero_distance_are_drawn_on_the_baseline(browser: Any, tmp_path: Path) -> None:
    found, ticks = drawn(browser, tmp_path, curves().assign(e_swap_mean=0.0, e_swap_sd=0.0))
    assert {dot["y"] for dots in found for dot in dots} == {ticks[0.0]}
