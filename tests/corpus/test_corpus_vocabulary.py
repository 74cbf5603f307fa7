"""Which of all words are asked about, and why the others are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.corpus.counting import WordCounts
from lexshift.corpus.frequent import frequent_words, function_words
from lexshift.corpus.vocabulary import CHOSEN, NAME, choose_vocabulary
from lexshift.errors import UserError

ENGLISH = {"the": 40, "of": 20, "and": 20, "to": 10}


def counts(words: dict[str, int], within: dict[str, tuple[int, int]] | None = None) -> WordCounts:
    everything = {**ENGLISH, **words}
    cases = {word: (n, 0) for word, n in everything.items()} | {"i": (0, 9)} | (within or {})
    return WordCounts(everything, sum(everything.values()), cases)


def reasons(old: WordCounts, new: WordCounts, min_count: int = 2, **options: object) -> dict[str, str]:
    found = choose_vocabulary(old, new, min_count, **options)  # type: ignore[arg-type]
    return {entry.word: entry.reason for entry in found.entries}


def test_every_word_that_is_left_out_has_its_reason() -> None:
    old = counts({"mouse": 5, "1950": 9, "x": 5, "cat": 1, "dog": 6, "Paris": 0, "paris": 8, "rare": 1})
    new = counts({"mouse": 4, "1950": 9, "x": 5, "cat": 5, "dog": 1, "paris": 8, "rare": 1}, {"paris": (1, 7)})
    old.within["paris"] = (0, 8)
    assert reasons(old, new) == {
        **dict.fromkeys(ENGLISH, "function word"),
        "1950": "number, sign or single letter",
        "x": "number, sign or single letter",
        "paris": NAME,
        "mouse": CHOSEN,
        "dog": "rare in new",
        "cat": "rare in old",
    }
    found = choose_vocabulary(old, new, 2)
    assert found.words == ["mouse"]
    assert found.rarer == 2
    assert found.names == "left out"
    assert found.language == "en"
    assert found.reasons()["function word"] == 4


def test_names_are_kept_if_asked_for() -> None:
    both = counts({"mouse": 5, "paris": 8}, {"paris": (0, 8)})
    assert reasons(both, both)["paris"] == NAME
    assert reasons(both, both, names=True)["paris"] == CHOSEN
    assert choose_vocabulary(both, both, 2, names=True).names == "kept"


@pytest.mark.parametrize(
    ("small", "capital", "name"), [(4, 5, True), (5, 5, False), (0, 4, True), (1, 1, False), (0, 2, False)]
)
def test_a_name_mostly_has_a_capital_letter_in_both_corpora_together(small: int, capital: int, name: bool) -> None:
    """At least five words inside sentences say anything: each corpus has as many, so 0 and 2 are four."""
    both = counts({"mouse": 5, "paris": 20}, {"paris": (small, capital)})
    assert (reasons(both, both)["paris"] == NAME) == name


def test_a_text_without_capital_letters_has_no_names_that_can_be_told() -> None:
    lower = WordCounts({**ENGLISH, "paris": 9}, 99, dict.fromkeys(("the", "paris"), (9, 0)))
    cased = counts({"paris": 9}, {"paris": (0, 9)})
    found = choose_vocabulary(lower, cased, 2)
    assert found.words == ["paris"]
    assert found.names == "kept, as there are hardly any capital letters to tell them by"


def test_german_nouns_are_no_names() -> None:
    words = dict.fromkeys(sorted(function_words("de"))[:60], 9) | {"haus": 9}
    both = WordCounts(words, sum(words.values()), {"haus": (0, 9), "der": (99, 0)})
    found = choose_vocabulary(both, both, 2)
    assert found.language == "de"
    assert found.words == ["haus"]
    assert found.names.startswith("kept, as every noun")


def test_forms_are_counted_under_their_lemma_and_function_words_by_themselves() -> None:
    old, new = counts({"mouse": 1, "mice": 2}), counts({"mouse": 3, "mice": 1})
    found = choose_vocabulary(old, new, 3, lemmas={"mice": "mouse", "mouse": "mouse", "the": "mouse"})
    assert [(e.word, e.n_old, e.n_new) for e in found.entries if e.reason == CHOSEN] == [("mouse", 3, 4)]


@given(
    st.dictionaries(st.sampled_from([f"w{c}" for c in "abcdefgh"]), st.integers(0, 9)),
    st.dictionaries(st.sampled_from([f"w{c}" for c in "abcdefgh"]), st.integers(0, 9)),
    st.integers(1, 5),
    st.none() | st.integers(1, 4),
)
def test_the_chosen_are_those_that_a_comparison_would_choose(
    a: dict[str, int], b: dict[str, int], least: int, top: int | None
) -> None:
    old, new = counts(a), counts(b)
    try:
        expected = frequent_words(old, new, least, top or 1_000).words
    except UserError:
        with pytest.raises(UserError, match="no word but function words"):
            choose_vocabulary(old, new, least, top)
        return
    found = choose_vocabulary(old, new, least, top)
    assert tuple(found.words) == expected
    often = {w for w in {*a, *b, *ENGLISH} if max(old.counts.get(w, 0), new.counts.get(w, 0)) >= least}
    assert {entry.word for entry in found.entries} == often
    assert found.rarer == len({*old.counts, *new.counts} - often)
    assert sum(found.reasons().values()) == len(often) - len(expected)


def test_words_beyond_the_most_frequent_say_so() -> None:
    both = counts({"mouse": 5, "bread": 4, "cloud": 3})
    told = reasons(both, both, top_words=1)
    assert (told["mouse"], told["bread"], told["cloud"]) == (CHOSEN, *["beyond the 1 most frequent"] * 2)
