"""Chains: linear-chain models as one factor."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import float_array, read_only
from treebp._types import FloatArray, IntArray
from treebp.bp.factors.protocol import FactorBackprop
from treebp.bp.groups.chains import Chains, chain_layout
from treebp.bp.groups.protocol import Group
from treebp.bp.variables import Variable
from treebp.kernels.chain import chain_sums, chain_sums_backward


class Chain:
    """Scores each pair of neighbours in a sequence of variables; summed by forward-backward.

    Args:
        variables: the n variables, all with the same number of states.
        transitions: (n - 1, states, states), or (states, states) for all positions alike: log-potentials of
            going from one state to the next. These are the factor's `potentials`.

    Example:
        >>> from treebp.bp.factor_graph import FactorGraph
        >>> from treebp.bp.propagation import propagate
        >>> graph = FactorGraph()
        >>> tags = graph.variables(3, states=2)
        >>> chain = graph.constrain(Chain(tags, [[0.0, 1.0], [0.0, 0.0]]))
        >>> propagate(graph, iterations=1).expectations(chain).round(3)
        array([[0.384, 0.731],
               [0.5  , 0.384]])

    """

    edge_order = None

    def __init__(self, variables: Sequence[Variable], transitions: ArrayLike) -> None:
        if not variables:
            raise ValueError("Chain: needs at least one variable")
        states = variables[0].states
        for variable in variables:
            if variable.states != states:
                raise ValueError(
                    f"Chain: variable {variable.name} has {variable.states} states, but "
                    f"{variables[0].name} has {states}"
                )
        self.variables = tuple(variables)
        self.potentials: FloatArray = read_only(float_array(transitions, "Chain: transitions"))
        self._shape = (len(variables) - 1, states, states)
        if self.potentials.shape not in {self._shape, self._shape[1:]}:
            raise ValueError(
                f"Chain: transitions of shape {self.potentials.shape}, expected {self._shape} or {self._shape[1:]}"
            )

    def messages(self, incoming: FloatArray, potentials: FloatArray) -> tuple[FloatArray, FactorBackprop]:
        """Sum over all sequences of states by forward-backward."""
        layout = chain_layout(np.array([len(self.variables)]), np.full(len(self.variables), self._shape[1]))
        transitions = np.ascontiguousarray(np.broadcast_to(potentials, self._shape)).ravel()
        before, after = np.empty_like(incoming), np.empty_like(incoming)
        chain_sums(layout, incoming, transitions, before, after)

        def backprop(adjoint: FloatArray) -> tuple[FloatArray, FloatArray]:
            of_incoming, flat = chain_sums_backward(layout, incoming, transitions, before, after, adjoint)
            of_transitions = flat.reshape(self._shape)
            return of_incoming, of_transitions.sum(axis=0) if potentials.ndim == 2 else of_transitions

        return before + after, backprop

    @property
    def kind(self) -> tuple[object, ...] | None:
        """Chains of one kind make a group; one whose positions share their transitions is alone."""
        return (self.variables[0].states,) if self.potentials.ndim == 3 else None

    def group(self, factors: Sequence["Chain"], variables: IntArray) -> Group:
        """Many chains of this kind as a group; `variables` are theirs, end to end."""
        return Chains(variables, [len(factor.variables) for factor in factors], self.variables[0].states)
