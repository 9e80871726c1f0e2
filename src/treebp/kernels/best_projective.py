"""The best projective dependency tree (Eisner, 1996): max-plus charts, back-pointers found again on the way down."""

import math

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels._jit import kernel

_RIGHT, _LEFT, _ARC_RIGHT, _ARC_LEFT = range(4)
_ZERO, _ONE = np.uint64(0), np.uint64(1)


@kernel
def best_projective(scores: FloatArray, size: int, single_root: bool, heads: IntArray) -> float:
    """Write the heads of the best tree over positions 0..size-1; return its score, -inf where there is no tree.

    Among equals the choice is fixed by the order of the loops, so it never depends on anything but the scores.
    """
    charts = np.empty((4, size, size))
    right, left, arc_right, arc_left = charts[_RIGHT], charts[_LEFT], charts[_ARC_RIGHT], charts[_ARC_LEFT]
    first = _ONE if single_root else _ZERO
    end = np.uint64(size)
    last = end - _ONE
    for j in range(first, end):
        right[j, j] = 0.0
        left[j, j] = 0.0
        for width in range(_ONE, j - first + _ONE):
            i = j - width
            split = left[j, i + _ONE]
            to_right = -math.inf
            to_left = -math.inf
            for k in range(i + _ONE, j):
                split = max(split, right[i, k] + left[j, k + _ONE])
                to_right = max(to_right, arc_right[i, k] + right[j, k])
                to_left = max(to_left, left[i, k] + arc_left[j, k])
            rightward = split + scores[i, j]
            leftward = split + scores[j, i]
            to_right = max(to_right, rightward)
            to_left = max(to_left, leftward)
            arc_right[i, j] = rightward
            arc_right[j, i] = rightward
            arc_left[i, j] = leftward
            arc_left[j, i] = leftward
            right[i, j] = to_right
            right[j, i] = to_right
            left[i, j] = to_left
            left[j, i] = to_left
    stack = np.empty((2 * size + 2, 3), np.int64)
    depth = 1
    best = right[_ZERO, last]
    _put(stack, 0, _RIGHT, 0, size - 1)
    if single_root:
        best = -math.inf
        root = 1
        for k in range(1, size):
            score = scores[0, k] + left[1, k] + right[k, size - 1]
            if score > best:
                best = score
                root = k
        heads[root - 1] = 0
        _put(stack, 0, _LEFT, 1, root)
        _put(stack, 1, _RIGHT, root, size - 1)
        depth = 2
    if best > -math.inf:
        _follow(charts, stack, depth, heads)
    return best


@kernel
def _follow(charts: FloatArray, stack: IntArray, depth: int, heads: IntArray) -> None:
    """Expand the complete items on the stack: each ends in an arc, under which two complete items meet."""
    right, left, arc_right, arc_left = charts[_RIGHT], charts[_LEFT], charts[_ARC_RIGHT], charts[_ARC_LEFT]
    while depth > 0:
        depth -= 1
        chart, i, j = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        if i == j:
            continue
        if chart == _RIGHT:
            k = i + 1
            while arc_right[i, k] + right[j, k] != right[i, j]:
                k += 1
            heads[k - 1] = i
            _put(stack, depth, _RIGHT, k, j)
            low, high = i, k
        else:
            k = i
            while left[i, k] + arc_left[j, k] != left[i, j]:
                k += 1
            heads[k - 1] = j
            _put(stack, depth, _LEFT, i, k)
            low, high = k, j
        split = low
        best = right[low, low] + left[high, low + 1]
        for k in range(low + 1, high):
            score = right[low, k] + left[high, k + 1]
            if score > best:
                best = score
                split = k
        _put(stack, depth + 1, _RIGHT, low, split)
        _put(stack, depth + 2, _LEFT, split + 1, high)
        depth += 3


@kernel
def _put(stack: IntArray, place: int, chart: int, i: int, j: int) -> None:
    """Lay down an item. One number after the other: a whole row at once takes Numba seconds to compile."""
    stack[place, 0] = chart
    stack[place, 1] = i
    stack[place, 2] = j
