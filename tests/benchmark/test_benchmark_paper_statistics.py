"""Test the paper's table of the data."""

from __future__ import annotations

from paper_measurements import dataset

from lexshift.benchmark.paper.statistics import tabulate_statistics


def test_statistics_table_matches_the_data() -> None:
    statistics = tabulate_statistics(dataset())
    assert statistics.columns == ("period", "targets", "sentences", "tokens", "types", "usages")
    shown = [[cell.text for cell in row] for row in statistics.rows]
    assert shown == [["1900s", "20", "1,000", "20,000", "300", "1"], ["2000s", "20", "1,200", "30,000", "400", "2"]]
    assert statistics.table["tokens"].tolist() == [20_000, 30_000]
