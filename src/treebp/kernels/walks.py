"""The matrix-tree theorem without subtraction, in real arithmetic.

Every gain is right to the last digits, and so is its derivative, as long as nothing underflows. The idea is that of
``treebp.kernels.log_matrix_tree``: take a walk that moves from each word to a head, drawn in proportion to the arc
weights. The gain of the arc from h to m, d Z / d weight, is in proportion to the probability that the walk from h
reaches the root before it reaches m. Words are eliminated, one half of them for the other half and the other way round,
until one is left. Of a matrix, row h and column k hold the rate at which the walk goes from word k to h; row 0 is the
root's. Where a word is out, its column holds where the walk from it first arrives.

With one root word, arcs from the root are infinitely light. They have a row of their own, behind all others, which the
sum of a pivot leaves out; a word that is left with nothing but the root is *the* root word, and its walks are no longer
light: they go on in row 0.
"""

import math
from typing import NamedTuple

import numpy as np

from treebp._types import FloatArray
from treebp.kernels._jit import kernel, summing_kernel

_TINY, _HUGE = 1e-280, 1e280  # what is smaller may have lost digits to underflow, what is larger may overflow
_ZERO, _ONE = np.uint64(0), np.uint64(1)


class _Level(NamedTuple):
    """The memory of one depth of the recursion.

    The matrix; of each word that was eliminated here the shares of its heads, and their sum, zero for the root word;
    and the adjoint of the matrix.
    """

    matrix: FloatArray
    shares: FloatArray
    degrees: FloatArray
    adjoint: FloatArray


@kernel
def walk_sums(
    weights: FloatArray, size: int, single_root: bool, backward: bool, of_logs: FloatArray, sums: FloatArray
) -> float:
    """Fill ``sums[head, modifier]``, which are in proportion to the gains of each modifier's arcs; return log Z.

    It is NaN where anything underflowed, and where there is no tree. If ``backward``, ``of_logs`` has the adjoints of
    the logarithms of the sums, and is overwritten by those of the weights.
    """
    depth = 2
    while 1 << (depth - 2) < size:
        depth += 1
    matrices, shares = np.empty((depth, size + 1, size)), np.empty((depth, size, size + 1))
    adjoints = np.empty((depth if backward else 1, size + 1, size))
    degrees = np.empty((depth, size))
    rooted = np.zeros(depth, np.bool_)  # whether the root word has been found
    # Level, words that stay (low..high-1), words to take out first, and whether all below has been done.
    stack = np.empty((3 * depth + 2, 6), np.int64)
    stack[0] = 0, 1, size, 1, 1, 0
    top = 1
    log_partition = 0.0
    while top > 0:
        top -= 1
        number, low, high, out_low, out_high, done = stack[top]
        level = _Level(matrices[number], shares[number], degrees[number], adjoints[number if backward else 0])
        if done:
            _undo(level, size, low, high, out_low, out_high)
            _add_up(level.adjoint, adjoints[number - 1], size, min(low, out_low), max(high, out_high))
            continue
        if number == 0:
            _load(weights, size, single_root, level.matrix)
        else:
            rooted[number] = rooted[number - 1]
            _copy(matrices[number - 1], level.matrix, size, min(low, out_low), max(high, out_high))
            found = _take_out(level, size, single_root and not rooted[number], low, high, out_low, out_high)
            if found < 0:
                return math.nan
            rooted[number] = rooted[number] or found > 0
            if low == 1:  # on the way to the first word
                log_partition += _log_pivots(level, size, out_low, out_high)
        if backward:
            for row in range(low, high):
                level.adjoint[row] = 0.0
            level.adjoint[0] = 0.0
            level.adjoint[size] = 0.0
            if number > 0:
                stack[top] = number, low, high, out_low, out_high, 1
                top += 1
        if high - low > 1:
            middle = (low + high) // 2
            stack[top] = number + 1, middle, high, low, middle, 0
            stack[top + 1] = number + 1, low, middle, middle, high, 0
            top += 2
            continue
        light = single_root and not rooted[number]
        root = size if light else 0
        if not _TINY < level.matrix[root, low] < _HUGE:
            return math.nan
        if low == 1:
            log_partition += math.log(level.matrix[root, low])
        sums[0, low] = 1.0 if light or not single_root else 0.0
        for head in range(1, size):
            sums[head, low] = level.matrix[root, head] if head != low else 0.0
            if not sums[head, low] < _HUGE:
                return math.nan
            if backward and head != low and of_logs[head, low] != 0.0:
                level.adjoint[root, head] += of_logs[head, low] / sums[head, low]
    if backward:
        of_logs[:size, :size] = adjoints[0, :size]
        if single_root:
            of_logs[0, :size] = adjoints[0, size]
    return log_partition


@kernel
def _load(weights: FloatArray, size: int, single_root: bool, matrix: FloatArray) -> None:
    matrix[:size] = weights[:size, :size]
    matrix[size] = 0.0
    if single_root:
        matrix[size] = weights[0, :size]
        matrix[0] = 0.0


@kernel
def _copy(parent: FloatArray, matrix: FloatArray, size: int, first: int, last: int) -> None:
    matrix[0] = parent[0]
    matrix[size] = parent[size]
    for row in range(first, last):
        matrix[row] = parent[row]


@kernel
def _add_up(adjoint: FloatArray, parent: FloatArray, size: int, first: int, last: int) -> None:
    parent[0] += adjoint[0]
    parent[size] += adjoint[size]
    for row in range(first, last):
        parent[row] += adjoint[row]


@kernel
def _log_pivots(level: _Level, size: int, out_low: int, out_high: int) -> float:
    total = 0.0
    for pivot in range(out_low, out_high):
        degree = level.degrees[pivot]
        total += math.log(degree if degree > 0.0 else level.matrix[size, pivot])
    return total


@kernel
def _take_out(level: _Level, size: int, light: bool, low: int, high: int, out_low: int, out_high: int) -> int:
    """Eliminate some words; return 1 if the root word is among them, -1 if there is no tree or something underflowed.

    Outermost first, so that what remains stays a range. ``light`` says that the root word is to be found yet.
    """
    matrix = level.matrix
    first, last, end = np.uint64(min(low, out_low)), np.uint64(max(high, out_high)), np.uint64(size)
    found = 0
    for step in range(out_high - out_low):
        pivot = np.uint64(out_high - 1 - step if out_low >= high else out_low + step)
        if out_low >= high:
            last -= _ONE
        else:
            first += _ONE
        degree = matrix[_ZERO, pivot]
        for word in range(first, last):
            degree += matrix[word, pivot]
        level.degrees[pivot] = degree
        matrix[pivot, pivot] = 0.0
        if degree == 0.0:
            if not light or not matrix[end, pivot] >= _TINY:
                return -1
            light, found = False, 1
            for k in range(_ONE, end):
                matrix[_ZERO, k] += matrix[pivot, k]
            matrix[_ZERO, pivot] = 1.0
            continue
        scale, faintest = 1.0 / degree, 1.0
        for row in range(last - first + np.uint64(2)):
            head = first + row - np.uint64(2) if row >= np.uint64(2) else row * end  # both of the root's, then words
            share = matrix[head, pivot] * scale if light or head != end else 0.0
            level.shares[pivot, head] = share
            if share > 0.0:
                faintest = min(faintest, share)
                for k in range(_ONE, end):
                    matrix[head, k] += share * matrix[pivot, k]
                matrix[head, pivot] = share
        if not faintest * _faintest(matrix[pivot]) >= _TINY:
            return -1
    return found


@kernel
def _faintest(row: FloatArray) -> float:
    """The smallest entry that is not zero, or one."""
    smallest = 1.0
    for k in range(np.uint64(len(row))):
        smallest = row[k] if 0.0 < row[k] < smallest else smallest
    return smallest


@summing_kernel
def _undo(level: _Level, size: int, low: int, high: int, out_low: int, out_high: int) -> None:
    """From the adjoint of the matrix that `_take_out` has left to that of the one it was given.

    Entries that are zero, because no walk goes there, have none.
    """
    matrix, adjoint = level.matrix, level.adjoint
    first, last, end = np.uint64(low), np.uint64(high), np.uint64(size)
    for step in range(out_high - out_low):
        pivot = np.uint64(out_low + step if out_low >= high else out_high - 1 - step)
        adjoint[pivot] = 0.0
        rows = last - first + np.uint64(2)  # both of the root's, then words
        if level.degrees[pivot] == 0.0:
            for k in range(_ONE, end):
                adjoint[pivot, k] = adjoint[_ZERO, k]
            for row in range(rows):
                head = first + row - np.uint64(2) if row >= np.uint64(2) else row * end
                adjoint[head, pivot] = 0.0
        else:
            common = 0.0
            for row in range(rows):
                head = first + row - np.uint64(2) if row >= np.uint64(2) else row * end
                share = level.shares[pivot, head]
                of_share = 0.0
                if share > 0.0:
                    of_share = adjoint[head, pivot]
                    for k in range(_ONE, end):  # the pivot's own entry is zero
                        of_share += adjoint[head, k] * matrix[pivot, k]
                        adjoint[pivot, k] += adjoint[head, k] * share
                adjoint[head, pivot] = of_share
                common += of_share * share
            scale = 1.0 / level.degrees[pivot]
            for row in range(rows):
                head = first + row - np.uint64(2) if row >= np.uint64(2) else row * end
                if level.shares[pivot, head] > 0.0:
                    counted = common if head != end else 0.0
                    adjoint[head, pivot] = (adjoint[head, pivot] - counted) * scale
        for k in range(_ONE, end):
            adjoint[pivot, k] = adjoint[pivot, k] if matrix[pivot, k] > 0.0 else 0.0
        if out_low >= high:
            last += _ONE
        else:
            first -= _ONE
