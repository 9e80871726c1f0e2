"""The derivative of inside-outside over projective trees, along a change of the weights: see ``eisner``."""

import numpy as np

from treebp._types import FloatArray
from treebp.kernels._jit import summing_kernel
from treebp.kernels.eisner import (
    ARC_LEFT,
    ARC_RIGHT,
    LEFT,
    OUT_ARC,
    OUT_LEFT,
    OUT_PAIR,
    OUT_RIGHT,
    PAIR,
    RIGHT,
)

_ZERO, _ONE = np.uint64(0), np.uint64(1)


@summing_kernel
def tangent(
    weights: FloatArray,
    change: FloatArray,
    size: int,
    single_root: bool,
    charts: FloatArray,
    changes: FloatArray,
    gain_changes: FloatArray,
) -> float:
    """Differentiate `inside` and `outside` in the direction `change` of the weights.

    Needs the charts that both have filled; `changes` has their shape. Fills `gain_changes` and returns the
    change of the partition. Marginals being the gradient of log Z, this one pass gives the product of their
    (symmetric) Jacobian with any vector.
    """
    right, left = charts[RIGHT], charts[LEFT]
    arc_right, arc_left, pair = charts[ARC_RIGHT], charts[ARC_LEFT], charts[PAIR]
    d_right, d_left = changes[RIGHT], changes[LEFT]
    d_arc_right, d_arc_left, d_pair = changes[ARC_RIGHT], changes[ARC_LEFT], changes[PAIR]
    first = _ONE if single_root else _ZERO
    end = np.uint64(size)
    last = end - _ONE
    for j in range(first, end):
        d_right[j, j] = 0.0
        d_left[j, j] = 0.0
        for width in range(_ONE, j - first + _ONE):
            i = j - width
            split = d_left[j, i + _ONE]
            to_right = 0.0
            to_left = 0.0
            for k in range(i + _ONE, j):
                split += d_right[i, k] * left[j, k + _ONE] + right[i, k] * d_left[j, k + _ONE]
                to_right += d_arc_right[i, k] * right[j, k] + arc_right[i, k] * d_right[j, k]
                to_left += d_left[i, k] * arc_left[j, k] + left[i, k] * d_arc_left[j, k]
            rightward = split * weights[i, j] + pair[i, j] * change[i, j]
            leftward = split * weights[j, i] + pair[i, j] * change[j, i]
            to_right += rightward
            to_left += leftward
            d_pair[i, j] = split
            d_arc_right[i, j] = rightward
            d_arc_right[j, i] = rightward
            d_arc_left[i, j] = leftward
            d_arc_left[j, i] = leftward
            d_right[i, j] = to_right
            d_right[j, i] = to_right
            d_left[i, j] = to_left
            d_left[j, i] = to_left
    _outside_tangent(weights, change, size, single_root, charts, changes, gain_changes)
    if not single_root:
        return d_right[_ZERO, last]
    partition = 0.0
    for k in range(_ONE, end):
        partition += change[_ZERO, k] * left[_ONE, k] * right[k, last] + weights[_ZERO, k] * gain_changes[_ZERO, k]
    return partition


@summing_kernel
def _outside_tangent(
    weights: FloatArray,
    change: FloatArray,
    size: int,
    single_root: bool,
    charts: FloatArray,
    changes: FloatArray,
    gain_changes: FloatArray,
) -> None:
    right, left = charts[RIGHT], charts[LEFT]
    arc_right, arc_left, pair = charts[ARC_RIGHT], charts[ARC_LEFT], charts[PAIR]
    out_pair, out_right, out_left = charts[OUT_PAIR], charts[OUT_RIGHT], charts[OUT_LEFT]
    out_arc = charts[OUT_ARC]
    d_right, d_left = changes[RIGHT], changes[LEFT]
    d_arc_right, d_arc_left, d_pair = changes[ARC_RIGHT], changes[ARC_LEFT], changes[PAIR]
    d_out_pair, d_out_right, d_out_left = changes[OUT_PAIR], changes[OUT_RIGHT], changes[OUT_LEFT]
    first = _ONE if single_root else _ZERO
    end = np.uint64(size)
    last = end - _ONE
    for step in range(last - first):
        j = last - step
        for i in range(first, j):
            out_r = 0.0
            out_l = 0.0
            if single_root:
                if j == last:
                    out_r = change[_ZERO, i] * left[_ONE, i] + weights[_ZERO, i] * d_left[_ONE, i]
                if i == _ONE:
                    out_l = change[_ZERO, j] * right[j, last] + weights[_ZERO, j] * d_right[j, last]
            out_ar = 0.0
            out_al = 0.0
            for k in range(j + _ONE, end):
                out_r += d_out_pair[i, k] * left[j + _ONE, k] + out_pair[i, k] * d_left[j + _ONE, k]
                out_ar += d_out_right[i, k] * right[j, k] + out_right[i, k] * d_right[j, k]
                out_l += d_out_left[i, k] * arc_left[j, k] + out_left[i, k] * d_arc_left[j, k]
            for k in range(first, i):
                out_l += d_out_pair[j, k] * right[i - _ONE, k] + out_pair[j, k] * d_right[i - _ONE, k]
                out_al += d_out_left[j, k] * left[i, k] + out_left[j, k] * d_left[i, k]
                out_r += d_out_right[j, k] * arc_right[i, k] + out_right[j, k] * d_arc_right[i, k]
            out_ar += out_r
            out_al += out_l
            share = weights[i, j] * out_ar + weights[j, i] * out_al
            share += change[i, j] * out_arc[i, j] + change[j, i] * out_arc[j, i]
            d_out_right[i, j] = out_r
            d_out_right[j, i] = out_r
            d_out_left[i, j] = out_l
            d_out_left[j, i] = out_l
            d_out_pair[i, j] = share
            d_out_pair[j, i] = share
            gain_changes[i, j] = out_ar * pair[i, j] + out_arc[i, j] * d_pair[i, j]
            gain_changes[j, i] = out_al * pair[i, j] + out_arc[j, i] * d_pair[i, j]
    if single_root:
        for k in range(_ONE, end):
            gain_changes[_ZERO, k] = d_left[_ONE, k] * right[k, last] + left[_ONE, k] * d_right[k, last]
    for k in range(end):
        gain_changes[k, k] = 0.0
        gain_changes[k, _ZERO] = 0.0
