"""The power of the permutation test: how many usages are needed to see a change of a given size, by simulation.

The usages of some pseudowords are embedded once. Then for each number of usages and each change, old and new sets are
drawn from the vectors many times, and tested as ``compare`` tests them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lexshift.corpus.sources import Reading, find_sources
from lexshift.encode import as_encoder
from lexshift.errors import UserError
from lexshift.scoring.distance.metric import Metric
from lexshift.scoring.permutation import STAGES, permutation_test
from lexshift.scoring.scores import tested_metric
from lexshift.scoring.space import fit_space
from lexshift.simulation.pseudowords import deal_usages, invent_pseudowords, rename_usage
from lexshift.simulation.sources import Pair, Place, SourceText, find_pairs, read_pairs
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
"""Settings of :func:`lexshift.compare` that :func:`power` has as well."""
WANTED = 0.8
"""The power that is commonly asked for."""
_FINER = 5  # the least p is so many times below the level of the test
_SPREAD = 4  # standard deviations by which a draw may have more than half of its usages from one word


def power(
    *corpora: Place,
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
    """Estimate how often a planted change is seen, for each number of usages and each size of the change.

    Parameters
    ----------
    *corpora : str or path
        Where sentences are taken from, best those that are to be compared: text files, tables, folders or patterns.
    usages : sequence of int
        Numbers of usages of a pseudoword in either set.
    changes : sequence of float
        By how much the share of one source word differs between the sets, above 0 and up to 1. No change at all is
        always tried too: its power is the share of false alarms.
    pseudowords, pairs
        Number of pseudowords, or their source words, as for :func:`lexshift.simulate`.
    trials : int
        Draws for each number of usages and each change, the pseudowords taking turns.
    words_tested : int
        If so many words are tested together, p must be up to alpha / words_tested: what is then seen stays so after any
        correction for many tests, so the power is a lower bound.
    out : path, optional
        A folder for the store of vectors, which is used again with the same corpora, pairs, usages and seed.
    monitor : bool or Monitor
        As for :func:`lexshift.compare`.
    **settings
        ``model`` and how text is read and encoded, as for :func:`lexshift.embed`; ``metric``, ``space`` and ``seed``,
        as for :func:`lexshift.compare`; ``alpha``, the p up to which a change counts as seen; ``permutations``, their
        maximum number in a test, by default ("auto") as many as the level of the test requires.

    Returns
    -------
    DataFrame
        Columns usages, change, trials, seen, power (the share seen), low and high (the 95 % interval of the mean power
        over pairs of source words), spread (the standard deviation of the power between pairs).

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import numpy as np
    >>> import lexshift
    >>> def encode(sentences, spans):
    ...     return np.array([[len(s), start] for s, (start, _) in zip(sentences, spans)], np.float32)
    >>> lengths = SimpleNamespace(encode=encode)  # in place of model="minilm"
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
    sizes, shares = _sizes(usages), _shares(changes)
    chosen = Settings(**settings)
    level = chosen.alpha / checks.positive(words_tested, "words_tested")
    permutations = _permutations(chosen.permutations, level)
    checks.positive(trials, "trials")
    listed = None if pairs is None else read_pairs(pairs)
    count = checks.positive(pseudowords, "pseudowords") if listed is None else len(listed)
    for corpus in corpora:
        find_sources(corpus)
    need = max(sizes) + math.ceil(_SPREAD * math.sqrt(max(sizes) / 2))  # of either word: half of both sets, and luck
    with watching(monitor or False) as watcher:
        encoder = as_encoder(chosen.model, **chosen.encoder_options())
        # A usage is drawn into the old set in one trial, into the new one in another.
        if getattr(encoder, "periods", ()):
            raise UserError("usages of no period in particular cannot be embedded by a model that tells periods apart")
        text = SourceText(corpora, Reading(**chosen.reading_options()), watcher)
        table = _find_usages(text, listed, count, need, chosen.seed)
        store = embed_usages(table, encoder, out, SIDES, monitor=watcher)
        vectors = {name: (store[name][SIDES[0]], store[name][SIDES[1]]) for name in store.words}
        trial = Trial(fit_space(vectors, chosen.space).of(vectors), chosen.metric, permutations, chosen.seed, level)
        cells = [(size, share) for size in sizes for share in shares]
        watcher.stage("testing", len(cells), "cells")
        rows = []
        for done, (size, share) in enumerate(cells, 1):
            found = for_each(range(trials), partial(trial.is_seen, size, share))
            turns = np.arange(trials) % len(vectors)  # the pair of each trial
            seen = np.bincount(turns, weights=list(found.values())).astype(int)  # (pairs,)
            low, high, spread = interval_over_pairs(seen.tolist(), np.bincount(turns).tolist())
            rows.append((size, share, trials, int(seen.sum()), int(seen.sum()) / trials, low, high, spread))
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
        The p up to which a change is seen.
    """

    vectors: Mapping[str, tuple[Matrix, Matrix]]
    metric: str | Metric
    permutations: int
    seed: int
    level: float

    def is_seen(self, size: int, change: float, number: int) -> bool:
        """Return whether the change is seen in one draw, which depends on its own number and on no other draw."""
        name = list(self.vectors)[number % len(self.vectors)]
        key = f"{name} {size} {change} {number}"
        old, new = draw_sets(*self.vectors[name], size, change, generator(self.seed, "power", key))
        metric = tested_metric(self.metric, old, new)
        return permutation_test(old, new, metric, self.permutations, self.seed, key, self.level).p <= self.level


def draw_sets(
    first: Matrix, second: Matrix, size: int, change: float, rng: np.random.Generator
) -> tuple[Matrix, Matrix]:
    """Draw an old and a new set with a planted change, (size, d) each, no row twice.

    Each usage is of the second word with a chance of (1 - change) / 2 in the old set and (1 + change) / 2 in the new
    one, as in a sample of a corpus. Sets with exactly these shares would be more alike than samples are, and at change
    0 the test would hardly ever err.
    """
    while True:
        old, new = rng.binomial(size, [(1 - change) / 2, (1 + change) / 2]).tolist()
        if old + new <= len(second) and 2 * size - old - new <= len(first):
            break
    a, b = first[rng.permutation(len(first))], second[rng.permutation(len(second))]
    rest = size - old  # of the first word in the old set
    return np.concatenate([a[:rest], b[:old]]), np.concatenate([a[rest : rest + size - new], b[old : old + new]])


def least_usages(table: pd.DataFrame, wanted: float = WANTED) -> dict[float, int | None]:
    """Return for each change of a table of :func:`power` the number of usages from which on its power is enough.

    It is None if the power is not enough with the largest number that was tried.

    >>> import pandas as pd
    >>> powers = {"usages": [10, 20, 10, 20], "change": [0.5, 0.5, 1, 1], "power": [0.3, 0.6, 0.7, 0.9]}
    >>> least_usages(pd.DataFrame(powers))
    {0.5: None, 1.0: 20}
    """
    found: dict[float, int | None] = {}
    for change, rows in table[table["change"] > 0].groupby("change"):
        least: int | None = None
        for size, share in sorted(zip(rows["usages"], rows["power"], strict=True), reverse=True):
            if share < wanted:
                break
            least = int(size)
        found[float(change)] = least
    return found


def interval_over_pairs(seen: Sequence[int], trials: Sequence[int]) -> tuple[float, float, float]:
    """Return the 95 % interval of the mean power over source pairs, and the standard deviation between pairs.

    Trials of one pair share its two words, so they are not independent, and the number of pairs limits what is known.
    The interval is that of Korn and Graubard (1998) for shares in clusters: Clopper and Pearson's, for as many
    independent trials as would give the standard error that the pairs show, corrected for the degrees of freedom. The
    number of independent trials is taken to be at least that of the pairs and at most that of all trials, so the
    interval is not a point if all pairs agree.

    Parameters
    ----------
    seen, trials : sequences of int, one for each pair
        Number of trials in which the change was seen, and of all.

    Returns
    -------
    low, high, spread : float
        The spread is an estimate for the power of the pairs without the chance of the trials; NaN if it cannot be
        estimated, for fewer than two pairs with two trials.

    Examples
    --------
    >>> [round(value, 2) for value in interval_over_pairs([10, 10, 2, 0], [10, 10, 10, 10])]
    [0.01, 1.0, 0.52]
    >>> [round(value, 2) for value in interval_over_pairs([10] * 20, [10] * 20)]
    [0.81, 1.0, 0.0]
    """
    from scipy.stats import beta, norm, t

    hits, tries = np.asarray(seen, float), np.asarray(trials, float)  # (pairs,)
    pairs, total = len(tries), tries.sum()
    shares, share = hits / tries, hits.sum() / total
    if pairs < 2:
        return 0.0, 1.0, math.nan
    error = pairs / (pairs - 1) * ((tries / total) ** 2 * (shares - share) ** 2).sum()  # squared, of the share
    independent = share * (1 - share) / error if error > 0 else pairs
    independent = min(max(independent, pairs), total) * (norm.ppf(0.975) / t.ppf(0.975, pairs - 1)) ** 2
    successes = share * independent
    low = float(beta.ppf(0.025, successes, independent - successes + 1)) if share > 0 else 0.0
    high = float(beta.ppf(0.975, successes + 1, independent - successes)) if share < 1 else 1.0
    repeated = tries > 1
    if repeated.sum() < 2:
        return low, high, math.nan
    own = shares[repeated]
    chance = (own * (1 - own) / (tries[repeated] - 1)).mean()
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


def _sizes(usages: Sequence[int]) -> list[int]:
    if isinstance(usages, (str, int)) or not len(usages):
        raise UserError(f"usages must be a list of whole numbers, as in 10,20,50; got {usages!r}")
    return sorted({checks.positive(size, "every number of usages", checks.MIN_ROWS) for size in usages})


def _shares(changes: Sequence[float]) -> list[float]:
    """Return the changes in order, with no change before them."""
    if isinstance(changes, (str, float, int)) or not len(changes):
        raise UserError(f"changes must be a list of numbers from 0 to 1, as in 0.1,0.5,1; got {changes!r}")
    return sorted({0.0, *(float(checks.fraction(change, "every change")) for change in changes)})


def _permutations(permutations: int | Literal["auto"], level: float) -> int:
    """Return the maximum number of permutations of a test; "auto" is enough for a p well below the level."""
    if permutations == "auto":
        permutations = next((stage for stage, _ in STAGES if stage >= _FINER / level), STAGES[-1][0])
    most = checks.positive(permutations, "permutations")
    if 1 / (most + 1) > level:
        raise UserError(
            f"with {most:,} permutations no p is below 1/{most + 1:,}, and so none up to {level:g}: take "
            f"{math.ceil(1 / level):,} permutations, or test fewer words"
        )
    return most
