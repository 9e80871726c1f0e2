"""Belief propagation on the graph of a projective parser, in one kernel from end to end."""

from collections.abc import Sequence

import numpy as np

from treebp._types import FloatArray
from treebp.bp.graph import Graph
from treebp.bp.groups.all_on import Ratios, Single
from treebp.bp.groups.protocol import Sender
from treebp.bp.groups.trees import TreeSender
from treebp.bp.memory import empty
from treebp.bp.outcome import Options, Outcome
from treebp.kernels.projective_group import CHARTS
from treebp.kernels.projective_run import ArcGraph, send_all, send_all_backward
from treebp.kernels.ratios import divide, totals


def run_projective(graph: Graph, senders: Sequence[Sender], options: Options, iterations: int) -> Outcome | None:
    """What ``treebp.bp.group_run.GroupRun`` gives with the serial schedule, sooner.

    None if the groups are not the log-odds of all variables, pairs of them, and projective trees over all of them, in
    this order, if messages are damped or watched, or if plain real arithmetic will not do for a tree.
    """
    if len(senders) < 3 or options.damping > 0.0 or options.watch:
        return None
    single, *between, trees = senders
    pairs = [sender for sender in between if isinstance(sender, Ratios) and sender.arity == 2]
    if not (isinstance(single, Single) and isinstance(trees, TreeSender) and trees.group.projective):
        return None
    if len(pairs) < len(between) or not (graph.one_to_one[0] and graph.one_to_one[-1]):
        return None
    arc_graph = ArcGraph(
        np.array([0, *(own.stop for own in graph.ranges)]),
        graph.entry_slots,
        np.concatenate([sender.weights for sender in pairs]),
        np.array([sender.strongest for sender in senders]),
        trees.group.arcs,
        trees.group.single_root,
    )
    kept, (room, largest) = options.gradient, trees.group.room
    rows = iterations if kept else 1
    width = graph.entry_count + graph.slot_count + 2 * room + CHARTS * (room if kept else largest)
    memory, sent = empty(rows * width).reshape(rows, width), empty(graph.entry_count)
    gathered, results = np.zeros((len(senders), graph.slot_count)), np.zeros((2, graph.slot_count))
    gathered[0] = single.potentials
    log_partitions = np.empty(len(trees.group.arcs.sizes))
    if not send_all(arc_graph, iterations, kept, memory, sent, gathered, results, log_partitions):
        return None
    outgoing = [single.potentials, *(sent[own] for own in graph.ranges[1:-1]), gathered[-1]]
    to_trees = memory[-1, graph.ranges[-1]]
    trees.remember(to_trees, log_partitions)

    def incoming() -> list[FloatArray]:
        """The last messages to all groups; those to pairs are rarely asked for, and not sent before they are."""
        to_single, scratch, received = np.empty(graph.slot_count), np.empty(graph.slot_count), empty(graph.entry_count)
        totals(gathered, 0, to_single)
        at_pairs = slice(graph.ranges[1].start, graph.ranges[-1].start)
        divide(gathered, graph.entry_slots[at_pairs], sent[at_pairs], scratch, received[at_pairs])
        return [to_single, *(received[own] for own in graph.ranges[1:-1]), to_trees]

    def backward(of_slots: FloatArray, of_incoming: list[FloatArray | None], of_potentials: list[FloatArray]) -> None:
        """See ``GroupRun.backward``; nobody has adjoints of messages to groups like these."""
        of_weights = np.zeros(len(arc_graph.weights))
        send_all_backward(arc_graph, memory, of_slots, of_potentials[0], of_weights)
        begin = 0
        for own in of_potentials[1:-1]:
            own += of_weights[begin : begin + len(own)]
            begin += len(own)

    return Outcome(graph, senders, incoming, outgoing, results[0], results[1], np.zeros(iterations), backward)
