"""lexshift tune: adapt an encoder to corpora, to the time of a text, or to the meaning of a word in context."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lexshift.cli import options

if TYPE_CHECKING:
    from lexshift.tune.folder import TunedModel
    from lexshift.tune.schedule import Schedule

app = typer.Typer(no_args_is_help=True)

_HOW = "How it is trained"
_OUT = typer.Option("--out", "-o", metavar="DIR", help="Folder of the tuned model; it is then a --model.")
Out = Annotated[str, _OUT]
Corpora = Annotated[
    list[str], typer.Argument(metavar="OLD NEW", help="Text, tables, folders, patterns; .gz and .zst too.")
]
Epochs = Annotated[float | None, typer.Option(help="How often each example is seen.", rich_help_panel=_HOW)]
Steps = Annotated[int | None, typer.Option(help="At most so many.", rich_help_panel=_HOW)]
Batch = Annotated[int | None, typer.Option(help="Examples of a step.", rich_help_panel=_HOW)]
Accumulate = Annotated[
    int, typer.Option(help="Parts that a step is worked on in, to save memory.", rich_help_panel=_HOW)
]
Rate = Annotated[float | None, typer.Option(help="The learning rate.", rich_help_panel=_HOW)]
Every = Annotated[
    int | None,
    typer.Option(help="Steps between two looks at held-out examples, and checkpoints; a tenth.", rich_help_panel=_HOW),
]
Patience = Annotated[
    int, typer.Option(help="Looks without a better figure before it ends; 0 for never.", rich_help_panel=_HOW)
]
Seed = Annotated[int, typer.Option(help="Of every random choice.", rich_help_panel=_HOW)]
HeldOut = Annotated[float, typer.Option(help="The share that is looked at and not trained on.", rich_help_panel=_HOW)]
Window = Annotated[int, typer.Option(help="The most pieces of a sentence.", rich_help_panel=_HOW)]
Mask = Annotated[float, typer.Option(help="The share of words that are masked.", rich_help_panel=_HOW)]
MaxSentences = Annotated[int, typer.Option(help="Of a corpus, a random sample.", rich_help_panel=_HOW)]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or mps.", rich_help_panel=_HOW)]


@dataclass(frozen=True)
class Training(options.Group):
    """How a model is trained."""

    epochs: Epochs = None
    steps: Steps = None
    batch: Batch = None
    accumulate: Accumulate = 1
    rate: Rate = None
    every: Every = None
    patience: Patience = 3
    seed: Seed = 0
    device: Device = "auto"

    def schedule(self, usual: Schedule | None = None) -> Schedule:
        """What is asked for, and for the rest what is usual."""
        from lexshift.tune.schedule import Schedule

        left = {name for name in ("epochs", "batch", "rate") if getattr(self, name) is None}
        asked = {name: value for name, value in self.given().items() if name not in left}
        return replace(usual or Schedule(), **asked)


@app.command("mlm")
@options.grouped
def mlm(
    *,
    corpora: Corpora,
    out: Out,
    model: options.Model = "minilm",
    training: Training,
    held_out: HeldOut = 0.05,
    mask: Mask = 0.15,
    max_sentences: MaxSentences = 100_000,
    window: Window = 128,
    reading: options.Reading,
    revision: options.Revision = None,
) -> None:
    """Go on training a masked language model on corpora. A run that was stopped goes on where it was."""
    from lexshift.tune import tune_mlm

    _run(
        tune_mlm,
        corpora,
        out=out,
        model=model,
        schedule=training.schedule(),
        mask=mask,
        max_sentences=max_sentences,
        held_out=held_out,
        window=window,
        revision=revision,
        **reading.given(),
    )


@app.command("time")
@options.grouped
def time(
    *,
    corpora: Corpora,
    out: Out,
    model: options.Model = "minilm",
    labels: Annotated[str | None, typer.Option(help="Names of the periods, with commas; old,new for two.")] = None,
    attention: Annotated[bool, typer.Option("--attention", help="Temporal attention in every layer.")] = False,
    tokens: Annotated[
        bool | None, typer.Option("--tokens/--no-tokens", help="Time tokens; unless there is temporal attention.")
    ] = None,
    training: Training,
    held_out: HeldOut = 0.05,
    mask: Mask = 0.15,
    time_mask: Annotated[float, typer.Option(help="How often the time token is masked.", rich_help_panel=_HOW)] = 0.5,
    max_sentences: MaxSentences = 100_000,
    window: Window = 128,
    reading: options.Reading,
    revision: options.Revision = None,
) -> None:
    """Train a model to know the time of a text: by a token before each sentence, or by its attention."""
    from lexshift.tune import tune_time

    _run(
        tune_time,
        corpora,
        out=out,
        model=model,
        labels=labels.split(",") if labels else None,
        tokens=tokens,
        attention=attention,
        schedule=training.schedule(),
        mask=mask,
        time_mask=time_mask,
        max_sentences=max_sentences,
        held_out=held_out,
        window=window,
        revision=revision,
        **reading.given(),
    )


@app.command("wic")
@options.grouped
def wic(
    *,
    pairs: Annotated[
        list[str], typer.Argument(metavar="PAIRS", help="A data file or folder of WiC, or a table of pairs of usages.")
    ],
    out: Out,
    model: options.Model = "minilm",
    dev: Annotated[
        list[str] | None, typer.Option(help="Pairs to report the AUC and the accuracy on; they choose nothing.")
    ] = None,
    light: Annotated[
        bool, typer.Option("--light", help="Train a projection of the model's own vectors alone: minutes.")
    ] = False,
    pooling: Annotated[
        str, typer.Option(help="A usage's vector is the mean over its sentence, or its word.", rich_help_panel=_HOW)
    ] = "sentence",
    margin: Annotated[
        float, typer.Option(help="From this cosine distance on, meanings are far apart.", rich_help_panel=_HOW)
    ] = 0.5,
    training: Training,
    held_out: HeldOut = 0.1,
    window: Window = 128,
    revision: options.Revision = None,
) -> None:
    """Tune an encoder on pairs of usages that have the same meaning or not, as XL-LEXEME does."""
    from lexshift.tune import tune_wic
    from lexshift.tune.schedule import LIGHT, WHOLE

    _run(
        tune_wic,
        pairs,
        out=out,
        model=model,
        dev=dev or (),
        light=light,
        pooling=pooling,
        schedule=training.schedule(LIGHT if light else WHOLE),
        margin=margin,
        held_out=held_out,
        window=window,
        revision=revision,
    )


def _run(tune: Any, what: list[str], **settings: Any) -> None:
    from lexshift.cli.results import interruptible
    from lexshift.utils.progress import Bars

    with interruptible(), Bars() as bars:
        tuned: TunedModel = tune(*what, monitor=bars, **settings)
    _tell(tuned)


def _tell(tuned: TunedModel) -> None:
    """What came out, in a few lines."""
    from lexshift.cli.terminal import out
    from lexshift.tune.judging import told

    run = tuned.run
    out.print(f"{tuned.folder}: tuned in {run['steps']:,} steps, {run['seconds']:,.0f} s", soft_wrap=True)
    if "tuned" in run:
        out.print(f"untuned: {told(run['untuned'])}\ntuned:   {told(run['tuned'])}", soft_wrap=True)
        return
    before, after = run["before"], run["after"]
    out.print(
        f"perplexity on held-out sentences: {before['perplexity']:,.1f} before, {after['perplexity']:,.1f} after",
        soft_wrap=True,
    )
    if "period" in after:
        out.print(
            f"period of held-out sentences predicted: {after['period']:.1%} (by chance {run['chance']:.1%})",
            soft_wrap=True,
        )
