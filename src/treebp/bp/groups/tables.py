"""Factors that list a log-potential for each joint state of their variables."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import integer_array, whole_number
from treebp._types import FloatArray, IntArray
from treebp.bp.groups.odds import log_probabilities
from treebp.bp.groups.protocol import STRONGEST, Group, GroupBackprop, Sender, Sums
from treebp.bp.memory import empty
from treebp.kernels import tables as kernels
from treebp.kernels.ratios import weights_of


class Tables:
    """Many tables of one shape; `-inf` forbids a joint state.

    Args:
        variables: (tables, axes) the variable of each table's axes.
        shape: the number of states of the variables of each axis.

    The log-potentials of a run are flat, table after table.

    Example:
        >>> from treebp.bp.graph import Graph
        >>> from treebp.bp.propagation import propagate
        >>> graph = Graph([2, 3], [Tables([[0]], (2,)), Tables([[0, 1]], (2, 3))])
        >>> beliefs = propagate(graph, iterations=1, potentials=[[0.0, 1.0], np.zeros(6)])
        >>> beliefs.on[0].round(3)
        np.float64(0.731)

    """

    structured = False

    def __init__(self, variables: ArrayLike, shape: Sequence[int]) -> None:
        self.shape = tuple(whole_number(states, "Tables: states", 0) for states in shape)
        rows = integer_array(variables, "Tables: variables")
        if rows.ndim != 2 or rows.shape[1] != len(self.shape) or not self.shape or min(self.shape) < 1:
            raise ValueError(f"Tables: variables of shape {rows.shape} for tables of shape {self.shape}")
        self.count, self.arity = rows.shape
        self.entries = int(np.prod(self.shape))
        self.potentials = self.count * self.entries
        self.variables: IntArray = np.ascontiguousarray(rows.T).ravel()

    @property
    def edge_states(self) -> IntArray:
        """(edges,) the states of each edge's variable."""
        return np.repeat(np.array(self.shape, np.int64), self.count)

    @property
    def edge_factor(self) -> IntArray:
        """(edges,) the table of each edge."""
        return np.tile(np.arange(self.count), self.arity)

    @cached_property
    def arrays(self) -> kernels.TableArrays:
        """What kernels know of the tables; edges are numbered table after table, entries axis after axis."""
        states = np.array(self.shape, np.int64)
        widths = np.where(states == 2, 1, states)
        axis_entry = np.concatenate(([0], np.cumsum(widths[:-1] * self.count)))
        strides = np.array([int(np.prod(self.shape[axis + 1 :])) for axis in range(self.arity)], np.int64)
        table = np.arange(self.count)[:, None]
        return kernels.TableArrays(
            first_edge=np.arange(self.count + 1) * self.arity,
            first_potential=np.arange(self.count + 1) * self.entries,
            edge_table=np.repeat(np.arange(self.count), self.arity),
            edge_states=np.tile(states, self.count),
            edge_stride=np.tile(strides, self.count),
            edge_entry=(axis_entry + table * widths).ravel(),
        )

    def start(self, potentials: FloatArray) -> Sender:
        """The tables with these log-potentials: pairs of binary variables in ratios, unless these are too large."""
        if self.shape == (2,):
            return _Fields(potentials)
        if self.shape == (2, 2):
            rows = potentials.reshape(-1, 4)
            largest = rows.max(axis=1, initial=-np.inf, keepdims=True)
            with np.errstate(invalid="ignore"):  # NaN, which is not at least anything, where all is forbidden
                beside = rows - largest
            if not len(rows) or beside.min() >= -STRONGEST:
                strongest, weights = weights_of(np.ascontiguousarray(beside.T).ravel())
                return _PairRatios(weights.reshape(4, -1), strongest, float(largest.sum()))
        return _Logs(self, potentials)

    def subset(self, factor: int) -> tuple[Group, IntArray, IntArray]:
        """One table as a group."""
        edges = np.arange(self.arity) * self.count + factor
        potentials = np.arange(factor * self.entries, (factor + 1) * self.entries)
        return Tables(self.variables[edges][None], self.shape), edges, potentials


class _Fields:
    """Tables of one binary variable: their log-odds do not depend on what it says."""

    in_ratios = False
    strongest = np.inf
    constant = True

    def __init__(self, potentials: FloatArray) -> None:
        self._rows = potentials.reshape(-1, 2)
        with np.errstate(invalid="ignore"):  # NaN is how a contradiction is told
            self._odds = self._rows[:, 1] - self._rows[:, 0]

    def send(self, incoming: FloatArray, outgoing: FloatArray, gradient: bool) -> GroupBackprop:
        outgoing[:] = self._odds

        def backprop(adjoint: FloatArray, of_potentials: FloatArray) -> None:
            rows = of_potentials.reshape(-1, 2)
            rows[:, 1] += np.where(np.isfinite(self._odds), adjoint, 0.0)
            rows[:, 0] -= np.where(np.isfinite(self._odds), adjoint, 0.0)

        return backprop

    def sums(self, incoming: FloatArray, outgoing: FloatArray) -> Sums:
        joint = self._rows + log_probabilities(incoming)
        totals = np.logaddexp(joint[:, 0], joint[:, 1])
        with np.errstate(invalid="ignore"):
            return Sums(np.exp(joint - totals[:, None]).ravel(), float(totals.sum()))


class _PairRatios:
    """Tables of two binary variables in real arithmetic, their largest entries divided out."""

    in_ratios = True
    constant = False

    def __init__(self, weights: FloatArray, strongest: float, offset: float) -> None:
        self._weights, self.strongest, self._offset = weights, strongest, offset

    def send(self, incoming: FloatArray, outgoing: FloatArray, gradient: bool) -> GroupBackprop:
        rows = incoming.reshape(2, -1)
        kernels.send_pair_tables(self._weights, rows, outgoing.reshape(2, -1))

        def backprop(adjoint: FloatArray, of_potentials: FloatArray) -> FloatArray:
            out = empty(len(adjoint))
            kernels.send_pair_tables_backward(
                self._weights, rows, adjoint.reshape(2, -1), out.reshape(2, -1), of_potentials.reshape(-1, 4)
            )
            return out

        return backprop

    def sums(self, incoming: FloatArray, outgoing: FloatArray) -> Sums:
        off = 1.0 / (1.0 + incoming.reshape(2, -1))
        on = incoming.reshape(2, -1) * off
        joint = self._weights * np.stack([off[0] * off[1], off[0] * on[1], on[0] * off[1], on[0] * on[1]])
        totals = joint.sum(axis=0)
        edges = off + on * outgoing.reshape(2, -1)
        log_partition = self._offset + float(np.log(totals).sum() - np.log(edges).sum())
        return Sums(np.ascontiguousarray((joint / totals).T).ravel(), log_partition)


class _Logs:
    """Any tables, in logarithms."""

    in_ratios = False
    strongest = np.inf
    constant = False

    def __init__(self, group: Tables, potentials: FloatArray) -> None:
        self._arrays, self._potentials = group.arrays, potentials
        self._edges = np.arange(len(group.variables))
        self._scratch = np.empty(group.entries)

    def send(self, incoming: FloatArray, outgoing: FloatArray, gradient: bool) -> GroupBackprop:
        kernels.send_tables(self._edges, self._arrays, self._potentials, incoming, self._scratch, outgoing)

        def backprop(adjoint: FloatArray, of_potentials: FloatArray) -> FloatArray:
            out = np.zeros_like(adjoint)
            kernels.send_tables_backward(
                self._edges, self._arrays, self._potentials, incoming, adjoint, self._scratch, out, of_potentials
            )
            return out

        return backprop

    def sums(self, incoming: FloatArray, outgoing: FloatArray) -> Sums:
        beliefs = np.empty_like(self._potentials)
        log_partitions = kernels.table_beliefs(self._arrays, self._potentials, incoming, beliefs)
        return Sums(beliefs, float(log_partitions.sum()))
