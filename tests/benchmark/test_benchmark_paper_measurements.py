"""Test the measurements from which the tables of the paper are made."""

from __future__ import annotations

import numpy as np
from paper_measurements import measure_words

from lexshift.benchmark.paper.measurements import best_row


def test_best_row_is_the_first_of_the_highest() -> None:
    spearman = measure_words().spearman
    frame = spearman.assign(spearman_each=[np.nan, 0.2, 0.7, 0.7] + [-1.0] * (len(spearman) - 4))
    assert best_row(frame).name == 2
