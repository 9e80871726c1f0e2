"""Batches of non-projective dependency trees: real arithmetic where it is safe, log arithmetic elsewhere."""

import math
from typing import NamedTuple

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels import matrix_tree
from treebp.kernels._jit import kernel
from treebp.kernels.arc_weights import arc_weights, marginals_from_logs, nothing_lost, product_from_logs
from treebp.kernels.log_matrix_tree import log_gains
from treebp.kernels.walks import walk_sums

# Largest errors for which the subtracting formula is good enough: of a marginal, and of its derivative.
_TOLERANCE, _TOLERANCE_DERIVATIVE = 1e-11, 2e-11
_ROUNDING = 2.3e-16


class Swept(NamedTuple):
    """What the derivative of the marginals need not compute again.

    Attributes:
        weights, matrices: (batch, width, width) see `matrix_tree`.
        errors: (batch,) bounds on the error of the marginals that come of them; infinite if they are not to be used.

    """

    weights: FloatArray
    matrices: FloatArray
    errors: FloatArray


@kernel
def marginals(
    scores: FloatArray,
    lengths: IntArray,
    single_root: bool,
    offsets: FloatArray,
    log_partition: FloatArray,
    out: FloatArray,
    swept: Swept,
) -> None:
    """log Z and arc marginals of every sentence; log Z is -inf where a sentence has no tree.

    `offsets` are the sums of each modifier's largest score, and log Z leaves them out.
    """
    width = scores.shape[1]
    logits, gains = np.empty((width, width)), np.empty((width, width))
    out[:] = 0.0
    for b in range(len(lengths)):
        size = lengths[b] + 1
        weights, matrix = swept.weights[b], swept.matrices[b]
        offsets[b] = arc_weights(scores[b], size, logits, weights)
        swept.errors[b] = math.inf
        if offsets[b] == -math.inf:
            log_partition[b] = -math.inf
            continue
        log_z = matrix_tree.sweep(weights, size, single_root, matrix)
        if not math.isnan(log_z) and nothing_lost(log_z, weights, size, math.inf):
            swept.errors[b] = matrix_tree.gains(weights, size, single_root, matrix, gains)[0]
        if swept.errors[b] < _TOLERANCE:
            for head in range(size):
                for modifier in range(1, size):
                    out[b, head, modifier] = max(0.0, weights[head, modifier] * gains[head, modifier])
        else:
            log_z = _without_subtraction(logits, weights, size, single_root, gains, out[b])
        log_partition[b] = log_z


@kernel
def _without_subtraction(
    logits: FloatArray, weights: FloatArray, size: int, single_root: bool, gains: FloatArray, out: FloatArray
) -> float:
    """Write the marginals and return log Z, in logarithms only where walks underflow."""
    log_z = walk_sums(weights, size, single_root, False, gains, gains)
    if not math.isnan(log_z):
        _share(weights, size, gains, out)
        return log_z
    slopes = np.empty((size, size))
    log_z, _ = log_gains(logits, np.zeros((size, size)), size, single_root, gains, slopes)
    if log_z > -math.inf:
        marginals_from_logs(logits, size, log_z, gains, out)
    return log_z


@kernel
def _share(weights: FloatArray, size: int, sums: FloatArray, out: FloatArray) -> None:
    """Marginals of sums that are in proportion to the gains of each modifier's arcs."""
    totals = np.zeros(size)
    for head in range(size):
        for modifier in range(1, size):
            out[head, modifier] = weights[head, modifier] * sums[head, modifier]
            totals[modifier] += out[head, modifier]
    for head in range(size):
        for modifier in range(1, size):
            out[head, modifier] /= totals[modifier]


@kernel
def product(
    scores: FloatArray, direction: FloatArray, lengths: IntArray, single_root: bool, swept: Swept, out: FloatArray
) -> None:
    """Jacobian of the marginals times `direction`, after `marginals`; the Jacobian is symmetric."""
    width = scores.shape[1]
    d_matrix, gains = np.empty((width, width)), np.empty((width, width))
    slopes, change = np.empty((width, width)), np.empty((width, width))
    out[:] = 0.0
    for b in range(len(lengths)):
        size = lengths[b] + 1
        weights, matrix = swept.weights[b], swept.matrices[b]
        # The error of a marginal is a condition times the rounding of `size` numbers; a derivative squares the former.
        if swept.errors[b] ** 2 < _TOLERANCE_DERIVATIVE * size * _ROUNDING:
            matrix_tree.gains(weights, size, single_root, matrix, gains)
            for head in range(size):
                for modifier in range(size):
                    change[head, modifier] = weights[head, modifier] * direction[b, head, modifier]
            matrix_tree.sweep_tangent(change, size, single_root, matrix, d_matrix)
            matrix_tree.gains_tangent(size, single_root, matrix, d_matrix, slopes)
            for head in range(size):
                for modifier in range(1, size):
                    first_order = change[head, modifier] * gains[head, modifier]
                    out[b, head, modifier] = first_order + weights[head, modifier] * slopes[head, modifier]
        else:
            _product_without_subtraction(scores[b], direction[b], size, single_root, out[b])


@kernel
def _product_without_subtraction(
    scores: FloatArray, direction: FloatArray, size: int, single_root: bool, out: FloatArray
) -> None:
    """The same by walks, or in logarithms where these underflow.

    A marginal is its share in the sums of the modifier's arcs. Its adjoint goes to the logarithm of its arc's weight,
    and of its arc's sum, which has all weights in it.
    """
    logits, weights = np.empty((size, size)), np.empty((size, size))
    gains, slopes = np.empty((size, size)), np.empty((size, size))
    arc_weights(scores, size, logits, weights)
    if math.isnan(walk_sums(weights, size, single_root, False, gains, gains)):
        log_z, slope = log_gains(logits, direction, size, single_root, gains, slopes)
        product_from_logs(logits, direction, size, log_z, slope, gains, slopes, out)
        return
    _share(weights, size, gains, out)
    means = np.zeros(size)
    for head in range(size):
        for modifier in range(1, size):
            means[modifier] += out[head, modifier] * direction[head, modifier]
    for head in range(size):
        for modifier in range(1, size):
            out[head, modifier] *= direction[head, modifier] - means[modifier]
    slopes[:] = out[:size, :size]
    walk_sums(weights, size, single_root, True, slopes, gains)
    for head in range(size):
        for modifier in range(1, size):
            out[head, modifier] += weights[head, modifier] * slopes[head, modifier]
