"""Factors with a weight for the joint state in which all their variables are ON."""

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import integer_array
from treebp._types import FloatArray, IntArray
from treebp.bp.groups.protocol import STRONGEST, Group, GroupBackprop, Sender, Sums
from treebp.bp.groups.tables import Tables
from treebp.bp.memory import empty
from treebp.kernels import ratios as kernels

_SEND = {2: kernels.send_pairs, 3: kernels.send_triples}
_BACKWARD = {2: kernels.send_pairs_backward, 3: kernels.send_triples_backward}


class AllOn:
    """A log-potential for each set of one, two or three binary variables, which counts when all of them are ON.

    Args:
        variables: (factors, 1, 2 or 3) the variables of each factor.

    Example:
        >>> from treebp.bp.graph import Graph
        >>> from treebp.bp.propagation import propagate
        >>> fields, pairs = AllOn([[0], [1]]), AllOn([[0, 1]])
        >>> graph = Graph(2, [fields, pairs])
        >>> propagate(graph, iterations=1, potentials=[[0.0, 1.0], [2.0]]).on.round(3)
        array([0.85 , 0.919])

    """

    structured = False
    edge_states = 2

    def __init__(self, variables: ArrayLike) -> None:
        # The parser has them in half the memory.
        rows = np.asarray(variables)
        rows = rows if rows.dtype == np.int32 else integer_array(variables, "AllOn: variables")
        if rows.ndim != 2 or rows.shape[1] not in (1, 2, 3):
            raise ValueError(f"AllOn: variables of shape {rows.shape}, expected (factors, 1, 2 or 3)")
        self.potentials, self.arity = rows.shape
        self.variables: IntArray = np.concatenate([rows[:, axis] for axis in range(self.arity)])

    @property
    def edge_factor(self) -> IntArray:
        """(edges,) the factor of each edge."""
        return np.tile(np.arange(self.potentials), self.arity)

    def start(self, potentials: FloatArray) -> Sender:
        """The group with these log-potentials: in ratios, unless these are too large, or it has single variables."""
        if self.arity == 1:
            return Single(potentials)
        strongest, weights = kernels.weights_of(potentials)
        if not strongest <= STRONGEST:
            return _Explicit(self.tables(), potentials)
        return Ratios(self.arity, strongest, weights)

    def tables(self) -> Tables:
        """The same factors as tables, all of whose entries but the last are zero."""
        return Tables(self.variables.reshape(self.arity, -1).T, (2,) * self.arity)

    def subset(self, factor: int) -> tuple[Group, IntArray, IntArray]:
        """One factor as a group."""
        edges = np.arange(self.arity) * self.potentials + factor
        return AllOn(self.variables[edges][None]), edges, np.array([factor])


class Single:
    """One variable per factor: its log-odds are the log-potential, whatever the variable says."""

    in_ratios = False
    strongest = np.inf
    constant = True

    def __init__(self, potentials: FloatArray) -> None:
        self.potentials = potentials

    def send(self, incoming: FloatArray, outgoing: FloatArray, gradient: bool) -> GroupBackprop:
        """See `Sender`."""
        outgoing[:] = self.potentials

        def backprop(adjoint: FloatArray, of_potentials: FloatArray) -> None:
            of_potentials += adjoint

        return backprop

    def sums(self, incoming: FloatArray, outgoing: FloatArray) -> Sums:
        """See `Sender`."""
        beliefs = np.empty_like(incoming)
        log_partition = kernels.single_expectations(self.potentials, incoming, beliefs)
        return Sums(beliefs, log_partition)


class Ratios:
    """Pairs or triples in real arithmetic."""

    in_ratios = True
    constant = False

    def __init__(self, arity: int, strongest: float, weights: FloatArray) -> None:
        self.arity, self.strongest, self.weights = arity, strongest, weights

    def send(self, incoming: FloatArray, outgoing: FloatArray, gradient: bool) -> GroupBackprop:
        """See `Sender`."""
        rows = incoming.reshape(self.arity, -1)
        _SEND[self.arity](self.weights, rows, outgoing.reshape(self.arity, -1))

        def backprop(adjoint: FloatArray, of_potentials: FloatArray) -> FloatArray:
            out = empty(len(adjoint))
            _BACKWARD[self.arity](
                self.weights, rows, adjoint.reshape(self.arity, -1), out.reshape(self.arity, -1), of_potentials
            )
            return out

        return backprop

    def sums(self, incoming: FloatArray, outgoing: FloatArray) -> Sums:
        """See `Sender`."""
        beliefs = np.empty_like(self.weights)
        rows = incoming.reshape(self.arity, -1), outgoing.reshape(self.arity, -1)
        return Sums(beliefs, kernels.expectations(self.weights, *rows, beliefs))


class _Explicit:
    """As tables in logarithms, for log-potentials that are very large, or infinite."""

    in_ratios = False
    strongest = np.inf
    constant = False

    def __init__(self, tables: Tables, potentials: FloatArray) -> None:
        self._shape = len(potentials), -1
        self._sender = tables.start(_padded(potentials, 2**tables.arity))
        self._size = tables.potentials

    def send(self, incoming: FloatArray, outgoing: FloatArray, gradient: bool) -> GroupBackprop:
        backprop = self._sender.send(incoming, outgoing, gradient)

        def last_of_each(adjoint: FloatArray, of_potentials: FloatArray) -> FloatArray | None:
            of_tables = np.zeros(self._size)
            of_incoming = backprop(adjoint, of_tables)
            of_potentials += of_tables.reshape(self._shape)[:, -1]
            return of_incoming

        return last_of_each

    def sums(self, incoming: FloatArray, outgoing: FloatArray) -> Sums:
        expectations, log_partition = self._sender.sums(incoming, outgoing)
        return Sums(expectations.reshape(self._shape)[:, -1].copy(), log_partition)


def _padded(potentials: FloatArray, entries: int) -> FloatArray:
    """Tables that are zero but for their last entry."""
    tables = np.zeros((len(potentials), entries))
    tables[:, -1] = potentials
    return tables.ravel()
