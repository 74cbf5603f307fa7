"""Analyse the vectors of a store: score and test the words, compare them with control words, and make the result."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from lexshift.encode import Encoder
from lexshift.encode.protocol import optional_attribute
from lexshift.engine.cache import Cache
from lexshift.scoring.changepoints import COMPONENTS
from lexshift.scoring.scores import CURVE_WORDS, Comparisons, Scores, score_words
from lexshift.scoring.space import calibration_space
from lexshift.store.format import digest
from lexshift.store.siblings import Siblings
from lexshift.study.control_usages import ControlUsages
from lexshift.study.discovery import Discovery
from lexshift.study.evidence import GapFinder, compare_ends
from lexshift.study.group_finder import GroupFinder
from lexshift.study.history import find_history
from lexshift.study.inputs import StudyInputs
from lexshift.study.periods import check_two_periods
from lexshift.study.result import Result
from lexshift.study.run_record import run_record
from lexshift.study.settings import COMPARE, DISCOVER, ONCE, TRACE
from lexshift.study.study_result import StudyResult
from lexshift.study.trace_result import Trace
from lexshift.study.usages import KINDS, Pair, Usages
from lexshift.study.words import ChosenWords
from lexshift.utils.monitor import Monitor


def analyse(
    inputs: StudyInputs,
    chosen: ChosenWords,
    siblings: Siblings,
    controls: ControlUsages,
    encoder: Encoder,
    cache: Cache | None,
    monitor: Monitor,
) -> StudyResult:
    """Score and test the words of a store, and return the result of the question, without senses.

    Parameters
    ----------
    inputs : StudyInputs
    chosen : ChosenWords
    siblings : Siblings
        The store of their usages; its corpora are the periods.
    controls : ControlUsages
        The usages of control words.
    encoder : Encoder
        Its space and its calibration, if it has any.
    cache : Cache, optional
        Where finished scores are kept.
    monitor : Monitor
    """
    settings, targets = inputs.settings, chosen.targets
    check_two_periods(siblings.corpora)
    if settings.duplicates == ONCE:
        siblings = siblings.without_duplicates()
    usages = Usages(siblings, targets.words, settings.min_usages)
    space = usages.use_space(settings.space, encoder, controls)
    calibration = optional_attribute(encoder, "calibration")
    judged_space = space if calibration is None else calibration_space(encoder)
    ordinary = controls.in_space(None)
    finder = None
    if inputs.question != TRACE:
        finder = GapFinder(usages, ordinary, calibration, judged_space, settings.seed)
    space_identity = None if space is None else space.identity
    identity = digest([siblings.fingerprint, settings.duplicates, space_identity, controls.identity])
    scores, facts = _score(inputs, usages, finder, identity, cache, monitor)
    facts = {"space": settings.space if space is None else space.kind} | facts | _word_facts(chosen)
    record = settings.record(inputs.question, words_given=chosen.vocabulary is None) | facts
    run = run_record(record, targets, siblings, inputs.periods, scores)
    for note in run["notes"]:
        monitor.note(note)
    run["notes"] += [chosen.hint] if chosen.hint else []  # which was shown before
    run["control"] = controls.record()
    run["appeared"] = None if chosen.appeared is None else chosen.appeared.record()
    run["calibration"] = None if calibration is None else asdict(calibration)
    shared = siblings, targets.words, run, space
    further: dict[str, Any] = {"controls": controls, "appeared_words": chosen.appeared}
    if finder is None:  # a trace
        history = find_history(usages, settings, monitor)
        evidence, backdrops = compare_ends(
            usages, ordinary, calibration, judged_space, settings.seed, settings.alpha, monitor
        )
        trace = Trace(*shared, scores.words, *history, evidence=evidence, backdrops=backdrops, **further)
        run["background"] = asdict(trace.backdrop) | {"periods": list(trace.ends)}
        return trace
    evidence, backdrop = finder.find(settings.alpha, monitor)
    run["background"] = asdict(backdrop)
    groups = None
    if settings.groups is not None:
        group_finder = GroupFinder(siblings, targets.words, usages, finder, calibration, settings)
        groups = group_finder.find(backdrop.floor, monitor)
        if note := groups.note():
            run["notes"].append(note)
            monitor.note(note)
    further |= {"evidence": evidence, "backdrop": backdrop, "group_comparison": groups}
    first, second = inputs.periods.labels
    by_word = Scores({word: score for (word, _, _), score in scores.words.items()}, scores.curve, scores.sscd)
    if chosen.vocabulary is None or inputs.question == COMPARE:
        return Result(*shared, by_word, (first, second), **further)
    return Discovery(*shared, by_word, (first, second), chosen.vocabulary, **further)


def _score(
    inputs: StudyInputs,
    usages: Usages,
    finder: GapFinder | None,
    identity: str,
    cache: Cache | None,
    monitor: Monitor,
) -> tuple[Scores[Pair], dict[str, Any]]:
    """Score and test all pairs of periods; return the scores, and the facts about them that are recorded."""
    settings, is_trace = inputs.settings, inputs.question == TRACE
    sizes, facts = None, dict[str, Any]()
    if settings.normalised:
        sizes, facts["normalised_by"] = usages.corpus_sizes()
    if is_trace:
        facts["components"] = COMPONENTS
    families = [[step.pair for step in usages.steps if step.kind == kind] for kind in KINDS]
    comparisons = Comparisons(
        keys=list(dict.fromkeys(step.pair for step in usages.steps)),
        vectors=usages.pair,
        name=lambda pair: pair[0],
        corpus_sizes=None if sizes is None else lambda pair: (sizes[pair[1]], sizes[pair[2]]),
        families=families if is_trace else None,
        documents=usages.documents,
        tested=None if finder is None or not finder.removes_shift(settings.metric) else finder.pair_of,
        unit="pairs of periods" if is_trace else "words",
    )
    trace_words = None if settings.rate == "auto" else 0
    curve_words = {COMPARE: None, DISCOVER: CURVE_WORDS, TRACE: trace_words}[inputs.question]
    return score_words(comparisons, settings.scoring(), monitor, curve_words, cache, identity), facts


def _word_facts(chosen: ChosenWords) -> dict[str, Any]:
    """Return what is recorded about words that were chosen by frequency; nothing if the user named them."""
    vocabulary = chosen.vocabulary
    if vocabulary is None:
        return {}
    return {"function_words": vocabulary.language, "candidates": vocabulary.candidates, "names": vocabulary.names}
