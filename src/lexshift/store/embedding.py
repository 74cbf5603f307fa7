"""From corpora, words and a model to a store of sibling embeddings: read, find, encode, keep.

Work is done in shards, each of which appears whole or not at all, so a run that is stopped at any moment goes on where
it was, and ends with the same bytes. When words or corpora are added to a store, what it has is not encoded again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from lexshift.corpus import Occurrences, Reading, Targets, find_occurrences, read_targets
from lexshift.corpus.language import corpus_languages, language_warnings, recorded_language, with_language
from lexshift.corpus.periods import BY, find_in_periods
from lexshift.corpus.segmentation import advice
from lexshift.corpus.sources import STANDARD_INPUT, as_text, find_sources, place_of
from lexshift.corpus.targets import Words
from lexshift.corpus.word_rule import WORD_RULE
from lexshift.encode import Encoder, as_encoder
from lexshift.encode.protocol import optional_attribute
from lexshift.errors import UserError
from lexshift.store.completion import check_periods, complete, in_folder, refuse_other
from lexshift.store.contents import gather, given
from lexshift.store.format import has_settings
from lexshift.store.siblings import Siblings
from lexshift.utils import checks
from lexshift.utils.monitor import Monitor, Silent, reading_stage
from lexshift.utils.seeds import check_seed

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

PRECISIONS = ("float32", "float16")


class ReadingOptions(TypedDict, total=False):
    """The fields of :class:`lexshift.corpus.Reading`: how text is read."""

    encoding: str
    errors: str
    split: str
    language: str
    text_column: str
    date_column: str | None


class EncoderOptions(TypedDict, total=False):
    """The options of :func:`lexshift.encode.as_encoder`: how a named or loaded model is used as an encoder."""

    layers: str | int | None
    pooling: str | None
    window: int | None
    markers: tuple[str, str] | None
    device: str
    dtype: str
    batch_tokens: int | None
    revision: str | None


class EmbeddingOptions(ReadingOptions, EncoderOptions, total=False):
    """How text is read and encoded, and the precision of the vectors: options of all functions that embed corpora."""

    precision: str


class EmbedOptions(EmbeddingOptions, total=False):
    """The further options of :func:`embed`."""

    seed: int
    missing: str


READING = tuple(ReadingOptions.__annotations__)
ENCODING = tuple(EncoderOptions.__annotations__)


def embed(
    *corpora: str | os.PathLike[str],
    words: Words,
    model: Any = "minilm",
    out: str | os.PathLike[str] | None = None,
    labels: Sequence[str] | None = None,
    by: str | None = None,
    match: str = "word",
    max_per_word: int | None = None,
    monitor: Monitor | None = None,
    **options: Unpack[EmbedOptions],
) -> Siblings:
    r"""Embed every occurrence of the words in the corpora, and keep the vectors in a store.

    Parameters
    ----------
    *corpora : str or path
        Text files, tables, folders or glob patterns, the old one first; "-" is standard input.
    words : path, list, or mapping of words to their forms
        See :func:`lexshift.corpus.read_targets`.
    model : str, path, (model, tokenizer) or Encoder
        See :func:`lexshift.encode.as_encoder`.
    out : path, optional
        The folder of the store. If it is there, what it lacks is added. By default a temporary one, which is gone with
        the returned object.
    labels : list of str, optional
        Names of the corpora; by default "old" and "new" for two, else the names of the files.
    by : "year", "decade" or "month", optional
        Of one corpus: its periods take the place of corpora, by the dates of its records (``date_column``) or the years
        in the names of its files, and are called "1999", "1990s" or "1999-07".
    match : "word", "cased", "token" or "lemma"
        What counts as an occurrence.
    max_per_word : int, optional
        Maximum number of usages of a word in a corpus, an unbiased sample; None or 0 for all.
    monitor : Monitor, optional
        Receives the progress of the run.
    **options
        - ``seed`` : seed for that sample (default: 0).
        - ``precision`` : "float32" (default) or "float16", of the vectors on disk.
        - ``missing`` : "error" (default) or "skip", for words that occur in no corpus.
        - How text is read: encoding, errors, split, language, text_column, date_column; see
          :class:`lexshift.corpus.Reading`.
        - How it is encoded: layers, pooling, window, markers, device, dtype, batch_tokens, revision; see
          :class:`lexshift.encode.HuggingFaceEncoder`.

    Returns
    -------
    Siblings
        ``siblings["plane"].old`` is an array ready for ``SSCD.score``. Its corpora are those of this call in the order
        given, whatever else the store holds.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from lexshift import embed
    >>> class Lengths:  # in place of model="minilm"
    ...     def encode(self, sentences, spans):
    ...         return np.array([[len(s), start] for s, (start, end) in zip(sentences, spans)], np.float32)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     old, new = Path(folder, "old.txt"), Path(folder, "new.txt")
    ...     _ = old.write_text("The mouse ran.\nA mouse, and a mouse.\n")
    ...     _ = new.write_text("Click with the mouse.\n")
    ...     siblings = embed(old, new, words=["mouse"], model=Lengths())
    >>> siblings["mouse"].old
    array([[14.,  4.],
           [21.,  2.],
           [21., 15.]], dtype=float32)
    """
    checks.keywords(options, EmbedOptions.__annotations__, embed)
    if not corpora:
        raise UserError("there is no corpus to read; give at least one, two to compare")
    values: dict[str, Any] = {"seed": 0, "precision": PRECISIONS[0], "missing": "error", **options}
    checks.choice(values["precision"], "precision", PRECISIONS)
    checks.choice(values["missing"], "missing", ("error", "skip"))
    if by is not None:
        checks.choice(by, "by", BY)
        if len(corpora) > 1 or labels is not None:
            raise UserError(
                f"by {by!r} cuts one corpus into periods, which have their names; got {len(corpora)} corpora"
            )
    reading = Reading(**{name: value for name, value in values.items() if name in READING})
    named = dict(zip(corpus_names(corpora, labels), corpora, strict=True))
    for corpus in corpora:
        find_sources(corpus)
    languages = corpus_languages(named, asdict(reading))
    readings = {label: with_language(reading, code) for label, code in languages.items()}
    targets = read_targets(words, match, list(readings.values())[-1].language)
    seed = check_seed(values["seed"])
    max_per_word = checks.positive(0 if max_per_word is None else max_per_word, "max_per_word", least=0) or None
    sampling = None if max_per_word is None else {"max_per_word": max_per_word, "seed": seed}
    encoder = as_encoder(model, **{name: value for name, value in values.items() if name in ENCODING})
    settings = {
        "encoder": settings_of(encoder),
        "reading": {**asdict(reading), "language": recorded_language(languages)},
        "match": match,
        "word_rule": WORD_RULE,
        "sampling": sampling,
        "precision": values["precision"],
        **({} if by is None else {"by": by}),
    }
    monitor = monitor or Silent()
    for warning in language_warnings(languages, encoder):
        monitor.note(f"warning: {warning}")
    job = _Job(named, by, targets, readings, max_per_word, seed, values["missing"], encoder, settings, monitor)
    return in_folder(out, job.run)


def embed_usages(
    usages: pd.DataFrame | pa.Table,
    model: Any = "minilm",
    out: str | os.PathLike[str] | None = None,
    labels: Sequence[str] | None = None,
    precision: str = PRECISIONS[0],
    monitor: Monitor | None = None,
    **options: Unpack[EncoderOptions],
) -> Siblings:
    """Embed usages whose sentences and spans are known, and keep the vectors in a store.

    Parameters
    ----------
    usages : DataFrame or pyarrow Table
        Columns word, corpus, sentence, start, end (where the word is in the sentence, in characters), and if there are
        such, file, line and date.
    model, out, precision, monitor
        As for :func:`embed`.
    labels : list of str, optional
        The values of ``corpus`` in their order; by default in the order in which they come.
    **options
        How text is encoded, as for :func:`embed`.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from lexshift import embed_usages
    >>> class Lengths:  # in place of model="minilm"
    ...     def encode(self, sentences, spans):
    ...         return np.array([[len(s), start] for s, (start, end) in zip(sentences, spans)], np.float32)
    >>> usages = pd.DataFrame({"word": "mouse", "corpus": ["old", "new"], "sentence": ["A mouse.", "My mouse clicks."],
    ...                        "start": [2, 3], "end": [7, 8]})
    >>> embed_usages(usages, model=Lengths())["mouse"].new
    array([[16.,  3.]], dtype=float32)
    """
    checks.keywords(options, ENCODING, embed_usages)
    checks.choice(precision, "precision", PRECISIONS)
    contents = given(usages, labels)
    encoder = as_encoder(model, **options)
    settings = {"encoder": settings_of(encoder), "usages": "given", "precision": precision}

    def run(folder: Path, store: Siblings | None) -> Siblings:
        if store is not None:
            refuse_other(store, settings)
            if [entry["content"] for entry in store.index["corpora"]] != [e["content"] for e in contents.corpora]:
                raise UserError(f"the store {str(folder)!r} was made from other usages; choose another folder (--out)")
        return complete(folder, contents, store, encoder, settings, monitor or Silent())

    return in_folder(out, run)


def corpus_names(corpora: Sequence[str | os.PathLike[str]], labels: Sequence[str] | None) -> list[str]:
    """What corpora are called: as asked, or old and new, or by their files."""
    places = [place_of(corpus) for corpus in corpora]
    if labels is None:
        names = [as_text(Path(place).name.split(".")[0] or place) for place in places]
        labels = ["old", "new"] if len(corpora) == 2 else names
    chosen = [str(label) for label in labels]
    if len(chosen) != len(corpora) or len(set(chosen)) != len(chosen) or not all(chosen):
        raise UserError(f"labels must name each of the {len(corpora)} corpora, each differently; got {chosen}")
    if places.count(STANDARD_INPUT) > 1:
        raise UserError("standard input ('-') can be only one of the corpora")
    return chosen


def settings_of(encoder: Encoder) -> dict[str, Any]:
    """All that shapes an encoder's vectors, as plain values."""
    if has_settings(encoder):
        return json.loads(json.dumps(dict(encoder.settings), default=str))  # type: ignore[attr-defined]
    kind = type(encoder)
    return {"model": f"{kind.__module__}.{kind.__qualname__}"}


@dataclass
class _Job:
    """One call of :func:`embed`."""

    corpora: dict[str, str | os.PathLike[str]]
    by: str | None
    targets: Targets
    readings: dict[str, Reading]
    max_per_word: int | None
    seed: int
    missing: str
    encoder: Encoder
    settings: dict[str, Any]
    monitor: Monitor

    def run(self, folder: Path, store: Siblings | None) -> Siblings:
        forms = dict(self.targets.forms)
        if store is not None:
            refuse_other(store, self.settings)
            forms = self._with_words_of(store)
        targets = Targets(forms, self.targets.match)
        scanned = self._scanned(targets, store)
        if store is not None:
            self._refuse_changed(store, scanned)
        targets = self._present(targets, scanned, store)
        contents = gather(targets.forms, list(forms), scanned, store)
        complete_store = complete(folder, contents, store, self.encoder, self.settings, self.monitor)
        return complete_store.select(list(scanned))

    def _scanned(self, targets: Targets, store: Siblings | None) -> dict[str, Occurrences]:
        if self.by is None:
            known = store.corpora if store is not None else []
            check_periods(self.encoder, list(dict.fromkeys([*known, *self.corpora])))
            self._refuse_other_order(known)
            return {label: self._scan(label, path, targets) for label, path in self.corpora.items()}
        ((label, path),) = self.corpora.items()
        progress = reading_stage(self.monitor, f"reading {label}")
        found = find_in_periods(path, targets, self.by, self.readings[label], self.max_per_word, self.seed, progress)
        check_periods(self.encoder, list(found))
        return found

    def _refuse_other_order(self, known: list[str]) -> None:
        """Refuse another order of the store's corpora if the encoder takes its periods from that order."""
        periods = optional_attribute(self.encoder, "periods")
        given = [label for label in self.corpora if label in known]
        if periods and not set(periods) & set(given) and given != [label for label in known if label in given]:
            raise UserError(
                f"the model tells periods apart by the order of the corpora, and the store has them in the order "
                f"{', '.join(known)}, not {', '.join(given)}; give them in this order or choose another folder (--out)"
            )

    def _scan(self, label: str, path: str | os.PathLike[str], targets: Targets) -> Occurrences:
        progress = reading_stage(self.monitor, f"reading {label}")
        return find_occurrences(path, targets, self.readings[label], self.max_per_word, self.seed, progress)

    def _with_words_of(self, store: Siblings) -> dict[str, tuple[str, ...]]:
        """The words of the store, then the new ones."""
        forms = {entry["word"]: tuple(entry["forms"]) for entry in store.index["words"]}
        for word, ours in self.targets.forms.items():
            if forms.setdefault(word, ours) != ours:
                raise UserError(
                    f"the store {str(store.path)!r} has {word!r} with the forms {', '.join(forms[word])}, not "
                    f"{', '.join(ours)}; choose another folder"
                )
        left = [label for label in store.corpora if label not in self.corpora and self.by is None]
        if left and len(forms) > len(store.words):
            raise UserError(
                f"to add words to the store {str(store.path)!r}, give all of its corpora: {', '.join(left)} is missing"
            )
        return forms

    def _refuse_changed(self, store: Siblings, scanned: dict[str, Occurrences]) -> None:
        for entry in store.index["corpora"]:
            found = scanned.get(entry["label"])
            if found is not None and found.content != entry["content"]:
                raise UserError(
                    f"the {entry['label']} corpus is not the one that the store {str(store.path)!r} was made from; "
                    f"choose another folder (--out)"
                )

    def _present(self, targets: Targets, scanned: dict[str, Occurrences], store: Siblings | None) -> Targets:
        """The targets that occur somewhere."""
        found = np.sum([occurrences.found for occurrences in scanned.values()], axis=0)
        known = set(store.words) if store is not None else set()
        absent = [word for word, n in zip(targets.words, found, strict=True) if not n and word not in known]
        if not absent:
            return targets
        names = ", ".join(map(repr, absent[:5])) + (f" and {len(absent) - 5} more" if len(absent) > 5 else "")
        if self.missing == "error":
            raise UserError(
                f"{names} never {'occurs' if len(absent) == 1 else 'occur'} in the corpora (match: {targets.match}): "
                f"{advice(absent, targets.match)}, or leave out what is missing (--missing skip)"
            )
        if len(absent) == len(targets.words):
            raise UserError(
                f"none of the words occurs in the corpora (match: {targets.match}): {names}; "
                f"{advice(absent, targets.match)}"
            )
        self.monitor.note(f"left out, as they never occur: {names}")
        # Numbers of targets stay as they were scanned; words that are left out have no rows.
        left_out = set(absent)
        return Targets({word: forms for word, forms in targets.forms.items() if word not in left_out}, targets.match)
