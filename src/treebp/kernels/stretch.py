"""Many small phases of belief propagation in one call: messages along some edges at a time, all in logarithms.

A serial schedule may have as many phases as there are variables. Here an *edge* is any that joins a variable and a
factor of the graph, and its message has the entries ``first_entry[edge]`` to ``first_entry[edge + 1] - 1``.
"""

import math
from typing import NamedTuple

from treebp._types import AnyArray, BoolArray, FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.log_sums import log_sum
from treebp.kernels.tables import TableArrays, send_tables, send_tables_backward
from treebp.kernels.variables import send_some, send_some_backward


class Edges(NamedTuple):
    """All edges of a graph, and the entries of each slot: see ``treebp.kernels.variables``."""

    first_entry: IntArray
    states: IntArray
    slots: AnyArray
    first_of_slot: IntArray
    slot_entries: IntArray


class Phases(NamedTuple):
    """Phases that follow each other.

    Phase k sends along ``edges[first_edge[k] : first_edge[k + 1]]``, whose messages have the entries from
    ``first_entry[k]`` on, sorted by slot. Where the senders are tables, ``table_edges`` has the edges' numbers among
    those of tables.
    """

    from_variables: BoolArray
    first_edge: IntArray
    edges: IntArray
    table_edges: IntArray
    first_entry: IntArray
    entries: IntArray


class Messages(NamedTuple):
    """The messages of all edges, or what belongs to each of their entries."""

    to_factors: FloatArray
    to_variables: FloatArray


@kernel
def deliver(
    sending: IntArray, edges: Edges, sent: FloatArray, damping: float, messages: FloatArray
) -> tuple[float, int]:
    """Normalise what was sent along some edges, mix it with the old messages, and store it.

    Mixing is geometric: a share of the old log-message, which leaves a forbidden state forbidden. Returns the largest
    change of a message's entry, as a probability, and -1; or, as soon as a message leaves no state, its edge.
    """
    largest_change = 0.0
    for edge in sending:
        begin, end = edges.first_entry[edge], edges.first_entry[edge + 1]
        binary = edges.states[edge] == 2
        if not binary:
            sent[begin:end] -= log_sum(sent[begin:end])
        for entry in range(begin, end):
            if math.isnan(sent[entry]):
                return largest_change, edge
            if damping > 0.0:
                sent[entry] = (1.0 - damping) * sent[entry] + damping * messages[entry]
        if damping > 0.0 and not binary:
            sent[begin:end] -= log_sum(sent[begin:end])
        for entry in range(begin, end):
            if binary:
                change = 1.0 / (1.0 + math.exp(-sent[entry])) - 1.0 / (1.0 + math.exp(-messages[entry]))
            else:
                change = math.exp(sent[entry]) - math.exp(messages[entry])
            largest_change = max(largest_change, abs(change))
            messages[entry] = sent[entry]
    return largest_change, -1


@kernel
def run_phases(
    phases: Phases,
    edges: Edges,
    tables: TableArrays,
    potentials: FloatArray,
    damping: float,
    scratch: FloatArray,
    sent: FloatArray,
    messages: Messages,
) -> tuple[float, int, bool]:
    """Send the messages of all phases; return the largest change, and the edge and direction of a contradiction."""
    to_factors, to_variables = messages
    largest_change = 0.0
    for k in range(len(phases.from_variables)):
        sending = phases.edges[phases.first_edge[k] : phases.first_edge[k + 1]]
        if phases.from_variables[k]:
            entries = phases.entries[phases.first_entry[k] : phases.first_entry[k + 1]]
            send_some(entries, edges.slots, edges.first_of_slot, edges.slot_entries, to_variables, scratch, sent)
            change, impossible = deliver(sending, edges, sent, damping, to_factors)
        else:
            senders = phases.table_edges[phases.first_edge[k] : phases.first_edge[k + 1]]
            send_tables(senders, tables, potentials, to_factors, scratch, sent)
            change, impossible = deliver(sending, edges, sent, damping, to_variables)
        largest_change = max(largest_change, change)
        if impossible >= 0:
            return largest_change, impossible, phases.from_variables[k]
    return largest_change, -1, False


@kernel
def run_phases_backward(
    phases: Phases,
    edges: Edges,
    tables: TableArrays,
    potentials: FloatArray,
    damping: float,
    scratch: FloatArray,
    adjoint_sent: FloatArray,
    old: Messages,
    messages: Messages,
    adjoints: Messages,
    of_potentials: FloatArray,
) -> None:
    """Undo all phases: messages and adjoints as before them, and their part of the potentials' adjoints added."""
    for k in range(len(phases.from_variables) - 1, -1, -1):
        entries = phases.entries[phases.first_entry[k] : phases.first_entry[k + 1]]
        before, after, adjoint = old.to_variables, messages.to_variables, adjoints.to_variables
        if phases.from_variables[k]:
            before, after, adjoint = old.to_factors, messages.to_factors, adjoints.to_factors
        for entry in entries:
            adjoint_sent[entry] = (1.0 - damping) * adjoint[entry]
            adjoint[entry] *= damping
            after[entry] = before[entry]
        if phases.from_variables[k]:
            send_some_backward(
                entries, edges.slots, edges.first_of_slot, edges.slot_entries, adjoint_sent, adjoints.to_variables
            )
        else:
            senders = phases.table_edges[phases.first_edge[k] : phases.first_edge[k + 1]]
            send_tables_backward(
                senders,
                tables,
                potentials,
                messages.to_factors,
                adjoint_sent,
                scratch,
                adjoints.to_factors,
                of_potentials,
            )
