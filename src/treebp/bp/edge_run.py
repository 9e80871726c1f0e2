"""Belief propagation along some edges at a time, forward and backward: for schedules that take groups bit by bit.

All messages are logarithms here. Tables of all groups are one lot, so that any number of phases that have no other
senders are one call; a structured factor is asked by itself.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from treebp._types import FloatArray, IntArray
from treebp.bp.graph import Graph
from treebp.bp.groups.all_on import AllOn
from treebp.bp.groups.protocol import GroupBackprop, Sender
from treebp.bp.groups.tables import Tables
from treebp.bp.outcome import Options, Outcome, from_logs, impossible_factor, impossible_variable
from treebp.bp.schedule import EdgePhase
from treebp.kernels import stretch as kernels
from treebp.kernels.tables import TableArrays


class _Lot(NamedTuple):
    """All tables of a graph; `edge_number` has each edge's number among those of tables, -1 for others."""

    arrays: TableArrays
    edge_number: IntArray
    potentials: list[tuple[int, IntArray, int]]  # group; where its log-potentials go; how many there are of all tables


class _Alone(NamedTuple):
    """A structured factor: its group, edges, entries and potentials, all but the first as numbers of the graph's."""

    group: int
    sender: Sender
    edges: IntArray
    entries: IntArray
    potentials: IntArray


class _Asked(NamedTuple):
    """A structured factor that sends along some of its edges."""

    factor: _Alone
    edges: IntArray
    entries: IntArray  # among those of the graph
    own_entries: IntArray  # among those of the factor


class EdgeRun:
    """The messages of a graph, sent phase by phase."""

    def __init__(
        self, graph: Graph, potentials: Sequence[FloatArray], senders: Sequence[Sender], options: Options
    ) -> None:
        self._graph, self._senders, self._options = graph, senders, options
        self._potentials = potentials
        self._lot = _lot(graph)
        self._table_potentials = self._in_tables(potentials)
        self._alone = _alone(graph, potentials)
        widest = max(np.diff(self._lot.arrays.first_potential).max(initial=1), graph.entry_count)
        self._scratch = np.empty(int(widest) + 1)
        self._steps: list[kernels.Phases | _Asked] = []
        self._rows = [kernels.Messages(graph.uniform, graph.uniform)]
        self._tape: list[list[GroupBackprop]] = []

    def _in_tables(self, potentials: Sequence[FloatArray]) -> FloatArray:
        size = int(self._lot.arrays.first_potential[-1])
        flat = np.zeros(size)
        for group, places, _ in self._lot.potentials:
            flat[places] = potentials[group]
        return flat

    def run(self, phases: Sequence[EdgePhase], iterations: int) -> Outcome:
        """Send all messages this many times, at most."""
        graph, options = self._graph, self._options
        self._steps = self._compiled(phases)
        residuals: list[float] = []
        messages = _copy(self._rows[0])
        totals = self._totals(messages)
        before = totals
        sent = np.empty(graph.entry_count)
        while len(residuals) < iterations:
            largest, backprops = 0.0, list[GroupBackprop]()
            for step in self._steps:
                if isinstance(step, _Asked):
                    change, backprop = self._ask(step, messages, sent)
                    backprops.append(backprop)
                else:
                    change = self._run_phases(step, messages, sent)
                largest = max(largest, change)
            if options.gradient:
                self._rows.append(_copy(messages))
                self._tape.append(backprops)
            before, totals = totals, self._totals(messages)
            residuals.append(largest)
            if options.tolerance is not None and largest < options.tolerance:
                break
        incoming, outgoing = (
            [from_logs(sender, flat[own]) for sender, own in zip(self._senders, graph.ranges, strict=True)]
            for flat in messages
        )
        return Outcome(
            graph, self._senders, lambda: incoming, outgoing, totals, before, np.array(residuals), self.backward
        )

    def _totals(self, messages: kernels.Messages) -> FloatArray:
        slots = self._graph.edges.slots
        totals = np.zeros(self._graph.slot_count)
        with np.errstate(invalid="ignore"):
            np.add.at(totals, slots, messages.to_variables)
        return totals

    def _run_phases(self, phases: kernels.Phases, messages: kernels.Messages, sent: FloatArray) -> float:
        change, impossible, from_variables = kernels.run_phases(
            phases,
            self._graph.edges,
            self._lot.arrays,
            self._table_potentials,
            self._options.damping,
            self._scratch,
            sent,
            messages,
        )
        self._check(impossible, from_variables)
        return change

    def _ask(self, asked: _Asked, messages: kernels.Messages, sent: FloatArray) -> tuple[float, GroupBackprop]:
        factor = asked.factor
        outgoing = np.empty(len(factor.entries))
        backprop = factor.sender.send(messages.to_factors[factor.entries], outgoing, self._options.gradient)
        sent[factor.entries] = outgoing
        change, impossible = kernels.deliver(
            asked.edges, self._graph.edges, sent, self._options.damping, messages.to_variables
        )
        self._check(impossible, from_variables=False)
        return change, backprop

    def _check(self, impossible: int, from_variables: bool) -> None:
        if impossible < 0:
            return
        group = int(np.searchsorted(self._graph.first_edge, impossible, side="right")) - 1
        edge = impossible - int(self._graph.first_edge[group])
        error = impossible_variable if from_variables else impossible_factor
        raise error(self._graph, group, edge)

    def _compiled(self, phases: Sequence[EdgePhase]) -> list[kernels.Phases | _Asked]:
        """Phases of tables and variables end to end, and structured factors between them."""
        steps: list[kernels.Phases | _Asked] = []
        waiting: list[EdgePhase] = []
        if not self._alone:
            return [self._stretch(phases)] if phases else []
        owner = np.full(len(self._graph.edge_variable), -1)
        for number, factor in enumerate(self._alone):
            owner[factor.edges] = number
        for phase in phases:
            if phase.from_variables:
                waiting.append(phase)
                continue
            in_tables = self._lot.edge_number[phase.edges] >= 0
            if in_tables.any():
                waiting.append(EdgePhase(False, phase.edges[in_tables]))
            senders = np.unique(owner[phase.edges[~in_tables]]).tolist()
            if senders and waiting:
                steps.append(self._stretch(waiting))
                waiting = []
            steps += [self._asked(self._alone[sender], phase.edges) for sender in senders]
        if waiting:
            steps.append(self._stretch(waiting))
        return steps

    def _asked(self, factor: _Alone, edges: IntArray) -> _Asked:
        sending = factor.edges[np.isin(factor.edges, edges)]
        entries = self._entries(sending)
        return _Asked(factor, sending, entries, np.flatnonzero(np.isin(factor.entries, entries)))

    def _entries(self, edges: IntArray) -> IntArray:
        first = self._graph.edges.first_entry
        widths = first[edges + 1] - first[edges]
        offsets = np.arange(widths.sum()) - np.repeat(np.cumsum(widths) - widths, widths)
        return np.asarray(np.repeat(first[edges], widths) + offsets)

    def _stretch(self, phases: Sequence[EdgePhase]) -> kernels.Phases:
        """Phases as flat arrays; entries sorted by slot, and within a slot as there."""
        edges = np.concatenate([phase.edges for phase in phases])
        entries = self._entries(edges)
        first_edge = np.cumsum([0, *(len(phase.edges) for phase in phases)])
        widths = np.diff(self._graph.edges.first_entry)[edges]
        first_entry = np.concatenate(([0], np.cumsum(widths)))[first_edge]
        phase_of = np.repeat(np.arange(len(phases)), np.diff(first_entry))
        entries = entries[np.lexsort((entries, self._graph.edges.slots[entries], phase_of))]
        from_variables = np.array([phase.from_variables for phase in phases])
        return kernels.Phases(from_variables, first_edge, edges, self._lot.edge_number[edges], first_entry, entries)

    def backward(
        self, of_slots: FloatArray, of_incoming: list[FloatArray | None], of_potentials: list[FloatArray]
    ) -> None:
        """See `GroupRun.backward`."""
        graph, damping = self._graph, self._options.damping
        of_to_factors = [
            np.zeros(own.stop - own.start) if found is None else found
            for own, found in zip(graph.ranges, of_incoming, strict=True)
        ]
        adjoints = kernels.Messages(np.concatenate([*of_to_factors, np.zeros(0)]), of_slots[graph.edges.slots])
        of_tables = np.zeros_like(self._table_potentials)
        adjoint_sent = np.zeros(graph.entry_count)
        messages = _copy(self._rows[-1])
        for iteration in range(len(self._tape) - 1, -1, -1):
            old, backprops = self._rows[iteration], list(self._tape[iteration])
            for step in reversed(self._steps):
                if not isinstance(step, _Asked):
                    kernels.run_phases_backward(
                        step, graph.edges, self._lot.arrays, self._table_potentials, damping, self._scratch,
                        adjoint_sent, old, messages, adjoints, of_tables,
                    )  # fmt: skip
                    continue
                factor = step.factor
                adjoint = np.zeros(len(factor.entries))
                adjoint[step.own_entries] = (1.0 - damping) * adjoints.to_variables[step.entries]
                adjoints.to_variables[step.entries] *= damping
                messages.to_variables[step.entries] = old.to_variables[step.entries]
                of_own = np.zeros(len(factor.potentials))
                received = backprops.pop()(adjoint, of_own)
                if received is not None:
                    adjoints.to_factors[factor.entries] += received
                of_potentials[factor.group][factor.potentials] += of_own
        for group, places, _ in self._lot.potentials:
            of_potentials[group] += of_tables[places]


def _copy(messages: kernels.Messages) -> kernels.Messages:
    return kernels.Messages(messages.to_factors.copy(), messages.to_variables.copy())


def _lot(graph: Graph) -> _Lot:
    """All tables, those of `AllOn` groups among them."""
    number = np.full(len(graph.edge_variable), -1)
    parts: list[TableArrays] = []
    potentials: list[tuple[int, IntArray, int]] = []
    tables = edges = entries = 0
    for group, factors in enumerate(graph.groups):
        if not isinstance(factors, Tables | AllOn):
            continue
        as_tables = factors.tables() if isinstance(factors, AllOn) else factors
        arrays, begin = as_tables.arrays, graph.ranges[group].start
        count, arity = as_tables.count, as_tables.arity
        # Edges of the graph go axis by axis, those of the lot table by table.
        own = edges + np.arange(count * arity).reshape(count, arity).T.ravel()
        number[graph.first_edge[group] : graph.first_edge[group + 1]] = own
        places = entries + np.arange(as_tables.potentials)
        if isinstance(factors, AllOn):
            places = places.reshape(count, -1)[:, -1].copy()
        potentials.append((group, places, as_tables.potentials))
        parts.append(
            TableArrays(
                arrays.first_edge[:-1] + edges,
                arrays.first_potential[:-1] + entries,
                arrays.edge_table + tables,
                arrays.edge_states,
                arrays.edge_stride,
                arrays.edge_entry + begin,
            )
        )
        tables, edges, entries = tables + count, edges + count * arity, entries + as_tables.potentials
    empty = TableArrays(*(np.zeros(0, np.int64) for _ in TableArrays._fields))
    joined = TableArrays(*(np.concatenate(arrays) for arrays in zip(empty, *parts, strict=True)))
    ends = joined._replace(
        first_edge=np.append(joined.first_edge, edges), first_potential=np.append(joined.first_potential, entries)
    )
    return _Lot(ends, number, potentials)


def _alone(graph: Graph, potentials: Sequence[FloatArray]) -> list[_Alone]:
    """The factors of all other groups, one by one."""
    found = []
    for group, factors in enumerate(graph.groups):
        if isinstance(factors, Tables | AllOn) or not len(factors.variables):
            continue
        for factor in range(int(factors.edge_factor.max()) + 1):
            alone, edges, own = factors.subset(factor)
            first_edge = int(graph.first_edge[group])
            first = graph.edges.first_entry
            numbers = edges + first_edge
            widths = first[numbers + 1] - first[numbers]
            offsets = np.arange(widths.sum()) - np.repeat(np.cumsum(widths) - widths, widths)
            entries = np.repeat(first[numbers], widths) + offsets
            found.append(_Alone(group, alone.start(potentials[group][own]), numbers, entries, own))
    return found
