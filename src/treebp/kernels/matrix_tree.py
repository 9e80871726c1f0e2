"""The matrix-tree theorem in real arithmetic: sums over all spanning trees, with one subtraction whose error is known.

A walk that moves from each word to a head, drawn in proportion to the arc weights, carries all we need. `sweep` takes
the words out, eight at a time (blocked Gauss-Jordan elimination on the Laplacian). Its entries keep their sign and each
pivot is a sum of weights rather than the difference that textbooks give (Grassmann, Taksar and Heyman, 1985), so every
entry comes out with full relative accuracy however badly conditioned the Laplacian is. Only the last step, from the
inverse to the gains, subtracts; its error is bounded and returned, and the caller turns to `log_matrix_tree` where the
bound is too large.

With one root word, arcs from the root count as infinitely light: pivots leave them out, and the last word left must
take the root.
"""

import math

import numpy as np

from treebp._types import FloatArray
from treebp.kernels._jit import kernel, summing_kernel

_TINY, _HUGE = 1e-280, 1e280  # a pivot outside may have lost mass to underflow, or be about to overflow
_BLOCK = 8  # each entry of what remains is then loaded and stored an eighth as often
_ONE = np.uint64(1)


@kernel
def sweep(weights: FloatArray, size: int, single_root: bool, matrix: FloatArray) -> float:
    """Invert the Laplacian of `weights[head, modifier]` into `matrix`; return log Z, or NaN when out of range.

    With `single_root` the last word is left unswept.
    """
    matrix[:size, :size] = weights[:size, :size]
    log_partition = 0.0
    stop = size - 1 if single_root else size
    sums = np.empty(_BLOCK)
    for start in range(1, stop, _BLOCK):
        end = min(start + _BLOCK, stop)
        # Of the rows outside the block, its pivots need to know no more than these sums.
        for k in range(start, end):
            sums[k - start] = 0.0 if single_root else matrix[0, k]
        for head in range(end, size):
            for k in range(start, end):
                sums[k - start] += matrix[head, k]
        for pivot in range(start, end):
            degree = sums[pivot - start]
            for head in range(pivot + 1, end):
                degree += matrix[head, pivot]
            if not _TINY < degree < _HUGE:
                return math.nan
            log_partition += math.log(degree)
            for k in range(size):
                matrix[pivot, k] /= degree
            matrix[pivot, pivot] = 1.0 / degree
            for k in range(pivot + 1, end):
                sums[k - start] += sums[pivot - start] * matrix[pivot, k]
            for other in range(start, end):
                if other != pivot:
                    factor = matrix[other, pivot]
                    matrix[other, pivot] = 0.0
                    for k in range(1, size):
                        matrix[other, k] += factor * matrix[pivot, k]
        # The block's rows are final now, and all that the other rows need: their own entries in it, times these rows.
        for other in range(size):
            if other < start or other >= end:
                _add_block(matrix, other, start, end, size)
    if single_root:
        if not _TINY < matrix[0, stop] < _HUGE:
            return math.nan
        log_partition += math.log(matrix[0, stop])
    return log_partition


@kernel
def _add_block(matrix: FloatArray, row: int, begin: int, end: int, size: int) -> None:
    """Take the entries in a block's columns out of a row, and add them times the block's rows to it.

    Rows that are missing to a block are the last one, times zero. Unsigned indices let the loop vectorise.
    """
    i, m0, highest = np.uint64(row), np.uint64(begin), np.uint64(end - 1)
    m1, m2 = min(m0 + _ONE, highest), min(m0 + np.uint64(2), highest)
    m3, m4 = min(m0 + np.uint64(3), highest), min(m0 + np.uint64(4), highest)
    m5, m6 = min(m0 + np.uint64(5), highest), min(m0 + np.uint64(6), highest)
    m7 = min(m0 + np.uint64(7), highest)
    a = matrix[i, m0]
    b = matrix[i, m1] if m1 > m0 else 0.0
    c = matrix[i, m2] if m2 > m1 else 0.0
    d = matrix[i, m3] if m3 > m2 else 0.0
    e = matrix[i, m4] if m4 > m3 else 0.0
    f = matrix[i, m5] if m5 > m4 else 0.0
    g = matrix[i, m6] if m6 > m5 else 0.0
    h = matrix[i, m7] if m7 > m6 else 0.0
    for k in range(m0, highest + _ONE):
        matrix[i, k] = 0.0
    for k in range(_ONE, np.uint64(size)):
        matrix[i, k] += ((a * matrix[m0, k] + b * matrix[m1, k]) + (c * matrix[m2, k] + d * matrix[m3, k])) + (
            (e * matrix[m4, k] + f * matrix[m5, k]) + (g * matrix[m6, k] + h * matrix[m7, k])
        )


@summing_kernel
def _multiply(left: FloatArray, right: FloatArray, rows: int, columns: int, stop: int, out: FloatArray) -> None:
    """Write the dot products of `left[i, 1:stop]` and `right[k, 1:stop]`, below `rows` and `columns`, to `out[i, k]`.

    Two rows and four columns at a time: each number loaded is used several times. Those that are missing are the last
    one once more.
    """
    low, high, wide = np.uint64(rows - 1), np.uint64(columns - 1), np.uint64(stop)
    for row in range(0, rows, 2):
        i = np.uint64(row)
        j = min(i + _ONE, low)
        for column in range(0, columns, 4):
            a = np.uint64(column)
            b, c, d = min(a + _ONE, high), min(a + np.uint64(2), high), min(a + np.uint64(3), high)
            ia, ib, ic, id_, ja, jb, jc, jd = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for m in range(_ONE, wide):
                x, y = left[i, m], left[j, m]
                ia += x * right[a, m]
                ib += x * right[b, m]
                ic += x * right[c, m]
                id_ += x * right[d, m]
                ja += y * right[a, m]
                jb += y * right[b, m]
                jc += y * right[c, m]
                jd += y * right[d, m]
            out[i, a], out[i, b], out[i, c], out[i, d] = ia, ib, ic, id_
            out[j, a], out[j, b], out[j, c], out[j, d] = ja, jb, jc, jd


@kernel
def gains(
    weights: FloatArray, size: int, single_root: bool, matrix: FloatArray, out: FloatArray
) -> tuple[float, float]:
    """Fill `out[head, modifier]` = d log Z / d weight from the swept matrix.

    Return bounds on the error of weight * gain and on the relative error of the gains of arcs that have a weight. They
    are NaN from the first NaN on, as np.maximum has it: then nothing can be trusted.
    """
    last = size - 1
    largest, relative = 0.0, 0.0
    out[:size, 0] = 0.0
    out[0, 0] = 0.0
    if not single_root:
        for modifier in range(1, size):
            row = matrix[modifier]
            diagonal = row[modifier]
            out[0, modifier] = diagonal
            for head in range(1, size):
                gain = diagonal - row[head]
                out[head, modifier] = gain
                weight = weights[head, modifier]
                largest = np.maximum(largest, weight * diagonal)
                if weight > 0.0:
                    relative = np.maximum(relative, diagonal / gain if gain > 0.0 else math.inf)
        return largest * size * 2.3e-16, relative * size * 2.3e-16
    # The limit of the case above for root weights that shrink to nothing: see the module's docstring.
    scale = 1.0 / matrix[0, last]
    for modifier in range(1, last):
        row = matrix[modifier]
        exit_ = row[last] * scale
        out[0, modifier] = exit_
        for head in range(1, size):
            positive, gain = row[modifier], 0.0
            if head < last:
                positive += exit_ * matrix[0, head]
                gain = positive - (row[head] + exit_ * matrix[0, modifier])
            else:
                gain = positive - exit_ * matrix[0, modifier]
            out[head, modifier] = gain
            weight = weights[head, modifier]
            largest = np.maximum(largest, weight * positive)
            if weight > 0.0:
                relative = np.maximum(relative, positive / gain if gain > 0.0 else math.inf)
        out[modifier, modifier] = 0.0
    for head in range(1, last):
        out[head, last] = matrix[0, head] * scale
    out[0, last] = scale
    out[last, last] = 0.0
    return largest * size * 2.3e-16, relative * size * 2.3e-16


@kernel
def sweep_tangent(change: FloatArray, size: int, single_root: bool, matrix: FloatArray, d_matrix: FloatArray) -> float:
    """Derivative of the swept `matrix` along `change` of the weights into `d_matrix`; return that of log Z.

    With E the change of the Laplacian, its sign turned, and B the inverse, dB = B E B. The root's row and, with
    `single_root`, the last word's column of the swept matrix extend B on either side.
    """
    stop = size - 1 if single_root else size
    e, x = np.zeros((size, size)), np.empty((size, size))
    degrees = np.zeros(size)
    for head in range(size):
        counts = 0.0 if head == 0 and single_root else 1.0
        for modifier in range(1, size):
            e[head, modifier] = change[head, modifier]
            degrees[modifier] += counts * change[head, modifier]
    for modifier in range(1, size):
        e[modifier, modifier] -= degrees[modifier]
    columns = matrix[:size, :size].T.copy()
    _multiply(columns, e, size, stop, stop, x)  # x[k, i] = (E B)[i, k], as the second product wants it
    if single_root:
        x[stop, :stop] += e[:stop, stop]
    _multiply(matrix, x, stop, size, stop, d_matrix)
    for k in range(size):
        d_matrix[0, k] += x[k, 0]
        d_matrix[k, 0] = 0.0
        if single_root:
            d_matrix[stop, k] = 0.0
    slope = d_matrix[0, stop] / matrix[0, stop] if single_root else 0.0
    for word in range(1, stop):
        slope -= x[word, word]
    return slope


@kernel
def gains_tangent(size: int, single_root: bool, matrix: FloatArray, d_matrix: FloatArray, out: FloatArray) -> None:
    """Fill `out` with the derivatives of `gains` after `sweep_tangent`."""
    last = size - 1
    out[:size, 0] = 0.0
    if not single_root:
        for modifier in range(1, size):
            for head in range(1, size):
                out[head, modifier] = d_matrix[modifier, modifier] - d_matrix[modifier, head]
            out[0, modifier] = d_matrix[modifier, modifier]
        return
    scale = 1.0 / matrix[0, last]
    d_scale = -d_matrix[0, last] * scale * scale
    for modifier in range(1, last):
        row, d_row = matrix[modifier], d_matrix[modifier]
        exit_ = row[last] * scale
        d_exit = d_row[last] * scale + row[last] * d_scale
        out[0, modifier] = d_exit
        for head in range(1, last):
            out[head, modifier] = (
                d_row[modifier]
                - d_row[head]
                + d_exit * (matrix[0, head] - matrix[0, modifier])
                + exit_ * (d_matrix[0, head] - d_matrix[0, modifier])
            )
        out[last, modifier] = d_row[modifier] - d_exit * matrix[0, modifier] - exit_ * d_matrix[0, modifier]
        out[modifier, modifier] = 0.0
    for head in range(1, last):
        out[head, last] = d_matrix[0, head] * scale + matrix[0, head] * d_scale
    out[0, last] = d_scale
    out[last, last] = 0.0
