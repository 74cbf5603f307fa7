"""The page: one file with everything in it, that asks nothing of a network and runs nothing but its own script.

Corpus text is hostile until proven otherwise. What the template writes is escaped; what the script shows comes as JSON
in which no tag can begin, or packed in letters, and is put into the page as text, never as markup. The
Content-Security-Policy allows the one script and the one style sheet by their hashes, and nothing else from anywhere.

The table that the template writes is for those without JavaScript, and has the first words only if there are very many;
the script makes its rows from the data, those in view.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lexshift.report.content import compares_similar, content
from lexshift.report.details import details
from lexshift.report.methods import facts, methods, tested_by
from lexshift.report.packing import packed
from lexshift.study.result import TOO_FEW
from lexshift.utils.files import disk_faults, write_whole

if TYPE_CHECKING:
    from jinja2 import Environment

    from lexshift.study.result import Result

SCRIPTS = ("base.js", "dom.js", "charts.js", "overview.js", "rows.js", "table.js", "details.js", "word.js", "main.js")
_ROWS = 200  # of the table that needs no script
_ESCAPES: dict[str, str | int | None] = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def write_report(result: Result, path: Path) -> Path:
    """Write the page of a result to a file, whole or not at all."""
    page = render(result)
    with disk_faults(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, lambda file: file.write(page.encode("utf-8", "replace")))
    return path


def render(result: Result) -> str:
    """The page of a result."""
    script, style = _script(), asset("page.css")
    policy = [
        "default-src 'none'",
        f"script-src '{source_hash(script)}'",
        f"style-src '{source_hash(style)}'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    starts, groups = packed(details(result))
    return (
        environment()
        .get_template("page.html")
        .render(
            result=result,
            rows=result.table.head(_ROWS).to_dict("records"),
            left=max(len(result.table) - _ROWS, 0),
            similar=compares_similar(result),
            reasons=bool(result.count(TOO_FEW)),
            groups=groups,
            corpora=result.run["corpora"],
            methods=methods(result),
            tested=tested_by(result) if result.scores.words else "",
            facts=facts(result),
            policy="; ".join(policy),
            style=style,
            script=script,
            data=embedded_json(content(result) | {"groups": starts}),
        )
    )


def embedded_json(data: Any) -> str:
    """JSON that can stand inside a script element: no tag, comment or entity can begin in it."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(str.maketrans(_ESCAPES))


@cache
def environment() -> Environment:
    """The templates, which escape everything they are given."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("lexshift.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["digits"] = digits
    environment.filters["chance"] = chance
    environment.filters["percent"] = percent
    return environment


def digits(value: float) -> str:
    """A number with the three digits that are worth reading.

    >>> [digits(value) for value in (0, 0.0123456, 9.5757, 94.007, 173.1, 12345.6)]
    ['0', '0.0123', '9.58', '94.0', '173', '12346']
    """
    if not value or not 1e-4 <= abs(value) < 1e9:
        return f"{value:.3g}"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def chance(value: float) -> str:
    """A p or q.

    >>> [chance(value) for value in (0.983, 0.05, 0.00022, 0.0001)]
    ['0.983', '0.050', '0.00022', '0.0001']
    """
    if value >= 0.001:
        return f"{value:.3f}"
    return f"{value:.5f}".rstrip("0") if value >= 1e-5 else f"{value:.1g}"


def percent(share: float) -> int:
    """A share in whole per cent, of which "more than" can be said.

    >>> [percent(share) for share in (0, 0.29, 0.979, 0.9999, 1)]
    [0, 29, 97, 99, 100]
    """
    return math.floor(100 * share + 1e-9)


def _script() -> str:
    return '"use strict";\n{\n' + "".join(asset(name) for name in SCRIPTS) + "}\n"


def asset(name: str) -> str:
    """The text of a style sheet or a script of the pages."""
    return files("lexshift.report").joinpath("assets", name).read_text("utf-8")


def source_hash(text: str) -> str:
    """What a Content-Security-Policy names a style sheet or a script by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
