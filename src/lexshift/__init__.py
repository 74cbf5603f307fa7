"""Find the words that changed their meaning between two bodies of text.

The method is SSCD (Swapping-based Semantic Change Detection, Aida & Bollegala 2023). :func:`lexshift.compare` takes two
corpora and returns a ranked table of words, with a page to explore it; :func:`lexshift.discover` does the same for
every frequent word, :func:`lexshift.trace` follows words over several periods, and :func:`lexshift.find_senses` shows
which meanings appeared or disappeared. The two halves can be used separately: :func:`lexshift.embed` turns text into
vectors, and :class:`lexshift.SSCD` turns vectors into scores:

>>> import numpy as np
>>> import lexshift
>>> rng = np.random.default_rng(0)
>>> old, new = rng.normal(size=(100, 16)), rng.normal(size=(120, 16)) + 1
>>> change = lexshift.SSCD(metric="cosine", rate=0.4).score(old, new)
>>> change.score > 0
True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lexshift.demo import demo_corpora
    from lexshift.encode import Encoder
    from lexshift.errors import UserError
    from lexshift.scoring.bootstrap import bootstrap
    from lexshift.scoring.distance import Metric, metrics, register
    from lexshift.scoring.gaussian import Gaussian
    from lexshift.scoring.permutation import permutation_test
    from lexshift.scoring.rates import search_rate
    from lexshift.scoring.significance import benjamini_hochberg, decide
    from lexshift.scoring.sscd import SSCD, sweep
    from lexshift.simulation.corpora import simulate
    from lexshift.simulation.power import power
    from lexshift.store.embedding import embed, embed_usages
    from lexshift.store.siblings import Siblings
    from lexshift.study.compare import compare
    from lexshift.study.discover import discover
    from lexshift.study.discovery import Discovery
    from lexshift.study.find_senses import find_senses
    from lexshift.study.load import load
    from lexshift.study.result import Result
    from lexshift.study.trace import trace
    from lexshift.study.trace_result import Trace

__version__ = "0.1.0"

_MODULES = {
    "compare": "study.compare",
    "Result": "study.result",
    "discover": "study.discover",
    "Discovery": "study.discovery",
    "find_senses": "study.find_senses",
    "load": "study.load",
    "demo_corpora": "demo",
    "embed": "store.embedding",
    "embed_usages": "store.embedding",
    "Encoder": "encode",
    "Siblings": "store.siblings",
    "UserError": "errors",
    "SSCD": "scoring.sscd",
    "sweep": "scoring.sscd",
    "search_rate": "scoring.rates",
    "permutation_test": "scoring.permutation",
    "benjamini_hochberg": "scoring.significance",
    "decide": "scoring.significance",
    "bootstrap": "scoring.bootstrap",
    "trace": "study.trace",
    "Trace": "study.trace_result",
    "simulate": "simulation.corpora",
    "power": "simulation.power",
    "Gaussian": "scoring.gaussian",
    "Metric": "scoring.distance",
    "metrics": "scoring.distance",
    "register": "scoring.distance",
}

__all__ = [
    "SSCD",
    "Discovery",
    "Encoder",
    "Gaussian",
    "Metric",
    "Result",
    "Siblings",
    "Trace",
    "UserError",
    "benjamini_hochberg",
    "bootstrap",
    "compare",
    "decide",
    "demo_corpora",
    "discover",
    "embed",
    "embed_usages",
    "find_senses",
    "load",
    "metrics",
    "permutation_test",
    "power",
    "register",
    "search_rate",
    "simulate",
    "sweep",
    "trace",
]


def __getattr__(name: str) -> Any:
    """Import the module of a public name at its first use, so that ``import lexshift`` stays fast."""
    if name not in _MODULES:
        raise AttributeError(f"module 'lexshift' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"lexshift.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
