"""Test the list of words that appeared or disappeared on the page."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import lexshift
from lexshift import Result
from lexshift.demo import ExampleEncoder
from lexshift.report import render
from lexshift.report.presence import notebook_presence, presence_groups
from lexshift.study.appeared_words import AppearedWord, AppearedWords, Example


def found(n_words: int, verdict: str = "appeared") -> AppearedWords:
    """Return some words that appeared or disappeared, each with an example that contains markup."""
    counts = (0, 50) if verdict == "appeared" else (50, 2)
    example = Example("A <b>strange</b> word here.", 10, 17, "a.txt", 3)
    words = [AppearedWord(f"word{i}", verdict, counts, 99.0 - i / 1000, 0.001, 4, (example,)) for i in range(n_words)]
    return AppearedWords(tuple(words), 1_000, (5_000, 5_000))


def stand_in(appeared: AppearedWords | None, *words: str) -> Any:
    """Return what the list needs of a result."""
    return SimpleNamespace(run={"corpora": [{"name": "then"}, {"name": "now"}]}, words=words, appeared_words=appeared)


def studied(word: str, verdict: str) -> dict[str, Any]:
    return {"word": word, "verdict": verdict, "reason": "why", "usages": []}


def test_at_most_twenty_words_of_each_verdict_have_sentences() -> None:
    (group,) = presence_groups(stand_in(found(330)))
    assert (group["verdict"], group["side"], len(group["words"]), len(group["rest"])) == ("appeared", "new", 20, 300)
    assert group["more"] == 10
    assert group["words"][0]["usages"] == [("A <b>stran", "ge</b> ", "word here.")]
    assert group["words"][0]["reason"] == "no occurrences in then and 50 occurrences in now"
    assert group["rest"][0] == ["word20", 0, 50]


def test_studied_words_come_first_and_are_listed_once() -> None:
    groups = presence_groups(
        stand_in(found(3), "Word1", "word2", "old"), [studied("Word1", "appeared"), studied("old", "disappeared")]
    )
    assert [group["verdict"] for group in groups] == ["appeared", "disappeared"]
    listed = [(word["word"], word["is_studied"]) for word in groups[0]["words"]]
    assert listed == [("Word1", True), ("word0", False), ("word2", True)]
    assert [group["n_studied"] for group in groups] == [1, 1]


def test_there_is_no_list_without_words() -> None:
    assert presence_groups(stand_in(None)) == []
    assert presence_groups(stand_in(found(0))) == []


def test_page_and_notebook_show_the_words_escaped() -> None:
    old, new = lexshift.demo_corpora()
    options: dict[str, Any] = {"model": ExampleEncoder(), "resamples": 20, "permutations": 20, "monitor": False}
    result = lexshift.compare(old, new, words=["mouse", "bread"], **options)
    assert isinstance(result, Result)
    page = render(replace(result, appeared_words=found(25, "disappeared")))
    section = page[page.index('<section class="presence"') :]
    section = section[: section.index("</section>")]
    assert page.index("</main>") < page.index('<section class="presence"')
    assert re.findall(r"<b><bdi>(\w+)</bdi></b>", section) == [f"word{i}" for i in range(20)]
    assert section.count("A &lt;b&gt;stran<mark>ge&lt;/b&gt; </mark>word here.") == 20
    assert "5 more words that disappeared" in section
    assert "50 occurrences in 1950s and 2 occurrences in 2010s" in section
    assert "<b>strange" not in page
    assert '<section class="presence"' not in render(replace(result, appeared_words=None))
    view = notebook_presence(replace(result, appeared_words=found(25, "disappeared")))
    assert "Of all words in the corpora, 25 disappeared: among them word0, " in view
    assert "<code>.appeared</code> has 5 more rows." in view
    assert notebook_presence(replace(result, appeared_words=None)) == ""
