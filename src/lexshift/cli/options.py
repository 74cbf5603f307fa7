"""Options that several commands have: how text is read and how it is encoded."""

from __future__ import annotations

from typing import Annotated

import typer

_READING, _ENCODING, SCORES = "How text is read", "How it is encoded", "How change is scored"

Model = Annotated[str, typer.Option("--model", "-m", help="minilm, a folder, or a name on the hub.")]
Gold = Annotated[str | None, typer.Option(metavar="PATH", help="Gold of another release, or of word<TAB>value lines.")]
Match = Annotated[
    str,
    typer.Option(
        help="word, cased (case matters), token (exact, between white space) or lemma.", rich_help_panel=_READING
    ),
]
Split = Annotated[
    str,
    typer.Option(
        help="A line is a sentence (lines), a paragraph (prose) or a part of one (wrapped).", rich_help_panel=_READING
    ),
]
Language = Annotated[str, typer.Option(help="ISO code, for sentences and lemmas.", rich_help_panel=_READING)]
Encoding = Annotated[str, typer.Option(help="Of text files.", rich_help_panel=_READING)]
Errors = Annotated[
    str, typer.Option(help="Bytes that are not in the encoding: strict or replace.", rich_help_panel=_READING)
]
TextColumn = Annotated[str, typer.Option(help="Of tables.", rich_help_panel=_READING)]
DateColumn = Annotated[str | None, typer.Option(help="Of tables.", rich_help_panel=_READING)]
Keep = Annotated[
    float | None,
    typer.Option(
        help="The share of the distance that is kept in the score; 0.25 for nearest, else 0.", rich_help_panel=SCORES
    ),
]
Space = Annotated[str, typer.Option(help="Of the vectors: raw, centred or standardised.", rich_help_panel=SCORES)]
Layers = Annotated[
    str | None,
    typer.Option(
        help="last, a number, or mean:N, sum:N, concat:N of the last N; mean:4, unless a tuned model differs.",
        rich_help_panel=_ENCODING,
    ),
]
Pooling = Annotated[
    str | None,
    typer.Option(
        help="Of a word's pieces: mean, sum, first, or sentence for all of it; mean, unless a tuned model differs.",
        rich_help_panel=_ENCODING,
    ),
]
Window = Annotated[int | None, typer.Option(help="The most pieces of a sentence.", rich_help_panel=_ENCODING)]
Markers = Annotated[
    tuple[str, str] | None, typer.Option(help="Text before and after the word.", rich_help_panel=_ENCODING)
]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda or mps.", rich_help_panel=_ENCODING)]
Dtype = Annotated[
    str,
    typer.Option(help="fp32; bf16, fp16 on a GPU; int8 on a processor, approximate.", rich_help_panel=_ENCODING),
]
Revision = Annotated[str | None, typer.Option(help="Of a model on the hub.", rich_help_panel=_ENCODING)]
Precision = Annotated[str, typer.Option(help="Of the vectors on disk: float32 or float16.", rich_help_panel=_ENCODING)]
