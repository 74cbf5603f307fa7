"""Prepare docstrings for the API reference: an extension of griffe, which reads them.

Docstrings refer to other objects with roles such as ``:func:`lexshift.compare```. They describe parameters that belong
together in one entry, such as ``old, new : str or path``, and short ones end with an example without a heading. In the
reference a role is a link, each parameter has an entry with its own type and default, and examples have a heading.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):`(~?)([\w.]+)`")
PARAMETERS = re.compile(r"(?<=\n)Parameters\n-{10}\n(?:.+\n?)+")
EXAMPLE = re.compile(r"\n\n(?=>>> )")
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)+)((?: : .*)?(?:\n +.*)*)$", re.MULTILINE)


class PrepareDocstrings(griffe.Extension):
    """Prepare the docstring of every object."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Prepare the docstring of an object."""
        if obj.docstring is not None:
            obj.docstring.value = link_roles(head_examples(split_entries(obj.docstring.value)), obj)


def link_roles(text: str, obj: griffe.Object) -> str:
    """Replace roles with links to objects that the reference describes, and with the names of all others.

    Parameters
    ----------
    text : str
    obj : griffe.Object
        The object that the docstring describes; names are looked up in its scope.
    """

    def link(role: re.Match[str]) -> str:
        is_short, name = bool(role[1]), role[2]
        shown = name.rpartition(".")[2] if is_short else name
        return f'<autoref optional identifier="{find_path(name, obj)}"><code>{shown}</code></autoref>'

    return ROLE.sub(link, text)


def find_path(name: str, obj: griffe.Object) -> str:
    """Return the full path of a name, which may be relative to the object, its class or its module."""
    try:
        return obj.resolve(name)
    except griffe.NameResolutionError:
        return name


def split_entries(text: str) -> str:
    """Split entries for several parameters, which share a type and a description, into one for each."""

    def split(entry: re.Match[str]) -> str:
        return "\n".join(name + entry[2] for name in entry[1].split(", "))

    return PARAMETERS.sub(lambda section: ENTRY.sub(split, section[0]), text)


def head_examples(text: str) -> str:
    """Insert the heading of the section Examples before the first example, unless the section has one."""
    return text if "\nExamples\n-----" in text else EXAMPLE.sub("\n\nExamples\n--------\n", text, count=1)
