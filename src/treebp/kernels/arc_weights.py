"""What both families of trees share: weights from scores, and marginals from log gains."""

import math

import numpy as np

from treebp._types import FloatArray
from treebp.kernels._jit import kernel


@kernel
def arc_weights(scores: FloatArray, size: int, logits: FloatArray, weights: FloatArray) -> float:
    """Scores less each modifier's best one, and their exponentials; return the sum of what was taken off.

    Every tree picks one head per modifier, so all trees are rescaled alike. The diagonal and the root's column count
    as -inf. Returns -inf where a modifier has no head at all.
    """
    offset = 0.0
    best = np.full(size, -math.inf)
    for head in range(size):
        for modifier in range(1, size):
            if head != modifier:
                best[modifier] = max(best[modifier], scores[head, modifier])
    for modifier in range(1, size):
        offset += best[modifier]
    if offset == -math.inf:
        return offset
    for head in range(size):
        logits[head, 0] = -math.inf
        weights[head, 0] = 0.0
        for modifier in range(1, size):
            logits[head, modifier] = scores[head, modifier] - best[modifier]
            weights[head, modifier] = math.exp(logits[head, modifier])
        logits[head, head] = -math.inf
        weights[head, head] = 0.0
    return offset


@kernel
def nothing_lost(log_partition: float, weights: FloatArray, size: int, log_count: float) -> bool:
    """Whether nothing that matters to a partition can have been lost to underflow.

    What is lost are weights and products below 1e-308, fewer than n^3 of them. What each would be completed by to trees
    weighs no more than the product over modifiers of their heads' weights, nor, these being at most one, than there
    are trees.
    """
    totals = np.zeros(size)
    for head in range(size):  # row by row: columns would not vectorise
        for modifier in range(1, size):
            totals[modifier] += weights[head, modifier]
    completion = 0.0
    for modifier in range(1, size):
        completion += math.log(totals[modifier])
    return log_partition > min(completion, log_count) + 3.0 * math.log(size) - 680.0


@kernel
def marginals_from_logs(logits: FloatArray, size: int, log_z: float, gains: FloatArray, out: FloatArray) -> None:
    """p(arc) = weight * gain / Z."""
    for head in range(size):
        for modifier in range(1, size):
            out[head, modifier] = math.exp(logits[head, modifier] + gains[head, modifier] - log_z)


@kernel
def product_from_logs(
    logits: FloatArray,
    direction: FloatArray,
    size: int,
    log_z: float,
    slope: float,
    gains: FloatArray,
    gain_slopes: FloatArray,
    out: FloatArray,
) -> None:
    """Derivative of p(arc) = weight * gain / Z along `direction` of the scores."""
    for head in range(size):
        for modifier in range(1, size):
            marginal = math.exp(logits[head, modifier] + gains[head, modifier] - log_z)
            if marginal > 0.0:
                change = direction[head, modifier] + gain_slopes[head, modifier] - slope
                out[head, modifier] = marginal * change
