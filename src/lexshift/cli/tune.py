"""lexshift tune: adapt an encoder to corpora, to the time of a text, or to the senses of words in context."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexshift.cli import options
from lexshift.errors import UserError
from lexshift.tune.settings import LanguageSettings, PairSettings, SenseSettings, TimeSettings

if TYPE_CHECKING:
    from lexshift.tune import TunedModel

app = typer.Typer(no_args_is_help=True)

HELP = {"model": "Model to begin with: minilm, multilingual, a folder, or a model on the Hugging Face hub."}

Out = Annotated[
    str,
    typer.Option("--out", "-o", metavar="DIR", help="Folder for the tuned model."),
]
Corpora = Annotated[
    list[str],
    typer.Argument(metavar="OLD NEW", help="Corpora: text files, tables, folders, patterns; also .gz and .zst."),
]


@app.command("mlm", cls=options.Command)
@options.with_settings("model", *options.UNDATED_OPTIONS, "revision", helps=HELP, model="minilm")
def mlm(*, corpora: Corpora, out: Out, settings: dict[str, Any], training: LanguageSettings) -> None:
    """Continue the pretraining of a masked language model on corpora. An interrupted run resumes where it stopped."""
    from lexshift.tune import tune_mlm

    _run(tune_mlm, corpora, out=out, settings=training, **settings)


@app.command("time", cls=options.Command)
@options.with_settings("model", "labels", *options.UNDATED_OPTIONS, "revision", helps=HELP, model="minilm")
def time(*, corpora: Corpora, out: Out, settings: dict[str, Any], training: TimeSettings) -> None:
    """Train a model to use the period of a text, given as a token before each sentence or in its attention."""
    from lexshift.tune import tune_time

    _run(tune_time, corpora, out=out, settings=training, **settings)


@app.command("wic", cls=options.Command)
@options.with_settings("model", "revision", helps=HELP, model="minilm")
def wic(
    *,
    pairs: Annotated[
        list[str], typer.Argument(metavar="PAIRS", help="WiC data files or folders, or tables of pairs of usages.")
    ],
    out: Out,
    dev: Annotated[
        list[str] | None,
        typer.Option(help="Pairs for reporting AUC and accuracy; not used in training."),
    ] = None,
    settings: dict[str, Any],
    training: PairSettings,
) -> None:
    """Tune an encoder on pairs of usages with the same or different meanings, as XL-LEXEME does."""
    from lexshift.tune import tune_wic

    _run(tune_wic, pairs, out=out, dev=dev or (), settings=training, **settings)


@app.command("senses", cls=options.Command)
@options.with_settings("model", "language", "revision", helps=HELP, model="minilm")
def senses(
    *,
    dictionaries: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA",
            help="WordNet folders, wordnets (LMF files or wn:LEXICON), tables of senses, or sense-labelled sentences.",
        ),
    ],
    out: Out,
    weights: Annotated[
        str | None, typer.Option(metavar="A,B,...", help="Relative share of each DATA in training (default: equal).")
    ] = None,
    dev: Annotated[
        list[str] | None,
        typer.Option(help="Pairs for reporting AUC and accuracy; their sentences are not trained on."),
    ] = None,
    settings: dict[str, Any],
    training: SenseSettings,
) -> None:
    """Tune an encoder on dictionaries and sense-labelled text, so that it tells the senses of words apart."""
    from lexshift.tune import tune_senses

    try:
        shares = None if weights is None else [float(weight) for weight in weights.split(",")]
    except ValueError:
        raise UserError(f"weights must be numbers with commas between them; got {weights!r}") from None
    _run(tune_senses, dictionaries, out=out, weights=shares, dev=dev or (), settings=training, **settings)


def _run(tune: Callable[..., TunedModel], inputs: list[str], **arguments: Any) -> None:
    """Tune a model and print the results."""
    from lexshift.cli.results import interruptible
    from lexshift.cli.terminal import out
    from lexshift.tune.evaluation import describe_results
    from lexshift.utils.progress import Bars
    from lexshift.utils.quantities import with_unit

    with interruptible(), Bars() as bars:
        tuned = tune(*inputs, monitor=bars, **arguments)
    run = tuned.run
    lines = [f"{tuned.folder}: tuned in {with_unit(run['steps'], 'steps')}, {run['seconds']:,.0f} s"]
    if "tuned" in run:
        lines += [f"untuned: {describe_results(run['untuned'])}", f"tuned:   {describe_results(run['tuned'])}"]
    else:
        before, after = (run[name]["perplexity"] for name in ("before", "after"))
        lines.append(f"perplexity on held-out sentences: {before:,.1f} before, {after:,.1f} after")
    if "period" in (run.get("after") or {}):
        lines.append(
            f"period of held-out sentences predicted: {run['after']['period']:.1%} (by chance {run['chance']:.1%})"
        )
    for line in lines:
        out.print(line, soft_wrap=True)
