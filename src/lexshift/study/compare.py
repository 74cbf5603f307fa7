"""compare: find the words that changed their meaning between two corpora."""

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
from lexshift.study.pipeline import run_study
from lexshift.study.result import Result
from lexshift.study.settings import COMPARE, make_settings
from lexshift.utils.monitor import Monitor


def compare(
    old: Corpus,
    new: Corpus | None = None,
    words: Words | None = None,
    *,
    split_at: Any = None,
    out: Place | None = None,
    model: Any = "auto",
    labels: Sequence[str] | None = None,
    senses: bool = False,
    min_count: int = 20,
    top_words: int | None = 100,
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
    resamples: int = 1_000,
    seed: int = 0,
    engine: str | Engine = "local",
    address: str | None = None,
    workers: int | None = None,
    monitor: Monitor | bool | None = True,
    **options: Unpack[EmbeddingOptions],
) -> Result:
    """Find the words that changed their meaning between two corpora.

    Parameters
    ----------
    old, new : Corpus
        The two corpora: text files, tables, folders or patterns, or Python objects such as DataFrames and lists of
        strings; see :data:`lexshift.corpus.Corpus`. Or one corpus with ``split_at``.
    words : path, list, or mapping of words to their forms, optional
        The words to study; see :func:`lexshift.corpus.read_targets`. By default the words frequent in both corpora.
    split_at : str or date, optional
        Date that divides one corpus in two, the text before that day and the text from that day on. The dates are those
        of records (``date_column``) or in file names. The result is that of two corpora that hold these texts, except
        that samples of usages (``max_per_word`` and those of control words) depend on file names and line numbers.
    out : path, optional
        Folder for the store of vectors, the tables and the page. A second run with the same folder reuses the
        vectors. By default nothing is written, and the vectors are deleted with the result.
    model : str, path, (model, tokenizer) or Encoder
        The encoder that embeds the usages; see :func:`lexshift.encode.as_encoder`. "auto" chooses a built-in model by
        the language of the corpora.
    labels : (str, str), optional
        Names of the corpora; by default the names of their files, or "old" and "new" for Python objects.
    senses : bool
        Whether to find the senses of the words and which of them appeared or disappeared; see
        :func:`lexshift.find_senses`.
    min_count, top_words : int
        Without ``words``: minimum number of occurrences in each corpus, and maximum number of words, the most
        frequent ones first (0 or None for all).
    max_per_word : int, optional
        Maximum number of usages per word and corpus, drawn at random; 0 or None for all.
    min_usages : int
        Minimum number of usages in each corpus; a word with fewer is listed but not scored.
    sample_seed : int
        Seed for the sample of usages (``max_per_word``). Another seed selects other usages, so it needs another
        ``out``.
    duplicates : "once" or "keep"
        What to do with usages of a word that have the same sentence, at the same position, as another usage in the same
        corpus: count them once, or keep all of them.
    match : "word", "cased", "token" or "lemma"
        Rule for occurrences: whole words in any case, whole words in the given case, tokens between white space, or
        all forms of a lemma.
    preset : "paper", optional
        Settings of a publication. "paper" is SSCD as Aida and Bollegala (2023) published it: the metric "kl" at a rate
        of 0.4 with 20 random swaps, raw vectors, no weight of the distance, and words tested with the metric of the
        score. Options that differ from their defaults override the preset.
    metric : str or Metric
        The distance between the two sets of usages; :func:`lexshift.metrics` lists the names.
    strategy : "random" or "distance"
        Rule for choosing the usages to swap: random ones, or those farthest from the other corpus.
    normalised : bool
        Whether to normalise the number of swaps by the sizes of the corpora: in sentences if all files have one
        sentence per line, else in running words.
    rate : float or "auto"
        Share of usages that are swapped, from 0 to 1; "auto" selects the rate at which e_swap is smallest.
    distance_weight : float, optional
        Weight of the average pairwise distance in the score, from 0 to 1: the score is the weighted geometric mean of
        SSCD and this distance. 0 gives SSCD and 1 the distance alone; by default 0.8 for the metric "nearest", else 0.
    space : "auto", "raw", "centred" or "standardised"
        Transformation of the vectors before scoring. "auto" is the space of an encoder that has one; otherwise vectors
        are standardised. Centring and standardisation are fitted to the usages of the control words, so that the score
        of a word does not depend on the other words; without control words, to the usages of all words.
    control : "auto", int, path, list, mapping or None
        Control words: ordinary words of the corpora with which the words are compared. "auto" chooses 150 content words
        that occur 20 times or more in both corpora, by a keyed hash, so that they depend on the corpora only; a number
        chooses as many. A file, list or mapping, as for ``words``, names them. At most 40 usages of a word in each
        corpus are embedded. There are none with None or "none", or if fewer than 30 words are frequent enough.
    repeats : int
        Number of random swaps to average over.
    alpha : float
        False discovery rate at which a word is called changed.
    permutations : int or "auto"
        Maximum number of permutations per word; no p is below 1 / (permutations + 1). "auto" draws as many as the
        number of words requires, up to 100,000, and approximates p where these do not suffice.
    resamples : int
        Number of random half-samples for the 95 % intervals.
    seed : int
        Seed for swaps, permutations and bootstrap resamples.
    engine : "local", "ray" or Engine
        Engine that runs the study: this machine, a Ray cluster, or an engine of your own.
    address : str, optional
        Address of a Ray cluster, "auto" for the one that this machine belongs to; by default one is started here.
    workers : int, optional
        Number of encoders on a Ray cluster; by default one per GPU, or one for every four cores.
    monitor : bool or Monitor
        True shows progress bars in a terminal or notebook; pass a Monitor to receive progress events instead.
    **options
        Options for reading and encoding text, as for :func:`lexshift.embed`.

    Returns
    -------
    Result
        ``result.table`` is a DataFrame with the most changed word first; ``result.report(path)`` writes the page.

    Examples
    --------
    >>> import lexshift
    >>> from lexshift.demo import ExampleEncoder  # in place of a built-in model
    >>> old, new = lexshift.demo_corpora()
    >>> result = lexshift.compare(old, new, words=["mouse", "bread"], model=ExampleEncoder(), resamples=100)
    >>> sorted(result.table["word"])
    ['bread', 'mouse']

    The corpora may also be Python objects, for example lists of strings:

    >>> texts = old.read_text("utf-8").splitlines(), new.read_text("utf-8").splitlines()
    >>> again = lexshift.compare(*texts, words=["mouse", "bread"], model=ExampleEncoder(), resamples=100)
    >>> again.table.equals(result.table)
    True
    """
    result: Result = run_study(
        COMPARE, (old,) if new is None else (old, new), words, make_settings(compare, locals()), monitor
    )
    return result
