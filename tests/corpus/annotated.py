"""List the tokens of an annotation."""

from __future__ import annotations

import numpy as np

from lexshift.corpus.annotation import Annotation

Token = tuple[int, int, int, int, str]


def tokens_of(annotation: Annotation) -> list[Token]:
    """Return the span of each token in the text and in the lemmas, in bytes, and its tag; empty without one."""
    starts, ends = annotation.lemma_spans
    numbers = np.arange(len(starts))
    tags, indices = annotation.distinct_tags(numbers) if annotation.has_tags else ([""], 0 * numbers)
    spans = (annotation.text_starts, annotation.text_ends, starts, ends, indices)
    return [(a, b, c, d, tags[i]) for a, b, c, d, i in zip(*(each.tolist() for each in spans), strict=True)]
