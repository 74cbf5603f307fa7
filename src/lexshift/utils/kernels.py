"""Compiled kernels: numba is imported, and a kernel compiled, only when one is first called.

Compiled code is cached in the user's cache folder (or in NUMBA_CACHE_DIR if that is set) under a name made from the
code itself. It does not matter where the package is installed, or whether that place is writable: each machine compiles
a version of a kernel once.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import sys
import tempfile
import threading
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

# NaN and infinity keep their meaning; sums may be reordered, which is what lets them run in vector registers.
_FASTMATH = {"reassoc", "nsz", "contract", "arcp"}
_lock = threading.RLock()
_DIGEST = hashlib.sha256().digest_size


class Kernel(Generic[P, R]):
    """A function over numpy arrays that numba compiles on its first call; it releases the GIL while it runs."""

    def __init__(self, function: Callable[P, R], is_inlined: bool = False) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._is_inlined = is_inlined
        self._compiled: Callable[P, R] | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the compiled function."""
        return (self._compiled or self.compiled_function)(*args, **kwargs)

    @property
    def compiled_function(self) -> Callable[P, R]:
        """The compiled function."""
        if self._compiled is None:
            with _lock:
                if self._compiled is None:
                    self._compiled = self._compile()
        return self._compiled

    @property
    def fingerprint(self) -> str:
        """A digest of the function and of everything it uses: cached code is valid for one fingerprint."""
        parts = [
            _describe_code(self._function.__code__),
            repr((self._function.__defaults__, self._is_inlined)).encode(),
        ]
        for name, value in sorted(self._used().items()):
            parts += [name.encode(), value.fingerprint.encode() if isinstance(value, Kernel) else _describe(value)]
        return hashlib.blake2b(b"\0".join(parts), digest_size=8).hexdigest()

    def _used(self) -> dict[str, Any]:
        names = self._function.__code__.co_names
        return {name: value for name, value in self._function.__globals__.items() if name in names}

    def _compile(self) -> Callable[P, R]:
        import numba

        # The kernels that this one calls must be numba's own functions to it. The fingerprint in the name keeps symbols
        # of cached code apart from those of other versions of the function.
        original = self._function
        scope = {
            name: value.compiled_function if isinstance(value, Kernel) else value
            for name, value in self._used().items()
        }
        scope |= {name: value for name, value in original.__globals__.items() if name.startswith("__")}
        function = types.FunctionType(
            original.__code__, scope, original.__name__, original.__defaults__, original.__closure__
        )
        function.__kwdefaults__ = original.__kwdefaults__
        function.__qualname__ = f"{original.__qualname__}_{self.fingerprint}"
        function.__module__ = original.__module__
        compiled: Any = numba.njit(nogil=True, error_model="numpy", fastmath=_FASTMATH, forceinline=self._is_inlined)(
            function
        )
        if original.__module__ in sys.modules:  # cached code imports the module that it was compiled from
            compiled._cache = KernelCache(cache_folder(), f"{original.__module__} {self.fingerprint}")
        return compiled


class KernelCache:
    """Keep the compiled code of one kernel on disk, one file for each signature and processor.

    This takes the place of numba's own cache, which goes by the path of the source file, does not see changes to what a
    kernel calls in other modules, and can mix up signatures when two processes write to it at once. Its methods are
    those that numba calls.

    Parameters
    ----------
    folder : Path
        Folder of the compiled code. Nothing is cached if it is not writable.
    name : str
        Name of the version of the kernel: its module and the digest of its code.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.cache_path = str(folder)
        self._folder = folder
        self._name = name

    def load_overload(self, signature: Any, target: Any) -> Any:
        """Return the compiled code for a signature, or None if it is not cached."""
        from numba.core.compiler import CompileResult

        target.refresh()
        try:
            content = self._path(signature, target.codegen()).read_bytes()
        except OSError:
            return None
        digest, code = content[:_DIGEST], content[_DIGEST:]
        if hashlib.sha256(code).digest() != digest:
            return None
        return CompileResult._rebuild(target, *pickle.loads(code))  # type: ignore[no-untyped-call]

    def save_overload(self, signature: Any, result: Any) -> None:
        """Write the compiled code for a signature; a folder that cannot be written is no error."""
        from numba.core.serialize import dumps

        if result.lifted or result.library.has_dynamic_globals:
            return
        path = self._path(signature, result.codegen)
        code: bytes = dumps(result._reduce())  # type: ignore[no-untyped-call]
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, temporary = tempfile.mkstemp(dir=self._folder)
            try:
                with os.fdopen(descriptor, "wb") as file:
                    file.write(hashlib.sha256(code).digest() + code)
                os.replace(temporary, path)
            except BaseException:
                os.unlink(temporary)
                raise

    def _path(self, signature: Any, codegen: Any) -> Path:
        import numba

        key = (self._name, signature, codegen.magic_tuple(), numba.__version__, sys.version_info[:2])
        return self._folder / f"{hashlib.blake2b(repr(key).encode(), digest_size=20).hexdigest()}.kernel"


FEW_BYTES = 1 << 21
"""Number of bytes that are processed without compiled code as long as it is not loaded, which takes longer."""


def is_numba_loaded() -> bool:
    """Return whether this process has imported numba, so that a call of a kernel costs little."""
    return "numba" in sys.modules


def cache_folder() -> Path:
    """Return the folder for compiled kernels."""
    import numba
    import platformdirs

    chosen = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    return Path(chosen) if chosen else platformdirs.user_cache_path("lexshift", appauthor=False) / "kernels"


def _describe_code(code: types.CodeType) -> bytes:
    """Return what compiled code depends on of bytecode: instructions, names and constants, but no line numbers."""
    constants = [_describe_code(c) if isinstance(c, types.CodeType) else repr(c).encode() for c in code.co_consts]
    return b"\0".join([code.co_code, repr((code.co_names, code.co_varnames)).encode(), *constants])


def _describe(value: Any) -> bytes:
    """Return what compiled code depends on of a constant; modules and functions of libraries go by their name."""
    if hasattr(value, "tobytes"):
        return f"{value.dtype}{value.shape}".encode() + bytes(value.tobytes())
    return str(getattr(value, "__name__", None) or repr(value)).encode()


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Mark a loop over arrays for compilation on first use."""
    return Kernel(function)


def inlined_kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Mark a part of other kernels whose code is copied into them: a call in their inner loop would slow them down."""
    return Kernel(function, is_inlined=True)
