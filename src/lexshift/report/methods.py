"""The settings of a run in sentences for the methods section of a paper."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from lexshift.scoring.distance import get
from lexshift.scoring.distance.nearest import FEW
from lexshift.scoring.permutation import STAGES

if TYPE_CHECKING:
    from lexshift.study.result import Result

_GAUSSIANS = "of the Gaussians with diagonal covariance that describe them"
_METRICS = {
    "kl": f"the Kullback-Leibler divergence {_GAUSSIANS}",
    "kl-reverse": f"the reverse Kullback-Leibler divergence {_GAUSSIANS}",
    "jeffreys": f"the Jeffreys divergence {_GAUSSIANS}",
    "apd": "the average pairwise cosine distance (APD)",
    "nearest": f"the cosine distance of a vector to the nearest of {FEW} vectors drawn from the other set, on average",
}
_SPACES = {
    "centred": " The mean of all vectors, each word weighing the same, was taken off.",
    "standardised": " The mean of all vectors was taken off, and each dimension divided by its standard deviation, "
    "both over the usages of all words, each word weighing the same.",
}
_LAYERS = {"mean": "the mean of the last {n} layers", "sum": "the sum of the last {n} layers"}
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def methods(result: Result) -> list[str]:
    """Paragraphs that say what was done."""
    return [_data(result), _embedding(result), _scores(result), _significance(result)]


def _data(result: Result) -> str:
    sizes = " and ".join(
        f"{label} ({entry['words']:,} running words)"
        for label, entry in zip(result.labels, map(result.siblings.corpus, result.siblings.corpora), strict=True)
    )
    settings, n = result.settings, len(result.words)
    if "candidates" in settings:
        least = settings["min_count"]
        left = ["function words"] * bool(settings["function_words"]) + ["numbers"]
        left += ["names"] * (settings.get("names") == "left out")
        apart = ", ".join(left[:-1]) + " and " * (len(left) > 1) + left[-1]
        which = "the most frequent word that occurs" if n == 1 else f"the {n:,} most frequent words that occur"
        if settings["top_words"] is None:
            which = f"all {n:,} words that occur"
        chosen = f"{which} at least {least} times in each, {apart} apart"
    else:
        chosen = f"{n} {'word' if n == 1 else 'words'} chosen beforehand"
    matched = {
        "word": "Occurrences are whole words regardless of case",
        "cased": "Occurrences are whole words with the case as given",
        "token": "Occurrences are tokens between white space, matched exactly",
        "lemma": "Occurrences are all forms of the word's lemma",
    }[settings["match"]]
    most = settings["max_per_word"]
    sampled = f"; of a word with more than {most:,} in a corpus, a random sample of {most:,} was used" if most else ""
    return f"We compared {sizes}, for {chosen}. {matched}{sampled}."


def _embedding(result: Result) -> str:
    encoder = result.siblings.settings["encoder"]
    dimensions = result.siblings.index["dimensions"]
    told = f"Each occurrence was embedded in its sentence with {encoder.get('model', 'an encoder of our own')}"
    weights = encoder.get("weights") or encoder.get("weights_sha256")
    told += f" (weights SHA-256 {str(weights)[:12]}…)" if weights else ""
    if "layers" in encoder:
        kind, _, n = str(encoder["layers"]).partition(":")
        layers = _LAYERS.get(kind, "layers {layers}").format(n=_number(n), layers=encoder["layers"])
        pieces = {"mean": "averaged", "sum": "summed", "first": "the first one taken"}.get(
            str(encoder.get("pooling")), "pooled"
        )
        told += f", taking {'the last layer' if kind == 'last' else layers}; the pieces of a word were {pieces}"
    space = _SPACES.get(result.space.kind, "") if result.space is not None else ""
    return f"{told}. This gave vectors of {dimensions} dimensions.{space}"


def _number(text: str) -> str:
    return _NUMBERS[int(text)] if text.isdigit() and int(text) < len(_NUMBERS) else text


def _scores(result: Result) -> str:
    settings, rate = result.settings, result.scores.sscd.rate
    metric = _metric(settings["metric"], get(result.scores.sscd.metric).usages)
    number = f"occurrences in the number of {100 * rate:g}% of the smaller set"
    which = (
        f"{number}, those farthest from the other corpus's centroid, were swapped"
        if settings["strategy"] == "distance"
        else f"{number}, chosen at random, were swapped"
    )
    unit = "running words" if settings.get("normalised_by") == "words" else "sentences"
    which += f", the number normalised by the sizes of the corpora in {unit}," if settings["normalised"] else ""
    repeated = "" if settings["strategy"] == "distance" else f" over {settings['repeats']} repetitions"
    kept = f", plus {100 * settings['keep']:g}% of e_original" if settings["keep"] else ""
    searched = (
        " The swap rate is the one at which the distance after swapping, averaged over the words, is least."
        if settings["rate"] == "auto"
        else ""
    )
    return (
        f"Change was scored by context swapping (SSCD; Aida and Bollegala, 2023) with lexshift "
        f"{result.run['lexshift']}: the distance between the two sets of vectors was measured by {metric} "
        f"(e_original); {which} between the corpora, and the distance measured again (e_swap). The change score is the "
        f"mean of |e_original - e_swap|{repeated}{kept}.{searched}"
    )


def _metric(name: str, usages: bool = False) -> str:
    kind, _, distance = name.partition("-")
    if kind == "dscd" and distance:
        return f"the expected {distance.partition(':')[0]} distance of vectors of their Gaussians (DSCD)"
    return _METRICS.get(name, f"the {name} distance of {'the usages' if usages else 'their means'}")


def _significance(result: Result) -> str:
    settings = result.settings
    tested = len(result.scores.words)
    measure = f", measured by {tested_by(result)}" if tested else ""
    tests = [scored.test for scored in result.scores.words.values()]
    most = settings["permutations"]
    if most == "auto":
        most = max((test.permutations for test in tests if not test.exact), default=STAGES[0][0])
    tail = (
        " Where hardly any reassignment was as far apart, p was approximated by a generalised Pareto distribution "
        "fitted to the largest distances (Knijnenburg et al., 2009)."
        if any(test.p == test.tail for test in tests)
        else ""
    )
    return (
        f"Significance was tested by random reassignment of a word's occurrences to the corpora{measure} (all "
        f"reassignments where there are fewer than 1,000, else up to {most:,}).{tail} The false "
        f"discovery rate over the {tested} tested words was controlled after Benjamini and Hochberg; words with q ≤ "
        f"{settings['alpha']:g} are called changed. Intervals are {settings['confidence']:.0%} bootstrap intervals "
        f"from {settings['resamples']:,} resamples of the occurrences (random half-samples without replacement). Words "
        f"with fewer than {settings['min_usages']} occurrences in a corpus were not scored. The random seed was "
        f"{settings['seed']}."
    )


def tested_by(result: Result) -> str:
    """Return the description of the distance that was tested, and of those tested for a few words instead."""
    counts = Counter(scored.tested_metric for scored in result.scores.words.values()).most_common()
    usages = get(result.scores.sscd.metric).usages
    first, *others = [(_metric(name, usages), n) for name, n in counts]
    return "".join([first[0], *(f" (for {n:,} {'word' if n == 1 else 'words'} by {what})" for what, n in others)])


def facts(result: Result) -> list[tuple[str, str]]:
    """Names and values for the page's table of settings."""
    encoder: dict[str, Any] = result.siblings.settings["encoder"]
    rows = [(name.replace("_", " "), _shown(value)) for name, value in result.settings.items()]
    rows += [(f"encoder {name.replace('_', ' ')}", _shown(value)) for name, value in encoder.items()]
    for entry in result.run["corpora"]:
        rows.append((f"corpus {entry['name']}", f"{entry['path']}, content {entry['content'][:16]}…"))
    rows.append(("lexshift", result.run["lexshift"]))
    rows += sorted(result.run["versions"].items())
    return rows


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)
