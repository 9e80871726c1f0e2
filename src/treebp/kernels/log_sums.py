"""Sums of numbers that are known by their logarithms; -inf is the log of zero."""

import math

import numpy as np

from treebp._types import FloatArray
from treebp.kernels._jit import inlined, kernel
from treebp.kernels.intrinsics import FARTHEST, exp


@inlined
def share(difference: float) -> float:
    """How much of a sum a number is, given the difference of their logarithms; nothing if that is -inf or NaN."""
    return exp(difference) if difference > -FARTHEST else 0.0


@kernel
def log_add(one: float, two: float) -> float:
    """Log of the sum of two numbers."""
    larger, smaller = max(one, two), min(one, two)
    return larger + math.log1p(math.exp(smaller - larger)) if smaller > -np.inf else larger


@kernel
def log_sum(terms: FloatArray) -> float:
    """Log of the sum of all terms."""
    largest = -np.inf
    for term in terms:
        largest = max(largest, term)
    if largest == -np.inf:
        return largest
    total = 0.0
    for term in terms:
        total += math.exp(term - largest)
    return largest + math.log(total)
