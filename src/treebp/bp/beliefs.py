"""What belief propagation ends with: module (D) of the paper's circuit, forward and backward."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import float_array, read_only
from treebp._types import FloatArray, IntArray
from treebp.bp.bethe import bethe_log_partition
from treebp.bp.factor_graph import CompiledGraph
from treebp.bp.factor_handle import Factor
from treebp.bp.groups.odds import log_probabilities
from treebp.bp.groups.protocol import Sums
from treebp.bp.outcome import Outcome, to_logs
from treebp.bp.variables import Variable
from treebp.kernels.ratios import first_nan, probabilities

_Owners = Mapping[Variable, ArrayLike] | Mapping[Factor, ArrayLike] | Mapping[Variable | Factor, ArrayLike]


class Beliefs:
    """Approximate marginals, exact if the graph is acyclic and the messages have converged.

    Made by `treebp.propagate`. What is pickled is how they were made: they are computed again, to the same digits, when
    they are loaded.

    Attributes:
        on: (variables,) the belief in state 1 of each variable: that a binary one is ON; read-only.
        converged: whether the last residual is below the tolerance; False if none was given.

    Example:
        >>> from treebp.bp.factor_graph import FactorGraph
        >>> from treebp.bp.propagation import propagate
        >>> graph = FactorGraph()
        >>> a, b = graph.variables(2)
        >>> pair = graph.factor([a, b], np.log([[4.0, 1.0], [2.0, 3.0]]))
        >>> beliefs = propagate(graph, iterations=1)
        >>> beliefs[a].round(3), round(beliefs.log_partition, 3)
        (array([0.5, 0.5]), 2.303)
        >>> beliefs.factor(pair).round(3)
        array([[0.4, 0.1],
               [0.2, 0.3]])

    """

    def __init__(
        self,
        outcome: Outcome,
        potentials: list[FloatArray],
        compiled: CompiledGraph | None,
        converged: bool,
        again: "Callable[[], Beliefs]",
    ) -> None:
        self.converged = converged
        self._outcome = outcome
        self._graph = outcome.graph
        self._potentials = potentials
        self._compiled = compiled
        self._make_again = again
        self._slots = self._probabilities(outcome.totals)
        slot = first_nan(self._slots)
        if slot >= 0:
            variable = int(np.searchsorted(self._graph.first_slot, slot, side="right")) - 1
            name = self._graph.variable_name(variable)
            raise ValueError(f"variable {name}: its factors together forbid every state")

    def __reduce__(self) -> tuple[Any, ...]:
        return self._make_again, ()

    def __copy__(self) -> "Beliefs":
        return self  # there is nothing in it to change

    def _probabilities(self, totals: FloatArray) -> FloatArray:
        """Of each slot: of ON, or of a state."""
        on = np.empty_like(totals)
        probabilities(totals, on)
        if self._graph.binary:
            return on
        first, widths = self._graph.first_slot[:-1], np.diff(self._graph.first_slot)
        with np.errstate(over="ignore", invalid="ignore"):
            states = np.exp(totals - np.repeat(np.logaddexp.reduceat(totals, first), widths))
        return np.where(np.repeat(self._graph.states == 2, widths), on, states)

    @property
    def graph(self) -> CompiledGraph:
        """The compiled graph; `graph.variables` and `graph.factors` list what there are beliefs about."""
        return require_handles(self._compiled)

    @property
    def residuals(self) -> FloatArray:
        """(iterations,) the largest change of an entry of a message, as a probability, in each; read-only."""
        return read_only(self._outcome.residuals)

    @property
    def iterations(self) -> int:
        """How often each message was sent."""
        return len(self._outcome.residuals)

    @property
    def on(self) -> FloatArray:
        """(variables,) the belief in state 1 of each variable; 0 for one that has no such state."""
        return read_only(self._state_one(self._slots))

    @property
    def slots(self) -> FloatArray:
        """The beliefs of all variables, one after the other: in ON of a binary one, in each state of another."""
        return self._slots

    def _state_one(self, slots: FloatArray) -> FloatArray:
        if self._graph.binary:
            return slots
        return np.where(self._graph.states == 1, 0.0, slots[self._slots_of_one])

    @property
    def _slots_of_one(self) -> IntArray:
        """(variables,) where each variable's belief in state 1 is; anywhere for one that has no such state."""
        first, states = self._graph.first_slot[:-1], self._graph.states
        return np.minimum(np.where(states == 2, first, first + 1), max(len(self._slots) - 1, 0))

    @property
    def changes(self) -> FloatArray:
        """(variables,) how much the last iteration changed the belief in state 1; infinite after a single one."""
        if self.iterations < 2:
            return np.full(len(self._graph.states), np.inf)
        return np.abs(self._state_one(self._slots) - self._state_one(self._probabilities(self._outcome.before)))

    def states(self, variable: int) -> FloatArray:
        """The belief about the variable with a number: a (states,) array that sums to one."""
        begin, end = self._graph.first_slot[variable : variable + 2].tolist()
        if self._graph.states[variable] == 2:
            total = self._outcome.totals[begin : begin + 1]
            return np.exp(log_probabilities(total)).ravel()
        return self._slots[begin:end].copy()

    def __getitem__(self, variable: Variable) -> FloatArray:
        """The belief about a variable, eq. (6): a (states,) array that sums to one."""
        return self.states(self.graph.variable_index(variable))

    def potentials(self, factor: Factor) -> FloatArray:
        """The log-potentials of a factor in this run."""
        place = self.graph.place(factor)
        return self._potentials[place.group][place.potentials].reshape(factor.potentials.shape).copy()

    def factor(self, factor: Factor) -> FloatArray | list[FloatArray]:
        """The belief about a factor, eq. (7), normalised.

        A table's belief has its shape: an axis per variable. A structured factor's is a list of the marginals
        of its variables, as it sees them.
        """
        if factor.structured is None:
            return self.expectations(factor)
        place = self.graph.place(factor)
        self._possible(place.group)
        sender, own = self._outcome.senders[place.group], self._graph.ranges[place.group]
        joint = to_logs(sender, self._incoming[place.group]) + self._again(place.group)
        flat = np.empty(self._graph.entry_count)
        flat[own] = joint
        beliefs = []
        for edge in place.edges:
            begin, end = self._graph.edges.first_entry[edge : edge + 2].tolist()
            row = log_probabilities(flat[begin:end])[0] if self._graph.edges.states[edge] == 2 else flat[begin:end]
            beliefs.append(np.exp(row - np.logaddexp.reduce(row)))
        return beliefs

    def _again(self, group: int) -> FloatArray:
        """What a group would send next, in answer to the last messages."""
        outgoing = np.empty_like(self._outcome.outgoing[group])
        self._outcome.senders[group].send(self._incoming[group], outgoing, False)
        return to_logs(self._outcome.senders[group], outgoing)

    def expectations(self, factor: Factor) -> FloatArray:
        """Gradient of the factor's log-partition, given its messages, with respect to its log-potentials.

        Of a table, this is its belief; of a structured factor, the expected number of times that it uses each
        of its log-potentials.
        """
        place = self.graph.place(factor)
        self._possible(place.group)
        flat = self._sums[place.group].expectations[place.potentials]
        if np.isnan(flat).any():
            raise ValueError(f"{factor.name}: the other factors leave it no joint state")
        return flat.reshape(factor.potentials.shape).copy()

    @property
    def group_expectations(self) -> list[FloatArray]:
        """The same for each group, in the order of its log-potentials; read-only."""
        return [read_only(sums.expectations) for sums in self._sums]

    @cached_property
    def _incoming(self) -> list[FloatArray]:
        return self._outcome.incoming()

    @cached_property
    def _sums(self) -> list[Sums]:
        outcome = self._outcome
        return [
            sender.sums(incoming, outgoing)
            for sender, incoming, outgoing in zip(outcome.senders, self._incoming, outcome.outgoing, strict=True)
        ]

    @cached_property
    def log_partition(self) -> float:
        """Bethe approximation of the log-partition; exact under the same conditions as the beliefs."""
        of_groups = [self._possible(group) for group in range(len(self._graph.groups))]
        return bethe_log_partition(self._outcome, self._incoming, of_groups)

    def _possible(self, group: int) -> float:
        """The log-partitions of a group's factors; ValueError if one of them is left without a joint state."""
        log_partition = self._sums[group].log_partition
        if log_partition > -np.inf:
            return log_partition
        graph = self._graph
        for factor in range(int(graph.groups[group].edge_factor.max()) + 1):
            alone, edges, own = graph.groups[group].subset(factor)
            sender = alone.start(self._potentials[group][own])
            flat = to_logs(self._outcome.senders[group], self._incoming[group])
            first = graph.edges.first_entry - graph.ranges[group].start
            numbers = edges + int(graph.first_edge[group])
            entries = np.concatenate([np.arange(first[number], first[number + 1]) for number in numbers])
            if sender.sums(flat[entries], np.zeros(len(entries))).log_partition == -np.inf:
                raise ValueError(f"{graph.factor_name(group, factor)}: the other factors leave it no joint state")
        raise ValueError(f"{graph.factor_name(group, 0)}: the other factors leave it no joint state")

    @overload
    def backward(self, adjoints: FloatArray) -> list[FloatArray]: ...
    @overload
    def backward(self, adjoints: _Owners) -> dict[Factor, FloatArray]: ...
    def backward(self, adjoints: FloatArray | _Owners) -> list[FloatArray] | dict[Factor, FloatArray]:
        """Gradient of any function J of the beliefs with respect to every log-potential.

        Exact through all iterations, damping and early stopping.

        Args:
            adjoints: {variable or table factor: dJ/d belief}, in the shape of that belief, zero where left out; or
                (variables,) dJ/d on.

        Returns:
            {factor: dJ/d log-potentials}, in the shape of those; or a flat array for each group. Zero where they are
            -inf.

        """
        graph = self._graph
        if isinstance(adjoints, np.ndarray):
            if type(adjoints) is not np.ndarray or adjoints.dtype != np.float64:
                adjoints = float_array(adjoints, "the adjoint")
            if adjoints.shape != graph.states.shape or not np.isfinite(adjoints).all():
                raise ValueError(f"the adjoint must be finite and of shape {graph.states.shape}, got {adjoints}")
            if graph.binary:
                return self.backward_slots(adjoints)
            more = graph.states > 1
            flat = np.zeros(graph.slot_count)
            flat[self._slots_of_one[more]] = adjoints[more]
            return self.backward_slots(flat)
        of_potentials = [np.zeros(group.potentials) for group in graph.groups]
        of_incoming: list[FloatArray | None] = [None] * len(graph.groups)
        of_slots = np.zeros(graph.slot_count)
        for owner, adjoint in adjoints.items():
            if isinstance(owner, Variable):
                row = _checked(adjoint, (owner.states,), owner.name)
                self._set(self.graph.variable_index(owner), row, of_slots)
            else:
                self._add_factor(owner, adjoint, of_incoming, of_potentials)
        return self.graph.by_factor(self._through_messages(of_slots, of_incoming, of_potentials))

    def backward_slots(self, adjoint: FloatArray) -> list[FloatArray]:
        """The same given dJ/d `slots`; NaN and infinities go through it."""
        of_slots = adjoint * self._slots
        if self._graph.binary:
            of_slots *= self._off
        else:
            widths = np.diff(self._graph.first_slot)
            expected = np.add.reduceat(of_slots, self._graph.first_slot[:-1])
            binary = np.repeat(self._graph.states == 2, widths)
            of_slots = np.where(binary, of_slots * self._off, of_slots - self._slots * np.repeat(expected, widths))
        graph = self._graph
        return self._through_messages(
            of_slots, [None] * len(graph.groups), [np.zeros(group.potentials) for group in graph.groups]
        )

    def _through_messages(
        self, of_slots: FloatArray, of_incoming: list[FloatArray | None], of_potentials: list[FloatArray]
    ) -> list[FloatArray]:
        self._outcome.backward(of_slots, of_incoming, of_potentials)
        for found, own, sender in zip(of_potentials, self._potentials, self._outcome.senders, strict=True):
            if not sender.in_ratios:  # those are never infinite
                found[own == -np.inf] = 0.0
        return of_potentials

    @cached_property
    def _off(self) -> FloatArray:
        with np.errstate(over="ignore"):
            return np.asarray(1.0 / (1.0 + np.exp(self._outcome.totals)))

    def _set(self, variable: int, adjoint: FloatArray, of_slots: FloatArray) -> None:
        """From the adjoint of a variable's belief to that of the log-scores that were normalised to it."""
        belief = self.states(variable)
        of_scores = belief * (adjoint - np.sum(belief * adjoint))
        begin, end = self._graph.first_slot[variable : variable + 2].tolist()
        of_slots[begin:end] = of_scores[1:] if len(belief) == 2 else of_scores

    def _add_factor(
        self, factor: Factor, adjoint: ArrayLike, of_incoming: list[FloatArray | None], of_potentials: list[FloatArray]
    ) -> None:
        if factor.structured is not None:
            raise ValueError(f"{factor.name}: give adjoints of its variables; it has no belief of its own")
        place, belief = self.graph.place(factor), self.expectations(factor)
        array = _checked(adjoint, belief.shape, factor.name)
        of_scores = belief * (array - np.sum(belief * array))
        of_potentials[place.group][place.potentials] += of_scores.ravel()
        own = self._graph.ranges[place.group]
        flat = of_incoming[place.group]
        if flat is None:
            flat = of_incoming[place.group] = np.zeros(own.stop - own.start)
        for axis, edge in enumerate(place.edges):
            others = tuple(other for other in range(belief.ndim) if other != axis)
            begin, end = (self._graph.edges.first_entry[edge : edge + 2] - own.start).tolist()
            of_states = of_scores.sum(axis=others)
            flat[begin:end] += of_states[1:] if belief.shape[axis] == 2 else of_states


def require_handles(compiled: CompiledGraph | None) -> CompiledGraph:
    """The compiled graph, if there is one; ValueError if a graph was built of groups."""
    if compiled is None:
        raise ValueError("the graph was built of groups: it has no handles of variables and factors")
    return compiled


def _checked(adjoint: ArrayLike, shape: tuple[int, ...], name: str) -> FloatArray:
    array = float_array(adjoint, name)
    if array.shape != shape or not np.all(np.isfinite(array)):
        raise ValueError(f"{name}: the adjoint must be finite and of shape {shape}, got {array}")
    return array
