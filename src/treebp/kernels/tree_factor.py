"""Gains of the arcs of one sentence under either kind of tree, and their derivative, for weights in real arithmetic.

``weights[head, modifier]`` are at most one, zero for arcs that are not there. Gains are scaled so that
marginal = weight * gain. ``charts`` is scratch memory of (CHARTS, size, size) that keeps what the derivative needs.
"""

import math

import numpy as np

from treebp._types import FloatArray
from treebp.kernels import eisner, log_eisner, log_matrix_tree, matrix_tree
from treebp.kernels._jit import kernel
from treebp.kernels.nonprojective import usable
from treebp.kernels.projective import in_range

CHARTS = eisner.CHARTS
_TOLERANCE = 1e-12


@kernel
def tree_gains(
    weights: FloatArray, size: int, projective: bool, single_root: bool, charts: FloatArray, gains: FloatArray
) -> tuple[float, bool]:
    """Fill the gains; return log Z, -inf if there is no tree, and whether log arithmetic was needed."""
    if projective:
        partition = eisner.inside(weights, size, single_root, charts)
        if in_range(partition, weights, size):
            eisner.outside(weights, size, single_root, charts, gains)
            scale = 1.0 / partition
            for head in range(size):
                for modifier in range(1, size):
                    gains[head, modifier] *= scale
            return math.log(partition), False
    else:
        log_z = matrix_tree.sweep(weights, size, single_root, charts[0])
        if usable(log_z, weights, size, single_root, charts[0], gains, _TOLERANCE):
            return log_z, False
    logits = np.log(weights[:size, :size])
    slopes = np.empty((size, size))
    if projective:
        log_z, _ = log_eisner.log_gains(logits, np.zeros((size, size)), size, single_root, gains, slopes)
    else:
        log_z, _ = log_matrix_tree.log_gains(logits, np.zeros((size, size)), size, single_root, gains, slopes)
    for head in range(size):
        for modifier in range(size):
            gains[head, modifier] = math.exp(gains[head, modifier] - log_z)
    return log_z, True


@kernel
def tree_tangent(
    weights: FloatArray,
    change: FloatArray,
    size: int,
    projective: bool,
    single_root: bool,
    log_z: float,
    in_logs: bool,
    charts: FloatArray,
    changes: FloatArray,
    gains: FloatArray,
    out: FloatArray,
) -> float:
    """Fill ``out`` with d(Z * gain) / Z along ``change`` of the weights, and return d log Z, after ``tree_gains``."""
    if in_logs:
        logits = np.log(weights[:size, :size])
        direction = np.zeros((size, size))
        for head in range(size):
            for modifier in range(1, size):
                if weights[head, modifier] > 0.0:
                    direction[head, modifier] = change[head, modifier] / weights[head, modifier]
        log_g, slopes = np.empty((size, size)), np.empty((size, size))
        if projective:
            _, slope = log_eisner.log_gains(logits, direction, size, single_root, log_g, slopes)
        else:
            _, slope = log_matrix_tree.log_gains(logits, direction, size, single_root, log_g, slopes)
        for head in range(size):
            for modifier in range(size):
                out[head, modifier] = gains[head, modifier] * slopes[head, modifier]
        return slope
    if projective:
        scale = math.exp(-log_z)
        slope = eisner.tangent(weights, change, size, single_root, charts, changes, out) * scale
        for head in range(size):
            for modifier in range(size):
                out[head, modifier] *= scale
        return slope
    slope = matrix_tree.sweep_tangent(change, size, single_root, charts[0], changes[0])
    matrix_tree.gains_tangent(size, single_root, charts[0], changes[0], out)
    for head in range(size):
        for modifier in range(size):
            out[head, modifier] += gains[head, modifier] * slope
    return slope
