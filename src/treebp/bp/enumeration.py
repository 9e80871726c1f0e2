"""Exact inference by listing every joint state: the yardstick for small graphs."""

import math
from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import read_only
from treebp._types import FloatArray
from treebp.bp.factor_graph import CompiledGraph, FactorGraph
from treebp.bp.factor_handle import Factor
from treebp.bp.factors.protocol import StructuredFactor
from treebp.bp.variables import Variable

# A joint table of a million entries takes 8 MB; NumPy 1 has no more axes than this.
_MOST_JOINT_STATES = 2**20
_MOST_VARIABLES = 32


class Enumeration:
    """The exact distribution of a small factor graph; made by `enumerate_graph`.

    It answers the questions that `Beliefs` answers, in the same shapes.

    Attributes:
        log_partition: log of the sum over all joint states.

    Example:
        >>> graph = FactorGraph()
        >>> a, b = graph.variables(2)
        >>> differ = graph.factor([a, b], [[-np.inf, 0.0], [0.0, -np.inf]])
        >>> enumerate_graph(graph).joint.round(3)
        array([[0. , 0.5],
               [0.5, 0. ]])

    """

    def __init__(self, graph: CompiledGraph, log_joint: FloatArray) -> None:
        self._graph = graph
        self._log_joint = log_joint
        self.log_partition = float(np.logaddexp.reduce(log_joint, axis=None))
        if self.log_partition == -np.inf:
            raise ValueError("the factors together forbid every joint state of the variables")

    @cached_property
    def joint(self) -> FloatArray:
        """The probability of each joint state, an axis per variable; read-only."""
        return read_only(np.asarray(np.exp(self._log_joint - self.log_partition)))

    def __getitem__(self, variable: Variable) -> FloatArray:
        """The marginal distribution of a variable: a (states,) array that sums to one."""
        return self._marginal((variable,))

    def factor(self, factor: Factor) -> FloatArray | list[FloatArray]:
        """The joint marginal of a table factor's variables, or a list of those of a structured factor's."""
        self._graph.place(factor)
        if factor.structured is not None:
            return [self[variable] for variable in factor.variables]
        return self._marginal(factor.variables)

    def _marginal(self, variables: tuple[Variable, ...]) -> FloatArray:
        axes = [self._graph.variable_index(variable) for variable in variables]
        others = tuple(axis for axis in range(self.joint.ndim) if axis not in axes)
        # The axes that are left come in the graph's order.
        return np.asarray(self.joint.sum(axis=others).transpose(np.argsort(np.argsort(axes))))


def enumerate_graph(graph: FactorGraph, potentials: Mapping[Factor, ArrayLike] | None = None) -> Enumeration:
    """Sum over all joint states of a graph with at most about a million of them.

    Args:
        graph: the variables and factors; structured ones are asked for their value at each joint state.
        potentials: {factor: log-potentials} to use in place of those given when the graph was built.

    Raises:
        ValueError: too many joint states or variables, or factors that contradict each other.

    Example:
        >>> graph = FactorGraph()
        >>> a, b = graph.variables(2)
        >>> either = graph.factor([a, b], [[-np.inf, 0.0], [0.0, 0.0]])
        >>> exact = enumerate_graph(graph)
        >>> exact[a].round(3), round(math.exp(exact.log_partition), 3)
        (array([0.333, 0.667]), 3.0)

    """
    compiled = graph.compile()
    shape = tuple(variable.states for variable in compiled.variables)
    if math.prod(shape) > _MOST_JOINT_STATES or len(shape) > _MOST_VARIABLES:
        raise ValueError(
            f"{len(shape)} variables with {math.prod(shape)} joint states are too many to enumerate: "
            f"at most {_MOST_VARIABLES} and {_MOST_JOINT_STATES}"
        )
    flat = compiled.potentials(potentials)
    log_joint = np.zeros(shape)
    for factor in compiled.factors:
        place = compiled.place(factor)
        table = flat[place.group][place.potentials].reshape(factor.potentials.shape)
        if factor.structured is not None:
            table = explicit_table(factor.structured, table)
        axes = [compiled.variable_index(variable) for variable in factor.variables]
        spread = [shape[axis] if axis in axes else 1 for axis in range(len(shape))]
        log_joint += table.transpose(np.argsort(axes)).reshape(spread)
    return Enumeration(compiled, log_joint)


def explicit_table(factor: StructuredFactor, potentials: FloatArray) -> FloatArray:
    """Log-value of a structured factor at each joint state, with an axis per variable.

    Variables are fixed one after the other. The messages tell which states of the next one are still possible,
    so that a constraint with few solutions is soon searched; those to the last variable are the values.
    """
    sizes = [variable.states for variable in factor.variables]
    blocks = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    table = np.full(sizes, -np.inf)
    incoming = np.concatenate([np.full(size, -math.log(size)) for size in sizes])
    prefixes: list[tuple[int, ...]] = [()]
    while prefixes:
        prefix = prefixes.pop()
        fixed = incoming.copy()
        for block, state in zip(blocks, prefix, strict=False):
            fixed[block] = -np.inf
            fixed[block[state]] = 0.0
        outgoing = factor.messages(fixed, potentials)[0][blocks[len(prefix)]]
        if len(prefix) == len(sizes) - 1:
            table[prefix] = outgoing
        else:
            prefixes += [(*prefix, state) for state in np.flatnonzero(outgoing > -np.inf).tolist()]
    return table
