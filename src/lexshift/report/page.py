"""Build self-contained pages: one file each, which works offline and runs nothing but its own script.

Corpus text is treated as hostile. The templates escape all values. The script reads JSON in which no tag
can begin, or base64, and inserts it as text, never as markup. The Content-Security-Policy allows the one script and the
one style sheet by their hashes and nothing else, and forbids the script to turn text into markup or code.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexshift.corpus.sources import describe_files
from lexshift.utils.files import disk_faults, write_whole
from lexshift.utils.quantities import with_unit

if TYPE_CHECKING:
    from jinja2 import Environment

NOTEBOOK_ROWS = 20
"""Number of words in the short view in a notebook."""
_GROUP_SIZE = 400_000  # bytes before compression: quick to open, and large enough to compress well
_CHARACTERS_BEFORE, _CHARACTERS_AFTER, _LONGEST_WORD = 160, 200, 80
_ESCAPES: dict[str, str | int | None] = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def render_page(
    template: str, styles: Sequence[str], scripts: Sequence[str] = (), data: Any = None, **values: Any
) -> str:
    """Return a page as HTML text.

    Parameters
    ----------
    template : str
        File in ``templates``, which extends ``base.html``.
    styles, scripts : sequence of str
        Files in ``assets``; each list becomes one element, in this order.
    data : optional
        Plain values for the script.
    **values
        Variables of the template.
    """
    assets = files("lexshift.report").joinpath("assets")
    style, script = ("".join(assets.joinpath(name).read_text("utf-8") for name in names) for names in (styles, scripts))
    if script:
        script = f'"use strict"; {{\n{script}}}\n'
    policy = ["default-src 'none'"]
    for directive, source in (("script-src", script), ("style-src", style)):
        if source:
            digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
            policy.append(f"{directive} 'sha256-{digest}'")
    policy += ["img-src data:", "base-uri 'none'", "form-action 'none'"]
    if script:
        policy += ["require-trusted-types-for 'script'", "trusted-types 'none'"]
    page = environment().get_template(template)
    text = embedded_json(data) if script else ""
    return page.render(policy="; ".join(policy), style=style, script=script, data=text, **values)


def notebook_table(
    headline: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    total: int,
    name: str = "table",
    note: str | None = None,
) -> str:
    """Return the short view of a result in a notebook: a sentence, and the first rows of a table.

    Parameters
    ----------
    headline : str
    columns : sequence of str
    rows : sequence of sequences of str
    total : int
        Number of rows of the whole table.
    name : str
        Name of the table as an attribute of the result.
    note : str, optional
        A second sentence.
    """
    template = environment().get_template("notebook.html")
    more = total - len(rows)
    return template.render(headline=headline, note=note, columns=columns, rows=rows, more=more, name=name)


def write_page(page: str, path: Path) -> Path:
    """Write a page to a file atomically; missing folders are created."""
    with disk_faults(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, page.encode("utf-8", "replace"))
    return path


@cache
def environment() -> Environment:
    """Return the environment of the templates, which escapes all values."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("lexshift.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        digits=digits, chance=chance, decimal=decimal, describe_files=describe_files, with_unit=with_unit
    )
    return environment


def embedded_json(data: Any) -> str:
    """Return JSON that can stand inside a script element: no tag, comment or entity can begin in it."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(str.maketrans(_ESCAPES))


def pack_groups(values: Iterable[Any], size: int = _GROUP_SIZE) -> tuple[list[int], list[str]]:
    """Pack values into groups, each JSON, compressed by gzip and written in base64.

    The page opens a group when one of its values is needed. No tag or entity can begin in base64.

    Returns
    -------
    starts : list of int
        Position of the first value of each group.
    groups : list of str

    Examples
    --------
    >>> starts, groups = pack_groups(["a", "b", "c"], size=5)
    >>> starts
    [0, 2]
    >>> gzip.decompress(base64.b64decode(groups[1]))
    b'["c"]'
    """
    starts: list[int] = []
    parts: list[list[bytes]] = []
    length = size
    for i, value in enumerate(values):
        if length >= size:
            starts.append(i)
            parts.append([])
            length = 0
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")
        parts[-1].append(text)
        length += len(text)
    # Without a time stamp, equal values give equal bytes.
    packed = (gzip.compress(b"[" + b",".join(part) + b"]", 6, mtime=0) for part in parts)
    return starts, [base64.b64encode(group).decode() for group in packed]


def excerpt(sentence: str, start: int, end: int) -> tuple[str, str, str]:
    """Return the text before a word, the word, and the text after it, each shortened at a space."""
    before, word, after = sentence[:start], sentence[start:end], sentence[end:]
    if len(before) > _CHARACTERS_BEFORE:
        before = before[-_CHARACTERS_BEFORE:]
        before = "…" + (before.partition(" ")[2] or before)
    if len(after) > _CHARACTERS_AFTER:
        after = after[:_CHARACTERS_AFTER]
        after = (after.rpartition(" ")[0] or after) + "…"
    return before, word if len(word) <= _LONGEST_WORD else word[:_LONGEST_WORD] + "…", after


def round_figures(value: Any, figures: int = 5) -> float | None:
    """Return a number rounded to significant figures, or None if it is not finite, because JSON has no NaN."""
    number = float(value)
    return float(f"{number:.{figures}g}") if math.isfinite(number) else None


def digits(value: float) -> str:
    """Return a number with three significant digits.

    >>> [digits(value) for value in (0, 0.0123456, 9.5757, 94.007, 173.1, 12345.6)]
    ['0', '0.0123', '9.58', '94.0', '173', '12346']
    """
    if not value or not 1e-4 <= abs(value) < 1e9:
        return f"{value:.3g}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def chance(value: float) -> str:
    """Return a p or q value as text.

    >>> [chance(value) for value in (0.983, 0.05, 0.00022, 0.0001)]
    ['0.983', '0.050', '0.00022', '0.0001']
    """
    if value >= 0.001:
        return f"{value:.3f}"
    return f"{value:.5f}".rstrip("0") if value >= 1e-5 else f"{value:.1g}"


def decimal(value: float) -> str:
    """Return a number with one decimal.

    >>> [decimal(value) for value in (13.76, -0.04)]
    ['13.8', '0.0']
    """
    return f"{round(value, 1) + 0.0:.1f}"  # adding 0 turns -0 into 0
