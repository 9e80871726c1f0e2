"""Drawing one of several things in proportion to its weight."""

import math

from treebp._types import FloatArray
from treebp.kernels._jit import kernel


@kernel
def draw(logs: FloatArray, size: int, uniform: float) -> int:
    """Index drawn in proportion to exp(logs)."""
    top = logs[:size].max()
    total = 0.0
    for k in range(size):
        total += math.exp(logs[k] - top)
    point = uniform * total
    pick = -1
    for k in range(size):
        share = math.exp(logs[k] - top)
        if share > 0.0:
            pick = k
            point -= share
            if point < 0.0:
                break
    return pick
