"""The clusterings by name, each with stable senses only."""

from __future__ import annotations

from lexshift.senses.affinity import AffinityPropagationClustering
from lexshift.senses.agglomerative import Agglomerative
from lexshift.senses.clustering import Clustering
from lexshift.senses.graph import GraphClustering
from lexshift.senses.mixture import GaussianMixtureClustering
from lexshift.senses.stability import StableClustering
from lexshift.utils import checks

_RULES: tuple[Clustering, ...] = (
    GraphClustering(),
    Agglomerative(),
    GaussianMixtureClustering(),
    AffinityPropagationClustering(),
)
CLUSTERINGS: dict[str, Clustering] = {rule.name: StableClustering(rule) for rule in _RULES}
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
