"""The versions of Python, of the platform and of the libraries on which results depend."""

from __future__ import annotations

import platform
from importlib.metadata import version
from importlib.util import find_spec

_PACKAGES = (
    *("charset_normalizer", "icu4py", "lxml", "numba", "numpy", "pandas", "pyarrow", "scipy", "sentencex", "simplemma"),
    *("tokenizers", "torch", "trafilatura", "transformers"),
)


def package_versions() -> dict[str, str]:
    """Return the versions of Python and of the installed libraries, and the platform, without importing anything."""
    packages = {package: version(package) for package in _PACKAGES if find_spec(package)}
    return {"python": platform.python_version(), "platform": platform.platform(), **packages}
