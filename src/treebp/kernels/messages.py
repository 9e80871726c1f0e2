"""Belief propagation's messages, in log space, and their derivatives.

Edges are numbered factor after factor; `first_message[edge]` is where the edge's message begins in every array of
messages. `-inf` is a legal entry: the log of zero.
"""

import math

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.kernels._jit import kernel
from treebp.kernels.log_sums import log_add, log_sum


@kernel
def send_products(
    edges: IntArray,
    edge_variable: IntArray,
    first_variable_edge: IntArray,
    variable_edges: IntArray,
    first_message: IntArray,
    incoming: FloatArray,
    outgoing: FloatArray,
) -> None:
    """Variables to factors, eq. (4): at each edge the product of the other edges' messages, not normalised.

    The edges of one variable are neighbours in `edges`, in the order of `variable_edges`. Products before
    and after an edge are combined, because a message of `-inf` cannot be divided out.
    """
    position = 0
    while position < len(edges):
        variable = edge_variable[edges[position]]
        first = first_variable_edge[variable]
        degree = first_variable_edge[variable + 1] - first
        states = first_message[edges[position] + 1] - first_message[edges[position]]
        after = np.zeros((degree, states))
        for slot in range(degree - 1, 0, -1):
            begin = first_message[variable_edges[first + slot]]
            for state in range(states):
                after[slot - 1, state] = after[slot, state] + incoming[begin + state]
        before = np.zeros(states)
        for slot in range(degree):
            edge = variable_edges[first + slot]
            begin = first_message[edge]
            if position < len(edges) and edges[position] == edge:
                for state in range(states):
                    outgoing[begin + state] = before[state] + after[slot, state]
                position += 1
            for state in range(states):
                before[state] += incoming[begin + state]


@kernel
def send_products_backward(
    edges: IntArray,
    edge_variable: IntArray,
    first_variable_edge: IntArray,
    variable_edges: IntArray,
    first_message: IntArray,
    adjoint_outgoing: FloatArray,
    adjoint_incoming: FloatArray,
) -> None:
    """Add to `adjoint_incoming`: each message entered the products of all other edges of its variable."""
    position = 0
    while position < len(edges):
        variable = edge_variable[edges[position]]
        states = first_message[edges[position] + 1] - first_message[edges[position]]
        total = np.zeros(states)
        while position < len(edges) and edge_variable[edges[position]] == variable:
            begin = first_message[edges[position]]
            for state in range(states):
                total[state] += adjoint_outgoing[begin + state]
                adjoint_incoming[begin + state] -= adjoint_outgoing[begin + state]
            position += 1
        for slot in range(first_variable_edge[variable], first_variable_edge[variable + 1]):
            begin = first_message[variable_edges[slot]]
            for state in range(states):
                adjoint_incoming[begin + state] += total[state]


@kernel
def _cavity_table(
    edge: int,
    edge_factor: IntArray,
    first_edge: IntArray,
    edge_stride: IntArray,
    first_potential: IntArray,
    first_message: IntArray,
    potentials: FloatArray,
    incoming: FloatArray,
) -> FloatArray:
    """The table of an edge's factor times the messages of all its other edges."""
    factor = edge_factor[edge]
    table = potentials[first_potential[factor] : first_potential[factor + 1]].copy()
    for other in range(first_edge[factor], first_edge[factor + 1]):
        if other != edge:
            stride = edge_stride[other]
            entry = 0
            while entry < len(table):
                for message in range(first_message[other], first_message[other + 1]):
                    for _ in range(stride):
                        table[entry] += incoming[message]
                        entry += 1
    return table


@kernel
def send_sums(
    edges: IntArray,
    edge_factor: IntArray,
    first_edge: IntArray,
    edge_stride: IntArray,
    first_potential: IntArray,
    first_message: IntArray,
    potentials: FloatArray,
    incoming: FloatArray,
    outgoing: FloatArray,
) -> None:
    """Tables to variables, eq. (5): the sum over all joint states that agree with a state, not normalised."""
    for edge in edges:
        table = _cavity_table(
            edge, edge_factor, first_edge, edge_stride, first_potential, first_message, potentials, incoming
        )
        begin = first_message[edge]
        states = first_message[edge + 1] - begin
        stride = edge_stride[edge]
        for state in range(states):
            largest = -np.inf
            for block in range(state * stride, len(table), states * stride):
                for entry in range(block, block + stride):
                    largest = max(largest, table[entry])
            if largest == -np.inf:
                outgoing[begin + state] = -np.inf
                continue
            total = 0.0
            for block in range(state * stride, len(table), states * stride):
                for entry in range(block, block + stride):
                    total += math.exp(table[entry] - largest)
            outgoing[begin + state] = largest + math.log(total)


@kernel
def send_sums_backward(
    edges: IntArray,
    edge_factor: IntArray,
    first_edge: IntArray,
    edge_stride: IntArray,
    first_potential: IntArray,
    first_message: IntArray,
    potentials: FloatArray,
    incoming: FloatArray,
    outgoing: FloatArray,
    adjoint_outgoing: FloatArray,
    adjoint_incoming: FloatArray,
    adjoint_potentials: FloatArray,
) -> None:
    """Add to `adjoint_incoming` and `adjoint_potentials` each joint state's share in the sums."""
    for edge in edges:
        table = _cavity_table(
            edge, edge_factor, first_edge, edge_stride, first_potential, first_message, potentials, incoming
        )
        entry = 0
        while entry < len(table):
            for message in range(first_message[edge], first_message[edge + 1]):
                for _ in range(edge_stride[edge]):
                    possible = outgoing[message] > -np.inf
                    share = math.exp(table[entry] - outgoing[message]) if possible else 0.0
                    table[entry] = adjoint_outgoing[message] * share
                    entry += 1
        factor = edge_factor[edge]
        for entry in range(len(table)):
            adjoint_potentials[first_potential[factor] + entry] += table[entry]
        for other in range(first_edge[factor], first_edge[factor + 1]):
            if other != edge:
                entry = 0
                while entry < len(table):
                    for message in range(first_message[other], first_message[other + 1]):
                        for _ in range(edge_stride[other]):
                            adjoint_incoming[message] += table[entry]
                            entry += 1


@kernel
def deliver(
    edges: IntArray, first_message: IntArray, sent: FloatArray, damping: float, messages: FloatArray
) -> tuple[float, int]:
    """Normalise what was sent, mix it with the old messages, and store it.

    Returns the largest change of a message's entry, as a probability, and -1; or, as soon as a message forbids
    every state, that message's edge in place of -1.
    """
    largest_change = 0.0
    for edge in edges:
        begin, end = first_message[edge], first_message[edge + 1]
        normaliser = log_sum(sent[begin:end])
        if normaliser == -np.inf:
            return largest_change, edge
        for entry in range(begin, end):
            old = math.exp(messages[entry])
            new = sent[entry] - normaliser
            if damping > 0.0:
                new = log_add(math.log1p(-damping) + new, math.log(damping) + messages[entry])
            messages[entry] = new
            largest_change = max(largest_change, abs(math.exp(new) - old))
    return largest_change, -1


@kernel
def deliver_backward(
    edges: IntArray,
    first_message: IntArray,
    sent: FloatArray,
    damping: float,
    old_messages: FloatArray,
    messages: FloatArray,
    adjoint_messages: FloatArray,
    adjoint_sent: FloatArray,
) -> None:
    """Turn `messages` and `adjoint_messages` from after a delivery to before it; write `adjoint_sent`.

    `old_messages` holds the replaced entries alone, edge after edge.
    """
    position = 0
    for edge in edges:
        begin, end = first_message[edge], first_message[edge + 1]
        normaliser = log_sum(sent[begin:end])
        total = 0.0
        for entry in range(begin, end):
            old = old_messages[position]
            new_share, old_share = 1.0, 0.0
            if damping > 0.0 and messages[entry] > -np.inf:
                new_share = (1.0 - damping) * math.exp(sent[entry] - normaliser - messages[entry])
                old_share = damping * math.exp(old - messages[entry])
            adjoint_sent[entry] = adjoint_messages[entry] * new_share
            total += adjoint_sent[entry]
            adjoint_messages[entry] *= old_share
            messages[entry] = old
            position += 1
        for entry in range(begin, end):
            adjoint_sent[entry] -= total * math.exp(sent[entry] - normaliser)
