"""Find seasons and change points of words over many periods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from lexshift.corpus.periods import month_of
from lexshift.errors import UserError
from lexshift.scoring.changepoints import SHUFFLES, ChangePoints, change_points
from lexshift.scoring.permutation_stages import add_permutations, first_permutations
from lexshift.scoring.seasons import Season, remove_season, season
from lexshift.scoring.significance import benjamini_hochberg, decide
from lexshift.study.settings import Settings
from lexshift.study.usages import Usages
from lexshift.utils.arrays import Matrix
from lexshift.utils.monitor import Monitor
from lexshift.utils.threads import for_each

_T = TypeVar("_T")


def find_history(
    usages: Usages, settings: Settings, monitor: Monitor
) -> tuple[dict[str, ChangePoints], dict[str, Season]]:
    """Return the change points of all words, as indices of periods, and the seasons of words that can be tested.

    Seasons can be tested if the periods are months. A significant season is subtracted before change points are sought.

    Parameters
    ----------
    usages : Usages
    settings : Settings
        Its ``alpha``, ``permutations`` and ``seed``.
    monitor : Monitor
    """
    months = months_of(usages.periods)
    seasons = {} if months is None else _find_seasons(usages, months, settings, monitor)
    q = benjamini_hochberg([test.p for test in seasons.values()]) if seasons else np.zeros(0)
    seasonal = {word for word, significant in zip(seasons, decide(q, settings.alpha), strict=True) if significant}

    def find(word: str, shuffles: int) -> ChangePoints:
        numbers = usages.numbers[word]
        rows: Sequence[Matrix] = usages[word]
        if word in seasonal and months is not None:
            all_periods = [usages.vectors(word, i) for i in range(len(usages.periods))]
            all_periods = remove_season(all_periods, months, seasons[word])
            rows = [all_periods[i] for i in numbers]
        try:
            change = change_points(rows, settings.alpha, shuffles, settings.seed, word, times=numbers)
        except ValueError as error:
            raise UserError(f"{word!r}: {error}") from error
        return replace(change, at=tuple(numbers[i] for i in change.at))

    first = SHUFFLES if settings.permutations == "auto" else settings.permutations
    changes = _for_each(usages, lambda word: find(word, first), "looking for change points", monitor)
    if settings.permutations == "auto":
        changes = add_permutations(changes, find, settings.alpha, monitor, first)
    return changes, seasons


def _find_seasons(
    usages: Usages, months: list[tuple[int, int]], settings: Settings, monitor: Monitor
) -> dict[str, Season]:
    def find(word: str, permutations: int) -> Season | None:
        rows = [usages.vectors(word, i) for i in range(len(months))]
        return season(rows, months, permutations, settings.seed, word)

    first = first_permutations(settings.permutations)
    results = _for_each(usages, lambda word: find(word, first), "looking for seasons", monitor)
    seasons = {word: result for word, result in results.items() if result is not None}
    if settings.permutations != "auto":
        return seasons
    return add_permutations(seasons, lambda word, more: find(word, more) or seasons[word], settings.alpha, monitor)


def months_of(periods: Sequence[str]) -> list[tuple[int, int]] | None:
    """Return the year and month of each period, or None unless all periods are months in order."""
    months = [month for label in periods if (month := month_of(label)) is not None]
    return months if len(months) == len(periods) and months == sorted(months) else None


def _for_each(usages: Usages, find: Callable[[str], _T], stage: str, monitor: Monitor) -> dict[str, _T]:
    monitor.stage(stage, len(usages), "words")
    return for_each(list(usages), find, lambda done: monitor.advance(done, done))
