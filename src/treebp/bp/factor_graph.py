"""Factor graphs: variables, and the factors that score their joint states."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import whole_number
from treebp._types import FloatArray, IntArray
from treebp.bp.factor_handle import Factor
from treebp.bp.factors.protocol import StructuredFactor
from treebp.bp.graph import Graph
from treebp.bp.groups.protocol import Group, GroupedFactor
from treebp.bp.groups.tables import Tables
from treebp.bp.groups.wrapped import Wrapped
from treebp.bp.variables import Variable


class FactorGraph:
    """A product of factors, each scoring the joint states of a few variables or, if structured, of many.

    >>> graph = FactorGraph()
    >>> rain, wet = graph.variables(2)
    >>> prior = graph.factor([rain], [0.0, -1.0])
    >>> link = graph.factor([rain, wet], [[0.0, -2.0], [-3.0, 0.0]], name="rain wets")
    >>> link
    Factor('rain wets')
    >>> graph.factor([rain, wet], [0.0, 1.0])
    Traceback (most recent call last):
    ...
    ValueError: factor (x0, x1): log-potentials of shape (2,), expected (2, 2)
    """

    def __init__(self) -> None:
        self._variables: dict[Variable, int] = {}
        self._factors: list[Factor] = []
        self._compiled: CompiledGraph | None = None

    def __copy__(self) -> "FactorGraph":
        """A graph with the same variables and factors; what is added to either later is not in the other."""
        twin = FactorGraph()
        twin._variables, twin._factors = dict(self._variables), list(self._factors)
        twin._compiled = self._compiled
        return twin

    def __repr__(self) -> str:
        return f"FactorGraph({len(self._variables)} variables, {len(self._factors)} factors)"

    def variable(self, states: int = 2, name: str | None = None) -> Variable:
        """Add a variable with this many states."""
        name = f"x{len(self._variables)}" if name is None else name
        variable = Variable(name, whole_number(states, f"variable {name}: states", 1))
        self._variables[variable] = len(self._variables)
        self._compiled = None
        return variable

    def variables(self, count: int, states: int = 2) -> list[Variable]:
        """Add `count` variables with this many states each."""
        return [self.variable(states) for _ in range(whole_number(count, "count", 0))]

    def factor(self, variables: Sequence[Variable], log_potentials: ArrayLike, name: str | None = None) -> Factor:
        """Add a table: one log-potential per joint state, an axis per variable; `-inf` forbids a joint state.

        ValueError on a wrong shape, NaN, +inf, a table that forbids everything, or a variable that is repeated
        or belongs to another graph.
        """
        return self._add(Factor(name, variables, log_potentials, None))

    def constrain(self, factor: StructuredFactor, name: str | None = None) -> Factor:
        """Add a structured factor: any object that follows `treebp.StructuredFactor`."""
        return self._add(Factor(name or type(factor).__name__, factor.variables, factor.potentials, factor))

    def compile(self) -> "CompiledGraph":
        """The graph as groups of factors, made once and kept until a variable or factor is added."""
        if self._compiled is None:
            self._compiled = CompiledGraph(dict(self._variables), tuple(self._factors))
        return self._compiled

    def _add(self, factor: Factor) -> Factor:
        own = factor.variables
        if not own:
            raise ValueError(f"{factor.name}: needs at least one variable")
        for variable in own:
            if variable not in self._variables:
                raise ValueError(f"{factor.name}: variable {variable.name} belongs to another graph")
        if len(own) > 1 and len(set(own)) < len(own):
            twice = next(one for k, one in enumerate(own) if one in own[:k])
            raise ValueError(f"{factor.name}: variable {twice.name} appears more than once")
        self._factors.append(factor)
        self._compiled = None
        return factor


class Place(NamedTuple):
    """Where a factor is in a compiled graph: its group, its log-potentials there, and its edges, in its own order."""

    group: int
    potentials: slice
    edges: Sequence[int]


class CompiledGraph:
    """A factor graph as groups: tables of one shape, structured factors of one kind, and others one by one.

    Attributes:
        variables, factors: in the order in which they were added.
        graph: the groups.

    """

    def __init__(self, variables: dict[Variable, int], factors: tuple[Factor, ...]) -> None:
        self.variables = tuple(variables)
        self.factors = factors
        self._index = variables
        members: dict[tuple[object, ...], list[Factor]] = {}
        for number, factor in enumerate(factors):
            members.setdefault(_kind(factor, number), []).append(factor)
        self._members = list(members.values())
        groups = [self._group(own) for own in self._members]
        names = [variable.name for variable in self.variables], _Names(self._members)
        self.graph = Graph([variable.states for variable in self.variables], groups, names)
        self._defaults = [
            np.concatenate([factor.potentials.ravel() for factor in own]) if own[0].potentials.size else np.zeros(0)
            for own in self._members
        ]

    @cached_property
    def _places(self) -> dict[Factor, Place]:
        """Where each factor is: made when a run is asked about single factors."""
        return {factor: place for group in range(len(self._members)) for factor, place in self._places_of(group)}

    def _group(self, factors: list[Factor]) -> Group:
        index = self._index
        numbers = np.array([index[variable] for factor in factors for variable in _in_group_order(factor)], np.int64)
        first = factors[0]
        if first.structured is None:
            return Tables(numbers.reshape(len(factors), -1), first.potentials.shape)
        if isinstance(first.structured, GroupedFactor) and first.structured.kind is not None:
            return first.structured.group([factor.structured for factor in factors], numbers)
        return Wrapped(first.structured, numbers, first.name)

    def potentials(self, replaced: Mapping[Factor, ArrayLike] | None) -> list[FloatArray]:
        """The log-potentials of each group, with those of some factors replaced."""
        if not replaced:
            return self._defaults
        flat = [own.copy() for own in self._defaults]
        for factor, log_potentials in replaced.items():
            group, potentials, _ = self.place(factor)
            flat[group][potentials] = factor.checked(log_potentials).ravel()
        return flat

    def by_factor(self, flat: Sequence[FloatArray]) -> dict[Factor, FloatArray]:
        """What there is one of for each log-potential, factor by factor, in the shape of its log-potentials."""
        found = {}
        for factor in self.factors:
            group, potentials, _ = self._places[factor]
            found[factor] = flat[group][potentials].reshape(factor.potentials.shape)
        return found

    def place(self, factor: Factor) -> Place:
        """Where a factor is; ValueError if it belongs to another graph."""
        if factor not in self._places:
            raise ValueError(f"{factor.name} belongs to another graph")
        return self._places[factor]

    def _places_of(self, group: int) -> Iterator[tuple[Factor, Place]]:
        """Where each of a group's factors is."""
        members = self._members[group]
        potential, edge = 0, int(self.graph.first_edge[group])
        for factor in members:
            size, arity = factor.potentials.size, len(factor.variables)
            edges: Sequence[int]
            if factor.structured is None:  # edges of tables go axis by axis
                edges, edge = range(edge, edge + len(members) * arity, len(members)), edge + 1
            else:
                edges, edge = (edge + np.argsort(_edge_order(factor))).tolist(), edge + arity
            yield factor, Place(group, slice(potential, potential + size), edges)
            potential += size

    def variable_index(self, variable: Variable) -> int:
        """Position of a variable; ValueError if it belongs to another graph."""
        if variable not in self._index:
            raise ValueError(f"variable {variable.name} belongs to another graph")
        return self._index[variable]


class _Names:
    """The names of the factors of each group, made when asked for."""

    def __init__(self, members: list[list[Factor]]) -> None:
        self._members = members

    def __getitem__(self, group: int) -> list[str]:
        return [factor.name for factor in self._members[group]]


def _edge_order(factor: Factor) -> IntArray:
    if isinstance(factor.structured, GroupedFactor) and factor.structured.edge_order is not None:
        return factor.structured.edge_order
    return np.arange(len(factor.variables))


def _in_group_order(factor: Factor) -> Sequence[Variable]:
    """The variables of a factor, in the order of its group's edges."""
    if factor.structured is None:
        return factor.variables
    return [factor.variables[k] for k in _edge_order(factor).tolist()]


def _kind(factor: Factor, number: int) -> tuple[object, ...]:
    """Factors of one kind make a group."""
    if factor.structured is None:
        return ("tables", *factor.potentials.shape)
    kind = factor.structured.kind if isinstance(factor.structured, GroupedFactor) else None
    return (number,) if kind is None else (type(factor.structured), *kind)
