"""Batches of projective dependency trees: real arithmetic where it is safe, log arithmetic elsewhere."""

import math

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels import eisner
from treebp.kernels._jit import kernel
from treebp.kernels.arc_weights import arc_weights, marginals_from_logs, nothing_lost, product_from_logs
from treebp.kernels.eisner_gradient import tangent
from treebp.kernels.log_eisner import log_gains

_LARGEST = 1e250  # beside a partition of one, items up to this lose nothing that matters: see `eisner.largest_item`


@kernel
def in_range(partition: float, weights: FloatArray, size: int) -> bool:
    """Whether a partition of projective trees, of which there are fewer than 6.75^n, can be trusted."""
    return 0.0 < partition < 1e300 and nothing_lost(math.log(partition), weights, size, size * math.log(6.75))


@kernel
def _sums(
    weights: FloatArray, size: int, single_root: bool, charts: FloatArray, gains: FloatArray
) -> tuple[float, float]:
    """Fill charts and gains; return the partition, and the logarithm of what it was before the weights were rescaled.

    Both are NaN where real arithmetic will not do.
    """
    partition, offset, trusted = math.nan, 0.0, False
    if size <= eisner.LONGEST:
        partition = eisner.inside(weights, size, single_root, charts)
        trusted = in_range(partition, weights, size)
    if not trusted:
        tops = np.zeros(size)
        partition = eisner.scaled_inside(weights, size, single_root, charts, tops)
        offset = tops.sum()
        if math.isnan(partition):
            return math.nan, math.nan
    eisner.outside(weights, size, single_root, charts, gains)
    if not trusted and not eisner.largest_item(size, single_root, charts, gains) < _LARGEST:
        return math.nan, math.nan
    return partition, offset + math.log(partition)


@kernel
def marginals(
    scores: FloatArray,
    lengths: IntArray,
    single_root: bool,
    offsets: FloatArray,
    log_partition: FloatArray,
    out: FloatArray,
) -> None:
    """log Z and arc marginals of every sentence; log Z is -inf where a sentence has no tree.

    `offsets` are the sums of each modifier's largest score, and log Z leaves them out.
    """
    width = scores.shape[1]
    charts = np.empty((eisner.CHARTS, width, width))
    logits, weights = np.empty((width, width)), np.empty((width, width))
    gains, slopes = np.empty((width, width)), np.empty((width, width))
    out[:] = 0.0
    for b in range(len(lengths)):
        size = lengths[b] + 1
        offsets[b] = arc_weights(scores[b], size, logits, weights)
        if offsets[b] == -math.inf:
            log_partition[b] = -math.inf
            continue
        partition, log_z = _sums(weights, size, single_root, charts, gains)
        if not math.isnan(partition):
            scale = 1.0 / partition
            for head in range(size):
                for modifier in range(1, size):
                    out[b, head, modifier] = weights[head, modifier] * gains[head, modifier] * scale
        else:
            log_z, _ = log_gains(logits, np.zeros((size, size)), size, single_root, gains, slopes)
            if log_z > -math.inf:
                marginals_from_logs(logits, size, log_z, gains, out[b])
        log_partition[b] = log_z


@kernel
def product(scores: FloatArray, direction: FloatArray, lengths: IntArray, single_root: bool, out: FloatArray) -> None:
    """Jacobian of the marginals times `direction`; the Jacobian is symmetric."""
    width = scores.shape[1]
    charts, changes = np.empty((eisner.CHARTS, width, width)), np.empty((eisner.CHARTS, width, width))
    logits, weights = np.empty((width, width)), np.empty((width, width))
    gains, slopes = np.empty((width, width)), np.empty((width, width))
    change = np.empty((width, width))
    out[:] = 0.0
    for b in range(len(lengths)):
        size = lengths[b] + 1
        arc_weights(scores[b], size, logits, weights)
        partition, _ = _sums(weights, size, single_root, charts, gains)
        if not math.isnan(partition):
            for head in range(size):
                for modifier in range(size):
                    change[head, modifier] = weights[head, modifier] * direction[b, head, modifier]
            slope = tangent(weights, change, size, single_root, charts, changes, slopes) / partition
            scale = 1.0 / partition
            for head in range(size):
                for modifier in range(1, size):
                    first_order = (change[head, modifier] - weights[head, modifier] * slope) * gains[head, modifier]
                    second_order = weights[head, modifier] * slopes[head, modifier]
                    out[b, head, modifier] = (first_order + second_order) * scale
        else:
            log_z, slope = log_gains(logits, direction[b], size, single_root, gains, slopes)
            product_from_logs(logits, direction[b], size, log_z, slope, gains, slopes, out[b])
