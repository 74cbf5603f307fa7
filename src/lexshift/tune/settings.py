"""Settings of training, each defined once with its default, its check and its help text.

The options of ``lexshift tune`` are derived from these classes.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import asdict, dataclass, field
from typing import Any

from lexshift.errors import UserError
from lexshift.utils import checks

_EVALUATIONS = 10  # of a run, by default
_WHOLE = {"epochs": 2.0, "batch": 16, "learning_rate": 5e-5}
_LIGHT = {"epochs": 20.0, "batch": 64, "learning_rate": 1e-3}


def _setting(default: Any, help: str, *flags: str) -> Any:  # noqa: A002
    return field(default=default, metadata={"help": help, "flags": flags})


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """Settings common to all kinds of training.

    Attributes
    ----------
    epochs : float
        Number of times that each example is seen.
    steps : int, optional
        Maximum number of steps.
    batch : int
        Number of examples per step.
    accumulate : int
        Number of parts in which the examples of a step are processed, to save memory.
    learning_rate : float
        Peak learning rate: it rises during the first tenth of the steps and then falls to 0.
    every : int, optional
        Number of steps between two evaluations on held-out examples, each with a checkpoint; by default a tenth of all
        steps.
    patience : int
        Number of evaluations without a better result after which training ends; 0 for never.
    held_out : float
        Share of the examples that is not trained on but evaluated.
    window : int
        Maximum number of pieces of a sentence.
    seed : int
    device : "auto", "cpu", "cuda" or "mps"
    """

    # fmt: off
    epochs: float = _setting(1.0, "Number of times that each example is seen.")
    steps: int | None = _setting(None, "Maximum number of steps.")
    batch: int = _setting(32, "Number of examples per step.")
    accumulate: int = _setting(1, "Number of parts into which a step is divided, to save memory.")
    learning_rate: float = _setting(5e-5, "Peak learning rate, reached after a tenth of the steps.")
    every: int | None = _setting(
        None, "Number of steps between evaluations and checkpoints (default: a tenth of all).")
    patience: int = _setting(3, "Number of evaluations without progress after which to stop; 0 for never.")
    held_out: float = _setting(0.05, "Share of the examples held out for evaluation.")
    window: int = _setting(128, "Maximum number of subwords per sentence.")
    seed: int = _setting(0, "Seed for new weights, dropout, samples and masks.")
    device: str = _setting("auto", "Device: auto, cpu, cuda or mps.")
    # fmt: on

    def __post_init__(self) -> None:
        for name in ("batch", "accumulate", "window"):
            self._set(name, checks.positive(getattr(self, name), name))
        for name in ("steps", "every"):
            if getattr(self, name) is not None:
                self._set(name, checks.positive(getattr(self, name), name))
        for name in ("epochs", "learning_rate"):
            value = getattr(self, name)
            if not _is_number(value) or not 0 < value < math.inf:
                raise UserError(f"{name} must be a number above 0; got {value!r}")
            self._set(name, float(value))
        self._set("patience", checks.positive(self.patience, "patience", 0))
        self._set("held_out", checks.between_0_and_1(self.held_out, "held_out"))
        self._set("seed", checks.seed(self.seed))
        if self.batch % self.accumulate:
            raise UserError(f"accumulate must divide the batch of {self.batch}; got {self.accumulate}")

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def total(self, examples: int) -> int:
        """Return the number of steps of a run.

        >>> TrainingSettings(epochs=2, batch=10).total(95), TrainingSettings(steps=7, batch=10).total(95)
        (20, 7)
        """
        batches = -(-examples // self.batch)
        steps = max(1, round(self.epochs * batches))
        return steps if self.steps is None else min(self.steps, steps)

    def between(self, total: int) -> int:
        """Return the number of steps between two evaluations in a run of ``total`` steps."""
        return min(total, self.every or max(1, -(-total // _EVALUATIONS)))

    def record(self) -> dict[str, Any]:
        """Return the settings that affect the tuned model: all but the device."""
        return {name: value for name, value in asdict(self).items() if name != "device"}


@dataclass(frozen=True, kw_only=True)
class LanguageSettings(TrainingSettings):
    """Settings of training a masked language model.

    Attributes
    ----------
    mask : float
        Share of the words that are masked.
    max_sentences : int
        Maximum number of sentences of a corpus, drawn at random.
    """

    mask: float = _setting(0.15, "Share of the words that are masked.")
    max_sentences: int = _setting(100_000, "Maximum number of sentences per corpus, drawn at random.")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("mask", checks.between_0_and_1(self.mask, "mask"))
        self._set("max_sentences", checks.positive(self.max_sentences, "max_sentences"))


@dataclass(frozen=True, kw_only=True)
class TimeSettings(LanguageSettings):
    """Settings of training a masked language model on the time of a text.

    Attributes
    ----------
    attention : bool
        Whether every layer has temporal attention.
    tokens : bool, optional
        Whether there are time tokens; by default if there is no temporal attention.
    time_mask : float
        Share of the time tokens that are masked.
    """

    # fmt: off
    attention: bool = _setting(False, "Add temporal attention to every layer.", "--attention")
    tokens: bool | None = _setting(
        None, "Add time tokens (default: only without --attention).", "--tokens/--no-tokens")
    time_mask: float = _setting(0.5, "Share of the time tokens that are masked.")
    # fmt: on

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tokens is None:
            self._set("tokens", not self.attention)
        if not self.tokens and not self.attention:
            raise UserError("tuning on time needs tokens, attention or both; neither is enabled")
        if not _is_number(self.time_mask) or not 0 <= self.time_mask <= 1:
            raise UserError(f"time_mask must be between 0 and 1; got {self.time_mask!r}")
        self._set("time_mask", float(self.time_mask))


@dataclass(frozen=True, kw_only=True)
class PairSettings(TrainingSettings):
    """Settings of training on pairs of usages.

    ``epochs``, ``batch`` and ``learning_rate`` are 2, 16 and 5e-5 by default, and 20, 64 and 1e-3 for a projection.

    Attributes
    ----------
    light : bool
        Train only a projection of the model's vectors, which takes minutes; ``pooling``, ``margin`` and ``window`` are
        then those of the model.
    pooling : "sentence" or "mean"
        Tokens whose mean is the vector of a usage: all of its sentence, as in XL-LEXEME, or the word's pieces.
    margin : float
        Cosine distance beyond which usages of different meanings add nothing to the loss.
    """

    # fmt: off
    light: bool = _setting(False, "Train only a projection of the model's vectors, which takes minutes.", "--light")
    epochs: float = _setting(None, "Number of times that each example is seen (default: 2, with --light 20).")
    batch: int = _setting(None, "Number of examples per step (default: 16, with --light 64).")
    learning_rate: float = _setting(
        None, "Peak learning rate, reached after a tenth of the steps (default: 5e-5, with --light 1e-3).")
    held_out: float = _setting(0.1, "Share of the pairs held out for evaluation.")
    pooling: str = _setting(
        "sentence", "Tokens to average: sentence for all of them, mean for those of the word.")
    margin: float = _setting(0.5, "Cosine distance beyond which different meanings add nothing to the loss.")
    # fmt: on

    def __post_init__(self) -> None:
        for name, value in (_LIGHT if self.light else _WHOLE).items():
            if getattr(self, name) is None:
                self._set(name, value)
        super().__post_init__()
        checks.choice(self.pooling, "pooling", ("sentence", "mean"))
        if not _is_number(self.margin) or not 0 < self.margin <= 2:
            raise UserError(f"margin must be above 0 and at most 2, the largest cosine distance; got {self.margin!r}")

    def record(self) -> dict[str, Any]:
        """Return the settings that affect the tuned model."""
        unused = ("pooling", "margin", "window") if self.light else ()
        return {name: value for name, value in super().record().items() if name not in unused}


@dataclass(frozen=True, kw_only=True)
class SenseSettings(TrainingSettings):
    """Settings of tuning on dictionaries and sense-labelled text.

    ``learning_rate`` is 1e-3 by default, and 1e-4 if all weights are tuned.

    Attributes
    ----------
    adapter : bool
        Train changes of low rank, which are stored as a small adapter of the base model; otherwise all weights of the
        tuned layers are trained, and the whole model is stored.
    rank : int
        Rank of these changes.
    tuned_layers : int, optional
        Number of upper layers that are tuned; all by default.
    max_senses, max_usages : int
        Maximum number of senses of a lemma in a step, and of usages of a sense.
    """

    # fmt: off
    epochs: float = _setting(3.0, "Number of times that each lemma is seen.")
    batch: int = _setting(24, "Number of lemmas per step.")
    learning_rate: float = _setting(
        None, "Learning rate after the first tenth of the steps (default: 1e-3, with --full 1e-4).")
    held_out: float = _setting(0.05, "Share of the lemmas that is not trained on but evaluated.")
    window: int = _setting(56, "Maximum number of pieces of a sentence.")
    adapter: bool = _setting(True, "Train a small adapter, or all weights of the tuned layers.", "--adapter/--full")
    rank: int = _setting(32, "Rank of the adapter.")
    tuned_layers: int | None = _setting(None, "Number of upper layers that are tuned (default: all).")
    max_senses: int = _setting(4, "Maximum number of senses of a lemma in a step.")
    max_usages: int = _setting(3, "Maximum number of usages of a sense in a step.")
    # fmt: on

    def __post_init__(self) -> None:
        rate: float | None = self.learning_rate
        self._set("learning_rate", (1e-3 if self.adapter else 1e-4) if rate is None else rate)
        super().__post_init__()
        for name in ("rank", "max_senses", "max_usages"):
            self._set(name, checks.positive(getattr(self, name), name, 2 if name == "max_senses" else 1))
        if self.tuned_layers is not None:
            self._set("tuned_layers", checks.positive(self.tuned_layers, "tuned_layers"))
