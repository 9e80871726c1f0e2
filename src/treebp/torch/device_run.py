"""Belief propagation on a GPU: ``treebp.bp.group_run`` with tensors, whose messages never leave the device."""

import struct
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from treebp.bp.graph import Graph
from treebp.bp.groups.all_on import AllOn
from treebp.bp.groups.chains import Chains
from treebp.bp.groups.protocol import Group
from treebp.bp.groups.tables import Tables
from treebp.bp.groups.trees import Trees
from treebp.bp.outcome import Options, impossible_factor, impossible_variable
from treebp.bp.schedule import GroupPlan, GroupStep
from treebp.cuda import senders
from treebp.cuda.launching import launch_all

_FINE = 1 << 62
_STEP = 1 << 32


class _Layout(NamedTuple):
    """What a device knows of a group's messages.

    The slot of each entry; where the entries of each slot are, None if there is one for each, in order; and of each
    edge, None if all variables are binary, the states and the first entry.
    """

    slots: Tensor
    first: Tensor | None
    slot_entries: Tensor | None
    states: Tensor | None
    first_entry: Tensor | None
    edges: int


class DeviceGraph:
    """A graph's structure on a device; made once, and kept with the graph."""

    def __init__(self, graph: Graph, device: torch.device) -> None:
        self.graph, self.device = graph, device
        self.states = None if graph.binary else self._put(graph.states)
        self.first_slot = None if graph.binary else self._put(graph.first_slot)
        widths = np.diff(graph.first_slot)
        self.states_of_slot = None if graph.binary else self._put(np.repeat(graph.states, widths))
        self.layouts = [self._layout(number) for number in range(len(graph.groups))]
        self.makers = [self._maker(group) for group in graph.groups]

    @classmethod
    def of(cls, graph: Graph, device: torch.device) -> "DeviceGraph":
        """The one kept with the graph, or a new one."""
        key = f"on {device}"
        if key not in graph.plans:
            graph.plans[key] = cls(graph, device)
        found: DeviceGraph = graph.plans[key]
        return found

    def _put(self, array: Any, dtype: Any = np.int32) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array, dtype=dtype)).to(self.device)

    def _layout(self, number: int) -> _Layout:
        graph, slots = self.graph, self.graph.slots[number].astype(np.int64)
        first = slot_entries = states = first_entry = None
        if not graph.one_to_one[number]:
            counts = np.bincount(slots, minlength=graph.slot_count)
            first = self._put(np.concatenate(([0], np.cumsum(counts))))
            slot_entries = self._put(np.argsort(slots, kind="stable"))
        begin, end = graph.first_edge[number : number + 2].tolist()
        if not graph.binary:
            states = self._put(graph.edges.states[begin:end])
            first_entry = self._put(graph.edges.first_entry[begin:end] - graph.ranges[number].start)
        return _Layout(self._put(slots), first, slot_entries, states, first_entry, end - begin)

    def _maker(self, group: Group) -> Callable[[Tensor], Any]:
        """A function from log-potentials to a sender."""
        if isinstance(group, AllOn):
            arity = group.arity
            return lambda potentials: senders.AllOn(arity, potentials)
        if isinstance(group, Tables):
            arrays, count, entries, arity = group.arrays, group.count, group.entries, group.arity
            rows = np.stack([arrays.edge_states, arrays.edge_stride, arrays.edge_entry], axis=1)[:arity]
            axes = self._put(rows if count else np.ones((arity, 3)))
            constant = group.shape == (2,)
            return lambda potentials: senders.Tables(axes, entries, count, constant, potentials)
        if isinstance(group, Chains):
            first, positions = self._put(group.layout.first), len(group.variables)
            states = int(group.edge_states.max(initial=1))
            if (group.edge_states != states).any():
                raise ValueError("chains on a GPU: all variables must have the same number of states")
            return lambda potentials: senders.Chains(first, positions, states, potentials)
        if isinstance(group, Trees):
            arcs, squares = group.arcs, group.arcs.sizes**2
            on_device = senders.TreeArcs(
                sizes=self._put(arcs.sizes),
                first=self._put(arcs.first),
                first_position=self._put(np.concatenate(([0], np.cumsum(arcs.sizes)))),
                first_cell=self._put(np.cumsum(squares) - squares, np.int64),
                heads=self._put(arcs.heads),
                modifiers=self._put(arcs.modifiers),
                starts=self._put(arcs.starts),
            )
            largest, cells = int(arcs.sizes.max(initial=2)), int(squares.sum())
            return lambda potentials: senders.Trees(on_device, largest, cells, group.projective, group.single_root)
        raise ValueError(f"{type(group).__name__} has no kernels for tensors on {self.device}: move them to the CPU")

    @cached_property
    def uniform(self) -> list[Tensor]:
        """Messages that say nothing."""
        flat = torch.from_numpy(self.graph.uniform).to(self.device)
        return [flat[own] for own in self.graph.ranges]


class DeviceRun:
    """The messages of a graph, sent group by group; see ``treebp.bp.group_run.GroupRun``, whose twin this is.

    Contradictions are told by a number on the device, which is read at the end.
    """

    def __init__(self, structure: DeviceGraph, potentials: Sequence[Tensor], options: Options) -> None:
        self._structure, self._graph, self._options = structure, structure.graph, options
        self._potentials = potentials
        self._senders = [make(own) for make, own in zip(structure.makers, potentials, strict=True)]
        self._incoming, self._outgoing = list(structure.uniform), list(structure.uniform)
        self._numbers = torch.empty(0, dtype=torch.float64, device=structure.device)
        self._gathered = self._numbers.new_zeros((len(self._senders), self._graph.slot_count))
        self._status = torch.full((1,), _FINE, dtype=torch.int64, device=structure.device)
        self._steps: list[tuple[bool, int]] = []  # direction and group of all that was sent
        self._tape: list[tuple[GroupStep, list[Any]]] = []
        self._waiting: list[GroupStep] = []
        self._change: Tensor | None = None
        damped = options.damping > 0.0
        self._constant = frozenset(k for k, one in enumerate(self._senders) if one.constant and not damped)

    def run(self, plan: GroupPlan, iterations: int) -> None:
        """Send all messages this many times, at most."""
        options = self._options
        residuals = self._numbers.new_zeros(iterations)
        sent = 0
        while sent < iterations:
            self._change = residuals[sent : sent + 1] if options.watch else None
            for step in plan:
                asked = step.groups
                if step.from_variables or sent:
                    asked = tuple(group for group in step.groups if group not in self._constant)
                if step.from_variables:
                    self._waiting.append(GroupStep(True, asked))
                elif asked:
                    self._from_variables()
                    self._from_groups(GroupStep(False, asked))
            if options.watch:
                self._from_variables()
            sent += 1
            if options.tolerance is not None and float(residuals[sent - 1]) < options.tolerance:
                break
        self._change = None
        self._waiting.append(GroupStep(True, tuple(self._constant)))
        self.residuals = residuals[:sent]
        graph, structure = self._graph, self._structure
        self._totals, self.slots = self._numbers.new_empty((2, graph.slot_count))
        variables = (structure.states, structure.first_slot, len(graph.states))
        arguments = (self._gathered, len(self._senders), graph.slot_count, *variables, self._totals, self.slots)
        launch_all("variables.cu", "beliefs", len(graph.states), *arguments, self._status, len(self._steps) * _STEP)

    def check(self) -> None:
        """ValueError if there was a contradiction; waits for the device."""
        status = int(self._status)
        if status == _FINE:
            return
        step, edge = divmod(status, _STEP)
        if step == len(self._steps):
            raise ValueError(f"variable {self._graph.variable_name(edge)}: its factors together forbid every state")
        from_variables, group = self._steps[step]
        raise (impossible_variable if from_variables else impossible_factor)(self._graph, group, edge)

    def _from_variables(self) -> None:
        """Send what has been waiting to be sent to groups, which then waits no longer."""
        for step in self._waiting:
            for group in step.groups:
                self._to_group(group)
            if self._options.gradient and step.groups:
                self._tape.append((step, []))
        self._waiting.clear()

    def _to_group(self, group: int) -> None:
        layout, slots = self._structure.layouts[group], self._graph.slot_count
        sent = self._numbers.new_empty(len(layout.slots))
        launch_all(
            "variables.cu",
            "to_factors",
            layout.edges,
            self._gathered,
            len(self._senders),
            group,
            slots,
            *layout[:3],
            self._outgoing[group],
            self._incoming[group],
            sent,
            *self._delivery(True, group),
        )
        self._incoming[group] = sent

    def _delivery(self, from_variables: bool, group: int) -> tuple[Any, ...]:
        """How messages are mixed, measured and judged."""
        layout = self._structure.layouts[group]
        self._steps.append((from_variables, group))
        step = (len(self._steps) - 1) * _STEP
        return (*layout[3:6], _bits(self._options.damping), self._change, self._status, step)

    def _from_groups(self, step: GroupStep) -> None:
        backprops = []
        for group in step.groups:
            layout, sender = self._structure.layouts[group], self._senders[group]
            sent = self._numbers.new_empty(len(layout.slots))
            backprops.append(sender.send(self._incoming[group], sent))
            launch_all(
                "variables.cu", "deliver", layout.edges, sent, self._outgoing[group], *self._delivery(False, group)
            )
            self._outgoing[group] = sent
            if layout.first is None:
                self._gathered[group] = sent
            else:
                arguments = (sent, layout.first, layout.slot_entries, self._graph.slot_count, self._gathered[group])
                launch_all("variables.cu", "gather", self._graph.slot_count, *arguments)
        if self._options.gradient:
            self._tape.append((step, backprops))

    def backward(self, adjoint: Tensor) -> list[Tensor]:
        """From dJ/d slots to dJ/d log-potentials."""
        graph, structure, damping = self._graph, self._structure, self._options.damping
        of_slots = self._numbers.new_empty(graph.slot_count)
        variables = (structure.states, structure.first_slot, len(graph.states))
        arguments = (self.slots, self._totals, adjoint.contiguous(), *variables, of_slots)
        launch_all("variables.cu", "beliefs_backward", len(graph.states), *arguments)
        of_potentials = [torch.zeros_like(own) for own in self._potentials]
        of_incoming: list[Tensor | None] = [None] * len(self._senders)
        of_outgoing: list[Tensor | None] = [
            self._spread(group, of_slots, None, None) for group in range(len(of_incoming))
        ]
        for step, backprops in reversed(self._tape):
            if not step.from_variables:
                for group, backprop in zip(step.groups, backprops, strict=True):
                    given = of_outgoing[group]
                    if given is not None:
                        now, of_outgoing[group] = _split(given, damping)
                        of_incoming[group] = _sum(of_incoming[group], backprop(now, of_potentials[group]))
                continue
            totals = self._numbers.new_zeros(graph.slot_count)
            of_sent: dict[int, Tensor] = {}
            for group in step.groups:
                given = of_incoming[group]
                if given is not None:
                    of_sent[group], of_incoming[group] = _split(given, damping)
                    layout = structure.layouts[group]
                    gathered = (of_sent[group], layout.first, layout.slot_entries, graph.slot_count, totals)
                    launch_all("variables.cu", "gather_adjoints", graph.slot_count, *gathered)
            for group in range(len(of_outgoing)) if of_sent else ():
                of_outgoing[group] = self._spread(group, totals, of_sent.get(group), of_outgoing[group])
        for found, own in zip(of_potentials, self._potentials, strict=True):
            launch_all("variables.cu", "mask_forbidden", len(own), own, len(own), found)
        return of_potentials

    def _spread(self, group: int, totals: Tensor, own: Tensor | None, adjoint: Tensor | None) -> Tensor:
        """The adjoints of a group's messages to variables, and what is added to them."""
        layout = self._structure.layouts[group]
        out = totals.new_empty(len(layout.slots)) if adjoint is None else adjoint
        arguments = (totals, layout.slots, own, len(layout.slots), adjoint is None, out)
        launch_all("variables.cu", "spread_adjoints", len(layout.slots), *arguments)
        return out

    @cached_property
    def _sums(self) -> tuple[list[Tensor], Tensor]:
        """Expectations of each group, and Bethe's log-partition."""
        self._from_variables()
        graph, structure = self._graph, self._structure
        off, on = self._numbers.new_zeros((2, graph.slot_count))
        expectations, log_partition = [], self._numbers.new_zeros(())
        for group, sender in enumerate(self._senders):
            layout, messages = structure.layouts[group], self._outgoing[group]
            expected, log_partitions = sender.sums(self._incoming[group])
            expectations.append(expected)
            agreements = self._numbers.new_empty(layout.edges)
            launch_all(
                "variables.cu", "agreements", layout.edges, self._incoming[group], messages, *layout[3:6], agreements
            )
            log_partition = log_partition + log_partitions.sum() - agreements.sum()
            slots = (layout.first, layout.slot_entries, structure.states_of_slot, graph.slot_count)
            launch_all("variables.cu", "add_log_probabilities", graph.slot_count, messages, *slots, off, on)
        partitions = self._numbers.new_empty(len(graph.states))
        variables = (structure.states, structure.first_slot, len(graph.states))
        launch_all("variables.cu", "variable_partitions", len(graph.states), off, on, *variables, partitions)
        return expectations, log_partition + partitions.sum()

    @property
    def log_partition(self) -> Tensor:
        """() Bethe's approximation."""
        return self._sums[1]

    @property
    def expectations(self) -> list[Tensor]:
        """How often each group is expected to use each of its log-potentials."""
        return self._sums[0]


def _bits(number: float) -> int:
    """The bits of a number, as kernels take it."""
    found: int = struct.unpack("q", struct.pack("d", number))[0]
    return found


def _combined(one: Tensor, scale: float, two: Tensor | None) -> Tensor:
    out = torch.empty_like(one)
    launch_all("variables.cu", "combine", len(one), one, _bits(scale), two, len(one), out)
    return out


def _split(adjoint: Tensor, damping: float) -> tuple[Tensor, Tensor | None]:
    """The adjoint of a message that was mixed: of what was sent, and of the old one."""
    if damping == 0.0:
        return adjoint, None
    return _combined(adjoint, 1.0 - damping, None), _combined(adjoint, damping, None)


def _sum(one: Tensor | None, two: Tensor | None) -> Tensor | None:
    if one is None or two is None:
        return one if two is None else two
    return _combined(one, 1.0, two)
