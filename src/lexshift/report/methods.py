"""Describe the settings of a run: as paragraphs for the methods section of a paper, and as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lexshift.corpus.sources import FOLDER
from lexshift.scoring.background import FLOOR
from lexshift.scoring.distance import PAPER, get
from lexshift.scoring.distance.nearest import N_DRAWN
from lexshift.scoring.gap import RESAMPLES
from lexshift.scoring.permutation import DOCUMENTS, USAGES, PermutationTest
from lexshift.scoring.permutation import MIN_DOCUMENTS as MIN_TESTED_DOCUMENTS
from lexshift.scoring.permutation_stages import FIRST_STAGE
from lexshift.study.appeared_words import MIN_DOCUMENTS
from lexshift.study.settings import ONCE
from lexshift.study.verdict import MAX_LOCAL_FDR, MIN_PRESENT, MIN_RATIO, Backdrop
from lexshift.utils.quantities import with_unit

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
    "energy": "the energy distance of the unit vectors (U-statistic)",
    "amd": "the mean cosine distance of a vector to the nearest vector of the other set (AMD)",
    "samd": "the mean cosine distance of the pairs of an optimal one-to-one matching of the two sets (SAMD)",
}
_APD = (
    "The average pairwise distance is the mean cosine distance over all pairs of an occurrence in one corpus and an "
    "occurrence in the other."
)
_MATCHING = {
    "word": "Occurrences were matched as whole words, regardless of case",
    "cased": "Occurrences were matched as whole words in the given case",
    "token": "Occurrences were matched as exact tokens, separated by white space",
    "lemma": "Occurrences of all forms of a word's lemma were included",
}
_SPACES = {
    "centred": " The mean vector was subtracted; it was computed over the usages of {words}, with the same weight for "
    "each word.",
    "standardised": " The mean vector was subtracted, and each dimension was divided by its standard deviation; both "
    "were computed over the usages of {words}, with the same weight for each word.",
    "fixed": " The vectors were centred and scaled by the constants that belong to the encoder.",
}
_LAYERS = {
    "mean": "the mean of the last {n} hidden layers",
    "sum": "the sum of the last {n} hidden layers",
    "concat": "the concatenation of the last {n} hidden layers",
    "last": "the last hidden layer",
}
_POOLING = {
    "mean": "averaged over the subwords of the word",
    "sum": "summed over the subwords of the word",
    "first": "used the first subword of the word",
    "sentence": "averaged over all subwords of the sentence",
}
_CLUSTERINGS = {
    "graph": "correlation clustering of the graph of occurrences",
    "agglomerative": "agglomerative clustering with average linkage",
    "mixture": "a mixture of Gaussians",
    "affinity": "affinity propagation",
}
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def methods(result: Result) -> list[str]:
    """Return paragraphs that describe the data, the embeddings, the scores, the tests, the verdicts and the senses."""
    paragraphs = [_data(result), _embedding(result), _scores(result), _tests(result)]
    paragraphs += [_verdicts(result)] if result.scores.words else []
    paragraphs += [_appeared_words(result)] if result.appeared_words is not None and result.appeared_words.words else []
    paragraphs += [_groups(result)] if result.group_comparison is not None else []
    return [*paragraphs, _senses(result)] if result.senses else paragraphs


def _data(result: Result) -> str:
    sizes = " and ".join(
        f"{label} ({entry['words']:,} running words)"
        for label, entry in zip(result.corpus_names, map(result.siblings.corpus, result.siblings.corpora), strict=True)
    )
    settings, n = result.settings, len(result.words)
    if "candidates" in settings:
        excluded = ["function words"] * bool(settings["function_words"]) + ["numbers"]
        excluded += ["names"] * (settings.get("names") == "left out")
        which = "the most frequent word that occurred" if n == 1 else f"the {n:,} most frequent words that occurred"
        if settings["top_words"] is None:
            which = "the only word that occurred" if n == 1 else f"all {n:,} words that occurred"
        which += f" at least {settings['min_count']} times in each corpus, excluding "
        which += ", ".join(excluded[:-1]) + " and " * (len(excluded) > 1) + excluded[-1]
    else:
        which = f"{n} {'word' if n == 1 else 'words'} chosen in advance"
    limit = settings["max_per_word"]
    sample = (
        f" If a word occurred more than {limit:,} times in a corpus, a random sample of {limit:,} occurrences was used."
        if limit
        else ""
    )
    repeated = " Identical sentences of a corpus counted once." if settings["duplicates"] == ONCE else ""
    return f"We compared two corpora, {sizes}. We studied {which}. {_MATCHING[settings['match']]}.{sample}{repeated}"


def _embedding(result: Result) -> str:
    encoder = result.siblings.settings["encoder"]
    model = f"the encoder {encoder['model']}" if "model" in encoder else "a custom encoder"
    dimensions = result.siblings.index["dimensions"]
    text = f"Each occurrence was represented by a contextual embedding of {dimensions} dimensions, computed in its "
    text += f"sentence with {model}"
    weights = encoder.get("weights") or encoder.get("weights_sha256")
    text += f" (SHA-256 of the weights: {str(weights)[:12]}…)." if weights else "."
    if "layers" in encoder:
        kind, _, n = str(encoder["layers"]).partition(":")
        n = _NUMBERS[int(n)] if n.isdigit() and int(n) < len(_NUMBERS) else n
        layers = _LAYERS.get(kind, f"layers {encoder['layers']}").format(n=n)
        pooling = _POOLING.get(str(encoder.get("pooling")), "pooled the subwords of the word")
        text += f" We took {layers} and {pooling}."
    space = _SPACES.get(result.space.kind, "") if result.space is not None else ""
    n_controls = len(result.run.get("control", {}).get("words", ()))
    words = f"{n_controls} control words, ordinary words of both corpora" if n_controls else "all words"
    return text + space.format(words=words)


def _scores(result: Result) -> str:
    settings, sscd = result.settings, result.scores.sscd
    swap = f"{100 * sscd.rate:g}% of the occurrences (relative to the smaller set"
    if settings["normalised"]:
        unit = "running words" if settings.get("normalised_by") == "words" else "sentences"
        swap += f", normalised by the sizes of the corpora in {unit}"
    at_random = settings["strategy"] != "distance"
    swap += (
        "), chosen at random, were exchanged"
        if at_random
        else "), those farthest from the centroid of the other corpus, were exchanged"
    )
    repeated = f" over {settings['repeats']} repetitions" if at_random else ""
    weight = float(settings["distance_weight"])
    rate_search = (
        " This swap rate was selected because it minimises the distance after swapping, averaged over the words."
        if settings["rate"] == "auto"
        else ""
    )
    is_sscd = settings["metric"] in PAPER and not weight and (result.space is None or result.space.kind == "raw")
    method, variant = "SSCD" if is_sscd else "a variant of SSCD", ""
    if weight:
        variant = f": {describe_weights(weight)}"
    return (
        f"Semantic change was scored by {method} (context swapping; Aida and Bollegala, 2023), as implemented in "
        f"lexshift {result.run['lexshift']}{variant}. For each word, the distance between its embeddings in the two "
        f"corpora (e_original) was measured as {_describe_metric(settings['metric'], get(sscd.metric).usages)}. Then "
        f"{swap} between the corpora, and the distance was measured again (e_swap). "
        f"{'SSCD' if weight else 'The change score'} is the mean of |e_original - e_swap|{repeated}.{rate_search}"
        f"{' ' + _APD if weight else ''}"
    )


def describe_weights(distance_weight: float) -> str:
    """Return the definition of the variant of SSCD with a weight of the average pairwise distance.

    >>> describe_weights(0.8)
    'the weighted geometric mean of SSCD (weight 0.2) and the average pairwise distance (0.8)'
    """
    sscd = f"SSCD (weight {1 - distance_weight:.3g})"
    return f"the weighted geometric mean of {sscd} and the average pairwise distance ({distance_weight:g})"


def _tests(result: Result) -> str:
    settings, tests = result.settings, [scored.test for scored in result.scores.words.values()]
    statistic = f" The test statistic was {tested_by(result)}." if tests else ""
    max_permutations = settings["permutations"]
    if max_permutations == "auto":
        max_permutations = max((test.permutations for test in tests if not test.exact), default=FIRST_STAGE)
    tail = (
        " If hardly any permutation reached the observed distance, p was approximated by a generalised Pareto "
        "distribution fitted to the largest distances (Knijnenburg et al., 2009)."
        if any(test.p == test.tail for test in tests)
        else ""
    )
    return (
        f"Significance was assessed by a permutation test, in which {_describe_units(tests)} were reassigned to the "
        f"corpora at random (all reassignments if there were fewer than 1,000, otherwise up to "
        f"{max_permutations:,}).{statistic}{tail} The false discovery rate over the {len(tests)} tested words was "
        f"controlled with the Benjamini-Hochberg procedure. We report {settings['confidence']:.0%} bootstrap intervals "
        f"of the scores, based on {settings['resamples']:,} resamples of the occurrences (random half-samples without "
        f"replacement). Words with fewer than {settings['min_usages']} occurrences in a corpus were not scored. The "
        f"random seed was {settings['seed']}."
    )


def _describe_units(tests: Sequence[PermutationTest]) -> str:
    """Return what the tests reassigned to the corpora."""
    units = Counter(test.unit for test in tests)
    if not units[DOCUMENTS]:
        return "the occurrences of a word"
    whole = "whole documents with all their occurrences of a word"
    if not units[USAGES]:
        return whole
    return f"{whole} (for {units[USAGES]:,} of {len(tests):,} words, found in few documents, single occurrences)"


def _verdicts(result: Result) -> str:
    backdrop, alpha, unit = result.backdrop, result.settings["alpha"], result.backdrop.format_gap
    measured = (
        "the probability that two occurrences share a sense, given the cosine of their embeddings and calibrated for "
        "the encoder on other, sense-labelled words,"
        if backdrop.is_calibrated
        else "the cosine of the embeddings of two occurrences"
    )
    text = (
        f"The size of a difference is given as a gap: {measured} averaged over the pairs of occurrences within a "
        f"corpus (mean of the two corpora), minus its average over the pairs of occurrences from different corpora. "
        f"Intervals of the gaps are based on {RESAMPLES} random half-samples."
    )
    stands_out = ""
    if backdrop.control_words:
        text += (
            f" The difference between the corpora as wholes was estimated from {backdrop.control_words:,} control "
            f"words, which are frequent in both corpora and were chosen at random. Their mean shift "
            f"({_percent(backdrop)} of the mean squared shift of a control word) was removed from the embeddings "
            f"before the tests and the gaps were computed, but not before the scores were. The square root of "
            f"the gap of each word (with the sign of the gap, and made linear for gaps below half of the noise floor) "
            f"was compared with a normal distribution fitted to the lower half of those of the control words, "
            f"reduced to the same number of occurrences. The median gap of the control words was "
            f"{unit(backdrop.ordinary_gap or 0.0)}."
        )
        stands_out = f", if the local false discovery rate (Efron, 2004) was at most {MAX_LOCAL_FDR:g}"
    return (
        f"{text} The noise floor, which {FLOOR:.0%} of the gaps between random halves of the same corpus do not "
        f"exceed, was {unit(backdrop.floor)}. Words are reported as changed if q ≤ {alpha:g}{stands_out} and if the "
        f"gap exceeded the noise floor; otherwise as stable if the whole interval of the gap was below the noise "
        f"floor, as differing if q ≤ {alpha:g}, and as unclear if not. Words that could not be tested because they "
        f"were at least {MIN_RATIO:g} times as frequent in one corpus as in the other are reported as appeared or "
        f"disappeared."
    )


def _appeared_words(result: Result) -> str:
    assert result.appeared_words is not None
    alpha, least = result.settings["alpha"], result.settings["min_usages"]
    return (
        f"All words of the corpora were also counted. A word is listed as appeared or disappeared if it occurred at "
        f"least {MIN_PRESENT} times in one corpus, but fewer than {least} times and at most 1/{MIN_RATIO:g} as often "
        f"in the other one; if an exact test of equal frequencies was significant (q ≤ {alpha:g} over "
        f"{result.appeared_words.tested:,} content words, Benjamini-Hochberg); and if it occurred in {MIN_DOCUMENTS} "
        f"or more documents, or in all documents of a corpus with fewer."
    )


def _percent(backdrop: Backdrop) -> str:
    return f"{100 * (backdrop.common_shift or 0.0):.0f}%"


def _groups(result: Result) -> str:
    comparison, settings = result.group_comparison, result.settings
    assert comparison is not None
    names, alpha = f"{', '.join(comparison.names[:-1])} and {comparison.names[-1]}", settings["alpha"]
    what = "folder of the files" if comparison.column == FOLDER else comparison.column
    n_tests, n_pairs = (
        sum(part is not None for part in parts)
        for parts in ([change.test for change in comparison.changes], [pair.difference for pair in comparison.pairs])
    )
    return (
        f"To separate changes over time from changes in who is talking, the gap between the corpora was also estimated "
        f"within groups ({what}: {names}), for words with at least {settings['min_usages']} occurrences of a group in "
        f"each corpus. Within a group, significance was assessed by a permutation test of the energy distance, and "
        f"verdicts follow the same rule as for the corpora, with the same noise floor and control words. The "
        f"difference between the gaps of two groups was tested by reassigning whole documents of each corpus to the "
        f"groups at random (single occurrences, if a group had fewer than {MIN_TESTED_DOCUMENTS} documents in a "
        f"corpus), up to 10,000 times. The false discovery rate was controlled over the {n_tests:,} words and groups, "
        f"and over the {n_pairs:,} words and pairs of groups. A word is reported as having changed more in one group "
        f"than in another if it changed in that group and q ≤ {alpha:g} for the difference. It is reported as "
        f"differing by who is talking if it differs between the corpora, no group does (q > {alpha:g} for each group, "
        f"and p > {alpha:g} for all groups combined by Fisher's method), and the shares of the groups in its "
        f"occurrences differ (chi-squared test, p ≤ {alpha:g})."
    )


def _senses(result: Result) -> str:
    from lexshift.study.senses import ESTIMATED  # imported here because it is not needed without senses

    settings, alpha = result.settings, result.settings["alpha"]
    calibrated = (
        "estimated from the cosines between occurrences of the same word and of different words"
        if ESTIMATED in result.run["senses"]["notes"]
        else "calibrated for the encoder on other, sense-labelled words"
    )
    rule = _CLUSTERINGS[settings["clustering"]]
    if settings["inventory"] is None:
        division = f"divided into senses by {rule}"
    else:
        division = f"assigned to the senses of an inventory, or to new senses that were found by {rule}"
    share = result.run["senses"].get("selected_share", 1)
    words, selected = "each word", ""
    if share < 1:
        n = result.run["senses"]["words"]
        words = "the changed word" if n == 1 else f"each of the {n:,} changed words with the highest scores"
        selected = (
            f"; because these words were selected, q was divided by {share:.3g}, their share of the tested words "
            "(Benjamini and Bogomolov, 2014)"
        )
    return (
        f"The occurrences of {words} in both corpora together were {division}. The probability that two occurrences "
        f"share a sense, given the cosine of their embeddings, was {calibrated}. For each sense, p is the probability "
        f"of a difference between its shares in the two corpora at least as large, if occurrences (or whole documents, "
        f"where a document contains several of them) were assigned to the corpora at random. The false discovery rate "
        f"over all senses of all words was controlled with the Benjamini-Hochberg procedure{selected}, and senses with "
        f"q ≤ {alpha:g} are reported as changed. Shares are given with {settings['confidence']:.0%} Jeffreys intervals."
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
    return "".join([first[0], *(f" (for {n:,} {'word' if n == 1 else 'words'}, {what})" for what, n in others)])


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
        size = f"{with_unit(corpus['words'], 'words')} in {with_unit(corpus['files'], 'files')}"
        origin = (
            corpus["path"] if "path" in corpus else f"{corpus['object']} of {with_unit(corpus['records'], 'records')}"
        )
        table.append((f"corpus {corpus['name']}", f"{origin}, {size}, content {corpus['content'][:16]}…"))
    return [*table, ("lexshift", result.run["lexshift"]), *sorted(result.run["versions"].items())]
