"""Describe the settings of a run: as paragraphs for the methods section of a paper, and as a table."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from lexshift.scoring.distance import PAPER, get
from lexshift.scoring.distance.nearest import N_DRAWN
from lexshift.scoring.permutation import STAGES

if TYPE_CHECKING:
    from lexshift.study.result import Result
    from lexshift.study.trace_result import Trace

_GAUSSIANS = "between the Gaussians with diagonal covariance fitted to them"
_METRICS = {
    "kl": f"the Kullback-Leibler divergence {_GAUSSIANS}",
    "kl-reverse": f"the reverse Kullback-Leibler divergence {_GAUSSIANS}",
    "jeffreys": f"the Jeffreys divergence {_GAUSSIANS}",
    "apd": "the average pairwise cosine distance (APD)",
    "nearest": f"the mean cosine distance of a vector to the nearest of {N_DRAWN} vectors drawn from the other set",
    "energy": "the energy distance, based on the cosine distance (U-statistic)",
    "amd": "the mean cosine distance of a vector to the nearest vector of the other set (AMD)",
    "samd": "the mean cosine distance of the pairs of an optimal one-to-one matching of the two sets (SAMD)",
}
_MATCHING = {
    "word": "Occurrences are whole words regardless of case",
    "cased": "Occurrences are whole words in the given case",
    "token": "Occurrences are tokens separated by white space, matched exactly",
    "lemma": "Occurrences are all forms of the word's lemma",
}
_SPACES = {
    "centred": " The mean vector, in which each word has the same weight, was subtracted.",
    "standardised": " The mean vector was subtracted, and each dimension was divided by its standard deviation; both "
    "were computed over the usages of all words, with the same weight for each word.",
}
_LAYERS = {"mean": "the mean of the last {n} layers", "sum": "the sum of the last {n} layers", "last": "the last layer"}
_POOLING = {"mean": "averaged", "sum": "summed", "first": "represented by the first one"}
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def methods(result: Result) -> list[str]:
    """Return paragraphs that describe the data, the embeddings, the scores and the tests."""
    return [_data(result), _embedding(result), _scores(result), _tests(result)]


def _data(result: Result) -> str:
    sizes = " and ".join(
        f"{label} ({entry['words']:,} running words)"
        for label, entry in zip(result.labels, map(result.siblings.corpus, result.siblings.corpora), strict=True)
    )
    settings, n = result.settings, len(result.words)
    if "candidates" in settings:
        excluded = ["function words"] * bool(settings["function_words"]) + ["numbers"]
        excluded += ["names"] * (settings.get("names") == "left out")
        which = "the most frequent word that occurs" if n == 1 else f"the {n:,} most frequent words that occur"
        if settings["top_words"] is None:
            which = f"all {n:,} words that occur"
        which += f" at least {settings['min_count']} times in each, excluding "
        which += ", ".join(excluded[:-1]) + " and " * (len(excluded) > 1) + excluded[-1]
    else:
        which = f"{n} {'word' if n == 1 else 'words'} chosen beforehand"
    limit = settings["max_per_word"]
    sample = f"; of a word with more than {limit:,} in a corpus, a random sample of {limit:,} was used" if limit else ""
    return f"We compared {sizes} for {which}. {_MATCHING[settings['match']]}{sample}."


def _embedding(result: Result) -> str:
    encoder = result.siblings.settings["encoder"]
    text = f"Each occurrence was embedded in its sentence with {encoder.get('model', 'an encoder of our own')}"
    weights = encoder.get("weights") or encoder.get("weights_sha256")
    text += f" (weights SHA-256 {str(weights)[:12]}…)" if weights else ""
    if "layers" in encoder:
        kind, _, n = str(encoder["layers"]).partition(":")
        n = _NUMBERS[int(n)] if n.isdigit() and int(n) < len(_NUMBERS) else n
        layers = _LAYERS.get(kind, f"layers {encoder['layers']}").format(n=n)
        text += f", taking {layers}; the subwords of a word were {_POOLING.get(str(encoder.get('pooling')), 'pooled')}"
    space = _SPACES.get(result.space.kind, "") if result.space is not None else ""
    return f"{text}. This gave vectors of {result.siblings.index['dimensions']} dimensions.{space}"


def _scores(result: Result) -> str:
    settings, sscd = result.settings, result.scores.sscd
    swap = f"{100 * sscd.rate:g}% of the occurrences (relative to the smaller set"
    if settings["normalised"]:
        unit = "running words" if settings.get("normalised_by") == "words" else "sentences"
        swap += f", normalised by the sizes of the corpora in {unit}"
    at_random = settings["strategy"] != "distance"
    swap += (
        ") were exchanged at random"
        if at_random
        else "), those farthest from the other corpus's centroid, were exchanged"
    )
    repeated = f" over {settings['repeats']} repetitions" if at_random else ""
    added = f", plus {100 * settings['keep']:g}% of e_original" if settings["keep"] else ""
    rate_search = (
        " The swap rate is the one at which the distance after swapping, averaged over the words, is smallest."
        if settings["rate"] == "auto"
        else ""
    )
    is_sscd = (
        settings["metric"] in PAPER and not settings["keep"] and (result.space is None or result.space.kind == "raw")
    )
    method = "context swapping" if is_sscd else "a variant of context swapping"
    return (
        f"Change was scored by {method} (SSCD; Aida and Bollegala, 2023) with lexshift "
        f"{result.run['lexshift']}: the distance between the two sets of vectors was measured by "
        f"{_describe_metric(settings['metric'], get(sscd.metric).usages)} (e_original); {swap} between the corpora, "
        f"and the distance was measured again (e_swap). The change score is the mean of |e_original - e_swap|{repeated}"
        f"{added}.{rate_search}"
    )


def _tests(result: Result) -> str:
    settings, tests = result.settings, [scored.test for scored in result.scores.words.values()]
    measure = f", measured by {tested_by(result)}" if tests else ""
    max_permutations = settings["permutations"]
    if max_permutations == "auto":
        max_permutations = max((test.permutations for test in tests if not test.exact), default=STAGES[0][0])
    tail = (
        " Where hardly any reassignment was as far apart, p was approximated by a generalised Pareto distribution "
        "fitted to the largest distances (Knijnenburg et al., 2009)."
        if any(test.p == test.tail for test in tests)
        else ""
    )
    return (
        f"Significance was tested by random reassignment of a word's occurrences to the corpora{measure} (all "
        f"reassignments where there are fewer than 1,000, otherwise up to {max_permutations:,}).{tail} The false "
        f"discovery rate over the {len(tests)} tested words was controlled by the Benjamini-Hochberg procedure; words "
        f"with q ≤ {settings['alpha']:g} are called changed. Intervals are {settings['confidence']:.0%} bootstrap "
        f"intervals from {settings['resamples']:,} resamples of the occurrences (random half-samples without "
        f"replacement). Words with fewer than {settings['min_usages']} occurrences in a corpus were not scored. The "
        f"random seed was {settings['seed']}."
    )


def _describe_metric(name: str, of_usages: bool) -> str:
    kind, _, distance = name.partition("-")
    if kind == "dscd" and distance:
        return f"the expected {distance.partition(':')[0]} distance between vectors drawn from their Gaussians (DSCD)"
    return _METRICS.get(name, f"the {name} distance between {'the usages' if of_usages else 'their means'}")


def tested_by(result: Result) -> str:
    """Return the description of the distance that was tested, and of those tested for a few words instead."""
    counts = Counter(scored.tested_metric for scored in result.scores.words.values()).most_common()
    of_usages = get(result.scores.sscd.metric).usages
    first, *others = [(_describe_metric(name, of_usages), n) for name, n in counts]
    return "".join([first[0], *(f" (for {n:,} {'word' if n == 1 else 'words'} by {what})" for what, n in others)])


def facts(result: Result | Trace) -> list[tuple[str, str]]:
    """Return the names and values of the page's table of settings."""
    encoder: dict[str, Any] = result.siblings.settings["encoder"]
    rows = [*result.settings.items(), *((f"encoder {name}", value) for name, value in encoder.items())]
    texts = {True: "yes", False: "no", None: "none"}
    table = [
        (name.replace("_", " "), texts[value] if value is None or isinstance(value, bool) else str(value))
        for name, value in rows
    ]
    for corpus in result.run["corpora"]:
        size = f"{corpus['words']:,} words in {corpus['files']:,} {'file' if corpus['files'] == 1 else 'files'}"
        table.append((f"corpus {corpus['name']}", f"{corpus['path']}, {size}, content {corpus['content'][:16]}…"))
    return [*table, ("lexshift", result.run["lexshift"]), *sorted(result.run["versions"].items())]
