"""Values of options that the shell completes.

The values are listed here, so that completing them imports nothing; tests compare them with what the options accept.
Where no value fits, the shell completes file names.
"""

from __future__ import annotations

from collections.abc import Callable

_DISTANCES = ("braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "euclidean")
CHOICES: dict[str, tuple[str, ...]] = {
    "by": ("week", "month", "quarter", "year", "decade"),
    "clustering": ("graph", "agglomerative", "mixture", "affinity"),
    "control": ("auto", "none"),
    "device": ("auto", "cpu", "cuda", "mps"),
    "dtype": ("fp32", "bf16", "fp16", "int8"),
    "duplicates": ("once", "keep"),
    "engine": ("local", "ray"),
    "errors": ("strict", "replace"),
    "format": ("table", "csv", "json"),
    "match": ("word", "cased", "token", "lemma"),
    "metric": (
        *("nearest", "energy", "apd", "amd", "samd", "kl", "kl-reverse", "jeffreys"),
        *_DISTANCES,
        *(f"dscd-{distance}{mode}" for distance in _DISTANCES for mode in ("", ":expected", ":sampled")),
    ),
    "missing": ("error", "skip"),
    "model": ("auto", "minilm", "minilm-senses", "multilingual", "multilingual-senses"),
    "pooling": ("mean", "sum", "first", "sentence"),
    "precision": ("float32", "float16"),
    "preset": ("paper",),
    "rate": ("auto",),
    "space": ("auto", "raw", "centred", "standardised"),
    "split": ("auto", "lines", "prose", "wrapped"),
    "strategy": ("random", "distance"),
}
"""The values of each option that has a fixed set of them, or some with a special meaning."""


def completer(option: str) -> Callable[[str], list[str]] | None:
    """Return a function that completes the values of an option; None if it has no fixed values.

    >>> complete = completer("match")
    >>> complete and complete("c")
    ['cased']
    """
    if option not in CHOICES:
        return None
    return lambda incomplete: [value for value in CHOICES[option] if value.startswith(incomplete)]
