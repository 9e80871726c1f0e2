"""Which edges of a hypergraph say what about which variable."""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.bp.variables import Variable
from treebp.hypergraphs.hypergraph import Hypergraph

Tie: TypeAlias = Variable | tuple[Variable, int]


class Ties:
    """Ties between edges and states as arrays, in the order of the states.

    A node that is tied stands for the edges that derive it, so an edge has two ties at most: its own and that of its
    head. Each is the other's *partner*.

    Attributes:
        variables: in the order in which they are first tied.
        off: (variables,) where each variable's state 0 is, among the states of all variables.
        state_variable: (states,) the variable of each of those states.
        edge, state, variable: (ties,) what is tied to what.
        partner: (ties,) index of the partner, or -1.
        tied_states, first: the states that are tied at all, and the first tie of each.

    """

    def __init__(
        self, hypergraph: Hypergraph, edges: Mapping[int, Tie] | None, nodes: Mapping[int, Tie] | None
    ) -> None:
        first, incoming = hypergraph.structure.first, hypergraph.structure.incoming
        ties = [(_within(edge, hypergraph.edges, "edge"), tie) for edge, tie in (edges or {}).items()]
        for node, tie in (nodes or {}).items():
            begin, end = first[_within(node, hypergraph.nodes, "node") :][:2]
            ties += [(edge, tie) for edge in incoming[begin:end].tolist()]
        if not ties:
            raise ValueError("HypergraphFactor: no edge or node is tied to a variable")
        position: dict[Variable, int] = {}
        rows = []
        for edge, tie in ties:
            variable, state = (tie, 1) if isinstance(tie, Variable) else tie
            if not 1 <= state < variable.states:
                raise ValueError(
                    f"HypergraphFactor: edge {edge} is tied to state {state} of variable {variable.name}, which has "
                    f"the states 1 to {variable.states - 1} beside OFF"
                )
            rows.append((position.setdefault(variable, len(position)), state, edge))
        self.variables = tuple(position)
        sizes = np.array([variable.states for variable in self.variables])
        self.off: IntArray = np.cumsum(sizes) - sizes
        self.state_variable: IntArray = np.repeat(np.arange(len(sizes)), sizes)
        self.variable, states, self.edge = np.array(sorted(rows), dtype=np.int64).T
        self.state: IntArray = self.off[self.variable] + states
        self.tied_states, self.first = np.unique(self.state, return_index=True)
        by_edge = np.argsort(self.edge, kind="stable")
        double = np.flatnonzero(np.diff(self.edge[by_edge]) == 0)
        self.partner: IntArray = np.full(len(rows), -1)
        self.partner[by_edge[double]] = by_edge[double + 1]
        self.partner[by_edge[double + 1]] = by_edge[double]
        self._check_used_once(hypergraph)

    def _check_used_once(self, hypergraph: Hypergraph) -> None:
        """ValueError if a derivation of some node could use two ties of one variable."""
        first, incoming, offsets, tails, _ = hypergraph.structure

        def refuse(twice: int, edge: int) -> None:
            if twice:
                raise ValueError(
                    f"HypergraphFactor: a derivation through edge {edge} ({hypergraph.describe(edge)}) can use two "
                    f"edges tied to variable {self.variables[twice.bit_length() - 1].name}"
                )

        own = [0] * hypergraph.edges  # sets of variables, as the bits of an integer
        for edge, variable in zip(self.edge.tolist(), self.variable.tolist(), strict=True):
            refuse(own[edge] & (1 << variable), edge)
            own[edge] |= 1 << variable
        below = [0] * hypergraph.nodes
        for node in range(hypergraph.nodes):
            for edge in incoming[first[node] : first[node + 1]].tolist():
                used = own[edge]
                for tail in tails[offsets[edge] : offsets[edge + 1]].tolist():
                    refuse(used & below[tail], edge)
                    used |= below[tail]
                below[node] |= used


def add_up(values: FloatArray, index: IntArray, size: int) -> FloatArray:
    """Sum of the values with each index from 0 to size - 1."""
    return np.bincount(index, weights=values, minlength=size).astype(np.float64, copy=False)


def _within(index: int, count: int, what: str) -> int:
    if not 0 <= index < count:
        raise ValueError(f"HypergraphFactor: {what} {index} is not among the {count} {what}s")
    return index
