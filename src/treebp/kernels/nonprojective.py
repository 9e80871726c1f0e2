"""Batches of non-projective dependency trees: real arithmetic where it is safe, log arithmetic elsewhere."""

import math

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels import matrix_tree
from treebp.kernels._jit import kernel
from treebp.kernels.arc_weights import arc_weights, marginals_from_logs, nothing_lost, product_from_logs
from treebp.kernels.log_matrix_tree import log_gains

# Largest error of a marginal for which the subtracting formula is good enough; derivatives square its condition.
_TOLERANCE, _TOLERANCE_DERIVATIVE = 1e-11, 1e-12


@kernel
def usable(
    log_z: float,
    weights: FloatArray,
    size: int,
    single_root: bool,
    matrix: FloatArray,
    gains: FloatArray,
    tolerance: float,
) -> bool:
    """After a sweep: fill the gains, and say whether they can be trusted."""
    if math.isnan(log_z) or not nothing_lost(log_z, weights, size, math.inf):
        return False
    return matrix_tree.gains(weights, size, single_root, matrix, gains)[0] < tolerance


@kernel
def marginals(
    scores: FloatArray, lengths: IntArray, single_root: bool, log_partition: FloatArray, out: FloatArray
) -> None:
    """log Z and arc marginals of every sentence; log Z is -inf where a sentence has no tree."""
    width = scores.shape[1]
    matrix = np.empty((width, width))
    logits, weights = np.empty((width, width)), np.empty((width, width))
    gains, slopes = np.empty((width, width)), np.empty((width, width))
    out[:] = 0.0
    for b in range(len(lengths)):
        size = lengths[b] + 1
        offset = arc_weights(scores[b], size, logits, weights)
        if offset == -math.inf:
            log_partition[b] = -math.inf
            continue
        log_z = matrix_tree.sweep(weights, size, single_root, matrix)
        if usable(log_z, weights, size, single_root, matrix, gains, _TOLERANCE):
            for head in range(size):
                for modifier in range(1, size):
                    out[b, head, modifier] = max(0.0, weights[head, modifier] * gains[head, modifier])
        else:
            log_z, _ = log_gains(logits, np.zeros((size, size)), size, single_root, gains, slopes)
            if log_z > -math.inf:
                marginals_from_logs(logits, size, log_z, gains, out[b])
        log_partition[b] = offset + log_z


@kernel
def product(scores: FloatArray, direction: FloatArray, lengths: IntArray, single_root: bool, out: FloatArray) -> None:
    """Jacobian of the marginals times `direction`; the Jacobian is symmetric."""
    width = scores.shape[1]
    matrix, d_matrix = np.empty((width, width)), np.empty((width, width))
    logits, weights = np.empty((width, width)), np.empty((width, width))
    gains, slopes = np.empty((width, width)), np.empty((width, width))
    change = np.empty((width, width))
    out[:] = 0.0
    for b in range(len(lengths)):
        size = lengths[b] + 1
        arc_weights(scores[b], size, logits, weights)
        log_z = matrix_tree.sweep(weights, size, single_root, matrix)
        if usable(log_z, weights, size, single_root, matrix, gains, _TOLERANCE_DERIVATIVE):
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
            log_z, slope = log_gains(logits, direction[b], size, single_root, gains, slopes)
            product_from_logs(logits, direction[b], size, log_z, slope, gains, slopes, out[b])
