"""The clusterings by name, and those of the finer groups within a sense, both with the stability of what they find."""

from __future__ import annotations

from lexshift.senses.affinity import AffinityPropagationClustering
from lexshift.senses.agglomerative import Agglomerative
from lexshift.senses.clustering import FINE_THRESHOLD, Clustering
from lexshift.senses.graph import GraphClustering
from lexshift.senses.mixture import GaussianMixtureClustering
from lexshift.senses.stability import StableClustering
from lexshift.utils import checks

_RULES = (GraphClustering, Agglomerative, GaussianMixtureClustering, AffinityPropagationClustering)
CLUSTERINGS: dict[str, Clustering] = {rule.name: StableClustering(rule()) for rule in _RULES}
_FINE = {rule.name: StableClustering(rule(threshold=FINE_THRESHOLD)) for rule in _RULES}
DEFAULT = "graph"


def get_clustering(clustering: str | Clustering = DEFAULT) -> Clustering:
    """Return a clustering by its name, or the given object.

    Examples
    --------
    >>> get_clustering().name, get_clustering("agglomerative").name
    ('graph', 'agglomerative')
    """
    if not isinstance(clustering, str):
        return clustering
    return CLUSTERINGS[checks.choice(clustering, "clustering", CLUSTERINGS)]


def fine_clustering(clustering: Clustering) -> StableClustering | None:
    """Return the clustering that divides the senses of a clustering into groups; None if it has no finer one.

    Examples
    --------
    >>> fine_clustering(get_clustering()).clustering
    GraphClustering(threshold=0.5, min_size=3, name='graph')
    """
    return _FINE[clustering.name] if clustering in CLUSTERINGS.values() else None
