"""Compiled kernels: numba is imported, and a kernel compiled, only when one is first called.

Compiled code is kept on disk beside the module (or in the user's cache folder where that is read-only), so the
seconds of compilation are spent once for each machine and version.
"""

from __future__ import annotations

import functools
import hashlib
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

    @property
    def fingerprint(self) -> str:
        """Of the function and of everything it uses: compiled code on disk is good for one fingerprint."""
        code = self._function.__code__
        parts = [code.co_code, repr([c for c in code.co_consts if not isinstance(c, types.CodeType)]).encode()]
        for name, value in sorted(self._used().items()):
            parts += [name.encode(), value.fingerprint.encode() if isinstance(value, Kernel) else _describe(value)]
        return hashlib.blake2b(b"\0".join(parts), digest_size=8).hexdigest()

    def _used(self) -> dict[str, Any]:
        names = self._function.__code__.co_names
        return {name: value for name, value in self._function.__globals__.items() if name in names}

    def _compile(self) -> Callable[P, R]:
        import numba

        # The kernels that this one calls must be numba's own functions to it. numba looks for compiled code by the
        # function's name and the date of its file; the fingerprint in the name adds what comes from other files.
        original = self._function
        scope = {name: value.compiled if isinstance(value, Kernel) else value for name, value in self._used().items()}
        scope |= {name: value for name, value in original.__globals__.items() if name.startswith("__")}
        function = types.FunctionType(
            original.__code__, scope, original.__name__, original.__defaults__, original.__closure__
        )
        function.__kwdefaults__ = original.__kwdefaults__
        function.__qualname__ = f"{original.__qualname__}_{self.fingerprint}"
        function.__module__ = original.__module__

        options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": _FASTMATH}
        try:
            compiled = numba.njit(cache=True, **options)(function)
        except RuntimeError:  # no folder at all that a cache could be written to
            compiled = numba.njit(**options)(function)
        return compiled


def _describe(value: Any) -> bytes:
    """What compiled code depends on of a constant; modules and functions of libraries go by their name."""
    if hasattr(value, "tobytes"):
        return bytes(value.tobytes())
    return str(getattr(value, "__name__", None) or repr(value)).encode()


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Mark a loop over arrays for compilation on first use."""
    return Kernel(function)
