"""Consoles that show text from data safely: control characters are made visible, and a lost stream stops no run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

# Control characters of both sets but the tab and the end of a line, separators of lines and paragraphs, characters that
# turn the direction of writing, and lone surrogates.
_UNSAFE = re.compile("[\0-\b\v-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_LINE_END = re.compile("\n")


def visible(text: str, one_line: bool = False) -> str:
    r"""Return a text whose control characters are written as escapes; with ``one_line``, ends of lines too.

    >>> visible("a\x1b[31mb\u202ec"), visible("a\nb"), visible("a\nb", one_line=True)
    ('a\\u001b[31mb\\u202ec', 'a\nb', 'a\\u000ab')
    """
    shown = _UNSAFE.sub(_escape, text)
    return _LINE_END.sub(_escape, shown) if one_line else shown


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


class SafeConsole(Console):
    """A console that prints nothing but what can be seen.

    What is printed on standard error accompanies a run: if nobody can read it any more, the run goes on without it.
    """

    def print(self, *objects: Any, **options: Any) -> None:
        """Print objects, with the control characters of texts and of the cells of tables made visible."""
        super().print(*map(_safe, objects), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render an object of any other kind, such as a progress bar, in the same way."""
        for segment in super().render(renderable, options):
            if segment.control is None and _UNSAFE.search(segment.text):
                yield Segment(visible(segment.text), segment.style)
            else:
                yield segment

    def on_broken_pipe(self) -> None:
        """End the command if its results are read by nobody."""
        if self.stderr:
            self.quiet = True
        else:
            super().on_broken_pipe()

    def _check_buffer(self) -> None:
        try:
            super()._check_buffer()
        except OSError:
            if not self.stderr:
                raise
            self.quiet = True


def _safe(thing: Any) -> Any:
    if isinstance(thing, str):
        return visible(thing)
    if isinstance(thing, Text):
        return _safe_text(thing)
    if isinstance(thing, Table):
        thing.title = _safe(thing.title)
        for column in thing.columns:
            column.header = _safe(column.header)
            column._cells[:] = map(_safe, column._cells)
    return thing


def _safe_text(text: Text) -> Text:
    """Return a text with the same styles, in which escapes take the place of control characters."""
    places = [match.start() for match in _UNSAFE.finditer(text.plain)]
    if not places:
        return text
    shown = text.blank_copy()
    for part in text.divide([offset for place in places for offset in (place, place + 1)]):
        if _UNSAFE.fullmatch(part.plain):
            shown.append(visible(part.plain))
        else:
            shown.append_text(part)
    return shown
