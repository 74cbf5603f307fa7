"""Run a study, from corpora to a result: the pipeline of compare, discover and trace.

1. Check the corpora and the folder, and detect languages (``read_inputs``); look for the words in small corpora
   (``rehearse``); load the encoder.
2. Choose the words and the control words, and find the words that appeared or disappeared among all words of the
   corpora (``choose_words``). Find the usages of the words and of the control words, and embed them (``_embed_words``).
3. Score and test the pairs of periods of each word, and compare them with control words; for a trace also look for
   seasons and change points (``analyse``).
4. Find the senses of the words, if they were asked for (``_add_senses``).
5. Save the result with the record of its provenance.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexshift.corpus import Corpus
from lexshift.corpus.language import UNKNOWN, language_warnings
from lexshift.corpus.objects import as_files
from lexshift.corpus.reader import CorpusReader
from lexshift.corpus.sources import Place, Reading
from lexshift.corpus.targets import Words
from lexshift.encode import Encoder, as_encoder
from lexshift.encode.built_in import resolve_model
from lexshift.encode.protocol import optional_attribute
from lexshift.engine.cache import Cache
from lexshift.engine.local import Local, as_engine
from lexshift.store.early_search import explain_absence
from lexshift.store.embedding import make_store
from lexshift.store.shards import EncodeShards
from lexshift.store.siblings import Siblings
from lexshift.store.writer import check_store_settings
from lexshift.study.analysis import analyse
from lexshift.study.control_usages import ControlUsages, embed_control_words, take_control_usages
from lexshift.study.discovery import Discovery
from lexshift.study.folder import check_results, open_results
from lexshift.study.inputs import StudyInputs, read_inputs
from lexshift.study.rehearsal import rehearse
from lexshift.study.result import Result
from lexshift.study.result_files import STORE
from lexshift.study.settings import COMPARE, DISCOVER, TRACE, Settings
from lexshift.study.study_result import StudyResult
from lexshift.study.trace_result import Trace
from lexshift.study.verdict import CHANGED
from lexshift.study.words import ChosenWords, choose_words, read_named_words
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
    # 1. Everything that may be wrong is checked before the encoder is loaded.
    inputs = read_inputs(question, corpora, settings)
    if settings.out is not None:
        check_store_settings(Path(settings.out) / STORE, inputs.store_settings())
    targets, control_targets = read_named_words(words, inputs)
    sources = _read_sources(inputs)
    with ExitStack() as stack:
        progress = stack.enter_context(watching(monitor or False))
        for note in inputs.notes:
            progress.note(note)
        model, choice = resolve_model(settings.model, inputs.languages.values(), progress)
        rehearse(inputs, targets, model)
        encoder = as_encoder(model, languages=inputs.languages.values(), **settings.encoder_options())
        warnings = _warn_of_languages(inputs, encoder, progress)

        results = None
        if settings.out is not None:
            results = stack.enter_context(open_results(settings.out, RESULTS[question].kind))
        folder = None if results is None else results.path
        engine = as_engine(settings.engine, settings.address, settings.workers)
        stack.callback(engine.close)
        cache = None
        if question == DISCOVER or not isinstance(engine, Local):
            temporary = stack.enter_context(tempfile.TemporaryDirectory(prefix="lexshift-"))
            cache = Cache((folder or Path(temporary)) / CACHE)

        # 2. The words and their vectors.
        reader = inputs.open_reader(engine, cache, progress)
        chosen = choose_words(inputs, reader, targets, control_targets, progress)
        stack.enter_context(explain_absence(reader))
        encode = None if isinstance(engine, Local) else engine.encode(encoder, model, settings.encoder_options())
        siblings, controls = _embed_words(inputs, chosen, reader, folder, encoder, encode, progress)

        # 3. and 4. The result, and its senses.
        result = analyse(inputs, chosen, siblings, controls, encoder, cache, progress)
        if sources is not None:
            result = _add_senses(result, inputs, encoder, sources, progress)

        # 5. The record, and the folder.
        result.run.update(encoder_choice=choice, warnings=warnings, arguments=settings.arguments(question))
        if results is not None:
            progress.stage("report", 1, "pages")
            results.save(result.run, result.files)
            progress.advance(1, 1)
    return result


def _embed_words(
    inputs: StudyInputs,
    chosen: ChosenWords,
    reader: CorpusReader,
    folder: Path | None,
    encoder: Encoder,
    encode: EncodeShards | None,
    monitor: Monitor,
) -> tuple[Siblings, ControlUsages]:
    """Find and embed the usages of the words and of the control words, unless the stores in the folder have them."""
    is_discovery = inputs.question == DISCOVER
    siblings = make_store(
        None if folder is None else folder / STORE,
        chosen.targets,
        inputs.store_settings(),
        encoder,
        reader.scan,
        monitor,
        labels=None if inputs.settings.by else inputs.periods.keys,
        missing="skip",
        extend=not is_discovery,
        encode=encode,
    )
    if is_discovery:
        return siblings, take_control_usages(chosen.control, siblings)
    return siblings, embed_control_words(chosen.control, folder, reader, inputs.settings, encoder, encode, monitor)


def _warn_of_languages(inputs: StudyInputs, encoder: Encoder, monitor: Monitor) -> list[str]:
    """Show and return warnings about the languages of the corpora."""
    languages = dict(zip(inputs.periods.labels, inputs.languages.values(), strict=True))
    warnings = language_warnings(languages, encoder)
    for warning in warnings:
        monitor.note(f"warning: {warning}")
    return warnings


def _read_sources(inputs: StudyInputs) -> SenseSources | None:
    """Return what is needed to find senses, or None if they are not sought."""
    if not inputs.settings.senses:
        return None
    from lexshift.study.senses import read_sources  # imported here because it is not needed otherwise

    return read_sources(inputs.settings, _known_language(inputs))


def _add_senses(
    result: StudyResult, inputs: StudyInputs, encoder: Encoder, sources: SenseSources, monitor: Monitor
) -> StudyResult:
    """Return a result with the senses of its words, and with what its record says about them."""
    from lexshift.study.sense_notes import dictionary_notes, selection_note
    from lexshift.study.senses import find_all_senses

    words, share = result.sense_words, 1.0
    if isinstance(result, Discovery) and words:
        share = len(words) / len(result.scores.words)
    senses, record = find_all_senses(
        result.siblings, words, encoder, inputs.settings, sources, _known_language(inputs), monitor, share
    )
    if isinstance(result, Discovery):
        record |= {"words": len(words), "selected_share": share}
        record["notes"].insert(0, selection_note(len(words), result.count(CHANGED), len(result.scores.words)))
    is_calibrated = optional_attribute(encoder, "calibration") is not None
    record["notes"] += dictionary_notes(sources, senses, is_calibrated)
    for note in record["notes"]:
        monitor.note(note[0].lower() + note[1:])
    return replace(result, senses=senses, run=result.run | {"senses": record})


def _known_language(inputs: StudyInputs) -> str | None:
    """Return the language of the last corpus, or None if it was not recognised."""
    return None if inputs.language == UNKNOWN else inputs.language
