"""Checks of the arrays that users pass in."""

import numpy as np
from numpy.typing import ArrayLike

from treebp._types import BoolArray, FloatArray

LARGEST_SCORE = 1e300
"""The largest finite log-weight, of either sign, of which millions can be added up without overflow."""


def float_array(values: ArrayLike, name: str) -> FloatArray:
    """Own contiguous copy of an array; ValueError, which begins with the name, if it does not hold real numbers."""
    try:
        return np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: an array of numbers expected ({error})") from error


def is_score(array: FloatArray) -> BoolArray:
    """Which entries can be scores: -inf, or a number not so large that a sum of such numbers overflows."""
    return np.asarray((array == -np.inf) | (np.abs(array) <= LARGEST_SCORE))
