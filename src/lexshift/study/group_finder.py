"""Find the changes of words in groups of texts: their gaps, their tests, and the differences between groups."""

from __future__ import annotations

import difflib
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from lexshift.corpus.sources import FOLDER, Reading
from lexshift.encode.adaptation import Calibration
from lexshift.errors import UserError, join_names
from lexshift.scoring.gap import MIN_HALVED, Gap, estimate_gap, similarities
from lexshift.scoring.group_difference import GroupDifference, estimate_difference
from lexshift.scoring.permutation import PermutationTest, permutation_test
from lexshift.scoring.permutation_stages import add_permutations, first_permutations
from lexshift.scoring.scores import tested_metric
from lexshift.store.siblings import Siblings
from lexshift.study.evidence import GapFinder
from lexshift.study.groups import GroupChange, GroupComparison, GroupPair
from lexshift.study.settings import Settings
from lexshift.study.usages import Usages
from lexshift.study.verdict import Evidence, weigh_gaps
from lexshift.utils.arrays import Indices, Matrix
from lexshift.utils.monitor import Monitor
from lexshift.utils.threads import for_each

MAX_GROUPS = 5
"""Maximum number of groups, all pairs of which are compared."""
_Key = tuple[str, int]
"""A word, and the number of a group."""


class GroupFinder:
    """Find the changes of words in the groups of a comparison of two corpora.

    Parameters
    ----------
    siblings : Siblings
        The store of the usages of the two corpora.
    words : sequence of str
    usages : Usages
        The usages of the words that have enough of them in both corpora.
    gaps : GapFinder
        The source of the vectors without the common shift.
    calibration : Calibration or None
    settings : Settings
        Its ``groups`` name the column of the groups, and optionally the groups.
    """

    def __init__(
        self,
        siblings: Siblings,
        words: Sequence[str],
        usages: Usages,
        gaps: GapFinder,
        calibration: Calibration | None,
        settings: Settings,
    ) -> None:
        self._words, self._usages, self._gaps = words, usages, gaps
        self._calibration, self._settings = calibration, settings
        reading = Reading(groups=settings.groups)
        self._column = _column(reading)
        self._names, numbers = number_groups(siblings, words, reading)
        self._members: dict[str, tuple[Indices, Indices]] = {}  # the group of each old and each new usage of a word
        for word in words:
            old, new = (
                numbers[siblings.usage_rows(word, corpus)] if word in siblings else numbers[:0]
                for corpus in siblings.corpora
            )
            self._members[word] = old, new

    def find(self, floor: float, monitor: Monitor) -> GroupComparison:
        """Return the changes of all words in all groups, and the differences between all pairs of groups.

        Parameters
        ----------
        floor : float
            The noise floor of the gap.
        monitor : Monitor
        """
        settings, groups = self._settings, range(len(self._names))
        keys = [(word, group) for word in self._usages for group in groups if self._has_enough(word, group)]
        monitor.stage("comparing groups", len(keys), "groups of usages")
        permutations = first_permutations(settings.permutations)
        gaps_and_tests = for_each(
            keys,
            lambda key: (self._gap(key), self._test(key, permutations)),
            lambda done: monitor.advance(done, done),
        )
        evidence = self._weigh({key: gap for key, (gap, _) in gaps_and_tests.items()})
        tests = {key: test for key, (_, test) in gaps_and_tests.items()}
        if settings.permutations == "auto":
            tests = add_permutations(tests, self._test, settings.alpha, monitor)
        all_pairs = [(word, *pair) for word in self._words for pair in itertools.combinations(groups, 2)]
        pairs = [pair for pair in all_pairs if (pair[0], pair[1]) in tests and (pair[0], pair[2]) in tests]
        monitor.stage("comparing groups", len(pairs), "pairs of groups")
        differences = for_each(pairs, self._difference, lambda done: monitor.advance(done, done))
        without = {word: sum(self._counts(word, -1)) for word in self._words}
        return GroupComparison(
            self._column,
            self._names,
            {word: n for word, n in without.items() if n},
            [
                GroupChange(word, name, *self._counts(word, i), evidence.get((word, i)), tests.get((word, i)))
                for word in self._words
                for i, name in enumerate(self._names)
            ],
            [
                GroupPair(word, self._names[i], self._names[k], differences.get((word, i, k)))
                for word, i, k in all_pairs
            ],
            settings.alpha,
            floor,
        )

    def _weigh(self, gaps: Mapping[_Key, Gap]) -> dict[_Key, Evidence]:
        """Compare the gaps within each group with those of ordinary words between the corpora."""
        background = self._gaps.background
        if background is None:
            return {key: Evidence(gap) for key, gap in gaps.items()}
        weighed: dict[_Key, Evidence] = {}
        for group in range(len(self._names)):
            of_group = {word: gap for (word, number), gap in gaps.items() if number == group}
            sizes = {word: self._counts(word, group) for word in of_group}
            weighed |= {(word, group): evidence for word, evidence in weigh_gaps(of_group, sizes, background).items()}
        return weighed

    def _counts(self, word: str, group: int) -> tuple[int, int]:
        """Return the number of old and new usages of a word in a group."""
        old, new = (int((of_usages == group).sum()) for of_usages in self._members[word])
        return old, new

    def _has_enough(self, word: str, group: int) -> bool:
        return min(self._counts(word, group)) >= max(self._settings.min_usages, MIN_HALVED)

    def _sets(self, key: _Key) -> tuple[tuple[Matrix, Matrix], tuple[list[int], list[int]]]:
        """Return the vectors of a word in a group, (n_old, d) and (n_new, d), and their documents."""
        word, group = key
        in_old, in_new = (of_usages == group for of_usages in self._members[word])
        (old, new), (old_documents, new_documents) = self._gaps.pair(word), self._documents(word)
        return (old[in_old], new[in_new]), (old_documents[in_old].tolist(), new_documents[in_new].tolist())

    def _documents(self, word: str) -> tuple[Indices, Indices]:
        old, new = (np.asarray(documents) for documents in self._usages.documents((word, 0, 1)))
        return old, new

    def _gap(self, key: _Key) -> Gap:
        pair, documents = self._sets(key)
        settings, stream = self._settings, self._stream(*key)
        return estimate_gap(*pair, self._calibration, documents, settings.alpha, seed=settings.seed, word=stream)

    def _test(self, key: _Key, permutations: int) -> PermutationTest:
        pair, documents = self._sets(key)
        metric = tested_metric("nearest", *pair)  # the energy distance, unless a vector is zero
        return permutation_test(
            *pair, metric, permutations, self._settings.seed, self._stream(*key), documents=documents
        )

    def _difference(self, key: tuple[str, int, int]) -> GroupDifference:
        word, first, second = key
        groups = np.concatenate(self._members[word])
        is_new = np.repeat([False, True], [len(of_usages) for of_usages in self._members[word]])
        chosen = (groups == first) | (groups == second)
        values = similarities(*self._gaps.pair(word), self._calibration)[np.ix_(chosen, chosen)]
        documents = np.concatenate(self._documents(word))[chosen]
        stream = self._stream(word, first, second)
        return estimate_difference(
            values, is_new[chosen], groups[chosen] == first, documents, self._settings.seed, stream
        )

    def _stream(self, word: str, *groups: int) -> str:
        """Return the name of the random stream of a word in some groups."""
        return "\0".join([word, *(self._names[group] for group in groups)])


def number_groups(siblings: Siblings, words: Sequence[str], reading: Reading) -> tuple[list[str], Indices]:
    """Return the groups, and the number of the group of each row of a store, -1 for none of them.

    The groups have the order in which the user named them, or else that of the alphabet.

    Parameters
    ----------
    siblings : Siblings
    words : sequence of str
        The words whose usages count.
    reading : Reading
        Names the column of the groups, and the groups.

    Raises
    ------
    UserError
        If there are fewer than two or more than ``MAX_GROUPS`` groups, or if a group that is named does not occur.
    """
    of_rows = _groups_of_rows(siblings, reading)
    column, counts = _column(reading), Counter[str]()
    for word, corpus in itertools.product(words, siblings.corpora):
        if word in siblings:
            counts.update(name for row in siblings.usage_rows(word, corpus) if (name := of_rows[row]) is not None)
    what = "the folders of the corpora" if column == FOLDER else f"the column {column!r}"
    if not counts:
        hint = (
            "; put the files of each group into a folder of its own, in both corpora"
            if column == FOLDER
            else ", which is read from tables only; --groups folder takes the folders of files as groups"
        )
        raise UserError(f"no usage of the words has a group in {what}{hint}")
    for name in reading.group_names:
        if name not in counts:
            near = difflib.get_close_matches(name, sorted(counts), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise UserError(
                f"no usage of the words belongs to the group {name!r} in {what}, which has the groups "
                f"{join_names(sorted(counts))}{hint}"
            )
    names = list(reading.group_names) or sorted(counts)
    if not 2 <= len(names) <= MAX_GROUPS:
        frequent = [name for name, _ in counts.most_common(2)]
        if len(names) < 2:
            raise UserError(f"{what} has only the group {names[0]!r}; at least two are needed to compare groups")
        raise UserError(
            f"{what} has {len(names)} groups, but at most {MAX_GROUPS} can be compared; name some of them, for example "
            f"--groups {column}={','.join(frequent)}"
        )
    number = {name: i for i, name in enumerate(names)}
    return names, np.array([-1 if name is None else number.get(name, -1) for name in of_rows], np.intp)


def _groups_of_rows(siblings: Siblings, reading: Reading) -> Sequence[str | None]:
    """Return the group of each row of a store."""
    if reading.by_folder:
        files = siblings.occurrences["file"].to_pylist()
        return [file.partition("/")[0] if "/" in file else None for file in files]
    return siblings.groups or [None] * siblings.index["rows"]


def _column(reading: Reading) -> str:
    return FOLDER if reading.by_folder else str(reading.group_column)
