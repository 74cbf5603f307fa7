"""What comparisons and discoveries have in common: settings, words that can be scored, the record of a run."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal, get_args

from lexshift import __version__
from lexshift.corpus.sources import Reading, as_text
from lexshift.corpus.targets import Match, Targets
from lexshift.errors import UserError
from lexshift.scoring import swap
from lexshift.scoring.distance.metric import Metric, get
from lexshift.scoring.permutation import Permutations
from lexshift.scoring.scores import WordScore
from lexshift.scoring.space import KINDS
from lexshift.scoring.sscd import SSCD
from lexshift.store.embedding import ENCODING, PRECISIONS, READING
from lexshift.store.siblings import Siblings
from lexshift.study.periods import Place
from lexshift.utils import checks
from lexshift.utils.arrays import Pairs
from lexshift.utils.seeds import check_seed

METRIC, RATE, SPACE = "nearest", 0.3, "standardised"
"""The defaults, chosen by human judgements: docs/results says how, and how far to trust it."""
STORE = "store"
EMBEDDING = (*READING, "precision")
_PACKAGES = (
    "icu4py",
    "numba",
    "numpy",
    "pandas",
    "pyarrow",
    "scipy",
    "sentencex",
    "simplemma",
    "tokenizers",
    "torch",
    "transformers",
)


def checked_settings(
    *,
    metric: str | Metric,
    strategy: swap.Strategy,
    normalised: bool,
    rate: float | Literal["auto"],
    keep: float | None,
    space: str,
    repeats: int,
    alpha: float,
    seed: int,
    sample_seed: int,
    max_per_word: int | None,
    min_usages: int,
    permutations: Permutations,
    resamples: int,
    match: str,
) -> tuple[SSCD, dict[str, Any]]:
    """What makes the scores, and all settings by their names; what cannot be is refused."""
    checks.choice(match, "match", get_args(Match))
    if rate != "auto":
        rate = _checked_rate(rate)
    keep = default_keep(metric) if keep is None else keep
    sscd = SSCD(metric, strategy, RATE if rate == "auto" else rate, repeats, seed, keep=keep)
    return sscd, {
        "metric": sscd.metric if isinstance(sscd.metric, str) else sscd.metric.name,
        "strategy": strategy,
        "normalised": bool(normalised),
        "rate": rate,
        "keep": float(keep),
        "space": checks.choice(space, "space", KINDS),
        "repeats": int(repeats),
        "alpha": checks.between_0_and_1(alpha, "alpha"),
        "seed": int(seed),
        "sample_seed": check_seed(sample_seed, "sample_seed"),
        "max_per_word": None if max_per_word is None else checks.positive(max_per_word, "max_per_word"),
        "min_usages": _at_least_two(min_usages),
        "permutations": _checked_permutations(permutations),
        "resamples": checks.positive(resamples, "resamples"),
        "confidence": 0.95,
        "match": match,
    }


def split_options(function: Callable[..., Any], options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split the options of a function into those of :func:`lexshift.embed` and those of its encoder; refuse others."""
    checks.keywords(options, (*EMBEDDING, *ENCODING), function)
    checks.choice(options.get("precision", PRECISIONS[0]), "precision", PRECISIONS)
    Reading(**{name: value for name, value in options.items() if name in READING})
    embedding = {name: value for name, value in options.items() if name in EMBEDDING}
    return embedding, {name: value for name, value in options.items() if name not in EMBEDDING}


def default_keep(metric: str | Metric) -> float:
    """The share of e_original that is kept if none is asked for: none for the paper's metrics."""
    return 0.25 if get(metric).name == "nearest" else 0.0


def _checked_rate(rate: Any) -> float:
    try:
        return float(checks.fraction(rate))
    except UserError:
        raise UserError(f"rate must be a number from 0 to 1, or auto; got {rate!r}") from None


def _checked_permutations(permutations: Any) -> Permutations:
    if permutations == "auto":
        return "auto"
    try:
        return checks.positive(permutations, "permutations")
    except UserError:
        raise UserError(f"permutations must be a whole number of at least 1, or auto; got {permutations!r}") from None


def _at_least_two(min_usages: int) -> int:
    if checks.positive(min_usages, "min_usages") < checks.MIN_ROWS:
        raise UserError(f"min_usages must be at least {checks.MIN_ROWS}, as a variance needs two; got {min_usages}")
    return int(min_usages)


def enough(siblings: Siblings, words: Sequence[str], least: int) -> Pairs:
    """The vectors of the words that have enough of them."""
    pairs = {word: (siblings[word].old, siblings[word].new) for word in words if word in siblings}
    return {word: (old, new) for word, (old, new) in pairs.items() if min(len(old), len(new)) >= least}


def corpus_sizes(siblings: Siblings) -> tuple[list[int], str]:
    """Return the sizes of the corpora by which swap counts are normalised, and their unit.

    The unit is "sentences" if every file of every corpus has a sentence a line. Otherwise the sentences are not known,
    as prose is split around target words only, and running words ("words") take their place.
    """
    entries = [siblings.corpus(label) for label in siblings.corpora]
    if all(set(entry["splits"]) == {"lines"} for entry in entries):
        return [entry["passages"] for entry in entries], "sentences"
    return [entry["words"] for entry in entries], "words"


def run_record(
    settings: dict[str, Any],
    asked: Targets,
    rate: float,
    siblings: Siblings,
    corpora: Sequence[Place],
    labels: Sequence[str],
    scores: Iterable[WordScore],
) -> dict[str, Any]:
    """Return the provenance record written to run.json: settings, corpora, checksums and package versions.

    ``corpora`` and ``labels`` are the paths and names of the corpora of ``siblings``, in the same order.
    """
    tested = list(scores)
    told = [
        {
            "path": as_text(os.fspath(path)),
            "name": label,
            **{k: v for k, v in siblings.corpus(stored).items() if k != "label"},
        }
        for path, label, stored in zip(corpora, labels, siblings.corpora, strict=True)
    ]
    return {
        "lexshift": __version__,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": settings,
        "rate": rate,
        "permutations": max((scored.test.permutations for scored in tested), default=0),
        "approximated": sum(scored.test.p == scored.test.tail for scored in tested),
        "tested_metrics": dict(Counter(scored.tested_metric for scored in tested)),
        "words": asked.words,
        "forms": {word: list(forms) for word, forms in asked.forms.items()},
        "corpora": told,
        "embedding": siblings.settings,
        "store": {"fingerprint": siblings.fingerprint, "dimensions": siblings.index["dimensions"]},
        "versions": {"python": platform.python_version(), "platform": platform.platform(), **_versions()},
    }


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
