"""The matrix-tree theorem in real arithmetic: sums over all spanning trees, with one subtraction whose error is known.

A walk that moves from each word to a head, drawn in proportion to the arc weights, carries all we need. `sweep` takes
the words out one by one (Gauss-Jordan elimination on the Laplacian). Its entries keep their sign and each pivot is a
sum of weights rather than the difference that textbooks give (Grassmann, Taksar and Heyman, 1985), so every entry
comes out with full relative accuracy however badly conditioned the Laplacian is. Only the last step, from the inverse
to the gains, subtracts; its error is bounded and returned, and the caller turns to `log_matrix_tree` where the bound
is too large.

With one root word, arcs from the root count as infinitely light: pivots leave them out, and the last word left must
take the root.
"""

import math

from treebp._types import FloatArray
from treebp.kernels._jit import kernel

_TINY, _HUGE = 1e-280, 1e280  # a pivot outside may have lost mass to underflow, or be about to overflow


@kernel
def sweep(weights: FloatArray, size: int, single_root: bool, matrix: FloatArray) -> float:
    """Invert the Laplacian of `weights[head, modifier]` into `matrix`; return log Z, or NaN when out of range.

    With `single_root` the last word is left unswept.
    """
    matrix[:size, :size] = weights[:size, :size]
    log_partition = 0.0
    stop = size - 1 if single_root else size
    for pivot in range(1, stop):
        degree = 0.0 if single_root else matrix[0, pivot]
        for head in range(pivot + 1, size):
            degree += matrix[head, pivot]
        if not _TINY < degree < _HUGE:
            return math.nan
        log_partition += math.log(degree)
        row = matrix[pivot]
        for k in range(size):
            row[k] /= degree
        row[pivot] = 1.0 / degree
        for other in range(size):
            if other != pivot:
                target = matrix[other]
                factor = target[pivot]
                target[pivot] = 0.0
                for k in range(1, size):
                    target[k] += factor * row[k]
    if single_root:
        if not _TINY < matrix[0, stop] < _HUGE:
            return math.nan
        log_partition += math.log(matrix[0, stop])
    return log_partition


@kernel
def gains(weights: FloatArray, size: int, single_root: bool, matrix: FloatArray, out: FloatArray) -> float:
    """Fill `out[head, modifier]` = d log Z / d weight from the swept matrix; bound the error of weight * gain."""
    last = size - 1
    largest = 0.0
    out[:size, 0] = 0.0
    out[0, 0] = 0.0
    if not single_root:
        for modifier in range(1, size):
            row = matrix[modifier]
            diagonal = row[modifier]
            out[0, modifier] = diagonal
            for head in range(1, size):
                out[head, modifier] = diagonal - row[head]
                largest = max(largest, weights[head, modifier] * diagonal)
        return largest * size * 2.3e-16
    # The limit of the case above for root weights that shrink to nothing: see the module's docstring.
    scale = 1.0 / matrix[0, last]
    for modifier in range(1, last):
        row = matrix[modifier]
        exit_ = row[last] * scale
        out[0, modifier] = exit_
        for head in range(1, last):
            positive = row[modifier] + exit_ * matrix[0, head]
            out[head, modifier] = positive - (row[head] + exit_ * matrix[0, modifier])
            largest = max(largest, weights[head, modifier] * positive)
        out[last, modifier] = row[modifier] - exit_ * matrix[0, modifier]
        out[modifier, modifier] = 0.0
        largest = max(largest, weights[last, modifier] * row[modifier])
    for head in range(1, last):
        out[head, last] = matrix[0, head] * scale
    out[0, last] = scale
    out[last, last] = 0.0
    return largest * size * 2.3e-16


@kernel
def sweep_tangent(
    weights: FloatArray,
    change: FloatArray,
    size: int,
    single_root: bool,
    matrix: FloatArray,
    d_matrix: FloatArray,
) -> float:
    """`sweep` again, with the derivative of every entry along `change` in `d_matrix`; return that of log Z."""
    matrix[:size, :size] = weights[:size, :size]
    d_matrix[:size, :size] = change[:size, :size]
    slope = 0.0
    stop = size - 1 if single_root else size
    for pivot in range(1, stop):
        degree = 0.0 if single_root else matrix[0, pivot]
        d_degree = 0.0 if single_root else d_matrix[0, pivot]
        for head in range(pivot + 1, size):
            degree += matrix[head, pivot]
            d_degree += d_matrix[head, pivot]
        relative = d_degree / degree
        slope += relative
        row, d_row = matrix[pivot], d_matrix[pivot]
        for k in range(size):
            row[k] /= degree
            d_row[k] = d_row[k] / degree - row[k] * relative
        row[pivot] = 1.0 / degree
        d_row[pivot] = -relative / degree
        for other in range(size):
            if other != pivot:
                target, d_target = matrix[other], d_matrix[other]
                factor, d_factor = target[pivot], d_target[pivot]
                target[pivot] = 0.0
                d_target[pivot] = 0.0
                for k in range(1, size):
                    target[k] += factor * row[k]
                for k in range(1, size):
                    d_target[k] += d_factor * row[k] + factor * d_row[k]
    if single_root:
        slope += d_matrix[0, stop] / matrix[0, stop]
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
