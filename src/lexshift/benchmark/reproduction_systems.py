"""The paper's tables of systems, made again for any data set: effectiveness and the main comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lexshift.benchmark import paper
from lexshift.benchmark.evaluation import judge
from lexshift.benchmark.exhibit import DIVERGENCES, NOTHING, Cell, Exhibit, Measured, best_of, figure, spread
from lexshift.benchmark.measures import spearman, spearman_each
from lexshift.benchmark.methods import Scored
from lexshift.scoring.distance import DISTANCES
from lexshift.utils.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd

DSCD = tuple(f"dscd-{distance}" for distance in DISTANCES)
ATTENTION, SUPERVISED = "MLM_temp, temporal attention", "XL-LEXEME (supervised)"


def effectiveness(measured: Measured) -> Exhibit:
    """Swapping as a score against swapping as a test: the paper's first table."""
    import pandas as pd

    published = paper.systems(measured.data.name)
    rows: list[dict[str, Any]] = []
    for system, scored in _liu(measured).items():
        found = judge(measured.data, scored).averaged
        row = {"system": system, "setting": "", "spearman": found.rho, "words": found.words}
        rows.append(row | _theirs(published, "MLM_tuned", system))
    for kind, metrics in (("divergence", DIVERGENCES), ("distance of means", DISTANCES), ("DSCD", DSCD)):
        best, system = _best(measured, "random", metrics), f"SSCD, {kind}"
        row = {"system": system, "setting": _setting(best), "spearman": float(best["spearman_each"])}
        rows.append(row | {"words": len(measured.words)} | _theirs(published, "mBERT", system))
    rows += _only_published("XL-LEXEME", _theirs(published, SUPERVISED, "APD"))
    table = pd.DataFrame(rows)
    cells = [
        (*_named(row), Cell(figure(row["spearman"])), Cell(figure(row["words"], 0)), _paper(row))
        for row in table.to_dict("records")
    ]
    note = (
        "Liu et al. (2021) score a word by the cosine distance of means. Their permutation test drops words with p of "
        "0.005 or more, their false discovery rate those with q above 0.05 as well, so that fewer words are judged. "
        "SSCD judges all words: Spearman of each repetition, averaged, with random swapping at the metric and rate "
        "that are best. They are chosen by the gold, as in the paper, and the figure is therefore optimistic."
    )
    columns = ("system", "setting", "Spearman", "words", "paper (encoder)")
    return Exhibit("effectiveness", "Effectiveness of swapping", note, table, columns, tuple(cells), texts=2)


def comparison(measured: Measured) -> Exhibit:
    """The main comparison: SSCD against the distances alone and other systems."""
    import pandas as pd

    plain = pd.DataFrame([{"metric": m, "rho": spearman(measured.original(m), measured.gold).rho} for m in DSCD])
    dscd = str(best_of(plain, "rho")["metric"])
    random, by_distance = _best(measured, "random", ["kl"]), _best(measured, "distance", DSCD)
    estimated = measured.curve("kl").rate
    place = [measured.apd.words.index(word) for word in measured.words]
    published = paper.systems(measured.data.name)

    def ours(system: str, setting: str, scores: Floats, theirs: str) -> dict[str, Any]:
        return _row(measured, system, setting, scores) | _theirs(published, "MLM_temp", theirs)

    rows = [
        ours("Cosine of means", "", measured.original("cosine")[:, None], "Cosine of means"),
        ours("APD", "", measured.apd.scores[place], "APD"),
        ours("DSCD", f"best distance: {dscd.removeprefix('dscd-')}", measured.original(dscd)[:, None], "DSCD"),
        *_only_published("Temporal attention", _theirs(published, ATTENTION, "Cosine of means")),
        ours("SSCD random", f"best: {_setting(random)}", _scores(measured, random), "SSCD, random"),
        ours("SSCD random", f"estimated: kl, rate {estimated:g}", measured.scores("random", "kl", estimated), ""),
        ours("SSCD distance", f"best: {_setting(by_distance)}", _scores(measured, by_distance), "SSCD, distance"),
        *_only_published("XL-LEXEME", _theirs(published, SUPERVISED, "APD")),
    ]
    table = pd.DataFrame(rows)
    cells = [
        (
            *_named(row),
            Cell(figure(row["spearman"])),
            Cell(NOTHING if np.isnan(row["low"]) else f"{figure(row['low'])} to {figure(row['high'])}"),
            Cell(spread(row["spearman_each"], row["spearman_each_sd"])),
            _paper(row),
        )
        for row in table.to_dict("records")
    ]
    note = (
        "Spearman of the scores averaged over repetitions, with the 95 % bootstrap interval of the words; and Spearman "
        "of each repetition, mean and standard deviation, which is what the paper gives for SSCD. What is called best "
        "is chosen by the gold and is therefore optimistic; the estimated rate needs no gold. Temporal attention and "
        "XL-LEXEME need models of their own: they are shown where the paper has a figure."
    )
    columns = ("system", "setting", "Spearman", "95 % interval", "per repetition", "paper (encoder)")
    return Exhibit("comparison", "Comparison with other systems", note, table, columns, tuple(cells), texts=2)


def _liu(measured: Measured) -> dict[str, Scored]:
    """Liu et al. on all words, on those that pass the test, and on those of them that pass the control as well."""
    tested = measured.liu
    said = np.zeros(len(tested.words), bool) if tested.changed is None else np.asarray(tested.changed, bool)
    passed = tuple(word for word, yes in zip(tested.words, said, strict=True) if yes)
    return {
        "Liu et al., cosine": Scored("cosine", measured.words, measured.original("cosine")[:, None]),
        "Liu et al., permutation test": tested,
        "Liu et al., false discovery rate": Scored("controlled", passed, tested.scores[said]),
    }


def _row(measured: Measured, system: str, setting: str, scores: Floats) -> dict[str, Any]:
    """A system of ours; scores are (words, repetitions)."""
    found, each = spearman(scores.mean(axis=1), measured.gold), spearman_each(scores, measured.gold)
    return {
        "system": system,
        "setting": setting,
        "spearman": found.rho,
        "low": found.low,
        "high": found.high,
        "spearman_each": float(each.mean()),
        "spearman_each_sd": float(each.std()) if len(each) > 1 else np.nan,
        "words": found.words,
    }


def _best(measured: Measured, strategy: str, metrics: Sequence[str]) -> pd.Series:
    frame = measured.spearman
    return best_of(frame[(frame["strategy"] == strategy) & frame["metric"].isin(metrics)])


def _scores(measured: Measured, row: pd.Series) -> Floats:
    return measured.scores(row["strategy"], row["metric"], row["rate"])


def _setting(row: pd.Series) -> str:
    return f"{row['metric']}, rate {row['rate']:g}"


def _theirs(published: pd.DataFrame, encoder: str, system: str) -> dict[str, Any]:
    """The published figure of a system with an encoder, if there is one."""
    found = published.loc[(published["encoder"] == encoder) & (published["system"] == system), "spearman"]
    return {"paper": float(found.iloc[0]), "paper_encoder": encoder} if len(found) else {"paper": np.nan}


def _only_published(system: str, theirs: dict[str, Any]) -> list[dict[str, Any]]:
    """A row of a system that is not run here; none if nothing is published of it."""
    return [] if np.isnan(theirs["paper"]) else [{"system": system, "setting": "published only"} | theirs]


def _named(row: dict[str, Any]) -> tuple[Cell, Cell]:
    return Cell(row["system"]), Cell(row["setting"])


def _paper(row: dict[str, Any]) -> Cell:
    return Cell(NOTHING if np.isnan(row["paper"]) else f"{figure(row['paper'])} ({row['paper_encoder']})")
