"""The two decorators of all kernels."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile on first call, cache on disk, release the GIL; division by zero gives inf or NaN as in NumPy."""
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})(function))


def summing_kernel(function: F) -> F:
    """A kernel whose sums may be reordered, so that its dot products vectorise; inf and NaN keep their meaning.

    Products may be reordered too: only for code in which no order of multiplication can overflow.
    """
    flags = {"contract", "reassoc"}
    return cast(F, numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=flags)(function))
