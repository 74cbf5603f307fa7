"""Test the words that appeared or disappeared: the statistic against its definition, and complete runs."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
import pytest
from context_encoder import ContextEncoder
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2_contingency, false_discovery_control

from lexshift import Discovery, Result, Trace, compare, discover, find_senses, load, trace
from lexshift.corpus.counting import WordCounts
from lexshift.study.appeared_words import LISTED, find_candidates
from lexshift.study.settings import Settings

Paths: TypeAlias = tuple[Path, Path]

FAST: dict[str, Any] = {"permutations": 50, "resamples": 20, "monitor": False, "split": "lines", "language": "en"}
COLUMNS = [
    *("word", "verdict", "n_old", "n_new", "per_million_old", "per_million_new", "log_likelihood", "q", "documents"),
    "examples",
]
WORDS = ["bakan", "kelin", "limon", "morun", "nuben", "rasen", "seton", "tikan"]  # in both corpora
PLANTED = {
    "corn": (40, 0),
    "ghost": (38, 2),  # mostly with a capital letter
    "horse": (30, 20),
    "carts": (19, 0),  # too rare
    "laptop": (0, 60),
    "online": (3, 45),
    "hath": (50, 0),  # a function word
    "jerusalem": (50, 0),  # a name
    "1850": (50, 0),
}


def lines_of(period: int) -> list[str]:
    """Return sentences with the planted words, all of them different."""
    rng = random.Random(period)
    lines = [f"The {' and the '.join(rng.choices(WORDS, k=5))} in Paris." for _ in range(150)]
    for word, counts in PLANTED.items():
        for i in range(counts[period]):
            spelt = word.capitalize() if word == "jerusalem" or (word == "ghost" and i % 5) else word
            rare = ["".join(rng.choices("abcdefghij", k=7)) for _ in range(6)]  # words that nothing else contains
            lines.append(f"The {' '.join(rare)} of {spelt} with a {rng.choice(WORDS)}.")
    rng.shuffle(lines)
    return lines


def write_corpora(folder: Path, n_files: int = 4) -> Paths:
    """Write two folders of files; "tiger" is in a single file, and "motto" in a single sentence."""
    for period, name in enumerate(("1850s", "1990s")):
        (folder / name).mkdir(parents=True)
        lines = lines_of(period)
        for number in range(n_files):
            own = lines[number::n_files]
            if period:
                own += ["The motto of all."] * 15
                own += [f"The {a} and the {b} of the tiger." for a in WORDS for b in WORDS] * (number == 0)
            (folder / name / f"{number}.txt").write_text("\n".join(own) + "\n", "utf-8")
    return folder / "1850s", folder / "1990s"


@pytest.fixture(autouse=True)
def _quick_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk in tests."""
    monkeypatch.setattr("os.fsync", lambda _: None)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> Paths:
    return write_corpora(tmp_path_factory.mktemp("corpora"))


@pytest.fixture(scope="module")
def saved(paths: Paths, tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """Return a comparison of one word and its folder; do not write to it."""
    out = tmp_path_factory.mktemp("saved") / "out"
    return run(paths, out=out), out


def run(paths: Paths, words: Any = ("bakan",), **options: Any) -> Result:
    return compare(*paths, words, **{"model": ContextEncoder(), **FAST, **options})


def verdicts(result: Result | Trace) -> dict[str, str]:
    return dict(zip(result.appeared["word"], result.appeared["verdict"], strict=True))


# -------------------------------------------------------------------------------------------------------- the statistic


@given(
    st.dictionaries(
        st.sampled_from(["corn", "ghost", "horse", "laptop", "online", "cart", "river", "bread"]),
        st.tuples(st.integers(0, 120), st.integers(0, 120)),
        min_size=1,
    ),
    st.tuples(st.integers(2_000, 50_000), st.integers(2_000, 50_000)),
    st.sampled_from([0.05, 0.001]),
)
def test_candidates_follow_from_the_definition(
    counts: dict[str, tuple[int, int]], sizes: tuple[int, int], alpha: float
) -> None:
    """The slow twin: each word by itself, with the tests of scipy."""
    corpora = [WordCounts({word: n[i] for word, n in counts.items() if n[i]}, sizes[i]) for i in (0, 1)]
    found = find_candidates(corpora, Settings(alpha=alpha), "en", "en")
    tested = {word: n for word, n in counts.items() if sum(n) >= 20}
    p = []
    for old, new in tested.values():
        tails = [binomtest(old, old + new, sizes[0] / sum(sizes), side).pvalue for side in ("less", "greater")]
        p.append(min(1.0, 2 * min(tails)))
    q = dict(zip(tested, false_discovery_control(p) if p else [], strict=True))
    expected = {}
    for word, (old, new) in tested.items():
        rates = old / sizes[0], new / sizes[1]
        if q[word] <= alpha and min(old, new) < 10:
            if old >= 20 and rates[0] >= 10 * rates[1]:
                expected[word] = "disappeared"
            elif new >= 20 and rates[1] >= 10 * rates[0]:
                expected[word] = "appeared"
    assert {word.word: word.verdict for word in found.words} == expected
    assert found.tested == len(tested)
    for listed in found.words:
        rows = [[n, size - n] for n, size in zip(listed.counts, sizes, strict=True)]
        ratio = chi2_contingency(rows, correction=False, lambda_="log-likelihood").statistic
        assert listed.log_likelihood == pytest.approx(ratio, rel=1e-6)
        assert listed.q == pytest.approx(q[listed.word])
    ranked = [word.log_likelihood for word in found.words]
    assert ranked == sorted(ranked, reverse=True)


def test_word_that_is_absent_from_a_tiny_corpus_is_no_candidate() -> None:
    tiny, large = WordCounts({"bread": 30}, 100), WordCounts({"bread": 3_000, "laptop": 60}, 10_000)
    assert find_candidates([tiny, large], Settings(), "en", "en").words == ()
    large_old = WordCounts({"bread": 3_000}, 10_000)
    (word,) = find_candidates([large_old, large], Settings(), "en", "en").words
    assert (word.word, word.verdict, word.counts) == ("laptop", "appeared", (0, 60))


def test_lemmas_are_counted_if_words_are_matched_by_lemma() -> None:
    pytest.importorskip("simplemma")
    old = WordCounts({"mouse": 12, "mice": 15, "bread": 400}, 20_000)
    new = WordCounts({"bread": 400}, 20_000)
    assert find_candidates([old, new], Settings(), "en", "en").words == ()
    (word,) = find_candidates([old, new], Settings(match="lemma"), "en", "en").words
    assert (word.word, word.counts) == ("mouse", (27, 0))


# -------------------------------------------------------------------------------------------------------- complete runs


def test_words_are_found_although_they_were_not_requested(saved: tuple[Result, Path]) -> None:
    result, _ = saved
    expected = {"laptop": "appeared", "online": "appeared", "corn": "disappeared", "ghost": "disappeared"}
    assert verdicts(result) == expected
    table = result.appeared.set_index("word")
    assert result.appeared.columns.tolist() == COLUMNS
    for word in expected:
        assert table.loc[word, ["n_old", "n_new"]].tolist() == list(PLANTED[word])
        for period, n in zip(("old", "new"), PLANTED[word], strict=True):
            assert table.loc[word, f"per_million_{period}"] == 1e6 * n / result.corpus(period)["words"]
        assert table.loc[word, "documents"] == 4
    assert table["log_likelihood"].is_monotonic_decreasing
    assert (table["q"] <= 0.05).all()
    assert result.table["word"].tolist() == ["bakan"]


def test_examples_are_different_sentences_with_the_word(saved: tuple[Result, Path], paths: Paths) -> None:
    result, _ = saved
    assert result.appeared_words is not None
    for word in result.appeared_words.words:
        assert 2 <= len(word.examples) <= 3
        assert len({example.file for example in word.examples}) == len(word.examples)
        for example in word.examples:
            assert example.sentence[example.start : example.end].lower() == word.word
            lines = (paths[word.side] / example.file).read_text("utf-8").splitlines()
            assert lines[example.line - 1] == example.sentence
        row = result.appeared[result.appeared["word"] == word.word].iloc[0]
        assert row["examples"] == " | ".join(example.sentence for example in word.examples)


def test_words_are_saved_and_loaded(saved: tuple[Result, Path]) -> None:
    result, out = saved
    pd.testing.assert_frame_equal(pd.read_csv(out / "appeared.csv"), result.appeared)
    assert load(out).appeared_words == result.appeared_words
    record = json.loads((out / "run.json").read_text("utf-8"))["appeared"]
    assert record["tested"] == len(WORDS) + 7  # with carts removed as too rare, and tiger and motto
    assert record["appeared"] == {"words": 2, "first": {"laptop": [0, 60], "online": [3, 45]}}
    assert list(record["disappeared"]["first"]) == ["corn", "ghost"]


def test_headline_names_the_words(saved: tuple[Result, Path]) -> None:
    expected = "Of all words in the corpora, 2 appeared: laptop, online; 2 disappeared: corn, ghost"
    assert saved[0].appeared_headline() == expected
    assert expected in saved[0]._repr_html_()


def test_word_in_few_documents_is_left_out_unless_there_are_no_others(paths: Paths, tmp_path: Path) -> None:
    assert "tiger" not in verdicts(run(paths))
    single = [tmp_path / f"{path.name}.txt" for path in paths]
    for path, folder in zip(single, paths, strict=True):
        path.write_text("".join(file.read_text("utf-8") for file in sorted(folder.iterdir())), "utf-8")
    found = run((single[0], single[1])).appeared.set_index("word")
    assert found.loc["tiger", ["verdict", "documents"]].tolist() == ["appeared", 1]


def test_repeated_sentences_count_once_unless_they_are_kept(paths: Paths) -> None:
    assert "motto" not in verdicts(run(paths))
    assert verdicts(run(paths, duplicates="keep"))["motto"] == "appeared"


def test_discovery_lists_them_and_names_on_request(paths: Paths) -> None:
    options: dict[str, Any] = {"model": ContextEncoder(), **FAST, "min_count": 100}
    result = discover(*paths, **options)
    assert isinstance(result, Discovery)
    assert verdicts(result) == verdicts(run(paths))
    assert verdicts(discover(*paths, **options, names=True)) == verdicts(result) | {"jerusalem": "disappeared"}


def test_trace_compares_its_first_and_its_last_corpus(paths: Paths, tmp_path: Path) -> None:
    middle = tmp_path / "1900s.txt"
    middle.write_text("\n".join(f"The {a} and the {b} of the steamer." for a in WORDS for b in WORDS) + "\n", "utf-8")
    result = trace(paths[0], middle, paths[1], words=["bakan"], model=ContextEncoder(), **FAST, out=tmp_path / "out")
    assert verdicts(result) == verdicts(run(paths))
    assert load(tmp_path / "out").appeared_words == result.appeared_words
    assert "Words that appeared or disappeared" in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_periods_of_one_corpus_are_counted_by_themselves(paths: Paths, tmp_path: Path) -> None:
    table = tmp_path / "news.jsonl"
    texts = [
        [line for file in sorted(path.iterdir()) for line in file.read_text("utf-8").splitlines()] for path in paths
    ]
    rows = [("1905", line) for line in texts[0][:40]] + [("1995", line) for line in texts[1]]
    rows += [("1855", line) for line in texts[0]] + [("1905", "The laptop of corn.")] * 30
    random.Random(0).shuffle(rows)
    records = [{"date": date, "text": line, "book": str(i % 5)} for i, (date, line) in enumerate(rows)]
    table.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    options = {**FAST, "date_column": "date", "document_column": "book"}
    result = trace(table, words=["bakan"], by="decade", model=ContextEncoder(), **options)
    assert verdicts(result) == verdicts(run(paths)) | {"tiger": "appeared"}  # in five books here
    counted = dict(zip(result.appeared["word"], result.appeared["n_old"], strict=True))
    assert {word: n for word, n in counted.items() if n} == {"corn": 40, "ghost": 38, "online": 3}


def test_nothing_is_counted_for_this_list_alone(paths: Paths, tmp_path: Path) -> None:
    result = run(paths, control="none", out=tmp_path / "out")
    assert result.appeared_words is None
    assert result.appeared.empty
    assert result.appeared.columns.tolist() == COLUMNS
    assert result.appeared_headline() is None
    assert result.run["appeared"] is None
    assert not (tmp_path / "out" / "appeared.csv").exists()
    assert load(tmp_path / "out").appeared_words is None
    options: dict[str, Any] = {"model": ContextEncoder(), "split": "lines", "language": "en", "monitor": False}
    assert find_senses(*paths, words=["bakan"], **options).appeared_words is None


def test_words_without_a_control_are_still_counted_if_they_are_chosen_by_frequency(paths: Paths) -> None:
    assert verdicts(run(paths, None, control="none", min_count=100)) == verdicts(run(paths))


def test_same_rule_as_for_requested_words(paths: Paths) -> None:
    result = run(paths, ["corn", "ghost", "laptop", "online", "carts", "horse"])
    requested = dict(zip(result.table["word"], result.table["verdict"], strict=True))
    assert {word: requested[word] for word in verdicts(result)} == verdicts(result)
    assert (requested["carts"], requested["horse"] in ("appeared", "disappeared")) == ("too few", False)


def test_long_list_is_shortened_in_the_headline() -> None:
    words = [f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(30)]
    old, new = WordCounts({"bread": 400}, 9_000), WordCounts({"bread": 400} | dict.fromkeys(words, 40), 9_000)
    headline = find_candidates([old, new], Settings(), "en", "en").headline()
    named = ", ".join(words[:LISTED])
    assert headline == f"Of all words in the corpora, 30 appeared: among them {named}"
