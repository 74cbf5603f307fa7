"""The result of a trace: a table of words, a table of steps between periods, and the usages of each period."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from lexshift.errors import UserError
from lexshift.scoring.changepoints import GRADUAL, ChangePoints
from lexshift.scoring.permutation_stages import unresolved_note
from lexshift.scoring.scores import WordScore
from lexshift.scoring.seasons import Season
from lexshift.scoring.significance import benjamini_hochberg, decide
from lexshift.scoring.space import Space
from lexshift.senses.evidence import typicality
from lexshift.senses.word_senses import WordSenses
from lexshift.store.siblings import Siblings
from lexshift.study.appeared_words import AppearedWords
from lexshift.study.evidence import Ends
from lexshift.study.folder import Kind
from lexshift.study.result_files import FILES, SENSE_FILES, table_files
from lexshift.study.study_result import StudyResult
from lexshift.study.usages import FIRST, KINDS, NEIGHBOURS, Pair, Step, find_steps
from lexshift.study.verdict import (
    CHANGED,
    DIFFERS,
    NOT_COMPARED,
    STABLE,
    TOO_FEW,
    UNCLEAR,
    VERDICTS,
    Backdrop,
    Evidence,
    count_verdicts,
    decide_trace_verdict,
    explain_trace_verdict,
)
from lexshift.study.word_view import WordView
from lexshift.utils import checks
from lexshift.utils.plain import from_plain, to_plain

if TYPE_CHECKING:
    import pandas as pd

STEPS_CSV, STEPS_PARQUET = "steps.csv", "steps.parquet"
TRACE = Kind("trace", (*FILES, *SENSE_FILES, STEPS_CSV, STEPS_PARQUET))
SEASONAL, NO_SEASON = "seasonal", "none"
TRACE_VERDICTS = (CHANGED, DIFFERS, UNCLEAR, STABLE, TOO_FEW)
"""The verdicts of a trace."""


@dataclass(frozen=True, eq=False, repr=False)
class Trace(StudyResult):
    """The result of :func:`lexshift.trace`.

    Parameters
    ----------
    siblings, words, run, space, senses, controls, appeared_words
        As for :class:`lexshift.Result`; the corpora of ``siblings`` are the periods, the earliest first.
    scores : mapping of (word, earlier period, later period) to WordScore
        Scores of the pairs of periods; periods are numbered from 0.
    changes : mapping of str to ChangePoints
        Change points of the words with two or more periods, as indices of periods. Each word is tested by itself;
        ``table`` has the results adjusted for the number of words.
    seasons : mapping of str to Season
        Seasons of the words that could be tested.
    evidence : mapping of str to Evidence
        What the verdicts rest on besides the tests: the gap between the first and the last period in which a word has
        enough usages.
    backdrops : mapping of (int, int) to Backdrop
        What the periods do to ordinary words, for each pair of first and last periods of words; the pair that most
        words share comes first.

    Examples
    --------
    >>> import lexshift
    >>> from lexshift.demo import ExampleEncoder  # in place of a built-in model
    >>> old, new = lexshift.demo_corpora()
    >>> result = lexshift.trace(old, new, words=["mouse", "bread"], model=ExampleEncoder(), resamples=100)
    >>> result.periods
    ['1950s', '2010s']
    >>> list(result.table.columns[:3]), list(result.steps.columns[:4])
    (['word', 'verdict', 'periods'], ['word', 'kind', 'from', 'to'])
    """

    kind: ClassVar[Kind] = TRACE

    scores: Mapping[Pair, WordScore]
    changes: Mapping[str, ChangePoints]
    seasons: Mapping[str, Season]
    evidence: Mapping[str, Evidence] = field(kw_only=True)
    backdrops: Mapping[Ends, Backdrop] = field(kw_only=True)

    @property
    def periods(self) -> list[str]:
        """Names of the periods, the earliest first."""
        return list(self.siblings.corpora)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the periods, under the name that :class:`lexshift.Result` uses for its corpora."""
        return tuple(self.periods)

    @property
    def ends(self) -> tuple[str, str]:
        """The two periods between which most words are judged: their first and last ones with enough usages."""
        first, last = next(iter(self.backdrops))
        return self.periods[first], self.periods[last]

    @property
    def backdrop(self) -> Backdrop:
        """The effect of the periods on ordinary words, between :attr:`ends`."""
        return next(iter(self.backdrops.values()))

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each word, in the order of the verdicts and of the evidence for change.

        Columns: word, verdict (changed, differs, unclear, stable or too few), periods (number of periods with enough
        usages), usages, score (of the last period against the first), most (the period farthest from the first),
        differing_periods (those that differ from the one before), shape of a word that differs over the periods ("step"
        or "gradual"; empty with two periods), change_points (the periods in which a new meaning begins, unless the
        change is gradual), change_p, change_q (test of any change), season ("seasonal" or "none"; empty if it could not
        be tested), season_strength, season_p, season_q, reason (why the word has this verdict), gap, gap_low, gap_high
        (between the first and the last period with enough usages: how much less likely two usages are to share a sense
        if they are from different periods, with its interval), excess (by how many standard deviations of ordinary
        words the gap exceeds theirs), local_fdr (probability that a word with this excess is an ordinary one).
        """
        import pandas as pd

        q = _adjust({word: change.p for word, change in self.changes.items()})
        season_q = _adjust({word: season.p for word, season in self.seasons.items()})
        rows = [self._row(word, q.get(word, np.nan), season_q.get(word, np.nan)) for word in self.words]
        table = pd.DataFrame(rows)
        rank = table["verdict"].map(VERDICTS.index)
        order = table.assign(rank=rank).sort_values(
            ["rank", "change_p", "score", "word"], ascending=[True, True, False, True], na_position="last"
        )
        return order.drop(columns="rank").reset_index(drop=True)

    def _row(self, word: str, q: float, season_q: float) -> dict[str, Any]:
        change, season, alpha = self.changes.get(word), self.seasons.get(word), self.settings["alpha"]
        first, neighbours = (self.word(word).steps(kind) for kind in (FIRST, NEIGHBOURS))
        points, shape = ((), "") if change is None else reported_change(change, q, alpha)
        differ = neighbours.loc[neighbours["differs"], "to"]
        verdict, reason = self._verdict(word, q, first)
        row = {
            "word": word,
            "verdict": verdict,
            "periods": 0 if change is None else len(first) + 1,
            "usages": sum(self.counts(word)),
            "score": first["score"].iloc[-1] if len(first) else np.nan,
            "most": first["to"].iloc[int(first["score"].argmax())] if len(first) else "",
            "differing_periods": ", ".join(differ),
            "shape": shape,
            "change_points": ", ".join(self.periods[i] for i in points),
            "change_p": np.nan if change is None else change.p,
            "change_q": q,
            "season": "" if season is None else SEASONAL if season_q <= alpha else NO_SEASON,
            "season_strength": np.nan if season is None else season.strength,
            "season_p": np.nan if season is None else season.p,
            "season_q": season_q,
            "reason": reason,
        }
        evidence = self.evidence.get(word)
        names = ("gap", "gap_low", "gap_high", "excess", "local_fdr")
        if evidence is None:
            return row | dict.fromkeys(names, np.nan)
        gap = evidence.gap
        values = gap.value, gap.low, gap.high, evidence.excess, evidence.local_fdr
        return row | {name: np.nan if value is None else value for name, value in zip(names, values, strict=True)}

    def _verdict(self, word: str, q: float, first: pd.DataFrame) -> tuple[str, str]:
        """Return the verdict on a word and its reason.

        Parameters
        ----------
        word : str
        q : float
            The p of the test of any change, adjusted for the number of words.
        first : DataFrame
            The steps of the word against its first period.
        """
        evidence, alpha = self.evidence.get(word), self.settings["alpha"]
        if evidence is None:
            return TOO_FEW, f"{self.settings['min_usages']} usages are needed in two periods"
        start, end = first["from"].iloc[0], first["to"].iloc[-1]
        backdrop = self.backdrops[self.periods.index(start), self.periods.index(end)]
        has_middle = len(first) > 1
        verdict = decide_trace_verdict(evidence, q, alpha, backdrop.floor, has_middle)
        only_between = has_middle and not first["differs"].iloc[-1]
        return verdict, explain_trace_verdict(verdict, evidence, backdrop, f"{start} to {end}", only_between)

    @cached_property
    def steps(self) -> pd.DataFrame:
        """A row for each word and pair of periods.

        Columns: word, kind ("neighbours", or "first" for a change against the word's first period), from, to, n_from,
        n_to (usages), score, low, high (its interval), distance, sscd (the parts of the score, as in
        :attr:`lexshift.Result.table`), p, q (over all rows of one kind), tested_metric (the metric of the permutation
        test), differs (whether q is at most alpha), skipped (periods with too few usages: between the two, or for
        "first" before the first one). A step is a test, not a verdict: it is not compared with ordinary words.
        """
        import pandas as pd

        columns = ["word", "kind", "from", "to", "n_from", "n_to", "score", "low", "high", "distance", "sscd"]
        columns += ["p", "q", "tested_metric", "differs", "skipped"]
        least, rows = self.settings["min_usages"], []
        steps = [step for word in self.words for step in find_steps(word, self.counts(word), least)]
        for kind in KINDS:
            family = [step for step in steps if step.kind == kind]
            q = benjamini_hochberg([self.scores[step.pair].test.p for step in family]) if family else np.zeros(0)
            decisions = decide(q, self.settings["alpha"])
            rows += [self._step(*values) for values in zip(family, q.tolist(), decisions, strict=True)]
        position = {word: i for i, word in enumerate(self.words)}
        rows.sort(key=lambda row: position[row["word"]])  # a stable sort: the order within a word does not change
        return pd.DataFrame(rows, columns=columns)

    def _step(self, step: Step, q: float, differs: bool) -> dict[str, Any]:
        scored, counts, labels = self.scores[step.pair], self.counts(step.word), self.periods
        row: dict[str, Any] = {"word": step.word, "kind": step.kind, "from": labels[step.start], "to": labels[step.end]}
        row |= {"n_from": counts[step.start], "n_to": counts[step.end]}
        row |= {"score": scored.change.score, "low": scored.interval.low, "high": scored.interval.high}
        row |= {"distance": scored.change.distance, "sscd": scored.change.sscd}
        row |= {"p": scored.test.p, "q": q, "tested_metric": scored.tested_metric}
        row |= {"differs": bool(differs), "skipped": ", ".join(labels[i] for i in step.skipped)}
        return row

    @cached_property
    def steps_by_word(self) -> dict[tuple[str, str], pd.DataFrame]:
        """The rows of :attr:`steps` by word and kind."""
        return dict(iter(self.steps.groupby(["word", "kind"], sort=False)))

    def word(self, word: str) -> WordTrace:
        """Return the result of one word.

        Parameters
        ----------
        word : str
            A word of the study.
        """
        return WordTrace(self, self.check_word(word))

    def counts(self, word: str) -> list[int]:
        """Return the number of embedded usages of a word in each period."""
        return [self.siblings.count_usages(word, period) for period in self.periods]

    def headline(self) -> str:
        """Return the outcome in a sentence."""
        counts, tested = Counter(self.table["verdict"]), len(self.evidence)
        if not tested:
            return "No word can be traced: none has enough usages in two periods"
        outcome = f"{counts.pop(CHANGED, 0)} of {tested} {'word' if tested == 1 else 'words'} changed over "
        outcome += f"{len(self.periods)} periods, {self.periods[0]} to {self.periods[-1]}"
        outcome += ", beyond what the periods do to ordinary words" if self.backdrop.control_words else ""
        others = count_verdicts(counts)
        outcome += f" ({others})" if others else ""
        if self.seasons:
            outcome += f"; {int((self.table['season'] == SEASONAL).sum())} of {len(self.seasons)} are seasonal"
        return outcome

    def background_note(self) -> str | None:
        """Return a sentence on what the periods do to ordinary words, or None without control words."""
        return self.backdrop.describe(" and ".join(self.ends))

    def caution(self) -> str | None:
        """Return a warning if there were too few permutations or no comparison with ordinary words, else None."""
        if note := unresolved_note(list(self.changes.values()), self.settings["alpha"]):
            return note
        return None if self.backdrop.control_words or not self.evidence else NOT_COMPARED

    def files(self) -> dict[str, bytes]:
        """Return the contents of the files that :meth:`save` writes, without run.json, by name."""
        return super().files() | table_files(self.steps, STEPS_CSV, STEPS_PARQUET)

    def details(self) -> dict[str, Any]:
        """Return the scores of all pairs of periods, change points, seasons, gaps and senses as plain values."""
        scores = [[*pair, to_plain(score)] for pair, score in self.scores.items()]
        values = {"scores": scores, "changes": to_plain(self.changes), "seasons": to_plain(self.seasons)}
        backdrops = [[*ends, to_plain(backdrop)] for ends, backdrop in self.backdrops.items()]
        return values | {
            "evidence": to_plain(self.evidence),
            "backdrops": backdrops,
            "senses": to_plain(self.senses),
            "appeared": to_plain(self.appeared_words),
        }

    @classmethod
    def restore(cls, siblings: Siblings, run: dict[str, Any], space: Space | None, details: Mapping[str, Any]) -> Self:
        """Return a saved trace."""
        rows = details["scores"]
        return cls(
            siblings,
            run["words"],
            run,
            space,
            {(word, start, end): from_plain(WordScore, score) for word, start, end, score in rows},
            from_plain(dict[str, ChangePoints], details["changes"]),
            from_plain(dict[str, Season], details["seasons"]),
            senses=from_plain(dict[str, WordSenses], details["senses"]),
            evidence=from_plain(dict[str, Evidence], details["evidence"]),
            backdrops={(start, end): from_plain(Backdrop, values) for start, end, values in details["backdrops"]},
            appeared_words=from_plain(AppearedWords | None, details["appeared"]),
        )


@dataclass(frozen=True, eq=False, repr=False)
class WordTrace(WordView):
    """The result of one word of a trace."""

    result: Trace

    def steps(self, kind: str) -> pd.DataFrame:
        """Return the steps of a kind, "neighbours" or "first", in the order of time."""
        checks.choice(kind, "kind", KINDS)
        empty = self.result.steps.iloc[:0]
        return self.result.steps_by_word.get((self.name, kind), empty).reset_index(drop=True)

    def usages(self, period: str) -> pd.DataFrame:
        """Return the usages in a period, the most typical ones first.

        Columns: sentence, start, end (position of the word in it), typical (the mean cosine similarity with the other
        usages of the period), file, line, date, and sense if senses were sought.
        """
        store = self.result.siblings
        checks.choice(period, "period", tuple(self.result.periods))
        if self.name not in store:
            raise UserError(f"{self.name!r} does not occur in the corpora")
        frame = store[self.name].occurrences(period)
        frame["typical"] = typicality(self.result.vectors(self.name, period))
        frame = self.add_sense(frame, period)
        frame = frame.sort_values("typical", ascending=False, kind="stable").reset_index(drop=True)
        columns = ["sentence", "start", "end", "typical", "file", "line", "date", "sense"]
        return frame[[name for name in columns if name in frame]]

    def __repr__(self) -> str:
        row = self.row
        score = "" if row["verdict"] == TOO_FEW else f", score {row['score']:.4g}"
        return f"WordTrace({self.name!r}: {row['verdict']}{score})"


def reported_change(change: ChangePoints, q: float, alpha: float) -> tuple[Sequence[int], str]:
    """Return the change points and the shape to report for a word: both empty unless q is at most alpha.

    A word that drifted gradually has no change points.
    """
    if not q <= alpha:
        return (), ""
    return (() if change.shape == GRADUAL else change.at), change.shape


def _adjust(p: Mapping[str, float]) -> dict[str, float]:
    """Return q by word: p adjusted for the false discovery rate."""
    return dict(zip(p, benjamini_hochberg(list(p.values())).tolist(), strict=True)) if p else {}
