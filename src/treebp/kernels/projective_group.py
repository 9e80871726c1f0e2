"""Gains of many projective trees in real arithmetic, and their derivatives; see ``tree_group``."""

import math

import numpy as np

from treebp._types import FloatArray
from treebp.kernels import eisner
from treebp.kernels._jit import inlined, kernel
from treebp.kernels.tree_group import Arcs, Sums

CHARTS = eisner.CHARTS
_FAINTEST = -600.0  # products of weights above e to this do not underflow
_FAINT = 1e-290  # what is smaller may have lost digits to underflow
_LARGEST = 1e250
_LARGEST_ITEM = 1e150  # times a change of 1e100, this does not overflow


@kernel
def projective_gains(arcs: Arcs, single_root: bool, kept: bool, sums: Sums) -> int:
    """Fill in gains and log-partitions; return how many trees are left to `careful_gains`, which few programs need."""
    matrix, left = 0, 0
    for t in range(len(arcs.sizes)):
        size = arcs.sizes[t]
        weights, gains, charts = _matrices(sums, size, matrix, kept)
        matrix += size * size
        sums.by_walks[t] = False
        sums.log_partitions[t] = math.nan
        if sums.lightest[t] == -math.inf:
            continue
        left += 1
        partition = eisner.inside(weights, size, single_root, charts) if size <= eisner.LONGEST else math.nan
        if 0.0 < partition < _LARGEST:
            eisner.outside(weights, size, single_root, charts, gains)
            if sums.lightest[t] >= _FAINTEST or _none_faint(weights, gains, size):
                _settle(sums, t, size, gains, partition)
                left -= 1
    return left


@kernel
def careful_gains(arcs: Arcs, single_root: bool, kept: bool, sums: Sums) -> None:
    """The same for the trees that are left: rescaled if they must be, and looked at more closely."""
    position, matrix = 0, 0
    for t in range(len(arcs.sizes)):
        size = arcs.sizes[t]
        weights, gains, charts = _matrices(sums, size, matrix, kept)
        tops = sums.tops[position : position + size]
        position, matrix = position + size, matrix + size * size
        if sums.lightest[t] == -math.inf or not math.isnan(sums.log_partitions[t]):
            continue
        partition = eisner.inside(weights, size, single_root, charts) if size <= eisner.LONGEST else math.nan
        if not 0.0 < partition < _LARGEST:
            partition = eisner.scaled_inside(weights, size, single_root, charts, tops)
            if math.isnan(partition):
                continue
        eisner.outside(weights, size, single_root, charts, gains)
        if _none_faint(weights, gains, size) or _all_heavy(weights, gains, size, single_root, charts):
            _settle(sums, t, size, gains, partition)


@inlined
def _matrices(sums: Sums, size: int, matrix: int, kept: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights, gains and charts of the tree whose matrices begin at a place."""
    end, place = matrix + size * size, matrix if kept else 0
    return (
        sums.weights[matrix:end].reshape(size, size),
        sums.gains[matrix:end].reshape(size, size),
        sums.charts[CHARTS * place : CHARTS * (place + size * size)].reshape(CHARTS, size, size),
    )


@inlined
def _settle(sums: Sums, t: int, size: int, gains: FloatArray, partition: float) -> None:
    """Make what the charts gave for a tree its gains and log-partition."""
    scale = 1.0 / partition
    for head in range(size):
        for modifier in range(1, size):
            gains[head, modifier] *= scale
    sums.log_partitions[t] = math.log(partition)


@kernel
def _none_faint(weights: FloatArray, gains: FloatArray, size: int) -> bool:
    """Whether no gain is so small that what underflowed could be a part of it.

    A product that underflows is off by less than e^-744; there are fewer than n^3 such products, and what completes
    them to trees weighs no more than the product over modifiers of their heads' weights.
    """
    completion = 3.0 * math.log(size) - 744.0 + 25.0
    for modifier in range(1, size):
        total = 0.0
        for head in range(size):
            total += weights[head, modifier]
        completion += math.log(total)
    if completion > 0.0:
        return False
    faint = max(math.exp(completion), _FAINT)
    for head in range(size):
        for modifier in range(1, size):
            if weights[head, modifier] > 0.0 and not gains[head, modifier] > faint:
                return False
    return True


@kernel
def _all_heavy(weights: FloatArray, gains: FloatArray, size: int, single_root: bool, charts: FloatArray) -> bool:
    """The same by what there really is beside products that underflow: see ``eisner.largest_item``.

    Where a gain is zero, the arc is asked for by other means: those that are in no tree are no matter of underflow.
    """
    largest = eisner.largest_item(size, single_root, charts, gains)
    lost = size**3 * math.exp(25.0 - 744.0) * largest
    if not largest < _LARGEST_ITEM:
        return False
    light = False
    for head in range(size):
        for modifier in range(1, size):
            weight, gain = weights[head, modifier], gains[head, modifier]
            if weight > 0.0 and not (gain > _FAINT and weight * gain > lost):
                if gain > 0.0:
                    return False
                light = True
    return not light or _none_possible(weights, gains, size, single_root)


@kernel
def _none_possible(weights: FloatArray, gains: FloatArray, size: int, single_root: bool) -> bool:
    """Whether all arcs whose gain is zero are in no tree."""
    possible = eisner.possible_arcs(weights, size, single_root)
    for head in range(size):
        for modifier in range(1, size):
            if possible[head, modifier] > 0.0 and gains[head, modifier] == 0.0:
                return False
    return True


@kernel
def projective_gains_backward(
    arcs: Arcs, single_root: bool, sums: Sums, of_gains: FloatArray, of_weights: FloatArray
) -> None:
    """Add to the adjoints of log weights what comes through the gains."""
    matrix = 0
    largest = arcs.sizes.max() if len(arcs.sizes) else 0
    scratch = np.empty(CHARTS * largest * largest)
    change_, tangent_ = np.empty(largest * largest), np.empty(largest * largest)
    for t in range(len(arcs.sizes)):
        size, begin, end = arcs.sizes[t], arcs.first[t], arcs.first[t + 1]
        weights = sums.weights[matrix : matrix + size * size].reshape(size, size)
        gains = sums.gains[matrix : matrix + size * size].reshape(size, size)
        charts = sums.charts[CHARTS * matrix : CHARTS * (matrix + size * size)].reshape(CHARTS, size, size)
        matrix += size * size
        if sums.refused[t]:
            continue
        changes = scratch[: CHARTS * size * size].reshape(CHARTS, size, size)
        change, tangent = change_[: size * size].reshape(size, size), tangent_[: size * size].reshape(size, size)
        change[:] = 0.0
        unit = 1e100  # beyond this, changes are measured by the largest one, lest anything overflow
        for a in range(begin, end):
            head, modifier = arcs.heads[a], arcs.modifiers[a]
            if of_gains[a] != 0.0:
                change[head, modifier] = of_gains[a] / gains[head, modifier]
                unit = max(unit, abs(change[head, modifier]) / max(weights[head, modifier], 1.0))
        unit = unit if unit > 1e100 else 1.0
        change *= 1.0 / unit
        last = size - 1
        partition = charts[eisner.RIGHT, 0, last]
        if single_root:
            partition = 0.0
            for k in range(1, size):
                partition += weights[0, k] * charts[eisner.LEFT, 1, k] * charts[eisner.RIGHT, k, last]
        slope = eisner.tangent(weights, change, size, single_root, charts, changes, tangent) / partition
        for a in range(begin, end):
            head, modifier = arcs.heads[a], arcs.modifiers[a]
            moved = tangent[head, modifier] / partition - gains[head, modifier] * slope
            of_weights[a] += unit * (weights[head, modifier] * moved)
