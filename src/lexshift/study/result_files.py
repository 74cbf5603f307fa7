"""Names of the files in a results folder, and the contents of its tables."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from lexshift.utils.safe_csv import csv_text

if TYPE_CHECKING:
    import pandas as pd

STORE, CONTROL = "store", "control"
"""Folders of the stores of usages: of the words of the study, and of the control words."""
SCORES_CSV, SCORES_PARQUET, REPORT, SPACE, DETAILS = (
    "scores.csv",
    "scores.parquet",
    "report.html",
    "space.npz",
    "details.json",
)
APPEARED_CSV = "appeared.csv"
SENSES_CSV, USAGES_CSV, CONCORDANCE = "senses.csv", "usages.csv", "kwic.csv"
GROUPS_CSV, DIFFERENCES_CSV = "groups.csv", "group_differences.csv"
FILES = (SCORES_CSV, SCORES_PARQUET, APPEARED_CSV, SPACE, DETAILS, REPORT)
SENSE_FILES = (SENSES_CSV, USAGES_CSV, CONCORDANCE)
GROUP_FILES = (GROUPS_CSV, DIFFERENCES_CSV)


def table_files(table: pd.DataFrame, csv: str, parquet: str) -> dict[str, bytes]:
    """Return the contents of a csv and a parquet file with a table, by file name."""
    buffer = BytesIO()
    table.to_parquet(buffer, index=False)
    return {csv: csv_text(table).encode(), parquet: buffer.getvalue()}
