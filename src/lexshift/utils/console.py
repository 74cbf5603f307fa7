"""Print text from data safely: control characters are made visible, and a closed stream does not stop a run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

# C0 and C1 control characters except tab and newline, line and paragraph separators, characters that change the
# direction of writing, and lone surrogates: a terminal would interpret them.
_UNSAFE = re.compile("[\0-\b\v-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_LINE_END = re.compile("\n")


def visible(text: str, one_line: bool = False) -> str:
    r"""Return a text with control characters written as escapes; with ``one_line``, newlines too.

    >>> visible("a\x1b[31mb\u202ec"), visible("a\nb"), visible("a\nb", one_line=True)
    ('a\\u001b[31mb\\u202ec', 'a\nb', 'a\\u000ab')
    """
    shown = _UNSAFE.sub(_escape, text)
    return _LINE_END.sub(_escape, shown) if one_line else shown


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


class SafeConsole(Console):
    """A console that makes control characters visible.

    Standard error only accompanies a run, so if it can no longer be written, the console falls silent and the run
    continues.
    """

    def print(self, *objects: Any, **options: Any) -> None:
        """Print objects, with control characters in texts and table cells made visible."""
        super().print(*map(_safe, objects), **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render an object of any other kind, such as a progress bar, in the same way."""
        for segment in super().render(renderable, options):
            if segment.control is None and _UNSAFE.search(segment.text):
                yield Segment(visible(segment.text), segment.style)
            else:
                yield segment

    def on_broken_pipe(self) -> None:
        """End the command if the reader of its results has closed the pipe."""
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


def _safe(item: Any) -> Any:
    """Return an object with control characters made visible if it is a text; tables are changed in place."""
    if isinstance(item, str):
        return visible(item)
    if isinstance(item, Text):
        return _safe_text(item)
    if isinstance(item, Table):
        item.title = _safe(item.title)
        for column in item.columns:
            column.header = _safe(column.header)
            column._cells[:] = map(_safe, column._cells)
    return item


def _safe_text(text: Text) -> Text:
    """Return a text with the same styles, in which control characters are written as escapes."""
    positions = [match.start() for match in _UNSAFE.finditer(text.plain)]
    if not positions:
        return text
    shown = text.blank_copy()
    for part in text.divide([offset for position in positions for offset in (position, position + 1)]):
        if _UNSAFE.fullmatch(part.plain):
            shown.append(visible(part.plain))
        else:
            shown.append_text(part)
    return shown
