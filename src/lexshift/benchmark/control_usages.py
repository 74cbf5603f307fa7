"""Find the usages of control words in the sentences of a data set.

A data set with human judgements consists of sentences with target words. The other content words of these sentences
serve as control words (see :mod:`lexshift.study.control_words`).
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa

from lexshift.benchmark.datasets.dataset import PERIODS, SCHEMA, Dataset
from lexshift.corpus.counting import count_words
from lexshift.corpus.occurrences import find_occurrences
from lexshift.corpus.sampling import smallest
from lexshift.corpus.segmentation import is_unsegmented
from lexshift.corpus.sources import AUTO, Reading
from lexshift.corpus.targets import read_targets
from lexshift.corpus.word_rule import fold, word_table
from lexshift.study.control_usages import MAX_USAGES
from lexshift.study.control_words import MIN_COUNT, N_WORDS, content_words, smallest_hashes
from lexshift.study.settings import MIN_CONTROL_WORDS


def find_control_usages(data: Dataset, n_words: int = N_WORDS) -> pa.Table:
    """Return usages of control words in the distinct sentences of a data set, for :func:`lexshift.embed_usages`.

    Control words are content words other than the targets that occur in at least 20 sentences of each period, those
    with the smallest keyed hashes. Of each word and period there are at most 40 usages, each in another sentence;
    different words share sentences as far as possible.

    Parameters
    ----------
    data : Dataset
    n_words : int
        Maximum number of control words.

    Returns
    -------
    pyarrow.Table
        Columns as the usages of a data set; the file, line and date are those of the first usage with the sentence. It
        has no rows if there are fewer than 30 control words.
    """
    sentences = [_distinct_sentences(data, period) for period in PERIODS]
    if not all(sentences):
        return SCHEMA.empty_table()
    with tempfile.TemporaryDirectory(prefix="lexshift-") as folder:
        paths = [Path(folder, f"{period}.txt") for period in PERIODS]
        for path, texts in zip(paths, sentences, strict=True):
            path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
        reading = Reading(split="lines")
        counts = [count_words(path, word_table(), reading) for path in paths]
        if is_unsegmented([each.counts for each in counts]):
            return SCHEMA.empty_table()
        excluded = _target_forms(data)
        words = content_words(counts, MIN_COUNT, data.language or AUTO)
        candidates = smallest_hashes((word for word in words if word not in excluded), len(words))
        if len(candidates) < MIN_CONTROL_WORDS:
            return SCHEMA.empty_table()
        targets = read_targets(candidates)
        tables = [_first_in_sentence(find_occurrences(path, targets, reading, shared=True).table) for path in paths]
    numbers = [np.bincount(table["target"].to_numpy(), minlength=len(candidates)) for table in tables]
    chosen = np.flatnonzero(np.minimum(*numbers) >= MIN_COUNT)[:n_words]
    if len(chosen) < MIN_CONTROL_WORDS:
        return SCHEMA.empty_table()
    parts = []
    for period, texts, table in zip(PERIODS, sentences, tables, strict=True):
        rows = np.flatnonzero(np.isin(table["target"].to_numpy(), chosen))
        target, hashes = (table[name].to_numpy()[rows] for name in ("target", "priority"))
        sample = table.take(rows[smallest(target, hashes, MAX_USAGES)])
        places = data.usages.take(np.array(list(texts.values()))[sample["line"].to_numpy() - 1])
        columns = {name: sample[name] for name in ("sentence", "start", "end")}
        columns |= {name: places[name] for name in ("file", "line", "date")}
        columns |= {"word": [candidates[number] for number in sample["target"].to_pylist()]}
        parts.append(pa.table(columns | {"corpus": [period] * len(sample)}).select(SCHEMA.names).cast(SCHEMA))
    return pa.concat_tables(parts)


def _distinct_sentences(data: Dataset, period: str) -> dict[str, int]:
    """Return the distinct sentences of a period, each on one line, with the row of the first usage in it."""
    sentences, periods = (data.usages[name].to_pylist() for name in ("sentence", "corpus"))
    rows: dict[str, int] = {}
    for row, (sentence, its_period) in enumerate(zip(sentences, periods, strict=True)):
        if its_period == period and sentence.strip():
            rows.setdefault(" ".join(sentence.split()), row)
    return rows


def _target_forms(data: Dataset) -> set[str]:
    """Return the words of the targets, folded, as they are called and as they are spelt in the sentences."""
    columns = (data.usages[name].to_pylist() for name in ("sentence", "start", "end"))
    spelt = {sentence[start:end] for sentence, start, end in zip(*columns, strict=True)}
    table = word_table()
    folded = ("".join(chr(code or 32) for code in fold(text, table)) for text in {*spelt, *data.words})
    return {word for text in folded for word in text.split()}


def _first_in_sentence(table: pa.Table) -> pa.Table:
    """Return the occurrences without those that follow another one of the same word in its sentence."""
    keys = np.stack([table["target"].to_numpy(), table["line"].to_numpy()], axis=1)  # (n, 2)
    _, first = np.unique(keys, axis=0, return_index=True)
    return table.take(np.sort(first))
