"""The verdict on a word.

A word is called *changed* only if three statements hold: it differs beyond chance (permutation test, q), it stands out
from what the two corpora do to ordinary words (local false discovery rate), and its gap exceeds the noise floor, which
is the gap between halves of the same corpus.

| verdict | meaning |
| --- | --- |
| changed | all three statements hold |
| differs | it differs beyond chance, but no more than ordinary words do |
| stable | the whole interval of the gap lies below the noise floor |
| unclear | neither a difference nor its absence was shown |
| appeared, disappeared | frequent in one corpus, and (nearly) absent from the other one |
| too few | there are too few usages for a statement |

Without control words there is no comparison with ordinary words, and *changed* rests on the other two statements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lexshift.scoring.background import Background
from lexshift.scoring.empirical_null import local_fdr
from lexshift.scoring.gap import Gap

CHANGED, DIFFERS, UNCLEAR, STABLE = "changed", "differs", "unclear", "stable"
APPEARED, DISAPPEARED, TOO_FEW = "appeared", "disappeared", "too few"
VERDICTS = (CHANGED, APPEARED, DISAPPEARED, DIFFERS, UNCLEAR, STABLE, TOO_FEW)
MAX_LOCAL_FDR = 0.2
"""Largest local false discovery rate of a changed word, the limit that Efron (2004) recommends."""
MIN_PRESENT = 20
"""Minimum number of occurrences in one corpus of a word that appeared or disappeared."""
MIN_RATIO = 10.0
"""Minimum ratio of the relative frequencies of a word that appeared or disappeared."""
NOT_COMPARED = (
    "The words were not compared with ordinary words, so a word may be called changed because the corpora "
    "differ as wholes, in topic, style or spelling"
)
"""Warning if there are no control words."""
_LEAST_RATE = 0.001  # smaller local false discovery rates are not printed


@dataclass(frozen=True)
class Evidence:
    """The evidence for the verdict on a word, besides its test.

    Attributes
    ----------
    gap : Gap
    excess : float or None
        By how many standard deviations of ordinary words its gap exceeds theirs; None without control words.
    local_fdr : float or None
        Probability that a word with this excess is an ordinary one; None without control words.
    """

    gap: Gap
    excess: float | None = None
    local_fdr: float | None = None


@dataclass(frozen=True)
class Backdrop:
    """The effect of the two corpora on ordinary words, in numbers.

    Attributes
    ----------
    floor : float
        The noise floor of the gap.
    control_words : int
        Number of control words; 0 without a comparison with ordinary words.
    common_shift : float or None
        Share of the shift of an ordinary word that is common to all words.
    ordinary_gap : float or None
        Median gap of the control words.
    is_calibrated : bool
        Whether a gap is a difference of probabilities, rather than of cosines.
    """

    floor: float
    control_words: int
    common_shift: float | None
    ordinary_gap: float | None
    is_calibrated: bool

    def format_gap(self, gap: float) -> str:
        """Return a gap as text: in percentage points, or without a calibration as a plain number.

        >>> Backdrop(0.02, 0, None, None, is_calibrated=False).format_gap(0.0344)
        '0.0344'
        """
        return points(gap) if self.is_calibrated else f"{gap:.3g}"

    def describe(self, corpora: str = "the corpora") -> str | None:
        """Return a sentence on what the corpora do to ordinary words, or None without control words.

        Parameters
        ----------
        corpora : str
            Name of the corpora in the sentence.
        """
        if not self.control_words:
            return None
        return (
            f"Ordinary words ({self.control_words:,} control words) moved by a gap of "
            f"{self.format_gap(self.ordinary_gap or 0.0)} between {corpora}; "
            f"{100 * (self.common_shift or 0.0):.0f} % of their shift is common to all words and was removed; the "
            f"noise floor is {self.format_gap(self.floor)}"
        )


def weigh_gaps(
    gaps: Mapping[str, Gap], sizes: Mapping[str, tuple[int, int]], background: Background
) -> dict[str, Evidence]:
    """Compare the gap of each word with those of ordinary words.

    Parameters
    ----------
    gaps : mapping of str to Gap
    sizes : mapping of str to (int, int)
        The number of usages of each word in both corpora.
    background : Background
    """
    if not gaps:
        return {}
    words, excess = list(gaps), np.empty(len(gaps))
    for i, word in enumerate(words):
        null, _ = background.null(*sizes[word], without=word)
        excess[i] = null.excess(gaps[word].value)
    _, ordinary = background.null(*(max(n) for n in zip(*sizes.values(), strict=True)))
    fdr = local_fdr(excess, ordinary[:, [word not in gaps for word in background.words]])
    return {word: Evidence(gaps[word], float(z), float(rate)) for word, z, rate in zip(words, excess, fdr, strict=True)}


def decide_verdict(evidence: Evidence, q: float, alpha: float, floor: float) -> str:
    """Return the verdict on a word with enough usages.

    Parameters
    ----------
    evidence : Evidence
    q : float
        The p of its test, adjusted for the false discovery rate.
    alpha : float
        The false discovery rate.
    floor : float
        The noise floor.

    Examples
    --------
    >>> gap = Gap(value=0.3, low=0.2, high=0.4, detectable=0.1)
    >>> decide_verdict(Evidence(gap, excess=5.0, local_fdr=0.01), q=0.001, alpha=0.05, floor=0.02)
    'changed'
    >>> decide_verdict(Evidence(gap, excess=0.5, local_fdr=1.0), q=0.001, alpha=0.05, floor=0.02)
    'differs'
    """
    gap = evidence.gap
    stands_out = evidence.local_fdr is None or evidence.local_fdr <= MAX_LOCAL_FDR
    if q <= alpha and stands_out and gap.value > floor:
        return CHANGED
    if gap.high < floor:
        return STABLE
    return DIFFERS if q <= alpha else UNCLEAR


def decide_trace_verdict(evidence: Evidence, q: float, alpha: float, floor: float, has_middle: bool) -> str:
    """Return the verdict on a word that was followed over several periods.

    It is that of :func:`decide_verdict` on the first and the last period, except that a word which differs beyond
    chance over the periods is not called stable if there are periods in between.

    Parameters
    ----------
    evidence : Evidence
        The evidence on the first and the last period.
    q : float
        The p of the test over all periods, adjusted for the false discovery rate.
    alpha, floor : float
        As for :func:`decide_verdict`.
    has_middle : bool
        Whether the word has periods between the first and the last one.

    Examples
    --------
    >>> gap = Gap(value=0.001, low=-0.005, high=0.01, detectable=0.1)
    >>> decide_trace_verdict(Evidence(gap), q=0.001, alpha=0.05, floor=0.02, has_middle=True)
    'differs'
    """
    verdict = decide_verdict(evidence, q, alpha, floor)
    return DIFFERS if verdict == STABLE and has_middle and q <= alpha else verdict


def explain_trace_verdict(
    verdict: str, evidence: Evidence, backdrop: Backdrop, periods: str, only_between: bool
) -> str:
    """Return the reason of a verdict on a word that was followed over several periods, in a few words.

    Parameters
    ----------
    verdict, evidence, backdrop, periods
        As for :func:`explain_verdict`.
    only_between : bool
        Whether the word differs over the periods, but its first and last period were not shown to differ.
    """
    if verdict != DIFFERS or not only_between:
        return explain_verdict(verdict, evidence, backdrop, periods)
    size = backdrop.format_gap(evidence.gap.value)
    return f"gap of {size} from {periods}, not beyond chance; all periods together differ, perhaps only in between"


def explain_verdict(verdict: str, evidence: Evidence, backdrop: Backdrop, periods: str = "") -> str:
    """Return the reason of a verdict in a few words.

    Parameters
    ----------
    verdict : str
    evidence : Evidence
    backdrop : Backdrop
    periods : str
        The two periods if there are others, for instance "1850s to 2000s".
    """
    gap, unit = evidence.gap, backdrop.format_gap
    size = f"gap of {unit(gap.value)}" + (f" from {periods}" if periods else "")
    compared = "" if evidence.local_fdr is None else f" (local fdr {_rate(evidence.local_fdr)})"
    if verdict == CHANGED:
        if evidence.local_fdr is None:
            return f"{size}; beyond chance and the noise floor, not compared with ordinary words"
        return f"{size}, against {unit(backdrop.ordinary_gap or 0.0)} of ordinary words{compared}"
    if verdict == STABLE:
        return f"{size}, at most {unit(gap.high)}, below the noise floor of {unit(backdrop.floor)}"
    if verdict == DIFFERS:
        if gap.value <= backdrop.floor:
            return f"{size}, beyond chance, but not above the noise floor of {unit(backdrop.floor)}"
        return f"{size}, beyond chance, but no more than ordinary words{compared}"
    return f"{size}, not beyond chance; these usages could have shown a gap of {unit(gap.detectable)}"


def points(gap: float) -> str:
    """Return a difference of probabilities in percentage points.

    >>> points(0.344)
    '34 points'
    """
    decimals = 0 if abs(gap) >= 0.095 else 1
    value = round(100 * gap, decimals) + 0.0  # adding 0 turns -0 into 0
    return f"{value:.{decimals}f} points"


def _rate(value: float) -> str:
    return f"{value:.2g}" if value >= _LEAST_RATE else f"below {_LEAST_RATE}"


def presence(occurrences: tuple[int, int], sizes: tuple[int, int]) -> str | None:
    """Return "appeared" or "disappeared" for a word that is frequent in one corpus and nearly absent from the other.

    Parameters
    ----------
    occurrences : (int, int)
        Number of occurrences in the old and the new corpus.
    sizes : (int, int)
        Number of running words of the corpora.

    Examples
    --------
    >>> presence((109, 2), (800_000, 780_000)), presence((0, 30), (10_000, 10_000)), presence((12, 30), (1_000, 1_000))
    ('disappeared', 'appeared', None)
    """
    rates = [n / max(size, 1) for n, size in zip(occurrences, sizes, strict=True)]
    for verdict, present, absent in ((DISAPPEARED, 0, 1), (APPEARED, 1, 0)):
        if occurrences[present] >= MIN_PRESENT and rates[present] >= MIN_RATIO * rates[absent]:
            return verdict
    return None


def describe_presence(occurrences: tuple[int, int], labels: tuple[str, str]) -> str:
    """Return the numbers of occurrences of a word in both corpora in a few words.

    >>> describe_presence((109, 1), ("1611", "2000"))
    '109 occurrences in 1611 and 1 occurrence in 2000'
    """
    numbers = [f"{n or 'no'} {'occurrence' if n == 1 else 'occurrences'}" for n in occurrences]
    return " and ".join(f"{number} in {label}" for number, label in zip(numbers, labels, strict=True))


def count_verdicts(counts: Mapping[str, int]) -> str:
    """Return the number of words of each verdict as a phrase, in the order of :data:`VERDICTS`.

    >>> count_verdicts({"stable": 3, "changed": 2, "differs": 4})
    '2 changed, 4 differ, 3 stable'
    """
    plural = {DIFFERS: "differ"}
    names = {verdict: verdict if n == 1 else plural.get(verdict, verdict) for verdict, n in counts.items()}
    return ", ".join(f"{counts[verdict]} {names[verdict]}" for verdict in VERDICTS if counts.get(verdict))
