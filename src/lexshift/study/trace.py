"""trace: follow the meaning of words over several periods."""

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
from lexshift.study.settings import TRACE, make_settings
from lexshift.study.trace_result import Trace
from lexshift.utils.monitor import Monitor


def trace(
    *corpora: Corpus,
    words: Words | None = None,
    by: str | None = None,
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
) -> Trace:
    """Follow words over several periods: how much they changed, when, and whether the change is seasonal.

    Each period is compared with the one before it and with the first one, as :func:`lexshift.compare` does. The verdict
    on a word rests on a test over all periods, and on the gap between its first and its last period with enough usages,
    which is compared with the gaps of control words between the same periods.

    Parameters
    ----------
    *corpora : Corpus
        Corpora of the periods, the earliest first: text files, tables, folders, patterns or Python objects
        (:data:`lexshift.corpus.Corpus`); or one corpus with ``by``, for example a list of (date, text) pairs.
    words : path, list, or mapping of words to their forms, optional
        The words to study; see :func:`lexshift.corpus.read_targets`. By default the words frequent in the first and the
        last period, or with ``by`` in the whole corpus.
    by : "week", "month", "quarter", "year" or "decade", optional
        Length of the periods into which one corpus is cut, by the dates of its records (``date_column``) or the years
        in its file names.
    labels : list of str, optional
        Names of the periods; by default the names of their files, or numbers for Python objects.
    min_count, top_words : int
        Without ``words``: minimum number of occurrences, and maximum number of words (0 or None for all).
    max_per_word : int, optional
        Maximum number of usages per word and period, drawn at random; 0 or None for all.
    min_usages : int
        Minimum number of usages; a period with fewer usages of a word is skipped for this word.
    sample_seed, duplicates, match, out, model, preset, metric, strategy, normalised, rate, distance_weight, space
        As for :func:`lexshift.compare`. The space, unless it is fixed, is fitted to all periods, and "auto" selects
        one rate for all pairs of periods.
    control : "auto", int, path, list, mapping or None
        Control words, as for :func:`lexshift.compare`. They are frequent in the first and in the last period, and their
        usages in all periods are embedded.
    alpha : float
        False discovery rate at which a step or a word differs, or a word is called seasonal.
    permutations : int or "auto"
        As for :func:`lexshift.compare`; it applies to the tests of steps, change points and seasons.
    resamples : int
        Number of random half-samples for the 95 % intervals.
    repeats, seed, senses, engine, address, workers, monitor, **options
        As for :func:`lexshift.compare`.

    Returns
    -------
    Trace
        ``trace.table`` has a row for each word, ``trace.steps`` one for each step of each word.

    Examples
    --------
    >>> import lexshift
    >>> from lexshift.demo import ExampleEncoder  # in place of a built-in model
    >>> texts = {1995: "a mouse ran off {}", 2005: "a mouse hid, {}", 2015: "on the screen the mouse {}"}
    >>> pairs = [(year, text.format("x" * i)) for year, text in texts.items() for i in range(12)]
    >>> result = lexshift.trace(pairs, words=["mouse"], by="decade", resamples=50, model=ExampleEncoder())
    >>> result.steps[["kind", "from", "to", "differs"]].to_numpy().tolist()  # doctest: +NORMALIZE_WHITESPACE
    [['neighbours', '1990s', '2000s', False], ['neighbours', '2000s', '2010s', True],
     ['first', '1990s', '2000s', False], ['first', '1990s', '2010s', True]]
    """
    result: Trace = run_study(TRACE, corpora, words, make_settings(trace, locals()), monitor)
    return result
