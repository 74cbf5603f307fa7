"""Decide whether the lemmas and the parts of speech of words come from the files of a corpus."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from lexshift.corpus.annotation import Annotation
from lexshift.corpus.passages import read_corpus
from lexshift.corpus.sources import STANDARD_INPUT, Reading, Source, Tally, find_sources
from lexshift.corpus.targets import Targets
from lexshift.errors import UserError

ANNOTATED = ("vertical", "conllu", "xml")
"""Kinds of files that may have lemmas and parts of speech."""
_FILES = 16  # maximum number of files of a corpus that are examined
_BLOCKS = 4  # maximum number of blocks of a file that are examined


def dictionary_language(
    corpora: Mapping[str, str | os.PathLike[str]], readings: Mapping[str, Reading], match: str
) -> str | None:
    """Return the language of the dictionary that gives the forms of lemmas, that of the last corpus.

    It is None if no dictionary is needed, because the files of all corpora have lemmas.
    """
    if match == "lemma" and all(find_annotation(path, readings[label])[0] for label, path in corpora.items()):
        return None
    return list(readings.values())[-1].language


def check_tags(
    targets: Targets | None, corpora: Mapping[str, str | os.PathLike[str]], readings: Mapping[str, Reading]
) -> None:
    """Raise an error if a target has a part of speech, but a corpus has none."""
    if targets is None or not targets.tags:
        return
    word = targets.words[min(targets.tags)]
    for label, path in corpora.items():
        if not find_annotation(path, readings[label])[1]:
            raise UserError(
                f"the target {word!r} has a part of speech, but the corpus {os.fspath(path)!r} has none: give the word "
                f"without it, or text with parts of speech (.vert, .vrt, .conllu, .conll, or TEI with <w pos=...>)"
            )


def find_annotation(corpus: str | os.PathLike[str], reading: Reading) -> tuple[bool, bool]:
    """Return whether all files of a corpus have lemmas, and whether some have parts of speech, judged by a sample."""
    sources = find_sources(corpus)
    if sources[0].path == STANDARD_INPUT:
        return False, False
    readable = [source for source in sources if not source.fault]
    annotated = [source for source in readable if source.kind in ANNOTATED]
    has_lemmas, has_tags = [len(annotated) == len(readable)], [False]
    for some in _sample_annotations(annotated, reading):
        has_lemmas.append(not some or any(each is not None and each.has_lemmas for each in some))
        has_tags.append(any(each is not None and each.has_tags for each in some))
    return all(has_lemmas), any(has_tags)


def frequent_tags(
    corpora: Mapping[str, str | os.PathLike[str]], readings: Mapping[str, Reading], most: int = 10
) -> list[str]:
    """Return the most frequent parts of speech in a sample of each of some corpora."""
    counts = Counter[str]()
    for label, corpus in corpora.items():
        annotated = [source for source in find_sources(corpus) if source.kind in ANNOTATED and not source.fault]
        for annotation in (each for some in _sample_annotations(annotated, readings[label]) for each in some):
            if annotation is not None and annotation.has_tags:
                tags, indices = annotation.distinct_tags(np.arange(len(annotation.text_starts)))
                counts.update(dict(zip(tags, np.bincount(indices, minlength=len(tags)).tolist(), strict=True)))
    del counts[""]  # of tokens without a part of speech
    return [tag for tag, _ in counts.most_common(most)]


def _sample_annotations(sources: Sequence[Source], reading: Reading) -> Iterator[list[Annotation | None]]:
    """Yield the annotations of the first blocks of some files."""
    for source in sources[:: max(1, -(-len(sources) // _FILES))]:
        blocks = read_corpus([source], reading, Tally(), annotate=True)
        yield [block.annotation for block in islice(blocks, _BLOCKS)]
