"""Factors that score which ON variable of a sequence follows which."""

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import integer_array
from treebp._types import FloatArray, IntArray
from treebp.bp.groups.protocol import Group, GroupBackprop, Sender, Sums
from treebp.kernels import successions as kernels


class Successions:
    """Sequences of binary variables with a score for every two ON variables that have no ON variable between them.

    The first ON variable follows the begin of its sequence, and the end follows the last one.

    Args:
        variables: (edges,) the variables of all sequences, end to end.
        first: (sequences + 1,) where each begins.

    The log-potentials are flat, sequence after sequence. Of one with k variables, they are those of the pairs (i, j)
    for i from -1 to k - 1 and j from i + 1 to k, in this order, -1 being the begin and k the end, but for (-1, k): a
    sequence with nothing ON weighs one.

    Example:
        >>> from treebp.bp.graph import Graph
        >>> from treebp.bp.propagation import propagate
        >>> graph = Graph(2, [Successions([0, 1], [0, 2])])
        >>> scores = [0.0, 0.0, 1.0, 0.0, 0.0]  # (-1, 0), (-1, 1), (0, 1), (0, 2), (1, 2)
        >>> propagate(graph, iterations=1, potentials=[scores]).on.round(3)
        array([0.65, 0.65])

    """

    structured = False  # a parser has many, and its schedule begins and ends at the tree
    edge_states = 2

    def __init__(self, variables: ArrayLike, first: ArrayLike) -> None:
        self.variables = integer_array(variables, "Successions: variables")
        begins = integer_array(first, "Successions: first")
        lengths = np.diff(begins)
        if not len(begins) or begins[0] != 0 or begins[-1] != len(self.variables) or lengths.min(initial=1) < 1:
            raise ValueError(f"Successions: {len(self.variables)} variables in sequences that begin at {begins}")
        scores = (lengths + 1) * (lengths + 2) // 2 - 1
        self.sequences = kernels.SuccessionArrays(begins, np.concatenate(([0], np.cumsum(scores))))
        self.potentials = int(scores.sum())

    @property
    def edge_factor(self) -> IntArray:
        """(edges,) the sequence of each edge."""
        first = self.sequences.first
        return np.repeat(np.arange(len(first) - 1), np.diff(first))

    def start(self, potentials: FloatArray) -> Sender:
        """The sequences with these scores."""
        return _SuccessionSender(self.sequences, potentials)

    def subset(self, factor: int) -> tuple[Group, IntArray, IntArray]:
        """One sequence as a group."""
        edges, potentials = (np.arange(first[factor], first[factor + 1]) for first in self.sequences)
        return Successions(self.variables[edges], [0, len(edges)]), edges, potentials


class _SuccessionSender:
    in_ratios = False
    strongest = np.inf
    constant = False

    def __init__(self, sequences: kernels.SuccessionArrays, potentials: FloatArray) -> None:
        self._sequences, self._potentials = sequences, potentials

    def send(self, incoming: FloatArray, outgoing: FloatArray, gradient: bool) -> GroupBackprop:
        size = len(incoming) + 2 * len(self._sequences.first) - 2
        sums = kernels.SuccessionSums(np.empty(size), np.empty(size), np.empty(size))
        kernels.send_successions(self._sequences, self._potentials, incoming, sums, outgoing)

        def backprop(adjoint: FloatArray, of_potentials: FloatArray) -> FloatArray:
            out = np.empty_like(adjoint)
            kernels.send_successions_backward(
                self._sequences, self._potentials, incoming, sums, adjoint, out, of_potentials
            )
            return out

        return backprop

    def sums(self, incoming: FloatArray, outgoing: FloatArray) -> Sums:
        expectations = np.empty_like(self._potentials)
        log_partitions = kernels.succession_sums(self._sequences, self._potentials, incoming, expectations)
        return Sums(expectations, float(log_partitions.sum()))
