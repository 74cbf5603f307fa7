"""Convert dataclasses of numbers, texts and arrays to plain values for JSON, and back."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np


def to_plain(value: Any) -> Any:
    """Return a value as dicts, lists, numbers and texts; arrays become nested lists.

    >>> to_plain({"a": np.array([1.5, 2.0]), "b": (1, None)})
    {'a': [1.5, 2.0], 'b': [1, None]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_plain(item) for item in value]
    return value


def from_plain(kind: Any, value: Any) -> Any:
    """Return what :func:`to_plain` was given, an instance of a type.

    Parameters
    ----------
    kind : type
        A dataclass, an array type, a container of such, or a type of plain values.
    value : dict, list, number, str or None
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return None if value is None else from_plain(next(a for a in arguments if a is not type(None)), value)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{field.name: from_plain(hints[field.name], value[field.name]) for field in fields(kind)})  # type: ignore[operator]
    if origin is np.ndarray:
        return np.array(value, float)
    if origin is dict:
        return {key: from_plain(arguments[1], item) for key, item in value.items()}
    if origin in (list, tuple):
        items = [from_plain(arguments[0], item) for item in value]
        return items if origin is list else tuple(items)
    if isinstance(kind, type) and issubclass(kind, tuple):  # a named tuple
        return kind(*(from_plain(hint, item) for hint, item in zip(get_type_hints(kind).values(), value, strict=True)))
    return value
