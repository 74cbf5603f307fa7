"""find_senses: find the senses of words, and which of them appeared or disappeared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from lexshift.corpus import Corpus
from lexshift.corpus.sources import Place
from lexshift.corpus.targets import Words
from lexshift.engine.local import Engine
from lexshift.scoring.permutation_stages import Permutations
from lexshift.store.embedding import EmbeddingOptions
from lexshift.study.pipeline import run_study
from lexshift.study.result import Result
from lexshift.study.settings import COMPARE, NO_CONTROL, TRACE, make_settings
from lexshift.study.trace_result import Trace
from lexshift.utils.monitor import Monitor


def find_senses(
    *corpora: Corpus,
    words: Words | None = None,
    by: str | None = None,
    split_at: Any = None,
    out: Place | None = None,
    model: Any = "auto",
    labels: Sequence[str] | None = None,
    min_count: int = 20,
    top_words: int | None = 100,
    max_per_word: int | None = 200,
    min_usages: int = 10,
    sample_seed: int = 0,
    duplicates: str = "once",
    match: str = "word",
    alpha: float = 0.05,
    permutations: Permutations = "auto",
    seed: int = 0,
    clustering: str = "graph",
    inventory: Place | None = None,
    dictionary: Place | None = None,
    substitutes: Place | None = None,
    engine: str | Engine = "local",
    address: str | None = None,
    workers: int | None = None,
    monitor: Monitor | bool | None = True,
    **options: Unpack[EmbeddingOptions],
) -> Result | Trace:
    """Find the senses of words, their shares in each period, and which of them appeared or disappeared.

    It runs :func:`lexshift.compare` for two corpora or with ``split_at``, and :func:`lexshift.trace` for more or with
    ``by``, with the default change score and with ``senses=True``.

    Parameters
    ----------
    *corpora : Corpus
        Two or more corpora, the earliest first: text files, tables, folders, patterns or Python objects
        (:data:`lexshift.corpus.Corpus`); or one corpus with ``by`` or ``split_at``.
    words : path, list, or mapping of words to their forms, optional
        The words to study; see :func:`lexshift.corpus.read_targets`. By default the words frequent in the first and the
        last period.
    by : "week", "month", "quarter", "year" or "decade", optional
        Length of the periods into which one corpus is cut, as for :func:`lexshift.trace`.
    split_at : str or date, optional
        Date that divides one corpus in two, as for :func:`lexshift.compare`.
    min_usages : int
        Minimum number of usages in a period. Senses are sought for words with enough usages in two periods; their
        usages of all periods are used.
    clustering : "graph", "agglomerative", "mixture" or "affinity"
        Rule that divides the usages of a word into senses.
    inventory : str or path, optional
        Dictionary of the known senses, which :func:`lexshift.corpus.read_dictionary` reads. Each usage gets a known
        sense or a new one.
    dictionary : str or path, optional
        Dictionary whose glosses describe the senses.
    substitutes : str or path, optional
        Masked language model, a folder or a name on the hub, whose substitutes for the word describe the senses.
    alpha : float
        False discovery rate at which a word is called changed, and over all senses of all words at which the share of a
        sense is called changed.
    out, model, labels, min_count, top_words, max_per_word, sample_seed, duplicates, match
        As for :func:`lexshift.compare`.
    permutations : int or "auto"
        Maximum number of permutations of each test.
    seed : int
        Seed of all random choices.
    engine, address, workers, monitor, **options
        As for :func:`lexshift.compare`.

    Returns
    -------
    Result or Trace
        ``result.sense_table`` has a row for each sense; ``result.word("mouse").senses`` has the senses of one word.

    Examples
    --------
    >>> import lexshift
    >>> from lexshift.demo import ExampleEncoder  # in place of a built-in model
    >>> old, new = lexshift.demo_corpora()
    >>> result = lexshift.find_senses(old, new, words=["mouse", "bread"], model=ExampleEncoder())
    >>> list(result.sense_table.columns[:4])
    ['word', 'sense', 'change', 'n_old']
    """
    question = COMPARE if split_at is not None or (len(corpora) == 2 and by is None) else TRACE
    settings = make_settings(find_senses, locals() | {"senses": True, "control": NO_CONTROL})
    result: Result | Trace = run_study(question, corpora, words, settings, monitor)
    return result
