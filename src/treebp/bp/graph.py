"""Graphs of variables and groups of factors: what inference runs on."""

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import integer_array
from treebp._types import AnyArray, BoolArray, FloatArray, IntArray
from treebp.bp.groups.protocol import Group
from treebp.kernels.stretch import Edges

_NO_SLOTS = np.zeros(0, np.uint32)


class Names(Protocol):
    """The names of each group's factors."""

    def __getitem__(self, group: int, /) -> Sequence[str]:
        """Of one group's."""
        ...


class Graph:
    """Variables, known by their numbers, and groups of factors.

    Several graphs side by side, sentences for instance, are one graph of several components.

    Args:
        states: the number of states of each variable, or the number of variables if all are binary.
        groups: the factors.
        names: of variables and of the factors of each group, for errors.
        trusted: whether groups, and a run's log-potentials and options, need no check.

    Raises:
        ValueError: a variable that is not there, has other states than a group expects, or stands twice in a factor.

    Example:
        >>> from treebp.bp.groups.all_on import AllOn
        >>> from treebp.bp.propagation import propagate
        >>> graph = Graph(3, [AllOn([[0], [1], [2]]), AllOn([[0, 1], [1, 2]])])
        >>> beliefs = propagate(graph, iterations=1, potentials=[[1.0, 0.0, -1.0], [0.5, 0.5]])
        >>> beliefs.on.round(3)
        array([0.786, 0.634, 0.338])
        >>> [gradient.round(3) for gradient in beliefs.backward(np.array([0.0, 1.0, 0.0]))]
        [array([0.02 , 0.232, 0.025]), array([0.19 , 0.088])]

    """

    def __init__(
        self,
        states: int | ArrayLike,
        groups: Sequence[Group],
        names: tuple[Sequence[str], Names] | None = None,
        *,
        trusted: bool = False,
    ) -> None:
        self.groups = tuple(groups)
        counts = states if type(states) is int else integer_array(states, "states")
        self.states: IntArray = np.full(counts, 2) if np.ndim(counts) == 0 else np.asarray(counts)
        self.binary = bool((self.states == 2).all())
        self._names = names
        self.plans: dict[str, Any] = {}  # the schedules that have been worked out
        self.trusted = trusted
        for number, group in enumerate(() if trusted else self.groups):
            self._check(number, group)
        # A binary variable has one slot; another one, a slot for each of its states.
        self.first_slot: IntArray = np.arange(len(self.states) + 1)
        if not self.binary:
            self.first_slot = np.concatenate(([0], np.cumsum(np.where(self.states == 2, 1, self.states))))
        self.slot_count = int(self.first_slot[-1])
        # What is checked stays as it was then, whatever is written into a group's array later.
        self._variables = [group.variables if trusted else group.variables.copy() for group in self.groups]
        slots = [own if self.binary else self._slots_of(own) for own in self._variables]
        ends = [*accumulate(map(len, slots), initial=0)]
        self.ranges = [slice(begin, end) for begin, end in pairwise(ends)]
        self.entry_count = ends[-1]
        self.entry_slots: AnyArray = np.concatenate([_NO_SLOTS, *slots], dtype=np.uint32, casting="unsafe")
        self.slots: list[AnyArray] = [self.entry_slots[own] for own in self.ranges]
        # Whether a group's messages are one for each slot, in order: then they need not be gathered.
        self.one_to_one = [len(own) == self.slot_count and bool((own == np.arange(len(own))).all()) for own in slots]

    def _check(self, number: int, group: Group) -> None:
        variables = group.variables
        if len(variables) and not 0 <= variables.min() <= variables.max() < len(self.states):
            raise ValueError(f"group {number}: variables from 0 to {len(self.states) - 1} expected")
        if isinstance(group.edge_states, int) and group.edge_states == 2 and self.binary:
            return
        wrong = np.flatnonzero(self.states[variables] != group.edge_states)
        for edge in wrong[:1]:
            raise ValueError(f"group {number}: variable {variables[edge]} has {self.states[variables[edge]]} states")

    def _slots_of(self, variables: IntArray) -> IntArray:
        """The slots of the messages along edges to some variables."""
        widths = np.diff(self.first_slot)[variables]
        offsets = np.arange(widths.sum()) - np.repeat(np.cumsum(widths) - widths, widths)
        return np.asarray(np.repeat(self.first_slot[variables], widths) + offsets)

    @property
    def uniform(self) -> FloatArray:
        """Log-messages that say nothing, one per entry: log-odds of zero, or equal log-probabilities."""
        if self.binary:
            return np.zeros(self.entry_count)
        per_slot = np.repeat(np.where(self.states == 2, 0.0, -np.log(self.states)), np.diff(self.first_slot))
        return np.concatenate([np.zeros(0), *(per_slot[own] for own in self.slots)])

    @cached_property
    def first_edge(self) -> IntArray:
        """(groups + 1,) where the edges of each group begin, all edges being numbered group after group."""
        return np.cumsum([0, *map(len, self._variables)])

    @cached_property
    def edge_variable(self) -> IntArray:
        """(edges,) the variable of each edge."""
        return np.concatenate([np.zeros(0, np.int64), *self._variables])

    @cached_property
    def edge_factor(self) -> IntArray:
        """(edges,) the factor of each edge, the factors of all groups being numbered group after group."""
        factors, base = [np.zeros(0, np.int64)], 0
        for group in self.groups:
            factors.append(group.edge_factor + base)
            base = int(factors[-1].max(initial=base - 1)) + 1
        return np.concatenate(factors)

    @cached_property
    def edges(self) -> Edges:
        """Edges and the entries of each slot, for inference along single edges."""
        widths = np.diff(self.first_slot)[self.edge_variable]
        counts = np.bincount(self.entry_slots, minlength=self.slot_count)
        return Edges(
            first_entry=np.concatenate(([0], np.cumsum(widths))),
            states=self.states[self.edge_variable],
            slots=self.entry_slots,
            first_of_slot=np.concatenate(([0], np.cumsum(counts))),
            slot_entries=np.argsort(self.entry_slots, kind="stable"),
        )

    @property
    def structured_edges(self) -> BoolArray:
        """(edges,) whether each edge's factor is a structured one."""
        flags = [group.structured for group in self.groups]
        return np.repeat(np.array(flags, np.bool_), np.diff(self.first_edge))

    def variable_name(self, variable: int) -> str:
        """What an error calls a variable."""
        return self._names[0][variable] if self._names else str(variable)

    def factor_name(self, group: int, factor: int) -> str:
        """What an error calls a factor."""
        if self._names:
            return self._names[1][group][factor]
        return f"factor {factor} of group {group} ({type(self.groups[group]).__name__})"
