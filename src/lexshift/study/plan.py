"""Plan a run without starting it.

A plan checks the settings, reads the corpora and chooses the words with the functions of the run itself, so that its
numbers are those of the run. Nothing is written to the folder of the results.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial, reduce
from pathlib import Path

from lexshift.corpus.language import detect_languages, language_warnings
from lexshift.corpus.lemmas import check_tags, dictionary_language
from lexshift.corpus.reader import CorpusReader
from lexshift.corpus.sources import Place, Reading, as_text, describe_files, find_sources
from lexshift.corpus.targets import Targets, Words, read_targets
from lexshift.encode import as_encoder
from lexshift.encode.built_in import resolve_model
from lexshift.engine.cache import Cache
from lexshift.engine.local import Local
from lexshift.store.early_search import explain_absence
from lexshift.store.embedding import corpus_names, gather_contents, store_settings
from lexshift.store.forecast import StoreForecast, forecast_store
from lexshift.store.writer import check_store_folder, find_store, with_encoder
from lexshift.study.control_usages import CONTROL_SAMPLING
from lexshift.study.control_words import ControlWords
from lexshift.study.encoder_profile import EncoderProfile, PlannedEncoder
from lexshift.study.estimates import ENCODING_RANGE, estimate_results_bytes, estimate_scoring, pair_sizes
from lexshift.study.folder import check_results
from lexshift.study.inputs import read_inputs
from lexshift.study.periods import Periods, check_two_periods
from lexshift.study.pipeline import RESULTS
from lexshift.study.result_files import CONTROL, STORE
from lexshift.study.settings import DISCOVER, Settings
from lexshift.study.study_plan import CorpusPlan, StorePlan, StudyPlan, TimeRange
from lexshift.study.words import choose_words, describe_choice, read_named_words
from lexshift.utils import checks
from lexshift.utils.files import disk_faults
from lexshift.utils.monitor import ForwardingMonitor, Monitor, Silent, watching

EMBED = "embed"
NAMED = "named by the user"
"""How the words of a study were chosen if the user named them."""


class NoteCollector(ForwardingMonitor):
    """A monitor that passes progress on, and collects notes instead of showing them."""

    def __init__(self, monitor: Monitor) -> None:
        super().__init__(monitor)
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """Collect a note."""
        self.notes.append(text)


def plan_study(
    question: str, corpora: Sequence[Place], words: Words | None, settings: Settings, monitor: Monitor | bool | None
) -> StudyPlan:
    """Return what :func:`lexshift.study.pipeline.run_study` will do with the same arguments; nothing is written.

    Parameters
    ----------
    question : "compare", "discover" or "trace"
    corpora, words, settings, monitor
        As for ``run_study``.
    """
    begun = time.perf_counter()
    out = None if settings.out is None else Path(settings.out)
    if out is not None:
        check_results(out, RESULTS[question].kind)
    inputs = read_inputs(question, corpora, settings)
    targets, control_targets = read_named_words(words, inputs)
    with ExitStack() as stack:
        progress = NoteCollector(stack.enter_context(watching(monitor or False)))
        progress.notes += inputs.notes
        encoder, encoder_choice = _plan_encoder(settings, inputs.languages)
        cache = None
        if question == DISCOVER:
            cache = Cache(Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lexshift-"))))
        reader = inputs.open_reader(Local(), cache, progress)
        chosen = choose_words(inputs, reader, targets, control_targets, progress, find_appeared=False)
        targets, vocabulary = chosen.targets, chosen.vocabulary
        planner = StorePlanner(encoder, settings, progress)
        forecast, labels = planner.forecast(
            None if out is None else out / STORE, targets, reader, missing="skip", extend=question != DISCOVER
        )
        check_two_periods(labels)
        control = None if question == DISCOVER else planner.forecast_controls(out, chosen.control, reader)
        reading = time.perf_counter() - begun - encoder.seconds_to_load
        profile = _measure_encoder(encoder, forecast, control)
    names = _name_periods(inputs.periods, labels)
    progress.notes += _notes_on_text(forecast, names, inputs.languages, encoder)
    choice = NAMED
    if vocabulary is not None:
        choice = describe_choice(vocabulary, settings.min_count, min(2, len(inputs.periods.corpora)))
        progress.notes.remove(f"studying {choice}")
    dimensions = _dimensions(profile, forecast, control)
    sizes = pair_sizes(forecast.contents, targets.words, labels, settings.min_usages)
    stores = [forecast] if control is None else [forecast, control]
    results_bytes = estimate_results_bytes(forecast.contents, settings.senses)
    if question == DISCOVER:
        results_bytes += forecast.other_bytes()  # the samples in the cache of its parts
    scoring = estimate_scoring(sizes, dimensions, settings)
    store_bytes, peak_bytes = _count_bytes(stores, dimensions)
    return StudyPlan(
        question=question,
        senses=settings.senses,
        out=None if out is None else as_text(os.fspath(out)),
        corpora=_describe_corpora(forecast, names, inputs.languages),
        words=targets.words,
        choice=choice,
        encoder=_encoder_name(encoder),
        encoder_choice=encoder_choice,
        targets=_describe_store(forecast, dimensions),
        control=None if control is None else _describe_store(control, dimensions),
        seconds=_estimate_times(stores, profile, reading, scoring),
        disk_bytes=store_bytes + results_bytes,
        peak_bytes=peak_bytes + results_bytes,
        notes=progress.notes,
    )


def plan_embedding(
    corpora: Sequence[Place], words: Words, settings: Settings, missing: str, monitor: Monitor | bool | None
) -> StudyPlan:
    """Return what :func:`lexshift.embed` will do; nothing is written.

    Parameters
    ----------
    corpora : sequence of str or path
    words : path, list, or mapping of words to their forms
    settings : Settings
        Its options of reading and encoding, and ``model``, ``labels``, ``match``, ``max_per_word``, ``precision``,
        ``out`` and ``sample_seed``, which is the seed of ``embed``.
    missing : "error" or "skip"
    monitor : Monitor or bool
    """
    checks.choice(missing, "missing", ("error", "skip"))
    out = None if settings.out is None else Path(settings.out)
    labelled = dict(zip(corpus_names(corpora, settings.labels), corpora, strict=True))
    for corpus in corpora:
        find_sources(corpus)
    begun = time.perf_counter()
    languages, readings = detect_languages(labelled, Reading(**settings.reading_options()))
    targets = read_targets(words, settings.match, dictionary_language(labelled, readings, settings.match))
    check_tags(targets, labelled, readings)
    limit = settings.max_per_word
    sampling = None if limit is None else {"max_per_word": limit, "seed": settings.sample_seed}
    with watching(monitor or False) as shown:
        progress = NoteCollector(shown)
        encoder, encoder_choice = _plan_encoder(settings, languages)
        reader = CorpusReader(labelled, readings, settings.match, sampling, None, progress)
        planner = StorePlanner(encoder, settings, progress)
        forecast, labels = planner.forecast(out, targets, reader, missing=missing)
        reading = time.perf_counter() - begun - encoder.seconds_to_load
        profile = _measure_encoder(encoder, forecast)
    names = {label: (label, labelled[label]) for label in labels}
    progress.notes += _notes_on_text(forecast, names, languages, encoder)
    dimensions = _dimensions(profile, forecast)
    store_bytes, peak_bytes = _count_bytes([forecast], dimensions)
    return StudyPlan(
        question=EMBED,
        senses=False,
        out=None if out is None else as_text(os.fspath(out)),
        corpora=_describe_corpora(forecast, names, languages),
        words=targets.words,
        choice=NAMED,
        encoder=_encoder_name(encoder),
        encoder_choice=encoder_choice,
        targets=_describe_store(forecast, dimensions),
        control=None,
        seconds=_estimate_times([forecast], profile, reading, TimeRange(0, 0)),
        disk_bytes=store_bytes,
        peak_bytes=peak_bytes,
        notes=progress.notes,
    )


@dataclass(frozen=True)
class StorePlanner:
    """Forecast the stores of a run.

    Attributes
    ----------
    encoder : PlannedEncoder
    settings : Settings
        Its ``match``, ``precision`` and ``by``.
    monitor : Monitor
    """

    encoder: PlannedEncoder
    settings: Settings
    monitor: Monitor

    def forecast(
        self, folder: Path | None, targets: Targets, reader: CorpusReader, missing: str, extend: bool = True
    ) -> tuple[StoreForecast, list[str]]:
        """Return what a run will write into a store, and the labels of the corpora that were read.

        Parameters
        ----------
        folder : Path, optional
            The folder of the store; None for a temporary one.
        targets : Targets
        reader : CorpusReader
        missing, extend
            As for :func:`lexshift.store.embedding.make_store`.
        """
        if folder is not None:
            with disk_faults(folder):
                check_store_folder(folder)
        chosen, by = self.settings, self.settings.by
        settings = store_settings(reader.readings, chosen.match, reader.sampling, chosen.precision, by)
        settings = with_encoder(settings, self.encoder)
        store = None if folder is None else find_store(folder, settings)
        with explain_absence(reader):
            contents, labels = gather_contents(
                store,
                targets,
                self.encoder,
                reader.scan,
                self.monitor,
                labels=None if by else list(reader.corpora),
                missing=missing,
                extend=extend,
            )
        return forecast_store(folder, store, contents, settings, self.encoder), labels

    def forecast_controls(self, out: Path | None, chosen: ControlWords, reader: CorpusReader) -> StoreForecast | None:
        """Return what a run will write into the store of control words; None if there are none.

        Parameters
        ----------
        out : Path, optional
            The folder of the results.
        chosen : ControlWords
        reader : CorpusReader
            Reader of the corpora, with any sampling.
        """
        if chosen.targets is None:
            return None
        folder, sampler = None if out is None else out / CONTROL, replace(reader, sampling=CONTROL_SAMPLING)
        return self.forecast(folder, chosen.targets, sampler, missing="skip", extend=False)[0]


def _plan_encoder(settings: Settings, languages: Mapping[str, str | None]) -> tuple[PlannedEncoder, str | None]:
    """Return the encoder of a run, and why it was chosen if it was not named."""
    model, choice = resolve_model(settings.model, languages.values(), Silent())
    options, language = settings.encoder_options(), list(languages.values())[-1]
    load = partial(as_encoder, model, languages=list(languages.values()), **options)
    return PlannedEncoder(model, options, language, load), choice


def _name_periods(periods: Periods, labels: Sequence[str]) -> dict[str, tuple[str, Place]]:
    """Return the name for the user and the path of each period of a store, by its label."""
    named = dict(zip(periods.keys, zip(periods.labels, periods.corpora, strict=True), strict=True))
    return {label: named.get(label, (label, periods.corpora[0])) for label in labels}


def _measure_encoder(encoder: PlannedEncoder, *forecasts: StoreForecast | None) -> EncoderProfile | None:
    """Return the speed of an encoder; None if there is nothing to encode."""
    plans = [forecast.plan for forecast in forecasts if forecast is not None and forecast.sentences]
    return encoder.profile(plans[0]) if plans else None


def _dimensions(profile: EncoderProfile | None, *forecasts: StoreForecast | None) -> int:
    """Return the dimensions of the vectors: as measured, or those of a complete store."""
    if profile is not None:
        return profile.dimensions
    stores = [forecast.plan.store for forecast in forecasts if forecast is not None]
    return next((int(store.index["dimensions"]) for store in stores if store is not None), 0)


def _encoder_name(encoder: PlannedEncoder) -> str:
    return str(with_encoder({}, encoder)["encoder"].get("model", "a custom encoder"))


def _describe_corpora(
    forecast: StoreForecast, names: Mapping[str, tuple[str, Place]], languages: Mapping[str, str | None]
) -> list[CorpusPlan]:
    """Return the corpora that were read; ``names`` has the name and the path of each label."""
    entries = {entry["label"]: entry for entry in forecast.contents.corpora}
    common = list(languages.values())[-1]
    return [
        CorpusPlan(
            name=name,
            path=as_text(os.fspath(path)),
            **{key: entries[label][key] for key in ("files", "bytes", "words", "skipped")},
            language=languages.get(label, common),
        )
        for label, (name, path) in names.items()
    ]


def _notes_on_text(
    forecast: StoreForecast,
    names: Mapping[str, tuple[str, Place]],
    languages: Mapping[str, str | None],
    encoder: PlannedEncoder,
) -> list[str]:
    """Return warnings about the languages, and notes on the files that are not UTF-8 or cannot be read."""
    entries = {entry["label"]: entry for entry in forecast.contents.corpora}
    return [
        *(f"warning: {text}" for text in language_warnings(languages, encoder)),
        *(f"{name}: {note}" for label, (name, _) in names.items() for note in describe_files(entries[label])),
    ]


def _describe_store(forecast: StoreForecast, dimensions: int) -> StorePlan:
    return StorePlan(
        words=len(forecast.contents.forms),
        usages=forecast.usages,
        held=forecast.held,
        sentences=forecast.sentences,
        vectors_bytes=forecast.vectors_bytes(dimensions),
        table_bytes=forecast.other_bytes(),
    )


def _count_bytes(stores: Sequence[StoreForecast], dimensions: int) -> tuple[int, int]:
    """Return the size of stores, and of all their files while the one with the most work is written."""
    final = sum(store.vectors_bytes(dimensions) + store.other_bytes() for store in stores)
    return final, final + max(store.work_bytes(dimensions) for store in stores)


def _estimate_times(
    stores: Sequence[StoreForecast], profile: EncoderProfile | None, reading: float, scoring: TimeRange
) -> dict[str, TimeRange]:
    """Return the times of the parts of a run, and their sum."""
    loading = 0.0 if profile is None else profile.seconds_to_load
    characters = sum(store.characters for store in stores)
    seconds = 0.0 if profile is None else characters * profile.seconds_per_character
    times = {
        "reading": TimeRange(0.8 * (reading + loading), 1.3 * (reading + loading)),
        "encoding": TimeRange(*(factor * seconds for factor in ENCODING_RANGE)),
        "scoring": scoring,
    }
    return times | {"total": reduce(TimeRange.plus, times.values())}
