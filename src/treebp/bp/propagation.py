"""Belief propagation: modules (B) and (C) of the paper's circuit, forward and backward."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from treebp._types import FloatArray
from treebp.bp.beliefs import Beliefs
from treebp.bp.compiled import CompiledGraph
from treebp.bp.factor_graph import FactorGraph
from treebp.bp.factor_handle import Factor
from treebp.bp.factors.protocol import FactorBackprop
from treebp.bp.messages import Messages, structured_messages
from treebp.bp.schedule import Phase, Schedule
from treebp.kernels.messages import (
    deliver,
    deliver_backward,
    send_products,
    send_products_backward,
    send_sums,
    send_sums_backward,
)


def propagate(
    graph: FactorGraph,
    *,
    iterations: int,
    schedule: Schedule = "serial",
    damping: float = 0.0,
    tolerance: float | None = None,
    potentials: Mapping[Factor, ArrayLike] | None = None,
) -> Beliefs:
    """Send messages (eq. 4 and 5) and return the beliefs (eq. 6 and 7) that follow from the last ones.

    Args:
        graph: the variables and factors; compiled on the first run, and again only after it has changed.
        iterations: how often each message is sent, at most.
        schedule: "serial" sends from the leaves of a spanning tree to its root and back; the root is the
            structured factor with most variables. One iteration is exact on an acyclic graph. "parallel"
            sends all messages of the variables, then all of the factors.
        damping: the share of the old message, as probabilities, that stays in a new one; from 0 to below 1.
        tolerance: stop after an iteration in which no entry of a message, as a probability, changed by as
            much as this.
        potentials: {factor: log-potentials} to use in place of those given when the graph was built.

    Raises:
        ValueError: constraints that contradict each other, so that a variable or a factor, which it names, is
            left without a state; an option out of range; misshapen potentials.

    Example:
        >>> graph = FactorGraph()
        >>> a, b = graph.variables(2)
        >>> unary = graph.factor([a], [0.0, 1.0])
        >>> pair = graph.factor([a, b], [[1.0, 0.0], [0.0, 1.0]])
        >>> beliefs = propagate(graph, iterations=1)
        >>> beliefs[b].round(3)
        array([0.393, 0.607])
        >>> beliefs.backward({b: [0.0, 1.0]})[unary].round(3)
        array([-0.091,  0.091])

    """
    if iterations < 1:
        raise ValueError(f"iterations = {iterations}: at least one expected")
    if not 0.0 <= damping < 1.0:
        raise ValueError(f"damping = {damping}: at least 0 and less than 1 expected")
    if tolerance is not None and not tolerance >= 0.0:
        raise ValueError(f"tolerance = {tolerance}: at least 0 expected")
    compiled = graph.compile()
    flat_potentials = compiled.potentials(potentials)
    messages = Messages(compiled.uniform.copy(), compiled.uniform.copy())
    tape: list[_Sent] = []
    residuals: list[float] = []
    while len(residuals) < iterations:
        changes = [0.0]
        for phase in graph.phases(schedule):
            sent, change = _send(compiled, phase, flat_potentials, damping, messages)
            tape.append(sent)
            changes.append(change)
        residuals.append(max(changes))
        if tolerance is not None and residuals[-1] < tolerance:
            break

    def backprop(adjoints: Messages) -> FloatArray:
        """From the adjoints of the last messages, which are overwritten, to those of the log-potentials."""
        then = Messages(messages.to_factors.copy(), messages.to_variables.copy())
        adjoint_potentials = np.zeros_like(flat_potentials)
        for sent in reversed(tape):
            _unsend(compiled, sent, flat_potentials, damping, then, adjoints, adjoint_potentials)
        return adjoint_potentials

    converged = tolerance is not None and residuals[-1] < tolerance
    return Beliefs(compiled, flat_potentials, messages, backprop, np.array(residuals), converged)


@dataclass(frozen=True)
class _Sent:
    """What the backward pass needs to know of one phase."""

    phase: Phase
    old: FloatArray  # the messages that were replaced
    sent: FloatArray  # what replaced them, before normalisation and damping
    structured: list[FactorBackprop]


def _send(
    graph: CompiledGraph, phase: Phase, potentials: FloatArray, damping: float, messages: Messages
) -> tuple[_Sent, float]:
    """Send the messages of one phase; returns the record of it and the largest change of a message."""
    source, target = messages.ends(phase.from_variables)
    sent = np.empty_like(target)
    backprops: list[FactorBackprop] = []
    if phase.from_variables:
        send_products(phase.edges, *graph.variable_arrays, source, sent)
    else:
        send_sums(phase.table_edges, *graph.table_arrays, potentials, source, sent)
        for factor in phase.structured:
            outgoing, backprop = structured_messages(graph, factor, potentials, source)
            sent[graph.message_slice(factor)] = outgoing
            backprops.append(backprop)
    record = _Sent(phase, target[phase.entries], sent[phase.entries], backprops)
    change, impossible = deliver(phase.edges, graph.first_message, sent, damping, target)
    if impossible >= 0:
        variable = graph.variables[graph.edge_variable[impossible]].name
        if phase.from_variables:
            raise ValueError(f"variable {variable}: its factors together forbid every state")
        name = graph.factors[graph.edge_factor[impossible]].name
        raise ValueError(f"{name}: the other factors leave it no state of variable {variable}")
    return record, change


def _unsend(
    graph: CompiledGraph,
    record: _Sent,
    potentials: FloatArray,
    damping: float,
    messages: Messages,
    adjoints: Messages,
    adjoint_potentials: FloatArray,
) -> None:
    """Undo one phase: messages and adjoints as before it, and its part of the potentials' adjoint added."""
    phase = record.phase
    source, target = messages.ends(phase.from_variables)
    adjoint_source, adjoint_target = adjoints.ends(phase.from_variables)
    sent = np.empty_like(target)
    sent[phase.entries] = record.sent
    adjoint_sent = np.zeros_like(target)
    deliver_backward(phase.edges, graph.first_message, sent, damping, record.old, target, adjoint_target, adjoint_sent)
    if phase.from_variables:
        send_products_backward(phase.edges, *graph.variable_arrays, adjoint_sent, adjoint_source)
        return
    send_sums_backward(
        phase.table_edges,
        *graph.table_arrays,
        potentials,
        source,
        sent,
        adjoint_sent,
        adjoint_source,
        adjoint_potentials,
    )
    for factor, backprop in zip(phase.structured, record.structured, strict=True):
        adjoint_incoming, adjoint_own = backprop(adjoint_sent[graph.message_slice(factor)])
        adjoint_source[graph.message_slice(factor)] += adjoint_incoming
        adjoint_potentials[graph.potential_slice(factor)] += adjoint_own.ravel()
