"""Embed corpora: find the usages of words, encode them, and write the vectors to a store.

An interrupted run resumes where it stopped and ends with the same bytes. When words or corpora are added to a store,
only the new usages are encoded.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack

from lexshift.corpus import Corpus, Occurrences, Reading, Targets, read_targets
from lexshift.corpus.dated_corpus import find_date_column
from lexshift.corpus.dates import UNITS
from lexshift.corpus.language import detect_languages, language_of_sentences, language_warnings, record_readings
from lexshift.corpus.lemmas import check_tags, dictionary_language
from lexshift.corpus.objects import as_files
from lexshift.corpus.reader import CorpusReader
from lexshift.corpus.sources import (
    STANDARD_INPUT,
    ObjectFile,
    Place,
    as_text,
    find_sources,
    name_object,
    place_of,
    refuse_output_inside,
)
from lexshift.corpus.targets import Words
from lexshift.corpus.word_rule import WORD_RULE
from lexshift.encode import Encoder, as_encoder
from lexshift.encode.adaptation import period_numbers
from lexshift.encode.built_in import resolve_model
from lexshift.encode.loading import check_available
from lexshift.encode.protocol import optional_attribute
from lexshift.errors import UserError
from lexshift.store.early_search import (
    AbsenceError,
    explain_absence,
    find_absent,
    is_quick_to_read,
    name_some,
    search_early,
)
from lexshift.store.plan import StoreContents, gather_occurrences, gather_usages
from lexshift.store.shards import EncodeShards
from lexshift.store.siblings import Siblings
from lexshift.store.writer import open_store
from lexshift.utils import checks
from lexshift.utils.monitor import Monitor, Silent, passing

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Scan: TypeAlias = Callable[[Targets], dict[str, Occurrences]]
"""Finds the occurrences of target words in each corpus, by its label."""
PRECISIONS = ("float32", "float16")


class ReadingOptions(TypedDict, total=False):
    """Options for reading text: the fields of :class:`lexshift.corpus.Reading`."""

    encoding: str
    errors: str
    split: str
    language: str
    text_column: str
    date_column: str | None
    document_column: str | None
    xpath: str | None
    strict: bool
    date_order: str
    columns: str | None
    groups: str | None


class EncoderOptions(TypedDict, total=False):
    """Options for using a named or loaded model as an encoder: those of :func:`lexshift.encode.as_encoder`."""

    layers: str | int | None
    pooling: str | None
    window: int | None
    markers: tuple[str, str] | None
    device: str
    dtype: str
    batch_tokens: int | None
    revision: str | None


class EmbeddingOptions(ReadingOptions, EncoderOptions, total=False):
    """Options of all functions that embed corpora: reading, encoding, and the precision of the vectors."""

    precision: str


class EmbedOptions(EmbeddingOptions, total=False):
    """The further options of :func:`embed`."""

    seed: int
    missing: str


READING = tuple(ReadingOptions.__annotations__)
ENCODING = tuple(EncoderOptions.__annotations__)


def embed(
    *corpora: Corpus,
    words: Words,
    model: Any = "auto",
    out: str | os.PathLike[str] | None = None,
    labels: Sequence[str] | None = None,
    by: str | None = None,
    match: str = "word",
    max_per_word: int | None = None,
    monitor: Monitor | None = None,
    **options: Unpack[EmbedOptions],
) -> Siblings:
    """Embed every occurrence of the words in the corpora, and write the vectors to a store.

    Parameters
    ----------
    *corpora : Corpus
        Text files, tables, folders or glob patterns, the old one first; "-" is standard input. Python objects such as
        DataFrames, lists of strings and generators are accepted too; see :data:`lexshift.corpus.Corpus`.
    words : path, list, or mapping of words to their forms
        See :func:`lexshift.corpus.read_targets`.
    model : str, path, (model, tokenizer) or Encoder
        See :func:`lexshift.encode.as_encoder`. "auto" chooses a built-in model by the language of the corpora.
    out : path, optional
        Folder of the store. If the store exists, missing words and corpora are added. The default is a temporary
        folder, which is deleted with the returned object.
    labels : list of str, optional
        Names of the corpora; by default "old" and "new" for two, else the names of the files, or numbers for
        Python objects.
    by : "week", "month", "quarter", "year" or "decade", optional
        Length of the periods into which a single corpus is divided, by the dates of its records (``date_column``) or
        the years in the names of its files. The periods replace the corpora and are called "1999-W30", "1999-07",
        "1999-Q3", "1999" or "1990s".
    match : "word", "cased", "token" or "lemma"
        Rule for occurrences: complete words in any case, complete words in the given case, tokens between white space,
        or all forms of a lemma.
    max_per_word : int, optional
        Maximum number of usages of a word in a corpus, sampled without bias; None or 0 for all.
    monitor : Monitor, optional
        Receives the progress of the run.
    **options
        - ``seed`` : seed for that sample (default: 0).
        - ``precision`` : "float32" (default) or "float16", of the vectors on disk.
        - ``missing`` : "error" (default) or "skip", for words that occur in no corpus.
        - Options for reading text: encoding, errors, split, language, text_column, date_column, document_column,
          date_order, xpath, strict, columns, groups; see :class:`lexshift.corpus.Reading`.
        - Options of the encoder: layers, pooling, window, markers, device, dtype, batch_tokens, revision; see
          :class:`lexshift.encode.HuggingFaceEncoder`.

    Returns
    -------
    Siblings
        The opened store; ``siblings["plane"].old`` is an array of shape (n, d) for ``SSCD.score``. Its corpora are
        those of this call in the given order, even if the store holds others.

    Examples
    --------
    >>> from lexshift import embed
    >>> from lexshift.demo import ExampleEncoder  # in place of a built-in model
    >>> old, new = ["The mouse ran.", "A mouse, and a mouse."], ["Click with the mouse."]
    >>> siblings = embed(old, new, words=["mouse"], model=ExampleEncoder())
    >>> siblings["mouse"].old
    array([[14.,  4.],
           [21.,  2.],
           [21., 15.]], dtype=float32)
    """
    checks.keywords(options, EmbedOptions.__annotations__, embed)
    if not corpora:
        raise UserError("there is no corpus to read; give at least one corpus, or two to compare them")
    values: dict[str, Any] = {"seed": 0, "precision": PRECISIONS[0], "missing": "error", **options}
    checks.choice(values["precision"], "precision", PRECISIONS)
    checks.choice(values["missing"], "missing", ("error", "skip"))
    if by is not None:
        checks.choice(by, "by", UNITS)
        if len(corpora) > 1 or labels is not None:
            raise UserError(
                f"by {by!r} cuts one corpus into periods, which have their names; got {len(corpora)} corpora"
            )
    reading = Reading(**{name: value for name, value in values.items() if name in READING})
    with as_files(corpora, reading) as (files, reading):
        if out is not None:
            refuse_output_inside(out, files)
        names = corpus_names(files, labels)
        labelled = dict(zip(names, map(name_object, files, names), strict=True))
        for corpus in files:
            find_sources(corpus)
        monitor = monitor or Silent()
        if by is not None:
            reading, note = find_date_column(files[0], reading, by, None)
            if note:
                monitor.note(note)
        languages, readings = detect_languages(labelled, reading)
        targets = read_targets(words, match, dictionary_language(labelled, readings, match))
        check_tags(targets, labelled, readings)
        seed = checks.seed(values["seed"])
        max_per_word = checks.positive(0 if max_per_word is None else max_per_word, "max_per_word", least=0) or None
        sampling = None if max_per_word is None else {"max_per_word": max_per_word, "seed": seed}
        model, _ = resolve_model(model, languages.values(), monitor)
        reader = CorpusReader(labelled, readings, match, sampling, by, monitor)
        if isinstance(model, (str, os.PathLike)):  # an object is loaded already
            check_available(model, values.get("revision"), languages.values())
            if is_quick_to_read(reader):
                folder = None if out is None else Path(out)
                search_early(replace(reader, monitor=Silent()), targets, folder, values["missing"])
        encoder_options = {name: value for name, value in values.items() if name in ENCODING}
        encoder = as_encoder(model, languages=languages.values(), **encoder_options)
        settings = store_settings(readings, match, sampling, values["precision"], by)
        for warning in language_warnings(languages, encoder):
            monitor.note(f"warning: {warning}")
        with explain_absence(reader):
            return make_store(
                out,
                targets,
                settings,
                encoder,
                reader.scan,
                monitor,
                labels=list(labelled) if by is None else None,
                missing=values["missing"],
            )


def embed_usages(
    usages: pd.DataFrame | pa.Table,
    model: Any = "auto",
    out: str | os.PathLike[str] | None = None,
    labels: Sequence[str] | None = None,
    precision: str = PRECISIONS[0],
    monitor: Monitor | None = None,
    **options: Unpack[EncoderOptions],
) -> Siblings:
    """Embed usages whose sentences and spans are known, and write the vectors to a store.

    Parameters
    ----------
    usages : DataFrame or pyarrow Table
        Columns word, corpus, sentence, start and end (span of the word in the sentence, in characters), and optionally
        file, line and date.
    model, out, precision, monitor
        As for :func:`embed`; the language is detected from the sentences.
    labels : list of str, optional
        The values of ``corpus`` in the order of the corpora; by default in order of appearance.
    **options
        Options of the encoder, as for :func:`embed`.

    Returns
    -------
    Siblings

    Examples
    --------
    >>> import pandas as pd
    >>> from lexshift import embed_usages
    >>> from lexshift.demo import ExampleEncoder  # in place of a built-in model
    >>> usages = pd.DataFrame({"word": "mouse", "corpus": ["old", "new"], "sentence": ["A mouse.", "My mouse clicks."],
    ...                        "start": [2, 3], "end": [7, 8]})
    >>> embed_usages(usages, model=ExampleEncoder())["mouse"].new
    array([[16.,  3.]], dtype=float32)
    """
    checks.keywords(options, ENCODING, embed_usages)
    checks.choice(precision, "precision", PRECISIONS)
    contents = gather_usages(usages, labels)
    monitor = monitor or Silent()
    languages = [language_of_sentences(contents.table["sentence"])]
    model, _ = resolve_model(model, languages, monitor)
    encoder = as_encoder(model, languages=languages, **options)
    settings = {"usages": "given", "precision": precision}
    with open_store(out, settings, encoder) as folder:
        stored = contents.corpora if folder.store is None else folder.store.index["corpora"]
        if [entry["content"] for entry in stored] != [entry["content"] for entry in contents.corpora]:
            raise UserError(f"the store {str(out)!r} was made from other usages; choose another folder (--out)")
        return folder.write(contents, encoder, monitor)


def corpus_names(corpora: Sequence[Place], labels: Sequence[str] | None) -> list[str]:
    """Return the labels of corpora: those given, or "old" and "new" for two, or else the names of their files.

    Python objects, which have no names, are numbered.
    """
    places = [place_of(corpus) for corpus in corpora]
    if labels is None:
        names = [as_text(Path(place).name.split(".")[0] or place) for place in places]
        for i, corpus in enumerate(corpora):
            if isinstance(corpus, ObjectFile):
                names[i] = f"period {i + 1}"
        labels = ["old", "new"] if len(corpora) == 2 else names
    chosen = [str(label) for label in labels]
    if len(chosen) != len(corpora) or len(set(chosen)) != len(chosen) or not all(chosen):
        raise UserError(f"labels must name each of the {len(corpora)} corpora, each differently; got {chosen}")
    if places.count(STANDARD_INPUT) > 1:
        raise UserError("standard input ('-') can be only one of the corpora")
    return chosen


def store_settings(
    readings: Mapping[str, Reading],
    match: str,
    sampling: Mapping[str, Any] | None,
    precision: str = PRECISIONS[0],
    unit: str | None = None,
) -> dict[str, Any]:
    """Return the settings that a store records, besides those of its encoder.

    Parameters
    ----------
    readings : mapping of str to Reading
        The reading options of each corpus, by its label.
    match : str
    sampling : mapping, optional
        ``max_per_word`` and ``seed`` of the sample of usages; None for all usages.
    precision : "float32" or "float16"
    unit : str, optional
        Length of the periods into which one corpus is divided.
    """
    return {
        "reading": record_readings(readings),
        "match": match,
        "word_rule": WORD_RULE,
        "sampling": None if sampling is None else dict(sampling),
        "precision": precision,
        **({} if unit is None else {"by": unit}),
    }


def make_store(
    out: str | os.PathLike[str] | None,
    targets: Targets,
    settings: dict[str, Any],
    encoder: Encoder,
    scan: Scan,
    monitor: Monitor,
    *,
    labels: Sequence[str] | None,
    missing: str = "error",
    extend: bool = True,
    encode: EncodeShards | None = None,
) -> Siblings:
    """Make a store of the usages of words in corpora, or bring one up to date.

    Parameters
    ----------
    out : path, optional
        The folder; by default a temporary one.
    targets : Targets
        The words.
    settings : dict
        The settings that :func:`store_settings` returns; a store with other settings is refused.
    encoder : Encoder
    scan : callable
        Returns the occurrences of targets by the label of their corpus. A corpus that differs from the corpus of the
        same label in the store is refused.
    monitor : Monitor
    labels : sequence of str, optional
        The labels that ``scan`` will return, for checks before the corpora are read; None if they are not known.
    missing : "error" or "skip"
        Treatment of words that occur in no corpus.
    extend : bool
        Whether to preserve words and corpora of an existing store that this call does not name.
    encode : callable, optional
        Encodes shards elsewhere than in this process.

    Returns
    -------
    Siblings
        The opened store, with the corpora that were scanned, in their order.
    """
    with open_store(out, settings, encoder) as folder:
        contents, scanned = gather_contents(
            folder.store, targets, encoder, scan, monitor, labels=labels, missing=missing, extend=extend
        )
        siblings = folder.write(contents, encoder, passing(monitor), encode)
    return siblings.select(scanned)


def gather_contents(
    store: Siblings | None,
    targets: Targets,
    encoder: Encoder,
    scan: Scan,
    monitor: Monitor,
    *,
    labels: Sequence[str] | None,
    missing: str = "error",
    extend: bool = True,
) -> tuple[StoreContents, list[str]]:
    """Find the usages that a store of some words will hold; nothing is encoded or written.

    Parameters
    ----------
    store : Siblings, optional
        The store that exists already.
    targets, encoder, scan, monitor, labels, missing, extend
        As for :func:`make_store`.

    Returns
    -------
    contents : StoreContents
        The usages of the new store.
    labels : list of str
        The labels of the corpora that were scanned, in their order.
    """
    base_store = store if extend else None
    forms = dict(targets.forms) if base_store is None else _merge_forms(base_store, targets)
    stored_labels = [] if base_store is None else base_store.corpora
    periods = optional_attribute(encoder, "periods")
    if periods:  # refuse corpora that do not match the periods of the model before reading them
        period_numbers(periods, list(dict.fromkeys([*stored_labels, *(labels or ())])))
    if base_store is not None and labels is not None:
        _check_labels(base_store, labels, forms, periods)
    occurrences = scan(Targets(forms, targets.match))
    if base_store is not None and labels is None:
        _check_labels(base_store, list(occurrences), forms, periods)
    if store is not None:
        _check_contents(store, occurrences)
    stored_words = set() if base_store is None else set(base_store.words)
    absent = [word for word in find_absent(forms, occurrences) if word not in stored_words]
    absent_words = set(absent)
    if absent:
        if missing == "error" or absent_words.issuperset(targets.words):
            raise AbsenceError(absent, targets.match, missing)
        monitor.note(f"left out, because they never occur: {name_some(absent)}")
    present = {word: word_forms for word, word_forms in forms.items() if word not in absent_words}
    return gather_occurrences(present, list(forms), occurrences, base_store), list(occurrences)


def _merge_forms(store: Siblings, targets: Targets) -> dict[str, tuple[str, ...]]:
    """Return the words of a store with their forms, then the new ones."""
    forms = {entry["word"]: tuple(entry["forms"]) for entry in store.index["words"]}
    for word, ours in targets.forms.items():
        if forms.setdefault(word, ours) != ours:
            raise UserError(
                f"the store {str(store.path)!r} has {word!r} with the forms {', '.join(forms[word])}, not "
                f"{', '.join(ours)}; choose another folder"
            )
    return forms


def _check_labels(
    store: Siblings, labels: Sequence[str], forms: Mapping[str, Any], periods: Sequence[str] | None
) -> None:
    """Refuse corpora that cannot be added to a store; ``periods`` are those that the encoder distinguishes."""
    stored = store.corpora
    shared = [label for label in labels if label in stored]
    if periods and not set(periods) & set(shared) and shared != [label for label in stored if label in shared]:
        raise UserError(
            f"the model distinguishes periods by the order of the corpora, and the store has them in the order "
            f"{', '.join(stored)}, not {', '.join(shared)}; give them in this order or choose another folder (--out)"
        )
    omitted = [label for label in stored if label not in labels]
    if omitted and len(forms) > len(store.words):
        raise UserError(
            f"to add words to the store {str(store.path)!r}, give all of its corpora: {', '.join(omitted)} is missing"
        )


def _check_contents(store: Siblings, occurrences: Mapping[str, Occurrences]) -> None:
    """Refuse corpora that differ from those with the same labels in a store."""
    for entry in store.index["corpora"]:
        if entry["label"] in occurrences and occurrences[entry["label"]].content != entry["content"]:
            raise UserError(
                f"the {entry['label']} corpus is not the one that the store {str(store.path)!r} was made from; choose "
                f"another folder (--out)"
            )
