"""discover: find the words of a whole vocabulary that changed their meaning between two corpora."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Unpack

from lexshift.corpus import Corpus
from lexshift.corpus.sources import Place
from lexshift.corpus.targets import Words
from lexshift.engine.local import Engine
from lexshift.scoring.distance.metric import Metric
from lexshift.scoring.permutation_stages import Permutations
from lexshift.scoring.swap import Strategy
from lexshift.store.embedding import EmbeddingOptions
from lexshift.study.discovery import Discovery
from lexshift.study.pipeline import run_study
from lexshift.study.settings import DISCOVER, make_settings
from lexshift.utils.monitor import Monitor


def discover(
    old: Corpus,
    new: Corpus | None = None,
    *,
    split_at: Any = None,
    out: Place | None = None,
    model: Any = "auto",
    labels: Sequence[str] | None = None,
    senses: bool = False,
    min_count: int = 20,
    top_words: int | None = 0,
    names: bool = False,
    max_per_word: int | None = 200,
    min_usages: int = 10,
    sample_seed: int = 0,
    duplicates: str = "once",
    match: str = "word",
    preset: str | None = None,
    metric: str | Metric = "nearest",
    strategy: Strategy = "random",
    normalised: bool = False,
    rate: float | Literal["auto"] = 0.5,
    distance_weight: float | None = None,
    space: str = "auto",
    control: Words | int | None = "auto",
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
    """Find the words of a whole vocabulary that changed their meaning between two corpora.

    The parameters are those of :func:`lexshift.compare`; some defaults differ because there are very many words.

    Parameters
    ----------
    old, new : Corpus
        The two corpora: text files, tables, folders or patterns, which are read twice, or Python objects, which are
        read once; see :data:`lexshift.corpus.Corpus`. Or one corpus with ``split_at``.
    split_at, model, labels, min_count, min_usages, sample_seed, duplicates, match
        As for :func:`lexshift.compare`.
    senses : bool
        Whether to find the senses of the changed words as well, of at most 100 with the highest scores; see
        :func:`lexshift.find_senses`. Their q is adjusted for the choice of these words.
    top_words : int, optional
        Maximum number of words, the most frequent ones first; 0 or None for all.
    names : bool
        Whether to include proper names: words that are mostly capitalised inside sentences.
    max_per_word : int, optional
        Maximum number of usages per word and corpus, drawn at random; 0 or None for all. The samples of different words
        share sentences.
    out : path, optional
        As for :func:`lexshift.compare`; an interrupted run with the same folder resumes where it stopped.
    preset, metric, strategy, normalised, rate, distance_weight, space, repeats, alpha, permutations, seed
        As for :func:`lexshift.compare`.
    control : "auto", int, path, list, mapping or None
        Control words, as for :func:`lexshift.compare`. They are chosen among the words of the vocabulary, so that no
        further usages are embedded.
    resamples : int
        Number of random half-samples for the 95 % intervals.
    engine, address, workers, monitor, **options
        As for :func:`lexshift.compare`.

    Returns
    -------
    Discovery
        A :class:`lexshift.Result` that also compares each word with words of similar frequency and ambiguity.

    Examples
    --------
    >>> import lexshift
    >>> from lexshift.demo import ExampleEncoder  # in place of a built-in model
    >>> old, new = lexshift.demo_corpora()
    >>> result = lexshift.discover(old, new, model=ExampleEncoder(), min_count=25, resamples=20, monitor=False)
    >>> "mouse" in result.words, "the" in result.words
    (True, False)
    """
    result: Discovery = run_study(
        DISCOVER, (old,) if new is None else (old, new), None, make_settings(discover, locals()), monitor
    )
    return result
