"""Make the table of the senses of words: a row for each sense, with its shares and the words that describe it."""

from __future__ import annotations

from math import isnan

from lexshift.cli.printout import Cell, Column, PrintedTable, Row
from lexshift.report.page import chance
from lexshift.report.senses import change_text, describe, shares_text, shares_title
from lexshift.study.study_result import StudyResult
from lexshift.study.verdict import TOO_FEW


def sense_rows(result: StudyResult) -> PrintedTable:
    """Return a table with a row for each sense of each word: shares, change, q, and words that describe it.

    Words with too few usages come last.
    """
    names = [entry["name"] for entry in result.run["corpora"]]
    columns = [Column("word"), Column("sense", "right"), Column(shares_title(names)), Column("change")]
    columns += [Column("q", "right"), Column("description", no_wrap=False)]
    rows: list[Row] = []
    for rank, (word, word_senses) in enumerate(result.senses.items()):
        for sense in word_senses.senses:
            style = "" if sense.change == "kept" else "bold magenta"
            cells: list[Cell] = [
                word if sense.number == 1 else "",
                str(sense.number),
                shares_text(sense.shares),
                [(change_text(word_senses, sense), style)],
                "" if isnan(sense.q) else chance(sense.q),
                describe(result, sense),
            ]
            rows.append((rank, "", cells))
    reason = f"{result.settings['min_usages']} usages are needed in two periods"
    for rank, word in enumerate(result.sense_words):
        if word not in result.senses:
            rows.append((rank, "dim", [word, "", "", TOO_FEW, "", reason]))
    return PrintedTable(columns, rows)
