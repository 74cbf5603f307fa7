"""Run a study, from corpora to a result: the pipeline of compare, discover and trace.

1. Check the settings, the corpora and the folder; detect languages; look for the words in small corpora; load the
   encoder.
2. Choose the words, find their usages and embed them; do the same for control words. Find the words that appeared or
   disappeared among all words of the corpora.
3. Score and test the pairs of periods of each word; for a trace also look for seasons and change points.
4. Find the senses of the words, if they were asked for.
5. Record the provenance, and save the result.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lexshift import __version__
from lexshift.corpus import Corpus
from lexshift.corpus.dated_corpus import check_first_dates, find_date_column, split_readings
from lexshift.corpus.language import UNKNOWN, detect_languages, language_warnings
from lexshift.corpus.lemmas import check_tags, dictionary_language
from lexshift.corpus.objects import as_files
from lexshift.corpus.reader import CorpusReader
from lexshift.corpus.sources import Place, Reading, corpus_record
from lexshift.corpus.spelling import describe_suggestions, suggest_spellings
from lexshift.corpus.targets import Targets, Words, read_targets
from lexshift.corpus.vocabulary import Vocabulary
from lexshift.encode import Encoder, as_encoder
from lexshift.encode.built_in import resolve_model
from lexshift.encode.protocol import optional_attribute
from lexshift.engine.cache import Cache
from lexshift.engine.local import Engine, Local, as_engine
from lexshift.engine.reader import PartsReader
from lexshift.scoring.changepoints import COMPONENTS
from lexshift.scoring.scores import CURVE_WORDS, Comparisons, Scores, score_words
from lexshift.scoring.space import Space, calibration_space
from lexshift.store.early_search import explain_absence
from lexshift.store.embedding import make_store, store_settings
from lexshift.store.format import digest
from lexshift.store.siblings import Siblings
from lexshift.store.writer import check_store_folder, check_store_settings
from lexshift.study.appeared_words import AppearedWords, find_appeared_words
from lexshift.study.control_usages import ControlUsages, embed_control_words, take_control_usages
from lexshift.study.control_words import ControlWords, choose_control_words, has_number, read_control_targets
from lexshift.study.discovery import Discovery
from lexshift.study.evidence import GapFinder, compare_ends
from lexshift.study.folder import check_results, check_store, open_results
from lexshift.study.form_hint import find_form_hint
from lexshift.study.group_finder import GroupFinder
from lexshift.study.history import find_history
from lexshift.study.periods import Periods, check_periods, check_two_periods
from lexshift.study.rehearsal import rehearse
from lexshift.study.result import Result
from lexshift.study.result_files import CONTROL, STORE
from lexshift.study.settings import COMPARE, DISCOVER, ONCE, TRACE, Settings
from lexshift.study.study_result import StudyResult
from lexshift.study.trace_result import Trace
from lexshift.study.usages import KINDS, Pair, Usages, usage_notes
from lexshift.study.verdict import CHANGED
from lexshift.study.versions import package_versions
from lexshift.study.words import choose_vocabulary, count_first_and_last
from lexshift.utils.files import disk_faults
from lexshift.utils.monitor import Monitor, watching

if TYPE_CHECKING:
    from lexshift.study.senses import SenseSources

RESULTS: dict[str, type[StudyResult]] = {COMPARE: Result, DISCOVER: Discovery, TRACE: Trace}
CACHE = "parts"
"""Folder below the results in which a run caches its counts, samples and scores."""


def run_study(
    question: str, corpora: Sequence[Corpus], words: Words | None, settings: Settings, monitor: Monitor | bool | None
) -> Any:
    """Answer a question about the words of some corpora.

    Parameters
    ----------
    question : "compare", "discover" or "trace"
    corpora : sequence of Corpus
    words : path, list or mapping, optional
        See :func:`lexshift.corpus.read_targets`; by default words are selected by their frequency.
    settings : Settings
    monitor : Monitor or bool

    Returns
    -------
    Result, Discovery or Trace
    """
    if settings.out is not None:
        check_results(settings.out, RESULTS[question].kind)
    with as_files(corpora, Reading(**settings.reading_options())) as (files, reading):
        if reading.date_column != settings.date_column:  # the corpora are pairs of a date and a text
            settings = replace(settings, date_column=reading.date_column)
        return _run_study(question, files, words, settings, monitor)


def _run_study(
    question: str, corpora: Sequence[Place], words: Words | None, settings: Settings, monitor: Monitor | bool | None
) -> Any:
    """Answer a question about the words of corpora that are files."""
    kind, out = RESULTS[question].kind, settings.out
    periods = check_periods(question, corpora, settings)
    if out is not None:
        check_stores(Path(out), None if question == TRACE else periods.keys)
    languages, readings, date_note = find_readings(periods, settings)
    if out is not None:
        sampling = choose_sampling(question, settings)
        of_store = store_settings(readings, settings.match, sampling, settings.precision, settings.by)
        check_store_settings(Path(out) / STORE, of_store)
    language = list(languages.values())[-1]
    targets, control_targets = read_named_words(words, settings, periods, readings)
    sources = _read_sources(settings, language)
    with ExitStack() as stack:
        progress = stack.enter_context(watching(monitor or False))
        for note in filter(None, (periods.order_note(), date_note)):
            progress.note(note)
        model, choice = resolve_model(settings.model, languages.values(), progress)
        rehearse(question, periods, readings, targets, settings, languages, model)
        encoder = as_encoder(model, languages=languages.values(), **settings.encoder_options())
        warnings = _warn_of_languages(dict(zip(periods.labels, languages.values(), strict=True)), encoder, progress)
        results = None if out is None else stack.enter_context(open_results(out, kind))
        engine = as_engine(settings.engine, settings.address, settings.workers)
        stack.callback(engine.close)
        cache = None
        if question == DISCOVER or not isinstance(engine, Local):
            temporary = stack.enter_context(tempfile.TemporaryDirectory(prefix="lexshift-"))
            cache = Cache((Path(temporary) if results is None else results.path) / CACHE)
        reader = open_reader(question, periods, readings, settings, engine, cache, progress)
        chosen = choose_words(question, reader, targets, control_targets, settings, language, progress)
        stack.enter_context(explain_absence(reader))
        encode = None if isinstance(engine, Local) else engine.encode(encoder, model, settings.encoder_options())
        siblings = make_store(
            None if results is None else results.path / STORE,
            chosen.targets,
            store_settings(readings, settings.match, reader.sampling, settings.precision, settings.by),
            encoder,
            reader.scan,
            progress,
            labels=None if settings.by else periods.keys,
            missing="skip",
            extend=question != DISCOVER,
            encode=encode,
        )
        if question == DISCOVER:
            controls = take_control_usages(chosen.control, siblings)
        else:
            path = None if results is None else results.path
            controls = embed_control_words(chosen.control, path, reader, settings, encoder, encode, progress)
        result = _analyse(question, siblings, controls, encoder, chosen, settings, periods, cache, progress)
        if sources is not None:
            result = _add_senses(result, encoder, settings, sources, language, progress)
        result.run.update(encoder_choice=choice, warnings=warnings, arguments=settings.arguments(question))
        if results is not None:
            progress.stage("report", 1, "pages")
            results.save(result.run, result.files)
            progress.advance(1, 1)
    return result


def find_readings(periods: Periods, settings: Settings) -> tuple[dict[str, str | None], dict[str, Reading], str | None]:
    """Return the language and the reading options of each corpus, and a note if its column of dates was guessed."""
    reading, note, split_at = Reading(**settings.reading_options()), None, settings.split_at
    if settings.by or split_at:
        reading, note = find_date_column(periods.corpora[0], reading, settings.by, split_at)
    languages, readings = detect_languages(periods.by_key(), reading)
    if settings.by:
        only = check_first_dates(periods.corpora[0], settings.by, reading)
        if only is not None:
            check_two_periods([only])
    if split_at:
        parts = split_readings(periods.corpora[0], split_at, next(iter(readings.values())))
        readings = dict(zip(readings, parts, strict=True))
    return languages, readings, note


def _warn_of_languages(languages: dict[str, str | None], encoder: Encoder, monitor: Monitor) -> list[str]:
    """Show and return warnings about the languages of the corpora, which are given by their labels."""
    warnings = language_warnings(languages, encoder)
    for warning in warnings:
        monitor.note(f"warning: {warning}")
    return warnings


def check_stores(out: Path, labels: Sequence[str] | None) -> None:
    """Refuse a results folder whose stores hold other corpora than those with these labels, or whose are not ours."""
    if labels is not None:
        check_store(out / STORE, labels)
        check_store(out / CONTROL, labels)
    with disk_faults(out):
        check_store_folder(out / CONTROL)  # which is opened only after the other store was written


def read_named_words(
    words: Words | None, settings: Settings, periods: Periods, readings: dict[str, Reading]
) -> tuple[Targets | None, Targets | None]:
    """Return the words of the study and the control words that the user named."""
    language = dictionary_language(periods.by_key(), readings, settings.match)
    targets = None if words is None else read_targets(words, settings.match, language)
    check_tags(targets, periods.by_key(), readings)
    return targets, read_control_targets(settings.control, settings.match, language)


class ChosenWords(NamedTuple):
    """The words of a run, and what counting all words of the corpora showed."""

    targets: Targets
    vocabulary: Vocabulary | None  # None if the user named the words
    control: ControlWords
    appeared: AppearedWords | None  # None also if they were not sought
    hint: str | None  # at forms of the words that are not studied


def choose_words(
    question: str,
    reader: CorpusReader,
    targets: Targets | None,
    control_targets: Targets | None,
    settings: Settings,
    language: str | None,
    monitor: Monitor,
    *,
    find_appeared: bool = True,
) -> ChosenWords:
    """Choose the words of the study and the control words.

    With ``find_appeared``, also find the words that appeared or disappeared, for which the corpora are read once more.
    """
    needs_counts = targets is None or has_number(settings.control)
    counts = count_first_and_last(reader) if needs_counts else None
    vocabulary, hint, rules = None, None, list(reader.readings.values())[-1].language
    if targets is None:
        vocabulary = choose_vocabulary(question, reader, counts, settings, language, monitor)
        targets = read_targets(vocabulary.words, settings.match, reader.dictionary_language)
    else:
        suggestions = (
            {} if question == TRACE else suggest_spellings(targets, counts or ())
        )  # not all periods are counted
        if suggestions:
            monitor.note(describe_suggestions(suggestions))
        if hint := find_form_hint(targets, counts, rules):
            monitor.note(hint)
    studied = targets.words if question == DISCOVER else None
    control = choose_control_words(reader, settings, counts, control_targets, language, studied)
    appeared = find_appeared_words(reader, counts, settings, language) if find_appeared else None
    return ChosenWords(targets, vocabulary, control, appeared, hint)


def choose_sampling(question: str, settings: Settings) -> dict[str, Any] | None:
    """Return how the usages of a word are sampled; None if all of them are used."""
    limit = settings.max_per_word
    if question == DISCOVER:
        return {"max_per_word": limit, "seed": settings.sample_seed if limit else 0, "shared": True}
    return None if limit is None else {"max_per_word": limit, "seed": settings.sample_seed}


def open_reader(
    question: str,
    periods: Periods,
    readings: dict[str, Reading],
    settings: Settings,
    engine: Engine,
    cache: Cache | None,
    monitor: Monitor,
) -> CorpusReader:
    """Return a reader of the corpora: in parts if there is a cache, unless one corpus is cut into periods."""
    sampling = choose_sampling(question, settings)
    how = periods.by_key(), readings, settings.match, sampling, settings.by, monitor
    return CorpusReader(*how) if cache is None or settings.by else PartsReader(*how, engine, cache)


def _analyse(
    question: str,
    siblings: Siblings,
    controls: ControlUsages,
    encoder: Encoder,
    chosen: ChosenWords,
    settings: Settings,
    periods: Periods,
    cache: Cache | None,
    monitor: Monitor,
) -> StudyResult:
    """Score and test the words of a store, and return the result of the question."""
    targets, vocabulary = chosen.targets, chosen.vocabulary
    check_two_periods(siblings.corpora)
    if settings.duplicates == ONCE:
        siblings = siblings.without_duplicates()
    usages = Usages(siblings, targets.words, settings.min_usages)
    space = usages.use_space(settings.space, encoder, controls)
    calibration = optional_attribute(encoder, "calibration")
    judged_space = space if calibration is None else calibration_space(encoder)
    finder = None
    if question != TRACE:
        finder = GapFinder(usages, controls.in_space(None), calibration, judged_space, settings.seed)
    scores, facts = _score(question, siblings, usages, controls, finder, space, settings, cache, monitor)
    if question == TRACE:
        facts["components"] = COMPONENTS
    if vocabulary is not None:
        facts |= {"function_words": vocabulary.language, "candidates": vocabulary.candidates, "names": vocabulary.names}
    record = settings.record(question, words_given=vocabulary is None) | facts
    run = run_record(record, targets, siblings, periods, scores)
    for note in run["notes"]:
        monitor.note(note)
    run["notes"] += [chosen.hint] if chosen.hint else []  # which was shown before
    run["control"] = controls.record()
    run["appeared"] = None if chosen.appeared is None else chosen.appeared.record()
    run["calibration"] = None if calibration is None else asdict(calibration)
    shared = siblings, targets.words, run, space
    counted = {"controls": controls, "appeared_words": chosen.appeared}
    if finder is None:
        history = find_history(usages, settings, monitor)
        ordinary = controls.in_space(None)
        judged, backdrops = compare_ends(
            usages, ordinary, calibration, judged_space, settings.seed, settings.alpha, monitor
        )
        weighed: dict[str, Any] = {"evidence": judged, "backdrops": backdrops, **counted}
        trace = Trace(*shared, scores.words, *history, **weighed)
        run["background"] = asdict(trace.backdrop) | {"periods": list(trace.ends)}
        return trace
    by_word = Scores({word: score for (word, _, _), score in scores.words.items()}, scores.curve, scores.sscd)
    first, second = periods.labels
    evidence, backdrop = finder.find(settings.alpha, monitor)
    run["background"] = asdict(backdrop)
    weighed = {"evidence": evidence, "backdrop": backdrop, **counted}
    if settings.groups is not None:
        groups = GroupFinder(siblings, targets.words, usages, finder, calibration, settings).find(
            backdrop.floor, monitor
        )
        weighed["group_comparison"] = groups
        if note := groups.note():
            run["notes"].append(note)
            monitor.note(note)
    if vocabulary is None or question == COMPARE:
        return Result(*shared, by_word, (first, second), **weighed)
    return Discovery(*shared, by_word, (first, second), vocabulary, **weighed)


def _add_senses(
    result: StudyResult,
    encoder: Encoder,
    settings: Settings,
    sources: SenseSources,
    language: str | None,
    monitor: Monitor,
) -> StudyResult:
    """Return a result with the senses of its words, and with what its record says about them."""
    from lexshift.study.sense_notes import dictionary_notes, selection_note
    from lexshift.study.senses import find_all_senses

    words, share = result.sense_words, 1.0
    if isinstance(result, Discovery) and words:
        share = len(words) / len(result.scores.words)
    senses, record = find_all_senses(
        result.siblings, words, encoder, settings, sources, _known_language(language), monitor, share
    )
    if isinstance(result, Discovery):
        record |= {"words": len(words), "selected_share": share}
        record["notes"].insert(0, selection_note(len(words), result.count(CHANGED), len(result.scores.words)))
    is_calibrated = optional_attribute(encoder, "calibration") is not None
    record["notes"] += dictionary_notes(sources, senses, is_calibrated)
    for note in record["notes"]:
        monitor.note(note[0].lower() + note[1:])
    return replace(result, senses=senses, run=result.run | {"senses": record})


def _read_sources(settings: Settings, language: str | None) -> SenseSources | None:
    """Return what is needed to find senses, or None if they are not sought."""
    if not settings.senses:
        return None
    from lexshift.study.senses import read_sources  # imported here because it is not needed otherwise

    return read_sources(settings, _known_language(language))


def _known_language(language: str | None) -> str | None:
    return None if language == UNKNOWN else language


def _score(
    question: str,
    siblings: Siblings,
    usages: Usages,
    controls: ControlUsages,
    finder: GapFinder | None,
    space: Space | None,
    settings: Settings,
    cache: Cache | None,
    monitor: Monitor,
) -> tuple[Scores[Pair], dict[str, Any]]:
    """Score and test all pairs of periods; return the scores, and further facts for the provenance record."""
    scoring = settings.scoring()
    sizes, facts = None, {"space": settings.space if space is None else space.kind}
    if settings.normalised:
        sizes, facts["normalised_by"] = usages.corpus_sizes()
    families = [[step.pair for step in usages.steps if step.kind == kind] for kind in KINDS]
    comparisons = Comparisons(
        keys=list(dict.fromkeys(step.pair for step in usages.steps)),
        vectors=usages.pair,
        name=lambda pair: pair[0],
        corpus_sizes=None if sizes is None else lambda pair: (sizes[pair[1]], sizes[pair[2]]),
        families=families if question == TRACE else None,
        documents=usages.documents,
        tested=None if finder is None or not finder.removes_shift(settings.metric) else finder.pair_of,
        unit="pairs of periods" if question == TRACE else "words",
    )
    curve_words = {COMPARE: None, DISCOVER: CURVE_WORDS, TRACE: None if settings.rate == "auto" else 0}[question]
    space_identity = None if space is None else space.identity
    identity = digest([siblings.fingerprint, settings.duplicates, space_identity, controls.identity])
    return score_words(comparisons, scoring, monitor, curve_words, cache, identity), facts


def run_record(
    settings: dict[str, Any], targets: Targets, siblings: Siblings, periods: Periods, scores: Scores[Pair]
) -> dict[str, Any]:
    """Return the provenance record written to run.json: settings, corpora, checksums and package versions."""
    keys = siblings.corpora
    is_cut = len(periods.corpora) == 1  # one corpus, cut into periods by date
    paths = periods.corpora * len(keys) if is_cut else periods.corpora
    labels = keys if is_cut else periods.labels
    corpora = [
        corpus_record(path)
        | {"name": label, "key": key}
        | {"duplicates": siblings.count_repeated(targets.words, key)}
        | {name: value for name, value in siblings.corpus(key).items() if name != "label"}
        for path, label, key in zip(paths, labels, keys, strict=True)
    ]
    tests = [scored.test for scored in scores.words.values()]
    units = dict(Counter(test.unit for test in tests))
    return {
        "lexshift": __version__,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": settings,
        "rate": scores.sscd.rate,
        "permutations": max((test.permutations for test in tests), default=0),
        "approximated": sum(test.p == test.tail for test in tests),
        "tested_metrics": dict(Counter(scored.tested_metric for scored in scores.words.values())),
        "permuted_units": units,
        "notes": usage_notes([corpus["duplicates"] for corpus in corpora], units),
        "words": targets.words,
        "forms": {word: list(forms) for word, forms in targets.forms.items()},
        "corpora": corpora,
        "embedding": siblings.settings,
        "store": {"fingerprint": siblings.fingerprint, "dimensions": siblings.index["dimensions"]},
        "versions": package_versions(),
    }
