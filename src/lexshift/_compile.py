"""Compiled kernels: numba is imported, and a kernel compiled, only when one is first called.

Compiled code is kept on disk beside the module (or in the user's cache folder where that is read-only), so the
seconds of compilation are spent once for each machine and version.
"""

from __future__ import annotations

import functools
import threading
import types
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# NaN and infinity keep their meaning; sums may be reordered, which is what lets them run in vector registers.
_FASTMATH = {"reassoc", "nsz", "contract", "arcp"}
_lock = threading.RLock()


class Kernel(Generic[P, R]):
    """A function over numpy arrays that numba compiles on its first call; it releases the GIL while it runs."""

    def __init__(self, function: Callable[P, R]) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._compiled: Callable[P, R] | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.compiled(*args, **kwargs)

    @property
    def compiled(self) -> Callable[P, R]:
        """The compiled function."""
        if self._compiled is None:
            with _lock:
                if self._compiled is None:
                    self._compiled = self._compile()
        return self._compiled

    def _compile(self) -> Callable[P, R]:
        import numba

        # The kernels that this one calls must be numba's own functions to it.
        scope = {
            name: value.compiled if isinstance(value, Kernel) else value
            for name, value in self._function.__globals__.items()
            if name in self._function.__code__.co_names or name.startswith("__")
        }
        function = types.FunctionType(self._function.__code__, scope, self._function.__name__)
        function.__qualname__ = self._function.__qualname__
        function.__module__ = self._function.__module__

        options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": _FASTMATH}
        try:
            compiled = numba.njit(cache=True, **options)(function)
        except RuntimeError:  # no folder at all that a cache could be written to
            compiled = numba.njit(**options)(function)
        return compiled


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Mark a loop over arrays for compilation on first use."""
    return Kernel(function)
