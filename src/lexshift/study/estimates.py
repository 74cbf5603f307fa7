"""Estimate how long scoring takes, and how much disk the results take, from the numbers of usages."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from lexshift.scoring.scores import Comparisons, score_words
from lexshift.store.plan import StoreContents
from lexshift.study.settings import Settings
from lexshift.study.study_plan import TimeRange
from lexshift.study.usages import find_steps
from lexshift.utils.arrays import Matrix
from lexshift.utils.monitor import Silent
from lexshift.utils.threads import available_cores

ENCODING_RANGE, SCORING_RANGE = (0.8, 1.4), (0.8, 2.0)
"""Factors of the measured times: other programs and the lengths of sentences make a run faster or slower."""
_PROBES_PER_CORE = 3  # pairs whose scoring is timed
_MAX_PROBE = 1_000  # usages on each side of such a pair
_SENSES = 0.7  # time for the senses of a word, relative to that for its score
_PAGE_SECONDS, _WORD_SECONDS = (0.2, 2.0), (0.01, 0.04)  # for writing the page and the tables
_PAGE_BYTES, _WORD_BYTES, _USAGE_BYTES = 100_000, 7_000, 110  # of the page and the tables
_PAGE_USAGES, _PAGE_USAGES_OF_WORD = 60_000, 150  # usages on the page, and of a word and a corpus
_SENSE_BYTES = 150  # of a usage in each of the two tables of usages with senses, without its sentence


def pair_sizes(
    contents: StoreContents, words: Sequence[str], labels: Sequence[str], min_usages: int
) -> list[tuple[int, int]]:
    """Return the numbers of usages of all pairs of periods that will be scored.

    Parameters
    ----------
    contents : StoreContents
    words : sequence of str
        The words of the study; those that do not occur are ignored.
    labels : sequence of str
        The periods, in their order.
    min_usages : int
        Minimum number of usages in a period.
    """
    rows = {word: i for i, word in enumerate(contents.forms)}
    stored_labels = [entry["label"] for entry in contents.corpora]
    columns = [stored_labels.index(label) for label in labels]
    sizes = []
    for word in words:
        if word in rows:
            counts = contents.counts[rows[word], columns].tolist()
            pairs = dict.fromkeys((step.start, step.end) for step in find_steps(word, counts, min_usages))
            sizes += [(counts[start], counts[end]) for start, end in pairs]
    return sizes


def estimate_scoring(sizes: Sequence[tuple[int, int]], dimensions: int, settings: Settings) -> TimeRange:
    """Return the time for scoring and writing, measured on random vectors in sets of typical sizes.

    Parameters
    ----------
    sizes : sequence of (int, int)
        Numbers of usages of all pairs.
    dimensions : int
        Dimensions of the vectors.
    settings : Settings
    """
    n = len(sizes)
    writing = TimeRange(*(page + n * word for page, word in zip(_PAGE_SECONDS, _WORD_SECONDS, strict=True)))
    if not sizes or not dimensions:
        return writing
    ordered = sorted(sizes, key=lambda size: size[0] * size[1])
    probes = [ordered[i] for i in np.linspace(0, n - 1, min(n, _PROBES_PER_CORE * available_cores())).astype(int)]
    _time_scoring(probes[:1], dimensions, settings)  # compiles the kernels or loads them
    seconds = min(_time_scoring(probes, dimensions, settings) for _ in range(2)) / len(probes) * n
    seconds *= 1 + _SENSES * settings.senses
    return TimeRange(*(factor * seconds for factor in SCORING_RANGE)).plus(writing)


def _time_scoring(sizes: Sequence[tuple[int, int]], dimensions: int, settings: Settings) -> float:
    """Return the seconds that scoring some pairs takes; large pairs are replaced by smaller ones and scaled."""
    rng = np.random.default_rng(0)
    smaller = [(min(old, _MAX_PROBE), min(new, _MAX_PROBE)) for old, new in sizes]
    scale = sum(old * new for old, new in sizes) / sum(old * new for old, new in smaller)
    pairs: list[tuple[Matrix, Matrix]] = [
        (
            rng.normal(size=(old, dimensions)).astype(np.float32),
            rng.normal(i % 2, size=(new, dimensions)).astype(np.float32),  # every other pair differs
        )
        for i, (old, new) in enumerate(smaller)
    ]
    scoring = settings.scoring()
    begun = time.perf_counter()
    score_words(Comparisons(range(len(pairs)), pairs.__getitem__), scoring, Silent())
    return (time.perf_counter() - begun) * scale


def estimate_results_bytes(contents: StoreContents, has_senses: bool) -> int:
    """Return about how many bytes the page and the tables take, without the stores.

    Parameters
    ----------
    contents : StoreContents
        The usages of the words.
    has_senses : bool
        Whether senses are sought, so that there are tables of all usages.
    """
    shown = min(int(np.minimum(contents.counts, _PAGE_USAGES_OF_WORD).sum()), _PAGE_USAGES)
    n_bytes = _PAGE_BYTES + len(contents.forms) * _WORD_BYTES + shown * _USAGE_BYTES
    if has_senses:
        sentences = contents.table["sentence"]
        n_bytes += 2 * (sentences.nbytes + len(sentences) * _SENSE_BYTES)
    return n_bytes
