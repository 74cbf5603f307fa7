"""Type aliases for the arrays of the package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Matrix: TypeAlias = npt.NDArray[Any]  # of float32 or float64
Indices: TypeAlias = npt.NDArray[np.intp]
Labels: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]
Array: TypeAlias = npt.NDArray[Any]
Pairs: TypeAlias = Mapping[str, tuple[Matrix, Matrix]]  # a word's vectors in the old and the new corpus
