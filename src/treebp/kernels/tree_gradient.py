"""Derivatives of what ``tree_group`` and ``projective_group`` do: of messages, of gains, and through whole runs."""

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels import eisner
from treebp.kernels._jit import inlined, kernel
from treebp.kernels.eisner_gradient import tangent
from treebp.kernels.projective_group import CHARTS, ArcGraph, pairs_of, rows_of
from treebp.kernels.ratios import send_pairs_backward
from treebp.kernels.tree_group import TreeArcs, TreeSums
from treebp.kernels.variables import gather_adjoints, spread_adjoints


@kernel
def send_trees_backward(
    arcs: TreeArcs,
    sums: TreeSums,
    marginals: FloatArray,
    of_messages: FloatArray,
    of_marginals: FloatArray,
    of_weights: FloatArray,
    of_gains: FloatArray,
) -> None:
    """Write the adjoints of log weights and gains, given those of messages or of marginals; one of them is empty."""
    position, matrix = 0, 0
    for t in range(len(arcs.sizes)):
        size, begin, end = arcs.sizes[t], arcs.first[t], arcs.first[t + 1]
        starts = arcs.starts[position : position + size]
        gains = sums.gains[matrix : matrix + size * size].reshape(size, size)
        position, matrix = position + size, matrix + size * size
        if sums.refused[t]:
            continue
        if len(of_marginals):
            for a in range(begin, end):
                of_weights[a] = of_marginals[a] * marginals[a]
                of_gains[a] = of_weights[a]
        else:
            _through_messages(
                arcs.heads[begin:end],
                starts,
                gains,
                marginals[begin:end],
                of_messages[begin:end],
                of_weights[begin:end],
                of_gains[begin:end],
            )
        if sums.by_walks[t]:
            _centre(starts, marginals[begin:end], of_weights[begin:end], of_gains[begin:end])


@inlined
def _centre(starts: IntArray, marginals: FloatArray, of_weights: FloatArray, of_gains: FloatArray) -> None:
    """Take account of that the marginals of a modifier's arcs sum to one: then gains may have any unit."""
    for m in range(1, len(starts)):
        total = 0.0
        for a in range(starts[m - 1], starts[m]):
            total += of_gains[a]
        for a in range(starts[m - 1], starts[m]):
            of_weights[a] -= marginals[a] * total
            of_gains[a] -= marginals[a] * total


@inlined
def _through_messages(
    heads: IntArray,
    starts: IntArray,
    gains: FloatArray,
    marginals: FloatArray,
    adjoint: FloatArray,
    of_weights: FloatArray,
    of_gains: FloatArray,
) -> None:
    """From the adjoints of messages to those of log weights and log gains; infinite messages have no derivative."""
    of_weights[:] = 0.0
    of_gains[:] = 0.0
    for m in range(1, len(starts)):
        for a in range(starts[m - 1], starts[m]):
            if adjoint[a] == 0.0 or gains[heads[a], m] == 0.0:
                continue
            off = 0.0
            for b in range(starts[m - 1], starts[m]):
                if b != a:
                    off += marginals[b]
            if off == 0.0:
                continue
            of_gains[a] += adjoint[a]
            for b in range(starts[m - 1], starts[m]):
                if b != a:
                    share = adjoint[a] * marginals[b] / off
                    of_weights[b] -= share
                    of_gains[b] -= share


@kernel
def projective_gains_backward(
    arcs: TreeArcs, single_root: bool, sums: TreeSums, of_gains: FloatArray, of_weights: FloatArray
) -> None:
    """Add to the adjoints of log weights what comes through the gains."""
    matrix = 0
    largest = arcs.sizes.max() if len(arcs.sizes) else 0
    scratch = np.empty(CHARTS * largest * largest)
    change_, gain_changes_ = np.empty(largest * largest), np.empty(largest * largest)
    for t in range(len(arcs.sizes)):
        size, begin, end = arcs.sizes[t], arcs.first[t], arcs.first[t + 1]
        weights = sums.weights[matrix : matrix + size * size].reshape(size, size)
        gains = sums.gains[matrix : matrix + size * size].reshape(size, size)
        charts = sums.charts[CHARTS * matrix : CHARTS * (matrix + size * size)].reshape(CHARTS, size, size)
        matrix += size * size
        if sums.refused[t]:
            continue
        changes = scratch[: CHARTS * size * size].reshape(CHARTS, size, size)
        change = change_[: size * size].reshape(size, size)
        gain_changes = gain_changes_[: size * size].reshape(size, size)
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
        slope = tangent(weights, change, size, single_root, charts, changes, gain_changes) / partition
        for a in range(begin, end):
            head, modifier = arcs.heads[a], arcs.modifiers[a]
            moved = gain_changes[head, modifier] / partition - gains[head, modifier] * slope
            of_weights[a] += unit * (weights[head, modifier] * moved)


@kernel
def send_all_backward(
    graph: ArcGraph, memory: FloatArray, of_slots: FloatArray, of_log_odds: FloatArray, of_weights: FloatArray
) -> None:
    """The way back through all iterations.

    Args:
        graph: as `send_all` had it.
        memory: as `send_all` left it, with a row for each iteration.
        of_slots: (slots,) the adjoints of the totals.
        of_log_odds: (slots,) those of group 0's log-odds; added to.
        of_weights: those of the weights' logarithms; added to.

    """
    first, slots, tree, nothing = graph.first, graph.slots, len(graph.first) - 2, np.empty(0)
    # Adjoints of what slots have got from each group, and what of these came through messages to the very group.
    of_groups, own, adjoint = np.zeros((tree + 1, len(of_slots))), np.zeros(len(slots)), np.empty(len(slots))
    _add_to_all(of_groups, of_slots)
    at_slots, of_gains, at_trees = np.empty(len(of_slots)), np.empty(len(of_slots)), slice(first[tree], first[tree + 1])
    for iteration in range(len(memory) - 1, -1, -1):
        received, marginals, sums = rows_of(memory[iteration], graph, nothing)
        spread_adjoints(slots[at_trees], of_groups[tree], own[at_trees], adjoint[at_trees])
        of_groups[tree] = 0.0
        send_trees_backward(graph.arcs, sums, marginals, adjoint[at_trees], nothing, own[at_trees], of_gains)
        projective_gains_backward(graph.arcs, graph.single_root, sums, of_gains, own[at_trees])
        _add_to_all(of_groups, own[at_trees])
        at_slots[:] = 0.0
        for group in range(1, tree):
            entries, pairs = slice(first[group], first[group + 1]), pairs_of(first, group)
            weights, rows = graph.weights[pairs], (2, len(graph.weights[pairs]))
            spread_adjoints(slots[entries], of_groups[group], own[entries], adjoint[entries])
            of_groups[group] = 0.0
            send_pairs_backward(
                weights,
                received[entries].reshape(rows),
                adjoint[entries].reshape(rows),
                own[entries].reshape(rows),
                of_weights[pairs],
            )
            gather_adjoints(slots[entries], own[entries], at_slots)
        if iteration > 0:  # the first messages to pairs say nothing, whatever was gathered
            _add_to_all(of_groups, at_slots)
    for slot in range(len(of_slots)):
        of_log_odds[slot] += of_groups[0, slot]


@inlined
def _add_to_all(rows: FloatArray, numbers: FloatArray) -> None:
    for row in range(len(rows)):
        for k in range(len(numbers)):
            rows[row, k] += numbers[k]
