"""The matrix-tree theorem without subtraction, in log arithmetic: slower than `matrix_tree`, and always right.

Take a walk that moves from each word to a head, drawn in proportion to the arc weights. Let u(h) be the probability
that from h it reaches the root before it reaches modifier m. Then Z = c * sum_h w(h, m) u(h) with c the product of the
pivots of all words but m, and the gain dZ / dw(h, m) is c * u(h). Eliminating the words by sums, products and quotients
alone (Grassmann, Taksar and Heyman, 1985) gives u with full relative accuracy. To have it for every m in O(n^3),
eliminate one half of the words, solve for the other half, and the other way round.

A number is a triple: order, logarithm, and the derivative of the logarithm along a given direction. The order counts
the arcs from the root when there may be only one root word: such arcs are infinitely light, and of two terms that
differ in order only the lower one counts.
"""

import math

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels._jit import kernel

Number = tuple[float, float, float]


@kernel
def _plus(a: Number, b: Number) -> Number:
    if b[1] == -math.inf or (a[0] < b[0] and a[1] > -math.inf):
        return a
    if a[1] == -math.inf or b[0] < a[0]:
        return b
    if a[1] >= b[1]:
        share = math.exp(b[1] - a[1])
        return a[0], a[1] + math.log1p(share), (a[2] + share * b[2]) / (1.0 + share)
    share = math.exp(a[1] - b[1])
    return a[0], b[1] + math.log1p(share), (b[2] + share * a[2]) / (1.0 + share)


@kernel
def _get(matrix: FloatArray, i: int, j: int) -> Number:
    return matrix[i, j, 0], matrix[i, j, 1], matrix[i, j, 2]


@kernel
def _load(scores: FloatArray, direction: FloatArray, size: int, single_root: bool, matrix: FloatArray) -> None:
    for head in range(size):
        order = 1.0 if single_root and head == 0 else 0.0
        for modifier in range(1, size):
            matrix[head, modifier, 0] = order
            matrix[head, modifier, 1] = scores[head, modifier] if head != modifier else -math.inf
            matrix[head, modifier, 2] = direction[head, modifier]


@kernel
def _eliminate(matrix: FloatArray, size: int, pivot: int, low: int, high: int) -> Number:
    """Take `pivot` out of the words low..high-1 that remain, and return its pivot weight (-inf: no head is left).

    Row h of a word that is out is of no more use; its column holds where the walk from it first arrives.
    """
    degree = _get(matrix, 0, pivot)
    for head in range(low, high):
        if head != pivot:
            degree = _plus(degree, _get(matrix, head, pivot))
    if degree[1] == -math.inf:
        return degree
    for step in range(low - 1, high):
        head = 0 if step == low - 1 else step
        if head == pivot:
            continue
        order, log, slope = _get(matrix, head, pivot)
        order -= degree[0]
        log -= degree[1]
        slope -= degree[2]
        matrix[head, pivot, 0] = order
        matrix[head, pivot, 1] = log
        matrix[head, pivot, 2] = slope
        if log > -math.inf:
            for k in range(1, size):
                if k != pivot and k != head and matrix[pivot, k, 1] > -math.inf:
                    through = (
                        order + matrix[pivot, k, 0],
                        log + matrix[pivot, k, 1],
                        slope + matrix[pivot, k, 2],
                    )
                    total = _plus(_get(matrix, head, k), through)
                    matrix[head, k, 0], matrix[head, k, 1], matrix[head, k, 2] = total
    return degree


@kernel
def log_gains(
    scores: FloatArray,
    direction: FloatArray,
    size: int,
    single_root: bool,
    gains: FloatArray,
    gain_slopes: FloatArray,
) -> tuple[float, float]:
    """Fill `gains[head, modifier]` = log(dZ / d weight) and its derivative; return log Z and its derivative."""
    gains[:size, :size] = -math.inf
    gain_slopes[:size, :size] = 0.0
    depth = 2
    while 1 << (depth - 2) < size:
        depth += 1
    levels = np.empty((depth, size, size, 3))
    pivots = np.zeros((depth, 3))  # product of the pivots on the way to each level
    _load(scores, direction, size, single_root, levels[0])
    stack = np.empty((2 * depth + 2, 5), np.int64)  # level, words still in (low..high-1), and words to take out first
    stack[0] = 0, 1, size, 1, 1
    top = 1
    log_partition, partition_slope = -math.inf, 0.0
    wanted = 1.0 if single_root else 0.0
    while top > 0:
        top -= 1
        level, low, high, out_low, out_high = stack[top]
        matrix = levels[level]
        if level > 0:
            matrix[:] = levels[level - 1]
            pivots[level] = pivots[level - 1]
            remaining_low, remaining_high = min(low, out_low), max(high, out_high)
            for step in range(out_high - out_low):
                # Outermost first, so that what remains stays a range.
                pivot = out_high - 1 - step if out_low >= high else out_low + step
                order, log, slope = _eliminate(matrix, size, pivot, remaining_low, remaining_high)
                if log == -math.inf:
                    return -math.inf, 0.0
                if out_low >= high:
                    remaining_high -= 1
                else:
                    remaining_low += 1
                pivots[level, 0] += order
                pivots[level, 1] += log
                pivots[level, 2] += slope
        if high - low > 1:
            middle = (low + high) // 2
            stack[top] = level + 1, low, middle, middle, high
            stack[top + 1] = level + 1, middle, high, low, middle
            top += 2
            continue
        modifier = low
        if pivots[level, 0] + matrix[0, modifier, 0] != wanted or matrix[0, modifier, 1] == -math.inf:
            return -math.inf, 0.0
        log_partition = pivots[level, 1] + matrix[0, modifier, 1]
        partition_slope = pivots[level, 2] + matrix[0, modifier, 2]
        for head in range(1, size):
            if head != modifier and pivots[level, 0] + matrix[0, head, 0] == wanted:
                gains[head, modifier] = pivots[level, 1] + matrix[0, head, 1]
                gain_slopes[head, modifier] = pivots[level, 2] + matrix[0, head, 2]
        if pivots[level, 0] == 0.0:
            gains[0, modifier] = pivots[level, 1]
            gain_slopes[0, modifier] = pivots[level, 2]
    return log_partition, partition_slope


@kernel
def exit_probabilities(scores: FloatArray, size: int, merged: IntArray, modifier: int, exits: FloatArray) -> None:
    """Log probability, for every node that stands for itself, of reaching the root before `modifier`."""
    nodes = np.empty(size, np.int64)
    nodes[0], nodes[1] = 0, modifier
    count = 2
    for node in range(1, size):
        if merged[node] == node and node != modifier:
            nodes[count] = node
            count += 1
    matrix = np.zeros((count, count, 3))
    for i in range(count):
        for j in range(1, count):
            matrix[i, j, 1] = scores[nodes[i], nodes[j]] if i != j else -math.inf
    for pivot in range(count - 1, 1, -1):
        _eliminate(matrix, count, pivot, 1, pivot + 1)
    exits[0] = 0.0
    for k in range(2, count):
        exits[nodes[k]] = matrix[0, k, 1]
