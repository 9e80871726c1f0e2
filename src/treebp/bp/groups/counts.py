"""Constraints on how many variables are ON."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import float_array, integer_array, read_only
from treebp._types import FloatArray, IntArray
from treebp.bp.groups.protocol import Group, Sender
from treebp.bp.groups.rows import RowBackprop, RowSender
from treebp.kernels.cardinality import count_messages, count_messages_backward


class Counts:
    """Sets of binary variables with a weight for the number of them that are ON, which has an upper limit.

    Args:
        variables: (edges,) the variables of all sets, end to end.
        lengths: (sets,) the number of variables of each, at least one.
        weights: the log-weights of 0, 1, ... ON variables, as many as are allowed; the same for all sets.

    Example:
        >>> from treebp.bp.graph import Graph
        >>> from treebp.bp.propagation import propagate
        >>> graph = Graph(3, [Counts([0, 1, 2], [3], weights=[-np.inf, 0.0])])  # exactly one
        >>> propagate(graph, iterations=1, potentials=[[]]).on.round(3)
        array([0.333, 0.333, 0.333])

    """

    structured = True
    edge_states = 2
    potentials = 0

    def __init__(self, variables: ArrayLike, lengths: ArrayLike, *, weights: Sequence[float] | FloatArray) -> None:
        self.variables = integer_array(variables, "Counts: variables")
        self.lengths: IntArray = read_only(integer_array(lengths, "Counts: lengths"))
        if self.lengths.sum() != len(self.variables) or self.lengths.min(initial=1) < 1:
            raise ValueError(f"Counts: {len(self.variables)} variables for the lengths {self.lengths.tolist()}")
        self._weights = float_array(weights, "Counts: weights")
        self._first = np.concatenate(([0], np.cumsum(self.lengths)))

    @property
    def edge_factor(self) -> IntArray:
        """(edges,) the set of each edge."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def start(self, potentials: FloatArray) -> Sender:
        """The constraints, which have no log-potentials of their own."""

        def answer(rows: FloatArray) -> tuple[FloatArray, RowBackprop]:
            received = rows.reshape(-1, 2)
            outgoing, before, after = count_messages(self._first, received, self._weights)

            def backprop(adjoint: FloatArray) -> tuple[FloatArray, FloatArray]:
                pairs = adjoint.reshape(-1, 2)
                out = count_messages_backward(self._first, received, outgoing, before, after, pairs)
                return out.ravel(), np.zeros(0)

            return outgoing.ravel(), backprop

        return RowSender(np.full(len(self.variables), 2), answer, self._first[:-1], 0)

    def subset(self, factor: int) -> tuple[Group, IntArray, IntArray]:
        """One set as a group."""
        edges = np.arange(self._first[factor], self._first[factor + 1])
        alone = Counts(self.variables[edges], [len(edges)], weights=self._weights)
        return alone, edges, np.zeros(0, np.int64)
