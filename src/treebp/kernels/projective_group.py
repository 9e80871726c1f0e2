"""Projective trees in belief propagation: their gains, and all messages among arcs, pairs and trees in one call.

Gains are those that ``tree_group`` asks for, in real arithmetic. Messages are those of ``ratios`` and ``tree_group``,
in the order in which ``treebp.bp.group_run`` sends them: for one sentence, calling them from Python takes longer than
they do. Derivatives are in ``tree_gradient``.
"""

import math
from typing import NamedTuple

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.kernels import eisner
from treebp.kernels._jit import inlined, kernel
from treebp.kernels.intrinsics import FAINT
from treebp.kernels.ratios import divide, first_nan, gather_ratios, send_pairs, totals
from treebp.kernels.tree_group import TreeArcs, TreeSums, send_trees, weigh_trees

CHARTS = eisner.CHARTS
_SAFE = -600.0  # products of weights above e to this do not underflow
_LARGEST = 1e250
_LARGEST_ITEM = 1e150  # times a change of 1e100, this does not overflow


@kernel
def projective_gains(arcs: TreeArcs, single_root: bool, kept: bool, sums: TreeSums) -> int:
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
            if sums.lightest[t] >= _SAFE or _none_faint(weights, gains, size):
                _settle(sums, t, size, gains, partition)
                left -= 1
    return left


@kernel
def careful_gains(arcs: TreeArcs, single_root: bool, kept: bool, sums: TreeSums) -> None:
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
def _matrices(sums: TreeSums, size: int, matrix: int, kept: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights, gains and charts of the tree whose matrices begin at a place."""
    end, place = matrix + size * size, matrix if kept else 0
    return (
        sums.weights[matrix:end].reshape(size, size),
        sums.gains[matrix:end].reshape(size, size),
        sums.charts[CHARTS * place : CHARTS * (place + size * size)].reshape(CHARTS, size, size),
    )


@inlined
def _settle(sums: TreeSums, t: int, size: int, gains: FloatArray, partition: float) -> None:
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
    faint = max(math.exp(completion), FAINT)
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
            if weight > 0.0 and not (gain > FAINT and weight * gain > lost):
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


class ArcGraph(NamedTuple):
    """Group 0 has the log-odds of all slots, the last group trees over all slots, in order, those between have pairs.

    Attributes:
        first: (groups + 1,) the messages of group g are entries ``first[g]`` to ``first[g + 1] - 1``.
        slots: (entries,).
        weights: of the pairs of all groups.
        strongest: (groups,) a bound on the logarithms of the weights of those that have pairs.
        arcs, single_root: of the trees.

    """

    first: IntArray
    slots: AnyArray
    weights: FloatArray
    strongest: FloatArray
    arcs: TreeArcs
    single_root: bool


@kernel
def send_all(
    graph: ArcGraph,
    iterations: int,
    kept: bool,
    memory: FloatArray,
    sent: FloatArray,
    gathered: FloatArray,
    results: FloatArray,
    log_partitions: FloatArray,
) -> bool:
    """Send all messages; return whether plain real arithmetic was good enough for all trees.

    Args:
        graph: with its weights.
        iterations: how often.
        kept: whether there is a way back.
        memory: filled in, a row for each iteration or, if there is no way back, one for all: messages to factors,
            (entries,), marginals, (arcs,), and of the trees' `TreeSums` weights, gains and charts.
        sent: (entries,) filled with the last messages of pairs.
        gathered: (groups, slots) what slots have got from each group: group 0's is there, all else zero at first.
        results: (2, slots) filled with the totals after the last iteration and, if there is one, the last but one.
        log_partitions: (trees,) filled with what the last messages to trees come to.

    """
    first, slots, groups, tree = graph.first, graph.slots, len(gathered), len(gathered) - 1
    at_pairs, at_trees = slice(first[1], first[tree]), slice(first[tree], first[groups])
    scratch = np.empty(len(results[0]))
    for iteration in range(iterations):
        received, marginals, sums = rows_of(memory[iteration % len(memory)], graph, log_partitions)
        if iteration == 0:
            received[at_pairs] = 1.0
        else:
            divide(gathered, slots[at_pairs], sent[at_pairs], scratch, received[at_pairs])
        for group in range(1, tree):
            own, weights = slice(first[group], first[group + 1]), graph.weights[pairs_of(first, group)]
            rows = 2, len(weights)
            send_pairs(weights, received[own].reshape(rows), sent[own].reshape(rows))
            gather_ratios(slots[own], sent[own], graph.strongest[group], scratch, gathered[group])
        if totals(gathered, tree, received[at_trees]) >= 0:
            return False
        weigh_trees(graph.arcs, received[at_trees], sums)
        if projective_gains(graph.arcs, graph.single_root, kept, sums) > 0:
            return False
        if send_trees(graph.arcs, sums, marginals, gathered[tree]) > 0 or first_nan(gathered[tree]) >= 0:
            return False
        if iterations - iteration <= 2:
            totals(gathered, groups, results[iterations - 1 - iteration])
    return True


@inlined
def rows_of(row: FloatArray, graph: ArcGraph, log_partitions: FloatArray) -> tuple[FloatArray, FloatArray, TreeSums]:
    """What a row of memory holds: messages to factors, marginals and sums over trees, none of them refused."""
    entries, arcs, trees = len(graph.slots), len(graph.arcs.heads), len(graph.arcs.sizes)
    matrices, room = row[entries + arcs :], (graph.arcs.sizes * graph.arcs.sizes).sum()
    sums = TreeSums(
        weights=matrices[:room],
        gains=matrices[room : 2 * room],
        charts=matrices[2 * room :],
        tops=np.empty(len(graph.arcs.starts)),
        lightest=np.empty(trees),
        log_partitions=log_partitions,
        by_walks=np.zeros(trees, np.bool_),
        refused=np.zeros(trees, np.bool_),
    )
    return row[:entries], row[entries : entries + arcs], sums


@inlined
def pairs_of(first: IntArray, group: int) -> slice:
    """Which of all pairs are a group's."""
    return slice((first[group] - first[1]) // 2, (first[group + 1] - first[1]) // 2)
