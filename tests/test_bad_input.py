"""Test that every mistake is a ValueError that names the argument and the value."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lexshift
from lexshift import SSCD, Gaussian, Metric, UserError, register, search_rate, sweep
from lexshift.benchmark import published_code
from lexshift.scoring.distance import CLOSED_FORM, get
from lexshift.store.embedding import ENCODING

RNG = np.random.default_rng(0)
OLD, NEW = RNG.normal(size=(6, 4)), RNG.normal(1, 1, (7, 4))
WORDS = {"good": (OLD, NEW), "bad": (OLD, NEW)}


def with_value(value: float, row: int, dimension: int) -> Any:
    rows = NEW.copy()
    rows[row, dimension] = value
    return rows


class Unconvertible:
    """Object like a tensor on another device or with gradients."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("can't convert cuda:0 device type tensor to numpy")


ROWS: dict[str, tuple[Any, str]] = {
    "none": (None, "must be a 2-D array"),
    "a number": (1.5, "must be a 2-D array"),
    "a string": ("mouse", "must be a 2-D array"),
    "an empty list": ([], r"must be a 2-D array.* shape \(0,\)"),
    "1-D": ([1.0, 2.0], r"must be a 2-D array.* got 1-D of shape \(2,\)"),
    "3-D": (NEW[None], r"must be a 2-D array.* got 3-D of shape \(1, 7, 4\)"),
    "ragged": ([[1.0, 2.0], [3.0]], "must be a 2-D array"),
    "strings": ([["a", "b"], ["c", "d"]], "must hold real numbers; got an array of <U1"),
    "numbers in strings": ([["1", "2"], ["3", "4"]], "must hold real numbers; got an array of <U1"),
    "a none inside": ([[1.0, None], [2.0, 3.0]], "must hold real numbers; got an array of object"),
    "complex": (NEW + 1j, "must hold real numbers; got an array of complex128"),
    "dates": (np.zeros((3, 4), "M8[s]"), "must hold real numbers; got an array of datetime64"),
    "no rows": (NEW[:0], "has no rows; .* at least 2"),
    "one row": (NEW[:1], "has 1 row; .* at least 2"),
    "no dimensions": (NEW[:, :0], r"0 dimensions \(shape \(7, 0\)\)"),
    "nan": (with_value(np.nan, 3, 2), "holds nan at row 3, dimension 2"),
    "inf": (with_value(np.inf, 6, 0), "holds inf at row 6, dimension 0"),
    "minus inf": (with_value(-np.inf, 0, 3), "holds -inf at row 0, dimension 3"),
    "nan in float32": (np.float32(with_value(np.nan, 1, 1)), "holds nan at row 1, dimension 1"),
    "too large": (NEW * 1e200, "too large"),
    "not convertible": (Unconvertible(), "can't convert cuda:0"),
    "masked": (np.ma.masked_less(NEW, 0.5), "masked"),
}
SCORERS: dict[str, Callable[[Any, Any], Any]] = {
    "score": SSCD().score,
    "score by distance": SSCD(strategy="distance").score,
    "sweep": sweep,
    "sweep apd": lambda old, new: sweep(old, new, ["apd"]),
    "published": lambda old, new: published_code.e_swap(old, new, "cosine", 0.4, 1),
}


@pytest.mark.parametrize("case", ROWS)
@pytest.mark.parametrize("scorer", ["score", "score by distance", "sweep", "sweep apd"])
@pytest.mark.parametrize("side", ["old", "new"])
def test_invalid_rows_are_refused_by_name(scorer: str, case: str, side: str) -> None:
    rows, message = ROWS[case]
    with pytest.raises(ValueError, match=f"^{side} .*{message}"):
        SCORERS[scorer](*((rows, OLD) if side == "old" else (OLD, rows)))


@pytest.mark.parametrize("case", ROWS)
def test_gaussian_refuses_invalid_rows(case: str) -> None:
    rows, message = ROWS[case]
    with pytest.raises(ValueError, match=f"^rows .*{message}"):
        Gaussian.fit(rows)


@pytest.mark.parametrize("scorer", SCORERS)
def test_different_dimensions_are_refused(scorer: str) -> None:
    with pytest.raises(ValueError, match="old and new must have the same number of dimensions; got 4 and 3"):
        SCORERS[scorer](OLD, NEW[:, :3])


@pytest.mark.parametrize("metric", CLOSED_FORM)
def test_metrics_refuse_gaussians_of_different_dimensions(metric: str) -> None:
    with pytest.raises(ValueError, match=r"dimensions.* 4 and 3"):
        get(metric)(Gaussian.fit(OLD), Gaussian.fit(NEW[:, :3]))


NOT_RATES = [
    -0.1,
    1.1,
    -1e-12,
    1 + 1e-12,
    np.nan,
    np.inf,
    -np.inf,
    "0.4",
    b"0.4",
    True,
    np.True_,
    None,
    [0.4],
    {},
    0.4j,
]
NOT_RATES += [Decimal("nan"), Fraction(3, 2), np.datetime64("2020"), np.array([0.4]), np.array("0.4")]
NOT_COUNTS = [0, -1, 2.5, 1.0, True, None, "3", np.nan, np.inf, [3], np.array([3])]
NOT_SEEDS = [-1, 1.5, 1.0, None, True, "1", np.nan, [1]]
NOT_SIZES = [5, (1,), (1, 2, 3), (), "ab", (0, 1), (1, 0), (-1, 1), (1.5, 2), (1, None), (True, 1), (np.nan, 1), {}]
NOT_STRATEGIES = ["", "Random", "far", None, 1, ["random"], ("random",)]
NOT_METRICS = ["", "KL", "euclid", None, 1, ["kl"], b"kl", Metric]

CASES: list[tuple[str, Any]] = [
    *(("rate", value) for value in NOT_RATES),
    *(("repeats", value) for value in NOT_COUNTS),
    *(("seed", value) for value in NOT_SEEDS),
    *(("corpus_sizes", value) for value in NOT_SIZES),
    *(("strategy", value) for value in NOT_STRATEGIES),
    *(("metric", value) for value in NOT_METRICS),
]


def shown(name: str, value: Any) -> str:
    """Return a pattern of the argument followed by the value or, for a pair, by one of its parts."""
    parts = value if name == "corpus_sizes" and isinstance(value, (tuple, str)) and len(value) == 2 else [value]
    return f"{name}.* got ({'|'.join(re.escape(repr(part)) for part in (value, *parts))})"


def identify(value: Any) -> str:
    return repr(value)


@pytest.mark.parametrize(("name", "value"), CASES, ids=identify)
def test_sscd_refuses_invalid_arguments(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=shown(name, value)):
        SSCD(**{name: value})


@pytest.mark.parametrize(("name", "value"), [case for case in CASES if case[0] not in ("rate", "metric")], ids=identify)
@pytest.mark.parametrize("searching", [False, True])
def test_sweep_and_search_rate_refuse_invalid_arguments(searching: bool, name: str, value: Any) -> None:
    arguments: dict[str, Any] = {name: value}
    with pytest.raises(ValueError, match=shown(name, value)):
        search_rate(WORDS, **arguments) if searching else sweep(OLD, NEW, **arguments)


@pytest.mark.parametrize("value", NOT_RATES, ids=identify)
def test_every_rate_is_checked(value: Any) -> None:
    with pytest.raises(ValueError, match=shown("rates", value)):
        sweep(OLD, NEW, rates=[0.4, value])
    with pytest.raises(ValueError, match=shown("rates", value)):
        search_rate(WORDS, rates=[0.4, value])


@pytest.mark.parametrize("value", NOT_METRICS, ids=identify)
def test_every_metric_is_checked(value: Any) -> None:
    with pytest.raises(ValueError, match=shown("metric", value)):
        sweep(OLD, NEW, metrics=["kl", value])
    with pytest.raises(ValueError, match=shown("metric", value)):
        search_rate(WORDS, metric=value)


@pytest.mark.parametrize("rates", [[], (), np.array([]), 0.4, np.array(0.4), None, "0.4"], ids=identify)
def test_rates_must_be_a_nonempty_sequence(rates: Any) -> None:
    with pytest.raises(ValueError, match=r"rates must .*got (none|None|0\.4|'0\.4'|array\(0\.4\))"):
        sweep(OLD, NEW, rates=rates)
    with pytest.raises(ValueError, match=r"rates must .*got (none|None|0\.4|'0\.4'|array\(0\.4\))"):
        search_rate(WORDS, rates=rates)


@pytest.mark.parametrize("metrics", [[], (), None, 5], ids=identify)
def test_metrics_must_be_a_nonempty_sequence(metrics: Any) -> None:
    with pytest.raises(ValueError, match=r"metrics must .*got (none|None|5)"):
        sweep(OLD, NEW, metrics=metrics)


def test_single_metric_needs_no_list() -> None:
    assert sweep(OLD, NEW, metrics="cosine").metrics == ("cosine",)


@pytest.mark.parametrize(
    ("name", "meant"), [("cosin", "cosine"), ("jeffrey", "jeffreys"), ("dscd-eucliden", "dscd-euclidean")]
)
def test_misspelt_metric_is_answered_with_a_suggestion(name: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"got '{name}'; did you mean '{meant}'\\?"):
        SSCD(metric=name)


def test_misspelt_strategy_is_answered_with_a_suggestion() -> None:
    with pytest.raises(
        ValueError, match=r"strategy must be one of distance, random; got 'rando'; did you mean 'random'\?"
    ):
        SSCD(strategy="rando")  # type: ignore[arg-type]


ALL_WORDS: dict[str, Callable[..., Any]] = {"score_words": SSCD().score_words, "search_rate": search_rate}


@pytest.mark.parametrize("function", ALL_WORDS)
@pytest.mark.parametrize("case", ROWS)
def test_error_names_its_word(function: str, case: str) -> None:
    rows, message = ROWS[case]
    with pytest.raises(ValueError, match=f"^'bad': new .*{message}"):
        ALL_WORDS[function](WORDS | {"bad": (OLD, rows)})


@pytest.mark.parametrize("function", ALL_WORDS)
@pytest.mark.parametrize("pair", [None, 5, (OLD,), (OLD, NEW, NEW), OLD, ()], ids=["none", "5", "1", "3", "rows", "0"])
def test_word_without_its_two_sets_is_named_with_the_remedy(function: str, pair: Any) -> None:
    with pytest.raises(ValueError, match=r"'bad'.*\(old, new\)"):
        ALL_WORDS[function](WORDS | {"bad": pair})


@pytest.mark.parametrize("function", ALL_WORDS)
@pytest.mark.parametrize(
    "words", [None, 5, ["mouse"], [("mouse", (OLD, NEW))], "mouse"], ids=lambda v: type(v).__name__
)
def test_words_must_be_a_mapping(function: str, words: Any) -> None:
    with pytest.raises(ValueError, match=r"^words must"):
        ALL_WORDS[function](words)


@pytest.mark.parametrize("function", ALL_WORDS)
@pytest.mark.parametrize("workers", [value for value in NOT_COUNTS if value is not None], ids=identify)
def test_workers_must_be_an_integer(function: str, workers: Any) -> None:
    with pytest.raises(ValueError, match=shown("workers", workers)):
        ALL_WORDS[function](WORDS, workers=workers)


def test_no_words_give_no_scores() -> None:
    assert SSCD().score_words({}) == {}


@pytest.mark.parametrize("metric", ["cosine", "braycurtis", "dscd-cosine", "correlation", "dscd-correlation"])
def test_undefined_distance_is_refused_by_name_and_never_nan(metric: str) -> None:
    zeros = np.zeros((5, 4))
    with pytest.raises(ValueError, match=f"metric '{metric}' is undefined for these sets: its value is nan"):
        SSCD(metric).score(zeros, zeros)


@pytest.mark.parametrize("value", [0.5, 0.1])
def test_constant_mean_vector_has_no_correlation(value: float) -> None:
    with pytest.raises(ValueError, match="metric 'correlation' is undefined"):
        SSCD("correlation").score(np.full((5, 3), value), NEW[:, :3])


def test_apd_refuses_a_row_without_direction() -> None:
    rows = NEW.copy()
    rows[4] = 0
    with pytest.raises(ValueError, match=r"^new has a row of zeros \(row 4\)"):
        SSCD("apd").score(OLD, rows)


@pytest.mark.parametrize("metric", [*CLOSED_FORM, *(f"dscd-{m}" for m in CLOSED_FORM[3:]), "dscd-cosine:sampled"])
def test_sets_without_any_variance_give_finite_scores(metric: str) -> None:
    old, new = np.tile([1.0, 2.0, 3.0, 5.0], (4, 1)), np.tile([2.0, 1.0, 3.0, 4.0], (5, 1))
    change = SSCD(metric, repeats=2).score(old, new)
    assert np.isfinite([change.score, change.e_original, *change.e_swap]).all()
    assert change.e_original > 0


@pytest.mark.parametrize("value", [None, "kl", 5, Metric])
def test_only_metrics_are_registered(value: Any) -> None:
    with pytest.raises(ValueError, match=f"metric must be a lexshift.Metric; got {re.escape(repr(value))}"):
        register(value)


def test_name_is_registered_once_unless_replaced() -> None:
    with pytest.raises(ValueError, match="'kl' is already registered"):
        register(Metric("kl", get("cosine").between))
    register(Metric("kl", get("cosine").between), replace=True)
    assert SSCD("kl").score(OLD, NEW).e_original == SSCD("cosine").score(OLD, NEW).e_original


def test_metric_of_the_wrong_shape_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"metric 'mine' returned shape \(1, 4\) for 1 pairs"):
        SSCD(Metric("mine", lambda old, new: abs(old.mean - new.mean))).score(OLD, NEW)


def test_metric_that_returns_nan_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"metric 'mine' is undefined .* value is nan"):
        SSCD(Metric("mine", lambda old, new: (old.mean - new.mean)[:, 0] * np.nan)).score(OLD, NEW)


@pytest.mark.parametrize(
    "rate", [0, 1, 0.5, np.float32(0.5), np.float64(0.5), np.int64(1), Fraction(1, 2), Decimal("0.5")]
)
def test_numbers_of_any_type_are_accepted_as_rates(rate: Any) -> None:
    assert SSCD(rate=rate).score(OLD, NEW).swap_count == round(6 * float(rate))


# -------------------------------------------------------------------------------------------- unknown keyword arguments


class _Encoder:
    def encode(self, sentences: list[str], spans: list[tuple[int, int]]) -> Any:  # noqa: ARG002
        raise AssertionError("nothing is to be encoded")


@pytest.mark.parametrize("model", [_Encoder(), "minilm", "no/such/model"], ids=["encoder", "name", "missing"])
@pytest.mark.parametrize(
    ("function", "option", "message"),
    [
        ("compare", "top_word", "compare has no argument 'top_word'; did you mean 'top_words'?"),
        ("compare", "encodng", "compare has no argument 'encodng'; did you mean 'encoding'?"),
        ("compare", "qqq", "compare has no argument 'qqq'"),
        ("trace", "lables", "trace has no argument 'lables'; did you mean 'labels'?"),
        ("discover", "batch_token", "discover has no argument 'batch_token'; did you mean 'batch_tokens'?"),
        (
            "discover",
            "words",
            "discover takes no words, because it tests all of them; use compare or trace to choose words",
        ),
        ("embed", "max_per_words", "embed has no argument 'max_per_words'; did you mean 'max_per_word'?"),
        ("embed_usages", "split", "embed_usages has no argument 'split'"),
        ("simulate", "langauge", "simulate has no argument 'langauge'; did you mean 'language'?"),
        ("power", "langauge", "power has no argument 'langauge'; did you mean 'language'?"),
    ],
)
def test_unknown_argument_is_named_before_anything_is_read(
    tmp_path: Path, model: Any, function: str, option: str, message: str
) -> None:
    call = getattr(lexshift, function)
    given: dict[str, Any] = {} if function == "simulate" else {"model": model}
    if function in ("compare", "trace", "embed"):
        given["words"] = ["mouse"]
    if function != "power":
        given["out"] = tmp_path / "out"
    places = [None] if function == "embed_usages" else [tmp_path / "none.txt", tmp_path / "no.txt"]
    with pytest.raises(UserError) as caught:
        call(*places, **given, **{option: ["mouse"]})
    assert str(caught.value) == message
    assert list(tmp_path.iterdir()) == []


def test_options_of_an_encoder_are_those_that_it_accepts() -> None:
    parameters = inspect.signature(lexshift.encode.HuggingFaceEncoder).parameters.values()
    taken = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY} - {"name", "adaptation"}
    assert set(ENCODING) == taken | {"revision"}
