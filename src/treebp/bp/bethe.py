"""Bethe's approximation of the log-partition, given the last messages."""

from collections.abc import Sequence

import numpy as np

from treebp._types import BoolArray, FloatArray
from treebp.bp.graph import Graph
from treebp.bp.groups.odds import log_probabilities
from treebp.bp.outcome import Outcome
from treebp.kernels.ratios import gather_ratios
from treebp.kernels.variables import add_log_probabilities, log_agreement


def bethe_log_partition(outcome: Outcome, incoming: Sequence[FloatArray], of_groups: Sequence[float]) -> float:
    """The log-partitions of all factors and variables, less those of the edges between them.

    Args:
        outcome: the last messages to variables.
        incoming: those to the factors of each group.
        of_groups: the log-partitions of each group's factors, and of the edges of those in ratios taken off.

    Raises:
        ValueError: a factor and a variable have no state in common.

    """
    graph = outcome.graph
    total = sum(of_groups)
    # Messages to variables as log-probabilities; those in ratios count with 1 for OFF, here and in their groups.
    off, on = np.zeros(graph.slot_count), np.zeros(graph.slot_count)
    for group, (sender, received, sent) in enumerate(zip(outcome.senders, incoming, outcome.outgoing, strict=True)):
        slots = graph.slots[group]
        if sender.in_ratios:
            logs = np.empty(graph.slot_count)
            gather_ratios(slots, sent, sender.strongest, np.empty(graph.slot_count), logs)
            on += logs
            continue
        if graph.binary:
            add_log_probabilities(slots, sent, off, on)
            of_edges = log_agreement(received, sent)
        else:
            binary = np.repeat(graph.states == 2, np.diff(graph.first_slot))[slots]
            add_log_probabilities(slots[binary], sent[binary], off, on)
            np.add.at(on, slots[~binary], sent[~binary])
            of_edges = _edge_partitions(graph, group, binary, received, sent)
        if of_edges == -np.inf:
            raise ValueError(f"{graph.factor_name(group, 0)}: the other factors leave it no joint state")
        total -= of_edges
    with np.errstate(invalid="ignore"):
        of_variables = np.logaddexp(off, on)
    if graph.binary:
        return total + float(of_variables.sum())
    first = graph.first_slot[:-1]
    of_states = np.logaddexp.reduceat(on, first)
    return total + float(np.where(graph.states == 2, of_variables[first], of_states).sum())


def _edge_partitions(graph: Graph, group: int, binary: BoolArray, received: FloatArray, sent: FloatArray) -> float:
    """The sum over a group's edges of the log-partition of both messages, all as probabilities."""
    joint = log_probabilities(received[binary]) + log_probabilities(sent[binary])
    totals = np.logaddexp(joint[:, 0], joint[:, 1])
    if not binary.all():
        first, last = graph.first_edge[group : group + 2].tolist()
        edges = np.arange(first, last)[graph.edges.states[first:last] != 2]
        begin = graph.edges.first_entry[edges] - graph.ranges[group].start
        both = np.where(binary, 0.0, received + sent)
        sums = [
            np.logaddexp.reduce(both[at : at + int(states)])
            for at, states in zip(begin, graph.edges.states[edges], strict=True)
        ]
        totals = np.concatenate([totals, sums])
    return float(totals.sum())
