"""The result of a trace: a table of words, a table of steps between periods, and the usages of each period."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from lexshift.errors import UserError
from lexshift.scoring.changepoints import GRADUAL, ChangePoints
from lexshift.scoring.permutation import unresolved_note
from lexshift.scoring.scores import WordScore
from lexshift.scoring.seasons import Season
from lexshift.scoring.significance import benjamini_hochberg, decide
from lexshift.scoring.space import Space
from lexshift.senses.evidence import typicality
from lexshift.senses.word_senses import WordSenses
from lexshift.store.siblings import Siblings
from lexshift.study.folder import Kind
from lexshift.study.result_files import FILES, SENSE_FILES, table_files
from lexshift.study.study_result import StudyResult
from lexshift.study.usages import FIRST, KINDS, NEIGHBOURS, Pair, Step, find_steps
from lexshift.study.verdict import CHANGED, STABLE, TOO_FEW
from lexshift.study.word_view import WordView
from lexshift.utils import checks
from lexshift.utils.plain import from_plain, to_plain

if TYPE_CHECKING:
    import pandas as pd

STEPS_CSV, STEPS_PARQUET = "steps.csv", "steps.parquet"
TRACE = Kind("trace", (*FILES, *SENSE_FILES, STEPS_CSV, STEPS_PARQUET))
SEASONAL, NO_SEASON = "seasonal", "none"


@dataclass(frozen=True, eq=False, repr=False)
class Trace(StudyResult):
    """The result of :func:`lexshift.trace`.

    Parameters
    ----------
    siblings, words, run, space, senses, controls
        As for :class:`lexshift.Result`; the corpora of ``siblings`` are the periods, the earliest first.
    scores : mapping of (word, earlier period, later period) to WordScore
        Scores of the pairs of periods; periods are numbered from 0.
    changes : mapping of str to ChangePoints
        Change points of the words with two or more periods, as indices of periods. Each word is tested by itself;
        ``table`` has the results adjusted for the number of words.
    seasons : mapping of str to Season
        Seasons of the words that could be tested.

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

    @property
    def periods(self) -> list[str]:
        """Names of the periods, the earliest first."""
        return list(self.siblings.corpora)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the periods, under the name that :class:`lexshift.Result` uses for its corpora."""
        return tuple(self.periods)

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each word, in the order of the evidence for change.

        Columns: word, verdict (changed or stable over all periods, or too few), periods (number of periods with enough
        usages), usages, score (of the last period against the first), most (the period farthest from the first),
        changed (periods that differ from the one before), shape of a changed word ("step" or "gradual"; empty with two
        periods), change_points (the periods in which a new meaning begins, unless the change is gradual), change_p,
        change_q (test of any change), season ("seasonal" or "none"; empty if it could not be tested), season_strength,
        season_p, season_q.
        """
        import pandas as pd

        q = _adjust({word: change.p for word, change in self.changes.items()})
        season_q = _adjust({word: season.p for word, season in self.seasons.items()})
        rows = [self._row(word, q.get(word, np.nan), season_q.get(word, np.nan)) for word in self.words]
        table = pd.DataFrame(rows)
        order = table.sort_values(["change_p", "score", "word"], ascending=[True, False, True], na_position="last")
        return order.reset_index(drop=True)

    def _row(self, word: str, q: float, season_q: float) -> dict[str, Any]:
        change, season, alpha = self.changes.get(word), self.seasons.get(word), self.settings["alpha"]
        first, neighbours = (self.word(word).steps(kind) for kind in (FIRST, NEIGHBOURS))
        points, shape = ((), "") if change is None else reported_change(change, q, alpha)
        differ = neighbours.loc[neighbours["verdict"] == CHANGED, "to"]
        return {
            "word": word,
            "verdict": TOO_FEW if change is None else CHANGED if q <= alpha else STABLE,
            "periods": 0 if change is None else len(first) + 1,
            "usages": sum(self.counts(word)),
            "score": first["score"].iloc[-1] if len(first) else np.nan,
            "most": first["to"].iloc[int(first["score"].argmax())] if len(first) else "",
            "changed": ", ".join(differ),
            "shape": shape,
            "change_points": ", ".join(self.periods[i] for i in points),
            "change_p": np.nan if change is None else change.p,
            "change_q": q,
            "season": "" if season is None else SEASONAL if season_q <= alpha else NO_SEASON,
            "season_strength": np.nan if season is None else season.strength,
            "season_p": np.nan if season is None else season.p,
            "season_q": season_q,
        }

    @cached_property
    def steps(self) -> pd.DataFrame:
        """A row for each word and pair of periods.

        Columns: word, kind ("neighbours", or "first" for a change against the word's first period), from, to, n_from,
        n_to (usages), score, low, high (its interval), distance, sscd (the parts of the score, as in
        :attr:`lexshift.Result.table`), p, q (over all rows of one kind), tested_metric (the metric of the permutation
        test), verdict (changed or stable), skipped (periods with too few usages: between the two, or for "first" before
        the first one).
        """
        import pandas as pd

        columns = ["word", "kind", "from", "to", "n_from", "n_to", "score", "low", "high", "distance", "sscd"]
        columns += ["p", "q", "tested_metric", "verdict", "skipped"]
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

    def _step(self, step: Step, q: float, is_changed: bool) -> dict[str, Any]:
        scored, counts, labels = self.scores[step.pair], self.counts(step.word), self.periods
        row: dict[str, Any] = {"word": step.word, "kind": step.kind, "from": labels[step.start], "to": labels[step.end]}
        row |= {"n_from": counts[step.start], "n_to": counts[step.end]}
        row |= {"score": scored.change.score, "low": scored.interval.low, "high": scored.interval.high}
        row |= {"distance": scored.change.distance, "sscd": scored.change.sscd}
        row |= {"p": scored.test.p, "q": q, "tested_metric": scored.tested_metric}
        row |= {"verdict": CHANGED if is_changed else STABLE, "skipped": ", ".join(labels[i] for i in step.skipped)}
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
        table, alpha = self.table, self.settings["alpha"]
        few = int((table["verdict"] == TOO_FEW).sum())
        tested, changed = len(table) - few, int((table["verdict"] == CHANGED).sum())
        if not tested:
            return "No word can be traced: none has enough usages in two periods"
        outcome = f"{changed} of {tested} {'word' if tested == 1 else 'words'} changed over {len(self.periods)} "
        outcome += f"periods, {self.periods[0]} to {self.periods[-1]}, at a false discovery rate of {alpha:g}"
        if self.seasons:
            outcome += f"; {int((table['season'] == SEASONAL).sum())} of {len(self.seasons)} are seasonal"
        return outcome + (f"; {few} occurred too rarely to say" if few else "")

    def caution(self) -> str | None:
        """Return a warning if there were too few permutations for the number of words, else None."""
        return unresolved_note(list(self.changes.values()), self.settings["alpha"])

    def files(self) -> dict[str, bytes]:
        """Return the contents of the files that :meth:`save` writes, without run.json, by name."""
        return super().files() | table_files(self.steps, STEPS_CSV, STEPS_PARQUET)

    def details(self) -> dict[str, Any]:
        """Return the scores of all pairs of periods, change points, seasons and senses as plain values."""
        scores = [[*pair, to_plain(score)] for pair, score in self.scores.items()]
        values = {"scores": scores, "changes": to_plain(self.changes), "seasons": to_plain(self.seasons)}
        return values | {"senses": to_plain(self.senses)}

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
