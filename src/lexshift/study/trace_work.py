"""The parts of a trace: which words, their seasons, their change points, and what is remembered of the run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from lexshift.corpus.language import corpus_language, rules_of
from lexshift.corpus.periods import month_of
from lexshift.corpus.sources import Reading
from lexshift.corpus.targets import Targets, folded_lemmas
from lexshift.corpus.vocabulary import select_vocabulary
from lexshift.errors import UserError
from lexshift.scoring.changepoints import SHUFFLES, ChangePoints, change_points
from lexshift.scoring.permutation import add_permutations, first_permutations
from lexshift.scoring.scores import WordScore
from lexshift.scoring.seasons import Season, season, without_season
from lexshift.scoring.significance import benjamini_hochberg, decide
from lexshift.store.embedding import READING
from lexshift.store.siblings import Siblings
from lexshift.study.periods import Place
from lexshift.study.settings import run_record
from lexshift.study.steps import Usages
from lexshift.study.words import _count, choose_words
from lexshift.utils.arrays import Matrix
from lexshift.utils.monitor import Monitor
from lexshift.utils.threads import for_each

_Found = TypeVar("_Found")


class Vectors(Mapping[str, Sequence[Matrix]]):
    """The vectors of words in those of their periods that have enough, read when asked for."""

    def __init__(self, siblings: Siblings, enough: Mapping[str, Sequence[int]]) -> None:
        self._siblings, self._enough = siblings, enough

    def __getitem__(self, word: str) -> list[Matrix]:
        labels = self._siblings.corpora
        return [self._siblings.group(word, labels[i]) for i in self._enough[word]]

    def __iter__(self) -> Iterator[str]:
        return iter(self._enough)

    def __len__(self) -> int:
        return len(self._enough)


def chosen_words(
    corpora: Sequence[Place],
    by: str | None,
    match: str,
    choice: tuple[int, int],
    options: dict[str, Any],
    monitor: Monitor,
) -> tuple[list[str], dict[str, Any]]:
    """The words to trace when nobody names them: those frequent in the first and the last period, or in the corpus."""
    if by is None:
        return choose_words(corpora[0], corpora[-1], match, choice, options, monitor)
    reading = Reading(**{name: value for name, value in options.items() if name in READING})
    counts = _count(corpora[0], match, reading, "words", monitor)
    language = corpus_language(corpora[0], reading)
    lemmas = folded_lemmas(rules_of(language)) if match == "lemma" else {}
    found = select_vocabulary([counts], *choice, lemmas=lemmas, language=language, match=match)
    monitor.note(f"tracing the {len(found.words)} most frequent of {found.candidates:,} words that occur often enough")
    return found.words, {"function_words": found.language, "candidates": found.candidates}


def find_seasons(
    words: Sequence[str], periods: Sequence[str], usages: Usages, settings: dict[str, Any], monitor: Monitor
) -> dict[str, Season]:
    """The seasons of the words that have months of enough years; of none if the periods are not months."""
    months = months_of(periods)
    if months is None:
        return {}

    def one(word: str, permutations: int) -> Season | None:
        rows = [usages(word, i) for i in range(len(periods))]
        return season(rows, months, permutations, settings["seed"], word)

    def again(word: str, permutations: int) -> Season:
        return one(word, permutations) or found[word]

    first = first_permutations(settings["permutations"])
    answers = _for_each(words, lambda word: one(word, first), "looking for seasons", monitor)
    found = {word: answer for word, answer in answers.items() if answer is not None}
    return add_permutations(found, again, settings["alpha"], monitor) if settings["permutations"] == "auto" else found


def find_changes(
    words: Sequence[str],
    enough: Mapping[str, Sequence[int]],
    periods: Sequence[str],
    usages: Usages,
    seasons: Mapping[str, Season],
    settings: dict[str, Any],
    monitor: Monitor,
) -> dict[str, ChangePoints]:
    """The change points of words, as indices of periods; what returns every year is taken off a word before."""
    months, returning = months_of(periods), seasonal(seasons, settings["alpha"])

    def one(word: str, shuffles: int) -> ChangePoints:
        if word in returning and months is not None:
            every = without_season([usages(word, i) for i in range(len(periods))], months, seasons[word])
            rows: list[Matrix] = [every[i] for i in enough[word]]
        else:
            rows = [usages(word, i) for i in enough[word]]
        try:
            found = change_points(rows, settings["alpha"], shuffles, settings["seed"], word, times=enough[word])
        except ValueError as error:
            raise UserError(f"{word!r}: {error}") from error
        return replace(found, at=tuple(enough[word][i] for i in found.at))

    auto = settings["permutations"] == "auto"
    first = SHUFFLES if auto else settings["permutations"]
    changes = _for_each(words, lambda word: one(word, first), "looking for change points", monitor)
    return add_permutations(changes, one, settings["alpha"], monitor, first) if auto else changes


def seasonal(seasons: Mapping[str, Season], alpha: float) -> dict[str, float]:
    """The words that are seasonal at a false discovery rate of alpha, and their q."""
    if not seasons:
        return {}
    q = benjamini_hochberg([found.p for found in seasons.values()])
    return {word: float(value) for word, value, yes in zip(seasons, q, decide(q, alpha), strict=True) if yes}


def months_of(periods: Sequence[str]) -> list[tuple[int, int]] | None:
    """Years and months of the periods, if they are months in their order."""
    months = [month_of(label) for label in periods]
    found = [month for month in months if month is not None]
    return found if len(found) == len(months) and found == sorted(found) else None


def _for_each(words: Sequence[str], one: Callable[[str], _Found], stage: str, monitor: Monitor) -> dict[str, _Found]:
    """What is found for each word, several words at a time."""
    monitor.stage(stage, len(words), "words")
    return for_each(words, one, lambda done: monitor.advance(done, done))


def run_of(
    settings: dict[str, Any],
    asked: Targets,
    rate: float,
    siblings: Siblings,
    corpora: Sequence[Place],
    scores: Iterable[WordScore],
) -> dict[str, Any]:
    """All that is needed to repeat a trace; "corpora" are its periods."""
    paths = list(corpora) * len(siblings.corpora) if len(corpora) == 1 else corpora
    return run_record(settings, asked, rate, siblings, paths, siblings.corpora, scores)
