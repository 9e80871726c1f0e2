"""The handle of a factor."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from treebp._checks import LARGEST_SCORE, float_array, is_score
from treebp._types import FloatArray
from treebp.bp.factors.protocol import StructuredFactor
from treebp.bp.variables import Variable

_FEW = 16  # numbers that are looked at faster one by one


class Factor:
    """Handle of a factor, to ask for its beliefs and its gradient; made by `FactorGraph`.

    Attributes:
        name: given, or made of the names of its variables.
        variables: its neighbours.
        potentials: the log-potentials that a run uses unless it is given others; read-only.
        structured: the object that answers messages, or None for a table.

    Example:
        >>> from treebp.bp.factor_graph import FactorGraph
        >>> graph = FactorGraph()
        >>> rain = graph.variable(name="rain")
        >>> prior = graph.factor([rain], [0.0, -1.0])
        >>> prior, prior.potentials
        (Factor('factor (rain)'), array([ 0., -1.]))

    """

    __slots__ = ("_name", "potentials", "structured", "variables")

    def __init__(
        self,
        name: str | None,
        variables: Sequence[Variable],
        log_potentials: ArrayLike,
        structured: StructuredFactor | None,
    ) -> None:
        self._name = name
        self.variables = tuple(variables)
        self.structured = structured
        shape = tuple([variable.states for variable in self.variables]) if structured is None else None
        self.potentials: FloatArray = self._checked(log_potentials, shape)
        self.potentials.setflags(write=False)

    @property
    def name(self) -> str:
        """What errors call it."""
        return self._name or f"factor ({', '.join(variable.name for variable in self.variables)})"

    def checked(self, log_potentials: ArrayLike) -> FloatArray:
        """Own copy of new log-potentials; ValueError unless of this factor's shape, each a number or -inf."""
        return self._checked(log_potentials, self.potentials.shape)

    def _checked(self, log_potentials: ArrayLike, shape: tuple[int, ...] | None) -> FloatArray:
        potentials = float_array(log_potentials, self)
        if shape is not None and potentials.shape != shape:
            raise ValueError(f"{self.name}: log-potentials of shape {potentials.shape}, expected {shape}")
        if potentials.size <= _FEW and _all_plain(potentials.ravel().tolist()):
            return potentials
        for index in np.argwhere(~is_score(potentials))[:1]:
            entry = tuple(index.tolist())
            raise ValueError(f"{self.name}: log-potential {potentials[entry]} at {entry}; -inf or up to 1e300 expected")
        if self.structured is None and np.all(potentials == -np.inf):
            raise ValueError(f"{self.name}: forbids every joint state of its variables")
        return potentials

    def __repr__(self) -> str:
        return f"Factor({self.name!r})"

    def __str__(self) -> str:
        return self.name


def _all_plain(numbers: list[float]) -> bool:
    """Whether all are numbers that can be added up: faster for a few than NumPy's answer."""
    return sum(map(abs, numbers)) <= LARGEST_SCORE  # neither NaN nor an infinity is lost in a sum
