"""Messages of tables: factors that list a log-potential for every joint state of their variables.

``TableArrays`` describes tables of any arity and domains. An *edge* joins a table and one of its variables; its message
is one number, log-odds, if the variable is binary, and otherwise a log-probability per state. `-inf` is a legal entry:
the log of zero.
"""

import math
from typing import NamedTuple

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.log_sums import log_sum


class TableArrays(NamedTuple):
    """Tables as flat arrays.

    Table f has the edges ``first_edge[f]`` to ``first_edge[f + 1] - 1``, and begins at ``first_potential[f]``. Of
    each edge: its table, the states of its variable, how many entries of the table two neighbouring states are apart,
    and where its message begins.
    """

    first_edge: IntArray
    first_potential: IntArray
    edge_table: IntArray
    edge_states: IntArray
    edge_stride: IntArray
    edge_entry: IntArray


@kernel
def _multiply_in(tables: TableArrays, edge: int, incoming: FloatArray, table: FloatArray) -> None:
    """Add an edge's log-message to its axis of a table."""
    stride, states, begin = tables.edge_stride[edge], tables.edge_states[edge], tables.edge_entry[edge]
    entry = 0
    while entry < len(table):
        for state in range(states):
            value = incoming[begin + state] if states != 2 else 0.0
            if states == 2:
                odds = incoming[begin]
                if state == 1 and odds != math.inf:
                    value = odds
                elif state == 0 and odds == math.inf:
                    value = -math.inf
            for _ in range(stride):
                table[entry] += value
                entry += 1


@kernel
def _cavity(
    tables: TableArrays, edge: int, potentials: FloatArray, incoming: FloatArray, scratch: FloatArray
) -> FloatArray:
    """The table of an edge times the messages of its other edges."""
    factor = tables.edge_table[edge]
    begin, end = tables.first_potential[factor], tables.first_potential[factor + 1]
    table = scratch[: end - begin]
    table[:] = potentials[begin:end]
    for other in range(tables.first_edge[factor], tables.first_edge[factor + 1]):
        if other != edge:
            _multiply_in(tables, other, incoming, table)
    return table


@kernel
def _state_sum(table: FloatArray, state: int, states: int, stride: int) -> float:
    """Log of the sum over all entries that agree with a state."""
    largest = -math.inf
    for block in range(state * stride, len(table), states * stride):
        for entry in range(block, block + stride):
            largest = max(largest, table[entry])
    if largest == -math.inf:
        return largest
    total = 0.0
    for block in range(state * stride, len(table), states * stride):
        for entry in range(block, block + stride):
            total += math.exp(table[entry] - largest)
    return largest + math.log(total)


@kernel
def send_tables(
    edges: IntArray,
    tables: TableArrays,
    potentials: FloatArray,
    incoming: FloatArray,
    scratch: FloatArray,
    outgoing: FloatArray,
) -> None:
    """Messages along some edges, eq. (5), normalised; NaN where no state is left."""
    for edge in edges:
        table = _cavity(tables, edge, potentials, incoming, scratch)
        begin, states, stride = tables.edge_entry[edge], tables.edge_states[edge], tables.edge_stride[edge]
        if states == 2:
            outgoing[begin] = _state_sum(table, 1, 2, stride) - _state_sum(table, 0, 2, stride)
        else:
            for state in range(states):
                outgoing[begin + state] = _state_sum(table, state, states, stride)
            outgoing[begin : begin + states] -= log_sum(outgoing[begin : begin + states])


@kernel
def send_tables_backward(
    edges: IntArray,
    tables: TableArrays,
    potentials: FloatArray,
    incoming: FloatArray,
    adjoint_outgoing: FloatArray,
    scratch: FloatArray,
    adjoint_incoming: FloatArray,
    of_potentials: FloatArray,
) -> None:
    """Add to the adjoints of messages and potentials each joint state's share in the sums.

    Whatever the messages lead to does not change when all states' log-messages grow alike: so normalising them has no
    part in this, and the adjoint of log-odds is that of ON, and of OFF with the sign turned.
    """
    for edge in edges:
        table = _cavity(tables, edge, potentials, incoming, scratch)
        begin, states, stride = tables.edge_entry[edge], tables.edge_states[edge], tables.edge_stride[edge]
        for state in range(states):
            total = _state_sum(table, state, states, stride)
            if states == 2:
                adjoint = adjoint_outgoing[begin] if state == 1 else -adjoint_outgoing[begin]
            else:
                adjoint = adjoint_outgoing[begin + state]
            for block in range(state * stride, len(table), states * stride):
                for entry in range(block, block + stride):
                    share = math.exp(table[entry] - total) if total > -math.inf else 0.0
                    table[entry] = adjoint * share
        factor = tables.edge_table[edge]
        for entry in range(len(table)):
            of_potentials[tables.first_potential[factor] + entry] += table[entry]
        for other in range(tables.first_edge[factor], tables.first_edge[factor + 1]):
            if other != edge:
                _add_up(tables, other, table, adjoint_incoming)


@kernel
def _add_up(tables: TableArrays, edge: int, table: FloatArray, out: FloatArray) -> None:
    """Add what stands in a table to an edge's entries."""
    stride, states, begin = tables.edge_stride[edge], tables.edge_states[edge], tables.edge_entry[edge]
    entry = 0
    while entry < len(table):
        for state in range(states):
            for _ in range(stride):
                if states != 2:
                    out[begin + state] += table[entry]
                elif state == 1:
                    out[begin] += table[entry]
                entry += 1


@kernel
def table_beliefs(tables: TableArrays, potentials: FloatArray, incoming: FloatArray, out: FloatArray) -> FloatArray:
    """Write the joint belief of each table, eq. (7); return its log-partition, messages being probabilities."""
    log_partitions = np.zeros(len(tables.first_edge) - 1)
    for factor in range(len(log_partitions)):
        begin, end = tables.first_potential[factor], tables.first_potential[factor + 1]
        table = out[begin:end]
        table[:] = potentials[begin:end]
        for edge in range(tables.first_edge[factor], tables.first_edge[factor + 1]):
            _multiply_in(tables, edge, incoming, table)
            if tables.edge_states[edge] == 2:
                odds = incoming[tables.edge_entry[edge]]
                log_partitions[factor] -= 0.0 if odds == math.inf else np.logaddexp(0.0, odds)
        total = log_sum(table)
        log_partitions[factor] += total
        for entry in range(len(table)):
            table[entry] = math.exp(table[entry] - total)
    return log_partitions


@kernel
def send_pair_tables(weights: FloatArray, incoming: FloatArray, outgoing: FloatArray) -> None:
    """Messages of tables of two binary variables as ratios; ``weights`` (4, tables) are not logarithms."""
    for f in range(np.uint64(weights.shape[1])):
        a, b = incoming[0, f], incoming[1, f]
        outgoing[0, f] = (weights[2, f] + weights[3, f] * b) / (weights[0, f] + weights[1, f] * b)
        outgoing[1, f] = (weights[1, f] + weights[3, f] * a) / (weights[0, f] + weights[2, f] * a)


@kernel
def send_pair_tables_backward(
    weights: FloatArray, incoming: FloatArray, adjoint: FloatArray, out: FloatArray, of_potentials: FloatArray
) -> None:
    """Write the adjoints of the messages received, and add those of the log-potentials (tables, 4)."""
    for f in range(np.uint64(weights.shape[1])):
        a, b = incoming[0, f], incoming[1, f]
        # The share of each term in the sums for ON and for OFF.
        on_a, off_a = weights[3, f] * b, weights[1, f] * b
        on_a, off_a = on_a / (weights[2, f] + on_a), off_a / (weights[0, f] + off_a)
        on_b, off_b = weights[3, f] * a, weights[2, f] * a
        on_b, off_b = on_b / (weights[1, f] + on_b), off_b / (weights[0, f] + off_b)
        to_a, to_b = adjoint[0, f], adjoint[1, f]
        out[1, f] = to_a * (on_a - off_a)
        out[0, f] = to_b * (on_b - off_b)
        of_potentials[f, 3] += to_a * on_a + to_b * on_b
        of_potentials[f, 2] += to_a * (1.0 - on_a) - to_b * off_b
        of_potentials[f, 1] += to_b * (1.0 - on_b) - to_a * off_a
        of_potentials[f, 0] -= to_a * (1.0 - off_a) + to_b * (1.0 - off_b)
