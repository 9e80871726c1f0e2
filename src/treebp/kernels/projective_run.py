"""Belief propagation over arcs, pairs of arcs and projective trees: all iterations of the serial schedule in one call.

Messages are those of ``ratios``, ``tree_group`` and ``projective_group``, in the order in which
``treebp.bp.group_run`` sends them; for one sentence, calling them from Python takes longer than they do.
"""

from typing import NamedTuple

import numpy as np

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.kernels._jit import inlined, kernel
from treebp.kernels.projective_group import projective_gains, projective_gains_backward
from treebp.kernels.ratios import divide, first_nan, gather_ratios, send_pairs, send_pairs_backward, totals
from treebp.kernels.tree_group import Arcs, Sums, send_trees, send_trees_backward, weigh_trees
from treebp.kernels.variables import gather_adjoints, spread_adjoints


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
    arcs: Arcs
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
            (entries,), marginals, (arcs,), and of the trees' `Sums` weights, gains and charts.
        sent: (entries,) filled with the last messages of pairs.
        gathered: (groups, slots) what slots have got from each group: group 0's is there, all else zero at first.
        results: (2, slots) filled with the totals after the last iteration and, if there is one, the last but one.
        log_partitions: (trees,) filled with what the last messages to trees come to.

    """
    first, slots, groups, tree = graph.first, graph.slots, len(gathered), len(gathered) - 1
    at_pairs, at_trees, scratch = (
        slice(first[1], first[tree]),
        slice(first[tree], first[groups]),
        np.empty(len(results[0])),
    )
    for iteration in range(iterations):
        received, marginals, sums = _cut(memory[iteration % len(memory)], graph, log_partitions)
        if iteration == 0:
            received[at_pairs] = 1.0
        else:
            divide(gathered, slots[at_pairs], sent[at_pairs], scratch, received[at_pairs])
        for group in range(1, tree):
            own, weights = slice(first[group], first[group + 1]), graph.weights[_pairs_of(first, group)]
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
        received, marginals, sums = _cut(memory[iteration], graph, nothing)
        spread_adjoints(slots[at_trees], of_groups[tree], own[at_trees], adjoint[at_trees])
        of_groups[tree] = 0.0
        send_trees_backward(graph.arcs, sums, marginals, adjoint[at_trees], nothing, own[at_trees], of_gains)
        projective_gains_backward(graph.arcs, graph.single_root, sums, of_gains, own[at_trees])
        _add_to_all(of_groups, own[at_trees])
        at_slots[:] = 0.0
        for group in range(1, tree):
            entries, pairs = slice(first[group], first[group + 1]), _pairs_of(first, group)
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
def _cut(row: FloatArray, graph: ArcGraph, log_partitions: FloatArray) -> tuple[FloatArray, FloatArray, Sums]:
    """What a row of memory holds: messages to factors, marginals and sums over trees, none of them refused."""
    entries, arcs, trees = len(graph.slots), len(graph.arcs.heads), len(graph.arcs.sizes)
    matrices, room = row[entries + arcs :], (graph.arcs.sizes * graph.arcs.sizes).sum()
    sums = Sums(
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
def _add_to_all(rows: FloatArray, numbers: FloatArray) -> None:
    for row in range(len(rows)):
        for k in range(len(numbers)):
            rows[row, k] += numbers[k]


@inlined
def _pairs_of(first: IntArray, group: int) -> slice:
    """Which of all pairs are a group's."""
    return slice((first[group] - first[1]) // 2, (first[group + 1] - first[1]) // 2)
