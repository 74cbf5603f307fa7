"""The provenance of a result, which run.json records."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from lexshift import __version__
from lexshift.corpus.sources import corpus_record
from lexshift.corpus.targets import Targets
from lexshift.scoring.scores import Scores
from lexshift.store.siblings import Siblings
from lexshift.study.periods import Periods
from lexshift.study.usages import Pair, usage_notes
from lexshift.study.versions import package_versions


def run_record(
    settings: dict[str, Any], targets: Targets, siblings: Siblings, periods: Periods, scores: Scores[Pair]
) -> dict[str, Any]:
    """Return the provenance record written to run.json: settings, corpora, checksums and package versions."""
    keys = siblings.corpora
    is_cut = len(periods.corpora) == 1  # one corpus, cut into periods by date
    paths = periods.corpora * len(keys) if is_cut else periods.corpora
    labels = keys if is_cut else periods.labels
    corpora = [
        corpus_record(path)
        | {"name": label, "key": key}
        | {"duplicates": siblings.count_repeated(targets.words, key)}
        | {name: value for name, value in siblings.corpus(key).items() if name != "label"}
        for path, label, key in zip(paths, labels, keys, strict=True)
    ]
    tests = [scored.test for scored in scores.words.values()]
    units = dict(Counter(test.unit for test in tests))
    return {
        "lexshift": __version__,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": settings,
        "rate": scores.sscd.rate,
        "permutations": max((test.permutations for test in tests), default=0),
        "approximated": sum(test.p == test.tail for test in tests),
        "tested_metrics": dict(Counter(scored.tested_metric for scored in scores.words.values())),
        "permuted_units": units,
        "notes": usage_notes([corpus["duplicates"] for corpus in corpora], units),
        "words": targets.words,
        "forms": {word: list(forms) for word, forms in targets.forms.items()},
        "corpora": corpora,
        "embedding": siblings.settings,
        "store": {"fingerprint": siblings.fingerprint, "dimensions": siblings.index["dimensions"]},
        "versions": package_versions(),
    }
