"""Test swap counts normalised by corpus size, in sentences if known and otherwise in running words."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from lexshift import compare, discover, trace
from lexshift.scoring.swap import swap_count

FAST: dict[str, Any] = {
    "duplicates": "keep",
    "permutations": 19,
    "resamples": 2,
    "repeats": 1,
    "monitor": False,
    "max_per_word": None,
}


class Toy:
    def encode(self, sentences: Sequence[str], spans: Sequence[tuple[int, int]]) -> npt.NDArray[np.float32]:
        return np.array(
            [[len(s), start, len(s) % 7] for s, (start, _) in zip(sentences, spans, strict=True)], np.float32
        )


def sentences(n: int, seed: int) -> list[str]:
    """Return sentences of eight words, so that running words and sentences have the same ratio."""
    rng = random.Random(seed)
    return [f"The {rng.choice('abcdefgh')} of one mouse is {rng.choice(['here', 'there'])} today." for _ in range(n)]


def write_file(path: Path, lines: Sequence[str], per_line: int) -> Path:
    path.write_text("".join(" ".join(lines[i : i + per_line]) + "\n" for i in range(0, len(lines), per_line)))
    return path


def count_of(result: Any) -> int:
    score = result.scores["mouse", 0, 1] if hasattr(result, "steps") else result.scores.words["mouse"]
    return int(score.change.swap_count)


@pytest.mark.parametrize("n_new", [200, 80], ids=["of one size", "of two sizes"])
@pytest.mark.parametrize(("per_old", "per_new"), [(1, 1), (10, 1), (1, 10), (10, 4)])
@pytest.mark.parametrize("call", [compare, discover, trace], ids=lambda call: call.__name__)
def test_swap_count_does_not_depend_on_the_sentences_per_line(
    tmp_path: Path, call: Callable[..., Any], per_old: int, per_new: int, n_new: int
) -> None:
    old = write_file(tmp_path / "old.txt", sentences(200, 0), per_old)
    new = write_file(tmp_path / "new.txt", sentences(n_new, 1), per_new)
    words = {} if call is discover else {"words": ["mouse"]}
    result = call(old, new, model=Toy(), normalised=True, rate=0.5, **words, **FAST)
    assert count_of(result) == swap_count(200, n_new, 0.5, (200, n_new))
    settings = result.run["settings"]
    assert settings["normalised_by"] == ("sentences" if per_old == per_new == 1 else "words")


def test_unit_is_recorded_only_if_it_was_used(tmp_path: Path) -> None:
    old = write_file(tmp_path / "old.txt", sentences(20, 0), 1)
    new = write_file(tmp_path / "new.txt", sentences(20, 1), 1)
    assert "normalised_by" not in compare(old, new, ["mouse"], model=Toy(), **FAST).run["settings"]
