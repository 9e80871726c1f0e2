"""What a tree factor does besides summing over trees: sums over a modifier's other heads."""

import math

import numpy as np

from treebp._types import FloatArray
from treebp.kernels._jit import kernel


@kernel
def other_heads(logs: FloatArray) -> FloatArray:
    """Log of the sum of exp(logs[., m]) over all heads but h, for each (h, m): sums from both ends, no subtraction."""
    size = len(logs)
    out = np.full((size, size), -math.inf)
    for modifier in range(1, size):
        running = -math.inf
        for head in range(size):
            out[head, modifier] = running
            running = np.logaddexp(running, logs[head, modifier])
        running = -math.inf
        for head in range(size - 1, -1, -1):
            out[head, modifier] = np.logaddexp(out[head, modifier], running)
            running = np.logaddexp(running, logs[head, modifier])
    return out


@kernel
def other_heads_backward(logs: FloatArray, out: FloatArray, adjoint: FloatArray) -> FloatArray:
    """Vector-Jacobian product of `other_heads`."""
    size = len(logs)
    gradient = np.zeros((size, size))
    for modifier in range(1, size):
        for head in range(size):
            if adjoint[head, modifier] != 0.0 and out[head, modifier] > -math.inf:
                for other in range(size):
                    if other != head:
                        share = math.exp(logs[other, modifier] - out[head, modifier])
                        gradient[other, modifier] += adjoint[head, modifier] * share
    return gradient
