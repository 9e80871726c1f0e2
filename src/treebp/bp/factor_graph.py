"""Factor graphs: variables, and the factors that score their joint states."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from treebp.bp.compiled import CompiledGraph
from treebp.bp.factor_handle import Factor, checked_potentials
from treebp.bp.factors.protocol import StructuredFactor
from treebp.bp.schedule import Phase, Schedule, phases
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
        self._variables: dict[Variable, None] = {}
        self._factors: list[Factor] = []
        self._compiled: CompiledGraph | None = None
        self._phases: dict[Schedule, list[Phase]] = {}

    def __repr__(self) -> str:
        return f"FactorGraph({len(self._variables)} variables, {len(self._factors)} factors)"

    def variable(self, states: int = 2, name: str | None = None) -> Variable:
        """Add a variable with this many states."""
        name = f"x{len(self._variables)}" if name is None else name
        if states < 1 or states != int(states):
            raise ValueError(f"variable {name}: a whole number of states expected, at least one, not {states}")
        variable = Variable(name, int(states))
        self._variables[variable] = None
        self._compiled = None
        return variable

    def variables(self, count: int, states: int = 2) -> list[Variable]:
        """Add `count` variables with this many states each."""
        return [self.variable(states) for _ in range(count)]

    def factor(self, variables: Sequence[Variable], log_potentials: ArrayLike, name: str | None = None) -> Factor:
        """Add a table: one log-potential per joint state, an axis per variable; `-inf` forbids a joint state.

        ValueError on a wrong shape, NaN, +inf, a table that forbids everything, or a variable that is repeated
        or belongs to another graph.
        """
        name = name or f"factor ({', '.join(variable.name for variable in variables)})"
        shape = tuple(variable.states for variable in variables)
        potentials = checked_potentials(log_potentials, shape, name)
        if np.all(potentials == -np.inf):
            raise ValueError(f"{name}: forbids every joint state of its variables")
        return self._add(Factor(name, tuple(variables), potentials, None))

    def constrain(self, factor: StructuredFactor, name: str | None = None) -> Factor:
        """Add a structured factor: any object that follows `treebp.bp.factors.StructuredFactor`."""
        name = name or type(factor).__name__
        own = np.asarray(factor.potentials, dtype=np.float64)
        return self._add(Factor(name, tuple(factor.variables), checked_potentials(own, own.shape, name), factor))

    def compile(self) -> CompiledGraph:
        """Flat arrays of the graph, computed once and kept until a variable or factor is added."""
        if self._compiled is None:
            self._compiled = CompiledGraph(tuple(self._variables), tuple(self._factors))
            self._phases = {}
        return self._compiled

    def phases(self, schedule: Schedule) -> list[Phase]:
        """The messages of one iteration, in the order in which they are sent; kept like the flat arrays."""
        compiled = self.compile()
        if schedule not in self._phases:
            self._phases[schedule] = phases(compiled, schedule)
        return self._phases[schedule]

    def _add(self, factor: Factor) -> Factor:
        if not factor.variables:
            raise ValueError(f"{factor.name}: needs at least one variable")
        seen = set[Variable]()
        for variable in factor.variables:
            if variable not in self._variables:
                raise ValueError(f"{factor.name}: variable {variable.name} belongs to another graph")
            if variable in seen:
                raise ValueError(f"{factor.name}: variable {variable.name} appears more than once")
            seen.add(variable)
        self._factors.append(factor)
        self._compiled = None
        return factor
