"""Chains: linear-chain models, each of them one factor."""

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import integer_array, read_only
from treebp._types import FloatArray, IntArray
from treebp.bp.groups.protocol import Group, Sender
from treebp.bp.groups.rows import RowBackprop, RowSender
from treebp.kernels.chain import ChainLayout, chain_sums, chain_sums_backward


class Chains:
    """Sequences of variables, with a score for each pair of neighbours.

    Args:
        variables: (positions,) the variables of all chains, end to end.
        lengths: (chains,) the number of variables of each.
        states: of every variable, or (positions,) of each.

    The log-potentials are the transitions: a matrix, from and to, for each two neighbours, end to end.

    Example:
        >>> from treebp.bp.graph import Graph
        >>> from treebp.bp.propagation import propagate
        >>> graph = Graph([3, 3], [Chains([0, 1], [2], states=3)])
        >>> transitions = [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
        >>> propagate(graph, iterations=1, potentials=[np.ravel(transitions)]).states(1).round(3)
        array([0.28, 0.44, 0.28])

    """

    structured = True

    def __init__(self, variables: ArrayLike, lengths: ArrayLike, states: int | ArrayLike) -> None:
        self.variables = integer_array(variables, "Chains: variables")
        self.lengths: IntArray = read_only(integer_array(lengths, "Chains: lengths"))
        if self.lengths.sum() != len(self.variables) or self.lengths.min(initial=1) < 1:
            raise ValueError(f"Chains: {len(self.variables)} variables for the lengths {self.lengths.tolist()}")
        self.edge_states: IntArray = np.empty(len(self.variables), np.int64)
        self.edge_states[:] = integer_array(states, "Chains: states")
        if self.edge_states.min(initial=1) < 1:
            raise ValueError(f"Chains: states = {states!r}: at least 1 expected")
        self.layout = chain_layout(self.lengths, self.edge_states)
        self.potentials = int(self.layout.into[-1])

    @property
    def edge_factor(self) -> IntArray:
        """(edges,) the chain of each edge."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    def start(self, potentials: FloatArray) -> Sender:
        """The chains with these transitions."""

        def answer(rows: FloatArray) -> tuple[FloatArray, RowBackprop]:
            before, after = np.empty_like(rows), np.empty_like(rows)
            chain_sums(self.layout, rows, potentials, before, after)

            def backprop(adjoint: FloatArray) -> tuple[FloatArray, FloatArray]:
                return chain_sums_backward(self.layout, rows, potentials, before, after, adjoint)

            return before + after, backprop

        return RowSender(self.edge_states, answer, self.layout.first[:-1], self.potentials)

    def subset(self, factor: int) -> tuple[Group, IntArray, IntArray]:
        """One chain as a group."""
        begin, end = self.layout.first[factor : factor + 2]
        edges = np.arange(begin, end)
        alone = Chains(self.variables[edges], [end - begin], self.edge_states[edges])
        return alone, edges, np.arange(self.layout.into[begin], self.layout.into[end])


def chain_layout(lengths: IntArray, states: IntArray) -> ChainLayout:
    """Where the states and transitions of chains are, given how many positions and how many states at each.

    >>> chain_layout(np.array([2, 1]), np.array([2, 3, 2])).into
    array([0, 0, 6, 6])
    """
    first = np.concatenate(([0], np.cumsum(lengths)))
    transitions = np.zeros(len(states), np.int64)
    transitions[1:] = states[:-1] * states[1:]
    transitions[first[:-1]] = 0
    return ChainLayout(first, np.concatenate(([0], np.cumsum(states))), np.concatenate(([0], np.cumsum(transitions))))
