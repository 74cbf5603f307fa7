"""The figures that the paper printed, from the tables in the folder ``published_tables``.

Correlations of the paper's appendix are printed there without their signs.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_LANGUAGES = {"eng": "english", "ger": "german", "deu": "german", "swe": "swedish", "lat": "latin"}


def published_figures(table: str, name: str) -> pd.DataFrame:
    """Return a table of published figures for a data set; it is empty if the paper has none.

    Parameters
    ----------
    table : str
        "grid" (Spearman by encoder, strategy, metric and rate), "systems" (Spearman by encoder and system), "summary"
        (best and estimated rate of each metric) or "ablation" (ranks of words at some swap rates).
    name : str
        Name of the data set.
    """
    frame = _read_figures(table)
    return frame[frame["data"] == published_name(name)].drop(columns="data").reset_index(drop=True)


@cache
def _read_figures(table: str) -> pd.DataFrame:
    import pandas as pd

    with files("lexshift.benchmark.paper").joinpath("published_tables", f"{table}.csv").open("rb") as stream:
        return pd.read_csv(stream, dtype={"word": str})


def published_name(name: str) -> str | None:
    """Return the name of a data set in the tables of published figures, or None if the paper does not use it.

    >>> published_name("semeval2020_ulscd_eng"), published_name("LiverpoolFC"), published_name("dwug_en")
    ('semeval-english', 'liverpool', None)
    """
    name = name.lower()
    semeval = re.fullmatch(r"semeval2020_ulscd_(\w+)", name)
    if semeval:
        language = _LANGUAGES.get(semeval[1])
        return language and f"semeval-{language}"
    return "liverpool" if name.startswith("liverpool") else None
