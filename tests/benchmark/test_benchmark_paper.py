"""Test what all tables and figures of the paper have in common."""

from __future__ import annotations

from dataclasses import replace

import pytest
from paper_measurements import cells, measure_words

from lexshift.benchmark.paper import make_exhibits
from lexshift.benchmark.paper.measurements import Measurements

NAMES = ["statistics", "effectiveness", "comparison", "summary", "curve", "ablation", "rates-random", "rates-distance"]
NAMES += ["divergences", "rates-random-normalised", "rates-distance-normalised"]


@pytest.fixture(scope="module")
def measured() -> Measurements:
    return measure_words()


def test_every_table_and_figure_is_produced_once_and_shown_completely(measured: Measurements) -> None:
    exhibits = make_exhibits(measured)
    assert [exhibit.name for exhibit in exhibits] == NAMES
    for exhibit in exhibits:
        assert exhibit.title
        assert exhibit.note.endswith(".")
        assert exhibit.rows
        assert {len(row) for row in exhibit.rows} == {len(exhibit.columns)}
        assert 1 <= exhibit.texts < len(exhibit.columns)


def test_data_sets_outside_of_the_paper_have_no_published_figures(measured: Measurements) -> None:
    for exhibit in make_exhibits(measured):
        published = exhibit.table.drop(columns="paper_encoder", errors="ignore").filter(like="paper")
        assert published.isna().all(axis=None)
        assert not any(cell.published for row in exhibit.rows for cell in row)


def test_undefined_correlation_is_a_dash_and_never_the_best(measured: Measurements) -> None:
    e_swap = {name: values.copy() for name, values in measured.grid.e_swap.items()}
    for values in e_swap.values():
        values[:, :, 0] = measured.grid.e_original[:, :, None]  # nothing is swapped at the first rate
        values[:, 1] = measured.grid.e_original[:, 1, None, None]  # and never for the second metric
    found = make_exhibits(replace(measured, grid=replace(measured.grid, e_swap=e_swap)))
    shown = cells(next(exhibit for exhibit in found if exhibit.name == "rates-random"))
    assert all(row[0].text == "–" for row in shown.values())
    assert not shown["kl"][0].best
    assert {cell.text for cell in shown["kl-reverse"]} == {"–"}
