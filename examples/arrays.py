"""SSCD on arrays: made-up words, of which some are given a new sense in the new corpus.

Each occurrence of a word is a vector near one of the word's senses. A word that changed has a share of its new
occurrences near a sense that the old corpus does not know. Run it with `python examples/arrays.py`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from lexshift import SSCD, benjamini_hochberg, bootstrap, decide, permutation_test, search_rate

Vectors = npt.NDArray[np.float32]

D = 128  # dimensions of the made-up encoder
NEW_SENSE = {"mouse": 0.6, "cloud": 0.5, "tablet": 0.4, "stream": 0.2, "bread": 0.0, "river": 0.0, "stone": 0.0}


def siblings(share: float, rng: np.random.Generator) -> tuple[Vectors, Vectors]:
    """Vectors of a word in both corpora; ``share`` of the new ones have a sense that the old ones have not."""
    n_old, n_new = rng.integers(60, 400, 2)
    known, unknown = rng.normal(size=(2, D)) * 0.4
    encoder_mean = np.linspace(-1, 1, D)  # what all vectors of an encoder have in common
    old = encoder_mean + known + rng.normal(size=(n_old, D))
    new = encoder_mean + np.where(rng.random((n_new, 1)) < share, unknown, known) + rng.normal(size=(n_new, D))
    return old.astype(np.float32), new.astype(np.float32)


def main() -> None:
    """Score the words, test them, and print a table, the most changed word first."""
    rng = np.random.default_rng(7)
    words = {word: siblings(share, rng) for word, share in NEW_SENSE.items()}

    metric = "cosine"
    curve = search_rate(words, metric=metric)
    sscd = SSCD(metric=metric, rate=curve.rate)
    print(f"swap rate found without labels: {curve.rate} (closed form: {curve.closed_form:.2f})\n")

    changes = sscd.score_words(words)
    p = [permutation_test(old, new, metric, word=word).p for word, (old, new) in words.items()]
    q = benjamini_hochberg(p)
    changed = decide(q, alpha=0.05)

    print(f"{'word':8} {'new sense':>9} {'old':>5} {'new':>5} {'score':>7}  {'95 % interval':>16} {'p':>8} {'q':>8}")
    rows = zip(words, p, q, changed, strict=True)
    for word, p_value, q_value, is_changed in sorted(rows, key=lambda row: -changes[row[0]].score):
        old, new = words[word]
        change, interval = changes[word], bootstrap(old, new, sscd, word=word)
        print(
            f"{word:8} {NEW_SENSE[word]:9.0%} {change.n_old:5} {change.n_new:5} {change.score:7.4f}  "
            f"[{interval.low:.4f}, {interval.high:.4f}] {p_value:8.5f} {q_value:8.5f}  "
            f"{'changed' if is_changed else 'stable'}"
        )


if __name__ == "__main__":
    main()
