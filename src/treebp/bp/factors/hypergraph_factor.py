"""Any hypergraph as a factor: variables say which of its edges or nodes a derivation uses."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import float_array, integer_array, read_only
from treebp._types import BoolArray, FloatArray, IntArray
from treebp.bp.factors.protocol import FactorBackprop
from treebp.bp.factors.ties import Tie, Ties, add_up
from treebp.hypergraphs.hypergraph import Hypergraph
from treebp.kernels.ranked_hypergraph import Ranked, ranked_backward, ranked_inside, ranked_outside

# Above this probability of ON, the sum for OFF is done again without the variable's edges; below, subtracting the
# sum for ON from that for both costs two digits at most.
_NEARLY_CERTAIN = 0.99


class HypergraphFactor:
    """Allows the joint states that some derivation of a hypergraph's root spells out.

    A variable takes the state of that edge or node tied to it which the derivation uses, and state 0 (OFF) where it
    uses none. The factor's value at a joint state is the sum over the derivations that spell it out, each the
    product of its edges' weights.

    Args:
        hypergraph: its derivations are the factor's terms.
        edges: {edge: variable} or {edge: (variable, state)}, what is tied to which variable; the state is 1
            (ON) unless given, and never 0. Many edges may be tied to one variable, but no derivation may use
            more than one of them.
        nodes: the same for nodes; a node is used by the edge that derives it.
        potentials: the factor's own log-potentials, of any shape; without, every edge has weight one.
        parameters: (edges,) each edge's log-weight is `potentials.ravel()[parameters]`, or 0 where this is -1.
            By default, edge e uses entry e.

    Raises:
        ValueError: an index or state out of range; no tie at all; a variable that a derivation could use twice; a root
            without a derivation.

    Example:
        >>> from treebp.bp.factor_graph import FactorGraph
        >>> from treebp.hypergraphs.builders import eisner
        >>> from treebp.bp.propagation import propagate
        >>> hypergraph, tie = eisner(2, single_root=True)
        >>> graph = FactorGraph()
        >>> arcs = dict(zip([1, 2, 5, 7], graph.variables(4)))  # head * 3 + modifier
        >>> ties = {edge: arcs[arc] for edge, arc in enumerate(tie.tolist()) if arc >= 0}
        >>> trees = graph.constrain(HypergraphFactor(hypergraph, edges=ties))
        >>> unary = graph.factor([arcs[1]], [0.0, 1.0])         # the root's arc to the first word
        >>> propagate(graph, iterations=1)[arcs[5]].round(3)    # hence, from the first word to the second
        array([0.269, 0.731])

    """

    def __init__(
        self,
        hypergraph: Hypergraph,
        *,
        edges: Mapping[int, Tie] | None = None,
        nodes: Mapping[int, Tie] | None = None,
        potentials: ArrayLike | None = None,
        parameters: ArrayLike | None = None,
    ) -> None:
        self.hypergraph = hypergraph
        given = float_array([] if potentials is None else potentials, "HypergraphFactor: potentials")
        self.potentials: FloatArray = read_only(given)
        default = np.full(hypergraph.edges, -1) if potentials is None else np.arange(hypergraph.edges)
        self._parameters = integer_array(default if parameters is None else parameters, "HypergraphFactor: parameters")
        if self._parameters.shape != (hypergraph.edges,):
            raise ValueError(
                f"HypergraphFactor: parameters of shape {self._parameters.shape}, expected ({hypergraph.edges},)"
            )
        for edge in np.flatnonzero((self._parameters < -1) | (self._parameters >= self.potentials.size))[:1]:
            raise ValueError(f"HypergraphFactor: edge {edge} has no potential {self._parameters[edge]}")
        if not derivable(hypergraph):
            raise ValueError(f"HypergraphFactor: the root, node {hypergraph.root}, has no derivation")
        self._ties = Ties(hypergraph, edges, nodes)
        self.variables = self._ties.variables

    def messages(self, incoming: FloatArray, potentials: FloatArray) -> tuple[FloatArray, FactorBackprop]:
        """Sum over all derivations by inside-outside; messages are taken as weights relative to OFF.

        A variable that cannot be OFF has no such weight: its edges get a rank in place of a division by zero, and
        only derivations of full rank count.
        """
        ties, structure, root = self._ties, self.hypergraph.structure, self.hypergraph.root
        edges, count = self.hypergraph.edges, len(self.variables)
        required: BoolArray = incoming[ties.off] == -np.inf
        off = np.where(required, 0.0, incoming[ties.off])
        values = (incoming - off[ties.state_variable])[ties.state]
        needed: IntArray = required.sum() - required.astype(np.int64)  # the rank of the other variables
        own = np.where(self._parameters < 0, 0.0, np.append(potentials.ravel(), 0.0)[self._parameters])
        ranks: IntArray = np.bincount(ties.edge[required[ties.variable]], minlength=edges).astype(np.int64)
        weights = Ranked(ranks, own + add_up(values, ties.edge, edges))

        inside, edge_inside = ranked_inside(weights, structure)
        log_partition = inside.log[root]
        if log_partition == -np.inf or inside.rank[root] < required.sum():
            return np.full_like(incoming, -np.inf), lambda _: (np.zeros_like(incoming), np.zeros_like(potentials))
        outside = ranked_outside(weights, inside, structure)
        heads = self.hypergraph.heads
        at_edge = Ranked(outside.rank[heads], outside.log[heads])

        # ON: for each tie, all that surrounds it; the tie's own message is left out, its partner's is not.
        paired = ties.partner >= 0
        surroundings = (edge_inside.log + at_edge.log + own)[ties.edge] + np.where(paired, values[ties.partner], 0.0)
        rank = (edge_inside.rank + at_edge.rank)[ties.edge] + (paired & required[ties.variable[ties.partner]])
        surroundings[rank != needed[ties.variable]] = -np.inf
        sums = np.full_like(incoming, -np.inf)
        sums[ties.tied_states] = np.logaddexp.reduceat(surroundings, ties.first)

        # OFF: all derivations less those that use the variable; where little would be left, a sum of its own.
        tie_marginals = np.exp(surroundings + values - log_partition)
        certainty = add_up(tie_marginals, ties.variable, count)
        certain = required | (certainty > _NEARLY_CERTAIN)
        doubt = np.where(certain, 1.0, 1.0 - certainty)
        sums[ties.off] = log_partition + np.log(doubt)
        without = {}
        for variable in np.flatnonzero(certain).tolist():
            used = add_up(1.0 * (ties.variable == variable), ties.edge, edges) > 0
            remaining = Ranked(ranks, np.where(used, -np.inf, weights.log))
            again, edge_again = ranked_inside(remaining, structure)
            possible = again.rank[root] == needed[variable]
            sums[ties.off[variable]] = again.log[root] if possible else -np.inf
            without[variable] = remaining, again, edge_again

        def backprop(adjoint: FloatArray) -> tuple[FloatArray, FloatArray]:
            adjoint_off = np.where(sums[ties.off] > -np.inf, adjoint[ties.off], 0.0)
            totals = sums[ties.state]
            pull = adjoint[ties.state] * np.exp(surroundings - np.where(totals > -np.inf, totals, 0.0))
            relative = np.where(certain, 0.0, adjoint_off / doubt)
            edge_pull = add_up(pull - relative[ties.variable] * tie_marginals, ties.edge, edges)
            adjoint_weights = edge_pull + ranked_backward(
                edge_pull, relative.sum(), weights, inside, edge_inside, outside, structure
            )
            for variable, (remaining, again, edge_again) in without.items():
                if adjoint_off[variable] != 0.0:
                    adjoint_weights += ranked_backward(
                        np.zeros(edges), adjoint_off[variable], remaining, again, edge_again, outside, structure
                    )
            # A tie's own message is part of its edge's weight, but not of the tie's surroundings.
            adjoint_values = np.where(values > -np.inf, adjoint_weights[ties.edge] - pull, 0.0)
            by_variable = add_up(adjoint, ties.state_variable, count)
            adjoint_constant = by_variable.sum() - by_variable - add_up(adjoint_values, ties.variable, count)
            adjoint_incoming = add_up(adjoint_values, ties.state, len(incoming))
            adjoint_incoming[ties.off] = np.where(required, 0.0, adjoint_constant)
            chosen = self._parameters >= 0
            adjoint_own = add_up(adjoint_weights[chosen], self._parameters[chosen], potentials.size)
            return adjoint_incoming, adjoint_own.reshape(potentials.shape)

        return sums + (off.sum() - off)[ties.state_variable], backprop


def derivable(hypergraph: Hypergraph) -> bool:
    """Whether the root has any derivation."""
    edges = hypergraph.edges
    inside, _ = ranked_inside(Ranked(np.zeros(edges, np.int64), np.zeros(edges)), hypergraph.structure)
    return bool(inside.log[hypergraph.root] > -np.inf)
