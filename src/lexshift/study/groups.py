"""The changes of words in groups of texts, which answer the question whether it is time, or who is talking.

A group is a party, an author or any other kind of text that occurs in both corpora. For each group with enough usages
of a word in both corpora, the gap between the corpora is estimated and tested as for the whole corpora, with the same
vectors, and the word has a verdict within the group by the same rule (:mod:`lexshift.study.verdict`). The control words
are those of the whole corpora. For each pair of such groups the difference of the gaps is tested
(:mod:`lexshift.scoring.group_difference`). The q-values of the groups are adjusted over all words and groups, those of
the differences over all words and pairs of groups.

The reading of a word and a pair of groups is the first of these that holds:

| reading | condition |
| --- | --- |
| too few usages | a group has fewer than ``min_usages`` usages in a corpus |
| changed more in one of them | q of the difference is at most alpha; changed in the group with the larger gap |
| changed in both | the word changed in both groups |
| changed in one | the word changed in one of the groups |
| who is talking | the corpora differ, no group does, and the shares of the groups differ |
| unclear | the word changed between the corpora, and none of the above |
| no change shown | all other cases |

"Who is talking" requires more than tests that are not significant. The verdict on the word is changed or differs. No
group alone has a q of at most alpha, and all groups together have a p above alpha by Fisher's method, which may be used
because different groups have different usages. The shares of the groups in the usages of the word differ by a
chi-squared test at the level alpha. All usages belong to the groups, and each group has enough of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from lexshift.errors import join_names
from lexshift.scoring.gap import Gap
from lexshift.scoring.group_difference import GroupDifference
from lexshift.scoring.permutation import PermutationTest
from lexshift.scoring.significance import benjamini_hochberg
from lexshift.study.verdict import CHANGED, DIFFERS, TOO_FEW, Evidence, decide_verdict

if TYPE_CHECKING:
    import pandas as pd

DIFFERENT, BOTH, ONE, COMPOSITION, UNCLEAR_GROUP, NO_CHANGE, FEW = (
    "different",
    "both",
    "one",
    "who is talking",
    "unclear",
    "no change",
    "too few",
)
READINGS = (DIFFERENT, BOTH, ONE, COMPOSITION, UNCLEAR_GROUP, NO_CHANGE, FEW)
"""Kinds of readings, in the order in which the headline counts them."""
_HEADLINE = {
    DIFFERENT: ("changed more in one group than in another",) * 2,
    BOTH: ("changed in several groups without a difference shown",) * 2,
    ONE: ("changed in one group, but a difference was not shown",) * 2,
    COMPOSITION: ("differs by who is talking", "differ by who is talking"),
    UNCLEAR_GROUP: ("changed, but it is unclear in which group",) * 2,
    NO_CHANGE: ("shows no change", "show no change"),
    FEW: ("has too few usages in the groups", "have too few usages in the groups"),
}  # in the singular and the plural


@dataclass(frozen=True)
class GroupChange:
    """The change of a word in a group.

    Attributes
    ----------
    word, group : str
    n_old, n_new : int
        Number of usages of the group in each corpus.
    evidence : Evidence or None
        The gap between the corpora, and how it compares with ordinary words; None with too few usages.
    test : PermutationTest or None
        The permutation test of the energy distance; None with too few usages.
    """

    word: str
    group: str
    n_old: int
    n_new: int
    evidence: Evidence | None
    test: PermutationTest | None


@dataclass(frozen=True)
class GroupPair:
    """The difference between the changes of a word in two groups; None with too few usages in one of them."""

    word: str
    first: str
    second: str
    difference: GroupDifference | None


class PairReading(NamedTuple):
    """A word and two groups with the adjusted p of their difference, the kind of the reading, and the reading."""

    pair: GroupPair
    q: float
    kind: str
    text: str


@dataclass(frozen=True)
class GroupComparison:
    """The changes of all words in all groups.

    Attributes
    ----------
    column : str
        The column that names the groups, or "folder".
    names : list of str
        The groups.
    without : dict of str to int
        Number of usages of each word that belong to none of the groups; words without such usages are left out.
    changes : list of GroupChange
        One for each word and group.
    pairs : list of GroupPair
        One for each word and pair of groups.
    alpha : float
        The false discovery rate.
    floor : float
        The noise floor of the gap.
    """

    column: str
    names: list[str]
    without: dict[str, int]
    changes: list[GroupChange]
    pairs: list[GroupPair]
    alpha: float
    floor: float

    def table(self) -> pd.DataFrame:
        """Return a row for each word and group: word, group, n_old, n_new, gap, gap_low, gap_high, p, q, verdict."""
        import pandas as pd

        rows = []
        for change, q, verdict in self._judge():
            limits = _limits(None if change.evidence is None else change.evidence.gap)
            rows.append((change.word, change.group, change.n_old, change.n_new, *limits, _p(change.test), q, verdict))
        return pd.DataFrame(rows, columns=GROUP_COLUMNS)

    def _judge(self) -> list[tuple[GroupChange, float, str]]:
        """Return the change of each word in each group with its q and its verdict."""
        q_values = _adjust([None if change.test is None else change.test.p for change in self.changes])
        return [
            (change, q, TOO_FEW if (evidence := change.evidence) is None else self._decide(evidence, q))
            for change, q in zip(self.changes, q_values, strict=True)
        ]

    def _decide(self, evidence: Evidence, q: float) -> str:
        return decide_verdict(evidence, q, self.alpha, self.floor)

    def read(self, overall: Mapping[str, str]) -> list[PairReading]:
        """Return the reading of each word and pair of groups, those that differ first and those with too few last.

        Parameters
        ----------
        overall : mapping of str to str
            The verdict on each word for the whole corpora.
        """
        by_word: dict[str, dict[str, tuple[GroupChange, float, str]]] = {}
        for change, q, verdict in self._judge():
            by_word.setdefault(change.word, {})[change.group] = change, q, verdict
        q_pairs = _adjust([None if pair.difference is None else pair.difference.p for pair in self.pairs])
        readings = []
        for pair, q in zip(self.pairs, q_pairs, strict=True):
            kind, text = self._read(pair, q, by_word[pair.word], overall[pair.word])
            readings.append(PairReading(pair, q, kind, text))
        return sorted(readings, key=_rank)

    def _read(
        self, pair: GroupPair, q: float, changes: Mapping[str, tuple[GroupChange, float, str]], overall: str
    ) -> tuple[str, str]:
        """Return the kind of a reading and its text; see the documentation of this module.

        Parameters
        ----------
        pair : GroupPair
        q : float
            The q of the difference.
        changes : mapping of str to (GroupChange, float, str)
            The change of the word in each group, with its q and its verdict.
        overall : str
            The verdict on the word for the whole corpora.
        """
        groups = pair.first, pair.second
        if pair.difference is None:
            few = [group for group in groups if changes[group][0].test is None]
            return FEW, f"too few usages in {join_names(few, str)}"
        changed = [group for group in groups if changes[group][2] == CHANGED]
        more, less = groups if pair.difference.value > 0 else groups[::-1]
        shown = "" if q <= self.alpha else "; no difference shown"
        if not shown and more in changed:
            return DIFFERENT, f"changed more in {more} than in {less}"
        if len(changed) == 2:
            return BOTH, f"changed in {pair.first} and in {pair.second}{shown}"
        if changed:
            (other,) = set(groups) - set(changed)
            return ONE, f"changed in {changed[0]}, {changes[other][2]} in {other}{shown}"
        is_complete = pair.word not in self.without
        if overall in (CHANGED, DIFFERS) and is_complete and self._is_composition(list(changes.values())):
            return COMPOSITION, "who is talking: the corpora differ, but within no group a difference was shown"
        if overall == CHANGED:
            return UNCLEAR_GROUP, "changed, but it is unclear in which group"
        within = " and ".join(f"{changes[group][2]} in {group}" for group in groups)
        return NO_CHANGE, f"no change shown: {within}"

    def _is_composition(self, changes: Sequence[tuple[GroupChange, float, str]]) -> bool:
        """Return whether no group differs between the corpora, alone or together, and their shares do."""
        from scipy.stats import chi2_contingency, combine_pvalues  # imported here because it is slow

        p_values = [change.test.p for change, _, _ in changes if change.test is not None]
        if len(p_values) < len(changes) or any(q <= self.alpha for _, q, _ in changes):
            return False
        if combine_pvalues(p_values).pvalue <= self.alpha:
            return False
        counts = [(change.n_old, change.n_new) for change, _, _ in changes]
        return bool(chi2_contingency(counts).pvalue <= self.alpha)

    def headline(self, readings: Sequence[PairReading]) -> str:
        """Return the outcome in a sentence; a word counts once, with its first reading in the order of READINGS."""
        kinds: dict[str, str] = {}
        for reading in readings:
            word = reading.pair.word
            kinds[word] = min(kinds.get(word, FEW), reading.kind, key=READINGS.index)
        counts = Counter(kinds.values())
        outcomes = [f"{counts[kind]} {_HEADLINE[kind][counts[kind] > 1]}" for kind in READINGS if counts[kind]]
        words = f"{len(kinds)} {'word' if len(kinds) == 1 else 'words'}"
        return f"By {self.column} ({', '.join(self.names)}), of {words}: {', '.join(outcomes)}"

    def note(self) -> str | None:
        """Return a sentence on the usages that belong to none of the groups, or None if there are none."""
        n = sum(self.without.values())
        if not n:
            return None
        belong = "usage belongs" if n == 1 else "usages belong"
        return (
            f"{n:,} {belong} to none of the groups {', '.join(self.names)}, and {'counts' if n == 1 else 'count'} "
            + ("only for the corpora as wholes")
        )


GROUP_COLUMNS = ["word", "group", "n_old", "n_new", "gap", "gap_low", "gap_high", "p", "q", "verdict"]
DIFFERENCE_COLUMNS = ["word", "first", "second", "difference", "low", "high", "p", "q", "reading"]


def difference_table(readings: Sequence[PairReading]) -> pd.DataFrame:
    """Return a row for each word and pair of groups, in the order of the readings.

    Columns: word, first, second (the groups), difference (gap of the first minus that of the second group), low, high
    (its 95 % interval), p, q, reading.
    """
    import pandas as pd

    rows = [
        (pair.word, pair.first, pair.second, *_limits(pair.difference), _p(pair.difference), q, text)
        for pair, q, _, text in readings
    ]
    return pd.DataFrame(rows, columns=DIFFERENCE_COLUMNS)


def _adjust(p_values: Sequence[float | None]) -> list[float]:
    """Return the q of each p, NaN where there is none."""
    tested = [p for p in p_values if p is not None]
    q = iter(benjamini_hochberg(tested).tolist() if tested else ())
    return [float("nan") if p is None else next(q) for p in p_values]


def _limits(estimate: Gap | GroupDifference | None) -> tuple[float, float, float]:
    return (float("nan"),) * 3 if estimate is None else (estimate.value, estimate.low, estimate.high)


def _p(test: PermutationTest | GroupDifference | None) -> float:
    return float("nan") if test is None else test.p


def _rank(reading: PairReading) -> tuple[Any, ...]:
    """Return the place of a reading in the table."""
    difference = reading.pair.difference
    size = 0.0 if difference is None else -abs(difference.value)
    return difference is None, reading.kind != DIFFERENT, size, reading.pair.word, reading.pair.first
