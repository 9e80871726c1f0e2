"""Constraints on how many variables are ON."""

from collections.abc import Sequence

import numpy as np

from treebp._checks import read_only
from treebp._types import FloatArray, IntArray
from treebp.bp.factors.protocol import FactorBackprop
from treebp.bp.groups.counts import Counts
from treebp.bp.groups.protocol import Group
from treebp.bp.variables import Variable
from treebp.kernels.cardinality import count_messages, count_messages_backward


class _Count:
    """A factor that depends on the number of ON variables alone, which has an upper limit."""

    counts: FloatArray  # log-potential of 0, 1, ... ON variables
    edge_order = None

    def __init__(self, variables: Sequence[Variable]) -> None:
        for variable in variables:
            if variable.states != 2:
                raise ValueError(
                    f"{type(self).__name__}: variable {variable.name} has {variable.states} states, expected 2"
                )
        self.variables = tuple(variables)
        self.potentials: FloatArray = read_only(np.zeros(0))

    def messages(self, incoming: FloatArray, potentials: FloatArray) -> tuple[FloatArray, FactorBackprop]:
        """Sum over all joint states in time linear in the number of variables."""
        rows, first = incoming.reshape(-1, 2), np.array([0, len(self.variables)])
        outgoing, before, after = count_messages(first, rows, self.counts)

        def backprop(adjoint: FloatArray) -> tuple[FloatArray, FloatArray]:
            received = count_messages_backward(first, rows, outgoing, before, after, adjoint.reshape(-1, 2))
            return received.ravel(), np.zeros(0)

        return outgoing.ravel(), backprop

    @property
    def kind(self) -> tuple[object, ...]:
        """Constraints of one kind make a group."""
        return tuple(self.counts.tolist())

    def group(self, factors: Sequence["_Count"], variables: IntArray) -> Group:
        """Many constraints of this kind as a group; `variables` are theirs, end to end."""
        return Counts(variables, [len(factor.variables) for factor in factors], weights=self.counts)


class ExactlyOne(_Count):
    """Allows the joint states in which one of the binary variables is ON and all others are OFF.

    >>> from treebp.bp.factor_graph import FactorGraph
    >>> from treebp.bp.propagation import propagate
    >>> graph = FactorGraph()
    >>> labels = graph.variables(3)
    >>> _ = graph.factor([labels[0]], [0.0, 1.0])
    >>> _ = graph.constrain(ExactlyOne(labels))
    >>> beliefs = propagate(graph, iterations=1)
    >>> [round(beliefs[label][1].item(), 3) for label in labels]
    [0.576, 0.212, 0.212]
    """

    counts = np.array([-np.inf, 0.0])


class AtMostOne(_Count):
    """Allows the joint states in which at most one of the binary variables is ON.

    >>> from treebp.bp.factor_graph import FactorGraph
    >>> from treebp.bp.propagation import propagate
    >>> graph = FactorGraph()
    >>> labels = graph.variables(3)
    >>> _ = graph.constrain(AtMostOne(labels))
    >>> propagate(graph, iterations=1)[labels[0]]
    array([0.75, 0.25])
    """

    counts = np.array([0.0, 0.0])
