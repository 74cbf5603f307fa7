"""Measure how fast an encoder is on the sentences that it will encode."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from lexshift.encode import Encoder
from lexshift.store.plan import EncodingPlan

_TIMED, _WARM_UP = 256, 16  # sentences that are timed, and those encoded before them


class EncoderSpeed(NamedTuple):
    """The speed of an encoder on this machine, and the dimensions of its vectors."""

    seconds_per_character: float
    dimensions: int


def measure_speed(encoder: Encoder, plan: EncodingPlan, n_timed: int = _TIMED) -> EncoderSpeed:
    """Return the speed of an encoder on a sample of the sentences of a plan, evenly spaced by length.

    Parameters
    ----------
    encoder : Encoder
    plan : EncodingPlan
        The words to encode, at least one.
    n_timed : int
        Maximum number of sentences of the sample.
    """
    sample = plan.select(np.unique(np.linspace(0, len(plan) - 1, n_timed).astype(int)))
    warm_up = {name: values[:_WARM_UP] for name, values in sample.keywords.items()}
    encoder.encode(sample.sentences[:_WARM_UP], sample.spans[:_WARM_UP], **warm_up)
    begun = time.perf_counter()
    vectors = np.asarray(encoder.encode(sample.sentences, sample.spans, **sample.keywords))
    seconds = time.perf_counter() - begun
    return EncoderSpeed(seconds / max(1, sum(map(len, sample.sentences))), vectors.shape[1])
