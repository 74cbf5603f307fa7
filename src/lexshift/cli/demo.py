"""lexshift demo: compare two small corpora that come with the package."""

from __future__ import annotations

from typing import Annotated

import typer


def command(
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", metavar="DIR", show_default=False, help="Folder for the results (default: lexshift-demo)."
        ),
    ] = "lexshift-demo",
) -> None:
    """Compare two small corpora that come with the package, for 24 words of which 12 are known to have changed."""
    from lexshift.benchmark.measures import average_precision
    from lexshift.cli.results import interruptible, print_result, print_summary
    from lexshift.demo import demo_corpora, gold
    from lexshift.study.compare import compare
    from lexshift.utils.progress import Bars, err

    labels = gold()
    changed = {word for word, is_changed in labels.items() if is_changed}
    with interruptible(), Bars() as bars:
        result = compare(*demo_corpora(), words=list(labels), out=out, monitor=bars)
    print_result(result, "table")
    ranking = result.table["word"].tolist()
    precision = average_precision(range(len(ranking), 0, -1), [word in changed for word in ranking])
    above = next((rank for rank, word in enumerate(ranking) if word not in changed), len(ranking))
    print_summary(result, out)
    err.print(
        f"{above} of the {len(changed)} words known to have changed are ranked above all "
        f"{len(labels) - len(changed)} known to be stable; average precision {precision:.3f}"
    )
