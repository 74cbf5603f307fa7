"""The verdicts of ``compare`` on the words of a data set, with the other words of its sentences as control words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexshift.benchmark.control_usages import find_control_usages
from lexshift.benchmark.datasets.dataset import PERIODS, Dataset
from lexshift.encode import Encoder
from lexshift.encode.protocol import optional_attribute
from lexshift.scoring.permutation import PermutationTest, permutation_test
from lexshift.scoring.permutation_stages import add_permutations, first_permutations
from lexshift.scoring.scores import tested_metric
from lexshift.scoring.significance import benjamini_hochberg
from lexshift.scoring.space import Space, calibration_space
from lexshift.store.embedding import embed_usages
from lexshift.store.siblings import Siblings
from lexshift.study.control_usages import ControlUsages, PrefixedMonitor
from lexshift.study.control_words import MIN_COUNT, N_WORDS
from lexshift.study.evidence import GapFinder
from lexshift.study.result_files import CONTROL
from lexshift.study.settings import AUTO, MIN_CONTROL_WORDS, NO_CONTROL, Settings
from lexshift.study.usages import Usages
from lexshift.study.verdict import CHANGED, TOO_FEW, Backdrop, Evidence, decide_verdict, explain_verdict
from lexshift.utils.arrays import Matrix
from lexshift.utils.monitor import Monitor
from lexshift.utils.quantities import with_unit
from lexshift.utils.threads import for_each

if TYPE_CHECKING:
    import pandas as pd


COLUMNS = (
    *("word", "verdict", "binary", "graded", "gap", "gap_low", "gap_high"),
    *("excess", "local_fdr", "q", "reason"),
)
"""Columns of :meth:`WordVerdicts.table`."""


@dataclass(frozen=True, eq=False)
class WordVerdicts:
    """The verdicts on the words of a data set.

    Attributes
    ----------
    verdicts : dict of str to str
        The verdict on each word with enough usages.
    q : dict of str to float
        The p of each word, adjusted for the false discovery rate.
    evidence : dict of str to Evidence
    backdrop : Backdrop
    """

    verdicts: dict[str, str]
    q: dict[str, float]
    evidence: dict[str, Evidence]
    backdrop: Backdrop

    def is_changed(self, words: Sequence[str]) -> list[bool]:
        """Return whether each word is called changed; a word without a verdict is not."""
        return [self.verdicts.get(word) == CHANGED for word in words]

    def table(self, data: Dataset) -> pd.DataFrame:
        """Return a row for each word of a data set with its verdict, the gold, and what the verdict rests on."""
        import pandas as pd

        rows: list[dict[str, Any]] = []
        for word in data.words:
            verdict = self.verdicts.get(word, TOO_FEW)
            row: dict[str, Any] = {"word": word, "verdict": verdict}
            row |= {"binary": data.binary.get(word), "graded": data.graded.get(word)}
            if word not in self.evidence:
                rows.append(row | {"reason": "too few usages in a period"})
                continue
            evidence = self.evidence[word]
            row |= {"gap": evidence.gap.value, "gap_low": evidence.gap.low, "gap_high": evidence.gap.high}
            row |= {"excess": evidence.excess, "local_fdr": evidence.local_fdr, "q": self.q[word]}
            rows.append(row | {"reason": explain_verdict(verdict, evidence, self.backdrop)})
        return pd.DataFrame(rows, columns=COLUMNS)


def embed_control_usages(
    data: Dataset, encoder: Encoder, folder: Path, settings: Settings, monitor: Monitor
) -> ControlUsages:
    """Embed the usages of control words in the sentences of a data set, unless the store in the folder has them."""
    if settings.control == NO_CONTROL:
        return ControlUsages()
    usages = find_control_usages(data, N_WORDS if settings.control == AUTO else settings.control)
    if not len(usages):
        note = (
            f"there is no comparison with ordinary words, because fewer than {MIN_CONTROL_WORDS} other words of the "
            f"sentences occur in {MIN_COUNT} sentences or more of each period"
        )
        monitor.note(note)
        return ControlUsages(note=note)
    words = tuple(dict.fromkeys(usages["word"].to_pylist()))
    monitor.note(
        f"comparing with {with_unit(len(words), 'ordinary words')} of the sentences "
        f"({with_unit(len(usages), 'usages')})"
    )
    prefixed = PrefixedMonitor(monitor)
    siblings = embed_usages(usages, encoder, folder / CONTROL, PERIODS, settings.precision, prefixed)
    return ControlUsages(words, siblings, CONTROL)


def judge_words(
    siblings: Siblings,
    words: Sequence[str],
    controls: ControlUsages,
    encoder: Encoder,
    space: Space,
    settings: Settings,
    monitor: Monitor,
) -> WordVerdicts:
    """Return the verdicts that ``compare`` would give to words.

    Parameters
    ----------
    siblings : Siblings
        The store of the usages.
    words : sequence of str
    controls : ControlUsages
        Without words if there is no comparison with ordinary words.
    encoder : Encoder
    space : Space
        The space of the scores. Gaps are measured in it if the encoder has no calibration.
    settings : Settings
        Its ``metric``, ``min_usages``, ``alpha`` and ``seed``.
    monitor : Monitor
    """
    usages = Usages(siblings, words, settings.min_usages)
    calibration = optional_attribute(encoder, "calibration")
    judged_space = space if calibration is None else calibration_space(encoder)
    # The file of a usage is a file of the data set, which may have the usages of one word from many documents.
    finder = GapFinder(usages, controls, calibration, judged_space, settings.seed, by_document=False)

    def scored_pair(word: str) -> tuple[Matrix, Matrix]:
        return space.apply(usages.raw(word, 0)), space.apply(usages.raw(word, 1))

    tested_pair = finder.pair if finder.removes_shift(settings.metric) else scored_pair
    q = adjusted_p(list(usages), tested_pair, settings, monitor)
    evidence, backdrop = finder.find(settings.alpha, monitor)
    verdicts = {word: decide_verdict(evidence[word], q[word], settings.alpha, backdrop.floor) for word in usages}
    return WordVerdicts(verdicts, q, evidence, backdrop)


def adjusted_p(
    words: Sequence[str], pair: Callable[[str], tuple[Matrix, Matrix]], settings: Settings, monitor: Monitor
) -> dict[str, float]:
    """Return the p of the permutation test of each word, adjusted for the false discovery rate."""

    def test(word: str, permutations: int) -> PermutationTest:
        old, new = pair(word)
        metric = settings.metric if settings.tests_own_metric else tested_metric(settings.metric, old, new)
        return permutation_test(old, new, metric, permutations, settings.seed, word)

    first = for_each(words, lambda word: test(word, first_permutations("auto")))
    tests = add_permutations(first, test, settings.alpha, monitor)
    q = benjamini_hochberg([result.p for result in tests.values()]).tolist() if tests else []
    return dict(zip(tests, q, strict=True))
