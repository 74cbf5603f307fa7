"""Test that the methods text describes every setting of a run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import lexshift
from lexshift import Result, metrics
from lexshift.report.methods import _describe_metric, facts, methods
from lexshift.scoring.distance import DISTANCES, get
from lexshift.study.verdict import Backdrop

OLD = ["oak", "elm", "ash", "fir", "yew"]
NEW = ["tin", "zinc", "lead", "iron", "gold"]
WORDS = ["bank", "cell phone", "nowhere"]


class Toy:
    """Encoder with the given settings whose vectors are hashes of the sentence."""

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        if settings is not None:
            self.settings = settings

    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        assert len(sentences) == len(spans)
        keys = [hashlib.blake2b(sentence.encode(), digest_size=4).digest() for sentence in sentences]
        return np.array([np.frombuffer(key, np.int8) / 64 for key in keys], np.float32)


def lines(contexts: Sequence[str], n: int = 12) -> list[str]:
    """Return sentences with both words and the most frequent function words of English."""
    return [f"the {contexts[i % 5]} and the bank of {contexts[i % 3]} {i} in a cell phone" for i in range(n)]


def compared(folder: Path, words: Any = WORDS, model: Any = None, **options: Any) -> Result:
    """Run a small comparison with any settings."""
    for name, contexts in (("old.txt", OLD), ("new.txt", NEW)):
        (folder / name).write_text("\n".join(lines(contexts)) + "\n", "utf-8")
    quick = {"permutations": 99, "resamples": 20, "repeats": 3, "split": "lines", "monitor": False}
    model = Toy({"model": "toy-model"}) if model is None else model
    return lexshift.compare(folder / "old.txt", folder / "new.txt", words, model=model, **{**quick, **options})


def methods_text(folder: Path, words: Any = WORDS, model: Any = None, **options: Any) -> str:
    """Return all paragraphs of the methods text."""
    return "\n".join(methods(compared(folder, words, model, **options)))


def test_methods_are_five_paragraphs_of_whole_sentences(tmp_path: Path) -> None:
    paragraphs = methods(compared(tmp_path))
    assert len(paragraphs) == 5
    assert all(paragraph[0].isupper() and paragraph.endswith(".") for paragraph in paragraphs)
    assert not any("None" in paragraph or "  " in paragraph or "{" in paragraph for paragraph in paragraphs)


def test_corpora_are_named_with_their_sizes(tmp_path: Path) -> None:
    result = compared(tmp_path, labels=("1900s", "2000s"))
    sizes = [result.corpus(period)["words"] for period in ("old", "new")]
    assert f"1900s ({sizes[0]:,} running words) and 2000s ({sizes[1]:,} running words)" in methods(result)[0]


@pytest.mark.parametrize(
    ("words", "phrase"), [(["bank"], "We studied 1 word chosen in advance."), (WORDS, "We studied 3 words chosen")]
)
def test_given_words_are_described_as_chosen_beforehand(tmp_path: Path, words: list[str], phrase: str) -> None:
    assert phrase in methods_text(tmp_path, words)


def test_selected_words_are_described_as_the_most_frequent_ones(tmp_path: Path) -> None:
    result = compared(tmp_path, None, min_count=7, top_words=2)
    assert result.settings["function_words"] == "en"
    data = methods(result)[0]
    assert "the 2 most frequent words that occurred at least 7 times in each corpus" in data
    assert "function words and numbers" in data
    assert "in advance" not in data


def test_function_words_are_described_as_excluded_only_if_they_were(tmp_path: Path) -> None:
    for name, tail in (("old.txt", "kuu"), ("new.txt", "maa")):
        text = "\n".join(f"talo {tail} metsä järvi {i}" for i in range(12))
        (tmp_path / name).write_text(text, "utf-8")
    result = lexshift.compare(
        *(tmp_path / name for name in ("old.txt", "new.txt")),
        model=Toy(),
        min_count=10,
        permutations=9,
        resamples=5,
        repeats=2,
        split="lines",
        monitor=False,
    )
    assert result.settings["function_words"] is None
    assert "function words" not in methods(result)[0]


@pytest.mark.parametrize(
    ("match", "phrase"), [("word", "whole words, regardless of case"), ("token", "tokens, separated by white space")]
)
def test_matching_rule_is_described(tmp_path: Path, match: str, phrase: str) -> None:
    assert phrase in methods_text(tmp_path, match=match)


def test_lemma_matching_is_described(tmp_path: Path) -> None:
    pytest.importorskip("simplemma", reason="lemmas need simplemma")
    assert "all forms of a word's lemma" in methods_text(tmp_path, ["bank"], match="lemma")


def test_sampling_is_described_if_there_is_a_limit(tmp_path: Path) -> None:
    assert "more than 1,500 times in a corpus, a random sample of 1,500" in methods_text(tmp_path, max_per_word=1500)
    assert "sample of" not in methods_text(tmp_path, max_per_word=None)


@pytest.mark.parametrize(
    ("settings", "phrase"),
    [
        ({"model": "toy-model"}, "of 4 dimensions, computed in its sentence with the encoder toy-model."),
        (None, "with the encoder test_report_methods.Toy."),
        ({"size": 4}, "with a custom encoder."),
        ({"model": "m", "layers": "mean:4", "pooling": "mean"}, "We took the mean of the last four hidden layers and"),
        ({"model": "m", "layers": "mean:4", "pooling": "mean"}, "averaged over the subwords of the word."),
        ({"model": "m", "layers": "sum:13", "pooling": "sum"}, "We took the sum of the last 13 hidden layers and"),
        ({"model": "m", "layers": "sum:13", "pooling": "sum"}, "summed over the subwords of the word."),
        (
            {"model": "m", "layers": "last", "pooling": "first"},
            "the last hidden layer and used the first subword of the word.",
        ),
        ({"model": "m", "layers": "1,3", "pooling": "other"}, "layers 1,3 and pooled the subwords of the word."),
        (
            {"model": "m", "weights": "0123456789abcdef" * 4},
            "with the encoder m (SHA-256 of the weights: 0123456789ab…).",
        ),
    ],
)
def test_model_is_described(tmp_path: Path, settings: dict[str, Any] | None, phrase: str) -> None:
    assert phrase in methods_text(tmp_path, ["bank"], Toy(settings))


@pytest.mark.parametrize(
    ("metric", "phrase"),
    [
        ("kl", "the Kullback-Leibler divergence"),
        ("jeffreys", "the Jeffreys divergence"),
        ("apd", "the average pairwise cosine distance (APD)"),
        ("euclidean", "the euclidean distance"),
        ("dscd-cosine", "the expected cosine distance between vectors drawn from their Gaussians (DSCD)"),
    ],
)
def test_metric_is_described(tmp_path: Path, metric: str, phrase: str) -> None:
    assert phrase in methods_text(tmp_path, ["bank"], metric=metric)


@pytest.mark.parametrize(("rate", "phrase"), [(0.4, "40%"), (0.25, "25%"), (1.0, "100%"), (0.125, "12.5%")])
def test_swap_rate_is_described(tmp_path: Path, rate: float, phrase: str) -> None:
    text = methods_text(tmp_path, ["bank"], rate=rate)
    assert f" {phrase} of the occurrences (relative to the smaller set), chosen at random, were exchanged" in text
    assert "minimises" not in text


def test_estimated_rate_is_described_with_its_search(tmp_path: Path) -> None:
    result = compared(tmp_path, rate="auto")
    scores = methods(result)[2]
    assert f"{result.scores.sscd.rate:.0%} of the occurrences" in scores
    assert "it minimises the distance after swapping, averaged over the words." in scores


def test_random_swaps_are_described_with_their_repetitions(tmp_path: Path) -> None:
    text = methods_text(tmp_path, ["bank"], repeats=17)
    assert "chosen at random, were exchanged between the corpora" in text
    assert "over 17 repetitions" in text


def test_swaps_by_distance_are_described_without_repetitions(tmp_path: Path) -> None:
    text = methods_text(tmp_path, ["bank"], strategy="distance")
    assert "those farthest from the centroid of the other corpus, were exchanged" in text
    assert "repetitions" not in text
    assert "chosen at random" not in text


@pytest.mark.parametrize("normalised", [False, True])
def test_normalised_swap_count_is_described(tmp_path: Path, normalised: bool) -> None:
    text = methods_text(tmp_path, ["bank"], normalised=normalised)
    assert ("normalised by the sizes of the corpora" in text) is normalised


def test_test_and_intervals_are_described_with_all_their_numbers(tmp_path: Path) -> None:
    *_, last, verdicts = methods(
        compared(tmp_path, permutations=1234, resamples=1111, alpha=0.013, seed=4711, min_usages=11, max_per_word=None)
    )
    assert "up to 1,234" in last
    assert "1,111 resamples" in last
    assert "reported as changed if q ≤ 0.013 and if the gap exceeded the noise floor" in verdicts
    assert "random seed was 4711" in last
    assert "fewer than 11 occurrences" in last
    assert "95% bootstrap intervals" in last
    assert "over the 2 tested words" in last


def test_comparison_with_control_words_is_described_if_there_are_any(tmp_path: Path) -> None:
    result = compared(tmp_path)
    verdicts = methods(result)[-1]
    assert "a gap: the cosine of the embeddings of two occurrences averaged over" in verdicts
    assert not any(text in verdicts for text in ("control words", "false discovery", "points"))
    result = replace(result, backdrop=Backdrop(0.015, 150, 0.2, 0.016, is_calibrated=True))
    verdicts = methods(result)[-1]
    assert "a gap: the probability that two occurrences share a sense" in verdicts
    assert "estimated from 150 control words" in verdicts
    assert "(20% of the mean squared shift of a control word) was removed" in verdicts
    assert "The median gap of the control words was 1.6 points." in verdicts
    assert "do not exceed, was 1.5 points." in verdicts
    assert "if the local false discovery rate (Efron, 2004) was at most 0.2 and if the gap exceeded" in verdicts


def test_paper_and_version_are_named(tmp_path: Path) -> None:
    phrase = f"(context swapping; Aida and Bollegala, 2023), as implemented in lexshift {lexshift.__version__}: "
    assert phrase in methods_text(tmp_path)


@pytest.mark.parametrize(
    ("options", "method"),
    [
        ({"metric": "kl", "space": "raw", "distance_weight": 0}, "by SSCD ("),
        ({"metric": "kl", "space": "centred", "distance_weight": 0}, "by a variant of SSCD ("),
        ({"metric": "apd", "space": "raw", "distance_weight": 0}, "by a variant of SSCD ("),
        ({"metric": "kl", "space": "raw", "distance_weight": 0.25}, "by a variant of SSCD ("),
        ({}, "by a variant of SSCD ("),
    ],
)
def test_only_the_method_of_the_paper_is_called_by_its_name(
    tmp_path: Path, options: dict[str, Any], method: str
) -> None:
    assert method in methods_text(tmp_path, **options)


def test_facts_include_every_setting_of_the_run_and_of_the_encoder(tmp_path: Path) -> None:
    result = compared(
        tmp_path, model=Toy({"model": "toy-model", "some_option": [1, 2]}), rate=0.3, seed=23, max_per_word=321
    )
    known = dict(facts(result))
    assert len(known) == len(facts(result)), "a name is there twice"
    assert {name.replace("_", " ") for name in result.settings} <= known.keys()
    assert known["metric"] == "nearest"
    assert known["space"] == "standardised"
    assert known["distance weight"] == "0.8"
    assert known["rate"] == "0.3"
    assert known["repeats"] == "3"
    assert known["seed"] == "23"
    assert known["normalised"] == "no"
    assert known["max per word"] == "321"
    assert known["encoder model"] == "toy-model"
    assert known["encoder some option"] == "[1, 2]"
    assert known["lexshift"] == lexshift.__version__
    assert known["numpy"] == np.__version__
    assert {"python", "platform"} <= known.keys()


def test_facts_of_a_run_that_selected_its_words_describe_the_selection(tmp_path: Path) -> None:
    known = dict(facts(compared(tmp_path, None, min_count=5, top_words=3)))
    assert known["min count"] == "5"
    assert known["top words"] == "3"
    assert known["function words"] == "en"
    assert known["candidates"].isdigit()


def test_booleans_and_none_are_written_in_words(tmp_path: Path) -> None:
    known = dict(facts(compared(tmp_path, normalised=True, max_per_word=None)))
    assert known["normalised"] == "yes"
    assert known["max per word"] == "none"


@pytest.mark.parametrize(
    ("name", "value", "phrase"), [("seed", 0, "0"), ("seed", 1, "1"), ("repeats", 1, "1"), ("rate", 1.0, "1.0")]
)
def test_numbers_0_and_1_are_written_as_numbers(tmp_path: Path, name: str, value: float, phrase: str) -> None:
    assert dict(facts(compared(tmp_path, ["bank"], **{name: value})))[name] == phrase


def test_facts_name_each_corpus_with_its_path_and_its_digest(tmp_path: Path) -> None:
    result = compared(tmp_path, labels=("1900s", "2000s"))
    known = dict(facts(result))
    for label, name, period in (("1900s", "old.txt", "old"), ("2000s", "new.txt", "new")):
        assert str(tmp_path / name) in known[f"corpus {label}"]
        assert result.corpus(period)["content"][:16] in known[f"corpus {label}"]


def test_only_distances_between_means_are_described_as_such() -> None:
    described = {name: _describe_metric(name, get(name).usages) for name in metrics()}
    assert {name for name, text in described.items() if "their means" in text} == set(DISTANCES)
