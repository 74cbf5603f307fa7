"""Estimate the power of the permutation test: how many usages are needed to detect a change of a given size.

The usages of some pseudowords are embedded once. For each number of usages and each change, old and new sets are then
drawn from the vectors many times and tested as in ``compare``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lexshift.corpus import Corpus
from lexshift.corpus.language import detect_languages
from lexshift.corpus.objects import as_files
from lexshift.corpus.sources import Place, Reading, find_sources
from lexshift.encode import as_encoder
from lexshift.encode.built_in import resolve_model
from lexshift.errors import UserError
from lexshift.scoring.distance.metric import Metric
from lexshift.scoring.permutation import permutation_test
from lexshift.scoring.permutation_stages import LAST_STAGE, STAGES
from lexshift.scoring.scores import tested_metric
from lexshift.scoring.space import choose_space
from lexshift.simulation.pseudowords import deal_usages, invent_pseudowords, rename_usage
from lexshift.simulation.sources import Pair, SourceText, find_pairs, read_pairs
from lexshift.store.embedding import ENCODING, READING, embed_usages
from lexshift.study.settings import Settings
from lexshift.utils import checks
from lexshift.utils.arrays import Matrix
from lexshift.utils.monitor import Monitor, watching
from lexshift.utils.seeds import generator
from lexshift.utils.threads import for_each

if TYPE_CHECKING:
    import pandas as pd

SIDES = ("first", "second")
SETTINGS = ("model", "metric", "space", "alpha", "permutations", "seed", *READING, *ENCODING)
"""Settings of :func:`lexshift.compare` that :func:`power` accepts."""
TARGET_POWER = 0.8
"""Conventional target for the power of a test."""
_FINER = 5  # factor by which the smallest possible p is below the level of the test
_SPREAD = 4  # standard deviations by which one word may exceed half of the usages of a draw


def power(
    *corpora: Corpus,
    usages: Sequence[int] = (10, 20, 50, 100),
    changes: Sequence[float] = (0.1, 0.25, 0.5, 1.0),
    pseudowords: int = 20,
    pairs: Place | Iterable[Sequence[str]] | None = None,
    trials: int = 200,
    words_tested: int = 1,
    out: Place | None = None,
    monitor: Monitor | bool | None = True,
    **settings: Any,
) -> pd.DataFrame:
    """Estimate how often a planted change is detected, for each number of usages and each size of the change.

    Parameters
    ----------
    *corpora : Corpus
        Source of the sentences, preferably the corpora to be compared: text files, tables, folders, patterns or Python
        objects with texts.
    usages : sequence of int
        Numbers of usages of a pseudoword in either set.
    changes : sequence of float
        Differences in the share of one source word between the sets, above 0 and up to 1. A change of 0 is always
        added: its power is the rate of false positives.
    pseudowords, pairs
        Number of pseudowords, or their source words, as for :func:`lexshift.simulate`.
    trials : int
        Number of draws for each number of usages and each change; pseudowords take turns.
    words_tested : int
        Number of words that are tested together. A change is detected if p is at most alpha / words_tested
        (Bonferroni), so the power is a lower bound for any correction for multiple tests.
    out : path, optional
        Folder for the store of vectors, which is reused with the same corpora, pairs, usages and seed.
    monitor : bool or Monitor
        As for :func:`lexshift.compare`.
    **settings
        ``model`` and how text is read and encoded, as for :func:`lexshift.embed`; ``metric``, ``space`` and ``seed``,
        as for :func:`lexshift.compare`; ``alpha``, the level of the test; ``permutations``, their maximum number per
        test, by default ("auto") as many as the level requires.

    Returns
    -------
    DataFrame
        Columns usages, change, trials, seen (number of trials that detect the change), power (their share), low and
        high (the 95 % interval of the mean power over pairs of source words), spread (the standard deviation of the
        power between pairs).

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> import lexshift
    >>> def encode(sentences, spans):
    ...     return np.array([[len(s), start] for s, (start, _) in zip(sentences, spans)], np.float32)
    >>> lengths = SimpleNamespace(encode=encode)  # in place of a built-in model
    >>> pairs = [("mouse", "bread"), ("river", "winter")]
    >>> old, new = lexshift.demo_corpora()
    >>> table = lexshift.power(old, new, model=lengths, pairs=pairs, usages=[10], changes=[1], trials=20)
    >>> table[["usages", "change", "trials"]]
       usages  change  trials
    0      10     0.0      20
    1      10     1.0      20
    """
    import pandas as pd

    checks.keywords(settings, SETTINGS, power)
    sizes, shares = _check_sizes(usages), _check_changes(changes)
    chosen = Settings(**settings)
    level = chosen.alpha / checks.positive(words_tested, "words_tested")
    permutations = _choose_permutations(chosen.permutations, level)
    checks.positive(trials, "trials")
    source_pairs = None if pairs is None else read_pairs(pairs)
    count = checks.positive(pseudowords, "pseudowords") if source_pairs is None else len(source_pairs)
    need = max(sizes) + math.ceil(
        _SPREAD * math.sqrt(max(sizes) / 2)
    )  # of either word: half of both sets, plus a margin for chance
    how = Reading(**chosen.reading_options())
    with as_files(corpora, how) as (files, reading), watching(monitor or False) as watcher:
        for file in files:
            find_sources(file)
        languages, _ = detect_languages({str(i): file for i, file in enumerate(files)}, reading)
        model, _ = resolve_model(chosen.model, languages.values(), watcher)
        encoder = as_encoder(model, languages=languages.values(), **chosen.encoder_options())
        # A usage is drawn into the old set in one trial, into the new one in another.
        if getattr(encoder, "periods", ()):
            raise UserError("the model distinguishes periods, but usages are drawn into either set; choose another")
        text = SourceText(files, reading, watcher)
        table = _find_usages(text, source_pairs, count, need, chosen.seed)
        store = embed_usages(table, encoder, out, SIDES, monitor=watcher)
        vectors = {name: (store[name][SIDES[0]], store[name][SIDES[1]]) for name in store.words}
        trial = Trial(
            choose_space(vectors, chosen.space, encoder).apply_to_words(vectors),
            chosen.metric,
            permutations,
            chosen.seed,
            level,
        )
        cells = [(size, share) for size in sizes for share in shares]
        watcher.stage("testing", len(cells), "cells")
        rows = []
        for done, (size, share) in enumerate(cells, 1):
            results = for_each(range(trials), partial(trial.detects_change, size, share))
            turns = np.arange(trials) % len(vectors)  # the pair of each trial
            detections = np.bincount(turns, weights=list(results.values())).astype(int)  # (pairs,)
            low, high, spread = interval_over_pairs(detections.tolist(), np.bincount(turns).tolist())
            rows.append((size, share, trials, int(detections.sum()), int(detections.sum()) / trials, low, high, spread))
            watcher.advance(done, done)
    return pd.DataFrame(rows, columns=["usages", "change", "trials", "seen", "power", "low", "high", "spread"])


@dataclass(frozen=True)
class Trial:
    """A test of two sets that are drawn from the vectors of a pseudoword.

    Attributes
    ----------
    vectors : dict of a pseudoword to the arrays of its first and second source word, of shape (n, d) each
    metric : str or Metric
    permutations : int
    seed : int
    level : float
        Largest p at which a change counts as detected.
    """

    vectors: Mapping[str, tuple[Matrix, Matrix]]
    metric: str | Metric
    permutations: int
    seed: int
    level: float

    def detects_change(self, size: int, change: float, number: int) -> bool:
        """Return whether the change is detected in one draw, which depends only on its own number."""
        name = list(self.vectors)[number % len(self.vectors)]
        key = f"{name} {size} {change} {number}"
        old, new = draw_sets(*self.vectors[name], size, change, generator(self.seed, "power", key))
        metric = tested_metric(self.metric, old, new)
        return permutation_test(old, new, metric, self.permutations, self.seed, key, self.level).p <= self.level


def draw_sets(
    first: Matrix, second: Matrix, size: int, change: float, rng: np.random.Generator
) -> tuple[Matrix, Matrix]:
    """Draw an old and a new set with a planted change, (size, d) each, no row twice.

    A usage belongs to the second word with probability (1 - change) / 2 in the old set and (1 + change) / 2 in the new
    one, as in a sample of a corpus. Sets with exactly these shares would be more similar than samples are, and at
    change 0 the test would hardly ever reject.
    """
    while True:
        old, new = rng.binomial(size, [(1 - change) / 2, (1 + change) / 2]).tolist()
        if old + new <= len(second) and 2 * size - old - new <= len(first):
            break
    a, b = first[rng.permutation(len(first))], second[rng.permutation(len(second))]
    rest = size - old  # of the first word in the old set
    return np.concatenate([a[:rest], b[:old]]), np.concatenate([a[rest : rest + size - new], b[old : old + new]])


def minimum_usages(table: pd.DataFrame, target: float = TARGET_POWER) -> dict[float, int | None]:
    """Return the smallest number of usages at which each change of a table of :func:`power` reaches a target power.

    It is None if the largest number of usages in the table does not reach it.

    >>> import pandas as pd
    >>> powers = {"usages": [10, 20, 10, 20], "change": [0.5, 0.5, 1, 1], "power": [0.3, 0.6, 0.7, 0.9]}
    >>> minimum_usages(pd.DataFrame(powers))
    {0.5: None, 1.0: 20}
    """
    minimums: dict[float, int | None] = {}
    for change, rows in table[table["change"] > 0].groupby("change"):
        minimum: int | None = None
        for size, share in sorted(zip(rows["usages"], rows["power"], strict=True), reverse=True):
            if share < target:
                break
            minimum = int(size)
        minimums[float(change)] = minimum
    return minimums


def interval_over_pairs(detections: Sequence[int], trials: Sequence[int]) -> tuple[float, float, float]:
    """Return the 95 % interval of the mean power over source pairs, and the standard deviation between pairs.

    Trials of one pair share its two words, so they are not independent, and the number of pairs limits the precision.
    The interval is that of Korn and Graubard (1998) for shares in clusters: Clopper and Pearson's, for as many
    independent trials as would give the standard error that the pairs show, corrected for the degrees of freedom. The
    number of independent trials is taken to be at least that of the pairs and at most that of all trials, so the
    interval is not a point if all pairs agree.

    Parameters
    ----------
    detections, trials : sequences of int, one for each pair
        Number of trials that detect the change, and number of all trials.

    Returns
    -------
    low, high, spread : float
        The spread is the estimated standard deviation of the power between pairs, corrected for the chance of the
        trials; NaN with fewer than two pairs that have two trials.

    Examples
    --------
    >>> [round(value, 2) for value in interval_over_pairs([10, 10, 2, 0], [10, 10, 10, 10])]
    [0.01, 1.0, 0.52]
    >>> [round(value, 2) for value in interval_over_pairs([10] * 20, [10] * 20)]
    [0.81, 1.0, 0.0]
    """
    from scipy.stats import beta, norm, t

    hits, tries = np.asarray(detections, float), np.asarray(trials, float)  # (pairs,)
    pairs, total = len(tries), tries.sum()
    shares, share = hits / tries, hits.sum() / total
    if pairs < 2:
        return 0.0, 1.0, math.nan
    error = pairs / (pairs - 1) * ((tries / total) ** 2 * (shares - share) ** 2).sum()  # variance of the share
    independent = share * (1 - share) / error if error > 0 else pairs
    independent = min(max(independent, pairs), total) * (norm.ppf(0.975) / t.ppf(0.975, pairs - 1)) ** 2
    successes = share * independent
    low = float(beta.ppf(0.025, successes, independent - successes + 1)) if share > 0 else 0.0
    high = float(beta.ppf(0.975, successes + 1, independent - successes)) if share < 1 else 1.0
    has_repeats = tries > 1
    if has_repeats.sum() < 2:
        return low, high, math.nan
    own = shares[has_repeats]
    chance = (own * (1 - own) / (tries[has_repeats] - 1)).mean()
    return low, high, math.sqrt(max(float(own.var(ddof=1)) - chance, 0.0))


def _find_usages(text: SourceText, pairs: Sequence[Pair] | None, count: int, need: int, seed: int) -> pd.DataFrame:
    """Find renamed usages of each source word, as a table for :func:`lexshift.embed_usages`."""
    import pandas as pd

    counts = text.counts()
    sources = find_pairs(text, counts, pairs, [(need, need)] * count, seed)
    rows = []
    for name, sides in zip(invent_pseudowords(count, counts.counts, seed), sources.values(), strict=True):
        (dealt,) = deal_usages(*sides, ((need, need),), generator(seed, "power", f"usages {name}"))
        for word, usage in dealt:
            renamed = rename_usage(usage, name)
            rows.append((name, SIDES[word], renamed.sentence, renamed.start, renamed.end))
    return pd.DataFrame(rows, columns=["word", "corpus", "sentence", "start", "end"])


def _check_sizes(usages: Sequence[int]) -> list[int]:
    if isinstance(usages, (str, int)) or not len(usages):
        raise UserError(f"usages must be a list of whole numbers, as in 10,20,50; got {usages!r}")
    return sorted({checks.positive(size, "every number of usages", checks.MIN_ROWS) for size in usages})


def _check_changes(changes: Sequence[float]) -> list[float]:
    """Return the changes in ascending order, with 0 first."""
    if isinstance(changes, (str, float, int)) or not len(changes):
        raise UserError(f"changes must be a list of numbers from 0 to 1, as in 0.1,0.5,1; got {changes!r}")
    return sorted({0.0, *(float(checks.fraction(change, "every change")) for change in changes)})


def _choose_permutations(permutations: int | Literal["auto"], level: float) -> int:
    """Return the maximum number of permutations of a test; with "auto", p can fall well below the level."""
    if permutations == "auto":
        permutations = next((stage for stage, _ in STAGES if stage >= _FINER / level), LAST_STAGE)
    maximum = checks.positive(permutations, "permutations")
    if 1 / (maximum + 1) > level:
        raise UserError(
            f"with {maximum:,} permutations the smallest p is 1/{maximum + 1:,}, above the level {level:g}: use "
            f"{math.ceil(1 / level):,} permutations, or test fewer words"
        )
    return maximum
