"""The figures that the paper publishes, to be set beside ours.

Correlations of the appendix are printed there without their signs. The encoders are the paper's own: multilingual BERT
as it comes (mBERT) and BERT-base tuned with time tokens on the corpora (MLM_temp).
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

ENCODERS = ("mBERT", "MLM_temp")
_LANGUAGES = {"eng": "english", "ger": "german", "deu": "german", "swe": "swedish", "lat": "latin"}


def data_set(name: str) -> str | None:
    """The paper's data set that a release of this name is, if it is one of them.

    >>> data_set("semeval2020_ulscd_eng"), data_set("LiverpoolFC"), data_set("dwug_en")
    ('semeval-english', 'liverpool', None)
    """
    name = name.lower()
    semeval = re.fullmatch(r"semeval2020_ulscd_(\w+)", name)
    if semeval:
        language = _LANGUAGES.get(semeval[1])
        return language and f"semeval-{language}"
    return "liverpool" if name.startswith("liverpool") else None


def grid(name: str) -> pd.DataFrame:
    """Spearman by encoder, strategy, metric and rate, for a release of this name; no rows if the paper has none."""
    return _of("grid.csv", name)


def systems(name: str) -> pd.DataFrame:
    """Spearman of the systems that are compared, by encoder."""
    return _of("systems.csv", name)


def summary(name: str) -> pd.DataFrame:
    """Of each metric, the best rate and the one estimated without labels."""
    return _of("summary.csv", name)


def ablation(name: str) -> pd.DataFrame:
    """Ranks of words at some swap rates."""
    return _of("ablation.csv", name)


def _of(file: str, name: str) -> pd.DataFrame:
    frame = _read(file)
    return frame[frame["data"] == data_set(name)].drop(columns="data").reset_index(drop=True)


@cache
def _read(file: str) -> pd.DataFrame:
    import pandas as pd

    with files(__name__).joinpath(file).open("rb") as stream:
        return pd.read_csv(stream, dtype={"word": str})
