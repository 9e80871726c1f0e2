"""Gains of many non-projective trees in real arithmetic, and their derivatives; see ``tree_group``.

Sums over these trees have a fast way, whose one subtraction loses digits where an arc would make its head depend on
itself, or nearly so; then they go by ``treebp.kernels.walks``, which takes two to four times as long.
"""

import math

import numpy as np

from treebp._types import FloatArray
from treebp.kernels import matrix_tree
from treebp.kernels._jit import kernel
from treebp.kernels.tree_group import TreeArcs, TreeSums
from treebp.kernels.walks import walk_sums

CHARTS = 1
_RELATIVE = 1e-10  # the largest error of a gain, relative to it: derivatives square the condition


@kernel
def spanning_gains(arcs: TreeArcs, single_root: bool, kept: bool, sums: TreeSums) -> None:
    """Fill in gains and log-partitions."""
    place = 0
    for t in range(len(arcs.sizes)):
        size = arcs.sizes[t]
        weights = sums.weights[place : place + size * size].reshape(size, size)
        gains = sums.gains[place : place + size * size].reshape(size, size)
        matrix = sums.charts[place if kept else 0 :][: size * size].reshape(size, size)
        place += size * size
        sums.by_walks[t] = False
        sums.log_partitions[t] = math.nan
        if sums.lightest[t] == -math.inf:
            continue
        log_z = matrix_tree.sweep(weights, size, single_root, matrix)
        if not math.isnan(log_z):
            _, relative = matrix_tree.gains(weights, size, single_root, matrix, gains)
            if relative < _RELATIVE:
                sums.log_partitions[t] = log_z
                continue
        sums.by_walks[t] = True
        sums.log_partitions[t] = walk_sums(weights, size, single_root, False, gains, gains)
        if not math.isnan(sums.log_partitions[t]):
            for modifier in range(1, size):
                total = 0.0
                for head in range(size):
                    total += weights[head, modifier] * gains[head, modifier]
                for head in range(size):
                    gains[head, modifier] /= total


@kernel
def spanning_gains_backward(
    arcs: TreeArcs, single_root: bool, sums: TreeSums, of_gains: FloatArray, of_weights: FloatArray
) -> None:
    """Add to the adjoints of log weights what comes through the gains."""
    place = 0
    largest = arcs.sizes.max() if len(arcs.sizes) else 0
    scratch = np.empty((3, largest * largest))
    for t in range(len(arcs.sizes)):
        size, begin, end = arcs.sizes[t], arcs.first[t], arcs.first[t + 1]
        weights = sums.weights[place : place + size * size].reshape(size, size)
        gains = sums.gains[place : place + size * size].reshape(size, size)
        matrix = sums.charts[place : place + size * size].reshape(size, size)
        place += size * size
        if sums.refused[t]:
            continue
        change = scratch[0, : size * size].reshape(size, size)
        tangent = scratch[1, : size * size].reshape(size, size)
        d_matrix = scratch[2, : size * size].reshape(size, size)
        change[:] = 0.0
        if sums.by_walks[t]:
            for a in range(begin, end):
                change[arcs.heads[a], arcs.modifiers[a]] = of_gains[a]
            walk_sums(weights, size, single_root, True, change, tangent)
            for a in range(begin, end):
                head, modifier = arcs.heads[a], arcs.modifiers[a]
                of_weights[a] += weights[head, modifier] * change[head, modifier]
            continue
        for a in range(begin, end):
            if of_gains[a] != 0.0:
                change[arcs.heads[a], arcs.modifiers[a]] = of_gains[a] / gains[arcs.heads[a], arcs.modifiers[a]]
        matrix_tree.sweep_tangent(change, size, single_root, matrix, d_matrix)
        matrix_tree.gains_tangent(size, single_root, matrix, d_matrix, tangent)
        for a in range(begin, end):
            head, modifier = arcs.heads[a], arcs.modifiers[a]
            of_weights[a] += weights[head, modifier] * tangent[head, modifier]
