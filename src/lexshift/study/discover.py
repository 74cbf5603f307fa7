"""discover: which of all words changed their meaning between two corpora."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Unpack

from lexshift.engine.local import Engine
from lexshift.scoring.distance.metric import Metric
from lexshift.scoring.permutation import Permutations
from lexshift.scoring.swap import Strategy
from lexshift.store.embedding import EmbeddingOptions
from lexshift.study.discovery import Discovery
from lexshift.study.periods import Place
from lexshift.study.pipeline import run_study
from lexshift.study.settings import DISCOVER, make_settings
from lexshift.utils.monitor import Monitor


def discover(
    old: Place,
    new: Place,
    *,
    labels: Sequence[str] | None = None,
    min_count: int = 20,
    top_words: int | None = 0,
    names: bool = False,
    max_per_word: int | None = 200,
    min_usages: int = 10,
    sample_seed: int = 0,
    match: str = "word",
    out: Place | None = None,
    model: Any = "minilm",
    metric: str | Metric = "nearest",
    strategy: Strategy = "random",
    normalised: bool = False,
    rate: float | Literal["auto"] = 0.3,
    keep: float | None = 0.0,
    space: str = "standardised",
    repeats: int = 20,
    alpha: float = 0.05,
    permutations: Permutations = "auto",
    resamples: int = 100,
    seed: int = 0,
    engine: str | Engine = "local",
    address: str | None = None,
    workers: int | None = None,
    monitor: Monitor | bool | None = True,
    **options: Unpack[EmbeddingOptions],
) -> Discovery:
    """Find which of all words changed their meaning between two corpora.

    The parameters mean what they mean for :func:`lexshift.compare`; some defaults differ, as there are very many words.

    Parameters
    ----------
    old, new : str or path
        The two corpora: text files, tables, folders or patterns. Each is read twice.
    labels, min_count, min_usages, sample_seed, match
        As for :func:`lexshift.compare`.
    top_words : int, optional
        Maximum number of words, the most frequent ones first; 0 or None for all.
    names : bool
        Whether names are included: words that mostly have a capital letter inside sentences.
    max_per_word : int, optional
        Maximum number of usages of a word in each corpus, an unbiased sample; 0 or None for all. Samples of different
        words share sentences.
    out : path, optional
        As for :func:`lexshift.compare`. An interrupted run resumes where it stopped.
    model, metric, strategy, normalised, rate, space, repeats, alpha, permutations, seed
        As for :func:`lexshift.compare`.
    keep : float, optional
        The share of e_original that is added to the score. None of it by default: it grows with a word's ambiguity, by
        which words of all kinds would be ranked.
    resamples : int
        Number of random half-samples for the 95 % intervals.
    engine, address, workers, monitor, **options
        As for :func:`lexshift.compare`.

    Returns
    -------
    Discovery
        The result of :func:`lexshift.compare`, with each word compared with words of similar frequency and ambiguity.

    Examples
    --------
    >>> import lexshift
    >>> from lexshift.demo import ExampleEncoder  # in place of model="minilm"
    >>> old, new = lexshift.demo_corpora()
    >>> found = lexshift.discover(old, new, model=ExampleEncoder(), min_count=25, resamples=20, monitor=False)
    >>> "mouse" in found.words, "the" in found.words
    (True, False)
    """
    result: Discovery = run_study(DISCOVER, (old, new), None, make_settings(discover, locals()), monitor)
    return result
