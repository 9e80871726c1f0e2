"""The one decorator of all kernels."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])

# Sums may be reordered, so that dot products vectorise; infinities and NaN keep their meaning.
_FASTMATH = {"reassoc", "contract", "nsz", "arcp"}


def kernel(function: F) -> F:
    """Compile on first call, cache on disk, release the GIL; division by zero gives inf or NaN as in NumPy."""
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=_FASTMATH)(function))
