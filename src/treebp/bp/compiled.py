"""The flat arrays on which belief propagation runs."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from treebp._types import AnyArray, FloatArray, IntArray
from treebp.bp.factor_handle import Factor
from treebp.bp.variables import Variable


def starts(sizes: Sequence[int] | IntArray) -> IntArray:
    """Where each of consecutive blocks begins, and where the last one ends."""
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


class CompiledGraph:
    """A factor graph as arrays.

    An *edge* joins a factor and one of its variables. Edges are numbered factor after factor, and so are the
    entries of the messages along them: what a factor receives, and what it sends, is one slice.
    """

    def __init__(self, variables: tuple[Variable, ...], factors: tuple[Factor, ...]) -> None:
        self.variables = variables
        self.factors = factors
        self._variable_index = {variable: index for index, variable in enumerate(variables)}
        self._factor_index = {factor: index for index, factor in enumerate(factors)}

        self.first_edge = starts([len(factor.variables) for factor in factors])
        self.edge_factor: IntArray = np.repeat(np.arange(len(factors)), np.diff(self.first_edge))
        self.edge_variable: IntArray = np.array(
            [self._variable_index[variable] for factor in factors for variable in factor.variables], np.int64
        )
        self.first_state = starts([variable.states for variable in variables])
        states = np.diff(self.first_state)[self.edge_variable]
        self.first_message = starts(states)
        self.first_potential = starts([factor.potentials.size for factor in factors])

        # The edges of variable v are variable_edges[first_variable_edge[v] : first_variable_edge[v + 1]].
        self.variable_edges: IntArray = np.argsort(self.edge_variable, kind="stable")
        self.first_variable_edge = starts(np.bincount(self.edge_variable, minlength=len(variables)))
        # Two neighbouring states of an edge's variable are edge_stride entries apart in a table.
        self.edge_stride: IntArray = np.array([stride for factor in factors for stride in _strides(factor)], np.int64)
        # What the kernels need to know of the graph, in the order of their arguments.
        self.variable_arrays = (self.edge_variable, self.first_variable_edge, self.variable_edges, self.first_message)
        self.table_arrays = (
            self.edge_factor,
            self.first_edge,
            self.edge_stride,
            self.first_potential,
            self.first_message,
        )
        # Each message entry is about one state; states are numbered variable after variable.
        offsets = np.arange(self.first_message[-1]) - np.repeat(self.first_message[:-1], states)
        self.message_state: IntArray = np.repeat(self.first_state[self.edge_variable], states) + offsets
        self.uniform: FloatArray = -np.log(np.repeat(states, states).astype(np.float64))

    @cached_property
    def is_structured(self) -> AnyArray:
        """Whether each factor is a structured one."""
        return np.array([factor.structured is not None for factor in self.factors], np.bool_)

    @cached_property
    def default_potentials(self) -> FloatArray:
        """The log-potentials given when the graph was built, factor after factor."""
        return np.concatenate([np.zeros(0), *(factor.potentials.ravel() for factor in self.factors)])

    def potentials(self, replaced: Mapping[Factor, ArrayLike] | None) -> FloatArray:
        """All log-potentials, factor after factor, with those of some factors replaced."""
        flat = self.default_potentials.copy()
        for factor, log_potentials in (replaced or {}).items():
            own = self.potential_slice(self.factor_index(factor))
            flat[own] = factor.checked(log_potentials).ravel()
        return flat

    def potential_slice(self, factor: int) -> slice:
        """Where a factor's log-potentials lie."""
        return slice(int(self.first_potential[factor]), int(self.first_potential[factor + 1]))

    def message_slice(self, factor: int) -> slice:
        """Where the messages to, and from, a factor lie."""
        return slice(
            int(self.first_message[self.first_edge[factor]]),
            int(self.first_message[self.first_edge[factor + 1]]),
        )

    def variable_index(self, variable: Variable) -> int:
        """Position of a variable; ValueError if it belongs to another graph."""
        if variable not in self._variable_index:
            raise ValueError(f"variable {variable.name} belongs to another graph")
        return self._variable_index[variable]

    def factor_index(self, factor: Factor) -> int:
        """Position of a factor; ValueError if it belongs to another graph."""
        if factor not in self._factor_index:
            raise ValueError(f"{factor.name} belongs to another graph")
        return self._factor_index[factor]


def _strides(factor: Factor) -> list[int]:
    sizes = [variable.states for variable in factor.variables]
    if factor.structured is not None:
        return [0] * len(sizes)
    return [int(np.prod(sizes[axis + 1 :])) for axis in range(len(sizes))]
