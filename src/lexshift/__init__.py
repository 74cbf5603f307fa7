"""lexshift: which words changed their meaning between two bodies of text?

Its method is SSCD (Swapping-based Semantic Change Detection, Aida & Bollegala 2023). ``lexshift.compare`` goes the
whole way from two corpora to a ranked table and a page, and ``lexshift.discover`` does so for every frequent word;
``embed`` and ``SSCD`` are the halves, from text to vectors and from vectors to scores:

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
    from lexshift.comparison import compare
    from lexshift.demo import demo_corpora
    from lexshift.discovered import Discovery
    from lexshift.discovery import discover
    from lexshift.distance import Metric, metrics, register
    from lexshift.embedding import embed, embed_usages
    from lexshift.encode import Encoder
    from lexshift.errors import UserError
    from lexshift.gaussian import Gaussian
    from lexshift.rates import search_rate
    from lexshift.result import Result
    from lexshift.siblings import Siblings
    from lexshift.significance import benjamini_hochberg, bootstrap, decide, permutation_test
    from lexshift.simulation.corpora import simulate
    from lexshift.simulation.power import power
    from lexshift.sscd import SSCD, sweep
    from lexshift.tracing.outcome import Trace
    from lexshift.tracing.tracer import trace

__version__ = "0.1.0"

_HOME = {
    "compare": "comparison",
    "Result": "result",
    "discover": "discovery",
    "Discovery": "discovered",
    "demo_corpora": "demo",
    "embed": "embedding",
    "embed_usages": "embedding",
    "Encoder": "encode",
    "Siblings": "siblings",
    "UserError": "errors",
    "SSCD": "sscd",
    "sweep": "sscd",
    "search_rate": "rates",
    "permutation_test": "significance",
    "benjamini_hochberg": "significance",
    "decide": "significance",
    "bootstrap": "significance",
    "trace": "tracing.tracer",
    "Trace": "tracing.outcome",
    "simulate": "simulation.corpora",
    "power": "simulation.power",
    "Gaussian": "gaussian",
    "Metric": "distance",
    "metrics": "distance",
    "register": "distance",
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
    """Import a public name's module when it is first asked for, so that ``import lexshift`` stays quick."""
    if name not in _HOME:
        raise AttributeError(f"module 'lexshift' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"lexshift.{_HOME[name]}"), name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
