"""compare: which words changed their meaning between two corpora."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Unpack

from lexshift.corpus.targets import Words
from lexshift.engine.local import Engine
from lexshift.scoring.distance.metric import Metric
from lexshift.scoring.permutation import Permutations
from lexshift.scoring.swap import Strategy
from lexshift.store.embedding import EmbeddingOptions
from lexshift.study.periods import Place
from lexshift.study.pipeline import run_study
from lexshift.study.result import Result
from lexshift.study.settings import COMPARE, make_settings
from lexshift.utils.monitor import Monitor


def compare(
    old: Place,
    new: Place,
    words: Words | None = None,
    *,
    labels: Sequence[str] | None = None,
    min_count: int = 20,
    top_words: int | None = 100,
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
    keep: float | None = None,
    space: str = "standardised",
    repeats: int = 20,
    alpha: float = 0.05,
    permutations: Permutations = "auto",
    resamples: int = 1_000,
    seed: int = 0,
    engine: str | Engine = "local",
    address: str | None = None,
    workers: int | None = None,
    monitor: Monitor | bool | None = True,
    **options: Unpack[EmbeddingOptions],
) -> Result:
    """Find which words changed their meaning between two corpora.

    Parameters
    ----------
    old, new : str or path
        The two corpora: text files, tables, folders or patterns.
    words : path, list, or mapping of words to their forms, optional
        The words to study; see :func:`lexshift.corpus.read_targets`. By default those frequent in both corpora.
    labels : (str, str), optional
        Names of the corpora; by default those of their files.
    min_count, top_words : int
        Without ``words``: minimum number of occurrences in each corpus, and maximum number of words (0 or None for
        all), the most frequent ones first.
    max_per_word : int, optional
        Maximum number of usages of a word in each corpus, an unbiased sample; 0 or None for all.
    min_usages : int
        A word with fewer usages in a corpus is listed but not scored.
    sample_seed : int
        Seed for the sample of usages (``max_per_word``). With another seed other usages are embedded, so it needs
        another ``out``.
    match : "word", "cased", "token" or "lemma"
        What counts as an occurrence.
    out : path, optional
        Folder for the store of vectors, the tables and the page. A second run with the same folder does not embed
        again what was embedded. By default nothing is kept once the result is deleted.
    model : str, path, (model, tokenizer) or Encoder
        The encoder that embeds the usages; see :func:`lexshift.encode.as_encoder`.
    metric : str or Metric
        The distance between the two sets of usages; :func:`lexshift.metrics` lists the names.
    strategy : "random" or "distance"
        Which usages are swapped: random ones, or those farthest from the other corpus.
    normalised : bool
        Whether the number of swaps is normalised by the sizes of the corpora: by their numbers of sentences if all
        files have one sentence per line, else by their running words.
    rate : float or "auto"
        The share of usages that are swapped, from 0 to 1; "auto" takes the rate at which e_swap is least.
    keep : float, optional
        The share of e_original that is added to the score; by default 0.25 for the metric "nearest", else 0.
    space : "raw", "centred" or "standardised"
        Transformation of the vectors before scoring; it is fitted to the usages of all words that are compared.
    repeats : int
        Number of random swaps to average over.
    alpha : float
        The false discovery rate at which a word counts as changed.
    permutations : int or "auto"
        Maximum number of permutations per word; no p is below 1 / (permutations + 1). "auto" draws as many as the
        number of words requires, up to 100,000, and approximates p where these are not enough.
    resamples : int
        Number of random half-samples for the 95 % intervals.
    seed : int
        Seed for swaps, permutations and bootstrap resamples.
    engine : "local", "ray" or Engine
        Where the work is done: on this machine, or on a Ray cluster.
    address : str, optional
        Address of a Ray cluster, "auto" for the one that this machine belongs to; by default one is started here.
    workers : int, optional
        Number of encoders on a Ray cluster; by default one per GPU, or one for every four cores.
    monitor : bool or Monitor
        True shows progress bars in a terminal or notebook; pass a Monitor to receive progress events instead.
    **options
        How text is read and encoded, as for :func:`lexshift.embed`.

    Returns
    -------
    Result
        ``result.table`` is a pandas frame with the most changed word first, ``result.report(path)`` writes the page.

    Examples
    --------
    >>> import lexshift
    >>> from lexshift.demo import ExampleEncoder  # in place of model="minilm"
    >>> old, new = lexshift.demo_corpora()
    >>> result = lexshift.compare(old, new, words=["mouse", "bread"], model=ExampleEncoder(), resamples=100)
    >>> sorted(result.table["word"])
    ['bread', 'mouse']
    """
    result: Result = run_study(COMPARE, (old, new), words, make_settings(compare, locals()), monitor)
    return result
