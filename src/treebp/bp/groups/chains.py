"""Chains: linear-chain models, each of them one factor."""

import numpy as np
from numpy.typing import ArrayLike

from treebp._types import FloatArray, IntArray
from treebp.bp.groups.protocol import Group, Sender
from treebp.bp.groups.rows import RowBackprop, RowSender
from treebp.kernels.chain import chain_sums, chain_sums_backward


class Chains:
    """Sequences of variables that all have the same states, with a score for each pair of neighbours.

    Args:
        variables: (positions,) the variables of all chains, end to end.
        lengths: (chains,) the number of variables of each.
        states: of every variable.

    The log-potentials are the transitions: from and to, (states, states), for each two neighbours.

    Example:
        >>> from treebp.bp.graph import Graph
        >>> from treebp.bp.propagation import propagate
        >>> graph = Graph([3, 3], [Chains([0, 1], [2], states=3)])
        >>> transitions = [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
        >>> propagate(graph, iterations=1, potentials=[np.ravel(transitions)]).states(1).round(3)
        array([0.28, 0.44, 0.28])

    """

    structured = True

    def __init__(self, variables: ArrayLike, lengths: ArrayLike, states: int) -> None:
        self.variables: IntArray = np.ascontiguousarray(variables, dtype=np.int64)
        self.lengths: IntArray = np.ascontiguousarray(lengths, dtype=np.int64)
        if self.lengths.sum() != len(self.variables) or self.lengths.min(initial=1) < 1:
            raise ValueError(f"Chains: {len(self.variables)} variables for the lengths {self.lengths.tolist()}")
        self.edge_states = int(states)
        self.first = np.concatenate(([0], np.cumsum(self.lengths)))
        self._transitions = (len(self.variables) - len(self.lengths), self.edge_states, self.edge_states)
        self.potentials = int(np.prod(self._transitions))

    @property
    def edge_factor(self) -> IntArray:
        """(edges,) the chain of each edge."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def start(self, potentials: FloatArray) -> Sender:
        """The chains with these transitions."""
        transitions = potentials.reshape(self._transitions)

        def answer(rows: FloatArray) -> tuple[FloatArray, RowBackprop]:
            before, after = np.empty_like(rows), np.empty_like(rows)
            chain_sums(self.first, rows, transitions, before, after)

            def backprop(adjoint: FloatArray) -> tuple[FloatArray, FloatArray]:
                received, own = chain_sums_backward(self.first, rows, transitions, before, after, adjoint)
                return received, own.ravel()

            return before + after, backprop

        return RowSender(self.edge_states, answer, self.first[:-1], self.potentials)

    def subset(self, factor: int) -> tuple[Group, IntArray, IntArray]:
        """One chain as a group."""
        begin, end = self.first[factor : factor + 2]
        edges, size = np.arange(begin, end), self.edge_states**2
        alone = Chains(self.variables[edges], [end - begin], self.edge_states)
        return alone, edges, np.arange((begin - factor) * size, (end - factor - 1) * size)
